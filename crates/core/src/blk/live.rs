//! Attributes of queue/ written while I/O runs: freeze, quiesce, take effect, thaw.
//!
//! Models: block/blk-sysfs.c, block/elevator.c and the freezing of block/blk-mq.c, 7.1 (kernel 3.3, 3.4, 5.3, 8.1, 8.3).
//! Rule: a write that may disturb I/O waits until nothing holds a reference of the queue, and nobody enters meanwhile;
//! whatever else it needs it has before that. Each write is a task of its own: freezes nest, and the queue thaws with the
//! last of them.
//! Leaves out: the writers' CPU time, names that are no number or scheduler (the check of scenarios has them), writes to
//! devices without a queue (ENOENT), disk removal, changes of nr_hw_queues.
//!
//! | attribute | freezes | quiesces | before that |
//! |---|---|---|---|
//! | zoned_qd1_writes | yes | yes | ENOENT unless the disk has zone write plugs |
//! | scheduler | unless BLK_MQ_F_NO_SCHED | unless it is active | EBUSY while nr_requests is written; EINVAL; allocates tags |
//! | nr_requests | unless it is that already | yes | EBUSY while it or the scheduler is written; EINVAL |
//! | async_depth | yes | no | EINVAL for 0; without scheduler EINVAL, but only once frozen |
//! | iosched/async_depth (before 7.0) | no | no | ENOENT unless mq-deadline is active |
//! | max_sectors_kb, write_cache | yes | no | limits_lock: one after the other |
//! | wbt_lat_usec | yes | unless it is that already | |
//! | nomerges | no | no | |

use alloc::vec::Vec;

use super::device::{BLKDEV_MIN_RQ, MAX_SCHED_RQ, alloc_sched_tags};
use super::elevator::AnyElevator;
use super::tag::{Tags, Waiter};
use super::{Ctx, Queue};
use crate::config::{
    AsyncDepthOwner, BfqConfig, ElevatorKind, KyberConfig, MqDeadlineConfig, QueueConfig, Setting, SimConfig,
    ZoneOrdering,
};
use crate::event::Event;
use crate::observe::snapshot::{ChangeView, MAX_CHANGES};
use crate::observe::trace::{Action, TraceRecord};
use crate::time::{SimDuration, SimTime};
use crate::units::{DevIdx, JobIdx, Op, SECTOR_BYTES};

/// Requests a queue with a scheduler has by default for each command of its device, of which so many count.
const BLKDEV_DEFAULT_RQ: u32 = 128;

/// Smallest max_sectors_kb, bytes.
const MIN_MAX_SECTORS: u64 = 4096;

/// A task that writes an attribute.
#[derive(Clone, Debug)]
struct Writer {
    /// Its number in [`SimConfig::changes`].
    change: u32,
    setting: Setting,
    at: SimTime,
    /// Since when it freezes the queue; `None`: it waits for limits_lock.
    frozen: Option<SimTime>,
    /// References held when it began to.
    drained: u32,
    /// A scheduler's, allocated before the freeze.
    sched_tags: Vec<Tags>,
}

/// Who writes attributes of a device, and what came of it.
#[derive(Clone, Debug, Default)]
pub struct Live {
    /// In order of their writes.
    writers: Vec<Writer>,
    /// When the queue was frozen, while it is.
    since: SimTime,
    /// QUEUE_FLAG_QUIESCED, and when the grace period after it is over.
    quiesced: Option<SimTime>,
    /// See [`crate::observe::snapshot::DeviceView::changes`].
    changes: Vec<ChangeView>,
}

impl Live {
    /// Writes that are over, oldest first.
    pub fn changes(&self) -> &[ChangeView] {
        &self.changes
    }
    /// Since when the queue is frozen, by whose write first, and whether it is quiesced.
    pub fn freeze(&self) -> Option<(SimTime, Setting, bool)> {
        let w = self.writers.iter().find(|w| w.frozen.is_some())?;
        Some((self.since, w.setting, self.quiesced.is_some()))
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.writers.capacity() * size_of::<Writer>() + self.changes.capacity() * size_of::<ChangeView>()
    }
    /// A write is over.
    fn over(&mut self, change: ChangeView) {
        if self.changes.len() == MAX_CHANGES {
            self.changes.remove(0);
        }
        self.changes.push(change);
    }
}

/// enable_state of wbt
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WbtState {
    /// On since registration.
    OnDefault,
    /// On by a write.
    OnManual,
    /// Off because a scheduler wants no default.
    OffDefault,
    /// Off by a write.
    OffManual,
}

/// Whether and how wbt throttles (kernel 8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WbtSetting {
    /// min_lat_nsec, ns
    pub lat_ns: SimDuration,
    /// See [`WbtState`].
    pub state: WbtState,
}

impl WbtSetting {
    /// `wbt_default_latency_nsec`
    fn default_ns(dev: DevIdx, sim: &SimConfig) -> SimDuration {
        if sim.devices[usize::from(dev)].rotational() { 75_000_000 } else { 2_000_000 }
    }
    fn manual(lat_ns: SimDuration) -> Self {
        Self { lat_ns, state: if lat_ns > 0 { WbtState::OnManual } else { WbtState::OffManual } }
    }
    /// At registration.
    pub fn at_start(cfg: &QueueConfig, dev: DevIdx, sim: &SimConfig) -> Option<Self> {
        match cfg.wbt_lat_ns {
            Some(ns) => Some(Self::manual(ns)),
            None => {
                let mut wbt = None;
                Self::enable_default(&mut wbt, cfg, dev, sim);
                wbt
            }
        }
    }
    /// `wbt_enable_default`: whatever a write has set stays.
    fn enable_default(wbt: &mut Option<Self>, cfg: &QueueConfig, dev: DevIdx, sim: &SimConfig) {
        if !sim.kernel.blk_wbt_mq || cfg.elevator == ElevatorKind::Bfq {
            return;
        }
        match wbt {
            None => *wbt = Some(Self { lat_ns: Self::default_ns(dev, sim), state: WbtState::OnDefault }),
            Some(wbt) if wbt.state == WbtState::OffDefault => wbt.state = WbtState::OnDefault,
            Some(_) => {}
        }
    }
    /// `wbt_disable_default`
    fn disable_default(&mut self) {
        if self.state == WbtState::OnDefault {
            self.state = WbtState::OffDefault;
        }
    }
    /// What wbt_lat_usec shows, ns.
    pub fn shown_ns(&self) -> SimDuration {
        match self.state {
            WbtState::OnDefault | WbtState::OnManual => self.lat_ns,
            WbtState::OffDefault | WbtState::OffManual => 0,
        }
    }
}

impl Setting {
    /// It is a limit of the queue: written with limits_lock held.
    fn is_limit(self) -> bool {
        matches!(self, Setting::MaxSectors(_) | Setting::WriteCache(_))
    }
}

impl Queue {
    /// nr_requests and async_depth that a scheduler starts with (kernel 3.3, 3.4, 8.3).
    fn default_depths(&self, kind: ElevatorKind, owner: AsyncDepthOwner) -> (u32, u32) {
        let nr = 2 * self.cfg.queue_depth.min(BLKDEV_DEFAULT_RQ);
        match (kind, owner) {
            (ElevatorKind::None, _) => (self.cfg.queue_depth, self.cfg.queue_depth),
            (ElevatorKind::MqDeadline, AsyncDepthOwner::Queue | AsyncDepthOwner::Elevator) => (nr, nr),
            _ => (nr, (3 * nr / 4).max(1)),
        }
    }
    /// `elevator_switch` of a frozen and quiesced queue.
    fn switch_elevator(&mut self, kind: ElevatorKind, tags: Vec<Tags>, dev: DevIdx, sim: &SimConfig) {
        let owner = sim.kernel.async_depth_owner;
        let (nr_requests, async_depth) = self.default_depths(kind, owner);
        self.cfg = QueueConfig {
            elevator: kind,
            nr_requests,
            async_depth,
            mq_deadline: MqDeadlineConfig::default(),
            kyber: KyberConfig::default(),
            bfq: BfqConfig::default(),
            ..self.cfg
        };
        self.elevator = AnyElevator::of_device(&self.cfg, dev, sim);
        (self.timer_at, self.last_merge) = (None, None);
        let mut tags = tags.into_iter();
        for hctx in &mut self.hctxs {
            hctx.sched_tags = tags.next();
        }
        self.set_tag_models(sim);
        // bfq sets QUEUE_FLAG_DISABLE_WBT_DEF while it is active.
        match (kind, &mut self.wbt) {
            (ElevatorKind::Bfq, Some(wbt)) => wbt.disable_default(),
            (_, wbt) => WbtSetting::enable_default(wbt, &self.cfg, dev, sim),
        }
    }
}

impl Ctx<'_> {
    fn live(&mut self, dev: DevIdx) -> &mut Live {
        &mut self.devs[usize::from(dev)].live
    }

    /// `Event::Change`: an attribute is written.
    pub(crate) fn change(&mut self, number: u32) {
        let c = &self.cfg.changes[number as usize];
        let (dev, setting, at) = (c.dev, c.setting, self.bus.now);
        let owner = self.cfg.kernel.async_depth_owner;
        let mut w = Writer { change: number, setting, at, frozen: None, drained: 0, sched_tags: Vec::new() };
        if let Err(errno) = self.before_freeze(dev, setting) {
            self.written(dev, w, Err(errno));
        } else if !self.freezes(dev, setting) {
            let result = self.take_effect(dev, setting, Vec::new());
            self.written(dev, w, result);
        } else {
            if let Setting::Scheduler(kind) = setting
                && kind != ElevatorKind::None
            {
                let sim = self.cfg;
                let q = self.queue(dev);
                let nr = q.default_depths(kind, owner).0;
                w.sched_tags = alloc_sched_tags(&q.cfg, dev, sim, nr);
            }
            let live = self.live(dev);
            let locked = setting.is_limit() && live.writers.iter().any(|w| w.setting.is_limit());
            live.writers.push(w);
            if !locked {
                self.freeze(dev);
                self.frozen_event(dev);
            }
        }
    }

    /// A write waits until nothing uses the queue.
    fn freezes(&mut self, dev: DevIdx, setting: Setting) -> bool {
        let kernel = self.cfg.kernel;
        let q = self.queue(dev);
        match setting {
            Setting::Nomerges(_) => false,
            Setting::AsyncDepth(_) => kernel.async_depth_owner == AsyncDepthOwner::Queue,
            Setting::NrRequests(nr) => nr != q.cfg.nr_requests,
            // BLK_MQ_F_NO_SCHED: there is no scheduler to change.
            Setting::Scheduler(_) => !q.cfg.no_sched || kernel.no_sched_by_default,
            _ => true,
        }
    }

    /// What a write is refused for before it freezes anything.
    fn before_freeze(&mut self, dev: DevIdx, setting: Setting) -> Result<(), &'static str> {
        let kernel = self.cfg.kernel;
        let orders = |how| self.zoned(dev) && kernel.zone_ordering == how;
        let (has_plugs, locks_zones) = (orders(ZoneOrdering::Zwplug), orders(ZoneOrdering::ZoneLock));
        let d = &self.devs[usize::from(dev)];
        let Some(q) = &d.queue else { return Err("ENOENT") };
        let written = |of: fn(&Setting) -> bool| d.live.writers.iter().any(|w| of(&w.setting));
        // update_nr_hwq_lock is tried: nr_requests takes it for writing, the scheduler for reading.
        let resizing = written(|s| matches!(s, Setting::NrRequests(_)));
        let switching = written(|s| matches!(s, Setting::Scheduler(_)));
        match setting {
            Setting::ZonedQd1Writes(_) if !has_plugs => Err("ENOENT"),
            Setting::Scheduler(_) if resizing => Err("EBUSY"),
            // Before 6.10 zoned disks take what orders zone writes, or nothing.
            Setting::Scheduler(ElevatorKind::Kyber | ElevatorKind::Bfq) if locks_zones => Err("EINVAL"),
            Setting::NrRequests(_) if resizing || switching => Err("EBUSY"),
            Setting::NrRequests(nr) => {
                let most = if q.has_sched() { MAX_SCHED_RQ } else { q.cfg.queue_depth };
                // What is there already is no error, however it came.
                if nr.max(BLKDEV_MIN_RQ) > most && nr != q.cfg.nr_requests { Err("EINVAL") } else { Ok(()) }
            }
            Setting::AsyncDepth(_) if kernel.async_depth_owner != AsyncDepthOwner::Queue => {
                if q.cfg.elevator == ElevatorKind::MqDeadline { Ok(()) } else { Err("ENOENT") }
            }
            Setting::AsyncDepth(0) => Err("EINVAL"),
            Setting::MaxSectors(n) if u64::from(n) * SECTOR_BYTES < MIN_MAX_SECTORS => Err("EINVAL"),
            _ => Ok(()),
        }
    }

    /// `blk_freeze_queue_start` by the last writer.
    fn freeze(&mut self, dev: DevIdx) {
        let now = self.bus.now;
        let q = self.queue(dev);
        let (usage, first) = (q.usage, q.freeze_depth == 0);
        q.freeze_depth += 1;
        let live = self.live(dev);
        if first {
            live.since = now;
        }
        let w = live.writers.iter_mut().find(|w| w.frozen.is_none()).expect("one is about to freeze");
        (w.frozen, w.drained) = (Some(now), usage);
        if first {
            self.run_hw_queues(dev);
        }
    }

    /// `Event::Frozen`, and whenever a writer has begun to freeze: those whose wait is over go on, in their order.
    pub(crate) fn frozen_event(&mut self, dev: DevIdx) {
        let (now, rcu) = (self.bus.now, self.cfg.host.rcu_ns);
        while self.queue(dev).usage == 0 {
            let live = self.live(dev);
            let Some(at) = live.writers.iter().position(|w| w.frozen.is_some()) else { return };
            let w = &live.writers[at];
            let (setting, atomic) = (w.setting, w.frozen.expect("it froze") + rcu);
            // The counter is per CPU until a grace period after the freeze began.
            if now < atomic {
                self.bus.after(atomic - now, Event::Frozen(dev));
                return;
            }
            if self.quiesces(dev, setting) {
                let over = *self.live(dev).quiesced.get_or_insert(now + rcu);
                if now < over {
                    self.bus.after(over - now, Event::Frozen(dev));
                    return;
                }
            }
            let live = self.live(dev);
            live.quiesced = None;
            let mut w = live.writers.remove(at);
            let tags = core::mem::take(&mut w.sched_tags);
            let result = self.take_effect(dev, setting, tags);
            self.qos_follows(dev);
            self.written(dev, w, result);
            self.unfreeze(dev);
            if setting.is_limit() && self.live(dev).writers.iter().any(|w| w.frozen.is_none()) {
                self.freeze(dev);
            }
        }
    }

    /// A write that has frozen the queue quiesces it, too: ->queue_rq is not entered any more.
    fn quiesces(&mut self, dev: DevIdx, setting: Setting) -> bool {
        let sim = self.cfg;
        let q = self.queue(dev);
        match setting {
            Setting::ZonedQd1Writes(_) | Setting::NrRequests(_) => true,
            Setting::Scheduler(kind) => kind != q.cfg.elevator && (!q.cfg.no_sched || sim.kernel.no_sched_by_default),
            Setting::WbtLat(ns) => q.wbt.is_none_or(|wbt| wbt.lat_ns != ns.unwrap_or(WbtSetting::default_ns(dev, sim))),
            Setting::AsyncDepth(_) | Setting::Nomerges(_) | Setting::MaxSectors(_) | Setting::WriteCache(_) => false,
        }
    }

    /// The attribute's store, with the queue as it wants it.
    fn take_effect(&mut self, dev: DevIdx, setting: Setting, tags: Vec<Tags>) -> Result<(), &'static str> {
        let sim = self.cfg;
        let owner = sim.kernel.async_depth_owner;
        let quiesces = self.quiesces(dev, setting);
        let q = self.queue(dev);
        match setting {
            Setting::ZonedQd1Writes(on) => {
                q.cfg.zoned_qd1_writes = on;
                q.wplugs.worker.enabled = on;
                if !on {
                    self.worker_retires(dev);
                }
            }
            Setting::Scheduler(kind) if quiesces => q.switch_elevator(kind, tags, dev, sim),
            Setting::Scheduler(_) => {}
            Setting::NrRequests(nr) if nr == q.cfg.nr_requests => {}
            Setting::NrRequests(nr) => q.set_nr_requests(nr.max(BLKDEV_MIN_RQ), owner),
            Setting::AsyncDepth(_) if !q.has_sched() => return Err("EINVAL"),
            Setting::AsyncDepth(depth) => q.set_async_depth(depth, owner),
            Setting::Nomerges(n) => q.cfg.nomerges = n,
            Setting::MaxSectors(n) => {
                let block = (u64::from(q.cfg.block_bytes) / SECTOR_BYTES) as u32;
                q.cfg.max_sectors = n / block * block;
            }
            Setting::WbtLat(ns) if quiesces => {
                q.wbt = Some(WbtSetting::manual(ns.unwrap_or(WbtSetting::default_ns(dev, sim))));
            }
            Setting::WbtLat(_) => {}
            Setting::WriteCache(back) => q.cfg.write_back = back,
        }
        Ok(())
    }

    /// A write returns. One that succeeded leaves a record whose `arg` is its number in [`SimConfig::changes`].
    fn written(&mut self, dev: DevIdx, w: Writer, result: Result<(), &'static str>) {
        let now = self.bus.now;
        if result.is_ok() {
            self.bus.trace(TraceRecord {
                time: 0,
                dev,
                action: Action::Change,
                op: Op::Write,
                flags: 0,
                sector: 0,
                nr_sectors: 0,
                bio: 0,
                rq: 0,
                arg: u64::from(w.change),
                job: JobIdx::MAX,
                origin: 0,
            });
        }
        let d = &mut self.devs[usize::from(dev)];
        let waited = d.queue.as_ref().map_or(0, |q| q.freeze_waiters.len() as u32);
        let (setting, error) = (w.setting, result.err());
        d.live.over(ChangeView { at: w.at, done: now, setting, error, drained: w.drained, waited });
    }

    /// `blk_mq_unfreeze_queue`: with the last writer who is waited for comes in.
    fn unfreeze(&mut self, dev: DevIdx) {
        let q = self.queue(dev);
        q.freeze_depth -= 1;
        if q.freeze_depth > 0 {
            return;
        }
        let waiters = core::mem::take(&mut q.freeze_waiters);
        let since = self.live(dev).since;
        self.bus.stats.frozen_ns += self.bus.now - since;
        for Waiter { task, bio } in waiters {
            if self.blk_mq_submit_bio(dev, bio, task) {
                self.resume(task);
            }
        }
    }
}
