//! The gap histogram of a device as text.
//!
//! Models: the "io seek" listing in the message of the bio_list fix (kernel 2.5).
//! Rule: rows up to the last that has any; a bar of 40 characters is the fullest row, part of a character counts as
//! one. Whoever reads it splits at white space.
//! Leaves out: the distances themselves.

use std::fmt::Write;

use bioscope_core::observe::gaps::DeviceGaps;

const BAR: u64 = 40;

/// The listing.
pub fn text(gaps: &DeviceGaps) -> String {
    let mut out = format!("Read|Write seek\ncnt {}, zero cnt {}\n", gaps.total, gaps.zero);
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{:>9} .. {:<9} : {:<9} {:>6} |{:<40}|", ">=(KB)", "<(KB)", "count", "ratio", "distribution");
    let most = gaps.counts().iter().copied().max().unwrap_or(0);
    for (row, count) in gaps.counts().iter().enumerate() {
        let (from, to) = (if row == 0 { 0 } else { 1u64 << (row - 1) }, 1u64 << row);
        let ratio = *count as f64 * 100.0 / gaps.total as f64;
        let bar = "#".repeat((count * BAR).div_ceil(most) as usize);
        let _ = writeln!(out, "{from:>9} .. {to:<9} : {count:<9} {ratio:>5.1}% |{bar:<40}|");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use bioscope_core::observe::gaps::Gaps;
    use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink};
    use bioscope_core::units::Op;

    /// A disk with so many gaps of so many KiB.
    fn gaps(of: &[(u64, u64)]) -> DeviceGaps {
        let mut gaps = Gaps::default();
        let mut sector = 0;
        let mut record = |sector| {
            gaps.record(&TraceRecord {
                time: 0,
                dev: 0,
                action: Action::Issue,
                op: Op::Read,
                flags: 0,
                sector,
                nr_sectors: 8,
                bio: 1,
                rq: 1,
                arg: 0,
                job: 0,
                origin: sector,
            });
        };
        record(0);
        for (count, kib) in of {
            for _ in 0..*count {
                sector += 8 + kib * 2;
                record(sector);
            }
        }
        gaps.of(0).unwrap().clone()
    }

    fn words(text: &str) -> Vec<String> {
        text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn kernel_2_5_the_published_listing_before_the_fix() {
        let text = text(&gaps(&[(25_079, 0), (12_540, 64), (2508, 128), (10_032, 512), (5016, 1024)]));
        let rows = words(&text);
        assert_eq!(
            rows[..3],
            ["Read|Write seek", "cnt 55175, zero cnt 25079", ">=(KB) .. <(KB) : count ratio |distribution |"]
        );
        let row = |i: usize| rows[3 + i].as_str();
        assert_eq!(row(0), format!("0 .. 1 : 25079 45.5% |{}|", "#".repeat(40)));
        assert_eq!(row(1), "1 .. 2 : 0 0.0% | |");
        assert_eq!(row(6), format!("32 .. 64 : 12540 22.7% |{} |", "#".repeat(21)));
        assert_eq!(row(7), format!("64 .. 128 : 2508 4.5% |{} |", "#".repeat(5)));
        assert_eq!(row(9), format!("256 .. 512 : 10032 18.2% |{} |", "#".repeat(17)));
        assert_eq!(row(10), format!("512 .. 1024 : 5016 9.1% |{} |", "#".repeat(9)));
        assert_eq!(rows.len(), 3 + 11);
    }

    #[test]
    fn kernel_2_5_the_published_listing_after_the_fix() {
        let rows = words(&text(&gaps(&[(21_483, 0), (7161, 64)])));
        assert_eq!(rows[1], "cnt 28644, zero cnt 21483");
        assert_eq!(rows.last().unwrap(), &format!("32 .. 64 : 7161 25.0% |{} |", "#".repeat(14)));
        assert_eq!(rows.len(), 3 + 7);
    }

    #[test]
    fn columns_stand_below_each_other() {
        let text = text(&gaps(&[(3, 0), (1, 2)]));
        assert_eq!(text.lines().count(), 5);
        assert!(text.lines().skip(2).all(|l| l.find("..") == Some(10) && l.chars().count() == 84), "{text}");
        // No command, no rows.
        assert_eq!(super::text(&DeviceGaps::default()).lines().count(), 3);
    }
}
