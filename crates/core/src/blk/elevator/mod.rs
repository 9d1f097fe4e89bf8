//! Schedulers: what waits between I and D, and in which order it goes.
//!
//! Models: block/elevator.c's interface (kernel 4): insert, merge candidates, dispatch, completion, depth limits.
//! Rule: one enum, one row a scheduler; the pipeline asks, the scheduler never calls back.
//! Leaves out: switching while requests are queued.

pub mod bfq;
pub mod kyber;
pub mod mq_deadline;
pub mod none;
pub mod zone_lock;

use crate::config::{AsyncDepthOwner, ElevatorKind, QueueConfig, SimConfig, ZoneOrdering};
use crate::observe::snapshot::{ElevatorView, RequestView};
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{DevIdx, IoPrio, JobIdx, Op, Sector, ZoneNo};

/// A scheduler by name.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyElevator {
    /// No scheduler: ctx lists.
    None(none::CtxList),
    /// mq-deadline
    MqDeadline(mq_deadline::MqDeadline),
    /// kyber
    Kyber(kyber::Kyber),
    /// bfq
    Bfq(bfq::Bfq),
}

/// What a scheduler needs to know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Slot of the request; [`Idx::MAX`] for a bio that has none yet.
    pub rq: Idx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Priority of its first bio.
    pub prio: IoPrio,
    /// Synchronous: all reads, and writes marked REQ_SYNC.
    pub sync: bool,
    /// Job of its first bio: the process schedulers know.
    pub job: JobIdx,
    /// CPU it was submitted on: its ctx.
    pub cpu: u16,
    /// start_time_ns (G).
    pub start: SimTime,
}

impl AnyElevator {
    /// The scheduler a queue is configured with.
    pub fn new(q: &QueueConfig, nr_cpus: u16) -> Self {
        match q.elevator {
            ElevatorKind::None => AnyElevator::None(none::CtxList::new(q.nr_hw_queues, nr_cpus)),
            ElevatorKind::Bfq => AnyElevator::Bfq(bfq::Bfq::new(q)),
            ElevatorKind::Kyber => AnyElevator::Kyber(kyber::Kyber::new(q, nr_cpus)),
            ElevatorKind::MqDeadline => AnyElevator::MqDeadline(mq_deadline::MqDeadline::new(q)),
        }
    }
    /// The scheduler of a device's queue: it knows whether the device rotates, and locks zones where it has to.
    pub fn of_device(q: &QueueConfig, dev: DevIdx, sim: &SimConfig) -> Self {
        let mut elevator = AnyElevator::new(q, sim.host.nr_cpus);
        let device = &sim.devices[usize::from(dev)];
        match &mut elevator {
            AnyElevator::Bfq(e) => e.set_rotational(device.rotational()),
            AnyElevator::MqDeadline(e) if sim.kernel.zone_ordering == ZoneOrdering::ZoneLock => {
                let streams = sim.kernel.zone_lock_streams && device.rotational();
                if let Some(shape) = device.zones() {
                    e.set_zone_locks(zone_lock::ZoneLocks::new(shape, streams));
                }
            }
            _ => {}
        }
        elevator
    }
    /// The oldest write whose zone is locked: the zone, the write, and the request that holds the lock.
    pub fn waits_for_zone(&self) -> Option<(ZoneNo, Idx, Idx)> {
        if let AnyElevator::MqDeadline(e) = self { e.waits_for_zone() } else { None }
    }
    /// Zone locks, where it keeps any.
    pub fn zone_locks(&self) -> Option<&zone_lock::ZoneLocks> {
        if let AnyElevator::MqDeadline(e) = self { e.zone_locks() } else { None }
    }
    /// Requests wait here between sched tag and driver tag.
    pub fn has_sched_tags(&self) -> bool {
        !matches!(self, AnyElevator::None(_))
    }
    /// Requests are found by sector, so that one about to be inserted may join another.
    pub fn joins_requests(&self) -> bool {
        !matches!(self, AnyElevator::None(_) | AnyElevator::Kyber(_))
    }
    /// Adds a request; at its head one that came back from the driver.
    pub fn insert(&mut self, r: Queued, at_head: bool, now: SimTime) {
        match self {
            AnyElevator::None(e) => e.insert(r, at_head),
            AnyElevator::MqDeadline(e) => e.insert(r, at_head, now),
            AnyElevator::Kyber(e) => e.insert(r, at_head),
            AnyElevator::Bfq(e) => e.insert(r, at_head, now),
        }
    }
    /// Something waits for this hardware queue. [`AnyElevator::dispatch`] may hold it back all the same.
    #[inline]
    pub fn has_work(&self, hctx: u16) -> bool {
        match self {
            AnyElevator::None(e) => e.has_work(hctx),
            AnyElevator::MqDeadline(e) => e.has_work(),
            AnyElevator::Kyber(e) => e.has_work(hctx),
            AnyElevator::Bfq(e) => e.has_work(),
        }
    }
    /// Takes the request to issue next on a hardware queue; `busy`: its dispatch_busy is not zero.
    pub fn dispatch(&mut self, hctx: u16, busy: bool, now: SimTime) -> Option<Idx> {
        match self {
            AnyElevator::None(e) => e.dispatch(hctx, busy),
            AnyElevator::MqDeadline(e) => e.dispatch(now),
            AnyElevator::Kyber(e) => e.dispatch(hctx),
            AnyElevator::Bfq(e) => e.dispatch(now),
        }
    }
    /// A request came back from the driver before it started; it is inserted again, or issued from hctx->dispatch.
    pub fn requeued(&mut self, r: Queued) {
        match self {
            AnyElevator::None(_) => {}
            AnyElevator::MqDeadline(e) => e.requeued(r),
            AnyElevator::Kyber(e) => e.requeued(r),
            AnyElevator::Bfq(e) => e.requeued(r),
        }
    }
    /// The command of a request, issued at `d_time`, came back.
    pub fn completed(&mut self, r: Queued, now: SimTime, d_time: SimTime) {
        match self {
            AnyElevator::None(_) | AnyElevator::MqDeadline(_) => {}
            AnyElevator::Kyber(e) => e.completed(r, now, d_time),
            AnyElevator::Bfq(e) => e.completed(r, now, d_time),
        }
    }
    /// An inserted request ends, or was merged away ([`AnyElevator::merged`] came before). True: run the queue, or with
    /// zone locks the hardware queue of the request.
    pub fn finished(&mut self, r: Queued, now: SimTime) -> bool {
        match self {
            AnyElevator::None(_) => false,
            AnyElevator::MqDeadline(e) => e.finished(r),
            AnyElevator::Kyber(e) => e.finished(r),
            AnyElevator::Bfq(e) => e.finished(r, now),
        }
    }
    /// Shallow depth of an allocation by this job (kernel 3.4); [`u32::MAX`]: all tags may be used.
    pub fn limit_depth(&self, op: Op, sync: bool, job: JobIdx, async_depth: u32) -> u32 {
        match self {
            AnyElevator::None(_) => u32::MAX,
            AnyElevator::MqDeadline(e) => e.limit_depth(op, sync, async_depth),
            AnyElevator::Kyber(e) => e.limit_depth(op, sync, async_depth),
            AnyElevator::Bfq(e) => e.limit_depth(op, sync, job, async_depth),
        }
    }
    /// min_shallow_depth of the bitmap (kernel 3.4); [`u32::MAX`]: never told.
    pub fn min_shallow_depth(&self, owner: AsyncDepthOwner, async_depth: u32) -> u32 {
        match self {
            AnyElevator::None(_) => u32::MAX,
            AnyElevator::MqDeadline(e) => e.min_shallow_depth(owner, async_depth),
            AnyElevator::Kyber(_) => async_depth,
            AnyElevator::Bfq(e) => e.min_shallow_depth(async_depth),
        }
    }
    /// nr_requests or async_depth changed.
    pub fn depth_updated(&mut self, nr_requests: u32, async_depth: u32) {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => {}
            AnyElevator::MqDeadline(e) => e.depth_updated(nr_requests),
            AnyElevator::Bfq(e) => e.depth_updated(nr_requests, async_depth),
        }
    }
    /// When [`AnyElevator::timer_fired`] is wanted.
    pub fn timer(&self) -> Option<SimTime> {
        match self {
            AnyElevator::None(_) | AnyElevator::MqDeadline(_) => None,
            AnyElevator::Kyber(e) => e.timer(),
            AnyElevator::Bfq(e) => e.timer(),
        }
    }
    /// The timer fired, or an earlier one did. True: run the queue.
    pub fn timer_fired(&mut self, now: SimTime) -> bool {
        match self {
            AnyElevator::None(_) | AnyElevator::MqDeadline(_) => false,
            AnyElevator::Kyber(e) => e.timer_fired(now),
            AnyElevator::Bfq(e) => e.timer_fired(now),
        }
    }
    /// Without a sort order: requests of this CPU, oldest first, where its bios look for one to join.
    pub fn ctx_list(&self, op: Op, cpu: u16) -> Option<&[Idx]> {
        match self {
            AnyElevator::None(e) => Some(e.ctx_list(cpu)),
            AnyElevator::MqDeadline(_) | AnyElevator::Bfq(_) => None,
            AnyElevator::Kyber(e) => Some(e.ctx_list(op, cpu)),
        }
    }
    /// [`AnyElevator::before`] and [`AnyElevator::at`] may find something.
    pub fn has_sorted(&self) -> bool {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => false,
            AnyElevator::MqDeadline(e) => e.has_sorted(),
            AnyElevator::Bfq(_) => true,
        }
    }
    /// The request sorted with `r` (a bio, or a request) that starts nearest at or before it.
    pub fn before(&self, r: Queued) -> Option<Idx> {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => None,
            AnyElevator::MqDeadline(e) => e.before(r),
            AnyElevator::Bfq(e) => e.before(r),
        }
    }
    /// The request sorted with `r` that starts at `sector`, where front merges are looked for.
    pub fn at(&self, r: Queued, sector: Sector) -> Option<Idx> {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => None,
            AnyElevator::MqDeadline(e) => e.at(r, sector),
            AnyElevator::Bfq(e) => e.at(r, sector),
        }
    }
    /// The request sorted before this one; it need not be queued itself.
    pub fn former(&self, r: Queued) -> Option<Idx> {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => None,
            AnyElevator::MqDeadline(e) => e.former(r),
            AnyElevator::Bfq(e) => e.former(r),
        }
    }
    /// The request sorted behind this one.
    pub fn latter(&self, r: Queued) -> Option<Idx> {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => None,
            AnyElevator::MqDeadline(e) => e.latter(r),
            AnyElevator::Bfq(e) => e.latter(r),
        }
    }
    /// A queued request starts earlier now (front merge).
    pub fn reposition(&mut self, r: Queued, old: Sector) {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => {}
            AnyElevator::MqDeadline(e) => e.reposition(r, old),
            AnyElevator::Bfq(e) => e.reposition(r, old),
        }
    }
    /// The second request, queued or about to be, is part of the first now. [`AnyElevator::finished`] follows.
    pub fn merged(&mut self, first: Queued, second: Queued) {
        match self {
            AnyElevator::None(_) | AnyElevator::Kyber(_) => {}
            AnyElevator::MqDeadline(e) => e.merged(first, second),
            AnyElevator::Bfq(e) => e.merged(first, second),
        }
    }
    /// One that waits, if any does.
    pub fn any_queued(&self) -> Option<Idx> {
        match self {
            AnyElevator::None(e) => e.iter().next(),
            AnyElevator::MqDeadline(e) => e.any_queued(),
            AnyElevator::Kyber(e) => e.any_queued(),
            AnyElevator::Bfq(e) => e.any_queued(),
        }
    }
    /// The lists for pictures.
    pub fn view(&self, now: SimTime, rq: &dyn Fn(Idx) -> RequestView) -> ElevatorView {
        match self {
            AnyElevator::None(e) => ElevatorView::None { queued: e.view(rq) },
            AnyElevator::MqDeadline(e) => ElevatorView::MqDeadline(e.view(rq)),
            AnyElevator::Kyber(e) => ElevatorView::Kyber(e.view(rq)),
            AnyElevator::Bfq(e) => ElevatorView::Bfq(e.view(now, rq)),
        }
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        match self {
            AnyElevator::None(e) => e.heap_bytes(),
            AnyElevator::MqDeadline(e) => e.heap_bytes(),
            AnyElevator::Kyber(e) => e.heap_bytes(),
            AnyElevator::Bfq(e) => e.heap_bytes(),
        }
    }
}
