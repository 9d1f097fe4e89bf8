//! A run's figures in the shape of fio's normal output, with the lines fio has no place for below.
//!
//! Models: fio's number printing (four significant characters, binary and decimal units side by side) and its choice
//! of nsec, usec and msec; percentiles of Q to C.
//! Rule: no figure is printed from too few samples, and none that the run does not have (no CPU usage, no deviation).
//! Leaves out: fio's own histogram buckets; percentiles here are upper edges of 64 steps per power of two.

use std::fmt::Write;

use bioscope_core::config::{JobConfig, LinearConfig, Rw, SimConfig, WorkloadConfig};
use bioscope_core::observe::snapshot::DiskStats;
use bioscope_core::observe::stats::{Histogram, KindStats, MAX_KINDS, Stats};
use bioscope_core::units::MIB;
use bioscope_scenario::value::print_bytes;

/// Percentiles shown, in ten-thousandths, and as fio writes them.
pub const PERCENTILES: [(u32, &str); 6] =
    [(5_000, "50.00"), (9_000, "90.00"), (9_500, "95.00"), (9_900, "99.00"), (9_990, "99.90"), (9_999, "99.99")];

/// Everything about a finished run that is not in its [`Stats`].
pub struct Outcome<'a> {
    /// Name shown in front.
    pub name: &'a str,
    /// What was run.
    pub cfg: &'a SimConfig,
    /// Its figures.
    pub stats: &'a Stats,
    /// Hash of its trace.
    pub trace_hash: u64,
    /// Records of its trace.
    pub steps: u64,
    /// Engine events.
    pub events: u64,
    /// What the devices' counters gained in the measured window, by name.
    pub devices: &'a [(String, DiskStats)],
}

/// The summary, several lines.
pub fn summary(o: &Outcome) -> String {
    let mut t = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(o, &mut t);
    t
}

fn write_summary(o: &Outcome, t: &mut String) -> std::fmt::Result {
    let s = o.stats;
    writeln!(t, "{}: (g=0): {}", o.name, describe(o.cfg))?;
    let zoned = o.cfg.devices.iter().any(|d| d.disk().is_some_and(|d| d.profile.zoned));
    for (word, bytes) in [("read", s.read_bytes), ("write", s.write_bytes)] {
        if bytes > 0 {
            direction(t, word, bytes, s, zoned)?;
        }
    }
    if s.read_bytes + s.write_bytes + s.sync_sectors == 0 {
        writeln!(t, "  nothing was completed in the measured window")?;
    }
    latency(t, &s.lat)?;
    for k in &s.kinds {
        kind_line(t, k, s)?;
    }
    let parts = parts_ns(s);
    write!(t, "  parts (usec) :")?;
    for (name, ns) in parts {
        write!(t, " {name}={:.1}", ns as f64 / 1e3)?;
    }
    writeln!(t, " (means; q2g to d2c of requests, q2c of I/Os)")?;
    let window = s.window_ns().max(1);
    // The time of all hard disks together; a device known by its limits has no inside.
    let disks = o.cfg.devices.iter().filter(|d| d.disk().is_some()).count() as u64;
    let all = window * disks;
    let share = |ns: u64| ns as f64 * 100.0 / all as f64;
    let d = &s.drive;
    let busy = d.seek + d.rotate + d.transfer + d.reset;
    if s.sync_sectors > 0 {
        let per_sec = s.sync_sectors as f64 * 512e9 / window as f64;
        let (binary, decimal) = (significant_binary(per_sec), significant_decimal(per_sec));
        writeln!(t, "  check        : {binary}B/s ({decimal}B/s) per member")?;
    }
    if disks > 0 {
        writeln!(
            t,
            "  drive        : seek={:.1}%, rotate={:.1}%, transfer={:.1}%, reset={:.1}%, idle={:.1}%, seeks={} ({}/s)",
            share(d.seek),
            share(d.rotate),
            share(d.transfer),
            share(d.reset),
            share(all.saturating_sub(busy)),
            d.seeks,
            significant(d.seeks as f64 * 1e9 / window as f64, 1000.0),
        )?;
    }
    writeln!(
        t,
        "  block layer  : issued={}, merges={}, splits={}, errors={}",
        s.nr_issued, s.nr_merges, s.nr_splits, s.nr_errors
    )?;
    writeln!(t, "  trace        : steps={}, events={}, hash={:016x}", o.steps, o.events, o.trace_hash)
}

/// fio's word.
fn rw_word(rw: Rw) -> &'static str {
    match rw {
        Rw::Write => "write",
        Rw::RandWrite => "randwrite",
        Rw::Read => "read",
        Rw::RandRead => "randread",
        Rw::ReadWrite => "rw",
        Rw::RandRw => "randrw",
    }
}

/// `rw=write, bs=1MiB, …`; of jobs of several kinds, each kind with its number of jobs.
fn describe(cfg: &SimConfig) -> String {
    let mut kinds: Vec<(String, usize)> = Vec::new();
    for job in &cfg.jobs {
        let kind = kind(&job.workload);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, n)) => *n += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let is_fio = |job: &JobConfig| matches!(job.workload, WorkloadConfig::FioZbd(_) | WorkloadConfig::Linear(_));
    let fio = cfg.jobs.first().is_some_and(is_fio);
    let mut list: Vec<String> = kinds
        .iter()
        .take(MAX_KINDS)
        .map(|(kind, n)| if fio { kind.replace("numjobs=N", &format!("numjobs={n}")) } else { kind.clone() })
        .collect();
    match kinds.len() {
        0 => return "no jobs".into(),
        n if n > MAX_KINDS => list.push(format!("and {} more kinds of jobs", n - MAX_KINDS)),
        _ => {}
    }
    list.join("; ")
}

/// fio's sizes, as its start line has them.
fn sizes(l: &LinearConfig) -> String {
    let all = || l.fio.bssplit.iter().flatten().map(|(n, _)| u64::from(*n));
    let (least, most) = (all().min().unwrap_or(l.bs), all().max().unwrap_or(l.bs));
    match least == most {
        true => print_bytes(least * 512),
        false => format!("{}-{}", print_bytes(least * 512), print_bytes(most * 512)),
    }
}

fn kind(workload: &WorkloadConfig) -> String {
    match workload {
        WorkloadConfig::FioZbd(f) => {
            let rw = rw_word(f.rw);
            let bs = print_bytes(f.bs * 512);
            format!("rw={rw}, bs={bs}, iodepth={}, numjobs=N, zones={}", f.iodepth, f.zones)
        }
        WorkloadConfig::Linear(l) => {
            format!("rw={}, bs={}, iodepth={}, numjobs=N", rw_word(l.rw), sizes(l), l.iodepth)
        }
        WorkloadConfig::Writeback(w) => {
            let (lo, hi) = (print_bytes(w.file_min), print_bytes(w.file_max));
            let size = if lo == hi { lo } else { format!("{lo}-{hi}") };
            format!("writeback, filesize={size}")
        }
        WorkloadConfig::PassThrough(_) => "pass-through".into(),
        WorkloadConfig::List(bios) => format!("list of {} bios", bios.len()),
    }
}

fn direction(t: &mut String, word: &str, bytes: u64, s: &Stats, zoned: bool) -> std::fmt::Result {
    let window = s.window_ns().max(1);
    let ios = if word == "read" { s.read_ios } else { s.ios - s.read_ios.min(s.ios) } as f64;
    let per_second = bytes as f64 * 1e9 / window as f64;
    write!(
        t,
        "  {word}: IOPS={}, BW={}B/s ({}B/s)({}B/{})",
        significant(ios * 1e9 / window as f64, 1000.0),
        significant_binary(per_second),
        significant_decimal(per_second),
        significant_binary(bytes as f64),
        format_args!("{}msec", window.div_ceil(1_000_000)),
    )?;
    if word == "write" && zoned {
        write!(t, "; {} zone resets", s.nr_resets)?;
    }
    writeln!(t)
}

/// `job 0`, `jobs 1-3`, or `4 jobs` where others are between them.
pub fn kind_name(k: &KindStats) -> String {
    match k.n {
        1 => format!("job {}", k.first),
        n if n == k.last - k.first + 1 => format!("jobs {}-{}", k.first, k.last),
        n => format!("{n} jobs"),
    }
}

/// What the jobs of one kind got, as fio tells it without group_reporting, in a line.
fn kind_line(t: &mut String, k: &KindStats, s: &Stats) -> std::fmt::Result {
    let window = s.window_ns();
    let word = match k.read_ios {
        0 => "write",
        n if n == k.ios => "read",
        _ => "rw",
    };
    let name = kind_name(k);
    if k.ios == 0 {
        return writeln!(t, "  {name:<12} : nothing was completed in the measured window");
    }
    let per_sec = KindStats::per_sec(k.bytes, window);
    let (unit, div) = unit(&k.lat);
    write!(
        t,
        "  {name:<12} : {word}: IOPS={}, BW={}B/s ({}B/s), lat ({unit}): avg={:.2}",
        significant(KindStats::per_sec(k.ios, window), 1000.0),
        significant_binary(per_sec),
        significant_decimal(per_sec),
        k.lat.mean() as f64 / div as f64,
    )?;
    if let Some(p99) = k.lat.percentile(9_900) {
        write!(t, ", 99.00th=[{}]", p99.div_ceil(div))?;
    }
    writeln!(t, ", max={}", significant((k.lat.max / div) as f64, 1000.0))
}

/// fio's choice.
fn unit(h: &Histogram) -> (&'static str, u64) {
    if h.min > 2_000_000 && h.max > 99_999_999 {
        ("msec", 1_000_000)
    } else if h.min > 2_000 && h.max > 99_999 {
        ("usec", 1_000)
    } else {
        ("nsec", 1)
    }
}

fn latency(t: &mut String, h: &Histogram) -> std::fmt::Result {
    if h.n == 0 {
        return Ok(());
    }
    let (unit, div) = unit(h);
    writeln!(
        t,
        "    lat ({unit}): min={}, max={}, avg={:.2}",
        significant((h.min / div) as f64, 1000.0),
        significant((h.max / div) as f64, 1000.0),
        h.mean() as f64 / div as f64
    )?;
    let known: Vec<(&str, u64)> =
        PERCENTILES.iter().filter_map(|(p, name)| Some((*name, h.percentile(*p)?.div_ceil(div)))).collect();
    if known.is_empty() {
        return Ok(());
    }
    writeln!(t, "    lat percentiles ({unit}):")?;
    let width = known.iter().map(|(_, v)| v.to_string().len()).max().unwrap_or(0).max(5);
    for (i, row) in known.chunks(3).enumerate() {
        let cells: Vec<String> = row.iter().map(|(name, v)| format!("{name}th=[{v:>width$}]")).collect();
        let end = if (i + 1) * 3 < known.len() { "," } else { "" };
        writeln!(t, "     | {}{end}", cells.join(", "))?;
    }
    Ok(())
}

/// Mean ns of each stage of a request, in order.
pub fn parts_ns(s: &Stats) -> [(&'static str, u64); 5] {
    [("q2g", s.q2g.mean()), ("g2i", s.g2i.mean()), ("i2d", s.i2d.mean()), ("d2c", s.d2c.mean()), ("q2c", s.q2c.mean())]
}

fn significant_binary(v: f64) -> String {
    scaled(v, 1024.0, ["", "Ki", "Mi", "Gi", "Ti", "Pi"])
}

fn significant_decimal(v: f64) -> String {
    scaled(v, 1000.0, ["", "k", "M", "G", "T", "P"])
}

fn significant(v: f64, base: f64) -> String {
    scaled(v, base, ["", "k", "M", "G", "T", "P"])
}

/// At most four characters of number: divided until it fits, decimals in what room is left after a division.
fn scaled(v: f64, base: f64, units: [&str; 6]) -> String {
    let mut v = v.max(0.0);
    let mut unit = 0;
    while v.round() >= 10_000.0 && unit + 1 < units.len() {
        v /= base;
        unit += 1;
    }
    let decimals = match v {
        _ if unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{v:.decimals$}{}", units[unit])
}

/// MiB/s of a run, reads and writes.
pub fn mib_per_s(s: &Stats) -> f64 {
    s.bytes_per_sec() / MIB as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_characters_as_in_fio() {
        for (v, want) in [(999.0, "999"), (4_092_000.0, "3996Ki"), (16_384.0, "16.0Ki"), (258_578_842.0, "247Mi")] {
            assert_eq!(significant_binary(v), want);
        }
        for (v, want) in [(65_500_000.0, "65.5M"), (16_000.0, "16.0k"), (258_578_842.0, "259M"), (0.0, "0")] {
            assert_eq!(significant_decimal(v), want);
        }
    }

    #[test]
    fn jobs_of_several_kinds_are_described_each() {
        let link =
            "v=1&drive=capped&numjobs=5&rw=randread&bs=4KiB&job3.rw=write&job3.bssplit=4KiB/50:64KiB/50&job3.iodepth=8";
        let (s, problems) = bioscope_scenario::decode(link);
        assert!(problems.is_empty(), "{problems:?}");
        let cfg = bioscope_scenario::validate(&s, bioscope_scenario::Side::A).unwrap();
        let words = "rw=randread, bs=4KiB, iodepth=1, numjobs=4; rw=write, bs=4KiB-64KiB, iodepth=8, numjobs=1";
        assert_eq!(describe(&cfg), words);
    }

    #[test]
    fn kinds_of_jobs_have_a_line_each() {
        let mut s = Stats { window_from: Some(0), window_to: 2_000_000_000, ..Stats::default() };
        let kind = |first, last, n| KindStats { first, last, n, ..KindStats::default() };
        s.kinds = vec![kind(0, 0, 1), kind(1, 3, 3)];
        s.kinds[0].bytes = 200 << 20;
        s.kinds[0].ios = 1_600;
        s.kinds[0].read_ios = 1_600;
        (1..=1_600).for_each(|i| s.kinds[0].lat.add(3_000_000 + i * 100_000));
        let line = |k: &KindStats| {
            let mut t = String::new();
            kind_line(&mut t, k, &s).unwrap();
            t
        };
        assert_eq!(
            line(&s.kinds[0]),
            "  job 0        : read: IOPS=800, BW=100MiB/s (105MB/s), lat (msec): avg=83.05, 99.00th=[162], max=163\n"
        );
        assert_eq!(line(&s.kinds[1]), "  jobs 1-3     : nothing was completed in the measured window\n");
        assert_eq!(kind_name(&kind(0, 4, 4)), "4 jobs");
    }

    #[test]
    fn kinds_add_up_and_are_told_where_jobs_differ() {
        let kinds = |link: &str| {
            let (s, problems) = bioscope_scenario::decode(link);
            assert!(problems.is_empty(), "{problems:?}");
            let cfg = bioscope_scenario::validate(&s, bioscope_scenario::Side::A).unwrap();
            let mut sim = bioscope_core::sim::Simulation::new(cfg.into());
            sim.advance(u64::MAX, u64::MAX, &mut ());
            let stats = sim.stats();
            let sum = |of: fn(&KindStats) -> u64| stats.kinds.iter().map(of).sum::<u64>();
            if (1..=MAX_KINDS).contains(&stats.kinds.len()) {
                assert_eq!(sum(|k| k.bytes), stats.read_bytes + stats.write_bytes);
                assert_eq!((sum(|k| k.ios), sum(|k| k.lat.n)), (stats.ios, stats.lat.n));
            }
            stats.kinds.iter().map(kind_name).collect::<Vec<_>>().join(", ")
        };
        let all = "v=1&drive=capped&numjobs=5&rw=randread&bs=4KiB&runtime=10ms";
        assert_eq!(kinds(all), "");
        // Where on the disk a job reads is no kind.
        assert_eq!(kinds(&[all, "&job1.offset=1GiB"].concat()), "");
        assert_eq!(kinds(&[all, "&job4.iodepth=8"].concat()), "jobs 0-3, job 4");
        assert_eq!(kinds(&[all, "&job2.rw=randwrite"].concat()), "4 jobs, job 2");
    }

    #[test]
    fn percentiles_without_samples_are_left_out() {
        let mut s = Stats { window_from: Some(0), window_to: 1_000_000_000, ..Stats::default() };
        s.write_bytes = 100 << 20;
        s.ios = 100;
        for i in 1..=100 {
            s.lat.add(i * 3_000_000);
        }
        let cfg = bioscope_scenario::validate(&bioscope_scenario::Scenario::new(), bioscope_scenario::Side::A).unwrap();
        let o = Outcome { name: "x", cfg: &cfg, stats: &s, trace_hash: 255, steps: 3, events: 4, devices: &[] };
        let text = summary(&o);
        assert!(text.starts_with("x: (g=0): rw=write, bs=1MiB, iodepth=1, numjobs=1, zones=110642\n"), "{text}");
        assert!(text.contains("  write: IOPS=100, BW=100MiB/s (105MB/s)(100MiB/1000msec); 0 zone resets\n"), "{text}");
        assert!(text.contains("    lat (msec): min=3, max=300, avg=151.50\n"), "{text}");
        assert!(text.contains("     | 50.00th=[  151], 90.00th=[  273]\n"), "{text}");
        assert!(!text.contains("95.00th"), "{text}");
        assert!(text.ends_with("hash=00000000000000ff\n"), "{text}");
    }
}
