//! Jobs: fio, dd, writeback, and who asks the disk now and then.
//!
//! Models: fio's checks of job options and of zbd ranges.
//! Rule: jobs with settings of their own are made one by one, all others are copies.
//! Leaves out: which devices there are (`devices`).

use bioscope_core::config::{
    CgroupConfig, Distribution, FioOptions, FioZbdConfig, FirstFill, JobConfig, LinearConfig, PassThroughConfig, Rw,
    Tool, WorkloadConfig, WritebackConfig, ZoneShape,
};
use bioscope_core::units::{IoClass, IoPrio, SECTOR_BYTES, Sector};

use super::{BLOCK_BYTES, Checker, KIB, Target};
use crate::diagnostic::Diagnostic;
use crate::drive::Drive;
use crate::params::{Key, Param};
use crate::scenario::Instance;
use crate::stack::Stack;
use crate::value::{Value, print_bytes, print_time};

pub(super) fn job_bytes(job: &JobConfig) -> Option<u64> {
    match &job.workload {
        WorkloadConfig::FioZbd(f) => f.io_bytes,
        WorkloadConfig::Linear(l) => l.io_bytes,
        WorkloadConfig::Writeback(_) | WorkloadConfig::PassThrough(_) => None,
        WorkloadConfig::List(bios) => Some(bios.iter().map(|b| u64::from(b.nr_sectors) * SECTOR_BYTES).sum()),
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Checker<'_> {
    /// Offset or size in whole zones; an error if it is none.
    fn whole_zones(&mut self, key: Key, zone_bytes: u64) -> u64 {
        match self.resolved(key) {
            Value::Int(bytes) => {
                let zones = bytes / zone_bytes;
                if bytes % zone_bytes != 0 {
                    let message = ["not a whole number of zones of ", &print_bytes(zone_bytes)].concat();
                    let d = self.error(key, message).suggest(format!("{}z", zones.max(1)));
                    let d = self.capacity_instead(key, d);
                    self.problems.push(d);
                }
                zones
            }
            Value::Zones(n) => n,
            _ => 0,
        }
    }

    /// null_blk's configfs has a `size` too, in MiB: a small number is meant for that.
    fn capacity_instead(&self, key: Key, mut d: Diagnostic) -> Diagnostic {
        let small = self.n(key) < 512 * KIB;
        if key == Key::Size && small && self.drive_kind() == Drive::NullBlk {
            d.message += "; size is fio's, and null_blk's size in MiB is capacity";
            return d.suggest(["capacity=", &print_bytes(self.n(key) << 20)].concat());
        }
        d
    }

    /// The zones that the jobs use are filled at random: from the first to the last of all jobs.
    pub(super) fn first_fill(&self, jobs: &[JobConfig]) -> FirstFill {
        match self.word(Key::FirstFill).as_str() {
            "random" => {}
            "full" => return FirstFill::Full,
            _ => return FirstFill::Empty,
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

    fn offset(&mut self, z: &ZoneShape) -> u64 {
        let offset = self.whole_zones(Key::Offset, z.zone_sectors * SECTOR_BYTES);
        if z.nr_zones > 0 && offset >= u64::from(z.nr_zones) {
            let d = self.error(Key::Offset, format!("beyond the end of the disk, which has {} zones", z.nr_zones));
            self.problems.push(d);
        } else if offset < u64::from(z.nr_conv) {
            let message = format!("zones below {} are conventional and have no write pointer", z.nr_conv);
            let d = self.error(Key::Offset, message).suggest(format!("{}z", z.nr_conv));
            self.problems.push(d);
        }
        offset
    }

    /// Jobs that fio or dd make: those with settings of their own, and copies of what is said of all.
    pub(super) fn jobs(&mut self, t: &Target) -> Vec<JobConfig> {
        let fio = self.is(Key::Workload, "fio");
        if fio && self.on(Key::TimeBased) && self.n(Key::Runtime) == 0 && self.n(Key::IoSize) == 0 {
            let d = self.warning(Key::TimeBased, "fio ignores it without runtime");
            self.problems.push(d.suggest("runtime=30s"));
        }
        let zbd = fio && self.zbd();
        let zones = t.zones.filter(|_| self.stack() == Stack::None);
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
                (_, Some(z)) if zbd => self.zbd_job(z, t.block),
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

    pub(super) fn numjobs(&self) -> u64 {
        match self.word(Key::Workload).as_str() {
            "fio" => self.n(Key::Numjobs),
            "dd" => 1,
            _ => 0,
        }
    }

    /// fio goes by zones.
    pub(super) fn zbd(&self) -> bool {
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
            let block = if block < 1024 { "512-byte".into() } else { format!("{} KiB", block / 1024) };
            let d = self.error(Key::Bs, ["not a multiple of the disk's ", &block, " block"].concat()).suggest(near);
            self.problems.push(d);
        }
        bs
    }

    fn is_asynchronous(&self) -> bool {
        self.is(Key::Ioengine, "libaio") || self.is(Key::Ioengine, "io_uring")
    }

    /// I/Os in flight, and how many of them are submitted together.
    fn depth(&mut self) -> (u32, u32) {
        if !self.is_asynchronous() {
            if self.n(Key::Iodepth) > 1 {
                let message = [&self.word(Key::Ioengine), " does one I/O at a time"].concat();
                let d = self.warning(Key::Iodepth, message).suggest("ioengine=libaio");
                self.problems.push(d);
            }
            return (1, 1);
        }
        let (iodepth, batch) = (self.n32(Key::Iodepth), self.n32(Key::IodepthBatch));
        if batch > iodepth {
            let d = self.warning(Key::IodepthBatch, format!("fio lowers it to iodepth, {iodepth}"));
            self.problems.push(d);
        }
        (iodepth, if batch == 0 { iodepth } else { batch.min(iodepth) })
    }

    /// The job's cgroup: each job has one of its own.
    fn cgroup(&self) -> CgroupConfig {
        CgroupConfig { latency_ns: self.n(Key::IoLatencyTarget), weight: self.n(Key::IoWeight) as u16 }
    }

    /// One job of fio with zonemode=zbd: what is said of all, or what [`Checker::of`] has of its own.
    fn zbd_job(&mut self, z: &ZoneShape, block: u64) -> JobConfig {
        let capacity = z.capacity * SECTOR_BYTES;
        let offset = self.offset(z);
        let room = u64::from(z.nr_zones).saturating_sub(offset);
        // `auto` is the rest of the disk behind this job's own offset.
        let size = match self.value(Key::Size) {
            Value::Auto => room,
            _ => self.whole_zones(Key::Size, z.zone_sectors * SECTOR_BYTES),
        };
        if size > room && room > 0 {
            let d = self.error(Key::Size, format!("beyond the end of the disk: {room} zones from offset"));
            self.problems.push(d.suggest(format!("{room}z")));
        }
        let bs = self.bs(block);
        if bs.is_multiple_of(block) && bs > capacity {
            let d = self.error(Key::Bs, "larger than a zone").suggest(print_bytes(capacity));
            self.problems.push(d);
        }
        let open = self.n(Key::MaxOpenZones);
        let ignore = self.on(Key::IgnoreZoneLimits);
        if z.max_open > 0 && open > u64::from(z.max_open) && !ignore {
            let message = format!("more than the disk can have open, {}", z.max_open);
            let d = self.error(Key::MaxOpenZones, message).suggest(z.max_open.to_string());
            self.problems.push(d);
        }
        let rw = self.rw();
        let disk = matches!(self.drive_kind(), Drive::Disk(_));
        let filled = if disk { !self.is(Key::FirstFill, "empty") } else { self.on(Key::ZoneFull) };
        let beyond = self.on(Key::ReadBeyondWp);
        if matches!(rw, Rw::Read | Rw::RandRead) && !filled && !beyond {
            let d = self.warning(Key::Rw, "all zones are empty, so fio finds nothing to read");
            self.problems.push(d.suggest(if disk { "first_fill=random" } else { "zone_full=1" }));
        }
        let (iodepth, batch) = self.depth();
        let workload = FioZbdConfig {
            rw,
            bs: bs / SECTOR_BYTES,
            iodepth,
            first_zone: offset.min(u64::from(u32::MAX)) as u32,
            zones: size.min(u64::from(u32::MAX)) as u32,
            max_open_zones: open as u32,
            io_bytes: (!self.repeats()).then_some(size.saturating_mul(capacity)),
            batch,
            job_max_open_zones: self.n32(Key::JobMaxOpenZones),
            ignore_zone_limits: ignore,
            read_beyond_wp: beyond,
            append: self.on(Key::ZoneAppend),
            buffered: self.on(Key::Buffered),
            rwmixread: self.n(Key::Rwmixread) as u8,
        };
        JobConfig {
            name: String::new(),
            dev: 0,
            workload: WorkloadConfig::FioZbd(workload),
            prio: self.prio(),
            bio_segment_bytes: self.segment_bytes(),
            start_ns: 0,
            cgroup: self.cgroup(),
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
        let asynchronous = self.is_asynchronous();
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
            (Value::Zones(n), Some(z)) => n.saturating_mul(z.zone_sectors * SECTOR_BYTES),
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
            let d = self.capacity_instead(key, d.suggest(near));
            self.problems.push(d);
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
        if let Some(z) = &t.zones
            && rw.writes()
            && rw.is_random()
            && first + sectors > u64::from(z.nr_conv) * z.zone_sectors
        {
            let d = self.warning(Key::Rw, "writes beside a zone's write pointer fail");
            // The zones of a disk below are not the device's.
            let zbd = fio && self.stack() == Stack::None;
            self.problems.push(d.suggest(if zbd { "zonemode=zbd" } else { "write" }));
        }
        if let Some(z) = &t.zones
            && !rw.writes()
            && matches!(self.drive_kind(), Drive::Disk(_))
            && self.is(Key::FirstFill, "empty")
            && first + sectors > u64::from(z.nr_conv) * z.zone_sectors
        {
            let message = "what lies behind a write pointer is made up by the drive, which moves no head for it";
            let d = Diagnostic::note(&self.name(Key::Rw), &self.word(Key::Rw), message).suggest("first_fill=full");
            self.problems.push(d);
        }
        let (iodepth, batch) = if fio { self.depth() } else { (1, 1) };
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
            cgroup: self.cgroup(),
        }
    }

    pub(super) fn writeback(&mut self, t: &Target) -> Option<JobConfig> {
        let Some(z) =
            t.zones.as_ref().filter(|_| self.stack() == Stack::None && matches!(self.drive_kind(), Drive::Disk(_)))
        else {
            let d = self.error(Key::Workload, "the file system is one of zoned disks, without a stack");
            self.problems.push(d.suggest("drive=smr-30tb"));
            return None;
        };
        let offset = self.offset(z);
        let pages = self.n(Key::WbSegmentBytes).saturating_mul(self.n(Key::MaxSegments));
        if pages < BLOCK_BYTES {
            let d =
                self.error(Key::WbSegmentBytes, "times max_segments is less than a 4 KiB block, so no write would fit");
            self.problems.push(d.suggest("4096"));
        }
        if !self.is(Key::FirstFill, "empty") {
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
        let room = u64::from(z.nr_zones).saturating_sub(offset) * z.capacity * SECTOR_BYTES;
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
            cgroup: self.cgroup(),
        })
    }

    /// Somebody who asks the first disk now and then.
    pub(super) fn pass_through(&self) -> Option<JobConfig> {
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
}
