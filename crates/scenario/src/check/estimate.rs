//! How many engine events a run takes, roughly and rather too many than too few.
//!
//! Models: what limits the requests of a run: its end, the devices' rates, the heads, the jobs' CPU time and rates.
//! Rule: an estimate is above the truth and near it; a test holds every preset against a run.
//! Leaves out: what is done about too many (`limits`).

use bioscope_core::config::{
    DeviceConfig, DeviceKind, DmConfig, DmTarget, DriveProfile, ElevatorKind, JobConfig, MdConfig, MdLevel, NullIrq,
    Rw, SimConfig, WorkloadConfig, ZoneOrdering,
};
use bioscope_core::units::{SECTOR_BYTES, Sector};

use super::devices::sectors_of;
use super::jobs::job_bytes;
use super::{BLOCK_BYTES, STRIPE_BYTES};

/// Engine events of one request from submission to completion: 4.3 in `smr-seq-write`, less where bios merge.
const EVENTS_PER_REQUEST: u64 = 5;
/// The same of a piece that goes through a stacked device, its steps included: 2.6 in `raid5-dd`, 5 in `raid0-unaligned`.
const STACKED_EVENTS: u64 = 6;
/// Engine events of a stripe of raid456, beside those of the requests it becomes.
const EVENTS_PER_STRIPE: u64 = 3;
/// Size of a flushed bio, about.
const WRITEBACK_BIO_BYTES: u64 = 1 << 20;

/// Engine events of a run, roughly and rather too many than too few.
pub fn estimate_events(cfg: &SimConfig) -> u64 {
    let written = cfg.jobs.iter().all(only_writes);
    let mut rate: u128 = cfg.devices.iter().map(|d| rate_of(d, written)).sum();
    if let Some(DeviceKind::Md(MdConfig { level: MdLevel::Raid1, members, .. })) = cfg.devices.last().map(|d| &d.kind)
        && written
    {
        rate /= members.len() as u128;
    }
    if let Some(paced) = cfg.jobs.iter().map(job_rate).sum::<Option<u128>>()
        && !cfg.jobs.is_empty()
    {
        rate = rate.min(paced);
    }
    let bytes_in = |ns: u64| rate * u128::from(ns) / 1_000_000_000;
    let ramp = u128::from(cfg.ramp.bytes) + bytes_in(cfg.ramp.time_ns);
    let limits = [
        cfg.stop.runtime_ns.map(|ns| ramp + bytes_in(ns)),
        cfg.stop.bytes.map(|n| ramp + u128::from(n)),
        cfg.jobs.iter().filter(|job| !is_beside(job)).map(job_bytes).sum::<Option<u64>>().map(u128::from),
    ];
    let bytes = limits.into_iter().flatten().min().unwrap_or(u128::MAX);
    // Jobs that pause come beside those that do not.
    let (mut smallest, mut paused) = (u64::MAX, 0);
    for job in cfg.jobs.iter().filter(|job| !is_beside(job)) {
        let unit = unit_bytes(cfg, job);
        match (pace(job), cfg.stop.runtime_ns) {
            (Some(pace), Some(ns)) => {
                let ns = u128::from(ns) + u128::from(cfg.ramp.time_ns);
                let units = shape(job).map_or(1, |(bs, ..)| (bs * SECTOR_BYTES).div_ceil(unit));
                paused += u128::from(pace) * u128::from(units) * ns / 1_000_000_000 + 1;
            }
            _ => smallest = smallest.min(unit),
        }
    }
    let alone = if smallest == u64::MAX { 0 } else { bytes / u128::from(smallest) };
    let mut requests = alone.saturating_add(paused);
    if let Some(per_second) = most_per_second(cfg)
        && let Some(runtime) = cfg.stop.runtime_ns
    {
        let ns = u128::from(runtime) + u128::from(cfg.ramp.time_ns);
        // A ramp in bytes takes time nobody knows yet.
        if cfg.ramp.bytes == 0 {
            requests = requests.min(u128::from(per_second) * ns / 1_000_000_000);
        }
    }
    let per_unit = cfg.jobs.iter().map(|job| events_per_unit(cfg, job)).max().unwrap_or(0);
    let beside = cfg.stop.runtime_ns.map_or(0, |ns| u128::from(ns) + u128::from(cfg.ramp.time_ns));
    let beside = cfg.jobs.iter().filter_map(|job| match job.workload {
        WorkloadConfig::PassThrough(p) => Some(beside / u128::from(p.every_ns.max(1)) * u128::from(EVENTS_PER_REQUEST)),
        _ => None,
    });
    let events = requests.saturating_mul(u128::from(per_unit)).saturating_add(sync_events(cfg) + beside.sum::<u128>());
    u64::try_from(events).unwrap_or(u64::MAX)
}

/// I/Os a second of a job that pauses after some.
fn pace(job: &JobConfig) -> Option<u64> {
    let WorkloadConfig::Linear(l) = &job.workload else { return None };
    let pauses = 1_000_000_000u64.checked_div(l.fio.thinktime_ns)?;
    Some((pauses + 1).saturating_mul(u64::from(l.fio.thinktime_blocks)))
}

/// Bytes a second of a disk at most; flash programs more slowly than it reads.
fn rate_of(d: &DeviceConfig, written: bool) -> u128 {
    match &d.kind {
        DeviceKind::Disk(d) => u128::from(d.profile.rate_outer),
        // Without a limit the jobs' CPU time is one.
        DeviceKind::Capped(c) if c.rate == 0 => u128::from(u64::MAX),
        DeviceKind::Capped(c) => u128::from(c.rate) * u128::from(c.channels),
        DeviceKind::NullBlk(_) => u128::from(u64::MAX),
        // As fast as all dies program, or read.
        DeviceKind::Flash(f) => {
            let page = u128::from(f.page_bytes) * u128::from(f.channels) * u128::from(f.dies) * 1_000_000_000;
            let dies = page / u128::from(if written { f.program_ns } else { f.read_ns.min(f.program_ns) }.max(1));
            dies.min(u128::from(f.channel_rate) * u128::from(f.channels))
        }
        DeviceKind::Md(_) | DeviceKind::Dm(_) => 0,
    }
}

/// Requests a second that the jobs can submit, or the heads can reach in random order.
fn most_per_second(cfg: &SimConfig) -> Option<u64> {
    let (mut submitted, mut largest, mut depth, mut reads, mut parity) = (0u64, 1, 0, true, true);
    let latency_of = |d: &DeviceConfig| match &d.kind {
        DeviceKind::Capped(c) => Some(c.latency_ns),
        DeviceKind::NullBlk(n) if n.irqmode == NullIrq::Timer => Some(n.completion_ns),
        _ => None,
    };
    let latency = cfg.devices.iter().filter_map(latency_of).min().unwrap_or(0);
    let per_second = |ns: u64, n: u64| 1_000_000_000u64.checked_div(ns).map_or(u64::MAX, |one| one.saturating_mul(n));
    let heads = cfg.devices.len() as u64;
    let alone = &cfg.devices[0];
    // Tags of a device alone, and its channels.
    let (tags, channels) = match (&alone.kind, alone.queue.filter(|_| heads == 1)) {
        (DeviceKind::Capped(c), Some(q)) => {
            (u64::from(q.queue_depth) * u64::from(q.nr_hw_queues), u64::from(c.channels))
        }
        (_, Some(q)) => (u64::from(q.queue_depth) * u64::from(q.nr_hw_queues), u64::MAX),
        _ => (u64::MAX, u64::MAX),
    };
    for job in cfg.jobs.iter().filter(|job| !is_beside(job)) {
        let (bs, rw, iodepth) = shape(job)?;
        let parts = (bs * SECTOR_BYTES).div_ceil(unit_bytes(cfg, job));
        let busy = if heads == 1 { busy_ns(alone, unit_bytes(cfg, job)) } else { 0 };
        let one_ns = cfg.host.submit_ns.max((cfg.host.submit_ns + latency + busy) / u64::from(iodepth.max(1)));
        let of_job = 1_000_000_000u64.checked_div(one_ns)?.saturating_mul(parts);
        let of_zones = zone_write_ns(cfg, job, latency).map_or(u64::MAX, |(ns, zones)| per_second(ns, zones));
        submitted = submitted.saturating_add(of_job.min(of_zones).min(per_second(busy, channels)));
        largest = parts.max(largest);
        depth += u64::from(iodepth);
        reads &= rw == Rw::RandRead;
        parity &= rw == Rw::RandWrite && has_parity(&cfg.devices[usize::from(job.dev)]);
    }
    // A run of a hardware queue takes one request after the other.
    let queues = alone.queue.filter(|q| heads == 1 && (q.blocking || q.elevator != ElevatorKind::None));
    let runs = queues.map_or(u64::MAX, |q| per_second(cfg.host.dispatch_ns, u64::from(q.nr_hw_queues)));
    let submitted = submitted.min(per_second(latency, tags)).min(runs);
    let Some(drive) = cfg.devices.iter().find_map(|d| Some(&d.disk()?.profile)) else { return Some(submitted) };
    let reached = match (reads, parity) {
        (true, _) => {
            let (n, request) = (together(cfg, largest, depth), cfg.jobs.iter().map(|job| unit_bytes(cfg, job)).min());
            let transfer = n * request.unwrap_or(0) * 1_000_000_000 / drive.rate_outer.max(1);
            per_second(read_ns(cfg, drive, depth * largest) + transfer, heads * n)
        }
        // Each write waits for reads from anywhere.
        (_, true) => per_second(drive.settle_ns + drive.seek_full_ns * 8 / 15 + drive.rev_ns / 2, depth * largest),
        _ => u64::MAX,
    };
    Some(submitted.min(reached))
}

/// Where each zone has one write in flight: the time from one to the next, and zones that a job writes to.
fn zone_write_ns(cfg: &SimConfig, job: &JobConfig, latency: u64) -> Option<(u64, u64)> {
    let WorkloadConfig::FioZbd(f) = &job.workload else { return None };
    let q = cfg.devices[usize::from(job.dev)].queue.filter(|_| f.rw.writes() && !f.rw.reads() && !f.append)?;
    let host = &cfg.host;
    let next = match cfg.kernel.zone_ordering {
        ZoneOrdering::Zwplug => host.issue_ns,
        ZoneOrdering::ZoneLock if q.elevator == ElevatorKind::MqDeadline => 0,
        _ => return None,
    };
    let worker = if q.blocking { host.kblockd_ns + host.dispatch_ns } else { 0 };
    let open = if f.max_open_zones > 0 { f.max_open_zones } else { u32::MAX };
    // A sequential writer is in two zones where one ends and the next begins.
    let zones = if f.rw == Rw::RandWrite { f.zones.min(open) } else { f.zones.min(2) };
    Some((latency + next + worker, u64::from(zones)))
}

/// Time for which a command occupies a device that is known by its limits.
fn busy_ns(d: &DeviceConfig, bytes: u64) -> u64 {
    let DeviceKind::Capped(c) = &d.kind else { return 0 };
    let of = |n: u64, rate: u64| n.saturating_mul(1_000_000_000).checked_div(rate).unwrap_or(0);
    of(1, c.iops).max(of(bytes, c.rate))
}

/// Time of a random access when the nearest of `depth` commands is the next.
fn read_ns(cfg: &SimConfig, drive: &DriveProfile, depth: u64) -> u64 {
    let most = cfg.devices.iter().filter_map(|d| d.queue).map(|q| u64::from(q.queue_depth)).max().unwrap_or(1);
    let average = drive.seek_full_ns * 8 / 15 + drive.rev_ns / 2;
    drive.settle_ns + average / depth.min(most).max(1).isqrt()
}

/// Requests of an I/O that are read in one go: few where several jobs wait for each tag.
fn together(cfg: &SimConfig, parts: u64, depth: u64) -> u64 {
    let short = cfg.devices.iter().all(|d| d.queue.is_some_and(|q| u64::from(q.nr_requests) < depth));
    if short && cfg.jobs.len() > 1 { parts.min(2) } else { parts }
}

fn has_parity(d: &DeviceConfig) -> bool {
    matches!(&d.kind, DeviceKind::Md(m) if matches!(m.level, MdLevel::Raid5 | MdLevel::Raid6))
}

/// `bs` in sectors, `rw` and `iodepth`, where the job has I/Os of one size.
fn shape(job: &JobConfig) -> Option<(Sector, Rw, u32)> {
    match &job.workload {
        WorkloadConfig::FioZbd(f) => Some((f.bs, f.rw, f.iodepth)),
        WorkloadConfig::Linear(l) => Some((l.bs, l.rw, l.iodepth)),
        WorkloadConfig::Writeback(_) | WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => None,
    }
}

/// A job that comes beside the others and ends with them.
fn is_beside(job: &JobConfig) -> bool {
    matches!(job.workload, WorkloadConfig::PassThrough(_))
}

/// What events are counted for: a request, or a whole I/O written to stripes.
fn unit_bytes(cfg: &SimConfig, job: &JobConfig) -> u64 {
    match shape(job) {
        Some((bs, ..)) if writes(job) && has_parity(&cfg.devices[usize::from(job.dev)]) => bs * SECTOR_BYTES,
        _ => request_bytes(cfg, job),
    }
}

pub(super) fn writes(job: &JobConfig) -> bool {
    shape(job).is_some_and(|(_, rw, _)| rw.writes())
}

fn only_writes(job: &JobConfig) -> bool {
    shape(job).is_some_and(|(_, rw, _)| !rw.reads())
}

/// Engine events of one unit of a job's I/O on its way through the stack.
fn events_per_unit(cfg: &SimConfig, job: &JobConfig) -> u64 {
    let writes = writes(job);
    match &cfg.devices[usize::from(job.dev)].kind {
        DeviceKind::Disk(_) | DeviceKind::Capped(_) | DeviceKind::NullBlk(_) | DeviceKind::Flash(_) => {
            EVENTS_PER_REQUEST
        }
        DeviceKind::Md(m) => {
            let members = m.members.len() as u64;
            let device = &cfg.devices[usize::from(job.dev)];
            match m.level {
                _ if writes && has_parity(device) => {
                    // Every member may be read and written; the stripes' 4 KiB merge.
                    let stripes = unit_bytes(cfg, job).div_ceil(STRIPE_BYTES);
                    members * STACKED_EVENTS + stripes * EVENTS_PER_STRIPE
                }
                MdLevel::Raid1 | MdLevel::Raid10 if writes => members * STACKED_EVENTS,
                _ => STACKED_EVENTS,
            }
        }
        // dm-crypt's threads come on top.
        DeviceKind::Dm(_) => STACKED_EVENTS + 2,
    }
}

/// Engine events of a check.
fn sync_events(cfg: &SimConfig) -> u128 {
    let of = |d: &DeviceConfig| {
        let DeviceKind::Md(MdConfig { sync: Some(sync), members, data_offset, .. }) = &d.kind else { return 0 };
        // With more members than the plug has requests nothing merges.
        let plug = u64::from(cfg.kernel.plug.max_rq) * u64::from(cfg.kernel.plug.multi_factor);
        let requests = if members.len() as u64 > plug { members.len() as u64 * 6 / 5 } else { 0 };
        let disks = members.iter().map(|m| &cfg.devices[usize::from(*m)]);
        // The faster a device is, the nearer it comes to the limit; in pauses it overshoots.
        let rate =
            disks.clone().map(|d| rate_of(d, false)).min().unwrap_or(0).min(u128::from(sync.speed_max) * 1024 * 3 / 2);
        let most = disks.map(|d| sectors_of(d).saturating_sub(*data_offset) * SECTOR_BYTES).min().unwrap_or(0);
        let bytes = cfg.stop.runtime_ns.map_or(u128::MAX, |ns| rate * u128::from(ns) / 1_000_000_000);
        bytes.min(u128::from(most)) / u128::from(STRIPE_BYTES) * u128::from(EVENTS_PER_STRIPE + requests)
    };
    cfg.devices.iter().map(of).sum()
}

/// Size of a job's requests after splitting.
pub(super) fn request_bytes(cfg: &SimConfig, job: &JobConfig) -> u64 {
    let bio = match &job.workload {
        WorkloadConfig::FioZbd(f) => f.bs * SECTOR_BYTES,
        WorkloadConfig::Linear(l) => l.bios.iter().fold(l.bs, |least, n| least.min(u64::from(*n))) * SECTOR_BYTES,
        WorkloadConfig::Writeback(w) => w.file_max.min(WRITEBACK_BIO_BYTES),
        WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => BLOCK_BYTES,
    };
    let limit = piece_bytes(cfg, job);
    (bio / bio.div_ceil(limit).max(1)).max(1)
}

/// Largest piece that a job's bios are cut into.
pub(super) fn piece_bytes(cfg: &SimConfig, job: &JobConfig) -> u64 {
    let device = &cfg.devices[usize::from(job.dev)];
    let of_queue = |d: &DeviceConfig| {
        d.queue.map_or(u64::MAX, |q| {
            let by_segments = u64::from(q.max_segments) * u64::from(job.bio_segment_bytes);
            by_segments.min(u64::from(q.max_sectors) * SECTOR_BYTES).max(u64::from(q.block_bytes))
        })
    };
    let below = device.members().iter().map(|m| of_queue(&cfg.devices[usize::from(*m)]));
    let cut = match &device.kind {
        DeviceKind::Md(MdConfig { level: MdLevel::Raid1, .. }) => u64::MAX,
        DeviceKind::Md(MdConfig { chunk_sectors, .. })
        | DeviceKind::Dm(DmConfig { target: DmTarget::Striped { chunk_sectors }, .. }) => {
            u64::from(*chunk_sectors) * SECTOR_BYTES
        }
        DeviceKind::Dm(DmConfig { target: DmTarget::Crypt { max_read, max_write, .. }, .. }) => {
            let cuts = [max_read, max_write].into_iter().filter(|n| **n > 0);
            cuts.min().map_or(u64::MAX, |n| u64::from(*n) * SECTOR_BYTES)
        }
        DeviceKind::Disk(_) | DeviceKind::Capped(_) | DeviceKind::NullBlk(_) | DeviceKind::Flash(_) => u64::MAX,
    };
    below.fold(of_queue(device), u64::min).min(cut)
}

/// Bytes a second of a job's rates, where it has one in each of its directions.
fn job_rate(job: &JobConfig) -> Option<u128> {
    let WorkloadConfig::Linear(l) = &job.workload else { return None };
    let of = |dir: usize| match l.fio.rate_iops[dir] {
        0 => Some(u128::from(l.fio.rate[dir])).filter(|rate| *rate > 0),
        // Requests are counted by the smallest size.
        iops => Some(u128::from(iops) * u128::from(l.bs * SECTOR_BYTES)),
    };
    let read = if l.rw.reads() { of(0)? } else { 0 };
    Some(read + if l.rw.writes() { of(1)? } else { 0 })
}
