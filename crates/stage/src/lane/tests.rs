//! What every lane keeps: texts apart, everything inside, colours the same in all panels, true angles.

use bioscope_core::config::{MdLevel, Rw, SplitInsert, ZoneOrdering};
use bioscope_core::observe::snapshot::{ElevatorView, HeadPhase, Snapshot};

use super::*;
use crate::shape::{Align, Font, Shape};
use crate::synth::{self, Scene};

const SIZES: [(f32, f32, Layout); 7] = [
    (830.0, 375.0, Layout::Wide),
    (560.0, 330.0, Layout::Wide),
    (1400.0, 520.0, Layout::Wide),
    (700.0, 340.0, Layout::Wide),
    (358.0, 900.0, Layout::Narrow),
    (320.0, 900.0, Layout::Narrow),
    (690.0, 900.0, Layout::Narrow),
];

fn scenes() -> Vec<(&'static str, Scene)> {
    vec![
        ("nothing", Scene::default()),
        ("idle", synth::idle()),
        ("a seek", synth::sequential(false, HeadPhase::Seek)),
        ("a rotate", synth::sequential(false, HeadPhase::Rotate)),
        ("b transfer", synth::sequential(true, HeadPhase::Transfer)),
        ("reset", synth::sequential(true, HeadPhase::Reset)),
        ("1 zone", synth::random(1, false)),
        ("2 zones", synth::random(2, true)),
        ("12 zones", synth::random(12, true)),
        ("128 zones a", synth::random(128, false)),
        ("128 zones b", synth::random(128, true)),
        ("writeback", synth::writeback()),
        ("errors", synth::errors()),
        ("extreme", synth::extreme()),
        ("raid5 tail", synth::raid5(8, SplitInsert::Tail, 5)),
        ("raid5 head", synth::raid5(8, SplitInsert::Head, 1_000)),
        ("raid5 of 3", synth::raid5(3, SplitInsert::Tail, 20)),
        ("raid5 of 36", synth::raid5(36, SplitInsert::Tail, 60)),
        ("raid5 of 64", synth::raid5(64, SplitInsert::Head, 0)),
        ("rmw", synth::rmw()),
        ("check", synth::check()),
        ("a run's reads", synth::run(synth::array(MdLevel::Raid5, 8, SplitInsert::Tail, Rw::Read), 60)),
        ("a run's writes", synth::run(synth::array(MdLevel::Raid6, 6, SplitInsert::Head, Rw::Write), 20)),
        ("24 jobs, batch 8", synth::deadline(24, 8)),
        ("24 jobs, batch 1", synth::deadline(24, 1)),
        ("2 jobs", synth::deadline(2, 8)),
        ("classes", synth::classes()),
        ("kyber", synth::kyber()),
        ("bfq", synth::bfq(7)),
        ("bfq of 30", synth::bfq(30)),
        ("bfq without queues", synth::bfq(0)),
        ("no scheduler", synth::none(256)),
        ("null_blk", synth::none(8)),
        ("empty queue", synth::empty_queue()),
        ("extreme queue", synth::extreme_queue()),
        ("null_blk, plugs", synth::null_blk(ZoneOrdering::Zwplug, 1)),
        ("null_blk, locks", synth::null_blk(ZoneOrdering::ZoneLock, 1)),
        ("null_blk, locks of four", synth::null_blk(ZoneOrdering::ZoneLock, 64)),
        ("null_blk, pipelined", synth::null_blk(ZoneOrdering::Pipelined, 8)),
        ("null_blk, unordered", synth::null_blk(ZoneOrdering::None, 300)),
        ("flash", synth::flash(8, 4, true)),
        ("flash without zones", synth::flash(4, 2, false)),
        ("much flash", synth::flash(64, 16, true)),
        ("wbt", synth::policies(false)),
        ("all policies", synth::policies(true)),
        ("frozen", synth::frozen()),
        ("written", synth::written()),
        ("extreme board", synth::extreme_board()),
        ("a mirror", synth::run(synth::array(MdLevel::Raid1, 2, SplitInsert::Head, Rw::Write), 3)),
    ]
}

fn input(scene: &Scene, dt_sim_ns: u64) -> LaneInput<'_> {
    LaneInput {
        snap: &scene.snap,
        order: scene.order.as_ref(),
        strip: &scene.strip,
        trail: &scene.trail,
        moves: &scene.strip,
        side: Side::A,
        panels: Panels::EVERY.of_device(subject(scene)),
        dt_sim_ns,
        seeks_per_sec: 96.0,
        tool: "fio",
        drive: "SMR disk",
        lit: None,
        gzbd: false,
    }
}

fn subject(scene: &Scene) -> Subject {
    Subject::of(&scene.snap, scene.order.as_ref())
}

/// Every choice of panels of a device but none; of the board's, each pair of its own beside others or alone.
fn subsets(kind: Kind) -> Vec<Panels> {
    let of = |bits: u32| {
        let on = |n: u32| bits >> n & 1 == 1;
        match kind {
            Kind::Stack => {
                Panels { biolist: on(0), order: on(1), members: on(2), listing: on(3), strip: on(4), ..Panels::NONE }
            }
            Kind::Queue { .. } => {
                Panels { tagmap: on(0), waiters: on(1), sched: on(2), drive: on(3), strip: on(4), ..Panels::NONE }
            }
            _ => Panels { jobs: on(0), zwplugs: on(1), tags: on(2), drive: on(3), strip: on(4), ..Panels::NONE },
        }
    };
    let mut out: Vec<Panels> = (1..32).map(of).collect();
    if kind != Kind::Stack {
        for n in 0..5 {
            for m in n..5 {
                let on = |k| k == n || k == m;
                let (timeline, zonemap, flash) = (on(0), on(1), on(2));
                let own = Panels { timeline, zonemap, flash, qos: on(3), freeze: on(4), ..Panels::NONE };
                out.push(own);
                out.push(Panels { timeline, zonemap, flash, qos: on(3), freeze: on(4), ..of(31) });
            }
        }
    }
    let subject = Subject { kind, ordered: true, qos: false, live: false };
    out.iter_mut().for_each(|p| *p = p.of_device(subject));
    out.retain(|p| *p != Panels::NONE);
    out.dedup();
    out
}

/// Left, top, right, bottom.
type Extent = (f32, f32, f32, f32);

fn extent(shape: &Shape) -> Extent {
    match shape {
        Shape::Rect { x, y, w, h, .. } | Shape::Frame { x, y, w, h, .. } => (*x, *y, x + w, y + h),
        Shape::Disc { x, y, r, .. } => (x - r, y - r, x + r, y + r),
        Shape::Ring { x, y, r, width, .. } | Shape::Arc { x, y, r, width, .. } => {
            let r = r + width / 2.0;
            (x - r, y - r, x + r, y + r)
        }
        Shape::Line { x0, y0, x1, y1, .. } => (x0.min(*x1), y0.min(*y1), x0.max(*x1), y0.max(*y1)),
        Shape::Poly { points, .. } => points.iter().fold((f32::MAX, f32::MAX, f32::MIN, f32::MIN), |e, p| {
            (e.0.min(p.0), e.1.min(p.1), e.2.max(p.0), e.3.max(p.1))
        }),
        Shape::Text { x, y, text, font, align, .. } => {
            let w = font.width(text);
            let left = match align {
                Align::Left => *x,
                Align::Center => x - w / 2.0,
                Align::Right => x - w,
            };
            (left, y - font.px() * 0.78, left + w, y + font.px() * 0.22)
        }
    }
}

fn every(mut check: impl FnMut(&str, (f32, f32), &Lane)) {
    for (name, scene) in scenes() {
        let panels = input(&scene, 0).panels;
        for (w, h, layout) in SIZES {
            // Beside each other they need a width of their own.
            let layout = if board::any(panels) { Layout::of(w, panels) } else { layout };
            // A stack of panels may need more.
            let h = h.max(min_height(layout, panels));
            for dt in [0, 30_000, 16_000_000] {
                check(name, (w, h), &lane(&input(&scene, dt), w, h, layout));
            }
        }
        for panels in subsets(subject(&scene).kind) {
            // Below each other they need 320; one alone does with less.
            for w in [200.0, 320.0, 560.0, 1200.0] {
                let layout = Layout::of(w, panels);
                if layout == Layout::Narrow && w < 320.0 {
                    continue;
                }
                let h = min_height(layout, panels) + 30.0;
                check(name, (w, h), &lane(&LaneInput { panels, ..input(&scene, 30_000) }, w, h, layout));
            }
        }
    }
}

#[test]
fn texts_never_overlap() {
    every(|name, size, lane| {
        let texts: Vec<(&Shape, Extent)> =
            lane.shapes.iter().filter(|s| matches!(s, Shape::Text { .. })).map(|s| (s, extent(s))).collect();
        for (n, (one, a)) in texts.iter().enumerate() {
            for (other, b) in &texts[n + 1..] {
                let apart = a.2 <= b.0 + 0.5 || b.2 <= a.0 + 0.5 || a.3 <= b.1 + 0.5 || b.3 <= a.1 + 0.5;
                assert!(apart, "{name} {size:?}: {one:?} over {other:?}");
            }
        }
    });
}

#[test]
fn nothing_leaves_the_canvas() {
    every(|name, size, lane| {
        for shape in &lane.shapes {
            let e = extent(shape);
            let inside = e.0 >= -0.5 && e.1 >= -0.5 && e.2 <= size.0 + 0.5 && e.3 <= size.1 + 0.5;
            assert!(inside && e.0.is_finite() && e.1.is_finite(), "{name} {size:?}: {shape:?}");
        }
        for hit in &lane.hits {
            assert!(hit.x >= -8.0 && hit.x + hit.w <= size.0 + 8.0, "{name} {size:?}: {hit:?}");
        }
    });
}

#[test]
fn texts_stay_inside_their_panels() {
    every(|name, size, lane| {
        let panels: Vec<Extent> = lane
            .shapes
            .iter()
            .filter(|s| matches!(s, Shape::Rect { fill: Ink::Panel, r, .. } if *r == 10.0))
            .map(extent)
            .collect();
        for text in lane.shapes.iter().filter(|s| matches!(s, Shape::Text { .. })) {
            let e = extent(text);
            for p in &panels {
                let meets = e.0 < p.2 && e.2 > p.0 && e.1 < p.3 && e.3 > p.1;
                let within = e.0 >= p.0 && e.2 <= p.2 + 0.5 && e.1 >= p.1 && e.3 <= p.3;
                assert!(!meets || within, "{name} {size:?}: {text:?} crosses {p:?}");
            }
        }
    });
}

#[test]
fn a_lane_is_light_enough_for_a_frame() {
    every(|name, size, lane| {
        let texts = lane.shapes.iter().filter(|s| matches!(s, Shape::Text { .. })).count();
        assert!(lane.shapes.len() < 5_000 && texts <= 300, "{name} {size:?}: {} {texts}", lane.shapes.len());
    });
}

#[test]
fn a_zone_has_one_colour_and_a_seventh_is_hatched() {
    let scene = synth::random(12, false);
    let colours = pen::Colours::of(&scene.snap);
    assert_eq!(colours.zone(1_118), (Ink::Zone(0), false));
    assert_eq!(colours.zone(1_123), (Ink::Zone(5), false));
    assert_eq!(colours.zone(1_124), (Ink::Zone(0), true));
    assert_eq!(colours.zone(7), (Ink::Dim, false), "never used");
}

#[test]
fn a_zone_the_drive_has_not_met_takes_the_next_colour() {
    let mut scene = synth::sequential(true, HeadPhase::Transfer);
    scene.snap.devices[0].drive.zones.retain(|z| z.zone != 1_122);
    assert_eq!(pen::Colours::of(&scene.snap).zone(1_122), (Ink::Zone(4), false));
}

#[test]
fn the_sector_arrives_under_the_head_when_the_wait_ends() {
    let mut scene = synth::sequential(false, HeadPhase::Rotate);
    let until = scene.snap.devices[0].drive.head.until;
    let target = |scene: &Scene| {
        let lane = lane(&input(scene, 30_000), 830.0, 375.0, Layout::Wide);
        let arc = lane.shapes.iter().find_map(|s| match s {
            Shape::Arc { a0, stroke: Ink::Text, .. } => Some(*a0),
            _ => None,
        });
        let head = lane.shapes.iter().rev().find_map(|s| match s {
            Shape::Disc { x, y, fill: Ink::Text, .. } => Some((*x, *y)),
            _ => None,
        });
        let centre = lane.shapes.iter().find_map(|s| match s {
            Shape::Disc { x, y, fill: Ink::Raised, .. } => Some((*x, *y)),
            _ => None,
        });
        let (head, centre) = (head.unwrap(), centre.unwrap());
        let turn = (arc.unwrap() - (head.1 - centre.1).atan2(head.0 - centre.0)) / core::f32::consts::TAU;
        turn.rem_euclid(1.0)
    };
    let wait = (until - scene.snap.now) as f32 / synth::REV as f32;
    assert!((target(&scene) - wait).abs() < 0.01, "{} turns ahead, {wait} to wait", target(&scene));
    scene.snap.now = until;
    let left = target(&scene);
    assert!(!(0.01..=0.99).contains(&left), "{left}");
}

#[test]
fn a_fast_frame_shows_the_arc_swept_and_no_angles() {
    let scene = synth::sequential(false, HeadPhase::Rotate);
    let arcs = |dt| {
        let lane = lane(&input(&scene, dt), 830.0, 375.0, Layout::Wide);
        lane.shapes.iter().filter(|s| matches!(s, Shape::Arc { .. })).count()
    };
    assert_eq!(arcs(16_000_000), 1);
    assert!(arcs(30_000) > 5);
}

#[test]
fn a_chip_moves_when_its_command_is_issued_and_only_then() {
    let mut scene = synth::sequential(true, HeadPhase::Transfer);
    let shapes = |scene: &Scene, dt| lane(&input(scene, dt), 830.0, 375.0, Layout::Wide).shapes.len();
    let still = shapes(&scene, 30_000);
    let last = scene.strip.last_mut().unwrap();
    last.time = scene.snap.now - 100_000;
    assert_eq!(shapes(&scene, 30_000), still + 1, "under way for 14 frames of 30 us");
    assert_eq!(shapes(&scene, 5_000), still, "arrived long ago at this speed");
    assert_eq!(moves::density(&input(&scene, 30_000)), moves::Density::Few);
    assert_eq!(moves::density(&input(&scene, 100_000_000)), moves::Density::Some);
    assert_eq!(moves::density(&input(&scene, 1_000_000_000)), moves::Density::Many);
}

#[test]
fn a_lit_bio_lights_up_in_every_panel_it_is_in() {
    let scene = synth::sequential(false, HeadPhase::Rotate);
    let mut lit = input(&scene, 30_000);
    lit.lit = Some(What::Bio(1001));
    let frames =
        |lane: Lane| lane.shapes.iter().filter(|s| matches!(s, Shape::Frame { stroke: Ink::Text, .. })).count();
    assert_eq!(frames(lane(&lit, 830.0, 375.0, Layout::Wide)), 2, "its slot in the job and its chip in the plug");
}

#[test]
fn tooltips_state_facts() {
    let scene = synth::sequential(false, HeadPhase::Rotate);
    let say = |what| words(&scene.snap, &scene.strip, what).unwrap();
    assert_eq!(
        say(What::Bio(1001)),
        "Bio 1001: W zone 1121 at 220 MiB, 1 MiB, waits in its zone write plug; queued 246 ms ago."
    );
    assert_eq!(
        say(What::Rq(500)),
        "Request 500: W zone 1121 at 219 MiB, 672 KiB in 1 bio, driver tag 5; issued 900 us ago."
    );
    assert_eq!(say(What::Rq(480)), "W zone 1121 at 216 MiB, 672 KiB is under the head.");
    assert_eq!(say(What::Head), "Head over zone 1121 of 111,760: rotate 3.1 ms, until its sector comes round.");
    assert_eq!(
        say(What::Zone(1122)),
        "Zone 1122: implicitly open, written to 0 %, write pointer at 2 MiB, 125 turns in all. \
         Plug: PLUGGED, 31 bios queued, 32 references, wp_offset 3 MiB."
    );
    assert_eq!(words(&Snapshot::default(), &[], What::Head), None);
    let drawn = lane(&input(&scene, 30_000), 830.0, 375.0, Layout::Wide);
    let told = drawn.hits.iter().filter(|h| words(&scene.snap, &scene.strip, h.what).is_some()).count();
    assert_eq!(told, drawn.hits.len(), "every place has its words");
}

/// Texts of a lane in painting order.
fn texts(lane: &Lane) -> String {
    let text = |s: &Shape| if let Shape::Text { text, .. } = s { Some(text.clone()) } else { None };
    lane.shapes.iter().filter_map(text).collect::<Vec<_>>().join("|")
}

#[test]
fn every_place_of_the_board_has_its_words() {
    for (name, scene) in scenes() {
        let panels = input(&scene, 0).panels;
        if !board::any(panels) || name.starts_with("extreme") {
            continue;
        }
        let drawn = lane(&input(&scene, 0), 830.0, 700.0, Layout::of(830.0, panels));
        for hit in &drawn.hits {
            assert!(words(&scene.snap, &scene.strip, hit.what).is_some(), "{name}: {hit:?}");
        }
    }
}

#[test]
fn without_plugs_and_locks_the_panel_says_so() {
    for (ordering, words) in [(ZoneOrdering::Pipelined, "asks for"), (ZoneOrdering::None, "misaligned write fails")] {
        let scene = synth::null_blk(ordering, 1);
        // As beside a run that has them.
        let panels = Panels { zwplugs: true, timeline: true, ..NONE };
        let drawn = lane(&LaneInput { panels, ..input(&scene, 0) }, 600.0, 300.0, Layout::Wide);
        let texts = texts(&drawn).replace('|', " ");
        assert!(texts.contains("zone write order") && texts.contains(words), "{texts}");
    }
}

#[test]
fn policies_and_live_settings_appear_by_themselves() {
    let of = |scene: &Scene| input(scene, 0).panels;
    let plain = of(&synth::sequential(false, HeadPhase::Seek));
    assert_eq!(plain, Panels::ALL);
    assert_eq!(of(&synth::written()), Panels { freeze: true, ..plain });
    let queue = of(&synth::deadline(6, 8));
    assert_eq!(of(&synth::policies(false)), Panels { qos: true, waiters: false, ..queue });
    let null = of(&synth::null_blk(ZoneOrdering::Pipelined, 1));
    assert!(null.timeline && null.zonemap && !null.drive && !null.zwplugs, "nothing to show of who orders");
    assert!(of(&synth::null_blk(ZoneOrdering::ZoneLock, 1)).zwplugs);
    let asked = Panels { zonemap: true, timeline: true, ..NONE };
    assert_eq!(asked.of_device(subject(&synth::written())), Panels { zonemap: true, ..NONE }, "a disk has no timers");
}

#[test]
fn a_command_of_null_blk_is_a_bar_from_its_issue_to_the_end_of_its_timer() {
    let scene = synth::null_blk(ZoneOrdering::ZoneLock, 1);
    let panels = Panels { timeline: true, ..NONE };
    let drawn = lane(&LaneInput { panels, ..input(&scene, 0) }, 600.0, 300.0, Layout::Wide);
    let now = drawn.shapes.iter().find_map(|s| match s {
        Shape::Line { x0, stroke: Ink::A, .. } => Some(*x0),
        _ => None,
    });
    let (now, n) = (now.unwrap(), scene.snap.devices[0].null_blk.as_ref().unwrap());
    let flying = n.commands[0];
    let bar = drawn.hits.iter().find(|h| h.what == What::Rq(flying.cmd.rq)).unwrap();
    // One done before gives the scale.
    let done = n.recent.last().unwrap();
    let other = drawn.hits.iter().find(|h| h.what == What::Rq(done.cmd.rq)).unwrap();
    let px = (now - other.x) / (scene.snap.now - done.from) as f32;
    assert!((bar.x - (now - (scene.snap.now - flying.from) as f32 * px)).abs() < 0.5);
    assert!((bar.x + bar.w - (now + (flying.until - scene.snap.now) as f32 * px)).abs() < 0.5);
    let outlined = drawn.shapes.iter().any(|s| matches!(s, Shape::Frame { stroke: Ink::Text, .. }));
    assert!(outlined, "it holds the lock of its zone");
    assert!(texts(&drawn).contains("zone locks: 1 zone locked, 60 writes wait|zone 0|60 wait"), "{}", texts(&drawn));
}

#[test]
fn a_retry_begins_with_red_and_a_condition_is_told_without_colour() {
    let scene = synth::null_blk(ZoneOrdering::Pipelined, 64);
    let of = |panels, gzbd| lane(&LaneInput { panels, gzbd, ..input(&scene, 0) }, 600.0, 300.0, Layout::Wide);
    let timeline = of(Panels { timeline: true, ..NONE }, false);
    let red = timeline.shapes.iter().filter(|s| matches!(s, Shape::Rect { fill: Ink::Bad, .. })).count();
    assert!(red > 3, "{red}");
    let map = Panels { zonemap: true, ..NONE };
    let plain = of(map, false);
    assert!(plain.shapes.iter().all(|s| !matches!(s, Shape::Rect { fill: Ink::Gzbd(_), .. })));
    let coloured = of(map, true);
    assert!(coloured.shapes.iter().any(|s| matches!(s, Shape::Rect { fill: Ink::Gzbd(2), .. })));
    assert_eq!(texts(&plain), texts(&coloured), "its colours are an option, its words stay");
    for name in ["EMPTY", "IMP_OPEN", "EXP_OPEN", "CLOSED", "FULL", "READONLY", "OFFLINE", "NOT_WP"] {
        assert!(texts(&plain).contains(name), "{name}");
    }
}

#[test]
fn fewer_panels_fill_the_lane() {
    let scene = synth::sequential(true, HeadPhase::Transfer);
    let shown = |p: &Panels| *p != Panels { strip: true, ..NONE } && !board::any(*p);
    for panels in subsets(Kind::Zones).into_iter().filter(shown) {
        for w in [320.0, 560.0, 1200.0] {
            let layout = Layout::of(w, panels);
            let h = min_height(layout, panels) + 50.0;
            let drawn = lane(&LaneInput { panels, ..input(&scene, 0) }, w, h, layout);
            let boxes = drawn.shapes.iter().filter(|s| matches!(s, Shape::Rect { fill: Ink::Panel, r: 10.0, .. }));
            let boxes: Vec<Extent> = boxes.map(extent).collect();
            let shown = [panels.jobs, panels.zwplugs, panels.tags, panels.drive];
            assert_eq!(boxes.len(), shown.iter().filter(|s| **s).count(), "{panels:?}");
            let (first, last) = (boxes[0], boxes[boxes.len() - 1]);
            let below = h - if panels.strip { 70.0 } else { 13.0 };
            assert!(first.0 <= 12.0 && first.1 <= 12.0 && last.2 >= w - 12.5 && last.3 >= below, "{panels:?} {w}");
        }
    }
    assert_eq!(Layout::of(120.0, Panels { drive: true, ..NONE }), Layout::Wide, "alone there is nothing beside it");
    assert_eq!((Layout::of(499.0, Panels::ALL), Layout::of(500.0, Panels::ALL)), (Layout::Narrow, Layout::Wide));
}

const NONE: Panels = Panels::NONE;

#[test]
fn no_chip_moves_to_a_panel_that_is_not_shown() {
    let mut scene = synth::sequential(true, HeadPhase::Transfer);
    let shapes = |scene: &Scene, panels| {
        lane(&LaneInput { panels, ..input(scene, 30_000) }, 830.0, 375.0, Layout::Wide).shapes.len()
    };
    let (both, one) = (Panels { zwplugs: true, tags: true, ..NONE }, Panels { tags: true, ..NONE });
    let still = [shapes(&scene, both), shapes(&scene, one)];
    scene.strip.last_mut().unwrap().time = scene.snap.now - 100_000;
    assert_eq!([shapes(&scene, both), shapes(&scene, one)], [still[0] + 1, still[1]]);
}

fn titles(scene: &Scene, (w, h, layout): (f32, f32, Layout)) -> Vec<String> {
    let of = |shape: &Shape| match shape {
        Shape::Text { text, font: Font::Title | Font::MonoBold, .. } => Some(text.clone()),
        _ => None,
    };
    lane(&input(scene, 30_000), w, h, layout).shapes.iter().filter_map(of).collect()
}

#[test]
fn the_queues_stand_in_the_order_a_request_passes() {
    let mut scene = synth::sequential(false, HeadPhase::Rotate);
    for size in [SIZES[0], SIZES[4]] {
        assert_eq!(titles(&scene, size)[4..7], ["mq-deadline", "driver tags", "drive queue"]);
    }
    let device = &mut scene.snap.devices[0];
    (device.sched_tags, device.elevator) = (None, ElevatorView::None { queued: Vec::new() });
    for size in [SIZES[0], SIZES[4]] {
        assert_eq!(titles(&scene, size)[4..7], ["driver tags", "no scheduler", "drive queue"]);
    }
}

#[test]
fn a_ring_has_its_words_all_around() {
    let mut scene = synth::sequential(false, HeadPhase::Rotate);
    scene.trail.clear();
    let drawn = lane(&input(&scene, 30_000), 830.0, 375.0, Layout::Wide);
    let ring = drawn.hits.iter().find(|h| h.hole > 0.0 && h.what == What::Zone(1_121)).unwrap();
    let (cx, cy, r) = (ring.x + ring.w / 2.0, ring.y + ring.w / 2.0, (ring.w / 2.0 + ring.hole) / 2.0);
    for (x, y) in [(cx - r, cy), (cx, cy - r), (cx, cy + r)] {
        assert_eq!(hit(&drawn.hits, x, y), Some(What::Zone(1_121)));
    }
    assert_eq!(hit(&drawn.hits, cx, cy), None, "the hub");
}

#[test]
fn labels_stay_inside_their_chips() {
    every(|name, size, lane| {
        let chips = lane.shapes.windows(2).chain(lane.shapes.windows(3)).filter_map(|w| Some((w.first()?, w.last()?)));
        for (chip, label) in chips {
            let (Shape::Rect { x, w, .. }, Shape::Text { ink: Ink::OnZone, .. }) = (chip, label) else { continue };
            // A hatched chip's own edge comes first, its strip of 5 px is not the chip.
            if *w > 5.0 {
                let e = extent(label);
                assert!(e.0 >= x + 4.5 && e.2 <= x + w - 4.5, "{name} {size:?}: {label:?} in {chip:?}");
            }
        }
    });
}

/// Texts of a lane in painting order: a change of wording shows here.
#[test]
fn words_on_the_lane() {
    let scene = synth::sequential(true, HeadPhase::Transfer);
    let drawn = lane(&input(&scene, 30_000), 830.0, 375.0, Layout::Wide);
    let texts: Vec<&str> = drawn
        .shapes
        .iter()
        .filter_map(|s| if let Shape::Text { text, .. } = s { Some(text.as_str()) } else { None })
        .collect();
    assert_eq!(
        texts.join("|"),
        "fio|QD 64, full|full: waits|for one to|end|37|1121|27|1122|\
         zone write plugs|only the worker issues|zone_wplugs_list|1 zone|1122|worker: waits for 1121+219 to|complete|\
         zone 1121|36 bios · PLUGGED|1121+219|zone 1122|27 bios · PLUGGED|\
         mq-deadline|sched 0 of 64|write 0 · read 0|driver tags|1 of 32|drive queue|NCQ: 0 wait|1121+219M|cache 3 ·|window\u{a0}24|\
         SMR disk|7,200 rpm|seeks/s|96|outer|inner|head over 1121|transfer 3.1 ms|rings: 4 of 111,760 zones, not to scale|\
         D (issued), last|104 commands"
    );
}
