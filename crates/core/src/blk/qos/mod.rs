//! `rq_qos`: the chain of policies that may hold bios back before they get a request.
//!
//! Models: block/blk-rq-qos.c, 7.1 (kernel 8.1): the chain, its hooks in the order of a bio's life, `rq_qos_wait`.
//! Rule: a policy that comes later is asked first. A bio passes when all have let it; the one that holds it hands it its
//! place itself when it wakes it, so nobody overtakes; then the rest of the chain is asked. No clock, events or bios in
//! here: the pipeline says what happens and when, and takes away whom to wake ([`RqQos::take_woken`]) and when to come
//! back ([`RqQos::timer`]).
//! Leaves out: a hierarchy of cgroups (each job has one below the root), delays on return to user space
//! (`blkcg_use_delay`).

mod hooks;
pub mod iocost;
pub mod iolatency;
pub mod wbt;

use alloc::vec::Vec;

use crate::fifo::Fifo;
use crate::observe::snapshot::QosView;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{JobIdx, Op, Sector};
use iocost::IoCost;
use iolatency::IoLatency;
use wbt::{Kind, Wbt};

pub use hooks::QueueQos;

/// What policies know of a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosBio {
    /// Its slot.
    pub bio: Idx,
    /// Whose cgroup it belongs to.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// What it is to wbt; `None`: not its business ([`wbt::kind_of`]).
    pub kind: Option<Kind>,
    /// REQ_META or REQ_SWAP: others wait for it, whatever its cgroup (`bio_issue_as_root_blkg`).
    pub as_root: bool,
    /// bio->issue_time_ns
    pub issue_time: SimTime,
}

/// What policies know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QosRq {
    /// Its slot.
    pub rq: Idx,
    /// Operation.
    pub op: Op,
    /// Length.
    pub nr_sectors: u32,
    /// G
    pub start: SimTime,
    /// D; `None` where it was merged away before.
    pub issued: Option<SimTime>,
}

/// Why a bio waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// So many of its kind are in flight, of so many.
    Wbt {
        /// Kind of write.
        kind: Kind,
        /// In flight.
        in_flight: u32,
        /// Limit for it now.
        limit: u32,
    },
    /// Its cgroup has so many in flight, of so many.
    Latency {
        /// In flight.
        in_flight: u32,
        /// Depth left to the cgroup.
        depth: u32,
        /// The smallest target that was missed, ns.
        target: SimDuration,
    },
    /// Its cgroup has not the vtime for it.
    Cost {
        /// What it costs, ns of the device.
        cost: SimDuration,
        /// What is missing, ns at the cgroup's share.
        short: SimDuration,
    },
}

/// What a policy says of a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// It goes on.
    Pass,
    /// Its task sleeps until [`RqQos::take_woken`] names the bio.
    Wait(Hold),
}

/// What policies know of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueFacts {
    /// `blk_queue_depth`: commands the device takes, nr_requests where it says none.
    pub queue_depth: u32,
    /// queue/nr_requests
    pub nr_requests: u32,
    /// queue/write_cache is "write back".
    pub write_back: bool,
    /// queue/rotational
    pub rotational: bool,
}

/// `struct rq_wait`: places in use, and who sleeps for one.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RqWait {
    /// Places in use.
    pub in_flight: u32,
    /// Asleep, oldest first.
    pub waiters: Fifo<Idx>,
}

impl RqWait {
    /// `rq_wait_inc_below`
    fn take(&mut self, limit: u32) -> bool {
        let free = self.in_flight < limit;
        self.in_flight += u32::from(free);
        free
    }
    /// `rq_qos_wait`: a place, unless others sleep for one already. False: the bio sleeps.
    fn enter(&mut self, bio: Idx, limit: u32) -> bool {
        let in_time = self.waiters.is_empty() && self.take(limit);
        if !in_time {
            self.waiters.push_back(bio);
        }
        in_time
    }
    /// `rq_qos_wake_function`: hands free places to at most `most` sleepers, oldest first.
    fn wake(&mut self, most: usize, limit: u32, woken: &mut Vec<Idx>) {
        for _ in 0..most.min(self.waiters.len()) {
            if !self.take(limit) {
                break;
            }
            woken.extend(self.waiters.pop_front());
        }
    }
}

/// RQ_QOS_*
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyId {
    /// wbt
    Wbt,
    /// latency
    Latency,
    /// cost
    Cost,
}

/// A policy by name.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// Writeback throttling.
    Wbt(Wbt),
    /// io.latency
    Latency(IoLatency),
    /// io.cost
    Cost(IoCost),
}

impl Policy {
    /// Which one it is.
    pub fn id(&self) -> PolicyId {
        match self {
            Policy::Wbt(_) => PolicyId::Wbt,
            Policy::Latency(_) => PolicyId::Latency,
            Policy::Cost(_) => PolicyId::Cost,
        }
    }
    fn throttle(&mut self, b: &QosBio, now: SimTime, woken: &mut Vec<Idx>) -> Gate {
        match self {
            Policy::Wbt(p) => p.throttle(b, now),
            Policy::Latency(p) => p.throttle(b, now, woken),
            Policy::Cost(p) => p.throttle(b, now, woken),
        }
    }
    fn timer(&self) -> Option<SimTime> {
        match self {
            Policy::Wbt(p) => p.timer(),
            Policy::Latency(p) => p.timer(),
            Policy::Cost(p) => p.timer(),
        }
    }
}

/// A second policy of the same id: EBUSY.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

/// q.rq_qos
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RqQos {
    /// Head first.
    chain: Vec<Policy>,
    /// Bios some policy holds, and those it woke that have not gone on yet: which one.
    held: Vec<(Idx, PolicyId)>,
    /// To be woken.
    woken: Vec<Idx>,
}

impl RqQos {
    /// No policy: QUEUE_FLAG_QOS_ENABLED is clear.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.chain.is_empty()
    }
    /// `rq_qos_add`: at the head. The queue is frozen.
    pub fn add(&mut self, policy: Policy) -> Result<(), Busy> {
        if self.has(policy.id()) {
            return Err(Busy);
        }
        self.chain.insert(0, policy);
        Ok(())
    }
    /// `rq_qos_del`. The queue is frozen: nobody sleeps there.
    pub fn del(&mut self, id: PolicyId) {
        self.chain.retain(|p| p.id() != id);
    }
    /// `rq_qos_id`
    pub fn has(&self, id: PolicyId) -> bool {
        self.chain.iter().any(|p| p.id() == id)
    }
    /// Head first.
    pub fn ids(&self) -> impl Iterator<Item = PolicyId> {
        self.chain.iter().map(Policy::id)
    }
    /// wbt, to read and write its attribute.
    pub fn wbt_mut(&mut self) -> Option<&mut Wbt> {
        self.chain.iter_mut().find_map(|p| if let Policy::Wbt(w) = p { Some(w) } else { None })
    }
    /// QUEUE_FLAG_BIO_ISSUE_TIME
    pub fn wants_issue_time(&self) -> bool {
        self.has(PolicyId::Latency)
    }

    // ---- hooks ----

    /// `rq_qos_throttle`, by a task that is about to allocate a request for a bio.
    pub fn throttle(&mut self, b: &QosBio, now: SimTime) -> Gate {
        self.ask_from(0, b, now)
    }
    /// The task of a bio that was woken runs again: whoever held it has let it, the rest of the chain is asked.
    pub fn go_on(&mut self, b: &QosBio, now: SimTime) -> Gate {
        let Some(at) = self.held.iter().position(|(bio, _)| *bio == b.bio) else { return Gate::Pass };
        let (_, id) = self.held.swap_remove(at);
        let next = self.chain.iter().position(|p| p.id() == id).map_or(0, |at| at + 1);
        self.ask_from(next, b, now)
    }
    fn ask_from(&mut self, first: usize, b: &QosBio, now: SimTime) -> Gate {
        for policy in &mut self.chain[first..] {
            let gate = policy.throttle(b, now, &mut self.woken);
            if gate != Gate::Pass {
                self.held.push((b.bio, policy.id()));
                return gate;
            }
        }
        for policy in &mut self.chain {
            if let Policy::Cost(p) = policy {
                p.allocates(b.bio, now);
            }
        }
        Gate::Pass
    }
    /// `rq_qos_cleanup`: a bio that had passed got no request (NOWAIT).
    pub fn cleanup(&mut self, b: &QosBio, now: SimTime) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(p) => p.give_back(b.kind, now, &mut self.woken),
                Policy::Latency(_) => {}
                Policy::Cost(p) => p.cleanup(b.bio),
            }
        }
    }
    /// `rq_qos_track`: a bio that had passed has its request.
    pub fn track(&mut self, rq: Idx, b: &QosBio) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(p) => p.track(rq, b),
                Policy::Latency(_) => {}
                Policy::Cost(p) => p.track(rq, b),
            }
        }
    }
    /// `rq_qos_merge`: a bio joins a request that covered `from` up to `to` before.
    pub fn merge(&mut self, from: Sector, to: Sector, b: &QosBio, now: SimTime) {
        for policy in &mut self.chain {
            if let Policy::Cost(p) = policy {
                p.merge(from, to, b, now);
            }
        }
    }
    /// `rq_qos_issue`: D.
    pub fn issue(&mut self, r: &QosRq, now: SimTime) {
        for policy in &mut self.chain {
            if let Policy::Wbt(p) = policy {
                p.issue(r, now);
            }
        }
    }
    /// `rq_qos_requeue`: the driver gave it back.
    pub fn requeue(&mut self, rq: Idx) {
        for policy in &mut self.chain {
            if let Policy::Wbt(p) = policy {
                p.requeue(rq);
            }
        }
    }
    /// `rq_qos_done`: a request ended, its bios before it; or it was merged into another.
    pub fn done(&mut self, r: &QosRq, now: SimTime) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(p) => p.done(r, now, &mut self.woken),
                Policy::Latency(_) => {}
                Policy::Cost(p) => p.done(r, now),
            }
        }
    }
    /// `rq_qos_done_bio`, for a bio that had passed (BIO_QOS_THROTTLED). `again`: it ended for want of a request, not as
    /// an I/O.
    pub fn done_bio(&mut self, b: &QosBio, again: bool, now: SimTime) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(_) => {}
                Policy::Latency(p) => p.done_bio(b, again, now, &mut self.woken),
                Policy::Cost(p) => p.done_bio(b),
            }
        }
    }
    /// `rq_qos_queue_depth_changed`, and what else of the queue was written. It is frozen.
    pub fn queue_changed(&mut self, facts: QueueFacts) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(p) => p.queue_changed(facts),
                Policy::Latency(p) => p.queue_changed(facts),
                Policy::Cost(_) => {}
            }
        }
    }

    // ---- time ----

    /// When [`RqQos::timer_fired`] is wanted.
    pub fn timer(&self) -> Option<SimTime> {
        self.chain.iter().filter_map(Policy::timer).min()
    }
    /// Time has passed; what is not due yet is not touched.
    pub fn timer_fired(&mut self, now: SimTime) {
        for policy in &mut self.chain {
            match policy {
                Policy::Wbt(p) => p.timer_fired(now, &mut self.woken),
                Policy::Latency(p) => p.timer_fired(now),
                Policy::Cost(p) => p.timer_fired(now, &mut self.woken),
            }
        }
    }
    /// Bios whose tasks are to be woken, in order: each goes on with [`RqQos::go_on`].
    pub fn take_woken(&mut self, into: &mut Vec<Idx>) {
        into.append(&mut self.woken);
    }
    /// Somebody is to be woken.
    #[inline]
    pub fn any_woken(&self) -> bool {
        !self.woken.is_empty()
    }
    /// Bios some policy holds, those woken and not running yet included.
    pub fn held(&self) -> u32 {
        self.held.len() as u32
    }

    /// For pictures; counters and flags are the pipeline's.
    pub fn view(&self) -> QosView {
        let mut view = QosView { enabled: !self.is_empty(), issue_time: self.wants_issue_time(), ..QosView::default() };
        for policy in &self.chain {
            match policy {
                Policy::Wbt(p) => view.wbt = Some(p.view()),
                Policy::Latency(p) => view.iolatency = p.view(),
                Policy::Cost(p) => view.iocost = Some(p.view()),
            }
        }
        view
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let policy = |p: &Policy| match p {
            Policy::Wbt(p) => p.heap_bytes(),
            Policy::Latency(p) => p.heap_bytes(),
            Policy::Cost(p) => p.heap_bytes(),
        };
        self.chain.iter().map(|p| size_of::<Policy>() + policy(p)).sum::<usize>() + self.held.capacity() * 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::live::{WbtSetting, WbtState};
    use crate::config::IoCostConfig;
    use crate::time::MS;
    use alloc::vec;

    const FACTS: QueueFacts = QueueFacts { queue_depth: 32, nr_requests: 64, write_back: false, rotational: true };

    const ON: WbtSetting = WbtSetting { lat_ns: 75 * MS, state: WbtState::OnDefault };

    fn latency(target: SimDuration) -> Option<Policy> {
        IoLatency::new([target].into_iter(), FACTS).map(Policy::Latency)
    }
    fn cost() -> Policy {
        Policy::Cost(IoCost::new(IoCostConfig::default(), [100].into_iter()))
    }
    fn write(bio: Idx) -> QosBio {
        let op = Op::Write;
        QosBio {
            bio,
            job: 0,
            op,
            sector: 0,
            nr_sectors: 8,
            kind: wbt::kind_of(op, false),
            as_root: false,
            issue_time: 0,
        }
    }

    #[test]
    fn section_8_1_the_chain_is_prepended_and_refuses_a_second() {
        let mut q = RqQos::default();
        assert!(q.is_empty() && !q.wants_issue_time());
        q.add(Policy::Wbt(Wbt::new(ON, FACTS))).unwrap();
        q.add(latency(MS).unwrap()).unwrap();
        assert_eq!(q.add(Policy::Wbt(Wbt::new(ON, FACTS))), Err(Busy));
        q.add(cost()).unwrap();
        assert_eq!(q.ids().collect::<Vec<_>>(), [PolicyId::Cost, PolicyId::Latency, PolicyId::Wbt]);
        assert!(q.view().enabled && q.wants_issue_time());
        q.del(PolicyId::Latency);
        assert!(q.view().enabled && !q.wants_issue_time());
        q.del(PolicyId::Cost);
        q.del(PolicyId::Wbt);
        // The flag goes with the last one.
        assert!(q.is_empty() && !q.view().enabled);
    }

    #[test]
    fn section_8_1_a_woken_bio_asks_the_rest_of_the_chain() {
        // io.latency before wbt: depth 1 of each kind.
        let mut q = RqQos::default();
        let facts = QueueFacts { queue_depth: 2, ..FACTS };
        q.add(Policy::Wbt(Wbt::new(ON, facts))).unwrap();
        q.add(cost()).unwrap();
        let hold = |gate| matches!(gate, Gate::Wait(Hold::Wbt { in_flight: 2, limit: 2, .. }));
        for bio in 0..2 {
            assert_eq!(q.throttle(&write(bio), 0), Gate::Pass);
            q.track(bio, &write(bio));
        }
        // wbt holds it; its place comes when one is done, without asking iocost again.
        assert!(hold(q.throttle(&write(2), 0)));
        assert_eq!((q.held(), q.any_woken()), (1, false));
        q.done(&QosRq { rq: 0, op: Op::Write, nr_sectors: 8, start: 0, issued: Some(0) }, MS);
        let mut woken = vec![];
        q.take_woken(&mut woken);
        assert_eq!((woken, q.any_woken(), q.held()), (vec![2], false, 1));
        assert_eq!((q.go_on(&write(2), MS), q.held()), (Gate::Pass, 0));
        // iocost holds one until its budget is there; then wbt, which is full, holds it.
        let far = |bio: Idx| QosBio { sector: u64::from(bio) << 32, ..write(bio) };
        let by_cost = (3..200).find(|bio| {
            let direct = QosBio { kind: None, ..far(*bio) };
            q.throttle(&direct, MS) != Gate::Pass
        });
        let last = by_cost.unwrap() + 1;
        assert!(matches!(q.throttle(&far(last), MS), Gate::Wait(Hold::Cost { .. })));
        let mut woken = vec![];
        while !woken.contains(&last) {
            let now = q.timer().unwrap();
            q.timer_fired(now);
            q.take_woken(&mut woken);
        }
        assert!(hold(q.go_on(&far(last), 400 * MS)));
    }

    #[test]
    fn section_8_1_a_bio_without_request_gives_its_place_back() {
        let mut q = RqQos::default();
        q.add(Policy::Wbt(Wbt::new(ON, QueueFacts { queue_depth: 1, ..FACTS }))).unwrap();
        q.add(cost()).unwrap();
        for bio in 0..2 {
            assert_eq!(q.throttle(&write(bio), 0), Gate::Pass);
        }
        assert!(q.throttle(&write(2), 0) != Gate::Pass);
        q.cleanup(&write(0), 0);
        q.cleanup(&write(1), 0);
        let mut woken = vec![];
        q.take_woken(&mut woken);
        assert_eq!(woken, [2]);
    }
}
