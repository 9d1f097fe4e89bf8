//! 100,000 hostile links: no panic, what was read can be written and read again, and memory is bounded.
//! `cargo xtask fuzz` reads ten million.

mod common;

use common::Rng;
use common::fuzz::{Counting, MAX_MEMORY, holds, text};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn hostile_links_do_no_harm() {
    let golden = common::golden();
    let mut rng = Rng(7);
    for i in 0..100_000 {
        let text = text(&mut rng, &golden);
        let memory = holds(&text, i % 4 == 0);
        assert!(memory <= MAX_MEMORY, "text {i} takes {memory} bytes: {text}");
    }
}

/// The largest texts there can be, each of another kind.
#[test]
fn the_worst_texts_stay_within_their_memory() {
    let fill = |piece: &str| piece.repeat(16_384 / piece.len());
    let jobs = |value: &str| {
        let pairs = (0..3000)
            .map(|i| (format!("job{}.{}", i % 256, ["bs", "size", "offset", "rw"][i / 256 % 4]), value.into()));
        format!("z={}", bioscope_scenario::packed::pack(3000, pairs).unwrap())
    };
    let many: String = (0..1900).map(|i| format!("k{i}=1&")).collect();
    for text in [
        fill("&"),
        fill("a&"),
        fill("a=&"),
        fill("\u{1f600}"),
        fill("%00"),
        fill("=\u{1}&"),
        format!("fault={}", fill("1+1,").split_at(16_300).0),
        format!("sw=iodepth:{}", fill("1,").split_at(16_300).0),
        format!("view={}", fill("jobs,").split_at(16_300).0),
        many,
        jobs("64k"),
        jobs("7"),
        format!("numjobs=256&{}", jobs("64k")),
    ] {
        let memory = holds(&text, false).max(holds(&text, true));
        let start: String = text.chars().take(20).collect();
        println!("{memory:8} bytes for {} of {start}…", text.len());
        assert!(memory <= MAX_MEMORY, "{memory} bytes for {start}");
    }
}
