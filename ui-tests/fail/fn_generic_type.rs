#[dtq::task]
async fn charge<T: Send>(order: T) {
    let _ = order;
}

fn main() {}
