//! The display list: what a painter has to draw, in CSS pixels, with colours by token.
//!
//! Models: nothing.
//! Rule: a shape names a token, never a colour; the painter resolves it for the theme ([`crate::palette`]). Text
//! lists of shapes are what tests compare. `y` of a text is its baseline.
//! Leaves out: how it is drawn (canvas in `web`, SVG in [`crate::svg`]).

/// A colour by role (the design tokens).
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
    /// Text on a zone colour: dark in both themes.
    OnZone,
    /// Zone colour 0..5, by order of first use mod 6.
    Zone(u8),
    /// Place within an I/O, 0 at its beginning to 255 at its end.
    Offset(u8),
    /// Text on that colour.
    OnOffset(u8),
    /// A colour of gzbd-viewer, the same in every theme: conventional, unwritten, written, not writable, explicitly
    /// open, implicitly open, closed, offline.
    Gzbd(u8),
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
    /// 11 px monospace, bold.
    MonoBold,
    /// 9.5 px monospace, on chips.
    Chip,
    /// 12.5 px semibold.
    Title,
}

impl Font {
    /// Size in CSS pixels.
    pub fn px(self) -> f32 {
        match self {
            Font::Body => 12.0,
            Font::Small | Font::Mono | Font::MonoBold => 11.0,
            Font::Chip => 9.5,
            Font::Title => 12.5,
        }
    }
    /// Monospace (else the system's sans).
    pub fn is_mono(self) -> bool {
        matches!(self, Font::Mono | Font::MonoBold | Font::Chip)
    }
    /// CSS weight.
    pub fn weight(self) -> u16 {
        if matches!(self, Font::Title | Font::MonoBold) { 600 } else { 400 }
    }
    /// The CSS `font` shorthand, sizes multiplied by `scale` (device pixel ratio).
    pub fn css(self, scale: f32) -> String {
        let tenths = (self.px() * scale * 10.0).round() as u32;
        let family = if self.is_mono() { "ui-monospace,monospace" } else { "system-ui,sans-serif" };
        format!("{} {}.{}px {family}", self.weight(), tenths / 10, tenths % 10)
    }
    /// Width of a text, estimated on the wide side (DejaVu's advance widths by class of letter).
    pub fn width(self, text: &str) -> f32 {
        let em: f32 = if self.is_mono() {
            text.chars().count() as f32 * 0.603
        } else {
            text.chars().map(advance).sum::<f32>() * if self.weight() > 400 { 1.12 } else { 1.0 }
        };
        em * self.px()
    }
    /// The longest beginning of `text` that fits `max`, with an ellipsis where something was cut.
    pub fn cut(self, text: &str, max: f32) -> String {
        if self.width(text) <= max {
            return text.to_string();
        }
        let mut out = text.to_string();
        while out.pop().is_some() {
            let kept = out.trim_end().len();
            out.truncate(kept);
            out.push('…');
            if self.width(&out) <= max {
                return out;
            }
            out.pop();
        }
        String::new()
    }
}

/// A number held between two; `clamp` of the library would bring float formatting for its panic.
#[allow(clippy::manual_clamp)]
pub(crate) fn within(v: f32, low: f32, high: f32) -> f32 {
    v.max(low).min(high)
}

fn advance(c: char) -> f32 {
    match c {
        'i' | 'j' | 'l' | ' ' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | '·' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.41,
        'm' | 'w' | 'M' | 'W' | '%' | '…' => 0.98,
        'A'..='Z' | '+' | '=' | '→' | '×' => 0.74,
        'a'..='z' => 0.62,
        _ => 0.64,
    }
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
    /// Arc from `a0` clockwise to `a1` (`a1 > a0`), radians, 0 = three o'clock; butt ends.
    Arc { x: f32, y: f32, r: f32, a0: f32, a1: f32, stroke: Ink, width: f32, alpha: f32 },
    /// Straight line.
    Line { x0: f32, y0: f32, x1: f32, y1: f32, stroke: Ink, width: f32, alpha: f32, dash: bool },
    /// Open polyline, round joins.
    Poly { points: Vec<(f32, f32)>, stroke: Ink, width: f32, alpha: f32 },
    /// Text on its baseline, already cut to fit `max`.
    Text { x: f32, y: f32, text: String, ink: Ink, font: Font, align: Align, max: f32 },
}

/// Shapes in painting order.
pub type DisplayList = Vec<Shape>;
