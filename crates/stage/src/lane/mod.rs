//! One lane of the compare mode: jobs, zone write plugs, tags and queues, drive, D-stage strip.
//!
//! Models: nothing; what it shows is the snapshot's.
//! Rule: a bio keeps its zone's colour in every panel (order of first use mod 6, hatched from the seventh on).
//! Leaves out: the lane's header with its readouts, which is HTML.

use bioscope_core::observe::snapshot::Snapshot;
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::time::SimDuration;
use bioscope_core::units::{BioId, JobIdx, RqId, Tag, ZoneNo};

use crate::shape::{DisplayList, Ink};

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
    /// By the width of the lane's canvas.
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
}

/// Where a thing was drawn, CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
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
    let _ = (input, width, height, layout);
    Lane::default()
}

/// What lies under a point.
pub fn hit(hits: &[Hit], x: f32, y: f32) -> Option<What> {
    hits.iter().rev().find(|h| x >= h.x && y >= h.y && x < h.x + h.w && y < h.y + h.h).map(|h| h.what)
}

/// The facts of a thing, one sentence or two: the text of a tooltip. `None` when it is gone.
pub fn words(snap: &Snapshot, strip: &[TraceRecord], what: What) -> Option<String> {
    let _ = (snap, strip, what);
    None
}
