#![allow(dead_code)] // each test file uses its part
//! A small SMR disk, lists of bios, and a run of them.

use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, TraceHash, TraceRecord};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::Op;

/// Sectors of a zone: 64 MiB.
pub const ZONE: u64 = 131_072;
/// First sequential zone.
pub const SEQ: u32 = 4;
/// Sectors of a MiB.
pub const MIB: u32 = 2048;

pub fn profile() -> DriveProfile {
    DriveProfile {
        name: "small".into(),
        zone_sectors: ZONE,
        zone_capacity_sectors: ZONE,
        nr_zones: 1000,
        nr_conv_zones: SEQ,
        zoned: true,
        max_open_zones: 128,
        rev_ns: 8_333_333,
        rate_outer: 246 << 20,
        rate_inner: 120 << 20,
        recording_zones: 8,
        settle_ns: 2_000_000,
        seek_full_ns: 13_500_000,
        slots: 24,
        slots_per_waiting_milli: 3000,
        window_min: 2,
        visit_commands: 3,
        candidates: 2,
        zone_reset_ns: 295_000_000,
        interface_rate: 550 << 20,
        command_ns: 20_000,
        read_age_ns: 100_000_000,
    }
}

pub fn queue() -> QueueConfig {
    QueueConfig::default()
}

/// A disk without jobs.
pub fn config() -> SimConfig {
    SimConfig {
        seed: 42,
        stop: Stop::default(),
        ramp: Ramp::default(),
        kernel: KernelConfig::default(),
        host: HostCosts::default(),
        devices: vec![DeviceConfig {
            name: "sda".into(),
            dev: (8, 0),
            queue: Some(queue()),
            throttle: None,
            kind: DeviceKind::Disk(DriveConfig {
                profile: Arc::new(profile()),
                zone_phase: ZonePhase::ByLba,
                write_cache: true,
                write_off_mode: WriteOffMode::Nonvolatile,
                first_fill: FirstFill::Empty,
            }),
        }],
        jobs: vec![],
        changes: vec![],
        faults: vec![],
        wake_faults: vec![],
    }
}

/// The n-th disk, known by its limits only: 1 GB/s, one command after the other, and a latency. No scheduler.
pub fn capped(n: u16, latency_ns: u64) -> DeviceConfig {
    DeviceConfig {
        name: format!("sd{}", char::from(b'a' + n as u8)),
        dev: (8, n * 16),
        queue: Some(QueueConfig {
            elevator: ElevatorKind::None,
            nr_requests: 1024,
            async_depth: 1024,
            queue_depth: 1024,
            tag_alloc: TagAlloc::Hint,
            max_segments: 128,
            block_bytes: 512,
            ..queue()
        }),
        kind: DeviceKind::Capped(CappedConfig {
            capacity: 1 << 32,
            iops: 0,
            rate: 1_000_000_000,
            latency_ns,
            channels: 1,
        }),
        throttle: None,
    }
}

/// An array over the first n devices.
pub fn array(level: MdLevel, disks: u16, chunk_sectors: u32, layout: u32) -> DeviceConfig {
    DeviceConfig {
        name: "md0".into(),
        dev: (9, 0),
        queue: None,
        kind: DeviceKind::Md(MdConfig {
            level,
            members: (0..disks).collect(),
            chunk_sectors,
            layout,
            data_offset: 0,
            stripe_cache_size: 256,
            rmw_level: 1,
            preread_bypass_threshold: 1,
            sync: None,
        }),
        throttle: None,
    }
}

/// Adds a job that submits a list; pages contiguous over 2 MiB unless told otherwise.
pub fn list(cfg: &mut SimConfig, bios: Vec<ListedBio>) {
    cfg.jobs.push(JobConfig {
        name: "list".into(),
        dev: 0,
        workload: WorkloadConfig::List(bios),
        prio: Default::default(),
        bio_segment_bytes: 2 << 20,
        start_ns: 0,
        cgroup: Default::default(),
    });
}

/// A write of `nr` sectors at `offset` of the z-th sequential zone.
pub fn write(at: u64, z: u32, offset: u64, nr: u32) -> ListedBio {
    ListedBio {
        at,
        op: Op::Write,
        sector: u64::from(SEQ + z) * ZONE + offset,
        nr_sectors: nr,
        nowait: false,
        preflush: false,
        fua: false,
    }
}

/// A zone command.
pub fn mgmt(at: u64, z: u32, op: Op) -> ListedBio {
    ListedBio { at, op, sector: u64::from(SEQ + z) * ZONE, nr_sectors: 0, nowait: false, preflush: false, fua: false }
}

/// Draws for the tests, independent of the simulator's.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
    pub fn flip(&mut self) -> bool {
        self.below(2) == 1
    }
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// A finished run.
pub struct Run {
    pub sim: Simulation,
    pub trace: Vec<TraceRecord>,
    pub hash: u64,
}

pub fn run(cfg: SimConfig) -> Run {
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut sink = (Vec::new(), TraceHash::default());
    assert_eq!(sim.advance(u64::MAX, 50_000_000, &mut sink), Advance::Done);
    Run { sim, trace: sink.0, hash: sink.1.hash }
}

impl Run {
    /// Records of an action.
    pub fn of(&self, action: Action) -> Vec<TraceRecord> {
        self.trace.iter().copied().filter(|r| r.action == action).collect()
    }
    /// Issued writes as (zone counted from the first sequential one, offset, length).
    pub fn issued(&self) -> Vec<(u32, u64, u32)> {
        self.of(Action::Issue)
            .iter()
            .filter(|r| r.op == Op::Write)
            .map(|r| ((r.sector / ZONE) as u32 - SEQ, r.sector % ZONE, r.nr_sectors))
            .collect()
    }
}
