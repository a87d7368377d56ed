#[dtq::subscriber(stream("orders"))]
async fn no_group(_: String) {}

#[dtq::subscriber(stream("").group(7).start("tomorrow").min_idle("10ms").payload("").headers().trim(true))]
async fn all_wrong(_: String) {}

#[dtq::subscriber(stream("orders").gruop("billing").group("a").group("b"))]
async fn calls(_: String) {}

#[dtq::subscriber(claiming("orders").group("billing"))]
async fn no_idle_time(_: String) {}

fn main() {}
