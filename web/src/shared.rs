//! A value shared between the page's state and its components.
//!
//! Models: nothing.
//! Rule: two are equal when they are the same one: comparing costs nothing, and what changed is always a new one.
//! Leaves out: threads.

use std::ops::Deref;
use std::rc::Rc;

/// See the module.
pub struct Shared<T>(Rc<T>);

impl<T> Shared<T> {
    /// A new one, unequal to all others.
    pub fn new(value: T) -> Self {
        Self(Rc::new(value))
    }
}

impl<T: Clone> Shared<T> {
    /// Replaces it by a changed copy.
    pub fn change(&mut self, f: impl FnOnce(&mut T)) {
        let mut next = (*self.0).clone();
        f(&mut next);
        *self = Self::new(next);
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
