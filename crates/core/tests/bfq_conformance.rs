//! bfq beside mq-deadline, whole runs on a disk (kernel 4.5): who gets how much, who waits how long.

mod common;

use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::trace::Action;
use bioscope_core::units::{IoClass, IoPrio, JobIdx, Op};
use common::*;

const SEC: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

const BOTH: [ElevatorKind; 2] = [ElevatorKind::Bfq, ElevatorKind::MqDeadline];

/// A conventional disk behind a scheduler; ten seconds.
fn disk(elevator: ElevatorKind, change: impl FnOnce(&mut BfqConfig)) -> SimConfig {
    let mut cfg = config();
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.elevator = elevator;
    q.async_depth = if elevator == ElevatorKind::Bfq { 48 } else { 64 };
    change(&mut q.bfq);
    let drive = cfg.devices[0].disk_mut().unwrap();
    let p = Arc::make_mut(&mut drive.profile);
    (p.zoned, p.nr_conv_zones) = (false, p.nr_zones);
    cfg.stop.runtime_ns = Some(10 * SEC);
    cfg
}

fn job(cfg: &mut SimConfig, rw: Rw, bs: u64, iodepth: u32, buffered: bool, level: Option<u8>) {
    let n = cfg.jobs.len() as u64;
    cfg.jobs.push(JobConfig {
        name: format!("job{n}"),
        dev: 0,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw,
            bs,
            bios: vec![],
            iodepth,
            batch: 1,
            first: n * 300 * ZONE,
            sectors: 250 * ZONE,
            io_bytes: None,
            buffered,
            nowait: false,
            fio: Default::default(),
        }),
        prio: level.map_or(IoPrio::default(), |level| IoPrio { class: IoClass::Be, level }),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    });
}

/// Sectors each job was served.
fn served(run: &Run) -> Vec<u64> {
    let mut sectors = vec![0; 8];
    for r in run.of(Action::Complete) {
        sectors[usize::from(r.job)] += u64::from(r.nr_sectors);
    }
    sectors
}

/// Longest and mean time from Q to C of a job's bios, ns.
fn latency(run: &Run, job: JobIdx) -> (u64, u64) {
    let of = |action| run.of(action).into_iter().filter(move |r| r.job == job && r.op == Op::Read);
    let done: Vec<_> = of(Action::Complete).collect();
    let times: Vec<u64> = of(Action::Queue)
        .filter_map(|q| done.iter().find(|c| c.sector == q.sector && c.time >= q.time).map(|c| c.time - q.time))
        .collect();
    (times.iter().copied().max().unwrap(), times.iter().sum::<u64>() / times.len() as u64)
}

#[test]
fn section_4_5_a_sequential_reader_beside_a_random_one() {
    for (depth, times) in [(1, 20), (32, 2)] {
        let [bfq, deadline] = BOTH.map(|elevator| {
            let mut cfg = disk(elevator, |b| b.low_latency = false);
            cfg.devices[0].queue.as_mut().unwrap().queue_depth = depth;
            job(&mut cfg, Rw::Read, 256, 1, false, None);
            job(&mut cfg, Rw::RandRead, 8, 16, false, None);
            served(&run(cfg))
        });
        // mq-deadline sends sixteen seeks between two requests of the sequential reader, bfq a turn's worth; with a
        // device that takes all at once the random one's have already gone when the other's turn comes.
        assert!(bfq[0] > times * deadline[0], "depth {depth}: {bfq:?} {deadline:?}");
        assert!(bfq[1] * 2 > deadline[1], "depth {depth}: {bfq:?} {deadline:?}");
    }
}

#[test]
fn section_4_5_weights_of_two_sequential_readers() {
    let [bfq, deadline] = BOTH.map(|elevator| {
        let mut cfg = disk(elevator, |b| b.low_latency = false);
        job(&mut cfg, Rw::Read, 256, 1, false, Some(0));
        job(&mut cfg, Rw::Read, 256, 1, false, Some(7));
        served(&run(cfg))
    });
    // Weights 80 and 10; waiting for each in turn spares the seeks between them, too.
    assert!((7 * bfq[1]..9 * bfq[1]).contains(&bfq[0]), "{bfq:?}");
    assert_eq!(deadline[0], deadline[1], "levels of one class mean nothing to mq-deadline");
    assert!(bfq[0] + bfq[1] > 10 * (deadline[0] + deadline[1]), "{bfq:?} {deadline:?}");

    let mut cfg = disk(ElevatorKind::Bfq, |b| (b.low_latency, b.slice_idle_ns) = (false, 0));
    job(&mut cfg, Rw::Read, 256, 1, false, Some(0));
    job(&mut cfg, Rw::Read, 256, 1, false, Some(7));
    let equal = served(&run(cfg));
    assert!(equal[0] < 2 * equal[1], "without waiting no weights: {equal:?}");
}

#[test]
fn section_4_5_an_interactive_reader_beside_a_writer() {
    let [bfq, deadline] = BOTH.map(|elevator| {
        let mut cfg = disk(elevator, |_| {});
        let drive = cfg.devices[0].disk_mut().unwrap();
        (drive.write_cache, drive.write_off_mode) = (false, WriteOffMode::Media);
        job(&mut cfg, Rw::Write, 2048, 128, true, None);
        let reads = (0..60).map(|i| {
            let place = write(0, 500 + i as u32 * 7, i * 8, 8);
            ListedBio { op: Op::Read, at: 3 * SEC + i * 100 * MS, ..place }
        });
        list(&mut cfg, reads.collect());
        let run = run(cfg);
        (latency(&run, 1), served(&run)[0])
    });
    let ((longest, mean), written) = bfq;
    assert!(longest * 4 < deadline.0.0 && mean * 4 < deadline.0.1, "{bfq:?} {deadline:?}");
    assert!(written * 10 > deadline.1 * 9, "it costs the writer little: {bfq:?} {deadline:?}");
}
