//! Zone write plugs by version (kernel 5.1, 5.2): the vectors of section 13 with a work that recovers from errors (6.10
//! to 6.12), and how a plug is removed (before 7.1).

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::WplugView;
use bioscope_core::observe::trace::Action;
use bioscope_core::units::{BlkStatus, Op};
use common::*;

/// 6.12.0: errors are recovered, plugs are unhashed.
fn v6_12() -> SimConfig {
    let mut cfg = config();
    cfg.kernel.zwplug_errors = ZwplugErrors::ErrorAutoRecover;
    cfg.kernel.zwplug_removed = ZwplugRemoved::Unhashed;
    cfg
}

fn queue(cfg: &mut SimConfig) -> &mut QueueConfig {
    cfg.devices[0].queue.as_mut().unwrap()
}

/// Offsets (in MiB) and errno of every completed or failed write, in order.
fn ends(r: &Run) -> Vec<(u64, u64)> {
    let ends = r.trace.iter().filter(|t| matches!(t.action, Action::Complete | Action::Fail) && t.op == Op::Write);
    ends.map(|t| (t.sector % ZONE / 2048, t.arg)).collect()
}

fn plug(r: &Run, z: u32) -> Option<WplugView> {
    r.sim.snapshot().devices[0].zone_wplugs.iter().find(|w| w.zone == SEQ + z).cloned()
}

fn bad(cfg: &mut SimConfig, offset: u64) {
    let sector = u64::from(SEQ) * ZONE + offset;
    cfg.faults.push(FaultRule { dev: 0, sector, nr_sectors: 8, from: 0, until: u64::MAX, status: BlkStatus::Medium });
}

/// "existing idle plug with wp_offset 8, write at offset 16": it waits in the plug for report zones, and fails then; the
/// next write at 8 succeeds.
#[test]
fn section_13_zone_plug_6_12_off_pointer_when_idle() {
    for qd1 in [false, true] {
        let mut cfg = v6_12();
        queue(&mut cfg).zoned_qd1_writes = qd1;
        let (off, next) = (write(900_000_000, 0, 16 * 2048, MIB), write(950_000_000, 0, 8 * 2048, MIB));
        list(&mut cfg, vec![write(0, 0, 0, 8 * MIB), off, next]);
        let issue_ns = cfg.host.issue_ns;
        let r = run(cfg);
        assert_eq!(ends(&r)[ends(&r).len() - 2..], [(16, 5), (8, 0)], "qd1: {qd1}");
        let failed = r.of(Action::Fail)[0].time;
        assert!(failed >= 900_000_000 + issue_ns, "by the work, not by its submitter: {failed}");
        let w = plug(&r, 0).unwrap();
        assert_eq!((w.need_wp_update, w.plugged, w.refs, w.wp_offset), (false, false, 1, 9 * 2048));
    }
}

/// "same case queued (zone busy, NOWAIT or QD1): only that write fails, write at 8 succeeds": so it does, at once behind
/// the recovery.
#[test]
fn section_13_zone_plug_6_12_off_pointer_when_queued() {
    for nowait in [false, true] {
        let mut cfg = v6_12();
        let at = if nowait { 900_000_000 } else { 1_000 };
        let off = ListedBio { nowait, ..write(at, 0, 16 * 2048, MIB) };
        list(&mut cfg, vec![write(0, 0, 0, 2 * MIB), off, write(at + 1_000, 0, 2 * 2048, MIB)]);
        let r = run(cfg);
        assert_eq!(ends(&r), [(0, 0), (16, 5), (2, 0)], "nowait: {nowait}");
        assert!(!plug(&r, 0).unwrap().need_wp_update);
    }
}

/// "first write of a zone without plug at offset 16 -> the device decides; if it rejects: EIO": what is queued is not
/// aborted but compared with the device's write pointer, and a next write at 0 succeeds without report zones by a user.
#[test]
fn section_13_zone_plug_6_12_the_device_decides() {
    let mut cfg = v6_12();
    let writes = [(0, 16), (1_000, 17), (2_000, 0), (3_000, 18), (4_000, 1)];
    list(&mut cfg, writes.iter().map(|(at, mib)| write(*at, 0, mib * 2048, MIB)).collect());
    queue(&mut cfg).nomerges = 2;
    let r = run(cfg);
    assert_eq!(r.issued(), [(0, 16 * 2048, MIB), (0, 0, MIB), (0, 2048, MIB)]);
    assert_eq!(ends(&r), [(16, 5), (17, 5), (18, 5), (0, 0), (1, 0)]);
    let w = plug(&r, 0).unwrap();
    assert_eq!((w.need_wp_update, w.plugged, w.refs, w.wp_offset), (false, false, 1, 2 * 2048));
}

/// kernel 5.1: a medium error leaves the write pointer where it was; the work finds that and goes on with what fits.
#[test]
fn section_5_1_6_12_recovers_and_goes_on() {
    for qd1 in [false, true] {
        let mut cfg = v6_12();
        bad(&mut cfg, 2048);
        queue(&mut cfg).nomerges = 2;
        queue(&mut cfg).zoned_qd1_writes = qd1;
        let mut writes: Vec<_> = (0..4).map(|n| write(n, 0, n * 2048, MIB)).collect();
        // Asked for again, beyond the fault's reach of one write.
        writes.push(write(900_000_000, 0, 2048, MIB));
        cfg.faults[0].until = 900_000_000;
        list(&mut cfg, writes);
        let r = run(cfg);
        assert_eq!(ends(&r), [(0, 0), (1, 61), (2, 5), (3, 5), (1, 0)], "qd1: {qd1}");
        assert_eq!((r.sim.stats().nr_errors, r.sim.bios_in_flight()), (3, 0));
    }
}

/// A reset that comes before the work leaves nothing behind.
#[test]
fn a_reset_clears_an_error_before_the_work_does() {
    let mut cfg = v6_12();
    cfg.host.issue_ns = 800_000_000;
    bad(&mut cfg, 0);
    cfg.faults[0].until = 1_000;
    list(&mut cfg, vec![write(0, 0, 0, MIB), mgmt(1_000_000, 0, Op::ZoneReset), write(700_000_000, 0, 0, MIB)]);
    let r = run(cfg);
    assert_eq!(ends(&r), [(0, 61), (0, 0)]);
    let w = plug(&r, 0).unwrap();
    assert_eq!((w.plugged, w.refs), (false, 1));
}

/// kernel 5.2: a plug that is full, or reset, is removed when nobody else uses it; until then it stays as it is, and a
/// stale listing of the worker makes nobody fail (step 3 is of 7.1).
#[test]
fn section_5_1_unhashed_plugs_refuse_nobody() {
    for removed in [ZwplugRemoved::Unhashed, ZwplugRemoved::Dead] {
        let mut cfg = config();
        cfg.kernel.zwplug_removed = removed;
        queue(&mut cfg).zoned_qd1_writes = true;
        queue(&mut cfg).nomerges = 2;
        list(
            &mut cfg,
            vec![
                write(0, 0, 0, MIB),
                write(40_000, 1, 0, 48 * MIB),
                write(50_000, 0, 2048, MIB),
                mgmt(6_000_000, 0, Op::ZoneReset),
                write(330_000_000, 0, 0, MIB),
            ],
        );
        let r = run(cfg);
        assert_eq!(r.sim.stats().nr_errors, u64::from(removed == ZwplugRemoved::Dead));
        assert_eq!(plug(&r, 0).is_some(), removed == ZwplugRemoved::Unhashed);
    }
}

/// The plugs of full and of reset zones go in every version.
#[test]
fn plugs_of_full_and_empty_zones_are_removed() {
    for removed in [ZwplugRemoved::Unhashed, ZwplugRemoved::Dead] {
        for errors in [ZwplugErrors::ErrorAutoRecover, ZwplugErrors::NeedWpUpdate] {
            let mut cfg = config();
            (cfg.kernel.zwplug_removed, cfg.kernel.zwplug_errors) = (removed, errors);
            let reset = mgmt(900_000_000, 1, Op::ZoneReset);
            list(&mut cfg, vec![write(0, 0, 0, ZONE as u32), write(800_000_000, 1, 0, MIB), reset]);
            let r = run(cfg);
            assert!(r.sim.snapshot().devices[0].zone_wplugs.is_empty(), "{removed:?} {errors:?}");
            assert_eq!(r.sim.stats().nr_errors, 0);
        }
    }
}
