//! Scenarios drawn from a seed, to run the same things natively and in a browser.
//!
//! Models: nothing.
//! Rule: every scenario is valid and short (at most about 100,000 events); the list never changes within a version.
//! Leaves out: scenarios with errors.

use bioscope_scenario::Param;
use bioscope_scenario::preset::PRESETS;

/// Random scenarios.
pub const RANDOM: usize = 200;
/// Random stacks behind them.
pub const STACKS: usize = 100;

struct Dice(u64);

impl Dice {
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from[((self.0 >> 33) % from.len() as u64) as usize]
    }
}

/// Fragments of links: each preset's two runs, then the random ones, then stacks.
pub fn fragments() -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for p in PRESETS {
        out.push(format!("v=1&p={}&b=0", p.name));
        let b: String = p.b.iter().map(|(key, v)| format!("&{}={v}", Param::of(*key).key)).collect();
        out.push(format!("v=1&p={}{b}&b=0", p.name));
    }
    let mut d = Dice(2026);
    for seed in 0..RANDOM {
        let writeback = d.pick(&["fio", "fio", "fio", "writeback"]) == "writeback";
        let mut f = String::from("v=1");
        let mut reads = false;
        if writeback {
            f += "&workload=writeback";
        } else {
            let rw = d.pick(&["write", "randwrite", "randwrite", "randread", "read"]);
            reads = rw.ends_with("read");
            f += &format!("&rw={rw}");
            f += &format!("&bs={}", d.pick(&["4KiB", "64KiB", "256KiB", "1MiB", "2MiB"]));
            f += &format!("&iodepth={}", d.pick(&["1", "2", "7", "32", "128"]));
            f += &format!("&numjobs={}", d.pick(&["1", "2", "5", "16"]));
            f += &format!("&size={}", d.pick(&["1z", "2z", "5z", "20z", "64z"]));
            f += "&time_based=1";
            f += &format!("&hugepages={}", d.pick(&["0", "1"]));
        }
        f += &format!("&runtime={}", d.pick(&["300ms", "1s", "2s"]));
        f += &format!("&hba={}", d.pick(&["ahci", "mpi3mr"]));
        f += &format!("&scheduler={}", d.pick(&["none", "mq-deadline"]));
        f += &format!("&zoned_qd1_writes={}", d.pick(&["0", "1"]));
        f += &format!("&nomerges={}", d.pick(&["0", "1", "2"]));
        f += &format!("&write_cache={}", d.pick(&["1", "1", "0"]));
        f += &format!("&write_off_mode={}", d.pick(&["nonvolatile", "media"]));
        // Reads need data to find; writeback needs empty zones.
        let fill = d.pick(&["empty", "random"]);
        let fill = if reads {
            "random"
        } else if writeback {
            "empty"
        } else {
            fill
        };
        f += &format!("&first_fill={fill}");
        f += &format!("&zone_phase={}", d.pick(&["by_lba", "random"]));
        f += &format!("&seed={seed}");
        out.push(f);
    }
    let mut d = Dice(7);
    out.extend((0..STACKS).map(|seed| stack(&mut d, seed)));
    out
}

/// One stack with what is submitted to it.
fn stack(d: &mut Dice, seed: usize) -> String {
    let mut f = format!("v=1&seed={seed}");
    let stack = d.pick(&["raid0", "raid1", "raid5", "raid5", "raid6", "raid10", "dm-stripe", "dm-crypt"]);
    let mut add = |key: &str, from: &[&str]| {
        let v = d.pick(from);
        f += &format!("&{key}={v}");
        v.to_string()
    };
    add("stack", &[stack]);
    add("raid_disks", &["4", "5", "8", "17"]);
    add("chunk", &["4KiB", "64KiB", "512KiB"]);
    let drive = add("drive", &["capped", "capped", "cmr-8tb"]);
    add("runtime", if drive == "capped" { &["5ms", "20ms"] } else { &["200ms", "500ms"] });
    let dd = add("workload", &["fio", "fio", "dd"]) == "dd";
    let rw = if dd { &["read", "write"][..] } else { &["read", "write", "randread", "randwrite"] };
    add("rw", rw);
    let bs = add("bs", &["4KiB", "64KiB", "256KiB", "1MiB", "4MiB"]);
    if bs == "1MiB" || bs == "4MiB" {
        add("bios", &["1MiB", "500KiB", "300KiB,600KiB"]);
    }
    if !dd {
        add("iodepth", &["1", "4", "32"]);
        add("iodepth_batch", &["1", "0"]);
        add("numjobs", &["1", "3"]);
        add("time_based", &["1"]);
    }
    add("buffered", &["0", "0", "1"]);
    add("nowait", &["0", "0", "0", "1"]);
    add("split_insert", &["head", "tail"]);
    add("bio_list_model", &["two_list", "two_list", "one_list"]);
    add("plug_order", &["fifo", "lifo"]);
    add("plug_merge", &["newest", "head"]);
    add("plug_max_rq", &["32", "16"]);
    add("step_plug", &["1", "0"]);
    add("max_sectors_cap", &["4096KiB", "1280KiB"]);
    add("scheduler", &["none", "mq-deadline"]);
    add("nomerges", &["0", "0", "1", "2"]);
    add("wbps", &["0", "0", "0", "400MiB"]);
    add("riops", &["0", "0", "0", "3000"]);
    if stack == "raid5" || stack == "raid6" {
        add("layout", &["auto", "left-asymmetric", "right-symmetric", "parity-first"]);
        add("rmw_level", &["0", "1", "2"]);
        add("stripe_cache_size", &["256", "64", "1024"]);
        add("sync_action", &["idle", "idle", "check"]);
        for key in ["raid5_stripe_limit", "raid5_max_hw", "raid5_spread"] {
            add(key, &["1", "0"]);
        }
    }
    f
}
