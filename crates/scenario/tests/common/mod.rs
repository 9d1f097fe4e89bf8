//! Random scenarios for the tests of this crate.

// Not every test needs all of it.
#![allow(dead_code)]

pub mod fuzz;

use bioscope_core::config::Distribution;
use bioscope_scenario::changes::{self, Written};
use bioscope_scenario::scenario::MAX_SEEDS;
use bioscope_scenario::value::{Fault, Value};
use bioscope_scenario::view::{Panels, WORDS};
use bioscope_scenario::{Instance, KEYS, Key, Moment, Own, PRESETS, Param, Scenario, Scope, Side, Sweep, Unit};

/// xorshift64*, good enough to vary tests.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
    /// Small numbers as likely as large ones.
    pub fn up_to(&mut self, max: u64) -> u64 {
        let bits = self.below(65);
        let n = if bits == 64 { self.next() } else { self.next() & ((1 << bits) - 1) };
        if max == u64::MAX { n } else { n % (max + 1) }
    }
}

/// All published links.
pub fn golden() -> Vec<&'static str> {
    let lines = include_str!("../golden_urls.txt").lines();
    lines.filter_map(|l| l.split_once(' ').filter(|_| !l.starts_with('#'))).map(|(_, link)| link).collect()
}

/// Any value a row allows.
pub fn value(rng: &mut Rng, key: Key) -> Value {
    let row = Param::of(key);
    if row.has_auto() && rng.one_in(4) {
        return Value::Auto;
    }
    let within = |rng: &mut Rng| row.min + rng.up_to(row.max - row.min);
    match row.unit {
        Unit::Word(words) => Value::Word(rng.below(words.len() as u64) as u8),
        Unit::Bool => Value::Int(rng.below(2)),
        Unit::Zones if rng.one_in(2) => Value::Zones(1 + rng.up_to(200_000)),
        Unit::ByteRange => {
            let (a, b) = (within(rng), within(rng));
            Value::Range(a.min(b), a.max(b))
        }
        Unit::Faults => Value::Faults(
            (0..rng.below(3))
                .map(|_| {
                    let from = rng.up_to(1 << 50);
                    let whole = rng.one_in(3);
                    Fault {
                        sector: rng.up_to(u64::MAX),
                        nr_sectors: rng.up_to(u64::MAX),
                        from: if whole { 0 } else { from },
                        until: if whole { u64::MAX } else { from + 1 + rng.up_to(1 << 50) },
                        status: if rng.one_in(2) {
                            bioscope_core::units::BlkStatus::Medium
                        } else {
                            bioscope_core::units::BlkStatus::IoErr
                        },
                    }
                })
                .collect(),
        ),
        Unit::Sizes | Unit::Numbers => Value::Sizes((0..rng.below(4)).map(|_| within(rng)).collect()),
        Unit::DirBytes | Unit::DirCount => Value::Dirs(within(rng), within(rng)),
        Unit::Splits => {
            // Shares that are printed and read again stay what they are.
            let n = rng.below(4);
            let list = |rng: &mut Rng| (0..n).map(|_| (within(rng), 1 + rng.below(100 / n) as u8)).collect::<Vec<_>>();
            Value::Splits([list(rng), list(rng)])
        }
        Unit::Law => Value::Law(law(rng)),
        Unit::Changes => {
            let keys: Vec<Key> = changes::live().collect();
            let mut list: Vec<Written> = (0..rng.below(5))
                .map(|_| {
                    let key = keys[rng.below(keys.len() as u64) as usize];
                    let value = match value(rng, key) {
                        Value::Auto if !matches!(key, Key::MaxSectorsKb | Key::WbtLatUsec) => Value::Int(8),
                        v => v,
                    };
                    let disk = rng.one_in(2).then(|| rng.below(64) as u8);
                    Written { at: rng.up_to(1 << 40), disk, key, value }
                })
                .collect();
            list.sort_by_key(|w| w.at);
            Value::Changes(list)
        }
        _ => Value::Int(within(rng)),
    }
}

fn law(rng: &mut Rng) -> Distribution {
    let center = rng.one_in(2).then(|| rng.below(1001) as u16);
    match rng.below(5) {
        0 => Distribution::Random,
        1 => Distribution::Zipf { theta: 1 + rng.below(999) as u32, center },
        2 => Distribution::Pareto { h: 1 + rng.below(999) as u32, center },
        3 => Distribution::Normal { deviation: rng.below(100) as u8, center },
        _ => {
            let absolute = rng.one_in(2);
            let size = |rng: &mut Rng| if absolute { rng.up_to(1 << 40) } else { 1 + rng.below(50) };
            let one = |rng: &mut Rng| vec![(90, size(rng)), (10, size(rng))];
            Distribution::Zoned { absolute, parts: [one(rng), one(rng)] }
        }
    }
}

/// Any scenario the text format can say.
pub fn scenario(rng: &mut Rng) -> Scenario {
    let mut s =
        if rng.one_in(4) { Scenario::new() } else { Scenario::of(&PRESETS[rng.below(PRESETS.len() as u64) as usize]) };
    if rng.one_in(3) {
        // Without a word about them, stacks over zoned disks are refused.
        let stack = value(rng, Key::Stack);
        s.set(Side::A, Key::Stack, stack);
        let drive = value(rng, Key::Drive);
        s.set(Side::A, Key::Drive, drive);
    }
    let edits = rng.below(8);
    for _ in 0..edits {
        let key = KEYS[rng.below(KEYS.len() as u64) as usize];
        let v = value(rng, key);
        s.set(Side::A, key, v);
    }
    match rng.below(4) {
        0 => s.drop_b(),
        1 => {
            for _ in 0..rng.below(4) {
                let key = KEYS[rng.below(KEYS.len() as u64) as usize];
                if key != Key::Seed {
                    let v = value(rng, key);
                    s.set(Side::B, key, v);
                }
            }
        }
        _ => {}
    }
    if rng.one_in(3) {
        let of_jobs = !s.is_stacked() || rng.one_in(2);
        let fits = |scope: Scope| match of_jobs {
            true => scope == Scope::Job,
            false => matches!(scope, Scope::Disk | Scope::Device),
        };
        let keys: Vec<Key> = KEYS.iter().copied().filter(|k| fits(Param::of(*k).scope)).collect();
        // Now and then so many that they are packed.
        let most = if rng.one_in(10) { 200 } else { 6 };
        for _ in 0..rng.below(most) {
            let key = keys[rng.below(keys.len() as u64) as usize];
            let side = if s.has_b() && rng.one_in(4) { Side::B } else { Side::A };
            let of = if of_jobs { Instance::Job(rng.up_to(1023) as u16) } else { Instance::Disk(rng.up_to(63) as u8) };
            s.set_own(Own { side, of, key, value: value(rng, key) });
        }
    }
    if rng.one_in(4) {
        s.fork = Some(1 + rng.up_to(1 << 62));
    }
    if rng.one_in(6) {
        s.sweep2 = Some(Sweep { key: Key::Bs, values: (1..=1 + rng.below(8)).map(|n| Value::Int(n << 12)).collect() });
    }
    if rng.one_in(6) {
        s.seeds = 1 + rng.below(u64::from(MAX_SEEDS)) as u32;
    }
    if rng.one_in(4) {
        let words: Vec<&str> = WORDS.into_iter().filter(|_| rng.one_in(2)).collect();
        s.view = Panels::parse(&words.join(",")).unwrap_or(Panels::ALL);
    }
    if rng.one_in(3) {
        let sweep = Sweep { key: Key::Iodepth, values: (1..=1 + rng.below(8)).map(Value::Int).collect() };
        s.sweep = s.preset.is_none_or(|p| p.sweep() != sweep).then_some(sweep);
    }
    if rng.one_in(3) {
        s.t = Some(Moment { ns: rng.up_to(1 << 62), k: rng.up_to(u64::from(u32::MAX)) as u32 });
    }
    if rng.one_in(4) {
        s.m = Some(rng.up_to(u64::from(u32::MAX)) as u32);
    }
    for _ in 0..rng.below(3) {
        let key = ["job1.kolibri", "sdzz.bs", "kolibri", "a b", "x\u{e4}"][rng.below(5) as usize];
        if !s.extra.iter().any(|(k, _)| k == key) {
            let text: String = (0..rng.below(6))
                .map(|_| ['a', '1', '%', '&', '#', ' ', '\u{1f600}', '+'][rng.below(8) as usize])
                .collect();
            s.extra.push((key.into(), text.trim().into()));
        }
    }
    s
}
