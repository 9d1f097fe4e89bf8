//! Markup with holes: `markup!("<p class=" (class) ">" (words) "</p>")` makes the nodes that Yew reconciles.
//!
//! Models: nothing.
//! Rule: the text is read each time it is drawn, which costs microseconds. Yew's own macro makes code for every tag
//! and attribute instead, which was a fifth of what a reader downloads. Written as HTML, with every attribute in
//! double quotes and every tag closed; text that spans lines loses the white space around it; `key` is Yew's.
//! Leaves out: components and their properties (`html!`, in a hole), comments, entities.

use std::cell::RefCell;
use std::rc::Rc;

use web_sys::Event;
use yew::virtual_dom::{AttributeOrProperty, Attributes, Listener, ListenerKind, VList, VTag, VText};
use yew::{AttrValue, Callback, Html, NodeRef};

use crate::app::Msg;

/// What fills a hole: a child, or the value of the attribute that stands before it.
pub enum Hole {
    /// No attribute, no child.
    Nothing,
    Text(AttrValue),
    Node(Html),
    /// The value of `onclick=`, `oninput=`, …
    On(Rc<dyn Listener>),
    /// The value of `ref=`.
    Ref(NodeRef),
}

impl From<&'static str> for Hole {
    fn from(text: &'static str) -> Self {
        Hole::Text(AttrValue::Static(text))
    }
}
impl From<String> for Hole {
    fn from(text: String) -> Self {
        Hole::Text(text.into())
    }
}
impl From<AttrValue> for Hole {
    fn from(text: AttrValue) -> Self {
        Hole::Text(text)
    }
}
impl From<Html> for Hole {
    fn from(node: Html) -> Self {
        Hole::Node(node)
    }
}
impl From<&NodeRef> for Hole {
    fn from(node: &NodeRef) -> Self {
        Hole::Ref(node.clone())
    }
}
/// An attribute without a value, such as `selected`.
impl From<bool> for Hole {
    fn from(on: bool) -> Self {
        if on { "".into() } else { Hole::Nothing }
    }
}
impl<T: Into<Hole>> From<Option<T>> for Hole {
    fn from(value: Option<T>) -> Self {
        value.map_or(Hole::Nothing, Into::into)
    }
}

/// A listener for any kind of event.
struct On {
    /// Yew's enum has a hundred variants and a costly copy.
    kind: fn() -> ListenerKind,
    handle: Box<dyn Fn(Event)>,
}

impl Listener for On {
    fn kind(&self) -> ListenerKind {
        (self.kind)()
    }
    fn handle(&self, event: Event) {
        (self.handle)(event);
    }
    fn passive(&self) -> bool {
        false
    }
}

/// Listens.
pub fn on(kind: fn() -> ListenerKind, handle: impl Fn(Event) + 'static) -> Hole {
    Hole::On(Rc::new(On { kind, handle: Box::new(handle) }))
}

/// A click that says always the same.
pub fn click(say: &Callback<Msg>, msg: Msg) -> Hole {
    let say = say.clone();
    on(|| ListenerKind::onclick, move |_| say.emit(msg.clone()))
}

/// Several nodes.
pub fn list(nodes: impl IntoIterator<Item = Html>) -> Html {
    VList::from(nodes.into_iter().collect::<Vec<_>>()).into()
}

/// The word of an ARIA state.
pub fn yes(on: bool) -> &'static str {
    if on { "true" } else { "false" }
}

/// See the module.
macro_rules! markup {
    ($first:literal $( ( $hole:expr ) $text:literal )*) => {
        $crate::markup::build(&[$first $(, $text)*], &mut [$($crate::markup::Hole::from($hole)),*])
    };
}
pub(crate) use markup;

/// A tag whose end was not met yet.
struct Open {
    tag: VTag,
    keys: Vec<&'static str>,
    values: Vec<Option<AttributeOrProperty>>,
}

/// Makes nodes of texts and of what stands between them; the macro [`markup!`] calls it.
pub fn build(texts: &[&'static str], holes: &mut [Hole]) -> Html {
    let mut open: Vec<Open> = Vec::new();
    let mut roots = Vec::new();
    let mut in_tag = false;
    for (i, text) in texts.iter().enumerate() {
        let mut rest = *text;
        let mut hole = holes.get_mut(i).map(|h| std::mem::replace(h, Hole::Nothing));
        loop {
            if in_tag {
                rest = rest.trim_start();
                let Some(o) = open.last_mut() else { break };
                if let Some(after) = rest.strip_prefix("/>") {
                    (in_tag, rest) = (false, after);
                    close(&mut open, &mut roots);
                } else if let Some(after) = rest.strip_prefix('>') {
                    (in_tag, rest) = (false, after);
                    finish(o);
                } else if let Some((name, after)) = rest.split_once("=\"")
                    && let Some((value, after)) = after.split_once('"')
                {
                    attribute(o, name, Hole::Text(AttrValue::Static(value)));
                    rest = after;
                } else {
                    if let Some(name) = rest.strip_suffix('=') {
                        attribute(o, name, hole.take().unwrap_or(Hole::Nothing));
                    }
                    break;
                }
            } else {
                let (before, tag) = rest.split_once('<').unwrap_or((rest, ""));
                // Layout of the source is not text.
                let words = if before.contains('\n') { before.trim() } else { before };
                if !words.is_empty() {
                    child(&mut open, &mut roots, VText::new(AttrValue::Static(words)).into());
                }
                if let Some((_, after)) = tag.strip_prefix('/').and_then(|t| t.split_once('>')) {
                    close(&mut open, &mut roots);
                    rest = after;
                    continue;
                }
                let Some(end) = tag.find([' ', '\n', '>', '/']) else { break };
                let (name, after) = tag.split_at(end);
                open.push(Open { tag: VTag::new(AttrValue::Static(name)), keys: Vec::new(), values: Vec::new() });
                (in_tag, rest) = (true, after);
            }
        }
        match hole {
            Some(Hole::Text(t)) => child(&mut open, &mut roots, VText::new(t).into()),
            Some(Hole::Node(n)) => child(&mut open, &mut roots, n),
            // Keeps its place among its neighbours.
            Some(_) if !in_tag => child(&mut open, &mut roots, Html::default()),
            _ => {}
        }
    }
    match roots.pop() {
        Some(only) if roots.is_empty() => only,
        last => list(roots.into_iter().chain(last)),
    }
}

fn child(open: &mut [Open], roots: &mut Vec<Html>, node: Html) {
    match open.last_mut() {
        Some(o) => o.tag.add_child(node),
        None => roots.push(node),
    }
}

fn attribute(o: &mut Open, name: &'static str, value: Hole) {
    match (name, value) {
        ("key", Hole::Text(t)) => o.tag.key = Some((&*t).into()),
        // Of a field, the property: an attribute would only be what it starts with.
        ("value", Hole::Text(t)) if matches!(o.tag.tag(), "input" | "textarea") => o.tag.set_value(t),
        (_, Hole::On(listener)) => drop(o.tag.add_listener(listener)),
        (_, Hole::Ref(node)) => o.tag.node_ref = node,
        (_, value) => {
            o.keys.push(name);
            o.values.push(match value {
                Hole::Text(t) => Some(AttributeOrProperty::Attribute(t)),
                _ => None,
            });
        }
    }
}

/// The tag has all its attributes.
fn finish(o: &mut Open) {
    if !o.keys.is_empty() {
        let (keys, values) = (known(&o.keys), std::mem::take(&mut o.values).into_boxed_slice());
        o.tag.set_attributes(Attributes::Dynamic { keys, values });
        o.keys.clear();
    }
}

fn close(open: &mut Vec<Open>, roots: &mut Vec<Html>) {
    if let Some(mut o) = open.pop() {
        finish(&mut o);
        child(open, roots, o.tag.into());
    }
}

/// The one list of these names: Yew sees by the address alone that two tags have the same attributes. There are as many
/// as there are kinds of tags in the source.
fn known(keys: &[&'static str]) -> &'static [&'static str] {
    thread_local!(static KNOWN: RefCell<Vec<&'static [&'static str]>> = const { RefCell::new(Vec::new()) });
    KNOWN.with_borrow_mut(|all| {
        let at = all.partition_point(|other| **other < *keys);
        if all.get(at).is_none_or(|other| *other != keys) {
            all.insert(at, keys.to_vec().leak());
        }
        all.get(at).copied().unwrap_or_default()
    })
}
