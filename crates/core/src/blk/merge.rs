//! Merging: may this bio continue that request?
//!
//! Models: block/blk-merge.c, 7.1 (kernel 2.6): mergeable flags, operation, adjacency, max_sectors and zone end,
//! max_segments; a failed size or segment check sets NOMERGE on the request.
//! Rule: what is merged stays contiguous; a front merge is refused under zone write plugging.
//! Leaves out: request-request merges, write hints, integrity, cgroups.

use super::bio::bflag;
use super::elevator::Queued;
use super::{Ctx, split};
use crate::observe::trace::Action;
use crate::slab::Idx;
use crate::units::{DevIdx, Op};

impl Ctx<'_> {
    fn mergeable(&self, rq: Idx, bio: Idx) -> bool {
        let (r, b) = (&self.rqs[rq], &self.bios[bio]);
        !r.nomerge && b.flags & bflag::NOMERGE == 0 && r.op == b.op && matches!(b.op, Op::Read | Op::Write)
    }

    /// The sizes added stay inside max_sectors, the zone and max_segments.
    fn fits(&mut self, dev: DevIdx, rq: Idx, bio: Idx, start: u64) -> bool {
        let chunk = self.zone_sectors(dev);
        let sectors = self.rqs[rq].nr_sectors + self.bios[bio].nr_sectors;
        let segments = self.rqs[rq].nr_segments + self.bio_segments(bio);
        let cfg = self.queue(dev).cfg;
        let by_size = split::front(&cfg, chunk, start, sectors, u32::MAX).is_none();
        by_size && segments <= cfg.max_segments
    }

    /// A queued bio may be appended to this request.
    pub(super) fn may_append(&mut self, dev: DevIdx, rq: Idx, bio: Idx) -> bool {
        let start = self.rqs[rq].sector;
        self.mergeable(rq, bio) && self.rqs[rq].end() == self.bios[bio].sector && self.fits(dev, rq, bio, start)
    }

    /// Links a bio to the end of a request: a back merge.
    pub(super) fn append_bio(&mut self, rq: Idx, bio: Idx) {
        let tail = self.rqs[rq].biotail;
        self.bios[tail].next = Some(bio);
        let segments = self.bio_segments(bio);
        let r = &mut self.rqs[rq];
        r.biotail = bio;
        r.nr_bios += 1;
        r.nr_sectors += self.bios[bio].nr_sectors;
        r.nr_segments += segments;
        self.bus.stats.nr_merges += 1;
        self.trace_bio_of(bio, rq, Action::BackMerge);
    }

    fn prepend_bio(&mut self, rq: Idx, bio: Idx) {
        let segments = self.bio_segments(bio);
        let (first, sector, len) = (self.rqs[rq].bio, self.bios[bio].sector, self.bios[bio].nr_sectors);
        self.bios[bio].next = Some(first);
        let r = &mut self.rqs[rq];
        r.bio = bio;
        r.sector = sector;
        r.nr_bios += 1;
        r.nr_sectors += len;
        r.nr_segments += segments;
        self.bus.stats.nr_merges += 1;
        self.trace_bio_of(bio, rq, Action::FrontMerge);
    }

    /// `blk_mq_attempt_bio_merge` on the scheduler's requests.
    pub(super) fn try_merge(&mut self, dev: DevIdx, bio: Idx) -> bool {
        let (op, sector, len, flags) = {
            let b = &self.bios[bio];
            (b.op, b.sector, b.nr_sectors, b.flags)
        };
        let q = self.queue(dev);
        if q.cfg.nomerges >= 2 || flags & bflag::NOMERGE != 0 || !matches!(op, Op::Read | Op::Write) {
            return false;
        }
        if let Some(rq) = q.elevator.back_merge_candidate(op, sector)
            && self.mergeable(rq, bio)
            && self.rqs[rq].end() == sector
        {
            let start = self.rqs[rq].sector;
            if !self.fits(dev, rq, bio, start) {
                self.rqs[rq].nomerge = true;
                return false;
            }
            self.append_bio(rq, bio);
            if self.rqs[rq].zone_write_plugging {
                let zone = self.rqs[rq].zone;
                self.zone_bio_merged(dev, zone, bio);
            }
            return true;
        }
        let end = sector + u64::from(len);
        if self.queue(dev).cfg.nomerges == 0
            && let Some(rq) = self.queue(dev).elevator.front_merge_candidate(op, end)
            && self.mergeable(rq, bio)
            && !self.rqs[rq].zone_write_plugging
        {
            if !self.fits(dev, rq, bio, sector) {
                self.rqs[rq].nomerge = true;
                return false;
            }
            self.prepend_bio(rq, bio);
            self.queue(dev).elevator.reposition(Queued { rq, op, sector }, end);
            return true;
        }
        false
    }
}
