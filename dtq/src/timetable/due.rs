//! The ticks that are due.

use super::Timetable;
use crate::types::Timestamp;

/// What of a timetable is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Due {
    /// The latest ticks up to now, in order; no more than were asked for.
    pub(crate) ticks: Vec<Timestamp>,
    /// The first one after now.
    pub(crate) next: Option<Timestamp>,
}

/// The latest `most` ticks from `from` (which counts) to `now`, however long ago `from` was.
pub(crate) fn due(timetable: &Timetable, from: Timestamp, now: Timestamp, most: usize) -> Due {
    let next = timetable.next_after(now);
    let before = Timestamp::from_millis(from.as_millis().saturating_sub(1));
    // Looks back twice as far each time, so that a long absence costs no more than the ticks that are wanted.
    let mut back: i64 = 60_000;
    loop {
        let begin = Timestamp::from_millis(now.as_millis().saturating_sub(back)).max(before);
        let mut ticks = between(timetable, begin, now);
        if ticks.len() >= most || begin == before {
            ticks.drain(..ticks.len().saturating_sub(most));
            return Due { ticks, next };
        }
        back = back.saturating_mul(2);
    }
}

fn between(timetable: &Timetable, after: Timestamp, until: Timestamp) -> Vec<Timestamp> {
    let ticks = std::iter::successors(timetable.next_after(after), |tick| timetable.next_after(*tick));
    ticks.take_while(|tick| *tick <= until).collect()
}
