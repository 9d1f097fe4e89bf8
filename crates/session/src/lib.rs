//! Headless playback of one or two runs: load, pre-simulate, play, seek, step, frames.
//!
//! Models: nothing; it drives `bioscope-core` and keeps what a player needs.
//! Rule: a moment is reached by nearest checkpoint + replay, so it is the same however one gets there.
//! Leaves out: clocks and screens. The caller says how much wall time went by and how much work is allowed.
//!
//! Read [`Session`] first. A [`run::Run`] is one side of it: its checkpoints, its overview and the
//! [`cursor::Cursor`] that stands at the current moment.

pub mod cursor;
pub mod frame;
pub mod order;
pub mod overview;
pub mod recent;
pub mod run;
mod session;

pub use frame::{Frame, Readouts, SideFrame};
pub use order::OrderFrame;
pub use overview::Overview;
pub use session::{MAX_EVENTS, MAX_WALL_NS, Moment, Progress, SPEED_MAX, SPEED_MIN, Session, Side, TooLong};
