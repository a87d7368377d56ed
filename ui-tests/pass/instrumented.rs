//! `tracing::instrument` above and below, with fields of arguments, on both kinds of function.
#![deny(warnings)]
use dtq::prelude::*;

#[dtq::task]
#[tracing::instrument(skip(ctx), fields(attempt = ctx.attempt()))]
async fn below(ctx: &Context, order: u64) -> Result<u64, TaskError> {
    std::future::ready(()).await;
    Ok(order + u64::from(ctx.attempt()))
}
#[tracing::instrument(skip_all)]
#[dtq::task]
async fn above(#[state] db: &String, order: u64) -> u64 {
    order + db.len() as u64
}
#[dtq::task]
#[tracing::instrument(err)]
fn plain(order: u64) -> Result<u64, std::fmt::Error> {
    Ok(order)
}

#[test]
fn works() {
    drop((below::call(1), above::call(2), plain::call(3)));
    assert_eq!(plain(4), Ok(4));
}
