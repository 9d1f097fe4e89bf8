//! The hooks of `rq_qos` in the pipeline, and the gate before them.
//!
//! Models: the inline helpers of block/blk-rq-qos.h and their callers, bio->issue_time_ns, 7.1 and before (kernel 8.1).
//! Rule: a hook asks the gate first, and on a queue without policy goes no further. Tasks that a policy holds sleep with
//! their bio's reference of the queue; a woken one runs a little later and asks the rest of the chain.
//! Leaves out: policies removed while a queue lives (each of them only falls silent).

use alloc::vec::Vec;

use super::super::bio::bflag;
use super::super::live::WbtSetting;
use super::super::tag::Waiter;
use super::super::{Ctx, Queue, Task};
use super::iocost::IoCost;
use super::iolatency::IoLatency;
use super::wbt::{self, Wbt};
use super::{Gate, Hold, Policy, QosBio, QosRq, QueueFacts, RqQos};
use crate::config::{IssueTime, QosGate, QueueConfig, SimConfig};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::{JobState, QosCounters, QosView};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{BlkStatus, DevIdx};

/// What a queue has of `rq_qos`.
#[derive(Clone, Debug, Default)]
pub struct QueueQos {
    /// q.rq_qos
    pub chain: RqQos,
    /// The gate lets hooks look at q.rq_qos.
    open: bool,
    /// The chain is not empty.
    asks: bool,
    /// QUEUE_FLAG_BIO_ISSUE_TIME
    stamps: bool,
    /// Hooks passed since the gate was set.
    passed: u64,
    /// All else that is counted, and hooks before that.
    counters: QosCounters,
    /// When the event of the policies' timers comes.
    timer_at: Option<SimTime>,
    /// Tasks that policies hold.
    asleep: Fifo<Waiter>,
    /// List used while tasks are woken, kept for its memory.
    woken: Vec<Idx>,
}

impl QueueQos {
    /// As after registration, with what was written to attributes and cgroups since.
    pub fn new(cfg: &QueueConfig, wbt: Option<WbtSetting>, facts: QueueFacts, dev: DevIdx, sim: &SimConfig) -> Self {
        // io.latency names one device: the one the job uses.
        let targets = sim.jobs.iter().map(|j| if j.dev == dev { j.cgroup.latency_ns } else { 0 });
        let weights = sim.jobs.iter().map(|j| j.cgroup.weight);
        let policies = [
            wbt.map(|setting| Policy::Wbt(Wbt::new(setting, facts))),
            IoLatency::new(targets, facts).map(Policy::Latency),
            cfg.iocost.map(|cost| Policy::Cost(IoCost::new(cost, weights))),
        ];
        let mut chain = RqQos::default();
        for policy in policies.into_iter().flatten() {
            chain.add(policy).expect("one of each");
        }
        Self { chain, ..Self::default() }
    }
    /// A hook is passed: true where policies are to be asked.
    #[inline]
    fn hook(&mut self) -> bool {
        self.passed += 1;
        self.asks
    }
    /// What was counted so far, with what hooks have met since the gate was set.
    fn counted(&self) -> QosCounters {
        let (c, n) = (self.counters, self.passed);
        let (gated, chain_loads) = if self.open { (0, n) } else { (n, 0) };
        QosCounters { hooks: c.hooks + n, gated: c.gated + gated, chain_loads: c.chain_loads + chain_loads, ..c }
    }
    fn set_gate(&mut self, open: bool) {
        self.counters = self.counted();
        (self.passed, self.open) = (0, open);
        (self.asks, self.stamps) = (!self.chain.is_empty(), self.chain.wants_issue_time());
    }
    /// A bio passes `blk_mq_submit_bio`.
    #[inline]
    fn bio(&mut self, stamped: bool) {
        self.counters.bios += 1;
        self.counters.clock_reads += u64::from(stamped);
    }
    /// For pictures.
    pub fn view(&self) -> QosView {
        QosView { counters: self.counted(), ..self.chain.view() }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.chain.heap_bytes() + self.asleep.capacity() * size_of::<Waiter>()
    }
}

impl Queue {
    /// What policies have to know.
    pub(in crate::blk) fn qos_facts(&self, rotational: bool) -> QueueFacts {
        QueueFacts {
            queue_depth: if self.scsi { self.cfg.queue_depth } else { self.cfg.nr_requests },
            nr_requests: self.cfg.nr_requests,
            write_back: self.cfg.write_back,
            rotational,
        }
    }
}

/// A bio that must not wait for its cgroup's sake (REQ_META): here those of a log, which flush.
const AS_ROOT: u16 = bflag::PREFLUSH | bflag::FUA;

impl Ctx<'_> {
    /// The queue's attributes were written, while it was frozen: policies follow.
    pub(in crate::blk) fn qos_follows(&mut self, dev: DevIdx) {
        let rotational = self.cfg.devices[usize::from(dev)].rotational();
        let q = self.queue(dev);
        let facts = q.qos_facts(rotational);
        let chain = &mut q.qos.chain;
        match (q.wbt, chain.wbt_mut()) {
            (Some(setting), Some(wbt)) => wbt.set(setting),
            (Some(setting), None) => chain.add(Policy::Wbt(Wbt::new(setting, facts))).expect("it had none"),
            (None, _) => {}
        }
        chain.queue_changed(facts);
        self.qos_gates();
    }
    /// The gates as the kernel of this run builds them: one per queue, or one for all.
    pub(crate) fn qos_gates(&mut self) {
        let gate = self.cfg.kernel.qos_gate;
        let mut queues: Vec<_> = self.devs.iter_mut().filter_map(|d| d.queue.as_mut()).collect();
        let any = queues.iter().any(|q| !q.qos.chain.is_empty());
        for q in &mut queues {
            let open = match gate {
                QosGate::Pointer => true,
                QosGate::StaticKey => any,
                QosGate::QueueFlag => !q.qos.chain.is_empty(),
            };
            q.qos.set_gate(open);
        }
    }

    /// bio->issue_time_ns, in `submit_bio_noacct_nocheck` before 6.18.
    #[inline]
    pub(in crate::blk) fn qos_submitted(&mut self, bio: Idx) {
        if self.cfg.kernel.issue_time == IssueTime::Always {
            let now = self.bus.now;
            let dev = self.bios[bio].dev;
            self.bios[bio].issue_time = now;
            if let Some(q) = &mut self.devs[usize::from(dev)].queue {
                q.qos.bio(true);
            }
        }
    }
    /// bio->issue_time_ns, in `blk_mq_submit_bio` after the limit split since then.
    #[inline]
    pub(in crate::blk) fn qos_split(&mut self, dev: DevIdx, bio: Idx) {
        if self.cfg.kernel.issue_time == IssueTime::IfIolatency {
            let now = self.bus.now;
            let q = self.queue(dev);
            let stamped = q.qos.stamps;
            q.qos.bio(stamped);
            if stamped {
                self.bios[bio].issue_time = now;
            }
        }
    }

    fn qos_bio(&self, bio: Idx) -> QosBio {
        let b = &self.bios[bio];
        QosBio {
            bio,
            job: b.job,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            kind: wbt::kind_of(b.op, b.flags & (bflag::SYNC | AS_ROOT) != 0),
            as_root: b.flags & AS_ROOT != 0,
            issue_time: b.issue_time,
        }
    }
    fn qos_rq(&self, rq: Idx) -> QosRq {
        let r = &self.rqs[rq];
        QosRq { rq, op: r.op, nr_sectors: r.nr_sectors, start: r.g_time, issued: r.d_time }
    }

    /// `rq_qos_throttle` of a bio that is about to get a request. False: its task sleeps.
    #[inline]
    pub(in crate::blk) fn qos_throttle(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        !self.queue(dev).qos.hook() || self.qos_ask(dev, bio, task)
    }
    fn qos_ask(&mut self, dev: DevIdx, bio: Idx, task: Task) -> bool {
        let (b, now) = (self.qos_bio(bio), self.bus.now);
        self.bios[bio].flags |= bflag::QOS_THROTTLED;
        let gate = self.queue(dev).qos.chain.throttle(&b, now);
        let passes = self.qos_gate(dev, gate, Waiter { task, bio });
        if !passes {
            self.sleep(task, JobState::WaitQos);
        }
        passes
    }
    /// What a policy said: it passes, or lies down.
    fn qos_gate(&mut self, dev: DevIdx, gate: Gate, w: Waiter) -> bool {
        if let Gate::Wait(hold) = gate {
            let job = self.bios[w.bio].job;
            let why = match hold {
                Hold::Wbt { kind, in_flight, limit } => Why::ThrottledByWbt { kind, in_flight, limit },
                Hold::Latency { in_flight, depth, target } => {
                    Why::ThrottledByIolatency { job, in_flight, depth, target }
                }
                Hold::Cost { cost, short } => Why::ThrottledByIocost { job, cost, short },
            };
            self.bus.because(self.bios[w.bio].id, why);
            self.queue(dev).qos.asleep.push_back(w);
        }
        self.qos_settle(dev);
        gate == Gate::Pass
    }
    /// Tasks are woken, the timer is armed.
    fn qos_settle(&mut self, dev: DevIdx) {
        let (now, wake_ns) = (self.bus.now, self.cfg.host.wake_ns);
        let qos = &mut self.queue(dev).qos;
        let timer = qos.chain.timer().filter(|at| qos.timer_at.is_none_or(|armed| armed > *at || armed < now));
        if let Some(at) = timer {
            qos.timer_at = Some(at);
            self.bus.after(at.saturating_sub(now), Event::Qos(dev));
        }
        let qos = &mut self.queue(dev).qos;
        if qos.chain.any_woken() {
            let mut woken = core::mem::take(&mut qos.woken);
            qos.chain.take_woken(&mut woken);
            for bio in woken.drain(..) {
                self.bus.after(wake_ns, Event::QosWoken(dev, bio));
            }
            self.queue(dev).qos.woken = woken;
        }
    }
    /// `Event::QosWoken`: the task that carries this bio runs.
    pub(crate) fn qos_woken(&mut self, dev: DevIdx, bio: Idx) {
        let asleep = &mut self.queue(dev).qos.asleep;
        let Some(at) = asleep.iter().position(|w| w.bio == bio) else { return };
        let w = asleep.remove(at);
        let (b, now) = (self.qos_bio(bio), self.bus.now);
        let gate = self.queue(dev).qos.chain.go_on(&b, now);
        if self.qos_gate(dev, gate, w) && self.get_request(dev, bio, w.task) {
            self.resume(w.task);
        }
    }
    /// `Event::Qos`; one that was overtaken by an earlier finds nothing to do.
    pub(crate) fn qos_event(&mut self, dev: DevIdx) {
        let now = self.bus.now;
        let qos = &mut self.queue(dev).qos;
        qos.timer_at = qos.timer_at.filter(|at| *at > now);
        qos.chain.timer_fired(now);
        self.qos_settle(dev);
    }

    /// `rq_qos_cleanup`: the bio gets no request.
    pub(in crate::blk) fn qos_cleanup(&mut self, dev: DevIdx, bio: Idx) {
        if self.queue(dev).qos.hook() {
            let (b, now) = (self.qos_bio(bio), self.bus.now);
            self.queue(dev).qos.chain.cleanup(&b, now);
            self.qos_settle(dev);
        }
    }
    /// `rq_qos_track`: the bio has a request.
    #[inline]
    pub(in crate::blk) fn qos_track(&mut self, dev: DevIdx, rq: Idx, bio: Idx) {
        if self.queue(dev).qos.hook() {
            let b = self.qos_bio(bio);
            self.queue(dev).qos.chain.track(rq, &b);
        }
    }
    /// `rq_qos_merge`: a bio is about to join a request.
    #[inline]
    pub(in crate::blk) fn qos_merge(&mut self, rq: Idx, bio: Idx) {
        let (dev, from, to) = (self.rqs[rq].dev, self.rqs[rq].sector, self.rqs[rq].end());
        if self.queue(dev).qos.hook() {
            let (b, now) = (self.qos_bio(bio), self.bus.now);
            self.queue(dev).qos.chain.merge(from, to, &b, now);
            self.qos_settle(dev);
        }
    }
    /// `rq_qos_issue`
    #[inline]
    pub(in crate::blk) fn qos_issue(&mut self, dev: DevIdx, rq: Idx) {
        if self.queue(dev).qos.hook() {
            let (r, now) = (self.qos_rq(rq), self.bus.now);
            self.queue(dev).qos.chain.issue(&r, now);
        }
    }
    /// `rq_qos_requeue`
    pub(in crate::blk) fn qos_requeue(&mut self, dev: DevIdx, rq: Idx) {
        if self.queue(dev).qos.hook() {
            self.queue(dev).qos.chain.requeue(rq);
        }
    }
    /// `rq_qos_done`: a request is over, or part of another.
    #[inline]
    pub(in crate::blk) fn qos_done(&mut self, dev: DevIdx, rq: Idx) {
        if self.queue(dev).qos.hook() {
            let (r, now) = (self.qos_rq(rq), self.bus.now);
            self.queue(dev).qos.chain.done(&r, now);
            self.qos_settle(dev);
        }
    }
    /// `rq_qos_done_bio`: only of bios that were asked for (BIO_QOS_THROTTLED).
    #[inline]
    pub(in crate::blk) fn qos_done_bio(&mut self, dev: DevIdx, bio: Idx, status: BlkStatus) {
        if self.bios[bio].flags & bflag::QOS_THROTTLED != 0 {
            self.bios[bio].flags &= !bflag::QOS_THROTTLED;
            let (b, now) = (self.qos_bio(bio), self.bus.now);
            let qos = &mut self.queue(dev).qos;
            qos.hook();
            qos.chain.done_bio(&b, status == BlkStatus::Again, now);
            self.qos_settle(dev);
        }
    }
}
