//! 09: null_blk by the depth of its hardware queue, with tags counted in eight queues and in one.
//!
//! Models: kernel 3.2, 7.2; the switch `sbitmap_wake`.
//! Rule: what an I/O costs a CPU is fitted on the deepest row of either setup, what an I/O holds its tag on
//! depth 8, and what a cache line of the tag map costs (`tag_line_ns`) on one depth of the first and two of the second.
//! Leaves out: which CPUs share a node: a line costs the same wherever it comes from.

use crate::table::{Cells, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "09",
    source: "linux-block, \"sbitmap: Use single per-bitmap counting to wake up queued tags\" (November 2022): null_blk, random \
             writes, iodepth=64, Linux 6.1-rc2 and with the patch (6.2). Fitted on cells of 6.1-rc2: submit_ns=2250ns on depth \
             64 and 2740ns on that of the shared bitmap; completion_nsec=870ns, which stands for the time a command spends in \
             the driver, on depth 8; tag_line_ns=27ns on depth 4 and 48ns, of two nodes, on depths 16 and 32 of the shared \
             bitmap. wake_ns=300ns is assumed, and so are the five lines of a wake-up: with fewer the patch gains less. \
             All of the patched kernel is predicted",
    runs,
    seeds: 6,
    judge,
    outside: &[
        "nodes: a CPU that has a line is followed by whoever asked next, also from the other node; a machine lets \
         neighbours go first, which with two tags in one word makes those slower who are far",
        "what the patch loses at depths 32 and 64 of the shared bitmap (3 and 7 %), where few sleep in the model; at depth 32 \
         it is of two minds: a run goes on with nobody asleep or with many, by seed",
    ],
};

const DEPTHS: [u32; 6] = [2, 4, 8, 16, 32, 64];
const KERNELS: [(&str, &str); 2] = [("6.1-rc2", "per_queue"), ("patched", "per_map")];

struct Setup {
    name: &'static str,
    link: &'static str,
    /// By kernel and depth, in thousands a second.
    kiops: [[f64; 6]; 2],
}

const SETUPS: [Setup; 2] = [
    Setup {
        name: "one queue, 20 jobs",
        link: "submit_ns=2250ns&tag_line_ns=27ns",
        kiops: [[1681.1, 2633.0, 6940.8, 8172.3, 8391.7, 8606.1], [1721.8, 3016.7, 7543.0, 8132.5, 8324.2, 8401.8]],
    },
    Setup {
        name: "shared, 40 jobs",
        link: "submit_ns=2740ns&tag_line_ns=48ns&numjobs=40&nr_cpus=40&submit_queues=20&host_tags=1",
        kiops: [
            [1081.0, 957.2, 1699.1, 6178.2, 12_227.9, 13_286.6],
            [1081.8, 1316.5, 2364.4, 6151.4, 11_893.6, 12_385.6],
        ],
    },
];

fn runs() -> Vec<String> {
    let mut runs = Vec::new();
    for s in &SETUPS {
        for (_, wake) in KERNELS {
            runs.extend(DEPTHS.map(|depth| {
                format!("p=nullb-hw-depth&b=0&completion_nsec=870ns&wake_ns=300ns&sbitmap_wake={wake}&hw_queue_depth={depth}&{}", s.link)
            }));
        }
    }
    runs
}

const NODES: &str = "two or four tags under 40 CPUs of two nodes: in the model whoever asks next gets a line, also the CPU \
                     that has it and a tag and asks again, and some CPUs run on while the others sleep; between two nodes \
                     that costs more than between neighbours";

fn judge(t: &mut Cells) -> Vec<Shape> {
    let mut n = 0;
    for (s, setup) in SETUPS.iter().enumerate() {
        for (k, (kernel, _)) in KERNELS.into_iter().enumerate() {
            for (d, depth) in DEPTHS.into_iter().enumerate() {
                let row = format!("{}, depth {depth}", setup.name);
                let cell = t.cell(n, row, kernel, "thousand/s", setup.kiops[k][d], |m| m.stats.iops() / 1000.0);
                match (s, k, depth) {
                    (0, 0, 4 | 8 | 64) | (1, 0, 16 | 32 | 64) => cell.fitted(),
                    (1, _, 2 | 4) => cell.because(NODES),
                    _ => {}
                }
                n += 1;
            }
        }
    }
    let of = |s: usize, depth: u32, kernel: &str| t.simulated(&format!("{}, depth {depth}", SETUPS[s].name), kernel);
    let [old, new] = KERNELS.map(|(kernel, _)| kernel);
    let (mut grows, mut flat, mut near, mut gains, mut order) = (vec![], vec![], vec![], vec![], vec![]);
    for (s, setup) in SETUPS.iter().enumerate() {
        for (k, kernel) in [old, new].into_iter().enumerate() {
            if s == 0 && DEPTHS[..3].windows(2).any(|d| of(s, d[1], kernel) < 1.4 * of(s, d[0], kernel)) {
                grows.push(kernel.to_string());
            }
            if s == 0 && (of(s, 16, kernel) < 1.1 * of(s, 8, kernel) || of(s, 64, kernel) > 1.1 * of(s, 16, kernel)) {
                flat.push(kernel.to_string());
            }
            for (d, depth) in DEPTHS.into_iter().enumerate().filter(|(_, depth)| *depth >= 8) {
                if (of(s, depth, kernel) / setup.kiops[k][d] - 1.0).abs() > 0.15 {
                    near.push(format!("{}, {kernel}, depth {depth}", setup.name));
                }
            }
        }
        for depth in DEPTHS {
            let gain = of(s, depth, new) / of(s, depth, old) - 1.0;
            if (depth == 4 && gain < 0.05) || (depth >= 16 && gain.abs() > 0.05) || (depth == 2 && gain > 0.05) {
                gains.push(format!("{}, depth {depth}: {:.0} %", setup.name, 100.0 * gain));
            }
        }
        if of(s, 8, new) < of(s, 8, old) {
            gains.push(format!("{}, depth 8", setup.name));
        }
    }
    if of(1, 4, old) > 0.95 * of(1, 2, old) {
        order.push(old.to_string());
    }
    if of(1, 4, new) < of(1, 2, new) {
        order.push(new.to_string());
    }
    vec![
        rule("one queue: twice as many tags carry at least 1.4 times as much, up to 8", grows),
        rule("one queue: from 16 on CPUs are the limit", flat),
        rule("depths 8 and up are within 15 %", near),
        rule("the patch gains at depths 4 and 8, and not at 2, nor from 16 on", gains),
        rule("shared bitmap: four tags are slower than two before the patch, and faster with it", order),
    ]
}
