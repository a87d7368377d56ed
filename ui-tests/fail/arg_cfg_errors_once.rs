#[dtq::task(queu = "high")]
async fn charge(#[cfg(all())] order: &str, #[cfg(any())] gone: &str) {
    let _ = order;
}

fn main() {
    drop(charge::call("17"));
}
