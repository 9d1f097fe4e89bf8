//! Weight-raising: queues whose user seems to wait.
//!
//! Models: bfq_update_bfqq_wr_on_rq_arrival, bfq_update_wr_data, bfq_bfqq_softrt_next_start, bfq_handle_burst
//! (kernel 4.5).
//! Rule: a queue that begins after a pause of 2 s is interactive: 30 times its weight, for as long as starting a large
//! program takes on this device, or until it was served more than such a program needs. One that begins no sooner than
//! a stream of 7000 sectors/s would is soft real-time: 3000 times, for 300 ms after each beginning. Eight queues
//! created within 180 ms of each other are a burst (a job with many processes): none of them is raised.
//! Leaves out: raising while idle (`bfq_end_wr`), queues that were merged and split.

use crate::time::{MS, SEC, SimDuration, SimTime};

/// Weight factor of interactive queues, and what is added for soft real-time ones.
pub(super) const COEFF: u32 = 30;
const SOFT_RT_FACTOR: u32 = 100;
/// A soft real-time queue stays raised that long.
pub(super) const SOFT_RT_TIME: SimDuration = 300 * MS;
/// An async queue is raised if it had no request for so long.
pub(super) const ASYNC_PAUSE: SimDuration = 500 * MS;
/// A queue is interactive after so long a pause.
pub(super) const MIN_IDLE: SimDuration = 2 * SEC;
/// Sectors/s of the fastest soft real-time stream.
const SOFT_RT_RATE: u64 = 7000;
/// An interactive task needs no more sectors.
const MAX_SERVICE: u64 = 120_000;
const BURST_QUEUES: usize = 8;
const BURST_INTERVAL: SimDuration = 180 * MS;

/// Raising of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Raise {
    /// 1: not raised.
    pub coeff: u32,
    /// Begin of raising; of a queue that is not raised its last request.
    pub since: SimTime,
    /// Length of raising; [`SOFT_RT_TIME`] says what it is.
    pub length: SimDuration,
    /// It was interactive, since then, when it turned soft real-time.
    pub interactive_since: Option<SimTime>,
    /// Sectors served since it became interactive.
    pub service: u64,
    pub in_burst: bool,
    /// A beginning before this is too early for a soft real-time stream.
    pub soft_rt_next: SimTime,
    /// `soft_rt_next` is due when its last request is done.
    pub soft_rt_update: bool,
    /// When it last became busy, and sectors served since.
    pub backlogged_at: SimTime,
    pub backlogged_service: u64,
}

impl Raise {
    pub fn new(now: SimTime) -> Self {
        Self {
            coeff: 1,
            since: now,
            length: 0,
            interactive_since: None,
            service: 0,
            in_burst: false,
            soft_rt_next: now,
            soft_rt_update: false,
            backlogged_at: now,
            backlogged_service: 0,
        }
    }

    /// Raised as soft real-time.
    pub fn soft_rt(&self) -> bool {
        self.coeff > 1 && self.length == SOFT_RT_TIME
    }

    pub fn begin(&mut self, now: SimTime, duration: SimDuration) {
        self.coeff = COEFF;
        self.length = duration;
        self.since = now;
        self.service = 0;
    }
    fn begin_soft_rt(&mut self, now: SimTime) {
        self.coeff = COEFF * SOFT_RT_FACTOR;
        self.length = SOFT_RT_TIME;
        self.since = now;
    }
    pub fn end(&mut self, now: SimTime) {
        self.coeff = 1;
        self.length = 0;
        self.since = now;
    }

    /// Back to what it was before it turned soft real-time, if that still lasts.
    pub fn end_soft_rt(&mut self, now: SimTime, duration: SimDuration) {
        match self.interactive_since.filter(|s| self.soft_rt() && now <= s.saturating_add(duration)) {
            Some(since) => (self.coeff, self.length, self.since) = (COEFF, duration, since),
            None => self.end(now),
        }
    }

    /// The queue becomes busy; true if raising began and its budget is to be small.
    pub fn beginning(&mut self, now: SimTime, interactive: bool, soft_rt: bool, duration: SimDuration) -> bool {
        let began = self.coeff == 1 && (interactive || soft_rt);
        if interactive {
            self.begin(now, duration);
        } else if self.coeff > 1 && self.in_burst {
            self.end(now);
        } else if soft_rt {
            if self.coeff == 1 {
                self.interactive_since = None;
            } else if self.length != SOFT_RT_TIME {
                self.interactive_since = Some(self.since);
            }
            self.begin_soft_rt(now);
        }
        began
    }

    /// Ends raising that is over; a soft real-time queue may still be interactive.
    pub fn update(&mut self, now: SimTime, duration: SimDuration) {
        if self.coeff == 1 {
            return;
        }
        if self.in_burst {
            self.end(now);
        } else if now > self.since.saturating_add(self.length) {
            self.end_soft_rt(now, duration);
        } else if !self.soft_rt() && self.service > MAX_SERVICE {
            self.end(now);
        }
    }

    /// Sectors were charged.
    pub fn served(&mut self, sectors: u32) {
        if self.coeff > 1 {
            self.service += u64::from(sectors);
        }
        self.backlogged_service += u64::from(sectors);
    }

    /// `bfq_bfqq_softrt_next_start`: with its backlog served it may begin again when a stream of the highest rate
    /// would have used up what it got, and not at once, as a greedy one does.
    pub fn plan_soft_rt(&mut self, now: SimTime, slice_idle: SimDuration) {
        let by_rate = self.backlogged_at.saturating_add(self.backlogged_service.saturating_mul(SEC) / SOFT_RT_RATE);
        self.soft_rt_next = self.soft_rt_next.max(by_rate).max(now.saturating_add(slice_idle + 4 * MS));
    }
}

/// Queues created shortly after one another.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Burst {
    last: Option<SimTime>,
    large: bool,
    queues: [usize; BURST_QUEUES],
    size: usize,
}

impl Burst {
    /// A queue was created: those that are found to be part of a large burst now.
    pub fn created(&mut self, queue: usize, now: SimTime) -> &[usize] {
        let goes_on = self.last.is_some_and(|last| now <= last.saturating_add(BURST_INTERVAL));
        self.last = Some(now);
        if !goes_on {
            (self.large, self.size) = (false, 0);
        }
        if self.large {
            self.queues[0] = queue;
            return &self.queues[..1];
        }
        self.queues[self.size] = queue;
        self.size += 1;
        self.large = self.size == BURST_QUEUES;
        if self.large { &self.queues } else { &[] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_4_5_eight_queues_in_180_ms_are_a_burst() {
        let mut b = Burst::default();
        for i in 0..7 {
            assert!(b.created(i, i as u64 * 100 * MS).is_empty());
        }
        assert_eq!(b.created(7, 780 * MS), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(b.created(8, 900 * MS), [8]);
        assert!(b.created(9, 1081 * MS).is_empty(), "a new one begins");
    }

    #[test]
    fn section_4_5_interactive_raising_ends() {
        let mut r = Raise::new(0);
        assert!(r.beginning(0, true, false, 3 * SEC) && r.coeff == 30);
        r.update(3 * SEC, 3 * SEC);
        assert_eq!(r.coeff, 30);
        r.update(3 * SEC + 1, 3 * SEC);
        assert_eq!(r.coeff, 1);
        r.begin(0, 3 * SEC);
        r.served(120_001);
        r.update(1, 3 * SEC);
        assert_eq!(r.coeff, 1, "served more than an interactive task needs");
        r.begin(0, 3 * SEC);
        r.in_burst = true;
        r.update(1, 3 * SEC);
        assert_eq!(r.coeff, 1);
    }

    #[test]
    fn section_4_5_soft_real_time_falls_back_to_interactive() {
        let mut r = Raise::new(0);
        r.beginning(0, true, false, 3 * SEC);
        assert!(!r.beginning(SEC, false, true, 3 * SEC));
        assert_eq!((r.coeff, r.length), (3000, SOFT_RT_TIME));
        r.update(SEC + 301 * MS, 3 * SEC);
        assert_eq!((r.coeff, r.since), (30, 0));
        r.backlogged_at = 5 * SEC;
        r.backlogged_service = 700;
        r.plan_soft_rt(5 * SEC + MS, 8 * MS);
        assert_eq!(r.soft_rt_next, 5100 * MS);
    }
}
