//! Time zones: the offset of local time at an instant, and when it changes.
//!
//! The rules are those of the IANA database that is built in, so that they are the same on every machine. UTC needs none.

/// A change of a zone's offset. All numbers are seconds; instants count from the beginning of 1970 (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    pub(super) at: i64,
    /// Local time minus UTC from then on.
    pub(super) offset: i64,
}

/// A zone whose rules are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Zone {
    Utc,
    #[cfg(feature = "time-zones")]
    Named(jiff::tz::TimeZone),
}

impl Zone {
    /// The zone of that name; says what is wrong with a name of none.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        if name == "UTC" { Ok(Self::Utc) } else { Self::named(name) }
    }

    #[cfg(feature = "time-zones")]
    fn named(name: &str) -> Result<Self, String> {
        // A name is looked up whatever its case; what is stored shall be what the database has.
        let known = database().get(name).ok().filter(|zone| zone.iana_name() == Some(name));
        known.map(Self::Named).ok_or_else(|| {
            let names: Vec<&str> = names().collect();
            let meant = crate::suggest::nearest(name, &names);
            let meant = meant.map(|meant| format!("; did you mean {meant:?}?")).unwrap_or_default();
            format!("{name:?} is not a name of the IANA time zone database, such as \"Europe/Berlin\"{meant}")
        })
    }

    #[cfg(not(feature = "time-zones"))]
    fn named(name: &str) -> Result<Self, String> {
        Err(format!("{name:?} is not \"UTC\": this program was built without dtq's feature `time-zones`"))
    }

    /// Local time minus UTC at an instant.
    pub(super) fn offset(&self, at: i64) -> i64 {
        match self {
            Self::Utc => 0,
            #[cfg(feature = "time-zones")]
            Self::Named(zone) => instant(at).map_or(0, |at| zone.to_offset(at).seconds().into()),
        }
    }

    /// The first change after an instant.
    pub(super) fn next_change(&self, after: i64) -> Option<Change> {
        match self {
            Self::Utc => None,
            #[cfg(feature = "time-zones")]
            Self::Named(zone) => zone.following(instant(after)?).next().map(Change::of),
        }
    }

    /// The last change up to an instant.
    pub(super) fn last_change(&self, until: i64) -> Option<Change> {
        match self {
            Self::Utc => None,
            #[cfg(feature = "time-zones")]
            Self::Named(zone) => zone.preceding(instant(until + 1)?).next().map(Change::of),
        }
    }
}

#[cfg(feature = "time-zones")]
impl Change {
    fn of(transition: jiff::tz::TimeZoneTransition<'_>) -> Self {
        Self { at: transition.timestamp().as_second(), offset: transition.offset().seconds().into() }
    }
}

#[cfg(feature = "time-zones")]
fn instant(seconds: i64) -> Option<jiff::Timestamp> {
    jiff::Timestamp::from_second(seconds).ok()
}

#[cfg(feature = "time-zones")]
fn database() -> &'static jiff::tz::TimeZoneDatabase {
    static DATABASE: std::sync::LazyLock<jiff::tz::TimeZoneDatabase> =
        std::sync::LazyLock::new(jiff::tz::TimeZoneDatabase::bundled);
    &DATABASE
}

/// The names of all zones that are known, sorted.
#[cfg(feature = "time-zones")]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    static NAMES: std::sync::LazyLock<Vec<String>> = std::sync::LazyLock::new(|| {
        let mut names: Vec<_> = database().available().map(|name| name.as_str().to_owned()).collect();
        names.sort();
        names
    });
    NAMES.iter().map(String::as_str)
}

/// The names of all zones that are known.
#[cfg(not(feature = "time-zones"))]
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    std::iter::once("UTC")
}
