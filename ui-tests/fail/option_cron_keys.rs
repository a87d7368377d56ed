#[dtq::task(cron = "0 3 * * *", unique = "sweep")]
async fn one_key() {}
#[dtq::task(every = "30s", unique = "sweep", idempotency_key = "sweep-{day}")]
async fn two_keys(#[arg(default)] day: u32) {
    let _ = day;
}

fn main() {}
