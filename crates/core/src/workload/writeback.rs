//! Writeback of a zoned XFS: one flusher that packs closed files into the open zone.
//!
//! Models: xfs zoned allocation (pack-tight) and writeback in units of a zone (disk 1 "XFS", 6).
//! Rule: the stream is sequential, and ends at the first failed write (a zoned XFS shuts down); a bio ends at the command limit, the file's end or the zone's end; at most
//! `in_flight_limit` bytes are submitted and not complete.
//! Leaves out: the log, metadata, garbage collection, dirtying of pages.

use crate::blk::split::Limits;
use crate::blk::{Ctx, NewBio};
use crate::config::{QueueConfig, WorkloadConfig, WritebackConfig};
use crate::observe::snapshot::JobState;
use crate::observe::why::Why;
use crate::rng::Rng;
use crate::units::{JobIdx, MIB, Op, SECTOR_BYTES, Sector};

use super::AnyWorkload;

/// File system block, bytes.
const BLOCK: u64 = 4096;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Writeback {
    rng: Rng,
    /// Where the stream goes on.
    pos: Sector,
    /// Sectors left of the current file.
    file_left: Sector,
    /// A write failed: the file system shuts down.
    pub(super) failed: bool,
}

impl Writeback {
    /// At the start of its first zone, before its first file.
    pub fn new(cfg: &WritebackConfig, index: JobIdx, seed: u64, zone_sectors: Sector) -> Self {
        let pos = u64::from(cfg.first_zone) * zone_sectors;
        Self { rng: Rng::stream(seed, "job", u64::from(index)), pos, file_left: 0, failed: false }
    }

    /// Length of the next bio: what one command can carry, within the file and the zone.
    fn next_len(&mut self, cfg: &WritebackConfig, limit: Sector, zone_left: Sector) -> Sector {
        if self.file_left == 0 {
            let (min, max) = (cfg.file_min / BLOCK, cfg.file_max / BLOCK);
            let blocks = min + self.rng.below(max.saturating_sub(min) + 1);
            self.file_left = blocks.max(1) * BLOCK / SECTOR_BYTES;
        }
        limit.min(self.file_left).min(zone_left)
    }
}

/// What one command can carry: the flusher's bios grow to what the queue takes.
pub(super) fn command_limit(q: &QueueConfig, segment_bytes: u32) -> Sector {
    Limits::of(q, Sector::MAX).front(0, u32::MAX, segment_bytes).map_or(1, |(n, _)| u64::from(n))
}

impl Ctx<'_> {
    pub(crate) fn writeback_run(&mut self, j: JobIdx) {
        let job_cfg = &self.cfg.jobs[usize::from(j)];
        let WorkloadConfig::Writeback(cfg) = &job_cfg.workload else { return };
        let dev = job_cfg.dev;
        let (zone_sectors, capacity) = (self.zone_sectors(dev), self.zone_capacity(dev));
        let end = self.devs[usize::from(dev)].shape.map_or(0, |z| u64::from(z.nr_zones)) * zone_sectors;
        let limit = command_limit(&self.queue(dev).cfg, job_cfg.bio_segment_bytes);
        let stopped = *self.stopped;
        let job = self.job(j);
        let in_flight = job.bytes_in_flight;
        let AnyWorkload::Writeback(w) = &mut job.kind else { return };
        if stopped || w.failed || w.pos >= end {
            job.state = if in_flight > 0 { JobState::WaitCompletion } else { JobState::Done };
            return;
        }
        let len = w.next_len(cfg, limit, capacity - w.pos % zone_sectors);
        if in_flight > 0 && in_flight + len * SECTOR_BYTES > cfg.in_flight_limit {
            job.state = JobState::WaitCompletion;
            self.bus.because(0, Why::InFlightFull { job: j, mib: (in_flight / MIB) as u32 });
            return;
        }
        let sector = w.pos;
        w.pos += len;
        w.file_left -= len;
        if w.pos % zone_sectors >= capacity {
            w.pos = (w.pos / zone_sectors + 1) * zone_sectors;
        }
        self.job_submit(j, NewBio { op: Op::Write, sector, nr_sectors: len as u32, flags: 0, prio: job_cfg.prio });
    }
}
