//! rq_qos on a hard disk (kernel 8.1): what each policy does to jobs beside each other, and laws of all of them.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::{DeviceView, JobState};
use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink};
use bioscope_core::observe::why::Why;
use bioscope_core::sim::Simulation;
use bioscope_core::time::{MS, SEC};
use bioscope_core::units::JobIdx;
use common::{Dice, capped, config, profile, run};

const SETTLED: u64 = 2 * SEC;

fn job(rw: Rw, kib: u64, iodepth: u32) -> JobConfig {
    let linear = LinearConfig {
        tool: Tool::Fio,
        rw,
        bs: kib * 2,
        bios: vec![],
        iodepth,
        batch: 1,
        first: 0,
        sectors: 1 << 26,
        io_bytes: None,
        buffered: false,
        nowait: false,
        fio: Default::default(),
    };
    JobConfig {
        name: "fio".into(),
        dev: 0,
        workload: WorkloadConfig::Linear(linear),
        prio: Default::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    }
}

fn linear(j: &mut JobConfig) -> &mut LinearConfig {
    match &mut j.workload {
        WorkloadConfig::Linear(l) => l,
        other => panic!("{other:?}"),
    }
}

/// Writeback in batches of 16 under a plug, so many at once.
fn flusher(kib: u64, iodepth: u32) -> JobConfig {
    let mut j = job(Rw::Write, kib, iodepth);
    (linear(&mut j).buffered, linear(&mut j).batch) = (true, 16);
    linear(&mut j).first = 1 << 28;
    j
}

/// A disk that is not zoned, for so long.
fn disk(seconds: u64) -> SimConfig {
    let mut cfg = config();
    let mut p = profile();
    (p.zoned, p.nr_conv_zones, p.nr_zones) = (false, 10_000, 10_000);
    if let DeviceKind::Disk(d) = &mut cfg.devices[0].kind {
        d.profile = Arc::new(p);
    }
    cfg.stop.runtime_ns = Some(seconds * SEC);
    cfg
}

fn queue(cfg: &mut SimConfig) -> &mut QueueConfig {
    cfg.devices[0].queue.as_mut().unwrap()
}

/// Q to C of each job's bios that ended after a while, and their number.
#[derive(Default)]
struct Seen {
    queued: HashMap<u32, u64>,
    ns: HashMap<JobIdx, Vec<u64>>,
    bytes: HashMap<JobIdx, u64>,
}

impl TraceSink for Seen {
    fn record(&mut self, r: &TraceRecord) {
        match r.action {
            Action::Queue => _ = self.queued.insert(r.bio, r.time),
            Action::Complete if r.time >= SETTLED => {
                *self.bytes.entry(r.job).or_default() += u64::from(r.nr_sectors) * 512;
                if let Some(q) = self.queued.remove(&r.bio) {
                    self.ns.entry(r.job).or_default().push(r.time - q);
                }
            }
            _ => {}
        }
    }
}

impl Seen {
    fn of(&mut self, job: JobIdx, percent: usize) -> u64 {
        let ns = self.ns.get_mut(&job).unwrap();
        ns.sort_unstable();
        ns[ns.len() * percent / 100]
    }
    fn ios(&self, job: JobIdx) -> u64 {
        self.ns.get(&job).map_or(0, |ns| ns.len() as u64)
    }
}

/// Runs until shortly before the end, where jobs drain.
fn watch(cfg: &SimConfig) -> (Simulation, Seen) {
    let mut sim = Simulation::new(Arc::new(cfg.clone()));
    let mut seen = Seen::default();
    sim.advance(cfg.stop.runtime_ns.unwrap() - MS, 50_000_000, &mut seen);
    (sim, seen)
}

fn view(sim: &Simulation) -> DeviceView {
    sim.snapshot().devices[0].clone()
}

/// A flusher of 64 KiB here and there beside somebody who reads 4 KiB at a time.
fn flusher_and_reader(wbt: Option<u64>) -> SimConfig {
    let mut cfg = disk(20);
    queue(&mut cfg).wbt_lat_ns = wbt;
    let mut w = flusher(64, 64);
    linear(&mut w).rw = Rw::RandWrite;
    cfg.jobs = vec![job(Rw::RandRead, 4, 1), w];
    cfg
}

fn factor(what: &str, without: u64, with: u64) -> f64 {
    let factor = without as f64 / with as f64;
    println!("{what}: {:.1} ms without, {:.1} ms with, factor {factor:.2}", without as f64 / 1e6, with as f64 / 1e6);
    factor
}

/// The drive's 32 places are full of writes without wbt, and a read waits for one of them.
#[test]
fn section_8_1_wbt_keeps_reads_short_beside_writeback() {
    let (off, mut without) = watch(&flusher_and_reader(None));
    let (on, mut with) = watch(&flusher_and_reader(Some(75 * MS)));
    assert!(view(&off).qos.wbt.is_none());
    assert!(factor("p99 of reads", without.of(0, 99), with.of(0, 99)) > 3.0);
    assert!(factor("median of reads", without.of(0, 50), with.of(0, 50)) > 3.0);
    println!("writes: {} MB without, {} MB with", without.bytes[&1] / 1_000_000, with.bytes[&1] / 1_000_000);
    assert!(with.ios(0) > 3 * without.ios(0) && with.bytes[&1] < without.bytes[&1]);
    // Reads are used all the time: background limits count.
    let wbt = view(&on).qos.wbt.unwrap();
    let [max, _, background] = wbt.limits;
    assert!(wbt.in_flight[0] <= background && max <= 24, "{wbt:?}");
    let why = on.snapshot().why;
    assert!(why.iter().any(|w| matches!(w.why, Why::ThrottledByWbt { in_flight, limit, .. } if in_flight >= limit)));
    assert_eq!(on.snapshot().jobs[1].state, JobState::WaitQos);
}

/// A target that a disk cannot meet narrows, until windows have too few writes to judge; one that it meets easily widens.
#[test]
fn section_8_1_the_step_follows_the_target() {
    let steps = |target| {
        let cfg = flusher_and_reader(Some(target));
        let mut sim = Simulation::new(Arc::new(cfg));
        let at = |sim: &mut Simulation, n: u64| {
            sim.advance(n * 50 * MS, 50_000_000, &mut ());
            view(sim).qos.wbt.unwrap()
        };
        (1..390).map(|n| at(&mut sim, n)).collect::<Vec<_>>()
    };
    let (tight, easy) = (steps(MS), steps(75 * MS));
    let narrowest = tight.iter().map(|w| w.limits).min().unwrap();
    assert!(narrowest[0] <= 2 && narrowest[2] == 1, "{narrowest:?}");
    assert!(tight.iter().any(|w| w.window_ns == 50_000_000), "100 ms / sqrt(4)");
    assert!(easy.iter().all(|w| w.scale_step <= 0 && w.window_ns == 100 * MS));
    assert_eq!(easy.last().unwrap().limits, [24, 12, 6]);
}

/// O_DIRECT is not wbt's business.
#[test]
fn section_8_1_wbt_lets_direct_writes_pass() {
    let mut cfg = flusher_and_reader(Some(MS));
    linear(&mut cfg.jobs[1]).buffered = false;
    let (sim, seen) = watch(&cfg);
    let wbt = view(&sim).qos.wbt.unwrap();
    assert_eq!((wbt.in_flight, wbt.window_ends, wbt.scale_step), ([0; 3], None, 0));
    cfg.devices[0].queue.as_mut().unwrap().wbt_lat_ns = None;
    let (_, without) = watch(&cfg);
    assert_eq!((seen.ns, seen.bytes), (without.ns, without.bytes));
}

/// bfq sets QUEUE_FLAG_DISABLE_WBT_DEF: with it the build option changes nothing.
#[test]
fn section_8_1_bfq_turns_wbt_off() {
    let hash = |elevator, blk_wbt_mq| {
        let mut cfg = flusher_and_reader(None);
        cfg.stop.runtime_ns = Some(3 * SEC);
        cfg.kernel.blk_wbt_mq = blk_wbt_mq;
        queue(&mut cfg).elevator = elevator;
        let r = run(cfg);
        (r.hash, view(&r.sim).qos.wbt.is_some())
    };
    assert_eq!(hash(ElevatorKind::Bfq, true), hash(ElevatorKind::Bfq, false));
    assert!(!hash(ElevatorKind::Bfq, true).1);
    let [with, without] = [true, false].map(|on| hash(ElevatorKind::MqDeadline, on));
    assert!(with.1 && !without.1 && with.0 != without.0);
}

/// One who reads alone at a time beside one with 32 reads in flight.
fn two_readers(target: u64) -> SimConfig {
    let mut cfg = disk(20);
    cfg.jobs = vec![job(Rw::RandRead, 4, 1), job(Rw::RandRead, 4, 32)];
    cfg.jobs[0].cgroup.latency_ns = target;
    cfg
}

#[test]
fn section_8_1_iolatency_protects_who_has_the_target() {
    let (_, mut without) = watch(&two_readers(0));
    let mut ios = vec![without.ios(1)];
    for target in [40 * MS, 15 * MS] {
        let (sim, mut with) = watch(&two_readers(target));
        let factor = factor("median of reads", without.of(0, 50), with.of(0, 50));
        assert!(factor > 5.0 && with.ios(0) > 5 * without.ios(0), "{factor}");
        let groups = view(&sim).qos.iolatency;
        // About as slow as it may be, and no slower.
        let mean = with.ns[&0].iter().sum::<u64>() / with.ios(0);
        assert!(mean < target * 5 / 4, "{mean}");
        assert_eq!(groups[0].depth, u32::MAX, "it does not throttle itself");
        assert!(groups[1].depth < 16 && groups[1].in_flight <= groups[1].depth.max(32), "{groups:?}");
        assert_eq!(sim.snapshot().jobs[1].state, JobState::WaitQos);
        ios.push(with.ios(1));
    }
    println!("reads of the other: {ios:?} without, with 40 ms, with 15 ms");
    // The smaller the target, the less is left to the other.
    assert!(ios[2] < ios[1]);
}

/// The one with the target falls silent: the others have their depth back some seconds later.
#[test]
fn section_8_1_iolatency_gives_back() {
    let mut cfg = two_readers(15 * MS);
    cfg.stop.runtime_ns = Some(40 * SEC);
    linear(&mut cfg.jobs[0]).io_bytes = Some(300 * 4096);
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut depths = Vec::new();
    for n in 1..40 {
        sim.advance(n * SEC, 50_000_000, &mut ());
        depths.push(view(&sim).qos.iolatency[1].depth);
    }
    let last_least = depths.iter().rposition(|d| d == depths.iter().min().unwrap()).unwrap();
    let back = &depths[last_least..];
    println!("{depths:?}");
    // A sixteenth of 64 requests a second.
    assert!(depths[last_least] < 8 && *back.last().unwrap() >= 64, "{depths:?}");
    assert!(back.windows(2).all(|d| d[1] == d[0] + 4 || d[1] >= 64), "{depths:?}");
}

/// A disk that is said to do 60 random reads a second, at a fixed rate.
#[test]
fn section_8_1_iocost_shares_by_weight() {
    let cost = IoCostConfig { rand_iops: [60, 60], min: 10_000, max: 10_000, ..Default::default() };
    for (weights, want) in [([100, 300], 3.0), ([300, 100], 1.0 / 3.0), ([500, 500], 1.0)] {
        let mut cfg = disk(30);
        cfg.jobs = vec![job(Rw::RandRead, 4, 16); 2];
        for (j, w) in cfg.jobs.iter_mut().zip(weights) {
            j.cgroup.weight = w;
        }
        let (_, equal) = watch(&cfg);
        queue(&mut cfg).iocost = Some(cost);
        let (sim, seen) = watch(&cfg);
        let got = seen.ios(1) as f64 / seen.ios(0) as f64;
        println!("{weights:?}: {} and {} reads, {got:.3} of {want:.3}", seen.ios(0), seen.ios(1));
        assert!((got / want - 1.0).abs() < 0.1, "{got}");
        assert!(seen.ios(0).abs_diff(seen.ios(1)) > equal.ios(0).abs_diff(equal.ios(1)) || want == 1.0);
        // 28 s of it.
        assert!((seen.ios(0) + seen.ios(1)).abs_diff(28 * 60) < 84);
        let why = sim.snapshot().why;
        assert!(why.iter().any(|w| matches!(w.why, Why::ThrottledByIocost { cost, .. } if cost == SEC / 60)));
    }
}

/// Half of the reads may take longer than 50 ms: at the kernel's 370 a second far more do, and the rate falls until the
/// disk keeps up; a rate that is lower than it need be rises.
#[test]
fn section_8_1_the_rate_of_iocost_finds_the_disk() {
    let vrates = |min, max| {
        let mut cfg = disk(60);
        queue(&mut cfg).iocost =
            Some(IoCostConfig { pct: [5000, 0], lat_ns: [50 * MS, 0], min, max, ..Default::default() });
        cfg.jobs = vec![job(Rw::RandRead, 4, 16); 2];
        let mut sim = Simulation::new(Arc::new(cfg));
        let at = |sim: &mut Simulation, s: u64| {
            sim.advance(s * SEC, 50_000_000, &mut ());
            view(sim).qos.iocost.unwrap().vrate
        };
        (1..59).map(|s| at(&mut sim, s)).collect::<Vec<_>>()
    };
    let free = vrates(100, 1_000_000);
    assert!((2_000..6_000).contains(free.last().unwrap()), "{free:?}");
    assert!(vrates(8_000, 1_000_000).into_iter().skip(40).all(|v| v == 8_000));
    assert!(vrates(100, 1_000).into_iter().skip(40).all(|v| v == 1_000));
}

/// Row 17: bio->issue_time_ns costs a clock read a bio, since 6.18 only where io.latency wants it.
#[test]
fn section_11_row_17_issue_time() {
    let reads = |issue_time, target| {
        let mut cfg = two_readers(target);
        cfg.stop.runtime_ns = Some(SEC);
        cfg.kernel.issue_time = issue_time;
        let qos = view(&run(cfg).sim).qos;
        assert_eq!(qos.issue_time, target > 0);
        assert!(qos.counters.bios > 100);
        (qos.counters.clock_reads, qos.counters.bios)
    };
    for (issue_time, target, stamped) in [
        (IssueTime::IfIolatency, 0, false),
        (IssueTime::IfIolatency, 40 * MS, true),
        (IssueTime::Always, 0, true),
        (IssueTime::Always, 40 * MS, true),
    ] {
        let (clock, bios) = reads(issue_time, target);
        assert_eq!(clock, if stamped { bios } else { 0 }, "{issue_time:?} {target}");
    }
}

/// Row 18: without a policy a hook ends at QUEUE_FLAG_QOS_ENABLED, or at a static key that one policy anywhere opens for
/// all; before that it loads q.rq_qos.
#[test]
fn section_11_row_18_gate() {
    let counters = |gate, on_sda: bool| {
        let mut cfg = config();
        cfg.devices = vec![capped(0, 10_000), capped(1, 10_000)];
        cfg.stop.runtime_ns = Some(10 * MS);
        cfg.kernel.qos_gate = gate;
        cfg.devices[0].queue.as_mut().unwrap().wbt_lat_ns = on_sda.then_some(2 * MS);
        cfg.jobs = vec![job(Rw::RandRead, 4, 2); 2];
        cfg.jobs[1].dev = 1;
        let r = run(cfg);
        let of = |dev: usize| {
            let qos = r.sim.snapshot().devices[dev].qos.clone();
            let (c, rqs) = (qos.counters, r.trace.iter().filter(|t| usize::from(t.dev) == dev));
            // throttle, track, issue, done; without merges, and done_bio only of bios that were asked for.
            let gets = rqs.filter(|t| t.action == Action::GetRq).count() as u64;
            let asked = if qos.enabled { 5 } else { 4 };
            assert_eq!(c.hooks, asked * gets, "{gate:?}");
            assert_eq!(c.gated + c.chain_loads, c.hooks);
            (qos.enabled, c.gated > 0)
        };
        [of(0), of(1)]
    };
    let shut = (false, true);
    assert_eq!(counters(QosGate::QueueFlag, false), [shut; 2]);
    assert_eq!(counters(QosGate::StaticKey, false), [shut; 2]);
    assert_eq!(counters(QosGate::Pointer, false), [(false, false); 2]);
    assert_eq!(counters(QosGate::QueueFlag, true), [(true, false), shut]);
    assert_eq!(counters(QosGate::StaticKey, true), [(true, false), (false, false)]);
}

/// Any policies on any queue under any jobs, with settings written meanwhile: nobody sleeps for ever, all places are
/// given back, and a run repeats.
#[test]
fn random_policies_keep_the_laws() {
    let mut slept = [0; 3];
    for seed in 0..150 {
        let mut dice = Dice(seed);
        let mut cfg = disk(1);
        cfg.seed = seed;
        if dice.below(3) == 0 {
            let depth = 1 << dice.below(6);
            cfg.devices = vec![capped(0, 1 + dice.below(2_000_000))];
            let q = queue(&mut cfg);
            (q.queue_depth, q.nr_requests, q.async_depth) = (depth, depth.max(4), depth.max(4));
        }
        cfg.stop = Stop { runtime_ns: Some((1 + dice.below(8)) * 100 * MS), bytes: None };
        let q = queue(&mut cfg);
        q.elevator = dice.pick(&[ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq]);
        q.nomerges = dice.pick(&[0, 0, 2]);
        q.write_back = dice.flip();
        q.wbt_lat_ns = dice.pick(&[None, Some(0), Some(MS), Some(75 * MS)]);
        q.iocost = dice.flip().then(|| IoCostConfig {
            rand_iops: [10 + dice.below(5_000) as u32; 2],
            pct: [dice.pick(&[0, 5_000, 9_500]); 2],
            lat_ns: [dice.pick(&[MS, 20 * MS]); 2],
            min: dice.pick(&[100, 5_000]),
            max: dice.pick(&[10_000, 1_000_000]),
            ..Default::default()
        });
        cfg.kernel.blk_wbt_mq = dice.flip();
        cfg.kernel.qos_gate = dice.pick(&[QosGate::Pointer, QosGate::StaticKey, QosGate::QueueFlag]);
        cfg.kernel.issue_time = dice.pick(&[IssueTime::Always, IssueTime::IfIolatency]);
        cfg.host.wake_ns = dice.pick(&[0, 0, 5_000]);
        for _ in 0..1 + dice.below(4) {
            let rw = dice.pick(&[Rw::Read, Rw::RandRead, Rw::RandWrite, Rw::Write, Rw::RandRw]);
            let mut j = job(rw, dice.pick(&[4, 64, 1024]), 1 << dice.below(7));
            let l = linear(&mut j);
            l.buffered = dice.flip();
            l.nowait = !l.buffered && dice.below(5) == 0;
            l.batch = l.iodepth.min(1 << dice.below(5));
            j.cgroup.latency_ns = dice.pick(&[0, 0, MS, 30 * MS]);
            j.cgroup.weight = 1 + dice.below(1000) as u16;
            cfg.jobs.push(j);
        }
        for _ in 0..dice.below(5) {
            let setting = match dice.below(4) {
                0 => Setting::WbtLat(dice.pick(&[None, Some(0), Some(MS)])),
                1 => Setting::Scheduler(dice.pick(&[ElevatorKind::None, ElevatorKind::Bfq, ElevatorKind::MqDeadline])),
                2 => Setting::WriteCache(dice.flip()),
                _ => Setting::NrRequests(4 + dice.below(60) as u32),
            };
            cfg.changes.push(Change { at: dice.below(800) * MS, dev: 0, setting });
        }
        cfg.changes.sort_by_key(|c| c.at);
        let again = cfg.clone();
        let r = run(cfg);
        let s = r.sim.snapshot();
        assert!(s.jobs.iter().all(|j| j.state == JobState::Done && j.in_flight.is_empty()), "{seed}");
        assert_eq!(r.sim.bios_in_flight(), 0, "{seed}");
        let qos = &s.devices[0].qos;
        let busy = |v: &[u32]| v.iter().any(|n| *n > 0);
        assert!(!qos.wbt.as_ref().is_some_and(|w| busy(&w.in_flight) || busy(&w.waiting)), "{seed} {qos:?}");
        assert!(qos.iolatency.iter().all(|g| g.in_flight == 0 && g.waiting == 0), "{seed} {qos:?}");
        assert!(qos.iocost.as_ref().is_none_or(|c| c.groups.iter().all(|g| g.3 == 0 && g.4 == 0)), "{seed} {qos:?}");
        assert_eq!(r.hash, run(again).hash, "{seed}");
        for w in &s.why {
            match w.why {
                Why::ThrottledByWbt { .. } => slept[0] += 1,
                Why::ThrottledByIolatency { .. } => slept[1] += 1,
                Why::ThrottledByIocost { .. } => slept[2] += 1,
                _ => {}
            }
        }
    }
    println!("last reasons by policy: {slept:?}");
    assert!(slept.iter().all(|n| *n > 10), "{slept:?}");
}
