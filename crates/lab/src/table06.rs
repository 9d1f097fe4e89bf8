//! 06: reads in four pieces by many jobs, on a hard disk, an SSD and an NVMe device.
//!
//! Models: kernel 3.2, 3.3; waiters counted in each wait queue, as before 6.2.
//! Rule: of SSD and NVMe only the rate is known, and fitted on the row of one job. The hard disk is the profile's, as far
//! as 4 TB: nothing of it is fitted. A sleep is two context switches, away and back; what a machine has of them beside
//! is the row of one job, so rows say what there is above that.
//! Leaves out: the single-queue kernel and the proposed patch.

use crate::table::{Cells, Measured, Table, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "06",
    source: "linux-block, \"blk-mq: provide more tags for woken-up process when tag allocation is busy\" (June 2020): 1 MiB \
             random reads, iodepth=1024, max_sectors_kb=256, wake batch 8, Linux 5.6.15. nr_requests and the depth of the \
             disks are not stated: 64 of each is assumed; cap_rate=1075MiB/s and 3018MiB/s are fitted on SSD and NVMe, 1 \
             job; wake_spread_ns=17700ns is that of seed-003",
    runs,
    seeds: 3,
    judge,
    outside: &[
        "rows of 4.18-sq: a kernel with one queue and a lock",
        "rows of 5.6.15-patched: a woken task takes several tags at once; never merged, and no setting stands for it",
        "context switches of kworkers that run the hardware queues, and of threads that take interrupts",
        "what the hard disk is, beyond its 4 TB",
    ],
};

struct Kind {
    name: &'static str,
    link: &'static str,
    /// Jobs, IOPS and context switches a second.
    rows: &'static [(u32, f64, f64)],
    disk: bool,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "HDD",
        link: "size=3726GiB",
        rows: &[(1, 120.0, 1162.0), (24, 105.0, 1715.0), (48, 102.0, 1967.0), (72, 100.0, 1908.0)],
        disk: true,
    },
    Kind {
        name: "SSD",
        link: "drive=capped&hba=ahci&cap_rate=1075MiB/s&capacity=1676GiB&runtime=5s&ramp_time=100ms",
        rows: &[(1, 1075.0, 5123.0), (24, 1075.0, 15_238.0), (48, 1076.0, 19_015.0), (72, 1076.0, 19_050.0)],
        disk: false,
    },
    Kind {
        name: "NVMe",
        link: "drive=capped&scheduler=none&nr_requests=auto&hba=mpi3mr&queue_depth=1023&nr_hw_queues=4&nr_cpus=72\
               &cap_rate=3018MiB/s&capacity=1397GiB&runtime=5s&ramp_time=100ms",
        rows: &[
            (1, 3018.0, 6292.0),
            (18, 3015.0, 19_428.0),
            (36, 3001.0, 21_290.0),
            (54, 2993.0, 23_060.0),
            (72, 2984.0, 24_221.0),
        ],
        disk: false,
    },
];

fn runs() -> Vec<String> {
    let of =
        |k: &'static Kind| k.rows.iter().map(|(jobs, ..)| format!("p=hdd-split-jobs&b=0&numjobs={jobs}&{}", k.link));
    KINDS.iter().flat_map(of).collect()
}

const DISK: &str = "the disk is unknown but for its 4 TB; the profile's, of the same size, needs 3 ms more for 1 MiB whoever \
                    reads it, and the share that is left with many jobs is what the table is about";
const WORKERS: &str = "a context switch is counted there whoever makes it: kworkers that run the queue after completions \
                       come on top of the tasks that sleep for tags";
const SPREAD: &str = "how many tags a woken task takes in a row depends on how far woken tasks run apart, and that one number is \
                      the hard disk's of seed-003 here, not this machine's";

fn judge(t: &mut Cells) -> Vec<Shape> {
    let (mut lost, mut kept, mut sleeps, mut apart) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut one = 0;
    for k in &KINDS {
        let (_, iops_of_one, switches_of_one) = k.rows[0];
        for (i, (jobs, iops, switches)) in k.rows.iter().copied().enumerate() {
            let n = one + i;
            let row = |what: &str| format!("{}, {jobs} jobs, {what}", k.name);
            let cell = t.cell(n, row("IOPS"), "5.6.15", "1/s", iops, |m| m.stats.iops());
            match (k.disk, i) {
                (true, _) => cell.because(DISK),
                (false, 0) => cell.fitted(),
                _ => {}
            }
            if i == 0 {
                continue;
            }
            let left = 100.0 * iops / iops_of_one;
            let share = |a: &Measured, b: &Measured| 100.0 * b.stats.iops() / a.stats.iops();
            t.between([one, n], row("IOPS, of one job's"), "5.6.15", "%", left, share);
            let more = (switches - switches_of_one) / iops;
            let cell = t.between([one, n], row("switches more an I/O"), "5.6.15", "switches", more, |a, b| {
                2.0 * (b.sleeps() - a.sleeps())
            });
            match k.name {
                "SSD" => cell.because(WORKERS),
                "NVMe" => cell.because(SPREAD),
                _ => {}
            }
            let simulated = t.simulated(&row("IOPS, of one job's"), "5.6.15");
            match k.disk {
                true if simulated > 95.0 => lost.push(row("IOPS")),
                false if simulated < 98.0 => kept.push(row("IOPS")),
                _ => {}
            }
            if t.simulated(&row("switches more an I/O"), "5.6.15") < 1.0 {
                sleeps.push(row("switches"));
            }
            // Three of four gaps are nothing where the pieces of a read stay together.
            if t.run(one).sequential_pct() < 74.0 || t.run(n).sequential_pct() > 25.0 {
                apart.push(row("pieces"));
            }
        }
        one += k.rows.len();
    }
    vec![
        rule("many jobs cost a hard disk I/Os", lost),
        rule("they cost SSD and NVMe none", kept),
        rule("they sleep more often for an I/O", sleeps),
        rule("one job's pieces go out together, those of many jobs apart", apart),
    ]
}
