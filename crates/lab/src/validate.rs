//! Published against simulated.
//!
//! Models: nothing.
//! Rule: a published figure is compared with, never used; calibration cells are marked, held-out figures come from
//! refits that never saw the cell (`fit --folds`, kept in `data/`).
//! Leaves out: printing.

use bioscope_core::config::SimConfig;
use bioscope_scenario::profile;
use serde::Serialize;

use crate::published;
use crate::run::{mean_sd, mean_worst, run};
use crate::seed000::{Cell, cells};
use crate::table::TABLES;

/// Seeds `validate` averages over (decisions 7).
pub const SEEDS: u64 = 6;

/// Names of the tables that can be validated.
pub fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("seed-000").chain(TABLES.iter().map(|t| t.name))
}

/// One published number and what the model says.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Table.
    pub table: &'static str,
    /// `<table> <hba> <setting>`
    pub row: String,
    /// `baseline` or `patched`.
    pub variant: &'static str,
    /// Unit of the numbers.
    pub unit: &'static str,
    /// As printed.
    pub published: f64,
    /// Mean over seeds.
    pub simulated: f64,
    /// Standard deviation over seeds.
    pub spread: f64,
    /// 100 (simulated / published - 1); `None` when published is 0.
    pub error_pct: Option<f64>,
    /// A fitted number names this cell.
    pub calibration: bool,
    /// Error of the refit that never saw this cell, percent.
    pub held_out_pct: Option<f64>,
    /// Error with zones at random angles, percent.
    pub random_phase_pct: Option<f64>,
    /// Why a cell is far off, where something is known.
    pub why: Option<&'static str>,
}

/// Mean and worst of absolute errors over some lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Subtotal {
    /// Which lines.
    pub name: String,
    /// How many.
    pub cells: usize,
    /// Percent.
    pub mean_pct: f64,
    /// Percent.
    pub worst_pct: f64,
}

/// A rule the simulated numbers must follow, whatever their errors.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    /// The rule in words.
    pub rule: &'static str,
    /// Holds.
    pub holds: bool,
    /// Where it does not.
    pub breaks: Vec<String>,
}

/// All of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Table.
    pub table: &'static str,
    /// Where the published numbers come from.
    pub source: &'static str,
    /// Its lines.
    pub lines: Vec<Line>,
    /// Subtotals.
    pub subtotals: Vec<Subtotal>,
    /// Rules of shape.
    pub shapes: Vec<Shape>,
    /// What the model leaves out that could matter here, a line each.
    pub outside: &'static [&'static str],
}

/// What may explain a remaining difference (decisions 28).
pub const OUTSIDE: &[&str] = &[
    "lock contention between CPUs",
    "controller read-ahead",
    "single-queue kernels",
    "patches that were never merged, other than the seeds' own",
];

/// A run to make: cell, seed, and whether zones lie at random angles.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    cell: Cell,
    seed: u64,
    random_phase: bool,
}

/// The runs a table needs.
pub fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for random_phase in [false, true] {
        for cell in cells() {
            jobs.extend((1..=SEEDS).map(|seed| Job { cell, seed, random_phase }));
        }
    }
    jobs
}

impl Job {
    fn config(&self) -> SimConfig {
        if self.random_phase { self.cell.config_random_phase(self.seed) } else { self.cell.config(self.seed) }
    }
    /// Bandwidth in MiB/s.
    pub fn run(&self) -> f64 {
        run(self.config()).mib_per_s()
    }
}

/// Held-out predictions by cell, from the last cross-validation.
const FOLDS: &str = include_str!("../data/seed-000-folds.csv");

/// Held-out prediction of a cell, MiB/s.
fn held_out(cell: &Cell) -> Option<f64> {
    FOLDS.lines().skip(1).find_map(|l| {
        let f: Vec<&str> = l.split(',').collect();
        (f.len() == 4 && f[0] == cell.name() && f[1] == cell.variant()).then(|| f[3].parse().ok()).flatten()
    })
}

/// A fitted number of the profile names this cell.
fn is_calibration() -> bool {
    let lines = profile::parse(profile::SMR_30TB).unwrap_or_default();
    profile::entries(&lines).any(|e| e.fitted().is_some_and(|c| c.contains("seed-000: all 44 cells")))
}

/// 100 (simulated / published - 1); `None` when published is 0.
pub fn error_pct(simulated: f64, published: f64) -> Option<f64> {
    (published != 0.0).then(|| 100.0 * (simulated / published - 1.0))
}

/// Puts results (in the order of [`jobs`]) together.
pub fn collect(results: &[f64]) -> Report {
    let all = cells();
    let n = SEEDS as usize;
    let calibration = is_calibration();
    let of = |kind: usize, cell: usize| &results[(kind * all.len() + cell) * n..][..n];
    let lines: Vec<Line> = all
        .iter()
        .enumerate()
        .map(|(i, c)| {
            let (simulated, spread) = mean_sd(of(0, i));
            Line {
                table: "seed-000",
                row: c.name(),
                variant: c.variant(),
                unit: "MiB/s",
                published: c.published(),
                simulated,
                spread,
                error_pct: error_pct(simulated, c.published()),
                calibration,
                held_out_pct: held_out(c).and_then(|v| error_pct(v, c.published())),
                random_phase_pct: error_pct(mean_sd(of(1, i)).0, c.published()),
                why: None,
            }
        })
        .collect();
    let subtotals = subtotals(&lines, &all);
    let shapes = shapes(&lines, &all);
    Report { table: "seed-000", source: published::SEED_000_SOURCE, lines, subtotals, shapes, outside: OUTSIDE }
}

/// Mean and worst of some errors.
pub fn subtotal(name: &str, errors: impl Iterator<Item = Option<f64>>) -> Subtotal {
    let e: Vec<f64> = errors.flatten().collect();
    let (mean_pct, worst_pct) = mean_worst(&e);
    Subtotal { name: name.to_string(), cells: e.len(), mean_pct, worst_pct }
}

fn subtotals(lines: &[Line], all: &[Cell]) -> Vec<Subtotal> {
    let both = || lines.iter().zip(all);
    let mut out = Vec::new();
    for table in ["seq", "rand", "xfs"] {
        for patched in [false, true] {
            let name = format!("{table} {}", if patched { "patched" } else { "baseline" });
            let part = both().filter(|(_, c)| c.row.table == table && c.patched == patched);
            out.push(subtotal(&name, part.map(|(l, _)| l.error_pct)));
        }
    }
    let marked = |calibration: bool| lines.iter().filter(move |l| l.calibration == calibration).map(|l| l.error_pct);
    out.push(subtotal("all cells", lines.iter().map(|l| l.error_pct)));
    out.push(subtotal("calibration cells", marked(true)));
    out.push(subtotal("held out by the shipped profile", marked(false)));
    out.push(subtotal("held out, six-fold cross-validation", lines.iter().map(|l| l.held_out_pct)));
    out.push(subtotal("all cells, zones at random angles", lines.iter().map(|l| l.random_phase_pct)));
    out
}

fn shapes(lines: &[Line], all: &[Cell]) -> Vec<Shape> {
    let find = |row: &published::Row, patched: bool| {
        let i = all.iter().position(|c| c.row == row && c.patched == patched).expect("both variants are cells");
        &lines[i]
    };
    let rule = |rule, breaks: Vec<String>| Shape { rule, holds: breaks.is_empty(), breaks };
    let rows = || published::SEED_000.iter();
    let not_slower = rows()
        .filter(|r| find(r, true).simulated < find(r, false).simulated * 0.995)
        .map(|r| r.setting.to_string())
        .collect();
    let gains = rows()
        .filter(|r| r.patched > r.baseline * 1.03 && find(r, true).simulated <= find(r, false).simulated)
        .map(|r| r.setting.to_string())
        .collect();
    let seq: Vec<_> = rows().filter(|r| r.table == "seq").collect();
    let falls = seq
        .windows(2)
        .skip(3)
        .filter(|w| find(w[1], false).simulated >= find(w[0], false).simulated)
        .map(|w| w[1].setting.to_string())
        .collect();
    let rand: Vec<_> = rows().filter(|r| r.table == "rand").collect();
    let dip = (find(rand[1], false).simulated >= find(rand[2], false).simulated)
        .then(|| rand[1].setting.to_string())
        .into_iter()
        .collect();
    vec![
        rule("patched is at least baseline - 0.5 % in every row", not_slower),
        rule("patched is above baseline where the published gain exceeds 3 %", gains),
        rule("sequential baseline falls with depth beyond 8", falls),
        rule("random baseline with 2 zones is below 4 zones", dip),
    ]
}
