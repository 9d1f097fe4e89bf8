//! Simulated time in whole nanoseconds.
//!
//! Models: nothing of the kernel; it is the clock everything else is dated by.
//! Rule: state holds integers only, so that native and WebAssembly runs agree to the bit.
//! Leaves out: wall-clock time, which the core never sees.

/// A point in simulated time, ns since the first job started.
pub type SimTime = u64;
/// A length of simulated time, ns.
pub type SimDuration = u64;

/// One millisecond in ns.
pub const MS: SimDuration = 1_000_000;
/// One second in ns.
pub const SEC: SimDuration = 1_000_000_000;
