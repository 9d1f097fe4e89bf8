//! Pure functions from distances and positions to times: the only floats of the simulator.
//!
//! Models: seek time growing with the square root of the distance (disk 1), areal rate falling inward
//! with constant angular velocity and constant linear density.
//! Rule: each result is rounded once to an integer; only IEEE-exact operations (`libm::sqrt` among them) are used,
//! so native and WebAssembly agree.
//! Leaves out: head switches, skew (folded into the sustained rate).

use crate::time::SimDuration;

/// Sustained rate in bytes/s at the fraction `x` (0..=1) of all LBAs.
///
/// With constant linear density the rate is proportional to the radius, and the share of LBAs outside a radius grows
/// with its square.
pub fn rate_at(rate_outer: u64, rate_inner: u64, x: f64) -> f64 {
    let outer = rate_outer as f64;
    let q = rate_inner as f64 / outer;
    outer * libm::sqrt(1.0 - x * (1.0 - q * q))
}

/// Radial position (0 = outer, 1 = inner) at the fraction `x` of all LBAs.
pub fn stroke_at(rate_outer: u64, rate_inner: u64, x: f64) -> f64 {
    let outer = rate_outer as f64;
    let q = rate_inner as f64 / outer;
    if q >= 1.0 {
        return x;
    }
    (1.0 - rate_at(rate_outer, rate_inner, x) / outer) / (1.0 - q)
}

/// Seek time over `distance` (fraction of the stroke), settling included, ns.
pub fn seek_ns(settle_ns: SimDuration, seek_full_ns: SimDuration, distance: f64) -> SimDuration {
    settle_ns + libm::round(seek_full_ns as f64 * libm::sqrt(distance)) as SimDuration
}
