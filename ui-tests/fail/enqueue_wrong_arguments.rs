#[dtq::task]
async fn charge(order: u64, note: String) {
    let _ = (order, note);
}

async fn place() {
    charge::enqueue("17", String::new()).await.ok();
    charge::enqueue(17).await.ok();
    charge::enqueue_many([17]).await.ok();
    charge::enqueue(17, String::new());
}

fn main() {
    drop(place());
}
