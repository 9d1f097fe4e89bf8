//! null_blk's commands over time: a bar each from D to the end of its timer, a row a driver tag.
//!
//! Models: a timer a command, any number overlapping (kernel 7.2); misaligned writes given back (7.4); what orders the
//! writes of a zone (4.3, 5).
//! Rule: the present stands still and bars pass under it; what is done is faint, what is to come is fainter; a command
//! that had been given back begins with red, one that holds its zone's lock is outlined.
//! Leaves out: commands done longer ago than the device keeps.

use bioscope_core::config::ZoneOrdering;
use bioscope_core::observe::snapshot::{DeviceView, NullBlkView, TimerView};
use bioscope_core::time::{SimDuration, SimTime};
use bioscope_core::units::{Op, RqId, ZoneNo};

use super::{colour_of, zone_sectors};
use crate::lane::pen::{Area, Pen};
use crate::lane::queues;
use crate::shape::{Font, Ink, within};
use crate::text;

/// Title of the panel and of its table.
pub const TITLE: &str = "null_blk";

/// What the driver does, in words.
pub fn words(device: &DeviceView) -> String {
    let Some(n) = &device.null_blk else { return String::new() };
    let mut words = [&n.commands.len().to_string(), " in flight"].concat();
    match longest(n) {
        0 => words += ", done at once",
        ns => words += &[", each takes ", &whole(ns)].concat(),
    }
    if n.retries > 0 {
        words += &[", ", &text::count(n.retries, "retry", "retries")].concat();
    }
    if let Some(budget) = n.budget {
        words += &[", mbps: ", &text::bytes(budget), " left"].concat();
    }
    words
}

/// A duration without zeros behind the point.
fn whole(ns: SimDuration) -> String {
    text::duration(ns).replace(".00 ", " ").replace(".0 ", " ")
}

/// The longest timer of those known.
fn longest(n: &NullBlkView) -> SimDuration {
    n.commands.iter().chain(&n.recent).map(|t| t.until.saturating_sub(t.from)).max().unwrap_or(0)
}

/// What keeps the writes of a zone in order, and who waits for it.
pub fn ordering_words(device: &DeviceView) -> Option<String> {
    let zoned = device.zoned.as_ref()?;
    let dispatch = device.dispatch.len().to_string();
    Some(match zoned.ordering {
        ZoneOrdering::Zwplug => "zone write plugs: one write of a zone at the device".into(),
        ZoneOrdering::ZoneLock if zoned.locked.is_empty() => "zone locks: no zone is locked".into(),
        ZoneOrdering::ZoneLock => {
            let waiting: usize = zoned.locked.iter().map(|l| waiting(device, l.0)).sum();
            let zones = text::count(zoned.locked.len() as u64, "zone", "zones");
            ["zone locks: ", &zones, " locked, ", &text::count(waiting as u64, "write waits", "writes wait")].concat()
        }
        ZoneOrdering::Pipelined => {
            ["pipelined: misaligned writes are tried again, ", &dispatch, " given back"].concat()
        }
        ZoneOrdering::None => "nobody keeps the writes of a zone in order".into(),
    })
}

/// Writes in the scheduler that wait for a zone's lock.
pub fn waiting(device: &DeviceView, zone: ZoneNo) -> usize {
    let (_, _, queued) = queues::elevator(device);
    queued.iter().filter(|r| r.zone == zone && !r.op.is_dataless() && r.op != Op::Read).count()
}

/// A round number of 1, 2, 3 or 5 times a power of ten, not below `ns`.
fn round(ns: u64) -> u64 {
    let mut unit = 1u64;
    while unit.saturating_mul(10) <= ns {
        unit *= 10;
    }
    [1, 2, 3, 5, 10].map(|n| n * unit).into_iter().find(|n| *n >= ns).unwrap_or(ns)
}

/// How far the picture reaches back and ahead, ns: both depend on the whole run, so that they rest while it plays.
fn spans(device: &DeviceView, n: &NullBlkView, now: SimTime) -> (SimDuration, SimDuration) {
    let timer = longest(n).max(2_000);
    let done = device.stats.ios[0] + device.stats.ios[1];
    // About two dozen commands.
    let back = now.checked_div(done).unwrap_or(0).saturating_mul(24);
    (round(back.clamp(timer * 3 / 2, timer * 12)), timer + timer / 16)
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, now: SimTime, present: Ink) {
    let Some((device, n)) = device.and_then(|d| Some((d, d.null_blk.as_ref()?))) else {
        pen.panel(area, TITLE, "");
        return;
    };
    let long = words(device);
    let short = long.replace(" in flight", "").replace("each takes ", "");
    let inner = pen.panel(area, TITLE, Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short]));
    let foot = foot_height(device, inner.h);
    let plot = Area::new(inner.x + 20.0, inner.y + 6.0, inner.w - 20.0, inner.h - 22.0 - foot);
    let depth = device.tags.depth.max(1) as usize;
    let fold = depth.div_ceil((plot.h / 2.5).max(1.0) as usize);
    let rows = depth.div_ceil(fold);
    let pitch = (plot.h / rows as f32).min(16.0);
    let plot = Area { h: pitch * rows as f32, ..plot };
    pen.rect(plot, 2.0, Ink::Track, 0.35);
    let label = |pen: &mut Pen, row: usize, tag: usize| {
        let y = plot.y + (row as f32 + 0.5) * pitch + 3.4;
        pen.text_right(plot.x - 5.0, y, &tag.to_string(), Ink::Dim, Font::Chip, 15.0);
    };
    label(pen, 0, 0);
    if plot.h > 24.0 {
        label(pen, rows - 1, (rows - 1) * fold);
    }
    let (back, ahead) = spans(device, n, now);
    let axis = Axis { plot, now, back, ahead };
    axis.grid(pen);
    // Where few overlap there is room for more than a row.
    let few = n.commands.len() * 4 <= depth && longest(n) * 8 <= back;
    let h = if few { (pitch * 0.82).max(4.0) } else { (pitch * 0.82).max(1.0) };
    for (timers, done) in [(&n.recent, true), (&n.commands, false)] {
        for timer in timers {
            let y = plot.y + (timer.tag as usize / fold % rows) as f32 * pitch;
            let row = Area { y: (y + (pitch - h) / 2.0).max(plot.y).min(plot.bottom() - h), h, ..plot };
            bar(pen, &axis, row, timer, done, device);
        }
    }
    let x = axis.x(now);
    pen.line((x, plot.y - 3.0), (x, plot.bottom() + 3.0), present, 1.5, 1.0);
    if n.commands.is_empty() && n.recent.is_empty() {
        let words = "A bar a command appears here as they are issued: press play.";
        let lines = (plot.h / 14.0).max(1.0) as usize;
        pen.wrapped((plot.x + 8.0, plot.y + 16.0), words, Ink::Dim, Font::Small, plot.w - 16.0, lines.min(2));
    }
    ordering(pen, Area { y: inner.bottom() - foot + 3.0, h: foot - 3.0, ..inner }, device);
}

/// Time to place.
struct Axis {
    plot: Area,
    now: SimTime,
    back: SimDuration,
    ahead: SimDuration,
}

impl Axis {
    fn x(&self, t: SimTime) -> f32 {
        let from_now = if t >= self.now { (t - self.now) as f32 } else { -((self.now - t) as f32) };
        let at = (from_now + self.back as f32) / (self.back + self.ahead) as f32;
        self.plot.x + self.plot.w * within(at, 0.0, 1.0)
    }
    /// Lines and their times, `now` in the middle of them.
    fn grid(&self, pen: &mut Pen) {
        let p = self.plot;
        let step = round(self.back / 4);
        let y = p.bottom() + 13.0;
        let px = |ns: u64| p.w * ns as f32 / (self.back + self.ahead) as f32;
        let at_now = p.x + px(self.back);
        let now_w = Font::Small.width("now");
        pen.centered((at_now, y), "now", Ink::Text, Font::Small, 40.0);
        for (sign, reach) in [("−", self.back), ("+", self.ahead)] {
            let mut taken = now_w / 2.0;
            for n in (1..).map(|n| n * step).take_while(|n| *n <= reach) {
                let x = if sign == "+" { at_now + px(n) } else { at_now - px(n) };
                pen.line((x, p.y), (x, p.bottom()), Ink::Line, 1.0, 1.0);
                let label = [sign, &whole(n)].concat();
                let w = Font::Small.width(&label);
                let inside = x - w / 2.0 >= p.x - 18.0 && x + w / 2.0 <= p.x + p.w + 2.0;
                if px(n) - w / 2.0 > taken + 8.0 && inside {
                    pen.centered((x, y), &label, Ink::Dim, Font::Small, w + 1.0);
                    taken = px(n) + w / 2.0;
                }
            }
        }
    }
}

fn bar(pen: &mut Pen, axis: &Axis, row: Area, timer: &TimerView, done: bool, device: &DeviceView) {
    if timer.until + axis.back < axis.now {
        return;
    }
    let (x0, x1) = (axis.x(timer.from), axis.x(timer.until));
    let whole = Area { x: x0, w: (x1 - x0).max(1.5), ..row };
    let r = if row.h > 5.0 { 2.0 } else { 0.0 };
    let colour = colour_of(device, &timer.cmd, Some(timer.tag).filter(|_| !done));
    if done {
        pen.zone_rect(whole, r, colour, 0.42);
    } else {
        pen.zone_rect(whole, r, colour, 0.3);
        let gone = axis.x(axis.now.min(timer.until)) - x0;
        pen.zone_rect(Area { w: gone.max(1.0), ..whole }, r, colour, 1.0);
    }
    if timer.retries > 0 {
        pen.rect(Area { w: 2.5f32.min(whole.w), ..whole }, 0.0, Ink::Bad, 1.0);
    }
    let locks = device.zoned.as_ref().is_some_and(|z| z.locked.iter().any(|l| l.1 == timer.cmd.rq));
    if locks && !done {
        pen.frame(whole, r, Ink::Text, 1.2);
    }
    pen.command(whole, timer.cmd.rq, timer.cmd.bio);
}

/// Room for the words on ordering and for rows of locks.
fn foot_height(device: &DeviceView, h: f32) -> f32 {
    let Some(zoned) = &device.zoned else { return 0.0 };
    let locks = if zoned.ordering == ZoneOrdering::ZoneLock && h > 120.0 { 1.0 } else { 0.0 };
    18.0 + 19.0 * locks
}

/// What orders writes; for locks a chip a zone with the tag that holds it and how many wait.
fn ordering(pen: &mut Pen, a: Area, device: &DeviceView) {
    let (Some(words), Some(zoned)) = (ordering_words(device), &device.zoned) else { return };
    let short = words.split_once(": ").map_or(words.as_str(), |w| w.1).to_string();
    let words = Pen::fitting(Font::Small, a.w, &[&words, &short]);
    pen.text(a.x, a.y + 11.0, words, Ink::Dim, Font::Small, a.w);
    if a.h < 30.0 {
        return;
    }
    let (mut x, y) = (a.x, a.y + 16.0);
    for (n, (zone, rq)) in zoned.locked.iter().enumerate() {
        let name = ["zone ", &zone.to_string()].concat();
        let wait = [waiting(device, *zone).to_string().as_str(), " wait"].concat();
        let w = Font::Chip.width(&name) + 11.0;
        let wait_w = Font::Small.width(&wait);
        let more = if n + 1 < zoned.locked.len() { 26.0 } else { 0.0 };
        if x + w + wait_w + 4.0 + more > a.x + a.w {
            pen.text(x, y + 11.0, &["+", &(zoned.locked.len() - n).to_string()].concat(), Ink::Dim, Font::Small, 26.0);
            break;
        }
        let chip = Area::new(x, y, w, 15.0);
        pen.label_chip(chip, *zone, &name);
        let holder = device.null_blk.as_ref().and_then(|n| n.commands.iter().find(|t| t.cmd.rq == *rq));
        pen.command(chip, *rq, holder.map_or(0, |t| t.cmd.bio));
        pen.text(x + w + 4.0, y + 11.0, &wait, Ink::Dim, Font::Small, wait_w + 1.0);
        x += w + wait_w + 14.0;
    }
}

/// Rows of the alternative: commands in flight, then those done last.
pub fn rows(device: &DeviceView, now: SimTime) -> Vec<Vec<String>> {
    let Some(n) = &device.null_blk else { return Vec::new() };
    let sectors = zone_sectors(device);
    let row = |t: &TimerView, done: bool| {
        let place = if sectors > 0 {
            text::place(t.cmd.zone, t.cmd.sector, sectors)
        } else {
            ["sector ", &text::thousands(t.cmd.sector)].concat()
        };
        let ends = if done {
            ["done ", &text::duration(now.saturating_sub(t.until)), " ago"].concat()
        } else {
            ["in ", &text::duration(t.until.saturating_sub(now))].concat()
        };
        vec![
            t.tag.to_string(),
            [queues::op_letter(t.cmd.op), " ", &place].concat(),
            [&text::duration(now.saturating_sub(t.from)), " ago"].concat(),
            ends,
            t.retries.to_string(),
        ]
    };
    let flying = n.commands.iter().map(|t| row(t, false));
    flying.chain(n.recent.iter().rev().map(|t| row(t, true))).collect()
}

/// A command whose timer is known.
pub fn timer(n: &NullBlkView, rq: RqId) -> Option<&TimerView> {
    n.commands.iter().chain(&n.recent).find(|t| t.cmd.rq == rq)
}

/// A command in a sentence.
pub fn timer_words(device: &DeviceView, timer: &TimerView, now: SimTime) -> String {
    let sectors = zone_sectors(device);
    let place = if sectors > 0 {
        text::place(timer.cmd.zone, timer.cmd.sector, sectors)
    } else {
        ["sector ", &text::thousands(timer.cmd.sector)].concat()
    };
    let mut words = [queues::op_letter(timer.cmd.op), " ", &place, ", "].concat();
    words += &[&text::size(u64::from(timer.cmd.nr_sectors)), ", driver tag ", &timer.tag.to_string()].concat();
    words += &match timer.until.checked_sub(now) {
        Some(left) if left > 0 => [": its timer ends in ", &text::duration(left)].concat(),
        _ => [": done ", &text::duration(now.saturating_sub(timer.until)), " ago"].concat(),
    };
    if timer.retries > 0 {
        words += &[", after ", &text::count(u64::from(timer.retries), "retry", "retries")].concat();
    }
    words + "."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_round_and_follow_the_run() {
        assert_eq!([1, 7, 100, 101, 350_000, 600_000].map(round), [1, 10, 100, 200, 500_000, 1_000_000]);
        let timer = |from| TimerView { from, until: from + 100_000, ..crate::synth::timer(0, 0, 0) };
        let n = NullBlkView { commands: vec![timer(0)], ..NullBlkView::default() };
        let mut device = DeviceView::default();
        // Issued every 4 us the timers overlap; one at a time there is more to look back at.
        device.stats.ios = [0, 250];
        assert_eq!(spans(&device, &n, 1_000_000), (200_000, 106_250));
        device.stats.ios = [0, 5];
        assert_eq!(spans(&device, &n, 1_000_000), (2_000_000, 106_250));
        assert_eq!(spans(&DeviceView::default(), &n, 0).0, 200_000);
    }
}
