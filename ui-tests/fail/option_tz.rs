#[dtq::task(cron = "0 0 * * *", tz = "Europe/Berln")]
async fn typo() {}
#[dtq::task(cron = "0 0 * * *", tz = "europe/berlin")]
async fn case() {}
#[dtq::task(cron = "0 0 * * *", tz = "+02:00")]
async fn offset() {}
#[dtq::task(cron = "0 0 * * *", tz = 2)]
async fn number() {}
#[dtq::task(tz = "Europe/Berlin")]
async fn alone() {}
#[dtq::task(every = "1h", tz = "Europe/Berlin")]
async fn interval() {}

fn main() {}
