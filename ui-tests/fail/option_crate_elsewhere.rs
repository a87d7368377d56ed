mod elsewhere {}

#[dtq::task(crate = crate::elsewhere)]
async fn a() {}

fn main() {}
