//! `bioscope render` and `bioscope site` as their users meet them: files, words, exit status.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn bioscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bioscope")).args(args).output().expect("the command starts")
}

/// A folder of its own, gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bioscope-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn done(args: &[&str]) {
    let o = bioscope(args);
    let said = (String::from_utf8_lossy(&o.stdout), String::from_utf8_lossy(&o.stderr));
    assert_eq!(o.status.code(), Some(0), "{args:?}: {said:?}");
    assert!(o.stdout.is_empty() && o.stderr.is_empty(), "{args:?}: {said:?}");
}

fn said(args: &[&str], status: i32) -> String {
    let o = bioscope(args);
    assert_eq!(o.status.code(), Some(status), "{args:?}");
    assert!(o.stdout.is_empty());
    String::from_utf8_lossy(&o.stderr).into_owned()
}

#[test]
fn a_failed_write_leaves_its_flag_to_be_seen() {
    let folder = Folder::new("fault");
    let file = folder.file("x.svg");
    done(&["render", "iodepth=8&fault=586194944+8", "--at", "0.0412s", "--view", "zwplugs,why", "-o", &file]);
    let svg = fs::read_to_string(&file).unwrap();
    for words in ["0 bios · NEED_WP_UPDATE", "plugged in 0 zones", "aborts 15 bios or pieces of bios"] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn an_svg_stands_alone() {
    let folder = Folder::new("svg");
    for theme in ["light", "dark", "grey"] {
        let file = folder.file("x.svg");
        done(&["render", "smr-seq-write", "--at", "1.2s+1", "--set", "iodepth=32", "--theme", theme, "-o", &file]);
        let svg = fs::read_to_string(&file).unwrap();
        for words in [
            "<title>Sequential writes at depth on an SMR disk</title>",
            "t = 1.",
            ", event ",
            "iodepth=32",
            "zoned_qd1_writes=1",
            "mean so far",
            "Where a MiB's time goes",
            "rings published",
            "#v=1&amp;p=smr-seq-write&amp;iodepth=32&amp;t=1.2s+1",
        ] {
            assert!(svg.contains(words), "{theme}: {words}");
        }
        let inside = svg.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for outside in ["http", "href", "<script", "<style", "style=", "<image", "@import"] {
            assert!(!inside.contains(outside), "{theme}: {outside}");
        }
        if theme == "grey" {
            let colours = svg.match_indices('#').map(|(i, _)| &svg[i + 1..]).filter(|c| c.len() > 6);
            for c in colours.map(|c| &c[..6]).filter(|c| c.chars().all(|c| c.is_ascii_hexdigit())) {
                assert!(c[..2].eq_ignore_ascii_case(&c[2..4]) && c[2..4].eq_ignore_ascii_case(&c[4..]), "#{c}");
            }
        }
    }
}

#[test]
fn any_title_makes_valid_xml() {
    let folder = Folder::new("render-title");
    let file = folder.file("a.svg");
    done(&["render", "smr-seq-write", "--title", "]]> <&\" \u{fffe}\u{ffff}\u{1}\u{85}", "-o", &file]);
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.contains("<title>]]&gt; &lt;&amp;&quot; \u{fffd}\u{fffd}\u{fffd}\u{fffd}</title>"));
    assert!(!svg.contains(|c: char| c.is_control() && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}')));
    let words = said(&["render", "smr-seq-write", "--title", &"W".repeat(201), "-o", &file], 2);
    assert!(words.contains("--title has 201 characters: must be at most 200"), "{words}");
}

#[test]
fn a_png_has_the_size_asked_for() {
    let folder = Folder::new("png");
    let file = folder.file("x.PNG");
    let args = ["render", "smr-seq-write", "--view", "drive", "--side", "a", "--width", "500", "--height", "420"];
    done(&[&args[..], &["-o", &file]].concat());
    let png = fs::read(&file).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (500, 420));
}

#[test]
fn what_a_link_shows_is_what_is_drawn() {
    let folder = Folder::new("view");
    let file = folder.file("x.svg");
    done(&["render", "#v=1&p=smr-xfs-256m&view=zwplugs,why&t=1.5s", "-o", &file]);
    let svg = fs::read_to_string(&file).unwrap();
    assert!(svg.contains(">zone write plugs<") && svg.contains(">Why, run A<") && svg.contains("t = 1.500 000 s"));
    assert!(!svg.contains(">SMR disk<") && !svg.contains(">Throughput<"));
}

#[test]
fn a_fork_and_settings_of_single_jobs_are_named() {
    let folder = Folder::new("fork");
    let file = folder.file("x.svg");
    let link = "#v=1&p=smr-rand-zones&job1.iodepth=4&b.at=1.2s&view=strip&t=1.5s";
    done(&["render", link, "-o", &file]);
    let svg = fs::read_to_string(&file).unwrap();
    for words in ["job1.iodepth=4", ">zoned_qd1_writes=0<", ">zoned_qd1_writes=1 from 1.200 000 s<", "b.at=1.2s"] {
        assert!(svg.contains(words), "{words}");
    }
}

#[test]
fn refusals_are_worded() {
    let preset = "smr-seq-write";
    let cases: [(&[&str], i32, &str); 12] = [
        (&[], 2, "error: -o FILE is missing: a name that ends in .svg or .png\n"),
        (&["-o", "x.gif"], 2, "error: -o x.gif: the name must end in .svg or .png\n"),
        (&["-o", "x.svg", "--width", "199"], 2, "error: --width 199: must be 200 to 4000\n"),
        (&["-o", "x.svg", "--height", "4001"], 2, "error: --height 4001: must be 200 to 4000\n"),
        (&["-o", "x.svg", "--theme", "blue"], 2, "error: --theme blue: must be light, dark or grey\n"),
        (&["-o", "x.svg", "--at", "soon"], 2, "error: --at=soon"),
        (&["-o", "x.svg", "--view", "drives"], 2, "error: --view=drives: no such panel"),
        (&["-o", "x.svg", "--at", "10min"], 2, "error: no moment at 600.000 000 s: the run ends at "),
        (&["-o", "x.svg", "--width", "300"], 2, "error: these panels need a width of 320; --view chooses fewer\n"),
        (&["-o", "x.svg", "--height", "300"], 2, "error: these panels need a height of "),
        (&["-o", "/no-such-folder/x.svg", "--view", "drive"], 2, "error: cannot write /no-such-folder/x.svg: "),
        (
            &["-o", "x.svg", "--set", "runtime=1h", "--set", "size=20000z", "--view", "drive"],
            1,
            "error: more than 5,000,000 events, after ",
        ),
    ];
    for (args, status, words) in cases {
        let line = said(&[&["render", preset], args].concat(), status);
        assert!(line.lines().any(|l| l.starts_with(words.trim_end())), "{args:?}: {line}");
        assert!(!std::path::Path::new("x.svg").exists());
    }
}

#[test]
fn a_site_has_a_page_a_preview_and_two_posters_a_preset() {
    let folder = Folder::new("site");
    let at = folder.file("p");
    let line = said(&["site", "-o", &at], 0);
    assert!(line.starts_with("note: without --base-url"), "{line}");
    let page = fs::read_to_string(folder.file("p/smr-seq-write.html")).unwrap();
    assert!(page.contains("url=../#v=1&amp;p=smr-seq-write\"") && page.contains("property=\"og:title\""));
    assert!(!page.contains("og:image") && !page.contains("og:url") && !page.contains("<script"));
    done(&["site", "-o", &at, "--base-url", "https://example.org/bioscope"]);
    let page = fs::read_to_string(folder.file("p/smr-seq-write.html")).unwrap();
    for (name, content) in [("og:url", "p/smr-seq-write.html"), ("og:image", "p/smr-seq-write.png")] {
        let meta = format!("property=\"{name}\" content=\"https://example.org/bioscope/{content}\"");
        assert!(page.contains(&meta), "{meta}");
    }
    let png = fs::read(folder.file("p/smr-rand-zones.png")).unwrap();
    assert_eq!(&png[16..24], [0, 0, 1200u16.to_be_bytes()[0], 1200u16.to_be_bytes()[1], 0, 0, 2, 118]);
    let list = fs::read_to_string(folder.file("p/presets.js")).unwrap();
    let json = list.strip_prefix("globalThis.bioscopePresets = ").unwrap().trim_end().strip_suffix(';').unwrap();
    let presets: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!(presets["smr-seq-write"]["t"], "1.05s");
    for name in presets.as_object().unwrap().keys() {
        for ending in [".html", ".png", "-dark.svg", "-light.svg"] {
            assert!(fs::metadata(folder.file(&format!("p/{name}{ending}"))).unwrap().len() > 500, "{name}{ending}");
        }
    }
    assert_eq!(said(&["site"], 2), "error: -o FOLDER is missing: where the pages go\n");
    let words = "error: --base-url example.org: must be the http or https address of a folder\n";
    assert_eq!(said(&["site", "-o", &at, "--base-url", "example.org"], 2), words);
}
