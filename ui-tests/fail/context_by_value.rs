use dtq::Context;

#[dtq::task]
async fn charge(ctx: Context) {
    let _ = ctx;
}

#[dtq::task]
async fn refund(ctx: &mut dtq::Context, #[arg(default)] other: &Context) {
    let _ = (ctx, other);
}

fn main() {}
