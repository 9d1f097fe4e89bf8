//! One pass over a stripe.
//!
//! Models: `handle_stripe` and what it calls, `ops_run_io`, `break_stripe_batch_list` (md M.4, M.5, M.8, M.9).
//! Rule: first what has come back is used, then reads are asked for, then a write whose reads are there is computed;
//! its I/O follows in the next pass. So all queued parities are computed before the first write goes out. Members are
//! gone through from the last to the first.
//! Leaves out: failed members, mismatches a check finds (there are none).

use super::{NONE, Output, Raid5, StripeIo, WRITTEN, state};
use crate::observe::snapshot::sflag::{LOCKED, OVERWRITE, READING, TOWRITE, UPTODATE, WRITING};
use crate::observe::trace::NO_ORIGIN;
use crate::observe::why::Why;
use crate::units::Sector;

/// PARITY_DISABLE_RMW and PARITY_PREFER_RMW of md/rmw_level.
const DISABLE_RMW: u8 = 0;
const PREFER_RMW: u8 = 2;

/// Roles of a stripe that hold parity.
#[derive(Clone, Copy)]
struct Parity {
    p: usize,
    q: usize,
}

impl Parity {
    fn has(self, role: usize) -> bool {
        role == self.p || role == self.q
    }
}

impl Raid5 {
    fn parity(&self, i: u32) -> Parity {
        let (p, q) = self.layout.parity(self.stripes[i as usize].sector / Sector::from(self.chunk_sectors));
        Parity { p: p.into(), q: q.map_or(usize::MAX, usize::from) }
    }
    fn count(&mut self, i: u32, flag: u8) -> u32 {
        self.pages(i).iter().filter(|p| **p & flag != 0).count() as u32
    }

    /// handle_stripe; of a batch, its head stands for all.
    pub(super) fn handle(&mut self, i: u32, out: &mut Output) {
        let parity = self.parity(i);
        let s = self.stripe(i);
        if s.head != NONE && s.head != i {
            // It joined a batch after raid5d had taken it.
            s.state &= !(state::HANDLE | state::BATCH_READY);
            return;
        }
        let mut n = i;
        while n != NONE {
            let s = self.stripe(n);
            s.state &= !state::BATCH_READY;
            n = s.next;
        }
        let s = self.stripe(i);
        s.state &= !(state::HANDLE | state::DELAYED);
        if s.head == NONE && s.take(state::SYNC_REQUESTED) {
            s.state = s.state & !state::INSYNC | state::SYNCING;
        }

        // What was computed is to be written.
        let mut preread_over = false;
        if s.take(state::DRAINED) {
            if !s.take(state::PREXOR) {
                s.state |= state::INSYNC;
            }
            preread_over = s.take(state::PREREAD_ACTIVE);
            for (role, page) in self.pages(i).iter_mut().enumerate() {
                if *page & LOCKED != 0 && (parity.has(role) || *page & WRITTEN != 0) {
                    *page |= WRITING;
                }
            }
        } else if self.count(i, WRITTEN) > 0 {
            self.end_writes(i, out);
        }

        self.fill(i, parity);
        if self.count(i, TOWRITE) > 0 && !self.stripe(i).has(state::CHECKED) {
            self.dirty(i, parity, out);
        }
        if self.stripe(i).has(state::CHECKED | state::SYNCING) && self.count(i, LOCKED) == 0 {
            self.check(i, parity, out);
        }
        self.submit(i, out);
        // Given back when the I/O is out; the next generation starts in this loop's next round.
        self.preread_active -= u32::from(preread_over);
    }

    /// `handle_stripe_clean_event`: the bios of written blocks end, a batch is dissolved.
    fn end_writes(&mut self, i: u32, out: &mut Output) {
        for role in (0..self.disks()).rev() {
            if self.pages(i)[role] & WRITTEN == 0 {
                continue;
            }
            self.pages(i)[role] &= !WRITTEN;
            let mut n = i;
            while n != NONE {
                let s = self.stripe(n);
                let ended = |a: &&super::Attached| usize::from(a.role) == role && a.written;
                out.ended.extend(s.bios.iter().filter(ended).map(|a| a.bio));
                n = s.next;
            }
        }
        let s = self.stripe(i);
        s.bios.retain(|a| !a.written);
        if s.take(state::FULL_WRITE) {
            self.pending_full_writes -= 1;
        }
        let s = self.stripe(i);
        if s.has(state::SYNC_REQUESTED) {
            s.state |= state::HANDLE;
        }
        let insync = s.state & state::INSYNC;
        let mut n = s.next;
        (s.head, s.next) = (NONE, NONE);
        let (d, from) = (self.disks(), i as usize * self.disks());
        while n != NONE {
            self.pages.copy_within(from..from + d, n as usize * d);
            let s = self.stripe(n);
            s.state = s.state & (state::ON_UNPLUG_LIST | state::SYNC_REQUESTED) | insync;
            if s.has(state::SYNC_REQUESTED) {
                s.state |= state::HANDLE;
            }
            s.bios.clear();
            let next = s.next;
            (s.head, s.next) = (NONE, NONE);
            self.put(n);
            n = next;
        }
    }

    /// `handle_stripe_fill`: reads partly covered blocks, and all of a stripe to be checked.
    fn fill(&mut self, i: u32, parity: Parity) {
        let (raid6, disks) = (self.layout.parities() == 2, u32::from(self.layout.disks()));
        let mut uptodate = self.count(i, UPTODATE);
        let syncing = self.stripe(i).has(state::SYNCING) && uptodate < disks;
        if self.stripe(i).has(state::CHECKED) {
            return;
        }
        let mut wanted = false;
        for (role, page) in self.pages(i).iter_mut().enumerate().rev() {
            let partly = *page & (TOWRITE | OVERWRITE) == TOWRITE;
            wanted |= partly || syncing;
            if *page & (LOCKED | UPTODATE) != 0 || !(partly || syncing) {
                continue;
            }
            // raid6 computes p if that alone is missing.
            if raid6 && uptodate == disks - 1 && role == parity.p {
                *page |= UPTODATE;
                uptodate += 1;
            } else {
                *page |= LOCKED | READING;
            }
        }
        if wanted {
            self.stripe(i).state |= state::HANDLE;
        }
    }

    /// `handle_stripe_dirtying`: chooses between read-modify-write and reconstruct-write, reads for it, or computes.
    fn dirty(&mut self, i: u32, parity: Parity, out: &mut Output) {
        // Whether a page has to be read for the one and for the other.
        let for_rmw =
            |role: usize, page: u8| (page & TOWRITE != 0 || parity.has(role)) && page & (LOCKED | UPTODATE) == 0;
        let for_rcw = |role: usize, page: u8| page & (OVERWRITE | LOCKED | UPTODATE) == 0 && !parity.has(role);
        let (mut rmw, mut rcw) = (0, 0);
        for (role, page) in self.pages(i).iter().enumerate() {
            rmw += u32::from(for_rmw(role, *page));
            rcw += u32::from(for_rcw(role, *page));
        }
        let level = self.rmw_level;
        let modify = level != DISABLE_RMW && (rmw < rcw || rmw == rcw && level == PREFER_RMW);
        let reads = if modify { rmw } else { rcw };
        let s = self.stripe(i);
        let sector = s.sector;
        if reads > 0 {
            s.state |= state::HANDLE;
            if s.has(state::PREREAD_ACTIVE) {
                for (role, page) in self.pages(i).iter_mut().enumerate() {
                    if if modify { for_rmw(role, *page) } else { for_rcw(role, *page) } {
                        *page |= LOCKED | READING;
                    }
                }
                out.notes.push(if modify {
                    Why::ReadModifyWrite { sector, rmw, rcw }
                } else {
                    Why::ReconstructWrite { sector, rmw, rcw }
                });
            } else {
                s.state |= state::DELAYED;
                let preread = self.preread_active;
                out.notes.push(Why::StripeDelayed { sector, reads, preread });
            }
        }
        if self.count(i, LOCKED) == 0 && (rcw == 0 || rmw == 0 && level != DISABLE_RMW) {
            self.drain(i, rcw > 0, parity, out);
        }
    }

    /// `schedule_reconstruction` and the computation: new data goes into the pages, parity follows from them.
    fn drain(&mut self, i: u32, prexor: bool, parity: Parity, out: &mut Output) {
        let (written, full) = (self.count(i, TOWRITE), self.count(i, OVERWRITE));
        let data = u32::from(self.layout.data_disks());
        for (role, page) in self.pages(i).iter_mut().enumerate() {
            // The one needs the old content of what changes, the other the content of all data.
            debug_assert!(if prexor {
                *page & UPTODATE != 0 || *page & TOWRITE == 0 && !parity.has(role)
            } else {
                *page & (UPTODATE | OVERWRITE) != 0 || parity.has(role)
            });
            if *page & TOWRITE != 0 {
                *page = *page & !(TOWRITE | OVERWRITE) | LOCKED | UPTODATE | WRITTEN;
            } else if parity.has(role) {
                *page |= LOCKED | UPTODATE;
            }
        }
        let (mut n, mut stripes) = (i, 0);
        while n != NONE {
            let s = self.stripe(n);
            s.bios.iter_mut().for_each(|a| a.written = true);
            stripes += 1;
            n = s.next;
        }
        let s = self.stripe(i);
        // Of all drained bios, the old ones having ended before.
        s.state &= !state::SYNC_IO;
        if s.bios.iter().any(|a| a.sync) {
            s.state |= state::SYNC_IO;
        }
        s.state |= state::HANDLE | state::DRAINED | if prexor { state::PREXOR } else { 0 };
        let sector = s.sector;
        if !prexor && written == data && !s.has(state::FULL_WRITE) {
            s.state |= state::FULL_WRITE;
            self.pending_full_writes += 1;
        }
        if stripes > 1 {
            out.notes.push(Why::StripeBatch { sector, stripes });
        } else if full == data {
            out.notes.push(Why::FullStripe { sector, blocks: data });
        }
    }

    /// `handle_parity_checks5` and 6, and the end of a sync request.
    fn check(&mut self, i: u32, parity: Parity, out: &mut Output) {
        let raid6 = self.layout.parities() == 2;
        let s = self.stripe(i);
        if s.take(state::CHECKED) {
            s.state |= state::INSYNC | state::HANDLE;
        } else if !s.has(state::INSYNC) {
            s.state |= state::CHECKED | state::HANDLE;
            if !raid6 {
                // The check of a single parity uses its page up.
                for (role, page) in self.pages(i).iter_mut().enumerate() {
                    if parity.has(role) {
                        *page &= !UPTODATE;
                    }
                }
            }
            return;
        }
        if s.take(state::SYNCING) {
            out.synced += 1;
        }
    }

    /// `ops_run_io`: member I/O by falling role; of a batch, all stripes of a member before the next one.
    fn submit(&mut self, i: u32, out: &mut Output) {
        for role in (0..self.disks()).rev() {
            let page = self.pages(i)[role];
            let write = page & WRITING != 0;
            if page & (READING | WRITING) == 0 {
                continue;
            }
            let sync = write && self.stripe(i).has(state::SYNC_IO);
            let mut n = i;
            while n != NONE {
                let s = self.stripe(n);
                s.state |= state::IO_STARTED;
                s.refs += 1;
                let (sector, next) = (s.sector, s.next);
                if n != i {
                    self.stripe(i).refs += 1;
                }
                let role = role as u8;
                let origin = self.layout.origin(self.chunk_sectors, role, sector).unwrap_or(NO_ORIGIN);
                out.ios.push(StripeIo { stripe: n, role, write, sync, sector, origin });
                n = next;
            }
        }
    }
}
