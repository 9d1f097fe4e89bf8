//! From a snapshot to what is drawn: model, layout, display list; why sentences; charts; readouts.
//!
//! Models: nothing.
//! Rule: pure functions, tested as text without a browser; a panel is what to show, where, shapes.
//! Leaves out: painting (canvas in `web`, SVG in [`svg`] for previews and tests), clocks, the DOM.
//!
//! How a page calls it:
//!
//! ```text
//! every animation frame, per lane (A, B):
//!   let layout = Layout::of(css_width, panels);         // side by side from 500 px, else top to bottom
//!   let h = css_height.max(lane::min_height(layout, panels)); // narrow: the canvas takes min_height
//!   let lane = lane::lane(&LaneInput { snap, strip, trail, side, panels, dt_sim_ns, .. }, css_width, h, layout);
//!   paint(lane.shapes, &palette::DARK, device_pixel_ratio); keep lane.hits
//! on pointer move:   lane::hit(&lane.hits, x, y) -> What; lane::words(snap, strip, what) -> tooltip;
//!                    put the What into LaneInput::lit of both lanes' next frame to light the bio up
//! at most 10 Hz:     table::tables(snap, order), table::summary(..) -> accessible alternative of the canvas
//!                    why::why_segments(&record) -> the "why" list; readouts::* -> the lane's header (HTML)
//!                    parts::bars(..) + parts::table(..), charts::sweep(backend, ..), charts::overview(..)
//! ```
//!
//! The lane's header (badge, title, now / mean / p99) is HTML of the page; the canvas begins below it.
//! Texts are placed on their baseline (`textBaseline = "alphabetic"`) and already cut to their room;
//! [`shape::Font::css`] gives the font string. Alpha 1 everywhere unless a shape says otherwise.

pub mod charts;
pub mod gaps;
pub mod iostat;
pub mod lane;
mod order;
pub mod palette;
pub mod parts;
pub mod readouts;
pub mod shape;
#[cfg(any(test, feature = "svg"))]
pub mod svg;
#[cfg(any(test, feature = "svg"))]
pub mod synth;
pub mod table;
pub mod text;
mod trig;
pub mod why;

pub use lane::{Hit, Kind, Lane, LaneInput, Layout, Panels, Side, Subject, What, lane};
pub use palette::Palette;
