//! The next instant that matches.
//!
//! Between two changes of a zone's offset, local time and UTC differ by a constant: so each such stretch is searched by local
//! time alone, and the rules for left-out and repeated times apply where stretches meet.

use super::cron::Cron;
use super::zone::Zone;

/// Changes that are looked past: two a year for the sparsest expression, and more.
const MOST_CHANGES: usize = 1_000;

/// The first match after an instant (both in seconds since the beginning of 1970, UTC).
pub(super) fn next(cron: &Cron, zone: &Zone, after: i64) -> Option<i64> {
    let once = !cron.every_hour();
    let mut from = after.checked_add(1)?;
    let mut offset = zone.offset(from);
    // Local times before this one were there already.
    let mut seen = if once { seen_before(zone, from) } else { i64::MIN };
    for _ in 0..MOST_CHANGES {
        let change = zone.next_change(from);
        let found = cron.first_from((from + offset).max(seen)).map(|local| local - offset);
        let Some(change) = change else { return found };
        if let Some(found) = found.filter(|found| *found < change.at) {
            return Some(found);
        }
        let (old, new) = (change.at + offset, change.at + change.offset);
        let left_out = || cron.first_from(old.max(seen)).is_some_and(|local| local < new);
        if once && left_out() {
            return Some(change.at);
        }
        if once {
            seen = seen.max(old);
        }
        (from, offset) = (change.at, change.offset);
    }
    None
}

/// The end of the local times that the clocks had shown when they were changed last.
fn seen_before(zone: &Zone, from: i64) -> i64 {
    zone.last_change(from).map_or(i64::MIN, |change| change.at + zone.offset(change.at - 1))
}
