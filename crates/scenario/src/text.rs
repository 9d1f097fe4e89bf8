//! Scenarios as text: the fragment of a link, and `.bioscope` files with one pair a line.
//!
//! Models: nothing; it is a public format, so what is written once stays readable.
//! Rule: never panics, never drops a key in silence; `encode(decode(x)) == x` for every text `encode` can write.
//! Leaves out: whether the values fit together (`check`).
//!
//! Order of a fragment: `v p m`, A's keys in the order of the table, those of single jobs and disks (`job1.bs`), B's with `b.` in
//! front, `b.at`, `z`, `sw sw2 seeds`, `view`, keys that mean nothing here, `t`. Values at their default (the preset's, if there is one) are left out.

use bioscope_core::MODEL_VERSION;

use crate::diagnostic::{Diagnostic, Place, Problems, nearest, shorten};
use crate::packed;
use crate::params::{KEYS, Param};
use crate::preset::{self, PRESETS};
use crate::scenario::{MAX_SEEDS, Moment, Scenario, Side, Sweep, near_key, own_name};
use crate::value::{self, S, Value, print_seconds};
use crate::view::Panels;

/// Version of the link format.
pub const LINK_VERSION: u32 = 1;
/// Longest text that is read, bytes.
pub const MAX_TEXT: usize = 16 * 1024;
/// Most settings that are read: as many as fit into the longest text if none is a mere letter.
const MAX_PAIRS: usize = 2048;
/// A text this short grows by less than [`MAX_TEXT`] when it is written canonically.
const SHORT_TEXT: usize = 4096;
/// So do so few settings of single jobs and disks, unpacked.
const FEW_OWN: usize = 64;
/// What a file has more than a fragment, at most: its title.
const FILE_EXTRA: usize = 256;
/// Settings of single jobs and disks are packed from this many characters on; fewer stay readable.
const PACK_FROM: usize = 120;

/// Settings that are read before all others, wherever they stand: they name devices, or say what a switch that is left
/// out stands for.
pub const FIRST_KEYS: [&str; 4] = ["kernel", "stack", "b.kernel", "b.stack"];

/// The upgraders: `UPGRADES[n - 1]` turns the settings of a text of version n into those of version n + 1.
const UPGRADES: [Upgrade; LINK_VERSION as usize - 1] = [];
type Upgrade = fn(&mut Vec<Pair>);

/// The fragment of a link: what stands behind the first `#`, or the whole text.
pub fn fragment_of(link: &str) -> &str {
    link.split_once('#').map_or(link, |(_, f)| f)
}

/// Reads a fragment, with or without its `#`. What cannot be used is in the list and left out of the scenario.
pub fn decode(fragment: &str) -> (Scenario, Vec<Diagnostic>) {
    let fragment = fragment.strip_prefix('#').unwrap_or(fragment);
    let mut at = 1u32;
    let parts = fragment.split('&').map(|part| {
        let place = Place::Fragment(at);
        at += part.chars().count() as u32 + 1;
        (part, place)
    });
    read_all(fragment, parts)
}

/// Reads a `.bioscope` file: `key=value` lines, blank lines, and comments that start with `#`. A line ends with LF,
/// CR LF or CR. A file without any setting is an error: it is hardly the file that was meant.
pub fn decode_file(text: &str) -> (Scenario, Vec<Diagnostic>) {
    // Some editors begin a file with a byte order mark.
    let content = text.trim_start_matches('\u{feff}');
    let lines = content.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'));
    let mut empty = true;
    let lines = lines.zip(1u32..).map(|(raw, line)| {
        let content = raw.split_once('#').map_or(raw, |(before, _)| before);
        empty &= content.trim().is_empty();
        let indent = content.chars().take_while(|c| c.is_whitespace()).count() as u32;
        (content, Place::File { line, column: indent + 1 })
    });
    let read = read_all(text, lines);
    if empty && read.1.is_empty() {
        return refused("this file holds no setting: one key=value a line is expected".into());
    }
    read
}

/// Writes the fragment of a link, without `#`.
pub fn encode(s: &Scenario) -> String {
    let mut text = String::new();
    write(s, &mut |key, value| {
        if !text.is_empty() {
            text.push('&');
        }
        escape(key, &mut text);
        text.push('=');
        escape(value, &mut text);
    });
    text
}

/// Writes a `.bioscope` file.
pub fn encode_file(s: &Scenario) -> String {
    let mut text = String::new();
    if let Some(p) = s.preset {
        text = ["# ", p.title, "\n"].concat();
    }
    write(s, &mut |key, value| {
        escape(key, &mut text);
        text.push('=');
        escape(value, &mut text);
        text.push('\n');
    });
    text
}

/// The scenario as keys and values in canonical order.
fn write(s: &Scenario, add: &mut dyn FnMut(&str, &str)) {
    add("v", &LINK_VERSION.to_string());
    if let Some(p) = s.preset {
        add("p", p.name);
    }
    if let Some(m) = s.m {
        add("m", &m.to_string());
    }
    for &key in KEYS.iter().filter(|k| s.is_changed(**k)) {
        add(Param::of(key).key, &s.text(Side::A, key));
    }
    let packed = packed(s);
    let of_jobs = |side, add: &mut dyn FnMut(&str, &str)| {
        for own in s.own_edits().filter(|own| own.side == side && packed.is_none()) {
            add(&own.name(), &own.text());
        }
    };
    of_jobs(Side::A, add);
    // B's keys are those of the preset and its own; one of the preset's that is gone needs a fresh start.
    let base = s.preset.map(preset::Preset::b_values).unwrap_or_default();
    let fresh = base.iter().any(|(k, _)| !s.b().iter().any(|(own, _)| own == k));
    if fresh {
        add("b", "0");
    }
    for (key, v) in s.b().iter().filter(|pair| fresh || !base.contains(pair)) {
        add(&own_name(Side::B, None, *key), &Param::of(*key).print(v));
    }
    of_jobs(Side::B, add);
    if let Some(ns) = s.fork {
        add("b.at", &print_seconds(ns));
    }
    if let Some(packed) = &packed {
        add("z", packed);
    }
    if let Some(sweep) = &s.sweep {
        add("sw", &sweep.text());
    }
    if let Some(sweep) = &s.sweep2 {
        add("sw2", &sweep.text());
    }
    if s.seeds != 1 {
        add("seeds", &s.seeds.to_string());
    }
    if s.view != Panels::ALL {
        add("view", &s.view.text());
    }
    for (key, v) in &s.extra {
        add(key, v);
    }
    if let Some(t) = s.t {
        let mut text = print_seconds(t.ns);
        if t.k > 0 {
            text.push('+');
            text += &t.k.to_string();
        }
        add("t", &text);
    }
}

/// The settings of single jobs and disks in one value, where that is shorter than one by one.
fn packed(s: &Scenario) -> Option<String> {
    let plain: usize = s.own_edits().map(|own| own.name().len() + own.text().len() + 2).sum();
    if plain < PACK_FROM {
        return None;
    }
    packed::pack(s.own_edits().count() as u32, s.own_edits().map(|own| (own.name(), own.text())))
        .filter(|packed| packed.len() + "z=&".len() < plain)
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
        return Err(Diagnostic::error(&clip(text), "", "not of the form key=value"));
    };
    match (unescape(key.trim()), unescape(value.trim())) {
        (Some(key), _) if key.is_empty() => {
            Err(Diagnostic::error("", "", ["a key is missing before ", &clip(text)].concat()))
        }
        (Some(key), Some(text)) => Ok(Pair { key, text, place }),
        _ => Err(Diagnostic::error("", "", ["broken % escape in ", &clip(text)].concat())),
    }
}

/// Takes what came of the text at a place.
fn say(problems: &mut Problems, place: Place, d: Diagnostic) {
    problems.push(Diagnostic { place, ..d });
}

fn refused(message: String) -> (Scenario, Vec<Diagnostic>) {
    (Scenario::new(), vec![Diagnostic::error("", "", message)])
}

fn read_all<'a>(whole: &str, parts: impl Iterator<Item = (&'a str, Place)>) -> (Scenario, Vec<Diagnostic>) {
    if whole.len() > MAX_TEXT {
        return refused(format!("{} bytes are too long: {MAX_TEXT} are read", whole.len()));
    }
    let mut pairs = Vec::new();
    let mut problems = Problems::default();
    for (part, place) in parts.filter(|(part, _)| !part.trim().is_empty()) {
        match pair(part, place) {
            Ok(_) if pairs.len() == MAX_PAIRS => return refused(format!("more than {MAX_PAIRS} settings")),
            Ok(p) => pairs.push(p),
            Err(d) => say(&mut problems, place, d),
        }
    }
    let (s, problems) = read(pairs, problems);
    // What was read can be written and read again. A short text always can; a packed one may hold more than fits.
    if whole.len() > SHORT_TEXT || s.own().count() > FEW_OWN {
        let text = encode(&s);
        if text.len() + FILE_EXTRA > MAX_TEXT || text.matches('&').count() >= MAX_PAIRS {
            return refused(format!("these settings are too long to be written again: {MAX_TEXT} bytes are read"));
        }
    }
    (s, problems)
}

fn read(mut pairs: Vec<Pair>, mut problems: Problems) -> (Scenario, Vec<Diagnostic>) {
    for (i, p) in pairs.iter().enumerate() {
        if pairs[..i].iter().any(|earlier| earlier.key == p.key) {
            let d = Diagnostic::warning(&p.key, &p.text, "given more than once; the last one counts");
            say(&mut problems, p.place, d);
        }
    }
    if let Some(p) = last(&pairs, "v") {
        match version(&p.text) {
            Ok(n) => upgrade(&mut pairs, n, &UPGRADES),
            Err(d) => return (Scenario::new(), vec![Diagnostic { place: p.place, ..d }]),
        }
    }
    let mut s = Scenario::new();
    if let Some(p) = last(&pairs, "p") {
        match preset::find(&p.text) {
            Some(preset) => s = Scenario::of(preset),
            None => {
                let names: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
                let d = Diagnostic::error("p", &p.text, "no such preset").allow(names.join(", "));
                let near = nearest(&p.text, PRESETS.iter().map(|p| p.name));
                say(&mut problems, p.place, near.iter().fold(d, |d, near| d.suggest(*near)));
            }
        }
    }
    if let Some(p) = last(&pairs, "b") {
        match p.text.as_str() {
            "0" => s.drop_b(),
            _ => say(&mut problems, p.place, Diagnostic::error("b", &p.text, "no such value").allow("0")),
        }
    }
    for p in pairs.iter().filter(|p| FIRST_KEYS.contains(&p.key.as_str())) {
        if let Err(d) = s.try_text(&p.key, &p.text) {
            say(&mut problems, p.place, d);
        }
    }
    // What is packed comes first: a setting written out is the later word.
    if let Some(p) = last(&pairs, "z")
        && let Err(message) = unpack(&mut s, p, &mut problems)
    {
        say(&mut problems, p.place, Diagnostic::error("z", &p.text, message));
    }
    for p in &pairs {
        if let Some(d) = one(&mut s, &p.key, &p.text) {
            say(&mut problems, p.place, d);
        }
    }
    (s, problems.into_list())
}

fn last<'a>(pairs: &'a [Pair], key: &str) -> Option<&'a Pair> {
    pairs.iter().rev().find(|p| p.key == key)
}

/// The version of a text, if it can be read.
fn version(text: &str) -> Result<u32, Diagnostic> {
    match text.parse::<u32>() {
        Ok(n @ 1..=LINK_VERSION) => Ok(n),
        Ok(n) if n > LINK_VERSION => Err(Diagnostic::error(
            "v",
            text,
            "this link was made by a newer bioscope: open it there, or update this one",
        )),
        _ => Err(Diagnostic::error("v", text, "no such link version").allow(LINK_VERSION.to_string())),
    }
}

/// Brings the settings of a text of version `from` to the newest, one version after the other.
fn upgrade(pairs: &mut Vec<Pair>, from: u32, upgrades: &[Upgrade]) {
    for upgrade in upgrades.iter().skip(from as usize - 1) {
        upgrade(pairs);
    }
}

/// Takes the settings of single jobs and disks that a `z=` holds.
fn unpack(s: &mut Scenario, z: &Pair, problems: &mut Problems) -> Result<(), String> {
    let list = packed::unpack(&z.text)?;
    let mut taken = s.clone();
    for (key, text) in packed::settings(&list)? {
        // Only what belongs to one job or disk is packed.
        let single = key.strip_prefix("b.").unwrap_or(key).contains('.');
        match if single { taken.try_text(key, text) } else { Ok(false) } {
            Ok(true) => {}
            Ok(false) => return Err(["holds ", &clip(key), ", which is no setting of one job or disk"].concat()),
            Err(d) => say(problems, z.place, d),
        }
    }
    *s = taken;
    Ok(())
}

/// Takes one pair; what is worth saying about it comes back.
fn one(s: &mut Scenario, key: &str, text: &str) -> Option<Diagnostic> {
    match key {
        // Taken before all others.
        "v" | "p" | "b" | "z" => return None,
        key if FIRST_KEYS.contains(&key) => return None,
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
        _ => match s.try_text(key, text) {
            Ok(true) => {}
            Ok(false) => {
                s.extra.retain(|(k, _)| k != key);
                s.extra.push((key.into(), text.into()));
                return Some(near_key(Diagnostic::warning(key, text, "no such key: it is kept and does nothing")));
            }
            Err(d) => return Some(d),
        },
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
pub fn moment(text: &str) -> Result<Moment, Diagnostic> {
    let bad = |message: String| Diagnostic::error("t", text, message).allow("a time, +k for the k-th record at it");
    let (time, k) = text.split_once('+').unwrap_or((text, "0"));
    let k = k.parse::<u32>().map_err(|_| bad("no record number behind +".into()))?;
    match value::parse(S, time) {
        Ok(Value::Int(ns)) => Ok(Moment { ns, k }),
        Ok(_) => Err(bad("not a time".into())),
        Err(p) => Err(bad(p.message())),
    }
}

/// The beginning of a text from outside, fit for a message.
fn clip(text: &str) -> String {
    shorten(&text.chars().take(40).collect::<String>())
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

/// Writes as %XX what a fragment cannot hold, what mail programs cut a link at, and what means something to a shell: a
/// link in single quotes is one word of a command.
fn escape(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.,:+@/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let digit = |n: u8| char::from(HEX[usize::from(n)]);
            out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(text: &str) -> String {
        let mut out = String::new();
        escape(text, &mut out);
        out
    }

    #[test]
    fn escapes_go_both_ways() {
        for text in ["plain", "a b", "100%", "a&b=c#d", "\u{e4}\u{1f600}", "3.4s+2"] {
            assert_eq!(unescape(&escaped(text)).as_deref(), Some(text));
        }
        assert_eq!(escaped("\u{e4}\n"), "%C3%A4%0A");
        assert_eq!(escaped("-_.,:+@/'$;()!*?~"), "-_.,:+@/%27%24%3B%28%29%21%2A%3F%7E");
        for broken in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(unescape(broken), None, "{broken}");
        }
    }

    #[test]
    fn old_texts_go_through_every_later_upgrader() {
        let upgrades: [Upgrade; 2] = [
            |pairs| pairs.retain(|p| p.key != "gone"),
            |pairs| {
                pairs.push(Pair { key: "new".into(), text: "1".into(), place: Place::Nowhere });
            },
        ];
        for (from, want) in [(1, "kept new"), (2, "gone kept new"), (3, "gone kept")] {
            let mut pairs: Vec<Pair> = Vec::new();
            for key in ["gone", "kept"] {
                pairs.push(Pair { key: key.into(), text: String::new(), place: Place::Nowhere });
            }
            upgrade(&mut pairs, from, &upgrades);
            let keys: Vec<&str> = pairs.iter().map(|p| p.key.as_str()).collect();
            assert_eq!(keys.join(" "), want, "from {from}");
        }
        assert_eq!(UPGRADES.len() as u32, LINK_VERSION - 1);
    }
}
