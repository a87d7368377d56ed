#[dtq::task(max_retries = 3, retry_delay = "1s", time_limit = "1s", expires = "1s", keep_result = "1s", dlq = false, max_concurrency = 2)]
async fn charge() {}

fn main() {}
