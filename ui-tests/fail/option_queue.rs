const HIGH: &str = "high";

#[dtq::task(queue = "")]
async fn a() {}
#[dtq::task(queue = "a:b")]
async fn b() {}
#[dtq::task(queue = "_x")]
async fn c() {}
#[dtq::task(queue = HIGH)]
async fn d() {}
#[dtq::task(queue = 'q')]
async fn e() {}
#[dtq::task(queue = concat!("a", "b"))]
async fn f() {}
#[dtq::task(queue = "größe")]
async fn g() {}
#[dtq::task(queue = "line\n")]
async fn h() {}

fn main() {
    let _ = HIGH;
}
