//! 18: raid5 writes whose bios are, or are not, cut at full stripes.
//!
//! Models: md M.1, M.2, M.5.
//! Rule: the members are the conventional disk of the profile, since nothing is said of them. 34 MB/s of each is all
//! that the larger array takes, so the rate of its members is fitted on one row.
//! Leaves out: what limits those members.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "18",
    source: "linux-raid, \"md: align bio to io_opt for better performance\" (January 2026) and the mail before it (July \
             2025): sequential direct writes to raid5, 64 KiB chunks; A with dd bs=100M, B with fio; rate_outer=28MiB/s of \
             A's members is fitted on A after, B has no fitted number",
    runs,
    seeds: 1,
    judge,
    outside: &["what the members are", "how many I/Os fio kept in flight: one is simulated, its default"],
};

const BEFORE: &str = "&raid5_stripe_limit=0";

fn runs() -> Vec<String> {
    // A bio is as long as the I/O where the buffer lies on huge pages; what cuts it is the array.
    let a = |bs: &str, more: &str| {
        format!(
            "workload=dd&bs={bs}&count=10&bios={bs}&stack=raid5&raid_disks=32&chunk=64KiB&drive=cmr-8tb\
             &rate_outer=28MiB/s&rate_inner=15MiB/s{more}"
        )
    };
    let b = |bs: &str, more: &str| {
        format!("bs={bs}&bios={bs}&stack=raid5&chunk=64KiB&drive=cmr-8tb&time_based=1&runtime=1500ms{more}")
    };
    vec![
        a("100MiB", BEFORE),
        a("100MiB", ""),
        b("10MiB", BEFORE),
        b("10MiB", ""),
        b("448KiB", ""),
        // 50 full stripes.
        a("99200KiB", ""),
    ]
}

/// 4 KiB reads of the members, which only new parity needs here.
fn pre_reads(m: &Measured) -> f64 {
    m.disks().map(|d| (d.sectors[0] / 8) as f64).sum()
}

const MEMBERS: &str = "the members are unknown; a disk of the profile loses turns between reading old data and writing it, \
                       which costs a partly written stripe more than it cost there";

fn judge(t: &mut Cells) -> Vec<Shape> {
    let mib = |mb: f64| mb * 1e6 / 1_048_576.0;
    let bw = Measured::mib_per_s;
    t.cell(0, "A, bs=100M", "before", "MiB/s", mib(782.0), bw);
    t.cell(1, "A, bs=100M", "after", "MiB/s", mib(1100.0), bw).fitted();
    t.cell(2, "B, bs=10M", "before", "MiB/s", 900.0, bw).because(MEMBERS);
    t.cell(3, "B, bs=10M", "after", "MiB/s", 1.1 * 1024.0, bw).because(MEMBERS);
    t.cell(4, "B, bs=io_opt", "peak", "MiB/s", 1.51 * 1024.0, bw);
    t.cell(5, "A, 50 full stripes, pre-reads", "after", "pages", 0.0, pre_reads);
    t.cell(4, "B, bs=io_opt, pre-reads", "peak", "pages", 0.0, pre_reads);
    let of = |row: &str, variant: &str| t.simulated(row, variant);
    let order = |names: [(&str, f64); 2]| {
        (names[0].1 >= names[1].1)
            .then(|| format!("{} {:.0}, {} {:.0}", names[0].0, names[0].1, names[1].0, names[1].1))
    };
    let pairs = [
        order([("A before", of("A, bs=100M", "before")), ("A after", of("A, bs=100M", "after"))]),
        order([("B before", of("B, bs=10M", "before")), ("B after", of("B, bs=10M", "after"))]),
        order([("B after", of("B, bs=10M", "after")), ("B peak", of("B, bs=io_opt", "peak"))]),
    ];
    let reads = [of("A, 50 full stripes, pre-reads", "after"), of("B, bs=io_opt, pre-reads", "peak")];
    vec![
        rule(
            "cut at full stripes is faster than not, whole stripes are fastest",
            pairs.into_iter().flatten().collect(),
        ),
        rule(
            "nothing is read where every bio covers full stripes",
            reads.iter().filter(|n| **n > 0.0).map(|n| format!("{n} pages")).collect(),
        ),
    ]
}
