#[dtq::task(permanent_if = ChargeError::is_final)]
async fn charge() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
