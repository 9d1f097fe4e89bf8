//! What a user may ask for: parameters, presets, their rules, and their text in links and files.
//!
//! Start with [`params::PARAMS`]. A [`Scenario`] holds a value for every row; [`check()`] turns one side of it into a
//! [`SimConfig`](bioscope_core::config::SimConfig), or says everything that is wrong at once; [`text`] reads and
//! writes links and `.bioscope` files.
//!
//! Models: nothing; names follow fio, sysfs and the drive profiles.
//! Rule: whatever text comes in, the answer is a scenario and a list of diagnostics, never a panic.
//! Leaves out: files, clocks, screens.

pub mod attributes;
pub mod changes;
pub mod check;
mod deflate;
pub mod diagnostic;
mod drive;
pub mod kernel;
pub mod packed;
pub mod params;
pub mod preset;
pub mod profile;
pub mod scenario;
pub mod snippet;
pub mod stack;
pub mod text;
pub mod value;
pub mod view;

pub use check::{check, check_all, estimate_events, validate};
pub use diagnostic::{Diagnostic, Place, Severity};
pub use params::{Group, KEYS, Key, Live, PARAMS, Param, Scope};
pub use preset::{PRESETS, Preset};
pub use scenario::{Instance, Moment, Own, Scenario, Side, Sweep};
pub use text::{decode, encode};
pub use value::{Unit, Value};
pub use view::{Panel, Panels};
