#[dtq::task]
async fn charge(order: u64) -> Result<String, std::io::Error> {
    Ok(order)
}

fn main() {}
