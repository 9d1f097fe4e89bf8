//! md: arrays of block devices.
//!
//! Models: drivers/md, 5.17, 6.12 and 7.1 (kernel 2, md).
//! Rule: maps, limits and choices are plain functions of their own state; they know no events and no bios.
//! Leaves out: linear, journals, PPL, reshape, spares.

pub mod array;
pub mod layout;
pub mod limits;
pub mod raid0;
pub mod raid1;
pub mod raid10;
pub mod raid5;
mod stripes;
pub mod sync;
pub mod sync_speed;

pub use array::Md;
pub use stripes::Spreading;
