//! Device counters as `iostat -x` prints them.
//!
//! Models: iostat of sysstat 12 with `-x` and `-m`, over /sys/block/X/stat (kernel 10.2).
//! Rule: columns are made from the difference of two samples of the counters, which hold whole milliseconds; what
//! would be divided by nothing is 0.00.
//! Leaves out: the CPU part; discards and flushes, which the model has none of, so that their columns are 0.00.

use std::fmt::Write;

use bioscope_core::observe::snapshot::{DiskStats, Snapshot};
use bioscope_core::time::{MS, SEC, SimTime};

/// Which columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// All of `-x`.
    All,
    /// Those of reads, aqu-sz and %util, as messages about reads quote them.
    Reads,
}

/// Unit of the two columns of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// rkB/s
    Kb,
    /// rMB/s (`-m`)
    Mb,
}

/// Counters of all devices at a moment.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Sample {
    /// ns
    pub at: SimTime,
    /// By name.
    pub devices: Vec<(String, DiskStats)>,
}

impl Sample {
    /// As the kernel would show them now: time with I/O in flight is brought up to date.
    pub fn of(snapshot: &Snapshot) -> Self {
        let devices = snapshot.devices.iter().map(|d| (d.name.clone(), d.stats.up_to(snapshot.now)));
        Self { at: snapshot.now, devices: devices.collect() }
    }
}

impl Sample {
    /// The counters that devices gained from `start` to `end`, as two samples' difference.
    pub fn window(start: SimTime, end: SimTime, gained: Vec<(String, DiskStats)>) -> (Self, Self) {
        (Self { at: start, devices: Vec::new() }, Self { at: end, devices: gained })
    }
}

/// The columns of `-x` of one device that gained so much in a time, by name: kB, as `iostat -o JSON` names them, without
/// those of discards and flushes.
pub fn named(gained: &DiskStats, seconds: f64) -> Vec<(String, f64)> {
    let values = values(&DiskStats::default(), gained, seconds, Columns::All, Unit::Kb);
    let named = header(Columns::All, Unit::Kb).map(|(name, _)| name.replace('%', "")).zip(values);
    named.filter(|(name, _)| !name.starts_with(['d', 'f'])).collect()
}

/// Header and one line a device for the time between two samples. A device that `from` lacks counts from zero, so that
/// an empty `from` is the report since the start.
pub fn report(from: &Sample, to: &Sample, columns: Columns, unit: Unit) -> String {
    let mut out = format!("{:<13}", "Device");
    for (name, width) in header(columns, unit) {
        let _ = write!(out, " {name:>width$}");
    }
    out.push('\n');
    let seconds = (to.at - from.at) as f64 / SEC as f64;
    for (i, (name, now)) in to.devices.iter().enumerate() {
        let before = from.devices.get(i).map_or(DiskStats::default(), |d| d.1);
        let _ = write!(out, "{name:<13}");
        for ((_, width), value) in header(columns, unit).zip(values(&before, now, seconds, columns, unit)) {
            let _ = write!(out, " {value:width$.2}");
        }
        out.push('\n');
    }
    out
}

/// Columns of one kind of I/O by its letter.
const KIND: [(&str, usize); 6] = [("/s", 7), ("B/s", 9), ("rqm/s", 8), ("rqm", 6), ("_await", 7), ("areq-sz", 8)];

fn header(columns: Columns, unit: Unit) -> impl Iterator<Item = (String, usize)> {
    let kinds: &[&str] = if columns == Columns::All { &["r", "w", "d"] } else { &["r"] };
    let flush: &[_] = if columns == Columns::All { &[("f/s", 7), ("f_await", 7)] } else { &[] };
    let of_kind = move |kind: &'static str| {
        KIND.into_iter().map(move |(name, width)| {
            let name = match (name, unit) {
                ("B/s", Unit::Kb) => format!("{kind}kB/s"),
                ("B/s", Unit::Mb) => format!("{kind}MB/s"),
                ("rqm", _) => format!("%{kind}rqm"),
                _ => format!("{kind}{name}"),
            };
            (name, width)
        })
    };
    let rest = flush.iter().chain(&[("aqu-sz", 7), ("%util", 6)]).map(|(name, width)| ((*name).into(), *width));
    kinds.iter().copied().flat_map(of_kind).chain(rest)
}

/// `a / b`, 0 if that is nothing.
fn per(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// Whole milliseconds, as the counters hold them, that passed between two.
fn ms(from: u64, to: u64) -> f64 {
    (to / MS - from / MS) as f64
}

fn values(from: &DiskStats, to: &DiskStats, seconds: f64, columns: Columns, unit: Unit) -> Vec<f64> {
    let mut out = Vec::new();
    let kinds = if columns == Columns::All { 0..2 } else { 0..1 };
    for kind in kinds {
        let delta = |count: fn(&DiskStats) -> &[u64; 2]| (count(to)[kind] - count(from)[kind]) as f64;
        let (ios, merges, kb) = (delta(|s| &s.ios), delta(|s| &s.merges), delta(|s| &s.sectors) / 2.0);
        out.extend([
            per(ios, seconds),
            per(if unit == Unit::Kb { kb } else { kb / 1024.0 }, seconds),
            per(merges, seconds),
            per(100.0 * merges, merges + ios),
            per(ms(from.ns[kind], to.ns[kind]), ios),
            per(kb, ios),
        ]);
    }
    if columns == Columns::All {
        out.extend([0.0; KIND.len() + 2]);
    }
    let queue = ms(from.ns[0] + from.ns[1], to.ns[0] + to.ns[1]);
    out.push(per(queue, seconds * 1000.0));
    out.push(per(100.0 * ms(from.io_ticks_ns, to.io_ticks_ns), seconds * 1000.0));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(ios: u64, merges: u64, sectors: u64, ms: u64, busy_ms: u64) -> DiskStats {
        DiskStats {
            ios: [ios, 0],
            merges: [merges, 0],
            sectors: [sectors, 0],
            ns: [ms * MS, 0],
            io_ticks_ns: busy_ms * MS,
            ..DiskStats::default()
        }
    }

    fn sample(seconds: u64, devices: &[(&str, DiskStats)]) -> Sample {
        Sample { at: seconds * SEC, devices: devices.iter().map(|(n, s)| ((*n).into(), *s)).collect() }
    }

    /// The published lines follow from counts: 409.00 MB/s in 4487 reads and so on.
    #[test]
    fn kernel_2_5_cross_checks_of_the_published_lines() {
        let to = sample(
            1,
            &[
                ("sda", reads(4487, 2054, 409 * 2048, 3680, 712)),
                ("sdb", reads(6020, 5117, 1_348_480, 2680, 865)),
                ("md0", reads(87_965, 0, 10_796_810, 14_030, 906)),
            ],
        );
        let text = report(&Sample::default(), &to, Columns::Reads, Unit::Mb);
        let words: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(words[0], ["Device", "r/s", "rMB/s", "rrqm/s", "%rrqm", "r_await", "rareq-sz", "aqu-sz", "%util"]);
        assert_eq!(words[1], ["sda", "4487.00", "409.00", "2054.00", "31.40", "0.82", "93.34", "3.68", "71.20"]);
        assert_eq!(words[2], ["sdb", "6020.00", "658.44", "5117.00", "45.95", "0.45", "112.00", "2.68", "86.50"]);
        assert_eq!(words[3], ["md0", "87965.00", "5271.88", "0.00", "0.00", "0.16", "61.37", "14.03", "90.60"]);
        // What a reader would check from the printed columns alone.
        let at = |row: usize, column: usize| words[row][column].parse::<f64>().unwrap();
        for row in 1..=3 {
            assert!((at(row, 2) * 1024.0 / at(row, 1) - at(row, 6)).abs() < 0.01);
            assert!((100.0 * at(row, 3) / (at(row, 3) + at(row, 1)) - at(row, 4)).abs() < 0.01);
            assert!((at(row, 1) * at(row, 5) / 1000.0 - at(row, 7)).abs() < at(row, 1) * 0.005 / 1000.0 + 0.005);
        }
    }

    #[test]
    fn columns_by_name_are_those_of_a_line() {
        let sda = reads(4487, 2054, 409 * 2048, 3680, 712);
        let (from, to) = Sample::window(0, SEC, vec![("sda".into(), sda)]);
        let text = report(&from, &to, Columns::Reads, Unit::Kb);
        let line: Vec<&str> = text.lines().nth(1).unwrap().split_whitespace().skip(1).collect();
        let columns = named(&sda, 1.0);
        let names: Vec<&str> = columns.iter().map(|(n, _)| n.as_str()).collect();
        let of_reads = ["r/s", "rkB/s", "rrqm/s", "rrqm", "r_await", "rareq-sz"];
        assert_eq!(names[..6], of_reads);
        assert_eq!(names[6..], ["w/s", "wkB/s", "wrqm/s", "wrqm", "w_await", "wareq-sz", "aqu-sz", "util"]);
        for (name, printed) in of_reads.iter().chain(&["aqu-sz", "util"]).zip(line) {
            let value = columns.iter().find(|(n, _)| n == name).unwrap().1;
            assert_eq!(format!("{value:.2}"), printed, "{name}");
        }
    }

    #[test]
    fn kernel_10_2_columns_of_x_stand_where_iostat_puts_them() {
        let mut s = reads(40, 10, 1280, 20, 15);
        s.ios[1] = 2;
        s.sectors[1] = 5;
        s.ns[1] = 3 * MS;
        let text = report(&Sample::default(), &sample(2, &[("nvme0n1", s)]), Columns::All, Unit::Kb);
        assert_eq!(
            text,
            "Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await \
             wareq-sz     d/s     dkB/s   drqm/s  %drqm d_await dareq-sz     f/s f_await  aqu-sz  %util\n\
             nvme0n1         20.00    320.00     5.00  20.00    0.50    16.00    1.00      1.25     0.00   0.00    1.50 \
             \x20   1.25    0.00      0.00     0.00   0.00    0.00     0.00    0.00    0.00    0.01   0.75\n"
        );
    }

    #[test]
    fn kernel_10_2_counters_hold_whole_milliseconds_and_nothing_divides_by_zero() {
        let from = sample(1, &[("sda", DiskStats { ns: [1_900_000, 0], ..reads(1, 0, 8, 0, 0) })]);
        let to = sample(
            2,
            &[("sda", DiskStats { ns: [3_100_000, 0], ..reads(3, 0, 24, 0, 0) }), ("sdb", reads(0, 0, 0, 0, 0))],
        );
        let text = report(&from, &to, Columns::Reads, Unit::Kb);
        // 1.9 and 3.1 ms read as 1 and 3: 2 ms in 2 reads.
        assert!(
            text.contains("sda              2.00      8.00     0.00   0.00    1.00     4.00    0.00   0.00\n"),
            "{text}"
        );
        assert!(
            text.contains("sdb              0.00      0.00     0.00   0.00    0.00     0.00    0.00   0.00\n"),
            "{text}"
        );
        // No time has passed.
        assert_eq!(report(&to, &to, Columns::All, Unit::Kb).matches(" 0.00").count(), 2 * 22);
    }

    #[test]
    fn kernel_10_2_time_in_flight_is_brought_up_to_date() {
        use bioscope_core::observe::snapshot::DeviceView;
        let stats = DiskStats { in_flight: 1, since: 400 * MS, io_ticks_ns: 100 * MS, ..DiskStats::default() };
        let device = DeviceView { name: "sda".into(), stats, ..DeviceView::default() };
        let sample = Sample::of(&Snapshot { now: SEC, devices: vec![device], ..Snapshot::default() });
        assert!(report(&Sample::default(), &sample, Columns::Reads, Unit::Kb).ends_with("  70.00\n"));
    }

    /// Lines of a real listing: counts that give its main columns also give its derived ones, and the same layout.
    /// Needs the folder `BIOSCOPE_DATA` names.
    #[test]
    fn kernel_10_2_a_captured_listing_is_recomputed() {
        let folder = std::path::PathBuf::from(std::env::var_os("BIOSCOPE_DATA").unwrap_or_default());
        let files = ["iostat/05-sysstat12-x-ubuntu2010.txt", "iostat/22-x-raid1-one-slow-disk.txt"];
        let texts: Result<Vec<String>, _> = files.iter().map(|f| std::fs::read_to_string(folder.join(f))).collect();
        let Ok(listing) = texts.map(|t| t.concat()) else {
            eprintln!("SKIPPED: no captured data under BIOSCOPE_DATA, so iostat's columns were not compared with it");
            return;
        };
        let mut rows = 0;
        for line in listing.lines().filter(|l| l.split_whitespace().count() == 23 && !l.starts_with("Device")) {
            let (name, rest) = line.split_once(' ').unwrap();
            let captured: Vec<f64> = rest.split_whitespace().map(|w| w.parse().unwrap()).collect();
            // So long an interval that whole counts and milliseconds do not show.
            let count = |value: f64| (value * 20_000.0).round() as u64;
            let kind = |at: usize| (count(captured[at]), count(captured[at + 1]) * 2, count(captured[at + 2]));
            let (r, w) = (kind(0), kind(6));
            let time = |ios: u64, await_ms: f64| (ios as f64 * await_ms * MS as f64).round() as u64;
            let stats = DiskStats {
                ios: [r.0, w.0],
                sectors: [r.1, w.1],
                merges: [r.2, w.2],
                ns: [time(r.0, captured[4]), time(w.0, captured[10])],
                io_ticks_ns: (captured[21] * 200_000.0).round() as u64 * MS,
                ..DiskStats::default()
            };
            let text = report(&Sample::default(), &sample(20_000, &[(name, stats)]), Columns::All, Unit::Kb);
            let (header, ours) = text.split_once('\n').unwrap();
            assert!(listing.lines().any(|l| l.trim_end() == header), "{header}");
            assert_eq!(ours.trim_end().len(), line.trim_end().len());
            let ours: Vec<f64> = ours.split_whitespace().skip(1).map(|w| w.parse().unwrap()).collect();
            for (column, (ours, captured_value)) in ours.iter().zip(&captured).enumerate() {
                // A column was made from exact counts; the printed ones we start from are half a hundredth off.
                let rounding = |inputs: &[usize]| -> f64 {
                    let of = |i: &usize| 0.005 / captured[*i].max(0.005);
                    captured_value * inputs.iter().map(of).sum::<f64>() + 0.011
                };
                let allowed = match column {
                    3 | 9 => rounding(&[column - 3, column - 1]),
                    5 | 11 => rounding(&[column - 5, column - 4]),
                    // Kernels up to 5.6 counted it by itself, in jiffies.
                    20 => rounding(&[0, 4, 6, 10]) + captured_value * 0.002,
                    // Flushes are not modelled.
                    18 | 19 => f64::INFINITY,
                    _ => 0.011,
                };
                assert!(
                    (ours - captured_value).abs() <= allowed,
                    "column {column}: {ours} for {captured_value}: {line}"
                );
            }
            rows += 1;
        }
        assert!(rows >= 30, "{rows} rows");
    }
}
