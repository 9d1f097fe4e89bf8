//! io.cost: the disk's time is shared by weight.
//!
//! Models: block/blk-iocost.c, 7.1 (kernel 8.1): the linear model, weights, vtime and its rate.
//! Rule: a bio costs a base (sequential or random: more than 16 MiB from where its cgroup's last one ended) and so much
//! per 4 KiB page, in vtime of the device, 2^37 a second; for its cgroup that many times more as its share is smaller.
//! The device's clock runs at the vtime rate; a cgroup whose own clock would pass it sleeps. At the end of each period
//! (twice to ten times the larger target, 1 ms to 1 s) the rate goes down where more than 1 - rpct (wpct) of the requests
//! took longer than rlat (wlat) or tasks waited for tags more than 5 % of the period, and up where both are well met and
//! some cgroup was short; by 0 to 16 %, as long as that has lasted, between min and max. A cgroup that used less lends
//! its surplus until it needs it. What must not wait is charged as debt, which its cgroup pays before its next bio.
//! Leaves out: a hierarchy, delays on return to user space and forgiveness of debts, commands that span periods, making
//! up for budgets that idle cgroups lost, models other than the one given (no change of profile by speed).

use alloc::vec::Vec;

use super::{Gate, Hold, QosBio, QosRq};
use crate::config::IoCostConfig;
use crate::fifo::Fifo;
use crate::observe::snapshot::IoCostView;
use crate::slab::Idx;
use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::{JobIdx, Op, Sector};

/// VTIME_PER_SEC: vtime of a second at a rate of 100 %.
pub const VTIME_PER_SEC: u64 = 1 << 37;
/// The device's clock at first: a period before it was 0, whatever the rate.
const VTIME_START: u64 = 1000 * VTIME_PER_SEC;
/// IOC_PAGE_SIZE, and in sectors.
const PAGE: u64 = 4096;
const PAGE_SECTORS: u64 = 8;
/// LCOEF_RANDIO_PAGES: farther than this is random.
const RANDOM_PAGES: u64 = 4096;
/// Rates are hundredths of a per cent.
const FULL_RATE: u64 = 10_000;
/// MIN_PERIOD, MAX_PERIOD
const PERIOD: [SimDuration; 2] = [MS, SEC];
/// WEIGHT_ONE: the whole of the device.
const ONE: u64 = 1 << 16;
/// MARGIN_TARGET_PCT, MARGIN_LOW_PCT: budget that a cgroup may save up, and below which it lends nothing; percent of a
/// period.
const SAVED: u64 = 50;
const LOW: u64 = 20;
/// RQ_WAIT_BUSY_PCT: share of a period that tasks may wait for tags, percent.
const WAIT_BUSY: u64 = 5;
/// UNBUSY_THR_PCT: well below what counts as too much.
const UNBUSY: u64 = 75;
/// VRATE_CLAMP_ADJ_PCT: from outside the bounds the rate comes back in steps.
const CLAMP_STEP: u64 = 4;

/// Costs of the linear model in vtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coefs {
    /// A page.
    pub page: u64,
    /// An I/O that follows the last one.
    pub seq: u64,
    /// An I/O elsewhere.
    pub rand: u64,
}

impl Coefs {
    /// `calc_lcoefs`: an I/O of one page costs its page, and what is missing to the I/Os a second.
    pub fn of(bps: u64, seq_iops: u32, rand_iops: u32) -> Self {
        let page = match bps.div_ceil(PAGE) {
            0 => 0,
            pages => VTIME_PER_SEC.div_ceil(pages),
        };
        let base = |iops: u32| match u64::from(iops) {
            0 => 0,
            iops => VTIME_PER_SEC.div_ceil(iops).saturating_sub(page),
        };
        Self { page, seq: base(seq_iops), rand: base(rand_iops) }
    }
    /// `calc_vtime_cost_builtin`. `cursor`: where the cgroup's last I/O ended; a `merge` has no base.
    pub fn cost(&self, sector: Sector, nr_sectors: u32, cursor: Option<Sector>, merge: bool) -> u64 {
        if nr_sectors == 0 {
            return 0;
        }
        let pages = (u64::from(nr_sectors) / PAGE_SECTORS).max(1);
        let away = cursor.map_or(0, |c| c.abs_diff(sector) / PAGE_SECTORS);
        let base = match merge {
            true => 0,
            false if away > RANDOM_PAGES => self.rand,
            false => self.seq,
        };
        base + pages * self.page
    }
}

/// Length of a period (`ioc_refresh_period_us`): twice the larger target where 90 % have to keep it, ten times at 50 %.
pub fn period_of(cfg: &IoCostConfig) -> SimDuration {
    let larger = usize::from(cfg.lat_ns[1] > cfg.lat_ns[0]);
    let times = match u64::from(cfg.pct[larger]) {
        0 => 2,
        pct => (FULL_RATE.saturating_sub(pct) / 500).max(2),
    };
    (times * cfg.lat_ns[larger]).clamp(PERIOD[0], PERIOD[1])
}

/// `vrate_adj_pct`: by how much the rate changes when it has been too high (or low) for so many periods, percent.
fn adjustment(periods: u32) -> u64 {
    match periods {
        0..=3 => 0,
        4..=19 => 1,
        20..=35 => 2,
        36..=43 => 4,
        44..=51 => 8,
        _ => 16,
    }
}

/// Vtime as time of the device, ns.
fn device_ns(vtime: u64) -> SimDuration {
    ((u128::from(vtime) * u128::from(SEC)) >> 37) as u64
}

/// What a task that sleeps will be charged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Sleeper {
    bio: Idx,
    cost: u64,
}

/// A cgroup.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// io.weight
    weight: u64,
    /// Has done I/O in the last period.
    active: bool,
    /// Its clock, vtime.
    vtime: u64,
    /// Where its last bio ended.
    cursor: Option<Sector>,
    /// Owed, vtime of the device.
    debt: u64,
    waiters: Fifo<Sleeper>,
    /// When the first of them fits.
    due: SimTime,
    /// Bios that passed and did not end.
    in_flight: u32,
    /// Something of it passed in this period; what, vtime of the device.
    seen: bool,
    usage: u64,
    /// It was short in this period.
    short: bool,
    /// What it keeps of its share while it lends the rest, of [`ONE`].
    keeps: Option<u64>,
    /// Its share at present, of [`ONE`].
    share: u64,
}

/// Requests of one direction in a period.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Judged {
    met: u64,
    missed: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct IoCost {
    cfg: IoCostConfig,
    /// Read, write.
    coefs: [Coefs; 2],
    period: SimDuration,
    /// Vtime rate, hundredths of a per cent.
    vrate: u64,
    /// By job.
    groups: Vec<Group>,
    /// The device's clock stood there when the period began; `None`: nobody uses the device.
    period_at: Option<SimTime>,
    vtime_at: u64,
    /// Periods in a row with too much (positive) or too little.
    busy: i32,
    /// Read, write.
    judged: [Judged; 2],
    /// Time that tasks waited for tags in this period, ns.
    waited: SimDuration,
    /// Bios that passed and have no request yet: since when.
    allocating: Vec<(Idx, SimTime)>,
    /// When allocation began, of requests in flight, by slot.
    allocated: Vec<Option<SimTime>>,
}

impl IoCost {
    /// Weights of all jobs' cgroups.
    pub fn new(cfg: IoCostConfig, weights: impl Iterator<Item = u16>) -> Self {
        let group = |weight: u16| Group {
            weight: u64::from(weight.max(1)),
            active: false,
            vtime: 0,
            cursor: None,
            debt: 0,
            waiters: Fifo::new(),
            due: 0,
            in_flight: 0,
            seen: false,
            usage: 0,
            short: false,
            keeps: None,
            share: ONE,
        };
        Self {
            cfg,
            coefs: [0, 1].map(|rw: usize| Coefs::of(cfg.bps[rw], cfg.seq_iops[rw], cfg.rand_iops[rw])),
            period: period_of(&cfg),
            vrate: FULL_RATE.clamp(u64::from(cfg.min), u64::from(cfg.max)),
            groups: weights.map(group).collect(),
            period_at: None,
            vtime_at: VTIME_START,
            busy: 0,
            judged: Default::default(),
            waited: 0,
            allocating: Vec::new(),
            allocated: Vec::new(),
        }
    }

    /// Vtime in a time, at the present rate.
    fn vtime_in(&self, ns: SimDuration) -> u64 {
        let at_full = u128::from(ns) * u128::from(VTIME_PER_SEC) / u128::from(SEC);
        (at_full * u128::from(self.vrate) / u128::from(FULL_RATE)) as u64
    }
    /// Time until so much vtime has passed.
    fn ns_for(&self, vtime: u64) -> SimDuration {
        let at_full = (u128::from(vtime) * u128::from(SEC)).div_ceil(u128::from(VTIME_PER_SEC));
        (at_full * u128::from(FULL_RATE)).div_ceil(u128::from(self.vrate)) as u64
    }
    /// The device's clock.
    fn vnow(&self, now: SimTime) -> u64 {
        self.vtime_at + self.period_at.map_or(0, |at| self.vtime_in(now - at))
    }
    /// What a cost comes to for a cgroup (`abs_cost_to_cost`).
    fn for_group(&self, j: usize, cost: u64) -> u64 {
        (u128::from(cost) * u128::from(ONE)).div_ceil(u128::from(self.groups[j].share)) as u64
    }
    /// Cost of a bio; 0: not charged.
    fn cost(&self, b: &QosBio, cursor: Option<Sector>, merge: bool) -> u64 {
        match b.op {
            Op::Read => self.coefs[0].cost(b.sector, b.nr_sectors, cursor, merge),
            Op::Write => self.coefs[1].cost(b.sector, b.nr_sectors, cursor, merge),
            _ => 0,
        }
    }

    // ---- hooks ----

    /// `ioc_rqos_throttle`
    pub fn throttle(&mut self, b: &QosBio, now: SimTime, woken: &mut Vec<Idx>) -> Gate {
        let j = usize::from(b.job);
        let Some(g) = self.groups.get(j) else { return Gate::Pass };
        let cost = self.cost(b, g.cursor, false);
        if cost == 0 {
            return Gate::Pass;
        }
        self.activate(j, now);
        self.groups[j].cursor = Some(b.sector + u64::from(b.nr_sectors));
        self.groups[j].seen = true;
        let fits = self.budget(j, cost, now) >= 0;
        if fits && self.groups[j].waiters.is_empty() && self.groups[j].debt == 0 {
            self.charge(j, cost);
            return Gate::Pass;
        }
        if b.as_root {
            self.groups[j].debt += cost;
            self.groups[j].in_flight += 1;
            return Gate::Pass;
        }
        self.groups[j].waiters.push_back(Sleeper { bio: b.bio, cost });
        self.groups[j].short = true;
        let short = self.kick(j, now, woken);
        // A debt was paid and all that sleep fit, this one last.
        if woken.pop_if(|last| *last == b.bio).is_some() {
            return Gate::Pass;
        }
        Gate::Wait(Hold::Cost { cost: device_ns(cost), short })
    }
    /// `iocg_activate`: a cgroup that was idle starts with half a period's budget.
    fn activate(&mut self, j: usize, now: SimTime) {
        if self.groups[j].active {
            return;
        }
        self.period_at.get_or_insert(now);
        let saved = self.vtime_in(self.period) * SAVED / 100;
        self.groups[j].vtime = self.vnow(now).saturating_sub(saved);
        self.groups[j].active = true;
        self.share_out();
    }
    /// What a cgroup has left after a cost. One that lends takes its share back rather than be short
    /// (`adjust_inuse_and_calc_cost`).
    fn budget(&mut self, j: usize, cost: u64, now: SimTime) -> i64 {
        let vnow = self.vnow(now);
        let left = |s: &Self| vnow.wrapping_sub(s.groups[j].vtime + s.for_group(j, cost)) as i64;
        if left(self) < 0 && self.groups[j].keeps.take().is_some() {
            self.share_out();
        }
        left(self)
    }
    /// `iocg_commit_bio`
    fn charge(&mut self, j: usize, cost: u64) {
        let for_it = self.for_group(j, cost);
        let g = &mut self.groups[j];
        g.vtime += for_it;
        g.usage += cost;
        g.in_flight += 1;
    }
    /// `iocg_kick_waitq`: pays debts and wakes who fits; then when the next one will, and what is missing to that.
    fn kick(&mut self, j: usize, now: SimTime, woken: &mut Vec<Idx>) -> SimDuration {
        let vnow = self.vnow(now);
        let left = vnow.saturating_sub(self.groups[j].vtime);
        if self.groups[j].debt > 0 && left > 0 {
            let share = self.groups[j].share;
            let pays = (u128::from(left) * u128::from(share) / u128::from(ONE)) as u64;
            let pays = pays.min(self.groups[j].debt);
            self.groups[j].vtime += self.for_group(j, pays);
            self.groups[j].debt -= pays;
            self.groups[j].usage += pays;
        }
        if self.groups[j].debt == 0 {
            while let Some(first) = self.groups[j].waiters.front().copied() {
                if self.budget(j, first.cost, now) < 0 {
                    break;
                }
                self.groups[j].waiters.pop_front();
                self.charge(j, first.cost);
                woken.push(first.bio);
            }
        }
        let Some(first) = self.groups[j].waiters.front() else { return 0 };
        let needed = self.for_group(j, self.groups[j].debt + first.cost) + self.groups[j].vtime;
        let short = self.ns_for(needed.saturating_sub(vnow));
        // timer_slack: several at a time.
        self.groups[j].due = now + short + self.period / 100;
        short
    }
    /// Allocation of a request begins (rq->alloc_time_ns).
    pub fn allocates(&mut self, bio: Idx, now: SimTime) {
        self.allocating.push((bio, now));
    }
    /// There will be no request.
    pub fn cleanup(&mut self, bio: Idx) {
        self.allocating.retain(|(b, _)| *b != bio);
    }
    /// The bio has its request.
    pub fn track(&mut self, rq: Idx, b: &QosBio) {
        let Some(at) = self.allocating.iter().position(|(bio, _)| *bio == b.bio) else { return };
        let (_, since) = self.allocating.swap_remove(at);
        let slot = rq as usize;
        if slot >= self.allocated.len() {
            self.allocated.resize(slot + 1, None);
        }
        self.allocated[slot] = Some(since);
    }
    /// `ioc_rqos_merge`: pages are charged, or owed.
    pub fn merge(&mut self, from: Sector, to: Sector, b: &QosBio, now: SimTime) {
        let j = usize::from(b.job);
        let Some(g) = self.groups.get(j) else { return };
        let cost = self.cost(b, None, true);
        if cost == 0 || !g.active {
            return;
        }
        let end = b.sector + u64::from(b.nr_sectors);
        if from < end && g.cursor == Some(to) {
            self.groups[j].cursor = Some(end);
        }
        self.groups[j].seen = true;
        if self.budget(j, cost, now) >= 0 {
            let for_it = self.for_group(j, cost);
            self.groups[j].vtime += for_it;
            self.groups[j].usage += cost;
        } else {
            self.groups[j].debt += cost;
        }
    }
    /// `ioc_rqos_done`: in time is what took no longer than the target and its size.
    pub fn done(&mut self, r: &QosRq, now: SimTime) {
        let Some(since) = self.allocated.get_mut(r.rq as usize).and_then(Option::take) else { return };
        let rw = match r.op {
            Op::Read => 0,
            Op::Write => 1,
            _ => return,
        };
        if r.issued.is_none() {
            return;
        }
        let size = device_ns((u64::from(r.nr_sectors) / PAGE_SECTORS).max(1) * self.coefs[rw].page);
        let in_time = now - since <= size + self.cfg.lat_ns[rw];
        self.judged[rw].met += u64::from(in_time);
        self.judged[rw].missed += u64::from(!in_time);
        self.waited += r.start - since;
    }
    /// A bio that passed has ended.
    pub fn done_bio(&mut self, b: &QosBio) {
        if let Some(g) = self.groups.get_mut(usize::from(b.job)) {
            g.in_flight = g.in_flight.saturating_sub(1);
        }
    }

    // ---- periods ----

    /// End of the period, or the first sleeper that fits.
    pub fn timer(&self) -> Option<SimTime> {
        let waiting = self.groups.iter().filter(|g| !g.waiters.is_empty());
        let first = waiting.map(|g| g.due).min();
        let period = self.period_at.map(|at| at + self.period);
        [first, period].into_iter().flatten().min()
    }
    /// `iocg_waitq_timer_fn`, `ioc_timer_fn`
    pub fn timer_fired(&mut self, now: SimTime, woken: &mut Vec<Idx>) {
        for j in 0..self.groups.len() {
            if !self.groups[j].waiters.is_empty() && self.groups[j].due <= now {
                self.kick(j, now, woken);
            }
        }
        if self.period_at.is_some_and(|at| at + self.period <= now) {
            self.period_over(now, woken);
        }
    }
    fn period_over(&mut self, now: SimTime, woken: &mut Vec<Idx>) {
        let vnow = self.vnow(now);
        for j in 0..self.groups.len() {
            if self.groups[j].active && self.groups[j].debt > 0 {
                self.kick(j, now, woken);
            }
            let g = &mut self.groups[j];
            let idle = !g.seen && g.in_flight == 0 && g.waiters.is_empty() && g.debt == 0;
            g.active &= !idle;
            g.keeps = g.keeps.filter(|_| !idle);
        }
        let short = self.groups.iter().any(|g| g.active && (g.short || !g.waiters.is_empty()));
        self.lend(now, short);
        self.judge(short);
        (self.vtime_at, self.judged, self.waited) = (vnow, Default::default(), 0);
        for g in &mut self.groups {
            (g.seen, g.usage, g.short) = (false, 0, false);
        }
        let active = self.groups.iter().any(|g| g.active);
        self.period_at = active.then_some(now);
        if !active {
            self.busy = 0;
        }
        // Another rate and other shares: whoever sleeps is due at another time.
        for j in 0..self.groups.len() {
            if !self.groups[j].waiters.is_empty() {
                self.kick(j, now, woken);
            }
        }
    }
    /// Who used less than the share by a margin keeps what it used and half of that again; nobody saves up more than
    /// half a period without need.
    fn lend(&mut self, now: SimTime, short: bool) {
        let vnow = self.vnow(now);
        let period = self.vtime_in(self.period);
        for j in 0..self.groups.len() {
            if !self.groups[j].active {
                continue;
            }
            let all = self.by_weight(j);
            let g = &mut self.groups[j];
            let saved = vnow.saturating_sub(g.vtime);
            let rich = g.waiters.is_empty() && g.debt == 0 && saved > period * LOW / 100;
            let used = (u128::from(g.usage) * u128::from(ONE)).div_ceil(u128::from(period.max(1))) as u64;
            g.keeps = (rich && short).then_some((used * 3 / 2).clamp(1, all)).filter(|keeps| *keeps < all);
            // Who sleeps saves for something that may cost more than a period.
            if g.waiters.is_empty() {
                g.vtime = g.vtime.max(vnow.saturating_sub(period * SAVED / 100));
            }
        }
        self.share_out();
    }
    /// A cgroup's share by weight of those that are active, of [`ONE`].
    fn by_weight(&self, j: usize) -> u64 {
        let sum: u64 = self.groups.iter().filter(|g| g.active).map(|g| g.weight).sum();
        (self.groups[j].weight * ONE / sum.max(1)).max(1)
    }
    /// Shares at present: who lends has what it keeps, the others the rest by weight.
    fn share_out(&mut self) {
        let active = || self.groups.iter().filter(|g| g.active);
        let kept: u64 = active().filter_map(|g| g.keeps).sum();
        let weights: u64 = active().filter(|g| g.keeps.is_none()).map(|g| g.weight).sum();
        let free = ONE.saturating_sub(kept);
        for g in self.groups.iter_mut().filter(|g| g.active) {
            g.share = g.keeps.unwrap_or(free * g.weight / weights.max(1)).max(1);
        }
    }
    /// Too much, too little, or neither; then `ioc_adjust_base_vrate`.
    fn judge(&mut self, short: bool) {
        // Of the requests of one direction, hundredths of a per cent missed and allowed.
        let share = |rw: usize| {
            let Judged { met, missed } = self.judged[rw];
            let allowed = FULL_RATE.saturating_sub(u64::from(self.cfg.pct[rw]));
            ((missed * FULL_RATE).checked_div(met + missed).unwrap_or(0), allowed)
        };
        let waited = self.waited * 100 / self.period;
        let [reads, writes] = [share(0), share(1)];
        let too_many = |(missed, allowed): (u64, u64)| missed > allowed;
        let few = |(missed, allowed): (u64, u64)| missed <= allowed * UNBUSY / 100;
        self.busy = if waited > WAIT_BUSY || too_many(reads) || too_many(writes) {
            self.busy.max(0) + 1
        } else if waited <= WAIT_BUSY * UNBUSY / 100 && few(reads) && few(writes) && short {
            self.busy.min(0) - 1
        } else {
            0
        };
        self.busy = self.busy.clamp(-1000, 1000);
        let (min, max) = (u64::from(self.cfg.min), u64::from(self.cfg.max));
        let by = adjustment(self.busy.unsigned_abs());
        self.vrate = match self.busy {
            0 => self.vrate,
            _ if self.vrate < min => (self.vrate * (100 + CLAMP_STEP) / 100).min(min),
            _ if self.vrate > max => (self.vrate * (100 - CLAMP_STEP) / 100).max(max),
            1.. => (self.vrate * (100 - by)).div_ceil(100).clamp(min, max),
            _ => (self.vrate * (100 + by)).div_ceil(100).clamp(min, max),
        };
    }

    /// For pictures: one entry a job.
    pub fn view(&self) -> IoCostView {
        let group = |(job, g): (JobIdx, &Group)| {
            let share = if g.active { (g.share * 1000 / ONE) as u32 } else { 0 };
            (job, g.weight as u16, share, g.waiters.len() as u32, device_ns(g.debt) / 1000)
        };
        IoCostView {
            vrate: self.vrate as u32,
            period_ns: self.period,
            groups: (0..).zip(&self.groups).map(group).collect(),
        }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let waiters: usize = self.groups.iter().map(|g| g.waiters.capacity() * size_of::<Sleeper>()).sum();
        let requests = self.allocated.capacity() * 16 + self.allocating.capacity() * 16;
        self.groups.capacity() * size_of::<Group>() + waiters + requests
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    const US: SimDuration = 1_000;

    fn bio(job: JobIdx, bio: Idx, sector: Sector, nr_sectors: u32) -> QosBio {
        QosBio { bio, job, op: Op::Read, sector, nr_sectors, kind: None, as_root: false, issue_time: 0 }
    }
    /// A random read of 4 KiB: 371456632 vtime, 2702.702 us of the device.
    fn random(job: JobIdx, n: Idx) -> QosBio {
        bio(job, n, u64::from(n + 1) * 1_000_000, 8)
    }
    const RANDOM: u64 = 371_456_632;
    fn new(weights: &[u16]) -> IoCost {
        IoCost::new(IoCostConfig::default(), weights.iter().copied())
    }
    fn passes(c: &mut IoCost, b: &QosBio, now: SimTime) -> bool {
        c.throttle(b, now, &mut vec![]) == Gate::Pass
    }
    /// Jobs that always have one random read to submit, and whose reads end at once: how many passed until `end`.
    fn run(c: &mut IoCost, jobs: &[JobIdx], end: SimTime) -> Vec<u32> {
        let (mut passed, mut now, mut n) = (vec![0; jobs.len()], 0, 0);
        let mut asleep = vec![false; jobs.len()];
        while now < end {
            for (at, job) in jobs.iter().enumerate() {
                while !asleep[at] {
                    n += 1;
                    asleep[at] = !passes(c, &random(*job, n * 8 + u32::from(*job)), now);
                    if !asleep[at] {
                        passed[at] += 1;
                        c.done_bio(&random(*job, n));
                    }
                }
            }
            now = c.timer().unwrap();
            let mut woken = vec![];
            c.timer_fired(now, &mut woken);
            for bio in woken {
                let at = jobs.iter().position(|j| u32::from(*j) == bio % 8).unwrap();
                asleep[at] = false;
                passed[at] += 1;
                c.done_bio(&random(jobs[at], bio));
            }
        }
        passed
    }

    #[test]
    fn section_8_1_costs_of_the_hard_disk_model() {
        // 42486 pages of a read and 43476 of a write a second.
        let [read, write] = new(&[100]).coefs;
        assert_eq!(read, Coefs { page: 3_234_924, seq: 60_342, rand: 368_221_708 });
        assert_eq!(write, Coefs { page: 3_161_261, seq: 57_074, rand: 360_433_855 });
        // 4 KiB sequential, 4 KiB random, 1 MiB sequential, 1 MiB random.
        let costs = |c: Coefs| {
            let far = Some(1 << 30);
            [
                c.cost(0, 8, None, false),
                c.cost(0, 8, far, false),
                c.cost(0, 2048, None, false),
                c.cost(0, 2048, far, false),
            ]
        };
        assert_eq!(costs(read), [3_295_266, RANDOM, 828_200_886, 1_196_362_252]);
        assert_eq!(costs(write), [3_218_335, 363_595_116, 809_339_890, 1_169_716_671]);
        // 1/41708 s, 1/370 s; 1 MiB at 174 MB/s.
        assert_eq!(costs(read).map(device_ns), [23_976, 2_702_702, 6_025_954, 8_704_681]);
        assert_eq!(costs(write).map(device_ns), [23_416, 2_645_502, 5_888_722, 8_510_808]);
        // A merge has no base, half a page is one, nothing costs nothing.
        assert_eq!(read.cost(1 << 30, 8, Some(0), true), 3_234_924);
        assert_eq!((read.cost(0, 1, None, false), read.cost(0, 0, None, false)), (3_295_266, 0));
    }

    #[test]
    fn section_8_1_sixteen_mib_away_is_random() {
        let read = new(&[100]).coefs[0];
        for (sector, cost) in [(32_768, 3_295_266), (32_775, 3_295_266), (32_776, RANDOM)] {
            assert_eq!(read.cost(sector, 8, Some(0), false), cost, "{sector}");
            assert_eq!(read.cost(0, 8, Some(sector), false), cost, "{sector}");
        }
        // The cursor is the cgroup's: two that read in order are each sequential.
        let mut c = new(&[100, 100]);
        for n in 0..3 {
            assert!(passes(&mut c, &bio(0, 0, n * 8, 8), 0) && passes(&mut c, &bio(1, 0, (1 << 30) + n * 8, 8), 0));
        }
        assert_eq!([c.groups[0].usage, c.groups[1].usage], [3 * 3_295_266; 2]);
    }

    #[test]
    fn section_8_1_period_by_the_larger_target() {
        let period = |pct, lat_ns| period_of(&IoCostConfig { pct, lat_ns, ..IoCostConfig::default() });
        assert_eq!(period([0, 0], [250 * MS; 2]), 500 * MS);
        assert_eq!(period([9000, 0], [75 * MS, MS]), 150 * MS);
        assert_eq!(period([5000, 0], [10 * MS, MS]), 100 * MS);
        assert_eq!(period([5000, 7500], [10 * MS, 20 * MS]), 100 * MS);
        assert_eq!(period([9500, 9500], [100 * US; 2]), MS);
        assert_eq!(period([9500, 9500], [2 * SEC; 2]), SEC);
    }

    #[test]
    fn section_8_1_a_rate_follows_latency_between_min_and_max() {
        let cfg =
            IoCostConfig { pct: [9500, 9500], lat_ns: [10 * MS; 2], min: 9_700, max: 10_300, ..Default::default() };
        let mut c = IoCost::new(cfg, [100].into_iter());
        let mut periods = |met, missed, short, n: usize| -> Vec<u64> {
            let one = |_| {
                c.judged[0] = Judged { met, missed };
                c.judge(short);
                c.vrate
            };
            (0..n).map(one).collect()
        };
        // 6 of 100 are more than 5 %: from the fourth period on 1 % a period, to the lower bound.
        assert_eq!(periods(94, 6, false, 7), [10_000, 10_000, 10_000, 9_900, 9_801, 9_703, 9_700]);
        // Between 3.75 and 5 %, or with nobody short: no change, and counting starts anew.
        assert_eq!(periods(96, 4, true, 5), [9_700; 5]);
        assert_eq!(periods(97, 3, false, 5), [9_700; 5]);
        let up = [9_700, 9_700, 9_700, 9_797, 9_895, 9_994, 10_094, 10_195, 10_297, 10_300];
        assert_eq!(periods(97, 3, true, 10), up);
        assert_eq!([4, 19, 20, 35, 36, 43, 44, 51, 52, 999].map(adjustment), [1, 1, 2, 2, 4, 4, 8, 8, 16, 16]);
    }

    #[test]
    fn section_8_1_a_rate_out_of_bounds_comes_back_in_steps() {
        let mut c = new(&[100]);
        (c.cfg.min, c.cfg.max, c.busy) = (20_000, 30_000, 0);
        c.judge(true);
        assert_eq!(c.vrate, 10_400);
        c.vrate = 40_000;
        c.judge(true);
        assert_eq!(c.vrate, 38_400);
        // The kernel's bounds: 1 % to 10000 %.
        let bounds = IoCostConfig::default();
        assert_eq!((bounds.min, bounds.max), (100, 1_000_000));
    }

    #[test]
    fn section_8_1_tasks_that_wait_for_tags_slow_it_down() {
        // Nothing is judged by latency. Of a period of 500 ms, 6 % of waiting are too much, up to 3 % are fine.
        let mut c = new(&[100]);
        let mut judge = |waited| {
            c.waited = waited;
            c.judge(true);
            c.busy
        };
        assert_eq!([judge(29 * MS), judge(30 * MS), judge(20 * MS), judge(19 * MS)], [0, 1, 0, -1]);
        // From the end of the throttling to the request.
        c.allocates(7, MS);
        c.track(3, &random(0, 7));
        c.waited = 0;
        c.done(&QosRq { rq: 3, op: Op::Read, nr_sectors: 8, start: 5 * MS, issued: Some(6 * MS) }, 300 * MS);
        assert_eq!((c.waited, c.judged[0]), (4 * MS, Judged { met: 0, missed: 1 }));
    }

    #[test]
    fn section_8_1_in_time_is_the_target_and_the_size() {
        // 250 ms and 256 pages of a read: 6028.3 us more.
        let judged = |ns| {
            let mut c = new(&[100]);
            c.allocates(0, 0);
            c.track(0, &random(0, 0));
            c.done(&QosRq { rq: 0, op: Op::Read, nr_sectors: 2048, start: 0, issued: Some(0) }, ns);
            c.judged[0].met
        };
        assert_eq!([judged(256_025_515), judged(256_025_516)], [1, 0]);
    }

    #[test]
    fn section_8_1_shares_by_weight() {
        // 370 random reads a second at 100 %, of which a quarter and three quarters; half a period's budget at first, when
        // the first one is alone.
        let mut c = new(&[100, 300]);
        c.cfg.max = 10_000;
        let passed = run(&mut c, &[0, 1], 10 * SEC);
        for (passed, want) in passed.into_iter().zip([925 + 93, 2775 + 69]) {
            assert!(passed.abs_diff(want) <= 4, "{passed} {want}");
        }
        // Alone it has all of it.
        let mut c = new(&[100, 300]);
        c.cfg.max = 10_000;
        assert!(run(&mut c, &[0], 10 * SEC)[0].abs_diff(3700 + 92) <= 4);
    }

    #[test]
    fn section_8_1_who_uses_less_lends_the_rest() {
        let mut c = new(&[100, 300]);
        c.cfg.max = 10_000;
        // One read every 50 ms: 5.4 % of the device, of 75.
        let (mut passed, mut now, mut n, mut asleep) = (0, 0, 0, false);
        let mut next = 0;
        while now < 10 * SEC {
            while !asleep {
                n += 1;
                asleep = !passes(&mut c, &random(0, n), now);
                passed += u32::from(!asleep);
                c.done_bio(&random(0, 0));
            }
            if now >= next {
                assert!(passes(&mut c, &random(1, n), now), "{now}");
                c.done_bio(&random(1, 0));
                next += 50 * MS;
            }
            now = c.timer().unwrap().min(next);
            let mut woken = vec![];
            c.timer_fired(now, &mut woken);
            passed += woken.len() as u32;
            asleep &= woken.is_empty();
        }
        // A quarter would be 925; what the other leaves is 3500, and it keeps half of its use in reserve.
        assert!((3200..3500).contains(&passed), "{passed}");
    }

    #[test]
    fn section_8_1_budgets_are_not_saved_up() {
        let mut c = new(&[100]);
        // Half a period at first: 250 ms are a first read, which is sequential to nothing, and 92; the next one sleeps
        // until it fits, and a hundredth of a period more.
        let passed = (0..200).take_while(|n| passes(&mut c, &random(0, *n), 0)).count();
        assert_eq!(passed, 93);
        let due = 23_976 + 93 * 2_702_702 - 250 * MS + 5 * MS;
        assert!(c.timer().unwrap().abs_diff(due) < 100, "{:?} {due}", c.timer());
        let mut woken = vec![];
        c.timer_fired(c.timer().unwrap(), &mut woken);
        assert_eq!(woken, [93]);
        // All done; two periods on, it is idle and the clock stands.
        for _ in 0..94 {
            c.done_bio(&random(0, 0));
        }
        while let Some(now) = c.timer() {
            c.timer_fired(now, &mut woken);
        }
        assert_eq!((c.groups[0].active, c.period_at), (false, None));
        let passed = (0..200).take_while(|n| passes(&mut c, &random(0, *n), 100 * SEC)).count();
        assert_eq!(passed, 92);
    }

    #[test]
    fn section_8_1_a_bio_may_cost_more_than_a_period() {
        let cfg = IoCostConfig { lat_ns: [MS; 2], max: 10_000, ..Default::default() };
        let mut c = IoCost::new(cfg, [100].into_iter());
        assert_eq!(c.period, 2 * MS);
        // 6025.954 us, of which 1 ms is there; and 1 % of a period more.
        assert!(!passes(&mut c, &bio(0, 7, 0, 2048), 0));
        let (mut now, mut woken) = (0, vec![]);
        while woken.is_empty() && now < SEC {
            now = c.timer().unwrap();
            c.timer_fired(now, &mut woken);
        }
        assert_eq!((woken, now / US), (vec![7], 5_045));
    }

    #[test]
    fn section_8_1_debts_are_paid_before_the_next_bio() {
        let mut c = new(&[100]);
        for n in 0..93 {
            assert!(passes(&mut c, &random(0, n), 0));
        }
        // 1.33 ms are left. What others wait for goes at once, all the same.
        assert!(passes(&mut c, &QosBio { as_root: true, ..random(0, 93) }, 0));
        assert_eq!((c.groups[0].debt, c.view().groups[0].4), (RANDOM, 2_702));
        // A page that is merged fits; but while it owes, the cgroup's bios wait, however cheap.
        c.merge(0, 1 << 20, &bio(0, 0, 1 << 20, 8), 0);
        assert!(!passes(&mut c, &bio(0, 94, 94_000_000, 8), 0));
        let (now, mut woken) = (c.timer().unwrap(), vec![]);
        c.timer_fired(now, &mut woken);
        assert_eq!((c.groups[0].debt, woken), (0, vec![94]));
        // Merged pages that do not fit are owed.
        while passes(&mut c, &bio(0, 0, 94_000_008, 2048), now) {}
        c.merge(0, 1 << 20, &bio(0, 0, 1 << 20, 2048), now);
        assert_eq!(c.groups[0].debt, 256 * 3_234_924);
    }

    #[test]
    fn section_8_1_what_is_not_charged() {
        let mut c = new(&[1]);
        for op in [Op::Flush, Op::ZoneReset, Op::ZoneAppend] {
            assert!((0..1000).all(|n| passes(&mut c, &QosBio { op, ..random(0, n) }, 0)));
        }
        assert!((0..1000).all(|n| passes(&mut c, &random(9, n), 0)));
        assert_eq!(c.timer(), None);
    }
}
