#[derive(serde::Deserialize)]
struct Order(u64);

#[dtq::task]
fn charge(order: Order) {
    let _ = order.0;
}

fn main() {}
