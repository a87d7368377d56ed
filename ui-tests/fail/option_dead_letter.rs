#[dtq::task(dead_letter = "no")]
async fn a() {}
#[dtq::task(dead_letter)]
async fn b() {}
#[dtq::task(dead_letter = 0)]
async fn c() {}

fn main() {}
