//! One run and what is kept of it.
//!
//! Models: nothing.
//! Rule: runs to the end; a configuration that could go on for ever is cut by `max_events` and says so.
//! Leaves out: the trace.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::stats::Stats;
use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::{Advance, Simulation};

/// Engine events after which a run is given up.
pub const MAX_EVENTS: u64 = 400_000_000;

/// Figures of a finished run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// All figures of the measured window.
    pub stats: Stats,
    /// Engine events.
    pub events: u64,
    /// It ended by itself.
    pub complete: bool,
}

impl Outcome {
    /// Bandwidth in MiB/s.
    pub fn mib_per_s(&self) -> f64 {
        self.stats.bytes_per_sec() / 1_048_576.0
    }
}

/// Runs a configuration to its end.
pub fn run(cfg: SimConfig) -> Outcome {
    let mut sim = Simulation::new(Arc::new(cfg));
    let end = sim.advance(u64::MAX, MAX_EVENTS, &mut ());
    Outcome { stats: sim.stats().clone(), events: sim.events(), complete: end == Advance::Done }
}

/// Trace hash after half of a run's engine events and at its end.
pub fn hashes(cfg: SimConfig) -> (u64, u64) {
    let cfg = Arc::new(cfg);
    let mut sim = Simulation::new(Arc::clone(&cfg));
    let mut hash = TraceHash::default();
    sim.advance(u64::MAX, MAX_EVENTS, &mut hash);
    let (end, events) = (hash.hash, sim.events());
    let mut sim = Simulation::new(cfg);
    let mut hash = TraceHash::default();
    sim.advance(u64::MAX, events / 2, &mut hash);
    (hash.hash, end)
}

/// Mean and standard deviation (of the values given, n - 1).
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, 0.0);
    }
    let var = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / (n - 1.0);
    (mean, var.sqrt())
}

/// Mean and largest absolute value.
pub fn mean_worst(errors: &[f64]) -> (f64, f64) {
    let mean = errors.iter().map(|e| e.abs()).sum::<f64>() / errors.len().max(1) as f64;
    (mean, errors.iter().fold(0.0, |w, e| w.max(e.abs())))
}
