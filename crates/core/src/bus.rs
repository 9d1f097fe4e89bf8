//! What every stage may use while an event is handled: the clock, the queue, the trace, reasons and figures.
//!
//! Models: nothing.
//! Rule: stages talk outward only through this; they hold no references to each other.
//! Leaves out: state of the stages themselves.

use crate::event::{Event, EventQueue};
use crate::fifo::Fifo;
use crate::observe::snapshot::MAX_WHY;
use crate::observe::stats::Stats;
use crate::observe::trace::{TraceRecord, TraceSink};
use crate::observe::why::{Why, WhyRecord};
use crate::time::{SimDuration, SimTime};
use crate::units::BioId;

/// Shared services during one event.
pub struct Bus<'a> {
    /// Now.
    pub now: SimTime,
    /// What happens next.
    pub queue: &'a mut EventQueue,
    /// Who listens.
    pub sink: &'a mut dyn TraceSink,
    /// Somebody does.
    pub listening: bool,
    /// The last reasons.
    pub why: &'a mut Fifo<WhyRecord>,
    /// Figures.
    pub stats: &'a mut Stats,
    /// The measured window is open.
    pub measuring: bool,
}

impl Bus<'_> {
    /// Schedules an event.
    #[inline]
    pub fn after(&mut self, delay: SimDuration, event: Event) {
        self.queue.push(self.now + delay, event);
    }
    /// Writes a record; its time is set to now.
    #[inline]
    pub fn trace(&mut self, mut r: TraceRecord) {
        if !self.listening {
            return;
        }
        r.time = self.now;
        self.sink.record(&r);
    }
    /// Keeps a reason.
    #[inline]
    pub fn because(&mut self, bio: BioId, why: Why) {
        if self.why.len() == MAX_WHY {
            self.why.pop_front();
        }
        self.why.push_back(WhyRecord { time: self.now, bio, why });
    }
}
