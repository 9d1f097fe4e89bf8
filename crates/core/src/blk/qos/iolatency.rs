//! io.latency: who has the tighter target is protected from those with a looser one or none.
//!
//! Models: block/blk-iolatency.c, 7.1 (kernel 8.1).
//! Rule: every cgroup with a target judges its bios (from bio->issue_time_ns to their end) in windows of 16 targets, at
//! least 100 ms and at most 1 s: on rotational disks by their mean, else by a tenth that missed. A miss lowers a cookie
//! that all see, not more often than every 500 ms; each cgroup with a larger target, or none, finds it changed at its
//! next bio and halves its depth, which starts at nr_requests. Windows in time of the one that missed raise the cookie,
//! and each change gives back a sixteenth of nr_requests, at least 1. If that one falls silent, a timer of 1 s raises it
//! from 5 s after the last change on.
//! Leaves out: a hierarchy, delays of those at depth 1, the decaying average that io.stat shows.

use alloc::vec::Vec;

use super::{Gate, Hold, QosBio, QueueFacts, RqWait};
use crate::observe::snapshot::IoLatencyView;
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::JobIdx;

/// BLKIOLATENCY_MIN_WIN_SIZE, BLKIOLATENCY_MAX_WIN_SIZE
const WINDOW: [SimDuration; 2] = [100 * MS, SEC];
/// BLKIOLATENCY_MIN_ADJUST_TIME
const MIN_ADJUST: SimDuration = 500 * MS;
/// BLKIOLATENCY_MIN_GOOD_SAMPLES
const MIN_GOOD_SAMPLES: u64 = 5;
/// DEFAULT_SCALE_COOKIE: nobody is scaled down.
const UNSCALED: u32 = 1_000_000;
/// Period of the timer.
const TIMER: SimDuration = SEC;
/// Without a change for so long, the cgroup that missed no longer holds the others down.
const FORGOTTEN: SimDuration = 5 * SEC;

/// Latencies of a cgroup.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Stat {
    samples: u64,
    sum: u64,
    missed: u64,
}

impl Stat {
    fn add(&mut self, ns: SimDuration, target: SimDuration) {
        self.samples += 1;
        self.sum += ns;
        self.missed += u64::from(ns >= target);
    }
    fn mean(&self) -> SimDuration {
        self.sum.checked_div(self.samples).unwrap_or(0)
    }
    /// `latency_sum_ok`
    fn is_ok(&self, target: SimDuration, rotational: bool) -> bool {
        if rotational { self.mean() <= target } else { self.missed < (self.samples / 10).max(1) }
    }
}

/// A cgroup.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// io.latency target, ns; 0 = none.
    target: SimDuration,
    /// Bios it may have in flight; [`u32::MAX`] = not scaled.
    depth: u32,
    /// The cookie as it was at its last bio.
    cookie: u32,
    wait: RqWait,
    /// Length and start of the window.
    window: SimDuration,
    since: SimTime,
    /// Of this window; of all since the cookie was last judged.
    stat: Stat,
    all: Stat,
    /// Mean of the last window that ended.
    last_mean: SimDuration,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct IoLatency {
    /// By job.
    groups: Vec<Group>,
    nr_requests: u32,
    rotational: bool,
    /// scale_cookie
    cookie: u32,
    /// Smallest target that was missed; 0 = none.
    missed: SimDuration,
    /// Whose windows raise the cookie.
    by: Option<usize>,
    /// last_scale_event
    changed_at: Option<SimTime>,
    timer_at: Option<SimTime>,
}

/// `scale_amount`
fn scale_amount(nr_requests: u32, up: bool) -> u32 {
    (nr_requests >> if up { 4 } else { 2 }).max(1)
}

impl IoLatency {
    /// Targets of all jobs' cgroups; `None` where there are none.
    pub fn new(targets: impl Iterator<Item = SimDuration>, facts: QueueFacts) -> Option<Self> {
        let group = |target: SimDuration| Group {
            target,
            depth: u32::MAX,
            cookie: UNSCALED,
            wait: RqWait::default(),
            window: target.saturating_mul(16).clamp(WINDOW[0], WINDOW[1]),
            since: 0,
            stat: Stat::default(),
            all: Stat::default(),
            last_mean: 0,
        };
        let groups: Vec<Group> = targets.map(group).collect();
        groups.iter().any(|g| g.target > 0).then_some(Self {
            groups,
            nr_requests: facts.nr_requests,
            rotational: facts.rotational,
            cookie: UNSCALED,
            missed: 0,
            by: None,
            changed_at: None,
            timer_at: None,
        })
    }
    /// nr_requests changed.
    pub fn queue_changed(&mut self, facts: QueueFacts) {
        self.nr_requests = facts.nr_requests;
    }

    // ---- hooks ----

    /// `blkcg_iolatency_throttle`
    pub fn throttle(&mut self, b: &QosBio, now: SimTime, woken: &mut Vec<Idx>) -> Gate {
        let j = usize::from(b.job);
        if j >= self.groups.len() {
            return Gate::Pass;
        }
        self.timer_at.get_or_insert(now + TIMER);
        self.look_at_cookie(j, woken);
        let g = &mut self.groups[j];
        if b.as_root {
            g.wait.in_flight += 1;
            return Gate::Pass;
        }
        if g.wait.enter(b.bio, g.depth) {
            return Gate::Pass;
        }
        Gate::Wait(Hold::Latency { in_flight: g.wait.in_flight, depth: g.depth, target: self.missed })
    }
    /// `check_scale_change`: what the cookie's change since its last bio means for a cgroup.
    fn look_at_cookie(&mut self, j: usize, woken: &mut Vec<Idx>) {
        let (cookie, nr) = (self.cookie, self.nr_requests);
        let g = &mut self.groups[j];
        let before = core::mem::replace(&mut g.cookie, cookie);
        if cookie == before {
            return;
        }
        if cookie < before {
            // Only the one that missed and those with a larger target or none give way to it.
            let spared = g.target > 0 && (self.missed == 0 || g.target <= self.missed);
            if !spared {
                g.depth = (g.depth.min(nr) / 2).max(1);
            }
            return;
        }
        if cookie == UNSCALED {
            g.depth = u32::MAX;
        } else if g.depth < nr {
            g.depth = (g.depth + scale_amount(nr, true)).min(nr);
        }
        g.wait.wake(usize::MAX, g.depth, woken);
    }
    /// `blkcg_iolatency_done_bio`
    pub fn done_bio(&mut self, b: &QosBio, again: bool, now: SimTime, woken: &mut Vec<Idx>) {
        let j = usize::from(b.job);
        let Some(g) = self.groups.get_mut(j) else { return };
        g.wait.in_flight -= 1;
        if g.target > 0 && !again {
            // What passes as root would make a scaled cgroup look better than it is.
            if now > b.issue_time && !(b.as_root && g.depth != u32::MAX) {
                g.stat.add(now - b.issue_time, g.target);
            }
            if now - g.since >= g.window {
                g.since = now;
                self.window_over(j, now);
            }
        }
        let g = &mut self.groups[j];
        g.wait.wake(1, g.depth, woken);
    }
    /// `iolatency_check_latencies`
    fn window_over(&mut self, j: usize, now: SimTime) {
        let rotational = self.rotational;
        let g = &mut self.groups[j];
        let (target, stat) = (g.target, core::mem::take(&mut g.stat));
        g.last_mean = stat.mean();
        if stat.is_ok(target, rotational) && self.cookie == UNSCALED {
            return;
        }
        g.all.samples += stat.samples;
        g.all.sum += stat.sum;
        g.all.missed += stat.missed;
        if self.changed_at.is_some_and(|at| now - at < MIN_ADJUST) {
            return;
        }
        if g.all.is_ok(target, rotational) && stat.is_ok(target, rotational) {
            if g.all.samples < MIN_GOOD_SAMPLES {
                return;
            }
            if self.by == Some(j) {
                self.changed_at = Some(now);
                self.move_cookie(true);
            }
        } else if self.missed == 0 || self.missed >= target {
            self.changed_at = Some(now);
            if self.by.is_none() || self.missed > target {
                (self.missed, self.by) = (target, Some(j));
            }
            self.move_cookie(false);
        }
        self.groups[j].all = Stat::default();
    }
    /// `scale_cookie_change`: a hole so deep that it took hours to leave is not dug.
    fn move_cookie(&mut self, up: bool) {
        let nr = self.nr_requests;
        let below = UNSCALED - self.cookie;
        let scale = scale_amount(nr, up);
        let deep = below > nr;
        self.cookie = match up {
            true if scale + self.cookie > UNSCALED => UNSCALED,
            true => self.cookie + if deep { 1 } else { scale },
            false if deep => self.cookie - u32::from(below < nr << 3),
            false => self.cookie - scale,
        };
    }

    // ---- time ----

    /// When the timer fires.
    pub fn timer(&self) -> Option<SimTime> {
        self.timer_at
    }
    /// `blkiolatency_timer_fn`; the next bio arms it again.
    pub fn timer_fired(&mut self, now: SimTime) {
        if self.timer_at.is_none_or(|at| now < at) {
            return;
        }
        self.timer_at = None;
        if self.cookie == UNSCALED {
            return;
        }
        if self.by.is_none() {
            self.move_cookie(true);
        } else if self.changed_at.is_none_or(|at| now - at >= FORGOTTEN) {
            self.by = None;
        }
    }

    /// One entry a job.
    pub fn view(&self) -> Vec<IoLatencyView> {
        let view = |(job, g): (JobIdx, &Group)| IoLatencyView {
            job,
            target_ns: g.target,
            mean_ns: g.last_mean,
            depth: g.depth,
            in_flight: g.wait.in_flight,
            waiting: g.wait.waiters.len() as u32,
        };
        (0..).zip(&self.groups).map(view).collect()
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let waiters: usize = self.groups.iter().map(|g| g.wait.waiters.capacity() * size_of::<Idx>()).sum();
        self.groups.capacity() * size_of::<Group>() + waiters
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Op;
    use alloc::vec;

    fn facts(nr_requests: u32, rotational: bool) -> QueueFacts {
        QueueFacts { queue_depth: 32, nr_requests, write_back: false, rotational }
    }
    fn bio(job: JobIdx, bio: Idx) -> QosBio {
        let op = Op::Read;
        QosBio { bio, job, op, sector: 0, nr_sectors: 8, kind: None, as_root: false, issue_time: 0 }
    }
    /// Job 0 has a target of 10 ms, job 1 of 50 ms, job 2 none; 64 requests.
    fn three(rotational: bool) -> IoLatency {
        IoLatency::new([10 * MS, 50 * MS, 0].into_iter(), facts(64, rotational)).unwrap()
    }
    /// A bio of a job from `from` to `to`.
    fn one(l: &mut IoLatency, job: JobIdx, from: SimTime, to: SimTime) {
        let mut woken = vec![];
        let b = QosBio { issue_time: from, ..bio(job, 0) };
        assert_eq!(l.throttle(&b, from, &mut woken), Gate::Pass);
        l.done_bio(&b, false, to, &mut woken);
        assert_eq!(woken, []);
    }
    fn depths(l: &mut IoLatency) -> [u32; 3] {
        for j in 0..3 {
            l.look_at_cookie(j, &mut vec![]);
        }
        [0, 1, 2].map(|j: usize| l.groups[j].depth)
    }

    #[test]
    fn section_8_1_windows_of_16_targets() {
        let window = |target| IoLatency::new([target].into_iter(), facts(64, true)).map(|l| l.groups[0].window);
        assert_eq!([MS, 10 * MS, 75 * MS].map(window), [100 * MS, 160 * MS, SEC].map(Some));
        assert_eq!(window(0), None);
    }

    #[test]
    fn section_8_1_a_miss_halves_the_depth_of_larger_targets() {
        let mut l = three(true);
        // A mean of 10 ms is in time, one of 10 ms and a bit is not; it is judged when 160 ms are over.
        one(&mut l, 0, 0, 10 * MS);
        one(&mut l, 0, 140 * MS, 150 * MS);
        one(&mut l, 0, 150 * MS, 160 * MS);
        assert_eq!((l.cookie, l.groups[0].last_mean), (UNSCALED, 10 * MS));
        one(&mut l, 0, 200 * MS, 320 * MS);
        assert_eq!((l.cookie, l.missed, l.groups[0].last_mean), (UNSCALED - 16, 10 * MS, 120 * MS));
        assert_eq!(depths(&mut l), [u32::MAX, 32, 32]);
        // Not again within 500 ms.
        one(&mut l, 0, 400 * MS, 700 * MS);
        assert_eq!(l.cookie, UNSCALED - 16);
        one(&mut l, 0, 400 * MS, 1000 * MS);
        assert_eq!(depths(&mut l), [u32::MAX, 16, 16]);
        // The larger target misses as well: it may not complain while a smaller one did.
        one(&mut l, 1, 1000 * MS, 2000 * MS);
        assert_eq!((l.cookie, l.missed), (UNSCALED - 32, 10 * MS));
    }

    #[test]
    fn section_8_1_the_larger_target_spares_the_smaller() {
        let mut l = three(true);
        one(&mut l, 1, 0, SEC);
        assert_eq!(l.missed, 50 * MS);
        assert_eq!(depths(&mut l), [u32::MAX, u32::MAX, 32]);
        // The smaller one misses too: now both others give way.
        one(&mut l, 0, SEC, 2 * SEC);
        assert_eq!(depths(&mut l), [u32::MAX, 32, 16]);
    }

    #[test]
    fn section_8_1_a_tenth_may_miss_without_rotation() {
        let judge = |missed: u64, samples: u64| Stat { samples, sum: 0, missed }.is_ok(10 * MS, false);
        assert_eq!(
            [judge(0, 5), judge(1, 5), judge(1, 19), judge(1, 20), judge(2, 20)],
            [true, false, false, true, false]
        );
    }

    #[test]
    fn section_8_1_depth_holds_bios_and_each_end_lets_one_go() {
        let mut l = three(true);
        l.nr_requests = 4;
        one(&mut l, 0, 0, 200 * MS);
        let mut woken = vec![];
        // 4 halved.
        for n in 0..2 {
            assert_eq!(l.throttle(&bio(2, n), 200 * MS, &mut woken), Gate::Pass);
        }
        let hold = Gate::Wait(Hold::Latency { in_flight: 2, depth: 2, target: 10 * MS });
        assert_eq!([2, 3].map(|n| l.throttle(&bio(2, n), 200 * MS, &mut woken)), [hold; 2]);
        // What others wait for passes, and counts.
        assert_eq!(l.throttle(&QosBio { as_root: true, ..bio(2, 9) }, 200 * MS, &mut woken), Gate::Pass);
        l.done_bio(&bio(2, 0), false, 210 * MS, &mut woken);
        assert_eq!(woken, []);
        l.done_bio(&bio(2, 9), false, 210 * MS, &mut woken);
        assert_eq!(woken, [2]);
        assert_eq!(l.view()[2].waiting, 1);
        // The protected one has no limit, nor has a bio of no job.
        assert!((0..99).all(|n| l.throttle(&bio(0, n), 0, &mut woken) == Gate::Pass));
        assert_eq!(l.throttle(&bio(7, 0), 0, &mut woken), Gate::Pass);
    }

    #[test]
    fn section_8_1_good_windows_give_back_a_sixteenth() {
        let mut l = three(true);
        for (end, depth) in [(200, 32), (800, 16), (1400, 8)] {
            one(&mut l, 0, 0, end * MS);
            assert_eq!(depths(&mut l), [u32::MAX, depth, depth]);
        }
        assert_eq!(l.cookie, UNSCALED - 48);
        // Less than five samples do not count.
        let good = |l: &mut IoLatency, now: SimTime, n: u64| {
            for _ in 0..n {
                one(l, 0, now - MS, now);
            }
        };
        good(&mut l, 1900 * MS, 4);
        good(&mut l, 2060 * MS, 1);
        assert_eq!(l.cookie, UNSCALED - 48 + 4);
        assert_eq!(depths(&mut l), [u32::MAX, 12, 12]);
        // 44 more are 11 changes, each 500 ms at least after the other; the last frees all.
        let mut now = 2060 * MS;
        for n in 1..=11 {
            now += 500 * MS;
            good(&mut l, now, 5);
            good(&mut l, now + 160 * MS, 1);
            assert_eq!(l.cookie, UNSCALED - 44 + 4 * n);
            now += 160 * MS;
            let depth = if n < 11 { 12 + 4 * n } else { u32::MAX };
            assert_eq!(depths(&mut l)[2], depth);
        }
    }

    #[test]
    fn section_8_1_a_depth_that_grows_wakes() {
        let mut l = IoLatency::new([10 * MS, 0].into_iter(), facts(8, true)).unwrap();
        let mut woken = vec![];
        (l.missed, l.by, l.cookie) = (10 * MS, Some(0), UNSCALED - 4);
        (l.groups[1].cookie, l.groups[1].depth) = (UNSCALED - 4, 1);
        let gates = [0, 1, 2].map(|n| l.throttle(&bio(1, n), 0, &mut woken) == Gate::Pass);
        assert_eq!(gates, [true, false, false]);
        // One step of 8/16, at least 1: depth 2. Its next bio finds it out; it queues up all the same.
        l.move_cookie(true);
        assert!(l.throttle(&bio(1, 3), 0, &mut woken) != Gate::Pass);
        assert_eq!((l.groups[1].depth, woken), (2, vec![1]));
    }

    #[test]
    fn section_8_1_the_timer_frees_others_of_one_that_fell_silent() {
        let mut l = three(true);
        one(&mut l, 0, 0, 200 * MS);
        let mut at = |now| {
            one(&mut l, 2, now, now);
            let due = l.timer().unwrap();
            l.timer_fired(due);
            (l.by, UNSCALED - l.cookie)
        };
        // Armed by the first bio at 0; fired at 1 s and 5.1 s: the last change is not 5 s old.
        assert_eq!(at(300 * MS), (Some(0), 16));
        assert_eq!(at(4100 * MS), (Some(0), 16));
        assert_eq!(at(5200 * MS), (None, 16));
        // From then on 4 of 64 a second.
        assert_eq!([at(7 * SEC), at(8 * SEC), at(9 * SEC), at(10 * SEC)], [12, 8, 4, 0].map(|n| (None, n)));
    }

    #[test]
    fn section_8_1_a_deep_hole_is_left_at_last() {
        let mut l = three(true);
        for _ in 0..1000 {
            l.move_cookie(false);
        }
        // By 16 until more than 64 below, then by 1 to 8 times nr_requests.
        assert_eq!(UNSCALED - l.cookie, 512);
        for _ in 0..1000 {
            l.move_cookie(true);
        }
        assert_eq!(l.cookie, UNSCALED);
    }
}
