//! What is compared with the model: a store.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dtq::store::{
    CancelOutcome, CancelRequest, Claim, DeadLetterQuery, EventQuery, PauseRequest, Purge, Renewal,
    Renewed as StoreRenewed, Settled, Settlement, Steer, Steering, StoreError, Verdict,
};
use dtq::types::{
    By, Deferral, Delivery, EventCursor, Idempotency, NewTask, QueueName, Record, TaskId, Unique, Until, Uuid,
};
use dtq_tests::{SILENCE, World, failure, queue, task, worker};
use futures_util::future::{try_join_all, try_join3};
use tokio::runtime::Runtime;

use super::answers::{
    AGAIN, Answer, CALLED_OFF, Cancelled, Handed, LOST, MOOT, NO, RESULT, Renewed, Seen, SeenTask, Step, Stood,
};
use super::keys::KEEP;
use super::verbs::{self, End, Hand, Hold, New, QUEUES, Ticks, WORKERS, Wish};

/// Something that claims to behave like the model.
pub(super) trait Subject {
    /// Plays a verb.
    fn call(&mut self, step: &Step) -> Result<Answer, String>;
    /// What can be seen of these tasks, and of all else; the events are those since the last look.
    fn look(&mut self, tasks: &[usize]) -> Result<Seen, String>;
}

/// A store, and what it handed out. One of the workers has a handle of its own, as in another process.
pub(super) struct Store<'r> {
    runtime: &'r Runtime,
    world: Option<World>,
    second: Option<Arc<dyn dtq::store::Store>>,
    /// By number.
    ids: Vec<TaskId>,
    /// By number, with the worker.
    deliveries: Vec<(usize, Delivery)>,
    cursor: EventCursor,
    /// Tasks that were made in one step with the one before them in their row, and of its kind.
    in_rows: usize,
}

const TICK: Duration = Duration::from_secs(50);

/// A number of ticks as time.
pub(super) fn time(ticks: Ticks) -> Duration {
    TICK * u32::try_from(ticks).expect("a time of a test")
}

impl<'r> Store<'r> {
    pub(super) fn new(runtime: &'r Runtime, world: World) -> Self {
        let second = Some(runtime.block_on(world.second_store()));
        Self {
            runtime,
            world: Some(world),
            second,
            ids: vec![],
            deliveries: vec![],
            cursor: EventCursor::start(),
            in_rows: 0,
        }
    }

    /// The world behind it, for the next one.
    pub(super) fn into_world(mut self) -> World {
        self.world.take().expect("a world")
    }

    /// How many tasks were made in one step with the one before them in their row.
    pub(super) fn in_rows(&self) -> usize {
        self.in_rows
    }

    fn world(&self) -> &World {
        self.world.as_ref().expect("a world")
    }

    fn handle_of(&self, worker: usize) -> Arc<dyn dtq::store::Store> {
        self.second.clone().filter(|_| worker == 1).unwrap_or_else(|| self.world().store())
    }

    async fn play(&mut self, step: &Step) -> Result<Answer, StoreError> {
        let store = self.world().store();
        Ok(match step {
            Step::Enqueue(tasks) => {
                let tasks: Vec<_> = tasks.iter().map(|(number, new)| self.new_task(*number, new)).collect();
                let answers = store.enqueue(tasks.clone()).await?;
                let created: Vec<_> =
                    tasks.iter().zip(&answers).filter(|(_, it)| it.created).map(|(it, _)| it).collect();
                self.in_rows += created.windows(2).filter(|pair| stand_in_a_row(pair[0], pair[1])).count();
                let stood = answers.into_iter().map(|it| Stood {
                    task: self.number(&it.id),
                    created: it.created,
                    refused: it.refused,
                });
                Answer::Accepted(stood.collect())
            }
            Step::Claim(wish) => self.claim(wish).await?,
            Step::Settle(ends) => {
                let settlement = |&(grant, end): &(usize, End)| Settlement {
                    delivery: self.deliveries[grant].1.clone(),
                    verdict: verdict(end),
                };
                let store = self.handle_of(self.deliveries[ends[0].0].0);
                let answers = store.settle(ends.iter().map(settlement).collect()).await?;
                Answer::Settled(
                    answers.into_iter().map(|it| if let Settled::Applied(to) = it { Some(to) } else { None }).collect(),
                )
            }
            Step::Renew { worker: by, leases, lease } => {
                let leases = leases.iter().map(|&grant| self.deliveries[grant].1.lease.clone()).collect();
                let renewal = Renewal { worker: worker(WORKERS[*by]), leases, lease: time(*lease) };
                Answer::Renewed(self.handle_of(*by).renew(renewal).await?.iter().map(renewed).collect())
            }
            Step::Cancel(number) => {
                let request = CancelRequest { id: self.ids[*number].clone(), by: By::new("tests", CALLED_OFF.1) };
                Answer::Cancelled(match store.cancel(request).await? {
                    CancelOutcome::Cancelled => Cancelled::Now,
                    CancelOutcome::Requested => Cancelled::Asked,
                    CancelOutcome::AlreadyFinished(status) => Cancelled::Finished(status),
                    CancelOutcome::NotFound => Cancelled::NotFound,
                })
            }
            &Step::Pause { queue: number, pause } => {
                let by = By::new("tests", "for a while");
                Answer::Paused(store.pause(PauseRequest { queue: queue(QUEUES[number]), pause, by }).await?)
            }
            Step::Purge(number) => Answer::Purged(purge(&*store, QUEUES[*number]).await?),
            Step::Steer(number, hand) => {
                let id = self.ids[*number].clone();
                let (queue, words) = (id.queue().clone(), id.to_string());
                let (targets, by) = (vec![id.into()], By::new("tests", "by hand"));
                let action = match *hand {
                    Hand::Requeue(from) => Steer::Requeue { from, payload: None },
                    Hand::Discard => Steer::Discard,
                    Hand::Purge => Steer::Purge,
                };
                Answer::Steered(store.steer(Steering { queue, targets, action, words, by }).await?.remove(0))
            }
            Step::Advance(ticks) => {
                self.world().advance(time(*ticks));
                Answer::Nothing
            }
            Step::Reopen => {
                drop((store, self.second.take()));
                let world = self.world.take().expect("a world").reopened().await;
                self.second = Some(world.second_store().await);
                self.world = Some(world);
                Answer::Nothing
            }
        })
    }

    fn new_task(&mut self, number: usize, new: &New) -> NewTask {
        if number == self.ids.len() {
            // Some of them stand in rows of eight.
            let mark = if number % 16 < 8 { 0xb000 } else { 0 };
            let uuid = Uuid::from_u128(((1 + number as u128 / 8) << 16) + mark + number as u128 % 8);
            self.ids.push(TaskId::new(queue(QUEUES[new.queue]), uuid));
        }
        let mut it = task("a").id(&self.ids[number]).payload(number.to_string()).build();
        it.priority = dtq::types::Priority::new(new.priority).expect("a priority");
        it.deferral = match new.deferral {
            verbs::Deferral::Now => Deferral::None,
            verbs::Deferral::After(delay) => Deferral::After(time(delay)),
            verbs::Deferral::At(distance) => {
                let millis = i64::try_from(TICK.as_millis()).expect("a short time") * distance;
                Deferral::At(dtq::types::Timestamp::from_millis(self.world().now().as_millis() + millis))
            }
        };
        it.policy.max_attempts = new.max_attempts;
        it.policy.dead_letter = new.dead_letter;
        it.policy.retention = time(new.retention);
        it.policy.ttl = new.ttl.map(time);
        it.idempotency = new.key.map(|key| Idempotency::new(key.to_string()).keep(time(KEEP)));
        it.unique = new.unique.map(|verbs::UniqueKey { key, hold, on_conflict }| {
            let until = match hold {
                Hold::Started => Until::Started,
                Hold::Finished => Until::Finished,
                Hold::Period(period) => Until::Period(time(period)),
            };
            Unique::new(key.to_string()).until(until).on_conflict(on_conflict)
        });
        it
    }

    async fn claim(&mut self, wish: &Wish) -> Result<Answer, StoreError> {
        let claim = Claim {
            queue: queue(QUEUES[wish.queue]),
            worker: worker(WORKERS[wish.worker]),
            max: wish.max,
            lease: time(wish.lease),
            silence: SILENCE,
            sweep: wish.sweep,
            holding: None,
            watch: false,
        };
        let claimed = self.handle_of(wish.worker).claim(claim).await?;
        let handed = claimed.deliveries.iter().map(|it| Handed {
            task: self.number(&it.lease.task),
            attempt: it.lease.attempt,
            reclaimed: it.reclaimed,
        });
        let handed = handed.collect();
        self.deliveries.extend(claimed.deliveries.into_iter().map(|delivery| (wish.worker, delivery)));
        Ok(Answer::Claimed { handed, more: claimed.more, later: claimed.next_due.is_some(), paused: claimed.paused })
    }

    fn number(&self, id: &TaskId) -> usize {
        self.ids.iter().position(|known| known == id).unwrap_or(usize::MAX)
    }

    async fn see(&mut self, tasks: &[usize]) -> Result<Seen, StoreError> {
        let store = self.world().store();
        let queues = QUEUES.map(queue);
        let letters_of = |queue: &QueueName| store.dead_letters(DeadLetterQuery::first(queue.clone(), 1000));
        // All at once: a server's answers come faster together.
        let (records, stats, letters) = try_join3(
            try_join_all(tasks.iter().map(|&number| store.get(&self.ids[number]))),
            try_join_all(queues.iter().map(|queue| store.stats(queue))),
            try_join_all(queues.iter().map(letters_of)),
        )
        .await?;
        let dead_letters = letters.into_iter().map(|letters| {
            let mut letters: Vec<_> =
                letters.letters.into_iter().map(|it| (self.number(&it.id), it.attempt, it.failure.kind)).collect();
            letters.sort_by_key(|&(task, attempt, _)| (task, attempt));
            letters
        });
        Ok(Seen {
            tasks: tasks.iter().copied().zip(records.into_iter().map(|record| record.map(seen_task))).collect(),
            stats,
            dead_letters: dead_letters.collect(),
            events: self.news().await?,
        })
    }

    /// The events since the last look.
    async fn news(&mut self) -> Result<BTreeMap<usize, Vec<(dtq::types::EventKind, u32)>>, StoreError> {
        let mut events = BTreeMap::<_, Vec<_>>::new();
        // More than any one verb can bring about.
        let limit = 10_000;
        let (queues, after) = (QUEUES.map(queue).to_vec(), self.cursor.clone());
        let query = EventQuery { queues, after, limit, wait: Duration::ZERO };
        let page = self.world().store().events(query).await?;
        for event in page.events {
            let number = event.task.as_ref().map_or(usize::MAX, |id| self.number(id));
            events.entry(number).or_default().push((event.kind, event.attempt));
        }
        self.cursor = page.next;
        Ok(events)
    }
}

impl Subject for Store<'_> {
    fn call(&mut self, step: &Step) -> Result<Answer, String> {
        let runtime = self.runtime;
        runtime.block_on(self.play(step)).map_err(|error| error.to_string())
    }

    fn look(&mut self, tasks: &[usize]) -> Result<Seen, String> {
        let runtime = self.runtime;
        runtime.block_on(self.see(tasks)).map_err(|error| error.to_string())
    }
}

/// Whether a store that keeps rows together may keep these together.
fn stand_in_a_row(one: &NewTask, next: &NewTask) -> bool {
    let follows = one.id.uuid().as_u128() + 1 == next.id.uuid().as_u128() && one.id.queue() == next.id.queue();
    let is_ready = one.deferral == Deferral::None && one.idempotency.is_none() && one.unique.is_none();
    let like = NewTask { id: one.id.clone(), payload: one.payload.clone(), ..next.clone() };
    one.id.uuid().as_bytes()[14] == 0xb0 && follows && is_ready && like == *one
}

async fn purge(store: &dyn dtq::store::Store, name: &str) -> Result<usize, StoreError> {
    let (by, run) = (By::new("tests", CALLED_OFF.1), Uuid::now_v7());
    let (task, stop_running, dry_run) = Default::default();
    let mut purge = Purge { queue: queue(name), task, stop_running, dry_run, by, run, after: None };
    let mut dropped = 0;
    loop {
        let step = store.purge(purge.clone()).await?;
        dropped += usize::try_from(step.dropped).expect("a small number");
        match step.next {
            Some(next) => purge.after = Some(next),
            None => return Ok(dropped),
        }
    }
}

fn seen_task(record: Record) -> SeenTask {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let attempts = record.attempts.iter().map(|it| {
        let words = if it.failure.kind == LOST.0 { LOST.1 } else { &it.failure.message };
        (it.number, it.failure.kind, words.to_owned())
    });
    SeenTask {
        status: record.status,
        attempt: record.attempt,
        attempts: attempts.collect(),
        due: record.due_at.is_some(),
        finished: record.finished_at.is_some(),
        result: record.result.as_deref().map(text),
        cancel_requested: record.cancel_requested,
        priority: record.priority.level(),
        payload: text(&record.payload),
        lives: record.requeued.map_or((0, 0), |it| (it.times, it.attempts)),
        discarded: record.discarded_at.is_some(),
    }
}

fn verdict(end: End) -> Verdict {
    match end {
        End::Succeed { result } => Verdict::Succeeded { result: result.then(|| RESULT.into()) },
        End::Retry(delay) => Verdict::Retry { delay: time(delay), failure: failure(AGAIN.1) },
        End::Snooze(delay) => Verdict::Snooze { delay: time(delay) },
        End::Fail => Verdict::Failed { failure: failure(NO.1) },
        End::Drop => Verdict::Cancelled { reason: MOOT.1.into() },
        End::Release => Verdict::Release,
    }
}

fn renewed(answer: &StoreRenewed) -> Renewed {
    match answer {
        StoreRenewed::Held => Renewed::Held,
        StoreRenewed::CancelRequested(_) => Renewed::AskedToStop,
        StoreRenewed::Lost => Renewed::Lost,
    }
}
