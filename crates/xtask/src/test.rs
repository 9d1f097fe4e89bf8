//! `cargo xtask test`: every check in order, from the cheapest to the slowest.
//!
//! Models: nothing.
//! Rule: stops at the first failure; a check that cannot run has failed, nothing is skipped silently, and the closing
//! line counts only what ran.
//! Leaves out: fits and benchmarks.

use crate::shell::{Result, cargo, command, find_on_path, out_dir, run, run_into, timed};
use crate::{page, setup};
use std::env;
use std::path::Path;
use std::time::Instant;

struct Step {
    name: &'static str,
    work: fn() -> Result<()>,
    /// Left out by `--fast`.
    browser: bool,
}

const fn quick(name: &'static str, work: fn() -> Result<()>) -> Step {
    Step { name, work, browser: false }
}

const fn browser(name: &'static str, work: fn() -> Result<()>) -> Step {
    Step { name, work, browser: true }
}

const STEPS: &[Step] = &[
    quick("set-up: Rust targets", setup::targets),
    browser("set-up: page tools and browser", setup::everything),
    quick("format", || run(&mut cargo(&["fmt", "--all", "--check"]))),
    quick("clippy, native", || {
        run(&mut cargo(&["clippy", "--quiet", "--release", "--all-targets", "--", "-D", "warnings"]))
    }),
    quick("clippy, page", || {
        run(&mut cargo(&[
            "clippy",
            "--quiet",
            "--profile=web",
            "--package=bioscope-web",
            "--target=wasm32-unknown-unknown",
            "--",
            "-D",
            "warnings",
        ]))
    }),
    quick("core without std", || core_alone(&[])),
    quick("core without std, with serde", || core_alone(&["--features=serde"])),
    quick("native tests", native_tests),
    quick("documentation tests", || run(&mut cargo(&["test", "--quiet", "--release", "--doc"]))),
    browser("trace hashes, native", native_hashes),
    browser("page build", page::trunk_build),
    browser("pages and pictures of the presets", || page::presets(None)),
    browser("book build", page::book),
    browser("links of the site", page::links),
    browser("trace hashes, WebAssembly", || in_browser(&["hashes.mjs"])),
    browser("pages of the presets in the browser", || in_browser(&["presets.mjs"])),
    browser("browser flows", || in_browser(&["flows.mjs"])),
    browser("browser flows, plain server", || in_browser(&["flows.mjs", "--server", "bare"])),
    browser("refusals at the start", || in_browser(&["guard.mjs"])),
    browser("frames on other pages", || in_browser(&["frames.mjs"])),
    browser("the bio-scope element", || in_browser(&["elements.mjs"])),
    browser("messages", || in_browser(&["messages.mjs"])),
    browser("without a network", || in_browser(&["offline.mjs"])),
    browser("Firefox", || in_browser(&["firefox.mjs"])),
    browser("book in the browser", || in_browser(&["book.mjs"])),
    browser("accessibility", || in_browser(&["axe.mjs"])),
    browser("size", page::weigh),
];

pub fn test(args: &[String]) -> Result<()> {
    let fast = match args {
        [] => false,
        [flag] if flag == "--fast" => true,
        _ => return Err(format!("test: unexpected arguments {args:?}")),
    };
    announce_data();
    let start = Instant::now();
    let mut passed = 0;
    for step in STEPS.iter().filter(|step| !(fast && step.browser)) {
        if let Err(error) = timed(step.name, step.work) {
            println!("steps: {passed} passed, 1 failed");
            return Err(format!("{}: {error}", step.name));
        }
        passed += 1;
    }
    println!("all steps in {:.0} s", start.elapsed().as_secs_f64());
    println!("steps: {passed} passed, 0 failed");
    Ok(())
}

fn announce_data() {
    match env::var_os("BIOSCOPE_DATA") {
        Some(folder) if Path::new(&folder).is_dir() => println!("BIOSCOPE_DATA: {}", folder.display()),
        Some(folder) => println!("BIOSCOPE_DATA: no folder {}: tests on captured data will skip", folder.display()),
        None => println!("BIOSCOPE_DATA is not set: tests on captured data will skip"),
    }
}

/// `#![no_std]` proves nothing on a host that has std; this target has none.
fn core_alone(features: &[&str]) -> Result<()> {
    run(cargo(&["build", "--quiet", "--package=bioscope-core", "--no-default-features", "--target=wasm32v1-none"])
        .args(features))
}

fn native_tests() -> Result<()> {
    if find_on_path(&["cargo-nextest"]).is_some() {
        run(&mut cargo(&["nextest", "run", "--release", "--no-fail-fast", "--status-level=fail"]))
    } else {
        run(&mut cargo(&["test", "--quiet", "--release", "--lib", "--bins", "--tests"]))
    }
}

/// What the browser has to reproduce: `fragment <TAB> hash after half of the events <TAB> hash at the end`.
fn native_hashes() -> Result<()> {
    let file = out_dir()?.join("hashes.tsv");
    run_into(&mut cargo(&["run", "--quiet", "--release", "--example=hashes"]), &file)
}

fn in_browser(words: &[&str]) -> Result<()> {
    let script = format!("tests/browser/{}", words[0]);
    run(command("node", &[&script])
        .args(&words[1..])
        .env("BIOSCOPE_CHROMIUM", setup::chromium()?)
        .env("BIOSCOPE_FIREFOX", setup::firefox()?))
}
