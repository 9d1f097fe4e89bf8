//! The request: what the block layer queues and the driver gets.
//!
//! Models: `struct request` (kernel 3.1).
//! Rule: a request covers the contiguous sectors of its bios, linked in order.
//! Leaves out: integrity, crypto.

use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{DevIdx, IoPrio, Op, RqId, Sector, Tag, ZoneNo};

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Allocation number.
    pub id: RqId,
    /// Device.
    pub dev: DevIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Zone of the start.
    pub zone: ZoneNo,
    /// First bio.
    pub bio: Idx,
    /// Last bio.
    pub biotail: Idx,
    /// Bios.
    pub nr_bios: u32,
    /// Scatter entries.
    pub nr_segments: u32,
    /// REQ_NOMERGE
    pub nomerge: bool,
    /// REQ_SYNC
    pub sync: bool,
    /// Priority of its first bio.
    pub prio: IoPrio,
    /// RQF_ZONE_WRITE_PLUGGING
    pub zone_write_plugging: bool,
    /// Driver tag.
    pub tag: Option<Tag>,
    /// Sched tag.
    pub internal_tag: Option<Tag>,
    /// CPU of the submitter.
    pub cpu: u16,
    /// Trace flags naming who issues it.
    pub who: u16,
    /// G
    pub g_time: SimTime,
    /// I, or G without scheduler.
    pub i_time: SimTime,
    /// D
    pub d_time: Option<SimTime>,
}

impl Request {
    /// First sector behind it.
    pub fn end(&self) -> Sector {
        self.sector + u64::from(self.nr_sectors)
    }
}
