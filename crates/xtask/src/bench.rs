//! Speed figures, fits, and what else takes long.
//!
//! Models: nothing.
//! Rule: both sides of the benchmark give lines `NAME VALUE`, set side by side by
//! tests/browser/bench.mjs; a side that cannot run is named loudly, and the command then fails.
//! Leaves out: judging the figures.

use crate::shell::{Result, cargo, command, out_dir, run, run_into, timed};
use crate::{page, setup};

pub fn bench() -> Result<()> {
    let native = out_dir()?.join("bench-native.txt");
    let mut example = cargo(&["run", "--quiet", "--release", "--package=bioscope-lab", "--example=bench"]);
    let sides = [
        ("native", timed("native", || run_into(&mut example, &native))),
        ("browser", page::build(None).and_then(|()| timed("Chromium", || run(&mut browser()?)))),
    ];
    let missing: Vec<String> = sides
        .into_iter()
        .filter_map(|(side, result)| Some(format!("{side} NOT AVAILABLE: {}", result.err()?)))
        .collect();
    if missing.is_empty() { Ok(()) } else { Err(missing.join("\n")) }
}

fn browser() -> Result<std::process::Command> {
    let mut node = command("node", &["tests/browser/bench.mjs"]);
    node.env("BIOSCOPE_CHROMIUM", setup::chromium()?);
    Ok(node)
}

/// `fit PROFILE…`: reads the named calibration cells, writes the profile.
pub fn fit(args: &[String]) -> Result<()> {
    run(cargo(&["run", "--release", "--package=bioscope-lab", "--example=fit", "--"]).args(args))
}

/// `fuzz [--count N] [--seed S]`: hostile links by the million.
pub fn fuzz(args: &[String]) -> Result<()> {
    run(cargo(&["run", "--quiet", "--release", "--package=bioscope-scenario", "--example=fuzz", "--"]).args(args))
}

/// `swarm [N] [--seed S]`: random pipelines against the laws of every run.
pub fn swarm(args: &[String]) -> Result<()> {
    run(cargo(&["run", "--quiet", "--release", "--package=bioscope-core", "--example=swarm", "--"]).args(args))
}
