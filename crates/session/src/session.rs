//! Two runs in step by time: the current moment, and the ways to another.
//!
//! Models: nothing.
//! Rule: records of both runs form one sequence by (time, A before B, number). At a moment given by time, everything
//! up to that time has happened on both sides; at a moment given by a step, exactly the records up to it are shown,
//! the side that owns the last one has handled no event more, and the other all events that come before it.
//! Leaves out: what a moment looks like on a screen.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::time::{SEC, SimTime};

use crate::frame::{Frame, Readouts, SideFrame};
use crate::run::{End, Run, Simulated};

/// A shown run has at most this many engine events (decisions 20).
pub const MAX_EVENTS: u64 = 5_000_000;
/// Slowest playback: simulated ns per second of wall time.
pub const SPEED_MIN: u64 = 1_000;
/// Fastest playback: real time.
pub const SPEED_MAX: u64 = 1_000_000_000;
/// A longer gap between two ticks (a hidden page) counts as this much, ns.
pub const MAX_WALL_NS: u64 = 500_000_000;

/// Memory for all checkpoints.
const CHECKPOINT_BYTES: usize = 32 << 20;

/// Which run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first lane.
    A,
    /// The second lane.
    B,
}

/// A moment as links name it: `t=3.482175331s+2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// ns
    pub time: SimTime,
    /// The k-th record at that time (0 = before the first); `None` = everything at that time.
    pub k: Option<u32>,
}

/// How far pre-simulation is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1.
    pub fraction: f64,
    /// Both runs are known to their end.
    pub done: bool,
}

/// A run that is too long to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// Which run.
    pub side: Side,
    /// Simulated time it had reached after [`MAX_EVENTS`], ns: about what runtime would do.
    pub reached: SimTime,
}

/// One or two runs and the current moment.
pub struct Session {
    a: Run,
    b: Option<Run>,
    moment: Moment,
    speed: u64,
    /// Simulated ns not yet played because they are less than one.
    carry: f64,
}

impl Run {
    fn simulated(&self) -> &Simulated {
        let Run::Simulated(s) = self;
        s
    }
    fn simulated_mut(&mut self) -> &mut Simulated {
        let Run::Simulated(s) = self;
        s
    }
}

impl Session {
    /// Sets up one run, or two to be compared, at time 0.
    pub fn load(a: Arc<SimConfig>, b: Option<Arc<SimConfig>>) -> Self {
        let share = CHECKPOINT_BYTES / if b.is_some() { 2 } else { 1 };
        Self {
            a: Run::Simulated(Simulated::new(a, share)),
            b: b.map(|b| Run::Simulated(Simulated::new(b, share))),
            moment: Moment { time: 0, k: Some(0) },
            speed: 2_000_000,
            carry: 0.0,
        }
    }

    fn sides(&self) -> impl Iterator<Item = &Simulated> {
        std::iter::once(&self.a).chain(&self.b).map(Run::simulated)
    }
    fn sides_mut(&mut self) -> impl Iterator<Item = &mut Simulated> {
        std::iter::once(&mut self.a).chain(&mut self.b).map(Run::simulated_mut)
    }
    fn side(&self, side: Side) -> Option<&Simulated> {
        match side {
            Side::A => Some(self.a.simulated()),
            Side::B => self.b.as_ref().map(Run::simulated),
        }
    }

    fn side_mut(&mut self, side: Side) -> Option<&mut Simulated> {
        match side {
            Side::A => Some(self.a.simulated_mut()),
            Side::B => self.b.as_mut().map(Run::simulated_mut),
        }
    }

    /// Simulates at most `max_events` further towards the end, on the side that is less far.
    pub fn presimulate(&mut self, max_events: u64) -> Result<Progress, TooLong> {
        if let Some(side) = self.sides_mut().filter(|s| s.end().is_none()).min_by_key(|s| s.known()) {
            side.presimulate(max_events);
        }
        for side in [Side::A, Side::B] {
            if let Some(s) = self.side(side).filter(|s| s.events() > MAX_EVENTS) {
                return Err(TooLong { side, reached: s.known() });
            }
        }
        let n = self.sides().count() as f64;
        let fraction = self.sides().map(Simulated::fraction).sum::<f64>() / n;
        Ok(Progress { fraction, done: self.done() })
    }

    fn done(&self) -> bool {
        self.sides().all(|s| s.end().is_some())
    }

    /// Up to here both runs are known; the end of the longer one when all is simulated.
    pub fn known(&self) -> SimTime {
        let known = |s: &Simulated| s.known();
        if self.done() {
            return self.sides().map(known).max().unwrap_or(0);
        }
        self.sides().filter(|s| s.end().is_none()).map(known).min().unwrap_or(0)
    }
    /// What a run came to, once simulated to its end.
    pub fn end(&self, side: Side) -> Option<&End> {
        self.side(side)?.end()
    }
    /// Throughput line of a run in bytes/s, `columns` points over `0..known()`.
    pub fn overview(&self, side: Side, columns: usize) -> Vec<f64> {
        self.side(side).map_or_else(Vec::new, |s| s.overview().bytes_per_sec(self.known(), columns))
    }

    /// The current moment, as links name it.
    pub fn moment(&self) -> Moment {
        self.moment
    }
    /// Simulated ns per second of wall time.
    pub fn speed(&self) -> u64 {
        self.speed
    }
    /// Sets the speed, clamped.
    pub fn set_speed(&mut self, speed: u64) {
        self.speed = speed.clamp(SPEED_MIN, SPEED_MAX);
    }

    /// Goes to where everything up to and including `time` has happened. Clamped to what is known; time 0 is the
    /// beginning, where nothing has happened.
    pub fn seek(&mut self, time: SimTime) {
        if time == 0 {
            return self.rewind();
        }
        let time = time.min(self.known());
        for s in self.sides_mut() {
            s.seek(time);
        }
        self.moment = Moment { time, k: None };
        self.carry = 0.0;
    }

    /// Goes to a moment that a link names. With fewer than k records at that time, to the last of them.
    pub fn seek_moment(&mut self, to: Moment) {
        let Some(k) = to.k else { return self.seek(to.time) };
        self.seek(to.time.saturating_sub(1));
        for _ in 0..k {
            if self.next_side().is_none_or(|(_, t)| t > to.time) {
                break;
            }
            self.step_forward();
        }
    }

    /// Goes to the beginning: nothing has happened.
    pub fn rewind(&mut self) {
        self.seek_counts(0, 0);
    }

    /// Shows the next record of either run. False at the end, or at the end of what is known.
    pub fn step_forward(&mut self) -> bool {
        let known = self.known();
        let Some((side, time)) = self.next_side().filter(|(_, t)| *t <= known) else { return false };
        if let Some(s) = self.side_mut(side) {
            s.at.next_record();
        }
        self.stand_at(Some((side, time)));
        true
    }

    /// Takes the last record of either run back. False at the beginning.
    pub fn step_back(&mut self) -> bool {
        let (a, b) = self.counts();
        match self.last_side() {
            None => return false,
            Some((Side::A, _)) => self.seek_counts(a - 1, b),
            Some((Side::B, _)) => self.seek_counts(a, b - 1),
        }
        true
    }

    /// Goes to the next or the last moment at which a submission to a stacked device goes on by a step; true if there
    /// is one.
    pub fn submission_step(&mut self, forward: bool) -> bool {
        let (time, known) = (self.moment.time, self.known());
        let to = if forward {
            // Before the first record, what happens at time 0 is still to come.
            let at_start = self.counts() == (0, 0) && self.sides().any(|s| s.at.starts_with_step());
            let later = || self.sides().filter_map(|s| s.next_step(time, known)).min();
            if at_start { Some(0) } else { later() }
        } else {
            self.sides().filter_map(|s| s.last_step(time)).max()
        };
        match to {
            // Time 0 is the beginning, when nothing has happened: its records are counted.
            Some(0) => self.seek_moment(Moment { time: 0, k: Some(u32::MAX) }),
            Some(to) => self.seek(to),
            None => {}
        }
        to.is_some()
    }

    fn counts(&self) -> (u64, u64) {
        (self.a.simulated().at.records(), self.b.as_ref().map_or(0, |b| b.simulated().at.records()))
    }

    /// The side whose record comes next, and its time.
    fn next_side(&self) -> Option<(Side, SimTime)> {
        let next = |side| Some((side, self.side(side)?.at.peek()?));
        match (next(Side::A), next(Side::B)) {
            (Some(a), Some(b)) => Some(if b.1 < a.1 { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// The side whose record came last, and its time.
    fn last_side(&self) -> Option<(Side, SimTime)> {
        let last = |side| Some((side, self.side(side)?.at.last_time()?));
        match (last(Side::A), last(Side::B)) {
            (Some(a), Some(b)) => Some(if a.1 > b.1 { a } else { b }),
            (a, b) => a.or(b),
        }
    }

    /// Stands where `a` and `b` records are shown. They must be a beginning of the common sequence.
    fn seek_counts(&mut self, a: u64, b: u64) {
        for (s, n) in self.sides_mut().zip([a, b]) {
            s.seek_step(n);
        }
        self.stand_at(self.last_side());
    }

    /// Lets the other side go on as far as it comes before the last record shown, and notes the moment.
    fn stand_at(&mut self, last: Option<(Side, SimTime)>) {
        let other = match last {
            None => None,
            Some((Side::A, time)) => time.checked_sub(1).map(|before| (Side::B, before)),
            Some((Side::B, time)) => Some((Side::A, time)),
        };
        if let Some((side, until)) = other
            && let Some(s) = self.side_mut(side)
        {
            s.at.advance(until);
        }
        let time = last.map_or(0, |l| l.1);
        let k = self.sides().map(|s| s.at.recent.records_at(time)).sum();
        self.moment = Moment { time, k: Some(k) };
        self.carry = 0.0;
    }

    /// Plays for `wall_ns` of wall time, at most about `max_events` engine events. False when the end is reached.
    pub fn tick(&mut self, wall_ns: u64, max_events: u64) -> bool {
        let due = wall_ns.min(MAX_WALL_NS) as f64 * self.speed as f64 / SEC as f64 + self.carry;
        let known = self.known();
        let target = (self.moment.time + due as u64).min(known);
        self.carry = due.fract();
        let mut reached = target;
        for _ in 0..max_events {
            let next = |s: &Simulated| s.at.next_event_time().filter(|t| *t <= target);
            let Some(side) =
                self.sides_mut().filter(|s| next(s).is_some()).min_by_key(|s| next(s).unwrap_or(SimTime::MAX))
            else {
                reached = target;
                break;
            };
            reached = next(side).unwrap_or(target);
            side.at.event(None);
        }
        // Both sides finish the instant at which the work was broken off.
        for s in self.sides_mut() {
            s.at.advance(reached);
        }
        self.moment = Moment { time: reached, k: None };
        reached < known || !self.done()
    }

    /// The current moment by value.
    pub fn frame(&self) -> Frame {
        let (a, b) = self.counts();
        let steps = self.sides().map(|s| s.end().map(|e| e.records)).sum();
        let time = self.moment.time;
        Frame {
            time,
            step: a + b,
            steps,
            a: side_frame(self.a.simulated(), time),
            b: self.b.as_ref().map(|b| side_frame(b.simulated(), time)),
        }
    }

    /// Bytes of all checkpoints, about.
    pub fn checkpoint_bytes(&self) -> usize {
        self.sides().map(Simulated::checkpoint_bytes).sum()
    }
}

fn side_frame(s: &Simulated, time: SimTime) -> SideFrame {
    let at = &s.at;
    let mut snapshot = at.sim.snapshot();
    // A side may have had its last event earlier than the moment.
    snapshot.now = time;
    let stats = &snapshot.stats;
    let (now_bytes_per_sec, seeks_per_sec) = at.recent.rates(time);
    let mean_bytes_per_sec = stats.window_from.filter(|_| stats.window_bytes() > 0).map(|_| stats.bytes_per_sec());
    // A check completes nothing for a job: its speed so far stands for both.
    let checks = at.sim.config().jobs.is_empty();
    let readouts = Readouts {
        now_bytes_per_sec: if checks { mean_bytes_per_sec.unwrap_or(0.0) } else { now_bytes_per_sec },
        mean_bytes_per_sec,
        p99_ns: stats.lat.percentile(9_900),
        seeks_per_sec,
        errors: stats.nr_errors,
    };
    SideFrame {
        issues: at.recent.issues().copied().collect(),
        seeks: at.recent.seeks().copied().collect(),
        moves: at.recent.moves().copied().collect(),
        order: at.order(),
        step: at.records(),
        hash: at.hash(),
        readouts,
        snapshot,
    }
}
