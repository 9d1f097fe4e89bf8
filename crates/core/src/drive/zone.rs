//! Zones as the device keeps them: conditions, write pointers, open and active resources.
//!
//! Models: ZBC, ZAC and ZNS zones as null_blk has them (kernel 6.1, 6.2).
//! Rule: a write starts at the write pointer and ends at most at the capacity, else it fails; wp <= capacity always;
//! at most `max_open` zones are open, an implicitly open one being closed to make room while the limit of active zones
//! is not reached, and at most `max_active` are open or closed.
//! Leaves out: what is below (the disk's heads, flash, timers), a smaller last zone, zones that fail during a run.

use alloc::vec;

use crate::config::{ZoneShape, ZonesConfig};
use crate::drive::Cmd;
use crate::observe::snapshot::{ZoneCond, ZoneView};
use crate::sorted::SortedMap;
use crate::units::{BlkStatus, Op, Sector, ZoneNo};

/// One zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Zone {
    /// Accepted data ends here, sectors from the zone start; the capacity where the zone is full.
    pub wp: Sector,
    /// Condition.
    pub cond: ZoneCond,
    /// Order of first use, from 0.
    pub order: u32,
}

/// All zones; those never used are as they were at the start, and not stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Zones {
    shape: ZoneShape,
    zones: SortedMap<ZoneNo, Zone>,
    /// Sequential zones that are not stored are full.
    full: bool,
    nr_open: u32,
    nr_closed: u32,
    /// Where the search for an implicitly open zone to close begins.
    next_close: ZoneNo,
    implicit_closes: u64,
}

impl Zone {
    /// For pictures: where nothing lies between acceptance and the medium.
    pub fn view(&self, zone: ZoneNo) -> ZoneView {
        ZoneView {
            zone,
            cond: self.cond,
            wp_offset: self.wp,
            media_offset: self.wp,
            phase_ns: 0,
            ns_per_sector_fp20: 0,
            order: self.order,
        }
    }
}

fn is_open(c: ZoneCond) -> bool {
    matches!(c, ZoneCond::ImpOpen | ZoneCond::ExpOpen)
}

impl Zones {
    /// All sequential zones empty.
    pub fn new(shape: ZoneShape) -> Self {
        Self {
            shape,
            zones: SortedMap::default(),
            full: false,
            nr_open: 0,
            nr_closed: 0,
            next_close: 0,
            implicit_closes: 0,
        }
    }

    /// As configured: zone_full, zone_readonly, zone_offline.
    pub fn of_config(cfg: &ZonesConfig) -> Self {
        let mut zones = Self { full: cfg.full, ..Self::new(cfg.shape.enforceable()) };
        for zone in &cfg.readonly {
            zones.set_cond(*zone, ZoneCond::ReadOnly);
        }
        for zone in &cfg.offline {
            zones.set_cond(*zone, ZoneCond::Offline);
        }
        zones
    }

    /// Sizes and limits.
    pub fn shape(&self) -> &ZoneShape {
        &self.shape
    }

    /// A zone as it is, used or not.
    pub fn report(&self, zone: ZoneNo) -> Zone {
        self.get(zone).copied().unwrap_or_else(|| self.unused(zone))
    }
    fn unused(&self, zone: ZoneNo) -> Zone {
        let (cond, wp) = match zone < self.shape.nr_conv {
            true => (ZoneCond::NotWp, 0),
            false if self.full => (ZoneCond::Full, self.shape.capacity),
            false => (ZoneCond::Empty, 0),
        };
        Zone { wp, cond, order: self.zones.len() as u32 }
    }

    /// The zone, stored from now on.
    #[inline]
    pub fn touch(&mut self, zone: ZoneNo) -> &mut Zone {
        if self.zones.get(&zone).is_none() {
            self.zones.insert(zone, self.unused(zone));
        }
        self.zones.get_mut(&zone).expect("stored")
    }

    /// A zone that has been used.
    #[inline]
    pub fn get(&self, zone: ZoneNo) -> Option<&Zone> {
        self.zones.get(&zone)
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
    /// Sequential zones that were never used are full (zone_full).
    pub fn starts_full(&self) -> bool {
        self.full
    }
    /// Open zones.
    pub fn nr_open(&self) -> u32 {
        self.nr_open
    }
    /// Open and closed zones.
    pub fn nr_active(&self) -> u32 {
        self.nr_open + self.nr_closed
    }
    /// Sequential zones with data.
    pub fn nr_written(&self) -> u32 {
        let count = |pass: fn(&Zone) -> bool| self.iter().filter(|(_, z)| pass(z)).count() as u32;
        let unused = self.shape.nr_zones - self.shape.nr_conv - count(|z| z.cond != ZoneCond::NotWp);
        count(|z| z.wp > 0) + if self.full { unused } else { 0 }
    }
    /// Zones closed to make room, so far.
    pub fn implicit_closes(&self) -> u64 {
        self.implicit_closes
    }

    /// A zone becomes read-only or offline, or has data from before the run (`wp` unchanged).
    pub fn set_cond(&mut self, zone: ZoneNo, cond: ZoneCond) {
        let z = self.touch(zone);
        let was = core::mem::replace(&mut z.cond, cond);
        self.nr_open = self.nr_open + u32::from(is_open(cond)) - u32::from(is_open(was));
        self.nr_closed = self.nr_closed + u32::from(cond == ZoneCond::Closed) - u32::from(was == ZoneCond::Closed);
    }

    /// Data from before the run: closed with a write pointer.
    pub fn fill(&mut self, zone: ZoneNo, wp: Sector) {
        self.touch(zone).wp = wp;
        self.set_cond(zone, if wp == 0 { ZoneCond::Empty } else { ZoneCond::Closed });
    }

    /// Room for one more active zone.
    fn may_activate(&self) -> bool {
        self.shape.max_active == 0 || self.nr_active() < self.shape.max_active
    }

    /// Room for one more open zone, closing an implicitly open one if need be.
    fn make_room(&mut self) -> BlkStatus {
        if self.shape.max_open == 0 || self.nr_open < self.shape.max_open {
            return BlkStatus::Ok;
        }
        let imp = |(_, z): &(&ZoneNo, &Zone)| z.cond == ZoneCond::ImpOpen;
        let next = || self.zones.range(self.next_close..).find(imp).or_else(|| self.zones.iter().find(imp));
        let Some(victim) = self.may_activate().then(next).flatten().map(|(n, _)| *n) else {
            return BlkStatus::ZoneOpenResource;
        };
        self.next_close = victim + 1;
        self.implicit_closes += 1;
        self.close(victim);
        BlkStatus::Ok
    }

    fn close(&mut self, zone: ZoneNo) {
        let empty = self.zones[&zone].wp == 0;
        self.set_cond(zone, if empty { ZoneCond::Empty } else { ZoneCond::Closed });
    }

    /// Opens a zone that is empty, closed or open.
    fn open(&mut self, zone: ZoneNo, to: ZoneCond) -> BlkStatus {
        let cond = self.zones[&zone].cond;
        if cond == ZoneCond::Empty && !self.may_activate() {
            return BlkStatus::ZoneActiveResource;
        }
        if !is_open(cond) {
            let room = self.make_room();
            if room != BlkStatus::Ok {
                return room;
            }
        }
        self.set_cond(zone, to);
        BlkStatus::Ok
    }

    /// Accepts or refuses a write of `len` sectors at `offset` from the zone start.
    pub fn write(&mut self, zone: ZoneNo, offset: Sector, len: Sector) -> BlkStatus {
        let capacity = self.shape.capacity;
        let z = self.touch(zone);
        match z.cond {
            ZoneCond::NotWp => return BlkStatus::Ok,
            ZoneCond::ReadOnly | ZoneCond::Offline | ZoneCond::Full => return BlkStatus::IoErr,
            _ if offset != z.wp || offset + len > capacity => return BlkStatus::IoErr,
            ZoneCond::ImpOpen | ZoneCond::ExpOpen => z.wp = offset + len,
            ZoneCond::Empty | ZoneCond::Closed => {
                let opened = self.open(zone, ZoneCond::ImpOpen);
                if opened != BlkStatus::Ok {
                    return opened;
                }
                self.touch(zone).wp = offset + len;
            }
        }
        if offset + len >= capacity {
            self.set_cond(zone, ZoneCond::Full);
        }
        BlkStatus::Ok
    }

    /// A write refused for its place alone, which another write may make right.
    pub fn is_misaligned(&self, zone: ZoneNo, offset: Sector) -> bool {
        let z = self.report(zone);
        let writable = ![ZoneCond::NotWp, ZoneCond::ReadOnly, ZoneCond::Offline, ZoneCond::Full].contains(&z.cond);
        writable && offset != z.wp
    }

    /// Appends `len` sectors: where they went, from the zone start.
    pub fn append(&mut self, zone: ZoneNo, len: Sector) -> Result<Sector, BlkStatus> {
        let Zone { wp, cond, .. } = *self.touch(zone);
        if cond == ZoneCond::NotWp || self.shape.append_max_sectors == 0 {
            return Err(BlkStatus::IoErr);
        }
        match self.write(zone, wp, len) {
            BlkStatus::Ok => Ok(wp),
            status => Err(status),
        }
    }

    /// Reads are unconstrained: beyond the write pointer there is a fill pattern.
    pub fn read(&self, zone: ZoneNo) -> BlkStatus {
        match self.get(zone) {
            Some(z) if z.cond == ZoneCond::Offline => BlkStatus::IoErr,
            _ => BlkStatus::Ok,
        }
    }

    /// Carries out open, close, finish, reset or reset all.
    pub fn manage(&mut self, op: Op, zone: ZoneNo) -> BlkStatus {
        if op == Op::ZoneResetAll {
            self.reset_all();
            return BlkStatus::Ok;
        }
        let capacity = self.shape.capacity;
        let cond = self.touch(zone).cond;
        match (op, cond) {
            (_, ZoneCond::NotWp | ZoneCond::ReadOnly | ZoneCond::Offline) => BlkStatus::IoErr,
            (Op::ZoneOpen, ZoneCond::Full) | (Op::ZoneClose, ZoneCond::Full | ZoneCond::Empty) => BlkStatus::IoErr,
            (Op::ZoneOpen, _) => self.open(zone, ZoneCond::ExpOpen),
            (Op::ZoneClose, ZoneCond::Closed) => BlkStatus::Ok,
            (Op::ZoneClose, _) => {
                self.close(zone);
                BlkStatus::Ok
            }
            (Op::ZoneFinish, ZoneCond::Full) => BlkStatus::Ok,
            (Op::ZoneFinish, _) => {
                let opened = self.open(zone, ZoneCond::ImpOpen);
                if opened == BlkStatus::Ok {
                    self.touch(zone).wp = capacity;
                    self.set_cond(zone, ZoneCond::Full);
                }
                opened
            }
            (Op::ZoneReset, _) => {
                self.touch(zone).wp = 0;
                self.set_cond(zone, ZoneCond::Empty);
                BlkStatus::Ok
            }
            _ => BlkStatus::NotSupp,
        }
    }

    fn reset_all(&mut self) {
        self.full = false;
        self.nr_open = 0;
        self.nr_closed = 0;
        self.zones.each_mut(|z| {
            if !matches!(z.cond, ZoneCond::NotWp | ZoneCond::ReadOnly | ZoneCond::Offline) {
                z.cond = ZoneCond::Empty;
                z.wp = 0;
            }
        });
    }

    /// What a device that decides when a command arrives says to it; a zone append is told where it goes in
    /// `cmd.sector`.
    pub fn carry_out(&mut self, cmd: &mut Cmd) -> BlkStatus {
        let start = u64::from(cmd.zone) * self.shape.zone_sectors;
        let len = u64::from(cmd.nr_sectors);
        match cmd.op {
            Op::Read => self.read(cmd.zone),
            Op::Write | Op::WriteZeroes => self.write(cmd.zone, cmd.sector - start, len),
            // It names the zone, not a place.
            Op::ZoneAppend if cmd.sector != start => BlkStatus::IoErr,
            Op::ZoneAppend => match self.append(cmd.zone, len) {
                Ok(offset) => {
                    cmd.sector = start + offset;
                    BlkStatus::Ok
                }
                Err(status) => status,
            },
            Op::Flush | Op::DrvIn => BlkStatus::Ok,
            op => self.manage(op, cmd.zone),
        }
    }

    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.zones.heap_bytes()
    }
}
