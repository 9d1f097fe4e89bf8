//! The scenario form, one field a row of PARAMS.
//!
//! Models: nothing.
//! Rule: values are typed as people write them and taken on Enter or when the field is left; a bad value stays in its
//! field with its message, and the run keeps the last good one.
//! Leaves out: which parameters there are (`bioscope-scenario`).

use bioscope_scenario::diagnostic::Diagnostic;
use bioscope_scenario::params::{Group, KEYS, Key, Param};
use bioscope_scenario::scenario::{Scenario, Side};
use bioscope_scenario::value::{Unit, Value};
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::app::{Msg, Typed};
use crate::shared::Shared;

#[derive(Properties, PartialEq)]
pub struct FormProps {
    pub scenario: Shared<Scenario>,
    /// Texts that are not values yet.
    pub typed: Shared<Vec<Typed>>,
    pub diagnostics: Shared<Vec<Diagnostic>>,
    pub compared: bool,
    pub advanced: bool,
    pub say: Callback<Msg>,
}

#[component]
pub fn Form(props: &FormProps) -> Html {
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
    let more = {
        let (say, on) = (props.say.clone(), !props.advanced);
        Callback::from(move |_: MouseEvent| say.emit(Msg::Advanced(on)))
    };
    html! {
        <div class="form">
            { for Group::ALL.into_iter().map(|g| html! {
                <fieldset key={g.title()}>
                    <legend>{g.title()}</legend>
                    { for shown(g).map(|k| row(props, k)) }
                </fieldset>
            }) }
            <button key="more" class="more" onclick={more} aria-expanded={if props.advanced { "true" } else { "false" }}>
                {if props.advanced { "Fewer settings" } else { "All settings" }}
            </button>
        </div>
    }
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
    let say = |m: Msg| {
        let say = props.say.clone();
        Callback::from(move |_: MouseEvent| say.emit(m.clone()))
    };
    html! {
        <div key={p.key} class={classes!("row", changed.then_some("changed"), own_b.then_some("pair"))}>
            <label key="label" for={format!("field-{}", p.key)} title={p.help}>
                if changed {
                    <span class="dot" title="Changed"><span class="unseen">{"changed "}</span></span>
                }
                // Long names break after an underscore.
                { for p.key.split_inclusive('_').map(|part| html! { <>{part}<wbr /></> }) }
            </label>
            <div key="fields" class="fields">
                {field(Side::A)}
                if own_b {
                    {field(Side::B)}
                }
            </div>
            <div key="tools" class="tools">
                if changed {
                    <button key="reset" onclick={say(Msg::Reset(key))} aria-label={format!("Reset {}", p.key)} title="Reset">{"↺"}</button>
                }
                if props.compared && key != Key::Seed {
                    if own_b {
                        <button key="same" onclick={say(Msg::Same(key))} aria-label={format!("{} the same in A and B", p.key)} title="The same in A and B">{"="}</button>
                    } else {
                        <button key="differ" onclick={say(Msg::Differ(key))} aria-label={format!("Another {} in B", p.key)} title="Another value in B">{"≠"}</button>
                    }
                }
            </div>
            <div key="messages" class="messages" id={format!("msg-{}", p.key)} data-testid={format!("msg-{}", p.key)} aria-live="polite">
                { for messages.into_iter().map(|m| html! { <p>{m}</p> }) }
            </div>
        </div>
    }
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
#[component]
fn Field(props: &FieldProps) -> Html {
    let p = Param::of(props.param);
    let (side, key) = (props.side, props.param);
    let prefix = if side == Side::B { "field-b-" } else { "field-" };
    let id = [prefix, p.key].concat();
    let class = classes!("field", props.compared.then_some(if side == Side::A { "a" } else { "b" }));
    let label = (side == Side::B).then(|| format!("{} of run B", p.key));
    let described = format!("msg-{}", p.key);
    let invalid = if props.bad { "true" } else { "false" };
    let take = {
        let (say, value) = (props.say.clone(), props.value.clone());
        Callback::from(move |text: String| {
            if text != value.as_str() {
                say.emit(Msg::Edit(side, key, text));
            }
        })
    };
    let node = use_node_ref();
    {
        // A choice made by hand outlives the attribute: what is shown is set as a property.
        let node = node.clone();
        use_effect_with(props.value.clone(), move |value| {
            if let Some(select) = node.cast::<HtmlSelectElement>() {
                select.set_value(value);
            }
        });
    }
    let choices: Option<&[&str]> = match p.unit {
        Unit::Word(words) => Some(words),
        Unit::Bool => Some(&["0", "1"]),
        _ => None,
    };
    if let Some(words) = choices {
        let onchange = take.reform(|e: Event| e.target_unchecked_into::<HtmlSelectElement>().value());
        return html! {
            <div {class}>
                <select ref={node} {id} data-testid={[prefix, p.key].concat()} aria-label={label} aria-describedby={described} aria-invalid={invalid} {onchange}>
                    if !words.contains(&props.value.as_str()) {
                        <option key="now" value={props.value.clone()} selected=true>{&props.value}</option>
                    }
                    { for words.iter().map(|w| html! { <option key={*w} value={*w} selected={props.value == *w}>{*w}</option> }) }
                </select>
            </div>
        };
    }
    let commit = {
        let value = props.value.clone();
        move |input: HtmlInputElement| {
            let text = input.value();
            // What means the same as before is written as before.
            if p.parse(&text).is_ok_and(|v| p.print(&v) == value.as_str()) {
                input.set_value(&value);
            }
            take.emit(input.value());
        }
    };
    let onchange = {
        let commit = commit.clone();
        Callback::from(move |e: Event| commit(e.target_unchecked_into()))
    };
    let onkeydown = Callback::from(move |e: KeyboardEvent| {
        if e.key() == "Enter" {
            commit(e.target_unchecked_into());
        }
    });
    html! {
        <div {class}>
            <input {id} data-testid={[prefix, p.key].concat()} aria-label={label} aria-describedby={described} aria-invalid={invalid}
                value={props.value.clone()} size="4" autocomplete="off" autocapitalize="off" spellcheck="false" {onchange} {onkeydown} />
            if let Some(auto) = &props.auto {
                <span class="auto">{auto}</span>
            }
        </div>
    }
}
