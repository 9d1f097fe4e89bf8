//! `cargo xtask swarm [N] [--seed S]`: N random pipelines from seed S on, each held against the laws of every run.

#[path = "../tests/common/mod.rs"]
mod common;
#[path = "../tests/common/swarm.rs"]
mod drawn;

use std::process::ExitCode;

fn main() -> ExitCode {
    let (mut count, mut seed) = (10_000, 0);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = if arg == "--seed" { args.next().unwrap_or_default() } else { arg.clone() };
        match number.parse() {
            Ok(n) if arg == "--seed" => seed = n,
            Ok(n) => count = n,
            Err(_) => {
                eprintln!("swarm [N] [--seed S]: {number:?} is no number");
                return ExitCode::from(2);
            }
        }
    }
    match drawn::swarm(seed, count) {
        Ok(seen) => {
            println!("{seen}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
