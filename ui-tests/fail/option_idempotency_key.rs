#[dtq::task(idempotency_key = "order-{oder}")]
async fn typo(order: u64) {
    let _ = order;
}
#[dtq::task(idempotency_key = "daily")]
async fn constant(order: u64) {
    let _ = order;
}
#[dtq::task(idempotency_key(key = "{order}", keep = "0s", until = "started"))]
async fn settings(order: u64) {
    let _ = order;
}
#[dtq::task(idempotency_key(keep = "1h"))]
async fn keyless(order: u64) {
    let _ = order;
}
#[dtq::task(idempotency_key = 17, idempotncy_key = "{order}")]
async fn number(order: u64) {
    let _ = order;
}
#[dtq::task(idempotency_key = "order-{order}")]
async fn none_at_all() {}

fn main() {
    let _ = (typo::call(1), settings::call(1), none_at_all::call());
}
