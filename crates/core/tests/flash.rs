//! Flash against closed forms.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::Action;
use bioscope_core::sim::Simulation;
use bioscope_core::units::Op;
use common::{Dice, config, list, run};
use std::sync::Arc;

const PAGE: u64 = 16 << 10;
/// Sectors of a page.
const SECTORS: u64 = PAGE / 512;
/// A page crosses a channel in 20 us.
const TRANSFER: u64 = 20_000;
const READ: u64 = 50_000;
const PROGRAM: u64 = 600_000;
const COMMAND: u64 = 5_000;

fn flash(channels: u32, dies: u32) -> FlashConfig {
    FlashConfig {
        capacity: 1 << 24,
        channels,
        dies,
        page_bytes: PAGE as u32,
        read_ns: READ,
        program_ns: PROGRAM,
        erase_ns: 3_000_000,
        channel_rate: PAGE * 1_000_000_000 / TRANSFER,
        command_ns: COMMAND,
        cache_pages: 0,
        zones: None,
    }
}

fn with(f: FlashConfig) -> SimConfig {
    let mut cfg = config();
    cfg.host.submit_ns = 0;
    let d = &mut cfg.devices[0];
    d.name = "nvme0n1".into();
    d.kind = DeviceKind::Flash(f);
    d.queue = Some(QueueConfig {
        elevator: ElevatorKind::None,
        nr_requests: 4096,
        queue_depth: 4096,
        tag_alloc: TagAlloc::Hint,
        nomerges: 2,
        max_sectors: 1 << 20,
        max_segments: 65535,
        block_bytes: 512,
        ..QueueConfig::default()
    });
    cfg
}

fn bio(at: u64, op: Op, sector: u64, nr_sectors: u64) -> ListedBio {
    ListedBio { at, op, sector, nr_sectors: nr_sectors as u32, nowait: false, preflush: false, fua: false }
}

/// When each of these is done, in order of their ends.
fn ends(f: FlashConfig, bios: Vec<ListedBio>) -> Vec<u64> {
    let mut cfg = with(f);
    list(&mut cfg, bios);
    let done = run(cfg).of(Action::Complete);
    assert!(done.iter().all(|c| c.arg == 0));
    done.iter().map(|c| c.time).collect()
}

fn one(f: FlashConfig, op: Op, pages: u64) -> u64 {
    ends(f, vec![bio(0, op, 0, pages * SECTORS)])[0]
}

#[test]
fn latency_of_one_command() {
    let f = || flash(4, 2);
    for op in [Op::Read, Op::Write] {
        let ns = if op == Op::Read { READ } else { PROGRAM };
        assert_eq!(one(f(), op, 1), COMMAND + ns + TRANSFER);
        // A page on each channel: side by side.
        assert_eq!(one(f(), op, 4), COMMAND + ns + TRANSFER);
        // Two pages on each channel: they share it, but not the die.
        assert_eq!(one(f(), op, 8), COMMAND + ns + 2 * TRANSFER);
    }
    // Four pages on each channel, two on each die.
    assert_eq!(one(f(), Op::Read, 16), COMMAND + 2 * READ + 2 * TRANSFER);
    assert_eq!(one(f(), Op::Write, 16), COMMAND + 2 * TRANSFER + 2 * PROGRAM);
    // Of a page only what is asked for crosses.
    assert_eq!(ends(f(), vec![bio(0, Op::Read, 8, 8)]), [COMMAND + READ + TRANSFER / 4]);
}

/// Bytes a second of one stream of 1 MiB writes, all submitted at once, from the middle on.
fn write_rate(f: FlashConfig) -> f64 {
    let ends = ends(f, (0..256).map(|n| bio(0, Op::Write, n * 2048, 2048)).collect());
    (128 << 20) as f64 / (ends[255] - ends[127]) as f64 * 1e9
}

#[test]
fn sequential_writes_run_at_the_rate_of_channels_or_dies() {
    for (channels, dies) in [(1, 1), (2, 4), (4, 16), (4, 30), (4, 31), (8, 64), (3, 5)] {
        let f = flash(channels, dies);
        let by_channel = f64::from(channels) * f.channel_rate as f64;
        let by_die = f64::from(channels * dies) * PAGE as f64 / PROGRAM as f64 * 1e9;
        let (rate, expected) = (write_rate(f), by_channel.min(by_die));
        assert!((rate / expected - 1.0).abs() < 0.01, "{channels} x {dies}: {rate:.0} of {expected:.0}");
    }
}

#[test]
fn sequential_reads_run_at_the_rate_of_channels_or_dies() {
    for (channels, dies) in [(1, 1), (2, 2), (4, 3), (8, 16)] {
        let f = flash(channels, dies);
        let by_channel = f64::from(channels) * f.channel_rate as f64;
        let by_die = f64::from(channels * dies) * PAGE as f64 / READ as f64 * 1e9;
        let ends = ends(f, (0..256).map(|n| bio(0, Op::Read, n * 2048, 2048)).collect());
        let (rate, expected) = ((128 << 20) as f64 / (ends[255] - ends[127]) as f64 * 1e9, by_channel.min(by_die));
        assert!((rate / expected - 1.0).abs() < 0.01, "{channels} x {dies}: {rate:.0} of {expected:.0}");
    }
}

#[test]
fn random_reads_keep_channels_and_dies_busy() {
    // All at once: the queue is never short of work, so the slower of both is what counts.
    for (channels, dies) in [(4, 1), (4, 8)] {
        let mut dice = Dice(7);
        let bios = (0..4000).map(|_| bio(0, Op::Read, dice.below(100_000) * SECTORS, SECTORS)).collect();
        let ends = ends(flash(channels, dies), bios);
        let each = TRANSFER.max(READ / u64::from(dies));
        let expected = 4000 * each / u64::from(channels);
        // Draws are uneven by a few per cent.
        let last = *ends.last().unwrap();
        assert!(last > expected && last < expected * 108 / 100, "{channels} x {dies}: {last} of {expected}");
    }
}

#[test]
fn nothing_waits_for_a_page_that_is_not_ready() {
    // Die 0 of the only channel programs; a read of its page waits for that, another die's does not.
    let f = flash(1, 2);
    let bios = vec![
        bio(0, Op::Write, 0, SECTORS),
        bio(1, Op::Read, 0, SECTORS),
        bio(2, Op::Read, SECTORS, SECTORS),
        bio(3, Op::Write, SECTORS, SECTORS),
    ];
    let written = COMMAND + TRANSFER + PROGRAM;
    // The second write crosses right behind the first, and is programmed after the read of its die.
    let second = 2 + COMMAND + READ + PROGRAM;
    let expected = [2 + COMMAND + READ + TRANSFER, written, second, written + READ + TRANSFER];
    assert_eq!(ends(f, bios), expected);
}

#[test]
fn protected_memory_acknowledges_until_it_is_full() {
    let f = || FlashConfig { cache_pages: 8, ..flash(1, 1) };
    let writes = |n: u64| (0..n).map(|n| bio(0, Op::Write, n * SECTORS, SECTORS)).collect::<Vec<_>>();
    assert_eq!(ends(f(), writes(8)), [COMMAND; 8]);
    // The ninth has to wait for the first page to be programmed, and so on.
    let programmed = |n: u64| COMMAND + TRANSFER + n * PROGRAM;
    assert_eq!(ends(f(), writes(10))[8..], [programmed(1), programmed(2)]);
    // Quarters of pages are collected: 32 of them are 8 pages.
    let quarters = (0..33).map(|n| bio(0, Op::Write, n * SECTORS / 4, SECTORS / 4)).collect();
    assert_eq!(ends(f(), quarters), [COMMAND; 33]);
    // More than it can hold is acknowledged when programmed.
    assert_eq!(one(f(), Op::Write, 9), programmed(9));
}

fn zoned(f: FlashConfig) -> FlashConfig {
    let shape = ZoneShape {
        zone_sectors: 8192,
        capacity: 8000,
        nr_zones: 64,
        nr_conv: 0,
        max_open: 14,
        max_active: 14,
        append_max_sectors: 1024,
    };
    FlashConfig { zones: Some(ZonesConfig { shape, full: false, readonly: vec![], offline: vec![] }), ..f }
}

#[test]
fn a_reset_erases_on_all_dies_and_an_empty_zone_is_not_erased() {
    let ops = vec![
        bio(0, Op::ZoneReset, 0, 0),
        bio(1_000_000, Op::Write, 0, SECTORS),
        bio(2_000_000, Op::ZoneReset, 0, 0),
        bio(2_000_001, Op::Read, 8192, SECTORS),
    ];
    let erased = 2_000_000 + COMMAND + 3_000_000;
    let expected = [COMMAND, 1_000_000 + COMMAND + TRANSFER + PROGRAM, erased, erased + READ + TRANSFER];
    assert_eq!(ends(zoned(flash(2, 2)), ops), expected);
}

#[test]
fn errors_and_appends_of_zones() {
    let mut cfg = with(zoned(flash(2, 2)));
    cfg.kernel.zone_ordering = ZoneOrdering::None;
    let ops = vec![
        bio(0, Op::Write, 8, 8),
        bio(1, Op::ZoneAppend, 8192, 64),
        bio(2, Op::ZoneAppend, 8192, 64),
        bio(3, Op::Write, 8192, 8),
        bio(4, Op::ZoneFinish, 8192, 0),
    ];
    list(&mut cfg, ops);
    let mut done: Vec<_> = run(cfg).of(Action::Complete).iter().map(|c| (c.op, c.sector, c.arg)).collect();
    done.sort_unstable();
    let expected = [
        (Op::Write, 8, 5),
        (Op::Write, 8192, 5),
        (Op::ZoneAppend, 8192, 0),
        (Op::ZoneAppend, 8192 + 64, 0),
        (Op::ZoneFinish, 8192, 0),
    ];
    assert_eq!(done, expected);
}

#[test]
fn the_view_shows_what_channels_and_dies_do() {
    let mut cfg = with(flash(2, 2));
    list(&mut cfg, vec![bio(0, Op::Write, 0, 8 * SECTORS), bio(0, Op::Read, 0, SECTORS)]);
    let mut sim = Simulation::new(Arc::new(cfg));
    let mut view = |at| {
        sim.advance(at, u64::MAX, &mut ());
        sim.snapshot().devices[0].flash.clone().unwrap()
    };
    // Four pages on each channel, as one stay; the first die programs from the end of the first page on.
    let v = view(COMMAND + TRANSFER + 1);
    assert_eq!((v.channels.len(), v.channels[0].dies.len()), (2, 2));
    let (cmd, from, until) = v.channels[0].bus.unwrap();
    assert_eq!((cmd.op, from, until), (Op::Write, COMMAND, COMMAND + 4 * TRANSFER));
    let busy = |d: usize| v.channels[0].dies[d].busy.map(|(_, from, until)| (from, until));
    assert_eq!(busy(0), Some((COMMAND + TRANSFER, COMMAND + TRANSFER + 2 * PROGRAM)));
    assert_eq!((busy(1), v.channels[0].dies[1].waiting), (None, 2));
    let v = view(u64::MAX);
    assert!(v.channels.iter().all(|c| c.bus.is_none() && c.dies.iter().all(|d| d.busy.is_none() && d.waiting == 0)));
}

#[test]
fn memory_and_events_do_not_grow_with_the_size_of_a_command() {
    let mut cfg = with(flash(4, 4));
    list(&mut cfg, vec![bio(0, Op::Write, 0, 1 << 19), bio(0, Op::Read, 0, 1 << 19)]);
    cfg.jobs[0].bio_segment_bytes = 1 << 28;
    let mut sim = Simulation::new(Arc::new(cfg));
    sim.advance(1, u64::MAX, &mut ());
    assert!(sim.heap_bytes() < 100 << 10, "{} bytes", sim.heap_bytes());
    sim.advance(u64::MAX, u64::MAX, &mut ());
    assert!(sim.events() < 10, "{} events", sim.events());
}
