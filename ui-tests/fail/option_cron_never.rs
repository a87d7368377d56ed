#[dtq::task(cron = "0 0 30 2 *")]
async fn february() {}
#[dtq::task(cron = "0 0 31 4 *")]
async fn april() {}
#[dtq::task(cron = "0 0 31 2,4,6 *")]
async fn several() {}

fn main() {}
