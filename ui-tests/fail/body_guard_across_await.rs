use std::sync::Mutex;

#[dtq::task]
async fn charge(#[state] seen: &Mutex<u8>) {
    let mut seen = seen.lock().unwrap();
    std::future::ready(()).await;
    *seen += 1;
}

fn main() {}
