//! Cron expressions of five fields, and the local times that they match.
//!
//! The dialect is what cron daemons have in common: `*`, numbers, ranges, steps of both, lists, the names of months and
//! weekdays, and `@hourly` and the like. `dtq-macros/src/task/cron.rs` checks the same at compile time.

/// The longest expression that is read, in bytes.
pub(super) const LONGEST: usize = 256;

const DAY: i64 = 86_400;
/// The days that are looked through for a match: the sparsest, a 29 February that is a certain weekday, can be 40 years
/// away.
const HORIZON: i64 = 100 * 366;

const MONTHS: [&str; 12] = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// The most days that each month has.
const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const NICKNAMES: [(&str, &str); 7] = [
    ("@hourly", "0 * * * *"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@weekly", "0 0 * * 0"),
    ("@monthly", "0 0 1 * *"),
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
];

/// An expression that was read: the values that each field allows, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cron {
    pub(super) minutes: u64,
    pub(super) hours: u64,
    pub(super) days: u64,
    pub(super) months: u64,
    /// 0 is Sunday.
    pub(super) weekdays: u64,
    /// Both day fields restrict the day, so a day needs to match one of them only. A field that begins with `*` does not
    /// restrict in this sense.
    pub(super) either_day: bool,
}

/// One of the five fields.
struct Field {
    name: &'static str,
    least: u32,
    most: u32,
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", least: 0, most: 59, names: &[] },
    Field { name: "hour", least: 0, most: 23, names: &[] },
    Field { name: "day of the month", least: 1, most: 31, names: &[] },
    Field { name: "month", least: 1, most: 12, names: &MONTHS },
    Field { name: "day of the week", least: 0, most: 7, names: &WEEKDAYS },
];

impl Cron {
    /// Reads an expression; says what is wrong with one that is none, or that never matches.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("it is longer than {LONGEST} bytes"));
        }
        let lower = text.trim().to_ascii_lowercase();
        let plain = match NICKNAMES.iter().find(|(nickname, _)| *nickname == lower) {
            Some((_, plain)) => plain,
            None if lower.starts_with('@') => return Err(format!("{text:?} is not a known name: {}", nicknames())),
            None => text,
        };
        let fields: Vec<&str> = plain.split_ascii_whitespace().collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            return Err(wrong_count(fields.len()));
        };
        let weekdays = FIELDS[4].read(weekday)?;
        let cron = Self {
            minutes: FIELDS[0].read(minute)?,
            hours: FIELDS[1].read(hour)?,
            days: FIELDS[2].read(day)?,
            months: FIELDS[3].read(month)?,
            // Sunday may be written as 7.
            weekdays: (weekdays | weekdays >> 7) & 0x7f,
            either_day: !day.starts_with('*') && !weekday.starts_with('*'),
        };
        if cron.never() { Err(format!("it never matches: no month in it has a day {day}")) } else { Ok(cron) }
    }

    /// True when it runs in every hour: then its rhythm counts, and not the time that a clock shows.
    pub(super) fn every_hour(&self) -> bool {
        self.hours == bits(0, 23, 1)
    }

    /// No month of it is long enough.
    fn never(&self) -> bool {
        let long_enough =
            |month: u32| has(self.months, month) && self.days.trailing_zeros() <= LENGTHS[month as usize - 1];
        !self.either_day && !(1..=12).any(long_enough)
    }

    fn matches_day(&self, date: Date) -> bool {
        let (day, weekday) = (has(self.days, date.day), has(self.weekdays, date.weekday));
        has(self.months, date.month) && if self.either_day { day || weekday } else { day && weekday }
    }

    /// The first match at or after a local time, both in seconds since the beginning of 1970 on the clocks of the place.
    pub(super) fn first_from(&self, local: i64) -> Option<i64> {
        // Matches are whole minutes.
        let minute = local.div_euclid(60) + i64::from(local.rem_euclid(60) > 0);
        let today = (minute * 60).div_euclid(DAY);
        let mut from = u32::try_from(minute.rem_euclid(DAY / 60)).ok()?;
        for day in today..today + HORIZON {
            if self.matches_day(Date::of(day))
                && let Some(minute) = self.first_minute(from)
            {
                return Some(day * DAY + i64::from(minute) * 60);
            }
            from = 0;
        }
        None
    }

    /// The first match within a day at or after a minute of it.
    fn first_minute(&self, from: u32) -> Option<u32> {
        let (hour, minute) = (from / 60, from % 60);
        let later = next(self.minutes, minute).filter(|_| has(self.hours, hour));
        if let Some(minute) = later {
            return Some(hour * 60 + minute);
        }
        Some(next(self.hours, hour + 1)? * 60 + next(self.minutes, 0)?)
    }
}

impl Field {
    /// The values that a field allows.
    fn read(&self, text: &str) -> Result<u64, String> {
        let mut all = 0;
        for item in text.split(',') {
            all |= self.item(item)?;
        }
        Ok(all)
    }

    fn item(&self, item: &str) -> Result<u64, String> {
        let (range, step) = match item.split_once('/') {
            Some((range, step)) => (range, self.step(step)?),
            None => (item, 1),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.least, self.widest()),
            Some((first, last)) => (self.value(first)?, self.end(last)?),
            None if item.contains('/') => {
                let (value, most) = (self.value(range)?, self.most);
                let remedy = format!("a step follows `*` or a range, as in \"{value}-{most}/{step}\"");
                return Err(format!("{item:?} is not {}: {remedy}", self.one()));
            }
            None => (self.value(range)?, self.value(range)?),
        };
        if first > last {
            return Err(format!("{item:?} is not {}: the range ends before it begins", self.one()));
        }
        Ok(bits(first, last, step))
    }

    /// Its name with its article.
    fn one(&self) -> String {
        format!("{} {}", if self.name == "hour" { "an" } else { "a" }, self.name)
    }

    /// The last value of `*`: 7 is Sunday once more.
    fn widest(&self) -> u32 {
        if self.most == 7 { 6 } else { self.most }
    }

    fn step(&self, text: &str) -> Result<u32, String> {
        let most = self.widest() - self.least;
        match number(text).filter(|step| (1..=most).contains(step)) {
            Some(step) => Ok(step),
            None => Err(format!("{text:?} is not a step of the {}: write 1 to {most}", self.name)),
        }
    }

    /// The end of a range; Sunday is the last day there.
    fn end(&self, text: &str) -> Result<u32, String> {
        let value = self.value(text)?;
        Ok(if self.most == 7 && value == 0 && number(text).is_none() { 7 } else { value })
    }

    fn value(&self, text: &str) -> Result<u32, String> {
        let named = || self.names.iter().position(|name| name.eq_ignore_ascii_case(text));
        let value = number(text).or_else(|| Some(u32::try_from(named()?).ok()? + self.least));
        value.filter(|value| (self.least..=self.most).contains(value)).ok_or_else(|| {
            let names = if self.names.is_empty() { String::new() } else { format!(", or {} and so on", self.names[1]) };
            format!("{text:?} is not {}: write {} to {}{names}", self.one(), self.least, self.most)
        })
    }
}

fn number(text: &str) -> Option<u32> {
    // `parse` takes a sign, too.
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn wrong_count(count: usize) -> String {
    let hint = match count {
        6 | 7 => "; there is none for seconds or years: write `every` for intervals in seconds",
        _ => "",
    };
    format!("it has {count} fields: write five, minute, hour, day of the month, month and day of the week{hint}")
}

fn nicknames() -> String {
    NICKNAMES.map(|(nickname, _)| nickname).join(", ")
}

fn bits(first: u32, last: u32, step: u32) -> u64 {
    (first..=last).step_by(step as usize).fold(0, |all, value| all | 1 << value)
}

fn has(bits: u64, value: u32) -> bool {
    bits >> value & 1 == 1
}

/// The first value that is not below `from`.
fn next(bits: u64, from: u32) -> Option<u32> {
    let left = bits.checked_shr(from)? << from;
    (left != 0).then(|| left.trailing_zeros())
}

/// What of a date matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Date {
    month: u32,
    day: u32,
    weekday: u32,
}

impl Date {
    /// The date of a day that is counted from the beginning of 1970, in the Gregorian calendar. Years are reckoned from
    /// March, so that the leap day ends them, in cycles of 400.
    fn of(days: i64) -> Self {
        // From 1 March of the year 0 on.
        let shifted = days + 719_468;
        let of_cycle = shifted.rem_euclid(146_097);
        let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
        let of_year = of_cycle - (365 * year + year / 4 - year / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        // 1 January 1970 was a Thursday.
        let weekday = (days + 4).rem_euclid(7);
        let small = |number| u32::try_from(number).unwrap_or_default();
        Self { month: small(month), day: small(day), weekday: small(weekday) }
    }
}
