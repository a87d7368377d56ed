#[dtq::task]
async fn charge(order: u64) {
    let _ = order;
}

fn main() {
    let _ = charge::enqueue(1).priority("high");
    let _ = charge::enqueue(1).delay(5);
    let _ = charge::enqueue(1).prioriti(3);
}
