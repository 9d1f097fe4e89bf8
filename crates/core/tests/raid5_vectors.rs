//! Golden vectors 1 to 7 of md M.12 at the level of raid5d's 4 KiB I/Os, the table of M.5, and laws of the stripe cache.
//!
//! The test plays raid5d and the members: it collects the I/Os of a run and ends them after it.

use std::collections::{HashMap, HashSet};

mod common;

use bioscope_core::config::{MdConfig, MdLevel};
use bioscope_core::md::raid5::{Attach, Output, Raid5, Spread, Step, StripeIo};
use bioscope_core::observe::snapshot::sflag::{LOCKED, OVERWRITE, PARITY, READING, TOWRITE, UPTODATE, WRITING};
use bioscope_core::observe::trace::NO_ORIGIN;
use bioscope_core::observe::why::Why;
use common::Dice;

fn config(level: MdLevel, disks: usize, chunk_kib: u32) -> MdConfig {
    MdConfig {
        level,
        members: (0..disks as u16).collect(),
        chunk_sectors: chunk_kib * 2,
        layout: 2,
        data_offset: 0,
        stripe_cache_size: 256,
        rmw_level: 1,
        preread_bypass_threshold: 1,
        sync: None,
    }
}

struct Play {
    array: Raid5,
    /// References bios still have, all together.
    refs: u32,
    /// Decisions of the last run.
    notes: Vec<Why>,
}

impl Play {
    fn new(cfg: &MdConfig) -> Self {
        Self { array: Raid5::new(cfg, true), refs: 0, notes: vec![] }
    }
    fn raid5(disks: usize, chunk_kib: u32) -> Self {
        Self::new(&config(MdLevel::Raid5, disks, chunk_kib))
    }
    /// A bio written under a plug, which is released; the member sectors visited, in order.
    fn write(&mut self, sector: u64, nr_sectors: u32, sync: bool) {
        let mut spread = self.array.begin(0, sector, nr_sectors, sync);
        let mut plug = vec![];
        assert_eq!(self.array.attach(&mut spread, Some(&mut plug), &mut self.refs), Attach::Done);
        for stripe in plug {
            self.array.release(stripe);
        }
    }
    fn kib(&mut self, at: u64, kib: u32) {
        self.write(at * 2, kib * 2, true);
    }
    /// raid5d runs until nothing is left.
    fn run(&mut self) -> Vec<StripeIo> {
        let mut out = Output::default();
        while self.array.next(&mut out) == Step::Handled {}
        self.refs -= out.ended.len() as u32;
        self.notes = out.notes;
        out.ios
    }
    fn end(&mut self, ios: &[StripeIo]) {
        for io in ios {
            self.array.io_done(io.stripe, io.role, io.write);
        }
    }
    /// A run whose I/Os end behind it, as `R7@0+64 W0@0+4`.
    fn round(&mut self) -> String {
        let ios = self.run();
        self.end(&ios);
        requests(&ios)
    }
    /// Rounds until there is no I/O.
    fn rounds(&mut self) -> Vec<String> {
        let rounds = std::iter::from_fn(|| Some(self.round()).filter(|r| !r.is_empty())).collect();
        assert_eq!((self.refs, self.array.active()), (0, 0));
        rounds
    }
}

/// I/Os that continue the newest request of their member join it. Sizes in KiB.
fn requests(ios: &[StripeIo]) -> String {
    let mut rqs: Vec<(bool, u8, u64, u64)> = vec![];
    for io in ios {
        let at = io.sector / 2;
        match rqs.iter_mut().rfind(|(_, role, ..)| *role == io.role) {
            Some((write, _, from, kib)) if *write == io.write && *from + *kib == at => *kib += 4,
            _ => rqs.push((io.write, io.role, at, 4)),
        }
    }
    let text = |(write, role, at, kib)| format!("{}{role}@{at}+{kib}", if write { 'W' } else { 'R' });
    rqs.into_iter().map(text).collect::<Vec<_>>().join(" ")
}

/// `of("R", [7, 0], "@0+64")` = `R7@0+64 R0@0+64`.
fn of(op: &str, roles: &[u8], range: &str) -> String {
    roles.iter().map(|role| format!("{op}{role}{range}")).collect::<Vec<_>>().join(" ")
}

#[test]
fn md_m12_vector_1() {
    let mut a = Play::raid5(3, 512);
    a.kib(0, 1024);
    let ios = a.run();
    assert_eq!(a.notes, [Why::StripeBatch { sector: 0, stripes: 128 }]);
    // A batch writes member by member.
    let order: Vec<(u8, u64)> = ios.iter().map(|io| (io.role, io.sector)).collect();
    let want = [2u8, 1, 0].iter().flat_map(|role| (0..128).map(|n| (*role, n * 8)));
    assert_eq!(order, want.collect::<Vec<_>>());
    let origins: Vec<u64> = ios.iter().step_by(128).map(|io| io.origin).collect();
    assert_eq!(origins, [NO_ORIGIN, 1024, 0]);
    assert!(ios.iter().all(|io| io.sync && io.write));
    a.end(&ios);
    assert_eq!(a.rounds(), [""; 0]);
    // At once again: the stripes are still cached, so each is handled for itself.
    a.kib(0, 1024);
    let ios = a.run();
    let order: Vec<(u8, u64)> = ios.iter().map(|io| (io.role, io.sector)).collect();
    let want = (0..128).flat_map(|n| [2u8, 1, 0].map(|role| (role, n * 8)));
    assert_eq!(order, want.collect::<Vec<_>>());
    a.end(&ios);
    assert_eq!(a.rounds(), [""; 0]);
}

#[test]
fn md_m12_vector_2() {
    let mut a = Play::raid5(3, 512);
    // Cut by the full stripe: 768 KiB and 256 KiB.
    a.kib(256, 768);
    assert_eq!(a.round(), "R0@0+256 W2@256+256 W1@256+256 W0@256+256");
    let batch = |w: &&Why| matches!(w, Why::StripeBatch { .. });
    assert_eq!(a.notes.iter().find(batch), Some(&Why::StripeBatch { sector: 512, stripes: 64 }));
    assert_eq!(a.rounds(), ["W2@0+256 W1@0+256"]);
}

#[test]
fn md_m12_vector_3() {
    for (rmw_level, reads) in [(0, &[6, 5, 4, 3, 2, 1][..]), (1, &[7, 0]), (2, &[7, 0])] {
        let mut a = Play::new(&MdConfig { rmw_level, ..config(MdLevel::Raid5, 8, 64) });
        a.kib(0, 64);
        assert_eq!(a.rounds(), [of("R", reads, "@0+64"), of("W", &[7, 0], "@0+64")], "level {rmw_level}");
    }
}

#[test]
fn md_m12_vector_4() {
    let rounds = |rmw_level, kib| {
        let mut a = Play::new(&MdConfig { rmw_level, ..config(MdLevel::Raid5, 8, 64) });
        a.kib(0, kib);
        a.rounds()
    };
    let writes = of("W", &[7, 2, 1, 0], "@0+64");
    assert_eq!(rounds(1, 192), [of("R", &[6, 5, 4, 3], "@0+64"), writes.clone()]);
    assert_eq!(rounds(2, 192), [of("R", &[7, 2, 1, 0], "@0+64"), writes]);
    for level in [1, 2] {
        let writes = of("W", &[7, 3, 2, 1, 0], "@0+64");
        assert_eq!(rounds(level, 256), [of("R", &[6, 5, 4], "@0+64"), writes]);
        assert_eq!(rounds(level, 448), [of("W", &[7, 6, 5, 4, 3, 2, 1, 0], "@0+64")]);
    }
}

#[test]
fn md_m12_vector_5() {
    let mut a = Play::raid5(8, 64);
    a.kib(0, 4);
    assert_eq!(a.rounds(), ["R7@0+4 R0@0+4", "W7@0+4 W0@0+4"]);
    a.kib(0, 4);
    assert_eq!(a.rounds(), ["W7@0+4 W0@0+4"]);
    a.kib(64, 4);
    assert_eq!(a.rounds(), ["R1@0+4", "W7@0+4 W1@0+4"]);
    a.write(1, 1, true);
    assert_eq!(a.rounds(), ["W7@0+4 W0@0+4"]);
}

#[test]
fn md_m12_vector_6() {
    for (disks, want) in [(8, ["R7@0+4 R0@0+4", "W7@0+4 W0@0+4"]), (3, ["R1@0+4 R0@0+4", "W2@0+4 W0@0+4"])] {
        let mut a = Play::raid5(disks, 64);
        a.write(1, 1, true);
        assert_eq!(a.rounds(), want);
    }
}

#[test]
fn md_m12_vector_7() {
    let mut a = Play::raid5(8, 64);
    a.write(0, 128, false);
    assert_eq!(a.round(), "R7@0+32 R0@0+32");
    let delayed = a.notes.iter().filter(|w| matches!(w, Why::StripeDelayed { .. })).count();
    assert_eq!(delayed, 16);
    let view = a.array.view();
    assert_eq!((view.lists, view.active), ([0, 8, 0], 16));
    let ios = a.run();
    assert!(ios.iter().all(|io| !io.sync));
    // Eight stripes' writes, then the reads of the other eight, stripe by stripe.
    assert_eq!(requests(&ios[..16]), "W7@0+32 W0@0+32");
    let reads: Vec<(bool, u8, u64)> = ios[16..].iter().map(|io| (io.write, io.role, io.sector / 2)).collect();
    assert_eq!(reads, (8..16).flat_map(|n| [(false, 7, n * 4), (false, 0, n * 4)]).collect::<Vec<_>>());
    a.end(&ios);
    assert_eq!(a.rounds(), ["W7@32+32 W0@32+32"]);
}

/// The reads of a check, n stripes queued at once.
#[test]
fn md_m12_vector_8() {
    for (stripes, kib) in [(8, 32), (32, 128)] {
        let mut a = Play::new(&config(MdLevel::Raid6, 36, 512));
        for n in 0..stripes {
            assert_eq!(a.array.sync_request(n * 8), Some(true));
        }
        let all: Vec<u8> = (0..36).rev().collect();
        let mut out = Output::default();
        while a.array.next(&mut out) == Step::Handled {}
        assert_eq!(requests(&out.ios), of("R", &all, &format!("@0+{kib}")));
        // Each stripe reads all its members before the next.
        assert!(out.ios.chunks(36).enumerate().all(|(n, s)| s.iter().all(|io| io.sector == n as u64 * 8)));
        assert_eq!(out.synced, 0);
        a.end(&out.ios);
        let mut out = Output::default();
        while a.array.next(&mut out) == Step::Handled {}
        assert_eq!((out.ios.len(), out.synced, a.array.active()), (0, stripes as u32, 0));
    }
}

/// Of a clean array, k of N data blocks written completely.
#[test]
fn md_m5_rmw_or_rcw() {
    use MdLevel::{Raid5, Raid6};
    // Up to which k read-modify-write is chosen, and whether the next k is a tie.
    let table = [
        (Raid5, 3, 0, false),
        (Raid5, 4, 0, true),
        (Raid5, 5, 1, false),
        (Raid5, 8, 2, true),
        (Raid6, 6, 0, true),
        (Raid6, 8, 1, true),
        (Raid6, 36, 15, true),
    ];
    for (level, disks, most, tie) in table {
        let parities = if level == Raid5 { 1 } else { 2 };
        let data = disks as u32 - parities;
        for rmw_level in 0..=2u8 {
            for k in 1..=data {
                let mut a = Play::new(&MdConfig { rmw_level, ..config(level, disks, 4) });
                a.kib(0, 4 * k);
                let ios = a.run();
                let modify = rmw_level > 0 && (k <= most || k == most + 1 && tie && rmw_level == 2);
                let reads = if modify { k + parities } else { data - k };
                let note = match (reads, modify) {
                    (0, _) => Why::FullStripe { sector: 0, blocks: data },
                    (_, true) => Why::ReadModifyWrite { sector: 0, rmw: k + parities, rcw: data - k },
                    (_, false) => Why::ReconstructWrite { sector: 0, rmw: k + parities, rcw: data - k },
                };
                assert_eq!(a.notes, [note], "{level:?} {disks} level {rmw_level} k {k}");
                let writes = if reads > 0 {
                    assert!(ios.iter().all(|io| !io.write));
                    assert_eq!(ios.len() as u32, reads, "{level:?} {disks} level {rmw_level} k {k}");
                    a.end(&ios);
                    a.run()
                } else {
                    ios
                };
                assert!(writes.iter().all(|io| io.write));
                assert_eq!(writes.len() as u32, k + parities);
                a.end(&writes);
                assert_eq!(a.rounds(), [""; 0]);
            }
        }
    }
}

/// With K queued stripes all parities are computed before the first write; eight stripes are taken at a time.
#[test]
fn md_m4_two_passes() {
    let mut a = Play::raid5(3, 4);
    a.kib(0, 8 * 20);
    let mut out = Output::default();
    for _ in 0..20 {
        assert_eq!(a.array.next(&mut out), Step::Handled);
    }
    assert!(out.ios.is_empty());
    assert_eq!(a.array.next(&mut out), Step::Handled);
    assert_eq!(out.ios.len(), 3);
}

/// Who found the cache empty waits until it is a quarter free: 64 stripes of 256.
#[test]
fn md_m3_restart_at_three_quarters() {
    let mut a = Play::raid5(3, 512);
    let mut at = 0;
    while a.array.sync_request(at).is_some() {
        at += 8;
    }
    assert_eq!((at, a.array.active()), (256 * 8, 256));
    let ios = a.run();
    assert_eq!(a.array.stripes(), 257, "raid5d adds one stripe at the end of the run");
    for (n, stripe) in ios.chunks(3).enumerate() {
        a.end(stripe);
        assert!(a.run().is_empty());
        let free = n as u32 + 1;
        assert_eq!(a.array.active(), 256 - free);
        if free <= 64 {
            assert_eq!(a.array.sync_request(at), None, "{free} free");
        } else {
            assert!(a.array.sync_request(at).is_some(), "{free} free");
            break;
        }
    }
    // Others go on as long as their sub-pool has one.
    assert!((1..64).all(|n| a.array.sync_request(at + n * 8).is_some()));
}

/// A writer that finds no stripe goes on where it stopped, once some are free.
#[test]
fn md_m3_writer_waits() {
    let mut a = Play::raid5(3, 512);
    let mut bio = a.array.begin(0, 0, 3 * 2048, true);
    let mut plug = vec![];
    assert_eq!(a.array.attach(&mut bio, Some(&mut plug), &mut a.refs), Attach::WaitStripe);
    assert_eq!((plug.len(), a.refs), (256, 512));
    assert!(!a.array.may_retry(&bio));
    plug.drain(..).for_each(|stripe| _ = a.array.release(stripe));
    assert_eq!(a.round(), "W2@0+1024 W1@0+1024 W0@0+1024");
    assert!(!a.array.may_retry(&bio));
    assert_eq!(a.round(), "");
    assert!(a.array.may_retry(&bio));
    assert_eq!(a.array.attach(&mut bio, Some(&mut plug), &mut a.refs), Attach::Done);
    assert_eq!((plug.len(), a.refs), (128, 256));
    plug.drain(..).for_each(|stripe| _ = a.array.release(stripe));
    assert_eq!(a.rounds(), ["W2@1024+512 W1@1024+512 W0@1024+512"]);
}

/// Stripes in use by member sector, with what their pages are at.
#[test]
fn md_m3_view() {
    let mut a = Play::raid5(4, 64);
    a.kib(4, 4);
    a.write(1, 1, true);
    let ios = a.run();
    let page = |flags: &[u8]| flags.iter().fold(0, |all, f| all | f);
    let reading = LOCKED | READING;
    let view = a.array.view();
    assert_eq!((view.size, view.active, view.lists), (256, 2, [0; 3]));
    let sectors: Vec<u64> = view.stripes.iter().map(|s| s.sector).collect();
    assert_eq!(sectors, [0, 8]);
    // The partly covered block is read anyway, which leaves one read to modify; the other stripe is a tie.
    assert_eq!(view.stripes[0].flags, [page(&[TOWRITE, reading]), 0, 0, page(&[PARITY, reading])]);
    assert_eq!(view.stripes[1].flags, [page(&[TOWRITE, OVERWRITE]), reading, reading, PARITY]);
    a.end(&ios);
    a.run();
    let writing = LOCKED | WRITING | UPTODATE;
    let view = a.array.view();
    for (stripe, rest) in view.stripes.iter().zip([0, UPTODATE]) {
        assert_eq!(stripe.flags, [writing, rest, rest, page(&[writing, PARITY])]);
        assert!(!stripe.delayed && !stripe.batched);
    }
}

/// Free stripes are used again least recently used first.
#[test]
fn md_m3_lru() {
    let mut a = Play::new(&MdConfig { stripe_cache_size: 24, ..config(MdLevel::Raid5, 8, 1024) });
    // Three stripes of one sub-pool; the first is used once more, so the second goes when a fourth comes.
    for at in [0, 32, 64, 0, 96] {
        a.kib(at, 4);
        a.rounds();
    }
    for (at, reads) in [(0, 0), (64, 0), (96, 0), (32, 2)] {
        a.kib(at, 4);
        let first = a.round();
        assert_eq!(first.matches('R').count(), reads, "{at} {first}");
        a.rounds();
    }
}

/// New data for a block waits until the old has been taken, and for a batch until it is written.
#[test]
fn md_m2_overlap() {
    for (kib, batch) in [(4, false), (56, true)] {
        let mut a = Play::raid5(8, 8);
        a.kib(0, kib);
        let mut bio = a.array.begin(1, 0, 8, true);
        let mut refs = 0;
        assert_eq!(a.array.attach(&mut bio, None, &mut refs), Attach::WaitOverlap);
        assert!(!a.array.may_retry(&bio));
        let mut ios = a.run();
        if !batch {
            assert!(!a.array.may_retry(&bio), "its reads are under way");
            a.end(&ios);
            ios = a.run();
        }
        // Taken, and being written: a second write to it may come, unless it is a batch.
        assert_eq!(a.array.may_retry(&bio), !batch);
        a.end(&ios);
        assert_eq!(a.run(), []);
        assert!(a.array.may_retry(&bio));
        assert_eq!(a.array.attach(&mut bio, None, &mut refs), Attach::Done);
        assert_eq!(refs, 1);
    }
}

/// Full-stripe writes pass a stripe that has to read, but not more often than preread_bypass_threshold allows.
#[test]
fn md_m6_bypass() {
    for (preread_bypass_threshold, waits) in [(0, true), (1, false), (78, false), (79, true)] {
        let mut a = Play::new(&MdConfig { preread_bypass_threshold, ..config(MdLevel::Raid5, 3, 4) });
        // One that has to read is delayed, then 40 full rows of 4 KiB (too short for batches) are ready.
        a.write(1 << 20, 8, false);
        assert_eq!(a.array.next(&mut Output::default()), Step::Handled);
        a.write(0, 40 * 16, false);
        let ios = a.run();
        // Each full stripe passes it twice, the first time only to be noticed.
        assert!(ios[..120].iter().all(|io| io.write));
        assert_eq!(ios.len(), if waits { 120 } else { 121 }, "threshold {preread_bypass_threshold}");
        a.end(&ios);
        // Without writes of full stripes nothing holds it back.
        assert_eq!(a.rounds().len(), if waits { 2 } else { 1 });
    }
}

/// A writer of the laws: its bio, its plug and what it still waits for.
struct Writer {
    bio: Spread,
    plug: Option<Vec<u32>>,
    /// Blocks attached, and those of them that have ended.
    refs: u32,
    ended: u32,
    attached: bool,
    /// Member I/Os there had been when it began.
    since: usize,
    /// Member pages it writes.
    pages: Vec<(u8, u64)>,
}

/// Random writes to a small array, in random steps: every reference ends exactly once and after the write of its
/// block; no stripe is left; parity is written with data; a page has one I/O at a time; raid5d runs only when woken,
/// and that is enough.
#[test]
fn md_m2_laws() {
    for seed in 0..400 {
        let mut d = Dice(seed);
        let level = d.pick(&[MdLevel::Raid5, MdLevel::Raid6]);
        let disks = d.pick(&[4, 5, 6]);
        let cfg = MdConfig {
            layout: d.below(6) as u32,
            stripe_cache_size: d.pick(&[17, 32, 256]),
            rmw_level: d.below(3) as u8,
            preread_bypass_threshold: d.below(3) as u32,
            ..config(level, disks, d.pick(&[4, 8, 16]))
        };
        let mut array = Raid5::new(&cfg, d.flip());
        let layout = array.layout();
        let sectors = d.pick(&[256u64, 2048]);
        let (mut writers, mut begun) = (Vec::<Writer>::new(), 0);
        let (mut awake, mut synced, mut asked) = (false, 0, 0);
        let mut flying: Vec<(StripeIo, usize)> = vec![];
        // Which member I/O wrote a page last.
        let mut wrote: HashMap<(u8, u64), usize> = HashMap::new();
        let mut ios = 0;
        for step in 0.. {
            assert!(step < 200_000, "seed {seed}: stuck");
            match d.below(8) {
                0 if begun < 60 => {
                    let nr = d.pick(&[1u64, 8, 24, 64, 256]).min(sectors);
                    let sector = d.below(sectors - nr + 1) & !d.pick(&[0, 7]);
                    let pages = (sector / 8..=(sector + nr - 1) / 8).map(|b| layout.map(cfg.chunk_sectors, b * 8));
                    writers.push(Writer {
                        bio: array.begin(begun, sector, nr as u32, d.flip()),
                        plug: d.flip().then(Vec::new),
                        refs: 0,
                        ended: 0,
                        attached: false,
                        since: ios,
                        pages: pages.collect(),
                    });
                    begun += 1;
                }
                1 if asked < 20 => {
                    // A sync thread asks for each stripe once.
                    if let Some(wake) = array.sync_request(u64::from(asked) * 8) {
                        awake |= wake;
                        asked += 1;
                    }
                }
                2 | 3 => {
                    let waiting: Vec<usize> = (0..writers.len()).filter(|w| !writers[*w].attached).collect();
                    if waiting.is_empty() {
                        continue;
                    }
                    let w = &mut writers[d.pick(&waiting)];
                    if !array.may_retry(&w.bio) {
                        continue;
                    }
                    let got = array.attach(&mut w.bio, w.plug.as_mut(), &mut w.refs);
                    w.attached = got == Attach::Done;
                    if w.attached {
                        assert_eq!(w.pages.len() as u32, w.refs);
                    }
                    // A task that sleeps or is done flushes its plug.
                    awake |= w.plug.is_none() || got == Attach::WaitOverlap;
                    for stripe in w.plug.iter_mut().flat_map(|p| p.drain(..)) {
                        awake |= array.release(stripe);
                    }
                }
                4 | 5 if awake => {
                    let mut out = Output::default();
                    awake = array.next(&mut out) == Step::Handled;
                    synced += out.synced;
                    let rows: HashSet<u64> = out.ios.iter().filter(|io| io.write).map(|io| io.sector).collect();
                    for row in rows {
                        let written = out.ios.iter().filter(|io| io.write && io.sector == row);
                        let roles: Vec<u8> = written.map(|io| io.role).collect();
                        let (p, q) = layout.parity(row / u64::from(cfg.chunk_sectors));
                        assert!(roles.contains(&p) && q.is_none_or(|q| roles.contains(&q)));
                        assert!(roles.len() > usize::from(layout.parities()));
                    }
                    for io in out.ios {
                        let page = (io.role, io.sector);
                        assert!(flying.iter().all(|(f, _)| (f.role, f.sector) != page), "one I/O a page");
                        let origin = layout.origin(cfg.chunk_sectors, io.role, io.sector);
                        assert_eq!(origin.unwrap_or(NO_ORIGIN), io.origin);
                        flying.push((io, ios));
                        ios += 1;
                    }
                    for bio in out.ended {
                        let w = &mut writers[bio as usize];
                        w.ended += 1;
                        assert!(w.ended <= w.refs, "a reference ends once");
                        if w.attached && w.ended == w.refs {
                            assert!(w.pages.iter().all(|page| wrote.get(page).is_some_and(|n| *n >= w.since)));
                        }
                    }
                }
                6 | 7 if !flying.is_empty() => {
                    let (io, n) = flying.swap_remove(d.below(flying.len() as u64) as usize);
                    if io.write {
                        wrote.insert((io.role, io.sector), n);
                    }
                    awake |= array.io_done(io.stripe, io.role, io.write);
                }
                _ => {}
            }
            assert!(array.active() <= array.stripes());
            let idle = flying.is_empty() && !awake && synced == asked;
            if idle && begun == 60 && asked == 20 && writers.iter().all(|w| w.attached && w.ended == w.refs) {
                break;
            }
        }
        assert_eq!(array.active(), 0, "seed {seed}");
        let view = array.view();
        assert_eq!((view.active, view.lists, view.stripes.len()), (0, [0; 3], 0));
    }
}
