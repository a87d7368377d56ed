//! Accepting tasks.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use redis::{Cmd, Value};
use uuid::Uuid;

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{Accepted, BATCH, Full, Refusal, Result};
use crate::types::{Deferral, Idempotency, NewTask, OnConflict, QueueName, TaskId, Unique, Until};

const OPERATION: &str = "enqueue";
/// Steps of one call that are on their way at once.
const LANES: usize = 4;

pub(super) async fn enqueue(store: &RedisStore, tasks: Vec<NewTask>) -> Result<Vec<Accepted>> {
    let mut answers: Vec<_> = tasks.iter().map(|task| Accepted::new(task.id.clone(), false)).collect();
    let steps = steps(&tasks);
    for step in &steps {
        if !is_listed(store, step.queue) {
            list_queue(store, step.queue).await?;
        }
    }
    // In their order on one connection, but none waits for the answer of the one before.
    let (mut next, mut on_their_way) = (steps.iter(), FuturesOrdered::new());
    loop {
        let room = LANES - on_their_way.len();
        on_their_way.extend(next.by_ref().take(room).map(|step| submit(store, step.queue, &tasks, &step.places)));
        let Some(told) = on_their_way.next().await else { break };
        for (place, answer) in told? {
            answers[place] = answer;
        }
    }
    drop(on_their_way);
    Ok(answers)
}

/// Tasks of one atomic step, by their places.
struct Step<'a> {
    queue: &'a QueueName,
    places: Vec<usize>,
    ids: HashSet<&'a TaskId>,
}

/// One step for each queue and [`BATCH`]. Two tasks of one id go into different steps, since a script reads which ids are
/// known before it makes any task.
fn steps(tasks: &[NewTask]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        // The queue's latest step, so that its tasks stay in order.
        let open = steps.iter_mut().rfind(|step| step.queue == task.id.queue());
        match open.filter(|step| step.places.len() < BATCH && !step.ids.contains(&task.id)) {
            Some(step) => {
                step.places.push(place);
                step.ids.insert(&task.id);
            }
            None => steps.push(Step { queue: task.id.queue(), places: vec![place], ids: HashSet::from([&task.id]) }),
        }
    }
    steps
}

fn is_listed(store: &RedisStore, queue: &QueueName) -> bool {
    store.listed.lock().unwrap_or_else(PoisonError::into_inner).contains(queue)
}

/// Puts the queue on the list of queues before its first task, so that no task is in a queue that nobody can find.
pub(super) async fn list_queue(store: &RedisStore, queue: &QueueName) -> Result<()> {
    let mut command = redis::cmd("SADD");
    command.arg(store.keys.queues()).arg(queue.as_str());
    store.link.run(OPERATION, &command).await?;
    store.listed.lock().unwrap_or_else(PoisonError::into_inner).insert(queue.clone());
    Ok(())
}

/// Sends one batch; gives the answers of all but those whose ids were known.
async fn submit(
    store: &RedisStore,
    queue: &QueueName,
    tasks: &[NewTask],
    places: &[usize],
) -> Result<Vec<(usize, Accepted)>> {
    let script = &SCRIPTS.enqueue;
    let mut call = Link::call(script, &store.keys.root(queue));
    let raw: Vec<u8> = places.iter().flat_map(|&place| tasks[place].id.uuid().into_bytes()).collect();
    call.arg(store.link.options().event_log).arg(places.len()).arg(raw);
    for &place in places {
        call.arg(tasks[place].id.uuid().to_string());
    }
    write_runs(&mut call, tasks, places);
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let told = Told::read(answer).ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))?;
    if told.known.contains(&0) {
        // The server had nothing of this queue: it is the first task, or somebody flushed the server meanwhile.
        list_queue(store, queue).await?;
    }
    let own = (1..).zip(places).filter(|(number, _)| !told.known.contains(number)).map(|(number, &place)| {
        let refused = told.full.filter(|_| told.known.contains(&-number)).map(Refusal::Full);
        (place, Accepted { id: tasks[place].id.clone(), created: refused.is_none(), refused })
    });
    let others = told.others.iter().filter_map(|&(number, uuid, refused)| {
        let id = TaskId::new(queue.clone(), uuid);
        Some((*places.get(number.checked_sub(1)?)?, Accepted { id, created: false, refused }))
    });
    Ok(own.chain(others).collect())
}

/// What the script tells of a batch, by number from 1.
#[derive(Default)]
struct Told {
    /// Those that were known, by their own ids or for their keys; negative, those for which there was no room; 0: nothing
    /// was known of the queue.
    known: HashSet<i64>,
    /// Those that another task stands for.
    others: Vec<(usize, Uuid, Option<Refusal>)>,
    /// Why there was no room.
    full: Option<Full>,
}

impl Told {
    fn read(answer: Value) -> Option<Self> {
        let mut told = Self::default();
        for value in reply::list(answer)? {
            match reply::int(&value) {
                Some(number) => drop(told.known.insert(number)),
                None => told.read_line(&reply::text(value)?)?,
            }
        }
        Some(told)
    }

    fn read_line(&mut self, line: &str) -> Option<()> {
        match line.strip_prefix("F ") {
            Some(numbers) => self.full = Some(Self::read_full(numbers)?),
            None => self.others.push(Self::read_other(line)?),
        }
        Some(())
    }

    fn read_full(numbers: &str) -> Option<Full> {
        let mut numbers = numbers.split(' ');
        let mut next = || numbers.next()?.parse::<u64>().ok();
        let (depth, limit, retry_after) = (next()?, u32::try_from(next()?).ok()?, Duration::from_millis(next()?));
        Some(Full { depth, limit, retry_after })
    }

    fn read_other(line: &str) -> Option<(usize, Uuid, Option<Refusal>)> {
        let mut words = line.split(' ');
        let number = words.next()?.parse().ok()?;
        let refused = match words.next()? {
            "P" => Some(Refusal::InProgress),
            "U" => Some(Refusal::Unique),
            _ => None,
        };
        Some((number, words.next()?.parse().ok()?, refused))
    }
}

/// Tasks that follow each other and differ in id and payload only share the rest.
fn write_runs(call: &mut Cmd, tasks: &[NewTask], places: &[usize]) {
    let same = |a: &usize, b: &usize| {
        let (a, b) = (&tasks[*a], &tasks[*b]);
        (a.priority, a.deferral, &a.task, &a.policy, has_keys(a))
            == (b.priority, b.deferral, &b.task, &b.policy, has_keys(b))
    };
    for run in places.chunk_by(same) {
        let NewTask { priority, deferral, task, policy, .. } = &tasks[run[0]];
        let meta = record::meta(policy, None, "");
        call.arg(priority.level()).arg(due(*deferral)).arg(task).arg(meta);
        if has_keys(&tasks[run[0]]) {
            call.arg(format!("k{}", run.len()));
        } else {
            call.arg(run.len());
        }
        for &place in run {
            call.arg(&tasks[place].payload[..]);
            if has_keys(&tasks[place]) {
                write_keys(call, &tasks[place]);
            }
        }
    }
}

fn has_keys(task: &NewTask) -> bool {
    task.idempotency.is_some() || task.unique.is_some()
}

fn write_keys(call: &mut Cmd, task: &NewTask) {
    match &task.idempotency {
        // At zero the server would refuse it; a millisecond is as good.
        Some(Idempotency { key, keep }) => call.arg(record::millis(*keep).max(1)).arg(key),
        None => call.arg("").arg(""),
    };
    let Some(Unique { key, until, on_conflict }) = &task.unique else {
        call.arg("").arg("").arg("").arg("");
        return;
    };
    match until {
        Until::Started => call.arg("s").arg(""),
        Until::Finished => call.arg("f").arg(""),
        Until::Period(period) => call.arg("p").arg(record::millis(*period).max(1)),
    };
    call.arg(format!("{}/{key}", task.task)).arg(match on_conflict {
        OnConflict::Skip => "s",
        OnConflict::Replace => "r",
        OnConflict::Reschedule => "d",
        OnConflict::Error => "e",
    });
}

fn due(deferral: Deferral) -> String {
    match deferral {
        Deferral::None => String::new(),
        Deferral::After(delay) => format!("a{}", record::millis(delay)),
        Deferral::At(at) => format!("@{}", record::instant(at)),
    }
}
