//! From a frame of the session to what is drawn: model, layout, display list; why sentences; charts.
//!
//! Models: nothing.
//! Rule: pure functions, tested as text without a browser.
//! Leaves out: painting.

pub mod shape;
