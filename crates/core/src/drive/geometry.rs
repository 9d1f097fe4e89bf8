//! Where zones are: radius, rate and rotational position.
//!
//! Models: zoned recording (constant rate inside a recording zone) and angle continuous in LBA at the sustained rate
//! (disk 1, 5).
//! Rule: derived once from the profile, integers afterwards; shared outside cloned state.
//! Leaves out: tracks, heads and defects.

use alloc::vec::Vec;

use super::mechanics;
use crate::config::DriveProfile;
use crate::time::SimDuration;
use crate::units::{SECTOR_BYTES, Sector, ZoneNo};

/// ns per sector carry 20 fractional bits.
const FP: u32 = 20;

#[derive(Clone, Debug, PartialEq)]
struct RecordingZone {
    first_zone: ZoneNo,
    /// Time to pass all LBAs before it at their sustained rates, ns.
    start_ns: u64,
    ns_per_sector_fp: u64,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Geometry {
    profile: DriveProfile,
    recording: Vec<RecordingZone>,
}

impl Geometry {
    /// Derives the table from the profile's rates.
    pub fn new(profile: &DriveProfile) -> Self {
        let n = profile.recording_zones.clamp(1, profile.nr_zones.max(1));
        let mut recording: Vec<RecordingZone> = Vec::with_capacity(n as usize);
        for i in 0..n {
            let first_zone = (u64::from(profile.nr_zones) * u64::from(i) / u64::from(n)) as ZoneNo;
            let x = f64::from(first_zone) / f64::from(profile.nr_zones.max(1));
            let rate = mechanics::rate_at(profile.rate_outer, profile.rate_inner, x);
            let ns_per_sector_fp = libm::round(SECTOR_BYTES as f64 * 1e9 * (1u64 << FP) as f64 / rate) as u64;
            let start_ns = recording.last().map_or(0, |p: &RecordingZone| {
                p.start_ns + span_ns(u64::from(first_zone - p.first_zone) * profile.zone_sectors, p.ns_per_sector_fp)
            });
            recording.push(RecordingZone { first_zone, start_ns, ns_per_sector_fp });
        }
        Self { profile: profile.clone(), recording }
    }

    fn recording_zone(&self, zone: ZoneNo) -> &RecordingZone {
        let i = self.recording.partition_point(|r| r.first_zone <= zone);
        &self.recording[i.saturating_sub(1)]
    }

    /// ns per sector at this zone, times 2^20.
    pub fn ns_per_sector_fp(&self, zone: ZoneNo) -> u64 {
        self.recording_zone(zone).ns_per_sector_fp
    }

    /// Angle of the zone's first sector when angles follow the LBA, ns into the turn.
    pub fn phase_by_lba(&self, zone: ZoneNo) -> SimDuration {
        let r = self.recording_zone(zone);
        let ns = r.start_ns + span_ns(u64::from(zone - r.first_zone) * self.profile.zone_sectors, r.ns_per_sector_fp);
        ns % self.profile.rev_ns
    }

    /// Radial position of a zone, 0 (outer) to 1.
    pub fn stroke(&self, zone: ZoneNo) -> f64 {
        let x = f64::from(zone) / f64::from(self.profile.nr_zones.max(1));
        mechanics::stroke_at(self.profile.rate_outer, self.profile.rate_inner, x)
    }

    /// Seek between two different zones, settling included, ns.
    pub fn seek_ns(&self, from: ZoneNo, to: ZoneNo) -> SimDuration {
        let distance = self.stroke(to) - self.stroke(from);
        mechanics::seek_ns(
            self.profile.settle_ns,
            self.profile.seek_full_ns,
            if distance < 0.0 { -distance } else { distance },
        )
    }
}

/// Time to pass `sectors`, ns, rounded down.
pub fn span_ns(sectors: Sector, ns_per_sector_fp: u64) -> SimDuration {
    ((u128::from(sectors) * u128::from(ns_per_sector_fp)) >> FP) as SimDuration
}
