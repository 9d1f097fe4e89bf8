//! Drive profiles: `key = value # unit, provenance`, one line a number.
//!
//! Models: nothing; the file next to the drive model says where each number comes from.
//! Rule: reading and writing a profile keeps every line, so a fit changes values and nothing else.
//! Leaves out: files; the built-in profiles are part of the program.

use std::sync::OnceLock;

use bioscope_core::config::DriveProfile;
use bioscope_core::units::SECTOR_BYTES;

use crate::diagnostic::{Diagnostic, Place};
use crate::value::{self, MS, NS, Unit, Value};

/// Text of the profile of the 30 TB host-managed SMR disk.
pub const SMR_30TB: &str = include_str!("../../core/src/drive/model/smr-30tb.profile");

/// Text of the profile of an 8 TB conventional disk.
pub const CMR_8TB: &str = include_str!("../../core/src/drive/model/cmr-8tb.profile");

/// Text of the profile of a 14 TB shingled disk.
pub const SMR_14TB: &str = include_str!("../../core/src/drive/model/smr-14tb.profile");

/// Text of the profile of a 15 TB shingled disk.
pub const SMR_15TB: &str = include_str!("../../core/src/drive/model/smr-15tb.profile");

/// Text of the profile of a 20 TB shingled disk.
pub const SMR_20TB: &str = include_str!("../../core/src/drive/model/smr-20tb.profile");

/// All of them as they are compiled in: without the feature `texts` only the numbers and their units, since the page has
/// no place for the rest.
static BUILT_IN: [&str; 5] =
    if cfg!(feature = "texts") { [SMR_30TB, CMR_8TB, SMR_14TB, SMR_15TB, SMR_20TB] } else { NUMBERS };
const NUMBERS: [&str; 5] = [
    as_text(&NUMBERS_30.0, NUMBERS_30.1),
    as_text(&NUMBERS_8.0, NUMBERS_8.1),
    as_text(&NUMBERS_14.0, NUMBERS_14.1),
    as_text(&NUMBERS_15.0, NUMBERS_15.1),
    as_text(&NUMBERS_20.0, NUMBERS_20.1),
];
const NUMBERS_30: ([u8; SMR_30TB.len()], usize) = numbers(SMR_30TB.as_bytes());
const NUMBERS_8: ([u8; CMR_8TB.len()], usize) = numbers(CMR_8TB.as_bytes());
const NUMBERS_14: ([u8; SMR_14TB.len()], usize) = numbers(SMR_14TB.as_bytes());
const NUMBERS_15: ([u8; SMR_15TB.len()], usize) = numbers(SMR_15TB.as_bytes());
const NUMBERS_20: ([u8; SMR_20TB.len()], usize) = numbers(SMR_20TB.as_bytes());

const fn as_text(bytes: &'static [u8], len: usize) -> &'static str {
    match str::from_utf8(bytes.split_at(len).0) {
        Ok(text) => text,
        Err(_) => "",
    }
}

/// A profile without its comments and provenances, and the length of that.
const fn numbers<const N: usize>(text: &[u8]) -> ([u8; N], usize) {
    let (mut out, mut len, mut i) = ([0; N], 0, 0);
    // A provenance may not be empty: its first letter stays.
    let (mut line_start, mut commas) = (true, 0);
    let mut comment = false;
    while i < text.len() {
        let c = text[i];
        if line_start {
            (comment, commas) = (c == b'#', 0);
        }
        line_start = c == b'\n';
        if !comment && (commas < 3 || line_start) {
            out[len] = c;
            len += 1;
        }
        if commas > 0 || c == b',' {
            commas += 1;
        }
        i += 1;
    }
    (out, len)
}

/// One line of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A comment or an empty line, as it stands.
    Text(String),
    /// A number.
    Entry(Entry),
}

/// One number of a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Line in the file, from 1.
    pub line: u32,
    /// Name.
    pub key: String,
    /// Value as written, in `unit`.
    pub value: String,
    /// Unit as written, e.g. `MiB/s`.
    pub unit: String,
    /// Where the value comes from.
    pub provenance: String,
}

impl Entry {
    /// The calibration cells of a fitted number (`seed-000: all 44 cells`), `None` for all others.
    pub fn fitted(&self) -> Option<&str> {
        let cells = self.provenance.strip_prefix("fitted on ")?;
        Some(cells.split(" (").next().unwrap_or(cells))
    }
}

/// A profile as the simulator needs it, and the two numbers of the host that belong to the same fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The drive.
    pub drive: DriveProfile,
    /// Bytes under writeback at the same time.
    pub writeback_in_flight: u64,
    /// Mean contiguous bytes of the page cache.
    pub writeback_segment_bytes: u64,
    /// Inner rate in thousandths of the outer one.
    pub inner_milli: u64,
}

/// Reads a profile, all problems at once.
pub fn parse(text: &str) -> Result<Vec<Line>, Vec<Diagnostic>> {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let line = i as u32 + 1;
        let trimmed = raw.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            lines.push(Line::Text(raw.into()));
            continue;
        }
        match entry(line, trimmed) {
            Ok(e) => {
                if entries(&lines).any(|other| other.key == e.key) {
                    problems.push(at(line, Diagnostic::error(&e.key, &e.value, "given twice")));
                }
                lines.push(Line::Entry(e));
            }
            Err(d) => problems.push(at(line, d)),
        }
    }
    if problems.is_empty() { Ok(lines) } else { Err(problems) }
}

/// The numbers among the lines.
pub fn entries(lines: &[Line]) -> impl Iterator<Item = &Entry> {
    lines.iter().filter_map(|l| match l {
        Line::Entry(e) => Some(e),
        Line::Text(_) => None,
    })
}

/// Replaces a value and its provenance; false if the profile has no such key.
pub fn set(lines: &mut [Line], key: &str, value: &str, provenance: &str) -> bool {
    for l in lines {
        if let Line::Entry(e) = l
            && e.key == key
        {
            e.value = value.into();
            e.provenance = provenance.into();
            return true;
        }
    }
    false
}

/// Writes a profile.
pub fn render(lines: &[Line]) -> String {
    let mut text = String::new();
    for l in lines {
        match l {
            Line::Text(t) => text += t,
            Line::Entry(e) => text += &format!("{} = {} # {}, {}", e.key, e.value, e.unit, e.provenance),
        }
        text.push('\n');
    }
    text
}

fn entry(line: u32, text: &str) -> Result<Entry, Diagnostic> {
    let form = |key: &str| Diagnostic::error(key, "", "not of the form key = value # unit, provenance");
    let (key, rest) = text.split_once('=').ok_or_else(|| form(text))?;
    let key = key.trim();
    let (value, comment) = rest.split_once('#').ok_or_else(|| form(key))?;
    let (unit, provenance) = comment.split_once(',').ok_or_else(|| form(key))?;
    let e = Entry {
        line,
        key: key.into(),
        value: value.trim().into(),
        unit: unit.trim().into(),
        provenance: provenance.trim().into(),
    };
    if e.key.is_empty() || e.value.is_empty() || e.unit.is_empty() || e.provenance.is_empty() {
        return Err(form(key));
    }
    Ok(e)
}

fn at(line: u32, mut d: Diagnostic) -> Diagnostic {
    d.place = Place::File { line, column: 1 };
    d
}

/// Looks numbers up and collects what is wrong.
struct Reader<'a> {
    lines: &'a [Line],
    problems: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn text(&mut self, key: &str) -> String {
        match entries(self.lines).find(|e| e.key == key) {
            Some(e) => e.value.clone(),
            None => {
                self.problems.push(Diagnostic::error(key, "", "missing from the profile"));
                String::new()
            }
        }
    }
    /// The number in base units: bytes, bytes/s, ns, thousandths.
    fn number(&mut self, key: &str, unit: Unit) -> u64 {
        let Some(e) = entries(self.lines).find(|e| e.key == key) else {
            self.problems.push(Diagnostic::error(key, "", "missing from the profile"));
            return 0;
        };
        // Counts and shares are followed by words, not by units.
        let written = match unit {
            Unit::Count | Unit::Milli => e.value.clone(),
            Unit::Bytes if e.unit == "bytes" => format!("{}B", e.value),
            _ => format!("{}{}", e.value, e.unit),
        };
        match value::parse(unit, &written) {
            Ok(Value::Int(n)) => n,
            Ok(_) => 0,
            Err(p) => {
                self.problems.push(at(e.line, Diagnostic::error(key, &written, p.message())));
                0
            }
        }
    }
    fn count(&mut self, key: &str, min: u64) -> u32 {
        let n = self.number(key, Unit::Count);
        if n < min || n > u64::from(u32::MAX) {
            self.problems.push(Diagnostic::error(key, &n.to_string(), "out of range"));
        }
        n as u32
    }
}

/// Turns the numbers of a profile into a drive, all problems at once.
pub fn to_profile(lines: &[Line]) -> Result<Profile, Vec<Diagnostic>> {
    let mut r = Reader { lines, problems: Vec::new() };
    let rate_outer = r.number("rate_outer", Unit::Rate);
    let inner_milli = r.number("rate_inner", Unit::Milli);
    let (nr_zones, conventional) = (r.count("nr_zones", 1), r.count("nr_conv_zones", 0));
    let profile = Profile {
        drive: DriveProfile {
            name: r.text("name"),
            zone_sectors: r.number("zone_size", Unit::Bytes) / SECTOR_BYTES,
            zone_capacity_sectors: r.number("zone_capacity", Unit::Bytes) / SECTOR_BYTES,
            nr_zones,
            nr_conv_zones: conventional,
            zoned: conventional < nr_zones,
            max_open_zones: r.count("max_open_zones", 0),
            rev_ns: r.number("rev", NS),
            rate_outer,
            rate_inner: inner_rate(rate_outer, inner_milli),
            recording_zones: r.count("recording_zones", 1),
            settle_ns: r.number("settle", MS),
            seek_full_ns: r.number("seek_full", MS),
            slots: r.count("slots", 1),
            slots_per_waiting_milli: r.number("slots_per_waiting", Unit::Milli).min(u64::from(u32::MAX)) as u32,
            window_min: r.count("window_min", 1),
            visit_commands: r.count("visit_commands", 1),
            candidates: r.count("candidates", 1),
            zone_reset_ns: r.number("zone_reset", MS),
            interface_rate: r.number("interface_rate", Unit::Rate),
            command_ns: r.number("command", NS),
            read_age_ns: r.number("read_age", MS),
        },
        writeback_in_flight: r.number("writeback_in_flight", Unit::Bytes),
        writeback_segment_bytes: r.number("writeback_segment_bytes", Unit::Bytes),
        inner_milli,
    };
    let d = &profile.drive;
    if !d.zone_sectors.is_power_of_two() || d.zone_capacity_sectors == 0 || d.zone_capacity_sectors > d.zone_sectors {
        r.problems.push(Diagnostic::error(
            "zone_size",
            "",
            "must be a power of two of at least 512 bytes, and zone_capacity not larger",
        ));
    }
    if d.nr_conv_zones > d.nr_zones {
        r.problems.push(Diagnostic::error("nr_conv_zones", "", "more than nr_zones"));
    }
    for (key, n) in [("rev", d.rev_ns), ("rate_outer", rate_outer), ("rate_inner", d.rate_inner)] {
        if n == 0 {
            r.problems.push(Diagnostic::error(key, "0", "must not be 0"));
        }
    }
    if r.problems.is_empty() { Ok(profile) } else { Err(r.problems) }
}

/// The drive of a profile.
pub fn to_drive(lines: &[Line]) -> Result<DriveProfile, Vec<Diagnostic>> {
    to_profile(lines).map(|p| p.drive)
}

/// Inner rate from the outer one and a share in thousandths, bytes/s.
pub fn inner_rate(rate_outer: u64, inner_milli: u64) -> u64 {
    (u128::from(rate_outer) * u128::from(inner_milli) / 1000).min(u128::from(u64::MAX)) as u64
}

/// The built-in profile of the 30 TB disk.
pub fn smr_30tb() -> &'static Profile {
    built_in(0)
}

/// The built-in profile of the 8 TB disk.
pub fn cmr_8tb() -> &'static Profile {
    built_in(1)
}

/// A built-in profile, in the order of [`BUILT_IN`].
pub(crate) fn built_in(which: usize) -> &'static Profile {
    static PROFILES: [OnceLock<Profile>; BUILT_IN.len()] = [const { OnceLock::new() }; BUILT_IN.len()];
    // The files are part of the program and read by a test.
    PROFILES[which].get_or_init(|| {
        parse(BUILT_IN[which]).and_then(|l| to_profile(&l)).unwrap_or_else(|d| panic!("built-in profile: {}", d[0]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profile_reads_and_writes_back_to_the_byte() {
        let lines = parse(SMR_30TB).unwrap();
        assert_eq!(render(&lines), SMR_30TB);
        let p = smr_30tb();
        assert_eq!(p.drive.name, "smr-30tb");
        assert_eq!(p.drive.zone_sectors, 524_288);
        assert_eq!((p.drive.nr_zones, p.drive.nr_conv_zones, p.drive.max_open_zones), (111_760, 1_118, 128));
        assert_eq!(p.drive.rev_ns, 8_333_333);
        assert_eq!(p.drive.interface_rate, 550 << 20);
        assert!(p.drive.rate_inner < p.drive.rate_outer);
    }

    #[test]
    fn the_conventional_disk_has_the_mean_seek_of_its_data_sheet() {
        assert_eq!(render(&parse(CMR_8TB).unwrap()), CMR_8TB);
        let d = &cmr_8tb().drive;
        assert!(!d.zoned && d.nr_conv_zones == d.nr_zones && d.max_open_zones == 0);
        // Over random pairs the mean of the square root of the distance is 8/15.
        let mean = d.settle_ns + d.seek_full_ns * 8 / 15;
        assert!((7_900_000..8_100_000).contains(&mean), "{mean}");
    }

    #[test]
    fn the_numbers_alone_are_the_same_drives() {
        let texts = [SMR_30TB, CMR_8TB, SMR_14TB, SMR_15TB, SMR_20TB];
        for (which, (numbers, text)) in NUMBERS.into_iter().zip(texts).enumerate() {
            let p = built_in(which);
            assert_eq!(render(&parse(text).unwrap()), text);
            assert!(numbers.len() * 2 < text.len() && !numbers.contains("fitted"), "{numbers}");
            assert_eq!(to_profile(&parse(numbers).unwrap()).as_ref(), Ok(p));
        }
    }

    #[test]
    fn at_most_ten_numbers_are_fitted() {
        let lines = parse(SMR_30TB).unwrap();
        let fitted: Vec<_> = entries(&lines).filter(|e| e.fitted().is_some()).collect();
        assert!(!fitted.is_empty() && fitted.len() <= 10, "{}", fitted.len());
        assert!(fitted.iter().all(|e| e.fitted().unwrap().starts_with("seed-000: ")));
    }

    #[test]
    fn a_fit_changes_one_line() {
        let mut lines = parse(SMR_30TB).unwrap();
        assert!(set(&mut lines, "settle", "1.75", "fitted on seed-000: all 44 cells"));
        assert!(!set(&mut lines, "nothing", "1", "x"));
        let text = render(&lines);
        assert_eq!(text.lines().zip(SMR_30TB.lines()).filter(|(a, b)| a != b).count(), 1);
        assert_eq!(to_drive(&parse(&text).unwrap()).unwrap().settle_ns, 1_750_000);
    }

    #[test]
    fn all_problems_are_named_with_their_lines() {
        let text = "name = x # text, y\nzone_size 5\nrev = 8 # turns\nrev = 8333333 # ns, a\nrev = 8333333 # ns, b\n";
        let d = parse(text).unwrap_err();
        let shown: Vec<String> = d.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "line 2, column 1: zone_size 5: not of the form key = value # unit, provenance",
                "line 3, column 1: rev: not of the form key = value # unit, provenance",
                "line 5, column 1: rev=8333333: given twice",
            ]
        );
        let d = to_drive(&parse("name = x # text, y\nrev = -3 # ns, a\n").unwrap()).unwrap_err();
        assert!(d.iter().any(|d| d.to_string() == "rate_outer: missing from the profile"));
        assert!(d.iter().any(|d| d.to_string() == "line 2, column 1: rev=-3ns: must not be negative"));
    }
}
