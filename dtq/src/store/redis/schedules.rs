//! Schedules: declared, steered, fired and listed.

use bytes::Bytes;
use redis::Value;
use uuid::Uuid;

use super::link::Link;
use super::record;
use super::reply;
use super::scripts::SCRIPTS;
use super::{RedisStore, enqueue};
use crate::store::definition;
use crate::store::{
    Declaration, DeclareOutcome, Declared, Fire, Fired, Result, ScheduleAction, ScheduleOutcome, ScheduleRequest,
    Schedules, Tick,
};
use crate::types::{Origin, Overlap, QueueName, Schedule, ScheduleId, ScheduleSpec, TaskId, Timestamp};

pub(super) async fn declare(store: &RedisStore, declaration: &Declaration) -> Result<Declared> {
    const OPERATION: &str = "declare_schedules";
    let Some(first) = declaration.specs.first() else {
        return Ok(Declared { stamp: declaration.stamp.unwrap_or_default(), outcomes: Vec::new() });
    };
    let (script, queue) = (&SCRIPTS.declare, first.id.queue());
    let mut call = Link::call(script, &store.keys.root(queue));
    call.arg(instant(declaration.stamp));
    for spec in &declaration.specs {
        call.arg(spec.id.name()).arg(overlap(spec.overlap)).arg(body(spec));
    }
    let answer = reply::list(store.link.eval(OPERATION, script, &call).await?);
    let mut fresh = false;
    let declared = answer.and_then(|values| {
        let mut values = values.into_iter();
        let stamp = Timestamp::from_millis(reply::int(&values.next()?)?);
        let codes: Option<Vec<_>> = values.map(reply::text).collect();
        let codes = codes?;
        fresh = codes.iter().any(|code| code == "N");
        let outcomes = codes.iter().map(|code| match code.as_str() {
            "S" | "N" => Some(DeclareOutcome::Standing),
            "O" => Some(DeclareOutcome::Outdated),
            "T" => Some(DeclareOutcome::Taken),
            "F" => Some(DeclareOutcome::Full),
            _ => None,
        });
        Some(Declared { stamp, outcomes: outcomes.collect::<Option<_>>()? })
    });
    if fresh {
        enqueue::list_queue(store, queue).await?;
    }
    declared.ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))
}

pub(super) async fn steer(store: &RedisStore, request: &ScheduleRequest) -> Result<ScheduleOutcome> {
    const OPERATION: &str = "steer_schedule";
    let script = &SCRIPTS.steer;
    let ScheduleRequest { id, action, by } = request;
    let mut call = Link::call(script, &store.keys.root(id.queue()));
    call.arg(action.audited().as_str()).arg(id.name()).arg(id.to_string()).arg(&by.actor).arg(&by.reason);
    if let ScheduleAction::Add(spec) | ScheduleAction::Change(spec) = action {
        call.arg(overlap(spec.overlap)).arg(body(spec));
        // Before the schedule, so that none is in a queue that nobody can find.
        enqueue::list_queue(store, id.queue()).await?;
    }
    let answer = reply::text(store.link.eval(OPERATION, script, &call).await?);
    match answer.as_deref() {
        Some("K") => Ok(ScheduleOutcome::Done),
        Some("N") => Ok(ScheduleOutcome::NotFound),
        Some("E") => Ok(ScheduleOutcome::Exists),
        Some("C") => Ok(ScheduleOutcome::InCode),
        Some("F") => Ok(ScheduleOutcome::Full),
        _ => Err(store.link.corrupt(OPERATION, "an unexpected answer of its script")),
    }
}

pub(super) async fn fire(store: &RedisStore, fire: &Fire) -> Result<Fired> {
    const OPERATION: &str = "fire";
    let script = &SCRIPTS.fire;
    let mut call = Link::call(script, &store.keys.root(fire.id.queue()));
    call.arg(store.link.options().event_log)
        .arg(fire.id.name())
        .arg(fire.revision)
        .arg(instant(fire.from))
        .arg(instant(fire.next))
        .arg(instant(fire.tick))
        .arg(u8::from(fire.asked.is_some()));
    let (actor, reason) = fire.asked.as_ref().map_or(("", ""), |by| (&by.actor, &by.reason));
    call.arg(fire.id.to_string()).arg(actor).arg(reason);
    if let Some(task) = fire.tasks.first() {
        let meta = record::meta(&task.policy, None, "");
        call.arg(task.priority.level()).arg(&task.task).arg(meta).arg(&task.payload[..]);
        for task in &fire.tasks {
            call.arg(task.id.uuid().to_string());
        }
    }
    let answer = reply::text(store.link.eval(OPERATION, script, &call).await?);
    match answer.as_deref() {
        Some("F") => Ok(Fired::Applied),
        Some("P") => Ok(Fired::PassedOver),
        Some("S") => Ok(Fired::Stale),
        _ => Err(store.link.corrupt(OPERATION, "an unexpected answer of its script")),
    }
}

pub(super) async fn list(store: &RedisStore, queue: &QueueName) -> Result<Schedules> {
    const OPERATION: &str = "schedules";
    let script = &SCRIPTS.schedules;
    let answer = store.link.eval(OPERATION, script, &Link::call(script, &store.keys.root(queue))).await?;
    let read = reply::list(answer).and_then(|values| {
        let mut values = values.into_iter();
        let now = Timestamp::from_millis(reply::int(&values.next()?)?);
        Some(Schedules { now, schedules: read_all(queue, now, values)? })
    });
    let mut read = read.ok_or_else(|| store.link.corrupt(OPERATION, format!("the schedules of {queue:?}")))?;
    read.schedules.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
    Ok(read)
}

/// The schedules that are due, at the end of a claim's answer.
pub(super) fn ticks(queue: &QueueName, now: Timestamp, due: Value) -> Vec<Tick> {
    let schedules = reply::list(due).and_then(|values| read_all(queue, now, values.into_iter())).unwrap_or_default();
    schedules.into_iter().map(|schedule| Tick { schedule, now }).collect()
}

/// Reads names and texts. One that is not understood, of a newer version perhaps, is passed over, and told of.
fn read_all(queue: &QueueName, now: Timestamp, mut values: impl Iterator<Item = Value>) -> Option<Vec<Schedule>> {
    let mut schedules = Vec::new();
    while let (Some(name), Some(text)) = (values.next(), values.next()) {
        let (name, text) = (reply::text(name)?, reply::bytes(text)?);
        match ScheduleId::new(queue.clone(), &name).ok().and_then(|id| read(id, now, &text)) {
            Some(schedule) => schedules.push(schedule),
            None => {
                tracing::error!(%queue, name, "a schedule of a form that this version does not know is passed over");
            }
        }
    }
    Some(schedules)
}

/// Reads one. The form: `lua/plan.lua`.
fn read(id: ScheduleId, now: Timestamp, text: &Bytes) -> Option<Schedule> {
    let line_end = |from: usize| Some(from + text[from..].iter().position(|&byte| byte == b'\n')?);
    let head = line_end(0)?;
    let body = line_end(head + 1)?;
    let words: Vec<&str> = std::str::from_utf8(&text[..head]).ok()?.split(' ').collect();
    let [revision, origin, paused, left, _, until, since, next, last, task, fired, passed, _] = words[..] else {
        return None;
    };
    let instant = |word: &str| word.parse().ok().map(Timestamp::from_millis);
    let queue = id.queue().clone();
    let spec = definition::read(id, std::str::from_utf8(&text[head + 1..body]).ok()?, text.slice(body + 1..))?;
    Some(Schedule {
        spec,
        origin: if origin == "c" { Origin::Code } else { Origin::Client },
        revision: revision.parse().ok()?,
        paused: paused == "1",
        declared: origin != "c" || (left != "1" && now < instant(until)?),
        since: instant(since)?,
        next: instant(next),
        last: instant(last),
        last_task: Uuid::try_parse(task).ok().map(|uuid| TaskId::new(queue, uuid)),
        fired: fired.parse().ok()?,
        passed: passed.parse().ok()?,
    })
}

/// What was said of a schedule, as it is stored.
fn body(spec: &ScheduleSpec) -> Vec<u8> {
    let mut body = definition::write(spec).into_bytes();
    body.push(b'\n');
    body.extend_from_slice(&spec.payload);
    body
}

fn overlap(overlap: Overlap) -> &'static str {
    match overlap {
        Overlap::Allow => "a",
        Overlap::Skip => "s",
    }
}

fn instant(at: Option<Timestamp>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| record::instant(at).to_string())
}
