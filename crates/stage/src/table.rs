//! The text alternative of a lane's canvas: one table a panel and one sentence for all.
//!
//! Models: nothing.
//! Rule: what the canvas shows, in words and numbers; no more than a reader can take in.
//! Leaves out: history; the page's event list has it.

use bioscope_core::observe::snapshot::{BioView, DeviceView, Snapshot, WplugView};
use bioscope_session::OrderFrame;

use crate::iostat;
use crate::lane::queue::tables as queue;
use crate::lane::stack::{self, Gap, Io, State, lists};
use crate::lane::{Kind, board, drive, jobs, plugs, queues};
use crate::text;

/// One panel as text.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Caption.
    pub title: String,
    /// Column headings.
    pub head: Vec<&'static str>,
    /// Rows of cells, as many as headings.
    pub rows: Vec<Vec<String>>,
}

/// Rows of a table at most; what is left out is its last row.
const MAX_ROWS: usize = 24;

/// One table a panel.
pub fn tables(snap: &Snapshot, order: Option<&OrderFrame>) -> Vec<Table> {
    let mut out = vec![jobs_table(snap)];
    if let Some(order) = order {
        let io = Io::of(order, snap);
        out.extend([lists_table(&io), order_table(&io), iostat::table(&[(None, order, snap)])]);
    } else if let Some(device) = snap.devices.first().filter(|_| matches!(Kind::of(snap, None), Kind::Queue { .. })) {
        out.extend(queue::tables(device, snap));
        out.extend((device.drive.rev_ns > 0).then(|| drive_table(device)));
        out.extend(board::tables::tables(device, snap));
    } else if let Some(device) = snap.devices.first() {
        out.extend([plugs_table(device), queues_table(device)]);
        out.extend((device.drive.rev_ns > 0).then(|| drive_table(device)));
        out.extend(board::tables::tables(device, snap));
    }
    out.iter_mut().for_each(shorten);
    out
}

fn shorten(table: &mut Table) {
    if table.rows.len() > MAX_ROWS {
        let left = table.rows.len() - MAX_ROWS;
        table.rows.truncate(MAX_ROWS);
        let mut last = vec![String::new(); table.head.len()];
        last[0] = ["and ", &left.to_string(), " more"].concat();
        table.rows.push(last);
    }
}

fn jobs_table(snap: &Snapshot) -> Table {
    let row = |job: &bioscope_core::observe::snapshot::JobView| {
        let zones = jobs::by_zone(core::slice::from_ref(job));
        let zones: Vec<String> =
            zones.iter().take(4).map(|(z, n)| [&z.to_string(), ": ", &n.to_string()].concat()).collect();
        vec![
            job.name.clone(),
            jobs::state_words(job, &snap.jobs),
            job.iodepth.to_string(),
            job.in_flight.len().to_string(),
            text::bytes(job.bytes_in_flight),
            zones.join(", "),
        ]
    };
    Table {
        title: "Jobs".into(),
        head: vec!["job", "state", "iodepth", "bios in flight", "in flight", "bios by zone"],
        rows: snap.jobs.iter().map(row).collect(),
    }
}

fn plugs_table(device: &DeviceView) -> Table {
    let worker =
        if device.worker.enabled { [", worker: ", &plugs::worker_words(device)].concat() } else { String::new() };
    let locks = plugs::locks(device);
    let all: Vec<&WplugView> = locks.as_ref().map_or_else(|| plugs::active(device), |l| l.iter().collect());
    let rows = all
        .iter()
        .map(|plug| {
            let rq = plug.in_flight.map(|rq| text::place(rq.zone, rq.sector, board::zone_sectors(device)));
            let place = device.zone_wplugs_list.iter().position(|z| *z == plug.zone);
            vec![
                plug.zone.to_string(),
                if locks.is_some() { plugs::lock_words(plug).into() } else { plugs::flags(plug) },
                plug.bios.len().to_string(),
                rq.unwrap_or_else(|| "none".into()),
                text::size(plug.wp_offset),
                plug.refs.to_string(),
                place.map_or_else(|| "–".to_string(), |n| (n + 1).to_string()),
            ]
        })
        .collect();
    Table {
        title: [if locks.is_some() { "Zone locks" } else { "Zone write plugs" }, &worker].concat(),
        head: vec!["zone", "flags", "bios queued", "in flight", "write pointer", "references", "place on list"],
        rows,
    }
}

fn queues_table(device: &DeviceView) -> Table {
    let (name, words, _) = queues::elevator(device);
    let mut rows = vec![vec!["driver tags".into(), queues::tags_words(&device.tags)], vec![name.to_string(), words]];
    if let Some(tags) = &device.sched_tags {
        rows.swap(0, 1);
        rows.insert(1, vec!["sched tags".into(), queues::tags_words(tags)]);
    }
    let drive = &device.drive;
    let label = |c: &bioscope_core::observe::snapshot::CommandView| {
        queues::command_label(c.op, c.zone, c.sector, drive.zone_sectors)
    };
    let list = |commands: &[bioscope_core::observe::snapshot::CommandView]| {
        let first: Vec<String> = commands.iter().take(6).map(label).collect();
        let more = if commands.len() > 6 { " …" } else { "" };
        [&commands.len().to_string(), " (", &first.join(", "), more, ")"].concat()
    };
    if device.drive.rev_ns == 0 {
        let n = device.dispatch.len().to_string();
        rows.push(vec!["hctx->dispatch".into(), n]);
        return Table { title: "Tags, scheduler, dispatch".into(), head: vec!["what", "now"], rows };
    }
    rows.push(vec!["waiting in the drive".into(), list(&drive.waiting)]);
    rows.push(vec!["on the interface".into(), drive.interface.map_or_else(|| "none".into(), |i| label(&i.0))]);
    rows.push(vec!["cached, dirty".into(), list(&drive.cache)]);
    rows.push(vec!["cache window".into(), queues::window_words(drive.window)]);
    Table { title: "Tags, scheduler, drive queue".into(), head: vec!["what", "now"], rows }
}

fn drive_table(device: &DeviceView) -> Table {
    let drive = &device.drive;
    let window = drive::Window::of(device);
    let rows = drive
        .zones
        .iter()
        .filter(|z| window.zones.contains(&z.zone))
        .map(|z| {
            let cached = drive.cache.iter().filter(|c| c.zone == z.zone).count();
            let under = drive.head.rq != 0 && drive.head.zone == z.zone;
            vec![
                z.zone.to_string(),
                text::size(z.media_offset),
                text::size(z.wp_offset),
                cached.to_string(),
                if under { drive::phase_words(device).0 } else { "–".into() },
            ]
        })
        .collect();
    Table {
        title: ["Drive, ", &window.words(device)].concat(),
        head: vec!["zone", "on the medium", "accepted", "cached commands", "head"],
        rows,
    }
}

/// `current->bio_list` and the plug.
fn lists_table(io: &Io) -> Table {
    let mut rows = Vec::new();
    if let Some(task) = lists::task(io) {
        let of = |bios: &[BioView]| bios.iter().map(|b| io.bio(b).1).collect::<Vec<_>>().join(", ");
        rows = vec![
            vec!["this step's bio".into(), of(task.current.as_slice())],
            vec!["list[0] pushed by this call".into(), of(&task.pushed)],
            vec!["list[1] older backlog".into(), of(&task.backlog)],
        ];
        if let Some(plug) = &task.plug {
            rows.push(vec!["plug".into(), lists::plug_words(io, plug).join(", ")]);
        }
    }
    let title = [stack::TITLES[0], ", ", &lists::step_words(io)].concat();
    Table { title, head: vec!["what", "bios"], rows }
}

/// Chunks in the order of their commands, a row a disk.
fn order_table(io: &Io) -> Table {
    let row = |member: usize| {
        let own = io.commands.iter().filter(|c| c.member == member && c.state != State::Planned);
        let command = |c: &stack::Command| {
            let parts: Vec<String> = io.pieces[c.pieces.clone()].iter().map(|p| io.label(p.at)).collect();
            parts.join("+")
        };
        let seeks = own.clone().filter(|c| c.gap == Gap::Seek).count();
        let parity = own.clone().filter(|c| c.gap == Gap::Parity).count();
        let all: Vec<String> = own.map(command).collect();
        vec![io.name(member).to_string(), all.join(", "), seeks.to_string(), parity.to_string()]
    };
    Table {
        title: [stack::TITLES[1], ", merged chunks with +"].concat(),
        head: vec!["disk", "chunks by D", "seeks", "over parity"],
        rows: (0..io.members.len()).map(row).collect(),
    }
}

/// The lane in one sentence.
pub fn summary(snap: &Snapshot, order: Option<&OrderFrame>) -> String {
    if let Some(order) = order {
        let io = Io::of(order, snap);
        let issued = io.commands.iter().filter(|c| c.state != State::Planned);
        let commands = text::count(issued.clone().count() as u64, "command", "commands");
        let seeks = text::count(issued.filter(|c| c.gap == Gap::Seek).count() as u64, "seek", "seeks");
        let disks = text::count(io.members.len() as u64, "disk", "disks");
        let at = [&text::seconds(snap.now), ": I/O ", &text::thousands(order.io), ", "].concat();
        return [&at, &lists::step_words(&io), "; ", &commands, " with ", &seeks, " at ", &disks, "."].concat();
    }
    let in_flight: usize = snap.jobs.iter().map(|j| j.in_flight.len()).sum();
    let jobs = text::count(snap.jobs.len() as u64, "job has", "jobs have");
    let mut out = [&text::seconds(snap.now), ": ", &jobs, " "].concat();
    out += &text::count(in_flight as u64, "bio in flight", "bios in flight");
    if let Some(device) = snap.devices.first().filter(|_| matches!(Kind::of(snap, None), Kind::Queue { .. })) {
        out += &queue::summary(device, snap);
        out += &board::tables::summary(device, snap);
    } else if let Some(device) = snap.devices.first() {
        let active = plugs::active(device);
        let queued: usize = active.iter().map(|p| p.bios.len()).sum();
        // A plug whose position is unknown is shown when it is idle too.
        let busy = active.iter().filter(|p| !p.bios.is_empty() || p.in_flight.is_some() || p.listed).count();
        let zones = text::count(busy as u64, "zone", "zones");
        if plugs::locks(device).is_none() {
            out += &["; ", &queued.to_string(), " bios and split parts plugged in ", &zones].concat();
        }
        if device.drive.rev_ns > 0 {
            out += "; the drive caches ";
            out += &text::count(device.drive.cache.len() as u64, "command", "commands");
            let (phase, _) = drive::phase_words(device);
            out += &["; head over zone ", &device.drive.head.zone.to_string(), ": ", &phase].concat();
        }
        out += &board::tables::summary(device, snap);
    }
    if snap.stats.nr_errors > 0 {
        out += &["; ", &text::count(snap.stats.nr_errors, "error", "errors")].concat();
    }
    out + "."
}

#[cfg(test)]
mod tests {
    use bioscope_core::config::{SplitInsert, ZoneOrdering};
    use bioscope_core::observe::snapshot::HeadPhase;

    use super::*;
    use crate::synth;

    #[test]
    fn the_boundary_in_words() {
        let a = synth::sequential(false, HeadPhase::Rotate);
        assert_eq!(
            summary(&a.snap, None),
            "3.482 175 s: 1 job has 64 bios in flight; 62 bios and split parts plugged in 2 zones; the drive caches 4 commands; \
             head over zone 1121: rotate 3.1 ms."
        );
        let queues = &tables(&a.snap, None)[2].rows;
        assert_eq!((queues[0][0].as_str(), queues[1][0].as_str()), ("mq-deadline", "sched tags"));
        let window =
            "24: the drive admits a write while fewer than 24 are cached; each command that waits shrinks the window";
        assert_eq!(queues.last().unwrap()[1], window);
        let plugs = &tables(&a.snap, None)[1];
        let row: Vec<&str> = plugs.rows[1].iter().map(String::as_str).collect();
        assert_eq!(row, ["1122", "PLUGGED", "31", "zone 1122 at 3 MiB", "3 MiB", "32", "–"]);
        let b = &tables(&synth::sequential(true, HeadPhase::Transfer).snap, None)[1];
        assert_eq!(b.title, "Zone write plugs, worker: waits for 1121+219 to complete");
    }

    #[test]
    fn devices_without_a_head_in_words() {
        let locks = synth::null_blk(ZoneOrdering::ZoneLock, 1);
        assert_eq!(
            summary(&locks.snap, None),
            "3.482 175 s: 1 job has 64 bios in flight; null_blk: 1 in flight, each takes 100 us; zone locks: 1 zone locked, \
             60 writes wait; zones: IMP_OPEN 1, open 3 of 4 · active 4 of 6, 17 closed for others."
        );
        let of = |scene: &synth::Scene| tables(&scene.snap, None).into_iter().map(|t| t.title).collect::<Vec<_>>();
        assert_eq!(of(&locks)[1..3], ["Zone locks", "Tags, scheduler, dispatch"]);
        assert_eq!(tables(&locks.snap, None)[1].rows[0][1..4], ["locked", "60", "zone 0 at 96 KiB"]);
        let flash = of(&synth::flash(8, 4, true));
        assert_eq!(flash[3], "flash, busy: 6 of 8 channels, 27 of 32 dies, cache 37 of 64 pages");
        let frozen = tables(&synth::frozen().snap, None);
        let rows = &frozen.last().unwrap().rows;
        let first = ["3.450 775 s", "zoned_qd1_writes 1", "frozen for 31.4 ms: q_usage_counter 58"];
        assert_eq!(rows[0][..3], first);
        assert_eq!(rows[3], ["1.200 000 s", "async_depth 0", "EINVAL", "0", "0"]);
    }

    #[test]
    fn a_split_io_in_words() {
        let scene = synth::raid5(8, SplitInsert::Tail, 5);
        let order = scene.order.as_ref();
        assert_eq!(
            summary(&scene.snap, order),
            "3.482 175 s: I/O 1, step 5: 2 remainders to the tail; 0 commands with 0 seeks at 8 disks."
        );
        let lists = &tables(&scene.snap, order)[1];
        assert_eq!(lists.title, "current->bio_list, step 5: 2 remainders to the tail");
        let cells: Vec<&str> = lists.rows.iter().map(|r| r[1].as_str()).collect();
        assert_eq!(
            cells,
            [
                "2M + 2432k",
                "sda 32, 3M + 1408k, 2112k + 960k",
                "1088k + 960k, 64k + 960k",
                "2 of 64 requests, looks at sda: 64 of 128 KiB"
            ]
        );
        let whole = synth::raid5(8, SplitInsert::Tail, 1_000);
        let order = &tables(&whole.snap, whole.order.as_ref())[2];
        assert_eq!(order.rows[0], ["sda", "0, 16, 32, 48, 64, 56, 40, 24, 8", "8", "0"]);
        let head = synth::raid5(8, SplitInsert::Head, 1_000);
        let order = &tables(&head.snap, head.order.as_ref())[2];
        assert_eq!(order.rows[0][1], "0+8, 16+24, 32+40, 48, 56+64");
    }

    #[test]
    fn every_row_is_as_wide_as_its_head() {
        let scenes = [
            synth::raid5(36, SplitInsert::Tail, 9),
            synth::rmw(),
            synth::check(),
            synth::idle(),
            synth::random(128, false),
            synth::random(8, true),
            synth::errors(),
            synth::writeback(),
            synth::null_blk(ZoneOrdering::ZoneLock, 64),
            synth::null_blk(ZoneOrdering::Pipelined, 1),
            synth::flash(8, 4, true),
            synth::policies(true),
            synth::frozen(),
            synth::extreme_board(),
        ];
        for scene in scenes {
            for table in tables(&scene.snap, scene.order.as_ref()) {
                assert!(table.rows.len() <= MAX_ROWS + 1, "{}", table.title);
                assert!(table.rows.iter().all(|r| r.len() == table.head.len()), "{}", table.title);
            }
        }
        assert!(tables(&Snapshot::default(), None)[0].rows.is_empty());
    }
}
