//! Fits the drive profile to the cells of seed 000 and writes it back, or cross-validates the fit.
//!
//! Usage: `fit [--evaluations N] [--folds K] [--seeds N] [--dry-run] PROFILE`
//! Without `--folds` all 44 cells are calibration cells and the profile is rewritten. With `--folds K` the cells are
//! dealt into K folds, each predicted by a refit on the others, and `crates/lab/data/seed-000-folds.csv` is rewritten.

use std::fs;

use bioscope_lab::fit::{self, Search};
use bioscope_lab::run::mean_worst;
use bioscope_lab::seed000::cells;
use bioscope_scenario::profile;

fn main() {
    let mut how = Search { seeds: 1, evaluations: 0, seed: 7, random_starts: 0, keep_structure: false };
    let (mut folds, mut dry, mut path) = (0usize, false, String::from("crates/core/src/drive/model/smr-30tb.profile"));
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        let mut number = || args.next().and_then(|v| v.parse::<u64>().ok()).expect("a number follows this option");
        match a.as_str() {
            "--evaluations" => how.evaluations = number() as u32,
            "--folds" => folds = number() as usize,
            "--seeds" => how.seeds = number(),
            "--search-seed" => how.seed = number(),
            "--dry-run" => dry = true,
            _ => path = if a.contains('/') { a } else { format!("crates/core/src/drive/model/{a}.profile") },
        }
    }
    if how.evaluations == 0 {
        // What the shipped numbers were made with.
        how.evaluations = if folds == 0 { 400 } else { 180 };
    }
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let lines = profile::parse(&text).unwrap_or_else(|d| panic!("{path}: {}", d[0]));
    if folds == 0 {
        let (lines, fitted) = fit::search(&lines, &cells(), &how, |n, mean, worst| {
            println!("{n:4}: mean {mean:.2} % worst {worst:.1} %");
        });
        for (key, value) in &fitted.values {
            println!("{key} = {value}");
        }
        println!("44 calibration cells: mean {:.2} % worst {:.1} %", fitted.mean, fitted.worst);
        if !dry {
            fs::write(&path, profile::render(&lines)).unwrap_or_else(|e| panic!("{path}: {e}"));
        }
        return;
    }
    let all = cells();
    let fold_of = fit::folds(all.len(), folds, 1);
    let mut csv = String::from("row,variant,fold,held_out_MiBps\n");
    let mut held = vec![0.0; all.len()];
    for fold in 0..folds {
        let pick = |inside: bool| -> Vec<_> {
            all.iter().zip(&fold_of).filter(|(_, f)| (**f == fold) == inside).map(|(c, _)| *c).collect()
        };
        let how = Search { seed: how.seed + fold as u64, random_starts: 60, keep_structure: true, ..how.clone() };
        let (refit, fitted) = fit::search(&lines, &pick(false), &how, |_, _, _| {});
        let values: Vec<_> = fitted.values.iter().map(|(k, v)| format!("{k}={v}")).collect();
        println!("fold {fold}: train mean {:.2} worst {:.1}; {}", fitted.mean, fitted.worst, values.join(" "));
        let ours = pick(true);
        let predicted = fit::predict(&refit, &ours, 6);
        let mut next = predicted.iter();
        for (i, f) in fold_of.iter().enumerate() {
            if *f == fold {
                held[i] = *next.next().expect("one a cell");
            }
        }
    }
    let mut errors = Vec::new();
    for (i, c) in all.iter().enumerate() {
        csv += &format!("{},{},{},{:.2}\n", c.name(), c.variant(), fold_of[i], held[i]);
        errors.push(100.0 * (held[i] / c.published() - 1.0));
    }
    let (mean, worst) = mean_worst(&errors);
    println!("44 held-out cells, {folds} folds: mean {mean:.2} % worst {worst:.1} %");
    if !dry {
        fs::write("crates/lab/data/seed-000-folds.csv", csv).expect("the data folder is writable");
    }
}
