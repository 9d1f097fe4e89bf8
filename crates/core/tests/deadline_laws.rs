//! Laws of mq-deadline and of the ctx lists over random insertions: a plain reading of the specification beside it.

mod common;

use bioscope_core::blk::elevator::{AnyElevator, Queued};
use bioscope_core::config::{ElevatorKind, MqDeadlineConfig, QueueConfig};
use bioscope_core::observe::snapshot::{ElevatorView, RequestView};
use bioscope_core::units::{IoClass, IoPrio, Op};
use common::Dice;

fn class_of(r: Queued) -> usize {
    match r.prio.class {
        IoClass::Rt => 0,
        IoClass::None | IoClass::Be => 1,
        IoClass::Idle => 2,
    }
}

fn dir_of(r: Queued) -> usize {
    usize::from(r.op == Op::Write)
}

/// A request in a FIFO.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    r: Queued,
    seq: u64,
    deadline: u64,
}

/// kernel 4.2 word by word, on plain lists.
#[derive(Default)]
struct Model {
    cfg: MqDeadlineConfig,
    fifo: [[Vec<Waiting>; 2]; 3],
    latest_pos: [[u64; 2]; 3],
    counts: [[u32; 4]; 3],
    first: Vec<Queued>,
    last_dir: usize,
    batching: u32,
    starved: u32,
    seq: u64,
}

impl Model {
    fn new(cfg: MqDeadlineConfig) -> Self {
        Self { cfg, last_dir: 1, ..Self::default() }
    }
    fn expire(&self, dir: usize) -> u64 {
        [self.cfg.read_expire_ns, self.cfg.write_expire_ns][dir]
    }
    fn insert(&mut self, r: Queued, at_head: bool, again: bool, now: u64) {
        let (c, d) = (class_of(r), dir_of(r));
        self.counts[c][0] += u32::from(!again);
        if at_head {
            self.first.insert(0, r);
            return;
        }
        let deadline = now + self.expire(d);
        self.fifo[c][d].push(Waiting { r, seq: self.seq, deadline });
        self.seq += 1;
    }
    fn queued(&self, c: usize) -> bool {
        self.counts[c][0] != self.counts[c][3]
    }
    fn has_work(&self) -> bool {
        !self.first.is_empty() || self.fifo.iter().flatten().any(|f| !f.is_empty())
    }
    fn next(&self, c: usize, d: usize) -> Option<usize> {
        let ahead = |i: &usize| self.fifo[c][d][*i].r.sector >= self.latest_pos[c][d];
        (0..self.fifo[c][d].len()).filter(ahead).min_by_key(|i| (self.fifo[c][d][*i].r.sector, self.fifo[c][d][*i].seq))
    }
    fn select(&mut self, c: usize, limit: i128, now: u64) -> Option<Queued> {
        let (mut d, mut at) = (self.last_dir, self.next(c, self.last_dir));
        if at.is_none() || self.batching >= self.cfg.fifo_batch {
            d = match [0, 1].map(|d| !self.fifo[c][d].is_empty()) {
                [false, false] => return None,
                [true, false] => 0,
                [true, true] if self.starved < self.cfg.writes_starved => {
                    self.starved += 1;
                    0
                }
                [_, true] => {
                    self.starved = 0;
                    1
                }
            };
            let expired = self.fifo[c][d][0].deadline <= now;
            at = if expired { Some(0) } else { self.next(c, d).or(Some(0)) };
            self.last_dir = d;
            self.batching = 0;
        }
        let at = at.unwrap();
        let w = self.fifo[c][d][at];
        if i128::from(w.deadline - self.expire(d)) > limit {
            return None;
        }
        self.batching += 1;
        self.fifo[c][d].remove(at);
        self.start(w.r)
    }
    fn start(&mut self, r: Queued) -> Option<Queued> {
        let c = class_of(r);
        self.counts[c][2] += 1;
        self.latest_pos[c][dir_of(r)] = r.sector;
        Some(r)
    }
    fn dispatch(&mut self, now: u64) -> Option<Queued> {
        if !self.first.is_empty() {
            let r = self.first.remove(0);
            return self.start(r);
        }
        if (0..3).filter(|c| self.queued(*c)).count() >= 2 {
            let limit = i128::from(now) - i128::from(self.cfg.prio_aging_expire_ns);
            if let Some(r) = self.select(1, limit, now).or_else(|| self.select(2, limit, now)) {
                return Some(r);
            }
        }
        for c in 0..3 {
            let r = self.select(c, i128::from(now), now);
            if r.is_some() || self.queued(c) {
                return r;
            }
        }
        None
    }
    /// Places of two queued requests of a list, the second of which starts where the first ends.
    fn neighbours(&self, c: usize, d: usize) -> Option<(usize, usize)> {
        let f = &self.fifo[c][d];
        let joins = |a: &Waiting, b: &Waiting| a.r.sector + u64::from(a.r.nr_sectors) == b.r.sector;
        let pairs = (0..f.len()).flat_map(|a| (0..f.len()).map(move |b| (a, b)));
        pairs.into_iter().find(|(a, b)| joins(&f[*a], &f[*b]))
    }
    fn merge(&mut self, c: usize, d: usize, a: usize, b: usize) {
        let f = &mut self.fifo[c][d];
        let (first, second) = (f[a], f[b]);
        let grown = Queued { nr_sectors: first.r.nr_sectors + second.r.nr_sectors, ..first.r };
        if second.deadline < first.deadline {
            f[b] = Waiting { r: grown, deadline: second.deadline, ..first };
            f.remove(a);
        } else {
            f[a].r = grown;
            f.remove(b);
        }
        self.counts[c][1] += 1;
        self.counts[c][3] += 1;
    }
}

/// What a view says of a request that is known by its slot only.
fn named(rq: u32) -> RequestView {
    RequestView {
        id: rq,
        bio: 0,
        nr_bios: 1,
        job: 0,
        op: Op::Read,
        sector: 0,
        nr_sectors: 0,
        zone: 0,
        dev: 0,
        origin: 0,
        tag: None,
        internal_tag: None,
        d_time: None,
        flags: 0,
    }
}

fn agree(e: &AnyElevator, m: &Model, now: u64) {
    let ElevatorView::MqDeadline(v) = e.view(now, &named) else { panic!("mq-deadline") };
    assert_eq!((v.batching, v.starved, v.last_dir), (m.batching, m.starved, m.last_dir));
    assert!(v.dispatch.iter().map(|r| r.id).eq(m.first.iter().map(|r| r.rq)));
    for (c, class) in v.classes.iter().enumerate() {
        assert_eq!((class.counts, class.latest_pos), (m.counts[c], m.latest_pos[c]));
        for d in 0..2 {
            assert!(class.fifo[d].iter().copied().eq(m.fifo[c][d].iter().map(|w| (w.r.rq, w.deadline))));
            assert_eq!(class.sort[d].len(), m.fifo[c][d].len());
        }
    }
}

fn drawn(d: &mut Dice) -> MqDeadlineConfig {
    MqDeadlineConfig {
        read_expire_ns: d.pick(&[0, 20, 500, 10_000]),
        write_expire_ns: d.pick(&[0, 100, 5_000]),
        prio_aging_expire_ns: d.pick(&[0, 50, 1_000, 1_000_000]),
        writes_starved: d.pick(&[0, 1, 2, 5]),
        fifo_batch: d.pick(&[0, 1, 2, 4, 16]),
        front_merges: d.flip(),
    }
}

fn deadline(mq_deadline: MqDeadlineConfig) -> AnyElevator {
    AnyElevator::new(&QueueConfig { mq_deadline, ..common::queue() }, 4)
}

fn request(d: &mut Dice, rq: u32, class: IoClass) -> Queued {
    let op = d.pick(&[Op::Read, Op::Write]);
    Queued {
        rq,
        op,
        sector: d.below(40) * 8,
        nr_sectors: 8,
        prio: IoPrio { class, level: 0 },
        sync: op == Op::Read,
        job: 0,
        cpu: d.below(4) as u16,
        start: 0,
    }
}

/// The same requests leave in the same order as kernel 4.2 says, with merges, requeues and completions in between; and
/// what has_work, classes and aging promise is kept.
#[test]
fn mq_deadline_does_what_the_specification_says() {
    for seed in 0..400 {
        let mut d = Dice(seed);
        let cfg = drawn(&mut d);
        let classes: &[IoClass] = d.pick(&[
            &[IoClass::None, IoClass::Be][..],
            &[IoClass::Rt, IoClass::Be, IoClass::Idle, IoClass::None],
            &[IoClass::Be, IoClass::Idle],
        ]);
        let (mut e, mut m) = (deadline(cfg), Model::new(cfg));
        let (mut now, mut slots, mut driver) = (0, 0, Vec::new());
        // When each request was inserted, or what it took over, by slot.
        let mut started = vec![0];
        for _ in 0..400 {
            now += d.below(30);
            match d.below(10) {
                0..=3 => {
                    slots += 1;
                    let class = d.pick(classes);
                    let r = request(&mut d, slots, class);
                    let at_head = d.below(12) == 0;
                    started.push(now);
                    e.insert(r, at_head, now);
                    m.insert(r, at_head, false, now);
                }
                4..=6 => {
                    let work = e.has_work(0);
                    assert_eq!(work, m.has_work());
                    let above = |c: usize, m: &Model| (0..c).any(|c| m.queued(c));
                    let at_head = !m.first.is_empty();
                    let got = e.dispatch(0, false, now);
                    let wait = (0..3).find(|c| m.fifo[*c].iter().any(|f| !f.is_empty()));
                    let want = m.dispatch(now);
                    assert_eq!(got, want.map(|r| r.rq), "seed {seed}");
                    match want {
                        Some(r) => {
                            assert!(work);
                            if !at_head && above(class_of(r), &m) {
                                let started = started[r.rq as usize];
                                assert!(
                                    started + cfg.prio_aging_expire_ns <= now,
                                    "before its class's turn, seed {seed}"
                                );
                            }
                            driver.push(r);
                        }
                        None if work => assert!(above(wait.unwrap(), &m), "something waits for nothing, seed {seed}"),
                        None => {}
                    }
                }
                7 if !driver.is_empty() => {
                    let r = driver.swap_remove(d.below(driver.len() as u64) as usize);
                    e.completed(r, now, now);
                    e.finished(r, now);
                    m.counts[class_of(r)][3] += 1;
                }
                8 if !driver.is_empty() => {
                    let r = driver.swap_remove(d.below(driver.len() as u64) as usize);
                    e.requeued(r);
                    e.insert(r, true, now);
                    m.insert(r, true, true, now);
                }
                9 if d.flip() => {
                    let (c, dir) = (d.below(3) as usize, d.below(2) as usize);
                    let Some(w) = m.fifo[c][dir].first_mut().filter(|w| w.r.sector > 0) else { continue };
                    let old = w.r.sector;
                    w.r = Queued { sector: old - 4, nr_sectors: w.r.nr_sectors + 4, ..w.r };
                    e.reposition(w.r, old);
                }
                _ => {
                    let (c, dir) = (d.below(3) as usize, d.below(2) as usize);
                    if let Some((a, b)) = m.neighbours(c, dir) {
                        let (first, second) = (m.fifo[c][dir][a].r, m.fifo[c][dir][b].r);
                        m.merge(c, dir, a, b);
                        let since = started[first.rq as usize].min(started[second.rq as usize]);
                        started[first.rq as usize] = since;
                        e.merged(first, second);
                        e.finished(second, now);
                    }
                }
            }
            agree(&e, &m, now);
        }
    }
}

/// After it expired, each request ahead of one in its FIFO, and then itself, has to wait for no more than a batch of the
/// running direction and `writes_starved` batches of reads.
#[test]
fn an_expired_request_waits_for_few_others() {
    for seed in 0..300 {
        let mut d = Dice(seed);
        let cfg = MqDeadlineConfig { writes_starved: d.pick(&[1, 2, 3]), ..drawn(&mut d) };
        let bound = u64::from(cfg.fifo_batch.max(1)) * u64::from(1 + cfg.writes_starved);
        let mut e = deadline(cfg);
        let (mut now, mut slots) = (0, 0);
        // Request, direction, deadline, and by which dispatch it has to go once it expired.
        let mut waiting: Vec<(u32, usize, u64, Option<u64>)> = Vec::new();
        let mut dispatched = 0;
        for _ in 0..2_000 {
            now += d.below(10);
            if d.flip() {
                slots += 1;
                let r = request(&mut d, slots, IoClass::Be);
                e.insert(r, false, now);
                let expire = [cfg.read_expire_ns, cfg.write_expire_ns][dir_of(r)];
                waiting.push((r.rq, dir_of(r), now + expire, None));
            } else {
                for i in 0..waiting.len() {
                    let ahead = waiting[..i].iter().filter(|w| w.1 == waiting[i].1).count() as u64;
                    if waiting[i].3.is_none() && waiting[i].2 <= now {
                        // One more: the very first batch starts without a choice.
                        waiting[i].3 = Some(dispatched + (ahead + 1) * bound + 1);
                    }
                }
                let Some(rq) = e.dispatch(0, false, now) else { continue };
                dispatched += 1;
                let at = waiting.iter().position(|w| w.0 == rq).expect("was inserted, and leaves once");
                let (.., latest) = waiting.remove(at);
                assert!(latest.is_none_or(|latest| dispatched <= latest), "seed {seed}");
                assert!(waiting.iter().all(|w| w.3.is_none_or(|latest| dispatched < latest)), "seed {seed}");
            }
        }
    }
}

/// Nothing is lost in the ctx lists, each CPU's requests keep their order, and has_work says what dispatch finds.
#[test]
fn ctx_lists_keep_all_requests_in_order() {
    for seed in 0..200 {
        let mut d = Dice(seed);
        let (queues, cpus) = (1 + d.below(6) as u16, 1 + d.below(8) as u16);
        let q = QueueConfig { elevator: ElevatorKind::None, nr_hw_queues: queues, ..common::queue() };
        let mut e = AnyElevator::new(&q, cpus);
        let (mut slots, mut lists) = (0, vec![Vec::new(); usize::from(cpus)]);
        for _ in 0..300 {
            if d.flip() {
                slots += 1;
                let cpu = d.below(u64::from(cpus)) as u16;
                let r = Queued { cpu, ..request(&mut d, slots, IoClass::None) };
                e.insert(r, false, 0);
                lists[usize::from(cpu)].push(slots);
                let newest = e.ctx_list(r.op, cpu).and_then(|list| list.last().copied());
                assert_eq!(newest, Some(slots));
            } else {
                let hctx = d.below(u64::from(queues)) as u16;
                let (work, got) = (e.has_work(hctx), e.dispatch(hctx, d.flip(), 0));
                assert_eq!(work, got.is_some());
                if let Some(rq) = got {
                    let list = lists.iter_mut().find(|l| l.first() == Some(&rq)).expect("the oldest of its CPU");
                    list.remove(0);
                }
            }
        }
        for hctx in 0..queues {
            while let Some(rq) = e.dispatch(hctx, false, 0) {
                lists.iter_mut().for_each(|l| l.retain(|other| *other != rq));
            }
        }
        assert!(lists.concat().is_empty());
        assert_eq!((e.any_queued(), (0..queues).any(|h| e.has_work(h))), (None, false));
    }
}
