#![deny(deprecated)]

#[dtq::task]
#[deprecated = "use charge"]
async fn old(order: u64) {
    let _ = order;
}

fn main() {
    drop(old(17));
    drop(old::enqueue(17));
}
