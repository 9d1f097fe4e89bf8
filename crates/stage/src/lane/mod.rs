//! One lane of the compare mode: jobs, zone write plugs, tags and queues, drive, D-stage strip.
//!
//! Models: nothing; what it shows is the snapshot's.
//! Rule: a bio keeps its zone's colour in every panel (order of first use mod 6, hatched from the seventh on).
//! Leaves out: the lane's header with its readouts, which is HTML.

use bioscope_core::observe::snapshot::Snapshot;
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::time::SimDuration;
use bioscope_core::units::{BioId, JobIdx, RqId, Tag, ZoneNo};

use crate::shape::{DisplayList, Ink, within};
use pen::{Area, Colours, Lit, Pen};

pub mod drive;
pub mod jobs;
mod moves;
pub mod pen;
pub mod plugs;
pub mod queues;
mod strip;
mod words;

pub use words::words;

/// Which run a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    A,
    B,
}

impl Side {
    /// Colour of its lines and fields.
    pub fn ink(self) -> Ink {
        match self {
            Side::A => Ink::A,
            Side::B => Ink::B,
        }
    }
}

/// How the panels stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Side by side.
    Wide,
    /// Top to bottom.
    Narrow,
}

impl Layout {
    /// By the width of the lane's own canvas.
    pub fn of(width: f32) -> Self {
        if width < 500.0 { Layout::Narrow } else { Layout::Wide }
    }
}

/// What a lane is made from.
#[derive(Clone, Copy)]
pub struct LaneInput<'a> {
    /// The moment.
    pub snap: &'a Snapshot,
    /// Recent `Issue` records, oldest first; other actions are passed over, the last [`STRIP`] are shown.
    pub strip: &'a [TraceRecord],
    /// Recent `Seek` records, oldest first; the last few are drawn.
    pub trail: &'a [TraceRecord],
    /// Recent records of all actions, oldest first: chips that move come from these. May be empty.
    pub moves: &'a [TraceRecord],
    /// Which run.
    pub side: Side,
    /// Simulated time between this frame and the last (at this speed, also while paused).
    pub dt_sim_ns: SimDuration,
    /// Repositionings per second, as the readout has it.
    pub seeks_per_sec: f64,
    /// Title of the jobs panel: `fio`, `writeback`.
    pub tool: &'a str,
    /// Title of the drive panel: `SMR disk`.
    pub drive: &'a str,
    /// What is hovered or focused: lit in every panel.
    pub lit: Option<What>,
}

/// Commands in the D-stage strip.
pub const STRIP: usize = 104;

/// A thing on the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    Job(JobIdx),
    Bio(BioId),
    Rq(RqId),
    Zone(ZoneNo),
    Tag(Tag),
    /// Index in [`LaneInput::strip`].
    Issue(u32),
    Worker,
    Head,
    /// The cache's fill and window.
    Cache,
    /// Red strokes of the platter.
    Trail,
}

/// Where a thing was drawn, CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
    /// 0, or the inner radius: the place is then a ring inside its square.
    pub hole: f32,
    pub what: What,
}

/// A lane, drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lane {
    /// Shapes in painting order.
    pub shapes: DisplayList,
    /// Places with a tooltip, the topmost last.
    pub hits: Vec<Hit>,
}

/// Height below which a lane is not drawn well.
pub fn min_height(layout: Layout) -> f32 {
    match layout {
        Layout::Wide => 300.0,
        Layout::Narrow => 900.0,
    }
}

/// Draws a lane of the given size.
pub fn lane(input: &LaneInput, width: f32, height: f32, layout: Layout) -> Lane {
    let snap = input.snap;
    let device = snap.devices.first();
    let mut pen = Pen { out: Lane::default(), colours: Colours::of(snap), lit: resolve(input) };
    let places = Places::of(input, width, height, layout);
    let narrow = layout == Layout::Narrow;
    jobs::draw(&mut pen, places.jobs, snap, input.tool, narrow);
    plugs::draw(&mut pen, places.plugs, device, snap.now);
    queues::draw(&mut pen, places.queues, device, snap.now);
    let drive = drive::DriveInput {
        title: input.drive,
        trail: input.trail,
        now: snap.now,
        dt: input.dt_sim_ns,
        seeks_per_sec: input.seeks_per_sec,
    };
    drive::draw(&mut pen, places.drive, device, &drive);
    let zone_sectors = device.map_or(0, |d| d.drive.zone_sectors);
    strip::draw(&mut pen, places.strip, input.strip, zone_sectors, input.side, narrow);
    moves::draw(&mut pen, &places, input);
    pen.out
}

/// Where the panels stand.
pub(crate) struct Places {
    pub jobs: Area,
    pub plugs: Area,
    pub queues: Area,
    pub drive: Area,
    pub strip: Area,
}

impl Places {
    fn of(input: &LaneInput, width: f32, height: f32, layout: Layout) -> Self {
        match layout {
            Layout::Wide => Self::wide(input, width, height),
            Layout::Narrow => Self::narrow(width, height),
        }
    }
    /// Side by side: the drive takes what the others leave.
    fn wide(input: &LaneInput, width: f32, height: f32) -> Self {
        let roomy = width >= 700.0;
        let (pad, gap) = if roomy { (12.0, 12.0) } else { (8.0, 8.0) };
        let many = input.snap.jobs.len() > 1;
        let room = width - 2.0 * pad - 3.0 * gap;
        let jobs = if many { within(room * 0.17, 100.0, 150.0) } else { within(room * 0.125, 86.0, 110.0) };
        let queues = within(room * 0.15, 108.0, 150.0);
        let plugs = within(room * 0.3, 150.0, 300.0);
        let strip = Area::new(pad, height - 42.0, width - 2.0 * pad, 38.0);
        let h = strip.y - pad - 6.0;
        let mut x = pad;
        let mut take = |w: f32| {
            let area = Area::new(x, pad, w, h);
            x += w + gap;
            area
        };
        Self {
            jobs: take(jobs),
            plugs: take(plugs),
            queues: take(queues),
            drive: take(room - jobs - plugs - queues),
            strip,
        }
    }
    /// Top to bottom, in the order a bio passes.
    fn narrow(width: f32, height: f32) -> Self {
        let gap = 8.0;
        let room = height - 4.0 * gap - 50.0;
        let mut y = 0.0;
        let mut take = |part: f32| {
            let area = Area::new(0.0, y, width, (room * part).floor());
            y += area.h + gap;
            area
        };
        let (jobs, plugs, queues, drive) = (take(0.155), take(0.285), take(0.17), take(0.39));
        Self { jobs, plugs, queues, drive, strip: Area::new(4.0, height - 48.0, width - 8.0, 46.0) }
    }
}

/// Ids behind what is lit.
fn resolve(input: &LaneInput) -> Lit {
    match input.lit {
        Some(What::Bio(bio)) => Lit { bio, ..Lit::default() },
        Some(What::Rq(rq)) => {
            let bio = words::request(input.snap, rq).map_or(0, |r| r.bio);
            Lit { bio, rq, zone: None }
        }
        Some(What::Zone(zone)) => Lit { zone: Some(zone), ..Lit::default() },
        Some(What::Issue(index)) => {
            input.strip.get(index as usize).map_or_else(Lit::default, |r| Lit { bio: r.bio, rq: r.rq, zone: None })
        }
        _ => Lit::default(),
    }
}

/// What lies under a point.
pub fn hit(hits: &[Hit], x: f32, y: f32) -> Option<What> {
    let inside = |h: &&Hit| {
        let (dx, dy, r) = (x - h.x - h.w / 2.0, y - h.y - h.h / 2.0, h.w / 2.0);
        let far = dx * dx + dy * dy;
        let ring = h.hole == 0.0 || (far >= h.hole * h.hole && far < r * r);
        ring && dx.abs() <= r && dy.abs() <= h.h / 2.0
    };
    hits.iter().rev().find(inside).map(|h| h.what)
}

#[cfg(test)]
mod tests;
