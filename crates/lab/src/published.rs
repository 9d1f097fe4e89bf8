//! Published measurements, with their source: references to compare with, never inputs.
//!
//! Models: nothing.
//! Rule: figures as printed; their unit is stated once. Only `validate`, charts and `fit` read them.
//! Leaves out: the sources' words.

/// One line of a published table: a setting, and what was measured before and after the change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// `seq`, `rand` or `xfs`.
    pub table: &'static str,
    /// `ahci` or `mpi3mr`.
    pub hba: &'static str,
    /// The setting in the table's words.
    pub setting: &'static str,
    /// Name of the preset that reproduces it.
    pub preset: &'static str,
    /// The swept key's value for this row.
    pub value: &'static str,
    /// Without the worker, MiB/s.
    pub baseline: f64,
    /// With the worker, MiB/s.
    pub patched: f64,
}

const fn row(
    table: &'static str,
    hba: &'static str,
    setting: &'static str,
    preset: &'static str,
    value: &'static str,
    baseline: f64,
    patched: f64,
) -> Row {
    Row { table, hba, setting, preset, value, baseline, patched }
}

/// Gaps between commands of one member disk before and after the bio_list fix, percent of all by row of
/// `bioscope_core::observe::gaps`: 0, then 1 KiB doubling. Source: message of the fix (Linux 6.18), dd on eight disks.
pub const SEED_002_GAPS: (&str, [[f64; 11]; 2]) = (
    "raid5-dd",
    [
        [45.5, 0.0, 0.0, 0.0, 0.0, 0.0, 22.7, 4.5, 0.0, 18.2, 9.1],
        [75.0, 0.0, 0.0, 0.0, 0.0, 0.0, 25.0, 0.0, 0.0, 0.0, 0.0],
    ],
);

/// Where the table of [`SEED_000`] comes from, and how its unit is read.
pub const SEED_000_SOURCE: &str = "commit log of QUEUE_ZONED_QD1_WRITES (Linux 7.1), 30 TB host-managed SMR SATA disk; \
     \"MB/s\" as printed, read as MiB/s";

/// The same in short, for the line under a chart.
pub const SEED_000_IN_SHORT: &str = "commit log of QUEUE_ZONED_QD1_WRITES, MB/s read as MiB/s";

/// The four tables of seed 000.
pub const SEED_000: [Row; 22] = [
    row("seq", "ahci", "QD=1", "smr-seq-write", "1", 244.0, 245.0),
    row("seq", "ahci", "QD=2", "smr-seq-write", "2", 244.0, 245.0),
    row("seq", "ahci", "QD=4", "smr-seq-write", "4", 245.0, 245.0),
    row("seq", "ahci", "QD=8", "smr-seq-write", "8", 242.0, 245.0),
    row("seq", "ahci", "QD=16", "smr-seq-write", "16", 222.0, 246.0),
    row("seq", "ahci", "QD=32", "smr-seq-write", "32", 211.0, 245.0),
    row("seq", "ahci", "QD=64", "smr-seq-write", "64", 193.0, 244.0),
    row("seq", "ahci", "QD=128", "smr-seq-write", "128", 112.0, 246.0),
    row("rand", "ahci", "zones=1", "smr-rand-zones", "1z", 191.0, 192.0),
    row("rand", "ahci", "zones=2", "smr-rand-zones", "2z", 101.0, 128.0),
    row("rand", "ahci", "zones=4", "smr-rand-zones", "4z", 115.0, 123.0),
    row("rand", "ahci", "zones=8", "smr-rand-zones", "8z", 90.0, 120.0),
    row("rand", "ahci", "zones=16", "smr-rand-zones", "16z", 64.0, 115.0),
    row("rand", "ahci", "zones=32", "smr-rand-zones", "32z", 58.0, 105.0),
    row("rand", "ahci", "zones=64", "smr-rand-zones", "64z", 56.0, 101.0),
    row("rand", "ahci", "zones=128", "smr-rand-zones", "128z", 55.0, 99.0),
    row("xfs", "ahci", "file=256MiB", "smr-xfs-256m", "ahci", 212.0, 238.0),
    row("xfs", "ahci", "file=4-128MiB random", "smr-xfs-4-128m", "ahci", 213.0, 243.0),
    row("xfs", "ahci", "file=2-8MiB random", "smr-xfs-2-8m", "ahci", 179.0, 242.0),
    row("xfs", "mpi3mr", "file=256MiB", "smr-xfs-256m", "mpi3mr", 175.0, 245.0),
    row("xfs", "mpi3mr", "file=4-128MiB random", "smr-xfs-4-128m", "mpi3mr", 174.0, 244.0),
    row("xfs", "mpi3mr", "file=2-8MiB random", "smr-xfs-2-8m", "mpi3mr", 171.0, 243.0),
];

/// Published pair (baseline, patched) in MiB/s for a preset's chart at a value of its swept key.
pub fn seed000_row(preset: &str, value: &str) -> Option<(f64, f64)> {
    SEED_000.iter().find(|r| r.preset == preset && r.value == value).map(|r| (r.baseline, r.patched))
}
