//! Schedules that are due: which ticks fire, and what comes next.

use crate::failpoint;
use crate::store::{Fire, Fired, Result, Store, Tick};
use crate::timetable::{Due, Timetable, TimetableError, due};
use crate::types::{Missed, Overlap, ScheduleSpec, Timestamp, Uuid};

/// Fires what is due of a schedule.
pub(super) async fn fire(store: &dyn Store, tick: &Tick) -> Result<()> {
    let id = &tick.schedule.spec.id;
    let fire = match reckon(tick) {
        Ok(fire) => fire,
        Err(error) => {
            // A worker of a newer version, or with more features, may know it.
            tracing::error!(schedule = %id, %error, "a schedule cannot be fired by this worker");
            return Ok(());
        }
    };
    failpoint::reach("fire", "before");
    let count = fire.tasks.len();
    let fired = store.fire(fire).await?;
    match fired {
        Fired::Applied if count > 0 => tracing::debug!(schedule = %id, count, "a schedule fired"),
        Fired::PassedOver => {
            tracing::warn!(schedule = %id, "a tick was passed over: the schedule's last task is unfinished");
        }
        Fired::Applied | Fired::Stale => {}
    }
    Ok(())
}

/// What is to be done about a schedule now.
fn reckon(tick: &Tick) -> Result<Fire, TimetableError> {
    let Tick { schedule, now } = tick;
    let timetable = Timetable::of(&schedule.spec.timing)?;
    let spec = &schedule.spec;
    let Due { ticks, next } = match schedule.next.or_else(|| timetable.next_after(schedule.since)) {
        Some(first) => due(&timetable, first, *now, most(spec)),
        None => Due { ticks: Vec::new(), next: None },
    };
    let fires: Vec<_> = ticks.into_iter().filter(|tick| !is_left_out(spec, *tick, *now)).collect();
    Ok(Fire {
        id: spec.id.clone(),
        revision: schedule.revision,
        from: schedule.next,
        next,
        tick: fires.last().copied(),
        tasks: fires.iter().map(|tick| spec.new_task(uuid_of(*tick))).collect(),
        asked: None,
    })
}

/// How many ticks may fire at once. Tasks of one step run side by side, which is what `Overlap::Skip` is against.
fn most(spec: &ScheduleSpec) -> usize {
    if spec.missed == Missed::All && spec.overlap == Overlap::Allow { Missed::MOST } else { 1 }
}

fn is_left_out(spec: &ScheduleSpec, tick: Timestamp, now: Timestamp) -> bool {
    spec.missed == Missed::Skip && now.since(tick) > Missed::LATE
}

/// The id of a tick's task begins with the tick's time.
fn uuid_of(tick: Timestamp) -> Uuid {
    let mut random = [0; 10];
    fastrand::fill(&mut random);
    let millis = u64::try_from(tick.as_millis()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::types::{Origin, Policy, Priority, Schedule, Timing};

    const HOUR: i64 = 3_600_000;

    /// Hourly, with the next tick at 01:00, at a number of minutes after midnight.
    fn tick(missed: Missed, overlap: Overlap, minutes: i64) -> Tick {
        let spec = ScheduleSpec {
            id: "a".parse().unwrap(),
            timing: Timing::Cron { expression: "0 * * * *".into(), zone: "UTC".into() },
            missed,
            overlap,
            task: "a".into(),
            payload: Bytes::new(),
            priority: Priority::default(),
            policy: Policy::DEFAULT,
        };
        let next = Some(Timestamp::from_millis(HOUR));
        let schedule = Schedule {
            spec,
            origin: Origin::Client,
            revision: 3,
            paused: false,
            declared: true,
            since: Timestamp::default(),
            next,
            last: None,
            last_task: None,
            fired: 0,
            passed: 0,
        };
        Tick { schedule, now: Timestamp::from_millis(minutes * 60_000) }
    }

    fn reckoned(tick: &Tick) -> (usize, Option<i64>, Option<i64>) {
        let fire = reckon(tick).unwrap();
        assert_eq!((fire.revision, fire.from), (tick.schedule.revision, tick.schedule.next));
        (fire.tasks.len(), fire.tick.map(|tick| tick.as_millis() / HOUR), fire.next.map(|next| next.as_millis() / HOUR))
    }

    #[test]
    fn a_tick_on_time_fires_once_whatever_the_policy() {
        for missed in [Missed::Skip, Missed::Once, Missed::All] {
            assert_eq!(reckoned(&tick(missed, Overlap::Allow, 60)), (1, Some(1), Some(2)));
            assert_eq!(reckoned(&tick(missed, Overlap::Allow, 61)), (1, Some(1), Some(2)));
        }
    }

    #[test]
    fn missed_ticks_go_by_the_policy() {
        // At half past five.
        assert_eq!(reckoned(&tick(Missed::Skip, Overlap::Allow, 330)), (0, None, Some(6)));
        assert_eq!(reckoned(&tick(Missed::Once, Overlap::Allow, 330)), (1, Some(5), Some(6)));
        assert_eq!(reckoned(&tick(Missed::All, Overlap::Allow, 330)), (5, Some(5), Some(6)));
        assert_eq!(reckoned(&tick(Missed::All, Overlap::Skip, 330)), (1, Some(5), Some(6)));
        // On the hour the tick of now is not missed.
        assert_eq!(reckoned(&tick(Missed::Skip, Overlap::Allow, 300)), (1, Some(5), Some(6)));
        let year = 365 * 24 * 60;
        assert_eq!(reckoned(&tick(Missed::All, Overlap::Allow, year)).0, Missed::MOST);
    }

    #[test]
    fn the_first_tick_comes_after_the_making() {
        let mut fresh = tick(Missed::All, Overlap::Allow, 60);
        (fresh.schedule.next, fresh.schedule.since) = (None, Timestamp::from_millis(HOUR));
        assert_eq!(reckoned(&fresh), (0, None, Some(2)));
    }

    #[test]
    fn ids_begin_with_the_tick_and_differ() {
        let tick = Timestamp::from_millis(1_796_025_140_123);
        let (one, other) = (uuid_of(tick), uuid_of(tick));
        assert_ne!(one, other);
        assert_eq!(one.get_timestamp().map(|time| time.to_unix().0), Some(1_796_025_140));
    }
}
