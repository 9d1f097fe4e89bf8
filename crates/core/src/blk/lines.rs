//! Cache lines of a tag map: what CPUs lose to each other when they take, give back and wait for tags at once.
//!
//! Models: `struct sbitmap_queue` in memory (kernel 3.2): a line for each word of the bitmap, one for `ws_active`,
//! `wake_index` and the counters of the whole map, one for each wait queue.
//! Rule: a line is at one CPU at a time. Who wants it and does not have it as it was last written gets it after those who
//! asked before, `tag_line_ns` each. A task searches the map three times before it sleeps (blk_mq_get_tag), and a wake-up
//! moves [`WAKE_LINES`] more. Before 6.2 whoever brings a queue's countdown to zero holds up all others until its
//! waiters are woken: they find zero and try again.
//! Leaves out: lines of requests and of the driver; who is near to whom.

use alloc::vec::Vec;

use crate::time::{SimDuration, SimTime};

/// Lines that waking one task moves: its state, its CPU's run queue with the lock, the flag that interrupts that CPU.
const WAKE_LINES: SimDuration = 5;

/// `atomic_t` counters of the map; wait queues and words follow.
const COUNTERS: usize = 0;
const QUEUES: usize = 1;
const WORDS: usize = QUEUES + super::tag::WAIT_QUEUES;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Line {
    /// The last who asked for it has it.
    free_at: SimTime,
    /// Times it was written.
    version: u32,
    /// The only CPU that has it.
    owner: Option<u16>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    ns: SimDuration,
    lines: Vec<Line>,
    /// Which version of each line a CPU has seen, CPU by CPU.
    seen: Vec<u32>,
    /// What completions took of a CPU's time since its task went on last.
    taken: Vec<SimDuration>,
    /// Before 6.2: a countdown stands at zero until then.
    waking_until: SimTime,
}

impl Lines {
    /// Of a map of `words` words; `ns`: from one CPU to the next.
    pub fn new(ns: SimDuration, words: u32, nr_cpus: u16) -> Self {
        let lines = alloc::vec![Line { version: 1, ..Line::default() }; WORDS + words as usize];
        let cpus = usize::from(nr_cpus.max(1));
        Self { ns, seen: alloc::vec![0; cpus * lines.len()], taken: alloc::vec![0; cpus], lines, waking_until: 0 }
    }
    /// From one CPU to the next.
    pub fn ns(&self) -> SimDuration {
        self.ns
    }
    fn seen(&mut self, cpu: u16, line: usize) -> &mut u32 {
        &mut self.seen[usize::from(cpu) * self.lines.len() + line]
    }
    fn wait(&mut self, line: usize, t: SimTime) -> SimTime {
        let l = &mut self.lines[line];
        l.free_at = t.max(l.free_at) + self.ns;
        l.free_at
    }
    /// When `cpu`, wanting it at `t`, has read a line.
    fn read(&mut self, cpu: u16, line: usize, t: SimTime) -> SimTime {
        let l = self.lines[line];
        if l.free_at <= t && *self.seen(cpu, line) == l.version {
            return t;
        }
        *self.seen(cpu, line) = l.version;
        self.lines[line].owner = None;
        self.wait(line, t)
    }
    /// When it has written it: an atomic operation.
    fn write(&mut self, cpu: u16, line: usize, t: SimTime) -> SimTime {
        let l = self.lines[line];
        if l.free_at <= t && l.owner == Some(cpu) {
            return t;
        }
        let version = l.version.wrapping_add(1);
        self.lines[line] = Line { version, owner: Some(cpu), ..l };
        *self.seen(cpu, line) = version;
        self.wait(line, t)
    }

    // ---- what CPUs do ----

    /// A search through words, each with whether it has a bit to give: the first that has is written.
    pub fn search(&mut self, cpu: u16, from: SimTime, words: impl Iterator<Item = (u32, bool)>) -> SimTime {
        let mut t = from;
        for (word, free) in words {
            let line = WORDS + word as usize;
            t = self.read(cpu, line, t);
            if free {
                return self.write(cpu, line, t);
            }
        }
        t
    }
    /// A task lies down in wait queue `ws`.
    pub fn sleep(&mut self, cpu: u16, ws: u8, now: SimTime) {
        let t = self.write(cpu, COUNTERS, now);
        self.write(cpu, QUEUES + usize::from(ws), t);
        self.taken[usize::from(cpu)] = 0;
    }
    /// A woken task runs.
    pub fn run(&mut self, cpu: u16, now: SimTime) -> SimTime {
        self.write(cpu, COUNTERS, now)
    }
    /// A bit of a word is given back, while nobody waits.
    pub fn put(&mut self, cpu: u16, word: u32, now: SimTime) -> SimTime {
        let t = self.write(cpu, WORDS + word as usize, now);
        self.read(cpu, COUNTERS, t)
    }
    /// A bit given back at `t` is counted for the whole map, and tasks of these queues are woken: when the first of them
    /// may run, and when the waker goes on.
    pub fn count_for_map(&mut self, cpu: u16, t: SimTime, woken: impl Iterator<Item = u8>) -> (SimTime, SimTime) {
        let mut t = self.write(cpu, COUNTERS, t);
        let (mut nr, mut last) = (0, None);
        for ws in woken {
            nr += 1;
            if last.replace(ws) != Some(ws) {
                t = self.write(cpu, QUEUES + usize::from(ws), t);
            }
        }
        (t, t + nr * WAKE_LINES * self.ns)
    }
    /// The same before 6.2: it is counted in queue `ws`, of which `woken` tasks are woken.
    pub fn count_for_queue(&mut self, cpu: u16, t: SimTime, ws: u8, woken: u64) -> (SimTime, SimTime) {
        let queue = QUEUES + usize::from(ws);
        let t = self.read(cpu, COUNTERS, t.max(self.waking_until));
        let t = self.write(cpu, queue, t);
        if woken == 0 {
            return (t, t);
        }
        let mut end = t + woken * WAKE_LINES * self.ns;
        end = self.write(cpu, COUNTERS, end);
        end = self.write(cpu, queue, end);
        self.waking_until = end;
        (t, end)
    }
    /// Completions took `ns` of a CPU's time.
    pub fn took(&mut self, cpu: u16, ns: SimDuration) {
        self.taken[usize::from(cpu)] += ns;
    }
    /// What they took since the CPU's task asked last.
    pub fn taken(&mut self, cpu: u16) -> SimDuration {
        core::mem::take(&mut self.taken[usize::from(cpu)])
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        size_of::<Self>()
            + self.lines.capacity() * size_of::<Line>()
            + self.seen.capacity() * size_of::<u32>()
            + self.taken.capacity() * size_of::<SimDuration>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_costs_who_has_it_nothing_and_others_wait_in_turn() {
        let mut l = Lines::new(10, 4, 4);
        // Word 2 has a bit: read and written, then it is this CPU's.
        assert_eq!(l.search(0, 100, [(2, true)].into_iter()), 120);
        assert_eq!(l.search(0, 120, [(2, true)].into_iter()), 120);
        // Others, one after the other; to write it, who has read it asks again.
        assert_eq!(l.search(1, 120, [(2, false)].into_iter()), 130);
        assert_eq!(l.search(2, 120, [(2, true)].into_iter()), 150);
        // As it was read it still is, for who looks again: not after it was written.
        assert_eq!(l.search(2, 200, [(2, false)].into_iter()), 200);
        assert_eq!(l.search(1, 200, [(2, false)].into_iter()), 210);
        // A full map is a visit to each word.
        assert_eq!(l.search(3, 300, (0..4).map(|w| (w, false))), 340);
    }

    #[test]
    fn before_6_2_a_wake_up_holds_up_other_completions() {
        let woken = 1;
        let mut l = Lines::new(10, 4, 4);
        let (run_at, end) = l.count_for_queue(0, 0, 3, woken);
        assert_eq!((run_at, end), (20, 20 + WAKE_LINES * 10 + 10));
        let (_, other) = l.count_for_queue(1, 0, 4, 0);
        assert!(other > end);
        let mut l = Lines::new(10, 4, 4);
        let (run_at, end) = l.count_for_map(0, 0, [3].into_iter());
        assert_eq!((run_at, end), (20, 20 + WAKE_LINES * 10));
        let (_, other) = l.count_for_map(1, 0, [].into_iter());
        assert_eq!(other, 20, "after the first has counted");
        // What completions took is asked for once, and a task that sleeps has lost nothing.
        l.took(1, 5);
        assert_eq!((l.taken(1), l.taken(1)), (5, 0));
        l.took(2, 5);
        l.sleep(2, 0, 100);
        assert_eq!(l.taken(2), 0);
    }
}
