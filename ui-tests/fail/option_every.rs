#[dtq::task(every = "0s")]
async fn zero() {}
#[dtq::task(every = "1ns")]
async fn nanosecond() {}
#[dtq::task(every = "500ms")]
async fn short() {}
#[dtq::task(every = 30)]
async fn number() {}
#[dtq::task(every = "1h", cron = "0 * * * *")]
async fn both() {}

fn main() {}
