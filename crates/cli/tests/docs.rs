//! The documentation keeps its word: its commands run as printed, and its generated page is up to date.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("two folders deep").to_path_buf()
}

/// The README and every chapter of the book.
fn pages() -> Vec<PathBuf> {
    let chapters = fs::read_dir(root().join("docs/src")).expect("the book").map(|e| e.expect("a chapter").path());
    let mut pages: Vec<PathBuf> = chapters.filter(|p| p.extension().is_some_and(|e| e == "md")).collect();
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A command of a `console` block, and the lines printed below it.
#[derive(Debug, PartialEq)]
struct Example {
    line: usize,
    command: String,
    output: Vec<String>,
}

/// Every `$ bioscope …` of the `console` blocks. A backslash at the end continues a command; other programs' commands
/// are for the reader only.
fn examples(text: &str) -> Vec<Example> {
    let mut found: Vec<Example> = Vec::new();
    let (mut fence, mut open, mut continues) = (None, false, false);
    for (n, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        match fence {
            None if line.trim_start().starts_with("```") => {
                let info = line.trim_start().trim_start_matches('`').trim();
                fence = Some((indent, info == "console"));
                open = false;
            }
            None => {}
            Some(_) if line.trim() == "```" => fence = None,
            Some((_, false)) => {}
            Some((indent, true)) => {
                let line = line.get(indent..).unwrap_or("");
                if continues {
                    let command = &mut found.last_mut().expect("a command goes on").command;
                    command.truncate(command.len() - 1);
                    command.push_str(line.trim_start());
                } else if let Some(command) = line.strip_prefix("$ ") {
                    open = command.starts_with("bioscope ");
                    if open {
                        found.push(Example { line: n + 1, command: command.into(), output: Vec::new() });
                    }
                } else if open {
                    found.last_mut().expect("output follows a command").output.push(line.into());
                    continue;
                }
                continues = open && found.last().is_some_and(|e| e.command.ends_with('\\'));
            }
        }
    }
    found
}

/// Whether the output is as printed; a line `...` stands for any lines, none included.
fn matches(expected: &[String], output: &[&str]) -> bool {
    match expected.split_first() {
        None => output.is_empty(),
        Some((dots, rest)) if dots == "..." => (0..=output.len()).any(|n| matches(rest, &output[n..])),
        Some((line, rest)) => output.first() == Some(&line.as_str()) && matches(rest, &output[1..]),
    }
}

/// Runs a page's commands one after the other in a folder of their own; says what went wrong.
fn run(page: &Path) -> Vec<String> {
    let name = page.file_stem().expect("a name").to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("bioscope-docs-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let here = Path::new(env!("CARGO_BIN_EXE_bioscope")).parent().expect("a folder").to_path_buf();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(here).chain(std::env::split_paths(&path))).expect("PATH");
    let mut wrong = Vec::new();
    for example in examples(&fs::read_to_string(page).expect("a page")) {
        let mut shell = Command::new("sh");
        // Both streams in the order in which a terminal shows them.
        let command = ["exec 2>&1\n", &example.command].concat();
        let done = shell.args(["-c", &command]).current_dir(&folder).env("PATH", &path).output().expect("a shell");
        let output = String::from_utf8_lossy(&done.stdout);
        let lines: Vec<&str> = output.lines().collect();
        let place = format!("{}:{}: $ {}", page.display(), example.line, example.command);
        if !done.status.success() {
            wrong.push(format!("{place}\n{}\n{output}", done.status));
        } else if !example.output.is_empty() && !matches(&example.output, &lines) {
            wrong.push(format!("{place}\nprinted:\n{}\nreal:\n{output}", example.output.join("\n")));
        }
    }
    fs::remove_dir_all(&folder).expect("the folder goes");
    wrong
}

#[test]
fn commands_of_the_documentation_do_what_it_says() {
    let wrong: Vec<String> = std::thread::scope(|threads| {
        let pages: Vec<_> = pages().into_iter().map(|page| threads.spawn(move || run(&page))).collect();
        pages.into_iter().flat_map(|page| page.join().expect("a page")).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn the_page_of_parameters_is_up_to_date() {
    let done = Command::new(env!("CARGO_BIN_EXE_bioscope")).args(["params", "--markdown"]).output().expect("it starts");
    let page = fs::read_to_string(root().join("docs/src/params.md")).expect("the page");
    let made = String::from_utf8(done.stdout).expect("UTF-8");
    assert!(page == made, "run: bioscope params --markdown > docs/src/params.md");
}

#[test]
fn the_words_that_the_page_fetches_are_up_to_date() {
    let done = Command::new(env!("CARGO_BIN_EXE_bioscope")).arg("words").output().expect("it starts");
    let made = String::from_utf8(done.stdout).expect("UTF-8");
    let file = fs::read_to_string(root().join("static/words.json")).expect("the file");
    assert!(file == made, "run: bioscope words > static/words.json");
    let read: serde_json::Value = serde_json::from_str(&file).expect("JSON");
    assert_eq!(read["published"]["smr-seq-write"]["128"], serde_json::json!([112.0, 246.0]));
    assert!(read["help"]["iodepth"].as_str().is_some_and(|help| help.ends_with('.')));
}

#[test]
fn console_blocks_are_read_as_a_reader_does() {
    let text = "```console\n$ bioscope run \\\n    a\nx\n...\n$ ls\ny\n```\n```sh\n$ bioscope b\n```\n1. x\n   ```console\n   $ bioscope c\n   z\n   ```\n";
    let of = |line, command: &str, output: &[&str]| Example {
        line,
        command: command.into(),
        output: output.iter().map(|s| (*s).to_string()).collect(),
    };
    assert_eq!(examples(text), [of(2, "bioscope run a", &["x", "..."]), of(14, "bioscope c", &["z"])]);
    let dots = ["a", "...", "z"].map(String::from);
    assert!(matches(&dots, &["a", "z"]) && matches(&dots, &["a", "b", "c", "z"]));
    assert!(!matches(&dots, &["a", "b"]) && !matches(&dots, &["b", "z"]) && !matches(&dots, &["a", "z", "z2"]));
}
