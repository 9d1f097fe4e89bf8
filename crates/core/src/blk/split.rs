//! Where limits cut a bio.
//!
//! Models: `bio_split_to_limits` and `bio_split_rw_at` (block/blk-merge.c, 7.1; kernel 1.3).
//! Rule: one piece obeys max_sectors, ends at most at the zone end (chunk_sectors = zone size), has at most
//! max_segments scatter entries, and is a whole number of blocks.
//! Leaves out: virt_boundary, atomic writes, physical-block misalignment.

use crate::config::QueueConfig;
use crate::units::{SECTOR_BYTES, Sector};

/// Why a bio is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// max_segments
    Segments,
    /// max_sectors or the zone end
    Size,
}

/// Scatter entries of `sectors` whose pages are contiguous over `segment_bytes` on average.
pub fn nr_segments(sectors: u32, segment_bytes: u32) -> u32 {
    (u64::from(sectors) * SECTOR_BYTES).div_ceil(u64::from(segment_bytes.max(1))) as u32
}

/// Largest piece by segments, whole blocks, sectors.
fn segment_sectors(q: &QueueConfig, segment_bytes: u32) -> Sector {
    let bytes = u64::from(q.max_segments) * u64::from(segment_bytes);
    bytes / u64::from(q.block_bytes) * u64::from(q.block_bytes) / SECTOR_BYTES
}

/// Length of the front piece of an I/O at `sector`, and what limited it; `None` when it fits whole.
pub fn front(
    q: &QueueConfig,
    chunk_sectors: Sector,
    sector: Sector,
    nr_sectors: u32,
    segment_bytes: u32,
) -> Option<(u32, Cut)> {
    let size = u64::from(q.max_sectors).min(chunk_sectors - sector % chunk_sectors);
    let segments = segment_sectors(q, segment_bytes).max(1);
    let (limit, cut) = if segments < size { (segments, Cut::Segments) } else { (size, Cut::Size) };
    (u64::from(nr_sectors) > limit).then_some((limit as u32, cut))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::tests::ahci_queue;

    #[test]
    fn a_mebibyte_of_4k_pages_on_ahci_is_672_and_352_kib() {
        let q = ahci_queue();
        assert_eq!(front(&q, 524_288, 0, 2048, 4096), Some((1344, Cut::Segments)));
        assert_eq!(front(&q, 524_288, 1344, 704, 4096), None);
        assert_eq!(nr_segments(2048, 4096), 256);
    }

    #[test]
    fn huge_pages_are_cut_by_max_sectors_and_zone_ends() {
        let q = ahci_queue();
        assert_eq!(front(&q, 524_288, 0, 16_384, 2 << 20), Some((8192, Cut::Size)));
        assert_eq!(front(&q, 524_288, 524_288 - 100, 2048, 2 << 20), Some((100, Cut::Size)));
    }

    #[test]
    fn writeback_on_ahci_makes_1920_kib_commands() {
        let q = ahci_queue();
        assert_eq!(front(&q, 524_288, 0, 524_288, 11_703), Some((3840, Cut::Segments)));
    }
}
