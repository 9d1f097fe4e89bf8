//! Who keeps the writes of a zone in order: the lock of old kernels, nobody, the driver.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::Simulation;
use bioscope_core::units::{BlkStatus, Op};
use common::*;

/// The disk of [`config`] as a kernel before 6.10 drives it.
fn zone_lock(streams: bool) -> SimConfig {
    let mut cfg = config();
    cfg.kernel.zone_ordering = ZoneOrdering::ZoneLock;
    cfg.kernel.zone_lock_streams = streams;
    cfg.kernel.plug.per_step = false;
    cfg
}

fn fio(cfg: &mut SimConfig, workload: FioZbdConfig) {
    list(cfg, vec![]);
    cfg.jobs.last_mut().unwrap().workload = WorkloadConfig::FioZbd(workload);
}

/// Most writes of one zone between D and C.
fn most_in_a_zone(trace: &[TraceRecord]) -> usize {
    let (mut at, mut most) = (std::collections::BTreeMap::<u64, usize>::new(), 0);
    for r in trace.iter().filter(|r| r.op == Op::Write) {
        let zone = at.entry(r.sector / ZONE).or_default();
        match r.action {
            Action::Issue => *zone += 1,
            Action::Requeue if *zone > 0 => *zone -= 1,
            Action::Complete => *zone -= 1,
            _ => {}
        }
        most = most.max(*zone);
    }
    most
}

/// kernel 4.3, and published table 05: 64 KiB, QD 32, in order over the end of a zone. The lock lets the next zone start
/// while the old one has writes left; the refinement keeps the stream together.
#[test]
fn section_4_3_table_05_zone_boundary() {
    for streams in [false, true] {
        let mut cfg = zone_lock(streams);
        let job = FioZbdConfig { bs: 128, iodepth: 32, first_zone: SEQ, zones: 3, ..FioZbdConfig::default() };
        fio(&mut cfg, FioZbdConfig { io_bytes: Some(3 * ZONE * 512), ..job });
        let r = run(cfg);
        let issued = r.issued();
        let back = issued.windows(2).filter(|w| w[1].0 < w[0].0).count();
        assert_eq!(most_in_a_zone(&r.trace), 1);
        assert_eq!(r.sim.stats().nr_errors, 0);
        match streams {
            true => assert_eq!(back, 0, "the stream is kept"),
            false => assert!(back >= 2, "both ends of zones are passed early: {back}"),
        }
    }
}

/// kernel 4.3: the next write of a zone goes out after the completion of the last and one run of the queue by kblockd;
/// other zones and reads do not wait.
#[test]
fn section_4_3_redispatch_by_kblockd() {
    let mut cfg = zone_lock(true);
    cfg.host.kblockd_ns = 70_000;
    cfg.devices[0].queue.as_mut().unwrap().nomerges = 2;
    let mut read = write(300_000, 0, 0, 8);
    read.op = Op::Read;
    list(&mut cfg, vec![write(0, 0, 0, MIB), write(0, 0, 2048, MIB), write(0, 1, 0, MIB), read]);
    let r = run(cfg);
    let at = |action, zone: u64, offset: u64, op| {
        let sector = (u64::from(SEQ) + zone) * ZONE + offset;
        r.trace.iter().find(|t| t.action == action && t.sector == sector && t.op == op).unwrap().time
    };
    assert_eq!(at(Action::Issue, 0, 0, Op::Write), 70_000, "inserted, and run by kblockd: no task plug");
    assert_eq!(at(Action::Issue, 1, 0, Op::Write), 70_000);
    assert_eq!(at(Action::Issue, 0, 0, Op::Read), 370_000);
    assert_eq!(at(Action::Issue, 0, 2048, Op::Write), at(Action::Complete, 0, 0, Op::Write) + 70_000);
    assert!(r.of(Action::Plug).iter().all(|t| t.op == Op::Read), "zone writes ignore the plug");
}

/// kernel 4.3: the lock is in mq-deadline alone.
#[test]
fn section_4_3_others_order_nothing() {
    for (elevator, most) in [(ElevatorKind::MqDeadline, 1), (ElevatorKind::None, 4), (ElevatorKind::Kyber, 4)] {
        let mut cfg = zone_lock(true);
        let q = cfg.devices[0].queue.as_mut().unwrap();
        (q.elevator, q.nomerges) = (elevator, 2);
        list(&mut cfg, (0..4).map(|n| write(0, 0, n * 2048, MIB)).collect());
        assert_eq!(most_in_a_zone(&run(cfg).trace), most, "{elevator:?}");
    }
}

/// kernel 4.3: what a picture and debugfs' zone_wlock are made of.
#[test]
fn section_4_3_locked_zones_are_seen() {
    let mut cfg = zone_lock(true);
    list(&mut cfg, vec![write(0, 3, 0, MIB), write(0, 1, 0, MIB), write(0, 1, 2048, MIB)]);
    let mut sim = Simulation::new(std::sync::Arc::new(cfg));
    sim.advance(1_000, u64::MAX, &mut ());
    let d = &sim.snapshot().devices[0];
    let zoned = d.zoned.as_ref().unwrap();
    assert_eq!(zoned.ordering, ZoneOrdering::ZoneLock);
    assert_eq!(zoned.locked.iter().map(|(zone, _)| *zone).collect::<Vec<_>>(), [SEQ + 1, SEQ + 3]);
    assert!(d.zone_wplugs.is_empty());
    sim.advance(u64::MAX, u64::MAX, &mut ());
    assert_eq!(sim.snapshot().devices[0].zoned.as_ref().unwrap().locked, []);
}

/// The cost of a run: each request it takes is at the driver `dispatch_ns` later than the one before; completions do not
/// wait for it.
#[test]
fn dispatch_takes_its_time() {
    for blocking in [false, true] {
        let mut cfg = zone_lock(true);
        (cfg.host.dispatch_ns, cfg.host.kblockd_ns) = (10_000, 70_000);
        let q = cfg.devices[0].queue.as_mut().unwrap();
        (q.nomerges, q.blocking) = (2, blocking);
        let mut reads: Vec<_> = (0..3).map(|n| write(0, n, 0, 8)).collect();
        for r in &mut reads {
            r.op = Op::Read;
        }
        list(&mut cfg, reads);
        let r = run(cfg);
        let issued: Vec<_> = r.of(Action::Issue).iter().map(|t| t.time).collect();
        // Without a plug each is inserted and leaves it to kblockd to run the queue.
        assert_eq!(issued, [80_000, 90_000, 100_000], "blocking: {blocking}");
    }
}

/// kernel 3.6: where the driver blocks, what a task inserts waits for kblockd; where not, its plug's flush runs the queue.
#[test]
fn section_3_6_a_blocking_driver_is_run_by_kblockd() {
    for (blocking, at) in [(false, 10_000), (true, 80_000)] {
        let mut cfg = config();
        (cfg.host.dispatch_ns, cfg.host.kblockd_ns) = (10_000, 70_000);
        cfg.devices[0].queue.as_mut().unwrap().blocking = blocking;
        list(&mut cfg, vec![write(0, 0, 0, 8)]);
        assert_eq!(run(cfg).of(Action::Issue)[0].time, at, "blocking: {blocking}");
    }
}

// ---- null_blk ----

/// The script of seed 001: one zone of 1 MiB, 4 KiB writes at depth 64 in batches of 16, memory backed.
fn script(elevator: ElevatorKind, ordering: ZoneOrdering, timer_ns: u64) -> SimConfig {
    let mut cfg = config();
    cfg.kernel.zone_ordering = ordering;
    cfg.kernel.plug.per_step = false;
    (cfg.host.submit_ns, cfg.host.dispatch_ns, cfg.host.kblockd_ns) = (SUBMIT, DISPATCH, KBLOCKD);
    let shape = ZoneShape {
        zone_sectors: 2048,
        capacity: 2048,
        nr_zones: 1,
        nr_conv: 0,
        max_open: 0,
        max_active: 0,
        append_max_sectors: 0,
    };
    cfg.devices[0] = DeviceConfig {
        name: "nullb0".into(),
        dev: (252, 0),
        queue: Some(QueueConfig {
            elevator,
            nr_requests: if elevator == ElevatorKind::None { 64 } else { 128 },
            async_depth: 128,
            queue_depth: 64,
            tag_alloc: TagAlloc::Hint,
            max_sectors: 8,
            block_bytes: 512,
            blocking: true,
            ..QueueConfig::default()
        }),
        kind: DeviceKind::NullBlk(NullBlkConfig {
            capacity: 2048,
            irqmode: NullIrq::Timer,
            completion_ns: timer_ns,
            memory_backed: true,
            zones: Some(ZonesConfig { shape, full: false, readonly: vec![], offline: vec![] }),
            ..NullBlkConfig::default()
        }),
        throttle: None,
    };
    fio(&mut cfg, FioZbdConfig { bs: 8, iodepth: 64, batch: 16, ..FioZbdConfig::default() });
    cfg.stop.runtime_ns = Some(400_000_000);
    cfg
}

/// Host costs that give the three figures of the seed at 100 us, ns.
const SUBMIT: u64 = 3_490;
const DISPATCH: u64 = 9_420;
const KBLOCKD: u64 = 77_700;

/// Writes a second.
fn iops(cfg: SimConfig) -> f64 {
    let r = run(cfg);
    let s = r.sim.stats();
    assert_eq!(s.nr_errors, 0);
    s.ios as f64 * 1e9 / (s.window_to - s.window_from.unwrap()) as f64
}

/// kernel 7.5 and section 11, rows 28 and 29: the three modes by their closed forms, per cycle of a zone (256 writes, the
/// last ones drained, a reset), whatever the timer is. None: a submitter's time a write, or the timer once for each 64.
/// Locked: the timer, kblockd and the dispatch of each. Pipelined: the dispatch of each, or for each 64 all of them.
#[test]
fn section_7_5_three_modes_by_their_closed_forms() {
    let [s, d, k] = [SUBMIT, DISPATCH, KBLOCKD].map(|ns| ns as f64);
    let modes = [
        (ElevatorKind::None, ZoneOrdering::ZoneLock, 234_000.0),
        (ElevatorKind::MqDeadline, ZoneOrdering::ZoneLock, 5_320.0),
        (ElevatorKind::MqDeadline, ZoneOrdering::Pipelined, 92_200.0),
    ];
    for timer in [10_000, 100_000, 1_000_000] {
        let t = timer as f64;
        let cycles = [
            f64::max(255.0 * s, 63.0 * s + 3.0 * t) + 2.0 * t,
            257.0 * (t + k + d),
            f64::max(256.0 * d, 64.0 * d + 3.0 * (t + k + d + s)) + d + 2.0 * (t + k),
        ];
        for ((elevator, ordering, published), cycle) in modes.into_iter().zip(cycles) {
            let (simulated, expected) = (iops(script(elevator, ordering, timer)), 256e9 / cycle);
            let near = |other: f64| (simulated / other - 1.0).abs() < 0.03;
            assert!(near(expected), "{timer} ns, {elevator:?}, {ordering:?}: {simulated} of {expected}");
            assert!(timer != 100_000 || near(published), "{simulated} of {published}");
        }
    }
}

/// A list of writes to the one zone of [`script`], 4 KiB blocks at times in ns.
fn blocks(cfg: &mut SimConfig, writes: &[(u64, u64)]) {
    cfg.stop.runtime_ns = None;
    cfg.jobs.clear();
    let at = |(at, block): &(u64, u64)| ListedBio { sector: block * 8, ..write(*at, 0, 0, 8) };
    list(cfg, writes.iter().map(at).collect());
}

/// Ends by sector: block and errno.
fn ends(r: &Run) -> Vec<(u64, u64)> {
    let mut ends: Vec<_> = r.of(Action::Complete).iter().map(|t| (t.sector / 8, t.arg)).collect();
    ends.sort_unstable();
    ends
}

/// kernel 7.4 and section 11, row 28: n writes in the wrong order need n - 1 retries at most, in any queue.
#[test]
fn section_7_4_misaligned_writes_are_tried_again() {
    for (elevator, dispatch_ns) in
        [ElevatorKind::None, ElevatorKind::MqDeadline].into_iter().flat_map(|e| [(e, 0), (e, DISPATCH)])
    {
        let mut cfg = script(elevator, ZoneOrdering::Pipelined, 100_000);
        (cfg.host.dispatch_ns, cfg.host.kblockd_ns) = (dispatch_ns, 0);
        blocks(&mut cfg, &[(0, 3), (30_000, 2), (60_000, 1), (90_000, 0), (120_000, 4)]);
        let r = run(cfg);
        assert_eq!(ends(&r), [(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)], "{elevator:?} {dispatch_ns}");
        let d = &r.sim.snapshot().devices[0];
        let retries = d.null_blk.as_ref().unwrap().retries;
        assert_eq!(r.of(Action::Requeue).len() as u64, retries, "each is requeued");
        assert!((3..=24).contains(&retries), "{retries}");
        assert!(d.dispatch.is_empty());
    }
}

/// kernel 7.4: max_attempts is nr_requests; a write that nothing makes right fails then. As posted, the status is taken for
/// the command's result: the first misaligned write ends with EBUSY.
#[test]
fn section_7_4_attempts_end() {
    let mut cfg = script(ElevatorKind::MqDeadline, ZoneOrdering::Pipelined, 100_000);
    cfg.devices[0].queue.as_mut().unwrap().nr_requests = 8;
    blocks(&mut cfg, &[(0, 3), (1_000, 0)]);
    let mut posted = cfg.clone();
    let r = run(cfg);
    assert_eq!(ends(&r), [(0, 0), (3, 5)]);
    assert_eq!(r.of(Action::Requeue).len(), 7, "the eighth attempt is the last");
    let DeviceKind::NullBlk(n) = &mut posted.devices[0].kind else { unreachable!() };
    n.as_posted = true;
    let r = run(posted);
    assert_eq!(ends(&r), [(0, 0), (3, 16)]);
    assert!(r.of(Action::Requeue).is_empty());
}

/// Report 1: mq-deadline, libaio iodepth=256 randwrite bs=1M size=16M zonemode=zbd zonesize=4M, max_sectors=255. A piece is
/// requeued, and where nobody orders the writes of a zone those behind it reach the device first: EIO, write pointer 0,
/// request at 255 and 510. A zone lock and zone write plugs keep them back.
#[test]
fn report_1_a_requeued_piece_is_overtaken() {
    for ordering in [ZoneOrdering::None, ZoneOrdering::ZoneLock, ZoneOrdering::Zwplug] {
        let mut cfg = script(ElevatorKind::MqDeadline, ordering, 10_000);
        (cfg.host.dispatch_ns, cfg.host.kblockd_ns) = (0, 0);
        let q = cfg.devices[0].queue.as_mut().unwrap();
        (q.max_sectors, q.blocking) = (255, false);
        let DeviceKind::NullBlk(n) = &mut cfg.devices[0].kind else { unreachable!() };
        n.capacity = 32_768;
        let shape = &mut n.zones.as_mut().unwrap().shape;
        (shape.zone_sectors, shape.capacity, shape.nr_zones) = (8192, 8192, 4);
        cfg.jobs.clear();
        let job = FioZbdConfig { rw: Rw::RandWrite, bs: 2048, iodepth: 256, zones: 4, ..FioZbdConfig::default() };
        fio(&mut cfg, FioZbdConfig { io_bytes: Some(16 << 20), ..job });
        let fault = FaultRule { dev: 0, sector: 0, nr_sectors: 8, from: 0, until: 1_000_000, status: BlkStatus::Again };
        cfg.faults.push(fault);
        cfg.stop.runtime_ns = None;
        let r = run(cfg);
        let first_zone: Vec<_> = r.of(Action::Issue).iter().filter(|t| t.sector < 8192).map(|t| t.sector).collect();
        assert!(!r.of(Action::Requeue).is_empty(), "{ordering:?}");
        let failed: Vec<_> = r.of(Action::Complete).into_iter().filter(|t| t.arg == 5).collect();
        match ordering {
            ZoneOrdering::None => {
                assert_eq!(first_zone[..3], [0, 255, 510], "D of the pieces behind the requeued one");
                assert!(failed.iter().any(|t| t.sector == 510), "unaligned: the write pointer is 0");
            }
            _ => assert!(failed.is_empty(), "{ordering:?}: {failed:?}"),
        }
    }
}
