//! One lane: header with readouts, the stage, its tooltip and its text alternative.
//!
//! Models: nothing.
//! Rule: numbers carry their unit and keep their width.
//! Leaves out: what is on the stage (`bioscope-stage`).

use std::rc::Rc;

use bioscope_core::config::{MdLevel, SplitInsert};
use bioscope_core::observe::snapshot::DeviceView;
use bioscope_session::{Frame, Side, SideFrame};
use bioscope_stage::lane::queue::waiters;
use bioscope_stage::lane::{queues, stack};
use bioscope_stage::{readouts, table, text};
use gloo::events::EventListener;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlDetailsElement};
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::Msg;
use crate::components::canvas::{Canvas, CanvasEvent};
use crate::dom;
use crate::markup::{click, list, markup, on, yes};
use crate::player::Player;

/// What a lane is drawn from.
pub struct LaneView<'a> {
    pub side: Side,
    /// True with two lanes.
    pub compared: bool,
    pub title: String,
    /// What distinguishes this side: `zoned_qd1_writes=0`.
    pub settings: String,
    pub frame: Option<&'a Frame>,
    pub playing: bool,
    /// The tables are asked for.
    pub tables: bool,
    pub player: &'a Player,
    /// Of the canvas.
    pub key: String,
    /// The map of zones is shown: whether in the colours of gzbd-viewer.
    pub gzbd: Option<bool>,
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
    let badge = v.compared.then(|| markup!(r#"<span class="badge">"# (name(v.side)) "</span>"));
    let banner = (errors > 0).then(|| {
        let words = text::count(errors, "bio", "bios") + " ended with an error (EIO) in the simulated system.";
        markup!(r#"<p class="banner" role="status">"# (words) "</p>")
    });
    let colours = v.gzbd.filter(|_| v.side == Side::A).map(|on| {
        let title = "Zones in the colours of gzbd-viewer";
        markup!(r#"<button class="gzbd" data-testid="gzbd" aria-pressed="# (yes(on)) " title=" (title) " aria-label=" (title) " onclick=" (click(v.say, Msg::Gzbd)) ">gzbd</button>")
    });
    markup!("
        <section key=" (letter) " class=" (["lane ", letter].concat()) " data-testid=" (["lane-", letter].concat()) " aria-label=" (["Run ", name(v.side)].concat()) r#">
            <header key="head" class="lane-head">"# (badge) "<h2>" (v.title.clone()) "</h2><code title=" (v.settings.clone()) ">" (v.settings.clone()) "</code>"
                (alternative(v, shown)) "" (colours) "" (numbers(shown)) "
            </header><div key=\"errors\" class=\"lane-errors\">" (banner) "</div>"
            (html! { <Stage key={v.key.as_str()} side={v.side} player={v.player.clone()} /> }) "
        </section>
    ")
}

/// What an array's lane shows: where remainders go, if that sets the runs apart, else what the device is.
pub fn stacked_title(frame: &Frame, side: Side) -> Option<&'static str> {
    let end = |f: &SideFrame| f.order.as_ref().map(|o| o.cfg.kernel.split_insert);
    let own = side_frame(frame, side)?;
    if frame.b.as_ref().is_some_and(|b| end(b) != end(&frame.a)) {
        return Some(match end(own)? {
            SplitInsert::Tail => "remainder to the tail",
            SplitInsert::Head => "remainder to the head",
        });
    }
    let order = own.order.as_ref()?;
    Some(match stack::md(order).map(|m| m.level) {
        Some(MdLevel::Raid0) => "md raid0",
        Some(MdLevel::Raid1) => "md raid1",
        Some(MdLevel::Raid5) => "md raid5",
        Some(MdLevel::Raid6) => "md raid6",
        Some(MdLevel::Raid10) => "md raid10",
        None => "device-mapper",
    })
}

/// What the lane of a queue shows: its scheduler, or the wake batch where that sets the runs apart.
pub fn queue_title(frame: &Frame, side: Side) -> Option<String> {
    fn device(f: &SideFrame) -> Option<&DeviceView> {
        f.snapshot.devices.first()
    }
    let own = device(side_frame(frame, side)?)?;
    let other = frame.b.as_ref().and_then(device).zip(device(&frame.a));
    let batch = |d: &DeviceView| waiters::slept_for(d).wake_batch;
    let name = queues::elevator(own).0;
    Some(match other {
        Some((b, a)) if batch(a) != batch(b) => ["wake_batch ", &batch(own).to_string()].concat(),
        _ => name.to_string(),
    })
}

/// The trace hash in its 16 digits.
pub fn hash(shown: &SideFrame) -> String {
    format!("{:016x}", shown.hash)
}

/// A bandwidth in MiB/s and in MB/s.
fn both(value: Option<f64>) -> (String, String) {
    value.map(readouts::bandwidth).map_or_else(|| ("–".to_string(), String::new()), |b| (b.mib, b.mb))
}

/// The bandwidth of the moment.
pub fn rate(shown: Option<&SideFrame>) -> (String, String) {
    both(shown.map(|s| s.readouts.now_bytes_per_sec))
}

fn numbers(shown: Option<&SideFrame>) -> Html {
    let ((now, now_mb), mean) = (rate(shown), shown.and_then(|s| s.readouts.mean_bytes_per_sec));
    let (mean, mean_mb) = both(mean);
    let known = shown.is_some_and(|s| s.readouts.p99_ns.is_some());
    let few = if known { "" } else { "needs 1,000 I/Os" };
    let p99 = shown.filter(|_| known).map_or_else(|| "n < 1,000".to_string(), |s| readouts::p99(&s.snapshot.stats));
    let one = |class: &'static str, name: String, title: String, value: String, more: &'static str| markup!("<div class=" (class) " title=" (title) "><dt>" (name) "</dt><dd>" (value) r#"<span class="unseen">"# (more) "</span></dd></div>");
    // Jobs that differ have figures of their own instead of those of all.
    let freeze = shown
        .and_then(|s| readouts::live(&s.snapshot))
        .map(|(name, value, title)| one("freeze", name.to_string(), title, value, ""));
    let kinds = shown.map_or_else(Vec::new, |s| readouts::kinds(&s.snapshot.stats));
    if !kinds.is_empty() {
        let title = "since the ramp; p99 needs 1,000 I/Os";
        let each = kinds.into_iter().map(|(name, value)| one("kind", name, title.into(), value, ""));
        let all = freeze.into_iter().chain([one("now", "now".to_string(), now_mb, now, "")]).chain(each);
        return markup!(r#"<dl class="readouts kinds">"# (list(all)) "</dl>");
    }
    let all = match shown.and_then(readouts::stacked) {
        // The same places: what is narrow keeps the first.
        Some([(top, rate), size, sequential]) => [
            one("now", top.to_string(), "mean since the ramp".into(), rate, ""),
            one("mean", size.0.to_string(), "mean of the disks' requests so far".into(), size.1, ""),
            one(
                "p99",
                sequential.0.to_string(),
                "commands that begin where the disk's last one ended".into(),
                sequential.1,
                "",
            ),
        ],
        None => [
            one("now", "now".to_string(), now_mb, now, ""),
            one("mean", "mean so far".to_string(), mean_mb + ", since the ramp", mean, ""),
            one("p99", "p99".to_string(), few.to_string(), p99, few),
        ],
    };
    markup!(r#"<dl class="readouts">"# (list(freeze.into_iter().chain(all))) "</dl>")
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
    let ontoggle = {
        let say = v.say.clone();
        on(
            || ListenerKind::ontoggle,
            move |e| {
                say.emit(Msg::Tables(side, e.target_dyn_into::<HtmlDetailsElement>().is_some_and(|d| d.open())));
            },
        )
    };
    let sentence = shown.filter(|_| !v.playing).map(|s| table::summary(&s.snapshot, s.order.as_ref()));
    let tables = shown.filter(|_| v.tables).map_or_else(Vec::new, |s| table::tables(&s.snapshot, s.order.as_ref()));
    let words = AttrValue::from(["Run ", name(side), " as tables"].concat());
    markup!(r#"
        <div class="alternative">
            <p id="# (summary_id(side)) r#" class="unseen">"# (sentence.unwrap_or_else(|| "Playing.".to_string())) "</p>
            <details ontoggle=" (ontoggle) r#">
                <summary title="As tables"><span class="unseen">"# (words.clone()) r#"</span></summary>
                <div class="tables" tabindex="0" role="region" aria-label="# (words) ">"
                    (list(tables.into_iter().map(|t| data_table(t.title, &t.head, t.rows)))) "
                </div>
            </details>
        </div>
    ")
}

/// Headings and rows as HTML.
pub fn data_table(title: String, head: &[&'static str], rows: Vec<Vec<String>>) -> Html {
    let heads = head.iter().map(|h| markup!(r#"<th scope="col">"# (*h) "</th>"));
    let rows =
        rows.into_iter().map(|r| markup!("<tr>" (list(r.into_iter().map(|c| markup!("<td>" (c) "</td>")))) "</tr>"));
    markup!("
        <table>
            <caption>" (title) "</caption>
            <thead><tr>" (list(heads)) "</tr></thead>
            <tbody>" (list(rows)) "</tbody>
        </table>
    ")
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
    /// A finger that goes down anywhere ends what the last one asked for.
    _down: EventListener,
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
                let needs = player.resize_lane(side, w, h);
                dom::set_style(&place, "--needed", &dom::px(needs.least));
                dom::set_style(&place, "--wanted", &dom::px(needs.height));
            }
        });
        let tip = NodeRef::default();
        let _down = {
            let (player, tip) = (ctx.props().player.clone(), tip.clone());
            EventListener::new(&dom::window(), "pointerdown", move |_| {
                player.unpoint();
                if let Some(tip) = tip.cast::<Element>() {
                    tip.set_text_content(None);
                }
            })
        };
        Self { tip, on, _down }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let (player, side) = (ctx.props().player.clone(), ctx.props().side);
        // One for all: leaving, there is nothing to say; a finger asks by its click, which comes after it has left.
        let point: Rc<dyn Fn(Event)> = {
            let tip = self.tip.clone();
            Rc::new(move |e: Event| {
                let e: MouseEvent = e.unchecked_into();
                let (x, y, kind) = (e.offset_x() as f32, e.offset_y() as f32, e.type_());
                let words = if kind == "pointerleave" { player.unpoint() } else { player.point(side, x, y) };
                if let Some(tip) = tip.cast::<Element>() {
                    // In the lower half of the window it stands above the pointer.
                    let up = dom::root().is_some_and(|r| e.client_y() * 2 > r.client_height());
                    tip.set_class_name(if up { "tip up" } else { "tip" });
                    dom::set_style(&tip, "--x", &dom::px(x));
                    dom::set_style(&tip, "--y", &dom::px(y));
                    tip.set_text_content(words.as_deref());
                }
                if kind == "click" {
                    player.click(side, x, y);
                }
            })
        };
        let hear = |kind: fn() -> ListenerKind| {
            let point = point.clone();
            on(kind, move |e| point(e))
        };
        let label = ["Run ", name(side), ": its queues and disks at this moment"].concat();
        markup!(r#"<div class="stage" onpointermove="# (hear(|| ListenerKind::onpointermove))
            " onpointerleave=" (hear(|| ListenerKind::onpointerleave)) " onclick=" (hear(|| ListenerKind::onclick)) ">"
            (html! { <Canvas {label} described_by={summary_id(side)} on={self.on.clone()} /> })
            r#"<div class="tip" ref="# (&self.tip) " /></div>")
    }
}
