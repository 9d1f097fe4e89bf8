//! Which cached command goes to the medium next, and how many the cache admits.
//!
//! Models: the rule of disk 1, fitted to published tables (no source describes the firmware).
//! Rule: stay in the zone while it has cached data and fewer than r commands were written in this visit; else go to
//! the zone of the oldest command, or of the k other zones with the oldest commands the one reached first.
//! Leaves out: the arm and the clock; the caller passes costs in.

use super::Cmd;
use crate::config::DriveProfile;
use crate::fifo::Fifo;
use crate::time::SimDuration;
use crate::units::ZoneNo;

/// Most candidates a profile may name.
const MAX_CANDIDATES: usize = 16;

/// Commands the cache admits while `waiting` more wait in the drive: W(w) = max(Wmin, P - c w).
pub fn window(p: &DriveProfile, waiting: u32) -> u32 {
    let lost = u64::from(p.slots_per_waiting_milli) * u64::from(waiting) / 1000;
    u64::from(p.slots).saturating_sub(lost).max(u64::from(p.window_min)) as u32
}

/// Position in `cache` (oldest first, not empty) of the command to write next.
///
/// `head` is the zone the head is over, `visit` the commands written there since it came; `cost` gives the time to
/// the first sector of a command's zone.
pub fn choose(
    p: &DriveProfile,
    cache: &Fifo<Cmd>,
    head: ZoneNo,
    visit: u32,
    mut cost: impl FnMut(&Cmd) -> SimDuration,
) -> usize {
    let here = cache.iter().position(|c| c.zone == head);
    if let Some(i) = here
        && (visit < p.visit_commands || i == 0)
    {
        return i;
    }
    let k = (p.candidates as usize).clamp(1, MAX_CANDIDATES);
    let mut seen = [head; MAX_CANDIDATES];
    let mut found = 0;
    let mut best: Option<(SimDuration, usize)> = None;
    for (i, c) in cache.iter().enumerate() {
        if c.zone == head || seen[..found].contains(&c.zone) {
            continue;
        }
        seen[found] = c.zone;
        found += 1;
        let t = cost(c);
        if best.is_none_or(|(b, _)| t < b) {
            best = Some((t, i));
        }
        if found == k {
            break;
        }
    }
    best.map_or(0, |(_, i)| i)
}
