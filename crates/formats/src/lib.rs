//! Other programs' text: blkparse lines, iostat and gap tables, fio's summary, debugfs files, and the JSON and CSV that
//! scripts read.
//!
//! Models: blkparse's default line (blktrace 1.3), `iostat -x` (sysstat 12), fio 3.x's normal output, debugfs of 7.1.
//! Rule: what another program prints is printed as it does; what it does not know is only written when asked for.
//! Leaves out: reading those formats.

pub mod blkparse;
pub mod csv;
pub mod debugfs;
pub mod fio;
pub mod gaps;
pub mod iostat;
pub mod json;
