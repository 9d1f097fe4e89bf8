//! Zone write plugs: one write request in flight per sequential zone, the rest queued in order.
//!
//! Models: block/blk-zoned.c, 7.1 (kernel 5.1, 5.2): flags, references, wp_offset, prepare, pulling queued bios
//! into a request, abort, DEAD; zone appends made writes; by version what follows an error (6.10 to 6.12: report zones by
//! a work of the disk) and how a plug is removed (before 7.1: unhashed).
//! Rule: between D and C a sequential zone has at most one write request; its bios leave in FIFO order; references
//! are 1 while hashed, 1 a flagged bio, 1 a request, 1 while work is scheduled, 1 a listing (also of plugs with errors).
//! Leaves out: bio-based devices, RCU and the mempool, cached zone conditions (so GD_ZONE_APPEND_USED has no reader); the
//! command that reports zones, and so its deadlock with a freeze (6.10 to 6.12).

use alloc::vec::Vec;

use super::bio::bflag;
use super::{Ctx, Task, Verdict};
use crate::config::{ZoneOrdering, ZwplugErrors, ZwplugRemoved};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::ZoneCond;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::sorted::SortedMap;
use crate::units::{BlkStatus, DevIdx, Op, Sector, ZoneNo};

/// `struct blk_zone_wplug`.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Wplug {
    /// BLK_ZONE_WPLUG_PLUGGED: a write is in progress or queued.
    pub plugged: bool,
    /// BLK_ZONE_WPLUG_NEED_WP_UPDATE: a write failed, the position is unknown. With [`ZwplugErrors::ErrorAutoRecover`]
    /// BLK_ZONE_WPLUG_ERROR: a work of the disk will ask the device.
    pub need_wp_update: bool,
    /// BLK_ZONE_WPLUG_DEAD, before 7.1 UNHASHED: the initial reference is gone.
    pub dead: bool,
    /// Reference count.
    pub refs: u32,
    /// Where the next write has to start, sectors from the zone start.
    pub wp_offset: Sector,
    /// Queued bios.
    pub bios: Fifo<Idx>,
    /// `bio_work` is scheduled.
    pub work: bool,
    /// On `zone_wplugs_list` (QD1).
    pub listed: bool,
    /// The request in flight (not a field of the kernel's; for pictures and checks).
    pub in_flight: Option<Idx>,
}

impl Wplug {
    /// To the end of `zone_wplugs_list`, unless it is there (QD1).
    #[inline]
    fn enlist(&mut self, list: &mut Fifo<ZoneNo>, zone: ZoneNo) {
        if !core::mem::replace(&mut self.listed, true) {
            self.refs += 1;
            list.push_back(zone);
        }
    }
}

/// The plugs of a disk.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct ZoneWplugs {
    /// zone_wplugs_hash
    pub hash: SortedMap<ZoneNo, Wplug>,
    /// zone_wplugs_list (QD1), head first
    pub list: Fifo<ZoneNo>,
    /// zone_wplugs_err_list (6.10 to 6.12)
    pub errors: Fifo<ZoneNo>,
    /// zone_wplugs_work is scheduled.
    error_work: bool,
    /// zone_wplugs_worker (QD1)
    pub worker: super::zone_wplug_worker::Worker,
}

impl ZoneWplugs {
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let bios: usize = self.hash.values().map(|w| w.bios.capacity() * size_of::<Idx>()).sum();
        self.hash.heap_bytes() + bios
    }
}

impl Ctx<'_> {
    fn wplug(&mut self, dev: DevIdx, zone: ZoneNo) -> Option<&mut Wplug> {
        self.queue(dev).wplugs.hash.get_mut(&zone)
    }

    /// Drops a reference; the last one frees the plug.
    pub(super) fn wplug_put(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        let Some(w) = wplugs.hash.get_mut(&zone) else { return };
        debug_assert!(w.refs > 0);
        w.refs -= 1;
        if w.refs == 0 {
            debug_assert!(w.bios.is_empty() && !w.listed && w.dead);
            wplugs.hash.remove(&zone);
        }
    }

    /// `disk_mark_zone_wplug_dead`
    fn wplug_mark_dead(&mut self, dev: DevIdx, zone: ZoneNo) {
        if let Some(w) = self.wplug(dev, zone)
            && !w.dead
        {
            w.dead = true;
            self.wplug_put(dev, zone);
        }
    }

    /// A plug of an empty or full zone is not needed any more; `own` of its references are the caller's. Before 7.1 it
    /// stays while anyone else uses it (`disk_should_remove_zone_wplug`).
    fn wplug_over(&mut self, dev: DevIdx, zone: ZoneNo, own: u32) {
        let removed = self.cfg.kernel.zwplug_removed;
        let unused = |w: &mut Wplug| !w.plugged && w.refs <= 1 + own;
        if removed == ZwplugRemoved::Dead || self.wplug(dev, zone).is_some_and(unused) {
            self.wplug_mark_dead(dev, zone);
        }
    }

    /// Errors are recovered by a work of the disk (6.10 to 6.12).
    fn recovers(&self) -> bool {
        self.cfg.kernel.zwplug_errors == ZwplugErrors::ErrorAutoRecover
    }

    /// `blk_zone_plug_bio` for an operation that may concern a plug.
    pub(super) fn zone_plug_bio(&mut self, dev: DevIdx, bio: Idx) -> Verdict {
        let (op, sector, nr_sectors) = {
            let b = &self.bios[bio];
            (b.op, b.sector, b.nr_sectors)
        };
        let zone = self.zone_of(dev, sector);
        match op {
            Op::ZoneAppend if self.passes_plugs(dev) => self.zone_native_append(dev, zone, bio),
            Op::Write | Op::WriteZeroes | Op::ZoneAppend if !self.is_conventional(dev, zone) => {
                if self.zone_of(dev, sector + u64::from(nr_sectors) - 1) != zone {
                    self.end_without_request(bio, BlkStatus::IoErr);
                    return Verdict::Ended;
                }
                self.zone_handle_write(dev, zone, bio)
            }
            Op::ZoneAppend | Op::ZoneReset | Op::ZoneFinish if self.is_conventional(dev, zone) => {
                self.end_without_request(bio, BlkStatus::IoErr);
                Verdict::Ended
            }
            Op::ZoneReset | Op::ZoneFinish | Op::ZoneResetAll => {
                self.bios[bio].flags &= !bflag::NOWAIT;
                Verdict::Issue
            }
            _ => Verdict::Issue,
        }
    }

    /// The device knows zone appends: they pass by the plugs. Others are made writes when their turn comes.
    fn passes_plugs(&self, dev: DevIdx) -> bool {
        self.devs[usize::from(dev)].shape.is_some_and(|z| z.append_max_sectors > 0)
    }

    /// `blk_zone_wplug_handle_native_zone_append`: the plug's position would become wrong, and nobody would see the zone
    /// become full.
    fn zone_native_append(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) -> Verdict {
        let bios = self.wplug(dev, zone).map_or(0, |w| w.bios.len() as u32);
        if bios > 0 {
            let id = self.bios[bio].id;
            self.bus.because(id, Why::AppendMixed { zone, bios });
            self.zone_abort(dev, zone);
        }
        self.wplug_mark_dead(dev, zone);
        Verdict::Issue
    }

    /// `blk_zone_wplug_handle_write`, the numbered steps of kernel 5.2.
    fn zone_handle_write(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) -> Verdict {
        let offset = self.zone_offset(dev, self.bios[bio].sector);
        let (id, nowait) = (self.bios[bio].id, self.bios[bio].flags & bflag::NOWAIT != 0);
        let cfg = self.cfg;
        let kernel = &cfg.kernel;
        let revive = kernel.dead_plug_revive;
        let wplugs = &mut self.queue(dev).wplugs;
        let qd1 = wplugs.worker.enabled;
        // A new plug starts with the hash's reference and believes the first bio's offset.
        let w = wplugs.hash.or_insert_with(zone, || Wplug { refs: 1, wp_offset: offset, ..Wplug::default() });
        w.refs += 1; // this bio's, dropped when it ends
        if w.dead && kernel.zwplug_removed == ZwplugRemoved::Unhashed {
            // Not found: a new one is hashed. Those that use the old one find it by its zone, and so this one.
            (w.dead, w.need_wp_update, w.wp_offset) = (false, false, offset);
            w.plugged = w.in_flight.is_some();
            w.refs += 1;
        }
        if w.dead && revive && w.wp_offset == 0 && w.bios.is_empty() {
            w.dead = false;
            w.refs += 1;
        }
        if w.dead {
            let refs = w.refs;
            self.bus.because(id, Why::DeadPlug { zone, refs });
            self.wplug_put(dev, zone);
            self.end_without_request(bio, BlkStatus::IoErr);
            return Verdict::Ended;
        }
        let recovers = kernel.zwplug_errors == ZwplugErrors::ErrorAutoRecover;
        let mut queue = nowait || qd1 || w.plugged || w.need_wp_update && recovers;
        self.bios[bio].flags |= bflag::ZONE_WRITE_PLUGGING;
        if !queue && !self.zone_prepare(dev, zone, bio) {
            if !recovers {
                // The flagged bio runs the error path of its end: NEED_WP_UPDATE follows.
                self.end_without_request(bio, BlkStatus::IoErr);
                return Verdict::Ended;
            }
            // The work that recovers the zone decides about it.
            queue = true;
        }
        if queue {
            self.zone_queue_bio(dev, zone, bio);
            return Verdict::Queued;
        }
        self.wplug(dev, zone).expect("just used").plugged = true;
        self.bus.because(id, Why::IssuedAtOnce { zone });
        Verdict::Issue
    }

    /// `disk_zone_wplug_add_bio` and what wakes the one who issues it.
    fn zone_queue_bio(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) {
        self.trace_bio(bio, Action::ZonePlug, 0);
        self.bios[bio].flags &= !bflag::NOWAIT;
        let (id, recovers) = (self.bios[bio].id, self.recovers());
        let wplugs = &mut self.queue(dev).wplugs;
        let w = wplugs.hash.get_mut(&zone).expect("found by the caller");
        let pending = w.bios.len() as u32;
        w.bios.push_back(bio);
        // What waits for a recovery goes on after that.
        let waits = w.need_wp_update && recovers;
        let was_plugged = core::mem::replace(&mut w.plugged, true) || waits;
        if wplugs.worker.enabled {
            w.enlist(&mut wplugs.list, zone);
            let listed = wplugs.list.len() as u32;
            self.bus.because(id, Why::QueuedForWorker { zone, listed });
            if !was_plugged {
                self.wake_worker(dev);
            }
        } else {
            self.bus.because(id, Why::PluggedBehind { zone, pending });
            if !was_plugged {
                self.zone_schedule_work(dev, zone);
            }
        }
    }

    fn zone_schedule_work(&mut self, dev: DevIdx, zone: ZoneNo) {
        let delay = self.cfg.host.issue_ns;
        let w = self.wplug(dev, zone).expect("plug exists");
        if !w.work {
            w.work = true;
            w.refs += 1;
            self.bus.after(delay, Event::BioWork(dev, zone));
        }
    }

    /// `blk_zone_wplug_prepare_bio`: checks the bio against the plug and advances it; makes a write of an append.
    pub(super) fn zone_prepare(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) -> bool {
        let (id, sector, len) = (self.bios[bio].id, self.bios[bio].sector, u64::from(self.bios[bio].nr_sectors));
        let append = self.bios[bio].op == Op::ZoneAppend;
        let offset = self.zone_offset(dev, sector);
        let capacity = self.zone_capacity(dev);
        let w = self.wplug(dev, zone).expect("plug exists");
        let refusal = if w.need_wp_update {
            Why::NeedWpUpdate { zone }
        } else if w.wp_offset >= capacity {
            Why::ZoneFull { zone }
        } else if append {
            let at = w.wp_offset;
            w.wp_offset += len;
            let b = &mut self.bios[bio];
            b.op = Op::Write;
            b.flags |= bflag::NOMERGE | bflag::EMULATES_ZONE_APPEND;
            b.moved_to(sector + at);
            return true;
        } else if offset != w.wp_offset {
            Why::OffPointer { zone, sector, wp_offset: w.wp_offset as u32 }
        } else {
            w.wp_offset += len;
            return true;
        };
        self.bus.because(id, refusal);
        if self.recovers() {
            self.zone_set_error(dev, zone);
            self.zone_schedule_recovery(dev);
        }
        false
    }

    /// Takes the next queued bio that passes prepare; those that do not end with EIO, alone.
    pub(super) fn zone_next_bio(&mut self, dev: DevIdx, zone: ZoneNo, who: u16) -> Option<Idx> {
        loop {
            let recovers = self.recovers();
            let w = self.wplug(dev, zone)?;
            let Some(bio) = w.bios.pop_front() else {
                w.plugged &= w.need_wp_update && recovers;
                return None;
            };
            let passes = self.zone_prepare(dev, zone, bio);
            if !passes && recovers {
                // The work that recovers the zone decides about it.
                self.wplug(dev, zone)?.bios.push_front(bio);
                return None;
            }
            self.trace_bio_as(bio, 0, Action::ZoneUnplug, 0, who);
            if passes {
                return Some(bio);
            }
            // No longer flagged, so no NEED_WP_UPDATE.
            self.zone_fail_queued(dev, zone, bio);
        }
    }

    /// `blk_zone_wplug_bio_work`
    pub(crate) fn zone_bio_work(&mut self, dev: DevIdx, zone: ZoneNo) {
        let Some(w) = self.wplug(dev, zone) else { return };
        w.work = false;
        if let Some(bio) = self.zone_next_bio(dev, zone, flag::KWORKER) {
            let pending = self.wplug(dev, zone).map_or(0, |w| w.bios.len() as u32);
            let id = self.bios[bio].id;
            self.bus.because(id, Why::Unplugged { zone, pending });
            self.issue_bio(dev, bio, Task::Work);
        }
        self.wplug_put(dev, zone);
    }

    /// `blk_zone_write_plug_init_request`: the request takes a reference and pulls in queued bios that continue it.
    pub(super) fn zone_init_request(&mut self, dev: DevIdx, rq: Idx) {
        let zone = self.rqs[rq].zone;
        self.rqs[rq].zone_write_plugging = true;
        let capacity = self.zone_capacity(dev);
        let merges = self.queue(dev).cfg.nomerges < 2;
        let w = self.wplug(dev, zone).expect("the bio holds a reference");
        w.refs += 1;
        w.in_flight = Some(rq);
        if !merges {
            return;
        }
        let (mut bios, mut sectors) = (0, 0);
        loop {
            let w = self.wplug(dev, zone).expect("plug exists");
            let Some(&bio) = w.bios.front() else { break };
            if w.wp_offset >= capacity || !self.may_append(rq, bio) {
                break;
            }
            let len = self.bios[bio].nr_sectors;
            let w = self.wplug(dev, zone).expect("plug exists");
            w.bios.pop_front();
            w.wp_offset += u64::from(len);
            self.append_bio(rq, bio);
            bios += 1;
            sectors += len;
        }
        if bios > 0 {
            let id = self.bios[self.rqs[rq].bio].id;
            self.bus.because(id, Why::PulledIn { zone, bios, sectors });
        }
    }

    /// `blk_zone_write_plug_bio_merged`: a bio joined a request that is under zone write plugging.
    pub(super) fn zone_bio_merged(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) {
        let len = u64::from(self.bios[bio].nr_sectors);
        self.bios[bio].flags |= bflag::ZONE_WRITE_PLUGGING;
        let w = self.wplug(dev, zone).expect("the request holds a reference");
        w.refs += 1;
        w.wp_offset += len;
    }

    /// `blk_zone_write_plug_bio_endio`
    pub(super) fn zone_bio_endio(&mut self, dev: DevIdx, bio: Idx, status: BlkStatus) {
        if self.bios[bio].flags & bflag::ZONE_WRITE_PLUGGING == 0 {
            return;
        }
        let b = &mut self.bios[bio];
        if b.flags & bflag::EMULATES_ZONE_APPEND != 0 {
            b.op = Op::ZoneAppend;
        }
        b.flags &= !(bflag::ZONE_WRITE_PLUGGING | bflag::EMULATES_ZONE_APPEND);
        let zone = self.zone_of(dev, self.bios[bio].sector);
        if status != BlkStatus::Ok {
            self.zone_write_failed(dev, zone);
        }
        self.wplug_put(dev, zone);
    }

    fn zone_write_failed(&mut self, dev: DevIdx, zone: ZoneNo) {
        if self.recovers() {
            self.zone_set_error(dev, zone);
            return;
        }
        self.zone_abort(dev, zone);
        if let Some(w) = self.wplug(dev, zone) {
            w.need_wp_update = true;
        }
    }

    // ---- recovery from errors, 6.10 to 6.12 ----

    /// `disk_zone_wplug_set_error`
    fn zone_set_error(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        if let Some(w) = wplugs.hash.get_mut(&zone)
            && !w.need_wp_update
        {
            w.need_wp_update = true;
            w.refs += 1;
            wplugs.errors.push_back(zone);
        }
    }

    /// `disk_zone_wplug_clear_error`: a reset or finish came before the work.
    fn zone_clear_error(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        if let Some(at) = wplugs.errors.iter().position(|z| *z == zone) {
            wplugs.errors.remove(at);
            if let Some(w) = wplugs.hash.get_mut(&zone) {
                w.plugged = w.in_flight.is_some();
            }
            self.wplug_put(dev, zone);
        }
    }

    /// kblockd_schedule_work(zone_wplugs_work)
    fn zone_schedule_recovery(&mut self, dev: DevIdx) {
        let delay = self.cfg.host.issue_ns;
        if !core::mem::replace(&mut self.queue(dev).wplugs.error_work, true) {
            self.bus.after(delay, Event::WplugErrors(dev));
        }
    }

    /// `disk_zone_wplugs_work`: asks the device where the zones with errors are written to, and goes on there.
    pub(crate) fn zone_recover(&mut self, dev: DevIdx) {
        self.queue(dev).wplugs.error_work = false;
        while let Some(zone) = self.queue(dev).wplugs.errors.pop_front() {
            self.zone_recover_one(dev, zone);
            self.wplug_put(dev, zone);
        }
    }

    /// `disk_zone_wplug_handle_error`
    fn zone_recover_one(&mut self, dev: DevIdx, zone: ZoneNo) {
        let capacity = self.zone_capacity(dev);
        let reported = self.devs[usize::from(dev)].media.zones().and_then(|z| z.get(zone));
        let wp = match reported.map(|z| (z.cond, z.wp)) {
            // They have no write pointer.
            Some((ZoneCond::Full | ZoneCond::Offline | ZoneCond::ReadOnly, _)) => capacity,
            Some((_, wp)) => wp,
            None => 0,
        };
        let Some(w) = self.wplug(dev, zone) else { return };
        w.need_wp_update = false;
        w.wp_offset = wp;
        let queued: Vec<Idx> = w.bios.drain(..).collect();
        // disk_zone_wplug_abort_unaligned: those go on that continue what is written.
        let mut next = wp;
        for bio in queued {
            let b = &self.bios[bio];
            let (append, len) = (b.op == Op::ZoneAppend, u64::from(b.nr_sectors));
            if next < capacity && (append || self.zone_offset(dev, b.sector) == next) {
                next += len;
                self.wplug(dev, zone).expect("the listing holds a reference").bios.push_back(bio);
            } else {
                self.zone_fail_queued(dev, zone, bio);
            }
        }
        let w = self.wplug(dev, zone).expect("the listing holds a reference");
        let bios = w.bios.len() as u32;
        w.plugged = bios > 0;
        self.bus.because(0, Why::Recovered { zone, wp_offset: wp as u32, bios });
        if bios == 0 {
            self.wplug_delist(dev, zone);
            if wp == 0 || wp >= capacity {
                self.wplug_over(dev, zone, 1);
            }
        } else if self.queue(dev).wplugs.worker.enabled {
            let wplugs = &mut self.queue(dev).wplugs;
            if let Some(w) = wplugs.hash.get_mut(&zone) {
                w.enlist(&mut wplugs.list, zone);
            }
            self.wake_worker(dev);
        } else {
            self.zone_schedule_work(dev, zone);
        }
    }

    /// `blk_zone_wplug_bio_io_error`: a queued bio fails alone.
    fn zone_fail_queued(&mut self, dev: DevIdx, zone: ZoneNo, bio: Idx) {
        self.bios[bio].flags &= !bflag::ZONE_WRITE_PLUGGING;
        self.end_without_request(bio, BlkStatus::IoErr);
        self.wplug_put(dev, zone);
    }

    // ---- ends ----

    /// `disk_zone_wplug_abort`: every queued bio ends with EIO.
    fn zone_abort(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        let Some(w) = wplugs.hash.get_mut(&zone) else { return };
        if w.bios.is_empty() {
            return;
        }
        w.plugged = false;
        let aborted: Vec<Idx> = w.bios.drain(..).collect();
        self.wplug_delist(dev, zone);
        self.bus.because(0, Why::Aborted { zone, bios: aborted.len() as u32 });
        for bio in aborted {
            self.zone_fail_queued(dev, zone, bio);
        }
    }

    /// The worker need not visit a plug that was emptied without it.
    fn wplug_delist(&mut self, dev: DevIdx, zone: ZoneNo) {
        let wplugs = &mut self.queue(dev).wplugs;
        let Some(w) = wplugs.hash.get_mut(&zone) else { return };
        if core::mem::take(&mut w.listed) {
            wplugs.list.retain(|z| *z != zone);
            self.wplug_put(dev, zone);
        }
    }

    /// `blk_zone_write_plug_finish_request`: lets the next bio go and notices a full zone.
    pub(super) fn zone_finish_request(&mut self, dev: DevIdx, rq: Idx) {
        let zone = self.rqs[rq].zone;
        let capacity = self.zone_capacity(dev);
        let recovers = self.recovers();
        let wplugs = &mut self.queue(dev).wplugs;
        let qd1 = wplugs.worker.enabled;
        let w = wplugs.hash.get_mut(&zone).expect("the request holds a reference");
        if w.in_flight == Some(rq) {
            w.in_flight = None;
        }
        let mut over = w.wp_offset == 0 || w.wp_offset >= capacity;
        if w.need_wp_update && recovers {
            over = false;
            self.zone_schedule_recovery(dev);
        } else if w.bios.is_empty() {
            w.plugged = false;
        } else if !qd1 {
            self.zone_schedule_work(dev, zone);
        }
        if qd1 {
            self.worker_bio_done(dev, rq);
        }
        if over {
            self.wplug_over(dev, zone, 1);
        }
        self.wplug_put(dev, zone);
    }

    /// Completion of reset, reset all or finish (success only): the position is known again and the plug is dead.
    pub(super) fn zone_mgmt_done(&mut self, dev: DevIdx, op: Op, zone: ZoneNo) {
        match op {
            Op::ZoneReset => self.zone_known(dev, zone, 0),
            Op::ZoneFinish => self.zone_known(dev, zone, self.zone_capacity(dev)),
            Op::ZoneResetAll => {
                let zones: Vec<ZoneNo> = self.queue(dev).wplugs.hash.iter().map(|(zone, _)| *zone).collect();
                for zone in zones {
                    self.zone_known(dev, zone, 0);
                }
            }
            _ => {}
        }
    }

    /// `disk_zone_wplug_set_wp_offset`: a zone that is empty or full now.
    fn zone_known(&mut self, dev: DevIdx, zone: ZoneNo, wp_offset: Sector) {
        self.zone_abort(dev, zone);
        if let Some(w) = self.wplug(dev, zone) {
            w.wp_offset = wp_offset;
            w.need_wp_update = false;
            self.zone_clear_error(dev, zone);
            self.wplug_over(dev, zone, 0);
        }
    }

    /// Report zones: a plug whose position was unknown takes the device's.
    pub(crate) fn zone_reported(&mut self, dev: DevIdx, zone: ZoneNo, wp: Sector) {
        if !self.recovers() && self.wplug(dev, zone).is_some_and(|w| w.need_wp_update) {
            self.zone_abort(dev, zone);
            if let Some(w) = self.wplug(dev, zone) {
                w.need_wp_update = false;
                w.wp_offset = wp;
            }
        }
    }

    /// Revalidation: a plug for every zone that is neither empty nor full.
    pub(crate) fn zone_revalidate(&mut self, dev: DevIdx) {
        if self.cfg.kernel.zone_ordering != ZoneOrdering::Zwplug {
            return;
        }
        let capacity = self.zone_capacity(dev);
        let d = &mut self.devs[usize::from(dev)];
        let (Some(q), Some(zones)) = (d.queue.as_mut(), d.media.zones()) else { return };
        for (zone, z) in zones.iter() {
            if z.wp > 0 && z.wp < capacity {
                q.wplugs.hash.insert(zone, Wplug { refs: 1, wp_offset: z.wp, ..Wplug::default() });
            }
        }
    }
}
