//! Prints how fast the simulator is on this machine: medians of five runs on one core, no verdict.

use std::time::Instant;

use bioscope_lab::bench::{Work, cells_44, null_blk, rand_zones_128};

fn median(f: impl Fn() -> Work) -> (Work, f64) {
    let mut times: Vec<(f64, Work)> = (0..5)
        .map(|_| {
            let start = Instant::now();
            let w = f();
            (start.elapsed().as_secs_f64(), w)
        })
        .collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    (times[2].1, times[2].0)
}

/// Peak resident memory of this process, MiB, where the system tells.
fn peak_mib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
}

fn main() {
    let (w, s) = median(rand_zones_128);
    println!("rand_zones_128_ios_per_s {:.0}", w.ios as f64 / s);
    println!("rand_zones_128_events_per_s {:.0}", w.events as f64 / s);
    println!("rand_zones_128_records_per_s {:.0}", w.records as f64 / s);
    let (w, s) = median(cells_44);
    println!("cells_44_seconds {s:.3}");
    println!("cells_44_ios_per_s {:.0}", w.ios as f64 / s);
    println!("cells_44_events_per_s {:.0}", w.events as f64 / s);
    let (w, s) = median(null_blk);
    println!("null_blk_ios_per_s {:.0}", w.ios as f64 / s);
    println!("null_blk_events_per_s {:.0}", w.events as f64 / s);
    match peak_mib() {
        Some(m) => println!("peak_memory_mib {m:.1}"),
        None => println!("peak_memory_mib not available on this system"),
    }
}
