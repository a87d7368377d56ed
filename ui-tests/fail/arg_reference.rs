use std::path::Path;

struct Order;

#[dtq::task]
async fn charge(note: &str, bytes: &[u8], path: &Path, order: &Order, number: &mut u64, fixed: &'static str) {
    let _ = (note, bytes, path, order, number, fixed);
}

fn main() {}
