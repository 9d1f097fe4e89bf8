//! fio with zonemode=zbd: zone locks, write zones, resets.
//!
//! Models: fio zbd.c, HEAD after 3.42 (kernel 10.5 to 10.7, fio 2.4, 2.6) with an asynchronous engine,
//! iodepth_batch 1.
//! Rule: a zone's lock is taken while an I/O is prepared and held until the owner reaps it; an owner may stack I/Os;
//! who meets another's lock first drains its own I/O, then blocks. Writes go to fio's write pointer.
//! Leaves out: fio's generators (which zone comes next), verification, rates, mixes; while scanning for a zone only
//! the one chosen is locked.

use alloc::vec::Vec;

use super::AnyWorkload;
use crate::blk::bio::bflag;
use crate::blk::{Ctx, NewBio};
use crate::config::{FioZbdConfig, Rw, WorkloadConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::JobState;
use crate::observe::trace::Action;
use crate::observe::why::Why;
use crate::rng::Rng;
use crate::sorted::SortedMap;
use crate::units::{BlkStatus, DevIdx, JobIdx, Op, SECTOR_BYTES, Sector, ZoneNo};

/// fio's picture of a zone, shared by all jobs.
#[derive(Clone, Debug, PartialEq, Default)]
struct FioZone {
    /// Advances when a write is queued, sectors from the zone start.
    wp: Sector,
    /// In write_zones.
    write: bool,
    owner: JobIdx,
    /// Recursion count of the mutex; 0 = free.
    count: u32,
    waiters: Fifo<JobIdx>,
}

/// What fio's jobs share on a machine.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Shared {
    zones: SortedMap<(DevIdx, ZoneNo), FioZone>,
    write_zones: Vec<(DevIdx, ZoneNo)>,
    /// Jobs that found no zone and wait for any progress.
    stuck: Vec<JobIdx>,
}

impl Shared {
    /// Zone locks a job holds: (zone, count).
    pub fn locks_of(&self, job: JobIdx) -> impl Iterator<Item = (ZoneNo, u32)> + '_ {
        self.zones.iter().filter(move |(_, z)| z.count > 0 && z.owner == job).map(|((_, n), z)| (*n, z.count))
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.zones.heap_bytes() + self.write_zones.capacity() * 8
    }
}

/// Where a job goes after it got a zone's lock and the zone would not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Step b of the zone of the random offset.
    Offset,
    /// Step c: the candidate from write_zones; `b` = zone of the offset.
    Candidate { b: ZoneNo },
    /// Step d: the zone of the offset once more.
    Again { b: ZoneNo },
    /// A zone found by the scan of step d.
    Scanned { b: ZoneNo },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Choose the next I/O.
    Next,
    /// Try the lock of a zone.
    Lock { zone: ZoneNo, then: Then },
    /// Drain own I/O (io_u_quiesce), then block on the mutex.
    DrainToBlock { zone: ZoneNo, then: Then },
    /// Asleep on the mutex.
    Blocked { zone: ZoneNo, then: Then },
    /// The zone is locked: is it usable?
    Evaluate { zone: ZoneNo, then: Then },
    /// No candidate fits (step d).
    NoZone { b: ZoneNo },
    /// Limits are used up: drain, then try the zone of the offset again.
    DrainToRetry { b: ZoneNo },
    /// Nothing found: drain, then wait for any progress.
    Stuck { b: ZoneNo },
    /// Drain, then finish the zone (its remainder is below bs).
    DrainToFinish { zone: ZoneNo },
    /// Drain, then reset the zone.
    DrainToReset { zone: ZoneNo },
    /// The zone command is on its way.
    AwaitMgmt { zone: ZoneNo, op: Op },
    /// Write to the locked zone.
    Write { zone: ZoneNo },
    /// The read of this zone at this offset.
    Read { zone: ZoneNo, offset: Sector },
    /// Reap what is left and end.
    Drain,
}

/// One fio job.
#[derive(Clone, Debug, PartialEq)]
pub struct Fio {
    step: Step,
    rng: Rng,
    /// Where a sequential job goes on.
    pos: Sector,
    issued: u64,
    /// Queued and not reaped.
    in_flight: u32,
    /// Completed and not reaped: zone, end offset, was a write.
    done: Fifo<(ZoneNo, Sector, bool)>,
    mgmt: Option<BlkStatus>,
    failed: bool,
}

impl Fio {
    /// Before its first I/O.
    pub fn new(cfg: &FioZbdConfig, index: JobIdx, seed: u64, zone_sectors: Sector) -> Self {
        Self {
            step: Step::Next,
            rng: Rng::stream(seed, "job", u64::from(index)),
            pos: u64::from(cfg.first_zone) * zone_sectors,
            issued: 0,
            in_flight: 0,
            done: Fifo::new(),
            mgmt: None,
            failed: false,
        }
    }

    pub(super) fn bio_done(&mut self, op: Op, zone: ZoneNo, end: Sector, status: BlkStatus) {
        if op.is_zone_mgmt() {
            self.mgmt = Some(status);
        } else {
            self.done.push_back((zone, end, op == Op::Write));
        }
        self.failed |= status != BlkStatus::Ok;
    }
}

/// May the locked zone take the next write?
enum Fit {
    Write,
    Reset,
    Finish,
    No,
}

impl Ctx<'_> {
    fn fio(&mut self, j: JobIdx) -> &mut Fio {
        match &mut self.jobs[usize::from(j)].kind {
            AnyWorkload::Fio(f) => f,
            _ => unreachable!("only fio jobs get here"),
        }
    }

    fn fio_zone(&mut self, dev: DevIdx, zone: ZoneNo) -> &mut FioZone {
        // First met: the write pointer is the device's, as fio's report zones at start gave it.
        let wp = self.devs[usize::from(dev)].media.zones().and_then(|z| z.get(zone)).map_or(0, |z| z.wp);
        self.fio.zones.or_insert_with((dev, zone), || FioZone { wp, ..FioZone::default() })
    }

    /// Runs a job until it waits or has submitted.
    pub(super) fn fio_run(&mut self, j: JobIdx) {
        let cfg = self.cfg;
        let WorkloadConfig::FioZbd(c) = &cfg.jobs[usize::from(j)].workload else { return };
        let dev = self.job(j).dev;
        while self.fio_step(j, dev, c) {}
    }

    /// One step; false when the job waits, submitted or ended.
    fn fio_step(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig) -> bool {
        let next = match self.fio(j).step {
            Step::Next => return self.fio_next(j, dev, c),
            Step::Lock { zone, then } => {
                if self.fio_trylock(j, dev, zone) {
                    Step::Evaluate { zone, then }
                } else {
                    let owner = self.fio_zone(dev, zone).owner;
                    self.bus.because(0, Why::ZoneLocked { zone, job: j, owner });
                    Step::DrainToBlock { zone, then }
                }
            }
            Step::DrainToBlock { zone, then } => {
                if !self.fio_drained(j, dev, zone) {
                    return false;
                }
                Step::Blocked { zone, then }
            }
            Step::Blocked { zone, then } => {
                if !self.fio_trylock(j, dev, zone) {
                    let z = self.fio_zone(dev, zone);
                    z.waiters.push_back(j);
                    let owner = z.owner;
                    self.job(j).state = JobState::WaitLock { zone, owner };
                    self.trace_zone(dev, zone, Action::LockWait, 0, j);
                    return false;
                }
                Step::Evaluate { zone, then }
            }
            Step::Evaluate { zone, then } => self.fio_evaluate(j, dev, c, zone, then),
            Step::NoZone { b } => {
                if self.fio_limits_used(dev, c) {
                    Step::DrainToRetry { b }
                } else {
                    Step::Lock { zone: b, then: Then::Again { b } }
                }
            }
            Step::DrainToRetry { b } => {
                if !self.fio_drained(j, dev, b) {
                    return false;
                }
                Step::Lock { zone: b, then: Then::Again { b } }
            }
            Step::Stuck { b } => {
                if !self.fio_drained(j, dev, b) {
                    return false;
                }
                return self.fio_wait_for_progress(j, b);
            }
            Step::DrainToFinish { zone } => {
                if !self.fio_drained(j, dev, zone) {
                    return false;
                }
                return self.fio_mgmt(j, dev, zone, Op::ZoneFinish);
            }
            Step::DrainToReset { zone } => {
                if !self.fio_drained(j, dev, zone) {
                    return false;
                }
                return self.fio_mgmt(j, dev, zone, Op::ZoneReset);
            }
            Step::AwaitMgmt { zone, op } => {
                let Some(status) = self.fio(j).mgmt.take() else {
                    self.job(j).state = JobState::WaitZoneMgmt { zone };
                    return false;
                };
                if status != BlkStatus::Ok {
                    self.fio_unlock(j, dev, zone);
                    Step::Drain
                } else if op == Op::ZoneReset {
                    self.fio_zone(dev, zone).wp = 0;
                    Step::Write { zone }
                } else {
                    let capacity = self.zone_capacity(dev);
                    self.fio_zone(dev, zone).wp = capacity;
                    self.fio_leave_write_zones(dev, zone);
                    self.fio_unlock(j, dev, zone);
                    let after = c.first_zone + (zone - c.first_zone + 1) % c.zones;
                    Step::Lock { zone: after, then: Then::Offset }
                }
            }
            Step::Write { zone } => return self.fio_write(j, dev, c, zone),
            Step::Read { zone, offset } => return self.fio_read(j, dev, c, zone, offset),
            Step::Drain => {
                while self.fio_reap(j, dev) {}
                let busy = self.fio(j).in_flight > 0;
                self.job(j).state = if busy { JobState::WaitCompletion } else { JobState::Done };
                return false;
            }
        };
        self.fio(j).step = next;
        true
    }

    /// Chooses the next I/O, or waits for a slot, or ends.
    fn fio_next(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig) -> bool {
        let over = *self.stopped || self.fio(j).failed || c.io_bytes.is_some_and(|b| self.fio(j).issued >= b);
        if over {
            self.fio(j).step = Step::Drain;
            return true;
        }
        if self.fio(j).in_flight >= c.iodepth && !self.fio_reap(j, dev) {
            self.job(j).state = JobState::WaitCompletion;
            return false;
        }
        let zone_sectors = self.zone_sectors(dev);
        let f = self.fio(j);
        let zone = match c.rw {
            Rw::Write | Rw::Read | Rw::ReadWrite => (f.pos / zone_sectors) as ZoneNo,
            Rw::RandWrite | Rw::RandRead | Rw::RandRw => c.first_zone + f.rng.below(u64::from(c.zones)) as ZoneNo,
        };
        f.step = Step::Lock { zone, then: Then::Offset };
        true
    }

    /// The zone's lock is held: use it or move on (kernel 10.7 a to e).
    fn fio_evaluate(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo, then: Then) -> Step {
        if *self.stopped {
            self.fio_unlock(j, dev, zone);
            return Step::Drain;
        }
        if matches!(c.rw, Rw::Read | Rw::RandRead) {
            return self.fio_evaluate_read(j, dev, c, zone);
        }
        match self.fio_fit(dev, c, zone) {
            Fit::Write => return Step::Write { zone },
            Fit::Reset => return Step::DrainToReset { zone },
            Fit::Finish => return Step::DrainToFinish { zone },
            Fit::No => self.fio_unlock(j, dev, zone),
        }
        match then {
            Then::Offset => match self.fio_candidate(dev, c, zone) {
                Some(candidate) => Step::Lock { zone: candidate, then: Then::Candidate { b: zone } },
                None => Step::NoZone { b: zone },
            },
            Then::Candidate { b } => Step::NoZone { b },
            Then::Again { b } => match self.fio_scan(dev, c, b) {
                Some(found) => Step::Lock { zone: found, then: Then::Scanned { b } },
                None => Step::Stuck { b },
            },
            Then::Scanned { b } => Step::Stuck { b },
        }
    }

    /// Steps a, b and e for a locked zone; adds it to write_zones where allowed.
    fn fio_fit(&mut self, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Fit {
        let capacity = self.zone_capacity(dev);
        let z = self.fio_zone(dev, zone);
        let remaining = capacity - z.wp;
        if remaining > 0 && remaining < c.bs {
            return Fit::Finish;
        }
        if z.write {
            return if remaining > 0 { Fit::Write } else { Fit::No };
        }
        if self.fio_limits_used(dev, c) {
            return Fit::No;
        }
        self.fio_zone(dev, zone).write = true;
        self.fio.write_zones.push((dev, zone));
        if remaining > 0 { Fit::Write } else { Fit::Reset }
    }

    fn fio_limits_used(&self, dev: DevIdx, c: &FioZbdConfig) -> bool {
        let device = self.devs[usize::from(dev)].shape.map_or(0, |z| z.max_open);
        let limit = if c.max_open_zones > 0 { c.max_open_zones } else { device };
        let (limit, zones) = (limit as usize, &self.fio.write_zones);
        // Counted only where the zones of all devices would do.
        limit > 0 && zones.len() >= limit && zones.iter().filter(|(d, _)| *d == dev).count() >= limit
    }

    fn fio_in_range(c: &FioZbdConfig, dev: DevIdx, at: &(DevIdx, ZoneNo)) -> bool {
        at.0 == dev && (c.first_zone..c.first_zone + c.zones).contains(&at.1)
    }

    /// Step c: a write zone of the job's range, by the offset's share of the range.
    fn fio_candidate(&self, dev: DevIdx, c: &FioZbdConfig, b: ZoneNo) -> Option<ZoneNo> {
        let list = &self.fio.write_zones;
        let start = list.len() * (b - c.first_zone) as usize / c.zones as usize;
        let from = list.iter().skip(start).find(|z| Self::fio_in_range(c, dev, z));
        from.or_else(|| list.iter().find(|z| Self::fio_in_range(c, dev, z))).map(|(_, z)| *z)
    }

    /// Step d: upward from `b` with wrap-around the first zone that may be added, else any write zone with room.
    fn fio_scan(&mut self, dev: DevIdx, c: &FioZbdConfig, b: ZoneNo) -> Option<ZoneNo> {
        if !self.fio_limits_used(dev, c) {
            let zones = &self.fio.zones;
            let other = (1..c.zones)
                .map(|i| c.first_zone + (b - c.first_zone + i) % c.zones)
                .find(|z| zones.get(&(dev, *z)).is_none_or(|z| !z.write));
            if other.is_some() {
                return other;
            }
        }
        let capacity = self.zone_capacity(dev);
        let zones = &self.fio.zones;
        let with_room = |z: &&(DevIdx, ZoneNo)| {
            Self::fio_in_range(c, dev, z) && zones.get(z).is_some_and(|z| capacity - z.wp >= c.bs)
        };
        self.fio.write_zones.iter().find(with_room).map(|(_, z)| *z)
    }

    /// Nothing to write to now: wait until anything completes; end when nothing can.
    fn fio_wait_for_progress(&mut self, j: JobIdx, b: ZoneNo) -> bool {
        self.fio(j).step = Step::NoZone { b };
        if self.jobs.iter().any(|job| !job.in_flight.is_empty()) {
            self.fio.stuck.push(j);
            self.job(j).state = JobState::WaitCompletion;
            return false;
        }
        let others_run = (0..self.jobs.len()).any(|i| {
            i != usize::from(j) && matches!(self.jobs[i].state, JobState::Running | JobState::WaitLock { .. })
        });
        if others_run {
            let spin = self.cfg.host.submit_ns;
            self.wake_job(j, spin);
            return false;
        }
        self.fio(j).step = Step::Drain;
        true
    }

    /// Something completed: jobs that found no zone look again.
    pub(super) fn fio_progress(&mut self) {
        for j in core::mem::take(&mut self.fio.stuck) {
            self.wake_job(j, 0);
        }
    }

    fn fio_mgmt(&mut self, j: JobIdx, dev: DevIdx, zone: ZoneNo, op: Op) -> bool {
        self.fio(j).step = Step::AwaitMgmt { zone, op };
        let sector = u64::from(zone) * self.zone_sectors(dev);
        // A synchronous ioctl: the job sleeps in it and is woken by its end.
        self.job_submit_sync(
            j,
            NewBio { op, sector, nr_sectors: 0, flags: 0, prio: Default::default() },
            JobState::WaitZoneMgmt { zone },
        );
        false
    }

    /// Submits and sleeps until the bio ends.
    fn job_submit_sync(&mut self, j: JobIdx, new: NewBio, state: JobState) {
        let dev = self.job(j).dev;
        self.job(j).state = state;
        let (_, done) = self.submit_bio(dev, j, new);
        if !done {
            // Asleep for a tag with the bio in hand; job_submitted() runs it again, AwaitMgmt waits on.
            self.job(j).in_submission = true;
        }
    }

    fn fio_write(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> bool {
        let (zone_sectors, capacity) = (self.zone_sectors(dev), self.zone_capacity(dev));
        let z = self.fio_zone(dev, zone);
        let offset = z.wp;
        z.wp += c.bs;
        let full = z.wp >= capacity;
        let start = u64::from(zone) * zone_sectors;
        let after = if full { u64::from(zone + 1) * zone_sectors } else { start + offset + c.bs };
        self.fio_queue(j, c, zone_sectors, after, Op::Write, start + offset)
    }

    /// A read finds data below fio's write pointer, in this zone or the next that has some.
    fn fio_evaluate_read(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Step {
        let zone_sectors = self.zone_sectors(dev);
        let wp = self.fio_zone(dev, zone).wp;
        let pos = self.fio(j).pos;
        let random = c.rw == Rw::RandRead;
        let inside = if (pos / zone_sectors) as ZoneNo == zone { pos % zone_sectors } else { 0 };
        let offset = if random { 0 } else { inside };
        if offset + c.bs <= wp {
            let offset = if random { self.fio(j).rng.below(wp / c.bs) * c.bs } else { offset };
            return Step::Read { zone, offset };
        }
        self.fio_unlock(j, dev, zone);
        let found = (1..=c.zones).map(|i| c.first_zone + (zone - c.first_zone + i) % c.zones).find(|z| {
            let wp = self.fio_zone(dev, *z).wp;
            wp >= c.bs
        });
        match found {
            Some(z) => {
                self.fio(j).pos = u64::from(z) * zone_sectors;
                Step::Lock { zone: z, then: Then::Offset }
            }
            None => Step::Drain,
        }
    }

    fn fio_read(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo, offset: Sector) -> bool {
        let zone_sectors = self.zone_sectors(dev);
        let sector = u64::from(zone) * zone_sectors + offset;
        self.fio_queue(j, c, zone_sectors, sector + c.bs, Op::Read, sector)
    }

    fn fio_queue(
        &mut self,
        j: JobIdx,
        c: &FioZbdConfig,
        zone_sectors: Sector,
        after: Sector,
        op: Op,
        sector: Sector,
    ) -> bool {
        let end = u64::from(c.first_zone + c.zones) * zone_sectors;
        let f = self.fio(j);
        f.pos = if after >= end { u64::from(c.first_zone) * zone_sectors } else { after };
        f.issued += c.bs * SECTOR_BYTES;
        f.in_flight += 1;
        f.step = Step::Next;
        let flags = if op == Op::Write { bflag::SYNC } else { 0 };
        let prio = self.cfg.jobs[usize::from(j)].prio;
        self.job_submit(j, NewBio { op, sector, nr_sectors: c.bs as u32, flags, prio });
        false
    }

    /// Reaps everything; false (and waiting) while own I/O is in flight.
    fn fio_drained(&mut self, j: JobIdx, dev: DevIdx, zone: ZoneNo) -> bool {
        while self.fio_reap(j, dev) {}
        let in_flight = self.fio(j).in_flight;
        if in_flight == 0 {
            return true;
        }
        if self.job(j).state != (JobState::Quiescing { zone }) {
            self.job(j).state = JobState::Quiescing { zone };
            self.bus.because(0, Why::Quiesces { job: j, in_flight, zone });
        }
        false
    }

    /// Reaps one completed I/O: its zone may leave write_zones, its lock is dropped.
    fn fio_reap(&mut self, j: JobIdx, dev: DevIdx) -> bool {
        let capacity = self.zone_capacity(dev);
        let f = self.fio(j);
        let Some((zone, end, write)) = f.done.pop_front() else { return false };
        f.in_flight -= 1;
        if write && end >= capacity {
            self.fio_leave_write_zones(dev, zone);
        }
        self.fio_unlock(j, dev, zone);
        true
    }

    fn fio_leave_write_zones(&mut self, dev: DevIdx, zone: ZoneNo) {
        self.fio_zone(dev, zone).write = false;
        self.fio.write_zones.retain(|z| *z != (dev, zone));
    }

    fn fio_trylock(&mut self, j: JobIdx, dev: DevIdx, zone: ZoneNo) -> bool {
        let z = self.fio_zone(dev, zone);
        let ours = z.count == 0 || z.owner == j;
        if ours {
            z.owner = j;
            z.count += 1;
        }
        ours
    }

    fn fio_unlock(&mut self, j: JobIdx, dev: DevIdx, zone: ZoneNo) {
        let z = self.fio_zone(dev, zone);
        debug_assert!(z.count > 0 && z.owner == j);
        z.count -= 1;
        if z.count > 0 {
            return;
        }
        if let Some(waiter) = z.waiters.pop_front() {
            let delay = self.cfg.host.lock_wake_ns;
            self.trace_zone(dev, zone, Action::Unlock, 0, j);
            self.wake_job(waiter, delay);
        }
    }
}
