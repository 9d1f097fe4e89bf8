//! Chips on their way: at slow motion a chip glides along the path its event took.
//!
//! Models: nothing.
//! Rule: only when fewer than three commands pass in a frame (decisions 21); a chip starts when its event happens and
//! arrives a few frames later, eased; nothing moves without an event.
//! Leaves out: the exact slot a chip leaves or reaches: it goes from panel to panel at the height of its zone.

use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::units::ZoneNo;

use super::pen::{Area, Pen};
use super::{LaneInput, Places, What, plugs};

type Point = (f32, f32);

/// Frames a chip is under way.
const FRAMES: u64 = 14;

/// How much passes in a frame (decisions 21).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Density {
    /// Chips move with eased time.
    Few,
    /// They appear in place, with trails.
    Some,
    /// Counts, densities and the strip.
    Many,
}

/// By the commands issued within the last frame.
pub fn density(input: &LaneInput) -> Density {
    let since = input.snap.now.saturating_sub(input.dt_sim_ns);
    let issued = input.strip.iter().rev().take_while(|r| r.time > since).filter(|r| r.action == Action::Issue).count();
    match issued {
        0..3 => Density::Few,
        3..=60 => Density::Some,
        _ => Density::Many,
    }
}

/// Draws what is under way.
pub(super) fn draw(pen: &mut Pen, places: &Places, input: &LaneInput) {
    let length = input.dt_sim_ns * FRAMES;
    if length == 0 || density(input) != Density::Few {
        return;
    }
    let Some(device) = input.snap.devices.first() else { return };
    let rows = plugs::active(device);
    let head = pen.out.hits.iter().rev().find(|h| h.what == What::Head);
    let head = head.map(|h| (h.x + h.w / 2.0, h.y + h.h / 2.0));
    let row = |zone: ZoneNo| rows.iter().position(|p| p.zone == zone).unwrap_or(0) as f32;
    for record in input.moves.iter().rev().take(64) {
        let age = input.snap.now.saturating_sub(record.time);
        if age >= length {
            break;
        }
        let zone = (record.sector / super::board::zone_sectors(device).max(1)) as ZoneNo;
        let Some((from, to)) = path(record, places, row(zone), head) else { continue };
        let u = age as f32 / length as f32;
        let eased = u * u * (3.0 - 2.0 * u);
        let (x, y) = (from.0 + (to.0 - from.0) * eased, from.1 + (to.1 - from.1) * eased);
        pen.zone_rect(Area::new(x - 4.0, y - 4.0, 8.0, 8.0), 2.0, zone, 1.0 - 0.6 * u);
    }
}

/// From where to where an event takes its chip; nowhere when one of the two panels is not shown.
fn path(record: &TraceRecord, places: &Places, row: f32, head: Option<Point>) -> Option<(Point, Point)> {
    let plug = || places.plugs.map(|p| (p.x + 40.0, (p.y + 70.0 + row * 60.0).min(p.bottom() - 20.0)));
    let jobs = || places.jobs.map(|p| (p.x + p.w / 2.0, p.y + 60.0));
    // Down the panel's right margin, clear of its words.
    let margin = |y: fn(Area) -> f32| places.queues.map(|p| (p.x + p.w - 5.0, y(p)));
    let (tags, cache) = (|| margin(|p| p.y + 56.0), || margin(|p| p.bottom() - 24.0));
    match record.action {
        Action::Queue => jobs().zip(plug()),
        Action::Issue => plug().zip(tags()),
        Action::Cached => tags().zip(cache()),
        Action::Transfer => cache().zip(head),
        _ => None,
    }
}
