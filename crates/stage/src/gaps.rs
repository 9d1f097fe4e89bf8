//! Gaps between a disk's commands as bars, published shares as rings.
//!
//! Models: the D-stage histogram of the published listing (kernel 2.5).
//! Rule: a bucket is named by its upper bound, which belongs to it; empty ones at either end are left out.
//! Leaves out: counting ([`bioscope_session::order`]).

use bioscope_session::order::GAPS;

use crate::lane::Side;
use crate::shape::{Align, DisplayList, Font, Ink, Shape};
use crate::table::Table;
use crate::text;

/// A run's counts, and its published shares in percent as far as there are any.
pub type Run<'a> = (Side, &'a [u64; GAPS], &'a [Option<f64>]);

/// Upper bound of a bucket: `64k`.
fn name(bucket: usize) -> String {
    match bucket {
        0 => "0".into(),
        n if n > 20 => [&(1u64 << (n - 21)).to_string(), "G"].concat(),
        n if n > 10 => [&(1u64 << (n - 11)).to_string(), "M"].concat(),
        n => [&(1u64 << (n - 1)).to_string(), "k"].concat(),
    }
}

/// `2^(n-1)` to `2^n` KiB: the name is the upper bound.
fn label(bucket: usize) -> String {
    if bucket == 0 { name(0) } else { name(bucket + 1) }
}

fn share(counts: &[u64; GAPS], bucket: usize) -> f64 {
    let all: u64 = counts.iter().sum();
    if all == 0 { 0.0 } else { counts[bucket] as f64 * 100.0 / all as f64 }
}

/// Buckets that are shown: 0, and those from the first to the last that has anything.
fn buckets(runs: &[Run]) -> Vec<usize> {
    let used = |b: &usize| runs.iter().any(|r| r.1[*b] > 0 || r.2.get(*b).is_some_and(|p| p.is_some_and(|v| v > 0.0)));
    let first = (1..GAPS).find(used).unwrap_or(6).min(6);
    let last = (1..GAPS).rev().find(used).unwrap_or(10).max(first + 4).min(GAPS - 1);
    std::iter::once(0).chain(first..=last).collect()
}

/// The bars.
pub fn bars(runs: &[Run], width: f32, height: f32) -> DisplayList {
    let mut out = DisplayList::new();
    let shown = buckets(runs);
    let published = |r: &Run, b: usize| r.2.get(b).copied().flatten();
    let values = runs.iter().flat_map(|r| shown.iter().map(|b| share(r.1, *b).max(published(r, *b).unwrap_or(0.0))));
    let top = values.fold(20.0, f64::max);
    // Lines at 25 %, or at 10 where all is low.
    let step = if top > 30.0 { 25.0 } else { 10.0 };
    let most = ((top / step).ceil() * step).max(step);
    let (left, bottom) = (38.0, height - 18.0);
    let y = |v: f64| bottom - (v / most) as f32 * (bottom - 10.0);
    let mut line = 0.0;
    while line <= most {
        let (y0, stroke, alpha) = (y(line), Ink::Line, 1.0);
        out.push(Shape::Line { x0: left, y0, x1: width, y1: y0, stroke, width: 1.0, alpha, dash: false });
        let text = text::fixed(line, 0) + "%";
        let (ink, font, align, max) = (Ink::Dim, Font::Small, Align::Right, left);
        out.push(Shape::Text { x: left - 6.0, y: y0 + 4.0, text, ink, font, align, max });
        line += step;
    }
    let pitch = (width - left) / shown.len() as f32;
    let bar = (pitch * 0.8 / runs.len().max(1) as f32).min(16.0);
    let every = (30.0 / pitch).ceil().max(1.0) as usize;
    for (n, bucket) in shown.iter().enumerate() {
        let middle = left + (n as f32 + 0.5) * pitch;
        for (i, run) in runs.iter().enumerate() {
            let x = middle + (i as f32 - runs.len() as f32 / 2.0) * bar;
            let value = share(run.1, *bucket);
            if value > 0.0 {
                let (y, w, h) = (y(value), bar - 1.0, bottom - y(value));
                out.push(Shape::Rect { x, y, w, h, r: 1.5, fill: run.0.ink(), alpha: 1.0, hatch: false });
            }
            if let Some(value) = published(run, *bucket) {
                let (x, y, stroke) = (x + bar / 2.0 - 0.5, y(value), run.0.ink());
                out.push(Shape::Disc { x, y, r: 3.5, fill: Ink::Panel, alpha: 1.0 });
                out.push(Shape::Ring { x, y, r: 3.5, stroke, width: 1.5, alpha: 1.0 });
            }
        }
        if n.is_multiple_of(every) {
            let (ink, font, align, max) = (Ink::Dim, Font::Small, Align::Center, 40.0);
            out.push(Shape::Text { x: middle, y: height - 4.0, text: label(*bucket), ink, font, align, max });
        }
    }
    out
}

/// The same as a table.
pub fn table(runs: &[Run]) -> Table {
    let letters = |side: &Side| if *side == Side::A { ["A %", "A published"] } else { ["B %", "B published"] };
    let mut head = vec!["gap up to"];
    for run in runs {
        head.extend(letters(&run.0));
    }
    let row = |bucket: &usize| {
        let mut row = vec![label(*bucket)];
        for run in runs {
            let printed = run.2.get(*bucket).copied().flatten();
            row.push(text::fixed(share(run.1, *bucket), 1));
            row.push(printed.map_or_else(|| "–".into(), |v| text::fixed(v, 1)));
        }
        row
    };
    let rows = buckets(runs).iter().map(row).collect();
    Table { title: "Gap between commands of one disk".into(), head, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_shares_and_rings_are_published() {
        let mut counts = [0; GAPS];
        (counts[0], counts[6]) = (3, 1);
        let mut printed = [None; GAPS];
        (printed[0], printed[6], printed[7]) = (Some(75.0), Some(25.0), Some(0.0));
        let runs: [Run; 2] = [(Side::A, &counts, &printed), (Side::B, &counts, &[])];
        let rows = table(&runs).rows;
        assert_eq!(rows[0], ["0", "75.0", "75.0", "75.0", "–"]);
        assert_eq!(rows[1], ["64k", "25.0", "25.0", "25.0", "–"]);
        assert_eq!(rows.iter().map(|r| r[0].as_str()).collect::<Vec<_>>(), ["0", "64k", "128k", "256k", "512k", "1M"]);
        let drawn = bars(&runs, 300.0, 150.0);
        let count = |f: fn(&Shape) -> bool| drawn.iter().filter(|s| f(s)).count();
        assert_eq!(count(|s| matches!(s, Shape::Ring { .. })), 3);
        assert_eq!(count(|s| matches!(s, Shape::Rect { .. })), 4);
        let inside = |s: &Shape| match s {
            Shape::Rect { x, y, w, h, .. } => *x >= 38.0 && x + w <= 300.0 && *y >= 0.0 && y + h <= 150.0,
            _ => true,
        };
        assert!(drawn.iter().all(inside));
        assert_eq!(
            bars(&[(Side::A, &[0; GAPS], &[])], 300.0, 150.0)
                .iter()
                .filter(|s| matches!(s, Shape::Rect { .. }))
                .count(),
            0
        );
        assert_eq!([20, 21, GAPS - 1].map(label), ["1G", "2G", "128G"]);
    }
}
