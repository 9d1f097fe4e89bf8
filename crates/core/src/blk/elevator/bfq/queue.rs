//! One queue: its requests, and what is known about who sends them.
//!
//! Models: `struct bfq_queue` (kernel 4.5): sort list and FIFO, bfq_choose_req, think time, seek history, I/O intensity.
//! Rule: the next request is the nearest ahead of where the disk was left; one a little behind counts as twice as far;
//! the head of the FIFO goes first when it has expired, once a turn.
//! Leaves out: REQ_META.

use super::raise::Raise;
use super::rate::MIN_THINK;
use crate::config::BfqConfig;
use crate::fifo::Fifo;
use crate::slab::Idx;
use crate::sorted::SortedMap;
use crate::time::{MS, SimDuration, SimTime};
use crate::units::{JobIdx, Sector};

/// Start, then order of insertion.
pub(super) type Key = (Sector, u64);

/// A jump of more sectors than this is a seek.
const SEEK_THRESHOLD: Sector = 8 * 100;
/// On flash only requests smaller than this can be seeky, sectors.
const SMALL_NONROT: u32 = 2 * 32;

/// Whether a request at `sector` after one that ended at `last` is a random one (`BFQ_RQ_SEEKY`).
pub(super) fn seeky(last: Sector, sector: Sector, nr_sectors: u32, rotational: bool) -> bool {
    last.abs_diff(sector) > SEEK_THRESHOLD && (rotational || nr_sectors < SMALL_NONROT)
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BfqQueue {
    /// `JobIdx::MAX`: shared by all.
    pub job: JobIdx,
    pub sync: bool,
    /// 0 to 7.
    pub level: u8,
    /// Weight without raising.
    pub weight: u32,
    pub sort: SortedMap<Key, Idx>,
    /// In order of arrival, with deadlines.
    pub fifo: Fifo<(Key, SimTime)>,
    /// The request that would be dispatched next.
    pub next: Option<Key>,
    /// The FIFO was looked at in this turn.
    pub fifo_checked: bool,
    /// Requests at the driver.
    pub dispatched: u32,
    /// Requests that exist.
    pub allocated: u32,
    /// Has requests, is in service, or is waited for.
    pub busy: bool,
    /// Budget it gets next time, sectors.
    pub max_budget: u32,
    /// End of its turn.
    pub timeout_at: SimTime,
    /// Begin of its turn.
    pub served_since: SimTime,
    /// When it was last seen without backlog and without requests at the driver; `None`: it is new.
    pub idle_since: Option<SimTime>,
    /// It has no requests because those it had are still being served: if the next comes soon it goes on.
    pub waits_for_own: bool,
    pub raise: Raise,
    /// Its first request has not been inserted yet.
    pub new: bool,
    /// Busy nearly all the time.
    pub io_bound: bool,
    io_since: SimTime,
    idle_time: SimDuration,
    /// Its next request comes soon after the last is done.
    pub short_think: bool,
    think_samples: u64,
    think_total: u64,
    /// When its last request was done.
    pub last_end: SimTime,
    /// One bit a request, newest lowest: it was far from the one before.
    seeks: u32,
    pub last_position: Sector,
}

impl BfqQueue {
    pub fn new(job: JobIdx, sync: bool, level: u8, idle_class: bool, max_budget: u32, now: SimTime) -> Self {
        Self {
            job,
            sync,
            level,
            weight: u32::from(8 - level.min(7)) * 10,
            sort: SortedMap::default(),
            fifo: Fifo::new(),
            next: None,
            fifo_checked: false,
            dispatched: 0,
            allocated: 0,
            busy: false,
            max_budget,
            timeout_at: 0,
            served_since: now,
            idle_since: None,
            waits_for_own: false,
            raise: Raise::new(now),
            new: true,
            io_bound: true,
            io_since: now,
            idle_time: 0,
            short_think: sync && !idle_class,
            think_samples: 0,
            think_total: 0,
            last_end: now,
            seeks: 1,
            last_position: 0,
        }
    }

    /// More than 19 of its last 32 requests were random.
    pub fn seeky(&self) -> bool {
        self.seeks.count_ones() > 19
    }
    /// All of them were.
    pub fn totally_seeky(&self) -> bool {
        self.seeks == u32::MAX
    }
    /// Weight it is scheduled with.
    pub fn raised_weight(&self) -> u32 {
        self.weight * self.raise.coeff
    }

    /// A request is about to be added: think time, seeks, intensity.
    pub fn arrival(&mut self, now: SimTime, idle_class: bool, slice_idle: SimDuration, seeky: bool) {
        let pause = now.saturating_sub(self.last_end);
        if self.dispatched == 0 && !self.busy {
            self.think_samples = (7 * self.think_samples + 256) / 8;
            self.think_total = (7 * self.think_total + 256 * pause.min(2 * slice_idle)) / 8;
        }
        if self.sync && !idle_class && slice_idle > 0 {
            let mean = (self.think_total + 128) / self.think_samples.max(1);
            self.short_think = self.think_samples <= 80 || mean <= slice_idle / 2;
        }
        self.seeks = self.seeks << 1 | u32::from(seeky);
        if self.sync {
            self.intensity(now, pause);
        }
    }

    /// Four fifths of the last 100 to 200 ms with something to do make it I/O bound (`bfq_update_io_intensity`).
    fn intensity(&mut self, now: SimTime, pause: SimDuration) {
        if self.sort.is_empty() && self.dispatched == 0 {
            self.idle_time += pause;
        }
        if self.new {
            return;
        }
        let total = now.saturating_sub(self.io_since);
        self.io_bound = self.idle_time * 5 <= total;
        if total > 200 * MS {
            self.io_since = now - total / 2;
            self.idle_time /= 2;
        }
    }

    /// Adds a request; true if it is the next one now.
    pub fn add(&mut self, cfg: &BfqConfig, key: Key, rq: Idx, deadline: SimTime, last: Sector) -> bool {
        self.sort.insert(key, rq);
        self.fifo.push_back((key, deadline));
        let next = self.next.map_or(key, |old| nearer(cfg, last, old, key));
        self.next.replace(next) != Some(next)
    }

    /// Takes a request out and finds the next one from where it was.
    pub fn remove(&mut self, cfg: &BfqConfig, key: Key, now: SimTime) -> Option<Idx> {
        let rq = self.sort.remove(&key)?;
        if let Some(at) = self.fifo.iter().position(|(k, _)| *k == key) {
            self.fifo.remove(at);
        }
        if self.next == Some(key) {
            self.next = self.expired(now).or_else(|| self.around(cfg, key));
        }
        Some(rq)
    }

    /// `bfq_check_fifo`: the oldest request if it waited too long; asked once a turn.
    fn expired(&mut self, now: SimTime) -> Option<Key> {
        if core::mem::replace(&mut self.fifo_checked, true) {
            return None;
        }
        self.fifo.front().filter(|(_, deadline)| *deadline <= now).map(|(key, _)| *key)
    }

    /// `bfq_find_next_rq`: the neighbour, after or before, that costs less.
    fn around(&self, cfg: &BfqConfig, key: Key) -> Option<Key> {
        let before = self.sort.range(..key).next_back().map(|(k, _)| *k);
        let after = self.sort.range(key..).chain(self.sort.iter()).next().map(|(k, _)| *k);
        match (after, before) {
            (Some(a), Some(b)) => Some(nearer(cfg, key.0, a, b)),
            (a, b) => a.or(b),
        }
    }

    /// A request moved to another start; its place in the FIFO stays.
    pub fn moved(&mut self, old: Key, new: Key) {
        let Some(rq) = self.sort.remove(&old) else { return };
        self.sort.insert(new, rq);
        for (k, _) in self.fifo.iter_mut().filter(|(k, _)| *k == old) {
            *k = new;
        }
        if self.next == Some(old) {
            self.next = Some(new);
        }
    }

    /// Of two joined requests of this queue the first takes the FIFO place of the second if that expires earlier.
    pub fn inherit(&mut self, first: Key, second: Key) {
        let place = |key| self.fifo.iter().position(|(k, _)| *k == key);
        let (Some(a), Some(b)) = (place(first), place(second)) else { return };
        if self.fifo[b].1 < self.fifo[a].1 {
            self.fifo[b].0 = first;
            self.fifo[a].0 = second;
        }
    }

    /// The next request came soon enough for its earlier ones to be called one stream.
    pub fn in_time(&self, now: SimTime, slice_idle: SimDuration) -> bool {
        now <= self.last_end.saturating_add(slice_idle * 3)
    }

    /// How long it is waited for: seeky ones as little as possible, raised ones longer (`bfq_arm_slice_timer`).
    pub fn idle_slice(&self, slice_idle: SimDuration, asymmetric: bool) -> SimDuration {
        if self.raise.coeff > 1 {
            slice_idle.max(20 * MS)
        } else if self.seeky() && !asymmetric {
            slice_idle.min(MIN_THINK)
        } else {
            slice_idle
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.sort.heap_bytes() + self.fifo.capacity() * size_of::<(Key, SimTime)>()
    }
}

/// `bfq_choose_req`: the one that is reached at less cost from `last`.
pub(super) fn nearer(cfg: &BfqConfig, last: Sector, a: Key, b: Key) -> Key {
    let back_max = u64::from(cfg.back_seek_max_kib) * 2;
    // `None`: too far behind, only to be reached on the next way up.
    let cost = |s: Sector| match s.checked_sub(last) {
        Some(ahead) => Some(ahead),
        None if last - s <= back_max => Some((last - s).saturating_mul(u64::from(cfg.back_seek_penalty))),
        None => None,
    };
    match (cost(a.0), cost(b.0)) {
        (Some(x), Some(y)) if x < y => a,
        (Some(x), Some(y)) if y < x => b,
        (Some(_), Some(_)) => a.max(b),
        (Some(_), None) => a,
        (None, Some(_)) => b,
        // Both on the way back: the one further behind, so that one way back is enough.
        (None, None) => a.min(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(last: Sector, a: Sector, b: Sector) -> Sector {
        nearer(&BfqConfig::default(), last, (a, 1), (b, 2)).0
    }

    #[test]
    fn section_4_5_next_request() {
        assert_eq!(pick(1000, 1100, 1050), 1050, "nearest ahead");
        assert_eq!(pick(1000, 1100, 960), 960, "40 behind count as 80");
        assert_eq!(pick(1000, 1100, 940), 1100, "60 behind count as 120");
        assert_eq!(pick(1000, 1100, 950), 1100, "equal: the upper one");
        // back_seek_max is 16 MiB.
        assert_eq!(pick(100_000, 10_000_000, 100_000 - 32_768), 100_000 - 32_768);
        assert_eq!(pick(100_000, 10_000_000, 100_000 - 32_769), 10_000_000);
        assert_eq!(pick(100_000, 200, 100), 100, "both wrapped");
    }

    #[test]
    fn section_4_5_an_expired_request_goes_first_once_a_turn() {
        let cfg = BfqConfig::default();
        let mut q = BfqQueue::new(0, true, 4, false, 0, 0);
        for (i, s) in [900, 100, 200, 300, 50].into_iter().enumerate() {
            let deadline = if s == 900 || s == 50 { 10 } else { 1000 };
            q.add(&cfg, (s, i as u64), s as Idx, deadline, 90);
        }
        let mut order = alloc::vec::Vec::new();
        while let Some(key) = q.next {
            order.push(q.remove(&cfg, key, 500).unwrap());
        }
        assert_eq!(order, [100, 900, 300, 200, 50]);
        assert!(q.fifo.is_empty() && q.sort.is_empty());
    }

    #[test]
    fn section_4_5_seeky_and_think_time() {
        let mut q = BfqQueue::new(0, true, 4, false, 0, 0);
        for _ in 0..20 {
            q.arrival(0, false, 8 * MS, true);
        }
        assert!(q.seeky() && !q.totally_seeky());
        for n in 1..20 {
            q.new = false;
            q.last_end = n * 100 * MS;
            q.arrival(n * 100 * MS + 6 * MS, false, 8 * MS, false);
        }
        assert!(!q.short_think, "6 ms on average are more than half of slice_idle");
        assert!(!q.seeky() && seeky(0, 801, 8, true) && !seeky(0, 800, 8, true) && !seeky(0, 801, 64, false));
    }
}
