//! The function stays what it was: called, passed as a value, tested without a store.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
async fn asynchronous(ctx: &Context, order: u64) -> Result<u64, TaskError> {
    Ok(order + u64::from(ctx.max_attempts().min(1)))
}
#[dtq::task]
fn double(n: u64) -> u64 {
    n * 2
}

#[test]
fn works() {
    let function: fn(u64) -> u64 = double;
    assert_eq!([1, 2].map(double), [2, 4]);
    assert_eq!((function(3), double(4)), (6, 8));
    drop(asynchronous(&Context::detached(), 1));
    fn is_send<T: Send>(_: T) {}
    is_send(asynchronous(&Context::detached(), 1));
}
