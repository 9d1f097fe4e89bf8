//! raid1: which mirror reads.
//!
//! Models: `read_balance` and `choose_best_rdev` of drivers/md/raid1.c, 7.1 (md M.11).
//! Rule: a stream stays on its mirror; on flash it moves to an idle one after io_opt. Otherwise the mirror with the
//! fewest I/Os where that matters (any is flash, or one is idle), else the one whose head is nearest.
//! Leaves out: members that are faulty, write-mostly or have bad blocks, reads beyond a resync, the choice of 5.17.

use alloc::vec;
use alloc::vec::Vec;

use crate::units::Sector;

/// BARRIER_UNIT_SECTOR_SIZE: no bio crosses a multiple of 64 MiB.
pub const UNIT_SECTORS: Sector = 1 << 17;

/// What is remembered of a mirror.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mirror {
    /// End of the last read sent to it.
    next_seq_sect: Sector,
    /// Start of its present run of reads; `None` until one begins elsewhere than at `next_seq_sect`.
    seq_start: Option<Sector>,
    /// End of the last I/O it completed.
    head_position: Sector,
    /// I/Os at it.
    nr_pending: u32,
}

/// The mirrors of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Raid1 {
    mirrors: Vec<Mirror>,
}

impl Raid1 {
    /// Nothing read yet.
    pub fn new(mirrors: usize) -> Self {
        let fresh = Mirror { next_seq_sect: 0, seq_start: None, head_position: 0, nr_pending: 0 };
        Self { mirrors: vec![fresh; mirrors] }
    }

    /// The mirror for a read at `sector`; `rotational` by role, `io_opt_sectors` of the members, 0 = none.
    pub fn choose(&self, sector: Sector, rotational: &[bool], io_opt_sectors: u32) -> u8 {
        let io_opt = Sector::from(io_opt_sectors);
        let mut sequential = None;
        let (mut least, mut nearest) = ((u32::MAX, 0), (Sector::MAX, 0));
        for (role, m) in self.mirrors.iter().enumerate() {
            let mut pending = m.nr_pending;
            if sector == m.next_seq_sect || sector == m.head_position {
                let moves_on = !rotational[role]
                    && io_opt > 0
                    && m.seq_start.is_some_and(|start| m.next_seq_sect > io_opt && m.next_seq_sect - io_opt >= start);
                if !moves_on {
                    return role as u8;
                }
                pending += 1;
                sequential = Some(role as u8);
            }
            least = least.min((pending, role as u8));
            nearest = nearest.min((sector.abs_diff(m.head_position), role as u8));
        }
        match sequential {
            Some(role) if least.0 != 0 => role,
            _ if least.0 == 0 || rotational.contains(&false) => least.1,
            _ => nearest.1,
        }
    }

    /// A read goes to a mirror.
    pub fn read(&mut self, role: u8, sector: Sector, nr_sectors: u32) {
        let m = &mut self.mirrors[usize::from(role)];
        if m.next_seq_sect != sector {
            m.seq_start = Some(sector);
        }
        m.next_seq_sect = sector + Sector::from(nr_sectors);
        m.nr_pending += 1;
    }

    /// A write goes to a mirror, which keeps what it knows of its reader.
    pub fn write(&mut self, role: u8) {
        self.mirrors[usize::from(role)].nr_pending += 1;
    }

    /// A mirror completed a read or write that ends at `end`.
    pub fn completed(&mut self, role: u8, end: Sector) {
        let m = &mut self.mirrors[usize::from(role)];
        m.head_position = end;
        m.nr_pending -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HDD: [bool; 2] = [true; 2];
    const SSD: [bool; 2] = [false; 2];
    const GIB: Sector = 2 << 20;

    /// Sends a read; answers where it went.
    fn read(r: &mut Raid1, kind: &[bool], sector: Sector) -> u8 {
        let role = r.choose(sector, kind, 0);
        r.read(role, sector, 256);
        role
    }

    #[test]
    fn md_m12_vector_10_two_readers() {
        for kind in [HDD, SSD] {
            let mut r = Raid1::new(2);
            // Each has its next read under way before the other's last one ends.
            assert_eq!((read(&mut r, &kind, 0), read(&mut r, &kind, GIB)), (0, 1));
            for i in 1..1000 {
                r.completed(0, i * 256);
                assert_eq!(read(&mut r, &kind, i * 256), 0);
                r.completed(1, GIB + i * 256);
                assert_eq!(read(&mut r, &kind, GIB + i * 256), 1);
            }
        }
        // Never two at a time: both meet an idle mirror 0 first.
        let mut r = Raid1::new(2);
        for i in 0..1000 {
            for start in [0, GIB] {
                assert_eq!(read(&mut r, &HDD, start + i * 256), 0);
                r.completed(0, start + (i + 1) * 256);
            }
        }
    }

    #[test]
    fn md_m12_vector_11_heads_and_pending() {
        let mut r = Raid1::new(2);
        for (role, head) in [(0, 10_000), (1, 900_000)] {
            r.write(role);
            r.completed(role, head);
            r.write(role);
        }
        assert_eq!((r.choose(800_000, &HDD, 0), r.choose(100_000, &HDD, 0)), (1, 0));

        let five = [1000, 5_000_000, 2000, 4_999_000, 6_000_000];
        let mut r = Raid1::new(2);
        assert_eq!(five.map(|s| read(&mut r, &HDD, s)), [0, 1, 0, 0, 0]);
        let mut r = Raid1::new(2);
        assert_eq!([7000, 90_000, 5000, 70_000].map(|s| read(&mut r, &SSD, s)), [0, 1, 0, 1]);
    }

    #[test]
    fn md_m12_vector_12_io_opt_of_flash() {
        let stream = |from: Sector, kind: &[bool]| {
            let mut r = Raid1::new(2);
            let mut roles = Vec::new();
            for i in 0..32 {
                let sector = from + i * 256;
                let role = r.choose(sector, kind, 2048);
                r.read(role, sector, 256);
                r.completed(role, sector + 256);
                roles.push(role);
            }
            roles
        };
        let alternating: Vec<u8> = (0..32).map(|i| i / 8 % 2).collect();
        assert_eq!(stream(4096, &SSD), alternating);
        assert_eq!(stream(0, &SSD), [0; 32]);
        assert_eq!(stream(4096, &HDD), [0; 32]);
    }

    #[test]
    fn md_m11_a_stream_past_io_opt_stays_where_no_other_is_idle() {
        let mut r = Raid1::new(2);
        r.read(0, 4096, 2048);
        r.completed(0, 6144);
        r.write(1);
        assert_eq!(r.choose(6144, &SSD, 2048), 0);
        r.completed(1, 0);
        assert_eq!(r.choose(6144, &SSD, 2048), 1);
    }
}
