//! START HERE: the simulation as one value that owns everything, and its event loop.
//!
//! Models: the order in which the kernel, the drive and the jobs act on each other.
//! Rule: `step` takes the next event and handles it to the end; equal configurations give equal traces.
//! Leaves out: who listens ([`crate::observe::trace::TraceSink`]) and who looks ([`Simulation::snapshot`]).

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::blk::bio::Bio;
use crate::blk::request::Request;
use crate::blk::task::TaskState;
use crate::blk::{Ctx, Device, Media};
use crate::bus::Bus;
use crate::config::SimConfig;
use crate::drive::Done;
use crate::drive::zone::Zone;
use crate::event::{Event, EventQueue};
use crate::fifo::Fifo;
use crate::observe::snapshot::{MAX_WHY, Snapshot, ZoneCond};
use crate::observe::stats::{KindStats, Stats};
use crate::observe::trace::TraceSink;
use crate::observe::why::WhyRecord;
use crate::slab::{Idx, Slab};
use crate::thread::{self, Thread};
use crate::time::SimTime;
use crate::units::{BioId, DevIdx, JobIdx, RqId, Sector, ZoneNo};
use crate::workload::{Job, fio::Shared};

/// A run. `Clone` is the save format: a clone continues exactly as the original.
#[derive(Clone)]
pub struct Simulation {
    pub(crate) cfg: Arc<SimConfig>,
    pub(crate) st: State,
}

/// Everything that changes during a run.
#[derive(Clone)]
pub(crate) struct State {
    pub now: SimTime,
    pub events: u64,
    pub queue: EventQueue,
    pub bios: Slab<Bio>,
    pub rqs: Slab<Request>,
    pub devs: Vec<Device>,
    pub jobs: Vec<Job>,
    pub threads: Vec<Thread>,
    pub tasks: Vec<TaskState>,
    pub fio: Shared,
    pub ids: (BioId, RqId),
    pub stopped: bool,
    pub measuring: bool,
    pub stats: Stats,
    pub why: Fifo<WhyRecord>,
}

/// Why [`Simulation::advance`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Nothing is left to happen.
    Done,
    /// The next event is later than `until`; time now is `until`.
    Reached,
    /// `max_events` were handled.
    Budget,
}

/// One zone as report zones gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneReport {
    /// Zone number.
    pub zone: ZoneNo,
    /// First sector.
    pub start: Sector,
    /// Length, sectors.
    pub len: Sector,
    /// Writable sectors.
    pub capacity: Sector,
    /// Write pointer, absolute sector (start + len for a full zone, as sd reports it).
    pub wp: Sector,
    /// Condition.
    pub cond: ZoneCond,
}

impl Simulation {
    /// Sets a run up at time 0, nothing handled yet.
    pub fn new(cfg: Arc<SimConfig>) -> Self {
        let devs: Vec<Device> = (0..cfg.devices.len()).map(|i| Device::new(i as DevIdx, &cfg)).collect();
        let threads: Vec<Thread> = (0..).zip(&cfg.devices).flat_map(|(i, d)| thread::of_device(i, d)).collect();
        let (kinds, of_job) = KindStats::of(&cfg);
        let jobs = (0..)
            .zip(&cfg.jobs)
            .zip(of_job)
            .map(|((i, j), kind_no)| {
                let zone_sectors = devs[usize::from(j.dev)].shape.map_or(1, |z| z.zone_sectors);
                let mut job = Job::new(j, i, cfg.seed, zone_sectors);
                job.kind_no = kind_no;
                job
            })
            .collect();
        let tasks = alloc::vec![TaskState::default(); cfg.jobs.len() + threads.len()];
        let st = State {
            now: 0,
            events: 0,
            queue: EventQueue::default(),
            bios: Slab::default(),
            rqs: Slab::default(),
            devs,
            jobs,
            threads,
            tasks,
            fio: Shared::default(),
            ids: (0, 0),
            stopped: false,
            measuring: false,
            stats: Stats { kinds, ..Stats::default() },
            why: Fifo::with_capacity(MAX_WHY),
        };
        let mut sim = Self { cfg, st };
        sim.with_ctx(&mut (), |ctx| {
            for dev in 0..ctx.devs.len() {
                ctx.zone_revalidate(dev as DevIdx);
            }
            ctx.qos_gates();
            for j in 0..ctx.jobs.len() {
                let start = ctx.cfg.jobs[j].start_ns;
                ctx.wake_job(j as JobIdx, start);
            }
            for n in 0..ctx.threads.len() {
                if ctx.threads[n].kind == thread::ThreadKind::MdSync {
                    ctx.wake_thread(n as u16, 0);
                }
            }
            for (n, c) in (0..).zip(&ctx.cfg.changes) {
                ctx.bus.queue.push(c.at, Event::Change(n));
            }
            let ramp = ctx.cfg.ramp;
            match (ramp.time_ns, ramp.bytes) {
                (0, 0) => ctx.open_window(),
                (t, 0) => ctx.bus.queue.push(t, Event::RampOver),
                _ => {}
            }
        });
        sim
    }

    /// Runs `f` with all state laid out for the pipeline.
    fn with_ctx<R>(&mut self, sink: &mut dyn TraceSink, f: impl FnOnce(&mut Ctx) -> R) -> R {
        let st = &mut self.st;
        let mut ctx = Ctx {
            cfg: &self.cfg,
            bus: Bus {
                now: st.now,
                queue: &mut st.queue,
                listening: sink.listens(),
                sink,
                why: &mut st.why,
                stats: &mut st.stats,
                measuring: st.measuring,
            },
            bios: &mut st.bios,
            rqs: &mut st.rqs,
            devs: &mut st.devs,
            jobs: &mut st.jobs,
            threads: &mut st.threads,
            tasks: &mut st.tasks,
            fio: &mut st.fio,
            ids: &mut st.ids,
            stopped: &mut st.stopped,
        };
        let r = f(&mut ctx);
        let (now, measuring) = (ctx.bus.now, ctx.bus.measuring);
        st.now = now;
        st.measuring = measuring;
        r
    }

    /// Configuration of the run.
    pub fn config(&self) -> &Arc<SimConfig> {
        &self.cfg
    }
    /// Time of the last handled event (or of the last `advance` target), ns.
    pub fn now(&self) -> SimTime {
        self.st.now
    }
    /// Engine events handled so far.
    pub fn events(&self) -> u64 {
        self.st.events
    }
    /// Time of the next event; `None` when done.
    pub fn next_time(&self) -> Option<SimTime> {
        self.st.queue.next_time()
    }
    /// Bios submitted and not ended, pieces included: 0 at the end of every run.
    pub fn bios_in_flight(&self) -> usize {
        self.st.bios.len()
    }

    /// Handles the next event; `None` when nothing is left.
    pub fn step<S: TraceSink>(&mut self, sink: &mut S) -> Option<SimTime> {
        self.next_time()?;
        self.advance(SimTime::MAX, 1, sink);
        Some(self.st.now)
    }

    /// Handles events up to and including `until`, at most `max_events`.
    pub fn advance<S: TraceSink>(&mut self, until: SimTime, max_events: u64, sink: &mut S) -> Advance {
        let (handled, end) = self.with_ctx(sink, |ctx| {
            for n in 0..max_events {
                match ctx.bus.queue.next_time() {
                    None => return (n, Advance::Done),
                    Some(t) if t > until => {
                        ctx.bus.now = until.max(ctx.bus.now);
                        return (n, Advance::Reached);
                    }
                    Some(_) => {
                        let (time, event) = ctx.bus.queue.pop().expect("peeked");
                        // A setting written after the last job has ended is no part of the run, nor is time that
                        // nobody uses; a policy's timer may go on for ever (wbt's does with a queue depth of 2).
                        let idle =
                            matches!(event, Event::Change(_) | Event::RuntimeOver | Event::Refill(_) | Event::Qos(_));
                        if idle && ctx.is_over() {
                            continue;
                        }
                        ctx.bus.now = time;
                        handle(ctx, event);
                    }
                }
            }
            (max_events, Advance::Budget)
        });
        self.st.events += handled;
        end
    }

    /// Figures so far.
    pub fn stats(&self) -> &Stats {
        &self.st.stats
    }

    /// A plain copy of everything worth looking at.
    pub fn snapshot(&self) -> Snapshot {
        crate::view::snapshot(self)
    }

    /// Report zones for `count` zones from `first`. As in the kernel, a zone write plug whose position was unknown
    /// after an error takes the reported write pointer.
    pub fn report_zones<S: TraceSink>(
        &mut self,
        dev: DevIdx,
        first: ZoneNo,
        count: u32,
        sink: &mut S,
    ) -> Vec<ZoneReport> {
        let Some(zones) = self.st.devs[usize::from(dev)].media.zones() else { return Vec::new() };
        let shape = *zones.shape();
        let last = first.saturating_add(count).min(shape.nr_zones);
        let found: Vec<(ZoneNo, Zone)> = (first..last).map(|zone| (zone, zones.report(zone))).collect();
        let report = |(zone, z): (ZoneNo, Zone)| {
            self.with_ctx(sink, |ctx| ctx.zone_reported(dev, zone, z.wp));
            let start = u64::from(zone) * shape.zone_sectors;
            let wp = start + if z.cond == ZoneCond::Full { shape.zone_sectors } else { z.wp };
            ZoneReport { zone, start, len: shape.zone_sectors, capacity: shape.capacity, wp, cond: z.cond }
        };
        found.into_iter().map(report).collect()
    }

    /// Bytes this value occupies, heap included, about: what a checkpoint costs.
    pub fn heap_bytes(&self) -> usize {
        let st = &self.st;
        let devs: usize = st.devs.iter().map(Device::heap_bytes).sum();
        let jobs: usize = st.jobs.iter().map(|j| size_of::<Job>() + j.heap_bytes()).sum();
        let tasks: usize = st.tasks.iter().map(|t| size_of::<TaskState>() + t.heap_bytes()).sum();
        let threads: usize = st.threads.iter().map(|t| size_of::<Thread>() + t.heap_bytes()).sum();
        size_of::<Self>()
            + st.queue.heap_bytes()
            + st.bios.heap_bytes()
            + st.rqs.heap_bytes()
            + st.fio.heap_bytes()
            + st.stats.heap_bytes()
            + st.why.capacity() * size_of::<WhyRecord>()
            + devs
            + jobs
            + tasks
            + threads
    }
}

/// Tags freed at once at most.
const TAG_COMP_BATCH: usize = 32;

/// The one place where events become actions. Called from one place: its event stays in a register.
#[inline(always)]
fn handle(ctx: &mut Ctx, event: Event) {
    match event {
        Event::Job(j) => ctx.job_run(j),
        Event::BioWork(dev, zone) => ctx.zone_bio_work(dev, zone),
        Event::Worker(dev) => ctx.worker_run(dev),
        Event::WplugErrors(dev) => ctx.zone_recover(dev),
        Event::Interface(dev) => {
            let done = ctx.devs[usize::from(dev)].media.disk_mut().and_then(|d| d.interface_done(&mut ctx.bus));
            complete(ctx, dev, done);
        }
        Event::Head(dev) => {
            let done = ctx.devs[usize::from(dev)].media.disk_mut().and_then(|d| d.head_done(&mut ctx.bus));
            complete(ctx, dev, done);
        }
        Event::Capped(dev, rq) => {
            capped_done(ctx, dev, rq);
        }
        Event::RunQueue(dev, h) => ctx.run_queue_event(dev, h),
        Event::Woken(dev, bio) => ctx.tag_woken(dev, bio),
        Event::Stall(dev) => ctx.stall_event(dev),
        Event::QosWoken(dev, bio) => ctx.qos_woken(dev, bio),
        Event::Qos(dev) => ctx.qos_event(dev),
        Event::Elevator(dev) => ctx.elevator_event(dev),
        Event::Softirq(dev, rq, status) => ctx.complete(dev, Done { rq, status }),
        Event::Step(t) => ctx.step_event(usize::from(t)),
        Event::Thread(n) => ctx.thread_run(n),
        Event::Done(dev, rq, status) => ctx.interrupted(dev, Done { rq, status }),
        Event::Refill(dev) => {
            if let Media::NullBlk(n) = &mut ctx.devs[usize::from(dev)].media
                && n.refill(&mut ctx.bus)
            {
                ctx.start_stopped_hw_queues(dev);
            }
        }
        Event::Change(n) => ctx.change(n),
        Event::Frozen(dev) => ctx.frozen_event(dev),
        Event::RampOver => ctx.open_window(),
        Event::RuntimeOver => ctx.close_window(),
    }
}

fn complete(ctx: &mut Ctx, dev: DevIdx, done: Option<Done>) {
    if let Some(done) = done {
        ctx.interrupted(dev, done);
    }
}

/// A command of a capped device is done; those of the same moment end in one interrupt without scheduler
/// (TAG_COMP_BATCH).
fn capped_done(ctx: &mut Ctx, dev: DevIdx, rq: Idx) {
    let now = ctx.bus.now;
    let more = |e: &Event| matches!(e, Event::Capped(d, _) if *d == dev);
    let mut batch = Vec::new();
    let mut next = Some(rq);
    while let Some(rq) = next.take() {
        let Media::Capped(c) = &mut ctx.devs[usize::from(dev)].media else { return };
        let Some(done) = c.done(rq) else { continue };
        let others = c.waiting().next().is_some() && !ctx.queue(dev).has_sched();
        if batch.is_empty() && !others {
            return complete(ctx, dev, Some(done));
        }
        batch.push(done);
        if batch.len() < TAG_COMP_BATCH
            && let Some(Event::Capped(_, other)) = ctx.bus.queue.pop_if(now, more)
        {
            next = Some(other);
        }
    }
    match batch.as_slice() {
        [done] => complete(ctx, dev, Some(*done)),
        all => ctx.complete_batch(dev, all),
    }
}
