#[dtq::task(timeout = "5 parsecs", ttl = "0s", retention = 60)]
async fn a() {}
#[dtq::task(timeout = "0s", ttl = "1.5h", retention = "1h 30m")]
async fn b() {}
#[dtq::task(timeout = "30", ttl = "", retention = "-1s")]
async fn c() {}
#[dtq::task(timeout = std::time::Duration::from_secs(1), ttl = "5min", retention = "30m1h")]
async fn d() {}
#[dtq::task(timeout = "10us", ttl = "40000d", retention = true)]
async fn e() {}

fn main() {}
