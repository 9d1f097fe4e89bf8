//! The bar at the top: presets, comparison, link, theme, keys.
//!
//! Models: nothing.
//! Rule: controls of features that are not built are absent.
//! Leaves out: what the choices do ([`crate::app`]).

use bioscope_scenario::preset::{PRESETS, Preset};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::Msg;
use crate::components::share::{self, Share};
use crate::dom;
use crate::markup::{click, list, markup, on, yes};
use crate::theme::Theme;

/// Id of the list of presets.
pub const PRESET_ID: &str = "preset";
/// Id of the button that opens the link, and has the focus again when that closes.
pub const SHARE_BUTTON_ID: &str = "share";

/// What the bar is drawn from.
pub struct BarView<'a> {
    pub preset: Option<&'static Preset>,
    pub compared: bool,
    pub theme: Theme,
    /// What is to be sent, while it is shown.
    pub share: Option<&'a Share>,
    pub say: &'a Callback<Msg>,
}

/// The bar.
pub fn view(props: &BarView) -> Html {
    let say = props.say;
    let open = {
        let say = say.clone();
        on(
            || ListenerKind::onchange,
            move |e| {
                let name = e.target_unchecked_into::<HtmlSelectElement>().value();
                if let Some(p) = bioscope_scenario::preset::find(&name) {
                    say.emit(Msg::Open(p));
                }
            },
        )
    };
    let file = {
        let say = say.clone();
        on(
            || ListenerKind::onchange,
            move |e| {
                let input: HtmlInputElement = e.target_unchecked_into();
                if let Some(file) = input.files().and_then(|f| f.get(0)) {
                    dom::read(file, say.reform(|(name, text)| Msg::File(name, text)));
                }
                // The same file can be chosen again.
                input.set_value("");
            },
        )
    };
    let theme = AttrValue::from(["Theme: ", props.theme.word()].concat());
    let chosen = props.preset.map_or("", |p| p.name);
    let none = props.preset.is_none().then(|| markup!(r#"<option key="none" value="" selected="">No preset</option>"#));
    let presets = list(PRESETS.iter().map(|p| {
        markup!("<option key=" (p.name) " value=" (p.name) " selected=" (p.name == chosen) ">" (p.title) "</option>")
    }));
    markup!(r#"
        <header key="bar" class="bar">
            <button key="drawer" class="drawer-button" data-testid="drawer" aria-label="Settings" onclick="# (click(say, Msg::Drawer(true))) r#">
                <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M3 6h14M3 10h14M3 14h14" /></svg>
            </button>
            <h1 key="name">
                <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" class="mark">
                    <circle cx="12" cy="12" r="10" /><circle cx="12" cy="12" r="5.5" /><path d="M12 12 18 5" /><circle class="hub" cx="12" cy="12" r="2" />
                </svg>
                <span>bioscope</span>
            </h1>
            <label key="preset" class="preset">
                <span class="unseen">Preset</span>
                <select id="preset" data-testid="preset" onchange="# (open) ">" (none) "" (presets) r#"</select>
            </label>
            <div key="mode" class="switch" role="group" aria-label="Runs">
                <button key="single" aria-pressed="# (yes(!props.compared)) " onclick=" (click(say, Msg::Compare(false))) r#">Single</button>
                <button key="compare" aria-pressed="# (yes(props.compared)) " onclick=" (click(say, Msg::Compare(true))) r#"><span class="narrow-off">Compare </span>A|B</button>
            </div>
            <div key="right" class="bar-right">
                <a key="docs" class="button narrow-off" href="./book/index.html" data-testid="docs">Docs</a>
                <label key="open" class="button narrow-off" title="Open a .bioscope file; dropping one on the page does the same">Open file<input
                    type="file" class="unseen" accept=".bioscope,text/plain" data-testid="open-file" onchange="# (file) r#" /></label>
                <button key="share" class="primary" id="share" data-testid="share" aria-expanded="# (yes(props.share.is_some())) " onclick=" (click(say, Msg::Share)) r#">Share<span class="narrow-off"> link</span></button>
                <button key="theme" class="square" data-testid="theme" aria-label="# (theme.clone()) " title=" (theme) " onclick=" (click(say, Msg::NextTheme)) r#">
                    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" class="theme-icon">
                        <circle cx="10" cy="10" r="6.5" /><path d="M10 3.5a6.5 6.5 0 0 1 0 13z" />
                    </svg>
                </button>
                <button key="keys" class="square narrow-off" aria-label="Keys" title="Keys (?)" onclick="# (click(say, Msg::Keys(true))) r#">?</button>
            </div>
            <div key="link" class="share-place">"# (props.share.map(|s| share::view(s, say))) "</div>
        </header>
    ")
}

/// The bar of a frame: what is shown, and the way to all of it.
pub fn embedded(title: &'static str, changes: &str, fragment: &str) -> Html {
    let href = ["./index.html#", fragment].concat();
    markup!(r#"
        <header key="bar" class="bar">
            <h1 key="name">"# (title) r#"</h1>
            <code key="changes">"# (changes.to_string()) r#"</code>
            <a key="full" data-testid="open-full" target="_blank" rel="noopener" href="# (href) ">Open full simulator</a>
        </header>
    ")
}
