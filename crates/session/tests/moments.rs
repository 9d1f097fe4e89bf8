//! A moment is the same however one gets there.
//!
//! Rule: whole frames are compared, not hashes alone: snapshots, strips, figures, numbers of events.

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::Simulation;
use bioscope_scenario::{Side as Of, text, validate};
use bioscope_session::{Frame, MAX_EVENTS, Moment, SPEED_MAX, Session, Side};

fn configs(link: &str) -> (Arc<SimConfig>, Option<Arc<SimConfig>>) {
    let (scenario, problems) = text::decode(link);
    assert!(problems.is_empty(), "{problems:?}");
    let side = |of| Arc::new(validate(&scenario, of).unwrap());
    (side(Of::A), scenario.has_b().then(|| side(Of::B)))
}

fn loaded(link: &str) -> Session {
    let (a, b) = configs(link);
    let mut s = Session::load(a, b);
    while !s.presimulate(7_001).unwrap().done {}
    s
}

const LINKS: [&str; 4] = [
    "v=1&p=smr-seq-write&runtime=2s",
    "v=1&p=smr-rand-zones&runtime=1s&ramp_time=0",
    "v=1&p=smr-xfs-4-128m&runtime=2s",
    "v=1&p=smr-seq-write&b=0&scheduler=none&runtime=1s",
];

/// Times in no order, some of them twice.
fn times(end: u64) -> impl Iterator<Item = u64> {
    let mut x = 12_345u64;
    (0..24).map(move |_| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((x >> 33) * end) >> 31
    })
}

fn at(s: &mut Session, m: Moment) -> Frame {
    s.seek_moment(m);
    s.frame()
}

#[test]
fn the_end_is_the_simulators() {
    for link in LINKS {
        let s = loaded(link);
        let (a, b) = configs(link);
        for (side, cfg) in [(Side::A, Some(a)), (Side::B, b)] {
            let Some(cfg) = cfg else { continue };
            let mut sim = Simulation::new(cfg);
            let mut hash = TraceHash::default();
            while sim.step(&mut hash).is_some() {}
            let end = s.end(side).unwrap();
            assert_eq!((end.hash, end.records, end.events), (hash.hash, hash.records, sim.events()), "{link} {side:?}");
        }
    }
}

#[test]
fn a_jump_leads_where_playing_leads() {
    for link in LINKS {
        let mut jumping = loaded(link);
        let end = jumping.known();
        for time in times(end) {
            let jumped = at(&mut jumping, Moment { time, k: None });
            assert_eq!(jumped, at(&mut loaded(link), Moment { time, k: None }), "{link} {time}");
        }
        let mut playing = loaded(link);
        playing.set_speed(SPEED_MAX);
        let mut on = true;
        while on {
            // Slices that break off in the middle of instants.
            on = playing.tick(3_333_333, 97);
            let played = playing.frame();
            assert_eq!(played, at(&mut jumping, Moment { time: played.time, k: None }), "{link} {}", played.time);
        }
        assert_eq!(playing.frame().steps, Some(playing.frame().step), "{link}");
    }
}

#[test]
fn steps_lead_back_the_way_they_came() {
    for link in LINKS {
        let mut s = loaded(link);
        let mut fresh = loaded(link);
        s.seek(s.known() / 3);
        let start = s.frame();
        let mut frames = Vec::new();
        for _ in 0..300 {
            assert!(s.step_forward());
            frames.push((s.moment(), s.frame()));
        }
        assert_eq!(frames[299].1.step, start.step + 300, "{link}");
        for (i, (moment, frame)) in frames.iter().enumerate().rev().skip(1) {
            assert!(s.step_back());
            assert_eq!((s.moment(), &s.frame()), (*moment, frame), "{link} step {i}");
            if i % 17 == 0 {
                assert_eq!(&at(&mut fresh, *moment), frame, "{link} step {i} by its name");
            }
        }
    }
}

#[test]
fn the_beginning_and_the_end_are_walls() {
    let mut s = loaded(LINKS[0]);
    s.rewind();
    assert_eq!((s.frame().step, s.frame().time), (0, 0));
    assert!(!s.step_back());
    s.seek(u64::MAX);
    assert_eq!(Some(s.frame().step), s.frame().steps);
    assert!(!s.step_forward());
    assert!(!s.tick(1_000_000, 1_000));
}

#[test]
fn before_all_is_known_a_jump_stays_in_what_is() {
    let (a, b) = configs(LINKS[0]);
    let mut s = Session::load(a, b);
    let progress = s.presimulate(5_000).unwrap();
    assert!(!progress.done && progress.fraction < 1.0);
    while s.known() == 0 {
        s.presimulate(1_000).unwrap();
    }
    s.seek(u64::MAX);
    assert_eq!(s.frame().time, s.known());
    assert_eq!(s.frame().steps, None);
}

#[test]
fn checkpoints_keep_to_their_memory() {
    let s = loaded("v=1&p=smr-rand-zones&size=128z&runtime=30s&ramp_time=0");
    assert!(s.checkpoint_bytes() <= 33 << 20, "{}", s.checkpoint_bytes());
}

#[test]
fn a_run_too_long_is_refused() {
    let (a, _) = configs("v=1&p=smr-seq-write&b=0&bs=4k&runtime=1000s");
    let mut s = Session::load(a, None);
    let long = loop {
        match s.presimulate(100_000) {
            Ok(p) => assert!(!p.done),
            Err(long) => break long,
        }
    };
    assert_eq!(long.side, Side::A);
    assert!(long.reached > 0 && MAX_EVENTS == 5_000_000);
}
