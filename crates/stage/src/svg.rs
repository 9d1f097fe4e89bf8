//! An SVG painter of display lists: pictures, posters, previews.
//!
//! Models: nothing.
//! Rule: paints what the canvas of the page paints, in plain attributes and without references to other files, so
//! that converters without CSS show it as well. Coordinates have tenths of a pixel. Rectangles that follow each other
//! are one path a style: a lane has hundreds of cells, and a poster has to be small.
//! Leaves out: charts of plotters, which has its own SVG backend.
//!
//! In the palette for print ([`GREY`]) zones differ by lightness and by a pattern of lines.

use std::fmt::Write;

use crate::palette::{GREY, Palette, Rgb};
use crate::shape::{Align, Font, Ink, Shape};

/// A whole SVG document on the theme's background.
pub fn document(list: &[Shape], width: f32, height: f32, palette: &Palette) -> String {
    [&start(width, height, palette, "", ""), shapes(list, palette).as_str(), "</svg>"].concat()
}

/// The beginning of a document: size, title and description for readers who do not see it, patterns, background.
/// `</svg>` ends it.
pub fn start(width: f32, height: f32, palette: &Palette, title: &str, description: &str) -> String {
    let (w, h) = (num(width), num(height));
    let mut out = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" font-family="system-ui,sans-serif" font-size="11">"#
    );
    for (tag, words) in [("title", title), ("desc", description)] {
        if !words.is_empty() {
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(words));
        }
    }
    out += "<defs>";
    let on_zone = palette.on_zone.css();
    let lines = format!(r#"<path d="M0 0V4" stroke="{on_zone}" stroke-opacity=".55" stroke-width="2.4"/>"#);
    pattern(&mut out, "h", 45, &lines);
    if palette == &GREY {
        for (n, (zone, (turn, strokes))) in palette.zones.iter().zip(PRINT).enumerate() {
            let ground = format!(r#"<rect width="4" height="4" fill="{}"/>"#, zone.css());
            let lines = format!(r#"<path d="{strokes}" stroke="{on_zone}" stroke-width="1.1"/>"#);
            pattern(&mut out, &format!("z{n}"), turn, &[ground, lines].concat());
        }
    }
    let _ = write!(out, r#"</defs><rect width="{w}" height="{h}" fill="{}"/>"#, palette.bg.css());
    out
}

/// Turn and lines of the six zone patterns of [`GREY`]; the first two are plain.
const PRINT: [(u32, &str); 6] =
    [(0, ""), (0, ""), (45, "M2 0V4"), (0, "M0 2H4"), (135, "M2 0V4"), (45, "M2 0V4M0 2H4")];

fn pattern(out: &mut String, id: &str, turn: u32, content: &str) {
    let _ = write!(
        out,
        r#"<pattern id="{id}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate({turn})">{content}</pattern>"#
    );
}

/// The shapes alone, to be put into a document of the same palette.
pub fn shapes(list: &[Shape], palette: &Palette) -> String {
    let mut out = String::new();
    let mut batch = Batch::default();
    for shape in list {
        if let Shape::Rect { x, y, w, h, r, fill, alpha, hatch } = shape {
            batch.add(Box { x: *x, y: *y, w: *w, h: *h, r: *r }, paint(*fill, palette), *alpha);
            if *hatch {
                batch.add(Box { x: *x, y: *y, w: *w, h: *h, r: *r }, "url(#h)".into(), 1.0);
            }
            continue;
        }
        batch.write(&mut out);
        element(&mut out, shape, palette);
    }
    batch.write(&mut out);
    out
}

/// Text as XML, which has no place for control characters and U+FFFE, U+FFFF. `>` too: text must not hold `]]>`.
pub fn escape(text: &str) -> String {
    let text = text.replace(|c: char| c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'), "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Tenths, without a zero at the end.
fn num(v: f32) -> String {
    tenths((v * 10.0).round() as i32)
}

fn tenths(v: i32) -> String {
    let (sign, n) = (if v < 0 { "-" } else { "" }, v.unsigned_abs());
    match (n / 10, n % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, part) => format!("{sign}.{part}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

fn paint(ink: Ink, palette: &Palette) -> String {
    match ink {
        Ink::Zone(n) if palette == &GREY && n % 6 > 1 => format!("url(#z{})", n % 6),
        _ => palette.ink(ink).css(),
    }
}

fn opacity(name: &str, alpha: f32) -> String {
    if alpha >= 0.995 { String::new() } else { format!(r#" {name}="{}""#, hundredths(alpha)) }
}

fn hundredths(v: f32) -> String {
    format!("{v:.2}").trim_start_matches('0').to_string()
}

fn stroke(ink: Ink, width: f32, alpha: f32, palette: &Palette) -> String {
    let c = paint(ink, palette);
    format!(r#"fill="none" stroke="{c}" stroke-width="{}"{}"#, num(width), opacity("stroke-opacity", alpha))
}

#[derive(Clone, Copy)]
struct Box {
    x: f32,
    y: f32,
    w: f32,
    h: f32,
    r: f32,
}

impl Box {
    fn meets(&self, o: &Box) -> bool {
        self.x < o.x + o.w && o.x < self.x + self.w && self.y < o.y + o.h && o.y < self.y + self.h
    }
}

/// Rectangles by style. One joins the path of its style unless it would then lie under what it covers.
#[derive(Default)]
struct Batch {
    paths: Vec<(String, Vec<Box>)>,
}

impl Batch {
    fn add(&mut self, b: Box, fill: String, alpha: f32) {
        let style = format!(r#"fill="{fill}"{}"#, opacity("fill-opacity", alpha));
        let own = self.paths.iter().rposition(|p| p.0 == style);
        match own {
            // In one path two that meet would be painted once: only an opaque one may join.
            Some(i)
                if !self.paths[i + usize::from(alpha >= 0.995)..].iter().any(|p| p.1.iter().any(|o| b.meets(o))) =>
            {
                self.paths[i].1.push(b);
            }
            _ => self.paths.push((style, vec![b])),
        }
    }

    fn write(&mut self, out: &mut String) {
        for (style, boxes) in self.paths.drain(..) {
            let _ = write!(out, r#"<path {style} d=""#);
            // A subpath's end is its start: the next one begins relative to it.
            let mut at = (0, 0);
            for b in boxes {
                let of = |v: f32| (v * 10.0).round() as i32;
                let (x, y) = (of(b.x), of(b.y));
                let (w, h) = (of(b.x + b.w) - x, of(b.y + b.h) - y);
                let r = of(b.r).min(w / 2).min(h / 2);
                let start = (x + r, y);
                let _ = write!(out, "m{} {}", tenths(start.0 - at.0), tenths(start.1 - at.1));
                let line = |out: &mut String, c: char, length: i32| {
                    if length != 0 {
                        let _ = write!(out, "{c}{}", tenths(length));
                    }
                };
                let corner = |out: &mut String, dx: i32, dy: i32| {
                    if r > 0 {
                        let r = tenths(r);
                        let _ = write!(out, "a{r} {r} 0 0 1 {} {}", tenths(dx), tenths(dy));
                    }
                };
                line(out, 'h', w - 2 * r);
                corner(out, r, r);
                line(out, 'v', h - 2 * r);
                corner(out, -r, r);
                line(out, 'h', 2 * r - w);
                corner(out, -r, -r);
                if r > 0 {
                    line(out, 'v', 2 * r - h);
                    corner(out, r, -r);
                }
                out.push('z');
                at = start;
            }
            out.push_str(r#""/>"#);
        }
    }
}

fn element(out: &mut String, shape: &Shape, palette: &Palette) {
    let put = |out: &mut String, args: std::fmt::Arguments| {
        // Writing to a string does not fail.
        let _ = out.write_fmt(args);
    };
    match shape {
        Shape::Rect { .. } => {}
        Shape::Frame { x, y, w, h, r, stroke: s, width } => put(
            out,
            format_args!(
                r#"<rect x="{}" y="{}" width="{}" height="{}" rx="{}" {}/>"#,
                num(*x),
                num(*y),
                num(*w),
                num(*h),
                num(*r),
                stroke(*s, *width, 1.0, palette)
            ),
        ),
        Shape::Disc { x, y, r, fill, alpha } => put(
            out,
            format_args!(
                r#"<circle cx="{}" cy="{}" r="{}" fill="{}"{}/>"#,
                num(*x),
                num(*y),
                num(*r),
                paint(*fill, palette),
                opacity("fill-opacity", *alpha)
            ),
        ),
        Shape::Ring { x, y, r, stroke: s, width, alpha } => put(
            out,
            format_args!(
                r#"<circle cx="{}" cy="{}" r="{}" {}/>"#,
                num(*x),
                num(*y),
                num(*r),
                stroke(*s, *width, *alpha, palette)
            ),
        ),
        Shape::Arc { x, y, r, a0, a1, stroke: s, width, alpha } => {
            // Ends that nearly meet, or lie opposite, leave the centre to the rounding: in thirds of a turn they do not.
            let pieces = ((a1 - a0) / 2.1).ceil().max(1.0) as u32;
            let point = |n: u32| {
                let a = a0 + (a1 - a0) * n as f32 / pieces as f32;
                [num(x + r * a.cos()), num(y + r * a.sin())].join(" ")
            };
            let radius = num(*r);
            let mut path = ["M", &point(0)].concat();
            for n in 1..=pieces {
                let _ = write!(path, "A{radius} {radius} 0 0 1 {}", point(n));
            }
            let style = stroke(*s, *width, *alpha, palette);
            put(out, format_args!(r#"<path d="{path}" {style}/>"#));
        }
        Shape::Line { x0, y0, x1, y1, stroke: s, width, alpha, dash } => put(
            out,
            format_args!(
                r#"<path d="M{} {}L{} {}" {}{}/>"#,
                num(*x0),
                num(*y0),
                num(*x1),
                num(*y1),
                stroke(*s, *width, *alpha, palette),
                if *dash { r#" stroke-dasharray="3 3""# } else { "" }
            ),
        ),
        Shape::Poly { points, stroke: s, width, alpha } => {
            let mut path = String::new();
            for (i, (x, y)) in points.iter().enumerate() {
                let _ = write!(path, "{}{} {}", if i == 0 { 'M' } else { 'L' }, num(*x), num(*y));
            }
            let style = stroke(*s, *width, *alpha, palette);
            put(out, format_args!(r#"<path d="{path}" stroke-linejoin="round" {style}/>"#));
        }
        Shape::Text { x, y, text: words, ink, font, align, .. } => {
            // A label on a pattern needs a plain ground, and not a zone's colour.
            let plate = palette == &GREY && *ink == Ink::OnZone;
            let ink = if plate { Ink::Text } else { *ink };
            text(out, (*x, *y), words, palette.ink(ink), plate, *font, *align);
        }
    }
}

fn text(out: &mut String, (x, y): (f32, f32), words: &str, ink: Rgb, plate: bool, font: Font, align: Align) {
    if plate {
        let (w, h) = (font.width(words) + 1.0, font.px() * 1.1);
        let left = match align {
            Align::Left => 0.5,
            Align::Center => w / 2.0,
            Align::Right => w - 0.5,
        };
        let fill = GREY.panel.css();
        let (x, y) = (num(x - left), num(y - font.px() * 0.9));
        let _ = write!(out, r#"<rect x="{x}" y="{y}" width="{}" height="{}" rx="2" fill="{fill}"/>"#, num(w), num(h));
    }
    let _ = write!(out, r#"<text x="{}" y="{}" fill="{}""#, num(x), num(y), ink.css());
    if font.px() != Font::Small.px() {
        let _ = write!(out, r#" font-size="{}""#, num(font.px()));
    }
    if font.weight() > 400 {
        let _ = write!(out, r#" font-weight="{}""#, font.weight());
    }
    if font.is_mono() {
        out.push_str(r#" font-family="ui-monospace,monospace""#);
        // Where a viewer has no such font, most numbers are wider than their place.
        let width = font.width(words);
        if Font::Small.width(words) / Font::Small.px() > width / font.px() {
            let _ = write!(out, r#" textLength="{}""#, num(width));
        }
    }
    match align {
        Align::Left => {}
        Align::Center => out.push_str(r#" text-anchor="middle""#),
        Align::Right => out.push_str(r#" text-anchor="end""#),
    }
    let _ = write!(out, ">{}</text>", escape(words));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::palette::DARK;

    fn rect(x: f32, fill: Ink, alpha: f32) -> Shape {
        Shape::Rect { x, y: 1.0, w: 8.0, h: 8.0, r: 0.0, fill, alpha, hatch: false }
    }

    #[test]
    fn rectangles_of_a_style_are_one_path_unless_they_cover_another() {
        let list = [rect(0.0, Ink::A, 1.0), rect(10.0, Ink::B, 1.0), rect(20.04, Ink::A, 1.0)];
        assert_eq!(
            shapes(&list, &DARK),
            "<path fill=\"#ffb454\" d=\"m0 1h8v8h-8zm20 0h8v8h-8z\"/><path fill=\"#3ddbb0\" d=\"m10 1h8v8h-8z\"/>"
        );
        let over = [rect(0.0, Ink::A, 1.0), rect(10.0, Ink::B, 1.0), rect(15.0, Ink::A, 1.0)];
        assert_eq!(shapes(&over, &DARK).matches("<path").count(), 3, "the last one covers part of the second");
        let clear = [rect(0.0, Ink::A, 0.5), rect(4.0, Ink::A, 0.5)];
        assert_eq!(shapes(&clear, &DARK).matches("<path").count(), 2, "where they meet it is darker");
    }

    #[test]
    fn numbers_are_short() {
        for (v, want) in [(0.0, "0"), (-0.04, "0"), (0.5, ".5"), (-0.5, "-.5"), (12.0, "12"), (-3.25, "-3.3")] {
            assert_eq!(num(v), want);
        }
    }

    #[test]
    fn an_arc_that_nearly_closes_has_points_all_around() {
        let arc = Shape::Arc { x: 50.0, y: 50.0, r: 40.0, a0: 0.0, a1: 6.25, stroke: Ink::A, width: 1.0, alpha: 1.0 };
        let path = shapes(&[arc], &DARK);
        assert!(path.contains("d=\"M90 50A40 40 0 0 1 30.4 84.9A40 40 0 0 1 "), "{path}");
        assert_eq!(path.matches("A40").count(), 3, "{path}");
    }

    #[test]
    fn a_document_refers_to_nothing_outside_and_names_itself() {
        let svg = start(20.0, 10.0, &GREY, "A & B\u{1}", "1 < 2") + "</svg>";
        assert!(svg.contains("<title>A &amp; B\u{fffd}</title><desc>1 &lt; 2</desc>"), "{svg}");
        let outside = svg.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        assert!(!outside.contains("http") && !outside.contains("href") && !outside.contains("<script"), "{outside}");
        for zone in 2..6u8 {
            assert!(svg.contains(&format!("id=\"z{zone}\"")) && paint(Ink::Zone(zone), &GREY).contains("url(#z"));
        }
    }
}
