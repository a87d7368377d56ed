use std::marker::PhantomData;

#[derive(serde::Serialize, serde::Deserialize)]
struct Order(u64, PhantomData<*const u8>);

#[dtq::task]
async fn charge(order: Order) {
    let _ = order.0;
}

fn main() {}
