use std::rc::Rc;

#[dtq::task]
async fn charge(order: u64) -> Result<u64, std::io::Error> {
    let shared = Rc::new(order);
    std::future::ready(()).await;
    Ok(*shared)
}

fn main() {}
