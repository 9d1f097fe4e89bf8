//! 05: sequential writes across zones of a shingled disk with a lock a zone, before and after streams are kept together.
//!
//! Models: kernel 4.3; the switch `zone_lock_streams`.
//! Rule: nothing is fitted: the disk is not named, so the profile whose rate comes nearest is taken as it is. Requests are
//! taken not to merge: the source does not say, and merged ones hide the effect, which a row of its own shows.
//! Leaves out: what the disk is.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "05",
    source: "linux-block, \"mq-deadline: Do not break sequential write streams to zoned HDDs\" (November 2022): 64 KiB writes, \
             iodepth=32, mq-deadline. The disk is not named: smr-15tb, whose rate is near, as it is. nomerges=2 is assumed: \
             with merging 32 waiting writes are four requests, and the disk goes back and forth four times, not 32",
    runs,
    seeds: 3,
    judge,
    outside: &["the disk's cache: how many of the alternating writes it puts in order is the model's word"],
};

/// Streams kept, MB/s.
const ROWS: [(&str, &str, f64); 2] =
    [("before: the next zone starts early", "0", 225.0), ("after: streams are kept", "1", 250.0)];

fn runs() -> Vec<String> {
    let link = |streams: &str, merges: &str| {
        format!(
            "drive=smr-15tb&kernel=5.17&scheduler=mq-deadline&zone_ordering=zone_lock&zone_lock_streams={streams}\
             &nomerges={merges}&bs=64KiB&iodepth=32&runtime=30s&size=40z"
        )
    };
    ROWS.iter().map(|r| link(r.1, "2")).chain(ROWS.iter().map(|r| link(r.1, "0"))).collect()
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let mb = |m: &Measured| m.stats.bytes_per_sec() / 1e6;
    for (n, (row, _, published)) in ROWS.iter().enumerate() {
        t.cell(n, *row, "64 KiB", "MB/s", *published, mb);
    }
    t.between([0, 1], "what keeping streams gains", "64 KiB", "%", 100.0 * (250.0 / 225.0 - 1.0), |a, b| {
        100.0 * (b.stats.bytes_per_sec() / a.stats.bytes_per_sec() - 1.0)
    })
    .because("the two rates are each within 5 %; their quotient adds both errors");
    let of = |n: usize| t.simulated(ROWS[n].0, "64 KiB");
    let off =
        (0..2).filter(|n| (of(*n) / ROWS[*n].2 - 1.0).abs() > 0.05).map(|n| format!("{} {:.1}", ROWS[n].0, of(n)));
    let off = off.collect();
    let slower = (of(0) >= of(1)).then(|| format!("{:.1}, {:.1}", of(0), of(1)));
    let [before, after] = [2, 3].map(|n| mb(t.run(n)));
    let merged = (before >= after).then(|| format!("{before:.1}, {after:.1}"));
    vec![
        rule("both within 5 %", off),
        rule("before is slower than after", slower.into_iter().collect()),
        rule("with merging before is slower still, by less", merged.into_iter().collect()),
    ]
}
