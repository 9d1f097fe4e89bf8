//! A device-mapper device in the pipeline.
//!
//! Models: `dm_split_and_process_bio` (drivers/md/dm.c), `crypt_map`, kcryptd and `dmcrypt_write` (dm-crypt.c), 7.1
//! (md M.11).
//! Rule: one piece a step, the rest through the normal path to the tail; a piece counts once and ends with its own C.
//! dm-crypt's writes leave from a thread of their own, sorted, except on zoned devices, where all is done inline.
//! Leaves out: several targets in a table, integrity tags, zone append emulation, CPUs of kcryptd in parallel.

use super::crypt::{self, WriteTree};
use super::stripe::Stripe;
use crate::blk::bio::{Bio, bflag};
use crate::blk::{Ctx, Media, own_capacity};
use crate::config::{DmConfig, DmTarget, SimConfig};
use crate::fifo::Fifo;
use crate::md::array::member_limits;
use crate::md::limits::{self, StackLimits};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::thread::ThreadKind;
use crate::time::{SimDuration, SimTime};
use crate::units::{BlkStatus, DevIdx, Op, Sector};

/// What a target does.
#[derive(Clone, Debug)]
enum Target {
    Striped(Stripe),
    Crypt {
        /// max_read_size and max_write_size, sectors.
        most: [u32; 2],
        zoned: bool,
        sector_ns: SimDuration,
        /// kcryptd's work with the time it is done: the bio, and how its read went.
        work: Fifo<(SimTime, Idx, BlkStatus)>,
        /// Encrypted writes that wait for `dmcrypt_write`.
        writes: WriteTree,
    },
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Dm {
    /// What it publishes.
    pub limits: StackLimits,
    target: Target,
    capacity: Sector,
}

impl Dm {
    /// As loaded.
    pub fn new(cfg: &SimConfig, dm: &DmConfig) -> Self {
        let limits = limits::dm(dm, &member_limits(cfg, &dm.members), &cfg.kernel);
        let sizes = dm.members.iter().map(|d| own_capacity(&cfg.devices[usize::from(*d)]));
        let smallest = sizes.min().unwrap_or(0);
        let zoned = |d: &DevIdx| cfg.devices[usize::from(*d)].zones().is_some();
        let (target, capacity) = match dm.target {
            DmTarget::Striped { chunk_sectors } => {
                let stripes = dm.members.len() as u64;
                let chunk = u64::from(chunk_sectors);
                (Target::Striped(Stripe { stripes, chunk_sectors }), smallest / chunk * chunk * stripes)
            }
            DmTarget::Crypt { max_read, max_write, sector_ns } => {
                let (work, writes) = (Fifo::new(), WriteTree::default());
                let zoned = dm.members.iter().any(zoned);
                (Target::Crypt { most: [max_read, max_write], zoned, sector_ns, work, writes }, smallest)
            }
        };
        Self { limits, target, capacity }
    }
    /// Sectors.
    pub fn capacity(&self) -> Sector {
        self.capacity
    }
    /// Longest piece at a sector.
    fn most(&self, sector: Sector, write: bool) -> u32 {
        let limits = &self.limits;
        match &self.target {
            Target::Striped(s) => s.max_io_len(sector, limits.max_sectors),
            Target::Crypt { most, .. } => crypt::max_io_len(most[usize::from(write)], write, limits.block_bytes)
                .unwrap_or(u32::MAX)
                .min(limits.max_sectors),
        }
    }
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        match &self.target {
            Target::Striped(_) => 0,
            Target::Crypt { work, writes, .. } => work.capacity() * 16 + writes.heap_bytes(),
        }
    }
}

impl Ctx<'_> {
    fn dm(&mut self, dev: DevIdx) -> &mut Dm {
        match &mut self.devs[usize::from(dev)].media {
            Media::Dm(d) => d,
            _ => unreachable!("only device-mapper devices get here"),
        }
    }

    /// `dm_submit_bio`
    pub(crate) fn dm_submit_bio(&mut self, t: usize, dev: DevIdx, bio: Idx) {
        let b = &self.bios[bio];
        let (sector, nr, write, nowait) = (b.sector, b.nr_sectors, b.op == Op::Write, b.flags & bflag::NOWAIT != 0);
        let most = self.dm(dev).most(sector, write);
        let mut bio = bio;
        if nr > most {
            if nowait {
                return self.end_without_request(bio, BlkStatus::Again);
            }
            let piece = self.split_front(bio, most);
            let who = self.who(self.task_of(t));
            self.trace_split(piece, bio, who);
            let id = self.bios[piece].id;
            self.bus.because(id, Why::SplitAtChunk { dev, front_sectors: most, rest_sectors: nr - most });
            // Not the helper of kernel 1.3: dm submits its remainder like any bio, to the tail.
            self.submit_noacct(t, bio);
            bio = piece;
        }
        match &mut self.dm(dev).target {
            Target::Striped(s) => {
                let (role, member_sector) = s.map(sector);
                self.send_to_members(t, dev, bio, &[(role, member_sector)]);
            }
            Target::Crypt { zoned: false, .. } if write => {
                self.account_bio(dev, bio);
                self.crypt_queue(dev, bio, BlkStatus::Ok);
            }
            Target::Crypt { .. } => self.send_to_members(t, dev, bio, &[(0, sector)]),
        }
    }

    /// Gives a bio to kcryptd.
    fn crypt_queue(&mut self, dev: DevIdx, bio: Idx, status: BlkStatus) {
        let (now, nr) = (self.bus.now, u64::from(self.bios[bio].nr_sectors));
        let Target::Crypt { sector_ns, work, .. } = &mut self.dm(dev).target else { return };
        let start = work.back().map_or(now, |w| w.0.max(now));
        let due = start + *sector_ns * nr;
        work.push_back((due, bio, status));
        if let Some(n) = self.thread_of(dev, ThreadKind::Crypt) {
            self.wake_thread(n, due - now);
        }
    }

    /// kcryptd: what is encrypted goes to the writer, what is decrypted ends. False when the next is not done yet.
    pub(crate) fn crypt_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let now = self.bus.now;
        let Target::Crypt { work, .. } = &mut self.dm(dev).target else { return false };
        let Some(&(due, bio, status)) = work.front() else { return false };
        if due > now {
            self.wake_thread(n, due - now);
            return false;
        }
        work.pop_front();
        let (op, sector) = (self.bios[bio].op, self.bios[bio].sector);
        let Target::Crypt { writes, .. } = &mut self.dm(dev).target else { return false };
        if op == Op::Read {
            self.bio_part_done(bio, status);
        } else if writes.insert(sector, bio) {
            self.wake(dev, ThreadKind::CryptWrite);
        }
        true
    }

    /// `dmcrypt_write`: all writes that wait, by sector, under one plug.
    pub(crate) fn crypt_write_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let Target::Crypt { writes, .. } = &mut self.dm(dev).target else { return false };
        let mut any = false;
        for bio in writes.take() {
            let sector = self.bios[bio].sector;
            let clone = self.clone_for(dev, bio, 0, sector);
            self.bio_part_done(bio, BlkStatus::Ok);
            self.threads[usize::from(n)].todo.push_back(clone);
            any = true;
        }
        any
    }

    /// A clone of a device-mapper bio ended: a read of dm-crypt still has to be decrypted.
    pub(crate) fn dm_bio_done(&mut self, dev: DevIdx, parent: Idx, clone: &Bio) {
        let decrypt = matches!(self.dm(dev).target, Target::Crypt { sector_ns, zoned: false, .. } if sector_ns > 0);
        if decrypt && clone.op == Op::Read {
            self.crypt_queue(dev, parent, clone.status);
        } else {
            self.bio_part_done(parent, clone.status);
        }
    }
}
