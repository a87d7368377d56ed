//! Timetables: the instants at which a schedule fires. Pure: the same on every machine, whatever its zone and clock.
//!
//! A cron expression is about what the clocks of its zone show. On days on which they are changed:
//!
//! - A job of certain hours runs once for each time it names. Times that the clocks leave out are made up for at the moment
//!   they jump, once for all of them; of times that they show twice the first counts.
//! - A job of every hour keeps its rhythm: what is left out is left out, and what comes twice runs twice.

mod cron;
mod due;
#[cfg_attr(not(feature = "time-zones"), path = "no_rules.rs")]
mod rules;
mod search;
#[cfg(test)]
mod tests;
mod words;
mod zone;

use std::fmt;
use std::time::Duration;

use crate::types::{Timestamp, Timing};

pub(crate) use due::{Due, due};

use cron::Cron;
use zone::Zone;

/// The shortest interval: a tick costs a few commands.
const SHORTEST: Duration = Duration::from_secs(1);
/// The longest interval: a century.
const LONGEST: Duration = Duration::from_secs(36_525 * 86_400);

/// When something happens again and again: a [`Timing`] that was read and checked. Shown, it is plain words.
///
/// ```
/// use dtq::timetable::Timetable;
/// use std::time::Duration;
///
/// let nightly = Timetable::cron("30 2 * * MON-FRI", "Europe/Berlin")?;
/// assert_eq!(nightly.to_string(), "at 02:30 on Monday to Friday, Europe/Berlin");
/// assert_eq!(Timetable::every(Duration::from_secs(90))?.to_string(), "every 1m 30s");
/// assert!(Timetable::cron("0 0 30 2 *", "UTC").is_err(), "no February has a 30th");
/// # Ok::<(), dtq::timetable::TimetableError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timetable {
    timing: Timing,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Cron(Box<(Cron, Zone)>),
    /// In milliseconds.
    Every(i64),
}

/// Why a timetable was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimetableError {
    /// Not a cron expression, or one that never matches.
    #[error("the cron expression {expression:?} cannot be used: {problem}")]
    Cron {
        /// Its beginning.
        expression: String,
        /// What is wrong with it.
        problem: String,
    },
    /// Not a time zone.
    #[error("the time zone cannot be used: {0}")]
    Zone(String),
    /// An interval that is too short or too long.
    #[error(
        "the interval {0:?} cannot be used: intervals go from one second to a hundred years, in whole milliseconds"
    )]
    Interval(Duration),
}

impl Timetable {
    /// The times that match a cron expression of five fields (minute, hour, day of the month, month, day of the week) by the
    /// clocks of a zone of the IANA database; `"UTC"` for the one that never changes.
    ///
    /// # Errors
    /// When the expression is none, never matches, or is longer than 256 bytes; when the zone is unknown.
    pub fn cron(expression: &str, zone: &str) -> Result<Self, TimetableError> {
        let shown = || expression.chars().take(60).collect();
        let cron = Cron::parse(expression).map_err(|problem| TimetableError::Cron { expression: shown(), problem })?;
        let found = Zone::find(zone).map_err(TimetableError::Zone)?;
        let timing = Timing::Cron { expression: expression.trim().to_owned(), zone: zone.to_owned() };
        Ok(Self { timing, kind: Kind::Cron(Box::new((cron, found))) })
    }

    /// The multiples of an interval since the beginning of 1970 (UTC): every 15 minutes means at :00, :15, :30 and :45.
    ///
    /// # Errors
    /// When it is shorter than a second, longer than a hundred years, or no whole number of milliseconds.
    pub fn every(interval: Duration) -> Result<Self, TimetableError> {
        let whole = interval.subsec_nanos().is_multiple_of(1_000_000);
        let millis = i64::try_from(interval.as_millis()).ok();
        let millis = millis.filter(|_| whole && (SHORTEST..=LONGEST).contains(&interval));
        let millis = millis.ok_or(TimetableError::Interval(interval))?;
        Ok(Self { timing: Timing::Every(interval), kind: Kind::Every(millis) })
    }

    /// Reads what is stored.
    ///
    /// # Errors
    /// As for [`Timetable::cron`] and [`Timetable::every`].
    pub fn of(timing: &Timing) -> Result<Self, TimetableError> {
        match timing {
            Timing::Cron { expression, zone } => Self::cron(expression, zone),
            Timing::Every(interval) => Self::every(*interval),
        }
    }

    /// What it was made from.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// The first of its instants after another one; `None` at the end of the calendar.
    pub fn next_after(&self, after: Timestamp) -> Option<Timestamp> {
        let after = after.as_millis();
        let next = match &self.kind {
            Kind::Every(millis) => after.div_euclid(*millis).checked_add(1)?.checked_mul(*millis)?,
            Kind::Cron(cron) => search::next(&cron.0, &cron.1, after.div_euclid(1000))?.checked_mul(1000)?,
        };
        Some(Timestamp::from_millis(next))
    }

    /// The names of the zones that may be given, sorted.
    pub fn zones() -> impl Iterator<Item = &'static str> {
        zone::names()
    }
}

/// Plain words: `every 5 minutes`, `at 02:30 on Monday, Europe/Berlin`.
impl fmt::Display for Timetable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.kind, &self.timing) {
            (Kind::Cron(cron), Timing::Cron { zone, .. }) => f.write_str(&words::cron(&cron.0, zone)),
            (_, Timing::Every(interval)) => f.write_str(&words::every(*interval)),
            // A cron timetable has a cron timing.
            _ => Ok(()),
        }
    }
}
