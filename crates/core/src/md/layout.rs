//! raid5 and raid6: which member holds a sector, and which ones parity.
//!
//! Models: `raid5_compute_sector` and `raid5_compute_blocknr` of drivers/md/raid5.c, the same in 5.17, 6.12 and 7.1
//! (kernel 2.3, md M.9).
//! Rule: a row is one chunk of every member. Parity moves with the row; data either follows behind it and wraps
//! (symmetric, "continue") or fills the other members in ascending order.
//! Leaves out: reshape, data_offset (the array adds it).

use crate::config::MdLevel;
use crate::units::Sector;

/// The map of a raid5 or raid6 array. Roles are places of members in the array, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    raid6: bool,
    number: u8,
    disks: u8,
}

/// Where a row has what.
struct Row {
    p: u64,
    q: Option<u64>,
    /// Role of data block 0 if data wraps; `None` if it ascends past parity.
    start: Option<u64>,
}

impl Layout {
    /// `number` is md's own: 0 to 5, raid6 also 8 to 10 and 16 to 20.
    pub fn new(level: MdLevel, number: u32, disks: usize) -> Self {
        Self { raid6: level == MdLevel::Raid6, number: number as u8, disks: disks as u8 }
    }
    /// Members.
    pub fn disks(&self) -> u8 {
        self.disks
    }
    /// Members of a row that hold data.
    pub fn data_disks(&self) -> u8 {
        self.disks - self.parities()
    }
    /// Members of a row that hold parity: 1 or 2.
    pub fn parities(&self) -> u8 {
        1 + u8::from(self.raid6)
    }
    /// Members data and rotating parity are spread over: the raid6 layouts from 16 keep q on the last.
    fn rotating(&self) -> u64 {
        u64::from(self.disks) - u64::from(self.number >= 16)
    }
    fn row(&self, row: u64) -> Row {
        let d = self.rotating();
        let (down, up) = (d - 1 - row % d, row % d);
        let number = self.number % 16;
        if !self.raid6 || self.number >= 16 {
            let (p, start) = match number {
                0 => (down, None),
                1 => (up, None),
                2 => (down, Some(down + 1)),
                3 => (up, Some(up + 1)),
                4 => (0, None),
                _ => (d - 1, None),
            };
            return Row { p, q: self.raid6.then_some(d), start };
        }
        let p = match number {
            0 | 2 | 10 => down,
            1 | 3 | 8 => up,
            4 => 0,
            5 => d - 2,
            // N restart: one row ahead of the rotation of layout 0.
            _ => d - 1 - (row + 1) % d,
        };
        let (q, start) = match number {
            2 | 3 => ((p + 1) % d, Some(p + 2)),
            10 => ((p + d - 1) % d, Some(p + 1)),
            _ => ((p + 1) % d, None),
        };
        Row { p, q: Some(q), start }
    }
    /// Roles of p and q.
    pub fn parity(&self, row: u64) -> (u8, Option<u8>) {
        let r = self.row(row);
        (r.p as u8, r.q.map(|q| q as u8))
    }
    /// Role of the row's d-th data block.
    pub fn role(&self, row: u64, d: u8) -> u8 {
        let r = self.row(row);
        if let Some(start) = r.start {
            return ((start + u64::from(d)) % self.rotating()) as u8;
        }
        let q = r.q.unwrap_or(u64::MAX);
        let mut role = u64::from(d);
        role += u64::from(role >= r.p.min(q));
        role += u64::from(role >= r.p.max(q));
        role as u8
    }
    /// Which data block of its row a role holds; `None` for parity.
    pub fn data_index(&self, row: u64, role: u8) -> Option<u8> {
        let r = self.row(row);
        let (role, m) = (u64::from(role), self.rotating());
        if role == r.p || Some(role) == r.q {
            return None;
        }
        let d = match r.start {
            Some(start) => (role + 2 * m - start) % m,
            None => role - u64::from(r.p < role) - u64::from(r.q.is_some_and(|q| q < role)),
        };
        Some(d as u8)
    }
    /// Lowest role of a row that holds data.
    pub fn first_data(&self, row: u64) -> u8 {
        let (p, q) = self.parity(row);
        (0..3).find(|role| *role != p && Some(*role) != q).unwrap_or(0)
    }
    /// Role and sector on it, counted from data_offset, of a sector of the array.
    pub fn map(&self, chunk_sectors: u32, sector: Sector) -> (u8, Sector) {
        let (c, n) = (u64::from(chunk_sectors), u64::from(self.data_disks()));
        let chunk = sector / c;
        let row = chunk / n;
        (self.role(row, (chunk % n) as u8), row * c + sector % c)
    }
    /// The sector of the array that lies there; `None` for parity.
    pub fn origin(&self, chunk_sectors: u32, role: u8, member_sector: Sector) -> Option<Sector> {
        let c = u64::from(chunk_sectors);
        let row = member_sector / c;
        let d = self.data_index(row, role)?;
        Some((row * u64::from(self.data_disks()) + u64::from(d)) * c + member_sector % c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::string::String;
    use alloc::vec::Vec;

    const RAID5: [u32; 6] = [0, 1, 2, 3, 4, 5];
    const RAID6: [u32; 14] = [0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 18, 19, 20];

    #[test]
    fn kernel_2_3_mapping() {
        let layout = Layout::new(MdLevel::Raid5, 2, 8);
        let places: Vec<(u8, u64)> = (0..16).map(|k| layout.map(128, k * 128)).collect();
        let row = |roles: [u8; 7], sector| roles.map(|r| (r, sector));
        let want = [row([0, 1, 2, 3, 4, 5, 6], 0), row([7, 0, 1, 2, 3, 4, 5], 128)].concat();
        assert_eq!(places[..14], want);
        assert_eq!(places[14..], [(6, 256), (7, 256)]);
    }

    /// The members of a row by what they hold.
    fn picture(layout: &Layout, row: u64) -> String {
        let (p, q) = layout.parity(row);
        (0..layout.disks())
            .map(|role| match layout.data_index(row, role) {
                Some(d) => format!("{d}"),
                None if role == p => "P".into(),
                None => {
                    assert_eq!(Some(role), q);
                    "Q".into()
                }
            })
            .collect()
    }

    fn pictures(level: MdLevel, number: u32, disks: usize) -> String {
        let layout = Layout::new(level, number, disks);
        (0..disks as u64).map(|row| picture(&layout, row)).collect::<Vec<_>>().join(" ")
    }

    /// The tables of kernel 2.3, four members.
    #[test]
    fn kernel_2_3_layouts() {
        let of = |number| pictures(MdLevel::Raid5, number, 4);
        assert_eq!(of(0), "012P 01P2 0P12 P012");
        assert_eq!(of(1), "P012 0P12 01P2 012P");
        assert_eq!(of(2), "012P 12P0 2P01 P012");
        assert_eq!(of(3), "P012 2P01 12P0 012P");
        assert_eq!(of(4), "P012 P012 P012 P012");
        assert_eq!(of(5), "012P 012P 012P 012P");
    }

    #[test]
    fn md_m12_vector_9() {
        let of = |number| pictures(MdLevel::Raid6, number, 5);
        assert_eq!(of(2), "Q012P 012PQ 12PQ0 2PQ01 PQ012");
        assert_eq!(of(0), "Q012P 012PQ 01PQ2 0PQ12 PQ012");
        assert_eq!(of(3), "PQ012 2PQ01 12PQ0 012PQ Q012P");
        assert_eq!(of(1), "PQ012 0PQ12 01PQ2 012PQ Q012P");
        assert_eq!(of(4), ["PQ012"; 5].join(" "));
        assert_eq!(of(5), ["012PQ"; 5].join(" "));
        assert_eq!(of(18), "012PQ 12P0Q 2P01Q P012Q 012PQ");
        assert_eq!(of(10), "012QP 12QP0 2QP01 QP012 P012Q");
        // The restarting ones by the words of M.9: 8 as 1, 9 as 0 a row later.
        assert_eq!(of(8), of(1));
        assert_eq!(of(9), "012PQ 01PQ2 0PQ12 PQ012 Q012P");
    }

    #[test]
    fn kernel_2_3_every_block_has_one_place() {
        let all = RAID5.map(|n| (MdLevel::Raid5, n)).into_iter().chain(RAID6.map(|n| (MdLevel::Raid6, n)));
        for (level, number) in all {
            for disks in 4..=9usize {
                let layout = Layout::new(level, number, disks);
                let data = u64::from(layout.data_disks());
                for row in 0..3 * disks as u64 {
                    let mut seen = [false; 9];
                    for d in 0..data {
                        let sector = (row * data + d) * 24 + 5;
                        let (role, member) = layout.map(24, sector);
                        assert_eq!(member, row * 24 + 5);
                        assert_eq!(layout.origin(24, role, member), Some(sector), "{level:?} {number} {disks}");
                        seen[usize::from(role)] = true;
                    }
                    let (p, q) = layout.parity(row);
                    for role in [Some(p), q].into_iter().flatten() {
                        assert_eq!(layout.origin(24, role, row * 24), None);
                        seen[usize::from(role)] = true;
                    }
                    assert!(seen[..disks].iter().all(|s| *s), "{level:?} {number} {disks} row {row}");
                }
            }
        }
    }
}
