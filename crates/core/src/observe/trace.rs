//! The trace: one record a visible change, pushed to whoever listens, and its hash.
//!
//! Models: kernel/trace/blktrace.c action letters (kernel 10.1), plus words of our own for the drive.
//! Rule: the order and the field order of the hash never change within a model version (decisions 2).
//! Leaves out: text; `bioscope-formats` prints blkparse lines.

use crate::time::SimTime;
use crate::units::{BioId, DevIdx, Op, RqId, Sector};

/// What happened. Letters are blktrace's; words are this simulator's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Action {
    /// `Q`: a bio is queued.
    Queue = 1,
    /// `G`: a request is allocated. `arg` = sched or driver tag.
    GetRq = 2,
    /// `I`: inserted into the scheduler or a ctx list.
    Insert = 3,
    /// `D`: issued to the driver. `arg` = driver tag.
    Issue = 4,
    /// `C`: completed. `arg` = errno.
    Complete = 5,
    /// `M`: back merge. The record is the bio's.
    BackMerge = 6,
    /// `F`: front merge.
    FrontMerge = 7,
    /// `P`: a plug gets its first request.
    Plug = 8,
    /// `U`: unplug. `arg` = number of requests.
    Unplug = 9,
    /// `X`: split. `sector` = start of the front part, `arg` = start of the remainder.
    Split = 10,
    /// `A`: remap. `arg` = sector on the device above.
    Remap = 11,
    /// `R`: requeue.
    Requeue = 12,
    /// `ZP`: queued in a zone write plug.
    ZonePlug = 18,
    /// `ZU`: taken from a zone write plug by its work or the worker.
    ZoneUnplug = 19,
    /// `seek`: the head leaves for a zone. `arg` = ns.
    Seek = 32,
    /// `rotate`: on track, waiting for the sector. `arg` = ns.
    Rotate = 33,
    /// `transfer`: a cached or read command goes to or from the medium. `arg` = ns.
    Transfer = 34,
    /// `cached`: the command's data is in the drive's cache.
    Cached = 35,
    /// `reset`: the drive resets a zone. `arg` = ns.
    Reset = 36,
    /// `lock`: a job starts to wait for a zone lock. `arg` = zone.
    LockWait = 40,
    /// `unlock`: a zone lock is released by its last I/O. `arg` = zone.
    Unlock = 41,
    /// `worker`: the zone write plugs worker turns to a zone. `arg` = zone.
    Worker = 42,
    /// `fail`: a bio ends with an error the device never saw. `arg` = errno.
    Fail = 43,
    /// `change`: a live setting takes effect.
    Change = 44,
}

impl Action {
    /// blkparse's letter(s), or this simulator's word.
    pub fn letter(self) -> &'static str {
        match self {
            Action::Queue => "Q",
            Action::GetRq => "G",
            Action::Insert => "I",
            Action::Issue => "D",
            Action::Complete => "C",
            Action::BackMerge => "M",
            Action::FrontMerge => "F",
            Action::Plug => "P",
            Action::Unplug => "U",
            Action::Split => "X",
            Action::Remap => "A",
            Action::Requeue => "R",
            Action::ZonePlug => "ZP",
            Action::ZoneUnplug => "ZU",
            Action::Seek => "seek",
            Action::Rotate => "rotate",
            Action::Transfer => "transfer",
            Action::Cached => "cached",
            Action::Reset => "reset",
            Action::LockWait => "lock",
            Action::Unlock => "unlock",
            Action::Worker => "worker",
            Action::Fail => "fail",
            Action::Change => "change",
        }
    }
}

/// `flags` of a record: who did it (blkparse's comm) and the rwbs extras.
pub mod flag {
    /// REQ_SYNC (direct writes print `WS`).
    pub const SYNC: u16 = 1;
    /// Done by kworker (`bio_work` of a plug, kblockd).
    pub const KWORKER: u16 = 2;
    /// Done by `<disk>_zwplugs_worker`.
    pub const WORKER: u16 = 4;
    /// Done in the completion path (comm is whoever was interrupted; printed as `swapper/0`).
    pub const IRQ: u16 = 8;
    /// REQ_NOMERGE
    pub const NOMERGE: u16 = 16;
    /// A plug flushed because its task sleeps (blkparse's `UT`).
    pub const SCHEDULE: u16 = 32;
    /// Done by an array's own thread (`md0_raid5`).
    pub const MD_THREAD: u16 = 64;
    /// Done by an array's sync thread (`md0_resync`).
    pub const MD_SYNC: u16 = 128;
    /// Done by `kthrotld` for blk-throttle.
    pub const THROTTLE: u16 = 256;
    /// Done by a dm-crypt thread (`dmcrypt_write`).
    pub const CRYPT: u16 = 512;
    /// A bio of the realtime class.
    pub const RT: u16 = 1024;
}

/// No place on the workload's device.
pub const NO_ORIGIN: Sector = Sector::MAX;

/// One visible change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TraceRecord {
    /// ns
    pub time: SimTime,
    /// Index of the device.
    pub dev: DevIdx,
    /// What.
    pub action: Action,
    /// Operation of the bio or request.
    pub op: Op,
    /// Bits of [`flag`].
    pub flags: u16,
    /// Start sector.
    pub sector: Sector,
    /// Length in sectors.
    pub nr_sectors: u32,
    /// Bio, 0 where none.
    pub bio: BioId,
    /// Request, 0 where none.
    pub rq: RqId,
    /// The action's own number.
    pub arg: u64,
    /// Job that caused it (not hashed: it follows from the bio); `u16::MAX` where none.
    pub job: u16,
    /// Where its data is on the device the workload submitted to (not hashed); [`NO_ORIGIN`] for parity and for what
    /// no workload asked for.
    pub origin: Sector,
}

/// Receives every record in order.
pub trait TraceSink {
    /// Called once a record.
    fn record(&mut self, r: &TraceRecord);
    /// False: records need not be made.
    fn listens(&self) -> bool {
        true
    }
}

/// Nobody listens.
impl TraceSink for () {
    #[inline]
    fn record(&mut self, _: &TraceRecord) {}
    fn listens(&self) -> bool {
        false
    }
}

impl<A: TraceSink, B: TraceSink> TraceSink for (A, B) {
    #[inline]
    fn record(&mut self, r: &TraceRecord) {
        self.0.record(r);
        self.1.record(r);
    }
    fn listens(&self) -> bool {
        self.0.listens() || self.1.listens()
    }
}

impl<T: TraceSink + ?Sized> TraceSink for &mut T {
    #[inline]
    fn record(&mut self, r: &TraceRecord) {
        (**self).record(r);
    }
    fn listens(&self) -> bool {
        (**self).listens()
    }
}

impl TraceSink for alloc::vec::Vec<TraceRecord> {
    #[inline]
    fn record(&mut self, r: &TraceRecord) {
        self.push(*r);
    }
}

/// FNV-1a 64 over all records, little-endian, in the order of decisions 2; also counts them.
///
/// A record's number (1-based) is what the page calls a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceHash {
    /// The hash so far.
    pub hash: u64,
    /// Records so far.
    pub records: u64,
}

impl Default for TraceHash {
    fn default() -> Self {
        Self { hash: 0xcbf2_9ce4_8422_2325, records: 0 }
    }
}

const FNV_PRIME: u64 = 0x100_0000_01b3;

/// FNV-1a over the `N` low bytes of `v`, little-endian.
#[inline(always)]
fn absorb<const N: u32>(mut h: u64, v: u64) -> u64 {
    for i in 0..N {
        h = (h ^ (v >> (8 * i) & 0xff)).wrapping_mul(FNV_PRIME);
    }
    h
}

/// The same over `N` bytes, of which all but the `LOW` lowest are usually zero: those are one multiplication.
#[inline(always)]
fn absorb_low<const N: u32, const LOW: u32>(h: u64, v: u64) -> u64 {
    if v >> (8 * LOW) == 0 {
        absorb::<LOW>(h, v).wrapping_mul(const { FNV_PRIME.wrapping_pow(N - LOW) })
    } else {
        absorb::<N>(h, v)
    }
}

impl TraceSink for TraceHash {
    // Compiled here and nowhere else: the page builds this crate for speed and its other crates for size.
    #[inline(never)]
    fn record(&mut self, r: &TraceRecord) {
        // Bytes are taken from registers, least significant first: the same order as from memory, and faster.
        let mut h = self.hash;
        h = absorb_low::<8, 5>(h, r.time);
        h = absorb_low::<2, 1>(h, u64::from(r.dev));
        h = absorb::<1>(h, r.action as u64);
        h = absorb::<1>(h, r.op as u64);
        h = absorb::<2>(h, u64::from(r.flags));
        h = absorb_low::<8, 5>(h, r.sector);
        h = absorb_low::<4, 2>(h, u64::from(r.nr_sectors));
        h = absorb_low::<4, 3>(h, u64::from(r.bio));
        h = absorb_low::<4, 3>(h, u64::from(r.rq));
        h = absorb_low::<8, 2>(h, r.arg);
        self.hash = h;
        self.records += 1;
    }
}
