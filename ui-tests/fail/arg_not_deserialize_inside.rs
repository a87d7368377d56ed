use std::collections::HashMap;

#[derive(serde::Serialize, PartialEq, Eq, Hash)]
struct Order(u64);

#[dtq::task]
async fn charge(one: Option<Order>, many: Vec<Order>, by_id: HashMap<u64, Order>, pair: (u8, Order)) {
    let _ = (one, many, by_id, pair);
}

fn main() {}
