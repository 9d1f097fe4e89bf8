//! What a run is made of: plain, validated data.
//!
//! Models: kernel switches (kernel 0.3), queue limits (1.3, 3.3, 9), fio job options (10.5 to 10.7),
//! the drive profile (the disk model).
//! Rule: only possible worlds. `bioscope-scenario` turns what a user typed into this, or into diagnostics;
//! [`crate::sim::Simulation::new`] cannot fail.
//! Leaves out: names, units and help texts of settings (the PARAMS table of `bioscope-scenario`).

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::time::{SimDuration, SimTime};
use crate::units::{DevIdx, Sector};

/// Everything that determines a run. Two equal values give two equal traces.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SimConfig {
    /// Seed of all random streams.
    pub seed: u64,
    /// When issuing stops; what is in flight is still completed.
    pub stop: Stop,
    /// What comes before the measured window.
    pub ramp: Ramp,
    /// Behaviour that changed between kernel releases.
    pub kernel: KernelConfig,
    /// What the host's CPU work costs.
    pub host: HostCosts,
    /// Devices, members before stacks.
    pub devices: Vec<DeviceConfig>,
    /// Jobs, each writing to one device.
    pub jobs: Vec<JobConfig>,
    /// Settings changed while I/O runs, in order of time.
    pub changes: Vec<Change>,
    /// Injected device errors.
    pub faults: Vec<FaultRule>,
}

/// End of issuing: the first limit reached counts; `None` = no limit of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Stop {
    /// Simulated time after the ramp, ns (fio `runtime`).
    pub runtime_ns: Option<SimDuration>,
    /// Bytes completed after the ramp, all jobs together, after which issuing stops (fio `io_size` over jobs).
    pub bytes: Option<u64>,
}

/// Length of the ramp: statistics start when both are over (fio `ramp_time`, `ramp_size`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ramp {
    /// ns
    pub time_ns: SimDuration,
    /// Bytes completed, all jobs together.
    pub bytes: u64,
}

/// Kernel switches of kernel 0.3 that act on what is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KernelConfig {
    /// Who keeps zone writes in order.
    pub zone_ordering: ZoneOrdering,
    /// A write meeting a DEAD plug whose wp_offset is 0 revives it (later fix, kernel 5.2 step 3).
    pub dead_plug_revive: bool,
}

impl Default for KernelConfig {
    /// Linux 7.1.
    fn default() -> Self {
        Self { zone_ordering: ZoneOrdering::Zwplug, dead_plug_revive: false }
    }
}

/// `zone_ordering` of decisions: what serialises writes of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ZoneOrdering {
    /// Zone write plugs (6.10 and later); with `zoned_qd1_writes` the per-disk worker (7.1).
    Zwplug,
    /// Nobody: to show what breaks.
    None,
}

/// CPU costs of the host, ns (decisions 9). Only their order matters for the published tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct HostCosts {
    /// From one bio of a job to its next.
    pub submit_ns: SimDuration,
    /// From a zone write's completion to the issue of that plug's next bio.
    pub issue_ns: SimDuration,
    /// From the release of a fio zone lock to the waiter running; larger than `issue_ns`.
    pub lock_wake_ns: SimDuration,
    /// From waking the zone write plugs worker to it running.
    pub worker_wake_ns: SimDuration,
    /// CPUs; job i runs on CPU i mod n.
    pub nr_cpus: u16,
}

impl Default for HostCosts {
    fn default() -> Self {
        Self { submit_ns: 40_000, issue_ns: 30_000, lock_wake_ns: 50_000, worker_wake_ns: 30_000, nr_cpus: 8 }
    }
}

/// One block device.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DeviceConfig {
    /// `sda`
    pub name: String,
    /// Major and minor number as traces print them (8,0).
    pub dev: (u16, u16),
    /// The blk-mq queue; `None` for a bio-based device.
    pub queue: Option<QueueConfig>,
    /// What executes the commands.
    pub drive: DriveConfig,
}

/// `struct request_queue` and its limits, as sysfs shows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct QueueConfig {
    /// queue/scheduler
    pub elevator: ElevatorKind,
    /// queue/nr_requests: sched tags with an elevator, else a limit on driver tags.
    pub nr_requests: u32,
    /// queue/async_depth
    pub async_depth: u32,
    /// Commands the driver may have at the drive (host tags, `queue_depth` of the device).
    pub queue_depth: u32,
    /// How driver tags are searched.
    pub tag_alloc: TagAlloc,
    /// queue/max_sectors_kb in sectors.
    pub max_sectors: u32,
    /// queue/max_segments
    pub max_segments: u32,
    /// queue/logical_block_size in bytes; also the write granularity splits are rounded to.
    pub block_bytes: u32,
    /// queue/nomerges: 0, 1 or 2.
    pub nomerges: u8,
    /// queue/zoned_qd1_writes
    pub zoned_qd1_writes: bool,
    /// iosched/ attributes of mq-deadline.
    pub mq_deadline: MqDeadlineConfig,
}

/// `queue/scheduler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ElevatorKind {
    /// No scheduler.
    None,
    /// mq-deadline
    MqDeadline,
}

/// Search order of the sbitmap behind driver tags (kernel 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum TagAlloc {
    /// From a per-CPU hint.
    Hint,
    /// Always onward from the last tag (libata).
    RoundRobin,
}

/// mq-deadline's tunables (kernel 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MqDeadlineConfig {
    /// ns
    pub read_expire_ns: SimDuration,
    /// ns
    pub write_expire_ns: SimDuration,
    /// Read batches before a write batch.
    pub writes_starved: u32,
    /// Requests in a batch.
    pub fifo_batch: u32,
    /// Front merges looked for.
    pub front_merges: bool,
}

impl Default for MqDeadlineConfig {
    fn default() -> Self {
        Self {
            read_expire_ns: 500_000_000,
            write_expire_ns: 5_000_000_000,
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: true,
        }
    }
}

/// The drive: a profile shared between clones, and what may be set per run.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DriveConfig {
    /// Parameters of the model, by value behind `Arc`: outside cloned state.
    pub profile: Arc<DriveProfile>,
    /// Where on a track each zone starts.
    pub zone_phase: ZonePhase,
    /// Volatile write cache on.
    pub write_cache: bool,
    /// What a cleared `write_cache` does to the drive.
    pub write_off_mode: WriteOffMode,
    /// Write pointers at the start of the run.
    pub first_fill: FirstFill,
}

/// Initial write pointers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum FirstFill {
    /// All zones empty.
    Empty,
    /// The zones `first..first + count` start at a random fill, a multiple of `granularity` sectors below capacity.
    Random {
        /// First zone.
        first: u32,
        /// Number of zones.
        count: u32,
        /// Sectors.
        granularity: Sector,
    },
}

/// Rotational position of zone starts (decisions 26).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ZonePhase {
    /// Follows from the LBA at the sustained rate.
    ByLba,
    /// A seeded random angle per zone.
    Random,
}

/// What switching the write cache off means (decisions 27).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WriteOffMode {
    /// A non-volatile cache acknowledges at once: nothing is lost.
    Nonvolatile,
    /// Acknowledged when on the medium.
    Media,
}

/// Parameters of one drive model; each number's unit and provenance stand in its `.profile` file.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DriveProfile {
    /// Short name, e.g. `smr-30tb`.
    pub name: String,
    /// Sectors of a zone (a power of two).
    pub zone_sectors: Sector,
    /// Writable sectors of a zone.
    pub zone_capacity_sectors: Sector,
    /// Number of zones, conventional ones included.
    pub nr_zones: u32,
    /// Conventional zones at the start.
    pub nr_conv_zones: u32,
    /// Open zones allowed (0 = no limit).
    pub max_open_zones: u32,
    /// Time of a turn, ns.
    pub rev_ns: SimDuration,
    /// Sustained rate at the outer edge, bytes/s.
    pub rate_outer: u64,
    /// Sustained rate at the inner edge, bytes/s.
    pub rate_inner: u64,
    /// Recording zones the stroke is divided in (constant rate inside each).
    pub recording_zones: u32,
    /// Settle time of any head movement, ns.
    pub settle_ns: SimDuration,
    /// Added seek time over the full stroke; grows with the square root of the distance, ns.
    pub seek_full_ns: SimDuration,
    /// P: slots for commands queued and cached together.
    pub slots: u32,
    /// c in thousandths of a slot: slots lost per command waiting in the drive.
    pub slots_per_waiting_milli: u32,
    /// W minimum: cached commands always allowed.
    pub window_min: u32,
    /// r: commands written in one visit of a zone.
    pub visit_commands: u32,
    /// k: other zones considered for the next visit.
    pub candidates: u32,
    /// Time of a zone reset, ns, during which the drive does nothing else.
    pub zone_reset_ns: SimDuration,
    /// Interface rate, bytes/s.
    pub interface_rate: u64,
    /// Overhead of a command on the interface, ns.
    pub command_ns: SimDuration,
    /// Reads waiting longer than this go before shorter accesses, ns.
    pub read_age_ns: SimDuration,
}

/// One job: a task that submits bios to one device.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct JobConfig {
    /// Job name (comm of the traces is the tool's: fio, kworker).
    pub name: String,
    /// Which device.
    pub dev: DevIdx,
    /// What it does.
    pub workload: WorkloadConfig,
    /// Mean contiguous bytes of its pages: decides segments (decisions 18).
    pub bio_segment_bytes: u32,
    /// Starts at, ns.
    pub start_ns: SimTime,
}

/// The kinds of workload.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WorkloadConfig {
    /// fio, asynchronous engine, direct I/O, zonemode=zbd.
    FioZbd(FioZbdConfig),
    /// Packed writeback of a zoned XFS: one flusher.
    Writeback(WritebackConfig),
    /// A fixed list of bios, for tests and golden vectors.
    List(Vec<ListedBio>),
}

/// fio job options that matter with zonemode=zbd (kernel 10.5 to 10.7, fio).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FioZbdConfig {
    /// rw
    pub rw: Rw,
    /// bs in sectors
    pub bs: Sector,
    /// iodepth
    pub iodepth: u32,
    /// First zone of the job's range (`offset`).
    pub first_zone: u32,
    /// Zones of the range (`size` in zones).
    pub zones: u32,
    /// max_open_zones (0 = the device's limit).
    pub max_open_zones: u32,
    /// Bytes the job issues at most (`size` or `io_size` without `time_based`); `None` wraps until the run stops.
    pub io_bytes: Option<u64>,
}

/// fio `rw`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Rw {
    /// Sequential write.
    Write,
    /// Random write: the random offset chooses the zone.
    RandWrite,
    /// Sequential read.
    Read,
    /// Random read.
    RandRead,
}

/// Packed XFS writeback (disk 1, "XFS").
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WritebackConfig {
    /// Smallest file, bytes.
    pub file_min: u64,
    /// Largest file, bytes (uniform, whole 4 KiB blocks).
    pub file_max: u64,
    /// Bytes submitted and not yet complete, at most.
    pub in_flight_limit: u64,
    /// First zone written.
    pub first_zone: u32,
}

/// One bio of a list workload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ListedBio {
    /// Submitted at, ns.
    pub at: SimTime,
    /// Operation.
    pub op: crate::units::Op,
    /// Start.
    pub sector: Sector,
    /// Length in sectors (0 for zone management).
    pub nr_sectors: u32,
    /// REQ_NOWAIT
    pub nowait: bool,
}

/// A setting changed while I/O runs, through the kernel's freeze and quiesce.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Change {
    /// When the attribute is written, ns.
    pub at: SimTime,
    /// Whose.
    pub dev: DevIdx,
    /// What.
    pub setting: Setting,
}

/// Settings that can be changed live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Setting {
    /// queue/zoned_qd1_writes
    ZonedQd1Writes(bool),
}

/// Commands that touch the range while the rule holds fail.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FaultRule {
    /// Whose.
    pub dev: DevIdx,
    /// First sector.
    pub sector: Sector,
    /// Number of sectors.
    pub nr_sectors: Sector,
    /// From, ns.
    pub from: SimTime,
    /// Until (exclusive), ns.
    pub until: SimTime,
    /// How.
    pub status: crate::units::BlkStatus,
}
