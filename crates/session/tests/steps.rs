//! Stepping by steps of a submission, from before the first event on.

use std::sync::Arc;

use bioscope_scenario::{Scenario, Side, preset, validate};
use bioscope_session::Session;

#[test]
fn the_first_step_can_be_stepped_to_from_both_sides() {
    let s = Scenario::of(preset::find("raid456-split").unwrap());
    let config = |side| Arc::new(validate(&s, side).unwrap());
    let mut session = Session::load(config(Side::A), Some(config(Side::B)));
    while !session.presimulate(7_001).unwrap().done {}
    session.rewind();
    let step = |session: &Session| session.frame().a.order.as_ref().unwrap().step;
    assert_eq!(step(&session), (0, 8));
    for want in [1, 2, 3] {
        assert!(session.submission_step(true));
        assert_eq!(step(&session), (want, 8));
    }
    for want in [2, 1] {
        assert!(session.submission_step(false));
        assert_eq!(step(&session), (want, 8));
    }
}
