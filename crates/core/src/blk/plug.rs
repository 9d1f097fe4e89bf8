//! The plug: requests a task holds back until it has said all.
//!
//! Models: `struct blk_plug`, `blk_add_rq_to_plug`, `blk_flush_plug` (block/blk-core.c, blk-mq.c; kernel 2.4), by version.
//! Rule: a flush empties it in list order, one group a queue; md's stripes go first; what it learned of its queues
//! (multiple_queues) lasts until the plug is gone.
//! Leaves out: cached requests, ->queue_rqs.

use alloc::vec::Vec;

use super::Ctx;
use super::merge::Merge;
use crate::config::{PlugConfig, PlugMerge, PlugOrder};
use crate::fifo::Fifo;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::units::{DevIdx, SECTOR_BYTES};

/// See the module.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Plug {
    /// mq_list, head first.
    pub list: Fifo<Idx>,
    /// multiple_queues
    pub multiple_queues: bool,
    /// Stripes on the list of md's callback, with their array.
    pub stripes: Vec<(DevIdx, u32)>,
}

impl Plug {
    /// Requests it may hold.
    pub fn limit(&self, p: &PlugConfig) -> u32 {
        if self.multiple_queues { p.max_rq * p.multi_factor } else { p.max_rq }
    }
}

impl Ctx<'_> {
    /// `blk_start_plug`: no effect if the task has one.
    pub(crate) fn start_plug(&mut self, t: usize) -> bool {
        let task = &mut self.tasks[t];
        let opens = task.plug.is_none();
        if opens {
            let list = core::mem::take(&mut task.spare);
            task.plug = Some(Plug { list, ..Plug::default() });
        }
        opens
    }

    /// `blk_finish_plug`
    pub(crate) fn finish_plug(&mut self, t: usize) {
        self.flush_plug(t, false);
        let task = &mut self.tasks[t];
        if let Some(plug) = task.plug.take() {
            task.spare = plug.list;
            task.spare.clear();
        }
    }

    /// `blk_add_rq_to_plug`
    pub(super) fn plug_add(&mut self, t: usize, rq: Idx) {
        let p = self.cfg.kernel.plug;
        let (dev, who) = (self.rqs[rq].dev, self.rqs[rq].who);
        let merges = self.queue(dev).cfg.nomerges < 2;
        let plug = self.tasks[t].plug.as_ref().expect("the caller has looked");
        let (held, limit) = (plug.list.len() as u32, plug.limit(&p));
        let mut head = plug.list.front().copied();
        if let Some(first) = head {
            let bytes = u64::from(self.rqs[first].nr_sectors) * SECTOR_BYTES;
            let full = held >= limit;
            if full || merges && bytes >= u64::from(p.flush_bytes) {
                let why = match full {
                    true => Why::PlugFull { requests: held, limit },
                    false => Why::PlugBytes { rq: self.rqs[first].id, kib: (bytes >> 10) as u32 },
                };
                let bio = self.bios[self.rqs[rq].bio].id;
                self.bus.because(bio, why);
                self.flush_plug(t, false);
                head = None;
            }
        }
        if head.is_none() {
            self.trace_rq(rq, Action::Plug, who, 0);
        }
        let other = head.is_some_and(|first| self.rqs[first].dev != dev);
        let plug = self.tasks[t].plug.as_mut().expect("flushing keeps it");
        plug.multiple_queues |= other;
        match p.order {
            PlugOrder::Fifo => plug.list.push_back(rq),
            PlugOrder::Lifo => plug.list.push_front(rq),
        }
    }

    /// `__blk_flush_plug`; `asleep`: because the task sleeps (from schedule).
    pub(crate) fn flush_plug(&mut self, t: usize, asleep: bool) {
        let Some(plug) = self.tasks[t].plug.as_mut() else { return };
        let stripes = core::mem::take(&mut plug.stripes);
        let mut list = core::mem::take(&mut plug.list);
        if !stripes.is_empty() {
            self.md_unplug(stripes, asleep);
        }
        while let Some(&first) = list.front() {
            let dev = self.rqs[first].dev;
            let mut group = core::mem::take(&mut list);
            // The usual case: all are for one queue.
            if group.iter().any(|rq| self.rqs[*rq].dev != dev) {
                (group, list) = group.into_iter().partition(|rq| self.rqs[*rq].dev == dev);
            }
            let who = self.rqs[first].who | if asleep { flag::SCHEDULE } else { 0 };
            self.trace_rq(first, Action::Unplug, who, group.len() as u64);
            self.flush_group(dev, &group, asleep);
            if list.is_empty() {
                group.clear();
                self.give_back_list(t, group);
            }
        }
    }

    /// A plug's emptied list: no new memory for the next requests.
    fn give_back_list(&mut self, t: usize, list: Fifo<Idx>) {
        if let Some(plug) = self.tasks[t].plug.as_mut().filter(|p| p.list.is_empty()) {
            plug.list = list;
        }
    }

    /// Requests of one queue: without scheduler and unless their task sleeps, straight to the driver until that is busy;
    /// else inserted, and their hardware queues run.
    fn flush_group(&mut self, dev: DevIdx, group: &[Idx], asleep: bool) {
        let mut direct = !asleep && !self.queue(dev).has_sched();
        let mut run = None;
        for &rq in group {
            if direct {
                direct = self.issue_directly(dev, rq);
                continue;
            }
            let h = self.rqs[rq].hctx;
            if run.is_some_and(|other| other != h) {
                self.run_flushed(dev, run, asleep);
            }
            self.insert(dev, rq);
            run = Some(h);
        }
        self.run_flushed(dev, run, asleep);
    }

    fn run_flushed(&mut self, dev: DevIdx, run: Option<u16>, asleep: bool) {
        match run {
            Some(h) if asleep => self.run_hw_queue_async(dev, h),
            Some(h) => self.run_hw_queue(dev, h),
            None => {}
        }
    }

    /// `blk_attempt_plug_merge`: one request is tried, the one this kernel looks at.
    pub(super) fn plug_merge(&mut self, t: usize, dev: DevIdx, bio: Idx) -> bool {
        let p = self.cfg.kernel.plug;
        let Some(plug) = self.tasks[t].plug.as_ref() else { return false };
        if !self.may_plug(dev, self.bios[bio].op) {
            return false;
        }
        self.bus.stats.nr_plug_tries += 1;
        let at_back = p.order == PlugOrder::Fifo && p.merge == PlugMerge::Newest;
        let Some(looked_at) = (if at_back { plug.list.back() } else { plug.list.front() }).copied() else {
            return false;
        };
        let same = |rq: &Idx| self.rqs[*rq].dev == dev;
        let rq = match same(&looked_at) {
            true => Some(looked_at),
            false if plug.multiple_queues => plug.list.iter().copied().find(same),
            false => None,
        };
        let Some(rq) = rq else { return false };
        let merged = self.attempt_bio_merge(rq, bio) == Merge::Done;
        self.bus.stats.nr_plug_merges += u64::from(merged);
        // Without a stack a miss is no news: nobody expects neighbours.
        if !merged && self.tasks[t].stacked {
            let (r, b) = (&self.rqs[rq], &self.bios[bio]);
            let why = Why::NotMerged { dev, rq: r.id, end: r.end(), sector: b.sector };
            self.bus.because(b.id, why);
        }
        merged
    }
}
