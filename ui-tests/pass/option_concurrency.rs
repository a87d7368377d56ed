//! `concurrency = ..`, at its bounds, and left out.
use dtq::prelude::*;

#[dtq::task(concurrency = 1)]
async fn one_at_a_time() {}
#[dtq::task(concurrency = 4_294_967_295)]
fn many_at_a_time() {}
#[dtq::task]
async fn as_many_as_may_be() {}

#[test]
fn works() {
    let declared =
        [one_at_a_time::DEF.concurrency, many_at_a_time::DEF.concurrency, as_many_as_may_be::DEF.concurrency];
    assert_eq!(declared, [Some(1), Some(u32::MAX), None]);
}
