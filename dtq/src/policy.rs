//! From a handler's outcome to what the store is told: pure decisions.

use std::time::Duration;

use crate::store::Verdict;
use crate::types::{Backoff, Failure, Policy};

/// How an attempt ended, with the result already encoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Done; a unit result is `None`.
    Done(Option<bytes::Bytes>),
    /// It asked to be run again, after the backoff or a delay of its own.
    Again {
        /// The handler's own delay, which the backoff's cap does not bound.
        after: Option<Duration>,
        /// Why.
        failure: Failure,
    },
    /// It asked to wait, without burning an attempt.
    Snooze(Duration),
    /// It gave the task up.
    Drop(String),
    /// No retry can mend it.
    Fatal(Failure),
}

/// Decides what becomes of a task whose attempt number `attempt` ended this way. `roll` (0.0 to 1.0) spreads the delay.
pub fn decide(ended: Ended, attempt: u32, policy: &Policy, backoff: &Backoff, roll: f64) -> Verdict {
    match ended {
        Ended::Done(result) => Verdict::Succeeded { result },
        Ended::Snooze(delay) => Verdict::Snooze { delay },
        Ended::Drop(reason) => Verdict::Cancelled { reason },
        Ended::Fatal(failure) => Verdict::Failed { failure },
        Ended::Again { failure, .. } if attempt >= policy.max_attempts => Verdict::Failed { failure },
        Ended::Again { after, failure } => {
            Verdict::Retry { delay: after.unwrap_or_else(|| delay(backoff, attempt, roll)), failure }
        }
    }
}

/// The wait after attempt number `attempt` failed. `roll` is a random number from 0.0 to 1.0; 0.5 gives the middle.
pub fn delay(backoff: &Backoff, attempt: u32, roll: f64) -> Duration {
    match *backoff {
        Backoff::Exponential { base, factor, cap, jitter } => {
            let exponent = i32::try_from(attempt.saturating_sub(1)).unwrap_or(i32::MAX);
            let raw = base.as_secs_f64() * factor.max(1.0).powi(exponent);
            let spread = 1.0 + jitter.clamp(0.0, 1.0) * (roll * 2.0 - 1.0);
            // The cap holds after the spread too. `min` also turns an overflow to infinity into the cap.
            let seconds = (raw.min(cap.as_secs_f64()) * spread).min(cap.as_secs_f64());
            Duration::try_from_secs_f64(seconds).unwrap_or(cap)
        }
        Backoff::Linear { step, cap } => step.saturating_mul(attempt.max(1)).min(cap),
        Backoff::Fixed(delay) => delay,
        Backoff::Custom(function) => function(attempt),
    }
}

/// The pause after failed try number `tries` (0 for the first) of what is tried until it works: doubles from `first` to
/// `longest`. `roll` (0.0 to 1.0) shortens it by up to half, so that many who lost one server do not come back in step.
pub fn growing_pause(first: Duration, longest: Duration, tries: u32, roll: f64) -> Duration {
    let pause = first.saturating_mul(1 << tries.min(16)).min(longest);
    pause.mul_f64(0.5 + 0.5 * roll.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::ErrorKind;

    fn again() -> Ended {
        Ended::Again { after: None, failure: Failure::new(ErrorKind::Error, "no") }
    }

    fn delay_of(verdict: Verdict) -> Duration {
        match verdict {
            Verdict::Retry { delay, .. } => delay,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn defaults_double_from_one_second_to_ten_minutes() {
        let after = |attempt| delay(&Backoff::DEFAULT, attempt, 0.5);
        assert_eq!(after(1), Duration::from_secs(1));
        assert_eq!(after(2), Duration::from_secs(2));
        assert_eq!(after(5), Duration::from_secs(16));
        assert_eq!(after(20), Duration::from_secs(600));
        assert_eq!(after(u32::MAX), Duration::from_secs(600));
    }

    #[test]
    fn jitter_stays_within_a_fifth_and_under_the_cap() {
        assert_eq!(delay(&Backoff::DEFAULT, 1, 0.0), Duration::from_millis(800));
        assert_eq!(delay(&Backoff::DEFAULT, 1, 1.0), Duration::from_millis(1200));
        assert_eq!(delay(&Backoff::DEFAULT, 30, 1.0), Duration::from_secs(600));
    }

    #[test]
    fn linear_fixed_and_custom() {
        let linear = Backoff::Linear { step: Duration::from_secs(10), cap: Duration::from_secs(25) };
        assert_eq!(delay(&linear, 2, 0.9), Duration::from_secs(20));
        assert_eq!(delay(&linear, 3, 0.9), Duration::from_secs(25));
        assert_eq!(delay(&Backoff::Fixed(Duration::from_secs(3)), 9, 0.1), Duration::from_secs(3));
        let custom = Backoff::Custom(|attempt| Duration::from_secs(u64::from(attempt) * 7));
        assert_eq!(delay(&custom, 3, 0.1), Duration::from_secs(21));
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let pause = |tries, roll| growing_pause(Duration::from_millis(20), Duration::from_secs(1), tries, roll);
        assert_eq!(pause(0, 1.0), Duration::from_millis(20));
        assert_eq!(pause(1, 0.0), Duration::from_millis(20));
        assert_eq!(pause(u32::MAX, 1.0), Duration::from_secs(1));
    }

    #[test]
    fn the_last_attempt_fails_for_good() {
        let policy = Policy { max_attempts: 2, ..Policy::DEFAULT };
        assert_eq!(delay_of(decide(again(), 1, &policy, &Backoff::DEFAULT, 0.5)), Duration::from_secs(1));
        assert!(matches!(decide(again(), 2, &policy, &Backoff::DEFAULT, 0.5), Verdict::Failed { .. }));
    }

    #[test]
    fn an_own_delay_wins_over_the_backoff_but_not_over_the_attempts() {
        let asked = |attempt| {
            let failure = Failure::new(ErrorKind::Retry, "later");
            let ended = Ended::Again { after: Some(Duration::from_secs(7200)), failure };
            decide(ended, attempt, &Policy::DEFAULT, &Backoff::DEFAULT, 0.5)
        };
        assert_eq!(delay_of(asked(1)), Duration::from_secs(7200));
        assert!(matches!(asked(5), Verdict::Failed { .. }));
    }

    #[test]
    fn a_snooze_burns_nothing_even_at_the_last_attempt() {
        let verdict = decide(Ended::Snooze(Duration::from_secs(9)), 5, &Policy::DEFAULT, &Backoff::DEFAULT, 0.5);
        assert_eq!(verdict, Verdict::Snooze { delay: Duration::from_secs(9) });
    }
}
