//! fio with zonemode=zbd: zone locks, write zones, resets.
//!
//! Models: fio zbd.c, HEAD after 3.42 (kernel 10.5 to 10.7, fio 2.4, 2.6) with an asynchronous engine, on any zoned
//! device; and what is no job of fio's but differs from one in a single point: a file system that appends, a buffered
//! writer whose pages two threads write back.
//! Rule: a zone's lock is taken while an I/O is prepared and held until the owner reaps it; an owner may stack I/Os;
//! who meets another's lock first drains its own I/O, then blocks. Writes go to fio's write pointer. Conventional zones
//! and reads with read_beyond_wp need no lock; read-only and offline zones are not used.
//! Leaves out: fio's generators (which zone comes next), verification, rates, sizes that differ, zones that are open
//! before the run; while scanning for a zone only the one chosen is locked; a zone counts for the job that added it to
//! write_zones, where fio counts down for the one that fills it.

use alloc::vec::Vec;

use super::AnyWorkload;
use super::draws::{Mix, READ, WRITE};
use super::writeback::command_limit;
use crate::blk::bio::bflag;
use crate::blk::{Ctx, Media, NewBio};
use crate::config::{FioZbdConfig, WorkloadConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::{JobState, ZoneCond};
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
    /// In write_zones, where `writer` put it.
    write: bool,
    writer: JobIdx,
    /// Read-only or offline: fio takes both for offline.
    offline: bool,
    /// Holder of the mutex.
    owner: JobIdx,
    /// Recursion count of the mutex; 0 = free.
    count: u32,
    waiters: Fifo<JobIdx>,
}

impl FioZone {
    /// As report zones gives it at the start of a job.
    fn reported(media: &Media, zone: ZoneNo) -> Self {
        let Some(z) = media.zones().map(|zones| zones.report(zone)) else { return Self::default() };
        let offline = matches!(z.cond, ZoneCond::ReadOnly | ZoneCond::Offline);
        Self { wp: if offline { 0 } else { z.wp }, offline, ..Self::default() }
    }
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
    /// An I/O at this offset of a zone that needs no lock.
    Free { zone: ZoneNo, offset: Sector },
    /// Reap what is left and end.
    Drain,
}

/// One fio job.
#[derive(Clone, Debug, PartialEq)]
pub struct Fio {
    step: Step,
    rng: Rng,
    mix: Mix,
    /// Direction of the I/O that is prepared.
    dir: usize,
    /// Where sequential reads and writes go on.
    pos: [Sector; 2],
    /// I/Os issued by direction, and their bytes.
    ios: [u64; 2],
    issued: u64,
    /// Queued and not reaped.
    in_flight: u32,
    /// Of those, under the open plug.
    queued: u32,
    /// Completed and not reaped: zone, end offset, operation.
    done: Fifo<(ZoneNo, Sector, Op)>,
    /// Zones it added to write_zones.
    write_zones: u32,
    /// Writeback: the piece that one of two threads has in hand, and who is next.
    held: Option<Sector>,
    flush: Rng,
    mgmt: Option<BlkStatus>,
    failed: bool,
}

impl Fio {
    /// Before its first I/O.
    pub fn new(cfg: &FioZbdConfig, index: JobIdx, seed: u64, zone_sectors: Sector) -> Self {
        Self {
            step: Step::Next,
            rng: Rng::stream(seed, "job", u64::from(index)),
            mix: Mix::new(index, seed),
            dir: WRITE,
            pos: [u64::from(cfg.first_zone) * zone_sectors; 2],
            ios: [0; 2],
            issued: 0,
            in_flight: 0,
            queued: 0,
            done: Fifo::new(),
            write_zones: 0,
            held: None,
            flush: Rng::stream(seed, "flush", u64::from(index)),
            mgmt: None,
            failed: false,
        }
    }

    pub(super) fn bio_done(&mut self, op: Op, zone: ZoneNo, end: Sector, status: BlkStatus) {
        if op.is_zone_mgmt() {
            self.mgmt = Some(status);
        } else {
            self.done.push_back((zone, end, op));
        }
        self.failed |= status != BlkStatus::Ok;
    }

    /// Direction of the next I/O. The first of a mix is a write, so that there is something to read.
    fn direction(&mut self, c: &FioZbdConfig) -> usize {
        let dir = self.mix.direction(c.rw, c.rwmixread, self.ios);
        let nothing_yet = self.ios[WRITE] == 0 && !c.read_beyond_wp && c.rwmixread < 100;
        if dir == READ && c.rw.writes() && nothing_yet { WRITE } else { dir }
    }

    /// Two threads write back, in order of pages and each with a piece in hand; which submits first is chance. The
    /// piece that is submitted now, if any.
    fn write_back(&mut self, piece: Sector) -> Option<Sector> {
        let other_first = self.flush.below(2) == 0;
        match self.held {
            Some(held) if other_first => {
                self.held = Some(piece);
                Some(held)
            }
            None if other_first => {
                self.held = Some(piece);
                None
            }
            _ => Some(piece),
        }
    }
}

/// An I/O to be queued.
#[derive(Clone, Copy)]
struct NewIo {
    op: Op,
    sector: Sector,
    len: Sector,
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
        let media = &self.devs[usize::from(dev)].media;
        self.fio.zones.or_insert_with((dev, zone), || FioZone::reported(media, zone))
    }
    /// fio's write pointer of a zone, conventional ones being full; `None` where the zone is not used.
    fn fio_wp(&self, dev: DevIdx, zone: ZoneNo) -> Option<Sector> {
        if self.is_conventional(dev, zone) {
            return Some(self.zone_sectors(dev));
        }
        let wp = |z: &FioZone| (!z.offline).then_some(z.wp);
        match self.fio.zones.get(&(dev, zone)) {
            Some(z) => wp(z),
            None => wp(&FioZone::reported(&self.devs[usize::from(dev)].media, zone)),
        }
    }
    /// fio can write to it: it is sequential and not offline.
    fn fio_writable(&self, dev: DevIdx, zone: ZoneNo) -> bool {
        !self.is_conventional(dev, zone) && self.fio_wp(dev, zone).is_some()
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
                if !self.fio_drained(j, dev, c, zone) {
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
                if self.fio_limits_used(j, dev, c) {
                    Step::DrainToRetry { b }
                } else {
                    Step::Lock { zone: b, then: Then::Again { b } }
                }
            }
            Step::DrainToRetry { b } => {
                if !self.fio_drained(j, dev, c, b) {
                    return false;
                }
                Step::Lock { zone: b, then: Then::Again { b } }
            }
            Step::Stuck { b } => {
                if !self.fio_drained(j, dev, c, b) {
                    return false;
                }
                return self.fio_wait_for_progress(j, b);
            }
            Step::DrainToFinish { zone } => {
                if !self.fio_drained(j, dev, c, zone) {
                    return false;
                }
                return self.fio_mgmt(j, dev, zone, Op::ZoneFinish);
            }
            Step::DrainToReset { zone } => {
                if !self.fio_drained(j, dev, c, zone) {
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
                    self.fio_after_finish(dev, c, zone)
                }
            }
            Step::Write { zone } => return self.fio_write(j, dev, c, zone),
            Step::Read { zone, offset } => return self.fio_read(j, dev, c, zone, offset),
            Step::Free { zone, offset } => return self.fio_free(j, dev, c, zone, offset),
            Step::Drain => {
                if self.fio_lets_go(j, c) {
                    return false;
                }
                self.fio_commits(j);
                while self.fio_reap(j, dev, c) {}
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
        if self.fio(j).in_flight >= c.iodepth && !self.fio_reap(j, dev, c) {
            if self.fio_lets_go(j, c) {
                return false;
            }
            if self.fio_commits(j) {
                return true;
            }
            self.job(j).state = JobState::WaitCompletion;
            return false;
        }
        let f = self.fio(j);
        let dir = f.direction(c);
        f.dir = dir;
        let (random, pos) = (c.rw.is_random(), f.pos[dir]);
        let zone = match random {
            true => c.first_zone + f.rng.below(u64::from(c.zones)) as ZoneNo,
            false => self.zone_of(dev, pos),
        };
        let anywhere = dir == READ && c.read_beyond_wp && self.fio_wp(dev, zone).is_some();
        let step = if anywhere || self.is_conventional(dev, zone) {
            let blocks = (self.zone_sectors(dev) / c.bs).max(1);
            let offset = if random { self.fio(j).rng.below(blocks) * c.bs } else { self.zone_offset(dev, pos) };
            Step::Free { zone, offset }
        } else {
            Step::Lock { zone, then: Then::Offset }
        };
        self.fio(j).step = step;
        true
    }

    /// The zone's lock is held: use it or move on (kernel 10.7 a to e).
    fn fio_evaluate(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo, then: Then) -> Step {
        if *self.stopped {
            self.fio_unlock(j, dev, zone);
            return Step::Drain;
        }
        if self.fio(j).dir == READ {
            return self.fio_evaluate_read(j, dev, c, zone);
        }
        match self.fio_fit(j, dev, c, zone) {
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
            Then::Again { b } => match self.fio_scan(j, dev, c, b) {
                Some(found) => Step::Lock { zone: found, then: Then::Scanned { b } },
                None => Step::Stuck { b },
            },
            Then::Scanned { b } => Step::Stuck { b },
        }
    }

    /// Steps a, b and e for a locked zone; adds it to write_zones where there is a limit, if that allows it.
    fn fio_fit(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Fit {
        let capacity = self.zone_capacity(dev);
        let z = self.fio_zone(dev, zone);
        if z.offline {
            return Fit::No;
        }
        let remaining = capacity - z.wp;
        if remaining > 0 && remaining < c.bs {
            return Fit::Finish;
        }
        if z.write {
            return if remaining > 0 { Fit::Write } else { Fit::No };
        }
        if self.fio_limit(dev, c) > 0 {
            if self.fio_limits_used(j, dev, c) {
                return Fit::No;
            }
            let z = self.fio_zone(dev, zone);
            (z.write, z.writer) = (true, j);
            self.fio(j).write_zones += 1;
            self.fio.write_zones.push((dev, zone));
        }
        if remaining > 0 { Fit::Write } else { Fit::Reset }
    }

    /// Zones of the device that may be written to at a time; 0 = no limit, and no write_zones.
    fn fio_limit(&self, dev: DevIdx, c: &FioZbdConfig) -> u32 {
        if c.max_open_zones > 0 || c.ignore_zone_limits {
            return c.max_open_zones;
        }
        let ordering = self.cfg.kernel.zone_ordering;
        self.devs[usize::from(dev)].shape.map_or(0, |z| z.advertised_max_open(ordering))
    }

    fn fio_limits_used(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig) -> bool {
        let limit = self.fio_limit(dev, c) as usize;
        if limit == 0 {
            return false;
        }
        if c.job_max_open_zones > 0 && self.fio(j).write_zones >= c.job_max_open_zones {
            return true;
        }
        let zones = &self.fio.write_zones;
        // Counted only where the zones of all devices would do.
        zones.len() >= limit && zones.iter().filter(|(d, _)| *d == dev).count() >= limit
    }

    /// Step a: the next zone with a write pointer. A sequential job that does not repeat ends with its range.
    fn fio_after_finish(&self, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Step {
        let last = zone + 1 >= c.first_zone + c.zones;
        if last && !c.rw.is_random() && c.io_bytes.is_some() {
            return Step::Drain;
        }
        // It may be the only one.
        let next = Self::fio_others(c, zone).find(|z| !self.is_conventional(dev, *z));
        Step::Lock { zone: next.unwrap_or(zone), then: Then::Offset }
    }

    /// The other zones of the range, upward from `zone` with wrap-around.
    fn fio_others(c: &FioZbdConfig, zone: ZoneNo) -> impl Iterator<Item = ZoneNo> {
        let (first, zones) = (c.first_zone, c.zones);
        (1..zones).map(move |i| first + (zone - first + i) % zones)
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
    fn fio_scan(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, b: ZoneNo) -> Option<ZoneNo> {
        if !self.fio_limits_used(j, dev, c) {
            let addable =
                |z: &ZoneNo| self.fio.zones.get(&(dev, *z)).is_none_or(|z| !z.write) && self.fio_writable(dev, *z);
            let other = Self::fio_others(c, b).find(addable);
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
            // Who waits like this is nobody to wait for.
            self.job(j).state = JobState::WaitCompletion;
            let spin = self.cfg.host.submit_ns;
            self.wake_job(j, spin);
            return false;
        }
        self.fio(j).step = Step::Drain;
        true
    }

    /// Something completed: jobs that found no zone look again.
    pub(super) fn fio_progress(&mut self) {
        if self.fio.stuck.is_empty() {
            return;
        }
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
        let most = if c.append { self.fio_append_limit(j, dev) } else { Sector::MAX };
        let z = self.fio_zone(dev, zone);
        let offset = z.wp;
        let len = c.bs.min(most);
        z.wp += len;
        let full = z.wp >= capacity;
        let start = u64::from(zone) * zone_sectors;
        let after = if full { start + zone_sectors } else { start + offset + len };
        // An append names its zone; where it lands is the device's to say.
        let (op, sector) = if c.append { (Op::ZoneAppend, start) } else { (Op::Write, start + offset) };
        self.fio_queue(j, c, zone_sectors, after, NewIo { op, sector, len })
    }

    /// What one append can carry: file systems cut their bios to it, the block layer splits none.
    fn fio_append_limit(&mut self, j: JobIdx, dev: DevIdx) -> Sector {
        let segment_bytes = self.cfg.jobs[usize::from(j)].bio_segment_bytes;
        let command = command_limit(&self.queue(dev).cfg, segment_bytes);
        match self.devs[usize::from(dev)].shape.map_or(0, |z| z.append_max_sectors) {
            0 => command,
            native => command.min(u64::from(native)),
        }
    }

    /// A read finds data below fio's write pointer, in this zone or another that has some: a sequential job the next,
    /// unless an unusable zone is in between, a random one the nearest.
    fn fio_evaluate_read(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Step {
        let wp = self.fio_wp(dev, zone).unwrap_or(0);
        let pos = self.fio(j).pos[READ];
        let random = c.rw.is_random();
        let inside = if self.zone_of(dev, pos) == zone { self.zone_offset(dev, pos) } else { 0 };
        let offset = if random { 0 } else { inside };
        if offset + c.bs <= wp {
            let offset = if random { self.fio(j).rng.below(wp / c.bs) * c.bs } else { offset };
            if c.read_beyond_wp {
                // The zone that was drawn is unusable; like all reads of this job this one needs no lock.
                self.fio_unlock(j, dev, zone);
                return Step::Free { zone, offset };
            }
            return Step::Read { zone, offset };
        }
        self.fio_unlock(j, dev, zone);
        let Some(found) = self.fio_readable(dev, c, zone) else { return Step::Drain };
        let zone_sectors = self.zone_sectors(dev);
        self.fio(j).pos[READ] = u64::from(found) * zone_sectors;
        if self.is_conventional(dev, found) {
            let offset = if random { self.fio(j).rng.below(zone_sectors / c.bs) * c.bs } else { 0 };
            return Step::Free { zone: found, offset };
        }
        Step::Lock { zone: found, then: Then::Offset }
    }

    /// Another zone with data.
    fn fio_readable(&self, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> Option<ZoneNo> {
        let data = |z: ZoneNo| self.fio_wp(dev, z).is_some_and(|wp| wp >= c.bs);
        if !c.rw.is_random() {
            return Self::fio_others(c, zone).take_while(|z| self.fio_wp(dev, *z).is_some()).find(|z| data(*z));
        }
        let (first, end) = (c.first_zone, c.first_zone + c.zones);
        (1..c.zones).find_map(|d| {
            let up = Some(zone + d).filter(|z| *z < end && data(*z));
            up.or_else(|| zone.checked_sub(d).filter(|z| *z >= first && data(*z)))
        })
    }

    fn fio_read(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo, offset: Sector) -> bool {
        let zone_sectors = self.zone_sectors(dev);
        let sector = u64::from(zone) * zone_sectors + offset;
        self.fio_queue(j, c, zone_sectors, sector + c.bs, NewIo { op: Op::Read, sector, len: c.bs })
    }

    /// An I/O at the place that was drawn. A write must not cross into a sequential zone: fio turns its distance to the
    /// end of the zone into its offset.
    fn fio_free(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo, offset: Sector) -> bool {
        let zone_sectors = self.zone_sectors(dev);
        let op = if self.fio(j).dir == WRITE { Op::Write } else { Op::Read };
        let start = u64::from(zone) * zone_sectors;
        let crosses = offset + c.bs > zone_sectors;
        let turned = op == Op::Write && crosses && !self.is_conventional(dev, zone + 1);
        let sector = start + if turned { zone_sectors - offset } else { offset };
        // A rest that is too small for an I/O is left at the end of the range.
        let end = u64::from(c.first_zone + c.zones) * zone_sectors;
        let after = match turned {
            true => start + zone_sectors,
            false if sector + 2 * c.bs > end => end,
            false => sector + c.bs,
        };
        self.fio_queue(j, c, zone_sectors, after, NewIo { op, sector, len: c.bs })
    }

    /// Queues an I/O; true when the job goes on at once, because a flusher keeps it in hand.
    fn fio_queue(&mut self, j: JobIdx, c: &FioZbdConfig, zone_sectors: Sector, after: Sector, io: NewIo) -> bool {
        let end = u64::from(c.first_zone + c.zones) * zone_sectors;
        let f = self.fio(j);
        let dir = f.dir;
        f.pos[dir] = if after >= end { u64::from(c.first_zone) * zone_sectors } else { after };
        f.ios[dir] += 1;
        f.issued += io.len * SECTOR_BYTES;
        f.in_flight += 1;
        f.step = Step::Next;
        if c.buffered && io.op == Op::Write {
            let Some(sector) = f.write_back(io.sector) else { return true };
            return self.fio_submit(j, c, NewIo { sector, ..io });
        }
        self.fio_submit(j, c, io)
    }

    fn fio_submit(&mut self, j: JobIdx, c: &FioZbdConfig, io: NewIo) -> bool {
        let NewIo { op, sector, len } = io;
        // Direct writes are synchronous, flushed ones are not.
        let flags = if op == Op::Read || c.buffered { 0 } else { bflag::SYNC };
        let prio = self.cfg.jobs[usize::from(j)].prio;
        if c.batch > 1 {
            self.start_plug(usize::from(j));
        }
        self.job_submit(j, NewBio { op, sector, nr_sectors: len as u32, flags, prio });
        false
    }

    /// One more I/O is under the plug of its batch; the last of a batch, or of the depth, closes it.
    pub(super) fn fio_submitted(&mut self, j: JobIdx) {
        let WorkloadConfig::FioZbd(c) = &self.cfg.jobs[usize::from(j)].workload else { return };
        let f = self.fio(j);
        // A zone command that slept for its tag is no I/O.
        if c.batch > 1 && !matches!(f.step, Step::AwaitMgmt { .. }) {
            f.queued += 1;
            if f.queued >= c.batch || f.in_flight >= c.iodepth {
                self.fio_commits(j);
            }
        }
    }

    /// What is queued goes out before the job waits for it; false when nothing was queued.
    fn fio_commits(&mut self, j: JobIdx) -> bool {
        if core::mem::take(&mut self.fio(j).queued) == 0 {
            return false;
        }
        self.finish_plug(usize::from(j));
        true
    }

    /// The flusher that has a piece in hand submits it before the job waits; false when there is none.
    fn fio_lets_go(&mut self, j: JobIdx, c: &FioZbdConfig) -> bool {
        let Some(sector) = self.fio(j).held.take() else { return false };
        self.fio_submit(j, c, NewIo { op: Op::Write, sector, len: c.bs });
        true
    }

    /// Reaps everything; false (and waiting, or submitting the rest) while own I/O is in flight.
    fn fio_drained(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig, zone: ZoneNo) -> bool {
        if self.fio_lets_go(j, c) {
            return false;
        }
        self.fio_commits(j);
        while self.fio_reap(j, dev, c) {}
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
    fn fio_reap(&mut self, j: JobIdx, dev: DevIdx, c: &FioZbdConfig) -> bool {
        let capacity = self.zone_capacity(dev);
        let f = self.fio(j);
        let Some((zone, end, op)) = f.done.pop_front() else { return false };
        f.in_flight -= 1;
        if op == Op::Read && c.read_beyond_wp || self.is_conventional(dev, zone) {
            return true;
        }
        if op != Op::Read && end >= capacity {
            self.fio_leave_write_zones(dev, zone);
        }
        self.fio_unlock(j, dev, zone);
        true
    }

    fn fio_leave_write_zones(&mut self, dev: DevIdx, zone: ZoneNo) {
        let z = self.fio_zone(dev, zone);
        if core::mem::take(&mut z.write) {
            let writer = z.writer;
            self.fio(writer).write_zones -= 1;
            self.fio.write_zones.retain(|z| *z != (dev, zone));
        }
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
