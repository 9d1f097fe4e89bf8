//! Are the writes of each zone ascending when they reach the disk?
//!
//! Models: the question asked of every change to the order of `current->bio_list`: does it keep sequential writes to
//! zoned devices in order (kernel 1.4)?
//! Rule: watches Q of writes to sequential zones, below every stacked device; one that starts before the end of an
//! earlier one is a violation, named with who submitted it. A reset begins the zone anew.
//! Leaves out: gaps, which are no disorder; what zone write plugs and the device make of the writes.

use alloc::vec::Vec;

use crate::config::SimConfig;
use crate::observe::trace::{Action, TraceRecord, TraceSink, flag};
use crate::sorted::SortedMap;
use crate::time::SimTime;
use crate::units::{BioId, DevIdx, Op, Sector, ZoneNo};

/// Violations kept.
pub const MAX_VIOLATIONS: usize = 100;

/// Why a write came late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// blk-throttle held it back, and it lost its place.
    Throttled,
    /// The order in which its task submitted.
    Submitted,
}

/// A write that arrived behind one further on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Violation {
    /// ns
    pub time: SimTime,
    /// Disk.
    pub dev: DevIdx,
    /// Zone.
    pub zone: ZoneNo,
    /// The late bio.
    pub bio: BioId,
    /// Where it starts.
    pub sector: Sector,
    /// Where the writes before it had got to.
    pub behind: Sector,
    /// Why.
    pub cause: Cause,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ZoneOrder {
    /// Of each zoned device: sectors of a zone, first sequential zone.
    disks: Vec<Option<(Sector, ZoneNo)>>,
    /// Furthest end of the writes of a zone.
    ends: SortedMap<(DevIdx, ZoneNo), Sector>,
    /// Writes seen.
    pub writes: u64,
    /// Violations in all.
    pub found: u64,
    /// The first [`MAX_VIOLATIONS`] of them.
    pub violations: Vec<Violation>,
}

impl ZoneOrder {
    /// Watches the zoned devices of a run.
    pub fn new(cfg: &SimConfig) -> Self {
        let of = |d: &crate::config::DeviceConfig| d.zones().map(|z| (z.zone_sectors, z.nr_conv));
        Self { disks: cfg.devices.iter().map(of).collect(), ..Self::default() }
    }
}

impl TraceSink for ZoneOrder {
    fn record(&mut self, r: &TraceRecord) {
        let Some(Some((zone_sectors, first))) = self.disks.get(usize::from(r.dev)) else { return };
        let zone = (r.sector / zone_sectors) as ZoneNo;
        if r.action != Action::Queue || zone < *first {
            return;
        }
        match r.op {
            Op::ZoneReset => {
                self.ends.remove(&(r.dev, zone));
            }
            Op::Write => {
                self.writes += 1;
                let end = self.ends.or_insert_with((r.dev, zone), || 0);
                let behind = *end;
                *end = behind.max(r.sector + Sector::from(r.nr_sectors));
                if r.sector < behind {
                    self.found += 1;
                    let cause = if r.flags & flag::THROTTLE != 0 { Cause::Throttled } else { Cause::Submitted };
                    let (time, dev, bio, sector) = (r.time, r.dev, r.bio, r.sector);
                    if self.violations.len() < MAX_VIOLATIONS {
                        self.violations.push(Violation { time, dev, zone, bio, sector, behind, cause });
                    }
                }
            }
            _ => {}
        }
    }
}
