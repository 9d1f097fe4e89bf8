//! A canvas that fills its box and tells its size.
//!
//! Models: nothing.
//! Rule: what is drawn comes from outside of Yew. The box, not the canvas, is observed, so that setting the bitmap's
//! size cannot call the observer again.
//! Leaves out: drawing.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlCanvasElement, ResizeObserver};
use yew::prelude::*;

use crate::markup::markup;

/// What happens to a canvas.
#[derive(Clone)]
pub enum CanvasEvent {
    /// It is in the page.
    Here(HtmlCanvasElement),
    /// Its box has this size, CSS pixels.
    Size(Element, f32, f32),
    /// It is gone.
    Gone,
}

#[derive(Properties, PartialEq)]
pub struct CanvasProps {
    /// What it shows, for those who do not see it; without, something else says the same.
    #[prop_or_default]
    pub label: Option<AttrValue>,
    /// Id of the element that describes it further.
    #[prop_or_default]
    pub described_by: Option<AttrValue>,
    pub on: Callback<CanvasEvent>,
}

/// A box with a canvas in it.
pub struct Canvas {
    canvas: NodeRef,
    place: NodeRef,
    /// Watches the box; the closure lives as long.
    observer: Option<(ResizeObserver, Closure<dyn FnMut()>)>,
}

impl Component for Canvas {
    type Message = ();
    type Properties = CanvasProps;

    fn create(_: &Context<Self>) -> Self {
        Self { canvas: NodeRef::default(), place: NodeRef::default(), observer: None }
    }

    fn view(&self, ctx: &Context<Self>) -> Html {
        let p = ctx.props();
        let (role, hidden) = if p.label.is_some() { (Some("img"), None) } else { (None, Some("true")) };
        markup!(r#"<div class="canvas" ref="# (&self.place) "><canvas ref=" (&self.canvas) " role=" (role) " aria-label=" (p.label.clone())
            " aria-describedby=" (p.described_by.clone()) " aria-hidden=" (hidden) " /></div>")
    }

    fn rendered(&mut self, ctx: &Context<Self>, first: bool) {
        if !first {
            return;
        }
        let on = ctx.props().on.clone();
        if let Some(c) = self.canvas.cast::<HtmlCanvasElement>() {
            on.emit(CanvasEvent::Here(c));
        }
        let Some(watched) = self.place.cast::<Element>() else { return };
        let changed = {
            let watched = watched.clone();
            Closure::<dyn FnMut()>::new(move || {
                let r = watched.get_bounding_client_rect();
                on.emit(CanvasEvent::Size(watched.clone(), r.width() as f32, r.height() as f32));
            })
        };
        if let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) {
            observer.observe(&watched);
            self.observer = Some((observer, changed));
        }
    }

    fn destroy(&mut self, ctx: &Context<Self>) {
        if let Some((observer, _)) = &self.observer {
            observer.disconnect();
        }
        ctx.props().on.emit(CanvasEvent::Gone);
    }
}
