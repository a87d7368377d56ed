#[dtq::task(queue = "high"x, timeout = "30s"s, max_attempts = 3u32, priority = 5_u8)]
async fn charge() {}

fn main() {}
