//! Instants for people: absolute, in UTC, and relative to the store's clock.

use std::time::Duration;

use crate::types::Timestamp;

/// `2026-11-30 13:22:16Z (3m ago)`.
pub(in crate::cli) fn instant(at: Timestamp, now: Timestamp) -> String {
    format!("{} ({})", absolute(at), relative(at, now))
}

/// `2026-11-30 13:22:16Z`.
pub(in crate::cli) fn absolute(at: Timestamp) -> String {
    let text = at.to_string().replace('T', " ");
    format!("{}Z", text.split('.').next().unwrap_or_default())
}

/// `3m ago` or `in 2h 5m`.
pub(in crate::cli) fn relative(at: Timestamp, now: Timestamp) -> String {
    match at > now {
        true => format!("in {}", span(at.since(now))),
        false => format!("{} ago", span(now.since(at))),
    }
}

/// A duration in one or two units, rounded down: `850ms`, `42s`, `3m`, `5h 12m`, `3d 4h`.
pub(in crate::cli) fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let two = |large: u64, small: u64, names: (&str, &str)| match small {
        0 => format!("{large}{}", names.0),
        small => format!("{large}{} {small}{}", names.0, names.1),
    };
    match seconds {
        0 => format!("{}ms", duration.as_millis()),
        1..60 => format!("{seconds}s"),
        60..3_600 => two(seconds / 60, seconds % 60, ("m", "s")),
        3_600..86_400 => two(seconds / 3_600, seconds % 3_600 / 60, ("h", "m")),
        _ => two(seconds / 86_400, seconds % 86_400 / 3_600, ("d", "h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_told_both_ways() {
        let now = Timestamp::from_millis(1_733_000_000_123);
        let earlier = Timestamp::from_millis(now.as_millis() - 185_000);
        assert_eq!(instant(earlier, now), "2024-11-30 20:50:15Z (3m 5s ago)");
        assert_eq!(relative(now.plus(Duration::from_secs(7500)), now), "in 2h 5m");
        assert_eq!(relative(now, now), "0ms ago");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        for (seconds, text) in
            [(42, "42s"), (60, "1m"), (3_599, "59m 59s"), (18_720, "5h 12m"), (273_600, "3d 4h"), (86_459, "1d")]
        {
            assert_eq!(span(Duration::from_secs(seconds)), text);
        }
    }
}
