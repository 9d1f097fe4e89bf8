//! A canvas that fills its box and tells its size.
//!
//! Models: nothing.
//! Rule: the component renders once; what is drawn comes from outside of Yew. The box, not the canvas, is observed,
//! so that setting the bitmap's size cannot call the observer again.
//! Leaves out: drawing.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlCanvasElement, ResizeObserver};
use yew::prelude::*;

/// What happens to a canvas.
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
    /// What it shows, for those who do not see it.
    pub label: AttrValue,
    /// Id of the element that describes it further.
    #[prop_or_default]
    pub described_by: Option<AttrValue>,
    /// Hidden from assistive technology: something else says the same.
    #[prop_or_default]
    pub decorative: bool,
    pub on: Callback<CanvasEvent>,
}

/// A box with a canvas in it.
#[component]
pub fn Canvas(props: &CanvasProps) -> Html {
    let canvas = use_node_ref();
    let place = use_node_ref();
    {
        let (canvas, place, on) = (canvas.clone(), place.clone(), props.on.clone());
        use_effect_with((), move |()| {
            if let Some(c) = canvas.cast::<HtmlCanvasElement>() {
                on.emit(CanvasEvent::Here(c));
            }
            let watched = place.cast::<Element>();
            let tell = {
                let (watched, on) = (watched.clone(), on.clone());
                move || {
                    if let Some(e) = &watched {
                        let r = e.get_bounding_client_rect();
                        on.emit(CanvasEvent::Size(e.clone(), r.width() as f32, r.height() as f32));
                    }
                }
            };
            let changed = Closure::<dyn FnMut()>::new(tell);
            let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
            if let (Some(o), Some(e)) = (&observer, &watched) {
                o.observe(e);
            }
            move || {
                if let Some(o) = observer {
                    o.disconnect();
                }
                drop(changed);
                on.emit(CanvasEvent::Gone);
            }
        });
    }
    let role = (!props.decorative).then_some("img");
    let label = (!props.decorative).then(|| props.label.clone());
    html! {
        <div class="canvas" ref={place}>
            <canvas ref={canvas} {role} aria-label={label} aria-describedby={props.described_by.clone()}
                aria-hidden={props.decorative.then_some("true")} />
        </div>
    }
}
