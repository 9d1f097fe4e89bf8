//! `bioscope validate`.

use std::io::Write;

use bioscope_lab::threads;
use bioscope_lab::validate::{Job, Line, Report, TABLES, collect, jobs};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::Args;
use crate::sweep::aligned;

/// Runs the tables asked for, prints them, and compares with stored limits if there are any.
pub fn validate(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let limits = args.check.as_deref().map(limits).transpose()?;
    let unknown: Vec<String> = args
        .names
        .iter()
        .filter(|n| !TABLES.contains(&n.as_str()))
        .map(|n| format!("error: no table is called {n} (allowed: {})", TABLES.join(", ")))
        .collect();
    if !unknown.is_empty() {
        return Err(Failure::Bad(unknown));
    }
    // There is one table so far, so every selection is all of them.
    let results = threads::map(&jobs(), Job::run);
    let report = collect(&results);
    let missing: Vec<String> = report
        .lines
        .iter()
        .filter(|l| !l.simulated.is_finite() || l.simulated <= 0.0)
        .map(|l| format!("error: {} {}: no figure", l.row, l.variant))
        .collect();

    if args.json {
        let rows: Value = report.lines.iter().map(|l| json!(l)).collect();
        writeln!(out, "{rows:#}")?;
    } else {
        print(&report, out)?;
    }
    if !missing.is_empty() {
        return Err(Failure::Failed(missing));
    }
    match limits {
        Some(limits) => compare(&report, &limits),
        None => Ok(()),
    }
}

fn print(r: &Report, out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "{}: {}\n", r.table, r.source)?;
    let pct = |v: Option<f64>| v.map_or_else(|| "-".into(), |v| format!("{v:+.1}"));
    let mut table = vec![
        ["row", "variant", "unit", "published", "simulated", "spread", "error %", "held out %", "fitted on"]
            .map(String::from)
            .to_vec(),
    ];
    table.extend(r.lines.iter().map(|l| {
        vec![
            l.row.clone(),
            l.variant.into(),
            l.unit.into(),
            format!("{:.0}", l.published),
            format!("{:.1}", l.simulated),
            format!("{:.1}", l.spread),
            pct(l.error_pct),
            pct(l.held_out_pct),
            if l.calibration { "yes" } else { "no" }.into(),
        ]
    }));
    aligned(&table, out)?;
    writeln!(out)?;
    let mut table = vec![["|error|", "cells", "mean %", "worst %"].map(String::from).to_vec()];
    table.extend(r.subtotals.iter().filter(|s| s.cells > 0).map(|s| {
        vec![s.name.clone(), s.cells.to_string(), format!("{:.1}", s.mean_pct), format!("{:.1}", s.worst_pct)]
    }));
    aligned(&table, out)?;
    writeln!(out)?;
    for s in &r.shapes {
        let breaks = if s.holds { String::new() } else { format!(" (not at {})", s.breaks.join(", ")) };
        writeln!(out, "{} {}{breaks}", if s.holds { "holds " } else { "BROKEN" }, s.rule)?;
    }
    writeln!(out)?;
    for o in r.outside {
        writeln!(out, "not modelled: {o}")?;
    }
    Ok(())
}

/// One stored limit: which cells, and the largest mean and single |error_pct|.
struct Limit {
    table: Option<String>,
    row: Option<String>,
    variant: Option<String>,
    mean: Option<f64>,
    worst: Option<f64>,
}

impl Limit {
    fn covers(&self, l: &Line) -> bool {
        let is = |want: &Option<String>, got: &str| want.as_deref().is_none_or(|w| w == got);
        is(&self.table, l.table) && is(&self.row, &l.row) && is(&self.variant, l.variant)
    }
    fn name(&self) -> String {
        let parts: Vec<&str> =
            [&self.table, &self.row, &self.variant].into_iter().flatten().map(String::as_str).collect();
        if parts.is_empty() { "all cells".into() } else { parts.join(" ") }
    }
}

fn limits(path: &str) -> Result<Vec<Limit>, Failure> {
    let bad = |e: &dyn std::fmt::Display| Failure::bad(format!("--check {path}: {e}"));
    let content = std::fs::read_to_string(path).map_err(|e| bad(&e))?;
    let value: Value = serde_json::from_str(&content).map_err(|e| bad(&e))?;
    let list = value.as_array().ok_or_else(|| bad(&"not a list of limits"))?;
    if list.is_empty() {
        return Err(bad(&"the list of limits is empty, so nothing would be compared"));
    }
    list.iter()
        .map(|v| {
            let text = |key: &str| v[key].as_str().map(String::from);
            let limit = Limit {
                table: text("table"),
                row: text("row"),
                variant: text("variant"),
                mean: v["mean"].as_f64(),
                worst: v["worst"].as_f64(),
            };
            match v.is_object() && (limit.mean.is_some() || limit.worst.is_some()) {
                true => Ok(limit),
                false => Err(bad(&format!("{v} has no mean or worst"))),
            }
        })
        .collect()
}

fn compare(r: &Report, limits: &[Limit]) -> Result<(), Failure> {
    let mut passed = Vec::new();
    for limit in limits {
        let errors: Vec<f64> =
            r.lines.iter().filter(|l| limit.covers(l)).filter_map(|l| l.error_pct).map(f64::abs).collect();
        if errors.is_empty() {
            passed.push(format!("error: {}: no such cell", limit.name()));
            continue;
        }
        let mean = errors.iter().sum::<f64>() / errors.len() as f64;
        let worst = errors.iter().copied().fold(0.0, f64::max);
        for (what, got, most) in [("mean", mean, limit.mean), ("worst", worst, limit.worst)] {
            if let Some(most) = most
                && got > most
            {
                passed
                    .push(format!("error: {}: {what} |error| {got:.2} % is above the limit of {most} %", limit.name()));
            }
        }
    }
    if passed.is_empty() { Ok(()) } else { Err(Failure::Failed(passed)) }
}
