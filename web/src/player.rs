//! Plays a session on the canvases, outside of Yew.
//!
//! Models: nothing.
//! Rule: animation frames are asked for only while playing; the page hears coarse facts at most ten times a second.
//! Nothing is called outside while the state is borrowed: messages, never calls out.
//! Leaves out: what the page shows around the canvases, and the address.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use bioscope_core::config::SimConfig;
use bioscope_core::observe::stats::DriveTime;
use bioscope_core::time::SimTime;
use bioscope_session::{Frame, MAX_WALL_NS, Moment, Session, Side, SideFrame, TooLong};
use bioscope_stage::charts;
use bioscope_stage::lane::{self, Hit, LaneInput, Layout, Panels, What};
use bioscope_stage::palette::{DARK, Palette};
use bioscope_stage::shape::{Ink, Shape};
use gloo::render::AnimationFrame;
use gloo::timers::callback::Timeout;
use web_sys::HtmlCanvasElement;
use yew::Callback;

use crate::dom;
use crate::paint::Painter;
use crate::shared::Shared;

/// Wall time of one slice of pre-simulation, ms.
const SLICE_MS: f64 = 14.0;
/// Engine events between two looks at the clock.
const SLICE_EVENTS: u64 = 2_000;
/// Engine events played per animation frame at most: about 4 ms of work.
const FRAME_EVENTS: u64 = 20_000;
/// Least time between two reports to the page, ms.
const FACTS_MS: f64 = 100.0;
/// Under reduced motion pictures follow each other at this distance, ms: jumps instead of movement.
const CALM_MS: f64 = 300.0;
/// Pictures in a frame are made smaller down to this: 11 px become 8, the least that can be read.
const LEAST_SCALE: f32 = 0.75;
/// Points of the overview line.
const COLUMNS: usize = 480;

/// How far loading is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// Simulating ahead: this part is done.
    Ahead(f64),
    /// Known to the end.
    Ready,
    /// More events than a page shows.
    TooLong(TooLong),
}

/// What the page knows of the player.
#[derive(Clone, PartialEq)]
pub struct Facts {
    /// Number of the load this is about.
    pub load_no: u32,
    pub frame: Shared<Frame>,
    pub moment: Moment,
    pub playing: bool,
    pub speed: u64,
    pub known: SimTime,
    pub load: Load,
    /// Where the drives' time went, once the runs are known to their end.
    pub ends: [Option<DriveTime>; 2],
}

/// What a load needs beside the runs.
pub struct Start {
    /// Shown first.
    pub moment: Moment,
    /// Simulated ns per second.
    pub speed: u64,
    /// Where B leaves A, ns.
    pub fork: Option<SimTime>,
    /// When settings are written, ns: in A, in B.
    pub changes: [Vec<SimTime>; 2],
}

/// One lane's canvas.
#[derive(Default)]
struct LaneCanvas {
    painter: Option<Painter>,
    hits: Vec<Hit>,
}

impl LaneCanvas {
    /// What is at a place of the canvas, CSS pixels.
    fn hit(&self, x: f32, y: f32) -> Option<What> {
        let scale = self.painter.as_ref()?.scale;
        lane::hit(&self.hits, x / scale, y / scale)
    }
}

/// Room a lane asks for, CSS pixels.
pub struct Needs {
    /// What it would like.
    pub height: f32,
    /// Below this it is cut off.
    pub least: f32,
}

struct State {
    session: Option<Session>,
    /// Loads so far.
    load_no: u32,
    /// Names of the tool that writes, per side.
    tools: [&'static str; 2],
    /// To be shown as soon as it is known.
    wanted: Option<Moment>,
    load: Load,
    ends: [Option<DriveTime>; 2],
    playing: bool,
    last_tick: f64,
    last_facts: f64,
    last_paint: f64,
    calm: bool,
    /// What of a lane is drawn.
    panels: Panels,
    /// Pictures may be made smaller than life.
    small: bool,
    fork: Option<SimTime>,
    changes: [Vec<SimTime>; 2],
    /// Zones have the colours of gzbd-viewer.
    gzbd: bool,
    /// Plays as soon as the wanted moment is there.
    goes_on: bool,
    palette: &'static Palette,
    lanes: [LaneCanvas; 2],
    overview: Option<Painter>,
    lines: [Vec<f32>; 2],
    lit: Option<What>,
    /// What the lanes show.
    shown: Option<Shared<Frame>>,
    /// Pending animation frame and slice; dropping one cancels it.
    animation: Option<AnimationFrame>,
    slice: Option<Timeout>,
}

/// The player; clones share one.
#[derive(Clone)]
pub struct Player {
    state: Rc<RefCell<State>>,
    facts: Callback<Facts>,
}

impl PartialEq for Player {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.state, &other.state)
    }
}

fn index(side: Side) -> usize {
    usize::from(side == Side::B)
}

impl Player {
    /// Nothing loaded; reports to `facts`.
    pub fn new(facts: Callback<Facts>) -> Self {
        let state = State {
            session: None,
            load_no: 0,
            tools: ["fio"; 2],
            wanted: None,
            load: Load::Ahead(0.0),
            ends: [None, None],
            playing: false,
            last_tick: 0.0,
            last_facts: 0.0,
            last_paint: 0.0,
            calm: dom::reduced_motion(),
            panels: Panels::ALL,
            small: false,
            fork: None,
            changes: Default::default(),
            gzbd: false,
            goes_on: false,
            palette: &DARK,
            lanes: Default::default(),
            overview: None,
            lines: Default::default(),
            lit: None,
            shown: None,
            animation: None,
            slice: None,
        };
        Self { state: Rc::new(RefCell::new(state)), facts }
    }

    /// Replaces the runs, paused, and goes to `start` as soon as it is simulated. Returns the number of the load.
    pub fn load(&self, a: Arc<SimConfig>, b: Option<Arc<SimConfig>>, start: Start) -> u32 {
        dom::set_flag("ready", None);
        let load_no = {
            let s = &mut *self.state.borrow_mut();
            s.load_no += 1;
            s.tools = [lane::tool(&a), b.as_deref().map_or("fio", lane::tool)];
            let mut session = Session::load(a, b);
            session.set_speed(start.speed);
            s.fork = start.fork;
            s.changes = start.changes;
            s.goes_on = false;
            s.session = Some(session);
            s.wanted = Some(start.moment);
            s.load = Load::Ahead(0.0);
            s.ends = [None, None];
            s.lines = Default::default();
            s.playing = false;
            s.animation = None;
            s.lit = None;
            s.shown = None;
            s.load_no
        };
        self.slice_later();
        load_no
    }

    fn slice_later(&self) {
        let weak = Rc::downgrade(&self.state);
        let facts = self.facts.clone();
        let timeout = Timeout::new(0, move || {
            if let Some(p) = Self::upgrade(&weak, &facts) {
                p.slice();
            }
        });
        self.state.borrow_mut().slice = Some(timeout);
    }

    fn upgrade(weak: &Weak<RefCell<State>>, facts: &Callback<Facts>) -> Option<Self> {
        Some(Self { state: weak.upgrade()?, facts: facts.clone() })
    }

    /// One slice of pre-simulation.
    fn slice(&self) {
        let finished = self.state.borrow_mut().presimulate();
        let goes_on = {
            let s = &mut *self.state.borrow_mut();
            s.wanted.is_none() && std::mem::take(&mut s.goes_on)
        };
        if goes_on {
            self.play();
        }
        self.report(finished);
        if finished {
            dom::set_flag("ready", Some("1"));
        } else {
            self.slice_later();
        }
    }

    /// Tells the page, at most every [`FACTS_MS`] unless something must be seen at once.
    fn report(&self, at_once: bool) {
        let facts = self.state.borrow_mut().facts(at_once);
        if let Some(f) = facts {
            self.facts.emit(f);
        }
    }

    /// Paints and reports after a jump.
    fn moved(&self) {
        self.state.borrow_mut().paint();
        self.report(true);
    }

    fn with_session(&self, f: impl FnOnce(&mut Session)) {
        {
            let s = &mut *self.state.borrow_mut();
            s.wanted = None;
            if let Some(session) = &mut s.session {
                f(session);
            }
        }
        self.moved();
    }

    /// Plays or pauses. At the end, playing begins anew.
    pub fn toggle(&self) {
        if self.state.borrow().playing { self.pause() } else { self.play() }
    }

    /// Stops at the current moment.
    pub fn pause(&self) {
        {
            let s = &mut *self.state.borrow_mut();
            s.playing = false;
            s.animation = None;
        }
        self.moved();
    }

    /// Plays as soon as the moment that the last load asked for is there.
    pub fn play_from_there(&self) {
        self.state.borrow_mut().goes_on = true;
    }

    /// Plays on from here.
    pub fn play(&self) {
        {
            let s = &mut *self.state.borrow_mut();
            let Some(session) = &mut s.session else { return };
            if session.moment().time >= session.known() && s.load == Load::Ready {
                session.rewind();
            }
            s.playing = true;
            s.last_tick = dom::now_ms();
        }
        self.request_frame();
        self.report(true);
    }

    fn request_frame(&self) {
        let weak = Rc::downgrade(&self.state);
        let facts = self.facts.clone();
        let frame = gloo::render::request_animation_frame(move |now| {
            if let Some(p) = Self::upgrade(&weak, &facts) {
                p.frame(now);
            }
        });
        self.state.borrow_mut().animation = Some(frame);
    }

    /// One animation frame while playing.
    fn frame(&self, now: f64) {
        let goes_on = self.state.borrow_mut().tick(now);
        if !self.state.borrow().playing {
            return;
        }
        if goes_on {
            self.report(false);
            self.request_frame();
        } else {
            self.pause();
        }
    }

    /// The moment that is shown, or will be as soon as it is simulated.
    pub fn moment(&self) -> Option<Moment> {
        let s = self.state.borrow();
        s.wanted.or_else(|| s.session.as_ref().map(Session::moment))
    }

    /// One record forward or back, paused.
    pub fn step(&self, forward: bool) {
        self.stop();
        self.with_session(|s| {
            // False at either end: nothing to show then.
            let _ = if forward { s.step_forward() } else { s.step_back() };
        });
    }

    /// One step of a submission forward or back, paused.
    pub fn submission_step(&self, forward: bool) {
        self.stop();
        self.with_session(|s| {
            // False at either end: nothing to show then.
            let _ = s.submission_step(forward);
        });
    }

    /// A jump by a part of the whole length.
    pub fn jump(&self, part: f64) {
        self.with_session(|s| {
            let to = s.moment().time as f64 + part * s.known() as f64;
            s.seek(to.max(0.0) as SimTime);
        });
    }

    /// To a time. Playing goes on from there.
    pub fn seek(&self, time: SimTime) {
        self.with_session(|s| s.seek(time));
    }

    /// To a moment, paused; as soon as it is simulated, if it is not yet.
    pub fn look(&self, m: Moment) {
        self.stop();
        {
            let s = &mut *self.state.borrow_mut();
            let Some(session) = &mut s.session else { return };
            if s.load == Load::Ready || m.time < session.known() {
                s.wanted = None;
                session.seek_moment(m);
            } else {
                s.wanted = Some(m);
            }
        }
        self.moved();
    }

    /// To the beginning, before the first event.
    pub fn rewind(&self) {
        self.with_session(Session::rewind);
    }

    /// To the end.
    pub fn to_end(&self) {
        self.stop();
        self.with_session(|s| s.seek(SimTime::MAX));
    }

    fn stop(&self) {
        let s = &mut *self.state.borrow_mut();
        s.playing = false;
        s.animation = None;
    }

    /// Simulated ns per second of wall time.
    pub fn set_speed(&self, speed: u64) {
        if let Some(session) = &mut self.state.borrow_mut().session {
            session.set_speed(speed);
        }
        self.report(true);
    }

    /// Changes colours.
    pub fn set_palette(&self, palette: &'static Palette) {
        let s = &mut *self.state.borrow_mut();
        s.palette = palette;
        s.paint();
    }

    /// Chooses the colours of the map of zones.
    pub fn set_gzbd(&self, on: bool) {
        let s = &mut *self.state.borrow_mut();
        s.gzbd = on;
        s.paint();
    }

    /// Takes a lane's canvas over, or lets it go.
    pub fn attach_lane(&self, side: Side, canvas: Option<HtmlCanvasElement>) {
        self.state.borrow_mut().lanes[index(side)].painter = canvas.and_then(Painter::new);
    }
    /// The same for the overview line.
    pub fn attach_overview(&self, canvas: Option<HtmlCanvasElement>) {
        self.state.borrow_mut().overview = canvas.and_then(Painter::new);
    }

    /// Chooses what of a lane is drawn, and whether it may be drawn small. Lanes are measured anew after this.
    pub fn set_panels(&self, panels: Panels, small: bool) {
        let s = &mut *self.state.borrow_mut();
        (s.panels, s.small) = (panels, small);
    }

    /// A lane's box has this size, CSS pixels. Returns the room that the canvas needs.
    pub fn resize_lane(&self, side: Side, width: f32, height: f32) -> Needs {
        let s = &mut *self.state.borrow_mut();
        let needed = |scale: f32| lane::min_height(Layout::of(width / scale, s.panels), s.panels) * scale;
        let (mut scale, mut wanted) = (1.0, None);
        if s.small {
            // As large as it can be with the panels side by side; smaller still to fit the box.
            while scale > LEAST_SCALE && (wanted.is_none() || needed(scale) > height) {
                if Layout::of(width / scale, s.panels) == Layout::Wide {
                    wanted = wanted.or(Some(needed(scale)));
                    if needed(scale) <= height {
                        break;
                    }
                }
                scale = (scale - 0.05).max(LEAST_SCALE);
            }
        }
        let least = needed(scale);
        if let Some(p) = &mut s.lanes[index(side)].painter {
            p.resize(width, height.max(least), scale, dom::pixel_ratio());
        }
        s.paint();
        Needs { height: wanted.unwrap_or(least), least }
    }
    /// The overview's box has this size.
    pub fn resize_overview(&self, width: f32, height: f32) {
        let s = &mut *self.state.borrow_mut();
        if let Some(p) = &mut s.overview {
            p.resize(width, height, 1.0, dom::pixel_ratio());
        }
        s.paint();
    }

    /// The pointer is at a place of a lane: lights what is there up in both lanes and says what it is.
    pub fn point(&self, side: Side, x: f32, y: f32) -> Option<String> {
        let s = &mut *self.state.borrow_mut();
        let what = s.lanes[index(side)].hit(x, y);
        if s.lit != what {
            s.lit = what;
            if !s.playing {
                s.paint();
            }
        }
        let shown = side_of(s.shown.as_ref()?, side)?;
        lane::words(&shown.snapshot, shown.strip(), what?)
    }
    /// The pointer left: there is nothing to say.
    pub fn unpoint(&self) -> Option<String> {
        let s = &mut *self.state.borrow_mut();
        if s.lit.take().is_some() && !s.playing {
            s.paint();
        }
        None
    }
    /// A click: on a command of the strip it goes to the moment of its issue.
    pub fn click(&self, side: Side, x: f32, y: f32) {
        let time = {
            let s = self.state.borrow();
            let Some(What::Issue(i)) = s.lanes[index(side)].hit(x, y) else { return };
            let Some(frame) = &s.shown else { return };
            side_of(frame, side).and_then(|f| f.strip().get(i as usize)).map(|r| r.time)
        };
        if let Some(t) = time {
            self.stop();
            self.seek(t);
        }
    }
}

fn side_of(frame: &Frame, side: Side) -> Option<&SideFrame> {
    match side {
        Side::A => Some(&frame.a),
        Side::B => frame.b.as_ref(),
    }
}

impl State {
    /// Simulates ahead for a slice; true when nothing is left to do.
    fn presimulate(&mut self) -> bool {
        let Some(session) = &mut self.session else { return true };
        let end = dom::now_ms() + SLICE_MS;
        let finished = loop {
            match session.presimulate(SLICE_EVENTS) {
                Err(long) => {
                    self.load = Load::TooLong(long);
                    break true;
                }
                Ok(p) if p.done => {
                    self.load = Load::Ready;
                    break true;
                }
                Ok(p) => self.load = Load::Ahead(p.fraction),
            }
            if dom::now_ms() >= end {
                break false;
            }
        };
        let reached = self.wanted.is_some_and(|m| finished || m.time < session.known());
        if reached && let Some(m) = self.wanted.take() {
            session.seek_moment(m);
        }
        if finished {
            for side in [Side::A, Side::B] {
                self.ends[index(side)] = session.end(side).map(|e| e.stats.drive);
                let mut line: Vec<f32> =
                    session.overview(side, COLUMNS).iter().map(|v| (v / 1_048_576.0) as f32).collect();
                // An empty cache takes the first writes at the interface's rate: cut, so that the rest has room.
                let later = line.iter().skip(COLUMNS / 50).fold(0f32, |m, v| m.max(*v));
                for v in line.iter_mut().take(COLUMNS / 50) {
                    *v = v.min(later);
                }
                self.lines[index(side)] = line;
            }
        }
        if reached || finished {
            self.paint();
        }
        finished
    }

    /// Plays up to now; false at the end.
    fn tick(&mut self, now: f64) -> bool {
        let Some(session) = &mut self.session else { return false };
        if self.calm && now - self.last_paint < CALM_MS {
            return true;
        }
        let wall = ((now - self.last_tick).max(0.0) * 1e6).min(MAX_WALL_NS as f64) as u64;
        self.last_tick = now;
        let goes_on = session.tick(wall, FRAME_EVENTS);
        self.last_paint = now;
        self.paint_lanes();
        goes_on
    }

    fn paint(&mut self) {
        self.paint_lanes();
        self.paint_overview();
    }

    fn paint_lanes(&mut self) {
        let Some(session) = self.session.as_ref().filter(|_| self.wanted.is_none()) else { return };
        let frame = Shared::new(session.frame());
        self.shown = Some(frame.clone());
        let ratio = dom::pixel_ratio();
        for side in [Side::A, Side::B] {
            let i = index(side);
            let canvas = &mut self.lanes[i];
            let (Some(shown), Some(p)) = (side_of(&frame, side), &mut canvas.painter) else { continue };
            if !p.has_room() {
                continue;
            }
            let at_rest = LaneInput::of(shown, side.into(), session.speed(), self.tools[i]);
            let moves = if self.playing { &shown.moves } else { at_rest.moves };
            let input = LaneInput { moves, lit: self.lit, panels: self.panels, gzbd: self.gzbd, ..at_rest };
            let drawn = lane::lane(&input, p.width, p.height, Layout::of(p.width, self.panels));
            p.paint(&drawn.shapes, self.palette, ratio);
            canvas.hits = drawn.hits;
        }
    }

    fn paint_overview(&mut self) {
        let (Some(session), Some(p)) = (&self.session, &mut self.overview) else { return };
        if !p.has_room() {
            return;
        }
        let [a, b] = &self.lines;
        let b = Some(b.as_slice()).filter(|b| !b.is_empty());
        let cursor = session.moment().time as f32 / session.known().max(1) as f32;
        let mut shapes = charts::overview(a, b, cursor.min(1.0), p.width, p.height);
        if let Some(fork) = self.fork {
            // Where B leaves A.
            let x = (fork as f32 / session.known().max(1) as f32).min(1.0) * p.width;
            let (y0, y1, stroke, width) = (0.0, p.height, Ink::B, 2.0);
            shapes.push(Shape::Line { x0: x, y0, x1: x, y1, stroke, width, alpha: 1.0, dash: true });
        }
        for side in [Side::A, Side::B] {
            let times = &self.changes[index(side)];
            shapes.extend(charts::changes(side.into(), times, session.known(), p.width, p.height));
        }
        p.paint(&shapes, self.palette, dom::pixel_ratio());
    }

    fn facts(&mut self, at_once: bool) -> Option<Facts> {
        let now = dom::now_ms();
        if !at_once && now - self.last_facts < FACTS_MS {
            return None;
        }
        self.last_facts = now;
        if self.playing {
            self.paint_overview();
        }
        let session = self.session.as_ref()?;
        Some(Facts {
            load_no: self.load_no,
            frame: self.shown.clone().unwrap_or_else(|| Shared::new(session.frame())),
            moment: self.wanted.unwrap_or_else(|| session.moment()),
            playing: self.playing,
            speed: session.speed(),
            known: session.known(),
            load: self.load,
            ends: self.ends,
        })
    }
}
