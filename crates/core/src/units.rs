//! Sectors, zones, tags and indices: the numbers that must not be mixed up.
//!
//! Models: `sector_t` (512-byte units everywhere, whatever the logical block size).
//! Rule: a plain integer alias where arithmetic is frequent, a newtype-free design kept honest by names
//! (`_sectors`, `_bytes`, `_ns`).
//! Leaves out: logical block numbers; the core speaks sectors only.

/// A sector number or a count of 512-byte sectors.
pub type Sector = u64;
/// Zone number, 0 at the start of the device.
pub type ZoneNo = u32;
/// A tag of a bitmap.
pub type Tag = u32;
/// Index of a device in [`crate::config::SimConfig::devices`].
pub type DevIdx = u16;
/// Index of a job in [`crate::config::SimConfig::jobs`].
pub type JobIdx = u16;
/// Allocation number of a bio: counted from 1 in order of allocation, never reused (0 = none).
pub type BioId = u32;
/// Allocation number of a request: counted from 1, never reused (0 = none).
pub type RqId = u32;

/// Bytes in a sector.
pub const SECTOR_BYTES: u64 = 512;
/// One MiB in bytes.
pub const MIB: u64 = 1024 * 1024;

/// What a bio, a request or a command does (the part of `bi_opf` that is the operation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum Op {
    /// REQ_OP_READ
    Read = 0,
    /// REQ_OP_WRITE
    Write = 1,
    /// REQ_OP_FLUSH
    Flush = 2,
    /// REQ_OP_DRV_IN: a pass-through command to the drive itself, identify for one.
    DrvIn = 34,
    /// REQ_OP_ZONE_OPEN
    ZoneOpen = 10,
    /// REQ_OP_ZONE_CLOSE
    ZoneClose = 11,
    /// REQ_OP_ZONE_FINISH
    ZoneFinish = 12,
    /// REQ_OP_ZONE_RESET
    ZoneReset = 13,
    /// REQ_OP_ZONE_RESET_ALL
    ZoneResetAll = 15,
    /// REQ_OP_ZONE_APPEND
    ZoneAppend = 7,
    /// REQ_OP_WRITE_ZEROES
    WriteZeroes = 9,
}

impl Op {
    /// True for zone open, close, finish, reset and reset all.
    pub fn is_zone_mgmt(self) -> bool {
        matches!(self, Op::ZoneOpen | Op::ZoneClose | Op::ZoneFinish | Op::ZoneReset | Op::ZoneResetAll)
    }
    /// `op_is_write`: data goes to the device, or is made there.
    pub fn is_write(self) -> bool {
        matches!(self, Op::Write | Op::ZoneAppend | Op::WriteZeroes)
    }
    /// True for what moves no data: zone commands, flushes, pass-through.
    pub fn is_dataless(self) -> bool {
        !matches!(self, Op::Read | Op::Write | Op::ZoneAppend | Op::WriteZeroes)
    }
}

/// I/O priority of a bio or request (`bi_ioprio`).
///
/// Order is the schedulers': classes first (none counts as best effort), then the level, 0 highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IoPrio {
    /// IOPRIO_CLASS_*
    pub class: IoClass,
    /// 0 (highest) to 7.
    pub level: u8,
}

/// IOPRIO_CLASS_NONE, _RT, _BE, _IDLE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum IoClass {
    /// Not set: treated as best effort.
    #[default]
    None = 0,
    /// Realtime.
    Rt = 1,
    /// Best effort.
    Be = 2,
    /// Idle.
    Idle = 3,
}

/// `blk_status_t` values the model can produce, with their errno names (kernel 3.7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[repr(u8)]
pub enum BlkStatus {
    /// BLK_STS_OK
    #[default]
    Ok = 0,
    /// BLK_STS_IOERR, EIO
    IoErr = 1,
    /// BLK_STS_MEDIUM, ENODATA
    Medium = 2,
    /// BLK_STS_ZONE_OPEN_RESOURCE, ETOOMANYREFS
    ZoneOpenResource = 3,
    /// BLK_STS_ZONE_ACTIVE_RESOURCE, EOVERFLOW
    ZoneActiveResource = 8,
    /// BLK_STS_INVAL, EINVAL
    Inval = 9,
    /// BLK_STS_NOTSUPP, EOPNOTSUPP
    NotSupp = 4,
    /// BLK_STS_AGAIN, EAGAIN
    Again = 5,
    /// BLK_STS_RESOURCE, ENOMEM: the driver lacks something; the request goes back and is tried again.
    Resource = 6,
    /// BLK_STS_DEV_RESOURCE, EBUSY: the device lacks something that one of its completions gives back.
    DevResource = 7,
}

impl BlkStatus {
    /// The errno a program sees, as its name; `None` for success.
    pub fn errno(self) -> Option<&'static str> {
        match self {
            BlkStatus::Ok => None,
            BlkStatus::IoErr => Some("EIO"),
            BlkStatus::Medium => Some("ENODATA"),
            BlkStatus::ZoneOpenResource => Some("ETOOMANYREFS"),
            BlkStatus::ZoneActiveResource => Some("EOVERFLOW"),
            BlkStatus::Inval => Some("EINVAL"),
            BlkStatus::NotSupp => Some("EOPNOTSUPP"),
            BlkStatus::Again => Some("EAGAIN"),
            BlkStatus::Resource => Some("ENOMEM"),
            BlkStatus::DevResource => Some("EBUSY"),
        }
    }
    /// The errno as the positive number blktrace prints; 0 for success.
    pub fn errno_number(self) -> u32 {
        match self {
            BlkStatus::Ok => 0,
            BlkStatus::IoErr => 5,
            BlkStatus::Medium => 61,
            BlkStatus::ZoneOpenResource => 109,
            BlkStatus::ZoneActiveResource => 75,
            BlkStatus::Inval => 22,
            BlkStatus::NotSupp => 95,
            BlkStatus::Again => 11,
            BlkStatus::Resource => 12,
            BlkStatus::DevResource => 16,
        }
    }
}
