//! The command line and the scenario it names.
//!
//! Models: nothing.
//! Rule: an option a command does not have is refused; problems of a scenario are all shown at once.
//! Leaves out: what a command does with them.

use std::io::Read;
use std::path::Path;

use bioscope_core::config::SimConfig;
use bioscope_scenario::{Diagnostic, PRESETS, Scenario, Severity, Side, check, diagnostic, preset, text};
use lexopt::{Arg, Parser, ValueExt};

use crate::{Failure, lines, say};

/// Everything a command line may hold.
#[derive(Default)]
pub struct Args {
    /// --help
    pub help: bool,
    /// Words that are not options.
    pub names: Vec<String>,
    /// --set, in order.
    pub set: Vec<String>,
    /// --side
    pub side: Option<String>,
    /// --over, in order.
    pub over: Vec<String>,
    /// --seeds
    pub seeds: Option<u64>,
    /// --until
    pub until: Option<String>,
    /// --actions
    pub actions: Option<String>,
    /// --check
    pub check: Option<String>,
    /// --json
    pub json: bool,
    /// --csv
    pub csv: bool,
    /// --fitted
    pub fitted: bool,
    /// --markdown
    pub markdown: bool,
    /// --file
    pub file: bool,
    /// --at
    pub at: Option<String>,
    /// --view
    pub view: Option<String>,
    /// --title
    pub title: Option<String>,
    /// --theme
    pub theme: Option<String>,
    /// --width
    pub width: Option<u32>,
    /// --height
    pub height: Option<u32>,
    /// -o
    pub output: Option<String>,
    /// --reads
    pub reads: bool,
    /// -m
    pub megabytes: bool,
    /// --device
    pub device: Option<String>,
    /// --base-url
    pub base_url: Option<String>,
}

/// Options of each command, besides --help.
fn options(command: &str) -> &'static [&'static str] {
    match command {
        "run" => &["set", "side", "json"],
        "iostat" => &["set", "side", "reads", "megabytes"],
        "gaps" => &["set", "side", "device"],
        "sweep" => &["set", "side", "over", "seeds", "csv"],
        "debugfs" => &["set", "side", "at"],
        "trace" => &["set", "side", "until", "actions"],
        "render" => &["set", "side", "at", "view", "title", "theme", "width", "height", "output"],
        "site" => &["base-url", "output"],
        "validate" => &["json", "check"],
        "params" => &["fitted", "json", "markdown"],
        "presets" => &["json"],
        "attributes" | "words" => &[],
        _ => &["set", "file"],
    }
}

/// Reads the rest of the command line.
pub fn parse(command: &str, parser: &mut Parser) -> Result<Args, Failure> {
    let mut a = Args::default();
    while let Some(arg) = parser.next()? {
        let option = match arg {
            Arg::Value(v) => {
                a.names.push(v.string()?);
                continue;
            }
            Arg::Long("help") | Arg::Short('h') => {
                a.help = true;
                continue;
            }
            Arg::Short('o') if options(command).contains(&"output") => "output".into(),
            Arg::Short('m') if options(command).contains(&"megabytes") => "megabytes".into(),
            Arg::Long(option) if options(command).contains(&option) => option.to_string(),
            other => return Err(other.unexpected().into()),
        };
        match option.as_str() {
            "set" => a.set.push(parser.value()?.string()?),
            "side" => a.side = Some(parser.value()?.string()?),
            "over" => a.over.push(parser.value()?.string()?),
            "until" => a.until = Some(parser.value()?.string()?),
            "actions" => a.actions = Some(parser.value()?.string()?),
            "check" => a.check = Some(parser.value()?.string()?),
            "seeds" => a.seeds = Some(parser.value()?.parse()?),
            "at" => a.at = Some(parser.value()?.string()?),
            "view" => a.view = Some(parser.value()?.string()?),
            "title" => a.title = Some(parser.value()?.string()?),
            "theme" => a.theme = Some(parser.value()?.string()?),
            "width" => a.width = Some(parser.value()?.parse()?),
            "height" => a.height = Some(parser.value()?.parse()?),
            "output" => a.output = Some(parser.value()?.string()?),
            "base-url" => a.base_url = Some(parser.value()?.string()?),
            "device" => a.device = Some(parser.value()?.string()?),
            "reads" => a.reads = true,
            "megabytes" => a.megabytes = true,
            "json" => a.json = true,
            "csv" => a.csv = true,
            "fitted" => a.fitted = true,
            "markdown" => a.markdown = true,
            _ => a.file = true,
        }
    }
    Ok(a)
}

impl Args {
    /// Refuses words where a command takes none.
    pub fn no_names(&self) -> Result<(), Failure> {
        match self.names.first() {
            None => Ok(()),
            Some(name) => Err(Failure::bad(format!("unexpected argument {name:?}"))),
        }
    }
    /// --seeds, at least 1.
    pub fn nr_seeds(&self, default: u64) -> Result<u64, Failure> {
        match self.seeds.unwrap_or(default) {
            n @ 1..=10_000 => Ok(n),
            n => Err(Failure::bad(format!("--seeds {n}: must be 1 to 10000"))),
        }
    }
    /// The scenario with its --set edits, and the name it is shown under. Errors are all in the failure; what else
    /// there is to say goes to standard error.
    pub fn scenario(&self) -> Result<(Scenario, String), Failure> {
        self.scenario_and(0)
    }
    /// The same where up to `more` words may follow it.
    pub fn scenario_and(&self, more: usize) -> Result<(Scenario, String), Failure> {
        let Some(name) = self.names.first() else {
            return Err(Failure::bad("a scenario is missing: a preset, a file or a link"));
        };
        if let Some(word) = self.names.get(more + 1) {
            return Err(Failure::bad(format!("unexpected argument {word:?}")));
        }
        let (mut s, mut problems) = load(name)?;
        for edit in self.edits() {
            let edited = match edit.split_once('=') {
                Some((key, value)) => s.set_text(key.trim(), value),
                None => Err(Diagnostic::error(edit, "", "--set takes KEY=VALUE")),
            };
            problems.extend(edited.err());
        }
        if problems.iter().any(Diagnostic::is_error) {
            // Rules over several keys are worth naming in the same breath.
            for d in check::check_all(&s).2 {
                if !problems.contains(&d) {
                    problems.push(d);
                }
            }
            return Err(Failure::Bad(lines(&problems)));
        }
        say(&lines(&problems));
        let shown = s.preset.map_or_else(|| short_name(name), |p| p.name.to_string());
        Ok((s, shown))
    }
    /// The --set edits once more, on a scenario whose settings were replaced meanwhile; they were valid before.
    pub fn edit(&self, s: &mut Scenario) {
        for (key, value) in self.edits().filter_map(|e| e.split_once('=')) {
            drop(s.set_text(key.trim(), value));
        }
    }
    /// The --set edits in the order in which they act: kernel and stack before what depends on them.
    fn edits(&self) -> impl Iterator<Item = &str> {
        let first = |edit: &&str| edit.split_once('=').is_some_and(|(key, _)| text::FIRST_KEYS.contains(&key.trim()));
        let edits = || self.set.iter().map(String::as_str);
        edits().filter(first).chain(edits().filter(move |edit| !first(edit)))
    }
    /// The sides asked for; `both` for a scenario without run B is bad input.
    pub fn sides(&self, s: &Scenario, default: &str) -> Result<Vec<Side>, Failure> {
        let sides = match self.side.as_deref().unwrap_or(default) {
            "a" => vec![Side::A],
            "b" => vec![Side::B],
            "both" => vec![Side::A, Side::B],
            other => return Err(Failure::bad(format!("--side {other}: must be a, b or both"))),
        };
        if sides.contains(&Side::B) && !s.has_b() {
            return Err(Failure::bad("this scenario has no run B; --set b.KEY=VALUE makes one"));
        }
        Ok(sides)
    }
}

/// Configurations of the sides, all errors of all of them at once; what else there is to say goes to standard error,
/// once however often it is found: `said` remembers.
pub fn configs(s: &Scenario, sides: &[Side], said: &mut Vec<Diagnostic>) -> Result<Vec<SimConfig>, Failure> {
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut configs = Vec::new();
    for side in sides {
        let (cfg, more) = check::check(s, *side);
        configs.extend(cfg);
        for d in more {
            if !problems.contains(&d) {
                problems.push(d);
            }
        }
    }
    if configs.len() < sides.len() {
        return Err(Failure::Bad(lines(&problems)));
    }
    problems.retain(|d| !said.contains(d));
    say(&lines(&problems));
    said.extend(problems);
    Ok(configs)
}

/// What is wrong with run B and not with A.
pub fn errors_of_b(s: &Scenario) -> Vec<Diagnostic> {
    if !s.has_b() {
        return Vec::new();
    }
    let of_a = check::check(s, Side::A).1;
    check::check(s, Side::B).1.into_iter().filter(|d| d.is_error() && !of_a.contains(d)).collect()
}

/// Where only run A is asked for, it is made whatever B has; what is wrong there is a warning.
pub fn warn_of_b(s: &Scenario, sides: &[Side]) {
    if sides.contains(&Side::B) {
        return;
    }
    let mut problems = errors_of_b(s);
    for d in &mut problems {
        d.severity = Severity::Warning;
    }
    say(&lines(&problems));
}

/// Reads a preset, a link, or a file.
fn load(name: &str) -> Result<(Scenario, Vec<Diagnostic>), Failure> {
    if let Some(p) = preset::find(name) {
        return Ok((Scenario::of(p), Vec::new()));
    }
    if Path::new(name).is_file() {
        // One byte more than a scenario may have: the decoder then says that it is too long.
        let mut content = Vec::new();
        let read = std::fs::File::open(name).and_then(|f| f.take(text::MAX_TEXT as u64 + 1).read_to_end(&mut content));
        read.map_err(|e| Failure::bad(format!("{name}: {e}")))?;
        return match String::from_utf8(content) {
            Ok(content) => Ok(text::decode_file(&content)),
            Err(_) => Err(Failure::bad(format!("{name}: not a text file"))),
        };
    }
    // A link has a fragment; a bare fragment has no folder before its first `=`.
    let bare = name.split_once('=').is_some_and(|(key, _)| !key.contains(['/', '\\', ' ']));
    if name.contains('#') || bare {
        return Ok(text::decode(text::fragment_of(name)));
    }
    let d = Diagnostic::error("", "", format!("no preset, file or link is called {name}"));
    let near = diagnostic::nearest(name, PRESETS.iter().map(|p| p.name));
    Err(Failure::bad(near.iter().fold(d, |d, n| d.suggest(*n))))
}

/// The name of a file without folder and ending; links have none.
fn short_name(name: &str) -> String {
    if name.contains(['#', '=']) {
        return "scenario".into();
    }
    Path::new(name).file_stem().map_or_else(|| "scenario".into(), |n| n.to_string_lossy().into_owned())
}
