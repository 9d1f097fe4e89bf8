//! What a user asks for: a value for every parameter of run A, what differs in run B, and the view of it a link names.
//!
//! Models: nothing.
//! Rule: holds values within each row's bounds; whether they fit together is decided by `check`.
//! Leaves out: text of whole scenarios (`text`).

use bioscope_core::config::ZoneShape;

use crate::changes::{self, Written};
use crate::diagnostic::{Diagnostic, nearest};
use crate::drive::{Drive, FlashNumbers, FlashZones};
use crate::kernel;
use crate::params::{KEYS, Key, PARAMS, Param, Scope, find};
use crate::preset::Preset;
use crate::profile::{self, Profile};
use crate::stack::{Stack, disk_name, disk_of, layout_number};
use crate::value::{self, Problem, S, Unit, Value, print_seconds};
use crate::view::Panels;

/// One of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// The run itself.
    A,
    /// The run it is compared with.
    B,
}

/// What can have a value of its own, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Instance {
    /// `job1`
    Job(u16),
    /// `sdb`, below a stacked device.
    Disk(u8),
}

/// A value that one job or disk alone has: `job1.bs=64KiB`.
#[derive(Clone, Debug, PartialEq)]
pub struct Own {
    /// A: in both runs; B: in run B only.
    pub side: Side,
    /// Whose.
    pub of: Instance,
    /// The setting.
    pub key: Key,
    /// Its value.
    pub value: Value,
}

impl Own {
    fn place(&self) -> (Side, Instance, Key) {
        (self.side, self.of, self.key)
    }
    /// Name in links: `b.job1.bs`.
    pub fn name(&self) -> String {
        own_name(self.side, Some(self.of), self.key)
    }
    /// Canonical text of the value.
    pub fn text(&self) -> String {
        Param::of(self.key).print(&self.value)
    }
}

/// A moment of a run: a time, and the k-th record at that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Moment {
    /// ns
    pub ns: u64,
    /// Record at that time, from 0.
    pub k: u32,
}

/// A setting and the values it is to be swept over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep {
    /// The setting.
    pub key: Key,
    /// Its values, in order.
    pub values: Vec<Value>,
}

/// Jobs a run may have.
pub const MAX_JOBS: u16 = 1024;
/// Values a sweep may have.
pub const MAX_SWEEP: usize = 64;
/// Runs of each point of a sweep, at most.
pub const MAX_SEEDS: u32 = 10_000;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The preset it started from.
    pub preset: Option<&'static Preset>,
    /// [`Value::Auto`] where a switch is left to the kernel.
    a: Vec<Value>,
    /// In order of keys.
    b: Vec<(Key, Value)>,
    /// In order of side, instance, key.
    own: Vec<Own>,
    /// Run B is A until this time, ns, and has its own settings from then on; `None` = from the start.
    pub fork: Option<u64>,
    /// A sweep other than the preset's.
    pub sweep: Option<Sweep>,
    /// A second setting to sweep: every combination with the first is a point.
    pub sweep2: Option<Sweep>,
    /// Runs of each point of a sweep, with as many seeds.
    pub seeds: u32,
    /// Panels shown.
    pub view: Panels,
    /// Where to stop and look; `None` = the preset's moment, or the start.
    pub t: Option<Moment>,
    /// Model version the link was made with.
    pub m: Option<u32>,
    /// Keys of the text that mean nothing here (yet): kept and written again.
    pub extra: Vec<(String, String)>,
}

impl Default for Scenario {
    fn default() -> Self {
        Self::new()
    }
}

impl Scenario {
    /// All parameters at their defaults, one run.
    pub fn new() -> Self {
        Self {
            preset: None,
            a: KEYS.iter().map(|k| left_out(*k)).collect(),
            b: Vec::new(),
            own: Vec::new(),
            fork: None,
            sweep: None,
            sweep2: None,
            seeds: 1,
            view: Panels::ALL,
            t: None,
            m: None,
            extra: Vec::new(),
        }
    }
    /// A preset as it comes: A's settings and B's differences.
    pub fn of(preset: &'static Preset) -> Self {
        let mut s = Self::new();
        s.preset = Some(preset);
        for (key, text) in preset.a {
            s.a[*key as usize] = row_value(*key, text);
        }
        for (key, text) in preset.b {
            s.set(Side::B, *key, row_value(*key, text));
        }
        for own in preset.own() {
            s.set_own(own);
        }
        s
    }

    /// The value of a side; a switch that is left out has the value of the side's kernel.
    pub fn value(&self, side: Side, key: Key) -> &Value {
        if let Some(own) = self.b_value(key).filter(|_| side == Side::B) {
            return own;
        }
        match &self.a[key as usize] {
            Value::Auto => self.of_kernel(side, key).unwrap_or(&Value::Auto),
            v => v,
        }
    }
    /// What a side's kernel gives a switch.
    fn of_kernel(&self, side: Side, key: Key) -> Option<&'static Value> {
        let own = self.b_value(Key::Kernel).filter(|_| side == Side::B);
        kernel::switch(own.unwrap_or(&self.a[Key::Kernel as usize]), key)
    }
    /// The value of a setting that nobody gave, not even a preset.
    pub fn default_value(&self, side: Side, key: Key) -> Value {
        self.of_kernel(side, key).cloned().unwrap_or_else(|| Param::of(key).default_value())
    }
    /// A switch that run A has as its kernel has it is left to the kernel, unless the preset names it.
    fn leave_out(&mut self, key: Key) {
        let named = || self.preset.is_some_and(|p| p.a.iter().any(|(k, _)| *k == key));
        if self.of_kernel(Side::A, key) == Some(&self.a[key as usize]) && !named() {
            self.a[key as usize] = Value::Auto;
        }
    }
    /// Sets a side's value. On side B the setting then differs (or may differ) from A's.
    pub fn set(&mut self, side: Side, key: Key, v: Value) {
        match side {
            Side::A => {
                self.a[key as usize] = v;
                self.leave_out(key);
                if key == Key::Kernel {
                    kernel::switches().for_each(|switch| self.leave_out(switch));
                }
            }
            Side::B => match self.b.binary_search_by_key(&key, |(k, _)| *k) {
                Ok(i) => self.b[i].1 = v,
                Err(i) => self.b.insert(i, (key, v)),
            },
        }
    }
    /// Sets `key=text`: `b.` in front of the key for run B, `job1.` for one job, `sda.` or `md0.` for one device; `b.at`
    /// is the fork. Names of devices are those of the stack set before. On an error nothing changes.
    pub fn set_text(&mut self, key: &str, text: &str) -> Result<(), Diagnostic> {
        match self.try_text(key, text)? {
            true => Ok(()),
            false => Err(near_key(Diagnostic::error(key, text, "no such parameter"))),
        }
    }
    /// The same; false for a key that nothing is called.
    pub(crate) fn try_text(&mut self, key: &str, text: &str) -> Result<bool, Diagnostic> {
        if key == "b.at" {
            self.fork = time(key, text)?;
            return Ok(true);
        }
        let (side, name) = match key.strip_prefix("b.") {
            Some(name) => (Side::B, name),
            None => (Side::A, key),
        };
        let (instance, name) = match name.split_once('.') {
            Some((instance, name)) => (Some(instance), name),
            None => (None, name),
        };
        let number = |i: &str| !i.is_empty() && i.bytes().all(|c| c.is_ascii_digit());
        let job = instance.and_then(|i| i.strip_prefix("job")).filter(|n| number(n));
        // Without a stack the one disk's name says nothing more.
        let disk = instance.and_then(disk_of).filter(|n| *n == 0 || self.is_stacked());
        let stacked = instance
            .filter(|i| !i.is_empty())
            .is_some_and(|i| [Side::A, Side::B].iter().any(|s| self.stack(*s).name() == i));
        let known = instance.is_none() || job.is_some() || disk.is_some() || stacked;
        let Some(k) = find(name).filter(|_| known) else { return Ok(false) };
        let bad = |message: &str| Diagnostic::error(key, text, message);
        if side == Side::B && k == Key::Seed {
            return Err(bad("runs A and B share the seed"));
        }
        let row = Param::of(k);
        let fits = match row.scope {
            Scope::Run => false,
            Scope::Job => job.is_some(),
            Scope::Disk => disk.is_some(),
            Scope::Stack => stacked,
            Scope::Device => stacked || disk.is_some(),
        };
        if instance.is_some() && !fits {
            let message = match row.scope {
                Scope::Run => "is a setting of the whole run",
                Scope::Job => "is a setting of jobs",
                Scope::Disk => "is a setting of disks",
                Scope::Stack => "is a setting of the stacked device",
                Scope::Device => "is a setting of devices",
            };
            let b = if side == Side::B { "b." } else { "" };
            return Err(bad(message).suggest(format!("{b}{}={text}", row.key)));
        }
        let v = row.parse(text).map_err(|mut d| {
            d.key = key.into();
            d
        })?;
        let of = match (job, disk) {
            (Some(n), _) => match n.parse() {
                Ok(n @ 0..MAX_JOBS) => Some(Instance::Job(n)),
                _ => return Err(bad("no such job").allow("job0 to job1023")),
            },
            (None, disk) => disk.filter(|_| self.is_stacked()).map(Instance::Disk),
        };
        match of {
            Some(of) => self.set_own(Own { side, of, key: k, value: v }),
            None => self.set(side, k, v),
        }
        Ok(true)
    }

    /// The stack of a side.
    pub fn stack(&self, side: Side) -> Stack {
        match self.value(side, Key::Stack) {
            Value::Word(i) => Stack::ALL[usize::from(*i)],
            _ => Stack::None,
        }
    }
    /// True if one of the runs has a stack: its disks then have names.
    pub fn is_stacked(&self) -> bool {
        [Side::A, Side::B].iter().any(|side| self.stack(*side) != Stack::None)
    }

    /// What single jobs and disks have of their own, in the order of side, instance, key. Values of disks rest while
    /// there is no stack.
    pub fn own(&self) -> impl Iterator<Item = &Own> {
        let stacked = self.is_stacked();
        self.own.iter().filter(move |o| stacked || matches!(o.of, Instance::Job(_)))
    }
    /// The same without what comes with the preset.
    pub fn own_edits(&self) -> impl Iterator<Item = &Own> {
        self.own().filter(|own| !self.preset.is_some_and(|p| p.own().any(|of_preset| of_preset == **own)))
    }
    /// Sets a value of one job or disk alone.
    pub fn set_own(&mut self, own: Own) {
        match self.own.binary_search_by_key(&own.place(), Own::place) {
            Ok(i) => self.own[i] = own,
            Err(i) => self.own.insert(i, own),
        }
    }
    /// Drops a value of one job or disk alone; what comes with the preset comes back.
    pub fn drop_own(&mut self, side: Side, of: Instance, key: Key) {
        self.own.retain(|o| o.place() != (side, of, key));
        if let Some(own) = self.preset.and_then(|p| p.own().find(|o| o.place() == (side, of, key))) {
            self.set_own(own);
        }
    }
    /// What a job or disk has of its own on a side: run B's comes before what it has in both runs.
    pub fn own_of(&self, side: Side, of: Instance, key: Key) -> Option<&Own> {
        self.own.iter().rev().find(|o| o.side <= side && (o.of, o.key) == (of, key))
    }
    /// The value of a job or disk on a side; `None` = what is said of all.
    pub fn value_of(&self, side: Side, of: Option<Instance>, key: Key) -> &Value {
        let own = of.and_then(|of| self.own_of(side, of, key));
        own.map_or_else(|| self.value(side, key), |o| &o.value)
    }
    /// Back to the preset's value (A) or to no difference beyond the preset's (B).
    pub fn reset(&mut self, side: Side, key: Key) {
        match side {
            Side::A => self.set(Side::A, key, self.base_value(key)),
            Side::B => {
                self.b.retain(|(k, _)| *k != key);
                if let Some((_, text)) = self.preset.and_then(|p| p.b.iter().find(|(k, _)| *k == key)) {
                    self.set(Side::B, key, row_value(key, text));
                }
            }
        }
    }
    /// Value before any edit: the preset's, else the default, which is the kernel's where it decides.
    pub fn base_value(&self, key: Key) -> Value {
        self.preset
            .and_then(|p| p.a.iter().find(|(k, _)| *k == key))
            .map_or_else(|| self.default_value(Side::A, key), |(k, text)| row_value(*k, text))
    }
    /// True if A's value is not the preset's (or default) one.
    pub fn is_changed(&self, key: Key) -> bool {
        *self.value(Side::A, key) != self.base_value(key)
    }

    /// Writes to an attribute during a side's run, beside what is written already; what stood for the same attribute at
    /// the same time is replaced. On side B what A writes is kept.
    pub fn write_at(&mut self, side: Side, w: Written) -> Result<(), Diagnostic> {
        let Value::Changes(mut list) = self.value(side, Key::Change).clone() else { return Ok(()) };
        list.retain(|other| (other.at, other.disk, other.key) != (w.at, w.disk, w.key));
        list.push(w);
        let v = Param::of(Key::Change).parse(&changes::print(&list))?;
        self.set(side, Key::Change, v);
        Ok(())
    }

    /// True if there is a run B.
    pub fn has_b(&self) -> bool {
        !self.b.is_empty() || self.own().any(|o| o.side == Side::B)
    }
    /// What differs in run B, in the order of keys.
    pub fn b(&self) -> &[(Key, Value)] {
        &self.b
    }
    /// B's own value of a key, if it has one.
    pub fn b_value(&self, key: Key) -> Option<&Value> {
        self.b.iter().find(|(k, _)| *k == key).map(|(_, v)| v)
    }
    /// Drops one difference of run B.
    pub fn drop_b_key(&mut self, key: Key) {
        self.b.retain(|(k, _)| *k != key);
    }
    /// Drops run B.
    pub fn drop_b(&mut self) {
        self.b.clear();
        self.own.retain(|o| o.side == Side::A);
        self.fork = None;
    }

    /// True if the parameter is in effect on this side: its `shown_when` holds.
    pub fn in_effect(&self, side: Side, key: Key) -> bool {
        self.missing(side, key).is_none()
    }
    /// The first condition of a row's `shown_when` that does not hold.
    pub(crate) fn missing(&self, side: Side, key: Key) -> Option<&'static (Key, &'static str)> {
        Param::of(key).shown_when.iter().find(|(k, words)| {
            // What follows from other settings follows from them where the setting itself has no effect.
            let now = match self.value(side, *k) {
                v if *v != Value::Auto && (!Param::of(*k).has_auto() || self.in_effect(side, *k)) => v.clone(),
                _ => self.auto(side, None, *k),
            };
            let now = Param::of(*k).print(&now);
            words.split('|').all(|word| now != word)
        })
    }
    /// Canonical text of a side's value.
    pub fn text(&self, side: Side, key: Key) -> String {
        Param::of(key).print(self.value(side, key))
    }
    /// The value in effect: `auto` replaced by what it stands for.
    pub fn resolved(&self, side: Side, key: Key) -> Value {
        self.resolved_of(side, None, key)
    }
    /// The same of a job or disk.
    pub(crate) fn resolved_of(&self, side: Side, of: Option<Instance>, key: Key) -> Value {
        match self.value_of(side, of, key) {
            Value::Auto => self.auto(side, of, key),
            v => v.clone(),
        }
    }
    /// What a disk is.
    pub(crate) fn drive(&self, side: Side, of: Option<Instance>) -> Drive {
        match self.value_of(side, of, Key::Drive) {
            Value::Word(word) => Drive::of(*word),
            _ => Drive::of(0),
        }
    }
    /// The profile of a disk; a device without a head has none, and the numbers of one do not matter.
    pub(crate) fn profile(&self, side: Side, of: Option<Instance>) -> &'static Profile {
        match self.drive(side, of) {
            Drive::Disk(profile) => profile,
            _ => profile::smr_30tb(),
        }
    }
    fn flash(&self, side: Side, of: Option<Instance>) -> Option<&'static FlashNumbers> {
        match self.drive(side, of) {
            Drive::Flash(numbers) => Some(numbers),
            _ => None,
        }
    }
    /// The zones of a disk, if it has any. What null_blk makes of odd numbers is made of them here.
    pub(crate) fn zones_of(&self, side: Side, of: Option<Instance>) -> Option<ZoneShape> {
        let n = |key: Key| match self.resolved_of(side, of, key) {
            Value::Int(n) => n,
            _ => 0,
        };
        let clip = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        match self.drive(side, of) {
            Drive::Disk(p) => return p.drive.zoned.then(|| ZoneShape::of_profile(&p.drive)),
            Drive::Capped => return None,
            Drive::NullBlk | Drive::Flash(_) if n(Key::Zoned) == 0 => return None,
            Drive::NullBlk | Drive::Flash(_) => {}
        }
        let zone_sectors = (n(Key::ZoneSize) / 512).max(8);
        let capacity = (n(Key::ZoneCapacity) / 512).clamp(8, zone_sectors);
        let nr_zones = clip(self.raw_sectors(side, of) / zone_sectors);
        // At least one zone is sequential; limits that limit nothing are none, and fewer zones are active than open.
        let nr_conv = clip(n(Key::ZoneNrConv)).min(nr_zones.saturating_sub(1));
        let sequential = nr_zones - nr_conv;
        let limit = |key: Key| Some(clip(n(key))).filter(|most| *most < sequential).unwrap_or(0);
        let (max_open, max_active) = (limit(Key::ZoneMaxOpen), limit(Key::ZoneMaxActive));
        Some(ZoneShape {
            zone_sectors,
            capacity,
            nr_zones,
            nr_conv,
            max_open: if max_active > 0 { max_open.min(max_active) } else { max_open },
            max_active,
            append_max_sectors: clip(n(Key::ZoneAppendMaxSectors)).min(clip(capacity)),
        })
    }
    /// True if the jobs' device has zones, as far as it is known without its disks' own settings.
    pub(crate) fn is_zoned(&self, side: Side) -> bool {
        self.shape(side).is_some()
    }
    /// The zones of the jobs' device, likewise.
    fn shape(&self, side: Side) -> Option<ZoneShape> {
        self.zones_of(side, None).filter(|_| !matches!(self.stack(side), Stack::Md(_)))
    }
    /// What `auto` stands for on this side.
    pub(crate) fn auto(&self, side: Side, of: Option<Instance>, key: Key) -> Value {
        let profile = self.profile(side, of);
        let d = &profile.drive;
        let is = |key: Key, word: &str| Param::of(key).print(self.value_of(side, of, key)) == word;
        let mpi3mr = is(Key::Hba, "mpi3mr");
        let number = |key: Key| match self.resolved_of(side, of, key) {
            Value::Int(n) => n,
            _ => 0,
        };
        let drive = self.drive(side, of);
        let (null_blk, flash) = (drive == Drive::NullBlk, self.flash(side, of));
        let of_flash = |number: fn(&FlashNumbers) -> u64| number(flash.unwrap_or(FlashNumbers::made_up()));
        let of_zones = |number: fn(&FlashZones) -> u64| flash.and_then(|f| f.zones.as_ref()).map(number);
        let n = match key {
            Key::Offset => match self.shape(side) {
                Some(z) => return Value::Zones(u64::from(z.nr_conv)),
                None => 0,
            },
            Key::Size if self.is_zoned(side) => {
                let (first, zones) = (self.zones(side, Key::Offset), self.shape(side).map_or(0, |z| z.nr_zones));
                return Value::Zones(u64::from(zones).saturating_sub(first));
            }
            Key::Size => {
                let first = match self.resolved_of(side, of, Key::Offset) {
                    Value::Int(bytes) => bytes,
                    _ => 0,
                };
                (self.sectors(side) * 512).saturating_sub(first)
            }
            Key::Zonemode => {
                let zbd = self.is_zoned(side) && self.stack(side) == Stack::None;
                return Value::Word(u8::from(!zbd));
            }
            Key::Layout => return Value::Word(self.stack(side).layouts().1 as u8),
            Key::StepNs => u64::from(self.stack(side) != Stack::None) * 1000,
            Key::MaxOpenZones => u64::from(self.zones_of(side, of).map_or(0, |z| z.max_open)),
            Key::Zoned => match drive {
                Drive::Disk(p) => u64::from(p.drive.zoned),
                _ => u64::from(of_zones(|z| z.size).is_some()),
            },
            Key::ZoneSize => of_zones(|z| z.size).unwrap_or(256 << 20),
            Key::ZoneCapacity => {
                let size = number(Key::ZoneSize);
                of_zones(|z| z.capacity).map_or(size, |n| n.min(size))
            }
            Key::ZoneMaxOpen => of_zones(|z| z.max_open).unwrap_or(0),
            Key::ZoneMaxActive => of_zones(|z| z.max_active).unwrap_or(0),
            Key::ZoneAppendMaxSectors => self.max_hw_bytes(side, of) / 512,
            Key::PipelineZonedWrites => u64::from(is(Key::ZoneOrdering, "pipelined")),
            Key::FlashChannels => of_flash(|f| f.channels),
            Key::FlashDies => of_flash(|f| f.dies),
            Key::FlashPage => of_flash(|f| f.page),
            Key::FlashReadNs => of_flash(|f| f.read_ns),
            Key::FlashProgramNs => of_flash(|f| f.program_ns),
            Key::FlashEraseNs => of_flash(|f| f.erase_ns),
            Key::FlashChannelRate => of_flash(|f| f.channel_rate),
            Key::FlashCommandNs => of_flash(|f| f.command_ns),
            Key::FlashCache => of_flash(|f| f.cache),
            // Without the build option wbt is off until it is asked for.
            Key::WbtLatUsec if number(Key::BlkWbtMq) == 0 || is(Key::Scheduler, "bfq") => 0,
            Key::WbtLatUsec => {
                let turns = matches!(drive, Drive::Disk(_)) || null_blk && number(Key::Rotational) == 1;
                if turns { 75_000_000 } else { 2_000_000 }
            }
            Key::IodepthLow => number(Key::Iodepth),
            Key::CompleteMax => number(Key::CompleteMin),
            Key::NrRequests => {
                let tags = number(if null_blk { Key::HwQueueDepth } else { Key::QueueDepth });
                if is(Key::Scheduler, "none") { tags } else { 2 * tags.min(128) }
            }
            Key::AsyncDepth => {
                // Below four requests the kernel raises nr_requests.
                let n = number(Key::NrRequests).max(4);
                let own = is(Key::Scheduler, "kyber") || is(Key::Scheduler, "bfq");
                if own || is(Key::AsyncDepthOwner, "elevator_5_17") && is(Key::Scheduler, "mq-deadline") {
                    (3 * n / 4).max(1)
                } else {
                    n
                }
            }
            Key::HostTags => u64::from(mpi3mr && !null_blk && flash.is_none()),
            Key::TagAlloc => return Value::Word(u8::from(!mpi3mr && !null_blk && flash.is_none())),
            Key::MaxSectorsKb => {
                let cap = if is(Key::MaxSectorsCap, "1280KiB") { 1280 << 10 } else { 4 << 20 };
                self.max_hw_bytes(side, of).min(cap)
            }
            // BLK_MAX_SEGMENTS, where the driver says nothing.
            Key::MaxSegments if null_blk || flash.is_some() => 128,
            Key::MaxSegments if mpi3mr => 256,
            Key::MaxSegments => 168,
            Key::QueueDepth if flash.is_some() => 1024,
            Key::QueueDepth => 32,
            Key::WbInFlight => profile.writeback_in_flight,
            Key::WbSegmentBytes => profile.writeback_segment_bytes,
            Key::RevNs => d.rev_ns,
            Key::RateOuter => d.rate_outer,
            Key::RateInner => profile::inner_rate(number(Key::RateOuter), profile.inner_milli),
            Key::RecordingZones => u64::from(d.recording_zones),
            Key::SettleNs => d.settle_ns,
            Key::SeekFullNs => d.seek_full_ns,
            Key::Slots => u64::from(d.slots),
            Key::SlotsPerWaiting => u64::from(d.slots_per_waiting_milli),
            Key::WindowMin => u64::from(d.window_min),
            Key::VisitCommands => u64::from(d.visit_commands),
            Key::Candidates => u64::from(d.candidates),
            Key::ZoneResetNs => d.zone_reset_ns,
            Key::InterfaceRate => d.interface_rate,
            Key::CommandNs => d.command_ns,
            Key::ReadAgeNs => d.read_age_ns,
            // No other row has `auto`; a test asks all of them.
            _ => return Value::Auto,
        };
        Value::Int(n)
    }
    /// Bytes a command may have at most, by host adapter: LBA48 through libata, or mpi3mr's default transfer size;
    /// null_blk's own, or 255 sectors where it sets none (kernel 1.3); NVMe as far as its driver goes, 4 MiB.
    pub(crate) fn max_hw_bytes(&self, side: Side, of: Option<Instance>) -> u64 {
        match (self.drive(side, of), self.value_of(side, of, Key::Hba), self.value_of(side, of, Key::MaxSectors)) {
            // Less than a page is raised to one.
            (Drive::NullBlk, _, Value::Int(sectors @ 1..)) => sectors.max(&8) * 512,
            (Drive::NullBlk, ..) => 255 * 512,
            (Drive::Flash(_), ..) => 4 << 20,
            (_, Value::Word(1), _) => 1 << 20,
            _ => 32_767 << 10,
        }
    }
    /// Sectors of a disk: whole zones, where it has any.
    pub(crate) fn disk_sectors(&self, side: Side, of: Option<Instance>) -> u64 {
        let all = self.raw_sectors(side, of);
        self.zones_of(side, of).map_or(all, |z| u64::from(z.nr_zones) * z.zone_sectors)
    }
    /// The same before the last, smaller zone is left out.
    pub(crate) fn raw_sectors(&self, side: Side, of: Option<Instance>) -> u64 {
        match (self.drive(side, of), self.value_of(side, of, Key::Capacity)) {
            (Drive::Disk(p), _) => u64::from(p.drive.nr_zones) * p.drive.zone_sectors,
            (Drive::Flash(FlashNumbers { zones: Some(z), .. }), _) => z.nr_zones * z.size / 512,
            (_, Value::Int(bytes)) => bytes / 512,
            _ => 0,
        }
    }
    /// Sectors of the jobs' device; 0 if it cannot be built.
    pub(crate) fn sectors(&self, side: Side) -> u64 {
        let int = |key: Key| match self.value(side, key) {
            Value::Int(n) => *n,
            _ => 0,
        };
        let stack = self.stack(side);
        let disks = int(Key::RaidDisks);
        if stack == Stack::None {
            return self.disk_sectors(side, None);
        }
        let skip = if matches!(stack, Stack::Md(_)) { int(Key::DataOffset) / 512 } else { 0 };
        let member = |n: u8| self.disk_sectors(side, Some(Instance::Disk(n))).saturating_sub(skip);
        let members: Vec<u64> = (0..stack.members(disks)).map(member).collect();
        let word = match self.resolved(side, Key::Layout) {
            Value::Word(i) => usize::from(i),
            _ => 0,
        };
        let (chunk, fits) = (int(Key::Chunk) / 512, stack.layouts().0.contains(&word));
        if disks < stack.min_disks() || !fits {
            return 0;
        }
        stack.sectors(&members, chunk.clamp(1, 1 << 20) as u32, layout_number(word))
    }
    /// A size or offset in zones, rounded down.
    pub(crate) fn zones(&self, side: Side, key: Key) -> u64 {
        match self.resolved(side, key) {
            Value::Zones(n) => n,
            Value::Int(bytes) => self.shape(side).map_or(0, |z| bytes / 512 / z.zone_sectors),
            _ => 0,
        }
    }

    /// The scenario that charts, `sweep` and `validate` run: where the user has left the preset's own setting alone,
    /// the preset's row setting replaces it (the published tables were not measured on a 30 s run); seed 1. A fork is
    /// dropped: figures are of whole runs, so B has its settings from the start.
    pub fn for_sweep(&self) -> Scenario {
        let mut s = self.clone();
        if let Some(p) = self.preset {
            for (key, text) in p.row {
                if !self.is_changed(*key) {
                    s.set(Side::A, *key, row_value(*key, text));
                }
            }
        }
        if !self.is_changed(Key::Seed) {
            s.set(Side::A, Key::Seed, Value::Int(1));
        }
        s.t = None;
        s.fork = None;
        s
    }
    /// The sweep of this scenario: its own, else the preset's.
    pub fn sweep(&self) -> Option<Sweep> {
        self.sweep.clone().or_else(|| self.preset.map(|p| p.sweep()))
    }

    /// Configuration hash: FNV-1a 64 over the sorted lines `key=value` of everything that is not at its default,
    /// `b.` lines included, each line ended by a newline. What only chooses what is shown (`sw`, `view`, `t` and the
    /// like) is not part of it.
    pub fn hash(&self) -> u64 {
        let b = self.b.iter().map(|(k, v)| line(&own_name(Side::B, None, *k), &Param::of(*k).print(v)));
        let own = self.own().filter(|o| o.side == Side::B).map(|o| line(&o.name(), &o.text()));
        let fork = self.fork.map(|ns| line("b.at", &print_seconds(ns)));
        fnv_lines(self.lines(Side::A).chain(b).chain(own).chain(fork))
    }
    /// Configuration hash of one run alone.
    pub fn side_hash(&self, side: Side) -> u64 {
        match (side, self.fork) {
            (Side::B, Some(_)) => self.hash(),
            _ => fnv_lines(self.lines(side)),
        }
    }
    fn lines(&self, side: Side) -> impl Iterator<Item = String> {
        let all = KEYS
            .iter()
            .filter(move |k| *self.value(side, **k) != self.default_value(side, **k))
            .map(move |k| line(Param::of(*k).key, &self.text(side, *k)));
        let own = self.own().filter(move |o| self.own_of(side, o.of, o.key) == Some(o));
        all.chain(own.map(|o| line(&own_name(Side::A, Some(o.of), o.key), &o.text())))
    }
}

/// Name of a setting in links.
pub(crate) fn own_name(side: Side, of: Option<Instance>, key: Key) -> String {
    let of = match of {
        None => String::new(),
        Some(Instance::Job(n)) => ["job", &n.to_string(), "."].concat(),
        Some(Instance::Disk(n)) => disk_name(n) + ".",
    };
    [if side == Side::B { "b." } else { "" }, &of, Param::of(key).key].concat()
}

fn line(key: &str, value: &str) -> String {
    [key, "=", value, "\n"].concat()
}

/// The diagnostic of a key that nothing is called, with the nearest key that something is.
pub(crate) fn near_key(d: Diagnostic) -> Diagnostic {
    let at = d.key.rfind('.').map_or(0, |dot| dot + 1);
    let (prefix, name) = d.key.split_at(at);
    let Some(near) = nearest(name, PARAMS.iter().map(|p| p.key)) else { return d };
    // A known name behind an unknown instance: the instance is the slip.
    let prefix = match (near == name, find(near).map(|k| Param::of(k).scope)) {
        (false, _) | (_, None) => prefix,
        (true, Some(scope)) => match (prefix.starts_with("b."), scope) {
            (false, Scope::Run | Scope::Stack) => "",
            (false, Scope::Job) => "job0.",
            (false, Scope::Disk | Scope::Device) => "sda.",
            (true, Scope::Run | Scope::Stack) => "b.",
            (true, Scope::Job) => "b.job0.",
            (true, Scope::Disk | Scope::Device) => "b.sda.",
        },
    };
    let suggestion = [prefix, near].concat();
    d.suggest(suggestion)
}

/// The time of a fork; 0 is none.
fn time(key: &str, text: &str) -> Result<Option<u64>, Diagnostic> {
    let bad = |p: Problem| Diagnostic::error(key, text, p.message()).allow("a time; 0 is a run of its own");
    match value::parse(S, text).map_err(bad)? {
        Value::Int(ns) if ns > 0 => Ok(Some(ns)),
        _ => Ok(None),
    }
}

/// What run A has before anything is said: switches are left to the kernel.
fn left_out(key: Key) -> Value {
    match kernel::switches().any(|switch| switch == key) {
        true => Value::Auto,
        false => Param::of(key).default_value(),
    }
}

/// Values in this crate's own tables are read by a test; a wrong one would fall back to `auto`.
pub(crate) fn row_value(key: Key, text: &str) -> Value {
    Param::of(key).parse(text).unwrap_or(Value::Auto)
}

fn fnv_lines(lines: impl Iterator<Item = String>) -> u64 {
    // A handful of lines: inserting them in order is smaller than a sort.
    let mut sorted: Vec<String> = Vec::new();
    for line in lines {
        let at = sorted.iter().take_while(|other| **other < line).count();
        sorted.insert(at, line);
    }
    let step = |h: u64, byte: u8| (h ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    sorted.iter().flat_map(|l| l.bytes()).fold(0xcbf2_9ce4_8422_2325, step)
}

impl Sweep {
    /// Reads `key` and its values: `1,2,4`, `1..128*2`, `4..32+4`, or words. The diagnostic's key is `name`.
    pub fn parse(name: &str, key: &str, values: &str) -> Result<Sweep, Diagnostic> {
        let Some(k) = find(key) else {
            let d = Diagnostic::error(name, key, "no such parameter to sweep");
            return Err(match nearest(key, PARAMS.iter().map(|p| p.key)) {
                Some(near) => d.suggest(near),
                None => d,
            });
        };
        let bad = |text: &str, message: &str| Diagnostic::error(name, text, message);
        if values.trim().is_empty() {
            // `--over KEY=…` on the command line, `sw=KEY:…` in links.
            let mark = if name.starts_with('-') { '=' } else { ':' };
            return Err(bad(key, "a sweep needs values").suggest(format!("{key}{mark}VALUE,VALUE")));
        }
        if k == Key::Seed {
            let how = if name.starts_with('-') { "--seeds N" } else { "seeds=N" };
            return Err(bad(key, "seeds are not swept but averaged over").suggest(how));
        }
        let row = Param::of(k);
        let named = |mut d: Diagnostic| {
            d.message = [key, ": ", &d.message].concat();
            d.key = name.into();
            d
        };
        let mut list = Vec::new();
        for part in values.split(',') {
            match part.split_once("..") {
                Some((from, rest)) => range(row, part, (from, rest), &mut list).map_err(named)?,
                None => list.push(row.parse(part).map_err(named)?),
            }
            if list.len() > MAX_SWEEP {
                return Err(named(bad(values, &format!("a sweep has at most {MAX_SWEEP} values"))));
            }
        }
        Ok(Sweep { key: k, values: list })
    }
    /// Values as text.
    pub fn texts(&self) -> Vec<String> {
        self.values.iter().map(|v| Param::of(self.key).print(v)).collect()
    }
    /// Canonical text: `iodepth:1,2,4`.
    pub fn text(&self) -> String {
        format!("{}:{}", Param::of(self.key).key, self.texts().join(","))
    }
}

/// `from..to*factor` or `from..to+step`, the `whole` of which is split at the dots.
fn range(row: &Param, whole: &str, (from, rest): (&str, &str), list: &mut Vec<Value>) -> Result<(), Diagnostic> {
    let bad = |message: &str| Diagnostic::error("", whole, message);
    let form = || bad("not of the form FROM..TO*FACTOR or FROM..TO+STEP");
    let at = rest.rfind(['*', '+']).ok_or_else(form)?;
    let (to, step) = (&rest[..at], &rest[at + 1..]);
    let ends = (row.parse(from)?, row.parse(to)?);
    let (from, to, make): (u64, u64, fn(u64) -> Value) = match ends {
        (Value::Int(a), Value::Int(b)) => (a, b, Value::Int),
        (Value::Zones(a), Value::Zones(b)) => (a, b, Value::Zones),
        _ => return Err(form()),
    };
    let (factor, plus) = match rest.as_bytes()[at] {
        b'*' => (step.parse::<u64>().map_err(|_| form())?, 0),
        _ => match value::parse(row.unit, step) {
            Ok(Value::Int(n) | Value::Zones(n)) => (1, n),
            _ => return Err(form()),
        },
    };
    if matches!(row.unit, Unit::Bool | Unit::Word(_)) || from == 0 && plus == 0 || factor == 0 {
        return Err(form());
    }
    if from > to || factor == 1 && plus == 0 {
        return Err(bad("this range does not reach its end"));
    }
    let mut n = from;
    while n <= to && list.len() <= MAX_SWEEP {
        list.push(make(n));
        match n.checked_mul(factor).and_then(|n| n.checked_add(plus)) {
            Some(next) => n = next,
            None => break,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::preset::PRESETS;

    #[test]
    fn every_auto_stands_for_something() {
        for preset in PRESETS {
            let s = Scenario::of(preset);
            for key in KEYS {
                for side in [Side::A, Side::B] {
                    assert_ne!(s.resolved(side, *key), Value::Auto, "{key:?}");
                }
            }
        }
    }

    #[test]
    fn a_profile_row_reads_the_profile() {
        let lines = profile::parse(profile::SMR_30TB).unwrap();
        for p in PARAMS {
            if let Some(key) = p.profile {
                assert!(profile::entries(&lines).any(|e| e.key == key), "{key}");
                assert!(p.has_auto(), "{}", p.key);
            }
        }
    }

    #[test]
    fn row_settings_give_way_to_edits() {
        let mut s = Scenario::of(&PRESETS[0]);
        let row = s.for_sweep();
        assert_eq!(row.text(Side::A, Key::Size), "26z");
        assert_eq!(row.text(Side::A, Key::Runtime), "0");
        assert_eq!(row.text(Side::A, Key::Seed), "1");
        s.set_text("size", "8z").unwrap();
        s.set_text("seed", "7").unwrap();
        let row = s.for_sweep();
        assert_eq!(row.text(Side::A, Key::Size), "8z");
        assert_eq!(row.text(Side::A, Key::Seed), "7");
    }

    #[test]
    fn writes_by_hand_join_the_list() {
        let mut s = Scenario::of(&PRESETS[0]);
        let write = |at: u64, n: u64| Written { at, disk: None, key: Key::NrRequests, value: Value::Int(n) };
        for (at, n) in [(2_000_000_000, 8), (1_000_000_000, 16), (2_000_000_000, 32)] {
            s.write_at(Side::A, write(at, n)).unwrap();
        }
        assert_eq!(s.text(Side::A, Key::Change), "1s:nr_requests:16,2s:nr_requests:32");
        s.write_at(Side::B, write(3_000_000_000, 4)).unwrap();
        assert_eq!(s.text(Side::B, Key::Change), "1s:nr_requests:16,2s:nr_requests:32,3s:nr_requests:4");
        for i in 0..30 {
            s.write_at(Side::A, write(i, 8)).unwrap();
        }
        assert_eq!(s.write_at(Side::A, write(31, 8)).unwrap_err().message, "more than 32 writes");
    }

    #[test]
    fn sweeps_read_lists_and_ranges() {
        for (values, want) in [
            ("1,2,4", "iodepth:1,2,4"),
            ("1..128*2", "iodepth:1,2,4,8,16,32,64,128"),
            ("4..16+4", "iodepth:4,8,12,16"),
            ("1..4*2,100", "iodepth:1,2,4,100"),
        ] {
            assert_eq!(Sweep::parse("sw", "iodepth", values).unwrap().text(), want);
        }
        assert_eq!(Sweep::parse("sw", "size", "1z..8z*2").unwrap().text(), "size:1z,2z,4z,8z");
        assert_eq!(Sweep::parse("sw", "hba", "ahci,mpi3mr").unwrap().text(), "hba:ahci,mpi3mr");
        assert_eq!(Sweep::parse("sw", "zoned_qd1_writes", "0,1").unwrap().text(), "zoned_qd1_writes:0,1");
        for bad in
            ["", "1..", "1..4", "4..1*2", "1..8*1", "1..8*0", "0..8*2", "1..4096+1", "1..18446744073709551615*2", "x"]
        {
            assert!(Sweep::parse("sw", "iodepth", bad).is_err(), "{bad}");
        }
    }
}
