#[dtq::task]
async fn charge(ctx: &Context, order: u64) {
    let _ = order;
}

fn main() {}
