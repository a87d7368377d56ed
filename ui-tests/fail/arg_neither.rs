struct Order(u64);

#[dtq::task]
async fn charge(order: Order) {
    let _ = order.0;
}

fn main() {}
