//! Speed figures and fits: they print or write, and assert nothing about the simulator.
//!
//! Both sides of the benchmark give lines `name <TAB> value <TAB> unit`; tests/browser/bench.mjs sets
//! them side by side. A side that cannot run is named loudly, and the command then fails.

use crate::shell::{Result, cargo, command, out_dir, run, run_into, timed};
use crate::{page, setup};

pub fn bench() -> Result<()> {
    let native = out_dir()?.join("bench-native.tsv");
    let mut example = cargo(&["run", "--quiet", "--release", "--package=bioscope-lab", "--example=bench"]);
    let sides = [
        ("native", timed("native", || run_into(&mut example, &native))),
        ("browser", page::build().and_then(|()| timed("Chromium", || run(&mut browser()?)))),
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
