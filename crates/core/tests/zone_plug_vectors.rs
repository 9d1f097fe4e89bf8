//! The golden vectors of kernel section 13 about zone write plugs, and the rules of 5.2 and 5.3 around them.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::ZoneCond;
use bioscope_core::observe::trace::Action;
use bioscope_core::units::{BlkStatus, Op};
use common::*;

fn qd1(cfg: &mut SimConfig) {
    cfg.devices[0].queue.as_mut().unwrap().zoned_qd1_writes = true;
}

fn nomerges(cfg: &mut SimConfig) {
    cfg.devices[0].queue.as_mut().unwrap().nomerges = 2;
}

/// Offsets (in MiB) and errno of every completed or failed write, in order.
fn ends(r: &Run) -> Vec<(u64, u64)> {
    r.trace
        .iter()
        .filter(|t| matches!(t.action, Action::Complete | Action::Fail) && t.op == Op::Write)
        .map(|t| (t.sector % ZONE / 2048, t.arg))
        .collect()
}

fn plug(r: &Run, z: u32) -> Option<bioscope_core::observe::snapshot::WplugView> {
    r.sim.snapshot().devices[0].zone_wplugs.iter().find(|w| w.zone == SEQ + z).cloned()
}

/// "existing idle plug with wp_offset 8, write at offset 16 -> EIO without device access, NEED_WP_UPDATE set, next
/// write at 8 also EIO"
#[test]
fn section_13_zone_plug_off_pointer_when_idle() {
    let mut cfg = config();
    list(
        &mut cfg,
        vec![write(0, 0, 0, 8 * MIB), write(900_000_000, 0, 16 * 2048, MIB), write(950_000_000, 0, 8 * 2048, MIB)],
    );
    let r = run(cfg);
    // 8 MiB leave as 4 MiB pieces.
    assert_eq!(r.issued(), [(0, 0, 8192), (0, 8192, 8192)]);
    assert_eq!(ends(&r), [(0, 0), (4, 0), (16, 5), (8, 5)]);
    assert!(plug(&r, 0).unwrap().need_wp_update);
    assert_eq!(r.sim.stats().nr_errors, 2);
}

/// "same case queued (zone busy, NOWAIT or QD1): only that write fails, write at 8 succeeds"
#[test]
fn section_13_zone_plug_off_pointer_when_queued() {
    for (name, change) in [("busy", None), ("qd1", Some(qd1 as fn(&mut SimConfig)))] {
        let mut cfg = config();
        if let Some(change) = change {
            change(&mut cfg);
        }
        let at = if name == "busy" { 1_000 } else { 900_000_000 };
        list(
            &mut cfg,
            vec![write(0, 0, 0, 2 * MIB), write(at, 0, 16 * 2048, MIB), write(at + 1_000, 0, 2 * 2048, MIB)],
        );
        let r = run(cfg);
        assert_eq!(ends(&r).iter().filter(|(_, e)| *e != 0).collect::<Vec<_>>(), [&(16, 5)], "{name}");
        assert_eq!(r.issued().last(), Some(&(0, 2 * 2048, MIB)), "{name}");
        assert!(!plug(&r, 0).unwrap().need_wp_update, "{name}");
    }
    let mut cfg = config();
    let mut off = write(900_000_000, 0, 16 * 2048, MIB);
    off.nowait = true;
    list(&mut cfg, vec![write(0, 0, 0, 8 * MIB), off, write(950_000_000, 0, 8 * 2048, MIB)]);
    let r = run(cfg);
    assert_eq!(ends(&r), [(0, 0), (4, 0), (16, 5), (8, 0)], "nowait");
}

/// "first write of a zone without plug at offset 16 -> plug created with wp_offset 16, the device decides; if it
/// rejects: EIO, queued bios aborted, NEED_WP_UPDATE, next write EIO until report zones/reset/finish"
#[test]
fn section_13_zone_plug_without_plug_the_device_decides() {
    let mut cfg = config();
    list(
        &mut cfg,
        vec![
            write(0, 0, 16 * 2048, MIB),
            write(1_000, 0, 17 * 2048, MIB),
            write(2_000, 0, 18 * 2048, MIB),
            write(5_000_000, 0, 0, MIB),
        ],
    );
    let mut r = run(cfg.clone());
    assert_eq!(r.issued(), [(0, 16 * 2048, MIB)], "only the first reached the device");
    let mut all = ends(&r);
    all.sort();
    assert_eq!(all, [(0, 5), (16, 5), (17, 5), (18, 5)]);
    let w = plug(&r, 0).unwrap();
    assert!(w.need_wp_update && w.bios.is_empty() && w.refs == 1);
    // Report zones gives the position back.
    let zones = r.sim.report_zones(0, SEQ, 1, &mut ());
    assert_eq!((zones[0].cond, zones[0].wp), (ZoneCond::Empty, zones[0].start));
    let w = plug(&r, 0).unwrap();
    assert!(!w.need_wp_update && w.wp_offset == 0);
    // So does a reset: the plug goes, the next write succeeds.
    let WorkloadConfig::List(bios) = &mut cfg.jobs[0].workload else { unreachable!() };
    bios.push(mgmt(10_000_000, 0, Op::ZoneReset));
    bios.push(write(900_000_000, 0, 0, MIB));
    let r = run(cfg);
    assert_eq!(ends(&r).last(), Some(&(0, 0)));
}

/// "in-flight write, then four 1 MiB sequential bios queued, max_sectors 4 MiB -> on completion one 4 MiB request is
/// issued; with nomerges=2 four requests"
#[test]
fn section_13_zone_plug_merging() {
    let bios = || (0..5).map(|i| write(u64::from(i) * 100, 0, u64::from(i * MIB), MIB)).collect::<Vec<_>>();
    let mut cfg = config();
    list(&mut cfg, bios());
    let r = run(cfg);
    assert_eq!(r.issued(), [(0, 0, MIB), (0, 2048, 4 * MIB)]);
    assert_eq!(r.of(Action::BackMerge).len(), 3);
    let mut cfg = config();
    nomerges(&mut cfg);
    list(&mut cfg, bios());
    assert_eq!(run(cfg).issued().len(), 5);
}

/// "bios queued A1 B1 A2 C1 B2 while the worker is busy with A1 -> order A1, A2, B1, B2, C1; requests A1, A2, B1+B2,
/// C1 if contiguous and mergeable, five with nomerges=2"
#[test]
fn section_13_qd1() {
    let (a, b, c) = (0, 1, 2);
    let bios = || {
        vec![
            write(0, a, 0, MIB),
            write(40_000, b, 0, MIB),
            write(41_000, a, 2048, MIB),
            write(42_000, c, 0, MIB),
            write(43_000, b, 2048, MIB),
        ]
    };
    let mut cfg = config();
    qd1(&mut cfg);
    list(&mut cfg, bios());
    let r = run(cfg);
    assert_eq!(r.issued(), [(a, 0, MIB), (a, 2048, MIB), (b, 0, 2 * MIB), (c, 0, MIB)]);
    let mut cfg = config();
    qd1(&mut cfg);
    nomerges(&mut cfg);
    list(&mut cfg, bios());
    let order: Vec<_> = run(cfg).issued().iter().map(|(z, o, _)| (*z, *o)).collect();
    assert_eq!(order, [(a, 0), (a, 2048), (b, 0), (b, 2048), (c, 0)]);
}

/// 5.3: an arrival during a visit lists the plug again; the later visit finds it empty and costs nothing.
#[test]
fn qd1_relists_a_zone_that_is_being_served() {
    let mut cfg = config();
    qd1(&mut cfg);
    list(&mut cfg, vec![write(0, 0, 0, MIB), write(40_000, 0, 2048, MIB)]);
    let mut sim = bioscope_core::sim::Simulation::new(std::sync::Arc::new(cfg));
    sim.advance(60_000, u64::MAX, &mut ());
    let d = &sim.snapshot().devices[0];
    let w = &d.zone_wplugs[0];
    // hash, two bios, one request, the visit's listing and the new one
    assert_eq!((w.refs, w.listed, w.bios.len()), (6, true, 1));
    assert_eq!(d.zone_wplugs_list, [SEQ]);
    sim.advance(u64::MAX, u64::MAX, &mut ());
    let d = &sim.snapshot().devices[0];
    assert_eq!((d.zone_wplugs[0].refs, d.zone_wplugs[0].plugged, d.zone_wplugs_list.len()), (1, false, 0));
}

/// 5.3: the first write is queued too, and goes out after the worker woke.
#[test]
fn qd1_never_issues_from_the_submitter() {
    let mut cfg = config();
    qd1(&mut cfg);
    list(&mut cfg, vec![write(0, 0, 0, MIB)]);
    let r = run(cfg);
    assert_eq!(r.of(Action::Issue)[0].time, HostCosts::default().worker_wake_ns);
    assert_eq!((r.of(Action::ZonePlug).len(), r.of(Action::Plug).len()), (1, 0));
}

/// A write to a full zone without plug: the device decides (5.3 "non-FULL").
#[test]
fn a_full_zone_refuses_in_the_device_when_it_has_no_plug() {
    for on in [false, true] {
        let mut cfg = config();
        cfg.devices[0].queue.as_mut().unwrap().zoned_qd1_writes = on;
        list(&mut cfg, vec![write(0, 0, 0, ZONE as u32), write(5_000_000_000, 0, 0, MIB)]);
        let r = run(cfg);
        assert_eq!(r.issued().last(), Some(&(0, 0, MIB)), "it was issued");
        assert_eq!(ends(&r).last(), Some(&(0, 5)));
        let w = plug(&r, 0).unwrap();
        assert!(w.need_wp_update && w.refs == 1);
    }
}

/// A write beyond the end of a zone that is being filled: it is queued, and fails alone when its turn comes.
#[test]
fn a_write_queued_behind_the_last_one_of_a_zone_fails_without_the_device() {
    let mut cfg = config();
    let end = ZONE - 2048;
    list(
        &mut cfg,
        vec![write(0, 0, 0, end as u32), write(1_000_000_000, 0, end, MIB), write(1_000_000_001, 0, 0, MIB)],
    );
    let r = run(cfg);
    assert_eq!(ends(&r)[ends(&r).len() - 2..], [(end / 2048, 0), (0, 5)]);
    assert_eq!(plug(&r, 0), None, "a full zone's plug is freed");
}

/// 5.2: an error from the device aborts what is queued and leaves the position unknown.
#[test]
fn a_device_error_aborts_the_plugged_bios() {
    for on in [false, true] {
        let mut cfg = config();
        let q = cfg.devices[0].queue.as_mut().unwrap();
        q.zoned_qd1_writes = on;
        q.nomerges = 2;
        cfg.faults.push(FaultRule {
            dev: 0,
            sector: u64::from(SEQ) * ZONE + 2048,
            nr_sectors: 8,
            from: 0,
            until: u64::MAX,
            status: BlkStatus::Medium,
        });
        list(&mut cfg, (0..6).map(|i| write(u64::from(i) * 10, 0, u64::from(i * MIB), MIB)).collect());
        let r = run(cfg);
        assert_eq!(ends(&r), [(0, 0), (1, 61), (2, 5), (3, 5), (4, 5), (5, 5)], "zoned_qd1_writes={on}");
        assert_eq!(r.issued().len(), 2);
        let w = plug(&r, 0).unwrap();
        assert!(w.need_wp_update && !w.plugged && !w.listed && w.refs == 1);
        assert_eq!(r.sim.bios_in_flight(), 0);
    }
}

/// 5.2 step 3: a stale listing keeps a dead plug alive; a legal write then fails, unless the later fix revives it.
#[test]
fn a_dead_plug_refuses_until_the_worker_came_by() {
    for revive in [false, true] {
        let mut cfg = config();
        qd1(&mut cfg);
        nomerges(&mut cfg);
        cfg.kernel.dead_plug_revive = revive;
        // While zone 0 is served, zone 1 is listed, then zone 0 again. The worker leaves for zone 1 and is busy there
        // while zone 0 is reset and written from its start: its plug is only kept by the stale listing.
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
        let last = r.trace.iter().rfind(|t| t.op == Op::Write && t.sector == u64::from(SEQ) * ZONE).unwrap();
        assert_eq!(last.action, if revive { Action::Transfer } else { Action::Fail });
        assert_eq!(r.sim.stats().nr_errors, u64::from(!revive));
    }
}

/// 5.2: reset and finish make the plug's position known and free it.
#[test]
fn reset_and_finish_free_the_plug() {
    for op in [Op::ZoneReset, Op::ZoneFinish] {
        let mut cfg = config();
        list(&mut cfg, vec![write(0, 0, 0, MIB), mgmt(1_000_000_000, 0, op)]);
        let mut r = run(cfg);
        assert_eq!(plug(&r, 0), None);
        let zone = r.sim.report_zones(0, SEQ, 1, &mut ())[0];
        let expected =
            if op == Op::ZoneReset { (ZoneCond::Empty, zone.start) } else { (ZoneCond::Full, zone.start + ZONE) };
        assert_eq!((zone.cond, zone.wp), expected);
    }
}

/// 5.2: on a conventional zone reset fails, writes pass without a plug.
#[test]
fn conventional_zones_have_no_plugs() {
    let mut cfg = config();
    let mut conventional = write(0, 0, 0, MIB);
    conventional.sector = 5 * 2048;
    let mut reset = mgmt(1_000, 0, Op::ZoneReset);
    reset.sector = 0;
    list(&mut cfg, vec![conventional, reset]);
    let r = run(cfg);
    assert_eq!(r.sim.snapshot().devices[0].zone_wplugs.len(), 0);
    assert_eq!((r.sim.stats().total_ios, r.sim.stats().nr_errors), (1, 1));
}

/// 10.1: the letters of a write that goes straight through, of one that waits in a plug, and of one the worker issues.
#[test]
fn section_10_1_letters() {
    let letters = |r: &Run, bio: u32| -> String {
        let l: Vec<_> =
            r.trace.iter().filter(|t| t.bio == bio && (t.action as u8) < 32).map(|t| t.action.letter()).collect();
        l.join(" ")
    };
    let mut cfg = config();
    nomerges(&mut cfg);
    list(&mut cfg, vec![write(0, 0, 0, MIB), write(100, 0, 2048, MIB)]);
    let r = run(cfg.clone());
    assert_eq!(letters(&r, 1), "Q G P U I D C");
    assert_eq!(letters(&r, 2), "Q ZP ZU G I D C");
    cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::None;
    let r = run(cfg.clone());
    assert_eq!(letters(&r, 1), "Q G P U D C");
    qd1(&mut cfg);
    assert_eq!(letters(&run(cfg), 1), "Q ZP ZU G D C");
}

/// Live: zoned_qd1_writes flips with the queue frozen; what was plugged drains first, what comes meanwhile waits.
#[test]
fn a_live_flip_freezes_the_queue() {
    let mut cfg = config();
    list(&mut cfg, (0..40).map(|i| write(u64::from(i) * 1_000_000, i % 4, u64::from(i / 4 * MIB), MIB)).collect());
    cfg.changes.push(Change { at: 10_000_000, dev: 0, setting: Setting::ZonedQd1Writes(true) });
    let r = run(cfg);
    let flip = r.of(Action::Change)[0].time;
    assert!(flip > 10_000_000 && r.sim.stats().frozen_ns == flip - 10_000_000);
    let during = |a: Action| r.of(a).iter().filter(|t| t.time > 10_000_000 && t.time < flip).count();
    assert!(during(Action::Complete) > 0 && during(Action::ZonePlug) == 0);
    assert!(r.of(Action::Issue).iter().filter(|t| t.time > flip).all(|t| t.flags & 4 != 0), "the worker issues them");
    assert_eq!((r.sim.stats().total_ios, r.sim.stats().nr_errors), (40, 0));
}
