//! mq-deadline: three classes; in each two sorted lists and two FIFOs with expiry; batches.
//!
//! Models: block/mq-deadline.c, 7.1 (kernel 4.2, 3.4); before 6.10 with a lock a zone (4.3, [`super::zone_lock`]).
//! Rule: a class waits until the classes above it have nothing queued and nothing at the driver, or until its requests
//! are older than the aging limit. In a class: go on upward in the running direction until a batch is full; then reads
//! before writes unless writes starved; a new batch starts at the FIFO head when that expired or nothing lies ahead.
//! Leaves out: jiffies (expiry is exact), one dispatch list a class (5.17). Zone management is put on the dispatch list.

use alloc::vec::Vec;

use super::Queued;
use super::zone_lock::ZoneLocks;
use crate::config::{AsyncDepthOwner, MqDeadlineConfig, QueueConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::{DeadlineClassView, DeadlineView, RequestView};
use crate::slab::Idx;
use crate::sorted::SortedMap;
use crate::time::SimTime;
use crate::units::{IoClass, Op, RqId, Sector, ZoneNo};

const READ: usize = 0;
const WRITE: usize = 1;

/// Best effort, and who has no class; realtime is before it, idle behind it.
const BE: usize = 1;
const IDLE: usize = 2;

/// By start sector, then by insertion.
type Key = (Sector, u64);

#[derive(Clone, Debug, PartialEq, Default)]
struct Direction {
    sort: SortedMap<Key, Idx>,
    /// In order of insertion: sort key and deadline.
    fifo: Fifo<(Key, SimTime)>,
    /// Where the next request of a batch is looked for.
    latest_pos: Sector,
}

impl Direction {
    /// Sort key of a queued request.
    fn key(&self, r: Queued) -> Option<Key> {
        let start = (r.sector, 0)..=(r.sector, u64::MAX);
        self.sort.range(start).find(|(_, rq)| **rq == r.rq).map(|(k, _)| *k)
    }
    fn next(&self) -> Option<Key> {
        self.sort.range((self.latest_pos, 0)..).next().map(|(k, _)| *k)
    }
    /// Where a batch starts; `None` without requests.
    fn batch_start(&self, now: SimTime) -> Option<Key> {
        let (head, deadline) = *self.fifo.front()?;
        Some(self.next().filter(|_| deadline > now).unwrap_or(head))
    }
    /// Place in the FIFO. The number of the insertion alone names a request.
    fn place(&self, key: Key) -> Option<usize> {
        self.fifo.iter().position(|(k, _)| k.1 == key.1)
    }
}

/// One priority class.
#[derive(Clone, Debug, PartialEq, Default)]
struct Class {
    dir: [Direction; 2],
    inserted: u32,
    merged: u32,
    dispatched: u32,
    completed: u32,
}

impl Class {
    fn is_empty(&self) -> bool {
        self.dir[READ].sort.is_empty() && self.dir[WRITE].sort.is_empty()
    }
    /// `dd_queued`: inserted and not completed, so those at the driver are meant too.
    fn queued(&self) -> bool {
        self.inserted != self.completed
    }
    fn view(&self, rq: &dyn Fn(Idx) -> RequestView) -> DeadlineClassView {
        let sort = |d: &Direction| d.sort.values().map(|i| rq(*i)).collect::<Vec<_>>();
        let fifo = |d: &Direction| {
            let named = |(key, deadline): &(Key, SimTime)| d.sort.get(key).map(|i| (rq(*i).id, *deadline));
            d.fifo.iter().filter_map(named).collect::<Vec<(RqId, SimTime)>>()
        };
        let [r, w] = &self.dir;
        DeadlineClassView {
            sort: [sort(r), sort(w)],
            fifo: [fifo(r), fifo(w)],
            latest_pos: [r.latest_pos, w.latest_pos],
            counts: [self.inserted, self.merged, self.dispatched, self.completed],
        }
    }
}

/// A request on the dispatch list.
#[derive(Clone, Copy, Debug, PartialEq)]
struct First {
    rq: Idx,
    class: usize,
    op: Op,
    sector: Sector,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct MqDeadline {
    cfg: MqDeadlineConfig,
    nr_requests: u32,
    /// Sorted requests of all classes.
    nr_sorted: u32,
    class: [Class; 3],
    /// Goes before everything.
    dispatch: Fifo<First>,
    last_dir: usize,
    batching: u32,
    starved: u32,
    /// Numbers insertions, which orders requests of the same start.
    seq: u64,
    /// Came back from the driver: they are not counted again when they are inserted again.
    back: Fifo<Idx>,
    /// Of a zoned disk before 6.10.
    locks: Option<ZoneLocks>,
}

fn dir_of(op: Op) -> Option<usize> {
    match op {
        Op::Read => Some(READ),
        Op::Write | Op::ZoneAppend | Op::WriteZeroes => Some(WRITE),
        _ => None,
    }
}

fn class_of(r: Queued) -> usize {
    match r.prio.class {
        IoClass::Rt => 0,
        IoClass::None | IoClass::Be => BE,
        IoClass::Idle => IDLE,
    }
}

impl MqDeadline {
    /// Empty, as after selecting it.
    pub fn new(q: &QueueConfig) -> Self {
        Self {
            cfg: q.mq_deadline,
            nr_requests: q.nr_requests,
            nr_sorted: 0,
            class: Default::default(),
            dispatch: Fifo::new(),
            last_dir: WRITE,
            batching: 0,
            starved: 0,
            seq: 0,
            back: Fifo::new(),
            locks: None,
        }
    }

    /// Before I/O starts: writes to sequential zones need locks.
    pub fn set_zone_locks(&mut self, locks: ZoneLocks) {
        self.locks = Some(locks);
    }
    /// The locks, where it keeps any.
    pub fn zone_locks(&self) -> Option<&ZoneLocks> {
        self.locks.as_ref()
    }

    fn expire_ns(&self, dir: usize) -> SimTime {
        if dir == READ { self.cfg.read_expire_ns } else { self.cfg.write_expire_ns }
    }

    /// Where a read or write is sorted.
    fn sorted(&self, r: Queued) -> Option<&Direction> {
        dir_of(r.op).map(|d| &self.class[class_of(r)].dir[d])
    }
    fn sorted_mut(&mut self, r: Queued) -> Option<&mut Direction> {
        dir_of(r.op).map(|d| &mut self.class[class_of(r)].dir[d])
    }

    /// True if the request came back from the driver since.
    fn was_back(&mut self, r: Queued) -> bool {
        let at = self.back.iter().position(|rq| *rq == r.rq);
        if let Some(at) = at {
            self.back.remove(at);
        }
        at.is_some()
    }

    /// `dd_insert_request`
    pub fn insert(&mut self, r: Queued, at_head: bool, now: SimTime) {
        let class = class_of(r);
        if !self.was_back(r) {
            self.class[class].inserted = self.class[class].inserted.wrapping_add(1);
        }
        if let Some(locks) = &mut self.locks {
            locks.unlock(r);
        }
        let first = First { rq: r.rq, class, op: r.op, sector: r.sector };
        match dir_of(r.op) {
            _ if at_head => self.dispatch.push_front(first),
            None => self.dispatch.push_back(first),
            Some(d) => {
                let deadline = now.saturating_add(self.expire_ns(d));
                let key = (r.sector, self.seq);
                self.seq += 1;
                self.nr_sorted += 1;
                let dir = &mut self.class[class].dir[d];
                dir.sort.insert(key, r.rq);
                dir.fifo.push_back((key, deadline));
                if d == WRITE
                    && let Some(locks) = &mut self.locks
                {
                    locks.queued(key, r);
                }
            }
        }
    }

    /// `dd_has_work`: requests that wait for a higher class are work too.
    #[inline]
    pub fn has_work(&self) -> bool {
        self.nr_sorted > 0 || !self.dispatch.is_empty()
    }

    /// Requests wait in the sorted lists.
    pub fn has_sorted(&self) -> bool {
        self.nr_sorted > 0
    }

    /// `dd_dispatch_request`
    pub fn dispatch(&mut self, now: SimTime) -> Option<Idx> {
        if let Some(first) = self.dispatch.pop_front() {
            self.start(first.class, dir_of(first.op), first.sector);
            if let Some(locks) = &mut self.locks {
                locks.dispatched_first(first.op, first.sector, first.rq);
            }
            return Some(first.rq);
        }
        if let Some(rq) = self.dispatch_aged(now) {
            return Some(rq);
        }
        for class in 0..self.class.len() {
            let rq = self.select(class, Some(now), now);
            if rq.is_some() || self.class[class].queued() {
                return rq;
            }
        }
        None
    }

    /// `dd_dispatch_prio_aged_requests`: with several classes at work, what lower ones started long ago goes first.
    fn dispatch_aged(&mut self, now: SimTime) -> Option<Idx> {
        if self.class.iter().filter(|c| c.queued()).count() < 2 {
            return None;
        }
        // Before the clock's zero nothing started.
        let limit = now.checked_sub(self.cfg.prio_aging_expire_ns);
        self.select(BE, limit, now).or_else(|| self.select(IDLE, limit, now))
    }

    /// `__dd_dispatch_request`: takes the next of a class, unless it started after `limit`. What the choice did to
    /// direction, batch and starvation stays done then.
    fn select(&mut self, class: usize, limit: Option<SimTime>, now: SimTime) -> Option<Idx> {
        if self.class[class].is_empty() {
            return None;
        }
        let running = match &self.locks {
            None => self.class[class].dir[self.last_dir].next(),
            Some(locks) => self.next_unlocked(locks, class, self.last_dir),
        };
        let key = match running.filter(|_| self.batching < self.cfg.fifo_batch) {
            Some(key) => key,
            None if self.locks.is_some() => self.start_batch_unlocked(class, now)?,
            None => {
                let writes = !self.class[class].dir[WRITE].sort.is_empty();
                self.last_dir = self.choose_direction(class, writes);
                self.batching = 0;
                self.class[class].dir[self.last_dir].batch_start(now)?
            }
        };
        let d = self.last_dir;
        let expire = self.expire_ns(d);
        let dir = &mut self.class[class].dir[d];
        let at = dir.place(key)?;
        let start = dir.fifo[at].1.saturating_sub(expire);
        if limit.is_none_or(|limit| start > limit) {
            return None;
        }
        self.batching += 1;
        dir.fifo.remove(at);
        let rq = dir.sort.remove(&key);
        self.nr_sorted -= u32::from(rq.is_some());
        self.start(class, Some(d), key.0);
        if d == WRITE
            && let (Some(locks), Some(rq)) = (&mut self.locks, rq)
        {
            locks.dispatched(key, rq);
        }
        rq
    }

    /// The next of a direction in the order of sectors; of writes the first that may go.
    fn next_unlocked(&self, locks: &ZoneLocks, class: usize, d: usize) -> Option<Key> {
        let dir = &self.class[class].dir[d];
        match d {
            READ => dir.next(),
            _ => locks.first_in_order(dir.sort.range((dir.latest_pos, 0)..).map(|(key, _)| key)),
        }
    }

    /// The oldest write whose zone is locked: the zone, the write, and the request that holds the lock.
    pub fn waits_for_zone(&self) -> Option<(ZoneNo, Idx, Idx)> {
        let locks = self.locks.as_ref()?;
        let writes = self.class.iter().map(|c| &c.dir[WRITE]);
        let waiting = writes.flat_map(|d| d.fifo.iter().filter_map(|(key, _)| Some((key, *d.sort.get(key)?))));
        waiting.into_iter().find_map(|(key, rq)| locks.holder(key).map(|(zone, holds)| (zone, rq, holds)))
    }

    /// Direction and first request of a batch; writes that may not go are as good as none.
    fn start_batch_unlocked(&mut self, class: usize, now: SimTime) -> Option<Key> {
        let locks = self.locks.as_ref()?;
        let writes = &self.class[class].dir[WRITE];
        let before = |key: &Key| writes.sort.range(..*key).next_back().map(|(k, _)| *k);
        let oldest_write = locks.first_in_time(writes.fifo.iter().map(|(key, _)| key), before);
        let next_write = self.next_unlocked(locks, class, WRITE);
        let d = self.choose_direction(class, oldest_write.is_some());
        let dir = &self.class[class].dir[d];
        let key = match d {
            READ => dir.batch_start(now),
            _ => next_write.filter(|_| dir.fifo.front().is_some_and(|(_, due)| *due > now)).or(oldest_write),
        }?;
        self.last_dir = d;
        self.batching = 0;
        Some(key)
    }

    /// `dd_start_request`
    fn start(&mut self, class: usize, dir: Option<usize>, sector: Sector) {
        let c = &mut self.class[class];
        c.dispatched = c.dispatched.wrapping_add(1);
        if let Some(d) = dir {
            c.dir[d].latest_pos = sector;
        }
    }

    /// Direction of the next batch of a class that has requests, writes among them that may go or not.
    fn choose_direction(&mut self, class: usize, writes: bool) -> usize {
        let reads = !self.class[class].dir[READ].sort.is_empty();
        if reads && !writes {
            return READ;
        }
        if reads && self.starved < self.cfg.writes_starved {
            self.starved += 1;
            return READ;
        }
        self.starved = 0;
        WRITE
    }

    /// It will be inserted again, or go to the driver again without that.
    pub fn requeued(&mut self, r: Queued) {
        if !self.back.contains(&r.rq) {
            self.back.push_back(r.rq);
        }
    }

    /// `dd_finish_request`: lower classes may go now, but the kernel looks only when the queue runs next. True: a zone
    /// may have been unlocked and writes wait, so the hardware queue of this one shall run.
    pub fn finished(&mut self, r: Queued) -> bool {
        self.was_back(r);
        let c = &mut self.class[class_of(r)];
        c.completed = c.completed.wrapping_add(1);
        match &mut self.locks {
            None => false,
            Some(locks) => {
                locks.unlock(r);
                self.class.iter().any(|c| !c.dir[WRITE].fifo.is_empty())
            }
        }
    }

    /// `dd_limit_depth`: all but synchronous reads are held to async_depth.
    pub fn limit_depth(&self, op: Op, sync: bool, async_depth: u32) -> u32 {
        if sync && op == Op::Read { u32::MAX } else { async_depth }
    }

    /// What the bitmap is told (kernel 3.4).
    pub fn min_shallow_depth(&self, owner: AsyncDepthOwner, async_depth: u32) -> u32 {
        match owner {
            AsyncDepthOwner::Queue => async_depth,
            AsyncDepthOwner::Elevator => 1,
            AsyncDepthOwner::Elevator517 => (self.nr_requests.saturating_mul(3) / 4).max(1),
        }
    }

    /// `dd_depth_updated`
    pub fn depth_updated(&mut self, nr_requests: u32) {
        self.nr_requests = nr_requests;
    }

    /// The queued request that starts at or before `r`.
    pub fn before(&self, r: Queued) -> Option<Idx> {
        self.sorted(r)?.sort.range(..=(r.sector, u64::MAX)).next_back().map(|(_, rq)| *rq)
    }

    /// The queued request that starts at `sector` (front merge lookup), if front merges are on.
    pub fn at(&self, r: Queued, sector: Sector) -> Option<Idx> {
        let dir = self.sorted(r).filter(|_| self.cfg.front_merges)?;
        dir.sort.range((sector, 0)..=(sector, u64::MAX)).next().map(|(_, rq)| *rq)
    }

    /// `elv_rb_former_request`
    pub fn former(&self, r: Queued) -> Option<Idx> {
        let dir = self.sorted(r)?;
        dir.sort.range(..=(r.sector, u64::MAX)).rev().map(|(_, other)| *other).find(|other| *other != r.rq)
    }

    /// `elv_rb_latter_request`
    pub fn latter(&self, r: Queued) -> Option<Idx> {
        self.sorted(r)?.sort.range((r.sector, 0)..).map(|(_, other)| *other).find(|other| *other != r.rq)
    }

    /// `dd_merged_requests`: the first takes the place of the second in the FIFO when that one expires earlier. A second
    /// one that was not queued would have been: it counts as inserted.
    pub fn merged(&mut self, first: Queued, second: Queued) {
        if self.locks.is_some() {
            self.tell_locks(Queued { nr_sectors: first.nr_sectors + second.nr_sectors, ..first }, first.sector);
            self.tell_locks(Queued { nr_sectors: 0, ..second }, second.sector);
        }
        let gone = self.sorted(second).and_then(|dir| dir.key(second));
        let c = &mut self.class[class_of(second)];
        c.merged = c.merged.wrapping_add(1);
        let Some(gone) = gone else {
            c.inserted = c.inserted.wrapping_add(1);
            return;
        };
        let Some(dir) = self.sorted_mut(second) else { return };
        let kept = dir.key(first).and_then(|key| Some((key, dir.place(key)?)));
        let Some(b) = dir.place(gone) else { return };
        match kept {
            Some((key, a)) if dir.fifo[b].1 < dir.fifo[a].1 => {
                dir.fifo[b].0 = key;
                dir.fifo.remove(a);
            }
            _ => {
                dir.fifo.remove(b);
            }
        }
        let removed = dir.sort.remove(&gone).is_some();
        self.nr_sorted -= u32::from(removed);
    }

    /// A queued write is this one from now on, or gone where no sectors are left; `old` is where it started before.
    fn tell_locks(&mut self, r: Queued, old: Sector) {
        let dir = self.sorted(r).filter(|_| dir_of(r.op) == Some(WRITE));
        let key = dir.and_then(|dir| dir.key(Queued { sector: old, ..r }));
        if let (Some(locks), Some(key)) = (&mut self.locks, key) {
            locks.gone(key);
            if r.nr_sectors > 0 {
                locks.queued((r.sector, key.1), r);
            }
        }
    }

    /// Re-sorts a request after a front merge; it keeps its place in the FIFO.
    pub fn reposition(&mut self, r: Queued, old: Sector) {
        if self.locks.is_some() {
            self.tell_locks(r, old);
        }
        let Some(dir) = self.sorted_mut(r).filter(|_| r.sector != old) else { return };
        if let Some(key) = dir.key(Queued { sector: old, ..r }) {
            let new = (r.sector, key.1);
            dir.sort.remove(&key);
            dir.sort.insert(new, r.rq);
            if let Some(at) = dir.place(key) {
                dir.fifo[at].0 = new;
            }
        }
    }

    /// One that waits in the lists: of the highest class, reads first, by sector.
    pub fn any_queued(&self) -> Option<Idx> {
        self.class.iter().flat_map(|c| &c.dir).find_map(|d| d.sort.values().next().copied())
    }

    /// The lists for pictures.
    pub fn view(&self, rq: &dyn Fn(Idx) -> RequestView) -> DeadlineView {
        let [rt, be, idle] = &self.class;
        DeadlineView {
            classes: [rt.view(rq), be.view(rq), idle.view(rq)],
            dispatch: self.dispatch.iter().map(|f| rq(f.rq)).collect(),
            batching: self.batching,
            starved: self.starved,
            last_dir: self.last_dir,
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let dir = |d: &Direction| d.sort.heap_bytes() + d.fifo.capacity() * size_of::<(Key, SimTime)>();
        let lists: usize = self.class.iter().flat_map(|c| &c.dir).map(dir).sum();
        let locks = self.locks.as_ref().map_or(0, ZoneLocks::heap_bytes);
        lists + locks + self.dispatch.capacity() * size_of::<First>() + self.back.capacity() * size_of::<Idx>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn elevator(mq_deadline: MqDeadlineConfig) -> MqDeadline {
        MqDeadline::new(&QueueConfig { mq_deadline, ..QueueConfig::default() })
    }
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
        let mut e = elevator(MqDeadlineConfig::default());
        for s in [100, 50, 200] {
            e.insert(read(s), false, 0);
        }
        assert_eq!([e.dispatch(1), e.dispatch(1)], [Some(50), Some(100)]);
        e.insert(read(60), false, 1);
        assert_eq!([e.dispatch(1), e.dispatch(1), e.dispatch(1)], [Some(200), Some(60), None]);
    }

    #[test]
    fn reads_go_before_writes_until_those_starve() {
        let mut e = elevator(MqDeadlineConfig { fifo_batch: 1, ..Default::default() });
        for s in [1, 2, 3, 4] {
            e.insert(read(s), false, 0);
            e.insert(write(s + 100), false, 0);
        }
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(0)).collect();
        assert_eq!(order, [101, 1, 2, 102, 3, 4, 103, 104]);
    }

    #[test]
    fn an_expired_request_starts_the_next_batch() {
        let mut e = elevator(MqDeadlineConfig { fifo_batch: 2, ..Default::default() });
        e.insert(read(500), false, 0);
        for s in [10, 20, 30, 40] {
            e.insert(read(s), false, 400_000_000);
        }
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(600_000_000)).collect();
        assert_eq!(order, [500, 10, 20, 30, 40]);
    }

    use crate::units::IoPrio;

    fn of(class: IoClass, r: Queued) -> Queued {
        Queued { prio: IoPrio { class, level: 4 }, ..r }
    }
    fn counts(e: &MqDeadline, class: usize) -> [u32; 4] {
        let c = &e.class[class];
        [c.inserted, c.merged, c.dispatched, c.completed]
    }
    fn all(e: &mut MqDeadline, now: SimTime) -> Vec<Idx> {
        core::iter::from_fn(|| e.dispatch(now)).collect()
    }

    /// kernel 4.2, dispatch 3: a class waits until the higher ones are fully done.
    #[test]
    fn section_4_2_classes() {
        let mut e = elevator(MqDeadlineConfig::default());
        let (idle, none) = (of(IoClass::Idle, read(10)), read(20));
        let (be, rt) = (of(IoClass::Be, write(30)), of(IoClass::Rt, write(40)));
        for r in [idle, none, be, rt] {
            e.insert(r, false, 0);
        }
        assert_eq!(all(&mut e, 1), [40]);
        assert!(e.has_work(), "others wait for the one at the driver");
        e.finished(rt);
        assert_eq!(all(&mut e, 2), [20, 30]);
        e.finished(be);
        assert_eq!(e.dispatch(3), None);
        e.finished(none);
        assert_eq!(all(&mut e, 3), [10]);
        assert!(!e.has_work());
    }

    /// kernel 4.2, dispatch 2: best effort, then idle, once they are as old as prio_aging_expire.
    #[test]
    fn section_4_2_aging() {
        let mut e = elevator(MqDeadlineConfig { prio_aging_expire_ns: 100, ..Default::default() });
        e.insert(of(IoClass::Idle, read(1)), false, 5);
        e.insert(read(2), false, 10);
        for s in [11, 12, 13] {
            e.insert(of(IoClass::Rt, read(s)), false, 10);
        }
        assert_eq!(e.dispatch(104), Some(11));
        assert_eq!(e.dispatch(105), Some(1), "as old as the limit");
        assert_eq!(e.dispatch(109), Some(12));
        assert_eq!(e.dispatch(110), Some(2));
        assert_eq!(e.dispatch(110), Some(13));
    }

    /// kernel 4.2: with one class at work nothing is aged, and none restricted.
    #[test]
    fn section_4_2_one_class_does_not_age() {
        let cfg = MqDeadlineConfig { prio_aging_expire_ns: SimTime::MAX, ..Default::default() };
        let mut e = elevator(cfg);
        e.insert(of(IoClass::Idle, read(1)), false, 5);
        assert_eq!(e.dispatch(5), Some(1));
    }

    /// kernel 4.2, d: a choice that comes to nothing in the aged round still ends the batch and counts as starving.
    #[test]
    fn section_4_2_step_d_side_effects() {
        let order = |with_be: bool| {
            let mut e = elevator(MqDeadlineConfig { fifo_batch: 2, read_expire_ns: 0, ..Default::default() });
            for s in [500, 100, 510, 520] {
                e.insert(of(IoClass::Rt, read(s)), false, 0);
            }
            if with_be {
                e.insert(read(1), false, 0);
                e.insert(write(2), false, 0);
            }
            let order = [(); 4].map(|()| e.dispatch(0).unwrap_or(0));
            (order, e.starved)
        };
        assert_eq!(order(false), ([500, 510, 100, 520], 0));
        assert_eq!(order(true), ([500, 510, 520, 100], 1));
    }

    /// kernel 4.2, dispatch 1: the dispatch list goes first and moves latest_pos.
    #[test]
    fn section_4_2_at_head() {
        let mut e = elevator(MqDeadlineConfig::default());
        for s in [10, 100, 200] {
            e.insert(read(s), false, 0);
        }
        e.insert(of(IoClass::Idle, read(7)), true, 0);
        e.insert(read(150), true, 0);
        assert_eq!([e.before(read(160)), e.at(read(0), 150)], [Some(100), None], "no merges on the dispatch list");
        assert_eq!(all(&mut e, 1), [150, 7, 200, 10, 100]);
        assert_eq!(counts(&e, IDLE), [1, 0, 1, 0]);
    }

    /// kernel 4.2, "Merges": the earlier expiry, and its place.
    #[test]
    fn section_4_2_merges() {
        let mut e = elevator(MqDeadlineConfig { fifo_batch: 1, read_expire_ns: 100, ..Default::default() });
        for (n, s) in [108, 300, 100].into_iter().enumerate() {
            e.insert(read(s), false, n as u64);
        }
        assert_eq!([e.latter(read(100)), e.former(read(108))], [Some(108), Some(100)]);
        e.merged(Queued { nr_sectors: 8, ..read(100) }, read(108));
        e.finished(read(108));
        assert_eq!(counts(&e, BE), [3, 1, 0, 1]);
        let dir = &e.class[BE].dir[READ];
        assert_eq!(*dir.fifo, [((100, 2), 100), ((300, 1), 101)]);
        assert_eq!(all(&mut e, 200), [100, 300]);
        // The later one of two gives its place up.
        e.insert(read(50), false, 200);
        e.insert(read(60), false, 201);
        e.insert(read(58), false, 202);
        e.merged(read(50), read(58));
        assert_eq!(*e.class[BE].dir[READ].fifo, [((50, 3), 300), ((60, 4), 301)]);
    }

    /// kernel 2.6 and 4.2: one that is merged away while it is inserted counts as inserted, merged and completed.
    #[test]
    fn section_4_2_insertion_merge_counts() {
        let mut e = elevator(MqDeadlineConfig::default());
        e.insert(read(100), false, 0);
        e.merged(read(100), read(108));
        e.finished(read(108));
        assert_eq!(counts(&e, BE), [2, 1, 0, 1]);
        assert_eq!(all(&mut e, 0), [100]);
        e.finished(read(100));
        assert_eq!(counts(&e, BE), [2, 1, 1, 2]);
    }

    /// Merge candidates are of the same class.
    #[test]
    fn section_4_2_merges_stay_in_a_class() {
        let mut e = elevator(MqDeadlineConfig::default());
        e.insert(of(IoClass::Rt, read(100)), false, 0);
        let next = read(108);
        assert_eq!([e.before(next), e.before(of(IoClass::Rt, next))], [None, Some(100)]);
        assert_eq!([e.at(read(92), 100), e.at(of(IoClass::Rt, read(92)), 100)], [None, Some(100)]);
        let mut off = elevator(MqDeadlineConfig { front_merges: false, ..Default::default() });
        off.insert(read(100), false, 0);
        assert_eq!([off.at(read(92), 100), off.before(next)], [None, Some(100)]);
    }

    /// kernel 3.7: requeued, then inserted again at head: counted once, dispatched twice.
    #[test]
    fn section_4_2_requeue() {
        let mut e = elevator(MqDeadlineConfig::default());
        let (a, b, idle) = (read(10), read(20), of(IoClass::Idle, read(30)));
        for r in [a, b, idle] {
            e.insert(r, false, 0);
        }
        assert_eq!(e.dispatch(0), Some(10));
        e.requeued(a);
        e.insert(a, true, 1);
        assert_eq!(all(&mut e, 1), [10, 20]);
        // This one goes from hctx->dispatch without being inserted.
        e.requeued(b);
        e.finished(a);
        e.finished(b);
        assert_eq!((counts(&e, BE), e.back.len()), ([2, 0, 3, 2], 0));
        assert_eq!(all(&mut e, 1), [30]);
    }

    /// kernel 3.4: what is limited, and what the bitmap is told.
    #[test]
    fn section_3_4_limits() {
        let mut e = elevator(MqDeadlineConfig::default());
        assert_eq!(e.limit_depth(Op::Read, true, 48), u32::MAX);
        let limited = [(Op::Read, false), (Op::Write, true), (Op::Write, false), (Op::ZoneReset, true)];
        assert!(limited.iter().all(|(op, sync)| e.limit_depth(*op, *sync, 48) == 48));
        let told = |e: &MqDeadline| {
            [AsyncDepthOwner::Queue, AsyncDepthOwner::Elevator, AsyncDepthOwner::Elevator517]
                .map(|owner| e.min_shallow_depth(owner, 16))
        };
        assert_eq!(told(&e), [16, 1, 48]);
        e.depth_updated(256);
        assert_eq!(told(&e), [16, 1, 192]);
        e.depth_updated(1);
        assert_eq!(told(&e), [16, 1, 1]);
    }

    /// Values at the ends of their ranges.
    #[test]
    fn tunables_at_their_ends() {
        for ns in [0, SimTime::MAX] {
            let mut e = elevator(MqDeadlineConfig {
                read_expire_ns: ns,
                write_expire_ns: ns,
                prio_aging_expire_ns: ns,
                writes_starved: 0,
                fifo_batch: 0,
                front_merges: true,
            });
            for class in [IoClass::Idle, IoClass::Be, IoClass::Rt] {
                e.insert(of(class, read(class as u64)), false, SimTime::MAX);
                e.insert(of(class, write(Sector::from(u32::MAX) - class as u64)), false, 0);
            }
            let mut gone = Vec::new();
            while e.has_work() {
                let Some(rq) = e.dispatch(SimTime::MAX) else { break };
                gone.push(rq);
            }
            assert!(!gone.is_empty());
        }
    }
}
