//! What the last moments of a run were: commands issued, head movements, bytes completed.
//!
//! Models: nothing.
//! Rule: fed with every record from time 0 and part of each checkpoint, so that it depends on the moment alone.
//! Leaves out: figures since the ramp (`bioscope_core::observe::stats`).

use bioscope_core::config::SimConfig;
use bioscope_core::fifo::Fifo;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::time::{MS, SEC, SimTime};
use bioscope_core::units::RqId;

use crate::order::{Track, completed_bytes};

/// Issue records kept: what the D-stage strip shows.
pub const ISSUES: usize = 104;
/// Head movements kept: the trail on the platter.
pub const SEEKS: usize = 12;

/// Records of all actions kept: what moves on the stage.
pub const MOVES: usize = 64;

/// Width of a bucket; the readout "now" covers [`BUCKETS`] of them, the current one in part.
const BUCKET_NS: u64 = 10 * MS;
const BUCKETS: u64 = 25;

/// One bucket of the running sums.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Bucket {
    /// Time / `BUCKET_NS`.
    no: u64,
    bytes: u64,
    seeks: u32,
}

/// The last moments of a run.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Recent {
    issues: Fifo<TraceRecord>,
    seeks: Fifo<TraceRecord>,
    moves: Fifo<TraceRecord>,
    buckets: Fifo<Bucket>,
    /// Request of the last head movement: its rotation wait is not counted apart.
    moved_for: RqId,
    /// Records that share the time of the last one.
    same_time: u32,
    /// Of a stacked run.
    pub(crate) track: Option<Box<Track>>,
}

impl Recent {
    /// Of a run at its beginning.
    pub fn new(cfg: &SimConfig) -> Self {
        Self { track: Track::new(cfg).map(Box::new), ..Self::default() }
    }

    /// Bytes that a record moved to or from a job.
    pub fn completed_bytes(&self, r: &TraceRecord) -> u64 {
        completed_bytes(r, self.track.as_ref().map(|t| t.top))
    }

    /// Takes the next record. Returns true when it begins a repositioning (a seek, or a rotation wait without one).
    pub fn record(&mut self, r: &TraceRecord) -> bool {
        let repositions = match r.action {
            Action::Seek => true,
            Action::Rotate => r.rq != self.moved_for,
            _ => false,
        };
        if repositions {
            self.moved_for = r.rq;
        }
        self.same_time = match self.last() {
            Some(l) if l.time == r.time => self.same_time + 1,
            _ => 1,
        };
        push(&mut self.moves, r, MOVES);
        match r.action {
            Action::Issue => push(&mut self.issues, r, ISSUES),
            Action::Seek => push(&mut self.seeks, r, SEEKS),
            _ => {}
        }
        if let Some(track) = &mut self.track {
            track.record(r);
        }
        let bytes = self.completed_bytes(r);
        if bytes > 0 || repositions {
            self.count(r.time, bytes, u32::from(repositions));
        }
        repositions
    }

    fn count(&mut self, time: SimTime, bytes: u64, seeks: u32) {
        let no = time / BUCKET_NS;
        if self.buckets.back().is_none_or(|b| b.no != no) {
            self.buckets.push_back(Bucket { no, bytes: 0, seeks: 0 });
            while self.buckets.front().is_some_and(|b| b.no + BUCKETS <= no) {
                self.buckets.pop_front();
            }
        }
        if let Some(b) = self.buckets.back_mut() {
            b.bytes += bytes;
            b.seeks += seeks;
        }
    }

    /// Bytes and repositionings per second over the last 250 ms before `now`.
    pub fn rates(&self, now: SimTime) -> (f64, f64) {
        let no = now / BUCKET_NS;
        let from = (no + 1).saturating_sub(BUCKETS);
        let window = now - from * BUCKET_NS;
        if window == 0 {
            return (0.0, 0.0);
        }
        let inside = self.buckets.iter().filter(|b| b.no >= from);
        let (bytes, seeks) = inside.fold((0, 0), |(x, y), b| (x + b.bytes, y + b.seeks));
        let per_sec = SEC as f64 / window as f64;
        (bytes as f64 * per_sec, f64::from(seeks) * per_sec)
    }

    /// The last issue records, oldest first.
    pub fn issues(&self) -> impl Iterator<Item = &TraceRecord> {
        self.issues.iter()
    }
    /// The last head movements, oldest first.
    pub fn seeks(&self) -> impl Iterator<Item = &TraceRecord> {
        self.seeks.iter()
    }
    /// The last records of all actions, oldest first.
    pub fn moves(&self) -> impl Iterator<Item = &TraceRecord> {
        self.moves.iter()
    }
    /// The last record.
    pub fn last(&self) -> Option<&TraceRecord> {
        self.moves.back()
    }
    /// Records so far with exactly this time.
    pub fn records_at(&self, time: SimTime) -> u32 {
        if self.last().is_some_and(|l| l.time == time) { self.same_time } else { 0 }
    }
    /// Bytes on the heap, about.
    pub fn heap_bytes(&self) -> usize {
        let track = self.track.as_ref().map_or(0, |t| t.heap_bytes());
        (ISSUES + SEEKS + MOVES) * size_of::<TraceRecord>() + BUCKETS as usize * size_of::<Bucket>() + track
    }
}

fn push(ring: &mut Fifo<TraceRecord>, r: &TraceRecord, max: usize) {
    if ring.len() == max {
        ring.pop_front();
    }
    ring.push_back(*r);
}

#[cfg(test)]
mod tests {
    use bioscope_core::units::Op;

    use super::*;

    fn rec(time: SimTime, action: Action, rq: RqId) -> TraceRecord {
        let (sector, nr_sectors) = (0, 2048);
        TraceRecord {
            time,
            dev: 0,
            action,
            op: Op::Write,
            flags: 0,
            sector,
            nr_sectors,
            bio: 1,
            rq,
            arg: 0,
            job: 0,
            origin: sector,
        }
    }

    #[test]
    fn now_covers_a_quarter_second() {
        let mut recent = Recent::default();
        for i in 0..100 {
            recent.record(&rec(i * 10 * MS + 1, Action::Complete, 1));
        }
        let (bytes, _) = recent.rates(990 * MS + 2);
        assert!((bytes / 1_048_576.0 - 104.0).abs() < 1.0, "{bytes}");
        assert_eq!(recent.rates(10 * SEC).0, 0.0);
    }

    #[test]
    fn a_seek_and_its_rotation_count_once() {
        let mut recent = Recent::default();
        assert!(recent.record(&rec(1, Action::Seek, 7)));
        assert!(!recent.record(&rec(2, Action::Rotate, 7)));
        assert!(recent.record(&rec(3, Action::Rotate, 8)));
    }

    #[test]
    fn rings_are_bounded() {
        let mut recent = Recent::default();
        for i in 0..1000 {
            recent.record(&rec(i, Action::Issue, i as RqId));
        }
        assert_eq!(recent.issues().count(), ISSUES);
        assert_eq!(recent.issues().last().map(|r| r.rq), Some(999));
    }
}
