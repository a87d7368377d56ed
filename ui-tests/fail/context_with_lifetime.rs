use dtq::Context;

#[dtq::task]
async fn charge<'a>(ctx: &'a Context, order: u64) {
    let _ = (ctx, order);
}

#[dtq::task]
async fn refund(ctx: &'static Context) {
    let _ = ctx;
}

fn main() {}
