//! Sweeps: a setting times its values times both sides times seeds.
//!
//! Models: nothing.
//! Rule: a point is a link's text, a side and a seed, so that it can be sent to a worker and run there.
//! Leaves out: who runs the points.

use bioscope_scenario::{Diagnostic, Param, Scenario, Side, check, text};
use serde::{Deserialize, Serialize};

use crate::run::run;

/// One run to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointSpec {
    /// Position in the plan.
    pub index: u32,
    /// The swept key's value as text.
    pub value: String,
    /// Side B.
    pub b: bool,
    /// Seed.
    pub seed: u64,
    /// The scenario as a link's fragment, sweep value and row settings included.
    pub fragment: String,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointResult {
    /// Position in the plan.
    pub index: u32,
    /// Bandwidth, MiB/s; `None` when the run is not possible or did not end.
    pub mib_per_s: Option<f64>,
    /// Engine events handled.
    pub events: u64,
}

/// The runs of a scenario's sweep: for each value side A, then side B where there is one.
pub fn plan(s: &Scenario, seeds: u64) -> Vec<PointSpec> {
    let Some(sweep) = s.sweep() else { return Vec::new() };
    let param = Param::of(sweep.key);
    let base = s.for_sweep();
    let sides: &[Side] = if s.has_b() { &[Side::A, Side::B] } else { &[Side::A] };
    let mut points = Vec::new();
    for value in &sweep.values {
        let mut at = base.clone();
        at.set(Side::A, sweep.key, value.clone());
        let fragment = text::encode(&at);
        for side in sides {
            for seed in 1..=seeds.max(1) {
                points.push(PointSpec {
                    index: points.len() as u32,
                    value: param.print(value),
                    b: *side == Side::B,
                    seed,
                    fragment: fragment.clone(),
                });
            }
        }
    }
    points
}

/// The configuration of a point, or why there is none.
pub fn point_config(p: &PointSpec) -> Result<bioscope_core::config::SimConfig, Vec<Diagnostic>> {
    let (s, _) = text::decode(&p.fragment);
    let (cfg, problems) = check(&s, if p.b { Side::B } else { Side::A });
    match cfg {
        Some(mut cfg) => {
            cfg.seed = p.seed;
            Ok(cfg)
        }
        None => Err(problems),
    }
}

/// Makes one run.
pub fn run_point(p: &PointSpec) -> PointResult {
    match point_config(p) {
        Ok(cfg) => {
            let o = run(cfg);
            PointResult { index: p.index, mib_per_s: o.complete.then(|| o.mib_per_s()), events: o.events }
        }
        Err(_) => PointResult { index: p.index, mib_per_s: None, events: 0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bioscope_scenario::preset;

    #[test]
    fn a_presets_sweep_is_its_table() {
        let p = preset::find("smr-seq-write").unwrap();
        let points = plan(&Scenario::of(p), 1);
        assert_eq!(points.len(), 16);
        for point in &points {
            let side = crate::seed000::cells()
                .into_iter()
                .find(|c| c.row.preset == p.name && c.row.value == point.value && c.patched == point.b)
                .unwrap();
            assert_eq!(point_config(point).unwrap(), side.config(1), "{} {}", point.value, point.b);
        }
    }
}
