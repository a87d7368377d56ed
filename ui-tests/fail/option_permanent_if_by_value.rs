fn is_final(error: std::fmt::Error) -> bool {
    error == std::fmt::Error
}

#[dtq::task(permanent_if = is_final)]
async fn charge() -> Result<(), std::fmt::Error> {
    Ok(())
}

fn main() {}
