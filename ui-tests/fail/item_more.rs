#[dtq::task]
static LIMIT: u8 = 1;

#[dtq::task]
use std::time::Duration;

#[dtq::task]
type Order = u64;

#[dtq::task]
union Both {
    a: u8,
}

#[dtq::task]
macro_rules! charge {
    () => {};
}

fn main() {}
