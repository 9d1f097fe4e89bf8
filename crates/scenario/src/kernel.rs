//! Kernel releases as sets of switches.
//!
//! Models: when each change came (kernel 0.2, 0.3, 2.4, 3.1 to 3.4, 4.3, 5.1, 8.1, 10.2; md M.1, M.2).
//! Rule: a switch that is left out has its release's value; those of 7.1 are the rows' defaults, so links without
//! `kernel=` mean what they always meant.
//! Leaves out: what a switch does; whether a release has an attribute at all (`check`).

use std::sync::OnceLock;

use crate::params::Key;
use crate::scenario::row_value;
use crate::value::Value;

/// The words of `kernel`, oldest first. "6.12" is 6.12.0, "6.17-rc" is before the fix of split bios.
pub const RELEASES: [&str; 6] = ["5.10", "5.17", "6.12", "6.17-rc", "6.19-rc8", "7.1"];

/// The first of [`RELEASES`] with zone write plugs (6.10).
pub(crate) const ZONE_WRITE_PLUGS: u8 = 2;
/// The first with queue/zoned_qd1_writes (7.1).
pub(crate) const QD1_WRITES: u8 = 5;

/// What each release has. mq-deadline got async_depth in 5.14. raid0's and raid10's chunk_sectors are later than 5.17;
/// that 6.12 has none is assumed.
#[rustfmt::skip]
const SWITCHES: [(Key, [&str; RELEASES.len()]); 22] = [
    //                       5.10         5.17             6.12                  6.17-rc           6.19-rc8          7.1
    (Key::ZoneOrdering,     ["zone_lock", "zone_lock",     "zwplug",             "zwplug",         "zwplug",         "zwplug"]),
    (Key::ZoneLockStreams,  ["0",         "0",             "1",                  "1",              "1",              "1"]),
    (Key::ZwplugErrors,     ["error_auto_recover", "error_auto_recover", "error_auto_recover", "need_wp_update", "need_wp_update", "need_wp_update"]),
    (Key::ZwplugRemoved,    ["unhashed",  "unhashed",      "unhashed",           "unhashed",       "unhashed",       "dead"]),
    (Key::AsyncDepthOwner,  ["none",      "elevator_5_17", "elevator",           "elevator",       "elevator",       "queue"]),
    (Key::ShallowPerWord,   ["1",         "1",             "0",                  "0",              "0",              "0"]),
    (Key::SbitmapWake,      ["per_queue", "per_queue",     "per_map",            "per_map",        "per_map",        "per_map"]),
    (Key::QosGate,          ["pointer",   "pointer",       "pointer",            "queue_flag",     "queue_flag",     "queue_flag"]),
    (Key::IssueTime,        ["always",    "always",        "always",             "always",         "iolatency",      "iolatency"]),
    (Key::TagRrRepr,        ["enum",      "enum",          "enum",               "flag",           "flag",           "flag"]),
    (Key::NoSchedRepr,      ["no_sched",  "no_sched",      "no_sched",           "by_default",     "by_default",     "by_default"]),
    (Key::IoTicks,          ["start",     "start",         "in_flight",          "in_flight",      "in_flight",      "in_flight"]),
    (Key::SplitInsert,      ["tail",      "tail",          "tail",               "tail",           "head",           "head"]),
    (Key::Raid5StripeLimit, ["0",         "0",             "0",                  "0",              "1",              "1"]),
    (Key::Raid5MaxHw,       ["0",         "0",             "1",                  "1",              "1",              "1"]),
    (Key::Raid5Spread,      ["0",         "0",             "1",                  "1",              "1",              "1"]),
    (Key::MdChunkLimit,     ["0",         "0",             "0",                  "1",              "1",              "1"]),
    (Key::PlugOrder,        ["lifo",      "lifo",          "lifo",               "fifo",           "fifo",           "fifo"]),
    (Key::PlugMaxRq,        ["16",        "32",            "32",                 "32",             "32",             "32"]),
    (Key::PlugMultiFactor,  ["1",         "2",             "2",                  "2",              "2",              "2"]),
    (Key::StepPlug,         ["0",         "0",             "1",                  "1",              "1",              "1"]),
    (Key::MaxSectorsCap,    ["1280KiB",   "1280KiB",       "1280KiB",            "4096KiB",        "4096KiB",        "4096KiB"]),
];

/// The value that a release gives a switch; `None` for all other settings.
pub(crate) fn switch(release: &Value, key: Key) -> Option<&'static Value> {
    static VALUES: OnceLock<Vec<[Value; RELEASES.len()]>> = OnceLock::new();
    let row = SWITCHES.iter().position(|(k, _)| *k == key)?;
    let values = VALUES.get_or_init(|| SWITCHES.iter().map(|(key, of)| of.map(|text| row_value(*key, text))).collect());
    match release {
        Value::Word(i) => values[row].get(usize::from(*i)),
        _ => None,
    }
}

/// Settings that a release decides unless they are given.
pub(crate) fn switches() -> impl Iterator<Item = Key> {
    SWITCHES.iter().map(|(key, _)| *key)
}

#[cfg(test)]
mod tests {
    use bioscope_core::config::{
        AsyncDepthOwner, IoTicks, IssueTime, KernelConfig, PlugOrder, QosGate, SbitmapWake, SplitInsert, ZoneOrdering,
        ZwplugErrors, ZwplugRemoved,
    };

    use super::*;
    use crate::params::Param;
    use crate::scenario::{Scenario, Side};
    use crate::{check, decode, encode};

    fn kernel(link: &str, side: Side) -> KernelConfig {
        let (s, problems) = decode(link);
        assert!(problems.is_empty(), "{problems:?}");
        let (cfg, problems) = check(&s, side);
        cfg.unwrap_or_else(|| panic!("{link}: {problems:?}")).kernel
    }

    #[test]
    fn section_0_3_switches_of_7_1_are_the_defaults() {
        for (key, of) in SWITCHES {
            for text in of {
                let row = Param::of(key);
                assert_eq!(row.print(&row.parse(text).unwrap()), text, "{}", row.key);
            }
            assert_eq!(of[RELEASES.len() - 1], Param::of(key).default);
        }
        assert_eq!(Param::of(Key::Kernel).default, RELEASES[RELEASES.len() - 1]);
        let fresh = KernelConfig { dead_plug_revive: true, ..KernelConfig::default() };
        assert_eq!(kernel("", Side::A), fresh);
    }

    /// Each release as the differences from the one after it.
    #[test]
    fn section_0_3_presets_have_these_switches() {
        let v7_1 = kernel("kernel=7.1", Side::A);
        // 7.1: DEAD replaces UNHASHED. 7.0: async_depth is the queue's.
        let v6_19 = KernelConfig {
            zwplug_removed: ZwplugRemoved::Unhashed,
            async_depth_owner: AsyncDepthOwner::Elevator,
            ..v7_1
        };
        // 6.18: the remainder of a split goes to the head, raid456 publishes its stripe, BIO_ISSUE_TIME.
        let v6_17 = KernelConfig {
            split_insert: SplitInsert::Tail,
            raid5_stripe_limit: false,
            issue_time: IssueTime::Always,
            ..v6_19
        };
        // 6.13: FIFO plugs, NEED_WP_UPDATE. 6.14: TAG_RR, NO_SCHED_BY_DEFAULT. 6.17: 4 MiB, QOS_ENABLED.
        let mut v6_12 = KernelConfig {
            zwplug_errors: ZwplugErrors::ErrorAutoRecover,
            tag_rr_flag: false,
            no_sched_by_default: false,
            max_sectors_cap: 2560,
            qos_gate: QosGate::Pointer,
            md_chunk_limit: false,
            ..v6_17
        };
        v6_12.plug.order = PlugOrder::Lifo;
        // 6.0: one visit a stripe. 6.2: one count of freed tags, runs of writes stay together. 6.10: zone write plugs, a
        // plug a step, time in flight. Before 6.12: raid456's 1 MiB.
        let mut v5_17 = KernelConfig {
            zone_ordering: ZoneOrdering::ZoneLock,
            zone_lock_streams: false,
            async_depth_owner: AsyncDepthOwner::Elevator517,
            shallow_per_word: true,
            sbitmap_wake: SbitmapWake::PerQueue,
            io_ticks: IoTicks::Start,
            raid5_max_hw: false,
            raid5_spread: false,
            ..v6_12
        };
        v5_17.plug.per_step = false;
        // 5.14: async_depth. 5.16: plugs of 32 requests.
        let mut v5_10 = KernelConfig { async_depth_owner: AsyncDepthOwner::Queue, ..v5_17 };
        (v5_10.plug.max_rq, v5_10.plug.multi_factor) = (16, 1);
        for (release, want) in RELEASES.into_iter().zip([v5_10, v5_17, v6_12, v6_17, v6_19, v7_1]) {
            assert_eq!(kernel(&format!("kernel={release}"), Side::A), want, "{release}");
        }
    }

    #[test]
    fn a_link_carries_what_differs_from_its_kernel() {
        for (link, canonical) in [
            ("v=1&split_insert=head&kernel=6.12", "v=1&kernel=6.12&split_insert=head"),
            ("v=1&kernel=6.12&split_insert=tail", "v=1&kernel=6.12"),
            ("v=1&split_insert=tail&kernel=7.1", "v=1&split_insert=tail"),
            ("v=1&p=raid5-dd&kernel=6.12", "v=1&p=raid5-dd&kernel=6.12"),
            ("v=1&p=raid5-dd&kernel=6.12&split_insert=head", "v=1&p=raid5-dd&kernel=6.12&split_insert=head"),
            ("v=1&kernel=5.17&b.kernel=7.1", "v=1&kernel=5.17&b.kernel=7.1"),
        ] {
            let s = decode(link).0;
            assert_eq!(encode(&s), canonical);
            assert_eq!(decode(canonical).0, s);
        }
        // The order of edits by hand does not matter either, once the kernel stands.
        let mut s = Scenario::new();
        for (key, text) in [("kernel", "6.12"), ("plug_order", "fifo"), ("kernel", "6.17-rc"), ("kernel", "7.1")] {
            s.set_text(key, text).unwrap();
        }
        assert_eq!(s, Scenario::new());
        // A preset's own switch stays, whatever the kernel.
        let mut s = decode("p=raid5-dd&kernel=6.12").0;
        s.set_text("kernel", "7.1").unwrap();
        assert_eq!(s, decode("p=raid5-dd").0);
        assert_eq!(s.text(Side::A, Key::SplitInsert), "tail");
    }

    #[test]
    fn the_book_has_this_table() {
        let row = |name: &str, cells: &[String]| format!("| {name} | {} |\n", cells.join(" | "));
        let mut table = row("switch", &RELEASES.map(String::from)) + &"|---".repeat(RELEASES.len() + 1) + "|\n";
        for (key, of) in SWITCHES {
            table += &row(&format!("`{}`", Param::of(key).key), &of.map(|text| format!("`{text}`")));
        }
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/kernels.md");
        assert!(std::fs::read_to_string(page).unwrap().contains(&table), "docs/src/kernels.md, its table:\n{table}");
    }

    #[test]
    fn run_b_has_the_switches_of_its_own_kernel() {
        let link = "v=1&kernel=5.17&stack=raid5&drive=capped&plug_max_rq=8&b.kernel=7.1";
        let (a, b) = (kernel(link, Side::A), kernel(link, Side::B));
        assert_eq!((a.split_insert, b.split_insert), (SplitInsert::Tail, SplitInsert::Head));
        // What is said of A holds for B.
        assert_eq!((a.plug.max_rq, b.plug.max_rq), (8, 8));
        let s = decode(link).0;
        assert_ne!(s.side_hash(Side::A), s.side_hash(Side::B));
        assert_eq!(s.text(Side::B, Key::StepPlug), "1");
        assert_eq!(s.text(Side::A, Key::StepPlug), "0");
    }
}
