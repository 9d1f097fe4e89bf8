//! `current->bio_list`: the I/O as a ruler, the bio of this step, both lists, what comes next, the plug.
//!
//! Models: the two lists of a submission and `struct blk_plug` (kernel 1.2, 2.4).
//! Rule: the state between two steps: the bio as it was before it was cut, what it pushed, and what was there before.
//! Leaves out: bios that have left the lists (the other panels).

use bioscope_core::config::SplitInsert;
use bioscope_core::observe::snapshot::{BioView, PlugView, TaskView};
use bioscope_core::observe::trace::NO_ORIGIN;

use super::Io;
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// The task that is shown: the one that submits, else one with a plug, else the first.
pub fn task<'a>(io: &Io<'a>) -> Option<&'a TaskView> {
    let tasks = &io.snap.tasks;
    let plugged = |t: &&TaskView| t.plug.as_ref().is_some_and(|p| !p.requests.is_empty() || p.stripes > 0);
    tasks.iter().find(|t| t.step > 0).or_else(|| tasks.iter().find(plugged)).or(tasks.first())
}

/// What this step did.
pub fn step_words(io: &Io) -> String {
    let Some(task) = task(io).filter(|t| t.step > 0) else {
        return match task(io) {
            Some(t) => [io.task(&t.name), " submits nothing now"].concat(),
            None => "nothing is submitted now".into(),
        };
    };
    // What a step pushes to its own device is what it cut off; not every cut has a trace record.
    let cuts = task.current.as_ref().map_or(0, |bio| task.pushed.iter().filter(|b| b.dev == bio.dev).count());
    let end = if io.order.cfg.kernel.split_insert == SplitInsert::Head { "head" } else { "tail" };
    let what = match (&task.current, cuts) {
        (_, 1) => ["remainder to the ", end].concat(),
        (_, 2..) => [&cuts.to_string(), " remainders to the ", end].concat(),
        (Some(bio), 0) => match io.member(bio.dev) {
            Some(member) if bio.origin == NO_ORIGIN => [io.name(member), " gets parity"].concat(),
            Some(member) if io.chunk > 0 => [io.name(member), " gets chunk ", &io.label(Some(bio.origin))].concat(),
            Some(member) => [io.name(member), " gets ", &text::size(u64::from(bio.nr_sectors))].concat(),
            None => "sent down whole".into(),
        },
        (None, _) => "done".into(),
    };
    ["step ", &task.step.to_string(), ": ", &what].concat()
}

/// What the next steps take: the first of a row of labels that fits.
pub fn next_words(io: &Io, task: &TaskView, max: f32) -> String {
    let mut words = String::new();
    for bio in task.pushed.iter().chain(&task.backlog) {
        let label = io.bio(bio).1;
        let label = label.split(" + ").next().unwrap_or_default();
        let more = if words.is_empty() { label.to_string() } else { [&words, ", ", label].concat() };
        if Font::Mono.width(&more) > max - 16.0 {
            return words + " …";
        }
        words = more;
    }
    if words.is_empty() { "the lists are empty".into() } else { words }
}

/// The plug in words: how full, and the request that the size rule looks at.
pub fn plug_words(io: &Io, plug: &PlugView) -> [String; 2] {
    let full = [&plug.requests.len().to_string(), " of ", &plug.limit.to_string(), " requests"].concat();
    let full = match plug.stripes {
        0 => full,
        n => [&full, ", ", &text::count(u64::from(n), "stripe", "stripes")].concat(),
    };
    let most = u64::from(io.order.cfg.kernel.plug.flush_bytes) / 1024;
    let looked = plug.requests.first().map_or_else(String::new, |rq| {
        let name = io.member(rq.dev).map_or("", |m| io.name(m));
        let kib = u64::from(rq.nr_sectors) / 2;
        ["looks at ", name, ": ", &text::thousands(kib), " of ", &text::thousands(most), " KiB"].concat()
    });
    [full, looked]
}

/// Whose I/O it is, and how long; more may have to be read for it.
fn io_words(io: &Io) -> String {
    let size = [&text::thousands(io.sectors() / 2), " KiB"].concat();
    let (from, to) = io.queued();
    let own = text::thousands((to - from) / 2);
    match io.snap.jobs.first().filter(|_| to > from) {
        None => ["the array's own I/O, ", &size].concat(),
        Some(_) if to - from < io.sectors() => [io.tool(0), "'s I/O, ", &own, " KiB, in ", &size].concat(),
        Some(_) => [io.tool(0), "'s I/O, ", &size].concat(),
    }
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, io: &Io) {
    let inner = pen.panel(area, super::TITLES[0], &step_words(io));
    let task = task(io);
    // Six parts that share the height.
    let part = within((inner.h - 6.0) / 6.0, 30.0, 44.0);
    let chip = within(part - 19.0, 12.0, 18.0);
    let mut y = inner.y + 4.0;
    let mut section = |pen: &mut Pen, words: &str| -> Area {
        pen.text(inner.x, y + 9.0, words, Ink::Dim, Font::Small, inner.w);
        let a = Area::new(inner.x, y + 14.0, inner.w, chip);
        y += part;
        a
    };
    let a = section(pen, &io_words(io));
    ruler(pen, a, io, task);
    let none = TaskView::default();
    let task = task.unwrap_or(&none);
    let a = section(pen, "this step's bio");
    chips(pen, a, io, task.current.as_slice(), true);
    let words = Pen::fitting(
        Font::Small,
        inner.w,
        &["list[0] pushed by this call: lower, then same", "list[0]: lower, then same"],
    );
    let a = section(pen, words);
    chips(pen, a, io, &task.pushed, false);
    let a = section(pen, "list[1] older backlog");
    chips(pen, a, io, &task.backlog, false);
    match &task.plug {
        Some(plug) => {
            let words = plug_words(io, plug);
            let both = ["plug: ", &words[0], ", ", &words[1]].concat();
            let short = ["plug: ", &words[if plug.requests.is_empty() { 0 } else { 1 }]].concat();
            let a = section(pen, Pen::fitting(Font::Small, inner.w, &[&both, &short]));
            requests(pen, a, io, plug);
        }
        None => {
            let a = section(pen, "plug");
            let each = io.order.cfg.kernel.plug.per_step;
            let words = ["each step has its own, flushed at its end", "each step has its own", "one a step"];
            let words = if each { Pen::fitting(Font::Small, a.w, &words) } else { "none" };
            pen.text(a.x, a.y + 10.0, words, Ink::Dim, Font::Small, a.w);
        }
    }
    let y = y.min(inner.bottom() - 14.0);
    pen.line((inner.x, y), (inner.x + inner.w, y), Ink::Line, 1.0, 1.0);
    let used = pen.text(inner.x, y + 14.0, "next", Ink::Dim, Font::Small, inner.w) + 10.0;
    let words = next_words(io, task, inner.w - used);
    pen.text(inner.x + used, y + 14.0, &words, Ink::Text, Font::Mono, inner.w - used);
}

/// The whole I/O from its beginning to its end, the bio of this step framed.
fn ruler(pen: &mut Pen, a: Area, io: &Io, task: Option<&TaskView>) {
    let all = io.sectors();
    if all == 0 {
        return pen.rect(a, 3.0, Ink::Track, 1.0);
    }
    let marks = if io.chunk > 0 { all.div_ceil(io.chunk) } else { 64 };
    let cells = (marks as usize).min((a.w / 2.4) as usize).max(1);
    let pitch = a.w / cells as f32;
    for n in 0..cells {
        let shade = ((2 * n + 1) * 255 / (2 * cells)) as u8;
        let w = if pitch > 4.0 { pitch - 1.0 } else { pitch * 0.8 };
        pen.rect(Area { x: a.x + n as f32 * pitch, w, ..a }, 0.0, Ink::Offset(shade), 1.0);
    }
    let now = task.and_then(|t| t.current).filter(|b| b.origin != NO_ORIGIN);
    let now = now.map(|b| (b.origin, b.origin + u64::from(b.nr_sectors)));
    // Between steps, what was asked for if that is not all.
    if let Some((from, to)) = now.or(Some(io.queued()).filter(|q| q.1 > q.0 && q.1 - q.0 < all)) {
        let x = |s: u64| a.w * (s.saturating_sub(io.from).min(all) as f32 / all as f32);
        let (x0, x1) = (x(from), x(to));
        pen.frame(Area::new(a.x + x0, a.y - 1.5, (x1 - x0).max(2.0), a.h + 3.0), 2.0, Ink::Text, 1.5);
    }
}

/// Bios in a row, each in the colours of its part of the I/O.
fn chips(pen: &mut Pen, a: Area, io: &Io, bios: &[BioView], framed: bool) {
    if bios.is_empty() {
        return pen.frame(Area::new(a.x + 0.5, a.y + 0.5, 40.0, a.h - 1.0), 3.0, Ink::Line, 1.0);
    }
    let mut x = a.x;
    let end = a.x + a.w;
    for (n, bio) in bios.iter().enumerate() {
        let (at, label) = io.bio(bio);
        let part = u64::from(bio.nr_sectors) as f32 / io.sectors().max(1) as f32;
        let w = (Font::Chip.width(&label) + 16.0).max(part * a.w * 0.8).min(a.w);
        let left = bios.len() - n;
        let reserve = if left > 1 { 28.0 } else { 0.0 };
        if n > 0 && x + w + reserve > end {
            pen.text(
                x + 2.0,
                a.y + a.h / 2.0 + 4.0,
                &["+", &left.to_string()].concat(),
                Ink::Dim,
                Font::Small,
                end - x,
            );
            break;
        }
        let w = w.min(end - x - reserve);
        let c = Area { x, w, ..a };
        let sectors = u64::from(bio.nr_sectors);
        io.fill(pen, c, 3.0, at, sectors, 1.0);
        let even = at.is_some_and(|at| io.shade(at + sectors) - io.shade(at) < 12);
        match at.filter(|_| even) {
            Some(at) => {
                let ink = Ink::OnOffset(io.shade(at + sectors / 2));
                pen.centered((c.x + w / 2.0, c.y + c.h / 2.0 + 3.4), &label, ink, Font::Chip, w - 4.0);
            }
            None => pen.plate(c, &label),
        }
        if framed {
            pen.frame(c, 3.0, Ink::Text, 1.5);
        }
        pen.bio(c, bio);
        x += w + 4.0;
    }
}

/// The requests of a plug; the one that the size rule looks at is framed.
fn requests(pen: &mut Pen, a: Area, io: &Io, plug: &PlugView) {
    let n = plug.requests.len();
    let pitch = (a.w / n.max(1) as f32).min(22.0);
    for (i, rq) in plug.requests.iter().enumerate() {
        let c = Area::new(a.x + i as f32 * pitch, a.y, (pitch - 2.0).max(1.0), a.h);
        let at = Some(rq.origin).filter(|o| *o != NO_ORIGIN);
        io.fill(pen, c, 2.0, at, u64::from(rq.nr_sectors), 1.0);
        if i == 0 && pitch > 5.0 {
            pen.frame(c, 2.0, Ink::Text, 1.5);
        }
        pen.hit(c, What::Rq(rq.id));
    }
    if n == 0 {
        let words = if plug.stripes > 0 { "stripes wait for the unplug" } else { "empty" };
        pen.text(a.x, a.y + 10.0, words, Ink::Dim, Font::Small, a.w);
    }
}
