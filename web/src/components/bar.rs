//! The bar at the top: presets, comparison, link, theme, keys.
//!
//! Models: nothing.
//! Rule: controls of features that are not built are absent.
//! Leaves out: what the choices do ([`crate::app`]).

use bioscope_scenario::preset::{PRESETS, Preset};
use web_sys::HtmlSelectElement;
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::Msg;
use crate::markup::{click, list, markup, on, yes};
use crate::theme::Theme;

/// Id of the list of presets.
pub const PRESET_ID: &str = "preset";
/// Id of the field with the link: selected when it appears, which is what is left where the clipboard is refused.
pub const SHARE_ID: &str = "share-url";
/// What a click on does not close the box with the link.
pub const SHARE_PLACES: &str = ".share, .share *, .share-button, .share-button *";

/// What the bar is drawn from.
pub struct BarView<'a> {
    pub preset: Option<&'static Preset>,
    pub compared: bool,
    pub theme: Theme,
    /// The link to be copied, while it is shown, and whether copying worked.
    pub share: Option<&'a (AttrValue, bool)>,
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
                <button key="share" class="primary share-button" data-testid="share" onclick="# (click(say, Msg::Share)) r#">Share<span class="narrow-off"> link</span></button>
                <button key="theme" class="square" data-testid="theme" aria-label="# (theme.clone()) " title=" (theme) " onclick=" (click(say, Msg::NextTheme)) r#">
                    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" class="theme-icon">
                        <circle cx="10" cy="10" r="6.5" /><path d="M10 3.5a6.5 6.5 0 0 1 0 13z" />
                    </svg>
                </button>
                <button key="keys" class="square narrow-off" aria-label="Keys" title="Keys (?)" onclick="# (click(say, Msg::Keys(true))) r#">?</button>
            </div>
            <div key="link" class="share-place">"# (props.share.map(|s| share(s, say))) "</div>
        </header>
    ")
}

fn share((link, copied): &(AttrValue, bool), say: &Callback<Msg>) -> Html {
    let words = if *copied { "Link copied." } else { "Copy this link:" };
    markup!(r#"
        <div class="share">
            <label>
                <span>"# (words) r#"</span>
                <input id="share-url" data-testid="share-url" readonly="" value="# (link.clone()) r#" />
            </label>
            <button aria-label="Close" onclick="# (click(say, Msg::CloseShare)) ">×</button>
        </div>
    ")
}
