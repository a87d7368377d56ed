//! Owned types that mention `'static`.
use std::borrow::Cow;

#[dtq::task]
async fn cow(text: Cow<'static, str>) -> Result<Cow<'static, str>, std::fmt::Error> {
    Ok(text)
}

#[test]
fn works() {
    drop(cow::call("x".into()));
}
