//! Waiting for the queue in service although others have requests.
//!
//! Models: bfq_better_to_idle, bfq_asymmetric_scenario, bfq_idle_slice_timer_body (kernel 4.5).
//! Rule: it pays where a stream goes on on a rotational device, or where the device has no queue; it is owed where
//! weights or classes differ, for else the device's queue would be filled by those who have less; and to raised queues.
//! Leaves out: injection of others' requests meanwhile.

use super::queue::BfqQueue;
use super::{Bfq, End};
use crate::time::SimTime;

impl Bfq {
    /// `bfq_better_to_idle`
    pub(super) fn better_to_idle(&self, q: usize) -> bool {
        let queue = &self.queues[q];
        if self.cfg.strict_guarantees {
            return true;
        }
        if self.cfg.slice_idle_ns == 0 || !queue.sync || self.idle_class(q) {
            return false;
        }
        // For throughput: where the next request will be near and the device has nothing to choose from meanwhile.
        let stream = !queue.seeky() && queue.io_bound && queue.short_think;
        let alone = self.rotational && !self.hw_tag;
        let boosts = alone || (self.rotational || !self.hw_tag) && stream;
        boosts && !self.any_raised() || self.idling_owed(q)
    }

    /// `idling_needed_for_service_guarantees`: without waiting others would get what is this queue's.
    pub(super) fn idling_owed(&self, q: usize) -> bool {
        let busy = self.queues.iter().filter(|o| o.busy);
        let (all, raised) = busy.fold((0, 0), |(n, r), o| (n + 1, r + u32::from(o.raise.coeff > 1)));
        let queue = &self.queues[q];
        let privileged = queue.raise.coeff > 1 && (raised < all || self.in_driver >= queue.dispatched + 4);
        privileged || all == 1 || self.asymmetric(q)
    }

    /// `bfq_asymmetric_scenario`: equal treatment would not be fair, to others than the queue of the least weight.
    pub(super) fn asymmetric(&self, q: usize) -> bool {
        let counts = |o: &BfqQueue| o.raise.coeff == 1 && (o.busy || o.dispatched > 0);
        let (mut least, mut most, mut classes) = (u32::MAX, 0, [false; 3]);
        for (o, e) in self.queues.iter().zip(&self.tree.entities) {
            if counts(o) {
                least = least.min(o.weight);
                most = most.max(o.weight);
            }
            classes[e.class] |= o.busy;
        }
        let smallest = counts(&self.queues[q]) && self.queues[q].weight == least;
        most > least && !smallest || classes.iter().filter(|c| **c).count() > 1
    }

    pub(super) fn any_raised(&self) -> bool {
        self.queues.iter().any(|q| q.busy && q.raise.coeff > 1)
    }
    pub(super) fn must_idle(&self, q: usize) -> bool {
        self.queues[q].sort.is_empty() && self.better_to_idle(q)
    }

    /// When [`Bfq::timer_fired`] is wanted: the wait for the queue in service is over.
    pub fn timer(&self) -> Option<SimTime> {
        self.idle_until
    }
    /// `bfq_idle_slice_timer_body`. True: run the queue.
    pub fn timer_fired(&mut self, now: SimTime) -> bool {
        if self.idle_until.is_none_or(|until| now < until) {
            return false;
        }
        let timeout = self.tree.in_service.is_some_and(|q| now >= self.queues[q].timeout_at);
        self.expire(if timeout { End::Timeout } else { End::TooIdle }, true, now);
        self.has_work()
    }
}
