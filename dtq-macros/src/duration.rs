//! Durations as users write them: `"30s"`, `"1h30m"`, `"250ms"`, `"2d"`.

use std::time::Duration;

/// Unit, its length in milliseconds. From the largest to the smallest, the order in which they may be written.
const UNITS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// A century: beyond it lies a slip of the pen, and instants that overflow.
const LONGEST: u64 = 36_525 * 86_400_000;

const EXAMPLES: &str = "\"250ms\", \"30s\", \"5m\", \"1h30m\" or \"2d\"";

/// Parses a duration.
///
/// # Errors
/// What is wrong with the text and what to write, for the user.
pub(crate) fn parse(text: &str) -> Result<Duration, String> {
    if text.is_empty() {
        return Err(format!("the duration is empty: write one such as {EXAMPLES}"));
    }
    if let Some(problem) = foreign(text) {
        return Err(format!("{text:?} is not a duration: {problem}"));
    }
    let mut total = 0u64;
    let mut rest = text;
    let mut units = UNITS.iter();
    while !rest.is_empty() {
        let (count, unit, tail) = part(rest).map_err(|problem| format!("{text:?} is not a duration: {problem}"))?;
        let Some((_, length)) = units.by_ref().find(|(name, _)| *name == unit) else {
            return Err(format!("{text:?} is not a duration: {}", misplaced(unit)));
        };
        total = count
            .checked_mul(*length)
            .and_then(|part| total.checked_add(part))
            .filter(|sum| *sum <= LONGEST)
            .ok_or_else(|| format!("{text:?} is longer than a hundred years: write a shorter duration"))?;
        rest = tail;
    }
    Ok(Duration::from_millis(total))
}

/// What is wrong with the text as a whole, for which a better answer exists than at its first odd character.
fn foreign(text: &str) -> Option<String> {
    let squeezed: String = text.split_whitespace().collect();
    if squeezed != text {
        return Some(match parse(&squeezed) {
            Ok(_) => format!("leave the spaces out: {squeezed:?}"),
            Err(_) => format!("write one such as {EXAMPLES}"),
        });
    }
    if text.starts_with(['-', '+']) {
        return Some(format!("durations carry no sign: write one such as {EXAMPLES}"));
    }
    if text.contains(['.', ',']) {
        return Some(
            "write a fraction in a smaller unit: \"1h30m\" for one and a half hours, \"500ms\" for half a second"
                .into(),
        );
    }
    None
}

/// One number with its unit, and what follows them.
fn part(text: &str) -> Result<(u64, &str, &str), String> {
    let (digits, rest) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let (unit, tail) = rest.split_at(rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len()));
    if digits.is_empty() {
        return Err(format!("a number must stand before `{unit}`, as in {EXAMPLES}"));
    }
    if unit.is_empty() {
        return Err(format!(
            "`{digits}` has no unit: write \"{digits}s\" for seconds; the units are d, h, m, s and ms"
        ));
    }
    let count = digits.parse().map_err(|_| format!("`{digits}` is too large"))?;
    Ok((count, unit, tail))
}

/// Why `unit` is not to be found among the units that may still come.
fn misplaced(unit: &str) -> String {
    if UNITS.iter().any(|(name, _)| *name == unit) {
        return "write each unit once, the largest first, as in \"1h30m\"".into();
    }
    let meant = match unit.to_lowercase().as_str() {
        "day" | "days" => "d",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "min" | "mins" | "minute" | "minutes" => "m",
        "sec" | "secs" | "second" | "seconds" => "s",
        "msec" | "millis" | "millisecond" | "milliseconds" => "ms",
        "us" | "µs" | "ns" => return format!("`{unit}` is too fine: the smallest unit is `ms`"),
        "w" | "week" | "weeks" => return format!("`{unit}` is not a unit: write weeks as days, \"7d\""),
        lower if UNITS.iter().any(|(name, _)| *name == lower) => {
            return format!("`{unit}` is not a unit: write `{lower}`");
        }
        _ => return format!("`{unit}` is not a unit: the units are d, h, m, s and ms"),
    };
    format!("`{unit}` is not a unit: write `{meant}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read() {
        for (text, millis) in [
            ("0s", 0),
            ("250ms", 250),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h30m", 5_400_000),
            ("2d", 172_800_000),
            ("1d2h3m4s5ms", 93_784_005),
            ("090s", 90_000),
            ("36525d", LONGEST),
        ] {
            assert_eq!(parse(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (text, part) in [
            ("", "is empty"),
            (" ", "write one such as"),
            ("30", "\"30s\" for seconds"),
            ("1h30", "`30` has no unit"),
            ("s", "a number must stand before `s`"),
            ("5 parsecs", "write one such as"),
            ("5parsecs", "the units are d, h, m, s and ms"),
            ("5 m", "leave the spaces out: \"5m\""),
            ("1h 30m", "\"1h30m\""),
            ("-5s", "no sign"),
            ("+5s", "no sign"),
            ("1.5h", "smaller unit"),
            ("30m1h", "largest first"),
            ("1s1s", "once"),
            ("5min", "write `m`"),
            ("5S", "write `s`"),
            ("10us", "the smallest unit is `ms`"),
            ("1w", "\"7d\""),
            ("36526d", "hundred years"),
            ("99999999999999999999s", "too large"),
            ("18446744073709551615d", "hundred years"),
            ("5м", "not a unit"),
            ("٣s", "a number must stand before"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(part), "{text:?}: {error}");
        }
    }
}
