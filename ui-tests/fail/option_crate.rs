#[dtq::task(crate = 3)]
async fn a() {}
#[dtq::task(crate = "not a path")]
async fn b() {}
#[dtq::task(crate)]
async fn c() {}

fn main() {}
