//! `bioscope debugfs`: what the files of /sys/kernel/debug/block would say at a moment.
//!
//! Models: nothing; the texts are those of `bioscope_formats::debugfs`.
//! Rule: one file is printed bare, several with their names, as `head` and `tail` do.
//! Leaves out: writing to them.

use std::io::Write;

use bioscope_formats::debugfs::files;
use bioscope_scenario::{Diagnostic, diagnostic};

use crate::Failure;
use crate::args::{Args, warn_of_b};
use crate::picture::Shown;
use crate::render::moment;

/// Prints the files of all devices, or those a name stands for.
pub fn debugfs(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let at = args.at.as_deref().map(moment).transpose()?;
    let (s, name) = args.scenario_and(1)?;
    let sides = args.sides(&s, "a")?;
    let [side] = sides[..] else {
        return Err(Failure::bad("--side both: a file is of one run, a or b"));
    };
    warn_of_b(&s, &sides);
    let shown = Shown::of(&s, &name, at)?;
    let devices = shown.side(side).snapshot.devices.iter();
    let all: Vec<(String, String)> =
        devices.flat_map(|d| files(d).into_iter().map(|(path, text)| (format!("{}/{path}", d.name), text))).collect();
    let wanted = args.names.get(1).map(String::as_str);
    let chosen: Vec<_> = all.iter().filter(|(path, _)| wanted.is_none_or(|w| is_called(path, w))).collect();
    match (chosen.as_slice(), wanted) {
        ([], Some(wanted)) => Err(no_file(wanted, &all)),
        ([(_, text)], Some(_)) => Ok(out.write_all(text.as_bytes())?),
        (several, _) => {
            for (n, (path, text)) in several.iter().enumerate() {
                write!(out, "{}==> {path} <==\n{text}", if n > 0 { "\n" } else { "" })?;
            }
            Ok(())
        }
    }
}

/// A file may be called by its whole path, by the end of it, or by the folder it is in.
fn is_called(path: &str, name: &str) -> bool {
    let name = name.trim_matches('/');
    let ends = path.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    ends || path.strip_prefix(name).is_some_and(|rest| rest.starts_with('/')) || path.contains(&format!("/{name}/"))
}

fn no_file(name: &str, all: &[(String, String)]) -> Failure {
    let d = Diagnostic::error("", name, "no file of this scenario's devices is called so");
    // A name without a folder is compared with names without folders.
    let known =
        all.iter().map(|(path, _)| if name.contains('/') { path } else { path.rsplit('/').next().unwrap_or(path) });
    let near = diagnostic::nearest(name, known);
    Failure::bad(near.iter().fold(d, |d, n| d.suggest(*n)))
}
