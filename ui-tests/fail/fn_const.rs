#[dtq::task]
const fn charge(order: u64) -> u64 {
    order
}

fn main() {}
