//! A bio's way into stripes, and stripes' into batches.
//!
//! Models: `raid5_make_request`, `make_stripe_request`, `raid5_bio_lowest_chunk_sector`, `add_all_stripe_bios`,
//! `stripe_bio_overlaps`, `release_stripe_plug`, `stripe_can_batch`, `stripe_add_to_batch_list` (md M.2, M.7).
//! Rule: the bio's 4 KiB blocks are visited in order from where member sectors ascend. A visit attaches every member
//! of the stripe that the bio covers, or, up to 5.17, one. A fresh stripe that becomes full joins the full one below it.
//! Leaves out: reads, reshape, flushes.

use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

use super::{Attached, NONE, Raid5, STRIPE_SECTORS, state};
use crate::observe::snapshot::sflag;
use crate::slab::Idx;
use crate::units::Sector;

/// Sectors of a stripe as a sector.
const STRIPE: Sector = STRIPE_SECTORS as Sector;

/// A write on its way into stripes.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    bio: Idx,
    sector: Sector,
    end: Sector,
    /// REQ_SYNC
    sync: bool,
    /// The first block, a multiple of 8 sectors.
    first: Sector,
    /// Blocks not yet attached, one bit each.
    to_do: Vec<u64>,
    /// Block of the next visit.
    at: u32,
    /// Waits for a stripe.
    waits: bool,
}

impl Spread {
    /// The next block to visit: at or after the last one, else from the start.
    fn next_block(&self) -> Option<u32> {
        let words = self.to_do.len();
        let (word, bit) = (self.at as usize / 64, self.at % 64);
        // The first word is looked at twice: above the bit at first, below it at last.
        (0..=words).find_map(|n| {
            let w = (word + n) % words;
            let mask = match n {
                0 => u64::MAX << bit,
                n if n == words => !(u64::MAX << bit),
                _ => u64::MAX,
            };
            let bits = self.to_do[w] & mask;
            (bits != 0).then(|| w as u32 * 64 + bits.trailing_zeros())
        })
    }
    /// The sectors of a block that the bio covers, one bit each; 0 if none.
    fn cover(&self, block: Sector) -> u8 {
        let from = self.sector.max(block);
        let to = self.end.min(block + STRIPE);
        if from >= to { 0 } else { ((0xffu32 >> (STRIPE - (to - from))) << (from - block)) as u8 }
    }
}

/// How far a bio came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attach {
    /// All blocks are attached.
    Done,
    /// No stripe is free.
    WaitStripe,
    /// A block's earlier data has not been taken yet, or its stripe is in a batch. raid5d is to be woken.
    WaitOverlap,
}

impl Raid5 {
    /// A write begins.
    pub fn begin(&self, bio: Idx, sector: Sector, nr_sectors: u32, sync: bool) -> Spread {
        let end = sector + Sector::from(nr_sectors);
        let first = sector - sector % STRIPE;
        let blocks = (end - first).div_ceil(STRIPE) as usize;
        let mut to_do = vec![u64::MAX; blocks.div_ceil(64)];
        if let (Some(last), used @ 1..) = (to_do.last_mut(), blocks % 64) {
            *last = (1 << used) - 1;
        }
        let start = if self.spread { self.lowest_chunk_sector(first, nr_sectors) } else { first };
        let at = ((start - first) / STRIPE) as u32;
        Spread { bio, sector, end, sync, first, to_do, at, waits: false }
    }
    /// Where to start so that member sectors ascend: the second chunk, if the bio reaches it on a later member.
    fn lowest_chunk_sector(&self, first: Sector, nr_sectors: u32) -> Sector {
        let chunk = Sector::from(self.chunk_sectors);
        let rest = chunk - first % chunk;
        let (role, member) = self.layout.map(self.chunk_sectors, first);
        let (p, q) = self.layout.parity(member / chunk);
        let later = (role + 1..self.layout.disks()).any(|role| role != p && Some(role) != q);
        if Sector::from(nr_sectors) > rest && later { first + rest } else { first }
    }
    /// Roles a visit that starts at `role` may attach.
    fn visited(&self, role: u8) -> Range<u8> {
        if self.spread { 0..self.layout.disks() } else { role..role + 1 }
    }
    /// The block that a role holds of the stripe at a member sector, and what the bio covers of it, if it does.
    fn part(&self, s: &Spread, role: u8, member: Sector) -> Option<(Sector, u8)> {
        let block = self.layout.origin(self.chunk_sectors, role, member)?;
        Some((block, s.cover(block))).filter(|(_, cover)| *cover != 0)
    }
    /// True if the visit has to wait for what is attached already.
    fn overlaps(&self, i: u32, s: &Spread, role: u8, member: Sector) -> bool {
        let stripe = &self.stripes[i as usize];
        stripe.head != NONE
            || self.visited(role).any(|role| {
                self.part(s, role, member).is_some_and(|(_, cover)| {
                    stripe.bios.iter().any(|a| a.role == role && !a.written && a.cover & cover != 0)
                })
            })
    }
    /// Attaches blocks until all are or one has to wait. Stripes to be released with the plug are added to it, each
    /// once; without a plug they are released here, and raid5d is to be woken. `refs` is raised by one a block.
    pub fn attach(&mut self, s: &mut Spread, mut plug: Option<&mut Vec<u32>>, refs: &mut u32) -> Attach {
        while let Some(block) = s.next_block() {
            s.at = block;
            let (role, member) = self.layout.map(self.chunk_sectors, s.first + Sector::from(block) * STRIPE);
            let Some(i) = self.get(member, &mut s.waits) else {
                return Attach::WaitStripe;
            };
            if self.overlaps(i, s, role, member) {
                self.put(i);
                return Attach::WaitOverlap;
            }
            for role in self.visited(role) {
                let Some((block, cover)) = self.part(s, role, member) else {
                    continue;
                };
                let n = (block - s.first) / STRIPE;
                s.to_do[n as usize / 64] &= !(1 << (n % 64));
                let stripe = self.stripe(i);
                stripe.bios.push(Attached { bio: s.bio, role, cover, sync: s.sync, written: false });
                let new = stripe.bios.iter().filter(|a| a.role == role && !a.written);
                let covered = new.fold(0, |sum, a| sum | a.cover);
                self.pages(i)[usize::from(role)] |= sflag::TOWRITE | if covered == 0xff { sflag::OVERWRITE } else { 0 };
                *refs += 1;
            }
            self.join_batch(i);
            let stripe = self.stripe(i);
            stripe.state |= state::HANDLE;
            stripe.state &= !state::DELAYED;
            let alone = stripe.head == NONE || stripe.head == i;
            if s.sync && alone && !stripe.has(state::PREREAD_ACTIVE) {
                stripe.state |= state::PREREAD_ACTIVE;
                self.preread_active += 1;
            }
            match &mut plug {
                Some(plug) if !self.stripe(i).has(state::ON_UNPLUG_LIST) => {
                    self.stripe(i).state |= state::ON_UNPLUG_LIST;
                    plug.push(i);
                }
                _ => {
                    self.put(i);
                }
            }
        }
        Attach::Done
    }
    /// True if a bio that has to wait may try again.
    pub fn may_retry(&self, s: &Spread) -> bool {
        let (role, member) = self.layout.map(self.chunk_sectors, s.first + Sector::from(s.at) * STRIPE);
        if s.waits {
            return self.stripe_free(member);
        }
        self.find(member).is_none_or(|i| !self.overlaps(i, s, role, member))
    }

    /// True for a fresh stripe that new data covers completely.
    fn can_batch(&mut self, i: u32) -> bool {
        let data = usize::from(self.layout.data_disks());
        self.stripe(i).has(state::BATCH_READY)
            && self.pages(i).iter().filter(|p| **p & sflag::OVERWRITE != 0).count() == data
    }
    /// Joins a full stripe to the one below it in the same chunk.
    fn join_batch(&mut self, i: u32) {
        let sector = self.stripe(i).sector;
        if sector.is_multiple_of(Sector::from(self.chunk_sectors)) || !self.can_batch(i) {
            return;
        }
        let Some(below) = self.find(sector - STRIPE) else {
            return;
        };
        // Operation flags on the first data member stand for all.
        let first = self.layout.first_data(sector / Sector::from(self.chunk_sectors));
        let sync = |s: &super::Stripe| s.bios.iter().any(|a| a.role == first && a.cover & 1 != 0 && a.sync);
        let same = sync(&self.stripes[i as usize]) == sync(&self.stripes[below as usize]);
        if self.stripe(i).head != NONE || !self.can_batch(below) || !same {
            return;
        }
        let pred = self.stripe(below);
        if pred.head == NONE {
            pred.head = below;
        }
        pred.next = i;
        let head = pred.head;
        let s = self.stripe(i);
        s.head = head;
        // The batch's own reference.
        s.refs += 1;
        self.end_preread(i);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{MdConfig, MdLevel};

    /// 1 MiB at 256 KiB of three members with 512 KiB chunks, without a limit that cuts it.
    #[test]
    fn md_m12_vector_2_visits() {
        let cfg = MdConfig {
            level: MdLevel::Raid5,
            members: vec![0, 1, 2],
            chunk_sectors: 1024,
            layout: 2,
            data_offset: 0,
            stripe_cache_size: 256,
            rmw_level: 1,
            preread_bypass_threshold: 1,
            sync: None,
        };
        let visits = |spread| {
            let mut array = Raid5::new(&cfg, spread);
            let mut bio = array.begin(0, 512, 2048, true);
            let (mut blocks, mut refs, mut visits) = (0, 0, Vec::new());
            while let Some(block) = bio.next_block() {
                // All but the visit's blocks are left for later.
                let rest = core::mem::replace(&mut bio.to_do, vec![0; 4]);
                bio.to_do[block as usize / 64] = 1 << (block % 64);
                let (_, member) = array.layout.map(1024, bio.first + Sector::from(block) * STRIPE);
                assert_eq!(array.attach(&mut bio, Some(&mut Vec::new()), &mut refs), Attach::Done);
                bio.to_do = rest;
                for n in blocks..refs {
                    let taken = array.stripes.iter().find(|s| s.sector == member).unwrap();
                    let a = &taken.bios[taken.bios.len() - 1 - (n - blocks) as usize];
                    let origin = array.layout.origin(1024, a.role, member).unwrap();
                    let n = ((origin - bio.first) / STRIPE) as usize;
                    bio.to_do[n / 64] &= !(1 << (n % 64));
                }
                blocks = refs;
                visits.push(member);
            }
            visits
        };
        let range = |from: Sector, to: Sector| (from..=to).step_by(8);
        let ascending: Vec<Sector> = range(0, 504).chain(range(512, 1016)).chain(range(1024, 1528)).collect();
        assert_eq!(visits(true), ascending);
        let old: Vec<Sector> = range(512, 1016).chain(range(0, 1016)).chain(range(1024, 1528)).collect();
        assert_eq!(visits(false), old);
    }
}
