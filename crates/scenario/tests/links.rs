//! Links and files: there and back, hostile input, published links that must never change their meaning.

mod common;

use bioscope_core::config::{Change, FirstFill, JobConfig, Rw, WorkloadConfig};
use bioscope_scenario::text::{self, MAX_TEXT};
use bioscope_scenario::{
    Diagnostic, Instance, KEYS, Key, Moment, PARAMS, PRESETS, Param, Scenario, Scope, Severity, Side, check, decode,
    encode,
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
        assert_eq!(decode(&encode(&s)).0, s, "{link}");
        if encode(&s) == link && s == s.preset.map(Scenario::of).unwrap_or_default() {
            presets.retain(|name| !link.ends_with(&format!("p={name}")));
        }
    }
    assert!(presets.is_empty(), "no golden link for {presets:?}");
}

#[test]
fn links_are_short() {
    for p in PRESETS {
        let mut s = Scenario::of(p);
        assert!(encode(&s).len() <= 80, "{}", encode(&s));
        // With the moment one stands at, and where B forks.
        s.t = Some(Moment { ns: 12_345_678_901, k: 12 });
        s.fork = Some(1_234_567_891);
        assert!(encode(&s).len() <= 80, "{}", encode(&s));
    }
    // What people change: a few settings, another run B, a fork, a sweep, what is shown.
    for edits in [
        "iodepth=128&nr_requests=256&max_sectors_kb=1024&hba=mpi3mr&queue_depth=16",
        "b=0&b.scheduler=none&b.nomerges=2&b.iodepth=4&b.hugepages=1",
        "zone_phase=random&first_fill=random&size=128z&max_open_zones=64&seed=12345&runtime=90s&ramp_time=10s",
        "rev_ns=11111111ns&rate_outer=250MiB/s&rate_inner=120MiB/s&settle_ns=1500us&seek_full_ns=15ms&zone_reset_ns=200ms",
        "numjobs=4&job0.bs=4KiB&job1.rw=randwrite&job1.size=16z&job2.iodepth=32&job3.offset=2000z&b.job3.bs=64KiB",
        "sw=iodepth:1,2,4,8,16,32,64,128&sw2=scheduler:none,mq-deadline&seeds=6&view=throughput,time",
        "fault=586162176+8@1s-2s:medium,586170368+8&write_cache=0&write_off_mode=media&view=zwplugs,tags,drive,strip",
        "numjobs=8&job0.iodepth=1&job1.iodepth=2&job2.iodepth=4&job3.iodepth=8&job4.iodepth=16&job5.iodepth=32&\
         job6.iodepth=64&job7.iodepth=128&job0.bs=4KiB&job1.bs=4KiB&job2.bs=4KiB&job3.bs=4KiB",
    ] {
        let (s, problems) = decode(&format!("p=smr-rand-zones&{edits}&b.at=1.234567891s&t=12.345678901s+12"));
        assert!(problems.is_empty(), "{problems:?}");
        let link = encode(&s);
        assert!(link.len() <= 250, "{}: {link}", link.len());
    }
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
    assert!(n >= 60, "only {n}");
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
            "line 6, column 1: bs=3kb: unknown unit kb (allowed: 512B to 256MiB); try KiB for 1024, kB for 1000",
        ]
    );
}

#[test]
fn files_may_end_their_lines_with_cr_and_must_hold_something() {
    for end in ["\n", "\r\n", "\r"] {
        let file = ["# a comment", "v=1", "", "p=smr-seq-write", "iodept=8", ""].join(end);
        let (s, problems) = text::decode_file(&file);
        assert_eq!(s.preset.map(|p| p.name), Some("smr-seq-write"), "{end:?}");
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["line 5, column 1: iodept=8: no such key: it is kept and does nothing; try iodepth"]);
    }
    for empty in ["", "\n", "\u{feff}", "# only words\n\n", "\r\r"] {
        let (_, problems) = text::decode_file(empty);
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["this file holds no setting: one key=value a line is expected"], "{empty:?}");
        assert!(problems[0].is_error());
    }
    // A link without settings is the run of the defaults.
    assert!(decode("").1.is_empty() && text::decode_file("v=1").1.is_empty());
}

#[test]
fn of_thousands_of_mistakes_a_hundred_are_told() {
    let link = (0..2000).map(|i| format!("k{i}=1")).collect::<Vec<_>>().join("&");
    let (s, problems) = decode(&link);
    assert_eq!((s.extra.len(), problems.len()), (2000, 101));
    assert_eq!(problems[100].to_string(), "and 1900 more");
    assert!(bioscope_scenario::check_all(&s).2.is_empty());
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
    let link = "v=1&p=smr-seq-write&b.job1.latency_target=8ms&sdb.nr_requests=4&md0.chunk=64KiB&kolibri=a%20b&t=1s";
    let (s, problems) = decode(link);
    assert_eq!(problems.len(), 4);
    assert!(problems.iter().all(|d| d.severity == Severity::Warning && d.message.contains("is kept")), "{problems:?}");
    assert_eq!(encode(&s), link);
}

#[test]
fn settings_of_single_jobs_reach_the_run() {
    let link = "v=1&bs=64KiB&numjobs=3&time_based=1&job0.offset=2000z&job1.bs=1MiB&job1.iodepth=8&job2.rw=randread\
                &job2.size=4z&first_fill=random&b.bs=4KiB&b.job0.hugepages=1&b.job1.bs=2MiB";
    let (s, problems) = decode(link);
    assert!(problems.is_empty(), "{problems:?}");
    let jobs = |side| {
        let cfg = check(&s, side).0.unwrap();
        let of = |j: &JobConfig| match &j.workload {
            WorkloadConfig::FioZbd(f) => (f.rw, f.bs / 2, f.iodepth, f.first_zone, f.zones, j.bio_segment_bytes),
            other => panic!("{other:?}"),
        };
        (cfg.jobs.iter().map(of).collect::<Vec<_>>(), cfg.devices[0].disk().unwrap().first_fill)
    };
    let fill = |kib: u64| FirstFill::Random { first: 1118, count: 110_642, granularity: 2 * kib };
    assert_eq!(
        jobs(Side::A),
        (
            vec![
                (Rw::Write, 64, 1, 2000, 109_760, 4096),
                (Rw::Write, 1024, 8, 1118, 110_642, 4096),
                (Rw::RandRead, 64, 1, 1118, 4, 4096)
            ],
            fill(64)
        )
    );
    // What job 1 has of its own goes before what B says of all jobs; B's own before both.
    assert_eq!(
        jobs(Side::B),
        (
            vec![
                (Rw::Write, 4, 1, 2000, 109_760, 2 << 20),
                (Rw::Write, 2048, 8, 1118, 110_642, 4096),
                (Rw::RandRead, 4, 1, 1118, 4, 4096)
            ],
            fill(4)
        )
    );
    // With one disk its name says nothing more.
    let (of_disk, problems) = decode("v=1&sda.nr_requests=32&b.sda.zoned_qd1_writes=1");
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(encode(&of_disk), "v=1&nr_requests=32&b.zoned_qd1_writes=1");
}

/// What an option of fio needs to be in effect.
fn fio_context(key: Key) -> &'static [(&'static str, &'static str)] {
    match key {
        Key::ThinktimeSpin | Key::ThinktimeBlocks => &[("thinktime", "8ms")],
        Key::Rwmixread => &[("rw", "rw")],
        Key::RandomDistribution | Key::Norandommap => &[("rw", "randread")],
        _ => &[],
    }
}

/// Another value of an option of fio.
fn fio_value(key: Key) -> &'static str {
    match key {
        Key::Ioengine => "psync",
        Key::IodepthLow | Key::CompleteMin | Key::CompleteMax | Key::ThinktimeBlocks | Key::Prio | Key::Cmdprio => "5",
        Key::Rate => "1MiB,0",
        Key::RateIops | Key::Rwmixread | Key::CmdprioPercentage => "70",
        Key::Thinktime | Key::ThinktimeSpin => "2ms",
        Key::Bssplit => "4KiB/60:8KiB/40",
        Key::RandomDistribution => "zipf:1.2",
        Key::Norandommap => "0",
        Key::Prioclass | Key::CmdprioClass => "be",
        _ => "7",
    }
}

#[test]
fn every_job_setting_can_differ() {
    for &key in KEYS.iter().filter(|k| Param::of(**k).scope == Scope::Job) {
        let row = Param::of(key);
        let mut s = Scenario::new();
        for (key, text) in [("numjobs", "2"), ("zonemode", "none"), ("iodepth", "8")] {
            s.set_text(key, text).unwrap();
        }
        for (key, text) in fio_context(key) {
            s.set_text(key, text).unwrap();
        }
        if row.shown_when.iter().any(|(k, _)| *k == Key::Zonemode) {
            s.set_text("zonemode", "zbd").unwrap();
        }
        let before = check(&s, Side::A).0.unwrap();
        let value = match key {
            Key::Rw => "randwrite",
            Key::Size | Key::Offset => "2000z",
            Key::Hugepages | Key::Buffered | Key::Nowait => "1",
            Key::IgnoreZoneLimits | Key::ReadBeyondWp | Key::ZoneAppend => "1",
            Key::Iodepth | Key::IodepthBatch => "7",
            Key::Bs | Key::Bios => "8KiB",
            key => fio_value(key),
        };
        s.set_text(&format!("job1.{}", row.key), value).unwrap();
        let after = check(&s, Side::A).0.unwrap();
        assert_eq!(before.jobs[0], after.jobs[0], "{}", row.key);
        assert_ne!(before.jobs[1], after.jobs[1], "{}", row.key);
    }
}

#[test]
fn many_settings_of_jobs_are_packed_and_few_are_not() {
    let mut s = Scenario::of(&PRESETS[1]);
    let mut packed = false;
    for job in 0..16 {
        s.set_text(&format!("job{job}.bs"), "64KiB").unwrap();
        s.set_text(&format!("b.job{job}.iodepth"), &(job + 1).to_string()).unwrap();
        let link = encode(&s);
        assert_eq!(decode(&link), (s.clone(), Vec::new()), "{link}");
        let plain: String = s.own().map(|o| format!("&{}={}", o.name(), o.text())).collect();
        assert!(link.contains("&z=") || link.contains(&plain) || job < 3, "{link}");
        packed |= link.contains("&z=");
    }
    let plain: usize = s.own().map(|o| o.name().len() + o.text().len() + 2).sum();
    assert!(packed && encode(&s).len() < plain * 2 / 3, "{}", encode(&s));
    // What is written out is the later word.
    let (more, problems) = decode(&format!("job3.bs=4KiB&{}", encode(&s)));
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(more.own_of(Side::A, Instance::Job(3), Key::Bs).unwrap().text(), "4KiB");
}

#[test]
fn every_row_reaches_the_run() {
    // Another valid value for each row, in a scenario where the row is in effect, gives another configuration.
    let context = |key: Key| {
        let mut s = Scenario::new();
        let mut set = |k: Key, words: &str| s.set_text(Param::of(k).key, words.split('|').next().unwrap()).unwrap();
        for (k, words) in Param::of(key).shown_when {
            set(*k, words);
            if *k == Key::Stack {
                set(Key::Drive, "capped");
            }
        }
        let fio = (Key::Ioengine..=Key::Cmdprio).contains(&key);
        if fio || matches!(key, Key::Bios | Key::IodepthBatch | Key::Buffered | Key::Nowait) {
            set(Key::Zonemode, "none");
            set(Key::Iodepth, "8");
        }
        if key == Key::NrHwQueues {
            set(Key::Hba, "mpi3mr");
        }
        for (k, words) in fio_context(key) {
            s.set_text(k, words).unwrap();
        }
        s
    };
    for &key in KEYS {
        let other = match key {
            Key::Kernel => "6.12",
            Key::Drive => "cmr-8tb",
            Key::ZwplugErrors => "error_auto_recover",
            Key::ZwplugRemoved => "unhashed",
            Key::QosGate => "pointer",
            Key::IssueTime => "always",
            Key::TagRrRepr => "enum",
            Key::NoSchedRepr => "no_sched",
            Key::IoTicks => "start",
            Key::QueueWriteCache => "write_through",
            Key::ZoneLockStreams => "0",
            Key::Zoned | Key::BlkWbtMq | Key::Iocost | Key::ZoneFull | Key::MemoryBacked | Key::Rotational => "1",
            Key::IgnoreZoneLimits | Key::ReadBeyondWp | Key::ZoneAppend | Key::AsPosted => "1",
            Key::NoSched | Key::PipelineZonedWrites => "1",
            Key::Change => "1s:nr_requests:8",
            Key::ZoneSize => "512MiB",
            Key::ZoneCapacity => "128MiB",
            Key::ZoneMaxOpen | Key::ZoneMaxActive | Key::ZoneReadonly | Key::ZoneOffline | Key::ZoneNrConv => "7",
            Key::ZoneAppendMaxSectors => "0",
            Key::Blocksize => "4KiB",
            Key::FlashPage => "8KiB",
            Key::FlashChannelRate => "100",
            Key::Stack => "dm-crypt",
            Key::Zonemode => "none",
            Key::Bios | Key::PlugFlushBytes => "4KiB",
            Key::SplitInsert => "tail",
            Key::BioListModel => "one_list",
            Key::PlugOrder => "lifo",
            Key::PlugMerge => "head",
            Key::MaxSectorsCap => "1280KiB",
            Key::Chunk | Key::DataOffset | Key::Capacity => "2MiB",
            Key::Layout => "alternate",
            Key::StripeCacheSize => "512",
            Key::SyncAction => "check",
            Key::SyncSpeedMin | Key::SyncSpeedMax => "7000",
            Key::MaxReadSize | Key::MaxWriteSize => "64KiB",
            Key::Workload => "writeback",
            Key::Rw => "read",
            Key::Bs => "2MiB",
            Key::Size | Key::Offset => "2000z",
            Key::Filesize => "4MiB-8MiB",
            Key::ZoneOrdering => "none",
            Key::Scheduler if Param::of(key).default == "none" => "mq-deadline",
            Key::Scheduler => "none",
            Key::Hba => "mpi3mr",
            Key::AsyncDepthOwner => "elevator",
            Key::SbitmapWake => "per_queue",
            Key::TagAlloc => "hint",
            Key::LostWakeup => "late_waiter",
            Key::Irqmode | Key::RqAffinity => "2",
            Key::ShallowPerWord | Key::StrictGuarantees | Key::NcqPrio => "1",
            Key::LowLatency => "0",
            Key::HostTags => "1",
            Key::WriteOffMode => "media",
            Key::ZonePhase | Key::FirstFill => "random",
            Key::Fault => "600000000+8",
            Key::WriteCache | Key::FrontMerges | Key::DeadPlugRevive | Key::StepPlug | Key::RmwLevel => "0",
            Key::Raid5StripeLimit | Key::Raid5MaxHw | Key::Raid5Spread | Key::MdChunkLimit => "0",
            Key::Hugepages | Key::ZonedQd1Writes | Key::TimeBased | Key::Nomerges => "1",
            Key::Buffered | Key::Nowait => "1",
            Key::RateOuter => "300",
            Key::RateInner | Key::InterfaceRate => "100",
            Key::WbSegmentBytes => "4096",
            Key::Runtime | Key::RampTime => "7s",
            Key::RampSize | Key::IoSize | Key::WbInFlight => "64MiB",
            Key::RevNs
            | Key::SubmitNs
            | Key::WorkerWakeNs
            | Key::LockWakeNs
            | Key::IssueNs
            | Key::JiffyNs
            | Key::RcuNs => "7ms",
            key => fio_value(key),
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
fn writes_reach_the_run_in_order_of_time() {
    let changes = |link: &str, side: Side| {
        let (s, problems) = decode(link);
        assert!(problems.is_empty(), "{problems:?}");
        let (cfg, problems) = check(&s, side);
        assert!(!problems.iter().any(Diagnostic::is_error), "{link}: {problems:?}");
        assert_eq!(decode(&encode(&s)).0, s);
        let of = |c: &Change| format!("{}:{}:{:?}", c.at, c.dev, c.setting);
        cfg.unwrap().changes.iter().map(of).collect::<Vec<_>>()
    };
    let link = "change=3s:scheduler:bfq,1.2s:zoned_qd1_writes:1,4s:sda.nr_requests:2";
    let of_a = ["1200000000:0:ZonedQd1Writes(true)", "3000000000:0:Scheduler(Bfq)", "4000000000:0:NrRequests(4)"];
    assert_eq!(changes(link, Side::A), of_a);
    // B has what A has, unless it has a list of its own.
    assert_eq!(changes(&format!("{link}&b.nomerges=1"), Side::B), of_a);
    assert_eq!(changes(&format!("{link}&b.change=1s:nomerges:1"), Side::B), ["1000000000:0:Nomerges(1)"]);
    // A fork is A until then.
    let fork = format!("{link}&b.nomerges=1&b.at=2s");
    assert_eq!(changes(&fork, Side::B), [of_a[0], "2000000000:0:Nomerges(1)", of_a[1], of_a[2]]);
    let fork = format!("{link}&b.nomerges=1&b.change=5s:wbt_lat_usec:-1&b.at=2s");
    assert_eq!(changes(&fork, Side::B), [of_a[0], "2000000000:0:Nomerges(1)", "5000000000:0:WbtLat(None)"]);
    // Without a name before it, a file is that of each disk.
    let stack = "stack=raid5&raid_disks=3&drive=cmr-8tb&change=1s:nomerges:1,2s:sdb.nr_requests:8&runtime=3s";
    assert_eq!(
        changes(stack, Side::A),
        [
            "1000000000:0:Nomerges(1)",
            "1000000000:1:Nomerges(1)",
            "1000000000:2:Nomerges(1)",
            "2000000000:1:NrRequests(8)"
        ]
    );
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
        for (k, words) in p.shown_when {
            assert!(words.split('|').all(|word| Param::of(*k).parse(word).is_ok()), "{}", p.key);
        }
    }
}
