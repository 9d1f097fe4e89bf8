//! The one table of parameters. URL keys, command-line settings, form fields, tooltips and the reference page
//! all come from it.
//!
//! Models: fio's job options, the attributes of /sys/block/X/queue, and the drive profile's numbers, by their own names.
//! Rule: a default never changes its meaning; a new row's default keeps the old behaviour, so old links and
//! configuration hashes stay valid.
//! Leaves out: rules over several keys (`check`).

use crate::changes;
use crate::diagnostic::{Diagnostic, nearest};
use crate::value::{self, LAWS, MS, NS, Problem, S, Unit, Value};

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
    /// The stacked device: `md0.chunk`, of which there is one.
    Stack,
    /// Each device; without an instance the one the jobs submit to: `wbps`, `sda.wbps`.
    Device,
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
    /// Shown, and in effect, only while all of these keys have these values (`a|b`: one of them).
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
            Unit::Sizes => {
                let (min, max) = (value::print_bytes(self.min), value::print_bytes(self.max));
                format!("up to {MAX_SIZES} sizes with commas, {min} to {max} each")
            }
            Unit::DirBytes | Unit::DirCount => {
                let value = |n| match self.unit {
                    Unit::DirBytes => value::print_bytes(n),
                    _ => u64::to_string(&n),
                };
                format!("{} to {}, or two with a comma: of reads, of writes", value(self.min), value(self.max))
            }
            Unit::Splits => {
                let (min, max) = (value::print_bytes(self.min), value::print_bytes(self.max));
                format!("up to 64 SIZE/PERCENT with colons, {min} to {max} each; those of writes behind a comma")
            }
            Unit::Law => "random, zipf:THETA, pareto:POWER, normal:DEVIATION, zoned:ACCESS/SIZE:... in per cent, zoned_abs with bytes".into(),
            Unit::Changes => {
                let names = changes::live().map(|k| Param::of(k).key).collect::<Vec<_>>().join(", ");
                ["TIME:NAME:VALUE, several with commas; NAME is one of ", &names].concat()
            }
            Unit::Numbers => format!("up to {MAX_SIZES} numbers with commas"),
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
        // The attribute's own word for its default.
        let default = text == "-1" && self.key == Param::of(Key::WbtLatUsec).key;
        if self.has_auto() && text == "auto" || default {
            return Ok(Value::Auto);
        }
        if self.unit == Unit::Changes {
            return changes::parse(self.key, text).map(Value::Changes);
        }
        let bad = |message: String| Diagnostic::error(self.key, text, message).allow(self.allowed());
        let v = value::parse(self.unit, text).map_err(|p| {
            let d = bad(p.message());
            match (&p, self.unit) {
                (Problem::NoSuchWord, Unit::Word(words)) => {
                    // `deadline` was a scheduler of its own, and is still what many call mq-deadline.
                    let part = words.iter().copied().find(|w| text.len() > 3 && w.contains(text));
                    match part.or_else(|| nearest(text, words.iter().copied())) {
                        Some(w) => d.suggest(w),
                        None => d,
                    }
                }
                (Problem::NoSuchWord, Unit::Law) => {
                    let (word, rest) = text.split_at(text.find(':').unwrap_or(text.len()));
                    match nearest(word, LAWS.into_iter()) {
                        Some(w) => d.suggest([w, rest].concat()),
                        None => d,
                    }
                }
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
            Value::Sizes(list) if list.iter().any(|n| *n < self.min || *n > self.max) => {
                Err(bad("out of range".into()))
            }
            Value::Dirs(r, w) if r > self.max || w > self.max => Err(bad("out of range".into())),
            Value::Splits(list) if list.iter().flatten().any(|(n, _)| *n < self.min || *n > self.max) => {
                Err(bad("out of range".into()))
            }
            Value::Sizes(list) if list.len() > MAX_SIZES => Err(bad("too many sizes".into())),
            v => Ok(v),
        }
    }
}

/// Sizes a list may have.
pub const MAX_SIZES: usize = 64;

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
const FIO_JOB: Param = Param { shown_when: FIO, advanced: true, ..JOB };
const QUEUE: Param = Param { scope: Scope::Disk, ..BLOCK };
const DEADLINE: Param = Param { shown_when: &[(Key::Scheduler, "mq-deadline")], advanced: true, ..QUEUE };
const KYBER: Param = Param { shown_when: &[(Key::Scheduler, "kyber")], advanced: true, ..QUEUE };
const BFQ: Param = Param { shown_when: &[(Key::Scheduler, "bfq")], advanced: true, ..QUEUE };
const HOST: Param = Param { unit: NS, max: 10 * SEC, step: US, advanced: true, ..BLOCK };
const DEVICE: Param = Param { group: Group::Device, scope: Scope::Disk, ..BASE };
const PROFILE: Param = Param { advanced: true, shown_when: MODELLED, ..DEVICE };
const STACK: Param = Param { scope: Scope::Stack, ..DEVICE };
const SWITCH: Param = Param { unit: Unit::Bool, max: 1, default: "1", advanced: true, ..BLOCK };
const PLUG: Param = Param { advanced: true, ..BLOCK };
const THROTTLE: Param = Param { scope: Scope::Device, default: "0", max: TIB, step: 0, advanced: true, ..BLOCK };
const CAP: Param = Param { shown_when: &[(Key::Drive, "capped")], ..DEVICE };
const NULL_BLK: Param = Param { shown_when: &[(Key::Drive, "null_blk")], ..DEVICE };
const ZONE: Param = Param { shown_when: MADE_UP_ZONES, advanced: true, ..DEVICE };
const FLASH: Param = Param { shown_when: &[(Key::Drive, OF_FLASH)], advanced: true, ..DEVICE };
const IOCOST: Param = Param { shown_when: &[(Key::Iocost, "1")], advanced: true, max: TIB, step: 0, ..QUEUE };
const ZBD_JOB: Param = Param { shown_when: &[(Key::Workload, "fio"), (Key::Zonemode, "zbd")], advanced: true, ..JOB };
const RUN: Param = Param { group: Group::Run, ..BASE };

const FIO: &[(Key, &str)] = &[(Key::Workload, "fio")];
const FIO_DD: &[(Key, &str)] = &[(Key::Workload, "fio|dd")];
const WRITEBACK: &[(Key, &str)] = &[(Key::Workload, "writeback")];

/// Drives with a head.
const MODELLED: &[(Key, &str)] = &[(Key::Drive, "smr-30tb|cmr-8tb|smr-14tb|smr-15tb|smr-20tb")];
/// Those of them that are shingled.
const SHINGLED: &[(Key, &str)] = &[(Key::Drive, "smr-30tb|smr-14tb|smr-15tb|smr-20tb")];
/// Drives of flash.
const OF_FLASH: &str = "flash|zns-1tb";
/// Drives whose zones are settings.
const MADE_UP: &[(Key, &str)] = &[(Key::Drive, "null_blk|flash|zns-1tb")];
const MADE_UP_ZONES: &[(Key, &str)] = &[(Key::Drive, "null_blk|flash|zns-1tb"), (Key::Zoned, "1")];
/// Whose writes somebody has to keep in order.
const ZONED: &[(Key, &str)] = &[(Key::Zoned, "1")];
const PLUGGED: &[(Key, &str)] = &[(Key::ZoneOrdering, "zwplug"), (Key::Zoned, "1")];
/// Drives with a queue depth of their own.
const ATTACHED: &[(Key, &str)] = &[(Key::Drive, "smr-30tb|cmr-8tb|smr-14tb|smr-15tb|smr-20tb|capped|flash|zns-1tb")];
/// Drives behind a host adapter, or whose commands are limited as behind one.
const ADAPTED: &[(Key, &str)] = &[(Key::Drive, "smr-30tb|cmr-8tb|smr-14tb|smr-15tb|smr-20tb|capped")];
pub(crate) const STACKED: &[(Key, &str)] = &[(Key::Stack, "raid0|raid1|raid5|raid6|raid10|dm-stripe|dm-crypt")];
const SEVERAL: &[(Key, &str)] = &[(Key::Stack, "raid0|raid1|raid5|raid6|raid10|dm-stripe")];
const CHUNKED: &[(Key, &str)] = &[(Key::Stack, "raid0|raid5|raid6|raid10|dm-stripe")];
const MD: &[(Key, &str)] = &[(Key::Stack, "raid0|raid1|raid5|raid6|raid10")];
const PARITY: &[(Key, &str)] = &[(Key::Stack, "raid5|raid6")];
const CHECKED: &[(Key, &str)] = &[(Key::Stack, "raid5|raid6"), (Key::SyncAction, "check")];
const CRYPT: &[(Key, &str)] = &[(Key::Stack, "dm-crypt")];

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const US: u64 = 1_000;
const SEC: u64 = 1_000_000_000;
/// Largest number of an elevator's attribute.
const INT_MAX: u64 = i32::MAX as u64;
/// The same in milliseconds, ns.
const INT_MAX_MS: u64 = INT_MAX * 1000 * US;

params! {
    Workload: Param {
        key: "workload", unit: Unit::Word(&["fio", "writeback", "dd", "none"]), default: "fio",
        help: "Who submits: fio with direct I/O, the kernel flushing files of a zoned XFS, dd with direct I/O, or nobody (an array's check alone).", ..BASE
    },
    Rw: Param {
        key: "rw", unit: Unit::Word(&["write", "randwrite", "read", "randread", "rw", "randrw"]), default: "write", shown_when: FIO_DD,
        help: "Direction and order; with zonemode=zbd randwrite's offset chooses the zone, the data goes to its write pointer. dd knows write and read, zbd no mix.", ..JOB
    },
    Bs: Param {
        key: "bs", unit: Unit::Bytes, min: 512, max: 256 * MIB, step: 0, default: "1MiB", shown_when: FIO_DD,
        help: "Size of one I/O, a multiple of the device's block: 4 KiB, or 512 bytes with drive=capped.", ..JOB
    },
    Iodepth: Param {
        key: "iodepth", min: 1, max: 4096, step: 0, default: "1", shown_when: FIO,
        help: "I/Os each job keeps in flight.", ..JOB
    },
    Numjobs: Param {
        key: "numjobs", min: 1, max: 1024, default: "1", shown_when: FIO,
        help: "Jobs that do the same; they share the zones through fio's zone locks.", ..BASE
    },
    Size: Param {
        key: "size", unit: Unit::Zones, min: 1, max: 64 * TIB, step: 256 * MIB, shown_when: FIO_DD,
        help: "Range of each job from offset, with zonemode=zbd in whole zones; auto is the rest of the device.", ..JOB
    },
    Offset: Param {
        key: "offset", unit: Unit::Zones, min: 1, max: 64 * TIB, step: 256 * MIB,
        help: "Where the range starts; auto is the first sequential zone, or 0 where there are none.", ..JOB
    },
    MaxOpenZones: Param {
        key: "max_open_zones", min: 1, max: 4096, shown_when: FIO,
        help: "Zones fio writes to at the same time, all jobs together; auto is the disk's limit.", ..BASE
    },
    JobMaxOpenZones: Param {
        key: "job_max_open_zones", max: 4096, default: "0",
        help: "Zones that each job writes to at the same time; 0 leaves it to max_open_zones.", ..ZBD_JOB
    },
    IgnoreZoneLimits: Param {
        key: "ignore_zone_limits", unit: Unit::Bool, max: 1, default: "0",
        help: "fio does not keep max_open_zones within what the device can have open.", ..ZBD_JOB
    },
    ReadBeyondWp: Param {
        key: "read_beyond_wp", unit: Unit::Bool, max: 1, default: "0",
        help: "Reads go where they are drawn; 0 reads only what lies below the write pointers.", ..ZBD_JOB
    },
    ZoneAppend: Param {
        key: "zone_append", unit: Unit::Bool, max: 1, default: "0",
        help: "Zone writes are zone appends, as those of a file system on zones; fio has no such option.", ..ZBD_JOB
    },
    Hugepages: Param {
        key: "hugepages", unit: Unit::Bool, default: "0", shown_when: FIO,
        help: "Buffers on 2 MiB pages: an I/O is then one segment instead of one every 4 KiB.", ..JOB
    },
    Zonemode: Param {
        key: "zonemode", unit: Unit::Word(&["zbd", "none"]), shown_when: FIO,
        help: "zbd writes at the zones' write pointers and resets full zones; none takes the range as it is; auto is zbd on a zoned disk.", ..BASE
    },
    Count: Param {
        key: "count", max: 1_000_000_000, step: 0, default: "0", shown_when: &[(Key::Workload, "dd")],
        help: "I/Os of dd; 0 goes on until the run stops.", ..BASE
    },
    Bios: Param {
        key: "bios", unit: Unit::Sizes, min: 512, max: 256 * MIB, default: "", shown_when: FIO_DD, advanced: true,
        help: "Sizes of an I/O's bios in order, what is left makes one more; none cuts it after 256 pages as direct I/O does.", ..JOB
    },
    IodepthBatch: Param {
        key: "iodepth_batch", max: 4096, step: 0, default: "1", shown_when: FIO, advanced: true,
        help: "I/Os submitted together, under one plug; 0 is iodepth.", ..JOB
    },
    PassthroughEvery: Param {
        key: "passthrough_every", unit: S, max: 86_400 * SEC, step: 1000 * US, default: "0", shown_when: MODELLED, advanced: true,
        help: "A pass-through command that is no NCQ command, such as identify, this often beside the jobs; 0 is none.", ..BASE
    },
    Buffered: Param {
        key: "buffered", unit: Unit::Bool, default: "0", shown_when: FIO_DD, advanced: true,
        help: "I/O as the page cache's flusher submits it: plugged, writes without SYNC.", ..JOB
    },
    Nowait: Param {
        key: "nowait", unit: Unit::Bool, default: "0", shown_when: FIO_DD, advanced: true,
        help: "REQ_NOWAIT: an I/O that would have to wait, or be split, fails with EAGAIN.", ..JOB
    },
    Ioengine: Param {
        key: "ioengine", unit: Unit::Word(&["libaio", "io_uring", "psync", "sync"]), default: "libaio",
        help: "libaio and io_uring keep iodepth I/Os in flight and submit batches; psync and sync do one I/O at a time, whatever iodepth says.", ..FIO_JOB
    },
    IodepthLow: Param {
        key: "iodepth_low", min: 1, max: 4096, step: 0,
        help: "Once all iodepth I/Os are in flight, fio reaps until this many are left before it submits again; auto is iodepth.", ..FIO_JOB
    },
    CompleteMin: Param {
        key: "iodepth_batch_complete_min", max: 4096, step: 0, default: "1",
        help: "Completions that fio waits for at a time once all iodepth I/Os are in flight; with _max 0 as well it reaps after each I/O.", ..FIO_JOB
    },
    CompleteMax: Param {
        key: "iodepth_batch_complete_max", max: 4096, step: 0,
        help: "Completions that fio reaps at a time, at most; auto is iodepth_batch_complete_min.", ..FIO_JOB
    },
    Rate: Param {
        key: "rate", unit: Unit::DirBytes, max: TIB, step: 0, default: "0",
        help: "Bytes a second of each job, reads and writes apart with a comma; what a stall cost is caught up. 0 is no limit.", ..FIO_JOB
    },
    RateIops: Param {
        key: "rate_iops", unit: Unit::DirCount, max: 100_000_000, step: 0, default: "0",
        help: "The same in I/Os a second of size bs; not together with rate.", ..FIO_JOB
    },
    Thinktime: Param {
        key: "thinktime", unit: Unit::Time(US), max: 1000 * SEC, step: US, default: "0",
        help: "Pause after an I/O, in us; everything in flight is reaped before it.", ..FIO_JOB
    },
    ThinktimeSpin: Param {
        key: "thinktime_spin", unit: Unit::Time(US), max: 1000 * SEC, step: US, default: "0",
        help: "How much of thinktime the job stays on the CPU before it sleeps.", ..FIO_JOB
    },
    ThinktimeBlocks: Param {
        key: "thinktime_blocks", min: 1, max: 1_000_000_000, default: "1",
        help: "I/Os between two pauses of thinktime.", ..FIO_JOB
    },
    Bssplit: Param {
        key: "bssplit", unit: Unit::Splits, min: 512, max: 256 * MIB, default: "",
        help: "Sizes of I/Os with their shares in per cent, instead of bs: 4k/60:64k/40; those of writes behind a comma.", ..FIO_JOB
    },
    Rwmixread: Param {
        key: "rwmixread", max: 100, default: "50",
        help: "Share of reads with rw=rw or randrw, in per cent of the I/Os.", ..FIO_JOB
    },
    RandomDistribution: Param {
        key: "random_distribution", unit: Unit::Law, default: "random",
        help: "Where random I/Os go: all blocks alike, few hot ones (zipf, pareto, normal), or shares for parts of the range (zoned).", ..FIO_JOB
    },
    Norandommap: Param {
        key: "norandommap", unit: Unit::Bool, max: 1, default: "1",
        help: "1 draws each random block freely; 0, fio's own default, has every block once before any comes again.", ..FIO_JOB
    },
    Prioclass: Param {
        key: "prioclass", unit: Unit::Word(&["none", "rt", "be", "idle"]), default: "none",
        help: "I/O priority class of the job: realtime, best effort, idle; fio's own numbers are 0 to 3.", ..FIO_JOB
    },
    Prio: Param {
        key: "prio", max: 7, default: "0",
        help: "I/O priority within the class, 0 the highest; without a class it is best effort.", ..FIO_JOB
    },
    CmdprioPercentage: Param {
        key: "cmdprio_percentage", unit: Unit::DirCount, max: 100, default: "0",
        help: "Share of the I/Os that get cmdprio_class and cmdprio instead of the job's priority, in per cent; of reads and writes with a comma.", ..FIO_JOB
    },
    CmdprioClass: Param {
        key: "cmdprio_class", unit: Unit::Word(&["rt", "be", "idle"]), default: "rt",
        help: "Priority class of that share.", ..FIO_JOB
    },
    Cmdprio: Param {
        key: "cmdprio", max: 7, default: "0",
        help: "Priority within that class, 0 the highest.", ..FIO_JOB
    },
    IoLatencyTarget: Param {
        key: "io_latency_target", unit: Unit::Time(US), max: 1000 * SEC, step: US, default: "0", advanced: true,
        help: "io.latency: target of the job's cgroup, in us; where one misses its target, those with longer ones wait. 0 is none.", ..JOB
    },
    IoWeight: Param {
        key: "io_weight", min: 1, max: 10_000, step: 0, default: "100", advanced: true,
        help: "io.weight: share of the job's cgroup where iocost divides the device.", ..JOB
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
        key: "kernel", unit: Unit::Word(&crate::kernel::RELEASES), default: "7.1",
        help: "Kernel release whose behaviour is simulated: switches that are left out have its values.", ..BLOCK
    },
    ZoneOrdering: Param {
        key: "zone_ordering", unit: Unit::Word(&["zwplug", "zone_lock", "pipelined", "none"]), default: "zwplug", shown_when: ZONED,
        help: "What keeps the writes of a zone in order: plugs (6.10), locks in mq-deadline (before), null_blk's retries (never merged), or nothing.", ..BLOCK
    },
    ZoneLockStreams: Param {
        key: "zone_lock_streams", shown_when: &[(Key::ZoneOrdering, "zone_lock"), (Key::Zoned, "1")],
        help: "On rotating disks contiguous writes behind a locked zone wait together, as from about 6.2; 0 lets the next zone start.", ..SWITCH
    },
    ZwplugErrors: Param {
        key: "zwplug_errors", unit: Unit::Word(&["need_wp_update", "error_auto_recover"]), default: "need_wp_update", shown_when: PLUGGED, advanced: true,
        help: "After a failed write: all fail until the zone is reported, reset or finished (6.13), or the kernel looks up the write pointer itself.", ..BLOCK
    },
    ZwplugRemoved: Param {
        key: "zwplug_removed", unit: Unit::Word(&["dead", "unhashed"]), default: "dead", shown_when: PLUGGED, advanced: true,
        help: "A write that meets a plug which is being removed: fails (dead, 7.1; see dead_plug_revive), or gets a new plug (unhashed).", ..BLOCK
    },
    ZonedQd1Writes: Param {
        key: "zoned_qd1_writes", unit: Unit::Bool, default: "0", live: Live::Sysfs, shown_when: PLUGGED,
        help: "One worker issues all zone writes of the disk, one at a time, a whole zone's backlog before the next; \
               Linux 7.1 turns it on for rotating zoned disks.", ..QUEUE
    },
    Scheduler: Param {
        key: "scheduler", unit: Unit::Word(&["none", "mq-deadline", "kyber", "bfq"]), default: "mq-deadline", live: Live::Sysfs,
        help: "I/O scheduler of the queue.", ..QUEUE
    },
    NrRequests: Param {
        key: "nr_requests", max: u32::MAX as u64, step: 0, live: Live::Sysfs,
        help: "Requests the queue can hold; auto is twice the queue depth with a scheduler, else the queue depth.", ..QUEUE
    },
    AsyncDepth: Param {
        key: "async_depth", max: INT_MAX, step: 0, live: Live::Sysfs, shown_when: &[(Key::Scheduler, "mq-deadline|kyber|bfq")],
        help: "Scheduler tags for all but plain reads; auto is nr_requests, three quarters of it with kyber, bfq and elevator_5_17.", ..QUEUE
    },
    ReadExpire: Param {
        key: "read_expire", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "500ms",
        help: "Age at which a read is served out of order.", ..DEADLINE
    },
    WriteExpire: Param {
        key: "write_expire", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "5s",
        help: "Age at which a write is served out of order.", ..DEADLINE
    },
    WritesStarved: Param {
        key: "writes_starved", max: INT_MAX, default: "2",
        help: "Read batches that may go before a waiting write batch.", ..DEADLINE
    },
    FifoBatch: Param {
        key: "fifo_batch", max: INT_MAX, default: "16",
        help: "Requests served in sector order before the ages are looked at again.", ..DEADLINE
    },
    FrontMerges: Param {
        key: "front_merges", unit: Unit::Bool, default: "1",
        help: "Look for requests a new one can be put in front of.", ..DEADLINE
    },
    PrioAgingExpire: Param {
        key: "prio_aging_expire", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "10s",
        help: "Age at which a request of a lower priority class no longer waits for higher classes.", ..DEADLINE
    },
    ReadLatNsec: Param {
        key: "read_lat_nsec", unit: NS, step: 100 * US, default: "2ms",
        help: "Latency that kyber aims at for reads.", ..KYBER
    },
    WriteLatNsec: Param {
        key: "write_lat_nsec", unit: NS, step: 100 * US, default: "10ms",
        help: "Latency that kyber aims at for writes.", ..KYBER
    },
    FifoExpireSync: Param {
        key: "fifo_expire_sync", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "125ms",
        help: "Age at which a sync request goes before its queue's nearer ones.", ..BFQ
    },
    FifoExpireAsync: Param {
        key: "fifo_expire_async", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "250ms",
        help: "Age at which an async request goes before its queue's nearer ones.", ..BFQ
    },
    BackSeekMax: Param {
        key: "back_seek_max", unit: Unit::Kib, max: INT_MAX * KIB, step: 0, default: "16384",
        help: "KiB behind the last position within which a request may still be the next.", ..BFQ
    },
    BackSeekPenalty: Param {
        key: "back_seek_penalty", min: 1, max: INT_MAX, default: "2",
        help: "A distance backward counts this many times.", ..BFQ
    },
    SliceIdle: Param {
        key: "slice_idle", unit: MS, max: INT_MAX_MS, step: 1000 * US, default: "8ms",
        help: "How long the device idles for the next request of the sync queue in service.", ..BFQ
    },
    MaxBudget: Param {
        key: "max_budget", max: INT_MAX, step: 0, default: "0",
        help: "Sectors a queue may be served in one go; 0 follows the measured peak rate.", ..BFQ
    },
    TimeoutSync: Param {
        key: "timeout_sync", unit: MS, min: 1000 * US, max: INT_MAX_MS, step: 1000 * US, default: "125ms",
        help: "Longest time a queue is served in one go.", ..BFQ
    },
    StrictGuarantees: Param {
        key: "strict_guarantees", unit: Unit::Bool, default: "0",
        help: "Idle for every sync queue and serve one request at a time: exact shares, less throughput.", ..BFQ
    },
    LowLatency: Param {
        key: "low_latency", unit: Unit::Bool, default: "1",
        help: "Raise the weight of queues that look interactive or soft real-time.", ..BFQ
    },
    MaxSectorsKb: Param {
        key: "max_sectors_kb", unit: Unit::Kib, min: 1, max: 32_767 * KIB, step: 0, live: Live::Sysfs,
        help: "Largest request in KiB; auto is max_sectors_cap or what the host adapter allows.", ..QUEUE
    },
    MaxSegments: Param {
        key: "max_segments", min: 1, max: 65_535, step: 0,
        help: "Memory segments in a request; auto is the host adapter's limit.", ..QUEUE
    },
    Nomerges: Param {
        key: "nomerges", max: 2, default: "0", live: Live::Sysfs,
        help: "0 tries all merges, 1 only the cheap ones, 2 none.", ..QUEUE
    },
    QueueWriteCache: Param {
        key: "queue_write_cache", unit: Unit::Word(&["write_back", "write_through"]), default: "write_back", advanced: true, live: Live::Sysfs,
        help: "queue/write_cache: write_back sends flushes and FUA to the device, write_through sends none.", ..QUEUE
    },
    BlkWbtMq: Param {
        key: "blk_wbt_mq", default: "0",
        help: "CONFIG_BLK_WBT_MQ: buffered writes are throttled by wbt unless the scheduler is bfq.", ..SWITCH
    },
    WbtLatUsec: Param {
        key: "wbt_lat_usec", unit: Unit::Time(US), max: 1000 * SEC, step: 0, advanced: true, live: Live::Sysfs,
        help: "Read latency above which wbt holds buffered writes back, in us; 0 is off; auto, or -1, is 75 ms for rotating disks, else 2 ms, with blk_wbt_mq=1.", ..QUEUE
    },
    Iocost: Param {
        key: "iocost", unit: Unit::Bool, max: 1, default: "0", advanced: true,
        help: "io.cost.qos enable=1: what I/Os cost by a model is divided by io_weight.", ..QUEUE
    },
    IocostRbps: Param {
        key: "iocost_rbps", unit: Unit::Bytes, min: 1, default: "174019176B", help: "io.cost.model: bytes read a second.", ..IOCOST
    },
    IocostRseqiops: Param {
        key: "iocost_rseqiops", min: 1, max: u32::MAX as u64, default: "41708", help: "io.cost.model: sequential reads of 4 KiB a second.", ..IOCOST
    },
    IocostRrandiops: Param {
        key: "iocost_rrandiops", min: 1, max: u32::MAX as u64, default: "370", help: "io.cost.model: random reads of 4 KiB a second.", ..IOCOST
    },
    IocostWbps: Param {
        key: "iocost_wbps", unit: Unit::Bytes, min: 1, default: "178075866B", help: "io.cost.model: bytes written a second.", ..IOCOST
    },
    IocostWseqiops: Param {
        key: "iocost_wseqiops", min: 1, max: u32::MAX as u64, default: "42705", help: "io.cost.model: sequential writes of 4 KiB a second.", ..IOCOST
    },
    IocostWrandiops: Param {
        key: "iocost_wrandiops", min: 1, max: u32::MAX as u64, default: "378", help: "io.cost.model: random writes of 4 KiB a second.", ..IOCOST
    },
    IocostRpct: Param {
        key: "iocost_rpct", unit: Unit::Milli, max: 100_000, default: "0",
        help: "io.cost.qos: percentile of read latencies that is held against iocost_rlat; 0 judges none.", ..IOCOST
    },
    IocostRlat: Param {
        key: "iocost_rlat", unit: Unit::Time(US), max: 1000 * SEC, default: "250ms", help: "io.cost.qos: target latency of reads, in us.", ..IOCOST
    },
    IocostWpct: Param {
        key: "iocost_wpct", unit: Unit::Milli, max: 100_000, default: "0",
        help: "io.cost.qos: percentile of write latencies that is held against iocost_wlat; 0 judges none.", ..IOCOST
    },
    IocostWlat: Param {
        key: "iocost_wlat", unit: Unit::Time(US), max: 1000 * SEC, default: "250ms", help: "io.cost.qos: target latency of writes, in us.", ..IOCOST
    },
    IocostMin: Param {
        key: "iocost_min", unit: Unit::Milli, min: 1_000, max: 10_000_000, default: "1", help: "io.cost.qos: smallest rate of virtual time, in per cent.", ..IOCOST
    },
    IocostMax: Param {
        key: "iocost_max", unit: Unit::Milli, min: 1_000, max: 10_000_000, default: "10000", help: "io.cost.qos: largest rate of virtual time, in per cent.", ..IOCOST
    },
    Change: Param {
        key: "change", unit: Unit::Changes, default: "", advanced: true,
        help: "Attributes of /sys/block/X/queue written during the run, as 1.2s:zoned_qd1_writes:1; sda.NAME is one disk's, else all disks'.", ..BLOCK
    },
    Hba: Param {
        key: "hba", unit: Unit::Word(&["ahci", "mpi3mr"]), default: "ahci",
        shown_when: ADAPTED,
        help: "Host adapter: AHCI takes 168 segments a command and 32 commands; mpi3mr 256 segments, at most 1 MiB, and 254 commands.", ..QUEUE
    },
    QueueDepth: Param {
        key: "queue_depth", min: 1, max: 1024, shown_when: ATTACHED,
        help: "Commands the drive may hold at the same time: 32 at most, 254 with hba=mpi3mr, 1024 with drive=capped or of flash; 1 switches NCQ off.", ..QUEUE
    },
    NcqPrio: Param {
        key: "ncq_prio", unit: Unit::Bool, default: "0", shown_when: MODELLED, advanced: true,
        help: "ncq_prio_enable: commands of the realtime class carry high priority, and the drive serves them first.", ..QUEUE
    },
    NrHwQueues: Param {
        key: "nr_hw_queues", min: 1, max: 128, step: 0, default: "1", shown_when: ATTACHED, advanced: true,
        help: "Hardware queues, each with tags of its own; at most one a CPU, and one with hba=ahci.", ..QUEUE
    },
    RqAffinity: Param {
        key: "rq_affinity", max: 2, default: "1", advanced: true,
        help: "CPU that completes a request: 0 any, 1 one that shares a cache with the submitter's, 2 the submitter's.", ..QUEUE
    },
    SharedUsers: Param {
        key: "shared_users", max: 1024, default: "0", advanced: true,
        help: "Active devices that share the driver tags, this one among them, each with a fair part; 0 shares none.", ..QUEUE
    },
    TagAlloc: Param {
        key: "tag_alloc", unit: Unit::Word(&["hint", "round_robin"]), advanced: true,
        help: "Where the search for a driver tag starts: at the CPU's hint, or behind the last tag; auto is round_robin with hba=ahci.", ..QUEUE
    },
    HostTags: Param {
        key: "host_tags", unit: Unit::Bool, max: 1, advanced: true,
        help: "All hardware queues share the tags of one, as with null_blk's shared_tag_bitmap; auto is 1 with hba=mpi3mr.", ..QUEUE
    },
    LostWakeup: Param {
        key: "lost_wakeup", unit: Unit::Word(&["none", "late_waiter", "empty_queue"]), default: "none", advanced: true,
        help: "A wake-up that gets lost once: a waiter that comes after the last free and does not look again, or a batch spent on an empty queue.", ..QUEUE
    },
    LostWakeupAt: Param {
        key: "lost_wakeup_at", unit: S, max: 86_400 * SEC, step: 1000 * US, default: "0",
        shown_when: &[(Key::LostWakeup, "late_waiter|empty_queue")], advanced: true,
        help: "Earliest time of the lost wake-up.", ..QUEUE
    },
    AsyncDepthOwner: Param {
        key: "async_depth_owner", unit: Unit::Word(&["queue", "elevator", "elevator_5_17", "none"]), default: "queue",
        shown_when: &[(Key::Scheduler, "mq-deadline|kyber|bfq")],
        help: "Whose attribute async_depth is: the queue's since 7.0; before that mq-deadline's, which left wake_batch at 1; that of 5.17; none before 5.14.", ..BLOCK
    },
    ShallowPerWord: Param {
        key: "shallow_per_word", unit: Unit::Bool, default: "0", advanced: true,
        help: "async_depth limits each word of the tag map on its own, as in 5.17, instead of the whole map.", ..BLOCK
    },
    SbitmapWake: Param {
        key: "sbitmap_wake", unit: Unit::Word(&["per_map", "per_queue"]), default: "per_map", advanced: true,
        help: "Who counts freed tags until waiters are woken: one count for the map since 6.2, one in each of the eight wait queues before.", ..BLOCK
    },
    DeadPlugRevive: Param {
        key: "dead_plug_revive", unit: Unit::Bool, default: "1", advanced: true,
        shown_when: &[(Key::ZoneOrdering, "zwplug"), (Key::Zoned, "1"), (Key::ZwplugRemoved, "dead")],
        help: "A write to a reset zone whose old plug is still referenced takes that plug over; 0 is the code as first merged for 7.1, where such a write fails with EIO.", ..BLOCK
    },
    QosGate: Param {
        key: "qos_gate", unit: Unit::Word(&["queue_flag", "static_key", "pointer"]), default: "queue_flag", advanced: true,
        help: "How rq_qos is passed by where no policy exists: a flag of the queue (6.17), a key of the whole kernel (6.16), the queue's pointer.", ..BLOCK
    },
    IssueTime: Param {
        key: "issue_time", unit: Unit::Word(&["iolatency", "always"]), default: "iolatency", advanced: true,
        help: "Bios that get a time stamp: those of queues with iolatency (6.18), or all.", ..BLOCK
    },
    TagRrRepr: Param {
        key: "tag_rr_repr", unit: Unit::Word(&["flag", "enum"]), default: "flag", advanced: true,
        help: "Round robin tags are a flag of the tag set (6.14), or a value of its alloc_policy.", ..BLOCK
    },
    NoSchedRepr: Param {
        key: "no_sched_repr", unit: Unit::Word(&["by_default", "no_sched"]), default: "by_default", advanced: true,
        help: "no_sched decides the default alone (6.14), or leaves none as the only scheduler.", ..BLOCK
    },
    IoTicks: Param {
        key: "io_ticks", unit: Unit::Word(&["in_flight", "start"]), default: "in_flight", advanced: true,
        help: "What %util counts: time with a request in flight, or as 5.0 to 6.9 a jiffy for each that saw a start or an end.", ..BLOCK
    },
    SplitInsert: Param {
        key: "split_insert", unit: Unit::Word(&["tail", "head"]), default: "head", shown_when: STACKED,
        help: "End of current->bio_list that gets what is left of a split bio: tail up to Linux 6.17, head since.", ..BLOCK
    },
    BioListModel: Param {
        key: "bio_list_model", unit: Unit::Word(&["two_list", "one_list"]), default: "two_list", shown_when: STACKED, advanced: true,
        help: "The kernel's two lists of a submission, or the one list that the fix's message draws.", ..BLOCK
    },
    Raid5StripeLimit: Param {
        key: "raid5_stripe_limit", shown_when: PARITY,
        help: "No I/O of raid5 and raid6 crosses a full stripe: chunk_sectors as published since 6.18.", ..SWITCH
    },
    Raid5MaxHw: Param {
        key: "raid5_max_hw", shown_when: PARITY,
        help: "raid5 and raid6 limit their own I/O to 1 MiB, or a full stripe where that is more; 0 as up to 5.17.", ..SWITCH
    },
    Raid5Spread: Param {
        key: "raid5_spread", shown_when: PARITY,
        help: "A write visits each stripe once for all members it covers; 0 once a member, as up to 5.17.", ..SWITCH
    },
    MdChunkLimit: Param {
        key: "md_chunk_limit", shown_when: &[(Key::Stack, "raid0|raid10")],
        help: "raid0 and raid10 publish their chunk as chunk_sectors; 0 as up to 5.17.", ..SWITCH
    },
    PlugOrder: Param {
        key: "plug_order", unit: Unit::Word(&["fifo", "lifo"]), default: "fifo",
        help: "A plug's requests oldest first, or newest first as up to 6.12.", ..PLUG
    },
    PlugMerge: Param {
        key: "plug_merge", unit: Unit::Word(&["newest", "head"]), default: "newest",
        help: "Request of a plug that a bio is tried against: the newest, or the list's head, which 6.13 to 6.15 left at the oldest.", ..PLUG
    },
    PlugFlushBytes: Param {
        key: "plug_flush_bytes", unit: Unit::Bytes, min: 512, max: 256 * MIB, step: 0, default: "128KiB",
        help: "BLK_PLUG_FLUSH_SIZE: a new request flushes the plug once the one looked at is this large.", ..PLUG
    },
    PlugMaxRq: Param {
        key: "plug_max_rq", min: 1, max: 4096, step: 0, default: "32",
        help: "BLK_MAX_REQUEST_COUNT: requests that a plug holds; 16 up to 5.15.", ..PLUG
    },
    PlugMultiFactor: Param {
        key: "plug_multi_factor", min: 1, max: 64, step: 0, default: "2",
        help: "A plug with requests of several queues holds this many times as many; 1 at first, then 4, since 5.16 2.", ..PLUG
    },
    StepPlug: Param {
        key: "step_plug",
        help: "Each step of a submission has a plug of its own unless its task has one; 0 as up to 6.9.", ..SWITCH
    },
    MaxSectorsCap: Param {
        key: "max_sectors_cap", unit: Unit::Word(&["1280KiB", "4096KiB"]), default: "4096KiB",
        help: "What max_sectors_kb is by default at most: 1280 KiB up to 6.16.", ..PLUG
    },
    Rbps: Param {
        key: "rbps", unit: Unit::Bytes, help: "io.max: bytes read a second; 0 is max.", ..THROTTLE
    },
    Wbps: Param {
        key: "wbps", unit: Unit::Bytes, help: "io.max: bytes written a second; 0 is max.", ..THROTTLE
    },
    Riops: Param {
        key: "riops", help: "io.max: bios read a second; 0 is max.", ..THROTTLE
    },
    Wiops: Param {
        key: "wiops", help: "io.max: bios written a second; 0 is max.", ..THROTTLE
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
    StepNs: Param {
        key: "step_ns",
        help: "One step of a submission: a bio through a stacked device, or a piece that is split off; auto is 1 us with a stack (assumed), else 0.", ..HOST
    },
    WakeNs: Param {
        key: "wake_ns", default: "5us",
        help: "From waking a task that waits for a tag to it running (assumed).", ..HOST
    },
    WakeSpreadNs: Param {
        key: "wake_spread_ns", default: "0",
        help: "Added to wake_ns: a random time up to this.", ..HOST
    },
    TagLineNs: Param {
        key: "tag_line_ns", default: "0",
        help: "From one CPU to the next with a cache line of a tag map; the lines of a map in great demand pass one by one.", ..HOST
    },
    KblockdNs: Param {
        key: "kblockd_ns", default: "0",
        help: "From queueing the work that runs a hardware queue to it running.", ..HOST
    },
    IpiNs: Param {
        key: "ipi_ns", default: "0",
        help: "From a completion on another CPU to its softirq on the submitter's.", ..HOST
    },
    DispatchNs: Param {
        key: "dispatch_ns", default: "0",
        help: "CPU time for each request that a run of a hardware queue takes from a scheduler or its dispatch list.", ..HOST
    },
    JiffyNs: Param {
        key: "jiffy_ns", default: "4ms", min: US, shown_when: &[(Key::IoTicks, "start")],
        help: "Length of a jiffy.", ..HOST
    },
    RcuNs: Param {
        key: "rcu_ns", default: "0",
        help: "An RCU grace period: what a freeze of the queue takes at least, and a quiesce.", ..HOST
    },
    MdWakeNs: Param {
        key: "md_wake_ns", default: "20us",
        help: "From waking a thread of md, dm or blk-throttle to it running (assumed).", ..HOST
    },
    MdBioNs: Param {
        key: "md_bio_ns", default: "1us", shown_when: PARITY,
        help: "CPU time of raid5d for each member bio (assumed).", ..HOST
    },
    MdRqNs: Param {
        key: "md_rq_ns", default: "1600ns", step: 100, shown_when: PARITY,
        help: "CPU time of raid5d added for each member bio that becomes a request of its own (assumed).", ..HOST
    },
    MdSyncNs: Param {
        key: "md_sync_ns", default: "2us", shown_when: CHECKED,
        help: "CPU time of the sync thread for each stripe it hands on (assumed).", ..HOST
    },

    Stack: Param {
        key: "stack", unit: Unit::Word(&["none", "raid0", "raid1", "raid5", "raid6", "raid10", "dm-stripe", "dm-crypt"]), default: "none",
        scope: Scope::Run,
        help: "Device that the jobs submit to, over disks named sda, sdb and so on: the disk itself, an md array md0, or a device-mapper target dm-0.", ..DEVICE
    },
    RaidDisks: Param {
        key: "raid_disks", min: 2, max: 64, default: "8", shown_when: SEVERAL,
        help: "Members; raid5 needs 3, raid6 4.", ..STACK
    },
    Chunk: Param {
        key: "chunk", unit: Unit::Bytes, min: 4 * KIB, max: 256 * MIB, step: 0, default: "512KiB", shown_when: CHUNKED,
        help: "Bytes on one member before the next one follows, a power of two.", ..STACK
    },
    Layout: Param {
        key: "layout", unit: Unit::Word(&crate::stack::LAYOUTS), shown_when: &[(Key::Stack, "raid0|raid5|raid6|raid10")],
        help: "Which member holds what, in mdadm's words; auto is left-symmetric for raid5 and raid6, original for raid0, n2 for raid10.", ..STACK
    },
    DataOffset: Param {
        key: "data_offset", unit: Unit::Bytes, max: TIB, step: MIB, default: "0", shown_when: MD, advanced: true,
        help: "Where data starts on each member, behind md's superblock.", ..STACK
    },
    StripeCacheSize: Param {
        key: "stripe_cache_size", min: 17, max: 32_768, step: 0, default: "256", shown_when: PARITY, advanced: true,
        help: "Stripes of 4 KiB a member that the array keeps.", ..STACK
    },
    RmwLevel: Param {
        key: "rmw_level", max: 2, default: "1", shown_when: PARITY,
        help: "0 never reads old data and parity to compute new parity, 1 does where that takes fewer reads, 2 also where it takes as many.", ..STACK
    },
    PrereadBypassThreshold: Param {
        key: "preread_bypass_threshold", max: 32_768, step: 0, default: "1", shown_when: PARITY, advanced: true,
        help: "Stripes that may go before one that waits for reads; at most stripe_cache_size.", ..STACK
    },
    SyncAction: Param {
        key: "sync_action", unit: Unit::Word(&["idle", "check"]), default: "idle", shown_when: PARITY,
        help: "check reads the whole array from its start and compares parity.", ..STACK
    },
    SyncSpeedMin: Param {
        key: "sync_speed_min", unit: Unit::Kib, min: KIB, max: 4 * GIB, step: 0, default: "1000", shown_when: CHECKED, advanced: true,
        help: "KiB a second of each member that a check reaches even beside other I/O.", ..STACK
    },
    SyncSpeedMax: Param {
        key: "sync_speed_max", unit: Unit::Kib, min: KIB, max: 4 * GIB, step: 0, default: "200000", shown_when: CHECKED, advanced: true,
        help: "KiB a second of each member at which a check pauses.", ..STACK
    },
    MaxReadSize: Param {
        key: "max_read_size", unit: Unit::Bytes, max: 256 * MIB, step: 0, default: "0", shown_when: CRYPT,
        help: "Largest piece dm-crypt reads; 0 is 128 KiB.", ..STACK
    },
    MaxWriteSize: Param {
        key: "max_write_size", unit: Unit::Bytes, max: 256 * MIB, step: 0, default: "0", shown_when: CRYPT,
        help: "Largest piece dm-crypt writes, at most 1 MiB; 0 is 128 KiB, and no cut on a zoned disk.", ..STACK
    },
    CryptSectorNs: Param {
        key: "crypt_sector_ns", unit: NS, max: SEC, step: 10, default: "250ns", shown_when: CRYPT, advanced: true,
        help: "CPU time to encrypt or decrypt 512 bytes (assumed: about 2 GB/s).", ..STACK
    },
    Drive: Param {
        key: "drive", unit: Unit::Word(&crate::drive::DRIVES), default: "smr-30tb",
        help: "Drive profile: host-managed SMR disks, a conventional disk, a device known by its limits only, null_blk, flash, a 1 TB zoned SSD.", ..DEVICE
    },
    Capacity: Param {
        key: "capacity", unit: Unit::Bytes, min: MIB, max: 64 * TIB, step: 0, default: "1TiB",
        shown_when: &[(Key::Drive, "capped|null_blk|flash")],
        help: "Size of the device.", ..DEVICE
    },
    Zoned: Param {
        key: "zoned", unit: Unit::Bool, max: 1, shown_when: MADE_UP,
        help: "The device has zones; auto is 1 with drive=zns-1tb.", ..DEVICE
    },
    ZoneSize: Param {
        key: "zone_size", unit: Unit::Mib, min: 4 * KIB, max: TIB, step: 0,
        help: "Size of a zone, a power of two; a bare number is MiB.", ..ZONE
    },
    ZoneCapacity: Param {
        key: "zone_capacity", unit: Unit::Mib, min: 4 * KIB, max: TIB, step: 0,
        help: "Writable part of a zone; a bare number is MiB.", ..ZONE
    },
    ZoneNrConv: Param {
        key: "zone_nr_conv", max: u32::MAX as u64, default: "0",
        help: "Conventional zones at the start.", ..ZONE
    },
    ZoneMaxOpen: Param {
        key: "zone_max_open", max: u32::MAX as u64,
        help: "Zones that can be open at the same time; 0 is no limit.", ..ZONE
    },
    ZoneMaxActive: Param {
        key: "zone_max_active", max: u32::MAX as u64,
        help: "Zones that can be open or closed at the same time; 0 is no limit.", ..ZONE
    },
    ZoneAppendMaxSectors: Param {
        key: "zone_append_max_sectors", max: u32::MAX as u64, step: 0,
        help: "Largest zone append in sectors; 0 has the block layer emulate it; auto is what a command may have.", ..ZONE
    },
    ZoneFull: Param {
        key: "zone_full", unit: Unit::Bool, max: 1, default: "0",
        help: "All sequential zones are full at the start.", ..ZONE
    },
    ZoneReadonly: Param {
        key: "zone_readonly", unit: Unit::Numbers, max: u32::MAX as u64, default: "",
        help: "Numbers of zones that are read-only from the start; null_blk itself takes a sector of each.", ..ZONE
    },
    ZoneOffline: Param {
        key: "zone_offline", unit: Unit::Numbers, max: u32::MAX as u64, default: "",
        help: "Numbers of zones that are offline from the start; null_blk itself takes a sector of each.", ..ZONE
    },
    CapIops: Param {
        key: "cap_iops", max: 1_000_000_000, step: 0, default: "0",
        help: "Commands a second, one after the other; 0 is no limit.", ..CAP
    },
    CapRate: Param {
        key: "cap_rate", unit: Unit::Rate, max: 1024 * GIB, step: MIB, default: "250MiB/s",
        help: "Rate of the device; 0 is no limit.", ..CAP
    },
    CapLatencyNs: Param {
        key: "cap_latency_ns", unit: NS, max: 60 * SEC, step: 10 * US, default: "100us",
        help: "Time from the end of a command's transfer to its completion.", ..CAP
    },
    CapChannels: Param {
        key: "cap_channels", min: 1, max: 1024, step: 0, default: "1",
        help: "Commands served side by side, each at cap_iops and cap_rate.", ..CAP
    },
    Irqmode: Param {
        key: "irqmode", max: 2, default: "1",
        help: "How null_blk completes a command: 0 inside its submission, 1 in a softirq, 2 after completion_nsec.", ..NULL_BLK
    },
    CompletionNsec: Param {
        key: "completion_nsec", unit: NS, max: 60 * SEC, step: US, default: "10us",
        shown_when: &[(Key::Drive, "null_blk"), (Key::Irqmode, "2")],
        help: "Time that each command takes.", ..DEVICE
    },
    HwQueueDepth: Param {
        key: "hw_queue_depth", min: 1, max: 1024, step: 0, default: "64",
        help: "Driver tags of each hardware queue.", ..NULL_BLK
    },
    SubmitQueues: Param {
        key: "submit_queues", min: 1, max: 128, step: 0, default: "1",
        help: "Hardware queues; at most one a CPU.", ..NULL_BLK
    },
    MemoryBacked: Param {
        key: "memory_backed", unit: Unit::Bool, max: 1, default: "0",
        help: "null_blk keeps the data and may block, so only workers run its hardware queues.", ..NULL_BLK
    },
    Mbps: Param {
        key: "mbps", max: 1_000_000, step: 0, default: "0", advanced: true,
        help: "MiB a second that null_blk lets through, refilled 50 times a second; 0 is no limit.", ..NULL_BLK
    },
    Blocksize: Param {
        key: "blocksize", unit: Unit::Bytes, min: 512, max: 4096, step: 0, default: "512B", advanced: true,
        help: "Logical block of null_blk, a power of two.", ..NULL_BLK
    },
    MaxSectors: Param {
        key: "max_sectors", max: 65_535, step: 0, default: "0", advanced: true,
        help: "Sectors of null_blk's largest command; 0 is 255.", ..NULL_BLK
    },
    Rotational: Param {
        key: "rotational", unit: Unit::Bool, max: 1, default: "0", advanced: true,
        help: "null_blk says that it turns, which changes what the kernel does.", ..NULL_BLK
    },
    NoSched: Param {
        key: "no_sched", unit: Unit::Bool, max: 1, default: "0", advanced: true,
        help: "null_blk asks for no scheduler: see no_sched_repr.", ..NULL_BLK
    },
    PipelineZonedWrites: Param {
        key: "pipeline_zoned_writes", unit: Unit::Bool, max: 1, advanced: true,
        shown_when: &[(Key::Drive, "null_blk"), (Key::Zoned, "1")],
        help: "null_blk asks for misaligned zone writes again, and nobody locks zones; auto is 1 with zone_ordering=pipelined.", ..DEVICE
    },
    AsPosted: Param {
        key: "as_posted", unit: Unit::Bool, max: 1, default: "0", advanced: true,
        shown_when: &[(Key::Drive, "null_blk"), (Key::Zoned, "1"), (Key::PipelineZonedWrites, "1")],
        help: "A misaligned write ends with EBUSY, as the patch reads literally, instead of being tried again.", ..DEVICE
    },
    FlashChannels: Param {
        key: "flash_channels", min: 1, max: 256, step: 0, help: "Channels of the device, each moving one page at a time.", ..FLASH
    },
    FlashDies: Param {
        key: "flash_dies", min: 1, max: 256, step: 0, help: "Dies on each channel.", ..FLASH
    },
    FlashPage: Param {
        key: "flash_page", unit: Unit::Bytes, min: 4 * KIB, max: MIB, step: 0, help: "Bytes that a die reads or programs at a time, a power of two.", ..FLASH
    },
    FlashReadNs: Param {
        key: "flash_read_ns", unit: NS, max: SEC, step: US, help: "Time in which a die reads a page.", ..FLASH
    },
    FlashProgramNs: Param {
        key: "flash_program_ns", unit: NS, max: SEC, step: US, help: "Time in which a die programs a page.", ..FLASH
    },
    FlashEraseNs: Param {
        key: "flash_erase_ns", unit: NS, max: SEC, step: US, help: "Time of a zone reset: its blocks are erased side by side.", ..FLASH
    },
    FlashChannelRate: Param {
        key: "flash_channel_rate", unit: Unit::Rate, min: MIB, max: 64 * GIB, step: MIB, help: "Rate of one channel.", ..FLASH
    },
    FlashCommandNs: Param {
        key: "flash_command_ns", unit: NS, max: SEC, step: US, help: "Overhead of each command.", ..FLASH
    },
    FlashCache: Param {
        key: "flash_cache", max: 1_000_000, step: 0,
        help: "Pages of protected memory from which writes are acknowledged; 0 acknowledges what is programmed.", ..FLASH
    },
    WriteCache: Param {
        key: "write_cache", unit: Unit::Bool, default: "1", shown_when: MODELLED,
        help: "Volatile write cache of the drive.", ..DEVICE
    },
    WriteOffMode: Param {
        key: "write_off_mode", unit: Unit::Word(&["nonvolatile", "media"]), default: "nonvolatile",
        shown_when: &[(Key::WriteCache, "0")],
        help: "With the cache off, writes are answered from non-volatile memory or only from the medium.", ..DEVICE
    },
    ZonePhase: Param {
        key: "zone_phase", unit: Unit::Word(&["by_lba", "random"]), default: "by_lba", shown_when: MODELLED,
        help: "Where on a turn each zone starts: continuing the zone before, or at random.", ..DEVICE
    },
    FirstFill: Param {
        key: "first_fill", unit: Unit::Word(&["empty", "random", "full"]), default: "empty", shown_when: SHINGLED,
        help: "Zones at the start: empty, those of the range each filled to a random point, or all full.", ..DEVICE
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
