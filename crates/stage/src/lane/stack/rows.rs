//! The member disks as a map: rows of chunks and parity, what of them the I/O touches; and the first disk's G records.
//!
//! Models: md's layouts (kernel 2.3, md M.9), the stripe cache (md M.3), blkparse's G lines (kernel 10.1).
//! Rule: a cell is a chunk of a disk; faint is still to come, framed is in flight.
//! Leaves out: rows the I/O does not touch; single stripes of 4 KiB, which a cell sums up.

use bioscope_core::observe::snapshot::{StripeCacheView, sflag};
use bioscope_core::observe::trace::{Action, flag};
use bioscope_core::units::{Op, Sector};

use super::{Io, State, mark, md, names, parity};
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// The stripe cache of the array.
pub fn cache<'a>(io: &Io<'a>) -> Option<&'a StripeCacheView> {
    io.snap.devices.get(usize::from(io.order.top))?.stripe_cache.as_ref()
}

/// The stripe cache in words.
pub fn cache_words(c: &StripeCacheView) -> String {
    let mut words = ["stripe cache: ", &c.active.to_string(), " of ", &c.size.to_string(), " active"].concat();
    for (n, name) in c.lists.iter().zip(["to handle", "delayed", "held"]) {
        if *n > 0 {
            words += &[", ", &n.to_string(), " ", name].concat();
        }
    }
    words
}

/// What the stripes of a row do at a member, in a letter: W written, R read, D new data waits.
fn letter(cache: Option<&StripeCacheView>, row: impl Fn(Sector) -> bool, member: usize) -> &'static str {
    let flags = cache.into_iter().flat_map(|c| &c.stripes).filter(|s| row(s.sector));
    let flags = flags.filter_map(|s| s.flags.get(member)).fold(0, |all, f| all | f);
    let letters = [(sflag::WRITING, "W"), (sflag::READING, "R"), (sflag::TOWRITE, "D"), (sflag::LOCKED, "L")];
    letters.iter().find(|l| flags & l.0 != 0).map_or("", |l| l.1)
}

/// Draws the map.
pub fn draw(pen: &mut Pen, area: Area, io: &Io) {
    let cache = cache(io).filter(|c| c.active > 0);
    let words = cache.map_or_else(|| "chunks and parity by row".to_string(), cache_words);
    let inner = pen.panel(area, super::TITLES[2], &words);
    let mut all: Vec<Sector> = Vec::new();
    for p in &io.pieces {
        let row = io.row(p.sector);
        if !all.contains(&row) {
            all.push(row);
        }
    }
    let (Some(first), Some(last)) = (all.iter().min(), all.iter().max()) else {
        let words = "Rows appear here once they are read or written.";
        pen.wrapped((inner.x, inner.y + 16.0), words, Ink::Dim, Font::Small, inner.w, 3);
        return;
    };
    let (first, last) = (*first, *last);
    let row_words = |row: Sector| ["row ", &text::thousands(row)].concat();
    let named = (Font::Small.width(&row_words(last)) + 8.0).min(inner.w * 0.3);
    let grid = Area::new(inner.x + named, inner.y, inner.w - named, inner.h);
    let pitch = grid.w / io.members.len().max(1) as f32;
    names(pen, Area { y: inner.y + 14.0, ..grid }, io, pitch);
    let top = inner.y + 20.0;
    let room = inner.bottom() - top;
    let line = within(room / (last - first + 1) as f32, 9.0, 18.0);
    let fit = ((room / line) as u64).max(1);
    // Where not all fit, those around the last command that was issued.
    let issued = io.commands.iter().rev().find(|c| c.state != State::Planned);
    let now = issued.map_or(first, |c| io.row(io.pieces[c.pieces.start].sector));
    let from = if last - first < fit { first } else { now.saturating_sub(fit / 2).clamp(first, last + 1 - fit) };
    let shown = (last - from + 1).min(fit);
    let gap = if pitch < 14.0 { 1.0 } else { 3.0 };
    let cell = |row: Sector, member: usize| {
        let (x, y) = (grid.x + member as f32 * pitch, top + (row - from) as f32 * line);
        Area::new(x, y, pitch - gap, line - (line * 0.16).max(1.0))
    };
    for row in from..from + shown {
        let a = cell(row, 0);
        if line >= 11.5 || (row - from).is_multiple_of(2) {
            let words = row_words(row);
            let label = Pen::fitting(Font::Small, named - 4.0, &[&words, &words[4..]]);
            pen.text(inner.x, a.y + a.h / 2.0 + 3.8, label, Ink::Dim, Font::Small, named - 4.0);
        }
        let parity = md(io.order).map_or([None, None], |m| parity(m, row));
        for member in 0..io.members.len() {
            let a = cell(row, member);
            match parity.iter().position(|p| *p == Some(member)) {
                Some(which) => {
                    pen.hatched(a, 1.5, Ink::Track, 1.0);
                    label_in(pen, a, ["P", "Q"][which], Ink::Text);
                }
                None => pen.rect(a, 1.5, Ink::Track, 0.6),
            }
        }
    }
    let chunk = io.chunk.max(8);
    let mut labels: Vec<(Sector, usize, (Sector, Sector, bool))> = Vec::new();
    for c in &io.commands {
        for p in &io.pieces[c.pieces.clone()] {
            let row = io.row(p.sector);
            if row < from || row >= from + shown {
                continue;
            }
            let whole = cell(row, c.member);
            // A part of a chunk fills a part of the cell.
            let offset = (p.sector.saturating_sub(md(io.order).map_or(0, |m| m.data_offset))) % chunk;
            let part = |s: Sector| whole.w * (s.min(chunk) as f32 / chunk as f32);
            let a = Area { x: whole.x + part(offset), w: part(p.sectors.min(chunk - offset)).max(1.0), ..whole };
            let alpha = if c.state == State::Planned { 0.28 } else { 1.0 };
            if p.at.is_some() {
                io.fill(pen, a, 1.5, p.at, p.sectors, alpha);
            } else if c.state != State::Planned {
                pen.rect(Area { y: a.bottom() - 2.0, h: 2.0, ..a }, 0.0, Ink::Text, 1.0);
            }
            // Of a cell that is touched twice, the later command counts.
            let label = p.at.filter(|_| a.w > whole.w * 0.7).map(|at| (at, p.sectors / 2, alpha < 1.0));
            labels.retain(|l| (l.0, l.1) != (row, c.member) || label.is_none());
            labels.extend(label.map(|l| (row, c.member, l)));
            if c.state == State::Issued && a.w > 8.0 && a.h > 11.0 {
                let ink = if c.op == Op::Write { Ink::Accent } else { Ink::Text };
                pen.frame(Area::new(a.x + 0.5, a.y + 0.5, (a.w - 1.0).max(1.0), a.h - 1.0), 1.5, ink, 1.0);
            }
            mark(pen, a, io, c.record);
        }
    }
    for (row, member, (at, half, planned)) in labels {
        let ink = if planned { Ink::Text } else { Ink::OnOffset(io.shade(at + half)) };
        label_in(pen, cell(row, member), &io.label(Some(at)), ink);
    }
    if let Some(cache) = cache {
        for row in from..from + shown {
            for member in 0..io.members.len() {
                let words = letter(Some(cache), |s| s / chunk == row, member);
                let a = cell(row, member);
                if !words.is_empty() && a.w > 26.0 && a.h >= 10.0 {
                    let plate = Area::new(a.x + a.w - 10.0, a.y + 0.5, 9.5, a.h - 1.0);
                    pen.plate(plate, words);
                }
            }
        }
    }
}

fn label_in(pen: &mut Pen, a: Area, label: &str, ink: Ink) {
    // The right end is the stripe cache's.
    let room = if a.w > 40.0 { a.w - 22.0 } else { a.w - 1.0 };
    if a.h >= 9.0 && Font::Chip.width(label) <= room {
        pen.centered((a.x + a.w / 2.0, a.y + a.h / 2.0 + 3.4), label, ink, Font::Chip, room);
    }
}

/// Lines of the first member's G records so far, the latest last.
pub fn lines(io: &Io, most: usize) -> Vec<[String; 3]> {
    let first = io.members.first();
    let records = io.order.records[..io.order.happened].iter().enumerate().rev();
    let own = records.filter(|(_, r)| r.action == Action::GetRq && Some(&r.dev) == first);
    let (major, minor) = first.map_or((0, 0), |d| io.order.cfg.devices[usize::from(*d)].dev);
    let mut lines: Vec<[String; 3]> = own
        .take(most)
        .map(|(_, r)| {
            let op = match (r.op, r.flags & flag::SYNC != 0) {
                (Op::Read, _) => "R",
                (_, true) => "WS",
                (_, false) => "W",
            };
            let short = ["G ", op, " ", &r.sector.to_string(), " + ", &r.nr_sectors.to_string()].concat();
            let timed = [&text::fixed(r.time as f64 / 1e9, 9), " ", &short].concat();
            let dev = [&major.to_string(), ",", &minor.to_string(), " "].concat();
            [[&dev, timed.as_str(), " [", &io.comm(r), "]"].concat(), timed, short]
        })
        .collect();
    lines.reverse();
    lines
}

/// Draws the listing.
pub fn listing(pen: &mut Pen, area: Area, io: &Io) {
    let title = ["G at ", io.name(0)].concat();
    let inner = pen.panel(area, if io.members.is_empty() { super::TITLES[3] } else { &title }, "as blkparse prints it");
    let most = (inner.h / 14.0) as usize;
    let lines = lines(io, most);
    if lines.is_empty() {
        pen.text(inner.x, inner.y + 14.0, "No request yet.", Ink::Dim, Font::Small, inner.w);
    }
    for (n, wordings) in lines.iter().enumerate() {
        let words = Pen::fitting(Font::Mono, inner.w, &[&wordings[0], &wordings[1], &wordings[2]]);
        let ink = if n + 1 == lines.len() { Ink::Text } else { Ink::Dim };
        pen.text(inner.x, inner.y + 12.0 + n as f32 * 14.0, words, ink, Font::Mono, inner.w);
    }
}
