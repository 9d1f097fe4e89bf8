//! The display list: what a painter has to draw, in CSS pixels, with colours by token.
//!
//! Models: nothing.
//! Rule: a shape names a token, never a colour; the painter resolves it for the theme. Text lists of shapes are
//! what tests compare.
//! Leaves out: how it is drawn (canvas in `web`, SVG later).

/// A colour by role (ui.md tokens).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ink {
    Bg,
    Panel,
    Raised,
    Line,
    Text,
    Dim,
    Accent,
    A,
    B,
    Bad,
    Track,
    /// Zone colour 0..5, by order of first use mod 6.
    Zone(u8),
}

/// Horizontal anchor of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Align {
    Left,
    Center,
    Right,
}

/// Font role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Font {
    /// 12 px system.
    Body,
    /// 11 px system.
    Small,
    /// 11 px monospace.
    Mono,
    /// 12.5 px semibold.
    Title,
}

/// One thing to draw. Opacity `alpha` is 0..=1; `hatch` draws diagonal lines over the fill (second colour cycle).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Filled (rounded) rectangle.
    Rect { x: f32, y: f32, w: f32, h: f32, r: f32, fill: Ink, alpha: f32, hatch: bool },
    /// Outlined rectangle.
    Frame { x: f32, y: f32, w: f32, h: f32, r: f32, stroke: Ink, width: f32 },
    /// Filled circle.
    Disc { x: f32, y: f32, r: f32, fill: Ink, alpha: f32 },
    /// Outlined circle.
    Ring { x: f32, y: f32, r: f32, stroke: Ink, width: f32, alpha: f32 },
    /// Arc from `a0` clockwise to `a1`, radians, 0 = three o'clock.
    Arc { x: f32, y: f32, r: f32, a0: f32, a1: f32, stroke: Ink, width: f32, alpha: f32 },
    /// Straight line.
    Line { x0: f32, y0: f32, x1: f32, y1: f32, stroke: Ink, width: f32, alpha: f32, dash: bool },
    /// Open polyline.
    Poly { points: Vec<(f32, f32)>, stroke: Ink, width: f32, alpha: f32 },
    /// Text; `max` = width it must fit (the painter cuts with an ellipsis).
    Text { x: f32, y: f32, text: String, ink: Ink, font: Font, align: Align, max: f32 },
}

/// Shapes in painting order.
pub type DisplayList = Vec<Shape>;
