#[dtq::task(aliases = "old")]
async fn a() {}
#[dtq::task(aliases = [])]
async fn b() {}
#[dtq::task(aliases = ["old name", old, 3])]
async fn c() {}
#[dtq::task(aliases = ["old", "older", "old"])]
async fn d() {}
#[dtq::task(aliases)]
async fn e() {}
#[dtq::task(alias = "old")]
async fn f() {}

fn main() {}
