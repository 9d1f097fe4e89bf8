//! The bio: what a workload submits, and its pieces after splits.
//!
//! Models: `struct bio`, `bio_split`, `bio_chain` (block/bio.c, 7.1; kernel 1.1, 1.3).
//! Rule: the front part of a split is a new bio chained to the original; the original is advanced and ends only
//! after its front parts, with the first error.
//! Leaves out: pages; segments follow from the mean contiguous length of a job's pages.

use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{BioId, BlkStatus, DevIdx, IoPrio, JobIdx, Op, Sector};

/// `bi_opf` and `bi_flags` bits in use.
pub mod bflag {
    /// REQ_NOMERGE
    pub const NOMERGE: u16 = 1;
    /// REQ_NOWAIT
    pub const NOWAIT: u16 = 2;
    /// BIO_ZONE_WRITE_PLUGGING
    pub const ZONE_WRITE_PLUGGING: u16 = 4;
    /// REQ_SYNC
    pub const SYNC: u16 = 8;
    /// Holds a reference of q_usage_counter.
    pub const ENTERED: u16 = 16;
    /// BIO_TRACE_COMPLETION: Q was traced; C is traced for a bio that never becomes a request.
    pub const TRACED: u16 = 32;
    /// BIO_BPS_THROTTLED: its bytes have been charged.
    pub const BPS_THROTTLED: u16 = 64;
    /// Counted in the statistics of the bio-based device it is for.
    pub const ACCOUNTED: u16 = 128;
    /// REQ_PREFLUSH
    pub const PREFLUSH: u16 = 256;
    /// REQ_FUA
    pub const FUA: u16 = 512;
    /// BIO_QOS_THROTTLED: policies of rq_qos were asked, and learn of its end.
    pub const QOS_THROTTLED: u16 = 1024;
    /// BIO_EMULATES_ZONE_APPEND: a zone write plug made a write of it.
    pub const EMULATES_ZONE_APPEND: u16 = 2048;
}

/// `bi_end_io`: who learns that a bio has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndIo {
    /// The workload that submitted it.
    Job,
    /// The original this front part was split from (`bio_chain`).
    Chain(Idx),
    /// The bio of a stacked device, for which this one went to the member of this role.
    Member {
        /// The stacked device's bio.
        parent: Idx,
        /// Role of the member.
        role: u8,
    },
    /// A page of a stripe of the array.
    Stripe {
        /// The array.
        md: DevIdx,
        /// Its stripe.
        stripe: u32,
        /// Role of the member.
        role: u8,
    },
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Bio {
    /// Allocation number.
    pub id: BioId,
    /// Number of the bio the workload submitted.
    pub root: BioId,
    /// Device.
    pub dev: DevIdx,
    /// Job.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Bits of [`bflag`].
    pub flags: u16,
    /// Start of what is left of it; of a zone append that is done, where its data went.
    pub sector: Sector,
    /// Length of what is left of it.
    pub nr_sectors: u32,
    /// Start as submitted.
    pub first_sector: Sector,
    /// Length as submitted.
    pub first_nr_sectors: u32,
    /// Where the start of what is left is on the device the workload submitted to; `NO_ORIGIN` for parity.
    pub origin: Sector,
    /// Mean contiguous bytes of its pages.
    pub segment_bytes: u32,
    /// Priority.
    pub prio: IoPrio,
    /// When it was queued.
    pub q_time: SimTime,
    /// bio->issue_time_ns: when io.latency's clock began, where the kernel stamps it.
    pub issue_time: SimTime,
    /// When its stacked device began to count it.
    pub acct_time: SimTime,
    /// Who learns of its end.
    pub end: EndIo,
    /// Parts (itself included) not yet done.
    pub remaining: u32,
    /// First error.
    pub status: BlkStatus,
    /// Next bio of its request.
    pub next: Option<Idx>,
}

impl Bio {
    /// A zone append was told where it goes.
    pub fn moved_to(&mut self, sector: Sector) {
        if self.origin == self.sector {
            self.origin = sector;
        }
        self.sector = sector;
    }
    /// `op_is_sync`: reads, and writes marked SYNC, FUA or PREFLUSH.
    pub fn is_sync(&self) -> bool {
        self.op == Op::Read || self.flags & (bflag::SYNC | bflag::FUA | bflag::PREFLUSH) != 0
    }
}
