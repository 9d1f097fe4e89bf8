//! I/Os of one size over a range: dd, and fio with zonemode=none.
//!
//! Models: `blkdev_direct_IO` (block/fops.c, 7.1; kernel 2.4 "Who opens a plug"), dd's synchronous loop, fio's queue and
//! batch (kernel 10.5).
//! Rule: an I/O is done when all its bios are; its bios are submitted one after the other, under one plug when it has
//! more than 256 pages; a batch of I/Os shares a plug.
//! Leaves out: mixes, rates, think time; the page cache itself (`buffered` is its flusher's side).

use super::AnyWorkload;
use crate::blk::bio::{Bio, bflag};
use crate::blk::{Ctx, NewBio};
use crate::config::{LinearConfig, Rw, WorkloadConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::JobState;
use crate::observe::why::Why;
use crate::rng::Rng;
use crate::time::SimTime;
use crate::units::{BioId, BlkStatus, JobIdx, Op, SECTOR_BYTES, Sector};

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

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    rng: Rng,
    /// Where a sequential job goes on.
    pos: Sector,
    /// Bytes issued.
    issued: u64,
    /// The I/O being submitted: next sector, sectors left, bios so far.
    current: Option<(Sector, Sector, usize)>,
    /// I/Os left of the batch.
    batch: u32,
    ios: Fifo<Io>,
    failed: bool,
}

impl Linear {
    /// Before its first I/O.
    pub fn new(cfg: &LinearConfig, index: JobIdx, seed: u64) -> Self {
        let rng = Rng::stream(seed, "job", u64::from(index));
        Self { rng, pos: cfg.first, issued: 0, current: None, batch: 0, ios: Fifo::new(), failed: false }
    }
    /// Between two bios of an I/O.
    pub fn in_io(&self) -> bool {
        self.current.is_some()
    }
    /// I/Os in flight.
    pub fn in_flight(&self) -> u32 {
        self.ios.len() as u32
    }

    /// Where the next I/O starts; `None` when all was issued.
    fn next_io(&mut self, cfg: &LinearConfig) -> Option<Sector> {
        let done = cfg.io_bytes.is_some_and(|b| self.issued >= b);
        if done || self.failed || cfg.sectors < cfg.bs {
            return None;
        }
        self.issued += cfg.bs * SECTOR_BYTES;
        if matches!(cfg.rw, Rw::RandRead | Rw::RandWrite) {
            return Some(cfg.first + self.rng.below(cfg.sectors / cfg.bs) * cfg.bs);
        }
        if self.pos + cfg.bs > cfg.first + cfg.sectors {
            self.pos = cfg.first;
        }
        let at = self.pos;
        self.pos += cfg.bs;
        Some(at)
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
        self.ios.retain(|io| io.left > 0 || open && Some(*io) == newest);
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
        if self.linear(j).current.is_none() && !self.linear_begin(j, c) {
            return;
        }
        let op = if matches!(c.rw, Rw::Write | Rw::RandWrite) { Op::Write } else { Op::Read };
        let nowait = if c.nowait { bflag::NOWAIT } else { 0 };
        // Direct writes are synchronous, flushed ones are not.
        let sync = if op == Op::Write && !c.buffered { bflag::SYNC } else { 0 };
        let next_id = self.ids.0 + 1;
        let now = self.bus.now;
        let l = self.linear(j);
        let (sector, left, n) = l.current.expect("just begun");
        let nr_sectors = bio_sectors(c, job.bio_segment_bytes, n, left);
        let rest = left - u64::from(nr_sectors);
        l.current = (rest > 0).then_some((sector + u64::from(nr_sectors), rest, n + 1));
        let large = c.bs * SECTOR_BYTES > MAX_VECS * PAGE_BYTES || rest > 0 || n > 0;
        let io = l.ios.back_mut().expect("just begun");
        if io.left == 0 && n == 0 {
            io.bios.0 = next_id;
            io.since = now;
        }
        io.bios.1 = next_id;
        io.left += 1;
        if large || c.batch > 1 || c.buffered {
            self.start_plug(usize::from(j));
        }
        self.job_submit(j, NewBio { op, sector, nr_sectors, flags: nowait | sync, prio: job.prio });
    }

    /// Begins the next I/O; false when the job waits or has ended.
    fn linear_begin(&mut self, j: JobIdx, c: &LinearConfig) -> bool {
        let stopped = *self.stopped;
        let l = self.linear(j);
        l.drop_done();
        let in_flight = l.in_flight();
        let room = c.iodepth.saturating_sub(in_flight);
        // fio submits what there is room for; a flusher waits until it can write a whole batch.
        if l.batch == 0 && room > 0 && (!c.buffered || room >= c.batch.min(c.iodepth)) {
            l.batch = c.batch.clamp(1, room);
        }
        let next = if l.batch > 0 && !stopped { l.next_io(c) } else { None };
        if let Some(sector) = next {
            l.batch -= 1;
            l.current = Some((sector, c.bs, 0));
            l.ios.push_back(Io { bios: (BioId::MAX, 0), left: 0, since: 0, failed: false });
            return true;
        }
        let over = l.batch > 0;
        l.batch = 0;
        self.finish_plug(usize::from(j));
        if over && in_flight == 0 {
            self.job(j).state = JobState::Done;
        } else {
            self.job(j).state = JobState::WaitCompletion;
            // Who does one I/O at a time has no depth to fill.
            if !over && c.iodepth > 1 {
                self.bus.because(0, Why::DepthFull { job: j, iodepth: c.iodepth });
            }
        }
        false
    }

    /// What one submitted bio costs until the job goes on: nothing inside an I/O. The plug of an I/O that is all
    /// submitted, and of a batch, is closed at once.
    pub(super) fn linear_submitted(&mut self, j: JobIdx) -> bool {
        let l = self.linear(j);
        if l.in_io() {
            return false;
        }
        if l.batch == 0 {
            self.finish_plug(usize::from(j));
        }
        true
    }
}
