#[dtq::task(queue = "a", max_attempts = 3, queue = "b", max_attempts = 3)]
async fn charge() {}

fn main() {}
