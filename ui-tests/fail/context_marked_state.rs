use dtq::Context;

#[dtq::task]
async fn charge(#[state] ctx: &Context, #[state] _: &u8, #[state] Db { url }: &Db, _: &Context) {
    let _ = (ctx, url);
}

struct Db {
    url: String,
}

fn main() {}
