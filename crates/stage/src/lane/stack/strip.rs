//! The order of issue: every piece of the I/O as a tick, in the order in which the disks' queues got it.
//!
//! Models: blktrace's A records at the lowest devices.
//! Rule: pieces that continue each other in one chunk of a disk are one tick; faint is still to come.
//! Leaves out: merging and the disks' own order.

use bioscope_core::observe::trace::{Action, NO_ORIGIN};
use bioscope_core::units::Sector;

use super::{Io, mark};
use crate::lane::Side;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink};
use crate::text;

/// Draws the strip: its label left (or above on a small canvas), and the present as a line.
pub fn draw(pen: &mut Pen, area: Area, io: &Io, side: Side) {
    // Record, place, length.
    let mut ticks: Vec<(usize, Option<Sector>, Sector)> = Vec::new();
    // Where the last record ended on its disk.
    let mut end = (0, 0);
    for (n, r) in io.order.records.iter().enumerate() {
        let Some(member) = io.member(r.dev).filter(|_| r.action == Action::Remap) else { continue };
        let at = if io.by_disk { Some(r.sector) } else { Some(r.origin).filter(|o| *o != NO_ORIGIN) };
        let sectors = u64::from(r.nr_sectors);
        let same = end == (member, r.sector) && io.chunk > 0 && io.row(r.sector) == io.row(r.sector.saturating_sub(1));
        match ticks.last_mut() {
            Some(last) if same && last.1.is_some() == at.is_some() => last.2 += sectors,
            _ => ticks.push((n, at, sectors)),
        }
        end = (member, r.sector + sectors);
    }
    let whole = io.chunk > 0 && ticks.iter().all(|t| t.2 == io.chunk);
    let (one, many) = if whole { ("chunk", "chunks") } else { ("piece", "pieces") };
    let count = text::count(ticks.len() as u64, one, many);
    let a = if area.w < 500.0 {
        let words = ["order of issue, ", &count].concat();
        pen.text(area.x, area.y + 10.0, &words, Ink::Dim, Font::Small, area.w);
        Area::new(area.x, area.y + 16.0, area.w, area.h - 18.0)
    } else {
        pen.text(area.x, area.y + area.h / 2.0 - 3.0, "order of issue,", Ink::Dim, Font::Small, 92.0);
        pen.text(area.x, area.y + area.h / 2.0 + 10.0, &count, Ink::Dim, Font::Small, 92.0);
        Area::new(area.x + 96.0, area.y + 6.0, area.w - 96.0, area.h - 12.0)
    };
    if ticks.is_empty() {
        pen.rect(a, 2.0, Ink::Track, 0.6);
        let words = "Pieces appear here as they are sent to the disks: press play.";
        pen.text(a.x + 8.0, a.y + a.h / 2.0 + 4.0, words, Ink::Dim, Font::Small, a.w - 16.0);
        return;
    }
    // The latest ones where not all can be seen.
    let most = (a.w / 2.0) as usize;
    let happened = ticks.iter().filter(|t| t.0 < io.order.happened).count();
    let from = (happened.max(most * 3 / 4) - most * 3 / 4).min(ticks.len().saturating_sub(most));
    let ticks = &ticks[from..(from + most).min(ticks.len())];
    let pitch = (a.w / ticks.len() as f32).min(24.0);
    let mut present = a.x;
    for (n, (record, at, sectors)) in ticks.iter().enumerate() {
        let tick = Area::new(a.x + n as f32 * pitch, a.y, pitch * 0.86, a.h);
        let come = *record >= io.order.happened;
        io.fill(pen, tick, 1.0, *at, *sectors, if come { 0.28 } else { 1.0 });
        mark(pen, tick, io, *record);
        if !come {
            present = tick.x + pitch * 0.93;
        }
    }
    pen.line((present, a.y - 4.0), (present, a.bottom() + 4.0), side.ink(), 1.5, 1.0);
}
