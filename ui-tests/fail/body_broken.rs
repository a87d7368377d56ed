#[dtq::task(queu = "high")]
async fn charge(order: u64) -> u64 {
    let text: String = order;
    undefined()
}

fn main() {
    drop(charge::enqueue(17));
}
