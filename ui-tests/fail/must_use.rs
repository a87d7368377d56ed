#![deny(unused_must_use)]

#[dtq::task]
async fn charge(order: u64) {
    let _ = order;
}

fn main() {
    charge::enqueue(17);
    charge::enqueue_many([17]);
    charge::call(17);
}
