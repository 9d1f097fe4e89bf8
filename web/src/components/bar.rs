//! The bar at the top: presets, comparison, link, theme, keys.
//!
//! Models: nothing.
//! Rule: controls of features that are not built are absent.
//! Leaves out: what the choices do ([`crate::app`]).

use bioscope_scenario::preset::{PRESETS, Preset};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use crate::app::Msg;
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
    let say = |m: fn() -> Msg| props.say.reform(move |_: MouseEvent| m());
    let open = {
        let say = props.say.clone();
        Callback::from(move |e: Event| {
            let name = e.target_unchecked_into::<HtmlSelectElement>().value();
            if let Some(p) = bioscope_scenario::preset::find(&name) {
                say.emit(Msg::Open(p));
            }
        })
    };
    let theme = ["Theme: ", props.theme.word()].concat();
    let chosen = props.preset.map_or("", |p| p.name);
    let pressed = |on: bool| if on { "true" } else { "false" };
    html! {
        <header key="bar" class="bar">
            <button key="drawer" class="drawer-button" data-testid="drawer" onclick={say(|| Msg::Drawer(true))} aria-label="Settings">
                <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true"><path d="M3 6h14M3 10h14M3 14h14" /></svg>
            </button>
            <h1 key="name">
                <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true" class="mark">
                    <circle cx="12" cy="12" r="10" /><circle cx="12" cy="12" r="5.5" /><path d="M12 12 18 5" /><circle class="hub" cx="12" cy="12" r="2" />
                </svg>
                <span>{"bioscope"}</span>
            </h1>
            <label key="preset" class="preset">
                <span class="unseen">{"Preset"}</span>
                <select id={PRESET_ID} data-testid="preset" onchange={open}>
                    if props.preset.is_none() {
                        <option key="none" value="" selected=true>{"No preset"}</option>
                    }
                    { for PRESETS.iter().map(|p| html! {
                        <option key={p.name} value={p.name} selected={p.name == chosen}>{p.title}</option>
                    }) }
                </select>
            </label>
            <div key="mode" class="switch" role="group" aria-label="Runs">
                <button key="single" aria-pressed={pressed(!props.compared)} onclick={say(|| Msg::Compare(false))}>{"Single"}</button>
                <button key="compare" aria-pressed={pressed(props.compared)} onclick={say(|| Msg::Compare(true))}><span class="narrow-off">{"Compare "}</span>{"A|B"}</button>
            </div>
            <div key="right" class="bar-right">
                <button key="share" class="primary share-button" data-testid="share" onclick={say(|| Msg::Share)}>{"Share"}<span class="narrow-off">{" link"}</span></button>
                <button key="theme" class="square" data-testid="theme" onclick={say(|| Msg::NextTheme)}
                    aria-label={theme.clone()} title={theme}>
                    <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" class="theme-icon">
                        <circle cx="10" cy="10" r="6.5" /><path d="M10 3.5a6.5 6.5 0 0 1 0 13z" />
                    </svg>
                </button>
                <button key="keys" class="square narrow-off" onclick={say(|| Msg::Keys(true))} aria-label="Keys" title="Keys (?)">{"?"}</button>
            </div>
            <div key="link" class="share-place">
                if let Some((link, copied)) = props.share {
                    <div class="share">
                        <label>
                            <span>{if *copied { "Link copied." } else { "Copy this link:" }}</span>
                            <input id={SHARE_ID} data-testid="share-url" readonly=true value={link.clone()} />
                        </label>
                        <button onclick={say(|| Msg::CloseShare)} aria-label="Close">{"×"}</button>
                    </div>
                }
            </div>
        </header>
    }
}
