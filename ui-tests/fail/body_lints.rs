#![deny(unused_variables, unused_mut, unreachable_code, dead_code)]

#[dtq::task]
async fn charge(unused: u64, mut order: u64) -> u64 {
    return order;
    order
}

fn nobody() {}

fn main() {}
