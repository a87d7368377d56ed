use std::rc::Rc;

#[dtq::task]
async fn charge(order: Rc<u64>) {
    let _ = order;
}

fn main() {}
