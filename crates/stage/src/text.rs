//! Numbers as text: fixed decimals, thousands, times, zone offsets.
//!
//! Models: fio's and blkparse's habits: one unit everywhere, MiB inside a zone.
//! Rule: integer arithmetic only, so that the page carries no float formatting for these.
//! Leaves out: parsing (`bioscope-scenario`).

use bioscope_core::units::{Sector, ZoneNo};

/// `v` with `digits` decimals, rounded half up.
pub fn fixed(v: f64, digits: u32) -> String {
    let scale = 10u64.pow(digits);
    let scaled = (v.abs() * scale as f64 + 0.5) as u64;
    let sign = if v < 0.0 && scaled > 0 { "-" } else { "" };
    let whole = thousands(scaled / scale);
    if digits == 0 {
        return [sign, &whole].concat();
    }
    let mut frac = (scaled % scale).to_string();
    while frac.len() < digits as usize {
        frac.insert(0, '0');
    }
    [sign, &whole, ".", &frac].concat()
}

/// `111760` as `111,760`.
pub fn thousands(v: u64) -> String {
    let digits = v.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A duration in the unit that leaves two or three digits: `3.1 ms`, `295 ms`, `1.04 s`, `40 us`.
pub fn duration(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => return [&ns.to_string(), " ns"].concat(),
        1_000..1_000_000 => (ns as f64 / 1e3, " us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, " ms"),
        _ => (ns as f64 / 1e9, " s"),
    };
    let digits = if unit == " s" {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    [&fixed(value, digits), unit].concat()
}

/// A moment in seconds with its microseconds apart: `3.482 175 s`.
pub fn seconds(ns: u64) -> String {
    let us = ns / 1_000;
    let three = |v: u64| (1_000 + v % 1_000).to_string()[1..].to_string();
    [&thousands(us / 1_000_000), ".", &three(us / 1_000), " ", &three(us), " s"].concat()
}

/// A length in sectors: `672 KiB`, `1 MiB`, `1.5 GiB`.
pub fn size(sectors: u64) -> String {
    bytes(sectors * 512)
}

/// A number of bytes in the largest unit that keeps it readable.
pub fn bytes(n: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, " GiB"), (1 << 20, " MiB"), (1 << 10, " KiB")];
    for (unit, name) in UNITS {
        if n >= unit {
            let digits = u32::from(!n.is_multiple_of(unit));
            return [&fixed(n as f64 / unit as f64, digits), name].concat();
        }
    }
    [&n.to_string(), " B"].concat()
}

/// Position of a sector as zone and MiB into it: `42+28`, `42+28.7`.
pub fn at(zone: ZoneNo, sector: Sector, zone_sectors: Sector) -> String {
    position(["", "+", ""], zone, sector, zone_sectors)
}

/// The same in words: `zone 42 at 28 MiB`.
pub fn place(zone: ZoneNo, sector: Sector, zone_sectors: Sector) -> String {
    position(["zone ", " at ", " MiB"], zone, sector, zone_sectors)
}

/// The same with what stands before, between and after. In zones below 16 MiB positions are in KiB.
pub fn position(words: [&str; 3], zone: ZoneNo, sector: Sector, zone_sectors: Sector) -> String {
    let offset = sector.saturating_sub(u64::from(zone) * zone_sectors);
    if (1..32_768).contains(&zone_sectors) {
        let digits = u32::from(!offset.is_multiple_of(2));
        let unit = if words[2].is_empty() { "K".into() } else { words[2].replace('M', "K") };
        return [words[0], &zone.to_string(), words[1], &fixed(offset as f64 / 2.0, digits), &unit].concat();
    }
    let digits = u32::from(!offset.is_multiple_of(2048));
    [words[0], &zone.to_string(), words[1], &fixed(offset as f64 / 2048.0, digits), words[2]].concat()
}

/// `1 bio`, `3 bios`.
pub fn count(n: u64, one: &str, many: &str) -> String {
    [thousands(n).as_str(), " ", if n == 1 { one } else { many }].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(fixed(245.04, 1), "245.0");
        assert_eq!(fixed(0.999, 2), "1.00");
        assert_eq!(fixed(-0.5, 0), "-1");
        assert_eq!(thousands(111_760), "111,760");
        assert_eq!(duration(3_100_000), "3.1 ms");
        assert_eq!(duration(295_000_000), "295 ms");
        assert_eq!(duration(40_000), "40.0 us");
        assert_eq!(size(1344), "672 KiB");
        assert_eq!(size(2048), "1 MiB");
        assert_eq!(at(42, 42 * 524_288 + 28 * 2048, 524_288), "42+28");
        assert_eq!(at(42, 42 * 524_288 + 28 * 2048 + 1344, 524_288), "42+28.7");
        assert_eq!(at(3, 3 * 2048 + 24, 2048), "3+12K");
        assert_eq!(place(3, 3 * 2048 + 25, 2048), "zone 3 at 12.5 KiB");
        assert_eq!(seconds(3_482_175_331), "3.482 175 s");
        assert_eq!(count(1, "bio", "bios"), "1 bio");
    }
}
