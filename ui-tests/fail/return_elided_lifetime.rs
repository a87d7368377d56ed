#[dtq::task]
async fn charge() -> Result<&str, std::fmt::Error> {
    Ok("")
}

fn main() {}
