//! Zones as the drive keeps them: conditions, write pointers, open resources.
//!
//! Models: ZBC host-managed zones (kernel 6.1, 6.2).
//! Rule: a write starts at the write pointer and ends at most at the capacity, else it fails; wp <= capacity always;
//! at most `max_open_zones` are open, an implicitly open one being closed to make room.
//! Leaves out: read-only and offline zones, active limits (this class of drive has none).

use alloc::vec;

use crate::config::{DriveConfig, FirstFill, ZonePhase};
use crate::drive::geometry::Geometry;
use crate::observe::snapshot::ZoneCond;
use crate::rng::Rng;
use crate::sorted::SortedMap;
use crate::time::SimDuration;
use crate::units::{BlkStatus, Op, Sector, ZoneNo};

/// One zone that has been used.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Condition.
    pub cond: ZoneCond,
    /// Accepted data ends here, sectors from the zone start.
    pub wp: Sector,
    /// Data on the medium ends here, sectors from the zone start.
    pub media: Sector,
    /// Angle of its first sector, ns into the turn.
    pub phase_ns: SimDuration,
    /// ns per sector, times 2^20.
    pub ns_per_sector_fp: u64,
    /// Order of first use.
    pub order: u32,
}

/// All zones; those never used are empty and not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Zones {
    zones: SortedMap<ZoneNo, Zone>,
    nr_open: u32,
    /// Round robin over implicitly open zones.
    last_closed: ZoneNo,
}

fn is_open(c: ZoneCond) -> bool {
    matches!(c, ZoneCond::ImpOpen | ZoneCond::ExpOpen)
}

impl Zones {
    /// Zones at the start of a run.
    pub fn new(cfg: &DriveConfig, geometry: &Geometry, seed: u64) -> Self {
        let mut z = Self { zones: SortedMap::default(), nr_open: 0, last_closed: 0 };
        if let FirstFill::Random { first, count, granularity } = cfg.first_fill {
            let steps = cfg.profile.zone_capacity_sectors / granularity.max(1);
            for zone in first..first.saturating_add(count).min(cfg.profile.nr_zones) {
                let fill = Rng::stream(seed, "first fill", u64::from(zone)).below(steps.max(1)) * granularity;
                let entry = z.touch(cfg, geometry, seed, zone);
                entry.wp = fill;
                entry.media = fill;
                entry.cond = if fill == 0 { ZoneCond::Empty } else { ZoneCond::Closed };
            }
        }
        z
    }

    /// The zone, stored from now on.
    pub fn touch(&mut self, cfg: &DriveConfig, geometry: &Geometry, seed: u64, zone: ZoneNo) -> &mut Zone {
        let order = self.zones.len() as u32;
        self.zones.or_insert_with(zone, || Zone {
            cond: if zone < cfg.profile.nr_conv_zones { ZoneCond::NotWp } else { ZoneCond::Empty },
            wp: 0,
            media: 0,
            phase_ns: match cfg.zone_phase {
                ZonePhase::ByLba => geometry.phase_by_lba(zone),
                ZonePhase::Random => Rng::stream(seed, "zone phase", u64::from(zone)).below(cfg.profile.rev_ns),
            },
            ns_per_sector_fp: geometry.ns_per_sector_fp(zone),
            order,
        })
    }

    /// A zone that has been used.
    pub fn get(&self, zone: ZoneNo) -> Option<&Zone> {
        self.zones.get(&zone)
    }
    /// A zone that has been used, to change.
    pub fn get_mut(&mut self, zone: ZoneNo) -> Option<&mut Zone> {
        self.zones.get_mut(&zone)
    }
    /// Used zones by number.
    pub fn iter(&self) -> impl Iterator<Item = (ZoneNo, &Zone)> {
        self.zones.iter().map(|(n, z)| (*n, z))
    }
    /// Used zones by their first use.
    pub fn by_use(&self) -> impl Iterator<Item = (ZoneNo, &Zone)> {
        let mut numbers = vec![0; self.zones.len()];
        for (number, z) in self.iter() {
            numbers[z.order as usize] = number;
        }
        numbers.into_iter().map(|number| (number, &self.zones[&number]))
    }
    /// Open zones.
    pub fn nr_open(&self) -> u32 {
        self.nr_open
    }

    fn set_cond(&mut self, zone: ZoneNo, cond: ZoneCond) {
        let z = self.zones.get_mut(&zone).expect("touched before");
        self.nr_open = self.nr_open + u32::from(is_open(cond)) - u32::from(is_open(z.cond));
        z.cond = cond;
    }

    /// Room for one more open zone, closing an implicitly open one if need be.
    fn make_room(&mut self, max_open: u32) -> BlkStatus {
        if max_open == 0 || self.nr_open < max_open {
            return BlkStatus::Ok;
        }
        let imp = |(_, z): &(&ZoneNo, &Zone)| z.cond == ZoneCond::ImpOpen;
        let after = self.zones.range(self.last_closed + 1..).find(imp).or_else(|| self.zones.iter().find(imp));
        match after.map(|(n, z)| (*n, z.wp)) {
            Some((victim, wp)) => {
                self.last_closed = victim;
                self.set_cond(victim, if wp == 0 { ZoneCond::Empty } else { ZoneCond::Closed });
                BlkStatus::Ok
            }
            None => BlkStatus::ZoneOpenResource,
        }
    }

    /// Opens a zone that is empty or closed.
    fn open(&mut self, zone: ZoneNo, to: ZoneCond, max_open: u32) -> BlkStatus {
        if !is_open(self.zones[&zone].cond) {
            let room = self.make_room(max_open);
            if room != BlkStatus::Ok {
                return room;
            }
        }
        self.set_cond(zone, to);
        BlkStatus::Ok
    }

    /// Accepts or refuses a write of `len` sectors at `offset` from the zone start (touched before).
    pub fn write(&mut self, zone: ZoneNo, offset: Sector, len: Sector, capacity: Sector, max_open: u32) -> BlkStatus {
        let (cond, wp) = {
            let z = &self.zones[&zone];
            (z.cond, z.wp)
        };
        match cond {
            ZoneCond::NotWp => return BlkStatus::Ok,
            ZoneCond::ReadOnly | ZoneCond::Offline | ZoneCond::Full => return BlkStatus::IoErr,
            _ if offset != wp || offset + len > capacity => return BlkStatus::IoErr,
            ZoneCond::Empty | ZoneCond::Closed => {
                let opened = self.open(zone, ZoneCond::ImpOpen, max_open);
                if opened != BlkStatus::Ok {
                    return opened;
                }
            }
            _ => {}
        }
        let z = self.zones.get_mut(&zone).expect("touched before");
        z.wp = offset + len;
        if z.wp >= capacity {
            self.set_cond(zone, ZoneCond::Full);
        }
        BlkStatus::Ok
    }

    /// Carries out open, close, finish or reset (kernel 6.2).
    pub fn manage(&mut self, op: Op, zone: ZoneNo, capacity: Sector, max_open: u32) -> BlkStatus {
        let (cond, wp) = {
            let z = &self.zones[&zone];
            (z.cond, z.wp)
        };
        match (op, cond) {
            (_, ZoneCond::NotWp | ZoneCond::ReadOnly | ZoneCond::Offline) => BlkStatus::IoErr,
            (Op::ZoneOpen, ZoneCond::Full) | (Op::ZoneClose, ZoneCond::Full | ZoneCond::Empty) => BlkStatus::IoErr,
            (Op::ZoneOpen, _) => self.open(zone, ZoneCond::ExpOpen, max_open),
            (Op::ZoneClose, ZoneCond::Closed) => BlkStatus::Ok,
            (Op::ZoneClose, _) => {
                self.set_cond(zone, if wp == 0 { ZoneCond::Empty } else { ZoneCond::Closed });
                BlkStatus::Ok
            }
            (Op::ZoneFinish, ZoneCond::Full) => BlkStatus::Ok,
            (Op::ZoneFinish, _) => {
                let opened = self.open(zone, ZoneCond::ImpOpen, max_open);
                if opened == BlkStatus::Ok {
                    let z = self.zones.get_mut(&zone).expect("touched before");
                    z.wp = capacity;
                    z.media = capacity;
                    self.set_cond(zone, ZoneCond::Full);
                }
                opened
            }
            (Op::ZoneReset, _) => {
                let z = self.zones.get_mut(&zone).expect("touched before");
                z.wp = 0;
                z.media = 0;
                self.set_cond(zone, ZoneCond::Empty);
                BlkStatus::Ok
            }
            _ => BlkStatus::NotSupp,
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.zones.heap_bytes()
    }
}
