//! The colours behind the tokens, dark, light and for print.
//!
//! Models: nothing; the hex values are the design's, three light zone colours a little darker so that labels on them pass.
//! Rule: every pair that meets on screen passes 4.5:1 for text and 3:1 for marks (tested below).
//! Leaves out: the style sheet, which repeats the same values as custom properties.

use crate::shape::Ink;

/// A resolved colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`
    pub fn css(self) -> String {
        let mut out = String::with_capacity(7);
        out.push('#');
        for byte in [self.0, self.1, self.2] {
            for nibble in [byte >> 4, byte & 15] {
                out.push(char::from(b"0123456789abcdef"[usize::from(nibble)]));
            }
        }
        out
    }
}

const fn rgb(hex: u32) -> Rgb {
    Rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// All colours of one theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Palette {
    pub bg: Rgb,
    pub panel: Rgb,
    pub raised: Rgb,
    pub line: Rgb,
    pub text: Rgb,
    pub dim: Rgb,
    pub accent: Rgb,
    pub a: Rgb,
    pub b: Rgb,
    pub bad: Rgb,
    pub track: Rgb,
    pub on_zone: Rgb,
    /// Six zone colours.
    pub zones: [Rgb; 6],
    /// Stops of the ramp of offsets: viridis' hues, lightness rising and steps even, within what stands out from a
    /// panel.
    pub offsets: [Rgb; 9],
    /// Offsets below it carry white text, the others black.
    pub white_until: u8,
}

/// Colours of libzbd's gzbd-viewer, by name there: Magenta, Green, Red, RosyBrown, Blue, DeepSkyBlue, DarkOrange, Grey.
const GZBD: [Rgb; 8] = [
    rgb(0xff00ff),
    rgb(0x008000),
    rgb(0xff0000),
    rgb(0xbc8f8f),
    rgb(0x0000ff),
    rgb(0x00bfff),
    rgb(0xff8c00),
    rgb(0x808080),
];

/// The dark theme.
pub const DARK: Palette = Palette {
    bg: rgb(0x0d1117),
    panel: rgb(0x141a22),
    raised: rgb(0x1b232d),
    line: rgb(0x28323e),
    text: rgb(0xe6edf3),
    dim: rgb(0x8e9bab),
    accent: rgb(0x5cc8ff),
    a: rgb(0xffb454),
    b: rgb(0x3ddbb0),
    bad: rgb(0xff7b72),
    track: rgb(0x222b36),
    on_zone: rgb(0x0d1117),
    zones: [rgb(0xe69f00), rgb(0x56b4e9), rgb(0x2fbf8f), rgb(0xd98cc0), rgb(0xf0e442), rgb(0xa98bff)],
    offsets: [
        rgb(0x8154a8),
        rgb(0x726fb8),
        rgb(0x5e8bb6),
        rgb(0x4ea6ae),
        rgb(0x47bd9d),
        rgb(0x5ed081),
        rgb(0x89dd5d),
        rgb(0xbee533),
        rgb(0xfde726),
    ],
    white_until: 28,
};

/// The light theme.
pub const LIGHT: Palette = Palette {
    bg: rgb(0xf4f6f9),
    panel: rgb(0xffffff),
    raised: rgb(0xf0f3f7),
    line: rgb(0xd9e0e8),
    text: rgb(0x16202b),
    dim: rgb(0x566473),
    accent: rgb(0x0a6fb3),
    a: rgb(0xa35600),
    b: rgb(0x007a61),
    bad: rgb(0xc62828),
    track: rgb(0xe3e9f0),
    on_zone: rgb(0xffffff),
    zones: [rgb(0x9c6a00), rgb(0x1b78b3), rgb(0x00875f), rgb(0xb0578f), rgb(0x7f7400), rgb(0x6b4fc0)],
    offsets: [
        rgb(0x39115f),
        rgb(0x24306e),
        rgb(0x00456b),
        rgb(0x005960),
        rgb(0x026e54),
        rgb(0x037e3a),
        rgb(0x298908),
        rgb(0x6d8e00),
        rgb(0xa19301),
    ],
    white_until: 190,
};

/// For print: greys on white, told apart by lightness and pattern ([`crate::svg`] draws the patterns).
pub const GREY: Palette = Palette {
    bg: rgb(0xffffff),
    panel: rgb(0xffffff),
    raised: rgb(0xf2f2f2),
    line: rgb(0xb8b8b8),
    text: rgb(0x000000),
    dim: rgb(0x4a4a4a),
    accent: rgb(0x6e6e6e),
    a: rgb(0x000000),
    b: rgb(0x6e6e6e),
    bad: rgb(0x000000),
    track: rgb(0xe4e4e4),
    on_zone: rgb(0xffffff),
    zones: [rgb(0x1a1a1a), rgb(0x727272), rgb(0x1a1a1a), rgb(0x606060), rgb(0x606060), rgb(0x1a1a1a)],
    offsets: [
        rgb(0x1a1a1a),
        rgb(0x2c2c2c),
        rgb(0x3f3f3f),
        rgb(0x515151),
        rgb(0x626262),
        rgb(0x727272),
        rgb(0x818181),
        rgb(0x8b8b8b),
        rgb(0x949494),
    ],
    white_until: 168,
};

impl Palette {
    /// The colour of a token.
    pub fn ink(&self, ink: Ink) -> Rgb {
        match ink {
            Ink::Bg => self.bg,
            Ink::Panel => self.panel,
            Ink::Raised => self.raised,
            Ink::Line => self.line,
            Ink::Text => self.text,
            Ink::Dim => self.dim,
            Ink::Accent => self.accent,
            Ink::A => self.a,
            Ink::B => self.b,
            Ink::Bad => self.bad,
            Ink::Track => self.track,
            Ink::OnZone => self.on_zone,
            Ink::Zone(n) => self.zones[usize::from(n) % 6],
            Ink::Offset(n) => self.offset(n),
            Ink::Gzbd(n) => GZBD[usize::from(n) % GZBD.len()],
            Ink::OnOffset(n) => [rgb(0xffffff), rgb(0)][usize::from(n >= self.white_until)],
        }
    }
    /// The colour of an offset, between the two stops beside it.
    fn offset(&self, n: u8) -> Rgb {
        let at = u32::from(n) * 8;
        let (stop, part) = ((at / 255) as usize, at % 255);
        let (a, b) = (self.offsets[stop], self.offsets[(stop + 1).min(8)]);
        let mix = |a: u8, b: u8| ((u32::from(a) * (255 - part) + u32::from(b) * part) / 255) as u8;
        Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn channel(v: u8) -> f64 {
        let c = f64::from(v) / 255.0;
        if c <= 0.03928 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    }
    fn luminance(c: Rgb) -> f64 {
        0.2126 * channel(c.0) + 0.7152 * channel(c.1) + 0.0722 * channel(c.2)
    }
    fn contrast(a: Rgb, b: Rgb) -> f64 {
        let (x, y) = (luminance(a) + 0.05, luminance(b) + 0.05);
        if x > y { x / y } else { y / x }
    }

    #[test]
    fn print_has_no_colour() {
        let all = [GREY.bg, GREY.raised, GREY.line, GREY.dim, GREY.accent, GREY.b, GREY.track, GREY.on_zone];
        assert!(all.iter().chain(&GREY.zones).chain(&GREY.offsets).all(|c| c.0 == c.1 && c.1 == c.2));
    }

    #[test]
    fn an_offset_has_one_colour_lighter_than_all_before_it() {
        for (name, p) in [("dark", DARK), ("light", LIGHT), ("grey", GREY)] {
            assert_eq!((p.ink(Ink::Offset(0)), p.ink(Ink::Offset(255))), (p.offsets[0], p.offsets[8]));
            let light: Vec<f64> = (0..=255).map(|n| luminance(p.ink(Ink::Offset(n)))).collect();
            assert!(light.windows(2).all(|w| w[0] <= w[1] + 0.001), "{name}");
            assert!(p.offsets.windows(2).all(|w| luminance(w[0]) < luminance(w[1])), "{name}");
            for n in 0..=255 {
                let c = contrast(p.ink(Ink::Offset(n)), p.ink(Ink::OnOffset(n)));
                assert!(c >= 4.5, "{name} label on {n}: {c:.2}");
                let c = contrast(p.ink(Ink::Offset(n)), p.panel);
                assert!(c >= 3.0, "{name} {n} on its panel: {c:.2}");
            }
        }
    }

    #[test]
    fn text_and_marks_stand_out() {
        for (name, p) in [("dark", DARK), ("light", LIGHT), ("grey", GREY)] {
            for ground in [p.bg, p.panel, p.raised] {
                for ink in [p.text, p.dim, p.accent, p.a, p.b, p.bad] {
                    let c = contrast(ink, ground);
                    assert!(c >= 4.5, "{name} {} on {}: {c:.2}", ink.css(), ground.css());
                }
                for ink in p.zones {
                    let c = contrast(ink, ground);
                    assert!(c >= 3.0, "{name} {} on {}: {c:.2}", ink.css(), ground.css());
                }
            }
            for ink in p.zones {
                let c = contrast(p.on_zone, ink);
                assert!(c >= 4.5, "{name} label on {}: {c:.2}", ink.css());
            }
        }
    }
}
