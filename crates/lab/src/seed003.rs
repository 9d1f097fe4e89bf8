//! Seed 003: the share of sequential commands of a disk that many jobs read, with wake_batch 8 and 1.
//!
//! Models: kernel 3.2 to 3.4; the switch `async_depth_owner`.
//! Rule: the preset is run as it is. How long woken tasks take to run is known of nobody, so the spread of that time is
//! fitted on the share with wake_batch 8; the share with wake_batch 1 is a prediction.
//! Leaves out: what the disk is.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "seed-003",
    source: "message \"mq-deadline: covert to use request_queue->async_depth\" (November 2025): 24 jobs of 1 MiB random \
             reads on a hard disk, max_sectors_kb=128. It states neither nr_requests nor the disk's queue_depth: 64 \
             gives its wake_batch of 8, and queue_depth >= nr_requests is assumed, since a disk that takes less leaves \
             requests in mq-deadline, which sorts them (preset hdd-async-depth-sata); step_ns=2us is assumed; \
             wake_spread_ns=17700ns is fitted on the share with wake_batch 8",
    runs,
    seeds: 6,
    judge,
    outside: &[
        "completions that the disk or its host adapter reports several at a time",
        "where a woken task runs, and what else that CPU does",
    ],
};

const OWNERS: [(&str, &str, f64); 2] = [("wake_batch 8", "queue", 8.0), ("wake_batch 1", "elevator", 0.8)];

fn runs() -> Vec<String> {
    let link = |owner: &str| format!("p=hdd-async-depth&b=0&async_depth_owner={owner}");
    OWNERS.map(|(_, owner, _)| link(owner)).into()
}

const NONE: &str = "a simulated disk ends one command at a time, every few milliseconds, and the task woken for its tag takes \
                    it long before the next is free: two pieces in a row happen to nobody";

fn judge(t: &mut Cells) -> Vec<Shape> {
    let row = "sequential share at D";
    for (n, (variant, _, published)) in OWNERS.into_iter().enumerate() {
        let cell = t.cell(n, row, variant, "%", published, Measured::sequential_pct);
        match n {
            0 => cell.fitted(),
            _ => cell.because(NONE),
        }
        t.cell(n, "requests of a read", variant, "requests", 8.0, |m| {
            m.stats.nr_issued as f64 / m.stats.total_ios as f64
        });
    }
    let [eight, one] = OWNERS.map(|(variant, ..)| t.simulated(row, variant));
    let breaks = |holds: bool| (!holds).then(|| format!("{one:.2} %")).into_iter().collect();
    let iops = |n: usize| t.run(n).stats.iops();
    let slower = (iops(1) >= iops(0)).then(|| format!("{:.1} and {:.1} I/Os a second", iops(0), iops(1)));
    vec![
        rule("predicted: wake_batch 1 leaves less than 1.6 % sequential", breaks(one < 1.6)),
        rule("predicted: less than a fifth of what wake_batch 8 leaves", breaks(one < eight / 5.0)),
        rule("predicted: the disk is slower with wake_batch 1", slower.into_iter().collect()),
    ]
}
