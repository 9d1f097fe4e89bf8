//! A fork: run B is A, record for record, until the setting changes, and goes its own way from then on.

use std::sync::Arc;

use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink};
use bioscope_core::sim::Simulation;
use bioscope_scenario::{Live, PRESETS, Param, Preset, Side, check_all, decode, validate};

#[derive(Default)]
struct Records(Vec<TraceRecord>);

impl TraceSink for Records {
    fn record(&mut self, r: &TraceRecord) {
        self.0.push(*r);
    }
}

fn records(link: &str, side: Side) -> (Vec<TraceRecord>, u64) {
    let (s, problems) = decode(link);
    assert!(problems.is_empty(), "{link}: {problems:?}");
    let mut sim = Simulation::new(Arc::new(validate(&s, side).unwrap()));
    let mut records = Records::default();
    sim.advance(u64::MAX, u64::MAX, &mut records);
    (records.0, sim.now())
}

#[test]
fn run_b_is_run_a_until_the_fork() {
    // Others differ from the start.
    let live = |p: &&Preset| p.b.iter().all(|(key, _)| Param::of(*key).live == Live::Sysfs);
    for p in PRESETS.iter().filter(live) {
        for at in [1, 1_234_567_891, 2_000_000_000] {
            let link = format!("v=1&p={}&runtime=3s&ramp_time=0&b.at={at}ns", p.name);
            let ((a, _), (b, _)) = (records(&link, Side::A), records(&link, Side::B));
            let before = |r: &&TraceRecord| r.time < at;
            let same = a.iter().take_while(before).count();
            assert_eq!(a[..same], b[..same], "{link}");
            assert!(b.iter().take_while(before).count() == same && a != b, "{link}");
            let changes: Vec<&TraceRecord> = b.iter().filter(|r| r.action == Action::Change).collect();
            assert!(changes.len() == 1 && changes[0].time >= at, "{link}: {changes:?}");
            // From the start on it is a run of its own.
            assert_ne!(b, records(&format!("v=1&p={}&runtime=3s&ramp_time=0", p.name), Side::B).0, "{link}");
        }
    }
}

#[test]
fn a_fork_behind_the_end_changes_nothing_and_is_said() {
    let link = "v=1&p=smr-seq-write&runtime=1s&b.at=1h";
    let (a, b) = (records(link, Side::A), records(link, Side::B));
    assert_eq!(a, b);
    let problems = check_all(&decode(link).0).2;
    assert_eq!(
        problems.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["b.at=3600s: the run is over at 1s, so nothing changes in run B"]
    );
}
