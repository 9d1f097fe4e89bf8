//! Made-up snapshots for tests and previews.
//!
//! Models: what a run of the presets looks like at one moment; the figures are invented.
//! Rule: consistent with itself (tags, plugs, cache and jobs tell the same story), the same on every call.
//! Leaves out: everything a picture does not need.

use bioscope_core::observe::snapshot::{
    BioStage, BioView, CommandView, DeviceView, DriveView, ElevatorView, HeadPhase, HeadView, JobState, JobView,
    RequestView, Snapshot, TagsView, WorkerState, WorkerView, WplugView, ZoneCond, ZoneView,
};
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::units::{Op, ZoneNo};

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
    let tags = TagsView { depth: 32, busy: vec![None; 32], bits_per_word: 8, waiters: 0 };
    let sched = TagsView { depth: 64, busy: vec![None; 64], bits_per_word: 16, waiters: 0 };
    DeviceView {
        name: "sda".into(),
        zone_wplugs: Vec::new(),
        zone_wplugs_list: Vec::new(),
        worker: WorkerView::default(),
        elevator: ElevatorView::MqDeadline { reads: Vec::new(), writes: Vec::new(), batching: 0, starved: 0 },
        sched_tags: Some(sched),
        tags,
        dispatch: Vec::new(),
        frozen: false,
        drive: DriveView { rev_ns: REV, nr_zones: 111_760, zone_sectors: ZONE, max_open: 128, ..DriveView::default() },
        stats: bioscope_core::observe::snapshot::DiskStats::default(),
        window: bioscope_core::observe::snapshot::DiskStats::default(),
        stripe_cache: None,
        throttled: 0,
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
    Scene { snap: Snapshot { jobs, devices: vec![d], ..base() }, strip, trail }
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
    Scene { snap: Snapshot { jobs, devices: vec![d], ..base() }, strip, trail }
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
    device.tags = TagsView { depth: 8_192, busy: vec![Some(FIRST); 8_192], bits_per_word: 64, waiters: 4_000 };
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
