//! Dark, light, or as the system says.
//!
//! Models: nothing.
//! Rule: the style sheet follows `data-theme` of `<html>` and the system's preference; canvases get the palette.
//! Leaves out: the colours themselves (`bioscope-stage`, style.css).

use bioscope_stage::palette::{DARK, LIGHT, Palette};

use crate::dom;

/// What the reader chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    System,
    Dark,
    Light,
}

/// Key of the remembered choice.
const KEY: &str = "bioscope-theme";

impl Theme {
    /// The choice of a name.
    pub fn of(word: &str) -> Option<Self> {
        [Theme::System, Theme::Dark, Theme::Light].into_iter().find(|t| t.word() == word)
    }
    /// The remembered choice.
    pub fn remembered() -> Self {
        dom::recall(KEY).as_deref().and_then(Theme::of).unwrap_or(Theme::System)
    }
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Theme::System => "system",
            Theme::Dark => "dark",
            Theme::Light => "light",
        }
    }
    /// The next in turn.
    pub fn next(self) -> Self {
        match self {
            Theme::System => Theme::Dark,
            Theme::Dark => Theme::Light,
            Theme::Light => Theme::System,
        }
    }
    /// Applies it to the page.
    pub fn apply(self) {
        dom::set_flag("theme", (self != Theme::System).then_some(self.word()));
    }
    /// Keeps it for the next visit.
    pub fn remember(self) {
        dom::remember(KEY, self.word());
    }
    /// The colours it comes to now.
    pub fn palette(self) -> &'static Palette {
        let light = match self {
            Theme::System => dom::media("(prefers-color-scheme: light)").is_some_and(|m| m.matches()),
            t => t == Theme::Light,
        };
        if light { &LIGHT } else { &DARK }
    }
}
