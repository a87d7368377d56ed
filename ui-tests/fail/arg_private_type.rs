mod orders {
    #[derive(serde::Serialize, serde::Deserialize)]
    struct Order(u64);
}

#[dtq::task]
async fn charge(order: orders::Order) {
    let _ = order;
}

fn main() {}
