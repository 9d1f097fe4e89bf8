//! Sine and cosine for pictures.
//!
//! Models: nothing.
//! Rule: right to a thousandth of a pixel on any screen, and the same everywhere. The standard library's are right to
//! the last bit for any angle, at 6 kB of code in the page.
//! Leaves out: exactness.

use core::f32::consts::{FRAC_PI_2, TAU};

/// Sine of an angle in radians.
pub fn sin(angle: f32) -> f32 {
    let turns = angle / TAU;
    let turns = turns - turns.round();
    // The second and third quarter turn mirror the first and last.
    let folded = if turns.abs() > 0.25 { 0.5f32.copysign(turns) - turns } else { turns };
    let x = folded * TAU;
    let s = x * x;
    x * (1.0 + s * (-1.0 / 6.0 + s * (1.0 / 120.0 + s * (-1.0 / 5_040.0 + s * (1.0 / 362_880.0)))))
}

/// Cosine of an angle in radians.
pub fn cos(angle: f32) -> f32 {
    sin(angle + FRAC_PI_2)
}

#[cfg(test)]
mod tests {
    #[test]
    fn right_enough_for_pictures() {
        for n in -1_000..1_000 {
            let angle = n as f32 / 50.0;
            let right = (f64::from(angle).sin(), f64::from(angle).cos());
            assert!((f64::from(super::sin(angle)) - right.0).abs() < 1e-5, "{angle}");
            assert!((f64::from(super::cos(angle)) - right.1).abs() < 1e-5, "{angle}");
        }
    }
}
