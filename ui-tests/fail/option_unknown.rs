#[dtq::task(queu = "high", retries = 3, max_atempts = 3, colour = "red", Timeout = "1s")]
async fn charge() {}

fn main() {}
