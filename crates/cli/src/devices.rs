//! `bioscope iostat` and `bioscope gaps`: what the devices were asked, and in which order.
//!
//! Models: nothing; the texts are those of `bioscope_formats::{iostat, gaps}`.
//! Rule: iostat is of the measured window, gaps are of the whole run.
//! Leaves out: intervals; there is one report a run.

use std::io::Write;

use bioscope_core::observe::gaps::Gaps;
use bioscope_core::units::DevIdx;
use bioscope_formats::iostat::{Columns, Sample, Unit, report};
use bioscope_scenario::{Diagnostic, Side, diagnostic};

use crate::args::{Args, configs, warn_of_b};
use crate::simulate::{Finished, to_end_with};
use crate::{Failure, run};

/// Prints `iostat -x` of the sides asked for.
pub fn iostat(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let columns = if args.reads { Columns::Reads } else { Columns::All };
    let unit = if args.megabytes { Unit::Mb } else { Unit::Kb };
    each(args, out, |done, _, out| {
        let start = done.stats.window_from.unwrap_or(done.stats.window_to);
        let (from, to) = Sample::window(start, done.stats.window_to, done.devices.clone());
        Ok(out.write_all(report(&from, &to, columns, unit).as_bytes())?)
    })
}

/// Prints the histogram of the sides asked for: of all devices together, or of one.
pub fn gaps(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    each(args, out, |done, gaps, out| {
        let shown = match &args.device {
            None => gaps.all(),
            Some(name) => {
                let at = done.cfg.devices.iter().position(|d| d.name == *name);
                let names = done.cfg.devices.iter().map(|d| d.name.as_str());
                let at = at.ok_or_else(|| no_device(name, names))?;
                gaps.of(at as DevIdx).cloned().unwrap_or_default()
            }
        };
        Ok(out.write_all(bioscope_formats::gaps::text(&shown).as_bytes())?)
    })
}

fn no_device<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let d = Diagnostic::error("--device", name, "no device of this scenario is called so");
    let near = diagnostic::nearest(name, names);
    Failure::bad(near.iter().fold(d, |d, n| d.suggest(*n)))
}

/// Runs the sides; with both, a line names each.
fn each(
    args: &Args,
    out: &mut dyn Write,
    print: impl Fn(&Finished, &Gaps, &mut dyn Write) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let (s, name) = args.scenario()?;
    let sides = args.sides(&s, "a")?;
    warn_of_b(&s, &sides);
    for (cfg, &side) in configs(&s, &sides, &mut Vec::new())?.into_iter().zip(&sides) {
        let mut gaps = Gaps::default();
        let done = to_end_with(cfg, &mut gaps).map_err(|e| Failure::Failed(vec![format!("error: {name}: {e}")]))?;
        if done.stats.nr_errors > 0 {
            crate::say(&[run::errors_note(&name, done.stats.nr_errors)]);
        }
        if sides.len() > 1 {
            writeln!(out, "{}{name} {}", if side == Side::B { "\n" } else { "" }, run::word(side))?;
        }
        print(&done, &gaps, out)?;
    }
    Ok(())
}
