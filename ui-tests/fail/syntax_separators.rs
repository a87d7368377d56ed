#[dtq::task(queue = "high"; priority = 3)]
async fn a() {}
#[dtq::task(queue => "high")]
async fn b() {}
#[dtq::task(queue == "high")]
async fn c() {}
#[dtq::task(queue = = "high")]
async fn d() {}
#[dtq::task("queue" = "high")]
async fn e() {}
#[dtq::task(queue = "high",, priority = 3)]
async fn f() {}

fn main() {}
