//! The state machine of zones, row by row (kernel 6.2).

use bioscope_core::config::{ZoneShape, ZonesConfig};
use bioscope_core::drive::zone::Zones;
use bioscope_core::observe::snapshot::ZoneCond::{self, *};
use bioscope_core::units::BlkStatus::{self, *};
use bioscope_core::units::Op;

/// Sectors of a zone and those of them that can be written.
const SIZE: u64 = 1024;
const CAPACITY: u64 = 1000;
/// The first sequential zone.
const Z: u32 = 2;

fn shape() -> ZoneShape {
    ZoneShape {
        zone_sectors: SIZE,
        capacity: CAPACITY,
        nr_zones: 20,
        nr_conv: Z,
        max_open: 0,
        max_active: 0,
        append_max_sectors: 64,
    }
}

/// One zone in a condition, alone on its device, half written where that is possible.
fn zone_in(cond: ZoneCond) -> Zones {
    let mut z = Zones::new(shape());
    let half = |z: &mut Zones| assert_eq!(z.write(Z, 0, 500), Ok);
    match cond {
        Empty | NotWp => {}
        ImpOpen => half(&mut z),
        ExpOpen | Closed => {
            half(&mut z);
            assert_eq!(z.manage(if cond == Closed { Op::ZoneClose } else { Op::ZoneOpen }, Z), Ok);
        }
        Full => assert_eq!(z.manage(Op::ZoneFinish, Z), Ok),
        ReadOnly | Offline => z.set_cond(Z, cond),
    }
    assert_eq!(z.report(Z).cond, if cond == NotWp { Empty } else { cond });
    z
}

/// What a row says: for write at the write pointer, open, close, finish, reset.
type Row = [Result<ZoneCond, BlkStatus>; 5];

const OPS: [Op; 5] = [Op::Write, Op::ZoneOpen, Op::ZoneClose, Op::ZoneFinish, Op::ZoneReset];

fn row(from: ZoneCond, expected: Row) {
    for (op, expected) in OPS.into_iter().zip(expected) {
        let mut z = zone_in(from);
        let before = z.report(Z);
        let status = if op == Op::Write { z.write(Z, before.wp, 8) } else { z.manage(op, Z) };
        let after = z.report(Z);
        match expected {
            Result::Ok(cond) => {
                assert_eq!((status, after.cond), (Ok, cond), "{op:?} of {from:?}");
                let wp = match op {
                    Op::Write => before.wp + 8,
                    Op::ZoneFinish => CAPACITY,
                    Op::ZoneReset => 0,
                    _ => before.wp,
                };
                assert_eq!(after.wp, wp, "{op:?} of {from:?}");
            }
            Err(error) => assert_eq!((status, after), (error, before), "{op:?} of {from:?}"),
        }
        let open = matches!(after.cond, ImpOpen | ExpOpen);
        assert_eq!(z.nr_open(), u32::from(open), "{op:?} of {from:?}");
        assert_eq!(z.nr_active(), u32::from(open || after.cond == Closed), "{op:?} of {from:?}");
    }
}

#[test]
fn section_6_2_empty() {
    row(Empty, [Result::Ok(ImpOpen), Result::Ok(ExpOpen), Err(IoErr), Result::Ok(Full), Result::Ok(Empty)]);
}

#[test]
fn section_6_2_implicitly_open() {
    row(ImpOpen, [Result::Ok(ImpOpen), Result::Ok(ExpOpen), Result::Ok(Closed), Result::Ok(Full), Result::Ok(Empty)]);
}

#[test]
fn section_6_2_explicitly_open() {
    row(ExpOpen, [Result::Ok(ExpOpen), Result::Ok(ExpOpen), Result::Ok(Closed), Result::Ok(Full), Result::Ok(Empty)]);
}

#[test]
fn section_6_2_closed() {
    row(Closed, [Result::Ok(ImpOpen), Result::Ok(ExpOpen), Result::Ok(Closed), Result::Ok(Full), Result::Ok(Empty)]);
}

#[test]
fn section_6_2_full() {
    row(Full, [Err(IoErr), Err(IoErr), Err(IoErr), Result::Ok(Full), Result::Ok(Empty)]);
}

#[test]
fn section_6_2_read_only_and_offline() {
    row(ReadOnly, [Err(IoErr); 5]);
    row(Offline, [Err(IoErr); 5]);
    assert_eq!((zone_in(ReadOnly).read(Z), zone_in(Offline).read(Z)), (Ok, IoErr));
}

#[test]
fn section_6_2_conventional() {
    for op in OPS {
        let mut z = zone_in(NotWp);
        match op {
            Op::Write => {
                for offset in [512, 0, 8, 1016] {
                    assert_eq!(z.write(0, offset, 8), Ok);
                }
            }
            _ => assert_eq!(z.manage(op, 0), IoErr),
        }
        assert_eq!((z.report(0).cond, z.report(0).wp, z.nr_active()), (NotWp, 0, 0));
    }
    assert_eq!(zone_in(NotWp).append(0, 8), Err(IoErr));
}

#[test]
fn section_6_2_closing_a_zone_without_data_leaves_it_empty() {
    let mut z = zone_in(Empty);
    z.manage(Op::ZoneOpen, Z);
    assert_eq!((z.report(Z).cond, z.nr_open()), (ExpOpen, 1));
    assert_eq!(z.manage(Op::ZoneClose, Z), Ok);
    assert_eq!((z.report(Z).cond, z.nr_active()), (Empty, 0));
}

#[test]
fn section_6_2_a_write_fills_the_zone_at_its_capacity() {
    for cond in [ImpOpen, ExpOpen, Closed] {
        let mut z = zone_in(cond);
        assert_eq!(z.write(Z, 500, 500), Ok);
        assert_eq!((z.report(Z).cond, z.report(Z).wp, z.nr_active()), (Full, CAPACITY, 0));
    }
    let mut z = zone_in(Empty);
    assert_eq!(z.write(Z, 0, CAPACITY), Ok);
    assert_eq!((z.report(Z).cond, z.nr_active()), (Full, 0));
}

#[test]
fn section_6_2_a_write_starts_at_the_pointer_and_ends_at_the_capacity() {
    for (offset, len) in [(499, 8), (501, 8), (0, 8), (500, 501), (500, 524)] {
        let mut z = zone_in(ImpOpen);
        assert_eq!((z.write(Z, offset, len), z.report(Z).wp), (IoErr, 500), "{len} sectors at {offset}");
    }
    // Nothing is opened for a write that fails.
    let mut z = zone_in(Empty);
    assert_eq!((z.write(Z, 8, 8), z.report(Z).cond, z.nr_open()), (IoErr, Empty, 0));
}

#[test]
fn section_6_2_an_append_lands_at_the_pointer() {
    for cond in [Empty, ImpOpen, ExpOpen, Closed] {
        let mut z = zone_in(cond);
        let wp = z.report(Z).wp;
        assert_eq!((z.append(Z, 16), z.append(Z, 8)), (Result::Ok(wp), Result::Ok(wp + 16)));
        assert_eq!(z.report(Z).wp, wp + 24);
    }
    let mut z = zone_in(ImpOpen);
    assert_eq!((z.append(Z, 501), z.append(Z, 500), z.append(Z, 8)), (Err(IoErr), Result::Ok(500), Err(IoErr)));
    assert_eq!(z.report(Z).cond, Full);
    // Without native appends the block layer sends writes.
    let mut z = Zones::new(ZoneShape { append_max_sectors: 0, ..shape() });
    assert_eq!(z.append(Z, 8), Err(IoErr));
}

fn limited(max_open: u32, max_active: u32) -> Zones {
    Zones::new(ZoneShape { max_open, max_active, ..shape() })
}

#[test]
fn section_6_2_the_device_closes_implicitly_open_zones_in_turn() {
    let mut z = limited(3, 0);
    for n in 0..3 {
        assert_eq!(z.write(Z + n, 0, 8), Ok);
    }
    // Round robin from behind the last one closed; explicitly open zones stay.
    assert_eq!(z.manage(Op::ZoneOpen, Z), Ok);
    let mut closed = vec![];
    for n in 3..7 {
        assert_eq!(z.write(Z + n, 0, 8), Ok);
        closed.extend((0..n).filter(|m| z.report(Z + m).cond == Closed && !closed.contains(m)).collect::<Vec<_>>());
    }
    assert_eq!(closed, [1, 2, 3, 4]);
    assert_eq!((z.nr_open(), z.nr_active(), z.implicit_closes()), (3, 7, 4));
    // Then from the start again: 0 is explicitly open, 1 was opened again.
    assert_eq!(z.write(Z + 1, 8, 8), Ok);
    assert_eq!((z.report(Z + 5).cond, z.report(Z + 6).cond, z.report(Z + 1).cond), (Closed, ImpOpen, ImpOpen));
    assert_eq!(z.write(Z + 2, 8, 8), Ok);
    assert_eq!((z.report(Z + 6).cond, z.report(Z + 1).cond), (Closed, ImpOpen));
    assert_eq!(z.write(Z + 3, 8, 8), Ok);
    assert_eq!((z.report(Z + 1).cond, z.report(Z + 2).cond), (Closed, ImpOpen));
}

#[test]
fn section_6_2_without_an_implicitly_open_zone_open_resources_are_out() {
    for op in [Op::Write, Op::ZoneOpen, Op::ZoneFinish, Op::ZoneAppend] {
        for closed in [false, true] {
            let mut z = limited(2, 0);
            if closed {
                z.fill(Z + 5, 8);
            }
            z.manage(Op::ZoneOpen, Z);
            z.manage(Op::ZoneOpen, Z + 1);
            let before = z.report(Z + 5);
            let status = match op {
                Op::Write => z.write(Z + 5, before.wp, 8),
                Op::ZoneAppend => z.append(Z + 5, 8).unwrap_err(),
                _ => z.manage(op, Z + 5),
            };
            assert_eq!((status, z.report(Z + 5).cond), (ZoneOpenResource, before.cond), "{op:?}");
            // What is open goes on.
            assert_eq!((z.write(Z, 0, 8), z.manage(Op::ZoneFinish, Z + 1)), (Ok, Ok));
        }
    }
}

#[test]
fn section_6_2_active_resources() {
    let mut z = limited(2, 3);
    for n in 0..3 {
        assert_eq!(z.write(Z + n, 0, 8), Ok);
    }
    assert_eq!((z.nr_open(), z.nr_active(), z.implicit_closes()), (2, 3, 1));
    // An empty zone would be one more; a closed one is active, but no zone is closed for it once the limit is reached.
    for op in [Op::Write, Op::ZoneOpen, Op::ZoneFinish] {
        let status = if op == Op::Write { z.write(Z + 9, 0, 8) } else { z.manage(op, Z + 9) };
        assert_eq!((status, z.report(Z + 9).cond), (ZoneActiveResource, Empty), "{op:?}");
    }
    assert_eq!((z.report(Z).cond, z.write(Z, 8, 8)), (Closed, ZoneOpenResource));
    // A full zone is not active.
    assert_eq!((z.manage(Op::ZoneFinish, Z + 1), z.write(Z + 9, 0, 8)), (Ok, Ok));
    assert_eq!((z.nr_open(), z.nr_active()), (2, 3));
    assert_eq!((z.manage(Op::ZoneReset, Z), z.nr_active()), (Ok, 2));
}

#[test]
fn section_6_2_limits_that_cannot_bind_are_none() {
    let limits = |max_open, max_active| {
        let s = ZoneShape { max_open, max_active, ..shape() }.enforceable();
        (s.max_open, s.max_active)
    };
    // 18 sequential zones.
    assert_eq!(limits(0, 0), (0, 0));
    assert_eq!(limits(17, 17), (17, 17));
    assert_eq!(limits(18, 18), (0, 0));
    assert_eq!(limits(5, 18), (5, 0));
    assert_eq!(limits(9, 8), (8, 8));
    assert_eq!(limits(30, 8), (8, 8));
    assert_eq!(limits(0, 8), (0, 8));
}

#[test]
fn section_6_2_zone_full_and_failed_zones_at_the_start() {
    let cfg = ZonesConfig { shape: shape(), full: true, readonly: vec![5], offline: vec![6] };
    let mut z = Zones::of_config(&cfg);
    let conds: Vec<_> = [0, Z, 4, 5, 6, 19].map(|n| z.report(n).cond).to_vec();
    assert_eq!(conds, [NotWp, Full, Full, ReadOnly, Offline, Full]);
    assert_eq!((z.nr_written(), z.nr_active()), (18, 0));
    assert_eq!((z.write(4, 0, 8), z.manage(Op::ZoneReset, 4), z.write(4, 0, 8)), (IoErr, Ok, Ok));
    assert_eq!((z.report(4).cond, z.report(7).cond), (ImpOpen, Full));
}

#[test]
fn section_6_2_reset_all_leaves_failed_and_conventional_zones() {
    let cfg = ZonesConfig { shape: shape(), full: true, readonly: vec![5], offline: vec![6] };
    let mut z = Zones::of_config(&cfg);
    z.write(0, 0, 8);
    z.manage(Op::ZoneReset, 4);
    z.write(4, 0, 8);
    assert_eq!(z.manage(Op::ZoneResetAll, 0), Ok);
    let conds: Vec<_> = [0, 4, 5, 6, 19].map(|n| z.report(n).cond).to_vec();
    assert_eq!(conds, [NotWp, Empty, ReadOnly, Offline, Empty]);
    assert_eq!((z.nr_open(), z.nr_active()), (0, 0));
    assert_eq!((z.write(19, 0, 8), z.report(4).wp), (Ok, 0));
}
