//! START HERE: the simulation as one value that owns everything, and its event loop.
//!
//! Models: the order in which the kernel, the drive and the jobs act on each other.
//! Rule: `step` takes the next event and handles it to the end; equal configurations give equal traces.
//! Leaves out: who listens ([`crate::observe::trace::TraceSink`]) and who looks ([`Simulation::snapshot`]).

use alloc::sync::Arc;

use crate::config::SimConfig;
use crate::observe::snapshot::Snapshot;
use crate::observe::stats::Stats;
use crate::observe::trace::TraceSink;
use crate::time::SimTime;

/// A run. `Clone` is the save format: a clone continues exactly as the original.
#[derive(Clone)]
pub struct Simulation {
    cfg: Arc<SimConfig>,
    now: SimTime,
}

/// Why [`Simulation::advance`] came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Nothing is left to happen.
    Done,
    /// The next event is later than `until`; time now is `until`.
    Reached,
    /// `max_events` were handled.
    Budget,
}

impl Simulation {
    /// Sets a run up at time 0, nothing handled yet.
    pub fn new(cfg: Arc<SimConfig>) -> Self {
        Self { cfg, now: 0 }
    }
    /// Configuration of the run.
    pub fn config(&self) -> &Arc<SimConfig> {
        &self.cfg
    }
    /// Time of the last handled event (or of the last `advance` target), ns.
    pub fn now(&self) -> SimTime {
        self.now
    }
    /// Engine events handled so far.
    pub fn events(&self) -> u64 {
        0
    }
    /// Time of the next event; `None` when done.
    pub fn next_time(&self) -> Option<SimTime> {
        None
    }
    /// Handles the next event; `None` when nothing is left.
    pub fn step<S: TraceSink>(&mut self, _sink: &mut S) -> Option<SimTime> {
        None
    }
    /// Handles events up to and including `until`, at most `max_events`.
    pub fn advance<S: TraceSink>(&mut self, until: SimTime, max_events: u64, sink: &mut S) -> Advance {
        for _ in 0..max_events {
            match self.next_time() {
                None => return Advance::Done,
                Some(t) if t > until => {
                    self.now = until.max(self.now);
                    return Advance::Reached;
                }
                Some(_) => {
                    self.step(sink);
                }
            }
        }
        Advance::Budget
    }
    /// Figures so far.
    pub fn stats(&self) -> &Stats {
        const EMPTY: &Stats = &Stats::EMPTY;
        EMPTY
    }
    /// A plain copy of everything worth looking at.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { now: self.now, done: true, ..Snapshot::default() }
    }
    /// Bytes this value occupies, heap included, about: what a checkpoint costs.
    pub fn heap_bytes(&self) -> usize {
        0
    }
}
