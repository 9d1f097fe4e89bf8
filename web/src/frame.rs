//! The page around this one, when this one is in a frame: messages of version 1, both ways.
//!
//! Models: nothing.
//! Rule: hears the parent alone and says nothing before its first ping; what is not of this protocol is ignored in
//! silence, a wrong value in it gets an `error`. Wishes are gathered for a moment and only the latest of a kind is
//! done, so that no flood of them keeps the page busy. Times are ns, heights CSS pixels.
//! Leaves out: what the wishes do ([`crate::app`]); docs have every field.

use std::cell::RefCell;
use std::rc::Rc;

use bioscope_core::MODEL_VERSION;
use bioscope_session::Moment;
use gloo::events::EventListener;
use gloo::timers::callback::Timeout;
use js_sys::{Array, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{MessageEvent, Window};
use yew::Callback;

use crate::dom;
use crate::theme::Theme;

/// Longest fragment that is read, bytes.
const MAX_FRAGMENT: usize = 16 * 1024;
/// Wishes are gathered for so long, ms: about a frame, which a page off the screen does not have.
const GATHER_MS: u32 = 16;
/// Wrong values that are answered of one gathering.
const MAX_WRONG: usize = 100;

/// What the parent wants.
#[derive(Clone)]
pub enum Ask {
    /// With its origin, where answers go.
    Ping(String),
    Load(String),
    Play,
    Pause,
    Seek(Moment),
    Theme(Theme),
    /// Of this protocol, with a wrong value.
    Wrong(String),
}

impl Ask {
    /// True if the older wish need not be done any more.
    fn replaces(&self, older: &Ask) -> bool {
        match self {
            Ask::Ping(_) => matches!(older, Ask::Ping(_)),
            Ask::Load(_) => matches!(older, Ask::Load(_) | Ask::Seek(_) | Ask::Play | Ask::Pause),
            Ask::Play | Ask::Pause => matches!(older, Ask::Play | Ask::Pause),
            Ask::Seek(_) => matches!(older, Ask::Seek(_)),
            Ask::Theme(_) => matches!(older, Ask::Theme(_)),
            Ask::Wrong(_) => false,
        }
    }
}

/// Adds a wish to those gathered.
fn gather(asks: &mut Vec<Ask>, new: Ask) {
    asks.retain(|older| !new.replaces(older));
    if asks.len() < MAX_WRONG || !matches!(new, Ask::Wrong(_)) {
        asks.push(new);
    }
}

/// The parent.
pub struct Parent {
    window: Window,
    /// Of its last ping: where answers go.
    origin: RefCell<Option<String>>,
    _listener: EventListener,
}

fn field(data: &JsValue, name: &str) -> JsValue {
    // Messages are copies: nothing is called by reading them.
    Reflect::get(data, &JsValue::from_str(name)).unwrap_or(JsValue::UNDEFINED)
}

/// A whole number from 0, as far as floats have them.
fn whole(value: &JsValue) -> Option<u64> {
    value.as_f64().filter(|v| (0.0..9_007_199_254_740_992.0).contains(v)).map(|v| v as u64)
}

fn ask(e: &MessageEvent) -> Option<Ask> {
    let data = &e.data();
    if !data.is_object() || field(data, "bioscope").as_f64() != Some(1.0) {
        return None;
    }
    let wrong = |words: &str| Ask::Wrong(words.to_string());
    Some(match field(data, "type").as_string()?.as_str() {
        "ping" => Ask::Ping(e.origin()),
        "play" => Ask::Play,
        "pause" => Ask::Pause,
        "load" => match field(data, "fragment").as_string() {
            Some(text) if text.len() > MAX_FRAGMENT => {
                let n = text.len().to_string();
                Ask::Wrong(["load: fragment has ", &n, " bytes, at most 16384 are read"].concat())
            }
            Some(text) => Ask::Load(text),
            None => wrong("load: fragment is no text"),
        },
        "seek" => match (whole(&field(data, "time_ns")), field(data, "record")) {
            (None, _) => wrong("seek: time_ns is no number of nanoseconds"),
            (Some(time), record) if record.is_undefined() => Ask::Seek(Moment { time, k: None }),
            (Some(time), record) => match whole(&record).and_then(|k| u32::try_from(k).ok()) {
                Some(k) => Ask::Seek(Moment { time, k: (k > 0).then_some(k) }),
                None => wrong("seek: record is no number of a record"),
            },
        },
        "theme" => match field(data, "theme").as_string().as_deref().and_then(Theme::of) {
            Some(theme) => Ask::Theme(theme),
            None => wrong("theme: dark, light or system"),
        },
        _ => return None,
    })
}

impl Parent {
    /// The page around this one; `None` on a page of its own. Its wishes go to `hear`.
    pub fn find(hear: Callback<Ask>) -> Option<Self> {
        let (own, window) = (dom::window(), dom::window().parent().ok()??);
        if JsValue::from(&own) == JsValue::from(&window) {
            return None;
        }
        let parent = JsValue::from(&window);
        let asks = Rc::new(RefCell::new(Vec::new()));
        let listener = EventListener::new(&own, "message", move |e| {
            let e: &MessageEvent = e.unchecked_ref();
            if e.source().is_some_and(|s| JsValue::from(s) == parent)
                && let Some(ask) = ask(e)
            {
                if asks.borrow().is_empty() {
                    let (asks, hear) = (asks.clone(), hear.clone());
                    let done = move || asks.take().into_iter().for_each(|ask| hear.emit(ask));
                    Timeout::new(GATHER_MS, done).forget();
                }
                gather(&mut asks.borrow_mut(), ask);
            }
        });
        Some(Self { window, origin: RefCell::new(None), _listener: listener })
    }

    /// True once it has asked.
    pub fn listens(&self) -> bool {
        self.origin.borrow().is_some()
    }

    /// Answers a ping.
    pub fn pong(&self, origin: String, ready: bool) {
        *self.origin.borrow_mut() = Some(origin);
        let state = if ready { "ready" } else { "loading" };
        self.say("pong", &[("version", 1.into()), ("model", MODEL_VERSION.into()), ("state", state.into())]);
    }

    /// Says something, if it has asked.
    pub fn say(&self, kind: &str, fields: &[(&str, JsValue)]) {
        let origin = self.origin.borrow();
        let Some(origin) = &*origin else { return };
        let message = Object::new();
        let set = |name: &str, value: &JsValue| {
            // A property of a fresh object.
            drop(Reflect::set(&message, &JsValue::from_str(name), value));
        };
        set("bioscope", &1.into());
        set("type", &kind.into());
        for (name, value) in fields {
            set(name, value);
        }
        // An origin without a name cannot be addressed.
        let to = if origin == "null" { "*" } else { origin };
        drop(self.window.post_message(&message, to));
    }

    /// Says what went wrong.
    pub fn complain(&self, words: impl IntoIterator<Item = String>) {
        let words: Array = words.into_iter().map(JsValue::from).collect();
        if words.length() > 0 {
            self.say("error", &[("messages", words.into())]);
        }
    }
}
