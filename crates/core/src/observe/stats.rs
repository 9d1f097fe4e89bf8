//! Running figures of a run: bytes, latencies, where the drive's time went.
//!
//! Models: fio's accounting of a bio from Q to C; btt's q2g g2i i2d d2c stages; percentiles of decisions 5.
//! Rule: a bio counts when it completes inside the measured window (decisions 3).
//! Leaves out: averages over the last moments; `bioscope-session` bins the trace for those.

use alloc::vec::Vec;

use crate::config::{JobConfig, SimConfig, WorkloadConfig};
use crate::time::{SimDuration, SimTime};
use crate::units::{JobIdx, SECTOR_BYTES};

/// Latency histogram: 64 linear steps per power of two, the upper edge is reported.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Histogram {
    counts: Vec<u32>,
    /// Samples.
    pub n: u64,
    /// Sum, ns.
    pub sum: u128,
    /// Smallest, ns (`u64::MAX` when empty).
    pub min: SimDuration,
    /// Largest, ns.
    pub max: SimDuration,
}

const STEPS: u64 = 64;

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: Vec::new(), n: 0, sum: 0, min: SimDuration::MAX, max: 0 }
    }
}

impl Histogram {
    fn bucket(v: SimDuration) -> usize {
        if v < STEPS {
            return v as usize;
        }
        let shift = 63 - v.leading_zeros() as u64 - 6;
        ((shift + 1) * STEPS + ((v >> shift) - STEPS)) as usize
    }
    fn upper_edge(bucket: usize) -> SimDuration {
        let b = bucket as u64;
        if b < STEPS {
            return b;
        }
        let shift = b / STEPS - 1;
        ((STEPS + b % STEPS + 1) << shift) - 1
    }
    /// Adds a sample in ns.
    pub fn add(&mut self, v: SimDuration) {
        let b = Self::bucket(v);
        if b >= self.counts.len() {
            self.counts.resize(b + 1, 0);
        }
        self.counts[b] += 1;
        self.n += 1;
        self.sum += u128::from(v);
        self.min = self.min.min(v);
        self.max = self.max.max(v);
    }
    /// Mean in ns, 0 when empty.
    pub fn mean(&self) -> SimDuration {
        if self.n == 0 { 0 } else { (self.sum / u128::from(self.n)) as SimDuration }
    }
    /// The `per_mille_x10`/10000 quantile (9900 = p99) in ns; `None` with fewer than 10/(1-p) samples.
    pub fn percentile(&self, per_ten_thousand: u32) -> Option<SimDuration> {
        let p = u64::from(per_ten_thousand.min(9_999));
        if self.n * (10_000 - p) < 100_000 {
            return None;
        }
        let want = (self.n * p).div_ceil(10_000).max(1);
        let mut seen = 0u64;
        for (b, &c) in self.counts.iter().enumerate() {
            seen += u64::from(c);
            if seen >= want {
                return Some(Self::upper_edge(b).min(self.max));
            }
        }
        Some(self.max)
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.counts.capacity() * size_of::<u32>()
    }
}

/// Sum and count of one stage, for its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stage {
    /// ns
    pub sum: u64,
    /// Requests (bios for q2g).
    pub n: u64,
}

impl Stage {
    /// Adds one duration.
    pub fn add(&mut self, ns: SimDuration) {
        self.sum += ns;
        self.n += 1;
    }
    /// Mean ns, 0 when empty.
    pub fn mean(&self) -> SimDuration {
        self.sum.checked_div(self.n).unwrap_or(0)
    }
}

/// Where the drive's time went, ns, inside the measured window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DriveTime {
    /// Head moving and settling.
    pub seek: SimDuration,
    /// On track, waiting for the sector.
    pub rotate: SimDuration,
    /// Reading or writing.
    pub transfer: SimDuration,
    /// Resetting zones.
    pub reset: SimDuration,
    /// Repositionings with a seek or a rotation wait.
    pub seeks: u64,
    /// Bytes that reached or left the medium.
    pub bytes: u64,
}

/// Kinds of jobs with figures of their own.
pub const MAX_KINDS: usize = 4;

/// Jobs with equal settings, and what they got in the measured window; as fio without group_reporting, for each kind.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KindStats {
    /// The first job of the kind.
    pub first: JobIdx,
    /// The last.
    pub last: JobIdx,
    /// How many.
    pub n: u16,
    /// Bytes of counted bios.
    pub bytes: u64,
    /// Counted I/Os: [`Stats::ios`].
    pub ios: u64,
    /// Those of them that read.
    pub read_ios: u64,
    /// Q to C of I/Os: [`Stats::lat`].
    pub lat: Histogram,
}

impl KindStats {
    /// The kinds of a run's jobs, in the order of their first jobs, and the kind of each job; those beyond
    /// [`MAX_KINDS`] are in none. Nothing where all jobs are alike: then [`Stats`] says it all.
    pub fn of(cfg: &SimConfig) -> (Vec<Self>, Vec<u8>) {
        let mut kinds: Vec<Self> = Vec::new();
        let mut of_job = Vec::new();
        for (j, job) in (0..).zip(&cfg.jobs) {
            // Pass-through commands move no data.
            let counts = !matches!(job.workload, WorkloadConfig::PassThrough(_));
            let mut at = kinds.iter().position(|k| alike(&cfg.jobs[usize::from(k.first)], job));
            if at.is_none() && counts && kinds.len() < MAX_KINDS {
                at = Some(kinds.len());
                kinds.push(Self { first: j, ..Self::default() });
            }
            if let Some(k) = at.and_then(|k| kinds.get_mut(k)) {
                k.last = j;
                k.n += 1;
            }
            of_job.push(at.map_or(u8::MAX, |k| k as u8));
        }
        if kinds.len() < 2 {
            kinds.clear();
        }
        (kinds, of_job)
    }
    /// So many of something per second of a window of so many ns.
    pub fn per_sec(n: u64, window_ns: SimDuration) -> f64 {
        if window_ns == 0 { 0.0 } else { n as f64 * 1e9 / window_ns as f64 }
    }
}

/// Equal settings but for the range.
fn alike(a: &JobConfig, b: &JobConfig) -> bool {
    let same = match (&a.workload, &b.workload) {
        (WorkloadConfig::FioZbd(a), WorkloadConfig::FioZbd(b)) => (a.rw, a.bs, a.iodepth) == (b.rw, b.bs, b.iodepth),
        (WorkloadConfig::Linear(a), WorkloadConfig::Linear(b)) => {
            (a.rw, a.bs, a.iodepth, a.batch) == (b.rw, b.bs, b.iodepth, b.batch)
                && (a.buffered, a.nowait) == (b.buffered, b.nowait)
                && a.fio == b.fio
        }
        (a, b) => core::mem::discriminant(a) == core::mem::discriminant(b),
    };
    same && (a.dev, a.prio, a.bio_segment_bytes) == (b.dev, b.prio, b.bio_segment_bytes)
}

/// Figures of the measured window.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stats {
    /// Start of the window; `None` while ramping.
    pub window_from: Option<SimTime>,
    /// End of the window: the last completion, or the end of the run time.
    pub window_to: SimTime,
    /// Bytes read by counted bios.
    pub read_bytes: u64,
    /// Bytes written by counted bios.
    pub write_bytes: u64,
    /// Counted I/Os: those of dd and of fio with zonemode=none end with their last bio, other workloads have one bio each.
    pub ios: u64,
    /// Those of them that read.
    pub read_ios: u64,
    /// From the Q of a counted I/O's first bio to the C of its last.
    pub lat: Histogram,
    /// Q to G.
    pub q2g: Stage,
    /// G to I.
    pub g2i: Stage,
    /// I to D (G to D without scheduler).
    pub i2d: Stage,
    /// D to C.
    pub d2c: Stage,
    /// Q to C of I/Os, as `lat`.
    pub q2c: Stage,
    /// Drive time.
    pub drive: DriveTime,
    /// Requests issued (D), whole run.
    pub nr_issued: u64,
    /// Back and front merges, pulled-in bios included, whole run.
    pub nr_merges: u64,
    /// Those of them made in a task's plug, whole run.
    pub nr_plug_merges: u64,
    /// Bios of tasks with a plug, each of which is tried against it (empty or not), whole run.
    pub nr_plug_tries: u64,
    /// Splits, whole run.
    pub nr_splits: u64,
    /// Bios completed without error since the run began, ramp included.
    pub total_ios: u64,
    /// Bytes completed since the run began, ramp included.
    pub total_bytes: u64,
    /// Bios that ended with an error.
    pub nr_errors: u64,
    /// fio zone resets.
    pub nr_resets: u64,
    /// Sectors of each member that a sync thread is through with, in the window.
    pub sync_sectors: u64,
    /// Tasks woken for a tag, whole run.
    pub nr_wakeups: u64,
    /// Hardware queues found stalled, whole run.
    pub nr_stalls: u64,
    /// Pass-through commands done, from Q to C.
    pub pass_through: Stage,
    /// The longest of them, ns.
    pub pass_through_max: SimDuration,
    /// Live changes: time their queue freezes took, ns.
    pub frozen_ns: SimDuration,
    /// Where jobs differ: the figures of each kind, at most [`MAX_KINDS`]; else empty.
    pub kinds: Vec<KindStats>,
}

impl Stats {
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let kinds = self.kinds.capacity() * size_of::<KindStats>();
        self.lat.heap_bytes() + kinds + self.kinds.iter().map(|k| k.lat.heap_bytes()).sum::<usize>()
    }
    /// Window length, ns.
    pub fn window_ns(&self) -> SimDuration {
        self.window_from.map_or(0, |f| self.window_to.saturating_sub(f))
    }
    /// Bytes in the window: read and written by jobs; where there was none of that, what a sync thread was through with
    /// on each member.
    pub fn window_bytes(&self) -> u64 {
        match self.read_bytes + self.write_bytes {
            0 => self.sync_sectors * SECTOR_BYTES,
            bytes => bytes,
        }
    }
    /// The same per second.
    pub fn bytes_per_sec(&self) -> f64 {
        let w = self.window_ns();
        if w == 0 { 0.0 } else { self.window_bytes() as f64 * 1e9 / w as f64 }
    }
    /// I/Os per second in the window.
    pub fn iops(&self) -> f64 {
        let w = self.window_ns();
        if w == 0 { 0.0 } else { self.ios as f64 * 1e9 / w as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_hold_their_values() {
        for v in [0, 1, 63, 64, 65, 127, 128, 1000, 4_055_000, 612_345_678, u64::MAX >> 1] {
            let edge = Histogram::upper_edge(Histogram::bucket(v));
            assert!(edge >= v && edge - v <= v / 64, "{v} -> {edge}");
        }
    }

    #[test]
    fn percentiles_need_enough_samples() {
        let mut h = Histogram::default();
        for v in 1..=999 {
            h.add(v * 1000);
        }
        assert_eq!(h.percentile(9900), None);
        h.add(1_000_000);
        let p99 = h.percentile(9900).unwrap();
        assert!((990_000..=1_000_000).contains(&p99), "{p99}");
        assert!(h.percentile(5000).unwrap() >= 500_000);
    }
}
