use dtq::Context;

#[dtq::task]
async fn charge(ctx: &Context, order: u64, again: &dtq::Context) {
    let _ = (ctx, order, again);
}

fn main() {}
