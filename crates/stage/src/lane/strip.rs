//! The D-stage strip: the last commands in order of issue, as coloured ticks.
//!
//! Models: blktrace `D` records.
//! Rule: one tick a command whatever its length; the newest stands at the right.
//! Leaves out: time between commands.

use bioscope_core::observe::trace::{Action, TraceRecord};

use super::pen::{Area, Pen};
use super::{STRIP, Side, What};
use crate::shape::{Font, Ink};

/// Draws the strip: label left (or above when `stacked`), ticks, and the present at the right.
pub fn draw(pen: &mut Pen, area: Area, strip: &[TraceRecord], zone_sectors: u64, side: Side, stacked: bool) {
    let ticks = if stacked {
        pen.text(area.x, area.y + 10.0, "D (issued), last 104 commands", Ink::Dim, Font::Small, area.w);
        Area::new(area.x, area.y + 16.0, area.w - 6.0, area.h - 18.0)
    } else {
        pen.text(area.x, area.y + area.h / 2.0 - 3.0, "D (issued), last", Ink::Dim, Font::Small, 92.0);
        pen.text(area.x, area.y + area.h / 2.0 + 10.0, "104 commands", Ink::Dim, Font::Small, 92.0);
        Area::new(area.x + 96.0, area.y + 6.0, area.w - 102.0, area.h - 12.0)
    };
    let pitch = ticks.w / STRIP as f32;
    let issued = strip.iter().enumerate().rev().filter(|(_, r)| r.action == Action::Issue).take(STRIP);
    let mut drawn = 0;
    for (back, (index, record)) in issued.enumerate() {
        let x = ticks.x + ticks.w - (back + 1) as f32 * pitch;
        let tick = Area::new(x, ticks.y, pitch * 0.8, ticks.h);
        let zone = (record.sector / zone_sectors.max(1)) as u32;
        if record.op.is_zone_mgmt() {
            pen.rect(tick, 1.0, Ink::Dim, 1.0);
        } else {
            pen.zone_rect(tick, 1.0, zone, 1.0);
        }
        pen.hit(Area { w: pitch, ..tick }, What::Issue(index as u32));
        if (pen.lit.rq != 0 && record.rq == pen.lit.rq) || (pen.lit.bio != 0 && record.bio == pen.lit.bio) {
            pen.light(tick);
        }
        drawn = back + 1;
    }
    for empty in drawn..STRIP {
        let x = ticks.x + ticks.w - (empty + 1) as f32 * pitch;
        pen.rect(Area::new(x, ticks.y, pitch * 0.8, ticks.h), 1.0, Ink::Track, 0.6);
    }
    if drawn == 0 {
        let words = "Commands appear here as they are issued: press play.";
        pen.text(ticks.x + 8.0, ticks.y + ticks.h / 2.0 + 4.0, words, Ink::Dim, Font::Small, ticks.w - 16.0);
    }
    let x = ticks.x + ticks.w + 2.5;
    pen.line((x, ticks.y - 4.0), (x, ticks.bottom() + 4.0), side.ink(), 1.5, 1.0);
}
