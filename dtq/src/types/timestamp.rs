//! Instants as the store tells them.

use std::fmt;
use std::time::{Duration, SystemTime};

/// An instant by the store's clock, in whole milliseconds since the Unix epoch (UTC).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// From milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Time passed since `earlier`; zero when it lies ahead.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The instant `duration` later; the far end of time at most.
    pub fn plus(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self::default().plus(since_epoch)
    }
}

/// RFC 3339, UTC, with milliseconds.
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 9999-12-31T23:59:59.999Z: the last instant the format can write.
        const LAST: i64 = 253_402_300_799_999;
        let millis = u64::try_from(self.0.clamp(0, LAST)).unwrap_or(0);
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(millis);
        fmt::Display::fmt(&humantime::format_rfc3339_millis(time), f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_rfc3339_and_never_panics() {
        assert_eq!(Timestamp::from_millis(1_733_000_000_123).to_string(), "2024-11-30T20:53:20.123Z");
        assert_eq!(Timestamp::from_millis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(Timestamp::from_millis(-5).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
