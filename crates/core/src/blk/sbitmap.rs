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
    #[inline]
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
    /// What [`Self::get`] leaves behind when no bit is free, without looking.
    #[inline]
    pub fn found_full(&mut self, cpu: u16) {
        let cpu = self.cpu(cpu);
        if self.hints[cpu] >= self.depth {
            self.any();
        }
        self.hints[cpu] = 0;
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
    /// The words in the order in which a search on `cpu` looks, each with whether it has a bit to give.
    pub fn search_order(&self, cpu: u16, shallow: u32) -> impl Iterator<Item = (u32, bool)> {
        let nr = self.map_nr();
        let first = (self.hints[self.cpu(cpu)] >> self.shift).min(nr - 1);
        (first..nr).chain(0..first).map(move |w| {
            let word = self.words[w as usize];
            (w, zero_bit(word.word & !word.cleared, self.word_limit(w, shallow), 0, false).is_some())
        })
    }
    /// Word of a bit.
    pub fn word_of(&self, bit: u32) -> u32 {
        bit >> self.shift
    }
    /// Looks through all words from `w` on; only in the first at `from`.
    #[inline]
    fn find(&mut self, w: u32, from: u32, shallow: u32, wrap: bool) -> Option<u32> {
        self.find_in(w, from, shallow, wrap).or_else(|| self.find_behind(w, shallow, wrap))
    }
    #[inline]
    fn find_in(&mut self, w: u32, from: u32, shallow: u32, wrap: bool) -> Option<u32> {
        // A shallow depth that is all of the map is none.
        let all = if self.per_word { shallow == u32::MAX } else { shallow >= self.depth };
        let limit = if all { self.word_size(w) } else { self.word_limit(w, shallow) };
        let bit = self.words[w as usize].take(limit, from, wrap)?;
        Some((w << self.shift) + bit)
    }
    /// In the words behind `w` and, from the first on, before it.
    fn find_behind(&mut self, w: u32, shallow: u32, wrap: bool) -> Option<u32> {
        let nr = self.map_nr();
        (w + 1..nr).chain(0..w).find_map(|w| self.find_in(w, 0, shallow, wrap))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn map(depth: u32, round_robin: bool) -> Sbitmap {
        Sbitmap::new(depth, round_robin, 1, Rng::stream(1, "tags", 0))
    }

    fn hinted(depth: u32, hint: u32) -> Sbitmap {
        Sbitmap { hints: alloc::vec![hint], ..map(depth, false) }
    }

    /// `n` times: a bit taken and given back.
    fn walk(m: &mut Sbitmap, n: usize) -> Vec<u32> {
        let one = |m: &mut Sbitmap| {
            let bit = m.get(0, u32::MAX).or_else(|| m.get(0, u32::MAX)).unwrap();
            m.clear(bit, 0);
            bit
        };
        (0..n).map(|_| one(m)).collect()
    }

    #[test]
    fn section_3_2_bits_per_word() {
        let words = |d| (map(d, false).bits_per_word(), map(d, false).map_nr());
        assert_eq!([words(32), words(64), words(128), words(256)], [(8, 4), (16, 4), (32, 4), (64, 4)]);
        assert_eq!([words(2048), words(1024)], [(64, 32), (64, 16)]);
        // Below 4 the shift stays; 31 is 7 words of 4 and a last one of 3.
        assert_eq!([words(1), words(3), words(4), words(5), words(31)], [(64, 1), (64, 1), (1, 4), (1, 5), (4, 8)]);
        assert_eq!(map(31, false).word_size(7), 3);
    }

    /// "depth 64, hint 37 -> 32,33..47,32.."
    #[test]
    fn section_3_2_queue_depth_1_walks_a_word() {
        let expected: Vec<u32> = (32..48).chain(32..48).chain(32..40).collect();
        assert_eq!(walk(&mut hinted(64, 37), 40), expected);
    }

    /// "RR depth 32 -> 0..30, 0..23, 31, 0..30, 0..23, 31, .."
    #[test]
    fn section_3_2_round_robin_at_queue_depth_1() {
        let turn = || (0..31).chain(0..24).chain([31]);
        let expected: Vec<u32> = turn().chain(turn()).chain(turn()).collect();
        assert_eq!(walk(&mut map(32, true), expected.len()), expected);
    }

    #[test]
    fn section_3_2_round_robin_does_not_look_back_in_its_word() {
        let mut m = map(8, true);
        // Two bits a word.
        assert_eq!((0..7).map(|_| m.get(0, u32::MAX).unwrap()).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(m.hints(), [0], "7 is depth - 1");
        assert_eq!(m.get(0, u32::MAX), Some(7));
        m.clear(4, 0);
        m.hints[0] = 5;
        assert_eq!(m.get(0, u32::MAX), None, "4 is behind the hint in its word");
        assert_eq!(m.hints(), [0]);
        assert_eq!(m.get(0, u32::MAX), Some(4));
    }

    /// The hint picks the word only; the next words follow cyclically.
    #[test]
    fn section_3_2_the_hint_picks_the_word() {
        let mut m = hinted(32, 29);
        let taken: Vec<u32> = (0..32).filter_map(|_| m.get(0, u32::MAX)).collect();
        // Bits 29 and 30 are what the hint says when they are taken; after 30 it is 0.
        assert_eq!(taken[..9], [24, 25, 26, 27, 28, 29, 30, 0, 1]);
        assert_eq!(taken[31], 31);
        assert_eq!(taken.len(), 32);
        assert_eq!((m.get(0, u32::MAX), m.hints()), (None, &[0][..]), "full: hint 0");
    }

    /// Freeing sets the hint of the CPU that allocated; a batch that of the freeing one, past `cleared`.
    #[test]
    fn section_3_2_freeing() {
        let mut m = Sbitmap::new(64, false, 4, Rng::stream(1, "tags", 0));
        m.hints.fill(0);
        let bits: Vec<u32> = (0..20).map(|_| m.get(0, u32::MAX).unwrap()).collect();
        m.clear(bits[17], 2);
        assert_eq!(m.hints()[2], 17);
        assert!(m.is_cleared(17) && m.weight() == (19, 1));
        m.clear_batch(&[3, 18], 3);
        assert_eq!(m.hints()[3], 18);
        assert!(!m.is_cleared(18) && m.weight() == (17, 1));
        assert_eq!(m.get(3, u32::MAX), Some(18), "17 is still in the mask");
        // Round robin keeps its own hint.
        let mut m = map(64, true);
        let bit = m.get(0, u32::MAX).unwrap();
        m.clear(bit, 0);
        assert_eq!((bit, m.hints()), (0, &[1][..]));
    }

    fn limits(m: &Sbitmap, shallow: u32) -> Vec<u32> {
        (0..m.map_nr()).map(|w| m.word_limit(w, shallow)).collect()
    }

    /// "s=1 1,0,0,0; s=3 1,1,1,0; s=31 8,8,8,7; s=63 16,16,16,15"
    #[test]
    fn section_3_2_shallow() {
        let m = map(64, false);
        assert_eq!(limits(&m, 1), [1, 0, 0, 0]);
        assert_eq!(limits(&m, 3), [1, 1, 1, 0]);
        assert_eq!(limits(&m, 31), [8, 8, 8, 7]);
        assert_eq!(limits(&m, 63), [16, 16, 16, 15]);
        assert_eq!(limits(&m, 64), [16; 4]);
        assert_eq!(limits(&m, u32::MAX), [16; 4]);
        // In all they are the shallow depth, whatever the map.
        for depth in 1..200 {
            let m = map(depth, false);
            for shallow in 0..=depth {
                let sum: u32 = limits(&m, shallow).iter().sum();
                assert!(sum <= shallow && (depth % m.bits_per_word() != 0 || sum == shallow), "{depth} {shallow}");
            }
        }
    }

    /// "5.17 limit per word = min(word size, s): no effect while s >= bits per word."
    #[test]
    fn section_3_2_shallow_in_5_17() {
        let mut m = map(64, false);
        m.set_per_word(true);
        assert_eq!([limits(&m, 1), limits(&m, 3)], [[1; 4], [3; 4]]);
        assert_eq!([limits(&m, 15), limits(&m, 16), limits(&m, 48)], [[15; 4], [16; 4], [16; 4]]);
        assert_eq!((0..80).filter_map(|_| m.get(0, 48)).count(), 64);
    }

    /// The search of a shallow get starts at the hint's bit and wraps.
    #[test]
    fn section_3_2_shallow_get() {
        let mut m = hinted(64, 37);
        let taken: Vec<u32> = (0..64).filter_map(|_| m.get(0, 32)).collect();
        assert_eq!(taken.len(), 32);
        assert_eq!(taken[..10], [37, 38, 39, 32, 33, 34, 35, 36, 48, 49]);
        assert!(taken.iter().all(|t| t % 16 < 8));
        assert_eq!(m.get(0, 32), None);
        assert_eq!(m.get(0, 64), Some(8), "no restriction; the hint went to 0");
    }

    #[test]
    fn section_3_2_resize_keeps_the_width() {
        let mut m = map(64, false);
        m.resize(20);
        assert_eq!((m.depth(), m.bits_per_word(), m.map_nr()), (20, 16, 2));
        assert_eq!((0..64).filter_map(|_| m.get(0, u32::MAX)).count(), 20);
        m.resize(64);
        assert_eq!((0..64).filter_map(|_| m.get(0, u32::MAX)).count(), 44);
        // A map made anew has words of its own width, and new hints.
        let anew = m.anew(256);
        assert_eq!((anew.bits_per_word(), anew.weight()), (64, (0, 0)));
    }
}
