//! Scenes of devices without a head, and the panels that any device may have beside its own: null_blk's timers, the map
//! of zones, flash channels, policies of rq_qos, live settings with their freeze.
//!
//! Models: null_blk (kernel 7), zones (6), rq_qos (8.1), freeze and quiesce (8.3).
//! Rule: a bio keeps its zone's colour, on a device without zones its job's; columns stand in the order a bio passes, the
//! map of zones under the device, live settings under all of it.
//! Leaves out: the panels themselves (its modules, and those of the other scenes).

use bioscope_core::observe::snapshot::{CommandView, DeviceView, Snapshot, ZoneView};
use bioscope_core::units::{JobIdx, Sector, Tag};

use super::drive::{self, DriveInput};
use super::pen::{Area, Colours, Pen};
use super::{LaneInput, Layout, Panels, jobs, plugs, queue, queues, strip};

pub mod flash;
pub mod freeze;
pub mod qos;
pub mod tables;
pub mod timeline;
pub mod zonemap;

/// What stands in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Block {
    Jobs,
    Plugs,
    Tags,
    TagMap,
    Waiters,
    Sched,
    Timeline,
    Flash,
    Drive,
    Zonemap,
    Qos,
    Freeze,
}

impl Block {
    const ALL: [Block; 12] = [
        Block::Jobs,
        Block::Plugs,
        Block::Tags,
        Block::TagMap,
        Block::Waiters,
        Block::Sched,
        Block::Qos,
        Block::Timeline,
        Block::Flash,
        Block::Drive,
        Block::Zonemap,
        Block::Freeze,
    ];

    fn shown(self, on: Panels) -> bool {
        match self {
            Block::Jobs => on.jobs,
            Block::Plugs => on.zwplugs,
            Block::Tags => on.tags,
            Block::TagMap => on.tagmap,
            Block::Waiters => on.waiters,
            Block::Sched => on.sched,
            Block::Timeline => on.timeline,
            Block::Flash => on.flash,
            Block::Drive => on.drive,
            Block::Zonemap => on.zonemap,
            Block::Qos => on.qos,
            Block::Freeze => on.freeze,
        }
    }
    /// Least width beside others, part of what is left, least height beside and below others.
    fn needs(self) -> (f32, f32, f32, f32) {
        match self {
            Block::Jobs => (86.0, 5.0, 196.0, 130.0),
            Block::Plugs => (150.0, 18.0, 206.0, 190.0),
            Block::Tags => (108.0, 8.0, 206.0, 150.0),
            Block::TagMap => (150.0, 22.0, 214.0, 214.0),
            Block::Waiters => (150.0, 22.0, 226.0, 226.0),
            Block::Sched => (180.0, 34.0, 262.0, 270.0),
            Block::Qos => (172.0, 24.0, 250.0, 270.0),
            Block::Timeline => (190.0, 62.0, 140.0, 230.0),
            Block::Flash => (190.0, 50.0, 160.0, 240.0),
            Block::Drive => (150.0, 34.0, 206.0, 320.0),
            Block::Zonemap => (150.0, 30.0, 100.0, 180.0),
            Block::Freeze => (200.0, 30.0, 150.0, 190.0),
        }
    }
}

/// Panels above each other, beside other columns.
type Columns = Vec<Vec<Block>>;

/// Height of the strip with its distance.
const STRIP: f32 = 48.0;
/// Height of the live settings below other panels, with its distance.
const BAND: f32 = 70.0;
/// Part of a device's column that its map of zones takes.
const MAP: f32 = 0.35;
/// Part of the height that what a bio passes takes, above the device.
const UPPER: f32 = 0.46;
const GAP: f32 = 8.0;

/// Whether panels of this scene are asked for.
pub fn any(on: Panels) -> bool {
    on.timeline || on.zonemap || on.flash || on.qos || on.freeze
}

/// Columns beside each other, each of one panel or of a device over its map of zones.
fn columns(on: Panels) -> Columns {
    let mut out: Columns = Vec::new();
    for block in Block::ALL.into_iter().filter(|b| b.shown(on) && !(*b == Block::Freeze && banded(on))) {
        match (block, out.last_mut()) {
            (Block::Zonemap, Some(last)) if matches!(last[..], [Block::Timeline | Block::Flash]) => last.push(block),
            _ => out.push(vec![block]),
        }
    }
    out
}

/// The live settings stand below what else is shown.
fn banded(on: Panels) -> bool {
    on.freeze && Block::ALL.iter().any(|b| *b != Block::Freeze && b.shown(on))
}

fn strip_height(on: Panels) -> f32 {
    if on.strip { STRIP } else { GAP }
}

/// Beside each other where there is the width.
pub fn layout(width: f32, on: Panels) -> Layout {
    let all = columns(on);
    let least: f32 = all.iter().map(|c| c[0].needs().0 + GAP).sum();
    let several = all.len() > 1 || banded(on) || all.iter().any(|c| c.len() > 1);
    if several && width < (least + GAP).max(480.0) { Layout::Narrow } else { Layout::Wide }
}

/// Height below which the scene is not drawn well.
pub fn min_height(layout: Layout, on: Panels) -> f32 {
    if layout == Layout::Narrow {
        let heights = Block::ALL.iter().filter(|b| b.shown(on)).map(|b| b.needs().3 + GAP);
        return strip_height(on) + heights.sum::<f32>();
    }
    let column = |c: &Vec<Block>| c.iter().map(|b| b.needs().2 + GAP).sum::<f32>();
    let tallest = columns(on).iter().map(column).fold(0.0, f32::max);
    strip_height(on) + tallest + GAP + if banded(on) { BAND } else { 0.0 }
}

/// Where each panel stands.
fn places(on: Panels, (width, height): (f32, f32), layout: Layout) -> Vec<(Block, Area)> {
    let bottom = height - strip_height(on);
    let mut out = Vec::new();
    if layout == Layout::Narrow {
        let shown: Vec<Block> = Block::ALL.into_iter().filter(|b| b.shown(on)).collect();
        let least: f32 = shown.iter().map(|b| b.needs().3).sum();
        let stretch = (bottom - shown.len() as f32 * GAP) / least;
        let mut y = 0.0;
        for block in shown {
            let h = (block.needs().3 * stretch).floor();
            out.push((block, Area::new(0.0, y, width, h)));
            y += h + GAP;
        }
        return out;
    }
    let (pad, gap) = if width >= 700.0 { (12.0, 12.0) } else { (GAP, GAP) };
    let band = if banded(on) { BAND } else { 0.0 };
    let room = Area::new(pad, pad, width - 2.0 * pad, bottom - pad - band);
    match two_rows(on, room.h - gap) {
        Some((upper, lower)) => {
            let h = ((room.h - gap) * UPPER).floor();
            row(&mut out, &upper, Area { h, ..room }, gap);
            row(&mut out, &lower, room.below(h + gap), gap);
        }
        None => row(&mut out, &columns(on), room, gap),
    }
    if banded(on) {
        out.push((Block::Freeze, Area::new(pad, room.bottom() + gap, room.w, BAND - gap)));
    }
    out
}

/// Where there is the height: what a bio passes above the policies and the device, whose map of zones is then beside it.
fn two_rows(on: Panels, height: f32) -> Option<(Columns, Columns)> {
    let all = columns(on).into_iter().flatten();
    let lower = |b: &Block| {
        matches!(b, Block::Qos | Block::Timeline | Block::Flash | Block::Drive | Block::Zonemap | Block::Freeze)
    };
    let (lower, upper): (Vec<Block>, Vec<Block>) = all.partition(lower);
    let tall = |row: &[Block], part: f32| row.iter().all(|b| b.needs().2 <= height * part);
    // A platter alone says more in a high column.
    let worth = !upper.is_empty() && (lower.len() > 1 || matches!(lower[..], [Block::Timeline | Block::Flash]));
    let each = |row: Vec<Block>| row.into_iter().map(|b| vec![b]).collect();
    (worth && tall(&upper, UPPER) && tall(&lower, 1.0 - UPPER)).then(|| (each(upper), each(lower)))
}

/// Columns beside each other.
fn row(out: &mut Vec<(Block, Area)>, all: &[Vec<Block>], room: Area, gap: f32) {
    let gaps = gap * (all.len() as f32 - 1.0);
    let least: f32 = all.iter().map(|c| c[0].needs().0).sum();
    let parts: f32 = all.iter().map(|c| c[0].needs().1).sum();
    let spare = (room.w - gaps - least).max(0.0);
    // One alone is drawn in less.
    let squeeze = ((room.w - gaps) / least).min(1.0);
    let mut x = room.x;
    for column in all {
        let (least, part, ..) = column[0].needs();
        let area = Area { x, w: least * squeeze + spare * part / parts, ..room };
        x += area.w + gap;
        match column[..] {
            [upper, lower] => {
                let below = ((area.h - gap) * MAP).floor().max(lower.needs().2);
                out.push((upper, Area { h: area.h - gap - below, ..area }));
                out.push((lower, Area { y: area.bottom() - below, h: below, ..area }));
            }
            _ => out.push((column[0], area)),
        }
    }
}

/// Zones of a device: a disk's as its drive has them, else those of the device.
pub fn zones(device: &DeviceView) -> &[ZoneView] {
    match &device.zoned {
        Some(z) if device.drive.zones.is_empty() => &z.zones,
        _ => &device.drive.zones,
    }
}

/// Sectors of a zone; 0 where there are none.
pub fn zone_sectors(device: &DeviceView) -> Sector {
    match &device.zoned {
        Some(z) if device.drive.zone_sectors == 0 => z.zone_sectors,
        _ => device.drive.zone_sectors,
    }
}

/// What a command takes its colour from: its zone, or without zones its job, as far as a tag in use tells it.
fn colour_of(device: &DeviceView, cmd: &CommandView, tag: Option<Tag>) -> u32 {
    if device.zoned.is_some() || device.drive.zoned {
        return cmd.zone;
    }
    let job = tag.and_then(|t| device.tags.jobs.get(t as usize)).copied();
    job.filter(|j| *j != JobIdx::MAX).map_or(u32::MAX, u32::from)
}

/// Colours of jobs: panels of a queue, or a device without zones.
fn by_job(on: Panels, snap: &Snapshot) -> bool {
    let zoned = snap.devices.first().is_some_and(|d| d.drive.zoned || d.zoned.is_some());
    on.tagmap || on.waiters || on.sched || !zoned
}

/// Draws the scene.
pub fn draw(pen: &mut Pen, input: &LaneInput, size: (f32, f32), layout: Layout) {
    let (snap, on) = (input.snap, input.panels);
    let device = snap.devices.first();
    let by_job = by_job(on, snap);
    if by_job {
        queue::colour(pen, input);
    }
    for (block, area) in places(on, size, layout) {
        match block {
            Block::Jobs => jobs::draw(pen, area, snap, input.tool, layout == Layout::Narrow || area.w > 250.0),
            Block::Plugs => plugs::draw(pen, area, device, snap.now),
            Block::Tags => queues::draw(pen, area, device, snap.now),
            Block::TagMap => queue::tags::draw(pen, area, device, snap.jobs.len()),
            Block::Waiters => queue::waiters::draw(pen, area, device, snap),
            Block::Sched => queue::sched::draw(pen, area, device, snap.now),
            Block::Timeline => timeline::draw(pen, area, device, snap.now, input.side.ink()),
            Block::Flash => flash::draw(pen, area, device, snap.now),
            Block::Zonemap => zonemap::draw(pen, area, device, input.gzbd),
            Block::Qos => qos::draw(pen, area, device, snap),
            Block::Freeze => freeze::draw(pen, area, device, snap),
            Block::Drive => {
                // Bands of a disk without zones are the model's own: no colour.
                let colours = by_job.then(|| core::mem::replace(&mut pen.colours, Colours::of_jobs(0)));
                let drive = DriveInput {
                    title: input.drive,
                    trail: input.trail,
                    now: snap.now,
                    dt: input.dt_sim_ns,
                    seeks_per_sec: input.seeks_per_sec,
                };
                drive::draw(pen, area, device, &drive);
                if let Some(colours) = colours {
                    pen.colours = colours;
                }
            }
        }
    }
    if on.strip {
        let (width, height) = size;
        let stacked = layout == Layout::Narrow || width < 500.0;
        let (pad, h) = if layout == Layout::Narrow { (4.0, 46.0) } else { (12.0, 40.0) };
        let area = Area::new(pad, height - h - 2.0, width - 2.0 * pad, h);
        if by_job {
            queue::strip::draw(pen, area, input.strip, input.side, stacked);
        } else {
            strip::draw(pen, area, input.strip, device.map_or(0, zone_sectors), input.side, stacked);
        }
    }
}
