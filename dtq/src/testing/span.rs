//! How far a test moves the clock.

use std::time::Duration;

/// A length of time: a [`Duration`], or text such as `"10m"` or `"1h30m"`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a length of time",
    label = "not a length of time",
    note = "write text such as `\"10m\"` or `\"1h30m\"`, or a `std::time::Duration`"
)]
pub trait Span {
    /// The duration.
    ///
    /// # Panics
    /// When it is text that is none.
    fn span(self) -> Duration;
}

impl Span for Duration {
    fn span(self) -> Duration {
        self
    }
}

impl Span for &str {
    #[track_caller]
    #[allow(clippy::panic, reason = "a test fails by it")]
    fn span(self) -> Duration {
        // No closure: the panic shall name the test's line.
        match humantime::parse_duration(self) {
            Ok(duration) => duration,
            Err(error) => panic!("{self:?} is not a duration such as \"30s\" or \"1h30m\": {error}"),
        }
    }
}
