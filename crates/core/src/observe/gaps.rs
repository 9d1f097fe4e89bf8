//! How far apart the commands of a device are: a histogram of the gaps between one D and the next.
//!
//! Models: the seek statistics of blktrace's D stage in the message of the bio_list fix (kernel 2.5, 10.1).
//! Rule: a gap is |start of the next read or write - end of the previous one|, per device. Rows double: a gap belongs
//! to the row whose upper bound it does not pass, so that exactly 64 KiB is in 32..64 and none is in 0..1.
//! Leaves out: direction; reads and writes are one stream of positions.

use alloc::vec::Vec;

use crate::observe::trace::{Action, TraceRecord, TraceSink};
use crate::units::{DevIdx, Op, Sector};

/// Gaps of one device.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceGaps {
    /// End of its last command.
    end: Option<Sector>,
    counts: Vec<u64>,
    /// Gaps.
    pub total: u64,
    /// Gaps of nothing: the next command goes on where the last one ended.
    pub zero: u64,
}

impl DeviceGaps {
    /// Gaps per row: 0..1 KiB, 1..2, 2..4 and so on, up to the last row that has any.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Sequential share: gaps of nothing of all, in hundredths of a percent; `None` without gaps.
    pub fn sequential(&self) -> Option<u32> {
        (self.zero * 10_000).checked_div(self.total).map(|share| share as u32)
    }

    /// The gaps of another device are counted in as well.
    pub fn add(&mut self, other: &DeviceGaps) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (to, n) in self.counts.iter_mut().zip(&other.counts) {
            *to += n;
        }
        self.total += other.total;
        self.zero += other.zero;
    }

    fn command(&mut self, sector: Sector, nr_sectors: u32) {
        if let Some(end) = self.end.replace(sector + Sector::from(nr_sectors)) {
            let gap = sector.abs_diff(end);
            let row = row(gap);
            if self.counts.len() <= row {
                self.counts.resize(row + 1, 0);
            }
            self.counts[row] += 1;
            self.total += 1;
            self.zero += u64::from(gap == 0);
        }
    }
}

/// The row of a gap in sectors: row r ends at 2^r KiB, which is 2^(r+1) sectors.
fn row(gap: Sector) -> usize {
    (gap.max(1) - 1).checked_ilog2().unwrap_or(0) as usize
}

/// Gaps of all devices.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Gaps {
    devices: Vec<DeviceGaps>,
}

impl Gaps {
    /// Of one device; `None` before its first command.
    pub fn of(&self, dev: DevIdx) -> Option<&DeviceGaps> {
        self.devices.get(usize::from(dev))
    }
    /// Of all devices together: each gap is one of its own device.
    pub fn all(&self) -> DeviceGaps {
        let mut all = DeviceGaps::default();
        for d in &self.devices {
            all.add(d);
        }
        all
    }
}

impl TraceSink for Gaps {
    #[inline]
    fn record(&mut self, r: &TraceRecord) {
        if r.action == Action::Issue && matches!(r.op, Op::Read | Op::Write) {
            let dev = usize::from(r.dev);
            if self.devices.len() <= dev {
                self.devices.resize_with(dev + 1, DeviceGaps::default);
            }
            self.devices[dev].command(r.sector, r.nr_sectors);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn record(dev: DevIdx, action: Action, op: Op, sector: Sector, nr_sectors: u32) -> TraceRecord {
        TraceRecord {
            time: 0,
            dev,
            action,
            op,
            flags: 0,
            sector,
            nr_sectors,
            bio: 1,
            rq: 1,
            arg: 0,
            job: 0,
            origin: sector,
        }
    }

    #[test]
    fn kernel_2_5_rows_are_upper_inclusive() {
        // Sectors: 0, 1 and 2 are up to 1 KiB, 3 and 4 up to 2 KiB, 128 is exactly 64 KiB.
        let rows = [0, 1, 2, 3, 4, 5, 8, 9, 64, 65, 128, 129, 2048, 2049].map(row);
        assert_eq!(rows, [0, 0, 0, 1, 1, 2, 2, 3, 5, 6, 6, 7, 10, 11]);
    }

    #[test]
    fn kernel_2_5_a_disk_of_the_patched_dd() {
        // 128, 128, 128 and 64 KiB, then a hole of 64 KiB: parity.
        let mut gaps = Gaps::default();
        let mut at = 1_000_000;
        for i in 0..4001 {
            let nr = if i % 4 == 3 { 128 } else { 256 };
            gaps.record(&record(1, Action::Issue, Op::Read, at, nr));
            at += Sector::from(nr) + if i % 4 == 3 { 128 } else { 0 };
        }
        let g = gaps.of(1).unwrap();
        assert_eq!((g.total, g.zero, g.sequential()), (4000, 3000, Some(7500)));
        assert_eq!(g.counts(), [3000, 0, 0, 0, 0, 0, 1000]);
    }

    #[test]
    fn kernel_2_5_gaps_count_both_ways_and_by_device() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.of(0), None);
        for (dev, sector) in [(0, 1000), (2, 5000), (0, 0), (2, 5008)] {
            gaps.record(&record(dev, Action::Issue, Op::Write, sector, 8));
        }
        // From 1008 back to 0: 504 KiB.
        assert_eq!(gaps.of(0).unwrap().counts(), [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!((gaps.of(2).unwrap().zero, gaps.of(2).unwrap().counts().to_vec()), (1, vec![1]));
        assert_eq!((gaps.of(1).unwrap().total, gaps.of(1).unwrap().sequential()), (0, None));
        let all = gaps.all();
        assert_eq!((all.total, all.zero, all.counts()), (2, 1, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 1][..]));
        // Only commands with data count.
        let before = gaps.clone();
        gaps.record(&record(0, Action::GetRq, Op::Write, 1 << 20, 8));
        gaps.record(&record(0, Action::Issue, Op::ZoneReset, 1 << 20, 0));
        assert_eq!(gaps, before);
    }
}
