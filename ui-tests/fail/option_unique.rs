#[dtq::task(unique = "order-{ordr}")]
async fn typo(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "order-{ctx}-{db}")]
async fn no_arguments(ctx: &dtq::Context, #[state] db: &String) {
    let _ = (ctx, db);
}
#[dtq::task(unique = "order-{order")]
async fn open(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "order-order}")]
async fn closed(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "order-{order:03}")]
async fn format(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "order-{order.id}")]
async fn field(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "order-{}")]
async fn unnamed(order: u64) {
    let _ = order;
}
#[dtq::task(unique = "")]
async fn empty(order: u64) {
    let _ = order;
}
#[dtq::task(unique = order)]
async fn expression(order: u64) {
    let _ = order;
}
#[dtq::task(unique)]
async fn flag(order: u64) {
    let _ = order;
}

fn main() {
    let _ = (typo::call(1), field::call(1), empty::call(1), flag::call(1));
}
