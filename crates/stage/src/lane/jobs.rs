//! The jobs panel: one cell per iodepth slot, the jobs' states in words, the zones they write.
//!
//! Models: fio jobs with a depth; writeback by bytes in flight.
//! Rule: cells of a job stand in order of submission; free slots are track.
//! Leaves out: what a bio does after submission (the panels to the right).

use bioscope_core::observe::snapshot::{JobState, JobView, Snapshot};
use bioscope_core::units::ZoneNo;

use super::What;
use super::pen::{Area, Pen};
use crate::order::{ascending, pack, unpack};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Slots of all jobs together up to which each has its cell.
const MAX_SLOTS: usize = 2_048;

/// State of a job as the panel says it.
pub fn state_words(job: &JobView, jobs: &[JobView]) -> String {
    let name = |i: u16| jobs.get(usize::from(i)).map_or_else(|| ["job ", &i.to_string()].concat(), |j| j.name.clone());
    match job.state {
        JobState::Starting => "not started".into(),
        JobState::Running => "submits".into(),
        JobState::WaitCompletion if full(job) => "full: waits for one to end".into(),
        // At the end of a run, with nothing to write to, or at a limit of bytes.
        JobState::WaitCompletion => "waits for a completion".into(),
        JobState::Quiescing { zone } => ["drains its I/O before zone ", &zone.to_string()].concat(),
        JobState::WaitLock { zone, owner } => {
            ["waits for zone lock ", &zone.to_string(), " held by ", &name(owner)].concat()
        }
        JobState::WaitZoneMgmt { zone } => ["waits for the reset of zone ", &zone.to_string()].concat(),
        JobState::Sleeping => "sleeps: thinktime or rate".into(),
        JobState::WaitTag => "sleeps: no tag free".into(),
        JobState::WaitQos => "sleeps: held back by rq_qos".into(),
        JobState::WaitFreeze => "waits: queue frozen".into(),
        JobState::WaitStripe => "waits: stripe cache".into(),
        JobState::Done => "done".into(),
    }
}

/// All slots of its depth are taken.
fn full(job: &JobView) -> bool {
    job.iodepth > 0 && job.in_flight.len() >= job.iodepth as usize
}

/// The same for several jobs at once.
fn states_words(job: &JobView) -> &'static str {
    match job.state {
        JobState::Starting => "not started",
        JobState::Running => "submit",
        JobState::WaitCompletion if full(job) => "full",
        JobState::WaitCompletion => "wait for I/O",
        JobState::Quiescing { .. } => "drain",
        JobState::WaitLock { .. } => "wait for lock",
        JobState::WaitZoneMgmt { .. } => "reset a zone",
        JobState::Sleeping => "sleep: think or rate",
        JobState::WaitTag => "sleep for a tag",
        JobState::WaitQos => "sleep for rq_qos",
        JobState::WaitFreeze => "wait: frozen",
        JobState::WaitStripe => "wait: stripe",
        JobState::Done => "done",
    }
}

/// Bios in flight by zone, most first.
pub fn by_zone(jobs: &[JobView]) -> Vec<(ZoneNo, u32)> {
    let mut zones: Vec<(ZoneNo, u32)> = Vec::new();
    for bio in jobs.iter().flat_map(|j| &j.in_flight) {
        match zones.iter_mut().find(|z| z.0 == bio.zone) {
            Some(z) => z.1 += 1,
            None => zones.push((bio.zone, 1)),
        }
    }
    let mut order: Vec<u64> = zones.iter().map(|z| pack(u32::MAX - z.1, z.0)).collect();
    ascending(&mut order);
    order.iter().map(|z| unpack(*z)).map(|(bios, zone)| (zone, u32::MAX - bios)).collect()
}

/// Under the panel's title: how full the jobs are.
pub fn subtitle(jobs: &[JobView]) -> String {
    match jobs {
        [] => "no job".into(),
        [one] if one.iodepth == 0 => [&text::fixed(one.bytes_in_flight as f64 / 1_048_576.0, 0), " MiB"].concat(),
        [one] if full(one) => ["QD ", &one.iodepth.to_string(), ", full"].concat(),
        [one] => [&one.in_flight.len().to_string(), " of ", &one.iodepth.to_string()].concat(),
        many => [&many.len().to_string(), " × QD ", &many[0].iodepth.to_string()].concat(),
    }
}

/// Draws the panel. `beside` puts words right of the cells (a wide panel).
pub fn draw(pen: &mut Pen, area: Area, snap: &Snapshot, tool: &str, beside: bool) {
    let inner = pen.panel(area, tool, &subtitle(&snap.jobs));
    let (cells, words) = if beside {
        let w = (inner.w * 0.56).floor();
        let words = Area::new(inner.x + w + 14.0, area.y + 8.0, inner.w - w - 14.0, area.h - 16.0);
        (Area { w, ..inner }.below(6.0), words)
    } else {
        let words_h = (inner.h * 0.5).min(118.0);
        (Area { h: inner.h - words_h - 8.0, ..inner }.below(6.0), inner.below(inner.h - words_h))
    };
    let depth: usize = snap.jobs.iter().map(|j| j.iodepth as usize).sum();
    let used = if depth > MAX_SLOTS {
        fills(pen, cells, &snap.jobs)
    } else if depth > 0 {
        slots(pen, cells, &snap.jobs, if beside { within(area.h / 14.0, 11.0, 18.0) } else { 9.4 })
    } else {
        bytes_bar(pen, cells, &snap.jobs)
    };
    // One job leaves room under its cells: the words follow at once.
    let words = if beside { words } else { Area { y: (used + 10.0).min(words.y), ..words } };
    let after = say_states(pen, words, &snap.jobs);
    legend(pen, words.x, after + 4.0, words.w, words.bottom().min(area.bottom() - 8.0), &snap.jobs);
}

/// Too many slots for cells: a bar a job, as full as the job; returns the lower edge.
fn fills(pen: &mut Pen, area: Area, jobs: &[JobView]) -> f32 {
    let (columns, _, _) = best_grid(area, jobs.len(), 8, 9.4);
    let pitch = (area.w / columns as f32, (area.h / jobs.len().div_ceil(columns) as f32).min(9.0));
    for (n, job) in jobs.iter().enumerate() {
        let (x, y) = (area.x + (n % columns) as f32 * pitch.0, area.y + (n / columns) as f32 * pitch.1);
        let bar = Area::new(x, y, pitch.0 - 3.0, (pitch.1 * 0.7).max(0.6));
        let part = job.in_flight.len() as f32 / job.iodepth.max(1) as f32;
        pen.rect(bar, 1.0, Ink::Track, 1.0);
        if let Some(bio) = job.in_flight.first() {
            pen.zone_rect(Area { w: bar.w * within(part, 0.02, 1.0), ..bar }, 1.0, bio.zone, 1.0);
        }
        pen.hit(bar, What::Job(n as u16));
    }
    area.y + jobs.len().div_ceil(columns) as f32 * pitch.1
}

/// Cells of all jobs as blocks; returns the lower edge.
fn slots(pen: &mut Pen, area: Area, jobs: &[JobView], largest: f32) -> f32 {
    let depth = jobs.iter().map(|j| j.iodepth as usize).max().unwrap_or(1).max(1);
    let (blocks, columns, pitch) = best_grid(area, jobs.len(), depth, largest);
    let rows = depth.div_ceil(columns);
    let (block_w, block_h) = ((columns as f32 + 1.0) * pitch, (rows as f32 + 1.0) * pitch);
    let size = (pitch * 0.8).max(1.0);
    let mut bottom = area.y;
    for (n, job) in jobs.iter().enumerate() {
        let (x, y) = (area.x + (n % blocks) as f32 * block_w, area.y + (n / blocks) as f32 * block_h);
        pen.hit(Area::new(x, y, columns as f32 * pitch, rows as f32 * pitch), What::Job(n as u16));
        for slot in 0..job.iodepth as usize {
            let (column, row) = (slot % columns, slot / columns);
            let cell = Area::new(x + column as f32 * pitch, y + row as f32 * pitch, size, size);
            let bio = job.in_flight.get(slot);
            pen.cell(cell, bio.map(|b| b.zone), 1.0);
            if let Some(bio) = bio {
                pen.bio(cell, bio);
            }
        }
        bottom = y + rows as f32 * pitch;
    }
    bottom
}

/// Blocks a row, cells a block row and the pitch that use the area best.
fn best_grid(area: Area, jobs: usize, depth: usize, largest: f32) -> (usize, usize, f32) {
    let mut best = (1, 8, 0.0f32);
    for blocks in 1..=jobs.clamp(1, 8) {
        for columns in [8usize, 4, 16, 32] {
            let columns = columns.min(depth);
            let (down, rows) = (jobs.div_ceil(blocks), depth.div_ceil(columns));
            let across = (blocks * (columns + 1) - 1) as f32;
            let pitch = (area.w / across).min(area.h / (down * (rows + 1) - 1) as f32).min(largest);
            if pitch > best.2 + 0.01 {
                best = (blocks, columns, pitch);
            }
        }
    }
    best
}

/// Bytes in flight in cells of 8 MiB, coloured by zone; returns the lower edge.
fn bytes_bar(pen: &mut Pen, area: Area, jobs: &[JobView]) -> f32 {
    const CELL: u64 = 8 << 20;
    let mut zones = Vec::new();
    let mut bytes = 0;
    for bio in jobs.iter().flat_map(|j| &j.in_flight) {
        bytes += u64::from(bio.nr_sectors) * 512;
        zones.resize(bytes.div_ceil(CELL) as usize, bio.zone);
    }
    let cells = zones.len().next_multiple_of(8).clamp(64, 256);
    let (_, columns, pitch) = best_grid(Area { h: area.h - 14.0, ..area }, 1, cells, 9.4);
    let size = (pitch * 0.8).max(1.0);
    for n in 0..cells {
        let (column, row) = (n % columns, n / columns);
        let cell = Area::new(area.x + column as f32 * pitch, area.y + row as f32 * pitch, size, size);
        pen.cell(cell, zones.get(n).copied(), 1.0);
    }
    let bottom = area.y + cells.div_ceil(columns) as f32 * pitch;
    pen.hit(Area { h: bottom - area.y, ..area }, What::Job(0));
    let words = Pen::fitting(Font::Small, area.w, &["a cell: 8 MiB", "8 MiB each"]);
    pen.text(area.x, bottom + 10.0, words, Ink::Dim, Font::Small, area.w);
    bottom + 14.0
}

/// What the jobs do; returns the next baseline.
fn say_states(pen: &mut Pen, area: Area, jobs: &[JobView]) -> f32 {
    let first = area.y + 10.0;
    if let [job] = jobs {
        return pen.wrapped((area.x, first), &state_words(job, jobs), Ink::Dim, Font::Small, area.w, 4);
    }
    let mut groups: Vec<(&str, u32)> = Vec::new();
    for job in jobs {
        let words = states_words(job);
        match groups.iter_mut().find(|g| g.0 == words) {
            Some(g) => g.1 += 1,
            None => groups.push((words, 1)),
        }
    }
    let mut order: Vec<u64> = groups.iter().zip(0..).map(|(g, i)| pack(u32::MAX - g.1, i)).collect();
    ascending(&mut order);
    let mut y = first;
    for (words, n) in order.iter().take(4).map(|o| groups[unpack(*o).1 as usize]) {
        let words = [&n.to_string(), " ", words].concat();
        let words = Pen::fitting(Font::Small, area.w, &[&words, &words.replace(" for ", ": ")]).to_string();
        pen.text(area.x, y, &words, Ink::Dim, Font::Small, area.w);
        y += 14.0;
    }
    y
}

/// Which colour is which zone, most bios first.
fn legend(pen: &mut Pen, x: f32, y: f32, w: f32, bottom: f32, jobs: &[JobView]) {
    let zones = by_zone(jobs);
    let room = ((bottom - y + 10.0) / 14.0).max(0.0) as usize;
    for (n, (zone, bios)) in zones.iter().take(room.min(6)).enumerate() {
        let y = y + n as f32 * 14.0;
        if n + 1 == room.min(6) && zones.len() > n + 1 {
            let more = ["+", &(zones.len() - n).to_string(), " zones"].concat();
            pen.text(x, y, &more, Ink::Dim, Font::Small, w);
            break;
        }
        let swatch = Area::new(x, y - 8.0, 9.0, 9.0);
        pen.cell(swatch, Some(*zone), 1.0);
        pen.zone(Area::new(x, y - 10.0, w, 13.0), *zone);
        let used = pen.text_right(x + w, y, &bios.to_string(), Ink::Dim, Font::Mono, 34.0);
        pen.text(x + 14.0, y, &zone.to_string(), Ink::Text, Font::Mono, w - 18.0 - used);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synth;

    #[test]
    fn a_job_below_its_depth_is_not_full() {
        let mut jobs = synth::sequential(false, bioscope_core::observe::snapshot::HeadPhase::Idle).snap.jobs;
        assert_eq!(state_words(&jobs[0], &jobs), "full: waits for one to end");
        jobs[0].in_flight.truncate(27);
        assert_eq!(
            (subtitle(&jobs), state_words(&jobs[0], &jobs)),
            ("27 of 64".into(), "waits for a completion".into())
        );
        let jobs = synth::writeback().snap.jobs;
        assert_eq!(state_words(&jobs[0], &jobs), "waits for a completion");
    }
}
