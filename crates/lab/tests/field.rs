//! Questions from the field: each link of that page answers what it says.

use std::collections::BTreeSet;
use std::sync::Arc;

use bioscope_core::observe::gaps::Gaps;
use bioscope_core::observe::snapshot::{DiskStats, JobState, Snapshot};
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_scenario::{Side, decode, validate};

const PAGE: &str = include_str!("../../../docs/src/field.md");

struct Run {
    trace: Vec<TraceRecord>,
    devices: Vec<(String, DiskStats)>,
}

/// A link of the page, with more settings.
fn simulation(link: &str, more: &str) -> Simulation {
    assert!(PAGE.contains(&format!("#v=1&{link})")), "not on the page: {link}");
    let (s, problems) = decode(&format!("{link}{more}"));
    assert!(problems.is_empty(), "{problems:?}");
    Simulation::new(Arc::new(validate(&s, Side::A).unwrap()))
}

/// Runs it to its end; for runs of many records: what is left at the end, and the sequential share, percent.
fn end_of(link: &str, more: &str) -> (Snapshot, f64) {
    let mut sim = simulation(link, more);
    let mut gaps = Gaps::default();
    assert_eq!(sim.advance(u64::MAX, 50_000_000, &mut gaps), Advance::Done);
    (sim.snapshot(), f64::from(gaps.all().sequential().unwrap()) / 100.0)
}

/// What is left at its end.
fn simulation_end(link: &str) -> Snapshot {
    let mut sim = simulation(link, "");
    assert_eq!(sim.advance(u64::MAX, 5_000_000, &mut ()), Advance::Done);
    sim.snapshot()
}

/// Runs it to its end.
fn run(link: &str, more: &str) -> Run {
    records(simulation(link, more))
}

/// Runs what is no link of the page.
fn run_of(settings: &str) -> Run {
    let (s, problems) = decode(settings);
    assert!(problems.is_empty(), "{problems:?}");
    records(Simulation::new(Arc::new(validate(&s, Side::A).unwrap())))
}

fn records(mut sim: Simulation) -> Run {
    let mut trace = Vec::new();
    assert_eq!(sim.advance(u64::MAX, 5_000_000, &mut trace), Advance::Done);
    let devices = sim.snapshot().devices.into_iter().map(|d| (d.name, d.window)).collect();
    Run { trace, devices }
}

impl Run {
    fn of(&self, action: Action) -> Vec<&TraceRecord> {
        self.trace.iter().filter(|r| r.action == action).collect()
    }
    /// Sizes of the array's parts in the order in which they reach the members.
    fn parts(&self) -> Vec<(u64, u32)> {
        self.of(Action::Remap).iter().map(|r| (r.arg, r.nr_sectors)).collect()
    }
}

/// 3: large unaligned writes to raid0 are slow: tails of split bios are issued last, in reverse.
#[test]
fn tails_of_raid0_come_last_and_in_reverse() {
    let link = "p=raid0-unaligned";
    let parts = run(link, "&b=0").parts();
    let (long, tails) = parts.split_at(62);
    assert!(long.iter().all(|p| p.1 >= 928) && long.is_sorted() && tails.iter().all(|p| p.1 == 8));
    assert!(tails.len() == 61 && tails.iter().rev().is_sorted());
    let parts = run(link, "&b=0&split_insert=head").parts();
    assert!(parts.len() == 123 && parts.is_sorted());
    let sizes: Vec<u32> = parts.iter().map(|p| p.1).collect();
    assert_eq!(sizes[..6], [1016, 8, 1016, 8, 1016, 8]);
}

/// 4: a check of a raid6 of 36 disks reads 4 KiB at a time.
#[test]
fn a_check_merges_while_the_plug_has_room_for_every_member() {
    let mean_kib = |more: &str| {
        let r = run("p=raid6-check-36", &format!("&b=0{more}"));
        let (name, d) = &r.devices[0];
        assert_eq!(name, "sda");
        d.sectors[0] as f64 / 2.0 / d.ios[0] as f64
    };
    assert_eq!(mean_kib(""), 4.0);
    assert_eq!(mean_kib("&raid_disks=17"), 4.0);
    assert!(mean_kib("&raid_disks=16") > 300.0);
    assert!(mean_kib("&plug_multi_factor=4") > 300.0);
}

/// 18: dm-crypt over a zoned disk splits writes, and their remainders are plugged behind themselves.
#[test]
fn what_dm_crypt_cuts_off_waits_in_the_zone_write_plug() {
    let link = "workload=dd&count=1&bios=1MiB&max_segments=256&stack=dm-crypt&max_write_size=128KiB";
    let r = run(link, "");
    let cuts = r.of(Action::Split);
    assert!(cuts.len() == 7 && cuts.iter().all(|c| c.dev == 1 && c.arg - c.sector == 256));
    let plugged: Vec<u32> = r.of(Action::ZonePlug).iter().map(|p| p.nr_sectors).collect();
    assert_eq!(plugged, [256; 7]);
    // As 7.1 does it: the target cuts nothing there, and neither does the disk.
    let r = run("workload=dd&count=1&bios=1MiB&max_segments=256&stack=dm-crypt", "");
    assert_eq!((r.of(Action::Split).len(), r.of(Action::ZonePlug).len()), (0, 0));
    let issued: Vec<u32> = r.of(Action::Issue).iter().map(|d| d.nr_sectors).collect();
    assert_eq!(issued, [2048]);
}

/// 41: contiguous writes of 44 KiB do not merge although the scheduler is mq-deadline.
#[test]
fn small_writes_merge_in_a_plug_or_before_a_busy_device() {
    let link = "bs=44KiB&iodepth=4&size=1760KiB&bios=44KiB&drive=capped&cap_latency_ns=200us";
    let r = run(link, "");
    let letters: String = r.trace.iter().map(|r| r.action.letter()).take(12).collect();
    assert_eq!(letters, "QGPUIDQGPUID");
    assert_eq!((r.of(Action::BackMerge).len(), r.of(Action::Issue).len()), (0, 40));
    // Four under one plug, and a device that takes one at a time.
    let plugged = run(link, "&iodepth_batch=4&iodepth_batch_complete_min=4");
    assert!(plugged.of(Action::BackMerge).len() >= 20);
    let busy = run(link, "&cap_rate=20MiB/s&queue_depth=1&nr_requests=64");
    // One request has left the scheduler and waits for the driver tag: of four, one merges every other time.
    assert!(busy.of(Action::BackMerge).len() >= 10);
}

/// 5: a command that is no NCQ command beside reads.
#[test]
fn a_pass_through_command_waits_for_a_drain_or_for_ever() {
    let link = "rw=randread&bs=4KiB&iodepth=32&drive=cmr-8tb&passthrough_every=1s&runtime=60s";
    let one = end_of(link, "").0.stats;
    let (mean, longest) = (one.pass_through.mean(), one.pass_through_max);
    assert!(one.pass_through.n >= 59, "one a second: {}", one.pass_through.n);
    assert!((150_000_000..250_000_000).contains(&mean) && longest < 400_000_000, "{mean} {longest}");
    // Without scheduler reads pass hctx->dispatch by.
    assert!(end_of(link, "&scheduler=none").0.stats.pass_through_max > 60_000_000_000);
    let link = "rw=randread&bs=4KiB&iodepth=32&numjobs=8&drive=cmr-8tb&hba=mpi3mr&queue_depth=32&nr_hw_queues=4&passthrough_every=1s&runtime=60s";
    let several = end_of(link, "").0.stats;
    assert!(several.pass_through.n == 1 && several.pass_through_max > 60_000_000_000, "{:?}", several.pass_through);
}

/// 8: read IOPS of two sequential streams with nr_requests below and at the device's queue depth.
#[test]
fn what_the_device_takes_at_once_cannot_merge() {
    let link = "p=two-readers-nr-requests";
    let of = |more: &str| {
        let (s, _) = end_of(link, &format!("&b=0{more}"));
        (s.stats.nr_merges, s.devices[0].window, s.stats.iops())
    };
    let (merges, _, iops) = of("");
    assert_eq!(merges, 0, "256 requests, and a device of 256");
    let (merges, d, more) = of("&nr_requests=512");
    let kib = d.sectors[0] as f64 / 2.0 / d.ios[0] as f64;
    assert!(merges > 20_000 && kib > 7.0 && more > 1.3 * iops, "{merges} {kib} {more}");
    // The other way round: a device that takes less.
    let (merges, ..) = of("&queue_depth=128");
    assert!(merges > 20_000, "{merges}");
}

/// 9: reads in four pieces by many jobs.
#[test]
fn many_jobs_sleep_more_and_their_pieces_come_apart() {
    let of = |jobs: u32| {
        let (s, sequential) = end_of("p=hdd-split-jobs", &format!("&b=0&numjobs={jobs}"));
        (s.stats.iops(), sequential, s.stats.nr_wakeups as f64 / s.stats.total_ios as f64)
    };
    let (one, many, more) = (of(1), of(24), of(48));
    assert!(one.1 > 74.0 && many.1 < 25.0 && more.1 < many.1, "{one:?} {many:?} {more:?}");
    assert!(one.2 < 0.6 && many.2 > 2.0 && more.2 > 3.5, "{one:?} {many:?} {more:?}");
    assert!(many.0 < 0.95 * one.0 && more.0 < many.0, "{one:?} {many:?} {more:?}");
}

/// 10: levels of the eight wait queues: at no moment further apart than what is woken at once, and whenever each had its
/// turn, by one at most.
#[test]
fn wait_queues_hold_all_jobs_without_a_tag_and_are_level() {
    let link = "rw=randread&bs=4KiB&numjobs=512&nr_requests=64&queue_depth=32&drive=capped&cap_iops=10000&cap_rate=0&runtime=2s&t=1s";
    for (more, batch) in [
        ("", 8),
        ("&async_depth=8", 1),
        ("&wake_spread_ns=1ms", 8),
        ("&sbitmap_wake=per_queue", 8),
        ("&sbitmap_wake=per_queue&async_depth=8", 1),
    ] {
        let mut sim = simulation(link, more);
        let (mut index, mut rounds) = (0, 0);
        while sim.now() < 200_000_000 {
            sim.advance(u64::MAX, 1, &mut ());
            let s = sim.snapshot();
            let tags = s.devices[0].sched_tags.as_ref().unwrap();
            let levels = tags.ws.each_ref().map(Vec::len);
            let asleep: usize = levels.iter().sum();
            assert_eq!(tags.wake_batch as usize, batch);
            if sim.now() < 10_000_000 {
                continue;
            }
            // One I/O a job: who has no tag is asleep, or was woken and runs soon, or is between two I/Os.
            let holders = tags.busy.iter().flatten().count();
            assert_eq!(asleep, s.jobs.iter().filter(|j| j.state == JobState::WaitTag).count() - woken(&s), "{more}");
            let active = tags.ws_active as usize;
            assert!(asleep <= 512 - holders && (448 - batch..=448).contains(&active), "{more}: {asleep} {active}");
            let apart = levels.iter().max().unwrap() - levels.iter().min().unwrap();
            assert!(apart <= batch, "{more} at {}: {levels:?}", s.now);
            if tags.wake_index == 0 && index != 0 {
                assert!(apart <= 1, "{more} at {}: {levels:?}", s.now);
                rounds += 1;
            }
            index = tags.wake_index;
        }
        assert!(rounds >= 25, "{more}: {rounds}");
    }
}

/// Woken, and not yet run.
fn woken(s: &Snapshot) -> usize {
    let tags = s.devices[0].sched_tags.as_ref().unwrap();
    tags.ws_active as usize - tags.waiters as usize
}

/// 11: a waiter that comes after the last tag was freed.
#[test]
fn a_lost_wake_up_is_found_with_its_queue() {
    let link = "rw=randrw&bs=4KiB&numjobs=40&drive=capped&queue_depth=1&scheduler=none&hba=mpi3mr&nr_hw_queues=4&runtime=1s&lost_wakeup=late_waiter&lost_wakeup_at=100ms";
    let (s, _) = end_of(link, "");
    let d = &s.devices[0];
    let stall = d.stall.expect("found");
    assert_eq!((s.stats.nr_stalls, stall.wake_batch, stall.waiters), (1, 1, 1));
    assert!(d.tags.busy.iter().all(Option::is_none) && d.tags.waiters == 1, "tags are free");
    let asleep: Vec<_> = s.jobs.iter().filter(|j| j.state != JobState::Done).collect();
    assert!(asleep.len() == 1 && asleep[0].state == JobState::WaitTag);
    // Without the fault it ends by itself.
    let (healthy, problems) = decode(link.split("&lost_wakeup").next().unwrap());
    assert!(problems.is_empty(), "{problems:?}");
    let mut sim = Simulation::new(Arc::new(validate(&healthy, Side::A).unwrap()));
    assert_eq!(sim.advance(u64::MAX, 5_000_000, &mut ()), Advance::Done);
    let s = sim.snapshot();
    assert!(s.stats.nr_stalls == 0 && s.jobs.iter().all(|j| j.state == JobState::Done));
}

/// 42: aqu-sz is what the other columns say.
#[test]
fn the_queue_size_is_the_time_of_requests_a_second() {
    let link =
        "rw=randrw&bs=4KiB&scheduler=none&drive=capped&cap_rate=0&cap_latency_ns=60us&submit_ns=150us&runtime=10s";
    let (s, _) = end_of(link, "");
    let (d, seconds) = (s.devices[0].window, s.stats.window_ns() as f64 / 1e9);
    let column = |kind: usize| {
        let (per_second, wait) = (d.ios[kind] as f64 / seconds, d.ns[kind] as f64 / 1e9 / d.ios[kind] as f64);
        (per_second, wait, per_second * wait)
    };
    let (r, w) = (column(0), column(1));
    assert!((r.1 - 60e-6).abs() < 1e-6 && (w.1 - 60e-6).abs() < 1e-6, "{r:?} {w:?}");
    assert!((r.2 + w.2 - 0.4).abs() < 0.005, "{r:?} {w:?}");
}

/// Zones of 256 MiB with queued commands of a kind.
fn zones(r: &Run, write: bool) -> usize {
    let of = r.of(Action::Queue).into_iter().filter(|q| q.op.is_write() == write);
    of.map(|q| q.sector / (256 << 11)).collect::<BTreeSet<_>>().len()
}

/// Bios that ended with this errno.
fn errors(r: &Run, errno: u64) -> Vec<&TraceRecord> {
    let end = |c: &&TraceRecord| matches!(c.action, Action::Complete | Action::Fail) && c.arg == errno;
    r.trace.iter().filter(end).collect()
}

/// 1: pieces of split writes to a zoned null_blk.
#[test]
fn a_piece_that_waits_in_one_hardware_queue_is_overtaken_from_another() {
    let link = "drive=null_blk&zoned=1&zone_size=4&capacity=16MiB&max_sectors=255&bs=1MiB&rw=randwrite&iodepth=256&size=4z&runtime=0&irqmode=2&completion_nsec=100us&mbps=100&numjobs=4&submit_queues=4&zone_ordering=none";
    let r = run(link, "");
    assert!(r.of(Action::Split).iter().all(|x| x.arg - x.sector == 255));
    let failed = errors(&r, 5);
    let first = failed.first().expect("EIO");
    // It stands behind a piece that was requeued and goes to the device later.
    let zone = |sector: u64| sector / (4 << 11);
    let requeued = r.of(Action::Requeue);
    let left = requeued.iter().rfind(|q| zone(q.sector) == zone(first.sector) && q.time <= first.time).unwrap();
    assert!(left.sector < first.sector);
    let issued = r.of(Action::Issue).into_iter().filter(|d| d.time > left.time && d.time <= first.time);
    let order: Vec<u64> = issued.map(|d| d.sector).filter(|s| [left.sector, first.sector].contains(s)).collect();
    assert_eq!(order, [first.sector, left.sector]);
    for more in ["zwplug", "zone_lock"] {
        let r = run_of(&link.replace("zone_ordering=none", &format!("zone_ordering={more}")));
        assert!(errors(&r, 5).is_empty() && !r.of(Action::Requeue).is_empty(), "{more}");
    }
}

/// 23: dd oflag=sync on a disk of 14 TB whose cache is off.
#[test]
fn synchronous_writes_to_the_medium_take_a_turn_each() {
    let link = "drive=smr-14tb&workload=dd&bs=256KiB&count=200&write_cache=0&write_off_mode=media";
    let rate = |more: &str| {
        let (s, _) = end_of(link, more);
        assert_eq!(s.stats.nr_errors, 0);
        (s.stats.bytes_per_sec() / 1e6, s.stats.lat.mean())
    };
    let (mb, each) = rate("");
    // The report's 26.6 MB/s are 9.9 ms each.
    assert!((mb / 26.6 - 1.0).abs() < 0.05, "{mb}");
    assert!((9_300_000..9_900_000).contains(&each), "{each}");
    let link = "drive=smr-14tb&bs=256KiB&runtime=2s";
    let (s, _) = end_of(link, "");
    assert!(s.stats.bytes_per_sec() > 7e6 * mb, "{}", s.stats.bytes_per_sec());
}

/// 28: buffered writes to a sequential zone.
#[test]
fn buffered_writes_to_a_sequential_zone_fail() {
    let link = "bs=256KiB&iodepth=16&size=4z&scheduler=none&runtime=1s&buffered=1";
    let order: Vec<u64> = run(link, "").of(Action::Queue).iter().map(|q| q.sector).collect();
    assert!(!order.is_sorted() && simulation_end(link).stats.nr_errors > 0);
    let (s, _) = end_of("bs=256KiB&iodepth=16&size=4z&scheduler=none&runtime=1s", "");
    assert!(s.stats.nr_errors == 0 && s.stats.total_ios > 500);
}

/// 31: random writes with and without the device's limit of open zones.
#[test]
fn the_limit_of_open_zones_bounds_random_writes() {
    let link = "drive=smr-15tb&bs=256KiB&rw=randwrite&numjobs=4&iodepth=4&runtime=30s";
    assert_eq!(zones(&run(link, ""), true), 128);
    let more = "&ignore_zone_limits=1&max_open_zones=4096";
    let link = [link, more].concat();
    assert!(zones(&run(&link, ""), true) > 1000);
}

/// 32: jobs that only read.
#[test]
fn jobs_that_read_open_no_zone() {
    let link = "rw=randread&bs=4KiB&numjobs=16&max_open_zones=16&job_max_open_zones=1&read_beyond_wp=1&runtime=1s";
    let (s, _) = end_of(link, "");
    assert!(s.stats.nr_errors == 0 && s.stats.total_ios > 100);
    assert_eq!(s.devices[0].drive.nr_open, 0);
    assert!(s.jobs.iter().all(|j| j.locks.is_empty()));
}

/// 33: zones whose capacity is less than their size.
#[test]
fn nothing_is_written_between_capacity_and_size() {
    let link = "drive=flash&zoned=1&zone_size=8&zone_capacity=6&capacity=1GiB&bs=256KiB&size=4z&runtime=0";
    let r = run(link, "");
    let writes = r.of(Action::Queue);
    assert!(errors(&r, 5).is_empty() && writes.len() == 96);
    assert!(writes.iter().all(|w| w.sector % (8 << 11) + u64::from(w.nr_sectors) <= 6 << 11));
    // dd does not know of zones.
    let link = "drive=flash&zoned=1&zone_size=8&zone_capacity=6&capacity=1GiB&workload=dd&bs=256KiB&count=30";
    let r = run(link, "");
    assert_eq!((errors(&r, 5).len(), r.of(Action::Queue).len()), (1, 25));
}
