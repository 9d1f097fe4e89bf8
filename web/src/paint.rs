//! Draws a display list on a canvas.
//!
//! Models: nothing.
//! Rule: shapes are in CSS pixels; the context is scaled by the device pixel ratio. Style strings are set only when
//! they change, and rectangles of one colour that follow each other are one path: both cost more than drawing.
//! Leaves out: what is drawn (`bioscope-stage`).

use bioscope_stage::palette::Palette;
use bioscope_stage::shape::{Align, Font, Ink, Shape};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// A canvas with its size and what was set last.
pub struct Painter {
    pub canvas: HtmlCanvasElement,
    ctx: CanvasRenderingContext2d,
    /// Size of the picture: CSS pixels by `scale`.
    pub width: f32,
    pub height: f32,
    /// CSS pixels of one of the picture's.
    pub scale: f32,
    fill: Option<Ink>,
    stroke: Option<Ink>,
    font: Option<Font>,
    align: Option<Align>,
    alpha: f32,
    line: f32,
    /// A path of rectangles is begun and not yet filled.
    open: bool,
}

impl Painter {
    /// Takes a canvas over; `None` when the browser gives no context.
    pub fn new(canvas: HtmlCanvasElement) -> Option<Self> {
        let ctx = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        let (fill, stroke, font, align) = (None, None, None, None);
        Some(Self {
            canvas,
            ctx,
            width: 0.0,
            height: 0.0,
            scale: 1.0,
            fill,
            stroke,
            font,
            align,
            alpha: 1.0,
            line: 1.0,
            open: false,
        })
    }

    /// Fits the bitmap to a size in CSS pixels; a scale below 1 makes the picture larger than its box and draws it
    /// smaller. Resizing clears the canvas and all its styles.
    pub fn resize(&mut self, width: f32, height: f32, scale: f32, ratio: f64) {
        let device = |v: f32| (f64::from(v) * ratio).round().max(1.0) as u32;
        let (w, h) = (device(width), device(height));
        if self.canvas.width() != w || self.canvas.height() != h {
            self.canvas.set_width(w);
            self.canvas.set_height(h);
        }
        (self.width, self.height, self.scale) = (width / scale, height / scale, scale);
    }

    /// False until the page has laid the box out.
    pub fn has_room(&self) -> bool {
        self.width >= 16.0 && self.height >= 16.0
    }

    /// Replaces what is drawn.
    pub fn paint(&mut self, shapes: &[Shape], palette: &Palette, ratio: f64) {
        (self.fill, self.stroke, self.font, self.align) = (None, None, None, None);
        let device = ratio * f64::from(self.scale);
        drop(self.ctx.set_transform(device, 0.0, 0.0, device, 0.0, 0.0));
        self.ctx.clear_rect(0.0, 0.0, f64::from(self.width), f64::from(self.height));
        self.ctx.set_line_join("round");
        self.alpha = 1.0;
        self.ctx.set_global_alpha(1.0);
        self.line = 1.0;
        self.ctx.set_line_width(1.0);
        for shape in shapes {
            self.shape(shape, palette);
        }
        self.flush();
    }

    /// Fills the rectangles gathered so far.
    fn flush(&mut self) {
        if std::mem::take(&mut self.open) {
            self.ctx.fill();
        }
    }

    fn shape(&mut self, shape: &Shape, palette: &Palette) {
        let f = f64::from;
        if !matches!(shape, Shape::Rect { .. }) {
            self.flush();
        }
        match shape {
            Shape::Rect { x, y, w, h, r, fill, alpha, hatch } => {
                if self.fill != Some(*fill) || self.alpha != *alpha {
                    self.flush();
                    self.fill(*fill, *alpha, palette);
                }
                if !std::mem::replace(&mut self.open, true) {
                    self.ctx.begin_path();
                }
                if *r > 0.0 {
                    drop(self.ctx.round_rect_with_f64(f(*x), f(*y), f(*w), f(*h), f(*r)));
                } else {
                    self.ctx.rect(f(*x), f(*y), f(*w), f(*h));
                }
                if *hatch {
                    self.flush();
                    self.hatch(*x, *y, *w, *h, palette);
                }
            }
            Shape::Frame { x, y, w, h, r, stroke, width } => {
                self.stroke(*stroke, *width, 1.0, palette);
                self.rounded(*x, *y, *w, *h, *r);
                self.ctx.stroke();
            }
            Shape::Disc { x, y, r, fill, alpha } => {
                self.fill(*fill, *alpha, palette);
                self.arc(*x, *y, *r, 0.0, std::f32::consts::TAU);
                self.ctx.fill();
            }
            Shape::Ring { x, y, r, stroke, width, alpha } => {
                self.stroke(*stroke, *width, *alpha, palette);
                self.arc(*x, *y, *r, 0.0, std::f32::consts::TAU);
                self.ctx.stroke();
            }
            Shape::Arc { x, y, r, a0, a1, stroke, width, alpha } => {
                self.stroke(*stroke, *width, *alpha, palette);
                self.arc(*x, *y, *r, *a0, *a1);
                self.ctx.stroke();
            }
            Shape::Line { x0, y0, x1, y1, stroke, width, alpha, dash } => {
                self.stroke(*stroke, *width, *alpha, palette);
                if *dash {
                    self.dash(&[3.0, 3.0]);
                }
                self.ctx.begin_path();
                self.ctx.move_to(f(*x0), f(*y0));
                self.ctx.line_to(f(*x1), f(*y1));
                self.ctx.stroke();
                if *dash {
                    self.dash(&[]);
                }
            }
            Shape::Poly { points, stroke, width, alpha } => {
                self.stroke(*stroke, *width, *alpha, palette);
                self.ctx.begin_path();
                for (x, y) in points {
                    self.ctx.line_to(f(*x), f(*y));
                }
                self.ctx.stroke();
            }
            Shape::Text { x, y, text, ink, font, align, .. } => {
                self.fill(*ink, 1.0, palette);
                if self.font != Some(*font) {
                    self.font = Some(*font);
                    self.ctx.set_font(&font.css(1.0));
                }
                if self.align != Some(*align) {
                    self.align = Some(*align);
                    self.ctx.set_text_align(match align {
                        Align::Left => "left",
                        Align::Center => "center",
                        Align::Right => "right",
                    });
                }
                drop(self.ctx.fill_text(text, f(*x), f(*y)));
            }
        }
    }

    fn alpha(&mut self, alpha: f32) {
        if self.alpha != alpha {
            self.alpha = alpha;
            self.ctx.set_global_alpha(f64::from(alpha));
        }
    }

    fn fill(&mut self, ink: Ink, alpha: f32, palette: &Palette) {
        self.alpha(alpha);
        if self.fill != Some(ink) {
            self.fill = Some(ink);
            self.ctx.set_fill_style_str(&palette.ink(ink).css());
        }
    }

    fn stroke(&mut self, ink: Ink, width: f32, alpha: f32, palette: &Palette) {
        self.alpha(alpha);
        if self.line != width {
            self.line = width;
            self.ctx.set_line_width(f64::from(width));
        }
        if self.stroke != Some(ink) {
            self.stroke = Some(ink);
            self.ctx.set_stroke_style_str(&palette.ink(ink).css());
        }
    }

    fn dash(&self, pattern: &[f64]) {
        let list: js_sys::Array = pattern.iter().map(|v| wasm_bindgen::JsValue::from_f64(*v)).collect();
        drop(self.ctx.set_line_dash(&list));
    }

    fn arc(&self, x: f32, y: f32, r: f32, a0: f32, a1: f32) {
        let f = f64::from;
        self.ctx.begin_path();
        // A negative radius is the only error.
        drop(self.ctx.arc(f(x), f(y), f(r.max(0.0)), f(a0), f(a1)));
    }

    fn rounded(&self, x: f32, y: f32, w: f32, h: f32, r: f32) {
        let f = f64::from;
        self.ctx.begin_path();
        drop(self.ctx.round_rect_with_f64(f(x), f(y), f(w), f(h), f(r)));
    }

    /// Diagonal lines in the panel's colour over a rectangle: the second cycle of zone colours.
    fn hatch(&mut self, x: f32, y: f32, w: f32, h: f32, palette: &Palette) {
        let f = f64::from;
        self.ctx.save();
        self.ctx.begin_path();
        self.ctx.rect(f(x), f(y), f(w), f(h));
        self.ctx.clip();
        self.stroke(Ink::Panel, 1.0, 0.7, palette);
        self.ctx.begin_path();
        let mut at = x - h;
        while at < x + w {
            self.ctx.move_to(f(at), f(y + h));
            self.ctx.line_to(f(at + h), f(y));
            at += 4.0;
        }
        self.ctx.stroke();
        self.ctx.restore();
        // `restore` brought back styles from before; what was set since is unknown.
        (self.stroke, self.line, self.alpha) = (None, -1.0, -1.0);
    }
}
