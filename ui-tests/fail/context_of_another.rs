mod other {
    pub struct Context;
}
use other::Context;

#[dtq::task]
async fn charge(ctx: &Context) {
    let _ = ctx;
}

fn main() {}
