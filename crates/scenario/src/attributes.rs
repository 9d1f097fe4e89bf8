//! The files of /sys/block/X/queue: which there are, and what a write to each returns.
//!
//! Models: the stores of Linux 5.10 to 7.1 (kernel 1.3, 3.3, 3.4, 4.3, 5.3, 8.1, 10.3), written to by root.
//! Rule: what the kernel refuses is told with its errno; what it stores instead of what was written is told as well.
//! Leaves out: what only a running kernel knows (EBUSY, ENOMEM); that is the simulator's.

use bioscope_core::config::{ElevatorKind, QueueConfig, Setting};
use bioscope_core::units::SECTOR_BYTES;

use crate::diagnostic::Severity;
use crate::kernel::{QD1_WRITES, ZONE_WRITE_PLUGS};
use crate::params::Key;

/// BLKDEV_MIN_RQ
pub(crate) const MIN_REQUESTS: u64 = 4;
/// MAX_SCHED_RQ
pub(crate) const MAX_REQUESTS: u64 = 2048;
/// Requests that a scheduler has by default for each command of the device, of which so many count.
const DEFAULT_REQUESTS: u32 = 128;
/// Smallest max_sectors, bytes.
const PAGE_BYTES: u64 = 4096;

/// Which queues have a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// All.
    All,
    /// Those of blk-mq.
    Mq,
    /// Those of zoned devices.
    Zoned,
}

/// What may be written to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: mode 0444.
    Nothing,
    /// An unsigned decimal of 32 bits.
    Number,
    /// The same, but not 0.
    NotZero,
    /// The same, and only multiples of a granularity, which no device here has: 0.
    Zero,
    /// A signed decimal, -1 or more.
    FromMinusOne,
    /// A scheduler's name.
    Scheduler,
    /// `write back`, or what stands for the opposite.
    Caching,
    /// Anything; it is ignored.
    Anything,
    /// Nothing without a driver that polls, which no device here has.
    Polling,
}

impl Takes {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Takes::Nothing => "nothing (EACCES)",
            Takes::Number => "a number of 32 bits, else EINVAL",
            Takes::NotZero => "a number of 32 bits but 0, else EINVAL",
            Takes::Zero => "what the device takes at most, here 0, else EINVAL",
            Takes::FromMinusOne => "a number, or -1 for the default, else EINVAL",
            Takes::Scheduler => "none, mq-deadline, kyber or bfq, else EINVAL",
            Takes::Caching => "write back, write through or none, else EINVAL",
            Takes::Anything => "anything, which is ignored",
            Takes::Polling => "nothing without a driver that polls (EINVAL)",
        }
    }
}

/// A file.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Which queues have it.
    pub on: On,
    /// What may be written.
    pub takes: Takes,
    /// The setting that it is here, if a write has an effect.
    pub key: Option<Key>,
}

const fn rw(name: &'static str, on: On, takes: Takes) -> Attribute {
    Attribute { name, on, takes, key: None }
}
const fn live(name: &'static str, on: On, takes: Takes, key: Key) -> Attribute {
    Attribute { name, on, takes, key: Some(key) }
}
const fn ro(name: &'static str, on: On) -> Attribute {
    Attribute { name, on, takes: Takes::Nothing, key: None }
}

/// All files of 7.1.
pub static ATTRIBUTES: &[Attribute] = &[
    live("nr_requests", On::Mq, Takes::Number, Key::NrRequests),
    live("async_depth", On::Mq, Takes::NotZero, Key::AsyncDepth),
    rw("read_ahead_kb", On::All, Takes::Number),
    live("max_sectors_kb", On::All, Takes::Number, Key::MaxSectorsKb),
    live("scheduler", On::Mq, Takes::Scheduler, Key::Scheduler),
    rw("discard_max_bytes", On::All, Takes::Zero),
    rw("write_zeroes_unmap_max_bytes", On::All, Takes::Zero),
    live("zoned_qd1_writes", On::Zoned, Takes::Number, Key::ZonedQd1Writes),
    live("nomerges", On::All, Takes::Number, Key::Nomerges),
    rw("iostats", On::All, Takes::Number),
    rw("iostats_passthrough", On::All, Takes::Number),
    rw("rq_affinity", On::Mq, Takes::Number),
    rw("io_poll", On::All, Takes::Polling),
    rw("io_poll_delay", On::All, Takes::Anything),
    live("write_cache", On::All, Takes::Caching, Key::QueueWriteCache),
    rw("io_timeout", On::Mq, Takes::NotZero),
    rw("rotational", On::All, Takes::Number),
    rw("add_random", On::All, Takes::Number),
    rw("stable_writes", On::All, Takes::Number),
    live("wbt_lat_usec", On::Mq, Takes::FromMinusOne, Key::WbtLatUsec),
    ro("max_hw_sectors_kb", On::All),
    ro("max_segments", On::All),
    ro("max_segment_size", On::All),
    ro("max_integrity_segments", On::All),
    ro("max_discard_segments", On::All),
    ro("max_write_streams", On::All),
    ro("write_stream_granularity", On::All),
    ro("logical_block_size", On::All),
    ro("hw_sector_size", On::All),
    ro("physical_block_size", On::All),
    ro("chunk_sectors", On::All),
    ro("minimum_io_size", On::All),
    ro("optimal_io_size", On::All),
    ro("discard_granularity", On::All),
    ro("discard_max_hw_bytes", On::All),
    ro("discard_zeroes_data", On::All),
    ro("atomic_write_max_bytes", On::All),
    ro("atomic_write_boundary_bytes", On::All),
    ro("atomic_write_unit_min_bytes", On::All),
    ro("atomic_write_unit_max_bytes", On::All),
    ro("write_same_max_bytes", On::All),
    ro("write_zeroes_max_bytes", On::All),
    ro("zone_append_max_bytes", On::All),
    ro("zone_write_granularity", On::All),
    ro("zoned", On::All),
    ro("nr_zones", On::All),
    ro("max_open_zones", On::Zoned),
    ro("max_active_zones", On::Zoned),
    ro("fua", On::All),
    ro("dax", On::All),
    ro("virt_boundary_mask", On::All),
    ro("dma_alignment", On::All),
];

/// The file of a name.
pub fn find(name: &str) -> Option<&'static Attribute> {
    ATTRIBUTES.iter().find(|a| a.name == name)
}

/// Why a write fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What it returns.
    pub errno: &'static str,
    /// In words.
    pub why: String,
    /// What could be written instead, or another setting.
    pub suggest: Option<String>,
}

fn refuse<T>(errno: &'static str, why: impl Into<String>, suggest: Option<&str>) -> Result<T, Refusal> {
    Err(Refusal { errno, why: why.into(), suggest: suggest.map(str::to_string) })
}

impl Refusal {
    /// The message of a diagnostic.
    pub fn message(&self) -> String {
        [&self.why, " (", self.errno, ")"].concat()
    }
}

/// What a write leaves in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<T> {
    /// The value.
    pub value: T,
    /// What the kernel made of it where that is not what was written, and whether that is worth a warning.
    pub note: Option<(Severity, String)>,
}

impl Attribute {
    /// Permissions.
    pub fn mode(&self) -> &'static str {
        if self.takes == Takes::Nothing { "0444" } else { "0644" }
    }
}

impl<T> From<T> for Stored<T> {
    fn from(value: T) -> Self {
        Self { value, note: None }
    }
}

impl<T> Stored<T> {
    fn but(value: T, what: String) -> Self {
        Self { value, note: Some((Severity::Warning, what)) }
    }
    fn map<U>(self, of: impl FnOnce(T) -> U) -> Stored<U> {
        Stored { value: of(self.value), note: self.note }
    }
}

/// Whose file async_depth is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The queue's.
    Queue,
    /// mq-deadline's, in iosched/.
    MqDeadline,
    /// There is none.
    Nobody,
}

/// What decides about writes to the files of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Queue {
    /// What the files say now; `None` for a bio-based device, which has fewer of them.
    pub cfg: Option<QueueConfig>,
    /// It is zoned.
    pub zoned: bool,
    /// Zone write plugs keep its writes in order.
    pub plugs: bool,
    /// Bytes that the hardware takes at a time.
    pub max_hw_bytes: u64,
    /// Bytes of a request where nobody wrote max_sectors_kb.
    pub default_bytes: u64,
    /// Number of the kernel's release.
    pub release: u8,
    /// Whose async_depth is.
    pub owner: Owner,
    /// Only `none` is a scheduler (BLK_MQ_F_NO_SCHED).
    pub only_none: bool,
}

/// nr_requests of a queue with a scheduler, or without one and with so many tags (kernel 3.3).
pub(crate) fn nr_requests(n: u64, scheduled: bool, tags: u64) -> Result<Stored<u64>, Refusal> {
    let raised = n.max(MIN_REQUESTS);
    if !scheduled && raised > tags {
        let why = format!("without a scheduler the kernel refuses more than the {tags} hardware tags");
        return refuse("EINVAL", why, Some("scheduler=mq-deadline"));
    }
    if raised > MAX_REQUESTS {
        return refuse("EINVAL", "with a scheduler the kernel refuses more than 2048", Some("2048"));
    }
    Ok(if raised > n { Stored::but(raised, format!("the kernel raises it to {raised}")) } else { n.into() })
}

/// async_depth with a scheduler and so many requests (kernel 3.4).
pub(crate) fn async_depth(n: u64, kind: ElevatorKind, owner: Owner, nr: u64) -> Result<Stored<u64>, Refusal> {
    let mq_deadline = Some("scheduler=mq-deadline");
    match (kind, owner) {
        (ElevatorKind::None, Owner::Queue) => {
            return refuse("EINVAL", "without a scheduler the kernel refuses it", mq_deadline);
        }
        (ElevatorKind::None, _) => {
            let why = "is a file of mq-deadline: without a scheduler there is none";
            return refuse("ENOENT", why, mq_deadline);
        }
        (ElevatorKind::MqDeadline, Owner::Nobody) => {
            let why = "mq-deadline has had this file since 5.14";
            return refuse("ENOENT", why, Some("async_depth_owner=elevator_5_17"));
        }
        (ElevatorKind::Kyber | ElevatorKind::Bfq, Owner::MqDeadline | Owner::Nobody) => {
            return refuse("ENOENT", "only mq-deadline has this file before 7.0", Some("async_depth_owner=queue"));
        }
        (_, Owner::Queue) | (ElevatorKind::MqDeadline, Owner::MqDeadline) => {}
    }
    match n {
        0 if owner == Owner::Queue => refuse("EINVAL", "the kernel refuses 0", Some("1")),
        0 => Ok(Stored::but(1, "the kernel raises it to 1".into())),
        n if n > nr && owner == Owner::Queue => {
            Ok(Stored::but(nr, format!("the kernel lowers it to nr_requests, {nr}")))
        }
        n if n > nr => {
            let what = format!("limits nothing: more than nr_requests, {nr}");
            Ok(Stored { value: nr, note: Some((Severity::Note, what)) })
        }
        n => Ok(n.into()),
    }
}

/// A scheduler of a disk (kernel 3.1, 4.3).
pub(crate) fn scheduler(kind: ElevatorKind, zoned: bool, release: u8, only_none: bool) -> Result<(), Refusal> {
    if zoned && release < ZONE_WRITE_PLUGS && matches!(kind, ElevatorKind::Kyber | ElevatorKind::Bfq) {
        let why = "before 6.10 zoned disks take mq-deadline or none: others do not order zone writes";
        return refuse("EINVAL", why, Some("mq-deadline"));
    }
    if only_none && kind != ElevatorKind::None {
        return refuse("EINVAL", "before 6.14 no_sched=1 leaves none alone", Some("none"));
    }
    Ok(())
}

/// Whether a disk has queue/zoned_qd1_writes (kernel 5.3).
pub(crate) fn zoned_qd1_writes(zoned: bool, plugs: bool, release: u8) -> Result<(), Refusal> {
    if !zoned {
        return refuse("ENOENT", "only zoned disks have this attribute", None);
    }
    if release < QD1_WRITES {
        let name = crate::kernel::RELEASES[usize::from(release)];
        return refuse("ENOENT", ["this attribute came with 7.1: ", name, " has none"].concat(), Some("kernel=7.1"));
    }
    if !plugs {
        return refuse("ENOENT", "without zone write plugs there is none", Some("zone_ordering=zwplug"));
    }
    Ok(())
}

/// max_sectors in bytes (kernel 1.3).
pub(crate) fn max_sectors(bytes: u64, hardware: u64, release: u8) -> Result<Stored<u64>, Refusal> {
    if bytes < PAGE_BYTES {
        return refuse("EINVAL", "the kernel refuses less than 4 KiB", Some("4"));
    }
    if bytes <= hardware {
        return Ok(bytes.into());
    }
    let kib = hardware >> 10;
    if release < ZONE_WRITE_PLUGS {
        let why = format!("the kernel refuses more than the {kib} KiB that the hardware takes");
        return refuse("EINVAL", why, Some(&kib.to_string()));
    }
    Ok(Stored::but(hardware, format!("the kernel lowers it to what the hardware allows, {kib} KiB")))
}

/// The number of a text that sysfs takes: decimal, 32 bits, a newline at its end.
fn number(text: &str) -> Result<u32, Refusal> {
    let digits = text.strip_suffix('\n').unwrap_or(text);
    match digits.parse() {
        Ok(n) if digits.bytes().all(|b| b.is_ascii_digit()) => Ok(n),
        _ => refuse("EINVAL", "not a number of 32 bits", None),
    }
}

/// The names of schedulers.
const SCHEDULERS: [(&str, ElevatorKind); 4] = [
    ("none", ElevatorKind::None),
    ("mq-deadline", ElevatorKind::MqDeadline),
    ("kyber", ElevatorKind::Kyber),
    ("bfq", ElevatorKind::Bfq),
];

impl Queue {
    /// What root's write of a text to a file returns, and what it sets where that is simulated.
    pub fn write(&self, name: &str, text: &str) -> Result<Option<Stored<Setting>>, Refusal> {
        let file = match find(name) {
            Some(file) if self.has(file) => file,
            _ => return refuse("ENOENT", "there is no such file", None),
        };
        let word = text.strip_suffix('\n').unwrap_or(text);
        let n = match file.takes {
            Takes::Nothing => return refuse("EACCES", "it is read-only, for root as well", None),
            Takes::Anything => return Ok(None),
            Takes::Polling => return refuse("EINVAL", "the driver does not poll", None),
            Takes::Number => number(text)?,
            Takes::NotZero => match number(text)? {
                0 if file.key.is_none() => return refuse("EINVAL", "not 0", None),
                n => n,
            },
            Takes::Zero if number(text)? == 0 => return Ok(None),
            Takes::Zero => return refuse("EINVAL", "more than the device takes, which is 0", None),
            Takes::FromMinusOne => match word.parse::<i64>() {
                Ok(-1) => return self.store(Setting::WbtLat(None)).map(Some),
                Ok(n @ 0..) => return self.store(Setting::WbtLat(Some(n as u64 * 1000))).map(Some),
                _ => return refuse("EINVAL", "not a number of -1 or more", None),
            },
            Takes::Scheduler => match SCHEDULERS.iter().find(|(name, _)| *name == word.trim()) {
                Some((_, kind)) => return self.store(Setting::Scheduler(*kind)).map(Some),
                None => return refuse("EINVAL", "no such scheduler", None),
            },
            Takes::Caching => match word {
                "write back" => return self.store(Setting::WriteCache(true)).map(Some),
                "write through" | "none" => return self.store(Setting::WriteCache(false)).map(Some),
                _ => return refuse("EINVAL", "neither write back nor write through", None),
            },
        };
        let setting = match file.key {
            Some(Key::NrRequests) => Setting::NrRequests(n),
            Some(Key::AsyncDepth) => Setting::AsyncDepth(n),
            Some(Key::MaxSectorsKb) if n == 0 && self.release >= ZONE_WRITE_PLUGS => {
                Setting::MaxSectors(sectors(self.default_bytes))
            }
            Some(Key::MaxSectorsKb) => Setting::MaxSectors(sectors(u64::from(n) << 10)),
            Some(Key::ZonedQd1Writes) => Setting::ZonedQd1Writes(n != 0),
            Some(Key::Nomerges) => Setting::Nomerges(n.min(if n == 2 { 2 } else { 1 }) as u8),
            _ => return Ok(None),
        };
        self.store(setting).map(Some)
    }

    /// Whether the queue has a file.
    pub fn has(&self, file: &Attribute) -> bool {
        match file.on {
            On::All => true,
            On::Mq => self.cfg.is_some(),
            On::Zoned => self.zoned,
        }
    }

    /// What a write leaves, given in the simulator's terms.
    pub fn store(&self, setting: Setting) -> Result<Stored<Setting>, Refusal> {
        let Some(q) = self.cfg else { return refuse("ENOENT", "a device without a queue has no such file", None) };
        let scheduled = q.elevator != ElevatorKind::None;
        let clip = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        match setting {
            // What is there already is no error, however it came.
            Setting::NrRequests(n) if n == q.nr_requests => Ok(setting.into()),
            Setting::NrRequests(n) => {
                let n = nr_requests(n.into(), scheduled, q.queue_depth.into())?;
                Ok(n.map(|n| Setting::NrRequests(clip(n))))
            }
            Setting::AsyncDepth(n) => {
                let n = async_depth(n.into(), q.elevator, self.owner, q.nr_requests.into())?;
                Ok(n.map(|n| Setting::AsyncDepth(clip(n))))
            }
            Setting::MaxSectors(n) => {
                let n = max_sectors(u64::from(n) * SECTOR_BYTES, self.max_hw_bytes, self.release)?;
                Ok(n.map(|n| Setting::MaxSectors(sectors(n))))
            }
            Setting::Scheduler(kind) => {
                scheduler(kind, self.zoned, self.release, self.only_none).map(|()| setting.into())
            }
            Setting::ZonedQd1Writes(_) => {
                zoned_qd1_writes(self.zoned, self.plugs, self.release).map(|()| setting.into())
            }
            Setting::Nomerges(_) | Setting::WbtLat(_) | Setting::WriteCache(_) => Ok(setting.into()),
        }
    }

    /// What later writes depend on follows a write: a scheduler comes with its own nr_requests (kernel 3.3, 8.3).
    pub fn apply(&mut self, setting: Setting) {
        let Some(q) = &mut self.cfg else { return };
        match setting {
            Setting::NrRequests(n) => q.nr_requests = n,
            Setting::Scheduler(kind) if kind != q.elevator => {
                let scheduled = kind != ElevatorKind::None;
                q.nr_requests = if scheduled { 2 * q.queue_depth.min(DEFAULT_REQUESTS) } else { q.queue_depth };
                q.elevator = kind;
            }
            _ => {}
        }
    }
}

fn sectors(bytes: u64) -> u32 {
    u32::try_from(bytes / SECTOR_BYTES).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zoned disk of a 7.1 kernel with mq-deadline and 32 tags.
    fn disk() -> Queue {
        let cfg = QueueConfig { queue_depth: 32, nr_requests: 64, async_depth: 64, ..QueueConfig::default() };
        Queue {
            cfg: Some(cfg),
            zoned: true,
            plugs: true,
            max_hw_bytes: 32_767 << 10,
            default_bytes: 4 << 20,
            release: QD1_WRITES,
            owner: Owner::Queue,
            only_none: false,
        }
    }
    fn with(kind: ElevatorKind) -> Queue {
        let mut q = disk();
        q.apply(Setting::Scheduler(kind));
        q
    }
    /// Of 5.17.
    fn old() -> Queue {
        Queue { release: 1, owner: Owner::MqDeadline, plugs: false, ..disk() }
    }
    /// What a write leaves, or its errno.
    fn result(q: &Queue, name: &str, text: &str) -> String {
        match q.write(name, text) {
            Ok(None) => "ok".into(),
            Ok(Some(stored)) => format!("{:?}", stored.value),
            Err(refusal) => refusal.errno.into(),
        }
    }
    fn rows(q: &Queue, name: &str, rows: &[(&str, &str)]) {
        for (text, want) in rows {
            assert_eq!(result(q, name, text), *want, "echo {text:?} > {name}");
        }
    }

    #[test]
    fn section_10_3_read_only_files_refuse_root() {
        let names: Vec<&str> = ATTRIBUTES.iter().filter(|a| a.takes == Takes::Nothing).map(|a| a.name).collect();
        assert_eq!(names.len(), 32);
        for name in names {
            rows(&disk(), name, &[("1", "EACCES"), ("", "EACCES")]);
        }
        rows(&disk(), "no_such_file", &[("1", "ENOENT")]);
    }

    #[test]
    fn section_10_3_files_of_zoned_and_of_blk_mq_queues() {
        let (regular, bio_based) = (Queue { zoned: false, ..disk() }, Queue { cfg: None, ..disk() });
        for name in ["zoned_qd1_writes", "max_open_zones", "max_active_zones"] {
            assert_eq!(result(&regular, name, "1"), "ENOENT", "{name}");
        }
        for name in ["scheduler", "nr_requests", "async_depth", "wbt_lat_usec", "rq_affinity", "io_timeout"] {
            assert_eq!(result(&bio_based, name, "1"), "ENOENT", "{name}");
        }
        assert_eq!(result(&bio_based, "read_ahead_kb", "128"), "ok");
    }

    #[test]
    fn section_10_3_numbers_are_decimal_and_of_32_bits() {
        let bad = ["", " 1", "1 ", "0x10", "+1", "-1", "many", "1.5", "4294967296", "1\n\n"];
        for file in ATTRIBUTES.iter().filter(|a| matches!(a.takes, Takes::Number | Takes::NotZero)) {
            for text in bad {
                assert_eq!(result(&disk(), file.name, text), "EINVAL", "echo {text:?} > {}", file.name);
            }
            assert_ne!(result(&disk(), file.name, "128\n"), "EINVAL", "{}", file.name);
        }
        for name in ["read_ahead_kb", "iostats", "iostats_passthrough", "rq_affinity", "rotational", "add_random"] {
            rows(&disk(), name, &[("0", "ok"), ("1\n", "ok"), ("4294967295", "ok")]);
        }
        rows(&disk(), "stable_writes", &[("1", "ok")]);
    }

    #[test]
    fn section_3_3_nr_requests() {
        rows(
            &disk(),
            "nr_requests",
            &[
                ("64", "NrRequests(64)"),
                ("1", "NrRequests(4)"),
                ("0", "NrRequests(4)"),
                ("2048", "NrRequests(2048)"),
                ("2049", "EINVAL"),
            ],
        );
        let none = with(ElevatorKind::None);
        rows(&none, "nr_requests", &[("32", "NrRequests(32)"), ("33", "EINVAL"), ("3", "NrRequests(4)")]);
    }

    #[test]
    fn section_3_4_async_depth() {
        let many = ("65", "AsyncDepth(64)");
        rows(&disk(), "async_depth", &[("0", "EINVAL"), ("1", "AsyncDepth(1)"), ("64", "AsyncDepth(64)"), many]);
        rows(&with(ElevatorKind::None), "async_depth", &[("8", "EINVAL")]);
        rows(&with(ElevatorKind::Kyber), "async_depth", &[("8", "AsyncDepth(8)")]);
        // Before 7.0 it is a file of mq-deadline, which takes what it gets.
        rows(&old(), "async_depth", &[("8", "AsyncDepth(8)"), ("0", "AsyncDepth(1)"), many]);
        let mut q = old();
        q.apply(Setting::Scheduler(ElevatorKind::None));
        rows(&q, "async_depth", &[("8", "ENOENT")]);
        rows(&Queue { owner: Owner::Nobody, ..old() }, "async_depth", &[("8", "ENOENT")]);
    }

    #[test]
    fn section_1_3_max_sectors_kb() {
        rows(
            &disk(),
            "max_sectors_kb",
            &[
                ("0", "MaxSectors(8192)"),
                ("3", "EINVAL"),
                ("4", "MaxSectors(8)"),
                ("1280", "MaxSectors(2560)"),
                ("65536", "MaxSectors(65534)"),
            ],
        );
        rows(&old(), "max_sectors_kb", &[("0", "EINVAL"), ("65536", "EINVAL"), ("1280", "MaxSectors(2560)")]);
    }

    #[test]
    fn section_8_3_scheduler() {
        rows(
            &disk(),
            "scheduler",
            &[
                ("none\n", "Scheduler(None)"),
                ("mq-deadline", "Scheduler(MqDeadline)"),
                ("kyber", "Scheduler(Kyber)"),
                ("bfq", "Scheduler(Bfq)"),
                ("deadline", "EINVAL"),
                ("", "EINVAL"),
            ],
        );
        rows(&old(), "scheduler", &[("bfq", "EINVAL"), ("kyber", "EINVAL"), ("none", "Scheduler(None)")]);
        rows(&Queue { zoned: false, ..old() }, "scheduler", &[("bfq", "Scheduler(Bfq)")]);
        let alone = Queue { only_none: true, ..disk() };
        rows(&alone, "scheduler", &[("mq-deadline", "EINVAL"), ("none", "Scheduler(None)")]);
    }

    #[test]
    fn section_5_3_zoned_qd1_writes() {
        let rows_of = [("0", "ZonedQd1Writes(false)"), ("1", "ZonedQd1Writes(true)"), ("7", "ZonedQd1Writes(true)")];
        rows(&disk(), "zoned_qd1_writes", &rows_of);
        rows(&disk(), "zoned_qd1_writes", &[("on", "EINVAL"), ("-1", "EINVAL")]);
        rows(&Queue { release: QD1_WRITES - 1, ..disk() }, "zoned_qd1_writes", &[("1", "ENOENT")]);
        rows(&Queue { plugs: false, ..disk() }, "zoned_qd1_writes", &[("1", "ENOENT")]);
    }

    #[test]
    fn section_8_1_wbt_lat_usec() {
        rows(
            &disk(),
            "wbt_lat_usec",
            &[
                ("-1", "WbtLat(None)"),
                ("0", "WbtLat(Some(0))"),
                ("75000", "WbtLat(Some(75000000))"),
                ("-2", "EINVAL"),
                ("fast", "EINVAL"),
            ],
        );
    }

    #[test]
    fn section_10_3_the_other_writable_files() {
        let nomerges = [("0", "Nomerges(0)"), ("1", "Nomerges(1)"), ("2", "Nomerges(2)"), ("3", "Nomerges(1)")];
        rows(&disk(), "nomerges", &nomerges);
        rows(
            &disk(),
            "write_cache",
            &[
                ("write back\n", "WriteCache(true)"),
                ("write through", "WriteCache(false)"),
                ("none", "WriteCache(false)"),
                ("writeback", "EINVAL"),
            ],
        );
        rows(&disk(), "io_timeout", &[("0", "EINVAL"), ("30000", "ok"), ("soon", "EINVAL")]);
        rows(&disk(), "io_poll", &[("0", "EINVAL"), ("1", "EINVAL")]);
        rows(&disk(), "io_poll_delay", &[("-1", "ok"), ("whatever", "ok")]);
        rows(&disk(), "discard_max_bytes", &[("0", "ok"), ("4096", "EINVAL"), ("x", "EINVAL")]);
        rows(&disk(), "write_zeroes_unmap_max_bytes", &[("0", "ok"), ("4096", "EINVAL")]);
    }

    /// What a file refuses, and no test names, would be missed.
    #[test]
    fn section_10_3_every_writable_file_is_named_above() {
        let tests = include_str!("attributes.rs").split_once("mod tests").unwrap().1;
        for file in ATTRIBUTES.iter().filter(|a| a.takes != Takes::Nothing) {
            assert!(tests.contains(&format!("\"{}\"", file.name)), "{}", file.name);
        }
    }
}
