#[dtq::task]
async fn charge(order: u64, note: String) {
    let _ = (order, note);
}

fn main() {
    let a = charge { order: 1, nte: String::new() };
    let b = charge { order: 1 };
    let _ = a.ordr + b.order;
}
