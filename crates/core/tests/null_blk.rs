//! null_blk (kernel 7).

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::ZoneCond;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::Simulation;
use bioscope_core::units::{BlkStatus, Op};
use common::{Run, config, list, run};
use std::sync::Arc;

/// Sectors of a zone: 1 MiB.
const ZONE: u64 = 2048;

fn zones() -> ZonesConfig {
    let shape = ZoneShape {
        zone_sectors: ZONE,
        capacity: ZONE,
        nr_zones: 16,
        nr_conv: 1,
        max_open: 0,
        max_active: 0,
        append_max_sectors: 2048,
    };
    ZonesConfig { shape, full: false, readonly: vec![], offline: vec![] }
}

fn null_blk() -> NullBlkConfig {
    NullBlkConfig {
        capacity: 16 * ZONE,
        irqmode: NullIrq::Timer,
        completion_ns: 100_000,
        zones: Some(zones()),
        ..NullBlkConfig::default()
    }
}

/// A null_blk without scheduler, 64 tags; nobody orders zone writes.
fn with(n: NullBlkConfig) -> SimConfig {
    let mut cfg = config();
    cfg.kernel.zone_ordering = ZoneOrdering::None;
    let d = &mut cfg.devices[0];
    d.name = "nullb0".into();
    d.kind = DeviceKind::NullBlk(n);
    d.queue = Some(QueueConfig {
        elevator: ElevatorKind::None,
        nr_requests: 64,
        queue_depth: 64,
        tag_alloc: TagAlloc::Hint,
        nomerges: 2,
        block_bytes: 512,
        ..QueueConfig::default()
    });
    cfg
}

fn bio(at: u64, op: Op, sector: u64, nr_sectors: u32) -> ListedBio {
    ListedBio { at, op, sector, nr_sectors, nowait: false, preflush: false, fua: false }
}

fn of(run: &Run, action: Action) -> Vec<TraceRecord> {
    run.of(action)
}

/// Errnos of the completions in the order of their sectors.
fn errnos(run: &Run) -> Vec<(u64, u64)> {
    let mut all: Vec<_> = of(run, Action::Complete).iter().map(|r| (r.sector, r.arg)).collect();
    all.sort_unstable();
    all
}

#[test]
fn section_13_null_blk_64_writes_overlap() {
    let mut cfg = with(null_blk());
    list(&mut cfg, (0..64).map(|n| bio(n * 500, Op::Write, ZONE + n * 8, 8)).collect());
    let run = run(cfg);
    let (queued, done) = (of(&run, Action::Queue), of(&run, Action::Complete));
    assert_eq!((queued.len(), done.len()), (64, 64));
    for q in queued {
        let c = done.iter().find(|c| c.sector == q.sector).unwrap();
        assert_eq!((c.time - q.time, c.arg), (100_000, 0), "sector {}", q.sector);
    }
    assert_eq!(run.sim.report_zone(1).wp, ZONE + 64 * 8);
}

trait Report {
    fn report_zone(&self, zone: u32) -> bioscope_core::sim::ZoneReport;
}

impl Report for Simulation {
    fn report_zone(&self, zone: u32) -> bioscope_core::sim::ZoneReport {
        self.clone().report_zones(0, zone, 1, &mut ())[0]
    }
}

#[test]
fn section_7_2_irqmodes_only_decide_when() {
    let times = [(NullIrq::None, 0), (NullIrq::Softirq, 0), (NullIrq::Timer, 100_000)];
    for (irqmode, ns) in times {
        let mut cfg = with(NullBlkConfig { irqmode, ..null_blk() });
        list(&mut cfg, (0..40).map(|n| bio(0, Op::Write, ZONE + n * 8, 8)).collect());
        let run = run(cfg);
        assert!(of(&run, Action::Complete).iter().all(|c| (c.time, c.arg) == (ns, 0)), "{irqmode:?}");
        assert_eq!(of(&run, Action::Complete).len(), 40);
    }
}

#[test]
fn section_7_2_the_write_pointer_is_looked_at_on_submission() {
    // In order, then one too far, one behind, and one past the end of what is left.
    let mut cfg = with(null_blk());
    let offsets = [0, 8, 24, 8, 16];
    list(&mut cfg, (0..).zip(offsets).map(|(n, o)| bio(n, Op::Write, ZONE + o, 8)).collect());
    let run = run(cfg);
    let by_time: Vec<_> = of(&run, Action::Complete).iter().map(|c| c.arg).collect();
    assert_eq!(by_time, [0, 0, 5, 5, 0]);
    assert_eq!(run.sim.report_zone(1).wp, ZONE + 24);
}

#[test]
fn section_7_1_zone_attributes() {
    let mut z = zones();
    z.shape.capacity = 1024;
    z.readonly = vec![3];
    z.offline = vec![4];
    z.full = true;
    let mut cfg = with(NullBlkConfig { zones: Some(z), irqmode: NullIrq::None, ..null_blk() });
    let ops = vec![
        bio(0, Op::Write, 512, 8),             // conventional: anywhere
        bio(1, Op::Write, ZONE, 8),            // full
        bio(2, Op::ZoneReset, 2 * ZONE, 0),    // empty again
        bio(3, Op::Write, 2 * ZONE, 1024),     // up to the capacity
        bio(4, Op::Write, 2 * ZONE + 1024, 8), // beyond
        bio(5, Op::Read, 2 * ZONE + 1024, 8),  // reads are unconstrained
        bio(6, Op::Write, 3 * ZONE, 8),        // read-only
        bio(7, Op::Read, 3 * ZONE, 8),
        bio(8, Op::Read, 4 * ZONE, 8), // offline
        bio(9, Op::ZoneReset, 4 * ZONE, 0),
    ];
    list(&mut cfg, ops);
    let run = run(cfg);
    let args: Vec<_> = of(&run, Action::Complete).iter().map(|c| c.arg).collect();
    assert_eq!(args, [0, 5, 0, 0, 5, 0, 5, 0, 5, 5]);
    let conds = [0, 1, 2, 3, 4, 5].map(|n| run.sim.report_zone(n).cond);
    use ZoneCond::*;
    assert_eq!(conds, [NotWp, Full, Full, ReadOnly, Offline, Full]);
}

#[test]
fn section_7_1_open_and_active_limits() {
    let mut z = zones();
    z.shape.max_open = 2;
    z.shape.max_active = 3;
    let mut cfg = with(NullBlkConfig { zones: Some(z), irqmode: NullIrq::None, ..null_blk() });
    let ops: Vec<_> = (1..=4).map(|n| bio(n, Op::Write, n * ZONE, 8)).collect();
    let more = vec![bio(5, Op::ZoneOpen, 2 * ZONE, 0), bio(6, Op::ZoneOpen, 3 * ZONE, 0)];
    list(&mut cfg, [ops, more, vec![bio(7, Op::Write, ZONE + 8, 8)]].concat());
    let run = run(cfg);
    let args: Vec<_> = of(&run, Action::Complete).iter().map(|c| c.arg).collect();
    // The third write closed zone 1; the fourth would be a fourth active zone. Two are open explicitly then.
    assert_eq!(args, [0, 0, 0, 75, 0, 0, 109]);
    let view = run.sim.snapshot().devices[0].zoned.clone().unwrap();
    assert_eq!((view.nr_open, view.nr_active, view.implicit_closes), (2, 3, 1));
    assert_eq!((view.max_open, view.max_active, view.nr_zones, view.nr_conv), (2, 3, 16, 1));
    let conds: Vec<_> = view.zones.iter().map(|z| (z.zone, z.cond, z.wp_offset)).collect();
    let expected =
        [(1, ZoneCond::Closed, 8), (2, ZoneCond::ExpOpen, 8), (3, ZoneCond::ExpOpen, 8), (4, ZoneCond::Empty, 0)];
    assert_eq!(conds, expected);
}

#[test]
fn section_7_1_mbps_is_a_budget_of_50_ticks_a_second() {
    // 10 MiB/s are 209,710 bytes a tick: three writes of 64 KiB, not four.
    let mut cfg = with(NullBlkConfig { mbps: 10, irqmode: NullIrq::None, zones: None, ..null_blk() });
    list(&mut cfg, (0..32).map(|n| bio(0, Op::Write, n * 128, 128)).collect());
    let run = run(cfg);
    let done = of(&run, Action::Complete);
    assert_eq!(done.len(), 32);
    for (n, c) in (0..).zip(&done) {
        assert_eq!((c.time, c.arg), (n / 3 * 20_000_000, 0), "write {n}");
    }
    // Refused before it was started: no D, but R, once for each time the queue was stopped.
    assert_eq!(of(&run, Action::Issue).len(), 32);
    assert_eq!(of(&run, Action::Requeue).len(), 10);
    assert!(run.sim.next_time().is_none());
}

/// The driver would refill for ever; what no budget is enough for has stood still for a minute, and that is the end.
#[test]
fn section_7_1_a_request_larger_than_the_budget_of_mbps_stands_still() {
    let mut cfg = with(NullBlkConfig { mbps: 1, irqmode: NullIrq::None, zones: None, ..null_blk() });
    list(&mut cfg, vec![bio(0, Op::Write, 0, 40), bio(1, Op::Write, 128, 41)]);
    let run = run(cfg);
    assert_eq!(of(&run, Action::Complete).len(), 1);
    assert_eq!((run.sim.bios_in_flight(), run.sim.next_time()), (1, None));
    assert_eq!(run.sim.now() / 1_000_000_000, 60);
}

#[test]
fn section_7_1_zone_append_lands_at_the_write_pointer() {
    let mut cfg = with(null_blk());
    list(&mut cfg, (0..10).map(|n| bio(n, Op::ZoneAppend, 2 * ZONE, 16)).collect());
    let run = run(cfg);
    let places: Vec<_> = of(&run, Action::Complete).iter().map(|c| (c.sector, c.arg)).collect();
    assert_eq!(places, (0..10).map(|n| (2 * ZONE + n * 16, 0)).collect::<Vec<_>>());
}

#[test]
fn section_7_1_bad_blocks_leave_the_write_pointer() {
    let mut cfg = with(null_blk());
    let bad =
        FaultRule { dev: 0, sector: ZONE + 8, nr_sectors: 8, from: 0, until: 1_000_000, status: BlkStatus::Medium };
    cfg.faults.push(bad);
    let writes = [(0, 0), (1, 8), (2, 16), (1_000_000, 8)];
    list(&mut cfg, writes.map(|(at, o)| bio(at, Op::Write, ZONE + o, 8)).to_vec());
    let run = run(cfg);
    let done: Vec<_> = of(&run, Action::Complete).iter().map(|c| (c.time, c.arg)).collect();
    // With the timer like any other; the next one is misaligned then.
    assert_eq!(done, [(100_000, 0), (100_001, 61), (100_002, 5), (1_100_000, 0)]);
}

/// Pipelined zone writes: max_attempts is nr_requests.
fn pipelined(n: NullBlkConfig, offsets: &[u64]) -> Run {
    let mut cfg = with(n);
    cfg.kernel.zone_ordering = ZoneOrdering::Pipelined;
    list(&mut cfg, (0..).zip(offsets).map(|(n, o)| bio(n, Op::Write, ZONE + o, 8)).collect());
    run(cfg)
}

#[test]
fn section_11_row_28_misaligned_writes_are_tried_again_until_they_fit() {
    for offsets in [&[8, 0][..], &[24, 16, 8, 0], &[16, 0, 24, 8, 40, 32]] {
        let run = pipelined(null_blk(), offsets);
        assert!(errnos(&run).iter().all(|(_, errno)| *errno == 0), "{offsets:?}");
        let view = run.sim.snapshot().devices[0].null_blk.clone().unwrap();
        let back = of(&run, Action::Requeue).len() as u64;
        assert!(view.retries > 0 && view.retries == back, "{offsets:?}: {} of {back}", view.retries);
        assert_eq!(view.recent.iter().map(|t| u64::from(t.retries)).sum::<u64>(), back);
        assert_eq!(run.sim.report_zone(1).wp, ZONE + offsets.len() as u64 * 8);
    }
}

#[test]
fn section_11_row_28_attempts_end() {
    // Nobody ever writes what is missing.
    let run = pipelined(null_blk(), &[0, 16]);
    assert_eq!(errnos(&run), [(ZONE, 0), (ZONE + 16, 5)]);
    // nr_requests is 64: given back 63 times, then it fails.
    assert_eq!(run.sim.snapshot().devices[0].null_blk.clone().unwrap().retries, 63);
    // A full zone is no question of order.
    let mut z = zones();
    z.full = true;
    let run = pipelined(NullBlkConfig { zones: Some(z), ..null_blk() }, &[0]);
    assert_eq!((errnos(&run), of(&run, Action::Requeue).len()), (vec![(ZONE, 5)], 0));
}

#[test]
fn section_11_row_28_as_posted_they_complete_with_ebusy() {
    let run = pipelined(NullBlkConfig { as_posted: true, ..null_blk() }, &[8, 0]);
    assert_eq!(errnos(&run), [(ZONE, 0), (ZONE + 8, 16)]);
    assert_eq!(of(&run, Action::Requeue).len(), 0);
}

#[test]
fn the_view_has_what_is_due_and_the_last_that_are_done() {
    let mut cfg = with(null_blk());
    list(&mut cfg, (0..200).map(|n| bio(n * 2_000, Op::Write, ZONE + n * 8, 8)).collect());
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut view = |until| {
        sim.advance(until, u64::MAX, &mut ());
        sim.snapshot().devices[0].null_blk.clone().unwrap()
    };
    let v = view(50_000);
    assert_eq!((v.commands.len(), v.recent.len(), v.budget), (26, 0, None));
    assert_eq!((v.commands[3].from, v.commands[3].until, v.commands[3].tag), (6_000, 106_000, 3));
    let v = view(250_000);
    assert_eq!((v.commands.len(), v.recent.len()), (50, 64));
    assert_eq!(v.recent[63].until, 250_000);
    assert!(v.recent.iter().chain(&v.commands).is_sorted_by_key(|t| t.cmd.sector));
    let v = view(u64::MAX);
    assert_eq!((v.commands.len(), v.recent.len()), (0, 64));
}
