//! The kernel's switches and the host's costs.
//!
//! Models: kernel 0.3.
//! Rule: a switch that is left out has its kernel's value (`crate::kernel`).
//! Leaves out: what a switch does.

use bioscope_core::config::{
    AsyncDepthOwner, BioListModel, HostCosts, KernelConfig, PlugConfig, PlugMerge, PlugOrder, SbitmapWake, SplitInsert,
    ZoneOrdering,
};

use super::Checker;
use crate::params::Key;
use crate::value::print_time;

impl Checker<'_> {
    pub(super) fn kernel(&self) -> KernelConfig {
        KernelConfig {
            zone_ordering: if self.is(Key::ZoneOrdering, "none") { ZoneOrdering::None } else { ZoneOrdering::Zwplug },
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
            ..KernelConfig::default()
        }
    }

    pub(super) fn async_depth_owner(&self) -> AsyncDepthOwner {
        match self.word(Key::AsyncDepthOwner).as_str() {
            "elevator" => AsyncDepthOwner::Elevator,
            "elevator_5_17" => AsyncDepthOwner::Elevator517,
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
            kblockd_ns: self.n(Key::KblockdNs),
            ipi_ns: self.n(Key::IpiNs),
            ..HostCosts::default()
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
