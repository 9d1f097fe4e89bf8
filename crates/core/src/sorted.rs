//! A map in order of its keys.
//!
//! Models: nothing.
//! Rule: keys and places of values in one sorted list, values in a [`Slab`]: putting one in moves keys only. For the
//! numbers met here (zones in use, queued requests) it is as fast as a tree, and a fifth of its code, which a page
//! has to download once per type.
//! Leaves out: everything a tree would do better with millions of keys.

use alloc::vec::Vec;
use core::ops::{Index, RangeBounds};

use crate::slab::{Idx, Slab};

/// What a map is sorted by.
pub trait SortKey: Ord + Copy {
    /// How many places it is behind the first key if all keys between are there; any number where none can tell.
    fn behind(&self, first: &Self) -> usize;
}

impl SortKey for u32 {
    #[inline]
    fn behind(&self, first: &Self) -> usize {
        self.wrapping_sub(*first) as usize
    }
}

impl SortKey for (u16, u32) {
    #[inline]
    fn behind(&self, first: &Self) -> usize {
        self.1.wrapping_sub(first.1) as usize
    }
}

impl SortKey for (u64, u64) {
    #[inline]
    fn behind(&self, _: &Self) -> usize {
        usize::MAX
    }
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct SortedMap<K, V> {
    keys: Vec<(K, Idx)>,
    values: Slab<V>,
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        Self { keys: Vec::new(), values: Slab::default() }
    }
}

impl<K: SortKey, V> SortedMap<K, V> {
    /// Where the key is, or belongs.
    #[inline]
    fn place(&self, key: &K) -> Result<usize, usize> {
        let guess = self.keys.first().map_or(usize::MAX, |(first, _)| key.behind(first));
        // Zones in use stand side by side.
        if self.keys.get(guess).is_some_and(|(k, _)| k == key) {
            return Ok(guess);
        }
        self.search(key)
    }
    fn search(&self, key: &K) -> Result<usize, usize> {
        self.keys.binary_search_by(|(k, _)| k.cmp(key))
    }
    /// The value of a key.
    pub fn get(&self, key: &K) -> Option<&V> {
        self.place(key).ok().map(|at| &self.values[self.keys[at].1])
    }
    /// The value of a key, to change.
    pub fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.place(key).ok().map(|at| &mut self.values[self.keys[at].1])
    }
    /// Puts a value in, in place of the key's earlier one.
    pub fn insert(&mut self, key: K, value: V) {
        match self.place(&key) {
            Ok(at) => self.values[self.keys[at].1] = value,
            Err(at) => self.keys.insert(at, (key, self.values.insert(value))),
        }
    }
    /// The value of a key, made if there is none.
    pub fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let at = self.place(&key).unwrap_or_else(|at| {
            self.keys.insert(at, (key, self.values.insert(make())));
            at
        });
        &mut self.values[self.keys[at].1]
    }
    /// Takes a key out.
    pub fn remove(&mut self, key: &K) -> Option<V> {
        let at = self.place(key).ok()?;
        let (_, value) = self.keys.remove(at);
        Some(self.values.remove(value))
    }
    /// Keys in a range with their values, in order.
    pub fn range(&self, range: impl RangeBounds<K>) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        use core::ops::Bound;
        let from = match range.start_bound() {
            Bound::Included(key) => self.keys.partition_point(|(k, _)| k < key),
            Bound::Excluded(key) => self.keys.partition_point(|(k, _)| k <= key),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(key) => self.keys.partition_point(|(k, _)| k <= key),
            Bound::Excluded(key) => self.keys.partition_point(|(k, _)| k < key),
            Bound::Unbounded => self.keys.len(),
        };
        self.keys[from..to.max(from)].iter().map(|(k, i)| (k, &self.values[*i]))
    }
    /// All, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&K, &V)> {
        self.range(..)
    }
    /// Values in order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, v)| v)
    }
    /// Changes all values, in order of their keys.
    pub fn each_mut(&mut self, mut change: impl FnMut(&mut V)) {
        for (_, i) in &self.keys {
            change(&mut self.values[*i]);
        }
    }
    /// Keys stored.
    pub fn len(&self) -> usize {
        self.keys.len()
    }
    /// True without keys.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.keys.capacity() * size_of::<(K, Idx)>() + self.values.heap_bytes()
    }
}

impl<K: SortKey, V> Index<&K> for SortedMap<K, V> {
    type Output = V;
    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is stored")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;
    use alloc::collections::BTreeMap;

    #[test]
    fn does_what_a_tree_does() {
        let mut rng = Rng::stream(1, "sorted", 0);
        let (mut map, mut tree) = (SortedMap::default(), BTreeMap::new());
        for step in 0..5_000u64 {
            let key = rng.below(100) as u32;
            match rng.below(3) {
                0 => assert_eq!(map.remove(&key), tree.remove(&key)),
                1 => {
                    map.insert(key, step);
                    tree.insert(key, step);
                }
                _ => assert_eq!(map.or_insert_with(key, || step), tree.entry(key).or_insert(step)),
            }
            assert_eq!(map.get(&key), tree.get(&key));
            let (from, to) = (rng.below(100) as u32, rng.below(100) as u32);
            assert!(map.range(from..).eq(tree.range(from..)) && map.range(..=to).rev().eq(tree.range(..=to).rev()));
            assert!(map.iter().eq(tree.iter()) && map.len() == tree.len());
        }
    }
}
