//! Values of parameters and their text: read as people type them, printed in one canonical way.
//!
//! Models: fio's number syntax where it is unambiguous (k, m, g = 1024; `26z` = zones).
//! Rule: `parse` of a printed value gives the value back; arithmetic is exact and cannot overflow.
//! Leaves out: which values a parameter allows (`params`) and what they mean together (`check`).

use bioscope_core::config::Distribution;
use bioscope_core::units::BlkStatus;

use crate::changes::{self, Written};
use crate::diagnostic::shorten;

/// What a parameter's value is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A number of things; `1k` = 1024.
    Count,
    /// Bytes.
    Bytes,
    /// Bytes, a bare number being KiB (sysfs attributes ending in `_kb`).
    Kib,
    /// Bytes, a bare number being MiB (sizes in null_blk's configfs).
    Mib,
    /// Nanoseconds; a bare number is this many of them.
    Time(u64),
    /// Bytes or whole zones (`26z`).
    Zones,
    /// Bytes per second; a bare number is MiB/s.
    Rate,
    /// A decimal with three places, kept in thousandths.
    Milli,
    /// 0 or 1.
    Bool,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A size, or two with a dash: smallest and largest.
    ByteRange,
    /// A list of device errors.
    Faults,
    /// A list of sizes.
    Sizes,
    /// A list of numbers of things.
    Numbers,
    /// Bytes for both directions, or those of reads and of writes.
    DirBytes,
    /// The same of numbers of things.
    DirCount,
    /// fio's bssplit.
    Splits,
    /// fio's random_distribution.
    Law,
    /// Writes to attributes at times.
    Changes,
}

/// Nanoseconds, microseconds, milliseconds, seconds as bare units of [`Unit::Time`].
pub const NS: Unit = Unit::Time(1);
/// Milliseconds.
pub const MS: Unit = Unit::Time(1_000_000);
/// Seconds.
pub const S: Unit = Unit::Time(1_000_000_000);

/// A device error that the run injects: `SECTOR+COUNT@FROM-UNTIL:medium`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// First sector (512 bytes).
    pub sector: u64,
    /// Number of sectors.
    pub nr_sectors: u64,
    /// From, ns.
    pub from: u64,
    /// Until, exclusive, ns.
    pub until: u64,
    /// What the device answers: `IoErr` or `Medium`.
    pub status: BlkStatus,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// What follows from the other settings or from the drive's profile: written `auto`.
    Auto,
    /// A number in the base unit: bytes, ns, bytes/s, thousandths, 0 or 1.
    Int(u64),
    /// A number of zones.
    Zones(u64),
    /// Index into the unit's words.
    Word(u8),
    /// Smallest and largest, bytes.
    Range(u64, u64),
    /// Injected errors.
    Faults(Vec<Fault>),
    /// Sizes in order, bytes; or numbers.
    Sizes(Vec<u64>),
    /// Of reads and of writes; 0 = none.
    Dirs(u64, u64),
    /// Sizes of reads and of writes, bytes, with their shares in per cent.
    Splits([Vec<(u64, u8)>; 2]),
    /// How places are drawn; the parts of zoned_abs in bytes.
    Law(Distribution),
    /// Writes to attributes, in order of time.
    Changes(Vec<Written>),
}

/// Why a text is no value of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Nothing was given.
    Empty,
    /// No number at the start.
    NotANumber,
    /// A minus sign.
    Negative,
    /// A fraction of something indivisible, named here (empty: a count).
    NotWhole(&'static str),
    /// Beyond 64 bits.
    TooLarge,
    /// A suffix this unit does not have.
    UnknownSuffix(String),
    /// Not one of the words.
    NoSuchWord,
    /// Not 0 or 1.
    NotBool,
    /// Smallest larger than largest.
    Reversed,
    /// Not of the form of a fault.
    NotAFault,
    /// Not of the form of a write to an attribute, or refused by it.
    NotAWrite,
    /// A rule of fio.
    Says(&'static str),
}

impl Problem {
    /// The message of a diagnostic.
    pub fn message(&self) -> String {
        match self {
            Problem::Empty => "a value is missing".into(),
            Problem::NotANumber => "not a number".into(),
            Problem::Negative => "must not be negative".into(),
            Problem::NotWhole("") => "not a whole number".into(),
            Problem::NotWhole(of) => format!("not a whole number of {of}"),
            Problem::TooLarge => "too large".into(),
            Problem::UnknownSuffix(s) => format!("unknown unit {s}"),
            Problem::NoSuchWord => "no such value".into(),
            Problem::NotBool => "must be 0 or 1".into(),
            Problem::Reversed => "the first size is larger than the second".into(),
            Problem::NotAFault => "not an error rule".into(),
            Problem::NotAWrite => "not a write to an attribute".into(),
            Problem::Says(what) => (*what).into(),
        }
    }
}

/// Reads a value; `auto` is left to the parameter.
pub fn parse(unit: Unit, text: &str) -> Result<Value, Problem> {
    let text = text.trim();
    if text.is_empty() && !matches!(unit, Unit::Faults | Unit::Sizes | Unit::Numbers | Unit::Splits | Unit::Changes) {
        return Err(Problem::Empty);
    }
    match unit {
        Unit::Count => number(text, 1, size_factor, "").map(Value::Int),
        Unit::Bytes => bytes(text, 1).map(Value::Int),
        Unit::Kib => bytes(text, 1024).map(Value::Int),
        Unit::Mib => bytes(text, 1 << 20).map(Value::Int),
        Unit::Time(bare) => number(text, bare, time_factor, "ns").map(Value::Int),
        Unit::Zones => match text.strip_suffix(['z', 'Z']) {
            Some(n) => number(n, 1, |_| None, "zones").map(Value::Zones),
            None => bytes(text, 1).map(Value::Int),
        },
        Unit::Rate => {
            let text = text.strip_suffix("/s").unwrap_or(text);
            let n = Number::read(text)?;
            let factor = if n.suffix.is_empty() { 1 << 20 } else { n.factor(size_factor)? };
            n.times_rounded(factor).map(Value::Int)
        }
        Unit::Milli => number(text, 1000, |_| None, "thousandths").map(Value::Int),
        Unit::Bool => match text {
            "0" => Ok(Value::Int(0)),
            "1" => Ok(Value::Int(1)),
            _ => Err(Problem::NotBool),
        },
        Unit::Word(words) => {
            words.iter().position(|w| *w == text).map(|i| Value::Word(i as u8)).ok_or(Problem::NoSuchWord)
        }
        Unit::ByteRange => {
            let (lo, hi) = text.split_once('-').unwrap_or((text, text));
            if lo.is_empty() {
                return Err(Problem::Negative);
            }
            let (lo, hi) = (bytes(lo, 1)?, bytes(hi, 1)?);
            if lo > hi { Err(Problem::Reversed) } else { Ok(Value::Range(lo, hi)) }
        }
        Unit::Faults => parts(text).map(fault).collect::<Result<_, _>>().map(Value::Faults),
        Unit::Sizes => parts(text).map(|p| bytes(p, 1)).collect::<Result<_, _>>().map(Value::Sizes),
        Unit::Numbers => parts(text).map(|p| number(p, 1, |_| None, "")).collect::<Result<_, _>>().map(Value::Sizes),
        Unit::DirBytes => both(text, |t| bytes(t.strip_suffix("/s").unwrap_or(t), 1)).map(|[r, w]| Value::Dirs(r, w)),
        Unit::DirCount => both(text, |t| number(t, 1, size_factor, "")).map(|[r, w]| Value::Dirs(r, w)),
        Unit::Splits => both(text, split).map(Value::Splits),
        Unit::Law => law(text).map(Value::Law),
        Unit::Changes => changes::parse("", text).map(Value::Changes).map_err(|_| Problem::NotAWrite),
    }
}

/// What a word or two with a comma say of reads and of writes; one says it of both (fio 1.4).
fn both<T: Clone + Default>(text: &str, of: impl Fn(&str) -> Result<T, Problem>) -> Result<[T; 2], Problem> {
    let one = |t: &str| if t.trim().is_empty() { Ok(T::default()) } else { of(t.trim()) };
    let Some((read, write)) = text.split_once(',') else {
        let both = one(text)?;
        return Ok([both.clone(), both]);
    };
    if write.contains(',') {
        return Err(Problem::Says("there are reads and writes only"));
    }
    Ok([one(read)?, one(write)?])
}

/// What stands between the commas of a list.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|p| !p.trim().is_empty())
}

/// Prints a value canonically.
pub fn print(unit: Unit, value: &Value) -> String {
    match (unit, value) {
        (_, Value::Auto) => "auto".into(),
        (_, Value::Zones(n)) => format!("{n}z"),
        (Unit::Word(words), Value::Word(i)) => words.get(usize::from(*i)).copied().unwrap_or_default().into(),
        (_, Value::Range(lo, hi)) if lo == hi => print_bytes(*lo),
        (_, Value::Range(lo, hi)) => format!("{}-{}", print_bytes(*lo), print_bytes(*hi)),
        (Unit::Numbers, Value::Sizes(list)) => list.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
        (_, Value::Sizes(list)) => list.iter().map(|n| print_bytes(*n)).collect::<Vec<_>>().join(","),
        (_, Value::Faults(list)) => list.iter().map(print_fault).collect::<Vec<_>>().join(","),
        (Unit::DirBytes, Value::Dirs(r, w)) => print_both(r, w, |n| print_bytes(*n)),
        (_, Value::Dirs(r, w)) => print_both(r, w, u64::to_string),
        (_, Value::Splits([r, w])) => {
            print_both(r, w, |list| print_shares(list, |(n, percent)| (print_bytes(*n), *percent)))
        }
        (_, Value::Law(law)) => print_law(law),
        (_, Value::Changes(list)) => changes::print(list),
        (Unit::Bytes | Unit::Mib | Unit::Zones, Value::Int(n)) => print_bytes(*n),
        (Unit::Kib, Value::Int(n)) if n % 1024 == 0 => (n / 1024).to_string(),
        (Unit::Kib, Value::Int(n)) => print_bytes(*n),
        (Unit::Time(_), Value::Int(n)) => print_time(*n),
        (Unit::Rate, Value::Int(n)) => print_rate(*n),
        (Unit::Milli, Value::Int(n)) => print_decimal(*n, 3),
        (_, Value::Int(n)) => n.to_string(),
        // A word without a list cannot be built by `parse`.
        (_, Value::Word(_)) => String::new(),
    }
}

fn print_both<T: PartialEq>(read: &T, write: &T, of: impl Fn(&T) -> String) -> String {
    if read == write { of(read) } else { [of(read), of(write)].join(",") }
}

/// `4KiB/60:8KiB/40`
fn print_shares<T>(list: &[T], of: impl Fn(&T) -> (String, u8)) -> String {
    let one = |part: &T| {
        let (size, percent) = of(part);
        [&size, "/", &percent.to_string()].concat()
    };
    list.iter().map(one).collect::<Vec<_>>().join(":")
}

fn print_law(law: &Distribution) -> String {
    let with = |word: &str, n: String, center: &Option<u16>| match center {
        Some(c) => [word, &n, ":", &print_decimal(u64::from(*c), 3)].concat(),
        None => [word, &n].concat(),
    };
    match law {
        Distribution::Random => "random".into(),
        Distribution::Zipf { theta, center } => with("zipf:", print_decimal(u64::from(*theta), 3), center),
        Distribution::Pareto { h, center } => with("pareto:", print_decimal(u64::from(*h), 3), center),
        Distribution::Normal { deviation, center } => with("normal:", deviation.to_string(), center),
        Distribution::Zoned { absolute, parts: [r, w] } => {
            let size = |n: u64| if *absolute { print_bytes(n) } else { n.to_string() };
            let one = |parts: &Vec<(u8, u64)>| {
                let parts = parts.iter().map(|(access, n)| [&access.to_string(), "/", &size(*n)].concat());
                parts.collect::<Vec<_>>().join(":")
            };
            [if *absolute { "zoned_abs:" } else { "zoned:" }, &print_both(r, w, one)].concat()
        }
    }
}

/// Bytes in the largest binary unit that divides them: `1MiB`, `1152KiB`, `11703B`, `0`.
pub fn print_bytes(n: u64) -> String {
    if n == 0 {
        return "0".into();
    }
    let steps = (n.trailing_zeros() / 10).min(4);
    format!("{}{}", n >> (10 * steps), ["B", "KiB", "MiB", "GiB", "TiB"][steps as usize])
}

/// Nanoseconds in the largest unit that divides them: `30s`, `295ms`, `40us`, `8333333ns`, `0`.
pub fn print_time(ns: u64) -> String {
    match ns {
        0 => "0".into(),
        n if n % 1_000_000_000 == 0 => format!("{}s", n / 1_000_000_000),
        n if n % 1_000_000 == 0 => format!("{}ms", n / 1_000_000),
        n if n % 1_000 == 0 => format!("{}us", n / 1_000),
        n => format!("{n}ns"),
    }
}

/// Nanoseconds as seconds with the decimals they need: `3.482175331s`.
pub fn print_seconds(ns: u64) -> String {
    format!("{}s", print_decimal(ns, 9))
}

/// A rate in MiB/s with up to three decimals where that is exact, else in bytes/s: `246.6MiB/s`, `257000000B/s`.
pub fn print_rate(bytes_per_s: u64) -> String {
    let v = u128::from(bytes_per_s);
    let milli = (v * 1000 + (1 << 19)) >> 20;
    // What `parse` would make of this many thousandths.
    if ((milli << 20) + 500) / 1000 == v {
        format!("{}MiB/s", print_decimal(milli as u64, 3))
    } else {
        format!("{bytes_per_s}B/s")
    }
}

/// `n` / 10^`places` without trailing zeros.
fn print_decimal(n: u64, places: u32) -> String {
    let one = 10u64.pow(places);
    let (whole, rest) = (n / one, n % one);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = places as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

/// A decimal number with what follows it.
struct Number<'a> {
    /// All digits, the point left out.
    digits: u128,
    /// How many of them stand behind the point.
    decimals: u32,
    suffix: &'a str,
}

impl<'a> Number<'a> {
    fn read(text: &'a str) -> Result<Self, Problem> {
        let text = text.trim();
        if text.is_empty() {
            return Err(Problem::Empty);
        }
        if text.starts_with(['-', '\u{2212}']) {
            return Err(Problem::Negative);
        }
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, suffix) = text.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return Err(Problem::NotANumber);
        }
        let fraction = fraction.trim_end_matches('0');
        if whole.len() + fraction.len() > 24 {
            return Err(Problem::TooLarge);
        }
        // At most 24 digits: fits.
        let digit = |n: u128, c: u8| n * 10 + u128::from(c - b'0');
        let digits = fraction.bytes().fold(whole.bytes().fold(0, digit), digit);
        Ok(Self { digits, decimals: fraction.len() as u32, suffix: suffix.trim() })
    }
    fn factor(&self, known: fn(&str) -> Option<u64>) -> Result<u64, Problem> {
        known(self.suffix).ok_or_else(|| Problem::UnknownSuffix(shorten(self.suffix).chars().take(12).collect()))
    }
    /// The product, if it is whole.
    fn times(&self, factor: u64, what: &'static str) -> Result<u64, Problem> {
        let product = self.digits.checked_mul(u128::from(factor)).ok_or(Problem::TooLarge)?;
        let one = 10u128.pow(self.decimals);
        if product % one != 0 {
            return Err(Problem::NotWhole(what));
        }
        u64::try_from(product / one).map_err(|_| Problem::TooLarge)
    }
    /// The product, rounded to the nearest.
    fn times_rounded(&self, factor: u64) -> Result<u64, Problem> {
        let product = self.digits.checked_mul(u128::from(factor)).ok_or(Problem::TooLarge)?;
        let one = 10u128.pow(self.decimals);
        u64::try_from((product + one / 2) / one).map_err(|_| Problem::TooLarge)
    }
}

fn number(text: &str, bare: u64, known: fn(&str) -> Option<u64>, what: &'static str) -> Result<u64, Problem> {
    let n = Number::read(text)?;
    let factor = if n.suffix.is_empty() { bare } else { n.factor(known)? };
    n.times(factor, what)
}

fn bytes(text: &str, bare: u64) -> Result<u64, Problem> {
    number(text, bare, size_factor, "bytes")
}

/// k, m, g and KiB, MiB, GiB count in 1024; kB, MB, GB in 1000. `kb` is refused: it has meant both.
fn size_factor(suffix: &str) -> Option<u64> {
    let power = |base: u64, letter: u8| {
        Some(base.pow(match letter.to_ascii_lowercase() {
            b'k' => 1,
            b'm' => 2,
            b'g' => 3,
            b't' => 4,
            _ => return None,
        }))
    };
    match suffix.as_bytes() {
        b"B" => Some(1),
        [letter] => power(1024, *letter),
        [letter, b'i' | b'I', b'b' | b'B'] => power(1024, *letter),
        [letter, b'B'] => power(1000, *letter),
        _ => None,
    }
}

fn time_factor(suffix: &str) -> Option<u64> {
    Some(match suffix {
        "ns" => 1,
        "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" | "min" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Entries a bssplit may have (fio 2.1).
const MAX_SPLITS: usize = 64;
/// Parts a zoned distribution may have (fio 2.1).
const MAX_PARTS: usize = 256;

/// `X/PERCENT`; without a percentage, or with 0, it is to share what is left.
fn share<T>(text: &str, of: impl Fn(&str) -> Result<T, Problem>) -> Result<(T, Option<u64>), Problem> {
    let (size, percent) = text.split_once('/').unwrap_or((text, ""));
    let percent = match percent.trim() {
        "" => 0,
        percent => number(percent, 1, |_| None, "")?,
    };
    Ok((of(size.trim())?, (percent > 0).then_some(percent)))
}

/// What each of those without a share gets of 100.
fn rest<T>(list: &[(T, Option<u64>)]) -> (u64, u64) {
    let sum: u64 = list.iter().filter_map(|(_, share)| *share).fold(0, u64::saturating_add);
    let missing = list.iter().filter(|(_, share)| share.is_none()).count() as u64;
    (sum, 100u64.saturating_sub(sum) / missing.max(1))
}

/// fio's bssplit of one direction (fio 2.1).
fn split(text: &str) -> Result<Vec<(u64, u8)>, Problem> {
    let one = |t: &str| share(t, |t| bytes(t, 1)).map(|(n, percent)| (n, percent.map(|p| p.min(100))));
    let list = text.split(':').map(one).collect::<Result<Vec<_>, _>>()?;
    let (sum, each) = rest(&list);
    if list.len() > MAX_SPLITS {
        return Err(Problem::Says("bssplit has at most 64 sizes"));
    }
    if sum > 100 && list.iter().filter(|(_, percent)| percent.is_none()).count() > 1 {
        return Err(Problem::Says("bssplit percentages add to more than 100%"));
    }
    Ok(list.iter().map(|(n, percent)| (*n, percent.unwrap_or(each) as u8)).collect())
}

/// The first words of fio's random_distribution.
pub const LAWS: [&str; 6] = ["random", "zipf", "pareto", "normal", "zoned", "zoned_abs"];

/// fio's random_distribution (fio 2.1).
fn law(text: &str) -> Result<Distribution, Problem> {
    let (word, rest) = text.split_once(':').unwrap_or((text, ""));
    let (first, center) = rest.split_once(':').unwrap_or((rest, ""));
    let milli = |t: &str| number(t, 1000, |_| None, "thousandths").map(|n| n.min(1 << 31) as u32);
    let center = || match center {
        "" => Ok(None),
        center => match milli(center)? {
            c @ 0..=1000 => Ok(Some(c as u16)),
            _ => Err(Problem::Says("the center is a share of the range, 0 to 1")),
        },
    };
    match word {
        "random" if rest.is_empty() => Ok(Distribution::Random),
        "zipf" => match if first.is_empty() { 1100 } else { milli(first)? } {
            0 | 1000 | 100_001.. => Err(Problem::Says("zipf takes a theta above 0, not 1, up to 100")),
            theta => Ok(Distribution::Zipf { theta, center: center()? }),
        },
        "pareto" => match if first.is_empty() { 200 } else { milli(first)? } {
            0 | 1000.. => Err(Problem::Says("pareto takes a power between 0 and 1")),
            h => Ok(Distribution::Pareto { h, center: center()? }),
        },
        "normal" => match number(first, 1, |_| None, "")? {
            100.. => Err(Problem::Says("normal takes a deviation below 100 %")),
            n => Ok(Distribution::Normal { deviation: n as u8, center: center()? }),
        },
        "zoned" | "zoned_abs" => {
            let absolute = word == "zoned_abs";
            let parts = both(rest, |t| zoned(t, absolute))?;
            // A direction that is not named is drawn evenly; one is named.
            if parts.iter().all(Vec::is_empty) {
                return Err(Problem::Says("the access percentages do not add up to 100"));
            }
            Ok(Distribution::Zoned { absolute, parts })
        }
        _ => Err(Problem::NoSuchWord),
    }
}

/// The parts of a zoned distribution: `ACCESS/SIZE` each.
fn zoned(text: &str, absolute: bool) -> Result<Vec<(u8, u64)>, Problem> {
    let mut list = Vec::new();
    for part in text.split(':') {
        let (access, size) = part.split_once('/').unwrap_or((part, ""));
        let size = match size.trim() {
            "" => None,
            size if absolute => Some(bytes(size, 1)?),
            size => Some(number(size, 1, |_| None, "")?),
        };
        list.push((number(access, 1, |_| None, "")?, size));
    }
    if list.len() > MAX_PARTS {
        return Err(Problem::Says("there are at most 256 parts"));
    }
    if list.iter().fold(0u64, |sum, (access, _)| sum.saturating_add(*access)) != 100 {
        return Err(Problem::Says("the access percentages do not add up to 100"));
    }
    let missing = list.iter().any(|(_, size)| size.is_none());
    let (sum, each) = rest(&list);
    if absolute && missing {
        return Err(Problem::Says("each part of zoned_abs needs a size"));
    }
    if !absolute && sum > 100 {
        return Err(Problem::Says("the sizes add up to more than 100 % of the range"));
    }
    Ok(list.iter().map(|(access, size)| (*access as u8, size.unwrap_or(each))).collect())
}

fn fault(text: &str) -> Result<Fault, Problem> {
    let whole = |t: &str| t.trim().parse::<u64>().map_err(|_| Problem::NotAFault);
    let (text, status) = match text.split_once(':') {
        None => (text, BlkStatus::IoErr),
        Some((t, "medium")) => (t, BlkStatus::Medium),
        Some(_) => return Err(Problem::NotAFault),
    };
    let (place, time) = match text.split_once('@') {
        None => (text, None),
        Some((p, t)) => (p, Some(t.split_once('-').ok_or(Problem::NotAFault)?)),
    };
    let (sector, count) = place.split_once('+').ok_or(Problem::NotAFault)?;
    let seconds = |t: &str| number(t, 1_000_000_000, time_factor, "ns");
    let (from, until) = match time {
        None => (0, u64::MAX),
        Some((from, until)) => (seconds(from)?, seconds(until)?),
    };
    if until <= from {
        return Err(Problem::NotAFault);
    }
    Ok(Fault { sector: whole(sector)?, nr_sectors: whole(count)?, from, until, status })
}

fn print_fault(f: &Fault) -> String {
    let mut s = format!("{}+{}", f.sector, f.nr_sectors);
    if (f.from, f.until) != (0, u64::MAX) {
        s += &format!("@{}-{}", print_time(f.from), print_time(f.until));
    }
    if f.status == BlkStatus::Medium {
        s += ":medium";
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(unit: Unit, text: &str) -> Result<u64, Problem> {
        match parse(unit, text)? {
            Value::Int(n) => Ok(n),
            v => panic!("{text} gave {v:?}"),
        }
    }

    #[test]
    fn sizes_as_people_type_them() {
        for (text, want) in [
            ("4096", 4096),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4 kib", 4096),
            ("4kB", 4000),
            ("4KB", 4000),
            ("1m", 1 << 20),
            ("1.5MiB", 3 << 19),
            (".5k", 512),
            ("1MB", 1_000_000),
            ("2g", 2 << 30),
            ("1T", 1 << 40),
            ("7B", 7),
            ("0", 0),
            ("1.000k", 1024),
        ] {
            assert_eq!(int(Unit::Bytes, text), Ok(want), "{text}");
        }
        assert_eq!(int(Unit::Kib, "128"), Ok(131_072));
        assert_eq!(int(Unit::Kib, "1m"), Ok(1 << 20));
        assert_eq!(int(Unit::Count, "1k"), Ok(1024));
    }

    #[test]
    fn times_as_people_type_them() {
        for (text, want) in [("40us", 40_000), ("40 \u{b5}s", 40_000), ("8ms", 8_000_000), ("1.5s", 1_500_000_000)] {
            assert_eq!(int(NS, text), Ok(want), "{text}");
        }
        assert_eq!(int(NS, "250"), Ok(250));
        assert_eq!(int(MS, "500"), Ok(500_000_000));
        assert_eq!(int(S, "30"), Ok(30_000_000_000));
        assert_eq!(int(S, "2min"), Ok(120_000_000_000));
        assert_eq!(int(S, "3.482175331s"), Ok(3_482_175_331));
    }

    #[test]
    fn what_is_no_number_says_why() {
        for (text, want) in [
            ("", Problem::Empty),
            ("NaN", Problem::NotANumber),
            ("inf", Problem::NotANumber),
            (".", Problem::NotANumber),
            ("1.2.3", Problem::NotANumber),
            ("-1", Problem::Negative),
            ("0.3", Problem::NotWhole("bytes")),
            ("1e9", Problem::UnknownSuffix("e9".into())),
            ("4kb", Problem::UnknownSuffix("kb".into())),
            ("18446744073709551616", Problem::TooLarge),
            ("99999999999999999999999999999", Problem::TooLarge),
            ("18446744073709551615T", Problem::TooLarge),
        ] {
            assert_eq!(int(Unit::Bytes, text), Err(want), "{text}");
        }
        assert_eq!(int(Unit::Bytes, "18446744073709551615"), Ok(u64::MAX));
    }

    #[test]
    fn rates_ranges_zones_and_thousandths() {
        assert_eq!(int(Unit::Rate, "246.6"), Ok(258_578_842));
        assert_eq!(int(Unit::Rate, "246.6MiB/s"), Ok(258_578_842));
        assert_eq!(int(Unit::Rate, "257MB/s"), Ok(257_000_000));
        assert_eq!(print(Unit::Rate, &Value::Int(258_578_842)), "246.6MiB/s");
        assert_eq!(print(Unit::Rate, &Value::Int(257_000_001)), "257000001B/s");
        assert_eq!(int(Unit::Milli, "3.0"), Ok(3000));
        assert_eq!(int(Unit::Milli, "0.47"), Ok(470));
        assert_eq!(parse(Unit::Zones, "26z"), Ok(Value::Zones(26)));
        assert_eq!(parse(Unit::ByteRange, "4MiB-128MiB"), Ok(Value::Range(4 << 20, 128 << 20)));
        assert_eq!(parse(Unit::ByteRange, "256m"), Ok(Value::Range(256 << 20, 256 << 20)));
        assert_eq!(parse(Unit::ByteRange, "8m-4m"), Err(Problem::Reversed));
        assert_eq!(parse(Unit::ByteRange, "-4m"), Err(Problem::Negative));
    }

    #[test]
    fn faults_read_and_print() {
        for text in ["100+8", "100+8@0-1s", "100+8@1500ms-2s:medium,5+1:medium", ""] {
            let v = parse(Unit::Faults, text).unwrap();
            assert_eq!(print(Unit::Faults, &v), text);
        }
        for text in ["100", "100+8@1s", "100+8@2s-1s", "a+8", "1+1:soft", "-1+1"] {
            assert_eq!(parse(Unit::Faults, text), Err(Problem::NotAFault), "{text}");
        }
    }

    #[test]
    fn fio_values_of_both_directions_read_and_print() {
        for (text, want) in [("1m", "1MiB"), ("1m,1m", "1MiB"), (",500k", "0,500KiB"), ("2k,", "2KiB,0"), ("5/s", "5B")]
        {
            let v = parse(Unit::DirBytes, text).unwrap();
            assert_eq!(print(Unit::DirBytes, &v), want);
            assert_eq!(parse(Unit::DirBytes, want), Ok(v));
        }
        assert_eq!(parse(Unit::DirCount, "1k,7"), Ok(Value::Dirs(1024, 7)));
        assert!(parse(Unit::DirCount, "1,2,3").is_err());
    }

    #[test]
    fn fio_2_1_bssplit() {
        for (text, want) in [
            ("4k/50:8k/50", "4KiB/50:8KiB/50"),
            ("4k/50:8k/60", "4KiB/50:8KiB/60"),
            ("4k/100:8k/0", "4KiB/100:8KiB/0"),
            ("4k/40:8k/:16k", "4KiB/40:8KiB/30:16KiB/30"),
            ("4k/200", "4KiB/100"),
            ("4k", "4KiB/100"),
            ("4k/100,8k/100", "4KiB/100,8KiB/100"),
            (",8k/100", ",8KiB/100"),
            ("", ""),
        ] {
            let v = parse(Unit::Splits, text).unwrap();
            assert_eq!(print(Unit::Splits, &v), want);
            assert_eq!(parse(Unit::Splits, want), Ok(v), "{want}");
        }
        let error = parse(Unit::Splits, "4k/80:8k/70:16k/:32k").unwrap_err();
        assert_eq!(error.message(), "bssplit percentages add to more than 100%");
        assert!(parse(Unit::Splits, &["4k/1"; 64].join(":")).is_ok());
        assert!(parse(Unit::Splits, &["4k/1"; 65].join(":")).is_err());
    }

    #[test]
    fn fio_2_1_random_distributions() {
        for (text, want) in [
            ("random", "random"),
            ("zipf", "zipf:1.1"),
            ("zipf:1.20", "zipf:1.2"),
            ("zipf:0.9:0.5", "zipf:0.9:0.5"),
            ("pareto", "pareto:0.2"),
            ("normal:20", "normal:20"),
            ("zoned:90/10:10/90", "zoned:90/10:10/90"),
            ("zoned:60/10:30:10", "zoned:60/10:30/45:10/45"),
            ("zoned:100/1,50/50:50/50", "zoned:100/1,50/50:50/50"),
            ("zoned_abs:90/4m:10/36m", "zoned_abs:90/4MiB:10/36MiB"),
        ] {
            let v = parse(Unit::Law, text).unwrap();
            assert_eq!(print(Unit::Law, &v), want);
            assert_eq!(parse(Unit::Law, want), Ok(v), "{want}");
        }
        for bad in ["zipf:1.0", "pareto:1", "normal:100", "normal", "zoned:90/10:20/90", "zoned", "zipff:1", "random:1"]
        {
            assert!(parse(Unit::Law, bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_read_and_print() {
        for text in ["3136KiB,1344KiB", "512B", ""] {
            let v = parse(Unit::Sizes, text).unwrap();
            assert_eq!(print(Unit::Sizes, &v), text);
        }
        assert_eq!(parse(Unit::Sizes, "4k, 1m,"), Ok(Value::Sizes(vec![4096, 1 << 20])));
        assert_eq!(parse(Unit::Sizes, "4k,x"), Err(Problem::NotANumber));
    }

    #[test]
    fn printed_values_are_canonical() {
        for (n, want) in [(0, "0"), (11_703, "11703B"), (1_179_648, "1152KiB"), (1 << 20, "1MiB"), (5 << 40, "5TiB")] {
            assert_eq!(print_bytes(n), want);
        }
        for (n, want) in [(0, "0"), (8_333_333, "8333333ns"), (40_000, "40us"), (90_000_000_000, "90s")] {
            assert_eq!(print_time(n), want);
        }
        assert_eq!(print_seconds(3_482_175_331), "3.482175331s");
        assert_eq!(print_seconds(750_000_000), "0.75s");
        assert_eq!(print_seconds(2_000_000_000), "2s");
    }
}
