#[dtq::task(cron = "0 0 * * * *", unique = "{order}", idempotency_key = "x", rate = "10/s", concurrency = 3)]
async fn charge() {}

fn main() {}
