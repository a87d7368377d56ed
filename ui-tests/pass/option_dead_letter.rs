//! `dead_letter = ..`.
use dtq::prelude::*;

#[dtq::task(dead_letter = true)]
async fn kept() {}
#[dtq::task(dead_letter = (false))]
async fn not_kept() {}

#[test]
fn works() {
    assert!(kept::DEF.dead_letter && !not_kept::DEF.dead_letter);
}
