use std::marker::PhantomData;

#[derive(serde::Serialize)]
struct Receipt(u64, PhantomData<*const u8>);

#[dtq::task]
fn charge() -> Result<Receipt, std::io::Error> {
    Ok(Receipt(1, PhantomData))
}

fn main() {}
