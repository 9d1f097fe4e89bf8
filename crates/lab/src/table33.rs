//! 33: what %util and aqu-sz say of the same I/O in kernels that count io_ticks differently.
//!
//! Models: kernel 10.2; the switch `io_ticks`.
//! Rule: rates and latencies of a run are set to the listing's; its %util is a prediction, aqu-sz what follows from them.
//! Leaves out: case c, whose device and pattern are unknown.

use crate::table::{Cells, Columns, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "33",
    source: "iostat listings from linux-block (2022, 2023): short I/Os one at a time on 4.4 and 5.4; 120 reads in flight on a slow \
             device without and with the patch that counts time in flight (6.10). Latencies are the listings', pauses such that a \
             run has their I/Os a second; jiffies of 4 ms (case a) and 1 ms (case b) are assumed",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "how the 120 reads of case b come and go is not known; here they are four groups that come back together",
        "aqu-sz 0.00 on 5.4: that kernel's time_in_queue loses I/Os shorter than a jiffy; here the column is what the others give",
    ],
};

fn runs() -> Vec<String> {
    let a = |ticks: &str| {
        format!(
            "drive=capped&cap_rate=0&rw=randrw&bs=4KiB&iodepth=1&submit_ns=2us&scheduler=none&zonemode=none&runtime=2s{ticks}"
        )
    };
    let b = |ticks: &str| {
        format!(
            "drive=capped&cap_rate=600MiB/s&cap_latency_ns=24ms&rw=randread&bs=64KiB&numjobs=4&iodepth=30&iodepth_batch=30\
             &iodepth_batch_complete_min=30&thinktime=2700us&thinktime_blocks=30&submit_ns=2us&queue_depth=256\
             &nr_requests=256&scheduler=none&zonemode=none&runtime=5s{ticks}"
        )
    };
    vec![
        a("&cap_latency_ns=65400ns&thinktime=90300ns"),
        a("&cap_latency_ns=70300ns&thinktime=107us&io_ticks=start"),
        b("&io_ticks=start&jiffy_ns=1ms"),
        b(""),
    ]
}

const GROUPS: &str = "a start counts one jiffy, however long ago the last was: what is lost depends on how far starts are from ends, \
                      and the listing does not say how its 120 reads come and go";

fn util(m: &Measured) -> f64 {
    both(m).0
}
/// %util, and reads and writes times their latencies.
fn both(m: &Measured) -> (f64, f64) {
    let [r, w]: [Columns; 2] = [0, 1].map(|kind| m.of_disks(kind));
    (r.util_pct, (r.ios * r.await_ms + w.ios * w.await_ms) / 1000.0)
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let rows = [
        ("a, one at a time", "4.4", 44.0),
        ("a, one at a time", "5.4", 99.01),
        ("b, 120 in flight", "without", 69.0),
        ("b, 120 in flight", "with", 100.0),
    ];
    for (n, (row, variant, published)) in rows.into_iter().enumerate() {
        let cell = t.cell(n, row, variant, "% busy", published, util);
        if n == 2 {
            cell.because(GROUPS);
        }
    }
    for (n, (row, variant, published)) in [
        ("a, I/Os", "4.4", 6421.0),
        ("a, I/Os", "5.4", 5631.68),
        ("b, reads", "without", 4001.0),
        ("b, reads", "with", 3970.0),
    ]
    .into_iter()
    .enumerate()
    {
        t.cell(n, row, variant, "1/s", published, |m| m.of_disks(0).ios + m.of_disks(1).ios).fitted();
    }
    t.cell(1, "a, aqu-sz from r/s x r_await + w/s x w_await", "5.4", "in flight", 0.40, |m| both(m).1);
    let of = |n: usize| t.simulated(rows[n].0, rows[n].1);
    let breaks = |holds: bool| {
        (!holds).then(|| format!("{:.1} {:.1} {:.1} {:.1}", of(0), of(1), of(2), of(3))).into_iter().collect()
    };
    vec![
        rule(
            "the same short I/Os: less than half busy by time in flight, almost always by jiffies",
            breaks(of(0) < 50.0 && of(1) > 98.0),
        ),
        rule(
            "the same long I/Os: always busy by time in flight, less by jiffies",
            breaks(of(3) > 99.9 && of(2) < of(3) - 5.0),
        ),
    ]
}
