//! The "why" list: one short sentence a reason.
//!
//! Models: nothing; the words are the field's.
//! Rule: active, names the object and a number; the point of the sentence is bold.
//! Leaves out: when a reason is recorded (core).

use bioscope_core::observe::why::WhyRecord;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub text: String,
    pub bold: bool,
}

/// The sentence of a reason; pieces join without further spaces.
pub fn why_segments(record: &WhyRecord) -> Vec<Segment> {
    let _ = record;
    Vec::new()
}
