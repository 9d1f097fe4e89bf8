//! mq-deadline: two sorted lists, two FIFOs with expiry, batches.
//!
//! Models: block/mq-deadline.c, 7.1 (kernel 4.2), best-effort class.
//! Rule: go on upward in the running direction until a batch is full; then reads before writes unless writes starved;
//! a new batch starts at the FIFO head when that expired or nothing lies ahead.
//! Leaves out: RT and idle classes with aging (no workload sets a priority).

use super::Queued;
use crate::config::MqDeadlineConfig;
use crate::fifo::Fifo;
use crate::slab::Idx;
use crate::sorted::SortedMap;
use crate::time::SimTime;
use crate::units::{Op, Sector};

const READ: usize = 0;
const WRITE: usize = 1;

#[derive(Clone, Debug, PartialEq, Default)]
struct Direction {
    /// By start sector, then by insertion.
    sort: SortedMap<(Sector, u64), Idx>,
    /// In order of insertion: sort key and deadline.
    fifo: Fifo<((Sector, u64), SimTime)>,
    /// Where the next request of a batch is looked for.
    latest_pos: Sector,
}

impl Direction {
    /// Sort key of a queued request.
    fn key(&self, r: Queued) -> Option<(Sector, u64)> {
        let start = (r.sector, 0)..=(r.sector, u64::MAX);
        self.sort.range(start).find(|(_, rq)| **rq == r.rq).map(|(k, _)| *k)
    }
    fn next(&self) -> Option<(Sector, u64)> {
        self.sort.range((self.latest_pos, 0)..).next().map(|(k, _)| *k)
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct MqDeadline {
    cfg: MqDeadlineConfig,
    dir: [Direction; 2],
    /// Requests other than reads and writes go first.
    dispatch: Fifo<Idx>,
    last_dir: usize,
    batching: u32,
    starved: u32,
    inserted: u64,
}

fn dir_of(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(READ),
        Op::Write => Some(WRITE),
        _ => None,
    }
}

impl MqDeadline {
    /// Empty, as after selecting it.
    pub fn new(cfg: MqDeadlineConfig) -> Self {
        Self {
            cfg,
            dir: Default::default(),
            dispatch: Fifo::new(),
            last_dir: WRITE,
            batching: 0,
            starved: 0,
            inserted: 0,
        }
    }

    fn expire_ns(&self, dir: usize) -> SimTime {
        if dir == READ { self.cfg.read_expire_ns } else { self.cfg.write_expire_ns }
    }

    /// `dd_insert_request`
    pub fn insert(&mut self, r: Queued, now: SimTime) {
        let Some(d) = dir_of(r.op) else {
            self.dispatch.push_back(r.rq);
            return;
        };
        let deadline = now.saturating_add(self.expire_ns(d));
        let key = (r.sector, self.inserted);
        self.inserted += 1;
        self.dir[d].sort.insert(key, r.rq);
        self.dir[d].fifo.push_back((key, deadline));
    }

    /// `dd_dispatch_request`
    pub fn dispatch(&mut self, now: SimTime) -> Option<Idx> {
        if let Some(rq) = self.dispatch.pop_front() {
            return Some(rq);
        }
        let mut d = self.last_dir;
        let key = match self.dir[d].next().filter(|_| self.batching < self.cfg.fifo_batch) {
            Some(key) => key,
            None => {
                d = self.choose_direction()?;
                self.last_dir = d;
                self.batching = 0;
                let (head, deadline) = *self.dir[d].fifo.front().expect("direction is not empty");
                match self.dir[d].next() {
                    Some(next) if deadline > now => next,
                    _ => head,
                }
            }
        };
        self.batching += 1;
        let dir = &mut self.dir[d];
        dir.latest_pos = key.0;
        let at = dir.fifo.iter().position(|(k, _)| *k == key).expect("in both lists");
        dir.fifo.remove(at);
        dir.sort.remove(&key)
    }

    fn choose_direction(&mut self) -> Option<usize> {
        let (reads, writes) = (!self.dir[READ].sort.is_empty(), !self.dir[WRITE].sort.is_empty());
        match (reads, writes) {
            (true, true) => {
                let starved = self.starved >= self.cfg.writes_starved;
                self.starved = if starved { 0 } else { self.starved + 1 };
                Some(if starved { WRITE } else { READ })
            }
            (true, false) => Some(READ),
            (false, true) => {
                self.starved = 0;
                Some(WRITE)
            }
            (false, false) => None,
        }
    }

    /// The queued request that starts at or before `sector`.
    pub fn before(&self, op: Op, sector: Sector) -> Option<Idx> {
        let d = dir_of(op)?;
        self.dir[d].sort.range(..=(sector, u64::MAX)).next_back().map(|(_, rq)| *rq)
    }

    /// The queued request that starts at `sector` (front merge lookup), if front merges are on.
    pub fn at(&self, op: Op, sector: Sector) -> Option<Idx> {
        let d = dir_of(op).filter(|_| self.cfg.front_merges)?;
        self.dir[d].sort.range((sector, 0)..=(sector, u64::MAX)).next().map(|(_, rq)| *rq)
    }

    /// `elv_rb_former_request`
    pub fn former(&self, op: Op, sector: Sector, rq: Idx) -> Option<Idx> {
        let d = dir_of(op)?;
        self.dir[d].sort.range(..=(sector, u64::MAX)).rev().map(|(_, other)| *other).find(|other| *other != rq)
    }

    /// `elv_rb_latter_request`
    pub fn latter(&self, op: Op, sector: Sector, rq: Idx) -> Option<Idx> {
        let d = dir_of(op)?;
        self.dir[d].sort.range((sector, 0)..).map(|(_, other)| *other).find(|other| *other != rq)
    }

    /// `dd_merged_requests`: the first takes the place of the second in the FIFO when that one expires earlier.
    pub fn merged(&mut self, first: Queued, second: Queued) {
        let Some(d) = dir_of(first.op) else { return };
        let dir = &mut self.dir[d];
        let (Some(kept), Some(gone)) = (dir.key(first), dir.key(second)) else { return };
        let place = |key| dir.fifo.iter().position(|(k, _)| *k == key).expect("in both lists");
        let (a, b) = (place(kept), place(gone));
        if dir.fifo[b].1 < dir.fifo[a].1 {
            dir.fifo[b].0 = kept;
            dir.fifo.remove(a);
        } else {
            dir.fifo.remove(b);
        }
        dir.sort.remove(&gone);
    }

    /// Re-sorts a request after a front merge; it keeps its place in the FIFO.
    pub fn reposition(&mut self, r: Queued, old: Sector) {
        let Some(d) = dir_of(r.op).filter(|_| r.sector != old) else { return };
        let dir = &mut self.dir[d];
        if let Some(key) = dir.key(Queued { sector: old, ..r }) {
            let new = (r.sector, key.1);
            dir.sort.remove(&key);
            dir.sort.insert(new, r.rq);
            for (k, _) in dir.fifo.iter_mut().filter(|(k, _)| *k == key) {
                *k = new;
            }
        }
    }

    /// Reads and writes by sector, with the counters batching and starved.
    pub fn view(&self) -> (impl Iterator<Item = Idx> + '_, impl Iterator<Item = Idx> + '_, u32, u32) {
        (self.dir[READ].sort.values().copied(), self.dir[WRITE].sort.values().copied(), self.batching, self.starved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn read(sector: Sector) -> Queued {
        queued(Op::Read, sector)
    }
    fn write(sector: Sector) -> Queued {
        queued(Op::Write, sector)
    }
    fn queued(op: Op, sector: Sector) -> Queued {
        Queued {
            rq: sector as Idx,
            op,
            sector,
            nr_sectors: 8,
            prio: Default::default(),
            sync: op == Op::Read,
            job: 0,
            cpu: 0,
            start: 0,
        }
    }

    /// kernel 13, "Elevator".
    #[test]
    fn section_13_elevator() {
        let mut e = MqDeadline::new(MqDeadlineConfig::default());
        for s in [100, 50, 200] {
            e.insert(read(s), 0);
        }
        assert_eq!([e.dispatch(1), e.dispatch(1)], [Some(50), Some(100)]);
        e.insert(read(60), 1);
        assert_eq!([e.dispatch(1), e.dispatch(1), e.dispatch(1)], [Some(200), Some(60), None]);
    }

    #[test]
    fn reads_go_before_writes_until_those_starve() {
        let mut e = MqDeadline::new(MqDeadlineConfig { fifo_batch: 1, ..Default::default() });
        for s in [1, 2, 3, 4] {
            e.insert(read(s), 0);
            e.insert(write(s + 100), 0);
        }
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(0)).collect();
        assert_eq!(order, [101, 1, 2, 102, 3, 4, 103, 104]);
    }

    #[test]
    fn an_expired_request_starts_the_next_batch() {
        let mut e = MqDeadline::new(MqDeadlineConfig { fifo_batch: 2, ..Default::default() });
        e.insert(read(500), 0);
        for s in [10, 20, 30, 40] {
            e.insert(read(s), 400_000_000);
        }
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(600_000_000)).collect();
        assert_eq!(order, [500, 10, 20, 30, 40]);
    }
}
