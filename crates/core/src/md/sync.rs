//! The sync thread's way over an array: `check` of raid5 and raid6.
//!
//! Models: `md_do_sync` and `raid5_sync_request` (drivers/md, 7.1; md M.9).
//! Rule: one stripe after the other from sector 0; it stops where the speed check says so, or where no stripe is free,
//! and in that case sleeps one more tick when one is.
//! Leaves out: resync, repair and recovery, checkpoints, the sync of raid1 and raid10.

use super::raid5::STRIPE_SECTORS;
use super::sync_speed::{Foreground, Pace, SyncSpeed};
use crate::config::SyncConfig;
use crate::time::{MS, SimDuration, SimTime};
use crate::units::Sector;

/// A tick at HZ=1000.
const TICK: SimDuration = MS;
/// sync_io_depth 32 of raid456, in sectors of progress.
const DEPTH: u64 = 32 * 8;

/// What the thread does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Hands this member sector on.
    Stripe(Sector),
    /// Sleeps, ns.
    Sleep(SimDuration),
    /// Waits until its own I/O is done.
    WaitDone,
    /// All of the array was handed on.
    Over,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Sync {
    speed: SyncSpeed,
    /// Member sectors handed on, and of those done.
    pos: Sector,
    done: Sector,
    end: Sector,
    /// A check is due before the next stripe.
    check: bool,
    /// The thread waits for its I/O to end.
    draining: bool,
    /// The thread waits for a free stripe.
    pub waits_for_stripe: bool,
}

impl Sync {
    /// At the start of the array, whose members hold `end` sectors each.
    pub fn new(cfg: SyncConfig, end: Sector) -> Self {
        let speed = SyncSpeed::new(cfg, Foreground::Array { depth_sectors: DEPTH }, 0, &[0]);
        Self { speed, pos: 0, done: 0, end, check: false, draining: false, waits_for_stripe: false }
    }

    /// `events`: sectors of the array's own I/O; `busy`: it has some in flight.
    pub fn next(&mut self, now: SimTime, events: u64, busy: bool) -> Next {
        if self.pos >= self.end {
            return Next::Over;
        }
        if self.draining && self.done < self.pos {
            return Next::WaitDone;
        }
        self.draining = false;
        if self.check {
            match self.speed.check(now, self.pos - self.done, &[events as i64], busy) {
                Pace::Go => self.check = false,
                Pace::Sleep(ns) => return Next::Sleep(ns),
                Pace::Drain => {
                    self.check = false;
                    self.draining = self.done < self.pos;
                    if self.draining {
                        return Next::WaitDone;
                    }
                }
            }
        }
        Next::Stripe(self.pos)
    }

    /// The stripe was taken in.
    pub fn handed_on(&mut self) {
        self.pos += u64::from(STRIPE_SECTORS);
        self.check = self.speed.advance(u64::from(STRIPE_SECTORS));
    }

    /// Stripes were checked; the delay after which a thread that waited for that runs.
    pub fn stripes_done(&mut self, stripes: u32) -> Option<SimDuration> {
        self.done += u64::from(stripes) * u64::from(STRIPE_SECTORS);
        if core::mem::take(&mut self.waits_for_stripe) {
            return Some(TICK);
        }
        (self.draining && self.done >= self.pos).then_some(0)
    }

    /// Member sectors checked.
    pub fn done(&self) -> Sector {
        self.done
    }
}
