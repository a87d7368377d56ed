//! Every option of a subscriber beside its form.

use dtq::types::{Backoff, DelayedRetry};
use dtq::{Subscriber, SubscriberDef};
use std::time::Duration;

#[derive(Debug)]
struct BookError(bool);

impl std::fmt::Display for BookError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no")
    }
}

impl std::error::Error for BookError {}

fn is_permanent(error: &BookError) -> bool {
    error.0
}

#[dtq::subscriber(
    stream("orders").group("billing"),
    name = "book",
    max_attempts = 7,
    timeout = "30s",
    backoff = fixed("5s"),
    permanent_if = is_permanent,
    dead_letter = "orders.dead",
    delayed_retry = durable(ttl = "7d"),
    ordered_by = "{customer}",
    concurrency = 4,
    crate = "::dtq"
)]
async fn all(_: String) -> Result<(), BookError> {
    Err(BookError(true))
}

#[dtq::subscriber(stream("orders").group("billing"), delayed_retry = in_process)]
async fn in_process(_: String) {}

#[dtq::subscriber(delayed_retry = durable, list("jobs"), max_attempts = 1,)]
async fn durable(_: String) {}

fn def<S: Subscriber>() -> SubscriberDef {
    S::DEF
}

#[test]
fn every_option_is_what_it_says() {
    let all = def::<all>();
    assert_eq!((all.name, all.max_attempts, all.timeout), ("book", Some(7), Some(Duration::from_secs(30))));
    assert_eq!((all.dead_letter, all.ordered_by, all.concurrency), (Some("orders.dead"), Some("{customer}"), Some(4)));
    assert!(matches!(all.backoff, Backoff::Fixed(delay) if delay.as_secs() == 5));
    assert_eq!(all.delayed_retry, DelayedRetry::DurableZset { ttl: Some(Duration::from_secs(7 * 86_400)) });
    assert_eq!(def::<in_process>().delayed_retry, DelayedRetry::InProcess);
    assert_eq!(def::<durable>().delayed_retry, DelayedRetry::DurableZset { ttl: None });
    assert!(all.file.ends_with("subscriber_options.rs") && all.line > 0);
}
