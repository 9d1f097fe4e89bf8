//! Getting a tag: the first step of a request, and the sleep of a task that finds none.
//!
//! Models: `blk_mq_get_tag` and the allocation around it (block/blk-mq-tag.c, 7.1; kernel 3.2 to 3.4).
//! Rule: a task without a tag runs its hardware queue, tries again, and sleeps in the wait queue that is next; freed tags
//! wake sleepers in batches; a woken task runs a little later and competes with whoever asks then. New arrivals do not
//! queue behind sleepers.
//! Leaves out: reserved tags, tasks that run on another CPU after their sleep.

use super::bio::bflag;
use super::request::Held;
use super::tag::{NOT_YET, Tags, Waiter, fair_share};
use super::{Ctx, Queue, Task};
use crate::config::{AsyncDepthOwner, SbitmapWake, SimConfig, WakeFaultKind};
use crate::event::Event;
use crate::observe::snapshot::JobState;
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, JobIdx, Op, Tag};

/// Searches before a task sleeps: at first, after it ran the hardware queue, and as a member of a wait queue.
const SEARCHES: u8 = 3;

/// Someone who will look for a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Awake {
    who: Waiter,
    /// Searches that are over, or nearly; 0: it was woken, and does not run yet.
    searches: u8,
    /// What the search finds.
    tag: Option<Tag>,
}

impl Queue {
    /// Requests wait in a scheduler, and have sched tags.
    pub fn has_sched(&self) -> bool {
        self.hctxs[0].sched_tags.is_some()
    }
    fn map_of(&self, h: u16) -> usize {
        if self.cfg.host_tags { 0 } else { usize::from(h) }
    }
    /// Driver tags of a hardware queue.
    pub(super) fn tags_mut(&mut self, h: u16) -> &mut Tags {
        let at = self.map_of(h);
        &mut self.hctxs[at].tags
    }
    /// The tags tasks wait for: sched tags, without scheduler driver tags.
    pub(super) fn waited_tags(&mut self, h: u16) -> &mut Tags {
        let at = self.map_of(h);
        let hctx = &mut self.hctxs[at];
        hctx.sched_tags.as_mut().unwrap_or(&mut hctx.tags)
    }
    /// `limit_depth`: schedulers limit what passes through them.
    fn shallow(&self, op: Op, sync: bool, job: JobIdx) -> u32 {
        let limited = self.has_sched() && !matches!(op, Op::Flush | Op::DrvIn);
        if limited { self.elevator.limit_depth(op, sync, job, self.cfg.async_depth) } else { u32::MAX }
    }
    /// What the bitmap of sched tags is told of the shallowest allocations (kernel 3.4).
    pub(super) fn tell_min_shallow(&mut self, owner: AsyncDepthOwner) {
        let min = self.elevator.min_shallow_depth(owner, self.cfg.async_depth);
        for hctx in &mut self.hctxs {
            if let Some(tags) = &mut hctx.sched_tags {
                tags.set_min_shallow_depth(min);
            }
        }
    }
    /// The kernel's ways of this run, told to fresh tags.
    pub(super) fn set_tag_models(&mut self, cfg: &SimConfig) {
        let per_queue = cfg.kernel.sbitmap_wake == SbitmapWake::PerQueue;
        let users = u32::from(self.cfg.shared_users);
        let line_ns = cfg.host.tag_line_ns;
        for hctx in &mut self.hctxs {
            let Some(tags) = &mut hctx.sched_tags else {
                hctx.tags.set_model(false, per_queue);
                hctx.tags.set_line_ns(line_ns);
                hctx.tags.set_active_queues(users);
                continue;
            };
            tags.set_model(cfg.kernel.shallow_per_word, per_queue);
            tags.set_line_ns(line_ns);
            hctx.tags.set_active_queues(users);
        }
        self.tell_min_shallow(cfg.kernel.async_depth_owner);
    }
}

impl Ctx<'_> {
    /// From here a bio gets a request, unless policies of rq_qos hold it back. False: its task sleeps.
    pub(crate) fn issue_bio(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        self.qos_throttle(dev, bio, task) && self.get_request(dev, bio, task)
    }

    /// `blk_mq_alloc_requests`: takes a tag, or its task sleeps (false).
    pub(super) fn get_request(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        let nowait = self.bios[bio].flags & bflag::NOWAIT != 0;
        if self.cfg.host.tag_line_ns > 0 && !nowait {
            let now = self.bus.now;
            self.search(dev, Waiter { task, bio }, 1, now);
            return false;
        }
        if self.try_tag_and_start(dev, bio, task) {
            return true;
        }
        if nowait {
            self.qos_cleanup(dev, bio);
            self.end_without_request(bio, BlkStatus::Again);
            return true;
        }
        let cpu = self.cpu_of(self.bios[bio].job);
        let h = self.hctx_of(dev, cpu);
        self.run_hw_queue(dev, h);
        if self.try_tag_and_start(dev, bio, task) {
            return true;
        }
        self.why_it_sleeps(dev, h, bio, task);
        self.wait_for_tag(dev, h, Waiter { task, bio });
        self.sleep(task, JobState::WaitTag);
        self.look_for_stall(dev, h);
        false
    }

    /// The reason of a sleep: no tag, and what the last wake-up was good for; or tags that are not for it.
    fn why_it_sleeps(&mut self, dev: DevIdx, h: u16, bio: Idx, task: Task) {
        let taken = self.slot(task).and_then(|t| self.tasks[t].tags_taken);
        let none = self.no_tag(dev, h, bio);
        let limited = matches!(none, Why::TagLimit { .. });
        let tags = self.queue(dev).waited_tags(h);
        let (wake_batch, asleep) = (tags.wake_batch(), tags.nr_waiters());
        let why = match (task, taken) {
            (Task::Job(job), Some(got)) if got > 0 || !limited => Why::TagWoken { job, wake_batch, got, asleep },
            _ => none,
        };
        self.bus.because(self.bios[bio].id, why);
    }

    /// Why a bio gets no tag now: none is free, or the free ones are not for it.
    fn no_tag(&mut self, dev: DevIdx, h: u16, bio: Idx) -> Why {
        let b = &self.bios[bio];
        let (op, job, sync) = (b.op, b.job, b.is_sync());
        let q = self.queue(dev);
        let (sched, share) = (q.cfg.elevator, fair_share(q.cfg.queue_depth, u32::from(q.cfg.shared_users)));
        let may_queue = q.has_sched() || q.may_queue(h);
        let shallow = q.shallow(op, sync, job);
        let tags = q.waited_tags(h);
        let depth = tags.depth();
        match tags.any_free() {
            true if !may_queue => Why::TagLimit { job, sched, limit: share, depth },
            true if shallow < depth => Why::TagLimit { job, sched, limit: shallow, depth },
            _ => Why::NoSchedTag { job, nr_requests: depth, wake_batch: tags.wake_batch() },
        }
    }

    /// Into the wait queue whose turn it is.
    fn wait_for_tag(&mut self, dev: DevIdx, h: u16, w: Waiter) {
        let late = self.wake_fault(dev, WakeFaultKind::LateWaiter);
        let (now, cpu) = (self.bus.now, self.cpu_of(self.bios[w.bio].job));
        let q = self.queue(dev);
        let wait_index = &mut q.hctxs[usize::from(h)].wait_index;
        let ws = *wait_index;
        *wait_index = (ws + 1) % 8;
        match late && q.late.is_none() {
            true => q.late = Some((h, ws, w)),
            false => q.waited_tags(h).add_waiter(ws, w),
        }
        q.waited_tags(h).slept(cpu, ws, now);
    }

    /// A woken task runs, or a search is over: it finds a tag and goes on, or sleeps in the next wait queue.
    pub(crate) fn tag_woken(&mut self, dev: DevIdx, bio: Idx) {
        let awake = &mut self.queue(dev).awake;
        let Some(at) = awake.iter().position(|w| w.who.bio == bio) else { return };
        let Awake { who, searches, tag } = awake.remove(at);
        let task = who.task;
        let cpu = self.cpu_of(self.bios[bio].job);
        let h = self.hctx_of(dev, cpu);
        if searches == 0 {
            self.queue(dev).waited_tags(h).finish_wait();
            if let Some(t) = self.slot(task) {
                self.tasks[t].tags_taken = Some(0);
            }
            self.run_hw_queue(dev, h);
            if self.cfg.host.tag_line_ns > 0 {
                let now = self.bus.now;
                let from = self.queue(dev).waited_tags(h).runs(cpu, now);
                return self.search(dev, who, 1, from);
            }
        }
        let got = match tag {
            Some(tag) => {
                let rq = self.rqs.next_index();
                self.queue(dev).waited_tags(h).hold(tag, rq);
                self.with_tag(dev, bio, task, tag);
                true
            }
            None if (1..SEARCHES).contains(&searches) => {
                self.run_hw_queue(dev, h);
                let now = self.bus.now;
                return self.search(dev, who, searches + 1, now);
            }
            // As a member of the wait queue it looks once more: whoever gives a tag back from now on wakes it.
            None => self.try_tag_and_start(dev, bio, task),
        };
        self.queue(dev).waited_tags(h).note_got(task, got);
        if got {
            self.resume(task);
            return;
        }
        self.why_it_sleeps(dev, h, bio, task);
        self.wait_for_tag(dev, h, who);
        if searches > 0 {
            self.sleep(task, JobState::WaitTag);
        }
        self.look_for_stall(dev, h);
    }

    /// Where cache lines take time: looks for a tag from then on. A free one is its at once, and of use when it is through.
    fn search(&mut self, dev: DevIdx, who: Waiter, searches: u8, from: SimTime) {
        let b = &self.bios[who.bio];
        let (op, job, sync) = (b.op, b.job, b.is_sync());
        let cpu = self.cpu_of(job);
        let h = self.hctx_of(dev, cpu);
        let q = self.queue(dev);
        let shallow = q.shallow(op, sync, job);
        let end = q.waited_tags(h).search(cpu, shallow, from);
        let tag = self.take_tag(dev, who.bio, NOT_YET);
        self.queue(dev).awake.push(Awake { who, searches, tag });
        let now = self.bus.now;
        self.bus.after(end - now, Event::Woken(dev, who.bio));
    }

    /// What completions took of a job's CPU since it went on last, where cache lines take time.
    pub(crate) fn taken_from(&mut self, j: JobIdx) -> SimDuration {
        let (dev, cpu) = (self.job(j).dev, self.cpu_of(j));
        if self.cfg.host.tag_line_ns == 0 || self.devs[usize::from(dev)].queue.is_none() {
            return 0;
        }
        let h = self.hctx_of(dev, cpu);
        self.queue(dev).waited_tags(h).taken(cpu)
    }

    /// `__blk_mq_get_tag` and the request that follows; false when no tag may be had.
    fn try_tag_and_start(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        let rq = self.rqs.next_index();
        let Some(tag) = self.take_tag(dev, bio, rq) else { return false };
        self.with_tag(dev, bio, task, tag);
        true
    }

    /// `__blk_mq_get_tag`: the tag of a request about to be stored in `rq`.
    fn take_tag(&mut self, dev: DevIdx, bio: Idx, rq: Idx) -> Option<Tag> {
        let b = &self.bios[bio];
        let (op, job) = (b.op, b.job);
        let cpu = self.cpu_of(job);
        let sync = b.is_sync();
        let h = self.hctx_of(dev, cpu);
        let q = self.queue(dev);
        let sched = q.has_sched();
        if !sched && !q.may_queue(h) {
            return None;
        }
        let shallow = q.shallow(op, sync, job);
        let tags = q.waited_tags(h);
        if !tags.any_free() {
            return None;
        }
        // Tried again before a task sleeps, and round robin does not look back within a word.
        let tag = tags.get(cpu, rq, shallow).or_else(|| tags.get(cpu, rq, shallow))?;
        q.hctxs[usize::from(h)].nr_active += u32::from(!sched);
        Some(tag)
    }

    /// The request of a tag.
    fn with_tag(&mut self, dev: DevIdx, bio: Idx, task: Task, tag: Tag) {
        let cpu = self.cpu_of(self.bios[bio].job);
        let h = self.hctx_of(dev, cpu);
        if let Some(n) = self.slot(task).and_then(|t| self.tasks[t].tags_taken.as_mut()) {
            *n += 1;
        }
        let sched = self.queue(dev).has_sched();
        self.start_request(dev, bio, task, tag, h, sched);
    }

    /// Gives a request's tags back: driver tag, then sched tag. Whoever waits for one is woken.
    pub(super) fn put_tags(&mut self, dev: DevIdx, r: Held) {
        let h = r.hctx;
        let q = self.queue(dev);
        let at = q.map_of(h);
        if let Some(tag) = r.tag {
            q.hctxs[usize::from(h)].nr_active -= 1;
            q.hctxs[at].tags.put(tag, r.cpu);
        }
        if let (Some(tag), Some(tags)) = (r.internal_tag, q.hctxs[at].sched_tags.as_mut()) {
            tags.put(tag, r.cpu);
        }
        let waited = r.internal_tag.or(r.tag);
        self.tags_freed(dev, h, 1, waited.as_slice(), r.cpu);
    }

    /// Driver tags that completed together, without scheduler: `blk_mq_put_tags` of at most 32 (TAG_COMP_BATCH).
    pub(super) fn put_tag_batch(&mut self, dev: DevIdx, h: u16, tags: &[Tag], cpu: u16) {
        let n = tags.len() as u32;
        let q = self.queue(dev);
        q.hctxs[usize::from(h)].nr_active -= n;
        q.tags_mut(h).put_batch(tags, cpu);
        self.tags_freed(dev, h, n, tags, cpu);
    }

    /// `sbitmap_queue_wake_up`: `n` requests gave `tags` of those that tasks wait for back on `cpu`.
    fn tags_freed(&mut self, dev: DevIdx, h: u16, n: u32, tags: &[Tag], cpu: u16) {
        let now = self.bus.now;
        let q = self.queue(dev);
        if q.waited_tags(h).ws_active() > 0 {
            self.wake_waiters(dev, h, n, tags, cpu);
            return;
        }
        q.waited_tags(h).wakes(cpu, tags, false, &[], now);
        if q.late.is_some() {
            self.late_waiter(dev);
        }
    }

    fn wake_waiters(&mut self, dev: DevIdx, h: u16, n: u32, tags: &[Tag], cpu: u16) {
        if self.wake_fault(dev, WakeFaultKind::EmptyQueue) {
            self.queue(dev).waited_tags(h).lose_wake_up();
            self.look_for_stall(dev, h);
            return;
        }
        let (now, host) = (self.bus.now, self.cfg.host);
        let q = self.queue(dev);
        let mut woken = core::mem::take(&mut q.woken);
        q.waited_tags(h).freed(n, &mut woken);
        let lines = q.waited_tags(h).wakes(cpu, tags, true, &woken, now) - now;
        for (ws, who) in woken.drain(..) {
            let q = self.queue(dev);
            let spread = match host.wake_spread_ns {
                0 => 0,
                most => q.wake_rng.below(most.saturating_add(1)),
            };
            q.waited_tags(h).note_woken(ws, who.task, now);
            q.awake.push(Awake { who, searches: 0, tag: None });
            self.bus.stats.nr_wakeups += 1;
            self.bus.after(host.wake_ns.saturating_add(spread + lines), Event::Woken(dev, who.bio));
        }
        self.queue(dev).woken = woken;
        self.look_for_stall(dev, h);
    }

    // ---- injected faults ----

    /// A fault of this kind strikes now.
    fn wake_fault(&mut self, dev: DevIdx, kind: WakeFaultKind) -> bool {
        if self.cfg.wake_faults.is_empty() {
            return false;
        }
        let now = self.bus.now;
        let armed = self.cfg.wake_faults.iter().any(|f| f.dev == dev && f.kind == kind && f.from <= now);
        // Once: a stall is its end.
        armed && self.queue(dev).stall.is_none()
    }

    /// The last tag came back, and nobody was there to be woken: now the late waiter lies down.
    fn late_waiter(&mut self, dev: DevIdx) {
        let q = self.queue(dev);
        let Some((h, ws, w)) = q.late else { return };
        if q.waited_tags(h).busy() == 0 {
            q.late = None;
            q.waited_tags(h).add_waiter(ws, w);
            self.look_for_stall(dev, h);
        }
    }
}
