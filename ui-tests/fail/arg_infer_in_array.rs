#[dtq::task]
async fn charge(bytes: [u8; _], rest: (u8, _)) {
    let _ = (bytes, rest);
}

fn main() {}
