#[dtq::task]
pub struct Charge {
    order: u64,
}

fn main() {}
