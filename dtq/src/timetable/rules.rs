//! The rules of zones, from the IANA database that is built in: so they are the same on every machine.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase, TimeZoneTransition};

use super::zone::Change;
use crate::suggest;

/// No name is longer, in bytes.
const LONGEST: usize = 64;

static DATABASE: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut names: Vec<_> = DATABASE.available().map(|name| name.as_str().to_owned()).collect();
    names.sort();
    names
});

/// The rules of one zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rules(TimeZone);

impl Rules {
    /// Those of the zone of that name; says what is wrong with a name of none.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        // A name is looked up whatever its case; what is stored shall be what the database has.
        let known = DATABASE.get(name).ok().filter(|zone| zone.iana_name() == Some(name));
        known.map(Self).ok_or_else(|| {
            let same = names().find(|known| known.eq_ignore_ascii_case(name));
            let near = || suggest::nearest(name, &names().collect::<Vec<_>>());
            let meant = same.or_else(|| if name.len() <= LONGEST { near() } else { None });
            let meant = meant.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
            // What is far too long to be a name is not shown in full.
            let shown: String = name.chars().take(LONGEST).collect();
            format!("{shown:?} is not a name of the IANA time zone database, such as \"Europe/Berlin\"{meant}")
        })
    }

    pub(super) fn offset(&self, at: i64) -> i64 {
        instant(at).map_or(0, |at| self.0.to_offset(at).seconds().into())
    }

    pub(super) fn next_change(&self, after: i64) -> Option<Change> {
        self.0.following(instant(after)?).next().map(change)
    }

    pub(super) fn last_change(&self, until: i64) -> Option<Change> {
        self.0.preceding(instant(until + 1)?).next().map(change)
    }
}

fn change(transition: TimeZoneTransition<'_>) -> Change {
    Change { at: transition.timestamp().as_second(), offset: transition.offset().seconds().into() }
}

fn instant(seconds: i64) -> Option<Timestamp> {
    Timestamp::from_second(seconds).ok()
}

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(String::as_str)
}
