//! One run from start to end.
//!
//! Models: nothing.
//! Rule: the trace is hashed on the way; nothing is kept.
//! Leaves out: progress; a run takes seconds at most.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::snapshot::JobState;
use bioscope_core::observe::stats::Stats;
use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::{Advance, Simulation};

/// A finished run.
pub struct Finished {
    /// What was run.
    pub cfg: Arc<SimConfig>,
    /// Figures.
    pub stats: Stats,
    /// Hash and number of records.
    pub trace: TraceHash,
    /// Engine events.
    pub events: u64,
}

/// Events between two looks at whether the run is over.
const SLICE: u64 = 1 << 20;

/// Runs to the end. An error says what was left waiting.
pub fn to_end(cfg: SimConfig) -> Result<Finished, String> {
    let cfg = Arc::new(cfg);
    let mut sim = Simulation::new(cfg.clone());
    let mut trace = TraceHash::default();
    while sim.advance(u64::MAX, SLICE, &mut trace) == Advance::Budget {}
    stalled(&sim)?;
    Ok(Finished { cfg, stats: sim.stats().clone(), trace, events: sim.events() })
}

/// A run that has no events left while a job still waits cannot be judged.
fn stalled(sim: &Simulation) -> Result<(), String> {
    let waiting: Vec<String> = sim
        .snapshot()
        .jobs
        .iter()
        .filter(|j| j.state != JobState::Done)
        .map(|j| format!("{} ({:?}, {} in flight)", j.name, j.state, j.in_flight.len()))
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    Err(format!("the run stands still at {} ns; waiting: {}", sim.now(), waiting.join(", ")))
}
