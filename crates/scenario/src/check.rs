//! From what was asked for to a run that can exist, or everything that is in the way, at once.
//!
//! Models: the checks of fio (zbd ranges, time_based), of sysfs stores (nr_requests, max_sectors_kb), and of Linux 7.1
//! queue limits for AHCI and mpi3mr.
//! Rule: errors are worlds that cannot exist; what the kernel would change silently is a warning that says so.
//! Leaves out: bounds of single values; `Param::parse` has refused those already.

use std::sync::Arc;

use bioscope_core::config::{
    Change, DeviceConfig, DeviceKind, DriveConfig, DriveProfile, ElevatorKind, FaultRule, FioZbdConfig, FirstFill,
    HostCosts, JobConfig, KernelConfig, MqDeadlineConfig, QueueConfig, Ramp, Rw, Setting, SimConfig, Stop, TagAlloc,
    WorkloadConfig, WriteOffMode, WritebackConfig, ZoneOrdering, ZonePhase,
};
use bioscope_core::units::{DevIdx, SECTOR_BYTES};

use crate::diagnostic::{Diagnostic, Problems};
use crate::params::{KEYS, Key, Param};
use crate::profile;
use crate::scenario::{Scenario, Side, max_hw_bytes, own_name};
use crate::value::{Value, print_bytes, print_seconds, print_time};

/// Engine events a run may have to be shown in the page.
pub const MAX_SHOWN_EVENTS: u64 = 5_000_000;
/// Logical and physical block of the built-in drive, bytes.
const BLOCK_BYTES: u64 = 4096;
/// Requests one I/O may be cut into: they are made in one event.
const MAX_PIECES: u64 = 4096;
/// Requests all jobs together may have in flight: about 200 bytes each.
const MAX_IN_FLIGHT: u64 = 200_000;
/// Commands an AHCI port or the drive takes.
const HARDWARE_TAGS: u64 = 32;
/// Engine events of one request from submission to completion: 4.3 in `smr-seq-write`, less where bios merge.
const EVENTS_PER_REQUEST: u64 = 5;
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
    let mut c = Checker { s, side, job: None, problems: Problems::default() };
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

/// A live setting as the simulator takes it: `None` for settings that need a new run.
pub fn live_change(at_ns: u64, key: Key, v: &Value) -> Option<Change> {
    match (key, v) {
        (Key::ZonedQd1Writes, Value::Int(n)) => {
            Some(Change { at: at_ns, dev: 0, setting: Setting::ZonedQd1Writes(*n == 1) })
        }
        _ => None,
    }
}

/// Engine events of a run, roughly and rather too many than too few.
pub fn estimate_events(cfg: &SimConfig) -> u64 {
    let Some(rate) = cfg.devices.first().and_then(|d| Some(u128::from(d.disk()?.profile.rate_outer))) else { return 0 };
    let bytes_in = |ns: u64| rate * u128::from(ns) / 1_000_000_000;
    let ramp = u128::from(cfg.ramp.bytes) + bytes_in(cfg.ramp.time_ns);
    let limits = [
        cfg.stop.runtime_ns.map(|ns| ramp + bytes_in(ns)),
        cfg.stop.bytes.map(|n| ramp + u128::from(n)),
        cfg.jobs.iter().map(job_bytes).sum::<Option<u64>>().map(u128::from),
    ];
    let bytes = limits.into_iter().flatten().min().unwrap_or(u128::MAX);
    let smallest = cfg.jobs.iter().map(|job| request_bytes(cfg, job)).min().unwrap_or(1);
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
    u64::try_from(requests.saturating_mul(u128::from(EVENTS_PER_REQUEST))).unwrap_or(u64::MAX)
}

/// Requests a second that the jobs can submit, or the head can reach in random reads.
fn most_per_second(cfg: &SimConfig) -> Option<u64> {
    let (mut submitted, mut largest, mut reads) = (0, 1, true);
    for job in &cfg.jobs {
        let WorkloadConfig::FioZbd(f) = &job.workload else { return None };
        let parts = (f.bs * SECTOR_BYTES).div_ceil(request_bytes(cfg, job));
        submitted += 1_000_000_000u64.checked_div(cfg.host.submit_ns)? * parts;
        largest = parts.max(largest);
        reads &= f.rw == Rw::RandRead;
    }
    let settle = cfg.devices.first()?.disk()?.profile.settle_ns;
    let reached = 1_000_000_000u64.checked_div(settle).filter(|_| reads).map(|n| n * largest);
    Some(reached.map_or(submitted, |n| n.min(submitted)))
}

fn job_bytes(job: &JobConfig) -> Option<u64> {
    match &job.workload {
        WorkloadConfig::FioZbd(f) => f.io_bytes,
        WorkloadConfig::Linear(l) => l.io_bytes,
        WorkloadConfig::Writeback(_) => None,
        WorkloadConfig::List(bios) => Some(bios.iter().map(|b| u64::from(b.nr_sectors) * SECTOR_BYTES).sum()),
    }
}

/// Size of a job's requests after splitting.
fn request_bytes(cfg: &SimConfig, job: &JobConfig) -> u64 {
    let bio = match &job.workload {
        WorkloadConfig::FioZbd(f) => f.bs * SECTOR_BYTES,
        WorkloadConfig::Linear(l) => l.bs * SECTOR_BYTES,
        WorkloadConfig::Writeback(w) => w.file_max.min(WRITEBACK_BIO_BYTES),
        WorkloadConfig::List(_) => BLOCK_BYTES,
    };
    let limit = cfg.devices[usize::from(job.dev)].queue.map_or(u64::MAX, |q| {
        let by_segments = u64::from(q.max_segments) * u64::from(job.bio_segment_bytes);
        by_segments.min(u64::from(q.max_sectors) * SECTOR_BYTES).max(BLOCK_BYTES)
    });
    (bio / bio.div_ceil(limit).max(1)).max(1)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn without(key: Key, word: &str) -> String {
    ["has no effect without ", Param::of(key).key, "=", word].concat()
}

fn needs_new_run(name: &str, value: &str, at: &str) -> Diagnostic {
    let message = ["needs a new run: it cannot change at b.at=", at].concat();
    Diagnostic::error(name, value, message).suggest("b.at=0")
}

struct Checker<'a> {
    s: &'a Scenario,
    side: Side,
    /// The job whose settings are looked at; `None` = what is said of all.
    job: Option<u8>,
    problems: Problems,
}

impl Checker<'_> {
    fn value(&self, key: Key) -> &Value {
        match self.job {
            Some(job) => self.s.job_value(self.side, job, key),
            None => self.s.value(self.side, key),
        }
    }
    fn resolved(&self, key: Key) -> Value {
        match self.value(key) {
            Value::Auto => self.s.auto(self.side, key),
            v => v.clone(),
        }
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
        if let Some(own) = self.job.and_then(|job| self.s.own_of(self.side, job, key)) {
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

    fn config(&mut self) -> SimConfig {
        let mut drive = self.drive();
        let queue = self.queue();
        let capacity = u64::from(drive.profile.nr_zones) * drive.profile.zone_sectors;
        let faults = self.faults(capacity);
        let jobs = if self.is(Key::Workload, "writeback") {
            vec![self.writeback(&drive.profile)]
        } else {
            self.fio(&drive.profile)
        };
        drive.first_fill = self.first_fill(&jobs);
        let some = |n: u64| (n > 0).then_some(n);
        SimConfig {
            seed: self.n(Key::Seed),
            stop: Stop { runtime_ns: some(self.n(Key::Runtime)), bytes: some(self.n(Key::IoSize)) },
            ramp: Ramp { time_ns: self.n(Key::RampTime), bytes: self.n(Key::RampSize) },
            kernel: self.kernel(),
            host: self.host(),
            devices: vec![DeviceConfig {
                name: "sda".into(),
                dev: (8, 0),
                queue: Some(queue),
                kind: DeviceKind::Disk(drive),
                throttle: None,
            }],
            jobs,
            changes: Vec::new(),
            faults,
        }
    }

    fn kernel(&self) -> KernelConfig {
        KernelConfig {
            zone_ordering: if self.is(Key::ZoneOrdering, "none") { ZoneOrdering::None } else { ZoneOrdering::Zwplug },
            dead_plug_revive: self.on(Key::DeadPlugRevive),
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

    fn queue(&mut self) -> QueueConfig {
        let scheduled = !self.is(Key::Scheduler, "none");
        let mpi3mr = self.is(Key::Hba, "mpi3mr");

        let mut nr_requests = self.n(Key::NrRequests);
        if nr_requests < 4 && *self.value(Key::NrRequests) != Value::Auto {
            self.problems.push(self.warning(Key::NrRequests, "the kernel raises it to 4"));
            nr_requests = 4;
        }
        if !scheduled && nr_requests > HARDWARE_TAGS {
            let message =
                format!("without a scheduler the kernel refuses more than the {HARDWARE_TAGS} hardware tags (EINVAL)");
            let d = self.error(Key::NrRequests, message).suggest("scheduler=mq-deadline");
            self.problems.push(d);
        }
        let mut async_depth = self.n(Key::AsyncDepth);
        if async_depth > nr_requests {
            if scheduled && *self.value(Key::AsyncDepth) != Value::Auto {
                let d = self.warning(Key::AsyncDepth, format!("the kernel lowers it to nr_requests, {nr_requests}"));
                self.problems.push(d);
            }
            async_depth = nr_requests;
        }

        let mut max_bytes = self.n(Key::MaxSectorsKb);
        let hardware = max_hw_bytes(mpi3mr);
        if max_bytes < BLOCK_BYTES {
            let d = self.error(Key::MaxSectorsKb, "the kernel refuses less than 4 KiB (EINVAL)").suggest("4");
            self.problems.push(d);
        } else if max_bytes > hardware {
            let message = format!("the kernel lowers it to what the host adapter allows, {} KiB", hardware >> 10);
            self.problems.push(self.warning(Key::MaxSectorsKb, message));
            max_bytes = hardware;
        }

        QueueConfig {
            elevator: if scheduled { ElevatorKind::MqDeadline } else { ElevatorKind::None },
            nr_requests: nr_requests as u32,
            async_depth: async_depth as u32,
            queue_depth: self.n32(Key::QueueDepth),
            tag_alloc: if mpi3mr { TagAlloc::Hint } else { TagAlloc::RoundRobin },
            max_sectors: (max_bytes / BLOCK_BYTES * (BLOCK_BYTES / SECTOR_BYTES)) as u32,
            max_segments: self.n32(Key::MaxSegments),
            block_bytes: BLOCK_BYTES as u32,
            nomerges: self.n(Key::Nomerges) as u8,
            zoned_qd1_writes: self.on(Key::ZonedQd1Writes) && self.is(Key::ZoneOrdering, "zwplug"),
            mq_deadline: MqDeadlineConfig {
                read_expire_ns: self.n(Key::ReadExpire),
                write_expire_ns: self.n(Key::WriteExpire),
                writes_starved: self.n32(Key::WritesStarved),
                fifo_batch: self.n32(Key::FifoBatch),
                front_merges: self.on(Key::FrontMerges),
            },
        }
    }

    fn drive(&mut self) -> DriveConfig {
        let mut profile = profile::smr_30tb().drive.clone();
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

    /// fio's jobs: those with settings of their own, and copies of what is said of all.
    fn fio(&mut self, p: &DriveProfile) -> Vec<JobConfig> {
        if self.on(Key::TimeBased) && self.n(Key::Runtime) == 0 && self.n(Key::IoSize) == 0 {
            let d = self.warning(Key::TimeBased, "fio ignores it without runtime");
            self.problems.push(d.suggest("runtime=30s"));
        }
        let mut alike: Option<JobConfig> = None;
        let mut jobs: Vec<JobConfig> = Vec::new();
        for i in 0..=u8::MAX {
            if u64::from(i) >= self.n(Key::Numjobs) {
                break;
            }
            self.job = self.s.own().iter().any(|o| o.job == i && o.side <= self.side).then_some(i);
            let job = match &alike {
                Some(job) if self.job.is_none() => job.clone(),
                _ => self.fio_job(p),
            };
            if self.job.is_none() {
                alike.get_or_insert_with(|| job.clone());
            }
            jobs.push(JobConfig { name: ["job", &i.to_string()].concat(), ..job });
        }
        self.job = None;
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

    /// One job: what is said of all, or what [`Checker::job`] has of its own.
    fn fio_job(&mut self, p: &DriveProfile) -> JobConfig {
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
        let bs = self.n(Key::Bs);
        if !bs.is_multiple_of(BLOCK_BYTES) {
            let near = print_bytes((bs / BLOCK_BYTES).max(1) * BLOCK_BYTES);
            let d = self.error(Key::Bs, "not a multiple of the disk's 4 KiB block").suggest(near);
            self.problems.push(d);
        } else if bs > capacity {
            let d = self.error(Key::Bs, "larger than a zone").suggest(print_bytes(capacity));
            self.problems.push(d);
        }
        let open = self.n(Key::MaxOpenZones);
        if p.max_open_zones > 0 && open > u64::from(p.max_open_zones) {
            let message = format!("more than the disk can have open, {}", p.max_open_zones);
            let d = self.error(Key::MaxOpenZones, message).suggest(p.max_open_zones.to_string());
            self.problems.push(d);
        }
        let rw = match self.word(Key::Rw).as_str() {
            "randwrite" => Rw::RandWrite,
            "read" => Rw::Read,
            "randread" => Rw::RandRead,
            _ => Rw::Write,
        };
        if matches!(rw, Rw::Read | Rw::RandRead) && !self.is(Key::FirstFill, "random") {
            let d = self.warning(Key::Rw, "all zones are empty, so fio finds nothing to read");
            self.problems.push(d.suggest("first_fill=random"));
        }
        let (runtime, io_size) = (self.n(Key::Runtime), self.n(Key::IoSize));
        let repeats = io_size > 0 || self.on(Key::TimeBased) && runtime > 0;
        let workload = FioZbdConfig {
            rw,
            bs: bs / SECTOR_BYTES,
            iodepth: self.n32(Key::Iodepth),
            first_zone: offset.min(u64::from(u32::MAX)) as u32,
            zones: size.min(u64::from(u32::MAX)) as u32,
            max_open_zones: open as u32,
            io_bytes: (!repeats).then_some(size.saturating_mul(capacity)),
        };
        JobConfig {
            name: String::new(),
            dev: 0,
            workload: WorkloadConfig::FioZbd(workload),
            bio_segment_bytes: if self.on(Key::Hugepages) { 2 << 20 } else { 4096 },
            start_ns: 0,
        }
    }

    fn writeback(&mut self, p: &DriveProfile) -> JobConfig {
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
        JobConfig {
            name: "writeback".into(),
            dev: 0,
            workload: WorkloadConfig::Writeback(WritebackConfig {
                file_min: lo,
                file_max: hi,
                in_flight_limit: self.n(Key::WbInFlight),
                first_zone: offset.min(u64::from(u32::MAX)) as u32,
            }),
            bio_segment_bytes: self.n32(Key::WbSegmentBytes),
            start_ns: 0,
        }
    }

    fn faults(&mut self, capacity: u64) -> Vec<FaultRule> {
        let Value::Faults(list) = self.resolved(Key::Fault) else { return Vec::new() };
        if list.iter().any(|f| f.nr_sectors == 0) {
            let d = self.error(Key::Fault, "an error over 0 sectors hits nothing");
            self.problems.push(d);
        }
        if list.iter().any(|f| f.sector.checked_add(f.nr_sectors).is_none_or(|end| end > capacity)) {
            let d = self.error(Key::Fault, format!("beyond the end of the disk, which has {capacity} sectors"));
            self.problems.push(d);
        }
        const DEV: DevIdx = 0;
        list.iter()
            .map(|f| FaultRule {
                dev: DEV,
                sector: f.sector,
                nr_sectors: f.nr_sectors,
                from: f.from,
                until: f.until,
                status: f.status,
            })
            .collect()
    }

    /// Notes for settings that were given but mean nothing here.
    fn unused(&mut self) {
        for &key in KEYS {
            let given = match self.side {
                Side::A => self.s.is_changed(key),
                Side::B => self.s.b_value(key).is_some() || self.s.is_changed(key),
            };
            if !given || self.s.in_effect(self.side, key) {
                continue;
            }
            let missing = Param::of(key).shown_when.iter().find(|(k, word)| !self.is(*k, word));
            if let Some((k, word)) = missing {
                let d = Diagnostic::note(&self.name(key), &self.word(key), without(*k, word));
                self.problems.push(d);
            }
        }
        // Jobs that are not there, each said once.
        let fio = self.is(Key::Workload, "fio");
        let jobs = if fio { self.n(Key::Numjobs) } else { 0 };
        let mut said = None;
        for own in self.s.own().iter().filter(|own| own.side <= self.side && u64::from(own.job) >= jobs) {
            if said == Some((own.side, own.job)) {
                continue;
            }
            said = Some((own.side, own.job));
            let (name, value) = (own.name(), own.text());
            self.problems.push(if fio {
                let last = (jobs - 1).to_string();
                let d = Diagnostic::warning(&name, &value, ["there is no such job: the last is job", &last].concat());
                d.suggest(["numjobs=", &(u32::from(own.job) + 1).to_string()].concat())
            } else {
                Diagnostic::note(&name, &value, without(Key::Workload, "fio"))
            });
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
        for own in self.s.own().iter().filter(|own| own.side == Side::B) {
            self.problems.push(needs_new_run(&own.name(), &own.text(), &text));
        }
        for (key, v) in self.s.b() {
            let row = Param::of(*key);
            let name = own_name(Side::B, None, *key);
            let value = row.print(v);
            let missing = row.shown_when.iter().find(|(k, word)| !self.is(*k, word));
            if let Some((k, word)) = missing {
                self.problems.push(Diagnostic::note(&name, &value, without(*k, word)));
                continue;
            }
            match live_change(at, *key, v) {
                Some(change) => cfg.changes.push(change),
                None => self.problems.push(needs_new_run(&name, &value, &text)),
            }
        }
        let end = cfg.stop.runtime_ns.filter(|_| cfg.ramp.bytes == 0).map(|ns| ns + cfg.ramp.time_ns);
        if let Some(end) = end.filter(|end| at >= *end) {
            let message = format!("the run is over at {}, so nothing changes in run B", print_time(end));
            self.problems.push(Diagnostic::warning("b.at", &text, message));
        }
    }

    /// Limits that keep memory and the time of one event bounded: requests an I/O is cut into, and all in flight.
    fn too_many_pieces(&mut self, cfg: &SimConfig) {
        let (mut in_flight, mut most, mut key) = (0, 0, Key::Iodepth);
        for (job, i) in cfg.jobs.iter().zip(0u8..=u8::MAX) {
            let request = request_bytes(cfg, job);
            let bs_and_depth = match &job.workload {
                WorkloadConfig::FioZbd(f) => (f.bs, f.iodepth),
                WorkloadConfig::Linear(l) => (l.bs, l.iodepth),
                WorkloadConfig::Writeback(_) | WorkloadConfig::List(_) => (0, 0),
            };
            let of_job = match &job.workload {
                WorkloadConfig::FioZbd(_) | WorkloadConfig::Linear(_) => {
                    let (bs, iodepth) = bs_and_depth;
                    let pieces = (bs * SECTOR_BYTES).div_ceil(request);
                    if pieces > MAX_PIECES {
                        self.job = Some(i);
                        let message =
                            format!("each I/O would be cut into {pieces} requests by max_segments and max_sectors_kb");
                        let d = self.error(Key::Bs, message).allow(format!("up to {MAX_PIECES} requests an I/O"));
                        self.problems.push(d.suggest(print_bytes(MAX_PIECES * request)));
                    }
                    pieces * u64::from(iodepth)
                }
                WorkloadConfig::Writeback(w) => {
                    key = Key::WbInFlight;
                    w.in_flight_limit / request
                }
                WorkloadConfig::List(_) => 0,
            };
            in_flight += of_job;
            // The job to be named is the one with most of it.
            if of_job > most {
                (most, self.job) = (of_job, Some(i));
            }
        }
        if in_flight > MAX_IN_FLIGHT && !self.problems.has_errors() {
            let d = self.error(key, format!("{in_flight} requests would be in flight at once"));
            self.problems.push(d.allow(format!("up to {MAX_IN_FLIGHT} over all jobs")));
        }
        self.job = None;
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
            assert_eq!(live_change(5, key, &Value::Int(1)).is_some(), live, "{}", Param::of(key).key);
        }
    }
}
