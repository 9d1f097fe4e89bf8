//! The pipeline of a queue: `blk_mq_submit_bio` down to the driver, and completion back up. All branching is here.
//!
//! Models: block/blk-core.c and blk-mq.c, 7.1 (kernel 1.2, 1.3, 3.5 to 3.7).
//! Rule: down: enter, check, split, merge, zone plug, tag, request, plug, scheduler, driver tag, drive. Up: C, bios end,
//! zone plug, tags, waiters, next dispatch. A waiter resumes where it stopped.
//! Leaves out: polling, timeouts.

pub mod bio;
mod device;
pub mod elevator;
mod flush;
pub mod hctx;
mod lines;
pub mod live;
mod merge;
pub mod plug;
pub mod qos;
pub mod request;
pub mod sbitmap;
pub mod split;
mod stall;
pub mod tag;
pub mod task;
pub mod throttle;
mod wait;
pub mod zone_wplug;
pub mod zone_wplug_worker;

use alloc::vec::Vec;

use crate::bus::Bus;
use crate::config::{DriveConfig, SimConfig, ZoneOrdering};
use crate::drive::Done;
use crate::event::Event;
use crate::observe::snapshot::JobState;
use crate::observe::trace::{Action, NO_ORIGIN, TraceRecord, flag};
use crate::observe::why::Why;
use crate::slab::{Idx, Slab};
use crate::thread::Thread;
use crate::units::{BioId, BlkStatus, DevIdx, IoClass, IoPrio, JobIdx, Op, RqId, SECTOR_BYTES, Sector, ZoneNo};
use crate::workload::{Job, fio::Shared};
use bio::{Bio, EndIo, bflag};
pub(crate) use device::own_capacity;
pub use device::{Device, Media, Queue};
use elevator::Queued;
use request::{Held, Request};
use split::{Cut, Limits};
use tag::Waiter;
use task::TaskState;

/// Who carries a bio through the pipeline, and therefore who sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// The job that submits.
    Job(JobIdx),
    /// A kworker running `bio_work`.
    Work,
    /// The zone write plugs worker.
    Worker,
    /// A thread of md, dm or blk-throttle.
    Thread(u16),
}

/// What zone write plugging decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Go on to request allocation.
    Issue,
    /// The plug has it.
    Queued,
    /// It ended with an error.
    Ended,
}

/// All state while an event is handled.
pub struct Ctx<'a> {
    /// The run.
    pub cfg: &'a SimConfig,
    /// Clock, queue, trace, reasons, figures.
    pub bus: Bus<'a>,
    /// Bios.
    pub bios: &'a mut Slab<Bio>,
    /// Requests.
    pub rqs: &'a mut Slab<Request>,
    /// Devices.
    pub devs: &'a mut Vec<Device>,
    /// Jobs.
    pub jobs: &'a mut Vec<Job>,
    /// Threads of md, dm and blk-throttle.
    pub threads: &'a mut Vec<Thread>,
    /// What each job and then each thread has in `submit_bio`.
    pub tasks: &'a mut Vec<TaskState>,
    /// What fio jobs share: zone locks and write zones.
    pub fio: &'a mut Shared,
    /// Allocation numbers handed out: bios, requests.
    pub ids: &'a mut (BioId, RqId),
    /// Jobs shall issue nothing more.
    pub stopped: &'a mut bool,
}

impl Ctx<'_> {
    /// The queue of a blk-mq device.
    pub(crate) fn queue(&mut self, dev: DevIdx) -> &mut Queue {
        self.devs[usize::from(dev)].queue.as_mut().expect("a device without queue gets no requests")
    }
    pub(crate) fn disk_cfg(&self, dev: DevIdx) -> Option<&DriveConfig> {
        self.cfg.devices[usize::from(dev)].disk()
    }
    /// BLK_FEAT_ZONED
    pub(crate) fn zoned(&self, dev: DevIdx) -> bool {
        self.devs[usize::from(dev)].zoned
    }
    pub(crate) fn zone_sectors(&self, dev: DevIdx) -> Sector {
        self.devs[usize::from(dev)].shape.map_or(Sector::MAX, |z| z.zone_sectors)
    }
    pub(crate) fn zone_capacity(&self, dev: DevIdx) -> Sector {
        self.devs[usize::from(dev)].shape.map_or(Sector::MAX, |z| z.capacity)
    }
    pub(crate) fn zone_of(&self, dev: DevIdx, sector: Sector) -> ZoneNo {
        let len = self.zone_sectors(dev);
        // A division costs as much as the rest of a step.
        let zone = if len.is_power_of_two() { sector >> len.trailing_zeros() } else { sector / len };
        zone as ZoneNo
    }
    pub(crate) fn zone_offset(&self, dev: DevIdx, sector: Sector) -> Sector {
        let len = self.zone_sectors(dev);
        if len.is_power_of_two() { sector & (len - 1) } else { sector % len }
    }
    /// chunk_sectors of the queue: its zone size, [`Sector::MAX`] where it publishes none.
    pub(crate) fn chunk_sectors(&self, dev: DevIdx) -> Sector {
        if self.zoned(dev) { self.zone_sectors(dev) } else { Sector::MAX }
    }
    /// What cuts the bios and requests of a queue.
    pub(super) fn limits(&mut self, dev: DevIdx) -> Limits {
        let chunk = self.chunk_sectors(dev);
        Limits::of(&self.queue(dev).cfg, chunk)
    }
    pub(crate) fn is_conventional(&self, dev: DevIdx, zone: ZoneNo) -> bool {
        self.devs[usize::from(dev)].shape.is_none_or(|z| zone < z.nr_conv)
    }
    fn cpu_of(&self, job: JobIdx) -> u16 {
        job % self.cfg.host.nr_cpus.max(1)
    }

    // ---- trace helpers ----

    pub(crate) fn trace_bio(&mut self, bio: Idx, action: Action, arg: u64) {
        self.trace_bio_as(bio, 0, action, arg, 0);
    }
    pub(super) fn trace_bio_of(&mut self, bio: Idx, rq: Idx, action: Action) {
        let id = self.rqs[rq].id;
        self.trace_bio_as(bio, id, action, 0, 0);
    }
    pub(crate) fn trace_bio_as(&mut self, bio: Idx, rq: RqId, action: Action, arg: u64, who: u16) {
        if !self.bus.listening {
            return;
        }
        let b = &self.bios[bio];
        let mut flags = who;
        if b.flags & bflag::SYNC != 0 {
            flags |= flag::SYNC;
        }
        if b.flags & bflag::NOMERGE != 0 {
            flags |= flag::NOMERGE;
        }
        if b.prio.class == IoClass::Rt {
            flags |= flag::RT;
        }
        let r = TraceRecord {
            time: 0,
            dev: b.dev,
            action,
            op: b.op,
            flags,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            bio: b.id,
            rq,
            arg,
            job: b.job,
            origin: b.origin,
        };
        self.bus.trace(r);
    }
    pub(super) fn trace_rq(&mut self, rq: Idx, action: Action, who: u16, arg: u64) {
        if !self.bus.listening {
            return;
        }
        let r = &self.rqs[rq];
        let b = &self.bios[r.bio];
        let flags = who | if r.sync { flag::SYNC } else { 0 } | if r.nomerge { flag::NOMERGE } else { 0 };
        let record = TraceRecord {
            time: 0,
            dev: r.dev,
            action,
            op: r.op,
            flags,
            sector: r.sector,
            nr_sectors: r.nr_sectors,
            bio: b.id,
            rq: r.id,
            arg,
            job: b.job,
            origin: b.origin,
        };
        self.bus.trace(record);
    }
    /// A record about a zone as a whole; `job` is who caused it, `u16::MAX` where none.
    pub(crate) fn trace_zone(&mut self, dev: DevIdx, zone: ZoneNo, action: Action, who: u16, job: JobIdx) {
        let sector = u64::from(zone) * self.zone_sectors(dev);
        self.bus.trace(TraceRecord {
            time: 0,
            dev,
            action,
            op: Op::Write,
            flags: who,
            sector,
            nr_sectors: 0,
            bio: 0,
            rq: 0,
            arg: u64::from(zone),
            job,
            origin: sector,
        });
    }

    // ---- down ----

    /// `submit_bio`: a workload's new bio. Returns false when its task has to sleep or is not through.
    pub(crate) fn submit_bio(&mut self, dev: DevIdx, job: JobIdx, new: NewBio) -> (BioId, bool) {
        self.ids.0 += 1;
        let id = self.ids.0;
        let bio = self.bios.insert(Bio {
            id,
            root: id,
            dev,
            job,
            op: new.op,
            flags: new.flags | if new.op == Op::ZoneAppend { bflag::NOMERGE } else { 0 },
            sector: new.sector,
            nr_sectors: new.nr_sectors,
            first_sector: new.sector,
            first_nr_sectors: new.nr_sectors,
            origin: new.sector,
            segment_bytes: self.cfg.jobs[usize::from(job)].bio_segment_bytes,
            prio: new.prio,
            q_time: self.bus.now,
            issue_time: 0,
            acct_time: 0,
            end: EndIo::Job,
            remaining: 1,
            status: BlkStatus::Ok,
            next: None,
        });
        self.jobs[usize::from(job)].in_flight.push_back(bio);
        self.jobs[usize::from(job)].bytes_in_flight += u64::from(new.nr_sectors) * SECTOR_BYTES;
        (id, self.submit_noacct(usize::from(job), bio))
    }

    /// Checks of `submit_bio_noacct` that end a bio before anything else looks at it.
    fn refuse(&self, bio: Idx) -> Option<BlkStatus> {
        let b = &self.bios[bio];
        let end = b.sector.saturating_add(u64::from(b.nr_sectors));
        if end > self.capacity(b.dev) {
            return Some(BlkStatus::IoErr);
        }
        if b.op == Op::DrvIn && self.devs[usize::from(b.dev)].queue.is_none() {
            return Some(BlkStatus::NotSupp);
        }
        let zoned = self.zoned(b.dev);
        if b.op == Op::ZoneAppend {
            return self.refuse_append(b);
        }
        (b.op.is_zone_mgmt() && !zoned).then_some(BlkStatus::NotSupp)
    }

    /// `blk_check_zone_append`
    fn refuse_append(&self, b: &Bio) -> Option<BlkStatus> {
        if !self.zoned(b.dev) {
            return Some(BlkStatus::NotSupp);
        }
        let fits = self.zone_offset(b.dev, b.sector) == 0 && b.nr_sectors <= self.max_zone_append_sectors(b.dev);
        (!fits).then_some(BlkStatus::IoErr)
    }

    /// queue/zone_append_max_bytes in sectors: what the device takes, else what zone write plugs emulate; 0 = none.
    pub(crate) fn max_zone_append_sectors(&self, dev: DevIdx) -> u32 {
        let d = &self.devs[usize::from(dev)];
        let (Some(q), Some(shape)) = (d.queue.as_ref().filter(|_| d.zoned), d.shape) else { return 0 };
        let own = match (shape.append_max_sectors, self.cfg.kernel.zone_ordering) {
            (0, ZoneOrdering::Zwplug) => u32::MAX,
            (own, _) => own,
        };
        own.min(q.cfg.max_sectors).min(shape.zone_sectors as u32)
    }

    /// `bio_unaligned`: not whole logical blocks, or nothing at all.
    pub(crate) fn unaligned(&self, block_bytes: u32, bio: Idx) -> bool {
        let b = &self.bios[bio];
        let block = u64::from(block_bytes) / SECTOR_BYTES;
        let aligned = b.sector.is_multiple_of(block) && u64::from(b.nr_sectors).is_multiple_of(block);
        !b.op.is_dataless() && (!aligned || b.nr_sectors == 0)
    }

    /// Sectors of a device.
    pub(crate) fn capacity(&self, dev: DevIdx) -> Sector {
        match &self.devs[usize::from(dev)].media {
            Media::Md(m) => m.capacity(),
            Media::Dm(d) => d.capacity(),
            Media::Disk(_) | Media::Capped(_) | Media::NullBlk(_) | Media::Flash(_) => {
                own_capacity(&self.cfg.devices[usize::from(dev)])
            }
        }
    }

    /// `blk_mq_submit_bio` for a bio not yet under zone write plugging. False when the task sleeps.
    pub(super) fn blk_mq_submit_bio(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        let nowait = self.bios[bio].flags & bflag::NOWAIT != 0;
        let q = self.queue(dev);
        let block_bytes = q.cfg.block_bytes;
        if q.frozen() {
            if nowait {
                self.end_without_request(bio, BlkStatus::Again);
                return true;
            }
            q.freeze_waiters.push_back(Waiter { task, bio });
            let waiting = q.freeze_waiters.len() as u32;
            let id = self.bios[bio].id;
            self.bus.because(id, Why::Frozen { dev, waiting });
            self.sleep(task, JobState::WaitFreeze);
            return false;
        }
        q.usage += 1;
        self.bios[bio].flags |= bflag::ENTERED;
        if self.unaligned(block_bytes, bio) {
            self.end_without_request(bio, BlkStatus::IoErr);
            return true;
        }
        let zone = self.zone_of(dev, self.bios[bio].sector);
        let moves = !matches!(self.bios[bio].op, Op::Flush | Op::DrvIn);
        if moves {
            self.devs[usize::from(dev)].media.touch(zone);
        }
        let limits = self.limits(dev);
        let Some(bio) = self.split_to_limits(&limits, bio, task) else { return true };
        self.qos_split(dev, bio);
        if self.try_merge(dev, bio, task) {
            return true;
        }
        if self.cfg.kernel.zone_ordering == ZoneOrdering::Zwplug && self.zone_plug_bio(dev, bio) != Verdict::Issue {
            return true;
        }
        self.issue_bio(dev, bio, task)
    }

    /// `bio_split_to_limits`: cuts the front piece off a bio that exceeds the limits and submits the remainder again.
    /// `None` when the bio ended because it must not be split.
    pub(crate) fn split_to_limits(&mut self, limits: &Limits, bio: Idx, task: Task) -> Option<Idx> {
        let b = &self.bios[bio];
        if b.op.is_dataless() {
            return Some(bio);
        }
        let (dev, sector) = (b.dev, b.sector);
        let Some((front, cut)) = limits.front(sector, b.nr_sectors, b.segment_bytes) else { return Some(bio) };
        if b.op == Op::ZoneAppend {
            // Nobody could say where two parts went.
            self.end_without_request(bio, BlkStatus::Inval);
            return None;
        }
        if b.flags & bflag::NOWAIT != 0 {
            self.end_without_request(bio, BlkStatus::Again);
            return None;
        }
        let t = self.slot(task).expect("released bios are never split again");
        // Bands of a disk without zones are the model's own.
        let zoned = self.zoned(dev);
        let zone = if zoned { self.zone_of(dev, sector) } else { ZoneNo::MAX };
        let why = match (cut, &self.devs[usize::from(dev)].queue) {
            (Cut::Segments, _) => {
                Why::SplitBySegments { zone, front_sectors: front, max_segments: limits.max_segments }
            }
            (Cut::Chunk, None) => {
                Why::SplitByStripe { dev, front_sectors: front, chunk_sectors: limits.chunk_sectors as u32 }
            }
            (Cut::Size, None) => Why::SplitByLimit { dev, front_sectors: front, max_sectors: limits.max_sectors },
            // A zone's end is told like its size.
            (_, Some(_)) => Why::SplitBySize { zone, front_sectors: front, max_sectors: limits.max_sectors },
        };
        let piece = self.split_front(bio, front);
        self.bios[piece].flags |= bflag::NOMERGE;
        self.trace_split(piece, bio, self.who(task));
        self.bus.because(self.bios[piece].id, why);
        self.resubmit(t, bio);
        Some(piece)
    }

    /// `bio_split` and `bio_chain`: a new bio of the first `front` sectors; the original is advanced past them.
    pub(crate) fn split_front(&mut self, bio: Idx, front: u32) -> Idx {
        self.ids.0 += 1;
        let original = &mut self.bios[bio];
        let (sector, origin, flags) = (original.sector, original.origin, original.flags);
        original.sector += u64::from(front);
        original.nr_sectors -= front;
        original.origin = origin.saturating_add(u64::from(front));
        original.remaining += 1;
        original.flags &= !bflag::ENTERED;
        let piece = Bio {
            id: self.ids.0,
            sector,
            nr_sectors: front,
            first_sector: sector,
            first_nr_sectors: front,
            origin,
            flags,
            end: EndIo::Chain(bio),
            remaining: 1,
            next: None,
            ..original.clone()
        };
        self.bus.stats.nr_splits += 1;
        self.bios.insert(piece)
    }

    /// `X`: where the front part starts, and where the remainder does.
    pub(crate) fn trace_split(&mut self, piece: Idx, remainder: Idx, who: u16) {
        let start = self.bios[remainder].sector;
        self.trace_bio_as(piece, 0, Action::Split, start, who);
    }

    /// A record about a device as a whole.
    pub(crate) fn trace_dev(&mut self, dev: DevIdx, action: Action, who: u16, arg: u64) {
        self.bus.trace(TraceRecord {
            time: 0,
            dev,
            action,
            op: Op::Read,
            flags: who,
            sector: 0,
            nr_sectors: 0,
            bio: 0,
            rq: 0,
            arg,
            job: JobIdx::MAX,
            origin: NO_ORIGIN,
        });
    }

    /// Fills the request (G), lets zone write plugging pull bios in, and hands it on.
    fn start_request(&mut self, dev: DevIdx, bio: Idx, task: Task, tag: u32, hctx: u16, sched: bool) {
        self.ids.1 += 1;
        let now = self.bus.now;
        let b = &self.bios[bio];
        let zone = self.zone_of(dev, b.sector);
        let who = self.who(task);
        let (op, flags, q_time) = (b.op, b.flags, b.q_time);
        let rq = self.rqs.insert(Request {
            id: self.ids.1,
            dev,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            zone,
            bio,
            biotail: bio,
            nr_bios: 1,
            nr_segments: self.bio_segments(bio),
            nomerge: b.flags & (bflag::NOMERGE | bflag::PREFLUSH | bflag::FUA) != 0,
            sync: b.flags & (bflag::SYNC | bflag::PREFLUSH | bflag::FUA) != 0,
            prio: b.prio,
            zone_write_plugging: false,
            tag: (!sched).then_some(tag),
            internal_tag: sched.then_some(tag),
            job: b.job,
            cpu: self.cpu_of(b.job),
            hctx,
            sched: false,
            flush: 0,
            who,
            retries: 0,
            g_time: now,
            i_time: now,
            d_time: None,
        });
        if self.bus.measuring {
            self.bus.stats.q2g.add(now - q_time);
        }
        if hctx::is_accounted(op) {
            self.devs[usize::from(dev)].account_start(now);
        }
        let plugged = flags & bflag::ZONE_WRITE_PLUGGING != 0;
        self.trace_rq(rq, Action::GetRq, who, u64::from(tag));
        self.qos_track(dev, rq, bio);
        if plugged {
            self.zone_init_request(dev, rq);
        }
        if task == Task::Worker {
            self.worker_waits_for(dev, rq);
        }
        if op == Op::DrvIn {
            // Pass-through bypasses the scheduler.
            self.bypass_insert(dev, rq);
            self.run_hw_queue(dev, hctx);
            return;
        }
        if flags & (bflag::PREFLUSH | bflag::FUA) != 0 || op == Op::Flush {
            if self.insert_flush(dev, rq) {
                return;
            }
            if op == Op::Flush {
                self.end_request(dev, rq, BlkStatus::Ok);
                return;
            }
        }
        // The plug work and the worker have no plug, nor has a task before 6.10 that opened none.
        match self.slot(task).filter(|t| self.tasks[*t].plug.is_some() && self.may_plug(dev, op)) {
            Some(t) => self.plug_add(t, rq),
            None => {
                let h = &self.queue(dev).hctxs;
                let busy = h[usize::from(hctx)].dispatch_busy > 0 && h.len() == 1;
                if sched || busy {
                    self.insert(dev, rq);
                    self.run_hw_queue_async(dev, hctx);
                } else {
                    self.issue_directly(dev, rq);
                }
            }
        }
    }

    /// `blk_mq_plug`: where nothing else keeps zone writes in order, they do not wait in the plug of their task.
    #[inline]
    pub(super) fn may_plug(&self, dev: DevIdx, op: Op) -> bool {
        self.cfg.kernel.zone_ordering == ZoneOrdering::Zwplug || !op.is_write() || !self.zoned(dev)
    }

    /// What schedulers know of a request.
    pub(super) fn queued(&self, rq: Idx) -> Queued {
        let r = &self.rqs[rq];
        Queued {
            rq,
            op: r.op,
            sector: r.sector,
            nr_sectors: r.nr_sectors,
            prio: r.prio,
            sync: r.op == Op::Read || r.sync,
            job: r.job,
            cpu: r.cpu,
            start: r.g_time,
        }
    }

    /// A bio as schedulers know requests, to look for one it may join.
    pub(super) fn queued_like(&self, bio: Idx) -> Queued {
        let b = &self.bios[bio];
        Queued {
            rq: Idx::MAX,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            prio: b.prio,
            sync: b.is_sync(),
            job: b.job,
            cpu: self.cpu_of(b.job),
            start: self.bus.now,
        }
    }

    /// `blk_mq_insert_request`: to the scheduler, or the ctx list. The caller runs the queue.
    pub(super) fn insert(&mut self, dev: DevIdx, rq: Idx) {
        let now = self.bus.now;
        let sched = self.queue(dev).has_sched();
        if sched && self.try_insert_merge(dev, rq) {
            return;
        }
        let who = self.rqs[rq].who;
        self.rqs[rq].i_time = now;
        self.rqs[rq].sched = sched;
        self.trace_rq(rq, Action::Insert, who, 0);
        if self.bus.measuring {
            self.bus.stats.g2i.add(now - self.rqs[rq].g_time);
        }
        let r = &self.rqs[rq];
        let (queued, mergeable) = (self.queued(rq), !r.nomerge);
        let q = self.queue(dev);
        q.elevator.insert(queued, false, now);
        if sched && mergeable && q.last_merge.is_none() {
            q.last_merge = Some(rq);
        }
        if sched {
            self.arm_elevator(dev);
        }
    }

    // ---- up ----

    /// A command came back, on the CPU its hardware queue interrupts.
    pub(crate) fn interrupted(&mut self, dev: DevIdx, done: Done) {
        let ns = self.cfg.host.ipi_ns;
        let Done { rq, status } = done;
        if ns > 0 && self.queue(dev).cfg.rq_affinity == 2 && self.irq_cpu(dev, self.rqs[rq].hctx) != self.rqs[rq].cpu {
            self.bus.after(ns, Event::Softirq(dev, rq, status));
            return;
        }
        self.complete(dev, done);
    }

    /// The CPU a hardware queue interrupts: the first it serves.
    fn irq_cpu(&self, dev: DevIdx, h: u16) -> u16 {
        let queues = self.devs[usize::from(dev)].queue.as_ref().map_or(1, |q| q.hctxs.len() as u16);
        let cpus = self.cfg.host.nr_cpus;
        (0..cpus).find(|cpu| elevator::none::hctx_of(*cpu, cpus, queues) == h).unwrap_or(0)
    }

    /// C: a command came back.
    pub(crate) fn complete(&mut self, dev: DevIdx, done: Done) {
        if let Some((r, run)) = self.complete_request(dev, done) {
            self.put_tags(dev, r);
            self.restart_queues(dev, r.hctx, run);
        }
    }

    /// Commands of one hardware queue that came back together, without scheduler: their tags are freed at once.
    pub(crate) fn complete_batch(&mut self, dev: DevIdx, batch: &[Done]) {
        let mut tags = Vec::new();
        let mut of = None;
        for done in batch {
            let Some((r, run)) = self.complete_request(dev, *done) else { continue };
            if r.internal_tag.is_some() || of.is_some_and(|h| h != r.hctx) {
                self.put_tags(dev, r);
                self.restart_queues(dev, r.hctx, run);
                continue;
            }
            of = Some(r.hctx);
            tags.extend(r.tag);
        }
        if let Some(h) = of {
            let cpu = self.irq_cpu(dev, h);
            self.put_tag_batch(dev, h, &tags, cpu);
            self.restart_queues(dev, h, false);
        }
    }

    /// C, and what follows until the request's tags are free; `None` where it is not over yet. True: the scheduler wants
    /// the queue to run.
    fn complete_request(&mut self, dev: DevIdx, done: Done) -> Option<(Held, bool)> {
        let Done { rq, status } = done;
        let now = self.bus.now;
        if status == BlkStatus::Again {
            self.requeue(dev, rq);
            return None;
        }
        self.trace_rq(rq, Action::Complete, flag::IRQ, u64::from(status.errno_number()));
        let r = &self.rqs[rq];
        let (op, zone, flush, h) = (r.op, r.zone, r.flush, r.hctx);
        let (d_time, i_time, g_time) = (r.d_time.unwrap_or(now), r.i_time, r.g_time);
        if self.bus.measuring {
            self.bus.stats.i2d.add(d_time - i_time.max(g_time));
            self.bus.stats.d2c.add(now - d_time);
        }
        self.left_device(dev, h, op);
        if status == BlkStatus::Ok {
            self.zone_mgmt_done(dev, op, zone);
        } else {
            let bio = self.bios[self.rqs[rq].bio].id;
            self.bus.because(bio, Why::DeviceError { zone, status });
        }
        if flush != 0 && !self.flush_done(dev, rq, status) {
            return None;
        }
        if op == Op::ZoneAppend {
            // The request says where it went.
            let (bio, sector) = (self.rqs[rq].bio, self.rqs[rq].sector);
            self.bios[bio].moved_to(sector);
        }
        let queued = self.rqs[rq].sched.then(|| self.queued(rq));
        let r = self.finish_request(dev, rq, status);
        if let Some(queued) = queued {
            let e = &mut self.queue(dev).elevator;
            e.completed(queued, now, d_time);
            let mut run = e.finished(queued, now);
            if run && e.zone_locks().is_some() {
                // blk_mq_sched_mark_restart_hctx
                self.hctx(dev, h).restart = true;
                run = false;
            }
            self.arm_elevator(dev);
            return Some((r, run));
        }
        Some((r, false))
    }

    /// Ends the bios of a request and the request itself, but for its tags.
    fn finish_request(&mut self, dev: DevIdx, rq: Idx, status: BlkStatus) -> Held {
        let now = self.bus.now;
        let mut next = Some(self.rqs[rq].bio);
        while let Some(bio) = next {
            next = self.bios[bio].next.take();
            self.bio_endio(bio, status);
        }
        if self.rqs[rq].zone_write_plugging {
            self.zone_finish_request(dev, rq);
        }
        let r = &self.rqs[rq];
        let (held, op) = (r.held(), r.op);
        if hctx::is_accounted(op) {
            self.devs[usize::from(dev)].account_done(now, op, r.nr_sectors, r.g_time);
        }
        self.qos_done(dev, rq);
        self.rqs.remove(rq);
        held
    }

    /// `blk_mq_end_request` of a request that is not at the device: the end of a flush sequence.
    pub(super) fn end_request(&mut self, dev: DevIdx, rq: Idx, status: BlkStatus) {
        if self.rqs[rq].d_time.is_none() {
            self.trace_rq(rq, Action::Complete, flag::IRQ, u64::from(status.errno_number()));
        }
        let r = self.finish_request(dev, rq, status);
        self.put_tags(dev, r);
        let ns = self.cfg.host.kblockd_ns;
        if core::mem::take(&mut self.hctx(dev, r.hctx).restart) {
            self.delay_run(dev, r.hctx, ns);
        }
    }

    /// Ends a bio that has no request: it gets a record of its own.
    pub(crate) fn end_without_request(&mut self, bio: Idx, status: BlkStatus) {
        self.trace_bio(bio, Action::Fail, u64::from(status.errno_number()));
        self.bio_endio(bio, status);
    }

    /// `bio_endio`: zone plug, then the chain, then the workload.
    pub(crate) fn bio_endio(&mut self, bio: Idx, status: BlkStatus) {
        let dev = self.bios[bio].dev;
        self.qos_done_bio(dev, bio, status);
        self.zone_bio_endio(dev, bio, status);
        if self.bios[bio].flags & bflag::ENTERED != 0 {
            self.bios[bio].flags &= !bflag::ENTERED;
            let q = self.queue(dev);
            q.usage -= 1;
            if q.usage == 0 && q.frozen() {
                // The freezer is asleep; it runs as an event of its own.
                self.bus.after(0, Event::Frozen(dev));
            }
        }
        self.bio_part_done(bio, status);
    }

    /// `bio_endio` as far as chains go: the last part ends the bio, and that may end the bio above.
    pub(crate) fn bio_part_done(&mut self, bio: Idx, status: BlkStatus) {
        let b = &mut self.bios[bio];
        if b.status == BlkStatus::Ok {
            b.status = status;
        }
        b.remaining -= 1;
        if b.remaining > 0 {
            return;
        }
        let b = &self.bios[bio];
        let (dev, status) = (b.dev, b.status);
        if self.devs[usize::from(dev)].queue.is_none() {
            self.stacked_bio_done(dev, bio, status);
        }
        let b = self.bios.remove(bio);
        match b.end {
            EndIo::Chain(parent) => self.bio_part_done(parent, status),
            EndIo::Member { parent, role } => self.member_bio_done(parent, role, &b),
            EndIo::Stripe { md, stripe, role } => self.stripe_bio_done(md, stripe, role, &b),
            EndIo::Job => {
                let job = b.job;
                let at = self.jobs[usize::from(job)].in_flight.iter().position(|b| *b == bio).expect("was submitted");
                self.jobs[usize::from(job)].in_flight.remove(at);
                self.jobs[usize::from(job)].bytes_in_flight -= u64::from(b.first_nr_sectors) * SECTOR_BYTES;
                self.account(job, &b);
                self.job_bio_done(job, &b);
            }
        }
    }
}

/// A bio as a workload describes it.
#[derive(Clone, Copy, Debug)]
pub struct NewBio {
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Bits of [`bflag`].
    pub flags: u16,
    /// Priority.
    pub prio: IoPrio,
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::config::QueueConfig;

    /// AHCI: 32 commands, 168 scatter entries, 4 MiB.
    pub(crate) fn ahci_queue() -> QueueConfig {
        QueueConfig::default()
    }
}
