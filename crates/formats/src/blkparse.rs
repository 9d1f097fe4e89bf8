//! Trace records as blkparse's default text lines.
//!
//! Models: blkparse's default format `%D %2c %8s %5T.%9t %5p %2a %3d` and its tails per action; ZP and ZU as in
//! version-2 traces; a bio that ends with an error without a request has a `C` of its own (kernel 10.1).
//! Rule: numbering and padding do not depend on which actions are printed.
//! Leaves out: message records, and the cut of names after 15 characters (a worker keeps its whole name).
//!
//! Process numbers: job i is 1000 + i; 0 is whoever was interrupted; 500 kblockd's kworker; 501 the disk's
//! zone write plugs worker; 502 to 505 threads of arrays, dm-crypt and blk-throttle. None of them is in the trace itself, which has no processes.

use std::fmt::Write;

use bioscope_core::config::{DeviceConfig, LinearConfig, SimConfig, Tool, WorkloadConfig};
use bioscope_core::observe::trace::{Action, TraceRecord, flag};
use bioscope_core::thread::ThreadKind;
use bioscope_core::units::Op;

const PID_JOB: u32 = 1000;
const PID_KWORKER: u32 = 500;
const PID_WORKER: u32 = 501;
const KWORKER: &str = "kworker/u16:0";
/// Number of a thread of stacked devices or of blk-throttle.
fn pid_of(thread: ThreadKind) -> u32 {
    match thread {
        ThreadKind::Md => 502,
        ThreadKind::MdSync => 503,
        ThreadKind::Crypt | ThreadKind::CryptWrite => 504,
        ThreadKind::Throttle => 505,
    }
}

/// Name of a job's task.
fn comm(workload: &WorkloadConfig) -> &'static str {
    match workload {
        WorkloadConfig::Writeback(_) => KWORKER,
        WorkloadConfig::Linear(l) if l.buffered => KWORKER,
        WorkloadConfig::Linear(LinearConfig { tool: Tool::Dd, .. }) => "dd",
        _ => "fio",
    }
}

/// All actions, in blktrace's order, this simulator's own words last.
const ALL: [Action; 24] = [
    Action::Queue,
    Action::GetRq,
    Action::Insert,
    Action::Issue,
    Action::Complete,
    Action::BackMerge,
    Action::FrontMerge,
    Action::Plug,
    Action::Unplug,
    Action::Split,
    Action::Remap,
    Action::Requeue,
    Action::ZonePlug,
    Action::ZoneUnplug,
    Action::Seek,
    Action::Rotate,
    Action::Transfer,
    Action::Cached,
    Action::Reset,
    Action::LockWait,
    Action::Unlock,
    Action::Worker,
    Action::Fail,
    Action::Change,
];

/// True for what blktrace records.
fn is_blktrace(a: Action) -> bool {
    (a as u8) < (Action::Seek as u8) || a == Action::Fail
}

/// The action as it is printed: the kernel ends a bio with `C`, whether it had a request or not.
fn letter(a: Action) -> &'static str {
    if a == Action::Fail { Action::Complete.letter() } else { a.letter() }
}

/// Which actions are printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// What blktrace records.
    Blktrace,
    /// That and this simulator's own words.
    All,
    /// These.
    Only(Vec<Action>),
}

impl Filter {
    /// Reads `all`, letters (`GD`), or words and letters with commas (`ZP,ZU,seek`). `fail` chooses those `C` that
    /// had no request.
    pub fn parse(text: &str) -> Result<Filter, String> {
        if text == "all" {
            return Ok(Filter::All);
        }
        let named = |name: &str| {
            ALL.into_iter().find(|a| a.letter() == name).ok_or_else(|| {
                let names: Vec<&str> = ALL.iter().map(|a| a.letter()).collect();
                format!("no action is called {name:?}; there are: all, {}", names.join(", "))
            })
        };
        // A lone word or pair of letters goes before the reading as single letters.
        if text.contains(',') || named(text).is_ok() {
            return text.split(',').map(|n| named(n.trim())).collect::<Result<_, _>>().map(Filter::Only);
        }
        if text.is_empty() {
            return Err("no actions given".into());
        }
        text.chars().map(|c| named(&c.to_string())).collect::<Result<_, _>>().map(Filter::Only)
    }
    fn wants(&self, a: Action) -> bool {
        match self {
            Filter::Blktrace => is_blktrace(a),
            Filter::All => true,
            Filter::Only(list) => list.contains(&a) || (a == Action::Fail && list.contains(&Action::Complete)),
        }
    }
}

/// Turns records into lines; keeps each CPU's line number.
pub struct Blkparse {
    filter: Filter,
    /// Lines of each CPU so far.
    seq: Vec<u64>,
    nr_cpus: u16,
    devices: Vec<DeviceConfig>,
    /// Of each device, the stacked device above it.
    above: Vec<Option<usize>>,
    /// Name of each job's task.
    comms: Vec<&'static str>,
}

impl Blkparse {
    /// Lines for a run of this configuration.
    pub fn new(cfg: &SimConfig, filter: Filter) -> Self {
        let nr_cpus = cfg.host.nr_cpus.max(1);
        Self {
            filter,
            seq: vec![0; usize::from(nr_cpus)],
            nr_cpus,
            devices: cfg.devices.clone(),
            above: (0..cfg.devices.len())
                .map(|dev| cfg.devices.iter().position(|d| d.members().iter().any(|m| usize::from(*m) == dev)))
                .collect(),
            comms: cfg.jobs.iter().map(|j| comm(&j.workload)).collect(),
        }
    }

    /// Appends the record's line, newline included, if the filter wants it.
    pub fn line(&mut self, r: &TraceRecord, out: &mut String) {
        // A record no job caused (drive, worker) is booked on CPU 0.
        let cpu = if r.job == u16::MAX { 0 } else { r.job % self.nr_cpus };
        let seq = &mut self.seq[usize::from(cpu)];
        *seq += u64::from(is_blktrace(r.action));
        if !self.filter.wants(r.action) {
            return;
        }
        let device = self.devices.get(usize::from(r.dev));
        let (name, (major, minor)) = device.map_or(("", (0, 0)), |d| (d.name.as_str(), d.dev));
        let (pid, comm) = if r.flags & flag::WORKER != 0 {
            (PID_WORKER, format!("{name}_zwplugs_worker"))
        } else if let Some(thread) = ThreadKind::of(r.flags) {
            // An array's own threads carry its name.
            let array = self.above[usize::from(r.dev)].unwrap_or(usize::from(r.dev));
            (pid_of(thread), thread.name(&self.devices[array]))
        } else if r.flags & flag::IRQ != 0 || r.job == u16::MAX {
            (0, "swapper/0".into())
        } else if r.flags & flag::KWORKER != 0 {
            (PID_KWORKER, KWORKER.into())
        } else {
            let comm = self.comms.get(usize::from(r.job)).copied().unwrap_or("fio");
            (PID_JOB + u32::from(r.job), comm.into())
        };
        // Writing to a String cannot fail.
        let _ = write!(
            out,
            "{major:3},{minor:<3} {cpu:2} {seq:8} {:5}.{:09} {pid:5} {:>2} {:>3} ",
            r.time / 1_000_000_000,
            r.time % 1_000_000_000,
            if r.action == Action::Unplug && r.flags & flag::SCHEDULE != 0 { "UT" } else { letter(r.action) },
            // A plug belongs to a task, not to an operation.
            if matches!(r.action, Action::Plug | Action::Unplug) { "N" } else { rwbs(r) },
        );
        let _ = self.tail(r, &comm, out);
        out.push('\n');
    }

    fn tail(&self, r: &TraceRecord, comm: &str, out: &mut String) -> std::fmt::Result {
        match r.action {
            Action::Complete | Action::Fail | Action::Requeue => {
                write!(out, "{} + {} [{}]", r.sector, r.nr_sectors, r.arg)
            }
            Action::Plug => write!(out, "[{comm}]"),
            Action::Unplug => write!(out, "[{comm}] {}", r.arg),
            Action::Split => write!(out, "{} / {} [{comm}]", r.sector, r.arg),
            Action::Remap => {
                let above = self.above[usize::from(r.dev)];
                let (major, minor) = above.map_or((0, 0), |d| self.devices[d].dev);
                write!(out, "{} + {} <- ({major},{minor}) {}", r.sector, r.nr_sectors, r.arg)
            }
            Action::Seek | Action::Rotate | Action::Transfer | Action::Reset => {
                write!(out, "{} + {} {} ns", r.sector, r.nr_sectors, r.arg)
            }
            Action::LockWait | Action::Unlock | Action::Worker => write!(out, "zone {} [{comm}]", r.arg),
            _ if r.nr_sectors == 0 => write!(out, "[{comm}]"),
            _ => write!(out, "{} + {} [{comm}]", r.sector, r.nr_sectors),
        }
    }
}

/// The operation and its flags in blktrace's letters.
fn rwbs(r: &TraceRecord) -> &'static str {
    match (r.op, r.flags & flag::SYNC != 0) {
        (Op::Read, false) => "R",
        (Op::Read, true) => "RS",
        (Op::Write, false) => "W",
        (Op::Write, true) => "WS",
        (Op::Flush, false) => "F",
        (Op::Flush, true) => "FS",
        (Op::DrvIn, false) => "D",
        (Op::DrvIn, true) => "DS",
        (Op::ZoneOpen, false) => "ZO",
        (Op::ZoneOpen, true) => "ZOS",
        (Op::ZoneClose, false) => "ZC",
        (Op::ZoneClose, true) => "ZCS",
        (Op::ZoneFinish, false) => "ZF",
        (Op::ZoneFinish, true) => "ZFS",
        (Op::ZoneReset, false) => "ZR",
        (Op::ZoneReset, true) => "ZRS",
        (Op::ZoneResetAll, false) => "ZRA",
        (Op::ZoneResetAll, true) => "ZRAS",
        (Op::ZoneAppend, false) => "ZA",
        (Op::ZoneAppend, true) => "ZAS",
        (Op::WriteZeroes, false) => "WZ",
        (Op::WriteZeroes, true) => "WZS",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bioscope_scenario::{Scenario, Side, validate};

    fn record(action: Action) -> TraceRecord {
        TraceRecord {
            time: 11_357_392_936,
            dev: 0,
            action,
            op: Op::Write,
            flags: flag::SYNC,
            sector: 14_071_424,
            nr_sectors: 128,
            bio: 1,
            rq: 1,
            arg: 7,
            job: 0,
            origin: 14_071_424,
        }
    }

    fn text(filter: Filter, records: &[TraceRecord]) -> String {
        let cfg = validate(&Scenario::new(), Side::A).unwrap();
        let mut b = Blkparse::new(&cfg, filter);
        let mut out = String::new();
        for r in records {
            b.line(r, &mut out);
        }
        out
    }

    #[test]
    fn lines_are_padded_as_blkparse_pads_them() {
        let mut records: Vec<TraceRecord> =
            [Action::Queue, Action::GetRq, Action::Plug, Action::Unplug, Action::Issue, Action::Split]
                .map(record)
                .into();
        records.push(TraceRecord { flags: flag::IRQ | flag::SYNC, arg: 0, ..record(Action::Complete) });
        records.push(TraceRecord { flags: flag::WORKER | flag::SYNC, ..record(Action::ZoneUnplug) });
        records.push(TraceRecord { flags: flag::KWORKER, job: 9, op: Op::Read, ..record(Action::GetRq) });
        records.push(TraceRecord { op: Op::ZoneReset, nr_sectors: 0, ..record(Action::Queue) });
        assert_eq!(
            text(Filter::Blktrace, &records),
            "  8,0    0        1    11.357392936  1000  Q  WS 14071424 + 128 [fio]\n\
             \x20 8,0    0        2    11.357392936  1000  G  WS 14071424 + 128 [fio]\n\
             \x20 8,0    0        3    11.357392936  1000  P   N [fio]\n\
             \x20 8,0    0        4    11.357392936  1000  U   N [fio] 7\n\
             \x20 8,0    0        5    11.357392936  1000  D  WS 14071424 + 128 [fio]\n\
             \x20 8,0    0        6    11.357392936  1000  X  WS 14071424 / 7 [fio]\n\
             \x20 8,0    0        7    11.357392936     0  C  WS 14071424 + 128 [0]\n\
             \x20 8,0    0        8    11.357392936   501 ZU  WS 14071424 + 128 [sda_zwplugs_worker]\n\
             \x20 8,0    1        1    11.357392936   500  G   R 14071424 + 128 [kworker/u16:0]\n\
             \x20 8,0    0        9    11.357392936  1000  Q ZRS [fio]\n"
        );
    }

    #[test]
    fn a_filter_does_not_renumber_and_own_words_take_no_number() {
        let records = [Action::Queue, Action::Seek, Action::GetRq, Action::Worker].map(record);
        assert_eq!(
            text(Filter::parse("G").unwrap(), &records),
            "  8,0    0        2    11.357392936  1000  G  WS 14071424 + 128 [fio]\n"
        );
        let all = text(Filter::All, &records);
        assert_eq!(all.lines().count(), 4);
        assert!(all.contains(" seek  WS 14071424 + 128 7 ns\n") && all.ends_with(" zone 7 [fio]\n"), "{all}");
    }

    #[test]
    fn a_bio_that_fails_without_a_request_has_its_own_c() {
        let records = [Action::Queue, Action::Fail, Action::Queue].map(|a| TraceRecord { arg: 5, ..record(a) });
        let failed = "  8,0    0        2    11.357392936  1000  C  WS 14071424 + 128 [5]\n";
        let text = |filter: &str| text(Filter::parse(filter).unwrap(), &records);
        assert_eq!((text("C"), text("fail")), (failed.into(), failed.into()));
        let default = super::tests::text(Filter::Blktrace, &records);
        assert!(default.contains(failed) && default.lines().count() == 3, "{default}");
        assert!(text("all") == default && text("Q").contains("        3    11."), "{default}");
    }

    #[test]
    fn filters_read_letters_and_words() {
        assert_eq!(Filter::parse("GD"), Ok(Filter::Only(vec![Action::GetRq, Action::Issue])));
        assert_eq!(Filter::parse("ZP"), Ok(Filter::Only(vec![Action::ZonePlug])));
        assert_eq!(Filter::parse("Q,ZU,seek"), Ok(Filter::Only(vec![Action::Queue, Action::ZoneUnplug, Action::Seek])));
        assert_eq!(Filter::parse("all"), Ok(Filter::All));
        assert!(Filter::parse("").is_err() && Filter::parse("GY").unwrap_err().contains("\"Y\""));
    }
}
