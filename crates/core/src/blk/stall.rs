//! The stall detector: tags are free, tasks wait for one, and nothing is on its way that would wake them.
//!
//! Models: nothing; what hung-task reports leave to the reader (report 11).
//! Rule: looked at whenever a waiter lies down or tags come back; a queue stalls once, with the moment and the numbers.
//! Leaves out: stalls of devices and frozen queues.

use super::Ctx;
use crate::observe::snapshot::StallView;
use crate::observe::why::Why;
use crate::units::DevIdx;

impl Ctx<'_> {
    /// Nothing in flight means nobody will free a tag, and nobody woken means nobody will take one.
    pub(super) fn look_for_stall(&mut self, dev: DevIdx, h: u16) {
        let now = self.bus.now;
        let q = self.queue(dev);
        let tags = q.waited_tags(h);
        if tags.busy() > 0 || tags.ws_active() == 0 || tags.ws_active() > tags.nr_waiters() {
            return;
        }
        let (wake_batch, waiters) = (tags.wake_batch(), tags.nr_waiters());
        let first = tags.waiters().iter().find_map(|ws| ws.front().copied());
        if q.stall.is_some() {
            return;
        }
        q.stall = Some(StallView { hctx: h, since: now, wake_batch, waiters });
        self.bus.stats.nr_stalls += 1;
        let bio = first.map_or(0, |w| self.bios[w.bio].id);
        self.bus.because(bio, Why::Stalled { dev, hctx: h, wake_batch, waiters });
    }
}
