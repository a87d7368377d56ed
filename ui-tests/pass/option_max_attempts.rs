//! `max_attempts = ..`, at its bounds.
use dtq::prelude::*;

#[dtq::task(max_attempts = 1)]
async fn once() {}
#[dtq::task(max_attempts = 4_294_967_295)]
async fn for_ever() {}

#[test]
fn works() {
    assert_eq!((once::DEF.max_attempts, for_ever::DEF.max_attempts), (1, u32::MAX));
}
