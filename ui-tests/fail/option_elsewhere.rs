#[dtq::task(cron = "0 0 * * * *", rate = "10/s", delay = "5s")]
async fn charge() {}

fn main() {}
