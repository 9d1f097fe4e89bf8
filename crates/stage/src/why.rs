//! The "why" list: one short sentence a reason.
//!
//! Models: nothing; the words are the field's.
//! Rule: active, names the object and a number; the point of the sentence is bold. A record's time stands beside it.
//! Leaves out: when a reason is recorded (core).

use bioscope_core::blk::qos::wbt::Kind;
use bioscope_core::config::ElevatorKind;
use bioscope_core::observe::why::{Why, WhyRecord};

use crate::text;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    pub bold: bool,
}

/// The sentence of a reason; pieces join without further spaces.
pub fn why_segments(record: &WhyRecord) -> Vec<Segment> {
    let sentence = sentence(&record.why);
    // Every second piece between asterisks is bold.
    sentence
        .split('*')
        .enumerate()
        .filter(|(_, piece)| !piece.is_empty())
        .map(|(n, piece)| Segment { text: piece.to_string(), bold: n % 2 == 1 })
        .collect()
}

/// A state is told once, with how often it was met; what happens is told each time it changes.
fn is_state(why: &Why) -> bool {
    matches!(
        why,
        Why::PluggedBehind { .. }
            | Why::QueuedForWorker { .. }
            | Why::PulledIn { .. }
            | Why::SplitBySegments { .. }
            | Why::SplitBySize { .. }
            | Why::SplitByLimit { .. }
            | Why::SplitByStripe { .. }
            | Why::SplitAtChunk { .. }
            | Why::NotMerged { .. }
            | Why::Throttled { .. }
            | Why::ThrottledByWbt { .. }
            | Why::ThrottledByIolatency { .. }
            | Why::ThrottledByIocost { .. }
            | Why::NoSchedTag { .. }
            | Why::TagWoken { .. }
            | Why::TagLimit { .. }
            | Why::NoDriverTag { .. }
            | Why::ZoneWriteLocked { .. }
            | Why::CacheWindowFull { .. }
            | Why::DepthFull { .. }
            | Why::Sleeps { .. }
            | Why::InFlightFull { .. }
            | Why::StripeCacheFull { .. }
    )
}

/// Told as one; what woken tasks found is told for each number of tags.
fn alike(a: &Why, b: &Why) -> bool {
    match (a, b) {
        (Why::TagWoken { got: a, .. }, Why::TagWoken { got: b, .. }) => a == b,
        _ => std::mem::discriminant(a) == std::mem::discriminant(b),
    }
}

/// The latest reasons with how often each came, latest first, `most` of them.
pub fn latest(records: &[WhyRecord], most: usize) -> Vec<(&WhyRecord, u32)> {
    let mut kept: Vec<(&WhyRecord, u32)> = Vec::new();
    for r in records.iter().rev() {
        let at = kept.iter().rposition(|(k, _)| alike(&k.why, &r.why));
        match at {
            Some(i) if is_state(&r.why) || i + 1 == kept.len() => kept[i].1 += 1,
            _ if kept.len() < most => kept.push((r, 1)),
            _ => {}
        }
    }
    kept
}

/// `bios`, `zones` and the like with their number.
fn bios(n: u32) -> String {
    text::count(u64::from(n), "bio", "bios")
}

/// " to zone 42", nothing on a disk without zones.
fn to_zone(zone: u32) -> String {
    if zone == u32::MAX { String::new() } else { format!(" to zone {zone}") }
}

fn sentence(why: &Why) -> String {
    let size = |sectors: u32| text::size(u64::from(sectors));
    match *why {
        Why::IssuedAtOnce { zone } => {
            format!("Zone {zone} has no write in flight and none plugged: its next write is *issued at once*.")
        }
        Why::PluggedBehind { zone, pending } => {
            let line = if pending == 0 { "first in line".to_string() } else { format!("behind {}", bios(pending)) };
            format!("Zone {zone} has a write in flight: the next *waits in its plug*, {line}.")
        }
        Why::QueuedForWorker { zone, listed } => {
            let zones = text::count(u64::from(listed), "zone", "zones");
            format!("QD 1: the write to zone {zone} *waits for the worker*, {zones} on its list.")
        }
        Why::Unplugged { zone, pending } => {
            let left = if pending == 0 { "none".into() } else { bios(pending) };
            format!("A completion *unplugs zone {zone}'s next bio*; {left} still plugged.")
        }
        Why::PulledIn { zone, bios: n, sectors } => {
            format!("Zone {zone}'s request *pulls in {}* from its plug: now {}.", bios(n), size(sectors))
        }
        Why::WorkerServes { zone, pending, waiting } => {
            let wait = text::count(u64::from(waiting), "zone waits", "zones wait");
            let zones = if waiting == 0 { "no other waits" } else { &wait };
            format!("The worker *turns to zone {zone}* and stays until its {} are written; {zones}.", bios(pending))
        }
        Why::WorkerFoundEmpty { zone } => {
            format!("The worker returns to zone {zone}, finds its plug empty and *goes on*: its last visit took all.")
        }
        Why::SplitBySegments { zone, front_sectors, max_segments } => {
            format!("A bio{} is *split after {}*: max_segments is {max_segments}.", to_zone(zone), size(front_sectors))
        }
        Why::SplitBySize { zone, front_sectors, max_sectors } => {
            let limit = size(max_sectors);
            format!("A bio{} is *split after {}*: a request takes {limit}.", to_zone(zone), size(front_sectors))
        }
        Why::NoSchedTag { job, nr_requests, wake_batch } => {
            let until = if wake_batch == 1 {
                "one is freed".into()
            } else {
                let n = wake_batch.to_string();
                [&n, " are freed (wake_batch ", &n, ")"].concat()
            };
            let (job, all) = (job.to_string(), nr_requests.to_string());
            ["No tag free of nr_requests ", &all, ": *job ", &job, " sleeps* until ", &until, "."].concat()
        }
        Why::TagLimit { job, sched, limit, depth } => {
            let whose = match (sched, limit) {
                (ElevatorKind::None, _) => "its share of a shared tag set",
                (ElevatorKind::Bfq, 1) => "bfq: it has its share",
                (ElevatorKind::Bfq, _) => "bfq's limit",
                (ElevatorKind::MqDeadline | ElevatorKind::Kyber, _) => "async_depth",
            };
            let (job, limit, depth) = (job.to_string(), limit.to_string(), depth.to_string());
            [
                "Job ",
                &job,
                " may use *",
                &limit,
                " of the ",
                &depth,
                " tags* now (",
                whose,
                ") and sleeps, though others are free.",
            ]
            .concat()
        }
        Why::TagWoken { job, wake_batch, got, asleep } => {
            let tags = text::count(u64::from(wake_batch), "freed tag", "freed tags");
            let others = text::count(u64::from(asleep), "other", "others");
            let behind = if asleep == 0 { String::new() } else { [", behind ", &others].concat() };
            let took = match got {
                0 => ["*found none* and sleeps again", &behind].concat(),
                1 => ["*took 1* and sleeps for the next", &behind].concat(),
                n => {
                    let n = n.to_string();
                    ["*took ", &n, " in a row*: ", &n, " of its requests go out together"].concat()
                }
            };
            [
                "Job ",
                &job.to_string(),
                ", woken for ",
                &tags,
                " (wake_batch ",
                &wake_batch.to_string(),
                "), ",
                &took,
                ".",
            ]
            .concat()
        }
        Why::NoDriverTag { rq, queue_depth } => {
            format!("No driver tag free: *request {rq} waits*, the drive has all {queue_depth}.")
        }
        Why::HeadLeaves { from, to, left, written } => {
            let after = text::count(u64::from(written), "command", "commands");
            if left == 0 {
                return format!("Zone {from} has nothing cached left after {after}: the head *goes to zone {to}*.");
            }
            let stay = text::count(u64::from(left), "command stays", "commands stay");
            format!(
                "After {after} in zone {from} the head goes to zone {to}, where some of the oldest data waits; \
                 *{stay} cached* behind."
            )
        }
        Why::Rotates { zone, ns } => {
            format!("The write to zone {zone} waits *{}* for its sector to come round.", text::duration(ns))
        }
        Why::CacheWindowFull { cached, window, waiting } => {
            let n = text::count(u64::from(waiting + 1), "command waits", "commands wait");
            format!("The cache holds {cached}, its window is {window}: *{n}*.")
        }
        Why::ZoneLocked { zone, job, owner } => {
            format!("Job {job} *waits for zone lock {zone}*, held by job {owner}.")
        }
        Why::Quiesces { job, in_flight, zone } => {
            format!("Job {job} *drains its {}* before it may block on zone {zone}.", bios(in_flight))
        }
        Why::ZoneReset { zone, ns } => {
            format!("Zone {zone} is full: its *reset stops the drive for {}*.", text::duration(ns))
        }
        Why::DepthFull { job, iodepth } => {
            format!("Job {job} has *all {iodepth} of its iodepth* in flight and waits for a completion.")
        }
        Why::Sleeps { job, ns, thinks } => {
            let why = if thinks { "it thinks between I/Os" } else { "it is ahead of its rate" };
            ["Job ", &job.to_string(), " *sleeps for ", &text::duration(ns), "*: ", why, "."].concat()
        }
        Why::InFlightFull { job, mib } => {
            format!("Writeback job {job} has *{mib} MiB in flight*, its limit, and waits for a completion.")
        }
        Why::OffPointer { zone, sector, wp_offset } => {
            let wp = size(wp_offset);
            format!(
                "Zone {zone} *refuses the write to sector {sector}*: its write pointer is at {wp}. EIO, no command."
            )
        }
        Why::NeedWpUpdate { zone } => {
            format!("Zone {zone}'s *write pointer is unknown* since an error: its writes fail with EIO until a reset.")
        }
        Why::DeadPlug { zone, refs } => {
            let refs = text::count(u64::from(refs), "reference", "references");
            format!("Zone {zone}'s plug is *dead* and has {refs} left: the write fails with EIO.")
        }
        Why::ZoneFull { zone } => format!("Zone {zone} is *full*: the write fails with EIO."),
        Why::Aborted { zone, bios: n } => {
            // A bio that was split is plugged in pieces, and counts as often.
            let each = text::count(u64::from(n), "bio or piece of one", "bios or pieces of bios");
            format!("The error *aborts {each}* plugged in zone {zone}: EIO each.")
        }
        Why::ZoneWriteLocked { zone, rq } => {
            format!("Request {rq} holds the *lock of zone {zone}*: mq-deadline keeps that zone's next write back.")
        }
        Why::Misaligned { zone, rq, retries } => {
            format!("Request {rq} is not at zone {zone}'s write pointer: null_blk *gives it back* (retry {retries}).")
        }
        Why::AppendMixed { zone, bios: n } => {
            let each = text::count(u64::from(n), "plugged write", "plugged writes");
            format!("A zone append to zone {zone} *aborts {each}*: appends and writes may not be mixed.")
        }
        Why::Recovered { zone, wp_offset, bios: n } => {
            let each = text::count(u64::from(n), "bio", "bios");
            format!("Report zones: zone {zone} is written up to offset {wp_offset}; its plug *goes on with {each}*.")
        }
        Why::DeviceError { zone, status } => {
            let errno = status.errno().unwrap_or("no error");
            format!("The drive *fails a command* of zone {zone}: {errno}.")
        }
        Why::Frozen { dev, waiting } => {
            let wait = text::count(u64::from(waiting), "request", "requests");
            format!("A live setting *freezes the queue of device {dev}* until {wait} in flight complete.")
        }
        Why::Stalled { dev, hctx, wake_batch, waiters } => {
            let wait = text::count(u64::from(waiters), "task sleeps", "tasks sleep");
            format!(
                "On device {dev}, hctx{hctx} *has stalled*: tags are free and {wait}, but nothing in flight will wake one \
                 (wake_batch {wake_batch})."
            )
        }
        Why::ReadModifyWrite { sector, rmw, rcw } => {
            let reads = text::count(u64::from(rmw), "block", "blocks");
            format!(
                "The stripe at sector {sector} is *written by read-modify-write*: it reads {reads} instead of {rcw}."
            )
        }
        Why::ReconstructWrite { sector, rmw, rcw } => {
            let reads = text::count(u64::from(rcw), "block", "blocks");
            format!(
                "The stripe at sector {sector} is *reconstructed*: it reads {reads}, to modify it would read {rmw}."
            )
        }
        Why::FullStripe { sector, blocks } => {
            let data = text::count(u64::from(blocks), "data block", "data blocks");
            format!("The stripe at sector {sector} has all {data} new: it is *written without reading*.")
        }
        Why::StripeBatch { sector, stripes } => {
            format!("The {stripes} stripes from sector {sector} are full: *written as one batch*, without reading.")
        }
        Why::StripeDelayed { sector, reads, preread } => {
            let reads = text::count(u64::from(reads), "read", "reads");
            let until = match preread {
                0 => "raid5d has nothing else to handle".into(),
                n => format!("{} done", text::count(u64::from(n), "other is", "others are")),
            };
            format!("The stripe at sector {sector} is *delayed*: its {reads} wait until {until}.")
        }
        Why::StripeCacheFull { dev, active, size } => {
            format!("No stripe is free on device {dev}, {active} of {size} are in use: the *writer sleeps*.")
        }
        Why::SplitByLimit { dev: _, front_sectors, max_sectors } => {
            let limit = size(max_sectors);
            format!(
                "A bio of the stacked device is *split after {}*: its max_sectors are {limit}.",
                size(front_sectors)
            )
        }
        Why::SplitByStripe { dev: _, front_sectors, chunk_sectors } => {
            let stripe = size(chunk_sectors);
            format!(
                "A bio of the stacked device is *split after {}*: its chunk_sectors are {stripe}.",
                size(front_sectors)
            )
        }
        Why::SplitAtChunk { dev: _, front_sectors, rest_sectors } => {
            let rest = size(rest_sectors);
            format!("The bio is *cut after {}*, at its chunk's end; {rest} are submitted again.", size(front_sectors))
        }
        Why::BeforeBacklog { dev: _, same, older } => {
            format!("What this step pushed, {}, goes *before the older backlog* of {}.", bios(same), bios(older))
        }
        Why::PlugFull { requests, limit } => {
            let n = text::count(u64::from(requests), "request", "requests");
            format!("The plug holds {n}, its limit is {limit}: it is *flushed* before the next is added.")
        }
        Why::PlugBytes { rq, kib } => {
            format!("The plug is *flushed*: the request it looks at, {rq}, already has {kib} KiB.")
        }
        Why::NotMerged { dev: _, rq, end, sector } => {
            format!("*Not merged*: request {rq}, the one that is tried, ends at {end} and the bio starts at {sector}.")
        }
        Why::Throttled { dev: _, kib, ns } => {
            format!("io.max *holds back* a bio of {kib} KiB for {}.", text::duration(ns))
        }
        Why::ThrottledByWbt { kind, in_flight, limit } => {
            let what = match kind {
                Kind::Background => "a bio of buffered writeback",
                Kind::Kswapd => "a bio that swaps out",
                Kind::Discard => "a bio that discards",
            };
            format!("wbt *holds back* {what}: {in_flight} such requests are in flight, its limit is {limit}.")
        }
        Why::ThrottledByIolatency { job, in_flight, depth, target } => {
            let target = text::duration(target);
            format!(
                "io.latency *holds back* job {job}, {in_flight} of whose depth {depth} are in flight: \
                 a target of {target} was missed."
            )
        }
        Why::ThrottledByIocost { job, cost, short } => {
            let (cost, short) = (text::duration(cost), text::duration(short));
            format!("io.cost *holds back* job {job} for {short} or more: the bio costs {cost}, its share is used up.")
        }
    }
}

#[cfg(test)]
mod tests {
    use bioscope_core::units::BlkStatus;

    use super::*;

    /// One of each. The match makes a new variant a compile error here.
    fn all() -> Vec<Why> {
        let first = Why::IssuedAtOnce { zone: 42 };
        match first {
            Why::IssuedAtOnce { .. }
            | Why::PluggedBehind { .. }
            | Why::QueuedForWorker { .. }
            | Why::Unplugged { .. }
            | Why::PulledIn { .. }
            | Why::WorkerServes { .. }
            | Why::WorkerFoundEmpty { .. }
            | Why::SplitBySegments { .. }
            | Why::SplitBySize { .. }
            | Why::NoSchedTag { .. }
            | Why::TagWoken { .. }
            | Why::TagLimit { .. }
            | Why::NoDriverTag { .. }
            | Why::HeadLeaves { .. }
            | Why::Rotates { .. }
            | Why::CacheWindowFull { .. }
            | Why::ZoneLocked { .. }
            | Why::Quiesces { .. }
            | Why::ZoneReset { .. }
            | Why::DepthFull { .. }
            | Why::Sleeps { .. }
            | Why::InFlightFull { .. }
            | Why::OffPointer { .. }
            | Why::NeedWpUpdate { .. }
            | Why::DeadPlug { .. }
            | Why::ZoneFull { .. }
            | Why::Aborted { .. }
            | Why::DeviceError { .. }
            | Why::AppendMixed { .. }
            | Why::Recovered { .. }
            | Why::ZoneWriteLocked { .. }
            | Why::Misaligned { .. }
            | Why::Frozen { .. }
            | Why::Stalled { .. }
            | Why::ReadModifyWrite { .. }
            | Why::ReconstructWrite { .. }
            | Why::FullStripe { .. }
            | Why::StripeBatch { .. }
            | Why::StripeDelayed { .. }
            | Why::StripeCacheFull { .. }
            | Why::SplitByLimit { .. }
            | Why::SplitByStripe { .. }
            | Why::SplitAtChunk { .. }
            | Why::BeforeBacklog { .. }
            | Why::PlugFull { .. }
            | Why::PlugBytes { .. }
            | Why::NotMerged { .. }
            | Why::ThrottledByWbt { .. }
            | Why::ThrottledByIolatency { .. }
            | Why::ThrottledByIocost { .. }
            | Why::Throttled { .. } => {}
        }
        vec![
            first,
            Why::PluggedBehind { zone: 42, pending: 31 },
            Why::QueuedForWorker { zone: 42, listed: 1 },
            Why::Unplugged { zone: 42, pending: 30 },
            Why::PulledIn { zone: 42, bios: 3, sectors: 8192 },
            Why::WorkerServes { zone: 42, pending: 31, waiting: 1 },
            Why::WorkerFoundEmpty { zone: 42 },
            Why::SplitBySegments { zone: 42, front_sectors: 1344, max_segments: 168 },
            Why::SplitBySize { zone: 42, front_sectors: 2048, max_sectors: 2048 },
            Why::SplitBySize { zone: u32::MAX, front_sectors: 256, max_sectors: 256 },
            Why::TagWoken { job: 12, wake_batch: 8, got: 5, asleep: 15 },
            Why::TagWoken { job: 12, wake_batch: 8, got: 0, asleep: 15 },
            Why::TagWoken { job: 3, wake_batch: 1, got: 1, asleep: 23 },
            Why::TagWoken { job: 3, wake_batch: 1, got: 0, asleep: 0 },
            Why::NoSchedTag { job: 3, nr_requests: 64, wake_batch: 1 },
            Why::NoSchedTag { job: 3, nr_requests: 64, wake_batch: 8 },
            Why::TagLimit { job: 3, sched: ElevatorKind::Bfq, limit: 1, depth: 64 },
            Why::TagLimit { job: 3, sched: ElevatorKind::Bfq, limit: 42, depth: 64 },
            Why::TagLimit { job: 3, sched: ElevatorKind::Kyber, limit: 48, depth: 64 },
            Why::TagLimit { job: 3, sched: ElevatorKind::None, limit: 8, depth: 32 },
            Why::NoDriverTag { rq: 812, queue_depth: 32 },
            Why::HeadLeaves { from: 42, to: 43, left: 2, written: 3 },
            Why::HeadLeaves { from: 42, to: 43, left: 0, written: 3 },
            Why::Unplugged { zone: 42, pending: 0 },
            Why::WorkerServes { zone: 42, pending: 1, waiting: 0 },
            Why::CacheWindowFull { cached: 7, window: 3, waiting: 0 },
            Why::Rotates { zone: 42, ns: 3_100_000 },
            Why::CacheWindowFull { cached: 21, window: 21, waiting: 1 },
            Why::ZoneLocked { zone: 42, job: 3, owner: 7 },
            Why::Quiesces { job: 3, in_flight: 31, zone: 42 },
            Why::ZoneReset { zone: 42, ns: 295_000_000 },
            Why::DepthFull { job: 3, iodepth: 64 },
            Why::Sleeps { job: 3, ns: 8_000_000, thinks: true },
            Why::Sleeps { job: 3, ns: 8_000_000, thinks: false },
            Why::InFlightFull { job: 3, mib: 460 },
            Why::OffPointer { zone: 42, sector: 22_022_144, wp_offset: 4096 },
            Why::NeedWpUpdate { zone: 42 },
            Why::DeadPlug { zone: 42, refs: 2 },
            Why::ZoneFull { zone: 42 },
            Why::Aborted { zone: 42, bios: 31 },
            Why::DeviceError { zone: 42, status: BlkStatus::Medium },
            Why::ZoneWriteLocked { zone: 42, rq: 812 },
            Why::Misaligned { zone: 42, rq: 812, retries: 3 },
            Why::AppendMixed { zone: 42, bios: 3 },
            Why::Recovered { zone: 42, wp_offset: 4096, bios: 3 },
            Why::Frozen { dev: 0, waiting: 64 },
            Why::Stalled { dev: 0, hctx: 0, wake_batch: 8, waiters: 3 },
            Why::ReadModifyWrite { sector: 1024, rmw: 2, rcw: 6 },
            Why::ReconstructWrite { sector: 1024, rmw: 4, rcw: 4 },
            Why::FullStripe { sector: 1024, blocks: 7 },
            Why::StripeBatch { sector: 1024, stripes: 128 },
            Why::StripeDelayed { sector: 1024, reads: 2, preread: 8 },
            Why::StripeDelayed { sector: 1024, reads: 1, preread: 0 },
            Why::StripeCacheFull { dev: 0, active: 256, size: 256 },
            Why::SplitByLimit { dev: 8, front_sectors: 2048, max_sectors: 2048 },
            Why::SplitByStripe { dev: 8, front_sectors: 896, chunk_sectors: 896 },
            Why::SplitAtChunk { dev: 8, front_sectors: 128, rest_sectors: 1920 },
            Why::BeforeBacklog { dev: 8, same: 1, older: 2 },
            Why::PlugFull { requests: 32, limit: 32 },
            Why::PlugBytes { rq: 812, kib: 128 },
            Why::NotMerged { dev: 3, rq: 812, end: 14_071_552, sector: 14_071_808 },
            Why::Throttled { dev: 8, kib: 1024, ns: 100_000_000 },
            Why::ThrottledByWbt { kind: Kind::Background, in_flight: 4, limit: 4 },
            Why::ThrottledByWbt { kind: Kind::Kswapd, in_flight: 16, limit: 16 },
            Why::ThrottledByWbt { kind: Kind::Discard, in_flight: 4, limit: 1 },
            Why::ThrottledByIolatency { job: 1023, in_flight: 32, depth: 32, target: 10_000_000 },
            Why::ThrottledByIocost { job: 1023, cost: 2_702_702, short: 10_810_000 },
        ]
    }

    #[test]
    fn every_reason_names_its_object_a_number_and_has_one_point() {
        for why in all() {
            let segments = why_segments(&WhyRecord { time: 3_482_175_331, bio: 9, why });
            let text: String = segments.iter().map(|s| s.text.as_str()).collect();
            let object = ["one ", "ob ", "equest 812", "cache", "device 0", "array", "he plug", " bio", "tripe"]
                .iter()
                .any(|o| text.contains(o));
            assert!(!text.replace("device 0", "").contains(" 0 "), "{text}");
            assert!(object && text.contains(|c: char| c.is_ascii_digit()), "{text}");
            assert_eq!(segments.iter().filter(|s| s.bold).count(), 1, "{text}");
            assert!(text.ends_with('.') && text.len() <= 125, "{} {text}", text.len());
        }
    }

    #[test]
    fn sentences_read_as_in_the_field() {
        let say = |why| why_segments(&WhyRecord { time: 0, bio: 0, why });
        let head = say(Why::HeadLeaves { from: 1121, to: 1122, left: 1, written: 3 });
        assert_eq!(head[1], Segment { text: "1 command stays cached".into(), bold: true });
        let plain: String = head.iter().map(|s| s.text.as_str()).collect();
        assert_eq!(
            plain,
            "After 3 commands in zone 1121 the head goes to zone 1122, where some of the oldest data waits; \
             1 command stays cached behind."
        );
    }

    #[test]
    fn a_wake_up_is_told_by_what_it_was_good_for() {
        let woken = |job, wake_batch, got, asleep| Why::TagWoken { job, wake_batch, got, asleep };
        let say = |why| {
            let all = why_segments(&WhyRecord { time: 0, bio: 0, why });
            all.iter().map(|s| s.text.as_str()).collect::<String>()
        };
        assert_eq!(
            say(woken(12, 8, 5, 15)),
            "Job 12, woken for 8 freed tags (wake_batch 8), took 5 in a row: 5 of its requests go out together."
        );
        assert_eq!(
            say(woken(3, 1, 1, 23)),
            "Job 3, woken for 1 freed tag (wake_batch 1), took 1 and sleeps for the next, behind 23 others."
        );
        assert_eq!(
            say(woken(3, 8, 0, 1)),
            "Job 3, woken for 8 freed tags (wake_batch 8), found none and sleeps again, behind 1 other."
        );
        let at = |time, job, got| WhyRecord { time, bio: 0, why: woken(job, 8, got, 4) };
        let records = [at(1, 0, 1), at(2, 1, 0), at(3, 2, 1), at(4, 3, 6)];
        let told: Vec<(u64, u32)> = latest(&records, 9).iter().map(|(r, n)| (r.time, *n)).collect();
        assert_eq!(told, [(4, 1), (3, 2), (2, 1)], "once for each number of tags");
    }

    #[test]
    fn who_sleeps_for_a_tag_is_told_what_ends_it() {
        let say = |why| {
            let all = why_segments(&WhyRecord { time: 0, bio: 0, why });
            all.iter().map(|s| s.text.as_str()).collect::<String>()
        };
        assert_eq!(
            say(Why::NoSchedTag { job: 1, nr_requests: 64, wake_batch: 8 }),
            "No tag free of nr_requests 64: job 1 sleeps until 8 are freed (wake_batch 8)."
        );
        assert_eq!(
            say(Why::TagLimit { job: 1, sched: ElevatorKind::Bfq, limit: 1, depth: 64 }),
            "Job 1 may use 1 of the 64 tags now (bfq: it has its share) and sleeps, though others are free."
        );
    }

    #[test]
    fn a_state_is_told_once_and_what_happens_each_time() {
        let at = |time, why| WhyRecord { time, bio: 0, why };
        let records = [
            at(1, Why::DepthFull { job: 0, iodepth: 64 }),
            at(2, Why::IssuedAtOnce { zone: 7 }),
            at(3, Why::DepthFull { job: 0, iodepth: 64 }),
            at(4, Why::IssuedAtOnce { zone: 8 }),
            at(5, Why::IssuedAtOnce { zone: 7 }),
        ];
        let told: Vec<(u64, u32)> = latest(&records, 9).iter().map(|(r, n)| (r.time, *n)).collect();
        assert_eq!(told, [(5, 2), (3, 2), (2, 1)]);
    }
}
