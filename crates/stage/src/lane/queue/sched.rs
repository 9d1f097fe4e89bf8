//! The scheduler's panel: which one, its own picture, and what is about to go to the driver.
//!
//! Models: queue/scheduler; hctx->dispatch, which goes before the scheduler's requests (kernel 3.6).
//! Rule: lists stand in their own order.
//! Leaves out: the pictures of mq-deadline, kyber and bfq (their modules).

use bioscope_core::observe::snapshot::{DeviceView, ElevatorView, RequestView};
use bioscope_core::time::SimTime;

use super::{bfq, caption, deadline, kyber, requests, tags};
use crate::lane::pen::{Area, Pen};
use crate::lane::queues;
use crate::shape::{Font, Ink};
use crate::text;

/// Under the scheduler's name.
pub fn words(device: &DeviceView, now: SimTime) -> String {
    match &device.elevator {
        ElevatorView::None { queued } => [&queued.len().to_string(), " in ctx lists"].concat(),
        ElevatorView::MqDeadline(d) => deadline::words(d),
        ElevatorView::Kyber(k) => kyber::words(k),
        ElevatorView::Bfq(b) => bfq::words(b, now),
    }
}

/// The device has a tag for every request there may be: mq-deadline passes all of them on at once.
pub fn never_holds(device: &DeviceView) -> bool {
    let all = device.sched_tags.as_ref().is_some_and(|s| device.tags.depth >= s.depth);
    all && matches!(device.elevator, ElevatorView::MqDeadline(_))
}

/// Draws the panel.
pub fn draw(pen: &mut Pen, area: Area, device: Option<&DeviceView>, now: SimTime) {
    let Some(device) = device else {
        pen.panel(area, "scheduler", "");
        return;
    };
    let (name, _, _) = queues::elevator(device);
    let words = words(device, now);
    let short = words.split(" · last_dir").next().unwrap_or(&words);
    let inner = pen.panel(area, name, Pen::fitting(Font::Small, area.w - 20.0, &[&words, short])).below(6.0);
    let foot = 30.0;
    let a = Area { h: inner.h - foot, ..inner };
    let (_, _, queued) = queues::elevator(device);
    match &device.elevator {
        ElevatorView::MqDeadline(_) if never_holds(device) && queued.is_empty() => {
            let n = device.sched_tags.as_ref().map_or(0, |s| s.depth).to_string();
            let words = ["empty: the device takes all ", &n, " (queue_depth)"].concat();
            pen.wrapped((a.x, a.y + 12.0), &words, Ink::Dim, Font::Small, a.w, 3);
        }
        ElevatorView::None { queued } => ctx_lists(pen, a, queued),
        ElevatorView::MqDeadline(d) => deadline::draw(pen, a, d, now),
        ElevatorView::Kyber(k) => kyber::draw(pen, a, k),
        ElevatorView::Bfq(b) => bfq::draw(pen, a, b),
    }
    dispatch(pen, Area { y: inner.bottom() - foot + 4.0, h: foot - 4.0, ..inner }, device);
}

/// hctx->dispatch, and how many the driver has.
fn dispatch(pen: &mut Pen, a: Area, device: &DeviceView) {
    pen.line((a.x, a.y), (a.x + a.w, a.y), Ink::Line, 1.0, 1.0);
    let at_driver = tags::taken(&device.tags).to_string();
    let left = ["hctx->dispatch ", &device.dispatch.len().to_string()].concat();
    let long = [&at_driver, " of ", &device.tags.depth.to_string(), " driver tags"].concat();
    caption(pen, Area { y: a.y + 4.0, ..a }, &left, &[&long, &[&at_driver, " at the driver"].concat()], Ink::Dim);
    let all: Vec<&RequestView> = device.dispatch.iter().collect();
    if !all.is_empty() {
        requests(pen, Area { y: a.y + 19.0, h: 6.0, ..a }, &all, 9.0);
    }
}

/// Without a scheduler: what waits in the CPUs' lists.
fn ctx_lists(pen: &mut Pen, a: Area, queued: &[RequestView]) {
    if queued.is_empty() {
        let words = "Requests go straight to the driver; those without a tag wait here.";
        pen.wrapped((a.x, a.y + 12.0), words, Ink::Dim, Font::Small, a.w, 3);
        return;
    }
    let n = text::count(queued.len() as u64, "request", "requests");
    caption(pen, a, "rq_lists", &[&n], Ink::Dim);
    let all: Vec<&RequestView> = queued.iter().collect();
    let per = ((a.w / 9.0) as usize).max(1);
    let lines = (((a.h - 20.0) / 12.0) as usize).max(1);
    for (n, row) in all.chunks(per).take(lines).enumerate() {
        requests(pen, Area::new(a.x, a.y + 18.0 + n as f32 * 12.0, a.w, 10.0), row, 9.0);
    }
}
