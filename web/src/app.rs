//! The page's state and what its messages do.
//!
//! Models: nothing.
//! Rule: all state is here and changes only in `update`, one message at a time; effects go to the player, the sweep
//! and the address. The address always holds the last good scenario: edits replace the history entry, opening a
//! preset makes one, `t` is written on pause, after moves while paused, with edits (which keep the moment) and in
//! shared links only.
//! Leaves out: drawing ([`crate::player`], [`crate::components`]).

use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_lab::chart::{Chart, Point};
use bioscope_scenario::check;
use bioscope_scenario::diagnostic::{Diagnostic, Severity};
use bioscope_scenario::params::{KEYS, Key, Live, Param};
use bioscope_scenario::preset::{PRESETS, Preset};
use bioscope_scenario::scenario::{self, Scenario, Side};
use bioscope_scenario::text;
use bioscope_scenario::value::{Value, print_seconds};
use bioscope_scenario::view::{Panel, Panels};
use bioscope_session as session;
use bioscope_stage::lane as stage;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DragEvent, Element, KeyboardEvent};
use yew::prelude::*;

use crate::components::bar::{self, BarView, PRESET_ID};
use crate::components::canvas::CanvasEvent;
use crate::components::form::{Form, WRITE_ID, full_key};
use crate::components::lane::{self, LaneView};
use crate::components::share::{LINK_ID, Share};
use crate::components::side::{self, Place};
use crate::components::transport::{self, TransportView, clock, speed_step};
use crate::dom;
use crate::frame::{Ask, Parent};
use crate::hooks;
use crate::markup::{click, list, markup};
use crate::player::{Facts, Load, Player, Start};
use crate::shared::Shared;
use crate::sweep::Sweeper;
use crate::theme::Theme;
use crate::words::Words;

/// Simulated ns per second without a preset.
const SPEED: u64 = 20_000_000;
/// Edits are written to the address after this long without another, ms.
const WRITE_MS: u32 = 250;
/// What is said aloud is said at most this often, ms.
const SAY_MS: u32 = 1_000;
/// A jump by keys, as a part of the run.
const JUMP: f64 = 0.02;
/// The sweep begins by itself this long after the run is there, ms.
const SWEEP_MS: u32 = 600;

/// Everything that can happen.
#[derive(Clone)]
pub enum Msg {
    /// From the player, at most ten times a second.
    Facts(Facts),
    /// The address was changed by someone else.
    Address,
    Open(&'static Preset),
    Edit(Side, Key, String),
    /// Back to the preset's value.
    Reset(Key),
    /// B gets its own value.
    Differ(Key),
    /// B takes A's value.
    Same(Key),
    /// A value for this setting is about to be written, or none.
    Writing(Option<Key>),
    /// What its field holds is written at the moment that is shown.
    WriteNow(Side, Key),
    Compare(bool),
    Toggle,
    Step(bool),
    /// To the next or last step of a submission.
    Submission(bool),
    /// By a part of the run.
    Jump(f64),
    /// To a time, ns, playing on.
    Seek(u64),
    /// To a time, paused.
    Look(u64),
    Home,
    End,
    Speed(u64),
    /// B is A until this moment and has its own setting from here on.
    Fork,
    /// B runs from the start again.
    Unfork,
    AllPanels,
    Share,
    /// The text for documents, by its place among all.
    ShareAs(usize),
    /// The field of this id into the clipboard.
    Copy(&'static str),
    /// It is there.
    Copied(&'static str),
    CloseShare,
    /// A file's name and text, if it could be read.
    File(String, Option<String>),
    /// From the page around this one.
    Asked(Ask),
    /// Tell the page around this one how high this one would like to be.
    Measure,
    NextTheme,
    /// The other colours in the map of zones.
    Gzbd,
    /// The system's theme changed.
    SystemTheme,
    Drawer(bool),
    Keys(bool),
    Advanced(bool),
    /// The tables of a lane are asked for, or no longer.
    Tables(session::Side, bool),
    /// The chart's canvas.
    ChartPlace(CanvasEvent),
    /// The canvas of the parts of time.
    PartsPlace(CanvasEvent),
    WhySide(session::Side),
    Sweep,
    Point(Point),
    /// The fetched texts, or that there are none.
    Words(Words),
    /// Write the address now.
    Write,
    /// Say the moment aloud now.
    Say,
    Key(KeyboardEvent),
}

/// A text in a field that is no value.
#[derive(Clone, Debug, PartialEq)]
pub struct Typed {
    pub side: Side,
    pub key: Key,
    pub text: String,
    pub problem: Diagnostic,
}

/// See the module.
pub struct App {
    scenario: Shared<Scenario>,
    /// The scenario of the shown run and of the address.
    good: Shared<Scenario>,
    typed: Shared<Vec<Typed>>,
    /// What the link's text had wrong.
    from_link: Vec<Diagnostic>,
    /// What the settings have wrong together.
    checked: Vec<Diagnostic>,
    /// Both, and what the player found.
    diagnostics: Shared<Vec<Diagnostic>>,
    player: Player,
    facts: Option<Facts>,
    /// Number of the last load: facts of an earlier one come too late.
    load_no: u32,
    /// It is not known to its end.
    loading: bool,
    /// Its jobs submit to a device that is made of others.
    stacked: bool,
    /// What both runs show.
    subject: stage::Subject,
    sweeper: Sweeper,
    chart: Option<Chart>,
    words: Words,
    chart_place: Place,
    parts_place: Place,
    sweeps: u32,
    theme: Theme,
    drawer: bool,
    keys: bool,
    advanced: bool,
    /// What is about to be written while the run goes on.
    writing_now: Option<Key>,
    share: Option<Share>,
    /// The map of zones has the colours of gzbd-viewer.
    gzbd: bool,
    /// In a frame: few controls, and nothing is written to the address.
    embed: bool,
    /// The page around this one.
    parent: Option<Parent>,
    /// Play as soon as the run is known.
    play_soon: bool,
    /// Height last told to the page around this one.
    told_height: i32,
    tables: [bool; 2],
    why_side: session::Side,
    said: AttrValue,
    /// What every component speaks to; the same each time, so that nothing renders for it.
    ears: Ears,
    /// Takes the focus when the page is drawn.
    focus: Option<&'static str>,
    /// Pending: dropping one cancels it.
    writing: Option<Timeout>,
    saying: Option<Timeout>,
    sweeping: Option<Timeout>,
    _listeners: Vec<EventListener>,
}

/// Callbacks that are made once.
struct Ears {
    say: Callback<Msg>,
    overview: Callback<CanvasEvent>,
    chart: Callback<CanvasEvent>,
    parts: Callback<CanvasEvent>,
}

/// Whose colours zones have: in the address of the page, `?zones=gzbd`; key and word of the remembered choice.
const ZONES: &str = "zones";
const ZONES_KEY: &str = "bioscope-zones";
const GZBD: &str = "gzbd";

/// Id of the button that closes the list of keys.
const KEYS_ID: &str = "keys-close";

fn to_session(m: scenario::Moment) -> session::Moment {
    session::Moment { time: m.ns, k: (m.k > 0).then_some(m.k) }
}
fn to_link(m: session::Moment) -> scenario::Moment {
    scenario::Moment { ns: m.time, k: m.k.unwrap_or(0) }
}

impl Component for App {
    type Message = Msg;
    type Properties = ();

    fn create(ctx: &Context<Self>) -> Self {
        let link = ctx.link();
        let player = Player::new(link.callback(Msg::Facts));
        let embed = dom::query("embed").is_some_and(|v| v == "1");
        let asked = dom::query("theme").filter(|_| embed);
        let theme = asked.map_or_else(Theme::remembered, |word| Theme::of(&word).unwrap_or(Theme::System));
        theme.apply();
        player.set_palette(theme.palette());
        let gzbd = dom::query(ZONES).or_else(|| dom::recall(ZONES_KEY)).is_some_and(|v| v == GZBD);
        player.set_gzbd(gzbd);
        let overview = {
            let player = player.clone();
            Callback::from(move |e: CanvasEvent| match e {
                CanvasEvent::Here(c) => player.attach_overview(Some(c)),
                CanvasEvent::Gone => player.attach_overview(None),
                CanvasEvent::Size(_, w, h) => player.resize_overview(w, h),
            })
        };
        let ears = Ears {
            say: link.callback(|m: Msg| m),
            overview,
            chart: link.callback(Msg::ChartPlace),
            parts: link.callback(Msg::PartsPlace),
        };
        let mut app = Self {
            scenario: Shared::default(),
            good: Shared::default(),
            typed: Shared::default(),
            from_link: Vec::new(),
            checked: Vec::new(),
            diagnostics: Shared::default(),
            player,
            facts: None,
            load_no: 0,
            loading: false,
            stacked: false,
            subject: stage::Subject { kind: stage::Kind::Zones, ordered: true, qos: false, live: false },
            sweeper: Sweeper::new(link.callback(Msg::Point)),
            chart: None,
            words: Words::default(),
            chart_place: Place::default(),
            parts_place: Place::default(),
            sweeps: 0,
            theme,
            drawer: false,
            keys: false,
            advanced: false,
            writing_now: None,
            share: None,
            gzbd,
            embed,
            parent: Parent::find(link.callback(Msg::Asked)),
            play_soon: embed && dom::query("play").is_some_and(|v| v == "1"),
            told_height: 0,
            tables: [false; 2],
            why_side: session::Side::A,
            said: AttrValue::default(),
            ears,
            focus: None,
            writing: None,
            saying: None,
            sweeping: None,
            _listeners: listeners(ctx, embed),
        };
        dom::set_flag("embed", embed.then_some("1"));
        app.read_address();
        app
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Facts(f) => self.heard(ctx, f),
            Msg::Address => {
                // What was waiting to be written belongs to the entry that was left.
                self.writing = None;
                if dom::window().location().hash().is_ok_and(|h| text::fragment_of(&h) != text::encode(&self.good)) {
                    self.read_address();
                }
            }
            Msg::Open(p) => self.open(Scenario::of(p), Vec::new()),
            Msg::File(name, text) => self.file(name, text),
            Msg::Edit(side, key, typed) => self.edit(ctx, side, key, typed),
            Msg::Reset(key) => self.change(ctx, key, |s| s.reset(Side::A, key)),
            Msg::Differ(key) => self.change(ctx, key, |s| s.set(Side::B, key, s.value(Side::A, key).clone())),
            Msg::Same(key) => self.change(ctx, key, |s| s.drop_b_key(key)),
            Msg::Writing(key) => {
                self.writing_now = key;
                if let Some(key) = key {
                    self.typed.change(|all| all.retain(|t| t.key != key));
                    self.collect();
                }
            }
            Msg::WriteNow(side, key) => self.write_now(ctx, side, key),
            Msg::Compare(on) => self.compare(ctx, on),
            Msg::Toggle => self.player.toggle(),
            Msg::Step(forward) => self.player.step(forward),
            Msg::Submission(forward) => self.player.submission_step(forward),
            Msg::Jump(part) => self.player.jump(part),
            Msg::Seek(time) => self.player.seek(time),
            Msg::Look(time) => {
                self.player.pause();
                self.player.seek(time);
            }
            Msg::Home => self.player.rewind(),
            Msg::End => self.player.to_end(),
            Msg::Speed(speed) => self.player.set_speed(speed),
            Msg::Fork => self.fork(ctx),
            Msg::Unfork => {
                self.scenario.change(|s| s.fork = None);
                self.rerun(ctx);
            }
            Msg::AllPanels => {
                self.scenario.change(|s| s.view = Panels::ALL);
                self.good.change(|s| s.view = Panels::ALL);
                self.lay_out();
                self.write_later(ctx);
            }
            Msg::Share => self.share(ctx),
            Msg::ShareAs(form) => {
                if let Some(s) = &mut self.share {
                    (s.form, s.copied) = (form.min(bioscope_scenario::snippet::Form::ALL.len() - 1), None);
                }
            }
            Msg::Copy(id) => {
                if let Some(s) = &self.share {
                    self.focus = Some(id);
                    let text = if id == LINK_ID { s.link() } else { s.text() };
                    dom::copy(&text, ctx.link().callback(move |()| Msg::Copied(id)));
                }
            }
            Msg::Copied(id) => {
                if let Some(s) = &mut self.share {
                    s.copied = Some(id);
                }
            }
            Msg::CloseShare => {
                if self.share.take().is_none() {
                    return false;
                }
                self.focus = Some(bar::SHARE_BUTTON_ID);
            }
            Msg::NextTheme => {
                self.set_theme(self.theme.next());
                self.theme.remember();
            }
            Msg::Gzbd => {
                self.gzbd = !self.gzbd;
                self.player.set_gzbd(self.gzbd);
                dom::remember(ZONES_KEY, if self.gzbd { GZBD } else { "" });
            }
            Msg::Asked(ask) => self.asked(ctx, ask),
            Msg::Measure => {
                self.measure();
                return false;
            }
            Msg::SystemTheme => self.recolour(),
            Msg::Drawer(open) => self.drawer = open,
            Msg::Keys(open) => {
                self.keys = open;
                self.focus = open.then_some(KEYS_ID);
            }
            Msg::Advanced(on) => self.advanced = on,
            Msg::Tables(side, open) => self.tables[usize::from(side == session::Side::B)] = open,
            Msg::ChartPlace(e) => {
                self.chart_place.heard(e);
                self.draw_chart();
                return false;
            }
            Msg::PartsPlace(e) => {
                self.parts_place.heard(e);
                self.draw_parts();
                return false;
            }
            Msg::WhySide(side) => self.why_side = side,
            Msg::Sweep => self.sweep(),
            Msg::Point(p) => {
                if !self.chart.as_mut().is_some_and(|c| c.take(&p)) {
                    return false;
                }
                self.draw_chart();
            }
            Msg::Words(words) => {
                self.words = words;
                self.publish();
                self.draw_chart();
                self.draw_parts();
            }
            Msg::Write => self.write(false),
            Msg::Say => self.say(),
            Msg::Key(e) => return self.key(ctx, &e),
        }
        true
    }

    fn view(&self, _: &Context<Self>) -> Html {
        let say = &self.ears.say;
        let facts = self.facts.as_ref();
        let frame = facts.map(|f| &*f.frame);
        let compared = self.good.has_b();
        let ends = facts.map_or([None, None], |f| f.ends);
        let lane = |side: session::Side| {
            lane::view(&LaneView {
                side,
                compared,
                title: self.title(side),
                settings: self.distinction(side),
                frame,
                playing: facts.is_some_and(|f| f.playing),
                tables: self.tables[usize::from(side == session::Side::B)],
                player: &self.player,
                // Another place when other panels are drawn, so that it is measured anew.
                key: ["stage-", &self.good.view.text(), if self.subject.live { "+" } else { "" }].concat(),
                gzbd: self.lane_panels().zonemap.then_some(self.gzbd),
                say,
            })
        };
        let preset = self.scenario.preset;
        let rate = |side| lane::rate(frame.and_then(|f| lane::side_frame(f, side))).0;
        let rates = if compared {
            ["A ", &rate(session::Side::A), " · B ", &rate(session::Side::B)].concat()
        } else {
            String::new()
        };
        let guide = match (preset, &self.words) {
            (Some(_), Words::Missing) => {
                Some("What to look for, and what the settings mean, could not be loaded.".into())
            }
            (preset, words) => preset.and_then(|p| words.text("look_for", p.name)),
        };
        let single = if compared || preset.is_none() { "" } else { " Single shows run A only." };
        let seed = self.good.text(Side::A, Key::Seed);
        let look_for = AttrValue::from(guide.unwrap_or_default() + single);
        let has = |panel| self.has(panel);
        let head = if self.embed {
            bar::embedded(preset.map_or("Bioscope", |p| p.title), &self.changes(), &text::encode(&self.moment()))
        } else {
            let (theme, share) = (self.theme, self.share.as_ref());
            bar::view(&BarView { preset, compared, theme, share, say })
        };
        // The section `brief` is for narrow screens only: what is otherwise a drawer or a lane away.
        let form = (!self.embed).then(|| {
            let form = html! {
                <Form scenario={self.scenario.clone()} typed={self.typed.clone()} diagnostics={self.diagnostics.clone()}
                    words={self.words.clone()} {compared} advanced={self.advanced} writing={self.writing_now} say={say.clone()} />
            };
            markup!(r#"
                <section key="brief" class="brief" aria-label="In short">
                    <p class="look-for">"# (look_for.clone()) r#"</p>
                    <p class="rates" data-testid="rates">"# (rates) r#"</p>
                </section>
                <aside key="form" class="left" id="drawer" aria-label="Scenario">
                    <div class="drawer-head">
                        <h2>Scenario</h2>
                        <button aria-label="Close the settings" onclick="# (click(say, Msg::Drawer(false))) r#">×</button>
                    </div>
                    <p class="look-for">"# (look_for.clone()) "</p>" (form) "
                </aside>
            ")
        });
        let stages = self.lane_panels() != stage::Panels::NONE;
        let lanes = stages.then(|| {
            markup!(r#"<main key="stage" class="# (if compared { "lanes two" } else { "lanes" }) ">"
                (lane(session::Side::A)) "" (compared.then(|| lane(session::Side::B))) "</main>")
        });
        let second = self.good.sweep2.as_ref().map(|s| Param::of(s.key).key);
        let charts = has(Panel::Throughput) || has(Panel::Time) || has(Panel::Why);
        let chart = self.chart.as_ref().filter(|_| has(Panel::Throughput));
        let cards = charts.then(|| {
            markup!(r#"
                <aside key="side" class="right" aria-label="Charts and reasons">
                    <div key="sweep">"# (chart.map(|c| side::throughput(c, self.source(), second, compared, &seed, &self.ears.chart, say))) "</div>"
                    ((has(Panel::Time) && (self.stacked || self.subject.kind.has_head())).then(|| match frame.filter(|_| self.stacked) {
                        Some(frame) => side::gaps_and_iostat(frame, &self.printed(), &self.ears.parts),
                        None => side::time_parts(&ends, compared, &self.ears.parts),
                    })) ""
                    (has(Panel::Why).then(|| side::reasons(frame, self.why_side, compared, say))) ""
                    ((!self.embed).then(|| side::reproduce(frame, &seed))) "
                </aside>")
        });
        let all = (!self.embed && self.good.view != Panels::ALL).then(|| {
            markup!(r#"<p key="view" class="some">This link shows some of the panels. <button data-testid="all-panels" onclick="# (click(say, Msg::AllPanels)) ">Show all panels</button></p>")
        });
        let transport = transport::view(&TransportView {
            facts,
            place: &self.ears.overview,
            fork: self.good.fork,
            embed: self.embed,
            say,
        });
        let class = [
            "page",
            if self.drawer { " drawer-open" } else { "" },
            if self.embed { " embed" } else { "" },
            if compared { " compared" } else { "" },
            if stages { "" } else { " no-lanes" },
            if charts { "" } else { " no-cards" },
        ];
        markup!("
            <div class=" (class.concat()) ">" (head) r#"
                <section key="diagnostics" class="diagnostics" data-testid="diagnostics" role="status" aria-label="Messages">"#
                    (list(self.diagnostics.iter().map(message))) "" (all) "
                </section>" (form) "" (lanes) "" (cards) "" (transport) r#"
                <p key="aloud" class="unseen" role="status" aria-live="polite">"# (self.said.clone()) r#"</p>
                <div key="keys">"# (self.keys.then(|| key_list(say))) "</div>
            </div>
        ")
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        // A frame has neither tooltips nor a guide.
        if first && (!self.embed || self.has(Panel::Throughput)) {
            Words::fetch(ctx.link().callback(Msg::Words));
        }
        dom::choose(PRESET_ID, self.scenario.preset.map_or("", |p| p.name));
        if let Some(id) = self.focus.take() {
            dom::focus(id);
        }
    }
}

fn listeners(ctx: &Context<App>, embed: bool) -> Vec<EventListener> {
    let window = dom::window();
    let address = ctx.link().callback(|_: ()| Msg::Address);
    let key = ctx.link().callback(Msg::Key);
    let theme = ctx.link().callback(|_: ()| Msg::SystemTheme);
    let passive_off = gloo::events::EventListenerOptions::enable_prevent_default();
    let mut all = vec![
        EventListener::new(&window, "hashchange", move |_| address.emit(())),
        EventListener::new_with_options(&window, "keydown", passive_off, move |e| {
            if let Some(k) = e.dyn_ref::<KeyboardEvent>()
                && wanted(k)
            {
                // Keys that scroll the page would do so before a message is handled.
                k.prevent_default();
                key.emit(k.clone());
            }
        }),
    ];
    let measure = ctx.link().callback(|()| Msg::Measure);
    all.push(EventListener::new(&window, "resize", move |_| measure.emit(())));
    if !embed {
        let file = ctx.link().callback(|(name, text)| Msg::File(name, text));
        let take = move |e: &web_sys::Event| {
            let Some(data) = e.dyn_ref::<DragEvent>().and_then(DragEvent::data_transfer) else { return };
            // Text that is dragged about is no business of this page.
            if let Some(files) = data.files().filter(|f| f.length() > 0 || e.type_() == "dragover") {
                e.prevent_default();
                if let Some(file_dropped) = files.get(0).filter(|_| e.type_() == "drop") {
                    dom::read(file_dropped, file.clone());
                }
            }
        };
        for kind in ["dragover", "drop"] {
            all.push(EventListener::new_with_options(&window, kind, passive_off, take.clone()));
        }
    }
    if let Some(query) = dom::media("(prefers-color-scheme: light)") {
        all.push(EventListener::new(&query, "change", move |_| theme.emit(())));
    }
    all
}

/// True for a key of the player that nobody else needs: no field has the focus and no button is being pressed.
fn wanted(e: &KeyboardEvent) -> bool {
    if e.ctrl_key() || e.alt_key() || e.meta_key() {
        return false;
    }
    let code = e.code();
    if code == "Escape" {
        return true;
    }
    let at = e.target().and_then(|t| t.dyn_into::<Element>().ok());
    let focus = |selector: &str| at.as_ref().is_some_and(|t| t.matches(selector).unwrap_or(false));
    let slider = focus("input[type=range]");
    if !slider && focus("input, select, textarea") {
        return false;
    }
    if code == "Space" && focus("button, summary, a") {
        return false;
    }
    let moves = matches!(code.as_str(), "ArrowLeft" | "ArrowRight" | "Home" | "End");
    if moves && (slider || focus("[tabindex]")) {
        return false;
    }
    moves || e.key() == "?" || matches!(code.as_str(), "KeyS" | "Space" | "Period" | "BracketLeft" | "BracketRight")
}

fn message(d: &Diagnostic) -> Html {
    let class = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    markup!("<p class=" (class) "><b>" (d.severity.word()) "</b>" ([" ", &d.to_string()].concat()) "</p>")
}

impl App {
    /// What the address says, or the first preset.
    fn read_address(&mut self) {
        let hash = dom::window().location().hash().unwrap_or_default();
        let fragment = text::fragment_of(&hash);
        let (scenario, problems) =
            if fragment.is_empty() { (Scenario::of(&PRESETS[0]), Vec::new()) } else { text::decode(fragment) };
        self.typed = Shared::default();
        self.from_link = problems;
        self.take(scenario);
    }

    /// Shows a scenario of a new entry in the history.
    fn open(&mut self, scenario: Scenario, problems: Vec<Diagnostic>) {
        // An edit that still waits belongs to the entry that is left.
        if self.writing.is_some() {
            self.write(false);
        }
        self.typed = Shared::default();
        self.from_link = problems;
        self.take(scenario);
        self.write(true);
    }

    /// Opens a file. With an error in it, its messages are shown and the run stays.
    fn file(&mut self, name: String, text: Option<String>) {
        let Some(text) = text else {
            let words = "this file is too large or cannot be read";
            self.from_link = vec![Diagnostic::error(&name, "", words)];
            return self.collect();
        };
        let (scenario, problems) = text::decode_file(&text);
        let checked = check::check_all(&scenario).2;
        if problems.iter().chain(&checked).any(Diagnostic::is_error) {
            self.from_link = problems.into_iter().chain(checked).collect();
            return self.collect();
        }
        self.open(scenario, problems);
    }

    /// Shows a scenario, if a run can be made of it; else its preset, with the messages.
    fn take(&mut self, scenario: Scenario) {
        self.scenario = Shared::new(scenario);
        if !self.run() {
            self.good = Shared::new(Scenario::of(self.scenario.preset.unwrap_or(&PRESETS[0])));
            self.load();
        }
        let title = self.scenario.preset.map_or("Linux block I/O, simulated", |p| p.title);
        dom::document().set_title(&[title, " · Bioscope"].concat());
    }

    /// Checks the scenario and, if there is no error, loads it.
    fn run(&mut self) -> bool {
        let (a, b, problems) = check::check_all(&self.scenario);
        self.checked = problems;
        self.collect();
        let complete = a.is_some() && (b.is_some() || !self.scenario.has_b());
        if complete {
            self.good = self.scenario.clone();
            self.load();
        }
        complete
    }

    fn load(&mut self) {
        let good = &self.good;
        let cfg = |side| check::validate(good, side).ok().map(Arc::new);
        let Some(a) = cfg(Side::A) else { return };
        self.stacked = session::order::top(&a).is_some();
        let b = if good.has_b() { cfg(Side::B) } else { None };
        let of = |cfg: &Arc<_>| stage::Subject::of_config(cfg);
        self.subject = b.as_ref().map_or(of(&a), |b| of(&a).with(of(b)));
        let start = good.t.or(good.preset.map(|p| p.t)).unwrap_or_default();
        let speed = self.facts.as_ref().filter(|f| f.speed > 0).map(|f| f.speed);
        let speed = speed.or(good.preset.map(|p| p.speed_ns)).unwrap_or(SPEED);
        let times = |cfg: &Arc<SimConfig>| cfg.changes.iter().map(|c| c.at).collect::<Vec<_>>();
        let changes = [times(&a), b.as_ref().map_or_else(Vec::new, times)];
        let fork = good.fork.filter(|_| good.has_b());
        let start = Start { moment: to_session(start), speed, fork, changes };
        self.load_no = self.player.load(a, b, start);
        self.loading = true;
        self.share = None;
        if let Some(f) = &mut self.facts {
            f.playing = false;
        }
        self.chart = Chart::of(self.sweeps, good);
        self.publish();
        self.draw_chart();
        self.sweeper.start(Vec::new());
        self.sweeping = None;
        self.lay_out();
    }

    /// True if a panel is shown. Without a word in the link, a frame shows the lanes.
    fn has(&self, panel: Panel) -> bool {
        let of_lane = !matches!(panel, Panel::Throughput | Panel::Time | Panel::Why);
        if self.embed && self.good.view == Panels::ALL { of_lane } else { self.good.view.has(panel) }
    }
    fn lane_panels(&self) -> stage::Panels {
        let all = stage::Panels {
            jobs: self.has(Panel::Jobs),
            zwplugs: self.has(Panel::Zwplugs),
            tags: self.has(Panel::Tags),
            drive: self.has(Panel::Drive),
            strip: self.has(Panel::Strip),
            biolist: self.has(Panel::Biolist),
            order: self.has(Panel::Order),
            members: self.has(Panel::Members),
            listing: self.has(Panel::Listing),
            tagmap: self.has(Panel::Tagmap),
            waiters: self.has(Panel::Waiters),
            sched: self.has(Panel::Sched),
            timeline: self.has(Panel::Timeline),
            zonemap: self.has(Panel::Zonemap),
            flash: self.has(Panel::Flash),
            qos: self.has(Panel::Qos),
            freeze: self.has(Panel::Freeze),
        };
        all.of_device(self.subject)
    }
    fn lay_out(&self) {
        self.player.set_panels(self.lane_panels(), self.embed);
    }

    /// The good scenario at the moment that is shown.
    fn moment(&self) -> Scenario {
        let mut s = (*self.good).clone();
        s.t = self.player.moment().map(to_link).or(s.t);
        // The whole page has room for all.
        s.view = Panels::ALL;
        s
    }

    /// The settings that are not the preset's, in a frame's title.
    fn changes(&self) -> String {
        let changed = KEYS.iter().filter(|k| self.good.is_changed(**k));
        changed.map(|k| [Param::of(*k).key, "=", &self.good.text(Side::A, *k)].concat()).collect::<Vec<_>>().join(" ")
    }

    fn fork(&mut self, ctx: &Context<Self>) {
        let Some(m) = self.player.moment().filter(|m| m.time > 0) else { return };
        self.scenario.change(|s| {
            let own: Vec<_> = s.b().iter().filter(|(k, _)| Param::of(*k).live == Live::Sysfs).cloned().collect();
            s.drop_b();
            for (key, v) in &own {
                s.set(Side::B, *key, v.clone());
            }
            if own.iter().all(|(k, v)| v == s.value(Side::A, *k)) {
                let (key, v) = contrast(s);
                s.set(Side::B, key, v);
            }
            s.fork = Some(m.time);
        });
        self.rerun(ctx);
    }

    /// Writes what the field of a live setting holds at the moment that is shown, and goes on from there: the run up to
    /// it stays as it was, and the entry of the history that is left is the run without it.
    fn write_now(&mut self, ctx: &Context<Self>, side: Side, key: Key) {
        let Some(m) = self.player.moment() else { return };
        let p = Param::of(key);
        let Some(value) = dom::value(&[WRITE_ID, p.key].concat()) else { return };
        let mut next = (*self.scenario).clone();
        let one = [&print_seconds(m.time), ":", p.key, ":", value.trim()].concat();
        let with = |list: String| if list.is_empty() { one.clone() } else { [list, one.clone()].join(",") };
        // What A writes is none of B's business, unless B is A until later.
        if side == Side::A && next.has_b() && next.b_value(Key::Change).is_none() && next.fork.is_none() {
            next.set(Side::B, Key::Change, next.value(Side::A, Key::Change).clone());
        }
        let list = match (side, next.fork) {
            // A fork's list begins where it leaves A.
            (Side::B, Some(_)) => {
                next.b_value(Key::Change).map_or_else(String::new, |v| Param::of(Key::Change).print(v))
            }
            _ => next.text(side, Key::Change),
        };
        let taken = next.set_text(&full_key(side, Param::of(Key::Change).key), &with(list));
        let refused = taken.err().or_else(|| {
            let (_, _, problems) = check::check_all(&next);
            problems.into_iter().find(|d| d.is_error() && !self.checked.contains(d))
        });
        if let Some(problem) = refused {
            let problem = Diagnostic { key: full_key(side, p.key), ..problem };
            self.typed.change(|all| {
                all.retain(|t| (t.side, t.key) != (side, key));
                all.push(Typed { side, key, text: self.good.text(side, key), problem });
            });
            return self.collect();
        }
        let playing = self.facts.as_ref().is_some_and(|f| f.playing);
        self.player.pause();
        self.note_moment();
        self.write(false);
        self.typed.change(|all| all.retain(|t| t.key != key));
        self.writing_now = None;
        self.scenario = Shared::new(next);
        self.scenario.change(|s| s.t = Some(scenario::Moment { ns: m.time, k: 0 }));
        if self.run() {
            self.write(true);
            if playing {
                self.player.play_from_there();
            }
        }
        self.write_later(ctx);
    }

    /// Gathers all messages.
    fn collect(&mut self) {
        let mut all: Vec<Diagnostic> = self.typed.iter().map(|t| t.problem.clone()).collect();
        all.extend(self.from_link.iter().chain(&self.checked).cloned());
        if let Some(Load::TooLong(long)) = self.facts.as_ref().map(|f| f.load) {
            let side = match long.side {
                session::Side::A => Side::A,
                session::Side::B => Side::B,
            };
            let words =
                "more than 5 million events: the page shows the run up to here; the command line has no such limit";
            let reached = match long.reached / 1_000_000 {
                ms @ 0..1_000 => [&ms.to_string(), "ms"].concat(),
                ms => [&(ms / 1_000).to_string(), "s"].concat(),
            };
            all.push(Diagnostic::error(&full_key(side, "runtime"), "", words).suggest(reached));
        }
        self.diagnostics = Shared::new(all);
    }

    fn edit(&mut self, ctx: &Context<Self>, side: Side, key: Key, typed: String) {
        let name = full_key(side, Param::of(key).key);
        let mut next = (*self.scenario).clone();
        match next.set_text(&name, &typed) {
            Ok(()) => self.change(ctx, key, |s| *s = next),
            Err(problem) => {
                self.typed.change(|all| {
                    all.retain(|t| (t.side, t.key) != (side, key));
                    all.push(Typed { side, key, text: typed, problem });
                });
                self.forget_link_problem(key);
                self.collect();
            }
        }
    }

    fn forget_link_problem(&mut self, key: Key) {
        let name = Param::of(key).key;
        self.from_link.retain(|d| d.key.strip_prefix("b.").unwrap_or(&d.key) != name);
    }

    /// Changes the scenario at one key and runs it from the current moment.
    fn change(&mut self, ctx: &Context<Self>, key: Key, f: impl FnOnce(&mut Scenario)) {
        self.typed.change(|all| all.retain(|t| t.key != key));
        self.forget_link_problem(key);
        self.scenario.change(f);
        self.rerun(ctx);
    }

    fn compare(&mut self, ctx: &Context<Self>, on: bool) {
        self.scenario.change(|s| {
            if !on {
                s.drop_b();
            } else if !s.has_b() {
                // What B is for: the preset's difference, else what can be changed while a run goes on.
                let own = s.preset.map(Preset::b_values).filter(|v| !v.is_empty());
                for (key, v) in own.unwrap_or_else(|| vec![contrast(s)]) {
                    s.set(Side::B, key, v);
                }
            }
        });
        self.rerun(ctx);
    }

    fn rerun(&mut self, ctx: &Context<Self>) {
        self.player.pause();
        // The k-th record of another run means nothing: the time stays.
        if let Some(m) = self.player.moment() {
            let t = scenario::Moment { ns: m.time, k: 0 };
            self.scenario.change(|s| s.t = (s.preset.map(|p| p.t).unwrap_or_default() != t).then_some(t));
        }
        if self.run() {
            self.write_later(ctx);
        }
    }

    /// The address gets `t`: playing was stopped here.
    fn note_moment(&mut self) {
        let t = self.player.moment().map(to_link);
        self.scenario.change(|s| s.t = t);
        self.good.change(|s| s.t = t);
    }

    fn write_later(&mut self, ctx: &Context<Self>) {
        let link = ctx.link().clone();
        self.writing = Some(Timeout::new(WRITE_MS, move || link.send_message(Msg::Write)));
    }

    fn write(&mut self, push: bool) {
        self.writing = None;
        // A frame's address is the framing page's business.
        if self.embed {
            return;
        }
        let address = ["#", &text::encode(&self.good)].concat();
        // In a frame without an origin the history is refused; the page works without.
        if let Ok(history) = dom::window().history() {
            drop(match push {
                true => history.push_state_with_url(&JsValue::NULL, "", Some(&address)),
                false => history.replace_state_with_url(&JsValue::NULL, "", Some(&address)),
            });
        }
    }

    fn heard(&mut self, ctx: &Context<Self>, f: Facts) {
        if f.load_no != self.load_no {
            return;
        }
        let before = self.facts.replace(f);
        let Some(now) = &self.facts else { return };
        let (playing, load) = (now.playing, now.load);
        let stopped = before.as_ref().is_some_and(|b| b.playing) && !playing;
        let moved = before.as_ref().is_none_or(|b| b.frame != now.frame);
        let elsewhere = before.is_some_and(|b| b.load_no == now.load_no && b.moment != now.moment);
        let known = self.loading && !matches!(load, Load::Ahead(_));
        if self.stacked {
            self.draw_parts();
        }
        if known {
            self.loading = false;
            self.collect();
            self.draw_parts();
            self.sweep_later(ctx);
            self.say_ready();
            ctx.link().send_message(Msg::Measure);
        }
        if stopped || (elsewhere && !playing && !known && !self.loading) {
            self.note_moment();
            self.write_later(ctx);
        }
        if playing {
            // What was said of a moment that is over is no longer there to be read.
            self.said = AttrValue::default();
        }
        if playing || stopped {
            self.say_time();
        }
        if !playing && !self.loading && (moved || known) {
            self.say_event();
        }
        if !playing {
            let link = ctx.link().clone();
            self.saying = Some(Timeout::new(SAY_MS, move || link.send_message(Msg::Say)));
        }
        if known && std::mem::take(&mut self.play_soon) {
            self.player.play();
        }
    }

    /// Does what the page around this one wants.
    fn asked(&mut self, ctx: &Context<Self>, ask: Ask) {
        match ask {
            Ask::Ping(origin) => {
                if let Some(p) = &self.parent {
                    p.pong(origin, !self.loading);
                }
                self.told_height = 0;
                if !self.loading {
                    self.say_ready();
                    self.say_event();
                    ctx.link().send_message(Msg::Measure);
                }
            }
            Ask::Load(fragment) => {
                let (scenario, problems) = text::decode(text::fragment_of(&fragment));
                self.typed = Shared::default();
                self.from_link = problems;
                self.play_soon = false;
                self.take(scenario);
            }
            Ask::Play if self.loading => self.play_soon = true,
            Ask::Play => self.player.play(),
            Ask::Pause => {
                self.play_soon = false;
                self.player.pause();
            }
            Ask::Seek(m) => self.player.look(m),
            Ask::Theme(theme) => self.set_theme(theme),
            Ask::Wrong(words) => {
                if let Some(p) = &self.parent {
                    p.complain([words]);
                }
            }
        }
    }

    fn say_ready(&self) {
        let (Some(p), Some(f)) = (&self.parent, &self.facts) else { return };
        let fragment = text::encode(&self.good);
        let times = [("duration_ns", (f.known as f64).into()), ("time_ns", (f.moment.time as f64).into())];
        p.say("ready", &[("fragment", fragment.into()), times[0].clone(), times[1].clone()]);
        p.complain(self.diagnostics.iter().filter(|d| d.is_error()).map(ToString::to_string));
    }
    fn say_time(&self) {
        let (Some(p), Some(f)) = (&self.parent, &self.facts) else { return };
        p.say("time", &[("time_ns", (f.moment.time as f64).into()), ("playing", f.playing.into())]);
    }
    fn say_event(&self) {
        let (Some(p), Some(f)) = (&self.parent, &self.facts) else { return };
        let hash = |side| match lane::side_frame(&f.frame, side) {
            Some(s) => lane::hash(s).into(),
            None => JsValue::NULL,
        };
        let fields = [
            ("event", (f.frame.step as f64).into()),
            ("events", (f.frame.steps.unwrap_or(f.frame.step) as f64).into()),
            ("time_ns", (f.moment.time as f64).into()),
            ("hash_a", hash(session::Side::A)),
            ("hash_b", hash(session::Side::B)),
        ];
        p.say("event", &fields);
    }

    /// The height at which nothing would have to be made smaller than is good, in the present width.
    fn measure(&mut self) {
        let Some(p) = self.parent.as_ref().filter(|p| p.listens()) else { return };
        dom::set_flag("measure", Some("1"));
        let height = dom::query_selector(".page").map_or(0, |e| e.scroll_height());
        dom::set_flag("measure", None);
        if height > 0 && height != self.told_height {
            self.told_height = height;
            p.say("resize", &[("height", height.into())]);
        }
    }

    fn set_theme(&mut self, theme: Theme) {
        self.theme = theme;
        theme.apply();
        self.recolour();
    }

    /// Says where the run stands, in words for the live region.
    fn say(&mut self) {
        let Some(f) = self.facts.as_ref().filter(|f| !f.playing && f.load == Load::Ready) else { return };
        let step = bioscope_stage::text::thousands(f.frame.step);
        self.said = ["Paused at ", &clock(f.moment.time), ", event ", &step, "."].concat().into();
    }

    fn sweep_later(&mut self, ctx: &Context<Self>) {
        // Not on phones, which have other uses for their charge, and not under test.
        if !self.has(Panel::Throughput)
            || hooks::wanted()
            || dom::media("(max-width: 719px)").is_some_and(|m| m.matches())
        {
            return;
        }
        let link = ctx.link().clone();
        self.sweeping = Some(Timeout::new(SWEEP_MS, move || link.send_message(Msg::Sweep)));
    }

    fn sweep(&mut self) {
        self.sweeps += 1;
        self.sweeping = None;
        let Some(mut chart) = Chart::of(self.sweeps, &self.good) else { return };
        let jobs = chart.jobs(&self.good);
        self.chart = Some(chart);
        self.publish();
        self.draw_chart();
        self.sweeper.start(jobs);
    }

    fn share(&mut self, ctx: &Context<Self>) {
        if self.facts.as_ref().is_some_and(|f| f.playing) {
            self.player.pause();
        }
        self.note_moment();
        self.write(false);
        let at = dom::window().location();
        let path = at.pathname().unwrap_or_default();
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let s = &self.good;
        let plain = s.preset.is_some_and(|p| {
            let mut own = Scenario::of(p);
            (own.t, own.m) = (s.t, s.m);
            own == **s && s.t.is_none_or(|t| t == p.t)
        });
        let name = s.preset.map_or("bioscope", |p| p.name);
        let share = Share {
            base: [&at.origin().unwrap_or_default(), folder, "/"].concat(),
            fragment: text::encode(s),
            title: s.preset.map_or("Bioscope", |p| p.title).to_string(),
            name,
            file_name: [name, "-", &print_seconds(self.player.moment().map_or(0, |m| m.time))].concat(),
            plain,
            file: text::encode_file(s),
            form: self.share.as_ref().map_or(0, |s| s.form),
            copied: None,
        };
        dom::copy(&share.link(), ctx.link().callback(|()| Msg::Copied(LINK_ID)));
        self.share = Some(share);
        self.focus = Some(LINK_ID);
    }

    fn recolour(&self) {
        self.player.set_palette(self.theme.palette());
        self.draw_chart();
        self.draw_parts();
    }

    /// Where the chart's published figures come from, or that there may be some.
    fn source(&self) -> Option<String> {
        let has_published = self.chart.iter().flat_map(|c| c.published.iter().flatten()).any(Option::is_some);
        match &self.words {
            Words::Missing => Some("Published figures, where there are any, could not be loaded.".into()),
            words if has_published => Some(["published: ", &words.text("source", self.good.preset?.name)?].concat()),
            _ => None,
        }
    }

    /// Published shares of gaps between commands, of both runs as the preset has them.
    fn printed(&self) -> [Vec<Option<f64>>; 2] {
        let preset = self.good.preset.filter(|_| KEYS.iter().all(|k| *k == Key::Seed || !self.good.is_changed(*k)));
        [0, 1].map(|side| preset.map_or_else(Vec::new, |p| self.words.gaps(p.name, side)))
    }

    /// The chart gets its published figures, as soon as they are there.
    fn publish(&mut self) {
        if let Some(chart) = &mut self.chart {
            chart.publish(&self.good, &|preset, value| self.words.figures(preset, value));
        }
    }

    fn draw_chart(&self) {
        if let Some(chart) = &self.chart {
            side::draw_chart(&self.chart_place, chart, self.theme.palette());
        }
    }

    fn draw_parts(&self) {
        if let Some(f) = &self.facts {
            let palette = self.theme.palette();
            match f.frame.a.order {
                Some(_) => side::draw_gaps(&self.parts_place, &f.frame, &self.printed(), palette),
                None => side::draw_parts(&self.parts_place, &f.ends, palette),
            }
        }
    }

    /// A key of the player. True if the page changes by itself.
    fn key(&mut self, ctx: &Context<Self>, e: &KeyboardEvent) -> bool {
        let speed = self.facts.as_ref().map_or(SPEED, |f| f.speed);
        let msg = match (e.code().as_str(), e.shift_key()) {
            ("Escape", _) if self.keys => Msg::Keys(false),
            ("Escape", _) if self.share.is_some() => Msg::CloseShare,
            ("Escape", _) => Msg::Drawer(false),
            _ if e.key() == "?" => Msg::Keys(!self.keys),
            ("ArrowRight", true) => Msg::Jump(JUMP),
            ("ArrowLeft", true) => Msg::Jump(-JUMP),
            ("ArrowRight", false) => Msg::Step(true),
            ("ArrowLeft", false) => Msg::Step(false),
            ("KeyS", back) => Msg::Submission(!back),
            ("Home", _) => Msg::Home,
            ("End", _) => Msg::End,
            ("BracketLeft", _) => Msg::Speed(speed_step(speed, false)),
            ("BracketRight", _) => Msg::Speed(speed_step(speed, true)),
            _ => Msg::Toggle,
        };
        Component::update(self, ctx, msg)
    }

    fn side_of(side: session::Side) -> Side {
        match side {
            session::Side::A => Side::A,
            session::Side::B => Side::B,
        }
    }

    /// The lane's title: what kind of ordering it shows.
    fn title(&self, side: session::Side) -> String {
        let frame = self.facts.as_ref().map(|f| &f.frame);
        if self.stacked {
            return frame.and_then(|f| lane::stacked_title(f, side)).unwrap_or("array").to_string();
        }
        if matches!(self.subject.kind, stage::Kind::Queue { .. }) {
            return frame.and_then(|f| lane::queue_title(f, side)).unwrap_or_default();
        }
        let side = Self::side_of(side);
        let is = |key: Key, word: &str| self.good.text(side, key) == word;
        if is(Key::ZoneOrdering, "none") {
            "no zone ordering"
        } else if is(Key::ZoneOrdering, "zone_lock") {
            "zone write locks"
        } else if is(Key::ZoneOrdering, "pipelined") {
            "pipelined zone writes"
        } else if self.subject.kind == (stage::Kind::Flash { zoned: false }) {
            "flash"
        } else if is(Key::ZonedQd1Writes, "1") {
            "single worker, QD 1"
        } else {
            "per-zone write plugging"
        }
        .to_string()
    }

    /// The settings that differ, as sysfs writes them.
    fn distinction(&self, side: session::Side) -> String {
        // What is written during the run has a panel of its own.
        let keys = self.good.b().iter().map(|(k, _)| *k).filter(|k| *k != Key::Change);
        let side = Self::side_of(side);
        let mut words = keys.map(|k| [Param::of(k).key, "=", &self.good.text(side, k)].concat()).collect::<Vec<_>>();
        if let Some(at) = self.good.fork.filter(|_| side == Side::B) {
            words.push(["from ", &seconds(at)].concat());
        }
        words.join(" ")
    }
}

/// What B tries where nothing says what it is for: the other zoned_qd1_writes on a disk that has it, else another
/// scheduler.
fn contrast(s: &Scenario) -> (Key, Value) {
    if s.in_effect(Side::A, Key::ZonedQd1Writes) {
        let on = *s.value(Side::A, Key::ZonedQd1Writes) == Value::Int(1);
        return (Key::ZonedQd1Writes, Value::Int(u64::from(!on)));
    }
    let other = if s.text(Side::A, Key::Scheduler) == "none" { "mq-deadline" } else { "none" };
    (Key::Scheduler, Param::of(Key::Scheduler).parse(other).expect("a scheduler"))
}

/// `1.2 s`
pub fn seconds(ns: u64) -> String {
    [print_seconds(ns).trim_end_matches('s'), " s"].concat()
}

/// The keys, over everything.
fn key_list(say: &Callback<Msg>) -> Html {
    const KEYS: [(&str, &str); 9] = [
        ("space .", "play or pause"),
        ("← →", "one event back or forward"),
        ("shift ← →", "jump by a fiftieth of the run"),
        ("S, shift S", "next or last step of a submission to an array"),
        ("Home End", "to the beginning, to the end"),
        ("[ ]", "slower, faster"),
        ("?", "this list"),
        ("Esc", "close"),
        ("Tab", "to the next control"),
    ];
    let rows = KEYS.iter().map(|(k, words)| markup!("<div><dt><kbd>" (*k) "</kbd></dt><dd>" (*words) "</dd></div>"));
    markup!(r#"
        <div class="overlay" role="dialog" aria-modal="true" aria-label="Keys">
            <dl>"# (list(rows)) r#"</dl>
            <button id="keys-close" onclick="# (click(say, Msg::Keys(false))) ">Close</button>
        </div>
    ")
}
