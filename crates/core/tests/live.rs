//! Attributes written while I/O runs (kernel 3.3, 3.4, 5.3, 8.1, 8.3), one by one; and laws over random queues whose
//! settings change at random times.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::snapshot::{
    BioStage, ChangeView, DeviceView, ElevatorView, FreezeView, JobState, MAX_CHANGES, Snapshot, qflag,
};
use bioscope_core::observe::trace::{Action, TraceHash, TraceRecord, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::{BlkStatus, IoPrio, Op};
use common::*;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const ELEVATORS: [ElevatorKind; 4] =
    [ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq];

/// One capped device, each command of which takes 10 ms, with a scheduler.
fn machine(elevator: ElevatorKind) -> SimConfig {
    let mut cfg = config();
    cfg.devices[0] = capped(0, 10 * MS);
    let q = cfg.devices[0].queue.as_mut().unwrap();
    *q = QueueConfig { elevator, queue_depth: 32, nr_requests: 64, async_depth: 64, ..*q };
    cfg.host.submit_ns = 0;
    cfg
}

fn change(cfg: &mut SimConfig, at: u64, setting: Setting) {
    cfg.changes.push(Change { at, dev: 0, setting });
}

fn bio(at: u64, op: Op, sector: u64, nr_sectors: u32) -> ListedBio {
    ListedBio { at, op, sector, nr_sectors, nowait: false, preflush: false, fua: false }
}

/// A reader of 4 KiB, one after the other, from the start of the run to its end.
fn reader(cfg: &mut SimConfig, iodepth: u32, ios: u64) {
    cfg.jobs.push(JobConfig {
        name: "fio".into(),
        dev: 0,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw: Rw::RandRead,
            bs: 8,
            bios: vec![],
            iodepth,
            batch: 1,
            first: 0,
            sectors: 1 << 22,
            io_bytes: Some(ios * 4096),
            buffered: false,
            nowait: false,
            fio: FioOptions::default(),
        }),
        prio: IoPrio::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    });
}

/// The device at a moment.
fn device_at(cfg: &SimConfig, at: u64) -> DeviceView {
    snapshot_at(cfg, at).devices.remove(0)
}

fn snapshot_at(cfg: &SimConfig, at: u64) -> Snapshot {
    let mut sim = Simulation::new(Arc::new(cfg.clone()));
    sim.advance(at, u64::MAX, &mut ());
    sim.snapshot()
}

/// What became of the writes.
fn changes(cfg: &SimConfig) -> Vec<ChangeView> {
    device_at(cfg, u64::MAX).changes
}

/// (time of the write, time of its effect, errno)
fn outcomes(cfg: &SimConfig) -> Vec<(u64, u64, Option<&'static str>)> {
    changes(cfg).iter().map(|c| (c.at, c.done, c.error)).collect()
}

// ---- freeze and quiesce ----

/// kernel 8.3: what is inside ends first; who comes meanwhile sleeps, or with NOWAIT gets EAGAIN.
#[test]
fn section_8_3_freeze_waits_for_references_and_holds_newcomers() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    list(&mut cfg, vec![bio(0, Op::Read, 0, 8), bio(0, Op::Read, 800, 8), bio(5 * MS, Op::Read, 1600, 8)]);
    list(&mut cfg, vec![ListedBio { nowait: true, ..bio(6 * MS, Op::Read, 2400, 8) }]);
    change(&mut cfg, 2 * MS, Setting::MaxSectors(64));
    let mid = snapshot_at(&cfg, 7 * MS);
    let f = mid.devices[0].freeze.as_ref().expect("frozen");
    assert!(mid.devices[0].frozen);
    assert_eq!((f.since, f.setting, f.depth, f.usage), (2 * MS, Setting::MaxSectors(64), 1, 2));
    assert_eq!(
        f.holding.iter().map(|b| (b.id, b.stage)).collect::<Vec<_>>(),
        [(1, BioStage::Drive), (2, BioStage::Drive)]
    );
    assert_eq!(f.waiting.iter().map(|b| b.sector).collect::<Vec<_>>(), [1600]);
    assert_eq!(mid.jobs[0].state, JobState::WaitFreeze);
    let r = run(cfg);
    let fails: Vec<_> = r.of(Action::Fail).iter().map(|t| (t.time, t.sector, t.arg)).collect();
    assert_eq!(fails, [(6 * MS, 2400, u64::from(BlkStatus::Again.errno_number()))]);
    let effect = r.of(Action::Change)[0];
    let last = r.of(Action::Complete).iter().filter(|t| t.sector <= 800).map(|t| t.time).max().unwrap();
    assert_eq!((effect.time, effect.arg), (last, 0));
    let late = r.of(Action::GetRq).into_iter().find(|t| t.sector == 1600).unwrap().time;
    assert_eq!(late, effect.time, "who waited comes in at the thaw");
    let c = &r.sim.snapshot().devices[0].changes[0];
    assert_eq!((c.at, c.done, c.error, c.drained, c.waited), (2 * MS, last, None, 2, 1));
    assert_eq!(r.sim.stats().frozen_ns, last - 2 * MS);
    assert!(r.sim.snapshot().devices[0].freeze.is_none());
}

/// kernel 8.3: each writer freezes for itself; the queue thaws with the last.
#[test]
fn section_8_3_freezes_nest() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    reader(&mut cfg, 1, 5);
    change(&mut cfg, 2 * MS, Setting::NrRequests(16));
    change(&mut cfg, 4 * MS, Setting::AsyncDepth(7));
    change(&mut cfg, 5 * MS, Setting::MaxSectors(64));
    let depth = |at| device_at(&cfg, at).freeze.map_or(0, |f| f.depth);
    assert_eq!([depth(MS), depth(3 * MS), depth(4 * MS), depth(6 * MS)], [0, 1, 2, 3]);
    let r = run(cfg.clone());
    let effects: Vec<_> = r.of(Action::Change).iter().map(|t| (t.time, t.arg)).collect();
    let done = r.of(Action::Complete)[0].time;
    assert_eq!(effects, [(done, 0), (done, 1), (done, 2)]);
    assert_eq!(r.sim.stats().frozen_ns, done - 2 * MS, "counted once");
    let tags = device_at(&cfg, u64::MAX).sched_tags.unwrap();
    assert_eq!((tags.depth, tags.min_shallow_depth), (16, 7));
}

/// Limits are written one after the other: the second writer waits for limits_lock, and freezes by itself.
#[test]
fn section_8_3_a_second_writer_of_limits_waits() {
    let mut cfg = machine(ElevatorKind::None);
    reader(&mut cfg, 4, 40);
    change(&mut cfg, 2 * MS, Setting::MaxSectors(64));
    change(&mut cfg, 3 * MS, Setting::WriteCache(false));
    change(&mut cfg, 4 * MS, Setting::MaxSectors(128));
    assert_eq!(device_at(&cfg, 5 * MS).freeze.unwrap().depth, 1);
    let c = changes(&cfg);
    assert!(c[0].done < c[1].done && c[1].done < c[2].done && c.iter().all(|c| c.error.is_none()), "{c:?}");
    assert!(c.iter().all(|c| c.drained > 0), "each waited for others: {c:?}");
}

/// A freeze takes a grace period at least, a quiesce one more.
#[test]
fn section_8_3_grace_periods() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    cfg.host.rcu_ns = 3 * MS;
    reader(&mut cfg, 1, 9);
    let after = |setting, at| {
        let mut cfg = cfg.clone();
        change(&mut cfg, at, setting);
        let c = changes(&cfg).remove(0);
        (c.done - c.at, device_at(&cfg, c.done - MS).freeze.map(|f| f.quiesced))
    };
    // The command in flight is done at 10 ms.
    assert_eq!(after(Setting::MaxSectors(64), 9 * MS), (3 * MS, Some(false)));
    assert_eq!(after(Setting::ZonedQd1Writes(true), 9 * MS), (0, None), "there is no such file: nothing waits");
    let (took, quiesced) = after(Setting::NrRequests(32), 5 * MS);
    assert!(quiesced == Some(true) && took > 8 * MS && took < 9 * MS, "{took}");
    let same = Setting::Scheduler(ElevatorKind::MqDeadline);
    let (took, quiesced) = after(same, 5 * MS);
    assert!(quiesced == Some(false) && took > 5 * MS && took < 6 * MS, "{took}");
}

/// kernel 8.3: nomerges is a flag; nobody waits for it.
#[test]
fn section_8_3_nomerges_does_not_freeze() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    reader(&mut cfg, 4, 40);
    change(&mut cfg, 3 * MS, Setting::Nomerges(2));
    assert_eq!(outcomes(&cfg), [(3 * MS, 3 * MS, None)]);
    assert_eq!(run(cfg).sim.stats().frozen_ns, 0);
}

#[test]
fn the_last_changes_are_kept() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    reader(&mut cfg, 1, 20);
    (0..50).for_each(|n| change(&mut cfg, n * MS, Setting::Nomerges((n % 3) as u8)));
    let c = changes(&cfg);
    assert!(c.len() == MAX_CHANGES && c.last().unwrap().at == 49 * MS && c[0].at == 18 * MS);
}

// ---- scheduler ----

/// kernel 8.3: depths are those a fresh scheduler has; `none` has as many requests as the device takes commands.
#[test]
fn section_8_3_elevator_switch() {
    let mut cfg = machine(ElevatorKind::Kyber);
    cfg.devices[0].queue.as_mut().unwrap().nr_requests = 200;
    reader(&mut cfg, 16, 400);
    for (n, kind) in
        [ElevatorKind::MqDeadline, ElevatorKind::Bfq, ElevatorKind::None, ElevatorKind::Kyber].into_iter().enumerate()
    {
        change(&mut cfg, (n as u64 * 40 + 25) * MS, Setting::Scheduler(kind));
    }
    let at = |ms: u64| device_at(&cfg, ms * MS);
    let depths = |d: &DeviceView| d.sched_tags.as_ref().map(|t| (t.depth, t.min_shallow_depth, t.wake_batch));
    assert!(matches!(at(20).elevator, ElevatorView::Kyber(_)));
    assert_eq!(depths(&at(20)), Some((200, 64, 8)));
    assert!(matches!(at(50).elevator, ElevatorView::MqDeadline(_)));
    assert_eq!(depths(&at(50)), Some((64, 64, 8)));
    assert!(matches!(at(90).elevator, ElevatorView::Bfq(_)));
    assert_eq!(depths(&at(90)), Some((64, 1, 1)));
    assert!(matches!(at(130).elevator, ElevatorView::None { .. }));
    assert_eq!((depths(&at(130)), at(130).tags.depth), (None, 32));
    assert!(matches!(at(170).elevator, ElevatorView::Kyber(_)));
    assert_eq!(depths(&at(170)), Some((64, 48, 6)));
    let r = run(cfg);
    assert!(r.sim.stats().total_ios == 400 && r.sim.stats().nr_errors == 0);
    assert_eq!(r.of(Action::Change).len(), 4);
    // Tags of the old scheduler are all back when the new one comes.
    for change in r.of(Action::Change) {
        let before = |a| r.of(a).iter().filter(|t| t.time <= change.time).count();
        let got = r.of(Action::GetRq).iter().filter(|t| t.time < change.time).count();
        assert_eq!(got, before(Action::Complete));
    }
}

/// Attributes of the scheduler are those of a fresh one; the same name again is no switch.
#[test]
fn section_8_3_a_new_scheduler_has_its_defaults() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    let q = cfg.devices[0].queue.as_mut().unwrap();
    (q.mq_deadline.fifo_batch, q.queue_depth) = (1, 4);
    reader(&mut cfg, 16, 1000);
    change(&mut cfg, 205 * MS, Setting::Scheduler(ElevatorKind::MqDeadline));
    change(&mut cfg, 405 * MS, Setting::Scheduler(ElevatorKind::None));
    change(&mut cfg, 605 * MS, Setting::Scheduler(ElevatorKind::MqDeadline));
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut largest_batch = |until: u64| {
        let mut most = 0;
        while sim.next_time().is_some_and(|t| t < until * MS) {
            sim.step(&mut ());
            if let ElevatorView::MqDeadline(v) = &sim.snapshot().devices[0].elevator {
                most = most.max(v.batching);
            }
        }
        most
    };
    assert_eq!([largest_batch(200), largest_batch(400)], [1, 1]);
    assert!(largest_batch(1000) > 1);
    assert!(sim.snapshot().devices[0].changes.iter().all(|c| c.error.is_none()));
}

/// kernel 3.3, 8.3: update_nr_hwq_lock is tried, not waited for.
#[test]
fn section_8_3_ebusy() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    reader(&mut cfg, 1, 9);
    change(&mut cfg, MS, Setting::NrRequests(16));
    change(&mut cfg, 2 * MS, Setting::Scheduler(ElevatorKind::Bfq));
    change(&mut cfg, 3 * MS, Setting::NrRequests(17));
    change(&mut cfg, 21 * MS, Setting::Scheduler(ElevatorKind::Bfq));
    change(&mut cfg, 22 * MS, Setting::NrRequests(17));
    change(&mut cfg, 23 * MS, Setting::Scheduler(ElevatorKind::None));
    let c = changes(&cfg);
    let error = |at: u64| c.iter().find(|c| c.at == at * MS).unwrap().error;
    assert_eq!([1, 2, 3].map(error), [None, Some("EBUSY"), Some("EBUSY")]);
    // Two readers of the lock: both switch, one after the other.
    assert_eq!([21, 22, 23].map(error), [None, Some("EBUSY"), None]);
    assert!(matches!(device_at(&cfg, u64::MAX).elevator, ElevatorView::None { .. }));
}

/// Before 6.10 zoned disks refuse schedulers that do not lock zones.
#[test]
fn section_4_3_einval_of_schedulers_without_zone_locks() {
    let mut cfg = config();
    cfg.kernel.zone_ordering = ZoneOrdering::ZoneLock;
    list(&mut cfg, (0..40).map(|i| write(i * MS, 0, i * 64, 64)).collect());
    for (n, kind) in ELEVATORS.into_iter().enumerate() {
        change(&mut cfg, n as u64 * 5 * MS, Setting::Scheduler(kind));
    }
    let errors = |cfg: &SimConfig| changes(cfg).iter().map(|c| c.error).collect::<Vec<_>>();
    assert_eq!(errors(&cfg), [None, None, Some("EINVAL"), Some("EINVAL")]);
    cfg.kernel.zone_ordering = ZoneOrdering::Zwplug;
    assert_eq!(errors(&cfg), [None; 4]);
}

/// kernel 8.2: what is set when.
#[test]
fn section_8_2_queue_flags() {
    let mut cfg = machine(ElevatorKind::None);
    let q = cfg.devices[0].queue.as_mut().unwrap();
    (q.nomerges, q.rq_affinity) = (1, 2);
    reader(&mut cfg, 4, 400);
    change(&mut cfg, 25 * MS, Setting::Scheduler(ElevatorKind::MqDeadline));
    change(&mut cfg, 65 * MS, Setting::WbtLat(Some(MS)));
    change(&mut cfg, 105 * MS, Setting::Nomerges(2));
    let flags = |cfg: &SimConfig, ms: u64| device_at(cfg, ms * MS).queue_flags;
    let always = qflag::INIT_DONE | qflag::REGISTERED | qflag::SAME_COMP | qflag::SAME_FORCE;
    assert_eq!(flags(&cfg, 10), always | qflag::NOXMERGES);
    assert_eq!(flags(&cfg, 60), always | qflag::NOXMERGES | qflag::SQ_SCHED);
    let wbt = qflag::STATS | qflag::QOS_ENABLED;
    assert_eq!(flags(&cfg, 100), always | qflag::NOXMERGES | qflag::SQ_SCHED | wbt);
    assert_eq!(flags(&cfg, 110), always | qflag::NOMERGES | qflag::SQ_SCHED | wbt);
    // Rows 17 and 18: flags of the kernels that have them.
    cfg.jobs[0].cgroup.latency_ns = MS;
    let stamps = qflag::QOS_ENABLED | qflag::BIO_ISSUE_TIME;
    assert_eq!(flags(&cfg, 10) & stamps, stamps);
    cfg.kernel.issue_time = IssueTime::Always;
    cfg.kernel.qos_gate = QosGate::StaticKey;
    assert_eq!(flags(&cfg, 10) & stamps, 0);
}

/// Row 40: mq-deadline starts with async_depth = nr_requests.
#[test]
fn section_11_row_40_dd_init() {
    let mut cfg = machine(ElevatorKind::None);
    reader(&mut cfg, 4, 40);
    change(&mut cfg, 5 * MS, Setting::Scheduler(ElevatorKind::MqDeadline));
    let tags = device_at(&cfg, 40 * MS).sched_tags.unwrap();
    assert_eq!((tags.depth, tags.shallow, tags.min_shallow_depth, tags.wake_batch), (64, 64, 64, 8));
    // 5.17: three quarters of it.
    cfg.kernel.async_depth_owner = AsyncDepthOwner::Elevator517;
    let tags = device_at(&cfg, 40 * MS).sched_tags.unwrap();
    assert_eq!((tags.depth, tags.shallow, tags.min_shallow_depth, tags.wake_batch), (64, 48, 48, 6));
}

/// Row 25: null_blk with no_sched=1 had only `none`; now it starts with it.
#[test]
fn section_11_row_25_no_sched() {
    let mut cfg = machine(ElevatorKind::None);
    cfg.devices[0].queue.as_mut().unwrap().no_sched = true;
    reader(&mut cfg, 4, 40);
    change(&mut cfg, 5 * MS, Setting::Scheduler(ElevatorKind::MqDeadline));
    assert!(matches!(device_at(&cfg, u64::MAX).elevator, ElevatorView::MqDeadline(_)));
    cfg.kernel.no_sched_by_default = false;
    assert!(matches!(device_at(&cfg, u64::MAX).elevator, ElevatorView::None { .. }));
    assert_eq!(outcomes(&cfg), [(5 * MS, 5 * MS, None)], "and no error");
}

/// Row 20: bfq takes wbt's default away and shows it; the default returns when bfq goes. What was written stays.
#[test]
fn section_11_row_20_disable_wbt_def() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    cfg.kernel.blk_wbt_mq = true;
    reader(&mut cfg, 4, 400);
    change(&mut cfg, 25 * MS, Setting::Scheduler(ElevatorKind::Bfq));
    change(&mut cfg, 65 * MS, Setting::Scheduler(ElevatorKind::None));
    let seen = |cfg: &SimConfig, ms: u64| {
        let d = device_at(cfg, ms * MS);
        (d.qos.wbt.map(|wbt| wbt.target_ns / US), d.queue_flags & qflag::DISABLE_WBT_DEF != 0)
    };
    let default = (Some(2000), false);
    assert_eq!([20, 60, 100].map(|ms| seen(&cfg, ms)), [default, (Some(0), true), default]);
    // The disk starts with bfq: nothing is there to show until it goes.
    let mut bfq = cfg.clone();
    bfq.devices[0].queue.as_mut().unwrap().elevator = ElevatorKind::Bfq;
    bfq.changes.remove(0);
    assert_eq!([20, 100].map(|ms| seen(&bfq, ms)), [(None, true), default]);
    // Written, it is nobody's default; -1 writes the default's number.
    let mut manual = cfg.clone();
    manual.changes.insert(0, Change { at: 5 * MS, dev: 0, setting: Setting::WbtLat(Some(5 * MS)) });
    manual.changes.push(Change { at: 105 * MS, dev: 0, setting: Setting::WbtLat(Some(0)) });
    manual.changes.push(Change { at: 145 * MS, dev: 0, setting: Setting::WbtLat(None) });
    let us = |ms| seen(&manual, ms).0;
    assert_eq!([20, 60, 100, 140, 180].map(us), [5000, 5000, 5000, 0, 2000].map(Some));
    // Not built in as a default: nothing comes by itself.
    cfg.kernel.blk_wbt_mq = false;
    assert_eq!([20, 60, 100].map(|ms| seen(&cfg, ms)), [(None, false), (None, true), (None, false)]);
    // A disk that turns.
    let mut disk = config();
    disk.kernel.blk_wbt_mq = true;
    assert_eq!(seen(&disk, 0).0, Some(75_000));
}

// ---- nr_requests, async_depth ----

/// kernel 3.3: the order of the checks, with a scheduler and without.
#[test]
fn section_3_3_nr_requests() {
    let error = |elevator, nr| {
        let mut cfg = machine(elevator);
        if elevator == ElevatorKind::None {
            cfg.devices[0].queue.as_mut().unwrap().nr_requests = 32;
        }
        reader(&mut cfg, 1, 9);
        change(&mut cfg, 5 * MS, Setting::NrRequests(nr));
        let c = changes(&cfg).remove(0);
        let d = device_at(&cfg, 30 * MS);
        (c.error, c.done > c.at, d.sched_tags.unwrap_or(d.tags).depth)
    };
    let sched = ElevatorKind::MqDeadline;
    assert_eq!(error(sched, 64), (None, false, 64), "the same: nothing is frozen");
    assert_eq!(error(sched, 1), (None, true, 4));
    assert_eq!(error(sched, 2048), (None, true, 2048));
    assert_eq!(error(sched, 2049), (Some("EINVAL"), false, 64));
    assert_eq!(error(ElevatorKind::None, 33), (Some("EINVAL"), false, 32));
    assert_eq!(error(ElevatorKind::None, 5), (None, true, 5), "driver tags");
    assert_eq!(error(ElevatorKind::None, 0), (None, true, 4));
}

/// Row 39: writes of async_depth; min_shallow_depth and with it wake_batch follow each of them.
#[test]
fn section_11_row_39_async_depth() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    reader(&mut cfg, 8, 200);
    change(&mut cfg, 5 * MS, Setting::AsyncDepth(16));
    change(&mut cfg, 25 * MS, Setting::AsyncDepth(1000));
    change(&mut cfg, 45 * MS, Setting::AsyncDepth(0));
    change(&mut cfg, 65 * MS, Setting::AsyncDepth(32));
    change(&mut cfg, 85 * MS, Setting::NrRequests(128));
    change(&mut cfg, 105 * MS, Setting::Scheduler(ElevatorKind::None));
    change(&mut cfg, 125 * MS, Setting::AsyncDepth(8));
    let seen = |cfg: &SimConfig, ms: u64| {
        let t = device_at(cfg, ms * MS).sched_tags.unwrap();
        (t.min_shallow_depth, t.wake_batch)
    };
    let queue = [20, 40, 60, 80, 100].map(|ms| seen(&cfg, ms));
    assert_eq!(queue, [(16, 2), (64, 8), (64, 8), (32, 4), (64, 8)], "the last in proportion to nr_requests");
    let c = changes(&cfg);
    let errors: Vec<_> = c.iter().map(|c| c.error).collect();
    assert_eq!(errors, [None, None, Some("EINVAL"), None, None, None, Some("EINVAL")]);
    assert!(c[2].done == c[2].at && c[6].done > c[6].at, "without scheduler it is refused only once frozen");
    // The elevator's attribute: at any time, and the bitmap learns nothing of it.
    cfg.kernel.async_depth_owner = AsyncDepthOwner::Elevator;
    let old = [20, 40, 80].map(|ms| seen(&cfg, ms));
    assert_eq!(old, [(1, 1); 3]);
    let c = changes(&cfg);
    assert!(c[0].done == c[0].at && c[6].error == Some("ENOENT"), "{c:?}");
    cfg.changes = vec![Change { at: MS, dev: 0, setting: Setting::AsyncDepth(8) }];
    for kind in [ElevatorKind::Bfq, ElevatorKind::Kyber] {
        cfg.devices[0].queue.as_mut().unwrap().elevator = kind;
        assert_eq!(outcomes(&cfg), [(MS, MS, Some("ENOENT"))], "mq-deadline's file");
    }
}

// ---- zoned_qd1_writes ----

/// Row 5: no such file where the disk is not zoned or has no zone write plugs; the flip finds no plugged bio; 0 falls
/// back to one write for each zone, 1 to one for the disk.
#[test]
fn section_11_row_5_zoned_qd1_writes() {
    let mut plain = machine(ElevatorKind::MqDeadline);
    reader(&mut plain, 1, 3);
    change(&mut plain, MS, Setting::ZonedQd1Writes(true));
    assert_eq!(outcomes(&plain), [(MS, MS, Some("ENOENT"))]);

    let mut cfg = config();
    for z in 0..4 {
        list(&mut cfg, (0..200).map(|i| write(i * 4 * MS, z, i * 64, 64)).collect());
    }
    for (at, on) in [(200, true), (400, false), (600, true)] {
        change(&mut cfg, at * MS, Setting::ZonedQd1Writes(on));
    }
    let mut old = cfg.clone();
    old.kernel.zone_ordering = ZoneOrdering::ZoneLock;
    assert!(changes(&old).iter().all(|c| c.error == Some("ENOENT")));

    let mut sim = Simulation::new(Arc::new(cfg.clone()));
    let mut trace: Vec<TraceRecord> = Vec::new();
    let mut flips = Vec::new();
    while sim.next_time().is_some() {
        let frozen = sim.snapshot().devices[0].freeze.clone();
        let records = trace.len();
        sim.step(&mut trace);
        if trace[records..].iter().any(|r| r.action == Action::Change) {
            let FreezeView { usage, holding, .. } = frozen.expect("a flip is made with the queue frozen");
            assert!(usage == 0 && holding.is_empty());
            flips.push(trace[records..].iter().find(|r| r.action == Action::Change).unwrap().time);
        }
    }
    assert_eq!(flips.len(), 3);
    let most = |from: u64, to: u64| {
        let (mut now, mut most) = (0i32, 0);
        for r in &trace {
            now += i32::from(r.action == Action::Issue) - i32::from(r.action == Action::Complete);
            if r.time > from && r.time < to {
                most = most.max(now);
            }
        }
        most
    };
    assert_eq!([most(0, flips[0]), most(flips[0], flips[1])], [4, 1]);
    assert_eq!([most(flips[1], flips[2]), most(flips[2], u64::MAX)], [4, 1]);
    assert_eq!((sim.stats().total_ios, sim.stats().nr_errors), (800, 0));
}

// ---- limits, flushes ----

/// max_sectors_kb cuts from then on.
#[test]
fn section_8_3_max_sectors() {
    let mut cfg = machine(ElevatorKind::MqDeadline);
    list(&mut cfg, vec![bio(0, Op::Read, 0, 256), bio(20 * MS, Op::Read, 1000, 256)]);
    change(&mut cfg, 5 * MS, Setting::MaxSectors(64));
    change(&mut cfg, 6 * MS, Setting::MaxSectors(7));
    let r = run(cfg);
    let sizes: Vec<_> = r.of(Action::Issue).iter().map(|t| t.nr_sectors).collect();
    assert_eq!(sizes, [256, 64, 64, 64, 64]);
    let c = &r.sim.snapshot().devices[0].changes;
    assert_eq!(c.iter().find(|c| c.at == 6 * MS).unwrap().error, Some("EINVAL"), "less than 4 KiB");
}

/// "write through": flushes are over at once, and FUA is dropped.
#[test]
fn section_8_3_write_cache() {
    let mut cfg = config();
    let flush = |at| bio(at, Op::Flush, 0, 0);
    let fua = |at| ListedBio { fua: true, ..bio(at, Op::Write, 0, 8) };
    list(&mut cfg, vec![flush(0), fua(50 * MS), flush(200 * MS), fua(250 * MS), flush(400 * MS), fua(450 * MS)]);
    change(&mut cfg, 150 * MS, Setting::WriteCache(false));
    change(&mut cfg, 350 * MS, Setting::WriteCache(true));
    let r = run(cfg);
    let commands = |from: u64, to: u64| {
        let all = r.of(Action::Issue);
        all.iter().filter(|t| (from * MS..to * MS).contains(&t.time)).map(|t| t.op).collect::<Vec<_>>()
    };
    assert_eq!(commands(0, 150), [Op::Flush, Op::Write, Op::Flush]);
    assert_eq!(commands(150, 350), [Op::Write]);
    assert_eq!(commands(350, 999), [Op::Flush, Op::Write, Op::Flush]);
    assert_eq!(r.sim.stats().nr_errors, 0);
}

// ---- laws ----

/// A queue like any, zoned or not, and jobs that keep it busy.
fn random_machine(d: &mut Dice) -> SimConfig {
    let mut cfg = config();
    cfg.seed = d.below(1 << 20);
    if d.flip() {
        cfg.devices[0] = capped(0, d.pick(&[0, 50, 2000]) * US);
        if let DeviceKind::Capped(c) = &mut cfg.devices[0].kind {
            c.channels = d.pick(&[1, 4]);
        }
    }
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.elevator = d.pick(&ELEVATORS);
    q.queue_depth = d.pick(&[4, 8, 32]);
    q.nr_requests = d.pick(&[4, 9, 64, 256]);
    q.async_depth = d.pick(&[1, 3, 48, 256]).min(q.nr_requests);
    q.nr_hw_queues = d.pick(&[1, 1, 3]);
    q.shared_users = d.pick(&[0, 0, 3]);
    q.nomerges = d.pick(&[0, 1, 2]);
    q.max_sectors = d.pick(&[16, 256, 8192]);
    q.zoned_qd1_writes = d.flip();
    q.wbt_lat_ns = d.pick(&[None, Some(0), Some(5 * MS)]);
    cfg.kernel.blk_wbt_mq = d.flip();
    cfg.kernel.async_depth_owner = d.pick(&[AsyncDepthOwner::Queue, AsyncDepthOwner::Elevator]);
    cfg.kernel.dead_plug_revive = true;
    cfg.kernel.sbitmap_wake = d.pick(&[SbitmapWake::PerMap, SbitmapWake::PerQueue]);
    cfg.host.submit_ns = d.pick(&[0, 500, 40_000]);
    cfg.host.kblockd_ns = d.pick(&[0, 0, 5_000]);
    cfg.host.step_ns = d.pick(&[0, 0, 1_000]);
    cfg.host.rcu_ns = d.pick(&[0, 0, 300_000]);
    // Each job writes zones of its own from their start, and reads anywhere.
    for j in 0..d.pick(&[1u64, 3, 6]) {
        let (mut at, mut wp) = (0, [0u64; 2]);
        let bios = (0..d.pick(&[30, 120])).map(|_| {
            at += d.below(500) * US;
            let len = d.pick(&[8u32, 64, 2048]);
            let z = d.below(2);
            let sector = (u64::from(SEQ) + j * 2 + z) * ZONE;
            match d.below(8) {
                0 => bio(at, Op::Read, sector, len),
                1 => bio(at, Op::Flush, 0, 0),
                n => {
                    let start = sector + wp[z as usize];
                    wp[z as usize] += u64::from(len);
                    ListedBio { fua: n == 2, ..bio(at, Op::Write, start, len) }
                }
            }
        });
        list(&mut cfg, bios.collect());
    }
    // Someone that policies may hold.
    if cfg.devices[0].zones().is_none() && d.flip() {
        reader(&mut cfg, 8, 60);
        let WorkloadConfig::Linear(l) = &mut cfg.jobs.last_mut().unwrap().workload else { unreachable!() };
        (l.rw, l.buffered) = (Rw::RandWrite, true);
    }
    for j in &mut cfg.jobs {
        j.cgroup.latency_ns = d.pick(&[0, 0, 100 * US]);
        j.cgroup.weight = d.pick(&[100, 10]);
    }
    if d.below(3) == 0 {
        let iocost = IoCostConfig { rand_iops: [2000; 2], ..IoCostConfig::default() };
        cfg.devices[0].queue.as_mut().unwrap().iocost = Some(iocost);
    }
    let mut at = 0;
    for _ in 0..d.below(30) {
        at += d.below(6_000) * US;
        let setting = match d.below(9) {
            0 => Setting::ZonedQd1Writes(d.flip()),
            1 | 2 => Setting::Scheduler(d.pick(&ELEVATORS)),
            3 => Setting::NrRequests(d.pick(&[1, 4, 8, 64, 200, 3000])),
            4 => Setting::AsyncDepth(d.pick(&[0, 1, 7, 500])),
            5 => Setting::Nomerges(d.below(3) as u8),
            6 => Setting::MaxSectors(d.pick(&[4, 16, 100, 1024, 8192])),
            7 => Setting::WbtLat(d.pick(&[None, Some(0), Some(2 * MS)])),
            _ => Setting::WriteCache(d.flip()),
        };
        change(&mut cfg, at, setting);
    }
    cfg
}

/// Writes of a zone reach the device in the order of their sectors, whatever was changed meanwhile.
#[derive(Default)]
struct InOrder {
    what: String,
    zoned: bool,
    next: HashMap<u64, u64>,
    queued: u64,
}

impl TraceSink for InOrder {
    fn record(&mut self, r: &TraceRecord) {
        self.queued += u64::from(r.action == Action::Queue);
        if r.action == Action::Issue && r.op == Op::Write && self.zoned {
            let next = self.next.entry(r.sector / ZONE).or_insert(r.sector);
            assert_eq!(*next, r.sector, "{}: zone {} at {}", self.what, r.sector / ZONE, r.time);
            *next += u64::from(r.nr_sectors);
        }
    }
}

#[test]
fn random_changes_lose_and_overtake_nothing() {
    let (mut effects, mut refused) = (0, 0);
    for seed in 0..400 {
        let cfg = Arc::new(random_machine(&mut Dice(seed)));
        let what = format!("{seed}: {:?}", cfg.changes);
        let mut sim = Simulation::new(Arc::clone(&cfg));
        let zoned = cfg.devices[0].zones().is_some();
        let in_order = InOrder { what: what.clone(), zoned, ..InOrder::default() };
        let mut sink = (in_order, TraceHash::default());
        assert_eq!(sim.advance(u64::MAX, 3_000_000, &mut sink), Advance::Done, "{what}");
        let (s, st) = (sim.snapshot(), sim.stats());
        let d = &s.devices[0];
        assert_eq!((sim.bios_in_flight(), st.nr_errors, st.nr_stalls), (0, 0, 0), "{what}");
        assert!(s.jobs.iter().all(|j| j.state == JobState::Done), "{what}");
        assert!(!d.frozen && d.freeze.is_none(), "{what}");
        let tags = d.hctxs.iter().flat_map(|h| h.tags.iter().chain(&h.sched_tags));
        for t in tags.chain([&d.tags]).chain(&d.sched_tags) {
            assert!(t.busy.iter().all(Option::is_none) && t.waiters == 0 && t.ws_active == 0, "{what}");
        }
        assert!(d.hctxs.iter().all(|h| h.nr_active == 0), "{what}");
        effects += d.changes.iter().filter(|c| c.error.is_none()).count();
        refused += d.changes.iter().filter(|c| c.error.is_some()).count();
        // Sliced and cloned it goes the same way.
        let mut again = Simulation::new(cfg);
        let mut hash = TraceHash::default();
        while again.advance(u64::MAX, 333, &mut hash) != Advance::Done {
            again = again.clone();
        }
        assert_eq!(hash, sink.1, "{what}");
    }
    assert!(effects > 1500 && refused > 300, "{effects} {refused}");
}
