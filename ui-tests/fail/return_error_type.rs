#[derive(Debug)]
struct ChargeError;

#[dtq::task]
async fn charge() -> Result<(), ChargeError> {
    Err(ChargeError)
}

#[dtq::task]
fn refund() -> Result<(), String> {
    Err(String::new())
}

fn main() {}
