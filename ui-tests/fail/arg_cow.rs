use dtq::prelude::*;
use std::borrow::Cow;

#[dtq::task]
async fn charge(note: Cow<str>, list: Cow<[u8]>, owned: Cow<'static, str>) -> Result<u64, TaskError> {
    let _ = (note, list, owned);
    Ok(1)
}

fn main() {}
