//! 29: which request of a plug a bio is tried against, seen through a cap on commands a second.
//!
//! Models: kernel 2.4; the switch `plug_merge`.
//! Rule: each 4 KiB write is two bios, which merge only if the second is tried against the first. A plug lasts for
//! `iodepth_batch` writes: 16 is fitted on the share of 6.15.1; the cap is published.
//! Leaves out: what ends a flusher's plug.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "29",
    source: "linux-block, \"Revert 'block: don't reorder requests in blk_add_rq_to_plug'\" (June 2025): four buffered jobs \
             of 4 KiB random writes, each two bios of 2 KiB, on an SSD capped at 180,000 commands a second; iodepth_batch=16 \
             is fitted on the share of merges in 6.15.1",
    runs,
    seeds: 6,
    judge,
    outside: &["what the host needs for 169,000 writes of 4 KiB a second: the model reaches the cap"],
};

fn runs() -> Vec<String> {
    ["head", "newest"]
        .map(|merge| {
            format!(
                "rw=randwrite&bs=4KiB&bios=2KiB&queue_depth=1023&iodepth=64&iodepth_batch=16&numjobs=4&buffered=1&time_based=1&runtime=50ms\
                 &scheduler=none&plug_merge={merge}&submit_ns=1us&drive=capped&cap_iops=180000&cap_rate=0&capacity=50GiB"
            )
        })
        .into()
}

/// Bios that found a partner in their plug, percent.
fn merged(m: &Measured) -> f64 {
    100.0 * m.stats.nr_plug_merges as f64 / m.stats.nr_plug_tries as f64
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let share = |ok: f64, fail: f64| 100.0 * ok / (ok + fail);
    t.cell(0, "plug merges of bios", "6.15.1", "%", share(5618.0, 176_578.0), merged).fitted();
    t.cell(1, "plug merges of bios", "reverted", "%", share(146_686.0, 146_684.0), merged);
    for (n, variant, size, rate) in [(0, "6.15.1", 2.0, 362.0), (1, "reverted", 4.0, 660.0)] {
        t.cell(n, "size of a write", variant, "KiB", size, |m| m.of_disks(1).size_kib);
        t.cell(n, "bandwidth", variant, "MiB/s", rate, Measured::mib_per_s);
    }
    let slower = (t.simulated("bandwidth", "6.15.1") >= t.simulated("bandwidth", "reverted")).then(|| "6.15.1".into());
    vec![rule("the newest request is the better one to try", slower.into_iter().collect())]
}
