//! The page's state and what its messages do.
//!
//! Models: nothing.
//! Rule: all state is here and changes only in `update`, one message at a time; effects go to the player, the sweep
//! and the address. The address always holds the last good scenario: edits replace the history entry, opening a
//! preset makes one, `t` is written on pause and in shared links only.
//! Leaves out: drawing ([`crate::player`], [`crate::components`]).

use std::rc::Rc;
use std::sync::Arc;

use bioscope_scenario::check;
use bioscope_scenario::diagnostic::{Diagnostic, Severity};
use bioscope_scenario::params::{Key, Param};
use bioscope_scenario::preset::{PRESETS, Preset};
use bioscope_scenario::scenario::{self, Scenario, Side};
use bioscope_scenario::text;
use bioscope_session as session;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, KeyboardEvent};
use yew::prelude::*;

use crate::components::bar::Bar;
use crate::components::form::{Form, full_key};
use crate::components::lane::Lane;
use crate::components::side::SideColumn;
use crate::components::transport::{Transport, clock, speed_step};
use crate::dom;
use crate::hooks;
use crate::player::{Facts, Load, Player, Tip};
use crate::sweep::{Chart, Point, Sweeper};
use crate::theme::Theme;

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
    Compare(bool),
    Toggle,
    Step(bool),
    /// By a part of the run.
    Jump(f64),
    /// To a time, ns, playing on.
    Seek(u64),
    /// To a time, paused.
    Look(u64),
    Home,
    End,
    Speed(u64),
    Share,
    /// The link is in the clipboard.
    Copied,
    CloseShare,
    NextTheme,
    /// The system's theme changed.
    SystemTheme,
    Drawer(bool),
    Keys(bool),
    Advanced(bool),
    Tip(Option<Tip>),
    WhySide(session::Side),
    Sweep,
    Point(Point),
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
    scenario: Rc<Scenario>,
    /// The scenario of the shown run and of the address.
    good: Rc<Scenario>,
    typed: Rc<Vec<Typed>>,
    /// What the link's text had wrong.
    from_link: Vec<Diagnostic>,
    /// What the settings have wrong together.
    checked: Vec<Diagnostic>,
    /// Both, and what the player found.
    diagnostics: Rc<Vec<Diagnostic>>,
    player: Player,
    facts: Option<Facts>,
    sweeper: Sweeper,
    chart: Option<Rc<Chart>>,
    sweeps: u32,
    theme: Theme,
    drawer: bool,
    keys: bool,
    advanced: bool,
    share: Option<(AttrValue, bool)>,
    tip: Option<Tip>,
    why_side: session::Side,
    said: AttrValue,
    /// Pending: dropping one cancels it.
    writing: Option<Timeout>,
    saying: Option<Timeout>,
    sweeping: Option<Timeout>,
    _listeners: Vec<EventListener>,
}

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
        let theme = Theme::remembered();
        theme.apply();
        player.set_palette(theme.palette());
        let mut app = Self {
            scenario: Rc::default(),
            good: Rc::default(),
            typed: Rc::default(),
            from_link: Vec::new(),
            checked: Vec::new(),
            diagnostics: Rc::default(),
            player,
            facts: None,
            sweeper: Sweeper::new(link.callback(Msg::Point)),
            chart: None,
            sweeps: 0,
            theme,
            drawer: false,
            keys: false,
            advanced: false,
            share: None,
            tip: None,
            why_side: session::Side::A,
            said: AttrValue::default(),
            writing: None,
            saying: None,
            sweeping: None,
            _listeners: listeners(ctx),
        };
        app.read_address();
        app
    }

    fn update(&mut self, ctx: &Context<Self>, msg: Msg) -> bool {
        match msg {
            Msg::Facts(f) => self.heard(ctx, f),
            Msg::Address => {
                if dom::window().location().hash().is_ok_and(|h| text::fragment_of(&h) != text::encode(&self.good)) {
                    self.read_address();
                }
            }
            Msg::Open(p) => {
                self.typed = Rc::default();
                self.from_link.clear();
                self.take(Scenario::of(p));
                self.write(true);
            }
            Msg::Edit(side, key, typed) => self.edit(ctx, side, key, typed),
            Msg::Reset(key) => self.change(ctx, key, |s| s.reset(Side::A, key)),
            Msg::Differ(key) => self.change(ctx, key, |s| s.set(Side::B, key, s.value(Side::A, key).clone())),
            Msg::Same(key) => self.change(ctx, key, |s| s.drop_b_key(key)),
            Msg::Compare(on) => self.compare(ctx, on),
            Msg::Toggle => self.player.toggle(),
            Msg::Step(forward) => self.player.step(forward),
            Msg::Jump(part) => self.player.jump(part),
            Msg::Seek(time) => self.player.seek(time),
            Msg::Look(time) => {
                self.player.pause();
                self.player.seek(time);
            }
            Msg::Home => self.player.rewind(),
            Msg::End => self.player.to_end(),
            Msg::Speed(speed) => self.player.set_speed(speed),
            Msg::Share => self.share(ctx),
            Msg::Copied => self.share = self.share.take().map(|(link, _)| (link, true)),
            Msg::CloseShare => self.share = None,
            Msg::NextTheme => {
                self.theme = self.theme.next();
                self.theme.apply();
                self.player.set_palette(self.theme.palette());
            }
            Msg::SystemTheme => self.player.set_palette(self.theme.palette()),
            Msg::Drawer(open) => self.drawer = open,
            Msg::Keys(open) => self.keys = open,
            Msg::Advanced(on) => self.advanced = on,
            Msg::Tip(tip) => {
                if self.tip == tip {
                    return false;
                }
                self.tip = tip;
            }
            Msg::WhySide(side) => self.why_side = side,
            Msg::Sweep => self.sweep(),
            Msg::Point(p) => {
                let Some(chart) = &mut self.chart else { return false };
                return Rc::make_mut(chart).take(&p);
            }
            Msg::Write => self.write(false),
            Msg::Say => self.say(),
            Msg::Key(e) => return self.key(ctx, &e),
        }
        true
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let say = ctx.link().callback(|m: Msg| m);
        let facts = self.facts.as_ref();
        let frame = facts.map(|f| f.frame.clone());
        let playing = facts.is_some_and(|f| f.playing);
        let compared = self.good.has_b();
        let lane = |side: session::Side| {
            html! {
                <Lane key={crate::components::lane::name(side)} {side} {compared} title={self.title(side)} settings={self.distinction(side)}
                    frame={frame.clone()} {playing} player={self.player.clone()} tip={self.tip.clone()} say={say.clone()} />
            }
        };
        html! {
            <div class={classes!("page", self.drawer.then_some("drawer-open"))}>
                <Bar key="bar" preset={self.scenario.preset} {compared} theme={self.theme} share={self.share.clone()} say={say.clone()} />
                <section key="diagnostics" class="diagnostics" data-testid="diagnostics" role="status" aria-label="Messages">
                    { for self.diagnostics.iter().map(message) }
                </section>
                <aside key="form" class="left" id="drawer" aria-label="Scenario">
                    <div key="head" class="drawer-head">
                        <h2>{"Scenario"}</h2>
                        <button onclick={say.reform(|_: MouseEvent| Msg::Drawer(false))} aria-label="Close the settings">{"×"}</button>
                    </div>
                    <p key="look" class="look-for">{self.scenario.preset.map_or("", |p| p.look_for)}</p>
                    <Form key="form" scenario={self.scenario.clone()} typed={self.typed.clone()} diagnostics={self.diagnostics.clone()}
                        {compared} advanced={self.advanced} say={say.clone()} />
                </aside>
                <main key="stage" class={classes!("lanes", compared.then_some("two"))}>
                    {lane(session::Side::A)}
                    if compared {
                        {lane(session::Side::B)}
                    }
                </main>
                <aside key="side" class="right" aria-label="Charts and reasons">
                    <SideColumn {compared} palette={self.theme.palette()} chart={self.chart.clone()} frame={frame.clone()}
                        ends={facts.map_or([None, None], |f| f.ends.clone())} why_side={self.why_side}
                        seed={self.good.text(Side::A, Key::Seed)} say={say.clone()} />
                </aside>
                <Transport key="transport" facts={self.facts.clone()} player={self.player.clone()} say={say.clone()} />
                <p key="aloud" class="unseen" role="status" aria-live="polite">{self.said.clone()}</p>
                <div key="keys">
                    if self.keys {
                        <KeyList say={say.clone()} />
                    }
                </div>
            </div>
        }
    }
}

fn listeners(ctx: &Context<App>) -> Vec<EventListener> {
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
    moves || e.key() == "?" || matches!(code.as_str(), "Space" | "Period" | "BracketLeft" | "BracketRight")
}

fn message(d: &Diagnostic) -> Html {
    let class = match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    html! {
        <p {class}><b>{d.severity.word()}</b>{" "}{d.to_string()}</p>
    }
}

impl App {
    /// What the address says, or the first preset.
    fn read_address(&mut self) {
        let hash = dom::window().location().hash().unwrap_or_default();
        let fragment = text::fragment_of(&hash);
        let (scenario, problems) =
            if fragment.is_empty() { (Scenario::of(&PRESETS[0]), Vec::new()) } else { text::decode(fragment) };
        self.typed = Rc::default();
        self.from_link = problems;
        self.take(scenario);
    }

    /// Shows a scenario, if a run can be made of it; else its preset, with the messages.
    fn take(&mut self, scenario: Scenario) {
        self.scenario = Rc::new(scenario);
        if !self.run() {
            self.good = Rc::new(Scenario::of(self.scenario.preset.unwrap_or(&PRESETS[0])));
            self.load();
        }
        if let Some(p) = self.scenario.preset {
            dom::document().set_title(&[p.title, " · Bioscope"].concat());
        }
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
        let b = if good.has_b() { cfg(Side::B) } else { None };
        let start = good.t.or(good.preset.map(|p| p.t)).unwrap_or_default();
        let speed = self.facts.as_ref().filter(|f| f.speed > 0).map(|f| f.speed);
        let speed = speed.or(good.preset.map(|p| p.speed_ns)).unwrap_or(SPEED);
        self.player.load(a, b, to_session(start), speed);
        self.chart = Chart::of(self.sweeps, good).map(Rc::new);
        self.sweeper.start(Vec::new());
        self.sweeping = None;
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
            let reached = [&(long.reached / 1_000_000).to_string(), "ms"].concat();
            all.push(Diagnostic::error(&full_key(side, "runtime"), "", words).suggest(reached));
        }
        self.diagnostics = Rc::new(all);
    }

    fn edit(&mut self, ctx: &Context<Self>, side: Side, key: Key, typed: String) {
        let name = full_key(side, Param::of(key).key);
        let mut next = (*self.scenario).clone();
        match next.set_text(&name, &typed) {
            Ok(()) => self.change(ctx, key, |s| *s = next),
            Err(problem) => {
                let all = Rc::make_mut(&mut self.typed);
                all.retain(|t| (t.side, t.key) != (side, key));
                all.push(Typed { side, key, text: typed, problem });
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
        Rc::make_mut(&mut self.typed).retain(|t| t.key != key);
        self.forget_link_problem(key);
        f(Rc::make_mut(&mut self.scenario));
        self.rerun(ctx);
    }

    fn compare(&mut self, ctx: &Context<Self>, on: bool) {
        let s = Rc::make_mut(&mut self.scenario);
        if !on {
            s.drop_b();
        } else if !s.has_b() {
            // What B is for: the preset's difference, else the setting this page is about.
            let own = s.preset.map(Preset::b_values).filter(|v| !v.is_empty());
            for (key, v) in own.unwrap_or_else(|| vec![(Key::ZonedQd1Writes, bioscope_scenario::Value::Int(1))]) {
                s.set(Side::B, key, v);
            }
        }
        self.rerun(ctx);
    }

    fn rerun(&mut self, ctx: &Context<Self>) {
        if self.facts.as_ref().is_some_and(|f| f.playing) {
            self.player.pause();
            self.note_moment();
        }
        if self.run() {
            self.write_later(ctx);
        }
    }

    /// The address gets `t`: playing was stopped here.
    fn note_moment(&mut self) {
        let Some(f) = &self.facts else { return };
        let t = Some(to_link(f.moment));
        Rc::make_mut(&mut self.scenario).t = t;
        Rc::make_mut(&mut self.good).t = t;
    }

    fn write_later(&mut self, ctx: &Context<Self>) {
        let link = ctx.link().clone();
        self.writing = Some(Timeout::new(WRITE_MS, move || link.send_message(Msg::Write)));
    }

    fn write(&mut self, push: bool) {
        self.writing = None;
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
        let before = self.facts.replace(f);
        let Some(now) = &self.facts else { return };
        let (playing, load) = (now.playing, now.load);
        let stopped = before.as_ref().is_some_and(|b| b.playing) && !playing;
        if before.is_none_or(|b| b.load != load) && !matches!(load, Load::Ahead(_)) {
            self.collect();
            self.sweep_later(ctx);
        }
        if stopped {
            self.note_moment();
            self.write_later(ctx);
        }
        if !playing {
            let link = ctx.link().clone();
            self.saying = Some(Timeout::new(SAY_MS, move || link.send_message(Msg::Say)));
        }
    }

    /// Says where the run stands, in words for the live region.
    fn say(&mut self) {
        let Some(f) = self.facts.as_ref().filter(|f| !f.playing && f.load == Load::Ready) else { return };
        let step = bioscope_stage::text::thousands(f.frame.step);
        self.said = ["Paused at ", &clock(f.moment.time), ", event ", &step, "."].concat().into();
    }

    fn sweep_later(&mut self, ctx: &Context<Self>) {
        // Not on phones, which have other uses for their charge, and not under test.
        if hooks::wanted() || dom::media("(max-width: 719px)").is_some_and(|m| m.matches()) {
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
        self.chart = Some(Rc::new(chart));
        self.sweeper.start(jobs);
    }

    fn share(&mut self, ctx: &Context<Self>) {
        if self.facts.as_ref().is_some_and(|f| f.playing) {
            self.player.pause();
        }
        self.note_moment();
        self.write(false);
        let link = dom::window().location().href().unwrap_or_default();
        let copied = ctx.link().callback(|_: ()| Msg::Copied);
        dom::copy(&link, copied);
        self.share = Some((link.into(), false));
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
    fn title(&self, side: session::Side) -> &'static str {
        let side = Self::side_of(side);
        let is = |key: Key, word: &str| self.good.text(side, key) == word;
        if is(Key::ZoneOrdering, "none") {
            "no zone ordering"
        } else if is(Key::ZonedQd1Writes, "1") {
            "single worker, QD 1"
        } else {
            "per-zone write plugging"
        }
    }

    /// The settings that differ, as sysfs writes them.
    fn distinction(&self, side: session::Side) -> String {
        let keys = self.good.b().iter().map(|(k, _)| *k);
        let side = Self::side_of(side);
        keys.map(|k| [Param::of(k).key, "=", &self.good.text(side, k)].concat()).collect::<Vec<_>>().join(" ")
    }
}

#[derive(Properties, PartialEq)]
struct KeyListProps {
    say: Callback<Msg>,
}

/// The keys, over everything.
#[component]
fn KeyList(props: &KeyListProps) -> Html {
    const KEYS: [(&str, &str); 8] = [
        ("space .", "play or pause"),
        ("← →", "one event back or forward"),
        ("shift ← →", "jump by a fiftieth of the run"),
        ("Home End", "to the beginning, to the end"),
        ("[ ]", "slower, faster"),
        ("?", "this list"),
        ("Esc", "close"),
        ("Tab", "to the next control"),
    ];
    let close = props.say.reform(|_: MouseEvent| Msg::Keys(false));
    let button = use_node_ref();
    {
        let button = button.clone();
        use_effect_with((), move |()| {
            if let Some(b) = button.cast::<web_sys::HtmlElement>() {
                drop(b.focus());
            }
        });
    }
    html! {
        <div class="overlay" role="dialog" aria-modal="true" aria-label="Keys">
            <dl>
                { for KEYS.iter().map(|(k, words)| html! { <div key={*k}><dt><kbd>{*k}</kbd></dt><dd>{*words}</dd></div> }) }
            </dl>
            <button ref={button} onclick={close}>{"Close"}</button>
        </div>
    }
}
