#[dtq::task]
async fn charge(
    #[cfg(unix)] a: u8,
    #[cfg_attr(unix, arg(default))] b: u8,
    #[serde(default)] c: u8,
    #[stat] d: &u8,
    #[args(default)] e: u8,
) {
    let _ = (a, b, c, d, e);
}

fn main() {}
