//! From what was asked for to a run that can exist, or everything that is in the way, at once.
//!
//! Models: the checks of fio (zbd ranges, time_based), of sysfs stores (nr_requests, async_depth, max_sectors_kb, md's
//! attributes), of mdadm (members and layouts of a level), and of Linux 7.1 queue limits for AHCI, mpi3mr and null_blk.
//! Rule: errors are worlds that cannot exist; what the kernel would change silently is a warning that says so.
//! Leaves out: bounds of single values; `Param::parse` has refused those already.

use std::sync::Arc;

use bioscope_core::config::{
    AsyncDepthOwner, BfqConfig, BioListModel, CappedConfig, Change, DeviceConfig, DeviceKind, Distribution, DmConfig,
    DmTarget, DriveConfig, DriveProfile, ElevatorKind, FaultRule, FioOptions, FioZbdConfig, FirstFill, HostCosts,
    JobConfig, KernelConfig, KyberConfig, LinearConfig, MdConfig, MdLevel, MqDeadlineConfig, NullBlkConfig, NullIrq,
    PassThroughConfig, PlugConfig, PlugMerge, PlugOrder, QueueConfig, Ramp, Rw, SbitmapWake, Setting, SimConfig,
    SplitInsert, Stop, SyncConfig, TagAlloc, ThrottleConfig, Tool, WakeFault, WakeFaultKind, WorkloadConfig,
    WriteOffMode, WritebackConfig, ZoneOrdering, ZonePhase,
};
use bioscope_core::units::{DevIdx, IoClass, IoPrio, SECTOR_BYTES, Sector};

use crate::diagnostic::{Diagnostic, Problems};
use crate::params::{KEYS, Key, Param, STACKED};
use crate::scenario::{Instance, Scenario, Side, own_name};
use crate::stack::{LAYOUTS, NULL_BLK_NUMBER, Stack, disk_name, disk_number, layout_number};
use crate::value::{Value, print_bytes, print_seconds, print_time};

/// Engine events a run may have to be shown in the page.
pub const MAX_SHOWN_EVENTS: u64 = 5_000_000;
/// Logical and physical block of the built-in drives, bytes.
const BLOCK_BYTES: u64 = 4096;
/// The same of a device known by its limits only.
const CAPPED_BLOCK_BYTES: u64 = 512;
/// A stripe of raid456 on one member, bytes.
const STRIPE_BYTES: u64 = 4096;
/// Stripes times members of a raid5 or raid6 array: its cache is part of every checkpoint.
const MAX_STRIPE_PAGES: u64 = 65_536;
/// Largest write of dm-crypt, bytes.
const CRYPT_MAX_WRITE: u64 = 1 << 20;
/// Pieces that dm-crypt cuts by default, bytes.
const CRYPT_DEFAULT: u64 = 128 << 10;
/// Requests one I/O may be cut into: they are made in one event.
const MAX_PIECES: u64 = 4096;
/// Requests all jobs together may have in flight: about 200 bytes each.
const MAX_IN_FLIGHT: u64 = 200_000;
/// Seconds for which io.max may hold all I/Os in flight.
const MAX_HELD_SECONDS: u64 = 1_000_000_000;
/// Commands an AHCI port takes, and a drive behind it.
const HARDWARE_TAGS: u64 = 32;
/// The same behind mpi3mr, whose tags are the host's: a SAS drive's queue.
const SAS_TAGS: u64 = 254;
/// The same of a device known by its limits only: an NVMe queue.
const CAPPED_TAGS: u64 = 1024;
/// BLKDEV_MIN_RQ
const MIN_REQUESTS: u64 = 4;
/// MAX_SCHED_RQ
const MAX_REQUESTS: u64 = 2048;
/// Engine events of one request from submission to completion: 4.3 in `smr-seq-write`, less where bios merge.
const EVENTS_PER_REQUEST: u64 = 5;
/// The same of a piece that goes through a stacked device, its steps included: 2.6 in `raid5-dd`, 5 in `raid0-unaligned`.
const STACKED_EVENTS: u64 = 6;
/// Engine events of a stripe of raid456, beside those of the requests it becomes.
const EVENTS_PER_STRIPE: u64 = 3;
/// Size of a flushed bio, about.
const WRITEBACK_BIO_BYTES: u64 = 1 << 20;

/// The configuration of one side, or all errors.
pub fn validate(s: &Scenario, side: Side) -> Result<SimConfig, Vec<Diagnostic>> {
    match check(s, side) {
        (Some(cfg), _) => Ok(cfg),
        (None, problems) => Err(problems.into_iter().filter(Diagnostic::is_error).collect()),
    }
}

/// The configuration of one side if there is no error, and everything worth saying about it. A run B that forks is
/// A's configuration and the changes at the time of the fork.
pub fn check(s: &Scenario, side: Side) -> (Option<SimConfig>, Vec<Diagnostic>) {
    let fork = s.fork.filter(|_| side == Side::B);
    let side = if fork.is_some() { Side::A } else { side };
    let mut c = Checker { s, side, of: None, problems: Problems::default() };
    let mut cfg = c.config();
    c.unused();
    c.sweeps();
    if let Some(at) = fork {
        c.fork(&mut cfg, at);
    }
    if !c.problems.has_errors() {
        c.too_many_pieces(&cfg);
    }
    if c.problems.has_errors() {
        return (None, c.problems.into_list());
    }
    let events = estimate_events(&cfg);
    if events > MAX_SHOWN_EVENTS {
        c.too_long(&cfg, events);
    }
    (Some(cfg), c.problems.into_list())
}

/// Both sides: A, B if there is one, and the diagnostics of both, none twice.
pub fn check_all(s: &Scenario) -> (Option<SimConfig>, Option<SimConfig>, Vec<Diagnostic>) {
    let (a, mut problems) = check(s, Side::A);
    if !s.has_b() {
        return (a, None, problems);
    }
    let (b, more) = check(s, Side::B);
    for d in more {
        if !problems.contains(&d) {
            problems.push(d);
        }
    }
    (a, b, problems)
}

/// A live setting of a device as the simulator takes it: `None` for settings that need a new run.
pub fn live_change(at_ns: u64, dev: DevIdx, key: Key, v: &Value) -> Option<Change> {
    match (key, v) {
        (Key::ZonedQd1Writes, Value::Int(n)) => {
            Some(Change { at: at_ns, dev, setting: Setting::ZonedQd1Writes(*n == 1) })
        }
        (Key::NrRequests, Value::Int(n)) => Some(Change { at: at_ns, dev, setting: Setting::NrRequests(clip(*n)) }),
        (Key::AsyncDepth, Value::Int(n)) => Some(Change { at: at_ns, dev, setting: Setting::AsyncDepth(clip(*n)) }),
        _ => None,
    }
}

fn clip(n: u64) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Engine events of a run, roughly and rather too many than too few.
pub fn estimate_events(cfg: &SimConfig) -> u64 {
    let mut rate: u128 = cfg.devices.iter().map(rate_of).sum();
    if let Some(DeviceKind::Md(MdConfig { level: MdLevel::Raid1, members, .. })) = cfg.devices.last().map(|d| &d.kind)
        && cfg.jobs.iter().all(only_writes)
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
    let smallest = cfg.jobs.iter().filter(|job| !is_beside(job)).map(|job| unit_bytes(cfg, job)).min().unwrap_or(1);
    let mut requests = bytes / u128::from(smallest);
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

/// Bytes a second of a disk at most.
fn rate_of(d: &DeviceConfig) -> u128 {
    match &d.kind {
        DeviceKind::Disk(d) => u128::from(d.profile.rate_outer),
        // Without a limit the jobs' CPU time is one.
        DeviceKind::Capped(c) if c.rate == 0 => u128::from(u64::MAX),
        DeviceKind::Capped(c) => u128::from(c.rate) * u128::from(c.channels),
        DeviceKind::NullBlk(_) => u128::from(u64::MAX),
        DeviceKind::Flash(f) => u128::from(f.channel_rate) * u128::from(f.channels),
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
        submitted = submitted.saturating_add(of_job.min(per_second(busy, channels)));
        largest = parts.max(largest);
        depth += u64::from(iodepth);
        reads &= rw == Rw::RandRead;
        parity &= rw == Rw::RandWrite && has_parity(&cfg.devices[usize::from(job.dev)]);
    }
    let submitted = submitted.min(per_second(latency, tags));
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

fn writes(job: &JobConfig) -> bool {
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
        let rate = disks.clone().map(rate_of).min().unwrap_or(0).min(u128::from(sync.speed_max) * 1024 * 3 / 2);
        let most = disks.map(|d| sectors_of(d).saturating_sub(*data_offset) * SECTOR_BYTES).min().unwrap_or(0);
        let bytes = cfg.stop.runtime_ns.map_or(u128::MAX, |ns| rate * u128::from(ns) / 1_000_000_000);
        bytes.min(u128::from(most)) / u128::from(STRIPE_BYTES) * u128::from(EVENTS_PER_STRIPE + requests)
    };
    cfg.devices.iter().map(of).sum()
}

/// Sectors of a disk.
fn sectors_of(d: &DeviceConfig) -> u64 {
    match &d.kind {
        DeviceKind::Disk(d) => u64::from(d.profile.nr_zones) * d.profile.zone_sectors,
        DeviceKind::Capped(c) => c.capacity,
        DeviceKind::NullBlk(n) => n.capacity,
        DeviceKind::Flash(f) => f.capacity,
        DeviceKind::Md(_) | DeviceKind::Dm(_) => 0,
    }
}

fn job_bytes(job: &JobConfig) -> Option<u64> {
    match &job.workload {
        WorkloadConfig::FioZbd(f) => f.io_bytes,
        WorkloadConfig::Linear(l) => l.io_bytes,
        WorkloadConfig::Writeback(_) | WorkloadConfig::PassThrough(_) => None,
        WorkloadConfig::List(bios) => Some(bios.iter().map(|b| u64::from(b.nr_sectors) * SECTOR_BYTES).sum()),
    }
}

/// Size of a job's requests after splitting.
fn request_bytes(cfg: &SimConfig, job: &JobConfig) -> u64 {
    let bio = match &job.workload {
        WorkloadConfig::FioZbd(f) => f.bs * SECTOR_BYTES,
        WorkloadConfig::Linear(l) => l.bios.iter().fold(l.bs, |least, n| least.min(u64::from(*n))) * SECTOR_BYTES,
        WorkloadConfig::Writeback(w) => w.file_max.min(WRITEBACK_BIO_BYTES),
        WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => BLOCK_BYTES,
    };
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
    let limit = below.fold(of_queue(device), u64::min).min(cut);
    (bio / bio.div_ceil(limit).max(1)).max(1)
}

/// Sectors of a job's largest I/O.
fn largest_io(l: &LinearConfig) -> Sector {
    l.fio.bssplit.iter().flatten().fold(l.bs, |most, (n, _)| most.max(u64::from(*n)))
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

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn without(key: Key, words: &str) -> String {
    if (key, words) == STACKED[0] {
        return "has no effect without a stack".into();
    }
    ["has no effect without ", Param::of(key).key, "=", &words.replace('|', " or ")].concat()
}

/// Settings of I/O that zonemode=zbd does not have.
const LINEAR_ONLY: [Key; 20] = [
    Key::Bios,
    Key::IodepthBatch,
    Key::Buffered,
    Key::Nowait,
    Key::Ioengine,
    Key::IodepthLow,
    Key::CompleteMin,
    Key::CompleteMax,
    Key::Rate,
    Key::RateIops,
    Key::Thinktime,
    Key::ThinktimeSpin,
    Key::ThinktimeBlocks,
    Key::Bssplit,
    Key::Rwmixread,
    Key::RandomDistribution,
    Key::Norandommap,
    Key::CmdprioPercentage,
    Key::CmdprioClass,
    Key::Cmdprio,
];

/// The device jobs submit to.
struct Target {
    dev: DevIdx,
    sectors: u64,
    block: u64,
    /// Profile of the disk, where the device has zones.
    zones: Option<Arc<DriveProfile>>,
}

fn needs_new_run(name: &str, value: &str, at: &str) -> Diagnostic {
    let message = ["needs a new run: it cannot change at b.at=", at].concat();
    Diagnostic::error(name, value, message).suggest("b.at=0")
}

struct Checker<'a> {
    s: &'a Scenario,
    side: Side,
    /// The job or disk whose settings are looked at; `None` = what is said of all.
    of: Option<Instance>,
    problems: Problems,
}

impl Checker<'_> {
    fn value(&self, key: Key) -> &Value {
        self.s.value_of(self.side, self.of, key)
    }
    fn resolved(&self, key: Key) -> Value {
        self.s.resolved_of(self.side, self.of, key)
    }
    /// The number in effect.
    fn n(&self, key: Key) -> u64 {
        match self.resolved(key) {
            Value::Int(n) | Value::Zones(n) => n,
            _ => 0,
        }
    }
    /// The number in effect, for fields of 32 bits (every such row's bounds fit).
    fn n32(&self, key: Key) -> u32 {
        u32::try_from(self.n(key)).unwrap_or(u32::MAX)
    }
    fn on(&self, key: Key) -> bool {
        self.n(key) != 0
    }
    fn word(&self, key: Key) -> String {
        Param::of(key).print(self.value(key))
    }
    fn is(&self, key: Key, word: &str) -> bool {
        self.word(key) == word
    }
    /// The key as the user wrote it.
    fn name(&self, key: Key) -> String {
        if let Some(own) = self.of.and_then(|of| self.s.own_of(self.side, of, key)) {
            return own.name();
        }
        let own = self.side == Side::B && self.s.b_value(key).is_some();
        own_name(if own { Side::B } else { Side::A }, None, key)
    }
    fn error(&self, key: Key, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(&self.name(key), &self.word(key), message)
    }
    fn warning(&self, key: Key, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(&self.name(key), &self.word(key), message)
    }

    fn stack(&self) -> Stack {
        self.s.stack(self.side)
    }
    /// The bytes in effect, in sectors.
    fn sectors(&self, key: Key) -> u64 {
        self.n(key) / SECTOR_BYTES
    }

    fn config(&mut self) -> SimConfig {
        let mut devices = self.disks();
        let faults = self.faults(&devices);
        let wake_faults = self.wake_faults(&devices);
        let target = self.target(&mut devices);
        let mut jobs = match self.word(Key::Workload).as_str() {
            "writeback" => self.writeback(&target).into_iter().collect(),
            "none" => {
                if !self.on_check() {
                    let d = self.error(Key::Workload, "nothing would happen: nobody submits and no check runs");
                    self.problems.push(d.suggest("sync_action=check"));
                }
                if self.n(Key::RampSize) > 0 {
                    let d = self.error(Key::RampSize, "nobody submits, so the ramp would not end");
                    self.problems.push(d.suggest("0"));
                }
                Vec::new()
            }
            _ => self.jobs(&target),
        };
        let fill = self.first_fill(&jobs);
        jobs.extend(self.pass_through());
        if let Some(drive) = devices[0].disk_mut().filter(|d| d.profile.zoned) {
            drive.first_fill = fill;
        }
        let some = |n: u64| (n > 0).then_some(n);
        SimConfig {
            seed: self.n(Key::Seed),
            stop: Stop { runtime_ns: some(self.n(Key::Runtime)), bytes: some(self.n(Key::IoSize)) },
            ramp: Ramp { time_ns: self.n(Key::RampTime), bytes: self.n(Key::RampSize) },
            kernel: self.kernel(),
            host: self.host(),
            devices,
            jobs,
            changes: Vec::new(),
            faults,
            wake_faults,
        }
    }

    /// An array's check runs.
    fn on_check(&self) -> bool {
        self.is(Key::SyncAction, "check") && self.s.in_effect(self.side, Key::SyncAction)
    }

    /// The disks: those with settings of their own, and copies of what is said of all.
    fn disks(&mut self) -> Vec<DeviceConfig> {
        let stack = self.stack();
        let mut alike: Option<DeviceConfig> = None;
        let mut disks = Vec::new();
        for i in 0..stack.members(self.n(Key::RaidDisks)) {
            let of = Instance::Disk(i);
            let own = self.s.own().any(|o| o.of == of && o.side <= self.side);
            let disk = match &alike {
                Some(disk) if !own => disk.clone(),
                _ => {
                    self.of = own.then_some(of);
                    self.disk()
                }
            };
            if !own && alike.is_none() {
                alike = Some(disk.clone());
            }
            // Below a stack settings know the disks by these names, whatever they are.
            let alone = stack == Stack::None && matches!(disk.kind, DeviceKind::NullBlk(_));
            let (name, dev) = if alone { ("nullb0".into(), NULL_BLK_NUMBER) } else { (disk_name(i), disk_number(i)) };
            disks.push(DeviceConfig { name, dev, ..disk });
        }
        self.of = None;
        disks
    }

    /// One disk, without its name.
    fn disk(&mut self) -> DeviceConfig {
        let drive = self.word(Key::Drive);
        let modelled = !matches!(drive.as_str(), "capped" | "null_blk");
        let mut queue = self.queue(if modelled { BLOCK_BYTES } else { CAPPED_BLOCK_BYTES });
        queue.zoned_qd1_writes &= modelled;
        queue.ncq_prio &= modelled;
        let kind = match drive.as_str() {
            "capped" => DeviceKind::Capped(CappedConfig {
                capacity: self.sectors(Key::Capacity),
                iops: self.n(Key::CapIops),
                rate: self.n(Key::CapRate),
                latency_ns: self.n(Key::CapLatencyNs),
                channels: self.n32(Key::CapChannels),
            }),
            "null_blk" => DeviceKind::NullBlk(NullBlkConfig {
                capacity: self.sectors(Key::Capacity),
                irqmode: match self.n(Key::Irqmode) {
                    0 => NullIrq::None,
                    1 => NullIrq::Softirq,
                    _ => NullIrq::Timer,
                },
                completion_ns: self.n(Key::CompletionNsec),
                ..NullBlkConfig::default()
            }),
            _ => {
                let drive = self.drive();
                queue.zoned_qd1_writes &= drive.profile.zoned;
                DeviceKind::Disk(drive)
            }
        };
        let throttle = self.throttle(self.stack() == Stack::None);
        DeviceConfig { name: String::new(), dev: (0, 0), queue: Some(queue), kind, throttle }
    }

    /// io.max of a device: what it has of its own, and on the jobs' device what is said without an instance.
    fn throttle(&self, of_jobs: bool) -> Option<ThrottleConfig> {
        let own = |key: Key| self.of.is_some_and(|of| self.s.own_of(self.side, of, key).is_some());
        let n = |key: Key| if of_jobs || own(key) { self.n(key) } else { 0 };
        let t = ThrottleConfig { rbps: n(Key::Rbps), wbps: n(Key::Wbps), riops: n(Key::Riops), wiops: n(Key::Wiops) };
        (t != ThrottleConfig::default()).then_some(t)
    }

    /// The device jobs submit to, put behind the disks if it is a stacked one.
    fn target(&mut self, devices: &mut Vec<DeviceConfig>) -> Target {
        let stack = self.stack();
        let block = devices.iter().filter_map(|d| Some(u64::from(d.queue?.block_bytes))).max().unwrap_or(BLOCK_BYTES);
        let zoned = (0u8..).zip(&*devices).find_map(|(n, d)| Some((n, &d.disk()?.profile)).filter(|(_, p)| p.zoned));
        let zones = zoned.map(|(_, p)| p.clone());
        let mut sizes: Vec<u64> = devices.iter().map(sectors_of).collect();
        if stack == Stack::None {
            return Target { dev: 0, sectors: sizes[0], block, zones };
        }
        if let Some((n, _)) = zoned {
            self.of = Some(Instance::Disk(n));
            match stack {
                Stack::Md(_) => {
                    let d = self.error(Key::Drive, "md takes no zoned members").suggest("drive=cmr-8tb");
                    self.problems.push(d);
                }
                Stack::Stripe => {
                    let message = "the kernel's striped target refuses zoned devices: simulated all the same";
                    let d = self.warning(Key::Drive, message);
                    self.problems.push(d);
                }
                Stack::None | Stack::Crypt => {}
            }
            self.of = None;
        }
        let members: Vec<DevIdx> = (0..).zip(&*devices).map(|(i, _)| i).collect();
        let chunk = self.n(Key::Chunk);
        let (mut fits, chunked) = (true, self.s.in_effect(self.side, Key::Chunk));
        if chunked && !chunk.is_power_of_two() {
            let d = self.error(Key::Chunk, "not a power of two").suggest(print_bytes(1 << chunk.ilog2()));
            self.problems.push(d);
        }
        if members.len() > 1 && self.n(Key::RaidDisks) < stack.min_disks() {
            let message = format!("{} needs at least {}", self.word(Key::Stack), stack.min_disks());
            let d = self.error(Key::RaidDisks, message).suggest(stack.min_disks().to_string());
            self.problems.push(d);
            fits = false;
        }
        let chunk_sectors = (chunk / SECTOR_BYTES) as u32;
        let kind = match stack {
            Stack::Md(level) => {
                let layout = self.layout(level, &mut fits);
                let md = self.md(level, members, chunk_sectors, layout);
                if let Some(n) = sizes.iter().position(|size| md.data_offset >= *size) {
                    let message = ["beyond the end of ", &devices[n].name, ", which has "].concat();
                    let d = self.error(Key::DataOffset, message + &print_bytes(sizes[n] * SECTOR_BYTES));
                    self.problems.push(d.suggest("0"));
                }
                for size in &mut sizes {
                    *size = size.saturating_sub(md.data_offset);
                }
                DeviceKind::Md(md)
            }
            Stack::Crypt => DeviceKind::Dm(DmConfig { target: self.crypt(zones.is_some()), members }),
            Stack::Stripe | Stack::None => {
                DeviceKind::Dm(DmConfig { target: DmTarget::Striped { chunk_sectors }, members })
            }
        };
        let layout = if let DeviceKind::Md(m) = &kind { m.layout } else { 0 };
        let sectors = if fits { stack.sectors(&sizes, chunk_sectors, layout) } else { 0 };
        if fits && sectors == 0 && !self.problems.has_errors() {
            let d = self.error(Key::Chunk, "the members do not hold one row").suggest(print_bytes(STRIPE_BYTES));
            self.problems.push(d);
        }
        let dev = devices.len() as DevIdx;
        devices.push(DeviceConfig {
            name: stack.name().into(),
            dev: stack.number(),
            queue: None,
            kind,
            throttle: self.throttle(true),
        });
        Target { dev, sectors, block, zones }
    }

    /// md's number of the layout, or an error where the word is another level's.
    fn layout(&mut self, level: MdLevel, fits: &mut bool) -> u32 {
        let Value::Word(word) = self.resolved(Key::Layout) else { return 0 };
        let (word, (words, default)) = (usize::from(word), self.stack().layouts());
        if level == MdLevel::Raid1 {
            return 0;
        }
        let number = layout_number(word);
        let copies = (number & 0xff) * (number >> 8 & 0xff);
        if !words.contains(&word) {
            let d = self.error(Key::Layout, ["is no layout of ", &self.word(Key::Stack)].concat());
            self.problems.push(d.allow(LAYOUTS[words].join(", ")).suggest(LAYOUTS[default]));
            *fits = false;
        } else if level == MdLevel::Raid10 && u64::from(copies) > self.n(Key::RaidDisks) {
            let d = self.error(Key::Layout, "more copies than members").suggest(LAYOUTS[default]);
            self.problems.push(d);
            *fits = false;
        }
        number
    }

    fn md(&mut self, level: MdLevel, members: Vec<DevIdx>, chunk_sectors: u32, layout: u32) -> MdConfig {
        let parity = matches!(level, MdLevel::Raid5 | MdLevel::Raid6);
        let (stripes, disks) = (self.n(Key::StripeCacheSize), members.len() as u64);
        if parity && stripes * disks > MAX_STRIPE_PAGES {
            let message = format!("{stripes} stripes of {disks} members are too many to keep");
            let fits = MAX_STRIPE_PAGES / disks;
            let d = self.error(Key::StripeCacheSize, message).allow(format!("up to {fits}"));
            self.problems.push(d.suggest(fits.to_string()));
        }
        if parity && self.n(Key::PrereadBypassThreshold) > stripes {
            let d = self.error(Key::PrereadBypassThreshold, "the kernel refuses more than stripe_cache_size (EINVAL)");
            self.problems.push(d.suggest(stripes.to_string()));
        }
        let offset = self.n(Key::DataOffset);
        if !offset.is_multiple_of(BLOCK_BYTES) {
            let near = print_bytes(offset / BLOCK_BYTES * BLOCK_BYTES);
            let d = self.error(Key::DataOffset, "not a multiple of 4 KiB").suggest(near);
            self.problems.push(d);
        }
        let kib = |n: u64| u32::try_from(n >> 10).unwrap_or(u32::MAX);
        let speed = SyncConfig { speed_min: kib(self.n(Key::SyncSpeedMin)), speed_max: kib(self.n(Key::SyncSpeedMax)) };
        if self.on_check() && speed.speed_min > speed.speed_max {
            let message = format!("faster than sync_speed_max={}", speed.speed_max);
            let d = self.warning(Key::SyncSpeedMin, message);
            self.problems.push(d.suggest(speed.speed_max.to_string()));
        }
        MdConfig {
            level,
            members,
            chunk_sectors,
            layout,
            data_offset: offset / SECTOR_BYTES,
            stripe_cache_size: stripes as u32,
            rmw_level: self.n(Key::RmwLevel) as u8,
            preread_bypass_threshold: self.n32(Key::PrereadBypassThreshold),
            sync: self.on_check().then_some(speed),
        }
    }

    fn crypt(&mut self, zoned: bool) -> DmTarget {
        let mut most = |key: Key, default: u64, hardware: u64| {
            let n = self.n(key);
            if n > hardware {
                let message = ["dm-crypt lowers it to ", &print_bytes(hardware)].concat();
                let d = self.warning(key, message);
                self.problems.push(d);
            }
            let n = if n == 0 { default } else { n.min(hardware) };
            (n / SECTOR_BYTES) as u32
        };
        DmTarget::Crypt {
            max_read: most(Key::MaxReadSize, CRYPT_DEFAULT, u64::MAX),
            max_write: most(Key::MaxWriteSize, if zoned { 0 } else { CRYPT_DEFAULT }, CRYPT_MAX_WRITE),
            sector_ns: self.n(Key::CryptSectorNs),
        }
    }

    fn kernel(&self) -> KernelConfig {
        KernelConfig {
            zone_ordering: if self.is(Key::ZoneOrdering, "none") { ZoneOrdering::None } else { ZoneOrdering::Zwplug },
            dead_plug_revive: self.on(Key::DeadPlugRevive),
            split_insert: if self.is(Key::SplitInsert, "tail") { SplitInsert::Tail } else { SplitInsert::Head },
            bio_list_model: if self.is(Key::BioListModel, "one_list") {
                BioListModel::OneList
            } else {
                BioListModel::TwoList
            },
            plug: PlugConfig {
                order: if self.is(Key::PlugOrder, "lifo") { PlugOrder::Lifo } else { PlugOrder::Fifo },
                merge: if self.is(Key::PlugMerge, "head") { PlugMerge::Head } else { PlugMerge::Newest },
                flush_bytes: self.n32(Key::PlugFlushBytes),
                max_rq: self.n32(Key::PlugMaxRq),
                multi_factor: self.n32(Key::PlugMultiFactor),
                per_step: self.on(Key::StepPlug),
            },
            raid5_stripe_limit: self.on(Key::Raid5StripeLimit),
            md_chunk_limit: self.on(Key::MdChunkLimit),
            raid5_max_hw: self.on(Key::Raid5MaxHw),
            raid5_spread: self.on(Key::Raid5Spread),
            max_sectors_cap: if self.is(Key::MaxSectorsCap, "1280KiB") { 2560 } else { 8192 },
            async_depth_owner: self.async_depth_owner(),
            shallow_per_word: self.on(Key::ShallowPerWord),
            sbitmap_wake: if self.is(Key::SbitmapWake, "per_queue") {
                SbitmapWake::PerQueue
            } else {
                SbitmapWake::PerMap
            },
            ..KernelConfig::default()
        }
    }

    fn host(&mut self) -> HostCosts {
        let host = HostCosts {
            submit_ns: self.n(Key::SubmitNs),
            issue_ns: self.n(Key::IssueNs),
            lock_wake_ns: self.n(Key::LockWakeNs),
            worker_wake_ns: self.n(Key::WorkerWakeNs),
            nr_cpus: u16::try_from(self.n(Key::NrCpus)).unwrap_or(u16::MAX),
            step_ns: self.n(Key::StepNs),
            md_wake_ns: self.n(Key::MdWakeNs),
            md_bio_ns: self.n(Key::MdBioNs),
            md_rq_ns: self.n(Key::MdRqNs),
            md_sync_ns: self.n(Key::MdSyncNs),
            wake_ns: self.n(Key::WakeNs),
            wake_spread_ns: self.n(Key::WakeSpreadNs),
            kblockd_ns: self.n(Key::KblockdNs),
            ipi_ns: self.n(Key::IpiNs),
            ..HostCosts::default()
        };
        if host.issue_ns >= host.lock_wake_ns {
            let message = format!(
                "not shorter than lock_wake_ns={}: a job waiting for a zone then submits before the kernel has issued \
                 that zone's next write, and the random-zone figures change",
                print_time(host.lock_wake_ns)
            );
            let d = self.warning(Key::IssueNs, message);
            self.problems.push(d);
        }
        host
    }

    fn async_depth_owner(&self) -> AsyncDepthOwner {
        match self.word(Key::AsyncDepthOwner).as_str() {
            "elevator" => AsyncDepthOwner::Elevator,
            "elevator_5_17" => AsyncDepthOwner::Elevator517,
            _ => AsyncDepthOwner::Queue,
        }
    }

    /// Said of this side itself: not what run B or a disk takes over.
    fn is_given(&self, key: Key) -> bool {
        match self.of.and_then(|of| self.s.own_of(self.side, of, key)) {
            Some(own) => own.side == self.side,
            None if self.side == Side::B => self.s.b_value(key).is_some(),
            None => self.s.is_changed(key),
        }
    }

    /// nr_requests after the kernel's store (kernel 3.3), with `tags` in each hardware queue.
    fn nr_requests(&mut self, tags: u64) -> u64 {
        let (mut n, scheduled) = (self.n(Key::NrRequests), !self.is(Key::Scheduler, "none"));
        if *self.value(Key::NrRequests) == Value::Auto {
            return n;
        }
        if n < MIN_REQUESTS {
            self.problems.push(self.warning(Key::NrRequests, "the kernel raises it to 4"));
            n = MIN_REQUESTS;
        }
        if !scheduled && n > tags {
            let message = format!("without a scheduler the kernel refuses more than the {tags} hardware tags (EINVAL)");
            let d = self.error(Key::NrRequests, message).suggest("scheduler=mq-deadline");
            self.problems.push(d);
        } else if n > MAX_REQUESTS {
            let d = self.error(Key::NrRequests, "with a scheduler the kernel refuses more than 2048 (EINVAL)");
            self.problems.push(d.suggest("2048"));
        }
        n.min(MAX_REQUESTS)
    }

    /// async_depth after the store of whose attribute it is (kernel 3.4).
    fn async_depth(&mut self, nr_requests: u64) -> u64 {
        let depth = self.n(Key::AsyncDepth);
        if *self.value(Key::AsyncDepth) == Value::Auto {
            return depth.min(nr_requests);
        }
        let (scheduler, given) = (self.word(Key::Scheduler), self.is_given(Key::AsyncDepth));
        let of_queue = self.async_depth_owner() == AsyncDepthOwner::Queue;
        let suggest = match (scheduler.as_str(), of_queue) {
            ("mq-deadline", _) | (_, true) if scheduler != "none" => None,
            ("none", true) => Some(("without a scheduler the kernel refuses it (EINVAL)", "scheduler=mq-deadline")),
            ("none", false) => {
                Some(("is a file of mq-deadline: without a scheduler there is none (ENOENT)", "scheduler=mq-deadline"))
            }
            _ => Some(("only mq-deadline has this file before 7.0 (ENOENT)", "async_depth_owner=queue")),
        };
        if let Some((message, way_out)) = suggest {
            if given {
                let d = self.error(Key::AsyncDepth, message).suggest(way_out);
                self.problems.push(d);
            }
            // Run B, or a point of a sweep, keeps A's value for when there is a scheduler.
            return match self.s.auto(self.side, self.of, Key::AsyncDepth) {
                Value::Int(n) => n.min(nr_requests),
                _ => nr_requests,
            };
        }
        match depth {
            0 if of_queue => {
                let d = self.error(Key::AsyncDepth, "the kernel refuses 0 (EINVAL)").suggest("1");
                self.problems.push(d);
            }
            0 => self.problems.push(self.warning(Key::AsyncDepth, "the kernel raises it to 1")),
            n if n > nr_requests && of_queue => {
                let d = self.warning(Key::AsyncDepth, format!("the kernel lowers it to nr_requests, {nr_requests}"));
                self.problems.push(d);
            }
            n if n > nr_requests => {
                let message = format!("limits nothing: more than nr_requests, {nr_requests}");
                let d = Diagnostic::note(&self.name(Key::AsyncDepth), &self.word(Key::AsyncDepth), message);
                self.problems.push(d);
            }
            _ => {}
        }
        depth.clamp(1, nr_requests.max(1))
    }

    /// Commands of one hardware queue: driver tags, or those that the drive holds.
    fn queue_depth(&mut self) -> (u64, u64) {
        if self.is(Key::Drive, "null_blk") {
            let depth = self.n(Key::HwQueueDepth);
            return (depth, depth);
        }
        let tags = match (self.is(Key::Drive, "capped"), self.is(Key::Hba, "mpi3mr")) {
            (true, _) => CAPPED_TAGS,
            (_, true) => SAS_TAGS,
            _ => HARDWARE_TAGS,
        };
        let depth = self.n(Key::QueueDepth);
        if depth > tags {
            let d = self.error(Key::QueueDepth, format!("the drive holds {tags} commands at most"));
            self.problems.push(d.suggest(tags.to_string()));
        } else if depth == 1 && self.on(Key::NcqPrio) && self.s.in_effect(self.side, Key::NcqPrio) {
            let d = self.warning(Key::NcqPrio, "has no effect with queue_depth=1, which switches NCQ off");
            self.problems.push(d.suggest("queue_depth=32"));
        }
        (depth, tags)
    }

    /// Hardware queues after what driver and kernel make of them.
    fn nr_hw_queues(&mut self) -> u16 {
        let null_blk = self.is(Key::Drive, "null_blk");
        let key = if null_blk { Key::SubmitQueues } else { Key::NrHwQueues };
        let (n, cpus) = (self.n(key), self.n(Key::NrCpus));
        // A device known by its limits has no adapter but what its commands look like.
        if n > 1 && !null_blk && !self.is(Key::Drive, "capped") && self.is(Key::Hba, "ahci") {
            let d = self.error(key, "an AHCI port has one hardware queue").suggest("hba=mpi3mr");
            self.problems.push(d);
        } else if n > cpus {
            let d = self.warning(key, format!("the driver makes no more than there are CPUs, {cpus}"));
            self.problems.push(d.suggest(cpus.to_string()));
        }
        n.min(cpus) as u16
    }

    fn queue(&mut self, block: u64) -> QueueConfig {
        let (queue_depth, tags) = self.queue_depth();
        let nr_requests = self.nr_requests(tags);
        let async_depth = self.async_depth(nr_requests);

        let mut max_bytes = self.n(Key::MaxSectorsKb);
        let hardware = self.s.max_hw_bytes(self.side, self.of);
        if max_bytes < BLOCK_BYTES {
            let d = self.error(Key::MaxSectorsKb, "the kernel refuses less than 4 KiB (EINVAL)").suggest("4");
            self.problems.push(d);
        } else if max_bytes > hardware {
            let by = if self.is(Key::Drive, "null_blk") { "null_blk" } else { "the host adapter" };
            let kib = hardware >> 10;
            let d = self.warning(Key::MaxSectorsKb, format!("the kernel lowers it to what {by} allows, {kib} KiB"));
            self.problems.push(d);
            max_bytes = hardware;
        }

        QueueConfig {
            elevator: match self.word(Key::Scheduler).as_str() {
                "none" => ElevatorKind::None,
                "kyber" => ElevatorKind::Kyber,
                "bfq" => ElevatorKind::Bfq,
                _ => ElevatorKind::MqDeadline,
            },
            nr_requests: nr_requests as u32,
            async_depth: async_depth as u32,
            queue_depth: queue_depth as u32,
            nr_hw_queues: self.nr_hw_queues(),
            rq_affinity: self.n(Key::RqAffinity) as u8,
            shared_users: self.n(Key::SharedUsers) as u16,
            host_tags: self.on(Key::HostTags),
            ncq_prio: self.on(Key::NcqPrio),
            tag_alloc: match self.resolved(Key::TagAlloc) {
                Value::Word(0) => TagAlloc::Hint,
                _ => TagAlloc::RoundRobin,
            },
            max_sectors: (max_bytes / block * (block / SECTOR_BYTES)) as u32,
            max_segments: self.n32(Key::MaxSegments),
            block_bytes: block as u32,
            nomerges: self.n(Key::Nomerges) as u8,
            zoned_qd1_writes: self.on(Key::ZonedQd1Writes) && self.is(Key::ZoneOrdering, "zwplug"),
            mq_deadline: MqDeadlineConfig {
                read_expire_ns: self.n(Key::ReadExpire),
                write_expire_ns: self.n(Key::WriteExpire),
                prio_aging_expire_ns: self.n(Key::PrioAgingExpire),
                writes_starved: self.n32(Key::WritesStarved),
                fifo_batch: self.n32(Key::FifoBatch),
                front_merges: self.on(Key::FrontMerges),
            },
            kyber: KyberConfig { read_lat_ns: self.n(Key::ReadLatNsec), write_lat_ns: self.n(Key::WriteLatNsec) },
            bfq: BfqConfig {
                fifo_expire_sync_ns: self.n(Key::FifoExpireSync),
                fifo_expire_async_ns: self.n(Key::FifoExpireAsync),
                back_seek_max_kib: u32::try_from(self.n(Key::BackSeekMax) >> 10).unwrap_or(u32::MAX),
                back_seek_penalty: self.n32(Key::BackSeekPenalty),
                slice_idle_ns: self.n(Key::SliceIdle),
                max_budget: self.n32(Key::MaxBudget),
                timeout_sync_ns: self.n(Key::TimeoutSync),
                strict_guarantees: self.on(Key::StrictGuarantees),
                low_latency: self.on(Key::LowLatency),
            },
            ..QueueConfig::default()
        }
    }

    fn drive(&mut self) -> DriveConfig {
        let mut profile = self.s.profile(self.side, self.of).drive.clone();
        profile.rev_ns = self.n(Key::RevNs);
        profile.rate_outer = self.n(Key::RateOuter);
        profile.rate_inner = self.n(Key::RateInner);
        profile.recording_zones = self.n32(Key::RecordingZones);
        profile.settle_ns = self.n(Key::SettleNs);
        profile.seek_full_ns = self.n(Key::SeekFullNs);
        profile.slots = self.n32(Key::Slots);
        profile.slots_per_waiting_milli = self.n32(Key::SlotsPerWaiting);
        profile.window_min = self.n32(Key::WindowMin);
        profile.visit_commands = self.n32(Key::VisitCommands);
        profile.candidates = self.n32(Key::Candidates);
        profile.zone_reset_ns = self.n(Key::ZoneResetNs);
        profile.interface_rate = self.n(Key::InterfaceRate);
        profile.command_ns = self.n(Key::CommandNs);
        profile.read_age_ns = self.n(Key::ReadAgeNs);
        if profile.rate_inner > profile.rate_outer {
            let d = self.error(Key::RateInner, "faster than rate_outer: outer tracks are the long ones");
            self.problems.push(d);
        }
        if !self.on(Key::WriteCache) && !self.is(Key::WriteOffMode, "media") {
            let message = "changes nothing: this drive keeps acknowledging from a non-volatile cache";
            let d = Diagnostic::note(&self.name(Key::WriteCache), "0", message);
            self.problems.push(d.suggest("write_off_mode=media"));
        }
        DriveConfig {
            profile: Arc::new(profile),
            zone_phase: if self.is(Key::ZonePhase, "random") { ZonePhase::Random } else { ZonePhase::ByLba },
            write_cache: self.on(Key::WriteCache),
            write_off_mode: if self.is(Key::WriteOffMode, "media") {
                WriteOffMode::Media
            } else {
                WriteOffMode::Nonvolatile
            },
            first_fill: FirstFill::Empty,
        }
    }

    /// Offset or size in whole zones; an error if it is none.
    fn whole_zones(&mut self, key: Key, zone_bytes: u64) -> u64 {
        match self.resolved(key) {
            Value::Int(bytes) => {
                let zones = bytes / zone_bytes;
                if bytes % zone_bytes != 0 {
                    let message = ["not a whole number of zones of ", &print_bytes(zone_bytes)].concat();
                    let d = self.error(key, message).suggest(format!("{}z", zones.max(1)));
                    self.problems.push(d);
                }
                zones
            }
            Value::Zones(n) => n,
            _ => 0,
        }
    }

    /// The zones that the jobs use are filled at random: from the first to the last of all jobs.
    fn first_fill(&self, jobs: &[JobConfig]) -> FirstFill {
        if !self.is(Key::FirstFill, "random") {
            return FirstFill::Empty;
        }
        let ranges = jobs.iter().filter_map(|job| match &job.workload {
            WorkloadConfig::FioZbd(f) => Some((f.first_zone, f.first_zone.saturating_add(f.zones), f.bs)),
            _ => None,
        });
        let all = ranges.reduce(|(from, to, step), (first, end, bs)| (first.min(from), end.max(to), gcd(step, bs)));
        all.map_or(FirstFill::Empty, |(first, end, granularity)| FirstFill::Random {
            first,
            count: end - first,
            granularity,
        })
    }

    fn offset(&mut self, p: &DriveProfile) -> u64 {
        let offset = self.whole_zones(Key::Offset, p.zone_sectors * SECTOR_BYTES);
        if offset >= u64::from(p.nr_zones) {
            let d = self.error(Key::Offset, format!("beyond the end of the disk, which has {} zones", p.nr_zones));
            self.problems.push(d);
        } else if offset < u64::from(p.nr_conv_zones) {
            let message = format!("zones below {} are conventional and have no write pointer", p.nr_conv_zones);
            let d = self.error(Key::Offset, message).suggest(format!("{}z", p.nr_conv_zones));
            self.problems.push(d);
        }
        offset
    }

    /// Jobs that fio or dd make: those with settings of their own, and copies of what is said of all.
    fn jobs(&mut self, t: &Target) -> Vec<JobConfig> {
        let fio = self.is(Key::Workload, "fio");
        if fio && self.on(Key::TimeBased) && self.n(Key::Runtime) == 0 && self.n(Key::IoSize) == 0 {
            let d = self.warning(Key::TimeBased, "fio ignores it without runtime");
            self.problems.push(d.suggest("runtime=30s"));
        }
        let zbd = fio && self.zbd();
        let zones = t.zones.clone().filter(|_| self.stack() == Stack::None);
        if zbd && zones.is_none() {
            let d = self.error(Key::Zonemode, "this device has no zones").suggest("zonemode=none");
            self.problems.push(d);
            return Vec::new();
        }
        let mut alike: Option<JobConfig> = None;
        let mut jobs: Vec<JobConfig> = Vec::new();
        for i in 0..self.numjobs() as u16 {
            let of = Instance::Job(i);
            self.of = self.s.own().any(|o| o.of == of && o.side <= self.side).then_some(of);
            let job = match (&alike, &zones) {
                (Some(job), _) if self.of.is_none() => job.clone(),
                (_, Some(p)) if zbd => self.zbd_job(p),
                _ => self.linear_job(t, fio),
            };
            if self.of.is_none() {
                alike.get_or_insert_with(|| job.clone());
            }
            jobs.push(JobConfig { name: ["job", &i.to_string()].concat(), ..job });
        }
        self.of = None;
        let ramp = self.n(Key::RampSize);
        let bytes = jobs.iter().map(job_bytes).sum::<Option<u64>>();
        if let Some(bytes) = bytes
            && ramp > 0
            && bytes > 0
            && ramp >= bytes
        {
            let d = self.error(Key::RampSize, "the jobs end before the ramp does, so nothing would be measured");
            self.problems.push(d);
        }
        jobs
    }

    fn numjobs(&self) -> u64 {
        match self.word(Key::Workload).as_str() {
            "fio" => self.n(Key::Numjobs),
            "dd" => 1,
            _ => 0,
        }
    }
    /// fio goes by zones.
    fn zbd(&self) -> bool {
        self.resolved(Key::Zonemode) == Value::Word(0)
    }

    fn rw(&self) -> Rw {
        match self.word(Key::Rw).as_str() {
            "randwrite" => Rw::RandWrite,
            "read" => Rw::Read,
            "randread" => Rw::RandRead,
            "rw" => Rw::ReadWrite,
            "randrw" => Rw::RandRw,
            _ => Rw::Write,
        }
    }
    /// I/Os without end: until the run time is over, or io_size is reached.
    fn repeats(&self) -> bool {
        self.n(Key::IoSize) > 0 || self.on(Key::TimeBased) && self.n(Key::Runtime) > 0
    }
    fn segment_bytes(&self) -> u32 {
        if self.on(Key::Hugepages) { 2 << 20 } else { 4096 }
    }
    /// `bs` in bytes: whole blocks.
    fn bs(&mut self, block: u64) -> u64 {
        let bs = self.n(Key::Bs);
        if !bs.is_multiple_of(block) {
            let near = print_bytes((bs / block).max(1) * block);
            let block = if block == BLOCK_BYTES { "4 KiB" } else { "512-byte" };
            let d = self.error(Key::Bs, ["not a multiple of the disk's ", block, " block"].concat()).suggest(near);
            self.problems.push(d);
        }
        bs
    }

    /// One job of fio with zonemode=zbd: what is said of all, or what [`Checker::of`] has of its own.
    fn zbd_job(&mut self, p: &DriveProfile) -> JobConfig {
        let capacity = p.zone_capacity_sectors * SECTOR_BYTES;
        let offset = self.offset(p);
        let room = u64::from(p.nr_zones).saturating_sub(offset);
        // `auto` is the rest of the disk behind this job's own offset.
        let size = match self.value(Key::Size) {
            Value::Auto => room,
            _ => self.whole_zones(Key::Size, p.zone_sectors * SECTOR_BYTES),
        };
        if size > room && room > 0 {
            let d = self.error(Key::Size, format!("beyond the end of the disk: {room} zones from offset"));
            self.problems.push(d.suggest(format!("{room}z")));
        }
        let bs = self.bs(BLOCK_BYTES);
        if bs.is_multiple_of(BLOCK_BYTES) && bs > capacity {
            let d = self.error(Key::Bs, "larger than a zone").suggest(print_bytes(capacity));
            self.problems.push(d);
        }
        let open = self.n(Key::MaxOpenZones);
        if p.max_open_zones > 0 && open > u64::from(p.max_open_zones) {
            let message = format!("more than the disk can have open, {}", p.max_open_zones);
            let d = self.error(Key::MaxOpenZones, message).suggest(p.max_open_zones.to_string());
            self.problems.push(d);
        }
        let rw = self.rw();
        if rw.reads() && rw.writes() {
            let d = self.error(Key::Rw, "mixes need zonemode=none here");
            self.problems.push(d.suggest(if rw.is_random() { "randwrite" } else { "write" }));
        }
        if matches!(rw, Rw::Read | Rw::RandRead) && !self.is(Key::FirstFill, "random") {
            let d = self.warning(Key::Rw, "all zones are empty, so fio finds nothing to read");
            self.problems.push(d.suggest("first_fill=random"));
        }
        let workload = FioZbdConfig {
            rw,
            bs: bs / SECTOR_BYTES,
            iodepth: self.n32(Key::Iodepth),
            first_zone: offset.min(u64::from(u32::MAX)) as u32,
            zones: size.min(u64::from(u32::MAX)) as u32,
            max_open_zones: open as u32,
            io_bytes: (!self.repeats()).then_some(size.saturating_mul(capacity)),
            ..FioZbdConfig::default()
        };
        JobConfig {
            name: String::new(),
            dev: 0,
            workload: WorkloadConfig::FioZbd(workload),
            prio: self.prio(),
            bio_segment_bytes: self.segment_bytes(),
            start_ns: 0,
            cgroup: Default::default(),
        }
    }

    /// The job's priority: fio's prio without a class is one of best effort.
    fn prio(&self) -> IoPrio {
        let level = self.n(Key::Prio) as u8;
        let class = match self.word(Key::Prioclass).as_str() {
            "none" if level == 0 => IoClass::None,
            "rt" => IoClass::Rt,
            "idle" => IoClass::Idle,
            _ => IoClass::Be,
        };
        IoPrio { class, level }
    }

    fn dirs(&self, key: Key) -> [u64; 2] {
        match self.resolved(key) {
            Value::Dirs(read, write) => [read, write],
            _ => [0; 2],
        }
    }

    /// bssplit in sectors, the smallest share first, as fio looks them up (fio 2.1).
    fn split(&mut self, block: u64) -> [Vec<(u32, u8)>; 2] {
        let Value::Splits(split) = self.resolved(Key::Bssplit) else { return Default::default() };
        if let Some((n, _)) = split.iter().flatten().find(|(n, _)| !n.is_multiple_of(block)) {
            let message =
                [&print_bytes(*n), " is not a multiple of the device's block of ", &print_bytes(block)].concat();
            let d = self.error(Key::Bssplit, message);
            self.problems.push(d);
        }
        split.map(|of_dir| {
            let mut sorted: Vec<(u32, u8)> = Vec::new();
            for (n, percent) in of_dir {
                let at = sorted.iter().take_while(|(_, p)| *p <= percent).count();
                // Each is at most 256 MiB.
                sorted.insert(at, ((n / SECTOR_BYTES).max(1) as u32, percent));
            }
            sorted
        })
    }

    /// fio's options that shape queueing, of a job with `sectors` and I/Os of `bs` bytes at least.
    fn fio_options(
        &mut self,
        t: &Target,
        rw: Rw,
        bs: u64,
        sectors: Sector,
        iodepth: u32,
        bssplit: [Vec<(u32, u8)>; 2],
    ) -> FioOptions {
        let asynchronous = self.is(Key::Ioengine, "libaio") || self.is(Key::Ioengine, "io_uring");
        for key in [Key::IodepthLow, Key::CompleteMin] {
            if asynchronous && *self.value(key) != Value::Auto && self.n32(key) > iodepth {
                let d = self.warning(key, format!("fio lowers it to iodepth, {iodepth}"));
                self.problems.push(d);
            }
        }
        let complete_min = self.n32(Key::CompleteMin).min(iodepth);
        if *self.value(Key::CompleteMax) != Value::Auto && self.n32(Key::CompleteMax) < complete_min {
            let d =
                self.warning(Key::CompleteMax, format!("fio raises it to iodepth_batch_complete_min, {complete_min}"));
            self.problems.push(d);
        }
        let (mut rate, iops) = (self.dirs(Key::Rate), self.dirs(Key::RateIops));
        let mut rate_iops = [0; 2];
        if rate != [0; 2] && iops != [0; 2] {
            let d = self.error(Key::RateIops, "rate and rate_iops are mutually exclusive").suggest("0");
            self.problems.push(d);
        } else if iops != [0; 2] {
            // The rate is one of bytes of the smallest size; with sizes split, one of I/Os (fio 2.5).
            match bssplit.iter().all(Vec::is_empty) {
                true => rate = iops.map(|n| n.saturating_mul(bs)),
                false => rate_iops = iops.map(|n| n as u32),
            }
        }
        let (think, spin) = (self.n(Key::Thinktime), self.n(Key::ThinktimeSpin));
        if spin > think {
            let d = self.warning(Key::ThinktimeSpin, ["fio lowers it to thinktime, ", &print_time(think)].concat());
            self.problems.push(d);
        }
        let mut distribution = match self.resolved(Key::RandomDistribution) {
            Value::Law(law) => law,
            _ => Distribution::Random,
        };
        if let Distribution::Zoned { absolute: true, parts } = &mut distribution {
            for of_dir in parts {
                let sum = of_dir.iter().fold(0u64, |sum, (_, n)| sum.saturating_add(*n));
                if sum > sectors.saturating_mul(SECTOR_BYTES) {
                    let message = ["the parts are larger than the range of ", &print_bytes(sectors * SECTOR_BYTES)];
                    let d = self.error(Key::RandomDistribution, message.concat());
                    self.problems.push(d);
                } else if of_dir.iter().any(|(_, n)| !n.is_multiple_of(t.block)) {
                    let message = ["not a multiple of the device's block of ", &print_bytes(t.block)].concat();
                    let d = self.error(Key::RandomDistribution, message);
                    self.problems.push(d);
                }
                for (_, n) in of_dir {
                    *n /= SECTOR_BYTES;
                }
            }
        }
        let own = |key: Key| self.of.is_none_or(|of| self.s.own_of(self.side, of, key).is_some());
        let given = |key: Key| own(key) && *self.value(key) != Param::of(key).default_value();
        let mixed = rw.reads() && rw.writes();
        let unused = [
            (Key::Rwmixread, mixed, "rw=rw or randrw"),
            (Key::RandomDistribution, rw.is_random(), "a random rw"),
            (Key::Norandommap, rw.is_random(), "a random rw"),
            (Key::ThinktimeSpin, think > 0, "thinktime"),
            (Key::ThinktimeBlocks, think > 0, "thinktime"),
        ];
        // What is said of all jobs may be meant for one of them.
        let one = self.of.is_some() || !self.s.own().any(|o| matches!(o.of, Instance::Job(_)));
        let notes: Vec<Diagnostic> = unused
            .into_iter()
            .filter(|(key, used, _)| one && !used && given(*key))
            .map(|(key, _, words)| {
                let message = ["has no effect without ", words].concat();
                Diagnostic::note(&self.name(key), &self.word(key), message)
            })
            .collect();
        for d in notes {
            self.problems.push(d);
        }
        let percent = self.dirs(Key::CmdprioPercentage).map(|n| n as u8);
        if percent != [0; 2] && !asynchronous {
            let d = self.error(Key::CmdprioPercentage, "synchronous engines give single I/Os no priority");
            self.problems.push(d.suggest("ioengine=libaio"));
        }
        let class = match self.word(Key::CmdprioClass).as_str() {
            "be" => IoClass::Be,
            "idle" => IoClass::Idle,
            _ => IoClass::Rt,
        };
        FioOptions {
            low: self.n32(Key::IodepthLow).min(iodepth),
            complete_min,
            complete_max: self.n32(Key::CompleteMax).max(complete_min),
            rate,
            rate_iops,
            thinktime_ns: think,
            thinktime_spin_ns: spin.min(think),
            thinktime_blocks: self.n32(Key::ThinktimeBlocks),
            bssplit,
            rwmixread: self.n(Key::Rwmixread) as u8,
            distribution,
            norandommap: self.on(Key::Norandommap),
            cmdprio_percentage: percent,
            cmdprio: IoPrio { class, level: self.n(Key::Cmdprio) as u8 },
        }
    }

    /// A place or length in sectors, whole blocks; zones are those of the disk below.
    fn blocks(&mut self, key: Key, t: &Target) -> u64 {
        let bytes = match (self.resolved(key), &t.zones) {
            (Value::Zones(n), Some(p)) => n.saturating_mul(p.zone_sectors * SECTOR_BYTES),
            (Value::Zones(_), None) => {
                let d = self.error(key, "this device has no zones").suggest("a size in bytes");
                self.problems.push(d);
                0
            }
            (Value::Int(bytes), _) => bytes,
            _ => 0,
        };
        if !bytes.is_multiple_of(t.block) {
            let near = print_bytes((bytes / t.block).max(1) * t.block);
            let d = self.error(key, ["not a multiple of the device's block of ", &print_bytes(t.block)].concat());
            self.problems.push(d.suggest(near));
        }
        bytes / SECTOR_BYTES
    }

    /// One job of dd, or of fio with zonemode=none.
    fn linear_job(&mut self, t: &Target, fio: bool) -> JobConfig {
        let split = if fio { self.split(t.block) } else { Default::default() };
        // What is counted in sizes of I/Os goes by the smallest; the largest must fit.
        let bs = match split.iter().flatten().map(|(n, _)| u64::from(*n) * SECTOR_BYTES).min() {
            Some(least) if split.iter().all(|of_dir| !of_dir.is_empty()) => least,
            Some(least) => least.min(self.bs(t.block)),
            None => self.bs(t.block),
        };
        let largest = split.iter().flatten().fold(bs, |most, (n, _)| most.max(u64::from(*n) * SECTOR_BYTES));
        let first = self.blocks(Key::Offset, t);
        let room = t.sectors.saturating_sub(first);
        if room == 0 && t.sectors > 0 {
            let message = ["beyond the end of the device, which has ", &print_bytes(t.sectors * SECTOR_BYTES)].concat();
            let d = self.error(Key::Offset, message);
            self.problems.push(d);
        }
        let sectors = match self.value(Key::Size) {
            Value::Auto => room,
            _ => self.blocks(Key::Size, t),
        };
        if sectors > room && room > 0 {
            let room = print_bytes(room * SECTOR_BYTES);
            let d = self.error(Key::Size, ["beyond the end of the device: ", &room, " from offset"].concat());
            self.problems.push(d.suggest(room));
        } else if sectors * SECTOR_BYTES < largest && sectors > 0 {
            let key = if largest > bs {
                Key::Bssplit
            } else if *self.value(Key::Size) == Value::Auto {
                Key::Bs
            } else {
                Key::Size
            };
            let d = self.error(key, "no whole I/O fits between offset and the end of the range");
            self.problems.push(d);
        }
        let bios = match self.resolved(Key::Bios) {
            Value::Sizes(list) => list,
            _ => Vec::new(),
        };
        if let Some(n) = bios.iter().find(|n| !n.is_multiple_of(t.block)) {
            let message = [&print_bytes(*n), " is not a multiple of the device's block of ", &print_bytes(t.block)];
            let d = self.error(Key::Bios, message.concat());
            self.problems.push(d);
        }
        if bios.iter().sum::<u64>() > bs {
            let d = self.error(Key::Bios, ["together more than bs=", &print_bytes(bs)].concat());
            self.problems.push(d);
        }
        let rw = self.rw();
        if !fio && (rw.is_random() || rw == Rw::ReadWrite) {
            let near = if rw.reads() { "read" } else { "write" };
            let message = if rw.is_random() { "dd goes in order" } else { "dd goes in one direction" };
            let d = self.error(Key::Rw, message).suggest(near);
            self.problems.push(d);
        }
        if let Some(p) = &t.zones
            && rw.writes()
            && rw.is_random()
            && first + sectors > u64::from(p.nr_conv_zones) * p.zone_sectors
        {
            let d = self.warning(Key::Rw, "writes beside a zone's write pointer fail");
            // The zones of a disk below are not the device's.
            let zbd = fio && self.stack() == Stack::None;
            self.problems.push(d.suggest(if zbd { "zonemode=zbd" } else { "write" }));
        }
        let asynchronous = fio && (self.is(Key::Ioengine, "libaio") || self.is(Key::Ioengine, "io_uring"));
        if fio && !asynchronous && self.n(Key::Iodepth) > 1 {
            let message = [&self.word(Key::Ioengine), " does one I/O at a time"].concat();
            let d = self.warning(Key::Iodepth, message).suggest("ioengine=libaio");
            self.problems.push(d);
        }
        let iodepth = if asynchronous { self.n32(Key::Iodepth) } else { 1 };
        let mut batch = if asynchronous { self.n32(Key::IodepthBatch) } else { 1 };
        if batch > iodepth {
            let d = self.warning(Key::IodepthBatch, format!("fio lowers it to iodepth, {iodepth}"));
            self.problems.push(d);
        }
        if batch == 0 || batch > iodepth {
            batch = iodepth;
        }
        let io_bytes = if fio {
            (!self.repeats()).then_some(sectors.saturating_mul(SECTOR_BYTES))
        } else {
            let count = self.n(Key::Count);
            if count == 0 && self.n(Key::Runtime) == 0 && self.n(Key::IoSize) == 0 {
                let d = self.error(Key::Count, "dd would not end: set count, runtime or io_size").suggest("count=20");
                self.problems.push(d);
            }
            (count > 0).then_some(count.saturating_mul(bs))
        };
        let options = if fio { self.fio_options(t, rw, bs, sectors, iodepth, split) } else { Default::default() };
        JobConfig {
            name: String::new(),
            dev: t.dev,
            workload: WorkloadConfig::Linear(LinearConfig {
                tool: if fio { Tool::Fio } else { Tool::Dd },
                rw,
                bs: bs / SECTOR_BYTES,
                // Each is at most `bs`.
                bios: bios.iter().map(|n| (n / SECTOR_BYTES) as u32).collect(),
                iodepth,
                batch,
                first,
                sectors,
                io_bytes,
                buffered: self.on(Key::Buffered),
                nowait: self.on(Key::Nowait),
                fio: options,
            }),
            prio: if fio { self.prio() } else { Default::default() },
            bio_segment_bytes: if fio { self.segment_bytes() } else { 4096 },
            start_ns: 0,
            cgroup: Default::default(),
        }
    }

    fn writeback(&mut self, t: &Target) -> Option<JobConfig> {
        let Some(p) = t.zones.as_deref().filter(|_| self.stack() == Stack::None) else {
            let d = self.error(Key::Workload, "the file system is one of zoned disks, without a stack");
            self.problems.push(d.suggest("drive=smr-30tb"));
            return None;
        };
        let offset = self.offset(p);
        let pages = self.n(Key::WbSegmentBytes).saturating_mul(self.n(Key::MaxSegments));
        if pages < BLOCK_BYTES {
            let d =
                self.error(Key::WbSegmentBytes, "times max_segments is less than a 4 KiB block, so no write would fit");
            self.problems.push(d.suggest("4096"));
        }
        if self.is(Key::FirstFill, "random") {
            let d = self.error(Key::FirstFill, "writeback starts in an empty zone, so its writes would all fail");
            self.problems.push(d.suggest("first_fill=empty"));
        }
        let (lo, hi) = match self.resolved(Key::Filesize) {
            Value::Range(lo, hi) => (lo, hi),
            _ => (0, 0),
        };
        if !lo.is_multiple_of(BLOCK_BYTES) || !hi.is_multiple_of(BLOCK_BYTES) {
            let d = self.error(Key::Filesize, "files are whole 4 KiB blocks");
            self.problems.push(d);
        }
        if self.n(Key::Runtime) == 0 && self.n(Key::IoSize) == 0 {
            let d = self.error(Key::Runtime, "writeback does not end by itself: set runtime or io_size");
            self.problems.push(d.suggest("runtime=30s"));
        }
        let room = u64::from(p.nr_zones).saturating_sub(offset) * p.zone_capacity_sectors * SECTOR_BYTES;
        let asked = self.n(Key::RampSize).saturating_add(self.n(Key::IoSize)).saturating_add(hi);
        if asked > room && room > 0 {
            let d = self.error(Key::IoSize, format!("more than fits behind offset, {}", print_bytes(room)));
            self.problems.push(d);
        }
        Some(JobConfig {
            name: "writeback".into(),
            dev: 0,
            workload: WorkloadConfig::Writeback(WritebackConfig {
                file_min: lo,
                file_max: hi,
                in_flight_limit: self.n(Key::WbInFlight),
                first_zone: offset.min(u64::from(u32::MAX)) as u32,
            }),
            prio: Default::default(),
            bio_segment_bytes: self.n32(Key::WbSegmentBytes),
            start_ns: 0,
            cgroup: Default::default(),
        })
    }

    fn faults(&mut self, disks: &[DeviceConfig]) -> Vec<FaultRule> {
        let mut rules = Vec::new();
        for (dev, disk) in (0u8..).zip(disks) {
            self.of = (self.stack() != Stack::None).then_some(Instance::Disk(dev));
            let Value::Faults(list) = self.resolved(Key::Fault) else { continue };
            if list.iter().any(|f| f.nr_sectors == 0) {
                let d = self.error(Key::Fault, "an error over 0 sectors hits nothing");
                self.problems.push(d);
            }
            let capacity = sectors_of(disk);
            if list.iter().any(|f| f.sector.checked_add(f.nr_sectors).is_none_or(|end| end > capacity)) {
                let message = format!("beyond the end of the disk, which has {capacity} sectors");
                let d = self.error(Key::Fault, message);
                self.problems.push(d);
            }
            rules.extend(list.iter().map(|f| FaultRule {
                dev: DevIdx::from(dev),
                sector: f.sector,
                nr_sectors: f.nr_sectors,
                from: f.from,
                until: f.until,
                status: f.status,
            }));
        }
        self.of = None;
        rules
    }

    /// Wake-ups that get lost.
    fn wake_faults(&mut self, disks: &[DeviceConfig]) -> Vec<WakeFault> {
        let mut list = Vec::new();
        for dev in (0u8..).take(disks.len()) {
            self.of = (self.stack() != Stack::None).then_some(Instance::Disk(dev));
            let kind = match self.word(Key::LostWakeup).as_str() {
                "late_waiter" => WakeFaultKind::LateWaiter,
                "empty_queue" => WakeFaultKind::EmptyQueue,
                _ => continue,
            };
            list.push(WakeFault { dev: DevIdx::from(dev), from: self.n(Key::LostWakeupAt), kind });
        }
        self.of = None;
        list
    }

    /// Somebody who asks the first disk now and then.
    fn pass_through(&self) -> Option<JobConfig> {
        let every_ns = self.n(Key::PassthroughEvery);
        let asks = every_ns > 0 && self.s.in_effect(self.side, Key::PassthroughEvery);
        asks.then(|| JobConfig {
            name: "identify".into(),
            dev: 0,
            workload: WorkloadConfig::PassThrough(PassThroughConfig { every_ns }),
            prio: Default::default(),
            bio_segment_bytes: 4096,
            start_ns: 0,
            cgroup: Default::default(),
        })
    }

    /// Why a setting has no effect here.
    fn no_effect(&self, key: Key) -> Option<String> {
        if let Some((k, words)) = self.s.missing(self.side, key) {
            return Some(without(*k, words));
        }
        let zbd = self.is(Key::Workload, "fio") && self.zbd();
        match key {
            Key::MaxOpenZones if !zbd => Some(without(Key::Zonemode, "zbd")),
            key if zbd && LINEAR_ONLY.contains(&key) => Some(without(Key::Zonemode, "none")),
            _ => None,
        }
    }

    /// Notes for settings that were given but mean nothing here.
    fn unused(&mut self) {
        for &key in KEYS {
            let given = match self.side {
                Side::A => self.s.is_changed(key),
                Side::B => self.s.b_value(key).is_some() || self.s.is_changed(key),
            };
            // A refused write has been told as an error.
            let refused = key == Key::AsyncDepth && self.is_given(key);
            if given
                && !refused
                && let Some(message) = self.no_effect(key)
            {
                let d = Diagnostic::note(&self.name(key), &self.word(key), message);
                self.problems.push(d);
            }
        }
        // Jobs and disks that are not there, each said once.
        let (jobs, disks) = (self.numjobs(), self.stack().members(self.n(Key::RaidDisks)));
        let mut said = None;
        for own in self.s.own_edits().filter(|own| own.side <= self.side || self.s.fork.is_some()) {
            let (key, n, count) = match own.of {
                Instance::Job(n) => (Key::Numjobs, n, jobs),
                Instance::Disk(n) => (Key::RaidDisks, u16::from(n), u64::from(disks)),
            };
            if u64::from(n) < count || said == Some((own.side, own.of)) {
                continue;
            }
            said = Some((own.side, own.of));
            let (name, value) = (own.name(), own.text());
            if let Some((k, words)) = self.s.missing(self.side, key) {
                self.problems.push(Diagnostic::note(&name, &value, without(*k, words)));
                continue;
            }
            let (what, last) = match own.of {
                Instance::Job(_) => ("job", ["job", &(count - 1).to_string()].concat()),
                Instance::Disk(_) => ("disk", disk_name(disks - 1)),
            };
            let message = ["there is no such ", what, ": the last is ", &last].concat();
            let d = Diagnostic::warning(&name, &value, message);
            self.problems.push(d.suggest([Param::of(key).key, "=", &(u32::from(n) + 1).to_string()].concat()));
        }
    }

    /// Sweeps that cannot be crossed, and a fork of nothing.
    fn sweeps(&mut self) {
        let first = self.s.sweep();
        if let Some(second) = &self.s.sweep2 {
            let text = second.text();
            if first.is_none() {
                let d = Diagnostic::warning("sw2", &text, "there is no first sweep");
                self.problems.push(d.suggest(format!("sw={text}")));
            } else if first.is_some_and(|first| first.key == second.key) {
                self.problems.push(Diagnostic::warning("sw2", &text, "sweeps the same setting as sw"));
            }
        }
        if let Some(at) = self.s.fork
            && !self.s.has_b()
        {
            let d = Diagnostic::warning("b.at", &print_seconds(at), "nothing differs in run B from then on");
            self.problems.push(d.suggest("b.zoned_qd1_writes=1"));
        }
    }

    /// Run B's differences become changes at the time of the fork.
    fn fork(&mut self, cfg: &mut SimConfig, at: u64) {
        let text = print_seconds(at);
        let own = self.s.own().filter(|own| own.side == Side::B).map(|own| (Some(own.of), own.key, own.value.clone()));
        let all = self.s.b().iter().map(|(key, v)| (None, *key, v.clone()));
        let (disks, stacked) = (self.stack().members(self.n(Key::RaidDisks)), self.stack() != Stack::None);
        // What one disk has of its own comes after what is said of all.
        for (of, key, v) in all.chain(own).collect::<Vec<_>>() {
            let name = own_name(Side::B, of, key);
            let value = Param::of(key).print(&v);
            if let Some(message) = self.no_effect(key) {
                self.problems.push(Diagnostic::note(&name, &value, message));
                continue;
            }
            let dev = match of {
                Some(Instance::Disk(n)) => n..(n + 1).min(disks),
                _ => 0..disks,
            };
            let v = self.stored(of, key, v);
            let own = |n: u8| stacked && self.s.own_of(Side::B, Instance::Disk(n), key).is_some();
            let changes: Vec<Change> = dev
                .filter(|n| of.is_some() || !own(*n))
                .filter_map(|n| live_change(at, DevIdx::from(n), key, &v))
                .collect();
            match live_change(at, 0, key, &v) {
                Some(_) => cfg.changes.extend(changes),
                None => self.problems.push(needs_new_run(&name, &value, &text)),
            }
        }
        let end = cfg.stop.runtime_ns.filter(|_| cfg.ramp.bytes == 0).map(|ns| ns + cfg.ramp.time_ns);
        if let Some(end) = end.filter(|end| at >= *end) {
            let message = format!("the run is over at {}, so nothing changes in run B", print_time(end));
            self.problems.push(Diagnostic::warning("b.at", &text, message));
        }
    }

    /// What a live write of run B leaves in the attribute: its checks are those of the start.
    fn stored(&mut self, of: Option<Instance>, key: Key, v: Value) -> Value {
        let mut b = Checker { s: self.s, side: Side::B, of, problems: Problems::default() };
        let stored = match (key, &v) {
            (Key::NrRequests | Key::AsyncDepth, Value::Auto) => return v,
            (Key::NrRequests, _) if self.is(Key::Scheduler, "none") => Value::Auto,
            (Key::NrRequests, _) => Value::Int(b.nr_requests(u64::MAX)),
            (Key::AsyncDepth, _) => {
                let nr = b.n(Key::NrRequests).clamp(MIN_REQUESTS, MAX_REQUESTS);
                Value::Int(b.async_depth(nr))
            }
            _ => return v,
        };
        for d in b.problems.into_list() {
            self.problems.push(d);
        }
        stored
    }

    /// Limits that keep memory and the time of one event bounded: requests an I/O is cut into, and all in flight.
    fn too_many_pieces(&mut self, cfg: &SimConfig) {
        let (mut in_flight, mut at_once, mut most, mut key, mut bytes) = (0, 0, 0, Key::Iodepth, 0);
        for (job, i) in cfg.jobs.iter().zip(0u16..) {
            let request = request_bytes(cfg, job);
            let (bs, iodepth) = match &job.workload {
                WorkloadConfig::FioZbd(f) => (f.bs, f.iodepth),
                WorkloadConfig::Linear(l) => (largest_io(l), l.iodepth),
                WorkloadConfig::Writeback(w) => {
                    key = Key::WbInFlight;
                    (w.in_flight_limit / SECTOR_BYTES, 1)
                }
                WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => (0, 0),
            };
            let pieces = (bs * SECTOR_BYTES).div_ceil(request);
            if pieces > MAX_PIECES && key == Key::Iodepth {
                self.of = Some(Instance::Job(i));
                let stacked = cfg.devices.len() > 1;
                let by = if stacked { "the devices' limits" } else { "max_segments and max_sectors_kb" };
                let d = self.error(Key::Bs, format!("each I/O would be cut into {pieces} requests by {by}"));
                let d = d.allow(format!("up to {MAX_PIECES} requests an I/O"));
                self.problems.push(d.suggest(print_bytes(MAX_PIECES * request)));
            }
            at_once += pieces;
            let of_job = pieces * u64::from(iodepth);
            in_flight += of_job;
            bytes += bs * SECTOR_BYTES * u64::from(iodepth);
            // The job to be named is the one with most of it.
            if of_job > most {
                (most, self.of) = (of_job, Some(Instance::Job(i)));
            }
        }
        // Who finds no tag sleeps with the I/O in hand, so one queue has no more than its tags and one I/O a job.
        if let [DeviceConfig { queue: Some(q), throttle: None, .. }] = cfg.devices.as_slice()
            && !cfg.devices[0].disk().is_some_and(|d| d.profile.zoned)
        {
            in_flight = in_flight.min(u64::from(q.nr_requests.max(q.queue_depth)) + at_once);
        }
        if in_flight > MAX_IN_FLIGHT && !self.problems.has_errors() {
            let d = self.error(key, format!("{in_flight} requests would be in flight at once"));
            self.problems.push(d.allow(format!("up to {MAX_IN_FLIGHT} over all jobs")));
        }
        self.of = None;
        self.held_too_long(cfg, bytes);
    }

    /// io.max must let go what is in flight while there is time to count it with.
    fn held_too_long(&mut self, cfg: &SimConfig, bytes: u64) {
        let least = bytes.div_ceil(MAX_HELD_SECONDS);
        for (d, i) in cfg.devices.iter().zip(0u8..) {
            let Some(t) = d.throttle else { continue };
            for (key, rate) in [(Key::Rbps, t.rbps), (Key::Wbps, t.wbps)] {
                if rate > 0 && rate < least {
                    self.of = (d.queue.is_some() && cfg.devices.len() > 1).then_some(Instance::Disk(i));
                    let d = self.error(key, "what is in flight would wait for more than 31 years");
                    self.problems.push(d.allow(["from ", &print_bytes(least)].concat()).suggest(print_bytes(least)));
                    self.of = None;
                }
            }
        }
    }

    fn too_long(&mut self, cfg: &SimConfig, events: u64) {
        let message = format!(
            "about {} million events, more than the {} million the page shows of a run",
            events.div_ceil(1_000_000),
            MAX_SHOWN_EVENTS / 1_000_000
        );
        let d = match cfg.stop.runtime_ns {
            Some(ns) => {
                let fits = u128::from(ns) * u128::from(MAX_SHOWN_EVENTS) / u128::from(events);
                // Two significant digits are enough for a suggestion.
                let unit = 10u64.pow((fits as u64).checked_ilog10().unwrap_or(0).saturating_sub(1));
                let short = fits as u64 / unit * unit;
                let d = self.warning(Key::Runtime, message);
                // A run that would have to be longer or shorter than 1 us is too long for another reason.
                if (1_000..ns).contains(&short) { d.suggest(format!("runtime={}", print_time(short))) } else { d }
            }
            None => self.warning(Key::Runtime, message).suggest("runtime=30s"),
        };
        self.problems.push(d);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::PRESETS;
    use bioscope_core::sim::Simulation;

    fn events(cfg: &SimConfig) -> u64 {
        let mut sim = Simulation::new(Arc::new(cfg.clone()));
        sim.advance(u64::MAX, 10 * MAX_SHOWN_EVENTS, &mut ());
        sim.events()
    }

    #[test]
    fn the_estimate_is_above_the_truth_and_near_it() {
        for p in PRESETS {
            let cfg = validate(&Scenario::of(p), Side::B).unwrap();
            let (estimate, truth) = (estimate_events(&cfg), events(&cfg));
            assert!(truth <= estimate && estimate <= 4 * truth, "{}: {estimate} for {truth}", p.name);
            assert!(truth <= MAX_SHOWN_EVENTS);
        }
    }

    #[test]
    fn live_changes_are_those_the_table_calls_live() {
        use crate::params::Live;
        for &key in KEYS {
            let live = Param::of(key).live == Live::Sysfs;
            assert_eq!(live_change(5, 0, key, &Value::Int(1)).is_some(), live, "{}", Param::of(key).key);
        }
    }
}
