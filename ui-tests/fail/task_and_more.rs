use dtq::task;

#[task]
#[task(priority = 3)]
async fn imported(order: u64) {
    let _ = order;
}

#[dtq::task]
#[dtq::subscriber(list("orders"))]
async fn subscriber_too(order: String) {
    let _ = order;
}

#[dtq::task]
#[dtq::test]
async fn test_too(order: u64) {
    let _ = order;
}

fn main() {
    let _ = imported::call(1);
}
