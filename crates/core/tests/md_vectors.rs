//! Golden vectors of md's write side and check, with real plugs, through the whole pipeline (md M.12).
//!
//! The vectors' assumptions hold: CPU time is zero, so that one run of raid5d handles all that is queued before any
//! member I/O completes; a page is a segment; the plug is FIFO, 32 requests or 64 of several queues.

mod common;

use bioscope_core::config::*;
use bioscope_core::observe::trace::{Action, NO_ORIGIN};
use bioscope_core::units::Op;
use common::*;

const KIB: u64 = 2;
const PAGE: u32 = 8;

fn members(level: MdLevel, disks: u16, chunk_kib: u32) -> SimConfig {
    let mut cfg = config();
    cfg.devices = (0..disks).map(|n| capped(n, 1_000_000)).collect();
    cfg.devices.push(array(level, disks, chunk_kib * KIB as u32, 2));
    cfg
}

fn md(cfg: &mut SimConfig) -> &mut MdConfig {
    match &mut cfg.devices.last_mut().unwrap().kind {
        DeviceKind::Md(m) => m,
        _ => unreachable!(),
    }
}

/// A write of the array in sectors.
fn write_at(at_ms: u64, sector: u64, nr_sectors: u32) -> ListedBio {
    ListedBio { at: at_ms * 1_000_000, op: Op::Write, sector, nr_sectors, nowait: false, preflush: false, fua: false }
}

fn submit(mut cfg: SimConfig, bios: Vec<ListedBio>) -> Run {
    list(&mut cfg, bios);
    cfg.jobs[0].dev = cfg.devices.len() as u16 - 1;
    run(cfg)
}

fn issued(cfg: SimConfig, bios: Vec<ListedBio>) -> String {
    text(&submit(cfg, bios))
}

/// Member requests in the order of D: `R7@0+64K`; ` | ` between two flushes of a plug, ` ; ` where a completion came
/// between.
fn text(run: &Run) -> String {
    let members = run.sim.config().devices.len() as u16 - 1;
    let (mut out, mut mark) = (String::new(), "");
    for r in run.trace.iter().filter(|r| r.dev < members) {
        match r.action {
            Action::Plug if mark.is_empty() && !out.is_empty() => mark = " |",
            Action::Complete => mark = " ;",
            Action::Issue => {
                let op = if r.op == Op::Read { 'R' } else { 'W' };
                let (kib, len) = (r.sector / KIB, u64::from(r.nr_sectors) / KIB);
                if !out.is_empty() {
                    out += mark;
                    out += " ";
                }
                out += &format!("{op}{}@{kib}+{len}K", r.dev);
                mark = "";
            }
            _ => {}
        }
    }
    out
}

#[test]
fn md_m12_vector_1_full_stripes() {
    let cfg = members(MdLevel::Raid5, 3, 512);
    let r = submit(cfg, vec![write_at(0, 0, 2048), write_at(100, 0, 2048)]);
    let mut seen = text(&r);
    // A rewrite of cached stripes is no batch: all three members' requests leave at the end of the run.
    let again = seen.split_off(seen.find(" ; ").unwrap());
    assert_eq!(seen, "W2@0+512K | W1@0+512K | W0@0+512K");
    assert_eq!(again.matches(" |").count(), 0, "{again}");
    let mut parts: Vec<&str> = again.trim_start_matches(" ; ").split(' ').collect();
    parts.sort_unstable();
    assert_eq!(parts, ["W0@0+512K", "W1@0+512K", "W2@0+512K"]);
    // One write of the array for each bio, of all its sectors.
    let stats = r.sim.snapshot().devices[3].stats;
    assert_eq!((stats.ios[1], stats.sectors[1]), (2, 4096));
}

#[test]
fn md_m12_vector_2_across_stripes() {
    let cfg = members(MdLevel::Raid5, 3, 512);
    let seen = issued(cfg, vec![write_at(0, 256 * KIB, 2048)]);
    // The rest behind chunk_sectors is a bio of its own, in the next row: R0, W2, W1 at 512 KiB.
    let (run_1, run_2) = seen.split_once(" ; ").unwrap();
    let front = |run: &str| -> Vec<String> {
        run.split([' ', '|', ';']).filter(|w| !w.is_empty() && !w.contains("@512+")).map(Into::into).collect()
    };
    assert_eq!(front(run_1), ["R0@0+256K", "W2@256+256K", "W1@256+256K", "W0@256+256K"]);
    assert_eq!(front(run_2), ["W2@0+256K", "W1@0+256K"]);
    assert_eq!(seen.matches("@512+256K").count(), 3, "{seen}");
}

fn eight(bios: Vec<ListedBio>, rmw_level: u8) -> String {
    let mut cfg = members(MdLevel::Raid5, 8, 64);
    md(&mut cfg).rmw_level = rmw_level;
    issued(cfg, bios)
}

#[test]
fn md_m12_vector_3_one_chunk() {
    for level in [1, 2] {
        let want = "R7@0+64K R0@0+64K ; W7@0+64K W0@0+64K";
        assert_eq!(eight(vec![write_at(0, 0, 128)], level), want);
    }
    let want = "R6@0+64K R5@0+64K R4@0+64K R3@0+64K R2@0+64K R1@0+64K ; W7@0+64K W0@0+64K";
    assert_eq!(eight(vec![write_at(0, 0, 128)], 0), want);
}

#[test]
fn md_m12_vector_4_a_tie_and_more() {
    let of = |roles: &str, op: char| -> String {
        roles.chars().map(|r| format!("{op}{r}@0+64K")).collect::<Vec<_>>().join(" ")
    };
    let both = |reads: &str, writes: &str| [of(reads, 'R'), of(writes, 'W')].join(" ; ");
    assert_eq!(eight(vec![write_at(0, 0, 384)], 1), both("6543", "7210"));
    assert_eq!(eight(vec![write_at(0, 0, 384)], 2), both("7210", "7210"));
    for level in [1, 2] {
        assert_eq!(eight(vec![write_at(0, 0, 512)], level), both("654", "73210"));
    }
    let full = eight(vec![write_at(0, 0, 896)], 1);
    assert_eq!(full.replace(" |", ""), of("76543210", 'W'));
}

#[test]
fn md_m12_vector_5_the_cache_saves_reads() {
    let page = |ms, sector| write_at(ms, sector, PAGE);
    let seen = eight(vec![page(0, 0), page(100, 0), page(200, 128), write_at(300, 1, 1)], 1);
    // A page of 512 bytes needs a device that takes single sectors: these do.
    let want = ["R7@0+4K R0@0+4K ; W7@0+4K W0@0+4K", "W7@0+4K W0@0+4K", "R1@0+4K ; W7@0+4K W1@0+4K", "W7@0+4K W0@0+4K"];
    assert_eq!(seen, want.join(" ; "));
}

#[test]
fn md_m12_vector_6_less_than_a_page() {
    assert_eq!(eight(vec![write_at(0, 1, 1)], 1), "R7@0+4K R0@0+4K ; W7@0+4K W0@0+4K");
    let three = issued(members(MdLevel::Raid5, 3, 64), vec![write_at(0, 1, 1)]);
    assert_eq!(three, "R1@0+4K R0@0+4K ; W2@0+4K W0@0+4K");
}

#[test]
fn md_m12_vector_7_not_sync() {
    let mut cfg = members(MdLevel::Raid5, 8, 64);
    cfg.jobs.push(JobConfig {
        name: "flush".into(),
        dev: 8,
        workload: WorkloadConfig::Linear(LinearConfig {
            tool: Tool::Fio,
            rw: Rw::Write,
            bs: 128,
            bios: vec![],
            iodepth: 1,
            batch: 1,
            first: 0,
            sectors: 128,
            io_bytes: Some(65_536),
            buffered: true,
            nowait: false,
            fio: Default::default(),
        }),
        prio: Default::default(),
        bio_segment_bytes: 4096,
        start_ns: 0,
        cgroup: Default::default(),
    });
    let seen = text(&run(cfg));
    let (first, rest) = seen.split_once(" ; ").unwrap();
    assert_eq!(first, "R7@0+32K R0@0+32K");
    let (second, third) = rest.split_once(" ; ").unwrap();
    // Behind a write to the same member a read finds no partner: sixteen requests of a page. The flush sends all of
    // one member, then all of the other.
    let mut second: Vec<&str> = second.split(' ').collect();
    assert_eq!((second.remove(9), second.remove(0)), ("W0@0+32K", "W7@0+32K"));
    let pages: Vec<String> = (0..8).flat_map(|n| [7, 0].map(|m| format!("R{m}@{}+4K", 32 + n * 4))).collect();
    let mut reads = second;
    let mut want: Vec<&str> = pages.iter().map(String::as_str).collect();
    reads.sort_unstable();
    want.sort_unstable();
    assert_eq!(reads, want);
    let third: Vec<&str> = third.split([' ', ';', '|']).filter(|s| !s.is_empty()).collect();
    let kib: u64 = third.iter().map(|w| w[w.find('+').unwrap() + 1..w.len() - 1].parse::<u64>().unwrap()).sum();
    assert!(third.iter().all(|w| w.starts_with("W7@") || w.starts_with("W0@")) && kib == 64, "{third:?}");
}

/// Requests of the first run of a check with `stripes` queued at once.
fn check(disks: u16, max_rq: u32, factor: u32, order: PlugOrder, stripes: u64) -> Vec<(u16, u64, u64)> {
    let mut cfg = members(MdLevel::Raid6, disks, 512);
    for d in &mut cfg.devices[..usize::from(disks)] {
        // Members end with the stripes that shall be queued.
        if let DeviceKind::Capped(c) = &mut d.kind {
            c.capacity = 1 << 20;
        }
    }
    cfg.kernel.plug.max_rq = max_rq;
    cfg.kernel.plug.multi_factor = factor;
    cfg.kernel.plug.order = order;
    md(&mut cfg).stripe_cache_size = stripes.next_multiple_of(8).max(24) as u32;
    md(&mut cfg).sync = Some(SyncConfig { speed_min: 1_000_000, speed_max: 2_000_000 });
    cfg.stop.runtime_ns = Some(1);
    let r = run(cfg);
    let first = r.trace.iter().take_while(|r| r.action != Action::Complete);
    let issued = first.filter(|r| r.action == Action::Issue);
    issued.map(|r| (r.dev, r.sector / KIB, u64::from(r.nr_sectors) / KIB)).collect()
}

#[test]
fn md_m12_vector_8_check_of_36_members() {
    use PlugOrder::{Fifo, Lifo};
    let small = check(36, 16, 1, Fifo, 32);
    assert!(small.len() == 36 * 32 && small.iter().all(|r| r.2 == 4));
    for (max_rq, factor) in [(16, 4), (32, 2)] {
        let merged = check(36, max_rq, factor, Fifo, 32);
        let want: Vec<(u16, u64, u64)> = (0..36).rev().map(|m| (m, 0, 128)).collect();
        assert_eq!(merged, want, "{max_rq}/{factor}");
    }
    let lifo: Vec<u16> = check(36, 32, 2, Lifo, 32).iter().map(|r| r.0).collect();
    assert_eq!(lifo, (0..36).collect::<Vec<_>>());
    let long = check(36, 32, 2, Fifo, 130 * 8 / 8);
    assert!(long[..36].iter().all(|r| r.2 == 512), "{:?}", &long[..40]);
    let merges = |disks, max_rq, factor| check(disks, max_rq, factor, Fifo, 32).iter().all(|r| r.2 == 128);
    assert!(merges(16, 16, 1) && !merges(17, 16, 1));
    assert!(merges(60, 32, 2) && merges(64, 32, 2) && !merges(65, 32, 2));
}

#[test]
fn md_m12_vector_9_parity_has_no_origin() {
    // The layouts themselves are tested beside their code; here: what the pipeline makes of them.
    let r = submit(members(MdLevel::Raid6, 5, 64), vec![write_at(0, 0, 3 * 128)]);
    let writes: Vec<(u16, bool)> = r
        .of(Action::Remap)
        .iter()
        .filter(|r| r.op == Op::Write && r.sector == 0)
        .map(|r| (r.dev, r.origin == NO_ORIGIN))
        .collect();
    // Row 0 is Q 0 1 2 P, members descending.
    assert_eq!(writes, [(4, true), (3, false), (2, false), (1, false), (0, true)]);
}

#[test]
fn md_m12_vector_13_raid10_near_copies() {
    let mut cfg = members(MdLevel::Raid10, 4, 64);
    md(&mut cfg).layout = 2 | 1 << 8;
    let r = submit(cfg, vec![write_at(0, 0, 3 * 128)]);
    let at: Vec<(u16, u64)> = r.of(Action::Remap).iter().map(|r| (r.dev, r.sector / 128)).collect();
    assert_eq!(at, [(0, 0), (1, 0), (2, 0), (3, 0), (0, 1), (1, 1)]);
}

#[test]
fn md_m12_vector_10_two_readers_on_mirrors() {
    let mut cfg = members(MdLevel::Raid1, 2, 64);
    for (n, first) in [0, 2 << 20].into_iter().enumerate() {
        cfg.jobs.push(JobConfig {
            name: format!("reader{n}"),
            dev: 2,
            workload: WorkloadConfig::Linear(LinearConfig {
                tool: Tool::Dd,
                rw: Rw::Read,
                bs: 256,
                bios: vec![],
                iodepth: 1,
                batch: 1,
                first,
                sectors: 1 << 20,
                io_bytes: Some(64 * 131_072),
                buffered: false,
                nowait: false,
                fio: Default::default(),
            }),
            prio: Default::default(),
            bio_segment_bytes: 4096,
            start_ns: 0,
            cgroup: Default::default(),
        });
    }
    let r = run(cfg);
    let of = |job: u16| -> Vec<u16> { r.of(Action::Issue).iter().filter(|r| r.job == job).map(|r| r.dev).collect() };
    assert_eq!((of(0), of(1)), (vec![0; 64], vec![1; 64]));
}

#[test]
fn raid1_writes_go_to_all_mirrors_in_order() {
    let r = submit(members(MdLevel::Raid1, 2, 64), vec![write_at(0, 0, 256)]);
    assert_eq!(text(&r), "W0@0+128K | W1@0+128K");
    let stats: Vec<u64> = r.sim.snapshot().devices.iter().map(|d| d.stats.ios[1]).collect();
    assert_eq!(stats, [1, 1, 1]);
}

#[test]
fn md_m12_vector_16_dm() {
    let dm = |target, members: u16| {
        let mut cfg = config();
        cfg.devices = (0..members).map(|n| capped(n, 1_000_000)).collect();
        let dm = DmConfig { target, members: (0..members).collect() };
        cfg.devices.push(DeviceConfig {
            name: "dm-0".into(),
            dev: (253, 0),
            queue: None,
            kind: DeviceKind::Dm(dm),
            throttle: None,
        });
        cfg
    };
    let stripe = submit(dm(DmTarget::Striped { chunk_sectors: 128 }, 4), vec![write_at(0, 64, 512)]);
    let at: Vec<(u16, u64, u32)> =
        stripe.of(Action::Remap).iter().map(|r| (r.dev, r.sector / KIB, r.nr_sectors / 2)).collect();
    assert_eq!(at, [(0, 32, 32), (1, 0, 64), (2, 0, 64), (3, 0, 64), (0, 64, 32)]);
    assert_eq!(stripe.of(Action::Split).len(), 4);
    let crypt = |max| DmTarget::Crypt { max_read: 256, max_write: max, sector_ns: 10 };
    for (max, pieces) in [(256, 8), (2048, 1)] {
        let mut cfg = dm(crypt(max), 1);
        // The writer wakes when all is encrypted.
        cfg.host.md_wake_ns = 1_000_000;
        let r = submit(cfg, vec![write_at(0, 0, 2048)]);
        assert_eq!(r.of(Action::Remap).len(), pieces);
        // Sorted, under one plug: one request again.
        assert_eq!(text(&r), "W0@0+1024K");
    }
}
