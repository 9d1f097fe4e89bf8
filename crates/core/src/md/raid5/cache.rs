//! Free stripes: found again, taken, waited for.
//!
//! Models: `raid5_get_active_stripe`, `get_free_stripe`, `init_stripe`, `is_inactive_blocked`, `grow_one_stripe` (md
//! M.3).
//! Rule: a stripe belongs to one of eight sub-pools by its number, and is only used for member sectors of that
//! sub-pool. A free one keeps its pages until it is the least recently used and taken.
//! Leaves out: shrinking, readers that do not wait.

use alloc::vec::Vec;

use super::{List, NONE, POOLS, Raid5, STRIPE_SECTORS, Stripe, UNUSED, state};
use crate::units::Sector;

/// Largest stripe_cache_size.
const MAX_SIZE: usize = 32_768;

impl Raid5 {
    /// Adds a free stripe.
    pub(super) fn grow(&mut self) {
        let i = self.stripes.len();
        if i == MAX_SIZE {
            return;
        }
        let pool = i % POOLS;
        self.stripes.push(Stripe {
            sector: UNUSED,
            refs: 0,
            state: 0,
            list: List::Inactive,
            pool: pool as u8,
            head: NONE,
            next: NONE,
            bios: Vec::new(),
        });
        self.pages.resize(self.pages.len() + self.disks(), 0);
        self.inactive[pool].push_back(i as u32);
    }
    fn place(&self, sector: Sector) -> Result<usize, usize> {
        self.index.binary_search_by_key(&sector, |(s, _)| *s)
    }
    /// The stripe of a member sector, if it is in the cache.
    pub(super) fn find(&self, sector: Sector) -> Option<u32> {
        self.place(sector).ok().map(|at| self.index[at].1)
    }
    /// Sub-pool of a member sector.
    fn pool(sector: Sector) -> usize {
        (sector / Sector::from(STRIPE_SECTORS)) as usize % POOLS
    }
    /// True if one who waits for a stripe of this member sector may go on.
    pub(super) fn stripe_free(&self, sector: Sector) -> bool {
        let few = self.active < self.stripes.len() as u32 * 3 / 4;
        !self.inactive[Self::pool(sector)].is_empty() && (few || !self.blocked)
    }
    /// A reference to the stripe of a member sector. `None`: there is none to be had, `waits` is set, and the same
    /// caller comes again with it.
    pub(super) fn get(&mut self, sector: Sector, waits: &mut bool) -> Option<u32> {
        if *waits {
            if !self.stripe_free(sector) {
                return None;
            }
            self.blocked = false;
            *waits = false;
        }
        if let Some(i) = self.find(sector) {
            if self.stripe(i).refs == 0 {
                self.unlist(i);
            }
            self.stripe(i).refs += 1;
            return Some(i);
        }
        let pool = Self::pool(sector);
        if !self.blocked {
            if let Some(&i) = self.inactive[pool].front() {
                self.unlist(i);
                self.init(i, sector);
                return Some(i);
            }
            self.alloc_more |= !self.did_alloc;
        }
        self.blocked = true;
        *waits = true;
        None
    }
    /// Gives a free stripe its sector.
    fn init(&mut self, i: u32, sector: Sector) {
        if let Ok(at) = self.place(self.stripes[i as usize].sector) {
            self.index.remove(at);
        }
        if let Err(at) = self.place(sector) {
            self.index.insert(at, (sector, i));
        }
        self.pages(i).fill(0);
        let s = self.stripe(i);
        (s.sector, s.refs, s.state) = (sector, 1, state::BATCH_READY);
    }
}
