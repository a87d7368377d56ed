#[derive(serde::Serialize, serde::Deserialize)]
struct Order<'a> {
    note: &'a str,
}

#[dtq::task]
async fn charge(order: Order<'static>) {
    let _ = order.note;
}

fn main() {}
