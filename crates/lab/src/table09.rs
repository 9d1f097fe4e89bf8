//! 09: null_blk by the depth of its hardware queue, with tags counted in eight queues and in one.
//!
//! Models: kernel 3.2, 7.2; the switch `sbitmap_wake`.
//! Rule: three numbers are fitted, each on one cell: what an I/O costs a CPU, on the deepest row of either setup, and
//! what it holds its tag, on depth 8.
//! Leaves out: what CPUs lose to each other on the cache lines of the bitmap, its counters and its wait queues.

use crate::table::{Cells, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "09",
    source: "linux-block, \"sbitmap: Use single per-bitmap counting to wake up queued tags\" (November 2022): null_blk, random \
             writes, iodepth=64, Linux 6.1-rc2 and with the patch (6.2). submit_ns=2324ns is fitted on depth 64 of 6.1-rc2 \
             and 3010ns on that of the shared bitmap, completion_nsec=850ns, which stands for the time a command spends in \
             the driver, on depth 8 of 6.1-rc2; wake_ns=300ns is assumed",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "cache lines that CPUs take from each other: what the patch gains at depths 2 to 8 (2, 15 and 9 %) and loses at 64 \
         is their cost; both ways to count wake the same tasks in this load, so the simulated rows are equal",
        "two NUMA nodes: with the shared bitmap depths up to 16 are slower than with one hardware queue, 4 slower than 2",
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
        link: "submit_ns=2324ns",
        kiops: [[1681.1, 2633.0, 6940.8, 8172.3, 8391.7, 8606.1], [1721.8, 3016.7, 7543.0, 8132.5, 8324.2, 8401.8]],
    },
    Setup {
        name: "shared, 40 jobs",
        link: "submit_ns=3010ns&numjobs=40&nr_cpus=40&submit_queues=20&host_tags=1",
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
                format!("p=nullb-hw-depth&b=0&completion_nsec=850ns&wake_ns=300ns&sbitmap_wake={wake}&hw_queue_depth={depth}&{}", s.link)
            }));
        }
    }
    runs
}

const FOUR: &str = "tags, not CPUs, limit this row, and each is used as often as at depth 2 in the model; the machine used \
                    four tags less well than two or eight: cache lines";
const NODES: &str =
    "40 CPUs of two nodes on the cache lines of one small bitmap: not modelled, and most of the time here";

fn judge(t: &mut Cells) -> Vec<Shape> {
    let mut n = 0;
    for (s, setup) in SETUPS.iter().enumerate() {
        for (k, (kernel, _)) in KERNELS.into_iter().enumerate() {
            for (d, depth) in DEPTHS.into_iter().enumerate() {
                let row = format!("{}, depth {depth}", setup.name);
                let cell = t.cell(n, row, kernel, "thousand/s", setup.kiops[k][d], |m| m.stats.iops() / 1000.0);
                match (s, k, depth) {
                    (0, 0, 8 | 64) | (1, 0, 64) => cell.fitted(),
                    (0, _, 4) => cell.because(FOUR),
                    (1, _, 2..=16) => cell.because(NODES),
                    _ => {}
                }
                n += 1;
            }
        }
    }
    let of = |depth: u32, kernel: &str| t.simulated(&format!("one queue, 20 jobs, depth {depth}"), kernel);
    let (mut grows, mut flat, mut near) = (Vec::new(), Vec::new(), Vec::new());
    for (k, (kernel, _)) in KERNELS.into_iter().enumerate() {
        for pair in DEPTHS[..3].windows(2) {
            if of(pair[1], kernel) < 1.4 * of(pair[0], kernel) {
                grows.push(format!("{kernel}, {} to {}", pair[0], pair[1]));
            }
        }
        if of(16, kernel) < 1.1 * of(8, kernel) || of(64, kernel) > 1.1 * of(16, kernel) {
            flat.push(kernel.to_string());
        }
        for (d, depth) in DEPTHS.into_iter().enumerate().filter(|(_, depth)| *depth >= 8) {
            if (of(depth, kernel) / SETUPS[0].kiops[k][d] - 1.0).abs() > 0.15 {
                near.push(format!("{kernel}, depth {depth}"));
            }
        }
    }
    vec![
        rule("tags limit depths 2 and 4: twice as many carry at least 1.4 times as much, up to 8", grows),
        rule("from 16 on CPUs are the limit", flat),
        rule("with one hardware queue depths 8 and up are within 15 %", near),
    ]
}
