//! Where limits cut a bio.
//!
//! Models: `bio_split_to_limits` and `bio_split_rw_at` (block/blk-merge.c, 7.1; kernel 1.3).
//! Rule: one piece obeys max_sectors, ends at the next multiple of chunk_sectors (zone size, full stripe) at the latest,
//! has at most max_segments scatter entries, and is a whole number of blocks.
//! Leaves out: virt_boundary, atomic writes, physical-block misalignment.

use crate::config::QueueConfig;
use crate::units::{SECTOR_BYTES, Sector};

/// Why a bio is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// max_segments
    Segments,
    /// max_sectors
    Size,
    /// chunk_sectors: the zone end, or the end of a stripe.
    Chunk,
}

/// The limits of one device that cut bios.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Sectors.
    pub max_sectors: u32,
    /// Scatter entries.
    pub max_segments: u32,
    /// Bytes of a logical block.
    pub block_bytes: u32,
    /// Sectors; [`Sector::MAX`] = none.
    pub chunk_sectors: Sector,
}

impl Limits {
    /// A queue's limits with the chunk_sectors its disk publishes.
    pub fn of(q: &QueueConfig, chunk_sectors: Sector) -> Self {
        Self { max_sectors: q.max_sectors, max_segments: q.max_segments, block_bytes: q.block_bytes, chunk_sectors }
    }

    /// Largest piece by segments, whole blocks, sectors.
    fn segment_sectors(&self, segment_bytes: u32) -> Sector {
        let bytes = u64::from(self.max_segments) * u64::from(segment_bytes);
        bytes / u64::from(self.block_bytes) * u64::from(self.block_bytes) / SECTOR_BYTES
    }

    /// Length of the front piece of an I/O at `sector`, and what limited it; `None` when it fits whole.
    pub fn front(&self, sector: Sector, nr_sectors: u32, segment_bytes: u32) -> Option<(u32, Cut)> {
        let mut limit = (u64::from(self.max_sectors), Cut::Size);
        for (sectors, cut) in [
            (self.chunk_sectors - sector % self.chunk_sectors, Cut::Chunk),
            (self.segment_sectors(segment_bytes).max(1), Cut::Segments),
        ] {
            if sectors < limit.0 {
                limit = (sectors, cut);
            }
        }
        (u64::from(nr_sectors) > limit.0).then_some((limit.0 as u32, limit.1))
    }
}

/// Scatter entries of `sectors` whose pages are contiguous over `segment_bytes` on average.
pub fn nr_segments(sectors: u32, segment_bytes: u32) -> u32 {
    (u64::from(sectors) * SECTOR_BYTES).div_ceil(u64::from(segment_bytes.max(1))) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::tests::ahci_queue;

    fn zoned() -> Limits {
        Limits::of(&ahci_queue(), 524_288)
    }

    #[test]
    fn a_mebibyte_of_4k_pages_on_ahci_is_672_and_352_kib() {
        assert_eq!(zoned().front(0, 2048, 4096), Some((1344, Cut::Segments)));
        assert_eq!(zoned().front(1344, 704, 4096), None);
        assert_eq!(nr_segments(2048, 4096), 256);
    }

    #[test]
    fn huge_pages_are_cut_by_max_sectors_and_zone_ends() {
        assert_eq!(zoned().front(0, 16_384, 2 << 20), Some((8192, Cut::Size)));
        assert_eq!(zoned().front(524_288 - 100, 2048, 2 << 20), Some((100, Cut::Chunk)));
    }

    #[test]
    fn writeback_on_ahci_makes_1920_kib_commands() {
        assert_eq!(zoned().front(0, 524_288, 11_703), Some((3840, Cut::Segments)));
    }
}
