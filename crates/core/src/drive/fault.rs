//! Injected device errors: the first rule that covers a command decides.
//!
//! Models: a medium or device error for a range of sectors during a span of time.
//! Rule: faults wrap the drive; a failed command never reaches it, so the drive has no special case.
//! Leaves out: slow commands and lost completions.

use crate::config::FaultRule;
use crate::time::SimTime;
use crate::units::{BlkStatus, DevIdx, Sector};

/// What happens to a command of `nr_sectors` at `sector` that arrives now; `None` = it goes to the drive.
pub fn verdict(
    rules: &[FaultRule],
    dev: DevIdx,
    sector: Sector,
    nr_sectors: Sector,
    now: SimTime,
) -> Option<BlkStatus> {
    rules
        .iter()
        .find(|r| {
            r.dev == dev
                && (r.from..r.until).contains(&now)
                && sector < r.sector.saturating_add(r.nr_sectors)
                && r.sector < sector + nr_sectors.max(1)
        })
        .map(|r| r.status)
}
