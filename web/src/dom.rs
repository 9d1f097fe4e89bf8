//! The few things the page asks of the browser, with errors turned into `None`.
//!
//! Models: nothing.
//! Rule: storage, clipboard and media queries may be refused (frames, policies); nothing here panics for that.
//! Leaves out: what is done with the answers.

use wasm_bindgen::JsCast;
use web_sys::{
    Document, Element, File, HtmlElement, HtmlInputElement, HtmlSelectElement, HtmlTextAreaElement, MediaQueryList,
    Storage, Window,
};
use yew::Callback;

/// Files are read up to this size, bytes.
const MAX_FILE: f64 = 1_048_576.0;

/// The window. The page role always has one.
pub fn window() -> Window {
    gloo::utils::window()
}
/// Its document.
pub fn document() -> Document {
    gloo::utils::document()
}
/// The `<html>` element.
pub fn root() -> Option<HtmlElement> {
    document().document_element()?.dyn_into().ok()
}
/// Wall time in ms.
pub fn now_ms() -> f64 {
    window().performance().map_or(0.0, |p| p.now())
}
/// Device pixels per CSS pixel.
pub fn pixel_ratio() -> f64 {
    window().device_pixel_ratio().max(1.0)
}
/// A media query, where the browser knows them.
pub fn media(query: &str) -> Option<MediaQueryList> {
    window().match_media(query).ok()?
}
/// True when the reader asked for less motion.
pub fn reduced_motion() -> bool {
    media("(prefers-reduced-motion: reduce)").is_some_and(|m| m.matches())
}
/// Sets or clears `data-NAME` of `<html>`.
pub fn set_flag(name: &str, value: Option<&str>) {
    if let Some(root) = root() {
        // The names are ours and valid, so that setting cannot fail.
        match value {
            Some(v) => drop(root.dataset().set(name, v)),
            None => root.dataset().delete(name),
        }
    }
}
/// Sets a style property through the object model, which the content security policy allows.
pub fn set_style(element: &Element, property: &str, value: &str) {
    if let Some(e) = element.dyn_ref::<HtmlElement>() {
        drop(e.style().set_property(property, value));
    }
}

/// A value of the address's query, by name; empty without one.
pub fn query(name: &str) -> Option<String> {
    let search = window().location().search().ok()?;
    let pairs = search.strip_prefix('?')?.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_string()).next_back()
}

/// Gives an element the focus; a field's text is selected.
pub fn focus(id: &str) {
    let Some(e) = document().get_element_by_id(id).and_then(|e| e.dyn_into::<HtmlElement>().ok()) else { return };
    // An element that is not shown does not take it.
    drop(e.focus());
    if let Some(field) = e.dyn_ref::<HtmlInputElement>() {
        field.select();
    } else if let Some(text) = e.dyn_ref::<HtmlTextAreaElement>() {
        text.select();
    }
}
/// The first element that a selector of ours finds.
pub fn query_selector(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok()?
}
/// What a field or a choice of this id holds.
pub fn value(id: &str) -> Option<String> {
    let field = document().get_element_by_id(id)?;
    match field.dyn_ref::<HtmlSelectElement>() {
        Some(choice) => Some(choice.value()),
        None => field.dyn_ref::<HtmlInputElement>().map(HtmlInputElement::value),
    }
}

/// Shows a value in a list of choices: one made by hand outlives the attribute.
pub fn choose(id: &str, value: &str) {
    let list = document().get_element_by_id(id).and_then(|e| e.dyn_into::<HtmlSelectElement>().ok());
    if let Some(list) = list.filter(|l| l.value() != value) {
        list.set_value(value);
    }
}
/// A length in CSS pixels.
pub fn px(v: f32) -> String {
    [&(v as i32).to_string(), "px"].concat()
}

fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
/// A remembered preference.
pub fn recall(key: &str) -> Option<String> {
    storage()?.get_item(key).ok()?
}
/// Remembers a preference where that is allowed.
pub fn remember(key: &str, value: &str) {
    if let Some(s) = storage() {
        drop(s.set_item(key, value));
    }
}

/// The last words after an internal error: a panel over the page. `place` = file and line.
pub fn say_stopped(place: &str) {
    let panel = document().create_element("div").ok();
    if let (Some(p), Some(body)) = (panel, document().body()) {
        p.set_class_name("stopped");
        drop(p.set_attribute("role", "alert"));
        p.set_text_content(Some(
            &["The simulator stopped because of a mistake in it (", place, "). Reloading the page starts it again."]
                .concat(),
        ));
        drop(body.append_child(&p));
    }
}

/// Reads a file that a reader chose or dropped; `done` gets its name and text, `None` if it cannot be read.
pub fn read(file: File, done: Callback<(String, Option<String>)>) {
    yew::platform::spawn_local(async move {
        // A scenario is a few lines: what is far too long to be one is not read.
        let text = match file.size() < MAX_FILE {
            true => wasm_bindgen_futures::JsFuture::from(file.text()).await.ok(),
            false => None,
        };
        done.emit((file.name(), text.and_then(|t| t.as_string())));
    });
}

/// Copies a text where that is allowed; `done` hears of success only.
pub fn copy(text: &str, done: Callback<()>) {
    let clipboard = window().navigator().clipboard();
    // Absent on pages without a secure origin.
    if clipboard.is_undefined() {
        return;
    }
    let promise = clipboard.write_text(text);
    yew::platform::spawn_local(async move {
        if wasm_bindgen_futures::JsFuture::from(promise).await.is_ok() {
            done.emit(());
        }
    });
}
