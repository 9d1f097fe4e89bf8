//! Other programs' text: blkparse lines, fio's summary, and the JSON and CSV that scripts read.
//!
//! Models: blkparse's default line (blktrace 1.3), fio 3.x's normal output.
//! Rule: what another program prints is printed as it does; what it does not know is only written when asked for.
//! Leaves out: reading those formats.

pub mod blkparse;
pub mod csv;
pub mod fio;
pub mod json;
