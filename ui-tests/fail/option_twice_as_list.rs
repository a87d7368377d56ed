#[dtq::task(aliases = ["a"], aliases = ["b"], permanent_if = f, permanent_if = g)]
async fn charge() -> Result<(), std::io::Error> {
    Ok(())
}

fn main() {}
