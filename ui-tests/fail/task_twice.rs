#[dtq::task]
#[dtq::task(queue = "high")]
async fn charge() {}

fn main() {}
