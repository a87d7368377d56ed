//! A function, its type and an argument may share a name.
#![deny(warnings)]
#[dtq::task]
async fn charge(charge: u64, call: u8, enqueue: u8, run: u8) -> u64 {
    let _ = (call, enqueue, run);
    charge
}

#[test]
fn works() {
    drop((charge(1, 2, 3, 4), charge::call(1, 2, 3, 4), charge::enqueue(1, 2, 3, 4)));
    drop(charge::enqueue_many([(1, 2, 3, 4)]));
}
