//! One lane of the compare mode. Of a zoned drive: jobs, zone write plugs, tags and queues, drive, D-stage strip; of a
//! device without zones: tag maps, wait queues, scheduler ([`queue`]); of a stacked device: the lists of a submission, the
//! order at the disks, their map ([`stack`]); of a zoned device without a head, and wherever policies or live settings
//! are part of the run: [`board`].
//!
//! Models: nothing; what it shows is the snapshot's.
//! Rule: a bio keeps its zone's colour in every panel (order of first use mod 6, hatched from the seventh on).
//! Leaves out: the lane's header with its readouts, which is HTML.

use bioscope_core::config::{DeviceKind, Setting, SimConfig, WorkloadConfig, ZoneOrdering};
use bioscope_core::observe::snapshot::Snapshot;
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::time::SimDuration;
use bioscope_core::units::{BioId, JobIdx, RqId, Tag, ZoneNo};
use bioscope_session::{self as session, OrderFrame, SideFrame};

use crate::shape::{DisplayList, Ink, within};
use pen::{Area, Colours, Lit, Pen};

pub mod board;
pub mod drive;
pub mod jobs;
mod moves;
pub mod pen;
pub mod plugs;
pub mod queue;
pub mod queues;
pub mod stack;
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

impl From<session::Side> for Side {
    fn from(side: session::Side) -> Self {
        match side {
            session::Side::A => Side::A,
            session::Side::B => Side::B,
        }
    }
}

/// What a device is, for the choice of panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A zoned disk.
    Zones,
    /// Made of other devices.
    Stack,
    /// A queue over a device without zones; `disk`: it has a head, `timers`: it is null_blk.
    Queue { disk: bool, timers: bool },
    /// null_blk with zones.
    NullBlk,
    /// Flash, with zones or without.
    Flash { zoned: bool },
}

impl Kind {
    /// Of the device that the jobs submit to.
    pub fn of_config(cfg: &SimConfig) -> Self {
        let Some(dev) = cfg.jobs.first().and_then(|j| cfg.devices.get(usize::from(j.dev))).or(cfg.devices.last())
        else {
            return Self::Zones;
        };
        match &dev.kind {
            _ if !dev.members().is_empty() => Self::Stack,
            DeviceKind::Disk(d) if d.profile.zoned => Self::Zones,
            DeviceKind::Disk(_) => Self::Queue { disk: true, timers: false },
            DeviceKind::NullBlk(n) if n.zones.is_some() => Self::NullBlk,
            DeviceKind::Flash(f) => Self::Flash { zoned: f.zones.is_some() },
            other => Self::Queue { disk: false, timers: matches!(other, DeviceKind::NullBlk(_)) },
        }
    }
    /// A disk: it spends its time seeking, turning and transferring.
    pub fn has_head(self) -> bool {
        matches!(self, Self::Zones | Self::Queue { disk: true, .. })
    }
    /// The same from what is shown.
    pub fn of(snap: &Snapshot, order: Option<&OrderFrame>) -> Self {
        match snap.devices.first() {
            _ if order.is_some() => Self::Stack,
            Some(d) if d.flash.is_some() => Self::Flash { zoned: d.zoned.is_some() },
            Some(d) if d.null_blk.is_some() && d.zoned.is_some() => Self::NullBlk,
            Some(d) if !d.drive.zoned => Self::Queue { disk: d.drive.rev_ns > 0, timers: d.null_blk.is_some() },
            _ => Self::Zones,
        }
    }
}

/// What is to be shown, for the choice of panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The device.
    pub kind: Kind,
    /// Something keeps the writes of a zone in order: plugs or locks.
    pub ordered: bool,
    /// The queue has policies of rq_qos.
    pub qos: bool,
    /// Settings are written during the run.
    pub live: bool,
}

impl Subject {
    /// Of a run.
    pub fn of_config(cfg: &SimConfig) -> Self {
        let policy = |d: &bioscope_core::config::DeviceConfig| {
            d.queue.is_some_and(|q| q.wbt_lat_ns.is_some_and(|ns| ns > 0) || q.iocost.is_some())
        };
        let written = cfg.changes.iter().any(|c| matches!(c.setting, Setting::WbtLat(_)));
        Self {
            kind: Kind::of_config(cfg),
            ordered: matches!(cfg.kernel.zone_ordering, ZoneOrdering::Zwplug | ZoneOrdering::ZoneLock),
            qos: written || cfg.devices.iter().any(policy) || cfg.jobs.iter().any(|j| j.cgroup.latency_ns > 0),
            live: !cfg.changes.is_empty(),
        }
    }
    /// From what is shown.
    pub fn of(snap: &Snapshot, order: Option<&OrderFrame>) -> Self {
        let device = snap.devices.first();
        let ordering = device.and_then(|d| d.zoned.as_ref()).map(|z| z.ordering);
        Self {
            kind: Kind::of(snap, order),
            ordered: !matches!(ordering, Some(ZoneOrdering::Pipelined | ZoneOrdering::None)),
            qos: device.is_some_and(|d| !board::qos::policies(&d.qos).is_empty()),
            live: device.is_some_and(|d| d.freeze.is_some() || !d.changes.is_empty()),
        }
    }
    /// Two runs that are shown alike: what either has.
    pub fn with(self, other: Self) -> Self {
        Self {
            ordered: self.ordered || other.ordered,
            qos: self.qos || other.qos,
            live: self.live || other.live,
            ..self
        }
    }
}

/// Which panels a lane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panels {
    pub jobs: bool,
    pub zwplugs: bool,
    pub tags: bool,
    pub drive: bool,
    pub strip: bool,
    pub biolist: bool,
    pub order: bool,
    pub members: bool,
    pub listing: bool,
    pub tagmap: bool,
    pub waiters: bool,
    pub sched: bool,
    pub timeline: bool,
    pub zonemap: bool,
    pub flash: bool,
    pub qos: bool,
    pub freeze: bool,
}

impl Panels {
    /// None.
    pub const NONE: Self = Self {
        jobs: false,
        zwplugs: false,
        tags: false,
        drive: false,
        strip: false,
        biolist: false,
        order: false,
        members: false,
        listing: false,
        tagmap: false,
        waiters: false,
        sched: false,
        timeline: false,
        zonemap: false,
        flash: false,
        qos: false,
        freeze: false,
    };
    /// Whatever there is.
    pub const EVERY: Self = Self {
        jobs: true,
        zwplugs: true,
        tags: true,
        tagmap: true,
        waiters: true,
        sched: true,
        drive: true,
        timeline: true,
        zonemap: true,
        flash: true,
        qos: true,
        freeze: true,
        ..Self::STACK
    };
    /// The whole lane of a drive.
    pub const ALL: Self = Self { jobs: true, zwplugs: true, tags: true, drive: true, strip: true, ..Self::NONE };
    /// The whole lane of a stacked device.
    pub const STACK: Self =
        Self { biolist: true, order: true, members: true, listing: true, strip: true, ..Self::NONE };

    /// The whole lane of a queue.
    pub const QUEUE: Self = Self { tagmap: true, waiters: true, sched: true, drive: true, strip: true, ..Self::NONE };

    /// Those that there are for what is shown; of all, those that say most about it. Panels of a queue lead where there
    /// are no zones; elsewhere they are shown alone where they alone are asked for. Policies and live settings are shown
    /// where a run has them, beside every device.
    pub fn of_device(self, subject: Subject) -> Self {
        let kind = subject.kind;
        let all = match kind {
            _ if self == Self::EVERY => Self::best(subject),
            Kind::Stack => Self::STACK,
            _ if board::any(self) => Self::board(kind),
            Kind::Queue { disk, .. } if queue::any(self) => Self { drive: disk, ..Self::QUEUE },
            Kind::Zones if queue::any(self) && !self.jobs && !self.zwplugs && !self.tags => Self::QUEUE,
            _ => Self { drive: kind.has_head(), ..Self::ALL },
        };
        Self {
            jobs: self.jobs && all.jobs,
            zwplugs: self.zwplugs && all.zwplugs,
            tags: self.tags && all.tags,
            drive: self.drive && all.drive,
            strip: self.strip,
            biolist: self.biolist && all.biolist,
            order: self.order && all.order,
            members: self.members && all.members,
            listing: self.listing && all.listing,
            tagmap: self.tagmap && all.tagmap,
            waiters: self.waiters && all.waiters,
            sched: self.sched && all.sched,
            timeline: self.timeline && all.timeline,
            zonemap: self.zonemap && all.zonemap,
            flash: self.flash && all.flash,
            qos: self.qos && all.qos,
            freeze: self.freeze && all.freeze,
        }
    }

    /// What a lane shows that was asked for nothing in particular.
    fn best(subject: Subject) -> Self {
        let Subject { kind, ordered, qos, live } = subject;
        let own = match kind {
            Kind::Stack => return Self::STACK,
            Kind::Zones => Self::ALL,
            // Who is held back by a policy does not sleep for a tag.
            Kind::Queue { disk, .. } => Self { drive: disk, waiters: !qos, ..Self::QUEUE },
            Kind::NullBlk => Self { zwplugs: ordered, drive: false, timeline: true, zonemap: true, ..Self::ALL },
            Kind::Flash { zoned } => {
                Self { zwplugs: ordered && zoned, drive: false, flash: true, zonemap: zoned, ..Self::ALL }
            }
        };
        Self { qos, freeze: live, ..own }
    }

    /// What there is beside panels of the board.
    fn board(kind: Kind) -> Self {
        let zoned = matches!(kind, Kind::Zones | Kind::NullBlk | Kind::Flash { zoned: true });
        Self {
            jobs: true,
            zwplugs: zoned,
            tags: true,
            tagmap: true,
            waiters: true,
            sched: true,
            drive: kind.has_head(),
            timeline: matches!(kind, Kind::NullBlk | Kind::Queue { timers: true, .. }),
            zonemap: zoned,
            flash: matches!(kind, Kind::Flash { .. }),
            qos: true,
            freeze: true,
            strip: true,
            ..Self::NONE
        }
    }

    /// Shown or not, and least width, in the order a bio passes; the strip stands apart.
    fn columns(self) -> [(bool, f32); 4] {
        [(self.jobs, 86.0), (self.zwplugs, 150.0), (self.tags, 108.0), (self.drive, 116.0)]
    }
    /// How many stand beside or above each other, and what the shown ones of four numbers make together.
    fn sum(self, of: [f32; 4]) -> (f32, f32) {
        let shown = self.columns().into_iter().zip(of).filter(|c| c.0.0);
        shown.fold((0.0, 0.0), |sum, c| (sum.0 + 1.0, sum.1 + c.1))
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
    /// By the width of the lane's own canvas: all panels stand side by side from 500 px, one alone always.
    pub fn of(width: f32, panels: Panels) -> Self {
        if stack::any(panels) {
            return stack::layout(width, panels);
        }
        if board::any(panels) {
            return board::layout(width, panels);
        }
        if queue::any(panels) {
            return queue::layout(width, panels);
        }
        let (n, least) = panels.sum(panels.columns().map(|c| c.1));
        if n > 1.0 && width < least + 8.0 * (n + 1.0) { Layout::Narrow } else { Layout::Wide }
    }
}

/// What a lane is made from.
#[derive(Clone, Copy)]
pub struct LaneInput<'a> {
    /// The moment.
    pub snap: &'a Snapshot,
    /// Of a run with a stacked device.
    pub order: Option<&'a OrderFrame>,
    /// Recent `Issue` records, oldest first; other actions are passed over, the last [`STRIP`] are shown. With a
    /// stacked device, its records.
    pub strip: &'a [TraceRecord],
    /// Recent `Seek` records, oldest first; the last few are drawn.
    pub trail: &'a [TraceRecord],
    /// Recent records of all actions, oldest first: chips that move come from these. May be empty.
    pub moves: &'a [TraceRecord],
    /// Which run.
    pub side: Side,
    /// What of the lane is shown.
    pub panels: Panels,
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
    /// Zones in the colours of gzbd-viewer, in the map of zones.
    pub gzbd: bool,
}

impl<'a> LaneInput<'a> {
    /// All panels of a session's side at rest; `speed` is in simulated ns a second, `tool` from [`tool`].
    pub fn of(frame: &'a SideFrame, side: Side, speed: u64, tool: &'a str) -> Self {
        Self {
            snap: &frame.snapshot,
            order: frame.order.as_ref(),
            strip: frame.strip(),
            trail: &frame.seeks,
            // Standing still, every chip is where it belongs.
            moves: &[],
            side,
            panels: Panels::EVERY.of_device(Subject::of(&frame.snapshot, frame.order.as_ref())),
            // A picture stands for the simulated time of one animation frame; paused, of one at this speed.
            dt_sim_ns: speed / 60,
            seeks_per_sec: frame.readouts.seeks_per_sec,
            tool,
            drive: drive_title(frame),
            lit: None,
            gzbd: false,
        }
    }
}

/// What writes, in a word: the title of the jobs panel.
pub fn tool(cfg: &SimConfig) -> &'static str {
    match cfg.jobs.first().map(|j| &j.workload) {
        Some(WorkloadConfig::Writeback(_)) => "writeback",
        Some(WorkloadConfig::List(_)) => "list",
        _ => "fio",
    }
}

/// What a side's drive is called.
pub fn drive_title(frame: &SideFrame) -> &'static str {
    if matches!(Kind::of(&frame.snapshot, frame.order.as_ref()), Kind::Queue { .. }) { "disk" } else { "SMR disk" }
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
    /// A bit of the sched tags (true) or the driver tags.
    MapTag(bool, Tag),
    /// A wait queue.
    Ws(u8),
    /// A domain of kyber.
    Domain(u8),
    /// Place of a queue in bfq's list.
    BfqQueue(u16),
    /// A job's column of tags.
    Held(JobIdx),
    /// A mark or a word of the queue's scene that wants explaining.
    Note(queue::Note),
    /// Open and active zones against their limits.
    Limits,
    /// Looks of the conditions of zones.
    Legend,
    /// wbt's window, step and limits.
    Wbt,
    /// What the gate before rq_qos saved.
    Gate,
    /// The freeze that is going on.
    Freeze,
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

/// The panels shown above each other, stretched from their least heights to `bottom`.
fn above_each_other(heights: [f32; 4], shown: [bool; 4], width: f32, bottom: f32) -> [Option<Area>; 4] {
    let mut out = [None; 4];
    let least: f32 = heights.iter().zip(shown).filter(|h| h.1).map(|h| h.0).sum();
    let n = shown.iter().filter(|s| **s).count() as f32;
    let stretch = (bottom - n * 8.0) / least;
    let mut y = 0.0;
    for i in (0..4).filter(|i| shown[*i]) {
        let h = (heights[i] * stretch).floor();
        out[i] = Some(Area::new(0.0, y, width, h));
        y += h + 8.0;
    }
    out
}

/// Height below which a lane is not drawn well.
pub fn min_height(layout: Layout, panels: Panels) -> f32 {
    if stack::any(panels) {
        return stack::min_height(layout, panels);
    }
    if board::any(panels) {
        return board::min_height(layout, panels);
    }
    if queue::any(panels) {
        return queue::min_height(layout, panels);
    }
    let (n, parts) = panels.sum(PARTS);
    let strip = if panels.strip { 50.0 } else { 0.0 };
    match layout {
        Layout::Wide if n == 0.0 => strip,
        Layout::Wide => strip + 250.0,
        Layout::Narrow => strip + n * 8.0 + 818.0 * parts,
    }
}

/// Draws a lane of the given size.
pub fn lane(input: &LaneInput, width: f32, height: f32, layout: Layout) -> Lane {
    let snap = input.snap;
    let device = snap.devices.first();
    let mut pen = Pen { out: Lane::default(), colours: Colours::of(snap), lit: resolve(input) };
    if let Some(order) = input.order {
        let io = stack::Io::of(order, snap);
        stack::draw(&mut pen, &io, input.panels, input.side, (width, height), layout);
        return pen.out;
    }
    if board::any(input.panels) {
        board::draw(&mut pen, input, (width, height), layout);
        return pen.out;
    }
    if queue::any(input.panels) {
        queue::draw(&mut pen, input, (width, height), layout);
        return pen.out;
    }
    let places = Places::of(input, width, height, layout);
    if let Some(area) = places.jobs {
        jobs::draw(&mut pen, area, snap, input.tool, layout == Layout::Narrow || area.w > 250.0);
    }
    if let Some(area) = places.plugs {
        plugs::draw(&mut pen, area, device, snap.now);
    }
    if let Some(area) = places.queues {
        queues::draw(&mut pen, area, device, snap.now);
    }
    if let Some(area) = places.drive {
        let drive = drive::DriveInput {
            title: input.drive,
            trail: input.trail,
            now: snap.now,
            dt: input.dt_sim_ns,
            seeks_per_sec: input.seeks_per_sec,
        };
        drive::draw(&mut pen, area, device, &drive);
    }
    if let Some(area) = places.strip {
        let zone_sectors = device.map_or(0, board::zone_sectors);
        let stacked = layout == Layout::Narrow || width < 500.0;
        strip::draw(&mut pen, area, input.strip, zone_sectors, input.side, stacked);
    }
    moves::draw(&mut pen, &places, input);
    pen.out
}

/// Top to bottom: parts of the height.
const PARTS: [f32; 4] = [0.155, 0.285, 0.17, 0.39];

/// Where the panels that are shown stand.
pub(crate) struct Places {
    pub jobs: Option<Area>,
    pub plugs: Option<Area>,
    pub queues: Option<Area>,
    pub drive: Option<Area>,
    pub strip: Option<Area>,
}

impl Places {
    fn of(input: &LaneInput, width: f32, height: f32, layout: Layout) -> Self {
        match layout {
            Layout::Wide => Self::wide(input, width, height),
            Layout::Narrow => Self::narrow(input.panels, width, height),
        }
    }
    /// Side by side: the drive takes what the others leave; fewer panels are stretched to the same width.
    fn wide(input: &LaneInput, width: f32, height: f32) -> Self {
        let on = input.panels;
        let roomy = width >= 700.0;
        let (pad, gap) = if roomy { (12.0, 12.0) } else { (8.0, 8.0) };
        let many = input.snap.jobs.len() > 1;
        let room = (width - 2.0 * pad - 3.0 * gap).max(460.0);
        let jobs = if many { within(room * 0.17, 100.0, 150.0) } else { within(room * 0.125, 86.0, 110.0) };
        let queues = within(room * 0.15, 108.0, 150.0);
        let plugs = within(room * 0.3, 150.0, 300.0);
        let widths = [jobs, plugs, queues, room - jobs - plugs - queues];
        let (n, taken) = on.sum(widths);
        let stretch = if n == 4.0 { 1.0 } else { (width - 2.0 * pad - (n - 1.0) * gap) / taken };
        let bottom = match (on.strip, n == 0.0) {
            (true, false) => height - 42.0,
            (true, true) => 4.0,
            (false, _) => height - pad + 6.0,
        };
        let strip = Area::new(pad, bottom, width - 2.0 * pad, height - bottom - 4.0);
        let h = bottom - pad - 6.0;
        let mut x = pad;
        let mut take = |shown: bool, w: f32| {
            let area = Area::new(x, pad, w * stretch, h);
            x += if shown { area.w + gap } else { 0.0 };
            shown.then_some(area)
        };
        Self {
            jobs: take(on.jobs, widths[0]),
            plugs: take(on.zwplugs, widths[1]),
            queues: take(on.tags, widths[2]),
            drive: take(on.drive, widths[3]),
            strip: on.strip.then_some(strip),
        }
    }
    /// Top to bottom, in the order a bio passes.
    fn narrow(on: Panels, width: f32, height: f32) -> Self {
        let gap = 8.0;
        let (n, parts) = on.sum(PARTS);
        let parts = if n == 4.0 { 1.0 } else { parts };
        let room = height - n * gap - if on.strip { 50.0 } else { 0.0 };
        let mut y = 0.0;
        let mut take = |shown: bool, part: f32| {
            let area = Area::new(0.0, y, width, (room * part / parts).floor());
            y += if shown { area.h + gap } else { 0.0 };
            shown.then_some(area)
        };
        Self {
            jobs: take(on.jobs, PARTS[0]),
            plugs: take(on.zwplugs, PARTS[1]),
            queues: take(on.tags, PARTS[2]),
            drive: take(on.drive, PARTS[3]),
            strip: on.strip.then_some(Area::new(4.0, height - 48.0, width - 8.0, 46.0)),
        }
    }
}

/// Ids behind what is lit.
fn resolve(input: &LaneInput) -> Lit {
    match input.lit {
        Some(What::Bio(bio)) => Lit { bio, ..Lit::default() },
        Some(What::Rq(rq)) => {
            let bio = words::request(input.snap, rq).map_or(0, |r| r.bio);
            Lit { bio, rq, ..Lit::default() }
        }
        Some(What::Zone(zone)) => Lit { zone: Some(zone), ..Lit::default() },
        Some(What::Issue(index)) => input.strip.get(index as usize).map_or_else(Lit::default, |r| Lit {
            bio: r.bio,
            rq: r.rq,
            ..Lit::default()
        }),
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
