//! `bioscope render`.
//!
//! Models: nothing.
//! Rule: options are looked at before anything is simulated; a file is written whole or not at all.
//! Leaves out: what the picture shows (`picture`).

use bioscope_scenario::{Moment, Panels, text};
use bioscope_stage::palette::{DARK, GREY, LIGHT, Palette};

use crate::args::Args;
use crate::picture::{Choice, Shown, picture, plan};
use crate::{Failure, lines, raster};

/// Least and greatest width and height.
const SIZES: std::ops::RangeInclusive<u32> = 200..=4_000;
/// Longest title, in characters; a line holds far fewer.
const TITLE: usize = 200;
/// Width where none is given.
const WIDTH: u32 = 960;

/// What kind of file is asked for.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Svg,
    Png,
}

/// Draws a moment into a file.
pub fn render(args: &Args) -> Result<(), Failure> {
    let (file, kind) = target(args)?;
    let palette = palette(args.theme.as_deref())?;
    let width = size("--width", args.width)?.unwrap_or(WIDTH);
    let height = size("--height", args.height)?;
    let at = args.at.as_deref().map(moment).transpose()?;
    let view = args.view.as_deref().map(panels).transpose()?;
    let title = args.title.as_deref().map(title).transpose()?;
    let (mut s, name) = args.scenario()?;
    let sides = args.sides(&s, if s.has_b() { "both" } else { "a" })?;
    s.view = view.unwrap_or(s.view);
    let shown = Shown::of(&s, &name, at)?.titled(title);
    let (width, height) = (width as f32, height.map(|h| h as f32));
    let choice = Choice { sides: &sides, panels: s.view, palette, width, height };
    let svg = picture(&shown, &choice, &plan(&shown, &choice)?);
    let bytes = match kind {
        Kind::Svg => svg.into_bytes(),
        Kind::Png => png(&svg, 1.0)?,
    };
    write(file, &bytes)
}

/// Pixels of a document.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, Failure> {
    raster::png(svg, scale).map_err(|e| Failure::Failed(vec![format!("error: no pixels of this picture: {e}")]))
}

/// Writes a file that was asked for by name.
pub fn write(file: &str, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(file, bytes).map_err(|e| Failure::bad(format!("cannot write {file}: {e}")))
}

fn target(args: &Args) -> Result<(&str, Kind), Failure> {
    let Some(file) = args.output.as_deref() else {
        return Err(Failure::bad("-o FILE is missing: a name that ends in .svg or .png"));
    };
    let lower = file.to_ascii_lowercase();
    match (lower.ends_with(".svg"), lower.ends_with(".png")) {
        (true, _) => Ok((file, Kind::Svg)),
        (_, true) => Ok((file, Kind::Png)),
        _ => Err(Failure::bad(format!("-o {file}: the name must end in .svg or .png"))),
    }
}

fn palette(theme: Option<&str>) -> Result<&'static Palette, Failure> {
    match theme.unwrap_or("light") {
        "light" => Ok(&LIGHT),
        "dark" => Ok(&DARK),
        "grey" => Ok(&GREY),
        other => Err(Failure::bad(format!("--theme {other}: must be light, dark or grey"))),
    }
}

fn title(text: &str) -> Result<&str, Failure> {
    match text.chars().count() {
        n if n > TITLE => Err(Failure::bad(format!("--title has {n} characters: must be at most {TITLE}"))),
        _ => Ok(text),
    }
}

fn size(option: &str, value: Option<u32>) -> Result<Option<u32>, Failure> {
    match value {
        Some(n) if !SIZES.contains(&n) => {
            Err(Failure::bad(format!("{option} {n}: must be {} to {}", SIZES.start(), SIZES.end())))
        }
        value => Ok(value),
    }
}

/// --at
pub fn moment(at: &str) -> Result<Moment, Failure> {
    text::moment(at).map_err(|mut d| {
        d.key = "--at".into();
        Failure::Bad(lines(&[d]))
    })
}

fn panels(words: &str) -> Result<Panels, Failure> {
    Panels::parse(words).map_err(|mut d| {
        d.key = "--view".into();
        Failure::Bad(lines(&[d]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::lane_panels;
    use bioscope_core::config::SimConfig;
    use bioscope_scenario::{PRESETS, Scenario, Side, check};
    use bioscope_session::{self as session, Session};
    use bioscope_stage::{LaneInput, Layout, lane, svg};
    use std::sync::Arc;

    /// The way of the page: a session, its frame, a lane of the canvas's size, painted.
    fn on_the_page(
        s: &Scenario,
        side: Side,
        panels: lane::Panels,
        (width, height): (f32, f32),
    ) -> Vec<bioscope_stage::shape::Shape> {
        let config = |side| Arc::new(check(s, side).0.unwrap());
        let (a, b): (Arc<SimConfig>, Arc<SimConfig>) = (config(Side::A), config(Side::B));
        let tools = [lane::tool(&a), lane::tool(&b)];
        let mut session = Session::load(a, Some(b));
        let preset = s.preset.unwrap();
        session.set_speed(preset.speed_ns);
        while !session.presimulate(2_000).unwrap().done {}
        session.seek_moment(session::Moment { time: preset.t.ns, k: (preset.t.k > 0).then_some(preset.t.k) });
        let frame = session.frame();
        let (shown, side, tool) = match side {
            Side::A => (&frame.a, lane::Side::A, tools[0]),
            Side::B => (frame.b.as_ref().unwrap(), lane::Side::B, tools[1]),
        };
        let input = LaneInput { panels, ..LaneInput::of(shown, side, session.speed(), tool) };
        lane::lane(&input, width, height, Layout::of(width, panels)).shapes
    }

    #[test]
    fn a_picture_of_a_preset_has_the_pages_display_lists() {
        for preset in PRESETS {
            let scenario = Scenario::of(preset);
            let shown = Shown::of(&scenario, preset.name, None).ok().unwrap();
            let sides = [Side::A, Side::B];
            let panels = Panels::parse(
                "jobs,zwplugs,tags,drive,strip,time,why,biolist,order,members,listing,tagmap,waiters,sched,timeline,zonemap,\
                 flash,qos,freeze",
            )
            .unwrap();
            for (width, height) in [(960.0, None), (420.0, None), (1400.0, Some(1600.0))] {
                let choice = Choice { sides: &sides, panels, palette: &LIGHT, width, height };
                let planned = plan(&shown, &choice).ok().unwrap();
                let svg = picture(&shown, &choice, &planned);
                assert_eq!(planned.lanes.len(), 2);
                for (placed, side) in planned.lanes.iter().zip(sides) {
                    let on = lane_panels(panels, shown.subject);
                    let page = on_the_page(&scenario, side, on, placed.size);
                    assert_eq!(format!("{:#?}", placed.shapes), format!("{page:#?}"), "{}", preset.name);
                    assert!(svg.contains(&svg::shapes(&page, &LIGHT)), "{} {side:?}", preset.name);
                }
            }
        }
    }
}
