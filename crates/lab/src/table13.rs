//! 13: random reads of disks of 7200 turns a minute, one and many in flight.
//!
//! Models: disk model.
//! Rule: only disks that a profile stands for: one of its class, speed and kind of recording. One number of the profile
//! was chosen for one row, which is marked.
//! Leaves out: all others, named below.

use crate::table::{Cells, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "13",
    source: "points from several reports, each of another disk: bands to fall into, not a curve. settle and seek_full of the \
             profile cmr-8tb were chosen for the mean seek of 8.0 ms of the row \"HGST 7K8\"; nothing else is fitted",
    runs,
    seeds: 3,
    judge,
    outside: &[
        "Seagate ST2000DM006 (57 and 94 reads, 124 writes a second): a desktop disk behind NTFS; no profile is of that class",
        "the RAID volume behind a PERC H740P (535 to 648 reads a second): several disks and a controller's cache",
        "random writes to zones of SMR disks of 15, 20 and 26 TB (160, 763, 664, 2200, 2471 a second): kernels with zone write \
         locking or early zone write plugging, disks of other sizes; the profile smr-30tb has a table of its own",
    ],
};

struct Point {
    row: &'static str,
    link: &'static str,
    iops: f64,
    ms: Option<f64>,
}

const POINTS: [Point; 5] = [
    Point { row: "HGST 7K8, 4 KiB, 1 in flight", link: "drive=cmr-8tb&bs=4KiB&iodepth=1", iops: 82.0, ms: Some(12.2) },
    Point {
        row: "7200 rpm SATA, 4 KiB, 32 in flight",
        link: "drive=cmr-8tb&bs=4KiB&iodepth=32",
        iops: 200.0,
        ms: None,
    },
    Point {
        row: "SATA, 4 KiB, 1 in flight, 1 GiB",
        link: "drive=cmr-8tb&bs=4KiB&iodepth=1&size=1GiB",
        iops: 265.0,
        ms: Some(3.756),
    },
    Point {
        row: "ATA, 128 KiB, 24 in flight",
        link: "drive=cmr-8tb&bs=128KiB&iodepth=24&scheduler=none&cmdprio_percentage=10&ncq_prio=1",
        iops: 152.0,
        ms: Some(156.95),
    },
    Point {
        row: "SMR SATA, 256 KiB, 16 in flight",
        link: "drive=smr-30tb&zonemode=none&bs=256KiB&iodepth=16&first_fill=full",
        iops: 118.0,
        ms: Some(133.94),
    },
];

fn runs() -> Vec<String> {
    POINTS.iter().map(|p| format!("rw=randread&runtime=120s&{}", p.link)).collect()
}

const SHORT: &str = "within 1 GiB the arm hardly moves: half a turn and the settling time are 5.1 ms, and the drive that answered in \
                     3.8 ms must have had some of the data, or settled in no time; the profile has no read cache";

fn judge(t: &mut Cells) -> Vec<Shape> {
    for (n, p) in POINTS.iter().enumerate() {
        let cell = t.cell(n, p.row, "IOPS", "1/s", p.iops, |m| m.stats.iops());
        match n {
            0 => cell.fitted(),
            2 => cell.because(SHORT),
            _ => {}
        }
        if let Some(published) = p.ms {
            let cell = t.cell(n, p.row, "average", "ms", published, |m| m.stats.lat.mean() as f64 / 1e6);
            match n {
                0 => cell.fitted(),
                2 => cell.because(SHORT),
                _ => {}
            }
        }
    }
    let gain = |a: f64, b: f64| 100.0 * b / a;
    let published = gain(POINTS[0].iops, POINTS[1].iops);
    t.between([0, 1], "gain of 32 in flight over 1", "IOPS", "%", published, |a, b| {
        gain(a.stats.iops(), b.stats.iops())
    });
    let iops = |n: usize| t.simulated(POINTS[n].row, "IOPS");
    let order = [(0, 1, "32 in flight"), (0, 2, "1 GiB"), (3, 1, "128 KiB")];
    let breaks = order.iter().filter(|(slow, fast, _)| iops(*slow) >= iops(*fast)).map(|o| o.2.to_string()).collect();
    vec![rule("more in flight, a short span and small reads give more I/Os a second", breaks)]
}
