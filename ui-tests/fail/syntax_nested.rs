#[dtq::task(retry(max = 3), options = { queue = "high" }, [queue = "high"])]
async fn charge() {}

fn main() {}
