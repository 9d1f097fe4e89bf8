//! What others ask: how many requests a job may have, what a bio may join, what is where.
//!
//! Models: bfq_limit_depth, bfq_depth_updated, bfq_request_merged, bfq_requests_merged (kernel 4.5).
//! Rule: merging looks into the queue of the process only.
//! Leaves out: requests of two queues that touch (the kernel joins those at insertion).

use alloc::vec::Vec;

use super::queue::{self, BfqQueue};
use super::tree::On;
use super::{BE, Bfq, Rq, State};
use crate::blk::elevator::Queued;
use crate::observe::snapshot::{BfqQueueView, BfqView, RequestView};
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{IoClass, IoPrio, JobIdx, Op, Sector};

impl Bfq {
    /// `bfq_limit_depth` (kernel 4.5): sync reads all, sync writes async_depth, async two thirds of it; half and a
    /// quarter while a queue is raised; one for a queue that has its share of the requests.
    pub fn limit_depth(&self, op: Op, sync: bool, job: JobIdx, async_depth: u32) -> u32 {
        let limit = match (sync, self.any_raised()) {
            (true, _) if op != Op::Write => self.nr_requests,
            (true, false) => async_depth,
            (false, false) => async_depth * 2 / 3,
            (true, true) => async_depth / 2,
            (false, true) => async_depth / 4,
        };
        let limit = limit.max(1);
        // The job's async queue is known by priority only; it is shared, so its share is not the job's anyway.
        let over = self.queues.iter().position(|q| sync && q.sync && q.job == job).is_some_and(|q| self.over(q, limit));
        match limit {
            _ if over => 1,
            all if all >= self.nr_requests => u32::MAX,
            _ => limit,
        }
    }

    /// `bfqq_request_over_limit`: weights of higher classes count eight times.
    fn over(&self, q: usize, limit: u32) -> bool {
        let e = &self.tree.entities[q];
        let wsum =
            self.tree.classes[..=e.class].iter().fold(0u64, |sum, c| sum.saturating_mul(8).saturating_add(c.wsum));
        if e.on == On::Out || wsum == 0 {
            return false;
        }
        let share = (u64::from(limit) * u64::from(e.weight) + wsum / 2) / wsum;
        u64::from(self.queues[q].allocated) >= share
    }

    /// What the bitmap is told: one, for a queue over its share gets no more.
    pub fn min_shallow_depth(&self, _async_depth: u32) -> u32 {
        1
    }
    /// nr_requests changed.
    pub fn depth_updated(&mut self, nr_requests: u32, _async_depth: u32) {
        self.nr_requests = nr_requests;
    }

    fn sorted(&self, r: &Queued) -> Option<&BfqQueue> {
        self.queue_of(r.sync, r.job, r.prio).map(|q| &self.queues[q])
    }
    /// Same operation as `r`, which shares its queue with others, and not `r` itself.
    fn alike(&self, r: &Queued, rq: Idx) -> bool {
        rq != r.rq && self.rqs[rq as usize].op == r.op as u8
    }
    /// The request of the same queue that starts nearest at or before `r`.
    pub fn before(&self, r: Queued) -> Option<Idx> {
        let q = self.sorted(&r)?;
        q.sort.range(..=(r.sector, u64::MAX)).rev().map(|(_, rq)| *rq).find(|rq| self.alike(&r, *rq))
    }
    /// The request of the same queue that starts at `sector`.
    pub fn at(&self, r: Queued, sector: Sector) -> Option<Idx> {
        let q = self.sorted(&r)?;
        q.sort.range((sector, 0)..=(sector, u64::MAX)).map(|(_, rq)| *rq).find(|rq| self.alike(&r, *rq))
    }
    /// The request sorted before this one.
    pub fn former(&self, r: Queued) -> Option<Idx> {
        self.before(r)
    }
    /// The request sorted behind this one.
    pub fn latter(&self, r: Queued) -> Option<Idx> {
        let q = self.sorted(&r)?;
        q.sort.range((r.sector, 0)..).map(|(_, rq)| *rq).find(|rq| self.alike(&r, *rq))
    }
    /// A bio joined a queued request (`bfq_request_merged`).
    pub fn reposition(&mut self, r: Queued, _old: Sector) {
        let Some(rq) = self.rqs.get_mut(r.rq as usize) else { return };
        rq.nr_sectors = r.nr_sectors;
        let old = rq.key;
        rq.key.0 = r.sector;
        let (new, q) = (rq.key, usize::from(rq.queue));
        if rq.state != State::Queued {
            return;
        }
        if new != old {
            self.queues[q].moved(old, new);
            if let Some(next) = self.queues[q].next {
                self.queues[q].next = Some(queue::nearer(&self.cfg, self.last_position, next, new));
            }
        }
        self.next_changed(q);
    }
    /// The second request, queued or about to be, is part of the first now (`bfq_requests_merged`).
    pub fn merged(&mut self, first: Queued, second: Queued) {
        let known = |r: &Queued| self.rqs.get(r.rq as usize).copied().filter(|r| r.state == State::Queued);
        let (a, b) = (known(&first), known(&second));
        if let Some(a) = a {
            if let Some(b) = b.filter(|b| b.queue == a.queue) {
                self.queues[usize::from(a.queue)].inherit(a.key, b.key);
            }
            self.rqs[first.rq as usize].nr_sectors = first.nr_sectors.saturating_add(second.nr_sectors);
            self.next_changed(usize::from(a.queue));
        }
        if b.is_some() {
            self.remove(second.rq, second.start);
            self.rqs[second.rq as usize].state = State::Done;
        }
    }
    /// One that waits, if any does.
    pub fn any_queued(&self) -> Option<Idx> {
        let first = self.queues.iter().find_map(|q| q.sort.values().next());
        self.dispatch.front().or(first).copied()
    }

    /// Queues with requests, at the driver or not, by virtual finish.
    pub fn view(&self, _now: SimTime, rq: &dyn Fn(Idx) -> RequestView) -> BfqView {
        let mut order: Vec<usize> = Vec::new();
        for q in 0..self.queues.len() {
            if self.queues[q].busy || self.queues[q].dispatched > 0 {
                let finish = |q: usize| self.tree.entities[q].finish;
                let place = order.iter().position(|other| finish(*other) > finish(q)).unwrap_or(order.len());
                order.insert(place, q);
            }
        }
        let one = |q: &usize| {
            let (queue, e) = (&self.queues[*q], &self.tree.entities[*q]);
            let class = [IoClass::Rt, IoClass::Be, IoClass::Idle][e.class];
            BfqQueueView {
                job: queue.job,
                sync: queue.sync,
                prio: IoPrio { class, level: queue.level },
                weight: queue.raised_weight(),
                wr_coeff: queue.raise.coeff,
                budget: e.budget,
                service: e.service,
                start: e.start,
                finish: e.finish,
                eligible: e.on == On::Served || e.on == On::Active && e.start <= self.tree.classes[e.class].vtime,
                queued: queue.sort.values().map(|r| rq(*r)).collect(),
                dispatched: queue.dispatched,
            }
        };
        BfqView {
            queues: order.iter().map(one).collect(),
            in_service: order.iter().position(|q| self.tree.in_service == Some(*q)),
            vtime: self.tree.classes[BE].vtime,
            peak_rate: self.rate.per_second(),
            max_budget: self.budget_limit(),
            idle_until: self.idle_until,
        }
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let queues: usize = self.queues.iter().map(|q| size_of::<BfqQueue>() + q.heap_bytes()).sum();
        queues + self.tree.heap_bytes() + self.rqs.capacity() * size_of::<Rq>() + self.dispatch.capacity() * 4
    }
}
