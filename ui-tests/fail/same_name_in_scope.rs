#[dtq::task]
async fn charge() {}

struct charge;

fn main() {}
