//! Made-up snapshots for tests and previews.
//!
//! Models: what a run of the presets looks like at one moment; the figures are invented.
//! Rule: consistent with itself (tags, plugs, cache and jobs tell the same story), the same on every call.
//! Leaves out: everything a picture does not need.

use std::sync::Arc;

use bioscope_core::config::{
    CappedConfig, DeviceConfig, DeviceKind, ElevatorKind, HostCosts, JobConfig, KernelConfig, LinearConfig, MdConfig,
    MdLevel, MqDeadlineConfig, QueueConfig, Ramp, Rw, Setting, SimConfig, SplitInsert, Stop, TagAlloc, Tool,
    WorkloadConfig, ZoneOrdering,
};
use bioscope_core::observe::gaps::Gaps;
use bioscope_core::observe::snapshot::sflag;
use bioscope_core::observe::snapshot::{
    BfqQueueView, BfqView, BioStage, BioView, ChangeView, CommandView, DeadlineView, DeviceView, DriveView,
    ElevatorView, FlashChannelView, FlashDieView, FlashView, FreezeView, HeadPhase, HeadView, IoCostView,
    IoLatencyView, JobState, JobView, KyberDomainView, KyberView, NullBlkView, PlugView, QosCounters, QosView,
    RequestView, Snapshot, StripeCacheView, StripeView, TagsView, TaskView, TimerView, WbtVerdict, WbtView, WokenView,
    WorkerState, WorkerView, WplugView, ZoneCond, ZoneView, ZonedView,
};
use bioscope_core::observe::trace::{Action, NO_ORIGIN, TraceRecord, TraceSink};
use bioscope_core::units::{DevIdx, Op, Sector, ZoneNo};
use bioscope_session::order::{GAPS, sum};
use bioscope_session::{OrderFrame, Session};

/// Sectors of a zone: 256 MiB.
pub const ZONE: u64 = 524_288;
/// A turn at 7200 rpm, ns.
pub const REV: u64 = 8_333_333;
/// ns per sector at 245 MiB/s, times 2^20.
const RATE: u64 = (1_992 << 20) + 700_000;
/// First sequential zone of the made-up drive.
const FIRST: ZoneNo = 1_118;
/// Now in all of them, ns.
pub const NOW: u64 = 3_482_175_331;

/// A snapshot with the records a lane needs beside it.
#[derive(Clone, Default)]
pub struct Scene {
    pub snap: Snapshot,
    pub strip: Vec<TraceRecord>,
    pub trail: Vec<TraceRecord>,
    pub order: Option<OrderFrame>,
}

fn bio(id: u32, job: u16, zone: ZoneNo, mib: u64, stage: BioStage) -> BioView {
    let q_time = NOW - 250_000_000 + u64::from(id % 1000) * 3_900_000 % 249_000_000;
    let sector = u64::from(zone) * ZONE + mib * 2048;
    BioView {
        id,
        parent: id,
        job,
        op: Op::Write,
        sector,
        nr_sectors: 2048,
        zone,
        dev: 0,
        origin: sector,
        q_time,
        stage,
    }
}

fn request(id: u32, of: &BioView, tag: u32, nr_sectors: u32) -> RequestView {
    RequestView {
        id,
        bio: of.id,
        nr_bios: 1,
        job: of.job,
        op: of.op,
        sector: of.sector,
        nr_sectors,
        zone: of.zone,
        dev: 0,
        origin: of.origin,
        tag: Some(tag),
        internal_tag: Some(tag),
        d_time: Some(NOW - 900_000),
        flags: 0,
    }
}

fn command(rq: u32, zone: ZoneNo, sector_in_zone: u64, nr_sectors: u32) -> CommandView {
    CommandView { rq, bio: rq, op: Op::Write, sector: u64::from(zone) * ZONE + sector_in_zone, nr_sectors, zone }
}

fn zone(zone: ZoneNo, cond: ZoneCond, media_offset: u64, order: u32) -> ZoneView {
    let phase_ns = u64::from(zone) * 2_718_281 % REV;
    ZoneView { zone, cond, wp_offset: media_offset, media_offset, phase_ns, ns_per_sector_fp20: RATE, order }
}

fn record(action: Action, time: u64, zone: ZoneNo, id: u32) -> TraceRecord {
    TraceRecord {
        time,
        dev: 0,
        action,
        op: Op::Write,
        flags: 0,
        sector: u64::from(zone) * ZONE,
        nr_sectors: 1344,
        bio: id,
        rq: id,
        arg: 2_000_000,
        job: 0,
        origin: u64::from(zone) * ZONE,
    }
}

fn device() -> DeviceView {
    let tags = TagsView { depth: 32, busy: vec![None; 32], bits_per_word: 8, ..TagsView::default() };
    let sched = TagsView { depth: 64, busy: vec![None; 64], bits_per_word: 16, ..TagsView::default() };
    DeviceView {
        name: "sda".into(),
        zone_wplugs: Vec::new(),
        zone_wplugs_list: Vec::new(),
        worker: WorkerView::default(),
        elevator: ElevatorView::MqDeadline(Default::default()),
        sched_tags: Some(sched),
        tags,
        dispatch: Vec::new(),
        hctxs: vec![],
        dispatch_busy: 0,
        stall: None,
        frozen: false,
        drive: DriveView {
            rev_ns: REV,
            nr_zones: 111_760,
            zoned: true,
            zone_sectors: ZONE,
            max_open: 128,
            ..DriveView::default()
        },
        stats: bioscope_core::observe::snapshot::DiskStats::default(),
        window: bioscope_core::observe::snapshot::DiskStats::default(),
        stripe_cache: None,
        throttled: 0,
        ..DeviceView::default()
    }
}

fn job(name: &str, iodepth: u32, state: JobState, in_flight: Vec<BioView>) -> JobView {
    let bytes_in_flight = in_flight.iter().map(|b| u64::from(b.nr_sectors) * 512).sum();
    JobView { name: name.into(), state, iodepth, in_flight, locks: Vec::new(), bytes_in_flight }
}

fn plug(zone: ZoneNo, mib: u64, bios: Vec<BioView>, in_flight: Option<RequestView>) -> WplugView {
    let refs = 1 + bios.len() as u32;
    let plugged = !bios.is_empty() || in_flight.is_some();
    WplugView {
        zone,
        plugged,
        need_wp_update: false,
        dead: false,
        refs,
        wp_offset: mib * 2048,
        bios,
        in_flight,
        listed: false,
    }
}

/// A device before anything happened.
pub fn idle() -> Scene {
    let snap =
        Snapshot { jobs: vec![job("job0", 64, JobState::Starting, Vec::new())], devices: vec![device()], ..base() };
    Scene { snap, ..Scene::default() }
}

fn base() -> Snapshot {
    Snapshot { now: NOW, events: 41_233, ..Snapshot::default() }
}

/// Sequential writes at QD 64 at a zone boundary: A alternates between two zones, B drains the first.
pub fn sequential(qd1: bool, phase: HeadPhase) -> Scene {
    let (old, new) = (FIRST + 3, FIRST + 4);
    let (left_old, left_new) = if qd1 { (37, 27) } else { (32, 32) };
    let of = |zone, n: u32, mib: u64, id: u32| -> Vec<BioView> {
        (0..n).map(|i| bio(id + i, 0, zone, mib + u64::from(i), BioStage::ZonePlug)).collect()
    };
    let (a, b) = (of(old, left_old, 219, 1000), of(new, left_new, 3, 1000 + left_old));
    let mut d = device();
    let first = request(500, &a[0], 5, 1344);
    let second = request(501, &b[0], 6, 1344);
    d.tags.busy[5] = Some(old);
    d.zone_wplugs.push(plug(old, 219, a[1..].to_vec(), Some(first)));
    if qd1 {
        d.worker = WorkerView { enabled: true, state: WorkerState::Waiting { zone: old, rq: 500 } };
        d.zone_wplugs_list = vec![new];
        d.zone_wplugs.push(plug(new, 0, b.clone(), None));
        d.zone_wplugs[1].listed = true;
    } else {
        d.tags.busy[6] = Some(new);
        d.zone_wplugs.push(plug(new, 3, b[1..].to_vec(), Some(second)));
    }
    let drive = &mut d.drive;
    drive.zones = vec![
        zone(FIRST, ZoneCond::Full, ZONE, 0),
        zone(FIRST + 1, ZoneCond::Full, ZONE, 1),
        zone(FIRST + 2, ZoneCond::Full, ZONE, 2),
        zone(old, ZoneCond::ImpOpen, 216 * 2048, 3),
        zone(new, ZoneCond::ImpOpen, if qd1 { 0 } else { 2 * 2048 }, 4),
    ];
    if qd1 {
        drive.zones[4].cond = ZoneCond::Empty;
    }
    drive.cache = (0..3u32).map(|i| command(480 + i, old, 216 * 2048 + u64::from(i) * 1344, 1344)).collect();
    if !qd1 {
        drive.cache.push(command(490, new, 2 * 2048, 1344));
        drive.waiting = vec![command(501, new, 3 * 2048, 1344)];
    }
    drive.interface = Some((command(500, old, 219 * 2048, 1344), NOW - 600_000, NOW + 600_000));
    drive.window = 24;
    drive.head = HeadView {
        zone: old,
        sector: u64::from(old) * ZONE + 216 * 2048,
        nr_sectors: 1344,
        rq: 480,
        phase,
        from: NOW - 1_000_000,
        until: NOW + 2_100_000,
        from_zone: new,
    };
    align(&mut d);
    let mut bios = a;
    bios.extend(b);
    bios[0].stage = BioStage::Drive;
    let jobs = vec![job("job0", 64, JobState::WaitCompletion, bios)];
    let strip = (0..104u32)
        .map(|i| {
            let alternate = !qd1 && i > 40 && i % 2 == 1;
            record(Action::Issue, NOW - u64::from(104 - i) * 2_700_000, if alternate { new } else { old }, i + 1)
        })
        .collect();
    let hops = if qd1 { 0 } else { 12 };
    let trail = (0..hops)
        .map(|i| record(Action::Seek, NOW - 1_000_000 - (hops - 1 - i) * 11_300_000, [new, old][i as usize % 2], 1))
        .collect();
    Scene { snap: Snapshot { jobs, devices: vec![d], ..base() }, strip, trail, order: None }
}

/// Turns the zone under the head so that its sector arrives when the head's times say so.
fn align(d: &mut DeviceView) {
    let head = d.drive.head;
    let arrives = if head.phase == HeadPhase::Transfer { head.from } else { head.until };
    let offset = head.sector - u64::from(head.zone) * ZONE;
    let offset_ns = ((u128::from(offset) * u128::from(RATE)) >> 20) as u64;
    if let Some(z) = d.drive.zones.iter_mut().find(|z| z.zone == head.zone) {
        z.phase_ns = (arrives + (offset_ns / REV + 1) * REV - offset_ns) % REV;
    }
}

/// Random writes: 16 jobs of depth 32 over so many zones.
pub fn random(zones: u32, qd1: bool) -> Scene {
    let mut d = device();
    let mut jobs = Vec::new();
    let mut id = 1;
    for j in 0..16u32 {
        let at = FIRST + j * 7 % zones;
        let blocked = j % 4 == 3;
        let bios: Vec<BioView> = (0..if blocked { 0 } else { 32 })
            .map(|i| bio(id + i, j as u16, at, u64::from(i) + 40, BioStage::ZonePlug))
            .collect();
        id += 32;
        let owner = (j - j % 4) as u16;
        let state = match j % 4 {
            3 => JobState::WaitLock { zone: FIRST + u32::from(owner) * 7 % zones, owner },
            2 => JobState::Quiescing { zone: at },
            _ => JobState::WaitCompletion,
        };
        jobs.push(job(&["job", &j.to_string()].concat(), 32, state, bios));
    }
    for n in 0..zones {
        let z = FIRST + n;
        let offset = u64::from(n * 37 % 256) * 2048;
        d.drive.zones.push(zone(z, ZoneCond::ImpOpen, offset, n));
        let bios: Vec<BioView> = jobs.iter().flat_map(|j| &j.in_flight).filter(|b| b.zone == z).copied().collect();
        if bios.is_empty() {
            continue;
        }
        let one = (!qd1 || n == 0).then(|| request(600 + n, &bios[0], n % 32, 1344));
        if one.is_some() {
            d.tags.busy[(n % 32) as usize] = Some(z);
        }
        d.zone_wplugs.push(plug(z, offset / 2048, bios[1..].to_vec(), one));
        if qd1 && n > 0 {
            d.zone_wplugs_list.push(z);
        }
        d.drive.cache.push(command(700 + n, z, offset, 1344));
        if !qd1 {
            d.drive.waiting.push(command(800 + n, z, offset + 1344, 704));
        }
    }
    if qd1 {
        d.worker = WorkerView { enabled: true, state: WorkerState::Waiting { zone: FIRST, rq: 600 } };
    }
    d.drive.window = 8;
    d.drive.head = HeadView {
        zone: FIRST,
        sector: u64::from(FIRST) * ZONE,
        nr_sectors: 1344,
        rq: 700,
        phase: HeadPhase::Seek,
        from: NOW - 1_000_000,
        until: NOW + 1_000_000,
        from_zone: FIRST + zones / 2,
    };
    let strip = (0..104u32)
        .map(|i| record(Action::Issue, NOW - u64::from(104 - i) * 6_000_000, FIRST + i * 5 % zones, i + 1))
        .collect();
    let trail = (0..12u32)
        .map(|i| record(Action::Seek, NOW - 1_000_000 - u64::from(11 - i) * 9_000_000, FIRST + i * 5 % zones, 1))
        .collect();
    Scene { snap: Snapshot { jobs, devices: vec![d], ..base() }, strip, trail, order: None }
}

/// Packed writeback: no depth, bytes in flight, three zones.
pub fn writeback() -> Scene {
    let mut scene = sequential(false, HeadPhase::Transfer);
    let mut bios = Vec::new();
    for z in 0..3u32 {
        for i in 0..50u32 {
            bios.push(bio(2000 + z * 50 + i, 0, FIRST + 3 + z, u64::from(i) * 3, BioStage::ZonePlug));
        }
    }
    bios.iter_mut().for_each(|b| b.nr_sectors = 3840);
    scene.snap.jobs = vec![job("flush", 0, JobState::WaitCompletion, bios)];
    scene
}

/// As large and as wrong as a snapshot can be: many jobs and tags, times out of order, zones without a view.
pub fn extreme() -> Scene {
    let mut scene = random(128, true);
    let job = scene.snap.jobs[0].clone();
    scene.snap.jobs = (0..64).map(|_| JobView { iodepth: 256, ..job.clone() }).collect();
    let device = &mut scene.snap.devices[0];
    device.tags = TagsView {
        depth: 8_192,
        busy: vec![Some(FIRST); 8_192],
        bits_per_word: 64,
        waiters: 4_000,
        ..TagsView::default()
    };
    device.dispatch = device.zone_wplugs.iter().filter_map(|p| p.in_flight).cycle().take(500).collect();
    let drive = &mut device.drive;
    drive.waiting = drive.cache.iter().copied().cycle().take(500).collect();
    drive.interface = Some((drive.cache[0], NOW + 9, NOW - 9));
    drive.cache = drive.waiting.clone();
    drive.head.from = NOW + 5_000_000;
    drive.head.until = NOW - 5_000_000;
    drive.zones.truncate(40);
    drive.zones.iter_mut().for_each(|z| z.media_offset = 2 * ZONE);
    (drive.rev_ns, drive.window) = (0, u32::MAX);
    scene.trail.iter_mut().for_each(|r| (r.arg, r.time) = (u64::MAX / 4, r.time + 9_000_000_000));
    scene
}

/// Zones after a device error: one plug needs a new write pointer, one is dead.
pub fn errors() -> Scene {
    let mut scene = sequential(false, HeadPhase::Idle);
    let device = &mut scene.snap.devices[0];
    device.zone_wplugs[0].need_wp_update = true;
    device.zone_wplugs[1].dead = true;
    device.tags.waiters = 3;
    device.drive.head.rq = 0;
    scene.snap.stats.nr_errors = 32;
    scene
}

/// A request of a job's bio: pieces of 128 KiB of 1 MiB bios, each job in a region of its own.
fn piece(id: u32, job: u16, n: u64, op: Op) -> RequestView {
    let sector = u64::from(job) * 40_000_000 + n * 256;
    let of = BioView { job, op, sector, ..bio(1 + id / 8, job, 0, 0, BioStage::Elevator) };
    RequestView { nr_sectors: 256, tag: None, d_time: None, ..request(id, &of, id % 64, 256) }
}

/// Tags of so many jobs, each holding `run` in a row; every `hole`-th bit is free or cleared.
fn tag_map(depth: u32, bits_per_word: u32, jobs: u16, run: u32, hole: u32) -> TagsView {
    let taken = |t: u32| hole == 0 || t % hole != hole - 1;
    let job = |t: u32| (t / run * 7 % u32::from(jobs.max(1))) as u16;
    TagsView {
        depth,
        busy: (0..depth).map(|t| taken(t).then_some(0)).collect(),
        bits_per_word,
        jobs: (0..depth).map(|t| if taken(t) { job(t) } else { u16::MAX }).collect(),
        cleared: (0..depth).map(|t| !taken(t) && !(t / hole.max(1)).is_multiple_of(3)).collect(),
        hints: vec![37 % depth, 3, 17 % depth],
        min_shallow_depth: u32::MAX,
        shallow: u32::MAX,
        ..TagsView::default()
    }
}

/// Jobs that write pieces to a disk without zones through mq-deadline: with wake-ups of eight their pieces meet again,
/// with wake-ups of one they do not.
pub fn deadline(jobs: u16, wake_batch: u32) -> Scene {
    let mut d = device();
    d.drive.zoned = false;
    let run = wake_batch.max(1);
    let shallow = if wake_batch == 1 { 32 } else { u32::MAX };
    let mut ws: [Vec<u16>; 8] = Default::default();
    (0..jobs).for_each(|j| ws[usize::from(j * 3 % 8)].push(j));
    let woken = (0..16u32).map(|n| WokenView {
        task: (n * 5 % u32::from(jobs)) as u16,
        ws: (n % 8) as u8,
        at: NOW - u64::from(16 - n / run) * 400_000,
        got: if n / run == 15 / run { None } else { Some(n % 3 != 2) },
    });
    let sched = tag_map(64, 16, jobs, run, 11);
    let shallow_words = if shallow == 32 { vec![8; 4] } else { Vec::new() };
    d.sched_tags = Some(TagsView {
        waiters: u32::from(jobs),
        wake_batch,
        wake_index: 3,
        counts: (8_000 + u64::from(wake_batch / 2), 8_000),
        ws,
        woken: woken.collect(),
        shallow,
        shallow_words,
        ..sched
    });
    d.tags = TagsView { round_robin: true, hints: vec![21], ..tag_map(32, 8, jobs, run, 0) };
    let mut all: Vec<RequestView> = Vec::new();
    for n in 0..26u32 {
        let job = (n / run * 5 % u32::from(jobs)) as u16;
        let op = if n % 13 == 12 { Op::Read } else { Op::Write };
        all.push(piece(2_000 + n, job, u64::from(n % run) + u64::from(n / 40), op));
    }
    all.sort_by_key(|r| (r.sector, r.id));
    let mut view = DeadlineView { batching: 7, starved: 0, last_dir: 1, ..DeadlineView::default() };
    let be = &mut view.classes[1];
    for dir in 0..2 {
        be.sort[dir] = all.iter().copied().filter(|r| (r.op == Op::Write) == (dir == 1)).collect();
        let mut ids: Vec<u32> = be.sort[dir].iter().map(|r| r.id).collect();
        ids.sort_unstable();
        let due = |n: usize| NOW + n as u64 * 90_000_000 + 310_000_000 - dir as u64 * 200_000_000;
        be.fifo[dir] = ids.iter().enumerate().map(|(n, id)| (*id, due(n))).collect();
        be.latest_pos[dir] = 170_000_000;
    }
    be.counts = [900, 0, 840, 810];
    d.elevator = ElevatorView::MqDeadline(view);
    d.dispatch = all[..2].to_vec();
    d.drive.window = 24;
    let names = (0..jobs).map(|j| ["job", &j.to_string()].concat());
    let tasks = names.clone().map(|name| TaskView { name, ..TaskView::default() }).collect();
    let jobs_view = names.map(|name| job(&name, 1024, JobState::WaitTag, Vec::new())).collect();
    // Sweeps over the sectors: whole bios, or a piece of each in turn.
    let strip = (0..160u32).map(|n| {
        let (at, part) = (u64::from(n / run * 3 % u32::from(jobs)), u64::from(n % run));
        let sector = at * 40_000_000 + part * 256 + u64::from(n / 24) * 4_096;
        TraceRecord {
            sector,
            nr_sectors: 256,
            job: at as u16,
            ..record(Action::Issue, NOW - u64::from(160 - n) * 800_000, 0, 1 + n)
        }
    });
    Scene {
        snap: Snapshot { jobs: jobs_view, tasks, devices: vec![d], ..base() },
        strip: strip.collect(),
        ..Scene::default()
    }
}

/// The same with requests of all classes, some late.
pub fn classes() -> Scene {
    let mut scene = deadline(8, 4);
    if let ElevatorView::MqDeadline(d) = &mut scene.snap.devices[0].elevator {
        let be = d.classes[1].clone();
        d.classes = [be.clone(), be.clone(), be];
        d.classes[2].fifo[1].iter_mut().for_each(|f| f.1 -= 400_000_000);
        d.dispatch = d.classes[0].sort[1][..3].to_vec();
    }
    scene
}

/// kyber on a device without a head: reads over their target.
pub fn kyber() -> Scene {
    let mut scene = deadline(12, 8);
    let d = &mut scene.snap.devices[0];
    (d.drive.rev_ns, d.tags) = (0, tag_map(256, 64, 12, 3, 9));
    d.sched_tags = d.sched_tags.take().map(|t| TagsView { wake_batch: 8, ..t });
    let domain = |n: u32, depth, max_depth, in_use, queued: u32, target_ns, buckets| KyberDomainView {
        depth,
        max_depth,
        in_use,
        queued: (0..queued).map(|i| piece(3_000 + n * 100 + i, (i % 12) as u16, u64::from(i), Op::Read)).collect(),
        waiting: in_use == depth,
        target_ns,
        buckets,
        last: if n < 2 { Some((5 - n as u8 * 4, n == 0)) } else { None },
    };
    let (read, write) = ([2, 9, 30, 60, 41, 20, 9, 14], [0, 4, 80, 30, 3, 0, 0, 0]);
    let ms = 1_000_000;
    let domains = [
        domain(0, 192, 256, 88, 4, 2 * ms, [read, write]),
        domain(1, 24, 128, 24, 60, 10 * ms, [write, write]),
        domain(2, 64, 64, 0, 0, 5_000 * ms, [[0; 8]; 2]),
        domain(3, 16, 16, 1, 0, 10_000 * ms, [[0; 8]; 2]),
    ];
    d.elevator = ElevatorView::Kyber(KyberView { domains, cur_domain: 0, batching: 5 });
    d.dispatch.clear();
    scene
}

/// bfq with so many queues, the first in service and waited for.
pub fn bfq(queues: u16) -> Scene {
    let mut scene = deadline(queues.max(1), 8);
    let d = &mut scene.snap.devices[0];
    let unit = 1u64 << 22;
    let queue = |n: u16| BfqQueueView {
        job: if n == 5 { u16::MAX } else { n },
        sync: n != 5,
        weight: if n == 2 { 3_000 } else { 100 - u32::from(n % 4) * 10 },
        wr_coeff: if n == 2 { 30 } else { 1 },
        budget: 16_384 >> (n % 3),
        service: if n == 0 { 6_144 } else { u32::from(n) * 200 },
        start: 1_000 * unit + u64::from(n) * 37 * unit,
        finish: 1_000 * unit + u64::from(n) * 55 * unit + 90 * unit,
        eligible: n < 4,
        queued: (0..u32::from(n % 5) * 4).map(|i| piece(4_000 + i, n, u64::from(i) * 2, Op::Read)).collect(),
        dispatched: u32::from(n == 0),
        ..BfqQueueView::default()
    };
    d.elevator = ElevatorView::Bfq(BfqView {
        queues: (0..queues).map(queue).collect(),
        in_service: (queues > 0).then_some(0),
        vtime: 1_120 * unit,
        peak_rate: 390_000,
        max_budget: 16_384,
        idle_until: (queues % 2 == 1).then_some(NOW + 3_100_000),
    });
    scene
}

/// No scheduler: tags of the driver alone, more of them than can be drawn.
pub fn none(depth: u32) -> Scene {
    let mut scene = deadline(4, 8);
    let d = &mut scene.snap.devices[0];
    let sched = d.sched_tags.take().unwrap_or_default();
    let (ws, woken) = (sched.ws, sched.woken);
    d.tags = TagsView { ws, woken, waiters: 4, wake_batch: 8, ..tag_map(depth, 64.min(depth), 4, 8, 5) };
    d.elevator = ElevatorView::None { queued: (0..30).map(|n| piece(5_000 + n, 1, u64::from(n), Op::Read)).collect() };
    d.dispatch.clear();
    d.drive.rev_ns = 0;
    scene
}

/// A queue without anything, of a device without zones.
pub fn empty_queue() -> Scene {
    let mut scene = idle();
    scene.snap.devices[0].drive.zoned = false;
    scene
}

/// A queue as large and as wrong as it can be.
pub fn extreme_queue() -> Scene {
    let mut scene = classes();
    scene.snap.jobs.truncate(1);
    let d = &mut scene.snap.devices[0];
    d.tags = tag_map(8_192, 0, 3, 1, 2);
    if let Some(t) = &mut d.sched_tags {
        (t.depth, t.bits_per_word, t.wake_index) = (2_048, 64, 900);
        t.ws.iter_mut().for_each(|w| w.resize(500, u16::MAX));
        (t.counts, t.wake_batch, t.hints) = ((0, 9_000), 0, vec![u32::MAX; 300]);
        t.shallow_words = vec![999; 3];
        t.shallow = 1;
        t.cleared.truncate(3);
    }
    d.dispatch = d.dispatch.iter().copied().cycle().take(3_000).collect();
    if let ElevatorView::MqDeadline(view) = &mut d.elevator {
        for c in &mut view.classes {
            for dir in 0..2 {
                c.sort[dir] = c.sort[dir].iter().copied().cycle().take(800).collect();
                c.fifo[dir] = vec![(7, 0); 800];
                c.latest_pos[dir] = u64::MAX;
            }
        }
        view.last_dir = 9;
        view.dispatch = d.dispatch.clone();
    }
    scene.strip.iter_mut().for_each(|r| r.sector = u64::MAX / 2);
    scene
}

/// Sectors of a zone of the made-up null_blk: 1 MiB.
pub const SMALL_ZONE: u64 = 2_048;

/// A command of 4 KiB inside null_blk, with its timer of 100 us.
pub fn timer(n: u32, zone: ZoneNo, from: u64) -> TimerView {
    let sector = u64::from(zone) * SMALL_ZONE + u64::from(n % 256) * 8;
    let cmd = CommandView { rq: 10_000 + n, bio: 10_000 + n, op: Op::Write, sector, nr_sectors: 8, zone };
    TimerView { cmd, tag: n % 64, from, until: from + 100_000, retries: 0 }
}

/// So many zones with every condition there is, the first `conv` of them conventional.
pub fn zoned(nr_zones: u32, conv: u32) -> ZonedView {
    let conds = [
        ZoneCond::ImpOpen,
        ZoneCond::Full,
        ZoneCond::Closed,
        ZoneCond::ExpOpen,
        ZoneCond::ReadOnly,
        ZoneCond::Offline,
        ZoneCond::ImpOpen,
        ZoneCond::Full,
    ];
    let used = conds.iter().zip(0..).map(|(cond, n)| {
        let wp = if *cond == ZoneCond::Full { SMALL_ZONE } else { 200 + u64::from(n) * 190 };
        ZoneView { wp_offset: wp, ..zone(conv + n, *cond, wp, n) }
    });
    ZonedView {
        zones: used.filter(|z| z.zone < nr_zones).collect(),
        nr_zones,
        nr_conv: conv,
        zone_sectors: SMALL_ZONE,
        capacity: SMALL_ZONE,
        nr_open: 3,
        max_open: 4,
        nr_active: 4,
        max_active: 6,
        implicit_closes: 17,
        ..ZonedView::default()
    }
}

/// null_blk with zones and timers of 100 us: with locks one write of a zone at a time, else up to the depth of the queue;
/// pipelined, some had to be tried again.
pub fn null_blk(ordering: ZoneOrdering, nr_zones: u32) -> Scene {
    let alone = ordering == ZoneOrdering::ZoneLock;
    let zones = nr_zones.min(4);
    let mut d = DeviceView { name: "nullb0".into(), drive: DriveView::default(), ..device() };
    d.tags = TagsView { depth: 64, busy: vec![None; 64], bits_per_word: 16, ..TagsView::default() };
    let of = |n: u32| n % zones;
    let (flying, gap, done) = if alone { (zones, 188_000 / u64::from(zones), 24) } else { (44, 2_100, 60) };
    let mut null = NullBlkView::default();
    for n in 0..done + flying {
        let back = u64::from(done + flying - 1 - n) * gap;
        let mut t = timer(n, of(n), NOW - back.min(NOW) - 1_000);
        if ordering == ZoneOrdering::Pipelined && n % 7 == 3 {
            (t.retries, null.retries) = (1 + (n % 3) as u16, null.retries + 1);
        }
        if t.until > NOW { null.commands.push(t) } else { null.recent.push(t) }
    }
    for t in &null.commands {
        d.tags.busy[t.tag as usize] = Some(t.cmd.zone);
    }
    let mut zoned = ZonedView { ordering, ..zoned(nr_zones, 0) };
    let mut id = 39_999;
    let mut waiting = |zone: ZoneNo, n: u32| -> Vec<RequestView> {
        (0..n)
            .map(|i| {
                id += 1;
                let sector = u64::from(zone) * SMALL_ZONE + u64::from(100 + i) * 8;
                let of = BioView { sector, nr_sectors: 8, zone, ..bio(id, 0, zone, 0, BioStage::Elevator) };
                RequestView { tag: None, d_time: None, ..request(id, &of, 0, 8) }
            })
            .collect()
    };
    match ordering {
        ZoneOrdering::ZoneLock => {
            zoned.locked = null.commands.iter().map(|t| (t.cmd.zone, t.cmd.rq)).collect();
            let mut view = DeadlineView::default();
            view.classes[1].sort[1] = (0..zones).flat_map(|z| waiting(z, 60 / zones)).collect();
            d.elevator = ElevatorView::MqDeadline(view);
        }
        ZoneOrdering::Pipelined => d.dispatch = waiting(0, 5),
        _ => (d.sched_tags, d.elevator) = (None, ElevatorView::default()),
    }
    if ordering == ZoneOrdering::Zwplug {
        let plugs = (0..zones).map(|z| {
            let first = BioView { nr_sectors: 8, ..bio(30_000 + z, 0, z, 0, BioStage::Drive) };
            let bios = (0..12).map(|n| BioView {
                nr_sectors: 8,
                zone: z,
                ..bio(31_000 + z * 16 + n, 0, z, 0, BioStage::ZonePlug)
            });
            plug(z, 0, bios.collect(), Some(request(10_000 + z, &first, z, 8)))
        });
        d.zone_wplugs = plugs.collect();
    }
    d.stats.ios = [0, NOW / gap];
    (d.zoned, d.null_blk) = (Some(zoned), Some(null));
    let bios = (0..64u32).map(|n| BioView { nr_sectors: 8, ..bio(40_000 + n, 0, of(n), 0, BioStage::Drive) });
    let jobs = vec![job("job0", 64, JobState::WaitCompletion, bios.collect())];
    let strip = (0..104u32).map(|n| TraceRecord {
        sector: u64::from(of(n)) * SMALL_ZONE,
        nr_sectors: 8,
        ..record(Action::Issue, NOW - u64::from(104 - n) * gap, 0, n + 1)
    });
    Scene { snap: Snapshot { jobs, devices: vec![d], ..base() }, strip: strip.collect(), ..Scene::default() }
}

/// Flash: so many channels of so many dies, with zones or without.
pub fn flash(channels: u32, dies: u32, zones: bool) -> Scene {
    let mut scene = null_blk(ZoneOrdering::None, 64);
    let d = &mut scene.snap.devices[0];
    d.null_blk = None;
    if !zones {
        d.zoned = None;
    }
    let busy = |n: u32, op: Op, length: u64| {
        let from = NOW - u64::from(n * 37 % 100) * length / 100;
        let cmd = CommandView { op, ..timer(n, n % 4, from).cmd };
        Some((cmd, from, from + length))
    };
    let of_die = |n: u32| FlashDieView {
        busy: match n % 7 {
            0 => None,
            5 => busy(n, Op::Read, 65_000),
            6 => busy(n, Op::ZoneReset, 3_000_000),
            _ => busy(n, Op::Write, 500_000),
        },
        waiting: n * 5 % 4 * (n % 2),
    };
    let of_channel = |c: u32| FlashChannelView {
        bus: if c % 3 == 2 { None } else { busy(c * 11, Op::Write, 15_000) },
        waiting: c % 3,
        dies: (0..dies).map(|d| of_die(c * dies + d)).collect(),
    };
    d.flash = Some(FlashView { channels: (0..channels).map(of_channel).collect(), cached_pages: 37, cache_pages: 64 });
    scene
}

/// Policies of a disk without zones: wbt with reads over its target, or all of them at once.
pub fn policies(all: bool) -> Scene {
    let mut scene = deadline(6, 8);
    let d = &mut scene.snap.devices[0];
    let wbt = WbtView {
        target_ns: 75_000_000,
        window_ns: 57_735_026,
        window_ends: Some(NOW + 21_000_000),
        scale_step: 2,
        limits: [4, 2, 1],
        in_flight: [1, 2, 0],
        waiting: [23, 4, 0],
        last: Some((WbtVerdict::Exceeded, 93_400_000)),
    };
    let latency = |job: u16| IoLatencyView {
        job,
        target_ns: if job == 5 { 0 } else { 10_000_000 * (1 + u64::from(job)) },
        mean_ns: 14_300_000,
        depth: if job == 0 { u32::MAX } else { 64 >> job },
        in_flight: 3,
        waiting: u32::from(job) * 3,
    };
    let cost = IoCostView {
        vrate: 8_743,
        period_ns: 50_000_000,
        groups: (0..6)
            .map(|j| (j, 100 * (j + 1), 48 * (u32::from(j) + 1), u32::from(j % 3), u64::from(j) * 730))
            .collect(),
    };
    d.qos = QosView {
        enabled: true,
        issue_time: all,
        wbt: Some(wbt),
        iolatency: if all { (0..6).map(latency).collect() } else { Vec::new() },
        iocost: all.then_some(cost),
        counters: QosCounters { hooks: 123_456, gated: 1_234, chain_loads: 122_222, clock_reads: 20_576, bios: 20_576 },
    };
    scene
}

/// Zoned writes at a zone boundary while a live setting waits for what is in flight; others were written before.
pub fn frozen() -> Scene {
    let mut scene = sequential(false, HeadPhase::Transfer);
    let bios = scene.snap.jobs[0].in_flight.clone();
    let stage = |n: usize| [BioStage::ZonePlug, BioStage::ZonePlug, BioStage::Drive, BioStage::Elevator][n % 4];
    let held = bios.iter().enumerate().take(58).map(|(n, b)| BioView { stage: stage(n), ..*b });
    let d = &mut scene.snap.devices[0];
    d.frozen = true;
    d.freeze = Some(FreezeView {
        since: NOW - 31_400_000,
        setting: Setting::ZonedQd1Writes(true),
        depth: 1,
        usage: 58,
        quiesced: false,
        holding: held.collect(),
        waiting: bios[58..].to_vec(),
    });
    d.changes = changes();
    scene.snap.jobs[0].state = JobState::WaitFreeze;
    scene
}

/// After several writes, one of them refused.
pub fn written() -> Scene {
    let mut scene = sequential(true, HeadPhase::Transfer);
    scene.snap.devices[0].changes = changes();
    scene
}

fn changes() -> Vec<ChangeView> {
    let change = |ms: u64, took: u64, setting, error| ChangeView {
        at: ms * 1_000_000,
        done: ms * 1_000_000 + took,
        setting,
        error,
        drained: if error.is_some() { 0 } else { 62 },
        waited: if error.is_some() { 0 } else { 3 },
    };
    vec![
        change(500, 12_300_000, Setting::NrRequests(32), None),
        change(1_200, 0, Setting::AsyncDepth(0), Some("EINVAL")),
        change(2_000, 34_600_000, Setting::Scheduler(ElevatorKind::Bfq), None),
        change(2_750, 0, Setting::Nomerges(2), None),
    ]
}

/// Everything that can be written or be a policy at once, too much of it, on every device.
pub fn extreme_board() -> Scene {
    let mut scene = null_blk(ZoneOrdering::ZoneLock, 4);
    let (frozen, policies, flash) = (frozen(), policies(true), flash(64, 16, true));
    let d = &mut scene.snap.devices[0];
    let of = &frozen.snap.devices[0];
    (d.freeze, d.changes) = (of.freeze.clone(), of.changes.iter().cycle().take(32).cloned().collect());
    d.qos = policies.snap.devices[0].qos.clone();
    if let Some(w) = &mut d.qos.wbt {
        (w.scale_step, w.limits, w.in_flight, w.waiting) = (-9, [0; 3], [4_000; 3], [100_000; 3]);
    }
    d.qos.iolatency = d.qos.iolatency.iter().cycle().take(40).cloned().collect();
    d.flash = flash.snap.devices[0].flash.clone();
    if let Some(n) = &mut d.null_blk {
        n.commands = (0..2_000).map(|i| TimerView { until: NOW + 9_000_000_000, ..timer(i, 9, NOW) }).collect();
        (n.retries, n.budget) = (u64::MAX, Some(u64::MAX / 1024));
        n.recent.iter_mut().for_each(|t| (t.from, t.until) = (t.until, t.from));
    }
    if let Some(z) = &mut d.zoned {
        (z.nr_zones, z.nr_conv, z.nr_open, z.max_open, z.max_active) = (111_760, 1_118, 900, 1, 2);
        z.zones = (0..2_000).map(|n| zone(n, ZoneCond::ImpOpen, u64::MAX / 4_096, n)).collect();
        z.locked = (0..500).map(|n| (n, n)).collect();
        z.capacity = 0;
    }
    d.tags = TagsView { depth: 8_192, ..TagsView::default() };
    d.drive = DriveView::default();
    scene
}

/// Sectors of a chunk of the made-up arrays: 64 KiB.
pub const CHUNK: Sector = 128;

/// `sda`, …, `sdz`, `sdaa`, …
fn disk_name(n: usize) -> String {
    let letter = |n: usize| char::from(b'a' + n as u8).to_string();
    if n < 26 { ["sd", &letter(n)].concat() } else { ["sd", &letter(n / 26 - 1), &letter(n % 26)].concat() }
}

/// dd at an array, as a run can be made of it.
pub fn array(level: MdLevel, disks: u16, insert: SplitInsert, rw: Rw) -> SimConfig {
    let queue = QueueConfig {
        elevator: ElevatorKind::None,
        nr_requests: 32,
        async_depth: 32,
        queue_depth: 32,
        tag_alloc: TagAlloc::Hint,
        max_sectors: 8192,
        max_segments: 168,
        block_bytes: 4096,
        nomerges: 0,
        zoned_qd1_writes: false,
        mq_deadline: MqDeadlineConfig::default(),
        ..QueueConfig::default()
    };
    let capped = CappedConfig { capacity: 1 << 31, iops: 0, rate: 200_000_000, latency_ns: 100_000, channels: 1 };
    let disk = |n: u16| DeviceConfig {
        name: disk_name(usize::from(n)),
        dev: (8, n * 16),
        queue: Some(queue),
        kind: DeviceKind::Capped(capped),
        throttle: None,
    };
    let md = MdConfig {
        level,
        members: (0..disks).collect(),
        chunk_sectors: CHUNK as u32,
        layout: 2,
        data_offset: 0,
        stripe_cache_size: 256,
        rmw_level: 1,
        preread_bypass_threshold: 1,
        sync: None,
    };
    let mut devices: Vec<DeviceConfig> = (0..disks).map(disk).collect();
    let (kind, throttle) = (DeviceKind::Md(md), None);
    devices.push(DeviceConfig { name: "md0".into(), dev: (9, 0), queue: None, kind, throttle });
    let dd = LinearConfig {
        tool: Tool::Dd,
        rw,
        bs: 8960,
        bios: vec![6272, 2688],
        iodepth: 1,
        batch: 1,
        first: 0,
        sectors: 1 << 30,
        io_bytes: Some(2 * 8960 * 512),
        buffered: false,
        nowait: false,
        fio: Default::default(),
    };
    let workload = WorkloadConfig::Linear(dd);
    SimConfig {
        seed: 1,
        stop: Stop::default(),
        ramp: Ramp::default(),
        kernel: KernelConfig { split_insert: insert, raid5_stripe_limit: false, ..KernelConfig::default() },
        host: HostCosts { step_ns: 2_000, ..HostCosts::default() },
        devices,
        jobs: vec![JobConfig {
            name: "dd".into(),
            dev: disks,
            workload,
            prio: Default::default(),
            bio_segment_bytes: 2 << 20,
            start_ns: 0,
            cgroup: Default::default(),
        }],
        changes: Vec::new(),
        faults: Vec::new(),
        wake_faults: Vec::new(),
    }
}

/// A snapshot of an array's run, to which records are added.
fn stacked(cfg: SimConfig) -> Scene {
    let devices = cfg.devices.iter().map(|d| DeviceView { name: d.name.clone(), ..device() }).collect();
    let jobs = cfg.jobs.iter().map(|j| job(&j.name, 1, JobState::Running, Vec::new())).collect();
    let snap = Snapshot { jobs, devices, ..base() };
    let (records, gaps) = (Vec::new(), [0; GAPS]);
    let top = (cfg.devices.len() - 1) as DevIdx;
    let cfg = Arc::new(cfg);
    Scene {
        snap,
        order: Some(OrderFrame { cfg, top, io: 1, records, happened: 0, step: (0, 0), gaps }),
        ..Scene::default()
    }
}

fn step_record(
    (time, dev): (u64, DevIdx),
    action: Action,
    op: Op,
    sector: Sector,
    n: u32,
    rq: u32,
    origin: Sector,
) -> TraceRecord {
    TraceRecord {
        time,
        dev,
        action,
        op,
        flags: 0,
        sector,
        nr_sectors: n,
        bio: 1 + (sector / 8) as u32,
        rq,
        arg: 0,
        job: 0,
        origin,
    }
}

/// Chunk of a left-symmetric raid5: member and row.
fn left_symmetric(disks: u64, chunk: u64) -> (u64, u64) {
    let (row, d) = (chunk / (disks - 1), chunk % (disks - 1));
    ((disks - 1 - row % disks + 1 + d) % disks, row)
}

/// dd reads 4480 KiB from a raid5 of so many disks, cut at 1 MiB and at chunks; shown after so many steps.
pub fn raid5(disks: u16, insert: SplitInsert, steps: u32) -> Scene {
    const MD: u64 = u64::MAX;
    let mut scene = stacked(array(MdLevel::Raid5, disks, insert, Rw::Read));
    let Some(mut order) = scene.order.take() else { return scene };
    let head = insert == SplitInsert::Head;
    let start = NOW - u64::from(steps) * 2_000;
    let view = |member: u64, sector: u64, origin: u64, n: u64| BioView {
        dev: if member == MD { disks } else { member as u16 },
        sector,
        nr_sectors: n as u32,
        origin,
        op: Op::Read,
        ..bio(1 + (origin / 8) as u32, 0, 0, 0, BioStage::Tag)
    };
    // Member (MD: the array), sector there, origin, length.
    let mut list: Vec<(u64, u64, u64, u64)> = vec![(MD, 0, 0, 8960)];
    let mut plug: Vec<RequestView> = Vec::new();
    let (mut time, mut step, mut rq) = (start, 0, 0);
    order.records.push(step_record((time, disks), Action::Queue, Op::Read, 0, 8960, 0, 0));
    let mut task = TaskView { name: "dd".into(), ..TaskView::default() };
    let flush = |plug: &mut Vec<RequestView>, records: &mut Vec<TraceRecord>, time: u64| {
        for r in plug.drain(..) {
            records.push(step_record((time, r.dev), Action::Issue, Op::Read, r.sector, r.nr_sectors, r.id, r.origin));
        }
    };
    while !list.is_empty() {
        let (member, sector, at, n) = list.remove(0);
        let backlog = std::mem::take(&mut list);
        let (mut lower, mut same): (Vec<_>, Vec<(u64, u64, u64, u64)>) = (Vec::new(), Vec::new());
        let records = &mut order.records;
        if member == MD {
            let mut front = n;
            for limit in [2048, CHUNK] {
                let cut = limit - at % limit;
                if cut < front {
                    records.push(step_record((time, disks), Action::Split, Op::Read, at, front as u32, 0, at));
                    let rest = (MD, at + cut, at + cut, front - cut);
                    if head {
                        same.insert(0, rest)
                    } else {
                        same.push(rest)
                    }
                    front = cut;
                }
            }
            let (m, row) = left_symmetric(u64::from(disks), at / CHUNK);
            records.push(step_record(
                (time, m as u16),
                Action::Remap,
                Op::Read,
                row * CHUNK + at % CHUNK,
                front as u32,
                0,
                at,
            ));
            lower.push((m, row * CHUNK + at % CHUNK, at, front));
        } else {
            let joined = plug.iter_mut().rev().find(|r| u64::from(r.dev) == member);
            match joined.filter(|r| r.sector + u64::from(r.nr_sectors) == sector) {
                Some(r) => {
                    r.nr_sectors += n as u32;
                    records.push(step_record((time, r.dev), Action::BackMerge, Op::Read, sector, n as u32, r.id, at));
                }
                None => {
                    if plug.len() >= 32 || plug.first().is_some_and(|r| r.nr_sectors >= 256) {
                        flush(&mut plug, records, time);
                    }
                    rq += 1;
                    let b = view(member, sector, at, n);
                    let own = RequestView { dev: b.dev, tag: None, d_time: None, ..request(rq, &b, 0, n as u32) };
                    plug.push(own);
                    records.push(step_record((time, own.dev), Action::GetRq, Op::Read, sector, n as u32, rq, at));
                }
            }
        }
        step += 1;
        list.extend(lower.iter().chain(&same).chain(&backlog));
        let views = |of: &[(u64, u64, u64, u64)]| of.iter().map(|b| view(b.0, b.1, b.2, b.3)).collect::<Vec<_>>();
        if step == steps {
            task.step = step;
            task.current = Some(view(member, sector, at, n));
            task.pushed = views(&[lower, same].concat());
            task.backlog = views(&backlog);
            task.plug = Some(PlugView { requests: plug.clone(), multiple_queues: true, limit: 64, stripes: 0 });
            order.happened = order.records.len();
        }
        time += 2_000;
    }
    flush(&mut plug, &mut order.records, time);
    if steps >= step {
        order.happened = order.records.len();
    }
    let mut gaps = Gaps::default();
    order.records.iter().for_each(|r| gaps.record(r));
    order.gaps = sum(&gaps, usize::from(disks));
    order.step = (steps.min(step), step);
    scene.snap.tasks = vec![task];
    scene.strip = order.records.clone();
    scene.order = Some(order);
    scene
}

/// dd writes one chunk of a raid5 of 8: reads of data and parity are done, the writes are under way.
pub fn rmw() -> Scene {
    let mut scene = stacked(array(MdLevel::Raid5, 8, SplitInsert::Head, Rw::Write));
    let Some(mut order) = scene.order.take() else { return scene };
    let (time, chunk) = (NOW - 9_000_000, CHUNK as u32);
    let r = |time, dev, action, op, rq, origin| step_record((time, dev), action, op, 0, chunk, rq, origin);
    let mut records = vec![r(time, 8, Action::Queue, Op::Write, 0, 0)];
    for (n, (op, from)) in [(Op::Read, time), (Op::Write, time + 8_000_000)].into_iter().enumerate() {
        for (dev, origin) in [(7, NO_ORIGIN), (0, 0)] {
            let rq = 1 + n as u32 * 2 + u32::from(dev == 0);
            records.push(r(from, dev, Action::Remap, op, 0, origin));
            records.push(r(from + 2_000, dev, Action::GetRq, op, rq, origin));
            records.push(r(from + 4_000, dev, Action::Issue, op, rq, origin));
            if n == 0 {
                records.push(r(from + 7_000_000, dev, Action::Complete, op, rq, origin));
            }
        }
    }
    order.happened = records.len();
    scene.strip = records.clone();
    order.records = records;
    let stripes = (0..16u64).map(|n| {
        let mut flags = vec![0; 8];
        flags[0] = sflag::UPTODATE | sflag::OVERWRITE | sflag::WRITING;
        flags[7] = sflag::UPTODATE | sflag::PARITY | sflag::WRITING;
        StripeView { sector: n * 8, flags, delayed: false, batched: false }
    });
    let stripes = stripes.collect();
    let cache = StripeCacheView { size: 256, active: 16, lists: [0, 3, 0], stripes };
    scene.snap.devices[8].stripe_cache = Some(cache);
    scene.snap.tasks = vec![
        TaskView { name: "dd".into(), ..TaskView::default() },
        TaskView { name: "md0_raid5".into(), ..TaskView::default() },
    ];
    scene.order = Some(order);
    scene
}

/// A check of a raid6 of 36 disks: reads of whole rows that no job asked for.
pub fn check() -> Scene {
    let mut cfg = array(MdLevel::Raid6, 36, SplitInsert::Head, Rw::Read);
    cfg.jobs.clear();
    let mut scene = stacked(cfg);
    let Some(order) = &mut scene.order else { return scene };
    let mut rq = 0;
    for n in 0..24u64 {
        for dev in (0..36u16).rev() {
            rq += 1;
            let time = NOW - 9_000_000 + u64::from(rq) * 2_000;
            let sector = n * 64;
            order.records.push(step_record((time, dev), Action::Remap, Op::Read, sector, 64, 0, NO_ORIGIN));
            order.records.push(step_record((time, dev), Action::GetRq, Op::Read, sector, 64, rq, NO_ORIGIN));
            order.records.push(step_record((time, dev), Action::Issue, Op::Read, sector, 64, rq, NO_ORIGIN));
        }
    }
    order.happened = order.records.len();
    scene.strip = order.records.clone();
    scene
}

/// The same at an array, run: the moment after so many steps of a submission.
pub fn run(cfg: SimConfig, steps: u32) -> Scene {
    let mut session = Session::load(Arc::new(cfg), None);
    while session.presimulate(5_000).is_ok_and(|p| !p.done) {}
    for _ in 0..steps {
        session.submission_step(true);
    }
    let frame = session.frame().a;
    Scene { strip: frame.strip().to_vec(), trail: Vec::new(), snap: frame.snapshot, order: frame.order }
}
