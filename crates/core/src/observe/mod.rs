//! The two ways out of the simulator: records pushed ([`trace`]) and a copy pulled ([`snapshot`]),
//! with the running figures ([`stats`]) and reasons for waiting ([`why`]) both carry.
//! [`gaps`] is a listener: how far apart a device's commands are.
//!
//! Models: nothing.
//! Rule: observers never change a run.
//! Leaves out: text and pictures.

pub mod check;
pub mod gaps;
pub mod snapshot;
pub mod stats;
pub mod trace;
pub mod why;
