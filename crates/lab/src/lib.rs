//! Many runs instead of one: sweeps, comparison with published tables, fitting.
//!
//! Models: nothing; it asks `bioscope-scenario` for configurations and `bioscope-core` for outcomes.
//! Rule: jobs -> run -> collect, each a plain function: the command's threads and the page's workers share them, and
//! results do not depend on who ran what in which order.
//! Leaves out: files and screens; threads only where there are any (`threads`, not in the page).

pub mod bench;
pub mod chart;
#[cfg(all(feature = "texts", not(target_family = "wasm")))]
pub mod fit;
#[cfg(feature = "texts")]
pub mod published;
pub mod run;
#[cfg(feature = "texts")]
pub mod seed000;
#[cfg(feature = "texts")]
pub mod seed001;
#[cfg(feature = "texts")]
pub mod seed002;
#[cfg(feature = "texts")]
pub mod seed003;
pub mod seeded;
pub mod sweep;
#[cfg(feature = "texts")]
pub mod table;
#[cfg(feature = "texts")]
pub mod table02;
#[cfg(feature = "texts")]
pub mod table05;
#[cfg(feature = "texts")]
pub mod table06;
#[cfg(feature = "texts")]
pub mod table09;
#[cfg(feature = "texts")]
pub mod table11;
#[cfg(feature = "texts")]
pub mod table12;
#[cfg(feature = "texts")]
pub mod table13;
#[cfg(feature = "texts")]
pub mod table18;
#[cfg(feature = "texts")]
pub mod table20;
#[cfg(feature = "texts")]
pub mod table21;
#[cfg(feature = "texts")]
pub mod table27;
#[cfg(feature = "texts")]
pub mod table29;
#[cfg(feature = "texts")]
pub mod table33;
#[cfg(not(target_family = "wasm"))]
pub mod threads;
#[cfg(feature = "texts")]
pub mod validate;
