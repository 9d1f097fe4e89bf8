//! Drives by name.
//!
//! Models: what a word of `drive` stands for; the numbers of flash, whose provenance stands beside each.
//! Rule: a word is added, never changed; numbers that are settings too are what their `auto` stands for.
//! Leaves out: the profiles of disks, which are files of their own (`profile`).

use crate::profile::{Profile, built_in};

/// The words of `drive`.
pub const DRIVES: [&str; 9] =
    ["smr-30tb", "cmr-8tb", "capped", "null_blk", "flash", "smr-14tb", "smr-15tb", "smr-20tb", "zns-1tb"];

/// What a word stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Drive {
    /// A disk with a head.
    Disk(&'static Profile),
    /// Known by its limits only.
    Capped,
    /// null_blk
    NullBlk,
    /// Flash.
    Flash(&'static FlashNumbers),
}

impl Drive {
    /// In the order of [`DRIVES`].
    pub fn of(word: u8) -> Drive {
        match word {
            1 => Drive::Disk(built_in(1)),
            2 => Drive::Capped,
            3 => Drive::NullBlk,
            4 => Drive::Flash(&FLASH),
            5 => Drive::Disk(built_in(2)),
            6 => Drive::Disk(built_in(3)),
            7 => Drive::Disk(built_in(4)),
            8 => Drive::Flash(&ZNS_1TB),
            _ => Drive::Disk(built_in(0)),
        }
    }
}

/// What `auto` stands for where a device is made of flash.
#[derive(Debug, PartialEq)]
pub(crate) struct FlashNumbers {
    /// Zones, and what they are like; `None` = as the settings say.
    pub zones: Option<FlashZones>,
    pub channels: u64,
    pub dies: u64,
    /// Bytes.
    pub page: u64,
    pub read_ns: u64,
    pub program_ns: u64,
    pub erase_ns: u64,
    /// Bytes a second.
    pub channel_rate: u64,
    pub command_ns: u64,
    /// Pages.
    pub cache: u64,
}

impl FlashNumbers {
    /// Of no device in particular.
    pub fn made_up() -> &'static FlashNumbers {
        &FLASH
    }
}

/// Zones of a zoned SSD.
#[derive(Debug, PartialEq)]
pub(crate) struct FlashZones {
    pub nr_zones: u64,
    /// Bytes.
    pub size: u64,
    /// Bytes.
    pub capacity: u64,
    pub max_open: u64,
    pub max_active: u64,
}

/// A made-up SSD of eight channels: each number is typical and unsourced.
static FLASH: FlashNumbers = FlashNumbers {
    zones: None,
    channels: 8,
    dies: 4,
    page: 16 << 10,
    read_ns: 60_000,
    program_ns: 600_000,
    erase_ns: 3_500_000,
    channel_rate: 800_000_000,
    command_ns: 8_000,
    cache: 0,
};

/// The 1 TB zoned SSD of the tables of the zone write plugging series.
static ZNS_1TB: FlashNumbers = FlashNumbers {
    zones: Some(FlashZones {
        // 904 zones: number of Western Digital's ZN540 1 TB in its documentation (recalled).
        nr_zones: 904,
        // Zone size and both limits: the series' own description of its device.
        size: 2 << 30,
        // 1077 MiB: as nr_zones.
        capacity: 1077 << 20,
        max_open: 14,
        max_active: 14,
    }),
    // Channels, dies, pages, read and erase times: typical and unsourced.
    channels: 8,
    dies: 4,
    page: 16 << 10,
    read_ns: 60_000,
    // 32 pages of 16 KiB at a time make the 1083 MB/s that the series measured.
    program_ns: 484_000,
    erase_ns: 3_500_000,
    channel_rate: 800_000_000,
    // 183 MB/s of 4 KiB writes one at a time are 22.4 us each, host included.
    command_ns: 8_000,
    // Writes that small are acknowledged before they are programmed: as much as all dies program at a time, twice.
    cache: 64,
};
