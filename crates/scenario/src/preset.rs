//! Presets: a pair of runs worth looking at, and the settings the published tables need.
//!
//! Models: the four tables of the commit log that added QUEUE_ZONED_QD1_WRITES (seed 000); the split bios of seed 002 and
//! of mails about raid0 and raid6 (kernel 1.5, 2.5, md M.5, M.12); tags and schedulers of seed 003 and of mails (kernel
//! 3, 4); zoned null_blk of seed 001, flash, zone locks, live settings and rq_qos (kernel 4.3, 5.3, 7.5, 8).
//! Rule: the shown run, the chart and `validate` differ only by `row`, so that they agree where they overlap.
//! Leaves out: the published figures themselves; they are reference data of `bioscope-lab`.

use crate::diagnostic::Diagnostic;
use crate::params::Key;
use crate::scenario::{Instance, Moment, Own, Scenario, Side, Sweep, row_value};
use crate::value::Value;

/// See the module.
#[derive(Debug, PartialEq)]
pub struct Preset {
    /// Name in links and on the command line.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// One sentence: what to look for; empty without the feature `texts`.
    pub look_for: &'static str,
    /// Where the scene comes from; empty without the feature `texts`.
    pub sources: &'static [&'static str],
    /// Settings of run A that are not defaults.
    pub a: &'static [(Key, &'static str)],
    /// Settings of single jobs, in both runs.
    pub jobs: &'static [(u16, Key, &'static str)],
    /// What differs in run B.
    pub b: &'static [(Key, &'static str)],
    /// Settings that replace A's in sweeps and in `validate`.
    pub row: &'static [(Key, &'static str)],
    /// The setting its chart sweeps, and the values.
    pub sweep: (&'static str, &'static str),
    /// Moment shown first.
    pub t: Moment,
    /// Simulated ns per second of wall time at the start.
    pub speed_ns: u64,
}

const MS: u64 = 1_000_000;
const COMMIT_LOG: &str = "Linux commit log of QUEUE_ZONED_QD1_WRITES (7.1), 30 TB host-managed SMR SATA disk";
const QD1: &[(Key, &str)] = &[(Key::ZonedQd1Writes, "1")];
/// One writeback stream after 4 GiB, 32 GiB long, zones at random angles.
const XFS_ROW: &[(Key, &str)] =
    &[(Key::Runtime, "0"), (Key::RampSize, "4GiB"), (Key::IoSize, "32GiB"), (Key::ZonePhase, "random")];
const ADAPTERS: (&str, &str) = ("hba", "ahci,mpi3mr");

const SPLIT_FIX: &str =
    "Mail of the fix that puts split bios at the head of current->bio_list (August 2025, Linux 6.18)";
const HEAD: &[(Key, &str)] = &[(Key::SplitInsert, "head")];

const ASYNC_DEPTH: &str = "Mail \"mq-deadline: covert to use request_queue->async_depth\" (November 2025, Linux 7.0)";
const OF_QUEUE: &[(Key, &str)] = &[(Key::AsyncDepthOwner, "queue")];

/// All presets.
pub static PRESETS: &[Preset] = &told([
    Preset {
        name: "smr-seq-write",
        title: "Sequential writes at depth on an SMR disk",
        look_for: "When the writer crosses into the next zone, A sends commands of both zones in turn and the head goes \
                   back and forth; B finishes the old zone first.",
        sources: &[COMMIT_LOG],
        a: &[(Key::Iodepth, "64")],
        jobs: &[],
        b: QD1,
        // 26 zones, the first two of them ramp.
        row: &[(Key::Runtime, "0"), (Key::Size, "26z"), (Key::RampSize, "512MiB")],
        sweep: ("iodepth", "1,2,4,8,16,32,64,128"),
        t: Moment { ns: 1050 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "smr-rand-zones",
        title: "Sixteen jobs on random zones",
        look_for: "A writes one half of a 1 MiB I/O and leaves for another zone before the other half comes; \
                   B writes all a zone has waiting in one visit.",
        sources: &[COMMIT_LOG],
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Iodepth, "32"),
            (Key::Numjobs, "16"),
            (Key::Size, "8z"),
            (Key::TimeBased, "1"),
            (Key::FirstFill, "random"),
            (Key::ZonePhase, "random"),
        ],
        jobs: &[],
        b: QD1,
        row: &[(Key::Runtime, "0"), (Key::RampSize, "6GiB"), (Key::IoSize, "24GiB")],
        sweep: ("size", "1z,2z,4z,8z,16z,32z,64z,128z"),
        t: Moment { ns: 1000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "smr-xfs-256m",
        title: "XFS writing 256 MiB files",
        look_for: "Each file fills a zone; A keeps two or three zones busy at the same time, B one.",
        sources: &[COMMIT_LOG],
        a: &[(Key::Workload, "writeback"), (Key::ZonePhase, "random")],
        jobs: &[],
        b: QD1,
        row: XFS_ROW,
        sweep: ADAPTERS,
        t: Moment { ns: 1000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "smr-xfs-4-128m",
        title: "XFS writing files of 4 to 128 MiB",
        look_for: "Files are packed one after the other into the open zone, so A still alternates between two or three zones.",
        sources: &[COMMIT_LOG],
        a: &[(Key::Workload, "writeback"), (Key::Filesize, "4MiB-128MiB"), (Key::ZonePhase, "random")],
        jobs: &[],
        b: QD1,
        row: XFS_ROW,
        sweep: ADAPTERS,
        t: Moment { ns: 1000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "smr-xfs-2-8m",
        title: "XFS writing files of 2 to 8 MiB",
        look_for: "Small files end in small commands: A changes zones more often per MiB than with large files.",
        sources: &[COMMIT_LOG],
        a: &[(Key::Workload, "writeback"), (Key::Filesize, "2MiB-8MiB"), (Key::ZonePhase, "random")],
        jobs: &[],
        b: QD1,
        row: XFS_ROW,
        sweep: ADAPTERS,
        t: Moment { ns: 1000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "raid456-split",
        title: "One large read, split twice by raid5",
        look_for: "What is left of a split goes to the tail of the list in A, so the third chunk is read before the \
                   second; in B it goes to the head and the chunks ascend.",
        sources: &[SPLIT_FIX],
        a: &[
            (Key::Workload, "dd"),
            (Key::Rw, "read"),
            (Key::Bs, "2MiB"),
            (Key::Count, "1"),
            (Key::Bios, "2MiB"),
            (Key::SplitInsert, "tail"),
            (Key::Stack, "raid5"),
            (Key::RaidDisks, "3"),
            (Key::Drive, "capped"),
        ],
        jobs: &[],
        b: HEAD,
        row: &[],
        sweep: ("chunk", "64KiB,128KiB,256KiB,512KiB"),
        t: Moment { ns: 2_000, k: 0 },
        speed_ns: 1_000,
    },
    Preset {
        name: "raid5-dd",
        title: "dd reading an eight-disk raid5",
        look_for: "Both sides read the same bytes: B's members get ascending chunks, two to a request; A's get them \
                   scrambled, fewer merge and the gaps between commands grow.",
        sources: &[SPLIT_FIX],
        // Two bios an I/O and where data starts are what the listed requests say; the members' limits are assumed.
        a: &[
            (Key::Workload, "dd"),
            (Key::Rw, "read"),
            (Key::Bs, "4480KiB"),
            (Key::Count, "100"),
            (Key::Bios, "3136KiB,1344KiB"),
            (Key::Scheduler, "none"),
            (Key::SplitInsert, "tail"),
            (Key::Raid5StripeLimit, "0"),
            (Key::Stack, "raid5"),
            (Key::Chunk, "64KiB"),
            (Key::DataOffset, "129MiB"),
            (Key::Drive, "capped"),
            (Key::CapRate, "1024MiB/s"),
        ],
        jobs: &[],
        b: HEAD,
        row: &[],
        sweep: ("plug_flush_bytes", "64KiB,128KiB,192KiB,256KiB,384KiB,512KiB"),
        t: Moment { ns: 720_000, k: 0 },
        speed_ns: 20_000,
    },
    Preset {
        name: "raid0-unaligned",
        title: "One write that starts beside raid0's chunks",
        look_for: "Each piece ends 8 sectors into the next chunk: A writes all long parts first and the 8-sector tails at \
                   the end, in reverse; B writes each tail in its turn, in front of the long part that follows it.",
        sources: &["Mail \"md/raid0: Fix performance regression for large sequential writes\" (August 2023)"],
        // Sector 1479315464, 63392 sectors long.
        a: &[
            (Key::Workload, "dd"),
            (Key::Bs, "31696KiB"),
            (Key::Offset, "739657732KiB"),
            (Key::Count, "1"),
            (Key::Bios, "31696KiB"),
            (Key::Scheduler, "none"),
            (Key::SplitInsert, "tail"),
            (Key::MdChunkLimit, "0"),
            (Key::Stack, "raid0"),
            (Key::RaidDisks, "2"),
            (Key::DataOffset, "129MiB"),
            (Key::Drive, "capped"),
        ],
        jobs: &[],
        b: HEAD,
        row: &[],
        sweep: ("chunk", "64KiB,128KiB,256KiB,512KiB,1MiB"),
        t: Moment { ns: 90_000, k: 0 },
        speed_ns: 10_000,
    },
    Preset {
        name: "raid6-check-36",
        title: "Check of a raid6 of 36 disks",
        look_for: "A's plug holds 16 requests, fewer than there are disks, so no read of 4 KiB finds its neighbour; \
                   B's holds 64, and each disk's reads merge.",
        sources: &["Mail \"Slow initial resync in RAID6 with 36 SAS drives\" (September 2021, Linux 5.10)"],
        // The disks are only known to read more than 200 MB/s: their limits are assumed.
        a: &[
            (Key::Workload, "none"),
            (Key::Scheduler, "none"),
            (Key::PlugMaxRq, "16"),
            (Key::PlugMultiFactor, "1"),
            (Key::Stack, "raid6"),
            (Key::RaidDisks, "36"),
            (Key::SyncAction, "check"),
            (Key::Drive, "capped"),
            (Key::Runtime, "100ms"),
        ],
        jobs: &[],
        b: &[(Key::PlugMultiFactor, "4")],
        row: &[],
        sweep: ("raid_disks", "12,16,17,24,36"),
        t: Moment { ns: 12_300_000, k: 0 },
        speed_ns: 50_000,
    },
    Preset {
        name: "raid5-rmw",
        title: "Writing one chunk of a raid5 stripe",
        look_for: "To compute new parity A reads the six chunks that stay, B the old chunk and the old parity; then both \
                   write the same two disks.",
        sources: &["drivers/md/raid5.c, handle_stripe_dirtying (Linux 5.17 to 7.1)"],
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Bs, "64KiB"),
            (Key::Stack, "raid5"),
            (Key::Chunk, "64KiB"),
            (Key::RmwLevel, "0"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "5s"),
        ],
        jobs: &[],
        b: &[(Key::RmwLevel, "1")],
        row: &[],
        sweep: ("bs", "64KiB,128KiB,192KiB,256KiB,320KiB,384KiB,448KiB"),
        t: Moment { ns: 42 * MS, k: 0 },
        speed_ns: 2 * MS,
    },
    Preset {
        name: "hdd-async-depth",
        title: "One number that keeps the pieces of an I/O apart",
        look_for: "Each 1 MiB read becomes eight requests. A wakes a waiting job for every freed tag, so it gets one and \
                   queues again behind 23 others; B wakes jobs when eight tags are free, and one takes several in a row. \
                   A's async_depth_owner=elevator tells the bitmap min_shallow_depth 1, hence wake_batch 1; B's queue \
                   tells it async_depth 64, hence 8. The chart over async_depth acts through wake_batch alone: these \
                   reads are not limited by it.",
        sources: &[ASYNC_DEPTH],
        // The mail gives neither nr_requests nor the depth of the device: 64 is what makes wake_batch 8, and a device
        // that takes as many leaves nothing to sort. step_ns is assumed; wake_spread_ns is fitted to the 8 % of
        // sequential requests that the mail has for wake_batch 8.
        a: &[
            (Key::Rw, "randread"),
            (Key::Iodepth, "1024"),
            (Key::Numjobs, "24"),
            (Key::NrRequests, "64"),
            (Key::MaxSectorsKb, "128"),
            (Key::Hba, "mpi3mr"),
            (Key::QueueDepth, "64"),
            (Key::AsyncDepthOwner, "elevator"),
            (Key::StepNs, "2us"),
            (Key::WakeSpreadNs, "17700ns"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "60s"),
            (Key::RampTime, "1s"),
        ],
        jobs: &[],
        b: OF_QUEUE,
        row: &[],
        sweep: ("async_depth", "8,16,32,48,64"),
        t: Moment { ns: 6750 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "hdd-async-depth-sata",
        title: "The same on a SATA disk: sorting hides it",
        look_for: "The disk takes 32 of the 64 requests. What waits in mq-deadline leaves in order of sectors, so the \
                   pieces of an I/O meet again in A as well as in B.",
        sources: &[ASYNC_DEPTH],
        a: &[
            (Key::Rw, "randread"),
            (Key::Iodepth, "1024"),
            (Key::Numjobs, "24"),
            (Key::MaxSectorsKb, "128"),
            (Key::AsyncDepthOwner, "elevator"),
            (Key::StepNs, "2us"),
            (Key::WakeSpreadNs, "17700ns"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "60s"),
            (Key::RampTime, "1s"),
        ],
        jobs: &[],
        b: OF_QUEUE,
        row: &[],
        sweep: ("queue_depth", "2,4,8,16,32"),
        t: Moment { ns: 11_000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "hdd-split-jobs",
        title: "Many jobs, and each read in four pieces",
        look_for: "Twenty-four jobs wait for the same tags in A, so the four pieces of a read are issued apart and the head \
                   comes back for each; the one job of B issues them one after the other.",
        sources: &[
            "Mail \"blk-mq: provide more tags for woken-up process when tag allocation is busy\" (June 2020, Linux 5.6)",
        ],
        // The mail says wake batch 8, which is 64 tags; that the disk takes them all is assumed.
        a: &[
            (Key::Rw, "randread"),
            (Key::Iodepth, "1024"),
            (Key::Numjobs, "24"),
            (Key::NrRequests, "64"),
            (Key::MaxSectorsKb, "256"),
            (Key::Hba, "mpi3mr"),
            (Key::QueueDepth, "64"),
            (Key::SbitmapWake, "per_queue"),
            (Key::StepNs, "2us"),
            (Key::WakeSpreadNs, "17700ns"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "60s"),
            (Key::RampTime, "1s"),
        ],
        jobs: &[],
        b: &[(Key::Numjobs, "1")],
        row: &[],
        sweep: ("numjobs", "1,24,48,72"),
        t: Moment { ns: 3500 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "nullb-hw-depth",
        title: "Twenty jobs and four tags",
        look_for: "With four tags in A most jobs sleep, and each completion has to wake one first; with sixteen in B nobody \
                   sleeps, and the twenty CPUs are the limit.",
        sources: &[
            "Mail \"sbitmap: Use single per-bitmap counting to wake up queued tags\" (November 2022, Linux 6.2)",
        ],
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Bs, "4KiB"),
            (Key::Iodepth, "64"),
            (Key::Numjobs, "20"),
            (Key::Scheduler, "none"),
            (Key::NrCpus, "20"),
            (Key::SubmitNs, "2300ns"),
            (Key::WakeNs, "300ns"),
            (Key::Drive, "null_blk"),
            (Key::Irqmode, "2"),
            (Key::CompletionNsec, "850ns"),
            (Key::HwQueueDepth, "4"),
            (Key::Runtime, "20ms"),
        ],
        jobs: &[],
        b: &[(Key::HwQueueDepth, "16")],
        row: &[],
        sweep: ("hw_queue_depth", "2,4,8,16,32,64"),
        t: Moment { ns: MS, k: 0 },
        speed_ns: 10_000,
    },
    Preset {
        name: "ncq-prio",
        title: "A tenth of the reads in the realtime class",
        look_for: "The disk picks the nearest of 24 commands, so each waits for its turn in A; in B those of the realtime \
                   class go first, and the others wait a little longer.",
        sources: &["Mail \"block: Fix IO priority mess\" (June 2022), ATA disk with NCQ priority"],
        // The mail does not name the disk.
        a: &[
            (Key::Rw, "randread"),
            (Key::Bs, "128KiB"),
            (Key::Iodepth, "24"),
            (Key::CmdprioPercentage, "10"),
            (Key::Scheduler, "none"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "150s"),
        ],
        jobs: &[],
        b: &[(Key::NcqPrio, "1")],
        row: &[(Key::Runtime, "590s")],
        sweep: ("iodepth", "1,2,4,8,16,24,32"),
        t: Moment { ns: 12_000 * MS, k: 0 },
        speed_ns: 50 * MS,
    },
    Preset {
        name: "two-readers-nr-requests",
        title: "Two sequential readers and nr_requests",
        look_for: "With no more requests than the device takes, A's scheduler is empty and 4 KiB reads go out as they come; \
                   B holds more, and what waits in mq-deadline merges into fewer, larger requests.",
        sources: &[
            "Mail \"On 3108 RAID1 read performance is improved when nr_requests is decreased\" (June 2020, Linux 5.6)",
        ],
        // The controller, whose read-ahead made 192 the better of 192 and 256, is not modelled: a limit of commands
        // stands for it, and shows when the scheduler has anything to merge.
        a: &[
            (Key::Rw, "read"),
            (Key::Bs, "4KiB"),
            (Key::Iodepth, "256"),
            (Key::Numjobs, "2"),
            (Key::NrRequests, "256"),
            (Key::QueueDepth, "256"),
            (Key::SubmitNs, "5us"),
            (Key::Drive, "capped"),
            (Key::CapIops, "31000"),
            (Key::Runtime, "2s"),
        ],
        jobs: &[(1, Key::Offset, "512GiB")],
        b: &[(Key::NrRequests, "512")],
        row: &[],
        sweep: ("nr_requests", "64,128,192,256,384,512"),
        t: Moment { ns: 520 * MS, k: 0 },
        speed_ns: 100_000,
    },
    Preset {
        name: "bfq-fairness",
        title: "A reader with one I/O in flight beside one with 32",
        look_for: "Job 0 asks for one I/O at a time. In A job 1 fills the disk's queue, and each of job 0's reads waits behind \
                   it; in B the disk is job 0's for its slice, and idles for its next read.",
        sources: &["Documentation/block/bfq-iosched.rst (Linux 7.1)"],
        a: &[
            (Key::Rw, "read"),
            (Key::Bs, "128KiB"),
            (Key::Iodepth, "32"),
            (Key::Numjobs, "2"),
            (Key::Drive, "cmr-8tb"),
            (Key::Runtime, "30s"),
        ],
        jobs: &[(0, Key::Iodepth, "1"), (1, Key::Offset, "4TiB")],
        b: &[(Key::Scheduler, "bfq")],
        row: &[],
        sweep: ("iodepth", "1,2,4,8,16,32"),
        t: Moment { ns: 8000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "kyber-latency",
        title: "Reads beside a flood of writes on an SSD",
        look_for: "In A the device holds all writes there are, and a read waits behind them; in B kyber takes tokens away \
                   from writes until reads come back within 2 ms.",
        sources: &["block/kyber-iosched.c (Linux 7.1)"],
        // The device is made up: eight channels that together write 480 MiB/s. Writes may take 100 ms: at their default
        // of 10 ms kyber would call them late too, and leave them their tokens.
        a: &[
            (Key::Rw, "randread"),
            (Key::Bs, "4KiB"),
            (Key::Numjobs, "2"),
            (Key::Scheduler, "none"),
            (Key::WriteLatNsec, "100ms"),
            (Key::QueueDepth, "256"),
            (Key::Drive, "capped"),
            (Key::CapRate, "60MiB/s"),
            (Key::CapChannels, "8"),
            (Key::Runtime, "10s"),
        ],
        jobs: &[(1, Key::Rw, "randwrite"), (1, Key::Bs, "128KiB"), (1, Key::Iodepth, "128")],
        b: &[(Key::Scheduler, "kyber")],
        row: &[],
        sweep: ("cap_channels", "2,4,8,16"),
        t: Moment { ns: 5000 * MS, k: 0 },
        speed_ns: MS,
    },
    Preset {
        name: "nullb-pipelining",
        title: "Zone writes of null_blk: one at a time, or all at once",
        look_for: "A locks the zone for each write: 100 us of timer, then the way from the interrupt through kblockd to the \
                   next dispatch. B locks nothing, so 64 timers overlap, and what a worker needs for each request is the \
                   limit. With scheduler=none and zone_ordering=none the job's own CPU time is.",
        sources: &["Mail \"block/null_blk: Add support for pipelining zoned writes\" (January 2023, Linux 6.2-rc)"],
        // The script's parameters; 5.17 stands for a kernel with zone locks. submit_ns, dispatch_ns and kblockd_ns are
        // calibrated on the mail's three figures, each of which one of them decides.
        a: &[
            (Key::Bs, "4KiB"),
            (Key::Iodepth, "64"),
            (Key::IodepthBatch, "16"),
            (Key::Ioengine, "io_uring"),
            (Key::Kernel, "5.17"),
            (Key::SubmitNs, "3530ns"),
            (Key::KblockdNs, "77800ns"),
            (Key::DispatchNs, "9450ns"),
            (Key::Drive, "null_blk"),
            (Key::Capacity, "1MiB"),
            (Key::Zoned, "1"),
            (Key::ZoneSize, "1MiB"),
            (Key::Irqmode, "2"),
            (Key::CompletionNsec, "100us"),
            (Key::MemoryBacked, "1"),
            (Key::MaxSectors, "8"),
            (Key::Runtime, "200ms"),
            (Key::TimeBased, "1"),
        ],
        jobs: &[],
        b: &[(Key::ZoneOrdering, "pipelined")],
        row: &[],
        sweep: ("completion_nsec", "10us,20us,50us,100us,200us,500us,1ms"),
        t: Moment { ns: 1_500_000, k: 0 },
        speed_ns: 50_000,
    },
    Preset {
        name: "flash-qd1",
        title: "Where nothing turns, one write at a time costs nothing",
        look_for: "A keeps several zones' writes in flight, B one of the whole device. Both are acknowledged from protected \
                   memory, and all dies program at the same time either way: the bandwidth is the same.",
        sources: &[COMMIT_LOG],
        // The device is the zoned SSD of another table: what its memory holds is assumed.
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Iodepth, "16"),
            (Key::Numjobs, "4"),
            (Key::Size, "8z"),
            (Key::Scheduler, "none"),
            (Key::Drive, "zns-1tb"),
            (Key::Runtime, "10s"),
            (Key::TimeBased, "1"),
        ],
        jobs: &[],
        b: QD1,
        row: &[],
        sweep: ("iodepth", "1,2,4,8,16,32,64"),
        t: Moment { ns: 1000 * MS, k: 0 },
        speed_ns: MS,
    },
    Preset {
        name: "zone-lock-boundary",
        title: "mq-deadline at the end of a zone",
        look_for: "A zone has one write at the disk, so in A the next zone's writes overtake those that still wait for the \
                   lock of the old one, and the head goes there and back; in B they wait behind them.",
        sources: &["Mail \"block: mq-deadline: Do not break sequential write streams to zoned HDDs\" (November 2022)"],
        // The mail does not name the disk: the profile is the one whose rate is nearest. Its figures need requests as small
        // as they were submitted: with merges the two zones alternate far less often.
        a: &[
            (Key::Bs, "64KiB"),
            (Key::Iodepth, "32"),
            (Key::Kernel, "5.17"),
            (Key::Nomerges, "2"),
            (Key::Drive, "smr-15tb"),
            (Key::Runtime, "10s"),
        ],
        jobs: &[],
        b: &[(Key::ZoneLockStreams, "1")],
        row: &[(Key::Runtime, "60s")],
        sweep: ("iodepth", "2,4,8,16,32,64"),
        t: Moment { ns: 1044 * MS, k: 0 },
        speed_ns: 10 * MS,
    },
    Preset {
        name: "zoned-eio",
        title: "A piece of a split write comes too early",
        look_for: "Each 1 MiB write is cut into pieces of 255 sectors. In A nothing keeps them in order: mq-deadline goes on \
                   from where it was and dispatches one that does not start at the write pointer, which fails. In B the zone's \
                   plug issues one after the other.",
        sources: &["Report on zoned null_blk with mq-deadline: fio libaio, iodepth=256, bs=1M, max_sectors=255"],
        // When a worker runs the queue is assumed.
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Iodepth, "256"),
            (Key::ZoneOrdering, "none"),
            (Key::SubmitNs, "4us"),
            (Key::KblockdNs, "20us"),
            (Key::Drive, "null_blk"),
            (Key::Capacity, "16MiB"),
            (Key::Zoned, "1"),
            (Key::ZoneSize, "4MiB"),
            (Key::Irqmode, "2"),
            (Key::MemoryBacked, "1"),
            (Key::Runtime, "100ms"),
            (Key::TimeBased, "1"),
        ],
        jobs: &[],
        b: &[(Key::ZoneOrdering, "zwplug")],
        row: &[],
        sweep: ("kblockd_ns", "0,5us,10us,20us,50us"),
        t: Moment { ns: 650_000, k: 0 },
        speed_ns: 20_000,
    },
    Preset {
        name: "smr-live-toggle",
        title: "zoned_qd1_writes written while the disk is busy",
        look_for: "B is A until 1.5 s: then the queue is frozen until everything in it is done, and from the thaw on one zone \
                   is written after the other.",
        sources: &[COMMIT_LOG],
        // The grace period is typical and unsourced.
        a: &[(Key::Iodepth, "64"), (Key::RcuNs, "5ms"), (Key::Runtime, "10s")],
        jobs: &[],
        b: &[(Key::Change, "1.5s:zoned_qd1_writes:1")],
        row: &[],
        sweep: ("iodepth", "1,2,4,8,16,32,64,128"),
        t: Moment { ns: 1600 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "wbt-vs-reads",
        title: "Reads beside a flood of writeback",
        look_for: "Job 0 reads once in a while. In A the disk is full of buffered writes and each read waits behind them; in B \
                   wbt lets only a few in, so a read waits for one or two and as much is written. bfq switches wbt off.",
        sources: &["block/blk-wbt.c (Linux 7.1)"],
        a: &[(Key::Rw, "randread"), (Key::Bs, "4KiB"), (Key::Numjobs, "2"), (Key::Drive, "cmr-8tb")],
        jobs: &[
            (0, Key::Thinktime, "100ms"),
            (1, Key::Rw, "write"),
            (1, Key::Bs, "1MiB"),
            (1, Key::Iodepth, "64"),
            (1, Key::Offset, "4TiB"),
            (1, Key::Buffered, "1"),
        ],
        b: &[(Key::BlkWbtMq, "1")],
        row: &[],
        sweep: ("scheduler", "none,mq-deadline,kyber,bfq"),
        t: Moment { ns: 3000 * MS, k: 0 },
        speed_ns: 20 * MS,
    },
    Preset {
        name: "zns-open-limit",
        title: "More writers than a zoned SSD has open zones",
        look_for: "The device has fourteen zones open at most. In A fio ignores that, and the first write to a fifteenth zone \
                   fails; in B it keeps to the limit, and a job that finds all zones taken writes to one of them.",
        sources: &["fio zbd.c, max_open_zones and ignore_zone_limits (fio 3.36)"],
        a: &[
            (Key::Rw, "randwrite"),
            (Key::Bs, "128KiB"),
            (Key::Iodepth, "4"),
            (Key::Numjobs, "20"),
            (Key::Size, "20z"),
            (Key::MaxOpenZones, "20"),
            (Key::IgnoreZoneLimits, "1"),
            (Key::Drive, "zns-1tb"),
            (Key::Runtime, "5s"),
            (Key::TimeBased, "1"),
        ],
        jobs: &[],
        b: &[(Key::MaxOpenZones, "14"), (Key::IgnoreZoneLimits, "0")],
        row: &[],
        sweep: ("numjobs", "1,4,8,14,15,20"),
        t: Moment { ns: 850_000, k: 0 },
        speed_ns: 50_000,
    },
]);

/// Presets as they are compiled in: without the feature `texts` their guides are fetched instead.
const fn told<const N: usize>(mut rows: [Preset; N]) -> [Preset; N] {
    let mut i = 0;
    while i < N && !cfg!(feature = "texts") {
        rows[i].look_for = "";
        rows[i].sources = &[];
        i += 1;
    }
    rows
}

/// The preset of a name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|p| p.name == name)
}

impl Preset {
    /// B's differences as values.
    pub fn b_values(&self) -> Vec<(Key, Value)> {
        self.b.iter().map(|(k, text)| (*k, row_value(*k, text))).collect()
    }
    /// Settings of single jobs as values.
    pub fn own(&self) -> impl Iterator<Item = Own> {
        let value = |(job, key, text): &(u16, Key, &str)| Own {
            side: Side::A,
            of: Instance::Job(*job),
            key: *key,
            value: row_value(*key, text),
        };
        self.jobs.iter().map(value)
    }
    /// The sweep of its chart.
    pub fn sweep(&self) -> Sweep {
        // Read by a test.
        Sweep::parse("sw", self.sweep.0, self.sweep.1).unwrap_or(Sweep { key: Key::Iodepth, values: Vec::new() })
    }
    /// One row of its table: the row settings, and the swept key at `setting`.
    pub fn row(&'static self, setting: &str) -> Result<Scenario, Diagnostic> {
        let mut s = Scenario::of(self).for_sweep();
        s.set_text(self.sweep.0, setting)?;
        Ok(s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::params::Param;

    #[test]
    fn every_setting_of_every_preset_is_canonical() {
        for p in PRESETS {
            let of_jobs = p.jobs.iter().map(|(_, key, text)| (key, text));
            for (key, text) in p.a.iter().chain(p.b).chain(p.row).map(|(key, text)| (key, text)).chain(of_jobs) {
                let row = Param::of(*key);
                assert_eq!(row.print(&row.parse(text).unwrap()), *text, "{} {}", p.name, row.key);
            }
            assert_eq!(p.sweep().texts().join(","), p.sweep.1, "{}", p.name);
        }
    }

    #[test]
    fn every_row_of_every_table_can_run_without_a_warning() {
        for p in PRESETS {
            for v in p.sweep().texts() {
                let s = p.row(&v).unwrap();
                for side in [Side::A, Side::B] {
                    let (cfg, problems) = check(&s, side);
                    assert!(cfg.is_some() && problems.is_empty(), "{}: {problems:?}", p.name);
                }
            }
        }
    }
}
