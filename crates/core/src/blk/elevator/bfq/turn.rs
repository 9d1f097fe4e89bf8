//! How a turn ends, and what the queue gets next time.
//!
//! Models: bfq_bfqq_expire, bfq_bfqq_charge_time, __bfq_bfqq_recalc_budget (kernel 4.5).
//! Rule: a slow queue, or one whose time was over with much of its budget left, pays for its time as if the device had
//! worked at its peak rate. Who used all gets more next time, who was waited for in vain less.
//! Leaves out: nothing of these.

use super::{Bfq, End, MIN_TURNS, rate};
use crate::time::{MS, SimDuration, SimTime};

impl Bfq {
    /// `bfq_may_expire_for_budg_timeout`: one that is waited for may go on while it has used most of its budget.
    pub(super) fn times_out(&self, q: usize, now: SimTime) -> bool {
        let e = &self.tree.entities[q];
        now >= self.queues[q].timeout_at && (self.idle_until.is_none() || e.left() >= e.budget / 3)
    }

    /// `bfq_bfqq_expire`; `waited`: the time it was waited for is not its own.
    pub(super) fn expire(&mut self, end: End, waited: bool, now: SimTime) {
        let Some(q) = self.tree.in_service else { return };
        self.idle_until = None;
        let until = if waited { self.idle_since } else { now };
        let time = until.saturating_sub(self.queues[q].served_since);
        let e = self.tree.entities[q];
        let slow = self.queues[q].sync && time > 20 * MS && e.service < self.budget_limit() / 2;
        if self.queues[q].raise.coeff == 1 && (slow || end == End::Timeout && e.left() >= e.budget / 3) {
            self.charge_time(q, time);
        }
        let slice_idle = self.cfg.slice_idle_ns;
        let queue = &mut self.queues[q];
        if self.cfg.low_latency {
            if queue.raise.coeff == 1 {
                queue.raise.since = now;
            }
            if queue.sort.is_empty() {
                if queue.dispatched == 0 {
                    queue.raise.plan_soft_rt(now, slice_idle);
                } else {
                    queue.raise.soft_rt_update = true;
                }
            }
        }
        self.next_budget(q, end);
        let keeps = end == End::Preempted && self.idling_owed(q);
        if self.queues[q].sort.is_empty() && !keeps {
            self.rests(q, now);
        } else {
            self.tree.requeue(q, self.queues[q].raised_weight());
        }
        if !self.queues[q].busy && !matches!(end, End::Timeout | End::Exhausted) {
            // What is left of the budget stays its due for a moment.
            self.queues[q].waits_for_own = true;
        } else {
            self.tree.entities[q].service = 0;
        }
    }

    /// `bfq_bfqq_charge_time`: as if it had been served at the peak rate all the time.
    pub(super) fn charge_time(&mut self, q: usize, time: SimDuration) {
        let timeout = self.cfg.timeout_sync_ns;
        // A turn too short to measure counts as the shortest wait.
        let time = match time {
            0..MS if !self.rotational => rate::MIN_THINK,
            0..MS => self.cfg.slice_idle_ns,
            _ => time,
        };
        let ms = time.min(timeout) / MS;
        let worth = (u64::from(self.max_budget) * ms / (timeout / MS).max(1)) as u32;
        let e = &mut self.tree.entities[q];
        let more = worth.saturating_sub(e.service);
        e.budget = e.budget.max(worth);
        self.charge(q, more);
    }

    /// `__bfq_bfqq_recalc_budget`
    pub(super) fn next_budget(&mut self, q: usize, end: End) {
        let (limit, floor) = (self.budget_limit(), self.budget_floor());
        let service = self.tree.entities[q].service;
        let queue = &mut self.queues[q];
        let budget = queue.max_budget;
        queue.max_budget = if !queue.sync {
            limit
        } else if queue.raise.coeff > 1 {
            2 * floor
        } else {
            match end {
                // Its requests are still being served: not its fault.
                End::TooIdle if queue.dispatched > 0 => (budget.saturating_mul(2)).min(limit),
                End::TooIdle if budget > 5 * floor => budget - 4 * floor,
                End::TooIdle => floor,
                End::Timeout => budget.saturating_mul(2).min(limit),
                End::Exhausted => budget.saturating_mul(4).min(limit),
                End::NoMoreRequests => service.max(floor),
                End::Preempted => budget,
            }
        };
        if self.turns >= MIN_TURNS && self.cfg.max_budget == 0 {
            queue.max_budget = queue.max_budget.min(self.max_budget);
        }
        if queue.next.is_some() {
            let need = self.next_charge(q);
            self.tree.entities[q].budget = self.queues[q].max_budget.max(need);
        }
    }
}
