//! A block device as it stands: its request queue, what is below it, its counters.
//!
//! Models: `struct request_queue`, `struct gendisk` and the part statistics (kernel 3.1, 10.2).
//! Rule: state only; the pipeline (`super`) branches, the drives, arrays and targets have their own files.
//! Leaves out: queues by kind (read, poll).

use alloc::vec::Vec;

use super::elevator::AnyElevator;
use super::flush::FlushQueue;
use super::hctx::{AtDevice, Hctx};
use super::live::{Live, WbtSetting};
use super::qos::QueueQos;
use super::tag::{Tags, Waiter};
use super::throttle::Throttle;
use super::zone_wplug::ZoneWplugs;
use crate::config::{AsyncDepthOwner, DeviceConfig, DeviceKind, IoTicks, QueueConfig, SimConfig, TagAlloc, ZoneShape};
use crate::dm::Dm;
use crate::drive::Drive;
use crate::drive::capped::Capped;
use crate::drive::flash::Flash;
use crate::drive::null_blk::NullBlk;
use crate::drive::zone::Zones;
use crate::fifo::Fifo;
use crate::md::Md;
use crate::observe::snapshot::{DiskStats, StallView};
use crate::rng::Rng;
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{DevIdx, Op, Sector, ZoneNo};

/// Smallest queue/nr_requests.
pub(super) const BLKDEV_MIN_RQ: u32 = 4;
/// Largest with a scheduler.
pub(super) const MAX_SCHED_RQ: u32 = 2048;

/// `struct request_queue`
#[derive(Clone, Debug)]
pub struct Queue {
    /// Limits and settings.
    pub cfg: QueueConfig,
    /// Its driver is SCSI's (an ATA disk).
    pub(super) scsi: bool,
    /// Hardware queues, at least one.
    pub hctxs: Vec<Hctx>,
    /// Scheduler.
    pub elevator: AnyElevator,
    /// When the scheduler's timer event comes.
    pub(super) timer_at: Option<SimTime>,
    /// Zone write plugs.
    pub wplugs: ZoneWplugs,
    /// What driver and device have.
    pub at_device: AtDevice,
    /// Flush machinery.
    pub(super) flush: FlushQueue,
    /// wbt, where the queue has it.
    pub(super) wbt: Option<WbtSetting>,
    /// q.rq_qos
    pub qos: QueueQos,
    /// Asleep until the queue thaws.
    pub(super) freeze_waiters: Fifo<Waiter>,
    /// q_usage_counter
    pub(super) usage: u32,
    /// mq_freeze_depth
    pub(super) freeze_depth: u32,
    /// BLK_MQ_S_STOPPED of all hardware queues: null_blk has used up its budget.
    pub(super) stopped: bool,
    /// The driver tags were found exhausted (said once).
    pub(super) starved: bool,
    /// The request merges are tried with first.
    pub(super) last_merge: Option<Idx>,
    /// How much later than `wake_ns` woken tasks run.
    pub(super) wake_rng: Rng,
    /// Found stalled.
    pub stall: Option<StallView>,
    /// Suspected to be stalled, ns.
    pub(super) stuck_since: Option<SimTime>,
    /// Injected fault: a waiter that is about to lie down, too late.
    pub(super) late: Option<(u16, u8, Waiter)>,
    /// Lists used while requests are handed over and tasks are woken, kept for their memory.
    pub(super) scratch: Fifo<Idx>,
    pub(super) woken: Vec<(u8, Waiter)>,
    /// Woken and not running yet, or looking for a tag.
    pub(super) awake: Vec<super::wait::Awake>,
}

/// A device: queue above, drive below.
#[derive(Clone, Debug)]
pub struct Device {
    /// The blk-mq queue; `None` for bio-based devices.
    pub queue: Option<Queue>,
    /// What its I/O comes to.
    pub media: Media,
    /// Its zones; of a disk that is not zoned, the model's bands.
    pub shape: Option<ZoneShape>,
    /// BLK_FEAT_ZONED
    pub zoned: bool,
    /// blk-throttle of the submitting cgroup.
    pub throttle: Option<Throttle>,
    /// Attributes written while I/O runs.
    pub live: Live,
    /// Counters of /sys/block/X/stat.
    pub stats: DiskStats,
    /// The counters when the measured window opened, and when it closed.
    pub window: (DiskStats, Option<DiskStats>),
}

impl Device {
    /// As at the start of a run.
    pub fn new(dev: DevIdx, cfg: &SimConfig) -> Self {
        let c = &cfg.devices[usize::from(dev)];
        let jiffy_ns = if cfg.kernel.io_ticks == IoTicks::Start { cfg.host.jiffy_ns } else { 0 };
        Self {
            queue: c.queue.map(|q| Queue::new(q, dev, cfg)),
            media: Media::new(dev, cfg),
            shape: c.disk().map(|d| ZoneShape::of_profile(&d.profile)).or_else(|| c.zones()),
            zoned: c.zones().is_some(),
            throttle: c.throttle.map(Throttle::new),
            live: Live::default(),
            stats: DiskStats { jiffy_ns, ..DiskStats::default() },
            window: Default::default(),
        }
    }
    /// An I/O begins to count (`bdev_start_io_acct`, `blk_account_io_start`).
    pub(crate) fn account_start(&mut self, now: SimTime) {
        self.stats.update_io_ticks(now, false);
        self.stats.in_flight += 1;
    }
    /// It is part of another one now, which goes on counting.
    pub(crate) fn account_merged(&mut self) {
        self.stats.in_flight -= 1;
    }
    /// An I/O that began at `start` is done.
    pub(crate) fn account_done(&mut self, now: SimTime, op: Op, nr_sectors: u32, start: SimTime) {
        let s = &mut self.stats;
        s.update_io_ticks(now, true);
        s.in_flight -= 1;
        let dir = usize::from(op != Op::Read);
        s.ios[dir] += 1;
        s.sectors[dir] += u64::from(nr_sectors);
        s.ns[dir] += now - start;
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let throttle = self.throttle.as_ref().map_or(0, Throttle::heap_bytes);
        self.media.heap_bytes() + self.queue.as_ref().map_or(0, Queue::heap_bytes) + throttle + self.live.heap_bytes()
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
    /// Flash.
    Flash(Flash),
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
            DeviceKind::NullBlk(n) => Media::NullBlk(NullBlk::new(dev, n)),
            DeviceKind::Flash(f) => Media::Flash(Flash::new(dev, f)),
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
    /// Its zones, where it keeps any (a disk that is not zoned keeps bands).
    pub fn zones(&self) -> Option<&Zones> {
        match self {
            Media::Disk(d) => Some(d.zones()),
            Media::NullBlk(n) => n.zones(),
            Media::Flash(f) => f.zones(),
            Media::Capped(_) | Media::Md(_) | Media::Dm(_) => None,
        }
    }
    /// A zone is used from now on.
    pub fn touch(&mut self, zone: ZoneNo) {
        match self {
            Media::Disk(d) => d.touch(zone),
            Media::NullBlk(n) => {
                n.zones_mut().map(|z| z.touch(zone));
            }
            Media::Flash(f) => {
                f.zones_mut().map(|z| z.touch(zone));
            }
            Media::Capped(_) | Media::Md(_) | Media::Dm(_) => {}
        }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        match self {
            Media::Disk(d) => d.heap_bytes(),
            Media::Capped(c) => c.heap_bytes(),
            Media::NullBlk(n) => n.heap_bytes(),
            Media::Flash(f) => f.heap_bytes(),
            Media::Md(m) => m.heap_bytes(),
            Media::Dm(d) => d.heap_bytes(),
        }
    }
}

impl Queue {
    /// A queue as after registration.
    pub fn new(cfg: QueueConfig, dev: DevIdx, sim: &SimConfig) -> Self {
        let nr_cpus = sim.host.nr_cpus;
        let elevator = AnyElevator::of_device(&cfg, dev, sim);
        let with_sched = elevator.has_sched_tags();
        let driver_depth = if with_sched { cfg.queue_depth } else { cfg.queue_depth.min(cfg.nr_requests) };
        let mut wplugs = ZoneWplugs::default();
        wplugs.worker.enabled = cfg.zoned_qd1_writes;
        let slow = cfg.blocking || sim.host.dispatch_ns > 0;
        let mut sched = with_sched.then(|| alloc_sched_tags(&cfg, dev, sim, cfg.nr_requests).into_iter());
        let hctxs = (0..cfg.nr_hw_queues.max(1)).map(|h| {
            let tags = Tags::new(driver_depth, cfg.tag_alloc, nr_cpus, tags_rng(sim, dev, h));
            Hctx::new(tags, sched.as_mut().and_then(Iterator::next), slow)
        });
        let mut q = Self {
            cfg,
            scsi: sim.devices[usize::from(dev)].disk().is_some(),
            hctxs: hctxs.collect(),
            elevator,
            timer_at: None,
            wplugs,
            at_device: AtDevice::default(),
            flush: FlushQueue::default(),
            wbt: WbtSetting::at_start(&cfg, dev, sim),
            qos: QueueQos::default(),
            freeze_waiters: Fifo::new(),
            usage: 0,
            freeze_depth: 0,
            stopped: false,
            starved: false,
            last_merge: None,
            wake_rng: Rng::stream(sim.seed, "wake", u64::from(dev)),
            stall: None,
            stuck_since: None,
            late: None,
            scratch: Fifo::new(),
            woken: Vec::new(),
            awake: Vec::new(),
        };
        q.set_tag_models(sim);
        let facts = q.qos_facts(sim.devices[usize::from(dev)].rotational());
        q.qos = QueueQos::new(&cfg, q.wbt, facts, dev, sim);
        q
    }
    /// `blk_mq_update_nr_requests`: sched tags, or without scheduler the driver tags; async_depth follows in proportion
    /// (kernel 3.3).
    pub(super) fn set_nr_requests(&mut self, nr: u32, owner: AsyncDepthOwner) {
        let old = u64::from(self.cfg.nr_requests.max(1));
        let scaled = u64::from(self.cfg.async_depth) * u64::from(nr) / old;
        self.cfg.async_depth = match owner {
            AsyncDepthOwner::Queue => scaled.max(1) as u32,
            // The elevator's attribute goes back to its default.
            AsyncDepthOwner::Elevator => nr,
            AsyncDepthOwner::Elevator517 => (3 * nr / 4).max(1),
        };
        self.cfg.nr_requests = nr;
        for hctx in &mut self.hctxs {
            hctx.sched_tags.as_mut().unwrap_or(&mut hctx.tags).resize(nr);
        }
        self.elevator.depth_updated(nr, self.cfg.async_depth);
        self.tell_min_shallow(owner);
    }
    /// queue/async_depth, or the elevator's attribute of older kernels.
    pub(super) fn set_async_depth(&mut self, depth: u32, owner: AsyncDepthOwner) {
        self.cfg.async_depth = depth.clamp(1, self.cfg.nr_requests);
        self.elevator.depth_updated(self.cfg.nr_requests, self.cfg.async_depth);
        self.tell_min_shallow(owner);
    }
    /// mq_freeze_depth
    pub fn freeze_depth(&self) -> u32 {
        self.freeze_depth
    }
    /// q_usage_counter
    pub fn usage(&self) -> u32 {
        self.usage
    }
    /// Bios whose tasks wait for the thaw, in their order.
    pub fn freeze_waiters(&self) -> impl Iterator<Item = Idx> {
        self.freeze_waiters.iter().map(|w| w.bio)
    }
    /// Nobody may enter.
    pub fn frozen(&self) -> bool {
        self.freeze_depth > 0
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let hctxs: usize = self.hctxs.iter().map(|h| size_of::<Hctx>() + h.heap_bytes()).sum();
        self.wplugs.heap_bytes() + self.elevator.heap_bytes() + self.qos.heap_bytes() + hctxs + 512
    }
}

/// `blk_mq_alloc_sched_tags`: `nr` for each hardware queue.
pub(super) fn alloc_sched_tags(cfg: &QueueConfig, dev: DevIdx, sim: &SimConfig, nr: u32) -> Vec<Tags> {
    // Those of a shared tag set have room for MAX_SCHED_RQ.
    let room = if cfg.shared_users > 0 { MAX_SCHED_RQ } else { nr };
    let tags = |h| Tags::with_room(nr, room, TagAlloc::Hint, sim.host.nr_cpus, tags_rng(sim, dev, h));
    (0..cfg.nr_hw_queues.max(1)).map(tags).collect()
}

/// Places the CPUs' first hints in the tags of a hardware queue.
fn tags_rng(sim: &SimConfig, dev: DevIdx, h: u16) -> Rng {
    Rng::stream(sim.seed, "tags", u64::from(dev) | u64::from(h) << 16)
}

/// Sectors of a disk or a capped device.
pub(crate) fn own_capacity(cfg: &DeviceConfig) -> Sector {
    match &cfg.kind {
        DeviceKind::Disk(d) => u64::from(d.profile.nr_zones) * d.profile.zone_sectors,
        DeviceKind::Capped(c) => c.capacity,
        DeviceKind::NullBlk(c) => c.capacity,
        DeviceKind::Flash(c) => c.capacity,
        DeviceKind::Md(_) | DeviceKind::Dm(_) => 0,
    }
}
