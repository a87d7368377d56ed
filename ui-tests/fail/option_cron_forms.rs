#[dtq::task(cron)]
async fn flag() {}
#[dtq::task(cron = 5)]
async fn number() {}
#[dtq::task(cron = "* * * * *", cron = "* * * * *")]
async fn twice() {}
#[dtq::task(schedule = "* * * * *")]
async fn synonym() {}

fn main() {}
