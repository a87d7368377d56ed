fn wait(attempt: u64) -> u64 {
    attempt
}

#[dtq::task(backoff = wait)]
async fn a() {}
#[dtq::task(backoff = nowhere::wait)]
async fn b() {}

fn main() {}
