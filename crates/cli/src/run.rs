//! `bioscope run`.

use std::io::Write;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::check::{Cause, Violation, ZoneOrder};
use bioscope_formats::fio::{Outcome, summary};
use bioscope_formats::json;
use bioscope_scenario::value::print_seconds;
use bioscope_scenario::{Side, encode};

use crate::args::{Args, configs, warn_of_b};
use crate::{Failure, say, simulate};

/// Simulates the sides asked for and prints their figures.
pub fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let (s, name) = args.scenario()?;
    let sides = args.sides(&s, "a")?;
    warn_of_b(&s, &sides);
    let mut objects = Vec::new();
    for (cfg, &side) in configs(&s, &sides, &mut Vec::new())?.into_iter().zip(&sides) {
        let name = if side == Side::B || sides.len() > 1 { format!("{name} {}", word(side)) } else { name.clone() };
        let mut order = ZoneOrder::new(&cfg);
        let done =
            simulate::to_end_with(cfg, &mut order).map_err(|e| Failure::Failed(vec![format!("error: {name}: {e}")]))?;
        if done.stats.nr_errors > 0 {
            say(&[errors_note(&name, done.stats.nr_errors)]);
        }
        if let Some(first) = order.violations.first() {
            say(&[zone_note(&name, &done.cfg, &order, first)]);
        }
        // What `check` cannot know: a run whose jobs end before its time is over.
        let end = done.stats.window_to;
        if let Some(at) = done.cfg.changes.iter().map(|change| change.at).find(|at| *at > end) {
            let (text, end) = (print_seconds(at), print_seconds(end));
            say(&[if side == Side::B && s.fork == Some(at) {
                format!("warning: {name}: b.at={text}: the run is over at {end}, so nothing changes in run B")
            } else {
                format!("warning: {name}: change={text}: the run is over at {end}, so this is never written")
            }]);
        }
        let outcome = Outcome {
            name: &name,
            cfg: &done.cfg,
            stats: &done.stats,
            trace_hash: done.trace.hash,
            steps: done.trace.records,
            events: done.events,
            devices: &done.devices,
        };
        if args.json {
            objects.push(json::run(&outcome, &encode(&s), side, s.side_hash(side)));
        } else {
            out.write_all(summary(&outcome).as_bytes())?;
        }
    }
    if args.json {
        let value = if objects.len() == 1 { objects.remove(0) } else { objects.into() };
        writeln!(out, "{value:#}")?;
    }
    Ok(())
}

/// What to say of I/Os that failed; jobs of fio end at their first.
pub fn errors_note(name: &str, n: u64) -> String {
    let ios = if n == 1 { "1 I/O" } else { &format!("{n} I/Os") };
    format!(
        "note: {name}: {ios} ended with an error, and fio jobs end at their first; `bioscope trace --actions C` shows where"
    )
}

/// What to say of zone writes that reached their disk out of order.
fn zone_note(name: &str, cfg: &SimConfig, order: &ZoneOrder, first: &Violation) -> String {
    let disk = &cfg.devices[usize::from(first.dev)].name;
    let cause = match first.cause {
        Cause::Throttled => "io.max had held it back",
        Cause::Submitted => "it was submitted in that order",
    };
    format!(
        "note: {name}: {} of {} zone writes reached their disk behind later ones, the first at {}: zone {} of {disk}, \
         sector {} after the writes had got to {}; {cause}",
        order.found,
        order.writes,
        print_seconds(first.time),
        first.zone,
        first.sector,
        first.behind
    )
}

/// A side's letter.
pub fn word(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}
