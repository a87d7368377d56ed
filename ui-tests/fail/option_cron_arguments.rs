use dtq::prelude::*;

#[dtq::task(cron = "0 0 * * *")]
async fn report(ctx: &Context, customer: u64, #[arg(default)] limit: u32, title: String) {
    let _ = (ctx, customer, limit, title);
}
#[dtq::task(every = "1m")]
async fn ping(host: String) {
    drop(host);
}

fn main() {}
