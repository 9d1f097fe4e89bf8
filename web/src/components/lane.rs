//! One lane: header with readouts, the stage, its tooltip and its text alternative.
//!
//! Models: nothing.
//! Rule: numbers carry their unit and keep their width.
//! Leaves out: what is on the stage (`bioscope-stage`).

use bioscope_session::{Frame, Side, SideFrame};
use bioscope_stage::{readouts, table, text};
use web_sys::{Element, HtmlDetailsElement, PointerEvent};
use yew::prelude::*;

use crate::app::Msg;
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::dom;
use crate::player::Player;

/// What a lane is drawn from.
pub struct LaneView<'a> {
    pub side: Side,
    /// True with two lanes.
    pub compared: bool,
    pub title: &'static str,
    /// What distinguishes this side: `zoned_qd1_writes=0`.
    pub settings: String,
    pub frame: Option<&'a Frame>,
    pub playing: bool,
    /// The tables are asked for.
    pub tables: bool,
    pub player: &'a Player,
    pub say: &'a Callback<Msg>,
}

/// A side's part of a frame.
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

/// The lane.
pub fn view(v: &LaneView) -> Html {
    let letter = letter(v.side);
    let shown = v.frame.and_then(|f| side_frame(f, v.side));
    let errors = shown.map_or(0, |s| s.readouts.errors);
    html! {
        <section key={letter} class={["lane ", letter].concat()} data-testid={["lane-", letter].concat()} aria-label={["Run ", name(v.side)].concat()}>
            <header key="head" class="lane-head">
                if v.compared {
                    <span class="badge">{name(v.side)}</span>
                }
                <h2>{v.title}</h2>
                <code>{&v.settings}</code>
                {alternative(v, shown)}
                {numbers(shown)}
            </header>
            <Stage key="stage" side={v.side} player={v.player.clone()} />
            <div key="errors" class="lane-errors">
                if errors > 0 {
                    <p class="banner" role="status">
                        {text::count(errors, "bio", "bios")}{" ended with an error (EIO) in the simulated system."}
                    </p>
                }
            </div>
        </section>
    }
}

fn numbers(shown: Option<&SideFrame>) -> Html {
    let one = |key: &'static str, value: Option<f64>| {
        let b = value.map(readouts::bandwidth);
        let (mib, mb) = b.map_or_else(|| ("–".to_string(), None), |b| (b.mib, Some(b.mb)));
        html! { <div class={key} title={mb}><dt>{key}</dt><dd>{mib}</dd></div> }
    };
    let p99 = shown.map_or_else(|| "–".to_string(), |s| readouts::p99(&s.snapshot.stats));
    html! {
        <dl class="readouts">
            {one("now", shown.map(|s| s.readouts.now_bytes_per_sec))}
            {one("mean", shown.and_then(|s| s.readouts.mean_bytes_per_sec))}
            <div class="p99"><dt>{"p99"}</dt><dd>{p99}</dd></div>
        </dl>
    }
}

fn summary_id(side: Side) -> &'static str {
    match side {
        Side::A => "summary-a",
        Side::B => "summary-b",
    }
}

/// The stage in words: a sentence, and tables while they are asked for.
fn alternative(v: &LaneView, shown: Option<&SideFrame>) -> Html {
    let side = v.side;
    let ontoggle = v
        .say
        .reform(move |e: Event| Msg::Tables(side, e.target_dyn_into::<HtmlDetailsElement>().is_some_and(|d| d.open())));
    let sentence = shown.filter(|_| !v.playing).map(|s| table::summary(&s.snapshot));
    let tables = shown.filter(|_| v.tables).map_or_else(Vec::new, |s| table::tables(&s.snapshot));
    let words = ["Run ", name(side), " as tables"].concat();
    html! {
        <div class="alternative">
            <p id={summary_id(side)} class="unseen">{sentence.unwrap_or_else(|| "Playing.".to_string())}</p>
            <details {ontoggle}>
                <summary title="As tables"><span class="unseen">{&words}</span></summary>
                <div class="tables" tabindex="0" role="region" aria-label={words.clone()}>
                    { for tables.iter().map(|t| data_table(&t.title, &t.head, &t.rows)) }
                </div>
            </details>
        </div>
    }
}

/// Headings and rows as HTML.
pub fn data_table(title: &str, head: &[&'static str], rows: &[Vec<String>]) -> Html {
    html! {
        <table>
            <caption>{title}</caption>
            <thead><tr>{ for head.iter().map(|h| html! { <th scope="col">{*h}</th> }) }</tr></thead>
            <tbody>
                { for rows.iter().map(|r| html! { <tr>{ for r.iter().map(|c| html! { <td>{c}</td> }) }</tr> }) }
            </tbody>
        </table>
    }
}

#[derive(Properties, PartialEq)]
struct StageProps {
    side: Side,
    player: Player,
}

/// The canvas with its pointer and tooltip. Renders once; the tooltip is moved and filled outside of Yew.
struct Stage {
    tip: NodeRef,
    on: Callback<CanvasEvent>,
}

impl Component for Stage {
    type Message = ();
    type Properties = StageProps;

    fn create(ctx: &Context<Self>) -> Self {
        let (player, side) = (ctx.props().player.clone(), ctx.props().side);
        let on = Callback::from(move |e: CanvasEvent| match e {
            CanvasEvent::Here(c) => player.attach_lane(side, Some(c)),
            CanvasEvent::Gone => player.attach_lane(side, None),
            CanvasEvent::Size(place, w, h) => {
                let needed = player.resize_lane(side, w, h);
                dom::set_style(&place, "--needed", &dom::px(needed));
            }
        });
        Self { tip: NodeRef::default(), on }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let (player, side) = (ctx.props().player.clone(), ctx.props().side);
        let click = {
            let player = player.clone();
            Callback::from(move |e: MouseEvent| player.click(side, e.offset_x() as f32, e.offset_y() as f32))
        };
        // Moving and leaving in one: outside of the canvas there is nothing to point at.
        let point = {
            let tip = self.tip.clone();
            Callback::from(move |e: PointerEvent| {
                let (x, y) = (e.offset_x() as f32, e.offset_y() as f32);
                let words = if e.type_() == "pointermove" { player.point(side, x, y) } else { player.unpoint() };
                if let Some(tip) = tip.cast::<Element>() {
                    dom::set_style(&tip, "--x", &dom::px(x));
                    dom::set_style(&tip, "--y", &dom::px(y));
                    tip.set_text_content(words.as_deref());
                }
            })
        };
        html! {
            <div class="stage" onpointermove={point.clone()} onpointerleave={point} onclick={click}>
                <Canvas label={["Run ", name(side), ": jobs, zone write plugs, tags and drive at this moment"].concat()}
                    described_by={summary_id(side)} on={self.on.clone()} />
                <div class="tip" ref={&self.tip} />
            </div>
        }
    }
}
