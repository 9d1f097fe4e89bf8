//! Seed 002: dd reading an eight-disk raid5, before and after split bios go to the head of the list.
//!
//! Models: kernel 2.5 and row 33 of 11.
//! Rule: what the sizes of bios are, and that the members have a scheduler, is read from the listings: the two bios of
//! kernel 2.5 scramble the listed requests exactly, and with mq-deadline below they give the listed histogram and, on
//! every other member, the listed merges. Two numbers are fitted on `after`; all of `before` is held out.
//! Leaves out: what members cost beyond their rate.

use bioscope_core::observe::gaps::DeviceGaps;

use crate::table::{Cells, Columns, Measured, Table, equal_in_place, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "seed-002",
    source: "message of the fix that puts split bios at the head of current->bio_list (August 2025): dd bs=4480k \
             iflag=direct on an eight-disk raid5, 64 KiB chunks; step_ns=2700ns and cap_latency_ns=200us are fitted on \
             `after`, cap_rate=1024MiB/s is assumed; rows of plug_flush_bytes are no measurement but a replay of the \
             kernel's rules (kernel 11, row 33)",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "what a member costs a command beyond its size: a scrambled stream is as fast as an ordered one",
        "how dd's buffer lies in memory, which decides the sizes of its bios",
    ],
};

/// Fitted: `step_ns` on r/s of the members after the fix, `cap_latency_ns` on their r_await.
const FITTED: &str = "&scheduler=mq-deadline&step_ns=2700ns&cap_latency_ns=200us";
/// BLK_PLUG_FLUSH_SIZE in KiB and the average request in KiB.
const FLUSH: [(u32, f64); 6] = [(64, 64.0), (128, 112.0), (192, 131.8), (256, 149.3), (384, 154.5), (512, 104.2)];
const BEFORE: usize = 0;
const AFTER: usize = 1;
const FIRST_FLUSH: usize = 2;

fn runs() -> Vec<String> {
    let mut runs = vec![
        format!("p=raid5-dd&b=0&count=1000{FITTED}"),
        // Two ends inside a chunk, and the limit of 1 MiB makes two more of them: 74 bios on the members.
        format!("p=raid5-dd&b=0&count=1000&bios=500KiB,1984KiB&split_insert=head{FITTED}"),
    ];
    runs.extend(FLUSH.map(|(kib, _)| {
        format!("p=raid5-dd&b=0&scheduler=none&bios=4480KiB&split_insert=head&plug_flush_bytes={kib}KiB")
    }));
    runs
}

/// A line of iostat as published.
struct Printed {
    variant: &'static str,
    run: usize,
    name: &'static str,
    /// The simulated device that stands for it.
    dev: &'static str,
    /// r/s, rMB/s, %rrqm, r_await, rareq-sz, aqu-sz, %util
    figures: [f64; 7],
}

/// Members fall in two classes, since an I/O of ten stripes moves parity on by two members; the line before the fix is
/// one of the second class.
const PRINTED: [Printed; 4] = [
    Printed {
        variant: "before",
        run: BEFORE,
        name: "sd*",
        dev: "sdb",
        figures: [4487.0, 409.0, 31.4, 0.82, 93.34, 3.68, 71.2],
    },
    Printed {
        variant: "before",
        run: BEFORE,
        name: "md0",
        dev: "md0",
        figures: [52_430.0, 3276.87, 0.0, 0.62, 64.0, 32.6, 80.1],
    },
    Printed {
        variant: "after",
        run: AFTER,
        name: "sd*",
        dev: "sda",
        figures: [6020.0, 658.44, 45.95, 0.44, 112.0, 2.68, 86.5],
    },
    Printed {
        variant: "after",
        run: AFTER,
        name: "md0",
        dev: "md0",
        figures: [87_965.0, 5271.88, 0.0, 0.16, 61.37, 14.03, 90.6],
    },
];

const COLUMNS: [(&str, &str); 7] = [
    ("r/s", "1/s"),
    ("rMB/s", "MiB/s"),
    ("%rrqm", "%"),
    ("r_await", "ms"),
    ("rareq-sz", "KiB"),
    ("aqu-sz", "in flight"),
    ("%util", "% busy"),
];

fn columns(c: Columns) -> [f64; 7] {
    [c.ios, c.kb / 1024.0, c.merged_pct, c.await_ms, c.size_kib, c.queue, c.util_pct]
}

const SLOWER: &str = "the members are known by a rate and a latency only, and a scrambled stream is as fast as an ordered \
                      one there: the simulated array loses 15 % where the real one lost 38 %";
const ARRAY: &str = "the published lines contradict each other: the members have 8 x 2.68 requests of 1.85 bios in flight \
                     after the fix and 8 x 3.68 of 1.46 before it, which are 40 and 43 bios, and the array that waits for \
                     each of them says 14 and 33; in the model they agree";

/// Rows of the histogram that have any, by upper bound in KiB, with their counts.
const HISTOGRAM: [(&str, usize, f64); 5] = [
    ("gaps of 0", 0, 25_079.0),
    ("gaps of 64 KiB", 6, 12_540.0),
    ("gaps of 128 KiB", 7, 2508.0),
    ("gaps up to 512 KiB", 9, 10_032.0),
    ("gaps up to 1024 KiB", 10, 5016.0),
];
const GAPS_BEFORE: f64 = 55_175.0;

/// Requests of the first member in stripes of 64 KiB, counted in the 80 stripes after which all repeats. Listed before
/// the fix: sectors 14071424, 14071168, …; after it 7156992, 7157248, …, less the data offset of 264192.
const LISTED_BEFORE: [u64; 7] = [29, 27, 28, 35, 33, 30, 32];
const LISTED_AFTER: [u64; 8] = [24, 26, 28, 30, 32, 34, 36, 38];
const DATA_OFFSET: u64 = 264_192;
const STRIPE: u64 = 128;
const PERIOD: u64 = 80;

/// Most lines of the listing that stand in place together.
fn listed(m: &Measured, listing: &[u64]) -> f64 {
    let stripes: Vec<u64> = m.requests_of(m.dev("sda")).iter().map(|s| (s - DATA_OFFSET) / STRIPE % PERIOD).collect();
    stripes.windows(listing.len()).map(|w| equal_in_place(w, listing)).fold(0.0, f64::max)
}

fn share(gaps: &DeviceGaps, row: usize) -> f64 {
    100.0 * gaps.counts().get(row).copied().unwrap_or(0) as f64 / gaps.total.max(1) as f64
}

fn gaps_of<'a>(m: &'a Measured, name: &str) -> &'a DeviceGaps {
    m.gaps.of(m.dev(name)).expect("every member is read")
}

/// Total variation: half of what the shares differ by, percent.
fn distance(gaps: &DeviceGaps) -> f64 {
    let published = |row: usize| HISTOGRAM.iter().find(|h| h.1 == row).map_or(0.0, |h| 100.0 * h.2 / GAPS_BEFORE);
    let rows = gaps.counts().len().max(11);
    (0..rows).map(|row| (share(gaps, row) - published(row)).abs()).sum::<f64>() / 2.0
}

/// How many of rareq-sz, %rrqm and aqu-sz follow, within rounding, from the other columns as printed: two decimals.
fn consistent(m: &Measured) -> f64 {
    let printed = |v: f64| (v * 100.0).round() / 100.0;
    let of = |c: Columns| {
        let (ios, mb, rrqm) = (printed(c.ios), printed(c.kb / 1024.0), printed(c.merges));
        let near = |recomputed: f64, column: f64, by: f64| f64::from((recomputed - printed(column)).abs() <= by);
        near(mb * 1024.0 / ios, c.size_kib, 0.01 + 0.01 * 1024.0 / ios)
            + near(100.0 * rrqm / (rrqm + ios), c.merged_pct, 0.01)
            + near(ios * printed(c.await_ms) / 1000.0, c.queue, 0.01 + 0.005 * ios / 1000.0)
    };
    m.devices.iter().map(|(name, _)| of(m.reads(name))).sum()
}

/// Of all members, in an I/O of dd: requests, and bios that were merged.
fn per_dd(m: &Measured) -> (f64, f64) {
    let bytes = m.stats.read_bytes as f64 / (4480.0 * 1024.0);
    let ios: u64 = m.disks().map(|d| d.ios[0]).sum();
    let merges: u64 = m.disks().map(|d| d.merges[0]).sum();
    (ios as f64 / bytes, merges as f64 / bytes)
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    for p in PRINTED {
        for (i, (name, unit)) in COLUMNS.iter().enumerate() {
            let simulated = move |m: &Measured| columns(m.reads(p.dev))[i];
            let cell = t.cell(p.run, format!("{} {name}", p.name), p.variant, unit, p.figures[i], simulated);
            let member = p.name == "sd*";
            match (*name, p.variant) {
                // What was fitted on, and what is the same figure in other units.
                ("r/s" | "rMB/s" | "r_await" | "aqu-sz", "after") if member => cell.fitted(),
                ("rMB/s", "after") => cell.fitted(),
                ("r_await" | "aqu-sz", _) if !member => cell.because(ARRAY),
                (_, "before") => cell.because(SLOWER),
                _ => {}
            }
        }
    }
    t.cell(AFTER, "requests of a dd", "after", "requests", 40.0, |m| per_dd(m).0);
    t.cell(AFTER, "merges of a dd", "after", "bios", 34.0, |m| per_dd(m).1);
    t.cell(AFTER, "gaps of 0", "after", "%", 75.0, |m| share(gaps_of(m, "sda"), 0));
    t.cell(AFTER, "gaps of 64 KiB", "after", "%", 25.0, |m| share(gaps_of(m, "sda"), 6));
    for (name, row, count) in HISTOGRAM {
        t.cell(BEFORE, name, "before", "%", 100.0 * count / GAPS_BEFORE, move |m| share(gaps_of(m, "sda"), row));
    }
    t.cell(BEFORE, "distance from 10:5:1:4:2 (total variation)", "before", "%", 0.0, |m| distance(gaps_of(m, "sda")));
    t.cell(BEFORE, "G listing", "before", "matches", 7.0, |m| listed(m, &LISTED_BEFORE));
    t.cell(AFTER, "G listing, every 256 sectors", "after", "matches", 8.0, |m| listed(m, &LISTED_AFTER));
    for (run, variant) in [(BEFORE, "before"), (AFTER, "after")] {
        t.cell(run, "rareq-sz, %rrqm, aqu-sz from the other columns", variant, "matches", 27.0, consistent);
    }
    for (i, (kib, average)) in FLUSH.into_iter().enumerate() {
        let row = format!("average request, plug_flush_bytes={kib}KiB");
        t.cell(FIRST_FLUSH + i, row, "replayed", "KiB", average, |m| m.of_disks(0).size_kib).replayed();
    }
    let faster = (t.simulated("md0 rMB/s", "after") <= t.simulated("md0 rMB/s", "before")).then(|| "md0".into());
    let larger = (t.simulated("sd* rareq-sz", "after") <= t.simulated("sd* rareq-sz", "before")).then(|| "sd*".into());
    vec![
        rule("the array is faster after the fix", faster.into_iter().collect()),
        rule("the members' reads are larger after the fix", larger.into_iter().collect()),
    ]
}
