//! Who is there.

use std::time::Duration;

use futures_util::future::{join, join_all};
use redis::Value;

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use crate::store::{Heartbeat, Result};
use crate::types::{EventKind, QueueName, Timestamp, WorkerId, WorkerInfo};

const HEARTBEAT: &str = "heartbeat";

pub(super) async fn heartbeat(store: &RedisStore, heartbeat: &Heartbeat) -> Result<()> {
    // All at once: many queues must not make a worker late, nor one that cannot be written to make it silent in others.
    let beats = heartbeat.holding.iter().map(|queue| beat(store, queue, heartbeat));
    let (beats, present) = join(join_all(beats), present(store, &heartbeat.worker, heartbeat.ttl)).await;
    beats.into_iter().chain([present]).collect()
}

/// Notes in a queue that a worker lives.
async fn beat(store: &RedisStore, queue: &QueueName, heartbeat: &Heartbeat) -> Result<()> {
    let script = &SCRIPTS.beat;
    let mut call = Link::call(script, &store.keys.root(queue));
    call.arg(heartbeat.worker.id.as_str()).arg(record::millis(heartbeat.ttl).max(1));
    store.link.eval(HEARTBEAT, script, &call).await.map(drop)
}

/// Puts a worker on the list of workers.
async fn present(store: &RedisStore, worker: &WorkerInfo, ttl: Duration) -> Result<()> {
    let script = &SCRIPTS.heartbeat;
    let queues: Vec<&str> = worker.queues.iter().map(QueueName::as_str).collect();
    let line = format!("{} {} {} {}", worker.concurrency, worker.running, queues.join(","), worker.tasks.join(","));
    let mut call = Link::call(script, &store.keys.fleet());
    call.arg(store.link.options().event_log)
        .arg(worker.id.as_str())
        .arg(record::millis(ttl))
        .arg(line)
        .arg(EventKind::WorkerStarted.code().to_string());
    store.link.eval(HEARTBEAT, script, &call).await.map(drop)
}

pub(super) async fn farewell(store: &RedisStore, worker: &WorkerId) -> Result<()> {
    let script = &SCRIPTS.farewell;
    let mut call = Link::call(script, &store.keys.fleet());
    call.arg(store.link.options().event_log).arg(worker.as_str()).arg(EventKind::WorkerStopped.code().to_string());
    store.link.eval("farewell", script, &call).await.map(drop)
}

pub(super) async fn workers(store: &RedisStore) -> Result<Vec<WorkerInfo>> {
    const OPERATION: &str = "workers";
    let script = &SCRIPTS.workers;
    let answer = store.link.eval(OPERATION, script, &Link::call(script, &store.keys.fleet())).await?;
    let mut workers =
        read(answer).ok_or_else(|| store.link.corrupt(OPERATION, "the list of workers cannot be read"))?;
    workers.sort_by(|a, b| (a.started_at, a.id.as_str()).cmp(&(b.started_at, b.id.as_str())));
    Ok(workers)
}

fn read(answer: Value) -> Option<Vec<WorkerInfo>> {
    let mut values = reply::list(answer)?.into_iter();
    let mut workers = Vec::with_capacity(values.len() / 2);
    while let (Some(id), Some(line)) = (values.next(), values.next()) {
        workers.push(worker(reply::text(id)?, &reply::text(line)?)?);
    }
    Some(workers)
}

fn worker(id: String, line: &str) -> Option<WorkerInfo> {
    let mut words = line.split(' ');
    let mut next = || words.next();
    let time = |text: &str| text.parse().ok().map(Timestamp::from_millis);
    let (started_at, seen_at) = (time(next()?)?, time(next()?)?);
    let (concurrency, running) = (next()?.parse().ok()?, next()?.parse().ok()?);
    let queues = next()?.split(',').filter(|name| !name.is_empty()).map(|name| QueueName::new(name).ok());
    let queues = queues.collect::<Option<Vec<_>>>()?;
    // A worker of an older version does not tell.
    let tasks = next().unwrap_or_default().split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    Some(WorkerInfo { id: WorkerId::named(id), queues, tasks, concurrency, running, started_at, seen_at })
}
