//! The blk-mq queue of a disk.
//!
//! Models: the stores of /sys/block/X/queue (kernel 3.3, 3.4, 10.3) and the limits of AHCI, mpi3mr and null_blk.
//! Rule: what the kernel would change silently is a warning that says so.
//! Leaves out: writes during a run (`live`).

use bioscope_core::config::{
    BfqConfig, ElevatorKind, IoCostConfig, KyberConfig, MqDeadlineConfig, QueueConfig, TagAlloc,
};
use bioscope_core::units::SECTOR_BYTES;

use super::Checker;
use crate::attributes::{self, MAX_REQUESTS, Owner, Refusal, Stored};
use crate::diagnostic::Diagnostic;
use crate::drive::Drive;
use crate::params::Key;
use crate::value::Value;

/// Commands an AHCI port takes, and a drive behind it.
const HARDWARE_TAGS: u64 = 32;
/// The same behind mpi3mr, whose tags are the host's: a SAS drive's queue.
const SAS_TAGS: u64 = 254;
/// The same of flash and of a device known by its limits only: an NVMe queue.
const NVME_TAGS: u64 = 1024;

impl Checker<'_> {
    /// nr_requests after the kernel's store (kernel 3.3), with `tags` in each hardware queue.
    pub(super) fn nr_requests(&mut self, tags: u64) -> u64 {
        let (n, scheduled) = (self.n(Key::NrRequests), !self.is(Key::Scheduler, "none"));
        if *self.value(Key::NrRequests) == Value::Auto {
            return n;
        }
        match attributes::nr_requests(n, scheduled, tags) {
            Ok(stored) => self.stored(Key::NrRequests, stored),
            Err(refusal) => self.refused(Key::NrRequests, &refusal).min(MAX_REQUESTS),
        }
    }

    /// async_depth after the store of whose attribute it is (kernel 3.4).
    pub(super) fn async_depth(&mut self, nr_requests: u64) -> u64 {
        let depth = self.n(Key::AsyncDepth);
        if *self.value(Key::AsyncDepth) == Value::Auto {
            return depth.min(nr_requests);
        }
        match attributes::async_depth(depth, self.elevator(), self.depth_owner(), nr_requests) {
            Ok(stored) => self.stored(Key::AsyncDepth, stored),
            Err(refusal) => {
                if self.is_given(Key::AsyncDepth) || depth == 0 {
                    self.refused(Key::AsyncDepth, &refusal);
                }
                // Run B, or a point of a sweep, keeps A's value for when there is a scheduler.
                match self.s.auto(self.side, self.of, Key::AsyncDepth) {
                    Value::Int(n) => n.min(nr_requests),
                    _ => nr_requests,
                }
            }
        }
    }

    /// What a store leaves, and what it makes of the value is told.
    fn stored(&mut self, key: Key, stored: Stored<u64>) -> u64 {
        if let Some((severity, message)) = stored.note {
            let d = Diagnostic::new(severity, &self.name(key), &self.word(key), message);
            self.problems.push(d);
        }
        stored.value
    }

    /// A value that the attribute refuses.
    fn refused(&mut self, key: Key, refusal: &Refusal) -> u64 {
        let d = self.error(key, refusal.message());
        self.problems.push(refusal.suggest.iter().fold(d, |d, near| d.suggest(near)));
        self.n(key)
    }

    /// Whose attribute async_depth is.
    pub(super) fn depth_owner(&self) -> Owner {
        match self.word(Key::AsyncDepthOwner).as_str() {
            "queue" => Owner::Queue,
            "none" => Owner::Nobody,
            _ => Owner::MqDeadline,
        }
    }

    fn elevator(&self) -> ElevatorKind {
        match self.word(Key::Scheduler).as_str() {
            "none" => ElevatorKind::None,
            "kyber" => ElevatorKind::Kyber,
            "bfq" => ElevatorKind::Bfq,
            _ => ElevatorKind::MqDeadline,
        }
    }

    /// Commands of one hardware queue: driver tags, or those that the drive holds.
    fn queue_depth(&mut self) -> (u64, u64) {
        let tags = match self.drive_kind() {
            Drive::NullBlk => {
                let depth = self.n(Key::HwQueueDepth);
                return (depth, depth);
            }
            Drive::Capped | Drive::Flash(_) => NVME_TAGS,
            Drive::Disk(_) if self.is(Key::Hba, "mpi3mr") => SAS_TAGS,
            Drive::Disk(_) => HARDWARE_TAGS,
        };
        let depth = self.n(Key::QueueDepth);
        if depth > tags {
            let d = self.error(Key::QueueDepth, format!("the drive holds {tags} commands at most"));
            self.problems.push(d.suggest(tags.to_string()));
        } else if depth == 1 && self.on(Key::NcqPrio) && self.s.in_effect(self.side, Key::NcqPrio) {
            let d = self.warning(Key::NcqPrio, "has no effect with queue_depth=1, which switches NCQ off");
            self.problems.push(d.suggest("queue_depth=32"));
        }
        (depth, tags)
    }

    /// Hardware queues after what driver and kernel make of them.
    fn nr_hw_queues(&mut self) -> u16 {
        let drive = self.drive_kind();
        let key = if drive == Drive::NullBlk { Key::SubmitQueues } else { Key::NrHwQueues };
        let (n, cpus) = (self.n(key), self.n(Key::NrCpus));
        // A device known by its limits has no adapter but what its commands look like.
        if n > 1 && matches!(drive, Drive::Disk(_)) && self.is(Key::Hba, "ahci") {
            let d = self.error(key, "an AHCI port has one hardware queue").suggest("hba=mpi3mr");
            self.problems.push(d);
        } else if n > cpus {
            let d = self.warning(key, format!("the driver makes no more than there are CPUs, {cpus}"));
            self.problems.push(d.suggest(cpus.to_string()));
        }
        n.min(cpus) as u16
    }

    /// Whether the scheduler is one that this kernel has for such a disk, and what it means for the order of writes.
    fn scheduler(&mut self, zoned: bool) -> ElevatorKind {
        let kind = self.elevator();
        let locks = zoned && self.is(Key::ZoneOrdering, "zone_lock") && !self.pipelines();
        match attributes::scheduler(kind, zoned, self.release(), self.only_none()) {
            Err(refusal) => {
                self.refused(Key::Scheduler, &refusal);
            }
            Ok(()) if locks && kind != ElevatorKind::MqDeadline => {
                let message = "only mq-deadline locks zones: nothing keeps the writes of a zone in order";
                let d = self.warning(Key::Scheduler, message).suggest("mq-deadline");
                self.problems.push(d);
            }
            Ok(()) => {}
        }
        kind
    }

    fn no_sched(&self) -> bool {
        self.s.in_effect(self.side, Key::NoSched) && self.on(Key::NoSched)
    }

    /// `none` is the only scheduler.
    pub(super) fn only_none(&self) -> bool {
        self.no_sched() && self.is(Key::NoSchedRepr, "no_sched")
    }

    /// queue/zoned_qd1_writes, where the kernel has it for this disk.
    fn zoned_qd1_writes(&mut self, zoned: bool) -> bool {
        let plugs = self.is(Key::ZoneOrdering, "zwplug");
        if !self.on(Key::ZonedQd1Writes) || !zoned || !plugs {
            return false;
        }
        let refusal = attributes::zoned_qd1_writes(zoned, plugs, self.release()).err();
        if let Some(refusal) = refusal.as_ref().filter(|_| self.is_given(Key::ZonedQd1Writes)) {
            self.refused(Key::ZonedQd1Writes, refusal);
        }
        refusal.is_none()
    }

    fn iocost(&self) -> Option<IoCostConfig> {
        let percent = |key: Key| self.n(key) / 10;
        self.on(Key::Iocost).then(|| IoCostConfig {
            bps: [self.n(Key::IocostRbps), self.n(Key::IocostWbps)],
            seq_iops: [self.n32(Key::IocostRseqiops), self.n32(Key::IocostWseqiops)],
            rand_iops: [self.n32(Key::IocostRrandiops), self.n32(Key::IocostWrandiops)],
            pct: [percent(Key::IocostRpct) as u16, percent(Key::IocostWpct) as u16],
            lat_ns: [self.n(Key::IocostRlat), self.n(Key::IocostWlat)],
            min: percent(Key::IocostMin) as u32,
            max: percent(Key::IocostMax) as u32,
        })
    }

    pub(super) fn queue(&mut self, block: u64) -> QueueConfig {
        let zoned = self.s.zones_of(self.side, self.of).is_some();
        let (queue_depth, tags) = self.queue_depth();
        let nr_requests = self.nr_requests(tags);
        let async_depth = self.async_depth(nr_requests);

        let hardware = self.s.max_hw_bytes(self.side, self.of);
        let max_bytes = match attributes::max_sectors(self.n(Key::MaxSectorsKb), hardware, self.release()) {
            Ok(stored) => self.stored(Key::MaxSectorsKb, stored),
            Err(refusal) => self.refused(Key::MaxSectorsKb, &refusal),
        };

        QueueConfig {
            elevator: self.scheduler(zoned),
            nr_requests: nr_requests as u32,
            async_depth: async_depth as u32,
            queue_depth: queue_depth as u32,
            nr_hw_queues: self.nr_hw_queues(),
            rq_affinity: self.n(Key::RqAffinity) as u8,
            shared_users: self.n(Key::SharedUsers) as u16,
            host_tags: self.on(Key::HostTags),
            ncq_prio: self.on(Key::NcqPrio) && matches!(self.drive_kind(), Drive::Disk(_)),
            tag_alloc: match self.resolved(Key::TagAlloc) {
                Value::Word(0) => TagAlloc::Hint,
                _ => TagAlloc::RoundRobin,
            },
            max_sectors: (max_bytes / block * (block / SECTOR_BYTES)) as u32,
            max_segments: self.n32(Key::MaxSegments),
            block_bytes: block as u32,
            nomerges: self.n(Key::Nomerges) as u8,
            zoned_qd1_writes: self.zoned_qd1_writes(zoned),
            blocking: self.drive_kind() == Drive::NullBlk && self.on(Key::MemoryBacked),
            no_sched: self.no_sched(),
            write_back: self.is(Key::QueueWriteCache, "write_back"),
            wbt_lat_ns: match self.value(Key::WbtLatUsec) {
                Value::Auto => None,
                _ => Some(self.n(Key::WbtLatUsec)),
            },
            iocost: self.iocost(),
            mq_deadline: MqDeadlineConfig {
                read_expire_ns: self.n(Key::ReadExpire),
                write_expire_ns: self.n(Key::WriteExpire),
                prio_aging_expire_ns: self.n(Key::PrioAgingExpire),
                writes_starved: self.n32(Key::WritesStarved),
                fifo_batch: self.n32(Key::FifoBatch),
                front_merges: self.on(Key::FrontMerges),
            },
            kyber: KyberConfig { read_lat_ns: self.n(Key::ReadLatNsec), write_lat_ns: self.n(Key::WriteLatNsec) },
            bfq: BfqConfig {
                fifo_expire_sync_ns: self.n(Key::FifoExpireSync),
                fifo_expire_async_ns: self.n(Key::FifoExpireAsync),
                back_seek_max_kib: u32::try_from(self.n(Key::BackSeekMax) >> 10).unwrap_or(u32::MAX),
                back_seek_penalty: self.n32(Key::BackSeekPenalty),
                slice_idle_ns: self.n(Key::SliceIdle),
                max_budget: self.n32(Key::MaxBudget),
                timeout_sync_ns: self.n(Key::TimeoutSync),
                strict_guarantees: self.on(Key::StrictGuarantees),
                low_latency: self.on(Key::LowLatency),
            },
        }
    }
}
