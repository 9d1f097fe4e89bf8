//! The whole run as a line: bytes completed and repositionings per bin of time.
//!
//! Models: nothing.
//! Rule: bins start narrow and are merged in pairs when they become too many, so the length of the run need not be
//! known beforehand.
//! Leaves out: drawing.

use bioscope_core::time::{SEC, SimDuration, SimTime};

/// Bins kept at most.
const MAX_BINS: usize = 1024;
/// Width of a bin at first, ns.
const FIRST_WIDTH: SimDuration = 16_384;

/// Bytes and repositionings over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Overview {
    width: SimDuration,
    bins: Vec<(u64, u32)>,
}

impl Default for Overview {
    fn default() -> Self {
        Self { width: FIRST_WIDTH, bins: Vec::new() }
    }
}

impl Overview {
    /// Counts bytes and repositionings at a time.
    pub fn add(&mut self, time: SimTime, bytes: u64, seeks: u32) {
        while (time / self.width) as usize >= MAX_BINS {
            self.halve();
        }
        let i = (time / self.width) as usize;
        if i >= self.bins.len() {
            self.bins.resize(i + 1, (0, 0));
        }
        self.bins[i].0 += bytes;
        self.bins[i].1 += seeks;
    }

    fn halve(&mut self) {
        self.bins = self.bins.chunks(2).map(|c| c.iter().fold((0, 0), |s, b| (s.0 + b.0, s.1 + b.1))).collect();
        self.width *= 2;
    }

    /// Bytes per second over `columns` equal parts of `0..duration`, for a line of that many points.
    pub fn bytes_per_sec(&self, duration: SimTime, columns: usize) -> Vec<f64> {
        let column_ns = duration as f64 / columns.max(1) as f64;
        let per_bin = SEC as f64 / self.width as f64;
        let bin = |i: usize| self.bins.get(i).map_or(0.0, |b| b.0 as f64 * per_bin);
        (0..columns)
            .map(|c| {
                let first = (c as f64 * column_ns / self.width as f64) as usize;
                let last = (((c + 1) as f64 * column_ns / self.width as f64) as usize).max(first + 1);
                (first..last).map(bin).sum::<f64>() / (last - first) as f64
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_bins_keeps_the_sum_and_the_rate() {
        let mut o = Overview::default();
        for ms in 0..10_000 {
            o.add(ms * 1_000_000, 1_000, 1);
        }
        assert!(o.bins.len() <= MAX_BINS);
        assert_eq!(o.bins.iter().map(|b| b.0).sum::<u64>(), 10_000_000);
        assert_eq!(o.bins.iter().map(|b| b.1).sum::<u32>(), 10_000);
        let line = o.bytes_per_sec(10 * SEC, 100);
        assert!(line[1..99].iter().all(|v| (v - 1e6).abs() < 1.2e5), "{line:?}");
    }
}
