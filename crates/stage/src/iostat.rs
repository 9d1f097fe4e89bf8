//! `iostat -x` since the start of the run: the member disks' mean and the array.
//!
//! Models: sysstat's formulas over the counters of /sys/block/X/stat (kernel 10.2).
//! Rule: a row a device and direction; where both occur, columns have the part of their names that is common.
//! Leaves out: intervals and the other columns, which the command prints.

use bioscope_core::observe::snapshot::{DiskStats, Snapshot};
use bioscope_session::OrderFrame;
use bioscope_session::order::leaves;

use crate::lane::Side;
use crate::table::Table;
use crate::text;

/// Rows of runs that are compared, or of one that stands alone.
pub fn table(runs: &[(Option<Side>, &OrderFrame, &Snapshot)]) -> Table {
    let mut devices = Vec::new();
    for (side, order, snap) in runs {
        let stats = |dev: u16| snap.devices.get(usize::from(dev)).map(|d| d.stats).unwrap_or_default();
        let members = leaves(&order.cfg, order.top);
        let letter = match side {
            Some(Side::A) => "A ",
            Some(Side::B) => "B ",
            None => "",
        };
        let below = members.iter().fold(DiskStats::default(), |sum, dev| add(sum, &stats(*dev)));
        let top = snap.devices.get(usize::from(order.top)).map_or("", |d| d.name.as_str());
        for (name, stats, disks) in [("sd*", below, members.len()), (top, stats(order.top), 1)] {
            devices.push(([letter, name].concat(), stats, disks.max(1) as f64, snap.now));
        }
    }
    let any = |s: &DiskStats, dir: usize| s.ios[dir] + s.merges[dir] > 0;
    let seen = [0, 1].map(|dir| devices.iter().any(|(_, s, ..)| any(s, dir)));
    let head = match seen {
        [true, true] => vec!["Device", "/s", "MB/s", "%rqm", "areq-sz", "aqu-sz", "%util"],
        [false, true] => vec!["Device", "w/s", "wMB/s", "%wrqm", "wareq-sz", "aqu-sz", "%util"],
        _ => vec!["Device", "r/s", "rMB/s", "%rrqm", "rareq-sz", "aqu-sz", "%util"],
    };
    let mut rows = Vec::new();
    for (name, stats, disks, now) in &devices {
        for (dir, letter) in [(0, " r"), (1, " w")] {
            // Where one direction is all there is, every device has its row of it.
            let shown = if seen == [true, true] { any(stats, dir) } else { dir == usize::from(seen[1]) };
            if shown {
                let mut row = vec![if seen == [true, true] { [name, letter].concat() } else { name.clone() }];
                row.extend(columns(stats, dir, *disks, *now));
                rows.push(row);
            }
        }
    }
    Table { title: "iostat -x since the start, sd*: mean".into(), head, rows }
}

fn add(sum: DiskStats, s: &DiskStats) -> DiskStats {
    let both = |a: [u64; 2], b: [u64; 2]| [a[0] + b[0], a[1] + b[1]];
    DiskStats {
        ios: both(sum.ios, s.ios),
        merges: both(sum.merges, s.merges),
        sectors: both(sum.sectors, s.sectors),
        ns: both(sum.ns, s.ns),
        io_ticks_ns: sum.io_ticks_ns + s.io_ticks_ns,
        ..sum
    }
}

/// A part of a whole, 0 of nothing.
fn of(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn columns(s: &DiskStats, i: usize, disks: f64, now: u64) -> [String; 6] {
    let [ios, merges, sectors] = [s.ios[i], s.merges[i], s.sectors[i]].map(|v| v as f64);
    let wall = now as f64 / 1e9 * disks;
    [
        (of(ios, wall), 0),
        (of(sectors / 2048.0, wall), 1),
        (of(100.0 * merges, merges + ios), 1),
        (of(sectors / 2.0, ios), 1),
        (of((s.ns[0] + s.ns[1]) as f64 / 1e9, wall), 2),
        (of(s.io_ticks_ns as f64 / 1e7, wall), 1),
    ]
    .map(|(v, digits)| text::fixed(v, digits))
}

/// Average size of the disks' requests so far, KiB.
pub fn request_kib(order: &OrderFrame, snap: &Snapshot) -> Option<f64> {
    let disks = leaves(&order.cfg, order.top);
    let stats = disks.iter().filter_map(|d| snap.devices.get(usize::from(*d))).map(|d| &d.stats);
    let (ios, sectors) = stats.fold((0, 0), |s, d| (s.0 + d.ios[0] + d.ios[1], s.1 + d.sectors[0] + d.sectors[1]));
    (ios > 0).then(|| sectors as f64 / 2.0 / ios as f64)
}

#[cfg(test)]
mod tests {
    use bioscope_core::config::SplitInsert;

    use super::*;
    use crate::synth;

    #[test]
    fn columns_agree_with_each_other() {
        let mut scene = synth::raid5(8, SplitInsert::Tail, 9);
        // The published run before the fix, a second long on each disk.
        scene.snap.now = 1_000_000_000;
        let stats = DiskStats {
            ios: [4_487, 0],
            merges: [2_054, 0],
            sectors: [409 * 2048, 0],
            ns: [3_680_000_000, 0],
            io_ticks_ns: 712_000_000,
            ..DiskStats::default()
        };
        scene.snap.devices[..8].iter_mut().for_each(|d| d.stats = stats);
        let order = scene.order.as_ref().unwrap();
        let table = table(&[(Some(Side::A), order, &scene.snap)]);
        assert_eq!(table.rows[0], ["A sd*", "4,487", "409.0", "31.4", "93.3", "3.68", "71.2"]);
        assert_eq!(table.rows[1], ["A md0", "0", "0.0", "0.0", "0.0", "0.00", "0.0"]);
        assert!(table.rows.iter().all(|r| r.len() == table.head.len()));
        assert_eq!(text::fixed(request_kib(order, &scene.snap).unwrap(), 2), "93.34");
    }
}
