//! Headless playback of one or two runs: load, pre-simulate, play, seek, step, frames.
//!
//! Models: nothing; it drives `bioscope-core` and keeps what a player needs.
//! Rule: a moment is reached by nearest checkpoint + replay, so it is the same however one gets there.
//! Leaves out: clocks and screens. The caller says how much wall time went by and how much work is allowed.
