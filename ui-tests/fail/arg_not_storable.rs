use std::sync::atomic::AtomicBool;
use std::time::Instant;

#[dtq::task]
async fn charge(since: Instant, then: fn(u8), raw: *const u8, boxed: Box<dyn Send>, file: std::fs::File) {
    let _ = (since, then, raw, boxed, file);
    let _ = AtomicBool::new(true);
}

fn main() {}
