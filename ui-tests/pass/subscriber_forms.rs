//! Every form of a subscriber, with all that can be chained on it.

use dtq::prelude::*;
use dtq::types::{Channel, Form, Start};
use dtq::{Subscriber, SubscriberDef};
use std::time::Duration;

#[dtq::subscriber(stream("orders").group("billing"))]
async fn least(order: String) {
    drop(order);
}

#[dtq::subscriber(
    stream("orders").group("billing").start("new").min_idle("60s").payload("data").headers("x-").trim()
)]
async fn most(order: String) -> Outcome {
    drop(order);
    Outcome::Ack(())
}

#[dtq::subscriber(stream("orders").group("billing").start("1526919030474-0"))]
fn after(_: String) {}

#[dtq::subscriber(claiming("orders").group("billing").min_idle("1m30s"))]
async fn claims(_: String) -> Outcome {
    Outcome::Retry
}

#[dtq::subscriber(reliable_list("jobs").min_idle("30s"))]
async fn reliable(_: Vec<u8>) -> Outcome {
    Outcome::Drop
}

#[dtq::subscriber(list("jobs"))]
async fn list(_: String) -> Later {
    Later::RetryAfter(Duration::from_secs(1))
}

#[dtq::subscriber(pubsub(channel = "news"))]
async fn channel(_: String) -> Result<(), TaskError> {
    Ok(())
}

#[dtq::subscriber(pubsub(pattern = "news.*").back_to("news.again"))]
async fn pattern(_: String) -> Result<Later, TaskError> {
    Ok(Later::Done)
}

#[dtq::subscriber(pubsub(pattern = "news.*"))]
async fn pattern_that_only_listens(_: String) {}

#[dtq::subscriber(pubsub(sharded = "news"))]
async fn sharded(_: String) {}

fn def<S: Subscriber>() -> SubscriberDef {
    S::DEF
}

#[test]
fn every_form_is_what_it_says() {
    let Form::Stream(stream) = def::<most>().form else { panic!() };
    assert_eq!((stream.key, stream.group, stream.payload, stream.headers), ("orders", "billing", "data", "x-"));
    assert_eq!((stream.start, stream.min_idle, stream.trim), (Start::New, Some(Duration::from_secs(60)), true));
    let Form::Stream(stream) = def::<after>().form else { panic!() };
    assert_eq!(stream.start, Start::After("1526919030474-0"));
    assert_eq!(def::<claims>().form.min_idle(), Some(Duration::from_secs(90)));
    assert_eq!(def::<reliable>().form.min_idle(), Some(Duration::from_secs(30)));
    let Form::PubSub(pattern) = def::<pattern>().form else { panic!() };
    assert_eq!((pattern.channel, pattern.back_to), (Channel::Pattern("news.*"), Some("news.again")));
    let asks =
        [def::<least>().asks, def::<most>().asks, def::<claims>().asks, def::<list>().asks, def::<channel>().asks];
    assert_eq!(asks, [false, true, true, false, false]);
    let names = [def::<sharded>().name, def::<pattern_that_only_listens>().name];
    assert_eq!(names, ["sharded", "pattern_that_only_listens"]);
}
