#[dtq::task]
async fn charge(order: u64) {
    let _ = order;
    Ok(())
}

fn main() {}
