//! From what was asked for to a run that can exist, or everything that is in the way, at once.
//!
//! Models: the checks of fio (zbd ranges, time_based), of sysfs stores (nr_requests, async_depth, max_sectors_kb, md's
//! attributes), of mdadm (members and layouts of a level), and of Linux 7.1 queue limits for AHCI, mpi3mr and null_blk.
//! Rule: errors are worlds that cannot exist; what the kernel would change silently is a warning that says so.
//! Leaves out: bounds of single values; `Param::parse` has refused those already.

mod devices;
mod estimate;
mod jobs;
mod kernel;
mod limits;
mod live;
mod queue;

pub use estimate::estimate_events;
pub use limits::MAX_SHOWN_EVENTS;
pub use live::setting;

use bioscope_core::config::{Ramp, SimConfig, Stop, ZoneShape};
use bioscope_core::units::{DevIdx, SECTOR_BYTES};

use crate::diagnostic::{Diagnostic, Problems};
use crate::drive::Drive;
use crate::params::{KEYS, Key, Param, STACKED};
use crate::scenario::{Instance, Scenario, Side, own_name};
use crate::stack::{Stack, disk_name};
use crate::value::{Value, print_seconds};

/// Logical and physical block of the built-in drives, bytes.
const BLOCK_BYTES: u64 = 4096;
const KIB: u64 = 1 << 10;
/// A stripe of raid456 on one member, bytes.
const STRIPE_BYTES: u64 = 4096;

/// The configuration of one side, or all errors.
pub fn validate(s: &Scenario, side: Side) -> Result<SimConfig, Vec<Diagnostic>> {
    match check(s, side) {
        (Some(cfg), _) => Ok(cfg),
        (None, problems) => Err(problems.into_iter().filter(Diagnostic::is_error).collect()),
    }
}

/// The configuration of one side if there is no error, and everything worth saying about it. A run B that forks is
/// A's configuration and the changes at the time of the fork.
pub fn check(s: &Scenario, side: Side) -> (Option<SimConfig>, Vec<Diagnostic>) {
    let fork = s.fork.filter(|_| side == Side::B);
    let side = if fork.is_some() { Side::A } else { side };
    let mut c = Checker { s, side, of: None, problems: Problems::default() };
    let mut cfg = c.config();
    c.unused();
    c.sweeps();
    c.live(&mut cfg, fork);
    if !c.problems.has_errors() {
        c.too_many_pieces(&cfg);
        c.never_let_through(&cfg);
    }
    if c.problems.has_errors() {
        return (None, c.problems.into_list());
    }
    let events = estimate_events(&cfg);
    if events > MAX_SHOWN_EVENTS {
        c.too_long(&cfg, events);
    }
    (Some(cfg), c.problems.into_list())
}

/// Both sides: A, B if there is one, and the diagnostics of both, none twice.
pub fn check_all(s: &Scenario) -> (Option<SimConfig>, Option<SimConfig>, Vec<Diagnostic>) {
    let (a, mut problems) = check(s, Side::A);
    if !s.has_b() {
        return (a, None, problems);
    }
    let (b, more) = check(s, Side::B);
    for d in more {
        if !problems.contains(&d) {
            problems.push(d);
        }
    }
    (a, b, problems)
}

fn without(key: Key, words: &str) -> String {
    if (key, words) == STACKED[0] {
        return "has no effect without a stack".into();
    }
    ["has no effect without ", Param::of(key).key, "=", &words.replace('|', " or ")].concat()
}

/// Settings of I/O that zonemode=zbd does not have.
const LINEAR_ONLY: [Key; 16] = [
    Key::Bios,
    Key::Nowait,
    Key::IodepthLow,
    Key::CompleteMin,
    Key::CompleteMax,
    Key::Rate,
    Key::RateIops,
    Key::Thinktime,
    Key::ThinktimeSpin,
    Key::ThinktimeBlocks,
    Key::Bssplit,
    Key::RandomDistribution,
    Key::Norandommap,
    Key::CmdprioPercentage,
    Key::CmdprioClass,
    Key::Cmdprio,
];

/// The device jobs submit to.
struct Target {
    dev: DevIdx,
    sectors: u64,
    block: u64,
    /// Zones of the device, or of the disk below it.
    zones: Option<ZoneShape>,
}

struct Checker<'a> {
    s: &'a Scenario,
    side: Side,
    /// The job or disk whose settings are looked at; `None` = what is said of all.
    of: Option<Instance>,
    problems: Problems,
}

impl Checker<'_> {
    fn value(&self, key: Key) -> &Value {
        self.s.value_of(self.side, self.of, key)
    }

    fn resolved(&self, key: Key) -> Value {
        self.s.resolved_of(self.side, self.of, key)
    }

    /// The number in effect.
    fn n(&self, key: Key) -> u64 {
        match self.resolved(key) {
            Value::Int(n) | Value::Zones(n) => n,
            _ => 0,
        }
    }

    /// The number in effect, for fields of 32 bits (every such row's bounds fit).
    fn n32(&self, key: Key) -> u32 {
        u32::try_from(self.n(key)).unwrap_or(u32::MAX)
    }

    fn on(&self, key: Key) -> bool {
        self.n(key) != 0
    }

    fn word(&self, key: Key) -> String {
        Param::of(key).print(self.value(key))
    }

    fn is(&self, key: Key, word: &str) -> bool {
        self.word(key) == word
    }

    /// The key as the user wrote it.
    fn name(&self, key: Key) -> String {
        if let Some(own) = self.of.and_then(|of| self.s.own_of(self.side, of, key)) {
            return own.name();
        }
        let own = self.side == Side::B && self.s.b_value(key).is_some();
        own_name(if own { Side::B } else { Side::A }, None, key)
    }

    fn error(&self, key: Key, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(&self.name(key), &self.word(key), message)
    }

    fn warning(&self, key: Key, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(&self.name(key), &self.word(key), message)
    }

    fn drive_kind(&self) -> Drive {
        self.s.drive(self.side, self.of)
    }

    fn stack(&self) -> Stack {
        self.s.stack(self.side)
    }

    /// The bytes in effect, in sectors.
    fn sectors(&self, key: Key) -> u64 {
        self.n(key) / SECTOR_BYTES
    }

    /// Said of this side itself: not what run B or a disk takes over.
    fn is_given(&self, key: Key) -> bool {
        match self.of.and_then(|of| self.s.own_of(self.side, of, key)) {
            Some(own) => own.side == self.side,
            None if self.side == Side::B => self.s.b_value(key).is_some(),
            None => self.s.is_changed(key),
        }
    }

    fn config(&mut self) -> SimConfig {
        let mut devices = self.disks();
        let faults = self.faults(&devices);
        let wake_faults = self.wake_faults(&devices);
        let target = self.target(&mut devices);
        let mut jobs = match self.word(Key::Workload).as_str() {
            "writeback" => self.writeback(&target).into_iter().collect(),
            "none" => {
                if !self.on_check() {
                    let d = self.error(Key::Workload, "nothing would happen: nobody submits and no check runs");
                    self.problems.push(d.suggest("sync_action=check"));
                }
                if self.n(Key::RampSize) > 0 {
                    let d = self.error(Key::RampSize, "nobody submits, so the ramp would not end");
                    self.problems.push(d.suggest("0"));
                }
                Vec::new()
            }
            _ => self.jobs(&target),
        };
        let fill = self.first_fill(&jobs);
        jobs.extend(self.pass_through());
        if let Some(drive) = devices[0].disk_mut().filter(|d| d.profile.zoned) {
            drive.first_fill = fill;
        }
        let some = |n: u64| (n > 0).then_some(n);
        SimConfig {
            seed: self.n(Key::Seed),
            stop: Stop { runtime_ns: some(self.n(Key::Runtime)), bytes: some(self.n(Key::IoSize)) },
            ramp: Ramp { time_ns: self.n(Key::RampTime), bytes: self.n(Key::RampSize) },
            kernel: self.kernel(),
            host: self.host(),
            devices,
            jobs,
            changes: Vec::new(),
            faults,
            wake_faults,
        }
    }

    /// Why a setting has no effect here.
    fn no_effect(&self, key: Key) -> Option<String> {
        if let Some((k, words)) = self.s.missing(self.side, key) {
            return Some(without(*k, words));
        }
        let zbd = self.is(Key::Workload, "fio") && self.zbd();
        match key {
            Key::MaxOpenZones if !zbd => Some(without(Key::Zonemode, "zbd")),
            key if zbd && LINEAR_ONLY.contains(&key) => Some(without(Key::Zonemode, "none")),
            _ => None,
        }
    }

    /// Notes for settings that were given but mean nothing here.
    fn unused(&mut self) {
        for &key in KEYS {
            let given = match self.side {
                Side::A => self.s.is_changed(key),
                Side::B => self.s.b_value(key).is_some() || self.s.is_changed(key),
            };
            // A refused write has been told as an error.
            let refused = key == Key::AsyncDepth && self.is_given(key);
            if given
                && !refused
                && let Some(message) = self.no_effect(key)
            {
                let d = Diagnostic::note(&self.name(key), &self.word(key), message);
                self.problems.push(d);
            }
        }
        // Jobs and disks that are not there, each said once.
        let (jobs, disks) = (self.numjobs(), self.stack().members(self.n(Key::RaidDisks)));
        let mut said = None;
        for own in self.s.own_edits().filter(|own| own.side <= self.side || self.s.fork.is_some()) {
            let (key, n, count) = match own.of {
                Instance::Job(n) => (Key::Numjobs, n, jobs),
                Instance::Disk(n) => (Key::RaidDisks, u16::from(n), u64::from(disks)),
            };
            if u64::from(n) < count || said == Some((own.side, own.of)) {
                continue;
            }
            said = Some((own.side, own.of));
            let (name, value) = (own.name(), own.text());
            if let Some((k, words)) = self.s.missing(self.side, key) {
                self.problems.push(Diagnostic::note(&name, &value, without(*k, words)));
                continue;
            }
            let (what, last) = match own.of {
                Instance::Job(_) => ("job", ["job", &(count - 1).to_string()].concat()),
                Instance::Disk(_) => ("disk", disk_name(disks - 1)),
            };
            let message = ["there is no such ", what, ": the last is ", &last].concat();
            let d = Diagnostic::warning(&name, &value, message);
            self.problems.push(d.suggest([Param::of(key).key, "=", &(u32::from(n) + 1).to_string()].concat()));
        }
    }

    /// Sweeps that cannot be crossed, and a fork of nothing.
    fn sweeps(&mut self) {
        let first = self.s.sweep();
        if let Some(second) = &self.s.sweep2 {
            let text = second.text();
            if first.is_none() {
                let d = Diagnostic::warning("sw2", &text, "there is no first sweep");
                self.problems.push(d.suggest(format!("sw={text}")));
            } else if first.is_some_and(|first| first.key == second.key) {
                self.problems.push(Diagnostic::warning("sw2", &text, "sweeps the same setting as sw"));
            }
        }
        if let Some(at) = self.s.fork
            && !self.s.has_b()
        {
            let d = Diagnostic::warning("b.at", &print_seconds(at), "nothing differs in run B from then on");
            self.problems.push(d.suggest("b.zoned_qd1_writes=1"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use bioscope_core::sim::Simulation;

    use crate::preset::PRESETS;

    fn events(cfg: &SimConfig) -> u64 {
        let mut sim = Simulation::new(Arc::new(cfg.clone()));
        sim.advance(u64::MAX, 10 * MAX_SHOWN_EVENTS, &mut ());
        sim.events()
    }

    #[test]
    fn the_estimate_is_above_the_truth_and_near_it() {
        for p in PRESETS {
            let cfg = validate(&Scenario::of(p), Side::B).unwrap();
            let (estimate, truth) = (estimate_events(&cfg), events(&cfg));
            assert!(truth <= estimate && estimate <= 4 * truth, "{}: {estimate} for {truth}", p.name);
            assert!(truth <= MAX_SHOWN_EVENTS);
        }
    }

    #[test]
    fn what_can_be_written_is_what_the_table_calls_live() {
        use crate::params::Live;
        for &key in KEYS {
            let live = Param::of(key).live == Live::Sysfs;
            let of = |v: Value| setting(key, &v, 4096).is_some();
            assert_eq!(of(Value::Int(1)) || of(Value::Word(1)), live, "{}", Param::of(key).key);
        }
    }
}
