//! `window.__bioscope`: what browser tests ask for, there only with `?hooks` in the address.
//!
//! Models: nothing.
//! Rule: answers come from the same code as the page's own runs.
//! Leaves out: everything a reader could want.

use bioscope_lab::bench::{cells_44, rand_zones_128};
use bioscope_lab::run;
use bioscope_scenario::scenario::Side;
use bioscope_scenario::{text, validate};
use js_sys::{Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use crate::dom;

/// True when the address asks for the hooks.
pub fn wanted() -> bool {
    dom::query("hooks").is_some()
}

/// Puts them there.
pub fn install() {
    let hooks = Object::new();
    let hash = Closure::<dyn Fn(String) -> String>::new(|link: String| hashes(&link));
    let work = Closure::<dyn Fn(String) -> String>::new(|name: String| work(&name));
    // Setting properties of a fresh object and of the window cannot fail.
    drop(Reflect::set(&hooks, &JsValue::from_str("hash"), hash.as_ref().unchecked_ref()));
    drop(Reflect::set(&hooks, &JsValue::from_str("work"), work.as_ref().unchecked_ref()));
    drop(Reflect::set(&dom::window(), &JsValue::from_str("__bioscope"), &hooks));
    hash.forget();
    work.forget();
}

/// Trace hashes of run A after half of its engine events (rounded down) and at its end.
fn hashes(link: &str) -> String {
    let (scenario, _) = text::decode(text::fragment_of(link));
    match validate(&scenario, Side::A).map(run::hashes) {
        Ok((half, end)) => format!("{half:016x} {end:016x}"),
        Err(_) => "no run can be made of this".to_string(),
    }
}

/// Makes the runs of one of the lab's `bench` figures, and tells how many I/Os, events and records they had; the
/// caller holds the clock.
fn work(name: &str) -> String {
    let w = if name == "cells_44" { cells_44() } else { rand_zones_128() };
    [w.ios, w.events, w.records].map(|n| n.to_string()).join(" ")
}
