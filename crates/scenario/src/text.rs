//! Scenarios as text: the fragment of a link, and `.bioscope` files with one pair a line.
//!
//! Models: nothing; it is a public format, so what is written once stays readable.
//! Rule: never panics, never drops a key in silence; `encode(decode(x)) == x` for every text `encode` can write.
//! Leaves out: whether the values fit together (`check`).
//!
//! Order of a fragment: `v p m`, A's keys in the order of the table, B's with `b.` in front, `b.at`, `sw sw2 seeds`,
//! `view`, keys that mean nothing here, `t`. Values at their default (the preset's, if there is one) are left out.

use bioscope_core::MODEL_VERSION;

use crate::diagnostic::{Diagnostic, Place, nearest};
use crate::params::{KEYS, PARAMS, Param};
use crate::preset::{self, PRESETS};
use crate::scenario::{MAX_SEEDS, Moment, Scenario, Side, Sweep};
use crate::value::{self, S, Value, print_seconds};
use crate::view::Panels;

/// Version of the link format.
pub const LINK_VERSION: u32 = 1;
/// Longest text that is read, bytes.
pub const MAX_TEXT: usize = 16 * 1024;

/// Keys of the format that are not built yet.
const NOT_YET: [&str; 1] = ["z"];
/// Words before a dot that address one of several jobs or devices.
const INSTANCES: [&str; 6] = ["job", "sd", "md", "nullb", "nvme", "dm-"];

/// The fragment of a link: what stands behind the first `#`, or the whole text.
pub fn fragment_of(link: &str) -> &str {
    link.split_once('#').map_or(link, |(_, f)| f)
}

/// Reads a fragment, with or without its `#`. What cannot be used is in the list and left out of the scenario.
pub fn decode(fragment: &str) -> (Scenario, Vec<Diagnostic>) {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    if let Some(refused) = too_long(fragment) {
        return refused;
    }
    let mut pairs = Vec::new();
    let mut problems = Vec::new();
    let mut at = 1u32;
    for part in fragment.split('&') {
        let place = Place::Fragment(at);
        at += part.chars().count() as u32 + 1;
        if part.is_empty() {
            continue;
        }
        match pair(part, place) {
            Ok(p) => pairs.push(p),
            Err(d) => problems.push(d),
        }
    }
    read(pairs, problems)
}

/// Reads a `.bioscope` file: `key=value` lines, blank lines, and comments that start with `#`.
pub fn decode_file(text: &str) -> (Scenario, Vec<Diagnostic>) {
    if let Some(refused) = too_long(text) {
        return refused;
    }
    let mut pairs = Vec::new();
    let mut problems = Vec::new();
    // Some editors begin a file with a byte order mark.
    for (i, raw) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let content = raw.split_once('#').map_or(raw, |(before, _)| before);
        if content.trim().is_empty() {
            continue;
        }
        let indent = content.chars().take_while(|c| c.is_whitespace()).count() as u32;
        let place = Place::File { line: i as u32 + 1, column: indent + 1 };
        match pair(content, place) {
            Ok(p) => pairs.push(p),
            Err(d) => problems.push(d),
        }
    }
    read(pairs, problems)
}

/// Writes the fragment of a link, without `#`.
pub fn encode(s: &Scenario) -> String {
    let pairs = pairs(s);
    let escaped: Vec<String> = pairs.iter().map(|(k, v)| format!("{}={}", escape(k), escape(v))).collect();
    escaped.join("&")
}

/// Writes a `.bioscope` file.
pub fn encode_file(s: &Scenario) -> String {
    let mut text = String::new();
    if let Some(p) = s.preset {
        text += &format!("# {}\n", p.title);
    }
    for (key, v) in pairs(s) {
        text += &format!("{}={}\n", escape(&key), escape(&v));
    }
    text
}

/// The scenario as pairs in canonical order.
fn pairs(s: &Scenario) -> Vec<(String, String)> {
    let mut out: Vec<(String, String)> = vec![("v".into(), LINK_VERSION.to_string())];
    let mut add = |key: &str, text: String| out.push((key.into(), text));
    if let Some(p) = s.preset {
        add("p", p.name.into());
    }
    if let Some(m) = s.m {
        add("m", m.to_string());
    }
    for &key in KEYS.iter().filter(|k| s.is_changed(**k)) {
        add(Param::of(key).key, s.text(Side::A, key));
    }
    // B's keys are those of the preset and its own; one of the preset's that is gone needs a fresh start.
    let base = s.preset.map(preset::Preset::b_values).unwrap_or_default();
    let fresh = base.iter().any(|(k, _)| s.b_value(*k).is_none());
    if fresh {
        add("b", "0".into());
    }
    for (key, v) in s.b().iter().filter(|pair| fresh || !base.contains(pair)) {
        add(&format!("b.{}", Param::of(*key).key), Param::of(*key).print(v));
    }
    if let Some(ns) = s.fork {
        add("b.at", print_seconds(ns));
    }
    if let Some(sweep) = &s.sweep {
        add("sw", sweep.text());
    }
    if let Some(sweep) = &s.sweep2 {
        add("sw2", sweep.text());
    }
    if s.seeds != 1 {
        add("seeds", s.seeds.to_string());
    }
    if s.view != Panels::ALL {
        add("view", s.view.text());
    }
    for (key, v) in &s.extra {
        add(key, v.clone());
    }
    if let Some(t) = s.t {
        let k = if t.k > 0 { format!("+{}", t.k) } else { String::new() };
        add("t", print_seconds(t.ns) + &k);
    }
    out
}

struct Pair {
    key: String,
    text: String,
    place: Place,
}

/// Splits `key=value` and undoes escapes.
fn pair(text: &str, place: Place) -> Result<Pair, Diagnostic> {
    let text = text.trim();
    let Some((key, value)) = text.split_once('=') else {
        return Err(placed(place, Diagnostic::error(&clip(text), "", "not of the form key=value")));
    };
    match (unescape(key.trim()), unescape(value.trim())) {
        (Some(key), Some(text)) => Ok(Pair { key, text, place }),
        _ => Err(placed(place, Diagnostic::error("", "", format!("broken % escape in {}", clip(text))))),
    }
}

fn placed(place: Place, mut d: Diagnostic) -> Diagnostic {
    d.place = place;
    d
}

fn too_long(text: &str) -> Option<(Scenario, Vec<Diagnostic>)> {
    (text.len() > MAX_TEXT).then(|| {
        let message = format!("{} bytes are too long: {MAX_TEXT} are read", text.len());
        (Scenario::new(), vec![Diagnostic::error("", "", message)])
    })
}

fn read(pairs: Vec<Pair>, mut problems: Vec<Diagnostic>) -> (Scenario, Vec<Diagnostic>) {
    let last = |key: &str| pairs.iter().rev().find(|p| p.key == key);
    for (i, p) in pairs.iter().enumerate() {
        if pairs[..i].iter().any(|earlier| earlier.key == p.key) {
            let d = Diagnostic::warning(&p.key, &p.text, "given more than once; the last one counts");
            problems.push(placed(p.place, d));
        }
    }
    if let Some(p) = last("v")
        && let Err(d) = version(&p.text)
    {
        return (Scenario::new(), vec![placed(p.place, d)]);
    }
    let mut s = Scenario::new();
    if let Some(p) = last("p") {
        match preset::find(&p.text) {
            Some(preset) => s = Scenario::of(preset),
            None => {
                let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
                let d = Diagnostic::error("p", &p.text, "no such preset").allow(names.join(", "));
                let near = nearest(&p.text, PRESETS.iter().map(|p| p.name));
                problems.push(placed(p.place, near.iter().fold(d, |d, near| d.suggest(*near))));
            }
        }
    }
    if let Some(p) = last("b") {
        match p.text.as_str() {
            "0" => s.drop_b(),
            _ => problems.push(placed(p.place, Diagnostic::error("b", &p.text, "no such value").allow("0"))),
        }
    }
    for p in &pairs {
        if let Some(d) = one(&mut s, &p.key, &p.text) {
            problems.push(placed(p.place, d));
        }
    }
    (s, problems)
}

fn version(text: &str) -> Result<(), Diagnostic> {
    match text.parse::<u32>() {
        Ok(LINK_VERSION) => Ok(()),
        Ok(n) if n > LINK_VERSION => Err(Diagnostic::error(
            "v",
            text,
            "this link was made by a newer bioscope: open it there, or update this one",
        )),
        _ => Err(Diagnostic::error("v", text, "no such link version").allow(LINK_VERSION.to_string())),
    }
}

/// Takes one pair; what is worth saying about it comes back.
fn one(s: &mut Scenario, key: &str, text: &str) -> Option<Diagnostic> {
    match key {
        // Taken before all others.
        "v" | "p" | "b" => return None,
        "m" => return model_version(s, text),
        "t" => match moment(text) {
            Ok(t) => s.t = Some(t),
            Err(d) => return Some(d),
        },
        "sw" | "sw2" => {
            let (name, values) = text.split_once(':').unwrap_or((text, ""));
            match Sweep::parse(key, name, values) {
                Ok(sweep) if key == "sw2" => s.sweep2 = Some(sweep),
                Ok(sweep) => s.sweep = s.preset.is_none_or(|p| p.sweep() != sweep).then_some(sweep),
                Err(d) => return Some(d),
            }
        }
        "seeds" => match text.parse() {
            Ok(n @ 1..=MAX_SEEDS) => s.seeds = n,
            _ => return Some(Diagnostic::error(key, text, "not a number of runs").allow(format!("1 to {MAX_SEEDS}"))),
        },
        "view" => match Panels::parse(text) {
            Ok(panels) => s.view = panels,
            Err(d) => return Some(d),
        },
        _ if key == "b.at" || PARAMS.iter().any(|p| p.key == key.strip_prefix("b.").unwrap_or(key)) => {
            return s.set_text(key, text).err();
        }
        _ => {
            keep(s, key, text);
            return Some(if is_not_yet(key) {
                Diagnostic::note(key, text, "not yet: this version keeps it and does nothing with it")
            } else {
                unknown(key, text)
            });
        }
    }
    None
}

fn model_version(s: &mut Scenario, text: &str) -> Option<Diagnostic> {
    let Ok(m) = text.parse::<u32>() else {
        return Some(Diagnostic::error("m", text, "not a model version"));
    };
    s.m = Some(m);
    let made = format!("made with model version {m}, this is {MODEL_VERSION}");
    match m.cmp(&MODEL_VERSION) {
        std::cmp::Ordering::Less => Some(Diagnostic::note("m", text, format!("{made}: figures may differ from then"))),
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Greater => Some(Diagnostic::warning("m", text, format!("{made}: figures may differ"))),
    }
}

/// `3.482175331s` or `3.48s+2`: the third record at that time.
fn moment(text: &str) -> Result<Moment, Diagnostic> {
    let bad = |message: String| Diagnostic::error("t", text, message).allow("a time, +k for the k-th record at it");
    let (time, k) = text.split_once('+').unwrap_or((text, "0"));
    let k = k.parse::<u32>().map_err(|_| bad("no record number behind +".into()))?;
    match value::parse(S, time) {
        Ok(Value::Int(ns)) => Ok(Moment { ns, k }),
        Ok(_) => Err(bad("not a time".into())),
        Err(p) => Err(bad(p.message())),
    }
}

fn keep(s: &mut Scenario, key: &str, text: &str) {
    s.extra.retain(|(k, _)| k != key);
    s.extra.push((key.into(), text.into()));
}

fn is_not_yet(key: &str) -> bool {
    let key = key.strip_prefix("b.").filter(|rest| rest.contains('.')).unwrap_or(key);
    if NOT_YET.contains(&key) {
        return true;
    }
    key.split_once('.').is_some_and(|(instance, name)| {
        INSTANCES.iter().any(|i| instance.starts_with(i)) && PARAMS.iter().any(|p| p.key == name)
    })
}

fn unknown(key: &str, text: &str) -> Diagnostic {
    let (prefix, name) = key.strip_prefix("b.").map_or(("", key), |name| ("b.", name));
    let d = Diagnostic::warning(key, text, "no such key: it is kept and does nothing");
    match nearest(name, PARAMS.iter().map(|p: &Param| p.key)) {
        Some(near) => d.suggest(format!("{prefix}{near}")),
        None => d,
    }
}

fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

/// Undoes %XX; `None` where an escape is broken or the bytes are not UTF-8. A plus sign is a plus sign.
fn unescape(text: &str) -> Option<String> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let decoded = if byte == b'%' {
            let mut digit = || rest.next().and_then(|d| char::from(d).to_digit(16));
            let (high, low) = (digit()?, digit()?);
            (high * 16 + low) as u8
        } else {
            byte
        };
        bytes.push(decoded);
    }
    String::from_utf8(bytes).ok()
}

/// Writes what a fragment cannot hold, or what mail programs cut a link at, as %XX.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.,:+@/*;!~$()?'".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_both_ways() {
        for text in ["plain", "a b", "100%", "a&b=c#d", "\u{e4}\u{1f600}", "3.4s+2"] {
            assert_eq!(unescape(&escape(text)).as_deref(), Some(text));
        }
        for broken in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }
}
