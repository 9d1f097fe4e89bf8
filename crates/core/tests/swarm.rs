//! A thousand pipelines drawn from everything there is; `cargo xtask swarm` draws others.

mod common;
#[path = "common/swarm.rs"]
mod drawn;

#[test]
fn a_thousand_random_pipelines_keep_the_laws() {
    match drawn::swarm(0, 1000) {
        Ok(seen) => println!("{seen}"),
        Err(why) => panic!("{why}"),
    }
}

/// A lock kept by a read that needs none, a job that nobody woke, a zone left on the worker's list.
#[test]
fn seeds_that_broke_a_law() {
    for seed in [45, 180, 191, 612, 954, 1037, 1322, 1367, 2695, 3439] {
        if let Err(why) = drawn::swarm(seed, 1) {
            panic!("{why}");
        }
    }
}
