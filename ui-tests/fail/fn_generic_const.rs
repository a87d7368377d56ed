#[dtq::task]
async fn charge<const N: usize>(order: u64) {
    let _ = order;
}

fn main() {}
