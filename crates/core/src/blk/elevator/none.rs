//! No scheduler: requests that found no way to the driver wait in the ctx list of their CPU.
//!
//! Models: the ctx lists of blk-mq, and which hardware queue takes from which (kernel 4.1, 3.6).
//! Rule: a hardware queue serves a run of CPUs; it takes all of the first CPU's list, then the next CPU's; while its
//! driver is busy one at a time, each from the CPU behind the last one.
//! Leaves out: lists by kind of hardware queue (read, poll), NUMA nodes and SMT siblings.

use alloc::vec::Vec;
use core::ops::Range;

use super::Queued;
use crate::fifo::Fifo;
use crate::observe::snapshot::RequestView;
use crate::slab::Idx;

/// The hardware queue of a CPU (`blk_mq_map_queues`): runs of CPUs as equal as can be, the longer ones first.
pub fn hctx_of(cpu: u16, nr_cpus: u16, nr_hw_queues: u16) -> u16 {
    let cpus = nr_cpus.max(1);
    let queues = nr_hw_queues.clamp(1, cpus);
    let (short, longer) = (cpus / queues, cpus % queues);
    let (cpu, in_longer) = (cpu % cpus, longer * (short + 1));
    if cpu < in_longer { cpu / (short + 1) } else { longer + (cpu - in_longer) / short }
}

/// What of a hardware queue concerns its ctx lists.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Hctx {
    /// First CPU it serves, and the one behind the last.
    cpus: (u16, u16),
    /// dispatch_from: the CPU whose turn it is while the driver is busy.
    from: u16,
    /// Requests in its lists.
    queued: u32,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct CtxList {
    /// By CPU, oldest first.
    ctx: Vec<Fifo<Idx>>,
    hctx: Vec<Hctx>,
}

impl CtxList {
    /// Empty lists of `nr_cpus` CPUs, mapped to hardware queues.
    pub fn new(nr_hw_queues: u16, nr_cpus: u16) -> Self {
        let cpus = nr_cpus.max(1);
        let mut hctx = alloc::vec![Hctx::default(); usize::from(nr_hw_queues.max(1))];
        for cpu in (0..cpus).rev() {
            let h = &mut hctx[usize::from(hctx_of(cpu, cpus, nr_hw_queues))];
            h.cpus = (cpu, h.cpus.1.max(cpu + 1));
            h.from = cpu;
        }
        Self { ctx: alloc::vec![Fifo::new(); usize::from(cpus)], hctx }
    }
    fn hctx(&mut self, cpu: usize) -> &mut Hctx {
        let h = hctx_of(cpu as u16, self.ctx.len() as u16, self.hctx.len() as u16);
        &mut self.hctx[usize::from(h)]
    }
    /// `blk_mq_insert_request`: to an end of its CPU's list.
    pub fn insert(&mut self, r: Queued, at_head: bool) {
        let cpu = usize::from(r.cpu) % self.ctx.len();
        self.hctx(cpu).queued += 1;
        let list = &mut self.ctx[cpu];
        if at_head { list.push_front(r.rq) } else { list.push_back(r.rq) }
    }
    /// Something waits for this hardware queue.
    pub fn has_work(&self, hctx: u16) -> bool {
        self.hctx.get(usize::from(hctx)).is_some_and(|h| h.queued > 0)
    }
    /// Takes the next one of a hardware queue: `blk_mq_flush_busy_ctxs`, or while busy `blk_mq_dequeue_from_ctx`.
    pub fn dispatch(&mut self, hctx: u16, busy: bool) -> Option<Idx> {
        let h = self.hctx.get_mut(usize::from(hctx)).filter(|h| h.queued > 0)?;
        let Range { start, end } = h.cpus.0..h.cpus.1;
        let from = if busy { h.from } else { start };
        let cpu = (from..end).chain(start..from).find(|cpu| !self.ctx[usize::from(*cpu)].is_empty())?;
        if busy {
            h.from = if cpu + 1 < end { cpu + 1 } else { start };
        }
        h.queued -= 1;
        self.ctx[usize::from(cpu)].pop_front()
    }
    /// Queued requests of a CPU, oldest first: where its bios look for one to join.
    pub fn ctx_list(&self, cpu: u16) -> &[Idx] {
        &self.ctx[usize::from(cpu) % self.ctx.len()]
    }
    /// Queued requests in order of their CPU, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Idx> + '_ {
        self.ctx.iter().flat_map(|list| list.iter().copied())
    }
    /// The lists for pictures.
    pub fn view(&self, rq: &dyn Fn(Idx) -> RequestView) -> Vec<RequestView> {
        self.iter().map(rq).collect()
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let lists: usize = self.ctx.iter().map(|list| list.capacity() * size_of::<Idx>()).sum();
        lists + self.ctx.capacity() * size_of::<Fifo<Idx>>() + self.hctx.capacity() * size_of::<Hctx>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Op;

    fn on(cpu: u16, rq: Idx) -> Queued {
        Queued {
            rq,
            op: Op::Read,
            sector: 0,
            nr_sectors: 8,
            prio: Default::default(),
            sync: true,
            job: cpu,
            cpu,
            start: 0,
        }
    }

    fn filled(nr_hw_queues: u16, requests: &[(u16, Idx)]) -> CtxList {
        let mut e = CtxList::new(nr_hw_queues, 4);
        for (cpu, rq) in requests {
            e.insert(on(*cpu, *rq), false);
        }
        e
    }

    /// kernel 3.6, step 3: all lists in order of their CPU.
    #[test]
    fn section_3_6_ctx_order() {
        let mut e = filled(1, &[(2, 20), (0, 1), (2, 21), (3, 30), (0, 2)]);
        e.insert(on(2, 19), true);
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(0, false)).collect();
        assert_eq!(order, [1, 2, 19, 20, 21, 30]);
        assert!(!e.has_work(0));
    }

    /// kernel 3.6, step 3: busy, one by one, round robin.
    #[test]
    fn section_3_6_busy_round_robin() {
        let mut e = filled(1, &[(0, 1), (0, 2), (0, 3), (2, 20), (2, 21), (3, 30)]);
        let order: Vec<_> = core::iter::from_fn(|| e.dispatch(0, true)).collect();
        assert_eq!(order, [1, 20, 30, 2, 21, 3]);
        // The turn is kept: CPU 0 had it last.
        e.insert(on(0, 4), false);
        e.insert(on(1, 10), false);
        assert_eq!([e.dispatch(0, true), e.dispatch(0, true)], [Some(10), Some(4)]);
    }

    #[test]
    fn a_hardware_queue_takes_from_its_own_cpus() {
        let mut e = filled(2, &[(0, 1), (3, 30), (1, 10), (2, 20)]);
        assert_eq!([e.dispatch(1, false), e.dispatch(1, true), e.dispatch(1, false)], [Some(20), Some(30), None]);
        assert!(e.has_work(0) && !e.has_work(1) && !e.has_work(2));
        assert_eq!([e.dispatch(0, true), e.dispatch(0, true), e.dispatch(0, true)], [Some(1), Some(10), None]);
        assert_eq!(e.dispatch(7, false), None);
    }

    #[test]
    fn cpus_are_spread_evenly() {
        let map = |cpus, queues| (0..cpus).map(|cpu| hctx_of(cpu, cpus, queues)).collect::<Vec<_>>();
        assert_eq!(map(4, 1), [0, 0, 0, 0]);
        assert_eq!(map(7, 3), [0, 0, 0, 1, 1, 2, 2]);
        assert_eq!(map(3, 8), [0, 1, 2]);
        assert_eq!(hctx_of(9, 4, 4), 1);
    }

    #[test]
    fn bios_look_at_the_list_of_their_cpu() {
        let e = filled(1, &[(1, 1), (0, 2), (1, 3)]);
        assert_eq!(e.ctx_list(1), [1, 3]);
    }
}
