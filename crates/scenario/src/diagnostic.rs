//! What is wrong with an input, said so that a form field, a terminal and a log can all show it.
//!
//! Models: nothing.
//! Rule: a problem names its key, what was given, what is allowed and, where one is near, what to write instead.
//! Leaves out: errors of the simulated world (EIO and the like); those are records of a run.

use std::fmt;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the run is what was asked for.
    Note,
    /// The run can be made, but probably not the one that was meant.
    Warning,
    /// No run can be made of this.
    Error,
}

impl Severity {
    /// The word shown in front of a message.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// Where in the text the problem stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Place {
    /// Not in a text (a form field, a rule over several keys).
    #[default]
    Nowhere,
    /// Character of a URL fragment, counted from 1 (a leading `#` not counted).
    Fragment(u32),
    /// Line and column of a file, both counted from 1.
    File {
        /// Line.
        line: u32,
        /// Column in characters.
        column: u32,
    },
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The key concerned, `b.` in front for run B; empty where no key is.
    pub key: String,
    /// How bad.
    pub severity: Severity,
    /// Where it stands.
    pub place: Place,
    /// What was given.
    pub value: String,
    /// What is wrong, without the key.
    pub message: String,
    /// What may be written; empty where the message says it.
    pub allowed: Box<str>,
    /// A value or key to write instead.
    pub suggestion: Option<Box<str>>,
}

impl Diagnostic {
    /// A problem of `key` with the given value.
    pub fn new(severity: Severity, key: &str, value: &str, message: impl Into<String>) -> Self {
        Self {
            key: shorten(key),
            severity,
            place: Place::Nowhere,
            value: shorten(value),
            message: message.into().replace(is_hidden, "?"),
            allowed: Box::default(),
            suggestion: None,
        }
    }
    /// An error of `key`.
    pub fn error(key: &str, value: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, key, value, message)
    }
    /// A warning about `key`.
    pub fn warning(key: &str, value: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, key, value, message)
    }
    /// A note about `key`.
    pub fn note(key: &str, value: &str, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, key, value, message)
    }
    /// The same with the allowed values.
    pub fn allow(mut self, allowed: impl Into<String>) -> Self {
        self.allowed = allowed.into().into_boxed_str();
        self
    }
    /// The same with a suggestion.
    pub fn suggest(mut self, suggestion: impl Into<String>) -> Self {
        self.suggestion = Some(suggestion.into().replace(is_hidden, "?").into_boxed_str());
        self
    }
    /// True for errors.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Nowhere => {}
            Place::Fragment(at) => write!(f, "character {at}: ")?,
            Place::File { line, column } => write!(f, "line {line}, column {column}: ")?,
        }
        if !self.key.is_empty() {
            f.write_str(&self.key)?;
            if !self.value.is_empty() {
                write!(f, "={}", self.value)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.message)?;
        if !self.allowed.is_empty() {
            write!(f, " (allowed: {})", self.allowed)?;
        }
        if let Some(s) = &self.suggestion {
            write!(f, "; try {s}")?;
        }
        Ok(())
    }
}

/// Problems as they are found, none twice. What comes after the first [`MAX_PROBLEMS`] is only counted, so that a
/// text of nothing but mistakes takes no more memory than its first hundred.
#[derive(Default)]
pub struct Problems {
    list: Vec<Diagnostic>,
    more: u32,
    /// The worst of those that were only counted.
    worst: Option<Severity>,
}

/// Problems that are told one by one.
pub const MAX_PROBLEMS: usize = 100;

impl Problems {
    /// Takes one more.
    pub fn push(&mut self, d: Diagnostic) {
        if self.list.contains(&d) {
            return;
        }
        if self.list.len() < MAX_PROBLEMS {
            return self.list.push(d);
        }
        self.more += 1;
        self.worst = self.worst.max(Some(d.severity));
    }
    /// One of them is an error.
    pub fn has_errors(&self) -> bool {
        self.worst == Some(Severity::Error) || self.list.iter().any(Diagnostic::is_error)
    }
    /// The list; what was only counted is its last line.
    pub fn into_list(mut self) -> Vec<Diagnostic> {
        if let Some(worst) = self.worst {
            self.list.push(Diagnostic::new(worst, "", "", ["and ", &self.more.to_string(), " more"].concat()));
        }
        self.list
    }
}

/// Characters that show nothing but change how the text around them looks: controls, zero widths, line separators,
/// directions of writing, and what is no character.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}')
}

/// Values from outside are quoted in messages: hidden characters go, and 60 characters are enough.
pub(crate) fn shorten(value: &str) -> String {
    let clean = |c: char| if is_hidden(c) { '?' } else { c };
    if value.chars().count() <= 60 {
        return value.chars().map(clean).collect();
    }
    value.chars().take(57).map(clean).chain("...".chars()).collect()
}

/// The candidate nearest to `word`, if it is near enough to be a slip of the fingers.
pub fn nearest<'a>(word: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word: Vec<char> = word.chars().take(40).map(|c| c.to_ascii_lowercase()).collect();
    let allowed = if word.len() <= 3 { 1 } else { 2.max(word.len() / 4) };
    candidates
        .map(|c| (distance(&word, c), c))
        .filter(|(d, c)| *d <= allowed && *d < c.len())
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Edits (insert, delete, replace) between two words.
fn distance(a: &[char], b: &str) -> usize {
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replace = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replace.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_words_are_found_and_far_ones_are_not() {
        let keys = ["iodepth", "numjobs", "bs", "scheduler"];
        assert_eq!(nearest("iodept", keys.into_iter()), Some("iodepth"));
        assert_eq!(nearest("IODepht", keys.into_iter()), Some("iodepth"));
        assert_eq!(nearest("sceduler", keys.into_iter()), Some("scheduler"));
        assert_eq!(nearest("elephant", keys.into_iter()), None);
        assert_eq!(nearest("", keys.into_iter()), None);
    }

    #[test]
    fn long_values_are_shortened_and_hidden_characters_go() {
        let d = Diagnostic::error("bs", &"x".repeat(1000), "not a number");
        assert_eq!(d.value.len(), 60);
        assert_eq!(Diagnostic::error("bs", "a\nb", "no").value, "a?b");
        for hidden in "\0\u{9b}\u{200e}\u{200f}\u{202a}\u{202e}\u{2028}\u{2066}\u{2069}\u{feff}\u{fffe}\u{ffff}".chars()
        {
            let text = format!("a{hidden}b");
            let d = Diagnostic::error(&text, &text, text.as_str()).suggest(text.as_str());
            assert_eq!(d.to_string(), "a?b=a?b: a?b; try a?b", "{hidden:?}");
        }
    }

    #[test]
    fn a_thousand_problems_are_a_hundred_and_a_count() {
        let mut problems = Problems::default();
        for i in 0..1000 {
            let severity = if i == 999 { Severity::Error } else { Severity::Warning };
            problems.push(Diagnostic::new(severity, "", "", i.to_string()));
            // What is in the list is not taken twice.
            problems.push(Diagnostic::warning("", "", "0"));
        }
        assert!(problems.has_errors());
        let list = problems.into_list();
        assert_eq!(list.len(), MAX_PROBLEMS + 1);
        assert_eq!((list[MAX_PROBLEMS].message.as_str(), list[MAX_PROBLEMS].is_error()), ("and 900 more", true));
    }
}
