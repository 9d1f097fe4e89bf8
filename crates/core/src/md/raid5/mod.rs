//! raid5 and raid6 writes: the stripe cache, who fills it, and what raid5d does with it.
//!
//! | file | what |
//! |---|---|
//! | `spread.rs` | a bio's way into stripes; batches |
//! | `cache.rs` | free stripes, look-up, waiting for one |
//! | `lists.rs` | where a stripe waits; which one is next |
//! | `handle.rs` | one pass over a stripe: reads, parity, writes, ends |
//! | this file | raid5d's loop, ends of member I/O, sync requests, the view |
//!
//! Models: drivers/md/raid5.c and raid5.h, 5.17, 6.12 and 7.1 (md M.2 to M.9).
//! Rule: a state machine without a clock. A stripe is a 4 KiB page on every member. Whoever works with it holds a
//! reference: a plug, raid5d, a member I/O. With the last one it goes where its flags say. raid5d only takes
//! stripes that nobody holds, so none of their I/O is in flight when they are handled.
//! Leaves out: reads (they are aligned and pass the cache by), degraded arrays and what follows a member's error,
//! resync and repair, journal, PPL, bitmap, worker threads, discards, reshape.

mod cache;
mod handle;
mod lists;
mod spread;

use alloc::vec::Vec;

use crate::config::MdConfig;
use crate::fifo::Fifo;
use crate::md::layout::Layout;
use crate::observe::snapshot::{MAX_STRIPES, StripeCacheView, StripeView, sflag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::units::Sector;

pub use spread::{Attach, Spread};

/// RAID5_STRIPE_SECTORS: sectors of a stripe on each member.
pub const STRIPE_SECTORS: u32 = 8;
/// NR_STRIPE_HASH_LOCKS: sub-pools of free stripes.
const POOLS: usize = 8;
/// MAX_STRIPE_BATCH: stripes raid5d takes at once.
const MAX_STRIPE_BATCH: usize = 8;
/// No stripe.
const NONE: u32 = u32::MAX;
/// The sector of a stripe that was never used.
const UNUSED: Sector = Sector::MAX;

/// Flags of a stripe.
mod state {
    pub const HANDLE: u16 = 1;
    pub const DELAYED: u16 = 2;
    pub const PREREAD_ACTIVE: u16 = 4;
    /// Fresh from the cache, not handled yet: may join a batch.
    pub const BATCH_READY: u16 = 8;
    pub const IO_STARTED: u16 = 16;
    pub const FULL_WRITE: u16 = 32;
    pub const ON_UNPLUG_LIST: u16 = 64;
    pub const SYNC_REQUESTED: u16 = 128;
    pub const SYNCING: u16 = 256;
    pub const INSYNC: u16 = 512;
    /// Parity was checked, the result not yet looked at.
    pub const CHECKED: u16 = 1024;
    /// New data is in the pages and parity is computed: to be written by the next pass.
    pub const DRAINED: u16 = 2048;
    /// By read-modify-write.
    pub const PREXOR: u16 = 4096;
    /// A bio in what was drained is SYNC.
    pub const SYNC_IO: u16 = 8192;
}

/// A page's new data has been taken out of its bios, which have not ended (`dev->written`).
const WRITTEN: u8 = 64;

/// Where a stripe that nobody holds waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum List {
    None,
    Inactive,
    Handle,
    Delayed,
    Hold,
}

/// A block of a bio in a stripe.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Attached {
    bio: Idx,
    role: u8,
    /// Sectors of the page it covers, one bit each.
    cover: u8,
    sync: bool,
    written: bool,
}

/// struct stripe_head
#[derive(Clone, Debug, PartialEq)]
struct Stripe {
    /// Member sector without data_offset.
    sector: Sector,
    refs: u32,
    state: u16,
    list: List,
    pool: u8,
    /// First stripe of its batch.
    head: u32,
    /// Next stripe of its batch.
    next: u32,
    bios: Vec<Attached>,
}

impl Stripe {
    fn has(&self, flag: u16) -> bool {
        self.state & flag != 0
    }
    /// Clears a flag; true if it was set.
    fn take(&mut self, flag: u16) -> bool {
        let was = self.has(flag);
        self.state &= !flag;
        was
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Raid5 {
    layout: Layout,
    chunk_sectors: u32,
    rmw_level: u8,
    bypass_threshold: u32,
    /// A visit attaches all members the bio covers.
    spread: bool,
    /// md/stripe_cache_size
    size: u32,
    stripes: Vec<Stripe>,
    /// Flags of the pages, stripe by stripe in order of roles.
    pages: Vec<u8>,
    /// Used stripes by member sector.
    index: Vec<(Sector, u32)>,
    inactive: [Fifo<u32>; POOLS],
    handle_list: Fifo<u32>,
    delayed_list: Fifo<u32>,
    hold_list: Fifo<u32>,
    /// Stripes whose last reference raid5d has to drop (`released_stripes`).
    released: Fifo<u32>,
    /// What raid5d has taken and how many of them it has handled.
    taken: Vec<u32>,
    handled: usize,
    active: u32,
    preread_active: u32,
    pending_full_writes: u32,
    bypass_count: u32,
    last_hold: u32,
    /// R5_INACTIVE_BLOCKED
    blocked: bool,
    /// R5_ALLOC_MORE
    alloc_more: bool,
    /// R5_DID_ALLOC
    did_alloc: bool,
    /// The sync thread is among those that wait for a stripe.
    sync_waits: bool,
}

/// A 4 KiB I/O of raid5d to a member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StripeIo {
    /// For [`Raid5::io_done`].
    pub stripe: u32,
    /// Member.
    pub role: u8,
    /// Write, else read.
    pub write: bool,
    /// REQ_SYNC
    pub sync: bool,
    /// Member sector without data_offset.
    pub sector: Sector,
    /// Sector of the array; [`NO_ORIGIN`](crate::observe::trace::NO_ORIGIN) for parity.
    pub origin: Sector,
}

/// What a step of raid5d brought about, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// Member I/Os to submit.
    pub ios: Vec<StripeIo>,
    /// References of bios to drop, one entry a block.
    pub ended: Vec<Idx>,
    /// Stripes whose check is finished.
    pub synced: u32,
    /// Decisions.
    pub notes: Vec<Why>,
}

/// What raid5d did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Handled a stripe or a batch.
    Handled,
    /// Nothing left to do: the run is over.
    Idle,
}

impl Raid5 {
    /// An idle array in sync. `spread`: a bio visits a stripe once for all members it covers.
    pub fn new(cfg: &MdConfig, spread: bool) -> Self {
        let mut array = Self {
            layout: Layout::new(cfg.level, cfg.layout, cfg.members.len()),
            chunk_sectors: cfg.chunk_sectors,
            rmw_level: cfg.rmw_level,
            bypass_threshold: cfg.preread_bypass_threshold,
            spread,
            size: cfg.stripe_cache_size,
            stripes: Vec::new(),
            pages: Vec::new(),
            index: Vec::new(),
            inactive: Default::default(),
            handle_list: Fifo::new(),
            delayed_list: Fifo::new(),
            hold_list: Fifo::new(),
            released: Fifo::new(),
            taken: Vec::new(),
            handled: 0,
            active: 0,
            preread_active: 0,
            pending_full_writes: 0,
            bypass_count: 0,
            last_hold: NONE,
            blocked: false,
            alloc_more: false,
            did_alloc: false,
            sync_waits: false,
        };
        for _ in 0..cfg.stripe_cache_size {
            array.grow();
        }
        array
    }
    /// The map of the array.
    pub fn layout(&self) -> Layout {
        self.layout
    }
    /// md/stripe_cache_active
    pub fn active(&self) -> u32 {
        self.active
    }
    /// Stripes there are: md/stripe_cache_size and what raid5d added.
    pub fn stripes(&self) -> u32 {
        self.stripes.len() as u32
    }
    fn disks(&self) -> usize {
        usize::from(self.layout.disks())
    }
    fn stripe(&mut self, i: u32) -> &mut Stripe {
        &mut self.stripes[i as usize]
    }
    /// Flags of a stripe's pages by role.
    fn pages(&mut self, i: u32) -> &mut [u8] {
        let d = self.disks();
        &mut self.pages[i as usize * d..][..d]
    }

    /// One stripe of raid5d's loop. Stripes taken together are released together, after the last has been handled.
    pub fn next(&mut self, out: &mut Output) -> Step {
        if self.taken.is_empty() {
            while let Some(i) = self.released.pop_front() {
                self.did_alloc = false;
                self.unref(i);
            }
            self.activate_delayed();
            while self.taken.len() < MAX_STRIPE_BATCH
                && let Some(i) = self.take_priority()
            {
                self.taken.push(i);
            }
            if self.taken.is_empty() {
                if self.alloc_more {
                    self.alloc_more = false;
                    self.did_alloc = true;
                    self.grow();
                }
                return Step::Idle;
            }
        }
        let i = self.taken[self.handled];
        self.handled += 1;
        self.handle(i, out);
        if self.handled == self.taken.len() {
            self.handled = 0;
            let mut taken = core::mem::take(&mut self.taken);
            for i in taken.drain(..) {
                self.unref(i);
            }
            self.taken = taken;
        }
        Step::Handled
    }

    /// A member I/O ended. True = raid5d is to be woken.
    pub fn io_done(&mut self, stripe: u32, role: u8, write: bool) -> bool {
        let page = &mut self.pages(stripe)[usize::from(role)];
        *page &= !(sflag::LOCKED | sflag::READING | sflag::WRITING);
        if !write {
            *page |= sflag::UPTODATE;
        }
        let s = self.stripe(stripe);
        s.state |= state::HANDLE;
        let head = s.head;
        let mut wake = self.put(stripe);
        // The head is handled when the I/O of its whole batch is over.
        if head != NONE && head != stripe {
            wake |= self.put(head);
        }
        wake
    }

    /// `raid5_sync_request` for the stripe at a member sector. `None`: no stripe is free; the sync thread sleeps a tick
    /// and asks again. True = raid5d is to be woken.
    pub fn sync_request(&mut self, sector: Sector) -> Option<bool> {
        let mut waits = self.sync_waits;
        let got = self.get(sector, &mut waits);
        self.sync_waits = waits;
        let i = got?;
        self.stripe(i).state |= state::SYNC_REQUESTED | state::HANDLE;
        Some(self.put(i))
    }

    /// A copy for pictures.
    pub fn view(&self) -> StripeCacheView {
        let d = self.disks();
        let shown = self.index.iter().filter(|(_, i)| self.stripes[*i as usize].list != List::Inactive);
        let stripes = shown.take(MAX_STRIPES).map(|&(sector, i)| {
            let s = &self.stripes[i as usize];
            let batched = s.head != NONE && s.head != i;
            // A batch has the flags of its head.
            let flags = if batched { s.head } else { i } as usize * d;
            let (p, q) = self.layout.parity(sector / Sector::from(self.chunk_sectors));
            let flag = |(role, page): (usize, &u8)| {
                let parity = role == usize::from(p) || q.is_some_and(|q| role == usize::from(q));
                page & !WRITTEN | if parity { sflag::PARITY } else { 0 }
            };
            StripeView {
                sector,
                flags: self.pages[flags..flags + d].iter().enumerate().map(flag).collect(),
                delayed: s.has(state::DELAYED) && !s.has(state::PREREAD_ACTIVE),
                batched,
            }
        });
        StripeCacheView {
            size: self.size,
            active: self.active,
            lists: [&self.handle_list, &self.delayed_list, &self.hold_list].map(|l| l.len() as u32),
            stripes: stripes.collect(),
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        let lists = [&self.handle_list, &self.delayed_list, &self.hold_list, &self.released];
        let places: usize = self.inactive.iter().chain(lists).map(Fifo::capacity).sum();
        let bios: usize = self.stripes.iter().map(|s| s.bios.capacity()).sum();
        (places + self.taken.capacity()) * size_of::<u32>()
            + bios * size_of::<Attached>()
            + self.stripes.capacity() * size_of::<Stripe>()
            + self.index.capacity() * size_of::<(Sector, u32)>()
            + self.pages.capacity()
    }
}
