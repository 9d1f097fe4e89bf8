//! What the device can do: the peak rate.
//!
//! Models: bfq_update_peak_rate, bfq_update_rate_reset, bfq_calc_max_budget, bfq_wr_duration (kernel 4.5).
//! Rule: over about a second of dispatches, sectors per time; the more of them were sequential, the more the new value
//! counts. A lower rate is believed only of mostly sequential ones.
//! Leaves out: nothing of these.

use crate::time::{MS, SEC, SimDuration, SimTime};
use crate::units::Sector;

/// Fixed point of rates: sectors/us times 2^16.
const SHIFT: u32 = 16;
/// Peak rates of the reference devices, flash and rotational (257 and 109 MB/s), and how long an interactive task takes
/// there, ms.
const REFERENCE: [(u64, u64); 2] = [(33_000, 2500), (14_000, 7000)];
const MIN_SAMPLES: u64 = 32;
const MIN_INTERVAL: SimDuration = 300 * MS;
const REF_INTERVAL: SimDuration = SEC;
/// A pause this short between a completion and the next dispatch leaves the device busy.
pub(super) const MIN_THINK: SimDuration = 2 * MS;

/// See the module.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    /// sectors/us, fixed point.
    peak: u64,
    rotational: bool,
    first_dispatch: SimTime,
    last_dispatch: SimTime,
    last_completion: SimTime,
    samples: u64,
    sequential: u64,
    sectors: u64,
    largest: u64,
}

impl Rate {
    /// Two thirds of the reference device.
    pub fn new(rotational: bool) -> Self {
        let peak = REFERENCE[usize::from(rotational)].0 * 2 / 3;
        Self {
            peak,
            rotational,
            first_dispatch: 0,
            last_dispatch: 0,
            last_completion: 0,
            samples: 0,
            sequential: 0,
            sectors: 0,
            largest: 0,
        }
    }
    /// sectors/s
    pub fn per_second(&self) -> u64 {
        (self.peak * 1_000_000) >> SHIFT
    }
    /// What is served at the peak rate in a time, sectors.
    pub fn budget(&self, time: SimDuration) -> u32 {
        ((u128::from(self.peak) * u128::from(time / 1000)) >> SHIFT).min(u128::from(u32::MAX)) as u32
    }
    /// How long an interactive task may be on this device.
    pub fn raise_duration(&self) -> SimDuration {
        let (rate, ms) = REFERENCE[usize::from(self.rotational)];
        (rate * ms / self.peak).clamp(3000, 25_000) * MS
    }

    fn restart(&mut self, first: Option<(SimTime, Sector)>) {
        self.samples = 0;
        if let Some((now, sectors)) = first {
            self.first_dispatch = now;
            self.samples = 1;
            self.sequential = 0;
            self.sectors = sectors;
            self.largest = sectors;
        }
    }

    fn conclude(&mut self, first: Option<(SimTime, Sector)>) {
        let length = self.last_dispatch.max(self.last_completion).saturating_sub(self.first_dispatch);
        if self.samples >= MIN_SAMPLES && length >= MIN_INTERVAL {
            let rate = (self.sectors << SHIFT) / (length / 1000);
            let steady = self.sequential >= self.samples * 3 / 4 || rate > self.peak;
            if steady && rate <= 20 << SHIFT {
                let weight = (9 * self.sequential / self.samples * length / REF_INTERVAL).min(8);
                let parts = 10 - weight;
                self.peak = (self.peak * (parts - 1) / parts + rate / parts).max(1);
            }
        }
        self.restart(first);
    }

    /// A request goes to the driver.
    pub fn dispatched(&mut self, now: SimTime, sectors: u32, seeky: bool, in_driver: u32) {
        let n = u64::from(sectors);
        if self.samples == 0 {
            self.restart(Some((now, n)));
        } else if now.saturating_sub(self.last_dispatch) > 100 * MS && in_driver == 0 {
            self.conclude(Some((now, n)));
        } else {
            self.samples += 1;
            let busy = in_driver > 0 || now.saturating_sub(self.last_completion) < MIN_THINK;
            self.sequential += u64::from(busy && !seeky);
            self.sectors += n;
            self.largest = if self.samples.is_multiple_of(32) { n } else { self.largest.max(n) };
            if now.saturating_sub(self.first_dispatch) >= REF_INTERVAL {
                // The interval ends with this dispatch.
                self.last_dispatch = now;
                self.conclude(Some((now, n)));
            }
        }
        self.last_dispatch = now;
    }

    /// A request came back. After a pause that no request accounts for the device was idle: the interval is void.
    pub fn completed(&mut self, now: SimTime) {
        let us = now.saturating_sub(self.last_completion) / 1000;
        if us > MIN_THINK / 1000 && (self.largest << SHIFT) / us < 1 << (SHIFT - 10) {
            self.conclude(None);
        }
        self.last_completion = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Back to back reads of 256 sectors every `ns`.
    fn stream(r: &mut Rate, ns: u64, n: u64, seeky: bool) {
        let from = r.last_completion + 1;
        for i in 0..n {
            r.dispatched(from + i * ns, 256, seeky, 1);
            r.completed(from + (i + 1) * ns);
        }
    }

    #[test]
    fn section_4_5_the_peak_rate_is_learned() {
        let mut r = Rate::new(true);
        assert_eq!(r.per_second(), 142_410);
        assert_eq!(r.budget(125 * MS), 17_801);
        // 256 sectors in 0.5 ms are 512,000 sectors/s.
        stream(&mut r, 500_000, 20_000, false);
        assert!(r.per_second().abs_diff(512_000) < 5_000, "{}", r.per_second());
        assert_eq!(r.raise_duration(), 3000 * MS);
        // Seeky ones do not lower it.
        let learned = r.peak;
        stream(&mut r, 5_000_000, 2_000, true);
        assert!(r.peak.abs_diff(learned) < 100);
        stream(&mut r, 2_000_000, 20_000, false);
        assert!(r.per_second().abs_diff(128_000) < 2_000, "{}", r.per_second());
    }

    #[test]
    fn section_4_5_durations_of_raising() {
        assert_eq!(Rate::new(true).raise_duration(), 10_500 * MS);
        assert_eq!(Rate::new(false).raise_duration(), 3_750 * MS);
    }
}
