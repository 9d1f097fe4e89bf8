//! A device known by its limits: commands a second, bytes a second, latency.
//!
//! Models: nothing in particular; solid-state and remote disks whose tables only give a cap (disk 9).
//! Rule: one command after the other occupies the device for the longer of 1/iops and bytes/rate; each completes a
//! fixed latency later, in order.
//! Leaves out: everything inside.

use super::{Cmd, Done};
use crate::bus::Bus;
use crate::config::CappedConfig;
use crate::event::Event;
use crate::fifo::Fifo;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, SECTOR_BYTES};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Capped {
    dev: DevIdx,
    cfg: CappedConfig,
    /// Commands at the device, in order of completion.
    waiting: Fifo<Cmd>,
    /// The device is occupied until then.
    busy_until: SimTime,
}

impl Capped {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: CappedConfig) -> Self {
        Self { dev, cfg, waiting: Fifo::new(), busy_until: 0 }
    }
    /// Time a command occupies the device, ns.
    fn service_ns(&self, cmd: &Cmd) -> SimDuration {
        let by_count = 1_000_000_000u64.checked_div(self.cfg.iops).unwrap_or(0);
        let bytes = u128::from(cmd.nr_sectors) * u128::from(SECTOR_BYTES);
        let by_bytes = (bytes * 1_000_000_000).checked_div(u128::from(self.cfg.rate)).unwrap_or(0) as u64;
        by_count.max(by_bytes)
    }
    /// Takes a command in.
    pub fn submit(&mut self, bus: &mut Bus, cmd: Cmd) {
        self.busy_until = self.busy_until.max(bus.now) + self.service_ns(&cmd);
        self.waiting.push_back(cmd);
        bus.after(self.busy_until + self.cfg.latency_ns - bus.now, Event::Capped(self.dev));
    }
    /// The oldest command is done.
    pub fn done(&mut self) -> Option<Done> {
        self.waiting.pop_front().map(|cmd| Done { rq: cmd.rq, status: BlkStatus::Ok })
    }
    /// Commands at the device, oldest first.
    pub fn waiting(&self) -> impl Iterator<Item = &Cmd> {
        self.waiting.iter()
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Cmd>()
    }
}
