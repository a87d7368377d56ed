#[dtq::task]
fn charge() {
    std::future::ready(()).await;
}

fn main() {}
