//! No scheduler: requests that found no way to the driver wait in submission order.
//!
//! Models: the ctx lists of blk-mq with one hardware queue (kernel 4.1, 3.6).
//! Rule: first in, first out.
//! Leaves out: one list a CPU.

use super::Queued;
use crate::fifo::Fifo;
use crate::slab::Idx;

/// See the module.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct CtxList {
    list: Fifo<Queued>,
}

impl CtxList {
    /// Appends.
    pub fn insert(&mut self, r: Queued) {
        self.list.push_back(r);
    }
    /// Takes the oldest.
    pub fn dispatch(&mut self) -> Option<Idx> {
        self.list.pop_front().map(|r| r.rq)
    }
    /// Queued requests, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Idx> + '_ {
        self.list.iter().map(|r| r.rq)
    }
}
