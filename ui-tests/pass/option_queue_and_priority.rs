//! `queue = ..` and `priority = ..`, at their bounds.
use dtq::prelude::*;

#[dtq::task(queue = "a", priority = 0)]
async fn last() {}
#[dtq::task(priority = 9, queue = "high.eu-1_b")]
async fn first() {}
#[dtq::task(priority = 0x5)]
async fn hexadecimal() {}

#[test]
fn works() {
    assert_eq!((last::DEF.queue, last::DEF.priority), ("a", 0));
    assert_eq!((first::DEF.queue, first::DEF.priority), ("high.eu-1_b", 9));
    assert_eq!((hexadecimal::DEF.queue, hexadecimal::DEF.priority), ("default", 5));
}
