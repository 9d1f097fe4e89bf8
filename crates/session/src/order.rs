//! The I/O that a stacked device works on: its records, the gaps between commands of a disk, its steps.
//!
//! Models: blktrace records of one I/O over all devices; seekwatcher-like gaps of the D stage (kernel 2.5, 10.1).
//! Rule: an I/O begins with the first bio queued while none is under way at the device that jobs submit to. Fed with
//! every record from time 0 and part of each checkpoint, so that it depends on the moment alone.
//! Leaves out: runs without a stacked device; which row or parity a sector is (`bioscope-stage`).

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::fifo::Fifo;
use bioscope_core::observe::gaps::Gaps;
use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink, flag};
use bioscope_core::time::SimTime;
use bioscope_core::units::{DevIdx, Op};

/// Records kept.
pub const RECORDS: usize = 4_096;
/// Rows of gaps, as [`bioscope_core::observe::gaps`] has them.
pub const GAPS: usize = 28;
/// Engine events that are looked ahead for the rest of an I/O.
pub(crate) const AHEAD: u32 = 2_000;

/// The device that the jobs submit to, if it is made of others; without jobs, the topmost that is.
pub fn top(cfg: &SimConfig) -> Option<DevIdx> {
    let stacked = |d: &DevIdx| cfg.devices.get(usize::from(*d)).is_some_and(|d| !d.members().is_empty());
    match cfg.jobs.first() {
        Some(job) => Some(job.dev).filter(stacked),
        None => (0..cfg.devices.len() as DevIdx).rev().find(stacked),
    }
}

/// The devices below one that have none below them, in the order of their roles.
pub fn leaves(cfg: &SimConfig, dev: DevIdx) -> Vec<DevIdx> {
    let members = cfg.devices.get(usize::from(dev)).map_or(&[][..], |d| d.members());
    let mut all = Vec::new();
    for member in members {
        let below = leaves(cfg, *member);
        if below.is_empty() {
            all.push(*member);
        }
        all.extend(below);
    }
    all
}

/// True for records of a step through `current->bio_list`: a piece is cut, sent down, or becomes part of a request.
pub fn is_step(r: &TraceRecord) -> bool {
    let of_task = r.flags & (flag::IRQ | flag::MD_THREAD | flag::MD_SYNC) == 0;
    let moves =
        matches!(r.action, Action::Split | Action::Remap | Action::GetRq | Action::BackMerge | Action::FrontMerge);
    of_task && moves
}

/// What is known of a stacked run at a moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Track {
    pub top: DevIdx,
    /// I/Os begun.
    pub io: u64,
    /// Sectors queued at the top and not completed.
    pub left: u64,
    /// Records of steps so far.
    pub steps: u64,
    pub records: Fifo<TraceRecord>,
    pub gaps: Gaps,
}

impl Track {
    pub fn new(cfg: &SimConfig) -> Option<Self> {
        Some(Self { top: top(cfg)?, io: 0, left: 0, steps: 0, records: Fifo::new(), gaps: Gaps::default() })
    }

    pub fn record(&mut self, r: &TraceRecord) {
        let (at_top, sectors) = (r.dev == self.top, u64::from(r.nr_sectors));
        match r.action {
            Action::Queue if at_top => {
                if self.left == 0 {
                    self.io += 1;
                    self.records.clear();
                }
                self.left += sectors;
            }
            Action::Complete | Action::Fail if at_top => {
                self.left = self.left.saturating_sub(sectors);
                return;
            }
            Action::Issue => self.gaps.record(r),
            Action::Complete
            | Action::GetRq
            | Action::BackMerge
            | Action::FrontMerge
            | Action::Split
            | Action::Remap => {}
            _ => return,
        }
        self.steps += u64::from(is_step(r));
        if self.records.len() == RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(*r);
    }

    /// Bytes on the heap, about.
    pub fn heap_bytes(&self) -> usize {
        self.records.len() * size_of::<TraceRecord>() + size_of::<Self>()
    }
}

/// A stacked run at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderFrame {
    /// What is run.
    pub cfg: Arc<SimConfig>,
    /// The device that the jobs submit to.
    pub top: DevIdx,
    /// Number of the I/O, from 1; 0 while none has begun.
    pub io: u64,
    /// Q at the top, and X, A, G, M, F, D and C of the I/O, in order: to its end where that is near.
    pub records: Vec<TraceRecord>,
    /// How many of them have happened.
    pub happened: usize,
    /// Steps taken since the last bio was queued, and its steps in all as far as known.
    pub step: (u32, u32),
    /// Gaps between a command and the next of the same disk so far, all disks together: up to 1 KiB, then doubling.
    pub gaps: [u64; GAPS],
}

impl OrderFrame {
    /// The present with what was looked ahead to: `ahead` continues `now`.
    pub(crate) fn of(cfg: &Arc<SimConfig>, now: &Track, ahead: &Track) -> Self {
        // Before the first I/O, all of it is to come.
        let whole = ahead.left == 0 && ahead.records.len() < RECORDS && ahead.io == now.io.max(1);
        let shown = if whole { ahead } else { now };
        let records: Vec<TraceRecord> = shown.records.iter().copied().collect();
        let happened = if now.io == shown.io { now.records.len() } else { 0 };
        let step = steps(&records, happened, now.top);
        Self {
            cfg: cfg.clone(),
            top: now.top,
            io: now.io,
            records,
            happened,
            step,
            gaps: sum(&now.gaps, cfg.devices.len()),
        }
    }

    /// Share of commands that begin where the disk's last one ended; `None` before there are two.
    pub fn sequential(&self) -> Option<f64> {
        let all: u64 = self.gaps.iter().sum();
        (all > 0).then(|| self.gaps[0] as f64 / all as f64)
    }
}

/// Counts of all devices together.
pub fn sum(gaps: &Gaps, devices: usize) -> [u64; GAPS] {
    let mut all = [0; GAPS];
    for device in (0..devices).filter_map(|d| gaps.of(d as DevIdx)) {
        for (row, n) in device.counts().iter().enumerate() {
            all[row.min(GAPS - 1)] += n;
        }
    }
    all
}

/// Steps of the bio that was queued last: taken, and in all.
fn steps(records: &[TraceRecord], happened: usize, top: DevIdx) -> (u32, u32) {
    let queued = |r: &TraceRecord| r.action == Action::Queue && r.dev == top;
    let from = records[..happened].iter().rposition(queued).unwrap_or(0);
    let mut last: Option<SimTime> = None;
    let (mut taken, mut all) = (0, 0);
    for (n, r) in records.iter().enumerate().skip(from) {
        if n > from && n >= happened && queued(r) {
            break;
        }
        // Each step has a moment of its own.
        if is_step(r) && last != Some(r.time) {
            last = Some(r.time);
            all += 1;
            taken += u32::from(n < happened);
        }
    }
    (taken, all)
}

/// Bytes that a record moved to or from a job: completed reads and writes without error, where jobs see them.
pub(crate) fn completed_bytes(r: &TraceRecord, top: Option<DevIdx>) -> u64 {
    let moved = r.action == Action::Complete && r.arg == 0 && matches!(r.op, Op::Read | Op::Write);
    let seen = top.is_none_or(|top| top == r.dev);
    if moved && seen { u64::from(r.nr_sectors) * bioscope_core::units::SECTOR_BYTES } else { 0 }
}

#[cfg(test)]
mod tests {
    use bioscope_core::units::Sector;

    use super::*;

    pub(crate) fn record(time: SimTime, dev: DevIdx, action: Action, sector: Sector, nr_sectors: u32) -> TraceRecord {
        TraceRecord {
            time,
            dev,
            action,
            op: Op::Read,
            flags: 0,
            sector,
            nr_sectors,
            bio: 1,
            rq: 1,
            arg: 0,
            job: 0,
            origin: sector,
        }
    }

    fn track() -> Track {
        Track { top: 2, io: 0, left: 0, steps: 0, records: Fifo::new(), gaps: Gaps::default() }
    }

    #[test]
    fn an_io_begins_when_nothing_is_under_way() {
        let mut t = track();
        t.record(&record(1, 2, Action::Queue, 0, 128));
        t.record(&record(1, 2, Action::Queue, 128, 128));
        t.record(&record(2, 0, Action::Issue, 0, 128));
        t.record(&record(3, 0, Action::Issue, 256, 128));
        assert_eq!((t.io, t.left, t.records.len()), (1, 256, 4));
        let gaps = sum(&t.gaps, 3);
        assert_eq!((gaps[0], gaps[6]), (0, 1), "64 KiB between the two");
        t.record(&record(4, 2, Action::Complete, 0, 128));
        t.record(&record(4, 2, Action::Complete, 128, 128));
        t.record(&record(5, 2, Action::Queue, 256, 128));
        assert_eq!((t.io, t.left, t.records.len()), (2, 128, 1));
    }

    #[test]
    fn steps_are_those_of_the_last_bio() {
        let records = [
            record(1, 2, Action::Queue, 0, 256),
            record(1, 2, Action::Split, 0, 128),
            record(1, 0, Action::Remap, 0, 128),
            record(2, 0, Action::GetRq, 0, 128),
            record(3, 1, Action::Remap, 0, 128),
            record(4, 1, Action::GetRq, 0, 128),
            record(9, 2, Action::Queue, 256, 128),
            record(9, 0, Action::Remap, 128, 128),
        ];
        assert_eq!(steps(&records, 0, 2), (0, 4));
        assert_eq!(steps(&records, 4, 2), (2, 4));
        assert_eq!(steps(&records, 6, 2), (4, 4));
        assert_eq!(steps(&records, 8, 2), (1, 1));
    }

    #[test]
    fn only_what_jobs_see_is_throughput() {
        let done = record(1, 0, Action::Complete, 0, 8);
        assert_eq!([None, Some(0), Some(2)].map(|top| completed_bytes(&done, top)), [4096, 4096, 0]);
    }
}
