//! Running what is ready.

use std::collections::HashMap;
use std::future::Future;
use std::panic::Location;
use std::time::{Duration, Instant};

use super::report::{Drained, Ran};
use super::{TestApp, shown};
use crate::registry::{Registry, RegistryError};
use crate::runtime::{WorkerByHand, WorkerConfig};
use crate::shared_state::States;
use crate::store::{Claimed, EventQuery};
use crate::types::{Delivery, EventCursor, EventKind, QueueName, TaskId};

/// How long handlers may run, by real time, before a test is told that they hang.
const LIMIT: Duration = Duration::from_secs(60);
/// How often to look for new work while handlers run, which may wait for it.
const LOOK: Duration = Duration::from_millis(5);
/// Steps of the clock before it is clear that a task comes again for ever.
const STEPS: usize = 1_000;

/// Where a test called, for the message: a future's panic has no place in the test.
type Place = &'static Location<'static>;

#[allow(clippy::panic, reason = "a test fails by it")]
impl TestApp {
    /// Runs every task that is ready, and those that they enqueue, until nothing is ready any more: with the program's own
    /// handlers, as a worker would, up to 64 at once. What is delayed or waits for a retry stays: see
    /// [`TestApp::advance`] and [`TestApp::run_to_end`].
    ///
    /// # Panics
    /// When a task needs state that the test did not give, when two tasks share a name, or when handlers still run after a
    /// minute of real time.
    #[track_caller]
    pub fn drain(&self) -> impl Future<Output = Drained> + '_ {
        self.drain_within(LIMIT)
    }

    /// The same, with another limit of real time.
    ///
    /// # Panics
    /// See [`TestApp::drain`].
    #[track_caller]
    pub fn drain_within(&self, limit: Duration) -> impl Future<Output = Drained> + '_ {
        let place = Location::caller();
        self.drained(limit, place)
    }

    /// Drains, moves the clock to the next delayed task or retry, and drains again, until no task is left. The report
    /// holds every attempt.
    ///
    /// # Panics
    /// See [`TestApp::drain`]; also when there is no end after 1,000 steps of the clock.
    #[track_caller]
    pub fn run_to_end(&self) -> impl Future<Output = Drained> + '_ {
        let place = Location::caller();
        async move {
            let mut all = self.drained(LIMIT, place).await;
            for _ in 0..STEPS {
                let Some(next) = all.next_due() else { return all };
                self.advance(next).await;
                let more = self.drained(LIMIT, place).await;
                all = all.followed_by(more);
            }
            panic!("{place}: after {STEPS} steps of the clock tasks still come again; does one snooze for ever?\n{all}")
        }
    }

    /// A worker claims everything that is ready, and is never heard of again: as if its machine had lost its power. The
    /// tasks are taken over, as their next attempt, when the clock has moved past their leases (30 s). Gives their ids.
    ///
    /// # Panics
    /// When the store fails.
    pub async fn lose_worker(&self) -> Vec<TaskId> {
        let worker = self.worker(Location::caller());
        let mut lost = Vec::new();
        loop {
            let claimed = self.claimed(&worker, Location::caller()).await;
            if claimed.deliveries.is_empty() && !claimed.more {
                return lost;
            }
            let mut sent = self.sent();
            claimed.deliveries.iter().for_each(|delivery| sent.note_run(delivery));
            lost.extend(claimed.deliveries.into_iter().map(|delivery| delivery.lease.task));
        }
    }

    async fn drained(&self, limit: Duration, place: Place) -> Drained {
        let (began, states) = (Instant::now(), self.states());
        let mut worker = self.worker(place);
        let mut log = self.end_of_log(place).await;
        let mut running: HashMap<TaskId, String> = HashMap::new();
        let mut report = Drained::default();
        loop {
            let step = self.step.lock().await;
            let claimed = self.claimed(&worker, place).await;
            let some = claimed.more || !claimed.deliveries.is_empty();
            for delivery in claimed.deliveries {
                self.check_state(&delivery, &states, place);
                self.sent().note_run(&delivery);
                running.insert(delivery.lease.task.clone(), delivery.task.clone());
                worker.start(delivery);
            }
            if worker.running() == 0 && !some {
                report.waits(claimed.next_due);
                break;
            }
            if began.elapsed() >= limit {
                panic!("{}", hanging(place, limit, running.values()));
            }
            // Behind the claim: a lease that ended by a move of the clock is taken over, as if this worker had been paused.
            ok(worker.renew().await, place);
            drop(step);
            // Not for long: handlers may wait for what they enqueued, or for their task to be called off.
            for (settlement, answer) in ok(worker.settle(LOOK).await, place) {
                running.remove(&settlement.delivery.lease.task);
                report.add(Ran::of(settlement, answer));
            }
        }
        self.note_unrun(&mut report, &mut log, place).await;
        report
    }

    fn worker(&self, place: Place) -> WorkerByHand {
        let registry = match self.app().registry() {
            Ok(registry) => registry,
            // Then nothing can run; what is there ends as an unknown task, whose error says what to do.
            Err(RegistryError::Empty) => Registry::empty(),
            Err(error) => panic!("{place}: {error}"),
        };
        WorkerByHand::new(self.client.clone(), registry, self.states(), WorkerConfig::new())
    }

    fn states(&self) -> States {
        self.app().states()
    }

    fn check_state(&self, delivery: &Delivery, states: &States, place: Place) {
        let Ok(registry) = self.app().registry() else { return };
        let Some(task) = registry.get(&delivery.task) else { return };
        if let Some(missing) = task.state.iter().find(|state| !states.holds(state.id())) {
            let (name, state) = (task.def.name, missing.name());
            panic!(
                "{place}: task `{name}` takes #[state] of type {state}, but the test gave none: call t.state(..) with one before"
            );
        }
    }

    /// What is ready in all queues.
    async fn claimed(&self, worker: &WorkerByHand, place: Place) -> Claimed {
        let mut all = Claimed::default();
        for queue in self.queues(place).await {
            let claimed = ok(worker.claim(queue).await, place);
            all.more |= claimed.more;
            all.next_due = all.next_due.into_iter().chain(claimed.next_due).min();
            all.deliveries.extend(claimed.deliveries);
        }
        all
    }

    async fn queues(&self, place: Place) -> Vec<QueueName> {
        let mut queues = ok(self.client.queues().await, place);
        queues.sort();
        queues
    }

    async fn end_of_log(&self, place: Place) -> EventCursor {
        self.events(EventCursor::end(), place).await.1
    }

    /// Tasks that ended without an attempt: expired, or lost for the last time.
    async fn note_unrun(&self, report: &mut Drained, log: &mut EventCursor, place: Place) {
        let (ended, _) = self.events(log.clone(), place).await;
        for (id, kind) in ended {
            if report.has(&id) {
                continue;
            }
            let record = ok(self.client.get(&id).await, place);
            report.add(Ran::without_attempt(id, kind, record));
        }
    }

    /// The ends that the log tells of after a place, and the place after them.
    async fn events(&self, mut after: EventCursor, place: Place) -> (Vec<(TaskId, EventKind)>, EventCursor) {
        let (queues, mut ends) = (self.queues(place).await, Vec::new());
        loop {
            let query = EventQuery { queues: queues.clone(), after: after.clone(), limit: 1_000, wait: Duration::ZERO };
            let page = ok(self.client.events(query).await, place);
            after = page.next;
            if page.events.is_empty() {
                return (ends, after);
            }
            let ended = page.events.into_iter().filter(|event| event.kind.is_terminal());
            ends.extend(ended.filter_map(|event| Some((event.task?, event.kind))));
        }
    }
}

#[allow(clippy::panic, reason = "a test fails by it")]
fn ok<T>(answer: crate::store::Result<T>, place: Place) -> T {
    answer.unwrap_or_else(|error| panic!("{place}: {error}"))
}

fn hanging<'a>(place: Place, limit: Duration, running: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<_> = running.map(|name| format!("`{name}`")).collect();
    format!(
        "{place}: handlers still run after {} of real time: {}; do they wait for what this test does not do? (a test's \
         clock moves neither `timeout` nor their own sleeps)",
        shown(limit),
        names.join(", ")
    )
}
