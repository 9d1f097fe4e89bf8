//! The right column: throughput per setting, where the time goes, why things wait, how to reproduce it.
//!
//! Models: nothing.
//! Rule: every picture has its table; legends and units are HTML.
//! Leaves out: running the sweep ([`crate::sweep`]).

use bioscope_core::MODEL_VERSION;
use bioscope_core::observe::stats::DriveTime;
use bioscope_lab::chart::{Chart, axis_unit};
use bioscope_scenario::params::Param;
use bioscope_session::{Frame, Side};
use bioscope_stage::palette::Palette;
use bioscope_stage::{charts, gaps, iostat, lane, parts, text, why};
use plotters_canvas::CanvasBackend;
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use crate::app::Msg;
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::components::lane::{data_table, hash, letter, name, side_frame};
use crate::components::transport::clock;
use crate::dom;
use crate::markup::{click, list, markup, yes};
use crate::paint::Painter;

/// Reasons shown.
const WHY: usize = 14;

fn sides(compared: bool) -> &'static [Side] {
    if compared { &[Side::A, Side::B] } else { &[Side::A] }
}

/// A canvas with the size of its box.
#[derive(Default)]
pub struct Place {
    canvas: Option<HtmlCanvasElement>,
    width: f32,
    height: f32,
}

impl Place {
    /// Takes in what happened to it.
    pub fn heard(&mut self, e: CanvasEvent) {
        match e {
            CanvasEvent::Here(c) => self.canvas = Some(c),
            CanvasEvent::Gone => self.canvas = None,
            CanvasEvent::Size(_, w, h) => (self.width, self.height) = (w, h),
        }
    }
}

/// The card with the sweep's chart; `on` takes its canvas.
pub fn throughput(
    chart: &Chart,
    source: Option<String>,
    second: Option<&str>,
    compared: bool,
    seed: &str,
    on: &Callback<CanvasEvent>,
    say: &Callback<Msg>,
) -> Html {
    let param = Param::of(chart.key);
    let key = param.key;
    let unit = axis_unit(chart.key).map_or(String::new(), |unit| [" (", unit, ")"].concat());
    let progress = match (chart.total(), chart.done) {
        (0, _) => "Not computed yet.".to_string(),
        (all, done) if done < all => [&done.to_string(), " of ", &all.to_string(), " points"].concat(),
        (all, _) => {
            // One line: what is above it stays where it is.
            let (note, seed) = if seed == "1" { ("", "") } else { ("; shown run: ", seed) };
            let n = chart.seeds.to_string();
            let seeds = if chart.seeds > 1 { [" runs, mean of seeds 1 to ", &n] } else { [" points, seed ", "1"] };
            [&all.to_string(), seeds[0], seeds[1], note, seed].concat()
        }
    };
    let running = chart.done < chart.total();
    let has_published = chart.published.iter().flatten().any(Option::is_some);
    let lines = list(sides(compared).iter().map(|s| {
        markup!("<span key=" (name(*s)) " class=" (["mark line ", letter(*s)].concat()) ">" (name(*s)) " simulated</span>")
    }));
    let ring = has_published.then(|| markup!(r#"<span key="ring" class="mark ring">published</span>"#));
    let second = second.map(|key| {
        let words =
            ["The second sweep, of ", key, ", is not drawn: each point has the run's own value. The command has both."];
        markup!(r#"<p key="second" class="source" data-testid="sweep-second">"# (words.concat()) "</p>")
    });
    let source =
        source.map(|words| markup!(r#"<p key="source" class="source" data-testid="sweep-source">"# (words) "</p>"));
    let bar = running.then(|| {
        markup!(r#"<progress key="bar" aria-label="Points computed" max="# (chart.total().to_string()) " value=" (chart.done.to_string()) " />")
    });
    let label = ["Line chart: throughput by ", key, "; the table below has its values"].concat();
    markup!(r#"
        <section key="chart" class="card" aria-labelledby="chart-title">
            <header key="head">
                <h2 id="chart-title">Throughput by <code>"# (key) r#"</code></h2>
                <p class="legend">MiB/s"# (lines) "" (ring) r#"</p>
                <button key="run" class="corner" data-testid="sweep-run" onclick="# (click(say, Msg::Sweep)) r#">Compute</button>
            </header>
            <div key="chart" class="# (if chart.numbers.is_none() { "chart none" } else { "chart" }) ">"
                (html! { <Canvas {label} on={on.clone()} /> }) r#"</div>
            <p key="axis" class="axis">"# (key) "" (unit) "</p>"
            (source) "" (second) r#"
            <div key="run" class="run"><span key="words" data-testid="sweep-progress" title="Each point is the mean of a whole run">"# (progress) "</span>" (bar) r#"</div>
            <details key="table" open="# (chart.numbers.is_none()) "><summary>Table</summary>" (sweep_table(chart, key, compared)) "</details>
        </section>
    ")
}

/// Draws the chart.
pub fn draw_chart(place: &Place, chart: &Chart, palette: &Palette) {
    let (Some(canvas), Some(settings)) = (&place.canvas, &chart.numbers) else { return };
    let ratio = dom::pixel_ratio();
    let device = |v: f32| (f64::from(v) * ratio).round().max(1.0) as u32;
    if place.width < 60.0 || place.height < 60.0 {
        return;
    }
    // Setting the size also clears what was drawn.
    canvas.set_width(device(place.width));
    canvas.set_height(device(place.height));
    let points = |of: &[Vec<Option<f64>>; 2]| -> Vec<(lane::Side, usize, f64)> {
        let side = |s: Side, v: &[Option<f64>]| {
            v.iter().enumerate().filter_map(|(i, v)| Some((s.into(), i, (*v)?))).collect::<Vec<_>>()
        };
        [side(Side::A, &of[0]), side(Side::B, &of[1])].concat()
    };
    let data = charts::Sweep {
        settings,
        points: &points(&chart.simulated),
        published: &points(&chart.published),
        current: chart.current,
    };
    if let Some(plot) = CanvasBackend::with_canvas_object(canvas.clone()) {
        // Drawing on a canvas does not fail.
        drop(charts::sweep(plot, &data, palette, ratio));
    }
}

fn sweep_table(chart: &Chart, key: &'static str, compared: bool) -> Html {
    // Nothing published, no columns for it.
    let shown = if chart.published.iter().flatten().any(Option::is_some) { 3 } else { 1 };
    let dash = || "–".to_string();
    let mib = |v: Option<f64>| v.map_or_else(dash, |v| text::fixed(v, 1));
    let error = |s: Option<f64>, p: Option<f64>| match (s, p) {
        (Some(s), Some(p)) if p > 0.0 => {
            let e = (s / p - 1.0) * 100.0;
            [if e > 0.0 { "+" } else { "" }, &text::fixed(e, 1), " %"].concat()
        }
        _ => dash(),
    };
    let heads = list(sides(compared).iter().map(|s| {
        markup!("<th key=" (name(*s)) r#" scope="colgroup" colspan="# (shown.to_string()) " class=" (letter(*s)) ">" (name(*s)) "</th>")
    }));
    let columns = list(sides(compared).iter().flat_map(|s| {
        let words = ["simulated", "published", "error"].into_iter().take(shown);
        words.map(|w| markup!("<th key=" ([name(*s), w].concat()) r#" scope="col">"# (w) "</th>"))
    }));
    let rows = list(chart.texts.iter().enumerate().map(|(i, setting)| {
        let cells = sides(compared).iter().enumerate().flat_map(|(n, _)| {
            let (sim, pubd) = (chart.simulated[n][i], chart.published[n][i]);
            let printed = pubd.map_or_else(dash, |v| text::fixed(v, 0));
            let cells = [mib(sim), printed, error(sim, pubd)].into_iter().take(shown);
            cells.map(|cell| markup!("<td>" (cell) "</td>"))
        });
        markup!("<tr key=" (setting.clone()) r#"><th scope="row">"# (setting.clone()) "</th>" (list(cells)) "</tr>")
    }));
    markup!(r#"
        <table data-testid="sweep-table">
            <caption class="unseen">Throughput in MiB/s by "# (key) r#"</caption>
            <thead>
                <tr key="sides"><td key="setting"></td>"# (heads) r#"</tr>
                <tr key="columns"><th key="setting" scope="col">"# (key) "</th>" (columns) "</tr>
            </thead>
            <tbody>" (rows) "</tbody>
        </table>
    ")
}

fn per_mib(ends: &[Option<DriveTime>; 2]) -> Vec<(lane::Side, parts::PerMib)> {
    let each = sides(true).iter().zip(ends);
    each.filter_map(|(s, e)| Some(((*s).into(), parts::per_mib(e.as_ref()?)))).collect()
}

/// Draws the bars.
pub fn draw_parts(place: &Place, ends: &[Option<DriveTime>; 2], palette: &Palette) {
    let Some(mut p) = place.canvas.clone().and_then(Painter::new) else { return };
    let ratio = dom::pixel_ratio();
    p.resize(place.width, place.height, 1.0, ratio);
    if p.has_room() {
        p.paint(&parts::bars(&per_mib(ends), place.width), palette, ratio);
    }
}

/// The card with the bars; `on` takes their canvas.
pub fn time_parts(ends: &[Option<DriveTime>; 2], compared: bool, on: &Callback<CanvasEvent>) -> Html {
    let (head, rows) = parts::table(&per_mib(ends));
    let label = "Bars: seek, rotation and transfer per MiB; the table below has their values";
    markup!(r#"
        <section key="parts" class="card" aria-labelledby="parts-title">
            <header key="head">
                <h2 id="parts-title">Where a MiB's time goes</h2>
                <p class="legend">drive time in ms per MiB, whole run</p>
            </header>
            <div key="bars" class="# (if compared { "bars two" } else { "bars" }) ">" (html! { <Canvas {label} on={on.clone()} /> }) r#"</div>
            <details key="table"><summary>Table</summary>"# (data_table(String::new(), &head, rows)) "</details>
        </section>
    ")
}

fn runs<'a>(frame: &'a Frame, printed: &'a [Vec<Option<f64>>; 2]) -> Vec<gaps::Run<'a>> {
    let each = sides(true).iter().zip(printed);
    each.filter_map(|(s, p)| Some(((*s).into(), &side_frame(frame, *s)?.order.as_ref()?.gaps, p.as_slice()))).collect()
}

/// Draws the gaps between commands of the disks.
pub fn draw_gaps(place: &Place, frame: &Frame, printed: &[Vec<Option<f64>>; 2], palette: &Palette) {
    let Some(mut p) = place.canvas.clone().and_then(Painter::new) else { return };
    let ratio = dom::pixel_ratio();
    p.resize(place.width, place.height, 1.0, ratio);
    if p.has_room() {
        p.paint(&gaps::bars(&runs(frame, printed), place.width, place.height), palette, ratio);
    }
}

/// The cards with the gaps and with iostat's columns; `on` takes the canvas.
pub fn gaps_and_iostat(frame: &Frame, printed: &[Vec<Option<f64>>; 2], on: &Callback<CanvasEvent>) -> Html {
    let t = gaps::table(&runs(frame, printed));
    let rings = if printed.iter().any(|p| !p.is_empty()) { " · bars simulated, rings published" } else { "" };
    let rows = sides(true).iter().filter_map(|s| {
        let f = side_frame(frame, *s)?;
        Some((frame.b.is_some().then(|| (*s).into()), f.order.as_ref()?, &f.snapshot))
    });
    let io = iostat::table(&rows.collect::<Vec<_>>());
    let label = "Bars: gaps between commands of one disk; the table below has their values";
    markup!(r#"
        <section key="gaps" class="card" aria-labelledby="gaps-title">
            <header key="head">
                <h2 id="gaps-title">Gap between commands on one disk</h2>
                <p class="legend">% of commands so far"# (rings) r#"</p>
            </header>
            <div key="bars" class="bars gaps">"# (html! { <Canvas {label} on={on.clone()} /> }) r#"</div>
            <details key="table"><summary>Table</summary>"# (data_table(t.title, &t.head, t.rows)) r#"</details>
        </section>
        <section key="iostat" class="card iostat" aria-label="iostat -x">"# (data_table(io.title, &io.head, io.rows)) "</section>
    ")
}

/// The card with the reasons of one side.
pub fn reasons(frame: Option<&Frame>, side: Side, compared: bool, say: &Callback<Msg>) -> Html {
    let shown = frame.and_then(|f| side_frame(f, side));
    let records = shown.map_or(&[][..], |s| &s.snapshot.why);
    let kept = why::latest(records, WHY);
    let which = compared.then(|| {
        let buttons = sides(true).iter().map(|s| {
            markup!("<button key=" (name(*s)) " aria-pressed=" (yes(*s == side)) " onclick=" (click(say, Msg::WhySide(*s))) ">" (name(*s)) "</button>")
        });
        markup!(r#"<div class="switch small" role="group" aria-label="Reasons of run">"# (list(buttons)) "</div>")
    });
    let empty = kept.is_empty().then(|| {
        markup!(r#"<li key="empty" class="empty">What waits and what goes on, and for what reason, appears here while the run goes on: press play.</li>"#)
    });
    let reasons = list(kept.iter().enumerate().map(|(i, (r, n))| {
        let words = list(why::why_segments(r).into_iter().map(|s| match s.bold {
            true => markup!("<b>" (s.text) "</b>"),
            false => html! { {s.text} },
        }));
        let times = (*n > 1).then(|| markup!(r#"<span class="times">"# ([" ×", &n.to_string()].concat()) "</span>"));
        markup!("
            <li key=" (i.to_string()) " class=" ((i == 0).then_some("now")) r#">
                <button title="Go to this moment" onclick="# (click(say, Msg::Look(r.time))) r#">
                    <time key="time">"# (short_clock(r.time)) r#"</time>
                    <span key="words">"# (words) "" (times) "</span>
                </button>
            </li>
        ")
    }));
    markup!(r#"
        <section key="why" class="card why" aria-labelledby="why-title">
            <header key="head">
                <h2 id="why-title">Why</h2>
                <p class="legend">at this moment, latest first</p>
                <div class="which">"# (which) r#"</div>
            </header>
            <ol key="list" data-testid="why-list">"# (empty) "" (reasons) "</ol>
        </section>
    ")
}

fn short_clock(ns: u64) -> String {
    let c = clock(ns);
    c.trim_end_matches(" s").to_string()
}

/// What someone else needs to see the same.
pub fn reproduce(frame: Option<&Frame>, seed: &str) -> Html {
    let one = |s: Side| {
        let shown = side_frame(frame?, s)?;
        let hash = hash(shown);
        Some(
            markup!("<div key=" (name(s)) "><dt>hash " (name(s)) "</dt><dd><code data-testid=" (["hash-", letter(s)].concat()) ">" (hash) "</code></dd></div>"),
        )
    };
    markup!(r#"
        <section key="reproduce" class="reproduce" aria-label="Reproduce" title="The hash covers every trace record up to this moment: the same link gives the same hash everywhere.">
            <dl>
                <div key="seed"><dt>seed</dt><dd><code>"# (seed.to_string()) r#"</code></dd></div>
                <div key="model"><dt>model</dt><dd><code>"# (MODEL_VERSION.to_string()) "</code></dd></div>"
                (one(Side::A)) "" (one(Side::B)) "
            </dl>
        </section>
    ")
}
