//! kyber: a row a domain with its tokens, its queue and the latencies of the running window.
//!
//! Models: domains, token depths, histograms of eight buckets a quarter of the target wide (kernel 4.4).
//! Rule: a bar is as long as the tokens there may be, dim as far as there are, bright as far as they are in use; buckets above
//! the target are red.
//! Leaves out: lists by CPU; a domain's stand one after the other.

use bioscope_core::observe::snapshot::{KyberDomainView, KyberView, RequestView};

use super::requests;
use crate::lane::What;
use crate::lane::pen::{Area, Pen};
use crate::shape::{Font, Ink, within};
use crate::text;

/// Names as kyber has them.
pub const DOMAINS: [&str; 4] = ["READ", "WRITE", "DISCARD", "OTHER"];

/// What is dispatched now.
pub fn words(k: &KyberView) -> String {
    ["dispatching ", DOMAINS[k.cur_domain.min(3)], " · batching ", &k.batching.to_string()].concat()
}

/// Tokens in words.
pub fn token_words(d: &KyberDomainView) -> String {
    let words = [&d.in_use.to_string(), " of ", &d.depth.to_string(), " tokens"].concat();
    if d.waiting { words + ", waits" } else { words }
}

/// A duration without zeros behind the point.
fn whole(ns: u64) -> String {
    text::duration(ns).replace(".00", "").replace(".0", "")
}

/// The last judgement in words.
pub fn last_words(d: &KyberDomainView) -> String {
    let target = ["target ", &whole(d.target_ns)].concat();
    match d.last {
        Some((p99, bad)) => {
            // A bucket is a quarter of the target.
            let upper = d.target_ns / 4 * u64::from(p99.min(7) + 1);
            let over = if p99 >= 7 { " p99 over " } else { " p99 under " };
            let upper = if p99 >= 7 { d.target_ns / 4 * 7 } else { upper };
            [target.as_str(), ",", over, &whole(upper), if bad { ", p90 bad" } else { "" }].concat()
        }
        None => target,
    }
}

/// Draws its rows.
pub fn draw(pen: &mut Pen, a: Area, k: &KyberView) {
    let h = (a.h / 4.0).min(84.0);
    for (n, d) in k.domains.iter().enumerate() {
        domain(pen, Area { y: a.y + n as f32 * h, h: h - 6.0, ..a }, n, d, k.cur_domain == n);
    }
}

fn domain(pen: &mut Pen, a: Area, n: usize, d: &KyberDomainView, current: bool) {
    // No larger than they need to be: two histograms at the right.
    let chart = within(a.w * 0.17, 42.0, 84.0);
    let left = Area { w: a.w - 2.0 * chart - 24.0, ..a };
    let font = if current { Font::MonoBold } else { Font::Mono };
    let used = pen.text(a.x, a.y + 10.0, DOMAINS[n], Ink::Text, font, left.w);
    let room = left.w - used - 8.0;
    let tokens = token_words(d);
    let short = [&d.in_use.to_string(), " of ", &d.depth.to_string()].concat();
    let words = Pen::fitting(Font::Small, room, &[&tokens, &short]);
    if Font::Small.width(words) <= room {
        pen.text_right(left.x + left.w, a.y + 10.0, words, Ink::Dim, Font::Small, room);
    }
    let bar = Area { y: a.y + 15.0, h: 5.0, ..left };
    let part = |v: u32| bar.w * within(v as f32 / d.max_depth.max(1) as f32, 0.0, 1.0);
    pen.rect(bar, 2.0, Ink::Track, 1.0);
    pen.rect(Area { w: part(d.depth), ..bar }, 2.0, Ink::Dim, 0.55);
    pen.rect(Area { w: part(d.in_use), ..bar }, 2.0, Ink::Text, 1.0);
    pen.hit(Area { h: 22.0, ..left }, What::Domain(n as u8));
    let all: Vec<&RequestView> = d.queued.iter().collect();
    let y = a.y + 23.0;
    let lower = a.bottom() - y;
    if !all.is_empty() && lower >= 7.0 {
        requests(pen, Area::new(a.x, y, left.w, lower.min(9.0)), &all, 9.0);
    }
    let idle = d.last.is_none() && d.buckets[0].iter().all(|n| *n == 0);
    if lower >= 20.0 && !idle {
        let words = last_words(d);
        let short = ["target ", &whole(d.target_ns)].concat();
        let words = Pen::fitting(Font::Small, left.w, &[&words, &short]);
        pen.text(
            a.x,
            (y + if all.is_empty() { 10.0 } else { 22.0 }).min(a.bottom() - 3.0),
            words,
            Ink::Dim,
            Font::Small,
            left.w,
        );
    }
    let titles = ["total", "I/O"];
    for (i, buckets) in d.buckets.iter().enumerate().filter(|_| !idle || n == 0) {
        let x = left.x + left.w + 16.0 + i as f32 * (chart + 8.0);
        histogram(pen, Area { x, w: chart, ..a }, buckets, titles[i], n == 0);
    }
}

/// Eight bars and a line at the target.
fn histogram(pen: &mut Pen, a: Area, buckets: &[u32; 8], title: &str, titled: bool) {
    let top = if titled { a.y + 13.0 } else { a.y + 2.0 };
    if titled {
        pen.centered((a.x + a.w / 2.0, a.y + 8.0), title, Ink::Dim, Font::Small, a.w);
    }
    let most = buckets.iter().copied().max().unwrap_or(0).max(1) as f32;
    let pitch = a.w / 8.0;
    let bottom = a.bottom() - 1.0;
    pen.rect(Area::new(a.x, bottom, a.w, 1.0), 0.0, Ink::Line, 1.0);
    for (n, count) in buckets.iter().enumerate() {
        let h = (bottom - top) * *count as f32 / most;
        if *count > 0 {
            let bar = Area::new(a.x + n as f32 * pitch + 0.5, bottom - h.max(1.0), pitch - 1.0, h.max(1.0));
            pen.rect(bar, 0.0, if n < 4 { Ink::Dim } else { Ink::Bad }, 1.0);
        }
    }
    let x = a.x + 4.0 * pitch;
    pen.line((x, top - 1.0), (x, bottom), Ink::Text, 1.0, 0.7);
}
