//! fio with zonemode=zbd on zoned devices, and jobs without it: reports 23, 28, 31 to 33 of the field, rows of published
//! tables 12 and 27, kernel 10.5 to 10.7.

mod common;

use std::collections::BTreeSet;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::JobState;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::units::{BlkStatus, Op};
use common::*;

/// Sectors of 256 KiB.
const BS: u64 = 512;
const KIB: u64 = 1024;

fn job_of(workload: WorkloadConfig) -> JobConfig {
    JobConfig {
        name: "fio".into(),
        dev: 0,
        workload,
        prio: Default::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    }
}

/// A job over the first `zones` sequential zones.
fn zbd(rw: Rw, zones: u32, ios: u64) -> FioZbdConfig {
    FioZbdConfig {
        rw,
        bs: BS,
        iodepth: 4,
        first_zone: SEQ,
        zones,
        io_bytes: Some(ios * BS * 512),
        ..FioZbdConfig::default()
    }
}

/// The disk of the other tests with jobs.
fn disk(jobs: Vec<FioZbdConfig>) -> SimConfig {
    let mut cfg = config();
    cfg.jobs = jobs.into_iter().map(|j| job_of(WorkloadConfig::FioZbd(j))).collect();
    cfg
}

fn change_profile(cfg: &mut SimConfig, change: impl FnOnce(&mut DriveProfile)) {
    let mut p = profile();
    change(&mut p);
    cfg.devices[0].disk_mut().unwrap().profile = std::sync::Arc::new(p);
}

/// 256 KiB writes in order from the start of the z-th sequential zone, as dd or fio with zonemode=none.
fn linear(tool: Tool, z: u32, iodepth: u32, ios: u64) -> LinearConfig {
    LinearConfig {
        tool,
        rw: Rw::Write,
        bs: BS,
        bios: vec![],
        iodepth,
        batch: 1,
        first: u64::from(SEQ + z) * ZONE,
        sectors: 8 * ZONE,
        io_bytes: Some(ios * BS * 512),
        buffered: false,
        nowait: false,
        fio: FioOptions::default(),
    }
}

fn queued(run: &Run, op: Op) -> Vec<TraceRecord> {
    run.of(Action::Queue).into_iter().filter(|r| r.op == op).collect()
}
fn zones_of(records: &[TraceRecord]) -> BTreeSet<u64> {
    records.iter().map(|r| r.sector / ZONE - u64::from(SEQ)).collect()
}

/// Most zones that were begun and not full at one time, by the writes queued.
fn most_open(run: &Run) -> usize {
    let mut open = BTreeSet::new();
    let mut most = 0;
    for r in queued(run, Op::Write) {
        let (zone, end) = (r.sector / ZONE, r.sector % ZONE + u64::from(r.nr_sectors));
        if end == ZONE {
            open.remove(&zone)
        } else {
            open.insert(zone)
        };
        most = most.max(open.len());
    }
    most
}

// ---- reports of the field ----

/// 32: max_open_zones=16 job_max_open_zones=1 read_beyond_wp=1, 16 jobs that only read.
#[test]
fn a_read_job_opens_no_zones() {
    let read = |first| FioZbdConfig {
        read_beyond_wp: true,
        max_open_zones: 16,
        job_max_open_zones: 1,
        first_zone: SEQ + first,
        ..zbd(Rw::RandRead, 4, 50)
    };
    let mut jobs: Vec<_> = (0..16).map(|n| read(n * 4)).collect();
    // A writer finds all sixteen left.
    jobs.push(FioZbdConfig { max_open_zones: 16, ..zbd(Rw::RandWrite, 64, 400) });
    let with_writer = run(disk(jobs.clone()));
    assert_eq!(with_writer.sim.stats().nr_errors, 0);
    assert_eq!(zones_of(&queued(&with_writer, Op::Write)).len(), 16);
    jobs.pop();
    let run = run(disk(jobs));
    assert_eq!((run.sim.stats().nr_errors, queued(&run, Op::Read).len()), (0, 16 * 50));
    let view = run.sim.snapshot();
    assert_eq!(view.devices[0].drive.nr_open, 0);
    assert!(view.jobs.iter().all(|j| j.locks.is_empty() && j.state == JobState::Done));
    // Reads go where they are drawn, over whole zones, and take no lock.
    assert!(queued(&run, Op::Read).iter().any(|r| r.sector % ZONE > ZONE * 9 / 10));
    assert!(run.of(Action::LockWait).is_empty());
}

#[test]
fn without_read_beyond_wp_empty_zones_are_not_read() {
    let run = run(disk(vec![zbd(Rw::RandRead, 16, 50), zbd(Rw::Read, 16, 50)]));
    assert!(queued(&run, Op::Read).is_empty());
    assert_eq!(run.sim.now(), 0);
}

/// 31: the device's limit of open zones bounds the zones that are written (fio 3.36); fio 3.13 did not know it.
#[test]
fn the_limit_of_open_zones_bounds_the_span_of_random_writes() {
    let write = |ignore_zone_limits, max_open_zones, ios| {
        let mut cfg =
            disk(vec![FioZbdConfig { ignore_zone_limits, max_open_zones, ..zbd(Rw::RandWrite, 900, ios) }; 2]);
        change_profile(&mut cfg, |p| p.max_open_zones = 8);
        run(cfg)
    };
    let (limited, own, ignored, own_anyway) =
        (write(false, 0, 400), write(false, 3, 100), write(true, 0, 400), write(true, 20, 400));
    for (run, zones) in [(&limited, 8), (&own, 3), (&own_anyway, 20)] {
        assert_eq!(zones_of(&queued(run, Op::Write)).len(), zones);
        assert_eq!(run.sim.stats().nr_errors, 0);
    }
    // The device closes zones by itself, so nothing fails; but the arm goes everywhere.
    assert!(zones_of(&queued(&ignored, Op::Write)).len() > 300);
    assert_eq!(ignored.sim.stats().nr_errors, 0);
    let seek = |run: &Run| run.sim.stats().drive.seek;
    assert!(seek(&limited) < seek(&ignored) / 2, "{} {}", seek(&limited), seek(&ignored));
}

/// 33: the gap between capacity and zone size is not written; the next write goes to the next zone.
#[test]
fn a_zone_is_written_up_to_its_capacity() {
    let capacity = ZONE - 10 * BS;
    let mut cfg = disk(vec![zbd(Rw::Write, 8, 3 * capacity / BS)]);
    change_profile(&mut cfg, |p| p.zone_capacity_sectors = capacity);
    let run = run(cfg);
    assert_eq!(run.sim.stats().nr_errors, 0);
    let writes = queued(&run, Op::Write);
    assert!(writes.iter().all(|w| w.sector % ZONE + u64::from(w.nr_sectors) <= capacity));
    let jumps: Vec<_> =
        writes.windows(2).filter(|w| w[1].sector != w[0].sector + BS).map(|w| w[1].sector - w[0].sector).collect();
    assert_eq!(jumps, [11 * BS; 2]);
}

#[test]
fn who_does_not_know_the_capacity_fails_behind_it() {
    let capacity = ZONE - 10 * BS;
    let mut cfg = config();
    cfg.jobs.push(job_of(WorkloadConfig::Linear(linear(Tool::Dd, 0, 1, 2 * ZONE / BS))));
    change_profile(&mut cfg, |p| p.zone_capacity_sectors = capacity);
    let run = run(cfg);
    assert_eq!(run.sim.stats().nr_errors, 1);
    assert_eq!(run.sim.stats().total_bytes, capacity * 512);
    assert_eq!(queued(&run, Op::Write).last().unwrap().sector % ZONE, capacity);
}

/// A block that does not divide the capacity: the rest is finished (fio 3.40 and later), nothing is written into it.
#[test]
fn a_rest_smaller_than_a_block_is_finished() {
    let bs = 1000;
    let per_zone = ZONE / bs;
    let job = FioZbdConfig { bs, io_bytes: Some(3 * per_zone * bs * 512), ..zbd(Rw::Write, 4, 0) };
    let mut cfg = disk(vec![job]);
    cfg.devices[0].queue.as_mut().unwrap().block_bytes = 512;
    let run = run(cfg);
    assert_eq!(run.sim.stats().nr_errors, 0);
    let finished: Vec<_> = queued(&run, Op::ZoneFinish).iter().map(|r| r.sector / ZONE - u64::from(SEQ)).collect();
    assert_eq!(finished, [0, 1]);
    let writes = queued(&run, Op::Write);
    assert_eq!(writes.len() as u64, 3 * per_zone);
    assert!(writes.iter().all(|w| w.sector % ZONE + u64::from(w.nr_sectors) <= ZONE));
}

/// 28: pages of a buffered writer are written back by two threads: sooner or later a piece comes before the one in front
/// of it, and the zone takes neither.
#[test]
fn buffered_writes_to_a_sequential_zone_fail() {
    for zone_ordering in [ZoneOrdering::Zwplug, ZoneOrdering::None] {
        let write = |buffered| {
            let mut cfg = disk(vec![FioZbdConfig { buffered, iodepth: 16, ..zbd(Rw::Write, 4, 200) }]);
            cfg.kernel.zone_ordering = zone_ordering;
            cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::None;
            run(cfg)
        };
        let (direct, flushed) = (write(false), write(true));
        assert_eq!(direct.sim.stats().nr_errors, 0);
        assert_eq!(queued(&direct, Op::Write).len(), 200);
        assert!(flushed.sim.stats().nr_errors > 0);
        let order = queued(&flushed, Op::Write);
        assert!(!order.is_sorted_by_key(|w| w.sector) && order.len() < 200);
        assert_eq!(flushed.sim.bios_in_flight(), 0);
        // What was kept in hand is submitted before the job ends.
        let mut sectors: Vec<_> = order.iter().map(|w| w.sector).collect();
        sectors.sort();
        assert!(sectors.windows(2).all(|s| s[1] == s[0] + BS));
    }
}

/// 23: dd oflag=sync bs=256k at 26.6 MB/s, without a cache that answers: each write waits for its turn to come round.
#[test]
fn each_synchronous_write_to_the_medium_costs_a_turn() {
    let write = |mode| {
        let mut cfg = config();
        cfg.jobs.push(job_of(WorkloadConfig::Linear(linear(Tool::Dd, 0, 1, 100))));
        // 256 KiB with zonemode=zbd: 164 MiB/s.
        change_profile(&mut cfg, |p| p.rate_outer = 164 << 20);
        let disk = cfg.devices[0].disk_mut().unwrap();
        (disk.write_cache, disk.write_off_mode) = (false, mode);
        run(cfg)
    };
    let medium = write(WriteOffMode::Media);
    assert_eq!(medium.sim.stats().nr_errors, 0);
    // A turn, and the time under the head by which the next sector has moved on.
    let (turn, transfer) = (8_333_333, BS * 512 * 1_000_000_000 / (164 << 20));
    let each = medium.sim.stats().lat.mean();
    assert!(each.abs_diff(turn + transfer) < 150_000, "{each}");
    let rate = medium.sim.stats().write_bytes * 1_000_000_000 / medium.sim.now();
    assert!(rate.abs_diff(26_600_000) < 400_000, "{rate}");
    assert!(write(WriteOffMode::Nonvolatile).sim.now() * 4 < medium.sim.now());
}

/// Beside readers that never pause, a write that only the medium answers goes once it is as old as a read may get.
#[test]
fn a_write_to_the_medium_does_not_starve_beside_readers() {
    let mut cfg = config();
    cfg.stop.runtime_ns = Some(5_000_000_000);
    cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::None;
    let disk = cfg.devices[0].disk_mut().unwrap();
    (disk.write_cache, disk.write_off_mode) = (false, WriteOffMode::Media);
    cfg.jobs.push(job_of(WorkloadConfig::Linear(linear(Tool::Dd, 0, 1, 10_000))));
    // Conventional zones: there is something to read everywhere.
    let read = LinearConfig {
        rw: Rw::RandRead,
        first: 0,
        sectors: u64::from(SEQ) * ZONE,
        io_bytes: None,
        ..linear(Tool::Fio, 0, 1, 0)
    };
    cfg.jobs.extend((0..4).map(|_| job_of(WorkloadConfig::Linear(read.clone()))));
    let age = profile().read_age_ns;
    let run = run(cfg);
    let writes: Vec<_> = run.of(Action::Complete).into_iter().filter(|r| r.op == Op::Write).collect();
    // Each waits for its age, the read under way and its own access.
    assert!(writes.windows(2).all(|w| w[1].time - w[0].time < age + 60_000_000), "{}", writes.len());
    assert!((35..50).contains(&writes.len()), "{}", writes.len());
}

// ---- rows of published tables ----

/// 12, last row: the same job without zonemode=zbd does not ask where the write pointer is.
#[test]
fn without_zonemode_a_written_zone_answers_with_an_error() {
    let mut cfg = config();
    list(&mut cfg, vec![write(0, 0, 0, BS as u32)]);
    cfg.jobs.push(job_of(WorkloadConfig::Linear(linear(Tool::Fio, 0, 8, 100))));
    cfg.jobs[1].start_ns = 1_000_000_000;
    let run = run(cfg);
    assert!(run.sim.stats().nr_errors > 0);
    assert_eq!(run.sim.stats().total_bytes, 256 * KIB);
    assert_eq!(run.sim.snapshot().jobs[1].state, JobState::Done);
    // In an empty zone the order of submission is the order of sectors, and nothing fails.
    let mut empty = config();
    empty.jobs.push(job_of(WorkloadConfig::Linear(linear(Tool::Fio, 0, 8, 100))));
    assert_eq!(common::run(empty).sim.stats().nr_errors, 0);
}

/// 12: reads of empty zones with read_beyond_wp=1, 353 MiB/s, are faster than those of data, 238 MiB/s: the interface
/// answers without the head.
#[test]
fn reads_of_empty_zones_are_as_fast_as_the_interface() {
    let read = |first_fill, read_beyond_wp, rate: u64| {
        let mut cfg = disk(vec![FioZbdConfig { iodepth: 8, read_beyond_wp, ..zbd(Rw::Read, 4, 4 * ZONE / BS) }]);
        change_profile(&mut cfg, |p| p.interface_rate = rate << 20);
        cfg.devices[0].disk_mut().unwrap().first_fill = first_fill;
        let run = run(cfg);
        assert_eq!((run.sim.stats().nr_errors, run.sim.stats().read_bytes), (0, 4 * ZONE * 512));
        let mib_s = (run.sim.stats().read_bytes >> 20) * 1_000_000_000 / run.sim.now();
        (mib_s, run.sim.stats().drive.transfer, run.of(Action::Transfer).len())
    };
    let (empty, _, transfers) = read(FirstFill::Empty, true, 360);
    assert!((345..360).contains(&empty) && transfers == 0, "{empty} {transfers}");
    for read_beyond_wp in [false, true] {
        let (full, head, _) = read(FirstFill::Full, read_beyond_wp, 360);
        assert!((220..246).contains(&full) && head > 0, "{full}");
    }
}

/// A read that begins below the write pointer is one of the medium; behind it, in the same zone, none.
#[test]
fn reads_of_a_zone_that_is_written_in_part() {
    let mut cfg = config();
    let read = |at, offset| ListedBio { op: Op::Read, ..write(at, 0, offset, BS as u32) };
    let later = 1_000_000_000;
    let half = BS / 2;
    list(&mut cfg, vec![write(0, 0, 0, 3 * half as u32), read(later, 0), read(2 * later, BS), read(3 * later, 2 * BS)]);
    let run = run(cfg);
    let reads: Vec<_> =
        run.of(Action::Transfer).into_iter().filter(|r| r.op == Op::Read).map(|r| r.sector % ZONE).collect();
    assert_eq!((reads, run.sim.stats().nr_errors), (vec![0, BS], 0));
}

/// 12: four full zones are reset, then written.
#[test]
fn a_rewrite_resets_full_zones() {
    let mut cfg = disk(vec![zbd(Rw::Write, 8, 4 * ZONE / BS)]);
    cfg.devices[0].disk_mut().unwrap().first_fill = FirstFill::Full;
    let run = run(cfg);
    assert_eq!((run.sim.stats().nr_errors, run.sim.stats().nr_resets), (0, 4));
}

/// 27: a size, and an io_size of several times as much: the range is written again, each zone being reset before.
#[test]
fn what_exceeds_the_range_starts_again_and_resets() {
    let zones = 3;
    let ios = 2 * u64::from(zones) * ZONE / BS;
    let run = run(disk(vec![zbd(Rw::Write, zones, ios + 1)]));
    assert_eq!(run.sim.stats().nr_errors, 0);
    assert_eq!(queued(&run, Op::Write).len() as u64, ios + 1);
    let resets: Vec<_> = queued(&run, Op::ZoneReset).iter().map(|r| r.sector / ZONE - u64::from(SEQ)).collect();
    assert_eq!(resets, [0, 1, 2, 0]);
}

// ---- kernel 10.5 to 10.7 ----

#[test]
fn section_10_5_a_batch_shares_a_plug() {
    // Zone writes would wait in their zone's plug, or before 6.10 ignore the task's.
    let job = FioZbdConfig { bs: 8, iodepth: 64, batch: 16, read_beyond_wp: true, ..zbd(Rw::Read, 4, 0) };
    let mut cfg = disk(vec![FioZbdConfig { io_bytes: Some(64 * 4096), ..job }]);
    cfg.devices[0].queue.as_mut().unwrap().nomerges = 2;
    cfg.host.submit_ns = 100;
    let run = run(cfg);
    let plugged: Vec<_> = run.of(Action::Unplug).iter().map(|r| r.arg).collect();
    assert_eq!(plugged, [16; 4]);
    assert_eq!(run.sim.stats().nr_errors, 0);
}

/// With a depth that is no multiple of the batch, and before a reset, what is queued goes out first.
#[test]
fn section_10_5_what_is_queued_goes_out_before_the_job_waits() {
    for irqmode in [NullIrq::None, NullIrq::Softirq, NullIrq::Timer] {
        let job = FioZbdConfig { bs: 8, iodepth: 10, batch: 16, first_zone: 0, ..zbd(Rw::Write, 2, 0) };
        let mut cfg = null_blk(vec![FioZbdConfig { io_bytes: Some(3 * 2048 * 512), ..job }], irqmode);
        shape(&mut cfg).zone_sectors = 1024;
        shape(&mut cfg).capacity = 1000;
        let run = run(cfg);
        assert_eq!(run.sim.bios_in_flight(), 0);
        assert_eq!(queued(&run, Op::Write).len(), 3 * 256);
        assert_eq!(run.sim.stats().nr_errors, 0);
        assert!(run.sim.stats().nr_resets > 2);
    }
}

#[test]
fn section_10_7_a_job_keeps_to_its_own_limit() {
    let job = FioZbdConfig { job_max_open_zones: 1, ..zbd(Rw::RandWrite, 30, 400) };
    let mut cfg = disk(vec![job; 3]);
    // Each its own range: nobody may write to another's zone.
    for (n, job) in (0..).zip(&mut cfg.jobs) {
        let WorkloadConfig::FioZbd(fio) = &mut job.workload else { unreachable!() };
        fio.first_zone = SEQ + n * 30;
    }
    let run = run(cfg);
    assert_eq!(run.sim.stats().nr_errors, 0);
    assert_eq!(queued(&run, Op::Write).len(), 1200);
    assert_eq!(most_open(&run), 3);
    // A zone that is full makes room: 400 writes are more than one zone's 256.
    assert_eq!(zones_of(&queued(&run, Op::Write)).len(), 6);
}

/// Two jobs, one zone, no limit: the owner keeps the zone through its resets and the other starves.
#[test]
fn section_10_7_without_a_limit_the_owner_keeps_the_zone() {
    let writers = |max_open_zones| {
        let job = FioZbdConfig { max_open_zones, io_bytes: Some(3 * ZONE * 512), ..zbd(Rw::RandWrite, 1, 0) };
        let mut cfg = disk(vec![job; 2]);
        change_profile(&mut cfg, |p| p.max_open_zones = 0);
        cfg.kernel.zone_ordering = ZoneOrdering::None;
        cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::None;
        let run = run(cfg);
        assert_eq!(run.sim.stats().nr_errors, 0);
        let mut turns: Vec<_> = queued(&run, Op::Write).iter().map(|r| r.job).collect();
        turns.dedup();
        turns.len()
    };
    assert_eq!(writers(0), 2);
    assert!(writers(1) >= 2);
}

/// queue/max_open_zones of a device without limits is the number of guaranteed zone write plugs.
#[test]
fn section_5_1_a_device_without_limits_advertises_the_pool_of_plugs() {
    let zones_written = |ordering| {
        let mut cfg = disk(vec![FioZbdConfig { bs: 8, ..zbd(Rw::RandWrite, 900, 40) }]);
        change_profile(&mut cfg, |p| p.max_open_zones = 0);
        let WorkloadConfig::FioZbd(job) = &mut cfg.jobs[0].workload else { unreachable!() };
        job.io_bytes = Some(1000 * 4096);
        cfg.kernel.zone_ordering = ordering;
        zones_of(&queued(&run(cfg), Op::Write)).len()
    };
    assert_eq!(zones_written(ZoneOrdering::Zwplug), 128);
    assert!(zones_written(ZoneOrdering::ZoneLock) > 500);
    let shape = ZoneShape::of_profile(&DriveProfile { max_open_zones: 0, ..profile() });
    let small = ZoneShape { nr_zones: 128 + shape.nr_conv, ..shape };
    assert_eq!(small.advertised_max_open(ZoneOrdering::Zwplug), 0);
    let active = ZoneShape { max_active: 200, ..shape };
    assert_eq!(active.advertised_max_open(ZoneOrdering::Zwplug), 0);
    assert_eq!(ZoneShape { max_open: 14, ..shape }.advertised_max_open(ZoneOrdering::Zwplug), 14);
}

/// Conventional zones have no lock: anything goes anywhere in them, and only there.
#[test]
fn section_10_7_conventional_zones_are_written_anywhere() {
    let mut cfg = disk(vec![FioZbdConfig { first_zone: SEQ - 2, ..zbd(Rw::RandWrite, 4, 400) }; 2]);
    cfg.kernel.zone_ordering = ZoneOrdering::Zwplug;
    let run = run(cfg);
    assert_eq!(run.sim.stats().nr_errors, 0);
    let writes = queued(&run, Op::Write);
    let of = |zone: u32| writes.iter().filter(move |w| w.sector / ZONE == u64::from(zone)).map(|w| w.sector);
    assert!(of(SEQ).is_sorted() && of(SEQ + 1).is_sorted());
    assert!(!of(SEQ - 1).is_sorted() && of(SEQ - 1).any(|s| s % ZONE > ZONE / 2));
    assert!((SEQ - 2..SEQ + 2).all(|zone| of(zone).count() > 50));
    // In order: through the conventional zones, then on.
    let run = common::run(disk(vec![FioZbdConfig { first_zone: SEQ - 1, ..zbd(Rw::Write, 2, 2 * ZONE / BS) }]));
    let writes = queued(&run, Op::Write);
    assert!(writes.windows(2).all(|w| w[1].sector == w[0].sector + BS));
    assert_eq!((run.sim.stats().nr_errors, run.sim.stats().nr_resets), (0, 0));
}

/// The first I/O of a mix is a write; reads stay below the write pointer.
#[test]
fn section_10_7_a_mix_begins_with_a_write() {
    for rwmixread in [50, 90] {
        let run = run(disk(vec![FioZbdConfig { rwmixread, ..zbd(Rw::RandRw, 6, 600) }]));
        assert_eq!(run.sim.stats().nr_errors, 0);
        let ios: Vec<_> = run.of(Action::Queue).into_iter().filter(|r| matches!(r.op, Op::Read | Op::Write)).collect();
        assert_eq!((ios.len(), ios[0].op), (600, Op::Write));
        let reads = ios.iter().filter(|r| r.op == Op::Read).count() as u64;
        assert!(reads.abs_diff(6 * u64::from(rwmixread)) < 40, "{reads}");
        let mut wp = std::collections::BTreeMap::new();
        for r in ios {
            let (zone, end) = (r.sector / ZONE, r.sector % ZONE + u64::from(r.nr_sectors));
            match r.op {
                Op::Write => assert_eq!(wp.insert(zone, end).unwrap_or(0) + BS, end),
                _ => assert!(wp[&zone] >= end),
            }
        }
    }
}

/// In order, each direction goes on where it was, and a reader that has caught up with the writer finds nothing more:
/// fio takes that for the end of the file.
#[test]
fn section_10_7_a_mix_in_order_ends_where_there_is_nothing_to_read() {
    let run = run(disk(vec![FioZbdConfig { rwmixread: 70, ..zbd(Rw::ReadWrite, 6, 600) }]));
    for op in [Op::Read, Op::Write] {
        let ios = queued(&run, op);
        assert!(ios.windows(2).all(|w| w[1].sector == w[0].sector + BS));
    }
    let (reads, writes) = (queued(&run, Op::Read).len(), queued(&run, Op::Write).len());
    assert_eq!((run.sim.stats().nr_errors, reads + writes < 600), (0, true));
    assert_eq!(reads, writes);
}

/// recover_zbd_write_error=0 and continue_on_error=none: the error ends the job, its locks are free.
#[test]
fn section_10_7_a_failed_write_ends_the_job() {
    let mut cfg = disk(vec![zbd(Rw::RandWrite, 4, 1000); 2]);
    cfg.faults.push(FaultRule {
        dev: 0,
        sector: u64::from(SEQ) * ZONE + 10 * BS,
        nr_sectors: 1,
        from: 0,
        until: u64::MAX,
        status: BlkStatus::Medium,
    });
    let run = run(cfg);
    let view = run.sim.snapshot();
    assert!(run.sim.stats().nr_errors > 0);
    assert!(view.jobs.iter().all(|j| j.state == JobState::Done && j.locks.is_empty()));
    assert!(queued(&run, Op::Write).len() < 2000);
}

// ---- null_blk ----

/// A zoned null_blk of 64 zones of 1 MiB with zone write plugs.
fn null_blk(jobs: Vec<FioZbdConfig>, irqmode: NullIrq) -> SimConfig {
    let mut cfg = config();
    cfg.devices[0] = DeviceConfig {
        name: "nullb0".into(),
        dev: (252, 0),
        kind: DeviceKind::NullBlk(NullBlkConfig {
            irqmode,
            zones: Some(ZonesConfig {
                shape: ZoneShape {
                    zone_sectors: 2048,
                    capacity: 2048,
                    nr_zones: 64,
                    nr_conv: 0,
                    max_open: 0,
                    max_active: 0,
                    append_max_sectors: 0,
                },
                full: false,
                readonly: vec![],
                offline: vec![],
            }),
            ..NullBlkConfig::default()
        }),
        ..capped(0, 0)
    };
    cfg.host.submit_ns = 1000;
    cfg.host.issue_ns = 1000;
    cfg.jobs = jobs.into_iter().map(|j| job_of(WorkloadConfig::FioZbd(j))).collect();
    cfg
}

fn zones(cfg: &mut SimConfig) -> &mut ZonesConfig {
    let DeviceKind::NullBlk(n) = &mut cfg.devices[0].kind else { unreachable!() };
    n.zones.as_mut().unwrap()
}
fn shape(cfg: &mut SimConfig) -> &mut ZoneShape {
    &mut zones(cfg).shape
}

/// `n` 4 KiB I/Os over all zones of [`null_blk`].
fn small(rw: Rw, n: u64) -> FioZbdConfig {
    FioZbdConfig { rw, bs: 8, iodepth: 8, zones: 64, io_bytes: Some(n * 4096), ..FioZbdConfig::default() }
}

/// Zones of 1 MiB that I/Os of an operation went to.
fn small_zones(run: &Run, op: Op) -> BTreeSet<u64> {
    queued(run, op).iter().map(|r| r.sector / 2048).collect()
}

/// fio takes read-only zones for offline ones and uses neither; all others are written and read.
#[test]
fn section_6_2_zones_that_are_read_only_or_offline_are_passed_over() {
    for rw in [Rw::Write, Rw::RandWrite, Rw::RandRead] {
        for max_open in [0, 3] {
            let mut cfg = null_blk(vec![small(rw, 61 * 256); 2], NullIrq::Timer);
            shape(&mut cfg).max_open = max_open;
            zones(&mut cfg).full = rw == Rw::RandRead;
            zones(&mut cfg).readonly = vec![0, 5];
            zones(&mut cfg).offline = vec![6];
            let run = run(cfg);
            assert_eq!((run.sim.stats().nr_errors, run.sim.bios_in_flight()), (0, 0), "{rw:?} {max_open}");
            let used = small_zones(&run, if rw.reads() { Op::Read } else { Op::Write });
            let all: BTreeSet<u64> = (0..64).filter(|z| ![0, 5, 6].contains(z)).collect();
            // With a limit, random writes fill what is open and go on behind it: chance leaves some zones out.
            let few = rw == Rw::RandWrite && max_open > 0;
            assert!(used == all || few && used.is_subset(&all) && used.len() > 30, "{rw:?} {max_open}: {used:?}");
        }
    }
}

/// Where no zone can be used, jobs do not wait for each other.
#[test]
fn section_6_2_without_a_usable_zone_jobs_end() {
    for rw in [Rw::Write, Rw::RandWrite, Rw::Read, Rw::RandRead, Rw::RandRw] {
        for max_open in [0, 3] {
            let mut cfg = null_blk(vec![small(rw, 100); 3], NullIrq::Timer);
            shape(&mut cfg).max_open = max_open;
            zones(&mut cfg).readonly = (0..32).collect();
            zones(&mut cfg).offline = (32..64).collect();
            let run = run(cfg);
            assert_eq!((run.sim.stats().nr_errors, run.sim.stats().total_ios), (0, 0), "{rw:?} {max_open}");
        }
    }
}

/// A reader in order that comes to an unusable zone looks for data from the next one on; if that is unusable too, fio
/// takes it for the end.
#[test]
fn section_6_2_a_read_in_order_ends_at_two_offline_zones() {
    let mut cfg = null_blk(vec![small(Rw::Read, 64 * 256)], NullIrq::Softirq);
    zones(&mut cfg).full = true;
    zones(&mut cfg).offline = vec![0, 9, 20, 21];
    let run = run(cfg);
    assert_eq!(small_zones(&run, Op::Read), (1..20).filter(|z| *z != 9).collect());
    assert_eq!((run.sim.stats().nr_errors, run.sim.stats().total_ios), (0, 18 * 256));
}

/// Full zones (zone_full) are reset before they are written, and read as they are.
#[test]
fn section_6_2_full_zones_are_reset_before_they_are_written() {
    for rw in [Rw::Write, Rw::RandWrite, Rw::Read] {
        let mut cfg = null_blk(vec![small(rw, 1000)], NullIrq::Timer);
        zones(&mut cfg).full = true;
        let run = run(cfg);
        assert_eq!((run.sim.stats().nr_errors, run.sim.stats().total_ios), (0, 1000));
        let written = if rw.writes() { small_zones(&run, Op::Write) } else { BTreeSet::new() };
        assert_eq!(small_zones(&run, Op::ZoneReset), written);
    }
}

/// 12 and 10.5: without zonemode=zbd null_blk takes what happens to be in order, and nothing else.
#[test]
fn section_10_5_without_zonemode_only_writes_in_order_succeed() {
    for (rw, fails) in [(Rw::Write, false), (Rw::RandWrite, true), (Rw::RandRead, false)] {
        let mut cfg = null_blk(vec![], NullIrq::Timer);
        let job = LinearConfig { rw, bs: 8, first: 0, sectors: 64 * 2048, ..linear(Tool::Fio, 0, 8, 0) };
        cfg.jobs.push(job_of(WorkloadConfig::Linear(LinearConfig { io_bytes: Some(1000 * 4096), ..job })));
        let run = run(cfg);
        assert_eq!(run.sim.stats().nr_errors > 0, fails, "{rw:?}");
        assert_eq!(run.sim.stats().total_ios < 1000, fails, "{rw:?}");
    }
}

/// A file system that appends: native, many are in flight in a zone and land in the order the device takes them;
/// emulated, the block layer makes writes of them. The job learns where each went.
#[test]
fn section_6_2_appends_fill_zones_without_gaps() {
    for append_max_sectors in [0, 8, 16] {
        for max_open in [0, 2] {
            let job = FioZbdConfig { append: true, bs: 16, io_bytes: Some(64 * 2048 * 512), ..small(Rw::RandWrite, 0) };
            let mut cfg = null_blk(vec![job; 3], NullIrq::Timer);
            *shape(&mut cfg) = ZoneShape { append_max_sectors, max_open, ..*shape(&mut cfg) };
            let run = run(cfg);
            assert_eq!((run.sim.stats().nr_errors, run.sim.bios_in_flight()), (0, 0));
            let appends = queued(&run, Op::ZoneAppend);
            // Each names the start of its zone, and none is larger than one append may be.
            let len = if append_max_sectors == 8 { 8 } else { 16 };
            assert!(appends.iter().all(|r| r.sector % 2048 == 0 && r.nr_sectors == len));
            // Three times the device: zones were filled and reset, all where no limit makes some come again sooner.
            let reset = small_zones(&run, Op::ZoneReset).len();
            assert!(reset == 64 || max_open > 0 && reset > 20, "{reset}");
            let mut at_device = [0u32; 64];
            let mut most = 0;
            for r in run.trace.iter().filter(|r| matches!(r.op, Op::ZoneAppend | Op::Write)) {
                let n = &mut at_device[(r.sector / 2048) as usize];
                match r.action {
                    Action::Issue => *n += 1,
                    Action::Complete => *n -= 1,
                    _ => continue,
                }
                most = most.max(*n);
            }
            assert_eq!(most > 1, append_max_sectors > 0, "{most}");
        }
    }
}
