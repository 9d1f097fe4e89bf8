//! What a bio-based device publishes as its queue limits.
//!
//! Models: block/blk-settings.c `blk_stack_limits` and `blk_validate_limits`, and what drivers/md/{raid0,raid5,raid10}.c
//! and dm-stripe.c, dm-crypt.c set before and after them (5.17, 6.12, 7.1; kernel 1.3, 2.1, md M.1).
//! Rule: a level sets its own hints, its members are stacked on top, raid456 then puts its own request size in place
//! of theirs, and max_sectors follows from the result.
//! Leaves out: max_hw_sectors of a disk beyond its max_sectors (the drive is asked for no more than that), physical
//! blocks larger than logical ones, alignment offsets.

use crate::config::{DmConfig, DmTarget, KernelConfig, MdConfig, MdLevel, QueueConfig};
use crate::units::SECTOR_BYTES;

/// 1 MiB in sectors: 256 stripes of 4 KiB of raid456; the largest write of dm-crypt.
const MIB_SECTORS: u32 = 2048;
/// Segments of a request that is never mapped for a transfer itself.
const RAID5_SEGMENTS: u32 = 65_535;

/// `struct queue_limits`, as far as it shapes reads and writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackLimits {
    /// queue/max_sectors_kb in sectors.
    pub max_sectors: u32,
    /// queue/max_hw_sectors_kb in sectors; `u32::MAX` = unlimited.
    pub max_hw_sectors: u32,
    /// queue/chunk_sectors, which no I/O crosses; 0 = none. Need not be a power of two.
    pub chunk_sectors: u32,
    /// queue/max_segments
    pub max_segments: u32,
    /// queue/minimum_io_size, bytes.
    pub io_min_bytes: u32,
    /// queue/optimal_io_size, bytes; 0 = none.
    pub io_opt_bytes: u32,
    /// queue/logical_block_size, bytes.
    pub block_bytes: u32,
}

impl StackLimits {
    /// Before any member is known.
    fn unlimited(io_min_bytes: u32, io_opt_bytes: u32, chunk_sectors: u32) -> Self {
        Self {
            max_sectors: u32::MAX,
            max_hw_sectors: u32::MAX,
            chunk_sectors,
            max_segments: u32::MAX,
            io_min_bytes: io_min_bytes.max(SECTOR_BYTES as u32),
            io_opt_bytes,
            block_bytes: SECTOR_BYTES as u32,
        }
    }

    /// `blk_stack_limits` for each member.
    fn stack(&mut self, members: &[StackLimits]) {
        for m in members {
            self.max_hw_sectors = self.max_hw_sectors.min(m.max_hw_sectors);
            self.max_segments = self.max_segments.min(m.max_segments);
            self.block_bytes = self.block_bytes.max(m.block_bytes);
            self.io_min_bytes = self.io_min_bytes.max(m.io_min_bytes);
            self.io_opt_bytes = lcm_not_zero(self.io_opt_bytes, m.io_opt_bytes);
            self.chunk_sectors = gcd(self.chunk_sectors, m.chunk_sectors);
        }
        if !self.chunk_sectors.is_multiple_of(self.block_bytes / SECTOR_BYTES as u32) {
            self.chunk_sectors = 0;
        }
    }

    /// `blk_validate_limits`: max_sectors from everything else. Before 6.12 hints had no say in it.
    fn select(&mut self, cap: u32, hints: bool) {
        let (io_opt, io_min) = if hints { (self.io_opt_bytes, self.io_min_bytes) } else { (0, 0) };
        self.max_sectors = max_sectors(self.max_hw_sectors, None, io_opt, io_min, cap, self.block_bytes);
    }
}

/// max_sectors by default or by the user's wish: sectors, hints and block in bytes (kernel 1.3).
pub fn max_sectors(hw: u32, user: Option<u32>, io_opt: u32, io_min: u32, cap: u32, block: u32) -> u32 {
    let per = SECTOR_BYTES as u32;
    let wish = match user {
        Some(user) => user,
        None if io_opt / per > cap => io_opt / per,
        None if io_min / per > cap => io_min / per,
        None => cap,
    };
    let block = block / per;
    hw.min(wish) / block * block
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The least common multiple; of a zero and a number, the number.
fn lcm_not_zero(a: u32, b: u32) -> u32 {
    if a == 0 || b == 0 { a | b } else { (a / gcd(a, b)).saturating_mul(b) }
}

/// Limits of a blk-mq queue; `chunk_sectors` = its zone size, 0 if it has no zones.
pub fn of_queue(q: &QueueConfig, chunk_sectors: u32) -> StackLimits {
    StackLimits {
        max_sectors: q.max_sectors,
        max_hw_sectors: q.max_sectors,
        chunk_sectors,
        max_segments: q.max_segments,
        io_min_bytes: q.block_bytes,
        io_opt_bytes: 0,
        block_bytes: q.block_bytes,
    }
}

/// Limits of an array (md M.1). io_opt is an unsigned int of the kernel and wraps: 16 chunks of 256 MiB give no hint.
pub fn md(cfg: &MdConfig, members: &[StackLimits], kernel: &KernelConfig) -> StackLimits {
    let (disks, chunk) = (members.len() as u32, cfg.chunk_sectors);
    let chunk_bytes = chunk * SECTOR_BYTES as u32;
    let own_chunk = if kernel.md_chunk_limit { chunk } else { 0 };
    let mut lim = match cfg.level {
        MdLevel::Raid0 => {
            let lim = StackLimits::unlimited(chunk_bytes, chunk_bytes.wrapping_mul(disks), own_chunk);
            StackLimits { max_hw_sectors: chunk, ..lim }
        }
        MdLevel::Raid1 => StackLimits::unlimited(0, 0, 0),
        MdLevel::Raid10 => {
            let near = cfg.layout & 0xff;
            let stripes = if disks.is_multiple_of(near) { disks / near } else { disks };
            StackLimits::unlimited(chunk_bytes, chunk_bytes.wrapping_mul(stripes), own_chunk)
        }
        MdLevel::Raid5 | MdLevel::Raid6 => {
            let parities = if cfg.level == MdLevel::Raid6 { 2 } else { 1 };
            let stripe = chunk * (disks - parities);
            let chunk_sectors = if kernel.raid5_stripe_limit { stripe } else { 0 };
            StackLimits::unlimited(chunk_bytes, stripe.wrapping_mul(SECTOR_BYTES as u32), chunk_sectors)
        }
    };
    lim.stack(members);
    // The kernels that publish neither limit are also those whose default looks at no hint.
    let hints = if matches!(cfg.level, MdLevel::Raid5 | MdLevel::Raid6) {
        let stripe = lim.io_opt_bytes / SECTOR_BYTES as u32;
        lim.max_hw_sectors = match (kernel.raid5_max_hw, kernel.raid5_stripe_limit) {
            (false, _) => u32::MAX,
            (true, false) => MIB_SECTORS,
            (true, true) => stripe.max(MIB_SECTORS),
        };
        if kernel.raid5_max_hw {
            lim.max_segments = RAID5_SEGMENTS;
        }
        kernel.raid5_max_hw
    } else {
        kernel.md_chunk_limit
    };
    lim.select(kernel.max_sectors_cap, hints);
    lim
}

/// Limits of a device-mapper device (md M.1, M.11).
pub fn dm(cfg: &DmConfig, members: &[StackLimits], kernel: &KernelConfig) -> StackLimits {
    let mut lim = match cfg.target {
        DmTarget::Striped { chunk_sectors } => {
            let chunk_bytes = chunk_sectors * SECTOR_BYTES as u32;
            let own_chunk = if kernel.md_chunk_limit { chunk_sectors } else { 0 };
            StackLimits::unlimited(chunk_bytes, chunk_bytes.wrapping_mul(members.len() as u32), own_chunk)
        }
        DmTarget::Crypt { .. } => StackLimits::unlimited(0, 0, 0),
    };
    lim.stack(members);
    if let DmTarget::Crypt { max_write: 0, .. } = cfg.target
        && lim.chunk_sectors != 0
    {
        // On zones the target cuts no write: dm does before the zone write plugs see it.
        lim.max_hw_sectors = lim.max_hw_sectors.min(MIB_SECTORS);
    }
    lim.select(kernel.max_sectors_cap, kernel.md_chunk_limit);
    lim
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blk::tests::ahci_queue;
    use crate::units::Sector;
    use alloc::vec;
    use alloc::vec::Vec;

    const KIB: u32 = 1024;
    /// Linux 6.12 and 5.17 as far as limits go.
    fn linux_6_12() -> KernelConfig {
        KernelConfig { raid5_stripe_limit: false, max_sectors_cap: 2560, ..KernelConfig::default() }
    }
    fn linux_5_17() -> KernelConfig {
        KernelConfig { raid5_max_hw: false, md_chunk_limit: false, ..linux_6_12() }
    }

    fn disks(n: usize) -> Vec<StackLimits> {
        vec![of_queue(&ahci_queue(), 0); n]
    }

    fn array(level: MdLevel, chunk_kib: u32, layout: u32) -> MdConfig {
        MdConfig {
            level,
            members: Vec::new(),
            chunk_sectors: chunk_kib * 2,
            layout,
            data_offset: 0 as Sector,
            stripe_cache_size: 256,
            rmw_level: 1,
            preread_bypass_threshold: 1,
            sync: None,
        }
    }

    #[test]
    fn io_opt_wraps_as_an_unsigned_int_does() {
        let levels = [(MdLevel::Raid0, 16, 0), (MdLevel::Raid10, 32, 0x102), (MdLevel::Raid5, 17, 2)];
        for (level, n, layout) in levels {
            let lim = |n| md(&array(level, 256 * KIB, layout), &disks(n), &KernelConfig::default());
            assert_eq!((lim(n).io_opt_bytes, lim(n + 2).io_min_bytes), (0, 256 << 20), "{level:?}");
        }
        let stripe = |n| {
            let cfg = DmConfig { target: DmTarget::Striped { chunk_sectors: 512 * KIB }, members: Vec::new() };
            dm(&cfg, &disks(n), &KernelConfig::default()).io_opt_bytes
        };
        assert_eq!((stripe(15), stripe(16), stripe(17)), (15 << 28, 0, 1 << 28));
    }

    #[test]
    fn kernel_1_3_selection_of_max_sectors() {
        let (hw, cap) = (65_534, 8192);
        assert_eq!(max_sectors(hw, None, 0, 0, cap, 4096), 8192);
        // Hints count only above the cap, io_opt before io_min, and never beyond the hardware.
        assert_eq!(max_sectors(hw, None, 4096 * KIB, 0, cap, 512), 8192);
        assert_eq!(max_sectors(hw, None, 6144 * KIB, 0, cap, 512), 12_288);
        assert_eq!(max_sectors(hw, None, 512 * KIB, 5120 * KIB, cap, 512), 10_240);
        assert_eq!(max_sectors(hw, None, 6144 * KIB, 5120 * KIB, cap, 512), 12_288);
        assert_eq!(max_sectors(2048, None, 6144 * KIB, 0, cap, 512), 2048);
        // The user's wish stands alone; whole blocks.
        assert_eq!(max_sectors(hw, Some(256), 6144 * KIB, 0, cap, 512), 256);
        assert_eq!(max_sectors(1000, Some(4096), 0, 0, cap, 512), 1000);
        assert_eq!(max_sectors(255, None, 0, 0, cap, 4096), 248);
    }

    #[test]
    fn md_m1_raid5_of_8_disks_with_64_kib_chunks() {
        let cfg = array(MdLevel::Raid5, 64, 2);
        let lim = md(&cfg, &disks(8), &KernelConfig::default());
        assert_eq!((lim.io_min_bytes, lim.io_opt_bytes), (64 * KIB, 448 * KIB));
        assert_eq!((lim.max_hw_sectors, lim.max_sectors, lim.chunk_sectors), (2048, 2048, 896));
        assert_eq!(lim.max_segments, 65_535);
        let lim = md(&cfg, &disks(8), &linux_6_12());
        assert_eq!((lim.max_hw_sectors, lim.max_sectors, lim.chunk_sectors), (2048, 2048, 0));
        let lim = md(&cfg, &disks(8), &linux_5_17());
        assert_eq!((lim.max_hw_sectors, lim.max_sectors, lim.chunk_sectors), (u32::MAX, 1280 * 2, 0));
        assert_eq!(lim.max_segments, 168);
    }

    #[test]
    fn md_m1_raid6_of_36_disks_with_512_kib_chunks() {
        let cfg = array(MdLevel::Raid6, 512, 2);
        let lim = md(&cfg, &disks(36), &KernelConfig::default());
        assert_eq!(lim.io_opt_bytes, 17 * 1024 * KIB);
        assert_eq!((lim.max_hw_sectors, lim.max_sectors, lim.chunk_sectors), (34_816, 34_816, 34_816));
        // 6.12 does not raise the hardware's limit to the stripe; 5.17 looks at no hint.
        assert_eq!(md(&cfg, &disks(36), &linux_6_12()).max_sectors, 2048);
        assert_eq!(md(&cfg, &disks(36), &linux_5_17()).max_sectors, 2560);
    }

    #[test]
    fn md_m1_raid0_raid1_raid10() {
        let new = KernelConfig::default();
        let raid0 = array(MdLevel::Raid0, 64, 1);
        let lim = md(&raid0, &disks(3), &new);
        assert_eq!((lim.max_sectors, lim.chunk_sectors, lim.io_opt_bytes), (128, 128, 192 * KIB));
        let lim = md(&raid0, &disks(3), &linux_5_17());
        assert_eq!((lim.max_sectors, lim.chunk_sectors), (128, 0));

        let lim = md(&array(MdLevel::Raid1, 0, 0), &disks(2), &new);
        assert_eq!(lim, disks(1)[0]);

        let raid10 = |layout, n| md(&array(MdLevel::Raid10, 512, layout), &disks(n), &new);
        assert_eq!((raid10(0x102, 4).io_opt_bytes, raid10(0x102, 4).chunk_sectors), (1024 * KIB, 1024));
        assert_eq!(raid10(0x102, 3).io_opt_bytes, 3 * 512 * KIB); // 3 is no multiple of 2 copies
        assert_eq!(raid10(0x201, 4).io_opt_bytes, 4 * 512 * KIB);
        assert_eq!(md(&array(MdLevel::Raid10, 512, 0x102), &disks(4), &linux_5_17()).chunk_sectors, 0);
    }

    #[test]
    fn md_m1_stacking() {
        let member = StackLimits { io_opt_bytes: 160 * KIB, ..disks(1)[0] };
        let lim = md(&array(MdLevel::Raid5, 64, 2), &[member; 3], &KernelConfig::default());
        assert_eq!(lim.io_opt_bytes, 640 * KIB); // of 128 and 160
        assert_eq!(lim.chunk_sectors, 256); // set before the members were looked at
        let small = StackLimits { max_hw_sectors: 256, max_segments: 33, block_bytes: 512, ..disks(1)[0] };
        let lim = md(&array(MdLevel::Raid1, 0, 0), &[disks(1)[0], small], &KernelConfig::default());
        assert_eq!((lim.max_sectors, lim.max_segments, lim.block_bytes), (256, 33, 4096));
        // Zones of two sizes leave their common divisor; one that is no whole block leaves none.
        let zoned = |chunk_sectors| StackLimits { chunk_sectors, ..disks(1)[0] };
        let raid1 = |a, b| md(&array(MdLevel::Raid1, 0, 0), &[zoned(a), zoned(b)], &KernelConfig::default());
        assert_eq!(raid1(4096, 6144).chunk_sectors, 2048);
        assert_eq!(raid1(4096, 12).chunk_sectors, 0);
    }

    #[test]
    fn md_m1_device_mapper() {
        let dm = |target, members: &[_], kernel| super::dm(&DmConfig { target, members: Vec::new() }, members, &kernel);
        let striped = DmTarget::Striped { chunk_sectors: 128 };
        let lim = dm(striped, &disks(4), KernelConfig::default());
        assert_eq!((lim.io_min_bytes, lim.io_opt_bytes, lim.chunk_sectors), (64 * KIB, 256 * KIB, 128));
        assert_eq!((lim.max_sectors, lim.max_segments), (8192, 168));
        assert_eq!(dm(striped, &disks(4), linux_5_17()).chunk_sectors, 0);

        let crypt = |max_write| DmTarget::Crypt { max_read: 256, max_write, sector_ns: 0 };
        let zoned = [StackLimits { chunk_sectors: 524_288, ..disks(1)[0] }];
        assert_eq!(dm(crypt(256), &disks(1), KernelConfig::default()), disks(1)[0]);
        let lim = dm(crypt(0), &zoned, KernelConfig::default());
        assert_eq!((lim.max_sectors, lim.chunk_sectors), (2048, 524_288));
    }
}
