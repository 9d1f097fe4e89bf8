//! Settings written during the run: while a freeze is on, the bios that have to end first and who waits for the thaw;
//! after it, what each took.
//!
//! Models: freeze and quiesce (kernel 8.3): mq_freeze_depth, q_usage_counter; plugged zone bios hold a reference each.
//! Rule: bios that hold a reference stand by where they are, in the order of their way; a refused write has its errno.
//! Leaves out: what a setting does (the other panels).

use bioscope_core::config::{ElevatorKind, Setting};
use bioscope_core::observe::snapshot::{BioStage, BioView, ChangeView, DeviceView, FreezeView, Snapshot};
use bioscope_core::time::SimTime;

use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Title of the panel and of its table.
pub const TITLE: &str = "live settings";

/// Where bios that hold a reference may be, in the order of their way.
const STAGES: [(BioStage, &str); 4] = [
    (BioStage::ZonePlug, "in zone plugs"),
    (BioStage::Tag, "without a tag"),
    (BioStage::Elevator, "queued"),
    (BioStage::Drive, "at the device"),
];

/// A write as a shell has it: `scheduler bfq`.
pub fn setting_words(setting: &Setting) -> String {
    let number = |name: &str, n: u64| [name, &n.to_string()].concat();
    match setting {
        Setting::ZonedQd1Writes(on) => number("zoned_qd1_writes ", u64::from(*on)),
        Setting::NrRequests(n) => number("nr_requests ", u64::from(*n)),
        Setting::AsyncDepth(n) => number("async_depth ", u64::from(*n)),
        Setting::Scheduler(kind) => ["scheduler ", elevator(*kind)].concat(),
        Setting::Nomerges(n) => number("nomerges ", u64::from(*n)),
        Setting::MaxSectors(n) => number("max_sectors_kb ", u64::from(*n) / 2),
        Setting::WbtLat(None) => "wbt_lat_usec -1".into(),
        Setting::WbtLat(Some(ns)) => number("wbt_lat_usec ", ns / 1_000),
        Setting::WriteCache(true) => "write_cache write back".into(),
        Setting::WriteCache(false) => "write_cache write through".into(),
    }
}

fn elevator(kind: ElevatorKind) -> &'static str {
    match kind {
        ElevatorKind::None => "none",
        ElevatorKind::MqDeadline => "mq-deadline",
        ElevatorKind::Kyber => "kyber",
        ElevatorKind::Bfq => "bfq",
    }
}

/// Bios that hold a reference, by where they are.
fn by_stage(f: &FreezeView) -> impl Iterator<Item = (&'static str, Vec<&BioView>)> {
    let of = |stage| f.holding.iter().filter(|b| b.stage == stage).collect::<Vec<_>>();
    STAGES.into_iter().map(move |(stage, words)| (words, of(stage))).filter(|s| !s.1.is_empty())
}

/// What a freeze waits for, in words.
pub fn freeze_words(f: &FreezeView, now: SimTime) -> String {
    let since = text::duration(now.saturating_sub(f.since));
    let state = if f.quiesced { "quiesced" } else { "frozen" };
    [state, " for ", &since, ": q_usage_counter ", &text::thousands(u64::from(f.usage))].concat()
}

/// What a write came to.
pub fn result_words(c: &ChangeView, now: SimTime) -> String {
    match c.error {
        Some(errno) => errno.into(),
        None if c.done > now => "going on".into(),
        None if c.done == c.at => "at once".into(),
        None => ["took ", &text::duration(c.done - c.at)].concat(),
    }
}

/// Who had to end, and who waited.
fn cost_words(c: &ChangeView) -> String {
    let drained = text::count(u64::from(c.drained), "bio ended first", "bios ended first");
    [&drained, ", ", &c.waited.to_string(), " waited"].concat()
}

/// What is going on or was last, for the readouts.
pub fn summary(device: &DeviceView, now: SimTime) -> Option<String> {
    if let Some(f) = &device.freeze {
        return Some([&setting_words(&f.setting), ": ", &freeze_words(f, now)].concat());
    }
    let last = device.changes.iter().rev().find(|c| c.at <= now)?;
    Some([&setting_words(&last.setting), ": ", &result_words(last, now)].concat())
}

/// Draws the panel: beside each other what goes on and what was written where it is low, else below each other.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, snap: &Snapshot) {
    let Some(device) = device else {
        pen.panel(area, TITLE, "");
        return;
    };
    pen.panel(area, "", "");
    let top = if area.h < 64.0 { 5.0 } else { 8.0 };
    let inner = Area::new(area.x + 10.0, area.y + top, area.w - 20.0, area.h - 2.0 * top + 1.0);
    let low = area.h < 110.0 && area.w >= 480.0;
    let (now, list) = if low {
        let w = (inner.w * if device.freeze.is_some() { 0.58 } else { 0.4 }).floor();
        (Area { w: w - 8.0, ..inner }, Area { x: inner.x + w + 8.0, w: inner.w - w - 8.0, ..inner })
    } else {
        let h = (inner.h * 0.42).floor().max(58.0);
        (Area { h, ..inner }, inner.below(h + 6.0))
    };
    going_on(pen, now, device, snap.now, low);
    if low {
        pen.line((list.x - 8.0, inner.y), (list.x - 8.0, inner.bottom()), Ink::Line, 1.0, 1.0);
    } else {
        pen.line((inner.x, list.y), (inner.x + inner.w, list.y), Ink::Line, 1.0, 1.0);
    }
    written(pen, list, device, snap.now);
}

/// The freeze of the moment: title, words, then the bios that hold a reference, and those that wait.
fn going_on(pen: &mut Pen, a: Area, device: &DeviceView, now: SimTime, low: bool) {
    let used = pen.text(a.x, a.y + 12.0, TITLE, Ink::Text, Font::Title, a.w) + 10.0;
    let Some(f) = &device.freeze else {
        let n = device.changes.len() as u64;
        let words = if n == 0 { "none written yet".to_string() } else { [&text::thousands(n), " written"].concat() };
        pen.text(a.x + used, a.y + 12.0, &words, Ink::Dim, Font::Small, a.w - used);
        let words = "A write freezes the queue: what holds a reference ends first, what is new waits.";
        let lines = ((a.h - 16.0) / 14.0).max(0.0) as usize;
        pen.wrapped((a.x, a.y + 28.0), words, Ink::Dim, Font::Small, a.w, lines.min(2));
        return;
    };
    let setting = setting_words(&f.setting);
    let used = used + pen.text(a.x + used, a.y + 12.0, &setting, Ink::Accent, Font::MonoBold, a.w - used) + 10.0;
    let long = freeze_words(f, now);
    let short = long.replace("q_usage_counter", "usage");
    let shortest = long.split(':').next().unwrap_or(&long);
    // Beside the setting where it is low.
    let (x, y, room) = if low { (a.x + used, a.y + 12.0, a.w - used) } else { (a.x, a.y + 27.0, a.w) };
    let words = Pen::fitting(Font::Small, room, &[&long, &short, shortest]);
    pen.text(x, y, words, Ink::Text, Font::Small, room);
    pen.hit(Area { h: y - a.y + 4.0, ..a }, What::Freeze);
    let a = a.below(y - a.y + 7.0);
    let groups: Vec<_> = by_stage(f).collect();
    let waiting: Vec<&BioView> = f.waiting.iter().collect();
    if low {
        held(pen, Area { h: 14.0, ..a }, &groups);
        let n = text::count(waiting.len() as u64, "bio waits", "bios wait");
        let label = if waiting.is_empty() { "nobody waits for the thaw yet".into() } else { n + " for the thaw" };
        let ink = if waiting.is_empty() { Ink::Dim } else { Ink::Bad };
        let used = pen.text(a.x, a.y + 27.0, &label, ink, Font::Small, a.w) + 6.0;
        let w = (waiting.len() as f32 * 7.0).min(a.w - used);
        cells(pen, Area::new(a.x + used, a.y + 18.0, w, 10.0), &waiting, true);
        return;
    }
    let all =
        groups.iter().map(|g| (g.0, &g.1, false)).chain((!waiting.is_empty()).then_some(("wait", &waiting, true)));
    let rows = groups.len() + usize::from(!waiting.is_empty());
    let line = within(a.h / rows.max(1) as f32, 13.0, 18.0);
    let label = 96.0f32.min(a.w * 0.4);
    for (n, (name, bios, outside)) in all.enumerate() {
        let y = a.y + n as f32 * line;
        if y + 12.0 > a.bottom() {
            return;
        }
        let words = [&bios.len().to_string(), " ", name].concat();
        let ink = if outside { Ink::Bad } else { Ink::Dim };
        pen.text(a.x, y + 10.0, &words, ink, Font::Small, label - 2.0);
        let room = a.w - label;
        let w = (bios.len() as f32 * 7.0).min(room);
        cells(pen, Area::new(a.x + label, y + 1.0, w, 10.0), bios, outside);
    }
}

/// In one line: the cells of each place, then its number and name.
fn held(pen: &mut Pen, a: Area, groups: &[(&'static str, Vec<&BioView>)]) {
    let label = |g: &(&'static str, Vec<&BioView>)| [&g.1.len().to_string(), " ", g.0].concat();
    let gaps = 14.0;
    let labels: f32 = groups.iter().map(|g| Font::Small.width(&label(g)) + gaps).sum();
    let total: usize = groups.iter().map(|g| g.1.len()).sum();
    let pitch = within((a.w - labels) / total.max(1) as f32, 0.0, 7.0);
    let mut x = a.x;
    for g in groups {
        let words = label(g);
        let w = if pitch >= 0.6 { g.1.len() as f32 * pitch } else { 0.0 };
        if x + w + Font::Small.width(&words) + 4.0 > a.x + a.w + 0.5 {
            break;
        }
        if w > 0.0 {
            cells(pen, Area::new(x, a.y + 1.0, w, 10.0), &g.1, false);
            x += w + 4.0;
        }
        x += pen.text(x, a.y + 10.0, &words, Ink::Dim, Font::Small, a.w) + gaps - 4.0;
    }
}

/// Bios beside each other, as wide as there is room.
fn cells(pen: &mut Pen, a: Area, bios: &[&BioView], outside: bool) {
    let most = (a.w / 2.0).max(1.0) as usize;
    let pitch = a.w / bios.len().min(most).max(1) as f32;
    for (n, bio) in bios.iter().take(most).enumerate() {
        let cell = Area::new(a.x + n as f32 * pitch, a.y, (pitch * 0.8).max(1.0), a.h);
        pen.zone_rect(cell, if pitch > 4.0 { 2.0 } else { 0.0 }, bio.zone, if outside { 0.45 } else { 1.0 });
        pen.bio(cell, bio);
    }
}

/// Settings written, latest first.
fn written(pen: &mut Pen, a: Area, device: &DeviceView, now: SimTime) {
    let happened: Vec<&ChangeView> = device.changes.iter().filter(|c| c.at <= now).collect();
    if happened.is_empty() {
        pen.text(a.x, a.y + 12.0, "what each write took stands here", Ink::Dim, Font::Small, a.w);
        return;
    }
    let line = 15.0;
    let lines = ((a.h - 2.0) / line).max(1.0) as usize;
    let shown = if happened.len() > lines { lines.saturating_sub(1).max(1) } else { happened.len() };
    let mut y = a.y + 12.0;
    for c in happened.iter().rev().take(shown) {
        let at = text::seconds(c.at);
        let used = pen.text(a.x, y, &at, Ink::Dim, Font::Mono, a.w) + 8.0;
        let setting = setting_words(&c.setting);
        let result = result_words(c, now);
        let room = a.w - used - Font::Small.width(&result) - 8.0;
        let used = used + pen.text(a.x + used, y, &setting, Ink::Text, Font::Mono, room.max(30.0)) + 8.0;
        let ink = if c.error.is_some() { Ink::Bad } else { Ink::Accent };
        let used = used + pen.text(a.x + used, y, &result, ink, Font::Small, a.w - used) + 8.0;
        if c.error.is_none() && c.done <= now && c.done > c.at {
            let cost = cost_words(c);
            let short = [&c.drained.to_string(), " ended, ", &c.waited.to_string(), " waited"].concat();
            let words = Pen::fitting(Font::Small, a.w - used, &[&cost, &short]);
            if Font::Small.width(words) <= a.w - used {
                pen.text(a.x + used, y, words, Ink::Dim, Font::Small, a.w - used);
            }
        }
        y += line;
    }
    if shown < happened.len() && y <= a.bottom() + 1.0 {
        let words = ["and ", &(happened.len() - shown).to_string(), " before"].concat();
        pen.text(a.x, y, &words, Ink::Dim, Font::Small, a.w);
    }
}

/// The freeze in a tooltip.
pub fn tip(f: &FreezeView) -> String {
    let depth = f.depth.to_string();
    let holding = text::count(f.holding.len() as u64, "bio holds a reference", "bios hold references");
    let wait = text::count(f.waiting.len() as u64, "bio waits", "bios wait");
    ["mq_freeze_depth ", &depth, ": ", &holding, " and must end before the write takes effect; ", &wait, "."].concat()
}

/// Rows of the alternative: the freeze of the moment, then the changes, latest first.
pub fn rows(device: &DeviceView, now: SimTime) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    if let Some(f) = &device.freeze {
        let holding: Vec<String> = by_stage(f).map(|(words, b)| [&b.len().to_string(), " ", words].concat()).collect();
        out.push(vec![
            text::seconds(f.since),
            setting_words(&f.setting),
            freeze_words(f, now),
            holding.join(", "),
            f.waiting.len().to_string(),
        ]);
    }
    out.extend(device.changes.iter().rev().filter(|c| c.at <= now).map(|c| {
        vec![
            text::seconds(c.at),
            setting_words(&c.setting),
            result_words(c, now),
            c.drained.to_string(),
            c.waited.to_string(),
        ]
    }));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_read_as_a_shell_has_them() {
        let all = [
            (Setting::ZonedQd1Writes(true), "zoned_qd1_writes 1"),
            (Setting::Scheduler(ElevatorKind::MqDeadline), "scheduler mq-deadline"),
            (Setting::MaxSectors(2_560), "max_sectors_kb 1280"),
            (Setting::WbtLat(None), "wbt_lat_usec -1"),
            (Setting::WbtLat(Some(75_000_000)), "wbt_lat_usec 75000"),
            (Setting::WriteCache(false), "write_cache write through"),
        ];
        for (setting, words) in all {
            assert_eq!(setting_words(&setting), words);
        }
    }

    #[test]
    fn a_change_tells_what_it_came_to() {
        let c = ChangeView {
            at: 1_000,
            done: 35_001_000,
            setting: Setting::Nomerges(2),
            error: None,
            drained: 62,
            waited: 1,
        };
        assert_eq!(result_words(&c, 40_000_000), "took 35.0 ms");
        assert_eq!(result_words(&c, 2_000), "going on");
        assert_eq!(result_words(&ChangeView { done: 1_000, ..c.clone() }, 2_000), "at once");
        assert_eq!(result_words(&ChangeView { error: Some("EINVAL"), ..c }, 2_000), "EINVAL");
    }
}
