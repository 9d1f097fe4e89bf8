//! The scene of a stacked device: how an I/O is cut, queued and sent to the disks below.
//!
//! Models: `current->bio_list` and `current->plug` (kernel 1.2, 2.4), blktrace's A and D records, md's rows of chunks
//! and parity (kernel 2.3, md M.9).
//! Rule: a place of the I/O has one colour in every panel, along the ramp of offsets, so that order is a gradient and
//! disorder is noise; what is still to come is faint. Parity has no place and is hatched.
//! Leaves out: the scene of a single drive (the other panels of [`super`]).

use std::ops::Range;

use bioscope_core::config::{DeviceKind, DmTarget, MdConfig, MdLevel, Tool, WorkloadConfig};
use bioscope_core::observe::snapshot::{BioView, Snapshot};
use bioscope_core::observe::trace::{Action, NO_ORIGIN, TraceRecord};
use bioscope_core::thread::ThreadKind;
use bioscope_core::units::{DevIdx, Op, Sector};
use bioscope_session::OrderFrame;
use bioscope_session::order::leaves;

use super::pen::{Area, Pen};
use super::{Layout, Panels, Side, What, above_each_other};
use crate::shape::{Font, Ink, within};

pub mod columns;
pub mod lists;
pub mod rows;
mod strip;

/// A part of a command that lies together on the array too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Place in the I/O, absolute; `None` for parity.
    pub at: Option<Sector>,
    /// On the disk.
    pub sector: Sector,
    pub sectors: Sector,
}

/// How far a command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Will be issued.
    Planned,
    Issued,
    Done,
}

/// What lies between a command and the last one of its disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing, or there is no last one.
    None,
    /// Parity alone.
    Parity,
    /// Anything else.
    Seek,
}

/// A command at a member disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Index of its D record.
    pub record: usize,
    pub member: usize,
    pub op: Op,
    /// In [`Io::pieces`].
    pub pieces: Range<usize>,
    pub state: State,
    pub gap: Gap,
    /// Sectors from the last command's end, 0 for the first.
    pub distance: Sector,
}

/// The I/O, read from its records.
pub struct Io<'a> {
    pub order: &'a OrderFrame,
    pub snap: &'a Snapshot,
    /// Disks at the bottom.
    pub members: Vec<DevIdx>,
    /// Sectors of a chunk; 0 where data is not striped.
    pub chunk: Sector,
    pub commands: Vec<Command>,
    pub pieces: Vec<Piece>,
    from: Sector,
    end: Sector,
    /// Nothing of it belongs to a job: places are those of the disks.
    by_disk: bool,
}

/// The array's configuration, if it is one.
pub fn md(order: &OrderFrame) -> Option<&MdConfig> {
    match &order.cfg.devices[usize::from(order.top)].kind {
        DeviceKind::Md(md) => Some(md),
        _ => None,
    }
}

/// Roles of a row that hold parity: P, then Q.
pub fn parity(md: &MdConfig, row: Sector) -> [Option<usize>; 2] {
    let disks = md.members.len();
    let turn = (row % disks.max(1) as u64) as usize;
    let last = disks.saturating_sub(1);
    let next = |p: usize| (p + 1) % disks.max(1);
    match (md.level, md.layout) {
        (MdLevel::Raid5, 0 | 2) => [Some(last - turn), None],
        (MdLevel::Raid5, 1 | 3) => [Some(turn), None],
        (MdLevel::Raid5, 4) => [Some(0), None],
        (MdLevel::Raid5, _) => [Some(last), None],
        (MdLevel::Raid6, 0 | 2) => [Some(last - turn), Some(next(last - turn))],
        (MdLevel::Raid6, 1 | 3) => [Some(turn), Some(next(turn))],
        (MdLevel::Raid6, 4) => [Some(0), Some(1)],
        (MdLevel::Raid6, 5) => [Some(last - 1), Some(last)],
        _ => [None, None],
    }
}

fn is_merge(r: &TraceRecord) -> bool {
    matches!(r.action, Action::BackMerge | Action::FrontMerge)
}

impl<'a> Io<'a> {
    /// Reads the records.
    pub fn of(order: &'a OrderFrame, snap: &'a Snapshot) -> Self {
        let members = leaves(&order.cfg, order.top);
        let chunk = match &order.cfg.devices[usize::from(order.top)].kind {
            DeviceKind::Md(m) if m.level != MdLevel::Raid1 => m.chunk_sectors,
            DeviceKind::Dm(d) => match d.target {
                DmTarget::Striped { chunk_sectors } => chunk_sectors,
                DmTarget::Crypt { .. } => 0,
            },
            _ => 0,
        };
        let by_disk = order.records.iter().all(|r| r.origin == NO_ORIGIN);
        let chunk = u64::from(chunk);
        let (commands, pieces) = (Vec::new(), Vec::new());
        let mut io = Self { order, snap, members, chunk, commands, pieces, from: 0, end: 0, by_disk };
        io.from = Sector::MAX;
        for r in &order.records {
            if let Some(at) = io.place(r).filter(|_| by_disk || r.dev == order.top || io.member(r.dev).is_some()) {
                io.from = io.from.min(at);
                io.end = io.end.max(at + u64::from(r.nr_sectors));
            }
        }
        io.from = io.from.min(io.end);
        io.read();
        io
    }

    /// Where a record's data is in the I/O.
    fn place(&self, r: &TraceRecord) -> Option<Sector> {
        if self.by_disk {
            return Some(r.sector);
        }
        Some(r.origin).filter(|o| *o != NO_ORIGIN)
    }
    /// Column of a device.
    pub fn member(&self, dev: DevIdx) -> Option<usize> {
        self.members.iter().position(|m| *m == dev)
    }
    /// Name of a member.
    pub fn name(&self, member: usize) -> &'a str {
        self.members.get(member).and_then(|d| self.snap.devices.get(usize::from(*d))).map_or("", |d| d.name.as_str())
    }

    /// What the jobs asked for, from its first to its last sector; nothing where no job did.
    pub fn queued(&self) -> (Sector, Sector) {
        let queued = self.order.records.iter().filter(|r| r.action == Action::Queue && r.dev == self.order.top);
        queued.fold((0, 0), |(from, to), r| {
            let end = r.sector + u64::from(r.nr_sectors);
            if to == 0 { (r.sector, end) } else { (from.min(r.sector), to.max(end)) }
        })
    }
    /// The program behind a job, as traces name it.
    pub fn tool(&self, job: usize) -> &'static str {
        match self.order.cfg.jobs.get(job).map(|j| &j.workload) {
            Some(WorkloadConfig::Linear(l)) if l.tool == Tool::Dd => "dd",
            _ => "fio",
        }
    }
    /// The task a record is of, as traces name it.
    pub fn comm(&self, r: &TraceRecord) -> String {
        match ThreadKind::of(r.flags) {
            Some(thread) => thread.name(&self.order.cfg.devices[usize::from(self.order.top)]),
            None => self.tool(usize::from(r.job)).into(),
        }
    }
    /// The same for a task: jobs by their program, threads by their name.
    pub fn task<'t>(&self, name: &'t str) -> &'t str {
        self.order.cfg.jobs.iter().position(|j| j.name == name).map_or(name, |j| self.tool(j))
    }

    /// Commands with their pieces, from D, G and M.
    fn read(&mut self) {
        let mut open: Vec<(DevIdx, Piece)> = Vec::new();
        let mut ends: Vec<Option<Sector>> = vec![None; self.members.len()];
        for (n, r) in self.order.records.iter().enumerate() {
            let Some(member) = self.member(r.dev) else { continue };
            let (from, end) = (r.sector, r.sector + u64::from(r.nr_sectors));
            if r.action == Action::GetRq || is_merge(r) {
                open.push((r.dev, Piece { at: self.place(r), sector: from, sectors: end - from }));
            }
            if r.action == Action::Complete && n < self.order.happened {
                let done = self.commands.iter_mut().rev().find(|c| self.order.records[c.record].rq == r.rq);
                done.into_iter().for_each(|c| c.state = State::Done);
            }
            if r.action != Action::Issue {
                continue;
            }
            let first = self.pieces.len();
            let inside = |p: &(DevIdx, Piece)| p.0 == r.dev && p.1.sector >= from && p.1.sector < end;
            let mut own: Vec<Piece> = open.iter().filter(|p| inside(p)).map(|p| p.1).collect();
            open.retain(|p| !inside(p));
            if own.is_empty() {
                own.push(Piece { at: self.place(r), sector: from, sectors: end - from });
            }
            // Front merges come late: nearly in order.
            for i in 1..own.len() {
                for j in (1..=i).rev().take_while(|j| own[*j].sector < own[*j - 1].sector).collect::<Vec<_>>() {
                    own.swap(j, j - 1);
                }
            }
            own.into_iter().for_each(|p| self.add(first, p));
            let state = if n < self.order.happened { State::Issued } else { State::Planned };
            let (gap, distance) = match ends[member].replace(end) {
                Some(last) if last != from => (self.gap(member, last, from), last.abs_diff(from)),
                _ => (Gap::None, 0),
            };
            let pieces = first..self.pieces.len();
            self.commands.push(Command { record: n, member, op: r.op, pieces, state, gap, distance });
        }
    }

    /// Adds a piece, to the last one if both lie together in one chunk.
    fn add(&mut self, first: usize, p: Piece) {
        let joins = |last: &Piece| match (last.at, p.at) {
            (Some(a), Some(b)) => a + last.sectors == b && (self.chunk == 0 || self.chunk_of(a) == self.chunk_of(b)),
            (None, None) => self.row(last.sector) == self.row(p.sector),
            _ => false,
        };
        match self.pieces.last().filter(|_| self.pieces.len() > first).map(joins) {
            Some(true) => {
                if let Some(last) = self.pieces.last_mut() {
                    last.sectors += p.sectors;
                }
            }
            _ => self.pieces.push(p),
        }
    }

    /// Row of a sector of a disk.
    pub fn row(&self, sector: Sector) -> Sector {
        let offset = md(self.order).map_or(0, |m| m.data_offset);
        sector.saturating_sub(offset) / self.chunk.max(8)
    }
    fn chunk_of(&self, at: Sector) -> Sector {
        at / self.chunk.max(1)
    }

    /// What lies between two sectors of a disk.
    fn gap(&self, member: usize, last: Sector, next: Sector) -> Gap {
        let parity_at = |row| md(self.order).is_some_and(|m| parity(m, row).contains(&Some(member)));
        let (from, to) = (self.row(last), self.row(next));
        let over = next > last && self.chunk > 0 && to - from <= 2 && (from..to).all(parity_at);
        if over { Gap::Parity } else { Gap::Seek }
    }

    /// The colour of a place.
    pub fn shade(&self, at: Sector) -> u8 {
        let span = (self.end - self.from).max(1);
        (at.saturating_sub(self.from).min(span) * 255 / span) as u8
    }
    /// Length, sectors.
    pub fn sectors(&self) -> Sector {
        self.end - self.from
    }
    /// Sectors as `64k`, `1M`.
    pub fn short(sectors: Sector) -> String {
        match sectors {
            0 => "0".into(),
            n if n.is_multiple_of(2048) => [&(n / 2048).to_string(), "M"].concat(),
            n if n.is_multiple_of(2) => [&(n / 2).to_string(), "k"].concat(),
            n => [&n.to_string(), "s"].concat(),
        }
    }
    /// Number of a place's chunk in the I/O, or its offset.
    pub fn label(&self, at: Option<Sector>) -> String {
        match at {
            None => "P".into(),
            Some(at) if self.chunk > 0 && !self.by_disk => {
                self.chunk_of(at).saturating_sub(self.chunk_of(self.from)).to_string()
            }
            Some(at) => Self::short(at.saturating_sub(self.from)),
        }
    }
    /// Where a bio's data is, and what it is called: `sdc 16`, `1088k + 960k`.
    pub fn bio(&self, bio: &BioView) -> (Option<Sector>, String) {
        let at = Some(bio.origin).filter(|o| *o != NO_ORIGIN);
        let words = match (self.member(bio.dev), at) {
            (Some(member), _) => [self.name(member), " ", &self.label(at)].concat(),
            (None, at) => {
                let at = at.unwrap_or(bio.sector).saturating_sub(self.from);
                [&Self::short(at), " + ", &Self::short(u64::from(bio.nr_sectors))].concat()
            }
        };
        (at, words)
    }

    /// A place drawn from its beginning to its end, in slices where its colour changes on the way.
    pub fn fill(&self, pen: &mut Pen, a: Area, r: f32, at: Option<Sector>, sectors: Sector, alpha: f32) {
        let Some(at) = at else { return pen.hatched(a, r, Ink::Track, alpha) };
        let (from, to) = (self.shade(at), self.shade(at + sectors));
        let slices = usize::from((to - from) / 6).min((a.w / 3.0) as usize).max(1);
        if slices == 1 {
            return pen.rect(a, r, Ink::Offset(from / 2 + to / 2), alpha);
        }
        let w = a.w / slices as f32;
        for n in 0..slices {
            let shade = from + ((to - from) as usize * (2 * n + 1) / (2 * slices)) as u8;
            pen.rect(Area { x: a.x + n as f32 * w, w: w + 0.3, ..a }, 0.0, Ink::Offset(shade), alpha);
        }
    }
}

/// Titles of the panels, as the tables have them too.
pub const TITLES: [&str; 4] =
    ["current->bio_list", "Order at the member disks", "Member disks", "G at the first member"];

/// Least height of each panel.
const HEIGHTS: [f32; 4] = [262.0, 216.0, 190.0, 110.0];

fn shown(on: Panels) -> [bool; 4] {
    [on.biolist, on.order, on.members, on.listing]
}

/// Whether panels of this scene are asked for.
pub fn any(on: Panels) -> bool {
    shown(on).contains(&true)
}

/// From this width on they stand beside each other.
pub fn layout(width: f32, on: Panels) -> Layout {
    let n = shown(on).iter().filter(|s| **s).count();
    if n > 1 && width < 600.0 { Layout::Narrow } else { Layout::Wide }
}

/// Height below which the scene is not drawn well.
pub fn min_height(layout: Layout, on: Panels) -> f32 {
    let strip = if on.strip { 50.0 } else { 0.0 };
    let heights = HEIGHTS.iter().zip(shown(on)).filter(|h| h.1).map(|h| h.0 + 8.0);
    strip + if layout == Layout::Narrow { heights.sum() } else { HEIGHTS[0] + 16.0 }
}

/// Where the panels stand.
fn places(on: Panels, width: f32, height: f32, layout: Layout) -> [Option<Area>; 4] {
    let shown = shown(on);
    let bottom = height - if on.strip { 46.0 } else { 0.0 };
    if layout == Layout::Narrow {
        return above_each_other(HEIGHTS, shown, width, bottom);
    }
    let mut out = [None; 4];
    let (pad, gap) = if width >= 700.0 { (12.0, 12.0) } else { (8.0, 8.0) };
    let room = Area::new(pad, pad, width - 2.0 * pad, bottom - pad - if on.strip { 4.0 } else { pad });
    // Columns of panels above each other with their parts of the width; two rows where there is the height.
    let tall = room.h >= 500.0;
    let groups: &[&[(&[usize], f32)]] = if tall {
        &[&[(&[0], 0.36), (&[1], 0.64)], &[(&[2], 0.5), (&[3], 0.5)]]
    } else {
        &[&[(&[0], 0.29), (&[1], 0.44), (&[2, 3], 0.27)]]
    };
    let present = |of: &[usize]| of.iter().filter(|i| shown[**i]).count() as f32;
    let rows: Vec<_> = groups.iter().filter(|row| row.iter().any(|c| present(c.0) > 0.0)).collect();
    let mut y = room.y;
    for (n, row) in rows.iter().enumerate() {
        let part = match (rows.len(), n) {
            (1, _) => 1.0,
            (_, 0) => 0.58,
            _ => 0.42,
        };
        let h = (room.h - gap * (rows.len() - 1) as f32) * part;
        let columns: Vec<_> = row.iter().filter(|c| present(c.0) > 0.0).collect();
        let parts: f32 = columns.iter().map(|c| c.1).sum();
        let mut x = room.x;
        for (of, part) in columns {
            let w = (room.w - gap * (row.iter().filter(|c| present(c.0) > 0.0).count() - 1) as f32) * part / parts;
            let k = present(of);
            for (i, panel) in of.iter().filter(|i| shown[**i]).enumerate() {
                // The map of the disks takes more than the listing below it.
                let share = [1.0, 0.64, 0.36][if k == 1.0 { 0 } else { i + 1 }];
                let y0 = y + if i == 0 { 0.0 } else { (h - gap) * 0.64 + gap };
                let own = if k == 1.0 { h } else { (h - gap) * share };
                out[*panel] = Some(Area::new(x, y0, w, own));
            }
            x += w + gap;
        }
        y += h + gap;
    }
    out
}

/// Draws the scene.
pub fn draw(pen: &mut Pen, io: &Io, on: Panels, side: Side, (width, height): (f32, f32), layout: Layout) {
    let draws: [fn(&mut Pen, Area, &Io); 4] = [lists::draw, columns::draw, rows::draw, rows::listing];
    for (area, draw) in places(on, width, height, layout).into_iter().zip(draws) {
        if let Some(area) = area {
            draw(pen, area, io);
        }
    }
    if on.strip {
        let alone = !any(on);
        let y = if alone { 4.0 } else { height - 44.0 };
        let area = Area::new(12.0, y, width - 24.0, height - y - 4.0);
        strip::draw(pen, area, io, side);
    }
}

/// A name a column, as many as there is room for.
fn names(pen: &mut Pen, a: Area, io: &Io, pitch: f32) {
    let widest = (0..io.members.len()).map(|m| Font::Mono.width(io.name(m))).fold(0.0, f32::max);
    let every = ((widest + 4.0) / pitch).ceil().max(1.0) as usize;
    let mut free = a.x;
    for m in (0..io.members.len()).step_by(every) {
        let x = a.x + (m as f32 + 0.5) * pitch;
        let x = within(x, a.x + widest / 2.0, a.x + a.w - widest / 2.0);
        // The outermost ones were moved inwards.
        if x - widest / 2.0 >= free {
            pen.centered((x, a.y), io.name(m), Ink::Text, Font::Mono, a.w);
            free = x + widest / 2.0 + 3.0;
        }
    }
}

/// Lights a command up, and gives it its words.
fn mark(pen: &mut Pen, a: Area, io: &Io, record: usize) {
    pen.hit(a, What::Issue(record as u32));
    let r = &io.order.records[record];
    if (pen.lit.rq != 0 && r.rq == pen.lit.rq) || (pen.lit.bio != 0 && r.bio == pen.lit.bio) {
        pen.light(a);
    }
}
