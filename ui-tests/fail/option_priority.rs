#[dtq::task(priority = 10)]
async fn a() {}
#[dtq::task(priority = -1)]
async fn b() {}
#[dtq::task(priority = "high")]
async fn c() {}
#[dtq::task(priority = 5u8)]
async fn d() {}
#[dtq::task(priority = 99999999999999999999999999)]
async fn e() {}
#[dtq::task(priority = 4.5)]
async fn f() {}

fn main() {}
