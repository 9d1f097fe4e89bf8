//! Trace hashes of every preset and of 200 seeded random scenarios and 100 stacks, at half of the events and at the end.
//!
//! Prints `fragment<TAB>half<TAB>end` lines; the browser test asks the page for the same.

use bioscope_lab::run::hashes;
use bioscope_lab::seeded;
use bioscope_lab::threads;
use bioscope_scenario::{Side, text, validate};

fn main() {
    let fragments = seeded::fragments();
    let lines = threads::map(&fragments, |f| {
        let (s, _) = text::decode(f);
        let cfg = validate(&s, Side::A).unwrap_or_else(|d| panic!("{f}: {}", d[0]));
        let (half, end) = hashes(cfg);
        format!("{f}\t{half:016x}\t{end:016x}")
    });
    for l in lines {
        println!("{l}");
    }
}
