//! dm-stripe: chunks in turn over devices.
//!
//! Models: `stripe_map_sector` of drivers/md/dm-stripe.c and `max_io_len` of dm.c, 5.17 and 7.1 (md M.11).
//! Rule: chunk k is on stripe k mod S, at chunk k div S of it; no I/O crosses a chunk.
//! Leaves out: the start of each device's part.

use crate::units::Sector;

/// `struct stripe_c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe {
    /// Devices.
    pub stripes: u64,
    /// Sectors.
    pub chunk_sectors: u32,
}

impl Stripe {
    /// Stripe and sector on it.
    pub fn map(&self, sector: Sector) -> (u8, Sector) {
        let size = Sector::from(self.chunk_sectors);
        let chunk = sector / size;
        ((chunk % self.stripes) as u8, chunk / self.stripes * size + sector % size)
    }

    /// Longest I/O at a sector: to the end of its chunk, or the device's max_sectors.
    pub fn max_io_len(&self, sector: Sector, max_sectors: u32) -> u32 {
        let left = self.chunk_sectors - (sector % Sector::from(self.chunk_sectors)) as u32;
        left.min(max_sectors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// Pieces of an I/O: (start, sectors).
    fn pieces(s: Stripe, mut sector: Sector, mut nr: u32, max_sectors: u32) -> Vec<(Sector, u32)> {
        let mut out = Vec::new();
        while nr > 0 {
            let len = s.max_io_len(sector, max_sectors).min(nr);
            out.push((sector, len));
            sector += Sector::from(len);
            nr -= len;
        }
        out
    }

    #[test]
    fn md_m12_vector_16_four_stripes() {
        let s = Stripe { stripes: 4, chunk_sectors: 128 };
        // 256 KiB at 32 KiB.
        let mapped: Vec<_> = pieces(s, 64, 512, 8192).into_iter().map(|(at, nr)| (nr, s.map(at))).collect();
        assert_eq!(mapped, [(64, (0, 64)), (128, (1, 0)), (128, (2, 0)), (128, (3, 0)), (64, (0, 128))]);
    }

    /// Starts of the remainders that a trace of a striped device with 128 KiB chunks shows (X).
    #[test]
    fn md_m11_remainders_of_a_traced_dm_stripe() {
        let s = Stripe { stripes: 2, chunk_sectors: 256 };
        let reads: [(Sector, u32, Sector, usize); 4] =
            [(224, 2064, 256, 8), (2288, 2008, 2304, 8), (224, 2280, 256, 9), (2504, 1792, 2560, 7)];
        for (sector, nr, first, count) in reads {
            let splits: Vec<_> = pieces(s, sector, nr, 8192).into_iter().skip(1).map(|p| p.0).collect();
            let traced: Vec<_> = (0..count as Sector).map(|i| first + i * 256).collect();
            assert_eq!(splits, traced, "{sector} + {nr}");
        }
    }

    #[test]
    fn md_m11_dm_stripe_cuts_at_max_sectors_too() {
        let s = Stripe { stripes: 3, chunk_sectors: 96 };
        assert_eq!(pieces(s, 90, 100, 64), [(90, 6), (96, 64), (160, 30)]);
    }
}
