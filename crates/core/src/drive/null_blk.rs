//! null_blk: a driver without a medium.
//!
//! Models: drivers/block/null_blk, 7.1 (kernel 7.1, 7.2) without zones, data or limits.
//! Rule: a command is done inside ->queue_rq, in the softirq that follows, or a fixed time later; any number overlap.
//! Leaves out: zones, memory_backed, discard, mbps, the time-out of 5 s.

use super::{Cmd, Done, Outcome};
use crate::bus::Bus;
use crate::config::{NullBlkConfig, NullIrq};
use crate::event::Event;
use crate::units::{BlkStatus, DevIdx, Tag};

/// What null_blk keeps in a request (`struct nullb_cmd`).
#[derive(Debug)]
pub struct Attempt<'a> {
    /// Driver tag.
    pub tag: Tag,
    /// How often it was given back as a misaligned zone write.
    pub retries: &'a mut u16,
    /// It fails instead of being given back that often; 0: at once.
    pub max_attempts: u32,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NullBlk {
    dev: DevIdx,
    cfg: NullBlkConfig,
}

impl NullBlk {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: NullBlkConfig) -> Self {
        Self { dev, cfg }
    }
    /// `null_handle_throttled`, before the request is started: whether the budget of `mbps` lasts for it. Where not, the
    /// queue runs again when the budget is refilled.
    pub fn admits(&mut self, _bus: &mut Bus, _nr_sectors: u32) -> bool {
        true
    }
    /// `null_queue_rq` behind `blk_mq_start_request`. A zone append is told where it went in `cmd.sector`. A misaligned
    /// zone write is given back while it has attempts left.
    pub fn submit(&mut self, bus: &mut Bus, cmd: &mut Cmd, _attempt: Attempt) -> Outcome {
        let ns = match self.cfg.irqmode {
            NullIrq::None => return Outcome::Done(Done { rq: cmd.rq, status: BlkStatus::Ok }),
            NullIrq::Softirq => 0,
            NullIrq::Timer => self.cfg.completion_ns,
        };
        bus.after(ns, Event::Done(self.dev, cmd.rq, BlkStatus::Ok));
        Outcome::Taken
    }
}
