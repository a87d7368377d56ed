#[dtq::task]
async unsafe fn charge(order: u64) {
    let _ = order;
}

fn main() {}
