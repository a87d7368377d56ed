use dtq::Context;
use std::sync::Arc;

#[dtq::task]
async fn a(ctx: Option<&Context>) {
    let _ = ctx;
}

#[dtq::task]
async fn b(ctx: Arc<Context>) {
    let _ = ctx;
}

fn main() {}
