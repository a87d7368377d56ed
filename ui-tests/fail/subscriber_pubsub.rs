use dtq::prelude::*;

#[dtq::subscriber(pubsub("news"))]
async fn which(_: String) {}

#[dtq::subscriber(pubsub(chanel = "news"))]
async fn typo(_: String) {}

#[dtq::subscriber(pubsub(channel = "news", pattern = "news.*"))]
async fn two(_: String) {}

#[dtq::subscriber(pubsub(pattern = "news.*"))]
async fn copies_go_nowhere(_: String) -> Later {
    Later::Done
}

#[dtq::subscriber(pubsub(channel = "news"), delayed_retry = durable)]
async fn keeps_nothing(_: String) {}

#[dtq::subscriber(pubsub(channel = "news"))]
async fn asks_for_an_acknowledgement(_: String) -> Outcome {
    Outcome::Ack(())
}

fn main() {}
