//! A block device as it stands: its request queue, what is below it, its counters.
//!
//! Models: `struct request_queue`, `struct gendisk` and the part statistics (kernel 3.1, 10.2).
//! Rule: state only; the pipeline (`super`) branches, the drives, arrays and targets have their own files.
//! Leaves out: several hardware queues.

use super::elevator::AnyElevator;
use super::tag::{Tags, Waiter};
use super::throttle::Throttle;
use super::zone_wplug::ZoneWplugs;
use crate::config::{DeviceConfig, DeviceKind, QueueConfig, SimConfig};
use crate::dm::Dm;
use crate::drive::Drive;
use crate::drive::capped::Capped;
use crate::drive::null_blk::NullBlk;
use crate::fifo::Fifo;
use crate::md::Md;
use crate::observe::snapshot::DiskStats;
use crate::rng::Rng;
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{DevIdx, Op, Sector};

/// `struct request_queue` with its one hardware queue.
#[derive(Clone, Debug)]
pub struct Queue {
    /// Limits and settings.
    pub cfg: QueueConfig,
    /// Sched tags (with a scheduler).
    pub sched_tags: Option<Tags>,
    /// Driver tags.
    pub tags: Tags,
    /// Scheduler.
    pub elevator: AnyElevator,
    /// Zone write plugs.
    pub wplugs: ZoneWplugs,
    /// Asleep for a sched tag (without scheduler: driver tag), longest first.
    pub(super) tag_waiters: Fifo<Waiter>,
    /// Asleep until the queue thaws.
    pub(super) freeze_waiters: Fifo<Waiter>,
    /// q_usage_counter
    pub(super) usage: u32,
    /// A live change waits for q_usage_counter to reach zero: its number and since when.
    pub(super) freezing: Option<(u32, u64)>,
    /// The driver tags were found exhausted (said once).
    pub(super) starved: bool,
    /// The request merges are tried with first.
    pub(super) last_merge: Option<Idx>,
}

/// A device: queue above, drive below.
#[derive(Clone, Debug)]
pub struct Device {
    /// The blk-mq queue; `None` for bio-based devices.
    pub queue: Option<Queue>,
    /// What its I/O comes to.
    pub media: Media,
    /// blk-throttle of the submitting cgroup.
    pub throttle: Option<Throttle>,
    /// Counters of /sys/block/X/stat.
    pub stats: DiskStats,
    /// The counters when the measured window opened, and when it closed.
    pub window: (DiskStats, Option<DiskStats>),
}

impl Device {
    /// As at the start of a run.
    pub fn new(dev: DevIdx, cfg: &SimConfig) -> Self {
        let c = &cfg.devices[usize::from(dev)];
        Self {
            queue: c.queue.map(|q| Queue::new(q, cfg.host.nr_cpus, Rng::stream(cfg.seed, "tags", u64::from(dev)))),
            media: Media::new(dev, cfg),
            throttle: c.throttle.map(Throttle::new),
            stats: DiskStats::default(),
            window: Default::default(),
        }
    }
    /// An I/O begins to count (`bdev_start_io_acct`, `blk_account_io_start`).
    pub(crate) fn account_start(&mut self, now: SimTime) {
        let s = &mut self.stats;
        if s.in_flight > 0 {
            s.io_ticks_ns += now - s.since;
        }
        s.since = now;
        s.in_flight += 1;
    }
    /// It no longer counts: merged away, or done.
    pub(crate) fn account_stop(&mut self, now: SimTime) {
        let s = &mut self.stats;
        s.io_ticks_ns += now - s.since;
        s.since = now;
        s.in_flight -= 1;
    }
    /// An I/O that began at `start` is done.
    pub(crate) fn account_done(&mut self, now: SimTime, op: Op, nr_sectors: u32, start: SimTime) {
        self.account_stop(now);
        let dir = usize::from(op != Op::Read);
        self.stats.ios[dir] += 1;
        self.stats.sectors[dir] += u64::from(nr_sectors);
        self.stats.ns[dir] += now - start;
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let throttle = self.throttle.as_ref().map_or(0, Throttle::heap_bytes);
        self.media.heap_bytes() + self.queue.as_ref().map_or(0, Queue::heap_bytes) + throttle
    }
}

/// What is below a device's queue.
#[derive(Clone, Debug)]
pub enum Media {
    /// A hard disk.
    Disk(Drive),
    /// A device known by its limits.
    Capped(Capped),
    /// null_blk.
    NullBlk(NullBlk),
    /// An array.
    Md(Md),
    /// A device-mapper target.
    Dm(Dm),
}

impl Media {
    /// As at the start of a run.
    pub fn new(dev: DevIdx, cfg: &SimConfig) -> Self {
        match &cfg.devices[usize::from(dev)].kind {
            DeviceKind::Disk(d) => Media::Disk(Drive::new(dev, d, cfg.seed)),
            DeviceKind::Capped(c) => Media::Capped(Capped::new(dev, *c)),
            DeviceKind::NullBlk(n) => Media::NullBlk(NullBlk::new(dev, *n)),
            DeviceKind::Md(m) => Media::Md(Md::new(cfg, m)),
            DeviceKind::Dm(d) => Media::Dm(Dm::new(cfg, d)),
        }
    }
    /// The disk, where it is one.
    pub fn disk(&self) -> Option<&Drive> {
        if let Media::Disk(d) = self { Some(d) } else { None }
    }
    /// The disk to change, where it is one.
    pub fn disk_mut(&mut self) -> Option<&mut Drive> {
        if let Media::Disk(d) = self { Some(d) } else { None }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Media::Disk(d) => d.heap_bytes(),
            Media::Capped(c) => c.heap_bytes(),
            Media::NullBlk(_) => 0,
            Media::Md(m) => m.heap_bytes(),
            Media::Dm(d) => d.heap_bytes(),
        }
    }
}

impl Queue {
    /// A queue as after registration.
    pub fn new(cfg: QueueConfig, nr_cpus: u16, rng: Rng) -> Self {
        let elevator = AnyElevator::new(&cfg, nr_cpus);
        let with_sched = elevator.has_sched_tags();
        let driver_depth = if with_sched { cfg.queue_depth } else { cfg.queue_depth.min(cfg.nr_requests) };
        let mut wplugs = ZoneWplugs::default();
        wplugs.worker.enabled = cfg.zoned_qd1_writes;
        Self {
            cfg,
            sched_tags: with_sched.then(|| Tags::new(cfg.nr_requests, crate::config::TagAlloc::Hint, nr_cpus, rng)),
            tags: Tags::new(driver_depth, cfg.tag_alloc, nr_cpus, rng),
            elevator,
            wplugs,
            tag_waiters: Fifo::new(),
            freeze_waiters: Fifo::new(),
            usage: 0,
            freezing: None,
            starved: false,
            last_merge: None,
        }
    }
    /// Tasks asleep for a tag.
    pub fn nr_tag_waiters(&self) -> u32 {
        self.tag_waiters.len() as u32
    }
    /// A live change has frozen the queue.
    pub fn frozen(&self) -> bool {
        self.freezing.is_some()
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.wplugs.heap_bytes() + self.tags.heap_bytes() + self.sched_tags.as_ref().map_or(0, Tags::heap_bytes) + 512
    }
}

/// Sectors of a disk or a capped device.
pub(crate) fn own_capacity(cfg: &DeviceConfig) -> Sector {
    match &cfg.kind {
        DeviceKind::Disk(d) => u64::from(d.profile.nr_zones) * d.profile.zone_sectors,
        DeviceKind::Capped(c) => c.capacity,
        DeviceKind::NullBlk(c) => c.capacity,
        DeviceKind::Md(_) | DeviceKind::Dm(_) => 0,
    }
}
