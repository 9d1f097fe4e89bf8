//! What the page is made of. Each component draws facts and raises messages; none of them knows the session.
//!
//! Models: nothing.
//! Rule: siblings are keyed, a canvas is alone in its component, and nothing renders per animation frame.
//! Leaves out: effects ([`crate::app`]).

pub mod bar;
pub mod canvas;
pub mod form;
pub mod lane;
pub mod share;
pub mod side;
pub mod transport;
