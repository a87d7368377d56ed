use std::time::Duration;

use dtq::prelude::*;

const HOUR: Duration = Duration::from_secs(3600);

struct Receipt;

#[dtq::task]
async fn result_not_stored(ctx: &Context) -> Result<(), TaskError> {
    ctx.once("key", HOUR, || async { Ok::<_, TaskError>(Receipt) }).await?;
    Ok(())
}

#[dtq::task]
async fn error_of_text(ctx: &Context) -> Result<u8, TaskError> {
    Ok(ctx.once("key", HOUR, || async { Err::<u8, _>("no".to_string()) }).await?)
}

#[dtq::task]
async fn error_unknown(ctx: &Context) -> Result<(), TaskError> {
    ctx.once("key", HOUR, || async {
        std::fs::read("receipt")?;
        Ok(())
    })
    .await?;
    Ok(())
}

#[dtq::task]
async fn key_and_ttl(ctx: &Context) -> Result<u8, TaskError> {
    let a = ctx.once(17, HOUR, || async { Ok::<u8, TaskError>(5) }).await?;
    let b = ctx.once("key", "1h", || async { Ok::<u8, TaskError>(5) }).await?;
    Ok(a + b)
}

fn main() {}
