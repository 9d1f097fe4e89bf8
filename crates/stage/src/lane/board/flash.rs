//! A flash device: channels as columns, each with its bus over its dies, and the protected cache.
//!
//! Models: pages striped over channels and dies; a page crosses its channel, and is read or programmed by its die.
//! Rule: what is busy has the colour of its zone (of its job without zones) and fills as time passes; a number is the
//! pages that wait.
//! Leaves out: planes, blocks and where in a die a page is.

use bioscope_core::observe::snapshot::{CommandView, DeviceView, FlashView};
use bioscope_core::time::SimTime;
use bioscope_core::units::{Op, RqId};

use super::colour_of;
use crate::lane::pen::{Area, Pen};
use crate::lane::queues::op_letter;
use crate::shape::{Font, Ink, within};
use crate::text;

/// Title of the panel and of its table.
pub const TITLE: &str = "flash";

/// A command with its time.
type Busy = Option<(CommandView, SimTime, SimTime)>;

/// Buses and dies that are busy, and how many there are.
pub fn busy(f: &FlashView) -> [(usize, usize); 2] {
    let dies = || f.channels.iter().flat_map(|c| &c.dies);
    let buses = f.channels.iter().filter(|c| c.bus.is_some()).count();
    [(buses, f.channels.len()), (dies().filter(|d| d.busy.is_some()).count(), dies().count())]
}

/// How busy it is.
pub fn words(f: &FlashView) -> String {
    let [bus, die] = busy(f).map(|(n, of)| [n.to_string(), of.to_string()].join(" of "));
    ["busy: ", &bus, " channels, ", &die, " dies"].concat()
}

/// Fill of the protected cache.
pub fn cache_words(f: &FlashView) -> String {
    match f.cache_pages {
        0 => "no cache: a write is acknowledged when programmed".into(),
        n => ["cache ", &f.cached_pages.to_string(), " of ", &n.to_string(), " pages"].concat(),
    }
}

/// What a die does with a command.
fn verb(op: Op) -> &'static str {
    match op {
        Op::Read => "reads",
        Op::ZoneReset | Op::ZoneResetAll => "erases",
        _ => "programs",
    }
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, now: SimTime) {
    let Some((device, f)) = device.and_then(|d| Some((d, d.flash.as_ref()?))) else {
        pen.panel(area, TITLE, "");
        return;
    };
    let long = words(f);
    let short = long.replace("busy: ", "").replace(" channels", " ch");
    let inner = pen.panel(area, TITLE, Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short])).below(6.0);
    cache(pen, Area { y: inner.bottom() - 20.0, h: 20.0, ..inner }, f);
    let label = 52.0;
    let a = Area { x: inner.x + label, w: inner.w - label, h: inner.h - 28.0, ..inner };
    let n = f.channels.len();
    if n == 0 {
        return;
    }
    let dies = f.channels.iter().map(|c| c.dies.len()).max().unwrap_or(0).max(1);
    let pitch = (a.w / n as f32).min(120.0);
    let gap = (pitch * 0.14).min(5.0);
    let head = 13.0;
    let line = ((a.h - head) / (dies as f32 + 1.0)).min(40.0);
    let height = (line - (line * 0.18).min(4.0)).max(1.0);
    let mid = |row: usize| a.y + head + row as f32 * line + height / 2.0 + 3.8;
    pen.text(inner.x, a.y + 9.0, "channel", Ink::Dim, Font::Small, label);
    if line >= 13.0 {
        pen.text(inner.x, mid(0), "bus", Ink::Dim, Font::Small, label);
        for die in 0..dies {
            pen.text(inner.x, mid(die + 1), &["die ", &die.to_string()].concat(), Ink::Dim, Font::Small, label);
        }
    } else if dies > 0 {
        pen.text(inner.x, mid(1).max(a.y + 24.0), "dies", Ink::Dim, Font::Small, label);
    }
    // Numbers of channels where they do not touch.
    let every = (16.0 / pitch).ceil().max(1.0) as usize;
    for (i, channel) in f.channels.iter().enumerate() {
        let x = a.x + i as f32 * pitch;
        if i % every == 0 {
            pen.centered(
                (x + (pitch - gap) / 2.0, a.y + 9.0),
                &i.to_string(),
                Ink::Dim,
                Font::Chip,
                pitch * every as f32,
            );
        }
        let bus = Area::new(x, a.y + head, pitch - gap, height);
        work(pen, bus, device, &channel.bus, channel.waiting, (now, true));
        for (die, d) in channel.dies.iter().enumerate() {
            let y = a.y + head + (die as f32 + 1.0) * line;
            work(pen, Area { y, ..bus }, device, &d.busy, d.waiting, (now, false));
        }
    }
}

/// A bus or a die: what it is busy with, how far it is, how many pages wait.
fn work(pen: &mut Pen, a: Area, device: &DeviceView, busy: &Busy, waiting: u32, (now, bus): (SimTime, bool)) {
    let r = if bus { (a.h / 2.0).min(5.0) } else { 2.5f32.min(a.h / 2.0) };
    pen.rect(a, r, Ink::Track, 1.0);
    let mut room = a.w;
    if waiting > 0 && a.h >= 10.0 {
        let n = waiting.to_string();
        let w = Font::Chip.width(&n);
        if w + 5.0 <= a.w {
            room = a.w - w - 5.0;
            pen.text_right(a.x + a.w - 2.5, a.y + a.h / 2.0 + 3.4, &n, Ink::Text, Font::Chip, w + 1.0);
        }
    }
    let Some((command, from, until)) = busy else { return };
    let part = within(now.saturating_sub(*from) as f32 / until.saturating_sub(*from).max(1) as f32, 0.0, 1.0);
    let all = Area { w: room, ..a };
    let erased = matches!(command.op, Op::ZoneReset | Op::ZoneResetAll);
    let colour = colour_of(device, command, None);
    let fill = |pen: &mut Pen, a: Area, alpha: f32| match erased {
        true => pen.hatched(a, r, Ink::Dim, alpha),
        false => pen.zone_rect(a, r, colour, alpha),
    };
    fill(pen, all, 0.35);
    if room * part > 0.5 {
        fill(pen, Area { w: room * part, ..all }, 1.0);
    }
    let letter = op_letter(command.op);
    if room * part > 17.0 && a.h >= 11.0 && letter.len() == 1 {
        pen.centered((all.x + 8.0, a.y + a.h / 2.0 + 3.4), letter, Ink::OnZone, Font::Chip, 10.0);
    }
    pen.command(a, command.rq, command.bio);
}

/// Pages acknowledged and not programmed.
fn cache(pen: &mut Pen, a: Area, f: &FlashView) {
    pen.line((a.x, a.y), (a.x + a.w, a.y), Ink::Line, 1.0, 1.0);
    let words = cache_words(f);
    let used = pen.text(a.x, a.y + 15.0, &words, Ink::Dim, Font::Small, a.w) + 10.0;
    if f.cache_pages > 0 && a.w - used > 30.0 {
        let bar = Area::new(a.x + used, a.y + 9.0, a.w - used, 5.0);
        let part = within(f.cached_pages as f32 / f.cache_pages as f32, 0.0, 1.0);
        pen.rect(bar, 2.5, Ink::Track, 1.0);
        if part > 0.0 {
            pen.rect(Area { w: (bar.w * part).max(5.0), ..bar }, 2.5, Ink::Accent, 1.0);
        }
    }
}

/// Where a command is, in words.
pub fn place(f: &FlashView, rq: RqId) -> Option<&'static str> {
    let is = |b: &Busy| b.as_ref().filter(|b| b.0.rq == rq).map(|b| b.0.op);
    if f.channels.iter().any(|c| is(&c.bus).is_some()) {
        return Some("crosses its channel");
    }
    let die = f.channels.iter().flat_map(|c| &c.dies).find_map(|d| is(&d.busy))?;
    Some(match verb(die) {
        "reads" => "is read by its die",
        "erases" => "is erased by its die",
        _ => "is programmed by its die",
    })
}

/// Rows of the alternative, a channel each.
pub fn rows(f: &FlashView, now: SimTime) -> Vec<Vec<String>> {
    let what = |busy: &Busy| match busy {
        Some((c, _, until)) => {
            let left = text::duration(until.saturating_sub(now));
            [op_letter(c.op), " of zone ", &c.zone.to_string(), ", ", &left, " left"].concat()
        }
        None => "idle".into(),
    };
    let row = |(n, c): (usize, &bioscope_core::observe::snapshot::FlashChannelView)| {
        let dies = c.dies.iter().map(|d| match &d.busy {
            Some((c, ..)) => op_letter(c.op).to_string(),
            None => "idle".into(),
        });
        let waiting: Vec<String> = c.dies.iter().map(|d| d.waiting.to_string()).collect();
        vec![
            n.to_string(),
            what(&c.bus),
            c.waiting.to_string(),
            dies.collect::<Vec<_>>().join(", "),
            waiting.join(", "),
        ]
    };
    f.channels.iter().enumerate().map(row).collect()
}
