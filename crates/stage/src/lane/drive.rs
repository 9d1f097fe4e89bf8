//! The drive panel: turning platter, recorded zones, the sectors the head is about to write, head, trail.
//!
//! Models: the head, cache and zones of the drive's snapshot (disk 1).
//! Rule: angles are true: a sector stands under the head exactly when the snapshot's times say so. The radial axis is
//! a window around the zones in use, not to scale: a ring is one zone of many turns, filled inward as it is recorded.
//! Platter positions ahead of the head lie clockwise, so the platter turns counter-clockwise. A frame that covers
//! more than a quarter turn shows no angles, only the arc swept (no stroboscope).
//! Leaves out: skew between tracks and surfaces.

use core::f32::consts::{FRAC_PI_4, TAU};

use bioscope_core::observe::snapshot::{DeviceView, HeadPhase, ZoneCond, ZoneView};
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::time::{SimDuration, SimTime};
use bioscope_core::units::{Sector, ZoneNo};

use super::What;
use super::pen::{Area, Pen};
use crate::order::{ascending, pack, unpack};
use crate::shape::{Font, Ink, Shape, within};
use crate::text;
use crate::trig;

/// Zones up to which each gets a ring of its own.
pub const MAX_RINGS: usize = 12;
/// Rings or bands drawn at least.
const MIN_RINGS: usize = 4;
/// Repositionings drawn at most, and how old they may be.
const TRAIL: usize = 10;
const TRAIL_NS: SimDuration = 300_000_000;

/// Zones on the radial axis, outermost first.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    /// In order of number; a ring each up to [`MAX_RINGS`], else they share bands.
    pub zones: Vec<ZoneNo>,
    /// Those shown for company only: used before, idle now.
    pub idle: Vec<ZoneNo>,
}

impl Window {
    /// Zones in use: under the head, cached, waiting, plugged, or open; padded with those used last.
    pub fn of(device: &DeviceView) -> Self {
        let drive = &device.drive;
        let head = [(drive.head.rq != 0, drive.head.zone), (drive.head.phase == HeadPhase::Seek, drive.head.from_zone)];
        let open = |z: &&ZoneView| matches!(z.cond, ZoneCond::ImpOpen | ZoneCond::ExpOpen);
        let zones = head.into_iter().filter(|h| h.0).map(|h| h.1);
        let zones = zones.chain(drive.cache.iter().chain(&drive.waiting).map(|c| c.zone));
        let plugs = device.zone_wplugs.iter().filter(|p| !p.bios.is_empty() || p.in_flight.is_some());
        let zones = zones.chain(plugs.map(|p| p.zone)).chain(drive.zones.iter().filter(open).map(|z| z.zone));
        let mut zones = distinct(zones);
        // Latest first.
        let recent = drive.zones.iter().filter(|z| !zones.contains(&z.zone));
        let mut recent: Vec<u64> = recent.map(|z| pack(u32::MAX - z.order, z.zone)).collect();
        ascending(&mut recent);
        let company = MIN_RINGS.saturating_sub(zones.len());
        let idle: Vec<ZoneNo> = recent.iter().take(company).map(|z| unpack(*z).1).collect();
        zones = distinct(zones.iter().chain(&idle).copied());
        Self { zones, idle }
    }
    /// Each zone has its ring.
    pub fn each(&self) -> bool {
        self.zones.len() <= MAX_RINGS
    }
    /// What the rings show, in words.
    pub fn words(&self, device: &DeviceView) -> String {
        let all = text::thousands(u64::from(device.drive.nr_zones));
        let n = self.zones.len();
        if !device.drive.zoned {
            let parts = text::count(n as u64, "part", "parts");
            return if n == 0 {
                "no part of the disk in use".into()
            } else {
                ["rings: ", &parts, " of the disk in use, not to scale"].concat()
            };
        }
        if n == 0 {
            return ["no zone in use of ", &all].concat();
        }
        if self.each() {
            return ["rings: ", &n.to_string(), " of ", &all, " zones, not to scale"].concat();
        }
        let per_band = n.div_ceil(MAX_RINGS);
        [&n.div_ceil(per_band).to_string(), " bands of ", &per_band.to_string(), " zones, of ", &all, ", not to scale"]
            .concat()
    }
}

/// Zones in order of number, each once.
fn distinct(zones: impl Iterator<Item = ZoneNo>) -> Vec<ZoneNo> {
    let mut all: Vec<u64> = zones.map(|z| pack(z, 0)).collect();
    ascending(&mut all);
    all.dedup();
    all.iter().map(|z| unpack(*z).0).collect()
}

/// Turns a zone takes, from its rate; 0 when unknown.
pub fn turns(zone: &ZoneView, zone_sectors: Sector, rev_ns: SimDuration) -> u64 {
    offset_ns(zone, zone_sectors).checked_div(rev_ns).unwrap_or(0)
}

fn offset_ns(zone: &ZoneView, offset: Sector) -> SimDuration {
    ((u128::from(offset) * u128::from(zone.ns_per_sector_fp20)) >> 20) as SimDuration
}

/// The head's phase: text, and whether it is waste.
pub fn phase_words(device: &DeviceView) -> (String, bool) {
    let head = &device.drive.head;
    let time = text::duration(head.until.saturating_sub(head.from));
    match head.phase {
        HeadPhase::Idle => ("idle".into(), false),
        HeadPhase::Seek => (["seek ", &time].concat(), true),
        HeadPhase::Rotate => (["rotate ", &time].concat(), true),
        HeadPhase::Transfer => (["transfer ", &time].concat(), false),
        HeadPhase::Reset => (["reset ", &time].concat(), false),
    }
}

/// What a drive panel needs besides the device.
pub struct DriveInput<'a> {
    pub title: &'a str,
    pub trail: &'a [TraceRecord],
    pub now: SimTime,
    pub dt: SimDuration,
    pub seeks_per_sec: f64,
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, input: &DriveInput) {
    let rpm = device.map_or(0, |d| 60_000_000_000u64.checked_div(d.drive.rev_ns).unwrap_or(0));
    let inner = pen.panel(area, input.title, &[&text::thousands(rpm), " rpm"].concat());
    let Some(device) = device else { return };
    let window = Window::of(device);
    let beside = area.w > area.h * 0.8;
    let (r, cx, cy) = if beside {
        let r = ((area.h - 42.0) / 2.0).min((area.w - 84.0) / 2.0);
        // Beside the words; in the middle where they would be far apart.
        let right = if area.w > area.h * 2.5 { area.w / 2.0 } else { area.w - 22.0 - r };
        (r, area.x + right, area.y + 12.0 + r)
    } else {
        let r = ((area.w - 34.0) / 2.0).min((area.h - 138.0) / 2.0);
        (r, area.x + area.w / 2.0 - 4.0, inner.y + 24.0 + r)
    };
    Platter::new(device, &window, input, cx, cy, r).draw(pen, input);
    let below = (!beside).then_some(cy + r);
    facts(pen, area, device, &window, input, below);
}

/// Texts around the platter and the full stroke; with the platter's lower end where they stand below it.
fn facts(pen: &mut Pen, area: Area, device: &DeviceView, window: &Window, input: &DriveInput, below: Option<f32>) {
    let (x, w) = (area.x + 10.0, area.w - 20.0);
    let bottom = area.bottom() - 11.0;
    let (phase, waste) = phase_words(device);
    let ink = if waste { Ink::Bad } else { Ink::Dim };
    let seeks = text::fixed(input.seeks_per_sec, u32::from(input.seeks_per_sec < 9.95));
    let head = if device.drive.head.phase == HeadPhase::Idle {
        "head".to_string()
    } else {
        ["head over ", &device.drive.head.zone.to_string()].concat()
    };
    let blurred = input.dt > device.drive.rev_ns / 4;
    let turns = [&text::fixed(input.dt as f64 / device.drive.rev_ns.max(1) as f64, 1), " turns a frame"].concat();
    let head = if blurred { turns } else { head };
    let scale = window.words(device);
    let Some(platter) = below else {
        pen.text(x, area.y + 56.0, "seeks/s", Ink::Dim, Font::Small, 70.0);
        pen.text(x, area.y + 71.0, &seeks, Ink::Text, Font::MonoBold, 70.0);
        let stroke = Area::new(x + 3.0, area.y + 92.0, 4.0, (area.h - 190.0).max(30.0));
        full_stroke(pen, stroke, device, true);
        let lines = if Font::Small.width(&scale) > w { 2 } else { 1 };
        let first = bottom - (lines - 1) as f32 * 14.0;
        pen.text(x, first - 34.0, &head, Ink::Dim, Font::Small, 100.0);
        pen.text(x, first - 19.0, &phase, ink, Font::MonoBold, 110.0);
        pen.wrapped((x, first), &scale, Ink::Dim, Font::Small, w, lines);
        return;
    };
    let right = area.x + area.w - 10.0;
    pen.text(x, area.y + 50.0, "seeks/s", Ink::Dim, Font::Small, 46.0);
    pen.text_right(right, area.y + 50.0, &seeks, Ink::Text, Font::MonoBold, w - 52.0);
    let phase_y = bottom - 40.0;
    let used = pen.text_right(right, phase_y, &phase, ink, Font::MonoBold, w);
    let zone = if blurred { "swept".into() } else { ["at ", &device.drive.head.zone.to_string()].concat() };
    // A line of its own where the platter leaves one; else as many words as fit.
    let (y, room) = if Font::Small.width(&head) > w - used - 8.0 && phase_y - platter > 30.0 {
        (phase_y - 15.0, w)
    } else {
        (phase_y, w - used - 8.0)
    };
    let number = zone.strip_prefix("at ").unwrap_or("");
    let head = Pen::fitting(Font::Small, room, &[&head, &zone, number, ""]);
    pen.text(x, y, head, Ink::Dim, Font::Small, room);
    full_stroke(pen, Area::new(x, phase_y + 9.0, w, 4.0), device, false);
    pen.wrapped((x, bottom - 14.0), &scale, Ink::Dim, Font::Small, w, 2);
}

/// Where the head is on the whole stroke, true to scale.
fn full_stroke(pen: &mut Pen, bar: Area, device: &DeviceView, upright: bool) {
    let part = device.drive.head.zone as f32 / device.drive.nr_zones.max(1) as f32;
    pen.rect(bar, 2.0, Ink::Track, 1.0);
    if upright {
        let y = bar.y + bar.h * part;
        pen.line((bar.x - 3.0, y), (bar.x + bar.w + 3.0, y), Ink::Text, 2.0, 1.0);
        pen.text(bar.x + 11.0, bar.y + 8.0, "outer", Ink::Dim, Font::Small, 40.0);
        pen.text(bar.x + 11.0, bar.bottom(), "inner", Ink::Dim, Font::Small, 40.0);
    } else {
        let x = bar.x + bar.w * part;
        pen.line((x, bar.y - 3.0), (x, bar.bottom() + 3.0), Ink::Text, 2.0, 1.0);
    }
    pen.hit(Area::new(bar.x - 6.0, bar.y - 6.0, bar.w + 12.0, bar.h + 12.0), What::Head);
}

/// Part of a slot its ring fills; the rest is the gap to the next.
const RING: f32 = 0.7;

/// Outer edge and room of each slot: zones in use get twice the room of those shown for company.
fn slots(window: &Window, r: f32) -> Vec<(f32, f32)> {
    let weight = |n: usize| match window.zones.get(n) {
        Some(zone) if !window.idle.contains(zone) => 2.0f32,
        _ => 1.0,
    };
    let n = window.zones.len().max(MIN_RINGS);
    let total: f32 = (0..n).map(weight).sum();
    let (outer, inner) = (r * 0.965, r * 0.3);
    let mut edge = outer;
    (0..n)
        .map(|n| {
            let room = (outer - inner) * weight(n) / total;
            edge -= room;
            (edge + room, room)
        })
        .collect()
}

/// Width, colour, alpha.
type Stroke = (f32, Ink, f32);

/// Geometry of one frame.
struct Platter<'a> {
    device: &'a DeviceView,
    window: &'a Window,
    cx: f32,
    cy: f32,
    r: f32,
    /// Outer edge and room of each slot, outermost first.
    slots: Vec<(f32, f32)>,
    now: SimTime,
    rev: SimDuration,
    still: bool,
}

impl<'a> Platter<'a> {
    fn new(device: &'a DeviceView, window: &'a Window, input: &DriveInput, cx: f32, cy: f32, r: f32) -> Self {
        let rev = device.drive.rev_ns.max(1);
        let still = input.dt <= rev / 4;
        Self { device, window, cx, cy, r, slots: slots(window, r), now: input.now, rev, still }
    }
    /// Outer edge of a zone's ring, and its room.
    fn slot(&self, zone: ZoneNo) -> (f32, f32) {
        let index = self.window.zones.partition_point(|z| *z < zone);
        self.slots[index.min(self.slots.len() - 1)]
    }
    fn view(&self, zone: ZoneNo) -> Option<&'a ZoneView> {
        self.device.drive.zones.iter().find(|z| z.zone == zone)
    }
    /// Radius of an offset in a zone.
    fn radius(&self, zone: ZoneNo, offset: Sector) -> f32 {
        let part = offset as f32 / self.device.drive.zone_sectors.max(1) as f32;
        let (edge, room) = self.slot(zone);
        edge - room * RING * within(part, 0.0, 1.0)
    }
    /// Radius at which a zone is written next.
    fn write_radius(&self, zone: ZoneNo) -> f32 {
        self.radius(zone, self.view(zone).map_or(0, |z| z.media_offset))
    }
    /// The pivot of the arm, below right.
    fn pivot(&self) -> (f32, f32) {
        let d = self.r * 1.4 * core::f32::consts::FRAC_1_SQRT_2;
        (self.cx + d, self.cy + d)
    }
    /// Screen angle of the head at a radius: where the circle around the pivot meets it.
    fn head_angle(&self, radius: f32) -> f32 {
        let (r, d, l) = (radius / self.r, 1.4f32, 1.25f32);
        let cos = (r * r + d * d - l * l) / (2.0 * r * d);
        FRAC_PI_4 - within(cos, -1.0, 1.0).acos()
    }
    fn point(&self, radius: f32, angle: f32) -> (f32, f32) {
        (self.cx + radius * trig::cos(angle), self.cy + radius * trig::sin(angle))
    }
    /// Turns from now until platter position `at` (ns into the turn) is under the head, 0..1.
    fn ahead(&self, at: SimTime) -> f32 {
        let (at, now) = (at % self.rev, self.now % self.rev);
        ((at + self.rev - now) % self.rev) as f32 / self.rev as f32
    }
    /// Screen angle of a platter position at a radius.
    fn angle(&self, at: SimTime, radius: f32) -> f32 {
        self.head_angle(radius) + TAU * self.ahead(at)
    }
    /// Radius of the head, eased during a seek.
    fn head_radius(&self) -> f32 {
        let head = &self.device.drive.head;
        let to = self.radius(head.zone, self.head_offset());
        if head.phase != HeadPhase::Seek {
            return to;
        }
        let from = self.write_radius(head.from_zone);
        let length = head.until.saturating_sub(head.from).max(1);
        let u = self.now.saturating_sub(head.from).min(length) as f32 / length as f32;
        from + (to - from) * u * u * (3.0 - 2.0 * u)
    }
    fn head_offset(&self) -> Sector {
        let head = &self.device.drive.head;
        head.sector.saturating_sub(u64::from(head.zone) * self.device.drive.zone_sectors)
    }

    fn draw(&self, pen: &mut Pen, input: &DriveInput) {
        pen.out.shapes.push(Shape::Disc { x: self.cx, y: self.cy, r: self.r, fill: Ink::Raised, alpha: 1.0 });
        if self.window.each() {
            self.rings(pen);
        } else {
            self.bands(pen);
        }
        pen.out.shapes.push(Shape::Disc { x: self.cx, y: self.cy, r: self.r * 0.2, fill: Ink::Panel, alpha: 1.0 });
        pen.out.shapes.push(Shape::Disc { x: self.cx, y: self.cy, r: self.r * 0.1, fill: Ink::Track, alpha: 1.0 });
        if !self.window.zones.is_empty() {
            self.trail(pen, input.trail);
            if self.still {
                self.pending(pen);
            } else {
                self.swept(pen, input.dt);
            }
        }
        self.arm(pen);
    }

    fn ring(&self, pen: &mut Pen, r: f32, width: f32, stroke: Ink, alpha: f32) {
        pen.out.shapes.push(Shape::Ring { x: self.cx, y: self.cy, r, stroke, width, alpha });
    }
    /// A zone's tooltip anywhere on its ring.
    fn ring_hit(&self, pen: &mut Pen, edge: f32, t: f32, zone: ZoneNo) {
        let square = Area::new(self.cx - edge, self.cy - edge, edge * 2.0, edge * 2.0);
        pen.ring_hit(square, edge - t, What::Zone(zone));
    }
    /// `turn` of a turn clockwise from an angle.
    fn arc(&self, pen: &mut Pen, r: f32, from: f32, turn: f32, (width, stroke, alpha): Stroke) {
        let turn = within(turn, 0.0, 0.999);
        pen.out.shapes.push(Shape::Arc {
            x: self.cx,
            y: self.cy,
            r,
            a0: from,
            a1: from + TAU * turn,
            stroke,
            width,
            alpha,
        });
    }

    /// A ring a zone: track, recorded part from its outer edge inward, the last half turn strong.
    fn rings(&self, pen: &mut Pen) {
        for (edge, room) in &self.slots {
            self.ring(pen, edge - room * RING / 2.0, room * RING, Ink::Track, 1.0);
        }
        for &zone in &self.window.zones {
            let Some(view) = self.view(zone) else { continue };
            let (ink, hatch) = pen.colours.zone(zone);
            let (edge, room) = self.slot(zone);
            let t = room * RING;
            let filled = edge - self.write_radius(zone);
            if filled > 0.3 {
                let alpha = if self.window.idle.contains(&zone) { 0.14 } else { 0.4 };
                self.ring(pen, edge - filled / 2.0, filled, ink, alpha);
            }
            if hatch {
                for part in [0.3, 0.6] {
                    self.ring(pen, edge - t * part, 1.0, Ink::Panel, 0.8);
                }
            }
            self.last_turn(pen, view, ink);
            if pen.lit.zone == Some(zone) {
                self.ring(pen, edge + 1.0, 1.5, Ink::Text, 1.0);
            }
            self.ring_hit(pen, edge, t, zone);
        }
    }

    /// The half turn written last, ending at the write position; a plain ring when angles blur.
    fn last_turn(&self, pen: &mut Pen, view: &ZoneView, ink: Ink) {
        if view.media_offset == 0 || view.cond == ZoneCond::Full {
            return;
        }
        let radius = self.write_radius(view.zone);
        if !self.still {
            self.ring(pen, radius + 1.0, 2.5, ink, 1.0);
            return;
        }
        let written = offset_ns(view, view.media_offset);
        let end = view.phase_ns + written;
        // Few zones have room for a long tail.
        let longest = if self.window.zones.len() - self.window.idle.len() <= 3 { 0.5 } else { 0.16 };
        let length = (written as f32 / self.rev as f32).min(longest);
        let end_angle = self.angle(end, radius);
        // Before the write position: older half, middle, newest fifth.
        for (before, part, alpha) in [(1.0, 0.5, 0.45), (0.5, 0.3, 0.7), (0.2, 0.2, 1.0)] {
            self.arc(pen, radius, end_angle - TAU * length * before, length * part, (4.0, ink, alpha));
        }
    }

    /// Many zones: bands filled by what is recorded in them, cached zones as thin rings.
    fn bands(&self, pen: &mut Pen) {
        let zones = &self.window.zones;
        let per_band = zones.len().div_ceil(MAX_RINGS);
        let size = self.device.drive.zone_sectors.max(1) as f32;
        for (n, band) in zones.chunks(per_band).enumerate() {
            let (edge, room) = self.slots[n * per_band];
            let t = room * band.len() as f32 * 0.86;
            self.ring(pen, edge - t / 2.0, t, Ink::Track, 1.0);
            let recorded: f32 = band.iter().filter_map(|z| self.view(*z)).map(|z| z.media_offset as f32 / size).sum();
            let filled = t * recorded / band.len() as f32;
            if filled > 0.3 {
                self.ring(pen, edge - filled / 2.0, filled, Ink::Dim, 0.35);
            }
        }
        for zone in distinct(self.device.drive.cache.iter().map(|c| c.zone)) {
            let (ink, _) = pen.colours.zone(zone);
            let radius = self.write_radius(zone);
            self.ring(pen, radius, 1.8, ink, 0.95);
            self.ring_hit(pen, radius + 2.0, 4.0, zone);
        }
    }

    /// Sectors still to be written, at their true angles: cached ones faint and two turns deep, the head's own bright; the wait in red.
    fn pending(&self, pen: &mut Pen) {
        let drive = &self.device.drive;
        let head = &drive.head;
        if self.window.each() {
            for command in drive.cache.iter().filter(|c| c.rq != head.rq) {
                let Some(view) = self.view(command.zone) else { continue };
                let offset = command.sector.saturating_sub(u64::from(command.zone) * drive.zone_sectors);
                let ahead = offset_ns(view, offset.saturating_sub(view.media_offset)) / self.rev;
                let radius = self.write_radius(command.zone) - 4.5 - ahead as f32 * 3.0;
                let (edge, room) = self.slot(command.zone);
                if ahead > 1 || radius < edge - room {
                    continue;
                }
                let (ink, _) = pen.colours.zone(command.zone);
                let length = offset_ns(view, u64::from(command.nr_sectors)) as f32 / self.rev as f32;
                let start = self.angle(view.phase_ns + offset_ns(view, offset), radius);
                let alpha = if ahead == 0 { 0.75 } else { 0.35 };
                self.arc(pen, radius, start, (length - 0.006).max(0.01), (2.0, ink, alpha));
            }
        }
        let Some(view) = self.view(head.zone) else { return };
        if head.rq == 0 || matches!(head.phase, HeadPhase::Idle | HeadPhase::Reset) {
            return;
        }
        let radius = self.radius(head.zone, self.head_offset());
        let (ink, _) = pen.colours.zone(head.zone);
        let length = offset_ns(view, u64::from(head.nr_sectors));
        let done = match head.phase {
            HeadPhase::Transfer => self.now.saturating_sub(head.from).min(length),
            _ => 0,
        };
        let turn = |ns: SimDuration| ns as f32 / self.rev as f32;
        let width = if self.window.each() { 5.0 } else { 3.6 };
        let start = self.angle(view.phase_ns + offset_ns(view, self.head_offset()) + done, radius);
        self.arc(pen, radius, start - TAU * turn(done), turn(done), (width, ink, 1.0));
        self.arc(pen, radius, start, turn(length - done), (width, Ink::Text, 0.9));
        self.arc(pen, radius, start, turn(length - done), (width * 0.5, ink, 1.0));
        if head.phase == HeadPhase::Rotate {
            let from = self.head_angle(radius);
            let wait = turn(head.until.saturating_sub(self.now)).min(1.0);
            self.arc(pen, radius, from, wait, (3.0, Ink::Bad, 0.95));
        }
    }

    /// The head's arc over a frame longer than a quarter turn.
    fn swept(&self, pen: &mut Pen, dt: SimDuration) {
        let radius = self.head_radius() - 4.0;
        let turn = (dt as f32 / self.rev as f32).min(1.0);
        let from = self.head_angle(radius) - TAU * turn;
        self.arc(pen, radius, from, turn, (3.0, Ink::Text, 0.35));
    }

    /// The last repositionings in red: where on the turning platter each landed; a fan behind the head when angles blur.
    fn trail(&self, pen: &mut Pen, trail: &[TraceRecord]) {
        let zone_sectors = self.device.drive.zone_sectors.max(1);
        let seeks: Vec<&TraceRecord> = trail.iter().filter(|r| r.action == Action::Seek).collect();
        let first = seeks.len().saturating_sub(TRAIL + 1);
        let zone = |r: &TraceRecord| (r.sector / zone_sectors) as ZoneNo;
        for (n, pair) in seeks[first..].windows(2).enumerate() {
            let age = (seeks.len() - first - 2 - n) as f32;
            let (from, to) = (zone(pair[0]), zone(pair[1]));
            let old = self.now.saturating_sub(pair[1].time) > TRAIL_NS;
            if old || from == to || !self.window.zones.contains(&from) || !self.window.zones.contains(&to) {
                continue;
            }
            let (r0, r1) = (self.write_radius(from), self.write_radius(to));
            let alpha = (0.95 - age * 0.08).max(0.1);
            let arrived = pair[1].time + pair[1].arg.min(self.rev);
            let angle = |radius| {
                let blurred = self.head_angle(radius) - (age + 1.0) * 0.09;
                if self.still { self.angle(arrived, radius) } else { blurred }
            };
            if self.still && arrived > self.now {
                continue;
            }
            let points = vec![self.point(r0, angle(r0)), self.point(r1, angle(r1))];
            let landed = points[1];
            pen.hit(Area::new(landed.0 - 6.0, landed.1 - 6.0, 12.0, 12.0), What::Trail);
            pen.out.shapes.push(Shape::Poly { points, stroke: Ink::Bad, width: 2.0, alpha });
        }
    }

    fn arm(&self, pen: &mut Pen) {
        let radius = if self.window.zones.is_empty() { self.slots[0].0 } else { self.head_radius() };
        let (x, y) = self.point(radius, self.head_angle(radius));
        let (px, py) = self.pivot();
        let points = vec![(px, py), (x, y)];
        pen.out.shapes.push(Shape::Poly { points, stroke: Ink::Dim, width: 3.5, alpha: 1.0 });
        pen.out.shapes.push(Shape::Disc { x: px, y: py, r: 7.0, fill: Ink::Panel, alpha: 1.0 });
        pen.out.shapes.push(Shape::Ring { x: px, y: py, r: 7.0, stroke: Ink::Dim, width: 2.0, alpha: 1.0 });
        pen.out.shapes.push(Shape::Disc { x, y, r: 5.5, fill: Ink::Panel, alpha: 1.0 });
        pen.out.shapes.push(Shape::Disc { x, y, r: 4.2, fill: Ink::Text, alpha: 1.0 });
        pen.hit(Area::new(x - 9.0, y - 9.0, 18.0, 18.0), What::Head);
    }
}
