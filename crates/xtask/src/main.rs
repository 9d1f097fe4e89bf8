//! `cargo xtask`: everything that has to be done around the code, each command in one word.
//!
//! Models: nothing.
//! Rule: standard library only, so that the first call compiles in seconds; what Node does better (compression,
//! hashing, driving a browser, serving files) is in small scripts that this program starts.
//! Leaves out: what cargo does well alone, such as running the `bioscope` command.

mod bench;
mod page;
mod setup;
mod shell;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask COMMAND

  serve [--port N] [--once]    build the page and serve it (--once: fetch it once and stop)
  test [--fast]                every check, in order (--fast: without page and browser)
  dist [--base-url URL]        build the site into dist/ (URL: where it will be published, for link previews)
  size                         compressed size of dist/ against its budget
  later                        find out anew what the first scene does without (web/later.txt)
  bench                        speed of the simulator, natively and in Chromium
  fit [PROFILE] [ARG...]       fit a drive profile to its calibration cells
  fuzz [--count N] [--seed S]  read N (10 million) hostile links
  swarm [N] [--seed S]         run N (10,000) random pipelines of everything from seed S on
  setup                        install every tool that is missing";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> shell::Result<()> {
    let (command, rest) = args.split_first().map_or(("help", args), |(command, rest)| (command.as_str(), rest));
    match command {
        "serve" => page::serve(&page::ServeOptions::parse(rest)?),
        "test" => test::test(rest),
        "dist" => page::dist(rest),
        "size" => no_arguments(rest).and_then(|()| page::size()),
        "later" => no_arguments(rest).and_then(|()| page::later()),
        "bench" => no_arguments(rest).and_then(|()| bench::bench()),
        "fit" => bench::fit(rest),
        "fuzz" => bench::fuzz(rest),
        "swarm" => bench::swarm(rest),
        "setup" => no_arguments(rest).and_then(|()| setup::everything()),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(format!("no command {other:?}\n\n{HELP}")),
    }
}

fn no_arguments(rest: &[String]) -> shell::Result<()> {
    match rest.first() {
        None => Ok(()),
        Some(extra) => Err(format!("unexpected argument {extra:?}")),
    }
}
