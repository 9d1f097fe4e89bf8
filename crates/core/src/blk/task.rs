//! A task inside `submit_bio`: `current->bio_list` and `current->plug`.
//!
//! Models: `submit_bio_noacct` and its loops (block/blk-core.c, 7.1 and before; kernel 1.2, 1.4, 1.5).
//! Rule: what a step pushes goes first, lower devices before the same one, then the backlog that was set aside; a bio
//! reaches the next device only through these lists. A task that sleeps in a step goes on where it stopped.
//! Leaves out: a task's other life; workloads and threads have their own files.

use super::bio::bflag;
use super::plug::Plug;
use super::{Ctx, Task};
use crate::config::{BioListModel, SplitInsert};
use crate::event::Event;
use crate::fifo::Fifo;
use crate::observe::snapshot::JobState;
use crate::observe::trace::{Action, flag};
use crate::observe::why::Why;
use crate::slab::Idx;
use crate::units::{BioId, BlkStatus, DevIdx, JobIdx, Op, Sector};

/// The bio of a step as the step found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Current {
    /// Its number.
    pub id: BioId,
    /// Device.
    pub dev: DevIdx,
    /// Job.
    pub job: JobIdx,
    /// Operation.
    pub op: Op,
    /// Start.
    pub sector: Sector,
    /// Length.
    pub nr_sectors: u32,
    /// Where its data is on the workload's device.
    pub origin: Sector,
}

/// See the module.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TaskState {
    /// `current->bio_list` is set.
    pub active: bool,
    /// `bio_list[0]`: what this step pushed; between steps, all that waits.
    pub pushed: Fifo<Idx>,
    /// `bio_list[1]`: the backlog set aside during a step.
    pub backlog: Fifo<Idx>,
    /// The step that runs or was last.
    pub current: Option<Current>,
    /// Steps since the lists were last empty.
    pub step: u32,
    /// The submission entered a bio-based device.
    pub stacked: bool,
    /// `current->plug`
    pub plug: Option<Plug>,
    /// Tags it took in a row since it was last woken for one; `None` when it has waited for something else since.
    pub tags_taken: Option<u32>,
    /// This step opened the plug and closes it.
    own_plug: bool,
    /// The list of the last plug, kept for its memory.
    pub(super) spare: Fifo<Idx>,
    /// A write to an array that waits for a stripe.
    pub spread: Option<crate::md::Spreading>,
}

impl TaskState {
    /// Bytes of the backing memory, about.
    pub fn heap_bytes(&self) -> usize {
        let plug = self.plug.as_ref().map_or(0, |p| p.list.capacity() * 4 + p.stripes.capacity() * 8);
        (self.pushed.capacity() + self.backlog.capacity() + self.spare.capacity()) * size_of::<Idx>() + plug
    }
}

impl Ctx<'_> {
    /// Where the task's state is; a kworker and the zone worker submit to a queue directly and have none.
    pub(crate) fn slot(&self, task: Task) -> Option<usize> {
        match task {
            Task::Job(j) => Some(usize::from(j)),
            Task::Thread(n) => Some(self.jobs.len() + usize::from(n)),
            Task::Work | Task::Worker => None,
        }
    }
    pub(crate) fn task_of(&self, t: usize) -> Task {
        match t.checked_sub(self.jobs.len()) {
            Some(n) => Task::Thread(n as u16),
            None => Task::Job(t as JobIdx),
        }
    }
    /// Trace flags that name a task.
    pub(crate) fn who(&self, task: Task) -> u16 {
        match task {
            Task::Job(_) => 0,
            Task::Work => flag::KWORKER,
            Task::Worker => flag::WORKER,
            Task::Thread(n) => self.threads[usize::from(n)].kind.who(),
        }
    }

    /// `submit_bio_noacct`: checks, throttling, then the lists. False when the task sleeps or is not through.
    pub(crate) fn submit_noacct(&mut self, t: usize, bio: Idx) -> bool {
        if self.flushes_for_nothing(bio) {
            self.bio_endio(bio, BlkStatus::Ok);
            return true;
        }
        if let Some(status) = self.refuse(bio) {
            self.end_without_request(bio, status);
            return true;
        }
        self.throttle_holds(bio) || self.submit_nocheck(t, bio, false)
    }

    /// The remainder of a split: from 6.18 on it passes no checks again and goes to the head.
    pub(crate) fn resubmit(&mut self, t: usize, bio: Idx) {
        match self.cfg.kernel.split_insert {
            SplitInsert::Tail => self.submit_noacct(t, bio),
            SplitInsert::Head => self.throttle_holds(bio) || self.submit_nocheck(t, bio, true),
        };
    }

    /// Every device has a request queue: then `step_ns` is what a piece of a split bio takes.
    fn without_stack(&self) -> bool {
        self.cfg.devices.iter().all(|d| d.queue.is_some())
    }

    /// `submit_bio_noacct_nocheck`
    pub(crate) fn submit_nocheck(&mut self, t: usize, bio: Idx, split: bool) -> bool {
        self.qos_submitted(bio);
        if self.bios[bio].flags & bflag::TRACED == 0 {
            self.bios[bio].flags |= bflag::TRACED;
            let who = self.who(self.task_of(t));
            self.trace_bio_as(bio, 0, Action::Queue, 0, who);
        }
        // Below a stack a step that starts at a disk takes no time: its costs are those of the thread.
        let stacked = self.without_stack() || self.devs[usize::from(self.bios[bio].dev)].queue.is_none();
        let task = &mut self.tasks[t];
        if task.active {
            if split {
                task.pushed.push_front(bio)
            } else {
                task.pushed.push_back(bio)
            }
            return true;
        }
        task.active = true;
        task.step = 0;
        task.stacked = stacked;
        task.pushed.push_back(bio);
        self.run_loop(t)
    }

    /// `__submit_bio_noacct`: steps until the lists are empty. False when the task sleeps or its next step comes later.
    fn run_loop(&mut self, t: usize) -> bool {
        while let Some(bio) = self.next_bio(t) {
            if !self.step(t, bio) {
                return false;
            }
            self.step_done(t);
            if self.tasks[t].stacked && self.cfg.host.step_ns > 0 {
                self.bus.after(self.cfg.host.step_ns, Event::Step(t as u16));
                return false;
            }
        }
        let task = &mut self.tasks[t];
        task.active = false;
        task.current = None;
        true
    }

    /// Puts the lists together as the last step left them, and takes the first bio; the rest becomes the backlog.
    fn next_bio(&mut self, t: usize) -> Option<Idx> {
        let kernel = &self.cfg.kernel;
        let bios = &*self.bios;
        let task = &mut self.tasks[t];
        if let Some(last) = task.current
            && task.pushed.len() + task.backlog.len() > 1
        {
            let mut same = split_off_same(&mut task.pushed, |b| bios[b].dev == last.dev);
            if kernel.bio_list_model == BioListModel::OneList && kernel.split_insert == SplitInsert::Tail {
                task.pushed.append(&mut task.backlog);
            } else if !same.is_empty() && !task.backlog.is_empty() {
                let (same, older) = (same.len() as u32, task.backlog.len() as u32);
                self.bus.because(last.id, Why::BeforeBacklog { dev: last.dev, same, older });
            }
            task.pushed.append(&mut same);
        }
        task.pushed.append(&mut task.backlog);
        let bio = task.pushed.pop_front()?;
        core::mem::swap(&mut task.pushed, &mut task.backlog);
        task.step += 1;
        let b = &bios[bio];
        task.current = Some(Current {
            id: b.id,
            dev: b.dev,
            job: b.job,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            origin: b.origin,
        });
        Some(bio)
    }

    /// `__submit_bio`: one bio to its device, under a plug of the step's own if the task has none.
    fn step(&mut self, t: usize, bio: Idx) -> bool {
        if self.cfg.kernel.plug.per_step && self.start_plug(t) {
            self.tasks[t].own_plug = true;
        }
        let dev = self.bios[bio].dev;
        let task = self.task_of(t);
        match self.devs[usize::from(dev)].queue {
            Some(_) => self.blk_mq_submit_bio(dev, bio, task),
            None => self.stack_submit_bio(t, dev, bio),
        }
    }

    fn step_done(&mut self, t: usize) {
        if core::mem::take(&mut self.tasks[t].own_plug) {
            self.finish_plug(t);
        }
    }

    /// A task goes on after a sleep inside a step.
    pub(crate) fn resume(&mut self, task: Task) {
        if let Some(t) = self.slot(task) {
            self.step_done(t);
            // What else was split off comes a step later, as it does without a sleep.
            if self.cfg.host.step_ns > 0 && self.without_stack() {
                if let Task::Job(j) = task {
                    self.job(j).state = JobState::Running;
                }
                self.bus.after(self.cfg.host.step_ns, Event::Step(t as u16));
                return;
            }
            self.go_on(t);
        }
    }

    /// `Event::Step`: the next step of a submission, or another try of a write that waited for a stripe.
    pub(crate) fn step_event(&mut self, t: usize) {
        if self.tasks[t].spread.is_some() {
            if self.md_spread(t) {
                self.step_done(t);
                self.go_on(t);
            }
            return;
        }
        self.go_on(t);
    }

    fn go_on(&mut self, t: usize) {
        if let Task::Job(j) = self.task_of(t) {
            self.job(j).state = JobState::Running;
        }
        if self.run_loop(t) {
            match self.task_of(t) {
                Task::Job(j) => self.job_submitted(j),
                Task::Thread(n) => self.thread_submitted(n),
                Task::Work | Task::Worker => {}
            }
        }
    }

    /// The task sleeps, a job in this state: whatever its plug holds goes out first.
    pub(crate) fn sleep(&mut self, task: Task, state: JobState) {
        if let Some(t) = self.slot(task) {
            self.flush_plug(t, true);
        }
        if let Task::Job(j) = task {
            self.job(j).state = state;
        }
    }
}

/// Takes the bios for the same device out of a list; both keep their order.
fn split_off_same(list: &mut Fifo<Idx>, is_same: impl Fn(Idx) -> bool) -> Fifo<Idx> {
    let (same, lower) = core::mem::take(list).into_iter().partition(|bio| is_same(*bio));
    *list = lower;
    same
}
