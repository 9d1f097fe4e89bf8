//! Merging: may this bio, or this request, continue that request?
//!
//! Models: block/blk-merge.c and elevator.c, 7.1 (kernel 2.6): mergeable flags, operation, priority, adjacency, max_sectors and
//! chunk_sectors, max_segments; a bio that fails on size or segments sets NOMERGE on the request.
//! Rule: attempts in the kernel's order (plug, then scheduler or ctx list); what is merged stays contiguous; a front
//! merge is refused under zone write plugging.
//! Leaves out: write hints, integrity, cgroups.

use super::bio::bflag;
use super::split::nr_segments;
use super::{Ctx, Task};
use crate::observe::trace::Action;
use crate::slab::Idx;
use crate::units::{DevIdx, Op, Sector};

/// Requests of a ctx list that are looked at.
const CTX_SCAN: usize = 8;

/// What came of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Merge {
    /// Not adjacent, or not of a kind that merges.
    No,
    /// Adjacent, but the limits do not allow it.
    Failed,
    /// The bio is part of the request now.
    Done,
}

impl Ctx<'_> {
    fn mergeable(&self, rq: Idx, bio: Idx) -> bool {
        let (r, b) = (&self.rqs[rq], &self.bios[bio]);
        !r.nomerge
            && b.flags & (bflag::NOMERGE | bflag::PREFLUSH | bflag::FUA) == 0
            && r.op == b.op
            && r.prio == b.prio
            && matches!(b.op, Op::Read | Op::Write)
    }

    /// Sizes added to a request at `start` stay inside the limits.
    fn fits(&mut self, dev: DevIdx, start: Sector, sectors: u32, segments: u32) -> bool {
        let limits = self.limits(dev);
        limits.front(start, sectors, u32::MAX).is_none() && segments <= limits.max_segments
    }

    /// A request with a bio more, at either end, stays inside the limits.
    fn bio_fits(&mut self, rq: Idx, bio: Idx, start: Sector) -> bool {
        let sectors = self.rqs[rq].nr_sectors + self.bios[bio].nr_sectors;
        let segments = self.rqs[rq].nr_segments + self.bio_segments(bio);
        self.fits(self.rqs[rq].dev, start, sectors, segments)
    }

    /// A queued bio may be appended to this request.
    pub(super) fn may_append(&mut self, rq: Idx, bio: Idx) -> bool {
        let start = self.rqs[rq].sector;
        self.mergeable(rq, bio) && self.rqs[rq].end() == self.bios[bio].sector && self.bio_fits(rq, bio, start)
    }

    /// Links a bio to the end of a request: a back merge.
    pub(super) fn append_bio(&mut self, rq: Idx, bio: Idx) {
        self.qos_merge(rq, bio);
        let tail = self.rqs[rq].biotail;
        self.bios[tail].next = Some(bio);
        self.rqs[rq].biotail = bio;
        self.grow(rq, bio, Action::BackMerge);
    }

    fn prepend_bio(&mut self, rq: Idx, bio: Idx) {
        self.qos_merge(rq, bio);
        self.bios[bio].next = Some(self.rqs[rq].bio);
        self.rqs[rq].bio = bio;
        self.rqs[rq].sector = self.bios[bio].sector;
        self.grow(rq, bio, Action::FrontMerge);
    }

    fn grow(&mut self, rq: Idx, bio: Idx, how: Action) {
        let segments = self.bio_segments(bio);
        let r = &mut self.rqs[rq];
        r.nr_bios += 1;
        r.nr_sectors += self.bios[bio].nr_sectors;
        r.nr_segments += segments;
        let (dev, op) = (r.dev, r.op);
        self.count_merge(dev, op);
        self.trace_bio_of(bio, rq, how);
    }

    fn count_merge(&mut self, dev: DevIdx, op: Op) {
        self.bus.stats.nr_merges += 1;
        self.devs[usize::from(dev)].stats.merges[usize::from(op != Op::Read)] += 1;
    }

    /// `blk_attempt_bio_merge`
    pub(super) fn attempt_bio_merge(&mut self, rq: Idx, bio: Idx) -> Merge {
        if !self.mergeable(rq, bio) {
            return Merge::No;
        }
        let (start, len) = (self.bios[bio].sector, u64::from(self.bios[bio].nr_sectors));
        let back = self.rqs[rq].end() == start;
        if !back && start + len != self.rqs[rq].sector {
            return Merge::No;
        }
        if !back && self.rqs[rq].zone_write_plugging {
            return Merge::Failed;
        }
        let first = if back { self.rqs[rq].sector } else { start };
        if !self.bio_fits(rq, bio, first) {
            self.rqs[rq].nomerge = true;
            let q = self.queue(self.rqs[rq].dev);
            q.last_merge = q.last_merge.filter(|last| *last != rq);
            return Merge::Failed;
        }
        if back {
            self.append_bio(rq, bio);
            if self.rqs[rq].zone_write_plugging {
                let (dev, zone) = (self.rqs[rq].dev, self.rqs[rq].zone);
                self.zone_bio_merged(dev, zone, bio);
            }
        } else {
            self.prepend_bio(rq, bio);
        }
        Merge::Done
    }

    /// `blk_mq_attempt_bio_merge`: true if the bio is part of a request now.
    pub(super) fn try_merge(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        let (op, flags) = (self.bios[bio].op, self.bios[bio].flags);
        if self.queue(dev).cfg.nomerges >= 2
            || flags & (bflag::NOMERGE | bflag::PREFLUSH | bflag::FUA) != 0
            || !matches!(op, Op::Read | Op::Write)
        {
            return false;
        }
        if let Some(t) = self.slot(task)
            && self.plug_merge(t, dev, bio)
        {
            return true;
        }
        let cpu = self.cpu_of(self.bios[bio].job);
        let list = self.queue(dev).elevator.ctx_list(op, cpu);
        match list.map(|list| list.iter().rev().take(CTX_SCAN).copied().collect::<alloc::vec::Vec<Idx>>()) {
            Some(newest) => {
                let met = newest.into_iter().map(|rq| self.attempt_bio_merge(rq, bio)).find(|m| *m != Merge::No);
                met == Some(Merge::Done)
            }
            None => self.sched_merge(dev, bio),
        }
    }

    /// `blk_mq_sched_try_merge`, and the request-request merges that follow.
    fn sched_merge(&mut self, dev: DevIdx, bio: Idx) -> bool {
        let sector = self.bios[bio].sector;
        let end = sector + u64::from(self.bios[bio].nr_sectors);
        let q = self.queue(dev);
        let cheap_only = q.cfg.nomerges != 0;
        let last = q.last_merge;
        let mut found = last.filter(|rq| self.adjacent(*rq, bio));
        if found.is_none() && !cheap_only && self.queue(dev).elevator.has_sorted() {
            let like = self.queued_like(bio);
            let q = self.queue(dev);
            let (back, front) = (q.elevator.before(like), q.elevator.at(like, end));
            found = back.filter(|rq| self.rqs[*rq].end() == sector && self.mergeable(*rq, bio));
            found = found.or_else(|| front.filter(|rq| self.mergeable(*rq, bio)));
        }
        let Some(rq) = found else { return false };
        let old = self.rqs[rq].sector;
        if self.attempt_bio_merge(rq, bio) != Merge::Done {
            return false;
        }
        let sector = self.rqs[rq].sector;
        let queued = self.queued(rq);
        self.queue(dev).elevator.reposition(queued, old);
        self.queue(dev).last_merge = Some(rq);
        if !cheap_only {
            let joined = if sector == old {
                self.queue(dev).elevator.latter(queued).map(|n| (rq, n))
            } else {
                self.queue(dev).elevator.former(queued).map(|p| (p, rq))
            };
            if let Some((first, second)) = joined {
                self.attempt_merge(dev, first, second);
            }
        }
        true
    }

    fn adjacent(&self, rq: Idx, bio: Idx) -> bool {
        let b = &self.bios[bio];
        let touches = self.rqs[rq].end() == b.sector || b.sector + u64::from(b.nr_sectors) == self.rqs[rq].sector;
        touches && self.mergeable(rq, bio)
    }

    /// `attempt_merge`: the second of two queued requests becomes part of the first.
    fn attempt_merge(&mut self, dev: DevIdx, first: Idx, second: Idx) -> bool {
        let (a, b) = (&self.rqs[first], &self.rqs[second]);
        let alike =
            a.op == b.op && a.prio == b.prio && !a.nomerge && !b.nomerge && matches!(a.op, Op::Read | Op::Write);
        if !alike || a.end() != b.sector || b.zone_write_plugging {
            return false;
        }
        let (start, sectors, segments) = (a.sector, a.nr_sectors + b.nr_sectors, a.nr_segments + b.nr_segments);
        if !self.fits(dev, start, sectors, segments) {
            return false;
        }
        let (a, b) = (self.queued(first), self.queued(second));
        let now = self.bus.now;
        let q = self.queue(dev);
        q.elevator.merged(a, b);
        let run = q.elevator.finished(b, now);
        q.last_merge = q.last_merge.filter(|last| *last != second);
        let who = self.rqs[second].who;
        self.trace_rq(second, Action::BackMerge, who, 0);
        self.qos_done(dev, second);
        let gone = self.rqs.remove(second);
        let tail = self.rqs[first].biotail;
        self.bios[tail].next = Some(gone.bio);
        let r = &mut self.rqs[first];
        r.biotail = gone.biotail;
        r.nr_bios += gone.nr_bios;
        r.nr_sectors = sectors;
        r.nr_segments = segments;
        self.count_merge(dev, gone.op);
        self.devs[usize::from(dev)].account_merged();
        self.put_tags(dev, gone.held());
        // The queue runs when this task has left it.
        if core::mem::take(&mut self.hctx(dev, gone.hctx).restart) || run {
            self.delay_run(dev, gone.hctx, 0);
        }
        true
    }

    /// `blk_mq_sched_try_insert_merge`: a request about to be inserted joins one that waits. True if it is gone.
    pub(super) fn try_insert_merge(&mut self, dev: DevIdx, rq: Idx) -> bool {
        let q = self.queue(dev);
        if !q.elevator.joins_requests() || q.cfg.nomerges >= 2 || self.rqs[rq].nomerge {
            return false;
        }
        let q = self.queue(dev);
        let (last, cheap_only) = (q.last_merge, q.cfg.nomerges != 0);
        if let Some(last) = last
            && self.attempt_merge(dev, last, rq)
        {
            return true;
        }
        if cheap_only || !self.queue(dev).elevator.has_sorted() {
            return false;
        }
        // One more round for each request that grew and now touches an earlier one.
        let (mut at, mut gone) = (self.queued(rq), false);
        while let Some(before) = self.queue(dev).elevator.former(at)
            && self.attempt_merge(dev, before, at.rq)
        {
            gone = true;
            at = self.queued(before);
        }
        gone
    }

    /// Scatter entries a bio needs.
    pub(super) fn bio_segments(&self, bio: Idx) -> u32 {
        let b = &self.bios[bio];
        nr_segments(b.nr_sectors, b.segment_bytes)
    }
}
