//! The stall detector: tags are free, tasks wait for one, and nothing is on its way that would wake them.
//!
//! Models: nothing; what hung-task reports leave to the reader (report 11).
//! Rule: suspected whenever a waiter lies down or tags come back; certain when 10 ms later it is still so. A queue stalls
//! once, with the moment and the numbers.
//! Leaves out: stalls of devices and frozen queues.

use super::{Ctx, Queue};
use crate::event::Event;
use crate::observe::snapshot::StallView;
use crate::observe::why::Why;
use crate::time::SimDuration;
use crate::units::DevIdx;

/// In this time someone new may come along whose completion wakes a waiter.
const CERTAIN_NS: SimDuration = 10_000_000;

impl Queue {
    /// Nothing in flight means nobody will free a tag, and nobody woken means nobody will take one.
    fn is_stuck(&mut self, h: u16) -> bool {
        let tags = self.waited_tags(h);
        tags.busy() == 0 && tags.ws_active() > 0 && tags.ws_active() <= tags.nr_waiters()
    }
}

impl Ctx<'_> {
    /// Suspects a stall.
    pub(super) fn look_for_stall(&mut self, dev: DevIdx, h: u16) {
        let now = self.bus.now;
        let q = self.queue(dev);
        if q.is_stuck(h) && q.stall.is_none() && q.stuck_since.is_none() {
            q.stuck_since = Some(now);
            self.bus.after(CERTAIN_NS, Event::Stall(dev));
        }
    }

    /// `Event::Stall`: looks again.
    pub(crate) fn stall_event(&mut self, dev: DevIdx) {
        let q = self.queue(dev);
        let Some(since) = q.stuck_since.take() else { return };
        let Some(hctx) = (0..q.hctxs.len() as u16).find(|h| q.is_stuck(*h)) else { return };
        let tags = q.waited_tags(hctx);
        let (wake_batch, waiters) = (tags.wake_batch(), tags.nr_waiters());
        let first = tags.waiters().iter().find_map(|ws| ws.front().copied());
        q.stall = Some(StallView { hctx, since, wake_batch, waiters });
        self.bus.stats.nr_stalls += 1;
        let bio = first.map_or(0, |w| self.bios[w.bio].id);
        self.bus.because(bio, Why::Stalled { dev, hctx, wake_batch, waiters });
    }
}
