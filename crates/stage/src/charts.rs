//! Charts: throughput per setting (plotters, any backend) and bandwidth over time (shapes).
//!
//! Models: nothing.
//! Rule: captions, legends and units are HTML beside the chart, and labels are placed here by hand: plotters' own
//! mesh, captions and series labels measure text through the DOM, which the page's policy refuses.
//! Leaves out: computing the points.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::FontFamily;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::lane::Side;
use crate::palette::{Palette, Rgb};
use crate::shape::{DisplayList, Ink, Shape};
use crate::text;

/// Throughput per setting. Values of the setting are categories, evenly spaced (1, 2, 4 … reads as a log axis).
pub struct Sweep<'a> {
    /// The setting's values, ascending.
    pub settings: &'a [f64],
    /// Simulated: side, index in `settings`, MiB/s; in any order, missing ones are not yet computed.
    pub points: &'a [(Side, usize, f64)],
    /// Published: the same.
    pub published: &'a [(Side, usize, f64)],
    /// The value of the shown run.
    pub current: Option<f64>,
}

type Drawn<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// Draws it on a backend of `css size x scale` pixels; `scale` multiplies fonts and strokes.
pub fn sweep<DB: DrawingBackend>(backend: DB, data: &Sweep, palette: &Palette, scale: f64) -> Drawn<DB> {
    let root = backend.into_drawing_area();
    root.fill(&color(palette.panel))?;
    let frame = Frame::new(root, data, palette, scale);
    frame.axes(data)?;
    frame.current(data)?;
    let sides = [Side::B, Side::A];
    for side in sides {
        frame.line(data, side)?;
    }
    for side in sides {
        frame.rings(data, side)?;
    }
    frame.names(data)?;
    frame.root.present()
}

fn color(c: Rgb) -> RGBColor {
    RGBColor(c.0, c.1, c.2)
}

/// Distance of grid lines: 1, 2 or 5 times a power of ten, three or four lines.
fn grid_step(max: f64) -> f64 {
    let mut step = 1.0;
    for factor in [2.0, 2.5, 2.0].into_iter().cycle() {
        if max / step < 4.5 || step > 1e12 {
            break;
        }
        step *= factor;
    }
    step
}

/// The plotting area in pixels.
struct Frame<'a, DB: DrawingBackend> {
    root: DrawingArea<DB, Shift>,
    palette: &'a Palette,
    scale: f64,
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    categories: usize,
    y_max: f64,
}

impl<'a, DB: DrawingBackend> Frame<'a, DB> {
    fn new(root: DrawingArea<DB, Shift>, data: &Sweep, palette: &'a Palette, scale: f64) -> Self {
        let (w, h) = root.dim_in_pixel();
        let values = data.points.iter().chain(data.published).map(|p| p.2);
        let y_max = values.fold(0.0, f64::max).max(1.0) * 1.12;
        // Four digits are written with a separator.
        let gutter = if y_max >= 1000.0 { 42.0 } else { 34.0 };
        let (left, right, top, bottom) = (gutter * scale, 18.0 * scale, 8.0 * scale, 22.0 * scale);
        let (width, height) = (f64::from(w) - left - right, f64::from(h) - top - bottom);
        Self { root, palette, scale, left, top, width, height, categories: data.settings.len(), y_max }
    }
    fn at(&self, index: f64, value: f64) -> (i32, i32) {
        let x = self.left + self.width * index / (self.categories.max(2) - 1) as f64;
        let y = self.top + self.height * (1.0 - value / self.y_max);
        (x.round() as i32, y.round() as i32)
    }
    fn px(&self, css: f64) -> u32 {
        (css * self.scale).round().max(1.0) as u32
    }
    fn ink(&self, side: Side) -> RGBColor {
        color(self.palette.ink(side.ink()))
    }
    fn label(&self, text: String, at: (i32, i32), ink: RGBColor, h: HPos, v: VPos) -> Drawn<DB> {
        let font = (FontFamily::Name("system-ui, sans-serif"), 11.0 * self.scale).into_font();
        let style = TextStyle::from(font).color(&ink).pos(Pos::new(h, v));
        self.root.draw(&Text::new(text, at, style))
    }
    fn path(&self, points: Vec<(i32, i32)>, ink: RGBColor, css_width: f64) -> Drawn<DB> {
        self.root.draw(&PathElement::new(points, ink.stroke_width(self.px(css_width))))
    }

    /// Grid, y labels from 0, a label a setting.
    fn axes(&self, data: &Sweep) -> Drawn<DB> {
        let (line, dim) = (color(self.palette.line), color(self.palette.dim));
        let last = self.categories.max(2) as f64 - 1.0;
        let step = grid_step(self.y_max);
        let mut value = 0.0;
        while value <= self.y_max {
            let (start, end) = (self.at(0.0, value), self.at(last, value));
            self.path(vec![start, end], line, 1.0)?;
            let at = (start.0 - (8.0 * self.scale) as i32, start.1);
            self.label(text::fixed(value, 0), at, dim, HPos::Right, VPos::Center)?;
            value += step;
        }
        // Labels that would touch are left out, the last one never.
        let every = (26.0 * self.scale * last / self.width.max(1.0)).ceil().max(1.0) as usize;
        for (n, setting) in data.settings.iter().enumerate() {
            if (data.settings.len() - 1 - n).is_multiple_of(every) {
                let (x, y) = self.at(n as f64, 0.0);
                let digits = u32::from(setting.fract() != 0.0);
                let at = (x, y + (6.0 * self.scale) as i32);
                self.label(text::fixed(*setting, digits), at, dim, HPos::Center, VPos::Top)?;
            }
        }
        Ok(())
    }
    /// Dashed line at the setting of the shown run.
    fn current(&self, data: &Sweep) -> Drawn<DB> {
        let Some(index) = data.current.and_then(|v| place(data.settings, v)) else { return Ok(()) };
        let accent = color(self.palette.accent);
        let (x, bottom) = self.at(index, 0.0);
        let dash = self.px(4.0) as i32;
        let mut y = self.top as i32;
        while y < bottom {
            self.path(vec![(x, y), (x, (y + dash).min(bottom))], accent, 1.0)?;
            y += 2 * dash;
        }
        Ok(())
    }
    fn sorted(&self, points: &[(Side, usize, f64)], side: Side) -> Vec<(i32, i32)> {
        let at = |n| points.iter().find(|p| p.0 == side && p.1 == n).map(|p| self.at(n as f64, p.2));
        (0..self.categories).filter_map(at).collect()
    }
    fn line(&self, data: &Sweep, side: Side) -> Drawn<DB> {
        let points = self.sorted(data.points, side);
        if points.len() > 1 {
            self.path(points.clone(), self.ink(side), 2.0)?;
        }
        for point in points {
            self.root.draw(&Circle::new(point, self.px(2.5), self.ink(side).filled()))?;
        }
        Ok(())
    }
    fn rings(&self, data: &Sweep, side: Side) -> Drawn<DB> {
        for point in self.sorted(data.published, side) {
            let ring = self.ink(side).stroke_width(self.px(1.5));
            self.root.draw(&Circle::new(point, self.px(4.5), ring))?;
        }
        Ok(())
    }
    /// The sides' names at the ends of their lines, apart where the lines meet.
    fn names(&self, data: &Sweep) -> Drawn<DB> {
        let end = |side| self.sorted(data.points, side).last().copied();
        let (a, b) = (end(Side::A), end(Side::B));
        let near = a.zip(b).is_some_and(|(a, b)| (a.1 - b.1).abs() < self.px(12.0) as i32);
        let (dx, dy) = (self.px(8.0) as i32, if near { self.px(7.0) as i32 } else { 0 });
        for (side, name, end, dy) in [(Side::A, "A", a, dy), (Side::B, "B", b, -dy)] {
            if let Some((x, y)) = end {
                self.label(name.into(), (x + dx, y + dy), self.ink(side), HPos::Left, VPos::Center)?;
            }
        }
        Ok(())
    }
}

/// Index of a value among ascending settings, in proportion between two of them; `None` outside.
fn place(settings: &[f64], value: f64) -> Option<f64> {
    let after = settings.iter().position(|s| *s >= value)?;
    if settings[after] == value {
        return Some(after as f64);
    }
    let before = settings[after.checked_sub(1)?];
    Some(after as f64 - 1.0 + (value - before) / (settings[after] - before))
}

/// Bandwidth over the whole run: MiB/s per bin of equal length, one line a side, and the cursor (0..=1 of the run).
pub fn overview(a: &[f32], b: Option<&[f32]>, cursor: f32, width: f32, height: f32) -> DisplayList {
    let mut out = DisplayList::new();
    out.push(Shape::Rect { x: 0.0, y: 0.0, w: width, h: height, r: 6.0, fill: Ink::Track, alpha: 0.6, hatch: false });
    let b = b.unwrap_or_default();
    let max = a.iter().chain(b).copied().fold(1.0, f32::max) * 1.1;
    for (values, stroke) in [(b, Ink::B), (a, Ink::A)] {
        if values.len() > 1 {
            let points = thinned(values, width, height, max);
            out.push(Shape::Poly { points, stroke, width: 1.5, alpha: 1.0 });
        }
    }
    let x = (cursor * width).min(width - 1.0).max(1.0);
    let (stroke, alpha) = (Ink::Text, 1.0);
    out.push(Shape::Line { x0: x, y0: 0.0, x1: x, y1: height, stroke, width: 1.5, alpha, dash: false });
    out
}

/// At most one smallest and one largest value a pixel, in their order.
fn thinned(values: &[f32], width: f32, height: f32, max: f32) -> Vec<(f32, f32)> {
    let last = (values.len() - 1) as f32;
    let y = |v: f32| height - 2.0 - v / max * (height - 4.0);
    if last <= width {
        return values.iter().enumerate().map(|(n, v)| (n as f32 / last * width, y(*v))).collect();
    }
    let group = (last / width).ceil() as usize;
    let mut points = Vec::new();
    for (n, chunk) in values.chunks(group).enumerate() {
        let x = (n * group) as f32 / last * width;
        let low = chunk.iter().copied().fold(f32::MAX, f32::min);
        let high = chunk.iter().copied().fold(0.0, f32::max);
        let rising = chunk[0] <= chunk[chunk.len() - 1];
        let pair = if rising { [low, high] } else { [high, low] };
        points.extend(pair.map(|v| (x, y(v))));
    }
    points
}

/// When settings are written in a run, over [`overview`]: A's from above, B's from below.
pub fn changes(side: Side, times: &[u64], known: u64, width: f32, height: f32) -> DisplayList {
    let mark = |at: &u64| {
        let x = (*at as f32 / known.max(1) as f32).min(1.0) * width;
        let (end, near) = if side == Side::A { (0.0, 3.5) } else { (height, height - 3.5) };
        let stroke = side.ink();
        let line = Shape::Line { x0: x, y0: end, x1: x, y1: height / 2.0, stroke, width: 1.0, alpha: 0.9, dash: false };
        let x = x.max(3.0).min(width - 3.0);
        [line, Shape::Disc { x, y: near, r: 3.0, fill: stroke, alpha: 1.0 }]
    };
    times.iter().filter(|t| **t <= known).flat_map(mark).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn writes_stand_on_the_time_axis() {
        let of = |side| super::changes(side, &[0, 500, 2_000], 1_000, 200.0, 40.0);
        let discs = |side| -> Vec<(f32, f32)> {
            let disc = |s: &Shape| if let Shape::Disc { x, y, .. } = s { Some((*x, *y)) } else { None };
            of(side).iter().filter_map(disc).collect()
        };
        assert_eq!(discs(Side::A), [(3.0, 3.5), (100.0, 3.5)], "one is later than what is known");
        assert_eq!(discs(Side::B)[1], (100.0, 36.5));
    }

    use super::*;
    use crate::palette::DARK;

    #[test]
    fn settings_between_two_points_have_their_place() {
        let depths = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(place(&depths, 4.0), Some(2.0));
        assert_eq!(place(&depths, 3.0), Some(1.5));
        assert_eq!(place(&depths, 9.0), None);
        assert_eq!(place(&depths, 0.5), None);
    }

    #[test]
    fn grid_has_three_to_five_lines() {
        for (max, step) in [(274.0, 100.0), (60.0, 20.0), (12.0, 5.0), (1.1, 1.0), (5_000.0, 2_000.0)] {
            assert_eq!(grid_step(max), step, "{max}");
        }
    }

    #[test]
    fn overview_thins_to_two_points_a_pixel() {
        let many: Vec<f32> = (0..10_000).map(|n| (n % 250) as f32).collect();
        let list = overview(&many, None, 0.5, 200.0, 40.0);
        let points =
            list.iter().find_map(|s| if let Shape::Poly { points, .. } = s { Some(points.len()) } else { None });
        assert!(points.is_some_and(|n| n <= 402), "{points:?}");
        assert!(overview(&[], None, 0.0, 200.0, 40.0).len() == 2, "empty run: ground and cursor");
    }

    #[test]
    fn published_points_are_rings_and_simulated_ones_discs() {
        let data = Sweep {
            settings: &[1.0, 2.0, 4.0],
            points: &[(Side::A, 1, 200.0), (Side::A, 0, 240.0)],
            published: &[(Side::A, 0, 244.0)],
            current: Some(2.0),
        };
        let mut svg = String::new();
        sweep(SVGBackend::with_string(&mut svg, (300, 180)), &data, &DARK, 1.0).unwrap();
        let circles: Vec<&str> = svg.lines().filter(|l| l.starts_with("<circle")).collect();
        assert_eq!(circles.len(), 3, "{svg}");
        assert_eq!(circles.iter().filter(|c| c.contains("fill=\"none\"")).count(), 1);
    }
}
