//! The sweep behind the throughput chart: jobs handed to workers, results coming back one by one.
//!
//! Models: nothing.
//! Rule: a job is plain data of `bioscope-lab`, so that a worker makes of it exactly what the command would. Where
//! workers are refused the same jobs run here in slices, and nothing else differs.
//! Leaves out: what the results look like.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use bioscope_core::sim::{Advance, Simulation};
use bioscope_lab::chart::{Job, Point};
use bioscope_lab::sweep::{PointResult, point_config};
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
                let mut mib_per_s = None;
                if let Some(s) = &mut sim {
                    if s.advance(u64::MAX, SLICE_EVENTS, &mut ()) == Advance::Budget {
                        e.own = Some((job, sim));
                        continue;
                    }
                    mib_per_s = Some(s.stats().bytes_per_sec() / 1_048_576.0);
                }
                let events = sim.map_or(0, |s| s.events());
                points.push((job.0, PointResult { index: job.1.index, mib_per_s, events }));
            }
            let more = e.own.is_some() || !e.queue.is_empty();
            e.slice = more.then(|| self.slice_later());
        }
        for p in points {
            self.tell.emit(p);
        }
    }

    fn begin(job: Job) -> (Job, Option<Simulation>) {
        let sim = point_config(&job.1).ok().map(|cfg| Simulation::new(Arc::new(cfg)));
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
