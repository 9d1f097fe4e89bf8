//! device-mapper: targets between a bio-based device and those below it.
//!
//! Models: drivers/md/dm-stripe.c and dm-crypt.c, 5.17 and 7.1 (md M.11).
//! Rule: a target says how long an I/O may be at a place and where it goes; dm cuts, one remainder at a time.
//! Leaves out: tables of several targets, a target that begins elsewhere than at sector 0.

pub mod crypt;
pub mod device;
pub mod stripe;
pub use device::Dm;
