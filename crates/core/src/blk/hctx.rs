//! Hardware queues: what runs them, in which order requests leave, and what happens to those the driver cannot take.
//!
//! Models: `struct blk_mq_hw_ctx`, block/blk-mq-sched.c, `blk_mq_dispatch_rq_list`, 7.1 (kernel 3.5 to 3.7).
//! Rule: hctx->dispatch goes first; a scheduler is asked only while budget and driver tags last; what could not go waits
//! in hctx->dispatch until a completion restarts the queue (SCHED_RESTART), or 3 ms where the driver promised none. With
//! `dispatch_ns` a run takes its requests one at a time and is at the driver with each that much later; the queue of a
//! driver that blocks runs in kblockd only.
//! Leaves out: quiesced and stopped queues, CPU hotplug, ->commit_rqs; hardware queues of other users of a shared set.

use super::Ctx;
use super::tag::{Tags, fair_share};
use crate::config::{ElevatorKind, ZoneOrdering};
use crate::drive::null_blk::Attempt;
use crate::drive::{Cmd, Outcome, fault};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::trace::Action;
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, IoClass, Op};

use super::Media;

/// BLK_MQ_RESOURCE_DELAY, BLK_MQ_BUDGET_DELAY, SCSI_QUEUE_DELAY
const RETRY_NS: SimDuration = 3_000_000;

/// From a requeue to the work that issues it again, at least.
const REQUEUE_NS: SimDuration = 1_000;

/// `struct blk_mq_hw_ctx`
#[derive(Clone, Debug)]
pub struct Hctx {
    /// Requests that left the scheduler and could not go yet: they go before everything else.
    pub dispatch: Fifo<Idx>,
    /// Wait queue the next sleeper takes.
    pub wait_index: u8,
    /// Moving average of how often the driver was busy.
    pub dispatch_busy: u32,
    /// BLK_MQ_S_SCHED_RESTART: the next completion runs the queue.
    pub restart: bool,
    /// Driver tags its requests hold.
    pub nr_active: u32,
    /// Its commands between D and C.
    pub at_device: u32,
    /// Driver tags (with host-wide tags: those of the first hardware queue serve all).
    pub tags: Tags,
    /// Sched tags (with a scheduler).
    pub sched_tags: Option<Tags>,
    /// A run that is due later.
    run_at: Option<SimTime>,
    run: Run,
    /// It was asked to run again while it ran.
    again: bool,
    /// Taken by a run that takes time, and when it is at the driver.
    taken: Option<Idx>,
    step_at: Option<SimTime>,
    /// Zone writes that the driver gave back in this run because others have to come first.
    misaligned: Fifo<Idx>,
    /// A request went after the first of those came back.
    progress: bool,
}

/// What runs a hardware queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    /// Nothing; whoever asks runs it at once.
    Idle,
    /// Somebody does, at this moment.
    Now,
    /// Nothing; a run may take time or be kblockd's alone.
    Rest,
    /// A run that takes time.
    Slow,
}

impl Hctx {
    /// As after registration; `slow`: a run may take time, or the driver blocks.
    pub fn new(tags: Tags, sched_tags: Option<Tags>, slow: bool) -> Self {
        Self {
            dispatch: Fifo::new(),
            wait_index: 0,
            dispatch_busy: 0,
            restart: false,
            nr_active: 0,
            at_device: 0,
            tags,
            sched_tags,
            run_at: None,
            run: if slow { Run::Rest } else { Run::Idle },
            again: false,
            taken: None,
            step_at: None,
            misaligned: Fifo::new(),
            progress: false,
        }
    }
    /// `blk_mq_update_dispatch_busy`: weight 8, factor 4.
    fn update_busy(&mut self, busy: bool) {
        self.dispatch_busy = (7 * self.dispatch_busy + if busy { 16 } else { 0 }) / 8;
        self.progress |= !busy;
    }
    /// Requests on their way to the driver: what a run has taken, or got back, then hctx->dispatch.
    pub fn on_their_way(&self) -> impl Iterator<Item = Idx> + '_ {
        self.taken.iter().chain(self.misaligned.iter()).chain(self.dispatch.iter()).copied()
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        (self.dispatch.capacity() + self.misaligned.capacity()) * size_of::<Idx>()
            + self.tags.heap_bytes()
            + self.sched_tags.as_ref().map_or(0, Tags::heap_bytes)
    }
}

/// What the driver and its device have of a queue's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct AtDevice {
    /// Commands between D and C.
    pub commands: u32,
    /// Of those, ATA commands that are not NCQ: at most one, and alone.
    pub non_ncq: u32,
    /// A budget was refused: the next completion runs all hardware queues.
    pub restarts: bool,
}

/// Commands that ATA drives execute alone.
fn is_non_ncq(op: Op) -> bool {
    matches!(op, Op::Flush | Op::DrvIn)
}

impl Ctx<'_> {
    pub(super) fn hctx(&mut self, dev: DevIdx, h: u16) -> &mut Hctx {
        &mut self.queue(dev).hctxs[usize::from(h)]
    }

    /// The hardware queue of a CPU.
    pub(super) fn hctx_of(&mut self, dev: DevIdx, cpu: u16) -> u16 {
        let nr_cpus = self.cfg.host.nr_cpus;
        match self.queue(dev).hctxs.len() {
            1 => 0,
            n => super::elevator::none::hctx_of(cpu, nr_cpus, n as u16),
        }
    }

    // ---- running ----

    /// `blk_mq_run_hw_queue`, not asynchronous.
    pub(super) fn run_hw_queue(&mut self, dev: DevIdx, h: u16) {
        let q = self.queue(dev);
        let hctx = &mut q.hctxs[usize::from(h)];
        if hctx.run != Run::Idle {
            self.ask_for_run(dev, h);
            return;
        }
        if hctx.dispatch.is_empty() && !q.elevator.has_work(h) {
            self.arm_elevator(dev);
            return;
        }
        hctx.run = Run::Now;
        loop {
            self.dispatch_requests(dev, h);
            let hctx = self.hctx(dev, h);
            if !core::mem::take(&mut hctx.again) && (hctx.misaligned.is_empty() || !self.next_round(dev, h)) {
                break;
            }
        }
        self.hctx(dev, h).run = Run::Idle;
        self.arm_elevator(dev);
    }

    /// Where it may not just run: it runs already, or only kblockd may run it, or the run will take time.
    fn ask_for_run(&mut self, dev: DevIdx, h: u16) {
        let ns = self.cfg.host.kblockd_ns;
        let q = self.queue(dev);
        let hctx = &mut q.hctxs[usize::from(h)];
        match hctx.run {
            Run::Rest if hctx.dispatch.is_empty() && !q.elevator.has_work(h) => self.arm_elevator(dev),
            Run::Rest if q.cfg.blocking && ns > 0 => self.delay_run(dev, h, ns),
            Run::Rest => self.run_slowly(dev, h),
            _ => hctx.again = true,
        }
    }

    /// Runs it where a run takes time.
    fn run_slowly(&mut self, dev: DevIdx, h: u16) {
        let takes_time = self.cfg.host.dispatch_ns > 0;
        let q = self.queue(dev);
        // Without scheduler and unless the driver blocks, requests only come here when it was busy.
        if takes_time && (q.has_sched() || q.cfg.blocking) {
            self.hctx(dev, h).run = Run::Slow;
            self.take_next(dev, h);
        } else {
            self.hctx(dev, h).run = Run::Idle;
            self.run_hw_queue(dev, h);
            self.hctx(dev, h).run = Run::Rest;
        }
    }

    /// `blk_mq_start_stopped_hw_queues`
    pub(crate) fn start_stopped_hw_queues(&mut self, dev: DevIdx) {
        if core::mem::take(&mut self.queue(dev).stopped) {
            for h in 0..self.queue(dev).hctxs.len() {
                self.run_hw_queue_async(dev, h as u16);
            }
        }
    }

    /// `blk_mq_run_hw_queues`
    pub(super) fn run_hw_queues(&mut self, dev: DevIdx) {
        for h in 0..self.queue(dev).hctxs.len() {
            self.run_hw_queue(dev, h as u16);
        }
    }

    /// `blk_mq_run_hw_queue(async)`: by a worker of kblockd; at once where its wake-up costs nothing.
    pub(super) fn run_hw_queue_async(&mut self, dev: DevIdx, h: u16) {
        let ns = self.cfg.host.kblockd_ns;
        // A work that is queued while it runs, runs again at once.
        if ns == 0 || self.hctx(dev, h).run == Run::Slow {
            self.run_hw_queue(dev, h);
        } else {
            self.delay_run(dev, h, ns);
        }
    }

    /// `blk_mq_delay_run_hw_queue`
    pub(super) fn delay_run(&mut self, dev: DevIdx, h: u16, ns: SimDuration) {
        let at = self.bus.now + ns;
        let hctx = self.hctx(dev, h);
        if hctx.run_at.is_none_or(|due| due > at) {
            hctx.run_at = Some(at);
            self.bus.after(ns, Event::RunQueue(dev, h));
        }
    }

    /// `Event::RunQueue`; one that was overtaken by an earlier finds nothing to do.
    pub(crate) fn run_queue_event(&mut self, dev: DevIdx, h: u16) {
        let now = self.bus.now;
        let hctx = self.hctx(dev, h);
        if hctx.step_at == Some(now) {
            hctx.step_at = None;
            self.hand_over(dev, h);
        } else if hctx.run_at == Some(now) {
            hctx.run_at = None;
            match hctx.run {
                Run::Rest => self.run_slowly(dev, h),
                _ => self.run_hw_queue(dev, h),
            }
        }
    }

    /// Sees to it that the scheduler's timer fires.
    #[inline]
    pub(super) fn arm_elevator(&mut self, dev: DevIdx) {
        if matches!(self.queue(dev).cfg.elevator, ElevatorKind::Kyber | ElevatorKind::Bfq) {
            self.arm_timer(dev);
        }
    }
    fn arm_timer(&mut self, dev: DevIdx) {
        let now = self.bus.now;
        let q = self.queue(dev);
        if let Some(at) = q.elevator.timer()
            && q.timer_at.is_none_or(|armed| armed > at || armed < now)
        {
            q.timer_at = Some(at);
            self.bus.after(at.saturating_sub(now), Event::Elevator(dev));
        }
    }

    /// `Event::Elevator`
    pub(crate) fn elevator_event(&mut self, dev: DevIdx) {
        let now = self.bus.now;
        let q = self.queue(dev);
        if q.timer_at.is_some_and(|at| at <= now) {
            q.timer_at = None;
        }
        if q.elevator.timer_fired(now) {
            self.run_hw_queues(dev);
        }
        self.arm_elevator(dev);
    }

    // ---- runs that take time ----

    /// A run takes its next request, or is over.
    fn take_next(&mut self, dev: DevIdx, h: u16) {
        loop {
            self.hctx(dev, h).again = false;
            if let Some(rq) = self.take_one(dev, h) {
                let ns = self.cfg.host.dispatch_ns;
                let at = self.bus.now + ns;
                let hctx = self.hctx(dev, h);
                hctx.taken = Some(rq);
                hctx.step_at = Some(at);
                self.bus.after(ns, Event::RunQueue(dev, h));
                return;
            }
            if !self.hctx(dev, h).again && !self.next_round(dev, h) {
                break;
            }
        }
        self.hctx(dev, h).run = Run::Rest;
        self.arm_elevator(dev);
    }

    /// From hctx->dispatch, then from the scheduler or a ctx list, while the device has room.
    fn take_one(&mut self, dev: DevIdx, h: u16) -> Option<Idx> {
        let now = self.bus.now;
        let q = self.queue(dev);
        if q.stopped {
            return None;
        }
        let hctx = &mut q.hctxs[usize::from(h)];
        if let Some(first) = hctx.dispatch.front().copied() {
            hctx.restart = true;
            if self.rqs[first].tag.is_none() && !self.queue(dev).tags_mut(h).any_free() {
                self.hctx(dev, h).update_busy(true);
                return None;
            }
            return self.hctx(dev, h).dispatch.pop_front();
        }
        let busy = hctx.dispatch_busy > 0;
        if !q.elevator.has_work(h) || !q.budget(0) {
            return None;
        }
        let rq = q.elevator.dispatch(h, busy, now);
        if rq.is_none() {
            self.held_back(dev, h);
        }
        let q = self.queue(dev);
        q.last_merge = q.last_merge.filter(|last| Some(*last) != rq);
        rq
    }

    /// A request that a run has taken is at the driver; then the run goes on.
    fn hand_over(&mut self, dev: DevIdx, h: u16) {
        let Some(rq) = self.hctx(dev, h).taken.take() else { return };
        // A scheduler gives any hardware queue the requests of all.
        let own = self.rqs[rq].hctx;
        let mut lacking = BlkStatus::Ok;
        let mut went = false;
        if !self.queue(dev).budget(0) {
            lacking = BlkStatus::Resource;
        } else if !self.get_driver_tag(dev, rq) {
            self.hctx(dev, own).restart = true;
        } else {
            lacking = self.queue_rq(dev, rq);
            went = !matches!(lacking, BlkStatus::Resource | BlkStatus::DevResource);
            if !went && self.put_back(dev, rq) {
                self.set_aside(dev, own, rq);
                if own != h && self.next_round(dev, own) {
                    self.delay_run(dev, own, 0);
                }
                self.take_next(dev, h);
                return;
            }
        }
        let hctx = self.hctx(dev, own);
        hctx.update_busy(!went);
        if !went {
            hctx.dispatch.push_front(rq);
            self.wait_for_device(dev, own, lacking);
        }
        if went || self.hctx(dev, h).again {
            self.take_next(dev, h);
        } else {
            self.hctx(dev, h).run = Run::Rest;
        }
    }

    // ---- zone writes out of order, with zone_ordering=pipelined ----

    /// The driver gave a misaligned zone write back. It holds nothing up: what it waits for may be behind it.
    fn set_aside(&mut self, dev: DevIdx, h: u16, rq: Idx) {
        let r = &self.rqs[rq];
        let why = Why::Misaligned { zone: r.zone, rq: r.id, retries: r.retries };
        self.bus.because(self.bios[r.bio].id, why);
        let hctx = self.hctx(dev, h);
        hctx.progress &= !hctx.misaligned.is_empty();
        hctx.misaligned.push_back(rq);
    }

    /// All others had their turn: misaligned writes are back on hctx->dispatch. True: one may be right now. Else they are
    /// tried again with the next completion, or in 3 ms where none will come.
    fn next_round(&mut self, dev: DevIdx, h: u16) -> bool {
        let hctx = self.hctx(dev, h);
        if hctx.misaligned.is_empty() {
            return false;
        }
        let mut list = core::mem::take(&mut hctx.misaligned);
        list.append(&mut hctx.dispatch);
        hctx.dispatch = list;
        let (progress, alone) = (hctx.progress, hctx.at_device == 0);
        hctx.restart |= !progress;
        if !progress && alone {
            self.delay_run(dev, h, RETRY_NS);
        }
        progress
    }

    // ---- dispatch ----

    /// `__blk_mq_sched_dispatch_requests`
    fn dispatch_requests(&mut self, dev: DevIdx, h: u16) {
        let q = self.queue(dev);
        if q.stopped {
            return;
        }
        let hctx = &mut q.hctxs[usize::from(h)];
        let mut one_by_one = hctx.dispatch_busy > 0;
        if let Some(first) = hctx.dispatch.front().copied() {
            hctx.restart = true;
            // The usual case of a busy device, told without moving lists about.
            if self.rqs[first].tag.is_none() && !self.queue(dev).tags_mut(h).any_free() {
                self.hctx(dev, h).update_busy(true);
                return;
            }
            let hctx = self.hctx(dev, h);
            let mut list = core::mem::take(&mut hctx.dispatch);
            let all_went = self.dispatch_list(dev, h, &mut list);
            self.give_back(dev, h, list);
            if !all_went {
                return;
            }
            one_by_one = true;
        }
        let q = self.queue(dev);
        if !q.elevator.has_work(h) {
            return;
        }
        let sched = q.has_sched();
        // A device that is full already, told without a list.
        if sched && q.hctxs[usize::from(h)].dispatch.is_empty() && !q.budget(0) {
            return;
        }
        let mut list = core::mem::take(&mut q.scratch);
        if sched {
            while self.dispatch_sched(dev, h, &mut list) {}
        } else {
            while self.dispatch_ctxs(dev, h, one_by_one, &mut list) {}
        }
        list.clear();
        self.queue(dev).scratch = list;
    }

    /// An emptied list goes back where it came from: no new memory the next time.
    fn give_back(&mut self, dev: DevIdx, h: u16, list: Fifo<Idx>) {
        let hctx = self.hctx(dev, h);
        if hctx.dispatch.is_empty() && list.is_empty() {
            hctx.dispatch = list;
        }
    }

    /// `__blk_mq_do_dispatch_sched`: one round; true: another may find more.
    fn dispatch_sched(&mut self, dev: DevIdx, h: u16, list: &mut Fifo<Idx>) -> bool {
        let now = self.bus.now;
        let q = self.queue(dev);
        let busy = q.hctxs[usize::from(h)].dispatch_busy > 0;
        let most = if busy { 1 } else { q.cfg.nr_requests as usize };
        let (mut held_back, mut overtaken, mut elsewhere, mut drained) = (false, false, false, false);
        while list.len() < most {
            let taken = list.len() as u32;
            let q = self.queue(dev);
            // The first time the caller has looked.
            if taken > 0 && !q.elevator.has_work(h) {
                drained = true;
                break;
            }
            if !q.hctxs[usize::from(h)].dispatch.is_empty() {
                overtaken = true;
                break;
            }
            if !q.budget(taken) {
                break;
            }
            let Some(rq) = q.elevator.dispatch(h, busy, now) else {
                held_back = true;
                break;
            };
            q.last_merge = q.last_merge.filter(|last| *last != rq);
            let here = self.rqs[rq].hctx == h;
            let tagged = self.get_driver_tag(dev, rq);
            if taken == 0 && tagged && here && !self.has_work(dev, h) {
                // The usual case of an idle queue, told without a list.
                let status = self.queue_rq(dev, rq);
                if !matches!(status, BlkStatus::Resource | BlkStatus::DevResource) {
                    self.hctx(dev, h).update_busy(false);
                    return false;
                }
                if self.put_back(dev, rq) {
                    self.set_aside(dev, h, rq);
                    return self.has_work(dev, h);
                }
                list.push_back(rq);
                return self.left_over(dev, h, list, status);
            }
            list.push_back(rq);
            elsewhere |= !here;
            if !tagged {
                break;
            }
        }
        if list.is_empty() {
            if held_back {
                self.held_back(dev, h);
            }
            return false;
        }
        if !elsewhere {
            return self.dispatch_list(dev, h, list) && !overtaken && !drained && self.has_work(dev, h);
        }
        let mut sent = false;
        while let Some(first) = list.front() {
            let other = self.rqs[*first].hctx;
            let (mut group, rest): (Fifo<Idx>, Fifo<Idx>) =
                core::mem::take(list).into_iter().partition(|rq| self.rqs[*rq].hctx == other);
            *list = rest;
            sent |= self.dispatch_list(dev, other, &mut group);
            if other != h && self.next_round(dev, other) {
                self.delay_run(dev, other, 0);
            }
        }
        sent && !overtaken && self.has_work(dev, h)
    }

    /// The scheduler has requests and gives none: BLK_MQ_BUDGET_DELAY.
    fn held_back(&mut self, dev: DevIdx, h: u16) {
        if let Some((zone, waits, holds)) = self.queue(dev).elevator.waits_for_zone() {
            let (rq, bio) = (self.rqs[holds].id, self.bios[self.rqs[waits].bio].id);
            self.bus.because(bio, Why::ZoneWriteLocked { zone, rq });
        }
        self.delay_run(dev, h, RETRY_NS);
    }

    fn has_work(&mut self, dev: DevIdx, h: u16) -> bool {
        self.queue(dev).elevator.has_work(h)
    }

    /// Without scheduler: all of the ctx lists, or while busy one after the other.
    fn dispatch_ctxs(&mut self, dev: DevIdx, h: u16, one_by_one: bool, list: &mut Fifo<Idx>) -> bool {
        let now = self.bus.now;
        while self.queue(dev).elevator.has_work(h) {
            if one_by_one && !self.queue(dev).budget(0) {
                return false;
            }
            let Some(rq) = self.queue(dev).elevator.dispatch(h, one_by_one, now) else { break };
            list.push_back(rq);
            if one_by_one {
                return self.dispatch_list(dev, h, list);
            }
        }
        self.dispatch_list(dev, h, list);
        false
    }

    /// `blk_mq_dispatch_rq_list`: hands requests to the driver in order; what it does not take goes to hctx->dispatch.
    /// True when all went.
    fn dispatch_list(&mut self, dev: DevIdx, h: u16, list: &mut Fifo<Idx>) -> bool {
        if list.is_empty() {
            return true;
        }
        let mut lacking = BlkStatus::Ok;
        let mut went = false;
        while let Some(&rq) = list.front() {
            if !self.queue(dev).budget(0) {
                lacking = BlkStatus::Resource;
                break;
            }
            if self.rqs[rq].tag.is_none() && !self.get_driver_tag(dev, rq) {
                // blk_mq_mark_tag_wait: a completion frees the next one and restarts the queue.
                self.hctx(dev, h).restart = true;
                break;
            }
            list.pop_front();
            let status = self.queue_rq(dev, rq);
            match status {
                BlkStatus::Resource | BlkStatus::DevResource => {
                    if self.put_back(dev, rq) {
                        self.set_aside(dev, h, rq);
                        went = false;
                        continue;
                    }
                    list.push_front(rq);
                    lacking = status;
                    break;
                }
                _ => went = true,
            }
        }
        if list.is_empty() {
            self.hctx(dev, h).update_busy(!went);
            return true;
        }
        self.left_over(dev, h, list, lacking)
    }

    /// What could not go waits in hctx->dispatch, and somebody will run the queue. False: not all went.
    fn left_over(&mut self, dev: DevIdx, h: u16, list: &mut Fifo<Idx>, lacking: BlkStatus) -> bool {
        let hctx = self.hctx(dev, h);
        hctx.update_busy(true);
        hctx.dispatch.append(list);
        self.wait_for_device(dev, h, lacking);
        false
    }

    /// Requests are on hctx->dispatch: who runs the queue?
    fn wait_for_device(&mut self, dev: DevIdx, h: u16, lacking: BlkStatus) {
        let hctx = self.hctx(dev, h);
        let alone = hctx.at_device == 0;
        if !hctx.restart {
            // The bit was consumed meanwhile: nobody else will run the queue.
            match hctx.run {
                Run::Now | Run::Slow => hctx.again = true,
                Run::Idle | Run::Rest => self.delay_run(dev, h, 0),
            }
        } else if lacking == BlkStatus::Resource || lacking == BlkStatus::DevResource && alone {
            // BLK_MQ_RESOURCE_DELAY; SCSI does the same for a queue that has nothing at the device to wait for.
            self.delay_run(dev, h, RETRY_NS);
        }
    }

    /// `__blk_mq_requeue_request`: the driver did not take it. True: not before it had started it (D).
    fn put_back(&mut self, dev: DevIdx, rq: Idx) -> bool {
        let who = self.rqs[rq].who;
        self.trace_rq(rq, Action::Requeue, who, 0);
        self.qos_requeue(dev, rq);
        let started = self.rqs[rq].d_time.take().is_some();
        self.put_driver_tag(dev, rq);
        started
    }

    /// `blk_mq_put_driver_tag`: only with a scheduler; else the tag is the request's from birth to death.
    pub(super) fn put_driver_tag(&mut self, dev: DevIdx, rq: Idx) {
        let r = &mut self.rqs[rq];
        if r.internal_tag.is_some()
            && let Some(tag) = r.tag.take()
        {
            let (h, cpu) = (r.hctx, r.cpu);
            let q = self.queue(dev);
            q.hctxs[usize::from(h)].nr_active -= 1;
            q.tags_mut(h).put(tag, cpu);
        }
    }

    /// `blk_mq_get_driver_tag`
    pub(super) fn get_driver_tag(&mut self, dev: DevIdx, rq: Idx) -> bool {
        if self.rqs[rq].tag.is_some() {
            return true;
        }
        let (h, cpu) = (self.rqs[rq].hctx, self.rqs[rq].cpu);
        let q = self.queue(dev);
        let mut tag = None;
        if q.may_queue(h) {
            let tags = q.tags_mut(h);
            // Tried again when marked as waiting: round robin does not look back within a word.
            tag = tags.get(cpu, rq, u32::MAX).or_else(|| tags.get(cpu, rq, u32::MAX));
        }
        if tag.is_some() {
            q.hctxs[usize::from(h)].nr_active += 1;
            q.starved = false;
        } else if !core::mem::replace(&mut q.starved, true) {
            let queue_depth = q.cfg.queue_depth;
            let (id, bio) = (self.rqs[rq].id, self.bios[self.rqs[rq].bio].id);
            self.bus.because(bio, Why::NoDriverTag { rq: id, queue_depth });
        }
        self.rqs[rq].tag = tag;
        tag.is_some()
    }

    // ---- the driver ----

    /// `->queue_rq`: D, unless the device cannot take the command now.
    pub(super) fn queue_rq(&mut self, dev: DevIdx, rq: Idx) -> BlkStatus {
        let now = self.bus.now;
        let r = &self.rqs[rq];
        let (op, sector, nr_sectors) = (r.op, r.sector, u64::from(r.nr_sectors));
        let verdict = match self.cfg.faults.is_empty() {
            true => None,
            false => fault::verdict(&self.cfg.faults, dev, sector, nr_sectors, now),
        };
        if let Some(busy @ (BlkStatus::Resource | BlkStatus::DevResource)) = verdict {
            return busy;
        }
        let h = usize::from(r.hctx);
        let d = &mut self.devs[usize::from(dev)];
        let q = d.queue.as_mut().expect("a device without queue gets no requests");
        let ata = q.scsi;
        let at = &mut q.at_device;
        // ata_std_qc_defer: NCQ and other commands never together.
        let alone = is_non_ncq(op);
        if ata {
            if at.non_ncq > 0 || alone && at.commands > 0 {
                return BlkStatus::DevResource;
            }
        } else if let Media::NullBlk(n) = &mut d.media
            && !n.admits(&mut self.bus, nr_sectors as u32)
        {
            q.stopped = true;
            return BlkStatus::DevResource;
        }
        at.commands += 1;
        at.non_ncq += u32::from(ata && alone);
        q.hctxs[h].at_device += 1;
        let status = self.issue(dev, rq, verdict);
        if status != BlkStatus::Ok {
            self.left_device(dev, h as u16, op);
        }
        status
    }

    /// D: the driver sends the command to the drive; Ok unless it gives it back.
    fn issue(&mut self, dev: DevIdx, rq: Idx, verdict: Option<BlkStatus>) -> BlkStatus {
        let now = self.bus.now;
        let (who, tag) = (self.rqs[rq].who, self.rqs[rq].tag.unwrap_or(0));
        self.rqs[rq].d_time = Some(now);
        self.bus.stats.nr_issued += 1;
        self.trace_rq(rq, Action::Issue, who, u64::from(tag));
        self.qos_issue(dev, rq);
        let r = &self.rqs[rq];
        let b = &self.bios[r.bio];
        let mut cmd = Cmd {
            rq,
            rq_id: r.id,
            bio: b.id,
            job: r.job,
            op: r.op,
            sector: r.sector,
            nr_sectors: r.nr_sectors,
            zone: r.zone,
            origin: b.origin,
            arrived: now,
            high: r.prio.class == IoClass::Rt,
            unwritten: false,
        };
        let pipelined = self.cfg.kernel.zone_ordering == ZoneOrdering::Pipelined;
        let q = &self.queue(dev).cfg;
        cmd.high &= q.ncq_prio;
        let max_attempts = if pipelined { q.nr_requests } else { 0 };
        let media = &mut self.devs[usize::from(dev)].media;
        // null_blk looks for bad blocks itself.
        if let Some(status) = verdict
            && !matches!(media, Media::NullBlk(_))
        {
            let ns = match media {
                Media::Flash(f) => f.command_ns(),
                _ => self.disk_cfg(dev).map_or(0, |d| d.profile.command_ns),
            };
            self.bus.after(ns, Event::Done(dev, rq, status));
            return BlkStatus::Ok;
        }
        match media {
            Media::Disk(d) => d.submit(&mut self.bus, cmd),
            Media::Capped(c) => c.submit(&mut self.bus, cmd),
            Media::Flash(f) => {
                f.submit(&mut self.bus, &mut cmd);
                self.rqs[rq].sector = cmd.sector;
            }
            Media::NullBlk(n) => {
                let r = &mut self.rqs[rq];
                let attempt = Attempt { tag, retries: &mut r.retries, max_attempts, bad: verdict };
                let outcome = n.submit(&mut self.bus, &mut cmd, attempt);
                r.sector = cmd.sector;
                match outcome {
                    Outcome::Taken => {}
                    Outcome::Done(done) => self.complete(dev, done),
                    Outcome::Busy(status) => return status,
                }
            }
            Media::Md(_) | Media::Dm(_) => unreachable!("a stacked device has no queue"),
        }
        BlkStatus::Ok
    }

    /// The device is through with a command.
    pub(super) fn left_device(&mut self, dev: DevIdx, h: u16, op: Op) {
        let q = self.queue(dev);
        q.hctxs[usize::from(h)].at_device -= 1;
        let at = &mut q.at_device;
        at.commands = at.commands.saturating_sub(1);
        if is_non_ncq(op) {
            at.non_ncq = at.non_ncq.saturating_sub(1);
        }
    }

    // ---- insertion ----

    /// `blk_mq_request_bypass_insert`: straight to hctx->dispatch; the caller runs the queue.
    pub(super) fn bypass_insert(&mut self, dev: DevIdx, rq: Idx) {
        let h = self.rqs[rq].hctx;
        self.hctx(dev, h).dispatch.push_back(rq);
    }

    /// Direct issue: without scheduler, while budget lasts. False where the driver is busy: the request is on
    /// hctx->dispatch, and the queue has run.
    pub(super) fn issue_directly(&mut self, dev: DevIdx, rq: Idx) -> bool {
        let h = self.rqs[rq].hctx;
        let q = self.queue(dev);
        if q.stopped || !q.budget(0) {
            self.insert(dev, rq);
            self.run_hw_queue(dev, h);
            return true;
        }
        match self.queue_rq(dev, rq) {
            BlkStatus::Resource | BlkStatus::DevResource => {
                self.put_back(dev, rq);
                self.bypass_insert(dev, rq);
                self.run_hw_queue(dev, h);
                false
            }
            _ => true,
        }
    }

    // ---- completion ----

    /// A request has left: `blk_mq_sched_restart`, and whoever else waits for what it held.
    pub(super) fn restart_queues(&mut self, dev: DevIdx, h: u16, run: bool) {
        let q = self.queue(dev);
        let all = core::mem::take(&mut q.at_device.restarts);
        if q.hctxs.len() > 1 && (all || run || q.cfg.host_tags) {
            // Workers of several CPUs race for what came free: whoever held it comes last.
            for n in 1..=self.queue(dev).hctxs.len() {
                let q = self.queue(dev);
                let other = (usize::from(h) + n) % q.hctxs.len();
                let hctx = &mut q.hctxs[other];
                let restart = core::mem::take(&mut hctx.restart);
                if restart || all || run {
                    self.run_hw_queue_async(dev, other as u16);
                }
            }
        } else if core::mem::take(&mut self.hctx(dev, h).restart) || all || run {
            self.run_hw_queue_async(dev, h);
        }
    }

    /// The driver gave a started request back: `blk_mq_requeue_request`. Drivers with state in it (SCSI) get it from
    /// hctx->dispatch, others from their scheduler again.
    pub(super) fn requeue(&mut self, dev: DevIdx, rq: Idx) {
        let (h, op) = (self.rqs[rq].hctx, self.rqs[rq].op);
        self.left_device(dev, h, op);
        self.put_back(dev, rq);
        let queued = self.queued(rq);
        let scsi = self.queue(dev).scsi;
        if self.rqs[rq].sched {
            self.queue(dev).elevator.requeued(queued);
        }
        if scsi || !self.rqs[rq].sched {
            self.hctx(dev, h).dispatch.push_back(rq);
        } else {
            let now = self.bus.now;
            self.queue(dev).elevator.insert(queued, true, now);
        }
        // The requeue work runs the queues.
        let ns = self.cfg.host.kblockd_ns.max(REQUEUE_NS);
        self.delay_run(dev, h, ns);
    }
}

impl super::Queue {
    /// SCSI's budget: the device's queue depth over all its hardware queues, `taken` commands on their way included.
    #[inline]
    fn budget(&mut self, taken: u32) -> bool {
        let free = !self.scsi || self.at_device.commands + taken < self.cfg.queue_depth;
        self.at_device.restarts |= !free;
        free
    }
    /// `hctx_may_queue`: a user of a shared tag set has its share.
    pub(super) fn may_queue(&self, h: u16) -> bool {
        let users = u32::from(self.cfg.shared_users);
        users == 0 || self.hctxs[usize::from(h)].nr_active < fair_share(self.cfg.queue_depth, users)
    }
}

/// Whether a request counts in the device's statistics.
pub(super) fn is_accounted(op: Op) -> bool {
    !is_non_ncq(op)
}
