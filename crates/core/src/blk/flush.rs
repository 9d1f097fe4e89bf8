//! Flushes: PREFLUSH and FUA as a sequence of requests.
//!
//! Models: block/blk-flush.c, 7.1 (kernel 3.5 step 10).
//! Rule: what a request needs is PREFLUSH, its data, POSTFLUSH in this order, each only where it asks and the drive has a
//! volatile cache; one flush command is at the drive at a time and serves all that waited when it was sent.
//! Leaves out: drives with FUA of their own (libata has it off), one flush queue a hardware queue.

use alloc::vec::Vec;

use super::Ctx;
use super::bio::bflag;
use super::request::{Request, fseq};
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, Op};

/// FLUSH_PENDING_TIMEOUT: a flush waits for data in flight so long at most.
const PENDING_NS: SimDuration = 5_000_000_000;

/// `struct blk_flush_queue`
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlushQueue {
    /// Requests that wait for the next flush, and since when.
    pending: Vec<Idx>,
    since: SimTime,
    /// Requests the flush at the drive serves.
    running: Vec<Idx>,
    /// Requests whose data is on its way.
    data_in_flight: u32,
}

impl Ctx<'_> {
    /// `blk_queue_write_cache`: the drive may lose what it has acknowledged (BLK_FEAT_WRITE_CACHE), and queue/write_cache
    /// does not say otherwise.
    pub(super) fn has_volatile_cache(&self, dev: DevIdx) -> bool {
        self.disk_cfg(dev).is_some_and(|d| d.write_cache)
            && self.devs[usize::from(dev)].queue.as_ref().is_none_or(|q| q.cfg.write_back)
    }

    /// Without a volatile cache nothing has to be flushed: PREFLUSH and FUA are dropped, and an empty flush is done (true).
    pub(super) fn flushes_for_nothing(&mut self, bio: Idx) -> bool {
        let (op, dev, flags) = (self.bios[bio].op, self.bios[bio].dev, self.bios[bio].flags);
        let asks = op == Op::Flush || flags & (bflag::PREFLUSH | bflag::FUA) != 0;
        if !asks || self.has_volatile_cache(dev) {
            return false;
        }
        self.bios[bio].flags &= !(bflag::PREFLUSH | bflag::FUA);
        op == Op::Flush
    }

    /// `blk_insert_flush`: true if the flush sequence has the request.
    pub(super) fn insert_flush(&mut self, dev: DevIdx, rq: Idx) -> bool {
        let r = &self.rqs[rq];
        let flags = self.bios[r.bio].flags;
        let mut steps = 0;
        if self.has_volatile_cache(dev) {
            steps |= if r.op == Op::Flush || flags & bflag::PREFLUSH != 0 { fseq::PRE } else { 0 };
            steps |= if flags & bflag::FUA != 0 { fseq::POST } else { 0 };
        }
        if steps == 0 {
            return false;
        }
        steps |= if r.nr_sectors > 0 { fseq::DATA } else { 0 };
        self.rqs[rq].flush = steps;
        self.flush_step(dev, rq);
        true
    }

    /// `blk_flush_complete_seq` from where the request is.
    fn flush_step(&mut self, dev: DevIdx, rq: Idx) {
        let now = self.bus.now;
        let (left, h) = (self.rqs[rq].flush, self.rqs[rq].hctx);
        if left & fseq::PRE != 0 || left == fseq::POST {
            let fq = &mut self.queue(dev).flush;
            if fq.pending.is_empty() {
                fq.since = now;
            }
            fq.pending.push(rq);
        } else {
            self.queue(dev).flush.data_in_flight += 1;
            self.bypass_insert(dev, rq);
            self.delay_run(dev, h, 0);
        }
        self.kick_flush(dev);
    }

    /// `blk_kick_flush`
    fn kick_flush(&mut self, dev: DevIdx) {
        let now = self.bus.now;
        let fq = &mut self.queue(dev).flush;
        let Some(&first) = fq.pending.first() else { return };
        if !fq.running.is_empty() || fq.data_in_flight > 0 && now < fq.since + PENDING_NS {
            return;
        }
        fq.running = core::mem::take(&mut fq.pending);
        self.ids.1 += 1;
        let r = &self.rqs[first];
        let h = r.hctx;
        // It borrows the first waiter's tag; with a scheduler it takes a driver tag of its own.
        let flush = Request {
            id: self.ids.1,
            op: Op::Flush,
            sector: 0,
            nr_sectors: 0,
            nr_bios: 0,
            sync: true,
            nomerge: true,
            zone_write_plugging: false,
            flush: fseq::FLUSH_RQ,
            g_time: now,
            i_time: now,
            d_time: None,
            ..r.clone()
        };
        let flush = self.rqs.insert(flush);
        self.bypass_insert(dev, flush);
        self.delay_run(dev, h, 0);
    }

    /// A request of a flush sequence came back from the drive. True when that was the last step: it ends now.
    pub(super) fn flush_done(&mut self, dev: DevIdx, rq: Idx, status: BlkStatus) -> bool {
        if self.rqs[rq].flush == fseq::FLUSH_RQ {
            // With a scheduler the driver tag is its own, else the waiter's.
            self.put_driver_tag(dev, rq);
            let h = self.rqs.remove(rq).hctx;
            let served = core::mem::take(&mut self.queue(dev).flush.running);
            for waiter in served {
                let left = &mut self.rqs[waiter].flush;
                *left &= if *left & fseq::PRE != 0 { !fseq::PRE } else { !fseq::POST };
                if status != BlkStatus::Ok {
                    *left = 0;
                }
                match *left {
                    0 => self.end_request(dev, waiter, status),
                    _ => self.flush_step(dev, waiter),
                }
            }
            self.kick_flush(dev);
            self.restart_queues(dev, h, false);
            return false;
        }
        self.queue(dev).flush.data_in_flight -= 1;
        let left = &mut self.rqs[rq].flush;
        *left &= !fseq::DATA;
        if status != BlkStatus::Ok || *left == 0 {
            *left = 0;
            self.kick_flush(dev);
            return true;
        }
        let h = self.rqs[rq].hctx;
        self.put_driver_tag(dev, rq);
        self.flush_step(dev, rq);
        self.restart_queues(dev, h, false);
        false
    }
}
