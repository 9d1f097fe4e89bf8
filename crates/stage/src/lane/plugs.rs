//! The zone write plugs panel: a row a zone, its FIFO, its request in flight, its write pointer; the QD1 worker. Before
//! there were plugs: the zones' locks, and what waits for them in the scheduler.
//!
//! Models: debugfs zone_wplugs; `zone_wplugs_list` and `zone_wplugs_worker` (kernel 5); seq_zones_wlock (4.3).
//! Rule: the request in flight stands left of the FIFO it came from; zones stand in order of number.
//! Leaves out: idle plugs, unless their zone's position is unknown.

use bioscope_core::config::ZoneOrdering;
use bioscope_core::observe::snapshot::{BioStage, BioView, DeviceView, RequestView, WorkerState, WplugView};
use bioscope_core::time::SimTime;
use bioscope_core::units::{Op, RqId, ZoneNo};

use super::pen::{Area, Pen};
use super::{What, board, queues, words};
use crate::shape::{Align, Font, Ink, Shape, within};
use crate::text;

/// Plugs with something to show.
pub fn active(device: &DeviceView) -> Vec<&WplugView> {
    let shown = |p: &&WplugView| !p.bios.is_empty() || p.in_flight.is_some() || p.listed || p.need_wp_update;
    device.zone_wplugs.iter().filter(shown).collect()
}

/// Flags as the kernel names them, space separated.
pub fn flags(plug: &WplugView) -> String {
    let names = [(plug.plugged, "PLUGGED"), (plug.need_wp_update, "NEED_WP_UPDATE"), (plug.dead, "DEAD")];
    names.iter().filter(|f| f.0).map(|f| f.1).collect::<Vec<_>>().join(" ")
}

/// With locks a zone (zone_ordering=zone_lock) what stands in the place of plugs: the request that holds each lock, and
/// the zone's writes in the scheduler; `None` with plugs.
pub fn locks(device: &DeviceView) -> Option<Vec<WplugView>> {
    let zoned = device.zoned.as_ref().filter(|z| z.ordering == ZoneOrdering::ZoneLock)?;
    let (_, _, queued) = queues::elevator(device);
    let waits = |zone: ZoneNo| queued.iter().filter(move |r| r.zone == zone && !r.op.is_dataless() && r.op != Op::Read);
    let mut zones: Vec<ZoneNo> = zoned.locked.iter().map(|l| l.0).collect();
    for rq in queued.iter().filter(|r| zoned.zones.iter().any(|z| z.zone == r.zone)) {
        if !zones.contains(&rq.zone) {
            zones.push(rq.zone);
        }
    }
    zones.sort_unstable();
    let row = |zone: ZoneNo| {
        let holder = zoned.locked.iter().find(|l| l.0 == zone).map(|l| l.1);
        let wp = zoned.zones.iter().find(|z| z.zone == zone).map_or(0, |z| z.wp_offset);
        WplugView {
            zone,
            plugged: holder.is_some(),
            need_wp_update: false,
            dead: false,
            refs: 0,
            wp_offset: wp,
            bios: waits(zone).map(bio_of).collect(),
            in_flight: holder.and_then(|rq| holder_of(device, rq)),
            listed: false,
        }
    };
    Some(zones.into_iter().map(row).collect())
}

/// Whether a zone of [`locks`] is locked.
pub fn lock_words(zone: &WplugView) -> &'static str {
    if zone.plugged { "locked" } else { "free" }
}

/// The request that holds a lock, where it is.
fn holder_of(device: &DeviceView, rq: RqId) -> Option<RequestView> {
    let queued = device.dispatch.iter().find(|r| r.id == rq).copied();
    queued.or_else(|| {
        let c = words::find_command(device, rq)?;
        Some(RequestView {
            id: rq,
            bio: c.bio,
            nr_bios: 1,
            job: 0,
            op: c.op,
            sector: c.sector,
            nr_sectors: c.nr_sectors,
            zone: c.zone,
            dev: 0,
            origin: c.sector,
            tag: None,
            internal_tag: None,
            d_time: None,
            flags: 0,
        })
    })
}

/// First bio of a request that waits in the scheduler.
fn bio_of(rq: &RequestView) -> BioView {
    BioView {
        id: rq.bio,
        parent: rq.bio,
        job: rq.job,
        op: rq.op,
        sector: rq.sector,
        nr_sectors: rq.nr_sectors,
        zone: rq.zone,
        dev: rq.dev,
        origin: rq.origin,
        q_time: 0,
        stage: BioStage::Elevator,
    }
}

/// The worker's state in words.
pub fn worker_words(device: &DeviceView) -> String {
    match device.worker.state {
        WorkerState::Asleep => "asleep: its list is empty".into(),
        WorkerState::Waking => "woken, about to run".into(),
        WorkerState::Serving { zone } => ["takes the next bio of zone ", &zone.to_string()].concat(),
        WorkerState::Waiting { zone, .. } => {
            let plug = device.zone_wplugs.iter().find(|p| p.zone == zone).and_then(|p| p.in_flight);
            let place = plug.map_or_else(
                || ["zone ", &zone.to_string()].concat(),
                |rq| text::at(zone, rq.sector, board::zone_sectors(device)),
            );
            ["waits for ", &place, " to complete"].concat()
        }
    }
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, now: SimTime) {
    let qd1 = device.is_some_and(|d| d.worker.enabled);
    let ordering = device.and_then(|d| d.zoned.as_ref()).map(|z| z.ordering);
    if let Some(words) = match ordering {
        Some(ZoneOrdering::Pipelined) => {
            Some("Nothing waits for its turn: the driver asks for misaligned writes again.")
        }
        Some(ZoneOrdering::None) => Some("Nothing waits for its turn: a misaligned write fails."),
        _ => None,
    } {
        let inner = pen.panel(area, "zone write order", "nobody keeps it").below(6.0);
        pen.wrapped((inner.x, inner.y + 12.0), words, Ink::Dim, Font::Small, inner.w, 4);
        return;
    }
    let locks = device.and_then(locks);
    let (title, subtitle) = match (&locks, qd1) {
        (Some(_), _) => ("zone locks", "one write of a zone at a time"),
        (_, true) => ("zone write plugs", "only the worker issues"),
        _ => ("zone write plugs", "one in flight per zone"),
    };
    let mut inner = pen.panel(area, title, subtitle).below(6.0);
    let Some(device) = device else { return };
    if qd1 {
        let block = Area { y: inner.bottom() - 66.0, h: 66.0, ..inner };
        worker(pen, block, device);
        inner.h -= 72.0;
    }
    let plugs = locks.as_ref().map_or_else(|| active(device), |l| l.iter().collect());
    if plugs.is_empty() {
        let words = match &locks {
            Some(_) => "Writes wait in the scheduler while their zone is locked.",
            None => "Writes queue here once their zone has one in flight.",
        };
        pen.wrapped((inner.x, inner.y + 12.0), words, Ink::Dim, Font::Small, inner.w, 3);
        return;
    }
    let n = plugs.len() as f32;
    let longest = plugs.iter().map(|p| p.bios.len()).max().unwrap_or(0);
    let show = Show { device, now, longest, locks: locks.is_some() };
    if n * 44.0 <= inner.h {
        let row_h = (inner.h / n).min(86.0);
        for (i, plug) in plugs.iter().enumerate() {
            let row = Area { y: inner.y + i as f32 * row_h, h: row_h, ..inner };
            tall_row(pen, row, plug, &show);
        }
    } else {
        let row_h = within(inner.h / n, 15.0, 30.0);
        let lines = (inner.h / row_h) as usize;
        let shown = if plugs.len() > lines { lines.saturating_sub(1) } else { plugs.len() };
        for (i, plug) in plugs.iter().take(shown).enumerate() {
            let row = Area { y: inner.y + i as f32 * row_h, h: row_h, ..inner };
            short_row(pen, row, plug, &show);
        }
        if let Some(rest) = plugs.get(shown..).filter(|r| !r.is_empty()) {
            let bios: usize = rest.iter().map(|p| p.bios.len()).sum();
            let more =
                ["+", &rest.len().to_string(), " more zones hold ", &text::count(bios as u64, "bio", "bios")].concat();
            pen.text(inner.x, inner.y + shown as f32 * row_h + 11.0, &more, Ink::Dim, Font::Small, inner.w);
        }
    }
}

/// What the rows share.
struct Show<'a> {
    device: &'a DeviceView,
    now: SimTime,
    /// Bios in the fullest plug.
    longest: usize,
    /// They are zone locks.
    locks: bool,
}

/// Title, request in flight and FIFO, write pointer.
fn tall_row(pen: &mut Pen, row: Area, plug: &WplugView, show: &Show) {
    let title = ["zone ", &plug.zone.to_string()].concat();
    let used = pen.text(row.x, row.y + 10.0, &title, Ink::Text, Font::MonoBold, row.w);
    pen.zone(Area { h: 14.0, ..row }, plug.zone);
    let flags = if show.locks { lock_words(plug).to_string() } else { flags(plug) };
    let ink = if plug.need_wp_update || plug.dead { Ink::Bad } else { Ink::Dim };
    let pending = text::count(plug.bios.len() as u64, "bio", "bios");
    let flags = if flags.is_empty() { "idle" } else { &flags };
    let facts = [&pending, " · ", flags].concat();
    let refs = if show.locks { facts.clone() } else { [&facts, " · ref ", &plug.refs.to_string()].concat() };
    let short = [&plug.bios.len().to_string(), " · ", flags].concat();
    let room = row.w - used - 8.0;
    let last = match (plug.need_wp_update, plug.dead) {
        (true, _) => "NEED_WP_UPDATE",
        (_, true) => "DEAD",
        _ => &pending,
    };
    let facts = Pen::fitting(Font::Small, room, &[&refs, &facts, &short, last]);
    pen.text_right(row.x + row.w, row.y + 10.0, facts, ink, Font::Small, room);
    let chip = Area::new(row.x, row.y + 17.0, 68.0, 16.0);
    in_flight(pen, chip, plug, show.device);
    let fifo = Area::new(row.x + 74.0, row.y + 17.0, row.w - 74.0, row.h - 34.0);
    let bottom = fifo_cells(pen, fifo, &plug.bios, show).max(chip.bottom());
    write_pointer(pen, Area::new(row.x, bottom + 6.0, row.w, 4.0), plug, show.device);
}

/// Everything in one line.
fn short_row(pen: &mut Pen, row: Area, plug: &WplugView, show: &Show) {
    let ink = if plug.need_wp_update || plug.dead { Ink::Bad } else { Ink::Text };
    let used = pen.text(row.x, row.y + 10.5, &plug.zone.to_string(), ink, Font::Mono, 44.0).max(26.0);
    pen.zone(Area { w: used, h: 14.0, ..row }, plug.zone);
    let chip = Area::new(row.x + used + 6.0, row.y + 2.5, 10.0, 10.0);
    match &plug.in_flight {
        Some(rq) => {
            pen.cell(chip, Some(plug.zone), 1.0);
            pen.rq(chip, rq);
        }
        None => pen.frame(chip, 2.0, Ink::Line, 1.0),
    }
    let pointer_w = 34.0;
    let count = plug.bios.len().to_string();
    let count_w = pen.text_right(row.x + row.w - pointer_w - 8.0, row.y + 10.5, &count, Ink::Dim, Font::Mono, 30.0);
    let x = chip.x + 15.0;
    let right = row.x + row.w - pointer_w - 14.0 - count_w;
    fifo_cells(pen, Area::new(x, row.y + 3.5, (right - x).max(4.0), row.h - 6.5), &plug.bios, show);
    let pointer = Area::new(row.x + row.w - pointer_w, row.y + 6.0, pointer_w, 3.0);
    write_pointer(pen, pointer, plug, show.device);
}

/// The request in flight, or an empty slot.
fn in_flight(pen: &mut Pen, chip: Area, plug: &WplugView, device: &DeviceView) {
    match &plug.in_flight {
        Some(rq) => {
            pen.label_chip(chip, plug.zone, &text::at(rq.zone, rq.sector, board::zone_sectors(device)));
            pen.rq(chip, rq);
        }
        None => {
            pen.frame(Area::new(chip.x + 0.5, chip.y + 0.5, chip.w - 1.0, chip.h - 1.0), 3.0, Ink::Line, 1.0);
        }
    }
}

/// The FIFO, head first; older is stronger. Cells shrink until all fit, else a bar as long as its part of the longest; returns the lower edge.
fn fifo_cells(pen: &mut Pen, area: Area, bios: &[BioView], show: &Show) -> f32 {
    let now = show.now;
    let oldest = bios.iter().map(|b| now.saturating_sub(b.q_time)).max().unwrap_or(0).max(1) as f32;
    for (pitch, line) in [(11.6f32, 11.0f32), (8.6, 9.0), (5.6, 8.0), (3.6, 8.0), (2.6, 8.0), (2.6, 5.0)] {
        let columns = (area.w / pitch).max(1.0) as usize;
        let lines = ((area.h + 2.0) / line).max(1.0) as usize;
        if columns * lines < bios.len() {
            continue;
        }
        for (n, bio) in bios.iter().enumerate() {
            let (x, y) = (area.x + (n % columns) as f32 * pitch, area.y + (n / columns) as f32 * line);
            let cell = Area::new(x, y, pitch - (pitch * 0.18).min(1.8), line - 2.0);
            let age = now.saturating_sub(bio.q_time) as f32 / oldest;
            pen.cell(cell, Some(bio.zone), 0.6 + 0.4 * age);
            pen.bio(cell, bio);
        }
        return area.y + bios.len().div_ceil(columns) as f32 * line - 2.0;
    }
    let bar = Area { w: area.w * bios.len() as f32 / show.longest as f32, h: area.h.min(9.0), ..area };
    pen.zone_rect(bar, 2.0, bios[0].zone, 0.7);
    bar.bottom()
}

/// Recorded part of the zone as the host sees it, and the pointer.
fn write_pointer(pen: &mut Pen, bar: Area, plug: &WplugView, device: &DeviceView) {
    let size = board::zone_sectors(device).max(1) as f32;
    let part = within(plug.wp_offset as f32 / size, 0.0, 1.0);
    pen.rect(bar, bar.h / 2.0, Ink::Track, 1.0);
    if part > 0.0 {
        pen.zone_rect(Area { w: (bar.w * part).max(bar.h), ..bar }, bar.h / 2.0, plug.zone, 1.0);
    }
    let x = bar.x + bar.w * part;
    pen.line((x, bar.y - 3.0), (x, bar.bottom() + 3.0), Ink::Text, 1.2, 1.0);
}

/// `zone_wplugs_list` and the worker.
fn worker(pen: &mut Pen, area: Area, device: &DeviceView) {
    pen.line((area.x, area.y), (area.x + area.w, area.y), Ink::Line, 1.0, 1.0);
    let used = pen.text(area.x, area.y + 16.0, "zone_wplugs_list", Ink::Dim, Font::Mono, area.w);
    let (mut x, y) = (area.x, area.y + 22.0);
    let end = area.x + area.w;
    let listed = device.zone_wplugs_list.len();
    let words = if listed == 0 { "empty".into() } else { text::count(listed as u64, "zone", "zones") };
    let room = area.w - used - 8.0;
    let words = Pen::fitting(Font::Small, room, &[&words, &listed.to_string()]).to_string();
    pen.text_right(end, area.y + 16.0, &words, Ink::Dim, Font::Small, room);
    for (n, zone) in device.zone_wplugs_list.iter().enumerate() {
        let label = zone.to_string();
        let w = Font::Chip.width(&label) + 10.5;
        let rest = listed - n;
        let reserve = if rest > 1 { 30.0 } else { 0.0 };
        if x + w + reserve > end {
            pen.text(x, y + 10.5, &["+", &rest.to_string()].concat(), Ink::Dim, Font::Small, end - x);
            break;
        }
        let chip = Area::new(x, y, w, 14.0);
        pen.label_chip(chip, *zone, &label);
        pen.zone(chip, *zone);
        x += w + 3.0;
        if rest > 1 {
            pen.out.shapes.push(Shape::Text {
                x: x + 4.0,
                y: y + 10.5,
                text: "←".into(),
                ink: Ink::Dim,
                font: Font::Chip,
                align: Align::Center,
                max: 8.0,
            });
            x += 11.0;
        }
    }
    pen.hit(area.below(38.0), What::Worker);
    let words = ["worker: ", &worker_words(device)].concat();
    pen.wrapped((area.x, area.y + 49.0), &words, Ink::Text, Font::Small, area.w, 2);
}
