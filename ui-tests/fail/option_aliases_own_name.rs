#[dtq::task(aliases = ["old", "charge"])]
async fn charge() {}

#[dtq::task(aliases = ["billing.refund"], name = "billing.refund")]
async fn refund() {}

fn main() {}
