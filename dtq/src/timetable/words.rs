//! Timetables in plain words.

use std::time::Duration;

use super::cron::Cron;

/// Times of day that are listed one by one; more are told by their hours and minutes.
const LISTED: usize = 6;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// `every 5 minutes`, `every 1m 30s`.
pub(super) fn every(interval: Duration) -> String {
    let units = [(86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1_000, "second")];
    let millis = interval.as_millis();
    match units.iter().find(|(length, _)| millis.is_multiple_of(*length)) {
        Some((length, unit)) if millis / length == 1 => format!("every {unit}"),
        Some((length, unit)) if *length > 1_000 || millis < 60_000 => format!("every {} {unit}s", millis / length),
        _ => format!("every {}", humantime::format_duration(interval)),
    }
}

/// `at 02:30 on Monday, Europe/Berlin`.
pub(super) fn cron(cron: &Cron, zone: &str) -> String {
    let mut words = times(cron);
    let days = days(cron);
    let months = values(cron.months, 1, 12);
    if !days.is_empty() {
        words = words + " " + &days;
    }
    if months.len() < 12 {
        words = words + " in " + &names(&months, |month| MONTHS[month as usize - 1].to_owned());
    }
    // A rhythm of minutes is the same everywhere.
    if cron.every_hour() && days.is_empty() && months.len() == 12 { words } else { words + ", " + zone }
}

fn times(cron: &Cron) -> String {
    let (minutes, hours) = (values(cron.minutes, 0, 59), values(cron.hours, 0, 23));
    let past = |minute: &u32| format!(":{minute:02}");
    if hours.len() == 24 {
        return match (rhythm(&minutes, 60), &minutes[..]) {
            (Some(1), _) => "every minute".to_owned(),
            (Some(step), _) => format!("every {step} minutes"),
            (None, [0]) => "every hour".to_owned(),
            (None, _) => format!("every hour at {}", and(minutes.iter().map(past).collect())),
        };
    }
    if minutes.len() * hours.len() <= LISTED {
        let times = hours.iter().flat_map(|hour| minutes.iter().map(move |minute| format!("{hour:02}:{minute:02}")));
        return format!("at {}", and(times.collect()));
    }
    let often = match rhythm(&minutes, 60) {
        Some(1) => "every minute".to_owned(),
        Some(step) => format!("every {step} minutes"),
        None => format!("at {}", and(minutes.iter().map(past).collect())),
    };
    match rhythm(&hours, 24) {
        Some(step) if minutes == [0] => format!("every {step} hours"),
        Some(step) => format!("{often} of every {step} hours"),
        None => {
            let word = if hours.len() == 1 { "hour" } else { "hours" };
            format!("{often} in the {word} {}", names(&hours, |hour| format!("{hour:02}")))
        }
    }
}

fn days(cron: &Cron) -> String {
    let (days, weekdays) = (values(cron.days, 1, 31), values(cron.weekdays, 0, 6));
    let of_month = (days.len() < 31).then(|| format!("on the {}", names(&days, ordinal)));
    // Weeks begin on Monday, so that Saturday and Sunday stand together.
    let from_monday: Vec<u32> = (1..=7).filter(|day| weekdays.contains(&(day % 7))).collect();
    let of_week = (weekdays.len() < 7).then(|| names(&from_monday, |day| DAYS[day as usize % 7].to_owned()));
    match (of_month, of_week) {
        (Some(of_month), Some(of_week)) if cron.either_day => format!("{of_month} and on {of_week}"),
        (Some(of_month), Some(of_week)) => format!("{of_month} if that is a {of_week}"),
        (Some(of_month), None) => of_month,
        (None, Some(of_week)) => format!("on {of_week}"),
        (None, None) => String::new(),
    }
}

fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number / 10) {
        (1, 0 | 2 | 3) => "st",
        (2, 0 | 2) => "nd",
        (3, 0 | 2) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// The step of values that go through a whole round in equal steps from zero.
fn rhythm(values: &[u32], round: u32) -> Option<u32> {
    let step = round / u32::try_from(values.len()).ok()?;
    let even = step * u32::try_from(values.len()).ok()? == round && step < round;
    (even && values.iter().zip(0..).all(|(value, place)| *value == place * step)).then_some(step)
}

/// Values with their names: a run of three or more is told by its ends.
fn names(values: &[u32], name: impl Fn(u32) -> String) -> String {
    let runs = values.chunk_by(|a, b| a + 1 == *b).flat_map(|run| match run {
        [first, .., last] if run.len() > 2 => vec![format!("{} to {}", name(*first), name(*last))],
        run => run.iter().map(|value| name(*value)).collect(),
    });
    and(runs.collect())
}

fn and(mut words: Vec<String>) -> String {
    let last = words.pop().unwrap_or_default();
    if words.is_empty() { last } else { format!("{} and {last}", words.join(", ")) }
}

fn values(bits: u64, least: u32, most: u32) -> Vec<u32> {
    (least..=most).filter(|value| bits >> value & 1 == 1).collect()
}
