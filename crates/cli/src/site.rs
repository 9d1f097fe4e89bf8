//! `bioscope site`: what a web site says about each preset before the simulator is loaded.
//!
//! Models: nothing.
//! Rule: every page stands alone and leads to the simulator; nothing of it is a script but the list of presets that
//! embeds read. Posters are small enough to be part of an embed.
//! Leaves out: the simulator's own files.

use std::fmt::Write as _;
use std::path::Path;

use bioscope_scenario::value::print_seconds;
use bioscope_scenario::{PRESETS, Preset, Scenario};
use bioscope_stage::palette::{DARK, LIGHT};
use bioscope_stage::svg::escape;

use crate::args::Args;
use crate::picture::{Shown, poster};
use crate::{Failure, render, say};

/// A poster, CSS pixels.
const POSTER: (f32, f32) = (800.0, 450.0);
/// A preview image is 1200 x 630 pixels: this, half as large again, so that its words are legible when it is small.
const PREVIEW: (f32, f32) = (800.0, 420.0);
const PREVIEW_SCALE: f32 = 1.5;

/// Writes pages, preview images and posters of all presets into a folder.
pub fn site(args: &Args) -> Result<(), Failure> {
    args.no_names()?;
    let Some(folder) = args.output.as_deref() else {
        return Err(Failure::bad("-o FOLDER is missing: where the pages go"));
    };
    let base = args.base_url.as_deref().map(base_url).transpose()?;
    if base.is_none() {
        say(&["note: without --base-url the pages have no og:url and no og:image, which must be absolute".into()]);
    }
    std::fs::create_dir_all(folder).map_err(|e| Failure::bad(format!("cannot make {folder}: {e}")))?;
    let put = |name: &str, bytes: &[u8]| render::write(&Path::new(folder).join(name).to_string_lossy(), bytes);
    for preset in PRESETS {
        let shown = Shown::of(&Scenario::of(preset), preset.name, None)?;
        let name = preset.name;
        put(&format!("{name}-dark.svg"), poster(&shown, &DARK, POSTER, false).as_bytes())?;
        put(&format!("{name}-light.svg"), poster(&shown, &LIGHT, POSTER, false).as_bytes())?;
        put(&format!("{name}.png"), &render::png(&poster(&shown, &DARK, PREVIEW, true), PREVIEW_SCALE)?)?;
        put(&format!("{name}.html"), page(preset, base.as_deref()).as_bytes())?;
    }
    put("presets.js", list().as_bytes())
}

/// The address of the site's folder, with a slash at its end.
fn base_url(text: &str) -> Result<String, Failure> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.starts_with('/'))
        || text.contains(|c: char| c.is_whitespace() || "\"'<>?#".contains(c))
    {
        return Err(Failure::bad(format!("--base-url {text}: must be the http or https address of a folder")));
    }
    Ok([text.trim_end_matches('/'), "/"].concat())
}

/// The page of a preset: what a mail or a chat shows of its link, and the way on.
fn page(preset: &Preset, base: Option<&str>) -> String {
    let (name, title, look) = (preset.name, escape(preset.title), escape(preset.look_for));
    let mut head = String::new();
    let mut meta = |kind: &str, name: &str, content: &str| {
        let _ = writeln!(head, "    <meta {kind}=\"{name}\" content=\"{content}\" />");
    };
    meta("name", "description", &look);
    meta("property", "og:site_name", "Bioscope");
    meta("property", "og:type", "website");
    meta("property", "og:title", &title);
    meta("property", "og:description", &look);
    meta("name", "twitter:card", "summary_large_image");
    meta("name", "twitter:title", &title);
    meta("name", "twitter:description", &look);
    let mut canonical = format!("{name}.html");
    if let Some(base) = base {
        canonical = format!("{base}p/{name}.html");
        let image = format!("{base}p/{name}.png");
        meta("property", "og:url", &canonical);
        meta("property", "og:image", &image);
        meta("property", "og:image:type", "image/png");
        meta("property", "og:image:width", "1200");
        meta("property", "og:image:height", "630");
        meta("property", "og:image:alt", &format!("{title}: run A beside run B"));
        meta("name", "twitter:image", &image);
    }
    format!(
        r#"<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; base-uri 'none'" />
    <meta http-equiv="refresh" content="0; url=../#v=1&amp;p={name}" />
    <title>{title} · Bioscope</title>
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="dark light" />
    <link rel="icon" type="image/svg+xml" href="../static/favicon.svg" />
    <link rel="canonical" href="{canonical}" />
{head}  </head>
  <body>
    <main>
      <h1>{title}</h1>
      <p>{look}</p>
      <p><a href="../#v=1&amp;p={name}">Open it in the simulator</a></p>
    </main>
  </body>
</html>
"#
    )
}

/// What an embed knows of the presets before anything is loaded.
fn list() -> String {
    let entry = |p: &Preset| {
        let record = if p.t.k > 0 { format!("+{}", p.t.k) } else { String::new() };
        let t = print_seconds(p.t.ns) + &record;
        (p.name.to_string(), serde_json::json!({ "title": p.title, "look": p.look_for, "t": t }))
    };
    let all: serde_json::Map<String, serde_json::Value> = PRESETS.iter().map(entry).collect();
    format!("globalThis.bioscopePresets = {};\n", serde_json::Value::Object(all))
}
