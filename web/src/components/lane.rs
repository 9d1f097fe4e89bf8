//! One lane: header with readouts, the stage, its tooltip and its text alternative.
//!
//! Models: nothing.
//! Rule: numbers carry their unit and keep their width.
//! Leaves out: what is on the stage (`bioscope-stage`).

use std::rc::Rc;

use bioscope_session::{Frame, Side, SideFrame};
use bioscope_stage::{readouts, table, text};
use web_sys::{HtmlDetailsElement, PointerEvent};
use yew::prelude::*;

use crate::app::Msg;
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::dom;
use crate::player::{Player, Tip};

#[derive(Properties, PartialEq)]
pub struct LaneProps {
    pub side: Side,
    /// True with two lanes.
    pub compared: bool,
    pub title: AttrValue,
    /// What distinguishes this side: `zoned_qd1_writes=0`.
    pub settings: AttrValue,
    pub frame: Option<Rc<Frame>>,
    pub playing: bool,
    pub player: Player,
    pub tip: Option<Tip>,
    pub say: Callback<Msg>,
}

/// The number of a side's frame.
pub fn side_frame(frame: &Frame, side: Side) -> Option<&SideFrame> {
    match side {
        Side::A => Some(&frame.a),
        Side::B => frame.b.as_ref(),
    }
}

/// `A`, `B`.
pub fn name(side: Side) -> &'static str {
    match side {
        Side::A => "A",
        Side::B => "B",
    }
}

/// `a`, `b`: in ids and test ids.
pub fn letter(side: Side) -> &'static str {
    match side {
        Side::A => "a",
        Side::B => "b",
    }
}

#[component]
pub fn Lane(props: &LaneProps) -> Html {
    let side = props.side;
    let letter = letter(side);
    let shown = props.frame.as_deref().and_then(|f| side_frame(f, side));
    let summary_id = format!("summary-{letter}");
    html! {
        <section class={classes!("lane", letter)} data-testid={format!("lane-{letter}")} aria-label={format!("Run {}", name(side))}>
            <header key="head" class="lane-head">
                if props.compared {
                    <span key="badge" class="badge">{name(side)}</span>
                }
                <h2 key="title">{props.title.clone()}</h2>
                <code key="settings">{props.settings.clone()}</code>
                <Alternative key="text" {side} id={summary_id.clone()} frame={props.frame.clone()} playing={props.playing} />
                <Readouts key="readouts" frame={props.frame.clone()} {side} />
            </header>
            <Stage key="stage" {side} player={props.player.clone()} described_by={summary_id} say={props.say.clone()} />
            <div key="tip" class="tip-place">
                if let Some(tip) = props.tip.clone().filter(|t| t.side == side) {
                    <Tooltip {tip} />
                }
            </div>
            <div key="errors" class="lane-errors">
                if let Some(n) = shown.map(|s| s.readouts.errors).filter(|n| *n > 0) {
                    <p class="banner" role="status">
                        {text::count(n, "bio", "bios")}{" ended with an error (EIO) in the simulated system."}
                    </p>
                }
            </div>
        </section>
    }
}

#[derive(Properties, PartialEq)]
struct ReadoutsProps {
    frame: Option<Rc<Frame>>,
    side: Side,
}

#[component]
fn Readouts(props: &ReadoutsProps) -> Html {
    let shown = props.frame.as_deref().and_then(|f| side_frame(f, props.side));
    let rate = |v: Option<f64>| v.map(readouts::bandwidth);
    let now = rate(shown.map(|s| s.readouts.now_bytes_per_sec));
    let mean = rate(shown.and_then(|s| s.readouts.mean_bytes_per_sec));
    let p99 = shown.map_or_else(|| "–".to_string(), |s| readouts::p99(&s.snapshot.stats));
    let mib = |b: &Option<readouts::Bandwidth>| b.as_ref().map_or_else(|| "–".to_string(), |b| b.mib.clone());
    let mb = |b: &Option<readouts::Bandwidth>| b.as_ref().map(|b| b.mb.clone());
    html! {
        <dl class="readouts">
            <div key="now" title={mb(&now)}><dt>{"now"}</dt><dd class="big">{mib(&now)}</dd></div>
            <div key="mean" title={mb(&mean)}><dt>{"mean"}</dt><dd>{mib(&mean)}</dd></div>
            <div key="p99" class="p99"><dt>{"p99"}</dt><dd>{p99}</dd></div>
        </dl>
    }
}

#[derive(Properties, PartialEq)]
struct StageProps {
    side: Side,
    player: Player,
    described_by: AttrValue,
    say: Callback<Msg>,
}

/// The canvas with its pointer. Renders once.
#[component]
fn Stage(props: &StageProps) -> Html {
    let side = props.side;
    let on = {
        let player = props.player.clone();
        Callback::from(move |e: CanvasEvent| match e {
            CanvasEvent::Here(c) => player.attach_lane(side, Some(c)),
            CanvasEvent::Gone => player.attach_lane(side, None),
            CanvasEvent::Size(place, w, h) => {
                let needed = player.resize_lane(side, w, h);
                dom::set_style(&place, "--needed", &format!("{}px", needed as u32));
            }
        })
    };
    let point = {
        let (player, say) = (props.player.clone(), props.say.clone());
        Callback::from(move |e: PointerEvent| {
            say.emit(Msg::Tip(player.point(side, e.offset_x() as f32, e.offset_y() as f32)));
        })
    };
    let leave = {
        let (player, say) = (props.player.clone(), props.say.clone());
        Callback::from(move |_: PointerEvent| {
            player.unpoint();
            say.emit(Msg::Tip(None));
        })
    };
    let click = {
        let player = props.player.clone();
        Callback::from(move |e: MouseEvent| player.click(side, e.offset_x() as f32, e.offset_y() as f32))
    };
    let label = match side {
        Side::A => "Run A: jobs, zone write plugs, tags and drive at this moment",
        Side::B => "Run B: jobs, zone write plugs, tags and drive at this moment",
    };
    html! {
        <div class="stage" onpointermove={point} onpointerleave={leave} onclick={click}>
            <Canvas {label} described_by={props.described_by.clone()} {on} />
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct TooltipProps {
    tip: Tip,
}

#[component]
fn Tooltip(props: &TooltipProps) -> Html {
    let place = use_node_ref();
    {
        let place = place.clone();
        use_effect_with((props.tip.x, props.tip.y), move |(x, y)| {
            if let Some(e) = place.cast::<web_sys::Element>() {
                dom::set_style(&e, "--x", &format!("{}px", *x as i32));
                dom::set_style(&e, "--y", &format!("{}px", *y as i32));
            }
        });
    }
    html! { <div class="tip" ref={place}>{&props.tip.words}</div> }
}

#[derive(Properties, PartialEq)]
struct AlternativeProps {
    side: Side,
    id: AttrValue,
    frame: Option<Rc<Frame>>,
    playing: bool,
}

/// The stage in words: a sentence, and tables while they are asked for.
#[component]
fn Alternative(props: &AlternativeProps) -> Html {
    let open = use_state_eq(|| false);
    let ontoggle = {
        let open = open.clone();
        Callback::from(move |e: Event| {
            if let Some(d) = e.target_dyn_into::<HtmlDetailsElement>() {
                open.set(d.open());
            }
        })
    };
    let shown = props.frame.as_deref().and_then(|f| side_frame(f, props.side));
    let sentence = shown.filter(|_| !props.playing).map(|s| table::summary(&s.snapshot));
    let tables = shown.filter(|_| *open).map_or_else(Vec::new, |s| table::tables(&s.snapshot));
    html! {
        <div class="alternative">
            <p key="sentence" id={props.id.clone()} class="unseen">{sentence.unwrap_or_else(|| "Playing.".to_string())}</p>
            <details key="tables" {ontoggle}>
                <summary title="As tables"><span class="unseen">{"Run "}{name(props.side)}{" as tables"}</span></summary>
                <div class="tables" tabindex="0" role="region" aria-label={format!("Run {} as tables", name(props.side))}>
                    { for tables.iter().map(data_table) }
                </div>
            </details>
        </div>
    }
}

/// A table of the stage as HTML.
fn data_table(t: &table::Table) -> Html {
    html! {
        <table key={t.title.clone()}>
            <caption>{&t.title}</caption>
            <thead><tr>{ for t.head.iter().map(|h| html! { <th scope="col">{*h}</th> }) }</tr></thead>
            <tbody>
                { for t.rows.iter().map(|r| html! { <tr>{ for r.iter().map(|c| html! { <td>{c}</td> }) }</tr> }) }
            </tbody>
        </table>
    }
}
