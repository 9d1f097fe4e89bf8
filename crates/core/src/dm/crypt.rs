//! dm-crypt: how long an I/O may be, and the order in which encrypted writes leave.
//!
//! Models: `crypt_map`, `get_max_request_sectors` and `dmcrypt_write` of drivers/md/dm-crypt.c, 5.17 and 7.1 (md
//! M.11).
//! Rule: encryption ends in any order; the thread `dmcrypt_write` takes what has ended as a batch, sorted by sector,
//! and issues it inside one plug. On zones (7.1) neither happens: dm has cut before, and a write is encrypted where
//! it is submitted.
//! Leaves out: integrity tags, the work queues.

use alloc::vec::Vec;

use crate::slab::Idx;
use crate::units::{SECTOR_BYTES, Sector};

/// A bio of 256 pages, the most a write's encrypted copy has.
const MAX_WRITE: u32 = 2048;

/// Longest I/O in sectors; `limit` is that of the direction in the target's configuration. 0 = none, `None` = any:
/// 7.1 cuts no writes on zones, 5.17 no reads.
pub fn max_io_len(limit: u32, write: bool, block_bytes: u32) -> Option<u32> {
    let block = block_bytes / SECTOR_BYTES as u32;
    let cut = if write { limit.min(MAX_WRITE) } else { limit };
    (limit != 0).then_some((cut / block * block).max(block))
}

/// write_tree: encrypted writes that wait for `dmcrypt_write`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct WriteTree {
    /// By sector, then arrival.
    bios: Vec<(Sector, Idx)>,
}

impl WriteTree {
    /// Puts a write in; true if the thread has to be woken.
    pub fn insert(&mut self, sector: Sector, bio: Idx) -> bool {
        let at = self.bios.partition_point(|b| b.0 <= sector);
        self.bios.insert(at, (sector, bio));
        self.bios.len() == 1
    }
    /// The batch: all that wait, by sector.
    pub fn take(&mut self) -> impl Iterator<Item = Idx> + use<> {
        core::mem::take(&mut self.bios).into_iter().map(|b| b.1)
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.bios.capacity() * size_of::<(Sector, Idx)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn md_m12_vector_16_cuts_of_a_mebibyte() {
        // 7.1: 128 KiB both ways by default; 5.17: writes at 1 MiB, reads not at all.
        assert_eq!(max_io_len(256, true, 512).map(|n| 2048 / n), Some(8));
        assert_eq!(max_io_len(2048, true, 512).map(|n| 2048 / n), Some(1));
        assert_eq!(max_io_len(0, false, 512), None);
    }

    #[test]
    fn md_m11_cuts_of_dm_crypt() {
        // Reads may be longer than a write's pages.
        assert_eq!((max_io_len(4096, false, 512), max_io_len(4096, true, 512)), (Some(4096), Some(2048)));
        // Whole blocks, at least one.
        assert_eq!((max_io_len(255, true, 4096), max_io_len(5, true, 4096)), (Some(248), Some(8)));
    }

    #[test]
    fn md_m11_writes_leave_by_sector_a_batch_at_a_time() {
        let mut t = WriteTree::default();
        let woken = [(300, 1), (100, 2), (200, 3), (100, 4)].map(|(s, b)| t.insert(s, b));
        assert_eq!(woken, [true, false, false, false]);
        assert!(t.take().eq([2, 4, 3, 1]));
        // What comes later belongs to the next batch, however low.
        assert!(t.insert(50, 5) && t.take().eq([5]) && t.take().next().is_none());
    }
}
