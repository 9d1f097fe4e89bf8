//! Which request of a plug a bio is tried against, and when a flusher writes (kernel 2.4).

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::Action;
use common::*;

/// One flusher that writes 4 KiB at random places as two bios each, 64 of them under a plug.
fn flusher(order: PlugOrder, merge: PlugMerge) -> Run {
    run(flushed(order, merge))
}

fn flushed(order: PlugOrder, merge: PlugMerge) -> SimConfig {
    let mut cfg = config();
    cfg.devices = vec![capped(0, 100_000)];
    cfg.kernel.plug.order = order;
    cfg.kernel.plug.merge = merge;
    cfg.jobs.push(JobConfig {
        name: "fio".into(),
        dev: 0,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw: Rw::RandWrite,
            bs: 8,
            bios: vec![4],
            iodepth: 64,
            batch: 64,
            first: 0,
            sectors: 1 << 30,
            io_bytes: Some(4096 * 64 * 20),
            buffered: true,
            nowait: false,
            fio: Default::default(),
        }),
        prio: Default::default(),
        bio_segment_bytes: 4096,
        start_ns: 0,
        cgroup: Default::default(),
    });
    cfg
}

#[test]
fn kernel_2_4_a_list_turned_round_whose_head_is_tried_merges_one_pair_a_plug() {
    let (fifo, lifo) = (PlugOrder::Fifo, PlugOrder::Lifo);
    let share = |run: &Run| {
        let s = run.sim.stats();
        (s.nr_plug_merges * 1000 / s.nr_plug_tries, run.of(Action::Issue).len())
    };
    // Only a batch's first pair finds its first half at the head: after a full plug, of 33 bios, that is a second half.
    assert_eq!(share(&flusher(fifo, PlugMerge::Head)), (1000 / 128, 20 * 127));
    // The newest request is the first half of the same I/O.
    for (order, merge) in [(fifo, PlugMerge::Newest), (lifo, PlugMerge::Newest), (lifo, PlugMerge::Head)] {
        assert_eq!(share(&flusher(order, merge)), (500, 20 * 64));
    }
}

#[test]
fn an_io_counts_once_from_its_first_bio_to_the_end_of_its_last() {
    let mut cfg = flushed(PlugOrder::Fifo, PlugMerge::Newest);
    // Each half is a request with a completion of its own.
    cfg.devices[0].queue.as_mut().unwrap().nomerges = 2;
    let run = run(cfg);
    let s = run.sim.stats();
    assert_eq!((s.total_ios, s.ios, s.q2c.n), (20 * 128, 20 * 64, 20 * 64));
    let of = |action| run.trace.iter().filter(move |r| r.action == action && r.bio != 0);
    let begun: Vec<_> = of(Action::Queue).collect();
    let end = |bio| of(Action::Complete).find(|r| r.bio == bio).unwrap().time;
    // The halves end in either order.
    let sum: u64 = begun.chunks(2).map(|io| end(io[0].bio).max(end(io[1].bio)) - io[0].time).sum();
    assert_eq!(s.q2c.sum, sum);
}

#[test]
fn a_flusher_waits_until_a_whole_batch_fits() {
    let run = flusher(PlugOrder::Fifo, PlugMerge::Newest);
    // Whatever is submitted, is submitted 64 I/Os at a time, after everything before is done.
    let mut in_flight = 0;
    let mut batches = 0;
    let mut last = Action::Complete;
    for r in run.trace.iter().filter(|r| matches!(r.action, Action::GetRq | Action::Complete)) {
        batches += u32::from(r.action == Action::GetRq && last == Action::Complete && in_flight == 0);
        in_flight += if r.action == Action::GetRq { 1 } else { -1 };
        assert!(in_flight <= 64);
        last = r.action;
    }
    assert_eq!((in_flight, batches), (0, 20));
}
