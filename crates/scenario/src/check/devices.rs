//! Disks, what is stacked on them, and errors injected in them.
//!
//! Models: profiles, mdadm's members and layouts, dm-crypt's limits, io.max.
//! Rule: disks with settings of their own are made one by one, all others are copies.
//! Leaves out: their queues (`queue`).

use std::sync::Arc;

use bioscope_core::config::{
    CappedConfig, DeviceConfig, DeviceKind, DmConfig, DmTarget, DriveConfig, FaultRule, FirstFill, FlashConfig,
    MdConfig, MdLevel, NullBlkConfig, NullIrq, SyncConfig, ThrottleConfig, WakeFault, WakeFaultKind, WriteOffMode,
    ZonePhase, ZonesConfig,
};
use bioscope_core::units::{DevIdx, SECTOR_BYTES};

use super::{BLOCK_BYTES, Checker, STRIPE_BYTES, Target};
use crate::diagnostic::Diagnostic;
use crate::drive::Drive;
use crate::params::Key;
use crate::scenario::Instance;
use crate::stack::{LAYOUTS, NULL_BLK_NUMBER, NVME_NUMBER, Stack, disk_name, disk_number, layout_number};
use crate::value::{Value, print_bytes};

/// The same of a device known by its limits only.
const CAPPED_BLOCK_BYTES: u64 = 512;
/// Stripes times members of a raid5 or raid6 array: its cache is part of every checkpoint.
const MAX_STRIPE_PAGES: u64 = 65_536;
/// Zones of a device: their state is part of every checkpoint.
const MAX_ZONES: u64 = 131_072;
/// Sectors of a page: the smallest limit of a command that the kernel lets a driver set.
const PAGE_SECTORS: u64 = 8;
/// Largest write of dm-crypt, bytes.
const CRYPT_MAX_WRITE: u64 = 1 << 20;
/// Pieces that dm-crypt cuts by default, bytes.
const CRYPT_DEFAULT: u64 = 128 << 10;

/// Sectors of a disk.
pub(super) fn sectors_of(d: &DeviceConfig) -> u64 {
    match &d.kind {
        DeviceKind::Disk(d) => u64::from(d.profile.nr_zones) * d.profile.zone_sectors,
        DeviceKind::Capped(c) => c.capacity,
        DeviceKind::NullBlk(n) => n.capacity,
        DeviceKind::Flash(f) => f.capacity,
        DeviceKind::Md(_) | DeviceKind::Dm(_) => 0,
    }
}

impl Checker<'_> {
    /// The disks: those with settings of their own, and copies of what is said of all.
    pub(super) fn disks(&mut self) -> Vec<DeviceConfig> {
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
            let (name, dev) = match &disk.kind {
                DeviceKind::NullBlk(_) if stack == Stack::None => ("nullb0".into(), NULL_BLK_NUMBER),
                DeviceKind::Flash(_) if stack == Stack::None => ("nvme0n1".into(), NVME_NUMBER),
                _ => (disk_name(i), disk_number(i)),
            };
            disks.push(DeviceConfig { name, dev, ..disk });
        }
        self.of = None;
        disks
    }

    /// One disk, without its name.
    pub(super) fn disk(&mut self) -> DeviceConfig {
        let drive = self.drive_kind();
        let block = match drive {
            Drive::Disk(_) | Drive::Flash(_) => BLOCK_BYTES,
            Drive::Capped => CAPPED_BLOCK_BYTES,
            Drive::NullBlk => self.blocksize(),
        };
        let queue = self.queue(block);
        let zones = match drive {
            Drive::NullBlk | Drive::Flash(_) => self.zones(),
            Drive::Disk(_) | Drive::Capped => None,
        };
        let capacity = self.s.disk_sectors(self.side, self.of);
        let kind = match drive {
            Drive::Capped => DeviceKind::Capped(CappedConfig {
                capacity: self.sectors(Key::Capacity),
                iops: self.n(Key::CapIops),
                rate: self.n(Key::CapRate),
                latency_ns: self.n(Key::CapLatencyNs),
                channels: self.n32(Key::CapChannels),
            }),
            Drive::NullBlk => DeviceKind::NullBlk(NullBlkConfig {
                capacity,
                irqmode: match self.n(Key::Irqmode) {
                    0 => NullIrq::None,
                    1 => NullIrq::Softirq,
                    _ => NullIrq::Timer,
                },
                completion_ns: self.n(Key::CompletionNsec),
                memory_backed: self.on(Key::MemoryBacked),
                mbps: self.n32(Key::Mbps),
                rotational: self.on(Key::Rotational),
                zones,
                as_posted: self.pipelines() && self.on(Key::AsPosted),
            }),
            Drive::Flash(_) => DeviceKind::Flash(FlashConfig {
                capacity,
                channels: self.n32(Key::FlashChannels),
                dies: self.n32(Key::FlashDies),
                page_bytes: self.flash_page(),
                read_ns: self.n(Key::FlashReadNs),
                program_ns: self.n(Key::FlashProgramNs),
                erase_ns: self.n(Key::FlashEraseNs),
                channel_rate: self.n(Key::FlashChannelRate),
                command_ns: self.n(Key::FlashCommandNs),
                cache_pages: self.n32(Key::FlashCache),
                zones,
            }),
            Drive::Disk(_) => DeviceKind::Disk(self.drive()),
        };
        let throttle = self.throttle(self.stack() == Stack::None);
        DeviceConfig { name: String::new(), dev: (0, 0), queue: Some(queue), kind, throttle }
    }

    /// Bytes of null_blk's block.
    fn blocksize(&mut self) -> u64 {
        let n = self.n(Key::Blocksize);
        if !n.is_power_of_two() {
            let d = self.error(Key::Blocksize, "not a power of two").suggest(print_bytes(1 << n.ilog2()));
            self.problems.push(d);
        }
        if (1..PAGE_SECTORS).contains(&self.n(Key::MaxSectors)) {
            let d = self.warning(Key::MaxSectors, "the kernel raises it to a page, 8 sectors");
            self.problems.push(d);
        }
        n
    }

    fn flash_page(&mut self) -> u32 {
        let n = self.n(Key::FlashPage);
        if !n.is_power_of_two() {
            let d = self.error(Key::FlashPage, "not a power of two").suggest(print_bytes(1 << n.ilog2()));
            self.problems.push(d);
        }
        n as u32
    }

    /// Zones of a device without a head, with what null_blk makes of odd numbers.
    fn zones(&mut self) -> Option<ZonesConfig> {
        let shape = self.s.zones_of(self.side, self.of)?;
        let (size, capacity) = (self.n(Key::ZoneSize), self.n(Key::ZoneCapacity));
        let all = self.s.raw_sectors(self.side, self.of) * SECTOR_BYTES;
        if !size.is_power_of_two() {
            let d = self.error(Key::ZoneSize, "not a power of two (EINVAL)").suggest(print_bytes(1 << size.ilog2()));
            self.problems.push(d);
        } else if all / size == 0 {
            let d = self.error(Key::ZoneSize, ["larger than the device, ", &print_bytes(all)].concat());
            self.problems.push(d.suggest(print_bytes(1 << all.ilog2())));
        } else if all / size > MAX_ZONES {
            let message = format!("{} zones are too many to keep", all / size);
            let d = self.error(Key::ZoneSize, message).allow(format!("up to {MAX_ZONES} zones"));
            self.problems.push(d.suggest(print_bytes((all / MAX_ZONES).next_power_of_two())));
        } else if !all.is_multiple_of(size) {
            let d = self.warning(Key::Capacity, "the last zone, which is smaller than the others, is left out");
            self.problems.push(d.suggest(print_bytes(all / size * size)));
        }
        if capacity > size {
            let message = ["more than zone_size=", &print_bytes(size), " (EINVAL)"].concat();
            let d = self.error(Key::ZoneCapacity, message).suggest(print_bytes(size));
            self.problems.push(d);
        } else if !capacity.is_multiple_of(BLOCK_BYTES) {
            let d = self.error(Key::ZoneCapacity, "not a multiple of 4 KiB");
            self.problems.push(d.suggest(print_bytes(capacity / BLOCK_BYTES * BLOCK_BYTES)));
        }
        for (key, got) in [
            (Key::ZoneNrConv, shape.nr_conv),
            (Key::ZoneMaxActive, shape.max_active),
            (Key::ZoneMaxOpen, shape.max_open),
        ] {
            if self.n32(key) == got {
                continue;
            }
            let message = match key {
                Key::ZoneNrConv => format!("one zone is left sequential: lowered to {got}"),
                _ if got == 0 => {
                    format!("limits nothing: there are {} sequential zones", shape.nr_zones - shape.nr_conv)
                }
                _ => format!("lowered to zone_max_active, {got}"),
            };
            let d = self.warning(key, message);
            self.problems.push(d);
        }
        let mut numbers = |key: Key| {
            let Value::Sizes(list) = self.resolved(key) else { return Vec::new() };
            if let Some(n) = list.iter().find(|n| **n >= u64::from(shape.nr_zones) || **n < u64::from(shape.nr_conv)) {
                let what = if *n < u64::from(shape.nr_conv) { "is conventional" } else { "does not exist" };
                let d = self.error(key, format!("zone {n} {what} (EINVAL)"));
                self.problems.push(d.allow(format!("{} to {}", shape.nr_conv, shape.nr_zones.saturating_sub(1))));
            }
            list.iter().map(|n| u32::try_from(*n).unwrap_or(u32::MAX)).collect()
        };
        let (readonly, offline) = (numbers(Key::ZoneReadonly), numbers(Key::ZoneOffline));
        Some(ZonesConfig { shape, full: self.on(Key::ZoneFull), readonly, offline })
    }

    /// io.max of a device: what it has of its own, and on the jobs' device what is said without an instance.
    fn throttle(&self, of_jobs: bool) -> Option<ThrottleConfig> {
        let own = |key: Key| self.of.is_some_and(|of| self.s.own_of(self.side, of, key).is_some());
        let n = |key: Key| if of_jobs || own(key) { self.n(key) } else { 0 };
        let t = ThrottleConfig { rbps: n(Key::Rbps), wbps: n(Key::Wbps), riops: n(Key::Riops), wiops: n(Key::Wiops) };
        (t != ThrottleConfig::default()).then_some(t)
    }

    /// The device jobs submit to, put behind the disks if it is a stacked one.
    pub(super) fn target(&mut self, devices: &mut Vec<DeviceConfig>) -> Target {
        let stack = self.stack();
        let block = devices.iter().filter_map(|d| Some(u64::from(d.queue?.block_bytes))).max().unwrap_or(BLOCK_BYTES);
        let zoned = (0u8..).zip(&*devices).find_map(|(n, d)| Some((n, d.zones()?)));
        let zones = zoned.map(|(_, zones)| zones);
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

    /// An array's check runs.
    pub(super) fn on_check(&self) -> bool {
        self.is(Key::SyncAction, "check") && self.s.in_effect(self.side, Key::SyncAction)
    }

    pub(super) fn faults(&mut self, disks: &[DeviceConfig]) -> Vec<FaultRule> {
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
    pub(super) fn wake_faults(&mut self, disks: &[DeviceConfig]) -> Vec<WakeFault> {
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
}
