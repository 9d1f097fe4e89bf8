//! The scene in words and numbers.
//!
//! Models: nothing.
//! Rule: a table a panel, and one only where the device has something to say in it.
//! Leaves out: history.

use bioscope_core::observe::snapshot::{DeviceView, Snapshot};

use super::{flash, freeze, qos, timeline, zonemap};
use crate::table::Table;

/// Tables of what the device has beside those of every device.
pub fn tables(device: &DeviceView, snap: &Snapshot) -> Vec<Table> {
    let mut out = Vec::new();
    let mut add = |title: &[&str], head: &[&'static str], rows| {
        out.push(Table { title: title.concat(), head: head.to_vec(), rows });
    };
    if device.null_blk.is_some() {
        let order = timeline::ordering_words(device).map_or_else(String::new, |w| ["; ", &w].concat());
        let head = ["tag", "command", "issued", "ends", "retries"];
        add(&[timeline::TITLE, ", ", &timeline::words(device), &order], &head, timeline::rows(device, snap.now));
    }
    if let Some(f) = &device.flash {
        let head = ["channel", "bus", "waiting", "dies", "waiting for each"];
        add(&[flash::TITLE, ", ", &flash::words(f), ", ", &flash::cache_words(f)], &head, flash::rows(f, snap.now));
    }
    if let Some(z) = &device.zoned {
        let head = ["zone", "condition", "write pointer", "capacity", "lock"];
        let words = [zonemap::limit_words(z), zonemap::count_words(z)].join("; ");
        add(&[zonemap::TITLE, ", ", &words], &head, zonemap::rows(z));
    }
    if !qos::policies(&device.qos).is_empty() || device.qos.counters.hooks > 0 {
        add(&[qos::TITLE, ", ", &qos::words(&device.qos)], &["what", "now"], qos::rows(&device.qos, snap));
    }
    if device.freeze.is_some() || !device.changes.is_empty() {
        let head = ["time", "setting", "result", "ended first", "waited"];
        add(&[freeze::TITLE], &head, freeze::rows(device, snap.now));
    }
    out
}

/// The device in a sentence's part.
pub fn summary(device: &DeviceView, snap: &Snapshot) -> String {
    let mut parts = Vec::new();
    if device.null_blk.is_some() {
        parts.push([timeline::TITLE, ": ", &timeline::words(device)].concat());
        parts.extend(timeline::ordering_words(device));
    }
    if let Some(f) = &device.flash {
        parts.push([flash::words(f), flash::cache_words(f)].join(", "));
    }
    if let Some(z) = device.zoned.as_ref().filter(|_| !device.drive.zoned) {
        parts.push(["zones: ", &zonemap::count_words(z), ", ", &zonemap::limit_words(z)].concat());
    }
    parts.extend(freeze::summary(device, snap.now));
    parts.iter().map(|p| ["; ", p].concat()).collect()
}
