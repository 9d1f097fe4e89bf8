//! fio's options that shape queueing, with the numbers of fio 2.1, 2.4, 2.5 and kernel 10.5.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::units::Op;
use common::*;

const SEC: u64 = 1_000_000_000;
/// Sectors of a block of 4 KiB.
const BLOCK: u64 = 8;

/// A job of 4 KiB over `blocks` blocks, `ios` of them.
fn job(rw: Rw, iodepth: u32, blocks: u64, ios: u64) -> LinearConfig {
    LinearConfig {
        tool: Tool::Fio,
        rw,
        bs: BLOCK,
        bios: vec![],
        iodepth,
        batch: 1,
        first: 0,
        sectors: blocks * BLOCK,
        io_bytes: Some(ios * 4096),
        buffered: false,
        nowait: false,
        fio: FioOptions::default(),
    }
}

/// Jobs on a device that takes 100 us for each I/O, all of them side by side but for 4 us each on the bus.
fn config_of(jobs: Vec<LinearConfig>) -> SimConfig {
    let mut cfg = config();
    cfg.devices = vec![capped(0, 100_000)];
    cfg.jobs = jobs
        .into_iter()
        .map(|job| JobConfig {
            name: "fio".into(),
            dev: 0,
            workload: WorkloadConfig::Linear(job),
            prio: Default::default(),
            bio_segment_bytes: 4096,
            start_ns: 0,
            cgroup: Default::default(),
        })
        .collect();
    cfg
}

fn run_of(job: LinearConfig) -> Run {
    run(config_of(vec![job]))
}

fn queued(run: &Run) -> Vec<TraceRecord> {
    run.of(Action::Queue)
}

/// How many I/Os are in flight before each Q, and what runs of Q without a C between them are long.
fn bursts(run: &Run) -> Vec<u32> {
    let mut list = vec![];
    let mut last = Action::Complete;
    for r in run.trace.iter().filter(|r| matches!(r.action, Action::Queue | Action::Complete)) {
        match (last, r.action) {
            (Action::Queue, Action::Queue) => *list.last_mut().unwrap() += 1,
            (_, Action::Queue) => list.push(1),
            _ => {}
        }
        last = r.action;
    }
    list
}

/// A device that is slow against the job: completions do not come while it submits.
fn slow(mut cfg: SimConfig) -> SimConfig {
    cfg.host.submit_ns = 100;
    if let DeviceKind::Capped(c) = &mut cfg.devices[0].kind {
        c.latency_ns = 10_000_000;
    }
    cfg
}

#[test]
fn fio_2_4_without_more_options_each_completion_is_followed_by_one_io() {
    let run = run(slow(config_of(vec![job(Rw::Read, 8, 1000, 40)])));
    let bursts = bursts(&run);
    assert_eq!((bursts[0], bursts.iter().sum::<u32>()), (8, 40));
    assert!(bursts[1..].iter().all(|n| *n == 1), "{bursts:?}");
}

#[test]
fn fio_2_4_iodepth_low_refills_from_there() {
    let mut j = job(Rw::Read, 8, 1000, 8 + 6 * 5);
    j.fio.low = 2;
    // Once 8 are in flight, 6 are reaped before 6 more are submitted.
    assert_eq!(bursts(&run(slow(config_of(vec![j])))), [8, 6, 6, 6, 6, 6]);
}

#[test]
fn fio_2_4_complete_min_waits_for_as_many_and_complete_max_reaps_no_more() {
    let mut j = job(Rw::Read, 8, 1000, 8 + 4 * 5);
    (j.fio.complete_min, j.fio.complete_max) = (4, 4);
    assert_eq!(bursts(&run(slow(config_of(vec![j.clone()])))), [8, 4, 4, 4, 4, 4]);
    // Both: reaped four at a time until no more than 5 are left is four; until 3, eight.
    j.fio.low = 5;
    assert_eq!(bursts(&run(slow(config_of(vec![j.clone()]))))[..3], [8, 4, 4]);
    j.fio.low = 3;
    assert_eq!(bursts(&run(slow(config_of(vec![j]))))[..3], [8, 8, 8]);
}

#[test]
fn fio_2_4_both_zero_reap_after_each_io() {
    let mut j = job(Rw::Read, 8, 1000, 20);
    (j.fio.complete_min, j.fio.complete_max) = (0, 0);
    // One completion is waited for after each I/O, so there is never a second one in flight.
    assert_eq!(bursts(&run(slow(config_of(vec![j])))), [1; 20]);
}

/// What waits in the plug goes out before the job waits for it: with no tag left, and where it completes at once.
#[test]
fn fio_2_4_what_is_queued_is_committed_before_the_job_waits() {
    let mut few = config_of(vec![LinearConfig {
        batch: 16,
        fio: FioOptions { complete_min: 0, complete_max: 0, ..FioOptions::default() },
        ..job(Rw::RandRead, 128, 4096, 500)
    }]);
    let queue = few.devices[0].queue.as_mut().unwrap();
    (queue.nr_requests, queue.queue_depth) = (4, 4);
    assert_eq!(run(few).of(Action::Complete).len(), 500);

    let mut at_once = config_of(vec![LinearConfig {
        batch: 4,
        fio: FioOptions { rate_iops: [1000, 0], ..FioOptions::default() },
        ..job(Rw::RandRead, 4, 4096, 100)
    }]);
    at_once.devices[0].kind = DeviceKind::NullBlk(NullBlkConfig {
        capacity: 1 << 20,
        irqmode: NullIrq::None,
        completion_ns: 0,
        ..Default::default()
    });
    assert_eq!(run(at_once).of(Action::Complete).len(), 100);
}

#[test]
fn kernel_10_5_a_batch_is_committed_when_it_is_full_or_nothing_more_fits() {
    let unplugs = |batch: u32, low: u32| {
        let mut j = job(Rw::Read, 12, 100_000, 12 * 10);
        j.rw = Rw::RandRead;
        (j.batch, j.fio.low) = (batch, low);
        let mut cfg = slow(config_of(vec![j]));
        // With a scheduler a plug's requests go on together, said by one U.
        cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::MqDeadline;
        run(cfg).of(Action::Unplug).iter().map(|r| r.nr_sectors).collect::<Vec<_>>().len()
    };
    // 12 as 5 + 5 + 2, then 13 times 8 as 5 + 3: what fits last goes as it is. 4 are left.
    assert_eq!(unplugs(5, 4), 3 + 2 * 13 + 1);
    assert_eq!(unplugs(12, 4), 1 + 13 + 1);
}

#[test]
fn fio_2_5_thinktime_drains_then_pauses() {
    // 10 I/Os with 10 ms each take 100 ms; with thinktime_blocks=5, 20 ms. With four at a time the fifth is reaped when
    // eight are issued, and the last two are not five.
    let span = |depth: u32, blocks: u32, spin: u64| {
        let mut j = job(Rw::Read, depth, 1000, 10);
        j.fio.thinktime_ns = 10_000_000;
        j.fio.thinktime_blocks = blocks;
        j.fio.thinktime_spin_ns = spin;
        let run = run_of(j);
        assert_eq!(queued(&run).len(), 10);
        run.sim.now()
    };
    for (got, ms) in [(span(1, 1, 0), 100), (span(1, 5, 0), 20), (span(1, 1, 4_000_000), 100), (span(4, 5, 0), 10)] {
        let (low, high) = (ms * 1_000_000, ms * 1_000_000 + 2_000_000);
        assert!((low..high).contains(&got), "{got} for {ms} ms");
    }
    // Everything is reaped before a pause.
    let mut j = job(Rw::Read, 4, 1000, 40);
    (j.fio.thinktime_ns, j.fio.thinktime_blocks) = (10_000_000, 4);
    let run = run_of(j);
    let mut in_flight = 0;
    let mut before = 0;
    for r in run.trace.iter().filter(|r| matches!(r.action, Action::Queue | Action::Complete)) {
        if r.time > before + 5_000_000 {
            assert_eq!((r.action, in_flight), (Action::Queue, 0));
        }
        before = r.time;
        if r.action == Action::Queue { in_flight += 1 } else { in_flight -= 1 }
    }
}

/// I/Os a second of reads and of writes in a second.
fn per_second(j: LinearConfig) -> [u64; 2] {
    let mut cfg = config_of(vec![LinearConfig { io_bytes: None, ..j }]);
    cfg.stop.runtime_ns = Some(SEC);
    let run = run(cfg);
    [Op::Read, Op::Write].map(|op| queued(&run).iter().filter(|r| r.op == op && r.time < SEC).count() as u64)
}

fn within(got: u64, want: u64, percent: u64) -> bool {
    got.abs_diff(want) * 100 <= want * percent
}

#[test]
fn fio_2_5_rates_are_kept_within_one_percent() {
    for depth in [1, 8] {
        let mut j = job(Rw::Read, depth, 1000, 0);
        // 4 MiB/s of 4 KiB.
        j.fio.rate = [4 << 20; 2];
        let [reads, _] = per_second(j);
        assert!(within(reads, 1024, 1), "{reads}");
    }
    // With sizes split the rate is one of I/Os.
    let mut j = job(Rw::RandRead, 8, 100_000, 0);
    j.fio.rate_iops = [2000; 2];
    j.fio.bssplit = [vec![(8, 50), (32, 50)], vec![]];
    let [reads, _] = per_second(j);
    assert!(within(reads, 2000, 1), "{reads}");
    // Of a mix each direction has its own; one without a rate takes what is left.
    let mut j = job(Rw::RandRw, 8, 100_000, 0);
    j.fio.rate = [4 << 20, 1 << 20];
    let [reads, writes] = per_second(j.clone());
    assert!(within(reads, 1024, 1) && within(writes, 256, 1), "{reads} {writes}");
    j.fio.rate = [4 << 20, 0];
    let [reads, writes] = per_second(j);
    assert!(within(reads, 1024, 1) && writes > 10_000, "{reads} {writes}");
}

#[test]
fn fio_2_5_what_a_stall_cost_is_caught_up() {
    // A write of 40 MB holds the device for 40 ms; 40 I/Os of a 1000 a second job come behind it at once.
    let mut j = job(Rw::Read, 1, 1000, 0);
    j.fio.rate = [4_096_000; 2];
    let mut blocker = job(Rw::Write, 1, 100_000, 0);
    (blocker.bs, blocker.bios, blocker.io_bytes) = (80_000, vec![80_000], Some(80_000 * 512));
    let mut cfg = config_of(vec![LinearConfig { io_bytes: None, ..j }, blocker]);
    cfg.devices[0].queue.as_mut().unwrap().max_sectors = 1 << 20;
    cfg.devices[0].queue.as_mut().unwrap().max_segments = 1 << 16;
    cfg.stop.runtime_ns = Some(SEC);
    let run = run(cfg);
    let reads: Vec<u64> = queued(&run).iter().filter(|r| r.op == Op::Read).map(|r| r.time).collect();
    let longest = reads.windows(2).map(|w| w[1] - w[0]).max().unwrap();
    assert!(longest > 30_000_000, "{longest}");
    let all = reads.iter().filter(|t| **t < SEC).count() as u64;
    assert!(within(all, 1000, 1), "{all}");
}

#[test]
fn fio_2_1_bssplit_has_its_shares() {
    let mut j = job(Rw::RandRead, 1, 1 << 20, 20_000);
    j.fio.bssplit = [vec![(64, 10), (8, 30), (16, 60)], vec![]];
    j.io_bytes = Some(200 << 20);
    let run = run_of(j);
    let ios = queued(&run);
    for (sectors, percent) in [(8, 30), (16, 60), (64, 10)] {
        let share = ios.iter().filter(|r| r.nr_sectors == sectors).count() as u64 * 1000 / ios.len() as u64;
        assert!(share.abs_diff(percent * 10) < 15, "{sectors}: {share}");
    }
    // Entries that no longer fit are passed over, in order as well.
    let mut j = job(Rw::Read, 1, 16, 16);
    j.fio.bssplit = [vec![(8, 50), (24, 50)], vec![]];
    let run = run_of(j);
    let ios = queued(&run);
    assert!(ios.iter().all(|r| r.sector + u64::from(r.nr_sectors) <= 128));
    assert!(ios.windows(2).all(|w| w[1].sector == w[0].sector + u64::from(w[0].nr_sectors)));
    // fio 4, vector 18: both directions, each its own.
    let mut j = job(Rw::Write, 1, 8, 8);
    j.fio.bssplit = [vec![(8, 100)], vec![(16, 100)]];
    let places: Vec<_> = queued(&run_of(j)).iter().map(|r| (r.sector, r.nr_sectors)).collect();
    assert_eq!(places, [(0, 16), (16, 16), (32, 16), (48, 16)]);
}

#[test]
fn fio_2_1_mixes_have_their_share_and_each_direction_its_place() {
    for (percent, rw) in [(50, Rw::ReadWrite), (70, Rw::RandRw), (10, Rw::RandRw), (100, Rw::RandRw), (0, Rw::RandRw)] {
        let mut j = job(rw, 1, 1 << 20, 10_000);
        j.fio.rwmixread = percent;
        let run = run_of(j);
        let ios = queued(&run);
        let reads = ios.iter().filter(|r| r.op == Op::Read).count() as u64;
        // Within three standard deviations.
        assert!(reads.abs_diff(u64::from(percent) * 100) <= 150, "{percent}: {reads}");
        for op in [Op::Read, Op::Write] {
            let places = ios.iter().filter(|r| r.op == op).map(|r| r.sector);
            assert!(
                rw.is_random()
                    || places.eq((0..).step_by(8).take(if op == Op::Read { reads } else { 10_000 - reads } as usize))
            );
        }
    }
}

/// How often each of `blocks` blocks is read in `ios` I/Os, most often first.
fn popularity(distribution: Distribution, blocks: u64, ios: u64) -> (Vec<u64>, Vec<u64>) {
    let mut j = job(Rw::RandRead, 1, blocks, ios);
    j.fio.distribution = distribution;
    let mut counts = vec![0; blocks as usize];
    for r in queued(&run_of(j)) {
        counts[(r.sector / BLOCK) as usize] += 1;
    }
    let mut sorted = counts.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    (sorted, counts)
}

#[test]
fn fio_2_1_zipf_has_its_shape() {
    let (sorted, counts) = popularity(Distribution::Zipf { theta: 1200, center: None }, 1024, 4096);
    let distinct = sorted.iter().filter(|n| **n > 0).count();
    // fio itself: the top block 22 %, 506 distinct.
    assert!((850..1000).contains(&sorted[0]), "{}", sorted[0]);
    assert!((440..570).contains(&distinct), "{distinct}");
    // The second has 2^-1.2 of the first's share, within five standard deviations.
    assert!(sorted[1].abs_diff(sorted[0] * 435 / 1000) < 100, "{} {}", sorted[0], sorted[1]);
    // Hot blocks are scattered.
    let hot: Vec<usize> = (0..1024).filter(|i| counts[*i] > 100).collect();
    assert!(hot.len() > 3 && hot.windows(2).all(|w| w[1] - w[0] > 1), "{hot:?}");
    // Around a center they are not.
    let (_, counts) = popularity(Distribution::Zipf { theta: 1200, center: Some(500) }, 1024, 4096);
    assert!(counts[512] > 850 && counts[513] > 300, "{} {}", counts[512], counts[513]);
    // Below 1 as well, and over a range of which most is never touched.
    let (sorted, _) = popularity(Distribution::Zipf { theta: 500, center: None }, 1000, 20_000);
    // The share of the top is 1 in the sum of k^-0.5, which is 61.8.
    assert!((260..390).contains(&sorted[0]), "{}", sorted[0]);
}

#[test]
fn fio_2_1_pareto_normal_and_zoned_have_their_shape() {
    // With h = 0.2 a fifth of the blocks gets four fifths of the I/Os.
    let (_, counts) = popularity(Distribution::Pareto { h: 200, center: Some(0) }, 1000, 20_000);
    let top: u64 = counts[..200].iter().sum();
    assert!((15_600..16_400).contains(&top), "{top}");
    // Scattered, they lie anywhere.
    let (sorted, counts) = popularity(Distribution::Pareto { h: 200, center: None }, 1000, 20_000);
    let spread = (0..10).filter(|i| counts[i * 100..(i + 1) * 100].iter().sum::<u64>() > 300).count();
    assert!(sorted[0] > 7000 && spread > 5, "{} {spread}", sorted[0]);
    // The mean of twelve has a deviation of 1/12 of the range: two thirds within one of them.
    let (_, counts) = popularity(Distribution::Normal { deviation: 0, center: Some(0) }, 1200, 12_000);
    let near: u64 = counts[500..700].iter().sum();
    assert!((7_900..8_500).contains(&near), "{near}");
    // fio 4, vector 45: 90.2 % of the I/Os in the first tenth.
    let parts = vec![(90, 10), (10, 90)];
    let (_, counts) =
        popularity(Distribution::Zoned { absolute: false, parts: [parts.clone(), parts] }, 10_000, 10_000);
    let first: u64 = counts[..1000].iter().sum();
    assert!((8_900..9_100).contains(&first), "{first}");
    let parts = vec![(90, 8000), (10, 72_000)];
    let (_, counts) = popularity(Distribution::Zoned { absolute: true, parts: [parts.clone(), parts] }, 10_000, 10_000);
    assert!((8_900..9_100).contains(&counts[..1000].iter().sum::<u64>()));
}

#[test]
fn fio_2_1_with_a_map_each_block_comes_once_in_a_pass() {
    let mut j = job(Rw::RandRw, 4, 100, 300);
    j.fio.norandommap = false;
    let run = run_of(j.clone());
    let places: Vec<u64> = queued(&run).iter().map(|r| r.sector / BLOCK).collect();
    for pass in places.chunks(100) {
        let mut sorted = pass.to_vec();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
    }
    // Passes are alike, as fio's are; without a map blocks come again.
    assert_eq!(places[..100], places[100..200]);
    j.fio.norandommap = true;
    let mut free: Vec<u64> = queued(&run_of(j)).iter().take(100).map(|r| r.sector).collect();
    free.sort_unstable();
    free.dedup();
    assert!((50..80).contains(&free.len()), "{}", free.len());
}

#[test]
fn many_jobs_of_two_kinds_run_side_by_side() {
    let mut jobs = vec![job(Rw::RandRead, 1, 100_000, 20); 512];
    jobs.extend(vec![job(Rw::Write, 4, 100_000, 20); 88]);
    let run = run(config_of(jobs));
    let of = |op: Op| queued(&run).iter().filter(|r| r.op == op).count();
    assert_eq!((of(Op::Read), of(Op::Write)), (512 * 20, 88 * 20));
}
