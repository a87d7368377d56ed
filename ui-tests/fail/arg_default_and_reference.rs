#[dtq::task]
async fn charge(#[arg(default)] note: &str, #[arg(alias = "x")] (a, b): (u8, u8)) {
    let _ = (note, a, b);
}

fn main() {
    drop(charge::enqueue("", (1, 2)));
}
