#[dtq::task]
async fn charge() -> Result<(), Box<dyn std::error::Error>> {
    Ok(())
}

fn main() {}
