async fn charge(order: u64) {
    let _ = order;
}

fn main() {
    drop(charge(1));
    drop(charge::enqueue(1));
}
