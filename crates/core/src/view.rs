//! Copies the state into a [`Snapshot`].
//!
//! Models: nothing.
//! Rule: reads only.
//! Leaves out: layout.

use alloc::vec::Vec;

use crate::blk::bio::bflag;
use crate::blk::elevator::zone_lock::ZoneLocks;
use crate::blk::hctx::Hctx;
use crate::blk::request::fseq;
use crate::blk::tag::{NOT_YET, Tags};
use crate::blk::throttle::Throttle;
use crate::blk::{Device, Media, Queue, Task};
use crate::config::{ElevatorKind, IssueTime, QosGate, TagAlloc, WorkloadConfig};
use crate::drive::zone::Zone;
use crate::md::raid5::Raid5;
use crate::observe::snapshot::*;
use crate::sim::{Simulation, State};
use crate::slab::Idx;
use crate::units::{DevIdx, JobIdx, Op, RqId, ZoneNo};

struct View<'a> {
    sim: &'a Simulation,
    st: &'a State,
}

/// The whole simulator at this moment.
pub(crate) fn snapshot(sim: &Simulation) -> Snapshot {
    let v = View { sim, st: &sim.st };
    Snapshot {
        now: v.st.now,
        events: v.st.events,
        done: sim.next_time().is_none(),
        jobs: (0..v.st.jobs.len()).map(|j| v.job(j)).collect(),
        tasks: (0..v.st.tasks.len()).map(|t| v.task(t)).collect(),
        devices: (0..v.st.devs.len()).map(|d| v.device(d)).collect(),
        stats: v.st.stats.clone(),
        why: v.st.why.iter().copied().collect(),
    }
}

impl View<'_> {
    fn zone(&self, dev: DevIdx, sector: u64) -> ZoneNo {
        self.st.devs[usize::from(dev)].shape.map_or(0, |z| (sector / z.zone_sectors) as ZoneNo)
    }

    fn bio(&self, i: Idx, stage: BioStage) -> BioView {
        let b = &self.st.bios[i];
        BioView {
            id: b.id,
            parent: b.root,
            job: b.job,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            zone: self.zone(b.dev, b.sector),
            dev: b.dev,
            origin: b.origin,
            q_time: b.q_time,
            stage,
        }
    }

    fn request(&self, i: Idx) -> RequestView {
        let r = &self.st.rqs[i];
        let b = &self.st.bios[r.bio];
        let mut flags = 0;
        let told = [
            (b.flags & bflag::SYNC != 0, rqflag::SYNC),
            (r.nomerge, rqflag::NOMERGE),
            (b.flags & bflag::FUA != 0, rqflag::FUA),
            (b.flags & bflag::PREFLUSH != 0, rqflag::PREFLUSH),
            (r.zone_write_plugging, rqflag::ZONE_WRITE_PLUGGING),
        ];
        for (set, flag) in told {
            flags |= if set { flag } else { 0 };
        }
        RequestView {
            id: r.id,
            bio: b.id,
            nr_bios: r.nr_bios,
            job: r.job,
            op: r.op,
            sector: r.sector,
            nr_sectors: r.nr_sectors,
            zone: r.zone,
            dev: r.dev,
            origin: b.origin,
            tag: r.tag,
            internal_tag: r.internal_tag,
            d_time: r.d_time,
            flags,
        }
    }

    fn job(&self, j: usize) -> JobView {
        let (cfg, job) = (&self.sim.cfg.jobs[j], &self.st.jobs[j]);
        let iodepth = match &cfg.workload {
            WorkloadConfig::FioZbd(f) => f.iodepth,
            WorkloadConfig::Linear(l) => l.iodepth,
            WorkloadConfig::Writeback(_) | WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => 0,
        };
        JobView {
            name: cfg.name.clone(),
            state: job.state,
            iodepth,
            in_flight: job
                .in_flight
                .iter()
                .map(|i| BioView { sector: self.st.bios[*i].first_sector, ..self.bio(*i, self.stage(*i)) })
                .collect(),
            locks: self.st.fio.locks_of(j as JobIdx).collect(),
            bytes_in_flight: job.bytes_in_flight,
        }
    }

    /// A task in `submit_bio`.
    fn task(&self, t: usize) -> TaskView {
        let task = &self.st.tasks[t];
        let name = match t.checked_sub(self.st.jobs.len()) {
            None => self.sim.cfg.jobs[t].name.clone(),
            Some(n) => {
                let thread = &self.st.threads[n];
                let dev = &self.sim.cfg.devices[usize::from(thread.dev)];
                thread.kind.name(dev)
            }
        };
        let last = task.current;
        // As the next step takes them: lower devices first.
        let (same, lower): (Vec<Idx>, Vec<Idx>) =
            task.pushed.iter().copied().partition(|b| last.is_some_and(|l| self.st.bios[*b].dev == l.dev));
        let view = |b: &Idx| self.bio(*b, BioStage::Tag);
        TaskView {
            name,
            step: if task.active { task.step } else { 0 },
            current: last.map(|c| BioView {
                id: c.id,
                parent: c.id,
                job: c.job,
                op: c.op,
                sector: c.sector,
                nr_sectors: c.nr_sectors,
                zone: self.zone(c.dev, c.sector),
                dev: c.dev,
                origin: c.origin,
                q_time: self.st.now,
                stage: BioStage::Tag,
            }),
            pushed: lower.iter().chain(&same).map(view).collect(),
            backlog: task.backlog.iter().map(view).collect(),
            plug: task.plug.as_ref().map(|p| PlugView {
                requests: p.list.iter().map(|rq| self.request(*rq)).collect(),
                multiple_queues: p.multiple_queues,
                limit: p.limit(&self.sim.cfg.kernel.plug),
                stripes: p.stripes.len() as u32,
            }),
        }
    }

    /// Where the last part of a bio is.
    fn stage(&self, i: Idx) -> BioStage {
        let b = &self.st.bios[i];
        if b.flags & bflag::ENTERED == 0 {
            return BioStage::Tag;
        }
        if b.flags & bflag::ZONE_WRITE_PLUGGING != 0
            && let Some(q) = &self.st.devs[usize::from(b.dev)].queue
            && q.wplugs.hash.get(&self.zone(b.dev, b.sector)).is_some_and(|w| w.bios.contains(&i))
        {
            return BioStage::ZonePlug;
        }
        BioStage::Drive
    }

    /// A place in [`Snapshot::tasks`].
    fn task_place(&self, task: Task) -> u16 {
        match task {
            Task::Job(j) => j,
            Task::Thread(n) => self.st.jobs.len() as u16 + n,
            Task::Work | Task::Worker => u16::MAX,
        }
    }

    fn tags(&self, t: &Tags, shallow: u32) -> TagsView {
        let rq = |rq| match rq {
            NOT_YET => (0, JobIdx::MAX),
            rq => (self.st.rqs[rq].zone, self.st.rqs[rq].job),
        };
        t.view(shallow, &rq, &|task| self.task_place(task))
    }

    /// Zones that mq-deadline has locked, and for which requests.
    fn locked(&self, q: &Queue) -> Vec<(ZoneNo, RqId)> {
        let locks = q.elevator.zone_locks().into_iter().flat_map(ZoneLocks::locked);
        locks.map(|(zone, rq)| (zone, self.st.rqs[rq].id)).collect()
    }

    /// What left the scheduler and is not at the device.
    fn dispatch(&self, hctx: &Hctx) -> Vec<RequestView> {
        hctx.on_their_way().map(|rq| self.request(rq)).collect()
    }

    fn hctxs(&self, q: &Queue, shallow: u32) -> Vec<HctxView> {
        let own = |h: usize| h > 0 && !q.cfg.host_tags;
        let view = |(h, hctx): (usize, &Hctx)| HctxView {
            dispatch: self.dispatch(hctx),
            dispatch_busy: hctx.dispatch_busy,
            restart: hctx.restart,
            wait_index: hctx.wait_index,
            nr_active: hctx.nr_active,
            sched_tags: hctx.sched_tags.as_ref().filter(|_| own(h)).map(|t| self.tags(t, shallow)),
            tags: own(h).then(|| self.tags(&hctx.tags, u32::MAX)),
        };
        match q.hctxs.len() {
            1 => Vec::new(),
            _ => q.hctxs.iter().enumerate().map(view).collect(),
        }
    }

    fn queue_flags(&self, d: usize, q: &Queue, qos: &QosView) -> u32 {
        let (kind, kernel) = (q.cfg.elevator, &self.sim.cfg.kernel);
        let measures = matches!(kind, ElevatorKind::Kyber | ElevatorKind::Bfq) || qos.wbt.is_some();
        let stamps = kernel.issue_time == IssueTime::IfIolatency && qos.issue_time;
        let set = [
            (true, qflag::INIT_DONE | qflag::REGISTERED),
            (q.cfg.nomerges == 2, qflag::NOMERGES),
            (q.cfg.nomerges == 1, qflag::NOXMERGES),
            (q.cfg.rq_affinity > 0, qflag::SAME_COMP),
            (q.cfg.rq_affinity == 2, qflag::SAME_FORCE),
            (measures, qflag::STATS),
            (self.st.devs[d].live.freeze().is_some_and(|(.., quiesced)| quiesced), qflag::QUIESCED),
            (q.cfg.host_tags && q.cfg.shared_users > 0, qflag::HCTX_ACTIVE),
            (matches!(kind, ElevatorKind::MqDeadline | ElevatorKind::Bfq), qflag::SQ_SCHED),
            (kind == ElevatorKind::Bfq, qflag::DISABLE_WBT_DEF),
            (qos.iocost.is_some(), qflag::RQ_ALLOC_TIME),
            (kernel.qos_gate == QosGate::QueueFlag && qos.enabled, qflag::QOS_ENABLED),
            (stamps, qflag::BIO_ISSUE_TIME),
            (q.wplugs.worker.enabled, qflag::ZONED_QD1_WRITES),
        ];
        set.into_iter().filter(|(set, _)| *set).fold(0, |flags, (_, flag)| flags | flag)
    }

    /// A freeze and what it waits for.
    fn freeze(&self, d: DevIdx) -> Option<FreezeView> {
        let dev = &self.st.devs[usize::from(d)];
        let (q, (since, setting, quiesced)) = (dev.queue.as_ref()?, dev.live.freeze()?);
        let mut stages = Vec::new();
        for (_, r) in self.st.rqs.iter().filter(|(_, r)| r.dev == d && r.flush & fseq::FLUSH_RQ == 0) {
            let stage = if r.d_time.is_some() { BioStage::Drive } else { BioStage::Elevator };
            let bios = core::iter::successors(Some(r.bio), |bio| self.st.bios[*bio].next);
            stages.extend(bios.map(|bio| (bio, stage)));
        }
        stages.sort_unstable_by_key(|(bio, _)| *bio);
        // Without request it has got no further than to a zone write plug, or waits for a tag.
        let stage = |bio: Idx| match stages.binary_search_by_key(&bio, |(bio, _)| *bio) {
            Ok(at) => stages[at].1,
            Err(_) if self.stage(bio) == BioStage::ZonePlug => BioStage::ZonePlug,
            Err(_) => BioStage::Tag,
        };
        let inside = self.st.bios.iter().filter(|(_, b)| b.dev == d && b.flags & bflag::ENTERED != 0);
        let mut holding: Vec<BioView> = inside.map(|(bio, _)| self.bio(bio, stage(bio))).collect();
        holding.sort_unstable_by_key(|b| b.id);
        let waiting = q.freeze_waiters().map(|bio| self.bio(bio, BioStage::Tag)).collect();
        Some(FreezeView { since, setting, depth: q.freeze_depth(), usage: q.usage(), quiesced, holding, waiting })
    }

    fn zoned(&self, dev: &Device, q: &Queue) -> Option<ZonedView> {
        let zones = dev.media.zones().filter(|_| dev.zoned)?;
        let shape = zones.shape();
        let view = |(zone, z): (ZoneNo, &Zone)| dev.media.disk().map_or(z.view(zone), |d| d.zone_view(zone, z));
        Some(ZonedView {
            ordering: self.sim.cfg.kernel.zone_ordering,
            zones: zones.iter().map(view).collect(),
            starts_full: zones.starts_full(),
            nr_zones: shape.nr_zones,
            nr_conv: shape.nr_conv,
            zone_sectors: shape.zone_sectors,
            capacity: shape.capacity,
            nr_open: zones.nr_open(),
            max_open: shape.max_open,
            nr_active: zones.nr_active(),
            max_active: shape.max_active,
            locked: self.locked(q),
            implicit_closes: zones.implicit_closes(),
        })
    }

    fn device(&self, d: usize) -> DeviceView {
        let dev = &self.st.devs[d];
        let name = self.sim.cfg.devices[d].name.clone();
        let drive = dev.media.disk().map(|d| d.view()).unwrap_or_default();
        let stats = dev.stats.up_to(self.st.now);
        let window = dev.window.1.unwrap_or(stats).since(&dev.window.0);
        let stripe_cache = if let Media::Md(m) = &dev.media { m.raid5().map(Raid5::view) } else { None };
        let null_blk = if let Media::NullBlk(n) = &dev.media { Some(n.view(self.st.now)) } else { None };
        let flash = if let Media::Flash(f) = &dev.media { Some(f.view(self.st.now)) } else { None };
        let throttled = dev.throttle.as_ref().map_or(0, Throttle::held);
        let changes = dev.live.changes().to_vec();
        let Some(q) = &dev.queue else {
            return DeviceView {
                name,
                drive,
                stats,
                window,
                stripe_cache,
                throttled,
                changes,
                ..DeviceView::default()
            };
        };
        let first = &q.hctxs[0];
        let zone_wplugs = q
            .wplugs
            .hash
            .iter()
            .map(|(zone, w)| WplugView {
                zone: *zone,
                plugged: w.plugged,
                need_wp_update: w.need_wp_update,
                dead: w.dead,
                refs: w.refs,
                wp_offset: w.wp_offset,
                bios: w.bios.iter().map(|b| self.bio(*b, BioStage::ZonePlug)).collect(),
                in_flight: w.in_flight.map(|rq| self.request(rq)),
                listed: w.listed,
            })
            .collect();
        let qos = q.qos.view();
        let elevator = q.elevator.view(self.st.now, &|rq| self.request(rq));
        let shallow = q.elevator.limit_depth(Op::Write, false, JobIdx::MAX, q.cfg.async_depth);
        DeviceView {
            name,
            zone_wplugs,
            zone_wplugs_list: q.wplugs.list.iter().copied().collect(),
            worker: WorkerView { enabled: q.wplugs.worker.enabled, state: q.wplugs.worker.state },
            elevator,
            sched_tags: first.sched_tags.as_ref().map(|t| self.tags(t, shallow)),
            tags: self.tags(&first.tags, u32::MAX),
            dispatch: self.dispatch(first),
            hctxs: self.hctxs(q, shallow),
            dispatch_busy: first.dispatch_busy,
            queue_flags: self.queue_flags(d, q, &qos),
            hctx_flags: HctxFlags {
                tag_queue_shared: q.cfg.shared_users > 0,
                tag_hctx_shared: q.cfg.host_tags,
                blocking: q.cfg.blocking,
                tag_rr: q.cfg.tag_alloc == TagAlloc::RoundRobin,
                no_sched: q.cfg.no_sched,
                tag_rr_flag: self.sim.cfg.kernel.tag_rr_flag,
                no_sched_by_default: self.sim.cfg.kernel.no_sched_by_default,
            },
            qos,
            stall: q.stall,
            frozen: q.frozen(),
            freeze: self.freeze(d as DevIdx),
            changes,
            drive,
            stats,
            window,
            stripe_cache,
            throttled,
            zoned: self.zoned(dev, q),
            null_blk,
            flash,
        }
    }
}
