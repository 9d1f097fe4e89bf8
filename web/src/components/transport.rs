//! The transport: steps, play, speed, the scrubber over the whole run, the clock.
//!
//! Models: nothing.
//! Rule: a slider says its value in words (`1.250 s, event 120 of 900`).
//! Leaves out: keys, which the page hears as a whole.

use bioscope_session::SPEED_MIN;
use bioscope_stage::text;
use web_sys::HtmlInputElement;
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::{Msg, seconds};
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::markup::{click, markup, on};
use crate::player::{Facts, Load};

/// Positions of the scrubber.
const SCRUB: u64 = 10_000;
/// Speeds of a factor of ten in round numbers, hundredths.
const SPEEDS: [u64; 20] =
    [100, 110, 130, 140, 160, 180, 200, 220, 250, 280, 320, 350, 400, 450, 500, 560, 630, 710, 790, 890];
/// The fastest position.
const FASTEST: u64 = 6 * SPEEDS.len() as u64;

/// `3.482 175 s`: microseconds, as much as the eye can use.
pub fn clock(ns: u64) -> String {
    let us = ns / 1_000;
    let group = |v: u64| {
        let digits = v.to_string();
        ["000", &digits].concat()[digits.len()..].to_string()
    };
    [&(us / 1_000_000).to_string(), ".", &group(us / 1_000 % 1_000), "\u{202f}", &group(us % 1_000), " s"].concat()
}

/// A speed in words: `2 ms per second`.
pub fn speed_words(speed: u64) -> String {
    let (value, unit) = match speed {
        0..1_000_000 => (speed as f64 / 1e3, " us per second"),
        1_000_000..1_000_000_000 => (speed as f64 / 1e6, " ms per second"),
        _ => return "real time".to_string(),
    };
    text::fixed(value, u32::from(value < 9.95 && value.fract() > 0.05)) + unit
}

/// The speed at a position of the slider.
fn speed_at(position: u64) -> u64 {
    let n = SPEEDS.len() as u64;
    SPEED_MIN / 100 * SPEEDS[(position % n) as usize] * 10u64.pow((position / n) as u32)
}

fn speed_position(speed: u64) -> u64 {
    (0..FASTEST).find(|p| speed_at(*p) >= speed).unwrap_or(FASTEST)
}

/// One step faster or slower.
pub fn speed_step(speed: u64, faster: bool) -> u64 {
    let position = speed_position(speed);
    speed_at(if faster { (position + 5).min(FASTEST) } else { position.saturating_sub(5) })
}

/// What the transport is drawn from.
pub struct TransportView<'a> {
    pub facts: Option<&'a Facts>,
    /// Takes the overview's canvas.
    pub place: &'a Callback<CanvasEvent>,
    /// Where B leaves A.
    pub fork: Option<u64>,
    /// In a frame: without what changes the run.
    pub embed: bool,
    pub say: &'a Callback<Msg>,
}

/// The transport.
pub fn view(v: &TransportView) -> Html {
    let (facts, say) = (v.facts, v.say);
    let playing = facts.is_some_and(|f| f.playing);
    let at_start = facts.is_none_or(|f| f.moment.time == 0);
    // What can change while I/O runs concerns zoned disks: a stack offers no fork of its own.
    let stacked = facts.is_some_and(|f| f.frame.a.order.is_some());
    let fork = (!v.embed && (!stacked || v.fork.is_some())).then(|| {
        let own = v.fork.map(|at| {
            let words = ["B leaves A at ", &seconds(at)].concat();
            markup!(r#"<span key="at" class="fork-at">"# (words) r#"</span><button key="own" data-testid="unfork" title="Run B from 0 with its own settings" onclick="#
                (click(say, Msg::Unfork)) ">Own run from 0</button>")
        });
        let title = "From this moment on, B has another setting and A goes on as it was";
        markup!(r#"<div key="fork" class="fork"><button key="fork" data-testid="fork" title="# (title) " disabled=" (at_start) " onclick="
            (click(say, Msg::Fork)) ">Fork B here</button>" (own) "</div>")
    });
    let steps = stacked.then(|| {
        let button = |forward: bool, words: &'static str, id: &'static str, path: &'static str| markup!(r#"<button key="# (id) " data-testid=" (id) " aria-label=" (words) " title=" (words) " onclick=" (click(say, Msg::Submission(forward))) ">" (icon(path)) "</button>");
        markup!(r#"<div key="steps" class="buttons">"#
            (button(false, "One submission step back (shift S)", "submission-back", "M10 4 4 10l6 6M16 4l-6 6 6 6")) ""
            (button(true, "One submission step forward (S)", "submission", "M10 4l6 6-6 6M4 4l6 6-6 6")) "</div>")
    });
    let (play, shape) =
        if playing { ("Pause", "M6 4h3v12H6zM11 4h3v12h-3z") } else { ("Play", "M6 3.5 16 10 6 16.5z") };
    markup!(r#"
        <footer key="transport" class="transport">
            <div key="buttons" class="buttons">
                <button key="home" aria-label="To the beginning" title="To the beginning (Home)" onclick="# (click(say, Msg::Home)) ">"
                    (icon("M5 4v12M16 4 8 10l8 6z")) r#"</button>
                <button key="back" data-testid="step-back" aria-label="One event back" title="One event back (left arrow)" onclick="# (click(say, Msg::Step(false))) ">"
                    (icon("M14 4 6 10l8 6z")) r#"</button>
                <button key="play" class="play" data-testid="play" title="Play or pause (space)" aria-label="# (play) " onclick=" (click(say, Msg::Toggle)) ">"
                    (icon(shape)) r#"</button>
                <button key="step" data-testid="step" aria-label="One event forward" title="One event forward (right arrow)" onclick="# (click(say, Msg::Step(true))) ">"
                    (icon("M6 4l8 6-8 6zM16 4v12")) "</button>
            </div>"
            (steps) ""
            (speed(facts.map_or(SPEED_MIN, |f| f.speed), say)) ""
            (scrubber(facts, v.place, say)) "" (fork) r#"
            <div key="clock" class="clock">
                <output key="time" data-testid="clock">"# (clock(facts.map_or(0, |f| f.moment.time))) r#"</output>
                <span key="event" data-testid="event-counter">"# (facts.map_or_else(|| "0 events".into(), counter)) "</span>
            </div>
        </footer>
    ")
}

fn counter(f: &Facts) -> String {
    let n = text::thousands(f.frame.step);
    if let Some((k, all)) = f.frame.a.order.as_ref().map(|o| o.step).filter(|s| s.1 > 0) {
        return ["step ", &k.to_string(), " of ", &all.to_string(), " · event ", &n].concat();
    }
    match f.frame.steps {
        Some(all) => ["event ", &n, " of ", &text::thousands(all)].concat(),
        None => ["event ", &n].concat(),
    }
}

fn icon(path: &'static str) -> Html {
    markup!(r#"<svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="# (path) " /></svg>")
}

fn number(e: &Event) -> u64 {
    e.target_unchecked_into::<HtmlInputElement>().value_as_number() as u64
}

fn speed(speed: u64, say: &Callback<Msg>) -> Html {
    let say = say.clone();
    let oninput = on(|| ListenerKind::oninput, move |e| say.emit(Msg::Speed(speed_at(number(&e).min(FASTEST)))));
    let words = AttrValue::from(speed_words(speed));
    markup!(r#"
        <label key="speed" class="speed">
            <span class="speed-words">"# (words.clone()) r#"</span>
            <input type="range" data-testid="speed" min="0" step="1" aria-label="Speed: simulated time per second of playing"
                max="# (FASTEST.to_string()) " aria-valuetext=" (words) " value=" (speed_position(speed).to_string()) " oninput=" (oninput) " />
        </label>
    ")
}

fn scrubber(facts: Option<&Facts>, place: &Callback<CanvasEvent>, say: &Callback<Msg>) -> Html {
    let known = facts.map_or(0, |f| f.known);
    let oninput = {
        let say = say.clone();
        on(
            || ListenerKind::oninput,
            move |e| {
                say.emit(match number(&e) {
                    0 => Msg::Home,
                    SCRUB => Msg::End,
                    at => Msg::Seek((known as f64 / SCRUB as f64 * at as f64) as u64),
                })
            },
        )
    };
    let at = facts.map_or(0, |f| (f.moment.time as f64 / known.max(1) as f64 * SCRUB as f64 + 0.5) as u64).min(SCRUB);
    let words = facts.map(|f| [&clock(f.moment.time), ", ", &counter(f)].concat());
    // The letters of the legend and the beginning, 0 s, are the style's.
    let (class, middle) = match facts.map(|f| f.load) {
        Some(Load::Ahead(part)) => ("", ["simulating ahead: ", &((part * 100.0) as u32).to_string(), " %"].concat()),
        _ => ("legend", "bandwidth".to_string()),
    };
    let (value, unit) = if known < 1_000_000_000 { (known as f64 / 1e6, " ms") } else { (known as f64 / 1e9, " s") };
    let end = text::fixed(value, 1);
    let end = [end.trim_end_matches(".0"), unit].concat();
    markup!(r#"
        <div key="scrub" class="scrubber">
            <div class="overview">"# (html! { <Canvas on={place.clone()} /> }) r#"</div>
            <input type="range" data-testid="scrub" min="0" step="1" aria-label="Moment of the run"
                max="# (SCRUB.to_string()) " aria-valuetext=" (words) " value=" (at.to_string()) " oninput=" (oninput) r#" />
            <p class="ends">
                <span class="# (class) ">" (middle) "</span>
                <span>" (end) "</span>
            </p>
        </div>
    ")
}
