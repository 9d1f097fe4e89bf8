//! raid10: where the copies of a sector are, and which one is read.
//!
//! Models: `__raid10_find_phys`, `calc_sectors` and `read_balance` of drivers/md/raid10.c, 5.17 and 7.1 (md M.11).
//! Rule: chunks go round the members, each `near` times in a row; `far` further copies lie a stride below, or in the
//! rows right below (offset), turned by `near` members.
//! Leaves out: far sets, reshape, members that failed, data_offset (the array adds it).

use alloc::vec;
use alloc::vec::Vec;

use crate::units::Sector;

/// What is remembered of a member.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Member {
    /// End of the last I/O it completed.
    head_position: Sector,
    /// I/Os at it.
    nr_pending: u32,
}

/// The map of a raid10 array and the state its reads are balanced by.
#[derive(Clone, Debug, PartialEq)]
pub struct Raid10 {
    chunk: u64,
    near: u64,
    far: u64,
    /// Far copies lie in the next rows.
    offset: bool,
    /// Rows from a far copy to the next.
    stride: u64,
    /// Sectors of the array.
    capacity: Sector,
    members: Vec<Member>,
}

impl Raid10 {
    /// For members of at least `member_sectors`; `layout` = near | far << 8 | offset << 16.
    pub fn new(disks: usize, member_sectors: Sector, chunk_sectors: u32, layout: u32) -> Self {
        let (near, far, offset) = (u64::from(layout & 0xff), u64::from(layout >> 8 & 0xff), layout & 1 << 16 != 0);
        let (chunk, n) = (u64::from(chunk_sectors), disks as u64);
        let chunks = member_sectors / chunk / far * n / near;
        let rows = (chunks * near * far).div_ceil(n);
        Self {
            chunk,
            near,
            far,
            offset,
            stride: if offset { 1 } else { rows / far },
            capacity: chunks * chunk,
            members: vec![Member::default(); disks],
        }
    }

    /// Sectors of the array.
    pub fn capacity(&self) -> Sector {
        self.capacity
    }

    /// Bios are cut at chunks, unless every member has a copy of everything.
    pub fn cuts_at_chunks(&self) -> bool {
        self.near < self.members.len() as u64
    }

    /// Role and sector on that member, without data_offset, of each copy of a sector.
    pub fn copies(&self, sector: Sector) -> impl Iterator<Item = (u8, Sector)> {
        let n = self.members.len() as u64;
        let x = sector / self.chunk * self.near;
        let row = x / n * if self.offset { self.far } else { 1 };
        (0..self.near * self.far).map(move |slot| {
            let (copy, below) = (x % n + slot / self.far, slot % self.far);
            let role = (copy % n + below * self.near) % n;
            (role as u8, (row + copy / n + below * self.stride) * self.chunk + sector % self.chunk)
        })
    }

    /// The copy a read at `sector` takes; `rotational` by role.
    pub fn choose(&self, sector: Sector, rotational: &[bool]) -> (u8, Sector) {
        let member = |role: u8| &self.members[usize::from(role)];
        let flash = self.copies(sector).filter(|(role, _)| !rotational[usize::from(*role)]);
        let chosen = flash.min_by_key(|(role, _)| member(*role).nr_pending).or_else(|| {
            self.copies(sector).min_by_key(|(role, at)| match member(*role) {
                m if self.near > 1 && m.nr_pending == 0 => 0,
                _ if self.far > 1 => *at,
                m => at.abs_diff(m.head_position),
            })
        });
        chosen.expect("a sector has a copy")
    }

    /// A read or write goes to a member.
    pub fn dispatched(&mut self, role: u8) {
        self.members[usize::from(role)].nr_pending += 1;
    }

    /// A member completed a read or write that ends at `end`, a sector of its own without data_offset.
    pub fn completed(&mut self, role: u8, end: Sector) {
        let m = &mut self.members[usize::from(role)];
        m.head_position = end;
        m.nr_pending -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N2: u32 = 0x102;
    const F2: u32 = 0x201;
    const O2: u32 = 0x1_0201;

    /// (member, row) of the copies of the first chunks.
    fn rows(disks: usize, layout: u32, chunks: u64) -> Vec<Vec<(u8, u64)>> {
        let map = Raid10::new(disks, 100 * 128, 128, layout);
        (0..chunks).map(|k| map.copies(k * 128 + 5).map(|(m, s)| (m, (s - 5) / 128)).collect()).collect()
    }

    #[test]
    fn md_m12_vector_13() {
        assert_eq!(rows(4, N2, 3), [[(0, 0), (1, 0)], [(2, 0), (3, 0)], [(0, 1), (1, 1)]]);
        assert_eq!(rows(3, N2, 3), [[(0, 0), (1, 0)], [(2, 0), (0, 1)], [(1, 1), (2, 1)]]);
        let s = 50;
        let f2 = [[(0, 0), (1, s)], [(1, 0), (2, s)], [(2, 0), (3, s)], [(3, 0), (0, s)], [(0, 1), (1, s + 1)]];
        assert_eq!(rows(4, F2, 5), f2);
        let o2 = [[(0, 0), (1, 1)], [(1, 0), (2, 1)], [(2, 0), (3, 1)], [(3, 0), (0, 1)], [(0, 2), (1, 3)]];
        assert_eq!(rows(4, O2, 5), o2);
    }

    #[test]
    fn md_m11_raid10_every_row_holds_one_chunk() {
        for (disks, layout) in [(4, N2), (3, N2), (5, 0x103), (4, F2), (5, F2), (4, O2), (5, O2), (4, 0x202)] {
            let map = Raid10::new(disks, 101 * 128 + 7, 128, layout);
            let mut places: Vec<_> = (0..map.capacity() / 128).flat_map(|k| map.copies(k * 128)).collect();
            let used = places.len();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), used, "{disks} {layout:#x}");
            assert!(places.iter().all(|(m, s)| usize::from(*m) < disks && s + 128 <= 101 * 128), "{disks} {layout:#x}");
            // All of the members but what does not divide.
            assert!(used > disks * 101 - 2 * disks, "{disks} {layout:#x}: {used}");
        }
        assert!(
            !Raid10::new(2, 1 << 20, 128, N2).cuts_at_chunks() && Raid10::new(3, 1 << 20, 128, N2).cuts_at_chunks()
        );
    }

    #[test]
    fn md_m11_raid10_read_choice() {
        let hdd = [true; 4];
        // near: the first idle copy, else the closest head.
        let mut r = Raid10::new(4, 1 << 20, 128, N2);
        assert_eq!(r.choose(0, &hdd), (0, 0));
        r.dispatched(0);
        assert_eq!(r.choose(10, &hdd), (1, 10));
        r.dispatched(1);
        assert_eq!(r.choose(0, &hdd), (0, 0));
        r.dispatched(0);
        r.completed(0, 9000);
        assert_eq!(r.choose(0, &hdd), (1, 0));
        // far: the lowest address, however busy.
        let mut r = Raid10::new(4, 1 << 20, 128, F2);
        r.dispatched(3);
        assert_eq!(r.choose(3 * 128, &hdd), (3, 0));
        // Flash: the least pending of the flash members.
        let mut r = Raid10::new(4, 1 << 20, 128, N2);
        r.dispatched(1);
        assert_eq!(r.choose(0, &[true, false, true, false]), (1, 0));
        assert_eq!(r.choose(0, &[false; 4]), (0, 0));
    }
}
