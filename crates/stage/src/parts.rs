//! "Where a MiB's time goes": seek, rotate and transfer of the drive in ms per MiB, A over B.
//!
//! Models: the drive's own accounting ([`DriveTime`]).
//! Rule: waste is red (rotate hatched at 60 %), transfer is dim; both bars share one scale.
//! Leaves out: the host's stages.

use bioscope_core::observe::stats::DriveTime;

use crate::lane::Side;
use crate::shape::DisplayList;

/// Milliseconds per MiB moved.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct PerMib {
    pub seek: f64,
    pub rotate: f64,
    pub transfer: f64,
    pub reset: f64,
}

/// Divides the drive's time by what it moved.
pub fn per_mib(time: &DriveTime) -> PerMib {
    if time.bytes == 0 {
        return PerMib::default();
    }
    let ms = |ns: u64| ns as f64 / 1e6 / (time.bytes as f64 / 1_048_576.0);
    PerMib { seek: ms(time.seek), rotate: ms(time.rotate), transfer: ms(time.transfer), reset: ms(time.reset) }
}

/// Bars with their legend, one a side; 20 px a bar plus the legend: [`height`].
pub fn bars(sides: &[(Side, PerMib)], width: f32) -> DisplayList {
    let _ = (sides, width);
    Vec::new()
}

/// Height of [`bars`] for so many sides.
pub fn height(sides: usize) -> f32 {
    sides as f32 * 26.0 + 22.0
}

/// Headings and rows of the same.
pub fn table(sides: &[(Side, PerMib)]) -> (Vec<&'static str>, Vec<Vec<String>>) {
    let _ = sides;
    (Vec::new(), Vec::new())
}
