#[derive(serde::Serialize, serde::Deserialize)]
struct Receipt;

#[dtq::task]
pub async fn charge() -> Result<Receipt, std::io::Error> {
    Ok(Receipt)
}

fn main() {}
