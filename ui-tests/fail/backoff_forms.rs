#[dtq::task(backoff = "5 parsecs")]
async fn a() {}
#[dtq::task(backoff = exponentail(base = "1s"))]
async fn b() {}
#[dtq::task(backoff = linear)]
async fn c() {}
#[dtq::task(backoff = fixed)]
async fn d() {}
#[dtq::task(backoff = fixed())]
async fn e() {}
#[dtq::task(backoff = fixed("1s", "2s"))]
async fn f() {}
#[dtq::task(backoff = linear(cap = "1s"))]
async fn g() {}
#[dtq::task(backoff = |n| n)]
async fn h() {}
#[dtq::task(backoff)]
async fn i() {}

fn main() {}
