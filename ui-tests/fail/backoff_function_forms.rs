use std::time::Duration;

async fn waits(attempt: u32) -> Duration {
    Duration::from_secs(attempt.into())
}

struct Wait;

#[dtq::task(backoff = waits)]
async fn a() {}
#[dtq::task(backoff = Wait)]
async fn b() {}

fn main() {}
