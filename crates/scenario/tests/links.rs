//! Links and files: there and back, hostile input, published links that must never change their meaning.

mod common;

use bioscope_scenario::text::{self, MAX_TEXT};
use bioscope_scenario::{
    Diagnostic, KEYS, Key, PARAMS, PRESETS, Param, Scenario, Severity, Side, check, decode, encode,
};
use common::{Rng, scenario, value};

#[test]
fn what_is_written_reads_back_the_same() {
    let mut rng = Rng(1);
    for i in 0..20_000 {
        let s = scenario(&mut rng);
        let link = encode(&s);
        let (back, problems) = decode(&link);
        assert!(!problems.iter().any(Diagnostic::is_error), "{i}: {link}: {problems:?}");
        assert_eq!(back, s, "{i}: {link}");
        assert_eq!(encode(&back), link, "{i}");
        assert_eq!(text::decode_file(&text::encode_file(&s)).0, s, "{i}: {link}");
    }
}

#[test]
fn every_value_of_every_row_reads_back_the_same() {
    let mut rng = Rng(2);
    for &key in KEYS {
        let row = Param::of(key);
        for _ in 0..500 {
            let v = value(&mut rng, key);
            assert_eq!(row.parse(&row.print(&v)), Ok(v), "{}", row.key);
        }
    }
}

#[test]
fn broken_text_never_panics() {
    let mut rng = Rng(3);
    let bytes = b"&=#%+.,:z*-b0129AFesmk\xc3\xa4\n\0 ";
    for _ in 0..20_000 {
        let mut link = encode(&scenario(&mut rng)).into_bytes();
        for _ in 0..=rng.below(6) {
            let at = rng.below(link.len() as u64 + 1) as usize;
            let byte = bytes[rng.below(bytes.len() as u64) as usize];
            match rng.below(4) {
                0 => link.truncate(at),
                1 if at < link.len() => drop(link.remove(at)),
                2 if at < link.len() => link[at] = byte,
                _ => link.insert(at, byte),
            }
        }
        let link = String::from_utf8_lossy(&link);
        let (s, _) = decode(&link);
        let _ = text::decode_file(&link);
        for side in [Side::A, Side::B] {
            let _ = check(&s, side);
        }
        // What was understood survives being written.
        assert_eq!(decode(&encode(&s)).0, s, "{link}");
    }
}

#[test]
fn random_scenarios_are_runs_or_errors() {
    let mut rng = Rng(4);
    for _ in 0..5_000 {
        let s = scenario(&mut rng);
        for side in [Side::A, Side::B] {
            let (cfg, problems) = check(&s, side);
            assert_eq!(cfg.is_none(), problems.iter().any(Diagnostic::is_error));
        }
    }
}

#[test]
fn text_over_the_limit_is_refused() {
    let long = format!("v=1&view={}", "x".repeat(MAX_TEXT));
    let (s, problems) = decode(&long);
    assert_eq!(s, Scenario::new());
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].to_string(), format!("{} bytes are too long: 16384 are read", long.len()));
}

/// Lines of `golden_urls.txt`: configuration hash of the scenario, a space, the link.
#[test]
fn published_links_keep_their_meaning() {
    let golden = include_str!("golden_urls.txt");
    let mut presets = PRESETS.iter().map(|p| p.name).collect::<Vec<_>>();
    for line in golden.lines().filter(|l| !l.starts_with('#')) {
        let (hash, link) = line.split_once(' ').unwrap();
        let (s, problems) = decode(link);
        assert!(!problems.iter().any(Diagnostic::is_error), "{link}: {problems:?}");
        assert_eq!(format!("{:016x}", s.hash()), hash, "{link}");
        let (_, _, problems) = bioscope_scenario::check_all(&s);
        assert!(!problems.iter().any(Diagnostic::is_error), "{link}: {problems:?}");
        if encode(&s) == link && s == s.preset.map(Scenario::of).unwrap_or_default() {
            assert!(link.len() <= 80, "{link}");
            presets.retain(|name| !link.ends_with(&format!("p={name}")));
        }
        assert!(link.len() <= 250, "{link}");
    }
    assert!(presets.is_empty(), "no golden link for {presets:?}");
}

/// Lines of `bad_inputs.txt`: a fragment, a tab, then every message, separated by ` | `.
#[test]
fn bad_input_gets_these_messages() {
    let mut failures = Vec::new();
    let lines = include_str!("bad_inputs.txt").lines().filter(|l| !l.starts_with('#') && !l.is_empty());
    let mut n = 0;
    for line in lines {
        n += 1;
        let (link, want) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
        let (s, mut problems) = decode(link);
        for d in bioscope_scenario::check_all(&s).2 {
            if !problems.contains(&d) {
                problems.push(d);
            }
        }
        let got: Vec<String> = problems.iter().map(|d| format!("{}: {d}", d.severity.word())).collect();
        let got = got.join(" | ");
        if got != want {
            failures.push(format!("{link}\t{got}"));
        }
    }
    assert!(failures.is_empty(), "these lines are now:\n{}", failures.join("\n"));
    assert!(n >= 40, "only {n}");
}

#[test]
fn newer_links_are_refused_in_words() {
    let (s, problems) = decode("v=2&p=smr-seq-write&iodepth=8");
    assert_eq!(s, Scenario::new());
    assert!(problems[0].message.contains("newer bioscope"), "{problems:?}");
}

#[test]
fn a_file_is_the_same_language_with_lines_and_columns() {
    let file = "# a comment\nv=1\np = smr-seq-write   # another\n\n  iodepht=8\nbs=3kb\nnonsense\n";
    let (s, problems) = text::decode_file(file);
    assert_eq!(s.preset.map(|p| p.name), Some("smr-seq-write"));
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        shown,
        [
            "line 7, column 1: nonsense: not of the form key=value",
            "line 5, column 3: iodepht=8: no such key: it is kept and does nothing; try iodepth",
            "line 6, column 1: bs=3kb: unknown unit kb (allowed: 4KiB to 256MiB); try KiB for 1024, kB for 1000",
        ]
    );
}

#[test]
fn run_b_comes_with_the_preset_and_can_be_dropped_or_changed() {
    let b = |link: &str| {
        let s = decode(link).0;
        s.b().iter().map(|(k, v)| format!("{}={}", Param::of(*k).key, Param::of(*k).print(v))).collect::<Vec<_>>()
    };
    assert_eq!(b("p=smr-seq-write"), ["zoned_qd1_writes=1"]);
    assert_eq!(b("p=smr-seq-write&b=0"), Vec::<String>::new());
    assert_eq!(b("p=smr-seq-write&b.iodepth=4"), ["iodepth=4", "zoned_qd1_writes=1"]);
    assert_eq!(b("p=smr-seq-write&b.iodepth=4&b=0"), ["iodepth=4"]);
    assert_eq!(b("b.iodepth=4"), ["iodepth=4"]);
    for link in ["v=1&p=smr-seq-write&b=0", "v=1&p=smr-seq-write&b=0&b.iodepth=4", "v=1&p=smr-seq-write&b.iodepth=4"] {
        assert_eq!(encode(&decode(link).0), link);
    }
}

#[test]
fn keys_of_later_versions_are_kept() {
    let link = "v=1&p=smr-seq-write&z=1AbC_&job1.bs=4k&b.job1.bs=8k&kolibri=a%20b&t=1s";
    let (s, problems) = decode(link);
    let notes = problems.iter().filter(|d| d.severity == Severity::Note && d.message.starts_with("not yet")).count();
    assert_eq!(notes, 3, "{problems:?}");
    assert!(problems.iter().any(|d| d.key == "kolibri" && d.severity == Severity::Warning));
    assert_eq!(encode(&s), link);
}

#[test]
fn every_row_reaches_the_run() {
    // Another valid value for each row, in a scenario where the row is in effect, gives another configuration.
    let context = |key: Key| {
        let mut s = Scenario::new();
        for (k, word) in Param::of(key).shown_when {
            s.set_text(Param::of(*k).key, word).unwrap();
        }
        s
    };
    for &key in KEYS {
        let other = match key {
            // One kernel and one drive so far; time_based only matters with a short range.
            Key::Kernel | Key::Drive => continue,
            Key::Workload => "writeback",
            Key::Rw => "read",
            Key::Bs => "2MiB",
            Key::Size | Key::Offset => "2000z",
            Key::Filesize => "4MiB-8MiB",
            Key::ZoneOrdering => "none",
            Key::Scheduler if Param::of(key).default == "none" => "mq-deadline",
            Key::Scheduler => "none",
            Key::Hba => "mpi3mr",
            Key::WriteOffMode => "media",
            Key::ZonePhase | Key::FirstFill => "random",
            Key::Fault => "600000000+8",
            Key::WriteCache | Key::FrontMerges | Key::DeadPlugRevive => "0",
            Key::Hugepages | Key::ZonedQd1Writes | Key::TimeBased | Key::Nomerges => "1",
            Key::RateOuter => "300",
            Key::RateInner | Key::InterfaceRate => "100",
            Key::WbSegmentBytes => "4096",
            Key::Runtime | Key::RampTime => "7s",
            Key::RampSize | Key::IoSize | Key::WbInFlight => "64MiB",
            Key::RevNs | Key::SubmitNs | Key::WorkerWakeNs | Key::LockWakeNs | Key::IssueNs => "7ms",
            _ => "7",
        };
        let before = context(key);
        let mut after = before.clone();
        after.set_text(Param::of(key).key, other).unwrap();
        let (a, b) = (check(&before, Side::A).0.unwrap(), check(&after, Side::A).0);
        assert_ne!(Some(a), b, "{}", Param::of(key).key);
        assert!(b.is_some(), "{}: {:?}", Param::of(key).key, check(&after, Side::A).1);
        assert_ne!(before.hash(), after.hash());
    }
}

#[test]
fn rows_are_well_formed() {
    for (i, p) in PARAMS.iter().enumerate() {
        assert_eq!(Param::of(KEYS[i]).key, p.key);
        assert!(p.key.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'), "{}", p.key);
        assert!(!PARAMS[..i].iter().any(|q| q.key == p.key), "{} twice", p.key);
        assert!(p.help.ends_with('.') && p.help.len() < 170, "{}", p.key);
        assert_eq!(p.print(&p.default_value()), p.default, "{}", p.key);
        assert!(p.min <= p.max);
        for (k, word) in p.shown_when {
            assert!(Param::of(*k).parse(word).is_ok(), "{}", p.key);
        }
    }
}
