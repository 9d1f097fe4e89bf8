//! Laws that hold for every run: over random lists of bios with faults and zone commands, and over random fio and
//! writeback jobs, on random queues.

mod common;

use std::collections::HashMap;
use std::sync::Arc;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, TraceHash, TraceRecord, TraceSink};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_core::units::{BlkStatus, Op};
use common::*;

fn random_machine(d: &mut Dice) -> SimConfig {
    let mut cfg = config();
    cfg.seed = d.below(1 << 20);
    cfg.kernel.dead_plug_revive = d.flip();
    let q = cfg.devices[0].queue.as_mut().unwrap();
    q.elevator = d.pick(&[ElevatorKind::None, ElevatorKind::MqDeadline, ElevatorKind::Kyber, ElevatorKind::Bfq]);
    q.queue_depth = d.pick(&[1, 2, 32]);
    q.nr_requests = d.pick(&[4, 8, 64]);
    q.async_depth = d.pick(&[1, 3, 64]).min(q.nr_requests);
    q.nomerges = d.pick(&[0, 0, 1, 2]);
    q.zoned_qd1_writes = d.flip();
    q.tag_alloc = d.pick(&[TagAlloc::Hint, TagAlloc::RoundRobin]);
    q.max_sectors = d.pick(&[64, 2048, 8192]);
    let drive = cfg.devices[0].disk_mut().unwrap();
    let p = Arc::make_mut(&mut drive.profile);
    p.max_open_zones = d.pick(&[0, 3, 128]);
    p.zone_capacity_sectors = d.pick(&[ZONE, ZONE - 4096]);
    drive.write_cache = d.flip();
    drive.write_off_mode = d.pick(&[WriteOffMode::Nonvolatile, WriteOffMode::Media]);
    drive.zone_phase = d.pick(&[ZonePhase::ByLba, ZonePhase::Random]);
    cfg
}

/// A list that writes zones in order, with some writes off the pointer, reads and zone commands between.
fn random_list(d: &mut Dice, cfg: &mut SimConfig) {
    let zones = d.pick(&[1u32, 3, 6]);
    let mut wp = vec![0u64; zones as usize];
    let mut at = 0;
    let mut bios = Vec::new();
    for _ in 0..200 {
        at += d.below(3_000_000);
        let z = d.below(u64::from(zones)) as u32;
        let len = d.pick(&[8, 64, 2048, 10_000]);
        let mut b = match d.below(40) {
            0 => mgmt(at, z, d.pick(&[Op::ZoneReset, Op::ZoneFinish, Op::ZoneOpen, Op::ZoneClose])),
            1 => write(at, z, wp[z as usize] + 8, len),
            2 => write(at, 900, 0, len),
            3..6 => ListedBio { op: Op::Read, ..write(at, z, 0, len) },
            _ => {
                let b = write(at, z, wp[z as usize], len);
                wp[z as usize] += u64::from(len);
                b
            }
        };
        if b.op == Op::ZoneReset {
            wp[z as usize] = 0;
        }
        b.nowait = b.op == Op::Write && d.below(10) == 0;
        bios.push(b);
    }
    if d.flip() {
        cfg.faults.push(FaultRule {
            dev: 0,
            sector: u64::from(SEQ) * ZONE + d.below(20_000),
            nr_sectors: 64,
            from: d.below(100_000_000),
            until: 400_000_000,
            status: d.pick(&[BlkStatus::Medium, BlkStatus::IoErr]),
        });
    }
    list(cfg, bios);
}

fn random_jobs(d: &mut Dice, cfg: &mut SimConfig) {
    let runtime = d.pick(&[200_000_000, 1_500_000_000]);
    cfg.stop.runtime_ns = Some(runtime);
    let segment = d.pick(&[4096, 2 << 20]);
    if d.below(4) == 0 {
        cfg.jobs.push(JobConfig {
            name: "kworker".into(),
            dev: 0,
            workload: WorkloadConfig::Writeback(WritebackConfig {
                file_min: 1 << 20,
                file_max: 40 << 20,
                in_flight_limit: 100 << 20,
                first_zone: SEQ,
            }),
            prio: Default::default(),
            bio_segment_bytes: 11_703,
            start_ns: 0,
            cgroup: Default::default(),
        });
        return;
    }
    let zones = d.pick(&[1, 2, 9]);
    cfg.devices[0].disk_mut().unwrap().first_fill = FirstFill::Random { first: SEQ, count: zones, granularity: 2048 };
    let fio = FioZbdConfig {
        rw: d.pick(&[Rw::Write, Rw::RandWrite, Rw::RandWrite, Rw::Read, Rw::RandRead]),
        bs: d.pick(&[128, 2048]),
        iodepth: d.pick(&[1, 4, 33]),
        first_zone: SEQ,
        zones,
        max_open_zones: d.pick(&[0, 1, 4]),
        io_bytes: None,
        ..FioZbdConfig::default()
    };
    for _ in 0..d.pick(&[1, 2, 7]) {
        cfg.jobs.push(JobConfig {
            name: "fio".into(),
            dev: 0,
            workload: WorkloadConfig::FioZbd(fio.clone()),
            prio: Default::default(),
            bio_segment_bytes: segment,
            start_ns: 0,
            cgroup: Default::default(),
        });
    }
}

/// Watches the trace for what must never happen.
struct Laws {
    qd1: bool,
    queue_depth: usize,
    /// Requests between D and C: zone, is a write to a sequential zone, driver tag.
    at_drive: HashMap<u32, (u64, bool, u64)>,
    /// Q without an end yet, by root.
    queued: u64,
    /// Bios waiting in each zone's plug, by number.
    plugs: HashMap<u64, Vec<u32>>,
    /// Zones a command was sent to: commands that race with writes are the user's own doing (kernel 5.2).
    managed: Vec<u64>,
    last_time: u64,
    ended: u64,
}

impl Laws {
    fn new(cfg: &SimConfig) -> Self {
        let q = cfg.devices[0].queue.unwrap();
        Self {
            qd1: q.zoned_qd1_writes,
            queue_depth: q.queue_depth as usize,
            at_drive: HashMap::new(),
            queued: 0,
            plugs: HashMap::new(),
            managed: Vec::new(),
            last_time: 0,
            ended: 0,
        }
    }
}

impl TraceSink for Laws {
    fn record(&mut self, r: &TraceRecord) {
        assert!(r.time >= self.last_time, "time runs forward");
        self.last_time = r.time;
        let zone = r.sector / ZONE;
        match r.action {
            Action::Queue => {
                self.queued += 1;
                if r.op.is_zone_mgmt() {
                    self.managed.push(zone);
                }
            }
            Action::ZonePlug => self.plugs.entry(zone).or_default().push(r.bio),
            Action::ZoneUnplug => {
                let first = self.plugs.get_mut(&zone).map(|p| p.remove(0));
                assert_eq!(first, Some(r.bio), "FIFO within a plug");
            }
            // Pulled in: also from the front. (A bio that merged directly never was in the plug.)
            Action::BackMerge => {
                if let Some(p) = self.plugs.get_mut(&zone)
                    && p.contains(&r.bio)
                {
                    assert_eq!(p.remove(0), r.bio, "FIFO within a plug");
                }
            }
            Action::Fail => {
                if let Some(p) = self.plugs.get_mut(&zone) {
                    p.retain(|b| *b != r.bio);
                }
            }
            Action::Issue => {
                let seq_write = r.op == Op::Write && zone >= u64::from(SEQ);
                let serial = !self.managed.contains(&zone);
                for (z, w, tag) in self.at_drive.values() {
                    let both = seq_write && *w;
                    assert!(!(both && self.qd1), "one zone write request in flight on the disk");
                    assert!(!(both && serial && *z == zone), "one write request in flight in a zone");
                    assert_ne!(*tag, r.arg, "no tag twice");
                }
                self.at_drive.insert(r.rq, (zone, seq_write, r.arg));
                assert!(self.at_drive.len() <= self.queue_depth, "queue_depth holds");
            }
            Action::Complete => {
                assert!(self.at_drive.remove(&r.rq).is_some(), "C once, after D");
                self.ended += 1;
            }
            _ => {}
        }
    }
}

fn check(cfg: &SimConfig, what: &str) {
    let mut sim = Simulation::new(Arc::new(cfg.clone()));
    let mut laws = (Laws::new(cfg), TraceHash::default());
    assert_eq!(sim.advance(u64::MAX, 3_000_000, &mut laws), Advance::Done, "{what}: ends");
    let (laws, hash) = laws;
    // Conservation: everything that was queued ended, nothing is left anywhere.
    assert_eq!(sim.bios_in_flight(), 0, "{what}: bios");
    assert!(laws.at_drive.is_empty() && laws.plugs.values().all(Vec::is_empty), "{what}: drained");
    let s = sim.snapshot();
    let d = &s.devices[0];
    assert_eq!(d.tags.busy.iter().flatten().count(), 0, "{what}: tags");
    assert!(d.sched_tags.as_ref().is_none_or(|t| t.busy.iter().flatten().count() == 0 && t.waiters == 0));
    assert!(d.drive.cache.is_empty() && d.drive.waiting.is_empty(), "{what}: drive");
    assert!(s.jobs.iter().all(|j| j.locks.is_empty()), "{what}: zone locks");
    assert!(
        s.jobs.iter().all(|j| j.state == bioscope_core::observe::snapshot::JobState::Done),
        "{what}: {:?}",
        s.jobs.iter().map(|j| j.state).collect::<Vec<_>>()
    );
    let st = sim.stats();
    let zone_commands = match &cfg.jobs[0].workload {
        WorkloadConfig::List(l) => l.iter().filter(|b| b.op.is_zone_mgmt()).count() as u64,
        _ => laws.queued - st.total_ios - st.nr_errors,
    };
    assert!(st.total_ios + st.nr_errors + zone_commands >= laws.queued, "{what}: every bio ended");
    assert!(st.total_ios + st.nr_errors <= laws.queued, "{what}: no bio ended twice");
    let p = &cfg.devices[0].disk().unwrap().profile;
    for z in &d.drive.zones {
        assert!(
            z.wp_offset <= p.zone_capacity_sectors && z.media_offset <= z.wp_offset.max(p.zone_sectors),
            "{what}: wp"
        );
        assert!(z.zone < SEQ || z.media_offset == z.wp_offset, "{what}: all accepted data is on the medium");
    }
    for w in &d.zone_wplugs {
        assert!(w.bios.is_empty() && !w.plugged && !w.listed && w.in_flight.is_none() && w.refs == 1, "{what}: {w:?}");
    }
    // The same again gives the same trace.
    let mut again = Simulation::new(Arc::new(cfg.clone()));
    let mut h = TraceHash::default();
    again.advance(u64::MAX, u64::MAX, &mut h);
    assert_eq!(h, hash, "{what}: repeats");
}

#[test]
fn random_lists_keep_the_laws() {
    for seed in 0..400 {
        let mut d = Dice(seed);
        let mut cfg = random_machine(&mut d);
        random_list(&mut d, &mut cfg);
        check(&cfg, &format!("list {seed}"));
    }
}

#[test]
fn random_jobs_keep_the_laws() {
    for seed in 0..150 {
        let mut d = Dice(1000 + seed);
        let mut cfg = random_machine(&mut d);
        random_jobs(&mut d, &mut cfg);
        check(&cfg, &format!("jobs {seed}"));
    }
}

/// Clone is the save format: a clone taken at any event goes on as the original.
#[test]
fn clones_continue_alike() {
    for seed in 0..20 {
        let mut d = Dice(5000 + seed);
        let mut cfg = random_machine(&mut d);
        random_jobs(&mut d, &mut cfg);
        let cfg = Arc::new(cfg);
        let mut whole = Simulation::new(Arc::clone(&cfg));
        let mut all = TraceHash::default();
        whole.advance(u64::MAX, u64::MAX, &mut all);
        for _ in 0..5 {
            let mut sim = Simulation::new(Arc::clone(&cfg));
            let mut h = TraceHash::default();
            sim.advance(u64::MAX, d.below(whole.events().max(1)), &mut h);
            let (mut copy, mut copy_hash) = (sim.clone(), h);
            sim.advance(u64::MAX, u64::MAX, &mut h);
            copy.advance(u64::MAX, u64::MAX, &mut copy_hash);
            assert_eq!((h, copy_hash), (all, all), "seed {seed}");
        }
    }
}

/// Slicing does not matter: by events, by time, or whole.
#[test]
fn slices_do_not_matter() {
    let mut d = Dice(77);
    let mut cfg = random_machine(&mut d);
    random_jobs(&mut d, &mut cfg);
    let cfg = Arc::new(cfg);
    let hash = |slice: fn(&mut Simulation, &mut TraceHash) -> Advance| {
        let mut sim = Simulation::new(Arc::clone(&cfg));
        let mut h = TraceHash::default();
        while slice(&mut sim, &mut h) != Advance::Done {}
        h
    };
    let whole = hash(|s, h| s.advance(u64::MAX, u64::MAX, h));
    assert_eq!(whole, hash(|s, h| s.advance(u64::MAX, 7, h)));
    assert_eq!(whole, hash(|s, h| s.advance(s.now() + 1_234_567, u64::MAX, h)));
    assert!(whole.records > 100);
}
