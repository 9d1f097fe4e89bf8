//! What scripts read: a run and the table of parameters as JSON.
//!
//! Models: nothing; the shape of `run --json` is a public format: keys are added, never renamed.
//! Rule: units are in the key names (`_ns`, `_MBps` = 10^6 bytes/s); a figure without enough samples is null.
//! Leaves out: the validate report, whose rows `bioscope-lab` defines.

use bioscope_core::MODEL_VERSION;
use bioscope_core::observe::snapshot::DiskStats;
use bioscope_core::observe::stats::KindStats;
use bioscope_scenario::{Group, KEYS, Key, Live, PRESETS, Param, Side, Unit, profile};
use serde_json::{Map, Value, json};

use crate::fio::{Outcome, PERCENTILES, parts_ns};

/// One run: what was asked for (a link), and its figures.
pub fn run(o: &Outcome, link: &str, side: Side, config_hash: u64) -> Value {
    let s = o.stats;
    let mut percentiles = Map::new();
    for (p, name) in PERCENTILES {
        // "99.90" -> "99.9", "50.00" -> "50"
        let name = name.trim_end_matches('0').trim_end_matches('.');
        percentiles.insert(format!("p{name}"), json!(s.lat.percentile(p)));
    }
    let known = |v: u64| if s.lat.n > 0 { json!(v) } else { Value::Null };
    let mut lat = Map::new();
    lat.insert("min".into(), known(s.lat.min));
    lat.insert("mean".into(), known(s.lat.mean()));
    lat.insert("max".into(), known(s.lat.max));
    lat.append(&mut percentiles);
    let devices: Value = o.devices.iter().map(|(name, gained)| device(name, gained, s.window_ns())).collect();
    let parts: Map<String, Value> = parts_ns(s).into_iter().map(|(k, v)| (k.to_string(), json!(v))).collect();
    json!({
        "scenario": link,
        "side": side_word(side),
        "model_version": MODEL_VERSION,
        "hash": format!("{:016x}", o.trace_hash),
        "configuration_hash": format!("{config_hash:016x}"),
        "seed": o.cfg.seed,
        "window_ns": s.window_ns(),
        "bytes": s.read_bytes + s.write_bytes,
        "bw_MBps": s.bytes_per_sec() / 1e6,
        "bw_MiBps": crate::fio::mib_per_s(s),
        "ios": s.ios,
        "iops": s.iops(),
        "lat_ns": lat,
        "kinds": s.kinds.iter().map(|k| kind(k, s.window_ns())).collect::<Value>(),
        "parts_ns": parts,
        "drive_ns": {
            "seek": s.drive.seek, "rotate": s.drive.rotate, "transfer": s.drive.transfer, "reset": s.drive.reset
        },
        "seeks": s.drive.seeks,
        "zone_resets": s.nr_resets,
        "check_bytes": s.sync_sectors * 512,
        "devices": devices,
        "errors": s.nr_errors,
        "steps": o.steps,
        "events": o.events,
    })
}

/// What the jobs of one kind got.
fn kind(k: &KindStats, window_ns: u64) -> Value {
    let known = |v: u64| if k.lat.n > 0 { json!(v) } else { Value::Null };
    json!({
        "first_job": k.first,
        "last_job": k.last,
        "numjobs": k.n,
        "bytes": k.bytes,
        "bw_MBps": KindStats::per_sec(k.bytes, window_ns) / 1e6,
        "ios": k.ios,
        "iops": KindStats::per_sec(k.ios, window_ns),
        "lat_ns": { "mean": known(k.lat.mean()), "max": known(k.lat.max), "p99": k.lat.percentile(9_900) },
    })
}

/// A device's counters over the window, as `iostat -o JSON -x` has them.
fn device(name: &str, gained: &DiskStats, window_ns: u64) -> Value {
    let columns = crate::iostat::named(gained, window_ns as f64 / 1e9);
    let named = std::iter::once(("disk_device".to_string(), json!(name)));
    named.chain(columns.into_iter().map(|(name, value)| (name, json!(value)))).collect::<Map<_, _>>().into()
}

/// `a` or `b`.
pub fn side_word(side: Side) -> &'static str {
    match side {
        Side::A => "a",
        Side::B => "b",
    }
}

/// The table of parameters.
pub fn params() -> Value {
    KEYS.iter().map(|k| param(*k)).collect()
}

fn param(key: Key) -> Value {
    let p = Param::of(key);
    let shown: Map<String, Value> =
        p.shown_when.iter().map(|(k, word)| (Param::of(*k).key.to_string(), json!(word))).collect();
    json!({
        "key": p.key,
        "group": Group::title(p.group),
        "unit": unit(p.unit),
        "default": p.default,
        "allowed": p.allowed(),
        "live": match p.live { Live::No => "no", Live::Sysfs => "sysfs" },
        "advanced": p.advanced,
        "shown_when": shown,
        "help": p.help,
    })
}

/// What a value is measured in, as a word.
pub fn unit(u: Unit) -> &'static str {
    match u {
        Unit::Count => "count",
        Unit::Bytes | Unit::Kib | Unit::Mib => "bytes",
        Unit::Time(_) => "time",
        Unit::Zones => "zones",
        Unit::Rate => "bytes/s",
        Unit::Milli => "decimal",
        Unit::Bool => "bool",
        Unit::Word(_) => "word",
        Unit::ByteRange => "size range",
        Unit::Faults => "fault list",
        Unit::Sizes => "size list",
        Unit::Numbers => "number list",
        Unit::Changes => "write list",
        Unit::DirBytes => "bytes of reads, writes",
        Unit::DirCount => "count of reads, writes",
        Unit::Splits => "sizes with shares",
        Unit::Law => "distribution",
    }
}

/// A fitted number of the drive profile, by the parameter that sets it.
pub struct Fitted {
    /// Parameter.
    pub key: &'static str,
    /// Value as the profile writes it.
    pub value: String,
    /// Its unit.
    pub unit: String,
    /// The cells it was fitted on.
    pub cells: String,
}

/// The fitted numbers of the built-in profile.
pub fn fitted_rows() -> Vec<Fitted> {
    // The built-in profile is read by a test.
    let lines = profile::parse(profile::SMR_30TB).unwrap_or_default();
    let row = |key: &str| KEYS.iter().map(|k| Param::of(*k)).find(|p| p.profile == Some(key));
    profile::entries(&lines)
        .filter_map(|e| {
            Some(Fitted {
                key: row(&e.key)?.key,
                value: e.value.clone(),
                unit: e.unit.clone(),
                cells: e.fitted()?.into(),
            })
        })
        .collect()
}

/// The same as JSON.
pub fn fitted() -> Value {
    fitted_rows()
        .iter()
        .map(|f| json!({ "key": f.key, "value": f.value, "unit": f.unit, "calibration": f.cells }))
        .collect()
}

/// The presets.
pub fn presets() -> Value {
    PRESETS
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "title": p.title,
                "look_for": p.look_for,
                "sources": p.sources,
                "sweep": { "key": p.sweep.0, "values": p.sweep.1.split(',').collect::<Vec<_>>() },
                "t_ns": p.t.ns,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fitted_number_can_be_set() {
        let lines = profile::parse(profile::SMR_30TB).unwrap();
        let in_profile = profile::entries(&lines).filter(|e| e.fitted().is_some()).count();
        assert_eq!(fitted_rows().len(), in_profile);
        assert!(in_profile <= 10);
    }

    #[test]
    fn every_parameter_and_preset_is_listed() {
        assert_eq!(params().as_array().unwrap().len(), KEYS.len());
        assert_eq!(presets().as_array().unwrap().len(), PRESETS.len());
    }
}
