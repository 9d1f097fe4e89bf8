//! Golden vectors of submission, plug and raid5 reads, run through the whole pipeline (kernel 1.5, 2.3, 2.5, 10.1, 13).

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::gaps::Gaps;
use bioscope_core::observe::trace::{Action, TraceRecord, TraceSink};
use bioscope_core::sim::Simulation;
use bioscope_core::units::Op;
use common::*;
use std::sync::Arc;

const KIB: u64 = 2;

/// n capped members with `latency_ns`, and a raid5 over them, the last device.
fn raid5(disks: u16, chunk_kib: u32, latency_ns: u64) -> SimConfig {
    let mut cfg = config();
    cfg.devices = (0..disks).map(|n| capped(n, latency_ns)).collect();
    cfg.devices.push(array(MdLevel::Raid5, disks, chunk_kib * KIB as u32, 2));
    cfg.kernel.raid5_stripe_limit = false;
    cfg
}

/// A dd of one I/O, or more: each of `bs` KiB as bios of these lengths in KiB.
fn dd(cfg: &mut SimConfig, bs: u64, bios: &[u32], count: u64) {
    cfg.jobs.push(JobConfig {
        name: "dd".into(),
        dev: cfg.devices.len() as u16 - 1,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Dd,
            rw: Rw::Read,
            bs: bs * KIB,
            bios: bios.iter().map(|b| b * KIB as u32).collect(),
            iodepth: 1,
            batch: 1,
            first: 0,
            sectors: 1 << 30,
            io_bytes: Some(bs * 1024 * count),
            buffered: false,
            nowait: false,
            fio: Default::default(),
        }),
        prio: Default::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    });
}

/// Array offsets in the order of the remaps.
fn remaps(run: &Run) -> Vec<u64> {
    run.of(Action::Remap).iter().map(|r| r.arg).collect()
}

fn split_2_mib(insert: SplitInsert, model: BioListModel) -> Run {
    let mut cfg = raid5(3, 512, 1_000_000);
    cfg.kernel.split_insert = insert;
    cfg.kernel.bio_list_model = model;
    dd(&mut cfg, 2048, &[2048], 1);
    run(cfg)
}

#[test]
fn section_1_5_three_models() {
    let order = |insert, model| -> Vec<u64> { remaps(&split_2_mib(insert, model)).iter().map(|s| s / KIB).collect() };
    assert_eq!(order(SplitInsert::Head, BioListModel::TwoList), [0, 512, 1024, 1536]);
    assert_eq!(order(SplitInsert::Tail, BioListModel::TwoList), [0, 1024, 1536, 512]);
    assert_eq!(order(SplitInsert::Tail, BioListModel::OneList), [0, 1024, 512, 1536]);
}

#[test]
fn section_1_5_requests_reach_the_disks_in_that_order() {
    let run = split_2_mib(SplitInsert::Tail, BioListModel::TwoList);
    let queued = |r: &&TraceRecord| matches!(r.action, Action::GetRq | Action::BackMerge);
    let order: Vec<u64> = run.trace.iter().filter(queued).map(|r| r.origin / KIB).collect();
    assert_eq!(order, [0, 1024, 1536, 512]);
}

/// The table of states after each step: what was processed, then both lists as the next step finds them.
#[test]
fn section_1_5_step_table() {
    let mut cfg = raid5(3, 512, 1_000_000);
    cfg.kernel.split_insert = SplitInsert::Tail;
    cfg.host.step_ns = 1000;
    dd(&mut cfg, 2048, &[2048], 1);
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut states = Vec::new();
    let mut last = 0;
    while sim.step(&mut ()).is_some() {
        let snap = sim.snapshot();
        let task = &snap.tasks[0];
        if task.step == last || task.step == 0 {
            continue;
        }
        last = task.step;
        let name = |b: &bioscope_core::observe::snapshot::BioView| match b.dev {
            3 => format!("md {}+{}", b.sector / KIB, u64::from(b.nr_sectors) / KIB),
            _ => format!("disk({})", b.origin / KIB),
        };
        let list: Vec<String> = task.pushed.iter().chain(&task.backlog).map(name).collect();
        states.push((task.current.as_ref().map(name).unwrap(), list.join(", ")));
    }
    let want = [
        ("md 0+2048", "disk(0), md 1024+1024, md 512+512"),
        ("disk(0)", "md 1024+1024, md 512+512"),
        ("md 1024+1024", "disk(1024), md 1536+512, md 512+512"),
        ("disk(1024)", "md 1536+512, md 512+512"),
        ("md 1536+512", "disk(1536), md 512+512"),
        ("disk(1536)", "md 512+512"),
        ("md 512+512", "disk(512)"),
        ("disk(512)", ""),
    ];
    let states: Vec<(&str, &str)> = states.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(states, want);
}

/// Chunk numbers in the order of issue of one 4480 KiB bio, as ranges.
fn chunks_4480(insert: SplitInsert, stripe_limit: bool) -> String {
    let mut cfg = raid5(8, 64, 1_000_000);
    cfg.kernel.split_insert = insert;
    cfg.kernel.raid5_stripe_limit = stripe_limit;
    dd(&mut cfg, 4480, &[4480], 1);
    let chunks: Vec<u64> = remaps(&run(cfg)).iter().map(|s| s / 128).collect();
    let mut text = String::new();
    let mut at = 0;
    while at < chunks.len() {
        let n = (at..chunks.len()).take_while(|i| chunks[*i] == chunks[at] + (i - at) as u64).count();
        let (from, to) = (chunks[at], chunks[at + n - 1]);
        let range = if n == 1 { format!("{from} ") } else { format!("{from}..{to} ") };
        text += &range;
        at += n;
    }
    text.trim_end().into()
}

#[test]
fn section_1_5_a_bio_of_4480_kib() {
    let (head, tail) = (SplitInsert::Head, SplitInsert::Tail);
    assert_eq!(chunks_4480(head, false), "0..69");
    assert_eq!(chunks_4480(tail, false), "0 16 32 48 64..69 49..63 33..47 17..31 1..15");
    assert_eq!(chunks_4480(head, true), "0..69");
    assert_eq!(
        chunks_4480(tail, true),
        "0 7 14 21 28 35 42 49 56 63..69 57..62 50..55 43..48 36..41 29..34 22..27 15..20 8..13 1..6"
    );
}

#[test]
fn section_2_3_chunks_of_left_symmetric() {
    let mut cfg = raid5(8, 64, 1_000_000);
    dd(&mut cfg, 1024, &[1024], 1);
    let at: Vec<(u16, u64)> = run(cfg).of(Action::Remap).iter().map(|r| (r.dev, r.sector)).collect();
    let want = [
        (0, 0),
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
        (5, 0),
        (6, 0),
        (7, 128),
        (0, 128),
        (1, 128),
        (2, 128),
        (3, 128),
        (4, 128),
        (5, 128),
        (6, 256),
        (7, 256),
    ];
    assert_eq!(at, want);
}

/// dd of the seed: plug merges of all bios in percent, mean request in KiB, shares of the gaps in percent: zero,
/// 64 KiB, 128 KiB, up to 256, up to 512.
fn dd_4480(insert: SplitInsert, order: PlugOrder, bios: &[u32]) -> (f64, f64, Vec<f64>) {
    let mut cfg = raid5(8, 64, 10_000);
    cfg.kernel.split_insert = insert;
    cfg.kernel.plug.order = order;
    dd(&mut cfg, 4480, bios, 64);
    let mut gaps = Gaps::default();
    let mut issued: Vec<TraceRecord> = Vec::new();
    let r = run(cfg);
    for record in &r.trace {
        gaps.record(record);
        if record.action == Action::Issue {
            issued.push(*record);
        }
    }
    let sectors: u64 = issued.iter().map(|r| u64::from(r.nr_sectors)).sum();
    let bios = sectors as f64 / 128.0;
    let merges = r.sim.stats().nr_plug_merges as f64;
    let disks: Vec<_> = (0..8).filter_map(|dev| gaps.of(dev)).collect();
    let total: u64 = disks.iter().map(|d| d.total).sum();
    // Row r ends at 2^r KiB.
    let share = |row: usize| {
        let n: u64 = disks.iter().map(|d| d.counts().get(row).copied().unwrap_or(0)).sum();
        100.0 * n as f64 / total as f64
    };
    let mean = sectors as f64 / 2.0 / issued.len() as f64;
    (100.0 * merges / bios, mean, [0, 6, 7, 8, 9].map(share).to_vec())
}

fn near(got: f64, want: f64, by: f64, what: &str) {
    assert!((got - want).abs() <= by, "{what}: {got} for {want}");
}

#[test]
fn section_2_5_every_row() {
    let (head, tail, fifo, lifo) = (SplitInsert::Head, SplitInsert::Tail, PlugOrder::Fifo, PlugOrder::Lifo);
    let (merges, mean, gaps) = dd_4480(head, fifo, &[4480]);
    near(merges, 42.86, 0.01, "head, merges");
    near(mean, 112.0, 1e-9, "head, mean");
    near(gaps[0], 75.0, 0.1, "head, zero gaps");
    near(gaps[1], 25.0, 0.1, "head, gaps of 64 KiB");
    let (merges, mean, _) = dd_4480(head, lifo, &[4480]);
    near(merges, 77.0, 1.0, "head lifo, merges");
    near(mean, 280.0, 0.01, "head lifo, mean");
    let (merges, mean, gaps) = dd_4480(tail, fifo, &[4480]);
    near(merges, 12.9, 0.1, "tail, merges");
    near(mean, 73.4, 0.1, "tail, mean");
    near(gaps[0], 27.9, 0.1, "tail, zero gaps");
    let (merges, mean, gaps) = dd_4480(tail, fifo, &[3136, 1344]);
    near(merges, 20.0, 0.1, "tail 3136, merges");
    near(mean, 80.0, 0.1, "tail 3136, mean");
    for (share, want) in gaps.iter().zip([23.3, 12.5, 3.6, 37.5, 23.1]) {
        near(*share, want, 0.1, "tail 3136, gaps");
    }
    let (merges, mean, gaps) = dd_4480(tail, fifo, &[1536, 1536, 1408]);
    near(merges, 21.4, 0.1, "tail 1536, merges");
    near(mean, 81.5, 0.1, "tail 1536, mean");
    near(gaps[0], 23.7, 0.1, "tail 1536, zero gaps");
}

#[test]
fn section_11_row_33_plug_flush_bytes() {
    for (kib, want) in [(64, 64.0), (128, 112.0), (192, 131.8), (256, 149.3), (384, 154.5), (512, 104.2)] {
        let mut cfg = raid5(8, 64, 10_000);
        cfg.kernel.plug.flush_bytes = kib << 10;
        dd(&mut cfg, 4480, &[4480], 64);
        let issued = run(cfg).of(Action::Issue);
        let mean = issued.iter().map(|r| f64::from(r.nr_sectors) / 2.0).sum::<f64>() / issued.len() as f64;
        near(mean, want, 0.06, &format!("{kib} KiB"));
    }
}

/// The listing of requests on the first disk before the fix, sectors as printed there.
#[test]
fn section_2_5_listing_before() {
    let mut cfg = raid5(8, 64, 10_000);
    cfg.kernel.split_insert = SplitInsert::Tail;
    let md = cfg.devices.len() - 1;
    if let DeviceKind::Md(m) = &mut cfg.devices[md].kind {
        m.data_offset = 264_192;
    }
    dd(&mut cfg, 4480, &[3136, 1344], 16);
    let want = [29, 27, 28, 35, 33, 30, 32].map(|row| 264_192 + row * 128);
    let got: Vec<u64> = run(cfg).of(Action::GetRq).iter().filter(|r| r.dev == 0).map(|r| r.sector).collect();
    // The disk's rows repeat every eight I/Os of ten stripes.
    let found = got.windows(7).any(|w| {
        let shift = w[0].wrapping_sub(want[0]);
        shift.is_multiple_of(80 * 128) && w.iter().zip(want).all(|(a, b)| a.wrapping_sub(b) == shift)
    });
    assert!(found, "{got:?}");
}

// ---- plug, one disk (13) ----

/// A run of reads in KiB under one plug on one capped disk: requests as (start, length) in KiB.
fn one_disk(bios: &[u32], change: impl Fn(&mut SimConfig)) -> Run {
    let mut cfg = config();
    cfg.devices = vec![capped(0, 1_000_000)];
    dd(&mut cfg, bios.iter().map(|b| u64::from(*b)).sum(), bios, 1);
    change(&mut cfg);
    run(cfg)
}

fn requests(run: &Run) -> Vec<(u64, u64)> {
    run.of(Action::Issue).iter().map(|r| (r.sector / KIB, u64::from(r.nr_sectors) / KIB)).collect()
}

#[test]
fn section_13_plug_contiguous_bios_are_one_request() {
    for n in 1..=3 {
        assert_eq!(requests(&one_disk(&vec![64; n], |_| {})), [(0, 64 * n as u64)]);
    }
    // There is no rule of size for a merge except max_sectors.
    assert_eq!(requests(&one_disk(&[64; 20], |_| {})), [(0, 1280)]);
}

#[test]
fn section_13_nomerges_2_keeps_every_bio() {
    let run = one_disk(&[64; 3], |cfg| cfg.devices[0].queue.as_mut().unwrap().nomerges = 2);
    assert_eq!(requests(&run), [(0, 64), (64, 64), (128, 64)]);
}

/// The first chunk of the disk that held parity before is a new request and flushes the others at 128 KiB.
#[test]
fn section_13_plug_the_size_rule_acts_on_a_new_request() {
    let mut cfg = raid5(8, 64, 1_000_000);
    dd(&mut cfg, 1344, &[1344], 1);
    let trace = run(cfg).trace;
    let first_unplug = trace.iter().position(|r| r.action == Action::Unplug).unwrap();
    let before = &trace[..first_unplug];
    let merges = before.iter().filter(|r| r.action == Action::BackMerge).count();
    let added = before.iter().filter(|r| r.action == Action::GetRq).count();
    // Chunks 0 to 6 are requests of seven disks, 7 is disk 7's; 8 to 13 merge; 14 continues nothing on disk 6.
    assert_eq!((added, merges), (9, 6));
}

/// Sequences of letters for contiguous bios in one plug and for a split bio.
#[test]
fn section_10_1_letters_of_plugs_and_splits() {
    let letters = |run: &Run| -> String {
        let blktrace = |r: &&TraceRecord| (r.action as u8) < (Action::Seek as u8);
        run.trace.iter().filter(blktrace).map(|r| r.action.letter()).collect()
    };
    assert_eq!(letters(&one_disk(&[64, 64, 64], |_| {})), "QGPQMQMUDC");
    let scheduled = |cfg: &mut SimConfig| cfg.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::MqDeadline;
    assert_eq!(letters(&one_disk(&[64, 64, 64], scheduled)), "QGPQMQMUIDC");
    let small = |cfg: &mut SimConfig| cfg.devices[0].queue.as_mut().unwrap().max_sectors = 256;
    let want = ["Q", &"XGPUD".repeat(7), "GPUD", &"C".repeat(8)].concat();
    assert_eq!(letters(&one_disk(&[1024], small)), want);
    let old = |cfg: &mut SimConfig| cfg.kernel.plug.per_step = false;
    assert_eq!(letters(&one_disk(&[64], old)), "QGDC");
}

#[test]
fn section_10_1_letters_of_an_array() {
    let mut cfg = raid5(3, 64, 1_000_000);
    dd(&mut cfg, 128, &[128], 1);
    let r = run(cfg);
    let letters: String = r.trace.iter().map(|r| format!("{}{} ", r.action.letter(), r.dev)).collect();
    // The bio is cut at its chunk; each piece ends with a C of the array.
    assert_eq!(letters, "Q3 X3 A0 Q0 G0 P0 U0 D0 A1 Q1 G1 P1 U1 D1 C0 C3 C1 C3 ");
}

#[test]
fn nowait_refuses_to_split_and_to_sleep() {
    let mut cfg = config();
    cfg.devices = vec![capped(0, 1_000_000)];
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.max_sectors = 256;
    q.queue_depth = 1;
    let read = |sector, nr_sectors| ListedBio {
        at: 0,
        op: Op::Read,
        sector,
        nr_sectors,
        nowait: true,
        preflush: false,
        fua: false,
    };
    list(&mut cfg, vec![read(0, 512), read(0, 256), read(1024, 256)]);
    let r = run(cfg);
    let failed: Vec<(u64, u64)> = r.of(Action::Fail).iter().map(|r| (r.sector, r.arg)).collect();
    assert_eq!(failed, [(0, 11), (1024, 11)]);
    assert_eq!(r.of(Action::Complete).len(), 1);
}
