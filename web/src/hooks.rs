//! `window.__bioscope`: what browser tests ask for, there only with `?hooks` in the address.
//!
//! Models: nothing.
//! Rule: answers come from the same code as the page's own runs.
//! Leaves out: everything a reader could want.

use bioscope_core::observe::trace::TraceHash;
use bioscope_core::sim::{Advance, Simulation};
use bioscope_scenario::scenario::Side;
use bioscope_scenario::text;
use js_sys::{Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};

use crate::dom;
use crate::sweep::simulation;

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

fn run(sim: &mut Simulation, max_events: u64) -> TraceHash {
    let mut hash = TraceHash::default();
    let mut left = max_events;
    while left > 0 {
        let before = sim.events();
        if sim.advance(u64::MAX, left, &mut hash) != Advance::Budget {
            break;
        }
        left = left.saturating_sub(sim.events() - before);
    }
    hash
}

/// Trace hashes of run A after half of its engine events (rounded down) and at its end.
fn hashes(link: &str) -> String {
    let link = text::fragment_of(link);
    let (Some(mut whole), Some(mut half)) = (simulation(link, Side::A), simulation(link, Side::A)) else {
        return "no run can be made of this".to_string();
    };
    let end = run(&mut whole, u64::MAX);
    let middle = run(&mut half, whole.events() / 2);
    format!("{:016x} {:016x}", middle.hash, end.hash)
}

/// Speed of the heaviest preset: lines of name, value, unit.
fn bench() -> String {
    let (mut scenario, _) = text::decode("v=1&p=smr-rand-zones&size=128z");
    scenario = scenario.for_sweep();
    let Some(mut sim) = simulation(&text::encode(&scenario), Side::A) else { return String::new() };
    let start = dom::now_ms();
    while sim.advance(u64::MAX, u64::MAX, &mut ()) == Advance::Budget {}
    let seconds = (dom::now_ms() - start) / 1e3;
    let per_sec = |n: u64| (n as f64 / seconds) as u64;
    let ios = per_sec(sim.stats().total_ios);
    format!("simulated I/Os, smr-rand-zones at 128 zones\t{ios}\t1/s\nengine events\t{}\t1/s\n", per_sec(sim.events()))
}
