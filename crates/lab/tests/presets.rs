//! Presets repeat: golden trace hashes, clones at 100 places each, the judged tables.

use std::sync::Arc;

use bioscope_core::MODEL_VERSION;
use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::Simulation;
use bioscope_lab::{run, seeded, threads, validate};
use bioscope_scenario::{Side, preset::PRESETS, text};

fn config(fragment: &str) -> bioscope_core::config::SimConfig {
    let (s, problems) = text::decode(fragment);
    assert!(problems.is_empty(), "{fragment}: {problems:?}");
    bioscope_scenario::validate(&s, Side::A).unwrap()
}

/// The presets' own runs: each side of each.
fn preset_fragments() -> Vec<String> {
    seeded::fragments().into_iter().take(2 * PRESETS.len()).collect()
}

/// `golden_hashes.txt`: the model version, then fragment, hash at half of the events, hash at the end.
#[test]
fn a_changed_hash_needs_a_new_model_version() {
    let lines = threads::map(&preset_fragments(), |f| {
        let (half, end) = run::hashes(config(f));
        format!("{f} {half:016x} {end:016x}\n")
    });
    let now = format!("model_version {MODEL_VERSION}\n{}", lines.concat());
    let golden = include_str!("golden_hashes.txt");
    assert!(
        now == golden,
        "the same configuration gives another trace: raise MODEL_VERSION in crates/core/src/lib.rs, say so in the \
         changelog, and replace crates/lab/tests/golden_hashes.txt by\n{now}"
    );
}

#[test]
fn clones_at_100_places_of_each_preset_have_equal_tails() {
    threads::map(&preset_fragments(), |f| {
        let mut sim = Simulation::new(Arc::new(config(f)));
        let mut whole = TraceHash::default();
        let mut probe = sim.clone();
        probe.advance(u64::MAX, u64::MAX, &mut whole);
        let events = probe.events();
        // 100 places drawn once, visited in order.
        let mut places: Vec<u64> = (1..=100u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) % events).collect();
        places.sort_unstable();
        let mut hash = TraceHash::default();
        for place in places {
            sim.advance(u64::MAX, place - sim.events(), &mut hash);
            let (mut copy, mut tail) = (sim.clone(), hash);
            copy.advance(u64::MAX, u64::MAX, &mut tail);
            assert_eq!(tail, whole, "{f} at event {place}");
        }
    });
}

/// The judging of seed 000, with the limits it has to keep.
#[test]
fn seed_000_stays_inside_its_limits() {
    let report = validate::collect(&threads::map(&validate::jobs(), validate::Job::run));
    let find = |name: &str| report.subtotals.iter().find(|s| s.name == name).unwrap();
    let all = find("all cells");
    assert_eq!(all.cells, 44);
    assert!(all.mean_pct <= 4.0 && all.worst_pct <= 15.0, "{all:?}");
    let held = find("held out, six-fold cross-validation");
    assert!(held.cells == 44 && held.mean_pct <= 6.0, "{held:?}");
    for s in &report.shapes {
        assert!(s.holds, "{}: {:?}", s.rule, s.breaks);
    }
    assert!(report.lines.iter().all(|l| l.calibration), "the profile names all 44 cells");
}

/// The table in the program is the published one; needs the folder `BIOSCOPE_DATA` names.
#[test]
fn the_published_table_is_the_captured_one() {
    let folder = std::path::PathBuf::from(std::env::var_os("BIOSCOPE_DATA").unwrap_or_default());
    let Ok(text) = std::fs::read_to_string(folder.join("published/seed-000-qd1-writes.csv")) else {
        eprintln!("SKIPPED: no captured data under BIOSCOPE_DATA, so the published table was not compared with it");
        return;
    };
    let captured: Vec<String> = text
        .lines()
        .filter(|l| !l.starts_with('#') && !l.starts_with("table,"))
        .map(|l| {
            // The quoted workload between hba and setting may hold commas.
            let (head, rest) = l.split_once(",\"").unwrap();
            let (_, tail) = rest.split_once("\",").unwrap();
            format!("{head},{tail}")
        })
        .collect();
    let ours: Vec<String> = bioscope_lab::published::SEED_000
        .iter()
        .map(|r| format!("{},{},{},{},{}", r.table, r.hba, r.setting, r.baseline, r.patched))
        .collect();
    assert_eq!(ours, captured);
}
