//! Tags: a bitmap with a search order.
//!
//! Models: lib/sbitmap.c get (kernel 3.2): a hint per CPU, or round robin as libata asks for.
//! Rule: a tag is held by one request at a time.
//! Leaves out: the `cleared` masks, wait queues and wake_batch: sleepers are woken one a freed tag.

use alloc::vec::Vec;

use crate::config::TagAlloc;
use crate::slab::Idx;
use crate::units::Tag;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Tags {
    holders: Vec<Option<Idx>>,
    busy: u32,
    alloc: TagAlloc,
    /// Next tag to look at, per CPU (one entry for round robin).
    hints: Vec<Tag>,
}

impl Tags {
    /// A bitmap of `depth` free tags.
    pub fn new(depth: u32, alloc: TagAlloc, nr_cpus: u16) -> Self {
        let depth = depth.max(1);
        let n = if alloc == TagAlloc::RoundRobin { 1 } else { u32::from(nr_cpus.max(1)) };
        // Spread over the map, as the kernel's random start does on average.
        let hints = (0..n).map(|cpu| depth * cpu / n).collect();
        Self { holders: alloc::vec![None; depth as usize], busy: 0, alloc, hints }
    }
    /// Number of tags.
    pub fn depth(&self) -> u32 {
        self.holders.len() as u32
    }
    /// A free tag exists.
    pub fn any_free(&self) -> bool {
        self.busy < self.depth()
    }
    /// Bits a word of the sbitmap has: 64, halved while four words would not fit the depth.
    pub fn bits_per_word(&self) -> u32 {
        let mut shift = 6;
        while self.depth() >= 4 && (4u32 << shift) > self.depth() {
            shift -= 1;
        }
        1 << shift
    }
    /// Takes a tag for the request about to be stored in `rq`; a `shallow` depth leaves the upper bits of each word to
    /// others.
    pub fn get(&mut self, cpu: u16, rq: Idx, shallow: u32) -> Option<Tag> {
        if !self.any_free() {
            return None;
        }
        let hint = self.hints.len().min(usize::from(cpu) + 1) - 1;
        let depth = self.depth();
        let start = self.hints[hint];
        let tag = (0..depth)
            .map(|i| (start + i) % depth)
            .find(|t| self.holders[*t as usize].is_none() && self.allowed(*t, shallow))?;
        self.holders[tag as usize] = Some(rq);
        self.busy += 1;
        if self.alloc == TagAlloc::RoundRobin || tag == start {
            self.hints[hint] = (tag + 1) % depth;
        }
        Some(tag)
    }
    /// `__map_depth_with_shallow`: word w of b bits may use floor(b s / D) of them, one more while the remainder lasts.
    fn allowed(&self, tag: Tag, shallow: u32) -> bool {
        let (depth, bits) = (self.depth(), self.bits_per_word());
        if shallow >= depth {
            return true;
        }
        let word = tag / bits;
        let size = bits.min(depth - word * bits);
        let (whole, rest) = (size * shallow / depth, size * shallow % depth);
        tag % bits < whole + u32::from(rest >= (word + 1) * size)
    }
    /// Gives a tag back.
    pub fn put(&mut self, tag: Tag) {
        debug_assert!(self.holders[tag as usize].is_some());
        self.holders[tag as usize] = None;
        self.busy -= 1;
    }
    /// Request slots by tag.
    pub fn holders(&self) -> &[Option<Idx>] {
        &self.holders
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.holders.capacity() * size_of::<Option<Idx>>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_robin_goes_on_from_the_last_tag() {
        let mut t = Tags::new(4, TagAlloc::RoundRobin, 8);
        assert_eq!([t.get(0, 0, 4), t.get(5, 0, 4)], [Some(0), Some(1)]);
        t.put(0);
        let mut next = || t.get(0, 0, 4);
        assert_eq!([next(), next(), next(), next()], [Some(2), Some(3), Some(0), None]);
    }

    /// kernel 3.2: shallow depths of a map of 64 tags, 16 a word.
    #[test]
    fn section_3_2_shallow() {
        let words = |shallow| {
            let t = Tags::new(64, TagAlloc::Hint, 1);
            [0u32, 1, 2, 3].map(|w| (0..16).filter(|b| t.allowed(w * 16 + b, shallow)).count())
        };
        assert_eq!(words(1), [1, 0, 0, 0]);
        assert_eq!(words(3), [1, 1, 1, 0]);
        assert_eq!(words(31), [8, 8, 8, 7]);
        assert_eq!(words(63), [16, 16, 16, 15]);
        assert_eq!(words(64), [16, 16, 16, 16]);
    }

    #[test]
    fn words_are_as_wide_as_the_kernels() {
        let width = |d| Tags::new(d, TagAlloc::Hint, 1).bits_per_word();
        assert_eq!([width(32), width(64), width(128), width(256)], [8, 16, 32, 64]);
    }
}
