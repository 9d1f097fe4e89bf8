//! Renders lanes, charts and parts of made-up snapshots as SVG files into a folder, to look at them.
//!
//! `cargo run -p bioscope-stage --features svg --example preview -- FOLDER`

use std::path::Path;

use bioscope_core::config::{MdLevel, Rw, SplitInsert, ZoneOrdering};
use bioscope_core::observe::snapshot::HeadPhase;
use bioscope_core::observe::stats::DriveTime;
use bioscope_stage::charts::{self, Sweep};
use bioscope_stage::palette::{DARK, LIGHT, Palette};
use bioscope_stage::synth::{self, Scene};
use bioscope_stage::{LaneInput, Layout, Panels, Side, Subject, lane, parts, svg};
use plotters::prelude::SVGBackend;

const SIZES: [(&str, f32, f32, Layout); 4] = [
    ("wide", 830.0, 375.0, Layout::Wide),
    ("middle", 610.0, 330.0, Layout::Wide),
    ("tall", 830.0, 700.0, Layout::Wide),
    ("narrow", 358.0, 900.0, Layout::Narrow),
];

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "preview".into());
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let scenes: Vec<(&str, Side, u64, Scene)> = vec![
        ("a-rotate", Side::A, 30_000, synth::sequential(false, HeadPhase::Rotate)),
        ("a-seek", Side::A, 30_000, synth::sequential(false, HeadPhase::Seek)),
        ("a-fast", Side::A, 16_000_000, synth::sequential(false, HeadPhase::Rotate)),
        ("b-transfer", Side::B, 30_000, synth::sequential(true, HeadPhase::Transfer)),
        ("a-random-128", Side::A, 30_000, synth::random(128, false)),
        ("b-random-8", Side::B, 30_000, synth::random(8, true)),
        ("writeback", Side::A, 30_000, synth::writeback()),
        ("idle", Side::B, 0, synth::idle()),
        ("errors", Side::A, 30_000, synth::errors()),
        ("tail", Side::A, 30_000, synth::raid5(8, SplitInsert::Tail, 5)),
        ("tail, later", Side::A, 30_000, synth::raid5(8, SplitInsert::Tail, 100)),
        ("head", Side::B, 30_000, synth::raid5(8, SplitInsert::Head, 1_000)),
        ("36 disks", Side::A, 30_000, synth::raid5(36, SplitInsert::Tail, 1_000)),
        ("rmw", Side::A, 30_000, synth::rmw()),
        ("check", Side::A, 30_000, synth::check()),
        ("run, tail", Side::A, 30_000, synth::run(synth::array(MdLevel::Raid5, 8, SplitInsert::Tail, Rw::Read), 5)),
        ("run, head", Side::B, 30_000, synth::run(synth::array(MdLevel::Raid5, 8, SplitInsert::Head, Rw::Read), 120)),
        ("run, writes", Side::A, 30_000, synth::run(synth::array(MdLevel::Raid5, 8, SplitInsert::Head, Rw::Write), 9)),
    ];
    let queues: Vec<(&str, Side, u64, Scene)> = vec![
        ("batch 8", Side::A, 30_000, synth::deadline(24, 8)),
        ("batch 1", Side::B, 30_000, synth::deadline(24, 1)),
        ("classes", Side::A, 30_000, synth::classes()),
        ("kyber", Side::A, 30_000, synth::kyber()),
        ("bfq", Side::B, 30_000, synth::bfq(7)),
        ("bfq of 30", Side::A, 30_000, synth::bfq(30)),
        ("none", Side::A, 30_000, synth::none(256)),
        ("empty", Side::A, 30_000, synth::empty_queue()),
        ("extreme", Side::B, 30_000, synth::extreme_queue()),
    ];
    let boards: Vec<(&str, Side, u64, Scene)> = vec![
        ("plugs", Side::A, 30_000, synth::null_blk(ZoneOrdering::Zwplug, 1)),
        ("locks", Side::B, 30_000, synth::null_blk(ZoneOrdering::ZoneLock, 64)),
        ("pipelined", Side::A, 30_000, synth::null_blk(ZoneOrdering::Pipelined, 8)),
        ("unordered", Side::A, 30_000, synth::null_blk(ZoneOrdering::None, 300)),
        ("flash", Side::A, 30_000, synth::flash(8, 4, true)),
        ("flash without zones", Side::B, 30_000, synth::flash(4, 2, false)),
        ("wbt", Side::A, 30_000, synth::policies(false)),
        ("all policies", Side::B, 30_000, synth::policies(true)),
        ("frozen", Side::A, 30_000, synth::frozen()),
        ("written", Side::B, 30_000, synth::written()),
    ];
    let scenes: Vec<(&str, Side, u64, Scene)> = scenes.into_iter().chain(queues).chain(boards).collect();
    for (theme, palette) in [("dark", DARK), ("light", LIGHT)] {
        for (size, w, h, layout) in SIZES {
            for (n, group) in scenes.chunks(3).enumerate() {
                let mut html = format!("<body style='margin:0;background:{}'>", palette.bg.css());
                for (_, side, dt, scene) in group {
                    let input = input(scene, *side, *dt);
                    let layout = if lane::board::any(input.panels) { Layout::of(w, input.panels) } else { layout };
                    let h = h.max(lane::min_height(layout, input.panels));
                    let drawn = lane(&input, w, h, layout);
                    html += &svg::document(&drawn.shapes, w, h, &palette);
                    html += if size == "narrow" { "" } else { "<br>" };
                }
                std::fs::write(folder.join(format!("{theme}-{size}-{n}.html")), html)?;
            }
        }
        std::fs::write(folder.join(format!("{theme}-charts.html")), chart_page(&palette))?;
    }
    Ok(())
}

fn input(scene: &Scene, side: Side, dt: u64) -> LaneInput<'_> {
    LaneInput {
        snap: &scene.snap,
        order: scene.order.as_ref(),
        strip: &scene.strip,
        trail: &scene.trail,
        moves: &scene.strip,
        side,
        panels: Panels::EVERY.of_device(Subject::of(&scene.snap, scene.order.as_ref())),
        dt_sim_ns: dt,
        seeks_per_sec: if side == Side::A { 96.0 } else { 1.0 },
        tool: "fio",
        drive: "SMR disk",
        lit: None,
        gzbd: false,
    }
}

fn chart_page(palette: &Palette) -> String {
    let depths = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];
    let a = [245.0, 245.0, 239.0, 235.0, 208.0, 204.0, 172.0, 120.0];
    let published = [244.0, 244.0, 245.0, 242.0, 222.0, 211.0, 193.0, 112.0];
    let mut points: Vec<_> = a.iter().enumerate().map(|(i, y)| (Side::A, i, *y)).collect();
    points.extend((0..8).map(|i| (Side::B, i, 245.0)));
    let rings: Vec<_> = published.iter().enumerate().map(|(i, y)| (Side::A, i, *y)).collect();
    let data = Sweep { settings: &depths, points: &points, published: &rings, current: Some(64.0) };
    let mut chart = String::new();
    charts::sweep(SVGBackend::with_string(&mut chart, (310, 190)), &data, palette, 1.0).expect("chart");
    let slow = DriveTime {
        seek: 600_000_000,
        rotate: 2_600_000_000,
        transfer: 4_080_000_000,
        bytes: 1000 << 20,
        ..DriveTime::default()
    };
    let fast = DriveTime { seek: 10_000_000, rotate: 40_000_000, transfer: 4_080_000_000, ..slow };
    let sides = [(Side::A, parts::per_mib(&slow)), (Side::B, parts::per_mib(&fast))];
    let bars = svg::document(&parts::bars(&sides, 310.0), 310.0, parts::height(2), palette);
    let wave: Vec<f32> = (0..300).map(|i| if i % 60 < 28 { 245.0 } else { 118.0 + (i % 7) as f32 }).collect();
    let flat: Vec<f32> = (0..300).map(|i| 244.0 + (i % 3) as f32).collect();
    let line = svg::document(&charts::overview(&wave, Some(&flat), 0.32, 850.0, 44.0), 850.0, 44.0, palette);
    let bg = palette.bg.css();
    format!("<body style='margin:8px;background:{bg}'>{chart}<br>{bars}<br>{line}")
}
