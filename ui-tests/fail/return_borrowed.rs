#[dtq::task]
async fn charge() -> &'static str {
    ""
}

#[dtq::task]
async fn slice() -> &'static [u8] {
    &[]
}

fn main() {}
