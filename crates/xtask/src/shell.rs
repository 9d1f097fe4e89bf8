//! Folders, and commands run in the repository's root with their output passed through.
//!
//! Models: nothing.
//! Rule: every failure is a sentence that names the command; nothing is retried or ignored.
//! Leaves out: shells, pipes, platforms other than Unix.

use std::env;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

pub type Result<T> = std::result::Result<T, String>;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("crates/xtask is two folders deep").to_path_buf()
}

/// Where tools are kept between runs and clones.
pub fn cache() -> Result<PathBuf> {
    let base = match (env::var_os("XDG_CACHE_HOME"), env::var_os("HOME")) {
        (Some(cache), _) if Path::new(&cache).is_absolute() => PathBuf::from(cache),
        (_, Some(home)) => PathBuf::from(home).join(".cache"),
        _ => return Err("neither XDG_CACHE_HOME nor HOME is set: no place for the tools".into()),
    };
    Ok(base.join("bioscope"))
}

/// Where scripts leave what they measured, ignored by git.
pub fn out_dir() -> Result<PathBuf> {
    let dir = root().join("out");
    std::fs::create_dir_all(&dir).map_err(|error| format!("{}: {error}", dir.display()))?;
    Ok(dir)
}

/// A command in the repository's root, without standard input.
pub fn command(program: &str, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(args).current_dir(root()).stdin(Stdio::null());
    command
}

pub fn cargo(args: &[&str]) -> Command {
    command("cargo", args)
}

/// Runs the command and fails unless it exits with 0.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command.status().map_err(|error| format!("{}: {error}", describe(command)))?;
    check(command, status)
}

/// Runs the command with its standard output going to `file`.
pub fn run_into(command: &mut Command, file: &Path) -> Result<()> {
    let sink = File::create(file).map_err(|error| format!("{}: {error}", file.display()))?;
    run(command.stdout(sink))
}

/// Standard output of the command, trimmed.
pub fn output(command: &mut Command) -> Result<String> {
    let output =
        command.stderr(Stdio::inherit()).output().map_err(|error| format!("{}: {error}", describe(command)))?;
    check(command, output.status)?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}

fn check(command: &Command, status: ExitStatus) -> Result<()> {
    if status.success() { Ok(()) } else { Err(format!("{}: {status}", describe(command))) }
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The first of `names` that is an executable file in a folder of PATH.
pub fn find_on_path(names: &[&str]) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|file| file.is_file())
}

/// Does a piece of work, with its name before and its time after.
pub fn timed<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    println!("==> {name}");
    let start = Instant::now();
    let result = work();
    let verdict = if result.is_ok() { "done" } else { "FAILED" };
    println!("<== {name}: {verdict} in {:.1} s", start.elapsed().as_secs_f64());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_holds_the_workspace() {
        assert!(root().join("Cargo.toml").is_file() && root().join("index.html").is_file());
    }

    #[test]
    fn failures_name_the_command() {
        assert_eq!(run(&mut command("false", &["-x"])).unwrap_err(), "false -x: exit status: 1");
        assert!(run(&mut command("no-such-program", &[])).unwrap_err().starts_with("no-such-program: "));
    }
}
