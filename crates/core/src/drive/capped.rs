//! A device known by its limits: commands a second, bytes a second, latency.
//!
//! Models: nothing in particular; solid-state and remote disks whose tables only give a cap (disk 9).
//! Rule: a command occupies the channel that is free first for the longer of 1/iops and bytes/rate; it completes a fixed
//! latency later.
//! Leaves out: everything inside.

use alloc::vec::Vec;

use super::{Cmd, Done};
use crate::bus::Bus;
use crate::config::CappedConfig;
use crate::event::Event;
use crate::fifo::Fifo;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, SECTOR_BYTES};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Capped {
    dev: DevIdx,
    cfg: CappedConfig,
    /// Commands at the device, in order of arrival.
    waiting: Fifo<Cmd>,
    /// Each channel is occupied until then.
    busy_until: Vec<SimTime>,
}

impl Capped {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: CappedConfig) -> Self {
        let busy_until = alloc::vec![0; cfg.channels.max(1) as usize];
        Self { dev, cfg, waiting: Fifo::new(), busy_until }
    }
    /// Time a command occupies its channel, ns.
    fn service_ns(&self, cmd: &Cmd) -> SimDuration {
        let by_count = 1_000_000_000u64.checked_div(self.cfg.iops).unwrap_or(0);
        let bytes = u128::from(cmd.nr_sectors) * u128::from(SECTOR_BYTES);
        let by_bytes = (bytes * 1_000_000_000).checked_div(u128::from(self.cfg.rate)).unwrap_or(0) as u64;
        by_count.max(by_bytes)
    }
    /// Takes a command in.
    pub fn submit(&mut self, bus: &mut Bus, cmd: Cmd) {
        let service = self.service_ns(&cmd);
        let mut first = 0;
        for (i, t) in self.busy_until.iter().enumerate() {
            if *t < self.busy_until[first] {
                first = i;
            }
        }
        let until = self.busy_until[first].max(bus.now) + service;
        self.busy_until[first] = until;
        self.waiting.push_back(cmd);
        bus.after(until + self.cfg.latency_ns - bus.now, Event::Capped(self.dev, cmd.rq));
    }
    /// A command is done.
    pub fn done(&mut self, rq: Idx) -> Option<Done> {
        let at = self.waiting.iter().position(|cmd| cmd.rq == rq)?;
        self.waiting.remove(at);
        Some(Done { rq, status: BlkStatus::Ok })
    }
    /// Commands at the device, in order of arrival.
    pub fn waiting(&self) -> impl Iterator<Item = &Cmd> {
        self.waiting.iter()
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<Cmd>() + self.busy_until.capacity() * size_of::<SimTime>()
    }
}
