//! Copies the state into a [`Snapshot`].
//!
//! Models: nothing.
//! Rule: reads only.
//! Leaves out: layout.

use alloc::vec::Vec;

use crate::blk::elevator::AnyElevator;
use crate::blk::tag::Tags;
use crate::config::WorkloadConfig;
use crate::observe::snapshot::*;
use crate::sim::{Simulation, State};
use crate::slab::Idx;
use crate::units::{DevIdx, JobIdx, ZoneNo};

struct View<'a> {
    sim: &'a Simulation,
    st: &'a State,
}

/// The whole simulator at this moment.
pub(crate) fn snapshot(sim: &Simulation) -> Snapshot {
    let v = View { sim, st: &sim.st };
    Snapshot {
        now: v.st.now,
        events: v.st.events,
        done: sim.next_time().is_none(),
        jobs: (0..v.st.jobs.len()).map(|j| v.job(j)).collect(),
        tasks: Vec::new(),
        devices: (0..v.st.devs.len()).map(|d| v.device(d)).collect(),
        stats: v.st.stats.clone(),
        why: v.st.why.iter().copied().collect(),
    }
}

impl View<'_> {
    fn zone(&self, dev: DevIdx, sector: u64) -> ZoneNo {
        self.sim.cfg.devices[usize::from(dev)].disk().map_or(0, |d| (sector / d.profile.zone_sectors) as ZoneNo)
    }

    fn bio(&self, i: Idx, stage: BioStage) -> BioView {
        let b = &self.st.bios[i];
        BioView {
            id: b.id,
            parent: b.root,
            job: b.job,
            op: b.op,
            sector: b.sector,
            nr_sectors: b.nr_sectors,
            zone: self.zone(b.dev, b.sector),
            dev: b.dev,
            origin: b.sector,
            q_time: b.q_time,
            stage,
        }
    }

    fn request(&self, i: Idx) -> RequestView {
        let r = &self.st.rqs[i];
        let b = &self.st.bios[r.bio];
        RequestView {
            id: r.id,
            bio: b.id,
            nr_bios: r.nr_bios,
            job: b.job,
            op: r.op,
            sector: r.sector,
            nr_sectors: r.nr_sectors,
            zone: r.zone,
            dev: r.dev,
            origin: b.sector,
            tag: r.tag,
            internal_tag: r.internal_tag,
            d_time: r.d_time,
        }
    }

    fn job(&self, j: usize) -> JobView {
        let (cfg, job) = (&self.sim.cfg.jobs[j], &self.st.jobs[j]);
        let iodepth = if let WorkloadConfig::FioZbd(f) = &cfg.workload { f.iodepth } else { 0 };
        JobView {
            name: cfg.name.clone(),
            state: job.state,
            iodepth,
            in_flight: job
                .in_flight
                .iter()
                .map(|i| BioView { sector: self.st.bios[*i].first_sector, ..self.bio(*i, self.stage(*i)) })
                .collect(),
            locks: self.st.fio.locks_of(j as JobIdx).collect(),
            bytes_in_flight: job.bytes_in_flight,
        }
    }

    /// Where the last part of a bio is.
    fn stage(&self, i: Idx) -> BioStage {
        let b = &self.st.bios[i];
        if b.flags & crate::blk::bio::bflag::ENTERED == 0 {
            return BioStage::Tag;
        }
        if b.flags & crate::blk::bio::bflag::ZONE_WRITE_PLUGGING != 0
            && let Some(q) = &self.st.devs[usize::from(b.dev)].queue
            && q.wplugs.hash.get(&self.zone(b.dev, b.sector)).is_some_and(|w| w.bios.contains(&i))
        {
            return BioStage::ZonePlug;
        }
        BioStage::Drive
    }

    fn tags(&self, t: &Tags, waiters: u32) -> TagsView {
        TagsView {
            depth: t.depth(),
            busy: t.holders().iter().map(|h| h.map(|rq| self.st.rqs[rq].zone)).collect(),
            bits_per_word: t.bits_per_word(),
            waiters,
        }
    }

    fn device(&self, d: usize) -> DeviceView {
        let dev = &self.st.devs[d];
        let name = self.sim.cfg.devices[d].name.clone();
        let drive = dev.media.disk().map(|d| d.view()).unwrap_or_default();
        let Some(q) = &dev.queue else {
            return DeviceView {
                name,
                zone_wplugs: Vec::new(),
                zone_wplugs_list: Vec::new(),
                worker: WorkerView::default(),
                elevator: ElevatorView::None { queued: Vec::new() },
                sched_tags: None,
                tags: TagsView::default(),
                dispatch: Vec::new(),
                frozen: false,
                drive,
                stats: DiskStats::default(),
                stripe_cache: None,
                throttled: 0,
            };
        };
        let waiters = q.nr_tag_waiters();
        let zone_wplugs = q
            .wplugs
            .hash
            .iter()
            .map(|(zone, w)| WplugView {
                zone: *zone,
                plugged: w.plugged,
                need_wp_update: w.need_wp_update,
                dead: w.dead,
                refs: w.refs,
                wp_offset: w.wp_offset,
                bios: w.bios.iter().map(|b| self.bio(*b, BioStage::ZonePlug)).collect(),
                in_flight: w.in_flight.map(|rq| self.request(rq)),
                listed: w.listed,
            })
            .collect();
        let requests = |it: &mut dyn Iterator<Item = Idx>| it.map(|rq| self.request(rq)).collect::<Vec<_>>();
        let elevator = match &q.elevator {
            AnyElevator::None(e) => ElevatorView::None { queued: requests(&mut e.iter()) },
            AnyElevator::MqDeadline(e) => {
                let (mut reads, mut writes, batching, starved) = e.view();
                ElevatorView::MqDeadline {
                    reads: requests(&mut reads),
                    writes: requests(&mut writes),
                    batching,
                    starved,
                }
            }
        };
        let with_sched = q.sched_tags.is_some();
        DeviceView {
            name,
            zone_wplugs,
            zone_wplugs_list: q.wplugs.list.iter().copied().collect(),
            worker: WorkerView { enabled: q.wplugs.worker.enabled, state: q.wplugs.worker.state },
            elevator,
            sched_tags: q.sched_tags.as_ref().map(|t| self.tags(t, waiters)),
            tags: self.tags(&q.tags, if with_sched { 0 } else { waiters }),
            dispatch: Vec::new(),
            frozen: q.frozen(),
            drive,
            stats: DiskStats::default(),
            stripe_cache: None,
            throttled: 0,
        }
    }
}
