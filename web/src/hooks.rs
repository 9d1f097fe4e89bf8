//! `window.__bioscope`: what browser tests ask for, there only with `?hooks` in the address.
//!
//! Models: nothing.
//! Rule: answers come from the same code as the page's own runs.
//! Leaves out: everything a reader could want.

use bioscope_lab::bench::{Work, cells_44, rand_zones_128};
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

/// The figures of the lab's `bench` example, under the same names: medians of three runs.
fn bench() -> String {
    let mut lines = String::new();
    let mut add = |name: &str, value: f64| {
        lines.push_str(&[name, " ", &bioscope_stage::text::fixed(value, 3).replace(',', ""), "\n"].concat())
    };
    let (w, s) = median(rand_zones_128);
    add("rand_zones_128_ios_per_s", w.ios as f64 / s);
    add("rand_zones_128_events_per_s", w.events as f64 / s);
    add("rand_zones_128_records_per_s", w.records as f64 / s);
    let (w, s) = median(cells_44);
    add("cells_44_seconds", s);
    add("cells_44_ios_per_s", w.ios as f64 / s);
    add("cells_44_events_per_s", w.events as f64 / s);
    lines
}

fn median(f: fn() -> Work) -> (Work, f64) {
    let mut runs = [(); 3].map(|()| {
        let start = dom::now_ms();
        let work = f();
        ((dom::now_ms() - start) / 1e3, work)
    });
    runs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let [_, (seconds, work), _] = runs;
    (work, seconds)
}
