//! An array in the pipeline: from `md_submit_bio` to the members and back.
//!
//! Models: drivers/md/md.c, raid0.c, raid1.c, raid5.c, raid10.c (7.1 and the switches of `KernelConfig`; kernel 2.1, 2.2,
//! md M.2, M.8, M.11).
//! Rule: limit split first, then the personality's own; a piece counts once in the array's statistics and ends with
//! its own C; member bios reach their device only through the task's lists.
//! Leaves out: degraded arrays and the retry of failed reads, write-intent bitmaps, safemode, discard, write-behind.

use alloc::vec::Vec;

use super::layout::Layout;
use super::limits::{self, StackLimits};
use super::raid0::Raid0;
use super::raid1::{self, Raid1};
use super::raid5::Raid5;
use super::raid10::Raid10;
use super::sync::Sync;
use crate::blk::bio::{Bio, EndIo, bflag};
use crate::blk::split::Limits;
use crate::blk::{Ctx, Media, own_capacity};
use crate::config::{DeviceConfig, DeviceKind, MdConfig, MdLevel, SimConfig, SplitInsert};
use crate::fifo::Fifo;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::units::{BlkStatus, DevIdx, Op, SECTOR_BYTES, Sector};

/// What an array does with its members.
#[derive(Clone, Debug)]
pub enum Personality {
    /// Striping.
    Raid0(Raid0),
    /// Mirrors.
    Raid1(Raid1),
    /// Striped mirrors.
    Raid10(Raid10),
    /// Parity.
    Raid5(Layout, Raid5),
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Md {
    /// What it publishes.
    pub limits: StackLimits,
    /// What it does.
    pub kind: Personality,
    /// Tasks that wait for a stripe, longest first.
    pub(super) waiters: Fifo<u16>,
    /// The sync thread's position.
    pub sync: Option<Sync>,
    capacity: Sector,
    rotational: Vec<bool>,
}

/// A split that stays inside the stacked device's limits.
fn cuts(limits: &StackLimits) -> Limits {
    Limits {
        max_sectors: limits.max_sectors,
        max_segments: limits.max_segments,
        block_bytes: limits.block_bytes,
        chunk_sectors: if limits.chunk_sectors == 0 { Sector::MAX } else { u64::from(limits.chunk_sectors) },
    }
}

/// Where data starts on a member, sectors.
fn data_offset(device: &DeviceConfig) -> Sector {
    if let DeviceKind::Md(m) = &device.kind { m.data_offset } else { 0 }
}

/// Limits of the devices below.
pub(crate) fn member_limits(cfg: &SimConfig, members: &[DevIdx]) -> Vec<StackLimits> {
    let of = |dev: &DevIdx| {
        let d = &cfg.devices[usize::from(*dev)];
        let zone = d.zones().map_or(0, |z| z.zone_sectors as u32);
        d.queue.as_ref().map(|q| limits::of_queue(q, zone))
    };
    members.iter().filter_map(of).collect()
}

impl Md {
    /// Assembled, in sync, cache empty.
    pub fn new(cfg: &SimConfig, md: &MdConfig) -> Self {
        let limits = limits::md(md, &member_limits(cfg, &md.members), &cfg.kernel);
        let usable = |dev: &DevIdx| own_capacity(&cfg.devices[usize::from(*dev)]).saturating_sub(md.data_offset);
        let sizes: Vec<Sector> = md.members.iter().map(usable).collect();
        let smallest = sizes.iter().copied().min().unwrap_or(0);
        let chunk = u64::from(md.chunk_sectors.max(1));
        let rows = smallest / chunk;
        let disks = md.members.len() as u64;
        let (kind, capacity) = match md.level {
            MdLevel::Raid0 => {
                let zones = Raid0::new(&sizes, md.chunk_sectors, md.layout);
                let capacity = zones.capacity();
                (Personality::Raid0(zones), capacity)
            }
            MdLevel::Raid1 => (Personality::Raid1(Raid1::new(md.members.len())), smallest),
            MdLevel::Raid10 => {
                let r = Raid10::new(md.members.len(), smallest, md.chunk_sectors, md.layout);
                let capacity = r.capacity();
                (Personality::Raid10(r), capacity)
            }
            MdLevel::Raid5 | MdLevel::Raid6 => {
                let layout = Layout::new(md.level, md.layout, md.members.len());
                let data = disks - if md.level == MdLevel::Raid6 { 2 } else { 1 };
                (Personality::Raid5(layout, Raid5::new(md, cfg.kernel.raid5_spread)), rows * chunk * data)
            }
        };
        let is_disk = |dev: &DevIdx| matches!(cfg.devices[usize::from(*dev)].kind, DeviceKind::Disk(_));
        Self {
            limits,
            kind,
            waiters: Fifo::new(),
            sync: md.sync.map(|s| Sync::new(s, rows * chunk)),
            capacity,
            rotational: md.members.iter().map(is_disk).collect(),
        }
    }
    /// Sectors.
    pub fn capacity(&self) -> Sector {
        self.capacity
    }
    /// The stripe cache, where there is one.
    pub fn raid5(&self) -> Option<&Raid5> {
        if let Personality::Raid5(_, r) = &self.kind { Some(r) } else { None }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        self.waiters.capacity() * 2 + self.raid5().map_or(0, Raid5::heap_bytes)
    }
}

impl Ctx<'_> {
    pub(super) fn md(&mut self, dev: DevIdx) -> &mut Md {
        match &mut self.devs[usize::from(dev)].media {
            Media::Md(m) => m,
            _ => unreachable!("only arrays get here"),
        }
    }
    pub(super) fn md_cfg(&self, dev: DevIdx) -> &MdConfig {
        match &self.cfg.devices[usize::from(dev)].kind {
            DeviceKind::Md(m) => m,
            _ => unreachable!("only arrays get here"),
        }
    }
    pub(super) fn raid5(&mut self, dev: DevIdx) -> &mut Raid5 {
        match &mut self.md(dev).kind {
            Personality::Raid5(_, r) => r,
            _ => unreachable!("only raid5 and raid6 get here"),
        }
    }

    /// `->submit_bio` of a bio-based device. False when the task sleeps.
    pub(crate) fn stack_submit_bio(&mut self, t: usize, dev: DevIdx, bio: Idx) -> bool {
        match &self.devs[usize::from(dev)].media {
            Media::Md(_) => self.md_submit_bio(t, dev, bio),
            _ => {
                self.dm_submit_bio(t, dev, bio);
                true
            }
        }
    }

    /// `md_submit_bio` and `make_request` of the personality.
    fn md_submit_bio(&mut self, t: usize, dev: DevIdx, bio: Idx) -> bool {
        let block_bytes = self.md(dev).limits.block_bytes;
        if self.unaligned(block_bytes, bio) {
            self.end_without_request(bio, BlkStatus::IoErr);
            return true;
        }
        let limits = cuts(&self.md(dev).limits);
        let task = self.task_of(t);
        let Some(bio) = self.split_to_limits(&limits, bio, task) else { return true };
        // md lets its parts merge again on the members.
        self.bios[bio].flags &= !bflag::NOMERGE;
        let (op, sector) = (self.bios[bio].op, self.bios[bio].sector);
        let chunk = u64::from(self.md_cfg(dev).chunk_sectors);
        match &mut self.md(dev).kind {
            Personality::Raid5(..) if op == Op::Write => self.raid5_write(t, dev, bio),
            Personality::Raid5(layout, _) => {
                let layout = *layout;
                let Some(bio) = self.split_at(t, dev, bio, chunk) else { return true };
                let (role, member_sector) = layout.map(chunk as u32, sector);
                self.send_to_members(t, dev, bio, &[(role, member_sector)]);
                true
            }
            Personality::Raid0(zones) => {
                let (role, member_sector) = zones.map(sector);
                let Some(bio) = self.split_at(t, dev, bio, chunk) else { return true };
                self.send_to_members(t, dev, bio, &[(role, member_sector)]);
                true
            }
            Personality::Raid1(_) => {
                let Some(bio) = self.split_at(t, dev, bio, raid1::UNIT_SECTORS) else { return true };
                let to = self.raid1_targets(dev, bio);
                self.send_to_members(t, dev, bio, &to);
                true
            }
            Personality::Raid10(r) => {
                let unit = if r.cuts_at_chunks() { chunk } else { Sector::MAX };
                let Some(bio) = self.split_at(t, dev, bio, unit) else { return true };
                let to = self.raid10_targets(dev, bio);
                self.send_to_members(t, dev, bio, &to);
                true
            }
        }
    }

    /// The personality's own split: the bio up to the next multiple of `unit`; the rest is submitted again.
    ///
    /// The helper of 6.18 traces it; before, only limit splits were.
    fn split_at(&mut self, t: usize, dev: DevIdx, bio: Idx, unit: Sector) -> Option<Idx> {
        let b = &self.bios[bio];
        let room = unit - b.sector % unit;
        if u64::from(b.nr_sectors) <= room {
            return Some(bio);
        }
        if b.flags & bflag::NOWAIT != 0 {
            self.end_without_request(bio, BlkStatus::Again);
            return None;
        }
        let rest_sectors = b.nr_sectors - room as u32;
        let piece = self.split_front(bio, room as u32);
        if self.cfg.kernel.split_insert == SplitInsert::Head {
            let who = self.who(self.task_of(t));
            self.trace_split(piece, bio, who);
        }
        self.bus.because(self.bios[piece].id, Why::SplitAtChunk { dev, front_sectors: room as u32, rest_sectors });
        self.resubmit(t, bio);
        Some(piece)
    }

    /// `md_account_bio`, `dm_start_io_acct`
    pub(crate) fn account_bio(&mut self, dev: DevIdx, bio: Idx) {
        let now = self.bus.now;
        self.bios[bio].flags |= bflag::ACCOUNTED;
        self.bios[bio].acct_time = now;
        self.devs[usize::from(dev)].account_start(now);
    }

    /// Sends clones of a bio to members; it ends when they have.
    pub(crate) fn send_to_members(&mut self, t: usize, dev: DevIdx, bio: Idx, to: &[(u8, Sector)]) {
        self.account_bio(dev, bio);
        for (role, sector) in to {
            let clone = self.clone_for(dev, bio, *role, *sector);
            let who = self.who(self.task_of(t));
            self.trace_remap(clone, who);
            // Inside a step this only puts it on the list.
            self.submit_noacct(t, clone);
        }
        self.bio_part_done(bio, BlkStatus::Ok);
    }

    /// `bio_alloc_clone` for the member of a role; `sector` is without data_offset. The bio waits for it.
    pub(crate) fn clone_for(&mut self, dev: DevIdx, bio: Idx, role: u8, sector: Sector) -> Idx {
        self.ids.0 += 1;
        let device = &self.cfg.devices[usize::from(dev)];
        let (member, offset) = (device.members()[usize::from(role)], data_offset(device));
        let b = &mut self.bios[bio];
        b.remaining += 1;
        let sector = sector + offset;
        let clone = Bio {
            id: self.ids.0,
            dev: member,
            flags: b.flags & (bflag::SYNC | bflag::NOWAIT),
            sector,
            first_sector: sector,
            first_nr_sectors: b.nr_sectors,
            q_time: self.bus.now,
            end: EndIo::Member { parent: bio, role },
            remaining: 1,
            status: BlkStatus::Ok,
            next: None,
            ..b.clone()
        };
        self.bios.insert(clone)
    }

    fn raid1_targets(&mut self, dev: DevIdx, bio: Idx) -> Vec<(u8, Sector)> {
        let (op, sector, nr) = (self.bios[bio].op, self.bios[bio].sector, self.bios[bio].nr_sectors);
        let Md { kind: Personality::Raid1(mirrors), rotational, limits, .. } = self.md(dev) else { return Vec::new() };
        let roles: Vec<u8> = match op {
            Op::Read => {
                let io_opt = limits.io_opt_bytes / SECTOR_BYTES as u32;
                alloc::vec![mirrors.choose(sector, rotational, io_opt)]
            }
            _ => (0..rotational.len() as u8).collect(),
        };
        for role in &roles {
            match op {
                Op::Read => mirrors.read(*role, sector, nr),
                _ => mirrors.write(*role),
            }
        }
        roles.into_iter().map(|role| (role, sector)).collect()
    }

    fn raid10_targets(&mut self, dev: DevIdx, bio: Idx) -> Vec<(u8, Sector)> {
        let (op, sector) = (self.bios[bio].op, self.bios[bio].sector);
        let Md { kind: Personality::Raid10(r), rotational, .. } = self.md(dev) else { return Vec::new() };
        let to = match op {
            Op::Read => alloc::vec![r.choose(sector, rotational)],
            _ => r.copies(sector).collect(),
        };
        for (role, _) in &to {
            r.dispatched(*role);
        }
        to
    }

    /// A clone on a member ended.
    pub(crate) fn member_bio_done(&mut self, parent: Idx, role: u8, clone: &Bio) {
        let dev = self.bios[parent].dev;
        let offset = data_offset(&self.cfg.devices[usize::from(dev)]);
        let end = clone.first_sector + u64::from(clone.first_nr_sectors) - offset;
        match &mut self.devs[usize::from(dev)].media {
            Media::Md(Md { kind: Personality::Raid1(m), .. }) => m.completed(role, end),
            Media::Md(Md { kind: Personality::Raid10(m), .. }) => m.completed(role, end),
            Media::Dm(_) => return self.dm_bio_done(dev, parent, clone),
            _ => {}
        }
        self.bio_part_done(parent, clone.status);
    }

    /// A bio of a stacked device ends: C, and its statistics.
    pub(crate) fn stacked_bio_done(&mut self, dev: DevIdx, bio: Idx, status: BlkStatus) {
        let b = &self.bios[bio];
        let (flags, op, nr, start) = (b.flags, b.op, b.nr_sectors, b.acct_time);
        if flags & bflag::ACCOUNTED != 0 {
            let now = self.bus.now;
            self.devs[usize::from(dev)].account_done(now, op, nr, start);
            self.trace_bio_as(bio, 0, Action::Complete, u64::from(status.errno_number()), flag::IRQ);
        }
    }
}
