//! Settings that change while I/O runs.
//!
//! Models: writes to attributes of /sys/block/X/queue.
//! Rule: each write meets the queue as the writes before it left it; what it leaves is what the attribute's store leaves.
//! Leaves out: how the kernel applies it, and what only the running kernel knows; that is the simulator's.

use bioscope_core::config::{Change, ElevatorKind, Setting, SimConfig, ZoneOrdering};
use bioscope_core::units::{DevIdx, SECTOR_BYTES};

use super::Checker;
use crate::attributes::Queue;
use crate::changes::Written;
use crate::diagnostic::Diagnostic;
use crate::params::{Key, Live, Param};
use crate::scenario::{Instance, Side, own_name};
use crate::stack::{Stack, disk_name};
use crate::value::{Value, print_seconds, print_time};

/// A value as the simulator takes it; `None` for settings that need a new run, and for what cannot be written.
pub fn setting(key: Key, v: &Value, default_bytes: u64) -> Option<Setting> {
    let clip = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    Some(match (key, v) {
        (Key::ZonedQd1Writes, Value::Int(n)) => Setting::ZonedQd1Writes(*n == 1),
        (Key::NrRequests, Value::Int(n)) => Setting::NrRequests(clip(*n)),
        (Key::AsyncDepth, Value::Int(n)) => Setting::AsyncDepth(clip(*n)),
        (Key::Nomerges, Value::Int(n)) => Setting::Nomerges(*n as u8),
        (Key::MaxSectorsKb, Value::Int(bytes)) => Setting::MaxSectors(clip(bytes / SECTOR_BYTES)),
        (Key::MaxSectorsKb, Value::Auto) => Setting::MaxSectors(clip(default_bytes / SECTOR_BYTES)),
        (Key::WbtLatUsec, Value::Int(ns)) => Setting::WbtLat(Some(*ns)),
        (Key::WbtLatUsec, Value::Auto) => Setting::WbtLat(None),
        (Key::QueueWriteCache, Value::Word(i)) => Setting::WriteCache(*i == 0),
        (Key::Scheduler, Value::Word(0)) => Setting::Scheduler(ElevatorKind::None),
        (Key::Scheduler, Value::Word(1)) => Setting::Scheduler(ElevatorKind::MqDeadline),
        (Key::Scheduler, Value::Word(2)) => Setting::Scheduler(ElevatorKind::Kyber),
        (Key::Scheduler, Value::Word(3)) => Setting::Scheduler(ElevatorKind::Bfq),
        _ => return None,
    })
}

/// A write, and how messages call it.
struct Write {
    name: String,
    text: String,
    at: u64,
    disks: std::ops::Range<u8>,
    key: Key,
    value: Value,
}

impl Checker<'_> {
    /// Everything written during the run: `change`, and run B's differences where it forks.
    pub(super) fn live(&mut self, cfg: &mut SimConfig, fork: Option<u64>) {
        let disks = self.stack().members(self.n(Key::RaidDisks));
        let mut writes = self.changes(disks, fork);
        if let Some(at) = fork {
            writes.extend(self.fork(disks, at));
        }
        writes.sort_by_key(|w| w.at);
        let mut queues: Vec<Queue> = (0..disks).map(|n| self.queue_of(cfg, n)).collect();
        let end = cfg.stop.runtime_ns.filter(|_| cfg.ramp.bytes == 0).map(|ns| ns + cfg.ramp.time_ns);
        for w in writes {
            if let Some(end) = end.filter(|end| w.at >= *end) {
                let d = match w.name.starts_with("b.") && fork == Some(w.at) {
                    true => {
                        let message = format!("the run is over at {}, so nothing changes in run B", print_time(end));
                        Diagnostic::warning("b.at", &print_seconds(w.at), message)
                    }
                    false => {
                        let message = ["the run is over at ", &print_time(end), ", so this is never written"].concat();
                        Diagnostic::warning(&w.name, &w.text, message)
                    }
                };
                self.problems.push(d);
            }
            for n in w.disks.clone() {
                self.write(cfg, &mut queues[usize::from(n)], DevIdx::from(n), &w);
            }
        }
    }

    fn write(&mut self, cfg: &mut SimConfig, queue: &mut Queue, dev: DevIdx, w: &Write) {
        let Some(setting) = setting(w.key, &w.value, queue.default_bytes) else {
            let d = Diagnostic::error(&w.name, &w.text, "auto cannot be written to a file");
            self.problems.push(d);
            return;
        };
        match queue.store(setting) {
            Ok(stored) => {
                if let Some((severity, message)) = stored.note {
                    self.problems.push(Diagnostic::new(severity, &w.name, &w.text, message));
                }
                if let Some(other) = cfg.changes.iter().find(|c| c.at == w.at && c.dev == dev && excludes(c, setting)) {
                    let other =
                        if matches!(other.setting, Setting::Scheduler(_)) { "scheduler" } else { "nr_requests" };
                    let message = ["while ", other, " is being written the kernel refuses it (EBUSY)"].concat();
                    self.problems.push(Diagnostic::warning(&w.name, &w.text, message));
                }
                queue.apply(stored.value);
                cfg.changes.push(Change { at: w.at, dev, setting: stored.value });
            }
            Err(refusal) => {
                let d = Diagnostic::error(&w.name, &w.text, refusal.message());
                let near = refusal.suggest.map(|near| match w.text.rfind(':') {
                    // One write of a list: another setting, or the same write with another value.
                    Some(colon) if !near.contains('=') => [&w.text[..=colon], &near].concat(),
                    _ => near,
                });
                self.problems.push(near.iter().fold(d, |d, near| d.suggest(near)));
            }
        }
    }

    /// The queue of a disk as it starts.
    fn queue_of(&mut self, cfg: &SimConfig, n: u8) -> Queue {
        let device = &cfg.devices[usize::from(n)];
        let of = (self.stack() != Stack::None).then_some(Instance::Disk(n));
        let default_bytes = match self.s.auto(self.side, of, Key::MaxSectorsKb) {
            Value::Int(bytes) => bytes,
            _ => 0,
        };
        self.of = of;
        let queue = Queue {
            cfg: device.queue,
            zoned: device.zones().is_some(),
            plugs: cfg.kernel.zone_ordering == ZoneOrdering::Zwplug,
            max_hw_bytes: self.s.max_hw_bytes(self.side, of),
            default_bytes,
            release: self.release(),
            owner: self.depth_owner(),
            only_none: self.only_none(),
        };
        self.of = None;
        queue
    }

    /// What `change` says. A fork's own list follows that of run A from the fork on.
    fn changes(&mut self, disks: u8, fork: Option<u64>) -> Vec<Write> {
        let list = |v: &Value| match v {
            Value::Changes(list) => list.clone(),
            _ => Vec::new(),
        };
        let own = fork.and_then(|at| Some((at, list(self.s.b_value(Key::Change)?))));
        let mut all: Vec<(String, Written)> =
            list(self.value(Key::Change)).into_iter().map(|w| (self.name(Key::Change), w)).collect();
        if let Some((at, of_b)) = own {
            let name = own_name(Side::B, None, Key::Change);
            all.retain(|(_, w)| w.at < at);
            if let Some(early) = of_b.iter().find(|w| w.at < at) {
                let message = ["run B is run A until b.at=", &print_seconds(at)].concat();
                let later = Written { at, ..early.clone() }.text();
                self.problems.push(Diagnostic::error(&name, &early.text(), message).suggest(later));
            }
            all.extend(of_b.into_iter().map(|w| (name.clone(), w)));
        }
        let mut writes = Vec::new();
        for (name, w) in all {
            let text = w.text();
            let disks = match w.disk {
                Some(n) if n >= disks => {
                    let message = ["there is no such disk: the last is ", &disk_name(disks - 1)].concat();
                    let all = Written { disk: None, ..w }.text();
                    self.problems.push(Diagnostic::error(&name, &text, message).suggest(all));
                    continue;
                }
                Some(n) => n..n + 1,
                None => 0..disks,
            };
            writes.push(Write { name, text, at: w.at, disks, key: w.key, value: w.value });
        }
        writes
    }

    /// Run B's differences become writes at the time of the fork.
    fn fork(&mut self, disks: u8, at: u64) -> Vec<Write> {
        let own = self.s.own().filter(|own| own.side == Side::B).map(|own| (Some(own.of), own.key, own.value.clone()));
        let all = self.s.b().iter().map(|(key, v)| (None, *key, v.clone()));
        let stacked = self.stack() != Stack::None;
        let mut writes = Vec::new();
        // What one disk has of its own comes after what is said of all.
        for (of, key, value) in all.chain(own).filter(|(_, key, _)| *key != Key::Change).collect::<Vec<_>>() {
            let (name, text) = (own_name(Side::B, of, key), Param::of(key).print(&value));
            if Param::of(key).live == Live::No {
                self.problems.push(match self.no_effect(key) {
                    Some(message) => Diagnostic::note(&name, &text, message),
                    None => {
                        let message = ["needs a new run: it cannot change at b.at=", &print_seconds(at)].concat();
                        Diagnostic::error(&name, &text, message).suggest("b.at=0")
                    }
                });
                continue;
            }
            let range = match of {
                Some(Instance::Disk(n)) => n.min(disks)..(n + 1).min(disks),
                _ => 0..disks,
            };
            let others = |n: u8| of.is_none() && stacked && self.s.own_of(Side::B, Instance::Disk(n), key).is_some();
            for n in range.filter(|n| !others(*n)) {
                let (name, text, value) = (name.clone(), text.clone(), value.clone());
                writes.push(Write { name, text, at, disks: n..n + 1, key, value });
            }
        }
        writes
    }
}

/// Two writes at the same time of which the later one finds the lock taken (kernel 3.3, 8.3).
fn excludes(earlier: &Change, later: Setting) -> bool {
    matches!(
        (earlier.setting, later),
        (Setting::NrRequests(_), Setting::NrRequests(_) | Setting::Scheduler(_))
            | (Setting::Scheduler(_), Setting::NrRequests(_))
    )
}
