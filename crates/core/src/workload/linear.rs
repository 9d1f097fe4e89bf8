//! I/Os over a range: dd, and fio with zonemode=none.
//!
//! Models: `blkdev_direct_IO` (block/fops.c, 7.1; kernel 2.4 "Who opens a plug"), dd's synchronous loop, fio's loop of
//! queueing, committing, reaping and pausing (kernel 10.5, fio 2.4, 2.5, 2.8).
//! Rule: an I/O is done when all its bios are; its bios are submitted one after the other, under one plug when it has
//! more than 256 pages; a batch of I/Os shares a plug. An I/O keeps its slot until it is reaped.
//! Leaves out: the page cache itself (`buffered` is its flusher's side); latency ends with completion, not when fio
//! reaps; the I/Os of a batch are submitted as they are chosen, not at its end.

use super::AnyWorkload;
use super::draws::{Draws, READ, WRITE};
use crate::blk::bio::{Bio, bflag};
use crate::blk::{Ctx, NewBio};
use crate::config::{FioOptions, LinearConfig, WorkloadConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::JobState;
use crate::observe::why::Why;
use crate::time::SimTime;
use crate::units::{BioId, BlkStatus, IoPrio, JobIdx, Op, SECTOR_BYTES, Sector};

/// bvecs of a direct bio (BIO_MAX_VECS).
const MAX_VECS: u64 = 256;
/// Direct I/O of more pages than fit one bio opens a plug, however few bios contiguous pages make of it.
const PAGE_BYTES: u64 = 4096;

/// An I/O under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Io {
    /// Numbers of its first and latest bio.
    bios: (BioId, BioId),
    /// Its bios that have not ended.
    left: u32,
    /// When its first bio was submitted.
    since: SimTime,
    /// One of its bios ended with an error.
    failed: bool,
}

/// The I/O being submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Current {
    /// Its next bio's sector, sectors left, bios so far.
    sector: Sector,
    left: Sector,
    n: usize,
    /// More pages than one bio has.
    large: bool,
    op: Op,
    prio: IoPrio,
}

/// Where a job stands in fio's loop (kernel 10.5, fio 2.4, 2.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Chooses the next I/O.
    Fill,
    /// Reaps: with all slots taken until `iodepth_low` are left.
    Reap { full: bool },
    /// After an I/O and what was reaped for it: is a pause due?
    After,
    /// Reaps everything before a pause.
    Drain(Pause),
    /// On the CPU until then (thinktime_spin), then asleep until `until`.
    Spin { until: SimTime },
    /// Asleep.
    Sleep { until: SimTime, then: Option<usize> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pause {
    Think,
    /// Until then; the next I/O has this direction.
    Rate {
        until: SimTime,
        dir: usize,
    },
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    draws: Draws,
    phase: Phase,
    /// Where sequential reads and writes go on.
    pos: [Sector; 2],
    /// I/Os and bytes issued by direction.
    ios_issued: [u64; 2],
    issued: [u64; 2],
    /// When the first I/O was due.
    since: Option<SimTime>,
    current: Option<Current>,
    /// I/Os under the open plug.
    queued: u32,
    ios: Fifo<Io>,
    /// I/Os that are done and not reaped.
    done: u32,
    /// I/Os reaped, and how many there were at the latest thinktime.
    reaped: u64,
    thought: u64,
    failed: bool,
}

impl Linear {
    /// Before its first I/O.
    pub fn new(cfg: &LinearConfig, index: JobIdx, seed: u64) -> Self {
        Self {
            draws: Draws::new(cfg, index, seed),
            phase: Phase::Fill,
            pos: [cfg.first; 2],
            ios_issued: [0; 2],
            issued: [0; 2],
            since: None,
            current: None,
            queued: 0,
            ios: Fifo::new(),
            done: 0,
            reaped: 0,
            thought: 0,
            failed: false,
        }
    }
    /// Between two bios of an I/O.
    pub fn in_io(&self) -> bool {
        self.current.is_some()
    }
    /// Slots taken: I/Os in flight, and done but not reaped.
    fn slots(&self) -> u32 {
        self.ios.len() as u32 + self.done
    }

    /// Sector and length of the next I/O of a direction.
    fn next_io(&mut self, cfg: &LinearConfig, dir: usize) -> (Sector, Sector) {
        let end = cfg.first + cfg.sectors;
        let (at, len);
        if cfg.rw.is_random() {
            at = cfg.first + self.draws.block(&cfg.fio, dir, cfg.sectors / cfg.bs, cfg.bs) * cfg.bs;
            len = self.draws.size(cfg, dir, end - at);
        } else {
            if self.pos[dir] + cfg.bs > end {
                self.pos[dir] = cfg.first;
            }
            at = self.pos[dir];
            len = self.draws.size(cfg, dir, end - at);
            self.pos[dir] += len;
        }
        self.ios_issued[dir] += 1;
        self.issued[dir] += len * SECTOR_BYTES;
        (at, len)
    }

    /// When the next I/O of a direction is due by the rate (fio 2.5: what was issued, by the rate, since the start).
    fn due(&self, o: &FioOptions, dir: usize) -> SimTime {
        let (issued, rate) = match o.rate_iops[dir] {
            0 => (self.issued[dir], o.rate[dir]),
            iops => (self.ios_issued[dir], u64::from(iops)),
        };
        let after = (u128::from(issued) * 1_000_000_000).checked_div(u128::from(rate)).unwrap_or(0);
        self.since.unwrap_or(0).saturating_add(u64::try_from(after).unwrap_or(u64::MAX))
    }

    /// Reaps as `wait_for_completions` does; false when that has to wait.
    fn reap(&mut self, c: &LinearConfig, full: bool) -> bool {
        let o = &c.fio;
        let low = if o.low == 0 { c.iodepth } else { o.low };
        loop {
            let least = o.complete_min.max(1).min(self.slots());
            if self.done < least {
                return false;
            }
            self.take(o.complete_max.max(least));
            if !full || self.slots() <= low {
                return true;
            }
        }
    }
    fn take(&mut self, most: u32) {
        let n = self.done.min(most);
        self.done -= n;
        self.reaped += u64::from(n);
    }

    /// Direction of the next I/O, and until when the rate makes it wait.
    fn direction(&mut self, c: &LinearConfig, now: SimTime) -> (usize, Option<SimTime>) {
        self.since.get_or_insert(now);
        let dir = self.draws.direction(c.rw, &c.fio, self.ios_issued);
        let due = self.due(&c.fio, dir);
        if due <= now {
            return (dir, None);
        }
        let other = 1 - dir;
        if !(c.rw.reads() && c.rw.writes()) || self.due(&c.fio, other) >= due {
            return (dir, Some(due));
        }
        self.draws.turned(other);
        let due = self.due(&c.fio, other);
        (other, (due > now).then_some(due))
    }

    fn begin(&mut self, c: &LinearConfig, dir: usize, of_job: IoPrio) {
        let (sector, len) = self.next_io(c, dir);
        let prio = self.draws.prio(&c.fio, dir, of_job);
        let op = if dir == WRITE { Op::Write } else { Op::Read };
        let large = len * SECTOR_BYTES > MAX_VECS * PAGE_BYTES;
        self.current = Some(Current { sector, left: len, n: 0, large, op, prio });
        self.ios.push_back(Io { bios: (BioId::MAX, 0), left: 0, since: 0, failed: false });
    }

    pub(super) fn bio_done(&mut self, bio: &Bio) {
        let at = self.io_of(bio);
        let io = &mut self.ios[at];
        io.left -= 1;
        io.failed |= bio.status != BlkStatus::Ok;
        self.failed |= io.failed;
        self.drop_done();
    }

    /// When the I/O began that ends well with this bio, which has just ended without error; `None` where more is to come.
    pub(super) fn done_since(&self, bio: &Bio) -> Option<SimTime> {
        let at = self.io_of(bio);
        let io = self.ios[at];
        let open = self.current.is_some() && at + 1 == self.ios.len();
        (io.left == 1 && !open && !io.failed).then_some(io.since)
    }

    fn io_of(&self, bio: &Bio) -> usize {
        let at = self.ios.iter().position(|io| io.bios.0 <= bio.id && bio.id <= io.bios.1);
        at.expect("a bio belongs to an I/O")
    }

    fn drop_done(&mut self) {
        let open = self.current.is_some();
        let newest = self.ios.back().copied();
        let before = self.ios.len();
        self.ios.retain(|io| io.left > 0 || open && Some(*io) == newest);
        self.done += (before - self.ios.len()) as u32;
    }
}

/// Sectors of the n-th bio of an I/O with `left` sectors to go.
fn bio_sectors(cfg: &LinearConfig, segment_bytes: u32, n: usize, left: Sector) -> u32 {
    let by_vecs = (MAX_VECS * u64::from(segment_bytes) / SECTOR_BYTES).max(1);
    let most = match cfg.bios.get(n) {
        Some(sectors) => u64::from(*sectors),
        None if cfg.bios.is_empty() => by_vecs,
        None => left,
    };
    most.min(left).min(u64::from(u32::MAX)) as u32
}

impl Ctx<'_> {
    fn linear(&mut self, j: JobIdx) -> &mut Linear {
        match &mut self.jobs[usize::from(j)].kind {
            AnyWorkload::Linear(l) => l,
            _ => unreachable!("only linear jobs get here"),
        }
    }

    /// Runs a job until it waits or has submitted a bio.
    pub(super) fn linear_run(&mut self, j: JobIdx) {
        let cfg = self.cfg;
        let job = &cfg.jobs[usize::from(j)];
        let WorkloadConfig::Linear(c) = &job.workload else { return };
        if self.linear(j).current.is_none() && !self.linear_begin(j, c, job.prio) {
            return;
        }
        let nowait = if c.nowait { bflag::NOWAIT } else { 0 };
        let next_id = self.ids.0 + 1;
        let now = self.bus.now;
        let l = self.linear(j);
        let Current { sector, left, n, op, prio, large } = l.current.expect("just begun");
        // Direct writes are synchronous, flushed ones are not.
        let sync = if op == Op::Write && !c.buffered { bflag::SYNC } else { 0 };
        let nr_sectors = bio_sectors(c, job.bio_segment_bytes, n, left);
        let rest = left - u64::from(nr_sectors);
        let more = Current { sector: sector + u64::from(nr_sectors), left: rest, n: n + 1, large, op, prio };
        l.current = (rest > 0).then_some(more);
        let io = l.ios.back_mut().expect("just begun");
        if io.left == 0 && n == 0 {
            io.bios.0 = next_id;
            io.since = now;
        }
        io.bios.1 = next_id;
        io.left += 1;
        if large || rest > 0 || n > 0 || c.batch > 1 || c.buffered {
            self.start_plug(usize::from(j));
        }
        self.job_submit(j, NewBio { op, sector, nr_sectors, flags: nowait | sync, prio });
    }

    /// Begins the next I/O; false when the job waits or has ended.
    fn linear_begin(&mut self, j: JobIdx, c: &LinearConfig, prio: IoPrio) -> bool {
        let (stopped, now) = (*self.stopped, self.bus.now);
        self.linear(j).drop_done();
        loop {
            let l = self.linear(j);
            if stopped || l.failed {
                return self.linear_over(j);
            }
            let next = match l.phase {
                Phase::Reap { full } => {
                    if !l.reap(c, full) {
                        if self.linear_commits(j) {
                            continue;
                        }
                        return self.linear_waits(j, c);
                    }
                    Phase::After
                }
                Phase::After if c.fio.thinktime_ns == 0 => Phase::Fill,
                Phase::After if l.reaped - l.thought < u64::from(c.fio.thinktime_blocks) => Phase::Fill,
                Phase::After => Phase::Drain(Pause::Think),
                Phase::Drain(pause) => {
                    if !l.ios.is_empty() {
                        if self.linear_commits(j) {
                            continue;
                        }
                        self.job(j).state = JobState::WaitCompletion;
                        return false;
                    }
                    l.take(u32::MAX);
                    match pause {
                        Pause::Think => {
                            l.thought = l.reaped;
                            let until = now.saturating_add(c.fio.thinktime_ns);
                            let spin = c.fio.thinktime_spin_ns.min(c.fio.thinktime_ns);
                            if spin > 0 {
                                l.phase = Phase::Spin { until };
                                self.job(j).state = JobState::Running;
                                self.wake_job(j, spin);
                                return false;
                            }
                            Phase::Sleep { until, then: None }
                        }
                        Pause::Rate { until, dir } => Phase::Sleep { until, then: Some(dir) },
                    }
                }
                Phase::Spin { until } => Phase::Sleep { until, then: None },
                Phase::Sleep { until, .. } if now < until => {
                    let thinks = matches!(l.phase, Phase::Sleep { then: None, .. });
                    self.job(j).state = JobState::Sleeping;
                    self.bus.because(0, Why::Sleeps { job: j, ns: until - now, thinks });
                    self.wake_job(j, until - now);
                    return false;
                }
                Phase::Sleep { then: Some(dir), .. } => {
                    l.begin(c, dir, prio);
                    return true;
                }
                Phase::Sleep { .. } => Phase::Fill,
                Phase::Fill => {
                    if c.buffered {
                        l.take(u32::MAX);
                        // A flusher waits until it can write a whole batch.
                        if l.queued == 0 && c.iodepth - l.slots().min(c.iodepth) < c.batch.min(c.iodepth) {
                            return self.linear_waits(j, c);
                        }
                    }
                    let all = l.issued[READ] + l.issued[WRITE];
                    if c.io_bytes.is_some_and(|most| all >= most) || c.sectors < c.bs {
                        return self.linear_over(j);
                    }
                    match l.direction(c, now) {
                        (dir, None) => {
                            l.begin(c, dir, prio);
                            return true;
                        }
                        (dir, Some(until)) => Phase::Drain(Pause::Rate { until, dir }),
                    }
                }
            };
            self.linear(j).phase = next;
        }
    }

    /// Nothing more is issued: the job waits for what is in flight, then ends.
    fn linear_over(&mut self, j: JobIdx) -> bool {
        self.linear_commits(j);
        let busy = !self.linear(j).ios.is_empty();
        self.job(j).state = if busy { JobState::WaitCompletion } else { JobState::Done };
        false
    }

    /// What is queued goes out before the job waits for it, as fio commits before it reaps; a device without delay has
    /// completed it by then. False when nothing was queued.
    fn linear_commits(&mut self, j: JobIdx) -> bool {
        self.finish_plug(usize::from(j));
        let l = self.linear(j);
        let queued = core::mem::take(&mut l.queued) > 0;
        l.drop_done();
        queued
    }

    fn linear_waits(&mut self, j: JobIdx, c: &LinearConfig) -> bool {
        self.job(j).state = JobState::WaitCompletion;
        // Who does one I/O at a time has no depth to fill.
        if c.iodepth > 1 {
            self.bus.because(0, Why::DepthFull { job: j, iodepth: c.iodepth });
        }
        false
    }

    /// What one submitted bio costs until the job goes on: nothing inside an I/O. The plug of an I/O that is all
    /// submitted, and of a batch, is closed at once; so is a batch that took the last slot.
    pub(super) fn linear_submitted(&mut self, j: JobIdx) -> bool {
        let WorkloadConfig::Linear(c) = &self.cfg.jobs[usize::from(j)].workload else { return true };
        let l = self.linear(j);
        if l.in_io() {
            return false;
        }
        l.queued += 1;
        let full = l.slots() >= c.iodepth;
        let polls = c.fio.complete_min == 0 && c.fio.complete_max == 0;
        l.phase = match full || polls {
            _ if c.buffered => Phase::Fill,
            true => Phase::Reap { full },
            false => Phase::After,
        };
        if full || l.queued >= c.batch {
            l.queued = 0;
            self.finish_plug(usize::from(j));
        }
        true
    }
}
