//! What the page shows but does not need to run: help, guides, published figures, fetched from `static/words.json`.
//!
//! Models: decisions 34.
//! Rule: asked for once the page is drawn; until it is there, and where it cannot be had, everything else works.
//! Leaves out: making the file (`bioscope words`).

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{RequestCache, RequestInit, Response};
use yew::Callback;

use crate::dom;

/// See the module.
#[derive(Clone, Default, PartialEq)]
pub enum Words {
    /// Not asked for, or under way.
    #[default]
    Waiting,
    /// The parsed file.
    Here(JsValue),
    /// It could not be had.
    Missing,
}

impl Words {
    /// Asks for them; `done` is told once.
    pub fn fetch(done: Callback<Words>) {
        yew::platform::spawn_local(async move {
            done.emit(get().await.map_or(Words::Missing, Words::Here));
        });
    }

    fn get(&self, part: &str, name: &str) -> Option<JsValue> {
        let Words::Here(all) = self else { return None };
        let part = Reflect::get(all, &part.into()).ok()?;
        Reflect::get(&part, &name.into()).ok()
    }
    /// The words of a part (`help`, `look_for`, `source`) about a name.
    pub fn text(&self, part: &str, name: &str) -> Option<String> {
        self.get(part, name)?.as_string()
    }
    /// Published shares of gaps of a preset's run (0: A, 1: B), percent by row; none where there are none.
    pub fn gaps(&self, preset: &str, side: u32) -> Vec<Option<f64>> {
        let rows = || self.get("gaps", preset)?.dyn_into::<Array>().ok()?.get(side).dyn_into::<Array>().ok();
        rows().map_or_else(Vec::new, |rows| rows.iter().map(|v| v.as_f64()).collect())
    }
    /// The published pair (A, B), MiB/s, of a preset's chart at a value.
    pub fn figures(&self, preset: &str, value: &str) -> Option<(f64, f64)> {
        let pair = Reflect::get(&self.get("published", preset)?, &value.into()).ok()?;
        let pair: Array = pair.dyn_into().ok()?;
        Some((pair.get(0).as_f64()?, pair.get(1).as_f64()?))
    }
}

async fn get() -> Option<JsValue> {
    let how = RequestInit::new();
    // Its name has no hash: an older copy may belong to another build.
    how.set_cache(RequestCache::NoCache);
    let answer = JsFuture::from(dom::window().fetch_with_str_and_init("./static/words.json", &how)).await.ok()?;
    let answer: Response = answer.dyn_into().ok()?;
    if !answer.ok() {
        return None;
    }
    JsFuture::from(answer.json().ok()?).await.ok().filter(JsValue::is_object)
}
