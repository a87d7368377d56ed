use std::cell::Cell;

#[dtq::task]
fn charge(#[state] counter: &Cell<u32>) {
    counter.set(1);
}

fn main() {}
