//! The event queue: what happens next.
//!
//! Models: nothing.
//! Rule: order is (time, seq), seq counting pushes: events of one moment run in the order they were pushed.
//! Leaves out: cancelling; a stale event finds nothing to do.

use alloc::collections::BinaryHeap;
use core::cmp::Ordering;

use crate::slab::Idx;
use crate::time::SimTime;
use crate::units::{BlkStatus, DevIdx, JobIdx, ZoneNo};

/// Something due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A job runs.
    Job(JobIdx),
    /// `bio_work` of a zone write plug runs.
    BioWork(DevIdx, ZoneNo),
    /// The zone write plugs worker runs.
    Worker(DevIdx),
    /// The work that recovers zone write plugs from errors runs (6.10 to 6.12).
    WplugErrors(DevIdx),
    /// The drive's interface is done with a command.
    Interface(DevIdx),
    /// The head's current phase ends.
    Head(DevIdx),
    /// A capped device is done with a command.
    Capped(DevIdx, Idx),
    /// A hardware queue runs: kblockd, or a delay is over.
    RunQueue(DevIdx, u16),
    /// A task that was woken for a tag runs: the one that carries this bio.
    Woken(DevIdx, Idx),
    /// Looks whether a queue that seemed stalled still is.
    Stall(DevIdx),
    /// The timer of a scheduler.
    Elevator(DevIdx),
    /// A task that rq_qos held runs: the one that carries this bio.
    QosWoken(DevIdx, Idx),
    /// The timers of rq_qos' policies.
    Qos(DevIdx),
    /// A completion reaches the submitter's CPU.
    Softirq(DevIdx, Idx, BlkStatus),
    /// The next submission step of a task.
    Step(u16),
    /// A thread of md, dm or blk-throttle runs.
    Thread(u16),
    /// A command is done, or failed at the port by an injected fault.
    Done(DevIdx, Idx, BlkStatus),
    /// null_blk's budget of `mbps` is refilled.
    Refill(DevIdx),
    /// Change number n of the configuration is due.
    Change(u32),
    /// Nothing uses a freezing queue any more, or a grace period is over: who writes its attributes goes on.
    Frozen(DevIdx),
    /// The ramp time is over.
    RampOver,
    /// The measured run time is over.
    RuntimeOver,
}

/// One word: events are copied as often as anything.
const _: () = assert!(size_of::<Event>() == 8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: SimTime,
    seq: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.seq).cmp(&(self.time, self.seq))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Entry>,
    seq: u64,
}

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, time: SimTime, event: Event) {
        self.seq += 1;
        self.heap.push(Entry { time, seq: self.seq, event });
    }
    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(SimTime, Event)> {
        self.heap.pop().map(|e| (e.time, e.event))
    }
    /// Takes the next event if it is due at `time` and passes.
    pub fn pop_if(&mut self, time: SimTime, pass: impl Fn(&Event) -> bool) -> Option<Event> {
        self.heap.peek().filter(|e| e.time == time && pass(&e.event))?;
        self.heap.pop().map(|e| e.event)
    }
    /// Time of the next event.
    pub fn next_time(&self) -> Option<SimTime> {
        self.heap.peek().map(|e| e.time)
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Entry>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_keep_push_order() {
        let mut q = EventQueue::default();
        q.push(5, Event::Job(0));
        q.push(3, Event::Job(1));
        q.push(5, Event::Job(2));
        q.push(3, Event::Job(3));
        let order: alloc::vec::Vec<_> = core::iter::from_fn(|| q.pop()).collect();
        assert_eq!(order, [(3, Event::Job(1)), (3, Event::Job(3)), (5, Event::Job(0)), (5, Event::Job(2))]);
    }
}
