//! The kernel's switches and the host's costs.
//!
//! Models: kernel 0.3.
//! Rule: a switch that is left out has its kernel's value (`crate::kernel`).
//! Leaves out: what a switch does.

use bioscope_core::config::{
    AsyncDepthOwner, BioListModel, HostCosts, IoTicks, IssueTime, KernelConfig, PlugConfig, PlugMerge, PlugOrder,
    QosGate, SbitmapWake, SplitInsert, ZoneOrdering, ZwplugErrors, ZwplugRemoved,
};

use super::Checker;
use crate::kernel::{RELEASES, ZONE_WRITE_PLUGS};
use crate::params::Key;
use crate::value::{Value, print_time};

impl Checker<'_> {
    /// Number of the release, in the order of [`RELEASES`].
    pub(super) fn release(&self) -> u8 {
        match self.value(Key::Kernel) {
            Value::Word(i) => *i,
            _ => RELEASES.len() as u8 - 1,
        }
    }

    /// null_blk asks for misaligned zone writes again.
    pub(super) fn pipelines(&self) -> bool {
        self.s.in_effect(self.side, Key::PipelineZonedWrites) && self.on(Key::PipelineZonedWrites)
    }

    /// What keeps zone writes in order, or an error where this kernel or device cannot.
    fn zone_ordering(&mut self) -> ZoneOrdering {
        let zoned = self.s.is_zoned(self.side);
        match self.word(Key::ZoneOrdering).as_str() {
            "none" => ZoneOrdering::None,
            _ if self.pipelines() => ZoneOrdering::Pipelined,
            "pipelined" if !zoned => ZoneOrdering::None,
            "pipelined" if self.is(Key::Drive, "null_blk") => {
                let message = "nobody asks for misaligned writes again, and nothing keeps them in order";
                let d = self.warning(Key::PipelineZonedWrites, message).suggest("1");
                self.problems.push(d);
                ZoneOrdering::None
            }
            "pipelined" => {
                let d = self.error(Key::ZoneOrdering, "only null_blk's driver asks for misaligned writes again");
                self.problems.push(d.suggest("drive=null_blk"));
                ZoneOrdering::None
            }
            "zone_lock" => ZoneOrdering::ZoneLock,
            _ => {
                if zoned && self.release() < ZONE_WRITE_PLUGS {
                    let d = self.error(Key::ZoneOrdering, "zone write plugs came with 6.10").suggest("zone_lock");
                    self.problems.push(d);
                }
                ZoneOrdering::Zwplug
            }
        }
    }

    pub(super) fn kernel(&mut self) -> KernelConfig {
        KernelConfig {
            zone_ordering: self.zone_ordering(),
            dead_plug_revive: self.on(Key::DeadPlugRevive),
            split_insert: if self.is(Key::SplitInsert, "tail") { SplitInsert::Tail } else { SplitInsert::Head },
            bio_list_model: if self.is(Key::BioListModel, "one_list") {
                BioListModel::OneList
            } else {
                BioListModel::TwoList
            },
            plug: PlugConfig {
                order: if self.is(Key::PlugOrder, "lifo") { PlugOrder::Lifo } else { PlugOrder::Fifo },
                merge: if self.is(Key::PlugMerge, "head") { PlugMerge::Head } else { PlugMerge::Newest },
                flush_bytes: self.n32(Key::PlugFlushBytes),
                max_rq: self.n32(Key::PlugMaxRq),
                multi_factor: self.n32(Key::PlugMultiFactor),
                per_step: self.on(Key::StepPlug),
            },
            raid5_stripe_limit: self.on(Key::Raid5StripeLimit),
            md_chunk_limit: self.on(Key::MdChunkLimit),
            raid5_max_hw: self.on(Key::Raid5MaxHw),
            raid5_spread: self.on(Key::Raid5Spread),
            max_sectors_cap: if self.is(Key::MaxSectorsCap, "1280KiB") { 2560 } else { 8192 },
            async_depth_owner: self.async_depth_owner(),
            shallow_per_word: self.on(Key::ShallowPerWord),
            sbitmap_wake: if self.is(Key::SbitmapWake, "per_queue") {
                SbitmapWake::PerQueue
            } else {
                SbitmapWake::PerMap
            },
            zone_lock_streams: self.on(Key::ZoneLockStreams),
            zwplug_errors: if self.is(Key::ZwplugErrors, "error_auto_recover") {
                ZwplugErrors::ErrorAutoRecover
            } else {
                ZwplugErrors::NeedWpUpdate
            },
            zwplug_removed: if self.is(Key::ZwplugRemoved, "unhashed") {
                ZwplugRemoved::Unhashed
            } else {
                ZwplugRemoved::Dead
            },
            qos_gate: match self.word(Key::QosGate).as_str() {
                "pointer" => QosGate::Pointer,
                "static_key" => QosGate::StaticKey,
                _ => QosGate::QueueFlag,
            },
            issue_time: if self.is(Key::IssueTime, "always") { IssueTime::Always } else { IssueTime::IfIolatency },
            tag_rr_flag: self.is(Key::TagRrRepr, "flag"),
            no_sched_by_default: self.is(Key::NoSchedRepr, "by_default"),
            blk_wbt_mq: self.on(Key::BlkWbtMq),
            io_ticks: if self.is(Key::IoTicks, "start") { IoTicks::Start } else { IoTicks::InFlight },
        }
    }

    pub(super) fn async_depth_owner(&self) -> AsyncDepthOwner {
        match self.word(Key::AsyncDepthOwner).as_str() {
            "elevator" => AsyncDepthOwner::Elevator,
            "elevator_5_17" => AsyncDepthOwner::Elevator517,
            // Without the attribute the scheduler limits nothing, which is what the queue's default does.
            _ => AsyncDepthOwner::Queue,
        }
    }

    pub(super) fn host(&mut self) -> HostCosts {
        let host = HostCosts {
            submit_ns: self.n(Key::SubmitNs),
            issue_ns: self.n(Key::IssueNs),
            lock_wake_ns: self.n(Key::LockWakeNs),
            worker_wake_ns: self.n(Key::WorkerWakeNs),
            nr_cpus: u16::try_from(self.n(Key::NrCpus)).unwrap_or(u16::MAX),
            step_ns: self.n(Key::StepNs),
            md_wake_ns: self.n(Key::MdWakeNs),
            md_bio_ns: self.n(Key::MdBioNs),
            md_rq_ns: self.n(Key::MdRqNs),
            md_sync_ns: self.n(Key::MdSyncNs),
            wake_ns: self.n(Key::WakeNs),
            wake_spread_ns: self.n(Key::WakeSpreadNs),
            tag_line_ns: self.n(Key::TagLineNs),
            kblockd_ns: self.n(Key::KblockdNs),
            ipi_ns: self.n(Key::IpiNs),
            dispatch_ns: self.n(Key::DispatchNs),
            jiffy_ns: self.n(Key::JiffyNs),
            rcu_ns: self.n(Key::RcuNs),
        };
        if host.issue_ns >= host.lock_wake_ns {
            let message = format!(
                "not shorter than lock_wake_ns={}: a job waiting for a zone then submits before the kernel has issued \
                 that zone's next write, and the random-zone figures change",
                print_time(host.lock_wake_ns)
            );
            let d = self.warning(Key::IssueNs, message);
            self.problems.push(d);
        }
        host
    }
}
