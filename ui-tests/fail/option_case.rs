#[dtq::task(Queue = "high", MAX_ATTEMPTS = 3, maxAttempts = 3, deadLetter = false)]
async fn charge() {}

fn main() {}
