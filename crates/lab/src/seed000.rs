//! The 44 cells of seed 000: which configuration reproduces each.
//!
//! Models: decisions on row settings (sequential 26 zones, random zones with first fill, packed writeback).
//! Rule: a cell's configuration comes from its preset's row settings, so chart, `sweep` and `validate` agree.
//! Leaves out: the fit.

use bioscope_core::config::{DeviceConfig, SimConfig, ZonePhase};
use bioscope_scenario::{Key, Side, Value, preset, validate};

use crate::published::{Row, SEED_000};

/// One published number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its line.
    pub row: &'static Row,
    /// With the worker (`patched`) or without (`baseline`).
    pub patched: bool,
}

impl Cell {
    /// The published figure, MiB/s.
    pub fn published(&self) -> f64 {
        if self.patched { self.row.patched } else { self.row.baseline }
    }
    /// `baseline` or `patched`.
    pub fn variant(&self) -> &'static str {
        if self.patched { "patched" } else { "baseline" }
    }
    /// `<table> <hba> <setting>`
    pub fn name(&self) -> String {
        format!("{} {} {}", self.row.table, self.row.hba, self.row.setting)
    }
    /// The run that stands for it.
    ///
    /// # Panics
    /// When the preset or its row settings are broken: they are part of the program and covered by tests.
    pub fn config(&self, seed: u64) -> SimConfig {
        let preset = preset::find(self.row.preset).expect("preset of a published row");
        let mut s = preset.row(self.row.value).expect("value of a published row");
        s.set(Side::A, Key::Seed, Value::Int(seed));
        validate(&s, if self.patched { Side::B } else { Side::A }).expect("row settings are valid")
    }
    /// The same with zones at random angles.
    pub fn config_random_phase(&self, seed: u64) -> SimConfig {
        let mut cfg = self.config(seed);
        for d in cfg.devices.iter_mut().filter_map(DeviceConfig::disk_mut) {
            d.zone_phase = ZonePhase::Random;
        }
        cfg
    }
}

/// All 44 cells: sequential baseline, sequential patched, random …, XFS ….
pub fn cells() -> Vec<Cell> {
    ["seq", "rand", "xfs"]
        .iter()
        .flat_map(|table| {
            [false, true].into_iter().flat_map(move |patched| {
                SEED_000.iter().filter(move |r| r.table == *table).map(move |row| Cell { row, patched })
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_44_cells_and_each_has_its_switch() {
        let all = cells();
        assert_eq!(all.len(), 44);
        for c in all {
            let cfg = c.config(3);
            assert_eq!(cfg.seed, 3);
            assert_eq!(cfg.devices[0].queue.unwrap().zoned_qd1_writes, c.patched, "{}", c.name());
        }
    }
}
