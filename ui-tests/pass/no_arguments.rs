//! Nothing to pass: the payload is `{}`, and many calls are many units.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn asynchronous() {}
#[dtq::task]
fn plain() {}
#[dtq::task]
async fn only_context(ctx: &Context) -> u32 {
    ctx.attempt()
}

#[test]
fn works() {
    assert_eq!(crate::written(&plain {}).unwrap(), "{}");
    drop((asynchronous::call(), plain::enqueue(), only_context::enqueue_many([(), ()])));
    assert!(only_context::DEF.arguments.is_empty());
}
