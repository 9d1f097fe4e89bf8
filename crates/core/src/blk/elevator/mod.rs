//! Schedulers: what waits between I and D, and in which order it goes.
//!
//! Models: block/elevator.c's interface, reduced to insert, merge candidates and dispatch.
//! Rule: one enum, one row a scheduler; the pipeline asks, the scheduler never calls back.
//! Leaves out: kyber, bfq, switching while requests are queued.

pub mod kyber;
pub mod mq_deadline;
pub mod none;

use crate::config::{ElevatorKind, QueueConfig};
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{IoPrio, JobIdx, Op, Sector};

/// A scheduler by name.
#[derive(Clone, Debug, PartialEq)]
pub enum AnyElevator {
    /// No scheduler: ctx lists.
    None(none::CtxList),
    /// mq-deadline
    MqDeadline(mq_deadline::MqDeadline),
}

/// What a scheduler needs to know of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// Slot of the request.
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
    pub fn new(q: &QueueConfig) -> Self {
        match q.elevator {
            ElevatorKind::None => AnyElevator::None(none::CtxList::default()),
            // Not built yet: refused by `bioscope-scenario`.
            ElevatorKind::Kyber | ElevatorKind::Bfq => AnyElevator::None(none::CtxList::default()),
            ElevatorKind::MqDeadline => AnyElevator::MqDeadline(mq_deadline::MqDeadline::new(q.mq_deadline)),
        }
    }
    /// Requests wait here between sched tag and driver tag.
    pub fn has_sched_tags(&self) -> bool {
        matches!(self, AnyElevator::MqDeadline(_))
    }
    /// Adds a request.
    pub fn insert(&mut self, r: Queued, now: SimTime) {
        match self {
            AnyElevator::None(e) => e.insert(r),
            AnyElevator::MqDeadline(e) => e.insert(r, now),
        }
    }
    /// Takes the request to issue next.
    pub fn dispatch(&mut self, now: SimTime) -> Option<Idx> {
        match self {
            AnyElevator::None(e) => e.dispatch(),
            AnyElevator::MqDeadline(e) => e.dispatch(now),
        }
    }
    /// The request that starts nearest at or before `sector`.
    pub fn before(&self, op: Op, sector: Sector) -> Option<Idx> {
        match self {
            AnyElevator::None(_) => None,
            AnyElevator::MqDeadline(e) => e.before(op, sector),
        }
    }
    /// The request that starts at `sector`, where front merges are looked for.
    pub fn at(&self, op: Op, sector: Sector) -> Option<Idx> {
        match self {
            AnyElevator::None(_) => None,
            AnyElevator::MqDeadline(e) => e.at(op, sector),
        }
    }
    /// The request sorted before this one, which starts at `sector`; it need not be queued itself.
    pub fn former(&self, op: Op, sector: Sector, rq: Idx) -> Option<Idx> {
        match self {
            AnyElevator::None(_) => None,
            AnyElevator::MqDeadline(e) => e.former(op, sector, rq),
        }
    }
    /// The request sorted behind this one, which starts at `sector`.
    pub fn latter(&self, op: Op, sector: Sector, rq: Idx) -> Option<Idx> {
        match self {
            AnyElevator::None(_) => None,
            AnyElevator::MqDeadline(e) => e.latter(op, sector, rq),
        }
    }
    /// A queued request starts earlier now (front merge).
    pub fn reposition(&mut self, r: Queued, old: Sector) {
        match self {
            AnyElevator::None(_) => {}
            AnyElevator::MqDeadline(e) => e.reposition(r, old),
        }
    }
    /// The second request, queued or not, is part of the first now.
    pub fn merged(&mut self, first: Queued, second: Queued) {
        match self {
            AnyElevator::None(_) => {}
            AnyElevator::MqDeadline(e) => e.merged(first, second),
        }
    }
}
