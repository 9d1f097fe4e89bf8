//! wbt: buffered writes are kept few while reads suffer.
//!
//! Models: block/blk-wbt.c and `rq_depth` of block/blk-rq-qos.c, 7.1 (kernel 8.1).
//! Rule: how many writes may be in flight follows from a step. Windows of 100 ms / sqrt(step + 1) compare the smallest
//! read latency (D to C) with the target: missed, the step rises and the depth is halved; met, it falls; with writes
//! only it falls below 0 and the depth grows to three quarters of the queue's. Swap-out may use all of the depth, other
//! writeback half of it, and a quarter while others use the disk (within 100 ms), as discards always.
//! Leaves out: REQ_BACKGROUND, balance_dirty_pages (a write that slept here counts as its recent sleep for a window's
//! verdict, not for limits), the jiffies that windows are rounded to.

use alloc::vec::Vec;

use super::super::live::{WbtSetting, WbtState};
use super::{Gate, Hold, QosBio, QosRq, QueueFacts, RqWait};
use crate::observe::snapshot::{WbtVerdict, WbtView};
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::Op;

/// RWB_DEF_DEPTH
const DEFAULT_DEPTH: u32 = 16;
/// RWB_WINDOW_NSEC
const WINDOW: SimDuration = 100 * MS;
/// RWB_MIN_WRITE_SAMPLES
const MIN_WRITE_SAMPLES: u32 = 3;
/// RWB_UNKNOWN_BUMP: windows without a verdict after which the step goes back towards 0.
const UNKNOWN_BUMP: u32 = 5;
/// Others have used the disk not longer ago than this.
const CLOSE: SimDuration = 100 * MS;

/// Kinds of writes that are throttled, each with wait queue and limit of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Kind {
    /// Writeback.
    Background = 0,
    /// Swap-out to free memory (kswapd).
    Kswapd = 1,
    /// Discard.
    Discard = 2,
}

/// `wbt_should_throttle`, of operations met here: writes that no task waits for. `direct`: SYNC and IDLE, as O_DIRECT and
/// logs write.
pub fn kind_of(op: Op, direct: bool) -> Option<Kind> {
    (op == Op::Write && !direct).then_some(Kind::Background)
}

/// Depth of buffered writes at a step (`rq_depth_calc_max_depth`), and whether it cannot grow further.
pub fn depth_at(step: i32, queue_depth: u32) -> (u32, bool) {
    if queue_depth == 1 {
        return if step > 0 { (1, false) } else { (2, true) };
    }
    let more = DEFAULT_DEPTH.min(queue_depth) - 1;
    let shift = step.unsigned_abs().min(31);
    if step >= 0 {
        return (1 + (more >> shift), false);
    }
    let (most, wanted) = (3 * queue_depth / 4, 1 + (u64::from(more) << shift));
    if wanted > u64::from(most) { (most, true) } else { (wanted as u32, false) }
}

/// max, normal and background of a depth (`calc_wb_limits`).
pub fn limits_of(depth: u32) -> [u32; 3] {
    if depth <= 2 { [depth, depth, 1] } else { [depth, depth.div_ceil(2), depth.div_ceil(4)] }
}

/// Window at a step (`rwb_arm_timer`): 100 ms / sqrt(step + 1), by an integer root of 4 binary places.
pub fn window_at(step: i32) -> SimDuration {
    if step <= 0 { WINDOW } else { WINDOW * 16 / u64::from(((step as u32 + 1) << 8).isqrt()) }
}

/// Samples of a window.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Samples {
    reads: u32,
    read_min: SimDuration,
    writes: u32,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Wbt {
    /// Target, and what turned it on or off.
    setting: WbtSetting,
    facts: QueueFacts,
    step: i32,
    /// The depth cannot grow further.
    widest: bool,
    /// max, normal, background.
    limits: [u32; 3],
    /// By [`Kind`].
    waits: [RqWait; 3],
    /// Kinds of requests in flight, by slot.
    tracked: Vec<Option<Kind>>,
    /// End of the window, while one is open; its length, ns.
    window_ends: Option<SimTime>,
    window: SimDuration,
    samples: Samples,
    /// Windows in a row without a verdict.
    unknown: u32,
    /// A read at the device, and since when.
    sync_read: Option<(Idx, SimTime)>,
    /// When a read was submitted or ended last.
    others_at: Option<SimTime>,
    /// When a write went to sleep last.
    slept_at: Option<SimTime>,
    last: Option<(WbtVerdict, SimDuration)>,
}

impl Wbt {
    /// `wbt_init`
    pub fn new(setting: WbtSetting, facts: QueueFacts) -> Self {
        let mut wbt = Self {
            setting,
            facts,
            step: 0,
            widest: false,
            limits: [0; 3],
            waits: Default::default(),
            tracked: Vec::new(),
            window_ends: None,
            window: WINDOW,
            samples: Samples::default(),
            unknown: 0,
            sync_read: None,
            others_at: None,
            slept_at: None,
            last: None,
        };
        wbt.set_step(0);
        wbt
    }

    // ---- attributes; the queue is frozen ----

    /// wbt_lat_usec was written, or a scheduler set or cleared QUEUE_FLAG_DISABLE_WBT_DEF.
    pub fn set(&mut self, setting: WbtSetting) {
        let before = core::mem::replace(&mut self.setting, setting);
        if setting.lat_ns != before.lat_ns {
            self.set_step(0);
        }
        if !self.is_on() {
            (self.window_ends, self.sync_read) = (None, None);
        }
    }
    fn is_on(&self) -> bool {
        matches!(self.setting.state, WbtState::OnDefault | WbtState::OnManual)
    }
    /// `wbt_update_limits`: another depth of the queue starts from step 0.
    pub fn queue_changed(&mut self, facts: QueueFacts) {
        if facts.queue_depth != self.facts.queue_depth {
            self.facts = facts;
            self.set_step(0);
        }
        self.facts = facts;
    }

    // ---- hooks ----

    /// `wbt_wait`
    pub fn throttle(&mut self, b: &QosBio, now: SimTime) -> Gate {
        if !self.is_on() {
            return Gate::Pass;
        }
        let Some(kind) = b.kind else {
            if b.op == Op::Read {
                self.others_at = Some(now);
            }
            return Gate::Pass;
        };
        let limit = self.limit(kind, now);
        let wait = &mut self.waits[kind as usize];
        let passes = wait.enter(b.bio, limit);
        let in_flight = wait.in_flight;
        if self.window_ends.is_none() {
            self.open_window(now);
        }
        if passes {
            return Gate::Pass;
        }
        self.slept_at = Some(now);
        Gate::Wait(Hold::Wbt { kind, in_flight, limit })
    }
    /// `wbt_track`
    pub fn track(&mut self, rq: Idx, b: &QosBio) {
        if self.is_on() && b.kind.is_some() {
            let slot = rq as usize;
            if slot >= self.tracked.len() {
                self.tracked.resize(slot + 1, None);
            }
            self.tracked[slot] = b.kind;
        }
    }
    /// `wbt_issue`
    pub fn issue(&mut self, r: &QosRq, now: SimTime) {
        if self.is_on() && r.op == Op::Read && self.sync_read.is_none() {
            self.sync_read = Some((r.rq, now));
        }
    }
    /// `wbt_requeue`
    pub fn requeue(&mut self, rq: Idx) {
        self.sync_read = self.sync_read.filter(|(read, _)| *read != rq);
    }
    /// `wbt_done`, and the sample that statistics take of the command.
    pub fn done(&mut self, r: &QosRq, now: SimTime, woken: &mut Vec<Idx>) {
        if let Some(issued) = r.issued {
            self.sample(r.op, now - issued);
        }
        let kind = self.tracked.get_mut(r.rq as usize).and_then(Option::take);
        if kind.is_some() {
            self.give_back(kind, now, woken);
        } else if r.op == Op::Read {
            self.requeue(r.rq);
            self.others_at = Some(now);
        }
    }
    /// `wbt_rqw_done`: a place comes free. A device with a write cache takes writes faster than it works them off: the
    /// next ones come when all of these are done.
    pub fn give_back(&mut self, kind: Option<Kind>, now: SimTime, woken: &mut Vec<Idx>) {
        let Some(kind) = kind.filter(|k| self.waits[*k as usize].in_flight > 0) else { return };
        let [_, normal, background] = self.limits;
        let few = match kind {
            Kind::Discard => background,
            _ if self.facts.write_back => 0,
            _ => normal,
        };
        let limit = self.limit(kind, now);
        let wait = &mut self.waits[kind as usize];
        wait.in_flight -= 1;
        let in_flight = wait.in_flight;
        if in_flight == 0 || in_flight < few && few - in_flight >= background / 2 {
            wait.wake(usize::MAX, limit, woken);
        }
    }

    /// `get_limit`
    fn limit(&self, kind: Kind, now: SimTime) -> u32 {
        let [max, normal, background] = self.limits;
        match kind {
            _ if !self.is_on() => u32::MAX,
            Kind::Discard => background,
            Kind::Kswapd => max,
            Kind::Background if self.others_at.is_some_and(|at| now < at + CLOSE) => background,
            Kind::Background => normal,
        }
    }

    // ---- windows ----

    fn open_window(&mut self, now: SimTime) {
        self.window = window_at(self.step);
        self.window_ends = Some(now + self.window);
        self.samples = Samples::default();
    }
    fn sample(&mut self, op: Op, ns: SimDuration) {
        if self.window_ends.is_none() {
            return;
        }
        let s = &mut self.samples;
        match op {
            Op::Read => {
                s.read_min = if s.reads == 0 { ns } else { s.read_min.min(ns) };
                s.reads += 1;
            }
            Op::Write => s.writes += 1,
            _ => {}
        }
    }
    /// End of the window.
    pub fn timer(&self) -> Option<SimTime> {
        self.window_ends
    }
    /// `wb_timer_fn`
    pub fn timer_fired(&mut self, now: SimTime, woken: &mut Vec<Idx>) {
        if self.window_ends.is_none_or(|end| now < end) {
            return;
        }
        let verdict = self.verdict(now);
        self.last = Some((verdict, self.samples.read_min));
        match verdict {
            WbtVerdict::Exceeded => self.narrow(true),
            WbtVerdict::Ok | WbtVerdict::WritesOnly => self.widen(now, woken),
            WbtVerdict::Unknown => {
                self.unknown += 1;
                if self.unknown >= UNKNOWN_BUMP && self.step > 0 {
                    self.widen(now, woken);
                } else if self.unknown >= UNKNOWN_BUMP && self.step < 0 {
                    self.narrow(false);
                }
            }
        }
        self.window_ends = None;
        if self.step != 0 || self.in_flight() > 0 {
            self.open_window(now);
        }
    }
    /// `latency_exceeded`
    fn verdict(&self, now: SimTime) -> WbtVerdict {
        let s = &self.samples;
        let outstanding = self.sync_read.map_or(0, |(_, since)| now - since);
        if outstanding > self.window || outstanding > self.setting.lat_ns && s.reads == 0 {
            return WbtVerdict::Exceeded;
        }
        if s.reads == 0 || s.writes < MIN_WRITE_SAMPLES {
            let slept = self.slept_at.is_some_and(|at| now < at + SEC);
            let writes = s.writes > 0 || slept || self.in_flight() > 0;
            return if writes { WbtVerdict::WritesOnly } else { WbtVerdict::Unknown };
        }
        if s.read_min > self.setting.lat_ns { WbtVerdict::Exceeded } else { WbtVerdict::Ok }
    }
    fn in_flight(&self) -> u32 {
        self.waits.iter().map(|w| w.in_flight).sum()
    }
    fn set_step(&mut self, step: i32) {
        self.step = step;
        let (depth, widest) = depth_at(step, self.facts.queue_depth);
        self.widest = widest;
        self.limits = limits_of(depth);
        self.unknown = 0;
    }
    /// `scale_up`
    fn widen(&mut self, now: SimTime, woken: &mut Vec<Idx>) {
        if self.widest {
            return;
        }
        self.set_step(self.step - 1);
        for kind in [Kind::Background, Kind::Kswapd, Kind::Discard] {
            let limit = self.limit(kind, now);
            self.waits[kind as usize].wake(usize::MAX, limit, woken);
        }
    }
    /// `scale_down`; `hard`: reads suffer, so whatever writes alone had gained is gone.
    fn narrow(&mut self, hard: bool) {
        if self.limits[0] > 1 {
            self.set_step(if hard && self.step < 0 { 0 } else { self.step + 1 });
        }
    }

    /// For pictures.
    pub fn view(&self) -> WbtView {
        WbtView {
            target_ns: self.setting.shown_ns(),
            window_ns: self.window,
            window_ends: self.window_ends,
            scale_step: self.step,
            limits: self.limits,
            in_flight: [0, 1, 2].map(|k: usize| self.waits[k].in_flight),
            waiting: [0, 1, 2].map(|k: usize| self.waits[k].waiters.len() as u32),
            last: self.last,
        }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let waits: usize = self.waits.iter().map(|w| w.waiters.capacity() * size_of::<Idx>()).sum();
        self.tracked.capacity() + waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const US: SimDuration = 1_000;
    const ON: WbtSetting = WbtSetting { lat_ns: 75 * MS, state: WbtState::OnDefault };

    fn facts(queue_depth: u32) -> QueueFacts {
        QueueFacts { queue_depth, nr_requests: 64, write_back: false, rotational: true }
    }
    fn new(queue_depth: u32) -> Wbt {
        Wbt::new(ON, facts(queue_depth))
    }
    fn write(bio: Idx) -> QosBio {
        QosBio {
            bio,
            job: 0,
            op: Op::Write,
            sector: 0,
            nr_sectors: 8,
            kind: kind_of(Op::Write, false),
            as_root: false,
            issue_time: 0,
        }
    }
    fn read(bio: Idx) -> QosBio {
        QosBio { op: Op::Read, kind: None, ..write(bio) }
    }
    fn rq(rq: Idx, op: Op, issued: SimTime) -> QosRq {
        QosRq { rq, op, nr_sectors: 8, start: issued, issued: Some(issued) }
    }
    /// Lets a write through, or not.
    fn passes(w: &mut Wbt, b: QosBio, now: SimTime) -> bool {
        let gate = w.throttle(&b, now);
        if gate == Gate::Pass {
            w.track(b.bio, &b);
        }
        gate == Gate::Pass
    }
    fn done(w: &mut Wbt, r: QosRq, now: SimTime) -> Vec<Idx> {
        let mut woken = vec![];
        w.done(&r, now, &mut woken);
        woken
    }
    /// Ends the window that is open.
    fn expire(w: &mut Wbt) -> (SimTime, Vec<Idx>) {
        let (now, mut woken) = (w.timer().unwrap(), vec![]);
        w.timer_fired(now, &mut woken);
        (now, woken)
    }

    #[test]
    fn section_8_1_depth_by_step() {
        // 1 + (15 >> step); 1 + (15 << -step), at most 3/4 of 32.
        let depth = |step| depth_at(step, 32);
        let rows = [(5, 1), (4, 1), (3, 2), (2, 4), (1, 8), (0, 16)];
        for (step, want) in rows {
            assert_eq!(depth(step), (want, false), "{step}");
        }
        // 31, 61, 121 are more than 24.
        for step in [-1, -2, -3] {
            assert_eq!(depth(step), (24, true), "{step}");
        }
        // 1000 commands: 750 at most.
        assert_eq!([-1, -2, -3, -6].map(|s| depth_at(s, 1000)), [(31, false), (61, false), (121, false), (750, true)]);
        // 8 commands: 7 more than one; 6 at most.
        assert_eq!([1, 0, -1].map(|s| depth_at(s, 8)), [(4, false), (8, false), (6, true)]);
        assert_eq!([1, 0, -1].map(|s| depth_at(s, 1)), [(1, false), (2, true), (2, true)]);
        assert_eq!(depth_at(40, 32), (1, false));
    }

    #[test]
    fn section_8_1_limits_of_a_depth() {
        // (max + 1) / 2 and (max + 3) / 4; up to 2: max and 1.
        assert_eq!([16, 8, 4, 2, 1].map(limits_of), [[16, 8, 4], [8, 4, 2], [4, 2, 1], [2, 2, 1], [1, 1, 1]]);
        assert_eq!([24, 3].map(limits_of), [[24, 12, 6], [3, 2, 1]]);
    }

    #[test]
    fn section_8_1_windows_shrink_with_the_step() {
        // The integer root of (step + 1) * 256: 22, 27, 32, 35, 39.
        let ns = [1, 2, 3, 4, 5].map(window_at);
        assert_eq!(ns, [72_727_272, 59_259_259, 50_000_000, 45_714_285, 41_025_641]);
        assert_eq!([0, -1, -3].map(window_at), [100 * MS; 3]);
    }

    #[test]
    fn section_8_1_which_ops_are_throttled() {
        assert_eq!(kind_of(Op::Write, false), Some(Kind::Background));
        for (op, direct) in [(Op::Write, true), (Op::Read, false), (Op::ZoneAppend, false), (Op::Flush, false)] {
            assert_eq!(kind_of(op, direct), None, "{op:?}");
        }
        // Any number of those pass.
        let mut w = new(32);
        for bio in 0..100 {
            assert!(passes(&mut w, QosBio { kind: kind_of(Op::Write, true), ..write(bio) }, 0));
        }
        assert_eq!((w.in_flight(), w.timer()), (0, None));
    }

    #[test]
    fn section_8_1_limits_by_kind() {
        // Depth 16: swap-out 16, writeback 8, and 4 within 100 ms of a read; discards 4.
        let pass = |kind, read_at: Option<SimTime>, now| {
            let mut w = new(32);
            if let Some(at) = read_at {
                assert!(passes(&mut w, read(99), at));
            }
            (0..40).filter(|bio| passes(&mut w, QosBio { kind: Some(kind), ..write(*bio) }, now)).count()
        };
        assert_eq!(pass(Kind::Background, None, 0), 8);
        assert_eq!(pass(Kind::Background, Some(0), 100 * MS - 1), 4);
        assert_eq!(pass(Kind::Background, Some(0), 100 * MS), 8);
        assert_eq!((pass(Kind::Kswapd, Some(0), 0), pass(Kind::Discard, None, 0)), (16, 4));
    }

    #[test]
    fn section_8_1_sleepers_are_let_in_order() {
        let mut w = new(32);
        for bio in 0..8 {
            assert!(passes(&mut w, write(bio), 0));
        }
        assert_eq!(w.throttle(&write(8), 0), Gate::Wait(Hold::Wbt { kind: Kind::Background, in_flight: 8, limit: 8 }));
        assert!(!passes(&mut w, write(9), 0));
        // 7 in flight: one place, but it takes half of the background limit (2) to wake somebody.
        assert_eq!(done(&mut w, rq(0, Op::Write, 0), MS), []);
        // No overtaking: who comes now queues up behind the sleepers.
        assert!(!passes(&mut w, write(10), MS));
        assert_eq!(done(&mut w, rq(1, Op::Write, 0), MS), [8, 9]);
        assert_eq!(w.view().waiting, [1, 0, 0]);
        assert_eq!(w.view().in_flight, [8, 0, 0]);
    }

    #[test]
    fn section_8_1_a_write_cache_is_emptied_first() {
        let mut w = Wbt::new(ON, QueueFacts { write_back: true, ..facts(32) });
        for bio in 0..12 {
            assert_eq!(passes(&mut w, write(bio), 0), bio < 8);
        }
        for r in 0..7 {
            assert_eq!(done(&mut w, rq(r, Op::Write, 0), MS), []);
        }
        assert_eq!(done(&mut w, rq(7, Op::Write, 0), MS), [8, 9, 10, 11]);
    }

    #[test]
    fn section_8_1_reads_above_the_target_halve_the_depth() {
        let mut w = new(32);
        for bio in 0..3 {
            assert!(passes(&mut w, write(bio), 0));
        }
        // Three writes and a read of 75 ms + 1 ns; a faster one would do, for the smallest counts.
        for r in 0..3 {
            done(&mut w, rq(r, Op::Write, 0), 10 * MS);
        }
        done(&mut w, rq(9, Op::Read, 0), 75 * MS + 1);
        assert!(passes(&mut w, write(0), 90 * MS));
        expire(&mut w);
        assert_eq!(w.last, Some((WbtVerdict::Exceeded, 75 * MS + 1)));
        assert_eq!((w.step, w.limits), (1, [8, 4, 2]));
        // The next window is shorter, and is the first again when a read takes exactly the target.
        assert_eq!(w.timer(), Some(172_727_272));
        for r in 0..3 {
            done(&mut w, rq(r, Op::Write, 100 * MS), 110 * MS);
        }
        done(&mut w, rq(9, Op::Read, 95 * MS), 170 * MS);
        expire(&mut w);
        assert_eq!((w.last, w.step), (Some((WbtVerdict::Ok, 75 * MS)), 0));
    }

    #[test]
    fn section_8_1_two_writes_are_no_sample() {
        let mut w = new(32);
        assert!(passes(&mut w, write(0), 0) && passes(&mut w, write(1), 0));
        for r in 0..2 {
            done(&mut w, rq(r, Op::Write, 0), MS);
        }
        done(&mut w, rq(9, Op::Read, 0), 90 * MS);
        expire(&mut w);
        assert_eq!((w.last.unwrap().0, w.step, w.limits), (WbtVerdict::WritesOnly, -1, [24, 12, 6]));
    }

    #[test]
    fn section_8_1_writes_alone_widen_and_wake() {
        let mut w = new(1000);
        for bio in 0..40 {
            passes(&mut w, write(bio), 0);
        }
        // Depth 31: normal 16, which lets 8 more; 61: 31, which lets 15 more; then all of the 9 that are left.
        let steps: Vec<_> = (0..3).map(|_| (expire(&mut w).1.len(), w.step)).collect();
        assert_eq!(steps, [(8, -1), (15, -2), (9, -3)]);
        // 750 is as far as it goes.
        for _ in 0..9 {
            expire(&mut w);
        }
        assert_eq!((w.step, w.limits, w.widest), (-6, [750, 375, 188], true));
        // A read that suffers takes all of it at once.
        w.issue(&rq(99, Op::Read, 0), 1100 * MS);
        let (now, _) = expire(&mut w);
        assert_eq!((now, w.last.unwrap().0, w.step), (1300 * MS, WbtVerdict::Exceeded, 0));
    }

    #[test]
    fn section_8_1_a_read_outstanding_counts() {
        let verdict = |issued, other_read: bool| {
            let mut w = new(32);
            assert!(passes(&mut w, write(0), 0));
            w.issue(&rq(9, Op::Read, issued), issued);
            if other_read {
                done(&mut w, rq(8, Op::Read, 0), MS);
            }
            w.verdict(100 * MS)
        };
        // Longer than the target counts where no read ended; else it takes longer than the window.
        assert_eq!(verdict(25 * MS - 1, false), WbtVerdict::Exceeded);
        assert_eq!(verdict(25 * MS, false), WbtVerdict::WritesOnly);
        assert_eq!(verdict(0, true), WbtVerdict::WritesOnly);
        let mut w = new(32);
        w.issue(&rq(9, Op::Read, 0), 0);
        assert!(passes(&mut w, write(0), US));
        expire(&mut w);
        assert_eq!((w.last.unwrap().0, w.step), (WbtVerdict::Exceeded, 1));
        // A requeued one is not outstanding.
        w.requeue(9);
        assert_eq!(w.sync_read, None);
    }

    #[test]
    fn section_8_1_five_windows_without_a_verdict() {
        for (step, want) in [(2, 1), (-2, -1)] {
            let mut w = new(1000);
            w.set_step(step);
            w.open_window(0);
            for _ in 0..4 {
                expire(&mut w);
                assert_eq!((w.step, w.last.unwrap().0), (step, WbtVerdict::Unknown));
            }
            expire(&mut w);
            assert_eq!(w.step, want);
        }
        // At step 0 with nothing in flight the timer stops.
        let mut w = new(32);
        w.open_window(0);
        expire(&mut w);
        assert_eq!(w.timer(), None);
    }

    #[test]
    fn section_8_1_depth_one_is_the_end() {
        let mut w = new(32);
        for _ in 0..9 {
            w.narrow(true);
        }
        assert_eq!((w.step, w.limits), (4, [1, 1, 1]));
        // Whoever has waited longest gets the one place.
        assert!(passes(&mut w, write(0), 0) && !passes(&mut w, write(1), 0) && !passes(&mut w, write(2), 0));
        assert_eq!(done(&mut w, rq(0, Op::Write, 0), MS), [1]);
    }

    #[test]
    fn section_8_1_turned_off_it_lets_all_pass() {
        for state in [WbtState::OffDefault, WbtState::OffManual] {
            let mut w = new(32);
            w.set_step(3);
            assert!(passes(&mut w, write(0), 0));
            w.set(WbtSetting { state, ..ON });
            assert_eq!((w.timer(), w.view().target_ns), (None, 0));
            assert!((0..100).all(|bio| passes(&mut w, write(bio), 0)));
            // The step is as it was when the default comes back; another target starts from 0.
            w.set(ON);
            assert_eq!(w.step, 3);
            w.set(WbtSetting { lat_ns: MS, state: WbtState::OnManual });
            assert_eq!((w.step, w.view().target_ns), (0, MS));
        }
    }

    #[test]
    fn section_8_1_another_depth_of_the_queue_starts_anew() {
        let mut w = new(32);
        w.set_step(3);
        w.queue_changed(QueueFacts { write_back: true, ..facts(32) });
        assert_eq!(w.step, 3);
        w.queue_changed(facts(4));
        assert_eq!((w.step, w.limits), (0, [4, 2, 1]));
    }
}
