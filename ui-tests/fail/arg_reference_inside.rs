use std::borrow::Cow;

#[dtq::task]
async fn charge(maybe: Option<&str>, list: Vec<(u8, &'static [u8])>, cow: Cow<'_, str>) {
    let _ = (maybe, list, cow);
}

fn main() {}
