//! Where plotters draws: a canvas in device pixels.
//!
//! Models: nothing.
//! Rule: colours are opaque and texts are never measured, so that no style and no number is formatted at length.
//! Leaves out: pixels, bitmaps and turned texts, which the charts do not use.

use std::fmt;

use bioscope_stage::palette::Rgb;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind};
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// A canvas as a plotters backend.
pub struct Plot {
    canvas: HtmlCanvasElement,
    ctx: CanvasRenderingContext2d,
}

/// Drawing on a canvas does not fail.
#[derive(Debug)]
pub struct Never;

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Never {}

type Drawn = Result<(), DrawingErrorKind<Never>>;

impl Plot {
    /// `None` when the browser gives no context.
    pub fn new(canvas: HtmlCanvasElement) -> Option<Self> {
        let ctx = canvas.get_context("2d").ok()??.dyn_into().ok()?;
        Some(Self { canvas, ctx })
    }

    fn trace(&self, path: impl IntoIterator<Item = BackendCoord>) {
        self.ctx.begin_path();
        for (x, y) in path {
            self.ctx.line_to(f64::from(x), f64::from(y));
        }
    }

    fn finish<S: BackendStyle>(&self, style: &S, fill: bool) -> Drawn {
        let color = css(style.color());
        if fill {
            self.ctx.set_fill_style_str(&color);
            self.ctx.fill();
        } else {
            self.ctx.set_stroke_style_str(&color);
            self.ctx.set_line_width(f64::from(style.stroke_width()));
            self.ctx.stroke();
        }
        Ok(())
    }
}

fn css(c: BackendColor) -> String {
    Rgb(c.rgb.0, c.rgb.1, c.rgb.2).css()
}

impl DrawingBackend for Plot {
    type ErrorType = Never;

    fn get_size(&self) -> (u32, u32) {
        (self.canvas.width(), self.canvas.height())
    }
    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }
    fn present(&mut self) -> Drawn {
        Ok(())
    }
    fn draw_pixel(&mut self, _: BackendCoord, _: BackendColor) -> Drawn {
        Ok(())
    }
    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.trace([from, to]);
        self.finish(style, false)
    }
    fn draw_rect<S: BackendStyle>(&mut self, a: BackendCoord, b: BackendCoord, style: &S, fill: bool) -> Drawn {
        self.trace([a, (b.0, a.1), b, (a.0, b.1), a]);
        self.finish(style, fill)
    }
    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.trace(path);
        self.finish(style, false)
    }
    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, style: &S) -> Drawn {
        self.trace(path);
        self.finish(style, true)
    }
    fn draw_circle<S: BackendStyle>(&mut self, at: BackendCoord, radius: u32, style: &S, fill: bool) -> Drawn {
        self.ctx.begin_path();
        // A negative radius is the only error.
        drop(self.ctx.arc(f64::from(at.0), f64::from(at.1), f64::from(radius), 0.0, std::f64::consts::TAU));
        self.finish(style, fill)
    }
    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Drawn {
        let anchor = style.anchor();
        self.ctx.set_text_align(match anchor.h_pos {
            HPos::Left => "left",
            HPos::Right => "right",
            HPos::Center => "center",
        });
        self.ctx.set_text_baseline(match anchor.v_pos {
            VPos::Top => "top",
            VPos::Center => "middle",
            VPos::Bottom => "bottom",
        });
        let size = (style.size() + 0.5) as u32;
        self.ctx.set_font(&[&size.to_string(), "px ", style.family().as_str()].concat());
        self.ctx.set_fill_style_str(&css(style.color()));
        drop(self.ctx.fill_text(text, f64::from(at.0), f64::from(at.1)));
        Ok(())
    }
}
