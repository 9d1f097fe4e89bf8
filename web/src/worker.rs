//! The worker role: the same program, running jobs of a sweep.
//!
//! Models: nothing.
//! Rule: says once that it is there, since messages sent earlier could be lost; then answers every job.
//! Leaves out: everything that shows.

use bioscope_lab::chart::{Job, Point};
use bioscope_lab::sweep::run_point;
use js_sys::Array;
use serde::Serialize;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{DedicatedWorkerGlobalScope, MessageEvent};

use crate::sweep::{pack, unpack};

/// Takes jobs from now on, if this is a worker. False on a page.
pub fn serve() -> bool {
    let Ok(scope) = js_sys::global().dyn_into::<DedicatedWorkerGlobalScope>() else { return false };
    let on_message = {
        let scope = scope.clone();
        Closure::<dyn FnMut(MessageEvent)>::new(move |e: MessageEvent| {
            if let Some((sweep, point)) = unpack::<Job>(&e) {
                send(&scope, &Some((sweep, run_point(&point))));
            }
        })
    };
    scope.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    // It listens as long as the worker lives.
    on_message.forget();
    send(&scope, &None::<Point>);
    true
}

fn send<T: Serialize>(scope: &DedicatedWorkerGlobalScope, value: &T) {
    let buffer = pack(value).buffer();
    // A page that is gone hears nothing, and nobody is left to tell.
    drop(scope.post_message_with_transfer(&buffer, &Array::of1(&buffer)));
}
