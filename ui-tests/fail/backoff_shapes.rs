#[dtq::task(backoff = fixed(fixed("1s")))]
async fn a() {}
#[dtq::task(backoff = { fixed("1s") })]
async fn b() {}
#[dtq::task(backoff = dtq::types::Backoff::Fixed(1))]
async fn c() {}
#[dtq::task(backoff = ["1s", "5s"])]
async fn d() {}
#[dtq::task(backoff = exponential { base: "1s" })]
async fn e() {}
#[dtq::task(backoff("1s"))]
async fn f() {}
#[dtq::task(backoff = linear("10s"))]
async fn g() {}

fn main() {}
