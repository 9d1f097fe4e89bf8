//! The `bioscope` command.
//!
//! Models: nothing.
//! Rule: figures go to standard output, everything else to standard error; all problems of an input at once;
//! exit status 0 done, 1 a run could not be made or a limit was passed, 2 bad input.
//! Leaves out: logic. Commands read their arguments, call the other crates and print.

mod args;
mod debugfs;
mod devices;
mod help;
mod lists;
mod picture;
mod raster;
mod render;
mod run;
mod simulate;
mod site;
mod sweep;
mod trace;
mod validate;
mod words;

use std::io::{self, BufWriter, Write};
use std::process::ExitCode;

use bioscope_scenario::Diagnostic;

/// Why a command did not do what it was asked for.
pub enum Failure {
    /// Bad input: one line each.
    Bad(Vec<String>),
    /// A run could not be made, or a limit was passed: one line each.
    Failed(Vec<String>),
    /// Standard output could not be written.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Failure::Output(e)
    }
}

impl From<lexopt::Error> for Failure {
    fn from(e: lexopt::Error) -> Self {
        Failure::Bad(vec![format!("error: {e}")])
    }
}

impl Failure {
    /// Bad input with one message.
    fn bad(message: impl std::fmt::Display) -> Self {
        Failure::Bad(vec![format!("error: {message}")])
    }
}

/// The lines diagnostics are shown as.
pub fn lines(problems: &[Diagnostic]) -> Vec<String> {
    problems.iter().map(|d| format!("{}: {d}", d.severity.word())).collect()
}

/// Says something that is not the result.
pub fn say(lines: &[String]) {
    // Nobody may be listening to standard error; the command goes on.
    let mut err = io::stderr().lock();
    for l in lines {
        let _ = writeln!(err, "{l}");
    }
}

fn main() -> ExitCode {
    let mut out = BufWriter::new(io::stdout().lock());
    let done = command(&mut out).and_then(|()| Ok(out.flush()?));
    let (lines, code) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        // The reader has seen enough (`| head`).
        Err(Failure::Output(e)) if e.kind() == io::ErrorKind::BrokenPipe => return ExitCode::SUCCESS,
        Err(Failure::Output(e)) => (vec![format!("error: cannot write the output: {e}")], 1),
        Err(Failure::Failed(lines)) => (lines, 1),
        Err(Failure::Bad(lines)) => (lines, 2),
    };
    // What was already printed belongs before the complaint.
    let _ = out.flush();
    say(&lines);
    ExitCode::from(code)
}

fn command(out: &mut dyn Write) -> Result<(), Failure> {
    let mut parser = lexopt::Parser::from_env();
    let name = match parser.next()? {
        None => {
            say(&[help::OVERVIEW.trim_end().into()]);
            return Err(Failure::Bad(Vec::new()));
        }
        Some(lexopt::Arg::Long("help") | lexopt::Arg::Short('h')) => {
            return Ok(out.write_all(help::OVERVIEW.as_bytes())?);
        }
        Some(lexopt::Arg::Long("version") | lexopt::Arg::Short('V')) => {
            let version = env!("CARGO_PKG_VERSION");
            return Ok(writeln!(out, "bioscope {version}, model version {}", bioscope_core::MODEL_VERSION)?);
        }
        Some(lexopt::Arg::Value(name)) => name.to_string_lossy().into_owned(),
        Some(other) => return Err(other.unexpected().into()),
    };
    if name == "help" {
        let about = match parser.next()? {
            None => help::OVERVIEW,
            Some(lexopt::Arg::Value(command)) => help_of(&command.to_string_lossy())?,
            Some(other) => return Err(other.unexpected().into()),
        };
        return Ok(out.write_all(about.as_bytes())?);
    }
    let about = help_of(&name)?;
    let parsed = args::parse(&name, &mut parser)?;
    if parsed.help {
        return Ok(out.write_all(about.as_bytes())?);
    }
    match name.as_str() {
        "run" => run::run(&parsed, out),
        "iostat" => devices::iostat(&parsed, out),
        "gaps" => devices::gaps(&parsed, out),
        "debugfs" => debugfs::debugfs(&parsed, out),
        "sweep" => sweep::sweep(&parsed, out),
        "trace" => trace::trace(&parsed, out),
        "render" => render::render(&parsed),
        "site" => site::site(&parsed),
        "validate" => validate::validate(&parsed, out),
        "params" => lists::params(&parsed, out),
        "attributes" => lists::attributes(&parsed, out),
        "presets" => lists::presets(&parsed, out),
        "words" => words::words(&parsed, out),
        _ => lists::url(&parsed, out),
    }
}

/// The help of a command, or the nearest command there is.
fn help_of(name: &str) -> Result<&'static str, Failure> {
    help::of(name).ok_or_else(|| {
        let d = Diagnostic::error("", "", format!("no such command: {name}"));
        let near = bioscope_scenario::diagnostic::nearest(name, help::COMMANDS.iter().map(|(n, _)| *n));
        let d = near.iter().fold(d, |d, n| d.suggest(*n));
        Failure::bad(format!("{d}\nbioscope --help lists the commands"))
    })
}
