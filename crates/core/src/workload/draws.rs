//! What fio draws for each I/O: direction, place, size, priority.
//!
//! Models: fio's mix, bssplit, random_distribution and norandommap (fio 2.1), cmdprio_percentage (fio 2.4).
//! Rule: one named stream a kind of draw; a law's shares are kept as integers, so that every machine draws the same.
//! Leaves out: fio's own generators. Without norandommap the order is a permutation of the range's blocks of the
//! smallest size, not fio's bitmap: I/Os of other sizes are not shortened at a used block.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::config::{Distribution, FioOptions, LinearConfig, Rw};
use crate::rng::Rng;
use crate::units::{IoPrio, JobIdx, Sector};

/// Index of reads and writes in pairs.
pub const READ: usize = 0;
/// See [`READ`].
pub const WRITE: usize = 1;

/// Multiplier that scatters ranks over the range (2^64 by the golden ratio).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    places: Rng,
    mix: Mix,
    sizes: Rng,
    prios: Rng,
    /// Cumulative shares of zipf's ranks in groups; clones share it.
    zipf: Option<Arc<[u64]>>,
    /// Where ranks start to be scattered; key of the permutation.
    start: u64,
    /// I/Os drawn of the permutation.
    walked: u64,
}

/// Reads and writes of a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix {
    rng: Rng,
    /// The direction, and the I/Os it has before the next draw.
    dir: usize,
    until: u64,
}

impl Mix {
    /// Before the first I/O of a job.
    pub fn new(index: JobIdx, seed: u64) -> Self {
        Self { rng: Rng::stream(seed, "mix", u64::from(index)), dir: READ, until: 0 }
    }

    /// Direction of the next I/O, `issued` I/Os of each being issued: a direction that was changed to stays until its
    /// count has caught up (fio 2.1, rwmixread).
    #[inline]
    pub fn direction(&mut self, rw: Rw, rwmixread: u8, issued: [u64; 2]) -> usize {
        match (rw.reads(), rw.writes()) {
            (true, false) => return READ,
            (false, _) => return WRITE,
            _ => {}
        }
        if issued[self.dir] >= self.until {
            let percent = u64::from(rwmixread);
            let dir = if self.rng.below(100) < percent { READ } else { WRITE };
            if dir != self.dir {
                let share = if dir == READ { percent } else { 100 - percent };
                self.until = issued[self.dir] * share / 100;
                self.dir = dir;
            }
        }
        self.dir
    }
}

impl Draws {
    /// Before the first I/O of a job.
    pub fn new(cfg: &LinearConfig, index: JobIdx, seed: u64) -> Self {
        let stream = |name| Rng::stream(seed, name, u64::from(index));
        let blocks = cfg.sectors / cfg.bs.max(1);
        let (zipf, center) = match cfg.fio.distribution {
            Distribution::Zipf { theta, center } => (Some(zipf_shares(blocks, theta)), center),
            Distribution::Pareto { center, .. } | Distribution::Normal { center, .. } => (None, center),
            Distribution::Random | Distribution::Zoned { .. } => (None, None),
        };
        let start = match center {
            Some(milli) => (u128::from(blocks) * u128::from(milli) / 1000) as u64,
            None => stream("center").next_u64(),
        };
        Self {
            places: stream("job"),
            mix: Mix::new(index, seed),
            sizes: stream("bssplit"),
            prios: stream("cmdprio"),
            zipf,
            start,
            walked: 0,
        }
    }

    /// Direction of the next I/O, `issued` I/Os of each being issued.
    pub fn direction(&mut self, rw: Rw, o: &FioOptions, issued: [u64; 2]) -> usize {
        self.mix.direction(rw, o.rwmixread, issued)
    }

    /// The rate made the job turn to the other direction.
    pub fn turned(&mut self, dir: usize) {
        self.mix.dir = dir;
    }

    /// The block, of `n` in the range, where a random I/O goes.
    pub fn block(&mut self, o: &FioOptions, dir: usize, n: u64, bs: Sector) -> u64 {
        match &o.distribution {
            Distribution::Random if o.norandommap => self.places.below(n),
            Distribution::Random => {
                let at = self.walked;
                self.walked = (at + 1) % n;
                permuted(at, n, self.start)
            }
            Distribution::Zipf { center, .. } => {
                let rank = self.zipf.as_ref().map_or(0, |shares| zipf_rank(shares, n, &mut self.places));
                self.scattered(rank, n, center.is_some())
            }
            Distribution::Pareto { h, center } => {
                let rank = pareto_rank(*h, n, self.places.next_u64());
                self.scattered(rank, n, center.is_some())
            }
            Distribution::Normal { deviation, center } => {
                let rank = self.normal_rank(*deviation, n);
                self.scattered(rank, n, center.is_some())
            }
            Distribution::Zoned { absolute, parts } => self.in_part(&parts[dir], *absolute, n, bs),
        }
    }

    /// Hot blocks lie anywhere, but from one run to the next at the same places; around a center they keep their order.
    fn scattered(&self, rank: u64, n: u64, centered: bool) -> u64 {
        let hashed = if centered { rank } else { rank.wrapping_mul(GOLDEN) % n };
        ((u128::from(hashed) + u128::from(self.start)) % u128::from(n)) as u64
    }

    /// The mean of twelve draws and the deviation.
    fn normal_rank(&mut self, deviation: u8, n: u64) -> u64 {
        let sum: u128 = (0..12).map(|_| u128::from(self.places.below(n))).sum();
        let mean = (sum / 12) as u64;
        let spread = (u128::from(n) * u128::from(deviation)).div_ceil(100) as u64;
        match spread.min(n / 2) {
            0 => mean,
            spread => (mean + self.places.below(spread)).saturating_sub(spread / 2).min(n - 1),
        }
    }

    /// A part by its share, then a block of it.
    fn in_part(&mut self, parts: &[(u8, u64)], absolute: bool, n: u64, bs: Sector) -> u64 {
        let mut at = 0;
        let mut share = self.places.below(100);
        for (access, size) in parts {
            let blocks = match absolute {
                true => size / bs.max(1),
                false => (u128::from(n) * u128::from(*size) / 100) as u64,
            };
            if share < u64::from(*access) {
                return (at + self.places.below(blocks.max(1))).min(n - 1);
            }
            share -= u64::from(*access);
            at += blocks;
        }
        self.places.below(n)
    }

    /// Sectors of an I/O that has `room` before the range ends; an entry that does not fit is passed over.
    pub fn size(&mut self, cfg: &LinearConfig, dir: usize, room: Sector) -> Sector {
        let split = &cfg.fio.bssplit[dir];
        // A size that fits is drawn soon, or there is hardly one.
        for _ in 0..if split.is_empty() { 0 } else { 32 } {
            let share = self.sizes.below(100);
            let mut sum = 0;
            let mut sectors = 0;
            for (size, percent) in split.iter().filter(|(_, percent)| *percent > 0) {
                sum += u64::from(*percent);
                sectors = u64::from(*size);
                if share < sum && sectors <= room {
                    return sectors;
                }
            }
            if sectors > 0 && sectors <= room {
                return sectors;
            }
        }
        cfg.bs
    }

    /// Priority of an I/O of a job.
    pub fn prio(&mut self, o: &FioOptions, dir: usize, of_job: IoPrio) -> IoPrio {
        match o.cmdprio_percentage[dir] {
            0 => of_job,
            percent if self.prios.below(100) < u64::from(percent) => o.cmdprio,
            _ => of_job,
        }
    }
}

/// Groups of ranks an octave is divided into.
const STEPS: u64 = 16;

/// First rank of a group: the first sixteen have one each, from then on sixteen make an octave.
fn first_of(group: u64) -> u64 {
    match group / STEPS {
        0 => group,
        octave => (STEPS + group % STEPS) << (octave - 1),
    }
}

/// Cumulative shares of the groups of ranks 1 to `n`, rank k weighing k^-theta: that of its middle in a group.
fn zipf_shares(n: u64, theta_milli: u32) -> Arc<[u64]> {
    let mut sums: Vec<u128> = Vec::new();
    let mut sum = 0;
    for group in 1.. {
        let (first, end) = (first_of(group), first_of(group + 1).min(n + 1));
        if first > n {
            break;
        }
        // Twice the middle, so that it is whole.
        let middle = log2(first + end - 1) - (1 << 32);
        let exponent = u128::from(middle) * u128::from(theta_milli) / 1000;
        sum += u128::from(end - first) * u128::from(half_to(exponent));
        sums.push(sum);
    }
    let shift = 64u32.saturating_sub(sum.leading_zeros());
    sums.iter().map(|s| (s >> shift) as u64).collect()
}

fn zipf_rank(shares: &[u64], n: u64, rng: &mut Rng) -> u64 {
    let Some(all) = shares.last().filter(|all| **all > 0) else { return 0 };
    let drawn = rng.below(*all);
    let group = shares.partition_point(|sum| *sum <= drawn) as u64 + 1;
    let (first, end) = (first_of(group), first_of(group + 1).min(n + 1));
    first + rng.below(end.saturating_sub(first).max(1)) - 1
}

/// u^(ln h / ln (1 - h)) of the ranks below `n`, u being `drawn` by 2^64.
fn pareto_rank(h_milli: u32, n: u64, drawn: u64) -> u64 {
    let h = u64::from(h_milli.clamp(1, 999));
    let one = log2(1000);
    let power = (u128::from(one - log2(h)) << 32) / u128::from(one - log2(1000 - h)).max(1);
    let exponent = (power * u128::from((64 << 32) - log2(drawn.max(1)))) >> 32;
    ((u128::from(n - 1) * u128::from(half_to(exponent))) >> 63) as u64
}

/// log2 of `x` > 0, in 2^-32.
fn log2(x: u64) -> u64 {
    let whole = u64::from(63 - x.leading_zeros());
    // 1 to 2, in 2^-63; squared it says the next binary digit.
    let mut rest = x << x.leading_zeros();
    let mut log = whole;
    for _ in 0..32 {
        let square = (u128::from(rest) * u128::from(rest)) >> 63;
        let digit = (square >> 64) as u64;
        rest = (square >> digit) as u64;
        log = log << 1 | digit;
    }
    log
}

/// 2^-x in 2^-63, x in 2^-32.
fn half_to(x: u128) -> u64 {
    // ln 2 in 2^-32.
    const LN2: u64 = 2_977_044_472;
    let whole = x >> 32;
    if whole > 63 {
        return 0;
    }
    // e^-t as 1 - t (1 - t/2 (1 - t/3 ...)), from inside; t < 0.7.
    let t = u128::from((x as u64 & 0xffff_ffff) * LN2) >> 32 << 31;
    let one = 1u128 << 63;
    let mut sum = one;
    for k in (1..16).rev() {
        sum = one - ((t * sum) >> 63) / k;
    }
    (sum >> whole) as u64
}

/// The `i`-th of `n` blocks in an order that has each once: a Feistel network over the next square of a power of two,
/// walked until it comes back below `n`.
fn permuted(i: u64, n: u64, key: u64) -> u64 {
    let half = (64 - (n - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut x = i;
    loop {
        let (mut left, mut right) = (x >> half, x & mask);
        for round in 0..4 {
            let mixed = (right ^ key.rotate_left(round * 16)).wrapping_mul(GOLDEN);
            (left, right) = (right, left ^ (mixed ^ mixed >> 32) >> 16 & mask);
        }
        x = left << half | right;
        if x < n {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Tool;
    use crate::units::IoClass;

    #[test]
    fn logarithms_and_powers_of_two() {
        for x in [1u64, 2, 3, 10, 1000, 12_345_678_901, u64::MAX] {
            let want = (x as f64).log2();
            assert!((log2(x) as f64 / (1u64 << 32) as f64 - want).abs() < 1e-8, "{x}");
        }
        for x in [0.0, 0.25, 0.5, 1.0, 3.7, 40.1] {
            let got = half_to((x * (1u64 << 32) as f64) as u128) as f64 / (1u64 << 63) as f64;
            assert!((got / 2f64.powf(-x) - 1.0).abs() < 1e-8, "{x}: {got}");
        }
        assert_eq!(half_to(64 << 32), 0);
    }

    #[test]
    fn fio_2_4_cmdprio_gives_a_share_of_the_ios_another_priority() {
        let job = IoPrio { class: IoClass::Be, level: 4 };
        let other = IoPrio { class: IoClass::Rt, level: 1 };
        let fio = FioOptions { cmdprio_percentage: [20, 0], cmdprio: other, ..FioOptions::default() };
        let cfg = LinearConfig {
            tool: Tool::Fio,
            rw: Rw::RandRw,
            bs: 8,
            bios: Vec::new(),
            iodepth: 1,
            batch: 1,
            first: 0,
            sectors: 8000,
            io_bytes: None,
            buffered: false,
            nowait: false,
            fio,
        };
        let mut d = Draws::new(&cfg, 0, 42);
        let mut share = |dir| (0..10_000).filter(|_| d.prio(&cfg.fio, dir, job) == other).count();
        // Four standard deviations.
        assert!(share(READ).abs_diff(2000) < 160);
        assert_eq!(share(WRITE), 0);
    }

    #[test]
    fn groups_of_ranks_follow_each_other() {
        let firsts: Vec<u64> = (0..40).map(first_of).collect();
        assert_eq!(firsts[14..20], [14, 15, 16, 17, 18, 19]);
        assert_eq!(firsts[30..36], [30, 31, 32, 34, 36, 38]);
    }

    #[test]
    fn a_permutation_has_each_block_once() {
        for n in [1, 2, 3, 8, 100, 1023, 4096, 5000] {
            let mut seen: Vec<u64> = (0..n).map(|i| permuted(i, n, 0x1234_5678_9abc_def0)).collect();
            let in_order = seen.windows(2).filter(|w| w[1] == w[0] + 1).count() as u64;
            assert!(in_order <= 2 + n / 50, "{n}: {in_order}");
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..n), "{n}");
        }
    }
}
