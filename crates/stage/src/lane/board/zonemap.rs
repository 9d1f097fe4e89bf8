//! The map of zones: a cell a zone, filled to its write pointer, with its condition and the limits of the device.
//!
//! Models: report zones (kernel 6.1, 6.2): conditions, capacity below size, open and active zones and their limits.
//! Rule: a zone has its colour of all panels, its condition is told by line, pattern and name, never by colour alone. The
//! colours of gzbd-viewer (unwritten green, written red) are an option.
//! Leaves out: zones that were never used where there are more of them than have room.

use bioscope_core::observe::snapshot::{DeviceView, ZoneCond, ZoneView, ZonedView};
use bioscope_core::units::ZoneNo;

use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::order::{ascending, pack, unpack};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Title of the panel and of its table.
pub const TITLE: &str = "zones";

/// All conditions, in the order of the legend.
pub const CONDITIONS: [ZoneCond; 8] = [
    ZoneCond::Empty,
    ZoneCond::ImpOpen,
    ZoneCond::ExpOpen,
    ZoneCond::Closed,
    ZoneCond::Full,
    ZoneCond::ReadOnly,
    ZoneCond::Offline,
    ZoneCond::NotWp,
];

/// Its name in the kernel, without BLK_ZONE_COND_.
pub fn name(cond: ZoneCond) -> &'static str {
    match cond {
        ZoneCond::NotWp => "NOT_WP",
        ZoneCond::Empty => "EMPTY",
        ZoneCond::ImpOpen => "IMP_OPEN",
        ZoneCond::ExpOpen => "EXP_OPEN",
        ZoneCond::Closed => "CLOSED",
        ZoneCond::ReadOnly => "READONLY",
        ZoneCond::Full => "FULL",
        ZoneCond::Offline => "OFFLINE",
    }
}

/// Colours of gzbd-viewer, by [`Ink::Gzbd`].
mod gzbd {
    pub const CONVENTIONAL: u8 = 0;
    pub const UNWRITTEN: u8 = 1;
    pub const WRITTEN: u8 = 2;
    pub const NOT_WRITABLE: u8 = 3;
    pub const EXP_OPEN: u8 = 4;
    pub const IMP_OPEN: u8 = 5;
    pub const CLOSED: u8 = 6;
    pub const OFFLINE: u8 = 7;
}

/// Zones of each condition, in the order of [`CONDITIONS`].
pub fn counts(z: &ZonedView) -> [u32; 8] {
    let mut out = CONDITIONS.map(|c| z.zones.iter().filter(|v| v.cond == c).count() as u32);
    // Those never used are conventional or empty.
    let conv = z.zones.iter().filter(|v| v.zone < z.nr_conv).count() as u32;
    out[7] += z.nr_conv.saturating_sub(conv);
    out[0] += (z.nr_zones - z.nr_conv.min(z.nr_zones)).saturating_sub(z.zones.len() as u32 - conv);
    out
}

fn of(n: u32, limit: u32) -> String {
    if limit == 0 { [&n.to_string(), ", no limit"].concat() } else { [n.to_string(), limit.to_string()].join(" of ") }
}

/// Open and active zones against their limits.
pub fn limit_words(z: &ZonedView) -> String {
    let closes = match z.implicit_closes {
        0 => String::new(),
        n => [", ", &text::thousands(n), " closed for others"].concat(),
    };
    ["open ", &of(z.nr_open, z.max_open), " · active ", &of(z.nr_active, z.max_active), &closes].concat()
}

/// Short of it.
fn short_words(z: &ZonedView) -> String {
    let of = |n: u32, limit: u32| if limit == 0 { n.to_string() } else { [n.to_string(), limit.to_string()].join("/") };
    ["open ", &of(z.nr_open, z.max_open), " · active ", &of(z.nr_active, z.max_active)].concat()
}

/// The zones to show: all where `fit` cells hold them, else those used last, by number.
fn shown(z: &ZonedView, fit: usize) -> Vec<ZoneView> {
    if z.nr_zones as usize <= fit {
        return (0..z.nr_zones).map(|n| view(z, n)).collect();
    }
    let mut recent: Vec<u64> = z.zones.iter().map(|v| pack(u32::MAX - v.order, v.zone)).collect();
    ascending(&mut recent);
    let mut numbers: Vec<u64> = recent.iter().take(fit).map(|r| pack(unpack(*r).1, 0)).collect();
    ascending(&mut numbers);
    numbers.iter().map(|n| view(z, unpack(*n).0)).collect()
}

/// A zone, used or not.
fn view(z: &ZonedView, zone: ZoneNo) -> ZoneView {
    let at = z.zones.partition_point(|v| v.zone < zone);
    z.zones.get(at).filter(|v| v.zone == zone).copied().unwrap_or(ZoneView {
        zone,
        cond: if zone < z.nr_conv { ZoneCond::NotWp } else { ZoneCond::Empty },
        wp_offset: 0,
        media_offset: 0,
        phase_ns: 0,
        ns_per_sector_fp20: 0,
        order: 0,
    })
}

/// Smallest cell, and the largest.
const LEAST: (f32, f32) = (9.0, 9.0);
const MOST: (f32, f32) = (150.0, 40.0);

/// Columns and size of the cells that use an area best.
fn grid(a: Area, n: usize) -> (usize, f32, f32) {
    let mut best = (1, LEAST.0, LEAST.1);
    let mut most = 0.0;
    for columns in 1..=n.clamp(1, 64) {
        let (w, h) = (a.w / columns as f32, a.h / n.div_ceil(columns) as f32);
        let (w, h) = (w.min(MOST.0), h.min(MOST.1));
        // Wide cells say more than high ones.
        let size = w.min(h * 3.6) * h;
        if w >= LEAST.0 && h >= LEAST.1 && size > most {
            (best, most) = ((columns, w, h), size);
        }
    }
    best
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, gzbd: bool) {
    let Some(z) = device.and_then(|d| d.zoned.as_ref()) else {
        pen.panel(area, TITLE, "");
        return;
    };
    let (long, short) = (limit_words(z), short_words(z));
    let shorter = ["open ", &of(z.nr_open, z.max_open)].concat();
    let words = Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short, &shorter]);
    let inner = pen.panel(area, TITLE, words).below(6.0);
    let bottom = legend(pen, inner, z, gzbd);
    let mut a = Area { h: bottom - inner.y - 6.0, ..inner };
    let slots = slots(pen, a, z);
    a = a.below(slots);
    let fit = ((a.w / LEAST.0) as usize * (a.h / LEAST.1) as usize).max(1);
    let all = z.nr_zones as usize <= fit;
    let note = if all { 0.0 } else { 15.0 };
    let cells = Area { h: a.h - note, ..a };
    let fit = if all { fit } else { ((cells.w / 30.0) as usize * (cells.h / 12.0) as usize).max(1) };
    let views = shown(z, fit);
    // Of a part, room for some more: cells keep their place while few are added.
    let n = if all { views.len() } else { views.len().next_power_of_two().clamp(4, fit.max(4)) };
    let (columns, w, h) = grid(cells, n);
    for (n, v) in views.iter().enumerate().take(columns * ((cells.h + 0.5) / h) as usize) {
        let place = Area::new(cells.x + (n % columns) as f32 * w, cells.y + (n / columns) as f32 * h, w, h);
        let gap = if w > 14.0 { 3.0 } else { 1.5 };
        cell(pen, Area { w: w - gap, h: h - gap, ..place }, v, z, gzbd);
    }
    if !all {
        let n = text::thousands(u64::from(z.nr_zones));
        let words = match z.zones.len() {
            0 => ["none of ", &n, " zones was used yet"].concat(),
            used if used > views.len() => {
                [&views.len().to_string(), " used last, of ", &text::thousands(used as u64), " of ", &n].concat()
            }
            used => ["the ", &used.to_string(), " used of ", &n, " zones"].concat(),
        };
        pen.text(a.x, a.bottom() - 3.0, &words, Ink::Dim, Font::Small, a.w);
    }
}

/// Resources of the device, a mark each: open, then closed zones, up to the limits; returns their height.
fn slots(pen: &mut Pen, a: Area, z: &ZonedView) -> f32 {
    let most = z.max_active.max(z.max_open);
    if most == 0 || most > 64 || a.h < 40.0 {
        return 0.0;
    }
    let pitch = (a.w / most as f32).min(16.0);
    for n in 0..most {
        let mark = Area::new(a.x + n as f32 * pitch, a.y, pitch - (pitch * 0.2).min(2.0), 5.0);
        if n < z.nr_open {
            pen.rect(mark, 1.5, Ink::Accent, 1.0);
        } else if n < z.nr_active {
            pen.rect(mark, 1.5, Ink::Dim, 1.0);
        } else {
            pen.rect(mark, 1.5, Ink::Track, 1.0);
        }
    }
    if z.max_open > 0 && z.max_open < most {
        let x = a.x + z.max_open as f32 * pitch - pitch * 0.1;
        pen.line((x, a.y - 2.0), (x, a.y + 7.0), Ink::Text, 1.2, 1.0);
    }
    pen.hit(Area { h: 8.0, w: most as f32 * pitch, ..a }, What::Limits);
    12.0
}

/// A zone. Where there is room its number and condition stand over its bar.
fn cell(pen: &mut Pen, a: Area, v: &ZoneView, z: &ZonedView, gzbd: bool) {
    let bar = if a.h >= 25.0 && a.w >= 24.0 {
        let number = v.zone.to_string();
        let used = Font::Chip.width(&number) + 4.0;
        pen.text(a.x, a.y + 9.0, &number, Ink::Text, Font::Chip, a.w);
        let cond = name(v.cond);
        let room = a.w - used - 8.0;
        if Font::Chip.width(cond) <= room {
            pen.text_right(a.x + a.w - 4.0, a.y + 9.0, cond, Ink::Dim, Font::Chip, room);
        }
        a.below(12.0)
    } else {
        a
    };
    look(pen, bar, v, z, gzbd);
    pen.zone(a, v.zone);
}

/// The bar of a zone by its condition.
fn look(pen: &mut Pen, a: Area, v: &ZoneView, z: &ZonedView, gzbd: bool) {
    let r = if a.h > 8.0 { 2.5 } else { 1.0 };
    let size = z.zone_sectors.max(1) as f32;
    let px = |sectors: u64| a.w * within(sectors as f32 / size, 0.0, 1.0);
    let (capacity, wp) = (px(z.capacity.max(1)), px(v.wp_offset));
    if gzbd {
        return as_gzbd_viewer(pen, a, v, capacity, wp);
    }
    let frame = Area::new(a.x + 0.5, a.y + 0.5, a.w - 1.0, a.h - 1.0);
    match v.cond {
        ZoneCond::NotWp => pen.hatched(a, r, Ink::Dim, 0.3),
        ZoneCond::Offline => {
            pen.rect(a, r, Ink::Track, 1.0);
            pen.line((a.x + 1.0, a.y + 1.0), (a.x + a.w - 1.0, a.bottom() - 1.0), Ink::Bad, 1.2, 1.0);
            pen.line((a.x + 1.0, a.bottom() - 1.0), (a.x + a.w - 1.0, a.y + 1.0), Ink::Bad, 1.2, 1.0);
        }
        ZoneCond::ReadOnly => {
            pen.rect(a, r, Ink::Track, 1.0);
            if wp > 0.0 {
                pen.zone_rect(Area { w: wp, ..a }, r, v.zone, 0.4);
            }
            pen.hatched(a, r, Ink::Bad, 0.25);
            pen.frame(frame, r, Ink::Bad, 1.0);
        }
        ZoneCond::Full => pen.zone_rect(Area { w: capacity, ..a }, r, v.zone, 0.75),
        ZoneCond::Empty => pen.rect(a, r, Ink::Track, 1.0),
        ZoneCond::Closed => {
            pen.rect(a, r, Ink::Track, 1.0);
            pen.zone_rect(Area { w: wp.max(1.5), ..a }, r, v.zone, 0.45);
            pen.frame(frame, r, Ink::Dim, 1.0);
        }
        ZoneCond::ImpOpen | ZoneCond::ExpOpen => {
            pen.rect(a, r, Ink::Track, 1.0);
            if wp > 0.0 {
                pen.zone_rect(Area { w: wp.max(1.5), ..a }, r, v.zone, 1.0);
            }
            let (ink, width) = if v.cond == ZoneCond::ExpOpen { (Ink::Text, 2.0) } else { (Ink::Accent, 1.2) };
            pen.frame(frame, r, ink, width);
        }
    }
    let pointed = !matches!(v.cond, ZoneCond::NotWp | ZoneCond::Offline | ZoneCond::Full | ZoneCond::Empty);
    if pointed && a.w >= 14.0 {
        pen.line((a.x + wp, a.y - 1.5), (a.x + wp, a.bottom() + 1.5), Ink::Text, 1.2, 1.0);
    }
    if capacity < a.w - 0.5 && v.cond != ZoneCond::NotWp {
        // Behind its capacity nothing can be written.
        pen.hatched(Area { x: a.x + capacity, w: a.w - capacity, ..a }, 0.0, Ink::Dim, 0.35);
        pen.line((a.x + capacity, a.y), (a.x + capacity, a.bottom()), Ink::Dim, 1.0, 1.0);
    }
}

/// As that program paints it: conditions of open and closed zones as a border; it does not tell read-only ones apart.
fn as_gzbd_viewer(pen: &mut Pen, a: Area, v: &ZoneView, capacity: f32, wp: f32) {
    use gzbd::*;
    let ground = match v.cond {
        ZoneCond::NotWp => CONVENTIONAL,
        ZoneCond::Full => WRITTEN,
        ZoneCond::Offline => OFFLINE,
        _ => UNWRITTEN,
    };
    pen.rect(a, 0.0, Ink::Gzbd(ground), 1.0);
    if capacity < a.w - 0.5 {
        pen.rect(Area { x: a.x + capacity, w: a.w - capacity, ..a }, 0.0, Ink::Gzbd(NOT_WRITABLE), 1.0);
    }
    let border = match v.cond {
        ZoneCond::ImpOpen => IMP_OPEN,
        ZoneCond::ExpOpen => EXP_OPEN,
        ZoneCond::Closed | ZoneCond::ReadOnly => CLOSED,
        _ => return,
    };
    if wp > 0.0 {
        pen.rect(Area { w: wp, ..a }, 0.0, Ink::Gzbd(WRITTEN), 1.0);
    }
    let width = (a.h * 0.16).min(3.0);
    let half = width / 2.0;
    pen.frame(Area::new(a.x + half, a.y + half, a.w - width, a.h - width), 0.0, Ink::Gzbd(border), width);
}

/// Conditions with their looks and numbers, from the bottom of an area up; returns its top. All of them where there is
/// room, else those that occur.
fn legend(pen: &mut Pen, a: Area, z: &ZonedView, gzbd: bool) -> f32 {
    let counts = counts(z);
    let item = |n: usize| {
        let count = text::thousands(u64::from(counts[n]));
        (n, [name(CONDITIONS[n]), &count].join(" "))
    };
    let lines = |items: &[(usize, String)]| {
        let mut lines: Vec<Vec<(usize, String)>> = Vec::new();
        let mut used = f32::MAX;
        for (n, words) in items {
            let w = 21.0 + Font::Chip.width(words) + 9.0;
            if used + w - 9.0 > a.w {
                lines.push(Vec::new());
                used = 0.0;
            }
            used += w;
            lines.last_mut().into_iter().for_each(|l| l.push((*n, words.clone())));
        }
        lines
    };
    let all: Vec<(usize, String)> = (0..8).map(item).collect();
    let some: Vec<(usize, String)> = all.iter().filter(|i| counts[i.0] > 0).cloned().collect();
    let room = ((a.h * 0.42) / 14.0).max(1.0) as usize;
    let mut chosen = lines(&all);
    if chosen.len() > room {
        chosen = lines(&some);
        chosen.truncate(room);
    }
    let top = a.bottom() - chosen.len() as f32 * 14.0;
    for (line, items) in chosen.iter().enumerate() {
        let (mut x, y) = (a.x, top + line as f32 * 14.0);
        for (n, words) in items {
            // A zone of that condition, half written.
            let sample = ZoneView { cond: CONDITIONS[*n], wp_offset: 8, ..view(z, u32::MAX) };
            let of = ZonedView { zone_sectors: 16, capacity: 16, ..ZonedView::default() };
            look(pen, Area::new(x, y + 2.5, 16.0, 9.0), &sample, &of, gzbd);
            let ink = if counts[*n] > 0 { Ink::Text } else { Ink::Dim };
            let w = pen.text(x + 21.0, y + 10.4, words, ink, Font::Chip, a.x + a.w - x - 21.0);
            x += 21.0 + w + 9.0;
        }
    }
    pen.hit(Area { y: top, h: a.bottom() - top, ..a }, What::Legend);
    top
}

/// What the marks of the limits say.
pub fn limits_words(z: &ZonedView) -> String {
    let n = |v: u32| v.to_string();
    let closed = z.nr_active.saturating_sub(z.nr_open);
    let marks = ["A mark a zone the device may have active: ", &n(z.nr_open), " open, ", &n(closed), " closed. "];
    let closes = text::thousands(z.implicit_closes);
    [&marks.concat(), "A new open zone over the limit closes an implicitly open one, ", &closes, " so far."].concat()
}

/// What the looks of the conditions say.
pub const LEGEND_WORDS: &str = "Conditions as report zones gives them (BLK_ZONE_COND_), and how many zones have each. A cell \
                                is filled up to the write pointer; behind the capacity it is hatched.";

/// Rows of the alternative: what differs from a fresh device.
pub fn rows(z: &ZonedView) -> Vec<Vec<String>> {
    let row = |v: &ZoneView| {
        let wp = match v.cond {
            ZoneCond::NotWp | ZoneCond::Offline => "–".to_string(),
            _ => text::size(v.wp_offset),
        };
        let lock = z.locked.iter().any(|l| l.0 == v.zone);
        let lock = if lock { "locked" } else { "–" };
        vec![v.zone.to_string(), name(v.cond).to_string(), wp, text::size(z.capacity), lock.to_string()]
    };
    z.zones.iter().map(row).collect()
}

/// The conditions that occur, in a sentence's part.
pub fn count_words(z: &ZonedView) -> String {
    let all = CONDITIONS.iter().zip(counts(z)).filter(|c| c.1 > 0);
    let all: Vec<String> = all.map(|(c, n)| [name(*c), " ", &text::thousands(u64::from(n))].concat()).collect();
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth;

    #[test]
    fn every_zone_is_counted_once() {
        let z = synth::zoned(64, 4);
        assert_eq!(counts(&z).iter().sum::<u32>(), 64);
        assert_eq!(counts(&z)[7], 4);
        assert!(counts(&z).iter().all(|n| *n > 0), "{:?}", counts(&z));
        assert_eq!(counts(&ZonedView { zones: Vec::new(), ..z }), [60, 0, 0, 0, 0, 0, 0, 4]);
        assert_eq!(counts(&ZonedView::default()), [0; 8]);
    }

    #[test]
    fn limits_read_as_sysfs_means_them() {
        let mut z = ZonedView { nr_open: 3, max_open: 14, nr_active: 5, ..ZonedView::default() };
        assert_eq!(limit_words(&z), "open 3 of 14 · active 5, no limit");
        (z.max_active, z.implicit_closes) = (14, 12);
        assert_eq!(limit_words(&z), "open 3 of 14 · active 5 of 14, 12 closed for others");
    }

    #[test]
    fn of_many_zones_the_used_ones_are_shown() {
        let mut z = synth::zoned(64, 4);
        assert_eq!(shown(&z, 64).len(), 64);
        z.nr_zones = 100_000;
        let some = shown(&z, 5);
        assert_eq!(some.len(), 5);
        assert!(some.windows(2).all(|w| w[0].zone < w[1].zone));
    }
}
