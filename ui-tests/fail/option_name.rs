#[dtq::task(name = "")]
async fn a() {}
#[dtq::task(name = "two words")]
async fn b() {}
#[dtq::task(name = "-x")]
async fn c() {}
#[dtq::task(name = charge)]
async fn d() {}
#[dtq::task(name = "a123456789b123456789c123456789d123456789e123456789f123456789g1234")]
async fn e() {}
#[dtq::task(name = b"bytes")]
async fn f() {}

fn main() {}
