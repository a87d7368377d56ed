#[dtq::task = "high"]
async fn charge() {}

fn main() {}
