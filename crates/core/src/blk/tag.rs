//! Tags: a bitmap, the requests that hold them, and who sleeps for one.
//!
//! Models: `struct sbitmap_queue` and block/blk-mq-tag.c (kernel 3.2, 3.3).
//! Rule: a tag is held by one request at a time. A freed tag is handed to nobody: after every `wake_batch` of them as
//! many waiters are woken, and compete.
//! Leaves out: reserved tags; sleeping and running again are the pipeline's.
//!
//! A task that finds no tag joins the wait queue its hardware queue points at (`hctx.wait_index`, which moves on). Who
//! frees tags says so with [`Tags::freed`]; a woken task has left its queue, but counts in ws_active until it runs and
//! calls [`Tags::finish_wait`].

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::Task;
use super::lines::Lines;
use super::sbitmap::Sbitmap;
use crate::config::TagAlloc;
use crate::fifo::Fifo;
use crate::observe::snapshot::{MAX_WOKEN, TagsView, WokenView};
use crate::rng::Rng;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{JobIdx, Tag, ZoneNo};

/// SBQ_WAIT_QUEUES
pub const WAIT_QUEUES: usize = 8;
/// SBQ_WAKE_BATCH: at most so many are woken at once.
pub const WAKE_BATCH: u32 = 8;

/// Holder of a tag whose request is about to be made.
pub const NOT_YET: Idx = Idx::MAX;

/// Someone asleep for a tag or a frozen queue, with the bio it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiter {
    /// Who.
    pub task: Task,
    /// For which bio.
    pub bio: Idx,
}

/// How many tags a user of a shared tag set may hold: `hctx_may_queue` (kernel 3.2).
pub fn fair_share(depth: u32, users: u32) -> u32 {
    if depth <= 1 || users == 0 { depth } else { depth.div_ceil(users).max(4) }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags {
    map: Sbitmap,
    /// As many as there were when the tags were allocated (nr_tags).
    holders: Vec<Option<Idx>>,
    busy: u32,
    ws: [Fifo<Waiter>; WAIT_QUEUES],
    /// Waiters, and woken ones that have not run yet.
    ws_active: u32,
    wake_index: u8,
    wake_batch: u32,
    min_shallow_depth: u32,
    active_queues: u32,
    completion_cnt: u64,
    wakeup_cnt: u64,
    /// Before 6.2: tags to be freed until each queue is woken; else `None`.
    wait_cnt: Option<[u32; WAIT_QUEUES]>,
    /// Who was woken when, and whether it got a tag.
    woken: Fifo<(Task, u8, SimTime, Option<bool>)>,
    /// What its cache lines cost; `None`: nothing.
    lines: Option<Box<Lines>>,
}

impl Tags {
    /// `depth` free tags. `rng` places the CPUs' first hints.
    pub fn new(depth: u32, alloc: TagAlloc, nr_cpus: u16, rng: Rng) -> Self {
        Self::with_room(depth, depth, alloc, nr_cpus, rng)
    }
    /// `depth` free tags, allocated for `room`: words have the width for that (sched tags of a shared tag set: 2048).
    pub fn with_room(depth: u32, room: u32, alloc: TagAlloc, nr_cpus: u16, rng: Rng) -> Self {
        let (depth, room) = (depth.max(1), room.max(depth).max(1));
        let mut tags = Self {
            map: Sbitmap::new(room, alloc == TagAlloc::RoundRobin, nr_cpus, rng),
            holders: alloc::vec![None; room as usize],
            busy: 0,
            ws: [const { Fifo::new() }; WAIT_QUEUES],
            ws_active: 0,
            wake_index: 0,
            wake_batch: 1,
            min_shallow_depth: u32::MAX,
            active_queues: 0,
            completion_cnt: 0,
            wakeup_cnt: 0,
            wait_cnt: None,
            woken: Fifo::new(),
            lines: None,
        };
        if depth < room {
            tags.map.resize(depth);
        }
        tags.update_wake_batch();
        tags
    }
    /// Older kernels: a shallow depth counts for each word (5.17), each wait queue has a countdown of its own (before
    /// 6.2). To be called before anything else.
    pub fn set_model(&mut self, shallow_per_word: bool, wake_per_queue: bool) {
        self.map.set_per_word(shallow_per_word);
        self.wait_cnt = wake_per_queue.then_some([self.wake_batch; WAIT_QUEUES]);
    }
    /// Cache lines take so long from one CPU to the next; 0: no time.
    pub fn set_line_ns(&mut self, ns: SimDuration) {
        let lines =
            || Box::new(Lines::new(ns, self.map.word_of(self.nr_tags() - 1) + 1, self.map.hints().len() as u16));
        self.lines = (ns > 0).then(lines);
    }
    /// Number of tags.
    pub fn depth(&self) -> u32 {
        self.map.depth()
    }
    /// nr_tags: number of tags there is memory for.
    pub fn nr_tags(&self) -> u32 {
        self.holders.len() as u32
    }
    /// Tags in use.
    pub fn busy(&self) -> u32 {
        self.busy
    }
    /// A free tag exists.
    pub fn any_free(&self) -> bool {
        self.busy < self.depth()
    }
    /// Bits a word of the sbitmap has.
    pub fn bits_per_word(&self) -> u32 {
        self.map.bits_per_word()
    }
    /// Request slots by tag.
    pub fn holders(&self) -> &[Option<Idx>] {
        &self.holders
    }
    /// The bitmap.
    pub fn map(&self) -> &Sbitmap {
        &self.map
    }

    // ---- tags ----

    /// Takes a tag for the request about to be stored in `rq`, on `cpu`; a `shallow` depth other than `u32::MAX` leaves
    /// the upper bits of each word to others.
    ///
    /// A round robin search does not look back within its first word: it may fail though a tag is free
    /// ([`Tags::any_free`]), and finds it when called again. The kernel tries at least twice before it gives up.
    pub fn get(&mut self, cpu: u16, rq: Idx, shallow: u32) -> Option<Tag> {
        if !self.any_free() {
            self.map.found_full(cpu);
            return None;
        }
        let tag = self.map.get(cpu, shallow)?;
        self.holders[tag as usize] = Some(rq);
        self.busy += 1;
        Some(tag)
    }
    /// The request of a taken tag is in `rq`.
    pub fn hold(&mut self, tag: Tag, rq: Idx) {
        self.holders[tag as usize] = Some(rq);
    }
    /// Gives back a tag that was taken on `cpu`; wakes nobody.
    pub fn put(&mut self, tag: Tag, cpu: u16) {
        if self.release(tag) {
            self.map.clear(tag, cpu);
        }
    }
    /// Gives back tags at once on `cpu` (batched completion); wakes nobody.
    pub fn put_batch(&mut self, tags: &[Tag], cpu: u16) {
        for tag in tags {
            self.release(*tag);
        }
        self.map.clear_batch(tags, cpu);
    }
    fn release(&mut self, tag: Tag) -> bool {
        let held = self.holders.get_mut(tag as usize).and_then(Option::take).is_some();
        debug_assert!(held, "tag {tag} is free");
        self.busy -= u32::from(held);
        held
    }
    /// queue/nr_requests: fewer tags of the same words, or with more than there is memory for, tags anew.
    ///
    /// The queue is frozen meanwhile, so no tag is held. (One that is keeps its number.)
    pub fn resize(&mut self, depth: u32) {
        let depth = depth.max(1);
        if depth > self.nr_tags() {
            self.map = self.map.anew(depth);
            self.holders.resize(depth as usize, None);
            for (tag, _) in self.holders.iter().enumerate().filter(|(_, h)| h.is_some()) {
                self.map.take(tag as u32);
            }
            (self.completion_cnt, self.wakeup_cnt, self.wake_index) = (0, 0, 0);
            self.set_line_ns(self.lines.as_ref().map_or(0, |l| l.ns()));
        } else {
            self.map.resize(depth);
        }
        self.update_wake_batch();
    }
    /// Tags of each word that an allocation of this shallow depth may use.
    pub fn shallow_words(&self, shallow: u32) -> impl Iterator<Item = u32> {
        (0..self.map.map_nr()).map(move |w| self.map.word_limit(w, shallow))
    }

    // ---- waiting and waking ----

    /// wake_batch: tags freed until as many waiters are woken.
    pub fn wake_batch(&self) -> u32 {
        self.wake_batch
    }
    /// What the scheduler says that its shallowest allocations may use.
    pub fn set_min_shallow_depth(&mut self, depth: u32) {
        self.min_shallow_depth = depth;
        self.update_wake_batch();
    }
    /// Users of a shared tag set have come or gone; the last one leaves the batch as it was.
    pub fn set_active_queues(&mut self, users: u32) {
        self.active_queues = users;
        if users > 0 {
            self.set_wake_batch(self.depth().div_ceil(users));
        }
    }
    fn update_wake_batch(&mut self) {
        self.set_wake_batch(self.depth().min(self.min_shallow_depth));
    }
    fn set_wake_batch(&mut self, depth: u32) {
        let batch = (depth / WAIT_QUEUES as u32).clamp(1, WAKE_BATCH);
        if batch != self.wake_batch {
            self.wake_batch = batch;
            // Before 6.2: the next freed tag wakes, so that nobody waits for a batch that cannot come.
            self.wait_cnt = self.wait_cnt.map(|_| [1; WAIT_QUEUES]);
        }
    }
    /// Queues a waiter behind the others of wait queue `ws`.
    pub fn add_waiter(&mut self, ws: u8, w: Waiter) {
        self.ws[usize::from(ws) % WAIT_QUEUES].push_back(w);
        self.ws_active += 1;
    }
    /// Takes a waiter out that needs to wait no more; false if it was not there (it was woken meanwhile).
    pub fn remove_waiter(&mut self, w: Waiter) -> bool {
        for queue in &mut self.ws {
            if let Some(at) = queue.iter().position(|other| *other == w) {
                queue.remove(at);
                self.ws_active = self.ws_active.saturating_sub(1);
                return true;
            }
        }
        false
    }
    /// `sbitmap_finish_wait` of a woken waiter: it runs.
    pub fn finish_wait(&mut self) {
        self.ws_active = self.ws_active.saturating_sub(1);
    }
    /// Tasks asleep in the eight queues.
    pub fn nr_waiters(&self) -> u32 {
        self.ws.iter().map(|q| q.len() as u32).sum()
    }
    /// ws_active: tasks asleep, and woken ones that have not run yet.
    pub fn ws_active(&self) -> u32 {
        self.ws_active
    }
    /// The eight queues, longest asleep first.
    pub fn waiters(&self) -> &[Fifo<Waiter>; WAIT_QUEUES] {
        &self.ws
    }
    /// `sbitmap_queue_wake_up`: `n` tags were freed. Appends whom to wake, in order, with the queues they have left.
    pub fn freed(&mut self, n: u32, woken: &mut Vec<(u8, Waiter)>) {
        if self.ws_active == 0 || n == 0 {
            return;
        }
        if self.wait_cnt.is_some() {
            (0..n).for_each(|_| self.count_down(woken));
            return;
        }
        self.completion_cnt += u64::from(n);
        if self.completion_cnt - self.wakeup_cnt < u64::from(self.wake_batch) {
            return;
        }
        self.wakeup_cnt += u64::from(self.wake_batch);
        let mut left = self.wake_batch;
        let mut index = self.wake_index;
        for _ in 0..WAIT_QUEUES {
            let at = index;
            // Moved on first: a queue that is not emptied is looked at again only after the others.
            index = next_queue(index);
            left -= self.wake_from(at, left, woken);
            if left == 0 {
                break;
            }
        }
        self.wake_index = index;
    }
    /// Wakes at most `n` of one queue; how many there were.
    fn wake_from(&mut self, at: u8, n: u32, woken: &mut Vec<(u8, Waiter)>) -> u32 {
        let queue = &mut self.ws[usize::from(at)];
        let nr = (n as usize).min(queue.len());
        for _ in 0..nr {
            woken.extend(queue.pop_front().map(|w| (at, w)));
        }
        nr as u32
    }
    /// Before 6.2: the first queue with waiters counts down, and is woken at zero.
    fn count_down(&mut self, woken: &mut Vec<(u8, Waiter)>) {
        let Some(counts) = &mut self.wait_cnt else { return };
        let mut at = self.wake_index;
        for _ in 0..WAIT_QUEUES {
            if !self.ws[usize::from(at)].is_empty() {
                self.wake_index = at;
                let count = &mut counts[usize::from(at)];
                *count = count.saturating_sub(1);
                if *count == 0 {
                    *count = self.wake_batch;
                    self.wake_index = next_queue(at);
                    self.wake_from(at, self.wake_batch, woken);
                }
                return;
            }
            at = next_queue(at);
        }
    }
    /// An injected fault: a batch of freed tags is spent on a queue without waiters (report 11).
    pub fn lose_wake_up(&mut self) {
        match &mut self.wait_cnt {
            Some(counts) => counts[usize::from(self.wake_index)] = self.wake_batch,
            None => {
                self.completion_cnt += u64::from(self.wake_batch);
                self.wakeup_cnt += u64::from(self.wake_batch);
            }
        }
        self.wake_index = next_queue(self.wake_index);
    }

    // ---- cache lines ----

    /// When a task on `cpu` that begins to look for a tag now is through with it.
    pub fn search(&mut self, cpu: u16, shallow: u32, now: SimTime) -> SimTime {
        match &mut self.lines {
            Some(lines) => lines.search(cpu, now, self.map.search_order(cpu, shallow)),
            None => now,
        }
    }
    /// A task on `cpu` lay down in wait queue `ws`.
    pub fn slept(&mut self, cpu: u16, ws: u8, now: SimTime) {
        if let Some(lines) = &mut self.lines {
            lines.sleep(cpu, ws, now);
        }
    }
    /// When a woken task on `cpu` has said that it runs.
    pub fn runs(&mut self, cpu: u16, now: SimTime) -> SimTime {
        self.lines.as_mut().map_or(now, |lines| lines.run(cpu, now))
    }
    /// `cpu` gave `tags` back and woke these: from when on they may run.
    ///
    /// To be called after [`Tags::freed`]; `counted`: somebody waited then.
    pub fn wakes(&mut self, cpu: u16, tags: &[Tag], counted: bool, woken: &[(u8, Waiter)], now: SimTime) -> SimTime {
        let Some(lines) = &mut self.lines else { return now };
        let mut t = tags.iter().fold(now, |t, tag| lines.put(cpu, self.map.word_of(*tag), t));
        let mut run_at = t;
        if counted {
            (run_at, t) = match self.wait_cnt {
                // The queue that was woken, or is counted down.
                Some(_) => {
                    let ws = woken.first().map_or(self.wake_index, |w| w.0);
                    lines.count_for_queue(cpu, t, ws, woken.len() as u64)
                }
                None => lines.count_for_map(cpu, t, woken.iter().map(|w| w.0)),
            };
        }
        lines.took(cpu, t - now);
        run_at
    }
    /// What completions took of a CPU's time since its task went on last.
    pub fn taken(&mut self, cpu: u16) -> SimDuration {
        self.lines.as_mut().map_or(0, |lines| lines.taken(cpu))
    }

    // ---- pictures ----

    /// Notes that a waiter was woken.
    pub fn note_woken(&mut self, ws: u8, task: Task, now: SimTime) {
        if self.woken.len() >= MAX_WOKEN {
            self.woken.pop_front();
        }
        self.woken.push_back((task, ws, now, None));
    }
    /// Notes whether a woken waiter found a tag when it ran.
    pub fn note_got(&mut self, task: Task, got: bool) {
        if let Some(last) = self.woken.iter_mut().rev().find(|w| w.0 == task && w.3.is_none()) {
            last.3 = Some(got);
        }
    }
    /// What pictures and debugfs show. `rq` tells zone and job of a request, `task` the place of a task in the snapshot;
    /// `shallow` is the depth of everything but synchronous reads (`u32::MAX`: none).
    pub fn view(&self, shallow: u32, rq: &dyn Fn(Idx) -> (ZoneNo, JobIdx), task: &dyn Fn(Task) -> u16) -> TagsView {
        let holders = || self.holders.iter().take(self.depth() as usize).map(|h| h.map(rq));
        let restricts = shallow != u32::MAX && self.shallow_words(shallow).ne(self.shallow_words(u32::MAX));
        let words = if restricts { self.shallow_words(shallow).collect() } else { Vec::new() };
        TagsView {
            depth: self.depth(),
            nr_tags: self.nr_tags(),
            busy: holders().map(|h| h.map(|(zone, _)| zone)).collect(),
            jobs: holders().map(|h| h.map_or(JobIdx::MAX, |(_, job)| job)).collect(),
            cleared: (0..self.depth()).map(|t| self.map.is_cleared(t)).collect(),
            bits_per_word: self.bits_per_word(),
            waiters: self.nr_waiters(),
            ws_active: self.ws_active,
            hints: self.map.hints().to_vec(),
            round_robin: self.map.round_robin(),
            wake_batch: self.wake_batch,
            wake_index: u32::from(self.wake_index),
            counts: (self.completion_cnt, self.wakeup_cnt),
            wait_cnt: self.wait_cnt.map_or(Vec::new(), |c| c.to_vec()),
            min_shallow_depth: self.min_shallow_depth,
            shallow,
            shallow_words: words,
            active_queues: self.active_queues,
            ws: core::array::from_fn(|q| self.ws[q].iter().map(|w| task(w.task)).collect()),
            woken: self.woken.iter().map(|w| WokenView { task: task(w.0), ws: w.1, at: w.2, got: w.3 }).collect(),
        }
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let waiters: usize = self.ws.iter().map(|q| q.capacity() * size_of::<Waiter>()).sum();
        let lines = self.lines.as_ref().map_or(0, |l| l.heap_bytes());
        self.holders.capacity() * size_of::<Option<Idx>>() + self.map.heap_bytes() + waiters + lines
    }
}

/// `sbq_index_inc`
fn next_queue(index: u8) -> u8 {
    (index + 1) % WAIT_QUEUES as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::elevator::AnyElevator;
    use crate::config::{AsyncDepthOwner, ElevatorKind, QueueConfig};

    fn tags(depth: u32, alloc: TagAlloc) -> Tags {
        Tags::new(depth, alloc, 8, Rng::stream(1, "tags", 0))
    }

    #[test]
    fn round_robin_goes_on_from_the_last_tag() {
        let mut t = tags(4, TagAlloc::RoundRobin);
        assert_eq!([t.get(0, 0, u32::MAX), t.get(5, 0, u32::MAX)], [Some(0), Some(1)]);
        t.put(0, 0);
        let mut next = || t.get(0, 0, u32::MAX);
        // After tag 2 of 4 the hint is 0 already.
        assert_eq!([next(), next(), next(), next()], [Some(2), Some(0), Some(3), None]);
    }

    /// kernel 3.2: the table of wake batches.
    #[test]
    fn section_3_2_wake_batch() {
        let batch = |depth, min_shallow| {
            let mut t = tags(depth, TagAlloc::Hint);
            t.set_min_shallow_depth(min_shallow);
            t.wake_batch()
        };
        assert_eq!([batch(64, u32::MAX), batch(64, 64)], [8, 8]);
        assert_eq!([batch(64, 32), batch(64, 16), batch(64, 15), batch(64, 1)], [4, 2, 1, 1]);
        assert_eq!(batch(64, 48), 6);
        assert_eq!([batch(256, 256), batch(256, 192), batch(256, 1)], [8, 8, 1]);
        assert_eq!([batch(32, u32::MAX), batch(31, u32::MAX), batch(8, u32::MAX)], [4, 3, 1]);
    }

    /// kernel 3.2: clamp(floor(ceil(depth/U) / 8), 1, 8).
    #[test]
    fn section_3_2_wake_batch_of_a_shared_tag_set() {
        let batch = |depth, users| {
            let mut t = tags(depth, TagAlloc::Hint);
            t.set_active_queues(users);
            t.wake_batch()
        };
        assert_eq!([batch(64, 1), batch(64, 2), batch(64, 3), batch(64, 9)], [8, 4, 2, 1]);
        assert_eq!([batch(254, 2), batch(254, 8), batch(254, 0)], [8, 4, 8]);
        assert_eq!([fair_share(64, 2), fair_share(64, 3), fair_share(64, 32), fair_share(1, 8)], [32, 22, 4, 1]);
    }

    /// kernel 3.4: what each owner of async_depth makes of the wake batch. Rows: async_depth, wake batch with the queue's
    /// attribute, with the elevator's since 39823b47bbd4, with that of 5.17; nr_requests 64.
    #[test]
    fn section_3_4_async_depth() {
        use AsyncDepthOwner::{Elevator, Elevator517, Queue};
        let told = |elevator, owner, async_depth| {
            let q = QueueConfig { elevator, nr_requests: 64, async_depth, ..QueueConfig::default() };
            let min = AnyElevator::new(&q, 8).min_shallow_depth(owner, async_depth);
            let mut t = tags(64, TagAlloc::Hint);
            t.set_min_shallow_depth(min);
            (min, t.wake_batch())
        };
        for (async_depth, queue) in [(64, 8), (48, 6), (32, 4), (16, 2), (15, 1), (1, 1)] {
            let deadline = |owner| told(ElevatorKind::MqDeadline, owner, async_depth);
            assert_eq!(deadline(Queue), (async_depth, queue));
            assert_eq!(deadline(Elevator), (1, 1));
            assert_eq!(deadline(Elevator517), (48, 6));
            assert_eq!(told(ElevatorKind::Kyber, Queue, async_depth), (async_depth, queue));
            assert_eq!(told(ElevatorKind::Bfq, Queue, async_depth), (1, 1));
            assert_eq!(told(ElevatorKind::None, Queue, async_depth), (u32::MAX, 8));
        }
        // nr_requests scales async_depth with it, and the batch follows.
        let mut t = tags(64, TagAlloc::Hint);
        t.set_min_shallow_depth(48);
        t.resize(16);
        t.set_min_shallow_depth(12);
        assert_eq!(t.wake_batch(), 1);
    }

    fn waiter(n: u32) -> Waiter {
        Waiter { task: Task::Job(n as u16), bio: n }
    }

    fn freed(t: &mut Tags, n: u32) -> Vec<(u8, u32)> {
        let mut woken = Vec::new();
        t.freed(n, &mut woken);
        woken.iter().map(|(ws, w)| (*ws, w.bio)).collect()
    }

    /// kernel 3.2: who is woken, and that wake_index moves on before a queue is looked at.
    #[test]
    fn section_3_2_wake_up_order() {
        let mut t = tags(32, TagAlloc::Hint);
        assert_eq!(t.wake_batch(), 4);
        assert_eq!(freed(&mut t, 9), [], "nobody waits");
        assert_eq!((t.completion_cnt, t.wakeup_cnt), (0, 0));
        // Queue 0 has 5, queue 2 one, queue 3 two.
        for (n, ws) in [0, 0, 0, 0, 0, 2, 3, 3].into_iter().enumerate() {
            t.add_waiter(ws, waiter(n as u32));
        }
        assert_eq!(freed(&mut t, 3), []);
        assert_eq!(freed(&mut t, 1), [(0, 0), (0, 1), (0, 2), (0, 3)]);
        assert_eq!((t.completion_cnt, t.wakeup_cnt, t.wake_index), (4, 4, 1));
        // The rest of queue 0 comes last.
        assert_eq!(freed(&mut t, 5), [(2, 5), (3, 6), (3, 7), (0, 4)]);
        assert_eq!((t.completion_cnt, t.wakeup_cnt, t.wake_index), (9, 8, 1));
        assert_eq!((t.nr_waiters(), t.ws_active()), (0, 8));
        (0..8).for_each(|_| t.finish_wait());
        assert_eq!(freed(&mut t, 9), []);
        assert_eq!(t.completion_cnt, 9, "not counted: all of them run");
    }

    /// A batch wakes at most once a call; what was freed beyond it counts for the next.
    #[test]
    fn section_3_2_a_batched_completion_wakes_one_batch() {
        let mut t = tags(64, TagAlloc::Hint);
        t.set_min_shallow_depth(1);
        (0..3).for_each(|n| t.add_waiter(n as u8, waiter(n)));
        assert_eq!(freed(&mut t, 32), [(0, 0)]);
        assert_eq!(freed(&mut t, 1), [(1, 1)]);
        assert_eq!((t.completion_cnt, t.wakeup_cnt), (33, 2));
    }

    /// Before 6.2 the queue at wake_index counts down by itself, and a batch comes from it alone.
    #[test]
    fn section_3_2_wake_up_before_6_2() {
        let mut t = tags(32, TagAlloc::Hint);
        t.set_model(false, true);
        for (n, ws) in [0, 0, 2, 2, 2, 2, 2].into_iter().enumerate() {
            t.add_waiter(ws, waiter(n as u32));
        }
        assert_eq!(freed(&mut t, 3), []);
        assert_eq!(freed(&mut t, 1), [(0, 0), (0, 1)], "two of the four tags wake nobody");
        assert_eq!(freed(&mut t, 4), [(2, 2), (2, 3), (2, 4), (2, 5)]);
        // A smaller batch: the next freed tag wakes.
        t.set_min_shallow_depth(16);
        assert_eq!((t.wake_batch(), freed(&mut t, 1)), (2, alloc::vec![(2, 6)]));
    }

    #[test]
    fn waiters_that_found_a_tag_leave() {
        let mut t = tags(32, TagAlloc::Hint);
        (0..4).for_each(|n| t.add_waiter(n as u8, waiter(n)));
        assert!(t.remove_waiter(waiter(2)) && !t.remove_waiter(waiter(2)));
        assert_eq!((t.nr_waiters(), t.ws_active()), (3, 3));
        assert_eq!(freed(&mut t, 4), [(0, 0), (1, 1), (3, 3)]);
    }

    #[test]
    fn section_3_2_growing_allocates_anew() {
        let mut t = tags(64, TagAlloc::Hint);
        t.resize(32);
        assert_eq!((t.depth(), t.nr_tags(), t.bits_per_word(), t.wake_batch()), (32, 64, 16, 4));
        t.resize(48);
        assert_eq!((t.depth(), t.nr_tags(), t.bits_per_word(), t.wake_batch()), (48, 64, 16, 6));
        t.resize(256);
        assert_eq!((t.depth(), t.nr_tags(), t.bits_per_word(), t.wake_batch()), (256, 256, 64, 8));
        // A shared tag set's sched tags.
        let t = Tags::with_room(64, 2048, TagAlloc::Hint, 8, Rng::stream(1, "tags", 0));
        assert_eq!((t.depth(), t.nr_tags(), t.bits_per_word(), t.wake_batch()), (64, 2048, 64, 8));
    }

    /// What runs on the tags in the law below.
    struct Tasks {
        t: Tags,
        rng: Rng,
        wait_index: u8,
        held: Vec<(Tag, u16)>,
        /// Running, and woken but not running yet.
        ready: Vec<u32>,
        woken: Vec<u32>,
        /// May hold.
        shallow: Vec<u32>,
    }

    impl Tasks {
        fn below(&mut self, n: usize) -> usize {
            self.rng.below(n.max(1) as u64) as usize
        }
        /// A task takes a tag, or sleeps; as `blk_mq_get_tag` does.
        fn run(&mut self, task: u32) {
            let shallow = self.shallow[task as usize];
            let cpu = (task % 4) as u16;
            let got = self.t.get(cpu, task, shallow).or_else(|| self.t.get(cpu, task, shallow));
            match got {
                Some(tag) => {
                    assert!(self.held.iter().all(|(other, _)| *other != tag), "no tag twice");
                    assert!(tag < self.t.depth());
                    let per_word = tag % self.t.bits_per_word();
                    assert!(per_word < self.t.map().word_limit(tag / self.t.bits_per_word(), shallow));
                    self.held.push((tag, cpu));
                    self.ready.push(task);
                }
                None => {
                    // Nothing was free where it may look.
                    let bits = self.t.bits_per_word();
                    let limit = |tag: u32| self.t.map().word_limit(tag / bits, shallow);
                    let free = |tag: u32| self.t.holders()[tag as usize].is_none() && tag % bits < limit(tag);
                    assert!(!(0..self.t.depth()).any(free), "a free tag is found");
                    self.t.add_waiter(self.wait_index, waiter(task));
                    self.wait_index = (self.wait_index + 1) % 8;
                }
            }
        }
        fn free(&mut self, n: usize) {
            let n = n.min(self.held.len());
            if n == 0 {
                return;
            }
            let mut tags = Vec::new();
            for _ in 0..n {
                let at = self.below(self.held.len());
                let (tag, cpu) = self.held.swap_remove(at);
                tags.push(tag);
                if n == 1 {
                    self.t.put(tag, cpu);
                }
            }
            if n > 1 {
                self.t.put_batch(&tags, 1);
            }
            let waiting = self.t.nr_waiters();
            let before = self.t.completion_cnt - self.t.wakeup_cnt + n as u64;
            let mut woken = Vec::new();
            self.t.freed(n as u32, &mut woken);
            if self.t.wait_cnt.is_none() {
                let due = before >= u64::from(self.t.wake_batch()) && self.t.ws_active() > 0;
                let expected = if due { self.t.wake_batch().min(waiting) } else { 0 };
                assert_eq!(woken.len() as u32, expected, "enough freed: someone is woken");
            }
            assert_eq!(self.t.nr_waiters() + woken.len() as u32, waiting);
            self.woken.extend(woken.iter().map(|(_, w)| w.bio));
        }
        fn wake_one(&mut self) {
            if !self.woken.is_empty() {
                let at = self.below(self.woken.len());
                let task = self.woken.remove(at);
                self.t.finish_wait();
                self.run(task);
            }
        }
        fn step(&mut self) {
            match self.below(8) {
                0..=2 if !self.ready.is_empty() => {
                    let at = self.below(self.ready.len());
                    let task = self.ready.swap_remove(at);
                    self.run(task);
                }
                3 | 4 => self.wake_one(),
                5 => {
                    let n = self.below(12);
                    self.free(n);
                }
                _ => self.free(1),
            }
            let t = &self.t;
            assert_eq!(t.busy() as usize, self.held.len());
            assert_eq!(t.holders().iter().flatten().count(), self.held.len());
            assert_eq!(t.map().weight().0 as usize, self.held.len());
            assert_eq!(t.ws_active() as usize, t.nr_waiters() as usize + self.woken.len());
            assert_eq!(t.nr_waiters() as usize + self.woken.len() + self.ready.len(), self.shallow.len());
            assert!(t.wakeup_cnt <= t.completion_cnt);
        }
    }

    /// Random tasks on random tags: no tag twice, what is free is found, counts agree; and when all tags come back,
    /// nobody is left asleep.
    #[test]
    fn law_of_tags_and_waiters() {
        for seed in 0..400 {
            let mut rng = Rng::stream(seed, "law", 0);
            let depth = 1 + rng.below(if seed % 3 == 0 { 9 } else { 150 }) as u32;
            let alloc = if rng.below(3) == 0 { TagAlloc::RoundRobin } else { TagAlloc::Hint };
            let mut t = Tags::new(depth, alloc, 4, rng);
            t.set_model(rng.below(4) == 0, rng.below(4) == 0);
            // Shallow depths as schedulers give them, never below the one they announce.
            let min_shallow = 1 + rng.below(u64::from(depth)) as u32;
            t.set_min_shallow_depth(min_shallow);
            let shallow = |rng: &mut Rng| if rng.below(2) == 0 { u32::MAX } else { min_shallow + rng.below(9) as u32 };
            let tasks = 1 + rng.below(40) as u32;
            let shallow = (0..tasks).map(|_| shallow(&mut rng)).collect();
            let ready = (0..tasks).collect();
            let mut run = Tasks { t, rng, wait_index: 0, held: Vec::new(), ready, woken: Vec::new(), shallow };
            for _ in 0..1500 {
                run.step();
            }
            // Nobody asks any more but the sleepers; all that is taken comes back.
            while !run.held.is_empty() || !run.woken.is_empty() {
                run.ready.clear();
                run.free(1);
                run.wake_one();
            }
            assert_eq!(run.t.nr_waiters(), 0, "seed {seed}: nobody is left asleep");
            // Frozen: nr_requests changes.
            let new = 1 + run.below(200) as u32;
            run.t.resize(new);
            assert!(run.t.depth() == new && run.t.busy() == 0);
            assert_eq!((0..new).filter(|n| run.t.get(0, *n, u32::MAX).is_some()).count() as u32, new);
        }
    }
}
