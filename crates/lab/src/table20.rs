//! 20: check of a raid6 of 36 disks, whose plug holds 16 requests or 64.
//!
//! Models: kernel 2.4, md M.9 and vector 8 of M.12.
//! Rule: three numbers are fitted, each on one cell: raid5d's time for a member bio on the check's speed with 16/4, what
//! it adds for a request on that with 16/1, the members' latency on r_await with 16/1.
//! Leaves out: the few merges there were with 16/1.

use crate::table::{Cells, Columns, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "20",
    source: "linux-raid, \"Re: Slow initial resync in RAID6 with 36 SAS drives\" (September 2021): check of a raid6 of 36 \
             disks, Linux 5.10.62, mean of the two listed disks; md_bio_ns=1150ns is fitted on the speed with 16/4, \
             md_rq_ns=1630ns on the speed and cap_latency_ns=1ms on r_await with 16/1",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "the disks' own read-ahead",
        "the race between the sync thread and raid5d, which decides how long a run is",
    ],
};

const FITTED: &str = "&md_bio_ns=1150ns&md_rq_ns=1630ns&cap_latency_ns=1ms";
const PLUGS: [(&str, &str); 2] = [("16/1", "1"), ("16/4", "4")];
const MEMBERS: [u32; 5] = [12, 16, 17, 24, 36];

fn runs() -> Vec<String> {
    let link = |factor: &str, disks: u32, runtime: &str| {
        format!("p=raid6-check-36&b=0&runtime={runtime}&raid_disks={disks}&plug_multi_factor={factor}{FITTED}")
    };
    let mut runs: Vec<String> = PLUGS.iter().map(|(_, factor)| link(factor, 36, "1s")).collect();
    runs.extend(PLUGS.iter().flat_map(|(_, factor)| MEMBERS.map(|disks| link(factor, disks, "100ms"))));
    runs
}

/// r/s, rkB/s, rrqm/s, %rrqm, r_await, aqu-sz, rareq-sz, %util: means of sdc and sdb, sdd and sdc.
const PRINTED: [[f64; 8]; 2] = [
    [10_076.6, 41_277.6, 242.8, 2.355, 1.125, 11.33, 4.095, 81.28],
    [168.1, 80_597.6, 19_971.0, 99.165, 6.61, 1.125, 479.46, 54.4],
];
const SPEED: [f64; 2] = [38_329.0, 81_380.0];
const COLUMNS: [(&str, &str); 8] = [
    ("r/s", "1/s"),
    ("rkB/s", "KiB/s"),
    ("rrqm/s", "1/s"),
    ("%rrqm", "%"),
    ("r_await", "ms"),
    ("aqu-sz", "in flight"),
    ("rareq-sz", "KiB"),
    ("%util", "% busy"),
];

fn columns(c: Columns) -> [f64; 8] {
    [c.ios, c.kb, c.merges, c.merged_pct, c.await_ms, c.queue, c.size_kib, c.util_pct]
}

const FEW: &str =
    "three reads in a hundred did merge there; which, the listing does not say, and by the plug's rules none can";
const BUSY: &str = "a device of a fixed rate and latency is busy while it answers; the disks had the next reads in their own \
                    buffers and were idle between bursts";

const RUNS: &str = "how many stripes a run of raid5d finds is a race with the sync thread; in the model runs are a fifth \
                    shorter, and so are the reads";

fn judge(t: &mut Cells) -> Vec<Shape> {
    for (n, (variant, _)) in PLUGS.into_iter().enumerate() {
        t.cell(n, "check speed", variant, "KiB/s", SPEED[n], |m| m.of_disks(0).kb).fitted();
        for (i, (name, unit)) in COLUMNS.into_iter().enumerate() {
            let cell = t.cell(n, name, variant, unit, PRINTED[n][i], move |m| columns(m.of_disks(0))[i]);
            match (name, variant) {
                ("r_await", "16/1") => cell.fitted(),
                ("rrqm/s" | "%rrqm", "16/1") => cell.because(FEW),
                ("aqu-sz" | "%util", "16/4") => cell.because(BUSY),
                ("r/s", "16/4") => cell.because(RUNS),
                _ => {}
            }
        }
    }
    let merges = |m: &Measured| m.disks().any(|d| d.merges[0] > 0);
    for (p, (variant, _)) in PLUGS.into_iter().enumerate() {
        let first = PLUGS.len() + p * MEMBERS.len();
        let right = MEMBERS.iter().enumerate().filter(|(i, disks)| {
            let expected = variant == "16/4" || **disks <= 16;
            merges(t.run(first + i)) == expected
        });
        let right = right.count() as f64;
        let row = "merges or not with 12, 16, 17, 24, 36 members";
        t.cell(first, row, variant, "matches", MEMBERS.len() as f64, move |_| right);
    }
    let slower = (t.simulated("check speed", "16/1") * 1.5 >= t.simulated("check speed", "16/4")).then(|| "36".into());
    vec![rule("the check is at least half as fast again once reads merge", slower.into_iter().collect())]
}
