//! The tag maps: sched tags and driver tags as words of bits.
//!
//! Models: sbitmap: words, the cleared mask, hints, shallow depth (kernel 3.2, 3.4).
//! Rule: a bit has the colour of the job that holds it; a word is a row where it is as long as one; what a shallow
//! allocation may use is underlined.
//! Leaves out: single bits of maps for which there is no room (bars by word).

use bioscope_core::observe::snapshot::{DeviceView, TagsView};
use bioscope_core::units::JobIdx;

use super::{Note, job_rect, legend};
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::order::{ascending, pack, unpack};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Bits that are drawn one by one.
const MAX_BITS: usize = 512;
/// Counts at the right of a map.
const COUNTS: f32 = 24.0;

/// Tags taken.
pub fn taken(tags: &TagsView) -> usize {
    tags.busy.iter().filter(|t| t.is_some()).count()
}

/// Bits freed and not yet folded back.
pub fn cleared(tags: &TagsView) -> usize {
    tags.cleared.iter().filter(|c| **c).count()
}

/// Who holds a tag: `None` free, `JobIdx::MAX` nobody of the jobs.
fn holder(tags: &TagsView, tag: usize) -> Option<JobIdx> {
    tags.busy.get(tag).copied().flatten().map(|_| tags.jobs.get(tag).copied().unwrap_or(JobIdx::MAX))
}

/// `61 of 64 taken`.
pub fn words(tags: &TagsView) -> String {
    [&taken(tags).to_string(), " of ", &tags.depth.to_string(), " taken"].concat()
}

/// Busy bits of each word.
pub fn by_word(tags: &TagsView) -> Vec<u32> {
    let word = tags.bits_per_word.max(1) as usize;
    tags.busy.chunks(word).map(|w| w.iter().filter(|t| t.is_some()).count() as u32).collect()
}

/// Jobs that hold tags, with how many, most first.
pub fn by_job(tags: &TagsView) -> Vec<(JobIdx, u32)> {
    let mut jobs: Vec<(JobIdx, u32)> = Vec::new();
    for job in (0..tags.busy.len()).filter_map(|t| holder(tags, t)) {
        match jobs.iter_mut().find(|j| j.0 == job) {
            Some(j) => j.1 += 1,
            None => jobs.push((job, 1)),
        }
    }
    let mut order: Vec<u64> = jobs.iter().map(|j| pack(u32::MAX - j.1, u32::from(j.0))).collect();
    ascending(&mut order);
    order.iter().map(|o| unpack(*o)).map(|(n, job)| (job as JobIdx, u32::MAX - n)).collect()
}

/// What asynchronous requests and writes may use, in words.
pub fn shallow_words(tags: &TagsView) -> Option<String> {
    if tags.shallow == u32::MAX || tags.shallow_words.is_empty() {
        return None;
    }
    let sum: u32 = tags.shallow_words.iter().sum();
    Some(["all but reads: ", &sum.to_string(), " of ", &tags.depth.to_string()].concat())
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, jobs: usize) {
    let Some(device) = device else {
        pen.panel(area, super::TITLES[0], "");
        return;
    };
    let sched = device.sched_tags.as_ref();
    let first = sched.unwrap_or(&device.tags);
    let bits = first.bits_per_word.to_string();
    let policy = if device.tags.round_robin { ", driver tags round robin" } else { "" };
    let unit = if first.bits_per_word == 1 { " bit" } else { " bits" };
    let short = ["words of ", &bits, unit].concat();
    let long = [&short, policy].concat();
    let inner = pen.panel(area, super::TITLES[0], Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short]));
    pen.hit(Area::new(inner.x, area.y + 24.0, inner.w, 14.0), What::Note(Note::Word));
    let mut a = inner.below(4.0);
    // What the marks mean and who holds how many: the lowest lines.
    let mut keys = Vec::new();
    keys.extend(shallow_words(first).map(|w| (Note::Shallow, w)));
    let freed = cleared(first) + if sched.is_some() { cleared(&device.tags) } else { 0 };
    keys.push((Note::Cleared, ["cleared ", &freed.to_string()].concat()));
    if !first.hints.is_empty() {
        keys.push((Note::Hint, "hint".into()));
    }
    // Of many tags the bits need the room more than the columns of their holders.
    let deep = first.depth + if sched.is_some() { device.tags.depth } else { 0 } > 256;
    let keys_h = if deep && a.h < 230.0 { 30.0 } else { 44.0 + within((a.h - 150.0) * 0.4, 0.0, 60.0) };
    let maps: Vec<(&str, &TagsView)> = match sched {
        Some(sched) => vec![("sched_tags", sched), ("tags", &device.tags)],
        None => vec![("tags", &device.tags)],
    };
    let mut left = a.h - keys_h;
    let mut most = 15.0;
    for (n, (name, tags)) in maps.iter().enumerate() {
        // The deeper map gets its part, the other what is left.
        let rest: u32 = maps[n..].iter().map(|m| m.1.depth.max(16)).sum();
        let part = within(tags.depth.max(16) as f32 / rest as f32, 0.35, 1.0);
        let block = Area { h: (left * part).floor(), ..a };
        let (used, pitch) = map(pen, block, name, tags, n == 0 && sched.is_some(), most);
        // The other map's bits are no larger.
        most = pitch;
        let used = used + 6.0;
        a = a.below(used);
        left -= used;
    }
    let y = legend(pen, Area { h: a.h.min(28.0), ..a }, &keys);
    held(pen, a.below(y - a.y + 4.0), first, jobs);
}

/// Tags of each job as a column, jobs in their order.
fn held(pen: &mut Pen, a: Area, tags: &TagsView, jobs: usize) {
    let held = by_job(tags);
    let most = held.first().map_or(0, |j| j.1);
    let pitch = (a.w / jobs.max(1) as f32).min(18.0);
    if jobs < 2 || pitch < 2.0 || a.h < 26.0 {
        return;
    }
    let n = text::count(held.len() as u64, "job holds", "jobs hold");
    let up_to = if held.len() > 1 { " up to " } else { " " };
    let words = [&n, up_to, &most.to_string()].concat();
    pen.text(a.x, a.y + 10.0, &words, Ink::Dim, Font::Small, a.w);
    let a = a.below(15.0);
    let h = a.h.min(64.0);
    // A cell a tag where that is large enough.
    let unit = (h - 2.0) / most.max(8) as f32;
    let w = pitch - (pitch * 0.2).min(2.0);
    for job in 0..jobs {
        let x = a.x + job as f32 * pitch;
        pen.rect(Area::new(x, a.y + h - 1.0, w, 1.0), 0.0, Ink::Line, 1.0);
        pen.hit(Area::new(x, a.y, pitch, h), What::Held(job as JobIdx));
    }
    for (job, n) in held.iter().filter(|j| usize::from(j.0) < jobs) {
        let bar = *n as f32 * unit;
        job_rect(pen, Area::new(a.x + f32::from(*job) * pitch, a.y + h - 2.0 - bar, w, bar), 1.0, *job);
    }
}

/// One map with its name and count; returns its height and that of a bit.
fn map(pen: &mut Pen, a: Area, name: &str, tags: &TagsView, sched: bool, most: f32) -> (f32, f32) {
    let words = words(tags);
    super::caption(pen, a, name, &[&words, &taken(tags).to_string()], Ink::Dim);
    let bits = a.below(17.0);
    let counts = bits.w > 120.0;
    let w = bits.w - if counts { COUNTS } else { 0.0 };
    match Grid::of(tags, w, bits.h, most) {
        Some(grid) => {
            grid.draw(pen, bits, tags, sched);
            if counts {
                grid.counts(pen, bits, tags);
            }
            (17.0 + grid.lines as f32 * grid.line, grid.pitch)
        }
        None => (17.0 + bars(pen, bits, tags), most),
    }
}

/// How bits stand in lines.
struct Grid {
    word: usize,
    columns: usize,
    lines: usize,
    pitch: f32,
    line: f32,
}

impl Grid {
    fn of(tags: &TagsView, w: f32, h: f32, most: f32) -> Option<Self> {
        let (depth, word) = (tags.depth as usize, (tags.bits_per_word.max(1) as usize).min(4_096));
        if depth > MAX_BITS {
            return None;
        }
        let mut best: Option<Self> = None;
        for columns in [8usize, 16, 32, 64, 128] {
            let columns = columns.min(depth).max(1);
            let lines = if word >= columns {
                depth / word * word.div_ceil(columns) + (depth % word).div_ceil(columns)
            } else {
                depth.div_ceil(word * (columns / word))
            };
            let gaps = (columns / word).saturating_sub(1) as f32 * 3.0;
            // Marks above and below a bit need their room.
            let pitch = ((w - gaps) / columns as f32).min(most).min(h / lines.max(1) as f32 - 3.0);
            let line = (pitch + 4.5).min(h / lines.max(1) as f32);
            // A word in a row, if that is not much smaller, and not too small to be told apart.
            let rows = |b: &Self| if word > b.columns && pitch >= 4.0 { 0.7 } else { 1.05 };
            let better = best.as_ref().is_none_or(|b| pitch > b.pitch * rows(b));
            if pitch >= 2.4 && better {
                best = Some(Self { word, columns, lines, pitch, line });
            }
        }
        best
    }
    fn cell(&self, a: Area, bit: usize) -> Area {
        let (word, at) = (bit / self.word, bit % self.word);
        let (line, column, gap) = if self.word >= self.columns {
            (word * self.word.div_ceil(self.columns) + at / self.columns, at % self.columns, 0)
        } else {
            let per = self.columns / self.word;
            (word / per, word % per * self.word + at, word % per)
        };
        let size = (self.pitch - 2.0).max(self.pitch * 0.72);
        let x = a.x + column as f32 * self.pitch + gap as f32 * 3.0;
        Area::new(x, a.y + line as f32 * self.line + 2.0, size, size)
    }
    fn draw(&self, pen: &mut Pen, a: Area, tags: &TagsView, sched: bool) {
        for bit in 0..tags.depth as usize {
            let cell = self.cell(a, bit);
            let r = if self.pitch < 6.0 { 1.0 } else { 2.0 };
            match holder(tags, bit) {
                Some(job) => {
                    job_rect(pen, cell, r, job);
                    pen.hit(cell, What::MapTag(sched, bit as u32));
                }
                None if tags.cleared.get(bit) == Some(&true) => {
                    let inside = Area::new(cell.x + 0.5, cell.y + 0.5, cell.w - 1.0, cell.h - 1.0);
                    pen.frame(inside, r, Ink::Dim, 1.0);
                    pen.hit(cell, What::MapTag(sched, bit as u32));
                }
                None => pen.rect(cell, r, Ink::Track, 1.0),
            }
            let limit = tags.shallow_words.get(bit / self.word);
            if limit.is_some_and(|l| bit % self.word < *l as usize) {
                let joins = (bit + 1) % self.word < limit.map_or(0, |l| *l as usize);
                let w = if joins && (bit + 1) % self.columns != 0 { self.pitch } else { cell.w };
                pen.rect(Area::new(cell.x, cell.bottom() + 0.8, w, 1.4), 0.0, Ink::Accent, 1.0);
            }
        }
        for hint in tags.hints.iter().filter(|h| **h < tags.depth).take(16) {
            let cell = self.cell(a, *hint as usize);
            pen.rect(Area { y: cell.y - 2.0, h: 1.4, ..cell }, 0.0, Ink::Text, 1.0);
        }
    }
    /// How many bits of each line's words are taken.
    fn counts(&self, pen: &mut Pen, a: Area, tags: &TagsView) {
        if self.line < 11.0 {
            return;
        }
        let mut last = usize::MAX;
        for (word, n) in by_word(tags).iter().enumerate() {
            let (cell, line) = (self.cell(a, word * self.word), word * self.word / self.columns.max(self.word));
            if line == last {
                continue;
            }
            last = line;
            let per = (self.columns / self.word).max(1);
            let sum: u32 = by_word(tags)[word..].iter().take(per).sum();
            let n = if per > 1 { sum } else { *n };
            pen.text_right(a.x + a.w, cell.y + cell.h / 2.0 + 3.6, &n.to_string(), Ink::Dim, Font::Mono, COUNTS);
        }
    }
}

/// A bar a word, as full as it is; returns the height.
fn bars(pen: &mut Pen, a: Area, tags: &TagsView) -> f32 {
    let words = by_word(tags);
    let columns = words.len().clamp(1, 8);
    let lines = words.len().div_ceil(columns).max(1);
    let (w, h) = (a.w / columns as f32, within(a.h / lines as f32, 2.0, 10.0));
    let fit = ((a.h / h) as usize).clamp(1, 32);
    for (n, taken) in words.iter().enumerate().take(fit * columns) {
        let bar = Area::new(a.x + (n % columns) as f32 * w, a.y + (n / columns) as f32 * h, w - 3.0, h * 0.7);
        pen.rect(bar, 1.0, Ink::Track, 1.0);
        let part = *taken as f32 / tags.bits_per_word.max(1) as f32;
        pen.rect(Area { w: bar.w * within(part, 0.0, 1.0), ..bar }, 1.0, Ink::Dim, 1.0);
    }
    lines.min(fit) as f32 * h
}
