//! An SVG painter of display lists: previews, tests and later downloads.
//!
//! Models: nothing.
//! Rule: paints exactly what the canvas of the page paints.
//! Leaves out: charts of plotters, which has its own SVG backend.

use std::fmt::Write;

use crate::palette::{Palette, Rgb};
use crate::shape::{Align, Ink, Shape};

/// A whole SVG document on the theme's background.
pub fn document(shapes: &[Shape], width: f32, height: f32, palette: &Palette) -> String {
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"><defs>"#
    );
    let hatch = palette.ink(Ink::OnZone).css();
    let _ = write!(
        out,
        r#"<pattern id="hatch" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V4" stroke="{hatch}" stroke-opacity="0.55" stroke-width="2.4"/></pattern></defs>"#
    );
    let _ = write!(out, r#"<rect width="100%" height="100%" fill="{}"/>"#, palette.bg.css());
    for shape in shapes {
        element(&mut out, shape, palette);
    }
    out + "</svg>"
}

fn stroke(c: Rgb, width: f32, alpha: f32) -> String {
    format!(r#"fill="none" stroke="{}" stroke-width="{width}" stroke-opacity="{alpha}""#, c.css())
}

fn element(out: &mut String, shape: &Shape, palette: &Palette) {
    let ink = |i: &Ink| palette.ink(*i);
    let _ = match shape {
        Shape::Rect { x, y, w, h, r, fill, alpha, hatch } => {
            let mut put = |paint: &str, alpha: f32| {
                write!(
                    out,
                    r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" rx="{r}" fill="{paint}" fill-opacity="{alpha:.2}"/>"#
                )
            };
            let done = put(&ink(fill).css(), *alpha);
            if *hatch { put("url(#hatch)", 1.0) } else { done }
        }
        Shape::Frame { x, y, w, h, r, stroke: s, width } => write!(
            out,
            r#"<rect x="{x:.2}" y="{y:.2}" width="{w:.2}" height="{h:.2}" rx="{r}" {}/>"#,
            stroke(ink(s), *width, 1.0)
        ),
        Shape::Disc { x, y, r, fill, alpha } => write!(
            out,
            r#"<circle cx="{x:.2}" cy="{y:.2}" r="{r:.2}" fill="{}" fill-opacity="{alpha:.2}"/>"#,
            ink(fill).css()
        ),
        Shape::Ring { x, y, r, stroke: s, width, alpha } => {
            write!(out, r#"<circle cx="{x:.2}" cy="{y:.2}" r="{r:.2}" {}/>"#, stroke(ink(s), *width, *alpha))
        }
        Shape::Arc { x, y, r, a0, a1, stroke: s, width, alpha } => {
            let point = |a: f32| (x + r * a.cos(), y + r * a.sin());
            let ((x0, y0), (x1, y1)) = (point(*a0), point(*a1));
            let large = u8::from(a1 - a0 > core::f32::consts::PI);
            write!(
                out,
                r#"<path d="M{x0:.2} {y0:.2}A{r:.2} {r:.2} 0 {large} 1 {x1:.2} {y1:.2}" {}/>"#,
                stroke(ink(s), *width, *alpha)
            )
        }
        Shape::Line { x0, y0, x1, y1, stroke: s, width, alpha, dash } => write!(
            out,
            r#"<path d="M{x0:.2} {y0:.2}L{x1:.2} {y1:.2}" {}{}/>"#,
            stroke(ink(s), *width, *alpha),
            if *dash { r#" stroke-dasharray="3 3""# } else { "" }
        ),
        Shape::Poly { points, stroke: s, width, alpha } => {
            let mut path = String::new();
            for (i, (x, y)) in points.iter().enumerate() {
                let _ = write!(path, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
            }
            write!(out, r#"<path d="{path}" stroke-linejoin="round" {}/>"#, stroke(ink(s), *width, *alpha))
        }
        Shape::Text { x, y, text, ink: i, font, align, .. } => {
            let anchor = match align {
                Align::Left => "start",
                Align::Center => "middle",
                Align::Right => "end",
            };
            let text = text.replace('&', "&amp;").replace('<', "&lt;");
            write!(
                out,
                r#"<text x="{x:.2}" y="{y:.2}" fill="{}" text-anchor="{anchor}" style="font:{}">{text}</text>"#,
                ink(i).css(),
                font.css(1.0)
            )
        }
    };
}
