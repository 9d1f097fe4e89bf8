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
