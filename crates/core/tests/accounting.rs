//! What %util is made of (kernel 10.2): time in flight, or jiffies that starts and ends count.

mod common;

use bioscope_core::config::*;
use bioscope_core::units::{IoPrio, Op};
use common::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;

/// %util over the run.
fn util(mut cfg: SimConfig, io_ticks: IoTicks, jiffy_ns: u64) -> f64 {
    cfg.kernel.io_ticks = io_ticks;
    cfg.host.jiffy_ns = jiffy_ns;
    let r = run(cfg);
    let stats = r.sim.snapshot().devices[0].stats;
    100.0 * stats.io_ticks_ns as f64 / r.sim.now() as f64
}

fn machine(latency_ns: u64) -> SimConfig {
    let mut cfg = config();
    cfg.devices[0] = capped(0, latency_ns);
    let DeviceKind::Capped(c) = &mut cfg.devices[0].kind else { unreachable!() };
    (c.rate, c.channels) = (0, 256);
    cfg.host.submit_ns = 0;
    cfg
}

/// Many short I/Os: 70 us each and 105 us between them is 40 % busy, and every jiffy sees a start.
#[test]
fn section_10_2_io_ticks_of_many_short_ios() {
    let mut cfg = machine(70 * US);
    cfg.jobs.push(JobConfig {
        name: "fio".into(),
        dev: 0,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw: Rw::RandRead,
            bs: 8,
            bios: vec![],
            iodepth: 1,
            batch: 1,
            first: 0,
            sectors: 1 << 22,
            io_bytes: Some(4096 * 10_000),
            buffered: false,
            nowait: false,
            fio: FioOptions { thinktime_ns: 105 * US, ..FioOptions::default() },
        }),
        prio: IoPrio::default(),
        bio_segment_bytes: 4096,
        start_ns: 0,
        cgroup: Default::default(),
    });
    let in_flight = util(cfg.clone(), IoTicks::InFlight, 0);
    assert!((in_flight - 40.0).abs() < 0.5, "{in_flight}");
    for jiffy in [MS, 4 * MS] {
        let start = util(cfg.clone(), IoTicks::Start, jiffy);
        assert!((99.0..=100.0).contains(&start), "{jiffy}: {start}");
    }
}

/// High latency: 120 reads in flight at most, 26.2 ms each, 4001 a second. So each place is taken anew every 30 ms and is
/// empty for 3.8 ms of them. In three groups something is always in flight; but a start that comes four jiffies of 1 ms
/// after the last end counts one for them: 3 ms of every 10 are lost. (Published: 69 % against 100 %.)
#[test]
fn section_10_2_io_ticks_of_high_latency() {
    let mut cfg = machine(26_200 * US);
    let read = |at, sector| ListedBio {
        at,
        op: Op::Read,
        sector,
        nr_sectors: 128,
        nowait: false,
        preflush: false,
        fua: false,
    };
    for group in 0..3 {
        let bios = (0..50).flat_map(|n| (0..40).map(move |i| (n, i)));
        // Not on the jiffy.
        let at = |n: u64| (n * 30 + group * 10) * MS + 300 * US;
        list(&mut cfg, bios.map(|(n, i)| read(at(n), (group * 2000 + n * 40 + i) * 1024)).collect());
    }
    let in_flight = util(cfg.clone(), IoTicks::InFlight, 0);
    assert!((in_flight - 100.0).abs() < 0.1, "{in_flight}");
    let start = util(cfg.clone(), IoTicks::Start, MS);
    assert!((start - 70.0).abs() < 1.0, "{start}");
    // A jiffy that is longer than the pause loses nothing.
    let start = util(cfg, IoTicks::Start, 4 * MS);
    assert!(start > 95.0, "{start}");
}

/// A merge ends no I/O, and time is counted once.
#[test]
fn section_10_2_io_ticks_of_merged_requests() {
    let mut cfg = config();
    list(&mut cfg, (0..64).map(|i| write(i * 10 * US, 0, i * 8, 8)).collect());
    let r = run(cfg.clone());
    let stats = r.sim.snapshot().devices[0].stats;
    assert!(stats.merges[1] > 0 && stats.in_flight == 0);
    let coarse = util(cfg.clone(), IoTicks::Start, 1);
    assert!((coarse - util(cfg, IoTicks::InFlight, 0)).abs() < 20.0);
}
