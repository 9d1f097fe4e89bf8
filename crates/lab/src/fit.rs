//! Fitting the drive's numbers to published cells: a seeded pattern search that can be repeated.
//!
//! Models: nothing; what the numbers mean stands in the drive's profile.
//! Rule: only the cells named as calibration are looked at; the same call gives the same numbers.
//! Leaves out: confidence intervals.

use std::collections::HashMap;
use std::sync::Arc;

use bioscope_core::config::{DeviceConfig, SimConfig, WorkloadConfig};
use bioscope_scenario::profile::{self, Line, Profile};

use crate::run::{mean_worst, run};
use crate::seed000::Cell;
use crate::threads;

/// A number the search may change: its name in the profile, its grid and its bounds, all in the profile's unit.
struct Knob {
    key: &'static str,
    /// First guess, from the study the model comes from: a fit always starts here, so it can be repeated.
    first: f64,
    step: f64,
    min: f64,
    max: f64,
    /// Tables it acts on.
    tables: &'static [&'static str],
}

const ALL: &[&str] = &["seq", "rand", "xfs"];

const KNOBS: [Knob; 10] = [
    Knob { key: "rate_outer", first: 246.6, step: 0.1, min: 240.0, max: 252.0, tables: ALL },
    Knob { key: "settle", first: 2.0, step: 0.05, min: 0.5, max: 4.0, tables: ALL },
    Knob { key: "slots", first: 24.0, step: 1.0, min: 4.0, max: 32.0, tables: ALL },
    Knob { key: "slots_per_waiting", first: 3.0, step: 0.05, min: 0.0, max: 6.0, tables: ALL },
    Knob { key: "window_min", first: 2.0, step: 1.0, min: 1.0, max: 6.0, tables: ALL },
    Knob { key: "visit_commands", first: 3.0, step: 1.0, min: 1.0, max: 6.0, tables: ALL },
    Knob { key: "candidates", first: 2.0, step: 1.0, min: 1.0, max: 4.0, tables: ALL },
    Knob { key: "zone_reset", first: 295.0, step: 1.0, min: 200.0, max: 400.0, tables: &["rand"] },
    Knob { key: "writeback_in_flight", first: 460.0, step: 4.0, min: 192.0, max: 1024.0, tables: &["xfs"] },
    Knob { key: "writeback_segment_bytes", first: 11_703.0, step: 1.0, min: 6242.0, max: 24_966.0, tables: &["xfs"] },
];

/// Grid positions of the ten numbers.
type Point = [i64; KNOBS.len()];

/// What a search looks at and how long.
#[derive(Clone, Debug)]
pub struct Search {
    /// Seeds averaged over while searching.
    pub seeds: u64,
    /// Points tried.
    pub evaluations: u32,
    /// Seed of the search itself.
    pub seed: u64,
    /// Points drawn at random first, the best of which the search starts from; 0 = it starts from the first guesses.
    /// Cross-validation must not start from numbers that saw the held-out cells.
    pub random_starts: u32,
    /// Leaves `window_min` and `candidates` (the rule's structure) as they are.
    pub keep_structure: bool,
}

/// The outcome of a search.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Values by name in the profile, as text in its unit.
    pub values: Vec<(&'static str, String)>,
    /// Mean of the absolute errors over the calibration cells, percent.
    pub mean: f64,
    /// Largest absolute error, percent.
    pub worst: f64,
}

fn value(knob: &Knob, at: i64) -> f64 {
    at as f64 * knob.step
}

fn text(knob: &Knob, at: i64) -> String {
    let decimals = if knob.step < 0.09 { 2 } else { usize::from(knob.step < 1.0) };
    let s = format!("{:.decimals$}", value(knob, at));
    if s.contains('.') { s.trim_end_matches('0').trim_end_matches('.').to_string() } else { s }
}

/// The first guesses on the grid.
fn start() -> Point {
    let mut p = [0; KNOBS.len()];
    for (at, knob) in p.iter_mut().zip(&KNOBS) {
        *at = (knob.first / knob.step).round() as i64;
    }
    p
}

/// The profile with a point's numbers.
fn apply(lines: &[Line], p: &Point) -> Profile {
    let mut lines = lines.to_vec();
    for (knob, at) in KNOBS.iter().zip(p) {
        profile::set(&mut lines, knob.key, &text(knob, *at), "");
    }
    profile::to_profile(&lines).expect("inside the knobs' bounds")
}

/// A cell's configuration with a profile in place of the built-in one.
fn with_profile(mut cfg: SimConfig, p: &Profile) -> SimConfig {
    let drive = Arc::new(p.drive.clone());
    for d in cfg.devices.iter_mut().filter_map(DeviceConfig::disk_mut) {
        d.profile = Arc::clone(&drive);
    }
    for j in &mut cfg.jobs {
        if let WorkloadConfig::Writeback(w) = &mut j.workload {
            w.in_flight_limit = p.writeback_in_flight;
            j.bio_segment_bytes = p.writeback_segment_bytes as u32;
        }
    }
    cfg
}

/// Bandwidth of a cell under a profile, mean over seeds 1..=n, MiB/s.
fn simulate(cell: &Cell, p: &Profile, seeds: u64) -> f64 {
    let sum: f64 = (1..=seeds).map(|s| run(with_profile(cell.config(s), p)).mib_per_s()).sum();
    sum / seeds as f64
}

/// Remembers runs: most moves leave most cells as they are.
struct Memo<'a> {
    lines: &'a [Line],
    cells: &'a [Cell],
    seeds: u64,
    known: HashMap<(usize, Point), f64>,
}

impl Memo<'_> {
    /// The part of a point that acts on a cell.
    fn key(&self, cell: usize, p: &Point) -> (usize, Point) {
        let mut p = *p;
        for (at, knob) in p.iter_mut().zip(&KNOBS) {
            if !knob.tables.contains(&self.cells[cell].row.table) {
                *at = 0;
            }
        }
        (cell, p)
    }

    /// Errors in percent of all cells at a point; unknown ones are run on the threads there are.
    fn errors(&mut self, p: &Point) -> Vec<f64> {
        let todo: Vec<usize> = (0..self.cells.len()).filter(|i| !self.known.contains_key(&self.key(*i, p))).collect();
        let profile = apply(self.lines, p);
        let results = threads::map(&todo, |i| simulate(&self.cells[*i], &profile, self.seeds));
        for (i, v) in todo.into_iter().zip(results) {
            let key = self.key(i, p);
            self.known.insert(key, v);
        }
        (0..self.cells.len()).map(|i| 100.0 * (self.known[&self.key(i, p)] / self.cells[i].published() - 1.0)).collect()
    }
}

/// What is made small: the mean error, and the part of the worst one that exceeds 8 %.
fn score(errors: &[f64]) -> f64 {
    let (mean, worst) = mean_worst(errors);
    mean + 0.15 * (worst - 8.0).max(0.0)
}

/// A small generator of the search's own.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

fn is_structure(knob: &Knob) -> bool {
    matches!(knob.key, "window_min" | "candidates")
}

/// Moves one or two numbers by some steps of their grid, up or down.
fn neighbour(p: &Point, dice: &mut Dice, keep_structure: bool) -> Point {
    let mut q = *p;
    for _ in 0..1 + dice.below(2) {
        let i = dice.below(KNOBS.len() as u64) as usize;
        if keep_structure && is_structure(&KNOBS[i]) {
            continue;
        }
        let wide = KNOBS[i].max - KNOBS[i].min > 40.0 * KNOBS[i].step;
        let big = (KNOBS[i].max - KNOBS[i].min) / KNOBS[i].step > 2_000.0;
        let reach = if big {
            512
        } else if wide {
            16
        } else {
            2
        };
        let by = 1 + dice.below(reach) as i64;
        let by = if dice.below(2) == 0 { by } else { -by };
        let (min, max) = ((KNOBS[i].min / KNOBS[i].step) as i64, (KNOBS[i].max / KNOBS[i].step) as i64);
        q[i] = (q[i] + by).clamp(min, max);
    }
    q
}

/// A point anywhere inside the bounds.
fn anywhere(p: &Point, dice: &mut Dice, keep_structure: bool) -> Point {
    let mut q = *p;
    for (at, knob) in q.iter_mut().zip(&KNOBS) {
        if !(keep_structure && is_structure(knob)) {
            let (min, max) = ((knob.min / knob.step) as i64, (knob.max / knob.step) as i64);
            *at = min + dice.below((max - min) as u64 + 1) as i64;
        }
    }
    q
}

/// Searches from the first guesses (or from random points); `progress` is told every improvement.
pub fn search(
    lines: &[Line],
    calibration: &[Cell],
    how: &Search,
    mut progress: impl FnMut(u32, f64, f64),
) -> (Vec<Line>, Fitted) {
    let mut memo = Memo { lines, cells: calibration, seeds: how.seeds, known: HashMap::new() };
    let mut dice = Dice(how.seed);
    let given = start();
    let mut best = if how.random_starts > 0 { anywhere(&given, &mut dice, how.keep_structure) } else { given };
    let mut errors = memo.errors(&best);
    let mut best_score = score(&errors);
    for n in 0..how.random_starts + how.evaluations {
        let p = if n < how.random_starts {
            anywhere(&given, &mut dice, how.keep_structure)
        } else {
            neighbour(&best, &mut dice, how.keep_structure)
        };
        let e = memo.errors(&p);
        let s = score(&e);
        if s < best_score {
            (best, errors, best_score) = (p, e, s);
            let (mean, worst) = mean_worst(&errors);
            progress(n, mean, worst);
        }
    }
    let (mean, worst) = mean_worst(&errors);
    let values = KNOBS.iter().zip(&best).map(|(k, at)| (k.key, text(k, *at))).collect();
    let mut out = lines.to_vec();
    for (knob, at) in KNOBS.iter().zip(&best) {
        let old = profile::entries(lines).find(|e| e.key == knob.key).map_or(String::new(), |e| e.provenance.clone());
        profile::set(&mut out, knob.key, &text(knob, *at), &old);
    }
    (out, Fitted { values, mean, worst })
}

/// Simulated bandwidth of cells under a profile's lines, mean over `seeds`, MiB/s.
pub fn predict(lines: &[Line], cells: &[Cell], seeds: u64) -> Vec<f64> {
    let p = profile::to_profile(lines).expect("a fitted profile is valid");
    cells.iter().map(|c| simulate(c, &p, seeds)).collect()
}

/// Deals the cells into `folds` by a seeded shuffle: the fold of each cell.
pub fn folds(n: usize, folds: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    let mut dice = Dice(seed);
    for i in (1..n).rev() {
        order.swap(i, dice.below(i as u64 + 1) as usize);
    }
    let mut fold = vec![0; n];
    for (at, cell) in order.into_iter().enumerate() {
        fold[cell] = at % folds;
    }
    fold
}
