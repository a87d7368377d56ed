#[dtq::task(cron = "")]
async fn empty() {}
#[dtq::task(cron = "* * * *")]
async fn four() {}
#[dtq::task(cron = "0 */5 * * * *")]
async fn six() {}
#[dtq::task(cron = "60 * * * *")]
async fn minute() {}
#[dtq::task(cron = "*/0 * * * *")]
async fn no_step() {}
#[dtq::task(cron = "1/0 * * * *")]
async fn step_of_one_value() {}
#[dtq::task(cron = "5/10 * * * *")]
async fn step_of_no_range() {}
#[dtq::task(cron = "5-1 * * * *")]
async fn backwards() {}
#[dtq::task(cron = "0 0 ? * MON")]
async fn question() {}
#[dtq::task(cron = "0 0 * * MONDAY")]
async fn name() {}
#[dtq::task(cron = "@reboot")]
async fn reboot() {}

fn main() {}
