//! The swarm: pipelines drawn from everything there is, and what holds for each of them.
//!
//! Models: nothing.
//! Rule: a seed is a run. Every bio ends once; nobody holds a tag, a lock or a reference at the end; zones are written in
//! order where something orders them; the same again, in slices and from clones, gives the same trace.
//! Leaves out: lost wake-ups, which hang on purpose; whether figures are right.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::check::{Cause, ZoneOrder};
use bioscope_core::observe::snapshot::{ElevatorView, JobState, Snapshot, TagsView};
use bioscope_core::observe::trace::{Action, TraceHash, TraceRecord, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::{BlkStatus, DevIdx, IoClass, IoPrio, Op, Sector};

use crate::common::{Dice, array, capped, config, profile};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// Faults are over then, ns.
const FAULTS_END: u64 = 40 * MS;
/// Events a run may take: most take a hundredth.
const MAX_EVENTS: u64 = 3_000_000;

// ---- drawing ----

/// One in `n`.
fn one_in(d: &mut Dice, n: u64) -> bool {
    d.below(n) == 0
}

/// The run of a seed.
pub fn scenario(seed: u64) -> SimConfig {
    let mut d = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let d = &mut d;
    let mut cfg = SimConfig { seed: d.below(1 << 20), kernel: kernel(d), host: host(d), ..config() };
    let zoned_stack = one_in(d, 12);
    if zoned_stack || one_in(d, 4) {
        stack(d, &mut cfg, zoned_stack);
    } else {
        cfg.devices = vec![device(d, 0, None)];
    }
    for n in 0..cfg.devices.len() {
        settle(d, &mut cfg, n);
    }
    let pipelined = matches!(&cfg.devices[0].kind, DeviceKind::NullBlk(_)) && cfg.devices.len() == 1;
    if cfg.kernel.zone_ordering == ZoneOrdering::Pipelined && !pipelined {
        cfg.kernel.zone_ordering = ZoneOrdering::Zwplug;
    }
    let top = cfg.devices.len() as DevIdx - 1;
    if one_in(d, 6) {
        let limits = ThrottleConfig { wbps: d.pick(&[0, 50 << 20]), riops: d.pick(&[0, 2000]), ..Default::default() };
        cfg.devices[usize::from(top)].throttle = Some(limits);
    }
    cfg.stop.runtime_ns = Some(d.pick(&[2, 6, 20]) * MS);
    if cfg.devices.iter().any(|d| d.disk().is_some()) {
        cfg.stop.runtime_ns = Some(d.pick(&[50, 300]) * MS);
    }
    jobs(d, &mut cfg, top);
    faults(d, &mut cfg);
    changes(d, &mut cfg);
    cfg
}

fn kernel(d: &mut Dice) -> KernelConfig {
    use ZoneOrdering::{None, Pipelined, ZoneLock, Zwplug};
    KernelConfig {
        zone_ordering: d.pick(&[Zwplug, Zwplug, Zwplug, Zwplug, ZoneLock, ZoneLock, Pipelined, None]),
        dead_plug_revive: d.flip(),
        split_insert: d.pick(&[SplitInsert::Head, SplitInsert::Tail]),
        bio_list_model: d.pick(&[BioListModel::TwoList, BioListModel::OneList]),
        plug: PlugConfig {
            order: d.pick(&[PlugOrder::Fifo, PlugOrder::Lifo]),
            merge: d.pick(&[PlugMerge::Newest, PlugMerge::Head]),
            flush_bytes: d.pick(&[65_536, 131_072, 1 << 20]),
            max_rq: d.pick(&[1, 16, 32]),
            multi_factor: d.pick(&[1, 2, 4]),
            per_step: d.flip(),
        },
        raid5_stripe_limit: d.flip(),
        md_chunk_limit: d.flip(),
        raid5_max_hw: d.flip(),
        raid5_spread: d.flip(),
        max_sectors_cap: d.pick(&[2560, 8192]),
        async_depth_owner: d.pick(&[AsyncDepthOwner::Queue, AsyncDepthOwner::Elevator, AsyncDepthOwner::Elevator517]),
        shallow_per_word: d.flip(),
        sbitmap_wake: d.pick(&[SbitmapWake::PerMap, SbitmapWake::PerQueue]),
        zone_lock_streams: d.flip(),
        zwplug_errors: d.pick(&[ZwplugErrors::ErrorAutoRecover, ZwplugErrors::NeedWpUpdate]),
        zwplug_removed: d.pick(&[ZwplugRemoved::Unhashed, ZwplugRemoved::Dead]),
        qos_gate: d.pick(&[QosGate::Pointer, QosGate::StaticKey, QosGate::QueueFlag]),
        issue_time: d.pick(&[IssueTime::Always, IssueTime::IfIolatency]),
        tag_rr_flag: d.flip(),
        no_sched_by_default: d.flip(),
        io_ticks: d.pick(&[IoTicks::InFlight, IoTicks::Start]),
        blk_wbt_mq: d.flip(),
    }
}

fn host(d: &mut Dice) -> HostCosts {
    HostCosts {
        submit_ns: d.pick(&[500, 2_300, 40_000]),
        nr_cpus: d.pick(&[1, 3, 8]),
        step_ns: d.pick(&[0, 0, 1_000]),
        md_wake_ns: d.pick(&[0, 20_000]),
        md_bio_ns: d.pick(&[0, 1_000]),
        wake_spread_ns: d.pick(&[0, 3_000]),
        tag_line_ns: d.pick(&[0, 0, 0, 40]),
        kblockd_ns: d.pick(&[0, 0, 5_000]),
        ipi_ns: d.pick(&[0, 1_000]),
        dispatch_ns: d.pick(&[0, 0, 700]),
        rcu_ns: d.pick(&[0, 10_000]),
        ..HostCosts::default()
    }
}

const ELEVATORS: [ElevatorKind; 4] =
    [ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq];

fn zones(d: &mut Dice) -> ZonesConfig {
    let zone_sectors = d.pick(&[2048, 8192]);
    let shape = ZoneShape {
        zone_sectors,
        capacity: zone_sectors - d.pick(&[0, 0, 520]),
        nr_zones: 128,
        nr_conv: d.pick(&[0, 0, 3]),
        max_open: d.pick(&[0, 0, 2, 8]),
        max_active: 0,
        append_max_sectors: d.pick(&[0, 256]),
    };
    let shape = ZoneShape { max_active: if shape.max_open > 0 { d.pick(&[0, 12]) } else { 0 }, ..shape };
    let mut zone = |few| if one_in(d, few) { vec![shape.nr_conv + d.below(6) as u32] } else { vec![] };
    let (readonly, offline) = (zone(6), zone(6));
    let offline = offline.into_iter().filter(|z| !readonly.contains(z)).collect();
    ZonesConfig { shape, full: one_in(d, 8), readonly, offline }
}

/// The n-th device, of any kind or, below a stack that is not zoned, one without zones.
fn device(d: &mut Dice, n: u16, zoned: Option<bool>) -> DeviceConfig {
    let zoned = zoned.unwrap_or_else(|| d.flip());
    let kind = match d.below(if zoned { 3 } else { 4 }) {
        0 => {
            let mut p = profile();
            p.zoned = zoned;
            if !zoned {
                p.nr_conv_zones = p.nr_zones;
            }
            p.max_open_zones = d.pick(&[0, 3, 128]);
            p.zone_capacity_sectors = if zoned { p.zone_sectors - d.pick(&[0, 4096]) } else { p.zone_sectors };
            DeviceKind::Disk(DriveConfig {
                profile: Arc::new(p),
                zone_phase: d.pick(&[ZonePhase::ByLba, ZonePhase::Random]),
                write_cache: d.flip(),
                write_off_mode: d.pick(&[WriteOffMode::Nonvolatile, WriteOffMode::Media]),
                first_fill: if zoned && d.flip() {
                    FirstFill::Random { first: profile().nr_conv_zones, count: 6, granularity: 2048 }
                } else {
                    FirstFill::Empty
                },
            })
        }
        1 => {
            let zones = zoned.then(|| zones(d));
            DeviceKind::NullBlk(NullBlkConfig {
                capacity: zones.as_ref().map_or(1 << 24, |z| u64::from(z.shape.nr_zones) * z.shape.zone_sectors),
                irqmode: d.pick(&[NullIrq::None, NullIrq::Softirq, NullIrq::Timer]),
                completion_ns: d.pick(&[900, 10_000, 333_000]),
                memory_backed: d.flip(),
                mbps: d.pick(&[0, 0, 200]),
                rotational: d.flip(),
                as_posted: d.flip(),
                zones,
            })
        }
        2 => {
            let zones = zoned.then(|| zones(d));
            DeviceKind::Flash(FlashConfig {
                capacity: zones.as_ref().map_or(1 << 24, |z| u64::from(z.shape.nr_zones) * z.shape.zone_sectors),
                channels: d.pick(&[1, 4]),
                dies: d.pick(&[1, 4]),
                page_bytes: d.pick(&[4096, 16_384]),
                read_ns: 40 * US,
                program_ns: d.pick(&[100 * US, 400 * US]),
                erase_ns: 2 * MS,
                channel_rate: 800 << 20,
                command_ns: 3 * US,
                cache_pages: d.pick(&[0, 64]),
                zones,
            })
        }
        _ => DeviceKind::Capped(CappedConfig {
            capacity: 1 << 28,
            iops: d.pick(&[0, 20_000]),
            rate: d.pick(&[0, 1_000_000_000]),
            latency_ns: d.pick(&[1_000, 53_000, 997_000]),
            channels: d.pick(&[1, 4, 16]),
        }),
    };
    DeviceConfig { kind, ..capped(n, 0) }
}

/// Members, and an array or a target above them.
fn stack(d: &mut Dice, cfg: &mut SimConfig, zoned: bool) {
    let chunk = d.pick(&[8, 64, 128, 1024]);
    let n = if zoned { d.pick(&[1, 2, 3]) } else { d.pick(&[4, 5]) };
    let dm = |target, n: u16| DeviceConfig {
        kind: DeviceKind::Dm(DmConfig { target, members: (0..n).collect() }),
        ..array(MdLevel::Raid0, n, chunk, 1)
    };
    let crypt = DmTarget::Crypt { max_read: 256, max_write: d.pick(&[0, 256]), sector_ns: d.pick(&[0, 20]) };
    let mut top = match (zoned, d.below(7)) {
        (true, _) if n == 1 => dm(crypt, 1),
        (true, 0..4) => array(MdLevel::Raid0, n, chunk, 1),
        (true, _) => dm(DmTarget::Striped { chunk_sectors: chunk }, n),
        (_, 0) => array(MdLevel::Raid0, n, chunk, d.pick(&[1, 2])),
        (_, 1) => array(MdLevel::Raid1, n, chunk, 0),
        (_, 2) => array(MdLevel::Raid10, n, chunk, d.pick(&[2 | 1 << 8, 1 | 2 << 8, 1 | 2 << 8 | 1 << 16])),
        (_, 3) => array(MdLevel::Raid6, n, chunk, d.pick(&[0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 20])),
        (_, 4) => dm(DmTarget::Striped { chunk_sectors: chunk }, n),
        (_, 5) => dm(crypt, 1),
        _ => array(MdLevel::Raid5, n, chunk, d.pick(&[0, 1, 2, 3, 4, 5])),
    };
    if let DeviceKind::Md(m) = &mut top.kind {
        m.stripe_cache_size = d.pick(&[24, 64, 256]);
        m.rmw_level = d.pick(&[0, 1, 2]);
        m.data_offset = if zoned { 0 } else { d.pick(&[0, 2048]) };
    }
    let one = device(d, 0, Some(zoned));
    cfg.devices = (0..n).map(|n| DeviceConfig { name: format!("sd{n}"), dev: (8, n * 16), ..one.clone() }).collect();
    cfg.devices.push(top);
}

/// The queue of a device.
fn settle(d: &mut Dice, cfg: &mut SimConfig, n: usize) {
    let kernel = cfg.kernel;
    let dev = &mut cfg.devices[n];
    let Some(q) = &mut dev.queue else { return };
    *q = QueueConfig::default();
    q.elevator = d.pick(&ELEVATORS);
    q.queue_depth = d.pick(&[1, 2, 8, 32, 256]);
    q.nr_requests = d.pick(&[4, 9, 64, 256]);
    if q.elevator == ElevatorKind::None {
        q.nr_requests = q.nr_requests.min(q.queue_depth);
    }
    q.async_depth = d.pick(&[1, 3, 48, 256]).min(q.nr_requests);
    if kernel.async_depth_owner == AsyncDepthOwner::Elevator517 {
        // Lower than its default it makes tasks hang there.
        q.async_depth = (3 * q.nr_requests / 4).max(1);
    }
    q.nr_hw_queues = d.pick(&[1, 1, 2, 5]);
    q.host_tags = d.flip();
    q.shared_users = d.pick(&[0, 0, 3]);
    q.rq_affinity = d.pick(&[0, 1, 2]);
    q.ncq_prio = d.flip();
    q.nomerges = d.pick(&[0, 0, 1, 2]);
    q.tag_alloc = d.pick(&[TagAlloc::Hint, TagAlloc::RoundRobin]);
    q.max_sectors = d.pick(&[64, 256, 2560]);
    q.max_segments = d.pick(&[16, 168]);
    q.zoned_qd1_writes = one_in(d, 3);
    q.write_back = d.flip();
    q.wbt_lat_ns = d.pick(&[None, None, Some(0), Some(2 * MS)]);
    q.iocost = one_in(d, 8).then(IoCostConfig::default);
    match &dev.kind {
        DeviceKind::NullBlk(c) => q.blocking = c.memory_backed,
        DeviceKind::Disk(_) => {
            (q.nr_hw_queues, q.queue_depth) = (1, q.queue_depth.min(32));
        }
        _ => {}
    }
}

// ---- jobs ----

fn job(cfg: &mut SimConfig, d: &mut Dice, dev: DevIdx, workload: WorkloadConfig) {
    let class = d.pick(&[IoClass::None, IoClass::None, IoClass::None, IoClass::Rt, IoClass::Be, IoClass::Idle]);
    let n = cfg.jobs.len();
    cfg.jobs.push(JobConfig {
        name: format!("job{n}"),
        dev,
        workload,
        prio: IoPrio { class, level: d.below(8) as u8 },
        bio_segment_bytes: d.pick(&[4096, 65_536, 2 << 20]),
        start_ns: d.below(200 * US),
        cgroup: CgroupConfig {
            latency_ns: if one_in(d, 8) { d.pick(&[100 * US, 5 * MS]) } else { 0 },
            weight: d.pick(&[100, 100, 10, 800]),
        },
    });
}

/// Zones of the device jobs submit to, and how many disks share a zone of it.
fn zones_of(cfg: &SimConfig) -> Option<ZoneShape> {
    cfg.devices[0].zones()
}

fn jobs(d: &mut Dice, cfg: &mut SimConfig, top: DevIdx) {
    let stacked = top > 0;
    let shape = zones_of(cfg);
    if let (true, Some(shape)) = (stacked, shape) {
        // One writer, in order, over the first sequential zones of all members.
        let mut sector = u64::from(shape.nr_conv) * shape.zone_sectors * u64::from(top);
        let end = sector + shape.capacity.min(60_000);
        let mut list = Vec::new();
        while list.len() < 40 && sector < end {
            let nr_sectors = (8 * (1 + d.below(200)) as u32).min((end - sector) as u32);
            list.push(bio(list.len() as u64 * d.below(30 * US), Op::Write, sector, nr_sectors));
            sector += u64::from(nr_sectors);
        }
        return job(cfg, d, top, WorkloadConfig::List(list));
    }
    for _ in 0..d.pick(&[1, 2, 4, 12]) {
        let workload = match (shape, d.below(6)) {
            (None, 0) => WorkloadConfig::List(list(d)),
            (None, _) => WorkloadConfig::Linear(linear(d)),
            (Some(z), 0) => WorkloadConfig::List(zone_list(d, z)),
            (Some(_), 1) => WorkloadConfig::Linear(LinearConfig { rw: d.pick(&[Rw::Read, Rw::RandRead]), ..linear(d) }),
            (Some(z), _) => WorkloadConfig::FioZbd(zbd(d, z)),
        };
        job(cfg, d, top, workload);
    }
    let disk = cfg.devices[0].disk().is_some();
    if disk && shape.is_some() && one_in(d, 6) {
        cfg.jobs.clear();
        let w = WritebackConfig {
            file_min: 1 << 20,
            file_max: 20 << 20,
            in_flight_limit: 32 << 20,
            first_zone: profile().nr_conv_zones,
        };
        job(cfg, d, top, WorkloadConfig::Writeback(w));
    }
    if !stacked && one_in(d, 4) {
        let every_ns = d.pick(&[700, 2_300]) * US + 17;
        job(cfg, d, top, WorkloadConfig::PassThrough(PassThroughConfig { every_ns }));
    }
}

fn linear(d: &mut Dice) -> LinearConfig {
    let bs = d.pick(&[8, 64, 896, 4096]);
    let mut fio = FioOptions::default();
    if one_in(d, 3) {
        fio.low = d.pick(&[0, 1]);
        fio.thinktime_ns = d.pick(&[0, 50 * US]);
        fio.rate_iops = [d.pick(&[0, 5_000]); 2];
        fio.norandommap = d.flip();
        fio.cmdprio_percentage = [d.pick(&[0, 30]); 2];
        fio.distribution = match d.below(3) {
            0 => Distribution::Zipf { theta: 1200, center: None },
            1 => Distribution::Normal { deviation: 20, center: Some(500) },
            _ => Distribution::Random,
        };
        if d.flip() && bs == 64 {
            fio.bssplit = [const { Vec::new() }; 2].map(|_: Vec<(u32, u8)>| vec![(8, 60), (64, 40)]);
        }
    }
    LinearConfig {
        tool: d.pick(&[Tool::Fio, Tool::Dd]),
        rw: d.pick(&[Rw::Read, Rw::RandRead, Rw::Write, Rw::RandWrite, Rw::ReadWrite, Rw::RandRw]),
        bs,
        bios: if d.flip() { vec![] } else { vec![(bs / 2 / 8 * 8).max(8) as u32] },
        iodepth: d.pick(&[1, 2, 16, 40]),
        batch: d.pick(&[1, 4]),
        first: d.below(16) * 4096,
        sectors: 32 * 4096,
        io_bytes: Some(bs * 512 * d.pick(&[1, 20, 150])),
        buffered: d.flip(),
        nowait: one_in(d, 8),
        fio,
    }
}

fn zbd(d: &mut Dice, z: ZoneShape) -> FioZbdConfig {
    FioZbdConfig {
        rw: d.pick(&[Rw::Write, Rw::RandWrite, Rw::RandWrite, Rw::Read, Rw::RandRead, Rw::ReadWrite, Rw::RandRw]),
        bs: d.pick(&[8, 64, 512]),
        iodepth: d.pick(&[1, 4, 33]),
        first_zone: if z.nr_conv > 0 && d.flip() { z.nr_conv - 1 } else { z.nr_conv },
        zones: d.pick(&[1, 2, 9]),
        max_open_zones: d.pick(&[0, 1, 4]),
        io_bytes: Some(d.pick(&[1, 40, 300]) * 64 * 512),
        batch: d.pick(&[1, 4]),
        job_max_open_zones: d.pick(&[0, 0, 1]),
        ignore_zone_limits: one_in(d, 6),
        read_beyond_wp: d.flip(),
        append: one_in(d, 4),
        buffered: one_in(d, 8),
        rwmixread: 50,
    }
}

fn bio(at: u64, op: Op, sector: Sector, nr_sectors: u32) -> ListedBio {
    ListedBio { at, op, sector, nr_sectors, nowait: false, preflush: false, fua: false }
}

/// Flushes, FUA and NOWAIT between reads and writes.
fn list(d: &mut Dice) -> Vec<ListedBio> {
    let mut at = 0;
    (0..60)
        .map(|_| {
            at += d.below(60 * US);
            let sector = 8 * d.below(4096);
            let b = match d.below(6) {
                0 => bio(at, Op::Flush, 0, 0),
                1 => bio(at, Op::WriteZeroes, sector, 64),
                2 => bio(at, Op::Read, sector, d.pick(&[8, 1024])),
                _ => bio(at, Op::Write, sector, d.pick(&[8, 64, 3000])),
            };
            let data = b.nr_sectors > 0 && b.op == Op::Write;
            ListedBio { nowait: one_in(d, 8), preflush: data && one_in(d, 4), fua: data && one_in(d, 4), ..b }
        })
        .collect()
}

/// Writes in order and off the pointer, appends, zone commands, flushes.
fn zone_list(d: &mut Dice, z: ZoneShape) -> Vec<ListedBio> {
    let zones = d.pick(&[1, 3]);
    let mut wp = vec![0; zones as usize];
    let mut at = 0;
    (0..80)
        .map(|_| {
            at += d.below(100 * US);
            let n = d.below(zones);
            let start = (u64::from(z.nr_conv) + n) * z.zone_sectors;
            let wp = &mut wp[n as usize];
            let len = 8 * (1 + d.below(80)) as u32;
            let mut b = match d.below(24) {
                0 => bio(at, Op::ZoneReset, start, 0),
                1 => bio(at, d.pick(&[Op::ZoneFinish, Op::ZoneOpen, Op::ZoneClose]), start, 0),
                2 => bio(at, Op::ZoneResetAll, 0, 0),
                3 => bio(at, Op::Write, start + *wp + 8, len),
                4 => bio(at, Op::Flush, 0, 0),
                5 | 6 => bio(at, Op::ZoneAppend, start, len),
                7..10 => bio(at, Op::Read, start, len),
                10 => bio(at, Op::WriteZeroes, start + *wp, len),
                _ => bio(at, Op::Write, start + *wp, len),
            };
            match b.op {
                Op::Write | Op::ZoneAppend | Op::WriteZeroes => *wp = (*wp + u64::from(len)) % z.capacity,
                Op::ZoneReset => *wp = 0,
                _ => {}
            }
            b.nowait = b.op == Op::Write && one_in(d, 10);
            b.fua = b.op == Op::Write && one_in(d, 10);
            b
        })
        .collect()
}

// ---- what goes wrong, and what is changed meanwhile ----

fn faults(d: &mut Dice, cfg: &mut SimConfig) {
    for _ in 0..d.pick(&[0, 0, 1, 2]) {
        let leaves = cfg.devices.iter().filter(|d| d.queue.is_some()).count() as u64;
        let from = d.below(10 * MS);
        cfg.faults.push(FaultRule {
            dev: d.below(leaves) as DevIdx,
            sector: 8 * d.below(1 << 12),
            nr_sectors: 1 << d.below(20),
            from,
            until: (from + d.below(20 * MS)).min(FAULTS_END),
            status: d.pick(&[
                BlkStatus::Medium,
                BlkStatus::IoErr,
                BlkStatus::Resource,
                BlkStatus::DevResource,
                BlkStatus::Again,
            ]),
        });
    }
}

fn changes(d: &mut Dice, cfg: &mut SimConfig) {
    let owner = cfg.kernel.async_depth_owner;
    for _ in 0..d.pick(&[0, 0, 1, 2, 6]) {
        let leaves = cfg.devices.iter().filter(|d| d.queue.is_some()).count() as u64;
        let setting = match d.below(8) {
            0 => Setting::ZonedQd1Writes(d.flip()),
            1 => Setting::NrRequests(d.pick(&[1, 4, 16, 300, 4000])),
            2 if owner != AsyncDepthOwner::Elevator517 => Setting::AsyncDepth(d.pick(&[0, 1, 7, 64])),
            3 => Setting::Nomerges(d.pick(&[0, 1, 2])),
            4 => Setting::MaxSectors(d.pick(&[2, 64, 1024])),
            5 => Setting::WbtLat(d.pick(&[None, Some(0), Some(3 * MS)])),
            6 => Setting::WriteCache(d.flip()),
            _ => Setting::Scheduler(d.pick(&ELEVATORS)),
        };
        cfg.changes.push(Change { at: d.below(8 * MS), dev: d.below(leaves) as DevIdx, setting });
    }
    cfg.changes.sort_by_key(|c| c.at);
}

// ---- laws ----

/// Something keeps the writes of this device's zones in order.
fn is_ordered(cfg: &SimConfig, dev: usize) -> bool {
    let switched = cfg.changes.iter().any(|c| usize::from(c.dev) == dev && matches!(c.setting, Setting::Scheduler(_)));
    match cfg.kernel.zone_ordering {
        ZoneOrdering::Zwplug => true,
        ZoneOrdering::ZoneLock => {
            !switched && cfg.devices[dev].queue.is_some_and(|q| q.elevator == ElevatorKind::MqDeadline)
        }
        ZoneOrdering::Pipelined | ZoneOrdering::None => false,
    }
}

/// Watches the trace for what must never happen.
struct Laws {
    /// Zone size and first sequential zone of the devices whose writes something orders.
    ordered: Vec<Option<(Sector, Sector)>>,
    top: DevIdx,
    /// Between D and C: device, zone of a sequential write.
    at_device: HashMap<(DevIdx, u32), Option<u64>>,
    /// Zones that were commanded or appended to: such a command may race with writes, which is the user's own doing.
    managed: HashSet<(DevIdx, u64)>,
    /// Bios of the jobs: begun, pieces cut off them, refused before they were begun, without data.
    begun: HashSet<u32>,
    pieces: HashSet<u32>,
    refused: u64,
    dataless: u64,
    last_time: u64,
}

impl Laws {
    fn new(cfg: &SimConfig) -> Self {
        let ordered = |(n, d): (usize, &DeviceConfig)| {
            let z = d.zones().filter(|_| is_ordered(cfg, n))?;
            Some((z.zone_sectors, u64::from(z.nr_conv)))
        };
        Self {
            ordered: cfg.devices.iter().enumerate().map(ordered).collect(),
            top: cfg.devices.len() as DevIdx - 1,
            at_device: HashMap::new(),
            managed: HashSet::new(),
            begun: HashSet::new(),
            pieces: HashSet::new(),
            refused: 0,
            dataless: 0,
            last_time: 0,
        }
    }
}

impl TraceSink for Laws {
    fn record(&mut self, r: &TraceRecord) {
        assert!(r.time >= self.last_time, "time runs forward");
        self.last_time = r.time;
        let zone = self.ordered[usize::from(r.dev)].map(|(len, first)| (r.sector / len, r.sector / len >= first));
        match r.action {
            Action::Queue => {
                if r.dev == self.top {
                    assert!(self.begun.insert(r.bio), "Q twice: {r:?}");
                    self.dataless += u64::from(r.op.is_dataless() || r.op == Op::WriteZeroes);
                }
                match zone {
                    Some(_) if r.op == Op::ZoneResetAll => self.managed.extend((0..1024).map(|zone| (r.dev, zone))),
                    Some((zone, true)) if r.op.is_zone_mgmt() || r.op == Op::ZoneAppend => {
                        self.managed.insert((r.dev, zone));
                    }
                    _ => {}
                }
            }
            Action::Issue => {
                let written = zone.filter(|(_, seq)| *seq && r.op == Op::Write).map(|(zone, _)| zone);
                if let Some(zone) = written.filter(|zone| !self.managed.contains(&(r.dev, *zone))) {
                    let other = self.at_device.iter().find(|((dev, _), z)| *dev == r.dev && **z == Some(zone));
                    assert!(other.is_none(), "two writes of zone {zone} at the device: {r:?}");
                }
                assert!(self.at_device.insert((r.dev, r.rq), written).is_none(), "D twice: {r:?}");
            }
            Action::Split => drop(self.pieces.insert(r.bio)),
            Action::Fail => {
                let unknown = !self.begun.contains(&r.bio) && !self.pieces.contains(&r.bio);
                self.refused += u64::from(r.dev == self.top && unknown);
            }
            Action::Requeue | Action::Complete => {
                self.at_device.remove(&(r.dev, r.rq));
            }
            _ => {}
        }
    }
}

/// What a run was.
#[derive(Default)]
pub struct Outcome {
    /// Events.
    pub events: u64,
    /// I/Os, and those that failed.
    pub ios: (u64, u64),
    /// Settings written, and refused ones.
    pub changes: (u64, u64),
}

/// Something drawn makes I/Os fail: an injected error, a job that writes off the pointer or asks not to wait, zones that
/// cannot be written, limits that nobody heeds, or nobody who keeps zones in order.
fn may_fail(cfg: &SimConfig) -> bool {
    let zoned = cfg.devices[0].zones().is_some();
    let bad = match &cfg.devices[0].kind {
        DeviceKind::NullBlk(NullBlkConfig { zones: Some(z), .. })
        | DeviceKind::Flash(FlashConfig { zones: Some(z), .. }) => {
            !z.readonly.is_empty() || !z.offline.is_empty() || z.shape.max_active > 0
        }
        _ => false,
    };
    let job = |j: &JobConfig| match &j.workload {
        WorkloadConfig::List(_) => true,
        WorkloadConfig::Linear(l) => l.nowait,
        WorkloadConfig::FioZbd(f) => f.append || f.buffered || f.ignore_zone_limits,
        // It believes that all zones are empty.
        WorkloadConfig::Writeback(_) => cfg.devices[0].disk().is_some_and(|d| d.first_fill != FirstFill::Empty),
        WorkloadConfig::PassThrough(_) => false,
    };
    // A write may meet a plug that is about to go (kernel 5.2).
    let dead = cfg.kernel.zwplug_removed == ZwplugRemoved::Dead && !cfg.kernel.dead_plug_revive;
    bad || !cfg.faults.is_empty() || zoned && dead || zoned && !is_ordered(cfg, 0) || cfg.jobs.iter().any(job)
}

fn clean(tags: &TagsView) -> bool {
    tags.busy.iter().all(Option::is_none) && tags.waiters == 0 && tags.ws_active == 0
}

fn queued(e: &ElevatorView) -> usize {
    match e {
        ElevatorView::None { queued } => queued.len(),
        ElevatorView::MqDeadline(v) => {
            v.dispatch.len() + v.classes.iter().flat_map(|c| &c.sort).map(Vec::len).sum::<usize>()
        }
        ElevatorView::Kyber(v) => v.domains.iter().map(|d| d.queued.len()).sum(),
        ElevatorView::Bfq(v) => v.queues.iter().map(|q| q.queued.len()).sum(),
    }
}

/// Nothing is held, queued or asleep.
fn at_rest(s: &Snapshot) {
    for j in &s.jobs {
        assert!(j.state == JobState::Done && j.in_flight.is_empty() && j.locks.is_empty(), "{j:?}");
    }
    for t in &s.tasks {
        assert!(t.current.is_none() && t.pushed.is_empty() && t.backlog.is_empty() && t.plug.is_none(), "{t:?}");
    }
    for d in &s.devices {
        let name = &d.name;
        assert!(d.stall.is_none(), "{name}: a wake-up was lost: {:?}", d.stall);
        assert!(clean(&d.tags) && d.sched_tags.as_ref().is_none_or(clean), "{name}: tags {:?}", d.tags);
        for h in &d.hctxs {
            let tags = h.tags.as_ref().is_none_or(clean) && h.sched_tags.as_ref().is_none_or(clean);
            assert!(tags && h.nr_active == 0 && h.dispatch.is_empty(), "{name}: {h:?}");
        }
        assert!(d.dispatch.is_empty() && queued(&d.elevator) == 0, "{name}: {:?}", d.elevator);
        assert_eq!(d.stats.in_flight, 0, "{name}: counters");
        assert_eq!(d.throttled, 0, "{name}: throttled");
        assert!(!d.frozen && d.freeze.is_none(), "{name}: frozen {:?}", d.freeze);
        assert!(d.stripe_cache.as_ref().is_none_or(|c| c.active == 0), "{name}: stripes");
        for w in &d.zone_wplugs {
            assert!(w.bios.is_empty() && !w.listed && w.in_flight.is_none() && w.refs == 1, "{name}: {w:?}");
        }
        if let Some(z) = &d.zoned {
            assert!(z.locked.is_empty(), "{name}: zone locks {:?}", z.locked);
            for zone in z.zones.iter().filter(|zone| zone.zone >= z.nr_conv) {
                assert!(zone.wp_offset <= z.zone_sectors, "{name}: {zone:?}");
            }
        }
    }
}

/// Runs a scenario and looks whether the laws hold.
pub fn check(cfg: &SimConfig, repeat: bool) -> Result<Outcome, String> {
    let shared = Arc::new(cfg.clone());
    let run = || {
        let mut sim = Simulation::new(Arc::clone(&shared));
        let mut sink = (TraceHash::default(), (Laws::new(cfg), ZoneOrder::new(cfg)));
        let end = sim.advance(u64::MAX, MAX_EVENTS, &mut sink);
        let (hash, (laws, order)) = sink;
        let s = sim.snapshot();
        if end != Advance::Done {
            let waiting: Vec<_> = s.jobs.iter().filter(|j| j.state != JobState::Done).collect();
            panic!("it does not end: {} ns, {} bios, {waiting:#?}", sim.now(), sim.bios_in_flight());
        }
        assert_eq!(sim.bios_in_flight(), 0, "every bio ends");
        at_rest(&s);
        assert!(laws.at_device.is_empty(), "D without C: {:?}", laws.at_device);
        let st = sim.stats();
        let ended = st.total_ios + st.nr_errors;
        let bios = laws.begun.len() as u64 + laws.refused;
        assert!(ended <= bios && ended + laws.dataless >= bios, "{ended} of {bios} bios ended");
        assert!(st.nr_errors == 0 || may_fail(cfg), "{} errors without a cause", st.nr_errors);
        assert_eq!(st.nr_stalls, 0, "a wake-up was lost");
        let changes = s.devices.iter().flat_map(|d| &d.changes);
        let changes = changes.fold((0, 0), |(ok, no), c| if c.error.is_none() { (ok + 1, no) } else { (ok, no + 1) });
        keeps_order(cfg, &order);
        if repeat {
            let mut again = Simulation::new(Arc::clone(&shared));
            let mut other = TraceHash::default();
            let slice = 1 + sim.events() / 50;
            while again.advance(u64::MAX, slice, &mut other) != Advance::Done {
                again = again.clone();
            }
            assert_eq!(other, hash, "in slices and from clones");
        }
        Outcome { events: sim.events(), ios: (st.total_ios, st.nr_errors), changes }
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_string()
    })
}

/// Below a stack, writes of a zone reach the disk in the order in which the one list wrote them, where remainders of
/// splits go to the head and nothing throttles them.
fn keeps_order(cfg: &SimConfig, order: &ZoneOrder) {
    let stacked = cfg.devices.len() > 1 && cfg.devices[0].zones().is_some();
    if !stacked {
        return;
    }
    let throttled = cfg.devices.iter().any(|d| d.throttle.is_some());
    let k = &cfg.kernel;
    if k.split_insert == SplitInsert::Head && k.bio_list_model == BioListModel::TwoList {
        let bad = order.violations.iter().find(|v| !(throttled && v.cause == Cause::Throttled));
        assert!(bad.is_none(), "{bad:?}");
    }
}

/// The smallest part of a failing run that still fails, found by leaving things out one by one.
pub fn shrink(cfg: &SimConfig) -> SimConfig {
    let mut small = cfg.clone();
    loop {
        let mut less = Vec::new();
        let mut without = |change: &dyn Fn(&mut SimConfig)| {
            let mut c = small.clone();
            change(&mut c);
            if c != small {
                less.push(c);
            }
        };
        for n in 0..small.jobs.len().max(1) {
            without(&|c| drop((c.jobs.len() > 1).then(|| c.jobs.remove(n))));
        }
        (0..small.changes.len()).for_each(|n| without(&|c| _ = c.changes.remove(n)));
        (0..small.faults.len()).for_each(|n| without(&|c| _ = c.faults.remove(n)));
        without(&|c| c.host = HostCosts { nr_cpus: c.host.nr_cpus, ..HostCosts::default() });
        without(&|c| c.kernel = KernelConfig { zone_ordering: c.kernel.zone_ordering, ..KernelConfig::default() });
        without(&|c| c.devices.iter_mut().for_each(|d| d.throttle = None));
        let queue = |c: &mut SimConfig, f: &dyn Fn(&mut QueueConfig)| {
            c.devices.iter_mut().filter_map(|d| d.queue.as_mut()).for_each(f);
        };
        without(&|c| queue(c, &|q| q.iocost = None));
        without(&|c| queue(c, &|q| q.wbt_lat_ns = None));
        without(&|c| queue(c, &|q| q.nr_hw_queues = 1));
        without(&|c| queue(c, &|q| q.shared_users = 0));
        without(&|c| {
            for j in &mut c.jobs {
                if let WorkloadConfig::List(l) = &mut j.workload {
                    l.truncate(l.len() / 2);
                }
            }
        });
        match less.into_iter().find(|c| check(c, true).is_err()) {
            Some(c) => small = c,
            None => return small,
        }
    }
}

/// Runs `count` seeds from `first` on; what was seen, or the first that breaks a law, made small.
pub fn swarm(first: u64, count: u64) -> Result<String, String> {
    let mut sum = Outcome::default();
    for seed in first..first + count {
        let cfg = scenario(seed);
        match check(&cfg, true) {
            Ok(o) => {
                sum.events += o.events;
                sum.ios = (sum.ios.0 + o.ios.0, sum.ios.1 + o.ios.1);
                sum.changes = (sum.changes.0 + o.changes.0, sum.changes.1 + o.changes.1);
            }
            Err(why) => {
                let small = shrink(&cfg);
                let still = check(&small, true).err().unwrap_or_default();
                return Err(format!(
                    "{small:#?}\nseed {seed}: {why}\nof what is left: {still}\ncargo xtask swarm 1 --seed {seed}"
                ));
            }
        }
    }
    let Outcome { events, ios, changes } = sum;
    Ok(format!(
        "{count} runs from seed {first}: {} I/Os and {} failed ones, {} settings written and {} refused, {events} events; \
         every law held",
        ios.0, ios.1, changes.0, changes.1
    ))
}
