//! The one table of parameters. URL keys, command-line settings, form fields, tooltips and the reference page
//! all come from it.
//!
//! Models: fio's job options, the attributes of /sys/block/X/queue, and the drive profile's numbers, by their own names.
//! Rule: a default never changes its meaning; a new row's default keeps the old behaviour, so old links and
//! configuration hashes stay valid.
//! Leaves out: rules over several keys (`check`).

use crate::diagnostic::{Diagnostic, nearest};
use crate::value::{self, MS, NS, Problem, S, Unit, Value};

/// Where a form shows the parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What is submitted.
    Workload,
    /// What the kernel does with it.
    BlockLayer,
    /// What executes it.
    Device,
    /// How long, from which moment measured, which seed.
    Run,
}

impl Group {
    /// All groups in order.
    pub const ALL: [Group; 4] = [Group::Workload, Group::BlockLayer, Group::Device, Group::Run];
    /// Heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Workload => "Workload",
            Group::BlockLayer => "Block layer",
            Group::Device => "Device",
            Group::Run => "Run",
        }
    }
}

/// Whether the setting can change while I/O runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Live {
    /// Needs a new run.
    No,
    /// A sysfs attribute: takes effect through the kernel's queue freeze.
    Sysfs,
}

/// What may have a value of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Only the run: one value for all.
    Run,
    /// Each job: `job1.bs`.
    Job,
    /// Each disk: `sda.nr_requests`.
    Disk,
}

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Name in URLs, files, forms and on the command line.
    pub key: &'static str,
    /// What its value is measured in.
    pub unit: Unit,
    /// Smallest value (numbers only), base unit.
    pub min: u64,
    /// Largest value (numbers only), base unit.
    pub max: u64,
    /// Step of a form's arrows, base unit; 0 = doubling.
    pub step: u64,
    /// Default in canonical text; `auto` = follows from other settings or the profile.
    pub default: &'static str,
    /// Form group.
    pub group: Group,
    /// What may have a value of its own.
    pub scope: Scope,
    /// Shown, and in effect, only while all of these keys have these values.
    pub shown_when: &'static [(Key, &'static str)],
    /// Hidden until asked for.
    pub advanced: bool,
    /// Changeable during a run.
    pub live: Live,
    /// Key of the drive profile that `auto` takes its value from.
    pub profile: Option<&'static str>,
    /// One sentence; empty without the feature `texts`.
    pub help: &'static str,
}

impl Param {
    /// The row of a key.
    pub fn of(key: Key) -> &'static Param {
        &PARAMS[key as usize]
    }
    /// True if `auto` is a value of it.
    pub fn has_auto(&self) -> bool {
        self.default == "auto"
    }
    /// Default as a value.
    pub fn default_value(&self) -> Value {
        if self.has_auto() { Value::Auto } else { value::parse(self.unit, self.default).unwrap_or(Value::Auto) }
    }
    /// Canonical text of a value.
    pub fn print(&self, v: &Value) -> String {
        value::print(self.unit, v)
    }
    /// What may be typed, for messages and tooltips.
    pub fn allowed(&self) -> String {
        let (min, max) = (self.print(&Value::Int(self.min)), self.print(&Value::Int(self.max)));
        let range = match self.unit {
            Unit::Word(words) => words.join(", "),
            Unit::Bool => "0, 1".into(),
            Unit::Zones => "whole zones (26z) or bytes (1GiB)".into(),
            Unit::ByteRange => {
                let (min, max) = (value::print_bytes(self.min), value::print_bytes(self.max));
                format!("a size or two with a dash, {min} to {max}")
            }
            Unit::Faults => "SECTOR+COUNT, then @FROM-UNTIL and :medium where wanted, several with commas".into(),
            _ if self.max == u64::MAX => format!("{min} or more"),
            _ => format!("{min} to {max}"),
        };
        if self.has_auto() { format!("auto, {range}") } else { range }
    }
    /// Reads a value and checks its bounds. The diagnostic carries this row's key.
    ///
    /// Where `auto` is allowed and 0 is out of bounds, 0 means `auto`, as it does in fio and sysfs;
    /// not so for the numbers of a drive profile.
    pub fn parse(&self, text: &str) -> Result<Value, Diagnostic> {
        let text = text.trim();
        if self.has_auto() && text == "auto" {
            return Ok(Value::Auto);
        }
        let bad = |message: String| Diagnostic::error(self.key, text, message).allow(self.allowed());
        let v = value::parse(self.unit, text).map_err(|p| {
            let d = bad(p.message());
            match (&p, self.unit) {
                (Problem::NoSuchWord, Unit::Word(words)) => match nearest(text, words.iter().copied()) {
                    Some(w) => d.suggest(w),
                    None => d,
                },
                (Problem::UnknownSuffix(s), _) if s == "kb" => d.suggest("KiB for 1024, kB for 1000"),
                (Problem::UnknownSuffix(s), _) if s == "mb" => d.suggest("MiB for 1024, MB for 1000"),
                _ => d,
            }
        })?;
        match v {
            Value::Int(0) | Value::Zones(0) if self.has_auto() && self.min > 0 && self.profile.is_none() => {
                Ok(Value::Auto)
            }
            Value::Int(n) if n < self.min || n > self.max => Err(bad("out of range".into())),
            Value::Range(lo, hi) if lo < self.min || hi > self.max => Err(bad("out of range".into())),
            v => Ok(v),
        }
    }
}

/// The row named `key`.
pub fn find(key: &str) -> Option<Key> {
    PARAMS.iter().position(|p| p.key == key).map(|i| KEYS[i])
}

macro_rules! params {
    ($($name:ident: $row:expr,)*) => {
        /// Names a row of [`PARAMS`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum Key { $($name,)* }
        /// All keys, in the order of [`PARAMS`].
        pub static KEYS: &[Key] = &[$(Key::$name,)*];
        /// All parameters; the order is that of URLs and forms.
        pub static PARAMS: &[Param] = &told([$($row,)*]);
    };
}

/// Rows as they are compiled in: without the feature `texts` their help is fetched instead.
const fn told<const N: usize>(mut rows: [Param; N]) -> [Param; N] {
    let mut i = 0;
    while i < N && !cfg!(feature = "texts") {
        rows[i].help = "";
        i += 1;
    }
    rows
}

const BASE: Param = Param {
    key: "",
    unit: Unit::Count,
    min: 0,
    max: u64::MAX,
    step: 1,
    default: "auto",
    group: Group::Workload,
    scope: Scope::Run,
    shown_when: &[],
    advanced: false,
    live: Live::No,
    profile: None,
    help: "",
};
const JOB: Param = Param { scope: Scope::Job, ..BASE };
const BLOCK: Param = Param { group: Group::BlockLayer, ..BASE };
const QUEUE: Param = Param { scope: Scope::Disk, ..BLOCK };
const DEADLINE: Param = Param { shown_when: &[(Key::Scheduler, "mq-deadline")], advanced: true, ..QUEUE };
const HOST: Param = Param { unit: NS, max: 10 * SEC, step: US, advanced: true, ..BLOCK };
const DEVICE: Param = Param { group: Group::Device, scope: Scope::Disk, ..BASE };
const PROFILE: Param = Param { advanced: true, ..DEVICE };
const RUN: Param = Param { group: Group::Run, ..BASE };

const FIO: &[(Key, &str)] = &[(Key::Workload, "fio")];
const WRITEBACK: &[(Key, &str)] = &[(Key::Workload, "writeback")];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const US: u64 = 1_000;
const SEC: u64 = 1_000_000_000;

params! {
    Workload: Param {
        key: "workload", unit: Unit::Word(&["fio", "writeback"]), default: "fio",
        help: "Who writes: fio with direct I/O and zonemode=zbd, or the kernel flushing files of a zoned XFS.", ..BASE
    },
    Rw: Param {
        key: "rw", unit: Unit::Word(&["write", "randwrite", "read", "randread"]), default: "write", shown_when: FIO,
        help: "Direction and order; for randwrite the random offset chooses the zone, the data goes to its write pointer.", ..JOB
    },
    Bs: Param {
        key: "bs", unit: Unit::Bytes, min: 4 * KIB, max: 256 * MIB, step: 0, default: "1MiB", shown_when: FIO,
        help: "Size of one I/O, a multiple of 4 KiB.", ..JOB
    },
    Iodepth: Param {
        key: "iodepth", min: 1, max: 4096, step: 0, default: "1", shown_when: FIO,
        help: "I/Os each job keeps in flight.", ..JOB
    },
    Numjobs: Param {
        key: "numjobs", min: 1, max: 256, default: "1", shown_when: FIO,
        help: "Jobs that do the same; they share the zones through fio's zone locks.", ..BASE
    },
    Size: Param {
        key: "size", unit: Unit::Zones, min: 1, max: 64 * TIB, step: 256 * MIB, shown_when: FIO,
        help: "Range of each job, in whole zones from offset; auto is the rest of the disk.", ..JOB
    },
    Offset: Param {
        key: "offset", unit: Unit::Zones, min: 1, max: 64 * TIB, step: 256 * MIB,
        help: "Where the range starts; auto is the first sequential zone.", ..JOB
    },
    MaxOpenZones: Param {
        key: "max_open_zones", min: 1, max: 4096, shown_when: FIO,
        help: "Zones fio writes to at the same time, all jobs together; auto is the disk's limit.", ..BASE
    },
    Hugepages: Param {
        key: "hugepages", unit: Unit::Bool, default: "0", shown_when: FIO,
        help: "Buffers on 2 MiB pages: an I/O is then one segment instead of one every 4 KiB.", ..JOB
    },
    Filesize: Param {
        key: "filesize", unit: Unit::ByteRange, min: 4 * KIB, max: TIB, step: 0, default: "256MiB", shown_when: WRITEBACK,
        help: "Size of the written files: one size, or smallest-largest for a uniform choice.", ..BASE
    },
    WbInFlight: Param {
        key: "wb_in_flight", unit: Unit::Bytes, min: MIB, max: TIB, step: 0, shown_when: WRITEBACK, advanced: true,
        profile: Some("writeback_in_flight"),
        help: "Bytes under writeback at the same time, at most.", ..BASE
    },
    WbSegmentBytes: Param {
        key: "wb_segment_bytes", unit: Unit::Bytes, min: 512, max: 2 * MIB, step: 512, shown_when: WRITEBACK, advanced: true,
        profile: Some("writeback_segment_bytes"),
        help: "Mean contiguous bytes in the page cache; with max_segments it limits a command's size.", ..BASE
    },

    Kernel: Param {
        key: "kernel", unit: Unit::Word(&["7.1"]), default: "7.1",
        help: "Kernel release whose behaviour is simulated.", ..BLOCK
    },
    ZoneOrdering: Param {
        key: "zone_ordering", unit: Unit::Word(&["zwplug", "none"]), default: "zwplug",
        help: "What keeps the writes of a zone in order: zone write plugs, or nothing: fio then sends zone writes as they come.", ..BLOCK
    },
    ZonedQd1Writes: Param {
        key: "zoned_qd1_writes", unit: Unit::Bool, default: "0", live: Live::Sysfs,
        shown_when: &[(Key::ZoneOrdering, "zwplug")],
        help: "One worker issues all zone writes of the disk, one at a time, a whole zone's backlog before the next; \
               Linux 7.1 turns it on for rotating zoned disks.", ..QUEUE
    },
    Scheduler: Param {
        key: "scheduler", unit: Unit::Word(&["none", "mq-deadline"]), default: "mq-deadline",
        help: "I/O scheduler of the queue.", ..QUEUE
    },
    NrRequests: Param {
        key: "nr_requests", min: 1, max: 2048, step: 0,
        help: "Requests the queue can hold; auto is twice the queue depth with a scheduler, else the queue depth.", ..QUEUE
    },
    AsyncDepth: Param {
        key: "async_depth", min: 1, max: 2048, step: 0, shown_when: &[(Key::Scheduler, "mq-deadline")],
        help: "Scheduler tags that writes may use; auto is nr_requests.", ..QUEUE
    },
    ReadExpire: Param {
        key: "read_expire", unit: MS, max: 1000 * SEC, step: 1000 * US, default: "500ms",
        help: "Age at which a read is served out of order.", ..DEADLINE
    },
    WriteExpire: Param {
        key: "write_expire", unit: MS, max: 1000 * SEC, step: 1000 * US, default: "5s",
        help: "Age at which a write is served out of order.", ..DEADLINE
    },
    WritesStarved: Param {
        key: "writes_starved", max: 1_000_000, default: "2",
        help: "Read batches that may go before a waiting write batch.", ..DEADLINE
    },
    FifoBatch: Param {
        key: "fifo_batch", max: 1_000_000, default: "16",
        help: "Requests served in sector order before the ages are looked at again.", ..DEADLINE
    },
    FrontMerges: Param {
        key: "front_merges", unit: Unit::Bool, default: "1",
        help: "Look for requests a new one can be put in front of.", ..DEADLINE
    },
    MaxSectorsKb: Param {
        key: "max_sectors_kb", unit: Unit::Kib, min: 1, max: 32_767 * KIB, step: 0,
        help: "Largest request in KiB; auto is 4096 or what the host adapter allows.", ..QUEUE
    },
    MaxSegments: Param {
        key: "max_segments", min: 1, max: 65_535, step: 0,
        help: "Memory segments in a request; auto is the host adapter's limit.", ..QUEUE
    },
    Nomerges: Param {
        key: "nomerges", max: 2, default: "0",
        help: "0 tries all merges, 1 only the cheap ones, 2 none.", ..QUEUE
    },
    Hba: Param {
        key: "hba", unit: Unit::Word(&["ahci", "mpi3mr"]), default: "ahci",
        help: "Host adapter: AHCI takes 168 segments a command; mpi3mr 256 segments and at most 1 MiB.", ..QUEUE
    },
    QueueDepth: Param {
        key: "queue_depth", min: 1, max: 32,
        help: "Commands the drive may hold at the same time; auto is 32.", ..QUEUE
    },
    DeadPlugRevive: Param {
        key: "dead_plug_revive", unit: Unit::Bool, default: "1", advanced: true,
        shown_when: &[(Key::ZoneOrdering, "zwplug")],
        help: "A write to a reset zone whose old plug is still referenced takes that plug over; 0 is the code as first merged for 7.1, where such a write fails with EIO.", ..BLOCK
    },
    NrCpus: Param {
        key: "nr_cpus", min: 1, max: 1024, default: "8", advanced: true,
        help: "CPUs; job i runs on CPU i modulo this.", ..BLOCK
    },
    SubmitNs: Param {
        key: "submit_ns", default: "40us", min: US,
        help: "CPU time from one I/O of a job to its next.", ..HOST
    },
    IssueNs: Param {
        key: "issue_ns", default: "30us",
        help: "From a zone write's completion to the issue of the plug's next one.", ..HOST
    },
    LockWakeNs: Param {
        key: "lock_wake_ns", default: "50us",
        help: "From the release of a fio zone lock to the waiting job running.", ..HOST
    },
    WorkerWakeNs: Param {
        key: "worker_wake_ns", default: "30us",
        help: "From waking the zone write plugs worker to it running.", ..HOST
    },

    Drive: Param {
        key: "drive", unit: Unit::Word(&["smr-30tb"]), default: "smr-30tb",
        help: "Drive profile.", ..DEVICE
    },
    WriteCache: Param {
        key: "write_cache", unit: Unit::Bool, default: "1",
        help: "Volatile write cache of the drive.", ..DEVICE
    },
    WriteOffMode: Param {
        key: "write_off_mode", unit: Unit::Word(&["nonvolatile", "media"]), default: "nonvolatile",
        shown_when: &[(Key::WriteCache, "0")],
        help: "With the cache off, writes are answered from non-volatile memory or only from the medium.", ..DEVICE
    },
    ZonePhase: Param {
        key: "zone_phase", unit: Unit::Word(&["by_lba", "random"]), default: "by_lba",
        help: "Where on a turn each zone starts: continuing the zone before, or at random.", ..DEVICE
    },
    FirstFill: Param {
        key: "first_fill", unit: Unit::Word(&["empty", "random"]), default: "empty",
        help: "Zones of the range at the start: empty, or each filled to a random point.", ..DEVICE
    },
    Fault: Param {
        key: "fault", unit: Unit::Faults, default: "", advanced: true,
        help: "Device errors: commands that touch COUNT sectors from SECTOR fail between FROM and UNTIL, as EIO or, with :medium, ENODATA.", ..DEVICE
    },
    RevNs: Param {
        key: "rev_ns", unit: NS, min: 1_000_000, max: SEC, profile: Some("rev"),
        help: "Time of one turn.", ..PROFILE
    },
    RateOuter: Param {
        key: "rate_outer", unit: Unit::Rate, min: MIB, max: 4 * GIB, step: MIB / 10, profile: Some("rate_outer"),
        help: "Sustained rate at the outer edge.", ..PROFILE
    },
    RateInner: Param {
        key: "rate_inner", unit: Unit::Rate, min: MIB, max: 4 * GIB, step: MIB / 10, profile: Some("rate_inner"),
        help: "Sustained rate at the inner edge.", ..PROFILE
    },
    RecordingZones: Param {
        key: "recording_zones", min: 1, max: 1024, profile: Some("recording_zones"),
        help: "Bands of constant rate between the edges.", ..PROFILE
    },
    SettleNs: Param {
        key: "settle_ns", unit: NS, max: SEC, step: 100 * US, profile: Some("settle"),
        help: "Time the head needs to settle after any move.", ..PROFILE
    },
    SeekFullNs: Param {
        key: "seek_full_ns", unit: NS, max: SEC, step: 100 * US, profile: Some("seek_full"),
        help: "Added time of a full stroke; shorter moves take the square root of their share.", ..PROFILE
    },
    Slots: Param {
        key: "slots", min: 1, max: 1024, profile: Some("slots"),
        help: "Commands the drive can keep cached while none waits.", ..PROFILE
    },
    SlotsPerWaiting: Param {
        key: "slots_per_waiting", unit: Unit::Milli, max: 1_000_000, step: 100, profile: Some("slots_per_waiting"),
        help: "Slots lost for each command that waits in the drive.", ..PROFILE
    },
    WindowMin: Param {
        key: "window_min", min: 1, max: 1024, profile: Some("window_min"),
        help: "Cached commands the drive always allows.", ..PROFILE
    },
    VisitCommands: Param {
        key: "visit_commands", min: 1, max: 1024, profile: Some("visit_commands"),
        help: "Commands written in one visit of a zone before the drive looks elsewhere.", ..PROFILE
    },
    Candidates: Param {
        key: "candidates", min: 1, max: 1024, profile: Some("candidates"),
        help: "Zones with the oldest cached commands among which the next visit is chosen by access time.", ..PROFILE
    },
    ZoneResetNs: Param {
        key: "zone_reset_ns", unit: NS, max: 60 * SEC, step: 1000 * US, profile: Some("zone_reset"),
        help: "Time of a zone reset, during which the drive does nothing else.", ..PROFILE
    },
    InterfaceRate: Param {
        key: "interface_rate", unit: Unit::Rate, min: MIB, max: 64 * GIB, step: MIB, profile: Some("interface_rate"),
        help: "Rate between host and drive.", ..PROFILE
    },
    CommandNs: Param {
        key: "command_ns", unit: NS, max: SEC, step: US, profile: Some("command"),
        help: "Overhead of a command between host and drive.", ..PROFILE
    },
    ReadAgeNs: Param {
        key: "read_age_ns", unit: NS, max: 60 * SEC, step: 1000 * US, profile: Some("read_age"),
        help: "A read that has waited this long goes before shorter accesses.", ..PROFILE
    },

    Runtime: Param {
        key: "runtime", unit: S, max: 86_400 * SEC, step: SEC, default: "30s",
        help: "Simulated time after the ramp; 0 is no limit.", ..RUN
    },
    TimeBased: Param {
        key: "time_based", unit: Unit::Bool, default: "0", shown_when: FIO,
        help: "Jobs start their range again until the run time is over, instead of ending after size bytes.", ..RUN
    },
    RampTime: Param {
        key: "ramp_time", unit: S, max: 86_400 * SEC, step: SEC, default: "0",
        help: "Time before the measured window.", ..RUN
    },
    RampSize: Param {
        key: "ramp_size", unit: Unit::Bytes, max: 64 * TIB, step: 256 * MIB, default: "0",
        help: "Bytes before the measured window, all jobs together.", ..RUN
    },
    IoSize: Param {
        key: "io_size", unit: Unit::Bytes, max: 64 * TIB, step: 256 * MIB, default: "0",
        help: "Bytes after the ramp, all jobs together (in fio: per job), after which the run stops; \
               jobs start their range again until then; 0 is no limit.", ..RUN
    },
    Seed: Param {
        key: "seed", default: "42",
        help: "Seed of all random choices; runs A and B share it.", ..RUN
    },
}
