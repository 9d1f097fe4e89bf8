//! kyber: four domains of requests, a pool of tokens for each, resized by what latencies were seen.
//!
//! Models: block/kyber-iosched.c, 7.1 (kernel 4.4), with the wake-up batches of the tokens' bitmaps (kernel 3.2).
//! Rule: batches of a domain in turn, each request with a token of its domain; a timer armed by completions looks at
//! two histograms a domain. Slow commands (p90 since issue) shrink the pools of domains that are well; a domain that is
//! late (p99 since creation) gets tokens back. Both histograms of a domain share one deadline, as in the kernel: below
//! 500 completions a second the I/O histogram takes it, and the other one waits until it has 500.
//! Leaves out: which token of a pool (the lowest free one), jiffies, discards (no operation is one).

use alloc::vec::Vec;

use super::Queued;
use super::none::hctx_of;
use crate::config::{KyberConfig, QueueConfig};
use crate::fifo::Fifo;
use crate::observe::snapshot::{KyberDomainView, KyberView, RequestView};
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::Op;

/// READ, WRITE, DISCARD, OTHER.
const DOMAINS: usize = 4;
const READ: usize = 0;
const WRITE: usize = 1;
const OTHER: usize = 3;
/// Domains whose latency is looked at.
const TIMED: usize = OTHER;
/// Most tokens of a domain.
const DEPTH: [u32; DOMAINS] = [256, 128, 64, 16];
/// Requests of a domain in a row.
const BATCH: [u32; DOMAINS] = [16, 8, 1, 1];
/// Target of discards; it has no attribute.
const DISCARD_TARGET_NS: SimDuration = 5 * SEC;
/// Buckets of a histogram, each a quarter of the target wide, the last one open.
const BUCKETS: usize = 8;
/// Buckets up to the target.
const GOOD: usize = 4;
/// Histograms of a domain: since creation, since issue.
const TOTAL: usize = 0;
const IO: usize = 1;
/// From the first completion to the look at the histograms.
const TIMER_NS: SimDuration = 100 * MS;
/// A percentile is taken of this many samples, or of fewer after [`WINDOW_NS`].
const SAMPLES: u32 = 500;
const WINDOW_NS: SimDuration = SEC;
/// The request has no token.
const NO_TOKEN: u16 = u16::MAX;

fn domain_of(op: Op) -> usize {
    match op {
        Op::Read => READ,
        Op::Write => WRITE,
        _ => OTHER,
    }
}

/// Tokens of a domain, for all hardware queues.
#[derive(Clone, Debug, PartialEq)]
struct Pool {
    depth: u32,
    /// A bit a token. After shrinking, bits at `depth` and above come back but are not given out again.
    used: [u64; DEPTH[READ] as usize / 64],
    /// Hardware queues that wait for a token.
    waiting: Vec<u16>,
    /// Tokens that came back while someone waited, less those that woke.
    freed: u32,
}

impl Pool {
    fn new(depth: u32) -> Self {
        Self { depth, used: Default::default(), waiting: Vec::new(), freed: 0 }
    }
    /// Bits of word `w` that are tokens.
    fn mask(&self, w: usize) -> u64 {
        let bits = self.depth.saturating_sub(w as u32 * 64);
        if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
    }
    /// Takes a token for a hardware queue, which waits if there is none.
    fn get(&mut self, hctx: u16) -> Option<u16> {
        for w in 0..self.used.len() {
            let free = !self.used[w] & self.mask(w);
            if free != 0 {
                self.used[w] |= free & free.wrapping_neg();
                if !self.waiting.is_empty() {
                    self.waiting.retain(|h| *h != hctx);
                }
                return Some((w as u32 * 64 + free.trailing_zeros()) as u16);
            }
        }
        if !self.waiting.contains(&hctx) {
            self.waiting.push(hctx);
        }
        None
    }
    /// Gives a token back. True when a batch of them is free, and whoever waits was woken.
    fn put(&mut self, token: u16) -> bool {
        self.used[usize::from(token) / 64] &= !(1 << (token % 64));
        if self.waiting.is_empty() {
            return false;
        }
        let batch = (self.depth / 8).clamp(1, 8);
        self.freed += 1;
        if self.freed < batch {
            return false;
        }
        self.freed -= batch;
        // Not exclusive: all of them.
        self.waiting.clear();
        true
    }
    fn in_use(&self) -> u32 {
        (0..self.used.len()).map(|w| (self.used[w] & self.mask(w)).count_ones()).sum()
    }
}

/// What was seen of a domain's latency.
#[derive(Clone, Debug, PartialEq, Default)]
struct Latency {
    target_ns: SimDuration,
    buckets: [[u32; BUCKETS]; 2],
    /// When few samples will do, if a histogram has been looked at and had too few.
    deadline: Option<SimTime>,
    /// p99 of a window in which nothing was slow: used in the next bad one.
    kept: Option<u8>,
    /// As last evaluated: bucket of p99 of total latency; p90 of I/O latency was bad.
    last: (Option<u8>, bool),
}

impl Latency {
    fn add(&mut self, which: usize, ns: SimDuration) {
        let width = (self.target_ns / GOOD as u64).max(1);
        let bucket = (ns.saturating_sub(1) / width).min(BUCKETS as u64 - 1);
        self.buckets[which][bucket as usize] += 1;
    }
    /// Bucket of a percentile, whose histogram starts anew; `None` while there are too few samples.
    fn percentile(&mut self, which: usize, percent: u32, now: SimTime) -> Option<u8> {
        let buckets = &mut self.buckets[which];
        let samples = buckets.iter().sum::<u32>();
        if samples == 0 {
            return None;
        }
        let deadline = *self.deadline.get_or_insert(now.saturating_add(WINDOW_NS));
        if samples < SAMPLES && now < deadline {
            return None;
        }
        self.deadline = None;
        let mut rest = (u64::from(samples) * u64::from(percent)).div_ceil(100);
        let mut bucket = 0;
        while bucket < BUCKETS - 1 && u64::from(buckets[bucket]) < rest {
            rest -= u64::from(buckets[bucket]);
            bucket += 1;
        }
        *buckets = Default::default();
        Some(bucket as u8)
    }
}

/// What a hardware queue has of its own.
#[derive(Clone, Debug, PartialEq, Default)]
struct Hctx {
    cur_domain: usize,
    batching: u32,
    /// Taken from the ctx lists: these merge no more.
    rqs: [Fifo<Idx>; DOMAINS],
    /// Requests in its ctx lists.
    in_ctx: [u32; DOMAINS],
}

impl Hctx {
    fn queued(&self, domain: usize) -> bool {
        self.in_ctx[domain] > 0 || !self.rqs[domain].is_empty()
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Kyber {
    pools: [Pool; DOMAINS],
    latency: [Latency; TIMED],
    /// By CPU and domain.
    ctxs: Vec<[Fifo<Idx>; DOMAINS]>,
    hctxs: Vec<Hctx>,
    /// Token of each request, by slot.
    tokens: Vec<u16>,
    timer: Option<SimTime>,
}

impl Kyber {
    /// Empty, as after selecting it.
    pub fn new(q: &QueueConfig, nr_cpus: u16) -> Self {
        Self::with_hctxs(q.kyber, nr_cpus, q.nr_hw_queues)
    }

    fn with_hctxs(cfg: KyberConfig, nr_cpus: u16, nr_hctxs: u16) -> Self {
        let mut new = Self {
            pools: DEPTH.map(Pool::new),
            latency: Default::default(),
            ctxs: Vec::new(),
            hctxs: Vec::new(),
            tokens: Vec::new(),
            timer: None,
        };
        new.ctxs.resize_with(usize::from(nr_cpus.max(1)), Default::default);
        new.hctxs.resize_with(usize::from(nr_hctxs.max(1)), Default::default);
        new.latency[2].target_ns = DISCARD_TARGET_NS;
        new.set_targets(cfg);
        new
    }

    /// Writes read_lat_nsec and write_lat_nsec: later completions are sorted by the new targets.
    pub fn set_targets(&mut self, cfg: KyberConfig) {
        self.latency[READ].target_ns = cfg.read_lat_ns;
        self.latency[WRITE].target_ns = cfg.write_lat_ns;
    }

    fn ctx_of(&self, cpu: u16) -> usize {
        usize::from(cpu) % self.ctxs.len()
    }
    fn hctx_of(&self, ctx: usize) -> usize {
        usize::from(hctx_of(ctx as u16, self.ctxs.len() as u16, self.hctxs.len() as u16))
    }

    /// `kyber_insert_requests`
    pub fn insert(&mut self, r: Queued, at_head: bool) {
        let (ctx, domain) = (self.ctx_of(r.cpu), domain_of(r.op));
        let hctx = self.hctx_of(ctx);
        self.hctxs[hctx].in_ctx[domain] += 1;
        let list = &mut self.ctxs[ctx][domain];
        if at_head {
            list.push_front(r.rq);
        } else {
            list.push_back(r.rq);
        }
    }

    /// `kyber_has_work`: something is queued, whether or not there are tokens.
    pub fn has_work(&self, hctx: u16) -> bool {
        self.hctxs.get(usize::from(hctx)).is_some_and(|h| (0..DOMAINS).any(|d| h.queued(d)))
    }

    /// `kyber_dispatch_request`
    pub fn dispatch(&mut self, hctx: u16) -> Option<Idx> {
        let hctx = usize::from(hctx);
        let h = self.hctxs.get(hctx)?;
        if h.batching < BATCH[h.cur_domain]
            && let Some(rq) = self.dispatch_domain(hctx)
        {
            return Some(rq);
        }
        self.hctxs[hctx].batching = 0;
        // The domain that was served comes last, and may begin a new batch.
        for _ in 0..DOMAINS {
            let h = &mut self.hctxs[hctx];
            h.cur_domain = (h.cur_domain + 1) % DOMAINS;
            if let Some(rq) = self.dispatch_domain(hctx) {
                return Some(rq);
            }
        }
        None
    }

    /// A request of the running domain, if it has one and a token for it. Without a token the ctx lists are left alone,
    /// so that their requests can still be merged with.
    fn dispatch_domain(&mut self, hctx: usize) -> Option<Idx> {
        let domain = self.hctxs[hctx].cur_domain;
        if !self.hctxs[hctx].queued(domain) {
            return None;
        }
        let token = self.pools[domain].get(hctx as u16)?;
        if self.hctxs[hctx].rqs[domain].is_empty() {
            self.take_ctx_lists(hctx, domain);
        }
        let h = &mut self.hctxs[hctx];
        h.batching += 1;
        let rq = h.rqs[domain].pop_front()?;
        let slot = rq as usize;
        if self.tokens.len() <= slot {
            self.tokens.resize(slot + 1, NO_TOKEN);
        }
        self.tokens[slot] = token;
        Some(rq)
    }

    fn take_ctx_lists(&mut self, hctx: usize, domain: usize) {
        for ctx in 0..self.ctxs.len() {
            if self.hctx_of(ctx) == hctx {
                self.hctxs[hctx].rqs[domain].append(&mut self.ctxs[ctx][domain]);
            }
        }
        self.hctxs[hctx].in_ctx[domain] = 0;
    }

    /// `kyber_finish_request` of a request that came back from the driver: its token is free.
    pub fn requeued(&mut self, r: Queued) {
        self.put_token(r);
    }

    /// `kyber_completed_request`: two samples, and the timer.
    pub fn completed(&mut self, r: Queued, now: SimTime, d_time: SimTime) {
        let Some(l) = self.latency.get_mut(domain_of(r.op)) else { return };
        l.add(TOTAL, now.saturating_sub(r.start));
        l.add(IO, now.saturating_sub(d_time));
        let due = now.saturating_add(TIMER_NS);
        self.timer = Some(self.timer.map_or(due, |t| t.min(due)));
    }

    /// `kyber_finish_request`; true when that woke a domain that waited for tokens.
    pub fn finished(&mut self, r: Queued) -> bool {
        self.put_token(r)
    }

    fn put_token(&mut self, r: Queued) -> bool {
        let Some(slot) = self.tokens.get_mut(r.rq as usize) else { return false };
        match core::mem::replace(slot, NO_TOKEN) {
            NO_TOKEN => false,
            token => self.pools[domain_of(r.op)].put(token),
        }
    }

    /// `kyber_limit_depth`: all but synchronous reads are held to async_depth.
    pub fn limit_depth(&self, op: Op, sync: bool, async_depth: u32) -> u32 {
        if op == Op::Read && sync { u32::MAX } else { async_depth }
    }

    /// When [`Self::timer_fired`] is wanted.
    pub fn timer(&self) -> Option<SimTime> {
        self.timer
    }

    /// `kyber_timer_fn`: resizes the pools. Never asks for a queue run: whoever waits is woken by tokens coming back.
    pub fn timer_fired(&mut self, now: SimTime) -> bool {
        if self.timer.is_none_or(|due| now < due) {
            return false;
        }
        self.timer = None;
        let mut bad = false;
        for l in &mut self.latency {
            if let Some(p90) = l.percentile(IO, 90, now) {
                l.last.1 = usize::from(p90) >= GOOD;
                bad |= l.last.1;
            }
        }
        for d in 0..TIMED {
            self.resize(d, bad, now);
        }
        false
    }

    fn resize(&mut self, domain: usize, bad: bool, now: SimTime) {
        let l = &mut self.latency[domain];
        let mut p99 = l.percentile(TOTAL, 99, now);
        l.last.0 = p99.or(l.last.0);
        if bad {
            // What was kept serves once: the next throttling needs new samples.
            let kept = l.kept.take();
            p99 = p99.or(kept);
        } else {
            l.kept = p99.or(l.kept);
        }
        let Some(p99) = p99.filter(|b| bad || usize::from(*b) >= GOOD) else { return };
        let pool = &mut self.pools[domain];
        pool.depth = (pool.depth * (u32::from(p99) + 1) / GOOD as u32).clamp(1, DEPTH[domain]);
    }

    /// `kyber_bio_merge` looks at these: requests of the CPU that were not taken from its list yet, oldest first.
    pub fn ctx_list(&self, op: Op, cpu: u16) -> &[Idx] {
        &self.ctxs[self.ctx_of(cpu)][domain_of(op)]
    }

    /// One that waits, if any does.
    pub fn any_queued(&self) -> Option<Idx> {
        (0..DOMAINS).find_map(|d| self.queued(d).next())
    }

    fn queued(&self, domain: usize) -> impl Iterator<Item = Idx> + '_ {
        let flushed = self.hctxs.iter().flat_map(move |h| h.rqs[domain].iter());
        let kept = self.ctxs.iter().flat_map(move |ctx| ctx[domain].iter());
        flushed.chain(kept).copied()
    }

    /// What is shown of it; counters are those of the first hardware queue.
    pub fn view(&self, rq: &dyn Fn(Idx) -> RequestView) -> KyberView {
        let domain = |d: usize| {
            let (pool, l) = (&self.pools[d], self.latency.get(d));
            KyberDomainView {
                depth: pool.depth,
                max_depth: DEPTH[d],
                in_use: pool.in_use(),
                queued: self.queued(d).map(rq).collect(),
                waiting: !pool.waiting.is_empty(),
                target_ns: l.map_or(0, |l| l.target_ns),
                buckets: l.map_or(Default::default(), |l| l.buckets),
                last: l.and_then(|l| Some((l.last.0?, l.last.1))),
            }
        };
        KyberView {
            domains: [0, 1, 2, 3].map(domain),
            cur_domain: self.hctxs[0].cur_domain,
            batching: self.hctxs[0].batching,
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let lists = |l: &[Fifo<Idx>; DOMAINS]| l.iter().map(Fifo::capacity).sum::<usize>() * size_of::<Idx>();
        self.ctxs.capacity() * size_of::<[Fifo<Idx>; DOMAINS]>()
            + self.ctxs.iter().map(lists).sum::<usize>()
            + self.hctxs.capacity() * size_of::<Hctx>()
            + self.hctxs.iter().map(|h| lists(&h.rqs)).sum::<usize>()
            + self.pools.iter().map(|p| p.waiting.capacity()).sum::<usize>() * size_of::<u16>()
            + self.tokens.capacity() * size_of::<u16>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const US: SimTime = 1_000;

    fn kyber() -> Kyber {
        Kyber::with_hctxs(KyberConfig::default(), 4, 1)
    }
    fn rq(rq: Idx, op: Op) -> Queued {
        let prio = Default::default();
        Queued {
            rq,
            op,
            sector: u64::from(rq) * 8,
            nr_sectors: 8,
            prio,
            sync: op == Op::Read,
            job: 0,
            cpu: 0,
            start: 0,
        }
    }
    fn insert(k: &mut Kyber, from: Idx, n: u32, op: Op) {
        for i in from..from + n {
            k.insert(rq(i, op), false);
        }
    }
    fn drain(k: &mut Kyber) -> Vec<Idx> {
        core::iter::from_fn(|| k.dispatch(0)).collect()
    }
    fn view(k: &Kyber) -> KyberView {
        let shown = |id| RequestView {
            id,
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
        };
        k.view(&shown)
    }
    /// A completion with these latencies.
    fn sample(k: &mut Kyber, op: Op, now: SimTime, total: SimDuration, io: SimDuration) {
        k.completed(Queued { start: now - total, ..rq(0, op) }, now, now - io);
    }
    /// A window of 500 completions of both, and the timer. Latencies in us.
    fn window(k: &mut Kyber, now: SimTime, read: (u64, u64), write: (u64, u64)) {
        for _ in 0..500 {
            sample(k, Op::Read, now, read.0 * US, read.1 * US);
            sample(k, Op::Write, now, write.0 * US, write.1 * US);
        }
        let due = k.timer().expect("armed");
        assert!(!k.timer_fired(due));
    }
    fn depths(k: &Kyber) -> [u32; 4] {
        view(k).domains.map(|d| d.depth)
    }

    #[test]
    fn section_4_4_batches_and_rotation() {
        let mut k = kyber();
        insert(&mut k, 0, 20, Op::Read);
        insert(&mut k, 100, 10, Op::Write);
        insert(&mut k, 200, 2, Op::ZoneReset);
        let mut want: Vec<Idx> = (0..16).collect();
        want.extend(100..108);
        want.push(200);
        want.extend(16..20);
        want.extend(108..110);
        want.push(201);
        assert_eq!(drain(&mut k), want);
        assert!(!k.has_work(0));
    }

    #[test]
    fn section_4_4_a_domain_alone_begins_batch_after_batch() {
        let mut k = kyber();
        insert(&mut k, 0, 40, Op::Read);
        assert!(drain(&mut k).into_iter().eq(0..40));
        assert_eq!((view(&k).cur_domain, view(&k).batching), (READ, 0));
    }

    #[test]
    fn section_4_4_ctx_lists_go_in_order_of_cpu_and_merge_until_taken() {
        let mut k = kyber();
        for (n, cpu) in [(0, 3), (1, 1), (2, 3), (3, 0)] {
            k.insert(Queued { cpu, ..rq(n, Op::Read) }, false);
        }
        k.insert(Queued { cpu: 1, ..rq(4, Op::Read) }, true);
        assert!(k.ctx_list(Op::Read, 3) == [0, 2]);
        assert!(k.ctx_list(Op::Write, 3).is_empty());
        assert!(k.queued(READ).eq([3, 4, 1, 0, 2]) && k.any_queued() == Some(3));
        assert_eq!(k.dispatch(0), Some(3));
        assert!(k.ctx_list(Op::Read, 3).is_empty(), "the first request took all lists along");
        assert_eq!(drain(&mut k), [4, 1, 0, 2]);
    }

    /// Without a token the lists are left where bios can merge with them.
    #[test]
    fn section_4_4_tokens_run_out_and_come_back() {
        let mut k = kyber();
        insert(&mut k, 0, 130, Op::Write);
        assert_eq!(drain(&mut k).len(), 128);
        insert(&mut k, 130, 4, Op::Write);
        let d = view(&k).domains[WRITE].clone();
        assert_eq!((d.in_use, d.waiting, d.queued.len()), (128, true, 6));
        assert!(k.has_work(0) && k.dispatch(0).is_none());
        assert!(k.ctx_list(Op::Write, 0) == [130, 131, 132, 133]);
        // Reads have tokens of their own.
        insert(&mut k, 200, 1, Op::Read);
        assert_eq!(k.dispatch(0), Some(200));
        // The bitmap of 128 wakes in batches of eight.
        for n in 0..7 {
            assert!(!k.finished(rq(n, Op::Write)));
        }
        assert!(k.finished(rq(7, Op::Write)));
        assert_eq!(drain(&mut k), [128, 129, 130, 131, 132, 133]);
        // Nobody waits now.
        assert!((8..128).all(|n| !k.finished(rq(n, Op::Write))));
        assert_eq!(view(&k).domains[WRITE].in_use, 6);
    }

    #[test]
    fn section_4_4_a_requeued_request_gives_its_token_back_once() {
        let mut k = kyber();
        insert(&mut k, 0, 1, Op::Read);
        k.dispatch(0);
        assert_eq!(view(&k).domains[READ].in_use, 1);
        k.requeued(rq(0, Op::Read));
        assert_eq!(view(&k).domains[READ].in_use, 0);
        assert!(!k.finished(rq(0, Op::Read)) && !k.finished(rq(9, Op::Read)));
        k.insert(rq(0, Op::Read), true);
        assert_eq!(k.dispatch(0), Some(0));
    }

    #[test]
    fn section_4_4_buckets_are_quarters_of_the_target() {
        let mut k = kyber();
        for ns in [0, 1, 500_000, 500_001, 1_000_000, 1_500_000, 2_000_000, 2_000_001, 3_500_000, 3_500_001, SEC] {
            sample(&mut k, Op::Read, 10 * SEC, ns, 0);
        }
        sample(&mut k, Op::Write, 10 * SEC, 10_000_000, 2_500_001);
        sample(&mut k, Op::ZoneReset, 10 * SEC, SEC, SEC);
        let d = view(&k).domains;
        assert_eq!(d[READ].buckets, [[3, 2, 1, 1, 1, 0, 1, 2], [11, 0, 0, 0, 0, 0, 0, 0]]);
        assert_eq!(d[WRITE].buckets, [[0, 0, 0, 1, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0]]);
        assert_eq!(d[OTHER].buckets, [[0; 8]; 2]);
        assert_eq!(d.map(|d| d.target_ns), [2_000_000, 10_000_000, 5 * SEC, 0]);
    }

    #[test]
    fn section_4_4_percentiles() {
        let of = |buckets, percent| {
            let mut l = Latency { buckets: [buckets, [0; 8]], ..Default::default() };
            let p = l.percentile(TOTAL, percent, 0);
            (p, l.buckets[TOTAL].iter().sum::<u32>())
        };
        assert_eq!(of([0; 8], 99), (None, 0));
        assert_eq!(of([499, 0, 0, 0, 0, 0, 0, 0], 99), (None, 499));
        assert_eq!(of([450, 50, 0, 0, 0, 0, 0, 0], 90), (Some(0), 0));
        assert_eq!(of([449, 51, 0, 0, 0, 0, 0, 0], 90), (Some(1), 0));
        assert_eq!(of([495, 0, 0, 0, 0, 0, 0, 5], 99), (Some(0), 0));
        assert_eq!(of([494, 0, 0, 0, 0, 0, 0, 6], 99), (Some(7), 0));
    }

    #[test]
    fn section_4_4_few_samples_count_after_a_second() {
        let mut l = Latency { target_ns: 4, ..Default::default() };
        l.add(IO, 8);
        assert_eq!(l.percentile(IO, 90, 5), None);
        assert_eq!(l.percentile(IO, 90, SEC + 4), None);
        assert_eq!(l.percentile(IO, 90, SEC + 5), Some(7));
        // Both histograms have one deadline: the one looked at second has to wait anew.
        l.add(TOTAL, 8);
        assert_eq!(l.percentile(TOTAL, 99, SEC + 5), None);
        assert_eq!(l.deadline, Some(2 * SEC + 5));
    }

    #[test]
    fn section_4_4_completions_arm_the_timer() {
        let mut k = kyber();
        assert!(k.timer().is_none() && !k.timer_fired(7));
        sample(&mut k, Op::ZoneReset, 100, 0, 0);
        assert_eq!(k.timer(), None);
        sample(&mut k, Op::Read, 100, 0, 0);
        sample(&mut k, Op::Read, 5_000, 0, 0);
        assert_eq!(k.timer(), Some(100 + 100 * MS));
        k.timer_fired(100 * MS);
        assert!(k.timer().is_some(), "a stale event does nothing");
        k.timer_fired(100 + 100 * MS);
        assert_eq!(k.timer(), None);
    }

    /// Reads are slow at the device: writes, which are well, lose tokens window by window; when writes are late and
    /// nothing is slow any more, they get them back.
    #[test]
    fn section_4_4_writes_are_throttled_while_reads_are_slow_and_recover() {
        let mut k = kyber();
        let mut now = SEC;
        let mut next = || {
            now += SEC;
            now
        };
        // Well: nothing happens, however often.
        window(&mut k, next(), (1000, 900), (1000, 900));
        assert_eq!(depths(&k), [256, 128, 64, 16]);
        // p90 of reads 3 ms: writes have p99 in the first quarter of theirs; late reads keep all they may have.
        let mut seen = Vec::new();
        for _ in 0..4 {
            window(&mut k, next(), (3000, 3000), (2000, 1000));
            seen.push(depths(&k)[WRITE]);
        }
        assert_eq!(seen, [32, 8, 2, 1]);
        assert_eq!(depths(&k), [256, 1, 64, 16]);
        assert_eq!(view(&k).domains[READ].last, Some((5, true)));
        assert_eq!(view(&k).domains[WRITE].last, Some((0, false)));
        // Writes wait long for their tokens, the device is well: bucket 7 doubles.
        seen.clear();
        for _ in 0..8 {
            window(&mut k, next(), (1000, 900), (50_000, 1000));
            seen.push(depths(&k)[WRITE]);
        }
        assert_eq!(seen, [2, 4, 8, 16, 32, 64, 128, 128]);
        assert_eq!(depths(&k)[READ], 256);
    }

    /// p99 in the third quarter: three quarters of the tokens stay, also of reads.
    #[test]
    fn section_4_4_pools_shrink_in_proportion() {
        let mut k = kyber();
        window(&mut k, SEC, (1400, 1400), (30_000, 30_000));
        assert_eq!(depths(&k), [192, 128, 64, 16]);
    }

    /// A p99 of a good window is kept for the first bad one, once.
    #[test]
    fn section_4_4_p99_is_kept_for_the_next_bad_window() {
        let mut k = kyber();
        window(&mut k, SEC, (1000, 900), (2000, 1000));
        let slow_reads = |k: &mut Kyber, now| {
            for _ in 0..500 {
                sample(k, Op::Read, now, 3 * MS, 3 * MS);
            }
            let due = k.timer().expect("armed");
            k.timer_fired(due);
            depths(k)[WRITE]
        };
        assert_eq!(slow_reads(&mut k, 2 * SEC), 32);
        assert_eq!(slow_reads(&mut k, 3 * SEC), 32);
    }

    #[test]
    fn section_4_4_targets_can_be_changed() {
        let mut k = kyber();
        k.set_targets(KyberConfig { read_lat_ns: 10 * MS, write_lat_ns: 0 });
        window(&mut k, SEC, (9000, 9000), (0, 0));
        assert_eq!(depths(&k), [256, 128, 64, 16], "9 ms are well now; so is a write in no time");
        k.set_targets(KyberConfig::default());
        window(&mut k, 2 * SEC, (9000, 9000), (1000, 1000));
        assert_eq!(depths(&k), [256, 32, 64, 16]);
    }

    /// Tokens above a pool's new depth come back without being given out again.
    #[test]
    fn section_4_4_a_shrunk_pool_waits_for_its_low_tokens() {
        let mut k = kyber();
        insert(&mut k, 0, 80, Op::Write);
        drain(&mut k);
        window(&mut k, SEC, (3000, 3000), (2000, 1000));
        assert_eq!((depths(&k)[WRITE], view(&k).domains[WRITE].in_use), (32, 32));
        insert(&mut k, 100, 1, Op::Write);
        assert_eq!(k.dispatch(0), None);
        assert!((32..35).all(|n| !k.finished(rq(n, Op::Write))));
        assert!(k.finished(rq(35, Op::Write)), "a batch of four");
        assert_eq!(k.dispatch(0), None);
        k.finished(rq(0, Op::Write));
        assert_eq!(k.dispatch(0), Some(100));
    }

    #[test]
    fn section_4_4_limit_depth() {
        let k = kyber();
        let limit = |op, sync| k.limit_depth(op, sync, 48);
        assert_eq!([limit(Op::Read, true), limit(Op::Read, false)], [u32::MAX, 48]);
        assert_eq!([limit(Op::Write, true), limit(Op::Write, false)], [48, 48]);
    }

    /// Random inserts, completions, requeues and windows. The queue runs only when something was inserted or `finished`
    /// asks for it: all requests are dispatched all the same.
    #[test]
    fn section_4_4_law() {
        for seed in 0..60 {
            let mut rng = Rng::stream(seed, "kyber", 0);
            let nr_hctxs = 1 + (seed % 3) as u16;
            let mut k = Kyber::with_hctxs(KyberConfig::default(), 4, nr_hctxs);
            let (mut queued, mut flying) = (Vec::<Queued>::new(), Vec::<Queued>::new());
            let (mut now, mut next) = (0, 0);
            let run = |k: &mut Kyber, queued: &mut Vec<Queued>, flying: &mut Vec<Queued>| {
                let busy = view(k).domains.map(|d| d.in_use >= d.depth);
                let able = queued.iter().any(|r| !busy[domain_of(r.op)]);
                let mut n = 0;
                while let Some(rq) = (0..nr_hctxs).find_map(|h| k.dispatch(h)) {
                    let at = queued.iter().position(|r| r.rq == rq).expect("was queued");
                    flying.push(queued.swap_remove(at));
                    n += 1;
                }
                assert_eq!(able, n > 0, "dispatches if there is a token, and only then");
                let v = view(k);
                assert!(v.domains.iter().all(|d| d.in_use <= d.depth && d.depth <= d.max_depth));
                assert_eq!((0..nr_hctxs).any(|h| k.has_work(h)), !queued.is_empty());
                assert_eq!(v.domains.iter().map(|d| d.queued.len()).sum::<usize>(), queued.len());
                for (d, v) in v.domains.iter().enumerate() {
                    assert_eq!(v.waiting, queued.iter().any(|r| domain_of(r.op) == d));
                }
            };
            for step in 0..3_000 {
                now += rng.below(3) * MS;
                let filling = step < 2_000 && (step / 400) % 2 == 0;
                match rng.below(8) {
                    0..=4 if filling => {
                        for _ in 0..1 + rng.below(6) {
                            let op = [Op::Read, Op::Write, Op::Write, Op::ZoneReset][rng.below(4) as usize];
                            let r = Queued { cpu: rng.below(4) as u16, start: now, ..rq(next, op) };
                            next += 1;
                            k.insert(r, rng.below(9) == 0);
                            queued.push(r);
                        }
                        run(&mut k, &mut queued, &mut flying);
                    }
                    5 if !flying.is_empty() && rng.below(10) == 0 => {
                        let r = flying.swap_remove(rng.below(flying.len() as u64) as usize);
                        k.requeued(r);
                        k.insert(r, true);
                        queued.push(r);
                        run(&mut k, &mut queued, &mut flying);
                    }
                    _ if !flying.is_empty() => {
                        let r = flying.swap_remove(rng.below(flying.len() as u64) as usize);
                        k.completed(r, now, now.saturating_sub(rng.below(12) * MS));
                        if k.finished(r) {
                            run(&mut k, &mut queued, &mut flying);
                        }
                    }
                    _ => {}
                }
                if k.timer().is_some_and(|due| due <= now) {
                    k.timer_fired(now);
                }
            }
            while let Some(r) = flying.pop() {
                if k.finished(r) {
                    run(&mut k, &mut queued, &mut flying);
                }
            }
            assert!(queued.is_empty() && k.any_queued().is_none(), "all went");
            assert_eq!(view(&k).domains.map(|d| d.in_use), [0; 4]);
        }
    }
}
