//! Seed 001: a zoned null_blk with one zone, written without scheduler, with a lock a zone, and with pipelined writes.
//!
//! Models: kernel 4.3, 7.2 to 7.5; the switch `zone_ordering`.
//! Rule: three host costs are fitted, one on each published figure; all other rows are predictions, compared with the
//! closed form of what limits them, which knows nothing of queues, tags and single commands.
//! Leaves out: why a CPU of that machine takes so long for an I/O.

use bioscope_scenario::{Side, decode, validate};

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "seed-001",
    source: "message \"block/null_blk: Add support for pipelining zoned writes\" (January 2023) with the script it was measured \
             with: one zone of 1 MiB, 4 KiB writes, iodepth=64, iodepth_batch=16, completion_nsec=100000, memory_backed=1. \
             Three host costs are fitted, one on each figure: submit_ns on that without scheduler, kblockd_ns on that with the \
             lock, dispatch_ns on that with pipelining. In \
             all other rows the left figure is the closed form of the term that is named, not a measurement",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "whether the pipelining patch ran as posted or as its message means it (as_posted=1 shows the first reading)",
        "io_uring's own cost in batches: submit_ns is one number for all of it",
    ],
};

/// The script's settings, and the three fitted costs.
const SCRIPT: &str = "drive=null_blk&zoned=1&zone_size=1&capacity=1MiB&irqmode=2&hw_queue_depth=64\
     &memory_backed=1&max_sectors=8&bs=4KiB&time_based=1&runtime=200ms&kernel=5.17\
     &submit_ns=3.5us&kblockd_ns=78us&dispatch_ns=9.4us";

/// Mode, settings, thousands of writes a second as published.
const MODES: [(&str, &str, f64); 3] = [
    ("none", "scheduler=none&zone_ordering=none", 234.0),
    ("mq-deadline, one write per zone", "scheduler=mq-deadline&zone_ordering=zone_lock", 5.32),
    (
        "mq-deadline, pipelined zone writes",
        "scheduler=mq-deadline&zone_ordering=pipelined&pipeline_zoned_writes=1",
        92.2,
    ),
];

/// What is changed in the predictions: name and completion_nsec in us, iodepth.
const TIMERS: [(&str, f64); 2] = [("timer of 10 us", 10.0), ("timer of 1 ms", 1000.0)];
const DEPTHS: [u32; 5] = [1, 4, 16, 128, 256];
/// hw_queue_depth: what is in flight at the device at most.
const TAGS: f64 = 64.0;

/// A run: mode, name, settings, timer in us, iodepth.
struct Run {
    mode: usize,
    row: String,
    link: String,
    timer_us: f64,
    depth: u32,
}

fn cases() -> Vec<Run> {
    let of = |mode: usize, what: &str, timer_us: f64, depth: u32| {
        let (name, settings, _) = MODES[mode];
        let row = if what.is_empty() { name.into() } else { format!("{name}, {what}") };
        // fio lowers the batch to the depth.
        let batch = depth.min(16);
        let link = format!("{SCRIPT}&{settings}&completion_nsec={timer_us}us&iodepth={depth}&iodepth_batch={batch}");
        Run { mode, row, link, timer_us, depth }
    };
    let published = (0..3).map(|m| of(m, "", 100.0, 64));
    let timers = TIMERS.iter().flat_map(|(what, us)| (0..3).map(move |m| of(m, what, *us, 64)));
    let depths = DEPTHS.iter().flat_map(|depth| (0..3).map(move |m| of(m, &format!("iodepth={depth}"), 100.0, *depth)));
    published.chain(timers).chain(depths).collect()
}

fn runs() -> Vec<String> {
    cases().into_iter().map(|c| c.link).collect()
}

/// Times of the host for one write, us: a task's work, a queue's work, from a completion to the queue's next run.
struct Costs {
    submit: f64,
    dispatch: f64,
    kblockd: f64,
}

/// Writes of a zone.
const WRITES: f64 = 256.0;

/// What limits a mode, and thousands of writes a second by that alone. A zone's writes go in rounds of as many as can be in
/// flight: a round lasts as long as the work for each of its writes, or where that is less, as one of them takes alone.
/// Then the last ones drain and the zone is reset.
fn closed_form(c: &Run, h: &Costs) -> (&'static str, f64) {
    let (work, wake) = if c.mode == 0 { (h.submit, 0.0) } else { (h.dispatch.max(h.submit), h.kblockd + h.dispatch) };
    let together = if c.mode == 1 { 1.0 } else { f64::from(c.depth).min(TAGS) };
    let alone = c.timer_us + wake;
    // Whoever works finds the next write before he is through.
    let busy = together * work > c.timer_us + work;
    let round = if busy { together * work } else { alone };
    let term = match (busy, c.mode) {
        (true, 0) => "submit_ns",
        (true, _) => "dispatch_ns",
        (false, _) if wake > c.timer_us => "kblockd_ns, one write at a time",
        (false, _) if together == 1.0 => "timer, one write at a time",
        (false, _) => "timer / commands in flight",
    };
    let last = WRITES - 1.0;
    let zone = wake + (last / together).floor() * round + (last % together) * work + c.timer_us + alone;
    (term, 1000.0 * WRITES / zone)
}

fn costs(link: &str) -> Costs {
    let (s, _) = decode(link);
    let host = validate(&s, Side::A).expect("settings of a table are valid").host;
    let us = |ns: u64| ns as f64 / 1000.0;
    Costs { submit: us(host.submit_ns), dispatch: us(host.dispatch_ns), kblockd: us(host.kblockd_ns) }
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let kiops = |m: &Measured| m.stats.iops() / 1000.0;
    let (mut off, mut order) = (Vec::new(), Vec::new());
    for (n, c) in cases().iter().enumerate() {
        if n < MODES.len() {
            t.cell(n, &c.row, "published", "thousand/s", MODES[c.mode].2, kiops).fitted();
        }
        let (term, expected) = closed_form(c, &costs(&c.link));
        t.cell(n, &c.row, term, "thousand/s", expected, kiops);
        let simulated = t.simulated(&c.row, term);
        if (simulated / expected - 1.0).abs() > 0.05 {
            off.push(format!("{}: {simulated:.2} against {expected:.2}", c.row));
        }
    }
    let of = |mode: usize| t.simulated(MODES[mode].0, "published");
    if !(of(0) > of(2) && of(2) > 15.0 * of(1)) {
        order.push(format!("{:.1}, {:.2}, {:.1}", of(0), of(1), of(2)));
    }
    vec![
        rule("no scheduler before pipelining before one write a zone, pipelining at least 15 times the last", order),
        rule("every run is within 5 % of its closed form", off),
    ]
}
