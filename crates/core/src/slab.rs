//! A store of values addressed by a small index that is reused after removal.
//!
//! Models: nothing.
//! Rule: the next index depends only on earlier calls, so runs repeat. Indices are never shown: traces carry
//! allocation numbers.
//! Leaves out: iteration for anything but views (nothing may depend on slot order).

use alloc::vec::Vec;
use core::ops::{Index, IndexMut};

/// Index of a slot.
pub type Idx = u32;

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct Slab<T> {
    slots: Vec<Option<T>>,
    free: Vec<Idx>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Stores a value.
    pub fn insert(&mut self, value: T) -> Idx {
        match self.free.pop() {
            Some(i) => {
                self.slots[i as usize] = Some(value);
                i
            }
            None => {
                self.slots.push(Some(value));
                (self.slots.len() - 1) as Idx
            }
        }
    }
    /// Where the next value will be stored.
    pub fn next_index(&self) -> Idx {
        self.free.last().copied().unwrap_or(self.slots.len() as Idx)
    }
    /// Takes a value out; its slot is reused.
    pub fn remove(&mut self, i: Idx) -> T {
        self.free.push(i);
        self.slots[i as usize].take().expect("slot is in use")
    }
    /// What is stored, in no order: a view that lists it sorts it.
    pub fn iter(&self) -> impl Iterator<Item = (Idx, &T)> {
        (0..).zip(&self.slots).filter_map(|(i, slot)| slot.as_ref().map(|value| (i, value)))
    }
    /// Values stored.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    /// Bytes of the backing memory.
    pub fn heap_bytes(&self) -> usize {
        self.slots.capacity() * size_of::<Option<T>>() + self.free.capacity() * size_of::<Idx>()
    }
}

impl<T> Index<Idx> for Slab<T> {
    type Output = T;
    #[inline]
    fn index(&self, i: Idx) -> &T {
        self.slots[i as usize].as_ref().expect("slot is in use")
    }
}

impl<T> IndexMut<Idx> for Slab<T> {
    #[inline]
    fn index_mut(&mut self, i: Idx) -> &mut T {
        self.slots[i as usize].as_mut().expect("slot is in use")
    }
}
