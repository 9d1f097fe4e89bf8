//! SVG to PNG.
//!
//! Models: nothing.
//! Rule: one font, bundled, for every family, so that a picture is the same on every machine.
//! Leaves out: fonts and images of the system.

use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};

const FONT: &[u8] = include_bytes!("../font/DejaVuSans.ttf");

/// Paints an SVG document, `scale` pixels a unit. An error says what does not work.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, String> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let family = "DejaVu Sans";
    fonts.set_sans_serif_family(family);
    fonts.set_monospace_family(family);
    let options = Options { font_family: family.into(), fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|e| e.to_string())?;
    let size = tree.size();
    let pixels = |v: f32| (v * scale).round() as u32;
    let mut map = Pixmap::new(pixels(size.width()), pixels(size.height())).ok_or("no room for a picture")?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut map.as_mut());
    map.encode_png().map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_is_the_bundled_font() {
        let text = |family: &str| {
            let svg = format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text y="15" font-family="{family}">bio</text></svg>"#
            );
            png(&svg, 2.0).unwrap()
        };
        let sans = text("system-ui,sans-serif");
        assert_eq!(&sans[..8], b"\x89PNG\r\n\x1a\n");
        assert_eq!((&sans[16..20], &sans[20..24]), (&[0, 0, 0, 120][..], &[0, 0, 0, 40][..]), "width, height");
        assert_eq!(text("ui-monospace,monospace"), sans);
        let nothing = png(r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"/>"#, 2.0).unwrap();
        assert_ne!(nothing, sans);
    }
}
