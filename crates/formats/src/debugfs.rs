//! Files of /sys/kernel/debug/block/X as they would read at a moment.
//!
//! Models: block/blk-mq-debugfs.c, lib/sbitmap.c, and the debugfs attributes of mq-deadline and kyber, 7.1 (kernel 10.4,
//! 4.2, 4.4).
//! Rule: everything comes from a snapshot. A request's pointer is printed as `%p` prints one, hashed: from its number.
//! Leaves out: reserved tags; the driver's part of a request's line; of kyber's tokens the lines about bits (the model
//! counts tokens), and its lists by hardware queue (all are shown at the first). bfq has no such files in the kernel:
//! `sched/queues` is this program's own.

use bioscope_core::config::ZoneOrdering;
use bioscope_core::observe::snapshot::{
    BfqQueueView, BfqView, DeadlineView, DeviceView, ElevatorView, HctxFlags, KyberView, RequestView, TagsView,
    ZonedView, qflag, rqflag,
};
use bioscope_core::units::{IoClass, JobIdx, Op};

/// A file: path below the disk's folder, and text.
pub type File = (String, String);

/// The files of a device, in the kernel's order; none for devices that are made of others.
pub fn files(d: &DeviceView) -> Vec<File> {
    if d.tags.depth == 0 {
        return Vec::new();
    }
    let mut out = vec![("state".into(), state(d.queue_flags))];
    if let Some(zoned) = d.zoned.as_ref().filter(|z| z.ordering == ZoneOrdering::ZoneLock) {
        out.push(("zone_wlock".into(), zone_wlock(zoned)));
    }
    for h in 0..d.hctxs.len().max(1) {
        let of = d.hctxs.get(h);
        // Those of the first hardware queue are the device's, and all's where they are shared.
        let driver = of.and_then(|h| h.tags.as_ref()).unwrap_or(&d.tags);
        let sched = of.and_then(|h| h.sched_tags.as_ref()).or(d.sched_tags.as_ref());
        let (list, busy) = of.map_or((&d.dispatch, d.dispatch_busy), |h| (&h.dispatch, h.dispatch_busy));
        let mut file = |name: &str, text| out.push((format!("hctx{h}/{name}"), text));
        file("flags", hctx_flags(&d.hctx_flags));
        file("dispatch", requests(list, &d.elevator, Place::Dispatched));
        file("tags", tags(driver));
        file("tags_bitmap", bitmap(driver));
        // Without scheduler the two are there, and empty.
        file("sched_tags", sched.map_or_else(String::new, tags));
        file("sched_tags_bitmap", sched.map_or_else(String::new, bitmap));
        file("dispatch_busy", format!("{busy}\n"));
    }
    match &d.elevator {
        ElevatorView::None { .. } => {}
        ElevatorView::MqDeadline(e) => out.extend(deadline(e, &d.elevator)),
        ElevatorView::Kyber(e) => out.extend(kyber(e, &d.elevator)),
        ElevatorView::Bfq(e) => out.push(("sched/queues".into(), bfq(e))),
    }
    out
}

/// `zone_wlock` of kernels before 6.10: `queue_zone_wlock_show`, a locked zone a line (kernel 4.3).
pub fn zone_wlock(z: &ZonedView) -> String {
    z.locked.iter().map(|(zone, _)| format!("{zone}\n")).collect()
}

/// `state`: `queue_state_show`.
pub fn state(flags: u32) -> String {
    let of = [
        (qflag::NOMERGES, "NOMERGES"),
        (qflag::SAME_COMP, "SAME_COMP"),
        (qflag::NOXMERGES, "NOXMERGES"),
        (qflag::SAME_FORCE, "SAME_FORCE"),
        (qflag::INIT_DONE, "INIT_DONE"),
        (qflag::STATS, "STATS"),
        (qflag::REGISTERED, "REGISTERED"),
        (qflag::QUIESCED, "QUIESCED"),
        (qflag::RQ_ALLOC_TIME, "RQ_ALLOC_TIME"),
        (qflag::HCTX_ACTIVE, "HCTX_ACTIVE"),
        (qflag::SQ_SCHED, "SQ_SCHED"),
        (qflag::DISABLE_WBT_DEF, "DISABLE_WBT_DEF"),
        (qflag::QOS_ENABLED, "QOS_ENABLED"),
        (qflag::BIO_ISSUE_TIME, "BIO_ISSUE_TIME"),
        (qflag::ZONED_QD1_WRITES, "ZONED_QD1_WRITES"),
    ];
    names(&of.map(|(flag, name)| (flags & flag != 0, name))) + "\n"
}

/// `flags` of a hardware queue: `hctx_flags_show`. Before 6.14 the way tags are searched was a field of its own, and every
/// disk had SHOULD_MERGE.
pub fn hctx_flags(f: &HctxFlags) -> String {
    let policy = match (f.tag_rr_flag, f.tag_rr) {
        (true, _) => "",
        (false, true) => "alloc_policy=RR ",
        (false, false) => "alloc_policy=FIFO ",
    };
    let names = names(&[
        (!f.tag_rr_flag, "SHOULD_MERGE"),
        (f.tag_queue_shared, "TAG_QUEUE_SHARED"),
        (f.tag_hctx_shared, "TAG_HCTX_SHARED"),
        (f.blocking, "BLOCKING"),
        (f.tag_rr_flag && f.tag_rr, "TAG_RR"),
        (f.no_sched, if f.no_sched_by_default { "NO_SCHED_BY_DEFAULT" } else { "NO_SCHED" }),
    ]);
    format!("{policy}{names}\n")
}

/// `tags`, `sched_tags`: `blk_mq_debugfs_tags_show`.
pub fn tags(t: &TagsView) -> String {
    let hints: Vec<String> = t.hints.iter().map(u32::to_string).collect();
    let queue = |(n, queue): (usize, &Vec<u16>)| {
        let active = if queue.is_empty() { "inactive" } else { "active" };
        let count = t.wait_cnt.get(n).map_or_else(String::new, |count| format!(".wait_cnt={count}, "));
        format!("\t{{{count}.wait={active}}},\n")
    };
    let lines = [
        format!("nr_tags={}\nnr_reserved_tags=0\nactive_queues={}\n\n", t.nr_tags, t.active_queues),
        format!("bitmap_tags:\ndepth={}\nbusy={}\n", t.depth, t.busy.iter().flatten().count()),
        format!("cleared={}\n", t.cleared.iter().filter(|c| **c).count()),
        format!("bits_per_word={}\nmap_nr={}\n", t.bits_per_word, t.depth.div_ceil(t.bits_per_word.max(1))),
        format!("alloc_hint={{{}}}\n", hints.join(", ")),
        format!("wake_batch={}\nwake_index={}\nws_active={}\n", t.wake_batch, t.wake_index, t.ws_active),
        format!("ws={{\n{}}}\n", t.ws.iter().enumerate().map(queue).collect::<String>()),
        format!("round_robin={}\nmin_shallow_depth={}\n", u8::from(t.round_robin), t.min_shallow_depth),
    ];
    lines.concat()
}

/// `tags_bitmap`, `sched_tags_bitmap`: `sbitmap_bitmap_show`, a hex dump in which bit 0 is tag 0.
pub fn bitmap(t: &TagsView) -> String {
    let mut out = String::new();
    for (offset, tags) in t.busy.chunks(8).enumerate() {
        let byte = tags.iter().enumerate().fold(0u8, |byte, (bit, tag)| byte | u8::from(tag.is_some()) << bit);
        if offset % 16 == 0 {
            out += &format!("{}{offset:08x}:", if offset > 0 { "\n" } else { "" });
        }
        out += &format!("{}{byte:02x}", if offset % 2 == 0 { " " } else { "" });
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the scheduler, sorted and hashed.
    Sorted,
    /// In the scheduler, inserted at head.
    AtHead,
    /// The scheduler has given it away.
    Dispatched,
}

/// A request's line: `__blk_mq_debugfs_rq_show`.
pub fn request(r: &RequestView, elevator: &ElevatorView, place: Place) -> String {
    let has = |bit| r.flags & bit != 0;
    // Synchronous direct writes are marked so that no scheduler waits for another one.
    let idle = has(rqflag::SYNC) && r.op == Op::Write && !has(rqflag::PREFLUSH);
    let cmd_flags = names(&[
        (has(rqflag::SYNC), "SYNC"),
        (has(rqflag::NOMERGE), "NOMERGE"),
        (idle, "IDLE"),
        (has(rqflag::FUA), "FUA"),
        (has(rqflag::PREFLUSH), "PREFLUSH"),
    ]);
    let with_sched = !matches!(elevator, ElevatorView::None { .. });
    let hashes = matches!(elevator, ElevatorView::MqDeadline(_) | ElevatorView::Bfq(_));
    let counts = matches!(elevator, ElevatorView::Kyber(_) | ElevatorView::Bfq(_));
    let rq_flags = names(&[
        // kyber does not set it.
        (place == Place::Dispatched && hashes, "STARTED"),
        (with_sched, "SCHED_TAGS"),
        (with_sched, "USE_SCHED"),
        (true, "IO_STAT"),
        (place == Place::Sorted && hashes && !has(rqflag::NOMERGE), "HASHED"),
        (counts && r.d_time.is_some(), "STATS"),
        (has(rqflag::ZONE_WRITE_PLUGGING), "ZONE_WRITE_PLUGGING"),
    ]);
    let state = if r.d_time.is_some() { "in_flight" } else { "idle" };
    let tag = |t: Option<u32>| t.map_or(-1, i64::from);
    format!(
        "{:016x} {{.op={}, .cmd_flags={cmd_flags}, .rq_flags={rq_flags}, .state={state}, .tag={}, .internal_tag={}}}\n",
        r.id.wrapping_mul(0x9e37_79b1),
        op(r.op),
        tag(r.tag),
        tag(r.internal_tag),
    )
}

/// Names of the flags that are set.
fn names(of: &[(bool, &str)]) -> String {
    of.iter().filter(|(set, _)| *set).map(|(_, name)| *name).collect::<Vec<_>>().join("|")
}

/// `blk_op_str`
fn op(op: Op) -> &'static str {
    match op {
        Op::Read => "READ",
        Op::Write => "WRITE",
        Op::Flush => "FLUSH",
        Op::DrvIn => "DRV_IN",
        Op::ZoneOpen => "ZONE_OPEN",
        Op::ZoneClose => "ZONE_CLOSE",
        Op::ZoneFinish => "ZONE_FINISH",
        Op::ZoneReset => "ZONE_RESET",
        Op::ZoneResetAll => "ZONE_RESET_ALL",
        Op::ZoneAppend => "ZONE_APPEND",
        Op::WriteZeroes => "WRITE_ZEROES",
    }
}

fn requests(list: &[RequestView], elevator: &ElevatorView, place: Place) -> String {
    list.iter().map(|r| request(r, elevator, place)).collect()
}

/// `sched/` of mq-deadline: 0 to 2 are the classes RT, BE and IDLE.
fn deadline(e: &DeadlineView, of: &ElevatorView) -> Vec<File> {
    let mut out = Vec::new();
    for what in ["fifo_list", "next_rq"] {
        for (n, class) in e.classes.iter().enumerate() {
            for (dir, word) in ["read", "write"].into_iter().enumerate() {
                let sort = &class.sort[dir];
                let text = match what {
                    "fifo_list" => class.fifo[dir]
                        .iter()
                        .filter_map(|(id, _)| sort.iter().find(|r| r.id == *id))
                        .map(|r| request(r, of, Place::Sorted))
                        .collect(),
                    _ => {
                        let next = sort.iter().find(|r| r.sector >= class.latest_pos[dir]);
                        next.map_or_else(String::new, |r| request(r, of, Place::Sorted))
                    }
                };
                out.push((format!("sched/{word}{n}_{what}"), text));
            }
        }
    }
    let each = |of: fn(&[u32; 4]) -> u32| {
        let [rt, be, idle] = [0, 1, 2].map(|n: usize| of(&e.classes[n].counts));
        format!("{rt} {be} {idle}\n")
    };
    // Inserted, merged, dispatched, completed.
    let driver = each(|c| c[2].wrapping_add(c[1]).wrapping_sub(c[3]));
    out.push(("sched/batching".into(), format!("{}\n", e.batching)));
    out.push(("sched/starved".into(), format!("{}\n", e.starved)));
    out.push(("sched/dispatch".into(), requests(&e.dispatch, of, Place::AtHead)));
    out.push(("sched/owned_by_driver".into(), driver));
    out.push(("sched/queued".into(), each(|c| c[0].wrapping_sub(c[3]))));
    out
}

/// kyber's domains, by number.
const DOMAINS: [(&str, &str); 4] = [("read", "READ"), ("write", "WRITE"), ("discard", "DISCARD"), ("other", "OTHER")];

/// `sched/` of kyber, of the queue and of the hardware queue.
fn kyber(e: &KyberView, of: &ElevatorView) -> Vec<File> {
    let mut out = Vec::new();
    for (d, (name, _)) in e.domains.iter().zip(DOMAINS) {
        out.push((format!("sched/{name}_tokens"), format!("depth={}\nbusy={}\n", d.depth, d.in_use)));
    }
    for (d, (name, _)) in e.domains.iter().zip(DOMAINS) {
        out.push((format!("hctx0/sched/{name}_rqs"), requests(&d.queued, of, Place::Sorted)));
        out.push((format!("hctx0/sched/{name}_waiting"), format!("{}\n", u8::from(d.waiting))));
    }
    let name = DOMAINS.get(e.cur_domain).map_or("", |(_, name)| name);
    out.push(("hctx0/sched/cur_domain".into(), format!("{name}\n")));
    out.push(("hctx0/sched/batching".into(), format!("{}\n", e.batching)));
    out
}

/// This program's own: bfq's queues, a line each.
fn bfq(e: &BfqView) -> String {
    let mut out = format!("vtime={} peak_rate={} max_budget={}\n", e.vtime, e.peak_rate, e.max_budget);
    for (n, q) in e.queues.iter().enumerate() {
        out += &bfq_queue(q, e.in_service == Some(n));
    }
    out
}

fn bfq_queue(q: &BfqQueueView, served: bool) -> String {
    let class = match q.prio.class {
        IoClass::None => "NONE",
        IoClass::Rt => "RT",
        IoClass::Be => "BE",
        IoClass::Idle => "IDLE",
    };
    let owner = if q.job == JobIdx::MAX { "shared".to_string() } else { format!("job{}", u32::from(q.job) + 1) };
    let kind = if q.sync { "sync" } else { "async" };
    let state = match (served, q.eligible) {
        (true, _) => "in_service",
        (false, true) => "eligible",
        (false, false) => "waiting",
    };
    format!(
        "{owner} {kind} {class}{} {state} weight={} wr_coeff={} budget={}/{} start={} finish={} queued={} \
         dispatched={}\n",
        q.prio.level,
        q.weight,
        q.wr_coeff,
        q.service,
        q.budget,
        q.start,
        q.finish,
        q.queued.len(),
        q.dispatched,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use bioscope_core::observe::snapshot::{DeadlineClassView, HctxView, KyberDomainView};
    use bioscope_core::units::IoPrio;

    fn rq(id: u32, op: Op, sector: u64) -> RequestView {
        RequestView {
            id,
            bio: id,
            nr_bios: 1,
            job: 0,
            op,
            sector,
            nr_sectors: 8,
            zone: 0,
            dev: 0,
            origin: sector,
            tag: None,
            internal_tag: Some(id),
            d_time: None,
            flags: 0,
        }
    }

    fn view(depth: u32, held: &[u32]) -> TagsView {
        TagsView {
            depth,
            nr_tags: depth,
            busy: (0..depth).map(|t| held.contains(&t).then_some(0)).collect(),
            cleared: vec![false; depth as usize],
            bits_per_word: 16,
            hints: vec![37, 0, 5, 63],
            wake_batch: 8,
            min_shallow_depth: u32::MAX,
            ..TagsView::default()
        }
    }

    #[test]
    fn section_10_4_tags() {
        let mut t = view(64, &[0, 1, 33]);
        t.cleared[40] = true;
        t.cleared[41] = true;
        t.ws[2] = vec![4, 5];
        (t.wake_index, t.ws_active, t.active_queues) = (3, 2, 1);
        let expected = "\
nr_tags=64
nr_reserved_tags=0
active_queues=1

bitmap_tags:
depth=64
busy=3
cleared=2
bits_per_word=16
map_nr=4
alloc_hint={37, 0, 5, 63}
wake_batch=8
wake_index=3
ws_active=2
ws={
\t{.wait=inactive},
\t{.wait=inactive},
\t{.wait=active},
\t{.wait=inactive},
\t{.wait=inactive},
\t{.wait=inactive},
\t{.wait=inactive},
\t{.wait=inactive},
}
round_robin=0
min_shallow_depth=4294967295
";
        assert_eq!(tags(&t), expected);
    }

    /// Rows 24 and 26: round robin is a flag now, and SHOULD_MERGE has gone; row 25: the word for no_sched.
    #[test]
    fn section_11_rows_24_to_26_hctx_flags() {
        let new = HctxFlags { tag_rr: true, tag_rr_flag: true, no_sched_by_default: true, ..HctxFlags::default() };
        let old = HctxFlags { tag_rr_flag: false, no_sched_by_default: false, ..new };
        assert_eq!(hctx_flags(&new), "TAG_RR\n");
        assert_eq!(hctx_flags(&old), "alloc_policy=RR SHOULD_MERGE\n");
        let null_blk = HctxFlags { tag_rr: false, no_sched: true, blocking: true, ..new };
        assert_eq!(hctx_flags(&null_blk), "BLOCKING|NO_SCHED_BY_DEFAULT\n");
        let null_blk = HctxFlags { tag_rr: false, no_sched: true, blocking: true, ..old };
        assert_eq!(hctx_flags(&null_blk), "alloc_policy=FIFO SHOULD_MERGE|BLOCKING|NO_SCHED\n");
        let shared = HctxFlags { tag_queue_shared: true, tag_hctx_shared: true, tag_rr: false, ..new };
        assert_eq!(hctx_flags(&shared), "TAG_QUEUE_SHARED|TAG_HCTX_SHARED\n");
        assert_eq!(hctx_flags(&HctxFlags { tag_rr: false, ..new }), "\n");
    }

    #[test]
    fn section_8_2_state() {
        let plain = qflag::SAME_COMP | qflag::INIT_DONE | qflag::REGISTERED | qflag::SQ_SCHED;
        assert_eq!(
            state(plain | qflag::ZONED_QD1_WRITES),
            "SAME_COMP|INIT_DONE|REGISTERED|SQ_SCHED|ZONED_QD1_WRITES\n"
        );
        let all = "NOMERGES|SAME_COMP|NOXMERGES|SAME_FORCE|INIT_DONE|STATS|REGISTERED|QUIESCED|RQ_ALLOC_TIME|HCTX_ACTIVE|\
                   SQ_SCHED|DISABLE_WBT_DEF|QOS_ENABLED|BIO_ISSUE_TIME|ZONED_QD1_WRITES\n";
        assert_eq!(state(u32::MAX), all);
    }

    /// libata's driver tags after nr_requests was lowered, and the countdowns of 5.17.
    #[test]
    fn section_10_4_tags_round_robin_and_5_17() {
        let mut t = view(20, &[]);
        (t.nr_tags, t.bits_per_word, t.round_robin) = (32, 8, true);
        (t.wake_batch, t.min_shallow_depth) = (1, 15);
        t.hints = vec![9];
        t.wait_cnt = vec![2, 1, 2, 2, 2, 2, 2, 2];
        t.ws[1] = vec![0];
        let expected = "\
nr_tags=32
nr_reserved_tags=0
active_queues=0

bitmap_tags:
depth=20
busy=0
cleared=0
bits_per_word=8
map_nr=3
alloc_hint={9}
wake_batch=1
wake_index=0
ws_active=0
ws={
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=1, .wait=active},
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=2, .wait=inactive},
\t{.wait_cnt=2, .wait=inactive},
}
round_robin=1
min_shallow_depth=15
";
        assert_eq!(tags(&t), expected);
    }

    #[test]
    fn section_10_4_bitmap() {
        assert_eq!(bitmap(&view(32, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 17])), "00000000: ff01 0200\n");
        // The last byte is as wide as the depth.
        assert_eq!(bitmap(&view(20, &[19])), "00000000: 0000 08\n");
        let all: Vec<u32> = (0..136).collect();
        let expected = "\
00000000: ffff ffff ffff ffff ffff ffff ffff ffff
00000010: ff
";
        assert_eq!(bitmap(&view(136, &all)), expected);
        assert_eq!(bitmap(&view(64, &[])), "00000000: 0000 0000 0000 0000\n");
    }

    #[test]
    fn section_10_4_request_lines() {
        let none = ElevatorView::None { queued: Vec::new() };
        let sched = ElevatorView::MqDeadline(DeadlineView::default());
        let mut r = rq(1, Op::Read, 0);
        (r.tag, r.internal_tag, r.d_time) = (Some(5), None, Some(9));
        assert_eq!(
            request(&r, &none, Place::Dispatched),
            "000000009e3779b1 {.op=READ, .cmd_flags=, .rq_flags=IO_STAT, .state=in_flight, .tag=5, .internal_tag=-1}\n"
        );
        let mut w = rq(2, Op::Write, 0);
        (w.internal_tag, w.flags) = (Some(17), rqflag::SYNC | rqflag::ZONE_WRITE_PLUGGING);
        assert_eq!(
            request(&w, &sched, Place::Sorted),
            "000000003c6ef362 {.op=WRITE, .cmd_flags=SYNC|IDLE, \
             .rq_flags=SCHED_TAGS|USE_SCHED|IO_STAT|HASHED|ZONE_WRITE_PLUGGING, .state=idle, .tag=-1, \
             .internal_tag=17}\n"
        );
        w.flags = rqflag::NOMERGE;
        assert_eq!(
            request(&w, &sched, Place::Dispatched),
            "000000003c6ef362 {.op=WRITE, .cmd_flags=NOMERGE, .rq_flags=STARTED|SCHED_TAGS|USE_SCHED|IO_STAT, \
             .state=idle, .tag=-1, .internal_tag=17}\n"
        );
    }

    fn device(elevator: ElevatorView) -> DeviceView {
        DeviceView { sched_tags: Some(view(64, &[1, 2, 3])), tags: view(32, &[]), elevator, ..Default::default() }
    }

    fn text<'a>(files: &'a [File], path: &str) -> &'a str {
        &files.iter().find(|(p, _)| p == path).unwrap_or_else(|| panic!("{path} is there")).1
    }

    /// kernel 4.2 and section 13: reads at 100, 50, 200, the first of them dispatched.
    #[test]
    fn section_4_2_sched_files_of_mq_deadline() {
        let reads = [rq(2, Op::Read, 50), rq(3, Op::Read, 200)];
        let be = DeadlineClassView {
            sort: [reads.to_vec(), Vec::new()],
            fifo: [vec![(2, 500), (3, 400)], Vec::new()],
            latest_pos: [100, 0],
            counts: [4, 1, 2, 1],
        };
        let rt = DeadlineClassView { counts: [7, 0, 5, 2], ..Default::default() };
        let view = DeadlineView {
            classes: [rt, be, Default::default()],
            dispatch: vec![rq(9, Op::Write, 0)],
            batching: 3,
            starved: 1,
            last_dir: 0,
        };
        let files = files(&device(ElevatorView::MqDeadline(view)));
        let names: Vec<&str> = files.iter().map(|(p, _)| p.as_str()).collect();
        let expected = "\
state hctx0/flags hctx0/dispatch hctx0/tags hctx0/tags_bitmap hctx0/sched_tags hctx0/sched_tags_bitmap \
hctx0/dispatch_busy \
sched/read0_fifo_list sched/write0_fifo_list sched/read1_fifo_list sched/write1_fifo_list sched/read2_fifo_list \
sched/write2_fifo_list sched/read0_next_rq sched/write0_next_rq sched/read1_next_rq sched/write1_next_rq \
sched/read2_next_rq sched/write2_next_rq sched/batching sched/starved sched/dispatch sched/owned_by_driver \
sched/queued";
        assert_eq!(names.join(" "), expected);
        let line = |pointer: &str, op, tag| {
            format!(
                "{pointer} {{.op={op}, .cmd_flags=, .rq_flags=SCHED_TAGS|USE_SCHED|IO_STAT|HASHED, .state=idle, \
                 .tag=-1, .internal_tag={tag}}}\n"
            )
        };
        let (two, three) = (line("000000003c6ef362", "READ", 2), line("00000000daa66d13", "READ", 3));
        assert_eq!(text(&files, "sched/read1_fifo_list"), format!("{two}{three}"));
        assert_eq!(text(&files, "sched/read1_next_rq"), three);
        assert_eq!(text(&files, "sched/write1_fifo_list"), "");
        assert_eq!(text(&files, "sched/batching"), "3\n");
        assert_eq!(text(&files, "sched/starved"), "1\n");
        assert_eq!(text(&files, "sched/owned_by_driver"), "3 2 0\n");
        assert_eq!(text(&files, "sched/queued"), "5 3 0\n");
        let at_head = line("000000008ff34739", "WRITE", 9).replace("|HASHED", "");
        assert_eq!(text(&files, "sched/dispatch"), at_head);
        assert_eq!(text(&files, "hctx0/sched_tags_bitmap"), "00000000: 0e00 0000 0000 0000\n");
        assert!(text(&files, "hctx0/tags").starts_with("nr_tags=32\n"));
    }

    #[test]
    fn section_4_4_files_of_kyber() {
        let mut view = KyberView { cur_domain: 1, batching: 7, ..Default::default() };
        let queued = vec![rq(1, Op::Write, 8)];
        view.domains[1] =
            KyberDomainView { depth: 64, max_depth: 128, in_use: 64, queued, waiting: true, ..Default::default() };
        let files = files(&device(ElevatorView::Kyber(view)));
        assert_eq!(text(&files, "sched/write_tokens"), "depth=64\nbusy=64\n");
        assert_eq!(
            text(&files, "hctx0/sched/write_rqs"),
            "000000009e3779b1 {.op=WRITE, .cmd_flags=, .rq_flags=SCHED_TAGS|USE_SCHED|IO_STAT, .state=idle, .tag=-1, \
             .internal_tag=1}\n"
        );
        assert_eq!(
            [text(&files, "hctx0/sched/read_waiting"), text(&files, "hctx0/sched/write_waiting")],
            ["0\n", "1\n"]
        );
        assert_eq!(text(&files, "hctx0/sched/cur_domain"), "WRITE\n");
        assert_eq!(text(&files, "hctx0/sched/batching"), "7\n");
        assert_eq!(files.len(), 1 + 7 + 4 + 8 + 2);
    }

    #[test]
    fn section_4_5_queues_of_bfq() {
        let queue = BfqQueueView {
            job: 0,
            sync: true,
            prio: IoPrio { class: IoClass::Be, level: 4 },
            weight: 40,
            wr_coeff: 1,
            budget: 8192,
            service: 256,
            start: 10,
            finish: 214,
            eligible: true,
            queued: vec![rq(1, Op::Read, 8)],
            dispatched: 2,
        };
        let shared = BfqQueueView { job: JobIdx::MAX, sync: false, eligible: false, ..queue.clone() };
        let view = BfqView { queues: vec![queue, shared], in_service: Some(0), vtime: 12, ..Default::default() };
        let files = files(&device(ElevatorView::Bfq(view)));
        let expected = "\
vtime=12 peak_rate=0 max_budget=0
job1 sync BE4 in_service weight=40 wr_coeff=1 budget=256/8192 start=10 finish=214 queued=1 dispatched=2
shared async BE4 waiting weight=40 wr_coeff=1 budget=256/8192 start=10 finish=214 queued=1 dispatched=2
";
        assert_eq!(text(&files, "sched/queues"), expected);
    }

    #[test]
    fn section_4_3_zone_wlock() {
        let locked = vec![(524, 17), (1042, 3)];
        let zoned = Some(ZonedView { ordering: ZoneOrdering::ZoneLock, locked, ..ZonedView::default() });
        let d = DeviceView { zoned, ..device(ElevatorView::MqDeadline(DeadlineView::default())) };
        assert_eq!(text(&files(&d), "zone_wlock"), "524\n1042\n");
        let zoned = Some(ZonedView::default());
        let d = DeviceView { zoned, ..d };
        assert!(files(&d).iter().all(|(path, _)| path != "zone_wlock"), "gone in 6.10");
    }

    #[test]
    fn every_hardware_queue_has_its_folder() {
        let own = HctxView {
            dispatch: vec![rq(1, Op::Read, 8)],
            dispatch_busy: 5,
            tags: Some(view(16, &[3])),
            sched_tags: Some(view(128, &[])),
            ..Default::default()
        };
        let mut d = device(ElevatorView::MqDeadline(DeadlineView::default()));
        d.hctxs = vec![HctxView::default(), own, HctxView::default()];
        let files = files(&d);
        assert_eq!(files.len(), 1 + 3 * 7 + 17);
        assert_eq!(text(&files, "hctx0/tags_bitmap"), "00000000: 0000 0000\n");
        assert_eq!(text(&files, "hctx1/tags_bitmap"), "00000000: 0800\n");
        assert!(text(&files, "hctx1/sched_tags").starts_with("nr_tags=128\n"));
        assert_eq!(text(&files, "hctx1/dispatch_busy"), "5\n");
        assert_eq!(text(&files, "hctx1/dispatch").lines().count(), 1);
        // Shared tags are shown by all.
        assert_eq!(text(&files, "hctx2/tags"), text(&files, "hctx0/tags"));
        assert_eq!(text(&files, "hctx2/sched_tags"), text(&files, "hctx0/sched_tags"));
    }

    #[test]
    fn without_scheduler_sched_tags_are_empty_files() {
        let mut d = device(ElevatorView::None { queued: Vec::new() });
        d.sched_tags = None;
        let files = files(&d);
        assert_eq!([text(&files, "hctx0/sched_tags"), text(&files, "hctx0/sched_tags_bitmap")], ["", ""]);
        assert_eq!(files.len(), 1 + 7);
        // An array has no tags.
        d.tags = TagsView::default();
        assert_eq!(super::files(&d), []);
    }
}
