#[dtq::task]
async fn charge(#[arg(alias = "b")] a: u8, b: u8, #[arg(alias = "d", alias = "d")] c: u8) {
    let _ = (a, b, c);
}

fn main() {}
