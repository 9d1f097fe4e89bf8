//! null_blk: a driver without a medium.
//!
//! Models: drivers/block/null_blk, 7.1 (kernel 7.1, 7.2) without zones, data or limits.
//! Rule: a command is done inside ->queue_rq, in the softirq that follows, or a fixed time later; any number overlap.
//! Leaves out: zones, memory_backed, discard, mbps, the time-out of 5 s.

use super::{Cmd, Done};
use crate::bus::Bus;
use crate::config::{NullBlkConfig, NullIrq};
use crate::event::Event;
use crate::units::{BlkStatus, DevIdx};

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
    /// `null_queue_rq`: what is done at once is returned.
    pub fn submit(&mut self, bus: &mut Bus, cmd: Cmd) -> Option<Done> {
        let ns = match self.cfg.irqmode {
            NullIrq::None => return Some(Done { rq: cmd.rq, status: BlkStatus::Ok }),
            NullIrq::Softirq => 0,
            NullIrq::Timer => self.cfg.completion_ns,
        };
        bus.after(ns, Event::Done(self.dev, cmd.rq, BlkStatus::Ok));
        None
    }
}
