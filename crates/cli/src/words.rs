//! `bioscope words`: what the page fetches once it runs, instead of having it compiled in.
//!
//! Models: decisions 34.
//! Rule: one line an entry, in the order of the tables, so that a new row is one new line; a test holds
//! `static/words.json` against it.
//! Leaves out: what the page needs to run, and titles of presets, which it shows at once.

use std::io::Write;

use bioscope_lab::published::{SEED_000, SEED_000_IN_SHORT, SEED_002_GAPS};
use bioscope_scenario::{PARAMS, PRESETS};
use serde_json::{Value, json};

use crate::Failure;
use crate::args::Args;

/// Prints the file.
pub fn words(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    args.no_names()?;
    let figures = |name: &str| {
        let rows = SEED_000.iter().filter(|r| r.preset == name);
        Value::Object(rows.map(|r| (r.value.to_string(), json!([r.baseline, r.patched]))).collect())
    };
    let published = PRESETS.iter().filter(|p| SEED_000.iter().any(|r| r.preset == p.name));
    let parts = [
        ("help", PARAMS.iter().map(|p| (p.key, json!(p.help))).collect::<Vec<_>>()),
        ("look_for", PRESETS.iter().map(|p| (p.name, json!(p.look_for))).collect()),
        ("source", published.clone().map(|p| (p.name, json!(SEED_000_IN_SHORT))).collect()),
        ("published", published.map(|p| (p.name, figures(p.name))).collect()),
        ("gaps", vec![(SEED_002_GAPS.0, json!(SEED_002_GAPS.1))]),
    ];
    for (i, (part, entries)) in parts.iter().enumerate() {
        writeln!(out, "{}{}: {{", if i == 0 { "{" } else { "}," }, json!(part))?;
        for (j, (name, value)) in entries.iter().enumerate() {
            writeln!(out, "{}: {value}{}", json!(name), if j + 1 < entries.len() { "," } else { "" })?;
        }
    }
    Ok(writeln!(out, "}}}}")?)
}
