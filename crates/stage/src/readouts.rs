//! Figures of a lane's header as text.
//!
//! Models: fio's habit of printing MiB/s with MB/s beside it (decisions 4).
//! Rule: fixed decimals, so that digits do not jitter under tabular figures.
//! Leaves out: which moments are averaged (decisions 6: the caller).

use bioscope_core::observe::stats::Stats;
use bioscope_session::SideFrame;

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

/// `96 seeks/s`, one decimal below ten.
pub fn seeks(per_sec: f64) -> String {
    text::fixed(per_sec, u32::from(per_sec < 9.95)) + " seeks/s"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_units_stand_side_by_side() {
        let b = bandwidth(245.0 * 1_048_576.0);
        assert_eq!((b.mib.as_str(), b.mb.as_str()), ("245.0 MiB/s", "256.9 MB/s"));
        assert_eq!(seeks(96.4), "96 seeks/s");
        assert_eq!(seeks(1.04), "1.0 seeks/s");
        assert_eq!(p99(&Stats::default()), "–");
    }
}
