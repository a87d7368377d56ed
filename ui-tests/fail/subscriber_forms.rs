#[dtq::subscriber(max_attempts = 3)]
async fn no_form(_: String) {}

#[dtq::subscriber(straem("orders").group("billing"))]
async fn typo(_: String) {}

#[dtq::subscriber(stream("orders").group("billing"), list("jobs"))]
async fn two(_: String) {}

#[dtq::subscriber(stream)]
async fn bare(_: String) {}

#[dtq::subscriber(stream = "orders")]
async fn equals(_: String) {}

#[dtq::subscriber(stream("orders") group("billing"))]
async fn no_dot(_: String) {}

fn main() {}
