//! Questions from the field: each link of that page answers what it says.

use std::sync::Arc;

use bioscope_core::observe::snapshot::DiskStats;
use bioscope_core::observe::trace::{Action, TraceRecord};
use bioscope_core::sim::{Advance, Simulation};
use bioscope_scenario::{Side, decode, validate};

const PAGE: &str = include_str!("../../../docs/src/field.md");

struct Run {
    trace: Vec<TraceRecord>,
    devices: Vec<(String, DiskStats)>,
}

/// Runs a link of the page, with more settings.
fn run(link: &str, more: &str) -> Run {
    assert!(PAGE.contains(&format!("#v=1&{link})")), "not on the page: {link}");
    let (s, problems) = decode(&format!("{link}{more}"));
    assert!(problems.is_empty(), "{problems:?}");
    let cfg = validate(&s, Side::A).unwrap();
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut trace = Vec::new();
    assert_eq!(sim.advance(u64::MAX, 5_000_000, &mut trace), Advance::Done);
    let devices = sim.snapshot().devices.into_iter().map(|d| (d.name, d.window)).collect();
    Run { trace, devices }
}

impl Run {
    fn of(&self, action: Action) -> Vec<&TraceRecord> {
        self.trace.iter().filter(|r| r.action == action).collect()
    }
    /// Sizes of the array's parts in the order in which they reach the members.
    fn parts(&self) -> Vec<(u64, u32)> {
        self.of(Action::Remap).iter().map(|r| (r.arg, r.nr_sectors)).collect()
    }
}

/// 3: large unaligned writes to raid0 are slow: tails of split bios are issued last, in reverse.
#[test]
fn tails_of_raid0_come_last_and_in_reverse() {
    let link = "p=raid0-unaligned";
    let parts = run(link, "&b=0").parts();
    let (long, tails) = parts.split_at(62);
    assert!(long.iter().all(|p| p.1 >= 928) && long.is_sorted() && tails.iter().all(|p| p.1 == 8));
    assert!(tails.len() == 61 && tails.iter().rev().is_sorted());
    let parts = run(link, "&b=0&split_insert=head").parts();
    assert!(parts.len() == 123 && parts.is_sorted());
    let sizes: Vec<u32> = parts.iter().map(|p| p.1).collect();
    assert_eq!(sizes[..6], [1016, 8, 1016, 8, 1016, 8]);
}

/// 4: a check of a raid6 of 36 disks reads 4 KiB at a time.
#[test]
fn a_check_merges_while_the_plug_has_room_for_every_member() {
    let mean_kib = |more: &str| {
        let r = run("p=raid6-check-36", &format!("&b=0{more}"));
        let (name, d) = &r.devices[0];
        assert_eq!(name, "sda");
        d.sectors[0] as f64 / 2.0 / d.ios[0] as f64
    };
    assert_eq!(mean_kib(""), 4.0);
    assert_eq!(mean_kib("&raid_disks=17"), 4.0);
    assert!(mean_kib("&raid_disks=16") > 300.0);
    assert!(mean_kib("&plug_multi_factor=4") > 300.0);
}

/// 18: dm-crypt over a zoned disk splits writes, and their remainders are plugged behind themselves.
#[test]
fn what_dm_crypt_cuts_off_waits_in_the_zone_write_plug() {
    let link = "workload=dd&count=1&bios=1MiB&max_segments=256&stack=dm-crypt&max_write_size=128KiB";
    let r = run(link, "");
    let cuts = r.of(Action::Split);
    assert!(cuts.len() == 7 && cuts.iter().all(|c| c.dev == 1 && c.arg - c.sector == 256));
    let plugged: Vec<u32> = r.of(Action::ZonePlug).iter().map(|p| p.nr_sectors).collect();
    assert_eq!(plugged, [256; 7]);
    // As 7.1 does it: the target cuts nothing there, and neither does the disk.
    let r = run("workload=dd&count=1&bios=1MiB&max_segments=256&stack=dm-crypt", "");
    assert_eq!((r.of(Action::Split).len(), r.of(Action::ZonePlug).len()), (0, 0));
    let issued: Vec<u32> = r.of(Action::Issue).iter().map(|d| d.nr_sectors).collect();
    assert_eq!(issued, [2048]);
}

/// 41: contiguous writes of 44 KiB do not merge although the scheduler is mq-deadline.
#[test]
fn small_writes_merge_in_a_plug_or_before_a_busy_device() {
    let link = "bs=44KiB&iodepth=4&size=1760KiB&bios=44KiB&drive=capped&cap_latency_ns=200us";
    let r = run(link, "");
    let letters: String = r.trace.iter().map(|r| r.action.letter()).take(12).collect();
    assert_eq!(letters, "QGPUIDQGPUID");
    assert_eq!((r.of(Action::BackMerge).len(), r.of(Action::Issue).len()), (0, 40));
    // Four under one plug, and a device that takes one at a time.
    let plugged = run(link, "&iodepth_batch=4&iodepth_batch_complete_min=4");
    assert!(plugged.of(Action::BackMerge).len() >= 20);
    let busy = run(link, "&cap_rate=20MiB/s&queue_depth=1&nr_requests=64");
    // One request has left the scheduler and waits for the driver tag: of four, one merges every other time.
    assert!(busy.of(Action::BackMerge).len() >= 10);
}
