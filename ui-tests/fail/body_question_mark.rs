#[dtq::task]
async fn charge(order: String) -> Result<u64, std::io::Error> {
    let order: u64 = order.parse()?;
    Ok(order)
}

fn main() {}
