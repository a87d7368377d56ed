#[dtq::task(concurrency = 0)]
async fn a() {}
#[dtq::task(concurrency = "3")]
async fn b() {}
#[dtq::task(concurrency = 3u32)]
async fn c() {}
#[dtq::task(concurrency = 4294967296)]
async fn d() {}
#[dtq::task(concurrency)]
async fn e() {}

fn main() {}
