#[derive(serde::Serialize)]
struct Order(u64);

#[dtq::task]
async fn charge(note: String, order: Order) {
    let _ = (note, order.0);
}

fn main() {}
