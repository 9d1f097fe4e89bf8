//! blk-throttle: io.max of one cgroup on one device.
//!
//! Models: block/blk-throttle.c, 7.1 (kernel 1.4).
//! Rule: each direction has a budget that grows slice by slice of 100 ms while it is used, and a FIFO of bios that
//! did not fit. A bio's bytes are charged once, however often it is split later; every part counts as one I/O.
//! Leaves out: a hierarchy of groups, live changes of limits, the tick the kernel rounds waiting times to, separate
//! waiting lists for bytes and I/Os.

use alloc::vec::Vec;

use crate::config::ThrottleConfig;
use crate::fifo::Fifo;
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};

/// throtl_slice: a tenth of a second.
const SLICE: SimDuration = 100 * MS;
/// Bios a group dispatches at a time: reads, writes (three quarters and a quarter of throtl_grp_quantum 8).
const QUANTUM: [usize; 2] = [6, 2];

/// What becomes of a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Go,
    /// It is parked here until [`Throttle::dispatch`] hands it out.
    Held,
}

/// One direction.
#[derive(Clone, Debug, PartialEq, Default)]
struct Lane {
    /// Bytes a second, 0 = no limit.
    bps: u64,
    /// I/Os a second, 0 = no limit.
    iops: u64,
    slice_start: SimTime,
    slice_end: SimTime,
    /// Charged since `slice_start`.
    bytes: u64,
    ios: u64,
    /// Bios that wait with the bytes they will be charged, oldest first.
    queue: Fifo<(Idx, u64)>,
    /// When the oldest may go.
    due: SimTime,
}

/// What `rate` a second gives in a time.
fn budget(rate: u64, ns: SimDuration) -> u64 {
    (u128::from(rate) * u128::from(ns) / u128::from(SEC)) as u64
}

impl Lane {
    fn new(bps: u64, iops: u64) -> Self {
        Self { bps, iops, ..Self::default() }
    }

    /// Time until a bio of `bytes` fits, and the slice kept up to date for it.
    fn wait(&mut self, now: SimTime, bytes: u64) -> SimDuration {
        if now > self.slice_end && self.queue.is_empty() {
            (self.slice_start, self.slice_end, self.bytes, self.ios) = (now, now + SLICE, 0, 0);
        }
        let elapsed = now - self.slice_start;
        let mut wait = 0;
        if self.bps != 0 && bytes != 0 {
            let granted = elapsed.max(1).next_multiple_of(SLICE);
            let over = (self.bytes + bytes).saturating_sub(budget(self.bps, granted));
            if over != 0 {
                let ns = (u128::from(over) * u128::from(SEC)).div_ceil(u128::from(self.bps)) as u64;
                wait = ns + (granted - elapsed);
            }
        }
        if self.iops != 0 {
            let granted = (elapsed + 1).next_multiple_of(SLICE);
            if self.ios + 1 > budget(self.iops, granted) {
                wait = wait.max(granted - elapsed).max(SEC / self.iops);
            }
        }
        // A slice lives on while there is something to charge to it.
        self.slice_end = self.slice_end.max((now + wait.max(SLICE)).next_multiple_of(SLICE));
        wait
    }

    /// Charges a bio that fits and forgets slices long past.
    fn charge(&mut self, now: SimTime, bytes: u64) {
        self.bytes += bytes;
        self.ios += 1;
        let elapsed = (now - self.slice_start) / SLICE * SLICE;
        if elapsed >= 2 * SLICE {
            let past = elapsed - SLICE;
            self.bytes = self.bytes.saturating_sub(budget(self.bps, past));
            self.ios = self.ios.saturating_sub(budget(self.iops, past));
            self.slice_start += past;
        }
        self.slice_end = now + SLICE;
    }
}

/// Budgets and parked bios of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct Throttle {
    /// Reads, writes.
    lanes: [Lane; 2],
}

impl Throttle {
    /// Nothing charged.
    pub fn new(cfg: ThrottleConfig) -> Self {
        Self { lanes: [Lane::new(cfg.rbps, cfg.riops), Lane::new(cfg.wbps, cfg.wiops)] }
    }

    /// `blk_throtl_bio`: charges a bio or parks it. Without `charge_bytes` (BIO_BPS_THROTTLED) only the I/O counts.
    pub fn charge(&mut self, now: SimTime, write: bool, bytes: u64, charge_bytes: bool, bio: Idx) -> Verdict {
        let lane = &mut self.lanes[usize::from(write)];
        let bytes = if charge_bytes { bytes } else { 0 };
        if lane.iops == 0 && (lane.bps == 0 || !charge_bytes) {
            return Verdict::Go;
        }
        if lane.queue.is_empty() {
            let wait = lane.wait(now, bytes);
            if wait == 0 {
                lane.charge(now, bytes);
                return Verdict::Go;
            }
            lane.due = now + wait;
        }
        lane.queue.push_back((bio, bytes));
        Verdict::Held
    }

    /// When a parked bio may go; it may lie in the past after a dispatch that was cut short.
    pub fn next_time(&self) -> Option<SimTime> {
        self.lanes.iter().filter(|l| !l.queue.is_empty()).map(|l| l.due).min()
    }

    /// `throtl_dispatch_tg`: charges and hands out bios whose time has come, reads first, at most 6 reads and 2
    /// writes.
    pub fn dispatch(&mut self, now: SimTime) -> Vec<Idx> {
        let mut out = Vec::new();
        for (lane, quantum) in self.lanes.iter_mut().zip(QUANTUM) {
            let most = out.len() + quantum;
            while let Some((bio, bytes)) = lane.queue.front().copied() {
                lane.due = now + lane.wait(now, bytes);
                if lane.due > now || out.len() == most {
                    break;
                }
                lane.charge(now, bytes);
                lane.queue.pop_front();
                out.push(bio);
            }
        }
        out
    }

    /// Bios parked.
    pub fn held(&self) -> u32 {
        self.lanes.iter().map(|l| l.queue.len() as u32).sum()
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.lanes.iter().map(|l| l.queue.capacity() * size_of::<(Idx, u64)>()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const KIB: u64 = 1024;

    fn write(t: &mut Throttle, now: SimTime, kib: u64, bio: Idx) -> Verdict {
        t.charge(now, true, kib * KIB, true, bio)
    }

    #[test]
    fn kernel_1_4_bytes_of_a_slice() {
        // 1000 KiB/s: 100 KiB a slice.
        let mut t = Throttle::new(ThrottleConfig { wbps: 1000 * KIB, ..ThrottleConfig::default() });
        assert_eq!(write(&mut t, 0, 60, 1), Verdict::Go);
        // 20 KiB too many: 20 ms after the slice.
        assert_eq!(write(&mut t, 10 * MS, 60, 2), Verdict::Held);
        assert_eq!(t.next_time(), Some(120 * MS));
        // What comes later waits behind it, small as it is; the other direction does not.
        assert_eq!(write(&mut t, 20 * MS, 1, 3), Verdict::Held);
        assert_eq!(t.charge(20 * MS, false, 1 << 30, true, 4), Verdict::Go);
        assert_eq!((t.dispatch(99 * MS), t.next_time(), t.held()), (vec![], Some(120 * MS), 2));
        // By then two slices have been granted, and both fit.
        assert_eq!((t.dispatch(120 * MS), t.next_time()), (vec![2, 3], None));
        // 121 of 200 KiB are used: 79 fit.
        assert_eq!(write(&mut t, 130 * MS, 79, 5), Verdict::Go);
        assert_eq!(write(&mut t, 130 * MS, 1, 6), Verdict::Held);
        assert_eq!(t.next_time(), Some(201 * MS));
    }

    #[test]
    fn kernel_1_4_ios_of_a_slice() {
        let mut t = Throttle::new(ThrottleConfig { riops: 20, ..ThrottleConfig::default() });
        let mut read = |now, bio| (t.charge(now, false, 4096, true, bio), t.next_time());
        assert_eq!(read(5 * MS, 1), (Verdict::Go, None));
        assert_eq!(read(5 * MS, 2), (Verdict::Go, None));
        // The slice began at 5 ms and ends at 105; but one I/O takes 50 ms of the limit, and so long is the wait.
        assert_eq!(read(60 * MS, 3), (Verdict::Held, Some(110 * MS)));
        assert_eq!(t.dispatch(110 * MS), [3]);
    }

    #[test]
    fn kernel_1_4_an_idle_budget_is_not_saved_up() {
        let mut t = Throttle::new(ThrottleConfig { wbps: 1000 * KIB, ..ThrottleConfig::default() });
        assert_eq!(write(&mut t, 0, 100, 1), Verdict::Go);
        assert_eq!(write(&mut t, 10 * SEC, 100, 2), Verdict::Go);
        assert_eq!(write(&mut t, 10 * SEC, 20, 3), Verdict::Held);
        assert_eq!(t.next_time(), Some(10 * SEC + 120 * MS));
    }

    #[test]
    fn kernel_1_4_bytes_are_charged_once_and_ios_per_part() {
        let mut t = Throttle::new(ThrottleConfig { wbps: 1000 * KIB, wiops: 20, ..ThrottleConfig::default() });
        assert_eq!(t.charge(0, true, 100 * KIB, true, 1), Verdict::Go);
        // Its remainder brings no bytes, but is the second I/O of two.
        assert_eq!(t.charge(0, true, 50 * KIB, false, 2), Verdict::Go);
        assert_eq!(t.charge(0, true, 25 * KIB, false, 3), Verdict::Held);
        assert_eq!(t.next_time(), Some(100 * MS));
        // Without a limit of I/Os a remainder is not even looked at.
        let mut t = Throttle::new(ThrottleConfig { wbps: 1000 * KIB, ..ThrottleConfig::default() });
        assert_eq!(write(&mut t, 0, 101, 1), Verdict::Held);
        assert_eq!(t.charge(0, true, 50 * KIB, false, 2), Verdict::Go);
    }

    #[test]
    fn kernel_1_4_six_reads_and_two_writes_at_a_time() {
        let limits = ThrottleConfig { riops: 100, wiops: 100, ..ThrottleConfig::default() };
        let mut t = Throttle::new(limits);
        for bio in 0..40 {
            let verdict = t.charge(0, bio >= 20, 4096, true, bio);
            assert_eq!(verdict == Verdict::Go, bio % 20 < 10, "{bio}");
        }
        let now = t.next_time().unwrap();
        assert_eq!(now, 100 * MS);
        assert_eq!(t.dispatch(now), [10, 11, 12, 13, 14, 15, 30, 31]);
        // More may go at once.
        assert_eq!(t.next_time(), Some(now));
        assert_eq!(t.dispatch(now), [16, 17, 18, 19, 32, 33]);
        assert_eq!((t.dispatch(now), t.held()), (vec![34, 35], 4));
    }

    #[test]
    fn kernel_1_4_the_long_run_keeps_the_limit() {
        // A task that always has a 64 KiB write to give, at 10 MiB/s.
        let mut t = Throttle::new(ThrottleConfig { wbps: 10 << 20, ..ThrottleConfig::default() });
        let (mut now, mut bytes) = (0, 0);
        while now < 10 * SEC {
            if write(&mut t, now, 64, 0) == Verdict::Held {
                now = t.next_time().unwrap();
                assert_eq!(t.dispatch(now), [0]);
            }
            bytes += 64 * KIB;
        }
        assert!((100 << 20..102 << 20).contains(&bytes), "{bytes}");
    }
}
