//! Reads hostile links by the million on all cores; `cargo xtask fuzz` calls it.
//!
//! Usage: `fuzz [--count N] [--seed S]`; the same count, seed and number of cores read the same texts.

#[path = "../tests/common/mod.rs"]
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use common::Rng;
use common::fuzz::{Counting, MAX_MEMORY, holds, text};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> ExitCode {
    let (mut count, mut seed) = (10_000_000u64, 1u64);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = args.next().and_then(|n| n.replace('_', "").parse().ok());
        match (arg.as_str(), number) {
            ("--count", Some(n)) => count = n,
            ("--seed", Some(n)) => seed = n,
            _ => {
                eprintln!("fuzz [--count N] [--seed S]");
                return ExitCode::from(2);
            }
        }
    }
    let cores = thread::available_parallelism().map_or(1, |n| n.get() as u64);
    println!("{count} texts, seed {seed}, {cores} threads");
    let start = Instant::now();
    let work: Vec<_> = (0..cores)
        .map(|i| {
            let share = count / cores + u64::from(i < count % cores);
            // Streams apart: an odd factor spreads neighbouring seeds.
            let stream = (seed * cores + i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            thread::spawn(move || read(share, stream))
        })
        .collect();
    let results: Vec<Result<usize, String>> =
        work.into_iter().map(|t| t.join().unwrap_or_else(|_| Err("a thread ended".into()))).collect();
    for failure in results.iter().filter_map(|r| r.as_ref().err()) {
        eprintln!("{failure}");
    }
    if results.iter().any(Result::is_err) {
        return ExitCode::FAILURE;
    }
    let most = results.into_iter().flatten().max().unwrap_or(0);
    println!(
        "no panic; all read back the same; at most {} KiB held at once (limit {}); {:.0} s",
        most.div_ceil(1024),
        MAX_MEMORY / 1024,
        start.elapsed().as_secs_f64()
    );
    ExitCode::SUCCESS
}

/// Reads `count` texts; the most memory one took, or the text that went wrong.
fn read(count: u64, stream: u64) -> Result<usize, String> {
    let golden = common::golden();
    let mut rng = Rng(stream | 1);
    let mut most = 0;
    for i in 0..count {
        let text = text(&mut rng, &golden);
        match catch_unwind(AssertUnwindSafe(|| holds(&text, i % 4 == 0))) {
            Ok(memory) if memory > MAX_MEMORY => return Err(format!("text {i} takes {memory} bytes: {text:?}")),
            Ok(memory) => most = most.max(memory),
            Err(_) => return Err(format!("text {i}: {text:?}")),
        }
    }
    Ok(most)
}
