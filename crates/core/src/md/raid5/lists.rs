//! Where a stripe waits, and which one raid5d takes next.
//!
//! Models: `do_release_stripe`, `raid5_release_stripe`, `raid5_activate_delayed`, `__get_priority_stripe` (md M.6).
//! Rule: ready stripes are served in order of release. Those that have to read first wait in generations: a new one
//! starts when no stripe of the last may read any more, and only when nothing else is ready or full-stripe writes have
//! passed it by often enough.
//! Leaves out: bitmap_list, lists of worker groups.

use super::{List, Raid5, state};
use crate::fifo::Fifo;

/// IO_THRESHOLD: stripes allowed to read, below which the delayed ones are activated.
const IO_THRESHOLD: u32 = 1;

impl Raid5 {
    fn list(&mut self, list: List, pool: u8) -> Option<&mut Fifo<u32>> {
        match list {
            List::None => None,
            List::Inactive => Some(&mut self.inactive[usize::from(pool)]),
            List::Handle => Some(&mut self.handle_list),
            List::Delayed => Some(&mut self.delayed_list),
            List::Hold => Some(&mut self.hold_list),
        }
    }
    /// Takes a stripe off the list it is on; a free one becomes active.
    pub(super) fn unlist(&mut self, i: u32) {
        let s = self.stripe(i);
        let (was, pool) = (s.list, s.pool);
        s.list = List::None;
        self.active += u32::from(was == List::Inactive);
        if let Some(list) = self.list(was, pool)
            && let Some(at) = list.iter().position(|n| *n == i)
        {
            list.remove(at);
        }
    }
    /// Puts a stripe at the end of a list.
    fn enlist(&mut self, i: u32, list: List) {
        let s = self.stripe(i);
        s.list = list;
        let pool = s.pool;
        if let Some(list) = self.list(list, pool) {
            list.push_back(i);
        }
    }
    /// Takes PREREAD_ACTIVE back. True = raid5d may have delayed stripes to activate.
    pub(super) fn end_preread(&mut self, i: u32) -> bool {
        if !self.stripe(i).take(state::PREREAD_ACTIVE) {
            return false;
        }
        self.preread_active -= 1;
        self.preread_active < IO_THRESHOLD
    }
    /// Drops a reference. With the last one the stripe goes to its list. True = raid5d is to be woken.
    pub(super) fn unref(&mut self, i: u32) -> bool {
        let s = self.stripe(i);
        s.refs -= 1;
        if s.refs > 0 {
            return false;
        }
        if !s.has(state::HANDLE) {
            let wake = self.end_preread(i);
            self.active -= 1;
            self.enlist(i, List::Inactive);
            return wake;
        }
        if s.has(state::DELAYED) && !s.has(state::PREREAD_ACTIVE) {
            self.enlist(i, List::Delayed);
        } else {
            s.state &= !state::DELAYED;
            self.enlist(i, List::Handle);
        }
        true
    }
    /// Drops a reference; the last one is left to raid5d. True = raid5d is to be woken.
    pub(super) fn put(&mut self, i: u32) -> bool {
        let s = self.stripe(i);
        if s.refs > 1 {
            s.refs -= 1;
            return false;
        }
        self.released.push_back(i);
        true
    }
    /// A plug lets go of a stripe. True = raid5d is to be woken.
    pub fn release(&mut self, stripe: u32) -> bool {
        self.stripe(stripe).state &= !state::ON_UNPLUG_LIST;
        self.unref(stripe)
    }
    /// Starts the next generation of stripes that have to read.
    pub(super) fn activate_delayed(&mut self) {
        if self.preread_active >= IO_THRESHOLD {
            return;
        }
        while let Some(i) = self.delayed_list.pop_front() {
            let s = self.stripe(i);
            s.state &= !state::DELAYED;
            if !s.has(state::PREREAD_ACTIVE) {
                s.state |= state::PREREAD_ACTIVE;
                self.preread_active += 1;
            }
            self.enlist(i, List::Hold);
        }
    }
    /// The stripe to handle next, with a reference.
    pub(super) fn take_priority(&mut self) -> Option<u32> {
        let (ready, held) = (self.handle_list.front().copied(), self.hold_list.front().copied());
        let i = if let Some(i) = ready {
            match held {
                None => self.bypass_count = 0,
                Some(_) if self.stripe(i).has(state::IO_STARTED) => {}
                Some(held) if held == self.last_hold => self.bypass_count += 1,
                Some(held) => {
                    self.last_hold = held;
                    self.bypass_count = self.bypass_count.saturating_sub(self.bypass_threshold);
                }
            }
            i
        } else {
            let passed = self.bypass_threshold > 0 && self.bypass_count > self.bypass_threshold;
            let held = held.filter(|_| passed || self.pending_full_writes == 0)?;
            self.bypass_count = self.bypass_count.saturating_sub(self.bypass_threshold);
            held
        };
        self.unlist(i);
        self.stripe(i).refs = 1;
        Some(i)
    }
}
