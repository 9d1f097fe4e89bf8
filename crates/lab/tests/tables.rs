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
}
