#[derive(serde::Serialize)]
struct Receipt;

#[dtq::task]
async fn charge() -> Option<Receipt> {
    None
}

#[dtq::task]
fn refund() -> Vec<(u8, Receipt)> {
    vec![]
}

fn main() {}
