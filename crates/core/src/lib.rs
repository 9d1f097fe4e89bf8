//! The simulator: the Linux block layer from `submit_bio` to completion, and an SMR drive below it.
//!
//! Read `sim` first: it owns all state and dispatches events. A bio walks
//! `workload` -> `blk` (`submit_bio`: split, merge, zone write plug, tag, plug list, scheduler) -> `drive`
//! (admission, cache, destage, head) -> completion back through `blk` to its workload.
//! [`config`] says what a run is made of; [`observe`] is the only way to look inside.
//!
//! Models: Linux 7.1 block/ (see the spec notes in each file) and a host-managed SMR hard disk.
//! Rule: one owner, one step; integers in state; (time, seq) order; same input, same trace everywhere.
//! Leaves out: files, screens, clocks, threads.

#![cfg_attr(not(any(feature = "std", test)), no_std)]
#![allow(clippy::large_enum_variant)]

extern crate alloc;

pub mod blk;
mod bus;
pub mod config;
pub mod dm;
pub mod drive;
mod event;
pub mod fifo;
pub mod md;
pub mod observe;
mod rng;
pub mod sim;
mod slab;
mod sorted;
pub mod thread;
pub mod time;
pub mod units;
mod view;
pub mod workload;

/// Raised whenever the same configuration gives another trace than before.
pub const MODEL_VERSION: u32 = 2;
