//! Settings that are written while I/O runs: `change=1.2s:zoned_qd1_writes:1,3s:sda.scheduler:bfq`.
//!
//! Models: `echo VALUE > /sys/block/sda/queue/NAME` at a time.
//! Rule: what a file of sysfs refuses whatever its queue is refused here, with its errno.
//! Leaves out: what depends on the queue (`check`), and how the kernel applies it; that is the simulator's.

use crate::attributes::{self, Takes};
use crate::diagnostic::{Diagnostic, nearest, shorten};
use crate::params::{KEYS, Key, Live, Param, find};
use crate::stack::{disk_name, disk_of};
use crate::value::{self, S, Value, print_seconds};

/// A write to an attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// When, ns.
    pub at: u64,
    /// Of which disk; `None` = of all.
    pub disk: Option<u8>,
    /// The setting.
    pub key: Key,
    /// What is written.
    pub value: Value,
}

/// Writes that a run may have.
pub const MAX_CHANGES: usize = 32;

impl Written {
    /// Canonical text: `1.2s:zoned_qd1_writes:1`.
    pub fn text(&self) -> String {
        let disk = self.disk.map_or_else(String::new, |n| disk_name(n) + ".");
        let row = Param::of(self.key);
        [&print_seconds(self.at), ":", &disk, row.key, ":", &row.print(&self.value)].concat()
    }
}

/// Settings that can be written while I/O runs.
pub fn live() -> impl Iterator<Item = Key> {
    KEYS.iter().copied().filter(|k| Param::of(*k).live == Live::Sysfs)
}

/// Reads a list; what is wrong is about the whole value, or a part of it, which its value is then.
pub fn parse(key: &str, text: &str) -> Result<Vec<Written>, Diagnostic> {
    let mut list: Vec<Written> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let w = one(key, part)?;
        if list.len() == MAX_CHANGES {
            let message = format!("more than {MAX_CHANGES} writes");
            return Err(Diagnostic::error(key, part, message));
        }
        // In order of time; what is written at the same time, as it stands.
        let at = list.iter().take_while(|other| other.at <= w.at).count();
        list.insert(at, w);
    }
    Ok(list)
}

/// Canonical text of a list.
pub fn print(list: &[Written]) -> String {
    list.iter().map(Written::text).collect::<Vec<_>>().join(",")
}

fn one(key: &str, part: &str) -> Result<Written, Diagnostic> {
    let bad = |message: String| Diagnostic::error(key, part, message);
    let mut pieces = part.splitn(3, ':');
    let (Some(time), Some(name), Some(text)) = (pieces.next(), pieces.next(), pieces.next()) else {
        return Err(bad("not of the form TIME:NAME:VALUE".into()).allow("such as 1.2s:zoned_qd1_writes:1"));
    };
    let at = match value::parse(S, time) {
        Ok(Value::Int(ns)) => ns,
        Ok(_) => 0,
        Err(p) => return Err(bad(["the time: ", &p.message()].concat()).allow("seconds, such as 1.2s or 5ms")),
    };
    let (instance, name) = match name.rsplit_once('.') {
        Some((instance, name)) => (Some(instance), name.trim()),
        None => (None, name.trim()),
    };
    let again = |name: &str| match instance {
        Some(instance) => [time, ":", instance, ".", name, ":", text].concat(),
        None => [time, ":", name, ":", text].concat(),
    };
    let disk = match instance {
        None => None,
        Some(instance) => match disk_of(instance.trim()) {
            Some(n) => Some(n),
            None => {
                let d =
                    bad(["no disk is called ", &shorten(instance)].concat()).allow("sda to sdbl, or no name for all");
                return Err(d.suggest([time, ":", name, ":", text].concat()));
            }
        },
    };
    let names = || live().map(|k| Param::of(k).key);
    let setting = find(name);
    let Some(k) = setting.filter(|k| Param::of(*k).live == Live::Sysfs) else {
        let d = match (attributes::find(name), setting) {
            (Some(file), _) if file.takes == Takes::Nothing => {
                bad([name, " is read-only, for root as well (EACCES)"].concat())
            }
            // A file whose name is another setting's here.
            (Some(attributes::Attribute { key: Some(k), .. }), _) => {
                let own = Param::of(*k).key;
                return Err(bad([name, " is the drive's: the file of that name is ", own].concat()).suggest(again(own)));
            }
            (Some(_), _) => bad([name, " can be written, but nothing here follows from it"].concat()),
            (None, Some(_)) => bad([name, " needs a new run"].concat()),
            (None, None) => bad([&shorten(name), ": there is no such file (ENOENT)"].concat()),
        };
        let d = d.allow(names().collect::<Vec<_>>().join(", "));
        return Err(match nearest(name, names()) {
            Some(near) => d.suggest(again(near)),
            None => d,
        });
    };
    let row = Param::of(k);
    // The attribute's own words have a blank where a setting's have an underscore.
    let plain = if k == Key::QueueWriteCache { text.trim().replace(' ', "_") } else { text.trim().into() };
    let value = row.parse(&plain).map_err(|d| {
        let shown = [&d.value, ": ", &d.message, " (EINVAL)"].concat();
        let with = |d: Diagnostic, near: &str| {
            let whole = again(name);
            d.suggest([&whole[..whole.len() - text.len()], near].concat())
        };
        let told = bad(shown).allow(d.allowed.into_string());
        match &d.suggestion {
            Some(near) if !near.contains(' ') => with(told, near),
            _ => told,
        }
    })?;
    let stands = matches!(k, Key::MaxSectorsKb | Key::WbtLatUsec);
    if value == Value::Auto && !stands {
        return Err(bad("auto cannot be written to a file".into()).allow(row.allowed()));
    }
    Ok(Written { at, disk, key: k, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_sorted_and_read_back() {
        for (text, canonical) in [
            ("3s:scheduler:bfq, 1.2s:zoned_qd1_writes:1", "1.2s:zoned_qd1_writes:1,3s:scheduler:bfq"),
            ("1s:sdb.nr_requests:32,1s:sda.nr_requests:16", "1s:sdb.nr_requests:32,1s:sda.nr_requests:16"),
            ("5ms:wbt_lat_usec:-1,6ms:wbt_lat_usec:2000", "0.005s:wbt_lat_usec:auto,0.006s:wbt_lat_usec:2ms"),
            ("0:queue_write_cache:write through", "0s:queue_write_cache:write_through"),
            ("1:max_sectors_kb:128,2:max_sectors_kb:0", "1s:max_sectors_kb:128,2s:max_sectors_kb:auto"),
            ("", ""),
        ] {
            let list = parse("change", text).unwrap();
            assert_eq!(print(&list), canonical);
            assert_eq!(parse("change", canonical).unwrap(), list);
        }
        assert_eq!(parse("change", &vec!["1s:nomerges:1"; 32].join(",")).map(|list| list.len()), Ok(32));
    }

    #[test]
    fn section_10_3_what_no_queue_takes_is_refused() {
        for (text, want) in [
            ("1s", "change=1s: not of the form TIME:NAME:VALUE (allowed: such as 1.2s:zoned_qd1_writes:1)"),
            ("x:nomerges:1", "change=x:nomerges:1: the time: not a number (allowed: seconds, such as 1.2s or 5ms)"),
            (
                "1s:sdx1.nomerges:1",
                "change=1s:sdx1.nomerges:1: no disk is called sdx1 (allowed: sda to sdbl, or no name for all); \
                 try 1s:nomerges:1",
            ),
            (
                "1s:nr_requests:many",
                "change=1s:nr_requests:many: many: not a number (EINVAL) (allowed: auto, 0 to 4294967295)",
            ),
            (
                "1s:scheduler:deadline",
                "change=1s:scheduler:deadline: deadline: no such value (EINVAL) \
                 (allowed: none, mq-deadline, kyber, bfq); try 1s:scheduler:mq-deadline",
            ),
        ] {
            assert_eq!(parse("change", text).unwrap_err().to_string(), want);
        }
        let refused = |text: &str| parse("change", text).unwrap_err().message;
        assert_eq!(refused("1s:max_segments:1"), "max_segments is read-only, for root as well (EACCES)");
        assert_eq!(refused("1s:iodepth:1"), "iodepth needs a new run");
        assert_eq!(refused("1s:read_ahead_kb:1"), "read_ahead_kb can be written, but nothing here follows from it");
        assert_eq!(refused("1s:zoned_qd1:1"), "zoned_qd1: there is no such file (ENOENT)");
        assert_eq!(
            refused("1s:write_cache:write back"),
            "write_cache is the drive's: the file of that name is queue_write_cache"
        );
        assert_eq!(refused("1s:async_depth:auto"), "auto cannot be written to a file");
        assert_eq!(refused(&vec!["1s:nomerges:1"; 33].join(",")), "more than 32 writes");
    }
}
