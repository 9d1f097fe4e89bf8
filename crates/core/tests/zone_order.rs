//! Who keeps the writes of a zone in order: the lock of old kernels, nobody, the driver.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::Simulation;
use bioscope_core::units::Op;
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
