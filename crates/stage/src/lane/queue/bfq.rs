//! bfq: a row a queue with its weight, its budget and what of it is used, and its place in virtual time.
//!
//! Models: bfq_queues of a service tree, B-WF2Q+ start and finish times against vtime (kernel 4.5).
//! Rule: rows stand by virtual finish; the queue in service is raised; one axis of virtual time for all rows.
//! Leaves out: groups; queues without requests that are not served.

use bioscope_core::observe::snapshot::{BfqQueueView, BfqView, RequestView};
use bioscope_core::time::SimTime;
use bioscope_core::units::JobIdx;

use super::{job_rect, requests};
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Budget, rate and idling.
pub fn words(b: &BfqView, now: SimTime) -> String {
    if let Some(until) = b.idle_until.filter(|_| b.in_service.is_some()) {
        return ["idles for the queue in service, ", &text::duration(until.saturating_sub(now)), " left"].concat();
    }
    match b.in_service.and_then(|n| b.queues.get(n)) {
        Some(q) => ["serves ", &name(q)].concat(),
        None => "serves no queue".into(),
    }
}

/// What a queue is called.
pub fn name(q: &BfqQueueView) -> String {
    let job = if q.job == JobIdx::MAX { "shared".to_string() } else { ["job ", &q.job.to_string()].concat() };
    [job.as_str(), if q.sync { " sync" } else { " async" }].concat()
}

/// `100`, `10 × 30`.
pub fn weight_words(q: &BfqQueueView) -> String {
    if q.wr_coeff > 1 {
        let own = (q.weight / q.wr_coeff).max(1).to_string();
        return [&own, "×", &q.wr_coeff.to_string()].concat();
    }
    q.weight.to_string()
}

/// `3 of 8 MiB`.
pub fn budget_words(q: &BfqQueueView) -> String {
    [&text::size(u64::from(q.service)), " of ", &text::size(u64::from(q.budget))].concat()
}

/// Draws its rows.
pub fn draw(pen: &mut Pen, a: Area, b: &BfqView) {
    let rate = ["peak ", &text::size(b.peak_rate), "/s"].concat();
    let budget = ["budget up to ", &text::size(u64::from(b.max_budget))].concat();
    let both = [&rate, " · ", &budget].concat();
    pen.text(a.x, a.y + 4.0, Pen::fitting(Font::Small, a.w, &[&both, &budget]), Ink::Dim, Font::Small, a.w);
    let a = a.below(10.0);
    if b.queues.is_empty() {
        let words = "A queue a process stands here while it has requests.";
        pen.wrapped((a.x, a.y + 14.0), words, Ink::Dim, Font::Small, a.w, 2);
        return;
    }
    // Queue, weight, budget, virtual time.
    let wide = a.w >= 300.0;
    let parts = if wide { [0.0, 0.25, 0.41, 0.63] } else { [0.0, 0.25, 0.47, 0.66] };
    let column = |n: usize| {
        let end = if n == 3 { 1.0 } else { parts[n + 1] };
        Area::new(a.x + a.w * parts[n], a.y, a.w * (end - parts[n]) - 8.0, a.h)
    };
    let heads = ["queue", "weight", "budget", "virtual time"];
    for (n, head) in heads.iter().enumerate() {
        let c = column(n);
        let head = Pen::fitting(Font::Small, c.w + 4.0, &[head, head.split(' ').next_back().unwrap_or(head), ""]);
        pen.text(c.x, c.y + 10.0, head, Ink::Dim, Font::Small, c.w + 6.0);
    }
    let a = a.below(16.0);
    let h = within(a.h / b.queues.len() as f32, 18.0, 40.0);
    let fit = (((a.h + 0.5) / h) as usize).max(1);
    let shown = if b.queues.len() > fit { fit.saturating_sub(1) } else { b.queues.len() };
    let ends = b.queues.iter().take(shown);
    let low = ends.clone().map(|q| q.start).min().unwrap_or(b.vtime).min(b.vtime);
    let high = ends.map(|q| q.finish).max().unwrap_or(b.vtime).max(b.vtime);
    let axis = column(3);
    let x = |v: u64| axis.x + axis.w * (v.saturating_sub(low) as f32 / (high - low).max(1) as f32).min(1.0);
    let budgets = b.queues.iter().map(|q| q.budget.max(q.service)).max().unwrap_or(1).max(1);
    for (n, q) in b.queues.iter().take(shown).enumerate() {
        let row = Area { y: a.y + n as f32 * h, h, ..a };
        let serving = b.in_service == Some(n);
        if serving {
            pen.rect(Area { x: row.x - 5.0, w: row.w + 10.0, h: h - 2.0, ..row }, 4.0, Ink::Raised, 1.0);
        }
        pen.hit(row, What::BfqQueue(n as u16));
        let top = row.y + (h - 2.0) / 2.0 - if h >= 30.0 { 5.0 } else { 0.0 };
        let c = column(0);
        job_rect(pen, Area::new(c.x, top - 4.5, 9.0, 9.0), 2.0, q.job);
        let name = name(q);
        let short = name.trim_start_matches("job ").to_string();
        let font = if serving { Font::MonoBold } else { Font::Mono };
        let words = Pen::fitting(font, c.w - 11.0, &[&name, &short, short.split(' ').next().unwrap_or("")]);
        pen.text(c.x + 13.0, top + 3.8, words, Ink::Text, font, c.w - 11.0);
        let c = column(1);
        let ink = if q.wr_coeff > 1 { Ink::Accent } else { Ink::Dim };
        pen.text(c.x, top + 3.8, &weight_words(q), ink, Font::Mono, c.w + 6.0);
        let c = column(2);
        let part = |v: u32| c.w * v as f32 / budgets as f32;
        let bar = Area::new(c.x, top - 2.5, part(q.budget).max(2.0), 5.0);
        pen.rect(bar, 2.0, Ink::Track, 1.0);
        pen.frame(Area::new(bar.x + 0.5, bar.y + 0.5, bar.w - 1.0, 4.0), 2.0, Ink::Line, 1.0);
        pen.rect(Area { w: part(q.service.min(q.budget)), ..bar }, 2.0, Ink::Text, 1.0);
        if h >= 30.0 {
            let words = budget_words(q);
            let used = text::size(u64::from(q.service));
            let words = Pen::fitting(Font::Small, c.w, &[&words, &used, ""]);
            pen.text(c.x, top + 15.0, words, Ink::Dim, Font::Small, c.w);
            let all: Vec<&RequestView> = q.queued.iter().collect();
            let c = Area { w: a.w * parts[2] - 8.0, ..a };
            if !all.is_empty() {
                requests(pen, Area::new(c.x, top + 8.0, c.w, 6.0), &all, 8.0);
            }
        }
        let (from, to) = (x(q.start), x(q.finish));
        pen.rect(Area::new(axis.x, top - 0.5, axis.w, 1.0), 0.0, Ink::Line, 1.0);
        let bar = Area::new(from, top - 3.0, (to - from).max(2.0).min(axis.x + axis.w - from + 2.0), 6.0);
        if q.eligible || serving {
            job_rect(pen, bar, 2.0, q.job);
        } else {
            // Not before virtual time reaches its start.
            let (fill, _) = pen.colours.zone(u32::from(q.job));
            pen.frame(Area::new(bar.x + 0.5, bar.y + 0.5, bar.w - 1.0, 5.0), 2.0, fill, 1.2);
        }
    }
    let bottom = a.y + shown as f32 * h;
    let now_x = x(b.vtime);
    pen.line((now_x, a.y - 2.0), (now_x, bottom - 2.0), Ink::Accent, 1.2, 1.0);
    if b.queues.len() > shown {
        let left = text::count((b.queues.len() - shown) as u64, "more queue", "more queues");
        pen.text(a.x, bottom + 11.0, &left, Ink::Dim, Font::Small, a.w * 0.5);
    }
}
