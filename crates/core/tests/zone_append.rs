//! Zone appends (kernel 5.2): made writes by the zone write plug where the device knows none, past the plugs where it
//! does; what is refused before; where the data went.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::WplugView;
use bioscope_core::observe::trace::Action;
use bioscope_core::units::{BlkStatus, Op};
use common::*;

fn append(at: u64, z: u32, nr: u32) -> ListedBio {
    ListedBio { op: Op::ZoneAppend, ..write(at, z, 0, nr) }
}

/// Ends of what has data, in order: operation, zone counted from the first sequential one, offset in MiB, errno.
fn ends(r: &Run) -> Vec<(Op, u32, u64, u64)> {
    let ends = r.trace.iter().filter(|t| matches!(t.action, Action::Complete | Action::Fail));
    ends.filter(|t| !t.op.is_dataless())
        .map(|t| (t.op, (t.sector / ZONE) as u32 - SEQ, t.sector % ZONE / 2048, t.arg))
        .collect()
}

fn plug(r: &Run, z: u32) -> Option<WplugView> {
    r.sim.snapshot().devices[0].zone_wplugs.iter().find(|w| w.zone == SEQ + z).cloned()
}

/// Emulated: each is a write where the zone's plug stands when its turn comes; it is merged with nothing, and its C says
/// where the data went.
#[test]
fn section_5_2_zone_append_emulated() {
    for qd1 in [false, true] {
        let mut cfg = config();
        cfg.devices[0].queue.as_mut().unwrap().zoned_qd1_writes = qd1;
        list(&mut cfg, vec![append(0, 0, MIB), append(0, 0, 2 * MIB), write(10, 0, 3 * 2048, MIB), append(20, 0, MIB)]);
        let r = run(cfg);
        assert_eq!(r.issued(), [(0, 0, MIB), (0, 2048, 2 * MIB), (0, 3 * 2048, MIB), (0, 4 * 2048, MIB)]);
        let queued: Vec<_> = r.of(Action::Queue).iter().map(|t| (t.op, t.sector % ZONE)).collect();
        let (a, w) = (Op::ZoneAppend, Op::Write);
        assert_eq!(queued, [(a, 0), (a, 0), (w, 3 * 2048), (a, 0)], "a submitter names the zone only");
        assert_eq!(ends(&r), [0, 1, 3, 4].map(|mib| (w, 0, mib, 0)), "qd1: {qd1}");
        assert_eq!((r.of(Action::BackMerge).len(), r.sim.stats().nr_errors), (0, 0));
        assert_eq!(plug(&r, 0).unwrap().wp_offset, 5 * 2048);
    }
}

/// Emulated: a full zone refuses without the device, and so does a zone whose position is unknown.
#[test]
fn section_5_2_zone_append_emulated_fails_with_its_zone() {
    let mut cfg = config();
    cfg.faults.push(FaultRule {
        dev: 0,
        sector: u64::from(SEQ + 1) * ZONE,
        nr_sectors: 8,
        from: 0,
        until: u64::MAX,
        status: BlkStatus::Medium,
    });
    list(
        &mut cfg,
        vec![
            write(0, 0, 0, ZONE as u32 - MIB),
            append(1_000_000_000, 0, MIB),
            append(1_000_000_001, 0, MIB),
            append(2_000_000_000, 1, MIB),
            append(2_000_000_001, 1, MIB),
            append(3_000_000_000, 1, MIB),
        ],
    );
    let r = run(cfg);
    let all = ends(&r);
    let last = &all[all.len() - 5..];
    let (a, w) = (Op::ZoneAppend, Op::Write);
    assert_eq!(last, [(w, 0, 63, 0), (a, 0, 0, 5), (w, 1, 0, 61), (a, 1, 0, 5), (a, 1, 0, 5)]);
    assert!(plug(&r, 1).unwrap().need_wp_update);
}

/// Emulated: the position does not know the zone's capacity; the device refuses what passes it.
#[test]
fn section_5_2_zone_append_emulated_does_not_test_the_capacity() {
    let mut cfg = config();
    list(&mut cfg, vec![write(0, 0, 0, ZONE as u32 - MIB), append(1_000_000_000, 0, 2 * MIB)]);
    let r = run(cfg);
    assert_eq!(r.issued().last(), Some(&(0, ZONE - 2048, 2 * MIB)));
    assert_eq!(ends(&r).last(), Some(&(Op::Write, 0, 63, 5)));
    assert_eq!(plug(&r, 0), None, "full, as far as the plug knew");
}

/// What `submit_bio_noacct` refuses (kernel 1.2), and what a limit would have to split (1.3).
#[test]
fn section_5_2_zone_append_refusals() {
    let errno = |change: &dyn Fn(&mut SimConfig), bio: ListedBio| {
        let mut cfg = config();
        change(&mut cfg);
        list(&mut cfg, vec![bio]);
        cfg.jobs[0].bio_segment_bytes = 4096;
        let r = run(cfg);
        assert!(r.of(Action::Issue).is_empty());
        r.of(Action::Fail)[0].arg
    };
    let max_sectors = |n| move |cfg: &mut SimConfig| cfg.devices[0].queue.as_mut().unwrap().max_sectors = n;
    let not_zoned = |cfg: &mut SimConfig| cfg.devices[0] = capped(0, 0);
    assert_eq!(errno(&not_zoned, append(0, 0, 8)), 95, "EOPNOTSUPP: not zoned");
    assert_eq!(
        errno(&|_| {}, ListedBio { sector: u64::from(SEQ) * ZONE + 8, ..append(0, 0, 8) }),
        5,
        "not at the start"
    );
    assert_eq!(errno(&max_sectors(256), append(0, 0, 264)), 5, "EIO: above zone_append_max_bytes");
    assert_eq!(errno(&|_| {}, append(0, 0, 169 * 8)), 22, "EINVAL: 169 segments of 168");
    assert_eq!(errno(&|_| {}, ListedBio { sector: 0, ..append(0, 0, 8) }), 5, "a conventional zone");
    let old = |cfg: &mut SimConfig| cfg.kernel.zone_ordering = ZoneOrdering::ZoneLock;
    assert_eq!(errno(&old, append(0, 0, 8)), 5, "nobody emulates it: the limit is 0");
}

/// A null_blk that knows appends of up to 1 MiB; its zones are those of the disk.
fn native(cfg: &mut SimConfig) {
    let shape = ZoneShape {
        zone_sectors: ZONE,
        capacity: ZONE - 2048,
        nr_zones: 16,
        nr_conv: SEQ,
        max_open: 0,
        max_active: 0,
        append_max_sectors: 2048,
    };
    cfg.devices[0].kind = DeviceKind::NullBlk(NullBlkConfig {
        capacity: 16 * ZONE,
        irqmode: NullIrq::Timer,
        completion_ns: 100_000,
        zones: Some(ZonesConfig { shape, full: false, readonly: vec![], offline: vec![] }),
        ..NullBlkConfig::default()
    });
}

/// Native: no plug, any number of a zone at the device; where each went is in its C, and in the job's result.
#[test]
fn section_5_2_zone_append_native() {
    for elevator in [ElevatorKind::None, ElevatorKind::MqDeadline] {
        let mut cfg = config();
        native(&mut cfg);
        cfg.devices[0].queue.as_mut().unwrap().elevator = elevator;
        list(&mut cfg, (0..4).map(|n| append(n, 0, MIB)).collect());
        let r = run(cfg);
        let issued: Vec<_> = r.of(Action::Issue).iter().map(|t| (t.op, t.sector % ZONE)).collect();
        assert_eq!(issued, [(Op::ZoneAppend, 0); 4], "{elevator:?}");
        assert!(r.of(Action::Complete)[0].time > r.of(Action::Issue)[3].time, "all overlap");
        assert_eq!(ends(&r), [0, 1, 2, 3].map(|mib| (Op::ZoneAppend, 0, mib, 0)));
        assert!(r.sim.snapshot().devices[0].zone_wplugs.is_empty());
    }
}

/// Native: what is larger than the device takes is refused; what passes the zone's capacity fails in the device.
#[test]
fn section_5_2_zone_append_native_limits() {
    let mut cfg = config();
    native(&mut cfg);
    let mut bios: Vec<_> = (0..64).map(|n| append(n * 1_000, 0, MIB)).collect();
    bios.push(append(200_000, 1, MIB + 8));
    list(&mut cfg, bios);
    let r = run(cfg);
    let failed: Vec<_> = ends(&r).into_iter().filter(|e| e.3 != 0).collect();
    assert_eq!(failed, [(Op::ZoneAppend, 1, 0, 5), (Op::ZoneAppend, 0, 0, 5)]);
    assert_eq!(r.of(Action::Issue).len(), 64, "63 fit; one more is the device's to refuse");
}

/// Native: mixed with writes, the zone's plug is given up and what it holds aborted. Before 7.1 too, where a next write
/// gets a new plug; in 7.1 it fails while the old one is still used.
#[test]
fn section_5_2_zone_append_native_mixed_with_writes() {
    for removed in [ZwplugRemoved::Dead, ZwplugRemoved::Unhashed] {
        let mut cfg = config();
        native(&mut cfg);
        cfg.kernel.zwplug_removed = removed;
        cfg.devices[0].queue.as_mut().unwrap().nomerges = 2;
        let mut bios: Vec<_> = (0..3).map(|n| write(n, 0, n * 2048, MIB)).collect();
        bios.extend([append(10_000, 0, MIB), write(20_000, 0, 2 * 2048, MIB), write(900_000, 0, 3 * 2048, MIB)]);
        list(&mut cfg, bios);
        let r = run(cfg);
        let all = ends(&r);
        assert_eq!(all[..2], [(Op::Write, 0, 1, 5), (Op::Write, 0, 2, 5)], "{removed:?}: aborted");
        let (a, w) = (Op::ZoneAppend, Op::Write);
        let rest = match removed {
            ZwplugRemoved::Dead => vec![(w, 0, 2, 5), (w, 0, 0, 0), (a, 0, 1, 0), (w, 0, 3, 5)],
            ZwplugRemoved::Unhashed => vec![(w, 0, 0, 0), (a, 0, 1, 0), (w, 0, 2, 0), (w, 0, 3, 0)],
        };
        assert_eq!(all[2..], rest, "{removed:?}");
        assert_eq!(r.sim.bios_in_flight(), 0);
    }
}

/// Reset all: every plug's position is known again, and the plugs go.
#[test]
fn section_5_2_reset_all_marks_all_plugs() {
    let mut cfg = config();
    native(&mut cfg);
    let mut all = mgmt(1_000_000, 0, Op::ZoneResetAll);
    (all.sector, all.nowait) = (0, true);
    list(
        &mut cfg,
        vec![write(0, 0, 0, MIB), write(0, 1, 2048, MIB), write(0, 2, 0, MIB), all, write(2_000_000, 1, 0, MIB)],
    );
    let r = run(cfg);
    assert_eq!(ends(&r).last(), Some(&(Op::Write, 1, 0, 0)), "its position was unknown since an error");
    let plugs: Vec<_> = r.sim.snapshot().devices[0].zone_wplugs.iter().map(|w| (w.zone - SEQ, w.wp_offset)).collect();
    assert_eq!(plugs, [(1, 2048)]);
}

/// Write-zeroes is plugged as a write is, and merged with nothing.
#[test]
fn section_5_1_write_zeroes_is_plugged() {
    let mut cfg = config();
    native(&mut cfg);
    let zeroes = |at, mib: u64| ListedBio { op: Op::WriteZeroes, ..write(at, 0, mib * 2048, MIB) };
    list(&mut cfg, vec![write(0, 0, 0, MIB), zeroes(1, 1), zeroes(2, 2), write(3, 0, 3 * 2048, MIB), zeroes(4, 9)]);
    let r = run(cfg);
    let (w, z) = (Op::Write, Op::WriteZeroes);
    assert_eq!(ends(&r), [(w, 0, 0, 0), (z, 0, 1, 0), (z, 0, 2, 0), (w, 0, 3, 0), (z, 0, 9, 5)]);
    assert_eq!(r.of(Action::ZonePlug).len(), 4);
    assert_eq!(plug(&r, 0).unwrap().wp_offset, 4 * 2048);
}
