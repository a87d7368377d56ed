#[dtq::task(rate = "10/s", delay = "5s")]
async fn charge() {}

fn main() {}
