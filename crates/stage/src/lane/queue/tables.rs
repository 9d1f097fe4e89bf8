//! The scene in words and numbers, and the tooltips of its places.
//!
//! Models: nothing.
//! Rule: what the panels show; names as in the kernel.
//! Leaves out: history.

use bioscope_core::observe::snapshot::{DeviceView, ElevatorView, RequestView, Snapshot, TagsView};
use bioscope_core::observe::trace::TraceRecord;
use bioscope_core::units::{JobIdx, Tag};

use super::{Note, bfq, deadline, kyber, strip, tags, task_name, waiters};
use crate::lane::queues;
use crate::table::Table;
use crate::text;

fn cells<const N: usize>(all: [String; N]) -> Vec<String> {
    all.into()
}

/// One table a panel.
pub fn tables(device: &DeviceView, snap: &Snapshot) -> [Table; 3] {
    [tag_table(device), waiter_table(device, snap), scheduler_table(device, snap)]
}

fn tag_table(device: &DeviceView) -> Table {
    let row = |name: &str, t: &TagsView| {
        let words: Vec<String> = tags::by_word(t).iter().map(u32::to_string).collect();
        let jobs = tags::by_job(t);
        let jobs: Vec<String> = jobs.iter().take(8).map(|j| [&job(j.0), ": ", &j.1.to_string()].concat()).collect();
        cells([
            name.to_string(),
            tags::words(t),
            tags::cleared(t).to_string(),
            words.join(" "),
            tags::shallow_words(t).unwrap_or_else(|| "–".into()),
            jobs.join(", "),
        ])
    };
    let mut rows: Vec<Vec<String>> = device.sched_tags.iter().map(|t| row("sched_tags", t)).collect();
    rows.push(row("tags", &device.tags));
    let head = vec!["map", "bits", "cleared", "taken by word", "shallow depth", "held by"];
    Table { title: "Tag maps".into(), head, rows }
}

fn waiter_table(device: &DeviceView, snap: &Snapshot) -> Table {
    let t = waiters::slept_for(device);
    let names = |ws: &[u16]| ws.iter().map(|w| task_name(snap, *w)).collect::<Vec<_>>().join(", ");
    let row = |(n, ws): (usize, &Vec<u16>)| {
        let next = if t.wake_index as usize % 8 == n { "wake_index" } else { "" };
        cells([["ws[", &n.to_string(), "]"].concat(), ws.len().to_string(), names(ws), next.to_string()])
    };
    let mut rows: Vec<Vec<String>> = t.ws.iter().enumerate().map(row).collect();
    for w in t.woken.iter().rev().take(8) {
        let what = match w.got {
            Some(true) => "got a tag",
            Some(false) => "found none, slept again",
            None => "has not run yet",
        };
        let when = [&text::duration(snap.now.saturating_sub(w.at)), " ago, ", what].concat();
        rows.push(cells([
            ["woken in ws[", &w.ws.to_string(), "]"].concat(),
            "–".into(),
            task_name(snap, w.task),
            when,
        ]));
    }
    let batch = [", wake_batch ", &t.wake_batch.to_string(), ", "].concat();
    let title = ["Wait queues", &batch, &waiters::countdown_words(t)].concat();
    Table { title, head: vec!["queue", "asleep", "tasks", "note"], rows }
}

fn job(job: JobIdx) -> String {
    if job == JobIdx::MAX { "nobody".into() } else { ["job ", &job.to_string()].concat() }
}

/// Jobs of a list's requests in its order, runs of one job together: `3×8, 5×2`.
fn runs(all: &[RequestView]) -> String {
    let mut runs: Vec<(JobIdx, u32)> = Vec::new();
    for rq in all {
        match runs.last_mut().filter(|r| r.0 == rq.job) {
            Some(r) => r.1 += 1,
            None => runs.push((rq.job, 1)),
        }
    }
    let more = if runs.len() > 16 { " …" } else { "" };
    let all: Vec<String> = runs.iter().take(16).map(|r| [&job(r.0), " × ", &r.1.to_string()].concat()).collect();
    all.join(", ") + more
}

fn scheduler_table(device: &DeviceView, snap: &Snapshot) -> Table {
    let (name, _, _) = queues::elevator(device);
    let title = [name, ", ", &super::sched::words(device, snap.now)].concat();
    match &device.elevator {
        ElevatorView::None { queued } => {
            let rows = vec![cells(["ctx lists".into(), queued.len().to_string(), runs(queued)])];
            Table { title, head: vec!["list", "requests", "in order"], rows }
        }
        ElevatorView::MqDeadline(d) => {
            let row = |(c, dir): (usize, usize)| {
                let class = &d.classes[c];
                let due = deadline::due(&class.fifo[dir], snap.now).map_or_else(|| "–".into(), |d| d.0);
                let name = [deadline::CLASSES[c], " ", deadline::DIRS[dir]].concat();
                cells([name, class.sort[dir].len().to_string(), runs(&class.sort[dir]), due])
            };
            let rows = deadline::rows(d).into_iter().map(row).collect();
            Table { title, head: vec!["class", "queued", "by sector", "first in FIFO"], rows }
        }
        ElevatorView::Kyber(k) => {
            let row = |(n, d): (usize, &bioscope_core::observe::snapshot::KyberDomainView)| {
                let buckets = |b: &[u32; 8]| b.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
                cells([
                    kyber::DOMAINS[n].into(),
                    kyber::token_words(d),
                    d.queued.len().to_string(),
                    kyber::last_words(d),
                    buckets(&d.buckets[0]),
                    buckets(&d.buckets[1]),
                ])
            };
            let rows = k.domains.iter().enumerate().map(row).collect();
            let head = vec!["domain", "tokens", "queued", "judged", "total latency", "I/O latency"];
            Table { title, head, rows }
        }
        ElevatorView::Bfq(b) => {
            let row = |(n, q): (usize, &bioscope_core::observe::snapshot::BfqQueueView)| {
                let state = match (b.in_service == Some(n), q.eligible) {
                    (true, _) => "in service",
                    (_, true) => "eligible",
                    _ => "not eligible yet",
                };
                let counts = [q.queued.len().to_string(), q.dispatched.to_string()].join(" / ");
                cells([bfq::name(q), bfq::weight_words(q), bfq::budget_words(q), counts, state.into()])
            };
            let rows = b.queues.iter().enumerate().map(row).collect();
            Table { title, head: vec!["queue", "weight", "budget used", "queued / at the driver", "state"], rows }
        }
    }
}

/// The device in a sentence's part.
pub fn summary(device: &DeviceView, snap: &Snapshot) -> String {
    let t = waiters::slept_for(device);
    let name = if device.sched_tags.is_some() { " sched tags" } else { " tags" };
    let sleep = text::count(waiters::asleep(t) as u64, "task sleeps", "tasks sleep");
    let (scheduler, _, queued) = queues::elevator(device);
    let requests = text::count(queued.len() as u64, "request", "requests");
    let at = ["; the driver has ", &tags::taken(&device.tags).to_string()].concat();
    let left = [&tags::words(t).replace(" taken", ""), name, " taken, ", &sleep].concat();
    let next = if waiters::asleep(t) > 0 { [", ", &waiters::countdown_words(t)].concat() } else { String::new() };
    let own = super::sched::words(device, snap.now);
    ["; ", &left, &next, "; ", scheduler, " holds ", &requests, ", ", &own, &at].concat()
}

/// A bit of a map.
pub fn tag_words(device: &DeviceView, sched: bool, tag: Tag) -> Option<String> {
    let t = if sched { device.sched_tags.as_ref()? } else { &device.tags };
    let at = tag as usize;
    let word = tag / t.bits_per_word.max(1);
    let name =
        [if sched { "Sched tag " } else { "Driver tag " }, &tag.to_string(), ", word ", &word.to_string()].concat();
    let state = match (t.busy.get(at).copied().flatten(), t.cleared.get(at)) {
        (Some(_), _) => ["held by a request of ", &job(t.jobs.get(at).copied().unwrap_or(JobIdx::MAX))].concat(),
        (None, Some(true)) => "freed, looks taken until its word is full".into(),
        _ => "free".into(),
    };
    Some([&name, ": ", &state, "."].concat())
}

/// A wait queue.
pub fn ws_words(device: &DeviceView, snap: &Snapshot, ws: u8) -> String {
    let t = waiters::slept_for(device);
    let all = t.ws.get(usize::from(ws)).map_or(&[][..], |w| w);
    let n = text::count(all.len() as u64, "task asleep", "tasks asleep");
    let first = all.first().map_or_else(String::new, |w| [", ", &task_name(snap, *w), " longest"].concat());
    let next = if t.wake_index as usize % 8 == usize::from(ws) {
        ". wake_index: the next wake-up starts after it"
    } else {
        ""
    };
    ["ws[", &ws.to_string(), "]: ", &n, &first, next, "."].concat()
}

/// A column of tags: what goes before the words about its job.
pub fn held_words(device: &DeviceView, job: JobIdx) -> String {
    let t = waiters::slept_for(device);
    let n = tags::by_job(t).iter().find(|j| j.0 == job).map_or(0, |j| j.1);
    let map = if device.sched_tags.is_some() { " sched tags" } else { " tags" };
    ["Holds ", &n.to_string(), " of ", &t.depth.to_string(), map, ". "].concat()
}

/// A mark or a word of the scene.
pub fn note_words(device: &DeviceView, records: &[TraceRecord], note: Note) -> String {
    let t = waiters::slept_for(device);
    let [got, again, soon] = waiters::woken(t).map(|n| n.to_string());
    let last = ["Of the last ", &t.woken.len().to_string(), " tasks woken, "].concat();
    match note {
        Note::Cleared => {
            "cleared: a freed bit is noted beside its word and looks taken until a search finds the word full; \
                          then all of them come free together."
                .into()
        }
        Note::Shallow => {
            "Underlined is what writes and asynchronous requests may take (async_depth); reads that somebody \
                          waits for may take every tag."
                .into()
        }
        Note::Hint => "hint: here the next search of a CPU for a free tag begins (alloc_hint, one a CPU).".into(),
        Note::Got => {
            [&last, &got, " found a free tag when they ran. Each may take more before it sleeps again."].concat()
        }
        Note::Again => {
            [&last, &again, " found no tag when they ran, and sleep at the end of the next wait queue."].concat()
        }
        Note::ToRun => [&last, &soon, " have not run yet."].concat(),
        Note::Word => {
            let bits = t.bits_per_word.to_string();
            ["The bitmap is kept in words of ", &bits, " bits. A number at the right: taken bits of the line."].concat()
        }
        Note::Countdown => {
            let batch = t.wake_batch.to_string();
            let n = waiters::counted(t).to_string();
            let each = if t.wake_batch == 1 {
                "each freed tag wakes one task"
            } else {
                "so many freed tags wake as many tasks"
            };
            ["wake_batch ", &batch, ": ", each, ". Freed since the last wake-up: ", &n, " of ", &batch, "."].concat()
        }
        Note::Strip => {
            let (n, of) = strip::sequential(records);
            let share = [&n.to_string(), " of ", &of.to_string()].concat();
            ["Order of issue to the driver (D): left the oldest, height is the sector. A command that begins where the one \
              before ended touches it: ", &share, "."]
            .concat()
        }
    }
}

/// A domain of kyber.
pub fn domain_words(device: &DeviceView, n: u8) -> Option<String> {
    let ElevatorView::Kyber(k) = &device.elevator else { return None };
    let d = k.domains.get(usize::from(n))?;
    let most = d.max_depth.to_string();
    let name = kyber::DOMAINS[usize::from(n)];
    Some([name, ": ", &kyber::token_words(d), ", at most ", &most, "; ", &kyber::last_words(d), "."].concat())
}

/// A queue of bfq.
pub fn bfq_words(device: &DeviceView, n: u16) -> Option<String> {
    let ElevatorView::Bfq(b) = &device.elevator else { return None };
    let q = b.queues.get(usize::from(n))?;
    let counts = [text::count(q.queued.len() as u64, "request", "requests"), q.dispatched.to_string()];
    let state = if b.in_service == Some(usize::from(n)) {
        "in service"
    } else if q.eligible {
        "eligible"
    } else {
        "not eligible before virtual time reaches its start"
    };
    let words =
        [&bfq::name(q), ": weight ", &bfq::weight_words(q), ", ", &bfq::budget_words(q), " served, ", &counts[0]];
    Some([&words.concat(), " queued, ", &counts[1], " at the driver; ", state, "."].concat())
}
