//! Settings that change while I/O runs.
//!
//! Models: writes to attributes of /sys/block/X/queue.
//! Rule: a write leaves what the attribute's store leaves.
//! Leaves out: how the kernel applies it; that is the simulator's.

use bioscope_core::config::{Change, Setting, SimConfig};
use bioscope_core::units::DevIdx;

use super::queue::{MAX_REQUESTS, MIN_REQUESTS};
use super::{Checker, clip};
use crate::diagnostic::{Diagnostic, Problems};
use crate::params::{Key, Param};
use crate::scenario::{Instance, Side, own_name};
use crate::stack::Stack;
use crate::value::{Value, print_seconds, print_time};

/// A live setting of a device as the simulator takes it: `None` for settings that need a new run.
pub fn live_change(at_ns: u64, dev: DevIdx, key: Key, v: &Value) -> Option<Change> {
    match (key, v) {
        (Key::ZonedQd1Writes, Value::Int(n)) => {
            Some(Change { at: at_ns, dev, setting: Setting::ZonedQd1Writes(*n == 1) })
        }
        (Key::NrRequests, Value::Int(n)) => Some(Change { at: at_ns, dev, setting: Setting::NrRequests(clip(*n)) }),
        (Key::AsyncDepth, Value::Int(n)) => Some(Change { at: at_ns, dev, setting: Setting::AsyncDepth(clip(*n)) }),
        _ => None,
    }
}

fn needs_new_run(name: &str, value: &str, at: &str) -> Diagnostic {
    let message = ["needs a new run: it cannot change at b.at=", at].concat();
    Diagnostic::error(name, value, message).suggest("b.at=0")
}

impl Checker<'_> {
    /// Run B's differences become changes at the time of the fork.
    pub(super) fn fork(&mut self, cfg: &mut SimConfig, at: u64) {
        let text = print_seconds(at);
        let own = self.s.own().filter(|own| own.side == Side::B).map(|own| (Some(own.of), own.key, own.value.clone()));
        let all = self.s.b().iter().map(|(key, v)| (None, *key, v.clone()));
        let (disks, stacked) = (self.stack().members(self.n(Key::RaidDisks)), self.stack() != Stack::None);
        // What one disk has of its own comes after what is said of all.
        for (of, key, v) in all.chain(own).collect::<Vec<_>>() {
            let name = own_name(Side::B, of, key);
            let value = Param::of(key).print(&v);
            if let Some(message) = self.no_effect(key) {
                self.problems.push(Diagnostic::note(&name, &value, message));
                continue;
            }
            let dev = match of {
                Some(Instance::Disk(n)) => n..(n + 1).min(disks),
                _ => 0..disks,
            };
            let v = self.stored(of, key, v);
            let own = |n: u8| stacked && self.s.own_of(Side::B, Instance::Disk(n), key).is_some();
            let changes: Vec<Change> = dev
                .filter(|n| of.is_some() || !own(*n))
                .filter_map(|n| live_change(at, DevIdx::from(n), key, &v))
                .collect();
            match live_change(at, 0, key, &v) {
                Some(_) => cfg.changes.extend(changes),
                None => self.problems.push(needs_new_run(&name, &value, &text)),
            }
        }
        let end = cfg.stop.runtime_ns.filter(|_| cfg.ramp.bytes == 0).map(|ns| ns + cfg.ramp.time_ns);
        if let Some(end) = end.filter(|end| at >= *end) {
            let message = format!("the run is over at {}, so nothing changes in run B", print_time(end));
            self.problems.push(Diagnostic::warning("b.at", &text, message));
        }
    }

    /// What a live write of run B leaves in the attribute: its checks are those of the start.
    fn stored(&mut self, of: Option<Instance>, key: Key, v: Value) -> Value {
        let mut b = Checker { s: self.s, side: Side::B, of, problems: Problems::default() };
        let stored = match (key, &v) {
            (Key::NrRequests | Key::AsyncDepth, Value::Auto) => return v,
            (Key::NrRequests, _) if self.is(Key::Scheduler, "none") => Value::Auto,
            (Key::NrRequests, _) => Value::Int(b.nr_requests(u64::MAX)),
            (Key::AsyncDepth, _) => {
                let nr = b.n(Key::NrRequests).clamp(MIN_REQUESTS, MAX_REQUESTS);
                Value::Int(b.async_depth(nr))
            }
            _ => return v,
        };
        for d in b.problems.into_list() {
            self.problems.push(d);
        }
        stored
    }
}
