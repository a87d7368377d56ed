#[dtq::task(name, queue, priority, max_attempts, timeout, retention, ttl)]
async fn charge() {}

fn main() {}
