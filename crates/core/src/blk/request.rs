//! The request: what the block layer queues and the driver gets.
//!
//! Models: `struct request` (kernel 3.1).
//! Rule: a request covers the contiguous sectors of its bios, linked in order.
//! Leaves out: integrity, crypto.

use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{DevIdx, IoPrio, JobIdx, Op, RqId, Sector, Tag, ZoneNo};

/// Steps of a flush sequence a request still has to do.
pub mod fseq {
    /// REQ_FSEQ_PREFLUSH
    pub const PRE: u8 = 1;
    /// REQ_FSEQ_DATA
    pub const DATA: u8 = 2;
    /// REQ_FSEQ_POSTFLUSH
    pub const POST: u8 = 4;
    /// The flush command itself, which several wait for.
    pub const FLUSH_RQ: u8 = 128;
}

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
    /// Job of its first bio.
    pub job: JobIdx,
    /// CPU of the submitter.
    pub cpu: u16,
    /// Hardware queue of that CPU.
    pub hctx: u16,
    /// RQF_USE_SCHED: it was inserted into the scheduler.
    pub sched: bool,
    /// Bits of [`fseq`]; 0 outside flush sequences.
    pub flush: u8,
    /// Trace flags naming who issues it.
    pub who: u16,
    /// How often null_blk gave it back as a misaligned zone write.
    pub retries: u16,
    /// G
    pub g_time: SimTime,
    /// I, or G without scheduler.
    pub i_time: SimTime,
    /// D
    pub d_time: Option<SimTime>,
}

/// The tags a request holds, and where they belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// Hardware queue.
    pub hctx: u16,
    /// CPU they were taken on.
    pub cpu: u16,
    /// Driver tag.
    pub tag: Option<Tag>,
    /// Sched tag.
    pub internal_tag: Option<Tag>,
}

impl Request {
    /// Its tags.
    pub fn held(&self) -> Held {
        Held { hctx: self.hctx, cpu: self.cpu, tag: self.tag, internal_tag: self.internal_tag }
    }
    /// First sector behind it.
    pub fn end(&self) -> Sector {
        self.sector + u64::from(self.nr_sectors)
    }
}
