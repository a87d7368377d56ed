//! The context by any path, under another name, unused, in a macro, across awaits.
#![deny(warnings)]
mod deep {
    pub(super) use dtq::Context;
}

#[dtq::task]
async fn by_path(ctx: &deep::Context) -> u32 {
    ctx.attempt()
}
#[dtq::task]
async fn fully(c: &::dtq::Context, order: u64) -> bool {
    std::future::ready(order).await;
    c.is_cancelled()
}
#[dtq::task]
async fn from_prelude(n: u8, _ctx: &dtq::prelude::Context) -> u8 {
    n
}
#[dtq::task]
async fn with_anonymous_lifetime(ctx: &'_ dtq::Context) {
    let token = ctx.attempt();
    std::future::ready(()).await;
    let _ = (token, ctx);
}

#[test]
fn works() {
    drop((by_path::call(), fully::call(1), from_prelude::call(1), with_anonymous_lifetime::call()));
}
