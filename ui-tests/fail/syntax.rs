#[dtq::task(queue "high")]
async fn a() {}
#[dtq::task("high")]
async fn b() {}
#[dtq::task(queue = "high" priority = 3)]
async fn c() {}
#[dtq::task(queue = , priority = 3)]
async fn d() {}
#[dtq::task(, queue = "high")]
async fn e() {}
#[dtq::task(queue: "high")]
async fn f() {}
#[dtq::task(queue("high"))]
async fn g() {}
#[dtq::task(a::b = 3, , {})]
async fn h() {}
#[dtq::task(queue = "a" +)]
async fn i() {}

fn main() {}
