//! The command as its users meet it: whole processes, their output and exit status.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn bioscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bioscope")).args(args).output().expect("the command starts")
}

fn out(o: &Output) -> String {
    String::from_utf8_lossy(&o.stdout).into_owned()
}

fn err(o: &Output) -> String {
    String::from_utf8_lossy(&o.stderr).into_owned()
}

/// Standard output of a command that must succeed without a word on standard error.
fn done(args: &[&str]) -> String {
    let o = bioscope(args);
    assert_eq!(o.status.code(), Some(0), "{args:?}: {}", err(&o));
    assert_eq!(err(&o), "", "{args:?}");
    out(&o)
}

/// Standard error of a command that must be refused as bad input.
fn refused(args: &[&str]) -> String {
    let o = bioscope(args);
    assert_eq!(o.status.code(), Some(2), "{args:?}: {} {}", out(&o), err(&o));
    assert_eq!(out(&o), "", "{args:?}");
    err(&o)
}

fn json(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&done(args)).expect("JSON")
}

#[test]
fn every_command_has_help_that_names_its_options() {
    assert!(done(&["--help"]).contains("bioscope run SCENARIO"));
    for (command, options) in [
        ("run", "--set --side --json"),
        ("iostat", "--reads --megabytes --set --side"),
        ("gaps", "--device --set --side"),
        ("debugfs", "--at --set --side"),
        ("sweep", "--over --seeds --set --side --csv"),
        ("trace", "--until --actions --set --side"),
        ("render", "--output --at --view --title --theme --width --height --set --side"),
        ("site", "--output --base-url"),
        ("validate", "--json --check"),
        ("params", "--fitted --json --markdown"),
        ("attributes", "--set change="),
        ("presets", "--json"),
        ("url", "--set --file"),
    ] {
        let text = done(&[command, "--help"]);
        assert_eq!(text, done(&["help", command]));
        for option in options.split(' ') {
            assert!(text.contains(option), "{command} {option}");
        }
    }
    assert!(done(&["--version"]).starts_with("bioscope "));
}

#[test]
fn run_prints_a_summary_and_the_same_hash_twice() {
    let args = ["run", "smr-seq-write", "--set", "runtime=2s", "--side", "both"];
    let text = done(&args);
    assert_eq!(text, done(&args));
    for part in
        ["smr-seq-write A: (g=0): rw=write", "smr-seq-write B:", "write: IOPS=", "MiB/s (", "50.00th=[", "hash="]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn run_as_json_has_the_published_keys() {
    let v = json(&["run", "smr-seq-write", "--set", "runtime=2s", "--json"]);
    for key in [
        "scenario",
        "model_version",
        "hash",
        "window_ns",
        "bw_MBps",
        "iops",
        "lat_ns",
        "parts_ns",
        "seeks",
        "steps",
        "configuration_hash",
    ] {
        assert!(!v[key].is_null(), "{key}");
    }
    for key in ["q2g", "g2i", "i2d", "d2c", "q2c"] {
        assert!(v["parts_ns"][key].is_u64(), "{key}");
    }
    assert_eq!(v["scenario"], "v=1&p=smr-seq-write&runtime=2s");
    // A link, its fragment and a file give the same run.
    for scenario in ["https://example.org/x/#v=1&p=smr-seq-write&runtime=2s", "p=smr-seq-write&runtime=2s"] {
        assert_eq!(json(&["run", scenario, "--json"])["hash"], v["hash"]);
    }
    let path = std::env::temp_dir().join(format!("bioscope-cli-{}.bioscope", std::process::id()));
    std::fs::write(&path, done(&["url", "smr-seq-write", "--set", "runtime=2s", "--file"])).unwrap();
    let from_file = json(&["run", path.to_str().unwrap(), "--json"]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(from_file["hash"], v["hash"]);
    assert_eq!(
        json(&["run", "smr-seq-write", "--set", "runtime=1s", "--side", "both", "--json"]).as_array().unwrap().len(),
        2
    );
}

#[test]
fn all_problems_are_said_at_once() {
    let text = refused(&[
        "run",
        "smr-seq-write",
        "--set",
        "iodept=4",
        "--set",
        "bs=3k",
        "--set",
        "scheduler=none",
        "--set",
        "nr_requests=64",
    ]);
    assert_eq!(
        text,
        "error: iodept=4: no such parameter; try iodepth\n\
         error: nr_requests=64: without a scheduler the kernel refuses more than the 32 hardware tags (EINVAL); \
         try scheduler=mq-deadline\n\
         error: bs=3KiB: not a multiple of the disk's 4 KiB block; try 4KiB\n"
    );
}

#[test]
fn settings_of_disks_may_stand_before_the_stack() {
    let link = "v=1&stack=raid0&drive=capped&raid_disks=3&sda.wiops=43&sdc.nomerges=2";
    let mut set: Vec<&str> = link.split('&').skip(1).flat_map(|edit| ["--set", edit]).collect();
    for _ in 0..5 {
        set.rotate_left(2);
        let args = ["url", "#v=1"].into_iter().chain(set.iter().copied()).collect::<Vec<_>>();
        assert_eq!(done(&args), done(&["url", link]));
    }
}

#[test]
fn bad_command_lines_are_refused() {
    assert!(refused(&[]).contains("bioscope run SCENARIO"));
    for (args, message) in [
        (&["rum", "x"][..], "error: no such command: rum; try run\nbioscope --help lists the commands\n"),
        (&["run"], "error: a scenario is missing: a preset, a file or a link\n"),
        (&["run", "a=1", "b=2"], "error: unexpected argument \"b=2\"\n"),
        (&["run", "smr-seq-wrte"], "error: no preset, file or link is called smr-seq-wrte; try smr-seq-write\n"),
        (&["run", "smr-seq-write", "--sides", "b"], "error: invalid option '--sides'\n"),
        (&["run", "smr-seq-write", "--side", "c"], "error: --side c: must be a, b or both\n"),
        (&["run", "iodepth=4", "--side", "b"], "error: this scenario has no run B; --set b.KEY=VALUE makes one\n"),
        (&["run", "smr-seq-write", "--set", "iodepth"], "error: iodepth: --set takes KEY=VALUE\n"),
        (
            &["run", "v=9"],
            "error: character 1: v=9: this link was made by a newer bioscope: open it there, or update this one\n",
        ),
        (&["sweep", "iodepth=4"], "error: nothing to sweep: give --over KEY=VALUES\n"),
        (
            &["sweep", "smr-seq-write", "--over", "iodepth=0"],
            "error: --over=0: iodepth: out of range (allowed: 1 to 4096)\n",
        ),
        (&["sweep", "smr-seq-write", "--seeds", "0"], "error: --seeds 0: must be 1 to 10000\n"),
        (&["trace", "smr-seq-write", "--until", "soon"], "error: --until soon: not a number\n"),
        (&["trace", "smr-seq-write", "--side", "both"], "error: --side both: a trace is of one run, a or b\n"),
        (
            &["validate", "seed-999"],
            "error: no table is called seed-999 (allowed: seed-000, seed-001, seed-002, seed-003, 02, 05, 06, 09, 11, 12, 13, 18, 20, 21, 27, 29, 33)\n",
        ),
        (
            &["sweep", "smr-seq-write", "--over", "iodepth=1..5000*2"],
            "error: --over=5000: iodepth: out of range (allowed: 1 to 4096)\n",
        ),
        (
            &["sweep", "smr-seq-write", "--over", "bs=4k..8k"],
            "error: --over=4k..8k: bs: not of the form FROM..TO*FACTOR or FROM..TO+STEP\n",
        ),
        (
            &["sweep", "smr-seq-write", "--over", "seed=1,2"],
            "error: --over=seed: seeds are not swept but averaged over; try --seeds N\n",
        ),
        (
            &["run", "smr-seq-write", "--set", "b.at=soon"],
            "error: b.at=soon: not a number (allowed: a time; 0 is a run of its own)\n",
        ),
        (
            &["run", "smr-seq-write", "--set", "b.iodepth=4", "--set", "b.at=1s", "--side", "b"],
            "error: b.iodepth=4: needs a new run: it cannot change at b.at=1s; try b.at=0\n",
        ),
        (
            &["run", "smr-seq-write", "--set", "job0.scheduler=none"],
            "error: job0.scheduler=none: is a setting of disks; try scheduler=none\n",
        ),
        (&["help", "swep"], "error: no such command: swep; try sweep\nbioscope --help lists the commands\n"),
        (&["help", "nope"], "error: no such command: nope\nbioscope --help lists the commands\n"),
        (&["params", "iodepth"], "error: unexpected argument \"iodepth\"\n"),
    ] {
        assert_eq!(refused(args), message, "{args:?}");
    }
    assert!(
        refused(&["trace", "smr-seq-write", "--actions", "GY"])
            .starts_with("error: --actions GY: no action is called \"Y\"")
    );
    let path = std::env::temp_dir().join(format!("bioscope-empty-{}.json", std::process::id()));
    std::fs::write(&path, "[]").unwrap();
    let message = refused(&["validate", "--check", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert!(message.ends_with(": the list of limits is empty, so nothing would be compared\n"), "{message}");
    assert!(refused(&["validate", "--check", "/nonexistent"]).starts_with("error: --check /nonexistent: "));
}

#[test]
fn warnings_do_not_stop_a_run() {
    let o = bioscope(&["run", "iodepth=4&colour=red&runtime=100ms"]);
    assert_eq!(o.status.code(), Some(0));
    assert_eq!(err(&o), "warning: character 11: colour=red: no such key: it is kept and does nothing\n");
}

#[test]
fn errors_of_the_simulated_disk_are_counted_not_failures() {
    let o = bioscope(&["run", "p=smr-seq-write&runtime=1s&fault=586162176+8", "--json"]);
    assert_eq!(o.status.code(), Some(0));
    assert!(
        err(&o).starts_with("note: smr-seq-write: ") && err(&o).contains(" I/Os ended with an error, and fio jobs"),
        "{}",
        err(&o)
    );
    let v: serde_json::Value = serde_json::from_str(&out(&o)).expect("JSON");
    assert!(v["errors"].as_u64() > Some(0));
}

#[test]
fn traces_are_blkparse_text() {
    let text = done(&["trace", "smr-seq-write", "--until", "10ms", "--actions", "GD"]);
    assert_eq!(text.lines().next(), Some("  8,0    0        3     0.000000000  1000  G  WS 586153984 + 1344 [fio]"));
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert!(matches!(fields[5], "G" | "D") && fields[6] == "WS", "{line}");
        assert!(fields[3] <= "0.010000000", "{line}");
    }
    let all = done(&["trace", "smr-seq-write", "--until", "10ms", "--actions", "all"]);
    assert!(all.lines().any(|l| l.contains(" transfer ")), "{all}");
    assert!(done(&["trace", "smr-seq-write", "--until", "10ms", "--side", "b"]).contains("[sda_zwplugs_worker]"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_bioscope"))
        .args(["trace", "smr-seq-write"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = [0; 64];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    let o = child.wait_with_output().unwrap();
    assert_eq!((o.status.code(), err(&o).as_str()), (Some(0), ""));
}

#[test]
fn sweeps_use_the_row_settings_and_cross_their_keys() {
    let args = ["sweep", "smr-seq-write", "--set", "size=4z", "--set", "ramp_size=256MiB", "--csv"];
    let text = done(&[&args[..], &["--over", "iodepth=1..4*4", "--over", "hba=ahci,mpi3mr", "--seeds", "2"]].concat());
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "iodepth,hba,side,seeds,mean,sd,unit");
    let heads: Vec<String> = lines[1..].iter().map(|l| l.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(
        heads,
        [
            "1,ahci,a,2",
            "1,ahci,b,2",
            "1,mpi3mr,a,2",
            "1,mpi3mr,b,2",
            "4,ahci,a,2",
            "4,ahci,b,2",
            "4,mpi3mr,a,2",
            "4,mpi3mr,b,2"
        ]
    );
    assert!(lines[1..].iter().all(|l| l.ends_with(",MiB/s")));
    assert!(done(&[&args[..6], &["--over", "iodepth=2"]].concat()).starts_with("iodepth  side  seeds  mean"));
}

#[test]
fn forks_run_as_a_until_they_part() {
    let link = "p=smr-seq-write&runtime=2s&b.at=1.2s";
    let v = json(&["run", link, "--side", "both", "--json"]);
    let alone = json(&["run", "p=smr-seq-write&runtime=2s", "--side", "both", "--json"]);
    assert_eq!(v[0]["hash"], alone[0]["hash"]);
    assert!(v[1]["hash"] != v[0]["hash"] && v[1]["hash"] != alone[1]["hash"]);
    assert_ne!(v[1]["configuration_hash"], alone[1]["configuration_hash"]);
    assert_eq!(
        json(&["run", "smr-seq-write", "--set", "runtime=2s", "--set", "b.at=1.2s", "--side", "both", "--json"]),
        v
    );
    let trace = |side, until| done(&["trace", link, "--until", until, "--actions", "all", "--side", side]);
    assert_eq!(trace("a", "1.199999999s"), trace("b", "1.199999999s"));
    assert_ne!(trace("a", "1.3s"), trace("b", "1.3s"));
    // The end of this run is only known once it was made.
    let o = bioscope(&["run", "size=1z&b.zoned_qd1_writes=1&b.at=20s", "--side", "b"]);
    assert_eq!(o.status.code(), Some(0));
    let message = err(&o);
    assert!(
        message.starts_with("warning: scenario B: b.at=20s: the run is over at ")
            && message.ends_with("so nothing changes in run B\n"),
        "{message}"
    );
}

#[test]
fn where_only_run_a_is_asked_for_what_is_wrong_with_b_is_a_warning() {
    let link = "size=1z&runtime=1s&b.iodepth=4&b.at=0.5s";
    let words = "b.iodepth=4: needs a new run: it cannot change at b.at=0.5s; try b.at=0\n";
    for args in
        [&["run", link][..], &["trace", link, "--until", "1ms"], &["sweep", link, "--side", "a", "--over", "bs=1m"]]
    {
        let o = bioscope(args);
        assert_eq!((o.status.code(), err(&o)), (Some(0), ["warning: ", words].concat()), "{args:?}");
    }
    assert_eq!(refused(&["run", link, "--side", "both"]), ["error: ", words].concat());
}

#[test]
fn sweeps_do_not_fork_and_say_so() {
    let own = "p=smr-seq-write&runtime=1s&size=2z&ramp_size=1MiB&sw=iodepth:4";
    let note = "note: b.at=0.9s: a sweep compares whole runs: run B has its settings from the start\n";
    for args in [&["sweep", &format!("{own}&b.at=0.9s")][..], &["sweep", own, "--set", "b.at=0.9s"]] {
        let o = bioscope(args);
        assert_eq!((o.status.code(), err(&o).as_str()), (Some(0), note), "{args:?}");
        assert_eq!(out(&o), done(&["sweep", own]));
    }
    for (link, words) in [
        ("b.job0.bs=4k&b.at=1s", "error: b.job0.bs=4KiB: needs a new run: it cannot change at b.at=1s; try b.at=0\n"),
        ("b.iodepth=4&b.at=1s", "error: b.iodepth=4: needs a new run: it cannot change at b.at=1s; try b.at=0\n"),
    ] {
        assert_eq!(refused(&["sweep", link, "--over", "bs=1m"]), words);
    }
}

#[test]
fn sweeps_of_links_cross_and_average() {
    let link = "p=smr-seq-write&b=0&runtime=1s&size=2z&ramp_size=1MiB&sw=iodepth:1,4&sw2=hba:ahci,mpi3mr&seeds=2";
    let text = done(&["sweep", link, "--csv"]);
    let heads: Vec<String> = text.lines().map(|l| l.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(heads, ["iodepth,hba,side,seeds", "1,ahci,a,2", "1,mpi3mr,a,2", "4,ahci,a,2", "4,mpi3mr,a,2"]);
    assert!(done(&["sweep", link, "--over", "iodepth=2", "--seeds", "1", "--csv"]).contains("\n2,a,1,"));
}

#[test]
fn lists_are_complete() {
    let params = json(&["params", "--json"]);
    let text = done(&["params"]);
    let page = done(&["params", "--markdown"]);
    for p in params.as_array().unwrap() {
        let key = p["key"].as_str().unwrap();
        assert!(text.contains(&format!("\n  {key} = ")), "{key}");
        assert!(page.contains(&format!("\n| `{key}` |")), "{key}");
    }
    let fitted = json(&["params", "--fitted", "--json"]);
    let fitted = fitted.as_array().unwrap();
    assert!((1..=10).contains(&fitted.len()));
    for f in fitted {
        assert!(["key", "value", "unit", "calibration"].iter().all(|k| f[k].is_string()), "{f}");
        assert!(params.as_array().unwrap().iter().any(|p| p["key"] == f["key"]));
    }
    assert_eq!(done(&["params", "--fitted"]).lines().count(), fitted.len() + 1);
    let presets = json(&["presets", "--json"]);
    for p in presets.as_array().unwrap() {
        assert!(done(&["presets"]).contains(p["name"].as_str().unwrap()));
    }
}

#[test]
fn links_are_canonical() {
    assert_eq!(done(&["url", "smr-seq-write"]), "#v=1&p=smr-seq-write\n");
    assert_eq!(
        done(&["url", "t=1500ms&b.bs=2m&iodepth=8&p=smr-seq-write", "--set", "bs=1024k", "--set", "b.iodepth=16"]),
        "#v=1&p=smr-seq-write&iodepth=8&b.bs=2MiB&b.iodepth=16&t=1.5s\n"
    );
    assert!(refused(&["url", "bs=5000"]).contains("not a multiple"));
}

#[test]
fn validate_lists_every_cell_and_names_passed_limits() {
    let path = std::env::temp_dir().join(format!("bioscope-limits-{}.json", std::process::id()));
    std::fs::write(&path, r#"[{"table": "seed-000", "mean": 100, "worst": 1000}, {"variant": "baseline", "mean": 0}]"#)
        .unwrap();
    let o = bioscope(&["validate", "seed-000", "--json", "--check", path.to_str().unwrap()]);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(o.status.code(), Some(1));
    let message = err(&o);
    assert!(message.starts_with("error: baseline: mean |error| ") && message.lines().count() == 1, "{message}");
    let rows: serde_json::Value = serde_json::from_str(&out(&o)).expect("JSON");
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 44);
    for r in rows {
        for key in ["published", "simulated", "spread", "error_pct"] {
            assert!(r[key].is_f64(), "{key}: {r}");
        }
        assert!(r["calibration"].is_boolean() && r["table"] == "seed-000" && r["unit"] == "MiB/s", "{r}");
    }
    assert!(rows.iter().any(|r| r["row"] == "seq ahci QD=128" && r["variant"] == "patched"));
    assert!(rows.iter().any(|r| r["row"] == "xfs mpi3mr file=2-8MiB random" && r["variant"] == "baseline"));
}

#[test]
fn tables_of_single_runs_stay_inside_the_stored_limits() {
    let limits = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab/data/limits.json");
    let text =
        done(&["validate", "seed-002", "seed-003", "06", "09", "11", "13", "18", "20", "21", "29", "--check", limits]);
    for part in [
        "G listing, every 256 sectors                    after     matches            8          8 ",
        "far off  B, bs=10M before, B, bs=10M after: the members are unknown",
        "holds  nothing is read where every bio covers full stripes",
        "\n29: linux-block,",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("seed-000") && !text.contains("BROKEN"));
    let rows: serde_json::Value = serde_json::from_str(&done(&["validate", "21", "--json"])).unwrap();
    assert_eq!(rows[0]["unit"], "matches");
    assert_eq!((&rows[0]["published"], &rows[0]["simulated"]), (&247.0.into(), &247.0.into()));
    assert_eq!(rows.as_array().unwrap().len(), 2);
}

#[test]
fn iostat_and_gaps_are_of_the_devices() {
    let text = done(&["iostat", "raid5-dd", "--side", "both", "--reads", "-m"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 * 11 + 1);
    assert_eq!((lines[0], lines[11], lines[12]), ("raid5-dd A", "", "raid5-dd B"));
    let b: Vec<&str> = lines[14].split_whitespace().collect();
    assert_eq!((b[0], b[4], b[6]), ("sda", "42.86", "112.00"));
    // The same columns as JSON, kB for MB.
    let run: serde_json::Value = serde_json::from_str(&done(&["run", "raid5-dd", "--side", "b", "--json"])).unwrap();
    let sda = &run["devices"][0];
    assert_eq!(sda["disk_device"], "sda");
    assert_eq!(format!("{:.2}", sda["rkB/s"].as_f64().unwrap() / 1024.0), b[2]);
    assert_eq!(format!("{:.2}", sda["util"].as_f64().unwrap()), b[8]);
    assert_eq!(run["devices"].as_array().unwrap().len(), 9);
    assert!(done(&["iostat", "raid5-dd"]).starts_with("Device            r/s     rkB/s   rrqm/s"));

    let all = done(&["gaps", "raid5-dd", "--side", "b"]);
    assert!(all.starts_with("Read|Write seek\ncnt 3992, zero cnt 2994\n"), "{all}");
    // The members' gaps before the fix, with a scheduler, in the published ratio of 10:5:1:4:2.
    let sda = done(&["gaps", "raid5-dd", "--set", "scheduler=mq-deadline", "--set", "count=1000", "--device", "sda"]);
    let shares: Vec<&str> = sda.lines().skip(3).map(|l| l.split_whitespace().nth(5).unwrap()).collect();
    assert_eq!(shares, ["45.5%", "0.0%", "0.0%", "0.0%", "0.0%", "0.0%", "22.7%", "4.5%", "0.0%", "18.2%", "9.1%"]);
    assert!(refused(&["gaps", "raid5-dd", "--device", "sdx"]).contains("no device of this scenario is called so"));
    assert!(refused(&["iostat", "raid5-dd", "--device", "sda"]).contains("--device"));
    // A run whose jobs are nobody is measured all the same.
    let check = done(&["iostat", "raid6-check-36", "--reads"]);
    assert!(check.lines().nth(1).unwrap().split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() > 1000.0);
}

/// kernel 10.4: one file bare, several below their paths.
#[test]
fn debugfs_prints_tags_and_schedulers_of_a_moment() {
    let tags = done(&["debugfs", "smr-seq-write", "sched_tags", "--at", "1.05s"]);
    assert!(tags.starts_with("nr_tags=64\nnr_reserved_tags=0\nactive_queues=0\n\nbitmap_tags:\ndepth=64\n"), "{tags}");
    assert_eq!(tags, done(&["debugfs", "smr-seq-write", "/sda/hctx0/sched_tags", "--at", "1.05s", "--side", "a"]));
    let bitmap = done(&["debugfs", "smr-seq-write", "hctx0/tags_bitmap", "--at", "1.05s"]);
    assert!(bitmap.starts_with("00000000: ") && bitmap.len() == "00000000: 0000 0000\n".len(), "{bitmap}");
    let sched = done(&["debugfs", "smr-seq-write", "sched", "--at", "1.05s"]);
    assert!(sched.starts_with("==> sda/sched/read0_fifo_list <==\n\n==> "), "{sched}");
    assert!(sched.contains("\n==> sda/sched/starved <==\n0\n\n"), "{sched}");
    let all = done(&["debugfs", "raid5-dd"]);
    assert!(all.contains("==> sda/hctx0/tags <==\n") && !all.contains("md0"), "{all}");
    let unknown = refused(&["debugfs", "smr-seq-write", "sched_tag"]);
    assert!(unknown.contains("no file of this scenario's devices is called so; try sched_tags"), "{unknown}");
    assert!(refused(&["debugfs", "smr-seq-write", "--side", "both"]).contains("a file is of one run"));
    assert!(refused(&["debugfs", "smr-seq-write", "tags", "more"]).contains("unexpected argument \"more\""));
}

/// What the drive destages after the last completion is not part of the measured time.
#[test]
fn the_parts_of_a_short_run_are_parts_of_it() {
    let text = out(&bioscope(&["run", "v=1&iodepth=8&fault=586194944+8"]));
    let drive = text.lines().find(|l| l.contains("transfer=")).expect("a line about the drive");
    let shares = drive.split('=').skip(1).filter_map(|part| part.split_once('%')?.0.parse::<f64>().ok());
    let sum: f64 = shares.sum();
    assert!((99.0..=101.0).contains(&sum), "{drive}");
}

#[test]
fn a_run_says_which_zone_write_came_too_late_and_why() {
    let held = bioscope(&["run", "stack=dm-crypt&max_write_size=128KiB&iodepth=2&wiops=20&runtime=1s"]);
    assert!(
        err(&held).contains("zone writes reached their disk behind later ones, the first at 0.2s: zone 1118 of sda")
    );
    assert!(err(&held).contains("; io.max had held it back"), "{}", err(&held));
    // Without a limit the order holds, and nothing is said.
    done(&["run", "stack=dm-crypt&max_write_size=128KiB&iodepth=2&runtime=1s"]);
}
