//! Laws of tags, waiters and hardware queues over random queues, devices, schedulers and jobs; the queue's rules of
//! kernel 3.5 to 3.7 and the field reports about them, one by one.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::{ElevatorView, Snapshot};
use bioscope_core::observe::trace::{Action, TraceHash, TraceRecord, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::{BlkStatus, IoClass, IoPrio, Op};
use common::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const ELEVATORS: [ElevatorKind; 4] =
    [ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq];

fn null_blk(irqmode: NullIrq, completion_ns: u64) -> DeviceConfig {
    let kind = DeviceKind::NullBlk(NullBlkConfig { capacity: 1 << 30, irqmode, completion_ns, ..Default::default() });
    DeviceConfig { name: "nullb0".into(), dev: (252, 0), kind, ..capped(0, 0) }
}

/// A disk without zones.
fn plain_disk() -> DeviceConfig {
    let mut d = config().devices.remove(0);
    let p = Arc::make_mut(&mut d.disk_mut().unwrap().profile);
    p.zoned = false;
    p.nr_conv_zones = p.nr_zones;
    d
}

fn linear(rw: Rw, bs: u64, iodepth: u32, ios: u64) -> LinearConfig {
    LinearConfig {
        tool: Tool::Fio,
        rw,
        bs,
        bios: vec![],
        iodepth,
        batch: 1,
        first: 0,
        sectors: 1 << 22,
        io_bytes: Some(ios * bs * 512),
        buffered: false,
        nowait: false,
        fio: FioOptions::default(),
    }
}

fn job(cfg: &mut SimConfig, workload: WorkloadConfig, prio: IoPrio) {
    let name = format!("job{}", cfg.jobs.len());
    cfg.jobs.push(JobConfig {
        name,
        dev: 0,
        workload,
        prio,
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    });
}

fn fio(cfg: &mut SimConfig, rw: Rw, bs: u64, iodepth: u32, ios: u64) {
    job(cfg, WorkloadConfig::Linear(linear(rw, bs, iodepth, ios)), IoPrio::default());
}

/// A queue like any, and jobs that keep it busy.
fn random_queue(d: &mut Dice) -> SimConfig {
    let mut cfg = config();
    cfg.seed = d.below(1 << 20);
    cfg.devices[0] = match d.below(5) {
        0 => plain_disk(),
        1 => null_blk(NullIrq::None, 0),
        2 => null_blk(NullIrq::Softirq, 0),
        3 => null_blk(NullIrq::Timer, d.pick(&[1, 10, 300]) * US),
        _ => capped(0, d.pick(&[0, 50, 2000]) * US),
    };
    if let DeviceKind::Capped(c) = &mut cfg.devices[0].kind {
        c.channels = d.pick(&[1, 4, 16]);
        c.iops = d.pick(&[0, 2_000]);
    }
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.elevator = d.pick(&ELEVATORS);
    q.queue_depth = d.pick(&[1, 2, 8, 32]);
    q.nr_requests = d.pick(&[4, 9, 64, 256]);
    q.async_depth = d.pick(&[1, 3, 48, 256]).min(q.nr_requests);
    q.nr_hw_queues = d.pick(&[1, 1, 2, 5]);
    q.host_tags = d.flip();
    q.shared_users = d.pick(&[0, 0, 3]);
    q.rq_affinity = d.pick(&[0, 1, 2]);
    q.ncq_prio = d.flip();
    q.nomerges = d.pick(&[0, 1, 2]);
    q.tag_alloc = d.pick(&[TagAlloc::Hint, TagAlloc::RoundRobin]);
    q.max_sectors = d.pick(&[16, 256, 8192]);
    cfg.kernel.async_depth_owner =
        d.pick(&[AsyncDepthOwner::Queue, AsyncDepthOwner::Elevator, AsyncDepthOwner::Elevator517]);
    if cfg.kernel.async_depth_owner == AsyncDepthOwner::Elevator517 {
        // Lower than its default it makes tasks hang there: see below.
        q.async_depth = (3 * q.nr_requests / 4).max(1);
    }
    cfg.kernel.shallow_per_word = d.flip();
    cfg.kernel.sbitmap_wake = d.pick(&[SbitmapWake::PerMap, SbitmapWake::PerQueue]);
    cfg.host.nr_cpus = d.pick(&[1, 4, 8]);
    cfg.host.submit_ns = d.pick(&[0, 500, 40_000]);
    cfg.host.wake_spread_ns = d.pick(&[0, 3_000]);
    cfg.host.kblockd_ns = d.pick(&[0, 0, 5_000]);
    cfg.host.ipi_ns = d.pick(&[0, 1_000]);
    for _ in 0..d.pick(&[1, 3, 12]) {
        let rw = d.pick(&[Rw::Read, Rw::RandRead, Rw::Write, Rw::RandWrite]);
        let mut l = linear(rw, d.pick(&[8, 64, 1024]), d.pick(&[1, 7, 40]), d.pick(&[20, 100]));
        l.batch = d.pick(&[1, 8]);
        l.buffered = d.flip();
        let class = d.pick(&[IoClass::None, IoClass::None, IoClass::Rt, IoClass::Be, IoClass::Idle]);
        job(&mut cfg, WorkloadConfig::Linear(l), IoPrio { class, level: d.below(8) as u8 });
    }
    if d.flip() {
        job(&mut cfg, WorkloadConfig::PassThrough(PassThroughConfig { every_ns: 2 * MS }), IoPrio::default());
    }
    if d.below(3) == 0 {
        let b = |at, op, sector, nr_sectors, preflush, fua| ListedBio {
            at,
            op,
            sector,
            nr_sectors,
            nowait: false,
            preflush,
            fua,
        };
        let bios = (0..20).map(|i| match i % 4 {
            0 => b(i * 50 * US, Op::Flush, 0, 0, false, false),
            1 => b(i * 50 * US, Op::Write, i * 64, 8, true, false),
            2 => b(i * 50 * US, Op::Write, i * 64, 8, false, true),
            _ => b(i * 50 * US, Op::Write, i * 64, 8, true, true),
        });
        list(&mut cfg, bios.collect());
    }
    if d.below(3) == 0 {
        cfg.faults.push(FaultRule {
            dev: 0,
            sector: 0,
            nr_sectors: 1 << d.below(24),
            from: d.below(2 * MS),
            until: d.below(20 * MS),
            status: d.pick(&[BlkStatus::Resource, BlkStatus::DevResource, BlkStatus::Again, BlkStatus::Medium]),
        });
    }
    if d.below(3) == 0 && cfg.kernel.async_depth_owner == AsyncDepthOwner::Queue {
        let at = d.below(3 * MS);
        let nr = d.pick(&[4, 16, 300]);
        cfg.changes.push(Change { at, dev: 0, setting: Setting::NrRequests(nr) });
        cfg.changes.push(Change { at: at + 5 * MS, dev: 0, setting: Setting::AsyncDepth(d.pick(&[1, 7, 64])) });
    }
    cfg.host.tag_line_ns = d.pick(&[0, 0, 40, 700]);
    cfg
}

/// Watches the trace for what must never happen.
struct Laws {
    q: QueueConfig,
    /// One command of a disk at a time that is not NCQ.
    ata: bool,
    /// Requests between D and C: driver tag, hardware queue's CPU, alone.
    at_device: HashMap<u32, (u64, bool)>,
    /// Requests with a tag from G.
    allocated: HashMap<u32, u64>,
    /// Inserted and not issued, by CPU, oldest first.
    ctx: HashMap<u16, Vec<u32>>,
    nr_cpus: u16,
    requeues: bool,
    queued: u64,
}

impl Laws {
    fn one_map(&self) -> bool {
        self.q.nr_hw_queues <= 1 || self.q.host_tags
    }
}

impl TraceSink for Laws {
    fn record(&mut self, r: &TraceRecord) {
        let sched = self.q.elevator != ElevatorKind::None;
        let cpu = r.job % self.nr_cpus;
        match r.action {
            Action::Queue => self.queued += 1,
            Action::GetRq => {
                if self.one_map() {
                    assert!(self.allocated.values().all(|tag| *tag != r.arg), "no tag twice: {}", r.arg);
                }
                self.allocated.insert(r.rq, r.arg);
            }
            Action::Insert => self.ctx.entry(cpu).or_default().push(r.rq),
            Action::Issue => {
                let list = self.ctx.entry(cpu).or_default();
                if let Some(at) = list.iter().position(|rq| *rq == r.rq) {
                    assert!(sched || self.requeues || at == 0, "a ctx list is first in, first out");
                    list.remove(at);
                }
                let alone = self.ata && matches!(r.op, Op::Flush | Op::DrvIn);
                for (tag, other) in self.at_device.values() {
                    assert!(!self.one_map() || *tag != r.arg, "no driver tag twice");
                    assert!(!alone && !other, "what is not NCQ is alone");
                }
                self.at_device.insert(r.rq, (r.arg, alone));
                let queues = if self.one_map() { 1 } else { self.q.nr_hw_queues as usize };
                assert!(self.at_device.len() <= self.q.queue_depth as usize * queues, "queue_depth holds");
                if self.ata {
                    assert!(self.at_device.len() <= self.q.queue_depth as usize, "the budget holds");
                }
            }
            Action::Requeue => {
                self.at_device.remove(&r.rq);
            }
            Action::Complete => {
                self.at_device.remove(&r.rq);
                self.allocated.remove(&r.rq);
            }
            Action::BackMerge if r.rq != 0 && self.ctx.values().flatten().any(|rq| *rq == r.rq) => {}
            _ => {}
        }
        // A request that was merged into another frees its tag without a C of its own.
        if r.action == Action::BackMerge {
            self.allocated.remove(&r.rq);
        }
    }
}

fn waiting(s: &Snapshot) -> usize {
    let queued = match &s.devices[0].elevator {
        ElevatorView::None { queued } => queued.len(),
        ElevatorView::MqDeadline(v) => {
            v.dispatch.len() + v.classes.iter().flat_map(|c| &c.sort).map(Vec::len).sum::<usize>()
        }
        ElevatorView::Kyber(v) => v.domains.iter().map(|d| d.queued.len()).sum(),
        ElevatorView::Bfq(v) => v.queues.iter().map(|q| q.queued.len()).sum(),
    };
    let dispatch: usize = s.devices[0].hctxs.iter().map(|h| h.dispatch.len()).sum();
    queued + dispatch + s.devices[0].dispatch.len()
}

fn check(cfg: &SimConfig, what: &str) {
    let q = cfg.devices[0].queue.unwrap();
    let laws = Laws {
        q,
        ata: cfg.devices[0].disk().is_some(),
        at_device: HashMap::new(),
        allocated: HashMap::new(),
        ctx: HashMap::new(),
        nr_cpus: cfg.host.nr_cpus,
        requeues: !cfg.faults.is_empty(),
        queued: 0,
    };
    let mut sim = Simulation::new(Arc::new(cfg.clone()));
    let mut sink = (laws, TraceHash::default());
    assert_eq!(sim.advance(u64::MAX, 5_000_000, &mut sink), Advance::Done, "{what}: ends");
    let s = sim.snapshot();
    assert_eq!(sim.stats().nr_stalls, 0, "{what}: no wake-up is lost");
    assert_eq!(sim.bios_in_flight(), 0, "{what}: every bio ends");
    assert_eq!(waiting(&s), 0, "{what}: nothing is left behind");
    let dev = &s.devices[0];
    let tags = dev.hctxs.iter().flat_map(|h| h.tags.iter().chain(&h.sched_tags));
    for t in tags.chain([&dev.tags]).chain(&dev.sched_tags) {
        assert!(t.busy.iter().all(Option::is_none) && t.waiters == 0 && t.ws_active == 0, "{what}: tags");
    }
    assert!(dev.hctxs.iter().all(|h| h.nr_active == 0), "{what}: nr_active");
    assert_eq!(dev.stats.in_flight, 0, "{what}");
    let mut again = Simulation::new(Arc::new(cfg.clone()));
    let mut hash = TraceHash::default();
    while again.advance(u64::MAX, 777, &mut hash) != Advance::Done {
        // A clone goes on alike, whatever sleeps in it.
        again = again.clone();
    }
    assert_eq!(hash, sink.1, "{what}: repeats");
}

#[test]
fn random_queues_keep_the_laws() {
    for seed in 0..400 {
        let cfg = random_queue(&mut Dice(seed));
        check(&cfg, &format!("queue {seed}: {:?}", cfg.devices[0].queue));
    }
}

/// L = lambda W: requests in flight, from the trace, against rate and mean time, from the device's counters.
#[test]
fn littles_law() {
    for (n, elevator) in ELEVATORS.into_iter().enumerate() {
        let mut cfg = config();
        cfg.devices[0] = if n % 2 == 0 { capped(0, 100 * US) } else { plain_disk() };
        let q = cfg.devices[0].queue.as_mut().unwrap();
        *q = QueueConfig { elevator, nr_requests: 64, async_depth: 48, queue_depth: 16, nomerges: 2, ..*q };
        for _ in 0..6 {
            fio(&mut cfg, Rw::RandRead, 64, 24, 400);
            fio(&mut cfg, Rw::RandWrite, 64, 24, 400);
        }
        let r = run(cfg);
        let (mut area, mut in_flight, mut last) = (0u128, 0u128, 0);
        for t in &r.trace {
            area += in_flight * u128::from(t.time - last);
            last = t.time;
            match t.action {
                Action::GetRq => in_flight += 1,
                Action::Complete => in_flight -= 1,
                _ => {}
            }
        }
        let stats = r.sim.snapshot().devices[0].stats;
        let sum: u64 = stats.ns.iter().sum();
        let (a, b) = (area as f64, sum as f64);
        assert!((a / b - 1.0).abs() < 0.01, "{elevator:?}: {a} {b}");
    }
}

/// kernel 4.2: behind its deadline a request waits for a batch of each direction at most, once for each older one.
#[test]
fn mq_deadline_keeps_its_bound() {
    for seed in 0..30 {
        let mut d = Dice(900 + seed);
        let mut cfg = config();
        cfg.devices[0] = plain_disk();
        let q = cfg.devices[0].queue.as_mut().unwrap();
        let dl = MqDeadlineConfig {
            read_expire_ns: d.pick(&[20, 100]) * MS,
            write_expire_ns: d.pick(&[50, 300]) * MS,
            fifo_batch: d.pick(&[1, 4, 16]),
            writes_starved: d.pick(&[1, 3]),
            ..Default::default()
        };
        *q = QueueConfig { mq_deadline: dl, nr_requests: 128, async_depth: 128, queue_depth: 4, nomerges: 2, ..*q };
        fio(&mut cfg, Rw::RandRead, 64, 60, 300);
        fio(&mut cfg, Rw::Read, 64, 30, 300);
        fio(&mut cfg, Rw::RandWrite, 64, 60, 300);
        let r = run(cfg);
        let deadline = |t: &TraceRecord| t.time + if t.op == Op::Read { dl.read_expire_ns } else { dl.write_expire_ns };
        let inserted: Vec<_> = r.of(Action::Insert);
        let issued: Vec<_> = r.of(Action::Issue);
        for (n, t) in inserted.iter().enumerate() {
            let due = deadline(t);
            let at = issued.iter().position(|i| i.rq == t.rq).unwrap();
            if issued[at].time <= due {
                continue;
            }
            let late = issued[..at].iter().filter(|i| i.time > due).count() as u32;
            let left_by = |rq| issued.iter().find(|i| i.rq == rq).unwrap().time;
            let older = inserted[..n].iter().filter(|o| o.op == t.op && left_by(o.rq) >= due).count() as u32;
            let bound = (older + 1) * dl.fifo_batch * (1 + dl.writes_starved.max(1)) + dl.fifo_batch;
            assert!(late <= bound, "seed {seed}: {late} of {bound}, {older} older");
        }
    }
}

/// kernel 7.5, 13: the delay is a pure latency.
#[test]
fn section_13_null_blk_commands_overlap() {
    let mut cfg = config();
    cfg.devices[0] = null_blk(NullIrq::Timer, 100 * US);
    let q = cfg.devices[0].queue.as_mut().unwrap();
    (q.queue_depth, q.nr_requests) = (64, 64);
    let bios = (0..64).map(|i| ListedBio { sector: i * 1000, ..write(0, 0, 0, 8) }).collect();
    list(&mut cfg, bios);
    let r = run(cfg);
    let done = r.of(Action::Complete);
    assert_eq!(done.len(), 64);
    assert!(done.iter().all(|c| c.time == 100 * US));
}

/// kernel 3.5 step 10: PREFLUSH, data, POSTFLUSH; one flush serves all that wait for it.
#[test]
fn section_3_5_flush_sequence() {
    for elevator in ELEVATORS {
        let mut cfg = config();
        cfg.devices[0] = plain_disk();
        cfg.devices[0].queue.as_mut().unwrap().elevator = elevator;
        let b = |op, sector, nr_sectors, preflush, fua| ListedBio {
            at: 0,
            op,
            sector,
            nr_sectors,
            nowait: false,
            preflush,
            fua,
        };
        let all =
            vec![b(Op::Write, 0, 8, true, true), b(Op::Flush, 0, 0, false, false), b(Op::Flush, 0, 0, false, false)];
        list(&mut cfg, all);
        let r = run(cfg.clone());
        let order: Vec<Op> = r.of(Action::Issue).iter().map(|i| i.op).collect();
        // The first flush is the write's; the next waits for its data, and serves all three.
        assert_eq!(order, [Op::Flush, Op::Write, Op::Flush], "{elevator:?}");
        assert_eq!(r.sim.bios_in_flight(), 0);
        // Without a volatile cache nothing is flushed.
        cfg.devices[0].disk_mut().unwrap().write_cache = false;
        let r = run(cfg);
        assert_eq!(r.of(Action::Issue).iter().map(|i| i.op).collect::<Vec<_>>(), [Op::Write]);
    }
}

/// kernel 3.6: RESOURCE comes back after 3 ms, DEV_RESOURCE with the next completion.
#[test]
fn section_3_6_resource_and_dev_resource() {
    let second = |status, alone| {
        let mut cfg = config();
        cfg.devices[0] = capped(0, 500 * US);
        cfg.faults.push(FaultRule { dev: 0, sector: 5000, nr_sectors: 8, from: 0, until: 400 * US, status });
        let at = |sector| ListedBio { sector, ..write(0, 0, 0, 8) };
        list(&mut cfg, if alone { vec![at(5000)] } else { vec![at(0), at(5000)] });
        let r = run(cfg);
        let requeues = r.of(Action::Requeue).len();
        let (first, issue) = (r.of(Action::Complete)[0].time, r.of(Action::Issue).last().unwrap().time);
        assert!(requeues >= 1);
        (first, issue)
    };
    for status in [BlkStatus::Resource, BlkStatus::DevResource] {
        // Nothing at the device: after a while. Else the queue restarts with the next completion.
        assert_eq!(second(status, true).1, 3 * MS);
        let (first, restarted) = second(status, false);
        assert_eq!(restarted, first);
    }
}

/// Report 5: with one hardware queue identify waits for the commands at the drive; with several, others refill it.
#[test]
fn report_5_pass_through_waits() {
    let wait = |queues| {
        let mut cfg = config();
        cfg.devices[0] = plain_disk();
        let q = cfg.devices[0].queue.as_mut().unwrap();
        *q = QueueConfig { nr_hw_queues: queues, nr_requests: 64, ..*q };
        cfg.stop.runtime_ns = Some(4_000 * MS);
        for _ in 0..8 {
            let l = LinearConfig { io_bytes: None, ..linear(Rw::RandRead, 8, 32, 1) };
            job(&mut cfg, WorkloadConfig::Linear(l), IoPrio::default());
        }
        job(&mut cfg, WorkloadConfig::PassThrough(PassThroughConfig { every_ns: 200 * MS }), IoPrio::default());
        run(cfg).sim.stats().pass_through_max / MS
    };
    let (one, several) = (wait(1), wait(4));
    assert!((50..1_000).contains(&one), "{one} ms");
    assert!(several > 2 * one, "{several} ms against {one} ms");
}

/// Report 10: sleepers are as many as jobs hold no tag, and their queues are level.
#[test]
fn report_10_wait_queues_are_level() {
    let mut cfg = config();
    cfg.devices[0] = plain_disk();
    cfg.host.nr_cpus = 16;
    for _ in 0..512 {
        let l = LinearConfig { io_bytes: None, ..linear(Rw::RandRead, 8, 1, 1) };
        job(&mut cfg, WorkloadConfig::Linear(l), IoPrio::default());
    }
    let mut sim = Simulation::new(Arc::new(cfg));
    sim.advance(300 * MS, u64::MAX, &mut ());
    for at in 301..340 {
        sim.advance(at * MS, u64::MAX, &mut ());
        let s = sim.snapshot();
        let t = s.devices[0].sched_tags.as_ref().unwrap();
        let held = t.busy.iter().flatten().count();
        let asleep: Vec<usize> = t.ws.iter().map(Vec::len).collect();
        let submits = s.jobs.iter().filter(|j| j.in_flight.is_empty()).count();
        assert_eq!(t.ws_active as usize + held + submits, 512);
        let (least, most) = (asleep.iter().min().unwrap(), asleep.iter().max().unwrap());
        assert!(most - least <= t.wake_batch as usize + 1, "{asleep:?}");
    }
}

/// Report 11: lost wake-ups are found, with the queue, its batch and its waiters.
#[test]
fn report_11_lost_wake_ups_are_found() {
    for kind in [WakeFaultKind::LateWaiter, WakeFaultKind::EmptyQueue] {
        for elevator in ELEVATORS {
            let mut cfg = config();
            cfg.devices[0] = capped(0, 50 * US);
            let q = cfg.devices[0].queue.as_mut().unwrap();
            // scsi_debug with max_queue=1 host_max_queue=1 submit_queues=4.
            *q = QueueConfig { elevator, queue_depth: 1, nr_requests: 4, nr_hw_queues: 4, host_tags: true, ..*q };
            q.async_depth = 4;
            let busy = cfg.clone();
            // All tags are taken, then one more comes.
            let tags = if elevator == ElevatorKind::None { 1u64 } else { 4 };
            let read = |at, n| ListedBio { op: Op::Read, sector: n * 1000, ..write(at, 0, 0, 8) };
            list(&mut cfg, (0..tags).map(|n| read(0, n)).collect());
            list(&mut cfg, vec![read(10 * US, 9)]);
            assert_eq!(run(cfg.clone()).sim.bios_in_flight(), 0);
            cfg.wake_faults.push(WakeFault { dev: 0, from: 0, kind });
            let r = run(cfg);
            let stall = r.sim.snapshot().devices[0].stall.unwrap_or_else(|| panic!("{kind:?} {elevator:?}"));
            assert_eq!((stall.hctx, stall.waiters, stall.wake_batch), (0, 1, 1), "{kind:?} {elevator:?}");
            let last = r.of(Action::Complete).last().unwrap().time;
            assert_eq!((stall.since, r.sim.bios_in_flight()), (last, 1), "{kind:?} {elevator:?}");
            assert_eq!(r.sim.stats().nr_stalls, 1);
            // The report's 40 jobs get along without the fault.
            let mut cfg = busy;
            for _ in 0..40 {
                fio(&mut cfg, Rw::RandRead, 8, 1, 20);
            }
            let r = run(cfg);
            assert_eq!((r.sim.stats().nr_stalls, r.sim.bios_in_flight()), (0, 0));
        }
    }
}

/// kernel 3.4: 5.17 tells the bitmap its default and not what was written to async_depth. Fewer writes in flight than
/// wake_batch never wake the rest; min_shallow_depth 1, which came after, does.
#[test]
fn section_3_4_async_depth_of_5_17_may_hang() {
    let stalls = |owner| {
        let mut cfg = config();
        cfg.devices[0] = capped(0, 50 * US);
        cfg.kernel.async_depth_owner = owner;
        let q = cfg.devices[0].queue.as_mut().unwrap();
        *q = QueueConfig { elevator: ElevatorKind::MqDeadline, nr_requests: 64, async_depth: 3, queue_depth: 32, ..*q };
        for _ in 0..12 {
            fio(&mut cfg, Rw::RandWrite, 8, 4, 40);
        }
        run(cfg).sim.stats().nr_stalls
    };
    assert_eq!(stalls(AsyncDepthOwner::Elevator517), 1);
    assert_eq!([stalls(AsyncDepthOwner::Elevator), stalls(AsyncDepthOwner::Queue)], [0, 0]);
}

/// kernel 3.2: what a user of a shared set may hold.
#[test]
fn section_3_2_fair_share() {
    let mut cfg = config();
    cfg.devices[0] = capped(0, 500 * US);
    let q = cfg.devices[0].queue.as_mut().unwrap();
    *q = QueueConfig { queue_depth: 32, nr_requests: 32, shared_users: 5, ..*q };
    fio(&mut cfg, Rw::RandRead, 8, 64, 300);
    let r = run(cfg);
    let (mut now, mut most) = (0, 0);
    for t in &r.trace {
        match t.action {
            Action::Issue => now += 1,
            Action::Complete => now -= 1,
            _ => {}
        }
        most = most.max(now);
    }
    assert_eq!(most, 7);
}

/// ncq_prio: commands of the realtime class go first in the drive.
#[test]
fn ncq_priority_shortens_realtime_reads() {
    let mean = |ncq_prio| {
        let mut cfg = config();
        cfg.devices[0] = plain_disk();
        let q = cfg.devices[0].queue.as_mut().unwrap();
        *q = QueueConfig { elevator: ElevatorKind::None, nr_requests: 32, ncq_prio, ..*q };
        fio(&mut cfg, Rw::RandRead, 256, 30, 600);
        let rt = IoPrio { class: IoClass::Rt, level: 0 };
        job(&mut cfg, WorkloadConfig::Linear(linear(Rw::RandRead, 256, 1, 60)), rt);
        let r = run(cfg);
        let mine = |a| r.of(a).into_iter().filter(|t| t.job == 1).map(|t| t.time).sum::<u64>();
        (mine(Action::Complete) - mine(Action::Queue)) / 60
    };
    let (off, on) = (mean(false), mean(true));
    assert!(on * 2 < off, "{on} ns against {off} ns");
}
