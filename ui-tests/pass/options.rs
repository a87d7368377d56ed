//! Every option, and what becomes of it.
use dtq::prelude::*;
use dtq::types::Backoff;
use std::time::Duration;

#[dtq::task(
    name = "billing:charge",
    queue = "high.eu-1",
    priority = 9,
    max_attempts = 7,
    timeout = "1m30s",
    retention = "2d",
    ttl = "1h",
    dead_letter = false,
    backoff = exponential(base = "250ms", factor = 1.5, cap = "1m", jitter = 0),
)]
async fn all(order: u64) {
    let _ = order;
}
#[dtq::task(backoff = linear(step = "10s"), retention = "0s")]
async fn linear() {}
#[dtq::task(backoff = fixed("5s"))]
async fn fixed() {}
#[dtq::task(backoff = self::waits::twice)]
async fn custom() {}
#[dtq::task(backoff = exponential)]
async fn defaults() {}
#[dtq::task(backoff = exponential(base = "20m"))]
async fn long_base() {}
#[dtq::task()]
async fn none(r#type: u8, plain: u8) {
    let _ = (r#type, plain);
}

mod waits {
    pub fn twice(attempt: u32) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(attempt) * 2)
    }
}

#[test]
fn works() {
    let def = all::DEF;
    assert_eq!((def.name, def.queue, def.priority, def.max_attempts), ("billing:charge", "high.eu-1", 9, 7));
    assert_eq!(def.timeout, Some(Duration::from_secs(90)));
    assert_eq!(def.retention, Duration::from_secs(2 * 24 * 3600));
    assert_eq!(def.ttl, Some(Duration::from_secs(3600)));
    assert!(!def.dead_letter);
    let Backoff::Exponential { base, factor, cap, jitter } = def.backoff else { panic!() };
    assert_eq!((base, factor, cap, jitter), (Duration::from_millis(250), 1.5, Duration::from_secs(60), 0.0));
    let Backoff::Linear { step, cap } = linear::DEF.backoff else { panic!() };
    assert_eq!((step, cap), (Duration::from_secs(10), Duration::from_secs(600)));
    assert_eq!(linear::DEF.retention, Duration::ZERO);
    assert!(matches!(fixed::DEF.backoff, Backoff::Fixed(delay) if delay == Duration::from_secs(5)));
    let Backoff::Custom(function) = custom::DEF.backoff else { panic!() };
    assert_eq!(function(3), Duration::from_secs(6));
    let Backoff::Exponential { base, factor, cap, jitter } = defaults::DEF.backoff else { panic!() };
    assert_eq!((base, factor, cap, jitter), (Duration::from_secs(1), 2.0, Duration::from_secs(600), 0.2));
    let Backoff::Exponential { cap, .. } = long_base::DEF.backoff else { panic!() };
    assert_eq!(cap, Duration::from_secs(1200));
    assert_eq!((none::DEF.name, none::DEF.arguments), ("none", &["type", "plain"][..]));
    assert_eq!(none::DEF.line, 31);
    assert!(none::DEF.file.ends_with("options.rs"));
}
