//! Text to paste into documents, so that readers meet the moment that was meant.
//!
//! Models: nothing.
//! Rule: every form shows the same link, escaped as its language wants it; where scripts or frames are refused a link
//! is what is left. A fragment as `encode` writes it has nothing in it that a quoted word of a shell could not hold.
//! Leaves out: the page that offers them, and the frame's own pages.

/// A language of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A link.
    Markdown,
    /// `<bio-scope>` with its script.
    Element,
    /// A frame, without scripts around it.
    Frame,
    /// A frame in HTML, a figure elsewhere.
    Rst,
    /// MDX, with the site's colours.
    Docusaurus,
}

impl Form {
    /// All, in the order they are offered.
    pub const ALL: [Form; 5] = [Form::Markdown, Form::Element, Form::Frame, Form::Rst, Form::Docusaurus];

    /// What it is called.
    pub fn title(self) -> &'static str {
        match self {
            Form::Markdown => "Markdown link",
            Form::Element => "HTML element",
            Form::Frame => "HTML frame",
            Form::Rst => "reStructuredText",
            Form::Docusaurus => "Docusaurus",
        }
    }
}

/// The text; `fragment` is canonical, `base` is the site's address with a slash at its end, `name` that of a picture's file.
pub fn snippet(form: Form, base: &str, fragment: &str, title: &str, name: &str) -> String {
    let html = |text: &str| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;");
    // What ends a word in a shell, an address in reStructuredText, or a line: a fragment may have it as %XX.
    let mut safe = String::new();
    for c in fragment.chars() {
        match c {
            '\0'..=' ' | '"' | '\'' | '<' | '>' | '\\' | '`' => safe += &format!("%{:02X}", c as u32),
            c => safe.push(c),
        }
    }
    let fragment = safe.as_str();
    let title = &title.replace(char::is_control, " ");
    let (link, frame) = ([base, "#", fragment].concat(), [base, "embed.html#", fragment].concat());
    let iframe = || {
        let style = "border: 0; width: 100%; height: 420px";
        format!(r#"<iframe src="{}" title="{}" loading="lazy" style="{style}"></iframe>"#, html(&frame), html(title))
    };
    match form {
        // A closing bracket would end the link's words, a parenthesis its address.
        Form::Markdown => format!("[{}]({})", escaped(title, "\\[]<`"), link.replace('(', "%28").replace(')', "%29")),
        // Not a module: those are fetched from another site only where its server allows it.
        Form::Element => format!(
            "<script defer src=\"{}\"></script>\n<bio-scope scenario=\"{}\" title=\"{title}\">\n  \
             <a href=\"{}\">{title}</a>\n</bio-scope>",
            html(&[base, "static/embed.js"].concat()),
            html(fragment),
            html(&link),
            title = html(title),
        ),
        Form::Frame => iframe(),
        // LaTeX has no SVG: the picture is made of pixels.
        Form::Rst => format!(
            ".. only:: html\n\n   .. raw:: html\n\n      {}\n\n.. only:: not html\n\n   .. figure:: {name}.png\n      :alt: {title}\n\n      \
             `{words} <{link}>`__\n\n.. The picture: bioscope render '{fragment}' -o {name}.png",
            iframe(),
            words = escaped(title, "\\`<"),
        ),
        Form::Docusaurus => format!(
            "import {{useColorMode}} from '@docusaurus/theme-common';\n\n\
             export const Bioscope = ({{scenario, title}}) => (\n  \
             <iframe src={{`{base}embed.html?theme=${{useColorMode().colorMode}}#${{scenario}}`}} title={{title}}\n    \
             loading=\"lazy\" style={{{{border: 0, width: '100%', height: 420}}}} />\n);\n\n\
             <Bioscope scenario=\"{}\" title=\"{}\" />",
            html(fragment),
            html(title)
        ),
    }
}

/// With a backslash before each of some characters.
fn escaped(text: &str, which: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if which.contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://example.org/b/";

    #[test]
    fn every_form_has_the_whole_link() {
        let fragment = "v=1&p=smr-seq-write&iodepth=8&t=1.5s+2";
        for form in Form::ALL {
            let text = snippet(form, BASE, fragment, "A \"quoted\" [title]", "seq");
            let plain = text.replace("&amp;", "&");
            assert!(plain.contains(fragment) && plain.contains(BASE), "{text}");
            assert!(!text.contains("\"A \"quoted") && !text.contains("\"quoted\" [title]\""), "{text}");
        }
    }

    #[test]
    fn hostile_settings_stay_inside_the_quotes_of_a_command() {
        let hostile = "x';touch$IFS'p;$(id)`id`!!~*?\\\n\"";
        let link: String = hostile.bytes().map(|b| format!("%{b:02X}")).collect();
        let (s, _) = crate::decode(&format!("p=smr-seq-write&{link}=1&k={link}"));
        assert_eq!(s.extra, [(hostile.to_string(), "1".to_string()), ("k".into(), hostile.into())]);
        let fragment = crate::encode(&s);
        assert!(fragment.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.,:+@/%&=".contains(&b)), "{fragment}");
        let text = snippet(Form::Rst, BASE, &fragment, "T", "x");
        let command = text.lines().last().unwrap().strip_prefix(".. The picture: bioscope render ").unwrap();
        assert_eq!(command, format!("'{fragment}' -o x.png"));
        assert_eq!(command.matches('\'').count(), 2);
    }

    #[test]
    fn forms_to_the_letter() {
        let text = |form| snippet(form, BASE, "v=1&p=x", "T", "x");
        assert_eq!(text(Form::Markdown), "[T](https://example.org/b/#v=1&p=x)");
        assert_eq!(
            snippet(Form::Markdown, BASE, "v=1&k=(a)", "[T]", "x"),
            "[\\[T\\]](https://example.org/b/#v=1&k=%28a%29)"
        );
        assert_eq!(
            text(Form::Frame),
            "<iframe src=\"https://example.org/b/embed.html#v=1&amp;p=x\" title=\"T\" loading=\"lazy\" \
             style=\"border: 0; width: 100%; height: 420px\"></iframe>"
        );
        assert_eq!(
            text(Form::Element),
            "<script defer src=\"https://example.org/b/static/embed.js\"></script>\n\
             <bio-scope scenario=\"v=1&amp;p=x\" title=\"T\">\n  \
             <a href=\"https://example.org/b/#v=1&amp;p=x\">T</a>\n</bio-scope>"
        );
        assert!(
            text(Form::Rst)
                .contains("\n   .. figure:: x.png\n      :alt: T\n\n      `T <https://example.org/b/#v=1&p=x>`__")
        );
        assert!(text(Form::Docusaurus).ends_with("<Bioscope scenario=\"v=1&amp;p=x\" title=\"T\" />"));
    }

    #[test]
    fn hostile_text_stays_text() {
        let (fragment, title) = ("k='\"><script>`\\ \n", "\"><script>x</script>`_\\\n\n.. raw:: html");
        for form in Form::ALL {
            let text = snippet(form, BASE, fragment, title, "x");
            assert!(!text.contains("k='") && text.contains("k=%27%22%3E%3Cscript%3E%60%5C%20%0A"), "{text}");
            assert!(!text.contains("\n.. raw"), "{text}");
            match form {
                Form::Markdown => {
                    assert!(text.starts_with("[\">\\<script>x\\</script>\\`_\\\\  .. raw:: html]("), "{text}")
                }
                Form::Rst => {
                    assert!(text.contains("`\">\\<script>x\\</script>\\`_\\\\  .. raw:: html <https"), "{text}")
                }
                _ => assert!(
                    !text.contains("><script>x") && text.contains("&quot;&gt;&lt;script&gt;x&lt;/script"),
                    "{text}"
                ),
            }
        }
    }
}
