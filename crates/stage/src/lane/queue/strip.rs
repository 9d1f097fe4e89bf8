//! The order at D: the last commands from left to right, at the height of their sector, in the colour of their job.
//!
//! Models: blktrace `D` records.
//! Rule: a command that begins where the last one ended touches it, so that pieces of one bio that stay together are a
//! dash and those that do not are dots.
//! Leaves out: time between commands; their length.

use bioscope_core::observe::trace::{Action, TraceRecord};

use super::{Note, job_rect};
use crate::lane::pen::{Area, Pen};
use crate::lane::{STRIP, Side, What};
use crate::shape::{Font, Ink};

/// Commands that continue the one before, and all that have one before, of the last ones.
pub fn sequential(strip: &[TraceRecord]) -> (usize, usize) {
    let (mut n, mut of, mut end) = (0, 0, None);
    for (_, r) in last(strip) {
        of += usize::from(end.is_some());
        n += usize::from(end == Some(r.sector));
        end = Some(r.sector + u64::from(r.nr_sectors));
    }
    (n, of)
}

/// The last commands, oldest first, with their places in the list.
fn last(strip: &[TraceRecord]) -> impl Iterator<Item = (usize, &TraceRecord)> {
    let issued = |r: &TraceRecord| r.action == Action::Issue && !r.op.is_zone_mgmt() && r.nr_sectors > 0;
    let skip = strip.iter().filter(|r| issued(r)).count().saturating_sub(STRIP);
    strip.iter().enumerate().filter(move |(_, r)| issued(r)).skip(skip)
}

/// The share in words.
pub fn words(strip: &[TraceRecord]) -> String {
    match sequential(strip) {
        (_, 0) => "in the order of D".into(),
        (n, of) => [&(n * 100 / of).to_string(), " % sequential"].concat(),
    }
}

/// Draws the strip: its label left (or above when `stacked`), and the present at the right.
pub fn draw(pen: &mut Pen, area: Area, strip: &[TraceRecord], side: Side, stacked: bool) {
    let words = words(strip);
    let a = if stacked {
        let words = ["last 104 at D by sector, ", &words].concat();
        pen.text(area.x, area.y + 10.0, &words, Ink::Dim, Font::Small, area.w);
        pen.hit(Area { h: 14.0, ..area }, What::Note(Note::Strip));
        Area::new(area.x, area.y + 17.0, area.w - 6.0, area.h - 20.0)
    } else {
        let y = area.y + area.h / 2.0;
        pen.text(area.x, y - 10.0, "D by sector,", Ink::Dim, Font::Small, 104.0);
        pen.text(area.x, y + 4.0, "last 104:", Ink::Dim, Font::Small, 96.0);
        pen.text(area.x, y + 18.0, &words, Ink::Text, Font::Small, 106.0);
        pen.hit(Area { w: 106.0, ..area }, What::Note(Note::Strip));
        Area::new(area.x + 110.0, area.y + 4.0, area.w - 116.0, area.h - 8.0)
    };
    pen.rect(Area::new(a.x - 2.0, a.y - 2.0, a.w + 4.0, a.h + 4.0), 3.0, Ink::Track, 0.45);
    let all: Vec<(usize, &TraceRecord)> = last(strip).collect();
    if all.is_empty() {
        let words = "Commands appear here as they are issued: press play.";
        pen.text(a.x + 8.0, a.y + a.h / 2.0 + 4.0, words, Ink::Dim, Font::Small, a.w - 16.0);
    }
    let low = all.iter().map(|r| r.1.sector).min().unwrap_or(0);
    let high = all.iter().map(|r| r.1.sector).max().unwrap_or(0);
    let pitch = a.w / STRIP as f32;
    let h = (a.h * 0.26).max(6.0);
    let first = STRIP - all.len();
    let mut end = None;
    for (n, (index, r)) in all.iter().enumerate() {
        let part = (r.sector - low) as f32 / (high - low).max(1) as f32;
        let part = if high == low { 0.5 } else { part };
        let x = a.x + (first + n) as f32 * pitch;
        let y = a.y + (a.h - h) * (1.0 - part);
        // What is continued reaches over to it.
        let joined = end == Some(r.sector);
        let gap = pitch * 0.22;
        let tick = Area::new(if joined { x - gap } else { x }, y, if joined { pitch } else { pitch - gap }, h);
        job_rect(pen, tick, if joined { 0.0 } else { 1.0 }, r.job);
        pen.hit(Area::new(x, a.y, pitch, a.h), What::Issue(*index as u32));
        if (pen.lit.rq != 0 && r.rq == pen.lit.rq) || (pen.lit.bio != 0 && r.bio == pen.lit.bio) {
            pen.light(tick);
        }
        end = Some(r.sector + u64::from(r.nr_sectors));
    }
    let x = a.x + a.w + 3.5;
    pen.line((x, a.y - 3.0), (x, a.bottom() + 3.0), side.ink(), 1.5, 1.0);
}
