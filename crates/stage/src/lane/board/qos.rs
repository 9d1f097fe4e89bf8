//! The policies of rq_qos: wbt's window and limits, iolatency a cgroup a row, iocost's rate and shares, and what the gate
//! before them saved.
//!
//! Models: wbt, iolatency, iocost and their gate (kernel 8.1).
//! Rule: a bar is as long as its limit, bright as far as it is used; what waits is red. A job has its colour.
//! Leaves out: single bios; jobs and tags have them.

use bioscope_core::observe::snapshot::{
    DeviceView, IoCostView, IoLatencyView, QosCounters, QosView, Snapshot, WbtVerdict, WbtView,
};
use bioscope_core::time::SimTime;
use bioscope_core::units::JobIdx;

use crate::lane::What;
use crate::lane::pen::{Area, Colours, Pen};
use crate::lane::queue::caption;
use crate::shape::{Font, Ink, within};
use crate::text;

/// Title of the panel and of its table.
pub const TITLE: &str = "rq_qos";

/// Kinds of writes that wbt tells apart.
pub const KINDS: [&str; 3] = ["background", "kswapd", "discard"];

/// Which policies there are, in the order of the chain as far as it is known.
pub fn policies(q: &QosView) -> Vec<&'static str> {
    let all = [(q.wbt.is_some(), "wbt"), (!q.iolatency.is_empty(), "iolatency"), (q.iocost.is_some(), "iocost")];
    all.into_iter().filter(|p| p.0).map(|p| p.1).collect()
}

/// Under the title.
pub fn words(q: &QosView) -> String {
    let flag = if q.enabled { "QOS_ENABLED" } else { "the gate is closed" };
    match policies(q)[..] {
        [] => ["no policy, ", flag].concat(),
        _ => [&policies(q).join(", "), " · ", flag].concat(),
    }
}

/// A duration without zeros behind the point.
fn whole(ns: u64) -> String {
    text::duration(ns).replace(".00 ", " ").replace(".0 ", " ")
}

/// Least height of a line of text.
const LINE: f32 = 13.0;

/// What the last window of wbt came to.
pub fn verdict_words(w: &WbtView) -> String {
    let Some((verdict, latency)) = w.last else { return "no window judged yet".into() };
    let took = [" ", &text::duration(latency)].concat();
    match verdict {
        WbtVerdict::Exceeded => ["reads took", &took, ": throttled harder"].concat(),
        WbtVerdict::Ok => ["reads took", &took, ": in time"].concat(),
        WbtVerdict::WritesOnly => "only writes: let more of them".into(),
        WbtVerdict::Unknown => "too little to judge by".into(),
    }
}

/// The step and what it does.
pub fn step_words(w: &WbtView) -> String {
    let n = w.scale_step.to_string();
    match w.scale_step {
        _ if w.target_ns == 0 => "off".into(),
        0 => "scale_step 0".into(),
        1.. => ["scale_step +", &n, ", throttled"].concat(),
        _ => ["scale_step ", &n, ", widened"].concat(),
    }
}

/// Of so many hooks and I/Os.
pub fn gate_words(c: &QosCounters) -> [String; 2] {
    let n = text::thousands;
    let per_bio = if c.bios == 0 { 0.0 } else { c.clock_reads as f64 / c.bios as f64 };
    let hooks = [&n(c.hooks), " hooks, ", &n(c.gated), " stopped at the gate"].concat();
    let loads = [&n(c.chain_loads), " loads of q.rq_qos, ", &text::fixed(per_bio, 2), " clock reads per I/O"].concat();
    [hooks, loads]
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, snap: &Snapshot) {
    let Some(q) = device.map(|d| &d.qos) else {
        pen.panel(area, TITLE, "");
        return;
    };
    let long = words(q);
    let short = policies(q).join(", ");
    let inner = pen.panel(area, TITLE, Pen::fitting(Font::Small, area.w - 20.0, &[&long, &short])).below(6.0);
    let foot = gate(pen, inner, &q.counters);
    let mut a = Area { h: foot - inner.y - 6.0, ..inner };
    let n = policies(q).len();
    if n == 0 {
        let words = "Policies of the queue appear here: wbt, iolatency, iocost.";
        pen.wrapped((a.x, a.y + 12.0), words, Ink::Dim, Font::Small, a.w, ((a.h / 14.0) as usize).min(3));
        return;
    }
    let colours = core::mem::replace(&mut pen.colours, Colours::of_jobs(snap.jobs.len()));
    let mut left = n as f32;
    let mut share = |a: Area| {
        let own = Area { h: a.h / left - 4.0, ..a };
        left -= 1.0;
        own
    };
    if let Some(w) = &q.wbt {
        let used = wbt(pen, share(a), w, snap.now);
        a = a.below(used - a.y + 8.0);
    }
    if !q.iolatency.is_empty() {
        let used = iolatency(pen, share(a), &q.iolatency);
        a = a.below(used - a.y + 8.0);
    }
    if let Some(c) = &q.iocost {
        iocost(pen, share(a), c);
    }
    pen.colours = colours;
}

/// wbt: its step, its window, a bar a kind of write with the three limits; returns the lower edge.
fn wbt(pen: &mut Pen, a: Area, w: &WbtView, now: SimTime) -> f32 {
    let step = step_words(w);
    let bare = w.scale_step.to_string();
    caption(pen, a, "wbt", &[&step, step.split(',').next().unwrap_or(&step), &bare], Ink::Dim);
    let mut y = a.y + 17.0;
    if w.target_ns == 0 {
        pen.text(a.x, y + 9.0, "wbt_lat_usec is 0: nothing waits", Ink::Dim, Font::Small, a.w);
        return y + LINE;
    }
    // The window, and how far it has gone.
    if a.h >= 60.0 {
        let (target, window) = (whole(w.target_ns), whole(w.window_ns));
        let long = ["target ", &target, " · window ", &window].concat();
        let short = [target.as_str(), " in ", &window].concat();
        pen.text(a.x, y + 9.0, Pen::fitting(Font::Small, a.w, &[&long, &short]), Ink::Dim, Font::Small, a.w);
        let bar = Area::new(a.x, y + 15.0, a.w, 4.0);
        pen.rect(bar, 2.0, Ink::Track, 1.0);
        let left = w.window_ends.map_or(w.window_ns, |end| end.saturating_sub(now));
        let part = 1.0 - within(left as f32 / w.window_ns.max(1) as f32, 0.0, 1.0);
        if part > 0.02 {
            pen.rect(Area { w: bar.w * part, ..bar }, 2.0, Ink::Dim, 0.8);
        }
        pen.hit(Area { y, h: 20.0, ..a }, What::Wbt);
        y += 25.0;
    }
    // Where it stands between widened and throttled.
    if a.bottom() - y >= 3.0 * LINE + 54.0 {
        steps(pen, Area { y, h: 20.0, ..a }, w.scale_step);
        y += 25.0;
    }
    let most = w.limits[0].max(w.in_flight.into_iter().max().unwrap_or(0)).max(1);
    if a.bottom() - y < 3.0 * LINE {
        // No room for a bar each.
        let waiting: u32 = w.waiting.iter().sum();
        let flying = w.in_flight.iter().sum::<u32>().to_string();
        let words = [&flying, " in flight, ", &waiting.to_string(), " wait"].concat();
        pen.text(a.x, y + 9.0, &words, if waiting > 0 { Ink::Bad } else { Ink::Dim }, Font::Small, a.w);
        return y + LINE;
    }
    let line = within((a.bottom() - 30.0 - y) / 3.0, LINE, 22.0);
    let (label, count) = (Font::Small.width(KINDS[0]) + 4.0, 50.0);
    let bar_w = a.w - label - count;
    for (n, kind) in KINDS.iter().enumerate() {
        let row = Area { y: y + n as f32 * line, h: line, ..a };
        pen.text(row.x, row.y + 9.0, kind, Ink::Dim, Font::Small, label - 2.0);
        let bar = Area::new(row.x + label, row.y + 1.5, bar_w, (line - 4.0).min(9.0));
        let px = |v: u32| bar.w * within(v as f32 / most as f32, 0.0, 1.0);
        pen.rect(bar, 2.0, Ink::Track, 1.0);
        if w.in_flight[n] > 0 {
            pen.rect(Area { w: px(w.in_flight[n]), ..bar }, 2.0, Ink::Text, 0.85);
        }
        for limit in [w.limits[2], w.limits[1]].into_iter().filter(|l| *l > 0 && *l < most) {
            let x = bar.x + px(limit);
            pen.line((x, bar.y - 1.5), (x, bar.bottom() + 1.5), Ink::Accent, 1.2, 1.0);
        }
        let (words, ink) = match w.waiting[n] {
            0 => (w.in_flight[n].to_string(), Ink::Dim),
            wait => ([&w.in_flight[n].to_string(), " + ", &wait.to_string()].concat(), Ink::Bad),
        };
        pen.text_right(row.x + row.w, row.y + 9.0, &words, ink, Font::Mono, count - 4.0);
        pen.hit(row, What::Wbt);
    }
    y += 3.0 * line;
    if a.bottom() - y >= 11.0 {
        let limits = w.limits.map(|l| l.to_string());
        let verdict = verdict_words(w);
        let long = [&verdict, " · limits ", &limits[2], " / ", &limits[1], " / ", &limits[0]].concat();
        let ink = if matches!(w.last, Some((WbtVerdict::Exceeded, _))) { Ink::Bad } else { Ink::Dim };
        let lines = if a.bottom() - y >= 25.0 { 2 } else { 1 };
        let words = Pen::fitting(Font::Small, a.w, &[&long, &verdict]);
        y = pen.wrapped((a.x, y + 11.0), words, ink, Font::Small, a.w, lines) - 11.0;
    }
    y
}

/// The scale of wbt's step: a mark each, the present one bright.
fn steps(pen: &mut Pen, a: Area, step: i32) {
    let (left, right) = ("more writes", "fewer");
    let (lw, rw) = (Font::Small.width(left) + 8.0, Font::Small.width(right) + 8.0);
    let reach = step.unsigned_abs().max(4) as i32;
    let n = (2 * reach + 1) as f32;
    let labelled = a.w - lw - rw > 60.0;
    let (x, w) = if labelled { (a.x + lw, a.w - lw - rw) } else { (a.x, a.w) };
    if labelled {
        pen.text(a.x, a.y + 13.0, left, Ink::Dim, Font::Small, lw);
        pen.text_right(a.x + a.w, a.y + 13.0, right, Ink::Dim, Font::Small, rw);
    }
    let pitch = w / n;
    for i in -reach..=reach {
        let at = x + (i + reach) as f32 * pitch;
        let (h, ink) = match i {
            0 => (12.0, Ink::Dim),
            _ => (8.0, Ink::Track),
        };
        let mark = Area::new(at + pitch * 0.15, a.y + 9.0 - h / 2.0, pitch * 0.7, h);
        if i == step {
            pen.rect(Area { y: a.y + 2.0, h: 14.0, ..mark }, 2.0, if step > 0 { Ink::Bad } else { Ink::Accent }, 1.0);
        } else {
            pen.rect(mark, 2.0, ink, if i == 0 { 0.5 } else { 1.0 });
        }
    }
    pen.hit(a, What::Wbt);
}

/// A job's number in its colour; returns where what follows begins.
fn job(pen: &mut Pen, row: Area, job: JobIdx) -> f32 {
    let label = job.to_string();
    let chip = Area::new(row.x, row.y + 1.0, (Font::Chip.width(&label) + 11.0).max(18.0), 12.0);
    pen.label_chip(chip, u32::from(job), &label);
    pen.hit(chip, What::Job(job));
    chip.x + chip.w + 6.0
}

/// Rows that fit, and what is left of them.
fn fitting_rows(h: f32, line: f32, n: usize) -> (usize, usize) {
    let lines = (h / line) as usize;
    let shown = if n > lines { lines.saturating_sub(1) } else { n };
    (shown, n - shown)
}

/// A row a cgroup: mean latency against its target, its depth; returns the lower edge.
fn iolatency(pen: &mut Pen, a: Area, all: &[IoLatencyView]) -> f32 {
    caption(pen, a, "iolatency", &["mean of the window / target", "mean / target"], Ink::Dim);
    let line = 16.0;
    let (shown, rest) = fitting_rows(a.h - 17.0, line, all.len());
    let mut y = a.y + 17.0;
    for g in &all[..shown] {
        let row = Area { y, h: line, ..a };
        let x = job(pen, row, g.job);
        let missed = g.target_ns > 0 && g.mean_ns > g.target_ns;
        let mean = text::duration(g.mean_ns);
        let target = if g.target_ns == 0 { "no target".to_string() } else { whole(g.target_ns) };
        let depth = if g.depth == u32::MAX { String::new() } else { [" · depth ", &g.depth.to_string()].concat() };
        let wait = if g.waiting == 0 { String::new() } else { [" · ", &g.waiting.to_string(), " wait"].concat() };
        let base = [&mean, " / ", &target].concat();
        let (long, mid) = ([&base, depth.as_str(), &wait].concat(), [&base, depth.as_str()].concat());
        let room = a.x + a.w - x;
        let words = Pen::fitting(Font::Small, room, &[&long, &mid, &base]);
        pen.text(x, y + 10.5, words, if missed { Ink::Bad } else { Ink::Text }, Font::Small, room);
        pen.hit(row, What::Job(g.job));
        y += line;
    }
    more(pen, a, y, rest);
    if rest > 0 { y + line } else { y }
}

fn more(pen: &mut Pen, a: Area, y: f32, rest: usize) {
    if rest > 0 && y + 13.0 <= a.bottom() + 2.0 {
        pen.text(a.x, y + 10.0, &["+", &rest.to_string(), " more"].concat(), Ink::Dim, Font::Small, a.w);
    }
}

/// iocost: the rate of its clock, then a share a job.
fn iocost(pen: &mut Pen, a: Area, c: &IoCostView) {
    let rate = [&text::fixed(f64::from(c.vrate) / 100.0, 1), " % vrate"].concat();
    let period = [&rate, ", period ", &whole(c.period_ns)].concat();
    caption(pen, a, "iocost", &[&period, &rate], Ink::Dim);
    let line = 16.0;
    let (shown, rest) = fitting_rows(a.h - 17.0, line, c.groups.len());
    let mut y = a.y + 17.0;
    for (n, share, weight, waiting, debt) in c.groups[..shown].iter().map(|g| (g.0, g.2, g.1, g.3, g.4)) {
        let row = Area { y, h: line, ..a };
        let x = job(pen, row, n);
        let percent = [&text::fixed(f64::from(share) / 10.0, 1), " %"].concat();
        let wait = if waiting == 0 { String::new() } else { [" · ", &waiting.to_string(), " wait"].concat() };
        let owes = if debt == 0 { String::new() } else { [" · owes ", &text::duration(debt * 1_000)].concat() };
        let base = ["w ", &weight.to_string(), " · ", &percent].concat();
        let (long, mid) = ([&base, wait.as_str(), &owes].concat(), [&base, wait.as_str()].concat());
        let room = a.x + a.w - x;
        // A bar of the share where words leave room for one.
        let words = Pen::fitting(Font::Small, room, &[&long, &mid, &base, &percent]);
        let used = Font::Small.width(words);
        let bar = Area::new(x, y + 4.0, room - used - 8.0, 6.0);
        if bar.w > 16.0 {
            pen.rect(bar, 3.0, Ink::Track, 1.0);
            let w = bar.w * within(share as f32 / 1_000.0, 0.0, 1.0);
            if w > 0.5 {
                pen.zone_rect(Area { w, ..bar }, 3.0, u32::from(n), 1.0);
            }
        }
        pen.text_right(a.x + a.w, y + 10.5, words, if waiting > 0 { Ink::Bad } else { Ink::Text }, Font::Small, room);
        pen.hit(row, What::Job(n));
        y += line;
    }
    more(pen, a, y, rest);
}

/// What the gate saved, from the bottom up; returns its top.
fn gate(pen: &mut Pen, a: Area, c: &QosCounters) -> f32 {
    let [hooks, loads] = gate_words(c);
    let shorter = hooks.replace(" stopped at the gate", " gated");
    let hooks = Pen::fitting(Font::Small, a.w, &[&hooks, &shorter]);
    // Where it does not fit, what a load and what a clock read costs has its own line.
    let lines = match Font::Small.width(&loads) <= a.w {
        true => vec![hooks, loads.as_str()],
        false => [hooks].into_iter().chain(loads.split(", ")).collect(),
    };
    let h = lines.len() as f32 * 14.0 + 6.0;
    let top = a.bottom() - h;
    pen.line((a.x, top), (a.x + a.w, top), Ink::Line, 1.0, 1.0);
    for (n, words) in lines.into_iter().enumerate() {
        pen.text(a.x, top + 15.0 + n as f32 * 14.0, words, Ink::Dim, Font::Small, a.w);
    }
    pen.hit(Area { y: top, h, ..a }, What::Gate);
    top
}

/// wbt in a tooltip.
pub fn wbt_words(w: &WbtView) -> String {
    let limits = w.limits.map(|l| l.to_string());
    let words = ["wbt: ", &step_words(w), ". In flight at most ", &limits[0], "; sync writeback ", &limits[1]];
    [&words.concat(), ", background ", &limits[2], ". Last window: ", &verdict_words(w), "."].concat()
}

/// The gate in a tooltip.
pub fn gate_tip(q: &QosView) -> String {
    let [hooks, loads] = gate_words(&q.counters);
    let flag = if q.enabled { "QUEUE_FLAG_QOS_ENABLED is set" } else { "QUEUE_FLAG_QOS_ENABLED is not set" };
    [flag, ": ", &hooks, "; ", &loads, "."].concat()
}

/// Rows of the alternative.
pub fn rows(q: &QosView, snap: &Snapshot) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    let mut row = |what: String, now: String| out.push(vec![what, now]);
    if let Some(w) = &q.wbt {
        row("wbt target".into(), whole(w.target_ns));
        let left = w
            .window_ends
            .map_or_else(String::new, |end| [", ends in ", &text::duration(end.saturating_sub(snap.now))].concat());
        row("wbt window".into(), whole(w.window_ns) + &left);
        row("wbt step".into(), step_words(w));
        let limits = w.limits.map(|l| l.to_string()).join(", ");
        row("wbt limits: max, normal, background".into(), limits);
        for (n, kind) in KINDS.iter().enumerate() {
            let counts = [&w.in_flight[n].to_string(), " in flight, ", &w.waiting[n].to_string(), " wait"].concat();
            row(["wbt ", kind].concat(), counts);
        }
        row("wbt, last window".into(), verdict_words(w));
    }
    let name = |j: JobIdx| snap.jobs.get(usize::from(j)).map_or_else(|| j.to_string(), |j| j.name.clone());
    for g in &q.iolatency {
        let target = if g.target_ns == 0 { "no target".into() } else { ["target ", &whole(g.target_ns)].concat() };
        let depth = if g.depth == u32::MAX { "not scaled".into() } else { g.depth.to_string() };
        let words = [
            &target,
            ", mean ",
            &text::duration(g.mean_ns),
            ", depth ",
            &depth,
            ", ",
            &g.in_flight.to_string(),
            " in flight, ",
            &g.waiting.to_string(),
            " wait",
        ];
        row(["iolatency, ", &name(g.job)].concat(), words.concat());
    }
    if let Some(c) = &q.iocost {
        let rate = [&text::fixed(f64::from(c.vrate) / 100.0, 2), " %"].concat();
        row("iocost vrate, period".into(), [rate, whole(c.period_ns)].join(", "));
        for (j, weight, share, waiting, debt) in &c.groups {
            let words = [
                "weight ",
                &weight.to_string(),
                ", share ",
                &text::fixed(f64::from(*share) / 10.0, 1),
                " %, ",
                &waiting.to_string(),
                " wait, debt ",
                &text::duration(debt * 1_000),
            ];
            row(["iocost, ", &name(*j)].concat(), words.concat());
        }
    }
    let [hooks, loads] = gate_words(&q.counters);
    row(if q.enabled { "gate, QOS_ENABLED".into() } else { "gate, closed".into() }, hooks);
    let stamp = if q.issue_time { "BIO_ISSUE_TIME" } else { "no BIO_ISSUE_TIME" };
    row(["behind it, ", stamp].concat(), loads);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gate_in_words() {
        let c = QosCounters { hooks: 5_000, gated: 4_990, chain_loads: 10, clock_reads: 1_000, bios: 1_000 };
        assert_eq!(gate_words(&c)[1], "10 loads of q.rq_qos, 1.00 clock reads per I/O");
        assert!(gate_words(&QosCounters::default())[1].contains(" 0.00 clock reads"));
    }

    #[test]
    fn a_step_reads_by_its_sign() {
        let of = |scale_step| step_words(&WbtView { scale_step, target_ns: 1, ..WbtView::default() });
        assert_eq!(step_words(&WbtView::default()), "off");
        assert_eq!(of(0), "scale_step 0");
        assert_eq!(of(2), "scale_step +2, throttled");
        assert_eq!(of(-1), "scale_step -1, widened");
    }
}
