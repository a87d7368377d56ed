use std::future::Future;
use std::pin::Pin;

#[dtq::task]
fn charge() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async {})
}

fn main() {}
