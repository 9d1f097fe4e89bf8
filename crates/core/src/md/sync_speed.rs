//! How fast a sync thread may go.
//!
//! Models: the speed check of `md_do_sync`, `is_mddev_idle` and `sync_io_within_limit` of drivers/md/md.c, 5.17 and
//! 7.1 (md M.9).
//! Rule: every 128 KiB of progress the thread compares its speed since the oldest of ten marks with its limits: up to
//! the minimum it runs on, over the maximum it sleeps, and between them it lets foreground I/O pass by waiting until
//! none of its own is in flight.
//! Leaves out: checkpoints of the progress, changes of the limits while it runs.

use alloc::vec::Vec;

use crate::config::SyncConfig;
use crate::time::{MS, SEC, SimDuration, SimTime};

/// Progress between two checks: 32 pages, in sectors.
const WINDOW: u64 = 256;
/// SYNC_MARKS
const MARKS: usize = 10;
/// SYNC_MARK_STEP
const MARK_STEP: SimDuration = 3 * SEC;
/// Sleep of a thread that is too fast.
const NAP: SimDuration = 500 * MS;

/// Who counts as foreground I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foreground {
    /// 5.17: a member completed more than 64 sectors that were not the sync's own.
    Members,
    /// 7.1: the array completed or has something in flight, and the sync itself at least sync_io_depth.
    Array {
        /// sync_io_depth in sectors of progress: 32 * 8 for raid456, 32 * 128 for the others.
        depth_sectors: u64,
    },
}

/// What the thread does after a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Goes on.
    Go,
    /// Sleeps so many ns and checks again.
    Sleep(SimDuration),
    /// Waits until none of its own I/O is in flight, then goes on.
    Drain,
}

/// The thread's counts.
#[derive(Clone, Debug, PartialEq)]
pub struct SyncSpeed {
    /// sync_speed_min and sync_speed_max, KiB/s per member.
    limits: SyncConfig,
    foreground: Foreground,
    /// When, and sectors done by then; a ring.
    marks: [(SimTime, u64); MARKS],
    last_mark: usize,
    /// resync_mark: the speed is measured from here.
    mark: (SimTime, u64),
    /// Sectors of progress asked for.
    asked: u64,
    last_check: u64,
    /// Foreground sectors at the last look that saw any.
    last_events: Vec<i64>,
}

impl SyncSpeed {
    /// A thread that starts now; `events` as for [`SyncSpeed::check`].
    pub fn new(limits: SyncConfig, foreground: Foreground, now: SimTime, events: &[i64]) -> Self {
        Self {
            limits,
            foreground,
            marks: [(now, 0); MARKS],
            last_mark: 0,
            mark: (now, 0),
            asked: 0,
            last_check: 0,
            last_events: events.to_vec(),
        }
    }

    /// `sectors` of progress were handed to the array; true when a check is due.
    pub fn advance(&mut self, sectors: u64) -> bool {
        self.asked += sectors;
        let due = self.last_check + WINDOW <= self.asked;
        if due {
            self.last_check = self.asked;
        }
        due
    }

    /// The check. `active` = sectors of progress in flight. `events`: for `Members` each member's completed sectors
    /// minus the sync's own, for `Array` the array's completed sectors alone; `array_busy`: it has I/O in flight.
    pub fn check(&mut self, now: SimTime, active: u64, events: &[i64], array_busy: bool) -> Pace {
        let done = self.asked - active;
        if now >= self.marks[self.last_mark].0 + MARK_STEP {
            self.last_mark = (self.last_mark + 1) % MARKS;
            self.mark = core::mem::replace(&mut self.marks[self.last_mark], (now, done));
        }
        let kib = done.saturating_sub(self.mark.1) / 2;
        let speed = kib / ((now - self.mark.0) / SEC + 1) + 1;
        if speed <= u64::from(self.limits.speed_min) {
            Pace::Go
        } else if speed > u64::from(self.limits.speed_max) {
            Pace::Sleep(NAP)
        } else if self.yields(active, events, array_busy) {
            Pace::Drain
        } else {
            Pace::Go
        }
    }

    /// Foreground I/O was seen and the thread has enough in flight to give way.
    fn yields(&mut self, active: u64, events: &[i64], array_busy: bool) -> bool {
        let (slack, mut seen) = match self.foreground {
            Foreground::Members => (64, false),
            Foreground::Array { depth_sectors } if active < depth_sectors => return false,
            Foreground::Array { .. } => (0, array_busy),
        };
        for (last, now) in self.last_events.iter_mut().zip(events) {
            if *now > *last + slack {
                *last = *now;
                seen = true;
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SyncConfig = SyncConfig { speed_min: 1000, speed_max: 200_000 };
    const RAID456: Foreground = Foreground::Array { depth_sectors: 32 * 8 };

    #[test]
    fn md_m12_vector_15_the_maximum_holds_over_the_marks() {
        // 128 KiB per member take 524.288 us at 250 MB/s.
        let mut s = SyncSpeed::new(LIMITS, RAID456, 0, &[0]);
        let (mut now, mut kib, mut naps, mut at_60) = (0, 0, 0, 0);
        while now < 120 * SEC {
            now += 524_288;
            kib += 128;
            assert!(s.advance(256));
            while let Pace::Sleep(ns) = s.check(now, 0, &[0], false) {
                assert_eq!(ns, 500 * MS);
                now += ns;
                naps += 1;
            }
            if at_60 == 0 && now >= 60 * SEC {
                at_60 = kib;
            }
        }
        assert!(naps > 20, "{naps}");
        let speed = (kib - at_60) / 60;
        // Started seconds count whole, so a little more than the limit passes.
        assert!((195_000..208_000).contains(&speed), "{speed}");
    }

    #[test]
    fn md_m12_vector_15_foreground_of_7_1() {
        let mut s = SyncSpeed::new(LIMITS, RAID456, 0, &[0]);
        assert!(!s.advance(248) && s.advance(8));
        s.advance(100_000);
        // 31 stripes in flight: runs on. 32: drains, while the array is busy or has completed something since.
        assert_eq!(s.check(SEC, 31 * 8, &[8], true), Pace::Go);
        assert_eq!(s.check(SEC, 32 * 8, &[8], true), Pace::Drain);
        assert_eq!(s.check(SEC, 32 * 8, &[8], false), Pace::Go);
        assert_eq!(s.check(SEC, 32 * 8, &[16], false), Pace::Drain);
        assert_eq!(s.check(SEC, 32 * 8, &[16], false), Pace::Go);
        let mut raid1 = SyncSpeed::new(LIMITS, Foreground::Array { depth_sectors: 32 * 128 }, 0, &[0]);
        raid1.advance(100_000);
        assert_eq!(raid1.check(SEC, 4095, &[0], true), Pace::Go);
        assert_eq!(raid1.check(SEC, 4096, &[0], true), Pace::Drain);
    }

    #[test]
    fn md_m12_vector_15_foreground_of_5_17() {
        let mut s = SyncSpeed::new(LIMITS, Foreground::Members, 0, &[1000, -500]);
        s.advance(100_000);
        assert_eq!(s.check(SEC, 0, &[1064, -500], true), Pace::Go);
        // What is not yet enough adds up.
        assert_eq!(s.check(SEC, 8, &[1065, -500], false), Pace::Drain);
        assert_eq!(s.check(SEC, 8, &[1065, -436], false), Pace::Go);
        assert_eq!(s.check(SEC, 8, &[1065, -435], false), Pace::Drain);
        assert_eq!(s.check(SEC, 8, &[1065, -435], false), Pace::Go);
    }

    #[test]
    fn md_m9_speed_since_the_oldest_mark() {
        let mut s = SyncSpeed::new(LIMITS, RAID456, 0, &[0]);
        // At most the minimum: foreground I/O does not matter. 1998 sectors in the first second are 1000 KiB/s.
        s.advance(1998 + 256);
        assert_eq!(s.check(SEC - 1, 256, &[9], true), Pace::Go);
        s.advance(2);
        assert_eq!(s.check(SEC - 1, 256, &[9], true), Pace::Drain);
        // In flight is not done.
        s.advance(1_000_000);
        assert_eq!(s.check(SEC - 1, 1_000_000, &[9], false), Pace::Go);
        assert_eq!(s.check(SEC - 1, 0, &[9], false), Pace::Sleep(500 * MS));
        // After ten steps of 3 s the start is forgotten.
        for step in 1..=9 {
            s.check(step * 3 * SEC, 0, &[9], false);
        }
        assert_eq!(s.mark, (0, 0));
        s.check(30 * SEC, 0, &[9], false);
        assert_eq!(s.mark, (0, 0));
        s.check(33 * SEC, 0, &[9], false);
        assert_eq!(s.mark, (3 * SEC, 1_002_256));
    }
}
