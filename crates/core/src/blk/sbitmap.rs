//! A bitmap of words, with hints where to look and a cheap way to give bits back.
//!
//! Models: lib/sbitmap.c, 7.1 (kernel 3.2).
//! Rule: a bit given back goes to its word's `cleared` mask and looks taken until the word has no other bit to give;
//! then all of the mask is folded back at once. So a tag is not used again at once, and a queue depth of 1 walks a word.
//! Leaves out: wait queues (`tag.rs`); the atomics, as one CPU at a time looks at a map.

use alloc::vec::Vec;

use crate::rng::Rng;

/// One word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Word {
    /// Taken, or given back and not folded yet.
    word: u64,
    /// Given back since the last fold: a part of `word`.
    cleared: u64,
}

impl Word {
    /// Takes the first bit below `limit` at or after `from`; with `wrap`, else one before it.
    #[inline]
    fn take(&mut self, limit: u32, from: u32, wrap: bool) -> Option<u32> {
        let bit = match zero_bit(self.word, limit, from, wrap) {
            None if self.cleared != 0 => {
                self.fold();
                zero_bit(self.word, limit, from, wrap)
            }
            bit => bit,
        }?;
        self.word |= 1 << bit;
        Some(bit)
    }
    /// `sbitmap_deferred_clear`
    fn fold(&mut self) {
        self.word &= !self.cleared;
        self.cleared = 0;
    }
}

/// The low `n` bits, n at most 64.
#[inline]
fn low_bits(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// `__sbitmap_get_word` without taking it.
#[inline]
fn zero_bit(word: u64, limit: u32, from: u32, wrap: bool) -> Option<u32> {
    let free = !word & low_bits(limit);
    let ahead = free & !low_bits(from);
    let of = if ahead == 0 && wrap { free } else { ahead };
    (of != 0).then(|| of.trailing_zeros())
}

/// `sbitmap_calculate_shift`: 64 bits a word, halved while four words would not fit the depth.
fn shift_of(depth: u32) -> u32 {
    let mut shift = 6;
    while depth >= 4 && (4u32 << shift) > depth {
        shift -= 1;
    }
    shift
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Sbitmap {
    depth: u32,
    shift: u32,
    round_robin: bool,
    /// A shallow depth counts for every word (5.17), not for the map.
    per_word: bool,
    /// As many as the map was made with; shrinking leaves the last ones unused.
    words: Vec<Word>,
    /// alloc_hint: where a CPU looks first.
    hints: Vec<u32>,
    rng: Rng,
}

impl Sbitmap {
    /// A map of `depth` free bits.
    pub fn new(depth: u32, round_robin: bool, nr_cpus: u16, rng: Rng) -> Self {
        let depth = depth.max(1);
        let shift = shift_of(depth);
        let words = alloc::vec![Word::default(); (depth as usize).div_ceil(1 << shift)];
        let hints = alloc::vec![0; usize::from(nr_cpus.max(1))];
        let mut map = Self { depth, shift, round_robin, per_word: false, words, hints, rng };
        if !round_robin {
            for cpu in 0..map.hints.len() {
                map.hints[cpu] = map.any();
            }
        }
        map
    }
    /// Another map of `depth` free bits with this one's rules.
    pub fn anew(&self, depth: u32) -> Self {
        let mut map = Self::new(depth, self.round_robin, self.hints.len() as u16, self.rng);
        map.per_word = self.per_word;
        map
    }
    /// A shallow depth counts for every word (5.17), not for the map.
    pub fn set_per_word(&mut self, per_word: bool) {
        self.per_word = per_word;
    }
    /// Any place of the map.
    fn any(&mut self) -> u32 {
        self.rng.below(u64::from(self.depth)) as u32
    }
    /// Bits it may give.
    pub fn depth(&self) -> u32 {
        self.depth
    }
    /// round_robin
    pub fn round_robin(&self) -> bool {
        self.round_robin
    }
    /// Bits of a word.
    pub fn bits_per_word(&self) -> u32 {
        1 << self.shift
    }
    /// map_nr: words in use.
    pub fn map_nr(&self) -> u32 {
        self.depth.div_ceil(1 << self.shift)
    }
    /// alloc_hint of each CPU.
    pub fn hints(&self) -> &[u32] {
        &self.hints
    }
    /// The bit was given back and waits in the `cleared` mask.
    pub fn is_cleared(&self, bit: u32) -> bool {
        let word = self.words.get((bit >> self.shift) as usize);
        word.is_some_and(|w| w.cleared >> (bit & self.mask()) & 1 != 0)
    }
    #[inline]
    fn mask(&self) -> u32 {
        (1 << self.shift) - 1
    }
    #[inline]
    fn cpu(&self, cpu: u16) -> usize {
        usize::from(cpu).min(self.hints.len() - 1)
    }
    /// Bits of word `w`.
    fn word_size(&self, w: u32) -> u32 {
        self.bits_per_word().min(self.depth.saturating_sub(w << self.shift))
    }
    /// Bits of word `w` that an allocation of this shallow depth may use (`u32::MAX`: all).
    pub fn word_limit(&self, w: u32, shallow: u32) -> u32 {
        let size = self.word_size(w);
        if self.per_word {
            return size.min(shallow);
        }
        if shallow >= self.depth {
            return size;
        }
        // Below 2^38: a word has at most 64 bits.
        let (part, depth) = (u64::from(size) * u64::from(shallow), u64::from(self.depth));
        (part / depth) as u32 + u32::from(part % depth >= u64::from(w + 1) * u64::from(size))
    }
    /// Takes a bit for a task on `cpu`: `sbitmap_get`, or `sbitmap_get_shallow` when `shallow` is not `u32::MAX`.
    pub fn get(&mut self, cpu: u16, shallow: u32) -> Option<u32> {
        let cpu = self.cpu(cpu);
        let mut hint = self.hints[cpu];
        if hint >= self.depth {
            hint = self.any();
            self.hints[cpu] = hint;
        }
        let unlimited = shallow == u32::MAX;
        // A plain search takes the word from the hint and begins at its first bit.
        let from = if unlimited && !self.round_robin { 0 } else { hint & self.mask() };
        let found = self.find(hint >> self.shift, from, shallow, !(unlimited && self.round_robin));
        match found {
            // A hint is of no use in a full map.
            None => self.hints[cpu] = 0,
            Some(bit) if bit == hint || self.round_robin => {
                self.hints[cpu] = if bit + 1 >= self.depth - 1 { 0 } else { bit + 1 };
            }
            Some(_) => {}
        }
        found
    }
    /// Looks through all words from `w` on; only in the first at `from`.
    fn find(&mut self, mut w: u32, mut from: u32, shallow: u32, wrap: bool) -> Option<u32> {
        let nr = self.map_nr();
        for _ in 0..nr {
            let limit = if shallow == u32::MAX { self.word_size(w) } else { self.word_limit(w, shallow) };
            if let Some(bit) = self.words[w as usize].take(limit, from, wrap) {
                return Some((w << self.shift) + bit);
            }
            from = 0;
            w = if w + 1 == nr { 0 } else { w + 1 };
        }
        None
    }
    /// `sbitmap_queue_clear`: gives a bit back that was taken on `cpu`.
    #[inline]
    pub fn clear(&mut self, bit: u32, cpu: u16) {
        let place = 1 << (bit & self.mask());
        if let Some(w) = self.words.get_mut((bit >> self.shift) as usize) {
            w.cleared |= place & w.word;
        }
        self.hint_freed(bit, cpu);
    }
    /// `sbitmap_queue_clear_batch`: gives bits back at once on `cpu`, past the masks.
    pub fn clear_batch(&mut self, bits: &[u32], cpu: u16) {
        for bit in bits {
            let place = 1 << (bit & self.mask());
            if let Some(w) = self.words.get_mut((bit >> self.shift) as usize) {
                w.word &= !place;
            }
        }
        if let Some(last) = bits.last() {
            self.hint_freed(*last, cpu);
        }
    }
    #[inline]
    fn hint_freed(&mut self, bit: u32, cpu: u16) {
        if !self.round_robin && bit < self.depth {
            let cpu = self.cpu(cpu);
            self.hints[cpu] = bit;
        }
    }
    /// `sbitmap_resize`, within what the map was made with: the width of words stays.
    pub fn resize(&mut self, depth: u32) {
        self.words.iter_mut().for_each(Word::fold);
        self.depth = depth.clamp(1, (self.words.len() as u32) << self.shift);
    }
    /// Takes this very bit, when a map is made anew.
    pub(super) fn take(&mut self, bit: u32) {
        if let Some(w) = self.words.get_mut((bit >> self.shift) as usize) {
            w.word |= 1 << (bit & ((1 << self.shift) - 1));
        }
    }
    /// Bits taken, and bits that wait in `cleared` masks.
    pub fn weight(&self) -> (u32, u32) {
        let count = |of: fn(&Word) -> u64| self.words.iter().map(|w| of(w).count_ones()).sum();
        (count(|w| w.word & !w.cleared), count(|w| w.cleared))
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<Word>() + self.hints.capacity() * size_of::<u32>()
    }
}
