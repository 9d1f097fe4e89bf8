//! Why something waits or goes on: one enum, recorded at the moment of the decision.
//!
//! Models: nothing; each variant names the kernel or drive rule that decided.
//! Rule: every variant names an object and a number; the sentence is made in `bioscope-stage`.
//! Leaves out: text.

use crate::blk::qos::wbt::Kind;
use crate::config::ElevatorKind;
use crate::time::{SimDuration, SimTime};
use crate::units::{BioId, BlkStatus, DevIdx, JobIdx, RqId, Sector, ZoneNo};

/// A reason. Zones are zone numbers, times ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Why {
    /// The first write of an idle zone goes out at once: its plug holds nothing (baseline).
    IssuedAtOnce { zone: ZoneNo },
    /// A write is queued: the zone has one in flight.
    PluggedBehind { zone: ZoneNo, pending: u32 },
    /// QD1: every write is queued for the worker.
    QueuedForWorker { zone: ZoneNo, listed: u32 },
    /// A completion released the plug's next bio.
    Unplugged { zone: ZoneNo, pending: u32 },
    /// Queued bios were pulled into the request being issued.
    PulledIn { zone: ZoneNo, bios: u32, sectors: u32 },
    /// The worker turned to this zone.
    WorkerServes { zone: ZoneNo, pending: u32, waiting: u32 },
    /// The worker came back for a listed zone that had run dry.
    WorkerFoundEmpty { zone: ZoneNo },
    /// A bio was split by a limit; `ZoneNo::MAX` where the disk has no zones.
    SplitBySegments { zone: ZoneNo, front_sectors: u32, max_segments: u32 },
    /// A bio was split by `max_sectors` or the zone end.
    SplitBySize { zone: ZoneNo, front_sectors: u32, max_sectors: u32 },
    /// No sched tag was free; so many have to be freed before anyone is woken.
    NoSchedTag { job: JobIdx, nr_requests: u32, wake_batch: u32 },
    /// Sched tags were free, but the scheduler limits this one's allocations to so many; without scheduler, its share of
    /// a shared tag set.
    TagLimit { job: JobIdx, sched: ElevatorKind, limit: u32, depth: u32 },
    /// A task that was woken for a tag sleeps for one again: how many it took in a row before that, and how many sleep
    /// already.
    TagWoken { job: JobIdx, wake_batch: u32, got: u32, asleep: u32 },
    /// No driver tag was free: the request waits in the scheduler or dispatch list.
    NoDriverTag { rq: RqId, queue_depth: u32 },
    /// Tags are free and tasks wait, but nothing is on its way that would wake them.
    Stalled { dev: u16, hctx: u16, wake_batch: u32, waiters: u32 },
    /// The head left a zone for another: why, in commands still cached there.
    HeadLeaves { from: ZoneNo, to: ZoneNo, left: u32, written: u32 },
    /// The head waits for the sector to come round.
    Rotates { zone: ZoneNo, ns: SimDuration },
    /// A command waits at the interface: the cache window is full.
    CacheWindowFull { cached: u32, window: u32, waiting: u32 },
    /// A fio job found the zone locked by another job.
    ZoneLocked { zone: ZoneNo, job: JobIdx, owner: JobIdx },
    /// A fio job drains its own I/O before it blocks or resets.
    Quiesces { job: JobIdx, in_flight: u32, zone: ZoneNo },
    /// A full zone is reset.
    ZoneReset { zone: ZoneNo, ns: SimDuration },
    /// A job is at its depth.
    DepthFull { job: JobIdx, iodepth: u32 },
    /// A job sleeps: it thinks, or is ahead of its rate.
    Sleeps { job: JobIdx, ns: SimDuration, thinks: bool },
    /// Writeback is at its limit of bytes in flight.
    InFlightFull { job: JobIdx, mib: u32 },
    /// A write away from the zone's write pointer was refused by the zone write plug.
    OffPointer { zone: ZoneNo, sector: Sector, wp_offset: u32 },
    /// A write failed because the plug's position is unknown since an earlier error.
    NeedWpUpdate { zone: ZoneNo },
    /// A write met a plug that is dead (full, reset or finished, still referenced).
    DeadPlug { zone: ZoneNo, refs: u32 },
    /// A write met a full zone.
    ZoneFull { zone: ZoneNo },
    /// Plugged bios were aborted after a device error.
    Aborted { zone: ZoneNo, bios: u32 },
    /// mq-deadline has writes and gives none: their zones are locked; the oldest of them waits for this request.
    ZoneWriteLocked { zone: ZoneNo, rq: RqId },
    /// null_blk gave a write back that is not at its zone's write pointer: it is tried again.
    Misaligned { zone: ZoneNo, rq: RqId, retries: u16 },
    /// A native zone append met a zone with plugged writes: they are aborted.
    AppendMixed { zone: ZoneNo, bios: u32 },
    /// After an error the device was asked for a zone's write pointer; so many queued bios go on there.
    Recovered { zone: ZoneNo, wp_offset: u32, bios: u32 },
    /// The device answered with an error.
    DeviceError { zone: ZoneNo, status: BlkStatus },
    /// A bio of a stacked device was split by its max_sectors.
    SplitByLimit { dev: u16, front_sectors: u32, max_sectors: u32 },
    /// A bio of a stacked device ends at its chunk_sectors.
    SplitByStripe { dev: u16, front_sectors: u32, chunk_sectors: u32 },
    /// A bio for one chunk: the array cuts at its end.
    SplitAtChunk { dev: u16, front_sectors: u32, rest_sectors: u32 },
    /// What a step pushed goes before the older backlog.
    BeforeBacklog { dev: u16, same: u32, older: u32 },
    /// The plug held all the requests it may: it was flushed.
    PlugFull { requests: u32, limit: u32 },
    /// The request the size rule looks at was large enough: the plug was flushed.
    PlugBytes { rq: RqId, kib: u32 },
    /// A bio did not continue the one request of its queue that is tried.
    NotMerged { dev: u16, rq: RqId, end: Sector, sector: Sector },
    /// io.max holds a bio back.
    Throttled { dev: u16, kib: u32, ns: SimDuration },
    /// wbt holds a buffered write back: so many of its kind are in flight, and its limit.
    ThrottledByWbt { kind: Kind, in_flight: u32, limit: u32 },
    /// io.latency holds a job's bio back: so many of its cgroup's are in flight, its depth, and the target it gives way to.
    ThrottledByIolatency { job: JobIdx, in_flight: u32, depth: u32, target: SimDuration },
    /// io.cost holds a job's bio back: what it costs the device, and how long its cgroup's clock is short of that.
    ThrottledByIocost { job: JobIdx, cost: SimDuration, short: SimDuration },
    /// A live setting froze the queue.
    Frozen { dev: u16, waiting: u32 },
    /// raid5: a stripe reads what it writes and parity; in blocks of its members, sectors without data_offset.
    ReadModifyWrite { sector: Sector, rmw: u32, rcw: u32 },
    /// raid5: a stripe reads what it does not write.
    ReconstructWrite { sector: Sector, rmw: u32, rcw: u32 },
    /// raid5: new data covers a stripe, nothing is read.
    FullStripe { sector: Sector, blocks: u32 },
    /// raid5: full stripes of a chunk are handled as one.
    StripeBatch { sector: Sector, stripes: u32 },
    /// raid5: a stripe may not read yet; so many others may.
    StripeDelayed { sector: Sector, reads: u32, preread: u32 },
    /// raid5: a writer waits for a stripe.
    StripeCacheFull { dev: DevIdx, active: u32, size: u32 },
}

/// A reason with its moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WhyRecord {
    /// ns
    pub time: SimTime,
    /// The bio concerned, 0 where none.
    pub bio: BioId,
    /// The reason.
    pub why: Why,
}
