//! The eight wait queues of the tags that are slept for, the countdown to the next wake-up, and who was woken last.
//!
//! Models: sbitmap_queue: ws[0..7], wake_index, wake_batch, completion_cnt and wakeup_cnt (kernel 3.2).
//! Rule: a column a queue, the longest asleep on top; completions that count towards the next wake-up fill its cells.
//! Leaves out: tasks that wait for something else (the jobs' states).

use bioscope_core::observe::snapshot::{DeviceView, Snapshot, TagsView};

use super::{Note, legend, task_chip};
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, Shape, within};
use crate::text;

/// The tags that tasks sleep for.
pub fn slept_for(device: &DeviceView) -> &TagsView {
    device.sched_tags.as_ref().unwrap_or(&device.tags)
}

/// Tasks asleep in all queues.
pub fn asleep(tags: &TagsView) -> usize {
    tags.ws.iter().map(Vec::len).sum::<usize>().max(tags.waiters as usize)
}

/// Completions counted towards the next wake-up.
pub fn counted(tags: &TagsView) -> u32 {
    tags.counts.0.saturating_sub(tags.counts.1).min(u64::from(tags.wake_batch)) as u32
}

/// When the next wake-up comes.
pub fn countdown_words(tags: &TagsView) -> String {
    if asleep(tags) == 0 {
        return "nobody sleeps".into();
    }
    let left = tags.wake_batch.saturating_sub(counted(tags)).max(1);
    ["next wake-up: ", &text::count(u64::from(left), "more freed tag", "more freed tags")].concat()
}

/// Of the woken: those that got a tag, found none and slept again, have not run.
pub fn woken(tags: &TagsView) -> [usize; 3] {
    let of = |got| tags.woken.iter().filter(|w| w.got == got).count();
    [of(Some(true)), of(Some(false)), of(None)]
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, snap: &Snapshot) {
    let title = super::TITLES[1];
    let Some(tags) = device.map(slept_for) else {
        pen.panel(area, title, "");
        return;
    };
    let n = asleep(tags);
    let sleep = text::count(n as u64, "task sleeps", "tasks sleep");
    let batch = [" · wake_batch ", &tags.wake_batch.to_string()].concat();
    let (long, short) = ([&sleep, batch.as_str()].concat(), [&n.to_string(), " sleep", &batch].concat());
    let shortest = batch.trim_start_matches(" · ");
    let inner = pen.panel(area, title, Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short, shortest]));
    // Countdown: words over a cell a completion.
    let words = countdown_words(tags);
    let short = words.replace("next wake-up", "wakes").replace(" freed", "");
    let y = inner.y + 18.0;
    pen.text(inner.x, y, Pen::fitting(Font::Small, inner.w, &[&words, &short]), Ink::Text, Font::Small, inner.w);
    let batch = tags.wake_batch.clamp(1, 16);
    let pitch = (inner.w / 8.0).min(28.0);
    for i in 0..batch {
        let cell = Area::new(inner.x + i as f32 * pitch.min(inner.w / batch as f32), y + 6.0, pitch - 3.0, 6.0);
        let cell = Area { w: cell.w.min(inner.w / batch as f32 - 1.0), ..cell };
        pen.rect(cell, 2.0, if i < counted(tags) { Ink::Accent } else { Ink::Track }, 1.0);
    }
    pen.hit(Area::new(inner.x, y - 12.0, inner.w, 26.0), What::Note(Note::Countdown));
    let last = 50.0;
    let columns = Area { h: inner.h - 34.0 - last, ..inner.below(34.0) };
    queues(pen, columns, tags, snap.jobs.len());
    last_woken(pen, Area { y: inner.bottom() - last + 4.0, h: last - 4.0, ..inner }, tags, snap.jobs.len());
}

/// The columns.
fn queues(pen: &mut Pen, a: Area, tags: &TagsView, jobs: usize) {
    let pitch = a.w / 8.0;
    let longest = tags.ws.iter().map(Vec::len).max().unwrap_or(0);
    let line = within((a.h - 20.0) / longest.max(1) as f32, 14.0, 19.0);
    let fit = (((a.h - 20.0) / line) as usize).max(1);
    for (n, ws) in tags.ws.iter().enumerate() {
        let x = a.x + n as f32 * pitch;
        let next = tags.wake_index as usize % 8 == n;
        let ink = if next { Ink::Accent } else { Ink::Dim };
        pen.centered((x + pitch / 2.0 - 1.0, a.y + 11.0), &n.to_string(), ink, Font::Mono, pitch);
        let h = if next { 2.0 } else { 1.0 };
        pen.rect(Area::new(x, a.y + 15.0, pitch - 2.0, h), 0.0, if next { Ink::Accent } else { Ink::Line }, 1.0);
        pen.hit(Area::new(x, a.y, pitch, 18.0), What::Ws(n as u8));
        let shown = if ws.len() > fit { fit - 1 } else { ws.len() };
        for (i, task) in ws.iter().take(shown).enumerate() {
            task_chip(pen, Area::new(x, a.y + 20.0 + i as f32 * line, pitch - 2.0, line - 2.0), *task, jobs);
        }
        if ws.len() > shown {
            let more = ["+", &(ws.len() - shown).to_string()].concat();
            let y = a.y + 20.0 + shown as f32 * line + 9.0;
            let more = Pen::fitting(Font::Chip, pitch - 2.0, &[&more, "…"]);
            pen.centered((x + pitch / 2.0 - 1.0, y), more, Ink::Dim, Font::Chip, pitch - 2.0);
        }
    }
    if tags.ws.iter().all(Vec::is_empty) {
        let words = "Tasks sleep here when no tag is free.";
        pen.wrapped((a.x, a.y + 34.0), words, Ink::Dim, Font::Small, a.w, ((a.h - 22.0) / 14.0).max(1.0) as usize);
    }
}

/// The last woken, newest right, and what became of them.
fn last_woken(pen: &mut Pen, a: Area, tags: &TagsView, jobs: usize) {
    pen.line((a.x, a.y), (a.x + a.w, a.y), Ink::Line, 1.0, 1.0);
    if tags.woken.is_empty() {
        pen.text(a.x, a.y + 16.0, "nobody was woken yet", Ink::Dim, Font::Small, a.w);
        return;
    }
    let [got, again, soon] = woken(tags);
    let n = |n: usize| n.to_string();
    let (tag, sleep) = if a.w < 185.0 { ("got ", "none ") } else { ("got a tag ", "found none ") };
    let mut keys = vec![(Note::Got, [tag, &n(got)].concat()), (Note::Again, [sleep, &n(again)].concat())];
    if soon > 0 {
        keys.push((Note::ToRun, ["to run ", &n(soon)].concat()));
    }
    let used = pen.text(a.x, a.y + 17.0, "woken", Ink::Dim, Font::Small, a.w) + 6.0;
    let pitch = ((a.w - used) / 16.0).min(12.0);
    let mut x = a.x + used;
    // A gap after each wake-up.
    let mut at = tags.woken[0].at;
    let groups = tags.woken.windows(2).filter(|w| w[0].at != w[1].at).count();
    let gap = ((a.w - used - pitch * tags.woken.len() as f32) / groups.max(1) as f32).clamp(0.0, 4.0);
    for w in &tags.woken {
        x += if w.at == at { 0.0 } else { gap };
        at = w.at;
        let cell = Area::new(x, a.y + 6.0, pitch - 1.5, 9.0);
        task_chip(pen, cell, w.task, jobs);
        let (cx, cy) = (cell.x + cell.w / 2.0, a.y + 20.0);
        match w.got {
            Some(true) => pen.out.shapes.push(Shape::Disc { x: cx, y: cy, r: 2.2, fill: Ink::Text, alpha: 1.0 }),
            Some(false) => {
                let (r, stroke, width, alpha) = (2.2, Ink::Dim, 1.1, 1.0);
                pen.out.shapes.push(Shape::Ring { x: cx, y: cy, r, stroke, width, alpha });
            }
            None => pen.rect(Area::new(cx - 2.0, cy - 0.7, 4.0, 1.4), 0.0, Ink::Dim, 1.0),
        }
        let note = w.got.map_or(Note::ToRun, |got| if got { Note::Got } else { Note::Again });
        pen.hit(Area::new(cell.x, cy - 4.0, cell.w, 8.0), What::Note(note));
        x += pitch;
    }
    legend(pen, Area { y: a.y + 27.0, h: a.h - 24.0, ..a }, &keys);
}
