//! One run from start to end.
//!
//! Models: nothing.
//! Rule: the trace is hashed on the way, and shown to whoever asks; nothing is kept.
//! Leaves out: progress; a run takes seconds at most.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::snapshot::{DiskStats, JobState};
use bioscope_core::observe::stats::Stats;
use bioscope_core::observe::trace::{TraceHash, TraceSink};
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
    /// What the devices' counters gained in the measured window, by name.
    pub devices: Vec<(String, DiskStats)>,
}

/// Events between two looks at whether the run is over.
const SLICE: u64 = 1 << 20;

/// Runs to the end. An error says what was left waiting.
pub fn to_end(cfg: SimConfig) -> Result<Finished, String> {
    to_end_with(cfg, &mut ())
}

/// The same while `sink` listens.
pub fn to_end_with(cfg: SimConfig, sink: &mut dyn TraceSink) -> Result<Finished, String> {
    let cfg = Arc::new(cfg);
    let mut sim = Simulation::new(cfg.clone());
    let mut sinks = (TraceHash::default(), sink);
    while sim.advance(u64::MAX, SLICE, &mut sinks) == Advance::Budget {}
    stalled(&sim)?;
    let trace = sinks.0;
    let devices = sim.snapshot().devices.into_iter().map(|d| (d.name, d.window)).collect();
    Ok(Finished { cfg, stats: sim.stats().clone(), trace, events: sim.events(), devices })
}

/// A run that has no events left while a job still waits cannot be judged.
fn stalled(sim: &Simulation) -> Result<(), String> {
    let snapshot = sim.snapshot();
    let waiting: Vec<String> = snapshot
        .jobs
        .iter()
        .filter(|j| j.state != JobState::Done)
        .map(|j| format!("{} ({:?}, {} in flight)", j.name, j.state, j.in_flight.len()))
        .collect();
    if waiting.is_empty() {
        return Ok(());
    }
    let lost = snapshot.devices.iter().filter_map(|d| {
        let s = d.stall?;
        let (hctx, waiters, batch) = (s.hctx, s.waiters, s.wake_batch);
        Some(format!("; {} hctx{hctx}: all tags are free, {waiters} asleep for one, wake_batch={batch}", d.name))
    });
    let lost: String = lost.collect();
    Err(format!("the run stands still at {} ns; waiting: {}{lost}", sim.now(), waiting.join(", ")))
}
