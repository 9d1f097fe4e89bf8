//! The pen of a lane: shapes with fewer words, zone colours, and what is lit.
//!
//! Models: nothing.
//! Rule: every text is cut to its room before it enters the list; a chip's colour comes from [`Colours`] only.
//! Leaves out: where things go (the panels).

use bioscope_core::observe::snapshot::{BioView, RequestView, Snapshot};
use bioscope_core::units::{BioId, JobIdx, RqId, ZoneNo};

use super::{Hit, Lane, What};
use crate::order::{ascending, pack, unpack};
use crate::shape::{Align, Font, Ink, Shape};

/// A rectangle, CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub x: f32,
    pub y: f32,
    pub w: f32,
    pub h: f32,
}

impl Area {
    pub fn new(x: f32, y: f32, w: f32, h: f32) -> Self {
        Self { x, y, w, h }
    }
    /// Bottom edge.
    pub fn bottom(self) -> f32 {
        self.y + self.h
    }
    /// The part below `dy`.
    pub fn below(self, dy: f32) -> Self {
        let dy = dy.min(self.h);
        Self { y: self.y + dy, h: self.h - dy, ..self }
    }
}

/// Order of first use of every zone: the colour rule (decisions 23).
pub struct Colours {
    /// Zone and order, packed, ascending.
    order: Vec<u64>,
}

impl Colours {
    /// Orders as the device has them; zones it has not met follow in the order of their oldest bio.
    pub fn of(snap: &Snapshot) -> Self {
        let Some(device) = snap.devices.first() else { return Self { order: Vec::new() } };
        let zones = super::board::zones(device);
        let mut colours = Self { order: zones.iter().map(|z| pack(z.zone, z.order)).collect() };
        ascending(&mut colours.order);
        // Oldest bio and zone of those not met.
        let mut new: Vec<u64> = Vec::new();
        for bio in snap.jobs.iter().flat_map(|j| &j.in_flight).chain(device.zone_wplugs.iter().flat_map(|p| &p.bios)) {
            if colours.find(bio.zone).is_some() {
                continue;
            }
            match new.iter_mut().find(|n| unpack(**n).1 == bio.zone) {
                Some(first) => *first = pack(bio.id, bio.zone).min(*first),
                None => new.push(pack(bio.id, bio.zone)),
            }
        }
        ascending(&mut new);
        let next = zones.iter().map(|z| z.order + 1).max().unwrap_or(0);
        colours.order.extend(new.iter().zip(next..).map(|(n, i)| pack(unpack(*n).1, i)));
        ascending(&mut colours.order);
        colours
    }
    /// Colours of jobs, their numbers in place of zones'.
    pub fn of_jobs(n: usize) -> Self {
        Self { order: (0..n as u32).map(|job| pack(job, job)).collect() }
    }
    fn find(&self, zone: ZoneNo) -> Option<u32> {
        let at = self.order.partition_point(|z| unpack(*z).0 < zone);
        self.order.get(at).map(|z| unpack(*z)).filter(|z| z.0 == zone).map(|z| z.1)
    }
    /// Colour and hatch of a zone.
    pub fn zone(&self, zone: ZoneNo) -> (Ink, bool) {
        self.find(zone).map_or((Ink::Dim, false), |order| (Ink::Zone((order % 6) as u8), order / 6 % 2 == 1))
    }
}

/// What is lit, resolved to ids.
#[derive(Clone, Copy, Default)]
pub struct Lit {
    pub bio: BioId,
    pub rq: RqId,
    pub zone: Option<ZoneNo>,
    pub job: Option<JobIdx>,
}

/// Collects a lane.
pub struct Pen {
    pub out: Lane,
    pub colours: Colours,
    pub lit: Lit,
}

impl Pen {
    /// A panel with title and subtitle; returns the room inside.
    pub fn panel(&mut self, a: Area, title: &str, subtitle: &str) -> Area {
        self.rect(a, 10.0, Ink::Panel, 1.0);
        self.frame(a, 10.0, Ink::Line, 1.0);
        let inner = Area::new(a.x + 10.0, a.y + 10.0, a.w - 20.0, a.h - 20.0);
        self.text(inner.x, a.y + 20.0, title, Ink::Text, Font::Title, inner.w);
        self.text(inner.x, a.y + 34.0, subtitle, Ink::Dim, Font::Small, inner.w);
        inner.below(34.0)
    }
    /// Plain rectangle.
    pub fn rect(&mut self, a: Area, r: f32, fill: Ink, alpha: f32) {
        self.out.shapes.push(Shape::Rect { x: a.x, y: a.y, w: a.w, h: a.h, r, fill, alpha, hatch: false });
    }
    /// Rectangle in a zone's colour.
    pub fn zone_rect(&mut self, a: Area, r: f32, zone: ZoneNo, alpha: f32) {
        let (fill, hatch) = self.colours.zone(zone);
        self.out.shapes.push(Shape::Rect { x: a.x, y: a.y, w: a.w, h: a.h, r, fill, alpha, hatch });
    }
    /// Hatched rectangle.
    pub fn hatched(&mut self, a: Area, r: f32, fill: Ink, alpha: f32) {
        self.out.shapes.push(Shape::Rect { x: a.x, y: a.y, w: a.w, h: a.h, r, fill, alpha, hatch: true });
    }
    /// Text around `x`.
    pub fn centered(&mut self, at: (f32, f32), text: &str, ink: Ink, font: Font, max: f32) {
        self.aligned(at, text, ink, font, max, Align::Center);
    }
    /// A label in the middle of a chip of many colours, on ground of its own.
    pub fn plate(&mut self, a: Area, label: &str) {
        let label = Font::Chip.cut(label, a.w - 6.0);
        let w = Font::Chip.width(&label) + 6.0;
        self.rect(Area::new(a.x + (a.w - w) / 2.0, a.y + 2.0, w, a.h - 4.0), 2.0, Ink::Panel, 0.82);
        self.centered((a.x + a.w / 2.0, a.y + a.h / 2.0 + 3.4), &label, Ink::Text, Font::Chip, a.w);
    }
    /// Outline.
    pub fn frame(&mut self, a: Area, r: f32, stroke: Ink, width: f32) {
        self.out.shapes.push(Shape::Frame { x: a.x, y: a.y, w: a.w, h: a.h, r, stroke, width });
    }
    /// Straight line.
    pub fn line(&mut self, from: (f32, f32), to: (f32, f32), stroke: Ink, width: f32, alpha: f32) {
        self.out.shapes.push(Shape::Line {
            x0: from.0,
            y0: from.1,
            x1: to.0,
            y1: to.1,
            stroke,
            width,
            alpha,
            dash: false,
        });
    }
    /// Text from `x` on; returns its width.
    pub fn text(&mut self, x: f32, y: f32, text: &str, ink: Ink, font: Font, max: f32) -> f32 {
        self.aligned((x, y), text, ink, font, max, Align::Left)
    }
    /// Text that ends at `x`; returns its width.
    pub fn text_right(&mut self, x: f32, y: f32, text: &str, ink: Ink, font: Font, max: f32) -> f32 {
        self.aligned((x, y), text, ink, font, max, Align::Right)
    }
    fn aligned(&mut self, at: (f32, f32), text: &str, ink: Ink, font: Font, max: f32, align: Align) -> f32 {
        let text = font.cut(text, max);
        let width = font.width(&text);
        if !text.is_empty() {
            self.out.shapes.push(Shape::Text { x: at.0, y: at.1, text, ink, font, align, max });
        }
        width
    }
    /// The first of several wordings that fits `max`, else the last.
    pub fn fitting<'t>(font: Font, max: f32, wordings: &[&'t str]) -> &'t str {
        wordings.iter().find(|t| font.width(t) <= max).or(wordings.last()).unwrap_or(&"")
    }
    /// Text broken at spaces into at most `lines` lines of 14 px; returns the baseline after the last.
    pub fn wrapped(&mut self, at: (f32, f32), text: &str, ink: Ink, font: Font, max: f32, lines: usize) -> f32 {
        let (x, mut y) = at;
        let mut rest = text;
        for n in 0..lines {
            if rest.is_empty() {
                break;
            }
            let end = if n + 1 == lines { rest.len() } else { break_at(rest, font, max) };
            self.text(x, y, rest[..end].trim_end(), ink, font, max);
            rest = rest[end..].trim_start();
            y += 14.0;
        }
        y
    }
    /// A labelled chip in its zone's colour; the hatch stays left of the label, which loses decimals where room lacks.
    pub fn label_chip(&mut self, a: Area, zone: ZoneNo, label: &str) {
        let (fill, hatch) = self.colours.zone(zone);
        self.rect(a, 3.0, fill, 1.0);
        if hatch {
            self.zone_rect(Area { w: 5.0, ..a }, 3.0, zone, 1.0);
        }
        let at = (a.x + a.w / 2.0, a.y + a.h / 2.0 + 3.4);
        let label = Self::fitting(Font::Chip, a.w - 10.0, &[label, label.split('.').next().unwrap_or(label)]);
        self.aligned(at, label, Ink::OnZone, Font::Chip, a.w - 10.0, Align::Center);
    }
    /// Lights a place up.
    pub fn light(&mut self, a: Area) {
        let around = Area::new(a.x - 1.5, a.y - 1.5, a.w + 3.0, a.h + 3.0);
        self.frame(around, 4.0, Ink::Text, 1.5);
    }
    /// A ring with a tooltip: its square and its inner radius.
    pub fn ring_hit(&mut self, a: Area, hole: f32, what: What) {
        self.out.hits.push(Hit { x: a.x, y: a.y, w: a.w, h: a.h, hole, what });
    }
    /// A place with a tooltip.
    pub fn hit(&mut self, a: Area, what: What) {
        self.ring_hit(a, 0.0, what);
    }
    /// Marks a zone's place: tooltip, and light when it is the lit one.
    pub fn zone(&mut self, a: Area, zone: ZoneNo) {
        self.hit(a, What::Zone(zone));
        if self.lit.zone == Some(zone) {
            self.light(a);
        }
    }
    /// Marks a bio's place: tooltip, and light when it is the lit one.
    pub fn bio(&mut self, a: Area, bio: &BioView) {
        self.hit(a, What::Bio(bio.id));
        if self.lit.bio != 0 && (bio.id == self.lit.bio || bio.parent == self.lit.bio) {
            self.light(a);
        }
    }
    /// Marks a request's place.
    pub fn rq(&mut self, a: Area, rq: &RequestView) {
        self.command(a, rq.id, rq.bio);
    }
    /// Marks the place of a command by its request and first bio.
    pub fn command(&mut self, a: Area, rq: RqId, bio: BioId) {
        self.hit(a, What::Rq(rq));
        if (self.lit.rq != 0 && rq == self.lit.rq) || (self.lit.bio != 0 && bio == self.lit.bio) {
            self.light(a);
        }
    }
    /// A small square in a zone's colour.
    pub fn cell(&mut self, a: Area, zone: Option<ZoneNo>, alpha: f32) {
        match zone {
            Some(zone) => self.zone_rect(a, 2.0, zone, alpha),
            None => self.rect(a, 2.0, Ink::Track, 1.0),
        }
    }
}

/// Byte index after the last word that fits `max` (at least one word).
fn break_at(text: &str, font: Font, max: f32) -> usize {
    if font.width(text) <= max {
        return text.len();
    }
    let mut best = None;
    for (i, _) in text.match_indices(' ') {
        if font.width(&text[..i]) > max {
            break;
        }
        best = Some(i);
    }
    best.or_else(|| text.find(' ')).unwrap_or(text.len())
}
