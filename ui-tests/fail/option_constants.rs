const LEVEL: u8 = 3;
const LONG: &str = "1h";
const KEPT: bool = true;

#[dtq::task(priority = LEVEL, ttl = LONG, dead_letter = KEPT, retention = env!("HOME"))]
async fn charge() {}

fn main() {
    let _ = (LEVEL, LONG, KEPT);
}
