#[dtq::task]
async fn charge(orders: Vec) {
    let _ = orders;
}

fn main() {}
