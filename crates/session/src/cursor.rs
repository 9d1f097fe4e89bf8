//! A run at one moment, to the record.
//!
//! Models: nothing.
//! Rule: an engine event may write several records. The simulation stands after the event; records not yet shown
//! wait in `ahead`, so that a step is one record and equal positions have equal cursors.
//! Leaves out: going back, which is a checkpoint and a replay ([`crate::run::Run`]).

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::fifo::Fifo;
use bioscope_core::observe::trace::{TraceHash, TraceRecord, TraceSink};
use bioscope_core::sim::Simulation;
use bioscope_core::time::SimTime;

use crate::order::{AHEAD, OrderFrame};
use crate::overview::Overview;
use crate::recent::Recent;

/// A simulation with what was shown of its trace.
#[derive(Clone)]
pub struct Cursor {
    pub(crate) sim: Simulation,
    pub(crate) hash: TraceHash,
    pub(crate) recent: Recent,
    ahead: Fifo<TraceRecord>,
}

/// Collects what one event writes.
struct Ahead<'a>(&'a mut Fifo<TraceRecord>);

impl TraceSink for Ahead<'_> {
    fn record(&mut self, r: &TraceRecord) {
        self.0.push_back(*r);
    }
}

/// Takes records as they come while nothing needs to stop between two of them.
struct Shown<'a> {
    hash: &'a mut TraceHash,
    recent: &'a mut Recent,
    overview: Option<&'a mut Overview>,
}

impl TraceSink for Shown<'_> {
    fn record(&mut self, r: &TraceRecord) {
        self.hash.record(r);
        let repositions = self.recent.record(r);
        if let Some(o) = &mut self.overview {
            let bytes = self.recent.completed_bytes(r);
            if bytes > 0 || repositions {
                o.add(r.time, bytes, u32::from(repositions));
            }
        }
    }
}

impl Cursor {
    /// Before the first event.
    pub fn new(cfg: Arc<SimConfig>) -> Self {
        let recent = Recent::new(&cfg);
        Self { sim: Simulation::new(cfg), hash: TraceHash::default(), recent, ahead: Fifo::new() }
    }

    /// Shows what waits in `ahead`.
    fn catch_up(&mut self) {
        let mut shown = Shown { hash: &mut self.hash, recent: &mut self.recent, overview: None };
        for r in self.ahead.drain(..) {
            shown.record(&r);
        }
    }

    /// Handles the next event and shows all its records. False when nothing is left.
    pub fn event(&mut self, overview: Option<&mut Overview>) -> bool {
        self.catch_up();
        let mut shown = Shown { hash: &mut self.hash, recent: &mut self.recent, overview };
        self.sim.step(&mut shown).is_some()
    }

    /// Goes forward to where everything up to and including `until` has happened.
    pub fn advance(&mut self, until: SimTime) {
        self.catch_up();
        let mut shown = Shown { hash: &mut self.hash, recent: &mut self.recent, overview: None };
        self.sim.advance(until, u64::MAX, &mut shown);
    }

    /// Shows one more record, handling as few events as that takes. False at the end.
    pub fn next_record(&mut self) -> bool {
        while self.ahead.is_empty() {
            if self.sim.step(&mut Ahead(&mut self.ahead)).is_none() {
                return false;
            }
        }
        if let Some(r) = self.ahead.pop_front() {
            Shown { hash: &mut self.hash, recent: &mut self.recent, overview: None }.record(&r);
        }
        true
    }

    /// Time of the record [`Cursor::next_record`] would show.
    pub fn peek(&self) -> Option<SimTime> {
        if let Some(r) = self.ahead.front() {
            return Some(r.time);
        }
        let mut probe = self.clone();
        if probe.next_record() { probe.last_time() } else { None }
    }

    /// Goes to the next moment after `after`, and at most `until`, at which a submission goes on by a step.
    pub fn next_step(&mut self, after: SimTime, until: SimTime) -> Option<SimTime> {
        self.catch_up();
        let steps = |c: &Self| c.recent.track.as_ref().map(|t| t.steps);
        let before = steps(self)?;
        while self.sim.next_time().is_some_and(|t| t <= until) {
            let had = steps(self);
            self.event(None);
            if self.sim.now() > after && steps(self) > had.max(Some(before)) {
                return Some(self.sim.now());
            }
        }
        None
    }

    /// Before the first event: a submission takes a step at time 0.
    pub fn starts_with_step(&self) -> bool {
        let mut probe = self.clone();
        while probe.sim.next_time() == Some(0) {
            probe.event(None);
        }
        probe.recent.track.as_ref().is_some_and(|t| t.steps > 0)
    }

    /// A stacked run's I/O of the moment, with what is to come of it.
    pub fn order(&self) -> Option<OrderFrame> {
        let now = self.recent.track.as_ref()?;
        let mut probe = self.clone();
        probe.catch_up();
        for _ in 0..AHEAD {
            let over = probe.recent.track.as_ref().is_none_or(|t| t.io > 0 && t.left == 0);
            if over || !probe.event(None) {
                break;
            }
        }
        Some(OrderFrame::of(self.sim.config(), now, probe.recent.track.as_ref()?))
    }

    /// Records shown so far.
    pub fn records(&self) -> u64 {
        self.hash.records
    }
    /// Time of the last record shown.
    pub fn last_time(&self) -> Option<SimTime> {
        self.recent.last().map(|r| r.time)
    }
    /// Time of the next event.
    pub fn next_event_time(&self) -> Option<SimTime> {
        self.sim.next_time()
    }
    /// Hash of the records shown.
    pub fn hash(&self) -> u64 {
        self.hash.hash
    }
    /// Engine events handled.
    pub fn events(&self) -> u64 {
        self.sim.events()
    }
    /// What a copy costs, about.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.sim.heap_bytes() + self.recent.heap_bytes()
    }
}
