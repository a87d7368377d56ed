//! `backoff = path`: functions, associated functions, in a string.
use dtq::prelude::*;
use dtq::types::Backoff;
use std::time::Duration;

fn squared(attempt: u32) -> Duration {
    Duration::from_secs(u64::from(attempt * attempt))
}
struct Waits;
impl Waits {
    const fn none(_: u32) -> Duration {
        Duration::ZERO
    }
}
/// A function may have the name of a form, when it is written as a path.
fn fixed(_: u32) -> Duration {
    Duration::from_secs(1)
}

#[dtq::task(backoff = squared)]
async fn bare() {}
#[dtq::task(backoff = Waits::none)]
async fn associated() {}
#[dtq::task(backoff = self::fixed)]
async fn named_like_a_form() {}

#[test]
fn works() {
    let wait = |backoff: Backoff| match backoff {
        Backoff::Custom(function) => function(3),
        other => panic!("{other:?}"),
    };
    assert_eq!(wait(bare::DEF.backoff), Duration::from_secs(9));
    assert_eq!(wait(associated::DEF.backoff), Duration::ZERO);
    assert_eq!(wait(named_like_a_form::DEF.backoff), Duration::from_secs(1));
}
