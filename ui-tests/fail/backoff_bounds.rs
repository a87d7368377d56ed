#[dtq::task(backoff = exponential(base = "40000d"))]
async fn a() {}
#[dtq::task(backoff = exponential(factor = 1001))]
async fn b() {}
#[dtq::task(backoff = linear(step = "0s"))]
async fn c() {}
#[dtq::task(backoff = linear(step = "1h", cap = "1m"))]
async fn d() {}
#[dtq::task(backoff = fixed("-5s"))]
async fn e() {}

fn main() {}
