//! Figures of a lane's header as text.
//!
//! Models: fio's habit of printing MiB/s with MB/s beside it (decisions 4).
//! Rule: fixed decimals, so that digits do not jitter under tabular figures.
//! Leaves out: which moments are averaged (decisions 6: the caller).

use bioscope_core::observe::snapshot::Snapshot;
use bioscope_core::observe::stats::{KindStats, Stats};
use bioscope_session::SideFrame;

use crate::lane::board::freeze::setting_words;
use crate::{iostat, text};

/// A bandwidth, both ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bandwidth {
    /// `245.0 MiB/s`
    pub mib: String,
    /// `256.9 MB/s`
    pub mb: String,
}

/// A bandwidth in bytes per second as text.
pub fn bandwidth(bytes_per_sec: f64) -> Bandwidth {
    Bandwidth {
        mib: text::fixed(bytes_per_sec / 1_048_576.0, 1) + " MiB/s",
        mb: text::fixed(bytes_per_sec / 1e6, 1) + " MB/s",
    }
}

/// 99th percentile of Q to C, or a dash with too few samples.
pub fn p99(stats: &Stats) -> String {
    stats.lat.percentile(9900).map_or_else(|| "–".to_string(), text::duration)
}

/// Where jobs differ: each kind by name, with its mean rate and what its I/Os take, `94.8 MiB/s, mean 1.3 ms, p99 12 ms`
/// (no percentile of too few).
pub fn kinds(stats: &Stats) -> Vec<(String, String)> {
    let window = stats.window_ns();
    let each = stats.kinds.iter().map(|k| {
        let mut value = bandwidth(KindStats::per_sec(k.bytes, window)).mib;
        if k.lat.n > 0 {
            value.extend([", mean ", &text::duration(k.lat.mean())]);
        }
        if let Some(p99) = k.lat.percentile(9900) {
            value.extend([", p99 ", &text::duration(p99)]);
        }
        (kind_name(k), value)
    });
    each.collect()
}

/// `job 0`, `jobs 1–3`, or `4 jobs` where others are between them.
fn kind_name(k: &KindStats) -> String {
    let (first, last, n) = (k.first.to_string(), k.last.to_string(), k.n.to_string());
    match k.n {
        1 => ["job ", &first].concat(),
        n if n == k.last - k.first + 1 => ["jobs ", &first, "–", &last].concat(),
        _ => [&n, " jobs"].concat(),
    }
}

/// Mean of Q to C, or a dash.
pub fn mean_latency(stats: &Stats) -> String {
    if stats.lat.n == 0 { "–".to_string() } else { text::duration(stats.lat.mean()) }
}

/// Repositionings per second over the measured window.
pub fn mean_seeks_per_sec(stats: &Stats) -> f64 {
    let window = stats.window_ns();
    if window == 0 { 0.0 } else { stats.drive.seeks as f64 * 1e9 / window as f64 }
}

/// Of a run with a stacked device: its mean rate, the disks' request size, the share of commands without a gap.
pub fn stacked(frame: &SideFrame) -> Option<[(&str, String); 3]> {
    let order = frame.order.as_ref()?;
    let name = frame.snapshot.devices.get(usize::from(order.top)).map_or("", |d| d.name.as_str());
    let r = &frame.readouts;
    let rate = bandwidth(r.mean_bytes_per_sec.unwrap_or(r.now_bytes_per_sec)).mb;
    let or_dash = |v: Option<f64>, unit: &str| v.map_or_else(|| "–".to_string(), |v| text::fixed(v, 1) + unit);
    let size = or_dash(iostat::request_kib(order, &frame.snapshot), " KiB");
    let sequential = or_dash(order.sequential().map(|s| s * 100.0), " %");
    Some([(name, rate), ("request", size), ("sequential", sequential)])
}

/// Of a run whose settings are written while it goes on: what the freeze of the last one takes or took, or its errno;
/// name, value, and which setting it was.
pub fn live(snap: &Snapshot) -> Option<(&'static str, String, String)> {
    let (device, now) = (snap.devices.first()?, snap.now);
    if let Some(f) = &device.freeze {
        let since = text::duration(now.saturating_sub(f.since));
        return Some(("frozen", since, setting_words(&f.setting)));
    }
    let last = device.changes.iter().rev().find(|c| c.at <= now)?;
    let (name, value) = match last.error {
        Some(errno) => ("write", errno.to_string()),
        None => ("freeze", text::duration(last.done.saturating_sub(last.at))),
    };
    Some((name, value, [setting_words(&last.setting), text::seconds(last.at)].join(", written at ")))
}

/// `96 seeks/s`, one decimal below ten.
pub fn seeks(per_sec: f64) -> String {
    text::fixed(per_sec, u32::from(per_sec < 9.95)) + " seeks/s"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_jobs_are_named_with_rate_and_latency() {
        let mut s = Stats { window_from: Some(0), window_to: 1_000_000_000, ..Stats::default() };
        assert!(kinds(&s).is_empty());
        let kind = |first, last, n| KindStats { first, last, n, ..KindStats::default() };
        s.kinds = vec![kind(0, 0, 1), kind(1, 3, 3), kind(4, 8, 3)];
        s.kinds[0].bytes = 100 << 20;
        (0..1000).for_each(|_| s.kinds[0].lat.add(12_000_000));
        s.kinds[1].lat.add(2_000_000);
        let all: Vec<String> = kinds(&s).iter().map(|(name, value)| [name, ": ", value].concat()).collect();
        let want =
            ["job 0: 100.0 MiB/s, mean 12.0 ms, p99 12.0 ms", "jobs 1–3: 0.0 MiB/s, mean 2.0 ms", "3 jobs: 0.0 MiB/s"];
        assert_eq!(all, want);
    }

    #[test]
    fn what_a_freeze_took_or_why_it_was_refused() {
        let of = |scene: crate::synth::Scene| live(&scene.snap);
        let took = ("freeze", "0 ns".to_string(), "nomerges 2, written at 2.750 000 s".to_string());
        assert_eq!(of(crate::synth::written()), Some(took));
        assert_eq!(of(crate::synth::frozen()), Some(("frozen", "31.4 ms".into(), "zoned_qd1_writes 1".into())));
        let mut refused = crate::synth::written();
        refused.snap.devices[0].changes.truncate(2);
        assert_eq!(of(refused).map(|r| (r.0, r.1)), Some(("write", "EINVAL".into())));
        assert_eq!(of(crate::synth::idle()), None);
    }

    #[test]
    fn both_units_stand_side_by_side() {
        let b = bandwidth(245.0 * 1_048_576.0);
        assert_eq!((b.mib.as_str(), b.mb.as_str()), ("245.0 MiB/s", "256.9 MB/s"));
        assert_eq!(seeks(96.4), "96 seeks/s");
        assert_eq!(seeks(1.04), "1.0 seeks/s");
        assert_eq!(p99(&Stats::default()), "–");
    }
}
