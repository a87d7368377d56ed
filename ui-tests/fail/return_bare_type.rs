#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt;

#[dtq::task]
async fn charge() -> Receipt {
    Receipt
}

fn main() {}
