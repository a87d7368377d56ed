//! Accepting tasks.

use std::collections::HashSet;
use std::sync::PoisonError;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use redis::Value;
use uuid::Uuid;

use super::RedisStore;
use super::link::Link;
use super::reply;
use super::runs;
use super::scripts::SCRIPTS;
use crate::store::{Accepted, BATCH, Full, Refusal, Result};
use crate::types::{NewTask, QueueName, TaskId};

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
    // In their order on one connection, but none waits for the answer of the one before; except for the first, which tells a
    // server the script that does not know it: two that were told of that might pass each other.
    let (mut next, mut on_their_way) = (steps.iter(), FuturesOrdered::new());
    let mut lanes = 1;
    loop {
        let room = lanes - on_their_way.len();
        on_their_way.extend(next.by_ref().take(room).map(|step| submit(store, step.queue, &tasks, &step.places)));
        let Some(told) = on_their_way.next().await else { break };
        lanes = LANES;
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
    call.arg(store.link.options().event_log).arg(places.len());
    runs::write(&mut call, &store.keys.record_root(queue), tasks, places);
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
