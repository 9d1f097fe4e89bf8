//! Limits that keep memory, the time of one event and the length of a run bounded.
//!
//! Models: nothing.
//! Rule: what the simulator cannot hold is an error; what the page cannot show is a warning.
//! Leaves out: the estimate itself (`estimate`).

use bioscope_core::config::{DeviceConfig, DeviceKind, JobConfig, LinearConfig, SimConfig, WorkloadConfig};
use bioscope_core::units::{DevIdx, SECTOR_BYTES, Sector};

use super::Checker;
use super::estimate::{piece_bytes, request_bytes};
use crate::params::Key;
use crate::scenario::Instance;
use crate::value::{print_bytes, print_time};

/// Engine events a run may have to be shown in the page.
pub const MAX_SHOWN_EVENTS: u64 = 5_000_000;
/// Requests one I/O may be cut into: they are made in one event.
const MAX_PIECES: u64 = 4096;
/// Requests all jobs together may have in flight: about 200 bytes each.
const MAX_IN_FLIGHT: u64 = 200_000;
/// Seconds for which io.max may hold all I/Os in flight.
const MAX_HELD_SECONDS: u64 = 1_000_000_000;

/// Bytes that null_blk lets through between two refills for each MiB a second of `mbps`.
const MBPS_TICK_BYTES: u64 = (1 << 20) / 50;

/// Bytes of a job's largest bio, or of its part that direct I/O makes at most (256 pages).
fn largest_bio(job: &JobConfig) -> u64 {
    let sectors = match &job.workload {
        WorkloadConfig::FioZbd(f) => f.bs,
        WorkloadConfig::Linear(l) => match l.bios.iter().max() {
            Some(most) => u64::from(*most).min(l.bs),
            None => largest_io(l),
        },
        WorkloadConfig::Writeback(_) | WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => 0,
    };
    (sectors * SECTOR_BYTES).min(1 << 20)
}

/// Sectors of a job's largest I/O.
fn largest_io(l: &LinearConfig) -> Sector {
    l.fio.bssplit.iter().flatten().fold(l.bs, |most, (n, _)| most.max(u64::from(*n)))
}

impl Checker<'_> {
    /// Limits that keep memory and the time of one event bounded: requests an I/O is cut into, and all in flight.
    pub(super) fn too_many_pieces(&mut self, cfg: &SimConfig) {
        let (mut in_flight, mut at_once, mut most, mut key, mut bytes) = (0, 0, 0, Key::Iodepth, 0);
        for (job, i) in cfg.jobs.iter().zip(0u16..) {
            let request = request_bytes(cfg, job);
            let (bs, iodepth) = match &job.workload {
                WorkloadConfig::FioZbd(f) => (f.bs, f.iodepth),
                WorkloadConfig::Linear(l) => (largest_io(l), l.iodepth),
                WorkloadConfig::Writeback(w) => {
                    key = Key::WbInFlight;
                    (w.in_flight_limit / SECTOR_BYTES, 1)
                }
                WorkloadConfig::List(_) | WorkloadConfig::PassThrough(_) => (0, 0),
            };
            let pieces = (bs * SECTOR_BYTES).div_ceil(request);
            if pieces > MAX_PIECES && key == Key::Iodepth {
                self.of = Some(Instance::Job(i));
                let stacked = cfg.devices.len() > 1;
                let by = if stacked { "the devices' limits" } else { "max_segments and max_sectors_kb" };
                let d = self.error(Key::Bs, format!("each I/O would be cut into {pieces} requests by {by}"));
                let d = d.allow(format!("up to {MAX_PIECES} requests an I/O"));
                self.problems.push(d.suggest(print_bytes(MAX_PIECES * request)));
            }
            at_once += pieces;
            let of_job = pieces * u64::from(iodepth);
            in_flight += of_job;
            bytes += bs * SECTOR_BYTES * u64::from(iodepth);
            // The job to be named is the one with most of it.
            if of_job > most {
                (most, self.of) = (of_job, Some(Instance::Job(i)));
            }
        }
        // Who finds no tag sleeps with the I/O in hand, so one queue has no more than its tags and one I/O a job.
        if let [DeviceConfig { queue: Some(q), throttle: None, .. }] = cfg.devices.as_slice()
            && !cfg.devices[0].disk().is_some_and(|d| d.profile.zoned)
        {
            in_flight = in_flight.min(u64::from(q.nr_requests.max(q.queue_depth)) + at_once);
        }
        if in_flight > MAX_IN_FLIGHT && !self.problems.has_errors() {
            let d = self.error(key, format!("{in_flight} requests would be in flight at once"));
            self.problems.push(d.allow(format!("up to {MAX_IN_FLIGHT} over all jobs")));
        }
        self.of = None;
        self.held_too_long(cfg, bytes);
    }

    /// io.max must let go what is in flight while there is time to count it with.
    fn held_too_long(&mut self, cfg: &SimConfig, bytes: u64) {
        let least = bytes.div_ceil(MAX_HELD_SECONDS);
        for (d, i) in cfg.devices.iter().zip(0u8..) {
            let Some(t) = d.throttle else { continue };
            for (key, rate) in [(Key::Rbps, t.rbps), (Key::Wbps, t.wbps)] {
                if rate > 0 && rate < least {
                    self.of = (d.queue.is_some() && cfg.devices.len() > 1).then_some(Instance::Disk(i));
                    let d = self.error(key, "what is in flight would wait for more than 31 years");
                    self.problems.push(d.allow(["from ", &print_bytes(least)].concat()).suggest(print_bytes(least)));
                    self.of = None;
                }
            }
        }
    }

    /// null_blk's budget must be enough for one request: it is filled up, never saved.
    pub(super) fn never_let_through(&mut self, cfg: &SimConfig) {
        for (d, i) in cfg.devices.iter().zip(0u8..) {
            let (DeviceKind::NullBlk(n), Some(q)) = (&d.kind, d.queue) else { continue };
            let tick = MBPS_TICK_BYTES * u64::from(n.mbps);
            if tick == 0 {
                continue;
            }
            let above = |job: &&JobConfig| {
                let target = &cfg.devices[usize::from(job.dev)];
                job.dev == DevIdx::from(i) || target.members().contains(&DevIdx::from(i))
            };
            let pieces = cfg.jobs.iter().filter(above).map(|job| largest_bio(job).min(piece_bytes(cfg, job)));
            let (piece, merged) = (pieces.max().unwrap_or(0), u64::from(q.max_sectors) * SECTOR_BYTES);
            self.of = (cfg.devices.len() > 1).then_some(Instance::Disk(i));
            let budget = [print_bytes(tick), " every 20 ms".into()].concat();
            if piece > tick {
                let message = [&budget, " are never enough for a request of ", &print_bytes(piece)].concat();
                let least = piece.div_ceil(MBPS_TICK_BYTES).to_string();
                let d = self.error(Key::Mbps, message).allow(["0, or from ", &least].concat());
                self.problems.push(d.suggest(least));
            } else if merged > tick && q.nomerges < 2 {
                let message = [&budget, " are never enough for what merges to more"].concat();
                let least = merged.div_ceil(MBPS_TICK_BYTES).to_string();
                let d = self.warning(Key::Mbps, message).allow(["0, or from ", &least].concat());
                self.problems.push(d.suggest("nomerges=2"));
            }
            self.of = None;
        }
    }

    pub(super) fn too_long(&mut self, cfg: &SimConfig, events: u64) {
        let message = format!(
            "about {} million events, more than the {} million the page shows of a run",
            events.div_ceil(1_000_000),
            MAX_SHOWN_EVENTS / 1_000_000
        );
        let d = match cfg.stop.runtime_ns {
            Some(ns) => {
                let fits = u128::from(ns) * u128::from(MAX_SHOWN_EVENTS) / u128::from(events);
                // Two significant digits are enough for a suggestion.
                let unit = 10u64.pow((fits as u64).checked_ilog10().unwrap_or(0).saturating_sub(1));
                let short = fits as u64 / unit * unit;
                let d = self.warning(Key::Runtime, message);
                // A run that would have to be longer or shorter than 1 us is too long for another reason.
                if (1_000..ns).contains(&short) { d.suggest(format!("runtime={}", print_time(short))) } else { d }
            }
            None => self.warning(Key::Runtime, message).suggest("runtime=30s"),
        };
        self.problems.push(d);
    }
}
