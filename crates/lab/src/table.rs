//! Published tables whose cells are single runs: what a run keeps, and how cells are put together.
//!
//! Models: nothing.
//! Rule: a run is a link, so that whoever doubts a cell can open it; a number fitted on cells marks them, and all other
//! cells of the table are held out.
//! Leaves out: the tables; each has a module of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

use bioscope_core::observe::gaps::Gaps;
use bioscope_core::observe::snapshot::DiskStats;
use bioscope_core::observe::stats::{Histogram, Stats};
use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink, flag};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::{DevIdx, Sector};
use bioscope_scenario::{Key, Side, Value, decode, validate};

use crate::run::{MAX_EVENTS, mean_sd};
use crate::validate::{Line, Report, Shape, error_pct, subtotal};

/// A published table.
pub struct Table {
    /// `seed-002`
    pub name: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The links of its runs.
    pub runs: fn() -> Vec<String>,
    /// Seeds that each is run with.
    pub seeds: u64,
    /// Its cells.
    pub judge: fn(&mut Cells) -> Vec<Shape>,
    /// What the model leaves out that could matter here.
    pub outside: &'static [&'static str],
}

/// All of them.
pub static TABLES: &[&Table] = &[
    &crate::seed001::TABLE,
    &crate::seed002::TABLE,
    &crate::seed003::TABLE,
    &crate::table02::TABLE,
    &crate::table05::TABLE,
    &crate::table06::TABLE,
    &crate::table09::TABLE,
    &crate::table11::TABLE,
    &crate::table12::TABLE,
    &crate::table13::TABLE,
    &crate::table18::TABLE,
    &crate::table20::TABLE,
    &crate::table21::TABLE,
    &crate::table27::TABLE,
    &crate::table29::TABLE,
    &crate::table33::TABLE,
];

/// A run to make.
#[derive(Clone, Debug)]
pub struct Job {
    link: String,
    seed: u64,
}

/// What a run left.
pub struct Measured {
    /// Figures of the measured window.
    pub stats: Stats,
    /// Names of the devices, and what their counters gained in the window.
    pub devices: Vec<(String, DiskStats)>,
    /// Gaps between commands.
    pub gaps: Gaps,
    /// The submission's records: Q, X, A, G, M and F.
    pub trace: Vec<TraceRecord>,
    /// Times of bios without and with the realtime class, from Q to C of the request they began.
    pub classes: [Histogram; 2],
}

/// iostat's columns of one device and direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Columns {
    /// r/s
    pub ios: f64,
    /// rkB/s
    pub kb: f64,
    /// rrqm/s
    pub merges: f64,
    /// %rrqm
    pub merged_pct: f64,
    /// r_await, ms
    pub await_ms: f64,
    /// rareq-sz, KiB
    pub size_kib: f64,
    /// aqu-sz
    pub queue: f64,
    /// %util
    pub util_pct: f64,
}

/// Keeps what cells are made from. Longer runs are judged by counters alone.
#[derive(Default)]
struct Keep {
    gaps: Gaps,
    trace: Vec<TraceRecord>,
    /// Q and class by bio.
    queued: BTreeMap<u32, (u64, bool)>,
    classes: [Histogram; 2],
}

/// Records kept.
const MAX_TRACE: usize = 40_000;
/// Bios looked after at a time: those that joined a request have no C of their own.
const MAX_QUEUED: usize = 4096;

impl TraceSink for Keep {
    fn record(&mut self, r: &TraceRecord) {
        self.gaps.record(r);
        match r.action {
            Action::Queue if self.queued.len() < MAX_QUEUED => {
                self.queued.insert(r.bio, (r.time, r.flags & flag::RT != 0));
            }
            Action::Complete => {
                if let Some((from, rt)) = self.queued.remove(&r.bio) {
                    self.classes[usize::from(rt)].add(r.time - from);
                }
            }
            _ => {}
        }
        let submission = matches!(
            r.action,
            Action::Queue | Action::Split | Action::Remap | Action::GetRq | Action::BackMerge | Action::FrontMerge
        );
        if submission && self.trace.len() < MAX_TRACE {
            self.trace.push(*r);
        }
    }
}

impl Job {
    /// Runs to the end.
    ///
    /// # Panics
    /// When the link is broken: links of tables are part of the program and covered by tests.
    pub fn run(&self) -> Measured {
        let (mut s, problems) = decode(&self.link);
        assert!(problems.is_empty(), "{}: {problems:?}", self.link);
        s.set(Side::A, Key::Seed, Value::Int(self.seed));
        let cfg = validate(&s, Side::A).expect("settings of a table are valid");
        let mut sim = Simulation::new(Arc::new(cfg));
        let mut keep = Keep::default();
        assert_eq!(sim.advance(u64::MAX, MAX_EVENTS, &mut keep), Advance::Done, "{}", self.link);
        let snapshot = sim.snapshot();
        Measured {
            stats: snapshot.stats,
            devices: snapshot.devices.into_iter().map(|d| (d.name, d.window)).collect(),
            gaps: keep.gaps,
            trace: keep.trace,
            classes: keep.classes,
        }
    }
}

impl Measured {
    /// MiB/s of the jobs.
    pub fn mib_per_s(&self) -> f64 {
        self.stats.bytes_per_sec() / 1_048_576.0
    }

    /// Commands that start where the one before of their device ended, percent of all that follow another.
    pub fn sequential_pct(&self) -> f64 {
        let all = self.gaps.all();
        100.0 * all.zero as f64 / all.total.max(1) as f64
    }

    /// Sleeps for a tag, of an I/O.
    pub fn sleeps(&self) -> f64 {
        self.stats.nr_wakeups as f64 / self.stats.total_ios.max(1) as f64
    }

    /// The device of a name.
    ///
    /// # Panics
    /// When there is none: names in tables are covered by tests.
    pub fn dev(&self, name: &str) -> DevIdx {
        self.devices.iter().position(|(n, _)| n == name).expect("a device of the table's run") as DevIdx
    }

    /// Disks: the devices that are no array.
    pub fn disks(&self) -> impl Iterator<Item = &DiskStats> {
        self.devices.iter().filter(|(name, _)| !name.starts_with("md")).map(|(_, d)| d)
    }

    /// iostat's columns of reads.
    pub fn reads(&self, name: &str) -> Columns {
        self.columns(&self.devices[usize::from(self.dev(name))].1, 0)
    }

    /// Mean over the disks of iostat's columns of reads (0) or writes (1), as if they were one disk.
    pub fn of_disks(&self, kind: usize) -> Columns {
        let mut sum = DiskStats::default();
        for d in self.disks() {
            sum.ios[kind] += d.ios[kind];
            sum.merges[kind] += d.merges[kind];
            sum.sectors[kind] += d.sectors[kind];
            sum.ns[kind] += d.ns[kind];
            sum.io_ticks_ns += d.io_ticks_ns;
        }
        let n = self.disks().count() as f64;
        let c = self.columns(&sum, kind);
        Columns {
            ios: c.ios / n,
            kb: c.kb / n,
            merges: c.merges / n,
            queue: c.queue / n,
            util_pct: c.util_pct / n,
            ..c
        }
    }

    fn columns(&self, d: &DiskStats, kind: usize) -> Columns {
        let seconds = self.stats.window_ns() as f64 / 1e9;
        let per = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a / b };
        let (ios, merges, kb) = (d.ios[kind] as f64, d.merges[kind] as f64, d.sectors[kind] as f64 / 2.0);
        let ms = d.ns[kind] as f64 / 1e6;
        Columns {
            ios: per(ios, seconds),
            kb: per(kb, seconds),
            merges: per(merges, seconds),
            merged_pct: per(100.0 * merges, merges + ios),
            await_ms: per(ms, ios),
            size_kib: per(kb, ios),
            queue: per(ms, seconds * 1000.0),
            util_pct: per(d.io_ticks_ns as f64 / 1e7, seconds),
        }
    }

    /// Starts of the requests of a device, in order of allocation.
    pub fn requests_of(&self, dev: DevIdx) -> Vec<Sector> {
        self.trace.iter().filter(|r| r.action == Action::GetRq && r.dev == dev).map(|r| r.sector).collect()
    }
}

/// Units of figures that depend on how fast things are; the others follow from the block layer's rules alone.
const TIMED: [&str; 9] = ["1/s", "thousand/s", "MiB/s", "MB/s", "KiB/s", "ms", "us", "in flight", "% busy"];

/// Collects a table's cells.
pub struct Cells<'a> {
    table: &'static str,
    /// By run, then by seed.
    runs: &'a [Vec<Measured>],
    lines: Vec<Line>,
}

/// Options of the cell added last.
pub struct Added<'a>(&'a mut Line);

impl Added<'_> {
    /// A number of the runs' settings was fitted on this cell.
    pub fn fitted(self) {
        self.0.calibration = true;
        self.0.held_out_pct = None;
    }
    /// Nothing was measured: the figure is what the rules give, worked out elsewhere.
    pub fn replayed(self) {
        self.0.held_out_pct = None;
    }
    /// Why it is so far off.
    pub fn because(self, why: &'static str) {
        self.0.why = Some(why);
    }
}

impl Cells<'_> {
    /// A run, with its first seed.
    pub fn run(&self, n: usize) -> &Measured {
        &self.runs[n][0]
    }

    /// One published number, and how a run answers it.
    pub fn cell(
        &mut self,
        n: usize,
        row: impl Into<String>,
        variant: &'static str,
        unit: &'static str,
        published: f64,
        figure: impl Fn(&Measured) -> f64,
    ) -> Added<'_> {
        let values: Vec<f64> = self.runs[n].iter().map(figure).collect();
        self.line(row.into(), variant, unit, published, &values)
    }

    fn line(
        &mut self,
        row: String,
        variant: &'static str,
        unit: &'static str,
        published: f64,
        values: &[f64],
    ) -> Added<'_> {
        let (simulated, spread) = mean_sd(values);
        let error = error_pct(simulated, published);
        self.lines.push(Line {
            table: self.table,
            row,
            variant,
            unit,
            published,
            simulated,
            spread,
            error_pct: error,
            calibration: false,
            held_out_pct: error,
            random_phase_pct: None,
            why: None,
        });
        Added(self.lines.last_mut().expect("just added"))
    }

    /// A published number that compares two runs, and how the runs answer it.
    pub fn between(
        &mut self,
        runs: [usize; 2],
        row: impl Into<String>,
        variant: &'static str,
        unit: &'static str,
        published: f64,
        figure: impl Fn(&Measured, &Measured) -> f64,
    ) -> Added<'_> {
        let [a, b] = runs.map(|n| &self.runs[n]);
        let values: Vec<f64> = a.iter().zip(b).map(|(a, b)| figure(a, b)).collect();
        self.line(row.into(), variant, unit, published, &values)
    }

    /// What a cell says, by row and variant.
    ///
    /// # Panics
    /// When there is none.
    pub fn simulated(&self, row: &str, variant: &str) -> f64 {
        let line = self.lines.iter().find(|l| l.row == row && l.variant == variant);
        line.expect("a cell that was added before").simulated
    }
}

/// Lines equal in place.
pub fn equal_in_place<T: PartialEq>(a: &[T], b: &[T]) -> f64 {
    a.iter().zip(b).filter(|(a, b)| a == b).count() as f64
}

/// A rule that holds unless something is named that breaks it.
pub fn rule(rule: &'static str, breaks: Vec<String>) -> Shape {
    Shape { rule, holds: breaks.is_empty(), breaks }
}

impl Table {
    /// Its runs, all seeds of the first one first.
    pub fn jobs(&self) -> Vec<Job> {
        (self.runs)()
            .into_iter()
            .flat_map(|link| (1..=self.seeds).map(move |seed| Job { link: link.clone(), seed }))
            .collect()
    }

    /// Puts results (in the order of [`Table::jobs`]) together.
    pub fn collect(&self, results: Vec<Measured>) -> Report {
        let mut results = results.into_iter();
        let mut runs = Vec::new();
        loop {
            let seeds: Vec<Measured> = results.by_ref().take(self.seeds as usize).collect();
            if seeds.is_empty() {
                break;
            }
            runs.push(seeds);
        }
        let mut cells = Cells { table: self.name, runs: &runs, lines: Vec::new() };
        let shapes = (self.judge)(&mut cells);
        let lines = cells.lines;
        // Orders are right or wrong; a mean of them says nothing.
        let held_out = |timed: bool| {
            let of = move |l: &&Line| l.unit != "matches" && TIMED.contains(&l.unit) == timed;
            lines.iter().filter(of).map(|l| l.held_out_pct)
        };
        let calibration = lines.iter().filter(|l| l.calibration).map(|l| l.error_pct);
        let subtotals = vec![
            subtotal("calibration cells", calibration),
            subtotal("held out: sizes, merges, gaps", held_out(false)),
            subtotal("held out: speeds and times", held_out(true)),
        ];
        Report { table: self.name, source: self.source, lines, subtotals, shapes, outside: self.outside }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bioscope_scenario::check;

    #[test]
    fn every_run_of_every_table_can_be_made() {
        for table in TABLES {
            for link in (table.runs)() {
                let (s, problems) = decode(&link);
                assert!(problems.is_empty(), "{link}: {problems:?}");
                let (cfg, problems) = check(&s, Side::A);
                assert!(cfg.is_some() && problems.is_empty(), "{link}: {problems:?}");
            }
        }
    }
}
