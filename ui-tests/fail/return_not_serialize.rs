struct Receipt;

#[dtq::task]
async fn charge() -> Result<Receipt, std::io::Error> {
    Ok(Receipt)
}

fn main() {}
