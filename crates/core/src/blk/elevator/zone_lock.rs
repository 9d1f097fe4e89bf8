//! A lock a zone: of each sequential zone at most one write is at the device.
//!
//! Models: `seq_zones_wlock` and what mq-deadline does with it, 5.17 and 6.2 to 6.9 (kernel 4.3).
//! Rule: a write takes its zone's lock when it is dispatched and gives it back when it ends or is inserted again; writes
//! to locked zones are passed over. On a rotating disk the contiguous run behind one that cannot go is passed over with
//! it, and an expired write that continues a queued one is not taken out of its run.
//! Leaves out: requests that do not pass the scheduler, as those of a flush sequence: nobody locks for them.

use super::Queued;
use crate::config::ZoneShape;
use crate::slab::Idx;
use crate::sorted::SortedMap;
use crate::units::{Op, Sector, ZoneNo};

/// A place among sorted requests: start, and number of the insertion.
type Key = (Sector, u64);

/// A queued write: where it ends, and whether it needs its zone's lock.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Write {
    end: Sector,
    locks: bool,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneLocks {
    shape: ZoneShape,
    /// Runs stay together (`zone_lock_streams`, and the disk rotates).
    streams: bool,
    /// Zones that are locked, and the request that holds the lock.
    locked: SortedMap<ZoneNo, Idx>,
    queued: SortedMap<Key, Write>,
}

impl ZoneLocks {
    /// All free.
    pub fn new(shape: ZoneShape, streams: bool) -> Self {
        Self { shape, streams, locked: SortedMap::default(), queued: SortedMap::default() }
    }
    fn zone(&self, sector: Sector) -> ZoneNo {
        (sector / self.shape.zone_sectors) as ZoneNo
    }
    /// A write was queued, or one that is queued has grown.
    pub fn queued(&mut self, key: Key, r: Queued) {
        // blk_req_needs_zone_write_lock
        let locks = r.op != Op::ZoneAppend && self.zone(r.sector) >= self.shape.nr_conv;
        self.queued.insert(key, Write { end: r.sector + u64::from(r.nr_sectors), locks });
    }
    /// It was merged away, or starts elsewhere now.
    pub fn gone(&mut self, key: Key) {
        self.queued.remove(&key);
    }
    /// A queued write is dispatched.
    pub fn dispatched(&mut self, key: Key, rq: Idx) {
        if self.queued.remove(&key).is_some_and(|w| w.locks) {
            self.lock(key.0, rq);
        }
    }
    /// `blk_req_zone_write_lock` of one that was inserted at head.
    pub fn dispatched_first(&mut self, op: Op, sector: Sector, rq: Idx) {
        if matches!(op, Op::Write | Op::WriteZeroes) && self.zone(sector) >= self.shape.nr_conv {
            self.lock(sector, rq);
        }
    }
    fn lock(&mut self, sector: Sector, rq: Idx) {
        self.locked.insert(self.zone(sector), rq);
    }
    /// `blk_req_zone_write_unlock`: of a request that may hold a lock.
    pub fn unlock(&mut self, r: Queued) {
        let zone = self.zone(r.sector);
        if self.locked.get(&zone) == Some(&r.rq) {
            self.locked.remove(&zone);
        }
    }
    /// The lock a queued write waits for: the zone, and the request that holds it.
    pub fn holder(&self, key: &Key) -> Option<(ZoneNo, Idx)> {
        let zone = self.queued.get(key).filter(|w| w.locks).map(|_| self.zone(key.0))?;
        self.locked.get(&zone).map(|rq| (zone, *rq))
    }
    /// `blk_req_can_dispatch_to_zone`
    fn may_go(&self, key: &Key) -> bool {
        self.holder(key).is_none()
    }
    fn end(&self, key: &Key) -> Option<Sector> {
        self.queued.get(key).map(|w| w.end)
    }
    /// `deadline_next_request`: the first of writes in the order of their sectors that may go.
    pub fn first_in_order<'a>(&self, mut sorted: impl Iterator<Item = &'a Key>) -> Option<Key> {
        let mut run = None;
        let found = sorted.find(|key| {
            if run != Some(key.0) && self.may_go(key) {
                return true;
            }
            run = self.end(key).filter(|_| self.streams);
            false
        });
        found.copied()
    }
    /// `deadline_fifo_request`: the oldest write that may go; `before` gives the one sorted before another.
    pub fn first_in_time<'a>(
        &self,
        mut fifo: impl Iterator<Item = &'a Key>,
        before: impl Fn(&Key) -> Option<Key>,
    ) -> Option<Key> {
        let continues = |key: &Key| before(key).and_then(|b| self.end(&b)) == Some(key.0);
        fifo.find(|key| self.may_go(key) && !(self.streams && continues(key))).copied()
    }
    /// Locked zones and the requests that hold the locks.
    pub fn locked(&self) -> impl Iterator<Item = (ZoneNo, Idx)> + '_ {
        self.locked.iter().map(|(zone, rq)| (*zone, *rq))
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.locked.heap_bytes() + self.queued.heap_bytes()
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::blk::elevator::mq_deadline::MqDeadline;
    use crate::config::{MqDeadlineConfig, QueueConfig};

    /// Zones of 100 sectors, the first conventional.
    fn elevator(streams: bool) -> MqDeadline {
        let shape = ZoneShape {
            zone_sectors: 100,
            capacity: 100,
            nr_zones: 10,
            nr_conv: 1,
            max_open: 0,
            max_active: 0,
            append_max_sectors: 0,
        };
        let mq_deadline = MqDeadlineConfig { write_expire_ns: 1_000, ..MqDeadlineConfig::default() };
        let mut e = MqDeadline::new(&QueueConfig { mq_deadline, ..QueueConfig::default() });
        e.set_zone_locks(ZoneLocks::new(shape, streams));
        e
    }
    fn write(sector: Sector, nr_sectors: u32) -> Queued {
        Queued {
            rq: sector as Idx,
            op: Op::Write,
            sector,
            nr_sectors,
            prio: Default::default(),
            sync: true,
            job: 0,
            cpu: 0,
            start: 0,
        }
    }
    fn all(e: &mut MqDeadline, now: u64) -> Vec<Idx> {
        core::iter::from_fn(|| e.dispatch(now)).collect()
    }
    fn locked(e: &MqDeadline) -> Vec<(ZoneNo, Idx)> {
        e.zone_locks().unwrap().locked().collect()
    }

    /// kernel 4.3: requests to locked zones are skipped, the chosen one locks its zone, completion unlocks.
    #[test]
    fn section_4_3_one_write_a_zone() {
        let mut e = elevator(false);
        let writes = [100, 110, 250, 120, 260].map(|s| write(s, 10));
        for w in writes {
            e.insert(w, false, 0);
        }
        assert_eq!(all(&mut e, 1), [100, 250]);
        assert_eq!(locked(&e), [(1, 100), (2, 250)]);
        assert!(e.has_work(), "what is held back is work");
        assert_eq!(e.waits_for_zone(), Some((1, 110, 100)));
        assert!(e.finished(writes[0]), "writes are queued: the queue shall run");
        assert_eq!(all(&mut e, 2), [110]);
        assert!(e.finished(writes[2]) && e.finished(writes[1]));
        assert_eq!(all(&mut e, 3), [120, 260]);
        assert!(!e.finished(writes[4]) && !e.finished(writes[3]), "none are queued");
        assert_eq!(locked(&e), []);
    }

    /// kernel 4.3: reads, writes to conventional zones and zone appends need no lock; write-zeroes do.
    #[test]
    fn section_4_3_what_needs_a_lock() {
        let mut e = elevator(false);
        for (op, sector) in [(Op::Write, 0), (Op::Write, 10), (Op::ZoneAppend, 100), (Op::WriteZeroes, 101)] {
            e.insert(Queued { op, ..write(sector, 10) }, false, 0);
        }
        e.insert(write(111, 10), false, 0);
        e.insert(Queued { op: Op::Read, ..write(121, 1) }, false, 0);
        assert_eq!(all(&mut e, 1), [0, 10, 100, 101, 121]);
        assert_eq!(locked(&e), [(1, 101)]);
    }

    /// kernel 4.3: writes that may not go do not make reads starve, and an expired one waits for its lock all the same.
    #[test]
    fn section_4_3_locked_writes_are_as_good_as_none() {
        let mut e = elevator(false);
        e.insert(write(100, 10), false, 0);
        e.insert(write(110, 10), false, 0);
        assert_eq!(e.dispatch(0), Some(100));
        for s in [500, 510, 520, 530] {
            e.insert(Queued { op: Op::Read, ..write(s, 10) }, false, 0);
        }
        assert_eq!(all(&mut e, 1_000_000), [500, 510, 520, 530]);
        e.finished(write(100, 10));
        assert_eq!(all(&mut e, 1_000_000), [110]);
    }

    /// kernel 4.3, the refinement: the run behind a locked zone's write is skipped as a whole, over the zone's end.
    #[test]
    fn section_4_3_streams() {
        for (streams, expected) in [(false, [180, 200, 500].as_slice()), (true, &[180, 500])] {
            let mut e = elevator(streams);
            for s in [180, 190, 200, 210, 500] {
                e.insert(write(s, 10), false, 0);
            }
            assert_eq!(all(&mut e, 1), expected, "streams: {streams}");
            e.finished(write(180, 10));
            assert_eq!(e.dispatch(1), Some(190));
        }
    }

    /// kernel 4.3, the refinement: what has expired and continues a queued write stays in its run.
    #[test]
    fn section_4_3_an_expired_write_stays_in_its_run() {
        for (streams, first) in [(false, 200), (true, 500)] {
            let mut e = elevator(streams);
            e.insert(write(180, 10), false, 0);
            assert_eq!(e.dispatch(0), Some(180));
            for s in [200, 190, 500] {
                e.insert(write(s, 10), false, 0);
            }
            assert_eq!(e.dispatch(5_000), Some(first), "streams: {streams}");
        }
    }

    /// Runs are told by where requests end, also after merges.
    #[test]
    fn runs_grow_with_their_requests() {
        let mut e = elevator(true);
        for (s, n) in [(150, 10), (160, 10), (180, 10), (200, 10), (210, 5)] {
            e.insert(write(s, n), false, 0);
        }
        assert_eq!(e.dispatch(0), Some(150));
        // A bio closes the gap between 170 and 180; 210 joins 200.
        e.reposition(write(160, 20), 160);
        e.merged(write(160, 20), write(180, 10));
        e.finished(write(180, 10));
        e.merged(write(200, 10), write(210, 5));
        e.finished(write(210, 5));
        assert_eq!(all(&mut e, 1), [200], "190 to 200 are missing: a run of its own");
        e.insert(write(190, 10), false, 1);
        e.insert(write(230, 5), false, 1);
        e.insert(write(300, 5), false, 1);
        assert_eq!(all(&mut e, 1), [300]);
        assert_eq!(locked(&e), [(1, 150), (2, 200), (3, 300)]);
    }

    /// kernel 3.7 and 4.3: inserted again, a request gives its lock back and takes it again when it is dispatched.
    #[test]
    fn section_4_3_requeue() {
        let mut e = elevator(true);
        e.insert(write(100, 10), false, 0);
        e.insert(write(110, 10), false, 0);
        assert_eq!(e.dispatch(0), Some(100));
        e.requeued(write(100, 10));
        assert_eq!(locked(&e), [(1, 100)], "on its way back it keeps it");
        e.insert(write(100, 10), true, 1);
        assert_eq!(locked(&e), []);
        assert_eq!(all(&mut e, 1), [100]);
        assert_eq!(locked(&e), [(1, 100)]);
    }
}
