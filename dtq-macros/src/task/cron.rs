//! Cron expressions, checked at compile time. The library reads them at run time (`dtq/src/timetable/cron.rs`); a test holds
//! the two against each other.

/// The longest expression, in bytes.
const LONGEST: usize = 256;

const NICKNAMES: [&str; 7] = ["@hourly", "@daily", "@midnight", "@weekly", "@monthly", "@yearly", "@annually"];

/// What a field is called, its least and most value, the longest step, and names for its values.
struct Field {
    what: &'static str,
    range: (u8, u8),
    longest_step: u8,
    names: &'static str,
}

const FIELDS: [Field; 5] = [
    Field { what: "minute", range: (0, 59), longest_step: 59, names: "" },
    Field { what: "hour", range: (0, 23), longest_step: 23, names: "" },
    Field { what: "day of the month", range: (1, 31), longest_step: 30, names: "" },
    Field { what: "month", range: (1, 12), longest_step: 11, names: "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC" },
    Field { what: "day of the week", range: (0, 7), longest_step: 6, names: "SUNMONTUEWEDTHUFRISAT" },
];

/// The longest month of those in which a day of that number exists: 31 days, 30, or 29.
const LONG_MONTHS: [u8; 7] = [1, 3, 5, 7, 8, 10, 12];
const FEBRUARY: u8 = 2;

/// Checks an expression.
///
/// # Errors
/// What is wrong with it and what to write, for the user.
pub(crate) fn check(text: &str) -> Result<(), String> {
    if text.len() > LONGEST {
        return Err(format!("the cron expression is longer than {LONGEST} bytes: shorten it"));
    }
    if text.trim().starts_with('@') {
        return nickname(text.trim());
    }
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let [minute, hour, day, month, weekday] = fields[..] else {
        return Err(wrong_count(fields.len()));
    };
    FIELDS[0].check(minute)?;
    FIELDS[1].check(hour)?;
    let first_day = FIELDS[2].check(day)?.into_iter().min().unwrap_or(1);
    let months = FIELDS[3].check(month)?;
    FIELDS[4].check(weekday)?;
    let weekday_is_enough = !day.starts_with('*') && !weekday.starts_with('*');
    if !weekday_is_enough && months.iter().all(|month| first_day > length(*month)) {
        return Err(format!("{text:?} never fires: no month in it has a day {first_day}; write a day that comes"));
    }
    Ok(())
}

fn nickname(text: &str) -> Result<(), String> {
    if NICKNAMES.iter().any(|known| known.eq_ignore_ascii_case(text)) {
        return Ok(());
    }
    Err(format!("{text:?} is not a known name of a schedule: write one of {}, or five fields", NICKNAMES.join(", ")))
}

fn wrong_count(count: usize) -> String {
    let hint = match count {
        6 | 7 => "; there is no field for seconds or years: write `every = \"30s\"` for short intervals",
        _ => "",
    };
    let s = if count == 1 { "" } else { "s" };
    format!(
        "a cron expression has five fields and this one has {count} field{s}: write minute, hour, day of the month, month and day of \
         the week, such as \"30 2 * * MON\"{hint}"
    )
}

fn length(month: u8) -> u8 {
    match month {
        FEBRUARY => 29,
        month if LONG_MONTHS.contains(&month) => 31,
        _ => 30,
    }
}

impl Field {
    /// The values of a field; those of a range in order.
    fn check(&self, text: &str) -> Result<Vec<u8>, String> {
        let mut values = Vec::new();
        for part in text.split(',') {
            let (range, step) = match part.split_once('/') {
                Some((range, step)) => (range, Some(self.step(step)?)),
                None => (part, None),
            };
            let (first, last) = self.range(range, step)?;
            if first > last {
                return Err(format!("the {} {part:?} ends before it begins: write the smaller value first", self.what));
            }
            values.extend((first..=last).step_by(step.unwrap_or(1).into()));
        }
        Ok(values)
    }

    fn range(&self, text: &str, step: Option<u8>) -> Result<(u8, u8), String> {
        if text == "*" {
            return Ok(self.range);
        }
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (self.value(first)?, self.value(last)?),
            None => (self.value(text)?, self.value(text)?),
        };
        if let Some(step) = step.filter(|_| !text.contains('-')) {
            let most = self.range.1;
            return Err(format!(
                "a step follows `*` or a range: write \"{text}-{most}/{step}\" for every {step} from {text} on"
            ));
        }
        // At the end of a range Sunday is the seventh day.
        let sunday = self.range.1 == 7 && last == 0 && text.contains('-') && !text.ends_with('0');
        Ok((first, if sunday { 7 } else { last }))
    }

    fn step(&self, text: &str) -> Result<u8, String> {
        let step = number(text).filter(|step| (1..=self.longest_step).contains(step));
        step.ok_or_else(|| format!("{text:?} is not a step for the {}: write 1 to {}", self.what, self.longest_step))
    }

    fn value(&self, text: &str) -> Result<u8, String> {
        let (least, most) = self.range;
        let value = number(text).or_else(|| self.named(text)).filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| {
            let names = if self.names.is_empty() {
                String::new()
            } else {
                format!(", or a name such as {}", &self.names[3..6])
            };
            let odd = match text {
                "" => "a value is missing".to_owned(),
                "?" => "`?` is not known here, write `*`".to_owned(),
                text => format!("{text:?} is not a {}", self.what),
            };
            format!("{odd}: the {} goes from {least} to {most}{names}", self.what)
        })
    }

    fn named(&self, text: &str) -> Option<u8> {
        let names = self.names.as_bytes().chunks(3);
        let place = names.into_iter().position(|name| name.eq_ignore_ascii_case(text.as_bytes()))?;
        u8::try_from(place).ok().map(|place| place + self.range.0)
    }
}

fn number(text: &str) -> Option<u8> {
    // `parse` takes a sign, too.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.trim_start_matches('0')).and_then(|digits| match digits
    {
        "" if text.is_empty() => None,
        "" => Some(0),
        digits => digits.parse().ok(),
    })
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn usual_expressions_pass() {
        for good in [
            "* * * * *",
            "*/5 * * * *",
            "30 2 * * MON",
            "0 0 29 2 *",
            "0 9-17/2 1,15 jan-MAR,12 sat-sun",
            "0 0 31 2 MON",
            "@Daily",
            "  0  0 * * 7 ",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        for (bad, part) in [
            ("", "0 fields"),
            ("*", "1 field:"),
            ("* * * *", "4 fields"),
            ("* * * * * *", "every = "),
            ("0 0 30 2 *", "no month in it has a day 30"),
            ("0 0 31 2,4,6 *", "never fires"),
            ("*/0 * * * *", "write 1 to 59"),
            ("1/0 * * * *", "write 1 to 59"),
            ("5/10 * * * *", "\"5-59/10\""),
            ("60 * * * *", "from 0 to 59"),
            ("5-1 * * * *", "smaller value first"),
            ("* * ? * *", "write `*`"),
            ("1,,2 * * * *", "missing"),
            ("* * * * MONDAY", "such as MON"),
            ("@reboot", "@hourly"),
            (&"1,".repeat(5_000), "256 bytes"),
        ] {
            let problem = check(bad).unwrap_err();
            assert!(problem.contains(part), "{bad:?}: {problem}");
        }
    }
}
