//! Vectors and laws of bfq as a whole; parts have theirs in their files.

use super::*;
use crate::observe::snapshot::RequestView;
use crate::rng::Rng;
use crate::units::Op;
use alloc::vec;

fn config() -> QueueConfig {
    let bfq = BfqConfig { low_latency: false, ..Default::default() };
    QueueConfig { nr_requests: 64, bfq, ..Default::default() }
}

fn bfq(change: impl FnOnce(&mut BfqConfig)) -> Bfq {
    let mut cfg = config();
    change(&mut cfg.bfq);
    Bfq::new(&cfg)
}

fn be(level: u8) -> IoPrio {
    IoPrio { class: IoClass::Be, level }
}

fn request(rq: Idx, job: JobIdx, op: Op, sector: Sector, nr_sectors: u32) -> Queued {
    let (prio, sync) = (IoPrio::default(), op == Op::Read);
    Queued { rq, op, sector, nr_sectors, prio, sync, job, cpu: 0, start: 0 }
}

/// A device that serves one request after the other, and jobs that keep `depth` requests each.
struct Machine {
    bfq: Bfq,
    now: SimTime,
    jobs: Vec<Job>,
    /// At the driver, in order.
    driver: Vec<(Queued, SimTime)>,
    slots: Vec<Option<Queued>>,
    /// Commands the device takes.
    depth: usize,
    /// ns a sector, and for a jump.
    sector_ns: u64,
    seek_ns: u64,
    head: Sector,
    /// Waits for a queue while others had requests.
    idled: u32,
    /// Nothing more is submitted.
    stop: bool,
}

struct Job {
    op: Op,
    prio: IoPrio,
    random: bool,
    nr_sectors: u32,
    depth: u32,
    /// Between a completion and the next request.
    think: SimDuration,
    pos: Sector,
    in_flight: u32,
    next_at: SimTime,
    served: u64,
    /// Longest time from insertion to completion.
    worst: SimDuration,
    rng: Rng,
}

fn reader(prio: IoPrio, n: u64) -> Job {
    Job {
        op: Op::Read,
        prio,
        random: false,
        nr_sectors: 256,
        depth: 1,
        think: 0,
        pos: n * 10_000_000,
        in_flight: 0,
        next_at: 0,
        served: 0,
        worst: 0,
        rng: Rng::stream(n, "bfq job", 0),
    }
}
fn random_reader(n: u64) -> Job {
    Job { random: true, nr_sectors: 8, ..reader(be(4), n) }
}
fn writer(n: u64) -> Job {
    Job { op: Op::Write, depth: 32, ..reader(be(4), n) }
}

impl Machine {
    fn new(bfq: Bfq, jobs: Vec<Job>) -> Self {
        Self {
            bfq,
            now: 0,
            jobs,
            driver: vec![],
            slots: vec![],
            depth: 1,
            sector_ns: 3_000,
            seek_ns: 8_000_000,
            head: 0,
            idled: 0,
            stop: false,
        }
    }

    fn submit(&mut self) {
        for (j, job) in self.jobs.iter_mut().enumerate() {
            while !self.stop && job.in_flight < job.depth && job.next_at <= self.now {
                let slot = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
                    self.slots.push(None);
                    self.slots.len() - 1
                });
                if job.random {
                    job.pos = job.rng.below(100_000_000) * 8;
                }
                let r = request(slot as Idx, j as JobIdx, job.op, job.pos, job.nr_sectors);
                let r = Queued { prio: job.prio, start: self.now, ..r };
                job.pos += u64::from(job.nr_sectors);
                job.in_flight += 1;
                self.slots[slot] = Some(r);
                self.bfq.insert(r, false, self.now);
            }
        }
        self.check();
    }

    fn service_time(&self, r: &Queued) -> u64 {
        let seek = if self.head == r.sector { 0 } else { self.seek_ns };
        seek + u64::from(r.nr_sectors) * self.sector_ns
    }

    /// What must hold at all times.
    fn check(&self) {
        let b = &self.bfq;
        let queued: usize = b.queues.iter().map(|q| q.sort.len()).sum();
        assert_eq!(b.queued as usize, queued);
        assert_eq!(b.in_driver, b.queues.iter().map(|q| q.dispatched).sum::<u32>());
        for (i, (q, e)) in b.queues.iter().zip(&b.tree.entities).enumerate() {
            assert_eq!(q.sort.len(), q.fifo.len());
            assert_eq!(q.next.is_some(), !q.sort.is_empty());
            assert!(q.sort.is_empty() || q.busy, "who has requests is busy");
            assert_eq!(q.busy, matches!(e.on, On::Active | On::Served));
            assert_eq!(e.on == On::Served, b.tree.in_service == Some(i));
            assert!(q.next.is_none_or(|key| q.sort.get(&key).is_some()));
        }
        assert!(b.idle_until.is_none() || b.tree.in_service.is_some());
    }

    fn run(&mut self, until: SimTime) {
        let mut done_at = 0;
        let mut vtime = [0; 3];
        while self.now < until {
            self.submit();
            while self.driver.len() < self.depth {
                let work = self.bfq.has_work();
                let Some(rq) = self.bfq.dispatch(self.now) else {
                    // Held back only for the sake of a queue that is waited for.
                    assert!(!work || self.bfq.tree.in_service.is_some() || self.bfq.cfg.strict_guarantees);
                    self.idled += u32::from(work);
                    break;
                };
                assert!(work);
                self.check();
                let r = self.slots[rq as usize].unwrap();
                if let Some(q) = self.bfq.tree.in_service {
                    let (e, queue) = (&self.bfq.tree.entities[q], &self.bfq.queues[q]);
                    assert!(e.service <= e.budget, "{e:?}");
                    assert!(self.now < queue.timeout_at || self.bfq.cfg.slice_idle_ns > 0);
                }
                if self.driver.is_empty() {
                    done_at = self.now + self.service_time(&r);
                }
                self.driver.push((r, self.now));
            }
            let mut next = until;
            if !self.driver.is_empty() {
                next = next.min(done_at);
            }
            next = self.bfq.timer().unwrap_or(next).min(next);
            for j in self.jobs.iter().filter(|j| !self.stop && j.in_flight < j.depth) {
                next = next.min(j.next_at.max(self.now + 1));
            }
            self.now = next.max(self.now);
            self.bfq.timer_fired(self.now);
            if !self.driver.is_empty() && self.now >= done_at {
                let (r, d_time) = self.driver.remove(0);
                self.head = r.sector + u64::from(r.nr_sectors);
                self.bfq.completed(r, self.now, d_time);
                self.bfq.finished(r, self.now);
                self.slots[r.rq as usize] = None;
                let job = &mut self.jobs[usize::from(r.job)];
                job.in_flight -= 1;
                job.next_at = self.now + job.think;
                job.served += u64::from(r.nr_sectors);
                job.worst = job.worst.max(self.now - r.start);
                if let Some((r, _)) = self.driver.first() {
                    done_at = self.now + self.service_time(r);
                }
            }
            self.check();
            for (was, class) in vtime.iter_mut().zip(&self.bfq.tree.classes) {
                assert!(class.vtime >= *was, "virtual time never goes back");
                *was = class.vtime;
            }
        }
    }

    /// Shares of all sectors served, thousandths.
    fn shares(&self) -> Vec<u64> {
        let all: u64 = self.jobs.iter().map(|j| j.served).sum();
        self.jobs.iter().map(|j| j.served * 1000 / all.max(1)).collect()
    }
}

#[test]
fn section_4_5_weights_follow_levels() {
    let mut m = Machine::new(bfq(|_| {}), vec![reader(be(0), 1), reader(be(7), 2), reader(IoPrio::default(), 3)]);
    m.submit();
    let weights: Vec<u32> = m.bfq.tree.entities.iter().map(|e| e.weight).collect();
    assert_eq!(weights, [80, 10, 40]);
}

#[test]
fn section_4_5_two_greedy_readers_share_by_weight() {
    let mut m = Machine::new(bfq(|_| {}), vec![reader(be(0), 1), reader(be(7), 2)]);
    m.run(60 * SEC);
    let shares = m.shares();
    assert!(shares[0].abs_diff(889) < 25, "8 to 1: {shares:?}");

    let mut m = Machine::new(bfq(|_| {}), vec![reader(be(4), 1), reader(be(4), 2)]);
    m.depth = 4;
    m.submit();
    for (q, weight) in [(0, 100), (1, 10)] {
        m.bfq.queues[q].weight = weight;
        m.bfq.tree.set_weight(q, weight);
    }
    m.run(60 * SEC);
    let shares = m.shares();
    assert!(shares[0].abs_diff(909) < 25, "10 to 1: {shares:?}");
    assert!(m.idled > 0, "without waiting for the first the second would get half");
}

#[test]
fn section_4_5_without_idling_weights_do_not_count_for_readers_of_depth_1() {
    let mut m = Machine::new(bfq(|c| c.slice_idle_ns = 0), vec![reader(be(0), 1), reader(be(7), 2)]);
    m.depth = 4;
    m.run(20 * SEC);
    assert!(m.shares()[0] < 600, "{:?}", m.shares());
    assert_eq!(m.idled, 0);
}

#[test]
fn section_4_5_a_seeky_reader_is_charged_for_its_time() {
    let jobs = vec![reader(be(4), 1), Job { depth: 16, ..random_reader(2) }];
    let mut m = Machine::new(bfq(|_| {}), jobs);
    m.depth = 4;
    m.run(30 * SEC);
    let (sequential, random) = (m.jobs[0].served, m.jobs[1].served);
    // By sectors alone the random one, 500 times slower, would have nearly all of the time.
    assert!(sequential > random * 50, "{sequential} {random}");
    // A turn of budget against a turn of 125 ms and the requests that are at the device when it ends.
    assert!(sequential * 3_000 > 5 * SEC, "{sequential}");
    assert!(random / 8 * m.seek_ns > 10 * SEC, "{random}");
}

#[test]
fn section_4_5_classes() {
    let prio = |class| IoPrio { class, level: 4 };
    let jobs = vec![reader(prio(IoClass::Rt), 1), reader(be(4), 2), reader(prio(IoClass::Idle), 3)];
    let mut m = Machine::new(bfq(|_| {}), jobs);
    m.run(20 * SEC);
    let shares = m.shares();
    assert!(shares[0] > 850, "{shares:?}");
    assert!(m.jobs[2].served > 0, "every 200 ms the idle class is asked first");
}

#[test]
fn section_4_5_async_writes_cost_three_times_as_much() {
    let mut m = Machine::new(bfq(|_| {}), vec![Job { depth: 8, ..reader(be(4), 1) }, writer(2)]);
    m.run(30 * SEC);
    let shares = m.shares();
    assert!(shares[0].abs_diff(750) < 60, "{shares:?}");
    let mut b = bfq(|_| {});
    b.insert(request(0, 0, Op::Write, 0, 100), false, 0);
    b.dispatch(0);
    assert_eq!(b.tree.entities[0].service, 300);
    assert_eq!(b.queues[0].job, JobIdx::MAX, "shared");
}

#[test]
fn section_4_5_a_turn_ends_with_its_budget() {
    let mut b = bfq(|_| {});
    for i in 0..200 {
        b.insert(request(i, (i % 2) as JobIdx, Op::Read, u64::from(i) * 1000, 1000), false, 0);
    }
    let jobs: Vec<u32> = core::iter::from_fn(|| b.dispatch(0)).map(|rq| rq % 2).collect();
    assert_eq!(jobs.len(), 200);
    let first = jobs.iter().position(|j| *j != jobs[0]).unwrap();
    // Two thirds of 16384 sectors.
    assert_eq!(first, 10);
    let second = jobs[first..].iter().position(|j| *j == jobs[0]).unwrap();
    assert_eq!(second, 10);
    // Who used it up gets more, four times as much up to 16384.
    let third = jobs[first + second..].iter().position(|j| *j != jobs[0]).unwrap();
    assert_eq!(third, 16);
}

#[test]
fn section_4_5_a_turn_ends_after_125_ms() {
    let mut b = bfq(|_| {});
    for i in 0..20 {
        b.insert(request(i, (i % 2) as JobIdx, Op::Read, u64::from(i) * 8, 8), false, 0);
    }
    assert_eq!(b.dispatch(0), Some(0));
    assert_eq!(b.dispatch(124 * MS), Some(2));
    assert_eq!(b.dispatch(125 * MS), Some(1), "the other one's turn");
    // It was charged for its time: 125 ms at the assumed peak rate.
    assert!(b.tree.entities[0].start > b.tree.entities[1].start);
}

#[test]
fn section_4_5_a_sync_queue_is_waited_for_8_ms() {
    let mut b = bfq(|_| {});
    let (r, w) = (request(0, 0, Op::Read, 0, 8), request(1, 1, Op::Write, 5000, 8));
    b.insert(r, false, 0);
    assert_eq!(b.dispatch(0), Some(0));
    b.completed(r, MS, 0);
    b.finished(r, MS);
    assert_eq!(b.timer(), Some(9 * MS), "alone it is waited for");
    b.insert(Queued { rq: 2, sector: 8, ..r }, false, MS + 100_000);
    assert_eq!((b.timer(), b.dispatch(MS + 100_000)), (None, Some(2)));
    b.completed(Queued { rq: 2, ..r }, 6 * MS, 0);
    b.insert(w, false, 7 * MS);
    assert!(b.has_work());
    assert_eq!(b.dispatch(7 * MS), None, "a stream: waited for although another has requests");
    assert!(!b.timer_fired(9 * MS) && b.timer() == Some(14 * MS));
    assert!(b.timer_fired(14 * MS));
    assert_eq!(b.dispatch(14 * MS), Some(1));
    assert_eq!(b.timer(), None);
}

#[test]
fn section_4_5_strict_guarantees_one_request_at_a_time() {
    let mut m =
        Machine::new(bfq(|c| c.strict_guarantees = true), vec![Job { depth: 8, ..reader(be(4), 1) }, writer(2)]);
    m.depth = 32;
    m.submit();
    assert!(m.bfq.dispatch(0).is_some());
    assert_eq!(m.bfq.dispatch(0), None);
    let mut m = Machine::new(bfq(|c| c.strict_guarantees = true), vec![reader(be(0), 1), reader(be(7), 2)]);
    m.depth = 32;
    m.run(20 * SEC);
    assert!(m.shares()[0].abs_diff(889) < 30, "{:?}", m.shares());
}

#[test]
fn section_4_5_depth_limits() {
    let mut b = bfq(|c| c.low_latency = true);
    b.depth_updated(64, 48);
    assert_eq!(b.limit_depth(Op::Read, true, 0, 48), u32::MAX);
    assert_eq!(b.limit_depth(Op::Write, true, 0, 48), 48);
    assert_eq!(b.limit_depth(Op::Write, false, 0, 48), 32);
    b.insert(request(0, 0, Op::Read, 0, 8), false, 10 * SEC);
    assert_eq!(b.queues[0].raise.coeff, 30, "a new queue is interactive");
    assert_eq!(b.limit_depth(Op::Write, true, 1, 48), 24);
    assert_eq!(b.limit_depth(Op::Write, false, 1, 48), 12);
    assert_eq!(b.min_shallow_depth(48), 1);

    let mut b = bfq(|_| {});
    for i in 0..32 {
        assert_eq!(b.limit_depth(Op::Read, true, 0, 48), u32::MAX, "{i}");
        b.insert(request(2 * i, 0, Op::Read, u64::from(i) * 8, 8), false, 0);
        if i == 0 {
            b.insert(request(1, 1, Op::Read, 90_000, 8), false, 0);
        }
    }
    assert_eq!(b.limit_depth(Op::Read, true, 0, 48), 1, "half of 64 is its share");
    assert_eq!(b.limit_depth(Op::Read, true, 1, 48), u32::MAX);
}

#[test]
fn section_4_5_an_interactive_reader_beside_a_writer() {
    let slow = |raise| {
        let mut m =
            Machine::new(bfq(|c| c.low_latency = raise), vec![writer(1), Job { think: 30 * MS, ..random_reader(2) }]);
        m.depth = 4;
        m.jobs[1].next_at = 5 * SEC;
        m.run(9 * SEC);
        (m.jobs[1].served, m.jobs[1].worst)
    };
    let (raised, plain) = (slow(true), slow(false));
    assert!(raised.0 > plain.0 && raised.1 <= plain.1, "{raised:?} {plain:?}");
    // Four writes of 0.8 ms and a seek are before it at most, and its own.
    assert!(raised.1 < 80 * MS, "{raised:?}");
}

#[test]
fn section_4_5_interactive_and_bursts() {
    let mut b = bfq(|c| c.low_latency = true);
    for i in 0..8 {
        b.insert(request(i, i as JobIdx, Op::Read, u64::from(i) * 8, 8), false, 10 * SEC);
        // Whether the first seven will have been a burst is not known yet.
        assert_eq!(b.queues[i as usize].raise.coeff, if i < 7 { 30 } else { 1 });
    }
    assert!(b.queues.iter().all(|q| q.raise.in_burst));
    // Their raising ends when they are served.
    while b.dispatch(10 * SEC).is_some() {}
    assert!(b.queues.iter().all(|q| q.raise.coeff == 1));

    let mut b = bfq(|c| c.low_latency = true);
    b.insert(Queued { prio: be(3), ..request(0, 0, Op::Read, 0, 8) }, false, 10 * SEC);
    assert_eq!(b.queues[0].raise.coeff, 1, "only processes that set no priority");
}

#[test]
fn section_4_5_soft_real_time() {
    let mut b = bfq(|c| c.low_latency = true);
    let r = request(0, 0, Op::Read, 0, 64);
    b.insert(r, false, 0);
    b.dispatch(0);
    b.completed(r, MS, 0);
    b.finished(r, MS);
    b.timer_fired(b.timer().unwrap());
    // 64 sectors at 7000/s are 9 ms; and it waited 20 ms in vain, with 12 ms more.
    b.insert(Queued { sector: 64, ..r }, false, 100 * MS);
    assert_eq!((b.queues[0].raise.coeff, b.queues[0].raise.length), (3000, 300 * MS));
    assert_eq!(b.tree.entities[0].weight, 120_000);
}

#[test]
fn section_4_5_merges_are_looked_for_in_the_own_queue() {
    let mut b = bfq(|_| {});
    b.insert(request(0, 0, Op::Read, 0, 8), false, 0);
    b.insert(request(1, 1, Op::Read, 8, 8), false, 0);
    b.insert(Queued { sync: true, ..request(2, 0, Op::Write, 16, 8) }, false, 0);
    b.insert(request(3, 0, Op::Read, 24, 8), false, 0);
    let bio = request(Idx::MAX, 0, Op::Read, 16, 8);
    assert_eq!(b.before(bio), Some(0), "neither the other job's nor a write");
    assert_eq!((b.at(bio, 24), b.at(bio, 16)), (Some(3), None));
    assert_eq!(b.latter(request(0, 0, Op::Read, 0, 8)), Some(3));
    assert_eq!(b.former(request(3, 0, Op::Read, 24, 8)), Some(0));
    // 16 sectors joined 0, then 3 joins it as well.
    b.reposition(request(0, 0, Op::Read, 0, 24), 0);
    b.merged(request(0, 0, Op::Read, 0, 24), request(3, 0, Op::Read, 24, 8));
    b.finished(request(3, 0, Op::Read, 24, 8), 0);
    assert_eq!((b.queued, b.queues[0].allocated), (3, 2));
    assert_eq!(b.dispatch(0), Some(0));
    assert_eq!(b.tree.entities[0].service, 32);
}

#[test]
fn section_4_5_what_came_back_goes_first() {
    let mut b = bfq(|_| {});
    let r = request(0, 0, Op::Read, 0, 8);
    b.insert(r, false, 0);
    b.insert(request(1, 0, Op::Read, 8, 8), false, 0);
    assert_eq!(b.dispatch(0), Some(0));
    b.requeued(r);
    assert_eq!((b.in_driver, b.queues[0].allocated), (0, 1));
    b.insert(r, true, 0);
    assert_eq!([b.dispatch(0), b.dispatch(0), b.dispatch(0)], [Some(0), Some(1), None]);
    // Issued from elsewhere without being inserted again: nothing to count.
    b.requeued(r);
    b.completed(r, 1, 0);
    assert!(!b.finished(r, 1));
    assert_eq!(b.in_driver, 1);
}

#[test]
fn section_4_5_view() {
    let mut b = bfq(|_| {});
    b.insert(request(0, 0, Op::Read, 0, 8), false, 0);
    b.insert(Queued { prio: be(0), ..request(1, 1, Op::Read, 8, 8) }, false, 0);
    b.dispatch(0);
    let v = b.view(0, &|rq| RequestView {
        id: rq,
        bio: 0,
        nr_bios: 1,
        job: 0,
        op: Op::Read,
        sector: 0,
        nr_sectors: 8,
        zone: 0,
        dev: 0,
        origin: 0,
        tag: None,
        internal_tag: None,
        d_time: None,
        flags: 0,
    });
    assert_eq!(v.queues.len(), 2);
    assert!(v.queues[0].finish <= v.queues[1].finish);
    assert_eq!(v.in_service.map(|i| v.queues[i].dispatched), Some(1));
    assert_eq!((v.max_budget, v.peak_rate), (16_384, 142_410));
}

#[test]
fn section_4_5_laws_over_random_jobs() {
    for seed in 0..40 {
        let mut rng = Rng::stream(seed, "bfq laws", 0);
        let mut cfg = config();
        cfg.bfq.low_latency = rng.below(2) == 0;
        cfg.bfq.strict_guarantees = rng.below(8) == 0;
        cfg.bfq.slice_idle_ns = [0, 2 * MS, 8 * MS][rng.below(3) as usize];
        cfg.bfq.max_budget = [0, 512, 4096][rng.below(3) as usize];
        let mut b = Bfq::new(&cfg);
        b.set_rotational(rng.below(2) == 0);
        let jobs = (0..1 + rng.below(10))
            .map(|n| {
                let class =
                    [IoClass::None, IoClass::Be, IoClass::Be, IoClass::Rt, IoClass::Idle][rng.below(5) as usize];
                Job {
                    op: if rng.below(3) == 0 { Op::Write } else { Op::Read },
                    random: rng.below(2) == 0,
                    nr_sectors: 8 << rng.below(6),
                    depth: 1 + rng.below(12) as u32,
                    think: rng.below(3) * rng.below(20) * MS,
                    next_at: rng.below(3) * SEC / 2,
                    ..reader(IoPrio { class, level: rng.below(8) as u8 }, n)
                }
            })
            .collect();
        let mut m = Machine::new(b, jobs);
        m.depth = [1, 4, 32][rng.below(3) as usize];
        m.seek_ns = [100_000, 4_000_000][rng.below(2) as usize];
        m.run(4 * SEC);
        // All that was submitted goes out when nothing more comes.
        m.stop = true;
        m.run(400 * SEC);
        assert!(m.jobs.iter().all(|j| j.in_flight == 0), "seed {seed}");
        assert!(!m.bfq.has_work() && m.bfq.queues.iter().all(|q| q.allocated == 0));
    }
}

#[test]
fn section_4_5_laws_over_random_calls() {
    let mut rng = Rng::stream(3, "bfq calls", 0);
    let mut m = Machine::new(bfq(|c| c.low_latency = true), vec![]);
    for step in 0..40_000u64 {
        let now = step * rng.below(200_000);
        let now = now.max(m.now);
        m.now = now;
        let rq = rng.below(40) as Idx;
        let op = [Op::Read, Op::Write, Op::ZoneReset][rng.below(7).min(2) as usize];
        let r = Queued {
            prio: be(rng.below(8) as u8),
            ..request(rq, rng.below(5) as JobIdx, op, rng.below(1 << 20), rng.below(600) as u32)
        };
        match rng.below(9) {
            0 | 1 => m.bfq.insert(r, rng.below(5) == 0, now),
            2 | 3 => drop(m.bfq.dispatch(now)),
            4 => m.bfq.completed(r, now, 0),
            5 => drop(m.bfq.finished(r, now)),
            6 => m.bfq.requeued(r),
            7 => m.bfq.merged(r, Queued { rq: (rq + 1) % 40, ..r }),
            _ => {
                m.bfq.reposition(r, rng.below(1 << 20));
                m.bfq.timer_fired(now);
            }
        }
        m.check();
    }
}
