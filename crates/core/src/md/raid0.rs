//! raid0: which member holds a sector.
//!
//! Models: `create_strip_zones`, `find_zone` and `map_sector` of drivers/md/raid0.c, 5.17 and 7.1 (kernel 2.2, md
//! M.11).
//! Rule: members are used in whole chunks. As long as all have room, chunks go round all of them; what larger members
//! have left makes further zones of fewer members. The two layouts differ in where later zones start their round.
//! Leaves out: cutting at chunks (the array's limits do that), data_offset (the array adds it).

use alloc::vec::Vec;

use crate::units::Sector;

/// A range of rows that the same members share.
#[derive(Clone, Debug, PartialEq)]
struct Zone {
    /// First chunk of the array.
    start: u64,
    /// First row on its members.
    row: u64,
    /// Rows.
    rows: u64,
    /// Roles, ascending.
    members: Vec<u8>,
    /// Place in `members` of the zone's first chunk.
    first: u64,
}

/// The map of a raid0 array.
#[derive(Clone, Debug, PartialEq)]
pub struct Raid0 {
    chunk: u64,
    zones: Vec<Zone>,
}

impl Raid0 {
    /// For members of these sizes; `layout` 1 = original, 2 = alternate.
    pub fn new(member_sectors: &[Sector], chunk_sectors: u32, layout: u32) -> Self {
        let chunk = u64::from(chunk_sectors);
        let (mut zones, mut start, mut row) = (Vec::<Zone>::new(), 0, 0);
        let rows_of = |role: &u8| member_sectors[usize::from(*role)] / chunk;
        loop {
            let members: Vec<u8> = (0..member_sectors.len() as u8).filter(|m| rows_of(m) > row).collect();
            let Some(end) = members.iter().map(rows_of).min() else { break };
            let n = members.len() as u64;
            let first = if layout == 2 { 0 } else { start % n };
            zones.push(Zone { start, row, rows: end - row, members, first });
            start += (end - row) * n;
            row = end;
        }
        Self { chunk, zones }
    }

    /// Sectors of the array.
    pub fn capacity(&self) -> Sector {
        self.zones.last().map_or(0, |z| (z.start + z.rows * z.members.len() as u64) * self.chunk)
    }

    /// Role and sector on that member, without data_offset, of a sector of the array.
    pub fn map(&self, sector: Sector) -> (u8, Sector) {
        let chunk = sector / self.chunk;
        let zone = &self.zones[self.zones.partition_point(|z| z.start <= chunk) - 1];
        let (at, n) = (chunk - zone.start, zone.members.len() as u64);
        let role = zone.members[((at + zone.first) % n) as usize];
        (role, (zone.row + at / n) * self.chunk + sector % self.chunk)
    }

    /// The array's sector that a member holds at a sector of its own; `None` where it holds none.
    pub fn origin(&self, role: u8, member_sector: Sector) -> Option<Sector> {
        let row = member_sector / self.chunk;
        let zone = self.zones.iter().find(|z| row >= z.row && row < z.row + z.rows)?;
        let (place, n) = (zone.members.iter().position(|m| *m == role)? as u64, zone.members.len() as u64);
        let chunk = zone.start + (row - zone.row) * n + (place + n - zone.first) % n;
        Some(chunk * self.chunk + member_sector % self.chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (member, row) of chunks.
    fn chunks(map: &Raid0, range: core::ops::Range<u64>) -> Vec<(u8, u64)> {
        range.map(|k| map.map(k * 128)).map(|(m, s)| (m, s / 128)).collect()
    }

    #[test]
    fn md_m12_vector_14() {
        // 5, 7 and 7 chunks; the odd sectors at the end of a member are lost.
        let sizes = [5 * 128 + 100, 7 * 128, 7 * 128 + 1];
        for layout in [1, 2] {
            let map = Raid0::new(&sizes, 128, layout);
            assert_eq!(map.capacity(), 19 * 128);
            let round: Vec<_> = (0..15).map(|k| ((k % 3) as u8, k / 3)).collect();
            assert_eq!(chunks(&map, 0..15), round);
        }
        assert_eq!(chunks(&Raid0::new(&sizes, 128, 1), 15..19), [(2, 5), (1, 5), (2, 6), (1, 6)]);
        assert_eq!(chunks(&Raid0::new(&sizes, 128, 2), 15..19), [(1, 5), (2, 5), (1, 6), (2, 6)]);
    }

    #[test]
    fn kernel_2_2_one_zone_is_plain_striping() {
        for layout in [1, 2] {
            let map = Raid0::new(&[1 << 20; 4], 1024, layout);
            for s in [0, 1023, 1024, 5000, (4 << 20) - 1] {
                let k = s / 1024;
                assert_eq!(map.map(s), ((k % 4) as u8, k / 4 * 1024 + s % 1024));
            }
        }
    }

    #[test]
    fn md_m11_raid0_origin_undoes_map_in_every_zone() {
        for layout in [1, 2] {
            // Not a power of two, four zones, the last of one member.
            let map = Raid0::new(&[300, 120, 500, 120, 410], 24, layout);
            assert_eq!(map.capacity() / 24, 5 + 5 + 12 + 17 + 20);
            for s in 0..map.capacity() {
                let (role, at) = map.map(s);
                assert_eq!(map.origin(role, at), Some(s));
            }
            assert_eq!((map.origin(1, 120), map.origin(2, 480)), (None, None));
        }
    }
}
