#[dtq::task(cron = "0 0 * * * *", rate = "10/s", concurrency = 3, delay = "5s")]
async fn charge() {}

fn main() {}
