//! bfq: every process its own queue, a budget of sectors a turn, and waiting for the process that is served.
//!
//! Models: block/bfq-iosched.c and bfq-wf2q.c, 7.1 (kernel 4.5). By file: `tree` who is next in virtual time, `queue` a
//! queue's requests and habits, `raise` weight-raising and bursts, `rate` the peak rate, `turn` how a turn ends, `idle`
//! waiting, `sides` depth limits and merging; here how requests come, go and come back.
//! Rule: the queue in service has the disk to itself until its budget or its time is used up or it has nothing more to
//! send, and is waited for a while before that is believed where waiting pays or is owed. Slow queues are charged for
//! their time, others for their sectors, async ones threefold.
//! Leaves out: cgroups, merging and splitting of cooperating queues, injection and wakers, several actuators, I/O
//! contexts that exit, REQ_META, a priority that changes while a queue is busy, merges of requests of two queues; ticks
//! (times are exact). A queue is known by its job, there being one process a job.

mod idle;
mod queue;
mod raise;
mod rate;
mod sides;
#[cfg(test)]
mod tests;
mod tree;
mod turn;

use super::Queued;
use crate::config::{BfqConfig, QueueConfig};
use crate::fifo::Fifo;
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::{IoClass, IoPrio, JobIdx, Sector};
use alloc::vec::Vec;
use queue::{BfqQueue, Key, seeky};
use raise::{Burst, MIN_IDLE};
use rate::Rate;
use tree::{On, Tree};

/// Budget while the device is not known yet, sectors.
const DEFAULT_MAX_BUDGET: u32 = 16_384;
/// Turns (fixed point, see [`Bfq::begin_turn`]) after which it is known.
const MIN_TURNS: u32 = 194;
/// Async sectors count this many times.
const ASYNC_CHARGE: u32 = 3;
/// Weight of a best-effort process that set nothing (level 4): only such are interactive or soft real-time.
const PLAIN_WEIGHT: u32 = 40;
/// The idle class is served at least this often.
const IDLE_CLASS_EVERY: SimDuration = 200 * MS;
const RT: usize = 0;
const BE: usize = 1;
const IDLE: usize = 2;

/// Why a turn ends (`enum bfqq_expiration`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Waited for in vain.
    TooIdle,
    /// Its time is over.
    Timeout,
    /// The next request does not fit the budget.
    Exhausted,
    /// Nothing left, and not worth waiting for.
    NoMoreRequests,
    /// Another queue must go first.
    Preempted,
}

/// What is known of a request, by slot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Rq {
    state: State,
    queue: u16,
    op: u8,
    nr_sectors: u32,
    key: Key,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum State {
    /// Not here.
    #[default]
    Free,
    /// On the dispatch list.
    AtHead,
    /// In its queue.
    Queued,
    /// At the driver.
    Started,
    /// Back from the driver.
    Done,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Bfq {
    cfg: BfqConfig,
    rotational: bool,
    nr_requests: u32,
    /// Requests inserted at the head.
    dispatch: Fifo<Idx>,
    queues: Vec<BfqQueue>,
    /// Same numbers as `queues`.
    tree: Tree,
    rqs: Vec<Rq>,
    /// Requests in queues, and at the driver.
    queued: u32,
    in_driver: u32,
    /// The queue in service has no requests and is waited for until then.
    idle_until: Option<SimTime>,
    idle_since: SimTime,
    /// Where the last dispatched request ended.
    last_position: Sector,
    rate: Rate,
    /// Largest budget as set or tuned.
    max_budget: u32,
    /// Turns, 256 = many.
    turns: u32,
    burst: Burst,
    idle_class_served: SimTime,
    /// The device takes several commands at once: believed until 32 samples say otherwise.
    hw_tag: bool,
    hw_samples: u32,
    hw_max: u32,
    inserted: u64,
}

/// Class and level of a process: without a priority it is best effort in the middle.
fn class_of(prio: IoPrio) -> (usize, u8) {
    match prio.class {
        IoClass::None => (BE, 4),
        IoClass::Rt => (RT, prio.level.min(7)),
        IoClass::Be => (BE, prio.level.min(7)),
        IoClass::Idle => (IDLE, 7),
    }
}

impl Bfq {
    /// Empty, as after selecting it, on a rotational device.
    pub fn new(q: &QueueConfig) -> Self {
        let mut bfq = Self {
            cfg: q.bfq,
            rotational: true,
            nr_requests: q.nr_requests,
            dispatch: Fifo::new(),
            queues: Vec::new(),
            tree: Tree::default(),
            rqs: Vec::new(),
            queued: 0,
            in_driver: 0,
            idle_until: None,
            idle_since: 0,
            last_position: 0,
            rate: Rate::new(true),
            max_budget: 0,
            turns: 0,
            burst: Burst::default(),
            idle_class_served: 0,
            hw_tag: true,
            hw_samples: 0,
            hw_max: 0,
            inserted: 0,
        };
        bfq.tune();
        bfq
    }
    /// queue/rotational, which is set before I/O starts.
    pub fn set_rotational(&mut self, rotational: bool) {
        self.rotational = rotational;
        self.rate = Rate::new(rotational);
        self.tune();
    }
    /// The largest budget is what the peak rate moves in `timeout_sync`, unless it is set.
    fn tune(&mut self) {
        let tuned = self.rate.budget(self.cfg.timeout_sync_ns).max(1);
        self.max_budget = if self.cfg.max_budget == 0 { tuned } else { self.cfg.max_budget };
    }
    /// `bfq_max_budget`: known after some turns.
    fn budget_limit(&self) -> u32 {
        if self.turns < MIN_TURNS { DEFAULT_MAX_BUDGET } else { self.max_budget }
    }
    fn budget_floor(&self) -> u32 {
        (self.budget_limit() / 32).max(1)
    }
    fn idle_class(&self, q: usize) -> bool {
        self.tree.entities[q].class == IDLE
    }

    // Requests come.

    /// Queue of a process and direction, where it exists.
    fn queue_of(&self, sync: bool, job: JobIdx, prio: IoPrio) -> Option<usize> {
        let (class, level) = class_of(prio);
        self.queues.iter().zip(&self.tree.entities).position(|(q, e)| match sync {
            true => q.sync && q.job == job,
            false => !q.sync && q.level == level && e.class == class,
        })
    }

    fn queue_for(&mut self, r: &Queued, now: SimTime) -> usize {
        let (class, level) = class_of(r.prio);
        if let Some(q) = self.queue_of(r.sync, r.job, r.prio) {
            let idle = !self.queues[q].busy && self.tree.entities[q].on == On::Out;
            if idle && (class, level) != (self.tree.entities[q].class, self.queues[q].level) {
                self.queues[q].level = level;
                self.queues[q].weight = u32::from(8 - level) * 10;
                self.tree.entities[q].class = class;
            }
            return q;
        }
        let job = if r.sync { r.job } else { JobIdx::MAX };
        let budget = self.budget_limit() / 3 * 2;
        let new = BfqQueue::new(job, r.sync, level, class == IDLE, budget, now);
        self.tree.add(class, new.weight);
        self.queues.push(new);
        let q = self.queues.len() - 1;
        if r.sync {
            for part in self.burst.created(q, now) {
                self.queues[*part].raise.in_burst = true;
            }
        }
        q
    }

    /// `bfq_insert_request`
    pub fn insert(&mut self, r: Queued, at_head: bool, now: SimTime) {
        self.forget(r.rq, now);
        let q = self.queue_for(&r, now);
        self.queues[q].allocated += 1;
        let slot = r.rq as usize;
        if self.rqs.len() <= slot {
            self.rqs.resize(slot + 1, Rq::default());
        }
        self.inserted += 1;
        let key = (r.sector, self.inserted);
        let state = if at_head { State::AtHead } else { State::Queued };
        self.rqs[slot] = Rq { state, queue: q as u16, op: r.op as u8, nr_sectors: r.nr_sectors, key };
        if at_head {
            self.dispatch.push_front(r.rq);
        } else {
            self.add(q, r, key, now);
        }
    }

    /// `bfq_add_request`, after the statistics of arrivals.
    fn add(&mut self, q: usize, r: Queued, key: Key, now: SimTime) {
        let slice_idle = self.cfg.slice_idle_ns;
        let idle_class = self.idle_class(q);
        let random = seeky(self.queues[q].last_position, r.sector, r.nr_sectors, self.rotational);
        let (low_latency, duration) = (self.cfg.low_latency, self.rate.raise_duration());
        let queue = &mut self.queues[q];
        queue.arrival(now, idle_class, slice_idle, random);
        if queue.raise.soft_rt() && queue.totally_seeky() {
            queue.raise.end_soft_rt(now, duration);
        }
        let was_raised = queue.raise.coeff > 1;
        let after = if r.sync { self.cfg.fifo_expire_sync_ns } else { self.cfg.fifo_expire_async_ns };
        let other = queue.add(&self.cfg, key, r.rq, now.saturating_add(after), self.last_position);
        queue.last_position = r.sector + u64::from(r.nr_sectors);
        self.queued += 1;
        if !queue.busy {
            self.becomes_busy(q, now);
        } else {
            let pause = now.saturating_sub(queue.raise.since);
            if low_latency && !was_raised && !queue.sync && pause > raise::ASYNC_PAUSE {
                queue.raise.begin(now, duration);
            }
            if other {
                self.next_changed(q);
            }
        }
        let raise = &mut self.queues[q].raise;
        if low_latency && (!was_raised || raise.coeff == 1) {
            raise.since = now;
        }
        if self.tree.in_service == Some(q) && self.idle_until.take().is_some() && now >= self.queues[q].timeout_at {
            self.expire(End::Timeout, false, now);
        }
    }

    /// `bfq_updated_next_req`: its budget has to hold another request.
    fn next_changed(&mut self, q: usize) {
        let need = self.next_charge(q);
        let e = &mut self.tree.entities[q];
        let budget = self.queues[q].max_budget.max(need).max(e.service);
        if need > 0 && self.tree.in_service != Some(q) && e.budget != budget {
            e.budget = budget;
            self.tree.requeue(q, self.queues[q].raised_weight());
        }
    }

    /// `bfq_bfqq_handle_idle_busy_switch`
    fn becomes_busy(&mut self, q: usize, now: SimTime) {
        let slice_idle = self.cfg.slice_idle_ns;
        let need = self.next_charge(q);
        let (floor, duration) = (self.budget_floor(), self.rate.raise_duration());
        let queue = &mut self.queues[q];
        let e = &mut self.tree.entities[q];
        let in_time = queue.in_time(now, slice_idle);
        let pause = queue.idle_since.map_or(SimTime::MAX, |since| now.saturating_sub(since));
        let plain = queue.weight == PLAIN_WEIGHT && e.class == BE;
        let may = self.cfg.low_latency && queue.sync && plain && !queue.raise.in_burst;
        let interactive = may && pause > MIN_IDLE;
        let steady = !queue.totally_seeky() && queue.dispatched == 0 && now > queue.raise.soft_rt_next;
        let soft_rt = may && steady && !queue.new;
        let deserves = self.cfg.low_latency && (queue.raise.coeff > 1 || interactive || soft_rt);

        // What it had left when it ran out of requests through no fault of its own is still its due.
        let recovers = queue.waits_for_own && in_time && e.left() > 0;
        let due = if recovers { e.left().min(queue.max_budget) } else { queue.max_budget };
        e.budget = due.max(need);
        e.service = 0;
        queue.waits_for_own = false;
        if !queue.new && pause > 10 * SEC + MIN_IDLE {
            queue.raise.in_burst = false;
        }
        queue.new = false;
        if self.cfg.low_latency && queue.raise.beginning(now, interactive, soft_rt, duration) {
            e.budget = e.budget.min(2 * floor).max(need);
        }
        queue.raise.backlogged_at = now;
        queue.raise.backlogged_service = 0;
        queue.raise.soft_rt_update = false;
        queue.busy = true;
        let (weight, coeff) = (queue.raised_weight(), queue.raise.coeff);
        self.tree.activate(q, weight, recovers, coeff);

        let Some(served) = self.tree.in_service else { return };
        let owed = (recovers || deserves) && coeff >= self.queues[served].raise.coeff;
        let (new, old) = (&self.tree.entities[q], &self.tree.entities[served]);
        let above = new.class < old.class || new.class == old.class && new.weight > old.weight;
        let waited = self.idle_until.is_some() && !self.better_to_idle(served);
        if owed || above || waited {
            self.expire(End::Preempted, false, now);
        }
    }

    // Requests go.

    /// `bfq_has_work`: also while the queue in service is waited for.
    pub fn has_work(&self) -> bool {
        self.queued > 0 || !self.dispatch.is_empty()
    }

    /// `bfq_dispatch_request`
    pub fn dispatch(&mut self, now: SimTime) -> Option<Idx> {
        let rq = match self.dispatch.pop_front() {
            Some(rq) => rq,
            None if self.queued == 0 || self.cfg.strict_guarantees && self.in_driver > 0 => return None,
            None => {
                let q = self.select(now)?;
                self.serve(q, now)?
            }
        };
        let r = &mut self.rqs[rq as usize];
        r.state = State::Started;
        self.queues[usize::from(r.queue)].dispatched += 1;
        self.in_driver += 1;
        Some(rq)
    }

    /// `bfq_select_queue`: the queue whose next request goes now; `None` while one is waited for.
    fn select(&mut self, now: SimTime) -> Option<usize> {
        if let Some(q) = self.tree.in_service
            && self.times_out(q, now)
            && !self.must_idle(q)
        {
            self.expire(End::Timeout, false, now);
        }
        // Ending a turn changes what a request costs; nobody is passed over twice for that.
        let mut rounds = 2 * self.queues.len() + 2;
        loop {
            let q = match self.tree.in_service {
                Some(q) => q,
                None => self.begin_turn(now)?,
            };
            rounds = rounds.saturating_sub(1);
            if self.queues[q].next.is_some() {
                if self.next_charge(q) <= self.tree.entities[q].left() || rounds == 0 {
                    self.idle_until = None;
                    return Some(q);
                }
                self.expire(End::Exhausted, false, now);
            } else if self.idle_until.is_some() || self.queues[q].dispatched > 0 && self.better_to_idle(q) {
                return None;
            } else {
                self.expire(End::NoMoreRequests, false, now);
            }
        }
    }

    /// `bfq_set_in_service_queue`
    fn begin_turn(&mut self, now: SimTime) -> Option<usize> {
        let mut from = RT;
        if now > self.idle_class_served.saturating_add(IDLE_CLASS_EVERY) {
            from = if self.tree.waits(IDLE) { IDLE } else { RT };
            self.idle_class_served = now;
        }
        let q = self.tree.serve_next(from)?;
        self.turns = (self.turns * 7 + 256) / 8;
        let queue = &mut self.queues[q];
        let raise = &mut queue.raise;
        queue.fifo_checked = false;
        if raise.soft_rt() && now > raise.since && now > queue.timeout_at {
            // Time in which it was not served does not count.
            raise.since = raise.since.saturating_add(now - raise.since.max(queue.timeout_at));
        }
        let times = if raise.soft_rt() { 1 } else { self.tree.entities[q].weight / queue.weight.max(1) };
        queue.timeout_at = now.saturating_add(self.cfg.timeout_sync_ns.saturating_mul(u64::from(times)));
        queue.served_since = now;
        queue.idle_since = Some(now);
        Some(q)
    }

    /// `bfq_dispatch_rq_from_bfqq`: charges its next request and takes it out.
    fn serve(&mut self, q: usize, now: SimTime) -> Option<Idx> {
        let charge = self.next_charge(q);
        self.charge(q, charge);
        let key = self.queues[q].next?;
        let rq = *self.queues[q].sort.get(&key)?;
        let n = self.rqs[rq as usize].nr_sectors;
        let random = seeky(self.last_position, key.0, n, self.rotational);
        self.rate.dispatched(now, n, random, self.in_driver);
        self.tune();
        self.last_position = key.0 + u64::from(n);
        self.remove(rq, now);

        let queue = &mut self.queues[q];
        queue.raise.update(now, self.rate.raise_duration());
        let weight = queue.raised_weight();
        if weight != self.tree.entities[q].weight {
            self.tree.set_weight(q, weight);
        }
        if self.idle_class(q) && self.queues.iter().filter(|other| other.busy).count() > 1 {
            self.expire(End::Exhausted, false, now);
        }
        Some(rq)
    }

    fn charge(&mut self, q: usize, sectors: u32) {
        self.queues[q].raise.served(sectors);
        self.tree.served(q, sectors);
    }

    /// `bfq_serv_to_charge` of its next request, 0 without one.
    fn next_charge(&self, q: usize) -> u32 {
        let queue = &self.queues[q];
        let Some(rq) = queue.next.and_then(|key| queue.sort.get(&key)) else { return 0 };
        let n = self.rqs[*rq as usize].nr_sectors;
        let plain = queue.sync || queue.raise.coeff > 1 || self.asymmetric(q);
        if plain { n } else { n.saturating_mul(ASYNC_CHARGE) }
    }

    /// `bfq_remove_request`: a queue that is not served and has no more is idle.
    fn remove(&mut self, rq: Idx, now: SimTime) {
        let Rq { queue, key, .. } = self.rqs[rq as usize];
        let q = usize::from(queue);
        if self.queues[q].remove(&self.cfg, key, now).is_none() {
            return;
        }
        self.queued -= 1;
        if self.queues[q].next.is_some() {
            self.next_changed(q);
        } else if self.tree.in_service != Some(q) {
            self.rests(q, now);
            self.tree.entities[q].budget = 0;
            self.tree.entities[q].service = 0;
        }
    }

    /// `bfq_del_bfqq_busy`
    fn rests(&mut self, q: usize, now: SimTime) {
        let queue = &mut self.queues[q];
        queue.busy = false;
        if queue.dispatched == 0 {
            queue.idle_since = Some(now);
        }
        self.tree.deactivate(q);
    }

    // Requests come back.

    /// A request at the driver is there no more.
    fn left_driver(&mut self, rq: Idx, then: State) -> Option<usize> {
        let r = self.rqs.get_mut(rq as usize).filter(|r| r.state == State::Started)?;
        r.state = then;
        let q = usize::from(r.queue);
        self.in_driver -= 1;
        self.queues[q].dispatched -= 1;
        Some(q)
    }

    /// `bfq_completed_request`
    pub fn completed(&mut self, r: Queued, now: SimTime, _d_time: SimTime) {
        let in_driver = self.in_driver;
        let Some(q) = self.left_driver(r.rq, State::Done) else { return };
        self.learn_depth(in_driver);
        self.rate.completed(now);
        self.tune();
        let slice_idle = self.cfg.slice_idle_ns;
        let queue = &mut self.queues[q];
        queue.last_end = now;
        let drained = queue.dispatched == 0;
        if drained && !queue.busy {
            queue.idle_since = Some(now);
        }
        if drained && queue.raise.soft_rt_update && queue.sort.is_empty() {
            queue.raise.soft_rt_update = false;
            queue.raise.plan_soft_rt(now, slice_idle);
        }
        if self.tree.in_service != Some(q) {
            return;
        }
        if self.must_idle(q) {
            if drained {
                let slice = self.queues[q].idle_slice(slice_idle, self.asymmetric(q));
                self.idle_since = now;
                self.idle_until = Some(now.saturating_add(slice));
            }
        } else if self.times_out(q, now) {
            self.expire(End::Timeout, false, now);
        } else if self.queues[q].sort.is_empty() && (drained || !self.better_to_idle(q)) {
            self.expire(End::NoMoreRequests, false, now);
        }
    }

    /// `bfq_update_hw_tag`: was the device ever given more than three commands when it could have been?
    fn learn_depth(&mut self, in_driver: u32) {
        self.hw_max = self.hw_max.max(in_driver);
        if in_driver + self.queued <= 3 {
            return;
        }
        if let Some(q) = self.tree.in_service.map(|q| &self.queues[q])
            && q.short_think
            && q.dispatched + (q.fifo.len() as u32) < 3
            && in_driver < 3
        {
            return;
        }
        self.hw_samples += 1;
        if self.hw_samples > 32 {
            self.hw_tag = self.hw_max > 3;
            (self.hw_samples, self.hw_max) = (0, 0);
        }
    }

    /// A request came back from the driver before it started.
    pub fn requeued(&mut self, r: Queued) {
        if let Some(q) = self.left_driver(r.rq, State::Free) {
            self.queues[q].allocated -= 1;
        }
    }

    /// A request ends, or was merged away. True: run the queue.
    pub fn finished(&mut self, r: Queued, now: SimTime) -> bool {
        self.forget(r.rq, now);
        self.has_work() && self.idle_until.is_none()
    }

    fn forget(&mut self, rq: Idx, now: SimTime) {
        let Some(r) = self.rqs.get(rq as usize).copied().filter(|r| r.state != State::Free) else { return };
        self.left_driver(rq, State::Done);
        match r.state {
            State::Queued => self.remove(rq, now),
            State::AtHead => self.dispatch.retain(|other| *other != rq),
            _ => {}
        }
        self.rqs[rq as usize].state = State::Free;
        self.queues[usize::from(r.queue)].allocated -= 1;
    }
}
