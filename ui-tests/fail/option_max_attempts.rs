#[dtq::task(max_attempts = 0)]
async fn a() {}
#[dtq::task(max_attempts = "3")]
async fn b() {}
#[dtq::task(max_attempts = 4294967296)]
async fn c() {}
#[dtq::task(max_attempts = 1 + 1)]
async fn d() {}

fn main() {}
