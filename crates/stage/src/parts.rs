//! "Where a MiB's time goes": seek, rotate and transfer of the drive in ms per MiB, A over B.
//!
//! Models: the drive's own accounting ([`DriveTime`]).
//! Rule: waste is red (rotate hatched at 60 %), transfer is dim, a zone reset is accent; bars share one scale.
//! Leaves out: the host's stages.

use bioscope_core::observe::stats::DriveTime;

use crate::lane::Side;
use crate::shape::{Align, DisplayList, Font, Ink, Shape};
use crate::text;

/// Milliseconds per MiB moved.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PerMib {
    pub seek: f64,
    pub rotate: f64,
    pub transfer: f64,
    pub reset: f64,
}

impl PerMib {
    /// Together.
    pub fn total(&self) -> f64 {
        self.seek + self.rotate + self.transfer + self.reset
    }
}

/// Divides the drive's time by what it moved.
pub fn per_mib(time: &DriveTime) -> PerMib {
    if time.bytes == 0 {
        return PerMib::default();
    }
    let ms = |ns: u64| ns as f64 / 1e6 / (time.bytes as f64 / 1_048_576.0);
    PerMib { seek: ms(time.seek), rotate: ms(time.rotate), transfer: ms(time.transfer), reset: ms(time.reset) }
}

/// A part's name, value, and look.
fn parts(p: &PerMib) -> [(&'static str, f64, Ink, f32, bool); 4] {
    [
        ("seek", p.seek, Ink::Bad, 1.0, false),
        ("rotate", p.rotate, Ink::Bad, 0.6, true),
        ("reset", p.reset, Ink::Accent, 0.6, false),
        ("transfer", p.transfer, Ink::Dim, 0.75, false),
    ]
}

/// Height of [`bars`] for so many sides.
pub fn height(sides: usize) -> f32 {
    sides as f32 * 26.0 + 22.0
}

/// Bars with their sums and a legend.
pub fn bars(sides: &[(Side, PerMib)], width: f32) -> DisplayList {
    let mut out = DisplayList::new();
    let longest = sides.iter().map(|s| s.1.total()).fold(0.0, f64::max);
    let (x0, sum_w) = (22.0, 70.0);
    let room = width - x0 - sum_w;
    for (n, (side, p)) in sides.iter().enumerate() {
        let y = n as f32 * 26.0;
        let name = if *side == Side::A { "A" } else { "B" };
        out.push(text_at(4.0, y + 14.0, name.into(), side.ink(), Font::Title, Align::Left, 16.0));
        if longest <= 0.0 {
            let words = "appears once the drive has written".to_string();
            out.push(text_at(x0, y + 14.0, words, Ink::Dim, Font::Small, Align::Left, room + sum_w));
            continue;
        }
        let mut x = x0;
        for (_, value, fill, alpha, hatch) in parts(p) {
            let w = (value / longest) as f32 * room;
            if w > 0.2 {
                out.push(Shape::Rect { x, y: y + 2.0, w: (w - 1.0).max(0.5), h: 16.0, r: 2.0, fill, alpha, hatch });
            }
            x += w;
        }
        // What takes long has no room for hundredths, nor use for them.
        let sum = text::fixed(p.total(), if p.total() < 100.0 { 2 } else { 0 }) + " ms";
        out.push(text_at(width - 2.0, y + 14.0, sum, Ink::Text, Font::Mono, Align::Right, sum_w - 6.0));
    }
    legend(&mut out, sides, x0, sides.len() as f32 * 26.0 + 14.0, width);
    out
}

/// The parts that occur, in their looks.
fn legend(out: &mut DisplayList, sides: &[(Side, PerMib)], x0: f32, y: f32, width: f32) {
    let mut x = x0;
    for (n, (name, _, fill, alpha, hatch)) in parts(&PerMib::default()).into_iter().enumerate() {
        if name == "reset" && sides.iter().all(|s| parts(&s.1)[n].1 == 0.0) {
            continue;
        }
        out.push(Shape::Rect { x, y: y - 8.0, w: 9.0, h: 9.0, r: 2.0, fill, alpha, hatch });
        out.push(text_at(x + 14.0, y, name.into(), Ink::Dim, Font::Small, Align::Left, width - x - 14.0));
        x += 14.0 + Font::Small.width(name) + 14.0;
    }
}

fn text_at(x: f32, y: f32, text: String, ink: Ink, font: Font, align: Align, max: f32) -> Shape {
    Shape::Text { x, y, text: font.cut(&text, max), ink, font, align, max }
}

/// Headings and rows of the same.
pub fn table(sides: &[(Side, PerMib)]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let head = vec!["run", "seek ms/MiB", "rotate ms/MiB", "reset ms/MiB", "transfer ms/MiB", "sum ms/MiB"];
    let rows = sides
        .iter()
        .map(|(side, p)| {
            let name = if *side == Side::A { "A" } else { "B" };
            let mut row = vec![name.to_string()];
            row.extend([p.seek, p.rotate, p.reset, p.transfer, p.total()].map(|v| text::fixed(v, 2)));
            row
        })
        .collect();
    (head, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mib_of_transfer_costs_its_rate() {
        let time = DriveTime { transfer: 4_080_000, rotate: 2_000_000, bytes: 1 << 20, ..DriveTime::default() };
        let p = per_mib(&time);
        let (head, rows) = table(&[(Side::A, p)]);
        assert_eq!(rows, [["A", "0.00", "2.00", "0.00", "4.08", "6.08"].map(String::from)]);
        assert_eq!(head.len(), rows[0].len());
        let hatched =
            bars(&[(Side::A, p)], 300.0).iter().filter(|s| matches!(s, Shape::Rect { hatch: true, .. })).count();
        assert_eq!(hatched, 2, "bar and legend");
        assert_eq!(per_mib(&DriveTime::default()).total(), 0.0);
    }
}
