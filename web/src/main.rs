//! The page. One program in two roles: the page itself, and the workers that run its sweeps.
//!
//! Models: nothing.
//! Rule: one direction. Components raise messages, [`app`] turns them into effects on the [`player`], the address and
//! the [`sweep`]; facts come back at most ten times a second. Canvases are painted outside of Yew.
//! Leaves out: anything a native test could cover; that belongs in a crate below.

mod app;
mod components;
mod dom;
mod frame;
mod hooks;
mod markup;
mod paint;
mod player;
mod shared;
mod sweep;
mod theme;
mod words;
mod worker;

fn main() {
    if worker::serve() {
        return;
    }
    yew::set_custom_panic_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, |l| [l.file(), ":", &l.line().to_string()].concat());
        dom::say_stopped(&place);
    }));
    if hooks::wanted() {
        hooks::install();
    }
    if let Some(root) = dom::document().get_element_by_id("app") {
        yew::Renderer::<app::App>::with_root(root).render();
    }
}
