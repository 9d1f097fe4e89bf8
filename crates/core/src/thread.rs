//! Kernel threads that submit: of md, dm-crypt and blk-throttle.
//!
//! Models: `md_wakeup_thread` and raid5d (drivers/md, 7.1; md M.8, M.9), `dmcrypt_write` (md M.11), kthrotld (kernel 1.4).
//! Rule: one event is pending for a thread at most; it submits its list to the end, then asks its owner for more, and
//! closes its plug when there is none. A thread that sleeps in a submission goes on there.
//! Leaves out: worker groups of raid5, CPU contention.

use alloc::string::String;
use alloc::vec::Vec;

use crate::blk::bio::bflag;
use crate::blk::throttle::Verdict;
use crate::blk::{Ctx, Task};
use crate::config::{DeviceConfig, DeviceKind, DmTarget, MdLevel};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::trace::{Action, NO_ORIGIN, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::time::SimDuration;
use crate::units::{DevIdx, Op, SECTOR_BYTES};

/// Whose thread it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadKind {
    /// `md0_raid5`
    Md,
    /// `md0_resync`
    MdSync,
    /// A worker of `kcryptd`, which submits nothing itself.
    Crypt,
    /// `dmcrypt_write`
    CryptWrite,
    /// `kthrotld`
    Throttle,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    /// Whose.
    pub kind: ThreadKind,
    /// Which device's.
    pub dev: DevIdx,
    /// An event is pending.
    scheduled: bool,
    /// Asleep in a submission, or between two of its steps.
    in_submission: bool,
    /// Bios to submit next.
    pub todo: Fifo<Idx>,
    /// CPU time used and not yet passed, ns.
    pub debt: SimDuration,
}

impl ThreadKind {
    /// Trace flag that names it.
    pub fn who(self) -> u16 {
        match self {
            ThreadKind::Md => flag::MD_THREAD,
            ThreadKind::MdSync => flag::MD_SYNC,
            ThreadKind::Crypt | ThreadKind::CryptWrite => flag::CRYPT,
            ThreadKind::Throttle => flag::THROTTLE,
        }
    }
    /// Its name, where it belongs to this device.
    pub fn name(self, dev: &DeviceConfig) -> String {
        let level = match &dev.kind {
            DeviceKind::Md(m) if m.level == MdLevel::Raid6 => "_raid6",
            _ => "_raid5",
        };
        match self {
            ThreadKind::Md => [&dev.name, level].concat(),
            ThreadKind::MdSync => [&dev.name, "_resync"].concat(),
            ThreadKind::Crypt => "kcryptd".into(),
            ThreadKind::CryptWrite => "dmcrypt_write".into(),
            ThreadKind::Throttle => "kthrotld".into(),
        }
    }
    /// The thread that a record's flags name.
    pub fn of(flags: u16) -> Option<Self> {
        let submit = [ThreadKind::Md, ThreadKind::MdSync, ThreadKind::CryptWrite, ThreadKind::Throttle];
        submit.into_iter().find(|kind| flags & kind.who() != 0)
    }
}

impl Thread {
    /// Asleep.
    pub fn new(kind: ThreadKind, dev: DevIdx) -> Self {
        Self { kind, dev, scheduled: false, in_submission: false, todo: Fifo::new(), debt: 0 }
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.todo.capacity() * size_of::<Idx>()
    }
}

/// The threads a device brings.
pub fn of_device(dev: DevIdx, cfg: &DeviceConfig) -> Vec<Thread> {
    let own: &[ThreadKind] = match &cfg.kind {
        DeviceKind::Md(m) if matches!(m.level, MdLevel::Raid5 | MdLevel::Raid6) => match m.sync {
            Some(_) => &[ThreadKind::Md, ThreadKind::MdSync],
            None => &[ThreadKind::Md],
        },
        DeviceKind::Dm(d) if matches!(d.target, DmTarget::Crypt { .. }) => &[ThreadKind::Crypt, ThreadKind::CryptWrite],
        _ => &[],
    };
    let throttle = cfg.throttle.map(|_| ThreadKind::Throttle);
    own.iter().copied().chain(throttle).map(|kind| Thread::new(kind, dev)).collect()
}

impl Ctx<'_> {
    /// The thread of a device.
    pub(crate) fn thread_of(&self, dev: DevIdx, kind: ThreadKind) -> Option<u16> {
        self.threads.iter().position(|t| t.dev == dev && t.kind == kind).map(|n| n as u16)
    }

    /// Lets a thread run after `delay`, unless it will anyway.
    pub(crate) fn wake_thread(&mut self, n: u16, delay: SimDuration) {
        if !core::mem::replace(&mut self.threads[usize::from(n)].scheduled, true) {
            self.bus.after(delay, Event::Thread(n));
        }
    }

    /// `md_wakeup_thread` and the like.
    pub(crate) fn wake(&mut self, dev: DevIdx, kind: ThreadKind) {
        if let Some(n) = self.thread_of(dev, kind) {
            self.wake_thread(n, self.cfg.host.md_wake_ns);
        }
    }

    /// A thread's event.
    pub(crate) fn thread_run(&mut self, n: u16) {
        let at = usize::from(n);
        self.threads[at].scheduled = false;
        if self.threads[at].in_submission {
            return;
        }
        let t = self.slot(Task::Thread(n)).expect("threads have a state");
        let kind = self.threads[at].kind;
        if kind != ThreadKind::MdSync {
            self.start_plug(t);
        }
        loop {
            if let Some(bio) = self.threads[at].todo.pop_front() {
                self.threads[at].in_submission = true;
                let merges = self.bus.stats.nr_merges;
                let through = self.thread_submit(t, kind, bio);
                if kind == ThreadKind::Md && self.bus.stats.nr_merges == merges {
                    self.threads[at].debt += self.cfg.host.md_rq_ns;
                }
                if !through {
                    return;
                }
                self.threads[at].in_submission = false;
                continue;
            }
            let debt = core::mem::take(&mut self.threads[at].debt);
            if debt > 0 {
                self.wake_thread(n, debt);
                return;
            }
            let dev = self.threads[at].dev;
            let more = match kind {
                ThreadKind::Md => self.raid5d_next(n, dev),
                ThreadKind::MdSync => self.md_sync_next(n, dev),
                ThreadKind::Crypt => self.crypt_next(n, dev),
                ThreadKind::CryptWrite => self.crypt_write_next(n, dev),
                ThreadKind::Throttle => self.throttle_next(n, dev),
            };
            if !more {
                self.finish_plug(t);
                return;
            }
        }
    }

    fn thread_submit(&mut self, t: usize, kind: ThreadKind, bio: Idx) -> bool {
        match kind {
            // Parked bios passed the checks before they were held.
            ThreadKind::Throttle => self.submit_nocheck(t, bio, false),
            _ => {
                let who = self.who(Task::Thread((t - self.jobs.len()) as u16));
                self.trace_remap(bio, who);
                self.submit_noacct(t, bio)
            }
        }
    }

    /// A submission of the thread is through.
    pub(crate) fn thread_submitted(&mut self, n: u16) {
        self.threads[usize::from(n)].in_submission = false;
        self.thread_run(n);
    }

    /// `A`: a bio of a stacked device goes to the device below. `arg` = its sector on the device above, 0 for parity.
    pub(crate) fn trace_remap(&mut self, bio: Idx, who: u16) {
        let origin = self.bios[bio].origin;
        let from = if origin == NO_ORIGIN { 0 } else { origin };
        self.trace_bio_as(bio, 0, Action::Remap, from, who);
    }

    // ---- blk-throttle ----

    /// `blk_throtl_bio`: true if io.max holds the bio back; kthrotld submits it later.
    pub(crate) fn throttle_holds(&mut self, bio: Idx) -> bool {
        let now = self.bus.now;
        let b = &mut self.bios[bio];
        let (dev, write, bytes) = (b.dev, b.op != Op::Read, u64::from(b.nr_sectors) * SECTOR_BYTES);
        let Some(throttle) = self.devs[usize::from(dev)].throttle.as_mut() else { return false };
        let charge_bytes = b.flags & bflag::BPS_THROTTLED == 0;
        b.flags |= bflag::BPS_THROTTLED;
        if throttle.charge(now, write, bytes, charge_bytes, bio) == Verdict::Go {
            return false;
        }
        let due = throttle.next_time().unwrap_or(now).saturating_sub(now);
        self.bus.because(self.bios[bio].id, Why::Throttled { dev, kib: (bytes >> 10) as u32, ns: due });
        if let Some(n) = self.thread_of(dev, ThreadKind::Throttle) {
            self.wake_thread(n, due + self.cfg.host.md_wake_ns);
        }
        true
    }

    /// `throtl_pending_timer_fn`: what may go now is handed to the thread.
    fn throttle_next(&mut self, n: u16, dev: DevIdx) -> bool {
        let now = self.bus.now;
        let Some(throttle) = self.devs[usize::from(dev)].throttle.as_mut() else { return false };
        let bios = throttle.dispatch(now);
        let next = throttle.next_time();
        self.threads[usize::from(n)].todo.extend(bios.iter().copied());
        if bios.is_empty()
            && let Some(due) = next
        {
            self.wake_thread(n, due.saturating_sub(now));
        }
        !bios.is_empty()
    }
}
