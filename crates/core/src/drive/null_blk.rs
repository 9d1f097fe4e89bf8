//! null_blk: a driver without a medium.
//!
//! Models: drivers/block/null_blk, 7.1 (kernel 7.1 to 7.3), and the series that let zone writes overlap (7.4).
//! Rule: what a command does to zones happens when it is submitted, in that order; it is done inside ->queue_rq, in the
//! softirq that follows, or a fixed time later, and any number overlap.
//! Leaves out: the bytes of a memory-backed device (nobody looks at them), discard, polling, the time-out of 5 s.

use super::zone::Zones;
use super::{Cmd, Done, Outcome, command_view};
use crate::bus::Bus;
use crate::config::{NullBlkConfig, NullIrq};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::{MAX_TIMERS, NullBlkView, TimerView};
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, MIB, Op, SECTOR_BYTES, Tag};

/// TICKS_PER_SEC: how often the budget of `mbps` is refilled.
const TICKS_PER_SEC: u64 = 50;
/// Refills in a row, a minute of them, after which a request that no budget is enough for stands still for good: the
/// driver's timer goes on for ever, and so would the run.
const MAX_VAIN_REFILLS: u32 = 3000;

/// What null_blk keeps in a request (`struct nullb_cmd`), and what the queue says of it.
#[derive(Debug)]
pub struct Attempt<'a> {
    /// Driver tag.
    pub tag: Tag,
    /// How often it was given back as a misaligned zone write.
    pub retries: &'a mut u16,
    /// It fails instead of being given back that often; 0: at once.
    pub max_attempts: u32,
    /// badblocks: what touches these sectors fails so.
    pub bad: Option<BlkStatus>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct NullBlk {
    dev: DevIdx,
    irqmode: NullIrq,
    completion_ns: SimDuration,
    as_posted: bool,
    zones: Option<Zones>,
    throttle: Throttle,
    /// Commands submitted, in order of their ends: all that are due and the last that are done.
    log: Fifo<TimerView>,
    /// Misaligned writes given back.
    retries: u64,
}

/// `mbps`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Throttle {
    /// Bytes of a tick; 0 = no limit.
    per_tick: i64,
    /// `cur_bytes`
    left: i64,
    /// The timer runs.
    armed: bool,
    /// Refills since a request was let through.
    vain: u32,
}

impl NullBlk {
    /// Idle.
    pub fn new(dev: DevIdx, cfg: &NullBlkConfig) -> Self {
        let per_tick = (MIB / TICKS_PER_SEC * u64::from(cfg.mbps)) as i64;
        Self {
            dev,
            irqmode: cfg.irqmode,
            completion_ns: cfg.completion_ns,
            as_posted: cfg.as_posted,
            zones: cfg.zones.as_ref().map(Zones::of_config),
            throttle: Throttle { per_tick, left: per_tick, armed: false, vain: 0 },
            log: Fifo::new(),
            retries: 0,
        }
    }

    /// Its zones, where it has any.
    pub fn zones(&self) -> Option<&Zones> {
        self.zones.as_ref()
    }
    /// Its zones to change.
    pub fn zones_mut(&mut self) -> Option<&mut Zones> {
        self.zones.as_mut()
    }

    /// `null_handle_throttled`, before the request is started: whether the budget of `mbps` lasts for it. Where not, the
    /// driver has stopped the queue until [`NullBlk::refill`]. As in the driver, what is refused is taken off as well.
    #[inline]
    pub fn admits(&mut self, bus: &mut Bus, nr_sectors: u32) -> bool {
        self.throttle.per_tick == 0 || self.throttled(bus, nr_sectors)
    }
    fn throttled(&mut self, bus: &mut Bus, nr_sectors: u32) -> bool {
        let t = &mut self.throttle;
        if !core::mem::replace(&mut t.armed, true) {
            bus.after(1_000_000_000 / TICKS_PER_SEC, Event::Refill(self.dev));
        }
        t.left -= i64::from(nr_sectors) * SECTOR_BYTES as i64;
        let lasts = t.left >= 0;
        if lasts {
            t.vain = 0;
        }
        lasts
    }
    /// `nullb_bwtimer_fn`: a new budget, and the stopped queues run; a budget that nobody touched stops the timer.
    pub fn refill(&mut self, bus: &mut Bus) -> bool {
        let t = &mut self.throttle;
        t.armed = t.left != t.per_tick && t.vain < MAX_VAIN_REFILLS;
        if t.armed {
            t.left = t.per_tick;
            t.vain += 1;
            bus.after(1_000_000_000 / TICKS_PER_SEC, Event::Refill(self.dev));
        }
        t.armed
    }

    /// `null_queue_rq` behind `blk_mq_start_request`. A zone append is told where it went in `cmd.sector`.
    pub fn submit(&mut self, bus: &mut Bus, cmd: &mut Cmd, attempt: Attempt) -> Outcome {
        let status = match self.carry_out(cmd, attempt.bad) {
            BlkStatus::IoErr if attempt.max_attempts > 0 && self.is_misaligned(cmd) => {
                *attempt.retries += 1;
                if u32::from(*attempt.retries) >= attempt.max_attempts {
                    BlkStatus::IoErr
                } else if self.as_posted {
                    BlkStatus::DevResource
                } else {
                    self.retries += 1;
                    return Outcome::Busy(BlkStatus::DevResource);
                }
            }
            status => status,
        };
        let ns = if self.irqmode == NullIrq::Timer { self.completion_ns } else { 0 };
        self.keep(bus.now, cmd, ns, attempt.tag, *attempt.retries);
        // What is to be queued again (the parameter `requeue`) is so after this run of the queue.
        if self.irqmode == NullIrq::None && status != BlkStatus::Again {
            return Outcome::Done(Done { rq: cmd.rq, status });
        }
        bus.after(ns, Event::Done(self.dev, cmd.rq, status));
        Outcome::Taken
    }

    /// `null_process_cmd`, `null_process_zoned_cmd`: the write pointer comes before badblocks.
    #[inline]
    fn carry_out(&mut self, cmd: &mut Cmd, bad: Option<BlkStatus>) -> BlkStatus {
        match bad {
            Some(_) if self.is_misaligned(cmd) => BlkStatus::IoErr,
            Some(bad) => bad,
            None => self.zones.as_mut().map_or(BlkStatus::Ok, |z| z.carry_out(cmd)),
        }
    }

    fn is_misaligned(&self, cmd: &Cmd) -> bool {
        let Some(zones) = &self.zones else { return false };
        let offset = cmd.sector - u64::from(cmd.zone) * zones.shape().zone_sectors;
        cmd.op == Op::Write && zones.is_misaligned(cmd.zone, offset)
    }

    /// All that are due stay, and of those done [`MAX_TIMERS`].
    #[inline]
    fn keep(&mut self, now: SimTime, cmd: &Cmd, ns: SimDuration, tag: Tag, retries: u16) {
        while self.log.get(MAX_TIMERS).is_some_and(|t| t.until <= now) {
            self.log.pop_front();
        }
        self.log.push_back(TimerView { cmd: command_view(cmd), tag, from: now, until: now + ns, retries });
    }

    /// A copy for pictures.
    pub fn view(&self, now: SimTime) -> NullBlkView {
        let done = self.log.iter().take_while(|t| t.until <= now).count();
        NullBlkView {
            commands: self.log[done..].to_vec(),
            recent: self.log[done.saturating_sub(MAX_TIMERS)..done].to_vec(),
            retries: self.retries,
            budget: (self.throttle.per_tick > 0).then(|| self.throttle.left.max(0) as u64),
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.log.capacity() * size_of::<TimerView>() + self.zones.as_ref().map_or(0, Zones::heap_bytes)
    }
}
