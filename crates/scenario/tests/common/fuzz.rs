//! Hostile links: made from a seed, and what must hold for each.
//!
//! Used by the test of this crate (some) and by `cargo xtask fuzz` (many).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use bioscope_scenario::text::{decode, decode_file, encode, encode_file};
use bioscope_scenario::{Diagnostic, PARAMS, check_all, packed};

use super::{Rng, scenario};

/// Memory that reading, checking and writing one text may take at the same time, bytes.
pub const MAX_MEMORY: usize = 1 << 20;

/// Counts what each thread holds.
pub struct Counting;

thread_local! {
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

fn count(more: usize, less: usize) {
    // A thread at its end has no counters any more.
    let _ = HELD.try_with(|held| {
        let (now, peak) = held.get();
        // What another thread allocated may be freed here.
        let now = (now + more).saturating_sub(less);
        held.set((now, peak.max(now)));
    });
}

// An allocator cannot be written without.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(0, layout.size());
        unsafe { System.dealloc(ptr, layout) }
    }
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new may both be there while it is moved.
        count(size, 0);
        count(0, layout.size());
        unsafe { System.realloc(ptr, layout, size) }
    }
}

/// What `f` gives, and the most it held at the same time.
pub fn measured<R>(f: impl FnOnce() -> R) -> (R, usize) {
    let start = HELD.with(|held| {
        let (now, _) = held.get();
        held.set((now, now));
        now
    });
    let r = f();
    (r, HELD.with(|held| held.get().1) - start)
}

/// A text that may be anything.
pub fn text(rng: &mut Rng, golden: &[&str]) -> String {
    let mut text = match rng.below(12) {
        0..4 => golden[rng.below(golden.len() as u64) as usize].to_string(),
        4..8 => encode(&scenario(rng)),
        8 | 9 => words(rng),
        10 => format!("{}&z={}", encode(&scenario(rng)), packed_rubbish(rng)),
        _ => {
            let n = rng.below(60);
            String::from_utf8_lossy(&(0..n).map(|_| rng.next() as u8).collect::<Vec<_>>()).into_owned()
        }
    };
    for _ in 0..rng.below(5) {
        text = mutated(rng, text, golden);
    }
    if rng.one_in(2000) {
        // As long as a link may be, and a bit more.
        text = text.repeat((17_000 / text.len().max(1)).min(17_000));
    }
    text
}

const PIECES: [&str; 59] = [
    "=",
    "&",
    "#",
    "%",
    "%00",
    "%C3%A4",
    "+",
    ".",
    ",",
    ":",
    "..",
    "*2",
    "-",
    "@",
    "0",
    "1",
    "18446744073709551615",
    "99999999999999999999999999",
    "1e9",
    "0.000000001",
    "KiB",
    "MiB",
    "GiB",
    "z",
    "s",
    "ns",
    "auto",
    "b.",
    "job0.",
    "job255.",
    "job256.",
    "sda.",
    "sdb.",
    "sdbl.",
    "md0.",
    "dm-0.",
    "stack=raid6",
    "stack=dm-crypt",
    "b.stack=none",
    "drive=capped",
    "raid_disks=64",
    "bios=",
    "b.at=",
    "change=",
    "b.change=",
    "1s:",
    ":nr_requests:",
    ":sda.scheduler:",
    "kernel=5.10",
    "b.kernel=6.12",
    "drive=null_blk&zoned=1&capacity=1GiB",
    "zone_size=",
    "sw=",
    "sw2=",
    "seeds=",
    "view=",
    "t=",
    "\u{1f600}",
    "\r\n",
];

/// Keys and pieces of values in no order.
fn words(rng: &mut Rng) -> String {
    let mut text = String::new();
    for _ in 0..rng.below(12) {
        if rng.one_in(3) {
            text += PARAMS[rng.below(PARAMS.len() as u64) as usize].key;
        } else {
            text += PIECES[rng.below(PIECES.len() as u64) as usize];
        }
    }
    text
}

/// A `z=` that is nearly one, or unpacks to too much.
fn packed_rubbish(rng: &mut Rng) -> String {
    let most = if rng.one_in(50) { 5000 } else { 40 };
    let n = rng.below(most);
    let pairs: Vec<(String, String)> = (0..n)
        .map(|i| match rng.below(3) {
            0 => (words(rng), words(rng)),
            1 => (format!("job{}.bs", i % 256), "64k".into()),
            _ => (format!("b.job{}.iodepth", rng.below(256)), "1k".into()),
        })
        .collect();
    let count = if rng.one_in(4) { rng.next() as u32 } else { n as u32 };
    packed::pack(count, pairs.into_iter()).unwrap_or_default()
}

fn mutated(rng: &mut Rng, mut text: String, golden: &[&str]) -> String {
    let at = |rng: &mut Rng, text: &str| {
        let mut at = rng.below(text.len() as u64 + 1) as usize;
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (i, j) = (at(rng, &text), at(rng, &text));
    let (from, to) = (i.min(j), i.max(j));
    match rng.below(7) {
        0 => text.truncate(i),
        1 => text.replace_range(from..to, ""),
        2 => text.insert_str(i, PIECES[rng.below(PIECES.len() as u64) as usize]),
        3 => text.insert(i, char::from_u32(rng.below(0x300) as u32).unwrap_or('?')),
        4 => {
            let part = text[from..to].to_string();
            text.insert_str(i, &part);
        }
        5 => {
            // One character for another.
            if let Some(c) = text[i..].chars().next() {
                let other = char::from(b' ' + rng.below(95) as u8).to_string();
                text.replace_range(i..i + c.len_utf8(), &other);
            }
        }
        _ => {
            let other = golden[rng.below(golden.len() as u64) as usize];
            let j = at(rng, other);
            text.truncate(i);
            text.push_str(&other[j..]);
        }
    }
    text
}

/// Reads, checks and writes a text as a fragment, or as a file; the most memory one of these took.
pub fn holds(text: &str, file: bool) -> usize {
    let once = |text: &str| {
        measured(|| {
            let (s, problems) = if file { decode_file(text) } else { decode(text) };
            let (a, _, more) = check_all(&s);
            assert!(a.is_some() || more.iter().any(Diagnostic::is_error));
            let said: usize = problems.iter().chain(&more).map(|d: &Diagnostic| d.to_string().len()).sum();
            assert!(said < MAX_MEMORY);
            let written = if file { encode_file(&s) } else { encode(&s) };
            (s, written)
        })
    };
    let ((s, written), memory) = once(text);
    let ((again, rewritten), once_more) = once(&written);
    assert!(s == again && s.hash() == again.hash(), "{written}");
    assert_eq!(rewritten, written);
    memory.max(once_more)
}
