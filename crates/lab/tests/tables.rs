//! The tables of single runs: limits they have to keep, and their figures against the captured files.

use bioscope_lab::table::{Job, TABLES, Table};
use bioscope_lab::threads;
use bioscope_lab::validate::{Line, Report};

fn report(table: &Table) -> Report {
    table.collect(threads::map(&table.jobs(), Job::run))
}

fn table(name: &str) -> &'static Table {
    TABLES.iter().find(|t| t.name == name).expect("a table")
}

fn line<'a>(r: &'a Report, row: &str, variant: &str) -> &'a Line {
    r.lines.iter().find(|l| l.row == row && l.variant == variant).unwrap_or_else(|| panic!("{row} {variant}"))
}

#[test]
fn rules_hold_orders_match_and_what_is_far_off_is_explained() {
    for table in TABLES {
        let r = report(table);
        assert!(r.lines.len() >= 2 && r.source.len() > 40, "{}", r.table);
        for s in &r.shapes {
            assert!(s.holds, "{}: {}: {:?}", r.table, s.rule, s.breaks);
        }
        for l in &r.lines {
            assert!(l.simulated.is_finite(), "{l:?}");
            assert!(l.unit != "matches" || l.simulated == l.published, "{l:?}");
            assert!(l.why.is_some() || l.error_pct.is_none_or(|e| e.abs() <= 25.0), "not explained: {l:?}");
            assert!(!l.calibration || l.held_out_pct.is_none() && l.error_pct.unwrap().abs() < 10.0, "{l:?}");
        }
    }
}

#[test]
fn seed_002_figures_that_the_rules_alone_give_are_exact() {
    let r = report(table("seed-002"));
    assert_eq!(line(&r, "sd* rareq-sz", "after").simulated, 112.0);
    assert_eq!(line(&r, "requests of a dd", "after").simulated, 40.0);
    assert_eq!(line(&r, "merges of a dd", "after").simulated, 34.0);
    assert!((line(&r, "sd* %rrqm", "after").simulated - 100.0 * 34.0 / 74.0).abs() < 1e-9);
    assert!((line(&r, "sd* %rrqm", "before").simulated - 31.43).abs() < 0.01);
    assert!(line(&r, "distance from 10:5:1:4:2 (total variation)", "before").simulated < 0.25);
    assert!(r.lines.iter().filter(|l| l.variant == "replayed").count() == 6);
}

#[test]
fn tables_18_20_29_have_the_published_direction() {
    let r = report(table("18"));
    let reads = r.lines.iter().filter(|l| l.row.ends_with("pre-reads"));
    assert_eq!(reads.map(|l| l.simulated).collect::<Vec<_>>(), [0.0, 0.0]);
    let r = report(table("20"));
    assert_eq!(line(&r, "rareq-sz", "16/1").simulated, 4.0);
    assert!(line(&r, "rareq-sz", "16/4").simulated > 350.0);
    let r = report(table("29"));
    assert!((line(&r, "plug merges of bios", "6.15.1").simulated - 3.125).abs() < 0.01);
    assert!((line(&r, "plug merges of bios", "reverted").simulated - 50.0).abs() < 0.01);
}

#[test]
fn seed_003_wake_batch_1_is_predicted() {
    let r = report(table("seed-003"));
    let row = "sequential share at D";
    let (eight, one) = (line(&r, row, "wake_batch 8"), line(&r, row, "wake_batch 1"));
    assert!(eight.calibration && (eight.simulated - 8.0).abs() < 0.8, "{eight:?}");
    assert!(!one.calibration && one.held_out_pct.is_some() && one.why.is_some());
    assert!(one.simulated < 1.6 && one.simulated < eight.simulated / 5.0, "{one:?}");
    assert!(r.lines.iter().filter(|l| l.calibration).count() == 1, "one number on one cell");
    assert!(r.source.contains("wake_spread_ns") && r.source.contains("queue_depth >= nr_requests"));
}

#[test]
fn tables_06_09_11_13_have_the_published_direction_and_mark_what_was_fitted() {
    let r = report(table("06"));
    for jobs in [24, 48, 72] {
        let left = line(&r, &format!("HDD, {jobs} jobs, IOPS, of one job's"), "5.6.15");
        assert!(left.held_out_pct.is_some_and(|e| e.abs() < 5.0), "{left:?}");
        let more = line(&r, &format!("HDD, {jobs} jobs, switches more an I/O"), "5.6.15");
        assert!(more.held_out_pct.is_some_and(|e| e.abs() < 26.0) && more.simulated > 3.0, "{more:?}");
    }
    let fitted = |r: &Report| r.lines.iter().filter(|l| l.calibration).map(|l| l.row.clone()).collect::<Vec<_>>();
    assert_eq!(fitted(&r), ["SSD, 1 jobs, IOPS", "NVMe, 1 jobs, IOPS"]);
    let r = report(table("09"));
    for (row, kernel, depth) in ["one queue, 20 jobs", "shared, 40 jobs"]
        .iter()
        .flat_map(|row| ["6.1-rc2", "patched"].map(|kernel| (row, kernel)))
        .flat_map(|(row, kernel)| [8, 16, 32, 64].map(|depth| (row, kernel, depth)))
    {
        let cell = line(&r, &format!("{row}, depth {depth}"), kernel);
        assert!(cell.error_pct.is_some_and(|e| e.abs() <= 15.0), "{cell:?}");
    }
    let of = |kernel, depth| line(&r, &format!("shared, 40 jobs, depth {depth}"), kernel).simulated;
    assert!(of("6.1-rc2", 4) < 0.95 * of("6.1-rc2", 2) && of("patched", 4) > of("patched", 2));
    for shape in &r.shapes {
        assert!(shape.holds, "{shape:?}");
    }
    assert!(r.lines.iter().filter(|l| l.error_pct.is_some_and(|e| e.abs() > 25.0)).all(|l| l.why.is_some()));
    assert_eq!(
        fitted(&r),
        [
            "one queue, 20 jobs, depth 4",
            "one queue, 20 jobs, depth 8",
            "one queue, 20 jobs, depth 64",
            "shared, 40 jobs, depth 16",
            "shared, 40 jobs, depth 32",
            "shared, 40 jobs, depth 64",
        ]
    );
    let r = report(table("11"));
    assert!(fitted(&r).is_empty() && line(&r, "average", "none").simulated > 4.0 * line(&r, "average", "RT").simulated);
    assert_eq!(fitted(&report(table("13"))), ["HGST 7K8, 4 KiB, 1 in flight"; 2]);
}

/// A link's figures at its end.
fn stats(link: &str) -> bioscope_core::observe::stats::Stats {
    let (s, problems) = bioscope_scenario::decode(link);
    assert!(problems.is_empty(), "{link}: {problems:?}");
    let cfg = bioscope_scenario::validate(&s, bioscope_scenario::Side::A).unwrap();
    let mut sim = bioscope_core::sim::Simulation::new(std::sync::Arc::new(cfg));
    sim.advance(u64::MAX, u64::MAX, &mut ());
    let stats = sim.snapshot().stats;
    assert_eq!(stats.nr_errors, 0, "{link}");
    stats
}

/// Writes in order over many zones: each end of a zone is a time of going back and forth.
#[test]
fn section_11_row_2_seeks_rise_with_the_depth() {
    let of = |depth: u32, qd1: u32| {
        let s = stats(&format!("bs=1MiB&runtime=10s&size=40z&iodepth={depth}&b=0&zoned_qd1_writes={qd1}"));
        (s.drive.seeks, s.bytes_per_sec())
    };
    let [few, some, many] = [8, 32, 128].map(|depth| of(depth, 0));
    assert!(few.0 < some.0 && some.0 < many.0, "{few:?} {some:?} {many:?}");
    assert!(few.1 > some.1 && some.1 > many.1, "{few:?} {some:?} {many:?}");
    let one = of(128, 1);
    assert!(one.0 < few.0.max(12) && one.1 > 1.9 * many.1, "{one:?} {many:?}");
}

/// Nothing moves, so what is written when does not matter, as long as one command keeps all dies busy or memory takes it.
#[test]
fn section_11_row_3_one_write_for_the_disk_costs_an_ssd_nothing() {
    let device = "zoned=1&zone_size=256&capacity=16GiB&runtime=500ms&time_based=1";
    for drive in ["drive=zns-1tb&runtime=500ms", &format!("drive=flash&flash_cache=64&{device}")] {
        for load in ["bs=1MiB&iodepth=1", "bs=1MiB&iodepth=16", "bs=1MiB&iodepth=16&numjobs=4&size=4z"] {
            let of = |qd1: u32| stats(&format!("{drive}&{load}&zoned_qd1_writes={qd1}")).bytes_per_sec();
            let (off, on) = (of(0), of(1));
            assert!(off > 7e8 && (on / off - 1.0).abs() < 0.01, "{drive}&{load}: {off} {on}");
        }
    }
}

/// With its cache on, or off and memory that outlives it, the disk has the next write in hand while the host turns round.
#[test]
fn section_11_row_8_the_cache_hides_one_write_at_a_time() {
    let of = |more: &str| stats(&format!("bs=1MiB&runtime=10s&size=40z&{more}")).bytes_per_sec();
    let best = of("iodepth=1&zoned_qd1_writes=0");
    for more in ["write_cache=1", "write_cache=0"] {
        let one = of(&format!("iodepth=32&zoned_qd1_writes=1&{more}"));
        assert!((one / best - 1.0).abs() < 0.02, "{more}: {one} {best}");
    }
    let media = of("iodepth=32&zoned_qd1_writes=1&write_cache=0&write_off_mode=media");
    assert!(media < 0.9 * best, "{media} {best}");
}

/// The parameters the script gives to null_blk and fio, by their own names.
#[test]
fn section_11_row_30_the_script_is_a_link() {
    let [link, ..] = &(table("seed-001").runs)()[..] else { panic!("runs") };
    let names =
        "completion_nsec hw_queue_depth irqmode max_sectors memory_backed zone_size zoned bs iodepth iodepth_batch";
    for name in names.split(' ') {
        assert!(link.split('&').any(|s| s.split('=').next() == Some(name)), "{name}: {link}");
    }
    let one = stats(link).iops();
    let also = stats(&format!("{link}&submit_queues=1")).iops();
    assert_eq!(one, also, "one queue is what the script has and the default");
}

#[test]
fn tables_of_zoned_devices_have_the_published_direction_and_mark_what_was_fitted() {
    let fitted = |r: &Report| r.lines.iter().filter(|l| l.calibration).count();
    let r = report(table("seed-001"));
    assert_eq!(fitted(&r), 3);
    for l in r.lines.iter().filter(|l| l.calibration) {
        assert!(l.error_pct.is_some_and(|e| e.abs() < 3.0), "{l:?}");
    }
    let closed: Vec<_> = r.lines.iter().filter(|l| !l.calibration).collect();
    assert_eq!(closed.len(), 3 + 2 * 3 + 5 * 3);
    assert!(closed.iter().all(|l| l.error_pct.is_some_and(|e| e.abs() < 5.0)));
    let r = report(table("05"));
    assert_eq!(fitted(&r), 0);
    for (row, published) in [("before: the next zone starts early", 225.0), ("after: streams are kept", 250.0)] {
        let l = line(&r, row, "64 KiB");
        assert!(l.published == published && l.error_pct.is_some_and(|e| e.abs() < 5.0), "{l:?}");
    }
    assert_eq!((fitted(&report(table("02"))), fitted(&report(table("12"))), fitted(&report(table("27")))), (7, 0, 2));
}

/// Every test that the page of the specification names is there.
#[test]
fn the_page_of_the_specification_names_tests_and_tables_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(1).unwrap();
    let page = include_str!("../../../docs/src/specification.md");
    let rows = page.split("## Statements").nth(1).unwrap();
    let (mut sources, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            match entry.extension().and_then(|e| e.to_str()) {
                None if entry.is_dir() => folders.push(entry),
                Some("rs") => sources.push(entry),
                _ => {}
            }
        }
    }
    let mut named = 0;
    for name in rows.split('`').skip(1).step_by(2) {
        let Some((place, test)) = name.split_once("::") else {
            assert!(
                name == "bioscope validate" || name == "seed-000" || TABLES.iter().any(|t| t.name == name),
                "{name}"
            );
            continue;
        };
        let test = format!("#[test]\nfn {test}()");
        let holds =
            sources.iter().filter(|s| s.iter().any(|part| part.to_str().unwrap().trim_end_matches(".rs") == place));
        let found = holds.into_iter().any(|s| {
            let text: Vec<_> = std::fs::read_to_string(s).unwrap().lines().map(|l| l.trim().to_owned()).collect();
            text.join("\n").contains(&test)
        });
        assert!(found, "no test {name}");
        named += 1;
    }
    assert!(named >= 20, "{named}");
    let numbers = rows.lines().filter_map(|l| l.strip_prefix("| ")?.split(' ').next()?.parse::<u32>().ok());
    let expected = [1, 2, 3, 4, 5, 6, 7, 8, 17, 20, 24, 25, 26, 28, 29, 30, 35, 36, 39, 40];
    assert_eq!(numbers.collect::<Vec<_>>(), expected);
}

/// Figures in the program are the published ones; needs the folder `BIOSCOPE_DATA` names.
#[test]
fn published_figures_are_the_captured_ones() {
    let folder = std::path::PathBuf::from(std::env::var_os("BIOSCOPE_DATA").unwrap_or_default()).join("published");
    let Ok(text) = std::fs::read_to_string(folder.join("seed-002-raid5-split-order.csv")) else {
        eprintln!("SKIPPED: no captured data under BIOSCOPE_DATA, so the published tables were not compared with it");
        return;
    };
    let r = report(table("seed-002"));
    // r/s, rMB/s, (rrqm/s), %rrqm, r_await, rareq-sz, aqu-sz, %util
    let columns = ["r/s", "rMB/s", "", "%rrqm", "r_await", "rareq-sz", "aqu-sz", "%util"];
    let mut compared = 0;
    for row in text.lines().filter(|l| l.starts_with("before,") || l.starts_with("after,")) {
        let fields: Vec<&str> = row.split(',').collect();
        for (value, column) in fields[2..].iter().zip(columns).filter(|(_, c)| !c.is_empty()) {
            let cell =
                line(&r, &format!("{} {column}", fields[1]), if fields[0] == "after" { "after" } else { "before" });
            assert_eq!(value.parse::<f64>().unwrap(), cell.published, "{row}: {column}");
            compared += 1;
        }
    }
    let histogram = std::fs::read_to_string(folder.join("seed-002-seek-histogram.csv")).unwrap();
    let before = histogram.lines().find_map(|l| l.strip_prefix("before,")).unwrap();
    let counts: Vec<f64> = before.split(',').map(|n| n.parse().unwrap()).collect();
    for (row, count) in [
        ("gaps of 0", counts[1]),
        ("gaps of 64 KiB", counts[2]),
        ("gaps of 128 KiB", counts[3]),
        ("gaps up to 512 KiB", counts[5]),
        ("gaps up to 1024 KiB", counts[6]),
    ] {
        assert!((line(&r, row, "before").published - 100.0 * count / counts[0]).abs() < 1e-9, "{row}");
        compared += 1;
    }
    assert_eq!(compared, 33);
    let table20 = std::fs::read_to_string(folder.join("20-raid6-check-plug-36-disks.md")).unwrap();
    let r = report(table("20"));
    // check speed, r/s, rkB/s, rrqm/s, %rrqm, r_await, aqu-sz, rareq-sz, %util
    let columns = ["check speed", "r/s", "rkB/s", "rrqm/s", "%rrqm", "r_await", "aqu-sz", "rareq-sz", "%util"];
    for (start, variant) in [("without patch", "16/1"), ("with patch", "16/4")] {
        let rows: Vec<Vec<f64>> = table20
            .lines()
            .filter(|l| l.starts_with(start))
            .map(|l| l.split(',').skip(1).map(|n| n.parse().unwrap()).collect())
            .collect();
        assert_eq!(rows.len(), 2);
        for (i, column) in columns.iter().enumerate() {
            let mean = (rows[0][i] + rows[1][i]) / 2.0;
            assert!((line(&r, column, variant).published - mean).abs() < 0.006, "{column} {variant}: {mean}");
        }
    }
    assert_eq!(published_of_tags(&folder), 2 + 23 + 24 + 55 + 9 + 3 + 60 + 2 + 6 + 8 + 8);
}

/// All other tables against the captured files; how many figures were compared.
fn published_of_tags(folder: &std::path::Path) -> usize {
    let rows = |file: &str| -> Vec<Vec<String>> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        text.lines().filter(|l| l.contains(',')).map(|l| l.split(',').map(str::to_owned).collect()).collect()
    };
    let mut compared = 0;
    let mut same = |r: &Report, row: &str, variant: &str, value: &str| {
        let (cell, value) = (line(r, row, variant), value.parse::<f64>().unwrap());
        assert!((cell.published - value).abs() < 1e-9, "{row} {variant}: {value}, {cell:?}");
        compared += 1;
    };
    let r = report(table("seed-003"));
    for f in rows("seed-003-async-depth.csv").iter().filter(|f| f.len() == 2 && f[1].parse::<f64>().is_ok()) {
        let variant = ["wake_batch 8", "wake_batch 1"][usize::from(f[0] == "1")];
        same(&r, "sequential share at D", variant, &f[1]);
    }
    let r = report(table("06"));
    let all = rows("06-houtao-wake-batch-hdd.md");
    let mine = |f: &&Vec<String>| f.len() == 5 && f[2] == "5.6.15";
    for f in all.iter().filter(mine) {
        let kind = f[0].split('-').next().unwrap();
        same(&r, &format!("{kind}, {} jobs, IOPS", f[1]), "5.6.15", &f[3]);
        let first = all.iter().filter(mine).find(|one| one[0] == f[0]).unwrap();
        if first[1] != f[1] {
            let n = |f: &[String], at: usize| f[at].parse::<f64>().unwrap();
            let more = (n(f, 4) - n(first, 4)) / n(f, 3);
            same(&r, &format!("{kind}, {} jobs, switches more an I/O", f[1]), "5.6.15", &more.to_string());
        }
    }
    let r = report(table("09"));
    for f in rows("09-sbitmap-percounter-nullblk.md").iter().filter(|f| f.len() == 5 && f[1].parse::<u32>().is_ok()) {
        let setup = ["shared, 40 jobs", "one queue, 20 jobs"][usize::from(f[0] == "1hctx-20jobs")];
        let variant = ["6.1-rc2", "patched"][usize::from(f[2] == "patched")];
        same(&r, &format!("{setup}, depth {}", f[1]), variant, &f[3]);
    }
    let r = report(table("11"));
    for f in rows("11-ncq-priority-hdd-latency.md").iter().filter(|f| f.len() == 4 && f[1].parse::<f64>().is_ok()) {
        let row = match f[0].as_str() {
            "avg" => "average".into(),
            "min" | "max" => f[0].clone(),
            percent => format!("{percent} %"),
        };
        for (variant, value) in ["all", "none", "RT"].into_iter().zip(&f[1..]) {
            if r.lines.iter().any(|l| l.row == row && l.variant == variant) {
                same(&r, &row, variant, value);
            }
        }
    }
    let r = report(table("seed-001"));
    for f in rows("seed-001-null_blk-pipelining.csv").iter().filter(|f| f.last().unwrap().parse::<f64>().is_ok()) {
        let row = f[..f.len() - 1].join(",");
        same(&r, row.trim_matches('"'), "published", f.last().unwrap());
    }
    let r = report(table("02"));
    let work = ["4 KiB, 1", "4 KiB, 16", "1 MiB, 1", "1 MiB, 16", "random 4 KiB, 16", "random 128 KiB, 16"];
    for f in rows("02-zwp-v2.md").iter().filter(|f| f.len() == 9 && f[3].parse::<f64>().is_ok()) {
        let device = f[0].split('-').next().unwrap();
        for (work, value) in work.iter().zip(&f[3..]) {
            let (row, variant) = (format!("{device}, {work}"), format!("{} {}", f[1], f[2]));
            if r.lines.iter().any(|l| l.row == row && l.variant == variant) {
                same(&r, &row, &variant, value);
            }
        }
    }
    let r = report(table("05"));
    for f in rows("05-mqdeadline-seq-write-zone-boundary.md").iter().filter(|f| f.len() == 2) {
        let row = match f[0].as_str() {
            before if before.ends_with("(before)") => "before: the next zone starts early",
            after if after.ends_with("(after)") => "after: streams are kept",
            _ => continue,
        };
        same(&r, row, "64 KiB", &f[1]);
    }
    let r = report(table("12"));
    for f in rows("12-zonedstorage-smr-fio-15TB.md").iter().filter(|f| f.len() == 10 && f[5].parse::<f64>().is_ok()) {
        let row = match f[0].as_str() {
            "rewrite (4 full zones are reset)" => "rewrite of four full zones",
            "sequential read of written data" => "sequential read of what was written",
            "read beyond WP of empty zones (read_beyond_wp=1)" => "read beyond the write pointer",
            "random write (random zones)" => "random write",
            "first write of 4 zones" => "first write of four zones",
            same => same,
        };
        same(&r, row, "IOPS", &f[5]);
        let ms = f[8].parse::<f64>().unwrap() / 1000.0;
        assert!((line(&r, row, "average latency").published - ms).abs() < 1e-5, "{row}: {ms}");
    }
    let r = report(table("27"));
    for f in rows("27-null_blk-zone-size-npo2.md").iter().filter(|f| f.len() == 6 && f[2] == "without") {
        let row = format!("{}, iodepth={}", f[0], f[1]);
        same(&r, &row, "IOPS", &f[3]);
        same(&r, &row, "submission to reaping", &f[5]);
    }
    let r = report(table("33"));
    for f in rows("33-io-accounting-iostat.md").iter().filter(|f| f.len() == 8) {
        let (row, variant) = match (f[0].as_str(), f[1].as_str()) {
            ("a 4.4", "nvme1n1") => ("a, one at a time", "4.4"),
            ("a 5.4", "nvme0n1") => ("a, one at a time", "5.4"),
            ("b without patch", _) => ("b, 120 in flight", "without"),
            ("b with patch", _) => ("b, 120 in flight", "with"),
            _ => continue,
        };
        same(&r, row, variant, &f[7]);
        let number = |at: usize| f[at].parse::<f64>().unwrap();
        let ios = ["a, I/Os", "b, reads"][usize::from(f[0].starts_with('b'))];
        same(&r, ios, variant, &(number(2) + number(3)).to_string());
    }
    let r = report(table("13"));
    for f in rows("13-hdd-random-read-points.md").iter().filter(|f| f.len() == 8) {
        let row = match (f[0].as_str(), f[1].as_str(), f[2].as_str()) {
            ("shaojwa-note", ..) => "SATA, 4 KiB, 1 in flight, 1 GiB",
            ("ncq-prio mail", ..) => "ATA, 128 KiB, 24 in flight",
            (_, "HGST Ultrastar 7K8 spec (8.0+4.16 ms)", _) => "HGST 7K8, 4 KiB, 1 in flight",
            (_, "7200 rpm SATA typical with NCQ", _) => "7200 rpm SATA, 4 KiB, 32 in flight",
            ("zonedstorage.io", _, "randread") => "SMR SATA, 256 KiB, 16 in flight",
            _ => continue,
        };
        same(&r, row, "IOPS", &f[6]);
        if !f[7].is_empty() {
            same(&r, row, "average", &f[7]);
        }
    }
    compared
}
