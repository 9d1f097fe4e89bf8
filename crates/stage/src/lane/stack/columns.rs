//! The order at the member disks: a column a disk, its commands from top to bottom as they are issued.
//!
//! Models: blktrace's D records; G and M say what a command is made of.
//! Rule: a merged command is one block; red above a block is a seek, dim a jump over parity; faint is still to come.
//! Leaves out: time between commands.

use super::{Gap, Io, State, mark, names};
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};

/// Largest height of a piece.
const PITCH: f32 = 24.0;

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, io: &Io) {
    let words =
        ["chunks in the order of their D stage, top to bottom", "chunks by D stage, top to bottom", "by D stage"];
    let words = Pen::fitting(Font::Small, area.w - 20.0, &words);
    let inner = pen.panel(area, super::TITLES[1], words);
    if io.commands.is_empty() || io.members.is_empty() {
        let words = "Pieces stand here as the disks get them: press play.";
        pen.wrapped((inner.x, inner.y + 16.0), words, Ink::Dim, Font::Small, inner.w, 3);
        return;
    }
    let pitch = inner.w / io.members.len() as f32;
    names(pen, Area { y: inner.y + 14.0, ..inner }, io, pitch);
    let top = inner.y + 22.0;
    let room = inner.bottom() - 20.0 - top;
    legend(pen, inner, io);

    // Pieces a disk: in all, and issued.
    let mut counts = vec![(0usize, 0usize); io.members.len()];
    for c in &io.commands {
        let of = &mut counts[c.member];
        of.0 += c.pieces.len();
        of.1 += if c.state == State::Planned { 0 } else { c.pieces.len() };
    }
    let most = counts.iter().map(|c| c.0).max().unwrap_or(1).max(1);
    let row = within(room / most as f32, 5.0, PITCH);
    let fit = ((room / row) as usize).max(1);
    // Where not all fit, the last issued ones and some that follow.
    let skip: Vec<usize> =
        counts.iter().map(|c| (c.1.max(fit * 3 / 4) - fit * 3 / 4).min(c.0.saturating_sub(fit))).collect();
    let mut at = vec![0usize; io.members.len()];
    let thin = pitch < 22.0;
    let gap = if thin { 1.5 } else { 6.0 };
    for c in &io.commands {
        let first = at[c.member];
        at[c.member] += c.pieces.len();
        let skipped = skip[c.member].saturating_sub(first).min(c.pieces.len());
        let line = first.saturating_sub(skip[c.member]);
        let shown = (c.pieces.len() - skipped).min(fit.saturating_sub(line));
        if shown == 0 {
            continue;
        }
        let x = inner.x + c.member as f32 * pitch + gap / 2.0;
        let block = Area::new(x, top + line as f32 * row, pitch - gap, shown as f32 * row - row * 0.2);
        let (alpha, planned) = if c.state == State::Planned { (0.28, true) } else { (1.0, false) };
        for (n, p) in io.pieces[c.pieces.clone()].iter().skip(skipped).take(shown).enumerate() {
            let last = n + 1 == shown;
            let h = if last { row * 0.8 } else { row };
            let a = Area::new(block.x, block.y + n as f32 * row, block.w, h);
            io.fill(pen, a, if shown == 1 { 2.0 } else { 0.0 }, p.at, p.sectors, alpha);
            let mid = p.at.map(|at| io.shade(at + p.sectors / 2));
            let (label, ink) = (io.label(p.at), mid.filter(|_| !planned).map_or(Ink::Text, Ink::OnOffset));
            if row >= 11.0 && !thin && Font::Chip.width(&label) <= block.w - 2.0 {
                let middle = (a.x + a.w / 2.0, block.y + n as f32 * row + row * 0.4 + 3.4);
                pen.centered(middle, &label, ink, Font::Chip, block.w);
            }
        }
        let ink = match c.gap {
            Gap::Seek => Some(Ink::Bad),
            Gap::Parity => Some(Ink::Dim),
            Gap::None => None,
        };
        if let Some(ink) = ink.filter(|_| line > 0) {
            let h = (row * 0.12).max(1.0);
            pen.rect(
                Area::new(block.x, block.y - row * 0.1 - h / 2.0, block.w, h),
                0.0,
                ink,
                if planned { 0.5 } else { 1.0 },
            );
        }
        mark(pen, block, io, c.record);
    }
}

/// What the marks mean.
fn legend(pen: &mut Pen, inner: Area, io: &Io) {
    let y = inner.bottom();
    let mut x = inner.x;
    let parity = io.commands.iter().any(|c| c.gap == Gap::Parity);
    let marks = [("seek", Ink::Bad, true), ("over parity", Ink::Dim, parity)];
    let words = Pen::fitting(Font::Small, inner.w * 0.4, &["gap before a command:", "gap:"]);
    x += pen.text(x, y, words, Ink::Dim, Font::Small, inner.w * 0.45) + 6.0;
    for (words, ink, _) in marks.iter().filter(|m| m.2) {
        pen.rect(Area::new(x, y - 5.0, 12.0, 2.4), 0.0, *ink, 1.0);
        x += 16.0 + pen.text(x + 16.0, y, words, Ink::Dim, Font::Small, inner.x + inner.w - x - 16.0) + 10.0;
    }
}
