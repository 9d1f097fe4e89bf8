//! kyber on a device that serves several commands side by side, with readers and writers at once (kernel 4.4): what the
//! pools do to read latency, against a queue that sends all it has.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::{ElevatorView, KyberView};
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::Simulation;
use bioscope_core::time::{MS, SEC};
use bioscope_core::units::Op;
use common::{capped, config};
use std::sync::Arc;

/// Pools settle in this time.
const SETTLED: u64 = 6 * SEC;
const END: u64 = 8 * SEC;

fn job(rw: Rw, kib: u64, iodepth: u32) -> JobConfig {
    let linear = LinearConfig {
        tool: Tool::Fio,
        rw,
        bs: kib * 2,
        bios: vec![],
        iodepth,
        batch: 1,
        first: 0,
        sectors: 1 << 30,
        io_bytes: None,
        buffered: false,
        nowait: false,
        fio: Default::default(),
    };
    JobConfig {
        name: "fio".into(),
        dev: 0,
        workload: WorkloadConfig::Linear(linear),
        prio: Default::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    }
}

/// Eight channels of 100 MB/s and 80 us; two readers of 4 KiB at depth 4, four writers of 64 KiB.
fn mixed(elevator: ElevatorKind, write_depth: u32) -> SimConfig {
    let mut cfg = config();
    let c = CappedConfig { rate: 100_000_000, latency_ns: 80_000, channels: 8, ..Default::default() };
    cfg.devices = vec![DeviceConfig { kind: DeviceKind::Capped(c), ..capped(0, 0) }];
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.elevator = elevator;
    q.nr_requests = 512;
    q.async_depth = if elevator == ElevatorKind::Kyber { 384 } else { 512 };
    cfg.stop.runtime_ns = Some(END);
    cfg.jobs = vec![job(Rw::RandRead, 4, 4); 2];
    cfg.jobs.extend(vec![job(Rw::RandWrite, 64, write_depth); 4]);
    cfg
}

/// Completions after the pools settled.
#[derive(Default)]
struct Seen {
    started: std::collections::HashMap<u32, u64>,
    /// D to C of reads, ns.
    reads: Vec<u64>,
    /// Q to C of reads, ns.
    whole: Vec<u64>,
    write_bytes: u64,
    queued: std::collections::HashMap<u32, u64>,
}

impl bioscope_core::observe::trace::TraceSink for Seen {
    fn record(&mut self, r: &TraceRecord) {
        match r.action {
            Action::Queue => _ = self.queued.insert(r.bio, r.time),
            Action::Issue => _ = self.started.insert(r.rq, r.time),
            Action::Complete => {
                let (d, q) = (self.started.remove(&r.rq), self.queued.remove(&r.bio));
                if r.time < SETTLED {
                } else if r.op == Op::Read {
                    self.reads.push(r.time - d.unwrap());
                    self.whole.extend(q.map(|q| r.time - q));
                } else {
                    self.write_bytes += u64::from(r.nr_sectors) * 512;
                }
            }
            _ => {}
        }
    }
}

fn mean(v: &[u64]) -> u64 {
    v.iter().sum::<u64>() / v.len().max(1) as u64
}

fn percentile(v: &mut [u64], percent: usize) -> u64 {
    v.sort_unstable();
    v[v.len() * percent / 100]
}

fn kyber(sim: &Simulation) -> KyberView {
    match &sim.snapshot().devices[0].elevator {
        ElevatorView::Kyber(k) => k.clone(),
        other => panic!("{other:?}"),
    }
}

fn run(cfg: SimConfig) -> (Simulation, Seen) {
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut seen = Seen::default();
    // Not to the end: jobs drain there.
    sim.advance(END - MS, 50_000_000, &mut seen);
    (sim, seen)
}

fn depths(k: &KyberView) -> [u32; 4] {
    [0, 1, 2, 3].map(|d| k.domains[d].depth)
}

/// 64 writes of 64 KiB take 5 ms together: slow for a read behind them, well for a write. Writes lose tokens until nine
/// reads of ten are back within their 2 ms, and the device has enough to do all the same.
#[test]
fn section_4_4_reads_are_sooner_than_with_mq_deadline_or_none() {
    let (sim, mut with) = run(mixed(ElevatorKind::Kyber, 16));
    let k = kyber(&sim);
    let [reads, writes, others @ ..] = depths(&k);
    assert_eq!((reads, others), (256, [64, 16]));
    assert!((8..=32).contains(&writes), "{writes}");
    assert!(k.domains[1].in_use <= writes);
    assert!(percentile(&mut with.reads, 90) <= 2 * MS);
    for other in [ElevatorKind::None, ElevatorKind::MqDeadline] {
        let (_, mut without) = run(mixed(other, 16));
        assert!(percentile(&mut without.reads, 90) > 4 * MS, "{other:?}");
        assert!(mean(&with.whole) * 2 < mean(&without.whole), "{other:?}");
        assert!(with.write_bytes * 100 > without.write_bytes * 95, "{other:?}");
    }
}

/// 256 writes take 21 ms together: they are late themselves, and who is late is not throttled, however slow reads are.
/// With a target they meet, they are.
#[test]
fn section_4_4_late_writes_are_not_throttled() {
    let (sim, late) = run(mixed(ElevatorKind::Kyber, 64));
    assert_eq!(depths(&kyber(&sim)), [256, 128, 64, 16]);
    let mut cfg = mixed(ElevatorKind::Kyber, 64);
    cfg.devices[0].queue.as_mut().unwrap().kyber.write_lat_ns = 100 * MS;
    let (sim, well) = run(cfg);
    assert!(depths(&kyber(&sim))[1] <= 32);
    assert!(mean(&well.whole) * 2 < mean(&late.whole));
}

/// Without writers nothing is slow, and nothing changes.
#[test]
fn section_4_4_readers_alone_keep_all_tokens() {
    let reads = |elevator| {
        let mut cfg = mixed(elevator, 16);
        cfg.jobs.truncate(2);
        run(cfg)
    };
    let (sim, with) = reads(ElevatorKind::Kyber);
    assert_eq!(depths(&kyber(&sim)), [256, 128, 64, 16]);
    assert_eq!(mean(&with.whole), mean(&reads(ElevatorKind::None).1.whole));
}

/// Hardware queues draw on the same tokens. They race for those that come free, so the last hundredth of the writes is
/// nearly late, and throttling ends earlier.
#[test]
fn section_4_4_hardware_queues_share_the_pools() {
    let on_four = |elevator| {
        let mut cfg = mixed(elevator, 16);
        cfg.devices[0].queue.as_mut().unwrap().nr_hw_queues = 4;
        run(cfg)
    };
    let (sim, with) = on_four(ElevatorKind::Kyber);
    let writes = &kyber(&sim).domains[1];
    assert!(writes.depth < 64 && writes.in_use <= writes.depth && writes.waiting);
    let (_, without) = on_four(ElevatorKind::None);
    assert!(mean(&with.whole) * 4 < mean(&without.whole) * 3);
    assert!(with.write_bytes * 100 > without.write_bytes * 95);
}
