//! A return type of one's own that says itself what it means.
#![deny(warnings)]
use dtq::prelude::*;
use dtq::{IntoOutcome, NoError};
use std::time::Duration;

enum Polled<T> {
    Ready(T),
    NotYet,
}
impl<T> IntoOutcome for Polled<T> {
    type Output = T;
    type Error = NoError;
    fn into_outcome(self) -> Result<Outcome<T>, NoError> {
        Ok(match self {
            Self::Ready(value) => Outcome::Ack(value),
            Self::NotYet => Outcome::Snooze(Duration::from_secs(1)),
        })
    }
}

#[dtq::task]
async fn poll(ready: bool) -> Polled<u8> {
    if ready { Polled::Ready(1) } else { Polled::NotYet }
}

#[test]
fn works() {
    let _: Call<poll> = poll::call(true);
    assert!(matches!(Polled::Ready(3).into_outcome(), Ok(Outcome::Ack(3))));
}
