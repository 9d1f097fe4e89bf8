//! Devices by name, and what stacks a user may ask for.
//!
//! Models: the names and numbers of sd, md and device-mapper (kernel 10.1, decisions 8), mdadm's words for layouts (md
//! M.9, M.11).
//! Rule: a word stands for one of the kernel's numbers, by level.
//! Leaves out: whether a stack can be built of what is there (`check`).

use bioscope_core::config::MdLevel;
use bioscope_core::md::raid0::Raid0;
use bioscope_core::md::raid10::Raid10;

/// The words of `layout`.
pub const LAYOUTS: [&str; 23] = [
    "left-asymmetric",
    "right-asymmetric",
    "left-symmetric",
    "right-symmetric",
    "parity-first",
    "parity-last",
    "ddf-zero-restart",
    "ddf-N-restart",
    "ddf-N-continue",
    "left-asymmetric-6",
    "right-asymmetric-6",
    "left-symmetric-6",
    "right-symmetric-6",
    "parity-first-6",
    "original",
    "alternate",
    "n2",
    "n3",
    "n4",
    "f2",
    "f3",
    "o2",
    "o3",
];
/// First word of raid6 alone, of raid0 and of raid10.
const OF_RAID6: usize = 6;
const OF_RAID0: usize = 14;
const OF_RAID10: usize = 16;

/// What jobs submit to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stack {
    /// The disk itself.
    None,
    /// `md0`
    Md(MdLevel),
    /// `dm-0`, striped.
    Stripe,
    /// `dm-0`, crypt.
    Crypt,
}

impl Stack {
    /// In the order of the words of `stack`.
    pub(crate) const ALL: [Stack; 8] = [
        Stack::None,
        Stack::Md(MdLevel::Raid0),
        Stack::Md(MdLevel::Raid1),
        Stack::Md(MdLevel::Raid5),
        Stack::Md(MdLevel::Raid6),
        Stack::Md(MdLevel::Raid10),
        Stack::Stripe,
        Stack::Crypt,
    ];
    /// Name of the stacked device.
    pub fn name(self) -> &'static str {
        match self {
            Stack::None => "",
            Stack::Md(_) => "md0",
            Stack::Stripe | Stack::Crypt => "dm-0",
        }
    }
    /// Its major and minor number.
    pub(crate) fn number(self) -> (u16, u16) {
        if matches!(self, Stack::Md(_)) { (9, 0) } else { (253, 0) }
    }
    /// Members it needs at least.
    pub(crate) fn min_disks(self) -> u64 {
        match self {
            Stack::Md(MdLevel::Raid5) => 3,
            Stack::Md(MdLevel::Raid6) => 4,
            _ => 2,
        }
    }
    /// Members that `raid_disks` makes.
    pub(crate) fn members(self, raid_disks: u64) -> u8 {
        // Bounded by the row.
        if matches!(self, Stack::None | Stack::Crypt) { 1 } else { raid_disks.min(64) as u8 }
    }
    /// Words of [`LAYOUTS`] that fit, and which of them is the default.
    pub(crate) fn layouts(self) -> (std::ops::Range<usize>, usize) {
        match self {
            Stack::Md(MdLevel::Raid0) => (OF_RAID0..OF_RAID10, OF_RAID0),
            Stack::Md(MdLevel::Raid10) => (OF_RAID10..LAYOUTS.len(), OF_RAID10),
            Stack::Md(MdLevel::Raid6) => (0..OF_RAID0, 2),
            _ => (0..OF_RAID6, 2),
        }
    }
    /// Sectors it has, from those of its members behind `data_offset`.
    pub(crate) fn sectors(self, members: &[u64], chunk: u32, layout: u32) -> u64 {
        let (n, smallest) = (members.len() as u64, members.iter().copied().min().unwrap_or(0));
        let rows = smallest / u64::from(chunk) * u64::from(chunk);
        match self {
            Stack::None | Stack::Crypt | Stack::Md(MdLevel::Raid1) => smallest,
            Stack::Stripe => rows * n,
            Stack::Md(MdLevel::Raid0) => Raid0::new(members, chunk, layout).capacity(),
            Stack::Md(MdLevel::Raid10) => Raid10::new(members.len(), smallest, chunk, layout).capacity(),
            Stack::Md(MdLevel::Raid5) => rows * (n - 1),
            Stack::Md(MdLevel::Raid6) => rows * (n - 2),
        }
    }
}

/// md's number of a word of [`LAYOUTS`]; raid10: near, far and offset copies.
pub(crate) fn layout_number(word: usize) -> u32 {
    match word {
        OF_RAID6..9 => word as u32 + 2,
        9..OF_RAID0 => word as u32 + 7,
        OF_RAID0..OF_RAID10 => (word - OF_RAID0) as u32 + 1,
        OF_RAID10.. => {
            let copies = u32::from(LAYOUTS[word].as_bytes()[1] - b'0');
            match LAYOUTS[word].as_bytes()[0] {
                b'n' => copies | 1 << 8,
                b'f' => 1 | copies << 8,
                _ => 1 | copies << 8 | 1 << 16,
            }
        }
        _ => word as u32,
    }
}

/// Name of the n-th disk: sda to sdz, sdaa and on.
pub fn disk_name(n: u8) -> String {
    let letter = |n: u8| char::from(b'a' + n % 26);
    let mut name = String::from("sd");
    if n >= 26 {
        name.push(letter(n / 26 - 1));
    }
    name.push(letter(n));
    name
}

/// The disk of a name, if a stack can have one of that.
pub(crate) fn disk_of(name: &str) -> Option<u8> {
    (0..64).find(|n| disk_name(*n) == name)
}

/// Major and minor number of null_blk's first device.
pub(crate) const NULL_BLK_NUMBER: (u16, u16) = (252, 0);

/// Major and minor number of the first NVMe namespace.
pub(crate) const NVME_NUMBER: (u16, u16) = (259, 0);

/// Major and minor number of the n-th disk: 16 disks a major number, 8 and then 65 on.
pub(crate) fn disk_number(n: u8) -> (u16, u16) {
    let n = u16::from(n);
    (if n < 16 { 8 } else { 64 + n / 16 }, n % 16 * 16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Key, Param};
    use crate::value::Unit;

    #[test]
    fn disks_have_the_names_and_numbers_of_sd() {
        for (n, name, number) in [
            (0, "sda", (8, 0)),
            (15, "sdp", (8, 240)),
            (16, "sdq", (65, 0)),
            (25, "sdz", (65, 144)),
            (26, "sdaa", (65, 160)),
        ] {
            assert_eq!((disk_name(n).as_str(), disk_number(n), disk_of(name)), (name, number, Some(n)));
        }
        assert_eq!((disk_name(63), disk_number(63)), ("sdbl".into(), (67, 240)));
        for none in ["sd", "sdbm", "sdA", "sdaaa", "hda", ""] {
            assert_eq!(disk_of(none), None, "{none}");
        }
    }

    #[test]
    fn layouts_have_mds_numbers() {
        let numbers: Vec<u32> = (0..LAYOUTS.len()).map(layout_number).collect();
        assert_eq!(numbers[..14], [0, 1, 2, 3, 4, 5, 8, 9, 10, 16, 17, 18, 19, 20]);
        assert_eq!(numbers[14..], [1, 2, 0x102, 0x103, 0x104, 0x201, 0x301, 0x1_0201, 0x1_0301]);
        let Unit::Word(words) = Param::of(Key::Stack).unit else { panic!() };
        assert_eq!(words.len(), Stack::ALL.len());
    }

    #[test]
    fn capacities_are_those_of_whole_rows() {
        let of = |stack: Stack, disks: usize, layout: u32| stack.sectors(&vec![1030; disks], 128, layout);
        assert_eq!(of(Stack::Md(MdLevel::Raid5), 8, 2), 7 * 1024);
        assert_eq!(of(Stack::Md(MdLevel::Raid6), 8, 2), 6 * 1024);
        assert_eq!(of(Stack::Md(MdLevel::Raid0), 2, 1), 2048);
        assert_eq!(of(Stack::Md(MdLevel::Raid10), 4, 0x102), 2048);
        assert_eq!(of(Stack::Md(MdLevel::Raid1), 2, 0), 1030);
        assert_eq!((of(Stack::Stripe, 3, 0), of(Stack::Crypt, 1, 0)), (3072, 1030));
    }
}
