//! The work whose speed is measured, natively and in the page alike; the caller holds the clock.
//!
//! Models: nothing.
//! Rule: the same runs everywhere, counted in simulated I/Os and engine events.
//! Leaves out: clocks and verdicts.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::Simulation;
use bioscope_scenario::{Key, Scenario, Side, Value, preset, validate};

use crate::run::run;

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Bios of workloads from Q to C.
    pub ios: u64,
    /// Engine events.
    pub events: u64,
    /// Trace records (0 where nobody listened).
    pub records: u64,
}

/// `smr-rand-zones` at 128 zones, both sides, trace hashed as in a shown run.
///
/// # Panics
/// When the preset is broken; a test covers it.
pub fn rand_zones_128() -> Work {
    let mut s = Scenario::of(preset::find("smr-rand-zones").expect("preset"));
    s.set(Side::A, Key::Size, Value::Zones(128));
    let mut work = Work::default();
    for side in [Side::A, Side::B] {
        let mut sim = Simulation::new(Arc::new(validate(&s, side).expect("preset is valid")));
        let mut hash = TraceHash::default();
        sim.advance(u64::MAX, u64::MAX, &mut hash);
        work.ios += sim.stats().total_ios;
        work.events += sim.events();
        work.records += hash.records;
    }
    work
}

/// `nullb-hw-depth`, side A, nobody listening: what a bio costs where the device costs nothing.
///
/// # Panics
/// When the preset is broken; a test covers it.
pub fn null_blk() -> Work {
    let s = Scenario::of(preset::find("nullb-hw-depth").expect("preset"));
    let mut sim = Simulation::new(Arc::new(validate(&s, Side::A).expect("preset is valid")));
    sim.advance(u64::MAX, u64::MAX, &mut ());
    Work { ios: sim.stats().total_ios, events: sim.events(), records: 0 }
}

/// Presets whose sweeps are the rows of seed 000.
const TABLES: [&str; 5] = ["smr-seq-write", "smr-rand-zones", "smr-xfs-256m", "smr-xfs-4-128m", "smr-xfs-2-8m"];

/// The 44 cells of seed 000 with seed 1, by their presets alone: the page has no table compiled in.
fn cells() -> impl Iterator<Item = SimConfig> {
    // Rows of every table are read by a test.
    let rows = TABLES.iter().filter_map(|name| preset::find(name));
    let rows = rows.flat_map(|p| p.sweep().texts().into_iter().filter_map(|value| p.row(&value).ok()));
    rows.flat_map(|s| [Side::A, Side::B].into_iter().filter_map(move |side| validate(&s, side).ok()))
}

/// The 44 cells of seed 000 with seed 1, nobody listening.
pub fn cells_44() -> Work {
    let mut work = Work::default();
    for cfg in cells() {
        let o = run(cfg);
        work.ios += o.stats.total_ios;
        work.events += o.events;
    }
    work
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed000;

    #[test]
    fn the_cells_are_those_of_the_published_table() {
        let (ours, theirs): (Vec<_>, Vec<_>) =
            (cells().collect(), seed000::cells().iter().map(|c| c.config(1)).collect());
        assert_eq!((ours.len(), theirs.len()), (44, 44));
        assert!(theirs.iter().all(|cfg| ours.contains(cfg)));
    }
}
