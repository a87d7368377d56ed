#[dtq::task]
extern "C" fn charge(order: u64) {
    let _ = order;
}

fn main() {}
