#[dtq::task]
async fn charge(
    #[arg(alias("old"))] a: u8,
    #[arg(alias = ["b1", "b2"])] b: u8,
    #[arg(aliases = "c1")] c: u8,
    #[arg(alias = old)] d: u8,
    #[arg = "e1"] e: u8,
    #[arg(alias = "f")] f: u8,
) {
    let _ = (a, b, c, d, e, f);
}

fn main() {}
