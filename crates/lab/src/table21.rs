//! 21: one write of 31 MiB that starts eight sectors beside raid0's chunks.
//!
//! Models: kernel 1.2, 1.4, 2.2.
//! Rule: the published lines are the first ten and the last four of an order that is told: all long parts ascending,
//! then all tails descending. The cells compare the whole order, record by record.
//! Leaves out: Q of the members, P, U, D and C, which the listing does not have; whether a tail is a request of its own.

use bioscope_core::observe::trace::Action;

use crate::table::{Cells, Measured, Table, equal_in_place, rule};
use crate::validate::Shape;

/// See the module.
pub static TABLE: Table = Table {
    name: "21",
    source: "linux-raid, \"md/raid0: Fix performance regression for large sequential writes\" (August 2023): one write of \
             63392 sectors at 1479315464 on a raid0 of two disks, 512 KiB chunks; nothing is fitted",
    runs,
    seeds: 1,
    judge,
    outside: &[],
};

const START: u64 = 1_479_315_464;
const SECTORS: u64 = 63_392;
const CHUNK: u64 = 1024;
const DATA_OFFSET: u64 = 264_192;
/// Pieces that cross a chunk.
const SPLIT: u64 = 61;

/// A line of the listing: action, device, sector, sectors or the remainder's start.
type Entry = (Action, u16, u64, u64);

fn runs() -> Vec<String> {
    ["tail", "head"].map(|insert| format!("p=raid0-unaligned&b=0&split_insert={insert}")).into()
}

/// A part of the array on its member.
fn member(sector: u64) -> (u16, u64) {
    let chunk = sector / CHUNK;
    ((chunk % 2) as u16, chunk / 2 * CHUNK + sector % CHUNK + DATA_OFFSET)
}

/// The n-th piece: where it starts, its long part, its tail.
fn piece(n: u64) -> (u64, u64, u64) {
    let (start, sectors) = (START + n * CHUNK, (SECTORS - n * CHUNK).min(CHUNK));
    let front = sectors.min(CHUNK - start % CHUNK);
    (start, front, sectors - front)
}

fn remap(sector: u64, sectors: u64) -> Entry {
    let (dev, at) = member(sector);
    (Action::Remap, dev, at, sectors)
}

/// X of each piece, A and G of its long part, in order; then A of the tails, the last first.
fn listed() -> Vec<Entry> {
    let mut all = vec![(Action::Queue, 2, START, SECTORS)];
    for n in 0..=SPLIT {
        let (start, front, _) = piece(n);
        if n < SPLIT {
            all.push((Action::Split, 2, start, start + CHUNK));
        }
        let (dev, at) = member(start);
        all.extend([remap(start, front), (Action::GetRq, dev, at, front)]);
    }
    all.extend((0..SPLIT).rev().map(piece).map(|(start, front, tail)| remap(start + front, tail)));
    all
}

/// The same of a run: G only of long parts, as in the listing.
fn records(m: &Measured) -> Vec<Entry> {
    let shown = |r: &&bioscope_core::observe::trace::TraceRecord| match r.action {
        Action::Queue => r.dev == 2,
        Action::Split | Action::Remap => true,
        Action::GetRq => r.nr_sectors > 8,
        _ => false,
    };
    let entry = |r: &bioscope_core::observe::trace::TraceRecord| {
        let last = if r.action == Action::Split { r.arg } else { u64::from(r.nr_sectors) };
        (r.action, r.dev, r.sector, last)
    };
    m.trace.iter().filter(shown).map(entry).collect()
}

/// After the fix: each long part and its tail, then the next.
fn in_pairs() -> Vec<Entry> {
    (0..=SPLIT)
        .flat_map(|n| {
            let (start, front, tail) = piece(n);
            [remap(start, front), remap(start + front, tail)]
        })
        .filter(|e| e.3 > 0)
        .collect()
}

fn remaps(m: &Measured) -> Vec<Entry> {
    records(m).into_iter().filter(|e| e.0 == Action::Remap).collect()
}

fn judge(t: &mut Cells) -> Vec<Shape> {
    let (listed, pairs) = (listed(), in_pairs());
    let (all, of_pairs) = (listed.len() as f64, pairs.len() as f64);
    let (before, after) = (records(t.run(0)), remaps(t.run(1)));
    t.cell(0, "Q, X, A and G of 62 pieces, then A of 61 tails, reversed", "before", "matches", all, |m| {
        equal_in_place(&records(m), &listed)
    });
    t.cell(1, "A of each long part and its tail together", "after", "matches", of_pairs, |m| {
        equal_in_place(&remaps(m), &pairs)
    });
    let longer = [("before", before.len(), listed.len()), ("after", after.len(), pairs.len())];
    let breaks = longer.iter().filter(|(_, got, want)| got != want).map(|(v, got, _)| format!("{v}: {got} records"));
    vec![rule("there are no other records of these kinds", breaks.collect())]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that the mail prints.
    #[test]
    fn the_told_order_has_the_printed_lines() {
        let all = listed();
        assert_eq!(all.len(), 1 + 61 * 3 + 2 + 61);
        let printed = [
            (Action::Queue, 2, 1_479_315_464, 63_392),
            (Action::Split, 2, 1_479_315_464, 1_479_316_488),
            (Action::Remap, 0, 739_921_928, 1016),
            (Action::GetRq, 0, 739_921_928, 1016),
            (Action::Split, 2, 1_479_316_488, 1_479_317_512),
            (Action::Remap, 1, 739_921_928, 1016),
            (Action::GetRq, 1, 739_921_928, 1016),
            (Action::Split, 2, 1_479_317_512, 1_479_318_536),
            (Action::Remap, 0, 739_922_952, 1016),
            (Action::GetRq, 0, 739_922_952, 1016),
        ];
        assert_eq!(all[..10], printed);
        // Of the array: 1479377920, 1479376896, 1479375872, 1479374848.
        let tails = [(1, 739_952_640), (0, 739_952_640), (1, 739_951_616), (0, 739_951_616)];
        assert_eq!(all[1 + 61 * 3 + 2..][..4], tails.map(|(dev, at)| (Action::Remap, dev, at, 8)));
    }
}
