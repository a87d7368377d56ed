//! Accepting tasks.

use std::collections::{HashMap, HashSet};
use std::sync::PoisonError;
use std::time::Duration;

use redis::{Cmd, Value};

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{Accepted, BATCH, Full, Refusal, Result};
use crate::types::{Deferral, NewTask, QueueName, TaskId};

const OPERATION: &str = "enqueue";

pub(super) async fn enqueue(store: &RedisStore, tasks: Vec<NewTask>) -> Result<Vec<Accepted>> {
    let mut answers: Vec<_> = tasks.iter().map(|task| Accepted::new(task.id.clone(), false)).collect();
    for (queue, places) in by_queue(&tasks) {
        if !is_listed(store, &queue) {
            list_queue(store, &queue).await?;
        }
        for chunk in places.chunks(BATCH) {
            let told = submit(store, &queue, &tasks, chunk).await?;
            for place in told.new {
                answers[place].created = true;
            }
            for place in told.refused {
                answers[place].refused = told.full.map(Refusal::Full);
            }
        }
    }
    answer_for_copies(&tasks, &mut answers);
    Ok(answers)
}

/// A second task of an id that was refused is refused, too.
fn answer_for_copies(tasks: &[NewTask], answers: &mut [Accepted]) {
    let refused: HashMap<_, _> =
        answers.iter().filter_map(|answer| Some((answer.id.clone(), answer.refused?))).collect();
    if refused.is_empty() {
        return;
    }
    for (task, answer) in tasks.iter().zip(answers) {
        answer.refused = refused.get(&task.id).copied();
    }
}

/// The places of each queue's tasks, in order. A second task of one id is left out: it is known by then.
fn by_queue(tasks: &[NewTask]) -> Vec<(QueueName, Vec<usize>)> {
    let mut groups: Vec<(QueueName, Vec<usize>)> = Vec::new();
    let mut seen: HashSet<&TaskId> = HashSet::with_capacity(tasks.len());
    for (place, task) in tasks.iter().enumerate() {
        if !seen.insert(&task.id) {
            continue;
        }
        let queue = task.id.queue();
        match groups.iter_mut().find(|(name, _)| name == queue) {
            Some((_, places)) => places.push(place),
            None => groups.push((queue.clone(), vec![place])),
        }
    }
    groups
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

/// What the script tells of a batch.
struct Told {
    /// The places of those that are new.
    new: Vec<usize>,
    /// The places of those for which there was no room.
    refused: Vec<usize>,
    /// Why not.
    full: Option<Full>,
}

/// Sends one batch.
async fn submit(store: &RedisStore, queue: &QueueName, tasks: &[NewTask], places: &[usize]) -> Result<Told> {
    let script = &SCRIPTS.enqueue;
    let mut call = Link::call(script, &store.keys.root(queue));
    let raw: Vec<u8> = places.iter().flat_map(|&place| tasks[place].id.uuid().into_bytes()).collect();
    call.arg(store.link.options().event_log).arg(places.len()).arg(raw);
    for &place in places {
        call.arg(tasks[place].id.uuid().to_string());
    }
    write_runs(&mut call, tasks, places);
    let answer = store.link.eval(OPERATION, script, &call).await?;
    let (numbers, full) =
        read(answer).ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))?;
    if numbers.contains(&0) {
        // The server had nothing of this queue: it is the first task, or somebody flushed the server meanwhile.
        list_queue(store, queue).await?;
    }
    let mut told = Told { new: Vec::new(), refused: Vec::new(), full };
    for (number, &place) in (1..).zip(places) {
        if numbers.contains(&-number) {
            told.refused.push(place);
        } else if !numbers.contains(&number) {
            told.new.push(place);
        }
    }
    Ok(told)
}

/// The numbers of the known tasks, negative ones of those that were refused; and why those were.
fn read(answer: Value) -> Option<(HashSet<i64>, Option<Full>)> {
    let (mut numbers, mut full) = (HashSet::new(), None);
    for value in reply::list(answer)? {
        match reply::int(&value) {
            Some(number) => drop(numbers.insert(number)),
            None => full = Some(read_full(&reply::text(value)?)?),
        }
    }
    Some((numbers, full))
}

fn read_full(line: &str) -> Option<Full> {
    let mut numbers = line.strip_prefix("F ")?.split(' ');
    let mut next = || numbers.next()?.parse::<u64>().ok();
    let (depth, limit, retry_after) = (next()?, u32::try_from(next()?).ok()?, Duration::from_millis(next()?));
    Some(Full { depth, limit, retry_after })
}

/// Tasks that follow each other and differ in id and payload only share the rest.
fn write_runs(call: &mut Cmd, tasks: &[NewTask], places: &[usize]) {
    let same = |a: &usize, b: &usize| {
        let (a, b) = (&tasks[*a], &tasks[*b]);
        (a.priority, a.deferral, &a.task, &a.policy) == (b.priority, b.deferral, &b.task, &b.policy)
    };
    for run in places.chunk_by(same) {
        let NewTask { priority, deferral, task, policy, .. } = &tasks[run[0]];
        let meta = record::meta(policy, None);
        call.arg(priority.level()).arg(due(*deferral)).arg(task).arg(meta).arg(run.len());
        for &place in run {
            call.arg(&tasks[place].payload[..]);
        }
    }
}

fn due(deferral: Deferral) -> String {
    match deferral {
        Deferral::None => String::new(),
        Deferral::After(delay) => format!("a{}", record::millis(delay)),
        Deferral::At(at) => format!("@{}", record::instant(at)),
    }
}
