//! Listing tasks, one status after the other.

use std::collections::BTreeMap;

use bytes::Bytes;
use redis::Value;

use super::RedisStore;
use super::link::Link;
use super::record;
use super::reply;
use super::scripts::{SCRIPTS, Script};
use crate::store::listing::Place;
use crate::store::{LOOKED_AT, Result, TaskPage, TaskQuery};
use crate::types::{ListOrder, Status, TaskFilter, TaskId, TaskSummary, Timestamp, Uuid};

const OPERATION: &str = "list";
/// Keys that one step of a walk through all keys looks at, about: few, since a script keeps everybody else waiting.
const SCANNED: usize = 256;

pub(super) async fn list(store: &RedisStore, query: &TaskQuery) -> Result<TaskPage> {
    let no_place = || store.link.corrupt(OPERATION, format!("{:?} is not a place of this listing", query.after));
    let mut place = Some(Place::of(query).ok_or_else(no_place)?);
    let mut page = TaskPage { tasks: Vec::new(), next: None, now: Timestamp::default() };
    let mut budget = LOOKED_AT;
    while let Some(at) = place {
        let room = query.limit - page.tasks.len();
        if room == 0 || budget == 0 {
            page.next = Some(at.to_string());
            break;
        }
        if !at.within.as_deref().is_none_or(|within| is_place(at.status, within)) {
            return Err(no_place());
        }
        let part = if is_scanned(at.status) {
            let from = at.within.as_deref().and_then(Key::read);
            budget = 0;
            scan(store, query, at.status, from, room).await?
        } else {
            walk(store, query, &at, room, &mut budget).await?
        };
        page.now = part.now;
        page.tasks.extend(part.tasks);
        place = match part.next {
            Some(within) => Some(Place { status: at.status, within: Some(within) }),
            None => at.next(query),
        };
    }
    Ok(page)
}

/// True for what is nowhere kept in order: finished tasks beside the dead letters.
const fn is_scanned(status: Status) -> bool {
    matches!(status, Status::Succeeded | Status::Failed | Status::Cancelled | Status::Expired)
}

/// True for a place that a listing of this status can have told.
fn is_place(status: Status, within: &str) -> bool {
    let entry = |id: &str| id.split_once('-').is_some_and(|(ms, number)| [ms, number].iter().all(|it| is_number(it)));
    match status {
        Status::Queued | Status::Running => {
            within.split_once(':').is_some_and(|(band, id)| band.len() == 1 && is_number(band) && entry(id))
        }
        Status::DeadLettered => entry(within),
        // A due time, or the end of a retention.
        _ => Key::read(within).is_some_and(|key| key.forgotten_at >= 0),
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|it| it.is_ascii_digit()) && text.parse::<u64>().is_ok()
}

/// What a script tells: the time, where to go on, and rows.
struct Rows {
    now: Timestamp,
    next: String,
    rows: Vec<Listed>,
}

/// A row: its place, and what `brief` of `lua/looking.lua` left of the record.
struct Listed {
    id: TaskId,
    place: String,
    raw: Bytes,
}

impl Rows {
    async fn read(store: &RedisStore, query: &TaskQuery, script: &Script, call: &redis::Cmd) -> Result<Self> {
        let answer = store.link.eval(OPERATION, script, call).await?;
        Self::of(query, answer).ok_or_else(|| store.link.corrupt(OPERATION, "an unexpected answer of its script"))
    }

    fn of(query: &TaskQuery, answer: Value) -> Option<Self> {
        let mut values = reply::list(answer)?.into_iter();
        let now = Timestamp::from_millis(reply::int(&values.next()?)?);
        let next = reply::text(values.next()?)?;
        let mut rows = Vec::new();
        while let (Some(uuid), Some(place), Some(raw)) = (values.next(), values.next(), values.next()) {
            let uuid = Uuid::try_parse_ascii(&reply::bytes(uuid)?).ok()?;
            let id = TaskId::new(query.queue.clone(), uuid);
            rows.push(Listed { id, place: reply::text(place)?, raw: reply::bytes(raw)? });
        }
        Some(Self { now, next, rows })
    }
}

/// Looks at tasks that are kept in order.
async fn walk(
    store: &RedisStore,
    query: &TaskQuery,
    place: &Place,
    room: usize,
    budget: &mut usize,
) -> Result<TaskPage> {
    let running = place.status == Status::Running;
    let script = &SCRIPTS.list;
    let mut call = Link::call(script, &store.keys.root(&query.queue));
    let newest = query.order == ListOrder::NewestFirst;
    // With a filter more are looked at than are wanted.
    let count = if query.filter == TaskFilter::default() { room.min(*budget) } else { *budget };
    call.arg(record::letter(place.status).to_string()).arg(place.within.as_deref().unwrap_or_default());
    call.arg(count).arg(u8::from(newest));
    let Rows { now, next, rows } = Rows::read(store, query, script, &call).await?;
    // An answer that ends before the tasks do has used all that it might.
    *budget -= if next.is_empty() { rows.len().min(count) } else { count };
    let mut part = TaskPage { tasks: Vec::new(), next: Some(next).filter(|next| !next.is_empty()), now };
    for Listed { id, place, raw } in rows {
        let Some((task, _)) = record::summary(&id, &raw, running) else {
            return Err(store.link.corrupt(OPERATION, format!("the record of {id} cannot be read")));
        };
        if query.filter.fits(&task, now) {
            part.tasks.push(task);
        }
        if part.tasks.len() == room {
            // Those behind it are looked at again.
            part.next = Some(place);
            break;
        }
    }
    Ok(part)
}

/// The order of tasks that no list keeps: by the end of their retention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    forgotten_at: i64,
    uuid: Uuid,
}

impl Key {
    fn read(text: &str) -> Option<Self> {
        let (at, uuid) = text.split_once(' ')?;
        Some(Self { forgotten_at: at.parse().ok()?, uuid: uuid.parse().ok()? })
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.forgotten_at, self.uuid)
    }
}

/// Walks through all keys in small steps and keeps the first `room` tasks after `from`.
async fn scan(
    store: &RedisStore,
    query: &TaskQuery,
    status: Status,
    from: Option<Key>,
    room: usize,
) -> Result<TaskPage> {
    let (script, newest) = (&SCRIPTS.scan, query.order == ListOrder::NewestFirst);
    let mut best: BTreeMap<Key, TaskSummary> = BTreeMap::new();
    let mut cursor = "0".to_owned();
    loop {
        let mut call = Link::call(script, &store.keys.root(&query.queue));
        call.arg(record::letter(status).to_string()).arg(cursor).arg(SCANNED).arg(store.keys.records(&query.queue));
        let Rows { now, next, rows } = Rows::read(store, query, script, &call).await?;
        for Listed { id, raw, .. } in rows {
            let Some((task, keep)) = record::summary(&id, &raw, false) else { continue };
            let forgotten_at = task.finished_at.unwrap_or_default().plus(keep).as_millis();
            let key = Key { forgotten_at, uuid: id.uuid() };
            let after = from.is_none_or(|from| if newest { key < from } else { key > from });
            if after && query.filter.fits(&task, now) {
                best.insert(key, task);
            }
        }
        while best.len() > room {
            if newest {
                best.pop_first()
            } else {
                best.pop_last()
            };
        }
        if next == "0" {
            let full = best.len() == room;
            let last = if newest { best.first_key_value() } else { best.last_key_value() };
            let next = last.map(|(key, _)| key.to_string()).filter(|_| full);
            let in_order: Vec<_> = best.into_values().collect();
            let tasks = if newest { in_order.into_iter().rev().collect() } else { in_order };
            return Ok(TaskPage { tasks, next, now });
        }
        cursor = next;
    }
}
