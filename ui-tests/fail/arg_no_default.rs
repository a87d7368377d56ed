#[derive(serde::Serialize, serde::Deserialize)]
struct Order(u64);

#[dtq::task]
async fn charge(#[arg(default)] order: Order) {
    let _ = order.0;
}

fn main() {}
