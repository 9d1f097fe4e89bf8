//! 12: fio on a host-managed SMR disk of 15 TB.
//!
//! Models: disk model; kernel 4.3, 10.6, 10.7.
//! Rule: the profile smr-15tb has its rates from the data sheet and the model's numbers from smr-30tb; nothing is fitted here.
//! Leaves out: the error codes fio prints.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "12",
    source: "zonedstorage.io, fio on SMR disks (2019, fio 3.13): 15 TB, 256 MiB zones, libaio, 256 KiB. Nothing is fitted: the \
             disk's geometry and rate are the data sheet's, what its cache does is taken from smr-30tb",
    runs,
    seeds: 3,
    judge,
    outside: &["fio's own text for the error that the same write gets without zonemode=zbd; it fails here too"],
};

struct Row {
    row: &'static str,
    link: &'static str,
    iops: f64,
    ms: f64,
}

const ROWS: [Row; 6] = [
    Row { row: "first write of four zones", link: "rw=write&iodepth=8&size=4z&runtime=0", iops: 938.0, ms: 8.5114 },
    Row {
        row: "rewrite of four full zones",
        link: "rw=write&iodepth=8&size=4z&runtime=0&first_fill=full",
        iops: 949.0,
        ms: 8.24326,
    },
    Row {
        row: "sequential read of what was written",
        link: "rw=read&iodepth=8&size=4z&runtime=0&first_fill=full",
        iops: 951.0,
        ms: 8.39444,
    },
    Row {
        row: "read beyond the write pointer",
        link: "rw=read&iodepth=8&size=4z&runtime=0&read_beyond_wp=1",
        iops: 1411.0,
        ms: 5.65486,
    },
    Row { row: "random write", link: "rw=randwrite&numjobs=4&iodepth=4&runtime=30s", iops: 160.0, ms: 98.85671 },
    Row {
        row: "random read",
        link: "rw=randread&numjobs=4&iodepth=4&runtime=30s&first_fill=full",
        iops: 118.0,
        ms: 133.93163,
    },
];

fn runs() -> Vec<String> {
    ROWS.iter().map(|r| format!("drive=smr-15tb&kernel=5.10&bs=256KiB&{}", r.link)).collect()
}

const EMPTY: &str = "what has no data is answered at the interface's 550 MiB/s; that disk takes 700 us for 256 KiB of nothing, and \
                     nobody says what it does meanwhile";
const SMALL: &str = "the model's cache counts commands, 24 of them whatever their size, and writes them almost in the order in which \
                     they came; a disk with megabytes of cache puts small writes to many zones in order first";

fn judge(t: &mut Cells) -> Vec<Shape> {
    for (n, r) in ROWS.iter().enumerate() {
        for (variant, unit, published, figure) in [
            ("IOPS", "1/s", r.iops, (|m| m.stats.iops()) as fn(&Measured) -> f64),
            ("average latency", "ms", r.ms, |m| m.stats.lat.mean() as f64 / 1e6),
        ] {
            let cell = t.cell(n, r.row, variant, unit, published, figure);
            match n {
                3 => cell.because(EMPTY),
                4 => cell.because(SMALL),
                _ => {}
            }
        }
    }
    let of = |n: usize| t.simulated(ROWS[n].row, "IOPS");
    let breaks = |holds: bool, text: String| (!holds).then_some(text).into_iter().collect();
    let beyond = of(3) > 1.2 * of(2);
    vec![
        rule("reads beyond the write pointer touch no medium", breaks(beyond, format!("{:.0}, {:.0}", of(2), of(3)))),
        rule(
            "reading and writing in order are equally fast",
            breaks((of(0) / of(2) - 1.0).abs() < 0.05, format!("{:.0}, {:.0}", of(0), of(2))),
        ),
    ]
}
