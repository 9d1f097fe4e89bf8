//! A list that is taken from in front.
//!
//! Models: nothing.
//! Rule: one slice, whose taken part is closed up when it is the larger one; copying it is one `memcpy`. A `VecDeque`
//! does each thing in two halves, and its code is compiled once per type, which a page has to download.
//! Leaves out: putting many in front (that moves all), and values that need a destructor.

use alloc::vec::{Drain, Vec};
use core::ops::{Deref, DerefMut, RangeBounds};

/// See the module.
#[derive(Debug)]
pub struct Fifo<T> {
    items: Vec<T>,
    /// Items before this one were taken.
    head: usize,
}

impl<T> Fifo<T> {
    /// Empty.
    pub const fn new() -> Self {
        Self { items: Vec::new(), head: 0 }
    }
    /// Empty, with room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        Self { items: Vec::with_capacity(n), head: 0 }
    }
    /// Places on the heap.
    pub fn capacity(&self) -> usize {
        self.items.capacity()
    }
}

impl<T: Copy> Fifo<T> {
    /// Puts one behind the last.
    #[inline]
    pub fn push_back(&mut self, item: T) {
        self.items.push(item);
    }
    /// Puts one before the first.
    pub fn push_front(&mut self, item: T) {
        match self.head.checked_sub(1) {
            Some(place) => {
                self.head = place;
                self.items[place] = item;
            }
            None => self.items.insert(0, item),
        }
    }
    /// Takes the first.
    #[inline]
    pub fn pop_front(&mut self) -> Option<T> {
        let first = *self.items.get(self.head)?;
        self.head += 1;
        if self.head * 2 >= self.items.len() {
            self.close_up();
        }
        Some(first)
    }
    /// Takes the last.
    pub fn pop_back(&mut self) -> Option<T> {
        if self.is_empty() { None } else { self.items.pop() }
    }
    /// The first.
    #[inline]
    pub fn front(&self) -> Option<&T> {
        self.first()
    }
    /// The first, to be changed.
    pub fn front_mut(&mut self) -> Option<&mut T> {
        self.first_mut()
    }
    /// The last.
    #[inline]
    pub fn back(&self) -> Option<&T> {
        self.last()
    }
    /// The last, to be changed.
    pub fn back_mut(&mut self) -> Option<&mut T> {
        self.last_mut()
    }
    /// Takes the one at `i`, which is there.
    pub fn remove(&mut self, i: usize) -> T {
        if i == 0
            && let Some(first) = self.pop_front()
        {
            return first;
        }
        self.items.remove(self.head + i)
    }
    /// Puts one before the one at `i`.
    pub fn insert(&mut self, i: usize, item: T) {
        self.items.insert(self.head + i, item);
    }
    /// Keeps those that `keep` says.
    pub fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.close_up();
        self.items.retain(keep);
    }
    /// Takes all of a range.
    pub fn drain(&mut self, range: impl RangeBounds<usize>) -> Drain<'_, T> {
        self.close_up();
        self.items.drain(range)
    }
    /// Keeps the first `n`.
    pub fn truncate(&mut self, n: usize) {
        self.items.truncate(self.head + n);
    }
    /// Takes all of another one behind the last.
    pub fn append(&mut self, other: &mut Self) {
        self.items.extend_from_slice(other);
        other.clear();
    }
    /// Takes all.
    pub fn clear(&mut self) {
        self.items.clear();
        self.head = 0;
    }
    fn close_up(&mut self) {
        if self.head == self.items.len() {
            // Nothing to move: the usual case of a short list.
            self.items.clear();
        } else if self.head > 0 {
            self.items.drain(..self.head);
        }
        self.head = 0;
    }
}

impl<T> Default for Fifo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Copy> Clone for Fifo<T> {
    fn clone(&self) -> Self {
        Self { items: self.to_vec(), head: 0 }
    }
}

impl<T: PartialEq> PartialEq for Fifo<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for Fifo<T> {}

impl<T> Deref for Fifo<T> {
    type Target = [T];
    #[inline]
    fn deref(&self) -> &[T] {
        &self.items[self.head..]
    }
}

impl<T> DerefMut for Fifo<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items[self.head..]
    }
}

impl<T> Extend<T> for Fifo<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, iter: I) {
        self.items.extend(iter);
    }
}

impl<T> FromIterator<T> for Fifo<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Self { items: Vec::from_iter(iter), head: 0 }
    }
}

impl<'a, T> IntoIterator for &'a Fifo<T> {
    type Item = &'a T;
    type IntoIter = core::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: Copy> IntoIterator for Fifo<T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;
    fn into_iter(mut self) -> Self::IntoIter {
        self.close_up();
        self.items.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;

    #[test]
    fn it_does_what_a_deque_does() {
        let mut rng = crate::rng::Rng::stream(7, "fifo", 0);
        let (mut fifo, mut deque) = (Fifo::default(), VecDeque::new());
        for n in 0..20_000u32 {
            match rng.below(8) {
                0..=2 => (fifo.push_back(n), deque.push_back(n)).0,
                3 => (fifo.push_front(n), deque.push_front(n)).0,
                4 | 5 => assert_eq!(fifo.pop_front(), deque.pop_front()),
                6 => assert_eq!(fifo.pop_back(), deque.pop_back()),
                _ if deque.len() > 40 => {
                    assert_eq!(Some(fifo.remove(9)), deque.remove(9));
                    fifo.insert(5, n);
                    deque.insert(5, n);
                    assert!(fifo.drain(7..30).eq(deque.drain(7..30)));
                    fifo.retain(|n| n % 3 > 0);
                    deque.retain(|n| n % 3 > 0);
                }
                _ => {}
            }
            assert_eq!((fifo.front(), fifo.back(), fifo.len()), (deque.front(), deque.back(), deque.len()));
            assert!(fifo.iter().eq(&deque));
            assert_eq!(fifo.clone(), fifo);
        }
    }
}
