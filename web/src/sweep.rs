//! The sweep behind the throughput chart: jobs handed to workers, results coming back one by one.
//!
//! Models: nothing.
//! Rule: a job is a link's text and a side, so that a worker makes of it exactly what the page would. Where workers
//! are refused the same jobs run here in slices, and nothing else differs.
//! Leaves out: what the results look like.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use bioscope_core::sim::{Advance, Simulation};
use bioscope_scenario::params::Key;
use bioscope_scenario::scenario::{Scenario, Side};
use bioscope_scenario::value::Value;
use bioscope_scenario::{check, text};
use gloo::timers::callback::Timeout;
use js_sys::Uint8Array;
use serde::{Deserialize, Serialize};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, HtmlLinkElement, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

use crate::dom;

/// First byte of every message; the two ends may be of different ages.
pub const PROTOCOL: u8 = 1;
/// Work on the page's own thread at a time, ms.
const SLICE_MS: f64 = 12.0;
/// Engine events between two looks at the clock.
const SLICE_EVENTS: u64 = 5_000;
/// Workers at most.
const MAX_WORKERS: usize = 4;

/// What to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// Which sweep it belongs to; older ones are dropped.
    pub sweep: u32,
    /// Which value.
    pub index: u32,
    /// Which run of the scenario.
    pub b: bool,
    /// The scenario.
    pub link: String,
}

/// What came out.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    pub sweep: u32,
    pub index: u32,
    pub b: bool,
    /// Mean bytes per second of the measured window; `None` where no run can be made.
    pub bytes_per_sec: Option<f64>,
}

/// Sets a job's run up; `None` where the settings exclude each other.
pub fn simulation(link: &str, side: Side) -> Option<Simulation> {
    let (scenario, _) = text::decode(link);
    let cfg = check::validate(&scenario, side).ok()?;
    Some(Simulation::new(Arc::new(cfg)))
}

impl Job {
    /// A point of a scenario's sweep.
    pub fn new(sweep: u32, index: usize, side: Side, scenario: &Scenario) -> Self {
        Self { sweep, index: index as u32, b: side == Side::B, link: text::encode(scenario) }
    }
    fn side(&self) -> Side {
        if self.b { Side::B } else { Side::A }
    }
    fn point(&self, bytes_per_sec: Option<f64>) -> Point {
        Point { sweep: self.sweep, index: self.index, b: self.b, bytes_per_sec }
    }
    /// Runs it to the end.
    pub fn run(&self) -> Point {
        let Some(mut sim) = simulation(&self.link, self.side()) else { return self.point(None) };
        while sim.advance(u64::MAX, u64::MAX, &mut ()) == Advance::Budget {}
        self.point(Some(sim.stats().bytes_per_sec()))
    }
}

/// A message: the protocol's number, then the value.
pub fn pack<T: Serialize>(value: &T) -> Uint8Array {
    let mut bytes = vec![PROTOCOL];
    // Serialising our own plain types cannot fail; an empty message is ignored at the other end.
    bytes.extend(postcard::to_allocvec(value).unwrap_or_default());
    Uint8Array::from(bytes.as_slice())
}

/// The value of a message; `None` if it is another protocol's.
pub fn unpack<T: for<'a> Deserialize<'a>>(e: &MessageEvent) -> Option<T> {
    let bytes = Uint8Array::new(&e.data()).to_vec();
    let (version, rest) = bytes.split_first()?;
    if *version == PROTOCOL { postcard::from_bytes(rest).ok() } else { None }
}

/// A worker and what it is at.
struct Hand {
    worker: Worker,
    /// It has said that it is there.
    ready: bool,
    job: Option<Job>,
    /// Kept alive as long as the worker.
    _on_message: Closure<dyn FnMut(MessageEvent)>,
    _on_error: Closure<dyn FnMut(Event)>,
}

#[derive(Default)]
struct Engine {
    hands: Vec<Option<Hand>>,
    started: bool,
    queue: VecDeque<Job>,
    /// A job that runs here.
    own: Option<(Job, Option<Simulation>)>,
    slice: Option<Timeout>,
}

/// What a sweep is over and what is known of it; bandwidths in MiB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Number of the sweep.
    pub sweep: u32,
    pub key: Key,
    /// The setting's values as text.
    pub texts: Vec<String>,
    /// The same as numbers, where they are numbers.
    pub numbers: Option<Vec<f64>>,
    /// The shown run's value.
    pub current: Option<f64>,
    /// Simulated, per side and value.
    pub simulated: [Vec<Option<f64>>; 2],
    /// Published, per side and value.
    pub published: [Vec<Option<f64>>; 2],
    /// Points that were answered, and points in all. None in all: not started.
    pub done: usize,
    pub total: usize,
}

fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Int(n) | Value::Zones(n) => Some(*n as f64),
        _ => None,
    }
}

impl Chart {
    /// An empty chart of the scenario's sweep.
    pub fn of(sweep: u32, scenario: &Scenario) -> Option<Self> {
        let over = scenario.sweep()?;
        let empty = vec![None; over.values.len()];
        let published = |side: Side| over.values.iter().map(|v| published(scenario, over.key, v, side)).collect();
        Some(Self {
            sweep,
            key: over.key,
            texts: over.texts(),
            numbers: over.values.iter().map(number).collect(),
            current: number(&scenario.resolved(Side::A, over.key)),
            simulated: [empty.clone(), empty],
            published: [published(Side::A), published(Side::B)],
            done: 0,
            total: 0,
        })
    }

    /// The jobs that fill it, the sides in turn.
    pub fn jobs(&self, scenario: &Scenario) -> Vec<Job> {
        let Some(over) = scenario.sweep() else { return Vec::new() };
        let mut jobs = Vec::new();
        for (i, value) in over.values.iter().enumerate() {
            let mut point = scenario.for_sweep();
            point.set(Side::A, over.key, value.clone());
            point.drop_b_key(over.key);
            jobs.push(Job::new(self.sweep, i, Side::A, &point));
            if point.has_b() {
                jobs.push(Job::new(self.sweep, i, Side::B, &point));
            }
        }
        jobs
    }

    /// Takes a result. False if it belongs to another sweep.
    pub fn take(&mut self, p: &Point) -> bool {
        if p.sweep != self.sweep {
            return false;
        }
        if let Some(slot) = self.simulated[usize::from(p.b)].get_mut(p.index as usize) {
            *slot = p.bytes_per_sec.map(|b| b / 1_048_576.0);
        }
        self.done += 1;
        true
    }
}

/// The published figure of a point, if the scenario is a preset whose table has it.
fn published(scenario: &Scenario, key: Key, value: &Value, side: Side) -> Option<f64> {
    let _ = (scenario, key, value, side);
    None
}

/// Runs sweeps; clones share one.
#[derive(Clone)]
pub struct Sweeper {
    engine: Rc<RefCell<Engine>>,
    tell: Callback<Point>,
}

impl Sweeper {
    /// Results go to `tell`, in any order.
    pub fn new(tell: Callback<Point>) -> Self {
        Self { engine: Rc::default(), tell }
    }

    /// Drops what is waiting and starts these jobs.
    pub fn start(&self, jobs: Vec<Job>) {
        let first = {
            let e = &mut *self.engine.borrow_mut();
            e.queue = jobs.into();
            e.own = None;
            !std::mem::replace(&mut e.started, true)
        };
        if first {
            self.hire();
        }
        self.hand_out();
    }

    /// Starts the workers, as far as the browser allows.
    fn hire(&self) {
        let Some(address) = boot_address() else { return };
        let cores = dom::window().navigator().hardware_concurrency() as usize;
        for i in 0..cores.saturating_sub(1).clamp(1, MAX_WORKERS) {
            let options = WorkerOptions::new();
            options.set_type(WorkerType::Module);
            let Ok(worker) = Worker::new_with_options(&address, &options) else { return };
            let on_message = {
                let this = self.clone();
                Closure::<dyn FnMut(MessageEvent)>::new(move |e: MessageEvent| this.heard(i, &e))
            };
            let on_error = {
                let this = self.clone();
                Closure::<dyn FnMut(Event)>::new(move |e: Event| {
                    e.prevent_default();
                    this.lost(i);
                })
            };
            worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
            worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
            let hand = Hand { worker, ready: false, job: None, _on_message: on_message, _on_error: on_error };
            self.engine.borrow_mut().hands.push(Some(hand));
        }
    }

    /// A worker says that it is there (no value), or brings a result.
    fn heard(&self, i: usize, e: &MessageEvent) {
        let point = unpack::<Option<Point>>(e).flatten();
        if let Some(Some(hand)) = self.engine.borrow_mut().hands.get_mut(i) {
            hand.ready = true;
            hand.job = None;
        }
        self.hand_out();
        if let Some(p) = point {
            self.tell.emit(p);
        }
    }

    /// A worker failed: its job goes back, to another or to this thread.
    fn lost(&self, i: usize) {
        {
            let e = &mut *self.engine.borrow_mut();
            if let Some(hand) = e.hands.get_mut(i).and_then(Option::take) {
                hand.worker.terminate();
                e.queue.extend(hand.job);
            }
        }
        self.hand_out();
    }

    fn hand_out(&self) {
        let e = &mut *self.engine.borrow_mut();
        for hand in e.hands.iter_mut().flatten().filter(|h| h.ready && h.job.is_none()) {
            let Some(job) = e.queue.pop_front() else { return };
            let message = pack(&job);
            let transfer = js_sys::Array::of1(&message.buffer());
            if hand.worker.post_message_with_transfer(&message.buffer(), &transfer).is_ok() {
                hand.job = Some(job);
            } else {
                e.queue.push_front(job);
            }
        }
        if e.hands.iter().flatten().next().is_none() && e.slice.is_none() {
            e.slice = Some(self.slice_later());
        }
    }

    fn slice_later(&self) -> Timeout {
        let this = self.clone();
        Timeout::new(4, move || this.slice())
    }

    /// A slice of work on the page's own thread.
    fn slice(&self) {
        let end = dom::now_ms() + SLICE_MS;
        let mut points = Vec::new();
        {
            let e = &mut *self.engine.borrow_mut();
            while dom::now_ms() < end {
                let Some((job, mut sim)) = e.own.take().or_else(|| e.queue.pop_front().map(Self::begin)) else { break };
                let Some(s) = &mut sim else {
                    points.push(job.point(None));
                    continue;
                };
                match s.advance(u64::MAX, SLICE_EVENTS, &mut ()) {
                    Advance::Budget => e.own = Some((job, sim)),
                    _ => points.push(job.point(Some(s.stats().bytes_per_sec()))),
                }
            }
            let more = e.own.is_some() || !e.queue.is_empty();
            e.slice = more.then(|| self.slice_later());
        }
        for p in points {
            self.tell.emit(p);
        }
    }

    fn begin(job: Job) -> (Job, Option<Simulation>) {
        let sim = simulation(&job.link, job.side());
        (job, sim)
    }
}

/// The worker's start script with the hashed names of this very build.
fn boot_address() -> Option<String> {
    let find = |selector: &str| {
        let link: HtmlLinkElement = dom::document().query_selector(selector).ok()??.dyn_into().ok()?;
        Some(link.href().rsplit('/').next()?.to_string())
    };
    let js = find("link[rel=modulepreload]")?;
    let wasm = find("link[type='application/wasm']")?;
    Some(["./static/boot.js?js=", &js, "&wasm=", &wasm].concat())
}
