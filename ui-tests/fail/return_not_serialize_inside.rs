struct Receipt;

#[dtq::task]
async fn charge() -> Result<Vec<Receipt>, std::io::Error> {
    Ok(vec![])
}

#[dtq::task]
fn refund() -> dtq::Outcome<Option<Receipt>> {
    dtq::Outcome::Retry
}

fn main() {}
