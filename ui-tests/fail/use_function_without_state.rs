use dtq::Context;

#[dtq::task]
async fn charge(ctx: &Context, #[state] db: &String, order: u64) {
    let _ = (ctx, db, order);
}

fn main() {
    drop(charge(1));
    drop(charge::call(&Context::detached(), 1));
}
