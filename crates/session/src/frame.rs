//! What a moment looks like: everything a painter or a table needs, by value.
//!
//! Models: nothing.
//! Rule: a plain copy; nothing points back into the session.
//! Leaves out: pictures and sentences (`bioscope-stage`).

use bioscope_core::observe::snapshot::Snapshot;
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::time::{SimDuration, SimTime};

use crate::order::OrderFrame;

/// One moment of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Simulated time, ns.
    pub time: SimTime,
    /// Steps (records) shown, both sides together.
    pub step: u64,
    /// Steps of the whole session; `None` until it was simulated to its end.
    pub steps: Option<u64>,
    /// Run A.
    pub a: SideFrame,
    /// Run B in compare mode.
    pub b: Option<SideFrame>,
}

/// One run at that moment.
#[derive(Clone, Debug, PartialEq)]
pub struct SideFrame {
    /// The simulation; its `now` is the frame's time.
    pub snapshot: Snapshot,
    /// The last issue records (D), oldest first.
    pub issues: Vec<TraceRecord>,
    /// The last head movements, oldest first.
    pub seeks: Vec<TraceRecord>,
    /// The last records of all actions, oldest first.
    pub moves: Vec<TraceRecord>,
    /// Of a stacked run: the I/O of the moment.
    pub order: Option<OrderFrame>,
    /// Records shown.
    pub step: u64,
    /// Trace hash of the records shown.
    pub hash: u64,
    /// The numbers of the lane's header.
    pub readouts: Readouts,
}

impl SideFrame {
    /// The records that the lane's strip and its tooltips are about.
    pub fn strip(&self) -> &[TraceRecord] {
        self.order.as_ref().map_or(&self.issues, |o| &o.records)
    }
}

/// Numbers of a run at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Readouts {
    /// Bytes completed per second over the last 250 ms.
    pub now_bytes_per_sec: f64,
    /// Bytes per second since the ramp; `None` while ramping.
    pub mean_bytes_per_sec: Option<f64>,
    /// 99th percentile of Q to C since the ramp, ns; `None` with too few samples.
    pub p99_ns: Option<SimDuration>,
    /// Repositionings per second over the last 250 ms.
    pub seeks_per_sec: f64,
    /// Bios that ended with an error so far.
    pub errors: u64,
}
