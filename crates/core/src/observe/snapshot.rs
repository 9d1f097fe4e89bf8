//! A plain copy of what is where, for pictures and tests.
//!
//! Models: the views debugfs and sysfs give (tags, sched, zone_wplugs), plus the drive's inside.
//! Rule: no reference into the simulator; taking one changes nothing.
//! Leaves out: history; `bioscope-session` keeps the trace.

use alloc::string::String;
use alloc::vec::Vec;

use crate::observe::stats::Stats;
use crate::observe::why::WhyRecord;
use crate::time::{SimDuration, SimTime};
use crate::units::{BioId, DevIdx, IoPrio, JobIdx, Op, RqId, Sector, Tag, ZoneNo};

/// The whole simulator at one moment.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Snapshot {
    /// Now, ns.
    pub now: SimTime,
    /// Engine events so far.
    pub events: u64,
    /// Nothing is left to happen.
    pub done: bool,
    /// One view a job.
    pub jobs: Vec<JobView>,
    /// One view a task that submits: jobs first, then the threads of md, dm and blk-throttle.
    pub tasks: Vec<TaskView>,
    /// One view a device.
    pub devices: Vec<DeviceView>,
    /// Figures so far.
    pub stats: Stats,
    /// The most recent reasons, oldest first (at most [`MAX_WHY`]).
    pub why: Vec<WhyRecord>,
}

/// Reasons kept.
pub const MAX_WHY: usize = 48;

/// A bio and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BioView {
    /// Allocation number.
    pub id: BioId,
    /// The bio it was split from, itself if none.
    pub parent: BioId,
    /// Job.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Zone of its start.
    pub zone: ZoneNo,
    /// Device it is for.
    pub dev: DevIdx,
    /// Where its data is on the device the workload submitted to; `NO_ORIGIN` for parity.
    pub origin: Sector,
    /// When it was queued (Q), ns.
    pub q_time: SimTime,
    /// Where it is.
    pub stage: BioStage,
}

/// Where a bio is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BioStage {
    /// Waits in a zone write plug.
    ZonePlug,
    /// Waits for a sched tag (or driver tag without scheduler).
    Tag,
    /// In a request in the scheduler, a ctx list or the dispatch list.
    Elevator,
    /// At the drive (D to C).
    Drive,
}

/// A task that submits.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// Name.
    pub name: String,
    /// What it does now.
    pub state: JobState,
    /// Depth (0 where the workload has none).
    pub iodepth: u32,
    /// Bios submitted and not completed, in order of submission (split parts are not listed apart).
    pub in_flight: Vec<BioView>,
    /// Zone locks held: (zone, count) (fio).
    pub locks: Vec<(ZoneNo, u32)>,
    /// Bytes in flight.
    pub bytes_in_flight: u64,
}

/// A task inside `submit_bio`: what of `current` matters.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TaskView {
    /// `dd`, `fio`, `md0_raid5`, `kthrotld`.
    pub name: String,
    /// Submission steps taken since `current->bio_list` was last empty; 0 = not submitting.
    pub step: u32,
    /// The bio of this step as it was before it was split.
    pub current: Option<BioView>,
    /// `current->bio_list[0]`: what this step pushed, in the order the next step takes it (lower devices first).
    pub pushed: Vec<BioView>,
    /// `current->bio_list[1]`: the older backlog that was set aside.
    pub backlog: Vec<BioView>,
    /// `current->plug`, where the task has one.
    pub plug: Option<PlugView>,
}

/// `struct blk_plug`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct PlugView {
    /// mq_list in its own order.
    pub requests: Vec<RequestView>,
    /// multiple_queues
    pub multiple_queues: bool,
    /// Requests it may hold before it is flushed.
    pub limit: u32,
    /// Stripes on the md callback's list.
    pub stripes: u32,
}

/// Counters of /sys/block/X/stat; index 0 reads, 1 writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DiskStats {
    /// Completed I/Os.
    pub ios: [u64; 2],
    /// Bios and requests merged.
    pub merges: [u64; 2],
    /// Sectors of completed I/Os.
    pub sectors: [u64; 2],
    /// From G (md: from accounting) to completion, summed, ns.
    pub ns: [u64; 2],
    /// In flight now.
    pub in_flight: u32,
    /// Time with anything in flight, ns, up to the last change; with `jiffy_ns`, whole jiffies as starts and ends count
    /// them.
    pub io_ticks_ns: u64,
    /// Last change of `in_flight`, ns; with `jiffy_ns`, when the jiffy of the last start or end began (bd_stamp).
    pub since: SimTime,
    /// Length of a jiffy where io_ticks counts starts and ends (5.0 to 6.9); 0 where it counts time in flight.
    pub jiffy_ns: SimDuration,
}

impl DiskStats {
    /// The same with the time in flight counted up to `now`; where jiffies are counted reading adds none (before 5.18).
    pub fn up_to(mut self, now: SimTime) -> Self {
        if self.jiffy_ns == 0 {
            self.update_io_ticks(now, false);
        }
        self
    }
    /// `update_io_ticks`, before `in_flight` changes: an I/O starts, or ends.
    pub(crate) fn update_io_ticks(&mut self, now: SimTime, end: bool) {
        if self.jiffy_ns == 0 {
            if self.in_flight > 0 {
                self.io_ticks_ns += now.saturating_sub(self.since);
            }
            self.since = now;
            return;
        }
        let jiffy = now - now % self.jiffy_ns;
        if jiffy != self.since {
            self.io_ticks_ns += if end { jiffy - self.since } else { self.jiffy_ns };
            self.since = jiffy;
        }
    }
    /// What was added since an earlier moment.
    pub fn since(mut self, earlier: &DiskStats) -> Self {
        for dir in 0..2 {
            self.ios[dir] -= earlier.ios[dir];
            self.merges[dir] -= earlier.merges[dir];
            self.sectors[dir] -= earlier.sectors[dir];
            self.ns[dir] -= earlier.ns[dir];
        }
        self.io_ticks_ns -= earlier.io_ticks_ns;
        self
    }
}

/// The stripe cache of raid5 and raid6.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StripeCacheView {
    /// md/stripe_cache_size
    pub size: u32,
    /// md/stripe_cache_active
    pub active: u32,
    /// Stripes on handle_list, delayed_list and hold_list.
    pub lists: [u32; 3],
    /// Stripes in use by member sector, at most [`MAX_STRIPES`].
    pub stripes: Vec<StripeView>,
}

/// Stripes shown.
pub const MAX_STRIPES: usize = 64;

/// One stripe_head.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct StripeView {
    /// Member sector without data_offset.
    pub sector: Sector,
    /// Per role: bits of [`sflag`].
    pub flags: Vec<u8>,
    /// Waits for PREREAD_ACTIVE.
    pub delayed: bool,
    /// Member of another stripe's batch.
    pub batched: bool,
}

/// State of one member's page in a stripe.
pub mod sflag {
    /// R5_UPTODATE
    pub const UPTODATE: u8 = 1;
    /// R5_LOCKED: I/O or computation under way.
    pub const LOCKED: u8 = 2;
    /// R5_OVERWRITE: fully covered by new data.
    pub const OVERWRITE: u8 = 4;
    /// New data attached.
    pub const TOWRITE: u8 = 8;
    /// Being read.
    pub const READING: u8 = 16;
    /// Being written.
    pub const WRITING: u8 = 32;
    /// Holds parity (p or q).
    pub const PARITY: u8 = 64;
}

/// State of a job in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// Not started.
    Starting,
    /// Submits.
    Running,
    /// At its depth or limit: waits for a completion.
    WaitCompletion,
    /// Drains its own I/O before it may block on this zone.
    Quiescing { zone: ZoneNo },
    /// Waits for the zone lock held by `owner`.
    WaitLock { zone: ZoneNo, owner: JobIdx },
    /// Waits for its zone reset or finish.
    WaitZoneMgmt { zone: ZoneNo },
    /// Sleeps by its own will: thinktime, or ahead of its rate.
    Sleeping,
    /// Waits for a tag.
    WaitTag,
    /// A policy of rq_qos holds its bio back.
    WaitQos,
    /// Waits for a queue freeze to end.
    WaitFreeze,
    /// Writes to an array and waits for a stripe of its cache.
    WaitStripe,
    /// Nothing more to do.
    Done,
}

/// A device: queue and drive.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeviceView {
    /// `sda`
    pub name: String,
    /// Zone write plugs in order of zone number.
    pub zone_wplugs: Vec<WplugView>,
    /// `zone_wplugs_list`, head first (QD1).
    pub zone_wplugs_list: Vec<ZoneNo>,
    /// zone_wplugs_worker.
    pub worker: WorkerView,
    /// queue/scheduler.
    pub elevator: ElevatorView,
    /// sched_tags; `None` without scheduler.
    pub sched_tags: Option<TagsView>,
    /// Driver tags.
    pub tags: TagsView,
    /// Requests on hctx->dispatch of the first hardware queue.
    pub dispatch: Vec<RequestView>,
    /// All hardware queues, where there are several; the tags of the first are `sched_tags` and `tags`.
    pub hctxs: Vec<HctxView>,
    /// dispatch_busy of the first hardware queue.
    pub dispatch_busy: u32,
    /// queue_flags: bits of [`qflag`]; 0 without queue.
    pub queue_flags: u32,
    /// Flags of its hardware queues.
    pub hctx_flags: HctxFlags,
    /// Found stalled.
    pub stall: Option<StallView>,
    /// Frozen by a live change.
    pub frozen: bool,
    /// Inside the drive.
    pub drive: DriveView,
    /// Counters of /sys/block/X/stat.
    pub stats: DiskStats,
    /// What they gained in the measured window so far.
    pub window: DiskStats,
    /// md/stripe_cache_*; `None` for everything but raid5 and raid6.
    pub stripe_cache: Option<StripeCacheView>,
    /// Bios held back by blk-throttle.
    pub throttled: u32,
    /// Zones of a zoned device; `None` where it is not zoned.
    pub zoned: Option<ZonedView>,
    /// Commands inside null_blk.
    pub null_blk: Option<NullBlkView>,
    /// Channels and dies of a flash device.
    pub flash: Option<FlashView>,
    /// Policies of rq_qos, in the order of the chain, and what its gate saved.
    pub qos: QosView,
    /// A freeze that is going on.
    pub freeze: Option<FreezeView>,
    /// Settings written so far, oldest first, at most [`MAX_CHANGES`].
    pub changes: Vec<ChangeView>,
}

/// queue_flags of 7.1, in its order (kernel 8.2); those that nothing here sets are left out.
pub mod qflag {
    /// No merges but those of a zone write plug (nomerges=2).
    pub const NOMERGES: u32 = 1 << 1;
    /// Completions go to the submitter's group of CPUs (rq_affinity 1 and 2).
    pub const SAME_COMP: u32 = 1 << 2;
    /// Only simple merges (nomerges=1).
    pub const NOXMERGES: u32 = 1 << 4;
    /// Completions go to the submitter's CPU (rq_affinity=2).
    pub const SAME_FORCE: u32 = 1 << 5;
    /// The queue is set up.
    pub const INIT_DONE: u32 = 1 << 6;
    /// Somebody wants latencies: wbt, kyber, bfq.
    pub const STATS: u32 = 1 << 7;
    /// The queue is in sysfs.
    pub const REGISTERED: u32 = 1 << 8;
    /// ->queue_rq is not entered.
    pub const QUIESCED: u32 = 1 << 9;
    /// Requests know when their allocation began: iocost.
    pub const RQ_ALLOC_TIME: u32 = 1 << 10;
    /// Its share of host-wide tags counts.
    pub const HCTX_ACTIVE: u32 = 1 << 11;
    /// One list for all hardware queues: mq-deadline, bfq.
    pub const SQ_SCHED: u32 = 1 << 12;
    /// wbt is not on by default: bfq.
    pub const DISABLE_WBT_DEF: u32 = 1 << 13;
    /// rq_qos has a policy (6.17 and later).
    pub const QOS_ENABLED: u32 = 1 << 15;
    /// Bios get a time stamp: iolatency (6.18 and later).
    pub const BIO_ISSUE_TIME: u32 = 1 << 16;
    /// One zone write at a time.
    pub const ZONED_QD1_WRITES: u32 = 1 << 17;
}

/// Flags of a tag set, as its hardware queues show them (kernel 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct HctxFlags {
    /// BLK_MQ_F_TAG_QUEUE_SHARED
    pub tag_queue_shared: bool,
    /// BLK_MQ_F_TAG_HCTX_SHARED
    pub tag_hctx_shared: bool,
    /// BLK_MQ_F_BLOCKING
    pub blocking: bool,
    /// BLK_MQ_F_TAG_RR, or BLK_TAG_ALLOC_RR
    pub tag_rr: bool,
    /// BLK_MQ_F_NO_SCHED_BY_DEFAULT, or BLK_MQ_F_NO_SCHED
    pub no_sched: bool,
    /// TAG_RR is a flag (6.14 and later, which have no SHOULD_MERGE either), not a value of alloc_policy.
    pub tag_rr_flag: bool,
    /// It is called NO_SCHED_BY_DEFAULT (6.14 and later).
    pub no_sched_by_default: bool,
}

/// One hardware queue.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct HctxView {
    /// Requests on hctx->dispatch.
    pub dispatch: Vec<RequestView>,
    /// dispatch_busy
    pub dispatch_busy: u32,
    /// SCHED_RESTART
    pub restart: bool,
    /// Wait queue the next sleeper takes.
    pub wait_index: u8,
    /// Driver tags its requests hold.
    pub nr_active: u32,
    /// sched_tags; `None` without scheduler, or shared with the first hardware queue.
    pub sched_tags: Option<TagsView>,
    /// Driver tags; `None`: shared with the first hardware queue.
    pub tags: Option<TagsView>,
}

/// A hardware queue nothing will ever run again: see [`crate::observe::why::Why::Stalled`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallView {
    /// Hardware queue.
    pub hctx: u16,
    /// When it was found, ns.
    pub since: SimTime,
    /// wake_batch of its tags.
    pub wake_batch: u32,
    /// Tasks asleep.
    pub waiters: u32,
}

/// `struct blk_zone_wplug` as debugfs shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct WplugView {
    /// zone_no
    pub zone: ZoneNo,
    /// BLK_ZONE_WPLUG_PLUGGED
    pub plugged: bool,
    /// BLK_ZONE_WPLUG_NEED_WP_UPDATE
    pub need_wp_update: bool,
    /// BLK_ZONE_WPLUG_DEAD
    pub dead: bool,
    /// References.
    pub refs: u32,
    /// Sectors from the zone start.
    pub wp_offset: Sector,
    /// `bio_list`, FIFO.
    pub bios: Vec<BioView>,
    /// The request of this zone that is in flight.
    pub in_flight: Option<RequestView>,
    /// On `zone_wplugs_list`.
    pub listed: bool,
}

/// The QD1 worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct WorkerView {
    /// zoned_qd1_writes is on.
    pub enabled: bool,
    /// What it does.
    pub state: WorkerState,
}

/// State of the QD1 worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WorkerState {
    /// List empty, asleep.
    #[default]
    Asleep,
    /// Woken, not yet running.
    Waking,
    /// Waits for this zone's request to complete.
    Waiting { zone: ZoneNo, rq: RqId },
    /// The completion was signalled; the next bio of this zone follows.
    Serving { zone: ZoneNo },
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestView {
    /// Allocation number.
    pub id: RqId,
    /// First bio.
    pub bio: BioId,
    /// Bios in it.
    pub nr_bios: u32,
    /// Job of its first bio.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Zone.
    pub zone: ZoneNo,
    /// Device it is for.
    pub dev: DevIdx,
    /// Where its first bio's data is on the device the workload submitted to.
    pub origin: Sector,
    /// Driver tag.
    pub tag: Option<Tag>,
    /// Sched tag.
    pub internal_tag: Option<Tag>,
    /// When it was issued (D), if it was.
    pub d_time: Option<SimTime>,
    /// Bits of [`rqflag`].
    pub flags: u8,
}

/// Flags of a request: of cmd_flags and rq_flags what the model has.
pub mod rqflag {
    /// REQ_SYNC
    pub const SYNC: u8 = 1;
    /// REQ_NOMERGE
    pub const NOMERGE: u8 = 2;
    /// REQ_FUA
    pub const FUA: u8 = 4;
    /// REQ_PREFLUSH
    pub const PREFLUSH: u8 = 8;
    /// RQF_ZONE_WRITE_PLUGGING
    pub const ZONE_WRITE_PLUGGING: u8 = 16;
}

/// A tag bitmap.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TagsView {
    /// Number of tags.
    pub depth: u32,
    /// nr_tags: those there is memory for.
    pub nr_tags: u32,
    /// Per tag: the zone of the request that holds it, or `None`.
    pub busy: Vec<Option<ZoneNo>>,
    /// Bits per sbitmap word.
    pub bits_per_word: u32,
    /// Sleeping allocators.
    pub waiters: u32,
    /// ws_active: those, and woken ones that have not run yet.
    pub ws_active: u32,
    /// Per tag: job of the request that holds it (`JobIdx::MAX`: free).
    pub jobs: Vec<JobIdx>,
    /// Per tag: freed, but still in its word's `cleared` mask.
    pub cleared: Vec<bool>,
    /// Per CPU: alloc_hint.
    pub hints: Vec<u32>,
    /// round_robin
    pub round_robin: bool,
    /// wake_batch
    pub wake_batch: u32,
    /// wake_index
    pub wake_index: u32,
    /// completion_cnt and wakeup_cnt.
    pub counts: (u64, u64),
    /// Before 6.2: wait_cnt of each wait queue; else empty.
    pub wait_cnt: Vec<u32>,
    /// min_shallow_depth (`u32::MAX`: unset).
    pub min_shallow_depth: u32,
    /// Shallow depth of everything but synchronous reads (`u32::MAX`: none).
    pub shallow: u32,
    /// Tags of each word that a shallow allocation may use; empty when `shallow` does not restrict.
    pub shallow_words: Vec<u32>,
    /// active_queues of a shared tag set.
    pub active_queues: u32,
    /// The eight wait queues: tasks asleep, longest first, by their place in [`Snapshot::tasks`] (kworkers and the zone
    /// worker: `u16::MAX`).
    pub ws: [Vec<u16>; 8],
    /// The last waiters woken, newest last: task, when, and whether it got a tag at once. At most [`MAX_WOKEN`].
    pub woken: Vec<WokenView>,
}

/// Waiters remembered after their wake-up.
pub const MAX_WOKEN: usize = 16;

/// A waiter that was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WokenView {
    /// As in [`TagsView::ws`].
    pub task: u16,
    /// Wait queue it slept in.
    pub ws: u8,
    /// When it was woken, ns.
    pub at: SimTime,
    /// `None` while it has not run yet; then whether it found a tag.
    pub got: Option<bool>,
}

/// The scheduler's own lists.
#[derive(Clone, Debug, PartialEq)]
pub enum ElevatorView {
    /// No scheduler: ctx lists.
    None {
        /// All CPUs' lists, in order of CPU.
        queued: Vec<RequestView>,
    },
    /// mq-deadline
    MqDeadline(DeadlineView),
    /// kyber
    Kyber(KyberView),
    /// bfq
    Bfq(BfqView),
}

impl Default for ElevatorView {
    fn default() -> Self {
        ElevatorView::None { queued: Vec::new() }
    }
}

/// mq-deadline (kernel 4.2).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeadlineView {
    /// RT, BE, IDLE.
    pub classes: [DeadlineClassView; 3],
    /// Requests that go first (inserted at head).
    pub dispatch: Vec<RequestView>,
    /// batching
    pub batching: u32,
    /// starved
    pub starved: u32,
    /// last_dir: 0 reads, 1 writes.
    pub last_dir: usize,
}

/// One priority class; index 0 reads, 1 writes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DeadlineClassView {
    /// By sector.
    pub sort: [Vec<RequestView>; 2],
    /// In order of insertion: request and deadline, ns.
    pub fifo: [Vec<(RqId, SimTime)>; 2],
    /// latest_pos
    pub latest_pos: [Sector; 2],
    /// inserted, merged, dispatched, completed.
    pub counts: [u32; 4],
}

/// kyber (kernel 4.4).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KyberView {
    /// READ, WRITE, DISCARD, OTHER.
    pub domains: [KyberDomainView; 4],
    /// Domain being dispatched.
    pub cur_domain: usize,
    /// Requests of its batch so far.
    pub batching: u32,
}

/// One domain.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KyberDomainView {
    /// Tokens there are now.
    pub depth: u32,
    /// Tokens there may be.
    pub max_depth: u32,
    /// Tokens in use.
    pub in_use: u32,
    /// Queued, in order.
    pub queued: Vec<RequestView>,
    /// Waits for a token.
    pub waiting: bool,
    /// Target latency, ns.
    pub target_ns: SimDuration,
    /// Histograms of the running window, eight buckets each: total latency, I/O latency.
    pub buckets: [[u32; 8]; 2],
    /// Bucket of p99 of total latency, and whether p90 of I/O latency was bad, as last evaluated.
    pub last: Option<(u8, bool)>,
}

/// bfq (kernel 4.5).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct BfqView {
    /// Queues with requests or in service, by virtual finish time.
    pub queues: Vec<BfqQueueView>,
    /// Place in `queues` of the queue in service.
    pub in_service: Option<usize>,
    /// Virtual time of the service tree of best-effort queues, fixed point.
    pub vtime: u64,
    /// Measured peak rate, sectors/s.
    pub peak_rate: u64,
    /// Largest budget now, sectors.
    pub max_budget: u32,
    /// A queue without requests is waited for until then, ns.
    pub idle_until: Option<SimTime>,
}

/// One bfq_queue.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct BfqQueueView {
    /// Job it belongs to (`JobIdx::MAX`: shared async queue).
    pub job: JobIdx,
    /// Sync or async.
    pub sync: bool,
    /// Priority.
    pub prio: IoPrio,
    /// Weight, raised or not.
    pub weight: u32,
    /// Weight-raising coefficient (1: not raised).
    pub wr_coeff: u32,
    /// Budget and what of it is used, sectors.
    pub budget: u32,
    /// Sectors served of it.
    pub service: u32,
    /// Virtual start and finish, fixed point.
    pub start: u64,
    /// See `start`.
    pub finish: u64,
    /// start <= vtime
    pub eligible: bool,
    /// Queued, by sector.
    pub queued: Vec<RequestView>,
    /// Requests at the driver.
    pub dispatched: u32,
}

/// A command inside the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandView {
    /// Request.
    pub rq: RqId,
    /// First bio of it.
    pub bio: BioId,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Zone.
    pub zone: ZoneNo,
}

/// The drive.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct DriveView {
    /// Commands received and not admitted to the cache (NCQ slots).
    pub waiting: Vec<CommandView>,
    /// The command on the interface, with start and end, ns.
    pub interface: Option<(CommandView, SimTime, SimTime)>,
    /// Cached commands, oldest first, the one being written included.
    pub cache: Vec<CommandView>,
    /// Commands the cache admits at this queue length.
    pub window: u32,
    /// The head.
    pub head: HeadView,
    /// Zones touched so far, in order of first use.
    pub zones: Vec<ZoneView>,
    /// Time of a turn, ns.
    pub rev_ns: SimDuration,
    /// All zones of the drive.
    pub nr_zones: u32,
    /// The zones are the device's; else they are only the model's bands.
    pub zoned: bool,
    /// Sectors of a zone.
    pub zone_sectors: Sector,
    /// Open zones.
    pub nr_open: u32,
    /// Their limit (0 = none).
    pub max_open: u32,
}

/// What the head does; all times ns, end >= start.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct HeadView {
    /// Zone it is over.
    pub zone: ZoneNo,
    /// Where the current (or last) command is.
    pub sector: Sector,
    /// Its length.
    pub nr_sectors: u32,
    /// Request of the current command (0 = idle).
    pub rq: RqId,
    /// What.
    pub phase: HeadPhase,
    /// Since, ns.
    pub from: SimTime,
    /// Until, ns.
    pub until: SimTime,
    /// Zone it came from (during a seek).
    pub from_zone: ZoneNo,
}

/// Phases of a command at the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum HeadPhase {
    /// Nothing to do.
    #[default]
    Idle,
    /// Moving and settling.
    Seek,
    /// Waiting for the sector.
    Rotate,
    /// Writing or reading.
    Transfer,
    /// Resetting a zone.
    Reset,
}

/// A zone the run has touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneView {
    /// Zone number.
    pub zone: ZoneNo,
    /// blk_zone_cond as the device has it.
    pub cond: ZoneCond,
    /// Write pointer the host sees (accepted data), sectors from the zone start.
    pub wp_offset: Sector,
    /// Position of the medium's write pointer, sectors from the zone start.
    pub media_offset: Sector,
    /// Angle of sector 0 of the zone, ns into the turn.
    pub phase_ns: SimDuration,
    /// ns per sector at this radius, times 2^20.
    pub ns_per_sector_fp20: u64,
    /// Order of first use, 0-based: colours follow it.
    pub order: u32,
}

/// `enum blk_zone_cond` (kernel 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum ZoneCond {
    /// Conventional.
    NotWp = 0,
    /// Empty.
    Empty = 1,
    /// Implicitly open.
    ImpOpen = 2,
    /// Explicitly open.
    ExpOpen = 3,
    /// Closed.
    Closed = 4,
    /// Read-only.
    ReadOnly = 0xd,
    /// Full.
    Full = 0xe,
    /// Offline.
    Offline = 0xf,
}

/// Zones of a device and what orders their writes.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ZonedView {
    /// What keeps the writes of a zone in order.
    pub ordering: crate::config::ZoneOrdering,
    /// Zones that were used, or are read-only or offline, by number.
    pub zones: Vec<ZoneView>,
    /// The other sequential zones are full (zone_full), else empty.
    pub starts_full: bool,
    /// Zones, conventional ones included.
    pub nr_zones: u32,
    /// Conventional zones at the start.
    pub nr_conv: u32,
    /// Sectors of a zone.
    pub zone_sectors: Sector,
    /// Writable sectors of a zone.
    pub capacity: Sector,
    /// Open zones.
    pub nr_open: u32,
    /// Limit of those (0 = none).
    pub max_open: u32,
    /// Open and closed zones.
    pub nr_active: u32,
    /// Limit of those (0 = none).
    pub max_active: u32,
    /// seq_zones_wlock: locked zones and the request that holds each lock (zone_ordering=zone_lock).
    pub locked: Vec<(ZoneNo, RqId)>,
    /// Zones closed by the device to make room, so far.
    pub implicit_closes: u64,
}

/// Inside null_blk.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct NullBlkView {
    /// Commands whose timer or softirq is due, in order of submission.
    pub commands: Vec<TimerView>,
    /// Commands done last, oldest first, at most [`MAX_TIMERS`].
    pub recent: Vec<TimerView>,
    /// Misaligned writes that were given back to be tried again, so far.
    pub retries: u64,
    /// Bytes left of the mbps budget; `None` without limit.
    pub budget: Option<u64>,
}

/// Largest number of done commands a [`NullBlkView`] keeps.
pub const MAX_TIMERS: usize = 64;

/// A command inside null_blk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerView {
    /// The command.
    pub cmd: CommandView,
    /// Its driver tag.
    pub tag: Tag,
    /// When it was issued (D), ns.
    pub from: SimTime,
    /// When it completes, ns.
    pub until: SimTime,
    /// How often it was given back before.
    pub retries: u16,
}

/// Inside a flash device.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlashView {
    /// One entry a channel.
    pub channels: Vec<FlashChannelView>,
    /// Pages acknowledged and not programmed yet.
    pub cached_pages: u32,
    /// Room for those.
    pub cache_pages: u32,
}

/// A channel and its dies.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlashChannelView {
    /// What crosses the channel now: the command, since and until when, ns.
    pub bus: Option<(CommandView, SimTime, SimTime)>,
    /// Page transfers waiting for the channel.
    pub waiting: u32,
    /// One entry a die.
    pub dies: Vec<FlashDieView>,
}

/// A die.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct FlashDieView {
    /// What it reads, programs or erases: the command, since and until when, ns.
    pub busy: Option<(CommandView, SimTime, SimTime)>,
    /// Pages waiting for it.
    pub waiting: u32,
}

/// `rq_qos` of a queue.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct QosView {
    /// QUEUE_FLAG_QOS_ENABLED, or what stood for it.
    pub enabled: bool,
    /// QUEUE_FLAG_BIO_ISSUE_TIME
    pub issue_time: bool,
    /// wbt, where the queue has it.
    pub wbt: Option<WbtView>,
    /// iolatency, where any cgroup has a target: one entry a job.
    pub iolatency: Vec<IoLatencyView>,
    /// iocost, where it is on.
    pub iocost: Option<IoCostView>,
    /// What the hooks cost and the gate saved.
    pub counters: QosCounters,
}

/// Counted over the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct QosCounters {
    /// Hooks that were passed.
    pub hooks: u64,
    /// Of those, stopped at the gate: nothing beyond one load and a branch (or a NOP).
    pub gated: u64,
    /// Loads of q.rq_qos (a second cache line).
    pub chain_loads: u64,
    /// Clock reads for bio->issue_time_ns.
    pub clock_reads: u64,
    /// Bios that passed the queue.
    pub bios: u64,
}

/// wbt (writeback throttling).
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WbtView {
    /// Target, ns (wbt_lat_usec).
    pub target_ns: SimDuration,
    /// Present window, ns, and when it ends.
    pub window_ns: SimDuration,
    /// See `window_ns`.
    pub window_ends: Option<SimTime>,
    /// scale_step: above 0 throttled, below 0 widened.
    pub scale_step: i32,
    /// max, normal, background.
    pub limits: [u32; 3],
    /// In flight by kind: background, kswapd, discard.
    pub in_flight: [u32; 3],
    /// Asleep by the same kinds.
    pub waiting: [u32; 3],
    /// Verdict of the last window, and its smallest read latency, ns.
    pub last: Option<(WbtVerdict, SimDuration)>,
}

/// What a window of wbt came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WbtVerdict {
    /// Reads took longer than the target.
    Exceeded,
    /// Reads were in time.
    Ok,
    /// Only writes.
    WritesOnly,
    /// Not enough to judge.
    Unknown,
}

/// iolatency of one cgroup.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct IoLatencyView {
    /// The job whose cgroup it is.
    pub job: JobIdx,
    /// io.latency target, ns; 0 = none.
    pub target_ns: SimDuration,
    /// Mean latency of the last window, ns.
    pub mean_ns: SimDuration,
    /// Queue depth it may use (`u32::MAX` = not scaled).
    pub depth: u32,
    /// In flight.
    pub in_flight: u32,
    /// Bios asleep.
    pub waiting: u32,
}

/// iocost.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct IoCostView {
    /// vtime rate in hundredths of a per cent.
    pub vrate: u32,
    /// Period, ns.
    pub period_ns: SimDuration,
    /// One entry a job: weight, share of the present period in thousandths, bios asleep, debt in us of vtime.
    pub groups: Vec<(JobIdx, u16, u32, u32, u64)>,
}

/// A queue that is being frozen.
#[derive(Clone, Debug, PartialEq)]
pub struct FreezeView {
    /// Since when, ns.
    pub since: SimTime,
    /// What was written.
    pub setting: crate::config::Setting,
    /// mq_freeze_depth
    pub depth: u32,
    /// q_usage_counter
    pub usage: u32,
    /// QUIESCED: ->queue_rq is not entered.
    pub quiesced: bool,
    /// Bios that hold a reference and have to end first.
    pub holding: Vec<BioView>,
    /// Bios that wait for the thaw.
    pub waiting: Vec<BioView>,
}

/// Largest number of changes a device keeps.
pub const MAX_CHANGES: usize = 32;

/// A setting that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeView {
    /// When, ns.
    pub at: SimTime,
    /// When it took effect, ns: the difference is what the freeze took.
    pub done: SimTime,
    /// What was written.
    pub setting: crate::config::Setting,
    /// The errno that the write returned.
    pub error: Option<&'static str>,
    /// References that had to be given up first.
    pub drained: u32,
    /// Bios that waited for the thaw.
    pub waited: u32,
}
