#[derive(serde::Serialize, serde::Deserialize)]
struct Order(u64);

#[dtq::task(unique = "order-{order}")]
async fn charge(order: Order) {
    let _ = order.0;
}
#[dtq::task(idempotency_key = "{parts}-{order}")]
async fn ship(parts: Vec<u64>, order: u64) {
    let _ = (parts, order);
}

fn main() {}
