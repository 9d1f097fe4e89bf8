//! Charts: throughput per setting (plotters, any backend) and bandwidth over time (shapes).
//!
//! Models: nothing.
//! Rule: captions, legends and units are HTML beside the chart; nothing here measures text through the DOM.
//! Leaves out: computing the points.

use plotters::prelude::*;

use crate::lane::Side;
use crate::palette::Palette;
use crate::shape::DisplayList;

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

/// Draws it on a backend of `css size x scale` pixels; `scale` multiplies fonts and strokes.
pub fn sweep<DB: DrawingBackend>(
    backend: DB,
    data: &Sweep,
    palette: &Palette,
    scale: f64,
) -> Result<(), DrawingAreaErrorKind<DB::ErrorType>> {
    let _ = (data, palette, scale);
    backend.into_drawing_area().present()
}

/// Bandwidth over the whole run: MiB/s per bin of equal length, one line a side, and the cursor (0..=1 of the run).
pub fn overview(a: &[f32], b: Option<&[f32]>, cursor: f32, width: f32, height: f32) -> DisplayList {
    let _ = (a, b, cursor, width, height);
    Vec::new()
}
