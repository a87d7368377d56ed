#[dtq::task]
unsafe extern "C" fn charge(order: u64, more: ...) {
    let _ = order;
}

fn main() {}
