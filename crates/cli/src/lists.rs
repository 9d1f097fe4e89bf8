//! `bioscope params`, `attributes`, `presets` and `url`: what there is, and a scenario's text.

use std::io::Write;

use bioscope_formats::json;
use bioscope_scenario::attributes::{ATTRIBUTES, On};
use bioscope_scenario::{Group, KEYS, Live, PRESETS, Param, Scope, encode, text};

use crate::Failure;
use crate::args::Args;
use crate::sweep::aligned;

/// Prints the table of parameters.
pub fn params(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.no_names()?;
    if args.markdown && (args.json || args.fitted) {
        return Err(Failure::bad("--markdown stands alone"));
    }
    if args.json {
        let value = if args.fitted { json::fitted() } else { json::params() };
        return Ok(writeln!(out, "{value:#}")?);
    }
    if args.fitted {
        let mut table = vec![["key", "value", "unit", "calibration"].map(String::from).to_vec()];
        table.extend(json::fitted_rows().into_iter().map(|f| vec![f.key.into(), f.value, f.unit, f.cells]));
        return aligned(&table, out);
    }
    if args.markdown {
        return markdown(out);
    }
    for group in Group::ALL {
        writeln!(out, "{}", group.title())?;
        for p in KEYS.iter().map(|k| Param::of(*k)).filter(|p| p.group == group) {
            let default = if p.default.is_empty() { "none" } else { p.default };
            writeln!(out, "  {} = {default}  ({})", p.key, p.allowed())?;
            writeln!(out, "      {}{}", p.help, conditions(p))?;
        }
    }
    Ok(())
}

/// The reference page of the documentation.
fn markdown(out: &mut dyn Write) -> Result<(), Failure> {
    writeln!(out, "# Parameters\n")?;
    writeln!(out, "Made by `bioscope params --markdown` from the table in `crates/scenario/src/params.rs`.\n")?;
    writeln!(out, "In sizes, k, m, g and KiB, MiB, GiB count in 1024, kB, MB, GB in 1000; times take ns, us, ms, s,")?;
    writeln!(out, "min and h. `auto` follows from the other settings or from the drive's profile.")?;
    for group in Group::ALL {
        writeln!(out, "\n## {}\n", group.title())?;
        writeln!(out, "| Key | Default | Values | Meaning |\n|---|---|---|---|")?;
        for p in KEYS.iter().map(|k| Param::of(*k)).filter(|p| p.group == group) {
            let default = if p.default.is_empty() { String::new() } else { format!("`{}`", p.default) };
            writeln!(out, "| `{}` | {default} | {} | {}{} |", p.key, p.allowed(), p.help, conditions(p))?;
        }
    }
    Ok(())
}

/// When the parameter matters, and whether it may change during a run.
fn conditions(p: &Param) -> String {
    let mut t = String::new();
    let when: Vec<String> =
        p.shown_when.iter().map(|(k, word)| format!("{}={}", Param::of(*k).key, word.replace('|', " or "))).collect();
    if !when.is_empty() {
        t += &format!(" With {}.", when.join(" and "));
    }
    t += match p.scope {
        Scope::Run | Scope::Stack => "",
        Scope::Job => " Each job can have its own.",
        Scope::Disk => " Each disk can have its own.",
        Scope::Device => " Of the device that the jobs submit to; each disk can have its own.",
    };
    if p.live == Live::Sysfs {
        t += " Can change during a run.";
    }
    t
}

/// Prints the files of /sys/block/X/queue and what a write to each returns.
pub fn attributes(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.no_names()?;
    let mut table = vec![["file", "mode", "of", "setting", "takes"].map(String::from).to_vec()];
    table.extend(ATTRIBUTES.iter().map(|a| {
        let of = match a.on {
            On::All => "all",
            On::Mq => "blk-mq",
            On::Zoned => "zoned",
        };
        let setting = a.key.map_or("-", |key| Param::of(key).key);
        [a.name, a.mode(), of, setting, a.takes.words()].map(String::from).to_vec()
    }));
    aligned(&table, out)
}

/// Prints the presets.
pub fn presets(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.no_names()?;
    if args.json {
        return Ok(writeln!(out, "{:#}", json::presets())?);
    }
    for p in PRESETS {
        writeln!(out, "{}\n    {}\n    {}", p.name, p.title, p.look_for)?;
    }
    Ok(())
}

/// Prints the canonical link, or file, of a scenario.
pub fn url(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let (s, _) = args.scenario()?;
    let problems = bioscope_scenario::check_all(&s).2;
    let shown = crate::lines(&problems);
    if problems.iter().any(bioscope_scenario::Diagnostic::is_error) {
        return Err(Failure::Bad(shown));
    }
    crate::say(&shown);
    if args.file {
        return Ok(out.write_all(text::encode_file(&s).as_bytes())?);
    }
    Ok(writeln!(out, "#{}", encode(&s))?)
}
