#[dtq::task]
async fn charge(order) {}

#[dtq::task]
async fn refund(order: u64) -> {}

fn main() {}
