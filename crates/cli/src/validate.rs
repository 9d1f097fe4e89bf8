//! `bioscope validate`.

use std::io::Write;

use bioscope_lab::table::TABLES;
use bioscope_lab::threads;
use bioscope_lab::validate::{Job, Line, Report, collect, jobs, names};
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
        .filter(|n| !names().any(|name| name == n.as_str()))
        .map(|n| format!("error: no table is called {n} (allowed: {})", names().collect::<Vec<_>>().join(", ")))
        .collect();
    if !unknown.is_empty() {
        return Err(Failure::Bad(unknown));
    }
    let asked = |name: &str| args.names.is_empty() || args.names.iter().any(|n| n == name);
    let mut reports = Vec::new();
    if asked("seed-000") {
        reports.push(collect(&threads::map(&jobs(), Job::run)));
    }
    for table in TABLES.iter().filter(|t| asked(t.name)) {
        reports.push(table.collect(threads::map(&table.jobs(), bioscope_lab::table::Job::run)));
    }
    let lines = || reports.iter().flat_map(|r| &r.lines);
    let missing: Vec<String> = lines()
        .filter(|l| !l.simulated.is_finite() || l.unit == "MiB/s" && l.simulated <= 0.0)
        .map(|l| format!("error: {} {} {}: no figure", l.table, l.row, l.variant))
        .collect();

    if args.json {
        let rows: Value = lines().map(|l| json!(l)).collect();
        writeln!(out, "{rows:#}")?;
    } else {
        for (i, report) in reports.iter().enumerate() {
            if i > 0 {
                writeln!(out)?;
            }
            print(report, out)?;
        }
    }
    if !missing.is_empty() {
        return Err(Failure::Failed(missing));
    }
    match limits {
        // Limits of tables that were not asked for are not passed.
        Some(mut limits) => {
            limits.retain(|l| l.table.as_deref().is_none_or(|t| asked(t) || !names().any(|name| name == t)));
            compare(&lines().collect::<Vec<_>>(), &limits)
        }
        None => Ok(()),
    }
}

/// A published figure: as many decimals as it has, two at most.
fn published(v: f64) -> String {
    let text = format!("{v:.2}");
    text.trim_end_matches('0').trim_end_matches('.').into()
}

/// A simulated one: as exact as its unit deserves.
fn simulated(unit: &str, v: f64) -> String {
    match unit {
        "matches" => format!("{v:.0}"),
        "MiB/s" => format!("{v:.1}"),
        _ => format!("{v:.2}"),
    }
}

/// What is explained: cells that far off, percent.
const FAR: f64 = 25.0;

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
            published(l.published),
            simulated(l.unit, l.simulated),
            simulated(l.unit, l.spread),
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
    let far = r.lines.iter().filter(|l| l.error_pct.is_some_and(|e| e.abs() > FAR));
    let mut explained: Vec<(&str, Vec<String>)> = Vec::new();
    for (why, l) in far.filter_map(|l| Some((l.why?, l))) {
        let cell = format!("{} {}", l.row, l.variant);
        match explained.iter_mut().find(|(known, _)| *known == why) {
            Some((_, cells)) => cells.push(cell),
            None => explained.push((why, vec![cell])),
        }
    }
    for (why, cells) in &explained {
        writeln!(out, "far off  {}: {why}", cells.join(", "))?;
    }
    if !explained.is_empty() {
        writeln!(out)?;
    }
    for s in &r.shapes {
        let breaks = if s.holds { String::new() } else { format!(" (not at {})", s.breaks.join(", ")) };
        writeln!(out, "{} {}{breaks}", if s.holds { "holds " } else { "BROKEN" }, s.rule)?;
    }
    if !r.outside.is_empty() {
        writeln!(out)?;
    }
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

fn compare(lines: &[&Line], limits: &[Limit]) -> Result<(), Failure> {
    let mut passed = Vec::new();
    for limit in limits {
        let errors: Vec<f64> =
            lines.iter().filter(|l| limit.covers(l)).filter_map(|l| l.error_pct).map(f64::abs).collect();
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
