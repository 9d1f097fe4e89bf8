//! The scenario form, one field a row of PARAMS.
//!
//! Models: nothing.
//! Rule: values are typed as people write them and taken on Enter or when the field is left; a bad value stays in its
//! field with its message, and the run keeps the last good one.
//! Leaves out: which parameters there are (`bioscope-scenario`).

use bioscope_scenario::diagnostic::Diagnostic;
use bioscope_scenario::params::{Group, KEYS, Key, Live, Param};
use bioscope_scenario::scenario::{Scenario, Side};
use bioscope_scenario::value::{Unit, Value};
use std::rc::Rc;
use wasm_bindgen::JsCast;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;
use yew::virtual_dom::ListenerKind;

use crate::app::{Msg, Typed};
use crate::markup::{click, list, markup, on, yes};
use crate::shared::Shared;
use crate::words::Words;

#[derive(Properties, PartialEq)]
pub struct FormProps {
    pub scenario: Shared<Scenario>,
    /// Texts that are not values yet.
    pub typed: Shared<Vec<Typed>>,
    pub diagnostics: Shared<Vec<Diagnostic>>,
    /// Help of the settings.
    pub words: Words,
    pub compared: bool,
    pub advanced: bool,
    /// What is about to be written while the run goes on.
    pub writing: Option<Key>,
    pub say: Callback<Msg>,
}

/// The form. Renders only when a setting, a message or the comparison changes.
pub struct Form;

impl Component for Form {
    type Message = ();
    type Properties = FormProps;

    fn create(_: &Context<Self>) -> Self {
        Form
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        form(ctx.props())
    }
}

fn form(props: &FormProps) -> Html {
    let s = &props.scenario;
    let shown = |group: Group| {
        KEYS.iter().copied().filter(move |k| {
            let p = Param::of(*k);
            let told = props.diagnostics.iter().any(|d| named(d, p.key)) || props.typed.iter().any(|t| t.key == *k);
            let wanted = props.advanced || !p.advanced || s.is_changed(*k) || s.b_value(*k).is_some();
            p.group == group
                && (told || wanted && (s.in_effect(Side::A, *k) || props.compared && s.in_effect(Side::B, *k)))
        })
    };
    let groups = list(Group::ALL.into_iter().map(|g| {
        markup!("<fieldset key=" (g.title()) "><legend>" (g.title()) "</legend>" (list(shown(g).map(|k| row(props, k)))) "</fieldset>")
    }));
    let (more, words) = (
        click(&props.say, Msg::Advanced(!props.advanced)),
        if props.advanced { "Fewer settings" } else { "All settings" },
    );
    markup!(r#"
        <div class="form">"# (groups) r#"
            <button key="more" class="more" aria-expanded="# (yes(props.advanced)) " onclick=" (more) ">" (words) "</button>
        </div>
    ")
}

/// True if the message is about this parameter, on either side.
fn named(d: &Diagnostic, key: &str) -> bool {
    d.key.strip_prefix("b.").unwrap_or(&d.key) == key
}

fn row(props: &FormProps, key: Key) -> Html {
    let s = &props.scenario;
    let p = Param::of(key);
    let changed = s.is_changed(key);
    let own_b = props.compared && s.b_value(key).is_some();
    let messages = messages(props, key);
    let field = |side: Side| {
        let typed = props.typed.iter().find(|t| t.side == side && t.key == key);
        let bad = typed.is_some() || props.diagnostics.iter().any(|d| d.is_error() && d.key == full_key(side, p.key));
        let auto = (*s.value(side, key) == Value::Auto).then(|| p.print(&s.resolved(side, key)));
        html! {
            <Field key={full_key(side, p.key)} {side} param={key} value={typed.map_or_else(|| s.text(side, key), |t| t.text.clone())}
                {auto} {bad} compared={own_b} say={props.say.clone()} />
        }
    };
    let class = ["row", if changed { " changed" } else { "" }, if own_b { " pair" } else { "" }].concat();
    let tool = |key: &'static str, msg: Msg, label: [&str; 3], title: &'static str, sign: &'static str| markup!("<button key=" (key) " aria-label=" (label.concat()) " title=" (title) " onclick=" (click(&props.say, msg)) ">" (sign) "</button>");
    let reset = changed.then(|| tool("reset", Msg::Reset(key), ["Reset ", p.key, ""], "Reset", "↺"));
    // While B is A up to a moment, only what can change in a run may differ.
    let fixed = s.fork.is_some() && p.live == Live::No;
    let other = (props.compared && key != Key::Seed).then(|| match own_b {
        false if fixed => {
            let label = [p.key, " in B needs a new run"].concat();
            markup!(r#"<button key="fixed" disabled="" title="B needs a new run for this" aria-label="# (label) ">≠</button>")
        }
        true => tool("same", Msg::Same(key), ["", p.key, " the same in A and B"], "The same in A and B", "="),
        false => tool("differ", Msg::Differ(key), ["Another ", p.key, " in B"], "Another value in B", "≠"),
    });
    let write = (p.live == Live::Sysfs).then(|| {
        let (open, label) = (props.writing == Some(key), ["Write ", p.key, " now"].concat());
        let title = "Write it at this moment: the run goes on from here";
        markup!("<button key=\"write\" class=\"write-open\" data-testid=" (["write-open-", p.key].concat()) " aria-label=" (label) " title=" (title)
            " aria-expanded=" (yes(open)) " onclick=" (click(&props.say, Msg::Writing(Some(key).filter(|_| !open)))) r#"><svg viewBox="0 0 20 20" width="14" height="14" aria-hidden="true"><path d="M4 16l1-4 8-8 3 3-8 8zM11 6l3 3" /></svg></button>"#)
    });
    let now = (props.writing == Some(key)).then(|| write_now(props, key));
    let dot =
        changed.then(|| markup!(r#"<span class="dot" title="Changed"><span class="unseen">changed </span></span>"#));
    // Long names break after an underscore.
    let parts = list(p.key.split_inclusive('_').map(|part| markup!("" (part) "<wbr />")));
    let id = AttrValue::from(["msg-", p.key].concat());
    markup!("
        <div key=" (p.key) " class=" (class) r#">
            <label key="label" for="# (["field-", p.key].concat()) " title=" (props.words.text("help", p.key)) ">" (dot) "" (parts) r#"</label>
            <div key="fields" class="fields">"# (field(Side::A)) "" (own_b.then(|| field(Side::B))) r#"</div>
            <div key="tools" class="tools">"# (write) "" (reset) "" (other) r#"</div>
            <div key="now" class="now">"# (now) r#"</div>
            <div key="messages" class="messages" aria-live="polite" id="# (id.clone()) " data-testid=" (id) ">"
                (list(messages.into_iter().map(|m| markup!("<p>" (m) "</p>")))) "</div>
        </div>
    ")
}

/// A value, and into which run it is written at the moment that is shown.
fn write_now(props: &FormProps, key: Key) -> Html {
    let p = Param::of(key);
    let id = AttrValue::from([WRITE_ID, p.key].concat());
    let label = AttrValue::from(["echo … > queue/", p.key].concat());
    let now = props.scenario.text(Side::A, key);
    let field = match choices(p) {
        Some(words) => {
            // The other one is what somebody wants who writes.
            let first = words.iter().find(|w| **w != now).copied().unwrap_or_default();
            let options =
                list(words.iter().map(
                    |w| markup!("<option key=" (*w) " value=" (*w) " selected=" (*w == first) ">" (*w) "</option>"),
                ));
            markup!("<select id=" (id.clone()) " data-testid=" (id) " aria-label=" (label) ">" (options) "</select>")
        }
        None => {
            let say = props.say.clone();
            let enter = on(
                || ListenerKind::onkeydown,
                move |e| {
                    if e.dyn_ref::<KeyboardEvent>().is_some_and(|k| k.key() == "Enter") {
                        say.emit(Msg::WriteNow(Side::A, key));
                    }
                },
            );
            markup!(r#"<input size="4" autocomplete="off" autocapitalize="off" spellcheck="false" id="# (id.clone())
                " data-testid=" (id) " aria-label=" (label) " value=" (now) " onkeydown=" (enter) " />")
        }
    };
    let sides: &[(Side, &'static str)] =
        if props.compared { &[(Side::A, "A"), (Side::B, "B")] } else { &[(Side::A, "Write")] };
    let buttons = list(sides.iter().map(|(side, words)| {
        let label = ["Write ", p.key, " of run ", if *side == Side::A { "A" } else { "B" }, " now"].concat();
        let testid = [if *side == Side::A { "write-a-" } else { "write-b-" }, p.key].concat();
        markup!("<button key=" (*words) " data-testid=" (testid) " aria-label=" (label) " onclick=" (click(&props.say, Msg::WriteNow(*side, key))) ">" (*words) "</button>")
    }));
    markup!(r#"<div class="write"><span key="words">now</span><span key="field">"# (field) "</span>" (buttons) "</div>")
}

fn messages(props: &FormProps, key: Key) -> Vec<String> {
    let p = Param::of(key);
    let typed = props.typed.iter().filter(|t| t.key == key).map(|t| &t.problem);
    let found = props.diagnostics.iter().filter(|d| named(d, p.key));
    typed.chain(found).map(words).collect()
}

/// A message without its key: it stands at the field.
fn words(d: &Diagnostic) -> String {
    let mut out = String::new();
    if !d.value.is_empty() {
        out.push_str(&d.value);
        out.push_str(": ");
    }
    out.push_str(&d.message);
    if !d.allowed.is_empty() {
        out.push_str("; allowed: ");
        out.push_str(&d.allowed);
    }
    if let Some(s) = &d.suggestion {
        out.push_str("; try ");
        out.push_str(s);
    }
    out.push('.');
    out
}

/// Beginning of the ids of values to be written.
pub const WRITE_ID: &str = "write-";

/// What there is to choose from, where there is a choice.
fn choices(p: &Param) -> Option<&'static [&'static str]> {
    match p.unit {
        Unit::Word(words) => Some(words),
        Unit::Bool => Some(&["0", "1"]),
        _ => None,
    }
}

/// `iodepth`, `b.iodepth`.
pub fn full_key(side: Side, key: &str) -> String {
    match side {
        Side::A => key.to_string(),
        Side::B => ["b.", key].concat(),
    }
}

#[derive(Properties, PartialEq)]
struct FieldProps {
    side: Side,
    param: Key,
    value: AttrValue,
    /// What `auto` stands for.
    auto: Option<AttrValue>,
    bad: bool,
    /// Both sides have their own.
    compared: bool,
    say: Callback<Msg>,
}

/// One input. Renders only when its own value changes, so that nothing disturbs typing.
struct Field {
    node: NodeRef,
}

impl Component for Field {
    type Message = ();
    type Properties = FieldProps;

    fn create(_: &Context<Self>) -> Self {
        Self { node: NodeRef::default() }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let props = ctx.props();
        let p = Param::of(props.param);
        let (side, key) = (props.side, props.param);
        let prefix = if side == Side::B { "field-b-" } else { "field-" };
        let id = AttrValue::from([prefix, p.key].concat());
        let class = match (props.compared, side) {
            (false, _) => "field",
            (true, Side::A) => "field a",
            (true, Side::B) => "field b",
        };
        let label = (side == Side::B).then(|| [p.key, " of run B"].concat());
        let described = ["msg-", p.key].concat();
        let (say, value) = (props.say.clone(), props.value.clone());
        let take = move |text: String| {
            if text != value.as_str() {
                say.emit(Msg::Edit(side, key, text));
            }
        };
        if let Some(words) = choices(p) {
            let onchange =
                on(|| ListenerKind::onchange, move |e| take(e.target_unchecked_into::<HtmlSelectElement>().value()));
            let option = |w: AttrValue| {
                let chosen = props.value == w;
                markup!("<option key=" (w.clone()) " value=" (w.clone()) " selected=" (chosen) ">" (w) "</option>")
            };
            let now = Some(props.value.clone()).filter(|v| !words.contains(&v.as_str()));
            let options = list(now.into_iter().chain(words.iter().map(|w| AttrValue::Static(w))).map(option));
            return markup!("
                <div class=" (class) "><select ref=" (&self.node) " id=" (id.clone()) " data-testid=" (id) " aria-label=" (label)
                    " aria-describedby=" (described) " aria-invalid=" (yes(props.bad)) " onchange=" (onchange) ">" (options) "</select></div>
            ");
        }
        let value = props.value.clone();
        let commit = Rc::new(move |e: Event| {
            let input: HtmlInputElement = e.target_unchecked_into();
            let text = input.value();
            // What means the same as before is written as before.
            if p.parse(&text).is_ok_and(|v| p.print(&v) == value.as_str()) {
                input.set_value(&value);
            }
            take(input.value());
        });
        let onchange = {
            let commit = commit.clone();
            on(|| ListenerKind::onchange, move |e| commit(e))
        };
        let onkeydown = on(
            || ListenerKind::onkeydown,
            move |e| {
                if e.dyn_ref::<KeyboardEvent>().is_some_and(|k| k.key() == "Enter") {
                    commit(e);
                }
            },
        );
        let auto = props.auto.clone().map(|auto| markup!(r#"<span class="auto">"# (auto) "</span>"));
        markup!("
            <div class=" (class) r#"><input size="4" autocomplete="off" autocapitalize="off" spellcheck="false" id="# (id.clone())
                " data-testid=" (id) " aria-label=" (label) " aria-describedby=" (described) " aria-invalid=" (yes(props.bad))
                " value=" (props.value.clone()) " onchange=" (onchange) " onkeydown=" (onkeydown) " />" (auto) "</div>
        ")
    }

    fn rendered(&mut self, ctx: &Context<Self>, _: bool) {
        // A choice made by hand outlives the attribute: what is shown is set as a property.
        if let Some(select) = self.node.cast::<HtmlSelectElement>() {
            select.set_value(&ctx.props().value);
        }
    }
}
