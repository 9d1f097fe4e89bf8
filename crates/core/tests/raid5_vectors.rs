//! Golden vectors 1 to 7 of md M.12 at the level of raid5d's 4 KiB I/Os, the table of M.5, and laws of the stripe cache.
//!
//! The test plays raid5d and the members: it collects the I/Os of a run and ends them after it.

use bioscope_core::config::{MdConfig, MdLevel};
use bioscope_core::md::raid5::{Attach, Output, Raid5, Step, StripeIo};
use bioscope_core::observe::trace::NO_ORIGIN;
use bioscope_core::observe::why::Why;

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
