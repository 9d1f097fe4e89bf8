//! Laws of stacks: random arrays and targets over random members, with all workloads.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::check::{Cause, ZoneOrder};
use bioscope_core::observe::trace::{Action, TraceHash, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::Op;
use common::*;
use std::sync::Arc;

fn kernel(d: &mut Dice) -> KernelConfig {
    KernelConfig {
        split_insert: d.pick(&[SplitInsert::Head, SplitInsert::Tail]),
        bio_list_model: d.pick(&[BioListModel::TwoList, BioListModel::OneList]),
        plug: PlugConfig {
            order: d.pick(&[PlugOrder::Fifo, PlugOrder::Lifo]),
            merge: d.pick(&[PlugMerge::Newest, PlugMerge::Head]),
            flush_bytes: d.pick(&[65_536, 131_072, 1 << 20]),
            max_rq: d.pick(&[1, 16, 32]),
            multi_factor: d.pick(&[1, 2, 4]),
            per_step: d.flip(),
        },
        raid5_stripe_limit: d.flip(),
        md_chunk_limit: d.flip(),
        raid5_max_hw: d.flip(),
        raid5_spread: d.flip(),
        ..KernelConfig::default()
    }
}

fn stack(d: &mut Dice, n: u16) -> DeviceConfig {
    let chunk = d.pick(&[8, 64, 128, 1024]);
    let dm = |target, n: u16| DeviceConfig {
        kind: DeviceKind::Dm(DmConfig { target, members: (0..n).collect() }),
        ..array(MdLevel::Raid0, n, chunk, 1)
    };
    match d.below(7) {
        0 => array(MdLevel::Raid0, n, chunk, d.pick(&[1, 2])),
        1 => array(MdLevel::Raid1, n, chunk, 0),
        2 => array(MdLevel::Raid10, n, chunk, d.pick(&[2 | 1 << 8, 1 | 2 << 8, 1 | 2 << 8 | 1 << 16])),
        3 => array(MdLevel::Raid6, n.max(4), chunk, d.pick(&[0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 20])),
        4 => dm(DmTarget::Striped { chunk_sectors: chunk }, n),
        5 => dm(DmTarget::Crypt { max_read: 256, max_write: d.pick(&[0, 256]), sector_ns: d.pick(&[0, 20]) }, 1),
        _ => array(MdLevel::Raid5, n, chunk, d.pick(&[0, 1, 2, 3, 4, 5])),
    }
}

fn job(d: &mut Dice, dev: u16, n: u64) -> JobConfig {
    let bs = d.pick(&[8, 64, 896, 4096, 8960]);
    JobConfig {
        name: format!("job{n}"),
        dev,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw: d.pick(&[Rw::Read, Rw::RandRead, Rw::Write, Rw::RandWrite]),
            bs,
            bios: if d.flip() { vec![] } else { vec![(bs / 2 / 8 * 8).max(8) as u32] },
            iodepth: d.pick(&[1, 2, 16]),
            batch: d.pick(&[1, 4]),
            first: d.below(1000) * 8,
            sectors: 64 * 8960,
            io_bytes: Some(bs * 512 * d.pick(&[1, 7, 20])),
            buffered: d.flip(),
            nowait: d.below(8) == 0,
            fio: Default::default(),
        }),
        prio: Default::default(),
        bio_segment_bytes: d.pick(&[4096, 65_536, 2 << 20]),
        start_ns: d.below(1000),
        cgroup: Default::default(),
    }
}

fn scenario(seed: u64) -> SimConfig {
    let mut d = Dice(seed);
    let mut cfg = config();
    cfg.kernel = kernel(&mut d);
    let n = d.pick(&[2, 3, 4, 5, 8]).max(3);
    let latency_ns = d.pick(&[1, 10_000, 1_000_000]);
    cfg.devices = (0..n.max(4)).map(|n| capped(n, latency_ns)).collect();
    for dev in &mut cfg.devices {
        let q = dev.queue.as_mut().unwrap();
        q.nr_requests = d.pick(&[4, 32, 1024]);
        q.queue_depth = d.pick(&[1, 32, 1024]);
        q.elevator = d.pick(&[ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq]);
        q.nr_requests = if q.elevator == ElevatorKind::None { q.nr_requests.min(q.queue_depth) } else { q.nr_requests };
        q.async_depth = q.nr_requests;
        q.max_sectors = d.pick(&[64, 256, 2560]);
        q.nomerges = d.pick(&[0, 0, 1, 2]);
    }
    let mut top = stack(&mut d, n);
    if let DeviceKind::Md(m) = &mut top.kind {
        m.stripe_cache_size = d.pick(&[24, 64, 256]);
        m.rmw_level = d.pick(&[0, 1, 2]);
        m.data_offset = d.pick(&[0, 2048]);
    }
    if d.below(3) == 0 {
        top.throttle = Some(ThrottleConfig { rbps: 0, wbps: 50 << 20, riops: d.pick(&[0, 500]), wiops: 500 });
    }
    cfg.devices.push(top);
    let dev = cfg.devices.len() as u16 - 1;
    cfg.host.step_ns = d.pick(&[0, 1000]);
    cfg.host.md_wake_ns = d.pick(&[0, 20_000]);
    cfg.host.md_bio_ns = d.pick(&[0, 1000]);
    for n in 0..d.pick(&[1, 2, 4]) {
        let job = job(&mut d, dev, n);
        cfg.jobs.push(job);
    }
    cfg
}

#[test]
fn random_stacks_keep_the_laws() {
    for seed in 0..300 {
        let cfg = scenario(seed);
        let mut sim = Simulation::new(Arc::new(cfg.clone()));
        let mut sink = (Vec::new(), TraceHash::default());
        assert_eq!(sim.advance(u64::MAX, 20_000_000, &mut sink), Advance::Done, "{seed}: {cfg:#?}");
        let snap = sim.snapshot();
        assert_eq!(sim.bios_in_flight(), 0, "{seed}: every bio ended: {:#?}", snap.tasks);
        let records = sink.0;
        let count = |a: Action| records.iter().filter(|r| r.action == a).count();
        // A request is issued, or another took it in.
        assert!(count(Action::GetRq) - count(Action::Issue) <= count(Action::BackMerge), "{seed}: requests");
        for (d, c) in snap.devices.iter().zip(&cfg.devices) {
            assert_eq!(d.stats.in_flight, 0, "{seed}: {} counts down", d.name);
            assert!(d.tags.busy.iter().all(Option::is_none), "{seed}: tags");
            if let Some(cache) = &d.stripe_cache {
                assert_eq!(cache.active, 0, "{seed}: stripes");
            }
            if let (DeviceKind::Capped(_), Some(q)) = (&c.kind, &c.queue) {
                let dev = snap.devices.iter().position(|other| other.name == d.name).unwrap() as u16;
                for r in records.iter().filter(|r| r.dev == dev && r.action == Action::Issue) {
                    assert!(r.nr_sectors <= q.max_sectors, "{seed}: {r:?}");
                }
            }
        }
        let stats = sim.stats();
        let jobs = cfg.jobs.len() as u64;
        assert!(stats.total_ios + stats.nr_errors >= jobs, "{seed}: every job did something");
        let nowait = cfg.jobs.iter().any(|j| matches!(&j.workload, WorkloadConfig::Linear(l) if l.nowait));
        assert!(nowait || stats.nr_errors == 0, "{seed}: no error without a cause");
        // The same again, in slices, gives the same trace.
        if seed % 10 == 0 {
            let mut again = Simulation::new(Arc::new(cfg));
            let mut hash = TraceHash::default();
            while again.advance(u64::MAX, 7, &mut hash) != Advance::Done {
                again = again.clone();
            }
            assert_eq!(hash.hash, sink.1.hash, "{seed}: slices and clones");
        }
    }
}

/// Sequential writers of their own zones over a striped set of zoned disks, every bio cut twice: at max_sectors and at
/// its chunk.
fn zoned(seed: u64, insert: SplitInsert, throttle: Option<ThrottleConfig>) -> (ZoneOrder, bool) {
    let mut d = Dice(seed);
    let mut cfg = config();
    let n = d.pick(&[1, 2, 4]);
    cfg.kernel.split_insert = insert;
    cfg.kernel.md_chunk_limit = false;
    let disk = cfg.devices[0].clone();
    cfg.devices = (0..n).map(|n| DeviceConfig { name: format!("sd{n}"), dev: (8, n * 16), ..disk.clone() }).collect();
    let crypt = n == 1;
    let mut top = array(MdLevel::Raid0, n, d.pick(&[64, 128, 256]), 1);
    if crypt {
        let target = DmTarget::Crypt { max_read: 256, max_write: d.pick(&[0, 256]), sector_ns: 0 };
        top.kind = DeviceKind::Dm(DmConfig { target, members: vec![0] });
    }
    top.throttle = throttle;
    cfg.devices.push(top);
    // raid0's default of max_hw_sectors is its chunk: every unaligned bio is cut twice.
    cfg.host.step_ns = d.pick(&[0, 1000]);
    let start = u64::from(SEQ) * ZONE * u64::from(n);
    let mut bios = Vec::new();
    let mut sector = start;
    for at in 0..d.pick(&[3, 6]) {
        // Unaligned ends, whole blocks.
        let nr_sectors = 8 * (1 + d.below(400) as u32);
        bios.push(ListedBio {
            at: at * 1000,
            op: Op::Write,
            sector,
            nr_sectors,
            nowait: false,
            preflush: false,
            fua: false,
        });
        sector += u64::from(nr_sectors);
    }
    list(&mut cfg, bios);
    cfg.jobs[0].dev = n;
    let mut check = ZoneOrder::new(&cfg);
    let run = run(cfg);
    for r in &run.trace {
        check.record(r);
    }
    (check, crypt)
}

#[test]
fn zone_writes_ascend_with_remainders_at_the_head() {
    for seed in 0..300 {
        let (check, _) = zoned(seed, SplitInsert::Head, None);
        assert!(check.writes > 0 && check.found == 0, "{seed}: {:?}", check.violations);
    }
}

/// The same stacks with the remainder at the tail scramble, all but dm-crypt, which cuts once; and io.max takes bios
/// out of the order, which each violation says.
#[test]
fn zone_order_is_broken_by_the_tail_and_by_throttling() {
    let (mut by_tail, mut by_throttle) = (0, 0);
    for seed in 0..300 {
        let (check, crypt) = zoned(seed, SplitInsert::Tail, None);
        assert!(!crypt || check.found == 0, "{seed}: dm-crypt cuts once");
        assert!(check.violations.iter().all(|v| v.cause == Cause::Submitted && v.sector < v.behind), "{seed}");
        by_tail += u32::from(check.found > 0);
        let limits = ThrottleConfig { wiops: 20, ..ThrottleConfig::default() };
        let (check, _) = zoned(seed, SplitInsert::Head, Some(limits));
        assert!(check.violations.iter().all(|v| v.cause == Cause::Throttled), "{seed}: {:?}", check.violations);
        by_throttle += u32::from(check.found > 0);
    }
    assert!(by_tail > 20 && by_throttle > 0, "{by_tail} {by_throttle}");
}
