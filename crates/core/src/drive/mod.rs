//! The SMR drive: command queue, interface, write cache, head.
//!
//! Models: disk 1 (admission by command slots, near-FIFO destage, seek, settle, rotation, transfer, zone
//! reset) on the geometry of the profile.
//! Rule: one command on the interface, one under the head; writes are admitted in order of arrival and acknowledged
//! when cached; a write error is decided when the command is admitted; a read that begins at or beyond a write pointer
//! is answered by the interface.
//! Leaves out: read cache and read-ahead, the interface time of reads; resetting all zones takes as long as one by one.

pub mod capped;
pub mod destage;
pub mod fault;
pub mod flash;
pub mod geometry;
pub mod mechanics;
pub mod null_blk;
pub mod zone;

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::bus::Bus;
use crate::config::{DriveConfig, DriveProfile, FirstFill, WriteOffMode, ZonePhase, ZoneShape, ZonesConfig};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::{CommandView, DriveView, HeadPhase, HeadView, ZoneCond, ZoneView};
use crate::observe::trace::{Action, TraceRecord};
use crate::observe::why::Why;
use crate::rng::Rng;
use crate::slab::Idx;
use crate::time::{SimDuration, SimTime};
use crate::units::{BioId, BlkStatus, DevIdx, JobIdx, Op, RqId, SECTOR_BYTES, Sector, ZoneNo};
use geometry::{Geometry, span_ns};
use zone::{Zone, Zones};

/// A command: what the drive executes for a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cmd {
    /// Slot of the request.
    pub rq: Idx,
    /// Its number.
    pub rq_id: RqId,
    /// Number of its first bio.
    pub bio: BioId,
    /// Job of its first bio.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Zone.
    pub zone: ZoneNo,
    /// Where its data is on the workload's device.
    pub origin: Sector,
    /// When it arrived, ns.
    pub arrived: SimTime,
    /// High priority (NCQ priority).
    pub high: bool,
    /// A read that begins at or beyond the write pointer: a disk's head has nothing to do for it.
    pub unwritten: bool,
}

impl Cmd {
    /// The head takes it from the queue, the interface all else.
    fn reads_medium(&self) -> bool {
        self.op == Op::Read && !self.unwritten
    }
}

/// A command is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Slot of the request.
    pub rq: Idx,
    /// How it went.
    pub status: BlkStatus,
}

/// What a driver says to a command (`->queue_rq`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The device has it; its completion comes.
    Taken,
    /// It is done already.
    Done(Done),
    /// Given back: BLK_STS_RESOURCE or BLK_STS_DEV_RESOURCE.
    Busy(BlkStatus),
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Interface {
    cmd: Cmd,
    status: BlkStatus,
    from: SimTime,
    until: SimTime,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Head {
    /// Zone it is over and the sector that follows what it did last.
    zone: ZoneNo,
    next_sector: Sector,
    /// When the last command ended: only then can it stream on.
    idle_since: SimTime,
    /// Commands done in this visit of the zone.
    visit: u32,
    /// The command at the head, if any.
    cmd: Option<Cmd>,
    phase: HeadPhase,
    from: SimTime,
    until: SimTime,
    from_zone: ZoneNo,
    rotate_ns: SimDuration,
    last_was_read: bool,
}

/// Where a zone's sectors are on the platters, and how far its data has got there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Track {
    /// Data on the medium ends here, sectors from the zone start.
    media: Sector,
    /// Angle of its first sector, ns into the turn.
    phase_ns: SimDuration,
    /// ns per sector, times 2^20.
    ns_per_sector_fp: u64,
}

/// What does not change during a run.
#[derive(Debug, PartialEq)]
pub struct DriveSetup {
    /// Index of the device.
    pub dev: DevIdx,
    /// Seed of the run.
    pub seed: u64,
    /// Configuration.
    pub cfg: DriveConfig,
    /// Derived geometry.
    pub geometry: Geometry,
}

impl DriveSetup {
    fn track(&self, zone: ZoneNo) -> Track {
        let phase_ns = match self.cfg.zone_phase {
            ZonePhase::ByLba => self.geometry.phase_by_lba(zone),
            ZonePhase::Random => Rng::stream(self.seed, "zone phase", u64::from(zone)).below(self.cfg.profile.rev_ns),
        };
        Track { media: 0, phase_ns, ns_per_sector_fp: self.geometry.ns_per_sector_fp(zone) }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Drive {
    setup: Arc<DriveSetup>,
    /// Commands received: writes and zone management in order of arrival, reads anywhere.
    waiting: Fifo<Cmd>,
    interface: Option<Interface>,
    /// Written commands, oldest first; the one at the head stays until it is on the medium.
    cache: Fifo<Cmd>,
    /// A reset that waits for the head, or runs.
    reset: Option<Cmd>,
    head: Head,
    zones: Zones,
    /// One for each zone that has been used, in the order of first use.
    tracks: Vec<Track>,
    /// The first waiting write was found to have no room (said once).
    stalled: bool,
    /// A command of high priority has been here.
    any_high: bool,
}

impl Drive {
    /// A drive at rest, head over the first zone, the first sequential one where it is zoned.
    pub fn new(dev: DevIdx, cfg: &DriveConfig, seed: u64) -> Self {
        let geometry = Geometry::new(&cfg.profile);
        let zone = if cfg.profile.zoned { cfg.profile.nr_conv_zones } else { 0 };
        let head = Head {
            zone,
            next_sector: 0,
            idle_since: 0,
            visit: 0,
            cmd: None,
            phase: HeadPhase::Idle,
            from: 0,
            until: 0,
            from_zone: zone,
            rotate_ns: 0,
            last_was_read: false,
        };
        let mut drive = Self {
            setup: Arc::new(DriveSetup { dev, seed, cfg: cfg.clone(), geometry }),
            waiting: Fifo::new(),
            interface: None,
            cache: Fifo::new(),
            reset: None,
            head,
            zones: Zones::new(ZoneShape::of_profile(&cfg.profile)),
            tracks: Vec::new(),
            stalled: false,
            any_high: false,
        };
        drive.first_fill();
        drive
    }

    /// What the zones hold from before the run.
    fn first_fill(&mut self) {
        let p = &self.setup.cfg.profile;
        let (first, count, granularity) = match self.setup.cfg.first_fill {
            FirstFill::Empty => return,
            FirstFill::Full => {
                let shape = ZoneShape::of_profile(p);
                let full = ZonesConfig { shape, full: true, readonly: Vec::new(), offline: Vec::new() };
                self.zones = Zones::of_config(&full);
                return;
            }
            FirstFill::Random { first, count, granularity } => (first, count, granularity),
        };
        let (nr_zones, steps) = (p.nr_zones, p.zone_capacity_sectors / granularity.max(1));
        for zone in first..first.saturating_add(count).min(nr_zones) {
            let drawn = Rng::stream(self.setup.seed, "first fill", u64::from(zone)).below(steps.max(1));
            self.touch(zone);
            self.zones.fill(zone, drawn * granularity);
            self.track_mut(zone).media = drawn * granularity;
        }
    }

    fn track(&self, zone: ZoneNo) -> &Track {
        &self.tracks[self.zones.get(zone).expect("touched before").order as usize]
    }
    fn track_mut(&mut self, zone: ZoneNo) -> &mut Track {
        let order = self.zones.get(zone).expect("touched before").order;
        &mut self.tracks[order as usize]
    }

    /// Zones used so far.
    pub fn zones(&self) -> &Zones {
        &self.zones
    }

    fn acks_from_cache(&self) -> bool {
        self.setup.cfg.write_cache || self.setup.cfg.write_off_mode == WriteOffMode::Nonvolatile
    }

    /// A zone is used from now on: pictures colour it by the order of first use.
    pub fn touch(&mut self, zone: ZoneNo) {
        let z = *self.zones.touch(zone);
        if z.order as usize == self.tracks.len() {
            self.tracks.push(Track { media: z.wp, ..self.setup.track(zone) });
        }
    }

    /// Takes a command in (its zone was touched when its bio was queued).
    pub fn submit(&mut self, bus: &mut Bus, mut cmd: Cmd) {
        self.any_high |= cmd.high;
        cmd.unwritten = cmd.op == Op::Read && self.is_unwritten(&cmd);
        self.waiting.push_back(cmd);
        self.admit(bus);
        self.start_head(bus);
    }

    fn is_unwritten(&self, cmd: &Cmd) -> bool {
        let p = &self.setup.cfg.profile;
        if !p.zoned {
            return false;
        }
        let z = self.zones.get(cmd.zone).expect("touched before");
        z.cond != ZoneCond::NotWp && cmd.sector - u64::from(cmd.zone) * p.zone_sectors >= z.wp
    }

    /// Starts the interface on the first waiting command that is not the head's, if it may go.
    fn admit(&mut self, bus: &mut Bus) {
        if self.interface.is_some() || self.reset.is_some() {
            return;
        }
        let high = |c: &Cmd| self.any_high && c.high && !c.reads_medium();
        let any = || self.waiting.iter().position(|c| !c.reads_medium());
        let Some(i) = self.waiting.iter().position(high).or_else(any) else {
            return;
        };
        let cmd = self.waiting[i];
        let p = &self.setup.cfg.profile;
        match cmd.op {
            Op::Write => {
                let waiting = (self.waiting.len() - 1) as u32;
                let cached = self.cache.len() as u32;
                let window = destage::window(p, waiting);
                if cached > 0 && cached + 1 > window {
                    if !self.stalled {
                        self.stalled = true;
                        bus.because(cmd.bio, Why::CacheWindowFull { cached, window, waiting });
                    }
                    return;
                }
                self.stalled = false;
                let offset = cmd.sector - u64::from(cmd.zone) * p.zone_sectors;
                let len = u64::from(cmd.nr_sectors);
                let status = self.zones.write(cmd.zone, offset, len);
                let ns = p.command_ns + interface_ns(p, if status == BlkStatus::Ok { len } else { 0 });
                self.start_interface(bus, i, status, ns);
            }
            // Nothing was written there: the drive makes the data up.
            Op::Read => {
                let ns = p.command_ns + interface_ns(p, u64::from(cmd.nr_sectors));
                self.start_interface(bus, i, BlkStatus::Ok, ns);
            }
            // What was acknowledged is written before its zone is reset or finished.
            Op::ZoneReset | Op::ZoneFinish if self.cache.iter().any(|c| c.zone == cmd.zone) => {}
            Op::ZoneResetAll if !self.cache.is_empty() => {}
            Op::ZoneReset | Op::ZoneResetAll => {
                self.waiting.remove(i);
                self.reset = Some(cmd);
            }
            // A flush is done when the medium has what the cache acknowledged.
            Op::Flush if !self.cache.is_empty() => {}
            Op::Flush | Op::DrvIn => self.start_interface(bus, i, BlkStatus::Ok, p.command_ns),
            op => {
                let ns = p.command_ns;
                let status = self.zones.manage(op, cmd.zone);
                if op == Op::ZoneFinish && status == BlkStatus::Ok {
                    self.track_mut(cmd.zone).media = self.zones.shape().capacity;
                }
                self.start_interface(bus, i, status, ns);
            }
        }
    }

    fn start_interface(&mut self, bus: &mut Bus, i: usize, status: BlkStatus, ns: SimDuration) {
        let cmd = self.waiting.remove(i);
        self.interface = Some(Interface { cmd, status, from: bus.now, until: bus.now + ns });
        bus.after(ns, Event::Interface(self.setup.dev));
    }

    /// The interface is done with its command: it is cached (and acknowledged), refused, or carried out.
    pub fn interface_done(&mut self, bus: &mut Bus) -> Option<Done> {
        let Interface { cmd, status, .. } = self.interface.take()?;
        let mut done = Some(Done { rq: cmd.rq, status });
        if cmd.op == Op::Write && status == BlkStatus::Ok {
            self.cache.push_back(cmd);
            bus.trace(self.record(&cmd, Action::Cached, 0));
            if !self.acks_from_cache() {
                done = None;
            }
        }
        self.admit(bus);
        self.start_head(bus);
        done
    }

    /// Gives an idle head its next work.
    fn start_head(&mut self, bus: &mut Bus) {
        if self.head.cmd.is_some() {
            return;
        }
        if let Some(cmd) = self.reset {
            let zones = if cmd.op == Op::ZoneResetAll { self.zones.nr_written() } else { 1 };
            let ns = self.setup.cfg.profile.zone_reset_ns * u64::from(zones);
            self.head.cmd = Some(cmd);
            bus.because(cmd.bio, Why::ZoneReset { zone: cmd.zone, ns });
            bus.trace(self.record(&cmd, Action::Reset, ns));
            self.enter(bus, HeadPhase::Reset, ns);
            return;
        }
        let Some(cmd) = self.next_command(bus.now) else { return };
        self.go(bus, cmd);
    }

    /// The read or cached write that comes next.
    fn next_command(&mut self, now: SimTime) -> Option<Cmd> {
        let read = self.next_read(now);
        let write_due = !self.cache.is_empty()
            && (read.is_none() || (self.head.last_was_read && (self.stalled || self.has_aged_write(now))));
        if write_due {
            let p = &self.setup.cfg.profile;
            let i = destage::choose(p, &self.cache, self.head.zone, self.head.visit, |c| {
                let (seek, rotate) = self.reach(c, now);
                seek + rotate
            });
            return Some(self.cache[i]);
        }
        let i = read?;
        Some(self.waiting.remove(i))
    }

    /// A write that is answered only from the medium has waited as long as a read may.
    fn has_aged_write(&self, now: SimTime) -> bool {
        let aged = |c: &Cmd| now - c.arrived > self.setup.cfg.profile.read_age_ns;
        !self.acks_from_cache() && self.cache.front().is_some_and(aged)
    }

    /// Position in `waiting` of the read to serve: one that waited too long, else the one reached first.
    fn next_read(&self, now: SimTime) -> Option<usize> {
        let high = self.any_high && self.waiting.iter().any(|c| c.high && c.reads_medium());
        let reads = || self.waiting.iter().enumerate().filter(|(_, c)| c.reads_medium() && (c.high || !high));
        let aged = reads().find(|(_, c)| now - c.arrived > self.setup.cfg.profile.read_age_ns);
        let best = aged.or_else(|| {
            reads().min_by_key(|(_, c)| {
                let (seek, rotate) = self.reach(c, now);
                seek + rotate
            })
        });
        best.map(|(i, _)| i)
    }

    /// Seek and rotation wait to a command's first sector, ns.
    fn reach(&self, c: &Cmd, now: SimTime) -> (SimDuration, SimDuration) {
        let p = &self.setup.cfg.profile;
        // Bands of a disk that is not zoned are the model's: the head streams across.
        let follows = c.sector == self.head.next_sector && (c.zone == self.head.zone || !p.zoned);
        if follows && self.head.idle_since == now {
            return (0, 0);
        }
        let seek = match (c.zone == self.head.zone, follows) {
            (_, true) => 0,
            (false, false) => self.setup.geometry.seek_ns(self.head.zone, c.zone),
            (true, false) => p.settle_ns,
        };
        let z = self.track(c.zone);
        let offset = c.sector - u64::from(c.zone) * p.zone_sectors;
        let target = (z.phase_ns + span_ns(offset, z.ns_per_sector_fp)) % p.rev_ns;
        let angle = (now + seek) % p.rev_ns;
        (seek, (target + p.rev_ns - angle) % p.rev_ns)
    }

    /// Sends the head to a command.
    fn go(&mut self, bus: &mut Bus, cmd: Cmd) {
        let (seek, rotate) = self.reach(&cmd, bus.now);
        self.head.last_was_read = cmd.op == Op::Read;
        self.head.cmd = Some(cmd);
        self.head.from_zone = self.head.zone;
        self.head.rotate_ns = rotate;
        if cmd.zone != self.head.zone {
            let from = self.head.zone;
            let left = self.cache.iter().filter(|c| c.zone == from).count() as u32;
            // Bands of a disk without zones are the model's; nobody asked for one.
            if self.setup.cfg.profile.zoned {
                bus.because(cmd.bio, Why::HeadLeaves { from, to: cmd.zone, left, written: self.head.visit });
            }
            self.head.visit = 0;
            self.head.zone = cmd.zone;
        }
        self.head.next_sector = cmd.sector;
        if seek + rotate > 0 && bus.measuring {
            bus.stats.drive.seeks += 1;
        }
        if seek > 0 {
            bus.trace(self.record(&cmd, Action::Seek, seek));
            self.enter(bus, HeadPhase::Seek, seek);
        } else {
            self.after_seek(bus, cmd);
        }
    }

    fn after_seek(&mut self, bus: &mut Bus, cmd: Cmd) {
        let ns = self.head.rotate_ns;
        if ns > 0 {
            if self.setup.cfg.profile.zoned {
                bus.because(cmd.bio, Why::Rotates { zone: cmd.zone, ns });
            }
            bus.trace(self.record(&cmd, Action::Rotate, ns));
            self.enter(bus, HeadPhase::Rotate, ns);
        } else {
            self.transfer(bus, cmd);
        }
    }

    fn transfer(&mut self, bus: &mut Bus, cmd: Cmd) {
        let z = self.track(cmd.zone);
        let p = &self.setup.cfg.profile;
        // From position to position, so that rounding never adds up over a zone.
        let offset = cmd.sector - u64::from(cmd.zone) * p.zone_sectors;
        let end = offset + u64::from(cmd.nr_sectors);
        let ns = span_ns(end, z.ns_per_sector_fp) - span_ns(offset, z.ns_per_sector_fp);
        bus.trace(self.record(&cmd, Action::Transfer, ns));
        self.enter(bus, HeadPhase::Transfer, ns);
    }

    fn enter(&mut self, bus: &mut Bus, phase: HeadPhase, ns: SimDuration) {
        self.head.phase = phase;
        self.head.from = bus.now;
        self.head.until = bus.now + ns;
        bus.after(ns, Event::Head(self.setup.dev));
    }

    /// The head's phase is over.
    pub fn head_done(&mut self, bus: &mut Bus) -> Option<Done> {
        let cmd = self.head.cmd?;
        let ns = bus.now - self.head.from;
        let measured = bus.measuring;
        let time = &mut bus.stats.drive;
        let slot = match self.head.phase {
            HeadPhase::Seek => &mut time.seek,
            HeadPhase::Rotate => &mut time.rotate,
            HeadPhase::Transfer => &mut time.transfer,
            HeadPhase::Reset => &mut time.reset,
            HeadPhase::Idle => return None,
        };
        if measured {
            *slot += ns;
        }
        match self.head.phase {
            HeadPhase::Seek => {
                self.after_seek(bus, cmd);
                None
            }
            HeadPhase::Rotate => {
                self.transfer(bus, cmd);
                None
            }
            _ => self.finish(bus, cmd),
        }
    }

    /// The command at the head is done.
    fn finish(&mut self, bus: &mut Bus, cmd: Cmd) -> Option<Done> {
        self.head.cmd = None;
        self.head.phase = HeadPhase::Idle;
        self.head.from = bus.now;
        self.head.until = bus.now;
        let mut status = BlkStatus::Ok;
        let mut acknowledged = true;
        if cmd.op.is_zone_mgmt() {
            self.reset = None;
            status = self.zones.manage(cmd.op, cmd.zone);
            if cmd.op == Op::ZoneResetAll {
                self.tracks.iter_mut().for_each(|t| t.media = 0);
            } else {
                self.track_mut(cmd.zone).media = 0;
            }
        } else {
            self.head.idle_since = bus.now;
            self.head.next_sector = cmd.sector + u64::from(cmd.nr_sectors);
            self.head.visit += 1;
            if bus.measuring {
                bus.stats.drive.bytes += u64::from(cmd.nr_sectors) * SECTOR_BYTES;
            }
        }
        if cmd.op == Op::Write {
            let i = self.cache.iter().position(|c| c.rq_id == cmd.rq_id).expect("stays cached until written");
            self.cache.remove(i);
            let media = self.head.next_sector - u64::from(cmd.zone) * self.setup.cfg.profile.zone_sectors;
            self.track_mut(cmd.zone).media = media;
            acknowledged = !self.acks_from_cache();
        }
        self.admit(bus);
        self.start_head(bus);
        acknowledged.then_some(Done { rq: cmd.rq, status })
    }

    fn record(&self, cmd: &Cmd, action: Action, arg: u64) -> TraceRecord {
        TraceRecord {
            time: 0,
            dev: self.setup.dev,
            action,
            op: cmd.op,
            flags: 0,
            sector: cmd.sector,
            nr_sectors: cmd.nr_sectors,
            bio: cmd.bio,
            rq: cmd.rq_id,
            arg,
            job: cmd.job,
            origin: cmd.origin,
        }
    }

    /// A copy for pictures.
    pub fn view(&self) -> DriveView {
        let p = &self.setup.cfg.profile;
        let zones = self.zones.by_use().map(|(zone, z)| self.zone_view(zone, z)).collect();
        DriveView {
            waiting: self.waiting.iter().map(command_view).collect(),
            interface: self.interface.map(|i| (command_view(&i.cmd), i.from, i.until)),
            cache: self.cache.iter().map(command_view).collect(),
            window: destage::window(p, self.waiting.len().saturating_sub(1) as u32),
            head: HeadView {
                zone: self.head.zone,
                sector: self.head.cmd.map_or(self.head.next_sector, |c| c.sector),
                nr_sectors: self.head.cmd.map_or(0, |c| c.nr_sectors),
                rq: self.head.cmd.map_or(0, |c| c.rq_id),
                phase: self.head.phase,
                from: self.head.from,
                until: self.head.until,
                from_zone: self.head.from_zone,
            },
            zones,
            rev_ns: p.rev_ns,
            nr_zones: p.nr_zones,
            zoned: p.zoned,
            zone_sectors: p.zone_sectors,
            nr_open: self.zones.nr_open(),
            max_open: p.max_open_zones,
        }
    }

    /// A zone with where it is.
    pub fn zone_view(&self, zone: ZoneNo, z: &Zone) -> ZoneView {
        let track = &self.tracks[z.order as usize];
        ZoneView {
            media_offset: track.media,
            phase_ns: track.phase_ns,
            ns_per_sector_fp20: track.ns_per_sector_fp,
            ..z.view(zone)
        }
    }

    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let zones = self.zones.heap_bytes() + self.tracks.capacity() * size_of::<Track>();
        (self.waiting.capacity() + self.cache.capacity()) * size_of::<Cmd>() + zones
    }
}

/// Time of `sectors` on the interface.
fn interface_ns(p: &DriveProfile, sectors: Sector) -> SimDuration {
    (u128::from(sectors * SECTOR_BYTES) * 1_000_000_000 / u128::from(p.interface_rate)) as u64
}

fn command_view(c: &Cmd) -> CommandView {
    CommandView { rq: c.rq_id, bio: c.bio, op: c.op, sector: c.sector, nr_sectors: c.nr_sectors, zone: c.zone }
}
