//! `window.__bioscope`: what browser tests ask for, there only with `?hooks` in the address.
//!
//! Models: nothing.
//! Rule: answers come from the same code as the page's own runs.
//! Leaves out: everything a reader could want.

use bioscope_lab::run;
use bioscope_scenario::scenario::Side;
use bioscope_scenario::{text, validate};
use js_sys::{Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use crate::dom;

/// True when the address asks for the hooks.
pub fn wanted() -> bool {
    dom::window().location().search().is_ok_and(|s| s == "?hooks")
}

/// Puts them there.
pub fn install() {
    let hooks = Object::new();
    let hash = Closure::<dyn Fn(String) -> String>::new(|link: String| hashes(&link));
    let bench = Closure::<dyn Fn() -> String>::new(bench);
    // Setting properties of a fresh object and of the window cannot fail.
    drop(Reflect::set(&hooks, &JsValue::from_str("hash"), hash.as_ref().unchecked_ref()));
    drop(Reflect::set(&hooks, &JsValue::from_str("bench"), bench.as_ref().unchecked_ref()));
    drop(Reflect::set(&dom::window(), &JsValue::from_str("__bioscope"), &hooks));
    hash.forget();
    bench.forget();
}

/// Trace hashes of run A after half of its engine events (rounded down) and at its end.
fn hashes(link: &str) -> String {
    let (scenario, _) = text::decode(text::fragment_of(link));
    match validate(&scenario, Side::A).map(run::hashes) {
        Ok((half, end)) => format!("{half:016x} {end:016x}"),
        Err(_) => "no run can be made of this".to_string(),
    }
}

/// Speed of the heaviest row: lines of name, value, unit.
fn bench() -> String {
    let (scenario, _) = text::decode("v=1&p=smr-rand-zones&size=128z");
    let Ok(cfg) = validate(&scenario.for_sweep(), Side::A) else { return String::new() };
    let start = dom::now_ms();
    let outcome = run::run(cfg);
    let seconds = (dom::now_ms() - start) / 1e3;
    let per_sec = |n: u64| (n as f64 / seconds) as u64;
    let (ios, events) = (per_sec(outcome.stats.total_ios), per_sec(outcome.events));
    format!("simulated I/Os, smr-rand-zones at 128 zones\t{ios}\t1/s\nengine events\t{events}\t1/s\n")
}
