#[dtq::task]
async fn charge(order: u64) -> u64;

fn main() {
    drop(charge::enqueue(1));
}
