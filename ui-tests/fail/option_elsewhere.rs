#[dtq::task(cron = "0 0 * * * *", unique = "{order}", idempotency_key = "x", rate = "10/s", delay = "5s")]
async fn charge() {}

fn main() {}
