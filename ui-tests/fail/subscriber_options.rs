#[dtq::subscriber(
    stream("orders").group("billing"),
    name = "",
    max_attempts = 0,
    timeout = "0s",
    backoff = 7,
    permanent_if = 7,
    dead_letter = "orders",
    delayed_retry = later,
    ordered_by = "customer",
    concurrency = "many",
    crate = 1
)]
async fn all_wrong(_: String) {}

#[dtq::subscriber(stream("orders").group("billing"), dlq = "dead", min_idle = "60s", max_atempts = 3, timeout)]
async fn unknown(_: String) {}

#[dtq::subscriber(claiming("orders").group("billing").min_idle("60s"), delayed_retry = in_process, timeout = "1s", timeout = "2s")]
async fn twice(_: String) {}

#[dtq::subscriber(stream("orders").group("billing"), permanent_if = never)]
async fn nothing_to_look_at(_: String) {}

fn main() {}
