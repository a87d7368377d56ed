#[dtq::task]
async fn charge(order: u64, order: String) {
    let _ = order;
}

fn main() {
    drop(charge::call(1, String::new()));
}
