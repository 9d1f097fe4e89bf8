//! An array in the pipeline: from `md_submit_bio` to the members and back.
//!
//! Models: drivers/md/md.c, raid0.c, raid1.c, raid5.c, raid10.c (7.1 and the switches of `KernelConfig`; kernel 2.1, 2.2,
//! md M.2, M.8, M.11).
//! Rule: limit split first, then the personality's own; a piece counts once in the array's statistics and ends with
//! its own C; member bios reach their device only through the task's lists.
//! Leaves out: degraded arrays and the retry of failed reads, write-intent bitmaps, safemode, discard, write-behind.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::layout::Layout;
use super::limits::{self, StackLimits};
use super::raid0::Raid0;
use super::raid1::{self, Raid1};
use super::raid5::{Attach, Output, Raid5, Spread, Step, StripeIo};
use super::raid10::Raid10;
use super::sync::{Next, Sync};
use crate::blk::bio::{Bio, EndIo, bflag};
use crate::blk::split::Limits;
use crate::blk::{Ctx, Media, own_capacity};
use crate::config::{DeviceConfig, DeviceKind, MdConfig, MdLevel, SimConfig, SplitInsert};
use crate::event::Event;
use crate::observe::snapshot::JobState;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::thread::ThreadKind;
use crate::units::{BlkStatus, DevIdx, JobIdx, Op, SECTOR_BYTES, Sector};

/// A write to an array under way: its task waits for a stripe in the middle of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreading {
    md: DevIdx,
    bio: Idx,
    spread: Spread,
}

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
    waiters: VecDeque<u16>,
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
        let zone = d.disk().filter(|d| d.profile.zoned).map_or(0, |d| d.profile.zone_sectors as u32);
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
            waiters: VecDeque::new(),
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
    fn md(&mut self, dev: DevIdx) -> &mut Md {
        match &mut self.devs[usize::from(dev)].media {
            Media::Md(m) => m,
            _ => unreachable!("only arrays get here"),
        }
    }
    fn md_cfg(&self, dev: DevIdx) -> &MdConfig {
        match &self.cfg.devices[usize::from(dev)].kind {
            DeviceKind::Md(m) => m,
            _ => unreachable!("only arrays get here"),
        }
    }
    fn raid5(&mut self, dev: DevIdx) -> &mut Raid5 {
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
            Personality::Raid5(..) if op == Op::Write => {
                self.account_bio(dev, bio);
                let b = &self.bios[bio];
                let (nr, sync) = (b.nr_sectors, b.flags & bflag::SYNC != 0);
                let spread = self.raid5(dev).begin(bio, sector, nr, sync);
                self.tasks[t].spread = Some(Spreading { md: dev, bio, spread });
                self.md_spread(t)
            }
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

    // ---- raid5 and raid6 writes ----

    /// `raid5_make_request`: attaches the blocks of the task's write. False when it waits for a stripe.
    pub(crate) fn md_spread(&mut self, t: usize) -> bool {
        let Some(mut s) = self.tasks[t].spread.take() else { return true };
        let Spreading { md, bio, .. } = s;
        let mut stripes = Vec::new();
        let mut refs = 0;
        let plugged = self.tasks[t].plug.is_some();
        let attach = self.raid5(md).attach(&mut s.spread, plugged.then_some(&mut stripes), &mut refs);
        self.bios[bio].remaining += refs;
        match self.tasks[t].plug.as_mut() {
            Some(plug) => plug.stripes.extend(stripes.into_iter().map(|stripe| (md, stripe))),
            None => self.wake(md, ThreadKind::Md),
        }
        if attach == Attach::Done {
            self.bio_part_done(bio, BlkStatus::Ok);
            return true;
        }
        let id = self.bios[bio].id;
        let (active, size) = (self.raid5(md).active(), self.raid5(md).stripes());
        self.bus.because(id, Why::StripeCacheFull { dev: md, active, size });
        self.md(md).waiters.push_back(t as u16);
        self.tasks[t].spread = Some(s);
        let task = self.task_of(t);
        self.sleep(task, JobState::WaitStripe);
        // What the sleep released may have freed nothing yet; the thread wakes the task.
        self.wake(md, ThreadKind::Md);
        false
    }

    /// `raid5_unplug`: the stripes a plug held back.
    pub(crate) fn md_unplug(&mut self, stripes: Vec<(DevIdx, u32)>, asleep: bool) {
        let mut rest = &stripes[..];
        while let Some((md, _)) = rest.first() {
            let n = rest.iter().take_while(|(dev, _)| dev == md).count();
            let who = if asleep { flag::SCHEDULE } else { 0 };
            self.trace_dev(*md, Action::Unplug, who, n as u64);
            let of_md: Vec<u32> = rest[..n].iter().map(|(_, stripe)| *stripe).collect();
            self.md_release(*md, &of_md);
            rest = &rest[n..];
        }
    }

    fn md_release(&mut self, md: DevIdx, stripes: &[u32]) {
        let mut wake = false;
        for stripe in stripes {
            wake |= self.raid5(md).release(*stripe);
        }
        if wake {
            self.wake(md, ThreadKind::Md);
        }
    }

    /// One stripe of raid5d's loop: its member bios are the thread's next submissions. False when the run is over.
    pub(crate) fn raid5d_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let mut out = Output::default();
        let step = self.raid5(dev).next(&mut out);
        for why in out.notes {
            self.bus.because(0, why);
        }
        for bio in out.ended {
            self.bio_part_done(bio, BlkStatus::Ok);
        }
        if out.synced > 0 {
            self.md_synced(dev, out.synced);
        }
        let bio_ns = self.cfg.host.md_bio_ns;
        for io in &out.ios {
            let bio = self.stripe_bio(dev, io);
            let thread = &mut self.threads[usize::from(n)];
            thread.todo.push_back(bio);
            thread.debt += bio_ns;
        }
        self.md_wake_waiters(dev);
        step == Step::Handled
    }

    /// A 4 KiB bio of a stripe (`ops_run_io`).
    fn stripe_bio(&mut self, dev: DevIdx, io: &StripeIo) -> Idx {
        self.ids.0 += 1;
        let cfg = self.md_cfg(dev);
        let (member, sector) = (cfg.members[usize::from(io.role)], io.sector + cfg.data_offset);
        let nr_sectors = super::raid5::STRIPE_SECTORS;
        self.bios.insert(Bio {
            id: self.ids.0,
            root: self.ids.0,
            dev: member,
            job: JobIdx::MAX,
            op: if io.write { Op::Write } else { Op::Read },
            flags: if io.sync && io.write { bflag::SYNC } else { 0 },
            sector,
            nr_sectors,
            first_sector: sector,
            first_nr_sectors: nr_sectors,
            origin: io.origin,
            segment_bytes: nr_sectors * SECTOR_BYTES as u32,
            q_time: self.bus.now,
            acct_time: 0,
            end: EndIo::Stripe { md: dev, stripe: io.stripe, role: io.role },
            remaining: 1,
            status: BlkStatus::Ok,
            next: None,
        })
    }

    /// A member bio of a stripe ended (`raid5_end_read_request`, `raid5_end_write_request`).
    pub(crate) fn stripe_bio_done(&mut self, md: DevIdx, stripe: u32, role: u8, bio: &Bio) {
        if self.raid5(md).io_done(stripe, role, bio.op == Op::Write) {
            self.wake(md, ThreadKind::Md);
        }
    }

    /// Tasks whose stripe may be free now try again.
    fn md_wake_waiters(&mut self, dev: DevIdx) {
        for _ in 0..self.md(dev).waiters.len() {
            let Some(t) = self.md(dev).waiters.pop_front() else { return };
            let spread = self.tasks[usize::from(t)].spread.take();
            let ready = spread.as_ref().is_none_or(|s| self.raid5(dev).may_retry(&s.spread));
            self.tasks[usize::from(t)].spread = spread;
            match ready {
                true => self.bus.after(0, Event::Step(t)),
                false => self.md(dev).waiters.push_back(t),
            }
        }
    }

    // ---- sync ----

    /// One stripe of the sync thread. False when it waits: for time, for stripes, or for good.
    pub(crate) fn md_sync_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let (now, cost) = (self.bus.now, self.cfg.host.md_sync_ns);
        let stats = &self.devs[usize::from(dev)].stats;
        let (events, busy) = (stats.sectors[0] + stats.sectors[1], stats.in_flight > 0);
        if *self.stopped {
            return false;
        }
        let Md { sync: Some(sync), kind: Personality::Raid5(_, raid5), .. } = self.md(dev) else { return false };
        match sync.next(now, events, busy) {
            Next::Over | Next::WaitDone => false,
            Next::Sleep(ns) => {
                self.wake_thread(n, ns);
                false
            }
            Next::Stripe(sector) => match raid5.sync_request(sector) {
                None => {
                    sync.waits_for_stripe = true;
                    self.wake(dev, ThreadKind::Md);
                    false
                }
                Some(wake) => {
                    sync.handed_on();
                    self.threads[usize::from(n)].debt += cost;
                    if wake {
                        self.wake(dev, ThreadKind::Md);
                    }
                    true
                }
            },
        }
    }

    /// Stripes of the sync thread are through.
    fn md_synced(&mut self, dev: DevIdx, stripes: u32) {
        let Some(sync) = self.md(dev).sync.as_mut() else { return };
        if let Some(delay) = sync.stripes_done(stripes)
            && let Some(n) = self.thread_of(dev, ThreadKind::MdSync)
        {
            self.wake_thread(n, delay);
        }
    }
}
