//! The tags panel: driver tags by sbitmap word, the scheduler's lists, the drive's queue and cache.
//!
//! Models: debugfs tags_bitmap and sched; NCQ slots, interface and cache of the drive (disk 1).
//! Rule: lists in their own order (scheduler by sector, NCQ and cache first in, first out).
//! Leaves out: wait queues one by one; sleepers are a number.

use bioscope_core::observe::snapshot::{CommandView, DeviceView, ElevatorView, RequestView, TagsView};
use bioscope_core::time::SimTime;
use bioscope_core::units::Op;

use super::What;
use super::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Cells of a queue shown one by one.
const MAX_CELLS: usize = 96;

/// How many tags are taken.
pub fn used(tags: &TagsView) -> usize {
    tags.busy.iter().filter(|t| t.is_some()).count()
}

/// `32 of 64`, with its sleepers.
pub fn tags_words(tags: &TagsView) -> String {
    let mut words = [&used(tags).to_string(), " of ", &tags.depth.to_string()].concat();
    if tags.waiters > 0 {
        words = [&words, " · ", &tags.waiters.to_string(), " sleep"].concat();
    }
    words
}

/// `W 42+28`.
pub fn command_label(op: Op, zone: u32, sector: u64, zone_sectors: u64) -> String {
    [op_letter(op), " ", &text::at(zone, sector, zone_sectors)].concat()
}

/// blkparse's letter, words for zone management.
pub fn op_letter(op: Op) -> &'static str {
    match op {
        Op::Read => "R",
        Op::Write => "W",
        Op::ZoneOpen => "open",
        Op::ZoneClose => "close",
        Op::ZoneFinish => "finish",
        Op::ZoneReset => "reset",
        Op::ZoneResetAll => "reset all",
        Op::ZoneAppend => "append",
        Op::WriteZeroes => "WZ",
        Op::Flush => "flush",
        Op::DrvIn => "pass-through",
    }
}

/// Scheduler name, its words, and its requests: reads, then writes.
pub fn elevator(device: &DeviceView) -> (&'static str, String, Vec<RequestView>) {
    match &device.elevator {
        ElevatorView::None { queued } => {
            ("no scheduler", [&queued.len().to_string(), " in ctx lists"].concat(), queued.clone())
        }
        ElevatorView::MqDeadline(d) => {
            let of = |dir: usize| d.classes.iter().flat_map(move |c| &c.sort[dir]).copied();
            let (reads, writes) = (of(0).count().to_string(), of(1).count().to_string());
            ("mq-deadline", ["write ", &writes, " · read ", &reads].concat(), of(0).chain(of(1)).collect())
        }
        ElevatorView::Kyber(k) => {
            let queued: Vec<RequestView> = k.domains.iter().flat_map(|d| &d.queued).copied().collect();
            ("kyber", [&queued.len().to_string(), " queued"].concat(), queued)
        }
        ElevatorView::Bfq(b) => {
            let queued: Vec<RequestView> = b.queues.iter().flat_map(|q| &q.queued).copied().collect();
            ("bfq", [&b.queues.len().to_string(), " queues"].concat(), queued)
        }
    }
}

/// When the drive admits a write.
pub fn window_words(window: u32) -> String {
    let n = window.to_string();
    [&n, ": the drive admits a write while fewer than ", &n, " are cached; each command that waits shrinks the window"]
        .concat()
}

/// Draws the panel in the order a request passes: stacked, or in three columns when it is wide.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, now: SimTime) {
    pen.panel(area, "", "");
    let Some(device) = device else { return };
    let (columns, gap) = if area.w > 280.0 { (3.0, 14.0) } else { (1.0, 0.0) };
    let w = (area.w - 20.0 - (columns - 1.0) * gap) / columns;
    let mut at = Area::new(area.x + 10.0, area.y + 10.0, w, area.h - 20.0);
    // A scheduler hands out driver tags at dispatch; without one a request takes its tag first.
    let scheduled = device.sched_tags.is_some();
    for scheduler_now in [scheduled, !scheduled] {
        let y = if scheduler_now { scheduler(pen, at, device) } else { driver_tags(pen, at, &device.tags) };
        at = if columns > 1.0 { Area { x: at.x + w + gap, ..at } } else { at.below(y - at.y + 9.0) };
    }
    if device.drive.rev_ns == 0 {
        return dispatch_list(pen, at, device);
    }
    let y = drive_queue(pen, at, device, now);
    cache(pen, at.below(y - at.y + 8.0), device);
}

/// hctx->dispatch, where nothing waits inside the device.
fn dispatch_list(pen: &mut Pen, area: Area, device: &DeviceView) {
    pen.text(area.x, area.y + 10.0, "hctx->dispatch", Ink::Text, Font::MonoBold, area.w);
    let words = match device.dispatch.len() {
        0 => "empty".into(),
        n => text::count(n as u64, "request", "requests"),
    };
    pen.text(area.x, area.y + 24.0, &words, Ink::Dim, Font::Small, area.w);
    let all: Vec<CommandView> = device.dispatch.iter().map(command_of).collect();
    let lines = (((area.bottom() - area.y - 30.0) / 9.2) as usize).clamp(1, 4);
    squares(pen, Area { y: area.y + 30.0, ..area }, &all, lines);
}

/// How many driver tags are taken, and which; returns the lower edge.
fn driver_tags(pen: &mut Pen, area: Area, tags: &TagsView) -> f32 {
    let sleepers = ["full, ", &tags.waiters.to_string(), " sleep"].concat();
    let all = tags_words(tags);
    pen.text(area.x, area.y + 10.0, "driver tags", Ink::Text, Font::Title, area.w);
    let words = Pen::fitting(Font::Small, area.w, &[&all, &sleepers]);
    pen.text(area.x, area.y + 24.0, words, Ink::Dim, Font::Small, area.w);
    bitmap(pen, area.below(30.0), tags)
}

/// The bitmap, a gap after each word; returns the lower edge.
fn bitmap(pen: &mut Pen, area: Area, tags: &TagsView) -> f32 {
    let shown = (tags.depth as usize).min(256);
    let columns = match shown {
        0..=40 => 8,
        41..=128 => 16,
        _ => 32,
    };
    let word = (tags.bits_per_word.max(1) as usize).min(columns);
    let gaps = (columns / word).saturating_sub(1) as f32;
    let pitch = ((area.w - gaps * 3.0) / columns as f32).min(11.0);
    let size = (pitch - 2.0).max(pitch * 0.7);
    let mut bottom = area.y;
    for tag in 0..shown {
        let (column, row) = (tag % columns, tag / columns);
        let x = area.x + column as f32 * pitch + (column / word) as f32 * 3.0;
        let cell = Area::new(x, area.y + row as f32 * pitch, size, size);
        let zone = tags.busy.get(tag).copied().flatten();
        pen.cell(cell, zone, 1.0);
        if zone.is_some() {
            pen.hit(cell, What::Tag(tag as u32));
        }
        bottom = cell.bottom();
    }
    bottom
}

/// Scheduler name, tags and queued requests; returns the lower edge.
fn scheduler(pen: &mut Pen, area: Area, device: &DeviceView) -> f32 {
    let (name, words, queued) = elevator(device);
    pen.text(area.x, area.y + 10.0, name, Ink::Text, Font::MonoBold, area.w);
    let mut y = area.y + 24.0;
    if let Some(tags) = &device.sched_tags {
        let all = tags_words(tags);
        let (long, short) = (["sched tags ", &all].concat(), ["sched ", &all].concat());
        pen.text(area.x, y, Pen::fitting(Font::Small, area.w, &[&long, &short]), Ink::Dim, Font::Small, area.w);
        let bar = Area::new(area.x, y + 5.0, area.w, 3.0);
        pen.rect(bar, 1.5, Ink::Track, 1.0);
        let part = used(tags) as f32 / tags.depth.max(1) as f32;
        if part > 0.0 {
            pen.rect(Area { w: (area.w * part.min(1.0)).max(3.0), ..bar }, 1.5, Ink::Dim, 1.0);
        }
        y += 20.0;
    }
    pen.text(area.x, y, &words, Ink::Dim, Font::Small, area.w);
    // Where nothing waits inside the device, hctx->dispatch has a place of its own.
    let dispatch = device.dispatch.iter().filter(|_| device.drive.rev_ns > 0);
    let all: Vec<CommandView> = queued.iter().chain(dispatch).map(command_of).collect();
    squares(pen, Area { y: y + 6.0, ..area }, &all, 1)
}

fn command_of(rq: &RequestView) -> CommandView {
    CommandView { rq: rq.id, bio: rq.bio, op: rq.op, sector: rq.sector, nr_sectors: rq.nr_sectors, zone: rq.zone }
}

/// Command on the interface, then those that wait in NCQ order; returns the lower edge.
fn drive_queue(pen: &mut Pen, area: Area, device: &DeviceView, now: SimTime) -> f32 {
    let drive = &device.drive;
    pen.text(area.x, area.y + 10.0, "drive queue", Ink::Text, Font::Title, area.w);
    let waiting = ["NCQ: ", &text::count(drive.waiting.len() as u64, "waits", "wait")].concat();
    pen.text(area.x, area.y + 24.0, &waiting, Ink::Dim, Font::Small, area.w);
    let mut y = area.y + 30.0;
    if let Some((command, from, until)) = &drive.interface {
        let chip = Area { y, h: 15.0, ..area };
        let part = (now.saturating_sub(*from)) as f32 / (until.saturating_sub(*from)).max(1) as f32;
        chip_of(pen, chip, command, drive.zone_sectors);
        let bar = Area::new(area.x, y + 17.0, area.w, 2.0);
        pen.rect(bar, 1.0, Ink::Track, 1.0);
        pen.rect(Area { w: area.w * within(part, 0.0, 1.0), ..bar }, 1.0, Ink::Dim, 1.0);
        y += 21.0;
    } else if let Some(command) = drive.waiting.first() {
        chip_of(pen, Area { y, h: 15.0, ..area }, command, drive.zone_sectors);
        return squares(pen, Area { y: y + 18.0, ..area }, &drive.waiting[1..], 2).max(y + 19.0);
    } else {
        pen.frame(Area::new(area.x + 0.5, y + 0.5, area.w - 1.0, 14.0), 3.0, Ink::Line, 1.0);
        return y + 19.0;
    }
    squares(pen, Area { y, ..area }, &drive.waiting, 2).max(y)
}

fn chip_of(pen: &mut Pen, chip: Area, command: &CommandView, zone_sectors: u64) {
    let (op, gap) = if command.op == Op::Write { ("", "") } else { (op_letter(command.op), " ") };
    let label = |words| [op, gap, &text::position(words, command.zone, command.sector, zone_sectors)].concat();
    let (long, short) = (label(["zone ", " +", " MiB"]), label(["", "+", "M"]));
    pen.label_chip(chip, command.zone, Pen::fitting(Font::Chip, chip.w - 10.0, &[&long, &short]));
    pen.command(chip, command.rq, command.bio);
}

/// Small squares of commands in at most `lines` lines; returns the lower edge.
fn squares(pen: &mut Pen, area: Area, commands: &[CommandView], lines: usize) -> f32 {
    if commands.is_empty() {
        return area.y;
    }
    let shown = commands.len().min(MAX_CELLS);
    let pitch = within(area.w / shown.div_ceil(lines) as f32, 3.0, 9.2);
    let columns = ((area.w + 1.5) / pitch).max(1.0) as usize;
    let shown = shown.min(columns * lines);
    for (n, command) in commands[..shown].iter().enumerate() {
        let (x, y) = (area.x + (n % columns) as f32 * pitch, area.y + (n / columns) as f32 * 9.2);
        let cell = Area::new(x, y, pitch - (pitch * 0.2).min(1.6), 7.6);
        pen.cell(cell, Some(command.zone), 1.0);
        pen.command(cell, command.rq, command.bio);
    }
    area.y + shown.div_ceil(columns) as f32 * 9.2
}

/// Dirty commands in the cache, and how many the window admits.
fn cache(pen: &mut Pen, area: Area, device: &DeviceView) {
    let drive = &device.drive;
    if area.h < 24.0 {
        return;
    }
    let window = drive.window.to_string();
    // The number stays with its word.
    let words = ["cache ", &drive.cache.len().to_string(), " · window\u{a0}", &window].concat();
    let top = pen.wrapped((area.x, area.y + 10.0), &words, Ink::Dim, Font::Small, area.w, 2) - 9.0;
    pen.hit(Area { h: top - area.y, ..area }, What::Cache);
    let slots = drive.cache.len().max(drive.window as usize).min(MAX_CELLS);
    let lines = (((area.bottom() - top) / 9.2) as usize).min(4);
    let pitch = within(area.w / slots.div_ceil(lines.max(1)).max(1) as f32, 3.0, 9.2);
    let columns = ((area.w + 1.5) / pitch).max(1.0) as usize;
    for n in 0..slots.min(columns * lines) {
        let (x, y) = (area.x + (n % columns) as f32 * pitch, top + (n / columns) as f32 * 9.2);
        let cell = Area::new(x, y, pitch - (pitch * 0.2).min(1.6), 7.6);
        let command = drive.cache.get(n);
        pen.cell(cell, command.map(|c| c.zone), 1.0);
        if let Some(command) = command {
            pen.command(cell, command.rq, command.bio);
        }
    }
}
