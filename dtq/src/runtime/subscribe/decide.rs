//! From the way an attempt ended to what becomes of its message: a pure decision.

use std::time::Duration;

use crate::policy::{self, Ended};
use crate::store::messages::Ending;
use crate::subscriber::SubscriberDef;
use crate::types::{ErrorKind, Failure, Form};

/// Decides. `roll` (0.0 to 1.0) spreads the delay.
pub(super) fn decide(ended: Ended, attempt: u32, def: &SubscriberDef, roll: f64) -> Ending {
    let last = def.max_attempts.is_some_and(|most| attempt >= most);
    match ended {
        Ended::Done(_) => Ending::Ack,
        Ended::Drop(_) => Ending::Drop,
        Ended::Fatal(failure) => dead(failure),
        Ended::Again { failure, .. } if last => dead(failure),
        Ended::Again { failure, .. } if !comes_back(&def.form) => dead(failure),
        Ended::Snooze(delay) => later(delay, false),
        Ended::Again { after: Some(delay), .. } => later(delay, true),
        Ended::Again { after: None, failure } if failure.kind == ErrorKind::Retry => Ending::Retry,
        Ended::Again { after: None, .. } => later(policy::delay(&def.backoff, attempt, roll), true),
    }
}

/// A message that was delivered more often than it may be, or nothing when it may be tried.
pub(super) fn over_the_cap(attempt: u32, def: &SubscriberDef) -> Option<Ending> {
    let most = def.max_attempts.filter(|most| attempt > *most)?;
    let reason = format!("delivered {attempt} times, and it may be tried {most} times: its workers died or were lost");
    Some(Ending::Dead { kind: ErrorKind::WorkerLost, reason })
}

fn later(delay: Duration, counted: bool) -> Ending {
    if delay.is_zero() && counted { Ending::Retry } else { Ending::Later { delay, counted } }
}

fn dead(failure: Failure) -> Ending {
    Ending::Dead { kind: failure.kind, reason: failure.message }
}

/// False for a pattern that names no channel for copies.
fn comes_back(form: &Form) -> bool {
    match form {
        Form::PubSub(subscription) => subscription.destination().is_some(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Backoff, Channel, PubSubForm, StreamForm};

    fn def() -> SubscriberDef {
        let def = SubscriberDef::new("s", Form::Stream(StreamForm::new("s", "g"))).max_attempts(3);
        def.backoff(Backoff::Fixed(Duration::from_secs(5)))
    }

    fn again(kind: ErrorKind, after: Option<u64>) -> Ended {
        Ended::Again { after: after.map(Duration::from_secs), failure: Failure::new(kind, "why") }
    }

    #[test]
    fn an_error_waits_for_the_backoff_and_a_wish_does_not() {
        let later = |seconds, counted| Ending::Later { delay: Duration::from_secs(seconds), counted };
        assert_eq!(decide(again(ErrorKind::Error, None), 1, &def(), 0.5), later(5, true));
        assert_eq!(decide(again(ErrorKind::Retry, None), 1, &def(), 0.5), Ending::Retry);
        assert_eq!(decide(again(ErrorKind::Retry, Some(9)), 1, &def(), 0.5), later(9, true));
        assert_eq!(decide(Ended::Snooze(Duration::from_secs(2)), 9, &def(), 0.5), later(2, false));
        let at_once = def().backoff(Backoff::Fixed(Duration::ZERO));
        assert_eq!(decide(again(ErrorKind::Panic, None), 1, &at_once, 0.5), Ending::Retry);
    }

    #[test]
    fn the_last_attempt_is_given_up() {
        let dead = |kind| Ending::Dead { kind, reason: "why".into() };
        assert_eq!(decide(again(ErrorKind::Panic, None), 3, &def(), 0.5), dead(ErrorKind::Panic));
        let fatal = Ended::Fatal(Failure::new(ErrorKind::Undecodable, "why"));
        assert_eq!(decide(fatal, 1, &def(), 0.5), dead(ErrorKind::Undecodable));
        assert!(over_the_cap(3, &def()).is_none());
        assert!(matches!(over_the_cap(4, &def()), Some(Ending::Dead { kind: ErrorKind::WorkerLost, .. })));
    }

    #[test]
    fn what_has_nowhere_to_come_back_to_is_given_up() {
        let pattern = SubscriberDef::new("s", Form::PubSub(PubSubForm::new(Channel::Pattern("a.*"))));
        assert!(matches!(decide(again(ErrorKind::Error, None), 1, &pattern, 0.5), Ending::Dead { .. }));
    }
}
