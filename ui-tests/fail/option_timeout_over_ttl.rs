#[dtq::task(timeout = "2h", ttl = "1h")]
async fn charge() {}

fn main() {}
