#[dtq::task(unique(until = "finished"))]
async fn keyless(order: u64) {
    let _ = order;
}
#[dtq::task(unique(key = "{order}", until = "start", on_conflict = "overwrite"))]
async fn words(order: u64) {
    let _ = order;
}
#[dtq::task(unique(key = "{order}", until = "started", period = "10m"))]
async fn both(order: u64) {
    let _ = order;
}
#[dtq::task(unique(key = "{order}", period = "0s"), unique = "{order}")]
async fn nothing(order: u64) {
    let _ = order;
}
#[dtq::task(unique(key = "{order}", key = "x", perod = "10m", on_conflict))]
async fn fields(order: u64) {
    let _ = order;
}
#[dtq::task(unique(key = "{order}", period = 600))]
async fn number(order: u64) {
    let _ = order;
}
#[dtq::task(unique("order-{order}"))]
async fn nameless(order: u64) {
    let _ = order;
}

fn main() {}
