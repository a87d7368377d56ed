#[dtq::task]
async fn charge(order: Ordr) -> Reciept {
    let _ = order;
}

fn main() {}
