//! The text alternative of a lane's canvas: one table a panel and one sentence for all.
//!
//! Models: nothing.
//! Rule: what the canvas shows, in words and numbers; no more than a reader can take in.
//! Leaves out: history; the page's event list has it.

use bioscope_core::observe::snapshot::Snapshot;

/// One panel as text.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Table {
    /// Caption.
    pub title: String,
    /// Column headings.
    pub head: Vec<&'static str>,
    /// Rows of cells, as many as headings.
    pub rows: Vec<Vec<String>>,
}

/// One table a panel.
pub fn tables(snap: &Snapshot) -> Vec<Table> {
    let _ = snap;
    Vec::new()
}

/// The lane in one sentence.
pub fn summary(snap: &Snapshot) -> String {
    let _ = snap;
    String::new()
}
