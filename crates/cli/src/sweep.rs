//! `bioscope sweep`.

use std::io::Write;

use bioscope_core::config::SimConfig;
use bioscope_formats::{csv, fio, json};
use bioscope_lab::run::mean_sd;
use bioscope_lab::threads;
use bioscope_scenario::value::print_seconds;
use bioscope_scenario::{Diagnostic, Param, Scenario, Side, Sweep, Value};

use crate::args::{Args, configs, errors_of_b, warn_of_b};
use crate::run::errors_note;
use crate::{Failure, lines, say, simulate};

/// Combinations a sweep may have, and runs altogether.
const MAX_POINTS: usize = 10_000;

/// One line of the result before it is run.
struct Point {
    /// Value of each swept key, as text.
    at: Vec<String>,
    side: Side,
}

/// Runs all combinations and prints a line each.
pub fn sweep(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let (s, _) = args.scenario()?;
    let sweeps = swept(args, &s)?;
    let sides = args.sides(&s, if s.has_b() { "both" } else { "a" })?;
    let seeds = args.nr_seeds(u64::from(s.seeds))?;
    warn_of_b(&s, &sides);
    if let Some(at) = s.fork.filter(|_| sides.contains(&Side::B)) {
        // What cannot be forked is refused here as everywhere, though no point forks.
        let problems = errors_of_b(&s);
        if !problems.is_empty() {
            return Err(Failure::Bad(lines(&problems)));
        }
        let words = "a sweep compares whole runs: run B has its settings from the start";
        say(&lines(&[Diagnostic::note("b.at", &print_seconds(at), words)]));
    }
    let mut base = s.for_sweep();
    // What was asked for by name holds, also where it equals a default; but no point forks.
    args.edit(&mut base);
    base.fork = None;

    let combinations = cross(&sweeps);
    if combinations.len() * sides.len() * seeds as usize > MAX_POINTS {
        return Err(Failure::bad(format!("more than {MAX_POINTS} runs")));
    }
    let (mut points, mut said) = (Vec::new(), Vec::new());
    let mut runs = Vec::new();
    for values in &combinations {
        let mut at = base.clone();
        for (sweep, v) in sweeps.iter().zip(values) {
            at.set(Side::A, sweep.key, v.clone());
        }
        for (cfg, &side) in configs(&at, &sides, &mut said)?.into_iter().zip(&sides) {
            let texts = sweeps.iter().zip(values).map(|(sweep, v)| Param::of(sweep.key).print(v)).collect();
            points.push(Point { at: texts, side });
            runs.extend((0..seeds).map(|i| SimConfig { seed: cfg.seed.wrapping_add(i), ..cfg.clone() }));
        }
    }
    let outcomes = run_all(&runs)?;
    let results: Vec<f64> = outcomes.iter().map(|(mib, _)| *mib).collect();
    let failing: Vec<String> = points
        .iter()
        .zip(outcomes.chunks(seeds as usize))
        .map(|(p, runs)| (p, runs.iter().map(|(_, errors)| errors).sum::<u64>()))
        .filter(|(_, errors)| *errors > 0)
        .map(|(p, errors)| errors_note(&format!("{} {}", p.at.join(" "), json::side_word(p.side)), errors))
        .collect();
    say(&failing);

    let keys: Vec<&str> = sweeps.iter().map(|sweep| Param::of(sweep.key).key).collect();
    let mut table = vec![header(&keys)];
    for (p, of_seeds) in points.iter().zip(results.chunks(seeds as usize)) {
        let (mean, sd) = mean_sd(of_seeds);
        let mut row = p.at.clone();
        row.extend([json::side_word(p.side).into(), seeds.to_string(), format!("{mean:.2}")]);
        // One run has no spread.
        row.push(if seeds > 1 { format!("{sd:.2}") } else { "-".into() });
        row.push("MiB/s".into());
        table.push(row);
    }
    if args.csv {
        for row in &table {
            out.write_all(csv::line(row).as_bytes())?;
        }
        return Ok(());
    }
    aligned(&table, out)
}

fn header(keys: &[&str]) -> Vec<String> {
    keys.iter().chain(&["side", "seeds", "mean", "sd", "unit"]).map(ToString::to_string).collect()
}

/// The sweeps of --over, else the scenario's own.
fn swept(args: &Args, s: &Scenario) -> Result<Vec<Sweep>, Failure> {
    if args.over.is_empty() {
        let Some(first) = s.sweep().or_else(|| s.sweep2.clone()) else {
            return Err(Failure::bad("nothing to sweep: give --over KEY=VALUES"));
        };
        let second = s.sweep2.clone().filter(|second| second.key != first.key);
        return Ok([Some(first), second].into_iter().flatten().collect());
    }
    let mut problems = Vec::new();
    let mut sweeps: Vec<Sweep> = Vec::new();
    for text in &args.over {
        let (key, values) = text.split_once('=').unwrap_or((text, ""));
        match Sweep::parse("--over", key, values) {
            Ok(sweep) if sweeps.iter().any(|other| other.key == sweep.key) => {
                problems.push(Diagnostic::error("--over", key, "given twice"));
            }
            Ok(sweep) => sweeps.push(sweep),
            Err(d) => problems.push(d),
        }
    }
    if problems.is_empty() { Ok(sweeps) } else { Err(Failure::Bad(lines(&problems))) }
}

/// All combinations of values, the last key changing fastest.
fn cross(sweeps: &[Sweep]) -> Vec<Vec<Value>> {
    let mut all = vec![Vec::new()];
    for sweep in sweeps {
        let longer = |head: &Vec<Value>| {
            let head = head.clone();
            sweep.values.iter().map(move |v| [head.as_slice(), std::slice::from_ref(v)].concat())
        };
        all = all.iter().flat_map(longer).collect();
        if all.len() > MAX_POINTS {
            break;
        }
    }
    all
}

/// MiB/s and failed I/Os of every run, in order, on all cores.
fn run_all(runs: &[SimConfig]) -> Result<Vec<(f64, u64)>, Failure> {
    threads::map(runs, |cfg| {
        simulate::to_end(cfg.clone()).map(|done| (fio::mib_per_s(&done.stats), done.stats.nr_errors))
    })
    .into_iter()
    .collect::<Result<_, _>>()
    .map_err(|e| Failure::Failed(vec![format!("error: {e}")]))
}

/// Columns side by side, numbers to the right.
pub fn aligned(table: &[Vec<String>], out: &mut dyn Write) -> Result<(), Failure> {
    let columns = table.first().map_or(0, Vec::len);
    let width: Vec<usize> =
        (0..columns).map(|c| table.iter().map(|r| r[c].chars().count()).max().unwrap_or(0)).collect();
    for row in table {
        let cells: Vec<String> = row
            .iter()
            .zip(&width)
            .map(|(text, w)| {
                if text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
                    format!("{text:>w$}")
                } else {
                    format!("{text:<w$}")
                }
            })
            .collect();
        writeln!(out, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
