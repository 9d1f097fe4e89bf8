//! Jobs: tasks that submit bios and wait for them.
//!
//! Models: what a task of fio, a flusher or a test list does around `submit_bio`.
//! Rule: one event is pending for a job at most; a waiting job is woken by what it waits for, never polled.
//! Leaves out: CPU contention between jobs.

pub mod draws;
pub mod fio;
pub mod linear;
pub mod writeback;

use crate::blk::bio::{Bio, bflag};
use crate::blk::{Ctx, NewBio};
use crate::config::{JobConfig, ListedBio, WorkloadConfig};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::JobState;
use crate::slab::Idx;
use crate::thread::ThreadKind;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, IoPrio, JobIdx, Op, SECTOR_BYTES};

/// A job's task and its workload's state.
#[derive(Clone, Debug)]
pub struct Job {
    /// Device it submits to.
    pub dev: DevIdx,
    /// What it does.
    pub state: JobState,
    /// Submitted and not ended, in order.
    pub in_flight: Fifo<Idx>,
    /// Bytes of those.
    pub bytes_in_flight: u64,
    /// The workload.
    pub kind: AnyWorkload,
    /// Which of [`crate::observe::stats::Stats::kinds`] counts it; none beyond their number.
    pub kind_no: u8,
    /// An event is pending.
    scheduled: bool,
    /// Asleep inside a submission: completions must not run it.
    in_submission: bool,
}

/// A workload by name.
#[derive(Clone, Debug)]
pub enum AnyWorkload {
    /// fio with zonemode=zbd.
    Fio(fio::Fio),
    /// Packed writeback.
    Writeback(writeback::Writeback),
    /// dd, or fio without zones.
    Linear(linear::Linear),
    /// Position in the list.
    List(usize),
    /// A pass-through command now and then: when the next is due.
    PassThrough(SimTime),
}

impl Job {
    /// A job that has not started.
    pub fn new(cfg: &JobConfig, index: JobIdx, seed: u64, zone_sectors: u64) -> Self {
        let kind = match &cfg.workload {
            WorkloadConfig::FioZbd(f) => AnyWorkload::Fio(fio::Fio::new(f, index, seed, zone_sectors)),
            WorkloadConfig::Writeback(w) => {
                AnyWorkload::Writeback(writeback::Writeback::new(w, index, seed, zone_sectors))
            }
            WorkloadConfig::Linear(l) => AnyWorkload::Linear(linear::Linear::new(l, index, seed)),
            WorkloadConfig::List(_) => AnyWorkload::List(0),
            WorkloadConfig::PassThrough(_) => AnyWorkload::PassThrough(0),
        };
        Self {
            dev: cfg.dev,
            state: JobState::Starting,
            in_flight: Fifo::new(),
            bytes_in_flight: 0,
            kind,
            kind_no: u8::MAX,
            scheduled: false,
            in_submission: false,
        }
    }
    /// Nothing more comes of it.
    pub fn is_over(&self) -> bool {
        self.state == JobState::Done && self.in_flight.is_empty()
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.in_flight.capacity() * size_of::<Idx>() + 128
    }
}

impl Ctx<'_> {
    pub(crate) fn job(&mut self, j: JobIdx) -> &mut Job {
        &mut self.jobs[usize::from(j)]
    }

    /// Lets a job run after `delay`, unless it will anyway.
    #[inline]
    pub(crate) fn wake_job(&mut self, j: JobIdx, delay: SimDuration) {
        if !core::mem::replace(&mut self.job(j).scheduled, true) {
            self.bus.after(delay, Event::Job(j));
        }
    }

    /// A job's event: its workload goes on until it waits.
    pub(crate) fn job_run(&mut self, j: JobIdx) {
        self.job(j).scheduled = false;
        if self.job(j).in_submission {
            return;
        }
        // It waited for something else than a tag: a row of tags ends here.
        if self.job(j).state != JobState::Running {
            self.tasks[usize::from(j)].tags_taken = None;
        }
        match self.job(j).kind {
            AnyWorkload::Fio(_) => self.fio_run(j),
            AnyWorkload::Writeback(_) => self.writeback_run(j),
            AnyWorkload::Linear(_) => self.linear_run(j),
            AnyWorkload::List(_) => self.list_run(j),
            AnyWorkload::PassThrough(due) => self.pass_through_run(j, due),
        }
        self.close_if_over(j);
    }

    /// Nothing more comes of any job, and no sync thread runs.
    pub(crate) fn is_over(&self) -> bool {
        let syncs = self.threads.iter().any(|t| t.kind == ThreadKind::MdSync);
        !self.jobs.is_empty() && !syncs && self.jobs.iter().all(Job::is_over)
    }

    /// A run whose last job is done ends there: what the drive still destages is no longer measured.
    fn close_if_over(&mut self, j: JobIdx) {
        let over = |job: &Job| job.state == JobState::Done && job.in_flight.is_empty();
        if over(self.job(j)) && self.bus.measuring && self.jobs.iter().all(over) {
            self.close_window();
        }
    }

    /// Submits a bio and charges its CPU time; the job's next run follows.
    pub(crate) fn job_submit(&mut self, j: JobIdx, new: NewBio) {
        let dev = self.job(j).dev;
        self.job(j).state = JobState::Running;
        self.job(j).in_submission = true;
        let (_, done) = self.submit_bio(dev, j, new);
        if done {
            self.job_submitted(j);
        }
    }

    /// The submission is over: the job is on the CPU for its cost, then goes on.
    pub(crate) fn job_submitted(&mut self, j: JobIdx) {
        let submit_ns = self.cfg.host.submit_ns;
        self.job(j).in_submission = false;
        self.job(j).state = JobState::Running;
        let timeless = matches!(self.job(j).kind, AnyWorkload::List(_));
        let inside_io = match self.job(j).kind {
            AnyWorkload::Linear(_) => !self.linear_submitted(j),
            AnyWorkload::Fio(_) => {
                self.fio_submitted(j);
                false
            }
            _ => false,
        };
        // A list names its own times, and the bios of an I/O follow each other.
        let cost = if timeless || inside_io { 0 } else { submit_ns + self.taken_from(j) };
        self.wake_job(j, cost);
    }

    /// A bio of the job ended.
    pub(crate) fn job_bio_done(&mut self, j: JobIdx, bio: &Bio) {
        // Only an append learns here where it went: its bio names the zone until then.
        let at = if bio.op == Op::ZoneAppend { bio.sector } else { bio.first_sector };
        let zone = self.zone_of(bio.dev, at);
        let end = self.zone_offset(bio.dev, at) + u64::from(bio.first_nr_sectors);
        match &mut self.job(j).kind {
            AnyWorkload::Fio(f) => f.bio_done(bio.op, zone, end, bio.status),
            AnyWorkload::Writeback(w) => w.failed |= bio.status != BlkStatus::Ok,
            AnyWorkload::Linear(l) => l.bio_done(bio),
            AnyWorkload::List(_) | AnyWorkload::PassThrough(_) => {}
        }
        self.fio_progress();
        let waits = matches!(
            self.job(j).state,
            JobState::WaitCompletion | JobState::Quiescing { .. } | JobState::WaitZoneMgmt { .. }
        );
        if waits {
            self.wake_job(j, 0);
        }
        self.close_if_over(j);
    }

    /// Counts an ended bio (decisions 3), and with the last of its bios an I/O.
    pub(crate) fn account(&mut self, j: JobIdx, bio: &Bio) {
        let bytes = u64::from(bio.first_nr_sectors) * SECTOR_BYTES;
        if bio.status != BlkStatus::Ok {
            self.bus.stats.nr_errors += 1;
            // A run that ends with a failure lasts until then.
            if self.bus.measuring {
                self.bus.stats.window_to = self.bus.now;
            }
            return;
        }
        if bio.op.is_dataless() {
            let s = &mut self.bus.stats;
            s.nr_resets += u64::from(bio.op == Op::ZoneReset);
            if bio.op == Op::DrvIn {
                let ns = self.bus.now - bio.q_time;
                s.pass_through.add(ns);
                s.pass_through_max = s.pass_through_max.max(ns);
            }
            return;
        }
        self.bus.stats.total_ios += 1;
        self.bus.stats.total_bytes += bytes;
        if self.bus.measuring {
            let since = match &self.job(j).kind {
                AnyWorkload::Linear(l) => l.done_since(bio),
                _ => Some(bio.q_time),
            };
            let kind_no = usize::from(self.job(j).kind_no);
            let s = &mut self.bus.stats;
            s.window_to = self.bus.now;
            if let Some(kind) = s.kinds.get_mut(kind_no) {
                kind.bytes += bytes;
                if let Some(since) = since {
                    kind.ios += 1;
                    kind.read_ios += u64::from(bio.op == Op::Read);
                    kind.lat.add(self.bus.now - since);
                }
            }
            if let Some(since) = since {
                let latency = self.bus.now - since;
                s.ios += 1;
                s.read_ios += u64::from(bio.op == Op::Read);
                s.lat.add(latency);
                s.q2c.add(latency);
            }
            match bio.op {
                Op::Read => s.read_bytes += bytes,
                _ => s.write_bytes += bytes,
            }
            if self.cfg.stop.bytes.is_some_and(|b| s.read_bytes + s.write_bytes >= b) {
                self.close_window();
            }
        } else if self.bus.stats.window_from.is_none() {
            let ramp = self.cfg.ramp;
            if ramp.bytes > 0 && self.bus.stats.total_bytes >= ramp.bytes && self.bus.now >= ramp.time_ns {
                self.open_window();
            }
        }
    }

    /// The ramp is over.
    pub(crate) fn open_window(&mut self) {
        self.bus.stats.window_from = Some(self.bus.now);
        self.bus.stats.window_to = self.bus.now;
        self.bus.measuring = true;
        let now = self.bus.now;
        for d in self.devs.iter_mut() {
            d.window.0 = d.stats.up_to(now);
        }
        if let Some(runtime) = self.cfg.stop.runtime_ns {
            self.bus.after(runtime, Event::RuntimeOver);
        }
    }

    /// The run stops: nothing more is counted or issued.
    pub(crate) fn close_window(&mut self) {
        // A run whose jobs ended by themselves was over with its last completion, as fio counts it; one without jobs, an
        // array's check, goes on to the end.
        let busy = self.jobs.is_empty() || !self.jobs.iter().all(Job::is_over);
        if self.bus.measuring && busy {
            self.bus.stats.window_to = self.bus.now;
        }
        if self.bus.measuring {
            let now = self.bus.now;
            for d in self.devs.iter_mut() {
                d.window.1 = Some(d.stats.up_to(now));
            }
        }
        self.bus.measuring = false;
        *self.stopped = true;
    }

    fn list_run(&mut self, j: JobIdx) {
        let cfg = self.cfg;
        let WorkloadConfig::List(list) = &cfg.jobs[usize::from(j)].workload else { return };
        let AnyWorkload::List(at) = self.job(j).kind else { return };
        let Some(next) = list.get(at) else {
            self.job(j).state = JobState::Done;
            return;
        };
        if next.at > self.bus.now {
            let delay = next.at - self.bus.now;
            self.wake_job(j, delay);
            return;
        }
        self.job(j).kind = AnyWorkload::List(at + 1);
        self.job_submit(j, listed(next, cfg.jobs[usize::from(j)].prio));
    }

    /// One pass-through command at once, the next at its time or when this one is done.
    fn pass_through_run(&mut self, j: JobIdx, due: SimTime) {
        let cfg = self.cfg;
        let WorkloadConfig::PassThrough(p) = &cfg.jobs[usize::from(j)].workload else { return };
        let others = self.jobs.iter().filter(|o| !matches!(o.kind, AnyWorkload::PassThrough(_)));
        if *self.stopped || others.into_iter().all(|o| o.state == JobState::Done) {
            self.job(j).state = JobState::Done;
            return;
        }
        if !self.job(j).in_flight.is_empty() {
            self.job(j).state = JobState::WaitCompletion;
            return;
        }
        if due > self.bus.now {
            let delay = due - self.bus.now;
            self.wake_job(j, delay);
            return;
        }
        self.job(j).kind = AnyWorkload::PassThrough(self.bus.now + p.every_ns.max(1));
        let prio = cfg.jobs[usize::from(j)].prio;
        self.job_submit(j, NewBio { op: Op::DrvIn, sector: 0, nr_sectors: 0, flags: 0, prio });
    }
}

fn listed(b: &ListedBio, prio: IoPrio) -> NewBio {
    let nowait = if b.nowait { bflag::NOWAIT } else { 0 };
    let sync = if b.op == Op::Write { bflag::SYNC } else { 0 };
    let flush = if b.preflush { bflag::PREFLUSH } else { 0 } | if b.fua { bflag::FUA } else { 0 };
    NewBio { op: b.op, sector: b.sector, nr_sectors: b.nr_sectors, flags: nowait | sync | flush, prio }
}
