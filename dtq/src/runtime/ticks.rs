//! Schedules that are due: which ticks fire, and what comes next.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::failpoint;
use crate::store::{Fire, Fired, Store, Tick};
use crate::timetable::{Due, Timetable, TimetableError, due};
use crate::types::{Missed, Overlap, QueueName, ScheduleId, ScheduleSpec, Timestamp, Uuid};

/// How often a worker without room looks whether schedules are due: a tick must not wait for a long task to end.
pub(super) const LOOK: Duration = Duration::from_secs(1);

/// What a worker knows of schedules.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    /// The queues that have some, and when this worker looked at them last.
    looked: Mutex<HashMap<QueueName, Instant>>,
    /// Schedules that could not be fired: that is told once.
    failing: Mutex<HashSet<ScheduleId>>,
}

impl Ticks {
    /// Of a worker whose own code has schedules in these queues.
    pub(super) fn new(queues: impl Iterator<Item = QueueName>) -> Self {
        let looked = queues.map(|queue| (queue, Instant::now())).collect();
        Self { looked: Mutex::new(looked), failing: Mutex::default() }
    }

    /// True when no queue is known to have schedules.
    pub(super) fn is_empty(&self) -> bool {
        locked(&self.looked).is_empty()
    }

    /// The queues that were not looked at for a while.
    pub(super) fn overdue(&self) -> Vec<QueueName> {
        let looked = locked(&self.looked);
        looked.iter().filter(|(_, at)| at.elapsed() >= LOOK).map(|(queue, _)| queue.clone()).collect()
    }

    /// Notes a look at a queue, and whether it had something.
    pub(super) fn looked_at(&self, queue: &QueueName, found: bool) {
        let mut looked = locked(&self.looked);
        if found || looked.contains_key(queue) {
            looked.insert(queue.clone(), Instant::now());
        }
    }

    /// Fires what is due; true when there was something. A failure is no loss: the tick is answered again, here or
    /// elsewhere, after a moment.
    pub(super) async fn fire(&self, store: &dyn Store, due: &[Tick]) -> bool {
        for tick in due {
            let id = &tick.schedule.spec.id;
            match fire(store, tick).await {
                Ok(()) => drop(locked(&self.failing).remove(id)),
                Err(error) if locked(&self.failing).insert(id.clone()) => {
                    tracing::warn!(schedule = %id, error, "a schedule could not be fired; that is tried again");
                }
                Err(_) => {}
            }
        }
        !due.is_empty()
    }
}

/// Fires what is due of one schedule.
async fn fire(store: &dyn Store, tick: &Tick) -> Result<(), String> {
    let id = &tick.schedule.spec.id;
    // A worker of a newer version, or with more features, may know what this one does not.
    let fire = reckon(tick).map_err(|error| error.to_string())?;
    failpoint::reach("fire", "before");
    let count = fire.tasks.len();
    match store.fire(fire).await.map_err(|error| error.to_string())? {
        Fired::Applied if count > 0 => tracing::debug!(schedule = %id, count, "a schedule fired"),
        Fired::PassedOver => {
            tracing::warn!(schedule = %id, "a tick was passed over: the schedule's last task is unfinished");
        }
        Fired::Applied | Fired::Stale => {}
    }
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn only_queues_with_schedules_are_looked_at() {
        let queues = ["a", "b", "c"].map(|name| QueueName::new(name).unwrap());
        let ticks = Ticks::new(std::iter::once(queues[0].clone()));
        ticks.looked_at(&queues[1], true);
        ticks.looked_at(&queues[2], false);
        assert!(!ticks.is_empty() && ticks.overdue().is_empty(), "all were looked at just now");
        locked(&ticks.looked).values_mut().for_each(|at| *at -= LOOK);
        ticks.looked_at(&queues[0], false);
        assert_eq!(ticks.overdue(), queues[1..2]);
        assert!(Ticks::default().is_empty());
    }

    #[test]
    fn ids_begin_with_the_tick_and_differ() {
        let tick = Timestamp::from_millis(1_796_025_140_123);
        let (one, other) = (uuid_of(tick), uuid_of(tick));
        assert_ne!(one, other);
        assert_eq!(one.get_timestamp().map(|time| time.to_unix().0), Some(1_796_025_140));
    }
}
