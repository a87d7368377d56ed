//! Owned types that mention `'static`.
use std::borrow::Cow;

#[dtq::task]
async fn cow(text: Cow<'static, str>) -> Result<Cow<'static, str>, std::fmt::Error> {
    Ok(text)
}

fn main() {
    drop(cow::call("x".into()));
}
