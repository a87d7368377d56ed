#[dtq::task]
async fn charge(#[cfg] a: u8, #[cfg_attr] b: u8, #[cfg_attr(unix, arg(defualt))] c: u8) {
    let _ = (a, b, c);
}

fn main() {}
