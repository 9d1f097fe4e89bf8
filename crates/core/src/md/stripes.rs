//! Writes to raid5 and raid6, and their check, in the pipeline: who attaches, who submits, who waits.
//!
//! Models: `raid5_make_request`, `raid5_unplug`, `raid5d`, `ops_run_io`, `raid5_sync_request` (drivers/md/raid5.c, 7.1;
//! md M.2, M.8, M.9).
//! Rule: a writer attaches its blocks and leaves; its plug hands the stripes to raid5d, which alone submits to members.
//! What a stripe does next is decided in `raid5`.
//! Leaves out: worker groups, the write-intent bitmap.

use alloc::vec::Vec;

use super::array::{Md, Personality};
use super::raid5::{Attach, Output, STRIPE_SECTORS, Spread, Step, StripeIo};
use super::sync::Next;
use crate::blk::Ctx;
use crate::blk::bio::{Bio, EndIo, bflag};
use crate::event::Event;
use crate::observe::snapshot::JobState;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::thread::ThreadKind;
use crate::units::{BlkStatus, DevIdx, JobIdx, Op, SECTOR_BYTES};

/// A write to an array under way: its task waits for a stripe in the middle of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spreading {
    md: DevIdx,
    bio: Idx,
    spread: Spread,
}

impl Ctx<'_> {
    /// A write begins. False when it waits for a stripe.
    pub(super) fn raid5_write(&mut self, t: usize, md: DevIdx, bio: Idx) -> bool {
        self.account_bio(md, bio);
        let b = &self.bios[bio];
        let (sector, nr, sync) = (b.sector, b.nr_sectors, b.flags & bflag::SYNC != 0);
        let spread = self.raid5(md).begin(bio, sector, nr, sync);
        self.tasks[t].spread = Some(Spreading { md, bio, spread });
        self.md_spread(t)
    }

    /// `raid5_make_request`: attaches the blocks of the task's write. False when it waits for a stripe.
    pub(crate) fn md_spread(&mut self, t: usize) -> bool {
        let Some(mut s) = self.tasks[t].spread.take() else { return true };
        let Spreading { md, bio, .. } = s;
        let mut stripes = Vec::new();
        let mut refs = 0;
        let plugged = self.tasks[t].plug.is_some();
        let attach = self.raid5(md).attach(&mut s.spread, plugged.then_some(&mut stripes), &mut refs);
        self.bios[bio].remaining += refs;
        match self.tasks[t].plug.as_mut() {
            Some(plug) => plug.stripes.extend(stripes.into_iter().map(|stripe| (md, stripe))),
            None => self.wake(md, ThreadKind::Md),
        }
        if attach == Attach::Done {
            self.bio_part_done(bio, BlkStatus::Ok);
            return true;
        }
        let id = self.bios[bio].id;
        if attach == Attach::WaitStripe {
            let (active, size) = (self.raid5(md).active(), self.raid5(md).stripes());
            self.bus.because(id, Why::StripeCacheFull { dev: md, active, size });
        }
        self.md(md).waiters.push_back(t as u16);
        self.tasks[t].spread = Some(s);
        let task = self.task_of(t);
        self.sleep(task, JobState::WaitStripe);
        // What the sleep released may have freed nothing yet; the thread wakes the task.
        self.wake(md, ThreadKind::Md);
        false
    }

    /// `raid5_unplug`: the stripes a plug held back.
    pub(crate) fn md_unplug(&mut self, stripes: Vec<(DevIdx, u32)>, asleep: bool) {
        let mut rest = &stripes[..];
        while let Some((md, _)) = rest.first() {
            let n = rest.iter().take_while(|(dev, _)| dev == md).count();
            let who = if asleep { flag::SCHEDULE } else { 0 };
            self.trace_dev(*md, Action::Unplug, who, n as u64);
            let of_md: Vec<u32> = rest[..n].iter().map(|(_, stripe)| *stripe).collect();
            self.md_release(*md, &of_md);
            rest = &rest[n..];
        }
    }

    fn md_release(&mut self, md: DevIdx, stripes: &[u32]) {
        let mut wake = false;
        for stripe in stripes {
            wake |= self.raid5(md).release(*stripe);
        }
        if wake {
            self.wake(md, ThreadKind::Md);
        }
    }

    /// One stripe of raid5d's loop: its member bios are the thread's next submissions. False when the run is over.
    pub(crate) fn raid5d_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let mut out = Output::default();
        let step = self.raid5(dev).next(&mut out);
        for why in out.notes {
            self.bus.because(0, why);
        }
        for bio in out.ended {
            self.bio_part_done(bio, BlkStatus::Ok);
        }
        if out.synced > 0 {
            self.md_synced(dev, out.synced);
        }
        let bio_ns = self.cfg.host.md_bio_ns;
        for io in &out.ios {
            let bio = self.stripe_bio(dev, io);
            let thread = &mut self.threads[usize::from(n)];
            thread.todo.push_back(bio);
            thread.debt += bio_ns;
        }
        self.md_wake_waiters(dev);
        step == Step::Handled
    }

    /// A 4 KiB bio of a stripe (`ops_run_io`).
    fn stripe_bio(&mut self, dev: DevIdx, io: &StripeIo) -> Idx {
        self.ids.0 += 1;
        let cfg = self.md_cfg(dev);
        let (member, sector) = (cfg.members[usize::from(io.role)], io.sector + cfg.data_offset);
        let nr_sectors = STRIPE_SECTORS;
        self.bios.insert(Bio {
            id: self.ids.0,
            root: self.ids.0,
            dev: member,
            job: JobIdx::MAX,
            op: if io.write { Op::Write } else { Op::Read },
            flags: if io.sync && io.write { bflag::SYNC } else { 0 },
            sector,
            nr_sectors,
            first_sector: sector,
            first_nr_sectors: nr_sectors,
            origin: io.origin,
            prio: Default::default(),
            segment_bytes: nr_sectors * SECTOR_BYTES as u32,
            q_time: self.bus.now,
            issue_time: 0,
            acct_time: 0,
            end: EndIo::Stripe { md: dev, stripe: io.stripe, role: io.role },
            remaining: 1,
            status: BlkStatus::Ok,
            next: None,
        })
    }

    /// A member bio of a stripe ended (`raid5_end_read_request`, `raid5_end_write_request`).
    pub(crate) fn stripe_bio_done(&mut self, md: DevIdx, stripe: u32, role: u8, bio: &Bio) {
        if self.raid5(md).io_done(stripe, role, bio.op == Op::Write) {
            self.wake(md, ThreadKind::Md);
        }
    }

    /// Tasks whose stripe may be free now try again.
    fn md_wake_waiters(&mut self, dev: DevIdx) {
        for _ in 0..self.md(dev).waiters.len() {
            let Some(t) = self.md(dev).waiters.pop_front() else { return };
            let spread = self.tasks[usize::from(t)].spread.take();
            let ready = spread.as_ref().is_none_or(|s| self.raid5(dev).may_retry(&s.spread));
            self.tasks[usize::from(t)].spread = spread;
            match ready {
                true => self.bus.after(0, Event::Step(t)),
                false => self.md(dev).waiters.push_back(t),
            }
        }
    }

    /// One stripe of the sync thread. False when it waits: for time, for stripes, or for good.
    pub(crate) fn md_sync_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let (now, cost) = (self.bus.now, self.cfg.host.md_sync_ns);
        let stats = &self.devs[usize::from(dev)].stats;
        let (events, busy) = (stats.sectors[0] + stats.sectors[1], stats.in_flight > 0);
        if *self.stopped {
            return false;
        }
        let Md { sync: Some(sync), kind: Personality::Raid5(_, raid5), .. } = self.md(dev) else { return false };
        match sync.next(now, events, busy) {
            Next::Over | Next::WaitDone => false,
            Next::Sleep(ns) => {
                self.wake_thread(n, ns);
                false
            }
            Next::Stripe(sector) => match raid5.sync_request(sector) {
                None => {
                    sync.waits_for_stripe = true;
                    self.wake(dev, ThreadKind::Md);
                    false
                }
                Some(wake) => {
                    sync.handed_on();
                    self.threads[usize::from(n)].debt += cost;
                    if wake {
                        self.wake(dev, ThreadKind::Md);
                    }
                    true
                }
            },
        }
    }

    /// Stripes of the sync thread are through.
    fn md_synced(&mut self, dev: DevIdx, stripes: u32) {
        if self.bus.measuring {
            self.bus.stats.sync_sectors += u64::from(stripes * STRIPE_SECTORS);
            self.bus.stats.window_to = self.bus.now;
        }
        let Some(sync) = self.md(dev).sync.as_mut() else { return };
        if let Some(delay) = sync.stripes_done(stripes)
            && let Some(n) = self.thread_of(dev, ThreadKind::MdSync)
        {
            self.wake_thread(n, delay);
        }
    }
}
