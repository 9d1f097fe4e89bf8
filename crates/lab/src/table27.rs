//! 27: zoned null_blk by depth: a CPU's work for each I/O and nothing else.
//!
//! Models: kernel 7.2; fio's zones.
//! Rule: one number a direction is fitted, on depth 8; depth 16 and the times from submission to reaping are predictions.
//! Leaves out: what the patch changes (zone sizes that are no power of two); its rows differ from the others by noise.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "27",
    source: "linux-block, \"support zoned block devices with non-power-of-2 zone sizes\" (September 2022), rows without the \
             patch: null_blk, zones of 128 MiB, 4 KiB, io_uring. submit_ns is fitted on depth 8, 1728ns for writes and \
             1498ns for reads",
    runs,
    seeds: 1,
    judge,
    outside: &[
        "fio's latency ends when the job reaps, an I/O's here when it is complete, with irqmode=0 inside its submission: what is \
         compared is the depth by the rate, which is how long an I/O waits to be reaped (Little's law)",
        "the patch itself: zone sizes are powers of two here, and its rows are the same within noise",
    ],
};

/// Depth, thousands a second, mean latency in us.
type Row = (u32, f64, f64);

/// Direction, submit_ns, rows.
const ROWS: [(&str, &str, [Row; 2]); 2] = [
    ("write", "1728ns", [(8, 578.0, 12.80), (16, 576.0, 25.78)]),
    ("read", "1498ns", [(8, 667.0, 11.79), (16, 675.0, 23.49)]),
];

const REAPED: &str = "submission to reaping";

fn runs() -> Vec<String> {
    let link = |rw: &str, submit: &str, depth: u32| {
        let fill = if rw == "read" { "&zone_full=1" } else { "" };
        format!(
            "drive=null_blk&zoned=1&zone_size=128MiB&capacity=23GiB&scheduler=none&zone_ordering=none&rw={rw}&bs=4KiB\
             &iodepth={depth}&submit_ns={submit}&runtime=20ms&time_based=1{fill}"
        )
    };
    ROWS.iter().flat_map(|(rw, submit, cells)| cells.map(|(depth, ..)| link(rw, submit, depth))).collect()
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let (mut n, mut flat) = (0, Vec::new());
    for (rw, _, cells) in &ROWS {
        let rows = cells.map(|(depth, ..)| format!("{rw}, iodepth={depth}"));
        for ((depth, kiops, us), row) in cells.iter().zip(&rows) {
            let cell = t.cell(n, row, "IOPS", "thousand/s", *kiops, |m| m.stats.iops() / 1000.0);
            if *depth == 8 {
                cell.fitted();
            }
            t.cell(n, row, REAPED, "us", *us, |m: &Measured| f64::from(*depth) * 1e6 / m.stats.iops());
            n += 1;
        }
        let [eight, sixteen] = [0, 1].map(|i: usize| t.simulated(&rows[i], "IOPS"));
        if (sixteen / eight - 1.0).abs() > 0.02 {
            flat.push(format!("{rw}: {eight:.0}, {sixteen:.0}"));
        }
    }
    vec![rule("throughput is the same at both depths", flat)]
}
