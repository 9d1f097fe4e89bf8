//! 02: zone write locking against zone write plugging on null_blk, a zoned SSD and a shingled disk.
//!
//! Models: kernel 4.3, 5; the switches of `kernel`.
//! Rule: for each device without a head one cost of the host is fitted a scheduler, on one job and 4 KiB; all else is held
//! out. The disk is the profile smr-20tb, with nothing fitted here.
//! Leaves out: btrfs, and I/Os of 1 MiB on null_blk, whose pages cost a CPU more than everything that is modelled.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "02",
    source: "linux-block, \"Zone write plugging\" v2 (March 2024), 6.9-rc: zone write locking (ZWL) and plugging (ZWP). submit_ns is \
             fitted for null_blk on each scheduler's 4 KiB at depth 1 (4262, 4253, 5603 and 1631 ns), for the SSD \
             flash_command_ns (22.4 us) and submit_ns (5.8 us) on ZWL's 4 KiB at depth 1 and 16; the profile zns-1tb has its rate \
             from the row of 1 MiB. Nothing is fitted for the disk",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "a CPU's cost for each page of an I/O (null_blk, 1 MiB), and null_blk's lock of open zones, which makes `none` slower than \
         mq-deadline with random zones",
        "btrfs and its zone appends",
    ],
};

struct Row {
    device: &'static str,
    /// Kernel and scheduler.
    variant: &'static str,
    set: &'static str,
    /// 4 KiB at 1 and 16, 1 MiB at 1 and 16 (MB/s), random 4 and 128 KiB at 16 (thousand/s); 0 = not compared.
    published: [f64; 6],
}

const ZWL: &str = "kernel=5.17&zone_lock_streams=1&scheduler=mq-deadline";
const WORK: [(&str, &str, &str); 6] = [
    ("4 KiB, 1", "MB/s", "rw=write&bs=4KiB&iodepth=1"),
    ("4 KiB, 16", "MB/s", "rw=write&bs=4KiB&iodepth=16"),
    ("1 MiB, 1", "MB/s", "rw=write&bs=1MiB&iodepth=1"),
    ("1 MiB, 16", "MB/s", "rw=write&bs=1MiB&iodepth=16"),
    ("random 4 KiB, 16", "thousand/s", "rw=randwrite&bs=4KiB&iodepth=16"),
    ("random 128 KiB, 16", "thousand/s", "rw=randwrite&bs=128KiB&iodepth=16"),
];

const NULL_BLK: &str =
    "drive=null_blk&zoned=1&zone_size=256MiB&capacity=1TiB&zone_max_open=128&irqmode=0&runtime=20ms&time_based=1";
const ZNS: &str = "drive=zns-1tb&runtime=500ms&time_based=1&flash_command_ns=22400ns&submit_ns=5800ns";
const SMR: &str = "drive=smr-20tb&runtime=20s&time_based=1";

const ROWS: [Row; 12] = [
    Row { device: "null_blk", variant: "ZWL mq-deadline", set: ZWL, published: [961.0, 835.0, 0.0, 0.0, 415.0, 0.0] },
    Row {
        device: "null_blk",
        variant: "ZWP mq-deadline",
        set: "kernel=6.12",
        published: [963.0, 845.0, 0.0, 0.0, 452.0, 0.0],
    },
    Row {
        device: "null_blk",
        variant: "ZWP bfq",
        set: "kernel=6.12&scheduler=bfq",
        published: [731.0, 651.0, 0.0, 0.0, 129.0, 0.0],
    },
    Row {
        device: "null_blk",
        variant: "ZWP none",
        set: "kernel=6.12&scheduler=none",
        published: [2511.0, 1632.0, 0.0, 0.0, 336.0, 0.0],
    },
    Row { device: "ZNS", variant: "ZWL mq-deadline", set: ZWL, published: [183.0, 707.0, 1083.0, 1101.0, 53.6, 14.1] },
    Row {
        device: "ZNS",
        variant: "ZWP mq-deadline",
        set: "kernel=6.12",
        published: [183.0, 719.0, 1082.0, 1103.0, 55.5, 14.1],
    },
    Row {
        device: "ZNS",
        variant: "ZWP bfq",
        set: "kernel=6.12&scheduler=bfq",
        published: [175.0, 691.0, 1078.0, 1097.0, 28.3, 11.2],
    },
    Row {
        device: "ZNS",
        variant: "ZWP none",
        set: "kernel=6.12&scheduler=none",
        published: [190.0, 665.0, 1083.0, 1105.0, 51.4, 14.1],
    },
    Row { device: "SMR", variant: "ZWL mq-deadline", set: ZWL, published: [107.0, 243.0, 246.0, 246.0, 2.2, 0.769] },
    Row {
        device: "SMR",
        variant: "ZWP mq-deadline",
        set: "kernel=6.12",
        published: [107.0, 240.0, 245.0, 242.0, 2.2, 0.767],
    },
    Row {
        device: "SMR",
        variant: "ZWP bfq",
        set: "kernel=6.12&scheduler=bfq",
        published: [104.0, 240.0, 245.0, 243.0, 2.3, 0.765],
    },
    Row {
        device: "SMR",
        variant: "ZWP none",
        set: "kernel=6.12&scheduler=none",
        published: [113.0, 230.0, 246.0, 242.0, 2.2, 0.771],
    },
];

/// A row's runs: those of its workloads that are compared.
fn cases() -> impl Iterator<Item = (&'static Row, usize)> {
    ROWS.iter().flat_map(|r| (0..WORK.len()).filter(|w| r.published[*w] > 0.0).map(move |w| (r, w)))
}

fn runs() -> Vec<String> {
    let of = |(r, w): (&Row, usize)| {
        let device = match (r.device, r.variant) {
            ("null_blk", "ZWL mq-deadline") => format!("{NULL_BLK}&submit_ns=4262ns"),
            ("null_blk", "ZWP mq-deadline") => format!("{NULL_BLK}&submit_ns=4253ns"),
            ("null_blk", "ZWP bfq") => format!("{NULL_BLK}&submit_ns=5603ns"),
            ("null_blk", _) => format!("{NULL_BLK}&submit_ns=1631ns"),
            ("ZNS", _) => ZNS.into(),
            _ => SMR.into(),
        };
        [&device, "&", r.set, "&", WORK[w].2].concat()
    };
    cases().map(of).collect()
}

const DEPTH: &str =
    "with more in flight that machine's CPU takes longer for an I/O: locks and cache lines, which are not modelled";
const POOL: &str = "null_blk's lock around its open zones, taken by every command to another zone, is not modelled";
const BFQ: &str =
    "bfq's lock, and what it computes for each of many queues, is not modelled: submit_ns is the same for all loads";
const MANY: &str = "that SSD takes 54,000 small writes a second to many zones, and whether its interface or its protected memory \
                    limits them is not known: the model's has no limit but the host's";
const WIDTH: &str =
    "one zone of that SSD takes 1.1 GB/s and several take more; the profile's zones lie over all its dies";
const SMALL: &str = "the model's cache counts commands, 24 of them whatever their size, and misses a turn when it runs dry; a disk \
                     with megabytes of cache collects small writes, and puts those to many zones in order";

fn judge(t: &mut Cells) -> Vec<Shape> {
    for (n, (r, w)) in cases().enumerate() {
        let (work, unit, _) = WORK[w];
        let figure = |m: &Measured| match unit {
            "MB/s" => m.stats.bytes_per_sec() / 1e6,
            _ => m.stats.iops() / 1000.0,
        };
        let cell = t.cell(n, format!("{}, {work}", r.device), r.variant, unit, r.published[w], figure);
        match (r.device, w) {
            ("ZNS", 4) if r.variant != "ZWP bfq" => cell.because(MANY),
            ("null_blk", 0) => cell.fitted(),
            ("ZNS", 0 | 1) if r.set == ZWL => cell.fitted(),
            ("ZNS", 2) if r.set == ZWL => cell.fitted(),
            ("null_blk", 4) if r.variant == "ZWP bfq" => cell.because(BFQ),
            ("ZNS", 4) => cell.because(BFQ),
            ("null_blk", 4) => cell.because(POOL),
            ("null_blk", _) => cell.because(DEPTH),
            ("ZNS", 5) => cell.because(WIDTH),
            ("SMR", 0 | 1 | 4 | 5) => cell.because(SMALL),
            _ => {}
        }
    }
    let of = |device: &str, work: &str, variant: &str| t.simulated(&format!("{device}, {work}"), variant);
    let (zwl, zwp) = ("ZWL mq-deadline", "ZWP mq-deadline");
    let lost = 1.0 - of("SMR", "1 MiB, 16", zwp) / of("SMR", "1 MiB, 16", zwl);
    let breaks = |holds: bool, text: String| (!holds).then_some(text).into_iter().collect();
    let same = |work: &str| (of("ZNS", work, zwp) / of("ZNS", work, zwl) - 1.0).abs();
    vec![
        rule(
            "on the disk plugging loses up to 10 % of deep sequential writes: the next zone starts early",
            breaks(lost > 0.005 && lost < 0.1, format!("{:.1} %", 100.0 * lost)),
        ),
        rule(
            "on null_blk no scheduler is fastest, bfq slowest",
            breaks(
                of("null_blk", "4 KiB, 16", "ZWP none") > of("null_blk", "4 KiB, 16", zwp)
                    && of("null_blk", "4 KiB, 16", zwp) > of("null_blk", "4 KiB, 16", "ZWP bfq"),
                "order".into(),
            ),
        ),
        rule(
            "on the SSD locking and plugging are the same with 1 MiB",
            breaks(same("1 MiB, 1") < 0.01 && same("1 MiB, 16") < 0.02, format!("{:.3}", same("1 MiB, 16"))),
        ),
    ]
}
