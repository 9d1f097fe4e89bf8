//! The blk-mq queue of a disk.
//!
//! Models: the stores of /sys/block/X/queue (kernel 3.3, 3.4, 10.3) and the limits of AHCI, mpi3mr and null_blk.
//! Rule: what the kernel would change silently is a warning that says so.
//! Leaves out: writes during a run (`live`).

use bioscope_core::config::{
    BfqConfig, ElevatorKind, IoCostConfig, KyberConfig, MqDeadlineConfig, QueueConfig, TagAlloc,
};
use bioscope_core::units::SECTOR_BYTES;

use super::{BLOCK_BYTES, Checker};
use crate::diagnostic::Diagnostic;
use crate::drive::Drive;
use crate::kernel::{QD1_WRITES, ZONE_WRITE_PLUGS};
use crate::params::Key;
use crate::value::Value;

/// Commands an AHCI port takes, and a drive behind it.
const HARDWARE_TAGS: u64 = 32;
/// The same behind mpi3mr, whose tags are the host's: a SAS drive's queue.
const SAS_TAGS: u64 = 254;
/// The same of flash and of a device known by its limits only: an NVMe queue.
const NVME_TAGS: u64 = 1024;
/// BLKDEV_MIN_RQ
pub(super) const MIN_REQUESTS: u64 = 4;
/// MAX_SCHED_RQ
pub(super) const MAX_REQUESTS: u64 = 2048;

impl Checker<'_> {
    /// nr_requests after the kernel's store (kernel 3.3), with `tags` in each hardware queue.
    pub(super) fn nr_requests(&mut self, tags: u64) -> u64 {
        let (mut n, scheduled) = (self.n(Key::NrRequests), !self.is(Key::Scheduler, "none"));
        if *self.value(Key::NrRequests) == Value::Auto {
            return n;
        }
        if n < MIN_REQUESTS {
            self.problems.push(self.warning(Key::NrRequests, "the kernel raises it to 4"));
            n = MIN_REQUESTS;
        }
        if !scheduled && n > tags {
            let message = format!("without a scheduler the kernel refuses more than the {tags} hardware tags (EINVAL)");
            let d = self.error(Key::NrRequests, message).suggest("scheduler=mq-deadline");
            self.problems.push(d);
        } else if n > MAX_REQUESTS {
            let d = self.error(Key::NrRequests, "with a scheduler the kernel refuses more than 2048 (EINVAL)");
            self.problems.push(d.suggest("2048"));
        }
        n.min(MAX_REQUESTS)
    }

    /// async_depth after the store of whose attribute it is (kernel 3.4).
    pub(super) fn async_depth(&mut self, nr_requests: u64) -> u64 {
        let depth = self.n(Key::AsyncDepth);
        if *self.value(Key::AsyncDepth) == Value::Auto {
            return depth.min(nr_requests);
        }
        let (scheduler, given) = (self.word(Key::Scheduler), self.is_given(Key::AsyncDepth));
        let of_queue = self.is(Key::AsyncDepthOwner, "queue");
        let suggest = match (scheduler.as_str(), of_queue) {
            ("mq-deadline", false) if self.is(Key::AsyncDepthOwner, "none") => {
                Some(("mq-deadline has had this file since 5.14 (ENOENT)", "async_depth_owner=elevator_5_17"))
            }
            ("mq-deadline", _) | (_, true) if scheduler != "none" => None,
            ("none", true) => Some(("without a scheduler the kernel refuses it (EINVAL)", "scheduler=mq-deadline")),
            ("none", false) => {
                Some(("is a file of mq-deadline: without a scheduler there is none (ENOENT)", "scheduler=mq-deadline"))
            }
            _ => Some(("only mq-deadline has this file before 7.0 (ENOENT)", "async_depth_owner=queue")),
        };
        if let Some((message, way_out)) = suggest {
            if given {
                let d = self.error(Key::AsyncDepth, message).suggest(way_out);
                self.problems.push(d);
            }
            // Run B, or a point of a sweep, keeps A's value for when there is a scheduler.
            return match self.s.auto(self.side, self.of, Key::AsyncDepth) {
                Value::Int(n) => n.min(nr_requests),
                _ => nr_requests,
            };
        }
        match depth {
            0 if of_queue => {
                let d = self.error(Key::AsyncDepth, "the kernel refuses 0 (EINVAL)").suggest("1");
                self.problems.push(d);
            }
            0 => self.problems.push(self.warning(Key::AsyncDepth, "the kernel raises it to 1")),
            n if n > nr_requests && of_queue => {
                let d = self.warning(Key::AsyncDepth, format!("the kernel lowers it to nr_requests, {nr_requests}"));
                self.problems.push(d);
            }
            n if n > nr_requests => {
                let message = format!("limits nothing: more than nr_requests, {nr_requests}");
                let d = Diagnostic::note(&self.name(Key::AsyncDepth), &self.word(Key::AsyncDepth), message);
                self.problems.push(d);
            }
            _ => {}
        }
        depth.clamp(1, nr_requests.max(1))
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
        let kind = match self.word(Key::Scheduler).as_str() {
            "none" => ElevatorKind::None,
            "kyber" => ElevatorKind::Kyber,
            "bfq" => ElevatorKind::Bfq,
            _ => ElevatorKind::MqDeadline,
        };
        let old = zoned && self.release() < ZONE_WRITE_PLUGS;
        let locks = zoned && self.is(Key::ZoneOrdering, "zone_lock") && !self.pipelines();
        if old && matches!(kind, ElevatorKind::Kyber | ElevatorKind::Bfq) {
            let message = "before 6.10 zoned disks take mq-deadline or none: others do not order zone writes (EINVAL)";
            let d = self.error(Key::Scheduler, message).suggest("mq-deadline");
            self.problems.push(d);
        } else if locks && kind != ElevatorKind::MqDeadline {
            let message = "only mq-deadline locks zones: nothing keeps the writes of a zone in order";
            let d = self.warning(Key::Scheduler, message).suggest("mq-deadline");
            self.problems.push(d);
        }
        if self.no_sched() && self.is(Key::NoSchedRepr, "no_sched") && kind != ElevatorKind::None {
            let d = self.error(Key::Scheduler, "before 6.14 no_sched=1 leaves none alone (EINVAL)").suggest("none");
            self.problems.push(d);
        }
        kind
    }

    fn no_sched(&self) -> bool {
        self.s.in_effect(self.side, Key::NoSched) && self.on(Key::NoSched)
    }

    /// queue/zoned_qd1_writes, where the kernel has it for this disk.
    fn zoned_qd1_writes(&mut self, zoned: bool) -> bool {
        let on = self.on(Key::ZonedQd1Writes) && zoned && self.is(Key::ZoneOrdering, "zwplug");
        if on && self.release() < QD1_WRITES && self.is_given(Key::ZonedQd1Writes) {
            let message = ["this attribute came with 7.1: ", &self.word(Key::Kernel), " has none (ENOENT)"].concat();
            let d = self.error(Key::ZonedQd1Writes, message).suggest("kernel=7.1");
            self.problems.push(d);
        }
        on && self.release() >= QD1_WRITES
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

        let mut max_bytes = self.n(Key::MaxSectorsKb);
        let hardware = self.s.max_hw_bytes(self.side, self.of);
        if max_bytes < BLOCK_BYTES {
            let d = self.error(Key::MaxSectorsKb, "the kernel refuses less than 4 KiB (EINVAL)").suggest("4");
            self.problems.push(d);
        } else if max_bytes > hardware {
            let by = match self.drive_kind() {
                Drive::NullBlk => "null_blk",
                Drive::Flash(_) => "the device",
                Drive::Disk(_) | Drive::Capped => "the host adapter",
            };
            let kib = hardware >> 10;
            let d = self.warning(Key::MaxSectorsKb, format!("the kernel lowers it to what {by} allows, {kib} KiB"));
            self.problems.push(d);
            max_bytes = hardware;
        }

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
