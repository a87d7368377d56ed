#[dtq::task]
async fn charge(
    #[arg(defualt)] a: u8,
    #[arg(alias)] b: u8,
    #[arg(alias = 3)] c: u8,
    #[arg(alias = "")] d: u8,
    #[arg(default = 3)] e: u8,
    #[arg] f: u8,
    #[arg(default, default)] g: u8,
    #[arg(alias = "x" default)] h: u8,
    #[arg(colour = "red")] i: u8,
) {
    let _ = (a, b, c, d, e, f, g, h, i);
}

fn main() {}
