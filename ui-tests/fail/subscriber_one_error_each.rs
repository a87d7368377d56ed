use dtq::prelude::*;

struct Order;

#[dtq::subscriber("orders", max_attempts = 3)]
async fn a_name_alone(_: String) {}

#[dtq::subscriber(stream("orders").grop("billing"))]
async fn misspelt_group(_: String) {}

#[dtq::subscriber(reliable_list("orders").idle("3s"))]
async fn misspelt_idle(_: String) {}

#[dtq::subscriber(list("orders"), queue = "high", cron = "* * * * *", unique = "x", ttl = "1h")]
async fn options_of_tasks(_: String) {}

fn main() {}
