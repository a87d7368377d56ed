use std::time::Duration;

use dtq::prelude::*;

const HOUR: Duration = Duration::from_secs(3600);

#[dtq::task]
async fn no_result(ctx: &Context) -> Result<u8, TaskError> {
    Ok(ctx.once("key", HOUR, || async { 5_u8 }).await?)
}

#[dtq::task]
async fn not_async(ctx: &Context) -> Result<u8, TaskError> {
    Ok(ctx.once("key", HOUR, || Ok::<u8, TaskError>(5)).await?)
}

#[dtq::task]
async fn no_closure(ctx: &Context) -> Result<u8, TaskError> {
    Ok(ctx.once("key", HOUR, async { Ok::<u8, TaskError>(5) }).await?)
}

#[dtq::task]
async fn takes_an_argument(ctx: &Context) -> Result<u8, TaskError> {
    Ok(ctx.once("key", HOUR, |_: u8| async { Ok::<u8, TaskError>(5) }).await?)
}

fn main() {}
