#[dtq::task(backoff = exponential(base = "0s", factor = 0.5, cap = "1 h", jitter = 2))]
async fn a() {}
#[dtq::task(backoff = exponential(bse = "1s", step = "1s", "1s"))]
async fn b() {}
#[dtq::task(backoff = exponential(base = "10m", cap = "1m"))]
async fn c() {}
#[dtq::task(backoff = linear(step = "1s", step = "2s", jitter = 0.1))]
async fn d() {}
#[dtq::task(backoff = fixed(5))]
async fn e() {}
#[dtq::task(backoff = exponential(factor = "2", jitter = -1))]
async fn f() {}

fn main() {}
