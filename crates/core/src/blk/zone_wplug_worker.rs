//! The per-disk worker that issues all zone writes one at a time (`zoned_qd1_writes`).
//!
//! Models: `disk_zone_wplugs_worker` (block/blk-zoned.c, 7.1; kernel 5.3).
//! Rule: FIFO over listed zones; a zone is delisted before it is served and served until its plug is empty, bios that
//! arrive meanwhile included; at most one zone write request is in flight on the disk.
//! Leaves out: the thread's nice value and its freezing.

use alloc::vec::Vec;

use super::{Ctx, Task};
use crate::event::Event;
use crate::observe::snapshot::WorkerState;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::units::{DevIdx, JobIdx, ZoneNo};

/// zone_wplugs_worker and zone_wplugs_worker_bio_done.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Worker {
    /// QUEUE_FLAG_ZONED_QD1_WRITES
    pub enabled: bool,
    /// What it does.
    pub state: WorkerState,
    /// The zone it visits; it holds the listing's reference.
    pub visiting: Option<ZoneNo>,
}

impl Ctx<'_> {
    fn worker(&mut self, dev: DevIdx) -> &mut Worker {
        &mut self.queue(dev).wplugs.worker
    }

    /// wake_up_process: no effect on a worker that already runs or waits for I/O.
    pub(super) fn wake_worker(&mut self, dev: DevIdx) {
        let delay = self.cfg.host.worker_wake_ns;
        let w = self.worker(dev);
        if w.state == WorkerState::Asleep {
            w.state = WorkerState::Waking;
            self.bus.after(delay, Event::Worker(dev));
        }
    }

    /// The request the worker waited for is done: it runs again after the time a context switch takes.
    pub(super) fn worker_bio_done(&mut self, dev: DevIdx, rq: Idx) {
        let (id, zone) = (self.rqs[rq].id, self.rqs[rq].zone);
        let delay = self.cfg.host.issue_ns;
        let w = self.worker(dev);
        if matches!(w.state, WorkerState::Waiting { rq, .. } if rq == id) {
            w.state = WorkerState::Serving { zone };
            self.bus.after(delay, Event::Worker(dev));
        }
    }

    /// Runs the worker until it waits for a request or falls asleep.
    pub(crate) fn worker_run(&mut self, dev: DevIdx) {
        loop {
            if let Some(zone) = self.worker(dev).visiting {
                if let Some(bio) = self.zone_next_bio(dev, zone, flag::WORKER) {
                    self.worker(dev).state = WorkerState::Serving { zone };
                    // May sleep for a tag; the wait for the request starts when it is allocated.
                    self.issue_bio(dev, bio, Task::Worker);
                    return;
                }
                self.worker(dev).visiting = None;
                self.wplug_put(dev, zone);
            }
            let Some(zone) = self.queue(dev).wplugs.list.pop_front() else {
                self.worker(dev).state = WorkerState::Asleep;
                return;
            };
            self.worker_turn_to(dev, zone);
        }
    }

    /// Delists a zone and starts its visit.
    fn worker_turn_to(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        let waiting = wplugs.list.len() as u32;
        let w = wplugs.hash.get_mut(&zone).expect("a listed plug is referenced");
        w.listed = false;
        let pending = w.bios.len() as u32;
        wplugs.worker.visiting = Some(zone);
        if pending == 0 {
            self.bus.because(0, Why::WorkerFoundEmpty { zone });
            return;
        }
        self.bus.because(0, Why::WorkerServes { zone, pending, waiting });
        self.trace_zone(dev, zone, Action::Worker, flag::WORKER, JobIdx::MAX);
    }

    /// zoned_qd1_writes is cleared. The queue is frozen, so its plugs are empty; before a grace period is over the worker
    /// has seen that, too.
    pub(super) fn worker_retires(&mut self, dev: DevIdx) {
        let w = self.worker(dev);
        if w.state != WorkerState::Asleep {
            // It runs once more and finds nothing.
            w.state = WorkerState::Waking;
        }
        let visited = w.visiting.take();
        let wplugs = &mut self.queue(dev).wplugs;
        let listed: Vec<ZoneNo> = wplugs.list.drain(..).collect();
        for zone in &listed {
            wplugs.hash.get_mut(zone).expect("a listed plug is referenced").listed = false;
        }
        for zone in visited.into_iter().chain(listed) {
            self.wplug_put(dev, zone);
        }
    }

    /// A request of the worker has been allocated: it waits for this one.
    pub(super) fn worker_waits_for(&mut self, dev: DevIdx, rq: Idx) {
        let (id, zone) = (self.rqs[rq].id, self.rqs[rq].zone);
        self.worker(dev).state = WorkerState::Waiting { zone, rq: id };
    }
}
