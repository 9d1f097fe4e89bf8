//! A link leads back to the moment it was made at: same runs, same record, same hash.

use std::sync::Arc;

use bioscope_lab::seeded::{RANDOM, fragments};
use bioscope_scenario::{
    Diagnostic, Key, Live, Moment as Link, PRESETS, Param, Scenario, Side, Value, check_all, decode, encode,
};
use bioscope_session::{Moment, Session};

/// Where a link stands: records shown in all, hashes of A and B.
fn stand(s: &Scenario) -> (u64, u64, Option<u64>) {
    let (a, b, problems) = check_all(s);
    assert!(!problems.iter().any(Diagnostic::is_error), "{problems:?}");
    let mut session = Session::load(Arc::new(a.unwrap()), b.map(Arc::new));
    while !session.presimulate(1 << 20).unwrap().done {}
    let t = s.t.unwrap_or_default();
    session.seek_moment(Moment { time: t.ns, k: Some(t.k) });
    let frame = session.frame();
    (frame.step, frame.a.hash, frame.b.map(|b| b.hash))
}

fn reloads(s: &Scenario) -> (u64, u64, Option<u64>) {
    let link = encode(s);
    let (again, problems) = decode(&link);
    assert!(!problems.iter().any(Diagnostic::is_error), "{link}: {problems:?}");
    assert_eq!((&again, again.hash(), encode(&again)), (s, s.hash(), link.clone()));
    let there = stand(s);
    assert_eq!(stand(&again), there, "{link}");
    there
}

#[test]
fn presets_reload_to_their_moment() {
    for p in PRESETS {
        let mut s = Scenario::of(p);
        // Long runs are cut short behind their moment; the others have as many events in less time.
        let runtime = s.resolved(Side::A, Key::Runtime);
        if !s.is_stacked() && matches!(runtime, Value::Int(ns) if ns > 2_000_000_000) {
            let ms = (p.t.ns / 1_000_000 + 500).max(2000);
            s.set_text("runtime", &[&ms.to_string(), "ms"].concat()).unwrap();
        }
        s.t = Some(Link { ns: p.t.ns, k: 0 });
        let start = reloads(&s);
        s.t = Some(Link { ns: p.t.ns + 51_234_567, k: 3 });
        assert!(reloads(&s).0 > start.0, "{}", p.name);
        if p.b.iter().all(|(key, _)| Param::of(*key).live == Live::Sysfs) {
            s.set_text("b.at", "500ms").unwrap();
            assert_ne!(reloads(&s).2, start.2, "{}", p.name);
        }
    }
}

/// Of the drawn scenarios every second one, with jobs that differ, forks and moments.
#[test]
fn drawn_scenarios_reload_to_their_moment() {
    let mut x = 7u64;
    let mut draw = |n: u64| {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (x >> 33) % n
    };
    let mut forks = 0;
    for fragment in fragments().iter().skip(2 * PRESETS.len()).take(RANDOM).step_by(2) {
        let mut link = fragment.clone();
        let jobs = decode(fragment).0.text(bioscope_scenario::Side::A, bioscope_scenario::Key::Numjobs);
        for _ in 0..draw(5) {
            let job = draw(jobs.parse().unwrap());
            link += &match draw(5) {
                0 => format!("&job{job}.bs={}", ["4KiB", "12KiB", "1MiB", "3MiB"][draw(4) as usize]),
                1 => format!("&job{job}.iodepth={}", 1 + draw(40)),
                2 => format!("&job{job}.size={}z", 1 + draw(30)),
                3 => format!("&job{job}.offset={}z", 1118 + draw(30)),
                _ => format!("&job{job}.hugepages={}", draw(2)),
            };
        }
        if draw(2) == 0 {
            link += &format!("&b.zoned_qd1_writes={}", draw(2));
        }
        if draw(3) == 0 {
            link += &format!("&b.at={}us", draw(2_000_000));
        }
        link += &format!("&t={}ns+{}", draw(300_000_000), draw(4));
        let (s, problems) = decode(&link);
        assert!(!problems.iter().any(Diagnostic::is_error), "{link}: {problems:?}");
        forks += u32::from(s.fork.is_some() && s.has_b());
        reloads(&s);
    }
    assert!(forks > 5, "{forks}");
}
