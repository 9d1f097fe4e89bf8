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
use crate::units::{DevIdx, IoClass, IoPrio, Sector};

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
    /// Injected lost wake-ups.
    pub wake_faults: Vec<WakeFault>,
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
    /// Where the remainder of a split goes in `current->bio_list` (kernel 1.4).
    pub split_insert: SplitInsert,
    /// How many lists `current->bio_list` is (kernel 1.5).
    pub bio_list_model: BioListModel,
    /// The plug of a task (kernel 2.4).
    pub plug: PlugConfig,
    /// raid456 publishes its full stripe as chunk_sectors (since 6.18; md M.1).
    pub raid5_stripe_limit: bool,
    /// raid0 and raid10 publish their chunk as chunk_sectors (after 5.17; md M.1).
    pub md_chunk_limit: bool,
    /// raid456 publishes max_hw_sectors of 1 MiB (6.12 and later; md M.1).
    pub raid5_max_hw: bool,
    /// A write visits each stripe once, for all members it covers (6.0 and later; md M.2).
    pub raid5_spread: bool,
    /// Default limit of max_sectors in sectors (1280 KiB up to 6.16, then 4 MiB; kernel 1.3).
    pub max_sectors_cap: u32,
    /// Whose attribute async_depth is, and what the scheduler tells the bitmap of it (kernel 3.4).
    pub async_depth_owner: AsyncDepthOwner,
    /// A shallow depth counts for each word of the bitmap, not for the whole (5.17; kernel 3.2).
    pub shallow_per_word: bool,
    /// Who counts freed tags towards the next wake-up.
    pub sbitmap_wake: SbitmapWake,
    /// With [`ZoneOrdering::ZoneLock`] on a rotating disk: a run of contiguous writes behind one whose zone is locked
    /// stays together (from about 6.2; kernel 4.3).
    pub zone_lock_streams: bool,
    /// How a zone write plug recovers from a failed write (kernel 5.1, 5.2).
    pub zwplug_errors: ZwplugErrors,
    /// What a writer does that meets a plug which is being removed (kernel 5.1).
    pub zwplug_removed: ZwplugRemoved,
    /// How the rq_qos hooks are skipped where no policy exists (kernel 8.1).
    pub qos_gate: QosGate,
    /// Which bios get a time stamp for iolatency (kernel 8.1).
    pub issue_time: IssueTime,
    /// BLK_MQ_F_TAG_RR is a flag of its own (6.14 and later); before it was a value of an enumeration (kernel 3.1).
    pub tag_rr_flag: bool,
    /// BLK_MQ_F_NO_SCHED_BY_DEFAULT: no_sched only decides the default (kernel 3.1, 8.5); before, BLK_MQ_F_NO_SCHED
    /// left `none` alone.
    pub no_sched_by_default: bool,
    /// What io_ticks counts (kernel 10.2).
    pub io_ticks: IoTicks,
    /// CONFIG_BLK_WBT_MQ: disks get wbt when they are registered (kernel 8.1).
    pub blk_wbt_mq: bool,
}

impl Default for KernelConfig {
    /// Linux 7.1.
    fn default() -> Self {
        Self {
            zone_ordering: ZoneOrdering::Zwplug,
            dead_plug_revive: false,
            split_insert: SplitInsert::Head,
            bio_list_model: BioListModel::TwoList,
            plug: PlugConfig::default(),
            raid5_stripe_limit: true,
            md_chunk_limit: true,
            raid5_max_hw: true,
            raid5_spread: true,
            max_sectors_cap: 8192,
            async_depth_owner: AsyncDepthOwner::Queue,
            shallow_per_word: false,
            sbitmap_wake: SbitmapWake::PerMap,
            zone_lock_streams: true,
            zwplug_errors: ZwplugErrors::NeedWpUpdate,
            zwplug_removed: ZwplugRemoved::Dead,
            qos_gate: QosGate::QueueFlag,
            issue_time: IssueTime::IfIolatency,
            tag_rr_flag: true,
            no_sched_by_default: true,
            io_ticks: IoTicks::InFlight,
            blk_wbt_mq: false,
        }
    }
}

/// `zwplug_errors`: what follows a failed write of a plugged zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ZwplugErrors {
    /// BLK_ZONE_WPLUG_ERROR: the plug goes on a list of the disk, whose work reports the zone and goes on (6.10 to 6.12).
    ErrorAutoRecover,
    /// BLK_ZONE_WPLUG_NEED_WP_UPDATE: all writes fail until report zones, reset or finish (6.13 and later).
    NeedWpUpdate,
}

/// `zwplug_removed`: a plug that lost its first reference while others use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ZwplugRemoved {
    /// BLK_ZONE_WPLUG_UNHASHED: a writer that meets it gets a new plug (6.10 to 7.0).
    Unhashed,
    /// BLK_ZONE_WPLUG_DEAD: a writer that meets it fails (7.1; see also `dead_plug_revive`).
    Dead,
}

/// `qos_gate`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum QosGate {
    /// q.rq_qos is tested at each hook (before 6.16).
    Pointer,
    /// A static key, patched in while any policy of any queue exists (6.16).
    StaticKey,
    /// QUEUE_FLAG_QOS_ENABLED of the queue (6.17 and later).
    QueueFlag,
}

/// `issue_time`: bio->issue_time_ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IssueTime {
    /// Every bio is stamped: a clock read each (before 6.18).
    Always,
    /// Only with QUEUE_FLAG_BIO_ISSUE_TIME, which iolatency sets (6.18 and later).
    IfIolatency,
}

/// `io_ticks`: what the column %util is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum IoTicks {
    /// Time with a request in flight (up to 4.20, and 6.10 and later).
    InFlight,
    /// One jiffy at each start that falls into a new one, and at an end the jiffies since (5.0 to 6.9).
    Start,
}

/// `async_depth_owner` (kernel 3.4): min_shallow_depth follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum AsyncDepthOwner {
    /// queue/async_depth (7.0 and later): min_shallow_depth is async_depth.
    Queue,
    /// iosched/async_depth up to 6.19: min_shallow_depth is 1.
    Elevator,
    /// iosched/async_depth of 5.17: min_shallow_depth is its default, 3/4 of nr_requests.
    Elevator517,
}

/// `sbitmap_wake`: where freed tags are counted until a batch of waiters is woken (kernel 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SbitmapWake {
    /// One count for the map (6.2 and later).
    PerMap,
    /// A countdown in each of the eight wait queues (before 6.2).
    PerQueue,
}

/// `split_insert`: end of the list a split remainder is put at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum SplitInsert {
    /// Behind everything (up to 6.17.y before its fix).
    Tail,
    /// In front of everything (6.18 and later).
    Head,
}

/// `bio_list_model`: the recursion of `submit_bio_noacct`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BioListModel {
    /// The kernel's: what a step pushes goes before the older backlog.
    TwoList,
    /// One list in which a step's pushes queue behind the backlog, as the message of the fix draws it.
    OneList,
}

/// `struct blk_plug` by version (kernel 2.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PlugConfig {
    /// Order of the list.
    pub order: PlugOrder,
    /// The request a new bio is tried against first.
    pub merge: PlugMerge,
    /// BLK_PLUG_FLUSH_SIZE in bytes.
    pub flush_bytes: u32,
    /// BLK_MAX_REQUEST_COUNT
    pub max_rq: u32,
    /// The limit is this many times larger once requests of several queues are in the plug.
    pub multi_factor: u32,
    /// Each step of a submission opens a plug unless its task has one (6.10 and later).
    pub per_step: bool,
}

impl Default for PlugConfig {
    /// Linux 7.1.
    fn default() -> Self {
        Self {
            order: PlugOrder::Fifo,
            merge: PlugMerge::Newest,
            flush_bytes: 128 << 10,
            max_rq: 32,
            multi_factor: 2,
            per_step: true,
        }
    }
}

/// `plug_order`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PlugOrder {
    /// Oldest request first (6.13 and later).
    Fifo,
    /// Newest request first.
    Lifo,
}

/// `plug_merge`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PlugMerge {
    /// The newest request.
    Newest,
    /// The head of the list, whatever its order: 6.13 to 6.15 turned the list round and kept looking at its head.
    Head,
}

/// `zone_ordering` of decisions: what serialises writes of a zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ZoneOrdering {
    /// Zone write plugs (6.10 and later); with `zoned_qd1_writes` the per-disk worker (7.1).
    #[default]
    Zwplug,
    /// A lock a zone in mq-deadline: one write of a zone at the device (before 6.10; kernel 4.3). Without mq-deadline it
    /// orders nothing.
    ZoneLock,
    /// Nobody, and the driver asks for misaligned writes again (kernel 7.4; never merged). null_blk only.
    Pipelined,
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
    /// One step of a submission: a bio through a bio-based device or, where there is none, a piece that is split off;
    /// 0 = all steps at one moment.
    pub step_ns: SimDuration,
    /// From waking a thread of md, dm or blk-throttle to it running.
    pub md_wake_ns: SimDuration,
    /// raid5d: for each member bio.
    pub md_bio_ns: SimDuration,
    /// raid5d: added for each member bio that becomes a request of its own.
    pub md_rq_ns: SimDuration,
    /// Sync thread: for each stripe or block it hands on.
    pub md_sync_ns: SimDuration,
    /// From waking a task that waits for a tag to it running.
    pub wake_ns: SimDuration,
    /// Added to `wake_ns`: uniform in 0 to this.
    pub wake_spread_ns: SimDuration,
    /// From one CPU to the next with a cache line of a tag map: an atomic operation on it takes so long while others are
    /// at it, one after the other; 0 = none.
    pub tag_line_ns: SimDuration,
    /// From queueing the work that runs a hardware queue to it running (kblockd).
    pub kblockd_ns: SimDuration,
    /// From a completion on another CPU to its softirq on the submitter's (rq_affinity).
    pub ipi_ns: SimDuration,
    /// For each request that a run of a hardware queue takes from a scheduler or from hctx->dispatch: insertion, merge
    /// lookup and dispatch. A hardware queue runs one at a time; 0 = a run takes no time.
    pub dispatch_ns: SimDuration,
    /// Length of a jiffy, for `io_ticks=start`.
    pub jiffy_ns: SimDuration,
    /// An RCU grace period: what a freeze takes at least, and a quiesce.
    pub rcu_ns: SimDuration,
}

impl Default for HostCosts {
    fn default() -> Self {
        Self {
            submit_ns: 40_000,
            issue_ns: 30_000,
            lock_wake_ns: 50_000,
            worker_wake_ns: 30_000,
            nr_cpus: 8,
            step_ns: 0,
            md_wake_ns: 0,
            md_bio_ns: 0,
            md_rq_ns: 0,
            md_sync_ns: 0,
            wake_ns: 5_000,
            wake_spread_ns: 0,
            tag_line_ns: 0,
            kblockd_ns: 0,
            ipi_ns: 0,
            dispatch_ns: 0,
            jiffy_ns: 4_000_000,
            rcu_ns: 0,
        }
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
    /// What its I/O comes to.
    pub kind: DeviceKind,
    /// io.max of the submitting cgroup on this device.
    pub throttle: Option<ThrottleConfig>,
}

impl DeviceConfig {
    /// The disk, where it is one.
    pub fn disk(&self) -> Option<&DriveConfig> {
        match &self.kind {
            DeviceKind::Disk(d) => Some(d),
            _ => None,
        }
    }
    /// The disk to change, where it is one.
    pub fn disk_mut(&mut self) -> Option<&mut DriveConfig> {
        match &mut self.kind {
            DeviceKind::Disk(d) => Some(d),
            _ => None,
        }
    }
    /// Devices below a stacked one, in the order of their roles.
    pub fn members(&self) -> &[DevIdx] {
        match &self.kind {
            DeviceKind::Md(m) => &m.members,
            DeviceKind::Dm(m) => &m.members,
            DeviceKind::Disk(_) | DeviceKind::Capped(_) | DeviceKind::NullBlk(_) | DeviceKind::Flash(_) => &[],
        }
    }
    /// The zones of a zoned device; `None` where it is not zoned.
    pub fn zones(&self) -> Option<ZoneShape> {
        match &self.kind {
            DeviceKind::Disk(d) => d.profile.zoned.then(|| ZoneShape::of_profile(&d.profile)),
            DeviceKind::NullBlk(n) => n.zones.as_ref().map(|z| z.shape.enforceable()),
            DeviceKind::Flash(f) => f.zones.as_ref().map(|z| z.shape.enforceable()),
            DeviceKind::Capped(_) | DeviceKind::Md(_) | DeviceKind::Dm(_) => None,
        }
    }
    /// Whether the medium turns (BLK_FEAT_ROTATIONAL).
    pub fn rotational(&self) -> bool {
        match &self.kind {
            DeviceKind::Disk(_) => true,
            DeviceKind::NullBlk(n) => n.rotational,
            _ => false,
        }
    }
}

/// What the block layer knows of a device's zones (kernel 5.1, 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ZoneShape {
    /// Sectors of a zone: chunk_sectors, a power of two.
    pub zone_sectors: Sector,
    /// Writable sectors of a zone.
    pub capacity: Sector,
    /// Zones, conventional ones included.
    pub nr_zones: u32,
    /// Conventional zones at the start.
    pub nr_conv: u32,
    /// Open zones allowed (0 = no limit).
    pub max_open: u32,
    /// Open and closed zones allowed (0 = no limit).
    pub max_active: u32,
    /// Largest native zone append, sectors (0 = the block layer emulates it).
    pub append_max_sectors: u32,
}

impl ZoneShape {
    /// Of a disk; of one that is not zoned, its bands.
    pub fn of_profile(p: &DriveProfile) -> Self {
        Self {
            zone_sectors: p.zone_sectors,
            capacity: p.zone_capacity_sectors,
            nr_zones: p.nr_zones,
            nr_conv: p.nr_conv_zones,
            max_open: p.max_open_zones,
            max_active: 0,
            append_max_sectors: 0,
        }
    }
    /// With the limits as null_blk publishes them: one that no run of the sequential zones can reach is none, and open
    /// zones are at most the active ones.
    pub fn enforceable(mut self) -> Self {
        let sequential = self.nr_zones - self.nr_conv;
        if self.max_active >= sequential {
            self.max_active = 0;
        }
        if self.max_active > 0 && self.max_open > self.max_active {
            self.max_open = self.max_active;
        } else if self.max_open >= sequential {
            self.max_open = 0;
        }
        self
    }
}

/// Zone write plugs that are guaranteed where the device has no limits (BLK_ZONE_WPLUG_DEFAULT_POOL_SIZE).
const WPLUG_POOL: u32 = 128;

impl ZoneShape {
    /// queue/max_open_zones: with zone write plugs, a device without limits shows how many plugs are guaranteed, where it
    /// has more sequential zones than that (kernel 5.1).
    pub fn advertised_max_open(&self, ordering: ZoneOrdering) -> u32 {
        let limits = self.max_open > 0 || self.max_active > 0;
        let pool = WPLUG_POOL.min(self.nr_zones);
        match ordering {
            ZoneOrdering::Zwplug if !limits && pool < self.nr_zones.saturating_sub(self.nr_conv) => pool,
            _ => self.max_open,
        }
    }
}

/// Zones of a device without a head, and what state they start in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ZonesConfig {
    /// See [`ZoneShape`].
    pub shape: ZoneShape,
    /// All sequential zones start full (zone_full).
    pub full: bool,
    /// Zones that are read-only from the start (zone_readonly).
    pub readonly: Vec<u32>,
    /// Zones that are offline from the start (zone_offline).
    pub offline: Vec<u32>,
}

/// What a block device is.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DeviceKind {
    /// A hard disk, shingled or conventional.
    Disk(DriveConfig),
    /// A device known by its limits only.
    Capped(CappedConfig),
    /// null_blk: no medium.
    NullBlk(NullBlkConfig),
    /// Flash: channels and dies.
    Flash(FlashConfig),
    /// md, bio-based.
    Md(MdConfig),
    /// A device-mapper target, bio-based.
    Dm(DmConfig),
}

/// A device that serves commands at its limits and answers after a fixed latency.
///
/// A command occupies one of `channels` for the longer of 1/`iops` and its bytes at `rate`; it completes `latency_ns`
/// later. Both limits are those of one channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CappedConfig {
    /// Sectors.
    pub capacity: Sector,
    /// Commands a second (0 = no limit).
    pub iops: u64,
    /// Bytes a second (0 = no limit).
    pub rate: u64,
    /// ns
    pub latency_ns: SimDuration,
    /// Commands served side by side (at least 1).
    pub channels: u32,
}

impl Default for CappedConfig {
    /// A disk of 2 TiB without limits.
    fn default() -> Self {
        Self { capacity: 1 << 32, iops: 0, rate: 0, latency_ns: 0, channels: 1 }
    }
}

/// null_blk (kernel 7): submit_queues is the queue's `nr_hw_queues`, hw_queue_depth its `queue_depth`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NullBlkConfig {
    /// Sectors.
    pub capacity: Sector,
    /// irqmode
    pub irqmode: NullIrq,
    /// completion_nsec: with [`NullIrq::Timer`], from D to C, ns.
    pub completion_ns: SimDuration,
    /// memory_backed: the driver may block, so a worker runs its hardware queues (BLK_MQ_F_BLOCKING).
    pub memory_backed: bool,
    /// mbps: MiB a second, refilled 50 times a second; 0 = no limit.
    pub mbps: u32,
    /// rotational: a flag only.
    pub rotational: bool,
    /// zoned and the zone_ attributes.
    pub zones: Option<ZonesConfig>,
    /// With [`ZoneOrdering::Pipelined`]: a misaligned write that may be tried again is completed with EBUSY, as the code
    /// was posted, instead of being given back to the block layer (kernel 7.4).
    pub as_posted: bool,
}

impl Default for NullBlkConfig {
    /// 250 GiB, softirq.
    fn default() -> Self {
        Self {
            capacity: 250 << 21,
            irqmode: NullIrq::Softirq,
            completion_ns: 10_000,
            memory_backed: false,
            mbps: 0,
            rotational: false,
            zones: None,
            as_posted: false,
        }
    }
}

/// A flash device: each page lives on one die, each channel moves one page at a time. Latencies are fixed.
///
/// A write is acknowledged when its pages are programmed (or at once from `cache_pages` of protected memory), a read when
/// its last page has crossed the channel. Pages lie over channels first, then dies; those of a zone over all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlashConfig {
    /// Sectors.
    pub capacity: Sector,
    /// Channels.
    pub channels: u32,
    /// Dies on each channel.
    pub dies: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Time a die reads a page, ns.
    pub read_ns: SimDuration,
    /// Time a die programs a page, ns.
    pub program_ns: SimDuration,
    /// Time of a zone reset: its blocks are erased side by side, ns.
    pub erase_ns: SimDuration,
    /// Bytes a second of one channel.
    pub channel_rate: u64,
    /// Overhead of each command before anything else, ns.
    pub command_ns: SimDuration,
    /// Pages of protected memory from which writes are acknowledged; 0 = acknowledged when programmed.
    pub cache_pages: u32,
    /// A zoned device's.
    pub zones: Option<ZonesConfig>,
}

/// `irqmode` of null_blk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum NullIrq {
    /// 0: completes inside ->queue_rq.
    None,
    /// 1: completes in a softirq of the submitting CPU.
    Softirq,
    /// 2: a timer each command.
    Timer,
}

/// io.max (kernel 1.4): 0 = no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ThrottleConfig {
    /// Bytes read a second.
    pub rbps: u64,
    /// Bytes written a second.
    pub wbps: u64,
    /// Bios read a second.
    pub riops: u64,
    /// Bios written a second.
    pub wiops: u64,
}

/// An md array (kernel 2, md).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct MdConfig {
    /// Personality.
    pub level: MdLevel,
    /// Members by role.
    pub members: Vec<DevIdx>,
    /// Sectors of a chunk (unused by raid1).
    pub chunk_sectors: u32,
    /// md's own layout number: raid5 and raid6 of kernel 2.3 and md M.9, raid10 near | far << 8 | offset << 16, raid0
    /// 1 original or 2 alternate.
    pub layout: u32,
    /// Where data starts on each member, sectors.
    pub data_offset: Sector,
    /// md/stripe_cache_size
    pub stripe_cache_size: u32,
    /// md/rmw_level
    pub rmw_level: u8,
    /// md/preread_bypass_threshold
    pub preread_bypass_threshold: u32,
    /// md/sync_action
    pub sync: Option<SyncConfig>,
}

/// md personalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MdLevel {
    /// Striping.
    Raid0,
    /// Mirrors.
    Raid1,
    /// One parity.
    Raid5,
    /// Two parities.
    Raid6,
    /// Striped mirrors.
    Raid10,
}

/// A sync thread that runs from the start (md M.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SyncConfig {
    /// sync_speed_min, KiB/s per member.
    pub speed_min: u32,
    /// sync_speed_max, KiB/s per member.
    pub speed_max: u32,
}

/// Device-mapper targets (md M.11).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DmConfig {
    /// What it does.
    pub target: DmTarget,
    /// Devices below.
    pub members: Vec<DevIdx>,
}

/// See [`DmConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DmTarget {
    /// `striped`
    Striped {
        /// Sectors.
        chunk_sectors: u32,
    },
    /// `crypt`
    Crypt {
        /// Largest read, sectors.
        max_read: u32,
        /// Largest write, sectors; on a zoned device the target cuts nothing when this is 0.
        max_write: u32,
        /// Time to encrypt or decrypt one sector, ns.
        sector_ns: SimDuration,
    },
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
    /// Commands the driver may have at the drive (host tags, `queue_depth` of the device), each hardware queue its own.
    pub queue_depth: u32,
    /// nr_hw_queues of the tag set.
    pub nr_hw_queues: u16,
    /// queue/rq_affinity: 0 anywhere, 1 same group, 2 the submitter's CPU.
    pub rq_affinity: u8,
    /// Users of a shared tag set (0: not shared).
    pub shared_users: u16,
    /// All hardware queues share the tags of one (BLK_MQ_F_TAG_HCTX_SHARED: mpi3mr, scsi_debug with host_max_queue).
    pub host_tags: bool,
    /// device/ncq_prio_enable: commands of the realtime class go first in the drive.
    pub ncq_prio: bool,
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
    /// BLK_MQ_F_BLOCKING: hardware queues run in kblockd only.
    pub blocking: bool,
    /// BLK_MQ_F_NO_SCHED_BY_DEFAULT, before 6.14 BLK_MQ_F_NO_SCHED: see [`KernelConfig::no_sched_by_default`].
    pub no_sched: bool,
    /// queue/write_cache as the kernel sees it: "write back" sends flushes and FUA to the device.
    pub write_back: bool,
    /// queue/wbt_lat_usec as written before the run, ns; 0 = off, `None` = as the kernel has it: the device's default
    /// with [`KernelConfig::blk_wbt_mq`] and any scheduler but bfq, else no wbt.
    pub wbt_lat_ns: Option<SimDuration>,
    /// io.cost.qos and io.cost.model of the device.
    pub iocost: Option<IoCostConfig>,
    /// iosched/ attributes of mq-deadline.
    pub mq_deadline: MqDeadlineConfig,
    /// iosched/ attributes of kyber.
    pub kyber: KyberConfig,
    /// iosched/ attributes of bfq.
    pub bfq: BfqConfig,
}

impl Default for QueueConfig {
    /// A 32-deep SATA disk with mq-deadline.
    fn default() -> Self {
        Self {
            elevator: ElevatorKind::MqDeadline,
            nr_requests: 64,
            async_depth: 64,
            queue_depth: 32,
            nr_hw_queues: 1,
            rq_affinity: 1,
            shared_users: 0,
            host_tags: false,
            ncq_prio: false,
            tag_alloc: TagAlloc::RoundRobin,
            max_sectors: 8192,
            max_segments: 168,
            block_bytes: 4096,
            nomerges: 0,
            zoned_qd1_writes: false,
            blocking: false,
            no_sched: false,
            write_back: true,
            wbt_lat_ns: None,
            iocost: None,
            mq_deadline: MqDeadlineConfig::default(),
            kyber: KyberConfig::default(),
            bfq: BfqConfig::default(),
        }
    }
}

/// io.cost.model (user's or the kernel's for hard disks) and io.cost.qos (kernel 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IoCostConfig {
    /// Read, write: bytes a second.
    pub bps: [u64; 2],
    /// Read, write: sequential I/Os of 4 KiB a second.
    pub seq_iops: [u32; 2],
    /// Read, write: random I/Os of 4 KiB a second.
    pub rand_iops: [u32; 2],
    /// rpct, wpct: percentile of latencies that is judged, hundredths of a per cent; 0 = not judged.
    pub pct: [u16; 2],
    /// rlat, wlat: target latency, ns.
    pub lat_ns: [SimDuration; 2],
    /// min: smallest vtime rate, hundredths of a per cent.
    pub min: u32,
    /// max: largest vtime rate, hundredths of a per cent.
    pub max: u32,
}

impl Default for IoCostConfig {
    /// The kernel's for hard disks.
    fn default() -> Self {
        Self {
            bps: [174_019_176, 178_075_866],
            seq_iops: [41_708, 42_705],
            rand_iops: [370, 378],
            pct: [0; 2],
            lat_ns: [250_000_000; 2],
            min: 100,
            max: 1_000_000,
        }
    }
}

/// What a job's cgroup has set for its device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CgroupConfig {
    /// io.latency target, ns; 0 = none.
    pub latency_ns: SimDuration,
    /// io.weight
    pub weight: u16,
}

impl Default for CgroupConfig {
    fn default() -> Self {
        Self { latency_ns: 0, weight: 100 }
    }
}

/// `queue/scheduler`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum ElevatorKind {
    /// No scheduler.
    None,
    /// mq-deadline
    MqDeadline,
    /// kyber
    Kyber,
    /// bfq
    Bfq,
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
    /// A request of a lower class older than this goes before higher classes, ns.
    pub prio_aging_expire_ns: SimDuration,
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
            prio_aging_expire_ns: 10_000_000_000,
            writes_starved: 2,
            fifo_batch: 16,
            front_merges: true,
        }
    }
}

/// kyber's tunables (kernel 4.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct KyberConfig {
    /// read_lat_nsec
    pub read_lat_ns: SimDuration,
    /// write_lat_nsec
    pub write_lat_ns: SimDuration,
}

impl Default for KyberConfig {
    fn default() -> Self {
        Self { read_lat_ns: 2_000_000, write_lat_ns: 10_000_000 }
    }
}

/// bfq's tunables (kernel 4.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BfqConfig {
    /// ns
    pub fifo_expire_sync_ns: SimDuration,
    /// ns
    pub fifo_expire_async_ns: SimDuration,
    /// KiB
    pub back_seek_max_kib: u32,
    /// A backward distance counts this many times.
    pub back_seek_penalty: u32,
    /// How long a sync queue without requests is waited for, ns.
    pub slice_idle_ns: SimDuration,
    /// Largest budget in sectors; 0 = tuned by the peak rate.
    pub max_budget: u32,
    /// Longest time a queue is served, ns.
    pub timeout_sync_ns: SimDuration,
    /// Idle always, one request at a time: exact shares.
    pub strict_guarantees: bool,
    /// Weight-raising of interactive and soft real-time queues.
    pub low_latency: bool,
}

impl Default for BfqConfig {
    fn default() -> Self {
        Self {
            fifo_expire_sync_ns: 125_000_000,
            fifo_expire_async_ns: 250_000_000,
            back_seek_max_kib: 16_384,
            back_seek_penalty: 2,
            slice_idle_ns: 8_000_000,
            max_budget: 0,
            timeout_sync_ns: 125_000_000,
            strict_guarantees: false,
            low_latency: true,
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
    /// All sequential zones full.
    Full,
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
    /// Conventional zones at the start; all of them on a disk that is not zoned, whose zones are only the model's bands.
    pub nr_conv_zones: u32,
    /// BLK_FEAT_ZONED
    pub zoned: bool,
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
    /// Priority of its I/O (fio prio, prioclass).
    pub prio: IoPrio,
    /// Mean contiguous bytes of its pages: decides segments (decisions 18).
    pub bio_segment_bytes: u32,
    /// Starts at, ns.
    pub start_ns: SimTime,
    /// Its cgroup; each job has one of its own.
    pub cgroup: CgroupConfig,
}

/// The kinds of workload.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WorkloadConfig {
    /// fio, asynchronous engine, direct I/O, zonemode=zbd.
    FioZbd(FioZbdConfig),
    /// dd, or fio with zonemode=none.
    Linear(LinearConfig),
    /// Packed writeback of a zoned XFS: one flusher.
    Writeback(WritebackConfig),
    /// A fixed list of bios, for tests and golden vectors.
    List(Vec<ListedBio>),
    /// Something else on the host that asks the drive now and then (identify, SMART).
    PassThrough(PassThroughConfig),
}

/// A pass-through command at regular times, one at once, until all other jobs are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct PassThroughConfig {
    /// From one to the next, or from its end where that is later, ns.
    pub every_ns: SimDuration,
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
    /// iodepth_batch: I/Os submitted under one plug.
    pub batch: u32,
    /// job_max_open_zones (0 = no limit of the job's own).
    pub job_max_open_zones: u32,
    /// ignore_zone_limits: the device's limit of open zones does not bound max_open_zones.
    pub ignore_zone_limits: bool,
    /// read_beyond_wp: reads go where they are drawn, written or not.
    pub read_beyond_wp: bool,
    /// Writes are zone appends, as those of a file system on zones (btrfs); not an option of fio.
    pub append: bool,
    /// Page cache writeback instead of O_DIRECT: in order of pages, by whatever thread flushes. fio itself refuses it on
    /// host-managed devices; dd and cp do not.
    pub buffered: bool,
    /// rwmixread, percent.
    pub rwmixread: u8,
}

impl Default for FioZbdConfig {
    /// One job writing 1 MiB I/Os in order from the first zone on.
    fn default() -> Self {
        Self {
            rw: Rw::Write,
            bs: 2048,
            iodepth: 1,
            first_zone: 0,
            zones: 1,
            max_open_zones: 0,
            io_bytes: None,
            batch: 1,
            job_max_open_zones: 0,
            ignore_zone_limits: false,
            read_beyond_wp: false,
            append: false,
            buffered: false,
            rwmixread: 50,
        }
    }
}

/// I/Os of one size over a range (dd; fio with zonemode=none).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinearConfig {
    /// Who it is: the comm of traces.
    pub tool: Tool,
    /// rw
    pub rw: Rw,
    /// bs in sectors
    pub bs: Sector,
    /// Sectors of an I/O's bios, in order; what is left makes one more. Empty = cut after 256 bvecs.
    pub bios: Vec<u32>,
    /// I/Os in flight.
    pub iodepth: u32,
    /// iodepth_batch: I/Os submitted under one plug; 1 = none unless one I/O is several bios.
    pub batch: u32,
    /// First sector of the range.
    pub first: Sector,
    /// Sectors of the range.
    pub sectors: Sector,
    /// Bytes issued at most; `None` wraps until the run stops.
    pub io_bytes: Option<u64>,
    /// Page cache writeback instead of O_DIRECT: writes are not SYNC, every batch has a plug.
    pub buffered: bool,
    /// REQ_NOWAIT
    pub nowait: bool,
    /// fio's options that shape queueing.
    pub fio: FioOptions,
}

/// fio's options that shape queueing (fio 2.1, 2.4, 2.5); the default is none of them. Pairs are read, write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FioOptions {
    /// iodepth_low: once all slots are taken, I/Os are reaped until this many are left; 0 = iodepth.
    pub low: u32,
    /// iodepth_batch_complete_min: I/Os waited for at a time.
    pub complete_min: u32,
    /// iodepth_batch_complete_max: I/Os reaped at a time, at most; 0 (with `complete_min` 0) reaps after each I/O.
    pub complete_max: u32,
    /// rate, bytes a second; 0 = none.
    pub rate: [u64; 2],
    /// rate_iops where the sizes are split (else it is a rate of bytes), I/Os a second; 0 = none.
    pub rate_iops: [u32; 2],
    /// thinktime, ns.
    pub thinktime_ns: SimDuration,
    /// thinktime_spin, ns: how much of it the job stays on the CPU.
    pub thinktime_spin_ns: SimDuration,
    /// thinktime_blocks: I/Os reaped between two pauses.
    pub thinktime_blocks: u32,
    /// bssplit: sectors and share, percent; none = `bs`.
    pub bssplit: [Vec<(u32, u8)>; 2],
    /// rwmixread, percent.
    pub rwmixread: u8,
    /// random_distribution
    pub distribution: Distribution,
    /// norandommap: draws are free, else each block comes once before any comes again.
    pub norandommap: bool,
    /// cmdprio_percentage
    pub cmdprio_percentage: [u8; 2],
    /// cmdprio_class and cmdprio: what that share of the I/Os has.
    pub cmdprio: IoPrio,
}

impl Default for FioOptions {
    fn default() -> Self {
        Self {
            low: 0,
            complete_min: 1,
            complete_max: 1,
            rate: [0; 2],
            rate_iops: [0; 2],
            thinktime_ns: 0,
            thinktime_spin_ns: 0,
            thinktime_blocks: 1,
            bssplit: [const { Vec::new() }; 2],
            rwmixread: 50,
            distribution: Distribution::Random,
            norandommap: true,
            cmdprio_percentage: [0; 2],
            cmdprio: IoPrio { class: IoClass::Rt, level: 0 },
        }
    }
}

/// fio random_distribution (fio 2.1). All but `Random` imply norandommap. Where the hot blocks lie is scattered by a
/// hash that starts at random; around a `center`, thousandths of the range, they keep their order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Distribution {
    /// All blocks alike.
    Random,
    /// Rank k has a share of k^-theta; theta in thousandths, not 1000.
    Zipf { theta: u32, center: Option<u16> },
    /// Rank (n - 1) u^(ln h / ln(1 - h)); h in thousandths, 0 < h < 1000.
    Pareto { h: u32, center: Option<u16> },
    /// The mean of twelve draws, spread by a deviation in per cent of the range.
    Normal { deviation: u8, center: Option<u16> },
    /// Parts of the range in order, read and write: share of the I/Os, per cent, and size, per cent of the range
    /// (`zoned_abs`: sectors).
    Zoned { absolute: bool, parts: [Vec<(u8, u64)>; 2] },
}

/// Whose name traces print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Tool {
    /// dd
    Dd,
    /// fio
    Fio,
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
    /// Reads and writes mixed, each in order from where it was.
    ReadWrite,
    /// Random reads and writes mixed.
    RandRw,
}

impl Rw {
    /// Reads happen.
    pub fn reads(self) -> bool {
        !matches!(self, Rw::Write | Rw::RandWrite)
    }
    /// Writes happen.
    pub fn writes(self) -> bool {
        !matches!(self, Rw::Read | Rw::RandRead)
    }
    /// The place is drawn.
    pub fn is_random(self) -> bool {
        matches!(self, Rw::RandWrite | Rw::RandRead | Rw::RandRw)
    }
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
    /// REQ_PREFLUSH
    pub preflush: bool,
    /// REQ_FUA
    pub fua: bool,
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
    /// queue/nr_requests with a scheduler: async_depth is scaled with it (kernel 3.3).
    NrRequests(u32),
    /// queue/async_depth
    AsyncDepth(u32),
    /// queue/scheduler
    Scheduler(ElevatorKind),
    /// queue/nomerges
    Nomerges(u8),
    /// queue/max_sectors_kb, in sectors
    MaxSectors(u32),
    /// queue/wbt_lat_usec, ns; `None` = -1, the default of the device.
    WbtLat(Option<SimDuration>),
    /// queue/write_cache: "write back" or "write through".
    WriteCache(bool),
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

/// A wake-up that is lost once (report 11): the race it stands for, made to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct WakeFault {
    /// Whose tags.
    pub dev: DevIdx,
    /// The first occasion from then on, ns.
    pub from: SimTime,
    /// What goes wrong.
    pub kind: WakeFaultKind,
}

/// See [`WakeFault`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum WakeFaultKind {
    /// A waiter is added after the last tag was freed and does not look at the tags again before it sleeps.
    LateWaiter,
    /// A batch of freed tags is spent on a wait queue without waiters.
    EmptyQueue,
}
