//! The transport: steps, play, speed, the scrubber over the whole run, the clock.
//!
//! Models: nothing.
//! Rule: a slider says its value in words (`1.250 s, event 120 of 900`).
//! Leaves out: keys, which the page hears as a whole.

use bioscope_session::{SPEED_MAX, SPEED_MIN};
use bioscope_stage::text;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::app::Msg;
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::player::{Facts, Load, Player};

/// Positions of the scrubber.
const SCRUB: u64 = 10_000;
/// Positions of the speed slider per factor of ten.
const PER_DECADE: f64 = 20.0;

#[derive(Properties, PartialEq)]
pub struct TransportProps {
    pub facts: Option<Facts>,
    pub player: Player,
    pub say: Callback<Msg>,
}

/// `3.482 175 s`: microseconds, as much as the eye can use.
pub fn clock(ns: u64) -> String {
    let us = ns / 1_000;
    let group = |v: u64| {
        let digits = v.to_string();
        ["000", &digits].concat()[digits.len()..].to_string()
    };
    [&(us / 1_000_000).to_string(), ".", &group(us / 1_000 % 1_000), "\u{202f}", &group(us % 1_000), " s"].concat()
}

/// A speed in words: `1 s = 2 ms`.
pub fn speed_words(speed: u64) -> String {
    let (value, unit) = match speed {
        0..1_000_000 => (speed as f64 / 1e3, " us"),
        1_000_000..1_000_000_000 => (speed as f64 / 1e6, " ms"),
        _ => return "real time".to_string(),
    };
    ["1 s = ", &text::fixed(value, u32::from(value < 9.95 && value.fract() > 0.05)), unit].concat()
}

fn speed_position(speed: u64) -> u64 {
    ((speed as f64 / SPEED_MIN as f64).log10() * PER_DECADE + 0.5) as u64
}

/// The speed at a position, in round numbers.
pub fn speed_at(position: f64) -> u64 {
    let exact = SPEED_MIN as f64 * 10f64.powf(position / PER_DECADE);
    let step = 10f64.powf(exact.log10().floor() - 1.0);
    ((exact / step).round() * step) as u64
}

/// One step faster or slower.
pub fn speed_step(speed: u64, faster: bool) -> u64 {
    let by = PER_DECADE / 4.0;
    let position = speed_position(speed) as f64 + if faster { by } else { -by };
    speed_at(position).clamp(SPEED_MIN, SPEED_MAX)
}

#[component]
pub fn Transport(props: &TransportProps) -> Html {
    let say = |m: fn() -> Msg| {
        let say = props.say.clone();
        Callback::from(move |_: MouseEvent| say.emit(m()))
    };
    let facts = props.facts.as_ref();
    let playing = facts.is_some_and(|f| f.playing);
    html! {
        <footer class="transport">
            <div key="buttons" class="buttons">
                <button key="home" class="narrow-off" onclick={say(|| Msg::Home)} aria-label="To the beginning" title="To the beginning (Home)">
                    {icon("M5 4v12M16 4 8 10l8 6z")}
                </button>
                <button key="back" data-testid="step-back" onclick={say(|| Msg::Step(false))} aria-label="One event back" title="One event back (left arrow)">
                    {icon("M14 4 6 10l8 6z")}
                </button>
                <button key="play" class="play" data-testid="play" onclick={say(|| Msg::Toggle)} title="Play or pause (space)"
                    aria-label={if playing { "Pause" } else { "Play" }}>
                    {icon(if playing { "M6 4h3v12H6zM11 4h3v12h-3z" } else { "M6 3.5 16 10 6 16.5z" })}
                </button>
                <button key="step" data-testid="step" onclick={say(|| Msg::Step(true))} aria-label="One event forward" title="One event forward (right arrow)">
                    {icon("M6 4l8 6-8 6zM16 4v12")}
                </button>
            </div>
            <Speed key="speed" speed={facts.map_or(SPEED_MIN, |f| f.speed)} say={props.say.clone()} />
            <Scrubber key="scrub" facts={props.facts.clone()} player={props.player.clone()} say={props.say.clone()} />
            <div key="clock" class="clock">
                <output key="time" data-testid="clock">{clock(facts.map_or(0, |f| f.moment.time))}</output>
                <span key="event" data-testid="event-counter">{facts.map_or_else(|| "0 events".into(), counter)}</span>
            </div>
        </footer>
    }
}

fn counter(f: &Facts) -> String {
    let n = text::thousands(f.frame.step);
    match f.frame.steps {
        Some(all) => ["event ", &n, " of ", &text::thousands(all)].concat(),
        None => ["event ", &n].concat(),
    }
}

fn icon(path: &'static str) -> Html {
    html! { <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d={path} /></svg> }
}

#[derive(Properties, PartialEq)]
struct SpeedProps {
    speed: u64,
    say: Callback<Msg>,
}

#[component]
fn Speed(props: &SpeedProps) -> Html {
    let oninput = {
        let say = props.say.clone();
        Callback::from(move |e: InputEvent| {
            let at = e.target_unchecked_into::<HtmlInputElement>().value_as_number();
            say.emit(Msg::Speed(speed_at(at)));
        })
    };
    let words = speed_words(props.speed);
    let max = speed_position(SPEED_MAX).to_string();
    html! {
        <label class="speed">
            <span key="words" class="speed-words">{&words}</span>
            <input key="slider" type="range" data-testid="speed" min="0" {max} step="1" aria-label="Speed"
                aria-valuetext={words.clone()} value={speed_position(props.speed).to_string()} {oninput} />
        </label>
    }
}

#[derive(Properties, PartialEq)]
struct ScrubberProps {
    facts: Option<Facts>,
    player: Player,
    say: Callback<Msg>,
}

#[component]
fn Scrubber(props: &ScrubberProps) -> Html {
    let on = {
        let player = props.player.clone();
        Callback::from(move |e: CanvasEvent| match e {
            CanvasEvent::Here(c) => player.attach_overview(Some(c)),
            CanvasEvent::Gone => player.attach_overview(None),
            CanvasEvent::Size(_, w, h) => player.resize_overview(w, h),
        })
    };
    let known = props.facts.as_ref().map_or(0, |f| f.known);
    let oninput = {
        let say = props.say.clone();
        Callback::from(move |e: InputEvent| {
            let at = e.target_unchecked_into::<HtmlInputElement>().value_as_number() as u64;
            say.emit(match at {
                0 => Msg::Home,
                SCRUB => Msg::End,
                _ => Msg::Seek(u64::try_from(u128::from(known) * u128::from(at) / u128::from(SCRUB)).unwrap_or(known)),
            });
        })
    };
    let facts = props.facts.as_ref();
    let at = facts.map_or(0, |f| (f.moment.time as f64 / known.max(1) as f64 * SCRUB as f64 + 0.5) as u64).min(SCRUB);
    let words = facts.map(|f| [&clock(f.moment.time), ", ", &counter(f)].concat());
    let ahead = facts.and_then(|f| match f.load {
        Load::Ahead(part) => Some((part * 100.0) as u32),
        _ => None,
    });
    html! {
        <div class="scrubber">
            <div key="line" class="overview">
                <Canvas label="" decorative=true {on} />
            </div>
            <input key="slider" type="range" data-testid="scrub" min="0" max={SCRUB.to_string()} step="1" aria-label="Moment of the run"
                aria-valuetext={words} value={at.to_string()} {oninput} />
            <div key="ahead" class="ahead">
                if let Some(percent) = ahead {
                    <span>{"simulating ahead: "}{percent}{" %"}</span>
                }
            </div>
        </div>
    }
}
