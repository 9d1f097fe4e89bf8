//! One side of a session: pre-simulation with checkpoints, and the cursor at the current moment.
//!
//! Models: nothing.
//! Rule: going back is the latest checkpoint not after the target, and replay from there. At most one interval of
//! events is replayed, so a jump is short however long the run is.
//! Leaves out: the other side, speed and wall time ([`crate::Session`]).

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::stats::Stats;
use bioscope_core::time::SimTime;

use crate::cursor::Cursor;
use crate::overview::Overview;

/// Events between two checkpoints before thinning.
pub const CHECKPOINT_EVENTS: u64 = 5_000;

/// What a player shows. Recorded traces and lock scenarios are further kinds.
pub enum Run {
    /// A simulation, computed here.
    Simulated(Simulated),
}

/// A simulated run.
pub struct Simulated {
    /// Stands at the current moment.
    pub(crate) at: Cursor,
    /// Ascending; the first is the beginning.
    checkpoints: Vec<Cursor>,
    interval: u64,
    checkpoint_bytes: usize,
    max_checkpoint_bytes: usize,
    /// Runs ahead to the end, then goes.
    front: Option<Cursor>,
    overview: Overview,
    /// How far the run is known, ns; its duration when `end` is there.
    known: SimTime,
    end: Option<End>,
}

/// What is known once a run was simulated to its end.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// Time of the last event, ns.
    pub duration: SimTime,
    /// Trace records in all.
    pub records: u64,
    /// Engine events in all.
    pub events: u64,
    /// Hash of all records.
    pub hash: u64,
    /// Final figures.
    pub stats: Stats,
}

impl Simulated {
    /// At time 0, nothing known; keeps checkpoints of at most `max_checkpoint_bytes` together.
    pub fn new(cfg: Arc<SimConfig>, max_checkpoint_bytes: usize) -> Self {
        let start = Cursor::new(cfg);
        let checkpoint_bytes = start.bytes();
        Self {
            at: start.clone(),
            checkpoints: vec![start.clone()],
            interval: CHECKPOINT_EVENTS,
            checkpoint_bytes,
            max_checkpoint_bytes,
            front: Some(start),
            overview: Overview::default(),
            known: 0,
            end: None,
        }
    }

    /// Simulates at most `max_events` further towards the end.
    pub fn presimulate(&mut self, max_events: u64) {
        let Some(mut front) = self.front.take() else { return };
        for _ in 0..max_events {
            if front.events() >= self.last_checkpoint_events() + self.interval {
                self.keep(&front);
            }
            if !front.event(Some(&mut self.overview)) {
                self.known = front.sim.now();
                self.end = Some(End {
                    duration: front.sim.now(),
                    records: front.records(),
                    events: front.events(),
                    hash: front.hash(),
                    stats: front.sim.stats().clone(),
                });
                return;
            }
        }
        // An instant is known when all its events are.
        self.known = front.sim.now().saturating_sub(1);
        self.front = Some(front);
    }

    fn last_checkpoint_events(&self) -> u64 {
        self.checkpoints.last().map_or(0, Cursor::events)
    }

    fn keep(&mut self, front: &Cursor) {
        self.checkpoints.push(front.clone());
        self.checkpoint_bytes += front.bytes();
        while self.checkpoint_bytes > self.max_checkpoint_bytes && self.checkpoints.len() > 2 {
            let mut i = 0;
            self.checkpoints.retain(|_| {
                i += 1;
                i % 2 == 1
            });
            self.interval *= 2;
            self.checkpoint_bytes = self.checkpoints.iter().map(Cursor::bytes).sum();
        }
    }

    /// Stands where everything up to and including `time` has happened.
    pub fn seek(&mut self, time: SimTime) {
        let i = self.checkpoints.partition_point(|c| c.sim.now() <= time).saturating_sub(1);
        let ahead = self.at.sim.now() <= time && self.at.events() >= self.checkpoints[i].events();
        if !ahead {
            self.at.clone_from(&self.checkpoints[i]);
        }
        self.at.advance(time);
    }

    /// Stands where `n` records were shown and no event more than they need was handled. Clamped to the end.
    pub fn seek_step(&mut self, n: u64) {
        // A checkpoint that stands behind record n may have handled silent events after it.
        let i = self.checkpoints.partition_point(|c| c.records() < n).saturating_sub(1);
        if self.at.records() >= n || self.at.records() < self.checkpoints[i].records() {
            self.at.clone_from(&self.checkpoints[i]);
        }
        while self.at.records() < n && self.at.next_record() {}
    }

    /// Time of the first step of a submission after a time, up to another.
    pub fn next_step(&self, after: SimTime, until: SimTime) -> Option<SimTime> {
        self.at.clone().next_step(after, until)
    }

    /// Time of the last step of a submission before a time.
    pub fn last_step(&self, before: SimTime) -> Option<SimTime> {
        let until = before.checked_sub(1)?;
        let from = self.checkpoints.partition_point(|c| c.sim.now() < before);
        let later = self.checkpoints[..from].iter().rev().find_map(|c| {
            let (mut at, mut last) = (c.clone(), None);
            while let Some(time) = at.next_step(0, until) {
                last = Some(time);
            }
            last
        });
        later.or_else(|| self.checkpoints.first().filter(|c| c.starts_with_step()).map(|_| 0))
    }

    /// What is known of the whole run, once simulated to its end.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }
    /// How far the run is known, ns.
    pub fn known(&self) -> SimTime {
        self.known
    }
    /// Bytes completed over time, as far as known.
    pub fn overview(&self) -> &Overview {
        &self.overview
    }
    /// Engine events simulated ahead so far.
    pub fn events(&self) -> u64 {
        self.end.as_ref().map_or_else(|| self.front.as_ref().map_or(0, Cursor::events), |e| e.events)
    }
    /// How much of the run is simulated, 0 to 1, by the limits it stops at.
    pub fn fraction(&self) -> f64 {
        let Some(front) = &self.front else { return 1.0 };
        let cfg = front.sim.config();
        let total = |limit: Option<u64>, ramp: u64| limit.map_or(f64::INFINITY, |l| (l + ramp).max(1) as f64);
        let by_time = front.sim.now() as f64 / total(cfg.stop.runtime_ns, cfg.ramp.time_ns);
        let by_bytes = front.sim.stats().total_bytes as f64 / total(cfg.stop.bytes, cfg.ramp.bytes);
        by_time.max(by_bytes).min(0.99)
    }
    /// Bytes of all checkpoints, about.
    pub fn checkpoint_bytes(&self) -> usize {
        self.checkpoint_bytes
    }
}
