//! A flash device: fixed latencies, no head.
//!
//! Models: nothing yet but its command overhead.
//! Rule: a command is done a fixed time after it came.
//! Leaves out: channels, dies, zones.

use super::Cmd;
use crate::bus::Bus;
use crate::config::FlashConfig;
use crate::event::Event;
use crate::units::{BlkStatus, DevIdx};

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flash {
    dev: DevIdx,
    cfg: FlashConfig,
}

impl Flash {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: FlashConfig) -> Self {
        Self { dev, cfg }
    }
    /// Takes a command in; a zone append is told where it goes in `cmd.sector`.
    pub fn submit(&mut self, bus: &mut Bus, cmd: &mut Cmd) {
        bus.after(self.cfg.command_ns, Event::Done(self.dev, cmd.rq, BlkStatus::Ok));
    }
}
