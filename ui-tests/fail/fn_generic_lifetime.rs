use std::borrow::Cow;

#[dtq::task]
async fn charge<'a>(note: Cow<'a, str>) {
    let _ = note;
}

fn main() {}
