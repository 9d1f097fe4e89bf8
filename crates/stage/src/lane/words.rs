//! Tooltips: the facts of one thing on the stage, in a sentence or two.
//!
//! Models: nothing.
//! Rule: names the thing, where it is and since when; nothing the snapshot does not hold.
//! Leaves out: a bio's whole life, which the page reads from the trace.

use bioscope_core::observe::snapshot::{
    BioStage, BioView, CommandView, DeviceView, HeadPhase, RequestView, Snapshot, WplugView, ZoneCond,
};
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::units::{BioId, DevIdx, RqId, ZoneNo};

use super::board::{self, flash, freeze, qos, timeline, zonemap};
use super::queue::tables as queue;
use super::{What, drive, jobs, plugs, queues};
use crate::text;

/// The text of a tooltip; `None` when the thing is gone.
pub fn words(snap: &Snapshot, strip: &[TraceRecord], what: What) -> Option<String> {
    let device = snap.devices.first();
    match what {
        What::Job(job) => job_words(snap, usize::from(job)),
        What::Bio(bio) => find_bio(snap, bio).map(|b| bio_words(snap, b)),
        What::Rq(rq) => {
            let timer = device.and_then(|d| d.null_blk.as_ref()).and_then(|n| timeline::timer(n, rq));
            let timer = || timer.zip(device).map(|(t, d)| timeline::timer_words(d, t, snap.now));
            let command = || device.and_then(|d| Some(command_words(d, find_command(d, rq)?)));
            request(snap, rq).map(|r| request_words(snap, &r)).or_else(timer).or_else(command)
        }
        What::Zone(zone) => device.map(|d| zone_words(d, zone)),
        What::Tag(tag) => {
            let zone = device?.tags.busy.get(tag as usize).copied().flatten()?;
            Some(["Driver tag ", &tag.to_string(), ": a request of zone ", &zone.to_string()].concat())
        }
        What::Issue(index) => strip.get(index as usize).map(|r| issue_words(snap, r)),
        What::Worker => device.map(|d| ["zone_wplugs_worker: ", &plugs::worker_words(d)].concat()),
        What::Head => device.map(head_words),
        What::Cache => device.map(|d| ["Cache window ", &queues::window_words(d.drive.window)].concat()),
        What::MapTag(sched, tag) => queue::tag_words(device?, sched, tag),
        What::Ws(ws) => device.map(|d| queue::ws_words(d, snap, ws)),
        What::Domain(n) => queue::domain_words(device?, n),
        What::BfqQueue(n) => queue::bfq_words(device?, n),
        What::Held(job) => Some(queue::held_words(device?, job) + &job_words(snap, usize::from(job))?),
        What::Note(note) => Some(queue::note_words(device?, strip, note)),
        What::Limits => device?.zoned.as_ref().map(zonemap::limits_words),
        What::Legend => Some(zonemap::LEGEND_WORDS.into()),
        What::Wbt => device?.qos.wbt.as_ref().map(qos::wbt_words),
        What::Gate => device.map(|d| qos::gate_tip(&d.qos)),
        What::Freeze => device?.freeze.as_ref().map(freeze::tip),
        What::Trail => device.map(|_| "Seeks of the last 0.3 s land here.".into()),
    }
}

/// A request, wherever it stands.
pub fn request(snap: &Snapshot, id: RqId) -> Option<RequestView> {
    let in_plug = snap.tasks.iter().filter_map(|t| t.plug.as_ref()).flat_map(|p| &p.requests).copied();
    let of_device = snap.devices.iter().flat_map(|device| {
        let plugged = device.zone_wplugs.iter().filter_map(|p| p.in_flight);
        let (_, _, queued) = queues::elevator(device);
        plugged.chain(queued).chain(device.dispatch.iter().copied()).collect::<Vec<_>>()
    });
    in_plug.chain(of_device).find(|r| r.id == id)
}

/// A command inside the device.
pub fn find_command(device: &DeviceView, id: RqId) -> Option<&CommandView> {
    let drive = &device.drive;
    let timers = device.null_blk.iter().flat_map(|n| n.commands.iter().chain(&n.recent)).map(|t| &t.cmd);
    let channels = || device.flash.iter().flat_map(|f| &f.channels);
    let buses = channels().filter_map(|c| c.bus.as_ref()).map(|b| &b.0);
    let dies = channels().flat_map(|c| &c.dies).filter_map(|d| d.busy.as_ref()).map(|b| &b.0);
    let of_drive = drive.waiting.iter().chain(drive.interface.as_ref().map(|i| &i.0)).chain(&drive.cache);
    of_drive.chain(timers).chain(buses).chain(dies).find(|c| c.rq == id)
}

fn find_bio(snap: &Snapshot, id: BioId) -> Option<&BioView> {
    let plugged = snap.devices.first().into_iter().flat_map(|d| &d.zone_wplugs).flat_map(|p| &p.bios);
    // Pieces of one bio have its number until they are cut off: what is on the lists says more than the job's view.
    let listed = snap.tasks.iter().flat_map(|t| t.current.iter().chain(&t.pushed).chain(&t.backlog));
    listed.chain(snap.jobs.iter().flat_map(|j| &j.in_flight)).chain(plugged).find(|b| b.id == id)
}

/// A zone and the place in it; a device and the sector where there are several.
fn place(snap: &Snapshot, dev: DevIdx, zone: ZoneNo, sector: u64) -> String {
    match &snap.devices[..] {
        [] => String::new(),
        [one] => text::place(zone, sector, board::zone_sectors(one)),
        many => {
            let name = many.get(usize::from(dev)).map_or("", |d| d.name.as_str());
            [name, " sector ", &text::thousands(sector)].concat()
        }
    }
}

fn job_words(snap: &Snapshot, index: usize) -> Option<String> {
    let job = snap.jobs.get(index)?;
    let mut words = [&job.name, ": ", &jobs::state_words(job, &snap.jobs), ". "].concat();
    let bios = text::count(job.in_flight.len() as u64, "bio", "bios");
    words += &[&bios, ", ", &text::bytes(job.bytes_in_flight), " in flight."].concat();
    for (zone, count) in &job.locks {
        words += &[" Holds zone ", &zone.to_string(), " (", &count.to_string(), ")."].concat();
    }
    Some(words)
}

fn bio_words(snap: &Snapshot, bio: &BioView) -> String {
    let stage = match bio.stage {
        BioStage::ZonePlug => "waits in its zone write plug",
        BioStage::Tag => "waits for a tag",
        BioStage::Elevator => "is queued for dispatch",
        BioStage::Drive => "is at the drive",
    };
    // On a list of its task it waits for nothing but its turn.
    let listed = snap.tasks.iter().any(|t| t.pushed.iter().chain(&t.backlog).any(|b| b.id == bio.id));
    let now = snap.tasks.iter().any(|t| t.current.is_some_and(|b| b.id == bio.id));
    let stage = if now {
        "taken by this step"
    } else if listed {
        "is on current->bio_list"
    } else {
        stage
    };
    let mut words = ["Bio ", &bio.id.to_string(), ": ", queues::op_letter(bio.op), " "].concat();
    words += &[&place(snap, bio.dev, bio.zone, bio.sector), ", ", &text::size(u64::from(bio.nr_sectors))].concat();
    words += &[", ", stage, "; queued ", &text::duration(snap.now.saturating_sub(bio.q_time)), " ago."].concat();
    if bio.parent != bio.id {
        words += &[" Split from bio ", &bio.parent.to_string(), "."].concat();
    }
    words
}

fn request_words(snap: &Snapshot, rq: &RequestView) -> String {
    let mut words = ["Request ", &rq.id.to_string(), ": ", queues::op_letter(rq.op), " "].concat();
    words += &[&place(snap, rq.dev, rq.zone, rq.sector), ", ", &text::size(u64::from(rq.nr_sectors)), " in "].concat();
    words += &text::count(u64::from(rq.nr_bios), "bio", "bios");
    if let Some(tag) = rq.tag {
        words += &[", driver tag ", &tag.to_string()].concat();
    }
    match rq.d_time {
        Some(d) => words + "; issued " + &text::duration(snap.now.saturating_sub(d)) + " ago.",
        None => words + "; not issued yet.",
    }
}

fn command_words(device: &DeviceView, command: &CommandView) -> String {
    let drive = &device.drive;
    let at = if let Some(at) = device.flash.as_ref().and_then(|f| flash::place(f, command.rq)) {
        at
    } else if drive.waiting.iter().any(|c| c.rq == command.rq) {
        "waits in an NCQ slot"
    } else if drive.head.rq == command.rq {
        "is under the head"
    } else if drive.cache.iter().any(|c| c.rq == command.rq) {
        "is in the cache, acknowledged, not yet on the medium"
    } else {
        "is on the interface"
    };
    let place = text::place(command.zone, command.sector, board::zone_sectors(device));
    [queues::op_letter(command.op), " ", &place, ", ", &text::size(u64::from(command.nr_sectors)), " ", at, "."]
        .concat()
}

fn condition(cond: ZoneCond) -> &'static str {
    match cond {
        ZoneCond::NotWp => "conventional",
        ZoneCond::Empty => "empty",
        ZoneCond::ImpOpen => "implicitly open",
        ZoneCond::ExpOpen => "explicitly open",
        ZoneCond::Closed => "closed",
        ZoneCond::ReadOnly => "read-only",
        ZoneCond::Full => "full",
        ZoneCond::Offline => "offline",
    }
}

fn zone_words(device: &DeviceView, zone: ZoneNo) -> String {
    let mut words = ["Zone ", &zone.to_string()].concat();
    let drive = &device.drive;
    if let Some(view) = board::zones(device).iter().find(|z| z.zone == zone) {
        words += &[": ", condition(view.cond), ", written to "].concat();
        let size = board::zone_sectors(device);
        let offset = if drive.rev_ns > 0 { view.media_offset } else { view.wp_offset };
        let part = offset * 100 / size.max(1);
        words += &[&part.to_string(), " %, write pointer at ", &text::size(view.wp_offset)].concat();
        if drive.rev_ns > 0 {
            let turns = drive::turns(view, size, drive.rev_ns);
            words += &[", ", &text::count(turns, "turn", "turns"), " in all"].concat();
        }
    } else if let Some(z) = &device.zoned {
        words += if zone < z.nr_conv { ": conventional" } else { ": empty" };
    }
    if let Some(locks) = plugs::locks(device) {
        let lock = locks.iter().find(|l| l.zone == zone);
        let wait = text::count(lock.map_or(0, |l| l.bios.len()) as u64, "write waits", "writes wait");
        return [words.as_str(), ". Lock: ", lock.map_or("free", plugs::lock_words), ", ", &wait, "."].concat();
    }
    match device.zone_wplugs.iter().find(|p| p.zone == zone) {
        Some(plug) => words + ". " + &plug_words(plug),
        None => words + ". No zone write plug.",
    }
}

fn plug_words(plug: &WplugView) -> String {
    let flags = plugs::flags(plug);
    let flags = if flags.is_empty() { "no flag" } else { &flags };
    let pending = text::count(plug.bios.len() as u64, "bio", "bios");
    let refs = text::count(u64::from(plug.refs), "reference", "references");
    ["Plug: ", flags, ", ", &pending, " queued, ", &refs, ", wp_offset ", &text::size(plug.wp_offset), "."].concat()
}

fn issue_words(snap: &Snapshot, r: &TraceRecord) -> String {
    let zone_sectors = snap.devices.first().map_or(1, |d| board::zone_sectors(d).max(1));
    let zone = (r.sector / zone_sectors) as ZoneNo;
    let place = place(snap, r.dev, zone, r.sector);
    // At the disks of an array other records than D stand too, and some are still to come.
    let when = if r.time > snap.now { ", will be issued at " } else { ", issued at " };
    [
        r.action.letter(),
        " ",
        queues::op_letter(r.op),
        " ",
        &place,
        ", ",
        &text::size(u64::from(r.nr_sectors)),
        when,
        &text::seconds(r.time),
    ]
    .concat()
}

fn head_words(device: &DeviceView) -> String {
    let head = &device.drive.head;
    let (phase, _) = drive::phase_words(device);
    let all = text::thousands(u64::from(device.drive.nr_zones));
    let over = ["Head over zone ", &head.zone.to_string(), " of ", &all, ": ", &phase].concat();
    match head.phase {
        HeadPhase::Rotate => over + ", until its sector comes round.",
        HeadPhase::Seek => over + ", coming from zone " + &head.from_zone.to_string() + ".",
        _ => over + ".",
    }
}
