//! 11: latencies of a disk's commands with NCQ priority, by class.
//!
//! Models: disk model: reads by access time with ageing, those of high priority first (kernel 3.5, NCQ priority).
//! Rule: the profile's disk, as it is. No number is fitted; everything is held out.
//! Leaves out: what the disk was.

use bioscope_core::observe::stats::Histogram;

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "11",
    source: "linux-block, \"Re: block: Fix IO priority mess\" (June 2022): an ATA disk with NCQ priority, no scheduler, 128 KiB \
             random reads, 24 in flight, a tenth of them in the realtime class, 593 s. The disk is not named; nothing is \
             fitted",
    runs,
    seeds: 3,
    judge,
    outside: &[
        "what the disk is, and how its firmware weighs the nearest command against the oldest",
        "percentiles of fewer than ten commands: from 99.9 of the realtime class, 99.99 of the others",
    ],
};

fn runs() -> Vec<String> {
    vec!["p=ncq-prio&b=0&ncq_prio=1&runtime=593s".into()]
}

/// Hundredths of a percent; all, no class and realtime, in ms.
const PERCENTILES: [(u32, [f64; 3]); 16] = [
    (100, [15.0, 15.0, 14.0]),
    (500, [20.0, 21.0, 17.0]),
    (1000, [23.0, 27.0, 18.0]),
    (2000, [32.0, 46.0, 20.0]),
    (3000, [51.0, 68.0, 22.0]),
    (4000, [77.0, 94.0, 23.0]),
    (5000, [108.0, 126.0, 25.0]),
    (6000, [146.0, 163.0, 26.0]),
    (7000, [194.0, 213.0, 28.0]),
    (8000, [262.0, 279.0, 30.0]),
    (9000, [372.0, 388.0, 33.0]),
    (9500, [477.0, 489.0, 35.0]),
    (9900, [659.0, 659.0, 40.0]),
    (9950, [701.0, 709.0, 42.0]),
    (9990, [793.0, 793.0, 47.0]),
    (9995, [818.0, 827.0, 50.0]),
];
const CLASSES: [&str; 3] = ["all", "none", "RT"];

fn class(m: &Measured, c: usize) -> &Histogram {
    match c {
        0 => &m.stats.lat,
        _ => &m.classes[c - 1],
    }
}

fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

const FIRST: &str = "few commands, near the shortest access there is: how soon the nearest one is taken is a matter of the disk's \
                     firmware";
const ONE: &str = "166 ms is one command of nine thousand, four times the next slowest percentile: something outside the queue's \
                   order held it";
const AGE: &str = "when a command has waited long enough to go before nearer ones (read_age_ns=1s) is assumed; the real disk \
                   seems to weigh age all along, so that few wait as long";

fn judge(t: &mut Cells) -> Vec<Shape> {
    t.cell(0, "IOPS", "all", "1/s", 152.0, |m| m.stats.iops());
    let mut late = Vec::new();
    for (c, name) in CLASSES.into_iter().enumerate() {
        let average = [156.95, 171.68, 24.64][c];
        t.cell(0, "average", name, "ms", average, move |m| ms(class(m, c).mean()));
        t.cell(0, "min", name, "ms", [7.0, 7.0, 8.0][c], move |m| ms(class(m, c).min)).because(FIRST);
        t.cell(0, "max", name, "ms", [918.0, 918.0, 166.0][c], move |m| ms(class(m, c).max)).because(if c == 2 {
            ONE
        } else {
            AGE
        });
        for (p, published) in PERCENTILES.into_iter().filter(|(p, _)| c < 2 || *p < 9990) {
            let row = format!("{} %", f64::from(p) / 100.0);
            let figure = move |m: &Measured| class(m, c).percentile(p).map_or(0.0, ms);
            t.cell(0, row, name, "ms", published[c], figure).because(if p <= 1000 { FIRST } else { AGE });
        }
    }
    for (p, _) in PERCENTILES.into_iter().filter(|(p, _)| (2000..9990).contains(p)) {
        let row = format!("{} %", f64::from(p) / 100.0);
        let [all, none, rt] = CLASSES.map(|name| t.simulated(&row, name));
        if rt >= all || all > none {
            late.push(row);
        }
    }
    let [all, none, rt] = CLASSES.map(|name| t.simulated("average", name));
    let tail = t.simulated("99 %", "all") / all;
    let iops = t.simulated("IOPS", "all");
    let little = (iops * all / 1000.0 / 24.0 - 1.0).abs();
    let breaks = |holds: bool, what: String| (!holds).then_some(what).into_iter().collect();
    vec![
        rule("from 20 % on the realtime class is faster than all, and all than the rest", late),
        rule(
            "on average it is at least four times as fast as the rest",
            breaks(4.0 * rt <= none, format!("{none:.1}, {rt:.1} ms")),
        ),
        rule(
            "the nearest first leaves a long tail: 99 % is over three averages",
            breaks(tail > 3.0, format!("{tail:.1}")),
        ),
        rule("Little's law: IOPS times the average is 24", breaks(little < 0.01, format!("{little:.4}"))),
    ]
}
