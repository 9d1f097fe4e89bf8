//! What can be sent: the link, text for documents, a file.
//!
//! Models: nothing.
//! Rule: opens in the page, not over it; where the clipboard is refused, the text stands selected. Not in frames.
//! Leaves out: the texts (`bioscope-scenario`).

use bioscope_scenario::snippet::{Form, snippet};
use wasm_bindgen::JsCast;
use web_sys::HtmlSelectElement;
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::Msg;
use crate::markup::{click, list, markup, on};

/// Id of the field with the link: selected when it appears.
pub const LINK_ID: &str = "share-url";
/// Id of the field with the text for documents.
pub const TEXT_ID: &str = "share-text";
/// Longer links are cut by some programs.
const LONG: usize = 2_000;

/// A moment to send.
pub struct Share {
    /// Address of the page's folder.
    pub base: String,
    pub fragment: String,
    pub title: String,
    /// Of the preset.
    pub name: &'static str,
    /// Name of files, without an ending: preset and time.
    pub file_name: String,
    /// Nothing differs from the preset: its own page says it all.
    pub plain: bool,
    /// The scenario as a file.
    pub file: String,
    /// The chosen text, by its place among [`Form::ALL`].
    pub form: usize,
    /// What is in the clipboard: the field of this id.
    pub copied: Option<&'static str>,
}

impl Share {
    /// The link.
    pub fn link(&self) -> String {
        if self.plain {
            return [&self.base, "p/", self.name, ".html"].concat();
        }
        [&self.base, "#", &self.fragment].concat()
    }
    /// The text for documents.
    pub fn text(&self) -> String {
        snippet(Form::ALL[self.form], &self.base, &self.fragment, &self.title, &self.file_name)
    }
}

/// The panel.
pub fn view(share: &Share, say: &Callback<Msg>) -> Html {
    let link = [&share.base, "#", &share.fragment].concat();
    let short = share.plain.then(|| {
        markup!(r#"<p class="short">Short: <a data-testid="share-short" href="# (share.link()) ">" (share.link()) "</a></p>")
    });
    let long = (link.len() > LONG).then(|| {
        let n = bioscope_stage::text::thousands(link.len() as u64);
        let words =
            ["This link has ", &n, " characters; some programs cut links at 2,000. The file has no such limit."];
        markup!(r#"<p class="long" role="status" data-testid="share-long">"# (words.concat()) "</p>")
    });
    let choose = {
        let say = say.clone();
        on(
            || ListenerKind::onchange,
            move |e| {
                let at =
                    e.target().and_then(|t| t.dyn_into::<HtmlSelectElement>().ok()).map_or(0, |s| s.selected_index());
                say.emit(Msg::ShareAs(at as usize));
            },
        )
    };
    let options = list(Form::ALL.iter().enumerate().map(|(i, form)| {
        markup!("<option key=" (form.title()) " value=" (form.title()) " selected=" (i == share.form) ">" (form.title()) "</option>")
    }));
    let word = |id| if share.copied == Some(id) { "Copied" } else { "Copy" };
    let text = share.text();
    let file = ["data:text/plain;charset=utf-8,", &String::from(js_sys::encode_uri_component(&share.file))].concat();
    markup!(r#"
        <section class="share" aria-label="Share this moment">
            <label for="share-url">Link</label>
            <input id="share-url" data-testid="share-url" readonly="" value="# (link) r#" />
            <button data-testid="share-copy-link" onclick="# (click(say, Msg::Copy(LINK_ID))) ">" (word(LINK_ID)) r#"</button>
            <label for="share-as">Text for a document</label>
            <textarea id="share-text" data-testid="share-text" readonly="" spellcheck="false" aria-label="Text for a document" rows="# (text.lines().count().clamp(2, 6).to_string()) " value=" (text) r#"></textarea>
            <div class="share-do">
                <select id="share-as" data-testid="share-as" onchange="# (choose) ">" (options) r#"</select>
                <button data-testid="share-copy" onclick="# (click(say, Msg::Copy(TEXT_ID))) ">" (word(TEXT_ID)) r#"</button>
                <a class="button" data-testid="share-file" download="# ([&share.file_name, ".bioscope"].concat()) " href=" (file) r#">Download .bioscope</a>
                <button data-testid="share-close" onclick="# (click(say, Msg::CloseShare)) r#">Close</button>
            </div>
            <div class="share-notes">"# (short) "" (long) r#"<p class="unseen" role="status">"# (share.copied.map(|_| "Copied.")) "</p></div>
        </section>
    ")
}
