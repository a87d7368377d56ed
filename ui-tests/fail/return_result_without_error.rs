#[dtq::task]
async fn charge() -> Result<u64> {
    Ok(1)
}

fn main() {}
