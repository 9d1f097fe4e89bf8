//! What the throughput chart of a scenario shows: the sweep's values, simulated and published figures.
//!
//! Models: nothing.
//! Rule: a published figure stands only beside the preset's own settings; results come back in any order.
//! Leaves out: who makes the runs, and how the chart looks.

use bioscope_scenario::params::{KEYS, Key, Param};
use bioscope_scenario::scenario::{Scenario, Side};
use bioscope_scenario::value::{Unit, Value};

use crate::sweep::{PointResult, PointSpec, plan};

/// Runs of a point that a chart makes at most; the command makes all.
pub const MOST_SEEDS: u64 = 20;

/// A run to make: the number of the sweep, since results of an older one are dropped, and the point.
pub type Job = (u32, PointSpec);
/// What comes back.
pub type Point = (u32, PointResult);

/// The published pair (A, B), MiB/s, of a preset's chart at a value of its swept key.
pub type Figures<'a> = &'a dyn Fn(&str, &str) -> Option<(f64, f64)>;

/// What a sweep is over and what is known of it; bandwidths in MiB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Number of the sweep.
    pub sweep: u32,
    pub key: Key,
    /// The setting's values as text.
    pub texts: Vec<String>,
    /// The same as numbers, where they are numbers.
    pub numbers: Option<Vec<f64>>,
    /// The shown run's value.
    pub current: Option<f64>,
    /// Simulated, per side and value.
    pub simulated: [Vec<Option<f64>>; 2],
    /// Published, per side and value; none before [`Chart::publish`].
    pub published: [Vec<Option<f64>>; 2],
    /// Value and side (B) of every point.
    plan: Vec<(String, bool)>,
    /// Runs whose mean `simulated` is, per side and value.
    runs: [Vec<u32>; 2],
    /// Runs of each point, with seeds from 1 on.
    pub seeds: u64,
    /// Points that were answered.
    pub done: usize,
}

/// A value as a place on the axis; sizes in KiB.
fn number(key: Key, v: &Value) -> Option<f64> {
    match v {
        Value::Int(n) if Param::of(key).unit == Unit::Bytes => Some(*n as f64 / 1024.0),
        Value::Int(n) | Value::Zones(n) => Some(*n as f64),
        _ => None,
    }
}

/// What the axis of a setting counts, where that needs saying.
pub fn axis_unit(key: Key) -> Option<&'static str> {
    match Param::of(key).unit {
        Unit::Bytes => Some("KiB"),
        Unit::Zones => Some("zones"),
        _ => None,
    }
}

impl Chart {
    /// Points in all; 0 while nothing was started.
    pub fn total(&self) -> usize {
        self.plan.len()
    }
    /// An empty chart of the scenario's sweep.
    pub fn of(sweep: u32, scenario: &Scenario) -> Option<Self> {
        let over = scenario.sweep()?;
        let empty = vec![None; over.values.len()];
        let texts = over.texts();
        Some(Self {
            sweep,
            key: over.key,
            numbers: over.values.iter().map(|v| number(over.key, v)).collect(),
            current: number(over.key, &scenario.resolved(Side::A, over.key)),
            simulated: [empty.clone(), empty.clone()],
            published: [empty.clone(), empty],
            runs: [(); 2].map(|()| vec![0; texts.len()]),
            seeds: u64::from(scenario.seeds).min(MOST_SEEDS),
            texts,
            plan: Vec::new(),
            done: 0,
        })
    }

    /// Puts the published figures in that belong to the chart's scenario.
    pub fn publish(&mut self, scenario: &Scenario, figures: Figures) {
        for (side, row) in [Side::A, Side::B].into_iter().zip(&mut self.published) {
            let published = |text: &String| published(scenario, self.key, text, side, figures);
            *row = self.texts.iter().map(published).collect();
        }
    }

    /// The jobs that fill it.
    pub fn jobs(&mut self, scenario: &Scenario) -> Vec<Job> {
        let points = plan(scenario, self.seeds);
        self.plan = points.iter().map(|p| (p.value.clone(), p.b)).collect();
        points.into_iter().map(|p| (self.sweep, p)).collect()
    }

    /// Takes a result. False if it belongs to another sweep.
    pub fn take(&mut self, (sweep, result): &Point) -> bool {
        let Some((value, b)) = self.plan.get(result.index as usize).filter(|_| *sweep == self.sweep) else {
            return false;
        };
        if let Some(i) = self.texts.iter().position(|t| t == value) {
            // The mean so far; a run that is not possible leaves it as it is.
            let (mean, n) = (&mut self.simulated[usize::from(*b)][i], &mut self.runs[usize::from(*b)][i]);
            if let Some(v) = result.mib_per_s {
                *mean = Some((mean.unwrap_or(0.0) * f64::from(*n) + v) / f64::from(*n + 1));
                *n += 1;
            }
        }
        self.done += 1;
        true
    }
}

/// The published figure of a point. There is one for a preset's own table only, so not when other settings changed.
fn published(scenario: &Scenario, key: Key, text: &str, side: Side, figures: Figures) -> Option<f64> {
    let preset = scenario.preset?;
    let same_a = KEYS.iter().all(|k| *k == key || *k == Key::Seed || !scenario.is_changed(*k));
    let same_b = side == Side::A || scenario.b() == preset.b_values();
    // Settings of single jobs and disks count for the run they are in.
    let same_jobs = !scenario.own_edits().any(|o| o.side == Side::A || o.side == side);
    let own = preset.sweep().key == key && same_a && same_b && same_jobs;
    let (baseline, patched) = figures(preset.name, text).filter(|_| own)?;
    Some(if side == Side::B { patched } else { baseline })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::published::seed000_row;
    use bioscope_scenario::preset;

    #[test]
    fn published_figures_belong_to_the_presets_own_settings() {
        let mut s = Scenario::of(preset::find("smr-seq-write").unwrap());
        let published = |s: &Scenario| {
            let mut chart = Chart::of(1, s).unwrap();
            assert!(chart.published.iter().flatten().all(Option::is_none), "nothing is published by itself");
            chart.publish(s, &seed000_row);
            chart.published.map(|side| side[7])
        };
        assert_eq!(published(&s), [Some(112.0), Some(246.0)]);
        s.set_text("iodepth", "128").unwrap();
        assert_eq!(published(&s), [Some(112.0), Some(246.0)], "the swept setting itself");
        s.set_text("b.hba", "mpi3mr").unwrap();
        assert_eq!(published(&s), [Some(112.0), None]);
        s.set_text("bs", "512KiB").unwrap();
        assert_eq!(published(&s), [None, None]);
        let mut s = Scenario::of(preset::find("smr-seq-write").unwrap());
        s.set_text("b.job0.bs", "512KiB").unwrap();
        assert_eq!(published(&s), [Some(112.0), None]);
        s.set_text("job0.bs", "512KiB").unwrap();
        assert_eq!(published(&s), [None, None]);
    }

    #[test]
    fn results_of_another_sweep_are_dropped() {
        let s = Scenario::of(preset::find("smr-seq-write").unwrap());
        let mut chart = Chart::of(2, &s).unwrap();
        assert_eq!(chart.jobs(&s).len(), 16);
        let result = |index| PointResult { index, mib_per_s: Some(240.0), events: 1 };
        assert!(!chart.take(&(1, result(3))) && !chart.take(&(2, result(16))));
        assert!(chart.take(&(2, result(3))));
        assert_eq!((chart.done, chart.simulated[1][1], chart.simulated[0][1]), (1, Some(240.0), None));
    }

    #[test]
    fn several_seeds_become_their_mean() {
        let mut s = Scenario::of(preset::find("smr-seq-write").unwrap());
        s.seeds = 2;
        let mut chart = Chart::of(1, &s).unwrap();
        assert_eq!(chart.jobs(&s).len(), 32);
        for (index, v) in [(0, Some(200.0)), (1, Some(220.0)), (2, None)] {
            assert!(chart.take(&(1, PointResult { index, mib_per_s: v, events: 1 })));
        }
        assert_eq!((chart.simulated[0][0], chart.simulated[1][0]), (Some(210.0), None));
    }
}
