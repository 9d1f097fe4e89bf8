//! The scene of a request queue: tag maps, wait queues, the scheduler's own lists, the order at D.
//!
//! Models: sbitmap and its wait queues (kernel 3.2), sched and driver tags (3.3), async_depth (3.4), mq-deadline,
//! kyber and bfq (4.2, 4.4, 4.5), as their debugfs files show them.
//! Rule: a request has its job's colour in every panel (job mod 6, hatched from the seventh on); requests that continue
//! each other on the disk touch.
//! Leaves out: zones (the other panels of [`super`]); which bits of a word a search visits.

use bioscope_core::observe::snapshot::{RequestView, Snapshot};
use bioscope_core::units::JobIdx;

use super::drive::{self, DriveInput};
use super::pen::{Area, Colours, Pen};
use super::{LaneInput, Layout, Panels, What, above_each_other};
use crate::shape::{Font, Ink, Shape, within};

mod bfq;
mod deadline;
mod kyber;
pub mod sched;
pub mod strip;
pub mod tables;
pub mod tags;
pub mod waiters;

/// Titles of the panels, as the tables have them too.
pub const TITLES: [&str; 2] = ["tag maps", "wait queues"];

/// Least height of each panel: tags, wait queues, scheduler, drive.
const HEIGHTS: [f32; 4] = [214.0, 226.0, 262.0, 300.0];
/// Height of the strip with its distance.
const STRIP: f32 = 66.0;

fn shown(on: Panels) -> [bool; 4] {
    [on.tagmap, on.waiters, on.sched, on.drive]
}

/// Whether panels of this scene are asked for.
pub fn any(on: Panels) -> bool {
    on.tagmap || on.waiters || on.sched
}

/// From this width on they stand beside each other.
pub fn layout(width: f32, on: Panels) -> Layout {
    let n = shown(on).iter().filter(|s| **s).count();
    if n > 1 && width < 600.0 { Layout::Narrow } else { Layout::Wide }
}

/// Height below which the scene is not drawn well.
pub fn min_height(layout: Layout, on: Panels) -> f32 {
    let strip = if on.strip { STRIP } else { 8.0 };
    let heights = HEIGHTS.iter().zip(shown(on)).filter(|h| h.1).map(|h| h.0 + 8.0);
    strip + if layout == Layout::Narrow { heights.sum() } else { HEIGHTS[2] + 12.0 }
}

/// Where the panels stand; `idle`: the scheduler has nothing to show.
fn places(on: Panels, (width, height): (f32, f32), layout: Layout, idle: bool) -> [Option<Area>; 4] {
    let shown = shown(on);
    let bottom = height - if on.strip { STRIP } else { 8.0 };
    if layout == Layout::Narrow {
        return above_each_other(HEIGHTS, shown, width, bottom);
    }
    let mut out = [None; 4];
    let (pad, gap) = if width >= 700.0 { (12.0, 12.0) } else { (8.0, 8.0) };
    let room = Area::new(pad, pad, width - 2.0 * pad, bottom - pad);
    // Two rows where there is the height, else the drive only where there is the width.
    let tall = room.h >= 2.0 * HEIGHTS[1] + gap;
    let rows: &[&[(usize, f32)]] = if tall {
        &[&[(0, 0.5), (1, 0.5)], &[(2, 0.6), (3, 0.4)]]
    } else if width >= 760.0 && idle && on.drive {
        &[&[(0, 0.24), (1, 0.33), (2, 0.21), (3, 0.22)]]
    } else if width >= 760.0 || !(shown[0] && shown[1] && shown[2]) {
        &[&[(0, 0.23), (1, 0.24), (2, 0.32), (3, 0.21)]]
    } else {
        &[&[(0, 0.27), (1, 0.27), (2, 0.46)]]
    };
    let rows: Vec<Vec<(usize, f32)>> = rows
        .iter()
        .map(|row| row.iter().copied().filter(|p| shown[p.0]).collect())
        .filter(|row: &Vec<_>| !row.is_empty())
        .collect();
    let h = (room.h - gap * (rows.len() as f32 - 1.0)) / rows.len() as f32;
    for (n, row) in rows.iter().enumerate() {
        let parts: f32 = row.iter().map(|p| p.1).sum();
        let w = room.w - gap * (row.len() as f32 - 1.0);
        let mut x = room.x;
        for (panel, part) in row {
            let own = w * part / parts;
            out[*panel] = Some(Area::new(x, room.y + n as f32 * (h + gap), own, h));
            x += own + gap;
        }
    }
    out
}

/// Colours by job from here on.
pub fn colour(pen: &mut Pen, input: &LaneInput) {
    pen.colours = Colours::of_jobs(input.snap.jobs.len());
    pen.lit.job = match input.lit {
        Some(What::Job(job) | What::Held(job)) => Some(job),
        _ => None,
    };
}

/// Draws the scene.
pub fn draw(pen: &mut Pen, input: &LaneInput, (width, height): (f32, f32), layout: Layout) {
    let snap = input.snap;
    colour(pen, input);
    let device = snap.devices.first();
    let idle = device.is_some_and(sched::never_holds);
    let [tag_map, queues, scheduler, platter] = places(input.panels, (width, height), layout, idle);
    if let Some(area) = tag_map {
        tags::draw(pen, area, device, snap.jobs.len());
    }
    if let Some(area) = queues {
        waiters::draw(pen, area, device, snap);
    }
    if let Some(area) = scheduler {
        sched::draw(pen, area, device, snap.now);
    }
    if let Some(area) = platter {
        // Bands of a disk without zones are the model's own: no colour.
        let jobs = core::mem::replace(&mut pen.colours, Colours::of_jobs(0));
        let drive = DriveInput {
            title: input.drive,
            trail: input.trail,
            now: snap.now,
            dt: input.dt_sim_ns,
            seeks_per_sec: input.seeks_per_sec,
        };
        drive::draw(pen, area, device, &drive);
        pen.colours = jobs;
    }
    if input.panels.strip {
        let y = if any(input.panels) { height - STRIP + 6.0 } else { 4.0 };
        let area = Area::new(12.0, y, width - 24.0, height - y - 4.0);
        strip::draw(pen, area, input.strip, input.side, width < 500.0);
    }
}

/// A place in a job's colour; `JobIdx::MAX` is nobody's.
fn job_rect(pen: &mut Pen, a: Area, r: f32, job: JobIdx) {
    if job == JobIdx::MAX {
        return pen.rect(a, r, Ink::Dim, 0.7);
    }
    pen.zone_rect(a, r, u32::from(job), 1.0);
    if pen.lit.job == Some(job) {
        pen.light(a);
    }
}

/// A task of a wait queue: its colour, and its number where there is room.
fn task_chip(pen: &mut Pen, a: Area, task: u16, jobs: usize) {
    let (job, label) =
        if usize::from(task) < jobs { (task, task.to_string()) } else { (JobIdx::MAX, "kw".to_string()) };
    pen.rect(a, 3.0, Ink::Raised, 1.0);
    // All of them or none.
    let widest = jobs.saturating_sub(1).to_string();
    let labelled = a.w >= Font::Chip.width(&widest).max(Font::Chip.width(&label)) + 5.5;
    let w = if labelled { 4.0 } else { a.w };
    job_rect(pen, Area { w, ..a }, 2.0, job);
    if labelled {
        pen.centered((a.x + 4.5 + (a.w - 4.5) / 2.0, a.y + a.h / 2.0 + 3.4), &label, Ink::Text, Font::Chip, a.w);
    }
    if job != JobIdx::MAX {
        pen.hit(a, What::Job(job));
    }
}

/// Requests of a list that are drawn.
const MOST: usize = 150;

/// Requests in a row of equal steps; those that continue the one before touch it. Returns the pitch.
fn requests(pen: &mut Pen, a: Area, all: &[&RequestView], most: f32) -> f32 {
    let pitch = within(a.w / all.len().max(1) as f32, 1.6, most);
    let fit = (((a.w + 0.1) / pitch) as usize).min(MOST);
    let gap = (pitch * 0.25).min(2.0);
    for (n, rq) in all.iter().take(fit).enumerate() {
        let joined = all.get(n + 1).is_some_and(|next| next.sector == rq.sector + u64::from(rq.nr_sectors));
        let w = if joined && n + 1 < fit { pitch + 0.2 } else { pitch - gap };
        let cell = Area::new(a.x + n as f32 * pitch, a.y, w, a.h);
        job_rect(pen, cell, if joined { 0.0 } else { 1.0 }, rq.job);
        pen.rq(Area { w: pitch, ..cell }, rq);
    }
    pitch
}

/// A caption over a row: name left, words right; both stay apart.
pub fn caption(pen: &mut Pen, a: Area, name: &str, wordings: &[&str], ink: Ink) {
    let used = pen.text(a.x, a.y + 10.0, name, Ink::Text, Font::Mono, a.w);
    let room = a.w - used - 8.0;
    let words = Pen::fitting(Font::Small, room, wordings);
    if Font::Small.width(words) <= room {
        pen.text_right(a.x + a.w, a.y + 10.0, words, ink, Font::Small, room);
    }
}

/// Keys of marks in words, in as many lines of 14 px as there are; returns the next line's top.
fn legend(pen: &mut Pen, a: Area, items: &[(Note, String)]) -> f32 {
    let (mut x, mut y) = (a.x, a.y);
    for (note, words) in items {
        let w = 13.0 + Font::Small.width(words);
        if x > a.x && x + w > a.x + a.w {
            (x, y) = (a.x, y + 14.0);
        }
        if y + 14.0 > a.bottom() {
            return y;
        }
        let mark = Area::new(x, y + 2.0, 9.0, 9.0);
        match note {
            Note::Cleared => pen.frame(Area::new(x + 0.5, y + 2.5, 8.0, 8.0), 2.0, Ink::Dim, 1.0),
            Note::Shallow => pen.rect(Area { y: y + 9.0, h: 2.0, ..mark }, 0.0, Ink::Accent, 1.0),
            Note::Hint => pen.rect(Area { y: y + 2.0, h: 2.0, ..mark }, 0.0, Ink::Text, 1.0),
            Note::Got => {
                let (x, y, r) = (x + 4.0, y + 6.5, 2.6);
                pen.out.shapes.push(Shape::Disc { x, y, r, fill: Ink::Text, alpha: 1.0 });
            }
            Note::Again => {
                let (x, y, r) = (x + 4.0, y + 6.5, 3.0);
                pen.out.shapes.push(Shape::Ring { x, y, r, stroke: Ink::Dim, width: 1.2, alpha: 1.0 });
            }
            _ => pen.rect(Area::new(x + 2.0, y + 5.8, 5.0, 1.4), 0.0, Ink::Dim, 1.0),
        }
        pen.text(x + 13.0, y + 10.0, words, Ink::Dim, Font::Small, a.x + a.w - x - 13.0);
        pen.hit(Area::new(x, y, w, 14.0), What::Note(*note));
        x += w + 10.0;
    }
    y + 14.0
}

/// What has a tooltip without being a thing of the run: marks of the legends, and words that are the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// A freed bit that still looks taken.
    Cleared,
    /// Underlined: what a shallow allocation may use.
    Shallow,
    /// Where a CPU's next search begins.
    Hint,
    /// A woken task that got a tag.
    Got,
    /// A woken task that found no tag and slept again.
    Again,
    /// A woken task that has not run yet.
    ToRun,
    /// Bits of a word.
    Word,
    /// Tags to be freed until the next wake-up.
    Countdown,
    /// The order at D.
    Strip,
}

/// `job 3`, `kworker`.
pub fn task_name(snap: &Snapshot, task: u16) -> String {
    match snap.tasks.get(usize::from(task)) {
        Some(t) if !t.name.is_empty() => t.name.clone(),
        _ if usize::from(task) < snap.jobs.len() => ["job ", &task.to_string()].concat(),
        _ => "kworker".into(),
    }
}
