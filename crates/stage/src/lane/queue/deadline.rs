//! mq-deadline: for each class and direction the sort order along the sectors and the FIFO with what is left of its
//! deadlines.
//!
//! Models: sort trees, FIFOs, latest_pos, batching, starved, last_dir (kernel 4.2).
//! Rule: the sort order stands over an axis of sectors that all rows share; a deadline that has passed is red.
//! Leaves out: classes that never had a request.

use bioscope_core::observe::snapshot::{DeadlineClassView, DeadlineView, RequestView};
use bioscope_core::time::SimTime;
use bioscope_core::units::{JobIdx, Sector};

use super::{caption, job_rect, requests};
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, Shape, within};
use crate::text;

/// Names of the classes.
pub const CLASSES: [&str; 3] = ["RT", "BE", "IDLE"];
/// Names of the directions.
pub const DIRS: [&str; 2] = ["read", "write"];

/// The counters.
pub fn words(d: &DeadlineView) -> String {
    let dir = DIRS[d.last_dir.min(1)];
    ["batching ", &d.batching.to_string(), " · starved ", &d.starved.to_string(), " · last_dir ", dir].concat()
}

/// A class that has or had requests.
fn used(c: &DeadlineClassView) -> bool {
    c.counts[0] > 0 || c.sort.iter().any(|s| !s.is_empty())
}

/// Classes and directions that are shown: BE where there is nothing yet.
pub fn rows(d: &DeadlineView) -> Vec<(usize, usize)> {
    let some = d.classes.iter().any(used);
    let classes = (0..3).filter(|c| if some { used(&d.classes[*c]) } else { *c == 1 });
    classes.flat_map(|c| [(c, 0), (c, 1)]).collect()
}

/// When the head of a FIFO is due, and whether it is late.
pub fn due(fifo: &[(u32, SimTime)], now: SimTime) -> Option<(String, bool)> {
    let (_, at) = fifo.first()?;
    Some(match at.checked_sub(now) {
        Some(left) => (["due in ", &text::duration(left)].concat(), false),
        None => ([&text::duration(now - at), " late"].concat(), true),
    })
}

/// Draws its rows.
pub fn draw(pen: &mut Pen, a: Area, d: &DeadlineView, now: SimTime) {
    let rows = rows(d);
    let all = || d.classes.iter().flat_map(|c| &c.sort).flatten();
    let low = all().map(|r| r.sector).min().unwrap_or(0);
    let high = all().map(|r| r.sector + u64::from(r.nr_sectors)).max().unwrap_or(1);
    let head = if d.dispatch.is_empty() { 0.0 } else { 16.0 };
    if head > 0.0 {
        let first: Vec<&RequestView> = d.dispatch.iter().collect();
        let used = pen.text(a.x, a.y + 10.0, "goes first", Ink::Dim, Font::Small, a.w) + 8.0;
        requests(pen, Area::new(a.x + used, a.y + 2.0, a.w - used, 9.0), &first, 9.0);
    }
    let a = a.below(head);
    // A direction that was never served needs no more than its name.
    let slim = |(class, dir): &(usize, usize)| {
        let c = &d.classes[*class];
        c.sort[*dir].is_empty() && c.latest_pos[*dir] == 0
    };
    let thin = rows.iter().filter(|r| slim(r)).count() as f32;
    let h = ((a.h - thin * 20.0) / (rows.len() as f32 - thin).max(1.0)).min(150.0);
    let mut y = a.y;
    for (class, dir) in &rows {
        let row = Area { y, h: if slim(&(*class, *dir)) { 20.0 } else { h }, ..a };
        y += row.h;
        let c = &d.classes[*class];
        // One class needs no name.
        let name = if rows.len() > 2 { [CLASSES[*class], " ", DIRS[*dir]].concat() } else { DIRS[*dir].to_string() };
        direction(pen, row, c, *dir, &name, now, (low, high));
    }
}

/// One direction of one class.
fn direction(
    pen: &mut Pen,
    a: Area,
    c: &DeadlineClassView,
    dir: usize,
    name: &str,
    now: SimTime,
    range: (Sector, Sector),
) {
    let (sort, fifo) = (&c.sort[dir], &c.fifo[dir]);
    let n = sort.len().to_string();
    let queued = [&n, " queued"].concat();
    let (words, short, late) = match due(fifo, now) {
        Some((due, late)) => ([&queued, ", first ", &due].concat(), [&n, ", ", &due].concat(), late),
        None => (queued.clone(), n.clone(), false),
    };
    let ink = if late { Ink::Bad } else { Ink::Dim };
    caption(pen, a, name, &[&words, &short, &queued, &n], ink);
    // Order, axis, FIFO share what the caption leaves.
    let room = a.h - 17.0;
    if room < 10.0 {
        return;
    }
    let unit = within(room / 42.0, 0.2, 3.0);
    let fifo_h = if room < 22.0 { 0.0 } else { 11.0 * unit };
    let order = Area { y: a.y + 16.0, h: 12.0 * unit, ..a };
    let axis = Area { y: order.bottom() + 2.0, h: (5.0 * unit).max(3.0), ..a };
    let all: Vec<&RequestView> = sort.iter().collect();
    if all.is_empty() {
        pen.rect(order, 2.0, Ink::Track, 0.45);
    } else {
        let pitch = requests(pen, order, &all, 14.0);
        // The next one in its direction.
        let next = sort.partition_point(|r| r.sector < c.latest_pos[dir]);
        let x = a.x + (next as f32 * pitch).min(a.w - 1.0);
        let (y0, y1) = (order.y - 2.0, order.bottom() + 1.0);
        pen.line((x - 0.5, y0), (x - 0.5, y1), Ink::Text, 1.4, 1.0);
    }
    let (low, high) = range;
    let span = (high - low).max(1) as f32;
    let place = |s: Sector| a.x + (s.saturating_sub(low) as f32 / span).min(1.0) * (a.w - 2.0);
    pen.rect(Area { y: axis.y + axis.h / 2.0 - 0.5, h: 1.0, ..axis }, 0.0, Ink::Line, 1.0);
    for rq in sort.iter().take(super::MOST) {
        let (x, end) = (place(rq.sector), place(rq.sector + u64::from(rq.nr_sectors)));
        job_rect(pen, Area { x, w: (end - x).max(1.6), ..axis }, 0.0, rq.job);
    }
    if (low..=high).contains(&c.latest_pos[dir]) && !sort.is_empty() {
        let x = place(c.latest_pos[dir]);
        pen.rect(Area { x: x - 0.7, y: axis.y - 1.0, w: 1.4, h: axis.h + 2.0 }, 0.0, Ink::Text, 1.0);
    }
    if fifo_h > 0.0 {
        deadlines(pen, Area { y: axis.bottom() + 4.0, h: fifo_h, ..a }, sort, fifo, now);
    }
}

/// The FIFO, oldest left: as high as what is left of the longest deadline.
fn deadlines(pen: &mut Pen, a: Area, sort: &[RequestView], fifo: &[(u32, SimTime)], now: SimTime) {
    if fifo.is_empty() {
        return;
    }
    let label = pen.text(a.x, a.y + a.h / 2.0 + 3.6, "fifo", Ink::Dim, Font::Small, a.w) + 6.0;
    let a = Area { x: a.x + label, w: a.w - label, ..a };
    let pitch = within(a.w / fifo.len() as f32, 2.0, 9.0);
    let longest = fifo.iter().map(|f| f.1.saturating_sub(now)).max().unwrap_or(0).max(1) as f32;
    for (n, (id, at)) in fifo.iter().take(((a.w / pitch) as usize).min(80)).enumerate() {
        let w = pitch - (pitch * 0.25).min(1.6);
        let cell = Area::new(a.x + n as f32 * pitch, a.y, w, a.h);
        let left = at.saturating_sub(now) as f32 / longest;
        let job = sort.iter().find(|r| r.id == *id).map_or(JobIdx::MAX, |r| r.job);
        pen.rect(cell, 1.0, Ink::Track, 1.0);
        if *at < now {
            pen.rect(cell, 1.0, Ink::Bad, 1.0);
        } else {
            let h = (cell.h * left).max(1.5);
            job_rect(pen, Area { y: cell.bottom() - h, h, ..cell }, 1.0, job);
        }
        pen.hit(cell, What::Rq(*id));
    }
    let y = a.bottom() + 0.5;
    let (stroke, width, alpha, dash) = (Ink::Line, 1.0, 1.0, false);
    pen.out.shapes.push(Shape::Line { x0: a.x, y0: y, x1: a.x + a.w, y1: y, stroke, width, alpha, dash });
}
